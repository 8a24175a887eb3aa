#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The process context functions, called by a program that finds them with dlsym(3).
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

EINVAL=-22 EPERM=-1 ENOSPC=-28 ENOSYS=-38

# published_at: the timestamp that a reader sees now.
published_at() {
    "$READ" --json "$PID" | jq -r '.contexts[0].header.published_at_ns'
}

drive OTEL_SERVICE_NAME=host OTEL_RESOURCE_ATTRIBUTES=a=1
same 'otelctx_abi returns the version of the interface' 1 "$ABI"

same 'setting an attribute only stages it' $'0\nservice.name=host\na=1' \
    "$(call set b 2)
$(resource "$PID")"
same 'publishing shows the staged attribute' $'0\nservice.name=host\na=1\nb=2' \
    "$(call publish)
$(resource "$PID")"
same 'a key that is set again keeps its place and has only the new value' \
    $'0 0\nservice.name=host\na=one\nb=2' \
    "$(call set a one) $(call publish)
$(resource "$PID")"
same 'a value may be empty' $'0 0\nservice.name=host\na=one\nb=' \
    "$(call set b "''") $(call publish)
$(resource "$PID")"
same 'NULL removes an attribute' $'0 0\nservice.name=host\na=one' \
    "$(call set b) $(call publish)
$(resource "$PID")"
same 'removing an invalid key is refused' "$EINVAL $EPERM $EPERM" \
    "$(call set $'a\xff') $(call set threadlocal.x) $(call extra threadlocal.x)"
same 'removing an absent key is no error' 0 "$(call set nothing)"
same 'removing service.name restores the default one' \
    $'0 0\na=one\nservice.name=unknown_service:driver' \
    "$(call set service.name) $(call publish)
$(resource "$PID")"
same 'extra attributes are beside the resource' $'0 0\nk=v' \
    "$(call extra k v) $(call publish)
$(extra "$PID")"

same 'a key that is NULL is refused' "$EINVAL $EINVAL" "$(call set) $(call extra)"
same 'an empty key is refused' "$EINVAL $EINVAL $EINVAL" \
    "$(call set "''" v) $(call set "''") $(call extra "''" v)"
same 'a key that is not UTF-8 is refused' "$EINVAL" "$(call set $'a\xff' v)"
same 'a value that is not UTF-8 is refused' "$EINVAL" "$(call set k $'\xc3')"
same 'a reserved key is refused' "$EPERM $EPERM" \
    "$(call set threadlocal.x v) $(call extra threadlocal.schema_version v)"

before=$(resource "$PID")
same 'a payload beyond 65536 bytes is refused' "$ENOSPC" \
    "$(call setlong long 65536)"
same 'a refused payload leaves the context as it was' "$before" "$(resource "$PID")"
longest=$((65536 - $("$READ" --json "$PID" | jq '.contexts[0].header.payload_size')))
# Tags and lengths: a key of 4 bytes, and 3 bytes each for the lengths of the
# resource (now 1), the KeyValue, the AnyValue and the value.
longest=$((longest - 6 - (3 + 1) * 3 - 2))
same 'the longest payload that fits is published' \
    "0 $ENOSPC 0 65536" \
    "$(call setlong long $longest) $(call setlong long $((longest + 1))) $(call publish) $(
        "$READ" --json "$PID" | jq '.contexts[0].header.payload_size')"
same 'a short payload can follow it' "0 0 $before" \
    "$(call set long) $(call publish) $(resource "$PID")"

first=$(published_at)
call publish >/dev/null
second=$(published_at)
check 'each publication has a later timestamp' [ "$second" -gt "$first" ]
same 'a drop withdraws the context' '0 no_context' \
    "$(call drop) $(status "$PID")"
same 'a second drop is no error' 0 "$(call drop)"
same 'publishing after a drop shows the context again' "0 $before" \
    "$(call publish) $(resource "$PID")"
third=$(published_at)
check 'publishing after a drop has a later timestamp' [ "$third" -gt "$second" ]
stop

# written PID: counts the pages that it has written to, without heap and stack.
written() {
    awk '/^[0-9a-f]+-/ {name = $6}
        /^Anonymous:/ && name !~ /^\[/ {kib += $2}
        END {print kib / 4}' "/proc/$1/smaps"
}
# written_variables PID: how many private pages the process has of the shim's
# variables, which are in the second mapping behind the file's.
written_variables() {
    awk -v file="$(realpath "$SHIM")" \
        '/^[0-9a-f]+-/ {at = $6 == file ? 1 : at ? at + 1 : 0}
        /^Private_Dirty:/ && at == 3 {print $2 / 4}' "/proc/$1/smaps"
}
drive OTEL_SERVICE_NAME=s
call set a 1 >/dev/null
call publish >/dev/null
before=$(written "$PID")
for value in 2 3 4 5; do
    call set a $value >/dev/null
    call publish >/dev/null
done
same 'more updates take no more pages' "$before" "$(written "$PID")"
mappings() { # [NAME=VALUE]...: of a program with these variables
    env "$@" cat /proc/self/maps | wc -l
}
same 'the shim adds four mappings: two of its file, the page wiped on fork, the context' \
    4 $(($(mappings "LD_PRELOAD=$SHIM") - $(mappings)))
stop

# With "keep", because otherwise the shim stores the time of each look for others.
drive OTEL_SERVICE_NAME=s OTELCTX_ON_OTHER_PUBLISHER=keep
CHILD=$(call fork)
same 'a forked child publishes without writing to a shared page of variables' 'ok 0' \
    "$(status "$CHILD") $(written_variables "$CHILD")"
# Pages that the parent writes to before it forks again would be the first child's
# alone.
same 'a parent forks again without writing to a shared page of variables' '0 0' \
    "$(call fork >/dev/null; written_variables "$PID") $(written_variables "$CHILD")"
stop

drive OTEL_SERVICE_NAME=s
same 'service.name is not removed if there is no room for the default one' \
    "0 $ENOSPC 0 service.name=s" \
    "$(call setlong long 65405) $(call set service.name) $(call publish) $(
        resource "$PID" | grep ^service)"
stop

# A program at a fixed address that takes the address of a function: its address is
# then in the program, for all modules.
cat >"$TMP/fixed.c" <<'END'
#define OTELCTX_LINK
#include "shim/otelctx.h"
int main(void)
{
    int (*volatile abi)(void) = otelctx_abi;

    return abi() == 1 ? 0 : 1;
}
END
gcc -no-pie -fno-pie -I"$ROOT" -o "$TMP/fixed" "$TMP/fixed.c" "$SHIM"
check 'a program at a fixed address may take the address of a call' \
    env LD_PRELOAD="$SHIM" "$TMP/fixed"

decoded() {
    protoc_says | sed -n 's/^ *\(resource\|extra_attributes\) {/\1/p
        s/^ *key: "\(.*\)"/\1/p; s/^ *string_value: "\(.*\)"/\1/p' |
        paste -sd ' '
}
threads='extra_attributes threadlocal.schema_version tlsdesc_v1_dev'
threads+=' extra_attributes threadlocal.attribute_key_map'
drive OTEL_SERVICE_NAME=s OTEL_RESOURCE_ATTRIBUTES=e=,a=1 \
    OTELCTX_EXTRA_ATTRIBUTES=k=v
same 'protoc decodes the context published at start' \
    "resource service.name s e  a 1 extra_attributes k v $threads" "$(decoded)"
same 'protoc decodes an updated context' \
    "0 0 0 resource service.name s e  a 2 extra_attributes k v extra_attributes new  $threads" \
    "$(call set a 2) $(call extra new "''") $(call publish) $(decoded)"
call setlong a 60000 >/dev/null
call publish >/dev/null
same 'protoc decodes a long context' 60000 \
    "$(decoded | tr ' ' '\n' | awk 'length > 100 {print length}')"
stop

# Without the shim.
SHIM='' drive
same 'without the shim no call does anything' \
    "$ENOSYS $ENOSYS $ENOSYS $ENOSYS $ENOSYS" \
    "$ABI $(call set a b) $(call extra a b) $(call publish) $(call drop)"
stop

# Two preloads: glibc runs the constructor of the last one first.
for list in "$EARLY:$SHIM" "$SHIM:$EARLY"; do
    SHIM=$list drive OTEL_RESOURCE_ATTRIBUTES=a=1
    same "calls of another constructor count (${list##*/} last)" \
        $'a=1\nservice.name=unknown_service:driver\nearly=bird' \
        "$(resource "$PID")"
    stop
done

# Fork: the child inherits nothing but the attributes.
drive OTEL_SERVICE_NAME=parent
before=$(resource "$PID")
CHILD=$(call fork)
same 'after a fork the calls work in the child' '0 0' \
    "$(call set in child) $(call publish)"
same 'a child inherits staged attributes' $'service.name=parent\nin=child' \
    "$(resource "$CHILD")"
same 'a child has one context' 1 \
    "$("$READ" --json "$CHILD" | jq '.contexts | length')"
same 'the context of the parent stays as it was' "$before" "$(resource "$PID")"
call setlong long 5000 >/dev/null
call publish >/dev/null
GRANDCHILD=$(call fork)
same 'a child does not inherit the memory of a long payload' '0 0 5001 ok' \
    "$(call setlong long 5001) $(call publish) $("$READ" --json "$GRANDCHILD" |
        jq -r '.contexts[0].resource.attributes[]
            | select(.key == "long").value.stringValue | length') $(
        status "$CHILD")"
stop

drive OTELCTX_FORK=drop OTEL_SERVICE_NAME=parent
CHILD=$(call fork)
same 'OTELCTX_FORK=drop: a child has no context' no_context "$(status "$CHILD")"
same 'OTELCTX_FORK=drop: a child may publish the inherited attributes' \
    $'0\nservice.name=parent' "$(call publish)
$(resource "$CHILD")"
stop

# Opened by the program and closed again: the fork handlers must stay loaded.
musl-gcc -I"$ROOT" -o "$TMP/musl" "$ROOT/tests/e2e/hosts/driver.c"
closed() {
    SHIM='' drive OTEL_SERVICE_NAME=late
    same "$1: opened, it publishes; then it is closed" '0 0 0 0' \
        "$(call open "$SHIM") $(call set a b) $(call publish) $(call close)"
    CHILD=$(call fork)
    same "$1: after the close parent and forked child have a context" \
        'service.name=late a=b, service.name=late a=b' \
        "$(resource "$PID" | paste -sd ' '), $(resource "$CHILD" | paste -sd ' ')"
    same "$1: the calls work in the child" '0 0 c' \
        "$(call set a c) $(call publish) $(
            resource "$CHILD" | sed -n 's/^a=//p')"
    stop
}
closed glibc
DRIVER=$TMP/musl closed musl

# Descriptors, threads and memory after many calls.
drive
call setlong long 60000 >/dev/null
call publish >/dev/null
before=$(usage)
for i in {1..500}; do
    call set "k.$((i % 10))" "$i"
    call publish
    [ $((i % 50)) != 0 ] || call drop
done >"$TMP/results_of_calls"
same 'a thousand calls leave no descriptor, thread or mapping behind' \
    "$before
only 0" "$(call publish >/dev/null; usage)
only $(sort -u "$TMP/results_of_calls")"
stop

done_testing
