/* USART of the STM32MP157 (RM0436, USART): 8N1, polled. */
#ifndef STM32_USART_H
#define STM32_USART_H

#include <stdint.h>

#define USART_CR1 0x00u
#define USART_CR2 0x04u
#define USART_CR3 0x08u
#define USART_BRR 0x0Cu
#define USART_ISR 0x1Cu
#define USART_ICR 0x20u
#define USART_TDR 0x28u
#define USART_PRESC 0x2Cu

#define USART_CR1_UE (1u << 0)
#define USART_CR1_RE (1u << 2)
#define USART_CR1_TE (1u << 3)
#define USART_CR1_RXNEIE (1u << 5)
#define USART_CR1_TXEIE (1u << 7)
#define USART_CR1_PEIE (1u << 8)
#define USART_CR1_OVER8 (1u << 15)
#define USART_CR3_EIE (1u << 0)

#define USART_ISR_TC (1u << 6)
#define USART_ISR_TXE (1u << 7)
#define USART_ISR_RTOF (1u << 11)
#define USART_ISR_TEACK (1u << 21)
#define USART_ISR_REACK (1u << 22)

/* Samples per bit. */
enum usart_oversampling { USART_SAMPLES_16, USART_SAMPLES_8 };

/* Sets up transmitter and receiver, for a kernel clock of `clock_hz`. The rate is `clock_hz` divided by a whole number;
 * with 8 samples, twice `clock_hz` by a number that is even. */
void usart_start(uintptr_t base, uint32_t clock_hz, uint32_t baud, enum usart_oversampling oversampling);

/* Sends one character, or drops it if the USART is stuck. */
void usart_put(uintptr_t base, char character);

/* Waits until the last character is on the line. */
void usart_flush(uintptr_t base);

#endif
