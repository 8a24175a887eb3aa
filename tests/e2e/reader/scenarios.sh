#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What otelctx-read says of the kit's scenarios, and with which status. That it reads
# them right is for tests/e2e/kit/play.sh.
PLAY=$OTELCTX_PLAY
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

# read_stage SCENARIO OPTIONS: leaves $TMP/status, $TMP/out and $TMP/err.
read_stage() {
    local status=0 options

    read -ra options <<<"$2"
    rm -f "$TMP/hold" "$TMP/said"
    mkfifo "$TMP/hold"
    "$PLAY" "$1" <"$TMP/hold" >"$TMP/said" &
    exec {hold}>"$TMP/hold"
    until [ -s "$TMP/said" ]; do sleep 0.01; done
    "$READ" "${options[@]}" "$(jq .pid "$TMP/said")" >"$TMP/out" 2>"$TMP/err" || status=$?
    echo "$status" >"$TMP/status"
    exec {hold}>&-
    wait $!
}

# says SCENARIO OPTIONS STATUS [out|err|json|empty TEXT]...: TEXT is part of what it
# prints, a filter of jq that holds of it, or which of the two is empty.
says() {
    read_stage "$1" "$2"
    head "$TMP/status" "$TMP/out" "$TMP/err"
    [ "$(<"$TMP/status")" = "$3" ]
    shift 3
    while [ $# -gt 0 ]; do
        case $1 in
        json) jq -e "$2" "$TMP/out" ;;
        empty) [ ! -s "$TMP/$2" ] ;;
        *) grep -qF -e "$2" "$TMP/$1" ;;
        esac
        shift 2
    done
}

check 'a published context is found and shown' says mapping/memfd -- 0 \
    out '/memfd:OTEL_CTX (deleted)' out '    service.name  "shop"' empty err
check 'so it is as JSON' says mapping/memfd --json 0 \
    json '.status == "ok" and (has("message") | not)' \
    json '.contexts[0].resource.attributes ==
        [{"key": "service.name", "value": {"stringValue": "shop"}}]' \
    json '.contexts[0] | .header.version == 2 and .header.payload_size == 26 and
        .mapping.permissions == "rw-p"' \
    json '.contexts[0].age_ns | tonumber | . >= 0 and . < 600e9'
check 'a mapping whose name is longer is found' says mapping/name-longer -- 0
check 'one whose name begins otherwise is not' says mapping/name-prefixed -- 5 \
    err ': no process context'
check 'a read-only mapping is read' says mapping/read-only -- 0 out ' r--p /memfd:OTEL_CTX'
check 'a mapping without the signature is invalid' says header/signature-other -- 7 \
    err 'signature is "OTEL_CTY", not "OTEL_CTX"' \
    err '"/memfd:OTEL_CTX (deleted)" at 0x' empty out
check 'its bytes are escaped' says header/signature-short -- 7 err 'signature is "OTEL_CT\x00"'
check 'a version other than 2 and 1 is invalid' says header/version-3 -- 7 \
    err 'version is 3, only 2 and 1 are supported'
check 'a header that cannot be read is invalid' says mapping/no-access -- 7 \
    err 'header cannot be read'
check 'the reader waits for a first publish' says header/signature-last -- 0
check 'the reader waits while the timestamp is zero' says header/timestamp-last -- 0
check 'a timestamp that stays zero is busy' says header/timestamp-0 --json 8 \
    json '.status == "busy" and .contexts == []' err 'timestamp stayed zero'
check 'the payload may be in another mapping' says place/elsewhere -- 0 out '"shop"'
check 'a null payload pointer is invalid' says place/null -- 7 err 'payload pointer is null'
check 'a payload in unmapped memory is invalid' says place/unmapped -- 7 \
    err 'payload (26 bytes at 0x' err ') cannot be read'
check 'one at an address of the kernel is' says place/kernel -- 7 err ') cannot be read'
check 'one that ends in unmapped memory is' says place/into-unmapped -- 7 err ') cannot be read'
check 'a payload of no bytes is invalid' says place/size-0 -- 7 err 'payload size is 0'
check 'a payload of 65536 bytes is read' says place/size-65536 -- 0 out 'payload 65536 bytes'
check 'a byte more is invalid' says place/size-65537 -- 7 \
    err 'payload size is 65537 bytes, more than 65536'
check 'so are 4 GiB, which are shown' says place/size-4-gib --raw 7 out 'payload_size 4294967295'
check 'invalid UTF-8 is reported with attribute and byte' says payload/utf8-broken --json 7 \
    err 'payload byte 12: invalid UTF-8 (0xff) in a string value, in resource attribute "' \
    json '.status == "invalid_context" and .contexts == []' \
    json '.message | contains("payload byte 12")'
check 'a truncated payload is reported with its byte' says payload/length-past-end --raw 7 \
    err 'payload byte 27: length 9' out '^^ byte 27: ' out 'key "service.name"'
check 'a duplicate key is shown' says payload/duplicate-keys --json 0 \
    err 'key "k" appears more than once in the resource' \
    json '[.contexts[0].resource.attributes[] | select(.key == "k")] | length == 2'
same 'with one warning' 1 "$(wc -l <"$TMP/err")"
check 'several contexts are a failure' says mapping/two -- 6 \
    out '"shop"' out '"cart"' err '2 contexts, there must be only one'
check 'they are all shown' says mapping/two --json 6 json '.status == "several_contexts"' \
    json '[.contexts[].resource.attributes[0].value.stringValue] | sort == ["cart", "shop"]'

# thread SCENARIO STATUS FILTER: the thread of that status is one; FILTER holds of it.
thread() {
    says "$1" '--threads --json' 0 \
        json "[.threads[] | select(.status == \"$2\")] | length == 1 and (.[0] | $3)"
}

# malformed SCENARIO MESSAGE FILTER: likewise, and MESSAGE is part of the thread's.
malformed() {
    thread "$1" malformed ".span_id == \"fedcba9876543210\" and
        (.message | contains(\"$2\")) and $3"
}

# announced SCENARIO STATUS SCHEMA: no thread is read, and no variable is sought.
announced() {
    says "$1" '--threads --json' 0 json ".threads == [] and (.thread_context |
        .status == \"$2\" and .schema_version == $3 and (has(\"symbol\") | not))"
}

# ring SCENARIO FILTER: FILTER holds of a process without a process context.
ring() { says "$1" '--threads --json' 5 json "$2"; }

check 'no thread is read with two process contexts' says mapping/two '--threads --json' 6 \
    json '.thread_context.status == "no_context" and .threads == []'
check 'none is before keys are announced' announced threads/nothing-announced not_announced null
check 'nor with a key map alone' announced threads/schema-absent not_announced null
check 'nor without a key map' announced threads/map-missing not_announced '"tlsdesc_v1_dev"'
check 'the text says so' says threads/nothing-announced --threads 0 \
    out '    not_announced' out '      (there is no threadlocal.schema_version in' empty err
check 'nor with another schema, which is named' announced threads/schema-go other_schema \
    '"go_pprof_labels_v1" and (.message | contains("go_pprof_labels_v1"))'
check 'a record whose valid is 0 is ignored' thread records/valid-0 invalid 'has("record") and
    (has("trace_id") or has("attributes") or has("message") | not)'
check 'so is one whose valid is 2' thread records/valid-2 invalid \
    '.message == "valid is 2" and (has("trace_id") | not)'
check 'of attributes that are too long the first are shown' malformed records/size-65535 \
    '65535 bytes' '.attributes[0].key == "user.id"'
check 'entries before an incomplete one are shown' malformed records/entry-past-size \
    'attribute byte 7: an incomplete entry' '(.attributes | length == 1)'
check 'a record at an odd address is shown' malformed records/odd 'is odd' \
    '(.attributes | length == 1)'
check 'the ids are shown where attributes cannot be read' malformed \
    records/attributes-unmapped 'its attributes (7 bytes) cannot be read' '.attributes == []'
check 'a record that cannot be read is reported' thread records/low unreadable \
    '.record == "0x40" and (.message | length > 0)'
check 'a ring slot that names no owner is attached' ring ring/by-magic \
    '[.threads[].ring | select(.status == "attached")] | length == 1 and
        (.[0] | .span_id == "ffffffffffffb8ee" and (has("owner") | not))'
check 'a slot in use is busy' ring ring/in-use '[.threads[].ring |
    select(.status == "busy")] | length == 1 and (.[0] | has("span_id") | not)'
check 'a ring of more slots than its mapping has is invalid' ring ring/capacity-too-large \
    '.ring.status == "invalid" and ([.threads[] | has("ring")] | any | not) and
        (.ring.message | startswith("its capacity is 4294967295 slots, more than"))'
check 'so is one of no slots' ring ring/capacity-0 \
    '.ring | .status == "invalid" and .message == "its capacity is 0"'
check 'a mapping of slots of another size is no ring' ring ring/slot-size-64 'has("ring") | not'
done_testing
