/* Traps: interrupts go to their handlers; an unexpected exception ends the program. */
#ifndef TRAP_H
#define TRAP_H

#include <stdint.h>

/* Exit statuses of programs ended by a trap: these plus the number in mcause. */
#define TRAP_EXIT_EXCEPTION 64
#define TRAP_EXIT_INTERRUPT 96

/* Called for exception `cause` at `pc` with mtval `value`; returns the address at which to continue. */
typedef uint32_t trap_exception_handler(uint32_t cause, uint32_t pc, uint32_t value);

/* Called for an interrupt, with interrupts disabled. */
typedef void trap_interrupt_handler(void);

/* `handler` gets every exception from now on; 0 brings the default back, which reports and exits. */
void trap_on_exception(trap_exception_handler *handler);

/* `handler` gets interrupt `number` (3 software, 7 timer, 11 external, 16 to 31 the platform's) from now on; 0 takes it
 * away. */
void trap_on_interrupt(uint32_t number, trap_interrupt_handler *handler);

/* Lets interrupts in, or keeps them out; gives the state before, for trap_restore_interrupts. */
uint32_t trap_enable_interrupts(void);
uint32_t trap_disable_interrupts(void);
void trap_restore_interrupts(uint32_t before);

#endif
