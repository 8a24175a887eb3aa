#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a process names, its LD_PRELOAD for instance, is opened only if it is a
# regular file: strace counts.
#
top=$OTELCTX_TOP
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
cd "$TMP"

# become KIND: each process below names trap/object.
become() {
    rm -rf trap/object
    case $1 in
    file) cp "$SHIM" trap/object ;;
    fifo) mkfifo trap/object ;;
    socket) python3 -c 'import socket
socket.socket(socket.AF_UNIX).bind("trap/object")' ;;
    directory) mkdir trap/object ;;
    terminal) ln -s /dev/tty trap/object ;;
    device) ln -s /dev/full trap/object ;;
    descriptor) ln -s /proc/self/fd/0 trap/object ;; # the FIFO that opened() gives
    esac
}
# opened COMMAND...: how often it opens what the process names. Within chroot(8) the
# path of a file in another mount namespace begins outside.
opened() {
    strace -f -y -s 4096 -o trace -e trace=open,openat,openat2 "${inject[@]}" "$@" \
        <>stdin >out 2>&1 || :
    grep -v 'O_PATH\|O_DIRECTORY' trace |
        grep -c "= [0-9]*<[^>]*\($TMP/trap/object\|$TMP/stdin\|/dev/tty\|/dev/full\)" || :
}
inject=()
mkdir trap
mkfifo stdin
ln -s object trap/libotelctx_preload.so
printf '#!%s/trap/object\n' "$TMP" >script
chmod +x script

declare -A pids
target() {
    background env "${@:2}" 2>/dev/null
    pids[$1]=$PID
}
target LD_PRELOAD LD_PRELOAD="$TMP/trap/libotelctx_preload.so" sleep 600
target OTELCTX_CONFIG_FILE LD_PRELOAD="$SHIM" OTELCTX_PUBLISH=configured \
    OTELCTX_CONFIG_FILE="$TMP/trap/object" sleep 600
if can_mount; then
    # shellcheck disable=SC2016 # the other shell expands it
    within='mount -t tmpfs none /etc && mount -t tmpfs none /usr/local/lib &&
        ln -s "$0" /etc/ld.so.preload && ln -s "$0" /usr/local/lib/libotelctx_preload.so &&
        exec sleep 600'
    target /etc/ld.so.preload unshare -m sh -c "$within" "$TMP/trap/object"
    target 'a name without a path' LD_PRELOAD=libotelctx_preload.so LD_LIBRARY_PATH= \
        unshare -m sh -c "$within" "$TMP/trap/object"
fi
for name in "${!pids[@]}"; do
    until [[ $(<"/proc/${pids[$name]}/comm") = sleep &&
        $(<"/proc/${pids[$name]}/wchan") = *nanosleep* ]]; do
        sleep 0.02
    done
done

for name in "${!pids[@]}"; do
    become file
    same "$name: a regular file is opened" yes \
        "$([ "$(opened "$READ" --why "${pids[$name]}")" -gt 0 ] && echo yes)"
done
for missing in '' openat2; do
    inject=(${missing:+-e "inject=$missing:error=ENOSYS"})
    for kind in fifo socket directory terminal device descriptor; do
        become $kind
        for name in "${!pids[@]}"; do
            same "$name: a $kind is not opened by --why${missing:+ without $missing}" 0 \
                "$(opened "$READ" --why "${pids[$name]}")"
        done
    done
done
inject=()
become fifo
for command in "$READ" "$READ --threads" "$READ --json" "$READ --raw" "$top --for 50ms"; do
    read -ra words <<<"$command"
    same "nor by ${words[*]##*/}" 0 "$(opened "${words[@]}" "${pids[@]}")"
done
for arguments in "--check --library $TMP/trap/libotelctx_preload.so true" "--check ./script" \
    "--config $TMP/trap/object --check true"; do
    read -ra words <<<"$arguments"
    same "nor by otelctx-run ${words[*]##*/}" 0 "$(opened "$RUN" "${words[@]}")"
done
contains 'the doctor says what it is' 'trap/libotelctx_preload.so: not a regular file' \
    "$("$READ" --why "${pids[LD_PRELOAD]}" || :)"
done_testing
