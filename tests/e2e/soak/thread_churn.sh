#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Threads with contexts start and end while a reader samples them, and leave
# nothing behind. hosts/churner.c derives what a thread attaches from its tid.
#
churner=$OTELCTX_CHURNER
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

crowd=40
generations=25 # of a crowd: a thousand threads

# begin [NAME=VALUE]...: starts the host. `order` gives it a command, and
# `finished` waits until the host has done that.
begin() {
    mkfifo "$TMP/orders" "$TMP/finished"
    background churn "$@"
    exec {orders}>"$TMP/orders" {finished}<"$TMP/finished"
    rm "$TMP/orders" "$TMP/finished"
    order run 0
    finished
}
churn() {
    exec env "$@" "$churner" <"$TMP/orders" >"$TMP/finished"
}
order() {
    echo "$*" >&"$orders"
}
finished() {
    read -r _ <&"$finished"
}
end() {
    exec {orders}>&- {finished}<&-
    wait "$PID"
}

look() {
    "$READ" --json --threads "$PID"
}

# A crowd of threads replaces the one before while a reader looks again and
# again. When the crowd has settled the reader looks once more, until no other
# reader, which reads all threads of this machine, is tracing one of them.
sample() {
    order renew
    while ! read -r -t 0.001 _ <&"$finished"; do look >>"$TMP/moving"; done
    look >"$TMP/crowd"
    while grep -q '"status":"no_permission"' "$TMP/crowd"; do
        look >"$TMP/crowd"
    done
    cat "$TMP/crowd" >>"$TMP/standing"
}

# attached FILE: the threads with a context, of what was read.
attached() {
    jq -c '.threads[] | select(.status == "attached")' "$1"
}

# strangers FILE: threads with a value that is not their own.
strangers() {
    attached "$1" | jq -c '"\(.tid)" as $tid
        | ("00000000" + $tid)[-8:] as $word
        | select(.trace_id != $word * 4 or .span_id != $word * 2
            or .trace_flags != 1
            or any(.attributes[]; "\(.key)=\(.value.stringValue)"
                | IN("tid=\($tid)", "again=\($tid)", "again=\($tid) again")
                | not))'
}

# oddities FILE: threads whose slot has something else than a context.
oddities() {
    jq -c '.threads[] | select(.status == "attached" and .message
        or (.status | IN("invalid", "malformed", "unreadable", "error")))' "$1"
}

# sizes: KiB resident and mapped; numbers of mappings, descriptors and threads.
sizes() {
    awk '/^Rss:/ {print $2}' "/proc/$PID/smaps_rollup"
    awk '/^VmSize:/ {print $2}' "/proc/$PID/status"
    wc -l <"/proc/$PID/maps"
    find "/proc/$PID/fd" -mindepth 1 | wc -l
    find "/proc/$PID/task" -mindepth 1 -maxdepth 1 | wc -l
}

# run [NAME=VALUE]...: a hundred thousand threads; the sizes after the first
# thousand in $early, after all in $late.
run() {
    begin "$@"
    order run 1000
    finished
    mapfile -t early < <(sizes)
    order run 99000
    finished
    mapfile -t late < <(sizes)
    end
    echo "# ${*:-without the shim}: KiB resident and mapped, mappings," \
        "descriptors, threads: ${early[*]} and then ${late[*]}"
}

under_shim=(LD_PRELOAD="$SHIM" "OTELCTX_ATTRIBUTE_KEYS=tid,again")

begin "${under_shim[@]}"
for ((i = 0; i < generations; i++)); do sample; done
end

same 'while threads come and go, every value read belongs to its thread' '' \
    "$(strangers "$TMP/moving")"
check 'more than a hundred threads were read then' [ "$(attached "$TMP/moving" | wc -l)" -gt 100 ]
same 'each of a thousand settled threads was read, with both attributes' \
    "$((generations * crowd))" "$(attached "$TMP/standing" |
        jq -s 'map(select(.attributes | length == 2)) | length')"
same 'each of their values belongs to its thread' '' "$(strangers "$TMP/standing")"
same 'no slot had anything else than a context' '' \
    "$(oddities "$TMP/moving" && oddities "$TMP/standing")"

run
run "${under_shim[@]}"
check 'of a hundred thousand threads at most 64 KiB stay resident' [ $((late[0] - early[0])) -le 64 ]
check 'at most 64 KiB stay mapped' [ $((late[1] - early[1])) -le 64 ]
same 'no mapping, descriptor or thread is left' "${early[*]:2}" \
    "${late[*]:2}"

done_testing
