#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Usage: tests/fuzz/run.sh [SECONDS [TARGET...]]
#
# Each fuzz target, for so many seconds (10), from its corpus, under the address
# and undefined-behaviour sanitizers. What is found is left in the build
# directory, to be moved into the corpus with the repair.
#
# shellcheck source=tests/support/tap.sh
. "$(dirname "$0")/../support/tap.sh"

cd "$(dirname "$0")/../.."
seconds=${1:-10}
found=${OTELCTX_BUILD:-build}/fuzz
mkdir -p "$found"

# The parsers and encoders of the shim; and the reader, the other witness.
mapfile -t sources < <(find config demo/base demo/reader \
    shim/requests/{fastcgi,http,labels,mysql,postgresql,sql,stream}.c \
    shim/{process/{key_map,payload,protobuf,reader_limits},thread/record}.c \
    -name '*.c' -not -path 'demo/reader/command/*' -not -path 'demo/reader/why/*')

flags=(-g -O1 -std=gnu11 -D_GNU_SOURCE '-DOTELCTX_VERSION="0"' -I. -fno-sanitize-recover=all)
compile_sources() {
    local source

    for source in "${sources[@]}"; do
        mkdir -p "$TMP/objects/${source%/*}"
    done
    printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I {} clang "${flags[@]}" \
        -fsanitize=fuzzer-no-link,address,undefined -c {} -o "$TMP/objects/{}.o" &&
        find "$TMP/objects" -name '*.o' -exec ar rc "$TMP/sources.a" {} +
}
compile() {
    clang "${flags[@]}" -fsanitize=fuzzer,address,undefined \
        "tests/fuzz/$1.c" "$TMP/sources.a" -o "$TMP/$1"
}

fuzz() {
    mkdir "$TMP/corpus_$1"
    "$TMP/$1" -max_total_time="$seconds" -max_len=65536 -timeout=60 \
        -artifact_prefix="$found/$1-" "$TMP/corpus_$1" "tests/fuzz/corpus/$1"
}

shift $(($# > 0))
if [ $# = 0 ]; then
    for file in tests/fuzz/*.c; do
        file=${file##*/}
        set -- "$@" "${file%.c}"
    done
fi
check 'what is fuzzed compiles' compile_sources
for target; do
    check "$target: compiles" compile "$target"
    check "$target: $seconds s of fuzzing find nothing" fuzz "$target"
done
done_testing
