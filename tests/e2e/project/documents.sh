#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# README.md and the man pages say what the code does: every option and call is
# there, and every example prints what it shows.
#
PLAY=$OTELCTX_PLAY JUDGE=$OTELCTX_JUDGE TIMELINE=$OTELCTX_TIMELINE TOP=$OTELCTX_TOP
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
cd "$ROOT"

SHIM_7=shim/libotelctx_preload.7
SHIM_5=shim/otelctx.5
READ_1=demo/reader/otelctx-read.1

# Names.
functions() { # of the API
    sed -n 's/^ *\(otelctx_[a-z0-9_]*\);$/\1/p' shim/otelctx.map |
        grep -v '^otelctx_copy$'
}
undocumented() {
    local name missing=

    for name in $(functions) prctl otel_thread_ctx_v1; do
        grep -q "$name" $SHIM_7 || missing+=" $name"
    done
    echo "$missing"
}
same 'libotelctx_preload(7) describes every call' '' "$(undocumented)"

# different: the options whose entry in the page does not begin with what the
# table in the code says.
different() {
    local page entry=

    page=$(<$SHIM_7)
    while IFS= read -r line; do
        if [ -n "$line" ]; then
            entry+=$line$'\n'
            continue
        fi
        [[ $page = *$'\n'"$entry"* ]] || head -n 1 <<<"$entry"
        entry=
    done < <("$TABLE")
}
same 'libotelctx_preload(7) describes every option as the code does' '' \
    "$(different)"
same 'and has no other entries' "$("$TABLE" | grep '^\.It' | sort)" \
    "$(sed -n '/^\.Sh ENVIRONMENT/,/^\.Sh FILES/p' $SHIM_7 | grep '^\.It' | sort)"
same 'README.md and the sample configuration name no other options' '' \
    "$(grep -ohE '\bOTEL(CTX)?_[A-Z_]+' README.md config/otelctx.conf |
        grep -vx OTEL_CTX | sort -u |
        grep -vxF -f <("$TABLE" | sed -n 's/^\.It Ev //p'))"
# "-a,--all" or "--raw", one a line, without the argument of an option.
for program in "$READ" "$TOP" "$TIMELINE" "$PLAY" "$JUDGE"; do
    same "${program##*/}(1) has the options that --help has" \
        "$("$program" --help | grep -oE '^  (-., )?--[a-z-]+' | tr -d ' ' | sort)" \
        "$(sed -n 's/^\.It Fl //p' demo/*/"${program##*/}.1" |
            sed 's/^/-/; s/, Fl /,-/; s/, -/,--/; s/Fl /-/; s/ Ar .*//' |
            sed 's/,---/,--/' | tr -d ' ' | sort)"
done

# versions: of the readers that others wrote, in the tests.
versions() {
    local readers=tests/e2e/world/readers

    sed -n 's|.*go.opentelemetry.io/ebpf-profiler v|v|p' \
        $readers/ebpf_profiler/go.mod
    sed -n 's/^libdd-library-config .*"=\([0-9.]*\)".*/\1/p' \
        $readers/libdatadog/Cargo.toml
}
same 'README.md names the versions of the readers in the tests' "$(versions)" \
    "$(grep -oE '[v0-9.]+.?, in the tests' README.md | sed 's/[^v0-9.].*//')"

# Examples. A block is what a person types behind "$ ", and what comes back.
markdown() { # FILE LANGUAGE
    awk -v language="$2" '$0 == "```" {on = 0} on
        $0 == "```" language {on = 1}' "$1"
}
mdoc() { # FILE: the displays that begin with something typed
    awk '/^\.Ed/ {on = 0} /^\$ / && last ~ /^\.Bd/ {on = 1} on {print} {last = $0}' \
        "$1" | sed 's/\\e/\\/g'
}

# settled PID: waits until the program sleeps, for at most ten seconds. That is
# what the examples begin with; a second may be too short on a busy machine.
settled() {
    local tries

    for ((tries = 0; tries < 500; tries++)); do
        ! grep -q nanosleep "/proc/$1/wchan" || return 0
        sleep 0.02
    done
}
complete() {
    [[ $1 != *\\ ]] && bash -n <<<"$1" 2>/dev/null
}
# perform: types what stands behind "$ " in the block on stdin, and prints that
# with what comes back. Process 4711 is $PID; `--all` is that one alone, too.
perform() (
    set +e
    export PATH=${READ%/*}:${PLAY%/*}:$PATH LD_LIBRARY_PATH=${SHIM%/*} CPATH=$ROOT/shim
    # shellcheck disable=SC2016 # for eval
    settle='settled $!;'
    typed=
    while IFS= read -r line; do
        [[ -n $typed || $line = '$ '* ]] || continue
        echo "$line"
        typed+=${typed:+$'\n'}${line#'$ '}
        complete "$typed" || continue
        typed=${typed//4711/${PID-}}
        typed=${typed/#sleep 1;/$settle}
        cd "$TMP" && eval "${typed//--all/${PID-}}" </dev/null 2>&1
        typed=
    done
    started=$(jobs -p)
    # shellcheck disable=SC2086 # words on purpose
    [ -z "$started" ] || kill $started
)

# Without what differs from run to run, from kernel to kernel and from machine
# to machine.
normal() {
    local hex='[0-9a-f]'

    sed -E "s/^PID [0-9]+/PID/
        s/^( +mapping +)$hex+-$hex+ (.*) (\/memfd:OTEL_CTX \(deleted\)|\[anon.*\])$/\1 \2/
        s/0x$hex+/ADDRESS/
        s/^( +published ).*/\1/
        s/^( +00..) .* (published_at_ns|payload ADDRESS).*/\1 \2/
        s/(thread pointer) -?[0-9]+, in .*/\1/
        s/^ +[0-9]+ ( [^ ]+ +)[A-Z]  /    \1/
        s/stopped at most .*//
        s/^\[[0-9]+,([0-9]+,)?/[/"
}

# prints SENTENCE BLOCKS
prints() {
    local blocks=${2:?no example}

    same "$1" "$(normal <<<"$blocks")" "$(perform <<<"$blocks" | normal)"
}
markdown README.md c >"$TMP/web.c"
prints 'the examples in README.md print what it shows' \
    "$(markdown README.md console)"
prints 'the example in libotelctx_preload(7) does' "$(mdoc $SHIM_7)"
prints 'the example in otelctx(5) does' "$(mdoc $SHIM_5)"

for page in demo/kit/otelctx-judge.1 demo/kit/otelctx-verdict.5; do
    prints "so do those in ${page##*/}" "$(mdoc $page)"
done

mkfifo "$TMP/hold"
exec {hold}<>"$TMP/hold"
at_work() {
    exec env LD_PRELOAD="$SHIM" OTEL_SERVICE_NAME=shop \
        "$BUILD/demo/apps/worker" hold <&"$hold" >"$TMP/steps"
}
background at_work
until grep -q query "$TMP/steps"; do sleep 0.05; done
prints 'the examples in otelctx-read(1) do' "$(mdoc $READ_1)"

# The same bytes, as nobody but the kernel reads them.
bytes() { # of the rows of a display
    sed -n 's/^ *00[0-9a-f][0-9a-f]  \([0-9a-f][0-9a-f] \)/\1/; T; s/  .*//; p' |
        tr -d ' \n'
}
memory() { # ADDRESS SIZE
    dd if="/proc/$PID/mem" iflag=skip_bytes,count_bytes skip=$(($1)) \
        count="$2" status=none | od -An -v -tx1 | tr -d ' \n'
}
example() { # SECTION
    sed -n "/^\.Sh $1/,/^\.Sh/p" $SHIM_5 | sed -n '/^\.Ss Example/,$p' | bytes
}
# Of the header, neither the time nor an address is the same twice.
timeless() {
    sed -E 's/^(.{32}).{32}/\1/'
}
drive OTEL_SERVICE_NAME=shop \
    OTELCTX_ATTRIBUTE_KEYS=http.route,http.request.method
start=$("$READ" --json "$PID" | jq -r '.contexts[0].mapping.start')
same 'the bytes of the process context in otelctx(5) are those in memory' \
    "$(example 'PROCESS CONTEXT' | timeless)" "$(memory "$start" 180 | timeless)"
same 'and those of the thread context' "0 0 0 $(example 'THREAD CONTEXT')" \
    "$(call attach 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01) $(
        call attr 0 /cart) $(call attr 1 GET) $(
        memory "$("$READ" --json --threads "$PID" |
            jq -r '.threads[0].record')" 40)"
stop

# Recipes.
mapfile -t unit < <(markdown README.md ini | sed -n 's/^Environment=//p' |
    tr ' ' '\n' | grep -v ^LD_PRELOAD= | sed 's/%%/%/g')
stay "${unit[@]}" sleep 60
published "$PID"
same 'the unit in README.md says what its text says' \
    $'service.name=checkout\nteam=shop,web' "$(resource "$PID")"
same 'and has no other percent sign' '' \
    "$(markdown README.md ini | sed 's/%%//g' | grep % || :)"

# The shape of things.
same 'README.md is at most 120 columns wide' '' \
    "$(awk 'length > 120 {print FILENAME ": " FNR}' README.md)"
# What a file links to, from where it stands.
dead_links() {
    local file link

    find . -name '*.md' -not -path './build*' -not -path '*/node_modules/*' |
        while read -r file; do
            grep -oE '\]\([^)#]+' "$file" | sed 's/^](//' | grep -v '^https:' |
                while read -r link; do
                    [ -e "${file%/*}/$link" ] || echo "$file: $link"
                done || :
        done
}
# absent: source files that a document names, and that are not there.
# shellcheck disable=SC2016 # backquotes of Markdown
absent() {
    grep -ohE '`(config|demo|shim|tests)/[a-z0-9_./]+`' README.md .github/*.md |
        tr -d '`' | while read -r file; do [ -e "$file" ] || echo "$file"; done
}
same 'the files that README.md and .github name are there' '' "$(absent)"
same 'what a document links to is there' '' "$(dead_links)"

done_testing
