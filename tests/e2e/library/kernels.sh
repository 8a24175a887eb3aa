#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same file works on all kernels: Debian's oldest, that of Debian 12,
# Debian's newest, and one with CONFIG_ANON_VMA_NAME, which Debian leaves out.
# Each runs every libc that Debian has. libcs.sh tests this machine's kernel.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/cells.sh
. "$(dirname "$0")/../cells.sh"

grep -q '^ID=debian$' /etc/os-release ||
    skip_all 'machine: kernels and libcs are packages of its Debian'

# kernel ARCHITECTURE KERNEL MAPPING WITHOUT_MEMFD
kernel() {
    local folder=$TMP/cells/$1-$2

    check "Debian packages make a guest for $1 with the kernel of $2" \
        supported guest --prepare "$1" "$2"
    furnish "$folder" "$1" "$3" "$4"
    check "the guest runs all drivers ($1, $2)" supported guest "$1" "$2" "$folder" \
        './converse /work/otelctx-read'
    judge "$1"
}

# Compiling this kernel takes minutes: other guests run meanwhile.
background env OTELCTX_BUILD="$BUILD" "$SUPPORT/kernel" amd64 named \
    >"$TMP/named" 2>&1

declare -A newest=([amd64]=sid [arm64]=sid-16k) # pages of 16 KiB
for arch in amd64 arm64; do
    prepare "$arch"
    for suite in bullseye bookworm "${newest[$arch]}"; do
        kernel "$arch" "$suite" '/memfd:OTEL_CTX (deleted)' none
    done
done
kernel amd64 named '[anon_shmem:OTEL_CTX]' '[anon:OTEL_CTX]'

print_table
done_testing
