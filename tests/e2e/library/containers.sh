#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Containers of runc and podman with nothing but the driver and its libc: without
# /proc, FROM scratch, and under seccomp profiles. otelctx-read reads them from
# outside, by their pids on the host.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/support/podman.sh
. "$ROOT/tests/support/podman.sh"
cd "$TMP"

PARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
PRELOAD=LD_PRELOAD=/otelctx/libotelctx_preload.so

mkdir -p image/otelctx image/proc readonly
cp "$SHIM" readonly
cp "$DRIVER" image/driver
cp "$(command -v busybox)" image/sh
ldd image/driver | grep -o '/[^ ]*' | while read -r library; do
    install -D "$library" "image$library"
done

# bundle ARGUMENTS: makes a bundle for runc that runs ARGUMENTS, a list in JSON.
bundle() {
    rm -rf bundle
    mkdir bundle
    (cd bundle && runc spec)
    jq --argjson args "$1" --arg root "$TMP/image" \
        --arg shim "$TMP/readonly" '
        .process.terminal = false | del(.process.rlimits) |
        .process.args = $args | .root.path = $root |
        .process.env = ["OTEL_SERVICE_NAME=contained", "OTELCTX_LOG_LEVEL=warn"] |
        .process.capabilities |= map_values(. + ["CAP_SYS_ADMIN"]) |
        .mounts = [.mounts[] | select(.destination == "/proc")] + [{
            destination: "/otelctx", type: "bind", source: $shim,
            options: ["bind", "ro"]}] |
        .linux |= del(.maskedPaths, .readonlyPaths)' \
        bundle/config.json >config.json
    mv config.json bundle
}

RUNC=(runc --root "$TMP/runc" run --bundle "$TMP/bundle" --pid-file "$TMP/pid")
podman_run() {
    echo "${PODMAN[@]}" run --rm --interactive --network none "${LIMITS[@]}" \
        --pidfile "$TMP/pid" -e OTEL_SERVICE_NAME=contained \
        -e OTELCTX_LOG_LEVEL=warn "$@"
}

# contain COMMAND...: drives the driver in the container that COMMAND starts;
# $INSIDE is its pid on the host.
contain() {
    rm -f pid
    within "$@"
    # runc writes the file after it has started the program.
    while [ "$ABI" ] && [ ! -s pid ]; do sleep 0.02; done
    INSIDE=$(<pid)
}

# mounted PATH: "ro" or "rw".
mounted() {
    awk -v at="$1" '$5 == at {print substr($6, 1, 2)}' "/proc/$INSIDE/mountinfo"
}

# works NAME: the driver in the container sets both contexts, and a reader
# outside sees them.
works() {
    same "$1: the shim is loaded and its calls work" '1 0 0 0' \
        "$ABI $(call set a b) $(call publish) $(call attach $PARENT)"
    same "$1: a reader outside sees the process context" \
        $'service.name=contained\na=b' "$(resource "$INSIDE")"
    same "$1: a reader outside sees the thread context" \
        "${PARENT:3:32} ${PARENT:36:16}" "$("$READ" --json --threads "$INSIDE" |
            jq -r '.threads[0] | "\(.trace_id) \(.span_id)"')"
    same "$1: nothing is printed" '' "$(cat stderr)"
}

# seccomp: the mode of the program inside, 2 for a filter.
seccomp() {
    sed -n 's/^Seccomp:\t//p' "/proc/$INSIDE/status"
}

# hostile NAME ERRNO: the driver under podman's profile without the system calls
# that the shim needs most. With no-new-privileges runc installs the filter last,
# and makes none of these calls afterwards.
hostile() {
    jq --argjson err "$2" '["memfd_create", "prctl", "madvise"] as $refused |
        .syscalls |= map(.names -= $refused | select(.names != [])) |
        .syscalls += [{names: $refused, action: "SCMP_ACT_ERRNO",
            errnoRet: $err}]' /usr/share/containers/seccomp.json >profile.json
    # shellcheck disable=SC2046 # words on purpose
    contain $(podman_run --security-opt no-new-privileges \
        --security-opt "seccomp=$TMP/profile.json" \
        -v "$TMP/readonly:/otelctx:ro" -e "$PRELOAD" scratch /driver)
    same "$1: the program has a filter" 2 "$(seccomp)"
    same "$1: nothing is published, with a warning" \
        "no_context otelctx[PID]: warn: cannot publish the process context: madvise (errno $2)" \
        "$(status "$INSIDE") $(sed 's/\[[0-9]*\]/[PID]/' stderr)"
    same "$1: the program lives, and its calls say why they fail" \
        "1 0 -$2 0" "$ABI $(call set a b) $(call publish) $(call attach $PARENT)"
    stop
}

bundle '["/sh", "-c", "exit 0"]'
"${RUNC[@]}" "probe-$$" >probe.log 2>&1 ||
    skip_all "machine: no containers here: $(tail -n 1 probe.log)"

# runc itself needs /proc to start.
bundle "[\"/sh\", \"-c\", \"umount /proc && $PRELOAD exec /driver\"]"
contain "${RUNC[@]}" "bare-$$"
same 'runc: the container has no /proc' '' "$(ls "/proc/$INSIDE/root/proc")"
same 'runc: the container has nothing but the program and its libc' \
    'driver sh' "$(find "/proc/$INSIDE/root/" -xdev -type f -perm -1 \
        ! -name '*.so*' -printf '%f\n' | sort | paste -sd ' ')"
same 'runc: the mount of the shim and the root are read-only' 'ro ro' \
    "$(mounted /otelctx) $(mounted /)"
works 'runc'
stop

# podman build: an image FROM scratch, with the shim inside.
cp readonly/* image/otelctx
cat >Containerfile <<END
FROM scratch
COPY image /
ENV $PRELOAD
CMD ["/driver"]
END
check 'podman builds an image FROM scratch' \
    "${PODMAN[@]}" build --quiet --network none --tag with_shim .
rm image/otelctx/*
check 'podman builds an image without the shim' sh -c "sed '/^ENV/d' Containerfile >plain &&
    ${PODMAN[*]} build --quiet --network none --tag scratch --file plain ."

# shellcheck disable=SC2046 # words on purpose
contain $(podman_run with_shim)
same 'FROM scratch: the default seccomp profile counts' 2 "$(seccomp)"
works 'FROM scratch'
stop

# shellcheck disable=SC2046 # words on purpose
contain $(podman_run --read-only --cap-drop all --user 1000:1000 \
    --security-opt no-new-privileges \
    -v "$TMP/readonly:/otelctx:ro" -e "$PRELOAD" scratch /driver)
same 'a user without capabilities: a filter, no new privileges, a read-only root' \
    '2 1 ro 0000000000000000' "$(seccomp) $(
        sed -n 's/^NoNewPrivs:\t//p' "/proc/$INSIDE/status") $(mounted /) $(
        sed -n 's/^CapEff:\t//p' "/proc/$INSIDE/status")"
works 'a user without capabilities'
stop

hostile 'a profile that refuses with EPERM' 1
hostile 'a profile that refuses with ENOSYS' 38

done_testing
