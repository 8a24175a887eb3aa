#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Restricted processes: each sentence begins with the restriction. faults.sh
# makes the shim's system calls fail one by one, containers.sh has runc and
# podman, hazards_loading.sh restricts the shim's own file.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
cd "$TMP"
# Copies for users who cannot read the build folder.
chmod 711 .
install "$SHIM" shim.so
install "$DRIVER" driver
SHIM=$TMP/shim.so DRIVER=$TMP/driver

PARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01

start() {
    within "$@" env LD_PRELOAD="$SHIM" OTELCTX_LOG_LEVEL=warn "$DRIVER"
}

# serves NAME [PID]: the started driver has both contexts.
serves() {
    local pid=${2:-$PID}

    same "$1: published, and every call works" \
        "1 0 0 0 b ${PARENT:3:32}" \
        "$ABI $(call set a b) $(call publish) $(call attach $PARENT) $(
            resource "$pid" | sed -n 's/^a=//p') $(
            "$READ" --json --threads "$pid" | jq -r '.threads[0].trace_id')"
    same "$1: nothing is printed" '' "$(cat stderr)"
    stop
}

# Limits.
start prlimit --memlock=0
serves 'RLIMIT_MEMLOCK of 0'
start setpriv --no-new-privs --reuid 65534 --regid 65534 --clear-groups \
    --inh-caps=-all --bounding-set=-all
serves 'no new privileges, no capabilities'
install -m 711 "$DRIVER" unreadable
DRIVER=$TMP/unreadable start setpriv --reuid 65534 --regid 65534 --clear-groups
serves 'an executable that its user cannot read'

# Without a memfd the shim publishes a named anonymous mapping, or nothing.
EINVAL=-22 ENOMEM=-12
unnamed=0
[ "$(naming)" = yes ] || unnamed=$EINVAL

# seen PID RESULT: the attribute "a" in the context of PID; RESULT, which
# otelctx_process_publish() returned, says whether there should be one.
seen() {
    local status

    status=$(status "$1")
    case $2,$status in
    0,ok) resource "$1" | sed -n 's/^a=//p' ;;
    0,* | *,ok) echo "$2, but $status" ;;
    *) echo nothing ;;
    esac
}
# changes RESULT: makes every call in the driver and in a child; publishing
# should return RESULT. `changed` prints what the calls should return.
changes() {
    local child

    echo "$(call drop) $(call set a b) $(call publish) $(seen "$PID" "$1")"
    call fork >/dev/null
    child=$(pgrep -P "$PID") # not from the driver: getpid may be forbidden
    echo "$(seen "$child" "$1") $(call set a c) $(call publish) $(
        seen "$child" "$1")"
}
changed() {
    if [ "$1" = 0 ]; then
        printf '%s\n' '0 0 0 b' 'b 0 0 c'
    else
        printf '%s\n' "0 0 $1 nothing" "nothing 0 $1 nothing"
    fi
}
# exhausted WHAT RESULT LIMIT: nothing of WHAT is left, so publishing returns
# RESULT; `prlimit LIMIT` gives the child some again.
exhausted() {
    same "$1: the driver and a child live, and every call has the right result" \
        "$(changed "$2")" "$(changes "$2")"
    prlimit --pid "$(pgrep -P "$PID")" "$3"
    same "$1: the child publishes when there is some again" '0 c' \
        "$(call publish) $(seen "$(pgrep -P "$PID")" 0)"
    same "$1: nothing is printed" '' "$(cat stderr)"
    stop
}
drive
prlimit --pid "$PID" --nofile=3:
exhausted 'no descriptor left' "$unnamed" --nofile=64:
drive
memory_left -65536
exhausted 'no memory left' $ENOMEM --as=unlimited:

# A stderr that is a full pipe; programs.sh and faults.sh have other kinds.
mkfifo full
exec {full}<>full
dd if=/dev/zero bs=64K oflag=nonblock status=none >full 2>/dev/null || :
full() {
    timeout 120 env OTELCTX_PUBLISH=wrong LD_PRELOAD="$SHIM" /bin/true \
        2>full
}
check 'stderr, a full pipe: the program does not wait' full
exec {full}>&-

# Seccomp. The system calls that a command makes without the shim, and those
# that the manual says the shim makes.
own() {
    strace -f -o own.trace "$@" >/dev/null
    sed -n 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1/p' own.trace | sort -u
}
listed() {
    sed -n '/^A seccomp filter/,/^Where/p' "$ROOT/shim/libotelctx_preload.7" |
        tr '\n' ' ' |
        sed 's/.* the shim makes: \([^;]*\);.*/\1/; s/ and / /; s/,//g'
}

seq 100 >lines
mapfile -t OWN < <(own env sort lines)
for action in kill trap; do
    around=("$FILTERED" allow "$action" "${OWN[@]}" --)
    export OTELCTX_DISABLED=true
    unchanged "seccomp, $action at all but the program's own calls: with the shim disabled it runs" \
        sort lines
    unset OTELCTX_DISABLED
    both sort lines 2>/dev/null
    same "seccomp, $action at all but the program's own calls: with the shim enabled it dies" \
        '0 159' "$(paste -d ' ' plain.status preloaded.status)"
done
around=()
mapfile -t OWN < <(own env "$DRIVER" <<<abi; listed | tr ' ' '\n')
start "$FILTERED" allow kill "${OWN[@]}" read futex --
serves 'seccomp, kill at all calls that the manual does not list'

# All calls that the manual lists, except those without which no program starts.
mapfile -t REFUSED < <(
    sed -n '/^the shim makes:/,/^Where/p' "$ROOT/shim/libotelctx_preload.7" |
        tr ' ,;.' '\n' | grep -Fx -f <(echo '#include <sys/syscall.h>' |
            gcc -E -dM - | sed -n 's/^#define SYS_\([a-z0-9_]*\) .*/\1/p') |
        sort -u |
        grep -Evx 'openat|mmap|mprotect|fstat|read|write|close|futex'
)
check 'seccomp: the manual lists 14 calls that a program can run without' \
    [ ${#REFUSED[@]} -ge 14 ]
# published_without CALL ERROR: the result of publishing when CALL fails with
# ERROR.
published_without() {
    case $1 in
    *madvise*) echo "-$2" ;;
    memfd_create | ftruncate | prlimit64) echo "$unnamed" ;;
    *) echo 0 ;;
    esac
}
for err in EPERM:1 ENOSYS:38; do
    for call in "${REFUSED[@]}" "${REFUSED[*]}"; do
        # shellcheck disable=SC2086 # words on purpose
        within "$FILTERED" refuse "${err#*:}" $call -- env LD_PRELOAD="$SHIM" \
            OTELCTX_LOG_LEVEL=info OTELCTX_INSTANCE_ID=generate \
            OTELCTX_EXCLUDE_PATHS=/nowhere "$DRIVER"
        result=$(published_without "$call" "${err#*:}")
        same "seccomp, ${err%:*} for $call: the driver and a child live, and every call has the right result" \
            "$(changed "$result")" "$(changes "$result")"
        stop
    done
done

NEEDED=(memfd_create prctl madvise prlimit64 ftruncate clock_gettime)
for err in EPERM:1 ENOSYS:38; do
    for call in "${NEEDED[@]}" "${NEEDED[*]}"; do
        around=("$FILTERED" refuse "${err#*:}")
        # shellcheck disable=SC2206 # words on purpose
        around+=($call --)
        unchanged "seccomp, ${err%:*} for $call: the program does not notice" \
            bash -c 'sort -r lines | md5sum; exit 7'
    done
    around=()
    start "$FILTERED" refuse "${err#*:}" "${NEEDED[@]}" --
    same "seccomp, ${err%:*} for all of these: the shim prints one warning" \
        "otelctx[PID]: warn: cannot publish the process context: madvise (errno ${err#*:})" \
        "$(sed 's/\[[0-9]*\]/[PID]/' stderr)"
    same "seccomp, ${err%:*} for all of these: thread contexts work" \
        "1 0 0 ${PARENT}" "$ABI $(call set a b) $(call attach $PARENT) $(
            call get | cut -d ' ' -f 2)"
    stop
    for call in prctl clock_gettime; do
        start "$FILTERED" refuse "${err#*:}" $call --
        serves "seccomp, ${err%:*} for $call"
    done
done

can_mount || {
    skip 'namespaces' 'machine: no mount namespaces'
    done_testing
}

# Namespaces. There the program is a child of unshare.
child() {
    pgrep -P "$PID"
}
if [ -e /proc/sys/vm/memfd_noexec ]; then
    sealed="echo 2 >/proc/sys/vm/memfd_noexec && exec env LD_PRELOAD=$SHIM"
    same 'vm.memfd_noexec of 2: an executable memfd is refused' 13 \
        "$(unshare -pf --mount-proc sh -c "$sealed \"\$@\"" sh \
            python3 -c '
import os
try:
    os.memfd_create("x", 0x10)  # MFD_EXEC
except OSError as refused:
    print(refused.errno)')"
    within unshare -pf --mount-proc sh -c "'$sealed $DRIVER'"
    serves 'vm.memfd_noexec of 2' "$(child)"
else
    skip 'vm.memfd_noexec of 2' 'machine: its kernel has no vm.memfd_noexec'
fi
# mid_run WHAT: see mid_run.py.
mid_run() {
    unshare -pf --mount-proc env LD_PRELOAD="$SHIM" OTELCTX_THREAD_STORAGE=tls,ring \
        python3 "$ROOT/tests/e2e/library/mid_run.py" "$1"
}
same 'a pid that the kernel uses again: each child has contexts of its own' '0 True' \
    "$(mid_run recycled_pids)"
same 'setresuid in between: the process and its children serve on' '0 True' \
    "$(mid_run setresuid)"
start unshare --user --map-root-user
serves 'a user namespace'
within unshare -m sh -c "'mount -t tmpfs none /proc &&
    exec env LD_PRELOAD=$SHIM OTELCTX_EXCLUDE_PATHS=/nowhere/x $DRIVER'"
serves 'no /proc'
start bwrap --unshare-all --as-pid-1 --ro-bind / / --dev /dev
serves 'bwrap, with a read-only root and no /proc of its own' "$(child)"
unchanged 'bwrap, with the shim inside and out' \
    bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc \
    bash -c 'readlink /proc/self/exe; touch /x; exit 5'

done_testing
