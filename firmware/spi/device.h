/* The common part of devices on all buses. */
#ifndef DEVICE_H
#define DEVICE_H

/* Nobody's but device.c's. */
struct device_private {
    void *driver_data;
};

struct device {
    const char *name;          /* for people */
    const void *platform_data; /* the board's data for its driver */
    struct device_private *private;
};

/* The driver's own data of a device, 0 if it has none. A call, as it is in Linux 3.8 (dev_get_drvdata). */
void *device_data(const struct device *device);

/* `private` is storage of the device's own, for as long as it lasts. */
void device_set_data(struct device *device, struct device_private *private, void *data);

#endif
