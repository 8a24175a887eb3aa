#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same file works with all libcs: every glibc and musl that Debian has, on
# this machine's kernel, and for aarch64 in user emulation, where readers do not
# work. kernels.sh has other kernels.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/cells.sh
. "$(dirname "$0")/../cells.sh"

grep -q '^ID=debian$' /etc/os-release ||
    skip_all 'machine: the libcs are packages of its Debian'

# converse FOLDER READER
converse() {
    (cd "$1" && ./converse "$2")
}

names=('/memfd:OTEL_CTX (deleted)' none)
[ "$(naming)" = no ] || names=('[anon_shmem:OTEL_CTX]' '[anon:OTEL_CTX]')
# audited ARCHITECTURE EMULATOR...: under every glibc the driver runs with an
# auditor that has every callback, and with LD_PROFILE; musl has neither. qemu
# takes the program's variables as -E NAME=VALUE, env without the -E.
audited() {
    local arch=$1 auditor=$TMP/auditor-$1.so libc sentence shim set=''
    shift

    [ "$1" = env ] || set=-E
    "$BUILD/libcs/$arch/old-gcc" -shared -fPIC -nostdlib -I"$ROOT" \
        -o "$auditor" "$ROOT/tests/e2e/hosts/auditor.c"
    for libc in $(libcs "$arch" | grep ^glibc-); do
        sentence="$arch, ${libc/-/ }: under an auditor the program runs and is published"
        shim=''
        if [ "$(under LD_AUDIT="$auditor" "$@")" = $'audited\nattach -38\nexit 0' ]; then
            shim=$(release "$arch")
            same "$sentence" $'published\naudited\nattach 0\nexit 0' \
                "$(under LD_AUDIT="$auditor" "$@")"
        else
            skip "$sentence" 'machine: its emulator ends an audited program also without the shim'
        fi
        shim=$(release "$arch")
        same "$arch, ${libc/-/ }: under LD_PROFILE the program runs and has a context" \
            $'published\nattach 0\nexit 0' "$(under LD_PROFILE=libc.so.6 "$@")"
    done
}
under() { # repeats where the emulator itself ended, which it does at times
    local how=$1 status
    shift

    for _ in {1..5}; do
        status=0
        rm -f "$TMP/libc.so.6.profile"
        (
            cd "$BUILD/libcs/$arch/$libc"
            # shellcheck disable=SC2086 # a word or none
            echo "attach 00-$FIRST-01" | "$@" $set LD_LIBRARY_PATH=. \
                $set LD_PROFILE_OUTPUT="$TMP" $set "$how" $set \
                LD_PRELOAD="$shim" $set OTELCTX_LOG_LEVEL=info \
                "$TMP/hosts/$arch/glibc" 2>&1
        ) >"$TMP/under" || status=$?
        grep -q '^qemu: uncaught target signal' "$TMP/under" || break
    done
    sed 's/.*: info: \(published\) .*/\1/' "$TMP/under"
    echo "exit $status"
}

prepare amd64
audited amd64 env
furnish "$TMP/cells" amd64 "${names[@]}"
check 'all drivers run on this machine' converse "$TMP/cells" "$READ"
judge amd64

prepare arm64
audited arm64 qemu-aarch64 -L .
furnish "$TMP/emulated" arm64 emulation ''
check 'all drivers for arm64 run in user emulation' converse "$TMP/emulated" true
judge arm64

print_table
done_testing
