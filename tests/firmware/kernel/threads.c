/* Threads: the order in which they run; a switch keeps their registers. */
#include "expect.h"
#include "kernel.h"

#define STACK_BYTES 4096

static struct thread first, second, third;
THREAD_STACK(first_stack, STACK_BYTES);
THREAD_STACK(second_stack, STACK_BYTES);
THREAD_STACK(third_stack, STACK_BYTES);

static void twice(void *arg)
{
    const char *letters = arg;

    note(letters[0]);
    thread_yield();
    note(letters[1]);
}

static void create(struct thread *thread, void *stack, thread_function *function, void *arg, uint32_t priority)
{
    thread_create(thread, "test", function, arg, stack, STACK_BYTES, priority);
}

static void sleep_until_woken(void)
{
    thread_set_state(THREAD_SLEEPING);
    schedule();
}

static struct thread *program_thread;

static void wake_program(void *arg)
{
    (void)arg;
    note('w');
    expect(thread_wake(program_thread), "the program sleeps");
    expect(!thread_wake(program_thread), "it is awake");
    /* Runs on, although the program has the higher priority: a wake-up by a thread is no pre-emption. */
    note('x');
}

/* Equals take turns, in the order in which they became runnable. */
static void equals_take_turns(void)
{
    static char a[] = "aA", b[] = "bB", c[] = "cC";

    create(&first, first_stack, twice, a, PRIORITY_MAIN);
    create(&second, second_stack, twice, b, PRIORITY_MAIN);
    create(&third, third_stack, twice, c, PRIORITY_MAIN);
    note('m');
    thread_yield();
    note('n');
    thread_yield();
    expect_events("mabcnABC");
    expect(first.state == THREAD_DEAD && third.state == THREAD_DEAD, "they have ended");
}

/* A higher priority runs first as soon as the program gives way, a lower one only while it sleeps. */
static void priorities_count(void)
{
    static char a[] = "aA", b[] = "bB";

    create(&first, first_stack, twice, a, PRIORITY_MAIN - 1);
    create(&second, second_stack, twice, b, PRIORITY_MAIN + 1);
    create(&third, third_stack, wake_program, 0, PRIORITY_LOWEST);
    note('m');
    thread_yield();
    note('n');
    thread_yield();
    note('o');
    sleep_until_woken();
    note('p');
    expect_events("mbBnoaAwxp");
}

/* More live values than a call may keep in registers that it overwrites. */
static void count_with_registers(void *arg)
{
    uint32_t a = (uint32_t)arg, b = a + 1, c = a * 3, d = a ^ 0x55555555u, e = ~a, f = a << 7, g = a + 99, h = a * a,
             i = a - 5;

    for (uint32_t round = 0; round < 100; round++) {
        thread_yield();
        a += 3, b ^= a, c += b, d -= c, e ^= d, f += e, g ^= f, h += g, i ^= h;
    }
    uint32_t begin = (uint32_t)arg;
    uint32_t A = begin, B = A + 1, C = A * 3, D = A ^ 0x55555555u, E = ~A, F = A << 7, G = A + 99, H = A * A, I = A - 5;
    for (uint32_t round = 0; round < 100; round++) {
        A += 3, B ^= A, C += B, D -= C, E ^= D, F += E, G ^= F, H += G, I ^= H;
        __asm__ volatile("" : "+r"(A));
    }
    expect(
        a == A && b == B && c == C && d == D && e == E && f == F && g == G && h == H && i == I, "registers are kept");
    note('k');
}

static void registers_are_kept(void)
{
    create(&first, first_stack, count_with_registers, (void *)17, PRIORITY_MAIN);
    create(&second, second_stack, count_with_registers, (void *)4711, PRIORITY_MAIN);
    create(&third, third_stack, count_with_registers, (void *)815, PRIORITY_MAIN);
    for (uint32_t round = 0; round < 101; round++) {
        thread_yield();
    }
    expect_events("kkk");
}

/* A wake-up before schedule() is not lost. */
static void early_wake_up_counts(void)
{
    thread_set_state(THREAD_SLEEPING);
    expect(thread_wake(thread_current()), "it was about to sleep");
    schedule();
    expect(thread_current()->state == THREAD_RUNNING, "it runs");
}

static int program(void)
{
    program_thread = thread_current();
    equals_take_turns();
    priorities_count();
    registers_are_kept();
    early_wake_up_counts();
    console_print("threads: ok\n");
    return EXIT_OK;
}

int main(void)
{
    kernel_start(program);
}
