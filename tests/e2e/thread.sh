#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The thread context of running programs, read from outside: its keys in the
# process context, what threads start with, and every way to the calls.
#
crowd=$OTELCTX_CROWD linked=$OTELCTX_DRIVER_LINKED
exports=$OTELCTX_SHARER_EXPORTS
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

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

# seen: a line for each thread, the oldest first: its status, and what it has.
seen() {
    "$READ" --json --threads "$PID" | jq -r '.threads | sort_by(.tid)[]
        | [.status, .trace_id // empty, .span_id // empty,
           .trace_flags // empty, (.attributes[]?
               | "\(.key)=\(.value.stringValue)")] | join(" ")'
}

# in_thread: a thread of the driver makes the calls from here on, until `call
# join`.
in_thread() {
    # shellcheck disable=SC2154 # drive has opened it
    echo thread >&"$calls"
}

# errors: what the program under the shim has been told, its pid left out.
errors() {
    sed 's/^otelctx\[[0-9]*\]: //' "$TMP/stderr"
}
long() { head -c "$1" /dev/zero | tr '\0' x; }

# Another witness than our reader: extra_attributes is field 2 of the published
# process_context.proto.
protoc_says() {
    local address size

    read -r address size <<<"$("$READ" --json "$PID" |
        jq -r '.contexts[0].header | "\(.payload) \(.payload_size)"')"
    dd if="/proc/$PID/mem" iflag=skip_bytes,count_bytes skip=$((address)) \
        count="$size" status=none |
        protoc -I"$PROTO_DIR" --decode \
            opentelemetry.proto.processcontext.v1development.ProcessContext \
            process_context.proto | tr -s ' \n' ' '
}
contains 'extra_attributes are field 2 of ProcessContext' \
    'KeyValue extra_attributes = 2;' "$(cat "$PROTO_DIR/process_context.proto")"

# The process context.

service='resource { attributes { key: "service.name" value { string_value: "s" } } }'
version='extra_attributes { key: "threadlocal.schema_version" value { string_value: "tlsdesc_v1_dev" } }'
map='extra_attributes { key: "threadlocal.attribute_key_map" value { array_value {'
drive OTEL_SERVICE_NAME=s
same 'from the start the schema and an empty map are in field 2' \
    "$service $version $map } } } " "$(protoc_says)"
same 'keys have indexes that count from 0' '0 1' \
    "$(call key http.route) $(call key http.request.method)"
same 'and are published before the call returns' \
    "$service $version $map values { string_value: \"http.route\" } values { string_value: \"http.request.method\" } } } } " \
    "$(protoc_says)"
before=$(published_at)
same 'a key that is there has the same index again' '1 0' \
    "$(call key http.request.method) $(call key http.route)"
same 'and is not published again' "$before" "$(published_at)"

same 'a new key publishes nothing that is merely staged' \
    '0 0 2 service.name=s  http.route|http.request.method|user.id' \
    "$(call set staged v) $(call extra beside v) $(call key user.id) $(
        resource "$PID") $(extra "$PID") $(keys)"
same 'which the next publication has, with the keys' \
    '0 service.name=s staged=v beside=v http.route|http.request.method|user.id' \
    "$(call publish) $(resource "$PID" | paste -sd ' ') $(extra "$PID") $(keys)"
same 'what no key can be is refused' "$EINVAL $EINVAL $EINVAL" \
    "$(call key) $(call key "''") $(call key $'a\xff')"
same 'and changes nothing' 'http.route|http.request.method|user.id' "$(keys)"
stop

drive
first=$(for i in {0..127}; do call key "key.$i"; done)
half=$(keys)
second=$(for i in {128..255}; do call key "key.$i"; done)
same 'there may be 256 keys' "$(seq 0 255)" "$first
$second"
same 'each appended to those before it' \
    "$(seq -f 'key.%.0f' 0 127 | paste -sd '|')
$(seq -f 'key.%.0f' 0 255 | paste -sd '|')" "$half
$(keys)"
before=$(published_at)
same 'the 257th is refused' "$ENOSPC $ENOSPC" \
    "$(call key one.too.many) $(call key one.too.many)"
same 'and everything else is as before' "$before 0 255 0 0" \
    "$(published_at) $(call key key.0) $(call key key.255) $(
        call attach "$parent") $(call attr 255 last)"
same 'an attribute of the last key is seen' \
    "attached $trace $span 1 key.255=last" "$(seen)"
stop

drive OTEL_SERVICE_NAME=s
call setlong long 65000 >/dev/null
call publish >/dev/null
room=$((65536 - $(payload_size)))
before=$(resource "$PID") at=$(published_at)
# Heads of a value and its string; and of the array, of its field and of the
# attribute, whose lengths now take two bytes.
name=$(long $((room - 4 - 2 - 3)))
same 'a key for which there is no room is refused' "$ENOSPC" \
    "$(call key "x$name")"
same 'and what was published stays' "$before $at " \
    "$(resource "$PID") $(published_at) $(keys)"
same 'the longest one that fits is published' "0 65536 $name" \
    "$(call key "$name") $(payload_size) $(keys)"
same 'so that a longer attribute no longer does' "$ENOSPC" \
    "$(call setlong long 65001)"
same 'also when what is merely staged would leave room' "0 $ENOSPC 65536" \
    "$(call set long) $(call key k) $(payload_size)"
same 'which it does when it is published' '0 1' \
    "$(call publish) $(call key k)"
stop

drive OTEL_SERVICE_NAME=s
call setlong long 65402 >/dev/null
same 'nor is there room for a key that would keep what is staged from it' \
    "$ENOSPC 0 service.name=s 0 long" \
    "$(call key a.key) $(call set a) $(resource "$PID") $(call publish) $(
        resource "$PID" | tail -1 | cut -d= -f1)"
stop

drive OTELCTX_PUBLISH=configured
same 'where nothing is published a key is registered and not shown' \
    '0 no_context 0 0' "$(call key a) $(status "$PID") $(
        call attach "$parent") $(call attr 0 v)"
same 'until something is' '0 a' "$(call publish) $(keys)"
same 'the same after a drop' '0 1 no_context 0 a|b' \
    "$(call drop) $(call key b) $(status "$PID") $(call publish) $(keys)"
stop

# crowd COMMAND...: eight threads register 256 keys, as $PID; CROWD is what they
# print.
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
# disperse: ends it; $TMP/ended tells how it ended.
disperse() {
    local status=0

    exec {in}>&- {out}<&-
    wait "$PID" || status=$?
    echo "exit status $status" >"$TMP/ended"
}
# What readers see of the crowd: its first thread waits with nothing.
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
    same "$1: of keys that all threads register at once each has one index" \
        "$(seq -f 'key.%.0f' 0 255 | sort)" "$(sort <<<"${CROWD%$'\n'}")"
    same "$1: and readers know them by it" "$(paste -sd '|' <<<"${CROWD%$'\n'}")" \
        "$(keys)"
    same "$1: every thread has a context of its own" "$(crowd_seen)" \
        "$(seen | sort -k 2)"
    disperse
    same "$1: and none of them ever had another one's" 'exit status 0' \
        "$(cat "$TMP/ended")"
}
crowd env LD_PRELOAD="$SHIM" "$crowd" 8 256
crowd_works 'preloaded'
crowd "$crowd" 8 256
disperse
same 'without the shim the threads do all the same' 'no shim
exit status 0' "$CROWD$(cat "$TMP/ended")"

# OTELCTX_ATTRIBUTE_KEYS.

# with_keys TEXT: the map and the errors of a process so configured.
with_keys() {
    drive OTELCTX_ATTRIBUTE_KEYS="$1"
    keys
    errors
    stop
}
error='error: OTELCTX_ATTRIBUTE_KEYS: byte'
same 'OTELCTX_ATTRIBUTE_KEYS are announced in their order' 'b|a|c' "$(with_keys b,a,c)"
same 'without blanks around them, empty ones and repetitions' 'b|a|c d|é' \
    "$(with_keys $' b ,a,,b,\ta , c d,é,')"
same 'none is no error' '' "$(with_keys ' , ')"
same 'one that is not UTF-8 discards them all, and the error names the byte' \
    "
$error 10: expected valid UTF-8" "$(with_keys $'a,b, cd,e\xff,f')"
same '256 of them are' "$(seq -s '|' 1 256)" "$(with_keys "$(seq -s, 1 256)")"
same 'and 257 are none, and the error names the last one' "
$error $(($(seq -s, 1 256 | wc -c) + 1)): expected at most 256 keys, and 65536 bytes with everything else" \
    "$(with_keys "$(seq -s, 1 257)")"
same 'nor are those for which there is no room' "
$error 5: expected at most 256 keys, and 65536 bytes with everything else" \
    "$(with_keys "a,b,$(long 65500)")"
drive OTELCTX_ATTRIBUTE_KEYS=a,b,$'\xff'
same 'after which keys begin at 0' '0 b' "$(call key b) $(keys)"
stop
drive OTELCTX_ATTRIBUTE_KEYS=a,b
same 'later ones come behind them' '1 2 a|b|c' \
    "$(call key b) $(call key c) $(keys)"
stop
printf '%s\n' 'OTELCTX_ATTRIBUTE_KEYS = in, the file' >"$TMP/conf"
drive OTELCTX_CONFIG_FILE="$TMP/conf"
same 'the configuration file may name them' 'in|the file' "$(keys)"
stop

# OTELCTX_SCHEMA_VERSION.

drive OTELCTX_SCHEMA_VERSION=tls_v1
same 'OTELCTX_SCHEMA_VERSION names the schema' 'tls_v1 0 0 a' \
    "$(schema) $(call key a) $(call attach "$parent") $(keys)"
same 'and readers of that one find the threads' "attached $trace $span 1" \
    "$(seen)"
stop
drive OTEL_SERVICE_NAME=s OTELCTX_SCHEMA_VERSION=go_pprof_labels_v1
same 'that of Go has no map of keys' \
    "$service ${version/tlsdesc_v1_dev/go_pprof_labels_v1} " "$(protoc_says)"
same 'and takes no keys, so that there are no attributes' \
    "$EOPNOTSUPP 0 $EINVAL" \
    "$(call key a) $(call attach "$parent") $(call attr 0 v)"
stop
drive OTELCTX_SCHEMA_VERSION=go_pprof_labels_v1 OTELCTX_ATTRIBUTE_KEYS=,a
same 'nor any from the environment' "go_pprof_labels_v1
$error 2: expected no keys with this OTELCTX_SCHEMA_VERSION" "$(schema)
$(errors)"
stop
drive OTELCTX_SCHEMA_VERSION="$(long 127)"
same 'the name of a schema may have 127 bytes' "$(long 127)" "$(schema)"
stop
drive OTELCTX_SCHEMA_VERSION="$(long 128)"
same 'and with more the default one stands in' "tlsdesc_v1_dev
error: OTELCTX_SCHEMA_VERSION: byte 128: expected at most 127 bytes" "$(schema)
$(errors)"
stop
drive OTELCTX_SCHEMA_VERSION=$'tls\xffv1'
same 'as it does when the name is not UTF-8' "tlsdesc_v1_dev
error: OTELCTX_SCHEMA_VERSION: byte 4: expected valid UTF-8" "$(schema)
$(errors)"
stop

# TRACEPARENT.

# started: what the main thread has, and one that comes later, each by its own
# calls and from outside.
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
malformed='error: TRACEPARENT: byte 3: expected '"'-'"
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
contains 'the other driver is one of musl' ld-musl "$(readelf -l "$TMP/musl")"
glibc=$DRIVER DRIVER=$TMP/musl
matrix musl
DRIVER=$glibc

same 'a malformed TRACEPARENT is one line, whatever else is logged' 1 \
    "$(stderr_of OTELCTX_LOG_LEVEL=error OTELCTX_TRACEPARENT=all \
        TRACEPARENT=x /bin/true | wc -l)"
same 'and OTELCTX_TRACEPARENT has its words' \
    'otelctx[PID]: error: OTELCTX_TRACEPARENT: byte 1: expected off|main|all' \
    "$(stderr_of OTELCTX_TRACEPARENT=some TRACEPARENT="$parent" /bin/true)"
drive OTELCTX_TRACEPARENT=main TRACEPARENT="01-$trace-$span-ff-later"
same 'a later version of TRACEPARENT is read as far as it is known' \
    "0 00-$trace-$span-03" "$(call get)"
stop

printf '%s\n' OTELCTX_TRACEPARENT=main TRACEPARENT="$parent" >"$TMP/conf"
drive OTELCTX_CONFIG_FILE="$TMP/conf"
same 'TRACEPARENT itself is not for the configuration file' "$ENOENT
error: $TMP/conf: line 2: byte 1: expected TRACEPARENT in the environment only" \
    "$(call get)
$(errors)"
stop
drive OTELCTX_CONFIG_FILE="$TMP/conf" TRACEPARENT="$other"
same 'which may say for whom it is' "0 $other" "$(call get)"
stop

# What all threads have is not to be changed by one of them. DRIVER runs.
all_threads() {
    drive OTELCTX_TRACEPARENT=all TRACEPARENT="$parent" \
        OTELCTX_ATTRIBUTE_KEYS=one,two
    in_thread
    same "$1: the thread that detaches has nothing, the others have it still" \
        "0 $ENOENT
attached $trace $span 1
detached" "$(call detach) $(call get)
$(seen)"
    call join >/dev/null
    in_thread
    same "$1: the thread that sets an attribute has it alone" \
        "0 0 0 $parent
attached $trace $span 1
attached $trace $span 1 two=x" \
        "$(call attr 1 "''") $(call attr 1 x) $(call get)
$(seen)"
    in_thread
    same "$1: the thread that attaches replaces it for itself" \
        "0 0 0 $other
attached $trace $span 1
attached $trace $span 1 two=x
attached $other_trace $other_span 0 one=y" \
        "$(call attach "$other") $(call attr 0 y) $(call get)
$(seen)"
    call join >/dev/null
    call join >/dev/null
    same "$1: and the first one has it still" "0 $parent" "$(call get)"
    stop
}
all_threads glibc
DRIVER=$TMP/musl
all_threads musl
DRIVER=$glibc

# refused FOR CALLS [FAULT]: the driver makes these calls, with TRACEPARENT for
# main or all, and a system call that fails; what it and the shim say, in some
# order. Leaves trace.
refused() {
    strace -D -o "$TMP/trace" -e trace=mprotect ${3:+-e inject="$3"} \
        -E LD_PRELOAD="$SHIM" -E TRACEPARENT="$parent" \
        -E OTELCTX_TRACEPARENT="$1" -E OTELCTX_LOG_LEVEL=warn "$DRIVER" 2>&1 \
        <<<"$2" | sed 's/^otelctx\[[0-9]*\]: //' | sort
}
# numbered SYSCALL TEXT: which of them have that in their arguments.
numbered() {
    grep "^$1(" "$TMP/trace" | grep -n -e "$2" | cut -d: -f1
}
same 'the image of TLS is writable for one store' "get 0 $parent
PROT_READ|PROT_WRITE
PROT_READ" "$(refused all get)
$(sed -n 's/^mprotect(.*, \(PROT[^)]*\)).*/\1/p' "$TMP/trace" | tail -2)"
image=$(numbered mprotect 'PROT_READ|PROT_WRITE' | tail -1)
same 'where it cannot be, the main thread has it, and why is said' \
    "get 0 $parent
warn: cannot attach TRACEPARENT to all threads: mprotect (errno 12)" \
    "$(refused all get "mprotect:error=ENOMEM:when=$image")"
DRIVER=$exports
drive OTELCTX_TRACEPARENT=all TRACEPARENT="$parent" OTELCTX_LOG_LEVEL=warn
same 'nor is there an image of ours for a variable that is not' \
    "attached $trace $span 1
detached" "$(seen)"
contains 'which is said, too' \
    'warn: cannot attach TRACEPARENT to all threads: ' "$(errors)"
stop
DRIVER=$glibc

# Fork: the thread that forks keeps its context.
drive OTELCTX_TRACEPARENT=all TRACEPARENT="$parent" OTELCTX_ATTRIBUTE_KEYS=one
call attr 0 inherited >/dev/null
call fork >/dev/null
same 'after a fork the child works for what its parent worked for' \
    "0 $parent 0 $other" \
    "$(call get) $(call attach "$other" >/dev/null; call get)"
stop

# Ways to the calls.

# every_call: what each returns.
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
    same "$variable=true: and there is nothing to see" no_context \
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

# Opened late: TLS is dynamic, and nobody's before it is touched.
opened() {
    SHIM='' drive OTELCTX_TRACEPARENT=all TRACEPARENT="$parent"
    same "$1: it is nothing but late" "$ENOSYS 0" "$ABI $(call open "$SHIM")"
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

# late HOW ROOM ACCESS: TLS of libraries that are opened is static while there is
# room for it.
late() {
    crowd env GLIBC_TUNABLES=glibc.rtld.optional_static_tls="$2" \
        "$crowd" 8 256 "$SHIM"
    same "opened, $1: readers know it" "$3" "$("$READ" --json --threads "$PID" |
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
