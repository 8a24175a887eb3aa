#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# otelctx-play stages what it says, and otelctx-judge judges: our own reader,
# which is right in every scenario, and some that are not.
#
PLAY=$OTELCTX_PLAY
JUDGE=$OTELCTX_JUDGE
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

ADAPTER=$ROOT/tests/e2e/kit/readers/otlp.jq

# judged [OPTION]... -- READER...: "SCENARIO VERDICT" of each, and the status.
judged() {
    local status=0

    "$JUDGE" --json "$@" >"$TMP/judged" || status=$?
    jq -r '"\(.scenario) \(.verdict)"' "$TMP/judged"
    echo "status $status"
}

# What only some kernels can stage.
unstaged='mapping/((memfd|anonymous)-named(-deleted)?|crowd|crowd-100000)|ring/(by-name|joined-named)'
unshare --user --pid --fork true 2>/dev/null || unstaged+='|mapping/file|ring/namespace'
# Where musl, or its compiler, is missing: as in tests of one group of packages.
[ -n "$(ls /lib/ld-musl-* 2>/dev/null)" ] || unstaged+='|threads/.*-musl'

# ---- the commands -----------------------------------------------------------

full() {
    local status=0

    "$@" >/dev/full || status=$?
    echo "$status"
}
for program in "$PLAY" "$JUDGE"; do
    for option in --help --version; do
        same "${program##*/} $option fails where its output cannot be written" 1 \
            "$(full "$program" $option)"
    done
done
for refused in '--timeout: expected a number of milliseconds, 1 or more, not "abc"' \
    '--memory: expected a number of MiB, 1 or more, not "0"' \
    '--jobs: expected a number from 1 to 1024, not "1025"'; do
    value=${refused##* }
    words=("${refused%%:*}" "${value//\"/}")
    contains "otelctx-judge says what is wrong with ${words[*]}" \
        "otelctx-judge: $refused" "$("$JUDGE" "${words[@]}" -- true 2>&1 || :)"
done

# ---- the scenarios ----------------------------------------------------------

same 'every scenario has a name of its own, a stage, an answer and a rule' \
    'true' "$("$PLAY" list --json | jq -s '
        (map(.name) | length >= 60 and length == (unique | length)) and
        all(.[]; .stage != "" and .answer != "" and .rule != "")')"
same 'the list for people has as many' "$("$PLAY" list --json | wc -l)" \
    "$("$PLAY" list | grep -c '^[a-z]')"
same 'a scenario says what is on stage and what is expected' \
    'records/value-empty true context {"http.route":""}' \
    "$("$PLAY" --for 0s records/value-empty | jq -r '
        (.expect.threads[] | select(.attributes."http.route" == "") |
            .attributes | tostring) as $attributes
        | "\(.scenario) \(.pid > 0 and (.tids | length == 2)) \(
            .expect.answer) \($attributes)"')"

near() {
    "$PLAY" "$1" 2>&1 </dev/null || echo "status $?"
}
same 'an unknown name lists the near ones' \
    'otelctx-play: no scenario "header/versoin-3"; near are header/version-3, header/version-0, header/version-1
status 3' "$(near header/versoin-3)"
contains 'the group need not be said' 'near are records/valid-255' \
    "$(near valid-255)"
contains 'and nothing is near to nonsense' 'otelctx-play list' \
    "$(near xxxxxxxxxxxxxxxxxxxx)"
if [ "$(naming)" = no ]; then
    same 'what this kernel cannot stage is not staged' \
        'otelctx-play: ring/by-name is not staged: this kernel does not name mappings: Invalid argument
status 77' "$(near ring/by-name)"
fi
check 'a duration needs a unit that is known' not "$PLAY" --for 3x mapping/memfd

# It ends with its standard input, and leaves nothing behind.
mkfifo "$TMP/in"
on_stage() {
    exec "$PLAY" threads/tlsdesc-dynamic <"$TMP/in" >"$TMP/line"
}
background on_stage
exec {input}>"$TMP/in"
until [ -s "$TMP/line" ]; do sleep 0.02; done
stage=$(jq .pid "$TMP/line")
folder=$(dirname "$(readlink "/proc/$stage/exe")")
exec {input}>&-
wait "$PID"
check 'a scenario ends with standard input' not kill -0 "$stage"
check 'and leaves no files behind' not [ -e "$folder" ]

# ---- our own reader ---------------------------------------------------------

judged --timeout 60000 --adapter "$ADAPTER" -- \
    "$READ" --json --threads '{}' >"$TMP/ours" || :
same 'otelctx-read is right wherever a scenario is staged' 'status 0' \
    "$(grep -v ' right$' "$TMP/ours" | grep -vE "^($unstaged) not staged$")"
check 'which are at least 180' \
    [ "$(grep -c ' right$' "$TMP/ours")" -ge 180 ]

# ---- readers that are not right ---------------------------------------------

reader() {
    cat >"$TMP/reader"
    chmod +x "$TMP/reader"
}

one='--only mapping/memfd --only mapping/none'
# shellcheck disable=SC2086 # two options each
judged_one() {
    judged $one "$@" -- "$TMP/reader" '{}' '{name}:header/none'
}

reader <<'END'
#!/bin/sh
exit 1
END
same 'a reader that shows nothing refuses what is there' \
    'mapping/memfd refused
mapping/none right
status 1' "$(judged_one)"

reader <<'END'
#!/bin/sh
exit 0
END
same 'a reader that shows a context everywhere is wrong where there is none' \
    'mapping/memfd right
mapping/none wrong
status 4' "$(judged_one)"

reader <<'END'
#!/bin/sh
echo '{"answer":"context","resource":{"service.name":"shop2"}}'
END
same 'a context with other values is wrong' \
    'mapping/memfd wrong
mapping/none wrong
status 4' "$(judged_one)"

reader <<'END'
#!/bin/sh
sleep 1000
END
same 'a reader that hangs is ended' \
    'mapping/memfd hung
mapping/none hung
status 5' "$(judged_one --timeout 200)"

reader <<'END'
#!/bin/sh
kill -SEGV $$
END
same 'a reader that crashes is found out' \
    'mapping/memfd crashed
mapping/none crashed
status 5' "$(judged_one)"

reader <<'END'
#!/usr/bin/env python3
area = bytearray(200 << 20)
for at in range(0, len(area), 4096):
    area[at] = 1
END
same 'so is one that takes too much memory' 'mapping/memfd memory
status 5' "$(judged --timeout 60000 --memory 100 --only mapping/memfd -- "$TMP/reader")"

reader <<'END'
#!/bin/sh
kill -STOP "$1"
until grep -q '^State:.T' "/proc/$1/status"; do :; done
END
same 'and one that leaves the process stopped' 'mapping/memfd stopped
status 5' "$(judged --only mapping/memfd -- "$TMP/reader" '{}')"

reader <<'END'
#!/bin/sh
echo no JSON
END
same 'an output that the adapter cannot take is unclear' \
    'mapping/memfd unclear
status 1' "$(judged --only mapping/memfd --adapter "$ADAPTER" -- "$TMP/reader")"
same 'so is a command that does not exist' 'mapping/memfd unclear
status 1' "$(judged --only mapping/memfd -- /nonexistent '{}')"

reader <<'END'
#!/bin/sh
[ "$2" = mapping/none:header/none ] || exit 77
exit 1
END
same 'a reader gets the name, and may say that it cannot be judged' \
    'mapping/memfd not staged
mapping/none right
status 0' "$(judged_one)"

# ---- what it prints ---------------------------------------------------------

table() {
    "$JUDGE" --only mapping/none --only header/version-3 -- false
}
same 'the table' \
    'scenario          expected got      verdict    rule
mapping/none      none     none     right      OTEP 4719, Reading Protocol
header/version-3  none     none     right      OTEP 4719, Reading Protocol, step 2

2 right' "$(table)"
junit() {
    "$JUDGE" --junit --only mapping/memfd --only mapping/none -- false >"$TMP/junit" || :
    python3 - "$TMP/junit" <<'END'
import sys
import xml.etree.ElementTree as xml

suite = xml.parse(sys.argv[1]).getroot().find("testsuite")
print(suite.get("tests"), suite.get("failures"), suite.get("skipped"))
for case in suite:
    print(case.get("classname"), case.get("name"), [f.tag for f in case])
END
}
same 'and JUnit, which other programs read' "2 1 0
mapping memfd ['failure']
mapping none []" "$(junit)"
check 'a pattern that fits nothing is an error' \
    not "$JUDGE" --only nonsense -- true
check 'so is a command without a reader' not "$JUDGE" --json

# ---- one file ---------------------------------------------------------------

if readelf -d "$PLAY" | grep -q 'no dynamic section'; then
    same 'both programs are one file each: they need no library' \
        '' "$(readelf -d "$JUDGE" | grep NEEDED)"
else
    skip 'both programs are one file each: they need no library' \
        'machine: no static libc'
fi
done_testing
