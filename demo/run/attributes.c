/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/attributes.h"

#include "config/attrs.h"
#include "config/utf8.h"
#include "demo/run/memory.h"

#define VARIABLE "OTEL_RESOURCE_ATTRIBUTES"

/* What needs no escape, whoever decodes it. Rule: RFC 3986, "Unreserved
 * Characters", and a few that names and paths have. */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c != '\0' && strchr("-._~/:@", c));
}

static size_t encode(char *out, struct otelctx_span text)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t size = 0;

    for (size_t i = 0; i < text.size; i++) {
        const unsigned char byte = (unsigned char)text.at[i];

        if (is_plain(text.at[i])) {
            out[size++] = text.at[i];
            continue;
        }
        out[size++] = '%';
        out[size++] = digits[byte >> 4];
        out[size++] = digits[byte & 15];
    }
    return size;
}

/* Is this member of the variable an attribute with that key? */
static bool has_key(struct otelctx_span member, struct otelctx_span key,
                    size_t *value_size)
{
    char *const scratch = otelrun_allocate(member.size + 1, 1);
    struct otelctx_attrs it = otelctx_attrs_begin(member, scratch, member.size);
    struct otelctx_pair pair;
    struct otelctx_fault fault;

    if (otelctx_attrs_next(&it, &pair, &fault) <= 0 ||
        !otelctx_span_equal(pair.key, key))
        return false;
    *value_size = pair.value.size;
    return true;
}

static struct otelctx_span variable(const struct otelrun_environment *e)
{
    const char *const text = otelrun_environment_get(e, VARIABLE);

    return otelctx_span_from(text ? text : "");
}

bool otelrun_attributes_have(const struct otelrun_environment *e,
                             struct otelctx_span key)
{
    struct otelctx_span rest = variable(e), member;
    const char *const name = otelrun_environment_get(e, "OTEL_SERVICE_NAME");
    size_t value_size = 0;

    if (otelctx_span_equal(key, OTELCTX_SPAN("service.name")) && name &&
        *name != '\0')
        return true;
    while ((member = otelctx_span_member(&rest)).size > 0)
        if (has_key(member, key, &value_size) && value_size > 0)
            return true;
    return false;
}

void otelrun_attributes_set(struct otelrun_environment *e,
                            struct otelctx_span key, struct otelctx_span value)
{
    struct otelctx_span rest = variable(e), member;
    char *const text =
        otelrun_allocate(rest.size + 3 * (key.size + value.size) + 3, 1);
    size_t size = 0, value_size;

    while ((member = otelctx_span_member(&rest)).size > 0) {
        if (has_key(member, key, &value_size))
            continue;
        memcpy(text + size, member.at, member.size);
        size += member.size;
        text[size++] = ',';
    }
    size += encode(text + size, key);
    text[size++] = '=';
    size += encode(text + size, value);
    text[size] = '\0';
    otelrun_environment_set(e, VARIABLE, text);
}

void otelrun_attributes_add(struct otelrun_environment *e, const char *key,
                            const char *value)
{
    const struct otelctx_span k = otelctx_span_from(key);
    const struct otelctx_span v = otelctx_span_from(value ? value : "");

    if (v.size > 0 && !otelrun_attributes_refuse(k, v) &&
        !otelrun_attributes_have(e, k))
        otelrun_attributes_set(e, k, v);
}

const char *otelrun_attributes_refuse(struct otelctx_span key,
                                      struct otelctx_span value)
{
    if (key.size == 0)
        return "a key before '='";
    if (otelctx_span_begins(key, OTELCTX_SPAN("threadlocal.")))
        return "a key that does not begin with \"threadlocal.\"";
    if (otelctx_utf8_valid(key) < key.size ||
        otelctx_utf8_valid(value) < value.size)
        return "valid UTF-8";
    return NULL;
}
