/* FreeRTOS includes it and uses nothing of it: the runtime has no C library. */
#ifndef STDLIB_H
#define STDLIB_H

#include <stddef.h>

#endif
