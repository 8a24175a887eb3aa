#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What the user wrote, and what becomes of it.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

conf=$TMP/otelctx.conf
in_file() { printf '%s\n' "$@" >"$conf"; }

# with CHECK [NAME=VALUE]...: the resource of a process so configured.
with() {
    drive "$@"
    resource "$PID"
    stop
}

# The attributes.

same 'without configuration there is the service.name of the executable' \
    'service.name=unknown_service:driver' "$(with)"

same 'OTEL_SERVICE_NAME is taken literally and beats service.name' \
    'service.name= 100%,a=b ' \
    "$(with OTEL_SERVICE_NAME=' 100%,a=b ' OTEL_RESOURCE_ATTRIBUTES=service.name=x)"

same 'OTEL_RESOURCE_ATTRIBUTES is split, trimmed and decoded, the last wins' \
    $'a=2,\nb=c=d\nservice.name=é' \
    "$(with OTEL_RESOURCE_ATTRIBUTES='a=1 ,,b = c=d,a=2%2C,service.name=%C3%A9')"

same 'a fault discards that whole variable and nothing else' \
    'service.name=still' \
    "$(with OTEL_RESOURCE_ATTRIBUTES=a=1,b OTEL_SERVICE_NAME=still)"

same 'and brings no other service.name' 'service.name=unknown_service:driver' \
    "$(with OTEL_RESOURCE_ATTRIBUTES=service.name=x,b)"

same 'empty means unset' 'service.name=unknown_service:driver' \
    "$(with OTEL_SERVICE_NAME= OTEL_RESOURCE_ATTRIBUTES=)"

drive OTELCTX_EXTRA_ATTRIBUTES=k=v,e=
same 'OTELCTX_EXTRA_ATTRIBUTES are beside the resource' $'k=v\ne=' \
    "$(extra "$PID")"
stop

DRIVER=/dev/fd/9 drive 9<"$DRIVER"
same 'an executable without a name is an unknown_service' \
    'service.name=unknown_service' "$(resource "$PID")"
stop

# The name of the executable is what execve(2) was given.
drive_at() {
    DRIVER=$1 drive
    resource "$PID"
    stop
}
mkdir "$TMP/here"
cp "$DRIVER" "$TMP/here/there"
same 'below a directory that was given by its number it has a name' \
    service.name=unknown_service:there \
    "$(drive_at /dev/fd/8/there 8<"$TMP/here")"
cp "$DRIVER" "$TMP/$(printf 'n\xffme')"
same 'a name that is not UTF-8 is none' service.name=unknown_service \
    "$(drive_at "$TMP/$(printf 'n\xffme')")"

# Errors: the variable, the position, what was expected.

same 'a correct configuration prints nothing' '' \
    "$(stderr_of OTEL_RESOURCE_ATTRIBUTES=a=b OTEL_SERVICE_NAME=x "$DRIVER" </dev/null)"

same 'a malformed attribute is told with its position' \
    'otelctx[PID]: error: OTEL_RESOURCE_ATTRIBUTES: byte 7: expected two hexadecimal digits after '"'%'" \
    "$(stderr_of OTEL_RESOURCE_ATTRIBUTES='a=b,c=%x1' /bin/true)"

same 'a reserved key is told with its position' \
    'otelctx[PID]: error: OTELCTX_EXTRA_ATTRIBUTES: byte 5: expected a key that does not begin with "threadlocal."' \
    "$(stderr_of OTELCTX_EXTRA_ATTRIBUTES='a=b,threadlocal.x=1' /bin/true)"

same 'a service name that is not UTF-8 is told with its position' \
    'otelctx[PID]: error: OTEL_SERVICE_NAME: byte 3: expected valid UTF-8' \
    "$(stderr_of OTEL_SERVICE_NAME=$'ab\xff' /bin/true)"

same 'attributes beyond 64 KiB are told with their position' \
    'otelctx[PID]: error: OTEL_RESOURCE_ATTRIBUTES: byte 8: expected a payload of at most 65536 bytes' \
    "$(stderr_of OTEL_RESOURCE_ATTRIBUTES="a=1,b=,c=$(head -c 65530 /dev/zero | tr '\0' x)" /bin/true)"

same 'a service name beyond 64 KiB is told' \
    'otelctx[PID]: error: OTEL_SERVICE_NAME: byte 1: expected a payload of at most 65536 bytes' \
    "$(stderr_of OTEL_SERVICE_NAME="$(head -c 70000 /dev/zero | tr '\0' x)" /bin/true)"

same 'and the default one stands in' 'service.name=unknown_service:driver' \
    "$(with OTEL_SERVICE_NAME="$(head -c 70000 /dev/zero | tr '\0' x)")"

same 'a word that is none of the choices is told' \
    'otelctx[PID]: error: OTELCTX_PUBLISH: byte 1: expected always|configured' \
    "$(stderr_of OTELCTX_PUBLISH=sometimes /bin/true)"

# What a service name of SIZE bytes leaves for it: the payload's limit, not that
# of a default name, which it replaces.
long() { head -c "$1" /dev/zero | tr '\0' x; }
# Heads of the resource (4 bytes), of service.name=s (21 in all) and of a=; and
# what there is about threads: their schema (48) and an empty map of keys (37).
longest=$((65536 - 4 - 21 - 4 - 3 - 4 - 4 - 48 - 37))
fits() {
    stderr_of OTEL_SERVICE_NAME=s OTEL_RESOURCE_ATTRIBUTES="a=$(long "$1")" \
        /bin/true
}
same 'the longest payload that readers take is published' '' "$(fits $longest)"
contains 'one byte more is refused' 'a payload of at most 65536 bytes' \
    "$(fits $((longest + 1)))"
drive OTEL_RESOURCE_ATTRIBUTES="a=$(long $longest)"
same 'attributes that leave no room for a service name are refused' \
    'service.name=unknown_service:driver' "$(resource "$PID")"
contains 'and that is told' 'OTEL_RESOURCE_ATTRIBUTES: byte 1: expected a payload' \
    "$(cat "$TMP/stderr")"
stop
same 'a service name that is too long costs no attribute' \
    $'a=1\nservice.name=unknown_service:driver' \
    "$(with OTEL_SERVICE_NAME="$(long 70000)" OTEL_RESOURCE_ATTRIBUTES=a=1)"

# Environments of any size, at a bounded cost.
garbage() {
    timeout 20 env LD_PRELOAD="$SHIM" OTELCTX_LOG_LEVEL=none \
        OTEL_RESOURCE_ATTRIBUTES="$1" OTELCTX_EXTRA_ATTRIBUTES="$1" \
        OTELCTX_EXCLUDE_PATHS="$1" OTEL_SERVICE_NAME="$1" /bin/true
}
check '30000 keys are no trouble' garbage "$(seq -f '%g=' -s, 1 16000 | head -c 120000)"
check 'nor are 120 KB of commas' garbage "$(long 120000 | tr x ,)"
check 'nor of brackets' garbage "$(long 120000 | tr x '[')"
check 'nor of bytes that are no text' garbage "$(long 120000 | tr x '\377')"

same 'several errors are told one by one' 3 \
    "$(stderr_of OTELCTX_PUBLISH=x OTELCTX_DISABLED=y OTEL_RESOURCE_ATTRIBUTES=z /bin/true | wc -l)"

same 'OTELCTX_LOG_LEVEL=none silences errors' '' \
    "$(stderr_of OTELCTX_LOG_LEVEL=none OTEL_RESOURCE_ATTRIBUTES=x /bin/true)"

contains 'OTELCTX_LOG_LEVEL=info says what was published' \
    'otelctx[PID]: info: published a process context of ' \
    "$(stderr_of OTELCTX_LOG_LEVEL=Info /bin/true)"

contains 'OTELCTX_LOG_LEVEL=info names what some readers will not take' \
    'some readers will not take it: a key or value is longer than 4096 bytes' \
    "$(stderr_of OTELCTX_LOG_LEVEL=info OTEL_SERVICE_NAME="$(head -c 4097 /dev/zero | tr '\0' x)" /bin/true)"

same 'OTELCTX_LOG_LEVEL=warn does not' '' \
    "$(stderr_of OTELCTX_LOG_LEVEL=warn OTEL_SERVICE_NAME="$(head -c 4097 /dev/zero | tr '\0' x)" /bin/true)"

contains 'OTELCTX_LOG_LEVEL=debug says where each setting came from' \
    'debug: OTEL_SERVICE_NAME: 3 bytes from the environment' \
    "$(stderr_of OTELCTX_LOG_LEVEL=debug OTEL_SERVICE_NAME=abc /bin/true)"

# The file.

in_file '# a comment' '' '  OTEL_SERVICE_NAME = from file ' \
    'OTEL_RESOURCE_ATTRIBUTES=a=file,b=file'
same 'the file gives what the environment does not' \
    $'service.name=from file\na=file\nb=file' "$(with OTELCTX_CONFIG_FILE="$conf")"

same 'the environment beats the file, each variable whole' \
    $'service.name=from file\nc=env' \
    "$(with OTELCTX_CONFIG_FILE="$conf" OTEL_RESOURCE_ATTRIBUTES=c=env)"

same 'an empty variable leaves it to the file' \
    $'service.name=from file\na=file\nb=file' \
    "$(with OTELCTX_CONFIG_FILE="$conf" OTEL_SERVICE_NAME=)"

contains 'OTELCTX_LOG_LEVEL=debug tells the file, too' \
    "debug: OTEL_SERVICE_NAME: 9 bytes from $conf" \
    "$(stderr_of OTELCTX_LOG_LEVEL=debug OTELCTX_CONFIG_FILE="$conf" /bin/true)"

in_file nonsense OTELCTX_PUBLISH=x OTEL_RESOURCE_ATTRIBUTES=a \
    OTELCTX_LOG_LEVEL=none
same 'the log level of the file holds for all of the file' '' \
    "$(stderr_of OTELCTX_CONFIG_FILE="$conf" /bin/true)"

in_file 'OTEL_SERVICE_NAME=first' 'nonsense' 'OTEL_NONSENSE=1' \
    'OTELCTX_CONFIG_FILE=/x' 'OTEL_SERVICE_NAME=last'
same 'each wrong line of the file is told with its number' \
    "otelctx[PID]: error: $conf: line 2: byte 1: expected NAME=value or a comment
otelctx[PID]: error: $conf: line 3: byte 1: expected the name of an option
otelctx[PID]: error: $conf: line 4: byte 1: expected OTELCTX_CONFIG_FILE in the environment only" \
    "$(stderr_of OTELCTX_CONFIG_FILE="$conf" /bin/true)"

in_file 'OTEL_SERVICE_NAME=first' 'OTEL_SERVICE_NAME='
same 'a line without a value unsets what the file said before' \
    'service.name=unknown_service:driver' "$(with OTELCTX_CONFIG_FILE="$conf")"

in_file 'OTEL_SERVICE_NAME=first' 'nonsense' 'OTEL_SERVICE_NAME=last'
same 'the other lines count, the last of a name' 'service.name=last' \
    "$(with OTELCTX_CONFIG_FILE="$conf")"

in_file 'OTEL_RESOURCE_ATTRIBUTES=a=1,b=%'
same 'a fault in a value is told with line and position' \
    "otelctx[PID]: error: $conf: line 1: OTEL_RESOURCE_ATTRIBUTES: byte 7: expected two hexadecimal digits after '%'" \
    "$(stderr_of OTELCTX_CONFIG_FILE="$conf" /bin/true)"

yes nonsense | head -n 1000 >"$conf"
same 'a file that is something else is not told line by line' 10 \
    "$(stderr_of OTELCTX_CONFIG_FILE="$conf" /bin/true | wc -l)"

wrong="expected a readable regular file of at most 65536 bytes"
mkfifo "$TMP/fifo"
head -c 65537 /dev/zero | tr '\0' '#' >"$TMP/huge"
same 'a file of 64 KiB and a byte is refused' \
    "otelctx[PID]: error: $TMP/huge: $wrong (errno 27)" \
    "$(stderr_of OTELCTX_CONFIG_FILE="$TMP/huge" /bin/true)"
truncate -s 65536 "$TMP/huge"
same 'a file of 64 KiB is read' '' \
    "$(stderr_of OTELCTX_CONFIG_FILE="$TMP/huge" /bin/true)"
same 'a FIFO is refused at once' \
    "otelctx[PID]: error: $TMP/fifo: $wrong (errno 22)" \
    "$(stderr_of OTELCTX_CONFIG_FILE="$TMP/fifo" timeout 5 /bin/true | uniq -c |
        sed 's/^ *[0-9]* //')"
same 'a directory is refused' \
    "otelctx[PID]: error: $TMP: $wrong (errno 22)" \
    "$(stderr_of OTELCTX_CONFIG_FILE="$TMP" /bin/true)"
same 'a file that was asked for and is not there is told' \
    "otelctx[PID]: error: $TMP/none: $wrong (errno 2)" \
    "$(stderr_of OTELCTX_CONFIG_FILE="$TMP/none" /bin/true)"

same 'and the environment counts all the same' 'service.name=still' \
    "$(with OTELCTX_CONFIG_FILE="$TMP/none" OTEL_SERVICE_NAME=still)"
slashes=$(head -c 4096 /dev/zero | tr '\0' /)
same 'a path beyond 4095 bytes is refused, and cut when it is told' \
    "otelctx[PID]: error: ${slashes:0:255}: $wrong (errno 36)" \
    "$(stderr_of OTELCTX_CONFIG_FILE="$slashes" /bin/true)"

drive
before=$(usage)
stop
for file in "$conf" "$TMP/huge" "$TMP"; do
    drive OTELCTX_CONFIG_FILE="$file"
    same "reading $(stat -c %F "$file") leaves no descriptor or memory behind" \
        "$before" "$(usage)"
    stop
done

# Where to work, and where not.

for name in OTEL_SDK_DISABLED OTELCTX_DISABLED; do
    drive $name=tRUE
    same "$name: nothing is published" no_context "$(status "$PID")"
    same "$name: every call returns -ENOSYS" '-38 -38 -38 -38 -38' \
        "$ABI $(call set a b) $(call extra a b) $(call publish) $(call drop)"
    stop
done

in_file 'OTELCTX_DISABLED=true' 'nonsense' 'OTELCTX_PUBLISH=nonsense'
drive OTELCTX_CONFIG_FILE="$conf"
same 'the file disables the shim, too, and then its faults are nobody'\''s' \
    no_context "$(status "$PID")$(cat "$TMP/stderr")"
rm "$conf"
same 'for as long as the process lives' -38 "$(call publish)"
stop

# calls [NAME=VALUE]...: the system calls between the linker's last one, which
# unmaps ld.so.cache, and the program's end.
calls() {
    strace -o "$TMP/trace" -E LD_PRELOAD="$SHIM" "$@" /bin/true
    sed '1,/^munmap(/d; /^exit_group/,$d' "$TMP/trace"
}
in_file OTEL_SERVICE_NAME=x
contains 'enabled, it makes system calls' memfd_create "$(calls)"
same 'disabled, it makes none' '' \
    "$(calls -E OTELCTX_DISABLED=true -E OTELCTX_CONFIG_FILE="$conf")"

same 'a switch that is neither true nor false is told and counts as false' \
    $'otelctx[PID]: error: OTELCTX_DISABLED: byte 1: expected false|true\nok' \
    "$(drive OTELCTX_DISABLED=1; sed 's/\[[0-9]*\]/[PID]/' "$TMP/stderr"; status "$PID"; stop)"

excluded() {
    drive "$@"
    echo "$(status "$PID") $ABI$(cat "$TMP/stderr")"
    stop
}
here=$(dirname "$(realpath "$DRIVER")")
same 'an excluded path: nothing is published, no call works' 'no_context -38' \
    "$(excluded OTELCTX_EXCLUDE_PATHS="/x,$here/*")"
same 'and no fault is told' '' \
    "$(stderr_of OTELCTX_EXCLUDE_PATHS='*' OTELCTX_PUBLISH=x /bin/true)"
same 'another excluded path: published' 'ok 1' \
    "$(excluded OTELCTX_EXCLUDE_PATHS="/x,$here/x*")"
same 'an included path: published' 'ok 1' "$(excluded OTELCTX_INCLUDE_PATHS="*/driver")"
same 'not an included path: nothing is published' 'no_context -38' \
    "$(excluded OTELCTX_INCLUDE_PATHS=/usr/bin/*)"
same 'included and excluded: nothing is published' 'no_context -38' \
    "$(excluded OTELCTX_INCLUDE_PATHS='*' OTELCTX_EXCLUDE_PATHS='*')"

drive OTELCTX_PUBLISH=configured OTEL_RESOURCE_ATTRIBUTES=,,
same 'OTELCTX_PUBLISH=configured without an attribute is silent' no_context \
    "$(status "$PID")$(cat "$TMP/stderr")"
same 'but the calls work' '1 0 0' "$ABI $(call set a b) $(call publish)"
same 'and publish what was set, with the default name' \
    $'service.name=unknown_service:driver\na=b' "$(resource "$PID")"
stop
drive OTELCTX_PUBLISH=configured
same 'OTELCTX_PUBLISH=configured with nothing at all is silent' no_context \
    "$(status "$PID")$(cat "$TMP/stderr")"
stop
same 'OTELCTX_PUBLISH=configured with one attribute publishes' \
    $'a=b\nservice.name=unknown_service:driver' \
    "$(with OTELCTX_PUBLISH=configured OTEL_RESOURCE_ATTRIBUTES=a=b)"

same 'or with a service name' service.name=x \
    "$(with OTELCTX_PUBLISH=configured OTEL_SERVICE_NAME=x)"
same 'or with an extra attribute' service.name=unknown_service:driver \
    "$(with OTELCTX_PUBLISH=configured OTELCTX_EXTRA_ATTRIBUTES=a=b)"

# The system calls that the manual lists for seccomp filters.
echo OTEL_SERVICE_NAME=a >"$conf"
unlisted() {
    local settings call

    for settings in OTELCTX_PUBLISH=x OTELCTX_CONFIG_FILE="$conf" \
        OTELCTX_EXCLUDE_PATHS=x OTEL_SERVICE_NAME="$(long 5000)" \
        OTELCTX_TRACEPARENT=all; do
        strace -o "$TMP/trace" -E LD_PRELOAD="$SHIM" -E "$settings" \
            -E TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 \
            /bin/true 2>/dev/null
        # From the shim's first call on.
        sed -n '/"[^"]*otelctx.conf"/,/^exit_group/s/(.*//p' "$TMP/trace"
    done | sort -u | grep -vx -e exit_group | while read -r call; do
        sed -n '/seccomp/,$p' "$ROOT/shim/libotelctx_preload.7" |
            grep -qw "${call/newfstatat/fstat}" || echo "$call"
    done
}
same 'libotelctx_preload(7) lists every system call' '' "$(unlisted)"

# A program with elevated privileges, preloaded into by the system.
secure() {
    # shellcheck disable=SC2016 # for the shell inside
    unshare -m bash -eu -c '
        mount -t tmpfs none /mnt && cp -a /etc /mnt/etc && mount --bind /mnt/etc /etc
        echo "$1" >/etc/ld.so.preload
        mkdir -p /etc/otelctx
        echo OTEL_RESOURCE_ATTRIBUTES=from=file >/etc/otelctx/otelctx.conf
        cp "$2" /mnt/driver && chown nobody /mnt/driver && chmod "$3" /mnt/driver
        cp "$1" /mnt/shim.so && echo /mnt/shim.so >/etc/ld.so.preload
        export OTEL_SERVICE_NAME=from_environment
        coproc HOST { exec /mnt/driver; }
        echo abi >&"${HOST[1]}"
        read -r _ <&"${HOST[0]}"
        "$4" --json "$HOST_PID"
        kill "$HOST_PID"' secure "$SHIM" "$DRIVER" "$1" "$READ" |
        jq -r '.contexts[0].resource.attributes[] | "\(.key)=\(.value.stringValue)"'
}
if can_mount; then
    same 'with elevated privileges only the default file counts' \
        $'from=file\nservice.name=unknown_service:driver' "$(secure 4755)"
    same 'without, the environment does, too' \
        $'service.name=from_environment\nfrom=file' "$(secure 0755)"
else
    skip 'with elevated privileges only the default file counts' \
        'machine: no mount namespaces'
fi

done_testing
