@ The M4's vector table, with interrupts of the STM32MP157 (RM0436, NVIC vector table) by the names that drivers define.
#include "vectors.inc"

    @ 0
    vectors 52
    vector  UART4_IRQHandler
    @ 53
    vectors 29
    vector  UART7_IRQHandler
    @ 83
    vectors 20
    vector  IPCC_RX1_IRQHandler
    vector  IPCC_TX1_IRQHandler
    @ 105
    vectors 17
    vector  MDMA_IRQHandler
    @ 123 to 149
    vectors 27
