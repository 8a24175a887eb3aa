#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# otelctx-run passes on environments and arguments as they are.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

cc -o "$TMP/show" "$ROOT/tests/e2e/run/show.c"
check 'ten thousand environments and argument vectors arrive unchanged' \
    python3 "$ROOT/tests/e2e/run/vectors.py" "$RUN" "$SHIM" "$TMP/show"
done_testing
