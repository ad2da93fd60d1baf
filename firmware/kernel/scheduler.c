/* Threads, and which of them runs. */
#include "console.h"
#include "delay.h"
#include "exit.h"
#include "irq.h"
#include "kernel.h"
#include "switch.h"
#include "timer.h"

#define PRIORITIES (PRIORITY_HIGHEST + 1u)

#define PROGRAM_STACK_BYTES 16384

/* The value of a stack's last word until it is overwritten. */
#define STACK_MARK 0x57AC6E9Du

/* The bytes that a function of the o32 calling convention has for its arguments. */
#define ARGUMENT_BYTES 16u

static struct {
    struct list_head runnable[PRIORITIES];
    uint32_t priorities; /* those with runnable threads, a bit each */
    struct thread *current;
    bool need_resched; /* a thread that is to be preferred to the current one has become runnable */
    uint32_t interrupts;
} kernel;

/* The idle thread: the program's first stack, on which kernel_start was called. */
static struct thread idle;
static struct thread main_thread;
THREAD_STACK(main_stack, PROGRAM_STACK_BYTES);

static void enqueue(struct thread *thread)
{
    list_add_tail(&thread->run_list, &kernel.runnable[thread->priority]);
    kernel.priorities |= 1u << thread->priority;
}

static void dequeue(struct thread *thread)
{
    list_del_init(&thread->run_list);
    if (list_empty(&kernel.runnable[thread->priority])) {
        kernel.priorities &= ~(1u << thread->priority);
    }
}

/* There is always one: the idle thread does not sleep. */
static struct thread *first_runnable(void)
{
    uint32_t priority = 31u - (uint32_t)__builtin_clz(kernel.priorities);

    return list_first_entry(&kernel.runnable[priority], struct thread, run_list);
}

/* With interrupts kept out. */
static void switch_to_first(void)
{
    struct thread *previous = kernel.current;
    struct thread *next = first_runnable();

    kernel.need_resched = false;
    if (next == previous) {
        return;
    }
    if (*previous->stack_end != STACK_MARK) {
        kernel_fault("stack overflow");
    }
    kernel.current = next;
    switch_to(&previous->context, &next->context);
}

void schedule(void)
{
    uint32_t before = irq_save();

    if (kernel.interrupts) {
        kernel_fault("an interrupt handler sleeps");
    }
    if (kernel.current->state != THREAD_RUNNING) {
        dequeue(kernel.current);
    }
    switch_to_first();
    irq_restore(before);
}

/* One that was about to sleep stays in the queue: it may have something to look at first. */
void preempt_schedule_irq(void)
{
    if (kernel.need_resched) {
        switch_to_first();
    }
}

bool thread_wake(struct thread *thread)
{
    uint32_t before = irq_save();
    bool asleep = thread->state == THREAD_SLEEPING;

    if (asleep) {
        thread->state = THREAD_RUNNING;
        if (list_empty(&thread->run_list)) {
            enqueue(thread);
        }
        if (thread->priority > kernel.current->priority) {
            kernel.need_resched = true;
        }
    }
    irq_restore(before);
    return asleep;
}

void thread_yield(void)
{
    uint32_t before = irq_save();

    dequeue(kernel.current);
    enqueue(kernel.current);
    schedule();
    irq_restore(before);
}

void thread_set_state(enum thread_state state)
{
    kernel.current->state = state;
}

struct thread *thread_current(void)
{
    return kernel.current;
}

bool in_interrupt(void)
{
    return kernel.interrupts;
}

void interrupt_enter(void)
{
    kernel.interrupts++;
}

void interrupt_leave(void)
{
    kernel.interrupts--;
}

/* Where a thread begins, with interrupts kept out by the switch. */
static _Noreturn void begin(void)
{
    irq_restore(MIPS_STATUS_IE);
    kernel.current->function(kernel.current->arg);
    thread_set_state(THREAD_DEAD);
    schedule();
    kernel_fault("a thread that ended runs");
}

static void thread_fill(struct thread *thread, const char *name, uint32_t priority, uint32_t *stack_end)
{
    thread->state = THREAD_RUNNING;
    thread->priority = priority;
    thread->name = name;
    thread->stack_end = stack_end;
    *stack_end = STACK_MARK;
    list_init(&thread->run_list);
}

void thread_create(struct thread *thread, const char *name, thread_function *function, void *arg, void *stack,
    uint32_t stack_bytes, uint32_t priority)
{
    thread_fill(thread, name, priority, stack);
    thread->function = function;
    thread->arg = arg;

    uint32_t before = irq_save();
    thread->context.sp = (uint32_t)stack + (stack_bytes & ~7u) - ARGUMENT_BYTES;
    thread->context.fp = 0;
    thread->context.ra = (uint32_t)begin;
    thread->context.status = mips_read_status();
    enqueue(thread);
    if (priority > kernel.current->priority) {
        kernel.need_resched = true;
    }
    irq_restore(before);
}

/* The thread of PRIORITY_MAIN. */
static void run_program(void *program)
{
    program_exit(((int (*)(void))program)());
}

_Noreturn void kernel_start(int (*program)(void))
{
    static uint32_t idle_stack_end;

    (void)irq_save();
    for (uint32_t priority = 0; priority < PRIORITIES; priority++) {
        list_init(&kernel.runnable[priority]);
    }
    thread_fill(&idle, "idle", PRIORITY_IDLE, &idle_stack_end);
    enqueue(&idle);
    kernel.current = &idle;
    irq_start();
    delay_calibrate();
    timers_start();
    thread_create(&main_thread, "main", run_program, (void *)program, main_stack, sizeof main_stack, PRIORITY_MAIN);
    irq_restore(MIPS_STATUS_IE);
    schedule();
    for (;;) {
        /* Whatever an interrupt wakes here runs before its return. */
        mips_wait();
    }
}

_Noreturn void kernel_fault(const char *message)
{
    (void)irq_save();
    console_print("\nkernel: %s (thread %s)\n", message, kernel.current ? kernel.current->name : "none");
    program_exit(EXIT_FAILED);
}
