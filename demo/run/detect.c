/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/detect.h"

#include "config/detect.h"
#include "demo/base/root.h"
#include "demo/run/attributes.h"
#include "demo/run/memory.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FILE_MAX 65536

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

static void detect_container(const struct subject *s)
{
    struct otelctx_span id =
        otelctx_detect_container(file_text("/proc/self/cgroup"));

    if (id.size == 0)
        id = otelctx_detect_container(file_text("/proc/self/mountinfo"));
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

static void detect_os(const struct subject *s)
{
    struct otelctx_span release = file_text("/etc/os-release");

    if (release.size == 0)
        release = file_text("/usr/lib/os-release");
    otelrun_attributes_add(s->e, "os.type", "linux");
    add(s->e, "os.name", otelctx_detect_release(release, OTELCTX_SPAN("NAME")));
    add(s->e, "os.version",
        otelctx_detect_release(release, OTELCTX_SPAN("VERSION_ID")));
    add(s->e, "os.description",
        otelctx_detect_release(release, OTELCTX_SPAN("PRETTY_NAME")));
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
