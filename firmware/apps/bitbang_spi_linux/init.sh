# spidev has the chip, then the mainline driver.
cd /sys/bus/spi
echo spidev > devices/spi0.0/driver_override
echo spi0.0 > drivers/spidev/bind
[ -c /dev/spidev0.0 ] || die "there is no /dev/spidev0.0"
# The console has sent the kernel's lines by then.
sleep 1
spi-access-times || die "the program failed"
sleep 1
echo spi0.0 > drivers/spidev/unbind
echo > devices/spi0.0/driver_override
modprobe at86rf230 || die "the driver was not loaded"
[ -e drivers/at86rf230/spi0.0 ] || die "the driver has not found the chip"
sleep 1
poweroff -f
