/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Target processes that publish by hand what a test wants, and otelctx-read
 * ($OTELCTX_READ), which reads them from outside.
 */

#include "shim/wire/process.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE      4096
#define OUT_SIZE  (4 << 20)
#define ARGS_MAX  16
#define LIMIT_SEC 60
#define LIMIT_NS  (LIMIT_SEC * UINT64_C(1000000000))

/* ---- in a target -------------------------------------------------------- */

struct page {
    struct otelctx_header header;
    uint8_t payload[PAGE - sizeof(struct otelctx_header)];
};

/* resource { attributes { key: "service.name" value { "shop" } } } */
#define SHOP "\x0a\x18\x0a\x16\x0a\x0cservice.name\x12\x06\x0a\x04shop"
#define CART                                                                   \
    "\x0a\x18\x0a\x16\x0a\x0cservice.name\x12\x06\x0a\x04"                     \
    "cart"

static inline uint64_t boottime_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static inline void sleep_ms(long ms)
{
    const struct timespec duration = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&duration, NULL);
}

/* An empty page under that name. */
static inline struct page *map_page(const char *name)
{
    const int fd = memfd_create(name, MFD_CLOEXEC);

    if (fd < 0 || ftruncate(fd, PAGE) != 0)
        _exit(99);
    struct page *const page =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
    if (page == MAP_FAILED)
        _exit(99);
    return page;
}

/* OTEP 4719, "Publication Protocol", steps 6 to 9; the payload follows the
 * header. */
static inline void publish(struct page *page, const char *bytes, size_t size)
{
    memcpy(page->payload, bytes, size);
    page->header = (struct otelctx_header){
        .signature = OTELCTX_SIGNATURE,
        .version = OTELCTX_HEADER_VERSION,
        .payload_size = (uint32_t)size,
        .payload = (uintptr_t)page->payload,
    };
    __atomic_store_n(&page->header.published_at_ns, boottime_ns(),
                     __ATOMIC_SEQ_CST);
}

static inline struct page *publish_shop(void)
{
    struct page *const page = map_page(OTELCTX_MAPPING_NAME);

    publish(page, SHOP, sizeof(SHOP) - 1);
    return page;
}

/* ---- around a target ---------------------------------------------------- */

struct target {
    pid_t pid;
    int commands; /* each byte written to it is a command to the target */
};

/* What a target does. It calls say_ready() when it may be read. */
typedef void target_body(int ready, int commands);

static inline void say_ready(int ready)
{
    if (write(ready, "r", 1) != 1)
        _exit(98);
}

/* Starts a process and waits until it is ready. It dies with the test. */
static inline struct target target_start(target_body *body)
{
    int ready[2];
    int commands[2];
    char byte;

    cr_assert_eq(pipe(ready), 0);
    cr_assert_eq(pipe(commands), 0);
    const pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ready[0]);
        close(commands[1]);
        body(ready[1], commands[0]);
        for (;;)
            pause();
    }
    close(ready[1]);
    close(commands[0]);
    cr_assert_eq(read(ready[0], &byte, 1), 1, "the target did not start");
    close(ready[0]);
    return (struct target){pid, commands[1]};
}

static inline void target_tell(const struct target *target, char command)
{
    cr_assert_eq(write(target->commands, &command, 1), 1);
}

static inline void target_end(const struct target *target)
{
    kill(target->pid, SIGKILL);
    waitpid(target->pid, NULL, 0);
    close(target->commands);
}

/* ---- the reader --------------------------------------------------------- */

/* A run of otelctx-read; its output goes to two files in memory. */
struct reader {
    pid_t pid;
    int out_fd, err_fd;
    int status; /* exit status, once it ended */
    char *out, *err;
};

static inline const char *number(pid_t pid)
{
    static char text[8][16];
    static unsigned next;
    char *const slot = text[next++ % 8];

    snprintf(slot, sizeof(text[0]), "%d", (int)pid);
    return slot;
}

/* What the child does before it becomes the reader, or NULL. */
typedef void reader_setup(void);

static inline void reader_exec(const struct reader *reader, reader_setup *setup,
                               char **argv)
{
    const int program = open(argv[0], O_PATH | O_CLOEXEC);

    if (dup2(reader->out_fd, 1) < 0 || dup2(reader->err_fd, 2) < 0)
        _exit(97);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (setup)
        setup();
    /* By descriptor: another user may not enter the home that it is in. */
    fexecve(program, argv, environ);
    _exit(96);
}

/* Starts otelctx-read with these arguments. */
static inline struct reader reader_start(reader_setup *setup,
                                         const char *const *words)
{
    struct reader reader = {.out_fd = memfd_create("out", MFD_CLOEXEC),
                            .err_fd = memfd_create("err", MFD_CLOEXEC),
                            .out = calloc(1, OUT_SIZE),
                            .err = calloc(1, OUT_SIZE)};
    static char copies[ARGS_MAX][64]; /* argv is not const */
    char *argv[ARGS_MAX] = {getenv("OTELCTX_READ")};

    cr_assert_not_null(argv[0], "OTELCTX_READ is the path of otelctx-read");
    for (size_t i = 0; words[i]; i++) {
        cr_assert_lt(i, ARGS_MAX - 2);
        snprintf(copies[i], sizeof(copies[i]), "%s", words[i]);
        argv[i + 1] = copies[i];
    }
    reader.pid = fork();
    cr_assert_geq(reader.pid, 0);
    if (reader.pid == 0)
        reader_exec(&reader, setup, argv);
    return reader;
}

static inline void reader_look(struct reader *reader)
{
    const ssize_t out = pread(reader->out_fd, reader->out, OUT_SIZE - 1, 0);
    const ssize_t err = pread(reader->err_fd, reader->err, OUT_SIZE - 1, 0);

    cr_assert(out >= 0 && err >= 0);
    reader->out[out] = '\0';
    reader->err[err] = '\0';
}

/* Waits until the reader ends. */
static inline void reader_wait(struct reader *reader)
{
    int status = 0;

    for (int i = 0; i < LIMIT_SEC * 100; i++) {
        const pid_t got = waitpid(reader->pid, &status, WNOHANG);

        cr_assert_geq(got, 0);
        if (got == reader->pid) {
            reader_look(reader);
            reader->status = WIFEXITED(status) ? WEXITSTATUS(status)
                                               : 128 + WTERMSIG(status);
            return;
        }
        sleep_ms(10);
    }
    cr_assert_fail("otelctx-read does not end");
}

/* Waits until a text is in *where, which is reader->out or reader->err. */
static inline void reader_expect(struct reader *reader, char *const *where,
                                 const char *text)
{
    for (int i = 0; i < LIMIT_SEC * 100; i++) {
        reader_look(reader);
        if (strstr(*where, text))
            return;
        sleep_ms(10);
    }
    cr_assert_fail("no \"%s\" in \"%s\" \"%s\"", text, reader->out,
                   reader->err);
}

static inline void reader_close(struct reader *reader)
{
    close(reader->out_fd);
    close(reader->err_fd);
    free(reader->out);
    free(reader->err);
}

/* The last run; its texts are valid until the next one. */
static struct reader last;

static inline int reader_finish(struct reader reader)
{
    if (last.out)
        reader_close(&last);
    last = reader;
    reader_wait(&last);
    return last.status;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define WATCH(...) reader_start(NULL, WORDS("--watch", __VA_ARGS__))
#define RUN_WITH(setup, ...)                                                   \
    reader_finish(reader_start(setup, WORDS(__VA_ARGS__)))
#define RUN(...) RUN_WITH(NULL, __VA_ARGS__)

/* Runs otelctx-read on a new target. */
static inline int run_on(target_body *body, const char *option)
{
    const struct target target = target_start(body);
    const int status = RUN(option, number(target.pid));

    target_end(&target);
    return status;
}

#define EXPECT_STATUS(actual, expected)                                        \
    do {                                                                       \
        const int actual_ = (actual);                                          \
        cr_expect_eq(actual_, (expected), "status %d, out %s, err %s",         \
                     actual_, last.out, last.err);                             \
    } while (0)

#define EXPECT_TEXT(where, text)                                               \
    cr_expect(strstr((where), (text)), "no \"%s\" in \"%s\" \"%s\"", (text),   \
              last.out, last.err)

/* Is a jq filter true of the array of these lines of JSON? */
static inline bool jq_says(const char *json, const char *filter)
{
    int input[2];
    int status = -1;

    cr_assert_eq(pipe(input), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(input[0], 0);
        close(input[1]);
        if (freopen("/dev/null", "w", stdout))
            execlp("jq", "jq", "-e", "-s", filter, (char *)NULL);
        _exit(95);
    }
    close(input[0]);
    signal(SIGPIPE, SIG_IGN);
    const size_t size = strlen(json);
    const bool whole = write(input[1], json, size) == (ssize_t)size;
    close(input[1]);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#define EXPECT_JSON(filter)                                                    \
    cr_expect(jq_says(last.out, (filter)), "not %s: %s", (filter), last.out)
