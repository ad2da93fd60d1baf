/* What FreeRTOS needs on a Cortex-M4 beyond its own port (portable/GCC/ARM_CM4F): ends. Its handlers of SVCall, PendSV
 * and SysTick are entries of the vector table, by the names that an app's FreeRTOSConfig.h gives them. */
#ifndef FREERTOS_ARMV7M_BOARD_SUPPORT_H
#define FREERTOS_ARMV7M_BOARD_SUPPORT_H

/* Prints where, and ends the program. */
_Noreturn void freertos_assert_failed(const char *file, int line);

#endif
