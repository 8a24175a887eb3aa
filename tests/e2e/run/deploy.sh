#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The recipes in demo/deploy as they stand: podman builds and runs the images,
# for glibc, for musl and for a static program, without a shell in any of them; for
# a root of Debian's and one like Alpine's, with a shell; and plays the pod. services.sh has those for cron, sshd and systemd.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/support/podman.sh
. "$ROOT/tests/support/podman.sh"
# shellcheck source=tests/support/debian.sh
. "$ROOT/tests/support/debian.sh"
cd "$TMP"
# shellcheck source=tests/e2e/run/images.sh
. "$ROOT/tests/e2e/run/images.sh"

# ---- images -----------------------------------------------------------------

mkdir files
"$RUN" --library "$SHIM" --copy-to files
same 'it copies itself and the library, for everybody to read' \
    '644 libotelctx_preload.so 755 otelctx-run' \
    "$(stat -c '%a %n' files/* | sed 's|files/||' | xargs)"
before=$(stat -c %i files/libotelctx_preload.so)
"$RUN" --library "$SHIM" --copy-to files
check 'a second copy is another file, by a rename' \
    [ "$before" != "$(stat -c %i files/libotelctx_preload.so)" ]
same 'and nothing else is left there' 2 "$(find files -type f | wc -l)"

image_or_skip
check 'an image with musl' image musl musl-gcc
check 'an image with a static program' image static gcc -static
check 'a root of Debian' root_of_debian
check 'an image with it' image debian gcc
check 'a root like Alpine' root_of_alpine
check 'an image with that' image alpine musl-gcc
check 'otelctx.Containerfile: two files in an image' \
    build otelctx otelctx.Containerfile
for libc in glibc musl static debian alpine; do
    check "entrypoint.Containerfile: around the image of $libc" \
        build "entry_$libc" entrypoint.Containerfile \
        --build-arg APPLICATION="localhost/app_$libc"
done
check 'multistage.Containerfile: with the files of another image' \
    build multi multistage.Containerfile --build-arg OTELCTX=localhost/otelctx \
    --build-arg APPLICATION=localhost/app_musl

# inside IMAGE OPTION...: COMMAND in a container in the background, $PID of its
# podman; the process of the application is $INSIDE here.
COMMAND=(/application)
inside() {
    local tries

    rm -f pid cid
    background "${PODMAN[@]}" run --network none "${LIMITS[@]}" \
        --cidfile "$TMP/cid" --pidfile "$TMP/pid" "${@:2}" "$1" "${COMMAND[@]}" 2>stderr
    for ((tries = 0; tries < 1000; tries++)); do
        [ ! -s pid ] || break
        sleep 0.02
    done
    INSIDE=$(<pid)
    # otelctx-run is replaced by then.
    for ((tries = 0; tries < 1000; tries++)); do
        [ "$(cat "/proc/$INSIDE/comm" 2>/dev/null)" != application ] || break
        sleep 0.02
    done
}
# ends: by TERM, with the status that the application gives.
ends() {
    kill -TERM "$INSIDE"
    "${PODMAN[@]}" wait "$(<cid)"
}

USER_ONLY=(--read-only --cap-drop all --user 65534:65534
    --security-opt no-new-privileges)
for libc in glibc musl; do
    for how in 'as root' 'read-only, as a user without capabilities'; do
        options=(-e OTEL_SERVICE_NAME=shop)
        [ "$how" = 'as root' ] || options+=("${USER_ONLY[@]}")
        inside "entry_$libc" "${options[@]}"
        check "$libc, $how: the application has a context" published "$INSIDE"
        same "$libc, $how: its service name" service.name=shop "$(resource "$INSIDE")"
        same "$libc, $how: it is process 1" 1 \
            "$(sed -n 's/^NSpid:.*\t//p' "/proc/$INSIDE/status")"
        same "$libc, $how: TERM reaches it, and its status comes back" 41 \
            "$(ends)"
    done
done
# Debian's busybox is static: otelctx-run would leave out the library for it.
for root in debian alpine; do
    [ $root = alpine ] || COMMAND=(/bin/sh -c 'exec /application')
    inside "entry_$root" -e OTEL_SERVICE_NAME=shop
    check "$root: the application has a context" published "$INSIDE"
    same "$root: its service name" service.name=shop "$(resource "$INSIDE")"
    same "$root: TERM reaches it" 41 "$(ends)"
    COMMAND=(/application)
done
inside multi
check 'two files of another image do' published "$INSIDE"
same 'with the service name of the Containerfile' service.name=checkout \
    "$(resource "$INSIDE")"
same 'and it ends by TERM' 41 "$(ends)"
inside entry_static
same 'the doctor sees a static application from outside the container' \
    'dynamic: /application is static: no dynamic linker loads a library' \
    "$({ "$READ" --json --why "$INSIDE" || :; } |
        jq -r '.checks[] | select(.state == "failed") | "\(.check): \(.found)"')"
same 'a static application ends by TERM' 41 "$(ends)"
wait "$PID" || : # podman has passed on what the container wrote
same 'it ran without a context, and a line says so' \
    'otelctx-run: warn: without a context: /application is static: no dynamic linker loads a library (link the program dynamically; build Go with cgo)' \
    "$(cat stderr)"

# ---- Kubernetes -------------------------------------------------------------

podman_pod "$DEPLOY/kubernetes/pod.yaml" >pod.yaml
"${PODMAN[@]}" tag app_musl application
check 'podman plays the pod' play play --network none "$TMP/pod.yaml"
INSIDE=$(inside_of checkout-checkout)
check 'its application has a context' published "$INSIDE"
same 'with the attributes of the pod' \
    'k8s.container.name k8s.pod.name=checkout k8s.pod.uid service.name=checkout' \
    "$(resource "$INSIDE" | sort | sed -E 's/^(k8s.pod.uid|k8s.container.name)=.*/\1/' | xargs)"
check 'and goes with it' play down "$TMP/pod.yaml"
done_testing
