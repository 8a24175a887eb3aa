/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/instance_id.h"

#include <errno.h>

#include "shim/base/clock.h"
#include "shim/base/host.h"
#include "shim/base/sys.h"

enum {
    TEXT_SIZE = OTELCTX_INSTANCE_SIZE - 1,
    STRING_MAX = 128 << 10 /* MAX_ARG_STRLEN, see execve(2) */
};
static char id[OTELCTX_INSTANCE_SIZE];
static bool wanted;

/* 128 random bits. A child whose getrandom fails derives its own from these,
 * the time and its pid. */
static uint64_t state[2];

/* Memory of the two exported variables: a forked child changes the id in it. */
static struct otelctx_exported {
    char *at;
    size_t size;
} exported;

struct otelctx_span otelctx_instance_id(void)
{
    return otelctx_span_from(id);
}

/* RFC 9562, "UUID Version 4". */
static void write_id(void)
{
    static const char digits[16] = {'0', '1', '2', '3', '4', '5', '6', '7',
                                    '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
    const uint8_t *const bytes = (const uint8_t *)state;
    char *at = id;

    for (unsigned i = 0; i < sizeof(state); i++) {
        unsigned byte = bytes[i];

        if (i == 6)
            byte = (byte & 0x0f) | 0x40; /* version 4 */
        else if (i == 8)
            byte = (byte & 0x3f) | 0x80; /* variant 10 */
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        *at++ = digits[byte >> 4];
        *at++ = digits[byte & 15];
    }
}

void otelctx_instance_id_want(void)
{
    wanted = true;
}

int otelctx_instance_id_make(void)
{
    static int err;

    if (!wanted)
        return err;
    wanted = false;
    err = otelctx_sys_random(state, sizeof(state));
    if (!err)
        write_id();
    return err;
}

/* splitmix64. */
static uint64_t mix(uint64_t word)
{
    word += 0x9e3779b97f4a7c15;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
}

bool otelctx_instance_id_is_exported(void)
{
    return exported.at;
}

bool otelctx_instance_id_renew(char old[OTELCTX_INSTANCE_SIZE])
{
    if (!id[0])
        return false;
    memcpy(old, id, sizeof(id));
    if (otelctx_sys_random(state, sizeof(state))) {
        state[0] = mix(state[0] ^ otelctx_clock_read());
        state[1] = mix(state[1] ^ (uint64_t)otelctx_sys_pid() ^ state[0]);
    }
    write_id();
    (void)otelctx_instance_id_replace(exported.at, exported.size, old);
    return true;
}

unsigned otelctx_instance_id_replace(void *at, size_t size, const char *old)
{
    char *const text = at;
    unsigned count = 0;

    for (size_t i = 0; i + TEXT_SIZE <= size; i++)
        if (text[i] == old[0] && memcmp(text + i, old, TEXT_SIZE) == 0) {
            memcpy(text + i, id, TEXT_SIZE);
            count++;
        }
    return count;
}

static char *append(char *at, struct otelctx_span text)
{
    memcpy(at, text.at, text.size);
    return at + text.size;
}

int otelctx_instance_id_export(struct otelctx_span attributes,
                               struct otelctx_span inherited)
{
    const struct otelctx_span marker = OTELCTX_SPAN("OTELCTX_EXPORTED_ID=");
    const struct otelctx_span name = OTELCTX_SPAN("OTEL_RESOURCE_ATTRIBUTES=");
    const struct otelctx_span key = OTELCTX_SPAN("," OTELCTX_INSTANCE_KEY "=");
    const struct otelctx_span value = otelctx_instance_id();
    const size_t first = marker.size + value.size + 1;
    const size_t second =
        name.size + attributes.size + key.size + value.size + 1;
    char *strings[2], *at;
    void *memory;
    int err;

    if (second > STRING_MAX)
        return -E2BIG;
    err = otelctx_sys_map(first + second, -1, &memory);
    if (err)
        return err;
    exported = (struct otelctx_exported){memory, first + second};
    strings[0] = exported.at;
    strings[1] = append(append(strings[0], marker), value) + 1;
    at = append(strings[1], name);
    at = append(at, attributes);
    /* The id replaces the parent's, or else is appended. */
    if (inherited.size != TEXT_SIZE ||
        !otelctx_instance_id_replace(strings[1], (size_t)(at - strings[1]),
                                     inherited.at))
        append(append(at, attributes.size > 0 ? key
                                              : otelctx_span_from(key.at + 1)),
               value);
    return otelctx_host_set_variables(strings, 2);
}
