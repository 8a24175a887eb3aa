/* SPDX-License-Identifier: Apache-2.0 */

/* The bytes of the payload: process_context.proto and its parts. */

#include "demo/kit/scenes/scenes.h"
#include "demo/kit/stage/context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct otelkit_bytes payload;

struct raw {
    const char *bytes;
    size_t size;
};

/* The service "shop", followed by these bytes. */
static int set_behind(struct otelkit_stage *stage, const void *how)
{
    const struct raw *const raw = how;

    otelkit_service(&payload, "shop");
    otelkit_put(&payload, raw->bytes, raw->size);
    return otelkit_publish_bytes(stage, &payload, NULL);
}

/* These bytes only. */
static int set_raw(struct otelkit_stage *stage, const void *how)
{
    const struct raw *const raw = how;

    otelkit_put(&payload, raw->bytes, raw->size);
    return otelkit_publish_bytes(stage, &payload, NULL);
}

/* An AnyValue of these bytes, for the key "k" of the resource. */
static int set_value(struct otelkit_stage *stage, const void *how)
{
    const struct raw *const raw = how;
    const size_t resource = otelkit_open(&payload, OTELKIT_CONTEXT_RESOURCE);
    const size_t pair = otelkit_open(&payload, OTELKIT_RESOURCE_ATTRIBUTES);

    otelkit_string(&payload, OTELKIT_PAIR_KEY, "k");
    const size_t any = otelkit_open(&payload, OTELKIT_PAIR_VALUE);
    otelkit_put(&payload, raw->bytes, raw->size);
    otelkit_close(&payload, any);
    otelkit_close(&payload, pair);
    otelkit_close(&payload, resource);
    return otelkit_publish_bytes(stage, &payload, NULL);
}

#define RAW(set_, bytes_)                                                      \
    .set = (set_), .how = &(const struct raw)                                  \
    {                                                                          \
        (bytes_), sizeof(bytes_) - 1                                           \
    }

/* Nested arrays, with a string in the innermost one. */
static int set_nested(struct otelkit_stage *stage, const void *how)
{
    const int depth = *(const int *)how;
    size_t opened[256];
    int count = 0;
    char *json = NULL;
    size_t size = 0;
    FILE *const text = open_memstream(&json, &size);

    if (!text)
        return -ENOMEM;
    opened[count++] = otelkit_open(&payload, OTELKIT_CONTEXT_RESOURCE);
    opened[count++] = otelkit_open(&payload, OTELKIT_RESOURCE_ATTRIBUTES);
    otelkit_string(&payload, OTELKIT_PAIR_KEY, "k");
    opened[count++] = otelkit_open(&payload, OTELKIT_PAIR_VALUE);
    (void)fprintf(text, "{\"k\":");
    for (int i = 0; i < depth; i++) {
        opened[count++] = otelkit_open(&payload, OTELKIT_VALUE_ARRAY);
        opened[count++] = otelkit_open(&payload, OTELKIT_ARRAY_VALUES);
        (void)fputc('[', text);
    }
    otelkit_string(&payload, OTELKIT_VALUE_STRING, "v");
    (void)fprintf(text, "\"v\"");
    for (int i = 0; i < depth; i++)
        (void)fputc(']', text);
    while (count > 0)
        otelkit_close(&payload, opened[--count]);
    (void)fputc('}', text);
    (void)fclose(text);
    stage->own_resource = json;
    stage->resource = json;
    return otelkit_publish_bytes(stage, &payload, NULL);
}

/* {"k0":"0","k1":"1",...} */
static int set_many_attributes(struct otelkit_stage *stage, const void *how)
{
    const int count = *(const int *)how;
    const size_t resource = otelkit_open(&payload, OTELKIT_CONTEXT_RESOURCE);
    char *json = NULL;
    size_t size = 0;
    FILE *const text = open_memstream(&json, &size);

    if (!text)
        return -ENOMEM;
    for (int i = 0; i < count; i++) {
        char key[16];

        (void)snprintf(key, sizeof(key), "k%d", i);
        otelkit_pair(&payload, OTELKIT_RESOURCE_ATTRIBUTES, key, key + 1);
        (void)fprintf(text, "%c\"%s\":\"%s\"", i == 0 ? '{' : ',', key,
                      key + 1);
    }
    otelkit_close(&payload, resource);
    (void)fputc('}', text);
    (void)fclose(text);
    stage->own_resource = json;
    stage->resource = json;
    return otelkit_publish_bytes(stage, &payload, NULL);
}

static int set_long(struct otelkit_stage *stage, const void *how)
{
    static char value[20001];
    const size_t resource = otelkit_open(&payload, OTELKIT_CONTEXT_RESOURCE);

    (void)how;
    memset(value, 'x', sizeof(value) - 1);
    otelkit_pair(&payload, OTELKIT_RESOURCE_ATTRIBUTES, "k", value);
    otelkit_close(&payload, resource);
    if (asprintf(&stage->own_resource, "{\"k\":\"%s\"}", value) < 0)
        return -ENOMEM;
    stage->resource = stage->own_resource;
    return otelkit_publish_bytes(stage, &payload, NULL);
}

/* The resource's field 1: KeyValue { "service.name", "shop" } */
#define PAIR     "\x0a\x16\x0a\x0cservice.name\x12\x06\x0a\x04shop"
#define RESOURCE "\x0a\x18" PAIR

#define PROTO(message)    "opentelemetry.proto." message ", protobuf: Encoding"
#define SHOP              OTELKIT_SHOP
#define SHOWN(resource_)  .answer = OTELKIT_CONTEXT, .resource = (resource_)
#define EITHER(resource_) .answer = OTELKIT_EITHER, .resource = (resource_)
#define NONE              .answer = OTELKIT_NONE

const struct otelkit_scene otelkit_payload_scenes[] = {
    /* Values. */
    {OTELKIT_ABOUT("payload/string", "a string", "the string",
                   PROTO("common.v1.AnyValue")),
     RAW(set_value, "\x0a\x03/\xce\xb1"), SHOWN("{\"k\":\"/α\"}")},
    {OTELKIT_ABOUT("payload/string-empty", "an empty string",
                   "the empty string", PROTO("common.v1.AnyValue")),
     RAW(set_value, "\x0a\x00"), SHOWN("{\"k\":\"\"}")},
    {OTELKIT_ABOUT("payload/string-nul", "a string with a NUL inside",
                   "the whole string", PROTO("common.v1.AnyValue")),
     RAW(set_value, "\x0a\x03"
                    "a\0b"),
     SHOWN("{\"k\":\"a\\u0000b\"}")},
    {OTELKIT_ABOUT("payload/string-control",
                   "a string with quotes and escape sequences", "the string",
                   PROTO("common.v1.AnyValue")),
     RAW(set_value, "\x0a\x06\"\\\n\x1b[m"),
     SHOWN("{\"k\":\"\\\"\\\\\\n\\u001b[m\"}")},
    {OTELKIT_ABOUT("payload/string-long", "a string of 20,000 bytes",
                   "the string", PROTO("common.v1.AnyValue")),
     .set = set_long, .answer = OTELKIT_CONTEXT},
    {OTELKIT_ABOUT("payload/bool", "true", "true", PROTO("common.v1.AnyValue")),
     RAW(set_value, "\x10\x01"), SHOWN("{\"k\":true}")},
    {OTELKIT_ABOUT("payload/bool-false", "false", "false",
                   PROTO("common.v1.AnyValue")),
     RAW(set_value, "\x10\x00"), SHOWN("{\"k\":false}")},
    {OTELKIT_ABOUT("payload/int", "the number 42", "42",
                   PROTO("common.v1.AnyValue")),
     RAW(set_value, "\x18\x2a"), SHOWN("{\"k\":42}")},
    {OTELKIT_ABOUT("payload/int-negative", "the number -2",
                   "-2: int64 is not zigzag", PROTO("common.v1.AnyValue")),
     RAW(set_value, "\x18\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
     SHOWN("{\"k\":-2}")},
    {OTELKIT_ABOUT("payload/double", "the number 2.5", "2.5",
                   PROTO("common.v1.AnyValue")),
     RAW(set_value, "\x21\0\0\0\0\0\0\x04\x40"), SHOWN("{\"k\":2.5}")},
    {OTELKIT_ABOUT("payload/bytes", "the bytes 00 ff", "the bytes",
                   PROTO("common.v1.AnyValue")),
     RAW(set_value, "\x3a\x02\x00\xff"), SHOWN("{\"k\":{\"bytes\":\"AP8=\"}}")},
    {OTELKIT_ABOUT("payload/array", "an array of two strings", "the array",
                   PROTO("common.v1.ArrayValue")),
     RAW(set_value, "\x2a\x0a\x0a\x03\x0a\x01"
                    "a\x0a\x03\x0a\x01"
                    "b"),
     SHOWN("{\"k\":[\"a\",\"b\"]}")},
    {OTELKIT_ABOUT("payload/array-empty", "an empty array", "the empty array",
                   PROTO("common.v1.ArrayValue")),
     RAW(set_value, "\x2a\x00"), SHOWN("{\"k\":[]}")},
    {OTELKIT_ABOUT("payload/list", "a list of one pair", "the list",
                   PROTO("common.v1.KeyValueList")),
     RAW(set_value, "\x32\x0a\x0a\x08\x0a\x01"
                    "a\x12\x03\x0a\x01"
                    "b"),
     SHOWN("{\"k\":{\"a\":\"b\"}}")},
    {OTELKIT_ABOUT("payload/no-value", "an AnyValue without a value",
                   "an empty value", PROTO("common.v1.AnyValue")),
     RAW(set_value, ""), SHOWN("{\"k\":null}")},
    {OTELKIT_ABOUT("payload/two-values", "an AnyValue with two values",
                   "the last one: it is a oneof", PROTO("common.v1.AnyValue")),
     RAW(set_value, "\x0a\x01"
                    "a\x18\x2a"),
     SHOWN("{\"k\":42}")},
    {OTELKIT_ABOUT("payload/nested-8", "arrays nested 8 deep", "the arrays",
                   PROTO("common.v1.ArrayValue")),
     .set = set_nested, .how = &(const int){8}, .answer = OTELKIT_CONTEXT},
    {OTELKIT_ABOUT("payload/nested-100", "arrays nested 100 deep",
                   "either: decoders have limits",
                   PROTO("common.v1.ArrayValue")),
     .set = set_nested, .how = &(const int){100}, .answer = OTELKIT_EITHER},

    /* Strings that are not UTF-8. */
    {OTELKIT_ABOUT("payload/utf8-broken", "a value with the byte ff", "none",
                   "protobuf: a string is UTF-8"),
     RAW(set_value, "\x0a\x03"
                    "a\xff"
                    "b"),
     NONE},
    {OTELKIT_ABOUT("payload/utf8-cut", "a value that ends within a character",
                   "none", "protobuf: a string is UTF-8"),
     /* The next byte would complete the character. */
     RAW(set_value, "\x0a\x03"
                    "a\xe2\x82"
                    "\x88\x01\x01"),
     NONE},
    {OTELKIT_ABOUT("payload/utf8-overlong", "a value with an overlong slash",
                   "none", "protobuf: a string is UTF-8"),
     RAW(set_value, "\x0a\x02\xc0\xaf"), NONE},
    {OTELKIT_ABOUT("payload/utf8-surrogate", "a value with a surrogate", "none",
                   "protobuf: a string is UTF-8"),
     RAW(set_value, "\x0a\x03\xed\xa0\x80"), NONE},
    {OTELKIT_ABOUT("payload/utf8-beyond", "a value with U+110000", "none",
                   "protobuf: a string is UTF-8"),
     RAW(set_value, "\x0a\x04\xf4\x90\x80\x80"), NONE},
    {OTELKIT_ABOUT("payload/utf8-last", "a value with U+10FFFF", "the value",
                   "protobuf: a string is UTF-8"),
     RAW(set_value, "\x0a\x04\xf4\x8f\xbf\xbf"),
     SHOWN("{\"k\":\"\\udbff\\udfff\"}")},
    {OTELKIT_ABOUT("payload/utf8-key", "a key with the byte ff", "none",
                   "protobuf: a string is UTF-8"),
     RAW(set_raw, "\x0a\x0a\x0a\x08\x0a\x01\xff\x12\x03\x0a\x01"
                  "v"),
     NONE},

    /* Messages. */
    {OTELKIT_ABOUT("payload/extra", "an extra attribute",
                   "both kinds of attributes",
                   "opentelemetry.proto.processcontext.v1development"),
     RAW(set_behind, "\x12\x08\x0a\x01"
                     "e\x12\x03\x0a\x01"
                     "x"),
     SHOWN(SHOP), .extra = "{\"e\":\"x\"}"},
    {OTELKIT_ABOUT("payload/no-resource", "an extra attribute, no resource",
                   "the extra attribute",
                   "opentelemetry.proto.processcontext.v1development"),
     RAW(set_raw, "\x12\x08\x0a\x01"
                  "e\x12\x03\x0a\x01"
                  "x"),
     SHOWN("{}"), .extra = "{\"e\":\"x\"}"},
    {OTELKIT_ABOUT("payload/empty-resource", "a resource of 0 bytes",
                   "a context without attributes",
                   PROTO("resource.v1.Resource")),
     RAW(set_raw, "\x0a\x00"), SHOWN("{}")},
    {OTELKIT_ABOUT("payload/resource-twice", "two resources",
                   "the attributes of both: messages merge",
                   "protobuf: Last One Wins"),
     RAW(set_behind, "\x0a\x0a\x0a\x08\x0a\x01"
                     "k\x12\x03\x0a\x01"
                     "v"),
     SHOWN("{\"service.name\":\"shop\",\"k\":\"v\"}")},
    {OTELKIT_ABOUT("payload/value-before-key", "a value before its key",
                   "the pair: fields have no order", "protobuf: Field Order"),
     RAW(set_raw, "\x0a\x0a\x0a\x08\x12\x03\x0a\x01"
                  "v\x0a\x01"
                  "k"),
     SHOWN("{\"k\":\"v\"}")},
    {OTELKIT_ABOUT("payload/extra-first", "extra attributes first",
                   "both: fields have no order", "protobuf: Field Order"),
     RAW(set_raw, "\x12\x08\x0a\x01"
                  "e\x12\x03\x0a\x01"
                  "x" RESOURCE),
     SHOWN(SHOP), .extra = "{\"e\":\"x\"}"},
    {OTELKIT_ABOUT("payload/duplicate-keys", "one key twice",
                   "either: unpredictable", PROTO("resource.v1.Resource")),
     RAW(set_raw, "\x0a\x14\x0a\x08\x0a\x01"
                  "k\x12\x03\x0a\x01"
                  "a\x0a\x08\x0a\x01"
                  "k\x12\x03\x0a\x01"
                  "b"),
     .answer = OTELKIT_EITHER},
    {OTELKIT_ABOUT("payload/dropped-count",
                   "a resource with a dropped_attributes_count", "the context",
                   PROTO("resource.v1.Resource")),
     RAW(set_raw, "\x0a\x1a" PAIR "\x10\x07"), SHOWN(SHOP)},
    {OTELKIT_ABOUT("payload/entity-refs", "a resource with entity_refs",
                   "the context", PROTO("resource.v1.Resource")),
     RAW(set_raw, "\x0a\x33" PAIR "\x1a\x19\x12\x07service\x1a\x0c"
                  "service.name\x0a\x00"),
     SHOWN(SHOP)},
    {OTELKIT_ABOUT("payload/attributes-100", "100 attributes", "all of them",
                   PROTO("resource.v1.Resource")),
     .set = set_many_attributes, .how = &(const int){100},
     .answer = OTELKIT_CONTEXT},
    {OTELKIT_ABOUT("payload/attributes-3000", "3,000 attributes in 51 KB",
                   "all of them", PROTO("resource.v1.Resource")),
     .set = set_many_attributes, .how = &(const int){3000},
     .answer = OTELKIT_CONTEXT},
    {OTELKIT_ABOUT("payload/attributes-10000", "10,000 attributes in 175 KB",
                   "either: readers have limits",
                   PROTO("resource.v1.Resource")),
     .set = set_many_attributes, .how = &(const int){10000},
     .answer = OTELKIT_EITHER},
    {OTELKIT_ABOUT("payload/bare-resource",
                   "a Resource instead of a ProcessContext",
                   "either: drafts had it so", "draft 001, dump"),
     RAW(set_raw, PAIR), EITHER(SHOP)},

    /* Fields that a reader does not know. */
    {OTELKIT_ABOUT("payload/unknown-fields",
                   "unknown fields of all four wire types", "the context",
                   "protobuf: Unknown Fields"),
     RAW(set_behind, "\x50\x96\x01"
                     "\x59\x01\x02\x03\x04\x05\x06\x07\x08"
                     "\x62\x03\xff\xff\xff"
                     "\x6d\x01\x02\x03\x04"),
     SHOWN(SHOP)},
    {OTELKIT_ABOUT("payload/unknown-high", "a field of number 2^29 - 1",
                   "the context", "protobuf: Unknown Fields"),
     RAW(set_behind, "\xf8\xff\xff\xff\x0f\x01"), SHOWN(SHOP)},
    {OTELKIT_ABOUT("payload/group", "an unknown field that is a group",
                   "either: groups are deprecated", "protobuf: Groups"),
     RAW(set_behind, "\x53\x50\x01\x54"), EITHER(SHOP)},
    {OTELKIT_ABOUT("payload/group-open", "a group without an end", "none",
                   "protobuf: Groups"),
     RAW(set_behind, "\x53\x50\x01"), NONE},
    {OTELKIT_ABOUT("payload/group-end", "the end of a group that never began",
                   "none", "protobuf: Groups"),
     RAW(set_behind, "\x54"), NONE},
    {OTELKIT_ABOUT("payload/other-wire-type", "a resource that is a number",
                   "either: decoders skip or refuse it",
                   "protobuf: Unknown Fields"),
     RAW(set_behind, "\x08\x01"), EITHER(SHOP)},

    /* Bytes that are not protobuf. */
    {OTELKIT_ABOUT("payload/wire-type-6", "wire type 6", "none",
                   "protobuf: Message Structure"),
     RAW(set_behind, "\x56\x50\x01"), NONE},
    {OTELKIT_ABOUT("payload/wire-type-7", "wire type 7", "none",
                   "protobuf: Message Structure"),
     RAW(set_behind, "\x57\x50\x01"), NONE},
    {OTELKIT_ABOUT("payload/field-0", "field number 0", "none",
                   "protobuf: Assigning Field Numbers"),
     RAW(set_behind, "\x02\x00"), NONE},
    {OTELKIT_ABOUT("payload/length-past-end",
                   "an attribute that ends behind the payload", "none",
                   "protobuf: Length-Delimited Records"),
     RAW(set_behind, "\x12\x09\x0a\x01"
                     "e\x12\x03\x0a\x01"
                     "x"),
     NONE},
    {OTELKIT_ABOUT("payload/length-past-message",
                   "a string that ends behind its message", "none",
                   "protobuf: Length-Delimited Records"),
     RAW(set_behind, "\x12\x08\x0a\x01"
                     "e\x12\x03\x0a\x02"
                     "xy"),
     NONE},
    {OTELKIT_ABOUT("payload/length-max", "a length of 2^64 - 1", "none",
                   "protobuf: Length-Delimited Records"),
     RAW(set_behind, "\x62\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), NONE},
    {OTELKIT_ABOUT("payload/length-2-gib", "a length of 2^31", "none",
                   "protobuf: Length-Delimited Records"),
     RAW(set_behind, "\x62\x80\x80\x80\x80\x08xx"), NONE},
    {OTELKIT_ABOUT("payload/varint-11", "a number of 11 bytes", "none",
                   "protobuf: Base 128 Varints"),
     RAW(set_behind, "\x50\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), NONE},
    {OTELKIT_ABOUT("payload/varint-padded", "a length with a byte too many",
                   "the context: it is no less a number",
                   "protobuf: Base 128 Varints"),
     RAW(set_raw, "\x0a\x98\x00" PAIR), SHOWN(SHOP)},
    {OTELKIT_ABOUT("payload/varint-cut", "a number without its last byte",
                   "none", "protobuf: Base 128 Varints"),
     RAW(set_behind, "\x50\x80"), NONE},
    {OTELKIT_ABOUT("payload/fixed-cut", "a double of 7 bytes", "none",
                   "protobuf: Non-varint Numbers"),
     RAW(set_behind, "\x59\0\0\0\0\0\0\0"), NONE},
    {OTELKIT_ABOUT("payload/zeros", "16 bytes of zero", "none",
                   "protobuf: Assigning Field Numbers"),
     RAW(set_raw, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), NONE},
    {OTELKIT_ABOUT("payload/text", "JSON instead of protobuf", "none",
                   OTELKIT_READING ", step 8"),
     RAW(set_raw, "{\"service.name\":\"shop\"}"), NONE},
    {.about = {.name = NULL}},
};
