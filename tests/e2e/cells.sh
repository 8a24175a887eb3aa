# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced, after common.sh: the cells of a matrix. Each cell is a folder with
# the driver, the shim, one libc and a list of calls. tests/support/converse
# runs the driver, makes the calls, and reads the process and its forked child
# from outside.

SUPPORT=$ROOT/tests/support
EINVAL=-22
FIRST=0123456789abcdef0123456789abcdef-0123456789abcdef
SECOND=fedcba9876543210fedcba9876543210-fedcba9876543210
CONVERSATION="key http.route
attach 00-$FIRST-01
attr 0 /cart
look
fork
get
look
attach 00-$SECOND-03
set where child
publish
look
drop
look
publish
look"
ROWS=()

# supported TOOL ARGUMENT...: runs a tool of tests/support, whose results stay
# in the build folder.
supported() {
    OTELCTX_BUILD=$BUILD "$SUPPORT/$1" "${@:2}"
}

# libcs ARCHITECTURE: their names, the oldest first.
libcs() {
    (cd "$BUILD/libcs/$1" && printf '%s\n' *-*.*) | sort -V
}

# prepare ARCHITECTURE: makes what the cells of this architecture consist of.
prepare() {
    check "every libc for $1 can be fetched" supported libcs "$1"
    check "and the release for $1 built" supported guest --prepare "$1" bookworm
    hosts "$1" "$BUILD/guest/$1/musl-gcc"
}

# hosts ARCHITECTURE MUSL_GCC: builds the driver twice, once for all glibcs and
# once for all musls. Each finds its dynamic linker in its own folder.
hosts() {
    local source=$ROOT/tests/e2e/hosts/driver.c
    local options=(-I"$ROOT" -pthread '-Wl,--dynamic-linker=./ld.so')

    mkdir -p "$TMP/hosts/$1"
    "$BUILD/libcs/$1/old-gcc" "${options[@]}" -o "$TMP/hosts/$1/glibc" "$source"
    "$2" "${options[@]}" -o "$TMP/hosts/$1/musl" "$source"
}

# release ARCHITECTURE: builds the installed file, which all cells load.
release() {
    echo "$BUILD/guest/$1/release/usr/lib/libotelctx_preload.so"
}

# furnish FOLDER ARCHITECTURE MAPPING WITHOUT_MEMFD: makes the cells below
# FOLDER. Each libc has two: in one the mapping is called MAPPING; in the other
# RLIMIT_FSIZE is 0, so that a memfd cannot be used, and the mapping is called
# WITHOUT_MEMFD. When that is "none", only the newest libcs have the second
# cell. When MAPPING is "emulation", there is no second cell and no fork: user
# emulation has no ptrace, and its children inherit memory that a kernel would
# wipe.
furnish() {
    local libc newest

    mkdir -p "$1"
    cp "$(release "$2")" "$SUPPORT/converse" \
        "$BUILD/guest/$2/release/usr/bin/otelctx-read" "$1"
    newest=" $(libcs "$2" | tac | sort -u -t- -k1,1 | tr '\n' ' ')"
    CELLS=()
    for libc in $(libcs "$2"); do
        cp -r "$BUILD/libcs/$2/$libc" "$1"
        cp "$TMP/hosts/$2/${libc%-*}" "$1/$libc/host"
        cell "$1" "$libc" "$3" ''
        [ -n "$4" ] || continue
        if [ "$4" != none ] || [[ $newest == *" $libc "* ]]; then
            cell "$1" "$libc" "$4" 'ulimit -f 0; '
        fi
    done
}

# cell FOLDER LIBC MAPPING LIMIT
cell() {
    local folder=$1/${#CELLS[@]} run=env set=

    [ "$3" != emulation ] || run='qemu-aarch64 -L .' set=-E
    CELLS+=("$folder|$2|$3")
    mkdir "$folder"
    echo "$CONVERSATION" | possible "$3" >"$folder/calls"
    echo "$4cd ../$2; exec $run $set OTEL_SERVICE_NAME=cell $set $(
    )LD_LIBRARY_PATH=. $set LD_PRELOAD=../libotelctx_preload.so ./host" \
        >"$folder/start"
}

# possible MAPPING: of calls or answers.
possible() {
    if [ "$1" = emulation ]; then grep -v '^fork'; else cat; fi
}

# seen FILE: what otelctx-read said, a process a line.
seen() {
    jq -rs '.[0].pid as $parent | .[] | [
        if .pid == $parent then "parent" else "child" end, .status,
        (.contexts[] | .mapping.name, ([.resource.attributes[] |
            "\(.key)=\(.value.stringValue)"] | sort[])),
        (.threads[] | .status, (select(.status == "attached") |
            "\(.trace_id)-\(.span_id)-\(.trace_flags)"),
            (.attributes // [] | .[] | "\(.key)=\(.value.stringValue)"))
        ] | join(" ")' "$1"
}

# expected_looks MAPPING, expected_answers MAPPING: what the reader should see
# and what the driver should answer; without a mapping the reader sees no
# context.
expected_looks() {
    local parent before after child

    parent="parent ok $1 service.name=cell attached $FIRST-1 http.route=/cart"
    before="child ok $1 service.name=cell attached $FIRST-1 http.route=/cart"
    after="child ok $1 service.name=cell where=child attached $SECOND-3"
    child='child no_context'
    if [ "$1" = none ]; then
        parent='parent no_context'
        before=$child after=$child
    fi
    printf '%s\n' "$parent" "$parent" "$before" "$parent" "$after" \
        "$parent" "$child" "$parent" "$after"
}

expected_answers() {
    local published=0

    [ "$1" != none ] || published=$EINVAL
    printf '%s\n' 'key 0' 'attach 0' 'attr 0' 'fork PID' "get 0 00-$FIRST-01" \
        'attach 0' 'set 0' "publish $published" 'drop 0' "publish $published"
}

# folders FILE: the folders of the mapped libraries, without the shim's.
folders() {
    sed '/otelctx/d; s,.*/\([^/]*\)/[^/]*$,\1,' "$1" | sort -u
}

# judge ARCHITECTURE: compares all cells that the last furnish made.
judge() {
    local folder libc mapping sum

    sum=$(sha256sum <"$(release "$1")")
    for cell in "${CELLS[@]}"; do
        IFS='|' read -r folder libc mapping <<<"$cell"
        judge_cell "$folder" "$1" "$libc" "$mapping" "${sum%% *}"
    done
}
# shellcheck disable=SC2154 # tap_failed is tap.sh's
judge_cell() {
    local folder=$1 libc=$3 mapping=$4 failed=$tap_failed
    local kernel=unknown result=passed sentence

    [ ! -e "$folder/kernel" ] || kernel=$(<"$folder/kernel")
    case $mapping in
    none) sentence='nothing can be published, and nothing goes wrong' ;;
    emulation) sentence='every call succeeds in user emulation' ;;
    *) sentence="$mapping: thread, fork, update and drop are seen" ;;
    esac
    if [ -e "$folder/sum" ]; then
        same "$2, Linux $kernel, ${libc/-/ }: $sentence" "$(
            expected_answers "$mapping" | possible "$mapping"
            echo "$5"
            [ "$mapping" = emulation ] || {
                echo "$libc"
                expected_looks "$mapping"
            }
        )" "$(
            cat "$folder/answers" "$folder/errors"
            cut -d' ' -f1 "$folder/sum"
            [ "$mapping" = emulation ] || {
                folders "$folder/mapped"
                seen "$folder/looks"
            }
        )"
    else
        tap_not_ok "$2, Linux $kernel, ${libc/-/ }: $sentence" 'it did not run'
    fi
    [ "$failed" = "$tap_failed" ] || result=FAILED
    add_row "$2" "$kernel" "$libc" "$(name_seen "$folder/looks")" "$result"
}

# name_seen FILE: of the mapping, by the first look.
name_seen() {
    [ ! -e "$1" ] || jq -rs '.[0] | if . then
        .contexts[0].mapping.name // "none" else "(nobody looks)" end' "$1"
}

# The matrix, a line for each cell.
add_row() {
    ROWS+=("$(printf '%-12s  %-24s  %-10s  %-25s  %s' "$@")")
}
print_table() {
    show "${ROWS[@]}" '(where it is "none": the newest libcs only)'
}
add_row architecture kernel libc 'mapping seen' result
