/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/otelctx_kit.h"

#include "demo/kit/programs.h"
#include "demo/kit/stage/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A stage takes at most 100 ms; a busy machine needs more. */
enum {
    STAGE_LIMIT_MS = 60000
};

const struct otelctx_kit_scenario *otelctx_kit_scenario(size_t number)
{
    for (size_t group = 0; otelkit_scenes[group]; group++) {
        const struct otelkit_scene *scene = otelkit_scenes[group];

        for (; scene->about.name; scene++) {
            if (number-- == 0)
                return &scene->about;
        }
    }
    return NULL;
}

const struct otelctx_kit_scenario *otelctx_kit_find(const char *name)
{
    const struct otelkit_scene *const scene = otelkit_scene_find(name);

    return scene ? &scene->about : NULL;
}

/* ---- in the child ------------------------------------------------------- */

static void __attribute__((noreturn)) child_fail(int line, const char *why)
{
    (void)dprintf(line, "!%s\n", why);
    _exit(1);
}

static void __attribute__((noreturn)) child_stay(void)
{
    for (;;)
        (void)pause();
}

/* The child ends with its parent. Under Yama only a parent may read a child, so
 * allow every reader. */
static void child_begin(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifdef PR_SET_PTRACER
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
#endif
    if (getppid() != parent)
        _exit(1);
}

static void __attribute__((noreturn))
child_play(const struct otelkit_scene *scene, const char *folder, int line)
{
    struct otelkit_stage stage = {.scene = scene, .line = line};
    int error;

    if (scene->program != OTELKIT_SELF) {
        error = otelkit_programs_execute(scene, folder, line);
        child_fail(line, error == -ENOENT ? "the program's libc is not here"
                                          : strerror(-error));
    }
    error = otelkit_stage_open(&stage);
    if (error == 0)
        error = scene->set(&stage, scene->how);
    if (error != 0)
        child_fail(line, stage.why[0] != '\0' ? stage.why : strerror(-error));
    (void)otelkit_stage_say(&stage);
    child_stay();
}

/* ---- in the parent ------------------------------------------------------ */

/* Reads up to the first newline. Returns 0 or -errno. */
static int line_read(int fd, char **out)
{
    size_t size = 0, room = 4096;
    char *line = malloc(room);
    struct pollfd poller = {.fd = fd, .events = POLLIN};

    while (line && (size == 0 || line[size - 1] != '\n')) {
        const int ready = poll(&poller, 1, STAGE_LIMIT_MS);
        const ssize_t got =
            ready > 0 ? read(fd, line + size, room - size) : ready;

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            free(line);
            return ready == 0 ? -ETIMEDOUT : -EPIPE;
        }
        size += (size_t)got;
        if (size == room) {
            char *const larger = realloc(line, room *= 2);

            if (!larger)
                free(line);
            line = larger;
        }
    }
    if (!line)
        return -ENOMEM;
    line[size - 1] = '\0';
    *out = line;
    return 0;
}

static int pid_of(const char *line)
{
    const char *const found = strstr(line, "\"pid\":");

    return found ? (int)strtol(found + 6, NULL, 10) : 0;
}

/* Returns the child's line, or why there is none. */
static int line_take(struct otelctx_kit_publisher *publisher, int fd)
{
    const int error = line_read(fd, &publisher->line);

    if (error != 0) {
        (void)snprintf(publisher->message, sizeof(publisher->message),
                       "the stage was not set: %s", strerror(-error));
        return error;
    }
    if (publisher->line[0] == '!') {
        (void)snprintf(publisher->message, sizeof(publisher->message), "%s",
                       publisher->line + 1);
        return -ENOTSUP;
    }
    publisher->pid = pid_of(publisher->line);
    return 0;
}

static int child_start(const struct otelkit_scene *scene,
                       struct otelctx_kit_publisher *publisher)
{
    const pid_t parent = getpid();
    int line[2];

    if (pipe2(line, O_CLOEXEC) != 0)
        return -errno;
    publisher->child = fork();
    if (publisher->child == 0) {
        (void)close(line[0]);
        child_begin(parent);
        if (scene->program != OTELKIT_SELF)
            (void)fcntl(line[1], F_SETFD, 0);
        child_play(scene, publisher->folder, line[1]);
    }
    int error = publisher->child < 0 ? -errno : 0;
    (void)close(line[1]);
    if (error == 0)
        error = line_take(publisher, line[0]);
    (void)close(line[0]);
    return error;
}

int otelctx_kit_start(const char *name, struct otelctx_kit_publisher *publisher)
{
    const struct otelkit_scene *const scene = otelkit_scene_find(name);
    int error = 0;

    *publisher = (struct otelctx_kit_publisher){.pid = 0};
    if (!scene) {
        (void)snprintf(publisher->message, sizeof(publisher->message),
                       "no such scenario");
        return -ENOENT;
    }
    if (scene->program != OTELKIT_SELF)
        error = otelkit_programs_write(scene, publisher);
    if (error == 0)
        error = child_start(scene, publisher);
    if (error != 0)
        otelctx_kit_stop(publisher);
    return error;
}

void otelctx_kit_stop(struct otelctx_kit_publisher *publisher)
{
    if (publisher->child > 0) {
        (void)kill(publisher->child, SIGKILL);
        while (waitpid(publisher->child, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    otelkit_programs_remove(publisher);
    free(publisher->line);
    publisher->line = NULL;
    publisher->child = 0;
}

int otelctx_kit_publish(const char *name, char **line)
{
    const struct otelkit_scene *const scene = otelkit_scene_find(name);
    struct otelkit_stage stage = {.scene = scene, .line = -1};
    int error;

    if (!scene)
        return -ENOENT;
    if (scene->program != OTELKIT_SELF)
        return -ENOTSUP;
    error = otelkit_stage_open(&stage);
    if (error != 0)
        return error;
    error = scene->set(&stage, scene->how);
    if (stage.pid > 0) { /* the scenario forks a child */
        (void)kill(stage.pid, SIGKILL);
        (void)waitpid(stage.pid, NULL, 0);
        error = -ENOTSUP;
    }
    if (error == 0) {
        *line = otelkit_stage_line(&stage);
        error = *line ? 0 : -ENOMEM;
    }
    otelkit_stage_close(&stage);
    return error;
}
