#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# otelctx-read --all of so many processes that several workers read them.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

# The whole machine of the reader, in a pid namespace of its own.
cat >"$TMP/machine" <<'END'
for ((i = 0; i < 600; i++)); do
    LD_PRELOAD=$SHIM OTEL_SERVICE_NAME=service$i sleep infinity &
done
until [ "$(taskset -c "$CPU" "$READ" --all --json | wc -l)" -eq 600 ]; do
    sleep 0.1
done
taskset -c "$CPU" "$READ" --all --json >one
"$READ" --all --json >several
TRACE='strace -f -e trace=clone,fork,openat'
$TRACE -o calls "$READ" --all --json >/dev/null
"$READ" --all >text
"$FILTERED" refuse 38 memfd_create -- "$READ" --all --json >no_memfd
"$FILTERED" refuse 11 clone fork clone3 -- "$READ" --all --json >no_fork
"$FILTERED" refuse 9 dup2 dup3 -- "$READ" --all --json >failed
(ulimit -f 1 && exec "$READ" --all --json) | cat >limited
$TRACE -o ignored.calls env --ignore-signal=CHLD "$READ" --all --json >ignored
"$READ" --all >/dev/full 2>full || echo "status $?" >>full
END
cd "$TMP"
export SHIM READ FILTERED
CPU=$(taskset -pc $$ | sed 's/.*[ ,-]//') unshare -Urpf --mount-proc bash machine 2>errors ||
    skip_all 'machine: no namespaces here'

same 'nothing goes wrong' '' "$(cat errors)"
same 'each context is shown, in the order of the processes' "$(seq 0 599)" \
    "$(jq -r '.contexts[].resource.attributes[0].value.stringValue[7:]' one)"
same 'there is one worker for each 256 processes, but for the processors' \
    "$(($(nproc) > 1))" "$(grep -cE '(clone|fork)\(' calls)"
# like FILE: whether it differs from what one process printed, but for the age.
like() {
    diff -q <(jq -c 'del(.contexts[].age_ns)' one) <(jq -c 'del(.contexts[].age_ns)' "$1")
}
same 'several workers print what one prints' '' "$(like several)"
same 'with an empty line between two processes' 599 "$(grep -c '^$' text)"
same 'without a memfd, one does it' '' "$(like no_memfd)"
same 'without a fork, one does it' '' "$(like no_fork)"
same 'what a worker fails to read is read' '' "$(like failed)"
same 'with a limit of file sizes, one does it' '' "$(like limited)"
same 'where SIGCHLD is ignored, several do it, and each process is read once' \
    "$(grep -c '"maps"' calls) " "$(grep -c '"maps"' ignored.calls) $(like ignored)"
same 'a full disk is told once' \
    'otelctx-read: cannot write: No space left on device
status 1' "$(cat full)"

done_testing
