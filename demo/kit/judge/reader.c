/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/judge/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    OUTPUT_MAX = 16 << 20,
    ARGUMENTS_MAX = 256
};

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* The argument with {} and {name} replaced; for free(). */
static char *argument_fill(const char *argument, pid_t pid,
                           const char *scenario)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    while (*argument != '\0') {
        if (strncmp(argument, "{}", 2) == 0) {
            (void)fprintf(out, "%d", (int)pid);
            argument += 2;
        } else if (strncmp(argument, "{name}", 6) == 0) {
            (void)fputs(scenario, out);
            argument += 6;
        } else
            (void)fputc(*argument++, out);
    }
    (void)fclose(out);
    return text;
}

/* The reader runs in a process group of its own, which is killed as a whole. */
static pid_t start(char *const *command, int input, int output)
{
    const pid_t child = fork();
    const int silent = child == 0 ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;

    if (child != 0)
        return child;
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(input >= 0 ? input : silent, STDIN_FILENO);
    (void)dup2(output, STDOUT_FILENO);
    (void)dup2(silent, STDERR_FILENO);
    if (command[0])
        (void)execvp(command[0], command);
    _exit(errno == ENOENT ? 127 : 126);
}

/* Reads until the end or the limit; false at the limit. */
static bool output_read(int fd, uint64_t until_ns, char **out, size_t *size)
{
    size_t room = 65536;
    char *text = malloc(room + 1);
    bool ended = false;

    *size = 0;
    while (text && !ended) {
        const uint64_t now = now_ns();
        struct pollfd poller = {.fd = fd, .events = POLLIN};
        const int ready =
            now < until_ns
                ? poll(&poller, 1, (int)((until_ns - now) / 1000000 + 1))
                : 0;

        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            break;
        const ssize_t got = read(fd, text + *size, room - *size);
        if (got > 0)
            *size += (size_t)got;
        ended = got == 0 || *size >= OUTPUT_MAX;
        if (*size == room) {
            char *const larger = realloc(text, 2 * room + 1);

            if (!larger)
                break;
            text = larger;
            room *= 2;
        }
    }
    if (text)
        text[*size] = '\0';
    *out = text;
    return ended;
}

/* Waits until the limit. */
static bool wait_until(pid_t child, uint64_t until_ns, int *status,
                       struct rusage *usage)
{
    const struct timespec pause = {0, 1000000};

    while (wait4(child, status, WNOHANG, usage) == 0) {
        if (now_ns() >= until_ns)
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

/* Runs a command to its end or to the limit. */
static int command_run(char *const *command, int input, long limit_ms,
                       struct otelkit_run *run)
{
    const uint64_t began_ns = now_ns();
    const uint64_t until_ns = began_ns + (uint64_t)limit_ms * 1000000;
    struct rusage usage = {.ru_maxrss = 0};
    int output[2];
    int status = 0;

    if (pipe2(output, O_CLOEXEC) != 0)
        return -errno;
    const pid_t child = start(command, input, output[1]);
    (void)close(output[1]);
    if (child < 0) {
        (void)close(output[0]);
        return -errno;
    }
    const bool ended =
        output_read(output[0], until_ns, &run->output, &run->size) &&
        wait_until(child, until_ns, &status, &usage);
    (void)close(output[0]);
    (void)kill(-child, SIGKILL);
    if (!ended) {
        (void)kill(child, SIGKILL);
        while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
            continue;
    }
    run->hung = !ended;
    run->signal = ended && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    run->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    run->memory_kib = usage.ru_maxrss;
    run->lasted_ns = now_ns() - began_ns;
    return run->output ? 0 : -ENOMEM;
}

/* The reader's output, filtered by jq. An empty output stays empty. */
static int adapt(const struct otelkit_reader *reader, struct otelkit_run *run)
{
    char adapter[4096];
    char *command[] = {"jq", "-c", "-f", adapter, NULL};
    struct otelkit_run adapted = {.hung = false};
    FILE *const file = tmpfile();

    (void)snprintf(adapter, sizeof(adapter), "%s", reader->adapter);
    if (!file)
        return -errno;
    (void)fwrite(run->output, 1, run->size, file);
    rewind(file);
    const int error =
        command_run(command, fileno(file), reader->limit_ms, &adapted);
    (void)fclose(file);
    if (error != 0)
        return error;
    free(run->output);
    run->output = adapted.output;
    run->size = adapted.size;
    run->unadapted = adapted.hung || adapted.status != 0;
    return 0;
}

int otelkit_reader_run(const struct otelkit_reader *reader, pid_t pid,
                       const char *scenario, struct otelkit_run *run)
{
    char *command[ARGUMENTS_MAX + 1] = {NULL};
    int error;

    *run = (struct otelkit_run){.hung = false};
    for (size_t i = 0; i < ARGUMENTS_MAX && reader->command[i]; i++)
        command[i] = argument_fill(reader->command[i], pid, scenario);
    error = command_run(command, -1, reader->limit_ms, run);
    for (size_t i = 0; i < ARGUMENTS_MAX; i++)
        free(command[i]);
    if (error == 0 && reader->adapter && run->size > 0)
        error = adapt(reader, run);
    return error;
}

void otelkit_run_free(struct otelkit_run *run)
{
    free(run->output);
    run->output = NULL;
}

/* The state of a thread: the letter behind its name in parentheses. */
static char state_of(pid_t pid, const char *tid)
{
    char path[320];
    char text[1024];

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, tid);
    FILE *const file = fopen(path, "re");
    if (!file)
        return '\0';
    const size_t size = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[size] = '\0';
    const char *const end = strrchr(text, ')');
    return end && end[1] == ' ' ? end[2] : '\0';
}

static bool is_stopped(pid_t pid)
{
    char path[64];
    bool stopped = false;
    const struct dirent *entry;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *const folder = opendir(path);
    if (!folder)
        return false;
    while ((entry = readdir(folder))) {
        const char state =
            entry->d_name[0] != '.' ? state_of(pid, entry->d_name) : '\0';

        stopped = stopped || state == 'T' || state == 't';
    }
    (void)closedir(folder);
    return stopped;
}

bool otelkit_is_left_stopped(pid_t pid)
{
    const struct timespec pause = {0, 20000000};
    bool stopped = is_stopped(pid);

    for (int looks = 1; stopped && looks < 50; looks++) {
        (void)nanosleep(&pause, NULL);
        stopped = is_stopped(pid);
    }
    return stopped;
}
