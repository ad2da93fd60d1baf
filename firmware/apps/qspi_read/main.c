/* How fast the flash is read: by each way of the controller, at each width, with and without continuous read and
 * scrambling, and with SPCK changed between measurements as Atmel's application note 44043 does it (3.3). Each reads
 * what no other has read: no cache has it. */
#include "atmel_qspi.h"
#include "atmel_qspi_widths.h"
#include "atmel_tc.h"
#include "atmel_xdmac.h"
#include "board.h"
#include "console.h"
#include "contents.h"
#include "exit.h"
#include "paths.h"

#define TIMER 0u
#define USUAL_DIVIDER 3u
#define WORDS (APP_BYTES / sizeof(uint32_t))
#define PLACES 28u
#define SCRAMBLED_PLACE PLACES
/* Where nothing is measured. */
#define ONE_WORD 0x00123450u

#if APP_CACHE_ON
#define CACHED true
#else
#define CACHED false
#endif

#if APP_READINGS_ONE_WORD
#define ONLY_ONE_WORD true
#else
#define ONLY_ONE_WORD false
#endif

struct path {
    const char *name;
    bool (*read)(enum qspi_width width, uint32_t address, uint32_t *to, uint32_t bytes);
    bool by_dma;
    bool in_window;
    bool has_widths;
};

struct reading {
    const struct path *path;
    enum qspi_width width;
    bool continuous;
    bool scrambled;
    uint32_t divider;
    uint32_t address;
};

static const struct path paths[] = {
    {"spi", path_spi, false, false, false},
    {"spi-dma", path_spi_dma, true, false, false},
    {"registers", path_registers, false, false, true},
    {"registers-dma", path_registers_dma, true, false, true},
    {"window", path_window, false, true, true},
    {"window-dma", path_window_dma, true, true, true},
};
#define PATHS (sizeof paths / sizeof paths[0])
#define WINDOW_PATH 4u

static const char *const width_names[QSPI_WIDTHS] = {
    "single-bit-spi", "dual-output", "quad-output", "dual-io", "quad-io", "dual-cmd", "quad-cmd",
};

/* The note's clock among those from MCK / 2 to MCK / 8. */
static const uint32_t dividers[] = {2, USUAL_DIVIDER, 4, 5, 6, 8};

static uint32_t buffer[WORDS];
static uint32_t next_place;

static const char *on_off(bool on)
{
    return on ? "on" : "off";
}

static void report(const struct reading *reading, uint32_t ticks)
{
    uint64_t rate = (uint64_t)APP_BYTES * BOARD_CORE_HZ / TC_CORE_CYCLES(ticks);

    console_print(
        "{\"metric\":\"throughput\",\"path\":\"%s\",\"width\":\"%s\",\"continuous_read\":\"%s\",\"scrambling\":\"%s\","
        "\"spck_divider\":%u,\"unit\":\"B/s\",\"value\":%llu}\n",
        reading->path->name, width_names[reading->width], on_off(reading->continuous), on_off(reading->scrambled),
        reading->divider, (unsigned long long)rate);
}

/* In the flash's own terms: SPCK is set at run time, the window opened and closed again. */
static bool read_once(const struct reading *reading, uint32_t *ticks)
{
    qspi_set_baudrate((BOARD_MCK_HZ + reading->divider - 1u) / reading->divider);
    qspi_map_width(reading->width, reading->continuous);
    tc_start(TIMER);
    bool done = reading->path->read(reading->width, reading->address, buffer, APP_BYTES);
    *ticks = tc_ticks(TIMER);
    qspi_unmap_width(reading->width, reading->continuous);
    return done;
}

static bool measure(const struct reading *reading)
{
    uint32_t ticks;

    for (uint32_t i = 0; i < WORDS; i++) {
        buffer[i] = 0;
    }
    if (!read_once(reading, &ticks) || !contents_are_there(buffer, reading->address, APP_BYTES)) {
        console_print(
            "%s, %s: what was read is not what was written\n", reading->path->name, width_names[reading->width]);
        return false;
    }
    report(reading, ticks);
    return true;
}

/* A place that was not read by then; without caches any would do. */
static uint32_t fresh_address(const struct path *path)
{
    uint32_t place = path->in_window && CACHED ? next_place++ : 0;

    return place * APP_BYTES;
}

static bool measure_plain(const struct path *path, enum qspi_width width, bool continuous, uint32_t divider)
{
    return measure(&(struct reading){path, width, continuous, false, divider, fresh_address(path)});
}

static bool measure_widths(const struct path *path)
{
    bool done = true;

    for (uint32_t width = 0; done && width < QSPI_WIDTHS; width++) {
        done = measure_plain(path, (enum qspi_width)width, false, USUAL_DIVIDER);
        if (path->in_window) {
            done = done && measure_plain(path, (enum qspi_width)width, true, USUAL_DIVIDER);
        }
    }
    return done;
}

/* At the usual clock the width's own measurement has been made. */
static bool measure_clocks(const struct path *path)
{
    enum qspi_width width = path->has_widths ? QSPI_QUAD_IO : QSPI_SINGLE_BIT_SPI;
    bool done = true;

    for (uint32_t i = 0; done && i < sizeof dividers / sizeof dividers[0]; i++) {
        if (dividers[i] != USUAL_DIVIDER || !path->has_widths) {
            done = measure_plain(path, width, path->in_window, dividers[i]);
        }
    }
    return done;
}

/* Scrambled as it was written; and the same place is something else without. */
static bool measure_scrambled(void)
{
    const uint32_t address = SCRAMBLED_PLACE * APP_BYTES;
    bool done = true;

    contents_scramble(true);
    done = contents_program_scrambled(address, APP_BYTES);
    for (uint32_t i = 0; done && i < PATHS; i++) {
        if (paths[i].in_window) {
            done = measure(&(struct reading){&paths[i], QSPI_QUAD_IO, true, true, USUAL_DIVIDER, address});
        }
    }
    contents_scramble(false);
    uint32_t ticks;
    const struct reading plain = {&paths[WINDOW_PATH], QSPI_QUAD_IO, true, false, USUAL_DIVIDER, address};
    if (done && (!read_once(&plain, &ticks) || contents_are_there(buffer, address, APP_BYTES))) {
        console_print("what was written scrambled can be read as it is\n");
        return false;
    }
    return done;
}

/* The first of continuous quad reads has an instruction, the next would have none. */
static bool read_one_word(void)
{
    const uint32_t address = ONE_WORD;
    const volatile uint32_t *word = (const volatile uint32_t *)(BOARD_QSPI_MEMORY_BASE + address);

    qspi_map_width(QSPI_QUAD_IO, true);
    bool right = *word == contents_word(address);
    qspi_unmap_width(QSPI_QUAD_IO, true);
    return right;
}

static bool measure_all(void)
{
    bool done = contents_program(0, (CACHED ? PLACES : 1u) * APP_BYTES);

    for (uint32_t i = 0; done && i < PATHS; i++) {
        if (!CACHED || !paths[i].by_dma) {
            done = (!paths[i].has_widths || measure_widths(&paths[i])) && measure_clocks(&paths[i]);
        }
    }
    return done && (CACHED || measure_scrambled());
}

int main(void)
{
    tc_configure(TIMER);
    xdmac_start();
    bool done = contents_program(ONE_WORD & ~0xFFu, 0x100u) && read_one_word() && (ONLY_ONE_WORD || measure_all());
    return done ? EXIT_OK : EXIT_FAILED;
}
