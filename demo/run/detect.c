/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/detect.h"

#include "demo/base/root.h"
#include "demo/run/attributes.h"
#include "demo/run/memory.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FILE_MAX  65536
#define ID_SIZE   64
#define TASK_SIZE 32

/* What all detectors are given. */
struct subject {
    struct otelrun_environment *e;
    const char *executable, *command;
};

static struct otelctx_span file_text(const char *path)
{
    char *const text = otelrun_allocate(FILE_MAX, 1);
    const long size = otelbase_root_read(AT_FDCWD, path, text, FILE_MAX);

    return (struct otelctx_span){text, size > 0 ? (size_t)size : 0};
}

static void add(struct otelrun_environment *e, const char *key,
                struct otelctx_span value)
{
    if (value.size > 0)
        otelrun_attributes_add(
            e, key, otelrun_format("%.*s", (int)value.size, value.at));
}

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
    return memmem(line.at, line.size, text, strlen(text));
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
struct otelctx_span otelrun_detect_container(struct otelctx_span text)
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

static void detect_container(const struct subject *s)
{
    struct otelctx_span id =
        otelrun_detect_container(file_text("/proc/self/cgroup"));

    if (id.size == 0)
        id = otelrun_detect_container(file_text("/proc/self/mountinfo"));
    add(s->e, "container.id", id);
}

static void detect_host(const struct subject *s)
{
    struct otelctx_span id = file_text("/etc/machine-id");
    struct utsname names;
    const char *arch;

    add(s->e, "host.id", otelctx_span_cut(&id, '\n'));
    if (uname(&names) != 0)
        return;
    arch = names.machine;
    if (strcmp(arch, "x86_64") == 0)
        arch = "amd64";
    else if (strcmp(arch, "aarch64") == 0)
        arch = "arm64";
    otelrun_attributes_add(s->e, "host.name", names.nodename);
    otelrun_attributes_add(s->e, "host.arch", arch);
}

struct otelctx_span otelrun_detect_release(struct otelctx_span text,
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

static void detect_os(const struct subject *s)
{
    struct otelctx_span release = file_text("/etc/os-release");

    if (release.size == 0)
        release = file_text("/usr/lib/os-release");
    otelrun_attributes_add(s->e, "os.type", "linux");
    add(s->e, "os.name", otelrun_detect_release(release, OTELCTX_SPAN("NAME")));
    add(s->e, "os.version",
        otelrun_detect_release(release, OTELCTX_SPAN("VERSION_ID")));
    add(s->e, "os.description",
        otelrun_detect_release(release, OTELCTX_SPAN("PRETTY_NAME")));
}

/* Without process.pid and the arguments: a forked child, which has the same
 * environment, has another number, and arguments can be secret. */
static void detect_process(const struct subject *s)
{
    const struct passwd *const user = getpwuid(geteuid());
    const char *const slash =
        s->executable ? strrchr(s->executable, '/') : NULL;

    if (s->executable) {
        otelrun_attributes_add(s->e, "process.executable.name",
                               slash ? slash + 1 : s->executable);
        otelrun_attributes_add(s->e, "process.executable.path", s->executable);
    }
    otelrun_attributes_add(s->e, "process.command", s->command);
    if (user)
        otelrun_attributes_add(s->e, "process.owner", user->pw_name);
}

static const struct {
    const char *word;
    void (*detect)(const struct subject *s);
} detectors[] = {
    {"container", detect_container},
    {"host", detect_host},
    {"os", detect_os},
    {"process", detect_process},
};

struct otelctx_span otelrun_detect(struct otelrun_environment *e,
                                   const char *words, const char *executable,
                                   const char *command)
{
    const struct subject subject = {e, executable, command};
    struct otelctx_span rest = otelctx_span_from(words), word;

    while ((word = otelctx_span_member(&rest)).size > 0) {
        size_t i = 0;

        while (i < sizeof(detectors) / sizeof(detectors[0]) &&
               !otelctx_span_equal(word, otelctx_span_from(detectors[i].word)))
            i++;
        if (i == sizeof(detectors) / sizeof(detectors[0]))
            return word;
        detectors[i].detect(&subject);
    }
    return word;
}
