/* Timers, DMA, SPI and I2C of an STM32F407 out of reset, all clocks at 16 MHz: interrupts of TIM2, a copy between
 * memories, a register of the LIS3DSH on SPI1 by DMA, and the temperature of an LM75 on I2C1. Registers are those of
 * RM0090. */
#include "armv7m.h"
#include "console.h"
#include "mmio.h"
#include "nvic.h"
#include "stm32_gpio.h"

#define DBGMCU_CR 0xE0042004u
#define RCC 0x40023800u
#define RCC_AHB1ENR 0x30u
#define RCC_APB1ENR 0x40u
#define RCC_APB2ENR 0x44u
#define TIM2 0x40000000u
#define TIM2_INTERRUPT 28u
#define DMA2 0x40026400u
#define DMA2_STREAM0_INTERRUPT 56u
#define GPIOA 0x40020000u
#define GPIOB 0x40020400u
#define GPIOE 0x40021000u
#define SPI1 0x40013000u
#define I2C1 0x40005400u
#define EXCEPTIONS 16u
#define SCB_VTOR 0xD08u

/* Registers of a stream. */
#define STREAM(number) (DMA2 + 0x10u + 0x18u * (number))
#define CR 0x00u
#define NDTR 0x04u
#define PAR 0x08u
#define M0AR 0x0Cu
#define FCR 0x14u
#define CR_EN 1u
#define CR_TCIE (1u << 4)
#define CR_PINC (1u << 9)
#define CR_MINC (1u << 10)
#define TCIF0 (1u << 5)
#define ALL_FLAGS 0x0F7D0F7Du

#define ADDRESS 0x48u
#define UPDATES 11u

extern const uint32_t vector_table[];
static uint32_t vectors[EXCEPTIONS + 95u] __attribute__((aligned(512)));
static volatile uint32_t updates;
static volatile uint32_t copied;
static volatile uint32_t at[UPDATES];
static uint32_t source[64], target[64];

static void on_update(void)
{
    if (updates < UPDATES) {
        at[updates] = armv7m_cycles();
    }
    updates++;
    mmio_write(TIM2, 0x10, 0);
    armv7m_dsb();
}

static void on_copied(void)
{
    copied = armv7m_cycles();
    mmio_write(DMA2, 0x08, ALL_FLAGS);
    armv7m_dsb();
}

static void handle(uint32_t interrupt, void (*handler)(void))
{
    vectors[EXCEPTIONS + interrupt] = (uint32_t)(uintptr_t)handler;
    nvic_enable(interrupt, 1);
}

static void start(void)
{
    for (uint32_t index = 0; index < EXCEPTIONS + 95u; index++) {
        vectors[index] = vector_table[index];
    }
    mmio_write(ARMV7M_SCS_BASE, SCB_VTOR, (uint32_t)(uintptr_t)vectors);
    mmio_write(RCC, RCC_AHB1ENR, mmio_read(RCC, RCC_AHB1ENR) | 1u << 22 | 1u << 4 | 3u);
    mmio_write(RCC, RCC_APB1ENR, mmio_read(RCC, RCC_APB1ENR) | 1u << 0 | 1u << 21);
    mmio_write(RCC, RCC_APB2ENR, mmio_read(RCC, RCC_APB2ENR) | 1u << 12);
    /* It counts on while the core sleeps: DBG_SLEEP. */
    mmio_write(DBGMCU_CR, 0, 1);
    /* SPI1 at PA5 to PA7, I2C1 at PB8 and PB9, which are open-drain. */
    for (uint32_t pin = 5; pin <= 7; pin++) {
        stm32_gpio_alternate(GPIOA, pin, 5);
    }
    for (uint32_t pin = 8; pin <= 9; pin++) {
        stm32_gpio_alternate(GPIOB, pin, 4);
    }
    mmio_write(GPIOB, 0x04, 3u << 8);
    armv7m_start_cycle_counter();
}

/* An update each 100 us. */
static void count_updates(void)
{
    handle(TIM2_INTERRUPT, on_update);
    mmio_write(TIM2, 0x28, 15);
    mmio_write(TIM2, 0x2C, 99);
    mmio_write(TIM2, 0x14, 1);
    mmio_write(TIM2, 0x10, 0);
    mmio_write(TIM2, 0x0C, 1);
    mmio_write(TIM2, 0x00, 1);
    while (updates < UPDATES) {
        armv7m_wait_for_interrupt();
    }
    mmio_write(TIM2, 0x00, 0);
    console_print("timer: %u cycles in %u periods\n", at[UPDATES - 1] - at[0], UPDATES - 1);
}

static void copy(void)
{
    handle(DMA2_STREAM0_INTERRUPT, on_copied);
    for (uint32_t index = 0; index < 64; index++) {
        source[index] = 0x01010101u * index;
    }
    mmio_write(STREAM(0), NDTR, 64);
    mmio_write(STREAM(0), PAR, (uint32_t)(uintptr_t)source);
    mmio_write(STREAM(0), M0AR, (uint32_t)(uintptr_t)target);
    mmio_write(STREAM(0), FCR, 1u << 2 | 3u);
    uint32_t begun = armv7m_cycles();
    mmio_write(STREAM(0), CR, 2u << 6 | CR_MINC | CR_PINC | 2u << 11 | 2u << 13 | CR_TCIE | CR_EN);
    while (copied == 0) {
        armv7m_wait_for_interrupt();
    }
    uint32_t wrong = 0;
    for (uint32_t index = 0; index < 64; index++) {
        wrong += target[index] != source[index];
    }
    nvic_disable(DMA2_STREAM0_INTERRUPT);
    console_print("copy: %u words, %u wrong, %u cycles\n", 64u, wrong, copied - begun);
}

/* SPI1_RX is stream 0, SPI1_TX is stream 3, both by channel 3. PE3 selects the chip. */
static void read_spi(void)
{
    static const uint8_t command[2] = {0x8F, 0};
    static uint8_t answer[2];
    const uint32_t control = 3u << 25 | CR_MINC;

    mmio_write(STREAM(0), NDTR, 2);
    mmio_write(STREAM(0), PAR, SPI1 + 0x0C);
    mmio_write(STREAM(0), M0AR, (uint32_t)(uintptr_t)answer);
    mmio_write(STREAM(0), FCR, 0);
    mmio_write(STREAM(0), CR, control | CR_EN);
    mmio_write(STREAM(3), NDTR, 2);
    mmio_write(STREAM(3), PAR, SPI1 + 0x0C);
    mmio_write(STREAM(3), M0AR, (uint32_t)(uintptr_t)command);
    mmio_write(STREAM(3), FCR, 0);
    mmio_write(STREAM(3), CR, control | 1u << 6 | CR_EN);
    mmio_write(GPIOE, 0x18, 1u << 3);
    mmio_write(GPIOE, 0x00, 1u << 6);
    mmio_write(GPIOE, 0x18, 1u << (3 + 16));
    /* RXDMAEN, TXDMAEN; then a master at PCLK2 / 4. */
    mmio_write(SPI1, 0x04, 3);
    mmio_write(SPI1, 0x00, 1u << 2 | 1u << 3 | 1u << 6 | 3u << 8);
    while ((mmio_read(DMA2, 0x00) & TCIF0) == 0) {
    }
    mmio_write(SPI1, 0x00, 0);
    mmio_write(GPIOE, 0x18, 1u << 3);
    console_print("spi: %02x\n", answer[1]);
}

static uint32_t wait_i2c(uint32_t flags)
{
    uint32_t status;
    do {
        status = mmio_read(I2C1, 0x14);
    } while ((status & (flags | 1u << 10)) == 0);
    return status;
}

/* Two bytes after a START: out of reset the pointer points to the temperature. */
static void read_i2c(void)
{
    mmio_write(I2C1, 0x04, 16);
    mmio_write(I2C1, 0x1C, 80);
    mmio_write(I2C1, 0x20, 17);
    mmio_write(I2C1, 0x00, 1);
    /* ACK and POS, for two bytes. */
    mmio_write(I2C1, 0x00, 1u | 1u << 8 | 1u << 10 | 1u << 11);
    wait_i2c(1u << 0);
    uint32_t begun = armv7m_cycles();
    mmio_write(I2C1, 0x10, ADDRESS << 1 | 1u);
    wait_i2c(1u << 1);
    (void)mmio_read(I2C1, 0x18);
    mmio_write(I2C1, 0x00, 1u | 1u << 11);
    wait_i2c(1u << 2);
    uint32_t cycles = armv7m_cycles() - begun;
    mmio_write(I2C1, 0x00, 1u | 1u << 9 | 1u << 11);
    uint32_t high = mmio_read(I2C1, 0x10);
    uint32_t low = mmio_read(I2C1, 0x10);
    console_print("i2c: %u.%u degrees, %u cycles\n", high, low >> 7 ? 5u : 0u, cycles);
}

int main(void)
{
    start();
    count_updates();
    copy();
    read_spi();
    uint32_t begun = armv7m_cycles();
    /* The first conversion takes 100 ms. */
    while (armv7m_cycles() - begun < 16000u * 120u) {
    }
    read_i2c();
    return 0;
}
