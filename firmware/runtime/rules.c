#include "rules.h"

#include "console.h"

#define RUNS 3

uint32_t rule_words[RULES_WORDS] __attribute__((aligned(64)));

/* The last of some runs: caches are cold in the first, and a simulator may compile what ran before. */
static uint32_t cycles_of(uint32_t (*run)(void))
{
    uint32_t cycles = 0;

    for (int i = 0; i < RUNS; i++) {
        for (size_t word = 0; word < RULES_WORDS; word++) {
            rule_words[word] = (uint32_t)(uintptr_t)rule_words;
        }
        cycles = run();
    }
    return cycles;
}

void rules_run(const struct rule *rules, size_t count, uint32_t (*empty)(void), const char *core)
{
    uint32_t overhead = cycles_of(empty);

    for (size_t i = 0; i < count; i++) {
        uint32_t cycles = cycles_of(rules[i].run) - overhead;
        if (core != NULL) {
            console_print("{\"metric\":\"cycles\",\"core\":\"%s\",\"sequence\":\"%s\",\"unit\":\"cycles\","
                          "\"value\":%u}\n", core, rules[i].name, cycles);
        } else {
            console_print("{\"metric\":\"cycles\",\"sequence\":\"%s\",\"unit\":\"cycles\",\"value\":%u}\n",
                          rules[i].name, cycles);
        }
    }
}
