#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs into which the dynamic linker does not or cannot load the shim: what
# the user sees, and what helps. libotelctx_preload(7), "LIMITS", describes the
# same.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
cd "$TMP"
chmod 711 .

NOBODY=(setpriv --reuid 65534 --regid 65534 --clear-groups)
MUSL=$TMP/musl_driver
musl-gcc -I"$ROOT" -o "$MUSL" "$ROOT/tests/e2e/hosts/driver.c"
install "$DRIVER" driver

# without SENTENCE LINES COMMAND...: the driver that COMMAND starts runs without
# the shim; stderr has exactly these lines.
without() {
    local sentence=$1 lines=$2
    shift 2

    within "$@"
    same "$sentence" "-38 no_context $lines" \
        "$ABI $(status "$PID") $(cat stderr)"
    stop
}
# loaded SENTENCE COMMAND...: the shim is loaded, and nothing is printed.
loaded() {
    local sentence=$1
    shift

    within "$@"
    same "$sentence" '1 ok ' "$ABI $(status "$PID") $(cat stderr)"
    stop
}
ignored() {
    echo "ERROR: ld.so: object '$1' from LD_PRELOAD cannot be preloaded ($2): ignored."
}
absent='cannot open shared object file'

# Programs without a dynamic linker.
for how in static static-pie; do
    gcc -$how -I"$ROOT" -o $how "$ROOT/tests/e2e/hosts/driver.c" 2>gcc.log
    without "$how: not loaded" '' env LD_PRELOAD="$SHIM" "$TMP/$how"
done
cat >go.go <<'END'
package main

import "fmt"

func main() {
	var call string
	for {
		if _, end := fmt.Scan(&call); end != nil {
			return
		}
		fmt.Println(call, -38)
	}
}
END
CGO_ENABLED=0 go build -o go go.go
without 'pure Go: not loaded' '' env LD_PRELOAD="$SHIM" "$TMP/go"

# The file itself.
install -m 600 "$SHIM" unreadable.so
install "$SHIM" good.so
mkdir tmpfs
echo 'int a, *b = &a;' | aarch64-linux-gnu-gcc -shared -fPIC -nostdlib \
    -o arm.so -xc -
without 'a missing file: glibc says so and goes on' \
    "$(ignored /nowhere/shim.so "$absent")" \
    env LD_PRELOAD=/nowhere/shim.so "$DRIVER"
without 'a missing file: musl goes on' '' \
    env LD_PRELOAD=/nowhere/shim.so "$MUSL"
without 'an unreadable file: glibc says so and goes on' \
    "$(ignored "$TMP/unreadable.so" "$absent")" \
    "${NOBODY[@]}" env LD_PRELOAD="$TMP/unreadable.so" "$TMP/driver"
without 'an unreadable file: musl goes on' '' \
    "${NOBODY[@]}" env LD_PRELOAD="$TMP/unreadable.so" "$MUSL"
without 'another architecture: glibc says so and goes on' \
    "$(ignored "$TMP/arm.so" "$absent")" env LD_PRELOAD="$TMP/arm.so" "$DRIVER"
status=0
LD_PRELOAD=$TMP/arm.so "$MUSL" 2>musl.err </dev/null || status=$?
same 'another architecture: musl does not start the program' 127 $status
if can_mount; then
    noexec="unshare -m sh -c 'mount -t tmpfs -o noexec none tmpfs &&
        cp good.so tmpfs && LD_PRELOAD=$TMP/tmpfs/good.so exec"
    without 'a noexec mount: glibc says so and goes on' \
        "$(ignored "$TMP/tmpfs/good.so" \
            'failed to map segment from shared object')" "$noexec $DRIVER'"
    without 'a noexec mount: musl goes on' '' "$noexec $MUSL'"
else
    skip 'a noexec mount' 'machine: no mount namespaces'
fi

# Replaces the file by rename(2) many times, as libotelctx_preload(7) says: a
# program that starts loads the whole old file or the whole new one, and running
# programs continue.
cp good.so current.so
within env LD_PRELOAD="$TMP/current.so" "$DRIVER"
replacing() {
    while [ -e good.so ]; do
        install -s good.so next.so
        mv next.so current.so
    done
}
host=$PID
background replacing
for _ in $(seq 200); do
    LD_PRELOAD=$TMP/current.so /bin/true
done 2>starts
kill "$PID"
PID=$host
same 'a file replaced by rename: each of 200 programs loads it' '' "$(cat starts)"
same 'a file replaced by rename: a running program continues' '0 0 b' \
    "$(call set a b) $(call publish) $(resource "$PID" | sed -n 's/^a=//p')"
stop

# 32-bit programs, here one that needs no 32-bit compiler.
cat >narrow.c <<'END'
int puts(const char *);
void exit(int);
void _start(void)
{
    puts("32 bits");
    exit(3);
}
END
gcc -m32 -nostdlib -no-pie -fno-pie -fno-stack-protector -o narrow narrow.c \
    -Wl,--dynamic-linker=/lib/ld-linux.so.2 -L/lib32 -l:libc.so.6
gcc -m32 -shared -nostdlib -fno-pic -o nothing.so -xc /dev/null
# narrow PRELOAD: stdout, stderr and status of its 32-bit child.
narrow() {
    local status=0

    LD_PRELOAD=$1 bash -c ./narrow 2>&1 || status=$?
    echo $status
}
same 'a 32-bit child: glibc prints a line, and the program runs' \
    "$(ignored "$SHIM" 'wrong ELF class: ELFCLASS64')"$'\n32 bits\n3' \
    "$(narrow "$SHIM")"
linker=$(readelf -Wl /bin/true | sed -n 's/.*interpreter: \(.*\)].*/\1/p')
lib64=$("$linker" --list-diagnostics | sed -n 's/^dl_dst_lib="\(.*\)"/\1/p')
install -D good.so "both/$lib64/shim.so"
install -D nothing.so both/lib32/shim.so
# shellcheck disable=SC2016 # for the dynamic linker
both='/both/$LIB/shim.so'
same 'a 32-bit child: with an empty 32-bit library in LIB nothing is printed' \
    $'32 bits\n3' "$(narrow "$TMP$both")"
loaded 'a 32-bit child: 64-bit programs find the shim in LIB' \
    env "LD_PRELOAD='$TMP$both'" "$DRIVER"

# Elevated privileges.
install -o 65534 -m 4755 "$DRIVER" setuid
without 'a setuid program: not loaded, and with a full path nothing is printed' \
    '' env LD_PRELOAD="$SHIM" "$TMP/setuid"
without 'a setuid program: with the name alone the linker says so' \
    "$(ignored libotelctx_preload.so "$absent")" \
    env LD_PRELOAD=libotelctx_preload.so "$TMP/setuid"
install "$DRIVER" capable
check 'setcap gives a program a capability' setcap cap_net_raw+ep capable
without 'file capabilities: not loaded' '' \
    "${NOBODY[@]}" env LD_PRELOAD="$SHIM" "$TMP/capable"

# by_system COMMAND...: runs it where /etc/ld.so.preload names the shim and the
# default configuration file sets a service name.
mkdir etc
cat >by_system <<END
#!/bin/sh
mount -t tmpfs none $TMP/etc && cp -a /etc/. etc && mount --bind etc /etc
mkdir -p /etc/otelctx
echo OTEL_SERVICE_NAME=of_the_file >/etc/otelctx/otelctx.conf
echo $TMP/good.so >/etc/ld.so.preload
exec "\$@"
END
chmod +x by_system
by_system() {
    local sentence=$1 name=$2
    shift 2

    within unshare -m ./by_system "$@"
    same "$sentence" "1 service.name=$name" "$ABI $(resource "$PID")"
    stop
}
if can_mount; then
    by_system '/etc/ld.so.preload: survives env -i' of_the_file \
        env -i "$DRIVER"
    by_system '/etc/ld.so.preload: the environment counts' of_the_environment \
        env OTEL_SERVICE_NAME=of_the_environment "$DRIVER"
    by_system '/etc/ld.so.preload: setuid, only the file counts' of_the_file \
        env OTEL_SERVICE_NAME=of_the_environment "$TMP/setuid"
    by_system '/etc/ld.so.preload: capabilities, only the file counts' \
        of_the_file env OTEL_SERVICE_NAME=of_the_environment \
        "${NOBODY[@]}" "$TMP/capable"
else
    skip '/etc/ld.so.preload' 'machine: no mount namespaces'
fi

# Commands that drop the environment.
without 'env -i: drops the shim' '' env LD_PRELOAD="$SHIM" env -i "$DRIVER"
loaded 'env -i: a variable set after it counts' \
    env -i LD_PRELOAD="$SHIM" "$DRIVER"

# The driver runs as a child of COMMAND, and its shell writes the pid.
printf '#!/bin/sh\necho $$ >%s/pid\nexec %s\n' "$TMP" "$DRIVER" >tell
chmod +x tell
# behind SENTENCE EXPECTED COMMAND...: what the driver and a reader see when
# COMMAND starts it.
behind() {
    local sentence=$1 expected=$2
    shift 2

    within env LD_PRELOAD="$SHIM" "$@"
    same "$sentence" "$expected" "$ABI $(status "$(<pid)") $(cat stderr)"
    stop
}
behind 'sudo: drops the shim' '-38 no_context ' sudo -n ./tell
behind 'sudo: a variable set after it counts' '1 ok ' \
    sudo -n env LD_PRELOAD="$SHIM" ./tell

mkdir -p /run/sshd # not removed, as by sshd's own service
ssh-keygen -q -t ed25519 -N '' -f host_key
ssh-keygen -q -t ed25519 -N '' -f user_key
cat >sshd.conf <<END
HostKey $TMP/host_key
AuthorizedKeysFile $TMP/user_key.pub
PermitRootLogin yes
StrictModes no
UsePAM yes
END
ssh_to() {
    echo ssh -F none -i user_key -o LogLevel=ERROR -o BatchMode=yes \
        -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
        -o "ProxyCommand='$(command -v sshd) -i -f $TMP/sshd.conf'" \
        root@nowhere "$TMP/tell"
}
behind 'ssh: client and server drop the shim' '-38 no_context ' "$(ssh_to)"
echo "SetEnv LD_PRELOAD=$SHIM" >>sshd.conf
behind 'ssh: a variable that the server sets counts' '1 ok ' "$(ssh_to)"

# soon COMMAND...: succeeds within ten seconds.
soon() {
    local tries

    for ((tries = 0; tries < 5000; tries++)); do
        ! "$@" || return 0
        sleep 0.02
    done
    return 1
}
# An nginx master that has no worker yet may lose a signal.
serving() {
    [ -s nginx.pid ] && pgrep -P "$(<nginx.pid)" >/dev/null
}
upgrading() {
    [ -s nginx.pid.oldbin ] && [ -s nginx.pid ]
}
# upgraded SENTENCE EXPECTED [LINE]: nginx, with LINE in its configuration, starts
# a new master as for an upgrade; compares the statuses of both masters.
upgraded() {
    local master new

    cat >nginx.conf <<END
${3-}
pid $TMP/nginx.pid;
error_log $TMP/nginx.log;
events {}
http {
    access_log off;
    server { listen unix:$TMP/nginx.sock; }
}
END
    LD_PRELOAD=$SHIM "$(command -v nginx)" -c "$TMP/nginx.conf"
    soon serving
    master=$(<nginx.pid)
    kill -USR2 "$master"
    soon upgrading
    new=$(<nginx.pid)
    same "$1" "$2" "$(status "$master") $(status "$new")"
    kill "$new" "$master"
    tail -s 0.05 --pid "$new" -f /dev/null
    tail -s 0.05 --pid "$master" -f /dev/null
    rm -f nginx.sock nginx.pid*
}
upgraded 'nginx: an upgrade drops the shim' 'ok no_context'
upgraded 'nginx: with an env line an upgrade keeps the shim' 'ok ok' 'env LD_PRELOAD;'

# The dynamic linker run as a command, and a second link-map namespace.
loaded 'an explicit loader: LD_PRELOAD loads the shim' \
    env LD_PRELOAD="$SHIM" "$linker" "$DRIVER"
loaded 'an explicit loader: --preload loads the shim' \
    "$linker" --preload "$SHIM" "$DRIVER"
cat >worlds.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    void *world = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
    int (*number)(const char *) = (int (*)(const char *))dlsym(world, "atoi");

    puts(dlsym(world, "otelctx_abi") ? "there" : "absent");
    return number("7") != 7 || dlclose(world) ||
           !dlsym(RTLD_DEFAULT, "otelctx_abi");
}
END
gcc -D_GNU_SOURCE -o worlds worlds.c
same 'dlmopen: the shim is absent in the new namespace and works in the first' 'absent 0' \
    "$(LD_PRELOAD=$SHIM ./worlds) $?"

# LD_AUDIT and LD_PROFILE, which bind every call lazily.
gcc -shared -fPIC -nostdlib -I"$ROOT" -o auditor.so \
    "$ROOT/tests/e2e/hosts/auditor.c"
# linked_late SENTENCE LINES NAME=VALUE...: both contexts exist, and only these
# lines are printed; a disabled shim prints the same and has no contexts.
linked_late() {
    local sentence=$1 lines=$2
    shift 2

    within env "$@" LD_PRELOAD="$SHIM" "$DRIVER"
    same "$sentence: both contexts are published" \
        "1 0 0 ok 4bf92f3577b34da6a3ce929d0e0e4736 $lines" \
        "$ABI $(call publish) $(call attach \
            00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01) $(
            status "$PID") $("$READ" --json --threads "$PID" |
            jq -r '.threads[0].trace_id') $(cat stderr)"
    stop
    within env "$@" LD_PRELOAD="$SHIM" OTELCTX_DISABLED=true "$DRIVER"
    same "$sentence: a disabled shim does no harm" "-38 $lines" \
        "$ABI $(cat stderr)"
    stop
}
linked_late 'LD_AUDIT, with every callback' audited LD_AUDIT="$TMP/auditor.so"
linked_late 'LD_PROFILE' '' LD_PROFILE=libc.so.6 LD_PROFILE_OUTPUT="$TMP"
check 'LD_PROFILE: glibc writes its profile' [ -s libc.so.6.profile ]
seq 100 >lines
unchanged 'sotruss: the program prints the same' \
    sotruss -o "$TMP/sotruss" sort -r lines
contains 'sotruss: it prints the calls' \
    'sort -> libc.so.6' "$(cat "$TMP"/sotruss*)"

# What dlerror(3) returns in main, and after dlopen(3) of the shim.
cat >errors.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
static void tell(void)
{
    const char *error = dlerror();

    puts(error ? error : "none");
}
int main(int argc, char **argv)
{
    tell();
    if (argc > 1 && !dlopen(argv[1], RTLD_NOW))
        puts("not opened");
    tell();
    return 0;
}
END
cp good.so libotelctx_preload.so
for libc in glibc musl; do
    [ $libc = glibc ] && compile=gcc || compile=musl-gcc
    $compile -o errors_$libc errors.c
    $compile -o errors_behind_$libc errors.c -Wl,--no-as-needed -lc -L. \
        -lotelctx_preload \
        -Wl,-rpath,"$TMP"
    same "$libc: dlopen of the shim leaves no error behind" $'none\nnone' \
        "$(./errors_$libc "$TMP/good.so")"
    same "$libc: the shim linked behind libc leaves no error" $'none\nnone' \
        "$(LD_LIBRARY_PATH=. ./errors_behind_$libc)"
    same "$libc: the preloaded shim leaves no error" $'none\nnone' \
        "$(LD_PRELOAD=$SHIM ./errors_$libc "$SHIM")"
done

# A host whose prctl() the shim does not see, in the first second.
cat >strict.c <<'END'
#include <dlfcn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    const unsigned char trace[16] = {1}, span[8] = {2};
    int (*attach)(const unsigned char *, const unsigned char *, unsigned char);
    void *found = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;

    found = found ? dlsym(found, "otelctx_attach") : 0;
    memcpy(&attach, &found, sizeof(attach));
    if (!found || prctl(PR_SET_SECCOMP, 1 /* strict */, 0, 0, 0))
        return 1;
    for (int i = 0; i < 100; i++)
        if (attach(trace, span, 1))
            syscall(SYS_exit, 2);
    syscall(SYS_exit, 0);
}
END
for libc in glibc musl; do
    [ $libc = glibc ] && compile=gcc || compile=musl-gcc
    $compile -o strict_$libc strict.c
    check "$libc: thread calls of the opened shim make no system call" \
        env OTEL_SERVICE_NAME=ours ./strict_$libc "$TMP/good.so"
    check "$libc: nor do those of the preloaded shim in strict mode" \
        env OTEL_SERVICE_NAME=ours LD_PRELOAD="$SHIM" ./strict_$libc "$SHIM"
done

done_testing
