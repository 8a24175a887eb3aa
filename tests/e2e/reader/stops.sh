#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What otelctx-read --threads does while a thread stands still: two reads, one of
# the page table, one of the variable and the record at once, because they are
# side by side in all threads.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

cat >"$TMP/threads.py" <<'END'
import ctypes, threading
otelctx = ctypes.CDLL(None)
key = otelctx.otelctx_key(b"http.route")
begun = threading.Barrier(4)

def work(number):
    if number < 4:
        otelctx.otelctx_attach(bytes([number] * 16), bytes([number] * 8), 1)
        otelctx.otelctx_attr(key, b"/x", 2)
    begun.wait()
    threading.Event().wait()

for number in 2, 3, 4:
    threading.Thread(target=work, args=[number], daemon=True).start()
print("ready", flush=True)
work(1)
END

# reads: how many reads each thread was stopped for.
reads() {
    strace -f -o "$TMP/trace" -e trace=ptrace,pread64 \
        "$READ" --json --threads "$PID" >"$TMP/json"
    awk '/PTRACE_INTERRUPT/ {count = 0} / pread64\(/ {count++}
        /PTRACE_DETACH/ {print count}' "$TMP/trace"
}

background env LD_PRELOAD="$SHIM" OTEL_SERVICE_NAME=stops \
    python3 "$TMP/threads.py" >"$TMP/out"
until grep -q ready "$TMP/out" && [ "$(reads | wc -l)" = 4 ] &&
    [ "$(jq '[.threads[] | select(.trace_id)] | length' "$TMP/json")" = 3 ]; do
    sleep 0.05
done
same 'a thread is stopped for two reads, but the first with a context' \
    '4 2 2 2' "$(reads | paste -sd ' ')"
same 'the reader tells what each thread has' \
    "$(printf '%s\n' {01,02,03}" /x" null)" \
    "$(jq -r '.threads[] | if .trace_id then
        .span_id[:2] + " " + .attributes[0].value.stringValue
        else "null" end' "$TMP/json" | sort)"
kill "$PID"

done_testing
