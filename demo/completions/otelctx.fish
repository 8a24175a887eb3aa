# SPDX-License-Identifier: Apache-2.0
#
# Completion for fish. The candidates are what --help of the program prints, from
# its table of options, when fish reads this file: it does so once, and looks for
# it by the name of the program.

# Lines "OPTION<tab>its first sentence".
function __otelctx_options
    $argv[1] --help 2>/dev/null | awk '
        function flush() {
            sub(/\. .*/, "", help)
            gsub(/^ +|\.$/, "", help)
            if (option) print option "\t" help
            option = help = ""
        }
        match($0, /^  (-[A-Za-z0-9], )?--[a-z-]+(\[?=[^ ]*| [A-Z]+)?/) {
            flush()
            option = substr($0, 3, RLENGTH - 2)
            sub(/^-[A-Za-z0-9], /, "", option)
            help = substr($0, RLENGTH + 1)
            next
        }
        /^        / { gsub(/^ +/, " "); help = help $0; next }
        { flush() }
        END { flush() }'
end

function __otelctx_complete
    set -l program $argv[1]
    set -l takes_value
    for line in (__otelctx_options $program)
        set -l parts (string split \t -- $line)
        set -l name (string match -r -- '^--([a-z-]+)' $parts[1])[2]
        set -l value (string replace -r -- '^--[a-z-]+\[?[= ]?' '' $parts[1] | string trim -r -c ']')
        string match -qr -- '^--[a-z-]+[= ]' $parts[1]; and set -a takes_value --$name
        set -l rule -c $program -l $name -d $parts[2]
        switch $value
            case ''
                complete $rule -f
            case FILE
                complete $rule -rF
            case DIRECTORY
                complete $rule -x -a '(__fish_complete_directories)'
            case '*'
                set -l words (string split '|' -- $value | string split , | string match -r '^[a-z0-9]+$')
                if string match -q -- '*\[=*' $parts[1]
                    complete $rule -f -a "$words"
                else
                    complete $rule -x -a "$words"
                end
        end
    end
    switch $program
        case otelctx-run otelctx-judge
            complete -c $program -x -a "(__fish_complete_subcommand -- $takes_value)"
        case otelctx-read otelctx-top
            complete -c $program -x -a '(__fish_complete_pids) (ps -A -o comm= | sort -u)'
        case otelctx-timeline
            complete -c $program -F
        case otelctx-play
            complete -c $program -x -a 'list (otelctx-play list | string match -r "^[a-z].*")'
    end
end

# The name by which fish found this file.
__otelctx_complete (string replace -r '.*/(.*)\.fish$' '$1' -- (status filename))
