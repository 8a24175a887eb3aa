#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What `meson compile packages` makes: its files are the same in every format, and
# lintian finds no error. The .deb is installed, upgraded under running programs and
# removed in a debootstrapped root, and the archive is used in one with musl only.
# .ci/release refuses what is not ready, and makes the same packages and image in
# another folder and on another day, with sources that build and pass tests.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/support/debian.sh
. "$ROOT/tests/support/debian.sh"

grep -q '^ID=debian$' /etc/os-release ||
    skip_all 'machine: the packages are made on Debian'
can_mount || skip_all 'machine: no mount namespaces'
cd "$TMP"
export OTELCTX_MAINTAINER='Ada <ada@otelctx.test>' OTELCTX_HOMEPAGE=https://otelctx.test

check 'meson compile packages succeeds' meson compile -C "$BUILD" packages
cd "$BUILD/packages"
version=$("$RUN" --version | sed 's/.* //')
same 'it makes each format for both architectures' \
    "SHA256SUMS
image
otelctx-$version-1.aarch64.rpm
otelctx-$version-1.x86_64.rpm
otelctx-$version-linux-amd64.tar.gz
otelctx-$version-linux-arm64.tar.gz
otelctx_$version-1_amd64.deb
otelctx_$version-1_arm64.deb
otelctx_$version-r1_aarch64.apk
otelctx_$version-r1_x86_64.apk" "$(LC_ALL=C ls)"
check 'SHA256SUMS verifies' sha256sum --quiet -c SHA256SUMS
same 'and has a line for each file' "$(find . -type f -name 'otelctx*' | wc -l)" \
    "$(wc -l <SHA256SUMS)"

# ---- the same files in every format ------------------------------------------

unpack() { # ARCHITECTURE MACHINE
    mkdir -p "$TMP/$1"/{deb,rpm,apk,tar}
    dpkg-deb -x "otelctx_$version-1_$1.deb" "$TMP/$1/deb"
    rpm2cpio "otelctx-$version-1.$2.rpm" | (cd "$TMP/$1/rpm" && cpio --quiet -id --no-absolute-filenames)
    tar -xzf "otelctx_$version-r1_$2.apk" -C "$TMP/$1/apk" 2>/dev/null
    tar -xzf "otelctx-$version-linux-$1.tar.gz" -C "$TMP/$1/tar"
}
# files FOLDER: their names with the digests of their contents, by the place below
# /usr and without what differs between distributions.
files() {
    (
        cd "$1"
        find . -type f -not -name '*.pc' -not -path '*/lintian/*' \
            -not -name copyright -not -name 'changelog.*' -not -name '.*' \
            -exec sha256sum {} +
    ) | sed -E "s, \./(usr|otelctx-$version-linux-[a-z0-9]*)/, ,; s,lib(64|/[a-z0-9_]*-linux-gnu)/,lib/,
        s,zsh/vendor-completions,zsh/site-functions," | sort -k 2 | grep -v ' ./etc/'
}
check 'all can be unpacked (amd64)' unpack amd64 x86_64
check 'all can be unpacked (arm64)' unpack arm64 aarch64
for arch in amd64 arm64; do
    for format in rpm apk tar; do
        same "$arch: .$format has the files that .deb has" \
            "$(files "$TMP/$arch/deb")" "$(files "$TMP/$arch/$format")"
    done
done
same 'among them the programs, the library, manuals and completions' \
    'bin/otelctx-judge bin/otelctx-play bin/otelctx-read bin/otelctx-run bin/otelctx-timeline bin/otelctx-top lib/libotelctx_kit.a lib/libotelctx_preload.so lib/libotelctx_requests.so share/man/man7/libotelctx_preload.7.gz share/man/man7/libotelctx_requests.7.gz share/zsh/site-functions/_otelctx' \
    "$(files "$TMP/amd64/deb" | awk '{print $2}' |
        grep -E '^(bin|lib)/|(preload|requests)\.7|zsh' | xargs)"
same 'no program needs a library' '' "$(for arch in amd64 arm64; do
    readelf -lW "$TMP/$arch"/deb/usr/bin/* | grep INTERP || :
done)"
# On arm64 a long double is computed by functions, which musl's printf needs.
for limit in 'amd64 108' 'arm64 120'; do
    read -r arch kib <<<"$limit"
    check "$arch: otelctx-run has at most $kib KiB" \
        [ "$(stat -c %s "$TMP/$arch/deb/usr/bin/otelctx-run")" -le $((kib * 1024)) ]
done
same 'arm64: its programs run' "otelctx-run $version" \
    "$(qemu-aarch64 "$TMP/arm64/tar/otelctx-$version-linux-arm64/bin/otelctx-run" --version)"

# ---- what each format says of itself -----------------------------------------

lintian --tag-display-limit 0 ./*.deb >"$TMP/lintian" 2>&1 || :
same 'lintian finds no error' '' "$(grep '^E:' "$TMP/lintian" || :)"
contains 'and has looked' 'W: otelctx: shared-library-lacks-version' \
    "$(<"$TMP/lintian")"
# shellcheck disable=SC2016 # dpkg's
same '.deb: maintainer and home page are those that were given' \
    "$OTELCTX_MAINTAINER $OTELCTX_HOMEPAGE" \
    "$(dpkg-deb -W --showformat '${Maintainer} ${Homepage}' "otelctx_$version-1_amd64.deb")"
same '.rpm: and its digests are right' 0 \
    "$(rpm -K --nosignature "otelctx-$version-1.x86_64.rpm" >/dev/null; echo $?)"
note=$(sed -n '/^## \[[0-9]/,$s/^- //p' "$ROOT/.github/CHANGELOG.md" | head -n 1)
contains '.deb has the changelog' "$note" \
    "$(zcat "$TMP/amd64/deb/usr/share/doc/otelctx/changelog.Debian.gz")"
contains '.rpm has it' "$note" \
    "$(rpm -qp --changelog "otelctx-$version-1.x86_64.rpm")"
contains '.apk names its architecture' 'arch = aarch64' \
    "$(cat "$TMP/arm64/apk/.PKGINFO")"

# ---- licences ------------------------------------------------------------------

for arch in amd64 arm64; do
    licences=$TMP/$arch/deb/usr/share/licenses/otelctx
    same "$arch: there are the licences of all that the static programs have" \
        'Apache-2.0 LGPL-2.1 NOTICE glibc musl otelctx.spdx.json' \
        "$(cd "$licences" && find -- * | LC_ALL=C sort | xargs)"
    same "$arch: the bill of materials is complete" \
        "SPDX-2.3 otelctx:$version:Apache-2.0 musl:MIT gcc:GPL-3.0-or-later WITH GCC-exception-3.1 glibc:LGPL-2.1-or-later" \
        "$(jq -r '[.spdxVersion, (.packages[] | if .name == "otelctx"
            then "\(.name):\(.versionInfo):\(.licenseDeclared)"
            else "\(.name):\(.licenseDeclared)" end)] | join(" ")' "$licences/otelctx.spdx.json")"
    same "$arch: with the versions that the notice has" \
        "$(jq -r '.packages[1:][] | "\(.name) \(.versionInfo)"' "$licences/otelctx.spdx.json")" \
        "$(sed -nE 's/^  ([a-z]+ [^:]+):.*/\1/p' "$licences/NOTICE")"
done
contains 'that of musl is the one that is installed' \
    "musl $(dpkg-query -W -f '${Version}' musl-dev): MIT; file musl" "$(<"$TMP/amd64/deb/usr/share/licenses/otelctx/NOTICE")"
contains 'the maintainer offers the sources' "$OTELCTX_MAINTAINER
gives everybody who asks the sources" "$(<"$licences/NOTICE")"

# ---- the image -----------------------------------------------------------------

blob() {
    cat "image/blobs/sha256/${1#sha256:}"
}
manifests() { # of the index: ARCHITECTURE DIGEST
    blob "$(jq -r '.manifests[0].digest' image/index.json)" |
        jq -r '.manifests[] | "\(.platform.architecture) \(.digest)"' | sort
}
same 'the image is for both architectures' 'amd64 arm64' \
    "$(manifests | cut -d ' ' -f 1 | xargs)"
while read -r arch digest; do
    layer=$(blob "$digest" | jq -r '.layers[].digest')
    mkdir "$TMP/$arch/layer"
    blob "$layer" | tar -xz -C "$TMP/$arch/layer"
    same "$arch: it is one layer of two files, those of the packages" \
        "$(cd "$TMP/$arch/deb/usr" && sha256sum bin/otelctx-run \
            lib/*/libotelctx_preload.so | sed 's, .*/, ,' | sort)" \
        "$(cd "$TMP/$arch/layer" && find . -type f -not -path '*/licences/*' \
            -exec sha256sum {} + | sed 's, .*/, ,' | sort)"
    same "$arch: and of the licences of otelctx-run" \
        'Apache-2.0 NOTICE musl otelctx.spdx.json' \
        "$(cd "$TMP/$arch/layer/otelctx/licences" && find -- * | LC_ALL=C sort | xargs)"
    same "$arch: its labels say what it is" \
        "otelctx $version Apache-2.0 AND MIT $OTELCTX_HOMEPAGE $OTELCTX_HOMEPAGE $OTELCTX_MAINTAINER" \
        "$(blob "$(blob "$digest" | jq -r .config.digest)" | jq -r '.config.Labels |
            [.["org.opencontainers.image." + ("title", "version", "licenses", "url",
                "source", "vendor")]] | join(" ")')"
done < <(manifests)
# ---- a release ------------------------------------------------------------------

# Another folder, at another depth: a clone with what is not committed here (but added, if
# it is new), and a key.
export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' \
    GIT_CONFIG_KEY_1=user.name GIT_CONFIG_VALUE_1=Ada \
    GIT_CONFIG_KEY_2=user.email GIT_CONFIG_VALUE_2=ada@otelctx.test \
    GNUPGHOME=$TMP/keys OTELCTX_KEY=ada@otelctx.test
CLONE=$TMP/else/where
make_clone() {
    local changes

    changes=$(git -C "$ROOT" stash create) || return
    git clone --quiet --shared "$ROOT" "$CLONE"
    cd "$CLONE"
    git checkout --quiet "${changes:-$(git -C "$ROOT" rev-parse HEAD)}"
    mkdir -m 700 "$GNUPGHOME"
    gpg --batch --quiet --passphrase '' --quick-generate-key "$OTELCTX_KEY"
}
# ready: the clone is as a releaser leaves it.
ready() {
    cd "$CLONE"
    sed -i 's/otelctx\.invalid/otelctx.test/' .github/SECURITY.md
    sed -i '/^## \[Unreleased\]/,/^## \[[0-9]/{/^[^#]/d}' .github/CHANGELOG.md
    git commit --quiet --all --message Release
    git branch ready
}
release() { # [NAME=VALUE]...
    (cd "$CLONE" && env "$@" .ci/release --check 2>&1) || :
}
# refused COMMAND FAULT [NAME=VALUE]...: after that command, which is taken back.
refused() {
    (cd "$CLONE" && eval "$1" >/dev/null 2>&1)
    contains "a release is refused: $2" "release: $2" "$(release "${@:3}")"
    (cd "$CLONE" && git reset --quiet --hard ready && git tag -l | xargs -r git tag -d >/dev/null)
}
if git -C "$ROOT" -c safe.directory='*' rev-parse HEAD >/dev/null 2>&1; then
    check 'a clone can be made' make_clone
    contains 'SECURITY.md has a placeholder, and a release is refused for it' \
        'release: SECURITY.md has a placeholder' "$(release)"
    check 'somebody makes it ready' ready
    same 'then nothing is wrong' '' "$(release)"
    refused : 'OTELCTX_MAINTAINER is a placeholder' OTELCTX_MAINTAINER=
    refused : 'OTELCTX_MAINTAINER is a placeholder' 'OTELCTX_MAINTAINER=A <a@b.invalid>'
    refused : 'OTELCTX_HOMEPAGE is a placeholder' OTELCTX_HOMEPAGE=https://example.org
    refused 'echo >>README.md' 'there are changes that are not committed'
    refused "git tag v$version" "v$version is tagged"
    refused 'git tag v9' "version $version is below the last release, v9"
    refused "sed -i /$version/d .github/CHANGELOG.md" "CHANGELOG.md has no day of version $version, or one to come"
    refused 'sed -i "s/^## .Unreleased.*/&\n\n- More./" .github/CHANGELOG.md' \
        'CHANGELOG.md has unreleased changes'
    refused 'git tag v0.0.1; sed -i /pin/d tests/golden/abi; git commit -am less' \
        'programs that were built with v0.0.1 would not work'
    later() {
        cd "$CLONE"
        NO_FAKE_STAT=1 faketime -f +2d .ci/release
    }
    check 'two days later, .ci/release makes one' later
    same 'built elsewhere and later, packages and image are the same bit for bit' '' \
        "$(diff -rq . "$CLONE/build-release/packages" 2>&1 | grep -v 'SHA256SUMS\|otelctx-[0-9.]*tar')"
    cd "$CLONE/build-release/packages"
    check 'the tag is signed' git -C "$CLONE" verify-tag "v$version"
    check 'and so is SHA256SUMS' gpg --verify SHA256SUMS.asc
    check 'which has all files' sha256sum --quiet -c SHA256SUMS
    dist() {
        tar -xJf "otelctx-$version.tar.xz" -C "$TMP"
        OTELCTX_BUILD=$TMP/dist-build "$TMP/otelctx-$version/tests/run" \
            'unit/*' attrs e2e/library/abi e2e/fork/fork e2e/process/step
    }
    check 'its sources build without git, and pass tests' dist
    cd "$BUILD/packages"
else
    skip 'a release' 'machine: no history'
fi

# ---- installed, upgraded and removed --------------------------------------------

DEBIAN=$BUILD/packages-root # not in /tmp, which may be in memory
rm -rf "$DEBIAN"
check 'debootstrap makes a root directory' debootstrap --variant=minbase \
    "$(debian_codename)" "$DEBIAN" "$(debian_mirror)"
# A command in that root, as root, with a /proc.
# shellcheck disable=SC2016 # it is the inner shell that expands
on=(unshare --mount bash -ec 'mount -t proc proc "$0/proc"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        chroot "$0" "$@"' "$DEBIAN")
cp "otelctx_$version-1_amd64.deb" "$DEBIAN/old.deb"
# The next version.
next() {
    dpkg-deb -R "$DEBIAN/old.deb" "$TMP/next"
    sed -i 's/^Version: .*/Version: 999-1/' "$TMP/next/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$TMP/next" "$DEBIAN/new.deb"
}
check 'there is a next version' next

check 'the package installs, and needs no other' "${on[@]}" dpkg -i /old.deb
check 'no program is preloaded into by that' [ ! -e "$DEBIAN/etc/ld.so.preload" ]
check 'and no configuration is there for each start to read' [ ! -e "$DEBIAN/etc/otelctx" ]
contains 'the dynamic linker finds the library' libotelctx_preload.so \
    "$("${on[@]}" ldconfig -p)"
# The shell waits for a line, and executes a program then.
mkfifo "$TMP/line"
exec 9<>"$TMP/line" # background gives no standard input
background "${on[@]}" otelctx-run --service-name=before \
    sh -c 'read word <&9; sleep 600; :'
old=$PID
check 'a program has a context by otelctx-run' published "$old"
mkdir "$DEBIAN/etc/otelctx"
echo OTEL_RESOURCE_ATTRIBUTES=by=admin >"$DEBIAN/etc/otelctx/otelctx.conf"
everywhere=$("${on[@]}" sh -c 'ls /usr/lib/*/libotelctx_preload.so')
printf '%s\n' libm.so.6 "$everywhere" >"$DEBIAN/etc/ld.so.preload"
check 'the package is upgraded under it' "${on[@]}" dpkg -i /new.deb
same 'and preloaded as before' "libm.so.6 $everywhere" "$(xargs <"$DEBIAN/etc/ld.so.preload")"
contains 'the old library stays mapped there' 'libotelctx_preload.so (deleted)' \
    "$(cat "/proc/$old/maps")"
same 'the program keeps its context' service.name=before "$(resource "$old")"
same "the administrator's configuration stays" OTEL_RESOURCE_ATTRIBUTES=by=admin \
    "$(cat "$DEBIAN/etc/otelctx/otelctx.conf")"
echo go >&9
child() { pgrep -P "$old" -x sleep; }
for ((tries = 0; tries < 1000; tries++)); do
    [ -z "$(child)" ] || break
    sleep 0.02
done
check 'what it executes then is preloaded into by the new library' \
    published "$(child)"
same 'with that configuration' $'by=admin\nservice.name=before' \
    "$(resource "$(child)" | sort)"
child=$(child)
removed=$("${on[@]}" dpkg -r otelctx 2>&1)
contains 'the package is removed under both' 'no longer names libotelctx_preload.so' "$removed"
same 'no program looks for the library that is gone' '' "$(grep ld.so: <<<"$removed")"
same "and other libraries' lines stay" libm.so.6 "$(<"$DEBIAN/etc/ld.so.preload")"
rm "$DEBIAN/etc/ld.so.preload"
same 'who have their contexts' 'service.name=before by=admin' \
    "$({ resource "$old"; resource "$child" | grep by=; } | xargs)"
check 'it is purged' "${on[@]}" dpkg -P otelctx
same "and nothing of it is left but the administrator's" "$DEBIAN/etc/otelctx/otelctx.conf" \
    "$(find "$DEBIAN/etc" "$DEBIAN/usr" -name '*otelctx*' -type f -o -name ld.so.preload)"
kill "$child"
status=0
wait "$old" || status=$?
same 'the program ends as ever' 0 "$status"

# rpm ACTION...: with a database of its own, in that root.
rpm_there() {
    rpm --root "$DEBIAN" --dbpath /var/lib/rpm --nodeps "$@"
}
check '.rpm installs' rpm_there -i "otelctx-$version-1.x86_64.rpm"
echo /usr/lib64/libotelctx_preload.so >"$DEBIAN/etc/ld.so.preload"
check 'it is installed again' rpm_there -U --replacepkgs "otelctx-$version-1.x86_64.rpm"
check 'and preloaded as before' grep -q libotelctx "$DEBIAN/etc/ld.so.preload"
# As in a container, where the file is a mount.
busy() {
    # shellcheck disable=SC2016 # it is the inner shell that expands
    unshare --mount bash -c 'mount --bind "$0" "$0"; shift; "$@"' \
        "$DEBIAN/etc/ld.so.preload" "" rpm --root "$DEBIAN" --dbpath /var/lib/rpm -e otelctx
}
check 'while its line cannot be taken out, it is not removed' not busy
check 'and its library stays' [ -e "$DEBIAN/usr/lib64/libotelctx_preload.so" ]
check 'otherwise it is removed' rpm_there -e otelctx
check 'with its line' [ ! -e "$DEBIAN/etc/ld.so.preload" ]
same '.apk runs the same script' "$(<"$ROOT/demo/deploy/packages/preremove")" \
    "$(cat "$TMP/amd64/apk/.pre-deinstall")"
rm -rf "$DEBIAN"

# ---- musl -----------------------------------------------------------------------

musl=$TMP/musl
mkdir -p "$musl"
cp -r "$TMP/amd64/tar/otelctx-$version-linux-amd64" "$musl/otelctx"
musl-gcc -o "$musl/program" -x c - <<'END'
#include <unistd.h>
int main(void) { return pause(); }
END
linker=$(readelf -lW "$musl/program" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
install -D "$(readlink -f "$linker")" "$musl$linker"
background chroot "$musl" /otelctx/bin/otelctx-run --service-name=alpine /program
check 'in a root with musl alone, otelctx-run of the archive gives a context' \
    published "$PID"
same 'with its service name' service.name=alpine "$(resource "$PID")"

# ---- meson install ----------------------------------------------------------------

# register FOLDER: after an installation there, with an /etc of its own.
register() {
    cp -a /etc etc
    # shellcheck disable=SC2016 # it is the inner shell that expands
    unshare --mount bash -ec '
        mount --bind etc /etc
        echo "$1" >/etc/ld.so.conf.d/searched.conf
        "$0" "$2"
        ldconfig -p | grep -F " $2/"' "$ROOT/shim/link/register" \
        "$TMP/searched" "$1" | sed "s,.*$TMP,," || :
    rm -r etc
}
cd "$TMP"
mkdir searched other
cp "$SHIM" searched
cp "$SHIM" other
same 'meson install tells the dynamic linker' /searched/libotelctx_preload.so \
    "$(register "$TMP/searched")"
contains 'or says that somebody has to' 'write the whole path into LD_PRELOAD' \
    "$(register "$TMP/other")"

# uninstall ENTRY: with that in /etc/ld.so.preload; the number of files that stay.
uninstall() {
    cp -a /etc etc
    # shellcheck disable=SC2016 # it is the inner shell that expands
    unshare --mount bash -c 'mount --bind etc /etc
        echo "$1" >/etc/ld.so.preload
        ninja -C "$0" uninstall 2>&1' "$BUILD/packages-work/amd64" "$1" >uninstalled || :
    rm -r etc
    find installed -type f | wc -l
}
# The archive, which was made last, has the library in /usr/lib.
DESTDIR=$TMP/installed meson install -C "$BUILD/packages-work/amd64" --no-rebuild >/dev/null
same 'ninja uninstall deletes nothing while /etc/ld.so.preload names the library' \
    "$(find installed -type f | wc -l)" "$(uninstall /usr/lib/libotelctx_preload.so)"
contains 'and says what to do' \
    'names /usr/lib/libotelctx_preload.so: first run otelctx-run --remove-everywhere' \
    "$(<uninstalled)"
same 'without such a line it deletes all' 0 "$(uninstall '# nothing')"
done_testing
