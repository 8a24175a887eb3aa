#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Another publisher in the process: the shim withdraws its own context. And the
# prctl that the shim exports to notice other publishers.
publisher=$OTELCTX_PUBLISHER witness=$OTELCTX_WITNESS
prctls=$OTELCTX_PRCTLS linked=$OTELCTX_DRIVER_LINKED
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

ESTALE=-116
ONE=$SHIM # other lists of preloads have it, too
ID=00-0123456789abcdef0123456789abcdef-0123456789abcdef-01
YIELDED='info: another publisher is in this process: its process context counts, ours is withdrawn'
RETURNED="info: the other publisher's process context is gone: ours is published again"
NAMING=$(naming)
GLIBC=$DRIVER MUSL=$TMP/musl_driver

of_musl() {
    musl-gcc -I"$ROOT" "$@"
}
of_musl -o "$MUSL" "$ROOT/tests/e2e/hosts/driver.c"
of_musl -shared -fPIC -o "$TMP/musl_publisher.so" \
    "$ROOT/tests/e2e/hosts/publisher.c"
of_musl -shared -fPIC -o "$TMP/musl_witness.so" "$ROOT/tests/e2e/hosts/witness.c"

# contexts [PID]: the service names of the contexts that a reader sees, sorted.
contexts() {
    "$READ" --json "${1-$PID}" 2>/dev/null |
        jq -r '.contexts // [] | .[] | .resource.attributes | map(
            select(.key == "other" or .key == "service.name") |
            .value.stringValue) | join("+")' | sort | paste -sd ' '
}
# mapped [PID]: counts the mappings with the name, valid contexts or not.
mapped() {
    grep -c OTEL_CTX "/proc/${1-$PID}/maps" || :
}
# at_last CONTEXTS [PID]: makes thread calls until the contexts are these, and prints
# the last ones seen.
at_last() {
    local tries seen

    for ((tries = 0; tries < 2000; tries++)); do
        call get >/dev/null
        seen=$(contexts "${2-$PID}")
        [ "$seen" != "$1" ] || break
    done
    echo "$seen"
}
# many CALL...: makes a call 64 times, one of which may ask the kernel.
many() {
    local made

    for ((made = 0; made < 64; made++)); do
        call "$@" >/dev/null
    done
}
# unprivileged: the driver, with no-new-privs.
unprivileged() {
    printf '#!/bin/sh\nexec setpriv --no-new-privs %s\n' "$DRIVER" >"$TMP/$libc.nnp"
    chmod +x "$TMP/$libc.nnp"
    echo "$TMP/$libc.nnp"
}
# told: the shim's messages, without that of the publication at start.
told() {
    sed 's/^otelctx\[[0-9]*\]: //; /published a process context/d' "$TMP/stderr"
}

# on LIBC: selects the driver of this libc.
on() {
    DRIVER=$GLIBC THEIRS=$publisher BEHIND=$witness
    [ "$1" = glibc ] ||
        DRIVER=$MUSL THEIRS=$TMP/musl_publisher.so BEHIND=$TMP/musl_witness.so
}

# ours [NAME=VALUE]...: starts the driver, whose context the shim publishes.
ours() {
    drive OTEL_SERVICE_NAME=ours OTELCTX_LOG_LEVEL=info \
        OTELCTX_ATTRIBUTE_KEYS=route "$@"
}

# yielded WHAT: the shim has yielded to the other publisher.
yielded() {
    same "$1: the other publisher's context is the only one" 'publisher 1' \
        "$(contexts) $(mapped)"
    same "$1: the shim does not write to the other context" 0 "$(call theirs)"
    same "$1: publish, key and attr return -ESTALE" "$ESTALE $ESTALE $ESTALE" \
        "$(call publish) $(call key other) $(call key route)"
    same "$1: threads can be attached, without attributes" \
        "0 $ESTALE 0 $ID" "$(call attach "$ID") $(call attr 0 /cart) $(call get)"
    same "$1: attributes are staged, and a drop does nothing" \
        '0 0 publisher' "$(call set a b) $(call drop) $(contexts)"
    same "$1: the shim prints it once" "$YIELDED" "$(told)"
    same "$1: a forked child, which has no other context, may publish" \
        "no_context 0 ours 1" "$(in_child)"
}
in_child() {
    local child

    child=$(call fork)
    echo "$(status "$child") $(call publish) $(contexts "$child") $(
        mapped "$child")"
}

for libc in glibc musl; do
    on $libc
    ours
    same "$libc: without another publisher a reader sees the shim" 'ours 1' \
        "$(contexts) $(mapped)"
    same "$libc: the shim notices a mapping named by libc's prctl at once" '0 publisher 1' \
        "$(call other libc) $(contexts) $(mapped)"
    yielded "$libc, libc's prctl"
    stop

    ours
    same "$libc: the shim does not notice a raw system call" '0 ours publisher' \
        "$(call other raw) $(contexts)"
    same "$libc: the shim notices that publisher at its next publication" "$ESTALE publisher" \
        "$(call publish) $(contexts)"
    yielded "$libc, a system call"
    stop

    ours
    call other raw >/dev/null
    CHILD=$(call fork)
    same "$libc: a fork does not look for publishers, and the child has one context" \
        'ours publisher, ours' "$(contexts), $(contexts "$CHILD")"
    stop

    # A second after the start, the first thread call looks for other publishers.
    ours
    call other raw >/dev/null
    same "$libc: a thread call finds another publisher a second after the start" \
        'publisher 1' "$(at_last publisher) $(mapped)"
    yielded "$libc, a thread call"
    stop

    ours
    call other raw >/dev/null
    CHILD=$(call fork)
    same "$libc: a child that makes a raw system call in that second has two contexts" \
        '0 ours publisher' "$(call other raw) $(contexts "$CHILD")"
    same "$libc: after a thread call such a child has the other context only" \
        'publisher 1' "$(at_last publisher "$CHILD") $(mapped "$CHILD")"
    stop

    # Later on, so do the thread calls that are not among the most frequent ones.
    ours
    sleep 1.1
    same "$libc: a second after the start, the shim's context is the only one" ours "$(
        many get; contexts)"
    for again in 'attr 0 /cart' 'unset 0' "attach $ID" pin "init $ID" 'recordattr 0 x'; do
        call other libc >/dev/null
        call gone >/dev/null
        # shellcheck disable=SC2086 # the call and its arguments
        same "$libc: when the other context is gone, '${again%% *}' publishes again" \
            'ours 1' "$(many $again; contexts) $(mapped)"
    done
    stop

    # Under inherited no-new-privs a program installs a filter unseen.
    for storage in tls ring profiler tls,ring off; do
        DRIVER=$(unprivileged) ours OTELCTX_THREAD_STORAGE=$storage
        call filter raw >/dev/null
        sleep 1.1
        same "$libc, $storage: no thread call makes a system call that a filter might kill for" \
            1 "$(many get; many attach "$ID"; many detach; call abi)"
        stop
    done

    # The rule: the shim yields to a mapping that a reader would take for a context,
    # as long as that mapping exists.
    for how in libc raw; do
        ours
        call other $how >/dev/null
        call publish >/dev/null
        CHILD=$(call fork)
        same "$libc, $how: a child that does not inherit the other context has the shim's" \
            'ours 1' "$(contexts "$CHILD") $(mapped "$CHILD")"
        stop

        ours
        call other $how >/dev/null
        call publish >/dev/null
        same "$libc, $how: when the other context is gone, the next call publishes again" \
            '0 0 ours 1' "$(call gone) $(call publish) $(contexts) $(mapped)"
        same "$libc, $how: then keys and attributes work again" "1 0 0" \
            "$(call key other) $(call attach "$ID") $(call attr 1 /cart)"
        same "$libc, $how: the shim prints both changes" "$YIELDED
$RETURNED" "$(told)"
        same "$libc, $how: the shim yields a second time" '0 publisher 1' \
            "$(call other libc) $(contexts) $(mapped)"
        stop

        ours
        call other $how >/dev/null
        call publish >/dev/null
        call gone >/dev/null
        CHILD=$(call fork)
        same "$libc, $how: a child has the shim's context before the parent's next call" \
            'ours 1' "$(contexts "$CHILD") $(mapped "$CHILD")"
        stop

        for again in 'set a b' 'extra a b' 'key other' dumpable; do
            ours
            call other $how >/dev/null
            call publish >/dev/null
            call gone >/dev/null
            # shellcheck disable=SC2086 # the call and its arguments
            call $again >/dev/null
            same "$libc, $how: when the other context is gone, '$again' publishes again" \
                'ours 1' "$(contexts) $(mapped)"
            stop
        done

        ours
        call other $how >/dev/null
        call publish >/dev/null
        call gone >/dev/null
        parent=$PID
        CHILD=$(call fork)
        same "$libc, $how: when it is gone, a fork gives parent and child the shim's" \
            'ours 1, ours 1' "$(contexts $parent) $(mapped $parent), $(
                contexts "$CHILD") $(mapped "$CHILD")"
        stop

        ours
        same "$libc, $how: another publisher may reuse and unmap the shim's mapping" \
            '0 0 0 ours 1' "$(call repoint $how) $(call gone) $(call publish) $(
                contexts) $(mapped)"
        stop

        ours
        same "$libc, $how: the shim does not yield to a mapping that has only the name" \
            '0 0 ours 0' "$(call stray $how) $(call publish) $(
                contexts) $(call theirs)"
        same "$libc, $how: for such a mapping nothing is printed" '' "$(told)"
        stop

        if [ "$NAMING" = no ]; then
            ours
            same "$libc, $how: a publisher whose naming fails changes nothing" \
                '0 ours 1 0 ours' "$(call vain $how) $(contexts) $(mapped) $(
                    call publish) $(contexts)"
            CHILD=$(call fork)
            same "$libc, $how: a child has the shim's context then" 'ours' "$(contexts "$CHILD")"
            stop
        fi
    done

    ours
    call other libc >/dev/null
    same "$libc: the shim does not publish again under a filter that might kill" \
        "0 0 $ESTALE $ESTALE 1" "$(call filter) $(call gone) $(
            call publish) $(call key other) $(call abi)"
    stop

    drive OTEL_SERVICE_NAME=ours
    same "$libc: by default nothing is printed" "0 $ESTALE " \
        "$(call other libc) $(call publish) $(cat "$TMP/stderr")"
    stop

    ours OTELCTX_ON_OTHER_PUBLISHER=keep
    same "$libc: OTELCTX_ON_OTHER_PUBLISHER=keep keeps both" '0 0 0 ours publisher' \
        "$(call other libc) $(call publish) $(call attach "$ID") $(contexts)"
    same "$libc: OTELCTX_ON_OTHER_PUBLISHER=keep prints nothing" '' "$(told)"
    stop

    ours OTELCTX_PUBLISH=configured OTEL_SERVICE_NAME= OTELCTX_ATTRIBUTE_KEYS=
    same "$libc: a silent shim does not publish beside another publisher" \
        "0 0 $ESTALE publisher" \
        "$(call other libc) $(call set a b) $(call publish) $(contexts)"
    stop

    # Publishers that reuse the shim's header, or only name its mapping.
    for how in libc raw; do
        ours
        same "$libc, $how: a reader sees a header that another publisher reuses" '0 publisher 1' \
            "$(call repoint $how) $(contexts) $(mapped)"
        same "$libc, $how: the shim never writes to or unmaps a reused header" \
            "$ESTALE 0 0 publisher 1" "$(call publish) $(call drop) $(
                call theirs) $(contexts) $(mapped)"
        stop
    done
    ours
    same "$libc: the shim never writes to or unmaps a page that another one named" "0 $ESTALE 0 0 ours 1" \
        "$(call rename libc) $(call publish) $(call drop) $(
            call theirs) $(contexts) $(mapped)"
    stop
done

# Readers that hook the naming look at that moment. A second prctl, behind the
# shim's, stops the process there.
stopped() {
    local tries

    for ((tries = 0; tries < 5000; tries++)); do
        ! grep -q '^State:.*[Tt] (' "/proc/$PID/status" || return 0
        sleep 0.02
    done
    return 1
}
# at_naming CALL...: what a reader sees while CALL names a mapping.
at_naming() {
    local seen result

    echo "$*" >&"$calls"
    stopped
    seen="$(contexts) $(mapped)"
    kill -CONT "$PID"
    read -r result <&"$results"
    echo "${result#* } $seen"
}
for libc in glibc musl; do
    on $libc
    SHIM=$ONE:$BEHIND ours
    same "$libc: when another publisher names its mapping, the shim's is gone" \
        '0 publisher 1' "$(at_naming other libc)"
    same "$libc: when it names the mapping again, the shim's is gone, too" '0 publisher 1' \
        "$(at_naming rename libc)"
    stop
    SHIM=$ONE:$BEHIND ours OTELCTX_ON_OTHER_PUBLISHER=keep
    same "$libc: with OTELCTX_ON_OTHER_PUBLISHER=keep both are there" '0 ours publisher 2' \
        "$(at_naming other libc)"
    stop
done

# A withdrawal names the mapping once more, when it is no context any more, so
# that readers that hook the naming look then, too.
naming_calls() {
    strace -e trace=prctl -E LD_PRELOAD="$SHIM" "$GLIBC" 2>&1 </dev/null |
        grep -c ^prctl
}
{
    echo '#!/bin/sh'
    echo "exec strace -D -o '$TMP/trace' -e trace=prctl,munmap \\"
    echo "    -e inject=prctl:signal=SIGSTOP:when=$(($(naming_calls) + 1)) \\"
    echo "    -E LD_PRELOAD='$SHIM' '$GLIBC'"
} >"$TMP/stopping"
chmod +x "$TMP/stopping"
DRIVER=$TMP/stopping SHIM='' drive OTEL_SERVICE_NAME=ours
# Not stopped(): a traced process stops at each of its system calls.
trace_stopped() {
    local tries

    for ((tries = 0; tries < 5000; tries++)); do
        ! grep -q 'stopped by SIGSTOP' "$TMP/trace" || return 0
        sleep 0.02
    done
    return 1
}
same 'a drop names the invalid context before it unmaps it' \
    '0 invalid_context 1' "$(
        echo drop >&"$calls"
        trace_stopped
        seen="$(status "$PID") $(mapped)"
        kill -CONT "$PID"
        read -r result <&"$results"
        echo "${result#* } $seen")"
stop
same 'naming and unmapping are the last two system calls of a drop' 'prctl munmap' \
    "$(sed -n 's/^\(prctl\|munmap\)(.*/\1/p' "$TMP/trace" | tail -n 2 |
        paste -sd ' ')"

# Publishers before the shim's constructor: glibc runs the constructor of the last
# preload first, musl that of the first one, and both run those of linked libraries
# before.
# begun_by HOW: the contexts at start and after one call.
begun_by() {
    ours PUBLISHER="$1"
    echo "$(contexts), $(call publish) $(contexts) $(mapped)"
    stop
}
for libc in glibc musl; do
    on $libc
    for list in "$THEIRS:$ONE" "$ONE:$THEIRS"; do
        order="$libc, ${list##*/} last"
        SHIM=$list
        same "$order: the shim yields to a constructor that uses libc's prctl" \
            "publisher, $ESTALE publisher 1" "$(begun_by libc)"
        contains "$order: the shim yields to a raw system call at its first publication" \
            ", $ESTALE publisher 1" "$(begun_by raw)"
    done
    SHIM=$ONE
done
gcc -I"$ROOT" -o "$TMP/links" "$ROOT/tests/e2e/hosts/driver.c" \
    -Wl,--no-as-needed "$publisher"
of_musl -o "$TMP/musl_links" "$ROOT/tests/e2e/hosts/driver.c" \
    -Wl,--no-as-needed "$TMP/musl_publisher.so"
for DRIVER in "$TMP/links" "$TMP/musl_links"; do
    same "${DRIVER##*/}: the shim yields to the constructor of a linked library" \
        "publisher, $ESTALE publisher 1" "$(begun_by libc)"
done

# The shim looks into the maps for publishers that do not call libc's prctl, in at
# most a thousandth of the time.
on glibc
# traced OPTION...: starts the driver, with a trace of its looks into the maps.
traced() {
    {
        echo '#!/bin/sh'
        echo "exec strace -D -ttt -T -o '$TMP/trace' -e trace=openat,close \\"
        echo "    -P /proc/self/maps $* -E LD_PRELOAD='$SHIM' '$GLIBC'"
    } >"$TMP/traced"
    chmod +x "$TMP/traced"
    DRIVER=$TMP/traced SHIM='' drive OTELCTX_PUBLISH="$published"
}
looks() {
    grep -c openat "$TMP/trace" || :
}
# gaps: the smallest ratio of the time from one look to the next to the duration of
# the first. A look so long that the pause would exceed ten seconds does not count.
gaps() {
    awk '{took = substr($NF, 2) + 0}
        /openat/ {if (end && end - begin < 0.01) {gap = ($1 - begin) / (end - begin)
            if (!least || gap < least) least = gap}
            begin = $1}
        /close/ {end = $1 + took}
        END {print (least >= 990 ? "999" : least)}' "$TMP/trace"
}
# A shim that publishes at start looks a second later, once.
published=always traced
same 'at start the shim does not look into the maps' 0 "$(looks)"
for ((calls_made = 0; calls_made < 20000 && $(looks) < 1; calls_made++)); do
    call get >/dev/null
done
same 'a second after the start a thread call looks into the maps' 1 "$(looks)"
for ((calls_made = 0; calls_made < 500; calls_made++)); do
    call get >/dev/null
done
same 'later thread calls do not look into the maps' 1 "$(looks)"
stop
published=configured
traced
same 'a silent start does not look into the maps' 0 "$(looks)"
call publish >/dev/null
same 'the first publication looks into the maps' 1 "$(looks)"
for ((updates = 1; updates < 20000 && $(looks) < 4; updates++)); do
    call publish >/dev/null
done
stop
check 'later publications look again' [ "$(looks)" -ge 4 ]
check 'not every publication looks' [ "$updates" -gt "$(looks)" ]
same 'the pause after a look is at least 999 times as long as the look' 999 "$(gaps)"
traced -e inject=openat:delay_exit=100000:when=1
SECONDS=0
while ((SECONDS < 20 && $(looks) < 2)); do
    call publish >/dev/null
done
same 'the pause after a look is at most ten seconds' 2 "$(looks)"
stop

published_until_stale() {
    local tries result=0

    for ((tries = 0; tries < 20000 && result == 0; tries++)); do
        result=$(call publish)
    done
    echo "$result"
}

# Two copies of the shim.
cp "$ONE" "$TMP/copy.so"
works="ours 1, 0 0 ours 1, 0 0 $ID"
# copies: the contexts before and after two calls, and the attached ids.
copies() {
    echo "$(contexts) $(mapped), $(call set a b) $(call publish) $(
        contexts) $(mapped), $(call attach "$ID") $(call get)"
    stop
}
same 'two copies: the second one, which does nothing, unmaps nothing' 1 "$(
    strace -E LD_PRELOAD="$TMP/copy.so:$ONE" -e trace=munmap true 2>&1 |
        grep -c ^munmap)"
of_musl -DOTELCTX_LINK -o "$TMP/musl_linked" "$ROOT/tests/e2e/hosts/driver.c" \
    "$ONE"
for libc in glibc musl; do
    for list in "$TMP/copy.so:$ONE" "$ONE:$TMP/copy.so"; do
        on $libc
        SHIM=$list ours
        same "$libc: two copies make one context (${list##*/} last)" \
            "$works" "$(copies)"
        SHIM=$list ours
        same "$libc: two copies make one context in a child (${list##*/} last)" \
            'ours 1' "$(CHILD=$(call fork); contexts "$CHILD") $(
                mapped "$(pgrep -P "$PID")")"
        stop
        SHIM=$list ours
        same "$libc: two copies yield to another publisher (${list##*/} last)" \
            '0 publisher 1' "$(call other libc) $(contexts) $(mapped)"
        stop
    done
    DRIVER=$linked
    SHIM=$TMP/copy.so ours
    same "$libc: a preloaded and a linked copy make one context" "$works" "$(copies)"
    linked=$TMP/musl_linked
    on $libc
    for open in open openlocal; do
        ours
        same "$libc: a second copy can be opened ($open)" 0 "$(call $open "$TMP/copy.so")"
        same "$libc: a preloaded and an opened copy make one context ($open)" "$works" "$(copies)"
        SHIM='' ours
        same "$libc: two opened copies make one context ($open)" "0 0 ours 1" "$(
            call $open "$ONE") $(call $open "$TMP/copy.so") $(
            contexts) $(mapped)"
        stop
        SHIM='' ours
        same "$libc: opened beside another publisher ($open), the shim is silent" \
            '0 0 publisher 1' "$(call other libc) $(
                call $open "$ONE") $(contexts) $(mapped)"
        stop
    done
    SHIM='' ours
    same "$libc: an opened shim notices a publisher when it looks into the maps" \
        "0 0 $ESTALE publisher 1" "$(call open "$ONE") $(
            call other libc) $(published_until_stale) $(contexts) $(mapped)"
    stop
done

# A copy in a link-map namespace of its own, without a libc, and with a libc and so
# a prctl of its own.
cat >"$TMP/dlmopen.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    puts(argc == 2 && dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW) ? "opened"
                                                              : dlerror());
    fflush(stdout);
    return pause();
}
END
gcc -o "$TMP/dlmopen" "$TMP/dlmopen.c"
gcc -shared -o "$TMP/needs.so" -Wl,--no-as-needed "$ONE" -Wl,-rpath,"${ONE%/*}"
for list in "$ONE" "$TMP/needs.so"; do
    stay OTEL_SERVICE_NAME=ours "$TMP/dlmopen" "$list" >"$TMP/opened"
    until [ -s "$TMP/opened" ]; do sleep 0.02; done
    same "a copy that dlmopen loads makes no second context (${list##*/})" \
        'opened ours 1' "$(<"$TMP/opened") $(contexts) $(mapped)"
    kill "$PID"
    rm "$TMP/opened"
done

# restored: publishes until a reader finds the context again.
restored() {
    local tries

    for ((tries = 0; tries < 20000; tries++)); do
        [ "$(call publish)" = 0 ] || break
        [ "$(mapped)" = 0 ] || break
    done
    echo "$(contexts) $(mapped)"
}
on glibc
if [ "$NAMING" = no ]; then
    ours
    same 'the shim replaces a mapping that a checkpointer restored without its name' \
        '0 0, ours 1' "$(call restore) $(mapped), $(restored)"
    stop
fi

# The exported prctl.
of_musl -o "$TMP/musl_prctls" "$ROOT/tests/e2e/hosts/prctls.c"
for host in "$prctls" "$TMP/musl_prctls"; do
    same "${host##*/}: every call of prctl returns the same as libc's" \
        "$("$host")" "$(LD_PRELOAD=$ONE "$host")"
done
for libc in glibc musl; do
    on $libc
    for option in FORK=republish FORK=drop INSTANCE_ID=generate; do
        ours OTELCTX_$option
        CHILD=$(call filter >/dev/null; call fork)
        same "$libc, $option: after a filter of prctl, children publish nothing and live" \
            "no_context ours 1" "$(status "$CHILD") $(contexts) $(call abi)"
        stop
    done
done

# gcc's thread sanitizer learns the names of threads by its own prctl. It may miss
# two accesses at the same time, so the threads make many.
cat >"$TMP/race.c" <<'END'
#include <pthread.h>
#include <sys/prctl.h>
static int shared;
static void *work(void *unused)
{
    prctl(PR_SET_NAME, "racing-thread");
    for (int i = 0; i < 1000; i++)
        shared++;
    return unused;
}
int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, work, NULL);
    for (int i = 0; i < 1000; i++)
        shared++;
    return pthread_join(thread, NULL);
}
END
gcc -fsanitize=thread -g -o "$TMP/race" "$TMP/race.c"
# raced [NAME=VALUE]...: the threads in the sanitizer's report.
raced() {
    env "$@" setarch -R "$TMP/race" 2>&1 | grep -o "Thread T1 '[a-z-]*'" | sort -u
}
same "the thread sanitizer knows the names of threads" \
    "Thread T1 'racing-thread'" "$(raced LD_PRELOAD="$ONE")"

done_testing
