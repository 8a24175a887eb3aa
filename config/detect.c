/* SPDX-License-Identifier: Apache-2.0 */
#include "config/detect.h"

enum {
    ID_SIZE = 64,
    TASK_SIZE = 32
};

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* What an id does not touch: it would be a part of something else. */
static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* An engine's id is 64 digits; that of a task in ECS or Fargate 32, a hyphen
 * and a number. Returns its size at the start of the text, or 0. */
static size_t id_size(struct otelctx_span text)
{
    size_t hex = 0, end;

    while (hex < text.size && is_hex(text.at[hex]))
        hex++;
    end = hex;
    if (hex == TASK_SIZE && hex < text.size && text.at[hex] == '-')
        for (end++;
             end < text.size && text.at[end] >= '0' && text.at[end] <= '9';)
            end++;
    if (hex == ID_SIZE || (hex == TASK_SIZE && end > TASK_SIZE + 1))
        return end < text.size && is_word(text.at[end]) ? 0 : end;
    return 0;
}

/* The last id in a line that is no part of a longer word. */
static struct otelctx_span find_id(struct otelctx_span line)
{
    struct otelctx_span id = {line.at, 0};

    for (size_t i = 0; i < line.size; i++) {
        const struct otelctx_span rest = {line.at + i, line.size - i};
        const size_t size =
            i > 0 && is_word(line.at[i - 1]) ? 0 : id_size(rest);

        if (size > 0)
            id = (struct otelctx_span){rest.at, size};
    }
    return id;
}

static bool has(struct otelctx_span line, const char *text)
{
    const struct otelctx_span part = otelctx_span_from(text);

    for (; line.size >= part.size; line.at++, line.size--)
        if (otelctx_span_begins(line, part))
            return true;
    return false;
}

/* Files that the engine makes for each container. Those of a pod's sandbox are
 * not the container's: containerd has them in sandboxes/. In
 * overlay-containers/ CRI-O has the sandbox's hostname, and Podman the
 * container's; there .containerenv is the container's. */
static bool is_own_mount(struct otelctx_span line)
{
    if (has(line, "/overlay-containers/"))
        return has(line, " /run/.containerenv ");
    return has(line, " /etc/hostname ") && !has(line, "/sandboxes/");
}

/* A line of cgroup has "0::/...", one of mountinfo the root of the mount before
 * the place where it is mounted. CRI-O's conmon has a cgroup of its own. */
struct otelctx_span otelctx_detect_container(struct otelctx_span text)
{
    const struct otelctx_span none = {text.at, 0};

    while (text.size > 0) {
        const struct otelctx_span line = otelctx_span_cut(&text, '\n');
        const struct otelctx_span id = find_id(line);
        const bool is_mount = has(line, " - ");

        if (id.size > 0 &&
            (is_mount ? is_own_mount(line) : !has(line, "/crio-conmon-")))
            return id;
    }
    return none;
}

struct otelctx_span otelctx_detect_release(struct otelctx_span text,
                                           struct otelctx_span name)
{
    while (text.size > 0) {
        struct otelctx_span value = otelctx_span_cut(&text, '\n');

        if (!otelctx_span_equal(otelctx_span_cut(&value, '='), name))
            continue;
        if (value.size >= 2 && (value.at[0] == '"' || value.at[0] == '\'') &&
            value.at[value.size - 1] == value.at[0])
            value = (struct otelctx_span){value.at + 1, value.size - 2};
        return value;
    }
    return (struct otelctx_span){NULL, 0};
}
