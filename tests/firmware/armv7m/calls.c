/* Calls of all kinds on a Cortex-M4, as a script says: functions that call, recur, jump to each other at their ends and
 * across their callers (setjmp, longjmp), in two tasks with stacks of their own between which PendSV switches, with
 * ticks and interrupts of several priorities that pend each other. */
#include "armv7m.h"
#include "console.h"
#include "exit.h"
#include "nvic.h"

#include <stdint.h>

#define SCB_ICSR 0xD04u
#define ICSR_PENDSVSET (1u << 28)
#define SCRIPT_BYTES 512u
#define STACK_WORDS 512u
#define TASKS 2u
#define FRAME_WORDS 8u
#define KEPT_WORDS 8u
#define XPSR_T (1u << 24)

/* The bytes of a script: a byte below WORK ends the function that reads it. */
enum act { WORK = 16, CALL = 32, TAIL = 48, RECUR = 64, PEND = 80, TRY = 96, SWITCH = 112, THROW = 128 };
#define NUMBER 15u

/* Entries of the vector table, and what they call. */
void SysTick_Handler(void);
void PendSV_Handler(void);
void SVC_Handler(void);
void Interrupt0_Handler(void);
void Interrupt1_Handler(void);
void helper(void);
void step0(void), step1(void), step2(void), step3(void);
void thrower(uint32_t depth);
uint32_t recurs(uint32_t depth);
uint32_t *next_stack(uint32_t *stack);
int set_jump(uint32_t *buffer) __attribute__((returns_twice));
_Noreturn void long_jump(uint32_t *buffer);

/* The test writes the scripts of both tasks here, a half each, and the ticks' period. */
__attribute__((used)) volatile uint8_t script[SCRIPT_BYTES] = "the script of calls begins";
__attribute__((used)) volatile uint32_t period[4] = {0x70657269u, 0x6f64206fu, 0x66207469u, 0x636b730au};

static uint32_t stacks[TASKS][STACK_WORDS] __attribute__((aligned(8)));
static uint32_t *stack_of[TASKS];
static uint32_t buffers[TASKS][10];
static volatile uint32_t task, places[TASKS], done, ticks, switches, interrupts[2], helped, sum;

static uint32_t next(void)
{
    uint32_t place = places[task];

    if (place < SCRIPT_BYTES / TASKS) {
        places[task] = place + 1;
        return script[task * (SCRIPT_BYTES / TASKS) + place];
    }
    return 0;
}

__attribute__((noinline)) void helper(void)
{
    helped++;
}

void SysTick_Handler(void)
{
    ticks++;
    if (ticks % 3 == 0) {
        mmio_write(ARMV7M_SCS_BASE, SCB_ICSR, ICSR_PENDSVSET);
    }
    mmio_write(ARMV7M_SCS_BASE, NVIC_ISPR, 1u << (ticks % 2));
    helper();
}

/* The most urgent one. */
void Interrupt0_Handler(void)
{
    interrupts[0]++;
}

/* It ends in a jump to another function. */
void Interrupt1_Handler(void)
{
    interrupts[1]++;
    mmio_write(ARMV7M_SCS_BASE, NVIC_ISPR, 1u << 0);
    helper();
}

uint32_t *next_stack(uint32_t *stack)
{
    stack_of[task] = stack;
    task ^= 1u;
    switches++;
    return stack_of[task];
}

__attribute__((naked)) void PendSV_Handler(void)
{
    __asm__ volatile("mrs r0, psp\n"
                     "stmdb r0!, {r4-r11}\n"
                     "push {r3, lr}\n"
                     "bl next_stack\n"
                     "pop {r3, lr}\n"
                     "ldmia r0!, {r4-r11}\n"
                     "msr psp, r0\n"
                     "bx lr\n");
}

/* The first task begins. */
__attribute__((naked)) void SVC_Handler(void)
{
    __asm__ volatile("ldmia r0!, {r4-r11}\n"
                     "msr psp, r0\n"
                     "mvn lr, #2\n"
                     "bx lr\n");
}

/* Registers that a call keeps, the stack pointer and where it returns to: of whoever calls set_jump. */
__asm__(".pushsection .text.set_jump, \"ax\", %progbits\n"
        ".syntax unified\n"
        ".thumb\n"
        ".globl set_jump\n"
        ".type set_jump, %function\n"
        ".thumb_func\n"
        "set_jump:\n"
        "    mov r12, sp\n"
        "    stmia r0, {r4-r12, lr}\n"
        "    movs r0, #0\n"
        "    bx lr\n"
        ".size set_jump, . - set_jump\n"
        ".globl long_jump\n"
        ".type long_jump, %function\n"
        ".thumb_func\n"
        "long_jump:\n"
        "    ldmia r0, {r4-r12, lr}\n"
        "    mov sp, r12\n"
        "    movs r0, #1\n"
        "    bx lr\n"
        ".size long_jump, . - long_jump\n"
        ".popsection\n");

__attribute__((noinline)) uint32_t recurs(uint32_t depth)
{
    uint32_t below = depth == 0 ? 1 : recurs(depth - 1);

    sum += below;
    return below + 1;
}

__attribute__((noinline)) void thrower(uint32_t depth)
{
    if (depth == 0) {
        long_jump(buffers[task]);
    }
    thrower(depth - 1);
    sum++;
}

/* Its body is the same in all of them, which call and jump to each other. */
static inline __attribute__((always_inline)) uint32_t run(uint32_t act)
{
    switch (act & ~NUMBER) {
    case WORK:
        for (uint32_t times = act & NUMBER; times > 0; times--) {
            sum += times;
        }
        break;
    case RECUR:
        recurs(act & NUMBER);
        break;
    case PEND:
        mmio_write(ARMV7M_SCS_BASE, NVIC_ISPR, 1u << (act & 1u));
        break;
    case SWITCH:
        mmio_write(ARMV7M_SCS_BASE, SCB_ICSR, ICSR_PENDSVSET);
        break;
    case THROW:
        thrower(act & NUMBER);
        break;
    default:
        break;
    }
    return 1;
}

#define STEP(name)                                                                                                     \
    __attribute__((noinline)) void name(void)                                                                          \
    {                                                                                                                  \
        for (uint32_t act = next(); act >= WORK; act = next()) {                                                       \
            uint32_t callee = act & 3u;                                                                                \
            if ((act & ~NUMBER) == TRY && set_jump(buffers[task]) != 0) {                                              \
                continue;                                                                                              \
            }                                                                                                          \
            if ((act & ~NUMBER) == TAIL) {                                                                             \
                switch (callee) {                                                                                      \
                case 0: __attribute__((musttail)) return step0();                                                      \
                case 1: __attribute__((musttail)) return step1();                                                      \
                case 2: __attribute__((musttail)) return step2();                                                      \
                default: __attribute__((musttail)) return step3();                                                     \
                }                                                                                                      \
            }                                                                                                          \
            if ((act & ~NUMBER) == CALL || (act & ~NUMBER) == TRY) {                                                   \
                void (*const steps[])(void) = {step0, step1, step2, step3};                                            \
                steps[callee]();                                                                                       \
            } else {                                                                                                   \
                run(act);                                                                                              \
            }                                                                                                          \
        }                                                                                                              \
    }

STEP(step0)
STEP(step1)
STEP(step2)
STEP(step3)

/* Both tasks. The last one that comes to its end says what was counted. */
static _Noreturn void run_task(void)
{
    step0();
    done++;
    while (done < TASKS) {
        mmio_write(ARMV7M_SCS_BASE, SCB_ICSR, ICSR_PENDSVSET);
    }
    armv7m_disable_interrupts();
    console_print("%u ticks, %u switches, %u and %u interrupts, helped %u\n", ticks, switches, interrupts[0],
                  interrupts[1], helped);
    program_exit(EXIT_OK);
}

int main(void)
{
    for (uint32_t number = 0; number < TASKS; number++) {
        uint32_t *frame = &stacks[number][STACK_WORDS - FRAME_WORDS];

        frame[6] = (uint32_t)run_task & ~1u;
        frame[7] = XPSR_T;
        stack_of[number] = frame - KEPT_WORDS;
    }
    /* PendSV is the least urgent one, then the ticks. */
    mmio_write(ARMV7M_SCS_BASE, SCB_SHPR3, 0xC0F00000u);
    nvic_enable(0, 2);
    nvic_enable(1, 4);
    mmio_write(ARMV7M_SCS_BASE, SYST_RVR, period[0] - 1);
    mmio_write(ARMV7M_SCS_BASE, SYST_CVR, 0);
    mmio_write(ARMV7M_SCS_BASE, SYST_CSR, SYST_CSR_CLKSOURCE | SYST_CSR_TICKINT | SYST_CSR_ENABLE);
    register uint32_t *first __asm__("r0") = stack_of[0];
    __asm__ volatile("svc 0" : : "r"(first) : "memory");
    return EXIT_FAILED;
}
