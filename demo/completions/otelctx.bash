# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Completion of otelctx-run and the other programs, for bash-completion. The
# candidates are what --help of the program prints, from its table of options, at
# the moment of the completion.

# The options of a program, a line each: "--name", "--name VALUE", "--name=VALUE"
# or "--name[=VALUE]".
_otelctx_options() {
    "$1" --help 2>/dev/null |
        sed -nE 's/^  (-[A-Za-z0-9], )?(--[a-z-]+(\[?=[^ ]*| [A-Z]+)?).*/\2/p'
}

# What a value may be: "a|b" and "a,b" are words, capital letters a name.
_otelctx_value() {
    case $1 in
    FILE) _filedir ;;
    DIRECTORY) _filedir -d ;;
    *'|'* | *,*)
        # shellcheck disable=SC2207 # words without blanks
        COMPREPLY=($(compgen -W "$(grep -v '[A-Z]' <<<"${1//[|,]/$'\n'}")" -- "$cur"))
        ;;
    esac
}

# Where in COMP_WORDS, in which "=" is a word, the command begins, at the latest
# with the current word.
_otelctx_command() {
    local i

    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) echo $((i + 1)) && return ;;
        -*)
            [ "${COMP_WORDS[i + 1]}" = = ] ||
                ! grep -qE "^${COMP_WORDS[i]}(=| )" <<<"$1" || ((i++))
            while [ "${COMP_WORDS[i + 1]-}" = = ]; do ((i += 2)); done
            ;;
        *) break ;;
        esac
    done
    echo "$i"
}

# Names that other users may have chosen: nothing evaluates them.
_otelctx_processes() {
    local line

    _pids
    while read -r line; do
        [[ $line != "$cur"* ]] || COMPREPLY+=("$line")
    done < <(ps -A -o comm= | sort -u)
}

_otelctx() {
    # shellcheck disable=SC2034 # _init_completion sets them
    local cur prev words cword split options option command

    _init_completion -s || return
    options=$(_otelctx_options "$1")
    command=$(_otelctx_command "$options")
    if [ "$command" -lt "$COMP_CWORD" ] || [ "$prev" = -- ]; then
        case $1 in
        *-run | *-judge) _command_offset "$command" && return ;;
        esac
    fi
    option=$(grep -E "^$prev(=| |\[)" <<<"$options")
    if [[ $option == *[=\ ]* && ($split = true || $option != *\[=*) ]]; then
        option=${option#--*[= ]}
        _otelctx_value "${option%]}"
    elif [[ $cur == -* ]]; then
        # "--name=" waits for its value.
        # shellcheck disable=SC2207 # words without blanks
        COMPREPLY=($(compgen -W "$(sed -E 's/\[?=.*/=/; s/ .*//' <<<"$options")" -- "$cur"))
        [[ ${COMPREPLY-} != *= ]] || compopt -o nospace
    else
        case $1 in
        *-run) _command_offset "$COMP_CWORD" ;;
        *-read | *-top) _otelctx_processes ;;
        *-timeline) _filedir ;;
        *-play)
            # shellcheck disable=SC2207
            COMPREPLY=($(compgen -W "list $("$1" list | grep '^[a-z]')" -- "$cur"))
            ;;
        esac
    fi
}
complete -F _otelctx otelctx-run otelctx-read otelctx-play otelctx-judge otelctx-timeline otelctx-top
