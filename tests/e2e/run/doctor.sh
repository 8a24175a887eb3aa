#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# otelctx-run --check and otelctx-read --why: each reason for which a program has
# no context, provoked and named.
#
publisher=$OTELCTX_PUBLISHER
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
cd "$TMP"

check_command() {
    "$RUN" --library "$SHIM" --check "$@"
}
# before OPTION... COMMAND: what --check finds wrong, as "CHECK: FOUND".
before() {
    "$RUN" --library "$SHIM" --check --json "$@" | failed
}
# why PID: the same of --why.
why() {
    { "$READ" --json --why "$1" || :; } | failed
}
failed() {
    jq -r '.checks[] | select(.state == "failed") | "\(.check): \(.found)"'
}
# sleeping [NAME=VALUE]... COMMAND...: waits until the process sleeps.
sleeping() {
    local tries

    background env "$@"
    for ((tries = 0; tries < 1000; tries++)); do
        [[ $(<"/proc/$PID/comm") != sleep* ||
            $(<"/proc/$PID/wchan") != *nanosleep* ]] || break
        sleep 0.02
    done
}

# Not the distribution's sleep, which may be a program of many names.
cat >sleep.c <<'END'
#include <unistd.h>
int main(void) { sleep(600); return 0; }
END
cc -o sleeper sleep.c
cc -static -o sleep_static sleep.c

# ---- before -----------------------------------------------------------------

same 'a program that will have a context' \
    "ok command ok dynamic ok privileges ok sanitizer ok library ok architecture ok settings" \
    "$(check_command sleep | awk '{print $1, $2}' | xargs)"
check 'its status is 0' check_command sleep
check 'and 1 when something is wrong' not check_command ./sleep_static
same 'what comes behind a failed check is not reached' 5 \
    "$(check_command ./sleep_static | grep -c '^  -')"
same 'there is no such command' 'command: nosuch: No such file or directory' \
    "$(before nosuch)"
same 'the program is static' \
    'dynamic: ./sleep_static is static: no dynamic linker loads a library' \
    "$(before ./sleep_static)"
printf '#!%s\n' "$TMP/sleep_static" >script
chmod +x script
same 'a script runs a static program' \
    "dynamic: $TMP/sleep_static is static: no dynamic linker loads a library" \
    "$(before ./script)"
echo data >data
chmod +x data
same 'it is no program' 'dynamic: ./data is neither an ELF program nor a script' \
    "$(before ./data)"
same 'the program is disabled' \
    "settings: OTELCTX_DISABLED=true in the environment turns the library off for $TMP/sleeper" \
    "$(before --disabled true ./sleeper)"
same 'the program is excluded' \
    "settings: OTELCTX_EXCLUDE_PATHS=*/sleeper in the environment turns the library off for $TMP/sleeper" \
    "$(before --exclude-paths '*/sleeper' ./sleeper)"
same 'or not included' \
    "settings: OTELCTX_INCLUDE_PATHS=/srv/* in the environment turns the library off for $TMP/sleeper" \
    "$(before --include-paths '/srv/*' ./sleeper)"
echo OTELCTX_PUBLISH=configured >conf
same 'it is silent, says a file' \
    "settings: OTELCTX_PUBLISH=configured in $TMP/conf, and no attribute is configured" \
    "$(before --config "$TMP/conf" ./sleeper)"
declarative='OTEL_CONFIG_FILE counts for SDKs only, which then ignore the other variables: '
declarative+="to publish an SDK's resource, add its bridge with OTELCTX_RESOURCE=sdk"
same 'a declarative configuration is told' "the library is on; $declarative" \
    "$(OTEL_CONFIG_FILE=sdk.yaml check_command --json ./sleeper |
        jq -r '.checks[] | select(.check == "settings").found')"
same 'an entity is wrong' \
    "settings: OTEL_ENTITIES in the environment: byte 9: expected a name, which begins with a letter" \
    "$(OTEL_ENTITIES='garbage{' before ./sleeper)"
same 'keys have no place in the storage, or in the schema' \
    'settings: OTELCTX_ATTRIBUTE_KEYS in the environment: byte 1: expected no keys: only OTELCTX_THREAD_STORAGE tls has them
settings: OTELCTX_ATTRIBUTE_KEYS in the environment: byte 1: expected no keys: this OTELCTX_SCHEMA_VERSION has none' \
    "$(before --attribute-keys a --thread-storage ring ./sleeper
        before --attribute-keys a --schema-version go_pprof_labels_v1 ./sleeper)"
same 'a control character is published, and told' \
    'the library is on; OTEL_RESOURCE_ATTRIBUTES in the environment: byte 5: this attribute has a control character' \
    "$(OTEL_RESOURCE_ATTRIBUTES='a=1,b=x%0Ay' check_command --json ./sleeper |
        jq -r '.checks[] | select(.check == "settings").found')"
same 'a setting is wrong' \
    "settings: OTEL_RESOURCE_ATTRIBUTES in the environment: byte 3: expected two hexadecimal digits after '%'" \
    "$(OTEL_RESOURCE_ATTRIBUTES=a=%x before ./sleeper)"
same 'the library is not there' "library: /nosuch.so: No such file or directory" \
    "$(before --library /nosuch.so ./sleeper)"
same 'it is no library' "library: $TMP/data is no library" \
    "$(before --library "$TMP/data" ./sleeper)"
same 'LD_PRELOAD cannot name it' \
    "library: $TMP/a b.so: LD_PRELOAD cannot name a path with a space or a colon" \
    "$(cp "$SHIM" 'a b.so'; before --library "$TMP/a b.so" ./sleeper)"
# The headers of another machine are enough.
cp "$SHIM" other.so
printf '\xf3' | dd of=other.so bs=1 seek=18 conv=notrunc status=none
printf '\x00' | dd of=other.so bs=1 seek=19 conv=notrunc status=none
case $(uname -m) in
x86_64) machine=x86-64 ;;
*) machine=$(uname -m) ;;
esac
same 'it is for another architecture' \
    "architecture: the library is for RISC-V, ./sleeper for $machine" \
    "$(before --library "$TMP/other.so" ./sleeper)"
# So are those of a 32-bit program.
{ printf '\x7fELF\x01\x01\x01%09d\x03\x00\x03\x00' 0 | tr 0 '\0' && head -c 64 /dev/zero; } >narrow
chmod +x narrow
same 'the program is a 32-bit one' \
    "architecture: the library is for $machine, ./narrow for 32-bit x86" \
    "$(before ./narrow)"
gcc -fsanitize=address -o asan -x c - <<<'int main(void) { return 0; }'
contains 'GCC'\''s address sanitizer must be loaded first' \
    'sanitizer: ./asan needs libasan.so' "$(before ./asan)"
same 'then the program runs without the library' 'exit 0' \
    "$("$RUN" --library "$SHIM" --quiet ./asan 2>&1; echo "exit $?")"
if setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    chmod 755 "$TMP" "$(dirname "$SHIM")"
    cp "$RUN" otelctx-run
    cp "$SHIM" libotelctx_preload.so
    cp sleeper elevated
    chmod 4755 elevated
    same 'a setuid program' \
        'privileges: ./elevated is setuid: the dynamic linker ignores LD_PRELOAD' \
        "$(setpriv --reuid 65534 --clear-groups ./otelctx-run --check --json ./elevated | failed)"
    same 'not under no_new_privs' '' \
        "$(setpriv --no-new-privs --reuid 65534 --clear-groups ./otelctx-run --check --json ./elevated | failed)"
    cp "$SHIM" secret.so
    chmod 600 secret.so
    same 'a library that its user may not read' \
        'library: secret.so: Permission denied' \
        "$(setpriv --reuid 65534 --clear-groups ./otelctx-run --library secret.so \
            --check --json sleep | failed | sed "s|$TMP/||")"
else
    skip 'a setuid program' 'machine: no other user'
fi

# ---- while it runs ----------------------------------------------------------

stay ./sleeper 600
check 'a process with a context' published "$PID"
same 'has nothing wrong' '' "$(why "$PID")"
sleeping ./sleep_static
same 'a static program' \
    "dynamic: $TMP/sleep_static is static: no dynamic linker loads a library" \
    "$(why "$PID")"
contains 'without --why the reason is told, too' 'is static: no dynamic linker' \
    "$("$READ" "$PID" 2>&1 || :)"
sleeping -i ./sleeper 600
same 'env -i' \
    'preload: LD_PRELOAD is not in the environment that it started with' \
    "$(why "$PID")"
cp sleeper sleep_elevated
chown 65534 sleep_elevated
chmod 4755 sleep_elevated
sleeping LD_PRELOAD="$SHIM" ./sleep_elevated 600
same 'a setuid program' \
    'privileges: it has more privileges than its user (setuid or file capabilities): the dynamic linker ignores LD_PRELOAD' \
    "$(why "$PID")"
sleeping LD_PRELOAD=/nosuch/libotelctx_preload.so ./sleeper 600 2>/dev/null
same 'a wrong path' \
    'library: /nosuch/libotelctx_preload.so: No such file or directory' \
    "$(why "$PID")"
sleeping LD_PRELOAD="libm.so.6" ./sleeper 600
same 'another library' \
    'preload: LD_PRELOAD is libm.so.6 in the environment that it started with' \
    "$(why "$PID")"
sleeping LD_PRELOAD=/libotelctx_preload/other.so ./sleeper 600 2>/dev/null
same 'another library in a folder of that name' \
    'preload: LD_PRELOAD is /libotelctx_preload/other.so in the environment that it started with' \
    "$(why "$PID")"
sleeping LD_PRELOAD="$SHIM" OTELCTX_EXCLUDE_PATHS='*/sleeper' ./sleeper 600
same 'an excluded path' \
    "settings: OTELCTX_EXCLUDE_PATHS=*/sleeper in the environment turns the library off for $TMP/sleeper" \
    "$(why "$PID")"
sleeping LD_PRELOAD="$SHIM" OTEL_CONFIG_FILE=sdk.yaml ./sleeper 600
contains 'a declarative configuration' "published; $declarative" \
    "$("$READ" --why "$PID")"
sleeping LD_PRELOAD="$SHIM" OTEL_SDK_DISABLED=true ./sleeper 600
contains 'disabled' 'settings: OTEL_SDK_DISABLED=true in the environment' \
    "$(why "$PID")"
sleeping LD_PRELOAD="$SHIM" OTELCTX_CONFIG_FILE="$TMP/conf" ./sleeper 600
contains 'silent' "settings: OTELCTX_PUBLISH=configured in $TMP/conf" "$(why "$PID")"
cat >sleeper.c <<'END'
#include <unistd.h>
__thread void *otel_thread_ctx_v1;
int main(void)
{
    sleep(otel_thread_ctx_v1 ? 0 : 600);
    return 0;
}
END
gcc -o sleep_hiding sleeper.c
gcc -rdynamic -o sleep_exporting sleeper.c
sleeping LD_PRELOAD="$SHIM" ./sleep_hiding
same 'a thread context of its own that it does not export' \
    "threads: the program does not export its own otel_thread_ctx_v1: a profiler may take the library's, which is empty" \
    "$(why "$PID")"
sleeping LD_PRELOAD="$SHIM" ./sleep_exporting
same 'and one that it does' '' "$(why "$PID")"
# Where mappings have names, an anonymous one does.
if [ "$(naming)" = no ]; then
    # shellcheck disable=SC2016 # the other bash expands it
    sleeping bash -c 'ulimit -f 0; exec env LD_PRELOAD="$0" ./sleeper 600' "$SHIM"
    same 'a limit' \
        'limits: files may have 0 bytes, less than the mapping needs' "$(why "$PID")"
fi
# What the manual says of madvise and memfd_create.
refusing=(madvise)
[ "$(naming)" = yes ] || refusing+=(memfd_create)
for call in "${refusing[@]}"; do
    sleeping "$FILTERED" refuse 1 "$call" -- env LD_PRELOAD="$SHIM" ./sleeper 600
    same "a filter that refuses $call" \
        'seccomp: a filter (mode 2) may have refused what publishing needs' \
        "$(why "$PID")"
done
drive
call drop >/dev/null
memory_left 0
same 'a limit of the address space' '-12 limits: the address space may have N bytes and has N: no room for the mapping' \
    "$(call publish) $(why "$PID" | sed 's/[0-9][0-9]*/N/g')"
prlimit --pid "$PID" --as=unlimited:
same 'and without that limit' '0 ' "$(call publish) $(why "$PID")"
stop
drive
call drop >/dev/null
contains 'a context that the program withdrew' \
    'context: the library is at work and shows nothing' "$(why "$PID")"
stop
# another SENTENCE EXPECTED NAME=VALUE...: of a process with another publisher,
# which the library may notice at a call only.
another() {
    drive LD_PRELOAD="$SHIM:$publisher" "${@:3}"
    call set a b >/dev/null
    call publish >/dev/null
    same "$1" "$2" "$(why "$PID")"
    stop
}
for how in libc raw; do
    another "another publisher, by $how" \
        'context: the program, or an SDK in it, publishes in place of the library: its service.name is not set' \
        PUBLISHER="other $how"
done
another 'another publisher beside the library' \
    'context: the program, or an SDK in it, publishes as well' \
    PUBLISHER='other libc' OTELCTX_ON_OTHER_PUBLISHER=keep
drive OTEL_SERVICE_NAME=mine
call set service.name other >/dev/null
call publish >/dev/null
same 'another service name' \
    'context: the program, or an SDK in it, publishes in place of the library: its service.name is other' \
    "$(why "$PID")"
stop
mkdir -p elsewhere
if can_mount; then
    cp "$SHIM" elsewhere/libotelctx_preload.so
    sleeping LD_PRELOAD="$TMP/elsewhere/libotelctx_preload.so" unshare -m sh -c "
        mount -t tmpfs -o noexec none $TMP/elsewhere
        cat <$SHIM >$TMP/elsewhere/libotelctx_preload.so
        exec ./sleeper 600" 2>/dev/null
    same 'a mount with noexec, seen from outside its namespace' \
        "library: $TMP/elsewhere/libotelctx_preload.so is on a mount with noexec" \
        "$(why "$PID")"
fi
# A table of 65,534 sections, each of 60 MiB of symbols, in a sparse file.
cp sleeper sleep_bomb
python3 - <<'END'
import os, struct
size = os.path.getsize("sleep_bomb")
with open("sleep_bomb", "r+b") as bomb:
    bomb.seek(40)
    bomb.write(struct.pack("<Q", size))
    bomb.seek(58)
    bomb.write(struct.pack("<3H", 64, 65534, 1))
    bomb.seek(size)
    for i in range(65534):
        bomb.write(struct.pack("<IIQQQQIIQQ", 0, 11 if i % 2 else 2, 0, 0, 0, 60 << 20, 1, 0, 8, 24))
    bomb.truncate(100 << 20)
END
sleeping LD_PRELOAD="$SHIM" ./sleep_bomb 600
check 'an executable with thousands of symbol tables takes no minute' \
    timeout 60 "$READ" --why "$PID"
cc -o repeat -x c - <<<'#include <unistd.h>
int main(int argc, char **argv) { return argc + execv("/proc/self/exe", argv); }'
background env LD_PRELOAD="$SHIM" ./repeat
same 'a process that executes itself again and again is not accused' '' \
    "$(for ((i = 0; i < 40; i++)); do why "$PID"; done |
        grep 'did not load\|shows nothing' | sort -u)"
kill "$PID"
busy=()
for ((i = 0; i < 3 * $(nproc); i++)); do
    background bash -c 'while :; do :; done'
    busy+=("$PID")
done
background nice -n 19 env LD_PRELOAD="$SHIM" ./repeat
same 'nor is one that hardly gets a processor' '' \
    "$(for ((i = 0; i < 5; i++)); do why "$PID"; done |
        grep 'did not load\|shows nothing' | sort -u)"
kill "${busy[@]}" "$PID"
same 'a process that is not there' 'process: no such process' "$(why 4194304)"
same 'a thread of the kernel' 'process' "$(why 2 | sed 's/:.*//')"
# refused COMMAND...: what is wrong with this process, and what to do, by a reader
# that COMMAND starts.
refused() {
    { "$@" ./otelctx-read --json --why $$ || :; } | jq -r '.checks[] |
        select(.state == "failed") | "\(.check): \(.advice)"'
}
cp "$READ" otelctx-read
if setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    same 'one that another user may not read' \
        'process: run otelctx-read as root, or with CAP_SYS_PTRACE' \
        "$(refused setpriv --reuid 65534 --clear-groups)"
    sleeping setpriv --reuid 65534 --clear-groups ./sleeper 600
    same 'one that a root without the capability may not read' \
        'process: this root lacks CAP_SYS_PTRACE: start its container with --cap-add=SYS_PTRACE, or run otelctx-read on the host' \
        "$(refused setpriv --bounding-set -all --inh-caps -all)"
else
    skip 'one that another user may not read' 'machine: no other user'
fi
# shellcheck disable=SC2016
check 'its status is that of reading: 5 without a context' \
    bash -c '"$0" --why $$ >/dev/null; [ $? = 5 ]' "$READ"
done_testing
