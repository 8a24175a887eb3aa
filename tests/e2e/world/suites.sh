#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Test suites of other projects, as Debian packages them, under the shim: no case
# fails that passes without the shim.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/fixed.sh
. "$(dirname "$0")/../fixed.sh"

# Each suite prints "ok CASE" or "failed CASE" for each case.
cpython() {
    local status=0

    fixed env LD_PRELOAD="$preload" /usr/bin/python3 -m test -j 2 --timeout 1800 \
        --junit-xml "$PWD/results.xml" \
        test_os test_signal test_subprocess test_threading >&2 || status=$?
    [ "$status" = 0 ] || echo 'failed one of them'
    fixed /usr/bin/python3 - results.xml <<'END'
import sys
import xml.etree.ElementTree as xml

for case in xml.parse(sys.argv[1]).iter("testcase"):
    bad = case.find("failure") is not None or case.find("error") is not None
    print("failed" if bad else "ok", case.get("name"))
END
}

# The cases that fork and take seconds.
openssh() {
    local log

    cp -a /usr/lib/openssh/regress .
    log=$(fixed env LD_PRELOAD="$preload" LOGNAME=root make -C regress \
        {.OBJDIR,.CURDIR,BUILDDIR,OBJ}="$PWD/regress" \
        SUDO= TEST_SHELL=sh TEST_SSH_SSH=/usr/bin/ssh TEST_SSH_ECC=yes \
        TEST_SSH_SFTPSERVER=/usr/lib/openssh/sftp-server \
        TEST_SSH_IPV6=no TEST_SSH_UNSAFE_PERMISSIONS=1 \
        LTESTS='connect proxy-connect connect-privsep envpass stderr-after-eof broken-pipe' \
        file-tests t-exec 2>&1 </dev/zero) || echo 'failed one of them'
    echo "$log" >&2
    grep -E '^(ok|failed) ' <<<"$log"
}

glib() {
    local name status

    for name in asyncqueue cond gsubprocess once onceinit \
        spawn-{multithreaded,path-search,singlethread,test} thread thread-pool \
        threadtests unix unix-{fd,streams}; do
        status=0
        fixed env LD_PRELOAD="$preload" timeout 1200 \
            "/usr/libexec/installed-tests/glib/$name" --tap >log 2>&1 || status=$?
        cat log >&2
        [ "$status" = 0 ] || echo "failed $name"
        sed -nE "s/^not ok [0-9]+/failed $name/p; s/^ok [0-9]+/ok $name/p" log
    done
}

# fails SUITE: runs it; $TMP/SUITE.failed has the cases that fail.
fails() {
    rm -rf "${TMP:?}/$1"
    mkdir "$TMP/$1"
    (cd "$TMP/$1" && "$1") >"$TMP/$1.cases" 2>"$TMP/$1.log" </dev/null || :
    sed -n 's/^failed //p' "$TMP/$1.cases" | sort -u >"$TMP/$1.failed"
}

# no_worse SUITE COUNT: at least COUNT cases pass, and no case fails twice in a row
# with the shim and passes without it. (Some cases fail now and then.)
no_worse() {
    local preload=$SHIM failed=$TMP/$1.failed

    fails "$1"
    [ -s "$failed" ] || passed "$1" "$2" || return
    [ -s "$failed" ] || return 0
    tail -n 100 "$TMP/$1.log"
    mv "$failed" "$failed.first"
    fails "$1"
    passed "$1" "$2"
    comm -12 "$failed.first" "$failed" >"$failed.twice"
    [ -s "$failed.twice" ] || return 0
    preload='' fails "$1"
    comm -23 "$failed.twice" "$failed" | sed 's/^/only with the shim: /' |
        tee "$failed.only"
    [ ! -s "$failed.only" ]
}
passed() {
    echo "$(grep -c '^ok ' "$TMP/$1.cases") of $2 passed"
    [ "$(grep -c '^ok ' "$TMP/$1.cases")" -ge "$2" ] || {
        tail -n 100 "$TMP/$1.log"
        return 1
    }
}

check 'CPython'\''s test_os, test_signal, test_subprocess, test_threading' \
    no_worse cpython 700
check 'OpenSSH'\''s tests of keys and connections' no_worse openssh 6
check 'GLib'\''s tests of processes and threads' no_worse glib 120
done_testing
