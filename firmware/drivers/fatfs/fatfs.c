/* FatFs itself, from the crate, with the configuration of this folder. */
#include "fatfs.h"

#include <ff.c>
