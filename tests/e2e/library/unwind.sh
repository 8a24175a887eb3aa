#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A host may walk its own stack in a signal handler at any instruction of the shim,
# and leave the shim by unwinding: hosts/walker.c and unwinder.cc step through each
# instruction. executable.sh compares the tables with the code.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

[ "$(uname -m)" = x86_64 ] || skip_all 'machine: its trap flag is needed'
HOSTS=$ROOT/tests/e2e/hosts
cd "$TMP"

# build NAME COMMAND...: one of the walkers.
build() {
    check "$1: the host is built" "$2" -O1 -I"$ROOT" -D_GNU_SOURCE -o "$1" \
        "$HOSTS/walker.c" "${@:3}" -ldl
}
build backtrace gcc
build libunwind gcc -DWITH_LIBUNWIND -lunwind
build musl musl-gcc -funwind-tables -static-libgcc -Wl,--eh-frame-hdr -lgcc_eh

# With these the constructor does all that it can; some storages refuse keys.
export OTELCTX_ATTRIBUTE_KEYS=one,two OTELCTX_LOG_LEVEL=none
export OTELCTX_INSTANCE_ID=generate OTELCTX_TRACEPARENT=main
export OTEL_ENTITIES='service{service.name=walked}' \
    TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
for walker in backtrace libunwind musl; do
    constructor=walked
    [ $walker != musl ] || constructor=not # it calls nothing before constructors
    for storage in tls ring profiler tls,ring,profiler off; do
        same "$walker, $storage: each walk from an instruction of the shim ends where it should" \
            "constructor $constructor, calls walked" \
            "$(OTELCTX_THREAD_STORAGE=$storage LD_PRELOAD=$SHIM ./$walker step 2>&1)"
        same "$walker, $storage: so does each from a timer at 10 kHz" \
            'constructor not, calls walked' \
            "$(OTELCTX_THREAD_STORAGE=$storage LD_PRELOAD=$SHIM ./$walker timer 2>&1)"
    done
done

check 'the host that unwinds is built' \
    g++ -O1 -fnon-call-exceptions -I"$ROOT" -o unwinder "$HOSTS/unwinder.cc" -ldl -pthread
for storage in tls ring profiler; do
    export OTELCTX_THREAD_STORAGE=$storage
    same "$storage: an exception from a handler at any instruction of a call is caught" all \
        "$(LD_PRELOAD=$SHIM ./unwinder throw 2>&1)"
    same "$storage: asynchronous cancellation at any instruction of a call ends the thread" \
        all "$(LD_PRELOAD=$SHIM ./unwinder cancel 2>&1)"
done
unset OTELCTX_THREAD_STORAGE

# Profilers of real programs.
cat >calls.py <<'END'
import ctypes
import faulthandler
import sys

shim = ctypes.CDLL(None)
trace, span = bytes(range(1, 17)), bytes(range(1, 9))
dumps = open("dumps", "w+")


def call(times):
    for n in range(times):
        shim.otelctx_attach(trace, span, 1)
        shim.otelctx_attr(0, b"x", 1)
        shim.otelctx_process_set(b"n", b"%d" % n)
        shim.otelctx_process_publish()
        shim.otelctx_detach()


call(20000)
faulthandler.dump_traceback_later(0.001, repeat=True, file=dumps)
while open("dumps").read().count("Timeout") < 50:
    call(100)
faulthandler.cancel_dump_traceback_later()
print("dumped at call:", "in call\n" in open("dumps").read())
END
same 'python: faulthandler writes fifty tracebacks while the program calls' \
    'dumped at call: True' "$(LD_PRELOAD=$SHIM python3 calls.py 2>&1)"
# Not a script named python3: the profiler's timer would go on in what it executes.
python=$(python3 -c 'import sys; print(sys.executable)')
profiler=$(compgen -G '/usr/lib/*/libprofiler.so')
for order in "$SHIM $profiler" "$profiler $SHIM"; do
    rm -f profile
    # shellcheck disable=SC2086 # two words
    set -- $order
    same "gperftools: python runs under its profiler, with ${1##*/} first" \
        'dumped at call: True' "$(CPUPROFILE=profile CPUPROFILE_REALTIME=1 \
            CPUPROFILE_FREQUENCY=4000 LD_PRELOAD=$order "$python" calls.py 2>profiled)"
    check "gperftools: it took samples, with ${1##*/} first" \
        grep -q 'interrupts.* = [1-9][0-9]' profiled
done

done_testing
