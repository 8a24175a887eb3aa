# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced: downloads packages of any suite and architecture of Debian from this
# machine's mirror. apt has a separate state for each suite and architecture, so
# that nothing is installed and this machine's own apt does not change. Needs
# $OTELCTX_BUILD.

# debian SUITE ARCHITECTURE get|cache ARGUMENT...
debian() {
    local state=$OTELCTX_BUILD/debian/$1-$2

    "apt-$3" -qq -o APT::Architecture="$2" -o APT::Architectures="$2" \
        -o APT::Sandbox::User=root -o Acquire::Retries=3 \
        -o Dir::Cache="$state" -o Dir::State="$state" \
        -o Dir::State::status="$state/status" \
        -o Dir::Etc::sourcelist="$state/sources" \
        -o Dir::Etc::sourceparts=/dev/null "${@:4}"
}

# This machine's own suite.
debian_codename() {
    sed -n 's/^VERSION_CODENAME=//p' /etc/os-release
}

debian_mirror() {
    # shellcheck disable=SC2016 # apt's
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
        'Label: Debian' | head -n 1
}

debian_update() {
    local state=$OTELCTX_BUILD/debian/$1-$2
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg

    mkdir -p "$state/lists/partial" "$state/archives/partial"
    touch "$state/status"
    echo "deb [signed-by=$keys target=Packages] $(debian_mirror) $1 main" \
        >"$state/sources"
    debian "$1" "$2" get update
    touch "$state/updated"
}

# debian_open SUITE ARCHITECTURE: updates the lists of packages unless they are less
# than a day old.
debian_open() {
    mkdir -p "$OTELCTX_BUILD/debian"
    (
        flock 9
        [ -n "$(find "$OTELCTX_BUILD/debian/$1-$2/updated" -mmin -1440 \
            2>/dev/null)" ] || debian_update "$1" "$2"
    ) 9>"$OTELCTX_BUILD/debian/$1-$2.lock"
}

# debian_has SUITE ARCHITECTURE PACKAGE
debian_has() {
    [ -n "$(debian "$1" "$2" cache madison "$3")" ]
}

# debian_depends SUITE ARCHITECTURE PACKAGE: its direct dependencies.
debian_depends() {
    debian "$1" "$2" cache depends "$3" |
        sed -n 's/^ *Depends: \([^<>]*\)$/\1/p'
}

# debian_download SUITE ARCHITECTURE FOLDER PACKAGE...
debian_download() {
    mkdir -p "$3"
    (cd "$3" && debian "$1" "$2" get download "${@:4}")
}

# debian_unpack FOLDER ROOT [TAR_OPTION]...: unpacks every package in FOLDER. /lib
# and so on are links to /usr/lib, as on Debian today: packages use both names.
debian_unpack() {
    local deb name

    for name in bin lib lib64 sbin; do
        mkdir -p "$2/usr/$name"
        [ -e "$2/$name" ] || ln -s "usr/$name" "$2/$name"
    done
    for deb in "$1"/*.deb; do
        dpkg-deb --fsys-tarfile "$deb" |
            tar -x -C "$2" --keep-directory-symlink "${@:3}"
    done
}
