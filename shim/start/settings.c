/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/settings.h"

#include <elf.h>
#include <errno.h>

#include "config/file.h"
#include "config/glob.h"
#include "shim/base/log.h"
#include "shim/base/sys.h"

#define OPTION "the name of an option"

static bool is_file_asked_for(const struct otelctx_settings *s)
{
    return s->source[OTELCTX_OPTION_CONFIG_FILE].text.at;
}

/* Every process of the machine reads the default file: a mistake in it is a
 * warning, not an error of this process. */
static enum otelctx_log_level level_of(const struct otelctx_settings *s,
                                       const struct otelctx_mistake *m)
{
    return m->weight == OTELCTX_COUNTS || (m->line > 0 && !is_file_asked_for(s))
               ? OTELCTX_LOG_WARN
               : OTELCTX_LOG_ERROR;
}

/* What becomes of an option whose value is wrong. */
static const char *consequence_of(enum otelctx_option_id id)
{
    if (id == OTELCTX_OPTION_DISABLED || id == OTELCTX_OPTION_SDK_DISABLED)
        return "; the shim stays on";
    if (otelctx_option_kind(id) == OTELCTX_KIND_ENTITIES)
        return "; this entity is skipped";
    return otelctx_option_kind(id) < OTELCTX_KIND_UTF8
               ? "; the default counts"
               : "; all of the variable is discarded";
}

static void report_mistake(const struct otelctx_settings *s,
                           const struct otelctx_mistake *m)
{
    const struct otelctx_span found = {m->text.at + m->fault.pos - 1,
                                       m->text.size - m->fault.pos + 1};
    struct otelctx_span path = s->options.config_file;
    const char *colon = ": ", *name = "", *consequence = "";

    if (m->line == 0)
        path.size = 0;
    if (m->id < OTELCTX_OPTION_COUNT) {
        name = otelctx_option_name(m->id);
        if (m->weight == OTELCTX_DISCARDED)
            consequence = consequence_of(m->id);
    }
    otelctx_log(level_of(s, m),
                "%t%s%o%s%s%sbyte %d: \"%t\": expected %s%s%s%o%s", &path,
                m->line ? ": line " : "", (size_t)m->line, m->line ? colon : "",
                name, *name ? colon : "", m->fault.pos, &found, m->fault.why,
                consequence, m->others ? " (and " : "", (size_t)m->others,
                m->others ? " more)" : "");
}

void otelctx_settings_fault(const struct otelctx_settings *s,
                            enum otelctx_option_id id,
                            enum otelctx_weight weight, size_t pos,
                            const char *why)
{
    const struct otelctx_mistake m = {.text = s->source[id].text,
                                      .line = s->source[id].line,
                                      .id = id,
                                      .fault = {pos, why},
                                      .weight = weight};

    report_mistake(s, &m);
}

void otelctx_settings_collect(struct otelctx_mistake *list,
                              enum otelctx_weight weight, size_t pos,
                              const char *why)
{
    if (list->fault.why)
        list->others++;
    if (list->fault.why && weight > list->weight)
        return;
    list->fault = (struct otelctx_fault){pos, why};
    list->weight = weight;
}

void otelctx_settings_report(const struct otelctx_settings *s,
                             enum otelctx_option_id id,
                             struct otelctx_mistake *list)
{
    list->text = s->source[id].text;
    list->line = s->source[id].line;
    list->id = id;
    if (list->fault.why)
        report_mistake(s, list);
}

/* Where the next mistake is stored. Mistakes are reported later, because the
 * file may set the log level. The last place takes those past the maximum. */
static struct otelctx_mistake *next_mistake(struct otelctx_settings *s)
{
    return &s->mistakes[s->mistakes_count];
}

static void keep_mistake(struct otelctx_settings *s)
{
    s->mistakes_count += s->mistakes_count < OTELCTX_MISTAKES_MAX;
}

/* Give one option the value that its source says. */
static void apply(struct otelctx_settings *s, enum otelctx_option_id id)
{
    struct otelctx_mistake *m = next_mistake(s);

    m->text = s->source[id].text;
    m->line = s->source[id].line;
    m->id = id;
    if (otelctx_options_apply(&s->options, id, m->text, &m->fault))
        keep_mistake(s);
}

/* Why the shim does nothing in this process. */
static void report_disabled(enum otelctx_option_id id, const char *why,
                            const struct otelctx_span *text)
{
    otelctx_log(OTELCTX_LOG_DEBUG, "off because of %s: %s\"%t\"",
                otelctx_option_name(id), why, text);
}

/* The option that disables the shim, or OTELCTX_OPTION_COUNT. */
static enum otelctx_option_id disabled_by(const struct otelctx_settings *s)
{
    if (s->options.sdk_disabled)
        return OTELCTX_OPTION_SDK_DISABLED;
    return s->options.disabled ? OTELCTX_OPTION_DISABLED : OTELCTX_OPTION_COUNT;
}

/* OTELCTX_INCLUDE_PATHS and OTELCTX_EXCLUDE_PATHS. */
static bool is_excluded(const struct otelctx_options *options)
{
    char path[4096];
    struct otelctx_span executable = {path, 0}, pattern;
    long size;

    if (!options->include_paths.at && !options->exclude_paths.at)
        return false;
    size = otelctx_sys_executable(path, sizeof(path));
    if (size > 0)
        executable.size = (size_t)size;
    if (options->include_paths.at &&
        !otelctx_glob_find(options->include_paths, executable).at) {
        report_disabled(OTELCTX_OPTION_INCLUDE_PATHS, "no match for ",
                        &executable);
        return true;
    }
    pattern = otelctx_glob_find(options->exclude_paths, executable);
    if (pattern.at)
        report_disabled(OTELCTX_OPTION_EXCLUDE_PATHS, "", &pattern);
    return pattern.at;
}

/* Report patterns that no path of an executable can match. */
static void check_patterns(const struct otelctx_settings *s,
                           enum otelctx_option_id id)
{
    const struct otelctx_span all = s->source[id].text;
    struct otelctx_span rest = all, pattern;

    while ((pattern = otelctx_span_member(&rest)).size > 0) {
        if (!otelctx_glob_may_match_file(pattern))
            otelctx_settings_fault(s, id, OTELCTX_COUNTS,
                                   (size_t)(pattern.at - all.at) + 1,
                                   "a whole path, as in /srv/*");
    }
}

/* A default file that is missing or not readable is no mistake. */
static void report_file_failure(const struct otelctx_settings *s)
{
    enum otelctx_log_level level = OTELCTX_LOG_DEBUG;
    const char *what = "a readable file";

    if (s->file_err == 0)
        return;
    if (s->file_err == -EACCES)
        what = "permission to read it";
    else if (s->file_err == -ENOENT || s->file_err == -ENOTDIR)
        what = "an existing file";
    else
        level = OTELCTX_LOG_WARN;
    if (s->file_err == -EINVAL)
        what = "a regular file";
    if (s->file_err == -EFBIG)
        what = "at most 65536 bytes";
    if (is_file_asked_for(s))
        level = OTELCTX_LOG_ERROR;
    otelctx_log(level, "%t: expected %s (errno %d)", &s->options.config_file,
                what, (size_t)-s->file_err);
}

/* Read the whole file. Returns 0 or -errno. */
static int read_file(struct otelctx_settings *s, const char *path)
{
    bool has_text;
    const int fd = otelctx_sys_open_file(path, &has_text);
    void *memory;
    long size = 0;

    if (fd < 0)
        return fd;
    if (has_text)
        size = otelctx_sys_map(OTELCTX_FILE_MAX + 1, -1, &memory);
    if (has_text && size == 0) {
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

static void open_config(struct otelctx_settings *s)
{
    const struct otelctx_span path = s->options.config_file;
    char text[4096];

    s->file_err = -ENAMETOOLONG;
    if (path.size < sizeof(text)) {
        memcpy(text, path.at, path.size);
        text[path.size] = '\0';
        s->file_err = read_file(s, text);
    }
}

/* Apply one line of the file. Returns what was expected instead, or NULL. */
static const char *apply_line(struct otelctx_settings *s, uint32_t line,
                              struct otelctx_span name,
                              struct otelctx_span value)
{
    const enum otelctx_option_id id = otelctx_options_find(name);
    struct otelctx_setting *setting = &s->source[id];

    if (id == OTELCTX_OPTION_COUNT)
        return OPTION;
    if (otelctx_option_is_of_environment(id))
        return "it in the environment";
    if (setting->text.at && setting->line == 0)
        return NULL; /* the environment has it */
    /* Within the file the last line counts, also when it unsets. */
    if (value.size == 0)
        value.at = NULL;
    *setting = (struct otelctx_setting){value, line};
    apply(s, id);
    return NULL;
}

static void take_file(struct otelctx_settings *s)
{
    struct otelctx_file file = {.rest = {s->file, s->file_size}};
    struct otelctx_span name, value;
    int got;

    do {
        struct otelctx_fault fault = {1, NULL};
        struct otelctx_mistake *m;

        got = otelctx_file_next(&file, &name, &value, &fault);
        if (got > 0)
            fault.why = apply_line(s, file.line, name, value);
        if (!fault.why)
            continue;
        m = next_mistake(s);
        m->fault = fault;
        m->text = file.text;
        m->line = file.line;
        m->id = OTELCTX_OPTION_COUNT;
        keep_mistake(s);
    } while (got != 0);
}

static void report_sources(const struct otelctx_settings *s)
{
    const struct otelctx_span environment = OTELCTX_SPAN("the environment");

    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        if (s->source[id].text.at)
            otelctx_log(OTELCTX_LOG_DEBUG, "%s: %d bytes from %t",
                        otelctx_option_name(id), s->source[id].text.size,
                        s->source[id].line ? &s->options.config_file
                                           : &environment);
}

/* Variables whose names begin with "OTELCTX_" and are no options. */
static void report_unknown(const struct otelctx_setting *first)
{
    if (first->line > 0)
        otelctx_log(OTELCTX_LOG_WARN, "unknown variables: %d, first \"%t\"",
                    (size_t)first->line, &first->text);
}

/* Report what the log level asks for. Returns 0, or -ENOSYS if the settings
 * disable the shim in this process. */
static int report_all(const struct otelctx_settings *s, bool aloud)
{
    const enum otelctx_option_id off = disabled_by(s);

    otelctx_log_set_level(aloud ? s->options.log_level : OTELCTX_LOG_NONE);
    report_sources(s);
    if (off < OTELCTX_OPTION_COUNT) {
        report_disabled(off, "", &s->source[off].text);
        return -ENOSYS;
    }
    check_patterns(s, OTELCTX_OPTION_INCLUDE_PATHS);
    check_patterns(s, OTELCTX_OPTION_EXCLUDE_PATHS);
    if (is_excluded(&s->options))
        return -ENOSYS;
    report_file_failure(s);
    for (unsigned i = 0; i < s->mistakes_count; i++)
        report_mistake(s, &s->mistakes[i]);
    report_unknown(&s->source[OTELCTX_SETTING_UNKNOWN]);
    if (s->source[OTELCTX_SETTING_DECLARATIVE].text.at)
        otelctx_log(OTELCTX_LOG_WARN, OTELCTX_DECLARATIVE_DOUBT);
    return 0;
}

int otelctx_settings_open(struct otelctx_settings *s, bool aloud)
{
    memset(s, 0, sizeof(*s));
    otelctx_options_set_defaults(&s->options);
    if (otelctx_host_auxiliary(AT_PAGESZ) == 0)
        return -ENOSYS;
    if (!otelctx_host_is_secure()) {
        if (!otelctx_environment_open(&s->environment))
            return -ENOSYS;
        otelctx_options_read_environment(s->source, s->environment.strings);
    }
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        if (s->source[id].text.at)
            apply(s, id);
    if (disabled_by(s) == OTELCTX_OPTION_COUNT) {
        open_config(s);
        take_file(s);
    }
    return report_all(s, aloud);
}

void otelctx_settings_close(struct otelctx_settings *s)
{
    if (s->file)
        (void)otelctx_sys_unmap(s->file, OTELCTX_FILE_MAX + 1);
    otelctx_environment_close(&s->environment);
}
