#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Thread contexts in a ring, read from outside by the program in otelctx(5).
#
RINGER=$OTELCTX_RINGER
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

EOPNOTSUPP=-95 ESRCH=-3
parent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01

# The reader in otelctx(5).
awk '/^\.Ss How to read it/ {on = 1} /^\.Ed/ {code = 0} on && code {print}
    /^\.Bd -literal/ {code = 1}' "$ROOT/shim/otelctx.5" |
    sed -n '/^import/,$ {s/\\e/\\/g; p}' >"$TMP/reader.py"
contexts() { # PID: a line per thread: trace id and span id
    python3 "$TMP/reader.py" "$1" | sort -n | sed 's/^[0-9]* //'
}
number() { # NUMBER: the line of a thread that attached this number
    local byte

    byte=$(printf %02x "$1")
    printf "$byte%.0s" {1..16}
    echo " $(printf "$byte%.0s" {1..8})"
}
region() { # FIELD: of the mapping at $at, in smaps
    sed -n "/^$at-/,/^VmFlags/ s/^$1: *//p" "/proc/$PID/smaps"
}
find_ring() {
    at=$( (sed '/^mem = /,$ d' "$TMP/reader.py" &&
        echo 'print("%x" % find_ring(os.open(f"/proc/{pid}/mem", 0))[0])') |
        python3 - "$PID")
}
ring() { # [NAME=VALUE]...: drives hosts/ringer.c with a ring
    DRIVER=$RINGER drive OTELCTX_THREAD_STORAGE=ring "$@"
}
told() { # [NAME=VALUE]...: the shim's messages at start, and the storages
    echo storage | env LD_PRELOAD="$SHIM" "$@" "$RINGER" 2>&1 |
        sed 's/^otelctx\[[0-9]*\]: //'
}

# Three threads.
ring OTELCTX_TRACEPARENT=main TRACEPARENT=$parent
call crowd 2 >"$TMP/result"
same 'the reader in otelctx(5) finds the contexts of three threads' \
    "${parent:3:32} ${parent:36:16}
$(number 1)
$(number 2)" "$(contexts "$PID")"
find_ring
same 'the ring is a mapping of its own: two neighbours cannot be accessed' \
    '---p rw-p ---p' "$(grep -B1 -A1 "^$at-" "/proc/$PID/maps" |
        awk '{printf "%s%s", between, $2; between = " "}')"
same 'its memory has no huge pages, is wiped on fork and not reserved' \
    'nh nr wf' "$(region VmFlags | tr ' ' '\n' | grep -xE 'nh|nr|wf' | sort |
        tr '\n' ' ' | sed 's/ $//')"
golden() {
    python3 - "$PID" "$at" "$ROOT/tests/golden/ring_three_threads.hex" <<'END'
import os, sys
pid, at, path = sys.argv[1:]
with open(f"/proc/{pid}/mem", "rb") as mem:
    mem.seek(int(at, 16))
    data = bytearray(mem.read(32 + 65536 * 32))
got = data[:32]
for tid in sorted(map(int, os.listdir(f"/proc/{pid}/task"))):
    slot = slice(32 + tid % 65536 * 32, 64 + tid % 65536 * 32)
    assert int.from_bytes(data[slot][28:], "little") == tid, data[slot].hex()
    got += data[slot][:28]
    data[slot] = bytes(32)
assert not any(data[32:]), "other slots"
want = bytearray()
for line in open(path):
    for word in line.split("#")[0].split():
        byte, _, count = word.partition("*")
        want += bytes([int(byte, 16)]) * int(count or 1)
assert got == want, f"\n{got.hex(' ', 4)}\n{want.hex(' ', 4)}"
END
}
check 'the bytes of the ring are those in tests/golden' golden
same 'without tls nothing announces thread contexts' '' \
    "$("$READ" --json "$PID" | jq -r '.contexts[0].extra_attributes[]?.key')"
same 'a thread finds the contexts of other threads' '0 1|0 2|-3' \
    "$(for tid in $(cd "/proc/$PID/task" && echo *); do
        [ "$tid" = "$PID" ] || call tell "$tid"
    done | tr '\n' '|')$(call tell 1)"
ended=$(call end)
same 'a thread that ends clears its slot' "$ESRCH" "$(call tell "$ended")"
stop

# Children.
ring
call attach 3 >"$TMP/result"
child=$(call fork)
same 'a forked child has the context under its own id, in a ring of its own' \
    "$(number 3)" "$(contexts "$child")"
call attach 4 >"$TMP/result"
same 'a forked child changes its own ring, not that of its parent' \
    "$(number 4)|$(number 3)" "$(contexts "$child")|$(contexts "$PID")"
raw=$(call raw)
same 'a child of a raw clone inherits no context' '' "$(contexts "$raw" 2>&1 | grep -v 'no ring')"
call attach 5 >"$TMP/result"
same 'a child of a raw clone has a ring from its first call on' "$(number 5)" \
    "$(contexts "$raw")"
call vfork >"$TMP/result"
same 'a child of vfork leaves the ring of its parent as it is' "$(number 5)" \
    "$(contexts "$raw")"
if [[ $(call pidns) = 1 ]]; then
    inner=$(pgrep -P "$raw")
    same 'in a nested pid namespace the thread id there selects the slot' \
        "$(number 5)" "$(contexts "$inner")"
    same 'a thread finds itself by the id that it has in a nested namespace' \
        '0 5' "$(call tell 1)"
else
    skip 'in a nested pid namespace the thread id there selects the slot' \
        'machine: it has no pid namespaces for us'
fi
stop

# Memory.
ring
call crowd 50 >"$TMP/result"
find_ring
check 'fifty threads take at most three pages' \
    [ "$(region Private_Dirty | sed 's/ kB//')" -le 12 ]
same 'they take no huge page' '0 kB' "$(region AnonHugePages)"
same 'a reader finds all fifty threads' 50 "$(contexts "$PID" | sort -u | wc -l)"
same 'closing the storage while eight threads attach does no harm' 0 "$(call close)"
contains 'after the close there is no ring' 'no ring' "$(contexts "$PID" 2>&1)"
same 'after the close there is no storage' "0|$EOPNOTSUPP" "$(call storage)|$(call attach 1)"
stop

# The system calls, whether or not the kernel can name the mapping.
strace -f -o "$TMP/trace" -e trace=mmap,mprotect,madvise,prctl \
    env LD_PRELOAD="$SHIM" OTELCTX_THREAD_STORAGE=ring "$RINGER" </dev/null
same 'the ring gets its attributes before its name' \
    'mmap(NULL, 2109440, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0)
mprotect(RING, 2101248, PROT_READ|PROT_WRITE)
madvise(RING, 2101248, MADV_NOHUGEPAGE)
madvise(RING, 2101248, MADV_WIPEONFORK)
prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, RING, 2101248, "DD_OTEL_CTX")' \
    "$(sed -n '/MAP_NORESERVE, -1/,/DD_OTEL_CTX/ p' "$TMP/trace" |
        sed -E 's/^[0-9]+ +//; s/ += .*//; s/0x[0-9a-f]+/RING/')"

# What the kernel refuses.
same 'a ring that cannot be made is replaced by profiler, with a warning' \
    'warn: cannot make a ring: using profiler instead: mmap (errno 12)
storage 4' "$(told OTELCTX_THREAD_STORAGE=ring OTELCTX_RING_CAPACITY=4194304 \
        OTELCTX_LOG_LEVEL=warn prlimit --as=100000000)"
same 'beside tls, too, a ring that cannot be made is replaced by profiler' \
    'warn: cannot make a ring: using profiler instead: mmap (errno 12)
storage 5' "$(told OTELCTX_THREAD_STORAGE=tls,ring OTELCTX_LOG_LEVEL=warn \
        OTELCTX_RING_CAPACITY=4194304 prlimit --as=100000000)"

# Options.
same 'wrong values are errors, and the defaults count' \
    'error: OTELCTX_THREAD_STORAGE: byte 1: "rang": expected tls,ring,profiler,off; the default counts
error: OTELCTX_RING_CAPACITY: byte 1: "0": expected 1..4194304; the default counts
storage 1' "$(told OTELCTX_THREAD_STORAGE=rang OTELCTX_RING_CAPACITY=0)"
same 'the storage off is no storage' 'storage 0' "$(told OTELCTX_THREAD_STORAGE=off)"
for storage in ring profiler tls,ring; do
    DRIVER=$DRIVER drive OTELCTX_THREAD_STORAGE=$storage \
        OTELCTX_TRACEPARENT=main TRACEPARENT=$parent
    same "with $storage the first thread has the context from TRACEPARENT" \
        "0 $parent" "$(call get)"
    [ $storage = profiler ] || same "with $storage readers of the ring see that context" \
        "${parent:3:32} ${parent:36:16}" "$(contexts "$PID")"
    stop
done
same 'with a ring, OTELCTX_TRACEPARENT=all is a warning' \
    'warn: OTELCTX_TRACEPARENT: byte 1: "all": expected storage tls only; others know only threads that call
storage 3' "$(told OTELCTX_THREAD_STORAGE=tls,ring OTELCTX_TRACEPARENT=all \
        TRACEPARENT=$parent OTELCTX_LOG_LEVEL=warn)"

# musl: it calls the shim when a thread ends, too.
musl-gcc -pthread -D_GNU_SOURCE -I"$ROOT" -o "$TMP/ringer" "$ROOT/tests/e2e/hosts/ringer.c"
RINGER=$TMP/ringer ring
call attach 6 >"$TMP/result"
same 'musl: the context is in the ring' "$(number 6)" "$(contexts "$PID")"
ended=$(call end)
same 'musl: a thread that ends clears its slot' "$ESRCH" "$(call tell "$ended")"
child=$(call fork)
same 'musl: a forked child has a ring of its own' "$(number 6)" \
    "$(contexts "$child")"
stop

done_testing
