/* Short sequences of instructions, each a function between two reads of a cycle counter: runs them and prints what
 * each takes without what an empty one takes. */
#ifndef RULES_H
#define RULES_H

#include <stddef.h>
#include <stdint.h>

#define RULES_WORDS 16

struct rule {
    const char *name;
    uint32_t (*run)(void); /* returns its cycles */
};

/* Memory for the sequences: each word is the address of the first. */
extern uint32_t rule_words[RULES_WORDS];

/* Prints the cycles of each rule; `core` is printed with them, unless it is NULL. */
void rules_run(const struct rule *rules, size_t count, uint32_t (*empty)(void), const char *core);

#endif
