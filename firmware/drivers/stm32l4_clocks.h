/* Clocks of an STM32L4+ between those after reset and the fastest (stm32_board.h). */
#ifndef STM32L4_CLOCKS_H
#define STM32L4_CLOCKS_H

#include "stm32_board.h"

#include <stdint.h>

#define STM32L4_80_MHZ 80000000u

/* Functions that hide the flash's wait states: its two caches, and the prefetch. */
#define STM32L4_CACHES (1u << 0)
#define STM32L4_PREFETCH (1u << 1)

/* Raises all clocks from reset to 80 MHz, the most of an STM32L4 and of an STM32L4+ without boost mode, with these
 * wait states of the flash: an STM32L4 needs 4, an STM32L4+ 3 (RM0351 and RM0432, "number of wait states according to
 * CPU clock frequency"). Returns 0 Hz if the PLL never got ready. */
struct stm32_clocks stm32l4_clocks_80_mhz(uint32_t wait_states, uint32_t accelerators);

#endif
