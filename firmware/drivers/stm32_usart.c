#include "stm32_usart.h"

#include "mmio.h"

#define USART_LIMIT_READS 1000000u

static void wait_for(uintptr_t base, uint32_t mask)
{
    for (uint32_t reads = 0; reads < USART_LIMIT_READS; reads++) {
        if ((mmio_read(base, USART_ISR) & mask) == mask) {
            return;
        }
    }
}

/* The division, rounded. With 8 samples bits 3 to 1 are in BRR[2:0], and bit 0 is nowhere (RM0436, USART baud rate
 * register). */
static uint32_t divider(uint32_t clock_hz, uint32_t baud, enum usart_oversampling oversampling)
{
    if (oversampling == USART_SAMPLES_8) {
        uint32_t whole = (2 * clock_hz + baud / 2) / baud;
        return (whole & ~0xFu) | (whole & 0xFu) >> 1;
    }
    return (clock_hz + baud / 2) / baud;
}

void usart_start(uintptr_t base, uint32_t clock_hz, uint32_t baud, enum usart_oversampling oversampling)
{
    uint32_t cr1 = USART_CR1_TE | USART_CR1_RE | (oversampling == USART_SAMPLES_8 ? USART_CR1_OVER8 : 0);

    mmio_write(base, USART_CR1, 0);
    mmio_write(base, USART_CR1, cr1);
    mmio_write(base, USART_CR2, 0);
    mmio_write(base, USART_CR3, 0);
    mmio_write(base, USART_PRESC, 0);
    mmio_write(base, USART_BRR, divider(clock_hz, baud, oversampling));
    mmio_write(base, USART_CR1, cr1 | USART_CR1_UE);
    wait_for(base, USART_ISR_TEACK | USART_ISR_REACK);
}

void usart_put(uintptr_t base, char character)
{
    wait_for(base, USART_ISR_TXE);
    mmio_write(base, USART_TDR, (uint8_t)character);
}

void usart_flush(uintptr_t base)
{
    wait_for(base, USART_ISR_TC);
}
