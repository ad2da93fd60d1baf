/* Linux in miniature, as a profile looks at it: tasks that are switched by __switch_to and begin in ret_from_fork, the
 * list of all of them, and a module that do_init_module starts. No structure has the layout of a real kernel. */
#include <stdint.h>

#include "result.h"

#define STACK_WORDS 256
#define NAME_BYTES 16

struct list {
    struct list *next, *back;
};

struct task {
    uint32_t state, flags;
    /* r4 to r11, sp, pc */
    uint32_t saved[10];
    uint32_t others[7];
    struct list tasks;
    uint32_t number, process;
    uint32_t more[21];
    char name[NAME_BYTES];
};

struct symbol {
    uint32_t name, address, bytes;
    uint8_t info, other;
    uint16_t section;
};

struct table {
    struct symbol *symbols;
    uint32_t count;
    const char *names;
};

struct module {
    uint32_t state;
    struct list list;
    char name[60];
    uint32_t others[9];
    struct table *table;
};

void __switch_to(struct task *from, struct task *info, struct task *to);
void ret_from_fork(void);
void do_init_module(struct module *module);

__asm__("    .arm\n"
        "    .global __switch_to\n"
        "    .type __switch_to, %function\n"
        "__switch_to:\n"
        "    add r12, r1, #8\n"
        "    stmia r12!, {r4-r11}\n"
        "    str sp, [r12], #4\n"
        "    str lr, [r12]\n"
        "    add r12, r2, #8\n"
        "    ldmia r12!, {r4-r11}\n"
        "    ldr sp, [r12], #4\n"
        "    ldr pc, [r12]\n"
        "    .size __switch_to, . - __switch_to\n"
        "    .global ret_from_fork\n"
        "    .type ret_from_fork, %function\n"
        "ret_from_fork:\n"
        "    blx r4\n"
        "    b .\n"
        "    .size ret_from_fork, . - ret_from_fork\n");

static struct task idle = {.name = "swapper/0"};
static struct task first, helper, other;
static uint32_t stacks[3][STACK_WORDS];

/* A loop of two instructions, and the return: its place has no symbol in this program. */
static uint32_t code[] = {0xe2500001, 0x1afffffd, 0xe12fff1e};
static struct symbol symbols[2];
static struct table table = {symbols, 2, "\0spin"};
static struct module module = {.name = "echo", .table = &table};

__attribute__((noinline, used)) static void work(uint32_t rounds)
{
    for (volatile uint32_t done = 0; done < rounds; done++)
        ;
}

__attribute__((noinline, used)) void do_init_module(struct module *loaded)
{
    ((void (*)(uint32_t))loaded->table->symbols[1].address)(1000);
}

static void rename_task(struct task *task, const char *name)
{
    uint32_t at = 0;

    for (; name[at] != 0; at++)
        task->name[at] = name[at];
    task->name[at] = 0;
}

static void begin(struct task *task, uint32_t number, void (*runs)(void))
{
    struct list *last = idle.tasks.back;

    task->number = number;
    task->process = number;
    rename_task(task, "swapper/0");
    task->saved[0] = (uint32_t)(uintptr_t)runs;
    task->saved[8] = (uint32_t)(uintptr_t)(stacks[number % 3] + STACK_WORDS);
    task->saved[9] = (uint32_t)(uintptr_t)ret_from_fork;
    task->tasks = (struct list){&idle.tasks, last};
    last->next = &task->tasks;
    idle.tasks.back = &task->tasks;
}

static void shell(void)
{
    work(100);
    __switch_to(&first, &first, &helper);
    rename_task(&first, "sh");
    work(2000);
    __switch_to(&first, &first, &other);
    for (;;)
        __switch_to(&first, &first, &idle);
}

static void helper_runs(void)
{
    rename_task(&helper, "kthreadd");
    work(500);
    do_init_module(&module);
    __switch_to(&helper, &helper, &idle);
}

/* It does not switch until it has ended; another task has its memory then. */
static void program(void)
{
    rename_task(&other, "dd");
    work(300);
    __switch_to(&other, &other, &first);
}

int main(void)
{
    symbols[1] = (struct symbol){1, (uint32_t)(uintptr_t)code, sizeof code, 2, 0, 1};
    idle.tasks = (struct list){&idle.tasks, &idle.tasks};
    begin(&first, 1, shell);
    begin(&helper, 2, helper_runs);
    begin(&other, 60, program);
    __switch_to(&idle, &idle, &first);
    work(50);
    __switch_to(&idle, &idle, &first);
    begin(&other, 61, program);
    __switch_to(&idle, &idle, &other);
    result_number("ended", "", 1);
    return 0;
}
