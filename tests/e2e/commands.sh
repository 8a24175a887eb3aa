#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Real commands of many packages, one a row of commands/table.sh, without the
# shim and with it: the same bytes on stdout and stderr, the same exit status.
# A third run, traced, shows that the shim was there, and the row's marks right.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/e2e/fixed.sh
. "$(dirname "$0")/fixed.sh"

DATA=$TMP/data
WORK=$TMP/work

# What the rows work on, made once, without the shim.
prepare() {
    cp -a "$ROOT/tests/e2e/commands/data" "$DATA"
    cd "$DATA"
    find . -exec touch -d @1000000000 {} +
    seq 7 7 1400000 >numbers
    gcc -g -pthread -o threads threads.c
    printf 'void _start(void) { for (;;) ; }\n' | gcc -x c -c -o crt.o -
    fixed javac -d classes Sums.java
    fixed erlc tasks.erl
    ssh-keygen -q -t ed25519 -N '' -C birds -f key
    fixed sh "$ROOT/tests/e2e/commands/repository.sh"
    cd "$TMP"
    chmod 755 "$TMP"
}

# afresh COMMAND...: in a folder where nothing has happened yet.
afresh() {
    rm -rf "$WORK"
    cp -a "$DATA" "$WORK"
    chmod 777 "$WORK"
    (cd "$WORK" && fixed timeout -k 5 100 "$@")
}
around=(afresh)

declare -A packages=()
rows=0 threaded=0 forking=0 failing=0 versions=0

# See commands/table.sh.
row() {
    local package=$1 status=$2 marks=$3 sentence=$4
    shift 4

    packages[$package]=1
    rows=$((rows + 1))
    failing=$((failing + (status != 0)))
    [[ $marks != *threads* ]] || threaded=$((threaded + 1))
    [[ $marks != *forks* ]] || forking=$((forking + 1))
    [[ $marks != *version* ]] || versions=$((versions + 1))
    both "$@"
    traced "$@"
    check "$package $sentence ($status, $marks)" holds "$status" "$marks"
}

# traced COMMAND...: what became of threads, forks and contexts.
traced() {
    around=() afresh strace -f --seccomp-bpf -qq -o "$TMP/trace" \
        -e trace=clone,clone3,fork,memfd_create -e signal=none \
        -E LD_PRELOAD="$SHIM" "$@" >"$TMP/traced" 2>&1 </dev/null || :
}

# holds STATUS MARKS
holds() {
    local mark

    all_same
    same_words 'exit status' "$1" "$(<"$TMP/plain.status")"
    [ -s "$TMP/plain.out" ] || [ -s "$TMP/plain.err" ]
    grep -q 'memfd_create("OTEL_CTX"' "$TMP/trace"
    for mark in ${2//,/ }; do
        case $mark in
        threads) grep -q CLONE_THREAD "$TMP/trace" ;;
        # A fork copies the memory; vfork and posix_spawn borrow it.
        forks) grep -E ' (fork|clone3?)\(' "$TMP/trace" | grep -qv CLONE_VM ;;
        esac
    done
}
same_words() {
    [ "$2" = "$3" ] || {
        echo "$1: expected $2, not $3"
        return 1
    }
}

prepare
# shellcheck source=tests/e2e/commands/table.sh
. "$ROOT/tests/e2e/commands/table.sh"

at_least() {
    echo "$2 of $1"
    [ "$2" -ge "$1" ]
}
check 'there are 60 commands' at_least 60 $rows
check 'from 40 packages' at_least 40 ${#packages[@]}
check '15 of them with threads' at_least 15 $threaded
check '10 of them fork' at_least 10 $forking
check '20 of them fail' at_least 20 $failing
check '5 at most only say what they are' at_least $versions 5
done_testing
