#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# otelctx-timeline: what it makes of recordings, right and wrong, and how a real
# browser shows the page. It also takes the pictures for the README.
TIMELINE=$OTELCTX_TIMELINE TOP=$OTELCTX_TOP
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

here=$ROOT/tests/e2e/top
for name in known hostile minute shop; do
    python3 "$here/recordings.py" $name >"$TMP/$name.json"
done
cd "$TMP"

# ---- recordings ----------------------------------------------------------------

for name in known hostile minute shop; do
    check "$name: it makes a page" "$TIMELINE" -o $name.html $name.json
done
check 'a recording may come from standard input, the page go to standard output' \
    cmp known.html <("$TIMELINE" - <known.json)
check 'one minute of 50 threads at 99 Hz makes less than 5 MB' \
    [ "$(stat -c %s minute.html)" -lt 5000000 ]
show "timeline  $(stat -c %s minute.html) bytes for $(grep -c '"t":' minute.json) samples"

# cut BYTES: of the known recording.
cut() {
    head -c "$1" known.json | "$TIMELINE" -
}
whole=$(stat -c %s known.json) first=$(head -n 1 known.json | wc -c)
cut_anywhere() {
    local size

    for ((size = first; size < whole; size += 97)); do
        cut "$size" >cut.html
        grep -q 'The recording was cut off' cut.html
    done
}
check 'a recording that was cut off is used up to there, and the page says so' cut_anywhere
check 'the whole one does not' not grep -q 'was cut off' known.html
check 'without its first line it is none' not cut $((first - 2))

# complains SENTENCE MESSAGE: about what is on standard input; nothing is written.
complains() {
    local status=0 said

    said=$("$TIMELINE" -o refused.html - 2>&1) || status=$?
    same "$1" "otelctx-timeline: $2 (1)" "$said ($status)"
    same "$1: no page is made" '' "$(find refused.html 2>/dev/null)"
}
head=$(head -n 1 known.json)
complains 'an empty file is refused' '-:1: this is not a recording, or less than its first line' </dev/null
complains 'something else is, too' '-:1: this is not a recording of otelctx-top' <<<'{"a":1}'
complains 'a later format' '-:1: the recording has a format of a later version' \
    <<<"${head/:1,/:2,}"
complains 'a bad line is named, with the place' '-:3:7: a colon is expected' <<END
$head
{"comment":"ignored"}
{"bad"}
END
complains 'a sample of a thread that nobody introduced' '-:2: no line introduces this thread' <<END
$head
{"t":5,"thread":1,"none":"detached","state":"R","cpu":1,"wall":1}
END
cp known.json mine.json
same 'the recording is not overwritten' \
    'otelctx-timeline: the page would overwrite the recording' \
    "$("$TIMELINE" -o mine.json mine.json 2>&1 | head -n 1)"
check 'it is what it was' cmp known.json mine.json
echo x >$'bad\nname'
same 'files are named' "otelctx-timeline: bad\\nname:1:1: an object is expected" \
    "$("$TIMELINE" $'bad\nname' 2>&1 || :)"
contains 'a missing file is named' 'otelctx-timeline: cannot open missing: No such file' \
    "$("$TIMELINE" missing 2>&1 || :)"
contains 'a directory is, too' 'otelctx-timeline: cannot read .: Is a directory' \
    "$("$TIMELINE" . 2>&1 || :)"
check 'a full disk is a failure' not "$TIMELINE" -o /dev/full known.json
full() {
    "$TIMELINE" known.json >/dev/full
}
check 'also behind standard output' not full
status=0
"$TIMELINE" 2>usage || status=$?
same 'no recording is a wrong usage' "2 otelctx-timeline: one recording is expected" \
    "$status $(head -n 1 usage)"

# ---- the page in a browser -----------------------------------------------------

# As in a terminal, for the README.
take_screen() {
    local screen=(tmux -S "$TMP/screen" -f /dev/null) tries

    "${screen[@]}" new-session -d -x 108 -y 13 \
        "env -u NO_COLOR '$TOP' --replay shop.json --by service,http.route"
    for ((tries = 0; tries < 600; tries++)); do
        ! "${screen[@]}" capture-pane -p | grep -q '^otelctx-top  all 2' || break
        sleep 0.1
    done
    "${screen[@]}" capture-pane -e -p | aha --black --title otelctx-top >top.html
    "${screen[@]}" kill-server
    grep -q /checkout top.html
}
check 'otelctx-top shows a recording on a terminal' take_screen

result=0
/usr/bin/python3 "$here/timeline.py" "$TMP" >found || result=$?
while read -r verdict rest; do
    case $verdict in
    ok) tap_ok "$rest" ;;
    show) show "timeline  $rest" ;;
    *) tap_not_ok "${rest%%: expected*}" "$rest" ;;
    esac
done <found
same 'the browser was asked everything' 0 "$result"
mkdir -p "$BUILD/timeline"
check 'pictures were taken' \
    cp shop.html timeline.png timeline-dark.png timeline-tip.png top.png "$BUILD/timeline"
check 'the pictures for the README have less than 200 KB' \
    [ "$(cat timeline.png top.png | wc -c)" -lt 200000 ]
done_testing
