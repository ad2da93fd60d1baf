/* Both A7s: the second is started by PSCI, and they share a counter under a lock and without one, a page that changes,
 * interrupts each way, and lines of the cache. */
#include <stdint.h>

#include "arm.h"
#include "board.h"
#include "result.h"

#define ROUNDS 400u
#define MEGABYTE (1u << 20)

#define CPU_OFF 0x84000002u
#define CPU_ON 0x84000003u
#define AFFINITY_INFO 0x84000004u

/* GIC architecture 2, 4.3.15 and 4.4. */
#define GICC_CTLR (*(volatile uint32_t *)(BOARD_GICC_BASE + 0x00))
#define GICC_PMR (*(volatile uint32_t *)(BOARD_GICC_BASE + 0x04))
#define GICC_IAR (*(volatile uint32_t *)(BOARD_GICC_BASE + 0x0c))
#define GICC_EOIR (*(volatile uint32_t *)(BOARD_GICC_BASE + 0x10))
#define GICD_SGIR (*(volatile uint32_t *)(BOARD_GICD_BASE + 0xf00))
#define SPURIOUS 1023u

/* A free virtual address, and DDR that the program does not use otherwise. */
#define PAGE_VA 0x80000000u
#define PAGE_AT 0xd0000000u
#define OTHER_PAGE_AT 0xd0100000u
/* ARM ARM, B3.5.1: a section of Normal memory, written back, with full access. */
#define SECTION (2u | 1u << 2 | 1u << 3 | 3u << 10 | 1u << 12)

#define PMCR_E (1u << 0)
#define PMCNTENSET_C (1u << 31)

/* What the second core takes over before it has a stack. */
static struct {
    uint32_t sctlr, ttbr0, ttbcr, dacr, sp;
} __attribute__((aligned(64))) handed;

static uint32_t stack[512] __attribute__((aligned(64)));

/* Each in a line of its own. */
static struct {
    volatile uint32_t value;
} __attribute__((aligned(64))) lock, locked, counted, step, starts, ball;

/* What the second core has seen. */
static volatile uint32_t mpidr, page_before, page_after, interrupt_of_second;

void cluster_entry(void);
void cluster_main(void);

__asm__("    .arm\n"
        "cluster_entry:\n"
        "    ldmia r0, {r1-r5}\n"
        "    mcr p15, 0, r2, c2, c0, 0\n"
        "    mcr p15, 0, r3, c2, c0, 2\n"
        "    mcr p15, 0, r4, c3, c0, 0\n"
        "    mcr p15, 0, r0, c8, c7, 0\n"
        "    mcr p15, 0, r0, c7, c5, 0\n"
        "    dsb\n"
        "    isb\n"
        "    mcr p15, 0, r1, c1, c0, 0\n"
        "    isb\n"
        "    mov sp, r5\n"
        "    b cluster_main\n");

static uint32_t call(uint32_t function, uint32_t first, uint32_t second, uint32_t third)
{
    register uint32_t r0 __asm__("r0") = function;
    register uint32_t r1 __asm__("r1") = first;
    register uint32_t r2 __asm__("r2") = second;
    register uint32_t r3 __asm__("r3") = third;

    __asm__ volatile(".arch_extension sec\n\tsmc #0" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3) : : "memory");
    return r0;
}

static void take_lock(void)
{
    uint32_t value;

    __asm__ volatile("1:  ldrex   %[value], [%[lock]]\n"
                     "    cmp     %[value], #0\n"
                     "    wfene\n"
                     "    strexeq %[value], %[one], [%[lock]]\n"
                     "    cmpeq   %[value], #0\n"
                     "    bne     1b\n"
                     "    dmb\n"
                     : [value] "=&r"(value)
                     : [lock] "r"(&lock.value), [one] "r"(1)
                     : "cc", "memory");
}

static void give_lock(void)
{
    __asm__ volatile("dmb" : : : "memory");
    lock.value = 0;
    __asm__ volatile("dsb\n\tsev" : : : "memory");
}

static void count(void)
{
    uint32_t value, failed;

    __asm__ volatile("1:  ldrex %[value], [%[at]]\n"
                     "    add   %[value], %[value], #1\n"
                     "    strex %[failed], %[value], [%[at]]\n"
                     "    cmp   %[failed], #0\n"
                     "    bne   1b\n"
                     : [value] "=&r"(value), [failed] "=&r"(failed)
                     : [at] "r"(&counted.value)
                     : "cc", "memory");
}

static void count_both_ways(void)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        take_lock();
        locked.value = locked.value + 1;
        give_lock();
        count();
    }
}

/* The cores take turns: odd steps are the second one's. */
static void go_to(uint32_t next)
{
    arm_dsb();
    step.value = next;
    __asm__ volatile("dsb\n\tsev" : : : "memory");
}

static void await(uint32_t wanted)
{
    while (step.value < wanted) {
        __asm__ volatile("wfe" : : : "memory");
    }
}

static void start_interrupts(void)
{
    GICC_PMR = 0xf8;
    GICC_CTLR = 3;
}

/* Sleeps until an interrupt is pending, and takes it: its number, with its sender. */
static uint32_t take_interrupt(void)
{
    uint32_t taken;

    do {
        arm_dsb();
        arm_wait_for_interrupt();
        taken = GICC_IAR;
    } while (taken == SPURIOUS);
    GICC_EOIR = taken;
    return taken;
}

void cluster_main(void)
{
    volatile uint32_t *page = (volatile uint32_t *)PAGE_VA;

    starts.value = starts.value + 1;
    if (starts.value == 1) {
        start_interrupts();
        mpidr = arm_cp15_read(0, c0, c0, 5);
        go_to(2);
        count_both_ways();
        go_to(4);
        await(5);
        page_before = *page;
        go_to(6);
        await(7);
        page_after = *page;
        go_to(8);
        interrupt_of_second = take_interrupt();
        GICD_SGIR = 1u << 16 | 3u;
        await(9);
        ball.value = 1;
        go_to(10);
        await(11);
        ball.value = ball.value + 1;
        go_to(12);
    }
    (void)call(CPU_OFF, 0, 0, 0);
}

static uint32_t start_second(void)
{
    return call(CPU_ON, 1, (uint32_t)cluster_entry, (uint32_t)&handed);
}

/* Not inlined, so that they are in the cache the second time. */
static __attribute__((noinline)) uint32_t cycles_of_load(volatile uint32_t *at)
{
    uint32_t begin = arm_cp15_read(0, c9, c13, 0), value, end;

    __asm__ volatile("ldr %0, [%1]\n\tadd %0, %0, #0" : "=&r"(value) : "r"(at) : "memory");
    end = arm_cp15_read(0, c9, c13, 0);
    return end - begin;
}

/* The store, and the barrier that waits for it. */
static __attribute__((noinline)) uint32_t cycles_of_store(volatile uint32_t *at)
{
    uint32_t begin = arm_cp15_read(0, c9, c13, 0), end;

    *at = 7;
    arm_dsb();
    end = arm_cp15_read(0, c9, c13, 0);
    return end - begin;
}

static void measure_lines(void)
{
    uint32_t other = 0, own = 0, upgrade = 0, stored = 0;

    arm_cp15_write(0, c9, c12, 0, PMCR_E);
    arm_cp15_write(0, c9, c12, 1, PMCNTENSET_C);
    /* The instructions, first. */
    (void)cycles_of_load(&lock.value);
    (void)cycles_of_store(&lock.value);
    go_to(9);
    await(10);
    other = cycles_of_load(&ball.value);
    own = cycles_of_load(&ball.value);
    upgrade = cycles_of_store(&ball.value);
    stored = cycles_of_store(&ball.value);
    result_number("load_from_other", "", other - own);
    result_number("store_to_shared", "", upgrade - stored);
    go_to(11);
    await(12);
    result_number("ball", "", ball.value);
}

int main(void)
{
    uint32_t ttbr0 = arm_cp15_read(0, c2, c0, 0);
    uint32_t *table = (uint32_t *)(ttbr0 & ~0x3fffu);

    arm_disable_interrupts();
    handed.sctlr = arm_read_sctlr();
    handed.ttbr0 = ttbr0;
    handed.ttbcr = arm_cp15_read(0, c2, c0, 2);
    handed.dacr = arm_cp15_read(0, c3, c0, 0);
    handed.sp = (uint32_t)(stack + sizeof stack / sizeof stack[0]);
    arm_clean_data_line((uint32_t)&handed);
    *(volatile uint32_t *)PAGE_AT = 11;
    *(volatile uint32_t *)OTHER_PAGE_AT = 22;
    table[PAGE_VA / MEGABYTE] = PAGE_AT | SECTION;
    arm_clean_data_line((uint32_t)&table[PAGE_VA / MEGABYTE]);
    arm_dsb();
    start_interrupts();

    result_number("own_on", "", call(CPU_ON, 0, 0, 0));
    result_number("none_on", "", call(CPU_ON, 2, 0, 0));
    result_number("other_before", "", call(AFFINITY_INFO, 1, 0, 0));
    result_number("other_on", "", start_second());
    result_number("other_again", "", start_second());
    await(2);
    count_both_ways();
    await(4);
    result_number("locked", "", locked.value);
    result_number("counted", "", counted.value);

    go_to(5);
    await(6);
    table[PAGE_VA / MEGABYTE] = OTHER_PAGE_AT | SECTION;
    arm_clean_data_line((uint32_t)&table[PAGE_VA / MEGABYTE]);
    arm_dsb();
    arm_cp15_write(0, c8, c3, 1, PAGE_VA);
    arm_dsb();
    go_to(7);
    await(8);

    GICD_SGIR = 2u << 16 | 5u;
    result_number("interrupt_of_first", "", take_interrupt());
    result_number("mpidr", "", mpidr);
    result_number("page_before", "", page_before);
    result_number("page_after", "", page_after);
    result_number("interrupt_of_second", "", interrupt_of_second);
    measure_lines();

    while (call(AFFINITY_INFO, 1, 0, 0) == 0) {
    }
    result_number("on_anew", "", start_second());
    while (call(AFFINITY_INFO, 1, 0, 0) == 0) {
    }
    result_number("starts", "", starts.value);
    return 0;
}
