#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# One file for all libcs: every glibc and musl that Debian has, on this
# machine's kernel, and for aarch64 in user emulation, where nobody can look on.
# Other kernels: kernels.sh.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/e2e/cells.sh
. "$(dirname "$0")/cells.sh"

grep -q '^ID=debian$' /etc/os-release ||
    skip_all 'machine: the libcs are packages of its Debian'

# converse FOLDER READER
converse() {
    (cd "$1" && ./converse "$2")
}

names=('/memfd:OTEL_CTX (deleted)' none)
[ "$(naming)" = no ] || names=('[anon_shmem:OTEL_CTX]' '[anon:OTEL_CTX]')
prepare amd64
furnish "$TMP/cells" amd64 "${names[@]}"
check 'all hosts run on this machine' converse "$TMP/cells" "$READ"
judge amd64

prepare arm64
furnish "$TMP/emulated" arm64 emulation ''
check 'all hosts for arm64 run in user emulation' converse "$TMP/emulated" true
judge arm64

print_table
done_testing
