/* Registers of an STM32F4's USART (RM0090, USART registers). */
#ifndef STM32F4_USART_H
#define STM32F4_USART_H

#define USART_SR 0x00u
#define USART_DR 0x04u
#define USART_BRR 0x08u
#define USART_CR1 0x0Cu
#define USART_CR2 0x10u
#define USART_CR3 0x14u

#define USART_SR_ORE (1u << 3)
#define USART_SR_RXNE (1u << 5)
#define USART_SR_TC (1u << 6)
#define USART_SR_TXE (1u << 7)

#define USART_CR1_RE (1u << 2)
#define USART_CR1_TE (1u << 3)
#define USART_CR1_UE (1u << 13)

#endif
