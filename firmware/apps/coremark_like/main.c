/* A program in the manner of processor benchmarks: all work is in the core and its caches. The checksum depends on
   nothing but APP_ITERATIONS, so it is the same on every board and emulator. */
#include "console.h"
#include "parts.h"
#include "result.h"
#include "riscv.h"

int main(void)
{
    uint16_t crc = 0xFFFF;

    list_set_up(0x13579BDFu);
    matrix_set_up(0x2468ACE1u);
    scanner_set_up(0x0F1E2D3Cu);

    uint64_t instructions = riscv_instructions();
    for (uint32_t round = 0; round < APP_ITERATIONS; round++) {
        crc = list_round(round, crc);
        crc = matrix_round(round, crc);
        crc = scanner_round(round, crc);
    }
    instructions = riscv_instructions() - instructions;

    console_print("%u iterations, checksum 0x%04x, %llu instructions\n", (uint32_t)APP_ITERATIONS, crc,
                  (unsigned long long)instructions);
    result_number("checksum", "crc16", crc);
    result_number("instructions", "instructions", instructions);
    return 0;
}
