#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The library of requests in programs of every kind: alone, with the shim disabled,
# under musl, with auditors, and with other libraries before and behind it.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

# A server of one request, which prints what it shows of it.
cat >"$TMP/server.c" <<'EOF2'
#include "shim/otelctx.h"
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(void)
{
    static const char head[] = "GET / HTTP/1.1\r\ntraceparent: 00-"
        "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n\r\n";
    struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "socket"};
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    const int client = socket(AF_UNIX, SOCK_STREAM, 0);
    struct otelctx_ids ids = {.trace_id = {0}};
    char room[1000];
    unlink(at.sun_path);
    if (bind(listener, (struct sockaddr *)&at, sizeof(at)) ||
        listen(listener, 1) ||
        connect(client, (struct sockaddr *)&at, sizeof(at)))
        return 1;
    const int server = accept(listener, NULL, NULL);
    if (write(client, head, sizeof(head) - 1) != sizeof(head) - 1)
        return 1;
    const ssize_t size = read(server, room, sizeof(room));
    const int got = otelctx_get(&ids);
    printf("%zd %d %02x%02x\n", size, got, ids.trace_id[0], ids.trace_id[1]);
    return 0;
}
EOF2
cd "$TMP"
gcc -D_GNU_SOURCE -I"$ROOT" -o glibc server.c
musl-gcc -D_GNU_SOURCE -I"$ROOT" -o musl server.c

# serves SENTENCE EXPECTED [NAME=VALUE]... COMMAND...
serves() {
    local sentence=$1 expected=$2
    shift 2

    same "$sentence" "$expected" "$(env "$@" 2>&1)"
}
both=$SHIM:$REQUESTS
serves 'alone it changes nothing' '88 -38 0000' LD_PRELOAD="$REQUESTS" ./glibc
serves 'with the shim the request is shown' '88 0 4bf9' LD_PRELOAD="$both" ./glibc
serves 'in the other order, too' '88 0 4bf9' LD_PRELOAD="$REQUESTS:$SHIM" ./glibc
serves 'with a shim that is disabled it changes nothing' '88 -38 0000' \
    LD_PRELOAD="$both" OTELCTX_DISABLED=true ./glibc
serves 'musl: with the shim the request is shown' '88 0 4bf9' \
    LD_PRELOAD="$both" ./musl
serves 'musl: in the other order, too' '88 0 4bf9' LD_PRELOAD="$REQUESTS:$SHIM" ./musl
serves 'musl: alone it changes nothing' '88 -38 0000' LD_PRELOAD="$REQUESTS" ./musl
serves 'an allocator that reads before all constructors: the request is shown' '88 0 4bf9' \
    LD_PRELOAD="$both:$(echo /usr/lib/*/libjemalloc.so.2)" ./glibc
serves 'and in front' '88 0 4bf9' \
    LD_PRELOAD="$(echo /usr/lib/*/libjemalloc.so.2):$both" ./glibc
contains 'an auditor with PLT callbacks: the request is shown' '88 0 4bf9' \
    "$(LD_PRELOAD=$both sotruss -o /dev/null ./glibc 2>&1)"
same 'the profile of libc: the request is shown' '88 0 4bf9' \
    "$(LD_PRELOAD=$both LD_PROFILE=libc.so.6 LD_PROFILE_OUTPUT=$TMP ./glibc 2>&1)"
serves 'otelctx-run --requests loads both' '88 0 4bf9' "$RUN" --requests ./glibc
serves 'musl: also there' '88 0 4bf9' "$RUN" --requests ./musl
done_testing
