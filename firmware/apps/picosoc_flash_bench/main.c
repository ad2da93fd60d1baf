/* How fast code runs from SPI flash in place, by the way in which the flash is read: the default, and dual, quad and
 * quad DDR, with and without continuous read, with 8 to 1 dummy clocks. */
#include "board.h"
#include "console.h"
#include "exit.h"
#include "picosoc_spimemio.h"
#include "section.h"
#include "work.h"

#define DUMMY_MAX 8u

struct named_mode {
    char name[13];
    struct picosoc_spimemio_mode mode;
};

static const struct named_mode single = {"single", {0, 0, 0}};
static const struct named_mode modes[] = {
    {"dual", {PICOSOC_SPIMEMIO_DDR, 0, 0}},
    {"dual-crm", {PICOSOC_SPIMEMIO_DDR | PICOSOC_SPIMEMIO_CRM, 16, 0x3}},
    {"quad", {PICOSOC_SPIMEMIO_QSPI, 0, 0}},
    {"quad-crm", {PICOSOC_SPIMEMIO_QSPI | PICOSOC_SPIMEMIO_CRM, 8, 0xF}},
    {"quad-ddr", {PICOSOC_SPIMEMIO_QSPI | PICOSOC_SPIMEMIO_DDR, 0, 0}},
    {"quad-ddr-crm", {PICOSOC_SPIMEMIO_QSPI | PICOSOC_SPIMEMIO_DDR | PICOSOC_SPIMEMIO_CRM, 4, 0xF}},
};

struct measurement {
    uint32_t cycles;
    uint32_t instructions;
    uint32_t checksum;
};

static inline uint32_t cycles_now(void)
{
    uint32_t cycles;
    __asm__ volatile("rdcycle %0" : "=r"(cycles) : : "memory");
    return cycles;
}

static inline uint32_t instructions_now(void)
{
    uint32_t instructions;
    __asm__ volatile("rdinstret %0" : "=r"(instructions) : : "memory");
    return instructions;
}

/* One copy of it: the same instructions each time. */
static SECTION struct measurement measure(void)
{
    uint32_t cycles = cycles_now(), instructions = instructions_now();
    uint32_t checksum = work();

    instructions = instructions_now() - instructions;
    return (struct measurement){cycles_now() - cycles, instructions, checksum};
}

static void print_result(const char *metric, const char *mode, uint32_t dummy, uint32_t value)
{
    console_print("{\"metric\":\"%s\",\"flash_mode\":\"%s\",", metric, mode);
    if (dummy) {
        console_print("\"dummy\":%u,", dummy);
    }
    console_print("\"unit\":\"%s\",\"value\":%u}\n", metric, value);
}

int main(void)
{
    struct measurement first = measure();
    const struct named_mode *now = &single;
    uint32_t now_dummy = PICOSOC_SPIMEMIO_DUMMY_RESET;

    console_print("checksum 0x%08x\n", first.checksum);
    print_result("instructions", single.name, 0, first.instructions);
    print_result("cycles", single.name, 0, first.cycles);
    for (const struct named_mode *next = modes; next < modes + sizeof modes / sizeof modes[0]; next++) {
        for (uint32_t dummy = DUMMY_MAX; dummy; dummy--) {
            picosoc_spimemio_set(&now->mode, now_dummy, &next->mode, dummy);
            now = next;
            now_dummy = dummy;
            struct measurement found = measure();
            if (found.checksum != first.checksum || found.instructions != first.instructions) {
                console_print("%s, %u dummy clocks: checksum 0x%08x\n", next->name, dummy, found.checksum);
                return EXIT_FAILED;
            }
            print_result("cycles", next->name, dummy, found.cycles);
        }
    }
    return EXIT_OK;
}
