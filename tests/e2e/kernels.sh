#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# One file for all kernels: Debian's oldest, that of Debian 12, its newest, and
# one that can name mappings, which Debian's cannot. On each, every libc that
# Debian has. The kernel of this machine: libcs.sh.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/e2e/cells.sh
. "$(dirname "$0")/cells.sh"

grep -q '^ID=debian$' /etc/os-release ||
    skip_all 'machine: kernels and libcs are packages of its Debian'

# kernel ARCHITECTURE KERNEL MAPPING WITHOUT_MEMFD
kernel() {
    local folder=$TMP/cells/$1-$2

    check "a guest for $1 with the kernel of $2 can be made" \
        supported guest --prepare "$1" "$2"
    furnish "$folder" "$1" "$3" "$4"
    check "it runs all hosts ($1, $2)" supported guest "$1" "$2" "$folder" \
        './converse /work/otelctx-read'
    judge "$1"
}

# It takes minutes, in which the others can run.
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
