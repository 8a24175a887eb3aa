/* SPDX-License-Identifier: Apache-2.0 */

/* The address of the variable, and what the process announces about threads. */

#include "demo/kit/scenes/scenes.h"
#include "demo/kit/stage/context.h"
#include "demo/kit/stage/worker.h"

#include <errno.h>
#include <stdio.h>

/* What the process context announces, and what happens to its threads. */
struct announcement {
    const char *schema;
    const char *const *keys;
    const char *answer;     /* expected of the thread; NULL: its context */
    const char *attributes; /* expected of the thread */
};

static void attach_quietly(struct otelkit_worker *worker)
{
    static struct otelkit_stage nobody;

    worker->stage = &nobody;
    if (otelkit_stage_open(&nobody) == 0)
        otelkit_worker_attach(worker);
}

static int publish(struct otelkit_stage *stage,
                   const struct announcement *announcement)
{
    static struct otelkit_bytes bytes;

    otelkit_service(&bytes, "shop");
    otelkit_announce(&bytes, announcement->schema, announcement->keys);
    return otelkit_publish_bytes(stage, &bytes, NULL);
}

/* Starts a thread with a record, and expects that answer for it. */
static int set_announced(struct otelkit_stage *stage, const void *how)
{
    const struct announcement *const announcement = how;
    static struct otelkit_worker worker = {.run = attach_quietly,
                                           .number = 0x4711};
    struct otelctx_record_head head;
    int error = publish(stage, announcement);

    worker.stage = stage;
    if (error == 0)
        error = otelkit_worker_start(&worker);
    otelkit_record_fill(&head, worker.number);
    otelkit_expect_thread(stage, worker.tid, announcement->answer, &head,
                          announcement->attributes);
    return error;
}

/* Two threads with contexts, and a main thread without. */
static int set_access(struct otelkit_stage *stage, const void *how)
{
    static struct otelkit_worker workers[2];
    const char *const answer = how;
    int error = otelkit_publish_keys(stage);

    for (size_t i = 0; i < 2 && error == 0; i++) {
        workers[i] = (struct otelkit_worker){
            .stage = stage,
            .run = answer ? attach_quietly : otelkit_worker_attach,
            .number = 0x1111111111111111U * (i + 1)};
        error = otelkit_worker_start(&workers[i]);
        if (answer && error == 0)
            otelkit_expect_thread(stage, workers[i].tid, answer, NULL, NULL);
    }
    otelkit_expect_thread(stage, otelkit_tid(), "none", NULL, NULL);
    return error;
}

/* dlopen() loads the library after the process context is published. */
static void open_late(struct otelkit_worker *worker)
{
    if (otelkit_slot_open(worker->stage, false) == 0)
        otelkit_worker_attach(worker);
}

static void open_apart(struct otelkit_worker *worker)
{
    struct otelctx_record_head head;

    if (otelkit_slot_open(worker->stage, true) != 0)
        return;
    otelkit_record_fill(&head, worker->number);
    otelkit_expect_thread(worker->stage, worker->tid, "either", &head, NULL);
    attach_quietly(worker);
}

static int set_opened(struct otelkit_stage *stage, const void *how)
{
    static struct otelkit_worker worker;
    int error = otelkit_publish_keys(stage);

    worker = (struct otelkit_worker){.stage = stage,
                                     .run = *(const bool *)how ? open_apart
                                                               : open_late,
                                     .number = 0x4711};
    if (error == 0)
        error = otelkit_worker_start(&worker);
    otelkit_expect_thread(stage, otelkit_tid(), "none", NULL, NULL);
    return error == 0 && stage->why[0] != '\0' ? -ENOTSUP : error;
}

/* More workers than a small table has places. */
static int set_crowd(struct otelkit_stage *stage, const void *how)
{
    static struct otelkit_worker workers[100];
    int error = otelkit_publish_keys(stage);

    (void)how;
    for (size_t i = 0; i < 100 && error == 0; i++) {
        workers[i] = (struct otelkit_worker){
            .stage = stage, .run = otelkit_worker_attach, .number = i + 1};
        error = otelkit_worker_start(&workers[i]);
    }
    return error;
}

static const char *const one_key[] = {"http.route", NULL};
static const char *const no_keys[] = {NULL};
static const char *const empty_key[] = {"", "user.id", NULL};
static const char *many_keys[258];

static int set_many_keys(struct otelkit_stage *stage, const void *how)
{
    static char names[257][8];
    const struct announcement announcement = {"tlsdesc_v1_dev", many_keys,
                                              "either", NULL};

    (void)how;
    for (int i = 0; i < 257; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "k%d", i);
        many_keys[i] = names[i];
    }
    return set_announced(stage, &announcement);
}

#define ROUTE         "{\"http.route\":\"/cart\"}"
#define VARIABLE      "OTEP 4947, Thread-Local Variable Resolution"
#define DATA          "OTEP 4947, Process Context: Thread-Local Reference Data"
#define SYMBOLS       "OTEP 4947, Reading Protocol, 1.2"
#define SHOWN         .answer = OTELKIT_CONTEXT, .resource = OTELKIT_SHOP
#define ACCESS        .set = set_access, SHOWN
#define NOTHING       .set = set_access, .how = "none", SHOWN
#define LIBRARY(name) .program = OTELKIT_PLAIN, .library = (name)
#define ANNOUNCED(...)                                                         \
    SHOWN, .program = OTELKIT_EXPORTER, .set = set_announced,                  \
           .how = &(const struct announcement)                                 \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

const struct otelkit_scene otelkit_threads_scenes[] = {
    {OTELKIT_ABOUT("threads/local-exec",
                   "the variable in the executable, glibc",
                   "the contexts of two threads", VARIABLE),
     ACCESS, .program = OTELKIT_EXPORTER},
    {OTELKIT_ABOUT("threads/local-exec-musl",
                   "the variable in the executable, musl",
                   "the contexts of two threads", VARIABLE),
     ACCESS, .program = OTELKIT_EXPORTER, .musl = true},
    {OTELKIT_ABOUT("threads/local-exec-static",
                   "the variable in a static executable",
                   "the contexts of two threads", VARIABLE),
     ACCESS, .program = OTELKIT_PIE},
    {OTELKIT_ABOUT("threads/initial-exec",
                   "the variable in a library, initial exec, glibc",
                   "the contexts of two threads", VARIABLE),
     ACCESS, LIBRARY("initial_exec.so")},
    {OTELKIT_ABOUT("threads/initial-exec-musl",
                   "the variable in a library, initial exec, musl",
                   "the contexts of two threads", VARIABLE),
     ACCESS, LIBRARY("initial_exec.so"), .musl = true},
    {OTELKIT_ABOUT("threads/tlsdesc-static",
                   "the variable in a library, TLSDESC, glibc",
                   "the contexts of two threads", VARIABLE),
     ACCESS, LIBRARY("tlsdesc.so")},
    {OTELKIT_ABOUT("threads/tlsdesc-static-musl",
                   "the variable in a library, TLSDESC, musl",
                   "the contexts of two threads", VARIABLE),
     ACCESS, LIBRARY("tlsdesc.so"), .musl = true},
    {OTELKIT_ABOUT("threads/tlsdesc-dynamic",
                   "the variable in a library opened late, TLSDESC, glibc",
                   "the context of a thread", VARIABLE),
     .set = set_opened, .how = &(const bool){false}, SHOWN,
     LIBRARY("tlsdesc_large.so"), .opened = true},
    {OTELKIT_ABOUT("threads/tlsdesc-dynamic-musl",
                   "the variable in a library opened late, TLSDESC, musl",
                   "the context of a thread", VARIABLE),
     .set = set_opened, .how = &(const bool){false}, SHOWN,
     LIBRARY("tlsdesc_large.so"), .opened = true, .musl = true},
    {OTELKIT_ABOUT("threads/general-dynamic",
                   "the variable in a library, general dynamic, glibc",
                   "the contexts of two threads", VARIABLE),
     ACCESS, LIBRARY("general_dynamic.so")},
    {OTELKIT_ABOUT("threads/general-dynamic-musl",
                   "the variable in a library, general dynamic, musl",
                   "the contexts of two threads", VARIABLE),
     ACCESS, LIBRARY("general_dynamic.so"), .musl = true},
    {OTELKIT_ABOUT("threads/general-dynamic-late",
                   "the same in a library opened late",
                   "the context of a thread", VARIABLE),
     .set = set_opened, .how = &(const bool){false}, SHOWN,
     LIBRARY("general_dynamic_large.so"), .opened = true},
    {OTELKIT_ABOUT("threads/dlmopen", "the variable in another namespace",
                   "either: the text does not mention them", SYMBOLS),
     .set = set_opened, .how = &(const bool){true}, SHOWN,
     LIBRARY("tlsdesc.so"), .opened = true},
    {OTELKIT_ABOUT("threads/two-definitions",
                   "the variable in the executable and in a library",
                   "the executable's: all code uses that one",
                   "System V ABI, Shared Object Dependencies"),
     ACCESS, .program = OTELKIT_EXPORTER, .library = "tlsdesc.so"},
    {OTELKIT_ABOUT("threads/crowd", "100 threads, each with a context",
                   "each thread's own", "OTEP 4947, Thread Sampling"),
     .set = set_crowd, SHOWN, .program = OTELKIT_EXPORTER},
    {OTELKIT_ABOUT("threads/no-symbol", "no object has the variable", "none",
                   SYMBOLS),
     NOTHING, LIBRARY("no_symbol.so")},
    {OTELKIT_ABOUT("threads/hidden-symbol",
                   "the variable is not among the dynamic symbols",
                   "either: readers look in .dynsym", VARIABLE),
     .set = set_access, .how = "either", SHOWN, LIBRARY("hidden.so")},
    {OTELKIT_ABOUT("threads/symbol-size-4", "a variable of 4 bytes",
                   "none: it is no pointer", VARIABLE),
     NOTHING, LIBRARY("size_4.so")},
    {OTELKIT_ABOUT("threads/not-tls", "a global variable of that name",
                   "none: it must be thread-local", VARIABLE),
     NOTHING, LIBRARY("not_tls.so")},
    {OTELKIT_ABOUT("threads/schema-tls-v1", "the schema tls_v1",
                   "either: announced for later", DATA),
     ANNOUNCED("tls_v1", one_key, "either", ROUTE)},
    {OTELKIT_ABOUT("threads/schema-unknown", "the schema tls_v9", "none", DATA),
     ANNOUNCED("tls_v9", one_key, "none", NULL)},
    {OTELKIT_ABOUT("threads/schema-prefix", "the schema tlsdesc_v1", "none",
                   DATA),
     ANNOUNCED("tlsdesc_v1", one_key, "none", NULL)},
    {OTELKIT_ABOUT("threads/schema-absent", "no schema",
                   "none: reading is deferred", SYMBOLS),
     ANNOUNCED(NULL, one_key, "none", NULL)},
    {OTELKIT_ABOUT("threads/schema-go", "Go's schema, without a key map",
                   "none: its labels are elsewhere",
                   "OTEP 4947, Alternative for Go support"),
     ANNOUNCED("go_pprof_labels_v1", NULL, "none", NULL)},
    {OTELKIT_ABOUT("threads/nothing-announced", "neither schema nor key map",
                   "none: reading is deferred", SYMBOLS),
     ANNOUNCED(NULL, NULL, "none", NULL)},
    {OTELKIT_ABOUT("threads/map-missing", "a schema without a key map",
                   "either: both are to be there", SYMBOLS),
     ANNOUNCED("tlsdesc_v1_dev", NULL, "either", "{}")},
    {OTELKIT_ABOUT("threads/map-empty", "a key map without keys",
                   "the context without attributes", DATA),
     ANNOUNCED("tlsdesc_v1_dev", no_keys, "context", "{}")},
    {OTELKIT_ABOUT("threads/map-empty-key", "a key map with an empty key",
                   "either: an attribute's name is not empty", DATA),
     ANNOUNCED("tlsdesc_v1_dev", empty_key, "either", NULL)},
    {OTELKIT_ABOUT("threads/map-257", "a key map of 257 keys",
                   "either: an index is one byte",
                   "OTEP 4947, attribute_key_map dictionary semantics"),
     .set = set_many_keys, SHOWN, .program = OTELKIT_EXPORTER},
    {.about = {.name = NULL}},
};
