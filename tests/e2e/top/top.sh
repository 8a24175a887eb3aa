#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# otelctx-top: whether its tables and recordings are true of programs that share a
# processor, fork, execute, end, stop and describe themselves anew; its options;
# and what it does to the programs that it samples. hosts/busy.c says what its
# contexts mean; samples.py checks that of each sample.
# With pids of its own, where it may: --all looks at every process, and a thread
# that is being read cannot be traced by another test.
apart=(unshare --mount --pid --fork --kill-child --mount-proc)
if [ -z "${is_apart-}" ] && "${apart[@]}" true 2>/dev/null; then
    is_apart=yes exec "${apart[@]}" sh -c '"$@"; exit $?' sh "$0" "$@"
fi
TOP=$OTELCTX_TOP
BUSY=$OTELCTX_BUSY
REKEYER=$OTELCTX_REKEYER
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
export OTEL_SERVICE_NAME=busy

samples() {
    python3 "$ROOT/tests/e2e/top/samples.py" "$@"
}

# begin COMMAND...: a host, as $PID. `order` has it do something, `finish` ends it.
begin() {
    mkfifo "$TMP/orders" "$TMP/results"
    background hosted "$@"
    exec {orders}>"$TMP/orders" {results}<"$TMP/results"
    rm "$TMP/orders" "$TMP/results"
    read -r _ <&"$results"
}
hosted() {
    exec "$@" <"$TMP/orders" >"$TMP/results"
}
busy() {
    begin env LD_PRELOAD="$SHIM" "$BUSY" "$@"
}
order() {
    echo "$*" >&"$orders"
    read -r _ <&"$results"
}
finish() {
    exec {orders}>&- {results}<&-
    wait "$PID"
}

# sample ARGUMENT...: otelctx-top records to recording.json and prints to table, as
# $sampler, until `sampled` ends it.
sample() {
    local host=$PID

    rm -f "$TMP/recording.json"
    background sampling "$@" >"$TMP/table"
    sampler=$PID PID=$host
}
# Without the host's descriptors: it ends when all of them are closed. Whoever runs
# the tests in the background ignores SIGQUIT.
sampling() {
    exec env --default-signal=INT,QUIT "$TOP" --for 60m --record "$TMP/recording.json" "$@" {orders}>&- {results}<&-
}
sampled() {
    kill "$sampler"
    wait "$sampler"
}

# within COMMAND...: it succeeds, at last.
within() {
    local tries

    for ((tries = 0; tries < 1200; tries++)); do
        ! "$@" || return 0
        sleep 0.1
    done
    echo "in vain: $*"
    return 1
}

# looks COUNT: the sampler has gone to sleep so many times more.
looks() {
    local wanted

    wanted=$(($(switches) + $1))
    within has_switched
}
switches() {
    awk '/^voluntary_ctxt/ {print $2}' "/proc/$sampler/status"
}
has_switched() {
    [ "$(switches)" -ge "$wanted" ]
}

# has_seen COUNT OWNER [ROUTE]: samples with such a span.
has_seen() {
    [ "$(samples seen "$TMP/recording.json" "${@:2}")" -ge "$1" ]
}

# ---- options -------------------------------------------------------------------

# says STATUS MESSAGE ARGUMENT...
says() {
    local status=0 said

    said=$("$TOP" "${@:3}" 2>&1 >"$TMP/stdout") || status=$?
    same "otelctx-top ${*:3}: status $1, and why" "$1 otelctx-top: $2" \
        "$status $(head -n 1 <<<"$said")"
}
says 2 'cannot understand option "--sort"' --sort
says 2 'cannot understand option "-x"' -x1
says 2 '--hz: not a number from 1 to 1000: "0"' --hz 0
says 2 '--for: not a time such as 10s, 500ms or 2m: "soon"' --for soon
says 2 '--by: a name is empty: "a,,b"' --by a,,b
says 2 '--by: more than 8 names: "1,2,3,4,5,6,7,8,9"' --by 1,2,3,4,5,6,7,8,9
says 2 '--all goes without processes: "1"' --all 1
says 2 'not a process number: "0"' 0
says 2 'an argument is missing behind "--record"' --record
says 3 'there is no process 4194305' --once 4194305
says 3 "no process is called 'nobody called this so'" --once 'nobody called this so'
says 1 "$TMP/none/file: No such file or directory" --once --record "$TMP/none/file" $$
says 1 '/dev/full: No space left on device' --once --record /dev/full $$
contains '--help names the exit statuses' '2 usage, 3 no such process' "$("$TOP" --help)"
contains '--version has one' 'otelctx-top ' "$("$TOP" --version)"
full() {
    "$TOP" --once $$ >/dev/full
}
check 'a full disk behind standard output is a failure' not full

# ---- shares --------------------------------------------------------------------

busy share 30 70

# used ROUTE: ns, by the thread of that name.
used() {
    grep -lx "$1" "/proc/$PID/task/"*/comm | sed 's/comm$/schedstat/' | xargs cut -d ' ' -f 1
}
# number ROUTE COLUMN: of the table.
number() {
    awk -v route="$1" -v column="$2" '$7 == route {print $column}' "$TMP/table"
}
# A machine that stands still takes few samples in five seconds: then longer.
for seconds in 5 5 10 20 40 80 160; do
    before=$(used /30)/$(used /70)
    "$TOP" --for ${seconds}s --by http.route "$PID" >"$TMP/table"
    after=$(used /30)/$(used /70)
    [[ $(number /30 3) -lt 100 || $(number /70 3) -lt 100 ]] || break
done
mapfile -t lines < <(grep . "$TMP/table")
show "${lines[@]}"
# In tenths of points, of what both have used.
read -r shown real < <(awk -v shown="$(number /30 1)/$(number /70 1)" \
    -v before="$before" -v after="$after" 'BEGIN {
        split(shown, s, "/"); split(before, b, "/"); split(after, a, "/")
        one = a[1] - b[1]; other = a[2] - b[2]
        printf "%d %d\n", 1000 * s[1] / (s[1] + s[2]), 1000 * one / (one + other)
    }')
show "30 : 70  shown ${shown} per mille, by the kernel ${real}"
check 'two routes have the shares that the kernel gave to their threads, within 3 points' \
    [ $((shown - real)) -le 30 -a $((real - shown)) -le 30 ]
check 'these are 30 and 70 %' [ "$real" -ge 270 -a "$real" -le 330 ]

# ---- rows ----------------------------------------------------------------------

# table ARGUMENT...: of the host.
table() {
    "$TOP" --once "$@" "$PID" >"$TMP/table"
}
# Until there are samples with routes: the machine may stand still for a second.
table_with() {
    for ((tries = 0; tries < 100; tries++)); do
        table "${@:2}"
        ! grep -q "$1" "$TMP/table" || return 0
    done
}
values() {
    awk 'NR > 1 && !NF {exit} NR > 1 {print substr($0, 46)}' "$TMP/table" |
        sed -E 's/^( *[^ ]+( [^ ]+)*).*/\1/'
}
table_with ' /70 ' --by http.route
same '--by KEY: a row for each value, with nothing behind but the command' \
    "$(printf '/30\n/70')" "$(values | grep / | sort)"
table_with ' /30 ' --by service,http.route,state
contains '--by with several makes a tree' "$(printf '  /30\n    R')" "$(values)"
same 'with one root' busy "$(values | grep -v '^ ')"
table_with 'no such.thing' --by such.thing
contains '--by an attribute that nobody has: a row says so' '(no such.thing)' "$(values)"
table_with " $PID:0 " --by owner
contains '--by an attribute of the resource' "$PID:0" "$(values)"
table --by pod,container
contains 'a process without a pod has a row' '(no pod)' "$(values)"
table --by thread
check 'the heading names the column of sorting, and the rows' \
    grep -q '^ \*CPU%  WALL% SAMPLES THREADS PROCS LONGEST  thread$' "$TMP/table"
check 'the last line says what it costs' grep -Eq \
    '^[0-9]+ looks/s; [0-9]+ stops/s of [0-9]+ us \(at most [0-9]+ us\): [0-9.]+ % of a core(; [0-9]+ stops/s left out)?$' \
    "$TMP/table"
check 'no line has an escape sequence' not grep -q $'\033' "$TMP/table"

table_with ' /70 ' --no-stop --by http.route
check '--no-stop has a column of samples that may be wrong' grep -q 'UNSURE' "$TMP/table"
check '--no-stop stops nothing' grep -q '; 0 stops/s' "$TMP/table"
unsure() {
    awk '$8 == "/70" && $4 > 0 && $4 <= $3 {found = 1} END {exit !found}' "$TMP/table"
}
check '--no-stop counts them' unsure
unsure_again() {
    "$TOP" --no-stop --for 2s --record "$TMP/recording.json" "$PID" >"$TMP/table"
    "$TOP" --replay "$TMP/recording.json" >"$TMP/table"
    grep -q UNSURE "$TMP/table"
}
check 'so does the replay' within unsure_again
same 'a process that is named twice is sampled once' 1 \
    "$("$TOP" --once --by process "$PID" "$PID" busy | awk -v pid="$PID" '$8 == pid {print $5}')"
thread=$(find "/proc/$PID/task" -mindepth 1 -maxdepth 1 -not -name "$PID" \
    -printf '%f\n' -quit)
same 'a thread means its process' "busy $PID" \
    "$("$TOP" --once --by process "$thread" 2>/dev/null | awk '/busy/ {print $7, $8}')"
contains 'and that is said' 'otelctx-top: PID' \
    "$("$TOP" --once "$thread" 2>&1 >"$TMP/stdout")"
all() {
    within shown_by_all
}
shown_by_all() {
    "$TOP" --all --once --by process >"$TMP/table" &&
        grep -q " busy $PID " "$TMP/table"
}
check '--all has it, too' all
check 'so has the name' "$TOP" --once busy

install -m 755 "$TOP" "$TMP/otelctx-top"
chmod 755 "$TMP"
table_of_nobody() {
    setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/otelctx-top" --once "$PID" \
        >"$TMP/table"
    grep -q '(no permission)' "$TMP/table"
}
has_time() {
    awk -v pid="$PID" '$8 == pid && $1 > 0 {found = 1} END {exit !found}' "$TMP/table"
}
if [ "$(id -u)" = 0 ]; then
    check 'a process that may not be read is shown, with the reason' within table_of_nobody
    check 'with the processor time that it uses' has_time
else
    skip 'a process that may not be read is shown, with the reason' 'machine: no root'
    skip 'with the processor time that it uses' 'machine: no root'
fi
finish

busy wait
table --by process
same 'a process that sleeps has no row' '' "$(values)"
table --wall --by process,state
same '--wall shows it' "$(printf 'busy %s\n  S' "$PID")" "$(values)"

# ---- what nobody sees is told ---------------------------------------------------

sample --by http.route "$PID"
within looks 100
before=$(samples clock "$PID")
enough() {
    order burn 200
    has_seen 10 "$PID:0" /burn
}
check 'a route that burns is seen' within enough
after=$(samples clock "$PID")
looks 300
sampled
told=$(samples cpu "$TMP/recording.json" "$PID")
show "all rows $told ms, by the kernel $((after - before)) ms"
check 'all rows together are what the kernel accounts for, within 50 ms' \
    [ $((told - after + before)) -le 50 -a $((after - before - told)) -le 50 ]
check 'what has no context is a row of its own' grep -Eq '  \((no span|not sampled)\)' "$TMP/table"
check 'after a signal it prints its table' grep -q ' /burn ' "$TMP/table"
finish

# ---- changes -------------------------------------------------------------------

busy storm 3 0
sample --all
check 'a storm is sampled' within has_seen 20 "$PID:0"
check 'in attributes that are set one by one, too' within has_seen 5 "$PID:0"
order fork
child=$(<"/proc/$PID/task/$PID/children")
check 'a child is sampled, as a process of its own' within has_seen 5 "${child% }:0"
order generation
check 'another resource is seen' within has_seen 5 "$PID:1"
order brief
order exec
check 'an exec is seen' within has_seen 5 "$PID:2"
kill -STOP "$PID"
stops() {
    grep -h '^State' "/proc/$PID/task/"*/status | grep -vq 'T (stopped)' || return 0
    return 1
}
check 'the process stops when it is told so' within stops
looks 200
check 'it stays stopped while it is sampled' stops
kill -CONT "$PID"
order generation
check 'it is sampled when it goes on' within has_seen 5 "$PID:3"
for ((i = 0; i < 5; i++)); do
    order brief
    order exec
    order generation
done
check 'it is seen after some more of all that' within has_seen 5 "$PID:13"
kill -STOP "$PID"
sampled
check 'it stays stopped when the sampler ends' within stops
kill -CONT "$PID"
check 'a span is never under another process, program or resource, a route never under another trace' \
    samples check "$TMP/recording.json"
show "storm  $(samples check "$TMP/recording.json")"
finish

begin "$REKEYER"
sample "$PID"
rekeyed() {
    [ "$(grep -c '"span":.*"state":' "$TMP/recording.json")" -ge 30 ]
}
check 'a process whose keys change is sampled' within rekeyed
sampled
check 'an attribute is never under the name of another key' samples check "$TMP/recording.json"
show "keys   $(samples check "$TMP/recording.json")"
finish

busy storm 2 0
sample "$PID"
check 'a process is sampled until it ends' within has_seen 5 "$PID:0"
finish
looks 100
sampled
check 'its end is recorded, and no sample behind' samples check "$TMP/recording.json"
check 'with the line that says so' grep -q '^{"gone":' "$TMP/recording.json"

# ---- storages ------------------------------------------------------------------

begin env LD_PRELOAD="$SHIM" OTELCTX_THREAD_STORAGE=ring "$BUSY" storm 3 0
sample "$PID"
check 'contexts in the ring are sampled' within has_seen 20 "$PID:0"
sampled
check 'no thread is stopped for them' grep -q '; 0 stops/s of 0 us' "$TMP/table"
check 'they are right' samples check "$TMP/recording.json"
finish

# ---- whatever ends it ----------------------------------------------------------

busy storm 50 0
# Neither stopped nor traced.
free() {
    ! grep -hE '^(State:.*[tT] \(|TracerPid:.*[1-9])' "/proc/$PID/task/"*/status
}
ended_by() {
    local tries

    for ((tries = 0; tries < 5; tries++)); do
        sample "$PID"
        looks $((20 + RANDOM % 50))
        kill "-$1" "$sampler"
        wait "$sampler" || :
        free
    done
}
for signal in KILL TERM INT QUIT HUP ABRT SEGV; do
    check "SIG$signal leaves none of 50 threads stopped" ended_by $signal
done
sample "$PID"
check 'they go on with what they did' within has_seen 50 "$PID:0"
sampled
check 'their samples are right' samples check "$TMP/recording.json"
same 'a thread that sleeps uses no processor time' '' \
    "$(grep -E '"state":"S","cpu":[1-9]' "$TMP/recording.json" | head -n 3)"
show "50 threads  $(tail -n 1 "$TMP/table")"
finish

# ---- many ----------------------------------------------------------------------

busy herd 1000
children() {
    local list

    read -ra list <"/proc/$PID/task/$PID/children"
    [ ${#list[@]} = 1000 ]
}
check 'a thousand processes have begun' within children
TIMEFORMAT='%U user, %S system'
{ time "$TOP" --for 10s --wall --by service --record "$TMP/recording.json" busy >"$TMP/table"; } \
    2>"$TMP/time"
all_there() {
    awk '/busy/ && $4 >= 2000 && $5 >= 1000 {found = 1} END {exit !found}' "$TMP/table"
}
check 'a thousand processes with 2,000 threads: all are there' all_there
check 'the last line has the rate' grep -Eq '^[1-9][0-9]? looks/s' "$TMP/table"
check 'their samples are right' samples check "$TMP/recording.json"
"$TOP" --for 10s --by service busy >"$TMP/table"
show "2,000 threads, --wall for 10 s: $(<"$TMP/time")" "$(tail -n 1 "$TMP/table")"
finish

done_testing
