/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/host.h"

#include <elf.h>
#include <errno.h>

#include "config/options.h"
#include "shim/sys.h"

#define WEAK __attribute__((weak))

/* The name that no program may give to something of its own. */
extern char **__environ WEAK;
extern unsigned long getauxval(unsigned long type) WEAK;
extern int __register_atfork(void (*prepare)(void), void (*parent)(void),
                             void (*child)(void), void *dso) WEAK;
extern void *dlsym(void *handle, const char *name) WEAK;

#pragma weak __errno_location

/* An environment that libc does not have: at most this much of it. */
enum {
    COPY_TEXT = 2 << 20,
    COPY_STRINGS = 64
};
enum {
    COPY_SIZE = COPY_TEXT + COPY_STRINGS * (int)sizeof(char *)
};

/* Pick the strings that matter; false when there are too many. */
static bool split(char *text, size_t size, char **strings)
{
    size_t count = 0;

    for (size_t at = 0; at < size; at += strlen(text + at) + 1) {
        if (!otelctx_options_concern(text + at))
            continue;
        if (count == COPY_STRINGS - 1)
            return false;
        strings[count++] = text + at;
    }
    strings[count] = NULL;
    return true;
}

static long read_proc(const char *path, char *out, size_t size)
{
    const int fd = otelctx_sys_open_proc(path);
    long got;

    if (fd < 0)
        return fd;
    got = otelctx_sys_read(fd, out, size);
    (void)otelctx_sys_close(fd);
    return got;
}

bool otelctx_environment_open(struct otelctx_environment *out)
{
    char **strings;
    char *text;
    long size;

    *out = (struct otelctx_environment){0};
    if (&__environ && __environ) {
        out->strings = __environ;
        return true;
    }
    if (otelctx_sys_map(COPY_SIZE, -1, &out->copy))
        return false;
    strings = out->copy;
    text = (char *)(strings + COPY_STRINGS);
    size = read_proc("/proc/self/environ", text, COPY_TEXT - 1);
    if (size < 0 || size == COPY_TEXT - 1 ||
        !split(text, (size_t)size, strings))
        return false;
    out->strings = strings;
    return true;
}

void otelctx_environment_close(struct otelctx_environment *environment)
{
    if (environment->copy)
        (void)otelctx_sys_unmap(environment->copy, COPY_SIZE);
    *environment = (struct otelctx_environment){0};
}

static bool has_same_name(const char *string, const char *other)
{
    while (*string == *other && *string != '=' && *string)
        string++, other++;
    return *string == '=' && *other == '=';
}

int otelctx_host_set_variables(char *const *strings, size_t count)
{
    char **old = &__environ ? __environ : NULL;
    size_t size = 0, used = count;
    void *memory;
    char **new;
    int err;

    if (!old)
        return -ENOSYS;
    while (old[size])
        size++;
    err = otelctx_sys_map((size + count + 1) * sizeof(*new), -1, &memory);
    if (err)
        return err;
    new = memory;
    memcpy(new, strings, count * sizeof(*new));
    for (; *old; old++) {
        size_t i = 0;

        while (i < count && !has_same_name(*old, strings[i]))
            i++;
        if (i == count)
            new[used++] = *old;
    }
    __environ = new;
    return 0;
}

int *otelctx_host_errno(void)
{
    static int none;

    return __errno_location ? __errno_location() : &none;
}

unsigned long otelctx_host_auxiliary(unsigned long type)
{
    unsigned long entries[2 * 64];
    const long entry_size = 2 * sizeof(entries[0]);
    long size;

    if (getauxval) {
        const int saved = *otelctx_host_errno();
        const unsigned long value = getauxval(type);

        *otelctx_host_errno() = saved;
        return value;
    }
    size = read_proc("/proc/self/auxv", (char *)entries, sizeof(entries));
    if (size < 0)
        return 0;
    for (long i = 0; i < size / entry_size; i++)
        if (entries[2 * i] == type)
            return entries[2 * i + 1];
    return 0;
}

bool otelctx_host_has_libc(void)
{
    return &__environ != NULL;
}

bool otelctx_host_is_secure(void)
{
    return otelctx_host_auxiliary(AT_SECURE) != 0;
}

struct otelctx_span otelctx_host_executable(void)
{
    const char *path = (const char *)otelctx_host_auxiliary(AT_EXECFN);
    const struct otelctx_span all = otelctx_span_from(path ? path : "");
    const struct otelctx_span by_number = OTELCTX_SPAN("/dev/fd/");
    struct otelctx_span rest = all, name = all;

    while (rest.size > 0)
        name = otelctx_span_cut(&rest, '/');
    /* fexecve(3): a number is no name. */
    if (otelctx_span_begins(all, by_number) &&
        all.size == by_number.size + name.size)
        name.size = 0;
    return name;
}

static void *find(void *where, const char *name)
{
    const int saved = *otelctx_host_errno();
    void *const symbol = dlsym ? dlsym(where, name) : NULL;

    *otelctx_host_errno() = saved;
    return symbol;
}

/* glibc's own way takes no memory, and has no object that it ends with: we are
 * never unmapped. That of musl is not imported, because where it is missing
 * every library of the process would be searched for it. */
int otelctx_host_at_fork(void (*prepare)(void), void (*parent)(void),
                         void (*child)(void))
{
    int (*at_fork)(void (*)(void), void (*)(void), void (*)(void));
    const int saved = *otelctx_host_errno();
    int err = ENOSYS;

    if (__register_atfork) {
        err = __register_atfork(prepare, parent, child, NULL);
    } else {
        void *const other = find(NULL, "pthread_atfork");

        memcpy(&at_fork, &other, sizeof(at_fork));
        if (at_fork)
            err = at_fork(prepare, parent, child);
    }
    *otelctx_host_errno() = saved;
    return err;
}

void *otelctx_host_next(const char *name)
{
    return find((void *)-1, name); /* RTLD_NEXT */
}
