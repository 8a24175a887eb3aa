#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What programs are built against, otelctx.h and the exports, only grows.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
cd "$ROOT"

ABI=tests/support/abi GOLDEN=tests/golden/abi
if ! diff "$GOLDEN" <("$ABI" "$SHIM") >"$TMP/diff"; then
    show "after an addition: $ABI build/shim/libotelctx_preload.so >$GOLDEN"
fi
same 'the golden file has the declarations and the exports of these sources' '' "$(<"$TMP/diff")"

# released: the golden file of the last release, if there is one here.
released() {
    git -c safe.directory='*' show "$(git -c safe.directory='*' describe --tags \
        --match 'v*' --abbrev=0)":$GOLDEN 2>/dev/null || cat $GOLDEN
}
check 'every line of the last release is there' "$ABI" --compare <(released 2>/dev/null) $GOLDEN

# changed SED: the golden file after that.
changed() {
    sed -E "$1" $GOLDEN >"$TMP/changed"
}
while IFS='|' read -r what script line; do
    changed "$script"
    check "refused: $what" not "$ABI" --compare $GOLDEN "$TMP/changed"
    contains "refused: $what: it says which line" "no longer: $line" \
        "$("$ABI" --compare $GOLDEN "$TMP/changed" 2>&1)"
done <<'END'
a function without its declaration|/ otelctx_attach\(/d|int otelctx_attach(
another type of an argument|/ otelctx_attr\(/s/uint8_t/int/|int otelctx_attr(uint8_t key
a larger struct|/struct otelctx_ids \{/s/\}/uint8_t more; }/|struct otelctx_ids { 
another value of an enum|s/^OTELCTX_RING = 2/OTELCTX_RING = 8/|OTELCTX_RING = 2
a larger variable|s/(otel_thread_ctx_v1 TLS) 8/\1 16/|export otel_thread_ctx_v1 TLS 8
an export with a version|s/^(export prctl)/\1@@V1/|export prctl
another name of the library|s/^(SONAME .*)/\1.2/|SONAME
END
# shellcheck disable=SC2016 # sed's
changed '$aint otelctx_new(void)'
check 'a new function is welcome' "$ABI" --compare $GOLDEN "$TMP/changed"
changed 's/^(#define OTELCTX_ABI) 1/\1 2/; /otelctx_attach/d'
check 'another OTELCTX_ABI may do without others' "$ABI" --compare $GOLDEN "$TMP/changed"
done_testing
