# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced: machines on which nobody has installed anything. Each is a root
# directory that debootstrap made, in $FRESH. Needs $BUILD, $ROOT and $TMP.

# Not in /tmp, which may be in memory: a root directory has up to 700 MB.
FRESH=$BUILD/${0##*/}
FRESH=${FRESH%.sh}
DEBS=$FRESH/debs
rm -rf "$FRESH"
mkdir -p "$DEBS"

# make_base SUITE MIRROR [OPTION]...: the directory that `machine` copies. It has
# the sources, and the settings by which this machine reaches its mirror.
make_base() {
    local options=("${@:3}") script=()

    [[ $2 != https:* ]] || options+=(--include=ca-certificates)
    # The script of all suites of Ubuntu, also of those after this debootstrap.
    [[ $2 != *ubuntu* ]] || script=(gutsy)
    debootstrap --variant=minbase "${options[@]}" "$1" "$FRESH/base" "$2" \
        "${script[@]}" || return
    apt-config dump | grep '^Acquire::' >"$FRESH/base/etc/apt/apt.conf.d/90here"
    mkdir "$FRESH/base/srv/otelctx"
    tar -C "$ROOT" --exclude=./.git --exclude='./build*' \
        --exclude="./${BUILD#"$ROOT"/}" --exclude=target \
        --exclude=node_modules -c . | tar -C "$FRESH/base/srv/otelctx" -x
}

# machine NAME: a new one, on which `on` runs commands.
machine() {
    cp -a "$FRESH/base" "$FRESH/$1"
}

# on MACHINE COMMAND...: in the folder of the sources, as root. Mounts and
# processes end with the command, by namespaces of their own. All machines share
# a folder of downloaded packages.
on() {
    # shellcheck disable=SC2016 # it is the inner shell that expands
    unshare --mount --pid --ipc --fork --kill-child bash -ec '
        root=$1
        mount --bind "$root" "$root" # as the root of a machine, a mount
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        mount --bind "$2" "$root/var/cache/apt/archives"
        exec env -i CI=true HOME=/root TERM=dumb \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            chroot "$root" sh -c "cd /srv/otelctx && exec \"\$@\"" sh "${@:3}"
        ' bash "$FRESH/$1" "$DEBS" "${@:2}" </dev/null
}
# passes COMMAND...: when it fails, prints what failed rather than all output.
passes() {
    local status=0

    "$@" >"$TMP/output" 2>&1 || status=$?
    [ "$status" = 0 ] || failures "$TMP/output"
    return "$status"
}
# failures FILE: the beginning of each FAILED block of tests/run, or the end of
# the output when there is none. tests/run prints 30 lines of this.
failures() {
    if grep -q '^FAILED ' "$1"; then
        awk '/^$/ {left = 0} /^FAILED / {left = 10} left-- > 0' "$1"
        tail -n 1 "$1"
    else
        tail -n 25 "$1"
    fi
}
# timed WHAT COMMAND...: the same, and records how long it took.
timed() {
    local status=0 start=$SECONDS

    passes "${@:2}" || status=$?
    echo "$1: $((SECONDS - start)) s" >>"$FRESH/times"
    return "$status"
}
