/* An operating system in miniature: a process in User mode makes a system call with the number of semihosting, reads
 * memory that is not there, and executes an undefined instruction. Then the system reads such memory itself, and
 * executes an undefined instruction. The handlers count, and go on after the instruction. */
#include <stdint.h>

#include "arm.h"
#include "result.h"

#define MANAGER_OF_DOMAIN_0 3u

extern const uint32_t process_vectors[];
extern volatile uint32_t process_counts[3];
void process_run(void);

__asm__("    .arm\n"
        "    .balign 32\n"
        "process_vectors:\n"
        "    b   .\n"
        "    b   undefined\n"
        "    b   call\n"
        "    b   .\n"
        "    b   abort\n"
        "    b   .\n"
        "    b   .\n"
        "    b   .\n"
        "undefined:\n"
        "    add r9, r9, #1\n"
        "    movs pc, lr\n"
        "abort:\n"
        "    add r8, r8, #1\n"
        "    subs pc, lr, #4\n"
        "call:\n"
        "    ldr r12, [lr, #-4]\n"
        "    bic r12, r12, #0xff000000\n"
        "    cmp r12, #1\n"
        "    addne r7, r7, #1\n"
        "    movsne pc, lr\n"
        "    ldr r2, =0x20000000\n"
        "    ldr r3, [r2]\n"
        "    mov r4, lr\n"
        "    .inst 0xe7f000f1\n"
        "    ldr r2, =process_counts\n"
        "    stm r2, {r7-r9}\n"
        "    pop {r4-r11, pc}\n"
        "process_run:\n"
        "    push {r4-r11, lr}\n"
        "    mov r7, #0\n"
        "    mov r8, #0\n"
        "    mov r9, #0\n"
        "    mov r0, #0x10\n"
        "    msr spsr_cxsf, r0\n"
        "    adr lr, process\n"
        "    movs pc, lr\n"
        "process:\n"
        "    mov r0, #0x18\n"
        "    ldr r1, =0x20026\n"
        "    svc 0x123456\n"
        "    ldr r2, =0x20000000\n"
        "    ldr r3, [r2]\n"
        "    .inst 0xe7f000f2\n"
        "    svc 1\n"
        "    .ltorg\n"
        "    .bss\n"
        "    .balign 4\n"
        "process_counts:\n"
        "    .space 12\n"
        "    .text\n");

int main(void)
{
    uint32_t vectors;

    /* The manager of a domain has all rights to its pages, also in User mode. */
    arm_write_dacr(MANAGER_OF_DOMAIN_0);
    arm_invalidate_tlb();
    vectors = arm_cp15_read(0, c12, c0, 0);
    arm_cp15_write(0, c12, c0, 0, process_vectors);
    arm_isb();
    arm_disable_interrupts();
    process_run();
    arm_cp15_write(0, c12, c0, 0, vectors);
    arm_isb();
    result_number("calls", "", process_counts[0]);
    result_number("aborts", "", process_counts[1]);
    result_number("undefined", "", process_counts[2]);
    return 0;
}
