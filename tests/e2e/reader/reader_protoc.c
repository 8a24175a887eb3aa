/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Compares otelctx-read with protoc: a target publishes random messages that
 * protoc encoded; otelctx-read prints them as JSON; jq makes text of that, and
 * protoc encodes the text again. The bytes must be the same.
 *
 * OTELCTX_PROTO_DIR holds process_context.proto, resource.proto, common.proto.
 */

#include "tests/e2e/reader/reader_harness.h"

#define MESSAGE                                                                \
    "opentelemetry.proto.processcontext.v1development.ProcessContext"
#define ROUNDS 12

/* From the reader's JSON to protobuf's text format. */
static const char back_to_text[] =
    "def octal: [explode[] | \"\\\\\" + (. / 64 | floor | tostring) +\n"
    "  (. / 8 | floor % 8 | tostring) + (. % 8 | tostring)] | add // \"\";\n"
    "def value:\n"
    "  def pair: \"values { key: \\(.key | tojson) "
    "value { \\(.value | value) } } \";\n"
    "  if has(\"stringValue\") then \"string_value: \\(.stringValue | "
    "tojson)\"\n"
    "  elif has(\"boolValue\") then \"bool_value: \\(.boolValue)\"\n"
    "  elif has(\"intValue\") then \"int_value: \\(.intValue)\"\n"
    "  elif has(\"doubleValue\") then .doubleValue |\n"
    "    if . == \"NaN\" then \"double_value: nan\"\n"
    "    elif . == \"Infinity\" then \"double_value: inf\"\n"
    "    elif . == \"-Infinity\" then \"double_value: -inf\"\n"
    "    else \"double_value: \\(.)\" end\n"
    "  elif has(\"bytesValue\") then\n"
    "    \"bytes_value: \\\"\\(.bytesValue | @base64d | octal)\\\"\"\n"
    "  elif has(\"arrayValue\") then \"array_value { \" +\n"
    "    ([.arrayValue.values[] | \"values { \\(value) } \"] | add // \"\")\n"
    "    + \"}\"\n"
    "  elif has(\"kvlistValue\") then\n"
    "    \"kvlist_value { \\([.kvlistValue.values[] | pair] | add // \"\") "
    "}\"\n"
    "  else \"\" end;\n"
    "def attribute(name): \"\\(name) { key: \\(.key | tojson) "
    "value { \\(.value | value) } }\\n\";\n"
    ".contexts[0] | \"resource {\\n\" +\n"
    "  ([.resource.attributes[] | attribute(\"attributes\")] | add // \"\") +\n"
    "  \"dropped_attributes_count: \\(.resource.dropped_attributes_count) "
    "}\\n\"\n"
    "  + ([.extra_attributes[] | attribute(\"extra_attributes\")] | add // "
    "\"\")\n";

static char folder[] = "/tmp/otelctx-protoc-XXXXXX";
static uint32_t dice_state = 1;

/* 0 to sides - 1, in the same order in every run. */
static unsigned dice(unsigned sides)
{
    dice_state = dice_state * 1664525U + 1013904223U;
    return (dice_state >> 8) % sides;
}

static FILE *file_open(const char *name, const char *mode)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *const file = fopen(path, mode);
    cr_assert_not_null(file, "%s", path);
    return file;
}

static void write_string(FILE *out)
{
    static const char *const pieces[] = {
        "service.name",
        "a",
        "\\000",
        "\\n",
        "\\033[2J",
        "\\\"",
        "\\\\",
        "\\177",
        "\\303\\251",
        " ",
        "\\342\\202\\254",
        "\\360\\237\\230\\200",
        "\\342\\200\\256",
    };

    fputc('"', out);
    for (unsigned i = dice(5); i > 0; i--)
        fputs(pieces[dice(sizeof(pieces) / sizeof(pieces[0]))], out);
    fputc('"', out);
}

static void write_double(FILE *out)
{
    static const char *const values[] = {
        "0",   "-0.0", "0.1", "-1e300", "5e-324",
        "inf", "-inf", "nan", "3",      "1.7976931348623157e308"};

    fputs(values[dice(sizeof(values) / sizeof(values[0]))], out);
}

static void write_value(FILE *out, unsigned depth);

static void write_pair(FILE *out, const char *name, unsigned depth)
{
    fprintf(out, "%s { key: ", name);
    write_string(out);
    fputs(" value { ", out);
    write_value(out, depth);
    fputs("} } ", out);
}

static void write_list(FILE *out, bool pairs, unsigned depth)
{
    fputs(pairs ? "kvlist_value { " : "array_value { ", out);
    for (unsigned i = dice(4); i > 0; i--) {
        if (pairs) {
            write_pair(out, "values", depth);
        } else {
            fputs("values { ", out);
            write_value(out, depth);
            fputs("} ", out);
        }
    }
    fputs("} ", out);
}

static void write_value(FILE *out, unsigned depth)
{
    static const char *const integers[] = {
        "0", "1", "-1", "300", "9223372036854775807", "-9223372036854775808"};

    switch (dice(depth < 6 ? 8 : 6)) {
    case 0:
    case 1:
        fputs("string_value: ", out);
        write_string(out);
        break;
    case 2:
        fprintf(out, "bool_value: %s ", dice(2) != 0 ? "true" : "false");
        break;
    case 3:
        fprintf(out, "int_value: %s ", integers[dice(6)]);
        break;
    case 4:
        fputs("double_value: ", out);
        write_double(out);
        break;
    case 5:
        fputs(dice(3) == 0 ? "" : "bytes_value: \"\\001ab\\000\"", out);
        break;
    case 6:
        write_list(out, false, depth + 1);
        break;
    default:
        write_list(out, true, depth + 1);
    }
    fputc(' ', out);
}

static void write_message(void)
{
    FILE *const out = file_open("in.txt", "w");

    fputs("resource {\n", out);
    for (unsigned i = dice(20); i > 0; i--)
        write_pair(out, "attributes", 0);
    fprintf(out, "dropped_attributes_count: %u\n}\n", dice(3));
    for (unsigned i = dice(10); i > 0; i--)
        write_pair(out, "extra_attributes", 0);
    fclose(out);
}

static void shell(const char *command)
{
    char line[512];

    snprintf(line, sizeof(line), "cd %s && %s", folder, command);
    cr_assert_eq(system(line), 0, "%s", line);
}

static void encode(const char *from, const char *to)
{
    char line[400];

    snprintf(line, sizeof(line),
             "protoc -I\"$OTELCTX_PROTO_DIR\" --encode=" MESSAGE
             " process_context.proto < %s > %s",
             from, to);
    shell(line);
}

/* What the target publishes. */
static uint8_t payload[OTELCTX_PAYLOAD_MAX];
static size_t payload_size;

static void load(const char *name)
{
    FILE *const in = file_open(name, "r");

    payload_size = fread(payload, 1, sizeof(payload), in);
    cr_assert_eq(fgetc(in), EOF);
    fclose(in);
}

static void random_message(int ready, int commands)
{
    struct page *const page = publish_shop();

    (void)commands;
    page->header.payload = (uintptr_t)payload;
    page->header.payload_size = (uint32_t)payload_size;
    say_ready(ready);
}

static void save(const char *name, const char *text)
{
    FILE *const out = file_open(name, "w");

    fputs(text, out);
    fclose(out);
}

static void remove_folder(void)
{
    shell("rm -r \"$PWD\"");
}

Test(reader_protoc, a_message_of_protoc_is_decoded_without_a_difference,
     .fini = remove_folder)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_not_null(getenv("OTELCTX_PROTO_DIR"), "where the .proto are");
    save("back.jq", back_to_text);

    for (int round = 0; round < ROUNDS; round++) {
        write_message();
        encode("in.txt", "in.pb");
        load("in.pb");
        if (payload_size == 0)
            continue;
        cr_assert_eq(run_on(random_message, "--json"), 0, "%s", last.err);
        save("out.json", last.out);
        shell("jq -r -f back.jq out.json > back.txt");
        encode("back.txt", "back.pb");
        shell("cmp in.pb back.pb");
    }
}
