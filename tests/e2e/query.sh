#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# How the reader finds mappings: by asking the kernel for those of files, where
# it can be asked (Linux 6.11) and names no others; else in the text of maps.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

# finds OPTION...: what the reader finds, and the calls that it makes for maps.
finds() {
    strace -y -o "$TMP/trace" -e trace=ioctl,read,prctl "$@" \
        "$READ" --json "$PID" | jq -c '.contexts[].resource'
    sed -n "s|^\([a-z]*\)([0-9]*</proc/$PID/maps>.*|\1|p" "$TMP/trace" |
        sort -u | paste -sd ' '
}
drive OTEL_SERVICE_NAME=found
seen=$("$READ" --json "$PID" | jq -c '.contexts[].resource')
contains 'there is a context to be found' found "$seen"
same 'where the kernel cannot be asked the text is read' "$seen
ioctl read" "$(finds -e inject=ioctl:error=ENOTTY)"
same 'nor is it asked where it names mappings of no file' "$seen
read" "$(finds -e inject=prctl:retval=0)"
if [ "$(finds | tail -n 1)" = 'ioctl read' ]; then
    skip 'where it can, no text is read' \
        "machine: Linux $(uname -r) cannot be asked for mappings"
else
    same 'where it can, no text is read' "$seen
ioctl" "$(finds)"
fi
stop

done_testing
