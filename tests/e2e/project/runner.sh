#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/run itself: which tests it chooses, and what it makes of their output.
# That it installs only what is needed: fresh.sh.
#
# shellcheck source=tests/support/tap.sh
. "$(dirname "$0")/../../support/tap.sh"

tests=$(cd "$(dirname "$0")/../.." && pwd)
build=$OTELCTX_BUILD
export OTELCTX_BUILD=$TMP/build # what it is not to touch

# run ARGUMENT...: its status, and what it says.
run() {
    local status=0

    "$tests/run" "$@" 2>&1 || status=$?
    echo "status $status"
}
# chosen PATTERN...: names, in one line.
chosen() {
    "$tests/run" --list "$@" | awk '{print $1}' | xargs
}

contains '--help says how it is used' 'Usage: tests/run ' "$(run --help)"
same '--list shows a test, its tier and what it needs' \
    'unit/process/payload                 quick  protoc
status 0' "$(run --list payload)"
same 'a folder and a name choose one test' e2e/thread/thread \
    "$(chosen e2e/thread/thread)"
same 'a name alone is the test of that name, in whatever suite' \
    'unit/base/lock e2e/thread/thread' "$(chosen thread lock)"
same 'a folder is all of its tests' "$(chosen 'unit/thread/*')" \
    "$(chosen unit/thread)"
same 'a pattern is matched as by the shell' \
    'unit/base/lock unit/reader/print/text' \
    "$(chosen 'loc?' 'te[!a-su]t')"
same 'what is named twice is chosen once' unit/base/lock \
    "$(chosen lock unit/base/lock 'loc[k]')"
same 'a suite is all of its tests' "$(chosen 'unit/*')" "$(chosen unit)"
same 'both tiers are all tests' "$(chosen all)" "$(chosen quick long)"
same 'without a name all are listed' "$(chosen all)" "$(chosen)"

same 'a name that is unknown names those that are near' \
    "tests/run: no test and no suite is called 'doulbe'; near: double
status 2" "$(run doulbe)"
same 'one such name is enough for nothing to be run' \
    "tests/run: no test and no suite is called 'kernel'; near: kernels
status 2" "$(run attrs kernel)"
same 'a name that resembles none points to --list' \
    "tests/run: no test and no suite is called 'qqqqqq'; --list shows all
status 2" "$(run qqqqqq)"
for pattern in '' '[' "\\" '.*' 'unit/.*'; do
    contains "'$pattern' chooses nothing" 'status 2' "$(run "$pattern")"
done
contains 'an unknown option is refused' 'status 2' "$(run --nonsense)"
check 'and none of this builds anything' [ ! -e "$OTELCTX_BUILD" ]

# In Meson a test has two suites: its folder and its tier.
same 'the table and Meson have the same tests, suites and tiers' \
    "$(awk '/^[a-z]/ {suite = $1; sub("/.*", "", suite); print $1, suite, $2}' \
        "$tests/tiers" | sort)" \
    "$(python3 - "$build" <<'END' | sort
import json
import sys

for test in json.load(open(sys.argv[1] + "/meson-info/intro-tests.json")):
    print(test["name"], *(suite.split(":")[-1] for suite in test["suite"]))
END
    )"
mapfile -t groups < <(awk '/^[a-z]/ {for (i = 3; i <= NF; i++) print $i}' \
    "$tests/tiers" | sort -u)
check 'tests/support/packages knows every group in the table' \
    "$tests/support/packages" --missing "${groups[@]}"
check 'and refuses one that it does not know' not "$tests/support/packages" --missing nonsense

contains 'it builds what a test needs, and runs it' ' passed, 0 failed, 0 skipped
status 0' "$(run unit/process/protobuf)"
same 'and nothing else' test_process_protobuf "$(cd "$TMP/build/tests/unit" && find . \
    -maxdepth 1 -name 'test_*' -type f -printf '%f\n')"

# summed VERDICT STATUS OUTPUT: what becomes of a test that ended like this.
summed() {
    mkdir -p "$TMP/sum"/meson-{info,logs}
    echo '[{"name": "e2e/it", "protocol": "tap"}]' \
        >"$TMP/sum/meson-info/intro-tests.json"
    python3 - "$@" "$named" >"$TMP/sum/meson-logs/testlog.json" <<'END'
import json
import sys

verdict, status, output, name = sys.argv[1:]
print(json.dumps({"name": name, "result": verdict,
                  "returncode": int(status), "stdout": output, "duration": 1}))
END
    "$tests/support/summary" "$TMP/sum" 0 e2e/it | tail -n 1
}
named='otelctx:e2e+quick / e2e/it'
passes=$'ok 1 - it does\nok 2 - and it does\n1..2'
unset CI
same 'it counts cases' '2 passed, 0 failed, 0 skipped' "$(summed OK 0 "$passes")"
same 'whatever way Meson writes the name of a test' '2 passed, 0 failed, 0 skipped' \
    "$(named='e2e+quick - otelctx:e2e/it' summed OK 0 "$passes")"
same 'a case that fails is a failure' '1 passed, 1 failed, 0 skipped' \
    "$(summed FAIL 1 $'ok 1\nnot ok 2 - it does\n1..2')"
same 'a crash is a failure' '2 passed, 1 failed, 0 skipped' \
    "$(summed FAIL -11 "$passes")"
same 'a timeout is a failure' '2 passed, 1 failed, 0 skipped' \
    "$(summed TIMEOUT -15 "$passes")"
same 'a plan that does not add up is a failure' '2 passed, 1 failed, 0 skipped' \
    "$(summed OK 0 "${passes%2}3")"
same 'no plan is a failure' '1 passed, 1 failed, 0 skipped' "$(summed OK 0 'ok 1')"
same 'no case is a failure' '0 passed, 1 failed, 0 skipped' "$(summed OK 0 1..0)"
same 'an exit status other than 0 is a failure' '2 passed, 1 failed, 0 skipped' \
    "$(summed FAIL 3 "$passes")"
skips=$'ok 1 - it does # SKIP %s\n1..1'
# shellcheck disable=SC2059 # it is a format
same 'a skip is a skip' '0 passed, 0 failed, 1 skipped' \
    "$(summed OK 0 "$(printf "$skips" 'no wish to')")"
# shellcheck disable=SC2059
same 'and a failure in CI' '0 passed, 1 failed, 0 skipped' \
    "$(CI=true summed OK 0 "$(printf "$skips" 'no wish to')")"
# shellcheck disable=SC2059
same 'but for what a machine cannot do' '0 passed, 0 failed, 1 skipped' \
    "$(CI=true summed OK 0 "$(printf "$skips" 'machine: it is too small')")"
done_testing
