#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# otelctx-run: what it sets, what it leaves alone, and how it fails.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
cd "$TMP"

# run OPTION... COMMAND...: with the library of this build.
run() {
    "$RUN" --library "$SHIM" "$@"
}
same 'from a build directory it finds the library of that build' \
    "$(realpath "$SHIM")" "$("$RUN" env | sed -n 's/^LD_PRELOAD=//p' | xargs -r realpath)"
# said COMMAND...: what it prints anywhere, and its status.
said() {
    local status=0

    "$@" 2>&1 || status=$?
    echo "exit $status"
}
# variables NAME...: of the environment that it gives a command.
variables() {
    run "${@:2}" env 2>&1 | grep -E "^($1)=" | sort
}

cc -static -o static_program -x c - <<<'int main(void) { return 3; }'

# ---- the file ---------------------------------------------------------------

if command -v musl-gcc >/dev/null; then
    same 'it is static' '' "$(readelf -lW "$RUN" | grep INTERP || :)"
    strip -o stripped "$RUN"
    check 'stripped it has at most 108 KiB, with gcc 12 to 16' \
        [ "$(stat -c %s stripped)" -le 110592 ]
fi

# ---- what a command gets ----------------------------------------------------

cc -o show "$ROOT/tests/e2e/run/show.c"
same 'the library comes in front of other preloads, once' \
    "LD_PRELOAD=$SHIM:libm.so.6:libdl.so.2" \
    "$(LD_PRELOAD="libm.so.6 /x/libotelctx_preload.so:libdl.so.2" variables LD_PRELOAD)"
same 'variables that are set stay' 'OTEL_SERVICE_NAME=mine' \
    "$(OTEL_SERVICE_NAME=mine variables OTEL_SERVICE_NAME)"
same 'unless an option says otherwise' 'OTEL_SERVICE_NAME=other' \
    "$(OTEL_SERVICE_NAME=mine variables OTEL_SERVICE_NAME --service-name=other)"
same 'attributes are encoded, and replace those of their key' \
    'OTEL_RESOURCE_ATTRIBUTES=b=2,team=shop%2Cweb,a%3D=%C3%A9%25' \
    "$(OTEL_RESOURCE_ATTRIBUTES='team=x, b=2' variables OTEL_RESOURCE_ATTRIBUTES \
        --attr team=shop,web --attrs-from - <<<'# a file
a= = é%' | sed 's/a=%3D%20/a%3D=/')"
same 'an instance id is a word or an id' \
    'OTELCTX_INSTANCE_ID=generate OTEL_RESOURCE_ATTRIBUTES=service.instance.id=pod-7' \
    "$(variables 'OTEL.*' --instance-id=generate --instance-id pod-7 | xargs)"
same 'entities are collected' 'OTEL_ENTITIES=a{b=1};host{host.id=7}' \
    "$(OTEL_ENTITIES='a{b=1}' variables OTEL_ENTITIES --entity 'host{host.id=7}')"
same 'a malformed entity is refused' \
    "otelctx-run: --entity: expected a name, which begins with a letter at byte 9" \
    "$(run --entity 'garbage{' env 2>&1 | head -n 1)"
TRACE='00-[0-9a-f]{32}-[0-9a-f]{16}-03'
check 'a new trace is random' grep -qE \
    "^OTELCTX_TRACEPARENT=all TRACEPARENT=$TRACE\$" \
    <<<"$(variables '.*TRACEPARENT' --traceparent | xargs)"
check 'and another one every time' [ "$(variables TRACEPARENT --traceparent)" != \
    "$(variables TRACEPARENT --traceparent)" ]
same 'every option of the library is one of its own' '' "$(
    "$RUN" --help >help
    "$TABLE" | sed -n 's/^\.It Ev //p' | grep -v OTELCTX_EXPORTED_ID |
        while read -r name; do
            grep -q "\b$name\b" help || echo "$name"
        done)"
same 'the variables of Kubernetes become attributes, unless they are set' \
    'OTEL_RESOURCE_ATTRIBUTES=k8s.pod.name=mine,service.name=shop,service.version=2,service.namespace=s,k8s.namespace.name=n,k8s.pod.uid=u,k8s.container.name=c,k8s.node.name=node,x=1%2C' \
    "$(OTEL_RESOURCE_ATTRIBUTES=k8s.pod.name=mine OTEL_INJECTOR_SERVICE_NAME=shop \
        OTEL_INJECTOR_SERVICE_VERSION=2 OTEL_INJECTOR_SERVICE_NAMESPACE=s \
        OTEL_INJECTOR_K8S_NAMESPACE_NAME=n OTEL_INJECTOR_K8S_POD_NAME=p \
        OTEL_INJECTOR_K8S_POD_UID=u OTEL_INJECTOR_K8S_CONTAINER_NAME=c \
        OTEL_RESOURCE_ATTRIBUTES_POD_UID=other OTEL_RESOURCE_ATTRIBUTES_NODE_NAME=node \
        OTEL_INJECTOR_RESOURCE_ATTRIBUTES=x=1%2C,service.version=3 \
        variables OTEL_RESOURCE_ATTRIBUTES)"
wrong_list() {
    OTEL_INJECTOR_SERVICE_VERSION=2 OTEL_INJECTOR_RESOURCE_ATTRIBUTES=$1 \
        run "${@:2}" printenv OTEL_RESOURCE_ATTRIBUTES 2>&1
}
list_fault='otelctx-run: error: OTEL_INJECTOR_RESOURCE_ATTRIBUTES: byte 5: expected'
list_gone='; all of the variable is discarded'
same 'a malformed list of the injector is told and discarded whole' \
    "$list_fault key=value$list_gone"$'\nservice.version=2' "$(wrong_list 'x=1,bad,y=2')"
same 'so is one with a reserved key' \
    "$list_fault a key that does not begin with \"threadlocal.\"$list_gone"$'\nservice.version=2' \
    "$(wrong_list 'x=1,threadlocal.a=1')"
same '--quiet says nothing of it' service.version=2 "$(wrong_list 'x=1,bad' --quiet)"
same 'a service name that is set counts before that of the injector' '' \
    "$(OTEL_SERVICE_NAME=mine OTEL_INJECTOR_SERVICE_NAME=shop \
        variables OTEL_RESOURCE_ATTRIBUTES)"
same 'what it detects has the names of the semantic conventions' \
    "host.arch host.name os.type process.command process.executable.name process.executable.path process.owner" \
    "$(variables OTEL_RESOURCE_ATTRIBUTES --detect host,os,process |
        sed 's/^[A-Z_]*=//' | tr , '\n' | sed 's/=.*//' |
        grep -vxE 'host.id|os.(name|version|description)' | sort | xargs)"
check 'and their values' grep -q ",host.name=$(uname -n),.*os.type=linux" <<<",$(
    variables OTEL_RESOURCE_ATTRIBUTES --detect host,os | sed 's/^[A-Z_]*=//')"

# ---- the command itself -----------------------------------------------------

same 'the process is the same one, and so are argv[0] and the directory' \
    "same sh $TMP" "$(bash -c 'pid=$$; exec "$0" --library "$1" -- sh -c "
        [ \$\$ = $$ ] && printf \"same \"; printf \"%s \" \"\$(tr \"\\0\" \"\\n\" </proc/\$\$/cmdline | head -n 1)\"; pwd
        "' "$RUN" "$SHIM" 2>&1)"
same 'descriptors and signals are those of the caller' \
    "$(bash -c 'trap "" USR1; exec 7</dev/null; exec sh -c "ls /proc/self/fd; grep ^Sig[PBIC] /proc/self/status"')" \
    "$(bash -c 'trap "" USR1; exec 7</dev/null; exec "$0" --library "$1" sh -c "ls /proc/self/fd; grep ^Sig[PBIC] /proc/self/status"' "$RUN" "$SHIM")"
same 'with closed standard descriptors, too' "$(said sh -c 'exit 4' <&- 2>&-)" \
    "$(said run sh -c 'exit 4' <&- 2>&-)"
same 'its exit status is that of the command' 'exit 7' "$(said run sh -c 'exit 7')"
background "$RUN" --library "$SHIM" --service-name=here sleep 600
check 'it has a context' published "$PID"
same 'with its service name' 'service.name=here' "$(resource "$PID")"

# ---- only -------------------------------------------------------------------

cat >family.sh <<'END'
"$1" --json $$ | grep -o '"stringValue":"here"'
env | grep -E '^(LD_PRELOAD|OTEL.*)='
sleep 600 &
for ((tries = 0; tries < 1000; tries++)); do
    [[ $(</proc/$!/comm) != sleep || $(</proc/$!/wchan) != *nanosleep* ]] || break
    sleep 0.02
done
"$1" $! 2>&1 | head -n 1 | sed 's/PID [0-9]*/PID/'
kill $!
END
same 'only the command has the context, and children nothing but other preloads' \
    '"stringValue":"here"
OTEL_SERVICE_NAME=here
LD_PRELOAD=libm.so.6
otelctx-read: PID: no process context' \
    "$(LD_PRELOAD=libm.so.6 run --only --service-name=here bash family.sh "$READ" |
        sort -r | sed 's/^LD_PRELOAD=libm.so.6:$/LD_PRELOAD=libm.so.6/' | sort -r |
        awk '/stringValue/ {print "1 " $0} /^OTEL/ {print "2 " $0}
             /^LD/ {print "3 " $0} /^otelctx/ {print "4 " $0}' | sort | cut -c 3-)"
same 'the environment that main gets as an argument says the same' '' \
    "$(run --only ./show | tr '\0' '\n' | grep -aE '^(LD_PRELOAD|OTELCTX_.*)=.' || :)"

# ---- print ------------------------------------------------------------------

ODD="it's 100% \"x\" \\ é"
run --print --service-name="$ODD" >print.sh
same 'a shell reads back what it prints' "$ODD $SHIM" \
    "$(bash -c '. ./print.sh; echo "$OTEL_SERVICE_NAME $LD_PRELOAD"')"
same 'a unit has percent signs doubled' \
    'Environment="OTEL_SERVICE_NAME=it'\''s 100%% \"x\" \\ é"' \
    "$(run --print=unit --service-name="$ODD" | grep SERVICE)"
same 'and an env-file nothing but the value' "OTEL_SERVICE_NAME=$ODD" \
    "$(run --print=env --service-name="$ODD" | grep SERVICE)"

# ---- requests ---------------------------------------------------------------

mkdir both alone
cp "$SHIM" "$REQUESTS" both
cp "$SHIM" alone
# requests DIRECTORY [OPTION...]: with the libraries of that directory.
requests() {
    "$RUN" --library "$TMP/$1/${SHIM##*/}" --requests "${@:2}"
}
same '--requests preloads the library that is beside the other one' \
    "$TMP/both/libotelctx_preload.so:$TMP/both/libotelctx_requests.so" \
    "$(requests both printenv LD_PRELOAD)"
same 'from a build directory it finds that of the build' "$(realpath "$REQUESTS")" \
    "$("$RUN" --requests env | sed -n 's/^LD_PRELOAD=.*://p' | xargs -r realpath)"
same 'one that is not there is left out' \
    "otelctx-run: warn: without requests: $TMP/alone/libotelctx_requests.so: No such file or directory (install the library there, or give its full path)
$TMP/alone/libotelctx_preload.so
exit 0" "$(said requests alone printenv LD_PRELOAD)"
same 'which --strict refuses' \
    "otelctx-run: --requests: $TMP/alone/libotelctx_requests.so: No such file or directory
exit 125" "$(said requests alone --strict true)"
same '--check names it' " ok requests $TMP/both/libotelctx_requests.so" \
    "$(requests both --check true | grep ' requests ' | tr -s ' ')"
same 'or says that it is not there' \
    " FAILED requests $TMP/alone/libotelctx_requests.so: No such file or directory" \
    "$(requests alone --check true | grep ' requests ' | tr -s ' ')"
check 'with status 1' not requests alone --check true

# ---- failures ---------------------------------------------------------------

same 'no such command: 127' 'otelctx-run: nosuch: No such file or directory
exit 127' "$(said run nosuch)"
touch plain
same 'not executable: 126' 'otelctx-run: ./plain: Permission denied
exit 126' "$(said run ./plain)"
same 'a directory: 126' 'otelctx-run: ./: Permission denied
exit 126' "$(said run ./)"
for form in shell unit env; do
    same "--print=$form refuses a control character" \
        'otelctx-run: --print: OTEL_SERVICE_NAME has a control character, which could begin another line
exit 125' "$(said run --print=$form --service-name=$'a\nLD_AUDIT=/evil.so')"
done
printf '#!/nosuch\n' >orphan
chmod +x orphan
same 'a script without its interpreter' 'otelctx-run: ./orphan: No such file or directory
exit 127' "$(said run --quiet ./orphan)"
WARNING='otelctx-run: warn: without a context: ./static_program is static: no dynamic linker loads a library (link the program dynamically; build Go with cgo)'
same 'a static program runs, and a line says that it has no context' "$WARNING
exit 3" "$(said run ./static_program)"
same 'no line with --quiet' 'exit 3' "$(said run --quiet ./static_program)"
same 'nor at the log level error' 'exit 3' \
    "$(OTELCTX_LOG_LEVEL=error said run ./static_program)"
same '--strict does not run it' \
    'otelctx-run: ./static_program: ./static_program is static: no dynamic linker loads a library
exit 125' "$(said run --strict ./static_program)"
same 'a library that is not there is left out' \
    'otelctx-run: warn: without a context: /nosuch.so: No such file or directory (install the library there, or give its full path)
exit 0' "$(said "$RUN" --library /nosuch.so true)"
huge=$(head -c 131000 /dev/zero | tr '\0' x)
same 'attributes for which there is no room do not stop the command' 'exit 0' \
    "$(OTEL_RESOURCE_ATTRIBUTES=x=$huge said run --attr "y=$(head -c 9000 <<<"$huge")" true)"

refused() { # VALUE EXPECTED...
    same "it refuses $1" "otelctx-run: $1: $2
otelctx-run: --help shows how it is used
exit 125" "$(said run "$1" true)"
}
refused --nosuch 'there is no such option'
refused --only=x 'this option takes no value'
refused --attr=x 'expected key=value'
refused --attr==x "expected a key before '='"
refused --attr=threadlocal.x=1 'expected a key that does not begin with "threadlocal."'
refused --publish=never 'expected always|configured at byte 1'
refused --traceparent=00-x "expected a lower-case hexadecimal digit at byte 4"
refused --resource-attributes=a=%x "expected two hexadecimal digits after '%' at byte 3"
refused --attrs-from=/nosuch 'expected a file that can be read'
same 'it refuses to detect what it does not know' \
    'otelctx-run: --detect: expected container, host, os or process
exit 125' "$(said run --detect=moon true)"
same 'a command must be there' 'otelctx-run: a command is missing: --help shows how it is used
exit 125' "$(said run)"
same 'options end at the command' 'x --strict' \
    "$(run printf '%s ' x --strict | xargs)"

# Larger than the buffers of standard output, which are so written before the end.
long=a=$(printf %05000d 0)
for option in --help --version --check "--print --attr=$long"; do
    # shellcheck disable=SC2086 # some are two options
    same "${option%%[= ]*} says that it cannot be written" 125 \
        "$("$RUN" $option true 2>"$TMP/errors" >/dev/full || echo $?)"
    contains 'with the name of what it is' 'otelctx-run: standard output: ' "$(cat "$TMP/errors")"
done
same 'and so does otelctx-read with a long list of attributes' \
    'otelctx-read: cannot write: No space left on device
exit 1' "$(run --attr="$long" sh -c "'$READ' \$\$ >/dev/full; echo exit \$?" 2>&1)"
done_testing
