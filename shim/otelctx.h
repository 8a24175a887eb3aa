/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_H
#define OTELCTX_H

/*
 * otelctx: the process context (OTEP 4719) of a program that
 * libotelctx_preload.so is preloaded into, set at run time.
 *
 * Nothing needs to be linked: each call finds its function by dlsym(3) when it
 * is first made and, without the shim, does nothing and returns -ENOSYS. (With
 * glibc before 2.34, dlsym needs -ldl; a search in vain is also what dlerror(3)
 * then tells of.) A program that links with
 * -lotelctx_preload defines OTELCTX_LINK before it includes this file;
 * `pkg-config --cflags otelctx` does so.
 *
 * All calls return 0 or a negative errno, never change errno, and return
 * -ENOSYS where the configuration disables the shim. C11 and C++.
 *
 *     otelctx_process_set("deployment.environment.name", "canary");
 *     otelctx_process_publish();
 */

/* The version of this interface. */
#define OTELCTX_ABI 1

#if defined(OTELCTX_LINK)
#define OTELCTX_API extern __attribute__((visibility("default")))
#else
#define OTELCTX_API static inline __attribute__((unused))
#endif

#if !defined(OTELCTX_LINK)
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The version of the interface that the shim in this process has.
 *
 * Returns OTELCTX_ABI, or -ENOSYS: no shim, or a disabled one.
 */
OTELCTX_API int otelctx_abi(void);

/*
 * Stage one resource attribute; otelctx_process_publish() shows it to readers.
 *
 * key    UTF-8, not empty; one that was set before gets the new value
 * value  UTF-8, may be empty; NULL removes the attribute. Without a
 *        service.name the default one comes back.
 *
 * Both are copied. Together with all other attributes they may take 65536
 * bytes, encoded.
 *
 * Returns 0, -EINVAL (key NULL or empty, key or value not UTF-8), -EPERM (the
 * key begins with "threadlocal."), -ENOSPC (too long), -EBUSY (called from a
 * signal handler that interrupted another process call of this thread), -ENOSYS
 * or what mmap said to the first call. On failure what is staged is unchanged.
 * Thread-safe; not for signal handlers.
 * Rule: OTEP 4719, "Payload Format"; resource.proto.
 */
OTELCTX_API int otelctx_process_set(const char *key, const char *value);

/*
 * The same for an attribute beside the resource: `extra_attributes`, field 2
 * of ProcessContext.
 */
OTELCTX_API int otelctx_process_set_extra(const char *key, const char *value);

/*
 * Show readers all that is staged, in place of what they saw before; also when
 * nothing was published yet, or it was dropped.
 *
 * Returns 0 or -errno: -EBUSY and -ENOSYS as above, else what the system said
 * to mmap, madvise or prctl. On failure what was published stays.
 * Thread-safe; not for signal handlers.
 * Rule: OTEP 4719, "Publication Protocol" and "Updating Protocol".
 */
OTELCTX_API int otelctx_process_publish(void);

/*
 * Withdraw what is published, as at an SDK's shutdown. What is staged stays,
 * and can be published again.
 *
 * Returns 0 (also when nothing is published), -EBUSY or -ENOSYS.
 * Thread-safe; not for signal handlers.
 */
OTELCTX_API int otelctx_process_drop(void);

#if !defined(OTELCTX_LINK)

/* Put the function of that name, looked for once, into *function; or 0. */
static inline int otelctx_find_(void **cache, const char *name, void *function)
{
    static char absent;
    void *found = __atomic_load_n(cache, __ATOMIC_ACQUIRE);

    if (!found) {
        const int saved = errno;

        found = dlsym(NULL, name); /* RTLD_DEFAULT */
        errno = saved;
        if (!found)
            found = &absent;
        __atomic_store_n(cache, found, __ATOMIC_RELEASE);
    }
    memcpy(function, &found, sizeof(found));
    return found != &absent;
}

OTELCTX_API int otelctx_abi(void)
{
    static void *cache;
    int (*function)(void);

    if (!otelctx_find_(&cache, "otelctx_abi", &function))
        return -ENOSYS;
    return function();
}

OTELCTX_API int otelctx_process_set(const char *key, const char *value)
{
    static void *cache;
    int (*function)(const char *, const char *);

    if (!otelctx_find_(&cache, "otelctx_process_set", &function))
        return -ENOSYS;
    return function(key, value);
}

OTELCTX_API int otelctx_process_set_extra(const char *key, const char *value)
{
    static void *cache;
    int (*function)(const char *, const char *);

    if (!otelctx_find_(&cache, "otelctx_process_set_extra", &function))
        return -ENOSYS;
    return function(key, value);
}

OTELCTX_API int otelctx_process_publish(void)
{
    static void *cache;
    int (*function)(void);

    if (!otelctx_find_(&cache, "otelctx_process_publish", &function))
        return -ENOSYS;
    return function();
}

OTELCTX_API int otelctx_process_drop(void)
{
    static void *cache;
    int (*function)(void);

    if (!otelctx_find_(&cache, "otelctx_process_drop", &function))
        return -ENOSYS;
    return function();
}

#endif /* OTELCTX_LINK */

#ifdef __cplusplus
}
#endif

#endif
