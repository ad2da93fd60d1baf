/* How many cycles short sequences of A32 instructions take on a Cortex-A5 or A7 with all of them in its first-level
 * caches: each is between two reads of the cycle counter (PMCCNTR). The time of an empty sequence is subtracted. */
#include "arm.h"
#include "exit.h"
#include "rules.h"

#define PMCR_ENABLE 1u
#define PMCR_RESET_CYCLES (1u << 2)
#define PMCNTENSET_CYCLES (1u << 31)
#define MIDR_PART(midr) ((midr) >> 4 & 0xFFFu)

#define RULE(name, set_up, sequence, copies)                                                                          \
    uint32_t rule_##name(void);                                                                                       \
    __asm__(".pushsection .text.rule_" #name ", \"ax\", %progbits\n"                                                  \
            ".balign 64\n.global rule_" #name "\n.type rule_" #name ", %function\n.arm\nrule_" #name ":\n"            \
            "push {r4-r11, lr}\nldr r0, =rule_words\nmov r1, #1\nmov r2, #2\nmov r3, #3\nmov r4, #4\n" set_up "\n"    \
            "isb\nmrc p15, 0, r5, c9, c13, 0\n"                                                                       \
            ".rept " #copies "\n" sequence "\n.endr\n"                                                                \
            "mrc p15, 0, r6, c9, c13, 0\nsub r0, r6, r5\npop {r4-r11, pc}\n.ltorg\n.popsection");
RULE(empty, "", "", 1)
#include "rules.def"
#undef RULE

static const struct rule rules[] = {
#define RULE(name, set_up, sequence, copies) {#name, rule_##name},
#include "rules.def"
#undef RULE
};

static const char *core_name(void)
{
    switch (MIDR_PART(arm_cp15_read(0, c0, c0, 0))) {
    case 0xC05:
        return "cortex-a5";
    case 0xC07:
        return "cortex-a7";
    default:
        return "other";
    }
}

int main(void)
{
    arm_cp15_write(0, c9, c12, 0, PMCR_ENABLE | PMCR_RESET_CYCLES);
    arm_cp15_write(0, c9, c12, 1, PMCNTENSET_CYCLES);
    rules_run(rules, sizeof rules / sizeof rules[0], rule_empty, core_name());
    return EXIT_OK;
}
