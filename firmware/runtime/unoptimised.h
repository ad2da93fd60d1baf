/* Included last, by drivers and apps that may be wanted as a debug build has them, beside a kernel that is optimised:
 * with the setting debug_drivers, functions from here on are compiled as with -O0. */
#ifndef UNOPTIMISED_H
#define UNOPTIMISED_H

#if APP_DEBUG_DRIVERS_ON
#pragma clang optimize off
#endif

#endif
