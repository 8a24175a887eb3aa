#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The shim and the SDK for Python, from its registry, take the same attributes
# from the environment, except for the differences that libotelctx_preload(7) lists.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

here=$ROOT/tests/e2e/process/sdks

check 'the SDK for Python installs' python3 -m pip install --quiet --no-deps \
    --only-binary=:all: --target "$TMP/sdk" -r "$here/requirements.txt"
check 'seven hundred environments give both what the manual says' env PYTHONPATH="$TMP/sdk" \
    python3 "$here/compare.py" "$SHIM" "$READ" "$ROOT/shim/libotelctx_preload.7"
done_testing
