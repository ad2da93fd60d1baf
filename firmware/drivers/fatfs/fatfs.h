/* FatFs R0.15 as this repository configures it. Include this, never <ff.h>. */
#ifndef FATFS_H
#define FATFS_H

/* ff.h includes the ffconf.h that lies beside it, whatever the include folders are. Once it was imported that
   does nothing, so its options can be set here. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wimport-preprocessor-directive-pedantic"
#import <ffconf.h>
#pragma clang diagnostic pop
#include "fatfs_config.h"

#include <ff.h>

#include <diskio.h>

#endif
