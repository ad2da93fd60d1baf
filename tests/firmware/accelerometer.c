/* An LIS3DH at Altera's SPI core: samples by its interrupt, and then by polling its status register. */
#include <stdint.h>

#include "board.h"
#include "console.h"
#include "mmio.h"
#include "riscv.h"
#include "trap.h"

#define SPI_RXDATA 0x00
#define SPI_TXDATA 0x04
#define SPI_STATUS 0x08
#define SPI_CONTROL 0x0c
#define SPI_STATUS_RRDY (1u << 7)
#define SPI_CONTROL_SSO (1u << 10)

#define LIS3DH_WHO_AM_I 0x0f
#define LIS3DH_CTRL_REG1 0x20
#define LIS3DH_CTRL_REG3 0x22
#define LIS3DH_CTRL_REG4 0x23
#define LIS3DH_STATUS_REG 0x27
#define LIS3DH_OUT_X_L 0x28
#define LIS3DH_READ 0x80
#define LIS3DH_NEXT 0x40
#define LIS3DH_ZYXDA (1u << 3)

#define INTERRUPT 20

static volatile unsigned samples;
static volatile int16_t last[3];

static uint8_t exchange(uint8_t byte)
{
    mmio_write(BOARD_SPI_BASE, SPI_TXDATA, byte);
    while (!(mmio_read(BOARD_SPI_BASE, SPI_STATUS) & SPI_STATUS_RRDY)) {
    }
    return (uint8_t)mmio_read(BOARD_SPI_BASE, SPI_RXDATA);
}

static uint8_t access(uint8_t command, uint8_t value)
{
    mmio_write(BOARD_SPI_BASE, SPI_CONTROL, SPI_CONTROL_SSO);
    exchange(command);
    uint8_t read = exchange(value);
    mmio_write(BOARD_SPI_BASE, SPI_CONTROL, 0);
    return read;
}

static void read_outputs(void)
{
    mmio_write(BOARD_SPI_BASE, SPI_CONTROL, SPI_CONTROL_SSO);
    exchange(LIS3DH_OUT_X_L | LIS3DH_READ | LIS3DH_NEXT);
    for (int axis = 0; axis < 3; axis++) {
        uint8_t low = exchange(0);
        last[axis] = (int16_t)(low | exchange(0) << 8);
    }
    mmio_write(BOARD_SPI_BASE, SPI_CONTROL, 0);
}

static void on_data_ready(void)
{
    read_outputs();
    samples = samples + 1;
}

int main(void)
{
    /* Too early for the chip, which says so in a note; then it has booted. */
    access(LIS3DH_CTRL_REG1, 0x57);
    uint32_t start = (uint32_t)riscv_cycles();
    while ((uint32_t)riscv_cycles() - start < BOARD_CLOCK_HZ / 100) {
    }
    console_print("WHO_AM_I %x\n", access(LIS3DH_WHO_AM_I | LIS3DH_READ, 0));

    trap_on_interrupt(INTERRUPT, on_data_ready);
    riscv_csr_set(mie, 1u << INTERRUPT);
    access(LIS3DH_CTRL_REG3, 0x90);
    access(LIS3DH_CTRL_REG1, 0x77);
    trap_enable_interrupts();
    while (samples < 5) {
        riscv_wait_for_interrupt();
    }
    trap_disable_interrupts();

    /* High resolution, 8 g, without the interrupt. */
    access(LIS3DH_CTRL_REG3, 0);
    access(LIS3DH_CTRL_REG4, 0x28);
    unsigned polls = 0;
    for (unsigned polled = 0; polled < 3; polled++) {
        do {
            polls++;
        } while (!(access(LIS3DH_STATUS_REG | LIS3DH_READ, 0) & LIS3DH_ZYXDA));
        read_outputs();
    }
    console_print("%d %d %d after %u polls\n", last[0], last[1], last[2], polls);
    return 0;
}
