@ The vector table of an STM32F4 or STM32L4+: as many interrupts as the largest of them has.
#include "vectors.inc"

    vectors 6
    vector  EXTI0_IRQHandler
    vectors 88
