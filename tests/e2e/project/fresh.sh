#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# On a machine where nobody has installed anything, a root directory that
# debootstrap just made: both commands of the README pass, as root and as a user
# with sudo; one test installs only its own packages; and Meson needs only gcc.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/support/debian.sh
. "$ROOT/tests/support/debian.sh"

grep -q '^ID=debian$' /etc/os-release ||
    skip_all 'machine: debootstrap is to make the same Debian'
can_mount || skip_all 'machine: no mount namespaces'

# Not in /tmp, which may be in memory: a root directory has up to 700 MB.
FRESH=$BUILD/fresh
DEBS=$FRESH/debs
rm -rf "$FRESH"
mkdir -p "$DEBS"

# make_base: the directory that `machine` copies. It has the sources, and the
# settings by which this machine reaches its mirror.
make_base() {
    local mirror options=()

    mirror=$(debian_mirror)
    [[ $mirror != https:* ]] || options=(--include=ca-certificates)
    debootstrap --variant=minbase "${options[@]}" "$(debian_codename)" \
        "$FRESH/base" "$mirror"
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
installed() {
    chroot "$FRESH/$1" dpkg-query -W | cut -f 1 | sort
}
has_none_of() {
    installed "$1" | grep -xF "$(printf '%s\n' "${@:2}")" || return 0
    return 1
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

check 'debootstrap makes a root directory with nothing else' make_base

machine little
before=$(installed little)
contains 'there: tests/run --help says how it is used' 'Usage: tests/run' \
    "$(on little ./tests/run --help)"
contains '--list names the tests' $'\ne2e/project/fresh ' "$(on little ./tests/run --list)"
contains 'and for an unknown name those that are near' 'near: attrs' \
    "$(on little ./tests/run atrs 2>&1)"
same 'and all of this installs nothing' "$before" "$(installed little)"

compiler() {
    on little sh -ec 'apt-get -qq update
        apt-get -qq --yes --no-install-recommends install \
            gcc libc6-dev meson ninja-build'
}
check 'gcc, meson and ninja can be installed' compiler
check 'with these alone meson setup succeeds, and all of it builds' \
    passes on little sh -ec 'meson setup /tmp/alone && ninja -C /tmp/alone'
smaller() {
    on little sh -ec 'apt-get -qq --yes install groff-base >/dev/null 2>&1
        tests/support/packages --missing programs' | grep -xE 'groff|perl' | xargs
}
same 'groff-base and perl-base do not pass for groff and perl' \
    'groff perl' "$(smaller)"
check 'tests/run attrs passes' passes on little ./tests/run attrs
check 'and installs nothing that others need' has_none_of little \
    jq libseccomp-dev protobuf-compiler strace g++

machine root
check 'as root: ./tests/run passes' timed './tests/run as root' \
    on root ./tests/run
archives=$(cat "$DEBS"/*.deb | wc -c)
check 'with less than 200 MB of packages' [ "$archives" -lt 200000000 ]
# Of what the demonstration installs, redis-server is a service. It would start
# where there is an init, in a runlevel.
ln -s /bin/true "$FRESH/root/sbin/init"
printf '#!/bin/sh\necho N 2\n' >"$FRESH/root/sbin/runlevel"
chmod 755 "$FRESH/root/sbin/runlevel"
try_and_look() {
    on root sh -c './demo/try && cat /proc/[0-9]*/comm >/srv/running'
}
check 'as root: ./demo/try passes' timed './demo/try after that' try_and_look
running() {
    grep -xv 'cat\|sh' "$FRESH/root/srv/running"
}
check 'and no package started a service' not running
check 'nor will one start with the machine' not compgen -G \
    "$FRESH/root/etc/rc2.d/S*redis*"
check 'and what kept them from it is gone' [ ! -e "$FRESH/root/usr/sbin/policy-rc.d" ]

machine user
visitor() {
    on user sh -ec 'apt-get -qq update
        apt-get -qq --yes --no-install-recommends install sudo
        useradd --create-home --shell /bin/bash visitor
        echo "visitor ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/visitor
        chown -R visitor: .'
}
as_visitor=(on user su visitor -c)
check 'a user can have sudo' visitor
check 'as a user with sudo: ./demo/try passes' \
    timed './demo/try with sudo' "${as_visitor[@]}" ./demo/try
# What differs for a user is how tests/run becomes root: some tests show that.
check 'as a user with sudo: ./tests/run passes, for some tests' \
    timed './tests/run attrs fork after that' "${as_visitor[@]}" \
    'CI=true ./tests/run attrs fork'

show "$((archives / 1000000)) MB of packages for ./tests/run"
while read -r line; do show "$line"; done <"$FRESH/times"
rm -rf "$FRESH"
done_testing
