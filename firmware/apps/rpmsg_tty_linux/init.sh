# What a distribution's start does for the report's script and client.

# Waits until a file is there, for some seconds.
await() {
    for turn in 1 2 3 4 5 6 7 8 9 10; do
        [ -e "$1" ] && return
        usleep 100000
    done
    die "there is no $1"
}

modprobe -a stm32_ipcc virtio_rpmsg_bus stm32_rproc rpmsg_tty || die "a module was not loaded"
await /sys/class/remoteproc/remoteproc0/state
echo rpmsg_tty.elf > /sys/class/remoteproc/remoteproc0/firmware
echo start > /sys/class/remoteproc/remoteproc0/state || die "the M4 was not started"
sleep 1
# Linux's driver takes a channel with the name that ST's driver has.
for channel in /sys/bus/rpmsg/devices/*.rpmsg-tty-channel.*; do
    if [ -e "$channel" ]; then
        echo rpmsg_tty > "$channel/driver_override"
        echo "${channel##*/}" > /sys/bus/rpmsg/drivers/rpmsg_tty/bind
    fi
done
await /dev/ttyRPMSG0
# The report's client was started by hand: the M4 has logged its start, and the console has sent its lines.
sleep 1
tty-test-client /dev/ttyRPMSG0 || die "the client failed"
sleep 1
poweroff -f
