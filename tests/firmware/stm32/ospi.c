/* An N25Q128A on OCTOSPI1 of an STM32L4R5 out of reset, SCK of 4 MHz: identification, erase and program with status
 * polling, a quad read by DMA, and a function that runs in place. With WITHOUT_PIN, that pin of port E does not
 * belong to OCTOSPIM, and the program ends after the identification. */
#include "armv7m.h"
#include "console.h"
#include "mmio.h"
#include "stm32_gpio.h"

#define RCC 0x40021000u
#define GPIOE 0x48001000u
#define OCTOSPIM 0x50061C00u
#define OCTOSPI1 0xA0001000u
#define WINDOW 0x90000000u
#define CR 0x000u
#define DCR1 0x008u
#define SR 0x020u
#define FCR 0x024u
#define DLR 0x040u
#define AR 0x048u
#define DR 0x050u
#define PSMKR 0x080u
#define PSMAR 0x088u
#define PIR 0x090u
#define CCR 0x100u
#define TCR 0x108u
#define IR 0x110u
#define EN 1u
#define DMAEN (1u << 2)
#define APMS (1u << 22)
#define READ (1u << 28)
#define POLL (2u << 28)
#define MAPPED (3u << 28)
#define TCF (1u << 1)
#define SMF (1u << 3)
#define BUSY (1u << 5)
#define INSTRUCTION 1u
#define ADDRESS (1u << 8 | 2u << 12)
#define DATA (1u << 24)
#define QUAD (3u << 24)
#define DMA1 0x40020000u
#define DMAMUX1 0x40020800u
#define BYTES 64u

static uint8_t data[BYTES] __attribute__((aligned(4)));

static void wait_for(uint32_t flag)
{
    while ((mmio_read(OCTOSPI1, SR) & flag) == 0) {
    }
    mmio_write(OCTOSPI1, FCR, TCF | SMF);
}

static void command(uint32_t mode, uint32_t ccr, uint32_t dummies, uint32_t instruction, uint32_t bytes)
{
    mmio_write(OCTOSPI1, CR, EN | mode);
    mmio_write(OCTOSPI1, DLR, bytes - 1u);
    mmio_write(OCTOSPI1, CCR, ccr);
    mmio_write(OCTOSPI1, TCR, dummies);
    mmio_write(OCTOSPI1, IR, instruction);
}

static void write_enable(void)
{
    command(0, INSTRUCTION, 0, 0x06, 1);
    wait_for(TCF);
}

/* Until WIP is 0; 100 clocks between two looks. */
static uint32_t wait_while_busy(void)
{
    uint32_t begun = armv7m_cycles();
    mmio_write(OCTOSPI1, PSMKR, 1);
    mmio_write(OCTOSPI1, PSMAR, 0);
    mmio_write(OCTOSPI1, PIR, 100);
    command(APMS | POLL, INSTRUCTION | DATA, 0, 0x05, 1);
    wait_for(SMF);
    return armv7m_cycles() - begun;
}

int main(void)
{
    mmio_write(RCC, 0x48, mmio_read(RCC, 0x48) | 1u << 0 | 1u << 2);
    mmio_write(RCC, 0x4C, mmio_read(RCC, 0x4C) | 1u << 20 | 1u << 4);
    mmio_write(RCC, 0x50, mmio_read(RCC, 0x50) | 1u << 8);
    for (uint32_t pin = 10; pin < 16; pin++) {
#ifdef WITHOUT_PIN
        if (pin == WITHOUT_PIN) {
            continue;
        }
#endif
        stm32_gpio_alternate(GPIOE, pin, 10);
    }
    armv7m_start_cycle_counter();
    mmio_write(OCTOSPIM, 0x04, mmio_read(OCTOSPIM, 0x04));
    mmio_write(OCTOSPI1, DCR1, 23u << 16);

    command(READ, INSTRUCTION | DATA, 0, 0x9F, 3);
    uint32_t identity = mmio_read(OCTOSPI1, DR);
    wait_for(TCF);
    console_print("id: %06x\n", identity);
#ifdef WITHOUT_PIN
    return 0;
#endif

    write_enable();
    command(0, INSTRUCTION | ADDRESS, 0, 0x20, 1);
    mmio_write(OCTOSPI1, AR, 0);
    wait_for(TCF);
    console_print("erase: %u cycles\n", wait_while_busy());

    /* MOVS r0, #42; BX lr; and numbers. */
    write_enable();
    command(0, INSTRUCTION | ADDRESS | DATA, 0, 0x02, BYTES);
    mmio_write(OCTOSPI1, AR, 0);
    mmio_write(OCTOSPI1, DR, 0x4770202Au);
    for (uint32_t i = 4; i < BYTES; i += 4) {
        mmio_write(OCTOSPI1, DR, 0x01010101u * i);
    }
    wait_for(TCF);
    console_print("program: %u cycles\n", wait_while_busy());

    mmio_write(DMAMUX1, 0, 40);
    mmio_write(DMA1, 0x0C, BYTES / 4u);
    mmio_write(DMA1, 0x10, OCTOSPI1 + DR);
    mmio_write(DMA1, 0x14, (uint32_t)(uintptr_t)data);
    mmio_write(DMA1, 0x08, 1u | 1u << 7 | 2u << 8 | 2u << 10);
    /* A request for each four bytes. */
    command(READ | DMAEN | 3u << 8, INSTRUCTION | ADDRESS | QUAD, 8, 0x6B, BYTES);
    uint32_t begun = armv7m_cycles();
    mmio_write(OCTOSPI1, AR, 0);
    while ((mmio_read(DMA1, 0x00) & 1u << 1) == 0) {
    }
    uint32_t cycles = armv7m_cycles() - begun;
    uint32_t wrong = 0;
    for (uint32_t i = 4; i < BYTES; i++) {
        wrong += data[i] != (i & ~3u);
    }
    wait_for(TCF);
    console_print("read: %u wrong, %u cycles\n", wrong, cycles);

    command(MAPPED, INSTRUCTION | ADDRESS | QUAD, 8, 0x6B, 1);
    begun = armv7m_cycles();
    uint32_t word = mmio_read(WINDOW, 0x20);
    cycles = armv7m_cycles() - begun;
    uint32_t (*function)(void) = (uint32_t(*)(void))(WINDOW + 1u);
    console_print("mapped: %08x, %u cycles, %u\n", word, cycles, function() + function());
    return 0;
}
