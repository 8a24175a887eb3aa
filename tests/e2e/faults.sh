#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Each system call of a publication refused: what OTEP 4719 says happens, the
# host lives, and nothing is left behind.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

# traced [FAULT]...: the driver under the shim with these faults of strace's;
# it makes a call and ends. Leaves trace, stderr and what status says of it.
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
}

# nth SYSCALL TEXT: which of these system calls has that in its arguments.
nth() {
    grep "^$1(" "$TMP/trace" | grep -n -m 1 -e "$2" | cut -d: -f1
}

# order: the shim's system calls, from the library's first on.
order() {
    sed -n '/otelctx.conf/,/read(0/s/(.*//p' "$TMP/trace" | paste -sd ' '
}

OTELCTX_DRIVER_PATH=$DRIVER
unnamed=prctl:error=EINVAL
named=prctl:retval=0
no_memfd=memfd_create:error=EPERM

traced "$unnamed"
same 'steps 2 to 10, is there a seccomp filter, and no other system call' \
    'openat madvise prctl prlimit64 memfd_create ftruncate mmap madvise close clock_gettime prctl' \
    "$(order | sed 's/ newfstatat.*//; s/ read$//')"
contains 'step 2: the memfd is sealable, not executable and closed by exec' \
    'memfd_create("OTEL_CTX", MFD_CLOEXEC|MFD_ALLOW_SEALING|0x8' \
    "$(sed 's/MFD_NOEXEC_SEAL/0x8/' "$TMP/trace")"
contains 'step 3: the memfd is mapped privately' \
    'PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_POPULATE, ' "$(cat "$TMP/trace")"
contains 'step 10: the mapping is named, also where the kernel cannot' \
    '4096, "OTEL_CTX") = -1 EINVAL' "$(cat "$TMP/trace")"
same 'where naming is refused, the name of the memfd does' "ok 1 " \
    "$STATUS $MAPS $STDERR"
contains 'the configuration file is opened without waiting for anybody' \
    'otelctx.conf", O_RDONLY|O_NOCTTY|O_NONBLOCK|O_CLOEXEC' "$(cat "$TMP/trace")"
page=$(nth mmap MAP_POPULATE)
wipe=$(nth madvise MADV_WIPEONFORK)
dont_fork=$(nth madvise MADV_DONTFORK)

# fails SENTENCE STATUS STDERR FAULT...: published or not, the host lives, and
# every descriptor of a memfd that came was closed.
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

fails 'without MFD_NOEXEC_SEAL a plain memfd does' ok '' \
    memfd_create:error=EINVAL:when=1
same 'and that one is tried second' \
    'memfd_create("OTEL_CTX", MFD_CLOEXEC|MFD_ALLOW_SEALING) = ' \
    "$(sed -n 's/^\(memfd_create.* = \)[0-9].*/\1/p' "$TMP/trace")"

fails 'no memfd and no naming: publication failed' no_context \
    "$cannot prctl (errno 22)" "$no_memfd" "$unnamed"
same 'and the mapping is gone again' 1 \
    "$(sed -n '/^prctl(PR_SET_VMA/,/^read/p' "$TMP/trace" | grep -c '^munmap.* = 0')"

fails 'no memfd but naming: an anonymous mapping is published' no_context '' \
    "$no_memfd" "$named"
same 'and stays' 0 \
    "$(sed -n '/^prctl(PR_SET_VMA/,/^read/p' "$TMP/trace" | grep -c '^munmap' || :)"

fails 'ftruncate failing: anonymous instead' no_context '' \
    ftruncate:error=ENOSPC "$named"

fails 'mmap failing: publication failed' no_context "$cannot mmap (errno 12)" \
    "mmap:error=ENOMEM:when=$page"

fails 'MADV_DONTFORK failing: publication failed' no_context \
    "$cannot madvise (errno 22)" "madvise:error=EINVAL:when=$dont_fork"
same 'and the mapping is gone again' 0 "$MAPS"

fails 'MADV_WIPEONFORK refused: published all the same' ok '' \
    "madvise:error=EINVAL:when=$wipe"

fails 'no clock: published all the same' ok '' clock_gettime:error=EPERM

fails 'RLIMIT_FSIZE unknown: anonymous instead' no_context '' \
    prlimit64:error=EPERM "$named"

fails 'a closed configuration file: published all the same' ok '' \
    "openat:error=EACCES:when=$(nth openat otelctx.conf)"

OTELCTX_CONFIG_FILE=/asked/otelctx.conf fails \
    'one that was asked for is told' ok \
    'error: /asked/otelctx.conf: expected a readable regular file of at most 65536 bytes (errno 13)' \
    "openat:error=EACCES:when=$(nth openat otelctx.conf)"

# again [NAME=VALUE]...: the driver once more with the last faults.
again() {
    DRIVER=$TMP/faulty LD_PRELOAD='' SHIM='' drive "$@"
}

echo OTEL_SERVICE_NAME=of-the-file >"$TMP/otelctx.conf"
export OTELCTX_CONFIG_FILE=$TMP/otelctx.conf
traced
traced "read:error=EINTR:when=$(nth read OTEL_SERVICE_NAME)"
again
same 'a signal while the configuration file is read: read all the same' \
    service.name=of-the-file "$(resource "$PID")"
stop
unset OTELCTX_CONFIG_FILE

# After the start an update is but one system call.
traced
again
for _ in 1 2; do
    call set a b
    call publish
done >/dev/null
stop
case $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource) in
tsc | kvm-clock | hyperv_clocksource_tsc_page | arch_sys_counter)
    same 'an update makes no system call but the naming' 'read prctl write' \
        "$(sed -n '/^read(0, "publish/,/^write(1/s/(.*//p' "$TMP/trace" |
            tail -n 3 | paste -sd ' ')"
    ;;
*) skip 'an update makes no system call but the naming' \
    'machine: its clock cannot be read without one' ;;
esac

# A name that was given once stays, whatever becomes of naming later.
named_once() {
    (echo publish; sleep 0.2) | strace -o "$TMP/trace" -e trace=prctl,munmap \
        -e inject="$no_memfd" -e inject="prctl:retval=0:when=1" \
        -E LD_PRELOAD="$SHIM" "$DRIVER"
}
DRIVER=$OTELCTX_DRIVER_PATH
same 'an update that cannot be named again stays published' 'publish 0' \
    "$(named_once)"
same 'and mapped' 0 \
    "$(sed -n '/^prctl(PR_SET_VMA/,$p' "$TMP/trace" | grep -c ^munmap || :)"

# What the configuration file's calls say when the system is at fault is no
# error of the user's.
for err in EMFILE EPERM ENFILE ENOSYS EINTR:when=1; do
    same "the default file, open: ${err%:*}: prints nothing" '' "$(
        strace -o /dev/null -P /etc/otelctx/otelctx.conf \
            -e inject="openat:error=$err" -E LD_PRELOAD="$SHIM" /bin/true 2>&1)"
done

# A handler that calls while the constructor reads the configuration: then this
# call is the start, and what is wrong is told once all the same.
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
wrong='error: OTELCTX_PUBLISH: byte 1: expected always|configured'
same 'without a handler it is told once' "$wrong" "$(early)"
same 'a handler that calls in the middle of the start: told once' \
    $'set 0\n'"$wrong" \
    "$(early "openat:signal=USR1:when=$(nth openat otelctx.conf)")"

# A thread that calls, or forks, while another one begins: strace holds it there.
cat >"$TMP/beside.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_t thread;
static void *beside(void *unused)
{
    int (*set)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_DEFAULT, "otelctx_process_set");
    int status = 0;
    usleep(100000);
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
    pthread_create(&thread, NULL, beside, NULL);
}
__attribute__((destructor)) static void last(void) { pthread_join(thread, NULL); }
END
gcc -shared -fPIC -pthread -o "$TMP/beside.so" "$TMP/beside.c"
beside() { # [NAME=VALUE]
    strace -f -o "$TMP/trace" -e trace=madvise -e inject=madvise:delay_enter=300000 \
        ${1:+-E "$1"} -E LD_PRELOAD="$SHIM $TMP/beside.so" /bin/true 2>&1
}
same 'while one thread begins another one waits' $'set 0\n1 wiped' \
    "$(beside)
$(grep -c MADV_WIPEONFORK "$TMP/trace") wiped"
same 'and the child of another one does not' 'child 0' "$(beside FORKS=1)"

# A stderr that nobody reads, while the calls that guard it are refused.
unread() {
    local end

    exec {end}> >(:)
    sleep 0.1
    strace -o /dev/null -e inject="$1" -E OTELCTX_PUBLISH=wrong \
        -E LD_PRELOAD="$SHIM" /bin/true 2>&"$end"
}
for call in rt_sigprocmask rt_sigpending rt_sigtimedwait ppoll; do
    check "a stderr that nobody reads, and no $call: kills nobody" \
        unread "$call:error=ENOSYS"
done

# A call that could not be served says so, and works when it can be.
DRIVER=$OTELCTX_DRIVER_PATH
drive
same 'a context that was published before a refused call stays' \
    '0 0 -28 0 0 one' "$(call set k one) $(call publish) $(
        call setlong k 70000) $(call set service.name s) $(call publish) $(
        resource "$PID" | sed -n 's/^k=//p')"
stop

drive OTEL_SERVICE_NAME=small
memory_left 65536
same 'no memory for a long payload: publishing fails and nothing changes' \
    '0 -12 service.name=small' \
    "$(call setlong long 5000) $(call publish) $(resource "$PID")"
same 'and nothing is left locked: a short one is published' \
    $'0 0\nservice.name=small\nshort=yes' \
    "$(call set long >/dev/null; call set short yes) $(call publish)
$(resource "$PID")"
same 'the same when nothing was published' '0 0 -12 no_context' \
    "$(call drop) $(call setlong long 5000) $(call publish) $(status "$PID")"
memory_left 0
same 'no memory for the page: publishing fails' '0 -12 no_context' \
    "$(call set long) $(call publish) $(status "$PID")"
prlimit --pid "$PID" --as=unlimited:
same 'and works again with the memory' '0 ok' "$(call publish) $(status "$PID")"
stop

# Before Linux 4.14 the kernel does not wipe memory on fork: the pid tells.
traced "madvise:error=EINVAL:when=$wipe"
again OTEL_SERVICE_NAME=parent
CHILD=$(call fork)
same 'MADV_WIPEONFORK refused: a forked child has a context of its own' \
    $'0 0 ok\nservice.name=parent\nin=child' \
    "$(call set in child) $(call publish) $(status "$PID")
$(resource "$CHILD")"
stop

# The size limit of files, for which ftruncate would be deadly.
# limited KIB COMMAND...
limited() {
    ulimit -f "$1"
    shift
    LD_PRELOAD=$SHIM exec "$@"
}
check 'RLIMIT_FSIZE of 0 kills nobody' limited 0 /bin/true
check 'RLIMIT_FSIZE below a page kills nobody' limited 3 /bin/true
background limited 4 sleep 600
check 'RLIMIT_FSIZE of a page allows a memfd' published "$PID"

done_testing
