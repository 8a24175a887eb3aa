/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/settings.h"

#include <errno.h>

#include "config/file.h"
#include "shim/diag.h"
#include "shim/sys.h"

/* Whether a step reports what is wrong or leaves that to a later one. */
enum voice {
    SILENTLY,
    ALOUD
};

/* A file that is something else altogether need not be told in full. */
enum {
    FILE_FAULTS_MAX = 10
};

/* line 0 is the environment, id OTELCTX_OPTION_COUNT no option at all. */
static void report(const struct otelctx_settings *s, uint32_t line,
                   enum otelctx_option_id id, const struct otelctx_fault *fault)
{
    struct otelctx_line out;

    if (!otelctx_line_begin(&out, OTELCTX_LOG_ERROR))
        return;
    if (line > 0) {
        otelctx_line_text(&out, s->path);
        otelctx_line_text(&out, ": line ");
        otelctx_line_number(&out, line);
        otelctx_line_text(&out, ": ");
    }
    if (id < OTELCTX_OPTION_COUNT) {
        otelctx_line_text(&out, otelctx_options_table[id].name);
        otelctx_line_text(&out, ": ");
    }
    otelctx_line_text(&out, "byte ");
    otelctx_line_number(&out, fault->pos);
    otelctx_line_text(&out, ": ");
    otelctx_line_text(&out, fault->why);
    otelctx_line_send(&out);
}

void otelctx_settings_fault(const struct otelctx_settings *s,
                            enum otelctx_option_id id,
                            const struct otelctx_fault *fault)
{
    report(s, s->source[id].line, id, fault);
}

static void apply(struct otelctx_settings *s, enum voice voice)
{
    otelctx_options_set_defaults(&s->options);
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        const struct otelctx_span text = s->source[id].text;
        struct otelctx_fault fault;
        int err;

        if (!text.at)
            continue;
        err = otelctx_options_apply(&s->options, id, text, &fault);
        if (id == OTELCTX_OPTION_LOG_LEVEL)
            otelctx_diag_set_level(s->options.log_level);
        if (err && voice == ALOUD)
            otelctx_settings_fault(s, id, &fault);
    }
}

static bool disabled(const struct otelctx_settings *s)
{
    return s->options.sdk_disabled || s->options.disabled;
}

/* Report why the file does not count; the default file may well not be there,
 * or be closed to this user. */
static void file_failed(const struct otelctx_settings *s, int err)
{
    const bool asked_for = s->source[OTELCTX_OPTION_CONFIG_FILE].text.at;
    struct otelctx_line out;

    if (!asked_for && err == -ENOENT)
        return;
    if (!otelctx_line_begin(&out, !asked_for && err == -EACCES
                                      ? OTELCTX_LOG_INFO
                                      : OTELCTX_LOG_ERROR))
        return;
    otelctx_line_text(&out, s->path);
    otelctx_line_text(&out, ": expected a readable regular file of at most "
                            "65536 bytes");
    otelctx_line_errno(&out, err);
    otelctx_line_send(&out);
}

/* The whole file, or -errno. */
static int read_file(struct otelctx_settings *s, const char *path)
{
    const int fd = otelctx_sys_open_file(path);
    void *memory;
    long size;

    if (fd < 0)
        return fd;
    size = otelctx_sys_map(OTELCTX_FILE_MAX + 1, -1, &memory);
    if (size == 0) {
        s->file = memory;
        size = otelctx_sys_read(fd, s->file, OTELCTX_FILE_MAX + 1);
        s->file_size = size < 0 ? 0 : (size_t)size;
    }
    (void)otelctx_sys_close(fd);
    if (size > OTELCTX_FILE_MAX) {
        s->file_size = 0;
        return -EFBIG;
    }
    return size < 0 ? (int)size : 0;
}

static void open_file(struct otelctx_settings *s)
{
    const struct otelctx_span path = s->options.config_file;
    char text[4096];
    int err = -ENAMETOOLONG;
    size_t cut = path.size;

    if (path.size < sizeof(text)) {
        memcpy(text, path.at, path.size);
        text[path.size] = '\0';
        err = read_file(s, text);
    }
    if (cut > sizeof(s->path) - 1)
        cut = sizeof(s->path) - 1;
    memcpy(s->path, path.at, cut);
    s->path[cut] = '\0';
    if (err)
        file_failed(s, err);
}

/* One line of the file; why it does not count, or NULL. */
static const char *take_line(struct otelctx_settings *s, uint32_t line,
                             struct otelctx_span name,
                             struct otelctx_span value)
{
    const enum otelctx_option_id id = otelctx_options_find(name);
    struct otelctx_setting *setting = &s->source[id];

    if (id == OTELCTX_OPTION_COUNT)
        return "expected the name of an option";
    if (id == OTELCTX_OPTION_CONFIG_FILE)
        return "expected OTELCTX_CONFIG_FILE in the environment only";
    /* Within the file, the last line counts. */
    if (value.size > 0 && (!setting->text.at || setting->line > 0))
        *setting = (struct otelctx_setting){.text = value, .line = line};
    return NULL;
}

static void take_file(struct otelctx_settings *s, enum voice voice)
{
    struct otelctx_file file = {.rest = {s->file, s->file_size}};
    struct otelctx_span name, value;
    unsigned faults = 0;
    int got = 1;

    while (got != 0 && faults < FILE_FAULTS_MAX) {
        struct otelctx_fault fault = {.pos = 1};

        got = otelctx_file_next(&file, &name, &value, &fault);
        if (got > 0)
            fault.why = take_line(s, file.line, name, value);
        if (!fault.why || voice == SILENTLY)
            continue;
        if (++faults == FILE_FAULTS_MAX)
            fault.why = "and more is wrong from here on";
        report(s, file.line, OTELCTX_OPTION_COUNT, &fault);
    }
}

static void tell_sources(const struct otelctx_settings *s)
{
    struct otelctx_line out;

    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        if (!s->source[id].text.at ||
            !otelctx_line_begin(&out, OTELCTX_LOG_DEBUG))
            continue;
        otelctx_line_text(&out, otelctx_options_table[id].name);
        otelctx_line_text(&out, ": ");
        otelctx_line_number(&out, s->source[id].text.size);
        otelctx_line_text(&out, " bytes from ");
        otelctx_line_text(&out,
                          s->source[id].line ? s->path : "the environment");
        otelctx_line_send(&out);
    }
}

int otelctx_settings_open(struct otelctx_settings *s)
{
    memset(s, 0, sizeof(*s));
    if (!otelctx_host_is_secure()) {
        otelctx_environment_open(&s->environment);
        otelctx_options_read_environment(s->source, s->environment.strings);
    }
    apply(s, SILENTLY);
    if (disabled(s))
        return -ENOSYS;

    open_file(s);
    take_file(s, SILENTLY);
    apply(s, ALOUD);
    take_file(s, ALOUD);
    tell_sources(s);
    return disabled(s) ? -ENOSYS : 0;
}

void otelctx_settings_close(struct otelctx_settings *s)
{
    if (s->file)
        otelctx_sys_unmap(s->file, OTELCTX_FILE_MAX + 1);
    otelctx_environment_close(&s->environment);
}
