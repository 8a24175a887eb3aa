#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The workflows of the forge: actionlint takes them, and every command of ours that
# they call is there.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
cd "$ROOT"

# commands: the scripts of this repository that they name.
commands() {
    grep -ohE '(\.ci|tests)/[a-z_/]+' .github/workflows/*.yml | grep -v '/aarch$' | sort -u
}
same 'every command of ours is there' '.ci/release .ci/run tests/support/packages' "$(commands | xargs)"
not_executable() {
    commands | while read -r file; do [ -x "$file" ] || echo "$file"; done
}
same 'and can be executed' '' "$(not_executable)"
install_actionlint() {
    GOBIN=$BUILD/readers go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7
}
check 'actionlint is there' install_actionlint
check 'it takes them' "$BUILD/readers/actionlint" .github/workflows/*.yml
sed 's/matrix\.image/matrix.nosuch/' .github/workflows/ci.yml >"$TMP/wrong.yml"
check 'and not one with a mistake' not "$BUILD/readers/actionlint" "$TMP/wrong.yml"
done_testing
