#include "picosoc_spimemio.h"

#include "board.h"
#include "mmio.h"

/* The lines by hand: output enables 11:8, levels 3:0. */
#define CONFIG 0u
#define LINES_ENABLE_SHIFT 8
#define ALL_LINES_HIGH 0xFu
#define LINE_0_DRIVEN (1u << LINES_ENABLE_SHIFT)
#define CLOCK (1u << 4)
#define DESELECTED (1u << 5)

/* S25FL128L (002-00124): Write Enable; Write Any Register, for the volatile configuration registers 1 and 3. */
#define FLASH_WREN 0x06u
#define FLASH_WRAR 0x71u
#define FLASH_CR1V 0x800002u
#define FLASH_CR1V_QUAD 0x02u
#define FLASH_CR3V 0x800004u
#define FLASH_CR3V_OTHERS 0x70u /* bits 3:0 are the read latency */

/* The data of the code in SRAM: none of it may be in flash. */
struct change {
    uint32_t config;
    uint32_t leave_clocks;
    uint32_t leave_pins;
    uint32_t from_dummy;
    uint32_t to_dummy;
};

static BOARD_SRAM_CODE void clock_pins(uint32_t pins, uint32_t clocks)
{
    for (; clocks; clocks--) {
        mmio_write(BOARD_SPIMEMIO_BASE, CONFIG, pins);
        mmio_write(BOARD_SPIMEMIO_BASE, CONFIG, pins | CLOCK);
    }
}

static BOARD_SRAM_CODE void send_byte(uint32_t byte)
{
    for (uint32_t bit = 0; bit < 8; bit++, byte <<= 1) {
        clock_pins(LINE_0_DRIVEN | ((byte >> 7) & 1), 1);
    }
}

static BOARD_SRAM_CODE void deselect(void)
{
    mmio_write(BOARD_SPIMEMIO_BASE, CONFIG, 0);
    mmio_write(BOARD_SPIMEMIO_BASE, CONFIG, DESELECTED);
}

static BOARD_SRAM_CODE void write_register(uint32_t address, uint32_t value)
{
    send_byte(FLASH_WREN);
    deselect();
    send_byte(FLASH_WRAR);
    send_byte(address >> 16);
    send_byte(address >> 8);
    send_byte(address);
    send_byte(value);
    deselect();
}

static BOARD_SRAM_CODE void apply(const struct change *change)
{
    mmio_write(BOARD_SPIMEMIO_BASE, CONFIG, DESELECTED);
    if (change->leave_clocks) {
        clock_pins(change->leave_pins, change->leave_clocks);
        clock_pins(0, change->from_dummy);
        deselect();
    }
    write_register(FLASH_CR1V, FLASH_CR1V_QUAD);
    write_register(FLASH_CR3V, FLASH_CR3V_OTHERS | change->to_dummy);
    mmio_write(BOARD_SPIMEMIO_BASE, CONFIG, change->config);
}

void picosoc_spimemio_set(const struct picosoc_spimemio_mode *from, uint32_t from_dummy,
                          const struct picosoc_spimemio_mode *to, uint32_t to_dummy)
{
    struct change change = {
        .config = PICOSOC_SPIMEMIO_ON | to->bits | to_dummy << PICOSOC_SPIMEMIO_DUMMY_SHIFT,
        .leave_clocks = from->leave_clocks,
        .leave_pins = (uint32_t)from->leave_lines << LINES_ENABLE_SHIFT | ALL_LINES_HIGH,
        .from_dummy = from_dummy,
        .to_dummy = to_dummy,
    };

    apply(&change);
}
