/* Interrupts of the performance monitors when a counter overflows: the cycle counter, and one that counts
 * instructions. */
#include <stdint.h>

#include "arm.h"
#include "gic.h"
#include "result.h"

#define INTERRUPT GIC_SPI(200)
#define PMCR_E (1u << 0)
#define CYCLES (1u << 31)
#define INSTRUCTIONS (1u << 0)
#define INSTRUCTIONS_EXECUTED 0x08u
#define AHEAD 10000u

static volatile uint32_t overflowed, taken, cycles_since;

static void overflow(void)
{
    cycles_since = arm_cp15_read(0, c9, c13, 0);
    overflowed = arm_cp15_read(0, c9, c12, 3);
    arm_cp15_write(0, c9, c12, 3, overflowed);
    arm_isb();
    arm_dsb();
    taken = taken + 1;
}

/* Two instructions an iteration, in a cycle; not for longer than 4 * AHEAD iterations. */
static uint32_t wait(uint32_t until)
{
    uint32_t rounds = 0;

    while (taken < until && rounds < 4 * AHEAD) {
        rounds++;
    }
    return rounds;
}

int main(void)
{
    uint32_t instructions;

    gic_enable(INTERRUPT, overflow);
    arm_cp15_write(0, c9, c14, 1, CYCLES);
    arm_cp15_write(0, c9, c12, 1, CYCLES);
    arm_cp15_write(0, c9, c12, 0, PMCR_E);
    /* Twice: the first time, the handler is in no cache. */
    for (uint32_t i = 1; i <= 2; i++) {
        arm_cp15_write(0, c9, c13, 0, 0u - AHEAD);
        (void)wait(i);
    }
    result_number("taken", "", taken);
    result_number("cycles_since", "cycles", cycles_since);
    result_number("overflowed", "", overflowed);

    arm_cp15_write(0, c9, c14, 2, CYCLES);
    arm_cp15_write(0, c9, c12, 5, 0);
    arm_cp15_write(0, c9, c13, 1, INSTRUCTIONS_EXECUTED);
    arm_cp15_write(0, c9, c13, 2, 0u - AHEAD);
    arm_cp15_write(0, c9, c14, 1, INSTRUCTIONS);
    arm_cp15_write(0, c9, c12, 1, INSTRUCTIONS);
    (void)wait(3);
    instructions = arm_cp15_read(0, c9, c13, 2);
    result_number("taken_of_instructions", "", taken);
    result_number("overflowed_of_instructions", "", overflowed);
    result_number("instructions_since", "", instructions);

    /* Without PMINTENSET nothing comes. */
    arm_cp15_write(0, c9, c14, 2, INSTRUCTIONS);
    arm_cp15_write(0, c9, c13, 2, 0u - AHEAD);
    (void)wait(4);
    result_number("taken_at_last", "", taken);
    return 0;
}
