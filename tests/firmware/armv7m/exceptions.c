/* Exceptions of a Cortex-M4, of all kinds at once: a tick that computes with floating-point numbers and asks for
 * PendSV, interrupts that pend each other at three priorities, supervisor calls, and faults whose handler
 * skips the faulting instruction. The counts have to be right whatever the order. */
#include "armv7m.h"
#include "console.h"
#include "nvic.h"

#include <stdint.h>

#define TICK_CYCLES 700u
#define TICKS 400u
#define NVIC_ISPR0 NVIC_ISPR
#define SCB_ICSR 0xD04u
#define SCB_CCR 0xD14u
#define SCB_SHCSR 0xD24u
#define ICSR_PENDSVSET (1u << 28)
#define CCR_DIV_0_TRP (1u << 4)
#define SHCSR_USGFAULTENA (1u << 18)
#define CFSR_UNDEFINSTR (1u << 16)
#define CFSR_DIVBYZERO (1u << 25)

/* Entries of the vector table. */
void SysTick_Handler(void);
void PendSV_Handler(void);
void SVC_Handler(void);
void UsageFault_Handler(void);
uint32_t clear_cause(uint32_t *frame);
void Interrupt0_Handler(void);
void Interrupt1_Handler(void);
void Interrupt2_Handler(void);

static volatile uint32_t ticks, switches, calls, faults, interrupts[3], deepest, depth, cause;
static volatile float sums[2];

static void enter(void)
{
    depth++;
    if (depth > deepest) {
        deepest = depth;
    }
}

static void pend(uint32_t interrupt)
{
    mmio_write(ARMV7M_SCS_BASE, NVIC_ISPR0, 1u << interrupt);
}

void SysTick_Handler(void)
{
    enter();
    if (ticks < TICKS) {
        ticks++;
        sums[0] += 0.5f * (float)ticks;
        mmio_write(ARMV7M_SCS_BASE, SCB_ICSR, ICSR_PENDSVSET);
        pend(ticks % 3);
    }
    depth--;
}

void PendSV_Handler(void)
{
    enter();
    switches++;
    depth--;
}

void SVC_Handler(void)
{
    enter();
    calls++;
    depth--;
}

/* The most urgent one. */
void Interrupt0_Handler(void)
{
    enter();
    interrupts[0]++;
    depth--;
}

void Interrupt1_Handler(void)
{
    enter();
    interrupts[1]++;
    sums[1] = sums[1] * 0.5f + 1.0f;
    pend(0);
    depth--;
}

void Interrupt2_Handler(void)
{
    enter();
    interrupts[2]++;
    pend(1);
    __asm__ volatile("svc 3" : : : "memory");
    depth--;
}

uint32_t clear_cause(uint32_t *frame)
{
    uint32_t cfsr = mmio_read(ARMV7M_SCS_BASE, SCB_CFSR);

    mmio_write(ARMV7M_SCS_BASE, SCB_CFSR, cfsr);
    cause |= cfsr;
    faults++;
    /* Both instructions that fault here: udf of two bytes, udiv of four. */
    frame[6] += cfsr & CFSR_UNDEFINSTR ? 2 : 4;
    return 0;
}

__attribute__((naked)) void UsageFault_Handler(void)
{
    __asm__ volatile("mov r0, sp\n"
                     "push {r4, lr}\n"
                     "bl clear_cause\n"
                     "pop {r4, pc}\n");
}

static float polynomial(float x)
{
    float y = 0.0f;

    for (int i = 0; i < 8; i++) {
        y = y * x + 1.0f;
    }
    return y;
}

int main(void)
{
    uint32_t wrong = 0, rounds = 0;

    mmio_write(ARMV7M_SCS_BASE, SCB_SHCSR, SHCSR_USGFAULTENA);
    mmio_write(ARMV7M_SCS_BASE, SCB_CCR, mmio_read(ARMV7M_SCS_BASE, SCB_CCR) | CCR_DIV_0_TRP);
    /* PendSV, SysTick. */
    mmio_write(ARMV7M_SCS_BASE, SCB_SHPR3, 0xC0F00000u);
    nvic_enable(0, 2);
    nvic_enable(1, 4);
    nvic_enable(2, 6);
    mmio_write(ARMV7M_SCS_BASE, SYST_RVR, TICK_CYCLES - 1);
    mmio_write(ARMV7M_SCS_BASE, SYST_CVR, 0);
    mmio_write(ARMV7M_SCS_BASE, SYST_CSR, SYST_CSR_CLKSOURCE | SYST_CSR_TICKINT | SYST_CSR_ENABLE);
    while (ticks < TICKS) {
        /* 1 + 2 + 4 + ... + 128, if handlers leave the registers as they were. */
        wrong += polynomial(2.0f) != 255.0f;
        rounds++;
        __asm__ volatile("svc 1" : : : "memory");
        if (rounds % 16 == 0) {
            uint32_t quotient = 7, zero = 0;
            __asm__ volatile("udf #1" : : : "memory");
            __asm__ volatile("udiv %0, %0, %1" : "+r"(quotient) : "r"(zero) : "memory");
            wrong += quotient != 7;
            armv7m_wait_for_interrupt();
        }
    }
    mmio_write(ARMV7M_SCS_BASE, SYST_CSR, 0);
    console_print("ticks %u switches %u, ", ticks, switches);
    console_print("interrupts %u %u %u, ", interrupts[0], interrupts[1], interrupts[2]);
    console_print("calls %u, faults %u, ", calls - rounds, faults - rounds / 16 * 2);
    console_print("sums %u %u, ", (uint32_t)sums[0], (uint32_t)(sums[1] * 1000.0f));
    console_print("wrong %u, depth %u, cause 0x%08x\n", wrong, deepest, cause);
    return 0;
}
