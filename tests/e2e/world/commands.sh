#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Real commands of many packages, one per row of commands/table.sh, print the same
# bytes on stdout and stderr and have the same exit status without the shim and
# with it. A third, traced run proves that the shim was loaded, and the row's marks.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/fixed.sh
. "$(dirname "$0")/../fixed.sh"

# With the library that reads requests, too, which stands before libc's functions.
SHIM=$SHIM:$REQUESTS

DATA=$TMP/data
WORK=$TMP/work

# The files that the rows use, made once, without the shim.
prepare() {
    cp -a "$ROOT/tests/e2e/world/commands/data" "$DATA"
    cd "$DATA"
    find . -exec touch -d @1000000000 {} +
    seq 7 7 1400000 >numbers
    gcc -g -pthread -o threads threads.c
    printf 'void _start(void) { for (;;) ; }\n' | gcc -x c -c -o crt.o -
    fixed javac -d classes Sums.java
    fixed erlc tasks.erl
    ssh-keygen -q -t ed25519 -N '' -C birds -f key
    fixed sh "$ROOT/tests/e2e/world/commands/repository.sh"
    cd "$TMP"
    chmod 755 "$TMP"
}

# afresh COMMAND...: runs it in a new copy of the prepared folder.
afresh() {
    rm -rf "$WORK"
    cp -a "$DATA" "$WORK"
    chmod 777 "$WORK"
    (cd "$WORK" && fixed timeout -k 5 600 "$@")
}
around=(afresh)

# See commands/table.sh.
row() {
    local status=$2 marks=$3 sentence="$1 $4: status $2, the same output"
    shift 4

    [[ $marks != *threads* ]] || sentence+=', with threads'
    [[ $marks != *forks* ]] || sentence+=', with forks'
    both "$@"
    traced "$@"
    check "$sentence" holds "$status" "$marks"
}

# traced COMMAND...: leaves in $TMP/trace the system calls that make threads, forks
# and contexts.
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
# shellcheck source=tests/e2e/world/commands/table.sh
. "$ROOT/tests/e2e/world/commands/table.sh"
done_testing
