/* The drive that an app uses: that of the controller which its setting "port" names. */
#ifndef DRIVE_H
#define DRIVE_H

#include "disk.h"

#if APP_PORT_SPI
#define DRIVE DISK_SPI
#define DRIVE_NAME "1:"
#else
#define DRIVE DISK_MMC
#define DRIVE_NAME "0:"
#endif

#endif
