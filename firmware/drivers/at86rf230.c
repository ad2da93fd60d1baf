#include "at86rf230.h"

#include "at86rf230_internal.h"
#include "at86rf230_registers.h"
#include "console.h"
#include "delay.h"
#include "error.h"
#include "irq.h"

#define CHANNEL_FIRST 11
#define CHANNEL_LAST 26

/* A change of state takes at most 1 ms (data sheet, State Transition Timing), a read of the state several
 * microseconds. */
#define STATE_READS_MAX 1000
/* The longest frame takes 4.3 ms. */
#define TX_LIMIT_US 100000u

static void tell(struct at86rf230 *chip, enum at86rf230_event event)
{
    if (chip->watch) {
        chip->watch(chip, event);
    }
}

static int read_status(struct at86rf230 *chip, uint8_t *status)
{
    for (int tries = STATE_READS_MAX; tries; tries--) {
        int error = at86rf230_read_field(chip, TRX_STATUS_TRX_STATUS, status);
        if (error || *status != STATE_TRANSITION_IN_PROGRESS) {
            return error;
        }
    }
    return ERROR_RADIO_STATE;
}

static int change_state(struct at86rf230 *chip, uint8_t command)
{
    uint8_t wanted = command == STATE_FORCE_PLL_ON ? STATE_PLL_ON
        : command == STATE_FORCE_TRX_OFF           ? STATE_TRX_OFF
                                                   : command;
    uint8_t status;

    int error = read_status(chip, &status);
    if (error || status == wanted) {
        return error;
    }
    error = at86rf230_write_field(chip, TRX_STATE_TRX_CMD, command);
    if (!error) {
        error = read_status(chip, &status);
    }
    /* A frame may have begun to come in already. */
    if (!error && status != wanted && !(wanted == STATE_LISTENS && status == STATE_BUSY_LISTENS)) {
        console_print(AT86RF230_NAME ": in state 0x%02x after command 0x%02x\n", status, command);
        error = ERROR_RADIO_STATE;
    }
    return error;
}

int at86rf230_start(struct at86rf230 *chip)
{
#if APP_TRANSCEIVER_AT86RF230
    int error = 0; /* it cannot protect its buffer */
#else
    int error = at86rf230_write_field(chip, TRX_CTRL_2_RX_SAFE_MODE, 1);
#endif

    return error ? error : change_state(chip, STATE_LISTENS);
}

int at86rf230_stop(struct at86rf230 *chip)
{
    return change_state(chip, STATE_FORCE_TRX_OFF);
}

int at86rf230_channel(struct at86rf230 *chip, uint8_t channel)
{
    if (channel < CHANNEL_FIRST || channel > CHANNEL_LAST) {
        return ERROR_INVALID;
    }
    int error = at86rf230_write_field(chip, PHY_CC_CCA_CHANNEL, channel);
    msleep(1); /* until the PLL has it */
    return error;
}

static void set_tx(struct at86rf230 *chip, bool is_tx)
{
    uint32_t before = spin_lock_irqsave(&chip->lock);
    chip->is_tx = is_tx;
    if (is_tx) {
        completion_init(&chip->tx_complete);
    }
    spin_unlock_irqrestore(&chip->lock, before);
}

static int send_frame(struct at86rf230 *chip, const uint8_t *frame, uint8_t bytes)
{
    int error = at86rf230_write_buffer(chip, (uint8_t)(bytes + AT86RF230_CHECKSUM_BYTES), frame, bytes);

#if APP_MODE_EXTENDED
    if (!error) {
        error = at86rf230_write_field(chip, TRX_STATE_TRX_CMD, STATE_TX_ARET_ON);
    }
#endif
    if (!error) {
        error = at86rf230_write_field(chip, TRX_STATE_TRX_CMD, STATE_BUSY_TX);
    }
    if (error) {
        return error;
    }
    tell(chip, AT86RF230_TX_WAITS);
    bool done = wait_for_completion_timeout(&chip->tx_complete, TX_LIMIT_US);
    tell(chip, AT86RF230_TX_DONE);
    return done ? 0 : ERROR_RADIO_SILENT;
}

#if APP_MODE_EXTENDED
/* The result of the frame. TX_ARET is left for PLL_ON, as nothing else leads to RX_AACK. */
static int end_transaction(struct at86rf230 *chip)
{
    int error = at86rf230_read_field(chip, TRX_STATE_TRAC_STATUS, &chip->trac);

    return error ? error : change_state(chip, STATE_PLL_ON);
}
#endif

int at86rf230_xmit(struct at86rf230 *chip, const uint8_t *frame, uint8_t bytes)
{
    if (bytes > AT86RF230_FRAME_BYTES - AT86RF230_CHECKSUM_BYTES) {
        return ERROR_TOO_LONG;
    }
    uint32_t before = spin_lock_irqsave(&chip->lock);
    bool irq_busy = chip->irq_busy;
    spin_unlock_irqrestore(&chip->lock, before);
    if (irq_busy) {
        return ERROR_RADIO_BUSY;
    }

    int error = change_state(chip, STATE_BEFORE_TX);
    if (error) {
        return error;
    }
    set_tx(chip, true);
    error = send_frame(chip, frame, bytes);
    if (error) {
        set_tx(chip, false);
    }
#if APP_MODE_EXTENDED
    if (!error) {
        error = end_transaction(chip);
    }
#endif
    int start_error = at86rf230_start(chip);
    return error ? error : start_error;
}

static void receive_frame(struct at86rf230 *chip)
{
    uint8_t lqi;

    int error = at86rf230_read_buffer(chip, chip->frame, &chip->length, &lqi);
    if (error) {
        console_print(AT86RF230_NAME ": frame buffer: %s\n", error_text(error));
        return;
    }
    if (chip->receive) {
        uint8_t bytes =
            chip->length < AT86RF230_CHECKSUM_BYTES ? 0 : (uint8_t)(chip->length - AT86RF230_CHECKSUM_BYTES);
        chip->receive(chip, chip->frame, bytes, lqi);
    }
}

static void serve_irq(struct at86rf230 *chip)
{
    uint8_t status = 0;

    int error = at86rf230_read_register(chip, IRQ_STATUS, &status);
    if (error) {
        console_print(AT86RF230_NAME ": IRQ_STATUS: %s\n", error_text(error));
    }
    if (status & IRQ_TRX_END) {
        uint32_t before = spin_lock_irqsave(&chip->lock);
        bool was_tx = chip->is_tx;
        chip->is_tx = false;
        spin_unlock_irqrestore(&chip->lock, before);
        if (was_tx) {
            complete(&chip->tx_complete);
        } else {
            receive_frame(chip);
        }
    }
}

void at86rf230_irq_work(struct work *work)
{
    struct at86rf230 *chip = container_of(work, struct at86rf230, irq_work);

    chip->counts.wakeups++;
    tell(chip, AT86RF230_IRQ_BEGINS);
    serve_irq(chip);
    uint32_t before = spin_lock_irqsave(&chip->lock);
    chip->irq_busy = false;
    spin_unlock_irqrestore(&chip->lock, before);
    tell(chip, AT86RF230_IRQ_ENDS);
    enable_irq((uint32_t)chip->spi->irq);
}

/* The line stays high until IRQ_STATUS is read, which takes a thread: until then it must not interrupt. */
void at86rf230_irq(void *arg)
{
    struct at86rf230 *chip = arg;

    disable_irq((uint32_t)chip->spi->irq);
#if APP_MODE_BASIC || APP_MODE_EXTENDED
    tell(chip, AT86RF230_IRQ_RAISED);
#endif
    uint32_t before = spin_lock_irqsave(&chip->lock);
    chip->irq_busy = true;
    spin_unlock_irqrestore(&chip->lock, before);
    queue_work(&chip->workqueue, &chip->irq_work);
}
