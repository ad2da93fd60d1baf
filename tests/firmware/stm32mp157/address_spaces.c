/* What an operating system does to translation and code while it runs, each time around hot code: two address spaces
 * with different code at one address, TLB maintenance by page, domains opened and closed, instructions patched in
 * place, and a process with system calls that reaches for the system's memory. */
#include <stdint.h>

#include "arm.h"
#include "result.h"

#define ROUNDS 400u
#define MEGABYTE (1u << 20)

/* Free virtual addresses, and DDR that the program does not use otherwise. */
#define CODE_VA 0x80000000u
#define DATA_VA 0x80100000u
#define SYSTEM_VA 0x80200000u
#define CODE_AT 0xd0000000u
#define OTHER_CODE_AT 0xd0100000u
#define DATA_AT 0xd0200000u

/* ARM ARM, B3.5.1: sections of Normal memory, written back; not global; domain 1; for privileged modes only. */
#define SECTION (2u | 1u << 2 | 1u << 3 | 1u << 12)
#define FULL_ACCESS (3u << 10)
#define PRIVILEGED_ACCESS (1u << 10)
#define NOT_GLOBAL (1u << 17)
#define DOMAIN_1 (1u << 5)

#define MOV_R0 0xe3a00000u
#define BX_LR 0xe12fff1eu

static uint32_t other_table[4096] __attribute__((aligned(16384)));

extern const uint32_t space_vectors[];
uint32_t space_read_or_fault(volatile uint32_t *address);
uint32_t space_process(volatile uint32_t *own, volatile uint32_t *of_system, uint32_t rounds);

/* r8 counts aborts; svc 2 is a system call, svc 1 the end of the process. */
__asm__("    .arm\n"
        "    .balign 32\n"
        "space_vectors:\n"
        "    b   .\n"
        "    b   .\n"
        "    b   1f\n"
        "    b   .\n"
        "    b   2f\n"
        "    b   .\n"
        "    b   .\n"
        "    b   .\n"
        "1:  ldr r12, [lr, #-4]\n"
        "    bic r12, r12, #0xff000000\n"
        "    cmp r12, #1\n"
        "    beq 4f\n"
        "    ldr r12, [r6]\n"
        "    add r12, r12, #1\n"
        "    str r12, [r6]\n"
        "    movs pc, lr\n"
        "2:  add r8, r8, #1\n"
        "    subs pc, lr, #4\n"
        "space_read_or_fault:\n"
        "    push {r8, lr}\n"
        "    mov r8, #0\n"
        "    ldr r1, [r0]\n"
        "    mov r0, r8\n"
        "    pop {r8, pc}\n"
        "space_process:\n"
        "    push {r4-r11, lr}\n"
        "    mov r5, r0\n"
        "    mov r6, r1\n"
        "    mov r4, r2\n"
        "    mov r8, #0\n"
        "    mov r0, #0x10\n"
        "    msr spsr_cxsf, r0\n"
        "    adr lr, 3f\n"
        "    movs pc, lr\n"
        "3:  ldr r0, [r5]\n"
        "    add r0, r0, #1\n"
        "    str r0, [r5]\n"
        "    svc 2\n"
        "    tst r4, #15\n"
        "    ldreq r1, [r6]\n"
        "    subs r4, r4, #1\n"
        "    bne 3b\n"
        "    svc 1\n"
        "4:  mov r0, r8\n"
        "    pop {r4-r11, pc}\n");

static uint32_t call(uint32_t address)
{
    return ((uint32_t (*)(void))address)();
}

/* Makes code at an address return a number. */
static void write_code(uint32_t address, uint32_t number)
{
    volatile uint32_t *code = (volatile uint32_t *)address;

    code[0] = MOV_R0 | number;
    code[1] = BX_LR;
    arm_cp15_write(0, c7, c11, 1, address);
    arm_dsb();
    arm_cp15_write(0, c7, c5, 1, address);
    arm_invalidate_branch_predictor();
    arm_dsb();
    arm_isb();
}

static void invalidate_page(uint32_t address)
{
    arm_cp15_write(0, c8, c7, 1, address);
    arm_dsb();
    arm_isb();
}

static void switch_to(uint32_t *table, uint32_t attributes, uint32_t asid)
{
    arm_cp15_write(0, c13, c0, 1, 0);
    arm_isb();
    arm_write_ttbr0((uint32_t)table | attributes);
    arm_isb();
    arm_cp15_write(0, c13, c0, 1, asid);
    arm_isb();
}

static uint32_t hot(uint32_t value)
{
    for (uint32_t i = 0; i < 50; i++) {
        value = value * 1103515245u + 12345u;
    }
    return value;
}

static void two_spaces(uint32_t *table, uint32_t attributes)
{
    uint32_t sum = 0;

    write_code(CODE_AT, 3);
    write_code(OTHER_CODE_AT, 40);
    for (uint32_t i = 0; i < 4096; i++) {
        other_table[i] = table[i];
    }
    table[CODE_VA / MEGABYTE] = CODE_AT | SECTION | FULL_ACCESS | NOT_GLOBAL;
    other_table[CODE_VA / MEGABYTE] = OTHER_CODE_AT | SECTION | FULL_ACCESS | NOT_GLOBAL;
    for (uint32_t line = 0; line < sizeof other_table; line += 32) {
        arm_clean_data_line((uint32_t)other_table + line);
    }
    arm_clean_data_line((uint32_t)&table[CODE_VA / MEGABYTE]);
    arm_invalidate_tlb();
    arm_dsb();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        switch_to(table, attributes, 1);
        sum += call(CODE_VA);
        switch_to(other_table, attributes, 2);
        sum += call(CODE_VA);
    }
    switch_to(table, attributes, 1);
    result_number("spaces", "", sum);
}

int main(void)
{
    uint32_t ttbr0 = arm_cp15_read(0, c2, c0, 0);
    uint32_t *table = (uint32_t *)(ttbr0 & ~0x3fffu);
    uint32_t vectors = arm_cp15_read(0, c12, c0, 0), value = 1, faults = 0, wrong = 0;

    two_spaces(table, ttbr0 & 0x3fffu);

    for (uint32_t round = 0; round < 1000; round++) {
        invalidate_page(round << 12);
        value = hot(value);
    }
    result_number("hot", "", value);

    table[DATA_VA / MEGABYTE] = DATA_AT | SECTION | FULL_ACCESS | DOMAIN_1;
    table[SYSTEM_VA / MEGABYTE] = (DATA_AT + MEGABYTE) | SECTION | PRIVILEGED_ACCESS;
    arm_clean_data_line((uint32_t)&table[DATA_VA / MEGABYTE]);
    arm_clean_data_line((uint32_t)&table[SYSTEM_VA / MEGABYTE]);
    arm_invalidate_tlb();
    arm_cp15_write(0, c12, c0, 0, space_vectors);
    arm_dsb();
    arm_isb();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        arm_write_dacr(round & 1 ? 5 : 1);
        arm_isb();
        faults += space_read_or_fault((volatile uint32_t *)DATA_VA + (round & 31));
    }
    result_number("closed", "", faults);

    for (uint32_t round = 0; round < ROUNDS; round++) {
        write_code(CODE_VA, round & 0xff);
        wrong += call(CODE_VA) != (round & 0xff);
        value = hot(value);
    }
    result_number("patched", "", value);
    result_number("wrong", "", wrong);

    arm_write_dacr(5);
    arm_isb();
    *(volatile uint32_t *)DATA_VA = *(volatile uint32_t *)SYSTEM_VA = 0;
    faults = space_process((volatile uint32_t *)DATA_VA, (volatile uint32_t *)SYSTEM_VA, 16 * ROUNDS);
    result_number("refused", "", faults);
    result_number("calls", "", *(volatile uint32_t *)SYSTEM_VA);
    result_number("own", "", *(volatile uint32_t *)DATA_VA);
    arm_cp15_write(0, c12, c0, 0, vectors);
    arm_isb();
    return 0;
}
