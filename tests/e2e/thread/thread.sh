#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The thread contexts of running programs, read from outside: the keys in the
# process context, what threads start with, and every way to reach the functions.
#
crowd=$OTELCTX_CROWD linked=$OTELCTX_DRIVER_LINKED
exports=$OTELCTX_SHARER_EXPORTS
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

# From the first call on, thread calls take their fast paths: see
# shim/start/watch.h.
export OTELCTX_ON_OTHER_PUBLISHER=keep

EINVAL=-22 ENOENT=-2 ENOSPC=-28 ENOSYS=-38 EOPNOTSUPP=-95
trace=4bf92f3577b34da6a3ce929d0e0e4736 span=00f067aa0ba902b7
other_trace=0af7651916cd43dd8448eb211c80319c other_span=b7ad6b7169203331
parent=00-$trace-$span-01
other=00-$other_trace-$other_span-00

# keys: the map that readers see, in the order of the indexes.
keys() {
    "$READ" --json "$PID" | jq -r '.contexts[0].extra_attributes[]
        | select(.key == "threadlocal.attribute_key_map")
        | [.value.arrayValue.values[].stringValue] | join("|")'
}
schema() {
    "$READ" --json "$PID" | jq -r '.contexts[0].extra_attributes[]
        | select(.key == "threadlocal.schema_version").value.stringValue'
}
published_at() {
    "$READ" --json "$PID" | jq -r '.contexts[0].header.published_at_ns'
}
payload_size() {
    "$READ" --json "$PID" | jq -r '.contexts[0].header.payload_size'
}

# seen: a line for each thread, the oldest first: its status and its context.
seen() {
    "$READ" --json --threads "$PID" | jq -r '.threads | sort_by(.tid)[]
        | [.status, .trace_id // empty, .span_id // empty,
           .trace_flags // empty, (.attributes[]?
               | "\(.key)=\(.value.stringValue)")] | join(" ")'
}

# in_thread: a new thread of the driver makes the calls from here on, until `call
# join`.
in_thread() {
    # shellcheck disable=SC2154 # drive has opened it
    echo thread >&"$calls"
}

# errors: the messages of the shim, without the pid.
errors() {
    sed 's/^otelctx\[[0-9]*\]: //' "$TMP/stderr"
}
long() { head -c "$1" /dev/zero | tr '\0' x; }

# By protoc: extra_attributes is field 2 of process_context.proto.
contains 'extra_attributes are field 2 of ProcessContext' \
    'KeyValue extra_attributes = 2;' "$(cat "$PROTO_DIR/process_context.proto")"

# The process context.

service='resource { attributes { key: "service.name" value { string_value: "s" } } }'
version='extra_attributes { key: "threadlocal.schema_version" value { string_value: "tlsdesc_v1_dev" } }'
map='extra_attributes { key: "threadlocal.attribute_key_map" value { array_value {'
drive OTEL_SERVICE_NAME=s
same 'at start the schema and an empty map are in field 2' \
    "$service $version $map } } } " "$(protoc_says | tr -s ' \n' ' ')"
same 'the indexes of keys count from 0' '0 1' \
    "$(call key http.route) $(call key http.request.method)"
same 'keys are published before the call returns' \
    "$service $version $map values { string_value: \"http.route\" } values { string_value: \"http.request.method\" } } } } " \
    "$(protoc_says | tr -s ' \n' ' ')"
before=$(published_at)
same 'a known key has the same index again' '1 0' \
    "$(call key http.request.method) $(call key http.route)"
same 'a known key is not published again' "$before" "$(published_at)"

same 'a new key does not publish staged attributes' \
    '0 0 2 service.name=s  http.route|http.request.method|user.id' \
    "$(call set staged v) $(call extra beside v) $(call key user.id) $(
        resource "$PID") $(extra "$PID") $(keys)"
same 'the next publication has the staged attributes and the keys' \
    '0 service.name=s staged=v beside=v http.route|http.request.method|user.id' \
    "$(call publish) $(resource "$PID" | paste -sd ' ') $(extra "$PID") $(keys)"
same 'an invalid key is refused' "$EINVAL $EINVAL $EINVAL" \
    "$(call key) $(call key "''") $(call key $'a\xff')"
same 'an invalid key changes nothing' 'http.route|http.request.method|user.id' "$(keys)"
stop

drive
first=$(for i in {0..127}; do call key "key.$i"; done)
half=$(keys)
second=$(for i in {128..255}; do call key "key.$i"; done)
same 'there may be 256 keys' "$(seq 0 255)" "$first
$second"
same 'each key is appended to the others' \
    "$(seq -f 'key.%.0f' 0 127 | paste -sd '|')
$(seq -f 'key.%.0f' 0 255 | paste -sd '|')" "$half
$(keys)"
before=$(published_at)
same 'the 257th is refused' "$ENOSPC $ENOSPC" \
    "$(call key one.too.many) $(call key one.too.many)"
same 'a refused key changes nothing' "$before 0 255 0 0" \
    "$(published_at) $(call key key.0) $(call key key.255) $(
        call attach "$parent") $(call attr 255 last)"
same 'a reader sees an attribute of the last key' \
    "attached $trace $span 1 key.255=last" "$(seen)"
stop

drive OTEL_SERVICE_NAME=s
call setlong long 65000 >/dev/null
call publish >/dev/null
room=$((65536 - $(payload_size)))
before=$(resource "$PID") at=$(published_at)
# The overhead: the tags and lengths of a value and of its string; and one more
# byte for each length of the array, of its field and of the attribute.
name=$(long $((room - 4 - 2 - 3)))
same 'a key for which there is no room is refused' "$ENOSPC" \
    "$(call key "x$name")"
same 'a key for which there is no room leaves the context as it was' "$before $at " \
    "$(resource "$PID") $(published_at) $(keys)"
same 'the longest one that fits is published' "0 65536 $name" \
    "$(call key "$name") $(payload_size) $(keys)"
same 'then a longer attribute does not fit' "$ENOSPC" \
    "$(call setlong long 65001)"
same 'a removal that is only staged makes no room for a key' "0 $ENOSPC 65536" \
    "$(call set long) $(call key k) $(payload_size)"
same 'a published removal makes room for a key' '0 1' \
    "$(call publish) $(call key k)"
stop

drive OTEL_SERVICE_NAME=s
call setlong long 65402 >/dev/null
same 'a key is refused if staged attributes would no longer fit' \
    "$ENOSPC 0 service.name=s 0 long" \
    "$(call key a.key) $(call set a) $(resource "$PID") $(call publish) $(
        resource "$PID" | tail -1 | cut -d= -f1)"
stop

drive OTELCTX_PUBLISH=configured
same 'without a context a key is registered and not published' \
    '0 no_context 0 0' "$(call key a) $(status "$PID") $(
        call attach "$parent") $(call attr 0 v)"
same 'the first publication has the key' '0 a' "$(call publish) $(keys)"
same 'after a drop a key is registered and published later' '0 1 no_context 0 a|b' \
    "$(call drop) $(call key b) $(status "$PID") $(call publish) $(keys)"
stop

# crowd COMMAND...: starts a program ($PID) whose eight threads register 256 keys;
# CROWD is its output.
crowd() {
    mkfifo "$TMP/in" "$TMP/out"
    background crowded "$@"
    exec {in}>"$TMP/in" {out}<"$TMP/out"
    rm "$TMP/in" "$TMP/out"
    CROWD=
    while [ "$(wc -l <<<"$CROWD")" -le 256 ] && read -r line <&"$out"; do
        CROWD+=$line$'\n'
        [ "$line" != 'no shim' ] || break
    done
}
crowded() {
    exec "$@" <"$TMP/in" >"$TMP/out"
}
# disperse: ends the program; $TMP/ended has its exit status.
disperse() {
    local status=0

    exec {in}>&- {out}<&-
    wait "$PID" || status=$?
    echo "exit status $status" >"$TMP/ended"
}
# What readers should see: the first thread waits without a context.
crowd_seen() {
    local i id

    echo detached
    for i in {1..8}; do
        id=$(printf "%02x" "$i")
        echo "attached $(printf "$id%.0s" {1..16}) $(
            printf "$id%.0s" {1..8}) $((i % 2)) key.0=thread $((i - 1))"
    done
}
crowd_works() {
    same "$1: a key that all threads register at once gets one index" \
        "$(seq -f 'key.%.0f' 0 255 | sort)" "$(sort <<<"${CROWD%$'\n'}")"
    same "$1: readers see the keys at these indexes" "$(paste -sd '|' <<<"${CROWD%$'\n'}")" \
        "$(keys)"
    same "$1: every thread has a context of its own" "$(crowd_seen)" \
        "$(seen | sort -k 2)"
    disperse
    same "$1: no thread ever had the context of another one" 'exit status 0' \
        "$(cat "$TMP/ended")"
}
crowd env LD_PRELOAD="$SHIM" "$crowd" 8 256
crowd_works 'preloaded'
crowd "$crowd" 8 256
disperse
same 'without the shim the program runs, too' 'no shim
exit status 0' "$CROWD$(cat "$TMP/ended")"

# OTELCTX_ATTRIBUTE_KEYS.

# with_keys TEXT: the key map and the errors of a process with this variable.
with_keys() {
    drive OTELCTX_ATTRIBUTE_KEYS="$1"
    keys
    errors
    stop
}
error='error: OTELCTX_ATTRIBUTE_KEYS: byte'
gone='; all of the variable is discarded'
same 'OTELCTX_ATTRIBUTE_KEYS are published in their order' 'b|a|c' "$(with_keys b,a,c)"
same 'blanks around keys, empty keys and repetitions are ignored' 'b|a|c d|é' \
    "$(with_keys $' b ,a,,b,\ta , c d,é,')"
same 'a list without keys is no error' '' "$(with_keys ' , ')"
same 'a key that is not UTF-8 discards them all, and the error names the byte' \
    "
$error 10: \"?,f\": expected valid UTF-8$gone" "$(with_keys $'a,b, cd,e\xff,f')"
same '256 keys are published' "$(seq -s '|' 1 256)" "$(with_keys "$(seq -s, 1 256)")"
same '257 keys are discarded, and the error names the last one' "
$error $(($(seq -s, 1 256 | wc -c) + 1)): \"257\": expected at most 256 keys, and 65536 bytes with everything else$gone" \
    "$(with_keys "$(seq -s, 1 257)")"
same 'keys for which there is no room are discarded' "
$error 5: \"$(long 128)...\": expected at most 256 keys, and 65536 bytes with everything else$gone" \
    "$(with_keys "a,b,$(long 65500)")"
drive OTELCTX_ATTRIBUTE_KEYS=a,b,$'\xff'
same 'after discarded keys the indexes begin at 0' '0 b' "$(call key b) $(keys)"
stop
drive OTELCTX_ATTRIBUTE_KEYS=a,b
same 'keys of the program follow those of the variable' '1 2 a|b|c' \
    "$(call key b) $(call key c) $(keys)"
stop
printf '%s\n' 'OTELCTX_ATTRIBUTE_KEYS = in, the file' >"$TMP/conf"
drive OTELCTX_CONFIG_FILE="$TMP/conf"
same 'the configuration file may set the keys' 'in|the file' "$(keys)"
stop

# OTELCTX_SCHEMA_VERSION.

drive OTELCTX_SCHEMA_VERSION=tls_v1
same 'OTELCTX_SCHEMA_VERSION names the schema' 'tls_v1 0 0 a' \
    "$(schema) $(call key a) $(call attach "$parent") $(keys)"
same 'readers find the threads with schema tls_v1' "attached $trace $span 1" \
    "$(seen)"
stop
drive OTEL_SERVICE_NAME=s OTELCTX_SCHEMA_VERSION=go_pprof_labels_v1
same "with Go's schema there is no map of keys" \
    "$service ${version/tlsdesc_v1_dev/go_pprof_labels_v1} " "$(protoc_says | tr -s ' \n' ' ')"
same "Go's schema takes no keys from the program, so there are no attributes" \
    "$EOPNOTSUPP 0 $EINVAL" \
    "$(call key a) $(call attach "$parent") $(call attr 0 v)"
stop
drive OTELCTX_SCHEMA_VERSION=go_pprof_labels_v1 OTELCTX_ATTRIBUTE_KEYS=,a
same "Go's schema takes no keys from the environment" "go_pprof_labels_v1
$error 2: \"a\": expected no keys: this OTELCTX_SCHEMA_VERSION has none$gone" "$(schema)
$(errors)"
stop
drive OTELCTX_SCHEMA_VERSION="$(long 127)"
same 'the name of a schema may have 127 bytes' "$(long 127)" "$(schema)"
stop
drive OTELCTX_SCHEMA_VERSION="$(long 128)"
same 'a longer name is discarded, and the default schema counts' "tlsdesc_v1_dev
error: OTELCTX_SCHEMA_VERSION: byte 128: \"x\": expected at most 127 bytes$gone" "$(schema)
$(errors)"
stop
drive OTELCTX_SCHEMA_VERSION=$'tls\xffv1'
same 'a name that is not UTF-8 is discarded, and the default schema counts' "tlsdesc_v1_dev
error: OTELCTX_SCHEMA_VERSION: byte 4: \"?v1\": expected valid UTF-8$gone" "$(schema)
$(errors)"
stop

# TRACEPARENT.

# started: the contexts of the main thread and of a later one, by their own calls
# and from outside.
started() {
    local main later

    main=$(call get)
    in_thread
    later=$(call get)
    echo "$main, $later"
    seen
    call join >/dev/null
}
# starts FOR WHAT TRACEPARENT MAIN LATER ERRORS: what threads start with,
# "parent" or "nothing".
starts() {
    local variables=(TRACEPARENT="$3") what=$2

    [ "$1" = unset ] || variables+=(OTELCTX_TRACEPARENT="$1")
    [ "$what" != absent ] || variables=("${variables[@]:1}")
    drive "${variables[@]}"
    same "$where: OTELCTX_TRACEPARENT=$1, TRACEPARENT $what: main has $4, others $5" \
        "$(by_call "$4"), $(by_call "$5")
$(from_outside "$4")
$(from_outside "$5")
$6" "$(started)
$(errors)"
    stop
}
by_call() {
    [ "$1" = parent ] && echo "0 $parent" || echo "$ENOENT"
}
from_outside() {
    [ "$1" = parent ] && echo "attached $trace $span 1" || echo detached
}
malformed="error: TRACEPARENT: byte 3: \"${parent}\": expected '-'$gone"
matrix() {
    where=$1
    starts unset good "$parent" nothing nothing ''
    starts off good "$parent" nothing nothing ''
    starts main good "$parent" parent nothing ''
    starts all good "$parent" parent parent ''
    starts off malformed "00$parent" nothing nothing ''
    starts main malformed "00$parent" nothing nothing "$malformed"
    starts all malformed "00$parent" nothing nothing "$malformed"
    starts main absent '' nothing nothing ''
    starts all absent '' nothing nothing ''
    starts main empty '' nothing nothing ''
    starts all empty '' nothing nothing ''
}
matrix glibc
musl-gcc -I"$ROOT" -o "$TMP/musl" "$ROOT/tests/e2e/hosts/driver.c"
contains 'the second driver is a program of musl' ld-musl "$(readelf -l "$TMP/musl")"
glibc=$DRIVER DRIVER=$TMP/musl
matrix musl
DRIVER=$glibc

same 'a malformed TRACEPARENT prints one line' 1 \
    "$(stderr_of OTELCTX_LOG_LEVEL=error OTELCTX_TRACEPARENT=all \
        TRACEPARENT=x /bin/true | wc -l)"
same 'a wrong word in OTELCTX_TRACEPARENT is an error' \
    'otelctx[PID]: error: OTELCTX_TRACEPARENT: byte 1: "some": expected off|main|all; the default counts' \
    "$(stderr_of OTELCTX_TRACEPARENT=some TRACEPARENT="$parent" /bin/true)"
drive OTELCTX_TRACEPARENT=main TRACEPARENT="01-$trace-$span-ff-later"
same 'of a later version of TRACEPARENT the known fields are read' \
    "0 00-$trace-$span-03" "$(call get)"
stop

# The shim does not store undefined flags: not in the slow path, not in the fast
# path, and not in a record of the program.
cat >"$TMP/flags.c" <<'END'
#include "shim/otelctx.h"
#include <stdio.h>
#include <string.h>
int main(void)
{
    uint8_t trace[16], span[8];
    struct otelctx_record record;
    struct otelctx_ids ids;
    memset(trace, 1, sizeof(trace));
    memset(span, 1, sizeof(span));
    for (int i = 0; i < 2; i++) {
        otelctx_attach(trace, span, 0xff);
        otelctx_get(&ids);
        printf("%02x ", ids.trace_flags);
    }
    otelctx_attach(trace, span, 0xfd);
    otelctx_get(&ids);
    printf("%02x ", ids.trace_flags);
    otelctx_record_init(&record, trace, span, 0xfe);
    printf("%02x\n", record.trace_flags);
    return 0;
}
END
gcc -I"$ROOT" -o "$TMP/flags" "$TMP/flags.c"
same 'only the flags that W3C defines are stored' '03 03 01 02' \
    "$(LD_PRELOAD=$SHIM "$TMP/flags")"

printf '%s\n' OTELCTX_TRACEPARENT=main TRACEPARENT="$parent" >"$TMP/conf"
drive OTELCTX_CONFIG_FILE="$TMP/conf"
same 'the configuration file cannot set TRACEPARENT' "$ENOENT
error: $TMP/conf: line 2: byte 1: \"TRACEPARENT=$parent\": expected it in the environment" \
    "$(call get)
$(errors)"
stop
drive OTELCTX_CONFIG_FILE="$TMP/conf" TRACEPARENT="$other"
same 'the configuration file can set OTELCTX_TRACEPARENT' "0 $other" "$(call get)"
stop

# No thread changes the shared context of all threads.
all_threads() {
    drive OTELCTX_TRACEPARENT=all TRACEPARENT="$parent" \
        OTELCTX_ATTRIBUTE_KEYS=one,two
    in_thread
    same "$1: a thread that detaches has no context, the others keep theirs" \
        "0 $ENOENT
attached $trace $span 1
detached" "$(call detach) $(call get)
$(seen)"
    call join >/dev/null
    in_thread
    same "$1: only the thread that sets an attribute has it" \
        "0 0 0 $parent
attached $trace $span 1
attached $trace $span 1 two=x" \
        "$(call attr 1 "''") $(call attr 1 x) $(call get)
$(seen)"
    in_thread
    same "$1: a thread that attaches replaces its own context only" \
        "0 0 0 $other
attached $trace $span 1
attached $trace $span 1 two=x
attached $other_trace $other_span 0 one=y" \
        "$(call attach "$other") $(call attr 0 y) $(call get)
$(seen)"
    call join >/dev/null
    call join >/dev/null
    same "$1: the first thread still has the context" "0 $parent" "$(call get)"
    stop
}
all_threads glibc
DRIVER=$TMP/musl
all_threads musl
DRIVER=$glibc

# refused FOR CALLS [FAULT]: the driver makes these calls, with TRACEPARENT for
# main or all and a system call that fails; prints the sorted output of driver and
# shim. Leaves trace.
refused() {
    strace -D -o "$TMP/trace" -e trace=mprotect ${3:+-e inject="$3"} \
        -E LD_PRELOAD="$SHIM" -E TRACEPARENT="$parent" \
        -E OTELCTX_TRACEPARENT="$1" -E OTELCTX_LOG_LEVEL=warn "$DRIVER" 2>&1 \
        <<<"$2" | sed 's/^otelctx\[[0-9]*\]: //' | sort
}
# numbered SYSCALL TEXT: the numbers of the calls whose arguments contain TEXT.
numbered() {
    grep "^$1(" "$TMP/trace" | grep -n -e "$2" | cut -d: -f1
}
same 'the TLS image is writable for one store' "get 0 $parent
PROT_READ|PROT_WRITE
PROT_READ" "$(refused all get)
$(sed -n 's/^mprotect(.*, \(PROT[^)]*\)).*/\1/p' "$TMP/trace" | tail -2)"
image=$(numbered mprotect 'PROT_READ|PROT_WRITE' | tail -1)
same 'if the TLS image stays read-only, the main thread has the context, with a warning' \
    "get 0 $parent
warn: cannot attach TRACEPARENT to all threads: mprotect (errno 12)" \
    "$(refused all get "mprotect:error=ENOMEM:when=$image")"
DRIVER=$exports
drive OTELCTX_TRACEPARENT=all TRACEPARENT="$parent" OTELCTX_LOG_LEVEL=warn
same 'if an executable has the variable, the main thread has the context' \
    "attached $trace $span 1
detached" "$(seen)"
contains 'if an executable has the variable, a warning is printed' \
    'warn: cannot attach TRACEPARENT to all threads: ' "$(errors)"
stop
DRIVER=$glibc

# Fork: the thread that forks keeps its context.
drive OTELCTX_TRACEPARENT=all TRACEPARENT="$parent" OTELCTX_ATTRIBUTE_KEYS=one
call attr 0 inherited >/dev/null
call fork >/dev/null
same "after a fork the child has its parent's context and may replace it" \
    "0 $parent 0 $other" \
    "$(call get) $(call attach "$other" >/dev/null; call get)"
stop

# Ways to reach the functions.

# every_call: the result of each call.
every_call() {
    local call

    for call in abi 'set a b' 'extra a b' publish 'key a' "attach $parent" \
        'attr 0 v' 'unset 0' get detach "init $parent" 'recordattr 0 v' swap \
        swapout pin drop; do
        echo "${call%% *} $(call "$call")"
    done
}
works="abi 1
set 0
extra 0
publish 0
key 0
attach 0
attr 0
unset 0
get 0 $parent
detach 0
init 0
recordattr 0
swap 0
swapout 0
pin 1
drop 0"
nothing=$(sed "s/ .*/ $ENOSYS/; s/^pin .*/pin 0/" <<<"$works")

drive
same 'preloaded: every call works' "$works" "$(every_call)"
stop
DRIVER=$TMP/musl
drive
same 'preloaded into a program of musl: every call works' "$works" \
    "$(every_call)"
stop
DRIVER=$glibc
for variable in OTELCTX_DISABLED OTEL_SDK_DISABLED; do
    drive $variable=true OTELCTX_TRACEPARENT=all TRACEPARENT="$parent" \
        OTELCTX_ATTRIBUTE_KEYS=a
    same "$variable=true: no call does anything" "$nothing" "$(every_call)"
    same "$variable=true: there is no context" no_context \
        "$(status "$PID")"
    stop
done
SHIM='' drive TRACEPARENT="$parent" OTELCTX_TRACEPARENT=all
same 'without the shim: no call does anything' "$nothing" "$(every_call)"
stop

DRIVER=$linked
SHIM='' drive OTELCTX_TRACEPARENT=all TRACEPARENT="$parent"
same 'linked: TRACEPARENT is attached' "0 $parent, 0 $parent
attached $trace $span 1
attached $trace $span 1" "$(started)"
same 'linked: every call works' "$works" "$(every_call)"
stop
drive
same 'linked and preloaded: every call works' "$works" "$(every_call)"
call publish >/dev/null
same 'linked and preloaded: there is one context' 1 \
    "$("$READ" --json "$PID" | jq '.contexts | length')"
stop
DRIVER=$glibc

# Opened late: TLS is dynamic, and allocated at a thread's first access.
opened() {
    SHIM='' drive OTELCTX_TRACEPARENT=all TRACEPARENT="$parent"
    same "$1: the shim is absent before, and opens" "$ENOSYS 0" "$ABI $(call open "$SHIM")"
    same "$1: TRACEPARENT is attached to all threads" "0 $parent, 0 $parent" \
        "$(started | head -1)"
    same "$1: every call but the first works" "abi $ENOSYS
${works#*$'\n'}" "$(every_call)"
    stop
}
opened 'opened'
DRIVER=$TMP/musl
opened 'opened by a program of musl'
DRIVER=$glibc

# late HOW ROOM ACCESS: an opened library gets static TLS if glibc has ROOM left.
late() {
    crowd env GLIBC_TUNABLES=glibc.rtld.optional_static_tls="$2" \
        "$crowd" 8 256 "$SHIM"
    same "opened, $1: readers find the variable" "$3" "$("$READ" --json --threads "$PID" |
        jq -r .thread_context.symbol.access)"
    crowd_works "opened, $1"
}
late 'TLS is dynamic' 0 tlsdesc-dynamic
late 'TLS is static' 4096 tlsdesc-static

g++ -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Wconversion -Werror -pthread \
    -I"$ROOT" -o "$TMP/cxx" "$ROOT/tests/e2e/hosts/crowd.c"
crowd env LD_PRELOAD="$SHIM" "$TMP/cxx" 8 256
crowd_works 'in C++11'

done_testing
