/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_H
#define OTELCTX_H

/*
 * otelctx: the process context (OTEP 4719) and the thread contexts (OTEP 4947)
 * of a program that libotelctx_preload.so is preloaded into, set at run time.
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
 *
 *     const int route = otelctx_key("http.route");
 *
 *     otelctx_attach(trace_id, span_id, 1);
 *     if (route >= 0)
 *         otelctx_attr((uint8_t)route, "/cart", 5);
 *     ...
 *     otelctx_detach();
 */

/* The version of this interface. */
#define OTELCTX_ABI 1

#if defined(OTELCTX_LINK)
#define OTELCTX_API extern __attribute__((visibility("default")))
#else
#define OTELCTX_API static inline __attribute__((unused))
#endif

#include <stddef.h>
#include <stdint.h>

#if !defined(OTELCTX_LINK)
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Process context ---------------------------------------------------- */

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
 * signal handler that interrupted another process call of this thread, or
 * another thread has been in one, or on its way through fork, for a second, or
 * is in one and a seccomp filter refuses to wait) or -ENOSYS. On failure what
 * is staged is unchanged.
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
 * Returns 0 or -errno: -EBUSY and -ENOSYS as above, -ESTALE (another publisher
 * in this process has taken over), else what the system said to mmap, madvise
 * or prctl. On failure what was published stays.
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

/* ---- Thread context ----------------------------------------------------- */

/*
 * One thread context as readers see it, in the bytes of OTEP 4947,
 * "Thread-Local Context Record". A program has records of its own for what
 * moves between threads (coroutines, fibers, requests), and shows them by
 * otelctx_swap(); everything else is simpler with otelctx_attach().
 *
 * Readers may look until the thread has swapped it out: it must live as long.
 */
struct otelctx_record {
    uint8_t trace_id[16];
    uint8_t span_id[8];
    uint8_t valid; /* 1: it counts */
    uint8_t trace_flags;
    uint16_t attrs_size; /* bytes used of attrs */
    uint8_t attrs[612];  /* {key index, length, value}... */
} __attribute__((aligned(8)));

/* What a thread works for. */
struct otelctx_ids {
    uint8_t trace_id[16]; /* as in W3C Trace Context; both ids zero: no trace */
    uint8_t span_id[8];
    uint8_t trace_flags;
};

/*
 * The index of an attribute key, for otelctx_attr(). A new key is appended to
 * the process context's threadlocal.attribute_key_map and published with what
 * is published already (if anything is) before this returns; nothing that is
 * merely staged is.
 *
 * name  UTF-8, not empty: "http.route"
 *
 * Returns the index, 0..255, -EINVAL (NULL, empty or not UTF-8), -ENOSPC (256
 * keys are there already, or the process context would be longer than 65536
 * bytes), -EOPNOTSUPP (OTELCTX_SCHEMA_VERSION names a schema without keys),
 * -ESTALE (readers go by the map of another publisher in this process), -EBUSY,
 * -ENOSYS or what otelctx_process_publish() says.
 * Thread-safe; not for signal handlers.
 * Rule: OTEP 4947, "attribute_key_map dictionary semantics".
 */
OTELCTX_API int otelctx_key(const char *name);

/*
 * Say what the calling thread works for from now on, without attributes, in
 * the thread's own record. Replaces what was attached before.
 *
 * trace_id, span_id  as in W3C Trace Context; both all zero: no trace
 * flags              W3C trace-flags; 0 counts when there is no trace
 *
 * Returns 0, -EINVAL (one id is zero, the other is not), -EBUSY (a record that
 * is the program's or somebody else's is there; or a signal handler interrupted
 * another call of this thread) or -ENOSYS.
 * Own thread only; no lock, no allocation, no system call.
 * Rule: OTEP 4947, "Context Attachment".
 */
OTELCTX_API int otelctx_attach(const uint8_t trace_id[16],
                               const uint8_t span_id[8], uint8_t flags);

/*
 * The same, from the text of a `traceparent` header.
 *
 * text  "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
 * len   bytes
 *
 * Returns as otelctx_attach(), -EINVAL for a malformed text.
 * Rule: W3C Trace Context, "traceparent Header".
 */
OTELCTX_API int otelctx_attach_traceparent(const char *text, size_t len);

/*
 * Set one attribute of what is attached to the calling thread; one that is set
 * already gets the new value, in its place.
 *
 * key    from otelctx_key()
 * value  UTF-8, no NUL needed; may be NULL when len is 0
 * len    bytes; past 255 the value is cut at a character boundary
 *
 * Returns 0, 1 (the value was cut), -EINVAL (no such key, or not UTF-8; or the
 * record's owner left attributes in it that are none), -ENOENT (nothing is
 * attached), -ENOSPC (no room in the 612 bytes; an attribute takes two and its
 * value), -ESTALE as otelctx_key(), -EBUSY as above (but the program's own
 * record takes attributes), -ENOSYS. On failure the record is unchanged. Own
 * thread only; no lock, no allocation, no system call. Rule: OTEP 4947,
 * "Thread-Local Context Record".
 */
OTELCTX_API int otelctx_attr(uint8_t key, const char *value, size_t len);

/* Remove one attribute, if it is there. Returns as otelctx_attr(). */
OTELCTX_API int otelctx_attr_unset(uint8_t key);

/*
 * The calling thread works for nothing from now on.
 *
 * Returns 0 (also when nothing is attached), -EBUSY (what is attached is
 * somebody else's; or a signal handler interrupted another call of this
 * thread) or -ENOSYS.
 * Own thread only.
 * Rule: OTEP 4947, "Context Detachment".
 */
OTELCTX_API int otelctx_detach(void);

/*
 * What is attached to the calling thread.
 *
 * Returns 0, -ENOENT (nothing), -EBUSY (somebody else's) or -ENOSYS; on failure
 * *out is unchanged.
 * Own thread only; async-signal-safe as otelctx_swap() is: a handler that
 * interrupted a change finds nothing attached.
 */
OTELCTX_API int otelctx_get(struct otelctx_ids *out);

/*
 * For a runtime that writes records itself: attach the thread's own record, all
 * zero, for good. From then on its `valid` alone says whether it counts: set it
 * to 0, write, set it to 1, with nothing reordered by the compiler.
 * otelctx_attach() and otelctx_attr() do the same on it; otelctx_detach() ends
 * this. No key is to be in it twice.
 *
 * Returns the record, which lives as long as the thread; NULL when a record of
 * the program's or of somebody else's is attached, in a signal handler that
 * interrupted another call, or without a shim that works.
 * Own thread only.
 * Rule: OTEP 4947, "Context Attachment", the variant that mutates `valid`.
 */
OTELCTX_API struct otelctx_record *otelctx_pin(void);

/*
 * Prepare a record of the program's own, without attributes. Not while it is
 * attached.
 *
 * Returns 0, -EINVAL (record is NULL or at an odd address; one id is zero, the
 * other is not) or -ENOSYS.
 */
OTELCTX_API int otelctx_record_init(struct otelctx_record *record,
                                    const uint8_t trace_id[16],
                                    const uint8_t span_id[8], uint8_t flags);

/*
 * Set one attribute of such a record; of one that is attached to the calling
 * thread otelctx_attr() does. Returns as that does, -EINVAL also when record is
 * NULL or at an odd address.
 */
OTELCTX_API int otelctx_record_attr(struct otelctx_record *record, uint8_t key,
                                    const char *value, size_t len);

/*
 * Attach a record of the program's own to the calling thread, by one store.
 *
 * record    from otelctx_record_init(), or what *previous got; NULL: nothing
 * previous  gets what was attached before, to be swapped back; may be NULL. It
 *           may be the thread's own record, which otelctx_attach() and
 *           otelctx_pin() rewrite
 *
 * Returns 0, -EINVAL (an odd address), -EBUSY (what is attached is somebody
 * else's) or -ENOSYS; on failure *previous is unchanged. A record that -EBUSY
 * kept from being swapped out may come back with whoever is in the way: it has
 * to stay until this call, or otelctx_detach(), succeeds.
 * Own thread only; async-signal-safe, also in a handler that interrupted any
 * other call, if it swaps back. (Without linking: once this file has called it
 * outside of a handler, because the first call is also one of dlsym.)
 * Rule: OTEP 4947, "Context Attachment".
 */
OTELCTX_API int otelctx_swap(struct otelctx_record *record,
                             struct otelctx_record **previous);

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

/* Call the function of that name; without one it is `otherwise`. */
#define OTELCTX_FORWARD_(type, otherwise, name, parameters, arguments)         \
    OTELCTX_API type name parameters                                           \
    {                                                                          \
        typedef type call parameters;                                          \
        static void *cache;                                                    \
        call *function;                                                        \
                                                                               \
        if (!otelctx_find_(&cache, #name, &function))                          \
            return otherwise;                                                  \
        return function arguments;                                             \
    }
#define OTELCTX_FORWARD_INT_(name, parameters, arguments)                      \
    OTELCTX_FORWARD_(int, -ENOSYS, name, parameters, arguments)

OTELCTX_FORWARD_INT_(otelctx_abi, (void), ())
OTELCTX_FORWARD_INT_(otelctx_process_set, (const char *key, const char *value),
                     (key, value))
OTELCTX_FORWARD_INT_(otelctx_process_set_extra,
                     (const char *key, const char *value), (key, value))
OTELCTX_FORWARD_INT_(otelctx_process_publish, (void), ())
OTELCTX_FORWARD_INT_(otelctx_process_drop, (void), ())
OTELCTX_FORWARD_INT_(otelctx_key, (const char *name), (name))
OTELCTX_FORWARD_INT_(otelctx_attach,
                     (const uint8_t trace_id[16], const uint8_t span_id[8],
                      uint8_t flags),
                     (trace_id, span_id, flags))
OTELCTX_FORWARD_INT_(otelctx_attach_traceparent, (const char *text, size_t len),
                     (text, len))
OTELCTX_FORWARD_INT_(otelctx_attr, (uint8_t key, const char *value, size_t len),
                     (key, value, len))
OTELCTX_FORWARD_INT_(otelctx_attr_unset, (uint8_t key), (key))
OTELCTX_FORWARD_INT_(otelctx_detach, (void), ())
OTELCTX_FORWARD_INT_(otelctx_get, (struct otelctx_ids * out), (out))
OTELCTX_FORWARD_(struct otelctx_record *, NULL, otelctx_pin, (void), ())
OTELCTX_FORWARD_INT_(otelctx_record_init,
                     (struct otelctx_record * record,
                      const uint8_t trace_id[16], const uint8_t span_id[8],
                      uint8_t flags),
                     (record, trace_id, span_id, flags))
OTELCTX_FORWARD_INT_(otelctx_record_attr,
                     (struct otelctx_record * record, uint8_t key,
                      const char *value, size_t len),
                     (record, key, value, len))
OTELCTX_FORWARD_INT_(otelctx_swap,
                     (struct otelctx_record * record,
                      struct otelctx_record **previous),
                     (record, previous))

#undef OTELCTX_FORWARD_INT_
#undef OTELCTX_FORWARD_

#endif /* OTELCTX_LINK */

#ifdef __cplusplus
}
#endif

#endif
