#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# otelctx-run --install-everywhere and --remove-everywhere, on an /etc that is
# this script's own.
#
# A mount namespace for the whole script, if there can be one.
if [ -z "${OTHER_ETC-}" ] && unshare -m true 2>/dev/null; then
    OTHER_ETC=yes exec unshare -m "$0"
fi
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
[ -n "${OTHER_ETC-}" ] || skip_all 'machine: no mount namespaces'
cd "$TMP"

# Nobody but root may write where the library is.
mount -t tmpfs -o mode=755 none /mnt
mkdir /mnt/etc /mnt/lib /mnt/lib/closed /mnt/lib/noexec /mnt/bin
cp -a /etc/. /mnt/etc
mount --bind /mnt/etc /etc
rm -f /etc/ld.so.preload
cp "$SHIM" "$RUN" /mnt/lib
LIBRARY=/mnt/lib/libotelctx_preload.so
FILE=/etc/ld.so.preload

# install [ARGUMENT]..., remove: what it prints anywhere, and its status.
install_everywhere() {
    run_it --library "$LIBRARY" --install-everywhere "$@"
}
remove() {
    run_it --remove-everywhere
}
run_it() {
    local status=0

    "${around[@]}" "$RUN" "$@" 2>&1 || status=$?
    echo "exit $status"
}
# program NAME TEXT: a script for the trial.
program() {
    printf '#!/bin/bash\n%s\n' "$2" >"/mnt/bin/$1"
    chmod +x "/mnt/bin/$1"
}
# state: of the file, and whether anything else of ours is in /etc.
state() {
    stat -c '%a %u:%g' "$FILE" 2>/dev/null || echo 'no file'
    cat "$FILE" 2>/dev/null || :
    find /etc -maxdepth 1 -name 'ld.so.preload?*'
}

# ---- installed --------------------------------------------------------------

ln -s /nosuch/preload "$FILE"
same 'a symbolic link to nowhere is told' \
    "otelctx-run: $FILE: a symbolic link to /nosuch/preload, which does not exist
exit 125" "$(install_everywhere)"
rm "$FILE"
unset_publish='otelctx-run: warn: /etc/otelctx/otelctx.conf does not set OTELCTX_PUBLISH=configured: every program publishes, such as sleep with the name unknown_service:sleep'
rm -rf /etc/otelctx
same 'without the file: it is made, with a warning of what all programs publish' \
    "$FILE names $LIBRARY: 20 programs ran as without it
$unset_publish
exit 0" "$(install_everywhere)"
same 'with one line, for everybody to read' "644 0:0
$LIBRARY" "$(state)"
background env -i sleep 600
check 'every program loads it' published "$PID"
inode=$(stat -c %i "$FILE")
same 'the warning comes again' "$FILE names $LIBRARY already
$unset_publish" "$(install_everywhere | head -n 2)"
mkdir /etc/otelctx
echo OTELCTX_PUBLISH=configured >/etc/otelctx/otelctx.conf
same 'a second time nothing is done' "$FILE names $LIBRARY already
exit 0" "$(install_everywhere)"
same 'the file is the same one' "$inode" "$(stat -c %i "$FILE")"
same 'removed, nothing is left' \
    "$FILE no longer names libotelctx_preload.so
exit 0
no file" "$(remove; state)"
same 'a second time there is nothing to remove' \
    "$FILE does not name libotelctx_preload.so
exit 0" "$(remove)"

others="# libotelctx_preload.so is not here
 libm.so.6:libdl.so.2"
printf '%s' "$others" >"$FILE"
chown 7:8 "$FILE"
chmod 640 "$FILE"
inode=$(stat -c %i "$FILE")
install_everywhere >/dev/null
same 'other lines, mode and owner stay' "640 7:8
$others
$LIBRARY" "$(state)"
check 'it is another file, by a rename' [ "$inode" != "$(stat -c %i "$FILE")" ]
remove >/dev/null
same 'also when ours is removed' "640 7:8
$others" "$(state)"
echo "libm.so.6 /old/libotelctx_preload.so" >"$FILE"
install_everywhere 2>/dev/null >out || :
contains 'an entry with another path is replaced' 'exit 0' "$(<out)"
same 'and the rest of its line stays' "libm.so.6
$LIBRARY" "$(<"$FILE")"
mv "$FILE" /etc/elsewhere
ln -s elsewhere "$FILE"
remove >/dev/null
same 'behind a symbolic link, the file is replaced and not the link' \
    'elsewhere libm.so.6' "$(readlink "$FILE") $(</etc/elsewhere)"
rm "$FILE" /etc/elsewhere
same 'the library beside otelctx-run is taken' "$FILE names $LIBRARY: 20 programs ran as without it" \
    "$(/mnt/lib/otelctx-run --install-everywhere)"
ln -s "$LIBRARY" "/mnt/lib/link.so"
same 'a link to it is the library' "$FILE names $LIBRARY already" \
    "$("$RUN" --library /mnt/lib/link.so --install-everywhere)"
remove >/dev/null

# ---- the trial --------------------------------------------------------------

# refused SENTENCE MESSAGE [ARGUMENT]...: and /etc is as it was.
refused() {
    local before

    before=$(state)
    same "$1" "otelctx-run: $2
exit 125" "$(install_everywhere "${@:3}")"
    same "$1: nothing is left behind" "$before" "$(state)"
}
program works 'echo works; echo >&2 works; exit 3'
same 'a program may be given' "$FILE names $LIBRARY: 21 programs ran as without it
exit 0" "$(install_everywhere -- /mnt/bin/works)"
remove >/dev/null
program output 'echo one; grep -o "libotelctx.*" /proc/self/maps | head -n 1'
refused 'another output' \
    'not installed: /mnt/bin/output: with the library its standard output has: libotelctx_preload.so' \
    -- /mnt/bin/output
program errors 'grep -q libotelctx /proc/$$/maps && echo "a line" >&2 || :'
refused 'another standard error' \
    'not installed: /mnt/bin/errors: with the library its standard error has: a line' \
    -- /mnt/bin/errors
program status '! grep -q libotelctx /proc/$$/maps'
refused 'another status' \
    'not installed: /mnt/bin/status: with the library its status is 1, without 0' \
    -- /mnt/bin/status
program signal 'grep -q libotelctx /proc/$$/maps && kill -SEGV $$ || :'
refused 'a crash' \
    'not installed: /mnt/bin/signal: with the library signal 11 ends it' \
    -- /mnt/bin/signal
program random 'echo $$'
same 'a program that differs every time is no witness' \
    "$FILE names $LIBRARY: 20 programs ran as without it
exit 0" "$(install_everywhere -- /mnt/bin/random)"
remove >/dev/null
# shellcheck disable=SC2016 # the script expands it
program arguments 'echo "$# $1"; exit 7'
check 'with its arguments' [ "$(install_everywhere -- /mnt/bin/arguments 'a b' c | tail -n 1)" = 'exit 0' ]
remove >/dev/null
refused 'no such program' 'not installed: nosuch: there is no such program' nosuch
program writer 'echo /x.so >>/mnt/etc/ld.so.preload'
touch "$FILE"
same 'a file that changed meanwhile is left alone' \
    "otelctx-run: $FILE: it has changed meanwhile
exit 125" "$(install_everywhere -- /mnt/bin/writer)"
contains 'with what was written there' /x.so "$(<"$FILE")"
rm "$FILE"
cp "$LIBRARY" whole.so
gcc -shared -o libgone.so -x c - <<<'int gone;'
gcc -shared -o broken.so -x c - -Wl,--no-as-needed -L. -lgone <<<'int broken;'
cp broken.so "$LIBRARY"
refused 'a library with which no program starts' \
    "not installed: $(command -v sh): with the library its status is 127, without 0"
cp whole.so "$LIBRARY"
gcc -static -o cat -x c - <<'END'
#include <stdio.h>
int main(int argc, char **argv)
{
    FILE *in = fopen(argv[argc - 1], "r");
    for (int c; (c = getc(in)) != EOF;)
        putchar(c);
}
END
mount --bind cat "$(readlink -f "$(command -v cat)")"
refused 'a linker that does not load it' \
    "not installed: the dynamic linker does not load the library: that of musl does not read $FILE"
umount "$(readlink -f "$(command -v cat)")"

# ---- the library ------------------------------------------------------------

library() {
    local LIBRARY=$2

    refused "$1" "$3"
}
library 'a relative path' ../mnt/lib/libotelctx_preload.so \
    '../mnt/lib/libotelctx_preload.so: expected an absolute path'
library 'no such file' /mnt/nosuch/libotelctx_preload.so \
    '/mnt/nosuch/libotelctx_preload.so: No such file or directory'
cp "$SHIM" /mnt/lib/other.so
library 'another name, which would not be removed' /mnt/lib/other.so \
    '/mnt/lib/other.so: expected a file named libotelctx_preload.so'
mkdir '/mnt/a b'
cp "$SHIM" '/mnt/a b'
library 'a path that the file cannot name' '/mnt/a b/libotelctx_preload.so' \
    "/mnt/a b/libotelctx_preload.so: $FILE cannot name such a path"
chmod 600 "$LIBRARY"
refused 'a library that not every user can read' \
    "$LIBRARY: mode 600, and the program is user 65534's: make it readable: chmod 644"
chmod 666 "$LIBRARY"
refused 'one that every user can write' \
    "$LIBRARY: others than root can write here, and programs of root would load the library"
chmod 644 "$LIBRARY"
chown 7 "$LIBRARY"
refused 'one that another user owns' \
    "$LIBRARY: others than root can write here, and programs of root would load the library"
chown 0 "$LIBRARY"
cp "$SHIM" /mnt/lib/closed
chmod 700 /mnt/lib/closed
library 'a folder that not every user can look into' \
    /mnt/lib/closed/libotelctx_preload.so \
    '/mnt/lib/closed: not every user can look into it'
chmod 777 /mnt/lib/closed
library 'a folder that every user can write' \
    /mnt/lib/closed/libotelctx_preload.so \
    '/mnt/lib/closed: others than root can write here, and programs of root would load the library'
mount -t tmpfs -o noexec,mode=755 none /mnt/lib/noexec
cp "$SHIM" /mnt/lib/noexec
library 'a mount with noexec' /mnt/lib/noexec/libotelctx_preload.so \
    '/mnt/lib/noexec/libotelctx_preload.so is on a mount with noexec: move it to a mount without noexec'
printf '\xf3\x00' | dd of="$LIBRARY" bs=1 seek=18 conv=notrunc status=none
contains 'another architecture' 'the library is for RISC-V, /bin/sh for ' \
    "$(install_everywhere)"
echo text >"$LIBRARY"
refused 'no library at all' "$LIBRARY is no library: install it anew"
cp whole.so "$LIBRARY"

# ---- the machine ------------------------------------------------------------

head -c 65537 /dev/zero | tr '\0' '\n' >"$FILE"
same 'a file that is too big' "otelctx-run: $FILE: it has more than 65536 bytes
otelctx-run: $FILE: it has more than 65536 bytes" \
    "$(install_everywhere | head -n 1; remove | head -n 1)"
rm "$FILE"
echo libm.so.6 >"$FILE"
mount --bind "$FILE" "$FILE"
contains 'a file that is a mount, as in a container' 'esource busy' \
    "$(install_everywhere)"
umount "$FILE"
rm "$FILE"
if setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    cp "$RUN" /mnt/otelctx-run
    RUN=/mnt/otelctx-run
    around=(setpriv --reuid 65534 --clear-groups)
    refused 'a user' "$FILE: Permission denied"
    around=(setpriv --bounding-set -sys_admin --inh-caps -sys_admin)
    refused 'root without the capability to mount' \
        'not installed: the trial needs a mount namespace: Operation not permitted'
else
    skip 'a user' 'machine: no other user'
fi
done_testing
