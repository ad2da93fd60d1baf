/* SPI over the ATBEN's pins, constants here, in straight code: mode 0, a message at once in the caller's thread; power.
   Structure: the driver of that name that a report measured (published/atben_spi_drivers.toml). */
#include "spi_atben.h"

#include "at86rf230.h"
#include "atben.h"
#include "delay.h"
#include "spi_jz4740_bits.h"

#define DISCHARGE_MS 100u
#define CHARGE_MS 10u
#define SETTLE_MS 10u

enum pin_bits {
    VDD_OFF = ATBEN_BIT(ATBEN_VDD_OFF),
    MOSI = ATBEN_BIT(ATBEN_MOSI),
    SLP_TR = ATBEN_BIT(ATBEN_SLP_TR),
    MISO = ATBEN_BIT(ATBEN_MISO),
    SCLK = ATBEN_BIT(ATBEN_SCLK),
    IRQ = ATBEN_BIT(ATBEN_IRQ),
    NSEL = ATBEN_BIT(ATBEN_NSEL),
};

struct spi_atben {
    struct spi_master master;
    uintptr_t base; /* of port D */
};

static struct spi_atben bus;

/* The base is the only value that the compiler does not know. */
static inline struct spi_lines lines_of(const struct spi_atben *self)
{
    return (struct spi_lines){.base = &self->base, .mosi = MOSI, .miso = MISO, .sck = SCLK};
}

/* The card slot's lines feed the transceiver through its pins' protection: without power they must be low, too. */
static void reset(void *reset_data)
{
    struct spi_lines lines = lines_of(reset_data);
    const uint32_t outputs = MOSI | SLP_TR | SCLK | NSEL;

    spi_raise(lines, VDD_OFF);
    spi_lower(lines, outputs | IRQ | MISO);
    mmio_write(*lines.base, GPIO_DIRS, VDD_OFF | outputs | IRQ | MISO);
    msleep(DISCHARGE_MS);

    /* Capacitors are charged through the lines before the power switch closes. */
    mmio_write(*lines.base, GPIO_DIRC, IRQ | MISO);
    spi_raise(lines, outputs);
    msleep(CHARGE_MS);

    spi_lower(lines, VDD_OFF | SLP_TR | SCLK);
    msleep(SETTLE_MS);
}

static int transfer_message(struct spi_device *spi, struct spi_message *message)
{
    struct spi_lines lines = lines_of(spi_master_data(spi->master));

    message->actual_length = 0;
    spi_lower(lines, NSEL);
    spi_transfer_bytes(&lines, message);
    spi_raise(lines, NSEL);

    message->status = 0;
    message->complete(message->context);
    return 0;
}

static const struct at86rf230_platform_data board = {.slp_tr = -1, .reset = reset, .reset_data = &bus};

static struct spi_device transceiver = {
    .device = {.name = "at86rf230", .platform_data = &board},
    .max_speed_hz = ATBEN_SPI_HZ,
    .chip_select_gpio = -1,
};

int spi_atben_probe(uint16_t mode, struct spi_device **device)
{
    bus.base = gpio_base(ATBEN_PORT);
    mmio_write(bus.base, GPIO_FUNC, MOSI | SLP_TR | MISO | SCLK | IRQ | NSEL);

    spi_master_init(&bus.master, "spi_atben", &bus);
    bus.master.chip_selects = 1;
    bus.master.transfer = transfer_message;
    int error = spi_master_register(&bus.master);
    if (error) {
        return error;
    }
    transceiver.master = &bus.master;
    transceiver.mode = mode;
    transceiver.irq = (int)irq_of_pin(ATBEN_PORT / 32u, ATBEN_IRQ - ATBEN_PORT);
    *device = &transceiver;
    return spi_device_add(&transceiver);
}
