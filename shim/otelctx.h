/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_H
#define OTELCTX_H

/*
 * otelctx: set the process context (OTEP 4719) and the thread contexts (OTEP
 * 4947) of a program at run time. The shim, libotelctx_preload.so, publishes
 * them; LD_PRELOAD loads the shim into the program.
 *
 * The program does not link with the shim. Each function below looks up its
 * counterpart in the shim with dlsym(3) on the first call; without the shim it
 * does nothing and returns -ENOSYS. (Before glibc 2.34, dlsym needs -ldl. After
 * a failed lookup, dlerror(3) reports it.)
 *
 * To link with -lotelctx_preload instead, define OTELCTX_LINK before including
 * this file, as `pkg-config --cflags otelctx` does.
 *
 * Functions return 0 or a negative errno unless they say otherwise, never
 * change errno, and return -ENOSYS if the configuration disables the shim. C11
 * and C++.
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
#include <sys/types.h>

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
 * The interface version of the shim in this process.
 *
 * Returns OTELCTX_ABI, or -ENOSYS: there is no shim, or it is disabled.
 */
OTELCTX_API int otelctx_abi(void);

/*
 * Stage one resource attribute. Readers see it after
 * otelctx_process_publish().
 *
 * key    UTF-8, not empty; a key that is set already gets the new value
 * value  UTF-8, may be empty; NULL removes the attribute. Removing
 *        service.name restores the default name.
 *
 * The shim copies both. All attributes together take at most 65536 bytes,
 * encoded.
 *
 * Returns 0, -EINVAL (key is NULL or empty, key or value is not UTF-8), -EPERM
 * (key begins with "threadlocal.", or OTEL_ENTITIES has the attribute that is
 * to be removed), -ENOSPC (too long), -EBUSY (called from a signal handler that
 * interrupted another process call of this thread; or another thread has been
 * in a process call or in fork for a second, or is in one and a seccomp filter
 * refuses to wait) or -ENOSYS. On failure the staged attributes are unchanged.
 * Thread-safe; not for signal handlers.
 * Rule: OTEP 4719, "Payload Format"; resource.proto.
 */
OTELCTX_API int otelctx_process_set(const char *key, const char *value);

/*
 * The same for an attribute beside the resource, in field 2 of ProcessContext,
 * `extra_attributes`.
 */
OTELCTX_API int otelctx_process_set_extra(const char *key, const char *value);

/*
 * Publish all staged attributes in one step, in place of those published
 * before, if any.
 *
 * Returns 0, -EBUSY or -ENOSYS as above, -ESTALE (another publisher in this
 * process has taken over), or the error of mmap, madvise or prctl. On failure
 * the published context is unchanged.
 * Thread-safe; not for signal handlers.
 * Rule: OTEP 4719, "Publication Protocol" and "Updating Protocol".
 */
OTELCTX_API int otelctx_process_publish(void);

/*
 * Withdraw the published context, as an SDK does at shutdown. Staged attributes
 * stay staged and can be published again.
 *
 * Returns 0 (also if nothing is published), -EBUSY or -ENOSYS.
 * Thread-safe; not for signal handlers.
 */
OTELCTX_API int otelctx_process_drop(void);

/* ---- Thread context ----------------------------------------------------- */

/*
 * One thread context in the bytes that readers see: OTEP 4947, "Thread-Local
 * Context Record". A program keeps records of its own for contexts that nest or
 * move between threads (coroutines, fibers, requests), and attaches them with
 * otelctx_swap(). In all other cases otelctx_attach() is simpler.
 *
 * A record must stay in memory until the thread has swapped it out, because
 * readers may read it until then.
 */
struct otelctx_record {
    uint8_t trace_id[16];
    uint8_t span_id[8];
    uint8_t valid; /* 1: the record counts */
    uint8_t trace_flags;
    uint16_t attrs_size; /* bytes used of attrs */
    uint8_t attrs[612];  /* {key index, length, value}... */
} __attribute__((aligned(8)));

/* One attribute of a thread context. */
struct otelctx_attribute {
    uint8_t key;       /* from otelctx_key() */
    uint32_t size;     /* bytes of value, past 255 cut as by otelctx_attr() */
    const char *value; /* UTF-8, no NUL needed; may be NULL when size is 0 */
};

/* What a thread is working for. */
struct otelctx_ids {
    uint8_t trace_id[16]; /* as in W3C Trace Context; both ids zero: no trace */
    uint8_t span_id[8];
    uint8_t trace_flags;
};

/*
 * The index of an attribute key, for otelctx_attr(). A new key is appended to
 * threadlocal.attribute_key_map in the process context. If a process context is
 * published, it is published again with the new key before this returns;
 * staged attributes are not.
 *
 * name  UTF-8, not empty: "http.route"
 *
 * Returns the index, 0..255, -EINVAL (name is NULL, empty or not UTF-8),
 * -ENOSPC (all 256 indexes are in use, or the process context would exceed
 * 65536 bytes), -EOPNOTSUPP (OTELCTX_SCHEMA_VERSION names a schema without
 * keys), -ESTALE (readers use the key map of another publisher in this
 * process), or an error of otelctx_process_publish().
 * Thread-safe; not for signal handlers.
 * Rule: OTEP 4947, "attribute_key_map dictionary semantics".
 */
OTELCTX_API int otelctx_key(const char *name);

/*
 * Attach a context without attributes to the calling thread, in the thread's
 * own record, in place of the context attached before.
 *
 * trace_id, span_id  as in W3C Trace Context; both all zero: no trace
 * flags              W3C trace-flags, of which 0x03 (sampled, random) are
 *                    stored; 0 if there is no trace
 *
 * Returns 0, -EINVAL (exactly one id is zero), -EBUSY (a record of the program
 * or of an SDK is attached; or a signal handler interrupted another thread call
 * of this thread) or -ENOSYS. After -EINVAL nothing is attached, in any
 * storage, so that readers do not see the ids of other work. Own thread only;
 * no lock, no allocation, no system call. All calls share one exception, a
 * second after the start: see "Other publishers" in the manual. Rule: OTEP
 * 4947, "Context Attachment".
 */
OTELCTX_API int otelctx_attach(const uint8_t trace_id[16],
                               const uint8_t span_id[8], uint8_t flags);

/*
 * Attach a context with attributes, as otelctx_attach() and one otelctx_attr()
 * for each attribute do, but in one step: readers see all of it or none.
 *
 * attributes  may be NULL when count is 0; of several with one key the last
 *             one counts
 * count       elements of attributes
 *
 * Returns 0, 1 (a value was cut; or the attributes were left out, because
 * storage TLS is off or for the reason of -ESTALE at otelctx_key()), -EINVAL
 * (exactly one id is zero, no such key, or a value is not UTF-8), -ENOSPC (the
 * attributes take more than 612 bytes), or -EBUSY or -ENOSYS as
 * otelctx_attach(). After -EINVAL and -ENOSPC nothing is attached, in any
 * storage. Own thread only; no lock, no allocation, no system call.
 * Rule: OTEP 4947, "Context Attachment".
 */
OTELCTX_API int otelctx_attach_with(const uint8_t trace_id[16],
                                    const uint8_t span_id[8], uint8_t flags,
                                    const struct otelctx_attribute *attributes,
                                    size_t count);

/*
 * otelctx_attach(), from the text of a `traceparent` header.
 *
 * text  "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
 * len   bytes
 *
 * Returns as otelctx_attach(), -EINVAL (and nothing is attached) for a
 * malformed text. Rule: W3C Trace Context, "traceparent Header".
 */
OTELCTX_API int otelctx_attach_traceparent(const char *text, size_t len);

/*
 * Set one attribute of the context attached to the calling thread. A key that
 * is set already gets the new value in place.
 *
 * key    from otelctx_key()
 * value  UTF-8, no NUL needed; may be NULL when len is 0
 * len    bytes; past 255 the value is cut at a character boundary
 *
 * Returns 0, 1 (the value was cut), -EINVAL (no such key, value not UTF-8, or
 * the record holds malformed attributes), -ENOENT (nothing is attached),
 * -ENOSPC (no room in the 612 bytes; an attribute takes two bytes and its
 * value), -ESTALE as otelctx_key(), -EBUSY as otelctx_attach() (but a record of
 * the program is allowed), or -ENOSYS. On failure the record is unchanged.
 * Own thread only; no lock, no allocation, no system call.
 * Rule: OTEP 4947, "Thread-Local Context Record".
 */
OTELCTX_API int otelctx_attr(uint8_t key, const char *value, size_t len);

/* Remove one attribute, if it is set. Returns as otelctx_attr(). */
OTELCTX_API int otelctx_attr_unset(uint8_t key);

/*
 * Detach the context of the calling thread.
 *
 * Returns 0 (also if nothing is attached), -EBUSY (a record of an SDK is
 * attached; or a signal handler interrupted another thread call of this thread)
 * or -ENOSYS.
 * Own thread only.
 * Rule: OTEP 4947, "Context Detachment".
 */
OTELCTX_API int otelctx_detach(void);

/*
 * Store the ids of the context attached to the calling thread in *out.
 *
 * Returns 0, -ENOENT (nothing is attached), -EBUSY (a record of an SDK is
 * attached) or -ENOSYS. On failure *out is unchanged.
 * Own thread only; async-signal-safe like otelctx_swap(). A handler that
 * interrupted a change finds nothing attached.
 */
OTELCTX_API int otelctx_get(struct otelctx_ids *out);

/*
 * For a runtime that writes records itself: attach the thread's own record, all
 * zero, until otelctx_detach(). From then on `valid` alone decides whether the
 * record counts: set it to 0, write the record, set it to 1, and keep the
 * compiler from reordering these. Write each key once at most.
 * otelctx_attach() and otelctx_attr() work on the record in the same way.
 *
 * Returns the record, which lives as long as the thread; or NULL if a record of
 * the program or of an SDK is attached, if a signal handler interrupted another
 * thread call, or if there is no shim or it is disabled.
 * Own thread only.
 * Rule: OTEP 4947, "Context Attachment", the variant that mutates `valid`.
 */
OTELCTX_API struct otelctx_record *otelctx_pin(void);

/*
 * Prepare a record of the program, without attributes. The record must not be
 * attached.
 *
 * Returns 0, -EINVAL (record is NULL or at an odd address; exactly one id is
 * zero) or -ENOSYS.
 */
OTELCTX_API int otelctx_record_init(struct otelctx_record *record,
                                    const uint8_t trace_id[16],
                                    const uint8_t span_id[8], uint8_t flags);

/*
 * Prepare a record of the program with attributes: see otelctx_attach_with().
 * The record must not be attached.
 *
 * Returns as otelctx_attach_with(), never -EBUSY; -EINVAL, too, if record is
 * NULL or at an odd address. After -EINVAL and -ENOSPC the record may have
 * changed: readers ignore it.
 */
OTELCTX_API int otelctx_record_init_with(
    struct otelctx_record *record, const uint8_t trace_id[16],
    const uint8_t span_id[8], uint8_t flags,
    const struct otelctx_attribute *attributes, size_t count);

/*
 * Set one attribute of a record that is not attached; if it is attached, use
 * otelctx_attr(). Returns as otelctx_attr(), and -EINVAL if record is NULL or
 * at an odd address.
 */
OTELCTX_API int otelctx_record_attr(struct otelctx_record *record, uint8_t key,
                                    const char *value, size_t len);

/*
 * Attach a record of the program to the calling thread with a single store.
 *
 * record    from otelctx_record_init(), or a *previous; NULL attaches nothing
 * previous  gets the record that was attached before, for a later swap back;
 *           may be NULL. *previous may be the thread's own record, which
 *           otelctx_attach() and otelctx_pin() rewrite
 *
 * Returns 0, -EINVAL (record is at an odd address), -EBUSY (a record of an SDK
 * is attached) or -ENOSYS. On failure *previous is unchanged. After -EBUSY the
 * SDK may attach the program's record again, if that was attached before its
 * own: keep the program's record in memory until this function or
 * otelctx_detach() succeeds.
 * Own thread only; async-signal-safe, also in a handler that interrupted any
 * other call, if the handler swaps back. (A program that does not link calls
 * this function once outside signal handlers first, because the first call uses
 * dlsym.)
 * Rule: OTEP 4947, "Context Attachment".
 */
OTELCTX_API int otelctx_swap(struct otelctx_record *record,
                             struct otelctx_record **previous);

/* ---- Storages besides TLS ----------------------------------------------- */

/*
 * Where threads store their contexts: OTELCTX_THREAD_STORAGE. Every call above
 * acts on all storages that are on. Attributes and records that the program
 * writes itself are in TLS only: without TLS, otelctx_attr() returns
 * -EOPNOTSUPP and otelctx_pin() NULL. If no storage is on, so does every call
 * for thread contexts, whatever its arguments; only otelctx_storage() and
 * otelctx_storage_close() return 0.
 */
enum otelctx_storages {
    OTELCTX_TLS = 1,
    OTELCTX_RING = 2,
    OTELCTX_PROFILER = 4
};

/* The storages that are on: bits of enum otelctx_storages, or -ENOSYS. */
OTELCTX_API int otelctx_storage(void);

/*
 * Turn all storages off for good, as at shutdown. Calls of other threads may be
 * under way. Readers of the ring find nothing any more; the process context no
 * longer announces thread contexts. A context that another thread has attached
 * stays in TLS, and in the profiler's variable, until the thread's next call,
 * which detaches it and returns -EOPNOTSUPP.
 *
 * Returns 0, or -EBUSY or -ENOSYS as otelctx_process_publish().
 */
OTELCTX_API int otelctx_storage_close(void);

/*
 * otelctx_attach() with the two 64-bit ids of tracers that have no others.
 *
 * root_span_id  the lower half of the trace id; the upper half is 0
 *
 * Returns as otelctx_attach().
 * Rule: "OTEL-Compatible Context Storage Architecture", ContextApi::set.
 */
OTELCTX_API int otelctx_attach64(uint64_t span_id, uint64_t root_span_id);

/*
 * The ids of another thread of this process, as its slot of the ring has them;
 * flags are 0, because the ring has none.
 *
 * tid  thread id, as gettid(2) returns it
 *
 * Returns 0, -ENOENT (nothing is attached), -ESRCH (the thread has no slot: it
 * never attached a context, it has ended, or a thread whose id is the same
 * modulo the capacity has the slot), -EAGAIN (the slot is being written),
 * -EOPNOTSUPP (there is no ring) or -ENOSYS. On failure *out is unchanged.
 * Async-signal-safe; never waits.
 */
OTELCTX_API int otelctx_get_by_tid(pid_t tid, struct otelctx_ids *out);

/*
 * Set one of the ten tags in the calling thread's context_tls_v1, which a
 * profiler in this process gives a meaning. They stay when a context is
 * attached or detached.
 *
 * index  0..9
 *
 * Returns 0, -EINVAL (index), -EOPNOTSUPP (the storage `profiler` is off) or
 * -ENOSYS.
 */
OTELCTX_API int otelctx_tag(unsigned index, uint32_t value);

#if !defined(OTELCTX_LINK)

/* Look up a function once and store its address in *function; 0: not found. */
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

/* Define a function that calls its counterpart, or returns `otherwise`. */
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
OTELCTX_FORWARD_INT_(otelctx_attach_with,
                     (const uint8_t trace_id[16], const uint8_t span_id[8],
                      uint8_t flags, const struct otelctx_attribute *attributes,
                      size_t count),
                     (trace_id, span_id, flags, attributes, count))
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
OTELCTX_FORWARD_INT_(otelctx_record_init_with,
                     (struct otelctx_record * record,
                      const uint8_t trace_id[16], const uint8_t span_id[8],
                      uint8_t flags, const struct otelctx_attribute *attributes,
                      size_t count),
                     (record, trace_id, span_id, flags, attributes, count))
OTELCTX_FORWARD_INT_(otelctx_record_attr,
                     (struct otelctx_record * record, uint8_t key,
                      const char *value, size_t len),
                     (record, key, value, len))
OTELCTX_FORWARD_INT_(otelctx_swap,
                     (struct otelctx_record * record,
                      struct otelctx_record **previous),
                     (record, previous))
OTELCTX_FORWARD_INT_(otelctx_storage, (void), ())
OTELCTX_FORWARD_INT_(otelctx_storage_close, (void), ())
OTELCTX_FORWARD_INT_(otelctx_attach64,
                     (uint64_t span_id, uint64_t root_span_id),
                     (span_id, root_span_id))
OTELCTX_FORWARD_INT_(otelctx_get_by_tid, (pid_t tid, struct otelctx_ids *out),
                     (tid, out))
OTELCTX_FORWARD_INT_(otelctx_tag, (unsigned index, uint32_t value),
                     (index, value))

#undef OTELCTX_FORWARD_INT_
#undef OTELCTX_FORWARD_

#endif /* OTELCTX_LINK */

#ifdef __cplusplus
}
#endif

#endif
