#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The unit tests once more, by clang and under its address and undefined
# behaviour sanitizers.
#
# shellcheck source-path=SCRIPTDIR source=support/tap.sh
. "$(dirname "$0")/support/tap.sh"

cd "$(dirname "$0")/.."
build=${OTELCTX_BUILD:-build}/sanitized
# Criterion hides what tests print; a report is a file, and ends the test.
export ASAN_OPTIONS=detect_leaks=0:log_path=$TMP/report
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:log_path=$TMP/report

# The shim's variables must be the first of their TLS segment: the sanitizers, which
# have some, are a library of their own.
runtime=$(dirname "$(clang -print-file-name="libclang_rt.asan-$(uname -m).so")")
compile() {
    [ -e "$build/build.ninja" ] || CC=clang meson setup "$build" . \
        -Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-shared-libasan \
        -Dc_link_args="-shared-libasan -Wl,-rpath,$runtime"
    ninja -C "$build" -t targets all |
        sed -n 's|^\(tests/unit/test_[^/:]*\): .*|\1|p' | xargs ninja -C "$build"
}
run_units() {
    meson test -C "$build" --no-rebuild --suite unit
}

check 'the unit tests build with the sanitizers' compile
check 'the unit tests pass under the sanitizers' run_units
same 'and no sanitizer has anything to report' '' "$(cat "$TMP"/report* 2>/dev/null)"
done_testing
