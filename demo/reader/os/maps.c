/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/maps.h"

#include "shim/wire/process.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What is left of one line. */
struct text {
    const char *at;
    const char *end;
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* A number of 1 to 16 hexadecimal digits and the character behind it. */
static bool take_hex(struct text *line, char behind, uint64_t *value)
{
    const char *const start = line->at;

    *value = 0;
    while (line->at < line->end && hex_digit(*line->at) >= 0) {
        *value = *value << 4 | (uint64_t)hex_digit(*line->at);
        line->at++;
    }

    const size_t digits = (size_t)(line->at - start);
    if (digits == 0 || digits > 16 || line->at == line->end ||
        *line->at != behind)
        return false;
    line->at++;
    return true;
}

static bool take_permissions(struct text *line, char permissions[5])
{
    if (line->end - line->at < 5 || line->at[4] != ' ')
        return false;
    for (size_t i = 0; i < 4; i++) {
        if (!strchr("rwxsp-", line->at[i]) || line->at[i] == '\0')
            return false;
    }
    (void)memcpy(permissions, line->at, 4);
    permissions[4] = '\0';
    line->at += 5;
    return true;
}

static bool skip_word(struct text *line)
{
    const char *const start = line->at;

    while (line->at < line->end && *line->at != ' ')
        line->at++;
    const bool found = line->at > start;
    while (line->at < line->end && *line->at == ' ')
        line->at++;
    return found;
}

/* "start-end perms offset device inode      name" */
static bool line_parse(struct text text, struct otelread_maps_line *line)
{
    if (!take_hex(&text, '-', &line->start) ||
        !take_hex(&text, ' ', &line->end) || line->start >= line->end ||
        !take_permissions(&text, line->permissions) ||
        !take_hex(&text, ' ', &line->offset) || !skip_word(&text) ||
        !skip_word(&text))
        return false;
    line->name = text.at;
    line->name_size = (size_t)(text.end - text.at);
    return true;
}

static void line_append(struct otelread_maps *maps, const char *bytes,
                        size_t size)
{
    const size_t room = sizeof(maps->line) - maps->line_size;

    if (size > room)
        size = room;
    (void)memcpy(maps->line + maps->line_size, bytes, size);
    maps->line_size += size;
}

/* The rest of the current line, as far as the buffer has it. */
static bool line_finish(struct otelread_maps *maps)
{
    const char *const start = maps->buffer + maps->at;
    const size_t size = maps->filled - maps->at;
    const char *const newline = memchr(start, '\n', size);

    if (!newline) {
        line_append(maps, start, size);
        maps->at += size;
        return false;
    }
    line_append(maps, start, (size_t)(newline - start));
    maps->at += (size_t)(newline - start) + 1;
    return true;
}

ssize_t otelread_maps_read_fd(void *source, void *out, size_t size)
{
    const int *const fd = source;
    const ssize_t got = read(*fd, out, size);

    return got < 0 ? -errno : got;
}

static bool line_take(struct otelread_maps *maps,
                      struct otelread_maps_line *line)
{
    const struct text text = {maps->line, maps->line + maps->line_size};

    maps->line_size = 0;
    return line_parse(text, line);
}

int otelread_maps_next_line(struct otelread_maps *maps,
                            struct otelread_maps_line *line)
{
    for (;;) {
        if (line_finish(maps)) {
            if (line_take(maps, line))
                return 1;
            continue;
        }

        const ssize_t got =
            maps->read(maps->source, maps->buffer, sizeof(maps->buffer));
        if (got < 0)
            return (int)got;
        if (got == 0)
            return maps->line_size > 0 && line_take(maps, line);
        maps->at = 0;
        maps->filled = (size_t)got;
    }
}

/* OTEP 4719, "Reading Protocol", step 1. */
static const char *const names[] = {
    ("[anon_shmem:" OTELCTX_MAPPING_NAME "]"),
    ("[anon:" OTELCTX_MAPPING_NAME "]"),
    ("/memfd:" OTELCTX_MAPPING_NAME),
};

bool otelread_maps_is_context(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const size_t length = strlen(names[i]);

        if (size >= length && memcmp(name, names[i], length) == 0)
            return true;
    }
    return false;
}

int otelread_maps_next(struct otelread_maps *maps,
                       struct otelread_mapping *mapping)
{
    struct otelread_maps_line line;
    int result;

    while ((result = otelread_maps_next_line(maps, &line)) > 0) {
        if (!otelread_maps_is_context(line.name, line.name_size))
            continue;

        const size_t room = sizeof(mapping->name) - 1;
        const size_t size = line.name_size < room ? line.name_size : room;
        mapping->start = line.start;
        mapping->end = line.end;
        mapping->in_memory = false; /* not known */
        (void)memcpy(mapping->permissions, line.permissions,
                     sizeof(line.permissions));
        (void)memcpy(mapping->name, line.name, size);
        mapping->name[size] = '\0';
        return 1;
    }
    return result;
}
