/* bxCAN of an STM32F407 by PCLK1 of 16 MHz and, with STM32L4, of an STM32L4R5 by 4 MHz, at 500 kbit/s: looped back,
 * once on the bus, and until somebody acknowledges; what came in by then is shown. Loop back needs no pins. Then CAN1
 * is at PD0 and PD1, CAN2 at PB12 and PB13; with WITHOUT_RX or WITHOUT_TX, CAN1 lacks that pin. */
#include "armv7m.h"
#include "console.h"
#include "mmio.h"
#include "stm32_gpio.h"

#ifdef STM32L4
#define RCC 0x40021000u
#define GPIOENR 0x4Cu
#define GPIOB 0x48000400u
#define GPIOD 0x48000C00u
#define APB1ENR 0x58u
/* 4 MHz, 1 + 6 + 1 quanta: sampled at 87.5 %. */
#define TIMING (5u << 16)
#define MS 4000u
#else
#define RCC 0x40023800u
#define GPIOENR 0x30u
#define GPIOB 0x40020400u
#define GPIOD 0x40020C00u
#define APB1ENR 0x40u
/* 16 MHz / 2, 1 + 13 + 2 quanta: sampled at 87.5 %. */
#define TIMING (1u << 20 | 12u << 16 | 1u)
#define MS 16000u
#define HAS_CAN2
#endif
#define CAN1 0x40006400u
#define CAN2 0x40006800u
#define MCR 0x00u
#define MSR 0x04u
#define TSR 0x08u
#define RF0R 0x0Cu
#define ESR 0x18u
#define BTR 0x1Cu
#define TI0R 0x180u
#define RI0R 0x1B0u
#define FMR 0x200u
#define FS1R 0x20Cu
#define FA1R 0x21Cu
#define INRQ 1u
#define NART (1u << 4)
#define LOOP_BACK (1u << 30)
#define SILENT (1u << 31)
#define RQCP 1u

static void set_pins(void)
{
    mmio_write(RCC, GPIOENR, mmio_read(RCC, GPIOENR) | 1u << 1 | 1u << 3);
    (void)mmio_read(RCC, GPIOENR);
#ifndef WITHOUT_RX
    stm32_gpio_alternate(GPIOD, 0, 9);
#endif
#ifndef WITHOUT_TX
    stm32_gpio_alternate(GPIOD, 1, 9);
#endif
#ifdef HAS_CAN2
    stm32_gpio_alternate(GPIOB, 12, 9);
    stm32_gpio_alternate(GPIOB, 13, 9);
#endif
}

static uint32_t start(uintptr_t can, uint32_t control, uint32_t modes)
{
    mmio_write(can, MCR, INRQ);
    while ((mmio_read(can, MSR) & 1u) == 0) {
    }
    mmio_write(can, BTR, TIMING | modes);
    mmio_write(can, MCR, control);
    uint32_t begun = armv7m_cycles();
    while ((mmio_read(can, MSR) & 1u) != 0) {
    }
    return armv7m_cycles() - begun;
}

static void request(uintptr_t can, uint32_t id, uint32_t low, uint32_t high)
{
    mmio_write(can, TI0R + 4, 8);
    mmio_write(can, TI0R + 8, low);
    mmio_write(can, TI0R + 12, high);
    mmio_write(can, TI0R, id << 21 | 1u);
}

static uint32_t send(uintptr_t can, uint32_t id, uint32_t low, uint32_t high)
{
    request(can, id, low, high);
    uint32_t begun = armv7m_cycles();
    while ((mmio_read(can, TSR) & RQCP) == 0) {
    }
    return armv7m_cycles() - begun;
}

static void wait(uint32_t cycles)
{
    uint32_t begun = armv7m_cycles();
    while (armv7m_cycles() - begun < cycles) {
    }
}

static void show(const char *what, uintptr_t can)
{
    uint32_t id = mmio_read(can, RI0R) >> 21, length = mmio_read(can, RI0R + 4) & 15u;

    console_print("%s: %x %u %x %x\n", what, id, length, mmio_read(can, RI0R + 8), mmio_read(can, RI0R + 12));
    mmio_write(can, RF0R, 1u << 5);
}

int main(void)
{
    mmio_write(RCC, APB1ENR, mmio_read(RCC, APB1ENR) | 3u << 25);
    armv7m_start_cycle_counter();
    /* All frames come in, into FIFO 0, of both. */
    mmio_write(CAN1, FS1R, 1u | 1u << 14);
    mmio_write(CAN1, FA1R, 1u | 1u << 14);
    mmio_write(CAN1, FMR, 14u << 8);

    uint32_t joined = start(CAN1, 0, LOOP_BACK | SILENT);
    uint32_t took = send(CAN1, 0x123, 0x04030201u, 0x08070605u);
    console_print("loop back: joined in %u cycles, sent in %u, status %x\n", joined, took, mmio_read(CAN1, TSR) & 15u);
    show("looped", CAN1);

    /* On the bus, once. */
    set_pins();
    start(CAN1, NART, 0);
    send(CAN1, 0x124, 1, 2);
    console_print("once: status %x, errors %x\n", mmio_read(CAN1, TSR) & 15u, mmio_read(CAN1, ESR));

    /* Again and again, for 20 ms; the second controller is there as well. */
#ifdef HAS_CAN2
    start(CAN2, 0, 0);
#endif
    start(CAN1, 0, 0);
    request(CAN1, 0x125, 3, 4);
    wait(20u * MS);
    console_print("again: status %x, errors %x\n", mmio_read(CAN1, TSR) & 15u, mmio_read(CAN1, ESR));
#ifdef HAS_CAN2
    if ((mmio_read(CAN2, RF0R) & 3u) != 0) {
        show("second", CAN2);
    }
#endif
    while ((mmio_read(CAN1, RF0R) & 3u) != 0) {
        show("first", CAN1);
    }
    return 0;
}
