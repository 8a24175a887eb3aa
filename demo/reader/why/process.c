/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/why/process.h"

#include "demo/base/root.h"
#include "demo/reader/os/clock.h"
#include "demo/reader/why/symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than execve(2) takes of an environment, see libotelctx_preload(7). */
#define ENVIRONMENT_MAX (6u << 20)

enum {
    MOMENT_NS = 100000000,
    MOMENTS = 20,       /* at most, for a thread that gets no processor */
    START_NS = 20000000 /* of processor time, in which a program has started */
};

static void proc_path(char out[64], pid_t pid, const char *name)
{
    (void)snprintf(out, 64, "/proc/%d/%s", (int)pid, name);
}

char *otelread_process_read(pid_t pid, const char *name, size_t *size)
{
    char path[64];
    size_t room = 4096, used = 0, got = 1;
    char *text = malloc(room + 1);
    FILE *in;

    proc_path(path, pid, name);
    in = fopen(path, "re");
    while (in && text && got > 0 && used < ENVIRONMENT_MAX) {
        char *const grown =
            room - used < 4096 ? realloc(text, 2 * room + 1) : text;

        if (!grown)
            break;
        room = room - used < 4096 ? 2 * room : room;
        text = grown;
        got = fread(text + used, 1, room - used, in);
        used += got;
    }
    if (in)
        (void)fclose(in);
    if (!in || !text) {
        free(text);
        return NULL;
    }
    text[used] = '\0';
    *size = used;
    return text;
}

/* Splits what /proc/PID/environ says. */
static char **split(char *text, size_t size)
{
    size_t count = 0;
    char **out;

    for (size_t i = 0; i < size; i++)
        count += text[i] == '\0';
    out = calloc(count + 2, sizeof(*out));
    for (size_t at = 0, n = 0; out && at < size; n++) {
        out[n] = text + at;
        at += strlen(text + at) + 1;
    }
    return out;
}

const char *otelread_process_variable(const struct otelread_process *p,
                                      const char *name)
{
    const size_t size = strlen(name);

    for (char **at = p->strings; at && *at; at++)
        if (strncmp(*at, name, size) == 0 && (*at)[size] == '=')
            return *at + size + 1;
    return NULL;
}

long otelread_process_status(pid_t pid, const char *name)
{
    size_t size;
    char *const text = otelread_process_read(pid, "status", &size);
    const char *const at = text ? strstr(text, name) : NULL;
    const long number = at ? strtol(at + strlen(name), NULL, 10) : -1;

    free(text);
    return number;
}

static bool read_secure(const struct otelread_process *p)
{
    ElfW(auxv_t) entry = {.a_type = AT_NULL};
    bool is_secure = false;

    for (size_t at = 0; at + sizeof(entry) <= p->auxv_size;
         at += sizeof(entry)) {
        memcpy(&entry, p->auxv + at, sizeof(entry));
        if (entry.a_type == AT_SECURE)
            is_secure = entry.a_un.a_val != 0;
    }
    return is_secure;
}

/* The processor time of the main thread in ns; -1 if the kernel does not tell.
 */
static long long processor_time(const struct otelread_process *p)
{
    size_t size;
    char *const text = otelread_process_read(p->pid, "schedstat", &size);
    const long long ns = text && size > 0 ? strtoll(text, NULL, 10) : -1;

    free(text);
    return ns;
}

/* Does the main thread wait for a processor, or for a file as it starts? */
static bool is_kept_waiting(const struct otelread_process *p, long long before)
{
    size_t size;
    char *const text = otelread_process_read(p->pid, "status", &size);
    const char *const at = text ? strstr(text, "\nState:\t") : NULL;
    const bool wants = at && (at[8] == 'R' || at[8] == 'D');

    free(text);
    return wants && before >= 0 && processor_time(p) - before < START_NS;
}

static bool is_another_program(const struct otelread_process *p)
{
    size_t size = 0;
    char *const auxv = otelread_process_read(p->pid, "auxv", &size);
    const bool changed = size != p->auxv_size ||
                         (auxv && p->auxv && memcmp(auxv, p->auxv, size) != 0);

    free(auxv);
    return changed;
}

bool otelread_process_changed(const struct otelread_process *p)
{
    const long long before = processor_time(p);

    for (int i = 0; i < MOMENTS; i++) {
        otelread_sleep_ns(MOMENT_NS);
        if (is_another_program(p))
            return true;
        if (!is_kept_waiting(p, before))
            return false;
    }
    return true;
}

static bool open_program(struct otelread_process *p)
{
    static const char deleted[] = " (deleted)";
    char *const file = p->program.file;
    char path[64];
    ssize_t size;
    char *end;
    int fd;

    proc_path(path, p->pid, "exe");
    size = readlink(path, file, sizeof(p->program.file) - 1);
    if (size < 0)
        return otelrun_checks_fail(
            p->checks, OTELRUN_CHECK_PROCESS,
            "give the number of a program that runs",
            "it has ended, or is a thread of the kernel");
    file[size] = '\0';
    end = strstr(file, deleted);
    if (end && end[sizeof(deleted) - 1] == '\0')
        *end = '\0';
    fd = otelbase_root_open(AT_FDCWD, path);
    if (fd >= 0) {
        p->program.is_readable = otelrun_elf_read(fd, &p->program.elf) == 0;
        p->hides_variable = otelread_symbols_hide(fd, OTELREAD_VARIABLE);
        (void)close(fd);
    }
    otelrun_checks_pass(p->checks, OTELRUN_CHECK_PROCESS, "%s", file);
    return true;
}

bool otelread_process_open(struct otelread_process *p)
{
    size_t size = 0;
    char path[64];

    p->auxv = otelread_process_read(p->pid, "auxv", &p->auxv_size);
    if (!open_program(p))
        return false;
    proc_path(path, p->pid, "root");
    p->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    p->user = (uid_t)otelread_process_status(p->pid, "\nUid:\t");
    p->is_secure = read_secure(p);
    p->environment = otelread_process_read(p->pid, "environ", &size);
    if (p->environment)
        p->strings = split(p->environment, size);
    return true;
}

void otelread_process_close(struct otelread_process *p)
{
    if (p->root >= 0)
        (void)close(p->root);
    free(p->strings);
    free(p->environment);
    free(p->auxv);
}

long otelread_process_limit(const struct otelread_process *p, const char *name)
{
    size_t size;
    char *const text = otelread_process_read(p->pid, "limits", &size);
    const char *at = text ? strstr(text, name) : NULL;
    long value = -1;

    if (at) {
        at += strlen(name);
        at += strspn(at, " ");
        if (*at >= '0' && *at <= '9')
            value = strtol(at, NULL, 10);
    }
    free(text);
    return value;
}
