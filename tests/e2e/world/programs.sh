#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs of every kind have the same output and status with the shim as without,
# and a context while they run. commands.sh and servers.sh have programs that people
# use.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/tree.sh
. "$(dirname "$0")/../tree.sh"
cd "$TMP"

unchanged 'a program with its streams closed' bash -c 'exec cat /dev/null >&- 2>&-'
unchanged 'an environment that is empty' env -i /usr/bin/env

# errno at the first instruction of main, and every descriptor.
cat >noticed.c <<'EOF'
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
int main(void)
{
    int at_start = errno, entries = 0;
    sigset_t mask;
    DIR *fds = opendir("/proc/self/fd"), *tasks = opendir("/proc/self/task");

    while (readdir(fds))
        entries++;
    while (readdir(tasks))
        entries += 1000;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    printf("%d %d %d\n", at_start, entries, sigisemptyset(&mask));
    return 0;
}
EOF
gcc -o noticed -D_GNU_SOURCE noticed.c
unchanged 'errno, descriptors, threads and signal mask' ./noticed

# The libc functions that the shim calls may fail, and set errno.
cat >fails.c <<'EOF'
#include <errno.h>
#include <stdio.h>
static int asked;
unsigned long getauxval(unsigned long type)
{
    extern unsigned long __getauxval(unsigned long);

    asked |= 1;
    errno = ENOENT;
    return __getauxval(type);
}
int __register_atfork(void (*a)(void), void (*b)(void), void (*c)(void), void *d)
{
    asked |= 2;
    errno = ENOMEM;
    return ENOMEM;
}
void *dlsym(void *handle, const char *name)
{
    asked |= 4;
    errno = EINVAL;
    return NULL;
}
int main(void)
{
    fprintf(stderr, "asked for %d\n", asked);
    printf("errno %d\n", errno);
    return 0;
}
EOF
gcc -o fails -D_GNU_SOURCE -rdynamic fails.c
same 'a libc function that fails in the shim does not change errno' $'asked for 7\nerrno 0' \
    "$(LD_PRELOAD=$SHIM ./fails 2>&1)"

# A program may define `environ` as something else.
printf 'int environ = 5;\nint puts(const char *);\nint main(void) { return puts("ok") < 0; }\n' >own.c
gcc -o own own.c
unchanged 'a program with an environ of its own' ./own

# stays SENTENCE COMMAND...: a program that keeps running has a context.
stays() {
    local sentence=$1
    shift

    stay "$@"
    check "$sentence" published "$PID"
}

stays 'sleep is published' sleep 600
stays 'Python is published' python3 -c 'import time; time.sleep(600)'

# forks SENTENCE COMMAND...: COMMAND forks a child, which ends with its parent.
forks() {
    local sentence=$1
    shift

    stay OTELCTX_INSTANCE_ID=generate "$@"
    check "$sentence" tree_published "$PID" 2
}
forks 'Ruby forks, and each process has a context of its own' ruby -e '
    from, to = IO.pipe
    fork { to.close; from.read }
    sleep'
# shellcheck disable=SC2016 # Perl's
forks 'Perl forks, and each process has a context of its own' perl -e '
    pipe $from, $to;
    if (!fork) { close $to; <$from>; exit }
    sleep'

# musl: the same file.
cat >waits.c <<'EOF'
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    printf("errno %d\n", errno);
    fflush(stdout);
    return pause();
}
EOF
musl-gcc -o musl waits.c
contains 'a musl program loads musl' ld-musl "$(readelf -l musl)"
stay OTEL_SERVICE_NAME=on-musl ./musl >musl.out
check 'a musl program has a context' published "$PID"
same 'the context of a musl program has its configuration' service.name=on-musl "$(resource "$PID")"
same 'the errno of a musl program is unchanged' 'errno 0' "$(cat musl.out)"
musl-gcc -I"$ROOT" -o musl_driver "$ROOT/tests/e2e/hosts/driver.c"
DRIVER=$TMP/musl_driver drive OTEL_SERVICE_NAME=
same 'the calls work on musl' $'1 0 0\nservice.name=unknown_service:musl_driver\na=b' \
    "$ABI $(call set a b) $(call publish)
$(resource "$PID")"
stop

# Go: the dynamic linker loads the shim into a position-independent executable
# without libc, too; there the shim's imports are undefined.
mkdir go
cat >go/main.go <<'EOF'
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

func main() {
	var wait sync.WaitGroup
	sums := make([]int, 8)
	for i := range sums {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			for j := 0; j <= 1000; j++ {
				sums[i] += i * j
			}
		}(i)
	}
	wait.Wait()
	fmt.Println(sums, os.Getenv("OTEL_SERVICE_NAME"))
	if len(os.Args) > 1 {
		time.Sleep(time.Hour)
	}
}
EOF
CGO_ENABLED=0 go build -buildmode=pie -o go_pie go/main.go
same 'the Go program has an interpreter and no libc' '1 0' \
    "$(readelf -l go_pie | grep -c INTERP) $(readelf -d go_pie | grep -c NEEDED || :)"
unchanged 'a Go program without libc' ./go_pie
stay OTEL_SERVICE_NAME=on-go OTELCTX_TRACEPARENT=all \
    TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ./go_pie wait >/dev/null
check 'a Go program without libc has a context' published "$PID"
same 'the context of a Go program has its configuration' service.name=on-go "$(resource "$PID")"
same 'thread contexts of a Go program are not announced' \
    not_announced "$("$READ" --json --threads "$PID" |
        jq -r .thread_context.status)"
same 'the shim leaves no file of /proc open in a Go program' '' \
    "$(find "/proc/$PID/fd" -lname '/proc/*')"
strace -f -o go.trace -e trace=mmap,munmap,openat -E LD_PRELOAD="$SHIM" ./go_pie >/dev/null
copy=$(sed '/self\/environ/q' go.trace | sed -n 's/.*mmap(NULL, \([0-9]*\), .*/\1/p' | tail -n 1)
same 'the shim unmaps its copy of the environment in a Go program' 1 \
    "$(grep -c "munmap(.*, $copy) *= 0" go.trace)"

# With an unlimited stack execve(2) takes at most 6 MiB of environment.
large() {
    ulimit -s unlimited
    for number in $(seq 40); do
        export "LARGE_$number=$(head -c 130000 /dev/zero | tr '\0' x)"
    done
    exec env LD_PRELOAD="$SHIM" "$@" ./go_pie
}
contains 'a Go program without libc and with 5 MiB of environment has a context' \
    'info: published a process context of' \
    "$(large OTELCTX_LOG_LEVEL=info 2>&1)"

# Without the auxiliary vector or the environment the shim does nothing and
# prints nothing.
hidden() {
    strace -o hidden.trace -P "$1" -e inject=openat:error=EACCES -e trace=all \
        -E LD_PRELOAD="$SHIM" -E OTELCTX_LOG_LEVEL=debug ./go_pie 2>&1 |
        grep -c otelctx || :
    strace -o hidden.trace -e inject=openat:error=EACCES:when="$2" \
        -E LD_PRELOAD="$SHIM" ./go_pie >/dev/null
    grep -c memfd_create hidden.trace || :
}
nth() {
    strace -o nth.trace -e trace=openat -E LD_PRELOAD="$SHIM" ./go_pie >/dev/null
    grep -n -m 1 "$1" nth.trace | cut -d: -f1
}
for file in auxv environ; do
    same "a Go program without libc and its $file: nothing is published" \
        $'0\n0' "$(hidden /proc/self/$file "$(nth /proc/self/$file)")"
done

# Programs into which the dynamic linker does not load the shim.
unchanged 'a static program runs as before' "$(command -v busybox)" seq 3
CGO_ENABLED=0 go build -o go_static go/main.go
unchanged 'a static Go program runs as before' ./go_static

# No /proc, no standard error, few resources.
if can_mount; then
    unchanged 'without /proc' \
        unshare -m sh -c 'mount -t tmpfs none /proc && echo mounted'
else
    skip 'without /proc' 'machine: no mount namespaces'
fi
unchanged 'with little memory and few descriptors' \
    prlimit --as=100000000 --nofile=4 /bin/echo hello
# least LIMIT COMMAND...: the least that COMMAND needs of this limit, in KiB.
least() {
    local limit=$1 kib=16
    shift

    until (ulimit "$limit" $kib && exec "$@") &>/dev/null; do kib=$((kib + 16)); done
    echo $kib
}
for limit in -v -d; do
    check "ulimit $limit: the shim takes less than half a megabyte" [ \
        $(($(least $limit env LD_PRELOAD="$SHIM" /bin/true) - $(
            least $limit env /bin/true))) -lt 512 ]
done
for target in '/dev/full' ' >(true)' '&-'; do
    check "stderr to $target changes nothing" bash -c \
        "OTELCTX_PUBLISH=wrong LD_PRELOAD=$SHIM /bin/true 2>$target"
done

done_testing
