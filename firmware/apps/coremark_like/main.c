/* A program in the manner of processor benchmarks: all work is in the core and its caches. The checksum depends on
   nothing but APP_ITERATIONS, so it is the same on every board and emulator. */
#include "console.h"
#include "parts.h"
#include "result.h"

/* Arm cores count no instructions before a counter is enabled, and some emulators never do. */
#ifdef __riscv
#include "riscv.h"
#define COUNTS_INSTRUCTIONS 1
#define instructions_run() riscv_instructions()
#else
#define COUNTS_INSTRUCTIONS 0
#define instructions_run() 0u
#endif

int main(void)
{
    uint16_t crc = 0xFFFF;

    list_set_up(0x13579BDFu);
    matrix_set_up(0x2468ACE1u);
    scanner_set_up(0x0F1E2D3Cu);

    uint64_t instructions = instructions_run();
    for (uint32_t round = 0; round < APP_ITERATIONS; round++) {
        crc = list_round(round, crc);
        crc = matrix_round(round, crc);
        crc = scanner_round(round, crc);
    }
    instructions = instructions_run() - instructions;

    console_print("%u iterations, checksum 0x%04x", (uint32_t)APP_ITERATIONS, crc);
    if (COUNTS_INSTRUCTIONS) {
        console_print(", %llu instructions", (unsigned long long)instructions);
    }
    console_print("\n");
    result_number("checksum", "crc16", crc);
    if (COUNTS_INSTRUCTIONS) {
        result_number("instructions", "instructions", instructions);
    }
    return 0;
}
