/* How many cycles short sequences of instructions take on a Cortex-M4 whose memory has no wait states: each is between
 * two reads of the cycle counter (DWT_CYCCNT). The time of an empty sequence is subtracted. */
#include "console.h"
#include "exit.h"
#include "mmio.h"

#include <stddef.h>
#include <stdint.h>

#define WORDS 8
#define RUNS 3
#define SCB_CPACR 0xE000ED88u
#define CPACR_FPU (0xFu << 20)

uint32_t rule_words[2 * WORDS] __attribute__((aligned(16)));

#define RULE(name, set_up, sequence, copies)                                                                          \
    uint32_t rule_##name(void);                                                                                       \
    __asm__(".pushsection .text.rule_" #name ", \"ax\", %progbits\n"                                                  \
            ".balign 8\n.global rule_" #name "\n.type rule_" #name ", %function\n.thumb_func\nrule_" #name ":\n"      \
            "push {r3-r11, lr}\nldr r7, =0xE0001004\nldr r0, =rule_words\n" set_up "\n"                               \
            ".balign 8\nnop.w\nldr r5, [r7]\nnop\n"                                                                   \
            ".rept " #copies "\n" sequence "\n.endr\n"                                                                \
            "nop\nldr r6, [r7]\nsubs r0, r6, r5\npop {r3-r11, pc}\n.ltorg\n.popsection");
RULE(empty, "", "", 1)
#include "rules.def"
#undef RULE

static const struct rule {
    const char *name;
    uint32_t (*run)(void);
} rules[] = {
#define RULE(name, set_up, sequence, copies) {#name, rule_##name},
#include "rules.def"
#undef RULE
};

/* The last of some runs: a simulator may compile what ran before. All should take the same. */
static uint32_t cycles_of(uint32_t (*run)(void))
{
    uint32_t cycles = 0;

    for (int i = 0; i < RUNS; i++) {
        for (size_t word = 0; word < 2 * WORDS; word++) {
            rule_words[word] = (uint32_t)(uintptr_t)rule_words;
        }
        cycles = run();
    }
    return cycles;
}

int main(void)
{
    mmio_write(SCB_CPACR, 0, mmio_read(SCB_CPACR, 0) | CPACR_FPU);
    __asm__ volatile("dsb\nisb" ::: "memory");
    uint32_t overhead = cycles_of(rule_empty);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        uint32_t cycles = cycles_of(rules[i].run) - overhead;
        console_print("{\"metric\":\"cycles\",\"sequence\":\"%s\",\"unit\":\"cycles\",\"value\":%u}\n", rules[i].name,
                      cycles);
    }
    return EXIT_OK;
}
