/* A small kernel for one core: threads with stacks of their own and fixed priorities.
 *
 * The runnable thread of the highest priority runs; among equals, the one that became runnable first. A thread that an
 * interrupt wakes takes over when the interrupt's handler is done, if its priority is higher than that of the
 * interrupted one. A thread that another thread wakes waits until that one sleeps or yields, or until an interrupt: a
 * kernel without pre-emption inside itself. */
#ifndef KERNEL_H
#define KERNEL_H

#include "list.h"
#include "spinlock.h"

#include <stdbool.h>
#include <stdint.h>

/* 0 is the idle thread's alone. */
#define PRIORITY_IDLE 0u
#define PRIORITY_LOWEST 1u
#define PRIORITY_MAIN 8u
#define PRIORITY_HIGHEST 31u

enum thread_state {
    THREAD_RUNNING,  /* runs or could */
    THREAD_SLEEPING, /* until thread_wake */
    THREAD_DEAD,     /* its function has returned */
};

/* The state that a switch saves for a suspended thread: registers that a function call preserves, and Status. */
struct thread_context {
    uint32_t s[8]; /* s0 to s7 */
    uint32_t sp;
    uint32_t fp;
    uint32_t ra;
    uint32_t status;
};

typedef void thread_function(void *arg);

struct thread {
    struct thread_context context; /* first: switch_to counts on it */
    struct list_head run_list;     /* in the run queue while it is runnable, the running one too */
    enum thread_state state;
    uint32_t priority;
    uint32_t *stack_end; /* the lowest word, which has a mark */
    const char *name;
    thread_function *function;
    void *arg;
};

/* A thread's stack: at file level, THREAD_STACK(name, bytes); passed on as name, sizeof name. */
#define THREAD_STACK(name, bytes) static uint64_t name[(bytes) / sizeof(uint64_t)]

/* Starts the kernel: interrupts, clock, calibrated delays, the idle thread, and a thread of PRIORITY_MAIN for
 * `program`, whose value is the program's exit status. */
_Noreturn void kernel_start(int (*program)(void));

/* Makes a runnable thread. Its function may return: the thread ends. `stack` of `stack_bytes` and the thread itself
 * must last until then. */
void thread_create(struct thread *thread, const char *name, thread_function *function, void *arg, void *stack,
    uint32_t stack_bytes, uint32_t priority);

/* The thread that runs. */
struct thread *thread_current(void);

/* Makes a sleeping thread runnable; false if it was. Threads and interrupt handlers may call it. */
bool thread_wake(struct thread *thread);

/* Lets others of the same priority run. */
void thread_yield(void);

/* Sets the state of the running thread for its next schedule(): set THREAD_SLEEPING *before* looking at what is waited
 * for, so that a wake-up in between is not lost. */
void thread_set_state(enum thread_state state);

/* Leaves the processor to the runnable thread of the highest priority. One that has set THREAD_SLEEPING goes on after
 * its wake-up. */
void schedule(void);

/* For irq_handle, at the end of an interrupt: leaves the processor to what a handler has made runnable, if it is to be
 * preferred. With interrupts kept out. */
void preempt_schedule_irq(void);

/* Whether an interrupt's handler runs. irq_handle sets this. */
bool in_interrupt(void);
void interrupt_enter(void);
void interrupt_leave(void);

/* Ends the program because of an error in its use of the kernel: prints the message and the thread. */
_Noreturn void kernel_fault(const char *message);

#endif
