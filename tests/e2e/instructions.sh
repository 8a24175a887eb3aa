#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Instructions of each frequent call, counted by callgrind: a second opinion on
# their speed that no noise disturbs. A change of one of these numbers is to be
# explained by the commit that makes it.
#
declare -A programs=([thread]=$OTELCTX_BENCH_THREAD [process]=$OTELCTX_BENCH_PROCESS)
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

[ "$(uname -m) $(gcc -dumpversion)" = 'x86_64 12' ] ||
    skip_all 'machine: the numbers are those of gcc 12 on x86-64'

# collected PROGRAM SUBJECT TIMES: the instructions of the whole program.
collected() {
    OTEL_SERVICE_NAME=bench LD_PRELOAD=$SHIM OTEL_RESOURCE_ATTRIBUTES=\
deployment.environment.name=prod,service.version=1 \
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 |
        sed -n 's/.*Collected : //p'
}
# per_round PROGRAM SUBJECT: with the benchmark's own loop and calls; to the
# nearest, because two starts are not the same to the last instruction.
per_round() {
    local few many

    few=$(collected "${programs[$1]}" "$2" 1000)
    many=$(collected "${programs[$1]}" "$2" 3000)
    echo $(((many - few + 1000) / 2000))
}

while read -r program subject golden name; do
    same "instructions: $name" "$golden" "$(per_round "$program" "$subject")"
done < <(grep -v '^#' "$ROOT/tests/golden/instructions")

done_testing
