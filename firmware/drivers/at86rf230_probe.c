#include "at86rf230_internal.h"

#include "at86rf230_registers.h"
#include "console.h"
#include "delay.h"
#include "error.h"
#include "gpiolib.h"

#define STACK_BYTES 2048
/* Above the threads that send. */
#define WORK_PRIORITY 12u

THREAD_STACK(stack, STACK_BYTES);

static int identify(struct at86rf230 *chip)
{
    uint8_t manufacturer[2];

    int error = at86rf230_read_register(chip, MAN_ID_0, &manufacturer[0]);
    if (!error) {
        error = at86rf230_read_register(chip, MAN_ID_1, &manufacturer[1]);
    }
    if (!error) {
        error = at86rf230_read_register(chip, PART_NUM, &chip->part_number);
    }
    if (!error) {
        error = at86rf230_read_register(chip, VERSION_NUM, &chip->version_number);
    }
    if (error) {
        return error;
    }
    if (manufacturer[0] != MAN_ID_0_ATMEL || manufacturer[1] != MAN_ID_1_ATMEL ||
        chip->part_number != PART_NUM_WANTED) {
        console_print(AT86RF230_NAME
            ": no AT86RF23x answers: part number 0x%02x, version 0x%02x, manufacturer 0x%02x%02x\n",
            chip->part_number, chip->version_number, manufacturer[1], manufacturer[0]);
        return ERROR_NO_RADIO;
    }
    return 0;
}

/* From P_ON to TRX_OFF. */
static int leave_power_on(struct at86rf230 *chip)
{
    uint8_t status;

    int error = at86rf230_read_field(chip, TRX_STATUS_TRX_STATUS, &status);
    if (error || status != STATE_P_ON) {
        return error;
    }
    error = at86rf230_write_field(chip, TRX_STATE_TRX_CMD, STATE_TRX_OFF);
    if (error) {
        return error;
    }
    msleep(1);
    error = at86rf230_read_field(chip, TRX_STATUS_TRX_STATUS, &status);
    if (!error && status != STATE_TRX_OFF) {
        console_print(AT86RF230_NAME ": in state 0x%02x after power-on\n", status);
        error = ERROR_RADIO_STATE;
    }
    return error;
}

/* An interrupt at a frame's end, active high; no clock output. The AT86RF230's is always so, and its checksums are off
   after reset. */
static int set_up(struct at86rf230 *chip)
{
#if APP_TRANSCEIVER_AT86RF230
    int error = at86rf230_write_field(chip, PHY_TX_PWR_TX_AUTO_CRC_ON, 1);
#else
    int error = at86rf230_write_field(chip, TRX_CTRL_1_IRQ_POLARITY, 0);
#endif

    if (!error) {
        error = at86rf230_write_field(chip, IRQ_MASK_ALL, IRQ_TRX_END);
    }
    if (!error) {
        error = at86rf230_write_field(chip, TRX_CTRL_0_CLKM_SHA_SEL, 0);
    }
    if (!error) {
        error = at86rf230_write_field(chip, TRX_CTRL_0_CLKM_CTRL, 0);
    }
    if (!error) {
        error = at86rf230_write_field(chip, TRX_STATE_TRX_CMD, STATE_PLL_ON);
        msleep(1);
    }
    return error;
}

static int check_supplies(struct at86rf230 *chip)
{
    uint8_t digital, analog;

    int error = at86rf230_read_field(chip, VREG_CTRL_DVDD_OK, &digital);
    if (!error) {
        error = at86rf230_read_field(chip, VREG_CTRL_AVDD_OK, &analog);
    }
    if (!error && !(digital && analog)) {
        console_print(AT86RF230_NAME ": no %s supply\n", digital ? "analog" : "digital");
        error = ERROR_RADIO_SUPPLY;
    }
    return error;
}

static int bring_up(struct at86rf230 *chip)
{
    int error = identify(chip);

    if (!error) {
        error = leave_power_on(chip);
    }
    if (!error) {
        error = set_up(chip);
    }
    return error ? error : check_supplies(chip);
}

/* The pin that puts the transceiver asleep, or starts to send: low, and never anything else. */
static int take_slp_tr(const struct at86rf230_platform_data *board)
{
    if (board->slp_tr < 0) {
        return 0;
    }
    int error = gpiolib_request((unsigned)board->slp_tr, AT86RF230_NAME);
    return error ? error : gpiolib_direction_output((unsigned)board->slp_tr, 0);
}

static const struct at86rf230_platform_data *board_of(const struct at86rf230 *chip)
{
    return chip->spi->device.platform_data;
}

void at86rf230_reset(struct at86rf230 *chip)
{
    const struct at86rf230_platform_data *board = board_of(chip);

    board->reset(board->reset_data);
    msleep(1);
}

static int take_irq(struct at86rf230 *chip)
{
    uint32_t irq = (uint32_t)chip->spi->irq;
    uint8_t status;

    irq_set_trigger(irq, IRQ_LEVEL_HIGH);
    int error = request_irq(irq, at86rf230_irq, chip);
    return error ? error : at86rf230_read_register(chip, IRQ_STATUS, &status); /* releases the line */
}

int at86rf230_attach(struct at86rf230 *chip, struct spi_device *spi)
{
    const struct at86rf230_platform_data *board = spi->device.platform_data;

    if (!board || !board->reset || spi->irq <= 0) {
        return ERROR_INVALID;
    }
    chip->spi = spi;
    mutex_init(&chip->buffer_lock);
    spin_lock_init(&chip->lock);
    completion_init(&chip->tx_complete);
    work_init(&chip->irq_work, at86rf230_irq_work);
    workqueue_init(&chip->workqueue, AT86RF230_NAME, stack, sizeof stack, WORK_PRIORITY);
    return 0;
}

int at86rf230_probe(struct at86rf230 *chip)
{
    int error = take_slp_tr(board_of(chip));

    if (!error) {
        at86rf230_reset(chip);
        error = bring_up(chip);
    }
    if (!error) {
        error = take_irq(chip);
    }
    if (error) {
        console_print(AT86RF230_NAME ": %s\n", error_text(error));
    }
    return error;
}
