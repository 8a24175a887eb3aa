#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each system call of a publication fails in turn: the shim does what OTEP 4719
# says, the program lives, and nothing leaks.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

# traced [FAULT]...: runs the driver under the shim with these faults of strace;
# the driver makes a call and ends. Leaves $TMP/trace, $STATUS, $STDERR and $MAPS.
traced() {
    local fault inject=()

    for fault; do inject+=(-e "inject=$fault"); done
    DRIVER=$TMP/faulty
    cat >"$DRIVER" <<EOF
#!/bin/sh
exec strace -D -o '$TMP/trace' -e trace=all ${inject[*]} \
    -E LD_PRELOAD='$SHIM' '$OTELCTX_DRIVER_PATH'
EOF
    chmod +x "$DRIVER"
    LD_PRELOAD='' SHIM='' drive OTELCTX_LOG_LEVEL=warn
    STATUS=$(status "$PID")
    STDERR=$(sed 's/^otelctx\[[0-9]*\]: //' "$TMP/stderr")
    MAPS=$(grep -c OTEL_CTX "/proc/$PID/maps" || :)
    stop
    trace_ended
}

# trace_ended: waits until strace has written its last line. With -D strace is no
# child of this shell, and may end after the driver.
trace_ended() {
    local tries

    for ((tries = 0; tries < 1000; tries++)); do
        ! tail -n 1 "$TMP/trace" | grep -q '^+++ ' || return 0
        sleep 0.02
    done
}

# nth SYSCALL TEXT: the number, from 1, of the first of these system calls that
# has TEXT in its arguments.
nth() {
    grep "^$1(" "$TMP/trace" | grep -n -m 1 -e "$2" | cut -d: -f1
}

# order: the names of the shim's system calls at start. The first on descriptor 0
# is the driver's: stdio asks what it is before it allocates a buffer.
order() {
    sed -n '/otelctx.conf/,/\(stat\|statat\|read\)(0,/p' "$TMP/trace" |
        sed '$d; s/(.*//' | paste -sd ' '
}

OTELCTX_DRIVER_PATH=$DRIVER
unnamed=prctl:error=EINVAL
named=prctl:retval=0
no_memfd=memfd_create:error=EPERM

traced "$unnamed"
same 'the start makes the system calls of steps 2 to 10, one for seccomp, and no other' \
    'openat madvise prctl prlimit64 memfd_create ftruncate mmap madvise close clock_gettime prctl' \
    "$(order)"
contains 'step 2: the memfd is sealable, not executable and closed by exec' \
    'memfd_create("OTEL_CTX", MFD_CLOEXEC|MFD_ALLOW_SEALING|0x8' \
    "$(sed 's/MFD_NOEXEC_SEAL/0x8/' "$TMP/trace")"
contains 'step 3: the memfd is mapped privately' \
    'PROT_READ|PROT_WRITE, MAP_PRIVATE, ' "$(cat "$TMP/trace")"
contains 'step 10: the mapping is named, even if the kernel refuses' \
    '4096, "OTEL_CTX") = -1 EINVAL' "$(cat "$TMP/trace")"
same 'where naming is refused, the name of the memfd counts' "ok 1 " \
    "$STATUS $MAPS $STDERR"
contains 'opening the configuration file never blocks' \
    'otelctx.conf", O_RDONLY|O_NOCTTY|O_NONBLOCK|O_CLOEXEC' "$(cat "$TMP/trace")"
page=$(nth mmap 'PROT_READ|PROT_WRITE, MAP_PRIVATE, ')
wipe=$(nth madvise MADV_WIPEONFORK)
dont_fork=$(nth madvise MADV_DONTFORK)

# fails SENTENCE STATUS STDERR FAULT...: compares status and stderr; the program
# must live, and the shim must close every memfd.
fails() {
    local sentence=$1 expected=$2 text=$3 opened closed
    shift 3

    traced "$@"
    opened=$(grep -c '^memfd_create.* = [0-9]' "$TMP/trace" || :)
    closed=$(sed -n '/^memfd_create.* = [0-9]/,/^clock_gettime/s/^close(.*/x/p' \
        "$TMP/trace" | wc -l)
    same "$sentence" "$expected, \"$text\", $opened memfds closed, exit 0" \
        "$STATUS, \"$STDERR\", $closed memfds closed, $(tail -n 1 "$TMP/trace" |
            sed 's/.*exited with \([0-9]*\) .*/exit \1/')"
}

cannot='warn: cannot publish the process context:'

fails 'without MFD_NOEXEC_SEAL the shim uses a plain memfd' ok '' \
    memfd_create:error=EINVAL:when=1
same 'the shim tries the plain memfd second' \
    'memfd_create("OTEL_CTX", MFD_CLOEXEC|MFD_ALLOW_SEALING) = ' \
    "$(sed -n 's/^\(memfd_create.* = \)[0-9].*/\1/p' "$TMP/trace")"

fails 'no memfd and no naming: publication failed' no_context \
    "$cannot prctl (errno 22)" "$no_memfd" "$unnamed"
same 'without memfd and naming the mapping is unmapped again' 1 \
    "$(sed -n '/^prctl(PR_SET_VMA/,/^read/p' "$TMP/trace" | grep -c '^munmap.* = 0')"

fails 'no memfd but naming: an anonymous mapping is published' no_context '' \
    "$no_memfd" "$named"
same 'a named anonymous mapping is not unmapped' 0 \
    "$(sed -n '/^prctl(PR_SET_VMA/,/^read/p' "$TMP/trace" | grep -c '^munmap' || :)"

fails 'ftruncate failing: anonymous instead' no_context '' \
    ftruncate:error=ENOSPC "$named"

fails 'mmap failing: publication failed' no_context "$cannot mmap (errno 12)" \
    "mmap:error=ENOMEM:when=$page"

fails 'MADV_DONTFORK failing: publication failed' no_context \
    "$cannot madvise (errno 22)" "madvise:error=EINVAL:when=$dont_fork"
same 'if MADV_DONTFORK fails the mapping is unmapped again' 0 "$MAPS"

fails 'MADV_WIPEONFORK refused: the context is published' ok '' \
    "madvise:error=EINVAL:when=$wipe"

fails 'no clock: the context is published' ok '' clock_gettime:error=EPERM

fails 'RLIMIT_FSIZE unknown: anonymous instead' no_context '' \
    prlimit64:error=EPERM "$named"

fails 'an unreadable configuration file: the context is published' ok '' \
    "openat:error=EACCES:when=$(nth openat otelctx.conf)"

OTELCTX_CONFIG_FILE=/asked/otelctx.conf fails \
    'one that was asked for is told' ok \
    'error: /asked/otelctx.conf: expected permission to read it (errno 13)' \
    "openat:error=EACCES:when=$(nth openat otelctx.conf)"

# again [NAME=VALUE]...: starts the driver once more with the last faults.
again() {
    DRIVER=$TMP/faulty LD_PRELOAD='' SHIM='' drive "$@"
}

echo OTEL_SERVICE_NAME=of-the-file >"$TMP/otelctx.conf"
export OTELCTX_CONFIG_FILE=$TMP/otelctx.conf
traced
traced "read:error=EINTR:when=$(nth read OTEL_SERVICE_NAME)"
again
same 'a signal during the read of the configuration file: the read continues' \
    service.name=of-the-file "$(resource "$PID")"
stop
unset OTELCTX_CONFIG_FILE

# After the start an update makes one system call, which names the mapping, and a
# second one, which probes the mapping, if the last update is more than a
# millisecond old. Now and then an update looks for another publisher, too.
traced
again
for _ in 1 2 3 4; do
    call set a b
    call publish
done >/dev/null
stop
trace_ended
updates=$(sed -n '/^read(0, "publish/,/^write(1/p' "$TMP/trace" |
    sed '/^futex(.*FUTEX_CMP_REQUEUE/d; s/(.*//' | paste -sd ' ' |
    sed 's/write */write\n/g')
case $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource) in
tsc | kvm-clock | hyperv_clocksource_tsc_page | arch_sys_counter)
    contains 'an update makes no system call but the naming' \
        $'\nread prctl write\n' "$updates"$'\n'
    ;;
*) skip 'an update makes no system call but the naming' \
    'machine: its clock cannot be read without one' ;;
esac

# A mapping that was named once stays published when naming it again fails.
named_once() {
    echo publish | strace -o "$TMP/trace" -e trace=prctl,munmap \
        -e inject="$no_memfd" -e inject="prctl:retval=0:when=1" \
        -E LD_PRELOAD="$SHIM" "$DRIVER"
}
DRIVER=$OTELCTX_DRIVER_PATH
same 'a context that cannot be named again stays published' 'publish 0' \
    "$(named_once)"
same 'a context that cannot be named again stays mapped' 0 \
    "$(sed -n '/^prctl(PR_SET_VMA/,$p' "$TMP/trace" | grep -c ^munmap || :)"

# A system call on the default file that fails is no mistake of the user.
for err in EMFILE EPERM ENFILE ENOSYS EINTR:when=1; do
    same "the default file, open: ${err%:*}: prints nothing" '' "$(
        strace -o /dev/null -P /etc/otelctx/otelctx.conf \
            -e inject="openat:error=$err" -E LD_PRELOAD="$SHIM" /bin/true 2>&1)"
done

# A signal handler that calls the shim while the constructor reads the
# configuration: the call does the whole start, and the mistake is printed once.
cat >"$TMP/early.c" <<'END'
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void call(int signal)
{
    int (*set)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_DEFAULT, "otelctx_process_set");
    char text[32];
    (void)signal;
    (void)!write(2, text, (size_t)sprintf(text, "set %d\n", set("early", "1")));
}
__attribute__((constructor)) static void first(void) { signal(SIGUSR1, call); }
END
gcc -shared -fPIC -o "$TMP/early.so" "$TMP/early.c"
early() { # [FAULT]
    strace -o "$TMP/trace" ${1:+-e inject="$1"} -E OTELCTX_PUBLISH=wrong \
        -E LD_PRELOAD="$SHIM $TMP/early.so" /bin/true 2>&1 |
        sed 's/^otelctx\[[0-9]*\]: //'
}
wrong='error: OTELCTX_PUBLISH: byte 1: "wrong": expected always|configured; the default counts'
same 'without a handler the mistake is told once' "$wrong" "$(early)"
same 'when a handler calls during the start the mistake is told once' \
    $'set 0\n'"$wrong" \
    "$(early "openat:signal=USR1:when=$(nth openat otelctx.conf)")"

# A thread that calls or forks during the start: a signal handler holds the main
# thread there until the other thread calls.
cat >"$TMP/beside.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_t thread;
static atomic_int is_held, is_calling;
static void hold(int signal)
{
    (void)signal;
    is_held = 1;
    while (!is_calling)
        usleep(1000);
    usleep(200000); /* so that the other thread is likely to wait */
}
static void *beside(void *unused)
{
    int (*set)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_DEFAULT, "otelctx_process_set");
    int status = 0;
    while (!is_held)
        usleep(1000);
    is_calling = 1;
    if (!getenv("FORKS"))
        fprintf(stderr, "set %d\n", set("a", "1"));
    else if (fork() == 0)
        _exit(-set("a", "1"));
    else
        fprintf(stderr, "child %d\n", wait(&status) < 0 ? -1 : WEXITSTATUS(status));
    return unused;
}
__attribute__((constructor)) static void first(void)
{
    signal(SIGUSR1, hold);
    pthread_create(&thread, NULL, beside, NULL);
}
__attribute__((destructor)) static void last(void) { pthread_join(thread, NULL); }
END
gcc -shared -fPIC -pthread -o "$TMP/beside.so" "$TMP/beside.c"
beside() { # [NAME=VALUE]
    timeout 120 strace -f -o "$TMP/trace" -e trace=memfd_create,madvise \
        -e inject=memfd_create:signal=USR1:when=1 \
        ${1:+-E "$1"} -E LD_PRELOAD="$SHIM $TMP/beside.so" /bin/true 2>&1
}
same 'a thread that calls during the start waits for it to end' \
    $'set 0\n1 published' "$(beside)
$(grep -c 'memfd_create.* = [0-9]' "$TMP/trace") published"
same 'a child that a thread forks during the start does not wait' 'child 0' \
    "$(beside FORKS=1)"

# Several threads call at once, before the shim's constructor: one of them starts
# the shim, and the others wait for it.
cat >"$TMP/crowd.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
enum { THREADS = 4 };
static atomic_int ready, failed;
static void *call(void *unused)
{
    int (*set)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_DEFAULT, "otelctx_process_set");
    ready++;
    while (ready < THREADS)
        ;
    if (set("a", "1"))
        failed++;
    return unused;
}
__attribute__((constructor)) static void first(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, call, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (failed)
        _Exit(1);
}
END
gcc -shared -fPIC -pthread -o "$TMP/crowd.so" "$TMP/crowd.c"
crowd() { # [COMMAND...]
    "$@" env OTELCTX_PUBLISH=wrong OTELCTX_TRACEPARENT=all \
        OTELCTX_CONFIG_FILE="$TMP/otelctx.conf" \
        TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 \
        LD_PRELOAD="$SHIM $TMP/crowd.so" /bin/true 2>&1 |
        sed 's/^otelctx\[[0-9]*\]: //'
}
same 'when four threads call first the mistake is told once' "$wrong" \
    "$(crowd strace -f -o "$TMP/trace" -P "$TMP/otelctx.conf" \
        -e inject=openat:delay_enter=300000)"
same 'when four threads call first the settings are read once' 1 "$(grep -c openat "$TMP/trace")"
# shellcheck disable=SC2119 # no command
same 'in 200 starts with four threads the mistake is told once' "200 $wrong" "$(
    for ((round = 0; round < 200; round++)); do crowd; done |
        sort | uniq -c | sed 's/^ *//')"

# A stderr that nobody reads, while the system calls against SIGPIPE are refused.
unread() {
    local end

    exec {end}> >(:)
    wait $! # then the other end is closed
    strace -o /dev/null -e inject="$1" -E OTELCTX_PUBLISH=wrong \
        -E LD_PRELOAD="$SHIM" /bin/true 2>&"$end"
}
for call in rt_sigprocmask rt_sigpending rt_sigtimedwait ppoll; do
    check "a stderr that nobody reads, and no $call: the program lives" \
        unread "$call:error=ENOSYS"
done

# A call that fails for want of memory, and works with memory again.
DRIVER=$OTELCTX_DRIVER_PATH
drive
same 'a refused call leaves the published context' \
    '0 0 -28 0 0 one' "$(call set k one) $(call publish) $(
        call setlong k 70000) $(call set service.name s) $(call publish) $(
        resource "$PID" | sed -n 's/^k=//p')"
stop

drive OTEL_SERVICE_NAME=small
memory_left 65536
same 'no memory for a long payload: publishing fails and nothing changes' \
    '0 -12 service.name=small' \
    "$(call setlong long 5000) $(call publish) $(resource "$PID")"
same 'after a failure the lock is free: a short payload is published' \
    $'0 0\nservice.name=small\nshort=yes' \
    "$(call set long >/dev/null; call set short yes) $(call publish)
$(resource "$PID")"
same 'no memory for a first long payload: publishing fails' '0 0 -12 no_context' \
    "$(call drop) $(call setlong long 5000) $(call publish) $(status "$PID")"
memory_left 0
same 'no memory for the page: publishing fails' '0 -12 no_context' \
    "$(call set long) $(call publish) $(status "$PID")"
prlimit --pid "$PID" --as=unlimited:
same 'publishing works again with memory' '0 ok' "$(call publish) $(status "$PID")"
stop

# Before Linux 4.14 the kernel does not wipe memory on fork: the shim compares pids.
traced "madvise:error=EINVAL:when=$wipe"
again OTEL_SERVICE_NAME=parent
CHILD=$(call fork)
same 'MADV_WIPEONFORK refused: a forked child has a context of its own' \
    $'0 0 ok\nservice.name=parent\nin=child' \
    "$(call set in child) $(call publish) $(status "$PID")
$(resource "$CHILD")"
stop

# The file size limit, at which ftruncate would raise SIGXFSZ.
# limited KIB COMMAND...
limited() {
    ulimit -f "$1"
    shift
    LD_PRELOAD=$SHIM exec "$@"
}
check 'with an RLIMIT_FSIZE of 0 the program lives' limited 0 /bin/true
check 'with an RLIMIT_FSIZE below a page the program lives' limited 3 /bin/true
background limited 4 sleep 600
check 'an RLIMIT_FSIZE of a page allows a memfd' published "$PID"

done_testing
