/* Settings that an STM32F407 (and, with STM32L4, an STM32L4R5) accepts: no date in the RTC, as ST's HAL sets
 * its time base; one data line of SPI; the backup SRAM; the start of a USB device that is not plugged in. */
#include "armv7m.h"
#include "console.h"
#include "mmio.h"
#include "stm32_gpio.h"

#include <stdint.h>

#ifdef STM32L4
#define RCC 0x40021000u
#define AHB2ENR 0x4Cu
#define PORTS_ENABLE AHB2ENR
#define GPIOB 0x48000400u
#define OTG_ENABLE (1u << 12)
#define SPI_ENABLE 0x58u
#else
#define RCC 0x40023800u
#define AHB1ENR 0x30u
#define PORTS_ENABLE AHB1ENR
#define GPIOB 0x40020400u
#define AHB2ENR 0x34u
#define OTG_ENABLE (1u << 7)
#define SPI_ENABLE 0x40u
#define APB1ENR 0x40u
#define PWR 0x40007000u
#define RTC 0x40002800u
#define BKPSRAM 0x40024000u
#endif
/* No chip is on it. */
#define SPI2 0x40003800u
#define OTG 0x50000000u
#define GOTGCTL 0x00u
#define GUSBCFG 0x0Cu
#define GRSTCTL 0x10u
#define GINTSTS 0x14u
#define GCCFG 0x38u
#define DCTL 0x804u
#define DSTS 0x808u

static void set(uintptr_t base, uint32_t offset, uint32_t bits)
{
    mmio_write(base, offset, mmio_read(base, offset) | bits);
}

static void wait(uint32_t cycles)
{
    for (uint32_t begun = armv7m_cycles(); armv7m_cycles() - begun < cycles;) {
    }
}

#ifndef STM32L4
static void rtc(void)
{
    set(RCC, APB1ENR, 1u << 28);
    set(PWR, 0x00, 1u << 8);
    set(RCC, 0x74, 1);
    while ((mmio_read(RCC, 0x74) & 2) == 0) {
    }
    mmio_write(RCC, 0x70, 2u << 8 | 1u << 15);
    mmio_write(RTC, 0x24, 0xCA);
    mmio_write(RTC, 0x24, 0x53);
    mmio_write(RTC, 0x0C, 1u << 7);
    while ((mmio_read(RTC, 0x0C) & 1u << 6) == 0) {
    }
    /* A "second" of 32 clocks of LSI: a millisecond. */
    mmio_write(RTC, 0x10, 31u << 16);
    mmio_write(RTC, 0x1C, 1);
    mmio_write(RTC, 0x04, 0);
    mmio_write(RTC, 0x00, 0);
    mmio_write(RTC, 0x08, 1u << 8 | 1u << 12);
    mmio_write(RTC, 0x0C, 0);
    uint32_t begun = armv7m_cycles();
    while ((mmio_read(RTC, 0x0C) & 1u << 8) == 0 && armv7m_cycles() - begun < 160000u) {
    }
    uint32_t cycles = armv7m_cycles() - begun;
    wait(64000);
    console_print("alarm: %u us, ", cycles / 16);
    uint32_t time = mmio_read(RTC, 0x00);
    console_print("time %06x, date %06x\n", time, mmio_read(RTC, 0x04));
}

static void backup_sram(void)
{
    volatile uint8_t *bytes = (volatile uint8_t *)BKPSRAM;

    set(RCC, AHB1ENR, 1u << 18);
    mmio_write(BKPSRAM, 0xFFC, 0x12345678);
    bytes[0xFFD] = 0xAB;
    mmio_write(PWR, 0x00, mmio_read(PWR, 0x00) & ~(1u << 8));
    mmio_write(BKPSRAM, 0xFFC, 0);
    console_print("backup SRAM: %08x\n", mmio_read(BKPSRAM, 0xFFC));
}
#endif

static void one_line(void)
{
    set(RCC, PORTS_ENABLE, 1u << 1);
    (void)mmio_read(RCC, PORTS_ENABLE);
    for (uint32_t pin = 13; pin <= 15; pin++) {
        stm32_gpio_alternate(GPIOB, pin, 5);
    }
    set(RCC, SPI_ENABLE, 1u << 14);
    (void)mmio_read(RCC, SPI_ENABLE);
    /* BIDIMODE, BIDIOE, SSM, SSI, SPE, PCLK / 4, MSTR. */
    mmio_write(SPI2, 0x00, 1u << 15 | 1u << 14 | 1u << 9 | 1u << 8 | 1u << 6 | 1u << 3 | 1u << 2);
    uint32_t begun = armv7m_cycles();
    for (uint32_t sent = 0; sent < 100; sent++) {
        while ((mmio_read(SPI2, 0x08) & 2) == 0) {
        }
        *(volatile uint8_t *)(SPI2 + 0x0C) = (uint8_t)sent;
    }
    while ((mmio_read(SPI2, 0x08) & 1u << 7) != 0) {
    }
    uint32_t cycles = armv7m_cycles() - begun;
    console_print("one line: %u cycles, SR %x\n", cycles, mmio_read(SPI2, 0x08) & ~0x1800u);
    /* RXONLY: SCK runs by itself, and the program does not read. */
    mmio_write(SPI2, 0x00, 0);
    mmio_write(SPI2, 0x00, 1u << 10 | 1u << 9 | 1u << 8 | 1u << 6 | 1u << 3 | 1u << 2);
    wait(400);
    mmio_write(SPI2, 0x00, 1u << 10 | 1u << 9 | 1u << 8 | 1u << 3 | 1u << 2);
    while ((mmio_read(SPI2, 0x08) & 1u << 7) != 0) {
    }
    console_print("RXONLY: SR %x, DR %x\n", mmio_read(SPI2, 0x08) & 0x41u, mmio_read(SPI2, 0x0C) & 0xFFu);
}

/* As ST's HAL, libopencm3 and TinyUSB begin. */
static void usb(void)
{
#ifdef STM32L4
    /* HSI48 is what CLK48SEL has out of reset. */
    set(RCC, 0x98, 1);
    while ((mmio_read(RCC, 0x98) & 2) == 0) {
    }
#else
    /* PLL: HSI / 16 * 192 / 4; Q: 48 MHz. */
    mmio_write(RCC, 0x04, 16u | 192u << 6 | 1u << 16 | 4u << 24);
    set(RCC, 0x00, 1u << 24);
    while ((mmio_read(RCC, 0x00) & 1u << 25) == 0) {
    }
#endif
    set(RCC, AHB2ENR, OTG_ENABLE);
    (void)mmio_read(RCC, AHB2ENR);
    set(OTG, GUSBCFG, 1u << 6);
    while ((mmio_read(OTG, GRSTCTL) & 1u << 31) == 0) {
    }
    set(OTG, GRSTCTL, 1);
    while ((mmio_read(OTG, GRSTCTL) & 1) != 0) {
    }
    set(OTG, GUSBCFG, 1u << 30);
    while ((mmio_read(OTG, GINTSTS) & 1) != 0) {
    }
    mmio_write(OTG, GRSTCTL, 1u << 5 | 0x10u << 6);
    while ((mmio_read(OTG, GRSTCTL) & 1u << 5) != 0) {
    }
    mmio_write(OTG, GRSTCTL, 1u << 4);
    while ((mmio_read(OTG, GRSTCTL) & 1u << 4) != 0) {
    }
    mmio_write(OTG, GINTSTS, 0xFFFFFFFFu);
    /* The transceiver's power, without VBUS sensing. */
#ifdef STM32L4
    set(OTG, GOTGCTL, 3u << 6);
    set(OTG, GCCFG, 1u << 16);
#else
    set(OTG, GCCFG, 1u << 21 | 1u << 16);
#endif
    mmio_write(OTG, DCTL, 0);
    uint32_t begun = armv7m_cycles();
    while ((mmio_read(OTG, GINTSTS) & 1u << 11) == 0) {
    }
    uint32_t cycles = armv7m_cycles() - begun;
    console_print("USB: suspended after %u cycles, GINTSTS %08x, DSTS %x\n", cycles, mmio_read(OTG, GINTSTS),
        mmio_read(OTG, DSTS));
}

int main(void)
{
    armv7m_start_cycle_counter();
#ifndef STM32L4
    rtc();
    backup_sram();
#endif
    one_line();
    usb();
    return 0;
}
