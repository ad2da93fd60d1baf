/* ecall from machine mode and a plain ebreak trap with their causes, and the program continues after them. */
#include "console.h"
#include "trap.h"

static uint32_t causes[2];
static uint32_t count;

static uint32_t note_cause(uint32_t cause, uint32_t pc, uint32_t value)
{
    (void)value;
    if (count < 2) {
        causes[count++] = cause;
    }
    return pc + 4;
}

int main(void)
{
    trap_on_exception(note_cause);
    __asm__ volatile(".option push\n.option norvc\necall\nebreak\n.option pop" : : : "memory");
    trap_on_exception(0);
    console_print("causes %u %u\n", causes[0], causes[1]);
    return count == 2 && causes[0] == 11 && causes[1] == 3 ? 0 : 1;
}
