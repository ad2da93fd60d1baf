/* How many cycles short sequences of instructions take on a Cortex-M4 whose memory has no wait states: each is between
 * two reads of the cycle counter (DWT_CYCCNT). The time of an empty sequence is subtracted. */
#include "exit.h"
#include "mmio.h"
#include "rules.h"

#define SCB_CPACR 0xE000ED88u
#define CPACR_FPU (0xFu << 20)

#define RULE(name, set_up, sequence, copies)                                                                          \
    uint32_t rule_##name(void);                                                                                       \
    __asm__(".pushsection .text.rule_" #name ", \"ax\", %progbits\n"                                                  \
            ".balign 8\n.global rule_" #name "\n.type rule_" #name ", %function\n.thumb_func\nrule_" #name ":\n"      \
            "push {r3-r11, lr}\nldr r7, =0xE0001004\nldr r0, =rule_words\n" set_up "\n"                               \
            ".balign 8\nnop.w\nldr r5, [r7]\nmov r12, r12\n"                                                          \
            ".rept " #copies "\n" sequence "\n.endr\n"                                                                \
            "mov r12, r12\nldr r6, [r7]\nsubs r0, r6, r5\npop {r3-r11, pc}\n.ltorg\n.popsection");
RULE(empty, "", "", 1)
#include "rules.def"
#undef RULE

static const struct rule rules[] = {
#define RULE(name, set_up, sequence, copies) {#name, rule_##name},
#include "rules.def"
#undef RULE
};

int main(void)
{
    mmio_write(SCB_CPACR, 0, mmio_read(SCB_CPACR, 0) | CPACR_FPU);
    __asm__ volatile("dsb\nisb" ::: "memory");
    rules_run(rules, sizeof rules / sizeof rules[0], rule_empty, NULL);
    return EXIT_OK;
}
