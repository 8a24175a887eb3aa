#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Both commands of the README, in the root directories of other distributions than
# this machine's, as a user whose home nobody else may enter, and as root.
#
#     DISTRIBUTIONS='trixie noble' ./tests/run distributions
#
# runs them all ("all": in each of them). Without the variable one distribution is
# tried, another one on each day: ./demo/try, and two tests, as a user.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/support/debian.sh
. "$ROOT/tests/support/debian.sh"

can_mount || skip_all 'machine: no mount namespaces'
# shellcheck source=tests/support/machines.sh
. "$ROOT/tests/support/machines.sh"

DEBIANS=(bookworm trixie sid)
UBUNTUS=(jammy noble resolute) # 22.04, 24.04, 26.04
UBUNTU=http://archive.ubuntu.com/ubuntu
OTHERS=("${DEBIANS[@]:1}" "${UBUNTUS[@]}")

case ${DISTRIBUTIONS-} in
'') suites=("${OTHERS[10#$(date +%d) % ${#OTHERS[@]}]}") ;;
all) suites=("${DEBIANS[@]}" "${UBUNTUS[@]}") ;;
*) read -ra suites <<<"$DISTRIBUTIONS" ;;
esac

# has_suite MIRROR SUITE: also when the mirror answers only the third time.
has_suite() {
    /usr/lib/apt/apt-helper -o Acquire::Retries=3 download-file \
        "$1/dists/$2/InRelease" "$TMP/InRelease" >"$TMP/output" 2>&1
}
# ubuntu_keyring: prints the file with the keys that sign Ubuntu's archive. Debian
# has them in trixie and later.
ubuntu_keyring() {
    export OTELCTX_BUILD=$BUILD
    debian_open trixie amd64 >&2
    debian_download trixie amd64 "$FRESH/keys" ubuntu-keyring >&2
    debian_unpack "$FRESH/keys" "$FRESH/keys" >&2
    echo "$FRESH/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg"
}
make_distribution() {
    if [[ " ${UBUNTUS[*]} " == *" $1 "* ]]; then
        make_base "$1" "$UBUNTU" --components=main,universe \
            --keyring="$(ubuntu_keyring)"
    else
        make_base "$1" "$(debian_mirror)"
    fi
}

# visitor: makes a user with sudo, in whose home the sources are.
visitor() {
    on user sh -ec 'apt-get -qq update
        apt-get -qq --yes --no-install-recommends install sudo
        useradd --create-home --shell /bin/bash visitor
        echo "visitor ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/visitor
        chmod 700 /home/visitor
        mv /srv/otelctx /home/visitor/otelctx
        mkdir /srv/otelctx
        chown -R visitor: /home/visitor/otelctx'
}
as_visitor() {
    on user su visitor -c "cd ~/otelctx && HOME=/home/visitor CI=true $*"
}

# try_suite SUITE
try_suite() {
    machine user
    check "$1: a user can have sudo" visitor
    check "$1: as that user ./demo/try passes" \
        timed "$1: ./demo/try" as_visitor ./demo/try
    show "$1: $(($(cat "$DEBS"/*.deb | wc -c) / 1000000)) MB of packages for it"
    if [ -z "${DISTRIBUTIONS-}" ]; then
        check "$1: and so do two tests" passes as_visitor ./tests/run attrs fork
        return
    fi
    check "$1: as that user ./tests/run passes" \
        timed "$1: ./tests/run as that user" as_visitor ./tests/run
    machine root
    check "$1: as root ./tests/run passes" \
        timed "$1: ./tests/run as root" on root ./tests/run
    check "$1: as root ./demo/try passes" passes on root ./demo/try
}

for suite in "${suites[@]}"; do
    mirror=$UBUNTU
    [[ " ${DEBIANS[*]} " != *" $suite "* ]] || mirror=$(debian_mirror)
    if ! has_suite "$mirror" "$suite"; then
        skip "$suite" "machine: $mirror is out of reach"
        continue
    fi
    check "$suite: debootstrap makes a root directory" \
        passes make_distribution "$suite"
    try_suite "$suite"
    rm -rf "$FRESH"/{base,user,root,keys,debs}
    mkdir "$DEBS"
done
while read -r line; do show "$line"; done <"$FRESH/times"
rm -rf "$FRESH"
done_testing
