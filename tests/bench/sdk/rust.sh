#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: rust.sh [new|old]
#
# What demo/sdk/rust costs, under the shim of build/ (or $OTELCTX_BUILD), and
# without it.
set -eu

root=$(cd "$(dirname "$0")/../../.." && pwd)
build=${OTELCTX_BUILD:-$root/build}
shim=$build/shim/libotelctx_preload.so
[ -e "$shim" ] || { echo "rust.sh: no $shim" >&2; exit 1; }
cargo build --release --quiet --target-dir "$build/sdk/rust" \
    --manifest-path "$root/tests/e2e/sdk/rust/${1-new}/Cargo.toml"
echo 'with the shim'
LD_PRELOAD=$shim "$build/sdk/rust/release/spans" bench
echo 'without it'
"$build/sdk/rust/release/spans" bench
