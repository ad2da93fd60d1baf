/* Sensors on SPI1 and I2C1 of an STM32F4 and, with STM32L4, of an STM32L4R5, out of reset: by DMA WHO_AM_I and
 * a sample of an LIS3DH or, with LIS3DSH, of that; the temperature of an LM75, if there is one (THERMOMETER), by DMA
 * too on the STM32L4R5. CS_PIN and INT_PIN are pins of the ports at CS_PORT and INT_PORT. Registers are those of RM0090
 * and RM0432. */
#include "armv7m.h"
#include "console.h"
#include "mmio.h"
#include "stm32_gpio.h"

#define SPI1 0x40013000u
#define I2C1 0x40005400u
#define SPI_BYTES 7u
#define ADDRESS 0x48u

#ifdef STM32L4
#define GPIOA 0x48000000u
#define GPIOB 0x48000400u
#else
#define GPIOA 0x40020000u
#define GPIOB 0x40020400u
#endif

static uint8_t command[SPI_BYTES];
static uint8_t answer[SPI_BYTES];
static volatile uint8_t temperature[2];

/* SPI1 at PA5 to PA7, I2C1 at PB8 and PB9, which are open-drain. */
static void open_pins(void)
{
    for (uint32_t pin = 5; pin <= 7; pin++) {
        stm32_gpio_alternate(GPIOA, pin, 5);
    }
    for (uint32_t pin = 8; pin <= 9; pin++) {
        stm32_gpio_alternate(GPIOB, pin, 4);
    }
    mmio_write(GPIOB, 0x04, mmio_read(GPIOB, 0x04) | 3u << 8);
}

#ifdef STM32L4
#define DMA1 0x40020000u
#define DMAMUX1 0x40020800u
#define CHANNEL(number) (DMA1 + 0x08u + 20u * ((number) - 1u))

static void start(void)
{
    mmio_write(0x40021000u, 0x48, mmio_read(0x40021000u, 0x48) | 1u << 0 | 1u << 2);
    mmio_write(0x40021000u, 0x4C, 0x1FFu);
    mmio_write(0x40021000u, 0x58, mmio_read(0x40021000u, 0x58) | 1u << 21);
    mmio_write(0x40021000u, 0x60, mmio_read(0x40021000u, 0x60) | 1u << 12);
}

static void dma(uint32_t channel, uint32_t request, uint32_t to_port, uint32_t port, uint32_t memory, uint32_t bytes)
{
    mmio_write(CHANNEL(channel), 0x00, 0);
    mmio_write(DMA1, 0x04, 0xFu << (4 * (channel - 1)));
    mmio_write(DMAMUX1, 4 * (channel - 1), request);
    mmio_write(CHANNEL(channel), 0x04, bytes);
    mmio_write(CHANNEL(channel), 0x08, port);
    mmio_write(CHANNEL(channel), 0x0C, memory);
    mmio_write(CHANNEL(channel), 0x00, 1u | to_port << 4 | 1u << 7);
}

static void spi_dma(uint32_t bytes)
{
    dma(1, 10, 0, SPI1 + 0x0C, (uint32_t)(uintptr_t)answer, bytes);
    dma(2, 11, 1, SPI1 + 0x0C, (uint32_t)(uintptr_t)command, bytes);
}

static void wait_for_spi(void)
{
    while ((mmio_read(DMA1, 0x00) & 1u << 1) == 0) {
    }
}

/* 8 bits, RXNE from one byte on, DMA. */
#define SPI_CR2 (7u << 8 | 1u << 12 | 3u)

static uint32_t read_temperature(void)
{
    dma(3, 16, 0, I2C1 + 0x24, (uint32_t)(uintptr_t)temperature, 2);
    /* 20 and 16 cycles of 4 MHz low and high. */
    mmio_write(I2C1, 0x10, 0x00420F13u);
    mmio_write(I2C1, 0x00, 1u | 1u << 15);
    uint32_t begun = armv7m_cycles();
    mmio_write(I2C1, 0x04, ADDRESS << 1 | 1u << 10 | 1u << 13 | 2u << 16 | 1u << 25);
    while ((mmio_read(DMA1, 0x00) & 1u << 9) == 0) {
    }
    return armv7m_cycles() - begun;
}
#else
#define DMA2 0x40026400u
#define STREAM(base, number) ((base) + 0x10u + 0x18u * (number))

static void start(void)
{
    mmio_write(0x40023800u, 0x30, mmio_read(0x40023800u, 0x30) | 0x9Fu | 1u << 22);
    mmio_write(0x40023800u, 0x40, mmio_read(0x40023800u, 0x40) | 1u << 21);
    mmio_write(0x40023800u, 0x44, mmio_read(0x40023800u, 0x44) | 1u << 12);
}

static void dma(uint32_t stream, uint32_t control, uint32_t port, uint32_t memory, uint32_t bytes)
{
    mmio_write(stream, 0x04, bytes);
    mmio_write(stream, 0x08, port);
    mmio_write(stream, 0x0C, memory);
    mmio_write(stream, 0x14, 0);
    mmio_write(stream, 0x00, control | 1u << 10 | 1u);
}

/* Streams 0 and 3 by channel 3. */
static void spi_dma(uint32_t bytes)
{
    mmio_write(DMA2, 0x08, 0x0F7D0F7Du);
    dma(STREAM(DMA2, 0), 3u << 25, SPI1 + 0x0C, (uint32_t)(uintptr_t)answer, bytes);
    dma(STREAM(DMA2, 3), 3u << 25 | 1u << 6, SPI1 + 0x0C, (uint32_t)(uintptr_t)command, bytes);
}

static void wait_for_spi(void)
{
    while ((mmio_read(DMA2, 0x00) & 1u << 5) == 0) {
    }
}

#define SPI_CR2 3u

/* 160 clocks of 16 MHz a bit; no acknowledge for the second byte, by POS. */
static uint32_t read_temperature(void)
{
    mmio_write(I2C1, 0x04, 16u);
    mmio_write(I2C1, 0x1C, 80);
    mmio_write(I2C1, 0x20, 17);
    mmio_write(I2C1, 0x00, 1);
    uint32_t begun = armv7m_cycles();
    mmio_write(I2C1, 0x00, 1u | 1u << 8 | 1u << 10 | 1u << 11);
    while ((mmio_read(I2C1, 0x14) & 1u) == 0) {
    }
    mmio_write(I2C1, 0x10, ADDRESS << 1 | 1u);
    while ((mmio_read(I2C1, 0x14) & 2u) == 0) {
    }
    (void)mmio_read(I2C1, 0x18);
    mmio_write(I2C1, 0x00, 1u | 1u << 11);
    while ((mmio_read(I2C1, 0x14) & 4u) == 0) {
    }
    uint32_t cycles = armv7m_cycles() - begun;
    mmio_write(I2C1, 0x00, 1u | 1u << 9 | 1u << 11);
    temperature[0] = (uint8_t)mmio_read(I2C1, 0x10);
    temperature[1] = (uint8_t)mmio_read(I2C1, 0x10);
    return cycles;
}
#endif

static void select(uint32_t on)
{
    mmio_write(CS_PORT, 0x18, 1u << (CS_PIN + (on ? 16u : 0u)));
}

/* An access of some bytes by DMA at PCLK2 / 4: the cycles that it took. */
static uint32_t exchange(uint8_t first, uint8_t second, uint32_t bytes)
{
    command[0] = first;
    command[1] = second;
    spi_dma(bytes);
    select(1);
    mmio_write(SPI1, 0x04, SPI_CR2);
    uint32_t begun = armv7m_cycles();
    mmio_write(SPI1, 0x00, 1u << 2 | 1u << 3 | 1u << 6 | 3u << 8);
    wait_for_spi();
    uint32_t cycles = armv7m_cycles() - begun;
    select(0);
    mmio_write(SPI1, 0x00, 0);
    mmio_write(SPI1, 0x04, SPI_CR2 & ~3u);
    return cycles;
}

int main(void)
{
    armv7m_start_cycle_counter();
    start();
    open_pins();
    select(0);
    mmio_write(CS_PORT, 0x00, (mmio_read(CS_PORT, 0x00) & ~(3u << 2 * CS_PIN)) | 1u << 2 * CS_PIN);
    mmio_write(INT_PORT, 0x00, mmio_read(INT_PORT, 0x00) & ~(3u << 2 * INT_PIN));
    /* Up to the first conversion of the thermometer, and the boot of the accelerometer. */
    while (armv7m_cycles() < BOARD_CORE_HZ / 10u + BOARD_CORE_HZ / 100u) {
    }
    exchange(0x8F, 0, 2);
    console_print("id: %02x\n", answer[1]);
#ifdef LIS3DSH
    /* Data ready on INT1, active high; all axes at 100 Hz. */
    exchange(0x23, 0xC8, 2);
    exchange(0x20, 0x67, 2);
    const uint8_t outputs = 0xA8;
#else
    exchange(0x22, 0x10, 2);
    exchange(0x20, 0x57, 2);
    const uint8_t outputs = 0xE8;
#endif
    uint32_t begun = armv7m_cycles();
    while ((mmio_read(INT_PORT, 0x10) & 1u << INT_PIN) == 0) {
    }
    console_print("ready: %u cycles\n", armv7m_cycles() - begun);
    uint32_t cycles = exchange(outputs, 0, SPI_BYTES);
    console_print("z: %u, %u cycles\n", (uint32_t)answer[6] << 8 | answer[5], cycles);
#ifdef THERMOMETER
    cycles = read_temperature();
    console_print("temperature: %02x%02x, %u cycles\n", temperature[0], temperature[1], cycles);
#else
    (void)read_temperature;
#endif
    return 0;
}
