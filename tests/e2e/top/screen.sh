#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# otelctx-top on a terminal, as a person sees it: tmux is the terminal, keys are
# sent, and its screen is read. Each wait is for what the screen says.
TOP=$OTELCTX_TOP
BUSY=$OTELCTX_BUSY
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
unset NO_COLOR TMUX
export OTEL_SERVICE_NAME=busy

# ---- a terminal ----------------------------------------------------------------

terminal=0 # each has a server of its own: that of the one before may be ending
tm() {
    tmux -S "$TMP/tmux.$terminal" "$@"
}
end_terminal() {
    tm kill-server 2>"$TMP/kill-server" || :
    tap_exit
}
trap end_terminal EXIT

# open_terminal [NAME=VALUE]...: with a shell; the terminal is 80 columns wide.
open_terminal() {
    terminal=$((terminal + 1))
    tm -f /dev/null new-session -d -s test -x 80 -y 24 \
        "cd '$TMP'; exec env PS1='prompt> ' $* bash --norc --noprofile --noediting -i"
    within shows 'prompt>'
    run 'stty -a >before'
}
close_terminal() {
    tm kill-session -t test
}
screen() {
    tm capture-pane -p -t test
}
# line NUMBER: from 1 on.
line() {
    screen | sed -n "$1p"
}
last_line() {
    screen | grep . | tail -n 1
}
keys() {
    tm send-keys -t test "$@"
}
type() {
    tm send-keys -t test -l "$1"
}
# run COMMAND: types it, and waits until it has ended.
run() {
    type "$1; echo ended \$?; touch ended"
    rm -f "$TMP/ended"
    keys Enter
    within test -e "$TMP/ended"
}
# is VARIABLE VALUE: what tmux says of the terminal.
is() {
    [ "$(tm display-message -p -t test "#{$1}")" = "$2" ]
}
resize() {
    tm resize-window -t test -x "$1" -y "$2"
}

# within COMMAND...: it succeeds, at last.
within() {
    local tries

    for ((tries = 0; tries < 1200; tries++)); do
        ! "$@" || return 0
        sleep 0.05
    done
    echo "in vain: $*"
    screen
    return 1
}
shows() {
    screen | grep -qF -- "$1"
}
lacks() {
    ! shows "$1"
}
# title TEXT, heading TEXT, last TEXT: such a line has it.
title() {
    line 1 | grep -qF -- "$1"
}
heading() {
    line 2 | grep -qF -- "$1"
}
last() {
    last_line | grep -qF -- "$1"
}

# fits COLUMNS LINES: the table has been drawn for a terminal of that size.
fits() {
    is pane_width "$1" && is pane_height "$2" && title otelctx-top &&
        [ "$(screen | grep -c .)" -ge 4 ] && line "$2" | grep -q looks/s &&
        heading CPU%
}

# begin_top ARGUMENT...: on the terminal; top is its pid.
begin_top() {
    type "'$TOP' $*"
    keys Enter
    within is alternate_on 1
    within title otelctx-top
    top=$(pgrep -n -x otelctx-top -P "$(tm display-message -p -t test '#{pane_pid}')")
}
# The terminal is as it was, and the shell has it.
restored() {
    within is alternate_on 0
    within is cursor_flag 1
    within is wrap_flag 1
    type 'echo the shell has it | rev'
    keys Enter
    within shows 'ti sah llehs eht'
    run 'stty -a >after'
    diff "$TMP/before" "$TMP/after"
}

# ---- what there is to see ------------------------------------------------------

mkfifo "$TMP/orders"
busy() {
    exec env LD_PRELOAD="$SHIM" "$BUSY" "$@" <"$TMP/orders" >"$TMP/ready"
}
background busy share 30 70
shares=$PID
exec {orders}>"$TMP/orders"
rm "$TMP/orders"
drive OTEL_SERVICE_NAME=$'\u65e5\u672c\e[31m'
[ "$(call key http.route)" = 0 ]
[ "$(call attach 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01)" = 0 ]
[ "$(call attr 0 $'/\u9053\e[2J\e]0;hacked\a\u9053')" = 0 ]
sleeper=$PID

# ---- keys ----------------------------------------------------------------------

open_terminal
begin_top "$shares" "$sleeper"
check 'it shows the routes on the other screen' within shows "busy $shares"
check 'the cursor is hidden' is cursor_flag 0
check 'the title counts the processes' within title '2 processes'
check 'the last line says what it costs' within last 'looks/s'
check 'that is the last line of the terminal' test -n "$(line 24)"
same 'a line that is too long ends with dots, on the last column' ... "$(line 3 | cut -c 78-80)"

check 'the first column is that of sorting' heading '*CPU%'
for column in 'WALL%' SAMPLES THREADS PROCS LONGEST 'CPU%'; do
    keys s
    check "s: then $column" within heading "*$column"
done

keys b
check 'b asks for rows' within last 'rows: _'
type http.route
check 'what is typed is shown' within last 'rows: http.route_'
keys Enter
check 'the heading has them' within heading 'LONGEST  http.route'
check 'the rows are these' within shows ' /70 '
keys b
type a,,b
keys Enter
check 'wrong rows are refused' within last 'rows: at most 8 names, none of them empty'
check 'and nothing changes' heading 'LONGEST  http.route'

keys /
check '/ asks for a filter' within last 'only with: _'
type $'3\u65e5x'
check 'UTF-8 can be typed' within last $'only with: 3\u65e5x_'
keys BSpace BSpace
check 'backspace takes a character' within last 'only with: 3_'
keys Left Up PPage
type 0
check 'cursor keys do not end it' within last 'only with: 30_'
keys Enter
check 'the title has the filter' within title 'only with: 30'
check 'only rows with it are left' within lacks ' /70 '
check 'they are there' within shows ' /30 '
keys /
type 70
within last 'only with: 70_'
keys Escape
check 'Escape leaves the line' within last 'looks/s'
check 'and the filter as it was' title 'only with: 30'
keys / Enter
check 'an empty filter is none' within shows ' /70 '
check 'the title has none' within title 'processes'
check 'none at all' not title 'only with'

keys h
check 'h: help' within shows 'sort by the next column'
check 'all of it' within shows 'q   leave'
keys '?'
check '?: no help' within lacks 'sort by the next column'

keys w
check 'w: with threads that sleep' within shows $'\u9053'
check 'no escape sequence of a value reaches the terminal' shows '\x1b[2J\x1b]0;hacked\x07'
check 'nor its title' not is pane_title hacked
keys b
type service
keys Enter
check 'wide characters are shown' within shows $'\u65e5\u672c\\x1b[31m '
keys w
check 'w: without' within lacks $'\u65e5\u672c'

# ---- freezing and scrolling ----------------------------------------------------

rows() {
    screen | sed -n '3,$p' | sed '$d' | grep .
}
clock() {
    line 1 | cut -d ' ' -f 3
}
# later CLOCK: it is.
later() {
    [ "$(clock)" != "$1" ]
}
# freeze: so many rows that they can be scrolled.
freeze() {
    keys f
    within title frozen
    [ "$(rows | wc -l)" -lt 6 ] || return 0
    keys f
    within not title frozen
    within later "$(clock)"
    return 1
}
keys b
type thread,state
keys Enter
keys w
check 'what is to be frozen is there' within freeze
check 'f freezes' title frozen
frozen=$(rows)
for _ in 1 2 3; do within later "$(clock)"; done
same 'the rows stay as they are while time goes on' "$frozen" "$(rows)"
keys s
within heading '*WALL%'
same 'they can be sorted' "$(sort <<<"$frozen")" "$(rows | sort)"
resize 80 6
within fits 80 6
row_is() {
    [ "$(line 3)" = "$1" ]
}
second=$(line 4) first=$(line 3)
keys Down
check 'down scrolls' within row_is "$second"
keys Up
check 'up scrolls back' within row_is "$first"
keys NPage
check 'page down scrolls to the end' within not row_is "$first"
keys PPage
check 'page up back' within row_is "$first"
keys f
check 'f goes on' within not title frozen
resize 80 24
for _ in 1 2 3 4 5; do keys s; done

# ---- sizes ---------------------------------------------------------------------

for size in '40 10' '200 50' '20 5' '80 24'; do
    # shellcheck disable=SC2086 # two words
    resize $size
    # shellcheck disable=SC2086
    check "$size: the title is above, the cost below" within fits $size
done
resize 200 50
whole() {
    line 50 | grep -Eq 'of a core(; [0-9]+ stops/s left out)?$'
}
check 'a wide terminal shows all of the last line' within whole
resize 80 24
within fits 80 24

coloured() {
    tm capture-pane -e -p -t test | grep -q $'\e\[1m'
}
check 'there are colours' within coloured
keys q
check 'q gives the terminal back' restored
begin_top "$shares" "; echo status \$?"
keys q
check 'and ends well' within shows 'status 0'

# ---- other terminals -----------------------------------------------------------

close_terminal
open_terminal NO_COLOR=1
begin_top "$shares"
within shows "busy $shares"
check 'NO_COLOR: there are none' not coloured
keys q
check 'it gives the terminal back' restored
close_terminal
open_terminal TERM=dumb
run "'$TOP' $shares >&2"
check 'TERM=dumb: one table' shows "busy $shares"
check 'on the screen that there is' is alternate_on 0
run "'$TOP' $shares </dev/null"
close_terminal
open_terminal
run "'$TOP' $shares | cat"
check 'a pipe: one table' shows "busy $shares"

# ---- whatever ends it ----------------------------------------------------------

signalled() {
    begin_top "$shares" "$sleeper"
    within shows "busy $shares"
    kill "-$1" "$top"
    restored
}
for signal in TERM INT HUP QUIT KILL ABRT SEGV USR1; do
    check "SIG$signal: the terminal is as it was" signalled $signal
done
interrupted() {
    begin_top "$shares"
    within shows "busy $shares"
    keys "$1"
    restored
}
check 'Ctrl-C: the terminal is as it was' interrupted C-c
check 'Ctrl-backslash, too' interrupted C-\\

suspend() {
    begin_top "$shares"
    within shows "busy $shares"
    keys C-z
    within shows Stopped
    restored
}
go_on() {
    type fg
    keys Enter
    within is alternate_on 1
    within title otelctx-top
    within is cursor_flag 0
    keys h
    within shows 'sort by the next column'
}
check 'Ctrl-Z: the shell has the terminal, as it was' suspend
check 'fg: the table is there again, and reads keys' go_on
keys q
check 'and gives the terminal back' restored
suspend
kill -KILL "$(pgrep -n -x otelctx-top -P "$(tm display-message -p -t test '#{pane_pid}')")"
check 'killed while it is stopped: it leaves the terminal to the shell' restored
stopped() {
    begin_top "$shares"
    within shows "busy $shares"
    kill -STOP "$top"
    within is_stopped
    within shows Stopped # now the shell has the terminal
    run 'stty sane'
}
is_stopped() {
    grep -q '^State:.*T (stopped)' "/proc/$top/status"
}
stopped
check 'after SIGSTOP, which it cannot notice, fg brings it back' go_on
keys q
within is alternate_on 0
close_terminal

open_terminal
begin_top "$shares"
within shows "busy $shares"
close_terminal
is_gone() {
    [ ! -e "/proc/$top" ]
}
check 'it ends when its terminal is gone' within is_gone
none_left() {
    ! pgrep -f "^$TOP $shares"
}
check 'and so does all that it started' within none_left

stop
exec {orders}>&-
wait "$shares"
done_testing
