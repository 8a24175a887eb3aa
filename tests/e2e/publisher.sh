#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A process that publishes a context of its own beside the shim: afterwards
# there is one, and it is the process's. And the prctl that this is noticed by.
#
publisher=$OTELCTX_PUBLISHER witness=$OTELCTX_WITNESS
prctls=$OTELCTX_PRCTLS linked=$OTELCTX_DRIVER_LINKED
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

ESTALE=-116
ONE=$SHIM # other lists of preloads have it, too
ID=00-0123456789abcdef0123456789abcdef-0123456789abcdef-01
YIELDED='info: another publisher is in this process: its process context counts, ours is withdrawn'
GLIBC=$DRIVER MUSL=$TMP/musl_driver

of_musl() {
    musl-gcc -I"$ROOT" "$@"
}
of_musl -o "$MUSL" "$ROOT/tests/e2e/hosts/driver.c"
of_musl -shared -fPIC -o "$TMP/musl_publisher.so" \
    "$ROOT/tests/e2e/hosts/publisher.c"
of_musl -shared -fPIC -o "$TMP/musl_witness.so" "$ROOT/tests/e2e/hosts/witness.c"

# contexts [PID]: the names in each that a reader sees, in order.
contexts() {
    "$READ" --json "${1-$PID}" 2>/dev/null |
        jq -r '.contexts // [] | .[] | .resource.attributes | map(
            select(.key == "other" or .key == "service.name") |
            .value.stringValue) | join("+")' | sort | paste -sd ' '
}
# mapped: how many mappings of $PID have the name, read or not.
mapped() {
    grep -c OTEL_CTX "/proc/$PID/maps" || :
}
# told: what the shim has said but for the publication at start.
told() {
    sed 's/^otelctx\[[0-9]*\]: //; /published a process context/d' "$TMP/stderr"
}

# on LIBC: the driver of it from here on.
on() {
    DRIVER=$GLIBC THEIRS=$publisher BEHIND=$witness
    [ "$1" = glibc ] ||
        DRIVER=$MUSL THEIRS=$TMP/musl_publisher.so BEHIND=$TMP/musl_witness.so
}

# ours [NAME=VALUE]...: a driver that the shim has published.
ours() {
    drive OTEL_SERVICE_NAME=ours OTELCTX_LOG_LEVEL=info \
        OTELCTX_ATTRIBUTE_KEYS=route "$@"
}

# yielded WHAT: the shim has, and acts so.
yielded() {
    same "$1: there is one context, theirs" 'publisher 1' \
        "$(contexts) $(mapped)"
    same "$1: what they wrote is as they wrote it" 0 "$(call theirs)"
    same "$1: publish, key and attr say so" "$ESTALE $ESTALE $ESTALE" \
        "$(call publish) $(call key other) $(call key route)"
    same "$1: threads are attached all the same, without attributes" \
        "0 $ESTALE 0 $ID" "$(call attach "$ID") $(call attr 0 /cart) $(call get)"
    same "$1: attributes are staged, and withdrawing does nothing" \
        '0 0 publisher' "$(call set a b) $(call drop) $(contexts)"
    same "$1: it is said once" "$YIELDED" "$(told)"
    same "$1: forked children are silent" "no_context $ESTALE no_context" \
        "$(in_child)"
}
in_child() {
    local child

    child=$(call fork)
    echo "$(status "$child") $(call publish) $(status "$child")"
}

for libc in glibc musl; do
    on $libc
    ours
    same "$libc: alone the shim is seen" 'ours 1' "$(contexts) $(mapped)"
    same "$libc: a name given through libc is noticed at once" '0 publisher 1' \
        "$(call other libc) $(contexts) $(mapped)"
    yielded "$libc, libc's prctl"
    stop

    ours
    same "$libc: a system call of theirs is not" '0 ours publisher' \
        "$(call other raw) $(contexts)"
    same "$libc: but at the next publication" "$ESTALE publisher" \
        "$(call publish) $(contexts)"
    yielded "$libc, a system call"
    stop

    ours
    call other raw >/dev/null
    CHILD=$(call fork)
    same "$libc: or at the next fork, and the child publishes nothing" \
        'publisher no_context' "$(contexts) $(status "$CHILD")"
    stop

    drive OTEL_SERVICE_NAME=ours
    same "$libc: nothing is printed unless it was asked for" "0 $ESTALE " \
        "$(call other libc) $(call publish) $(cat "$TMP/stderr")"
    stop

    ours OTELCTX_ON_OTHER_PUBLISHER=keep
    same "$libc: who wants both keeps both" '0 0 0 ours publisher' \
        "$(call other libc) $(call publish) $(call attach "$ID") $(contexts)"
    same "$libc: and nothing is said of it" '' "$(told)"
    stop

    ours OTELCTX_PUBLISH=configured OTEL_SERVICE_NAME= OTELCTX_ATTRIBUTE_KEYS=
    same "$libc: a silent shim that is to publish later does not" \
        "0 0 $ESTALE publisher" \
        "$(call other libc) $(call set a b) $(call publish) $(contexts)"
    stop

    # Who takes over the header that is there, or only names it.
    for how in libc raw; do
        ours
        same "$libc, $how: a header that they made theirs" '0 publisher 1' \
            "$(call repoint $how) $(contexts) $(mapped)"
        same "$libc, $how: is never written or unmapped again" \
            "$ESTALE 0 0 publisher 1" "$(call publish) $(call drop) $(
                call theirs) $(contexts) $(mapped)"
        stop
    done
    ours
    same "$libc: so is a page that they only named" "0 $ESTALE 0 0 ours 1" \
        "$(call rename libc) $(call publish) $(call drop) $(
            call theirs) $(contexts) $(mapped)"
    stop
done

# The moment of the naming, at which readers look: the prctl behind the shim's
# stops the process there.
stopped() {
    local tries

    for ((tries = 0; tries < 500; tries++)); do
        ! grep -q '^State:.*T (stopped)' "/proc/$PID/status" || return 0
        sleep 0.02
    done
    return 1
}
# at_naming CALL...: what readers see while the call names a mapping.
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
    same "$libc: when they name their mapping, ours is gone already" \
        '0 publisher 1' "$(at_naming other libc)"
    same "$libc: and when they name it again" '0 publisher 1' \
        "$(at_naming rename libc)"
    stop
    SHIM=$ONE:$BEHIND ours OTELCTX_ON_OTHER_PUBLISHER=keep
    same "$libc: unless both are to be kept" '0 ours publisher 2' \
        "$(at_naming other libc)"
    stop
done

# Before the shim's constructor: glibc runs that of the last preload first, musl
# that of the first one, and libraries that the program links before both.
# begun_by HOW: the context of the program, one call later.
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
        same "$order: a constructor that publishes" \
            "publisher, $ESTALE publisher 1" "$(begun_by libc)"
        contains "$order: and one past libc, at the first publication" \
            ", $ESTALE publisher 1" "$(begun_by raw)"
    done
    SHIM=$ONE
done
gcc -I"$ROOT" -o "$TMP/links" "$ROOT/tests/e2e/hosts/driver.c" \
    -Wl,--no-as-needed "$publisher"
of_musl -o "$TMP/musl_links" "$ROOT/tests/e2e/hosts/driver.c" \
    -Wl,--no-as-needed "$TMP/musl_publisher.so"
for DRIVER in "$TMP/links" "$TMP/musl_links"; do
    same "${DRIVER##*/}: the constructor of a library that it links" \
        "publisher, $ESTALE publisher 1" "$(begun_by libc)"
done

# Those past libc are looked for in the maps, in a thousandth of the time.
on glibc
# traced OPTION...: the driver, whose looks are traced.
traced() {
    {
        echo '#!/bin/sh'
        echo "exec strace -D -ttt -T -o '$TMP/trace' -e trace=openat,close \\"
        echo "    -P /proc/self/maps $* -E LD_PRELOAD='$SHIM' '$GLIBC'"
    } >"$TMP/traced"
    chmod +x "$TMP/traced"
    DRIVER=$TMP/traced SHIM='' drive OTEL_SERVICE_NAME=ours
}
looks() {
    grep -c openat "$TMP/trace" || :
}
# gaps: the shortest time from one look to the next, by the length of the first.
gaps() {
    awk '{took = substr($NF, 2) + 0}
        /openat/ {if (end) {gap = ($1 - begin) / (end - begin)
            if (!least || gap < least) least = gap}
            begin = $1}
        /close/ {end = $1 + took}
        END {print least >= 990 ? "999" : least}' "$TMP/trace"
}
traced
same 'at start nobody looks into the maps' 0 "$(looks)"
call publish >/dev/null
same 'at the first publication somebody does' 1 "$(looks)"
for ((updates = 1; updates < 20000 && $(looks) < 4; updates++)); do
    call publish >/dev/null
done
stop
check 'and later again' [ "$(looks)" -ge 4 ]
check 'but not at every one' [ "$updates" -gt "$(looks)" ]
same 'a look is followed by 999 times as long without' 999 "$(gaps)"
traced -e inject=openat:delay_exit=100000:when=1
SECONDS=0
while ((SECONDS < 20 && $(looks) < 2)); do
    call publish >/dev/null
done
same 'but by no more than ten seconds' 2 "$(looks)"
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
# copies: one context, which the calls change; and what is attached.
copies() {
    echo "$(contexts) $(mapped), $(call set a b) $(call publish) $(
        contexts) $(mapped), $(call attach "$ID") $(call get)"
    stop
}
same 'two copies: the one that stands back unmaps nothing' 1 "$(
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
        same "$libc: and are two no more in a child (${list##*/} last)" \
            'ours 1' "$(CHILD=$(call fork); contexts "$CHILD") $(
                PID=$(pgrep -P "$PID"); mapped)"
        stop
        SHIM=$list ours
        same "$libc: which yields as one (${list##*/} last)" \
            '0 publisher 1' "$(call other libc) $(contexts) $(mapped)"
        stop
    done
    DRIVER=$linked
    SHIM=$TMP/copy.so ours
    same "$libc: preloaded and linked" "$works" "$(copies)"
    linked=$TMP/musl_linked
    on $libc
    for open in open openlocal; do
        ours
        same "$libc: preloaded and opened ($open)" 0 "$(call $open "$TMP/copy.so")"
        same "$libc: they are one, too ($open)" "$works" "$(copies)"
        SHIM='' ours
        same "$libc: opened twice ($open), they are" "0 0 ours 1" "$(
            call $open "$ONE") $(call $open "$TMP/copy.so") $(
            contexts) $(mapped)"
        stop
        SHIM='' ours
        same "$libc: opened when they have published ($open), it is silent" \
            '0 0 publisher 1' "$(call other libc) $(
                call $open "$ONE") $(contexts) $(mapped)"
        stop
    done
    SHIM='' ours
    same "$libc: opened before that, it notices when it looks again" \
        "0 0 $ESTALE publisher 1" "$(call open "$ONE") $(
            call other libc) $(published_until_stale) $(contexts) $(mapped)"
    stop
done

# The prctl that is exported for all this.
of_musl -o "$TMP/musl_prctls" "$ROOT/tests/e2e/hosts/prctls.c"
for host in "$prctls" "$TMP/musl_prctls"; do
    same "${host##*/}: every call of prctl returns what it did" \
        "$("$host")" "$(LD_PRELOAD=$ONE "$host")"
done
for libc in glibc musl; do
    on $libc
    for option in FORK=republish FORK=drop INSTANCE_ID=generate; do
        ours OTELCTX_$option
        CHILD=$(call filter >/dev/null; call fork)
        same "$libc, $option: after a filter that came by prctl, children keep still and live" \
            "no_context ours 1" "$(status "$CHILD") $(contexts) $(call abi)"
        stop
    done
done

# gcc's thread sanitizer learns the names of threads by its own prctl.
cat >"$TMP/race.c" <<'END'
#include <pthread.h>
#include <sys/prctl.h>
static int shared;
static void *work(void *unused)
{
    prctl(PR_SET_NAME, "racing-thread");
    shared++;
    return unused;
}
int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, work, NULL);
    shared++;
    return pthread_join(thread, NULL);
}
END
gcc -fsanitize=thread -g -o "$TMP/race" "$TMP/race.c"
# raced [NAME=VALUE]...: what it says of threads, without addresses.
raced() {
    env "$@" setarch -R "$TMP/race" 2>&1 | grep -o "Thread T1 '[a-z-]*'" | sort -u
}
same "the thread sanitizer knows the names of threads" \
    "Thread T1 'racing-thread'" "$(raced LD_PRELOAD="$ONE")"

done_testing
