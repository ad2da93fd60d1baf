#include "device.h"

#include <stddef.h>

void *device_data(const struct device *device)
{
    return device && device->private ? device->private->driver_data : NULL;
}

void device_set_data(struct device *device, struct device_private *private, void *data)
{
    private->driver_data = data;
    device->private = private;
}
