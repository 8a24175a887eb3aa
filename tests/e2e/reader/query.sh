#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# How the reader finds mappings: since Linux 6.11 it asks the kernel for those of
# files (PROCMAP_QUERY). It reads the text of /proc/PID/maps where the kernel has
# no such call, or also names anonymous mappings.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

# finds OPTION...: what the reader finds, and its system calls on maps.
finds() {
    strace -y -o "$TMP/trace" -e trace=ioctl,read,prctl "$@" \
        "$READ" --json "$PID" | jq -c '.contexts[].resource'
    sed -n "s|^\([a-z]*\)([0-9]*</proc/$PID/maps>.*|\1|p" "$TMP/trace" |
        sort -u | paste -sd ' '
}
drive OTEL_SERVICE_NAME=found
seen=$("$READ" --json "$PID" | jq -c '.contexts[].resource')
contains 'the reader finds the context' found "$seen"
same 'without PROCMAP_QUERY the reader reads the text' "$seen
ioctl read" "$(finds -e inject=ioctl:error=ENOTTY)"
same 'with named anonymous mappings the reader reads the text' "$seen
read" "$(finds -e inject=prctl:retval=0)"
if [ "$(finds | tail -n 1)" = 'ioctl read' ]; then
    skip 'with PROCMAP_QUERY the reader reads no text' \
        "machine: Linux $(uname -r) has no PROCMAP_QUERY"
else
    same 'with PROCMAP_QUERY the reader reads no text' "$seen
ioctl" "$(finds)"
fi
stop

done_testing
