/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/children.h"

#include "config/span.h"
#include "shim/base/host.h"
#include "shim/base/sys.h"

/* The separators of ld.so(8) and of musl. */
static bool separates(char c)
{
    return c == ':' || c == ' ' || (c >= '\t' && c <= '\r');
}

/* Is the file that an entry of LD_PRELOAD names the shim? */
static bool is_shim(struct otelctx_span entry)
{
    struct otelctx_span name = entry;

    while (entry.size > 0)
        name = otelctx_span_cut(&entry, '/');
    return otelctx_span_equal(name, OTELCTX_SPAN("libotelctx_preload.so"));
}

/* Copy the string without the entries that are the shim's. */
static void copy_others(char *out, const char *string)
{
    struct otelctx_span entry = {string, 0};

    for (;; string++) {
        if (*string && !separates(*string)) {
            entry.size++;
            continue;
        }
        if (!is_shim(entry)) {
            memcpy(out, entry.at, entry.size);
            out += entry.size;
            if (*string && entry.size > 0)
                *out++ = *string;
        }
        if (!*string)
            break;
        entry = (struct otelctx_span){string + 1, 0};
    }
    *out = '\0';
}

int otelctx_children_leave(char *const *envp)
{
    const struct otelctx_span option = OTELCTX_SPAN("OTELCTX_CHILDREN=");
    const struct otelctx_span name = OTELCTX_SPAN("LD_PRELOAD=");
    const char *old = name.at;
    char *strings[2];
    void *memory;
    int err;

    for (; *envp; envp++)
        if (strncmp(*envp, name.at, name.size) == 0)
            old = *envp;
    err = otelctx_sys_map(option.size + 1 + strlen(old) + 1, -1, &memory);
    if (err)
        return err;
    strings[0] = memory;
    strings[1] = strings[0] + option.size + 1;
    memcpy(strings[0], option.at, option.size);
    memcpy(strings[1], name.at, name.size);
    copy_others(strings[1] + name.size, old + name.size);
    return otelctx_host_set_variables(strings, 2);
}
