@ The vector table, with the board's interrupts.
#include "vectors.inc"

    vector  Interrupt0_Handler
    vector  Interrupt1_Handler
    vector  Interrupt2_Handler
    vector  Interrupt3_Handler
    vectors 12
