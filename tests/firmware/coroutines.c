/* Two coroutines that write to one UART: each polls for room, and lets the other one poll if the FIFO is full. They
 * switch without an exception. */
#include "board.h"
#include "exit.h"
#include "mmio.h"

#define UART BOARD_UARTLITE_BASE
#define TX_FIFO 0x04u
#define STAT_REG 0x08u
#define TX_FIFO_FULL (1u << 3)

#define TEXTS 8u
#define STACK_WORDS 256u
/* Registers that `swap` keeps on a stack: ra, s0 to s11, up to 16 bytes. */
#define KEPT_WORDS 16u

/* Goes on in the coroutine whose stack pointer this is, and leaves that of the present one in `*left`. */
void swap(uint32_t **left, uint32_t *to);

__asm__(".pushsection .text.swap, \"ax\", @progbits\n"
        ".globl swap\n"
        ".type swap, @function\n"
        "swap:\n"
        "    addi sp, sp, -64\n"
        "    sw ra, 0(sp)\n"
        "    sw s0, 4(sp)\n"
        "    sw s1, 8(sp)\n"
        "    sw s2, 12(sp)\n"
        "    sw s3, 16(sp)\n"
        "    sw s4, 20(sp)\n"
        "    sw s5, 24(sp)\n"
        "    sw s6, 28(sp)\n"
        "    sw s7, 32(sp)\n"
        "    sw s8, 36(sp)\n"
        "    sw s9, 40(sp)\n"
        "    sw s10, 44(sp)\n"
        "    sw s11, 48(sp)\n"
        "    sw sp, 0(a0)\n"
        "    mv sp, a1\n"
        "    lw ra, 0(sp)\n"
        "    lw s0, 4(sp)\n"
        "    lw s1, 8(sp)\n"
        "    lw s2, 12(sp)\n"
        "    lw s3, 16(sp)\n"
        "    lw s4, 20(sp)\n"
        "    lw s5, 24(sp)\n"
        "    lw s6, 28(sp)\n"
        "    lw s7, 32(sp)\n"
        "    lw s8, 36(sp)\n"
        "    lw s9, 40(sp)\n"
        "    lw s10, 44(sp)\n"
        "    lw s11, 48(sp)\n"
        "    addi sp, sp, 64\n"
        "    ret\n"
        ".size swap, . - swap\n"
        ".popsection\n");

static uint32_t stack[STACK_WORDS] __attribute__((aligned(16)));
static uint32_t *main_sp, *other_sp;

/* Sends a text, and lets the other coroutine look while there is no room. */
static void say(const char *text, uint32_t **own_sp, uint32_t *const *to_sp)
{
    for (; *text; text++) {
        while (mmio_read(UART, STAT_REG) & TX_FIFO_FULL) {
            swap(own_sp, *to_sp);
        }
        mmio_write(UART, TX_FIFO, (uint8_t)*text);
    }
}

/* The second coroutine, which has no end. */
__attribute__((noinline)) static void other(void)
{
    for (;;) {
        say("another\n", &other_sp, &main_sp);
        swap(&other_sp, main_sp);
    }
}

int main(void)
{
    other_sp = stack + STACK_WORDS - KEPT_WORDS;
    other_sp[0] = (uint32_t)(uintptr_t)other;
    for (uint32_t number = 0; number < TEXTS; number++) {
        say("one\n", &main_sp, &other_sp);
    }
    return EXIT_OK;
}
