/* RCC of an STM32L4+ (RM0432, RCC registers). */
#ifndef STM32L4_RCC_H
#define STM32L4_RCC_H

#include "stm32_rcc_bits.h"

#define RCC_CR 0x00u
#define RCC_CFGR 0x08u
#define RCC_PLLCFGR 0x0Cu
#define RCC_AHB2ENR 0x4Cu
#define RCC_APB1ENR1 0x58u
#define RCC_APB1ENR2 0x5Cu

#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_PLLCFGR_MSI 1u
#define RCC_PLLCFGR_REN (1u << 24)
#define RCC_CFGR_SW_PLL 3u
#define RCC_CFGR_SWS (3u << 2)
#define RCC_CFGR_HPRE (0xFu << 4)
#define RCC_CFGR_HPRE_2 (8u << 4)

#define RCC_AHB2_GPIOG (1u << 6)
#define RCC_APB1_PWR (1u << 28)
#define RCC_APB1_LPUART1 (1u << 0)

#endif
