#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What `meson compile packages` makes: its files are the same in every format, and
# lintian finds no error. The .deb is installed, upgraded under running programs and
# removed in a debootstrapped root, and the archive is used in one with musl only.
# The image is the same when it is built elsewhere and later.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/support/debian.sh
. "$ROOT/tests/support/debian.sh"

grep -q '^ID=debian$' /etc/os-release ||
    skip_all 'machine: the packages are made on Debian'
can_mount || skip_all 'machine: no mount namespaces'
cd "$TMP"

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
for limit in 'amd64 100' 'arm64 110'; do
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
same '.deb: the configuration is a conffile' /etc/otelctx/otelctx.conf \
    "$(dpkg-deb -I "otelctx_$version-1_amd64.deb" conffiles)"
same '.rpm: it is, too' /etc/otelctx/otelctx.conf \
    "$(rpm -qp --configfiles "otelctx-$version-1.x86_64.rpm")"
same '.rpm: and its digests are right' 0 \
    "$(rpm -K --nosignature "otelctx-$version-1.x86_64.rpm" >/dev/null; echo $?)"
note=$(sed -n 's/.*- note: //p' "$ROOT/demo/deploy/packages/changelog.yaml" | head -n 1)
contains '.deb has the changelog' "$note" \
    "$(zcat "$TMP/amd64/deb/usr/share/doc/otelctx/changelog.Debian.gz")"
contains '.rpm has it' "$note" \
    "$(rpm -qp --changelog "otelctx-$version-1.x86_64.rpm")"
contains '.apk names its architecture' 'arch = aarch64' \
    "$(cat "$TMP/arm64/apk/.PKGINFO")"

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
        "$(cd "$TMP/$arch/layer" && find . -type f -exec sha256sum {} + |
            sed 's, .*/, ,' | sort)"
done < <(manifests)
# Another folder, at another depth, with the build outside of the sources.
elsewhere() {
    mkdir -p "$TMP/else/where"
    tar -C "$ROOT" --exclude=./.git --exclude='./build*' \
        --exclude="./${BUILD#"$ROOT"/}" --exclude=target \
        --exclude=node_modules -c . | tar -C "$TMP/else/where" -x
    OTELCTX_BUILD=$TMP/else/build \
        "$TMP/else/where/demo/deploy/packages/make" --image "$TMP/else/packages"
    diff -r image "$TMP/else/packages/image"
}
check 'built elsewhere and later, it is the same bit for bit' elsewhere

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
# The next version, with another default.
next() {
    dpkg-deb -R "$DEBIAN/old.deb" "$TMP/next"
    sed -i 's/^Version: .*/Version: 999-1/' "$TMP/next/DEBIAN/control"
    echo '# another default' >>"$TMP/next/etc/otelctx/otelctx.conf"
    dpkg-deb --root-owner-group -b "$TMP/next" "$DEBIAN/new.deb"
}
check 'there is a next version' next

check 'the package installs, and needs no other' "${on[@]}" dpkg -i /old.deb
check 'no program is preloaded into by that' [ ! -e "$DEBIAN/etc/ld.so.preload" ]
contains 'the dynamic linker finds the library' libotelctx_preload.so \
    "$("${on[@]}" ldconfig -p)"
# The shell waits for a line, and executes a program then.
mkfifo "$TMP/line"
exec 9<>"$TMP/line" # background gives no standard input
background "${on[@]}" otelctx-run --service-name=before \
    sh -c 'read word <&9; sleep 600; :'
old=$PID
check 'a program has a context by otelctx-run' published "$old"
echo OTEL_RESOURCE_ATTRIBUTES=by=admin >"$DEBIAN/etc/otelctx/otelctx.conf"
check 'the package is upgraded under it' "${on[@]}" dpkg --force-confold -i /new.deb
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
check 'the package is removed under both' "${on[@]}" dpkg -r otelctx
same 'who have their contexts' 'service.name=before by=admin' \
    "$({ resource "$old"; resource "$child" | grep by=; } | xargs)"
same 'the configuration stays until the package is purged' \
    OTEL_RESOURCE_ATTRIBUTES=by=admin "$(cat "$DEBIAN/etc/otelctx/otelctx.conf")"
check 'it is purged' "${on[@]}" dpkg -P otelctx
same 'and nothing of it is left' '' "$(find "$DEBIAN/etc" "$DEBIAN/usr" \
    -name '*otelctx*' -o -name ld.so.preload)"
kill "$child"
status=0
wait "$old" || status=$?
same 'the program ends as ever' 0 "$status"
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
