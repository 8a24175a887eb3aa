#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The command line of otelctx-read, and its messages.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

# said ARGUMENT...: what otelctx-read prints, then its exit status.
said() {
    local status=0

    "$READ" "$@" 2>&1 || status=$?
    echo "exit $status"
}

# ---- options ----------------------------------------------------------------

same 'a short option does the same as the long one' \
    "$(said --help)$(said --version)$(said --json --threads --all --list)" \
    "$(said -h)$(said -V)$(said -jtal)"
same '--help fits a terminal' '' "$("$READ" -h | awk 'length > 79')"
contains 'a letter without an option is quoted' '"-x"' "$(said -jx 1)"
contains 'so is a long option with a value that it does not take' '"--all=1"' \
    "$(said --all=1)"

# ---- --check-config ---------------------------------------------------------

cd "$TMP"

# checked TEXT: what otelctx-read says of a file with that text.
checked() {
    # shellcheck disable=SC2059 # escapes on purpose
    printf "$1" >conf
    said --check-config conf
}
same 'the sample configuration has no fault' "$ROOT/config/otelctx.conf: ok, 0 options
exit 0" "$(said --check-config "$ROOT/config/otelctx.conf")"
same 'the options that a file sets are counted' 'conf: ok, 2 options
exit 0' "$(checked '# no option\nOTEL_SERVICE_NAME=shop\r\n\n OTELCTX_FORK = DROP\n')"
same 'a misspelt name is quoted, and the nearest one is suggested' \
    'conf:2:2: expected the name of an option, found "OTEL_SERVCE_NAME"; did you mean OTEL_SERVICE_NAME?
exit 1' "$(checked '\n OTEL_SERVCE_NAME=shop\n')"
same 'the nearest name is suggested for one without prefix or in lower case' \
    'conf:1:1: expected the name of an option, found "LOG_LEVEL"; did you mean OTELCTX_LOG_LEVEL?
conf:2:1: expected the name of an option, found "otel_service_name"; did you mean OTEL_SERVICE_NAME?
exit 1' "$(checked 'LOG_LEVEL=warn\notel_service_name=x')"
same 'a name that is like no other gets no suggestion' \
    'conf:1:1: expected the name of an option, found "PATH"
exit 1' "$(checked 'PATH=/bin\n')"
same 'an option for the environment only is refused' \
    'conf:1:1: expected TRACEPARENT in the environment only
conf:2:1: expected OTELCTX_CONFIG_FILE in the environment only
exit 1' "$(checked 'TRACEPARENT=x\nOTELCTX_CONFIG_FILE=y\n')"
same 'syntax of other formats is recognised' \
    'conf:1:1: expected NAME=value or a comment, found "\xef\xbb\xbf# conf"; remove the byte order mark (U+FEFF)
conf:2:1: expected NAME=value or a comment, found "[section]"; remove it: the file has no sections
conf:3:1: expected the name of an option, found "export OTELCTX_FORK"; remove "export": this is no shell script
conf:4:19: expected a value without quotes, found "OTEL_SERVICE_NAME=\"shop\""
exit 1' "$(checked '\xef\xbb\xbf# conf\n[section]\nexport OTELCTX_FORK=drop\nOTEL_SERVICE_NAME="shop"\n' |
    sed 's/"[^"]*# conf"/"\\xef\\xbb\\xbf# conf"/')"
same 'a word that is not in the list is quoted' \
    'conf:1:18: expected false|true, found "1"; all of this OTELCTX_DISABLED counts for nothing
exit 1' "$(checked 'OTELCTX_DISABLED=1\n')"
same 'a fault in an attribute is told with its byte in the line' \
    "conf:1:33: expected two hexadecimal digits after '%'; all of this OTEL_RESOURCE_ATTRIBUTES counts for nothing
conf:2:26: expected a key that does not begin with \"threadlocal.\"; all of this OTELCTX_EXTRA_ATTRIBUTES counts for nothing
exit 1" "$(checked 'OTEL_RESOURCE_ATTRIBUTES=a=b, c=%%x1\nOTELCTX_EXTRA_ATTRIBUTES=threadlocal.x=1\n')"
same 'a value that is accepted, but hardly meant, is a warning' \
    'conf:2:1: warning: OTELCTX_FORK overrides line 1
conf:3:30: warning: this pattern matches nothing: the path of a program begins with "/", and does not end in it
conf:4:24: warning: no reader knows this schema, but tlsdesc_v1_dev, tls_v1, go_pprof_labels_v1
conf: ok, 3 options
exit 0' "$(checked 'OTELCTX_FORK=drop\nOTELCTX_FORK=republish\nOTELCTX_INCLUDE_PATHS=/srv/*,python3\nOTELCTX_SCHEMA_VERSION=v9\n')"
same 'a control character inside an attribute or a name is a warning' \
    'conf:1:30: warning: this attribute has a control character
conf:2:20: warning: a control character
conf: ok, 2 options
exit 0' "$(checked 'OTEL_RESOURCE_ATTRIBUTES=a=1,b=x%%0Ay\nOTEL_SERVICE_NAME=s\001\n')"
same 'a malformed entity is told, and what an entity holds is decoded' \
    "conf:1:23: expected a name, which begins with a letter; that entity of this OTEL_ENTITIES counts for nothing
conf:2:26: expected two hexadecimal digits after '%'; that entity of this OTEL_ENTITIES counts for nothing
exit 1" "$(checked 'OTEL_ENTITIES=garbage{\nOTEL_ENTITIES=a{b=1};c{d=%%x}\n' | grep -v overrides)"
same 'keys that another option leaves no place are told' \
    'conf:1:24: expected no keys: only OTELCTX_THREAD_STORAGE tls has them
exit 1' "$(checked 'OTELCTX_ATTRIBUTE_KEYS=a,b\nOTELCTX_THREAD_STORAGE=ring\n')"
same 'so are those that a schema has none of' \
    'conf:2:24: expected no keys: this OTELCTX_SCHEMA_VERSION has none
exit 1' "$(checked 'OTELCTX_SCHEMA_VERSION=go_pprof_labels_v1\nOTELCTX_ATTRIBUTE_KEYS=a\n')"
same 'a limit of the shim is checked' \
    'conf:1:24: expected at most 256 keys; all of this OTELCTX_ATTRIBUTE_KEYS counts for nothing
exit 1' "$(checked "OTELCTX_ATTRIBUTE_KEYS=$(seq -s, 257)\n" | sed 's/:[0-9]*: exp/:24: exp/')"

same 'the longest name of a schema is 127 bytes' \
    'conf:1:151: expected at most 127 bytes; all of this OTELCTX_SCHEMA_VERSION counts for nothing
exit 1' "$(checked "OTELCTX_SCHEMA_VERSION=$(printf %0128d 0)\n")"
same 'a schema of another reader is accepted' 'conf: ok, 1 option
exit 0' "$(checked 'OTELCTX_SCHEMA_VERSION=go_pprof_labels_v1\n')"

same 'a file that is missing, not regular or too big is named' \
    'otelctx-read: none: No such file or directory
exit 1
otelctx-read: .: expected a regular file
exit 1
otelctx-read: fifo: expected a regular file
exit 1
otelctx-read: big: expected at most 65536 bytes
exit 1' "$(
        said --check-config none
        said --check-config .
        mkfifo fifo
        said --check-config fifo
        head -c 65537 /dev/zero | tr '\0' '#' >big
        said --check-config big
    )"
same 'without a file the usage is printed' \
    'otelctx-read: a file is missing behind "--check-config"
otelctx-read: --help shows how it is used
exit 2' "$(said --check-config)"

# faults CHECK: the lines with a fault, by the shim or by the checker.
of_shim() {
    stderr_of OTELCTX_CONFIG_FILE="$TMP/conf" /bin/true |
        sed -n 's/.*: line \([0-9]*\): .*/\1/p' | sort -u
}
of_checker() {
    "$READ" --check-config conf 2>&1 |
        sed -n '/: warning: /d; s/^conf:\([0-9]*\):.*/\1/p' | sort -u
}
printf '%s\n' OTELCTX_FORK=drp 'OTEL_SERVICE_NAME=é' x OTELCTX_NONE=1 \
    OTELCTX_PUBLISH=Configured OTEL_RESOURCE_ATTRIBUTES=a=1,b \
    OTELCTX_ATTRIBUTE_KEYS=a,b OTELCTX_TRACEPARENT=some =x '#' >conf
same 'the shim finds fault with the same lines' "$(of_shim)" "$(of_checker)"

# ---- which process ----------------------------------------------------------

# Not the distribution's sleep, which may be a program of many names.
cc -o "$TMP/sleeper" -x c - <<'END'
#include <unistd.h>
int main(void) { sleep(60); return 0; }
END

# called FILE NAME: runs that copy of the sleeper under the shim, with another name
# in /proc/PID/comm; waits until the process publishes.
called() {
    [ -e "$TMP/$1" ] || cp "$TMP/sleeper" "$TMP/$1"
    stay OTEL_SERVICE_NAME="$2" "$TMP/$1"
    published "$PID"
}
# pids NAME...: the pids of the processes that otelctx-read shows.
pids() {
    "$READ" --json "$@" 2>"$TMP/stderr" | jq -r .pid | paste -sd ' '
}
called otelctx_sleeper first
first=$PID
called otelctx_sleeper second
second=$PID
called otelctx_long_named_sleeper third
same 'a name stands for all processes of that name' \
    "$(printf '%s\n' "$first" "$second" | sort -n | paste -sd ' ')" \
    "$(pids otelctx_sleeper)"
same 'the name of an executable may be longer than 15 bytes' "$PID" \
    "$(pids otelctx_long_named_sleeper)"
rm "$TMP/otelctx_long_named_sleeper"
same 'the name stays the same when the file is removed' "$PID" \
    "$(pids otelctx_long_named_sleeper)"
same 'a part of a name matches no process' \
    "otelctx-read: no process is called 'otelctx_sleep'
exit 3" "$(said otelctx_sleep)"
same 'names and numbers may be mixed' "$PID $first" \
    "$(pids otelctx_long_named_sleeper otelctx_absent "$first")"
same 'a name without a process is reported' \
    "otelctx-read: no process is called 'otelctx_absent'" "$(<"$TMP/stderr")"
same 'a process id is not reported as a thread id' '' \
    "$("$READ" "$first" 2>&1 >"$TMP/out")"

drive
echo thread >&"$calls"
tids=()
until [ ${#tids[@]} = 2 ]; do tids=("/proc/$PID/task/"*); done
tid=${tids[1]##*/}
[ "$tid" != "$PID" ] || tid=${tids[0]##*/}
same 'a thread id is reported as one' \
    "otelctx-read: PID $tid: this is a thread of process $PID (driver)" \
    "$("$READ" "$tid" 2>&1 >"$TMP/out")"
contains 'the process of that thread is shown' unknown_service:driver "$(<"$TMP/out")"
call join >"$TMP/out"
stop

# ---- --list -----------------------------------------------------------------

drive OTEL_SERVICE_NAME=$'tab\there' OTELCTX_ATTRIBUTE_KEYS=key
call attach 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 >"$TMP/out"
same 'a list has a header, aligned columns, and a line for each process' \
    'COMMAND          SERVICE    THREADS  ATTACHED
otelctx_sleeper  first            1         0
driver           tab\there        1         1' \
    "$("$READ" --list --threads "$first" "$PID" | sed -E 's/^ *(PID|[0-9]+)  //')"
contains 'without numbers or names all processes are listed' \
    "$("$READ" --list --threads "$PID" | sed -E 1d\;'s/  +/ /g; s/^ *//')" \
    "$("$READ" --list --threads 2>/dev/null | sed -E 's/  +/ /g; s/^ *//')"
stop

drive OTEL_SERVICE_NAME=shop
in_list=$("$READ" --list "$PID")
case $(uname -m) in
x86_64) attached=0 ;;
*) attached=- ;;
esac
same 'a list stops threads only with --threads' "driver shop 1 $attached" \
    "$(sed 1d <<<"$in_list" | awk '{print $2, $3, $4, $5}')"
same 'a process without a context has no line' 'otelctx-read: PID 1: no process context
exit 5' "$(said --list $$ | sed "s/PID $$/PID 1/")"
same 'a list cannot be JSON' \
    'otelctx-read: --list goes without --json, --raw and --watch
otelctx-read: --help shows how it is used
exit 2' "$(said --list --json)"
stop

# ---- nothing to show --------------------------------------------------------

# alone COMMAND...: runs it in a pid namespace without other processes.
alone() {
    unshare -Urpf --mount-proc "$@" 2>&1
}
if alone true >"$TMP/out"; then
    same '--all says that no process has a context' 'otelctx-read: no process has a context
status 5' "$(alone "$READ" --all || echo "status $?")"
else
    skip '--all says that no process has a context' 'machine: no namespaces here'
fi

# Copies that every user may run: the build tree may be closed to others.
open=$(mktemp -d)
chmod 755 "$open"
cp "$READ" "$open/otelctx-read"
cp "$SHIM" "$open/shim.so"

# as OPTION...: reads $PID with these options of setpriv(1).
as() {
    setpriv "$@" "$open/otelctx-read" "$PID" 2>&1 >/dev/null | sed 's/.*PID [0-9]*: //'
}
nobody=(--reuid=65534 --regid=65534 --clear-groups)
if [ "$(id -u)" = 0 ] && setpriv --bounding-set=-sys_ptrace true; then
    background sleep 60
    same 'a user who may not read a process is told to be root' \
        'run otelctx-read as root, or with CAP_SYS_PTRACE' \
        "$(as "${nobody[@]}" | tail -n 1)"
    background setpriv "${nobody[@]}" env LD_PRELOAD="$open/shim.so" sleep 60
    published "$PID"
    contains 'root without the capability is told to get it' \
        'start its container with --cap-add=SYS_PTRACE' \
        "$(setpriv --bounding-set=-sys_ptrace "$READ" "$PID" 2>&1)"
else
    skip 'a user who may not read a process is told to be root' \
        'machine: only root can become somebody else'
fi
background sleep 60
if unshare -Ur true 2>/dev/null; then
    contains 'root of a user namespace is told to be root of the host' \
        'does not reach processes outside it: run otelctx-read as root of the host' \
        "$(unshare -Ur "$READ" "$PID" 2>&1)"
else
    skip 'root of a user namespace is told to be root of the host' \
        'machine: no user namespaces here'
fi
rm -r "$open"

done_testing
