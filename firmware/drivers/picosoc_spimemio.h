/* PicoSoC's flash interface (picosoc/spimemio.v of YosysHQ/picorv32) and its S25FL128L: the settings for reading the
 * flash when the core fetches and loads from it. */
#ifndef PICOSOC_SPIMEMIO_H
#define PICOSOC_SPIMEMIO_H

#include <stdint.h>

#define PICOSOC_SPIMEMIO_ON (1u << 31)
#define PICOSOC_SPIMEMIO_DDR (1u << 22)
#define PICOSOC_SPIMEMIO_QSPI (1u << 21)
#define PICOSOC_SPIMEMIO_CRM (1u << 20) /* continuous read: the command is sent only once */
#define PICOSOC_SPIMEMIO_DUMMY_SHIFT 16
#define PICOSOC_SPIMEMIO_DUMMY_RESET 8u

/* A way to read: its bits of the configuration register, and the way to get the flash out of continuous read: `clocks`
   clocks of ones on these lines, which are those of address and mode byte. 0 clocks: nothing. */
struct picosoc_spimemio_mode {
    uint32_t bits;
    uint8_t leave_clocks;
    uint8_t leave_lines;
};

/* Goes from a mode with `from_dummy` dummy clocks (1 to 15) to another one. Runs from SRAM; the flash is back at its
 * return. */
void picosoc_spimemio_set(const struct picosoc_spimemio_mode *from, uint32_t from_dummy,
                          const struct picosoc_spimemio_mode *to, uint32_t to_dummy);

#endif
