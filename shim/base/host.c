/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/host.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>

#include "config/options.h"
#include "shim/base/sys.h"

#define WEAK __attribute__((weak))

/* Not `environ`: a program may define a variable of that name, but never one of
 * this reserved name. */
extern char **__environ WEAK;
extern unsigned long getauxval(unsigned long type) WEAK;
extern int __register_atfork(void (*prepare)(void), void (*parent)(void),
                             void (*child)(void), void *dso) WEAK;

#pragma weak dlsym
#pragma weak __errno_location

/* The ELF header of this object in memory; the linker defines the symbol. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* The copy of /proc/self/environ: pointers to the variables that concern the
 * shim, then the text. Since Linux 4.13 execve(2) accepts at most 6 MiB; one
 * byte more shows that the text is longer, and the last one is a NUL. */
enum {
    COPY_STRINGS = 64,
    COPY_TEXT = (6 << 20) + 2,
    COPY_SIZE = COPY_TEXT + COPY_STRINGS * (int)sizeof(char *)
};

/* Collect the variables that concern the shim; false if there are too many. */
static bool collect_options(char *text, size_t size, char **strings)
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
        !collect_options(text, (size_t)size, strings))
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

static bool is_value_empty(const char *string)
{
    return string[strlen(string) - 1] == '=';
}

/* The variables are also replaced where they were: a Go program, and under musl
 * one that uses the third argument of main, does not see the new array. */
int otelctx_host_set_variables(char *const *strings, size_t count)
{
    char **old = &__environ ? __environ : NULL;
    size_t size = 0, used = 0;
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
    for (size_t i = 0; i < count; i++)
        if (!is_value_empty(strings[i]))
            new[used++] = strings[i];
    for (; *old; old++) {
        size_t i = 0;

        while (i < count && !has_same_name(*old, strings[i]))
            i++;
        if (i == count)
            new[used++] = *old;
        else
            *old = strings[i];
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
    return &__environ;
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
    /* fexecve(3) passes "/dev/fd/N": N is not the name of a program. */
    if (otelctx_span_begins(all, by_number) &&
        all.size == by_number.size + name.size)
        name.size = 0;
    return name;
}

/* A failed dlsym(3) leaves a message, which the host's next dlerror(3) would
 * report. A first call of dlerror takes the message, a second one frees it. */
static void clear_dlerror(void)
{
    void *const found = dlsym ? dlsym(NULL, "dlerror") : NULL;
    char *(*next_error)(void);

    memcpy(&next_error, &found, sizeof(next_error));
    while (next_error && next_error())
        ;
}

static void *look_up(void *where, const char *name)
{
    const int saved = *otelctx_host_errno();
    void *const symbol = dlsym ? dlsym(where, name) : NULL;

    if (!symbol)
        clear_dlerror();
    *otelctx_host_errno() = saved;
    return symbol;
}

void *otelctx_host_next_symbol(const char *name)
{
    return look_up((void *)-1, name); /* RTLD_NEXT */
}

/* Does a library with this base name belong to a libc or a compiler? */
static bool comes_with_libc(struct otelctx_span name)
{
    struct otelctx_span known =
        OTELCTX_SPAN("ld-|libc.|libm.|libdl.|libpthread.|librt.|libgcc_s.|"
                     "libstdc++.|linux-vdso.");

    while (known.size > 0)
        if (otelctx_span_begins(name, otelctx_span_cut(&known, '|')))
            return true;
    return false;
}

/* A callback of dl_iterate_phdr(3), which goes on as long as this returns 0. */
static int is_other_library(struct dl_phdr_info *object, size_t size,
                            void *executable_headers)
{
    struct otelctx_span rest = otelctx_span_from(object->dlpi_name);
    struct otelctx_span name = rest;

    (void)size;
    while (rest.size > 0)
        name = otelctx_span_cut(&rest, '/');
    return name.size > 0 && object->dlpi_phdr != executable_headers &&
           object->dlpi_addr != (uintptr_t)__ehdr_start &&
           !comes_with_libc(name);
}

/* Does any object have this? `iterating` is dl_iterate_phdr(3). */
static bool has_object(void *iterating,
                       int (*is_it)(struct dl_phdr_info *, size_t, void *))
{
    int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);

    memcpy(&iterate, &iterating, sizeof(iterate));
    return iterate(is_it, (void *)otelctx_host_auxiliary(AT_PHDR)) != 0;
}

bool otelctx_host_has_other_libraries(void)
{
    void *const found = look_up(NULL, "dl_iterate_phdr"); /* RTLD_DEFAULT */

    return found && has_object(found, is_other_library);
}

static int is_executable(struct dl_phdr_info *object, size_t size,
                         void *executable_headers)
{
    (void)size;
    return object->dlpi_phdr == executable_headers ||
           object->dlpi_name[0] == '\0'; /* glibc's name for it */
}

/* libc's own dl_iterate_phdr(3), which visits the namespace of its caller: one
 * that the executable has instead may not be ready yet. */
bool otelctx_host_is_beside_executable(void)
{
    void *const found = otelctx_host_next_symbol("dl_iterate_phdr");

    return !found || has_object(found, is_executable);
}

/* glibc's __register_atfork() allocates no memory. Its last argument names the
 * object whose unmapping removes the handlers: none, because the shim is never
 * unmapped. musl's pthread_atfork() is looked up and not imported, because
 * under glibc the dynamic linker would search every library for the import in
 * vain. */
int otelctx_host_at_fork(void (*prepare)(void), void (*parent)(void),
                         void (*child)(void))
{
    int (*at_fork)(void (*)(void), void (*)(void), void (*)(void));
    const int saved = *otelctx_host_errno();
    int err = ENOSYS;

    if (__register_atfork) {
        err = __register_atfork(prepare, parent, child, NULL);
    } else {
        void *const other = look_up(NULL, "pthread_atfork");

        memcpy(&at_fork, &other, sizeof(at_fork));
        if (at_fork)
            err = at_fork(prepare, parent, child);
    }
    *otelctx_host_errno() = saved;
    return err;
}

/* POSIX thread-specific data: a key with a destructor. Looked up, like
 * pthread_atfork() above. */
static unsigned thread_key;
static int (*set_specific)(unsigned key, const void *value);

/* glibc allocates memory in pthread_setspecific(3) for a key from this one on;
 * a signal handler may be what attaches a thread's first context. */
enum {
    KEYS_WITHOUT_ALLOCATION = 32
};

void otelctx_host_watch_threads(void (*leave)(void *value))
{
    void *const create = look_up(NULL, "pthread_key_create");
    void *const set = look_up(NULL, "pthread_setspecific");
    int (*key_create)(unsigned *key, void (*destructor)(void *));

    memcpy(&key_create, &create, sizeof(create));
    if (key_create && set && key_create(&thread_key, leave) == 0 &&
        thread_key < KEYS_WITHOUT_ALLOCATION)
        memcpy(&set_specific, &set, sizeof(set));
}

void otelctx_host_at_thread_exit(uintptr_t value)
{
    if (set_specific)
        (void)set_specific(thread_key, (const void *)value);
}
