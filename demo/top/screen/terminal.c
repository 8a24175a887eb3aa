/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/screen/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Switch to the alternate screen, without cursor and line wrap; and back. */
#define TAKE "\033[?1049h\033[?25l\033[?7l"
#define GIVE "\033[?7h\033[?25h\033[?1049l"

static struct termios before;
static volatile sig_atomic_t is_taken;
static int guard = -1; /* a pipe, whose other end the guard reads */
static pid_t guard_pid;

bool oteltop_terminal_is_there(void)
{
    const char *const kind = getenv("TERM");

    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && kind &&
           strcmp(kind, "dumb") != 0;
}

static void put(const char *text)
{
    const ssize_t done = write(STDOUT_FILENO, text, strlen(text));

    (void)done; /* a terminal that has gone needs no reset */
}

/* The modes come first: once the user sees the first screen, typing works. */
static void give_back(void)
{
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
    put(GIVE);
}

/* ---- whatever ends this program ----------------------------------------- */

static const int fatal[] = {SIGABRT, SIGBUS,  SIGFPE,  SIGILL,  SIGSEGV,
                            SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2};

static void end_by(int signal)
{
    if (is_taken)
        give_back();
    (void)raise(signal); /* the handler is reset: it ends the program */
}

static void catch_fatal(void)
{
    struct sigaction action = {.sa_handler = end_by,
                               .sa_flags = (int)SA_RESETHAND};

    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        (void)sigaction(fatal[i], &action, NULL);
}

/* A byte: the terminal was given back. End of file: this program has died, and
 * the kernel has closed its end. */
static void guard_run(int pipe)
{
    char byte;
    sigset_t all;
    ssize_t got;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)prctl(PR_SET_NAME, "otelctx-top-tty");
    do {
        got = read(pipe, &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got == 0)
        give_back();
    _exit(0);
}

static void guard_begin(void)
{
    int ends[2];

    if (guard >= 0 || pipe(ends) != 0)
        return;

    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[1]);
        guard_run(ends[0]);
    }
    (void)close(ends[0]);
    if (child < 0)
        (void)close(ends[1]);
    else
        guard = ends[1];
    guard_pid = child;
}

static void guard_end(void)
{
    if (guard < 0)
        return;

    const ssize_t done = write(guard, "", 1);
    (void)done;
    (void)close(guard);
    guard = -1;
    while (waitpid(guard_pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ---- taking and giving -------------------------------------------------- */

static int set_raw(void)
{
    struct termios raw = before;

    raw.c_lflag &= ~((tcflag_t)ECHO | ICANON);
    raw.c_iflag &= ~((tcflag_t)ICRNL | IXON);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) != 0)
        return -errno;
    is_taken = 1;
    put(TAKE);
    return 0;
}

int oteltop_terminal_begin(void)
{
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return -errno;
    guard_begin();
    catch_fatal();
    return set_raw();
}

void oteltop_terminal_end(void)
{
    if (!is_taken)
        return;
    give_back();
    is_taken = 0;
    guard_end();
}

/* No guard while this program is stopped: another process has the terminal. */
void oteltop_terminal_suspend(void)
{
    oteltop_terminal_end();
    (void)raise(SIGSTOP);
    oteltop_terminal_resume();
}

void oteltop_terminal_resume(void)
{
    guard_begin();
    (void)set_raw();
}

void oteltop_terminal_size(unsigned *columns, unsigned *lines)
{
    struct winsize size;

    *columns = 80;
    *lines = 24;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
        size.ws_row > 0) {
        *columns = size.ws_col;
        *lines = size.ws_row;
    }
}
