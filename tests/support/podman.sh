# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced, after tap.sh: podman with images and containers of its own in $TMP.

# shellcheck disable=SC2034 # what is set here is for those who source it
PODMAN=(podman --root "$TMP/images" --runroot "$TMP/run" --tmpdir "$TMP/libpod"
    --storage-driver vfs --cgroup-manager cgroupfs --events-backend none
    --runtime runc)
# Podman's defaults are more than a machine may be allowed to give.
LIMITS=(--ulimit nofile=1024:1024 --ulimit nproc=1024:1024)
