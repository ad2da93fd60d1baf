/*
 * Prints what programs of suites print, and ends as they do: SUITE_PQM4, SUITE_EMBENCH or SUITE_COREMARK says whose.
 * The numbers are given (KEYPAIR, ENCAPS, DECAPS, ROUNDS) or those of a loop that is timed here.
 */
#include <stdint.h>

#include "board.h"
#include "console.h"

#if defined(SUITE_PQM4)

static void print_cycles(const char *what, uint32_t cycles)
{
    console_print("%s cycles:\n%u\n", what, cycles);
}

int main(void)
{
    console_print("==========================\n");
    for (uint32_t round = 0; round < ROUNDS; round++) {
        print_cycles("keypair", KEYPAIR + round);
        print_cycles("encaps", ENCAPS + round);
#ifdef DECAPS
        print_cycles("decaps", DECAPS + round);
#endif
        console_print("%s KEYS\n\n+\n", VERDICT);
    }
#ifdef HANGS
    for (volatile uint32_t n = 0;; n++)
        ;
#endif
#ifndef CUT_OFF
    console_print("#\n");
#endif
    /* main of such a program returns to start-up code, which returns to where a reset left the link register */
    void (*nowhere)(void) = (void (*)(void))0xffffffffu;
    nowhere();
    return 0;
}

#else

/* Calls that a compiler may not leave out or copy. */
#define KEPT __attribute__((noinline, used))

static volatile uint32_t rounds = 100000;

static void work(void)
{
    for (uint32_t i = rounds; i > 0; i--)
        __asm__ volatile("nop");
}

#if defined(SUITE_EMBENCH)

KEPT void start_trigger(void) { __asm__ volatile(""); }
KEPT void stop_trigger(void) { __asm__ volatile(""); }

int main(void)
{
    work();
    start_trigger();
    work();
    stop_trigger();
    for (;;)
        ;
}

#elif defined(SUITE_COREMARK)

KEPT void start_time(void) { __asm__ volatile(""); }
KEPT void stop_time(void) { __asm__ volatile(""); }

int main(void)
{
    start_time();
    work();
    stop_time();
    console_print("2K performance run parameters for coremark.\nCoreMark Size    : 666\n");
    console_print("Total ticks      : 17445\nTotal time (secs): 17.445000\nIterations/Sec   : 171.969046\n");
    console_print("Iterations       : 3000\nCompiler version : GCC12.2.1\nseedcrc          : 0xe9f5\n");
    console_print("%s[0]crcfinal      : 0xcc42\nCorrect operation validated.\n", WRONG);
    for (;;)
        ;
}

#endif
#endif
