#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The configuration, its effects and the messages about its mistakes.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

conf=$TMP/otelctx.conf
in_file() { printf '%s\n' "$@" >"$conf"; }

# with CHECK [NAME=VALUE]...: the resource of a process with these variables.
with() {
    drive "$@"
    resource "$PID"
    stop
}

# The attributes.

same 'without configuration service.name has the name of the executable' \
    'service.name=unknown_service:driver' "$(with)"

same 'OTEL_RESOURCE_ATTRIBUTES is split, trimmed and decoded, the last wins' \
    $'a=2,\nb=c=d\nservice.name=é' \
    "$(with OTEL_RESOURCE_ATTRIBUTES='a=1 ,,b = c=d,a=2%2C,service.name=%C3%A9')"

same 'a service name that is discarded leaves the default one' 'service.name=unknown_service:driver' \
    "$(with OTEL_RESOURCE_ATTRIBUTES=service.name=x,b)"

drive OTELCTX_EXTRA_ATTRIBUTES=k=v,e=
same 'OTELCTX_EXTRA_ATTRIBUTES are beside the resource' $'k=v\ne=' \
    "$(extra "$PID")"
stop

DRIVER=/dev/fd/9 drive 9<"$DRIVER"
same 'an executable without a name is an unknown_service' \
    'service.name=unknown_service' "$(resource "$PID")"
stop

# The name of the executable is the path that execve(2) got.
drive_at() {
    DRIVER=$1 drive
    resource "$PID"
    stop
}
mkdir "$TMP/here"
cp "$DRIVER" "$TMP/here/there"
same 'an executable below /dev/fd/NUMBER has a name' \
    service.name=unknown_service:there \
    "$(drive_at /dev/fd/8/there 8<"$TMP/here")"
cp "$DRIVER" "$TMP/$(printf 'n\xffme')"
same 'a name that is not UTF-8 is an unknown_service' service.name=unknown_service \
    "$(drive_at "$TMP/$(printf 'n\xffme')")"

printf '#!%s\n' "$DRIVER" >"$TMP/job.sh"
printf '#!/usr/bin/env %s\n' "$DRIVER" >"$TMP/env.sh"
chmod +x "$TMP/job.sh" "$TMP/env.sh"
same 'a script has its own name' service.name=unknown_service:job.sh \
    "$(drive_at "$TMP/job.sh")"
same 'behind env(1) it has that of the interpreter' \
    service.name=unknown_service:driver "$(drive_at "$TMP/env.sh")"

# An error has the variable, the position, what the shim found there and what it
# expected, and the consequence.
long() { head -c "$1" /dev/zero | tr '\0' x; }
gone='; all of the variable is discarded'

same 'a malformed attribute is told with its position' \
    'otelctx[PID]: error: OTEL_RESOURCE_ATTRIBUTES: byte 7: "%x1": expected two hexadecimal digits after '"'%'$gone" \
    "$(stderr_of OTEL_RESOURCE_ATTRIBUTES='a=b,c=%x1' /bin/true)"

same 'a service name that is not UTF-8 is told with its position' \
    'otelctx[PID]: error: OTEL_SERVICE_NAME: byte 3: "?": expected valid UTF-8'"$gone" \
    "$(stderr_of OTEL_SERVICE_NAME=$'ab\xff' /bin/true)"

same 'attributes beyond 64 KiB are told with their position' \
    'otelctx[PID]: error: OTEL_RESOURCE_ATTRIBUTES: byte 8: "c='"$(long 126)"'...": expected a payload of at most 65536 bytes'"$gone" \
    "$(stderr_of OTEL_RESOURCE_ATTRIBUTES="a=1,b=,c=$(head -c 65530 /dev/zero | tr '\0' x)" /bin/true)"

same 'a word that is not one of the choices is told' \
    'otelctx[PID]: error: OTELCTX_PUBLISH: byte 1: "sometimes": expected always|configured; the default counts' \
    "$(stderr_of OTELCTX_PUBLISH=sometimes /bin/true)"

# At warn: settings that count, but are hardly meant.
warned() {
    stderr_of OTELCTX_LOG_LEVEL=warn "$@" /bin/true
}
same 'a variable whose name begins with OTELCTX_ and is no option is told' \
    'otelctx[PID]: warn: unknown variables: 1, first "OTELCTX_LOGLEVEL=info"' \
    "$(warned OTELCTX_LOGLEVEL=info)"
same 'variables with other names are not told' '' "$(warned OTEL_EXPORTER=x OTELCOL_HOME=x)"
declarative='otelctx[PID]: warn: OTEL_CONFIG_FILE counts for SDKs only, which then ignore the other variables: '
declarative+="to publish an SDK's resource, add its bridge with OTELCTX_RESOURCE=sdk"
same 'a declarative configuration is told, with its remedy' "$declarative" \
    "$(warned OTEL_CONFIG_FILE=sdk.yaml)"
same 'with that remedy it is not told' '' \
    "$(warned OTELCTX_RESOURCE=sdk OTEL_CONFIG_FILE=sdk.yaml)"
same 'nor when it is empty, nor by default' '' \
    "$(warned OTEL_CONFIG_FILE=; stderr_of OTEL_CONFIG_FILE=sdk.yaml /bin/true)"
same 'by default a variable that is no option is not told' '' \
    "$(stderr_of OTELCTX_LOGLEVEL=info /bin/true)"
same 'a schema that no reader knows is told' \
    'otelctx[PID]: warn: OTELCTX_SCHEMA_VERSION: byte 1: "tls_v2": expected tlsdesc_v1_dev, tls_v1, go_pprof_labels_v1' \
    "$(warned OTELCTX_SCHEMA_VERSION=tls_v2)"
for schema in tlsdesc_v1_dev tls_v1 go_pprof_labels_v1; do
    same "the schema $schema is not told" '' "$(warned OTELCTX_SCHEMA_VERSION=$schema)"
done
same 'patterns that can match nothing are told, even where they disable the shim' \
    'otelctx[PID]: warn: OTELCTX_INCLUDE_PATHS: byte 1: "true": expected a whole path, as in /srv/*' \
    "$(warned OTELCTX_INCLUDE_PATHS=true)"

# At debug: what the shim decided, and why.
: >"$TMP/nothing"
decided() {
    stderr_of OTELCTX_LOG_LEVEL=debug OTELCTX_CONFIG_FILE="$TMP/nothing" "$@" \
        /bin/true | sed '/bytes from/d'
}
same 'debug tells that no pattern includes the program' \
    "otelctx[PID]: debug: off because of OTELCTX_INCLUDE_PATHS: no match for \"$(realpath /bin/true)\"" \
    "$(decided OTELCTX_INCLUDE_PATHS='/srv/*')"

# The longest value of attribute a beside service.name=s. Everything else: the head
# of the resource (4 bytes), service.name=s (21 in all) and the heads of a=; the
# schema of thread contexts (48) and an empty map of keys (37).
longest=$((65536 - 4 - 21 - 4 - 3 - 4 - 4 - 48 - 37))
fits() {
    stderr_of OTEL_SERVICE_NAME=s OTEL_RESOURCE_ATTRIBUTES="a=$(long "$1")" \
        /bin/true
}
same 'the longest payload that readers take is published' '' "$(fits $longest)"
contains 'one byte more is refused' 'a payload of at most 65536 bytes' \
    "$(fits $((longest + 1)))"

# The cost is bounded for an environment of any size.
garbage() {
    OTELCTX_LOG_LEVEL=none OTEL_RESOURCE_ATTRIBUTES="$1" \
        OTELCTX_EXTRA_ATTRIBUTES="$1" OTELCTX_EXCLUDE_PATHS="$1" \
        OTEL_SERVICE_NAME="$1" LD_PRELOAD="$SHIM" timeout 120 /bin/true
}
check '30000 keys take little time' garbage "$(seq -f '%g=' -s, 1 16000 | head -c 120000)"
check '120 KB of commas take little time' garbage "$(long 120000 | tr x ,)"
check '120 KB of brackets take little time' garbage "$(long 120000 | tr x '[')"
check '120 KB of bytes that are no text take little time' garbage "$(long 120000 | tr x '\377')"

same 'several errors are told one by one' 3 \
    "$(stderr_of OTELCTX_PUBLISH=x OTELCTX_DISABLED=y OTEL_RESOURCE_ATTRIBUTES=z /bin/true | wc -l)"

same 'OTELCTX_LOG_LEVEL=none silences errors' '' \
    "$(stderr_of OTELCTX_LOG_LEVEL=none OTEL_RESOURCE_ATTRIBUTES=x /bin/true)"

contains 'OTELCTX_LOG_LEVEL=info names what some readers will not take' \
    'some readers will not take it: a key or value is longer than 4096 bytes' \
    "$(stderr_of OTELCTX_LOG_LEVEL=info OTEL_SERVICE_NAME="$(head -c 4097 /dev/zero | tr '\0' x)" /bin/true)"

same 'OTELCTX_LOG_LEVEL=warn does not tell a payload beyond some readers' '' \
    "$(stderr_of OTELCTX_LOG_LEVEL=warn OTEL_SERVICE_NAME="$(head -c 4097 /dev/zero | tr '\0' x)" /bin/true)"

keys() { seq -f "k%g" -s, "$1"; }
too_many='info: some readers will not take the keys: there are more than 100'
same 'nor 100 keys' '' "$(stderr_of OTELCTX_LOG_LEVEL=info \
    OTELCTX_ATTRIBUTE_KEYS="$(keys 100)" /bin/true | grep readers || :)"
same 'but the 101st' "otelctx[PID]: $too_many" \
    "$(stderr_of OTELCTX_LOG_LEVEL=info \
        OTELCTX_ATTRIBUTE_KEYS="$(keys 102)" /bin/true | grep readers)"
same 'and a key that makes their map long' \
    'otelctx[PID]: info: some readers will not take the keys: their map is longer than 16383 bytes' \
    "$(stderr_of OTELCTX_LOG_LEVEL=info \
        OTELCTX_ATTRIBUTE_KEYS="a,$(long 16380),b" /bin/true | grep readers)"
drive OTELCTX_LOG_LEVEL=info OTELCTX_ATTRIBUTE_KEYS="$(keys 99)"
for key in a a b c; do
    call key $key
done >/dev/null
same 'a 101st key at run time is told once' "$too_many" \
    "$(sed -n 's/^otelctx[^ ]* //; /readers/p' "$TMP/stderr")"
stop

# Where the shim may print. A library whose constructor opens a file: if standard
# error is closed, the file becomes descriptor 2.
cat >"$TMP/opens.c" <<'END'
#include <fcntl.h>
#include <stdlib.h>
__attribute__((constructor)) static void first(void)
{
    if (getenv("DATA"))
        (void)!open(getenv("DATA"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
}
END
echo 'int main(void) { return 0; }' >"$TMP/idle.c"
for libc in glibc musl; do
    compile=gcc
    [ $libc = glibc ] || compile=musl-gcc
    $compile -shared -fPIC -o "$TMP/lib${libc}_opens.so" "$TMP/opens.c"
    $compile -o "$TMP/${libc}_idle" "$TMP/idle.c"
    $compile -o "$TMP/${libc}_linked" "$TMP/idle.c" -L"$TMP" \
        -Wl,--no-as-needed -l${libc}_opens -Wl,-rpath,"$TMP"
done
# data_of PROGRAM PRELOAD...: the content of the data file afterwards.
data_of() {
    echo nothing >"$TMP/data"
    env DATA="$TMP/data" OTEL_RESOURCE_ATTRIBUTES=wrong OTELCTX_LOG_LEVEL=debug \
        LD_PRELOAD="${*:2}" "$TMP/$1" 2>&-
    cat "$TMP/data"
}
for libc in glibc musl; do
    opens=$TMP/lib${libc}_opens.so
    for preloads in "$SHIM $opens" "$opens $SHIM"; do
        same "$libc: no line goes to a data file that became descriptor 2: ${preloads##*/} comes last" \
            '' "$(data_of "${libc}_idle" "$preloads")"
    done
    same "$libc: no line goes to a data file of a linked library" \
        '' "$(data_of "${libc}_linked" "$SHIM")"
    # told SENTENCE COMMAND...: the line of COMMAND is in $TMP/log.
    told() {
        : >"$TMP/log"
        (
            export LD_PRELOAD=$SHIM OTEL_RESOURCE_ATTRIBUTES=wrong
            "${@:2}"
        )
        contains "$libc: $1" 'error: OTEL_RESOURCE_ATTRIBUTES: byte' \
            "$(cat "$TMP/log")"
    }
    to_file() { exec "$TMP/${libc}_idle" 2>"$TMP/log"; }
    to_terminal() { LD_PRELOAD='' script -qec \
        "env LD_PRELOAD='$SHIM' '$TMP/${libc}_linked'" /dev/null >"$TMP/log"; }
    to_socket() {
        LD_PRELOAD='' python3 - "$TMP/${libc}_linked" "$SHIM" >"$TMP/log" <<'END'
import os, socket, subprocess, sys
ours, theirs = socket.socketpair()
subprocess.run([sys.argv[1]], stderr=theirs, check=True,
               env={**os.environ, "LD_PRELOAD": sys.argv[2]})
theirs.close()
print(ours.recv(1000).decode())
END
    }
    told 'a file is told' to_file
    told 'a terminal is told' to_terminal
    told 'a socket is told' to_socket
    : >"$TMP/log"
    LD_PRELOAD=$SHIM OTEL_RESOURCE_ATTRIBUTES=wrong "$TMP/${libc}_linked" \
        2>"$TMP/log"
    same "$libc: no line goes to a file that a library may have opened" '' \
        "$(cat "$TMP/log")"
    check "$libc: standard error may be /dev/null" \
        env LD_PRELOAD="$SHIM" OTEL_RESOURCE_ATTRIBUTES=wrong \
        "$TMP/${libc}_linked" 2>/dev/null
done

# The file.

in_file '# a comment' '' '  OTEL_SERVICE_NAME = from file ' \
    'OTEL_RESOURCE_ATTRIBUTES=a=file,b=file'
same 'the file sets what the environment does not' \
    $'service.name=from file\na=file\nb=file' "$(with OTELCTX_CONFIG_FILE="$conf")"

same 'the environment beats the file, each variable whole' \
    $'service.name=from file\nc=env' \
    "$(with OTELCTX_CONFIG_FILE="$conf" OTEL_RESOURCE_ATTRIBUTES=c=env)"

same 'where a variable is empty the file counts' \
    $'service.name=from file\na=file\nb=file' \
    "$(with OTELCTX_CONFIG_FILE="$conf" OTEL_SERVICE_NAME=)"

in_file nonsense OTELCTX_PUBLISH=x OTEL_RESOURCE_ATTRIBUTES=a \
    OTELCTX_LOG_LEVEL=none
same 'the log level of the file holds for all of the file' '' \
    "$(stderr_of OTELCTX_CONFIG_FILE="$conf" /bin/true)"

in_file 'OTEL_SERVICE_NAME=first' 'nonsense' 'OTEL_NONSENSE=1' \
    'OTELCTX_CONFIG_FILE=/x' 'OTEL_SERVICE_NAME=last'
same 'each wrong line of the file is told with its number' \
    "otelctx[PID]: error: $conf: line 2: byte 1: \"nonsense\": expected NAME=value or a comment
otelctx[PID]: error: $conf: line 3: byte 1: \"OTEL_NONSENSE=1\": expected the name of an option
otelctx[PID]: error: $conf: line 4: byte 1: \"OTELCTX_CONFIG_FILE=/x\": expected it in the environment" \
    "$(stderr_of OTELCTX_CONFIG_FILE="$conf" /bin/true)"

in_file 'OTEL_SERVICE_NAME=first' 'OTEL_SERVICE_NAME='
same 'a line without a value unsets an earlier line' \
    'service.name=unknown_service:driver' "$(with OTELCTX_CONFIG_FILE="$conf")"

in_file 'OTEL_RESOURCE_ATTRIBUTES=a=1,b=%'
same 'a fault in a value is told with line and position' \
    "otelctx[PID]: error: $conf: line 1: OTEL_RESOURCE_ATTRIBUTES: byte 7: \"%\": expected two hexadecimal digits after '%'$gone" \
    "$(stderr_of OTELCTX_CONFIG_FILE="$conf" /bin/true)"

# failing CALL ERROR FILE [-E NAME=VALUE]...: the message when a system call on the
# file fails.
failing() {
    echo OTEL_SERVICE_NAME=x >"$conf"
    strace -o /dev/null -P "$3" -e inject="$1:error=$2" \
        -E LD_PRELOAD="$SHIM" "${@:4}" /bin/true 2>&1 |
        sed 's/^otelctx\[[0-9]*\]/otelctx[PID]/'
}
wrong='expected a readable file'
mkfifo "$TMP/fifo"
head -c 65536 /dev/zero | tr '\0' '#' >"$TMP/huge"
same 'a FIFO is refused at once' \
    "otelctx[PID]: error: $TMP/fifo: expected a regular file (errno 22)" \
    "$(stderr_of OTELCTX_CONFIG_FILE="$TMP/fifo" timeout 60 /bin/true | uniq -c |
        sed 's/^ *[0-9]* //')"
same 'a file that may not be read is told' \
    "otelctx[PID]: error: $conf: expected permission to read it (errno 13)" \
    "$(failing openat EACCES "$conf" -E OTELCTX_CONFIG_FILE="$conf")"

for err in EIO:5 ENXIO:6 EMFILE:24; do
    for call in openat fstat,newfstatat read; do
        same "a configured file, $call: ${err%:*}: told" \
            "otelctx[PID]: error: $conf: $wrong (errno ${err#*:})" \
            "$(failing "$call" "${err%:*}" "$conf" -E OTELCTX_CONFIG_FILE="$conf")"
    done
    same "the default file, openat: ${err%:*}: told at warn" \
        "otelctx[PID]: warn: /etc/otelctx/otelctx.conf: $wrong (errno ${err#*:})" \
        "$(failing openat "${err%:*}" /etc/otelctx/otelctx.conf \
            -E OTELCTX_LOG_LEVEL=warn)"
done
for err in ENOENT ENOTDIR EACCES; do
    same "the default file, openat: $err: not told" '' \
        "$(failing openat "$err" /etc/otelctx/otelctx.conf \
            -E OTELCTX_LOG_LEVEL=warn)"
done
: >"$TMP/empty"
same 'an empty file is no fault' '' \
    "$(stderr_of OTELCTX_CONFIG_FILE="$TMP/empty" /bin/true)"
same 'a file that the kernel generates is not read, which could empty it' '' "$(
    strace -o "$TMP/trace" -P /proc/kmsg -e trace=read,pread64,mmap \
        -E LD_PRELOAD="$SHIM" -E OTELCTX_CONFIG_FILE=/proc/kmsg /bin/true 2>&1
    grep -v '^+++' "$TMP/trace")"

same 'the environment counts although the file is refused' 'service.name=still' \
    "$(with OTELCTX_CONFIG_FILE="$TMP/none" OTEL_SERVICE_NAME=still)"
slashes=$(head -c 4096 /dev/zero | tr '\0' /)
same 'a path beyond 4095 bytes is refused, and cut in the message' \
    "otelctx[PID]: error: ${slashes:0:128}...: $wrong (errno 36)" \
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
same 'the file may disable the shim, and then its faults are not told' \
    no_context "$(status "$PID")$(cat "$TMP/stderr")"
rm "$conf"
same 'a shim that the file disables stays disabled' -38 "$(call publish)"
stop

# calls [NAME=VALUE]...: the system calls between the linker's last one, which
# unmaps ld.so.cache, and the program's end.
calls() {
    strace -o "$TMP/trace" -E LD_PRELOAD="$SHIM" "$@" /bin/true
    sed '1,/^munmap(/d; /^exit_group/,$d' "$TMP/trace"
}
in_file OTEL_SERVICE_NAME=x
contains 'enabled, it makes system calls' memfd_create "$(calls)"
same 'a disabled shim makes no system call' '' \
    "$(calls -E OTELCTX_DISABLED=true -E OTELCTX_CONFIG_FILE="$conf")"

same 'a switch that is neither true nor false is told and counts as false' \
    $'otelctx[PID]: error: OTELCTX_DISABLED: byte 1: "1": expected false|true; the shim stays on\nok' \
    "$(drive OTELCTX_DISABLED=1; sed 's/\[[0-9]*\]/[PID]/' "$TMP/stderr"; status "$PID"; stop)"

excluded() {
    drive "$@"
    echo "$(status "$PID") $ABI$(cat "$TMP/stderr")"
    stop
}
here=$(dirname "$(realpath "$DRIVER")")
same 'an excluded path: nothing is published, no call works' 'no_context -38' \
    "$(excluded OTELCTX_EXCLUDE_PATHS="/x,$here/*")"
same 'another excluded path: published' 'ok 1' \
    "$(excluded OTELCTX_EXCLUDE_PATHS="/x,$here/x*")"

drive OTELCTX_PUBLISH=configured OTEL_RESOURCE_ATTRIBUTES=,,
same 'OTELCTX_PUBLISH=configured without an attribute is silent' no_context \
    "$(status "$PID")$(cat "$TMP/stderr")"
same 'in a silent program the calls work' '1 0 0' "$ABI $(call set a b) $(call publish)"
same 'a silent program publishes what it sets, with the default name' \
    $'service.name=unknown_service:driver\na=b' "$(resource "$PID")"
stop

same 'OTELCTX_PUBLISH=configured with a service name publishes' service.name=x \
    "$(with OTELCTX_PUBLISH=configured OTEL_SERVICE_NAME=x)"
same 'OTELCTX_PUBLISH=configured with an extra attribute publishes' service.name=unknown_service:driver \
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

# A program with elevated privileges, into which the system preloads the shim.
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
# default_told [NAME=VALUE]...: the messages about a default file with mistakes.
default_told() {
    # shellcheck disable=SC2016 # for the shell inside
    unshare -m bash -eu -c '
        mount -t tmpfs none /mnt && cp -a /etc /mnt/etc && mount --bind /mnt/etc /etc
        mkdir -p /etc/otelctx
        printf "%s\n" OTEL_NAME=x OTEL_RESOURCE_ATTRIBUTES=x >/etc/otelctx/otelctx.conf
        exec env "LD_PRELOAD=$1" "${@:2}" /bin/true' default_told "$SHIM" "$@" 2>&1 |
        sed 's/^otelctx\[[0-9]*\]/otelctx[PID]/'
}
if can_mount; then
    same 'by default mistakes in the default file are not told' '' "$(default_told A=b)"
    same 'mistakes in the default file are told at warn' \
        'otelctx[PID]: warn: /etc/otelctx/otelctx.conf: line 1: byte 1: "OTEL_NAME=x": expected the name of an option
otelctx[PID]: warn: /etc/otelctx/otelctx.conf: line 2: OTEL_RESOURCE_ATTRIBUTES: byte 1: "x": expected key=value; all of the variable is discarded' \
        "$(default_told OTELCTX_LOG_LEVEL=warn)"
    same 'with elevated privileges only the default file counts' \
        $'from=file\nservice.name=unknown_service:driver' "$(secure 4755)"
    same 'without elevated privileges the environment counts, too' \
        $'service.name=from_environment\nfrom=file' "$(secure 0755)"
else
    skip 'with elevated privileges only the default file counts' \
        'machine: no mount namespaces'
fi

done_testing
