# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced, after common.sh, by the tests with readers and writers of other
# projects: fetches them from their registries and builds them.

built=$BUILD/readers
mkdir -p "$built"

# newer_than VERSION COMMAND...: the first version number that it prints is.
newer_than() {
    local wanted=$1 found
    shift

    found=$("$@" 2>/dev/null | grep -oEm 1 '[0-9]+\.[0-9]+') || return 1
    printf '%s\n' "$wanted" "$found" | sort -CV
}

# in_go FOLDER COMMAND...: go's COMMAND there. Go adds what the packages in go.mod need
# to a copy: always the same versions, because each module names the lowest that it can
# use and Go takes the highest of these.
in_go() {
    cp "$1/go.mod" "$TMP/${1##*/}.mod"
    (cd "$1" && GOFLAGS="-buildvcs=false -mod=mod '-modfile=$TMP/${1##*/}.mod'" go "${@:2}")
}

# crate FOLDER TARGET: builds the crate for tests; the first build decides on versions
# that Cargo.toml leaves open, and cargo notes them beside it.
crate() {
    cargo build --quiet --target-dir "$2" --manifest-path "$1/Cargo.toml"
}

ebpf_profiler() {
    in_go "$ROOT/tests/e2e/world/readers/ebpf_profiler" build -o "$built/ebpf_profiler" .
}

# All programs in one build, the same for each test: cargo waits for one that
# another test has begun.
libdatadog() {
    OTELCTX_KIT_FOLDER=$BUILD/demo/kit \
        crate "$ROOT/tests/e2e/world/readers/libdatadog" "$built/libdatadog"
}
