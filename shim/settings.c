/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/settings.h"

#include <elf.h>
#include <errno.h>

#include "config/file.h"
#include "config/glob.h"
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

/* Give the options their values, on top of the defaults. */
static void apply(struct otelctx_settings *s, enum voice voice)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        const struct otelctx_span text = s->source[id].text;
        struct otelctx_fault fault;

        if (text.at && otelctx_options_apply(&s->options, id, text, &fault) &&
            voice == ALOUD)
            otelctx_settings_fault(s, id, &fault);
    }
}

static bool is_disabled(const struct otelctx_settings *s)
{
    return s->options.sdk_disabled || s->options.disabled;
}

/* OTELCTX_INCLUDE_PATHS and OTELCTX_EXCLUDE_PATHS. */
static bool is_excluded(const struct otelctx_options *options)
{
    char path[4096];
    struct otelctx_span executable = {path, 0};
    long size;

    if (!options->include_paths.at && !options->exclude_paths.at)
        return false;
    size = otelctx_sys_executable(path, sizeof(path));
    if (size > 0)
        executable.size = (size_t)size;
    return (options->include_paths.at &&
            !otelctx_glob_any(options->include_paths, executable)) ||
           otelctx_glob_any(options->exclude_paths, executable);
}

/* Did the user write what is wrong with the file, or is it the system? */
static enum otelctx_log_level file_failure_level(bool asked_for, int err)
{
    switch (err) {
    case -EINVAL: /* another kind of file */
    case -EFBIG:
    case -ENAMETOOLONG:
        return OTELCTX_LOG_ERROR;
    case -ENOENT:
    case -ENOTDIR:
    case -EACCES:
    case -ELOOP:
        return asked_for ? OTELCTX_LOG_ERROR : OTELCTX_LOG_DEBUG;
    default:
        return OTELCTX_LOG_WARN;
    }
}

static void tell_file_failure(const struct otelctx_settings *s)
{
    const bool asked_for = s->source[OTELCTX_OPTION_CONFIG_FILE].text.at;
    struct otelctx_line out;

    if (!s->file_err ||
        !otelctx_line_begin(&out, file_failure_level(asked_for, s->file_err)))
        return;
    otelctx_line_text(&out, s->path);
    otelctx_line_text(&out, ": expected a readable regular file of at most "
                            "65536 bytes");
    otelctx_line_errno(&out, s->file_err);
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
    size_t cut = path.size;

    s->file_err = -ENAMETOOLONG;
    if (path.size < sizeof(text)) {
        memcpy(text, path.at, path.size);
        text[path.size] = '\0';
        s->file_err = read_file(s, text);
    }
    if (cut > sizeof(s->path) - 1)
        cut = sizeof(s->path) - 1;
    memcpy(s->path, path.at, cut);
    s->path[cut] = '\0';
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
    if (id == OTELCTX_OPTION_TRACEPARENT)
        return "expected TRACEPARENT in the environment only";
    if (id == OTELCTX_OPTION_EXPORTED_ID)
        return "expected OTELCTX_EXPORTED_ID in the environment only";
    if (setting->text.at && setting->line == 0)
        return NULL; /* the environment has it */
    /* Within the file the last line counts, also when it unsets. */
    *setting = (struct otelctx_setting){.line = line};
    if (value.size > 0)
        setting->text = value;
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

int otelctx_settings_open(struct otelctx_settings *s, bool aloud)
{
    memset(s, 0, sizeof(*s));
    if (otelctx_host_auxiliary(AT_PAGESZ) == 0)
        return -ENOSYS;
    if (!otelctx_host_is_secure()) {
        if (!otelctx_environment_open(&s->environment))
            return -ENOSYS;
        otelctx_options_read_environment(s->source, s->environment.strings);
    }
    apply(s, SILENTLY);
    if (is_disabled(s))
        return -ENOSYS;

    otelctx_options_set_defaults(&s->options);
    apply(s, SILENTLY);
    /* Silently at first: the file may say what to report, or to be silent. */
    open_file(s);
    take_file(s, SILENTLY);
    apply(s, SILENTLY);
    otelctx_diag_set_level(aloud ? s->options.log_level : OTELCTX_LOG_NONE);
    if (is_disabled(s) || is_excluded(&s->options))
        return -ENOSYS;

    tell_file_failure(s);
    apply(s, ALOUD);
    take_file(s, ALOUD);
    tell_sources(s);
    return 0;
}

void otelctx_settings_close(struct otelctx_settings *s)
{
    if (s->file)
        (void)otelctx_sys_unmap(s->file, OTELCTX_FILE_MAX + 1);
    otelctx_environment_close(&s->environment);
}
