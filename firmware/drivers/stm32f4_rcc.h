/* RCC of an STM32F4 (RM0090, RCC registers). */
#ifndef STM32F4_RCC_H
#define STM32F4_RCC_H

#include "stm32_rcc_bits.h"

#define RCC_CR 0x00u
#define RCC_PLLCFGR 0x04u
#define RCC_CFGR 0x08u
#define RCC_AHB1ENR 0x30u
#define RCC_APB1ENR 0x40u

#define RCC_CR_HSEON (1u << 16)
#define RCC_CR_HSERDY (1u << 17)
#define RCC_CR_HSEBYP (1u << 18)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_PLLCFGR_HSE (1u << 22)
#define RCC_CFGR_SW_PLL 2u
#define RCC_CFGR_SW 3u
#define RCC_CFGR_SWS_PLL (2u << 2)
#define RCC_CFGR_SWS (3u << 2)

#define RCC_AHB1_GPIOA (1u << 0)
#define RCC_APB1_USART2 (1u << 17)
#define RCC_APB1_PWR (1u << 28)

#endif
