/* Calls of the firmware by smc. The last call ends the run: APP_LAST is its function. */
#include <stdint.h>

#include "arm.h"
#include "board.h"
#include "console.h"
#include "result.h"

#define PSCI_VERSION 0x84000000u
#define CPU_ON 0x84000003u
#define AFFINITY_INFO 0x84000004u
#define MIGRATE_INFO_TYPE 0x84000006u
#define PSCI_FEATURES 0x8400000Au
#define SMCCC_VERSION 0x80000000u
#define PMCR_E (1u << 0)
#define PMCNTENSET_C (1u << 31)

static uint32_t call(uint32_t function, uint32_t first, uint32_t second)
{
    register uint32_t r0 __asm__("r0") = function;
    register uint32_t r1 __asm__("r1") = first;
    register uint32_t r2 __asm__("r2") = second;

    __asm__ volatile(".arch_extension sec\n\tsmc #0" : "+r"(r0), "+r"(r1), "+r"(r2) : : "r3", "memory");
    return r0;
}

int main(void)
{
    uint32_t begin, cycles;

    arm_cp15_write(0, c9, c12, 0, PMCR_E);
    arm_cp15_write(0, c9, c12, 1, PMCNTENSET_C);
    result_number("version", "", call(PSCI_VERSION, 0, 0));
    begin = arm_cp15_read(0, c9, c13, 0);
    (void)call(PSCI_VERSION, 0, 0);
    cycles = arm_cp15_read(0, c9, c13, 0) - begin;
    result_number("cycles", "", cycles);
    result_number("off_is_there", "", call(PSCI_FEATURES, 0x84000008u, 0));
    result_number("smccc_is_there", "", call(PSCI_FEATURES, SMCCC_VERSION, 0));
    result_number("suspend_to_ram", "", call(PSCI_FEATURES, 0x8400000Eu, 0));
    result_number("migrates", "", call(MIGRATE_INFO_TYPE, 0, 0));
    result_number("this_is_on", "", call(AFFINITY_INFO, 0, 0));
    result_number("other_on", "", call(CPU_ON, 1, BOARD_DDR_BASE));
    console_print("the last line leaves the UART\n");
    (void)call(APP_LAST, 0, 0);
    console_print("went on\n");
    return 0;
}
