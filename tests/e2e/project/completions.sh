#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bash, zsh and fish complete the options, values and arguments of each program.
#
# shellcheck disable=SC2317 # candidates calls with_bash and so on
play=$OTELCTX_PLAY judge=$OTELCTX_JUDGE timeline=$OTELCTX_TIMELINE top=$OTELCTX_TOP
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
cd "$TMP"

DESTDIR=$TMP/root meson install -C "$BUILD" --no-rebuild --tags completions \
    >install.log 2>&1
data=$(find root -path '*/bash-completion' -printf '%h\n')
mkdir bin home
ln -s "$RUN" "$READ" "$play" "$judge" "$timeline" "$top" bin
export PATH=$TMP/bin:$PATH HOME=$TMP/home
programs=$(meson introspect --installed "$BUILD" |
    jq -r '.[] | select(test("/bin/")) | sub(".*/"; "")' | sort)

same 'bash-completion finds one for each program that is installed' "$programs" \
    "$(find "$data/bash-completion/completions" -type f -printf '%f\n' | sort)"
same 'fish does' "$programs" \
    "$(find "$data/fish/vendor_completions.d" -type f -printf '%f\n' |
        sed 's/\.fish$//' | sort)"
zsh_file=$(find root -name _otelctx)
same 'zsh does' "$programs" "$(sed -n '1s/#compdef //p' "$zsh_file" |
    tr ' ' '\n' | sort)"

# ---- what each shell completes a line with: one candidate a line, sorted ------

# As readline breaks it into words: "=" is one of its own.
cat >complete.bash <<'END'
. /usr/share/bash-completion/bash_completion
program=${1%% *}
. "$2/bash-completion/completions/$program"
compopt() { :; } # only within a completion
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_KEY=9
read -ra COMP_WORDS <<<"${1//=/ = }"
[[ $1 != *[\ =] ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_otelctx "$program" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
END
# In a terminal: a function in the place of compadd prints what matches.
cat >complete.zsh <<'END'
zmodload zsh/zpty
send() { zpty -w shell "$1" }
zpty shell zsh -f -i
send 'PS1= PS2=; stty -echo'
send "fpath=($2 \$fpath); autoload -U compinit; compinit -u -D"
send 'compadd() {
    local -a hits
    (( ${@[(I)-[OAD]*]} )) || {
        builtin compadd -A hits "$@"
        print -rl -- "" "HIT:"$^hits
    }
    builtin compadd "$@"
}'
send 'finish() { print -r -- "ALL""DONE" }; comppostfuncs=(finish)'
send 'bindkey "^I" complete-word; print "REA""DY"'
zpty -r shell out '*READY*'
zpty -w -n shell "$1"$'\t'
zpty -r shell out '*ALLDONE*'
print -r -- "$out"
zpty -d shell
END
with_bash() {
    bash complete.bash "$1" "$data"
}
with_zsh() {
    zsh -f complete.zsh "$1" "$TMP/$(dirname "$zsh_file")" | tr -d '\r' |
        sed -n 's/^HIT://p'
}
# shellcheck disable=SC2016 # fish's
with_fish() {
    fish --no-config -c 'set -p fish_complete_path $argv[2]
        complete -C $argv[1]' "$1" "$TMP/$data/fish/vendor_completions.d" |
        cut -f 1
}
# candidates SHELL LINE: without the "=" and "/" that some add, and without the
# part before the value.
candidates() {
    "with_$1" "$2" | sed -E 's/[=\/]$//; s/^--[a-z-]+=//' | sort -u | xargs
}
listed() { # PROGRAM
    "$1" --help | grep -oE '^  (-., )?--[a-z-]+' | sed 's/.* //' | sort -u | xargs
}

mkdir folder
touch file.conf
for shell in bash zsh fish; do
    for program in $programs; do
        same "$shell: $program -- has all options that --help has" \
            "$(listed "$program")" "$(candidates $shell "$program --")"
    done
    while IFS='|' read -r line expected; do
        same "$shell: $line" "${expected# }" "$(candidates $shell "${line% }")"
    done <<'END'
otelctx-run --log-level= | debug error info none warn
otelctx-run --instance-id= | export generate off
otelctx-run --print= | env shell unit
otelctx-run --thread-storage= | off profiler ring tls
otelctx-read --check-config file | file.conf
otelctx-run --copy-to fo | folder
otelctx-run --attr a=b --only -- mkfif | mkfifo
otelctx-run mkfif | mkfifo
otelctx-judge --only x -- mkfif | mkfifo
otelctx-timeline --output file | file.conf
otelctx-timeline file | file.conf
otelctx-top --record file | file.conf
otelctx-play header/version-s | header/version-swapped
END
done
done_testing
