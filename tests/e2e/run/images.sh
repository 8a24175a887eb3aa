# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced, after common.sh and podman.sh, in $TMP: images of an application for
# each libc, and of the two files in files/; pods of them.

# shellcheck disable=SC2034 # for those who source it
# shellcheck disable=SC2153 # common.sh sets ROOT
DEPLOY=$ROOT/demo/deploy

cat >application.c <<'END'
#include <signal.h>
#include <unistd.h>
static void end(int number) { _exit(40 + (number == SIGTERM)); }
int main(void)
{
    signal(SIGTERM, end);
    for (;;)
        pause();
}
END
# image NAME COMPILER...: FROM scratch, with the program and its dynamic linker
# and libc; and with what root_NAME has already.
image() {
    local root=root_$1 linker
    shift
    mkdir -p "$root"
    "$@" -o "$root/application" application.c
    linker=$(readelf -lW "$root/application" |
        sed -n 's/.*interpreter: \(.*\)]/\1/p')
    case $linker in
    '') ;;
    */ld-musl-*) install -D "$(readlink -f "$linker")" "$root$linker" ;;
    *)
        ldd "$root/application" | grep -o '/[^ ]*' | while read -r library; do
            install -D "$library" "$root$library"
        done
        ;;
    esac
    printf 'FROM scratch\nCOPY %s /\n' "$root" >plain
    "${PODMAN[@]}" build --quiet --network none --tag "${root/root/app}" \
        --file plain .
}
# root_debian, root_alpine: roots with a shell, by debootstrap; and as Alpine has
# one, with busybox, for musl.
root_of_debian() {
    debootstrap --variant=minbase "$(debian_codename)" root_debian \
        "$(debian_mirror)" || return
    rm -rf root_debian/usr/share/{doc,locale,man} root_debian/var/{cache,lib}/apt
}
root_of_alpine() {
    mkdir -p root_alpine/bin
    cp /bin/busybox root_alpine/bin/sh
}
# build TAG FILE ARGUMENT...: of the recipe, with the two files as its context.
build() {
    "${PODMAN[@]}" build --quiet --network none --tag "$1" \
        --file "$DEPLOY/container/$2" "${@:3}" files
}
# image_or_skip: the first image, where images and containers can be made.
image_or_skip() {
    image glibc gcc >build.log 2>&1 ||
        skip_all "machine: no images can be built here: $(tail -n 1 build.log)"
    "${PODMAN[@]}" run --rm --network none "${LIMITS[@]}" --entrypoint /nosuch \
        app_glibc >probe.log 2>&1 || :
    ! grep -qiE 'operation not permitted|namespace' probe.log ||
        skip_all "machine: no containers here: $(tail -n 1 probe.log)"
}

# podman_pod FILE: as Podman 4.3 takes it. It knows no namespace, and removes an
# init container that it may still take for running, unless it is to stay.
podman_pod() {
    sed -e '/_K8S_NAMESPACE_NAME/{N;/valueFrom/{N;N;d}}' \
        -e "s|^  name: .*|&\n  annotations: {io.podman.annotations.init.container.type: always}|" \
        "$1"
}
# play ARGUMENT...: It looks for the end of the init container among the events.
play() {
    mkdir -p empty
    printf '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n' \
        >containers.conf
    cd empty || return # a folder of an image's name would be built
    CONTAINERS_CONF=$TMP/containers.conf "${PODMAN[@]/none/file}" kube "$@"
}
# inside_of CONTAINER: the process of its application here.
inside_of() {
    "${PODMAN[@]}" inspect --format '{{.State.Pid}}' "$1"
}
