#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The shim beside other tools that observe or change a process: preloaded
# libraries, in both orders, sanitizers, debuggers.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
cd "$TMP"
chmod 777 .
install "$SHIM" shim.so
install "$DRIVER" driver
SHIM=$TMP/shim.so DRIVER=$TMP/driver

ENOSYS=-38

# A program that uses what the companions interpose (memory, the clock, owners,
# streams, fsync) and prints its libraries except the shim.
cat >work.py <<'END'
import os, subprocess, sys, threading, time
def work(size):
    for _ in range(200):
        bytearray(size)
threads = [threading.Thread(target=work, args=(1 << n,)) for n in range(4, 20, 4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with open("owned", "w") as owned:
    os.fsync(owned.fileno())
os.chown("owned", 12, 34)
status = os.stat("owned")
os.remove("owned")
loaded = {line.split("/")[-1] for line in open("/proc/self/maps") if ".so" in line}
print("work:", status.st_uid, status.st_gid, time.gmtime().tm_year)
print("work:", sorted(loaded - {"shim.so\n"}))
sys.stdout.flush()
print("work:", subprocess.check_output(["echo", "done"]))
sys.exit(7)
END

# The driver's shell writes its pid: some companions run the driver as a child.
printf '#!/bin/sh\necho $$ >%s/pid\nexec %s\n' "$TMP" "$DRIVER" >tell
# shellcheck disable=SC2016 # for the script
printf '#!/bin/sh\nLD_PRELOAD="%s:$LD_PRELOAD" exec "$@"\n' "$SHIM" >shim_first
chmod +x tell shim_first

# run_as NAME COMMAND...: leaves output and status in NAME.out.
run_as() {
    local name=$1 status=0
    shift

    "$@" >"$name.out" 2>"$name.err" </dev/null || status=$?
    echo "$status" >>"$name.out"
    cat "$name.err" >>"$name.out"
}

# companion NAME LIBRARY COMMAND...: COMMAND runs a program with LIBRARY before the
# libraries of LD_PRELOAD.
companion() {
    local name=$1 library=$2
    shift 2

    run_as alone "$@" python3 work.py
    run_as last env LD_PRELOAD="$SHIM" "$@" python3 work.py
    run_as first "$@" ./shim_first python3 work.py
    contains "$name: it is loaded" "$library" "$(cat alone.out)"
    same "$name: with the shim behind it nothing changes" \
        "$(cat alone.out)" "$(cat last.out)"
    same "$name: with the shim before it nothing changes" \
        "$(cat alone.out)" "$(cat first.out)"
    beside "$name: the shim behind it publishes" env LD_PRELOAD="$SHIM" "$@"
    beside "$name: the shim before it publishes" "$@" ./shim_first
}
# beside SENTENCE COMMAND...: the driver that COMMAND starts has a context, with
# the current time.
beside() {
    local sentence=$1 now
    shift

    rm -f pid
    now=$(($(cut -d . -f 1 /proc/uptime)))
    within "$@" ./tell
    same "$sentence" '1 0 ok now' "$ABI $(call publish) $(status "$(<pid)") $(
        "$READ" --json "$(<pid)" | jq -r --argjson now $now '
            (.contexts[0].header.published_at_ns | tonumber) / 1e9 - $now |
            if . > -2 and . < 60 then "now" else . end')"
    stop
}

# preloading LIBRARY: makes a script that preloads LIBRARY.
preloading() {
    # shellcheck disable=SC2016 # for the script
    printf '#!/bin/sh\nLD_PRELOAD="%s${LD_PRELOAD:+:$LD_PRELOAD}" exec "$@"\n' \
        "$1" >preloading
    chmod +x preloading
}
for library in /usr/lib/*/libjemalloc.so.2 /usr/lib/*/libmimalloc.so.?; do
    preloading "$library"
    name=${library##*/}
    companion "${name%%.*}" "${name%%.*}" ./preloading
done
companion faketime libfaketime faketime 2001-02-03T04:05:06
contains 'faketime: the program sees another year' ' 2001' "$(cat last.out)"
companion stdbuf libstdbuf stdbuf -oL
companion eatmydata libeatmydata eatmydata
companion fakeroot libfakeroot setpriv --reuid 65534 --regid 65534 \
    --clear-groups fakeroot
seq 1000 >lines
unchanged 'heaptrack: it counts the same allocations' \
    heaptrack -o "$TMP/heap" sort -r lines
contains 'heaptrack: it counts some' 'allocations:' "$(cat preloaded.err)"
# heaptrack unsets LD_PRELOAD, so that children load neither it nor the shim.
export DUMP_HEAPTRACK_OUTPUT=$TMP/dump
heaptrack=$(compgen -G '/usr/lib/heaptrack/libheaptrack_preload.so')
for order in "behind:$heaptrack $SHIM" "before:$SHIM $heaptrack"; do
    within env "LD_PRELOAD='${order#*:}'" "$DRIVER"
    same "heaptrack: the shim ${order%%:*} it publishes" '1 ok ' \
        "$ABI $(status "$PID") $(cat stderr)"
    CHILD=$(call fork)
    same "heaptrack: with the shim ${order%%:*} it, forked children have a context" ok \
        "$(status "$CHILD")"
    same "heaptrack: with the shim ${order%%:*} it, executed programs have none" \
        "0 $ENOSYS no_context" \
        "$(call exec) $(call abi) $(status "$CHILD")"
    stop
done
unset DUMP_HEAPTRACK_OUTPUT

# Sanitizers.
cat >sane.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
static long counted[4];
static void *count(void *at)
{
    char name[16] = "", *copy;

    prctl(PR_SET_NAME, "worker", 0, 0, 0);
    prctl(PR_GET_NAME, name, 0, 0, 0);
    copy = strdup(name);
    for (int i = 0; i < 1000; i++)
        ++*(long *)at;
    puts(copy);
    free(copy);
    return at;
}
int main(int argc, char **argv)
{
    pthread_t threads[4];

    /* With an argument both count the same: a race. */
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, count, argc > 1 ? counted : &counted[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return argv[0] == 0 ? 1 : 5;
}
END

# sanitized COMPILER KIND: builds the program and the driver.
sanitized() {
    "$1" -g -fsanitize="$2" -pthread -o sane sane.c
    "$1" -g -fsanitize="$2" -pthread -I"$ROOT" -o driver_sane \
        "$ROOT/tests/e2e/hosts/driver.c"
}
# fine NAME: the program prints the same, and the driver publishes.
fine() {
    unchanged "$1: nothing changes" ./sane
    same "$1: the program works" 5 "$(cat preloaded.status)"
    within "${around[@]}" env LD_PRELOAD="$SHIM" ./driver_sane
    same "$1: published, nothing printed" '1 0 ok ' \
        "$ABI $(call publish) $(status "$PID") $(cat stderr)"
    stop
}

for sanitizer in gcc,undefined clang,undefined clang,address clang,memory; do
    sanitized "${sanitizer%,*}" "${sanitizer#*,}"
    fine "${sanitizer/,/ -fsanitize=}"
done
# Without ASLR: some kernels choose addresses that gcc 12's runtime refuses.
around=(setarch -R)
for compiler in gcc clang; do
    sanitized $compiler thread
    fine "$compiler -fsanitize=thread"
    both ./sane race
    same "$compiler -fsanitize=thread: without the shim a report names the thread" \
        "'worker' 66" "$(grep -o "'worker'" plain.err | sort -u) $(
            cat plain.status)"
    same "$compiler -fsanitize=thread: with the shim a report names the thread" \
        "'worker' 66" "$(grep -o "'worker'" preloaded.err | sort -u) $(
            cat preloaded.status)"
done
around=()
sanitized gcc address
both ./sane
contains 'gcc -fsanitize=address: its library must be the first' \
    'ASan runtime does not come first in initial library list' \
    "$(cat preloaded.err)"
same 'gcc -fsanitize=address: the program ends with status 1' 1 \
    "$(cat preloaded.status)"
export ASAN_OPTIONS=verify_asan_link_order=0
fine 'gcc -fsanitize=address, verify_asan_link_order=0'
unset ASAN_OPTIONS
plain=$SHIM
SHIM="$(ldd sane | grep -o '/[^ ]*libasan[^ ]*') $SHIM"
unchanged 'gcc -fsanitize=address, its library first: nothing changes' ./sane
same 'gcc -fsanitize=address, its library first: the program works' 5 \
    "$(cat preloaded.status)"
within env "LD_PRELOAD='$SHIM'" ./driver_sane
same 'gcc -fsanitize=address, its library first: published' '1 0 ok ' \
    "$ABI $(call publish) $(status "$PID") $(cat stderr)"
stop
SHIM=$plain

# Debuggers.
gcc -g -pthread -o sane sane.c
unchanged 'strace' strace -f -o /dev/null ./sane
unchanged 'valgrind' valgrind -q --error-exitcode=9 --leak-check=full ./sane
same 'valgrind: the program works' 5 "$(cat preloaded.status)"
within env LD_PRELOAD="$SHIM" valgrind -q --error-exitcode=9 "$DRIVER"
same 'valgrind: published, every call works, nothing is printed' '1 0 0 ok ' \
    "$ABI $(call attach 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01) $(
        call publish) $(status "$PID") $(cat stderr)"
stop
cat >heap.c <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    int (*set)(const char *, const char *) = dlsym(RTLD_DEFAULT, "otelctx_process_set");
    int (*key)(const char *) = dlsym(RTLD_DEFAULT, "otelctx_key");
    int done = 0;

    for (size_t size = 1; size <= 40; size++) {
        char *text = malloc(size + 1); /* and not a byte more */

        memset(text, 'a', size);
        text[size] = 0;
        done += set(text, text) == 0 && set(text, text + size) == 0 && key(text) >= 0;
        free(text);
    }
    printf("%d\n", done);
    return 0;
}
EOF
gcc -g -D_GNU_SOURCE -o heap heap.c
same 'valgrind: it reports no read beyond the end of a text' 40 \
    "$(LD_PRELOAD=$SHIM valgrind -q --error-exitcode=9 ./heap 2>&1)"
echo publish >calls_of_gdb
# shellcheck disable=SC2016 # for gdb
by_gdb=$(gdb -nx -batch -ex "set environment LD_PRELOAD $SHIM" \
    -ex 'set breakpoint pending on' -ex 'break otelctx_process_publish' \
    -ex 'run <calls_of_gdb' -ex continue -ex 'info symbol $pc' -ex 'bt -1' \
    -ex continue "$DRIVER" 2>&1)
contains 'gdb: stops in the shim' \
    "otelctx_process_publish in section .text of $SHIM" "$by_gdb"
contains 'gdb: unwinds from the shim to main' ' in main ' "$by_gdb"
contains 'gdb: the program exits normally' 'exited normally' "$by_gdb"

# A checkpoint of gdb is a fork without libc's handlers.
cat >named.c <<'END'
#include <sys/prctl.h>
#include <unistd.h>
int main(void)
{
    for (;;) {
        prctl(PR_SET_NAME, "checkpointed");
        sleep(1);
    }
}
END
gcc -o named named.c
# shellcheck disable=SC2016 # for gdb's shell
gdb -nx -batch -ex "set environment LD_PRELOAD $SHIM" -ex 'break sleep' \
    -ex run -ex checkpoint -ex 'restart 1' -ex continue \
    -ex 'shell grep -c OTEL_CTX "/proc/$(pgrep -nx checkpointed)/maps" >found' \
    -ex kill ./named >/dev/null 2>&1
same "gdb: a checkpoint has a context from its first call of libc's prctl on" 1 \
    "$(<found)"

done_testing
