#!/bin/busybox sh
# The begin of the first program of an app for Linux; the app's own part follows.
/bin/busybox mkdir -p /proc /sys /dev /bin
/bin/busybox --install -s /bin
export PATH=/bin:/sbin
exec </dev/console >/dev/console 2>&1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev

die() {
    echo "init: $*"
    poweroff -f
    sleep 1
}

