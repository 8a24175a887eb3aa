/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A server of one thread, with the shim and the library preloaded into it: what
 * the thread shows after each of its calls.
 */

#include "shim/otelctx.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define ONE         "00-11111111111111111111111111111111-1111111111111111-01"
#define TWO         "00-22222222222222222222222222222222-2222222222222222-01"
#define HEAD(trace) "GET / HTTP/1.1\r\ntraceparent: " trace "\r\n\r\n"
#define PLAIN       "GET / HTTP/1.1\r\n\r\n"

struct connection {
    int client, server;
};

static int listener = -1;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static const socklen_t address_size = sizeof(sa_family_t) + 6;

static struct connection connect_as(int type)
{
    struct connection c = {.client = socket(AF_UNIX, type, 0)};

    if (listener >= 0)
        (void)close(listener);
    listener = socket(AF_UNIX, type, 0);
    (void)snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%05d",
                   getpid() % 100000);
    cr_assert_eq(bind(listener, (struct sockaddr *)&address, address_size), 0);
    cr_assert_eq(listen(listener, 8), 0);
    cr_assert_eq(connect(c.client, (struct sockaddr *)&address, address_size),
                 0);
    c.server = accept(listener, NULL, NULL);
    cr_assert_geq(c.server, 0);
    return c;
}

static struct connection open_connection(void)
{
    return connect_as(SOCK_STREAM);
}

/* The first digit of the trace id; 0: none. */
static int shown(void)
{
    struct otelctx_ids ids;

    return otelctx_get(&ids) == 0 ? ids.trace_id[0] >> 4 : 0;
}

static void say(int fd, const char *text)
{
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static char buffer[65536];

/* What is shown after the server has read this. */
static int after(struct connection c, const char *text)
{
    say(c.client, text);
    cr_assert_eq(read(c.server, buffer, sizeof(buffer)), (ssize_t)strlen(text));
    return shown();
}

Test(whose, the_thread_that_reads_a_request_shows_it_until_the_next_one)
{
    const struct connection c = open_connection();

    cr_expect_eq(shown(), 0);
    cr_expect_eq(after(c, HEAD(ONE)), 1);
    cr_expect_eq(after(c, HEAD(TWO)), 2);
    cr_expect_eq(after(c, PLAIN), 0);
    cr_expect_eq(after(c, HEAD(ONE) HEAD(TWO)), 0, "which of the two?");
    cr_expect_eq(after(c, HEAD(ONE)), 1);
}

Test(whose, a_head_may_come_byte_by_byte)
{
    const struct connection c = open_connection();
    const char *text = HEAD(ONE);

    for (; text[1]; text++)
        cr_expect_eq(after(c, (char[]){*text, '\0'}), 0);
    cr_expect_eq(after(c, text), 1);
}

extern ssize_t __read_chk(int fd, void *at, size_t size, size_t room);
extern ssize_t __recv_chk(int fd, void *at, size_t size, size_t room,
                          int flags);

static ssize_t read_by(int how, int fd)
{
    struct iovec parts[] = {{buffer, 10}, {buffer + 10, sizeof(buffer) - 10}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

    switch (how) {
    case 0:
        return readv(fd, parts, 2);
    case 1:
        return recv(fd, buffer, sizeof(buffer), 0);
    case 2:
        return recvfrom(fd, buffer, sizeof(buffer), 0, NULL, NULL);
    case 3:
        return recvmsg(fd, &message, 0);
    case 4:
        return __read_chk(fd, buffer, sizeof(buffer), sizeof(buffer));
    default:
        return __recv_chk(fd, buffer, sizeof(buffer), sizeof(buffer), 0);
    }
}

Test(whose, each_way_to_read_counts_but_a_peek)
{
    for (int how = 0; how < 6; how++) {
        const struct connection c = open_connection();

        say(c.client, HEAD(ONE));
        cr_expect_gt(recv(c.server, buffer, sizeof(buffer), MSG_PEEK), 0);
        cr_expect_eq(shown(), 0);
        cr_expect_eq(read_by(how, c.server), (ssize_t)strlen(HEAD(ONE)));
        cr_expect_eq(shown(), 1, "%d", how);
        (void)close(c.server);
        cr_expect_eq(shown(), 0, "%d", how);
    }
}

Test(whose, to_read_after_an_answer_is_to_wait_for_the_next_request)
{
    const struct connection c = open_connection();

    cr_expect_eq(after(c, HEAD(ONE)), 1);
    errno = 0;
    cr_expect_eq(recv(c.server, buffer, 1, MSG_DONTWAIT), -1);
    cr_expect_eq(errno, EAGAIN);
    cr_expect_eq(shown(), 1, "not answered yet");
    say(c.server, "HTTP/1.1 200 OK\r\n\r\n");
    cr_expect_eq(shown(), 1, "it may go on answering");
    cr_expect_eq(recv(c.server, buffer, 1, MSG_DONTWAIT), -1);
    cr_expect_eq(shown(), 0);
}

Test(whose, a_body_belongs_to_its_request)
{
    const struct connection c = open_connection();

    cr_expect_eq(after(c, "POST / HTTP/1.1\r\nContent-Length: 80\r\n"
                          "traceparent: " ONE "\r\n\r\n"),
                 1);
    say(c.server, "HTTP/1.1 100 Continue\r\n\r\n");
    cr_expect_eq(poll(&(struct pollfd){c.server, POLLIN, 0}, 1, 0), 0);
    cr_expect_eq(shown(), 0, "it waits for its client");
    cr_expect_eq(after(c, "1234567890"), 1);
    cr_expect_eq(after(c, HEAD(TWO)), 1, "the words are the body's");
}

Test(whose, to_wait_for_another_descriptor_is_part_of_the_work)
{
    const struct connection c = open_connection();
    const int set = epoll_create1(0), other = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    fd_set fds;

    (void)epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
    (void)epoll_ctl(other, EPOLL_CTL_ADD, c.server, &event);
    cr_expect_eq(after(c, HEAD(ONE)), 1);
    (void)poll(&(struct pollfd){listener, POLLIN, 0}, 1, 0);
    (void)poll(&(struct pollfd){c.server, POLLOUT, 0}, 1, 0);
    (void)epoll_wait(set, &event, 1, 0);
    FD_ZERO(&fds);
    FD_SET(listener, &fds);
    (void)select(listener + 1, &fds, NULL, NULL, &(struct timeval){0, 0});
    cr_expect_eq(shown(), 1);
    (void)epoll_wait(other, &event, 1, 0);
    cr_expect_eq(shown(), 0, "epoll_wait for its own connection");
    cr_expect_eq(after(c, HEAD(ONE)), 1);
    FD_ZERO(&fds);
    FD_SET(c.server, &fds);
    (void)select(c.server + 1, &fds, NULL, NULL, &(struct timeval){0, 0});
    cr_expect_eq(shown(), 0, "select for its own connection");
}

Test(whose, a_loop_that_serves_several_shows_each_until_it_turns)
{
    const struct connection a = open_connection(), b = open_connection();
    const int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    int pipes[2];

    cr_assert_eq(pipe(pipes), 0);
    (void)epoll_ctl(set, EPOLL_CTL_ADD, a.server, &event);
    (void)epoll_ctl(set, EPOLL_CTL_ADD, b.server, &event);
    (void)epoll_ctl(set, EPOLL_CTL_ADD, pipes[0], &event);
    (void)epoll_wait(set, &event, 1, 0);
    cr_expect_eq(after(a, HEAD(ONE)), 1);
    cr_expect_eq(after(b, HEAD(TWO)), 2);
    (void)epoll_wait(set, &event, 1, 0);
    cr_expect_eq(shown(), 0);
    cr_expect_eq(after(a, HEAD(ONE)), 1);
    say(a.server, "HTTP/1.1 200 OK\r\n\r\n");
    cr_expect_eq(shown(), 0, "a loop has answered");
    cr_expect_eq(after(b, HEAD(TWO)), 2);
    say(pipes[1], "x");
    cr_expect_eq(read(pipes[0], buffer, 1), 1);
    cr_expect_eq(shown(), 0, "the loop goes on with something else");
}

Test(whose, the_end_of_a_connection_is_the_end_of_its_request)
{
    struct connection c = open_connection();

    cr_expect_eq(after(c, HEAD(ONE)), 1);
    (void)close(c.client);
    cr_expect_eq(read(c.server, buffer, 1), 0);
    cr_expect_eq(shown(), 0, "end of file");
    c = open_connection();
    cr_expect_eq(after(c, HEAD(ONE)), 1);
    (void)shutdown(c.server, SHUT_WR);
    cr_expect_eq(shown(), 0, "shutdown");
    c = open_connection();
    cr_expect_eq(after(c, HEAD(ONE)), 1);
    (void)fcntl(listener, F_SETFL, O_NONBLOCK);
    cr_expect_eq(accept(listener, NULL, NULL), -1);
    cr_expect_eq(shown(), 0, "accept");
}

Test(whose, only_what_a_client_sends_counts)
{
    const struct connection c = open_connection(),
                            packets = connect_as(SOCK_SEQPACKET);
    int pipes[2];

    cr_assert_eq(pipe(pipes), 0);
    say(pipes[1], HEAD(ONE));
    cr_expect_gt(read(pipes[0], buffer, sizeof(buffer)), 0);
    cr_expect_eq(shown(), 0, "a pipe");
    say(c.server, HEAD(ONE));
    cr_expect_gt(read(c.client, buffer, sizeof(buffer)), 0);
    cr_expect_eq(shown(), 0, "a connection that it opened");
    cr_expect_eq(after(packets, HEAD(ONE)), 0, "packets");
}

/* close_range(2) and dup2(2) go unnoticed. */
Test(whose, a_descriptor_that_is_a_file_now_shows_nothing)
{
    const struct connection c = open_connection();
    int pipes[2];

    cr_assert_eq(pipe(pipes), 0);
    (void)dup2(pipes[0], c.server);
    say(pipes[1], HEAD(ONE));
    cr_expect_gt(read(c.server, buffer, sizeof(buffer)), 0);
    cr_expect_eq(shown(), 0);
}

Test(whose, a_context_of_the_program_is_left_alone)
{
    const struct connection c = open_connection();

    cr_expect_eq(otelctx_attach_traceparent(TWO, 55), 0);
    cr_expect_eq(after(c, HEAD(ONE)), 2);
    (void)close(c.server);
    cr_expect_eq(shown(), 2);
    (void)otelctx_detach();

    const struct connection d = open_connection();

    cr_expect_eq(after(d, HEAD(ONE)), 1);
    cr_expect_eq(otelctx_attach_traceparent(TWO, 55), 0);
    (void)close(d.server);
    cr_expect_eq(shown(), 2);
}

static int status_of(pid_t child)
{
    int status;

    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(whose, a_forked_child_shows_its_parents_request_until_it_reads_its_own)
{
    const struct connection c = open_connection();
    pid_t child;

    cr_expect_eq(after(c, HEAD(ONE)), 1);
    child = fork();
    if (child == 0) {
        const int before = shown();

        say(c.client, HEAD(TWO));
        if (read(c.server, buffer, sizeof(buffer)) < 0)
            _exit(99);
        _exit(10 * before + shown());
    }
    cr_expect_eq(status_of(child), 12);
    cr_expect_eq(shown(), 1);
}

Test(whose, a_child_of_vfork_changes_nothing)
{
    const struct connection c = open_connection();
    pid_t child;

    cr_expect_eq(after(c, HEAD(ONE)), 1);
    child = vfork();
    if (child == 0) {
        (void)close(c.server);
        _exit(0);
    }
    cr_expect_eq(status_of(child), 0);
    cr_expect_eq(shown(), 1);
    cr_expect_eq(after(c, HEAD(TWO)), 2);
}

Test(whose, a_bad_descriptor_gives_the_error_that_it_gives)
{
    static const int bad[] = {-1, 1000, 16383, 16384, 1 << 30};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        errno = 0;
        cr_expect_eq(read(bad[i], buffer, 1), -1);
        cr_expect_eq(errno, EBADF);
        errno = 0;
        cr_expect_eq(close(bad[i]), -1);
        cr_expect_eq(errno, EBADF);
        errno = 0;
        cr_expect_eq(epoll_wait(bad[i], (struct epoll_event[1]){0}, 1, 0), -1);
        cr_expect_eq(errno, EBADF);
    }
    errno = 0;
    cr_expect_eq(accept(open("/dev/null", O_RDONLY), NULL, NULL), -1);
    cr_expect_eq(errno, ENOTSOCK);
}

static void *waiting(void *connection)
{
    const struct connection *c = connection;

    while (read(c->server, buffer, sizeof(buffer)) != 0)
        continue;
    return NULL;
}

Test(whose, a_thread_that_reads_can_be_cancelled)
{
    struct connection c = open_connection();
    pthread_t thread;
    void *result;

    cr_assert_eq(pthread_create(&thread, NULL, waiting, &c), 0);
    (void)usleep(50000);
    cr_expect_eq(pthread_cancel(thread), 0);
    cr_expect_eq(pthread_join(thread, &result), 0);
    cr_expect_eq(result, PTHREAD_CANCELED);
    cr_expect_eq(after(c, HEAD(ONE)), 1);
}
