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

# shellcheck source=tests/support/machines.sh
. "$ROOT/tests/support/machines.sh"

installed() {
    chroot "$FRESH/$1" dpkg-query -W | cut -f 1 | sort
}
has_none_of() {
    installed "$1" | grep -xF "$(printf '%s\n' "${@:2}")" || return 0
    return 1
}

check 'debootstrap makes a root directory with nothing else' \
    make_base "$(debian_codename)" "$(debian_mirror)"

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
