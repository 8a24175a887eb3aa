#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The recipes in demo/deploy for cron, sshd and systemd as they stand: the real
# daemons, with an /etc, a /run and process numbers of their own, start programs
# that have a context.
#
# This script is process 1 of a namespace, so that no daemon outlives it.
if [ -z "${OTHER_MACHINE-}" ] && unshare -mC --pid --fork true 2>/dev/null; then
    OTHER_MACHINE=yes exec unshare -mC --pid --fork --kill-child --mount-proc "$0"
fi
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
[ -n "${OTHER_MACHINE-}" ] || skip_all 'machine: no namespaces'
cd "$TMP"
DEPLOY=$ROOT/demo/deploy

# ---- a machine with the library installed -----------------------------------

mount -t tmpfs -o mode=755 none /mnt
mkdir /mnt/etc /mnt/lib /mnt/usual
cp -a /etc/. /mnt/etc
mount --bind /mnt/etc /etc
mount -t tmpfs -o mode=755 none /run
mount -t tmpfs -o mode=1730,gid=crontab none /var/spool/cron
rm -f /etc/cron.d/* /etc/crontab /etc/ld.so.preload /etc/nologin
# The directory of libc, with one file more.
LIBRARIES=$(dirname "$(readlink -f "$(ldd "$(command -v sh)" |
    sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')")")
mount --bind "$LIBRARIES" /mnt/usual
ln -s /mnt/usual/* /mnt/lib
cp "$SHIM" /mnt/lib
mount --bind /mnt/lib "$LIBRARIES"

# found FILE: waits until a program has written its number there, as $PID.
found() {
    local tries

    for ((tries = 0; tries < 3000; tries++)); do
        [ ! -s "$1" ] || break
        sleep 0.02
    done
    PID=$(<"$1")
}

# ---- cron -------------------------------------------------------------------

# Jobs for @reboot start with the daemon. The shell is replaced by the job.
mkdir -p /var/spool/cron/crontabs
{
    cat "$DEPLOY/cron/otelctx.crontab"
    echo "@reboot root echo \$\$ >$TMP/job; exec sleep 600"
} >/etc/cron.d/otelctx
chmod 644 /etc/cron.d/otelctx
background cron -f
CRON=$PID
found job
check 'cron: a job below these lines has a context' published "$PID"
same 'cron: with their attributes' 'service.name=nightly team=shop,web' \
    "$(resource "$PID" | sort | xargs)"
same 'cron: the daemon has none' no_context "$(status "$CRON")"
kill "$CRON"
wait "$CRON" || :

# ---- PAM: cron, sshd --------------------------------------------------------

cp "$DEPLOY/pam/otelctx" /etc/pam.d
cp "$DEPLOY/pam/otelctx.conf" /etc/security
for service in cron sshd; do
    echo '@include otelctx' >>/etc/pam.d/$service
done
echo "@reboot nobody echo \$\$ >$TMP/pam_job; exec sleep 600" >/etc/cron.d/otelctx
chmod 777 .
rm -f /run/crond.reboot
background cron -f
CRON=$PID
found pam_job
check 'cron, by PAM: a job of any crontab has a context' published "$PID"
same 'cron, by PAM: with the name of its user' \
    'service.name=sessions team=shop,web user.name=nobody' \
    "$(resource "$PID" | sort | xargs)"
same 'cron, by PAM: the daemon has none' no_context "$(status "$CRON")"

mkdir -m 755 /run/sshd
ssh-keygen -q -t ed25519 -N '' -f host_key
ssh-keygen -q -t ed25519 -N '' -f user_key
cat >sshd.conf <<END
ListenAddress 127.0.0.1
HostKey $TMP/host_key
AuthorizedKeysFile $TMP/user_key.pub
PermitRootLogin yes
StrictModes no
UsePAM yes
END
# The daemon on a connection that it inherits: no port, which may be taken.
background ssh -F none -i user_key -o LogLevel=ERROR -o BatchMode=yes \
    -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
    -o "ProxyCommand='$(command -v sshd)' -i -f $TMP/sshd.conf" root@nowhere \
    "echo \$\$ >$TMP/session; exec sleep 600"
found session
check 'sshd, by PAM: a session has a context' published "$PID"
same 'sshd, by PAM: with the name of its user' \
    'service.name=sessions team=shop,web user.name=root' \
    "$(resource "$PID" | sort | xargs)"

# ---- systemd ----------------------------------------------------------------

# unit NAME: a service that sleeps.
unit() {
    printf '[Service]\nExecStart=/bin/sleep 600\n' >"units/$1"
}
export XDG_RUNTIME_DIR=/run/user/0 XDG_CONFIG_HOME=$TMP/config
mkdir -p units/checkout@.service.d units/shop-.service.d config/systemd \
    /run/systemd/system
mkdir -p $XDG_RUNTIME_DIR
chmod 700 $XDG_RUNTIME_DIR
ln -s "$TMP/units" config/systemd/user
unit checkout@.service
unit shop-cart.service
cp "$DEPLOY/systemd/otelctx.conf" units/checkout@.service.d
cp "$DEPLOY/systemd/slice.conf" units/shop-.service.d/otelctx.conf
for name in checkout@1 shop-cart; do
    check "systemd accepts the drop-in of $name" \
        env SYSTEMD_UNIT_PATH="$TMP/units:" systemd-analyze verify --man=no \
        "$TMP/units/$name.service"
done

# main SERVICE: the number of its process.
main() {
    systemctl --user show --value --property MainPID "$1"
}
umount -R /sys/fs/cgroup 2>/dev/null || :
if mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null; then
    background /lib/systemd/systemd --user --unit=basic.target >manager 2>&1
    for ((tries = 0; tries < 1000; tries++)); do
        ! systemctl --user is-active --quiet basic.target || break
        sleep 0.02
    done
    check 'a manager of systemd starts both' \
        systemctl --user start checkout@1 shop-cart
    check 'systemd: a service with the drop-in has a context' \
        published "$(main checkout@1)"
    same 'systemd: with its attributes' 'service.name=checkout team=shop,web' \
        "$(resource "$(main checkout@1)" | sort | xargs)"
    check 'systemd: a service of the slice has a context' \
        published "$(main shop-cart)"
    same 'systemd: with its own name' \
        'service.name=cart service.namespace=shop team=shop,web' \
        "$(resource "$(main shop-cart)" | sort | xargs)"
    contains 'systemd: and it is in the slice' /shop.slice/shop-cart.service \
        "$(<"/proc/$(main shop-cart)/cgroup")"
    systemctl --user exit
else
    skip 'systemd starts a service' 'machine: no control groups'
fi
done_testing
