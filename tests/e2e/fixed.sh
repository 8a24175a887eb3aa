# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the tests that run the distribution's own programs: an environment
# that is the same each time.

# The distribution's programs come first, before others of the same names.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH

GOCACHE=$(go env GOCACHE)

# fixed COMMAND...: runs it in the current folder, which is its $HOME, too.
fixed() {
    env -i PATH="$PATH" HOME="$PWD" LC_ALL=C.UTF-8 TZ=UTC0 TERM=dumb \
        SOURCE_DATE_EPOCH=1000000000 PYTHONHASHSEED=0 \
        GOCACHE="$GOCACHE" \
        GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Author GIT_COMMITTER_NAME=Author \
        GIT_AUTHOR_EMAIL=author@localhost GIT_COMMITTER_EMAIL=author@localhost \
        GIT_AUTHOR_DATE='@1000000000 +0000' \
        GIT_COMMITTER_DATE='@1000000000 +0000' "$@"
}
