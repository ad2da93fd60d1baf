#include "xlnx_axi_quad_spi.h"

#include "error.h"
#include "mmio.h"
#include "xlnx_transfer.h"

#include <stdbool.h>
#include <stddef.h>

/* Register space: PG153, table 2-3 and the sections on each register. */
#define QUAD_SPI_DGIER 0x1Cu
#define QUAD_SPI_IPISR 0x20u
#define QUAD_SPI_IPIER 0x28u
#define QUAD_SPI_SRR 0x40u
#define QUAD_SPI_CR 0x60u
#define QUAD_SPI_SR 0x64u
#define QUAD_SPI_DTR 0x68u
#define QUAD_SPI_DRR 0x6Cu
#define QUAD_SPI_SSR 0x70u
#define QUAD_SPI_TX_FIFO_OCY 0x74u
#define QUAD_SPI_RX_FIFO_OCY 0x78u

#define QUAD_SPI_DGIER_ENABLE (1u << 31)
#define QUAD_SPI_INTERRUPT_TX_EMPTY (1u << 2)
#define QUAD_SPI_INTERRUPT_TX_HALF_EMPTY (1u << 6)
#define QUAD_SPI_INTERRUPT_COMMAND_ERROR (1u << 13)

#define QUAD_SPI_SRR_RESET 0x0000000Au

#define QUAD_SPI_CR_SPE (1u << 1)
#define QUAD_SPI_CR_MASTER (1u << 2)
#define QUAD_SPI_CR_TX_FIFO_RESET (1u << 5)
#define QUAD_SPI_CR_RX_FIFO_RESET (1u << 6)
#define QUAD_SPI_CR_MANUAL_SELECT (1u << 7)
#define QUAD_SPI_CR_INHIBIT (1u << 8)

#define QUAD_SPI_SR_RX_EMPTY (1u << 0)
#define QUAD_SPI_SR_TX_EMPTY (1u << 2)
#define QUAD_SPI_SR_TX_FULL (1u << 3)
#define QUAD_SPI_SR_COMMAND_ERROR (1u << 10)

/* Active low, one bit a slave. */
#define QUAD_SPI_SSR_SLAVE_0 0xFFFFFFFEu
#define QUAD_SPI_SSR_NONE 0xFFFFFFFFu

#define QUAD_SPI_CR_RUN (QUAD_SPI_CR_SPE | QUAD_SPI_CR_MASTER | QUAD_SPI_CR_MANUAL_SELECT)
#define QUAD_SPI_CR_STOP \
    (QUAD_SPI_CR_RUN | QUAD_SPI_CR_INHIBIT | QUAD_SPI_CR_TX_FIFO_RESET | QUAD_SPI_CR_RX_FIFO_RESET)

/* The largest FIFO of the core is 256 words deep. */
#define QUAD_SPI_FIFO_LIMIT_WORDS 256u
/* Fills the FIFO while its depth is probed; never sent. A command that every configuration knows (read status), for
   the core looks at the first word. */
#define QUAD_SPI_PROBE_BYTE 0x05u
/* Programming a DMA engine and waiting for it takes as many bus accesses as a transfer of this many words. */
#define QUAD_SPI_DMA_LEAST_WORDS 8u

/* A reading frame under way. in flight = sent - received: words in either FIFO or on the wire. Keeping it within
   one FIFO's depth means that neither FIFO can overflow, whatever the wire does. */
struct frame {
    const uint32_t *words;
    uint32_t *received_words;
    uint32_t count;
    uint32_t sent;
    uint32_t received;
    bool filling;
};

static int find_fifo_depth(struct xlnx_axi_quad_spi *spi)
{
    uint32_t depth = 0;

    while (!(mmio_read(spi->base, QUAD_SPI_SR) & QUAD_SPI_SR_TX_FULL)) {
        if (depth > QUAD_SPI_FIFO_LIMIT_WORDS) {
            return ERROR_SPI_FIFO;
        }
        mmio_write(spi->base, QUAD_SPI_DTR, QUAD_SPI_PROBE_BYTE);
        depth++;
    }
    /* A core without FIFOs holds one word; frames here count on more. */
    if (depth < 2) {
        return ERROR_SPI_FIFO;
    }
    spi->fifo_words = depth;
    return 0;
}

int xlnx_axi_quad_spi_init(struct xlnx_axi_quad_spi *spi, uintptr_t base, const struct xlnx_axi_cdma *fill,
                           const struct xlnx_axi_cdma *drain)
{
    int error;

    spi->base = base;
    spi->fill = fill;
    spi->drain = drain;
    mmio_write(base, QUAD_SPI_SRR, QUAD_SPI_SRR_RESET);
    mmio_write(base, QUAD_SPI_SSR, QUAD_SPI_SSR_NONE);
    mmio_write(base, QUAD_SPI_CR, QUAD_SPI_CR_STOP);
    error = find_fifo_depth(spi);
    mmio_write(base, QUAD_SPI_CR, QUAD_SPI_CR_STOP);
#if APP_COMPLETION_INTERRUPTS
    mmio_write(base, QUAD_SPI_IPIER,
               QUAD_SPI_INTERRUPT_TX_EMPTY | QUAD_SPI_INTERRUPT_TX_HALF_EMPTY | QUAD_SPI_INTERRUPT_COMMAND_ERROR);
    mmio_write(base, QUAD_SPI_DGIER, QUAD_SPI_DGIER_ENABLE);
#endif
    return error;
}

#if APP_COMPLETION_INTERRUPTS
void xlnx_axi_quad_spi_interrupt(void *context)
{
    const struct xlnx_axi_quad_spi *spi = context;

    /* Bits toggle where ones are written: those that are set get clear. */
    mmio_write(spi->base, QUAD_SPI_IPISR, mmio_read(spi->base, QUAD_SPI_IPISR));
    transfer_interrupted();
}
#endif

static void begin(const struct xlnx_axi_quad_spi *spi)
{
    mmio_write(spi->base, QUAD_SPI_SSR, QUAD_SPI_SSR_SLAVE_0);
    mmio_write(spi->base, QUAD_SPI_CR, QUAD_SPI_CR_RUN);
}

/* Also makes the core take the next word as a command: it compares the first one after a FIFO reset. */
static void end(const struct xlnx_axi_quad_spi *spi)
{
    mmio_write(spi->base, QUAD_SPI_SSR, QUAD_SPI_SSR_NONE);
    mmio_write(spi->base, QUAD_SPI_CR, QUAD_SPI_CR_STOP);
}

static int timeout_reason(const struct xlnx_axi_quad_spi *spi)
{
    return mmio_read(spi->base, QUAD_SPI_SR) & QUAD_SPI_SR_COMMAND_ERROR ? ERROR_SPI_COMMAND : ERROR_TIMEOUT;
}

/* The FIFO's first word leaves it when its transfer is complete (PG153, SPI DTR): empty means all is sent. */
static int wait_sent(const struct xlnx_axi_quad_spi *spi)
{
    for (uint32_t polls = 0; polls < TRANSFER_LIMIT_LOOKS; polls++) {
        transfer_look();
        if (mmio_read(spi->base, QUAD_SPI_SR) & QUAD_SPI_SR_TX_EMPTY) {
            return 0;
        }
        transfer_wait();
    }
    return timeout_reason(spi);
}

/* Free words of the transmit FIFO. The occupancy register holds one less than the occupancy, and nothing about
   an empty FIFO. */
static uint32_t transmit_room(const struct xlnx_axi_quad_spi *spi)
{
    uint32_t status = mmio_read(spi->base, QUAD_SPI_SR);

    if (status & QUAD_SPI_SR_TX_EMPTY) {
        return spi->fifo_words;
    }
    if (status & QUAD_SPI_SR_TX_FULL) {
        return 0;
    }
    return spi->fifo_words - (mmio_read(spi->base, QUAD_SPI_TX_FIFO_OCY) + 1);
}

static uint32_t receive_occupancy(const struct xlnx_axi_quad_spi *spi)
{
    if (mmio_read(spi->base, QUAD_SPI_SR) & QUAD_SPI_SR_RX_EMPTY) {
        return 0;
    }
    return mmio_read(spi->base, QUAD_SPI_RX_FIFO_OCY) + 1;
}

static void push(const struct xlnx_axi_quad_spi *spi, const uint32_t *words, uint32_t count)
{
    /* A wire that is faster than this loop empties the FIFO after each word: no interrupt for each of them. */
    uint32_t interrupts = transfer_hold_interrupts();

    for (uint32_t i = 0; i < count; i++) {
        mmio_write(spi->base, QUAD_SPI_DTR, words[i]);
    }
    transfer_release_interrupts(interrupts);
}

static void pull(const struct xlnx_axi_quad_spi *spi, uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        words[i] = mmio_read(spi->base, QUAD_SPI_DRR);
    }
}

/* Moves words that the transmit FIFO has room for, and comes back when they are in. */
static int fill(const struct xlnx_axi_quad_spi *spi, const uint32_t *words, uint32_t count)
{
    if (!spi->fill || count < QUAD_SPI_DMA_LEAST_WORDS) {
        push(spi, words, count);
        return 0;
    }
    xlnx_axi_cdma_set_addresses(spi->fill, (uintptr_t)words, spi->base + QUAD_SPI_DTR);
    xlnx_axi_cdma_start(spi->fill, count * sizeof(uint32_t));
    return xlnx_axi_cdma_wait(spi->fill);
}

/* Moves words that the receive FIFO holds. All of a frame goes one way: the processor's cache never holds a line
   that a DMA engine writes. */
static int drain(const struct xlnx_axi_quad_spi *spi, uint32_t *words, uint32_t count)
{
    if (!spi->drain) {
        pull(spi, words, count);
        return 0;
    }
    xlnx_axi_cdma_set_addresses(spi->drain, spi->base + QUAD_SPI_DRR, (uintptr_t)words);
    xlnx_axi_cdma_start(spi->drain, count * sizeof(uint32_t));
    return xlnx_axi_cdma_wait(spi->drain);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Takes `count` bytes as they come back; the last one is back when the last one is sent. */
static int pull_bytes(const struct xlnx_axi_quad_spi *spi, uint8_t *bytes, uint32_t count)
{
    uint32_t polls = 0, done = 0;

    while (done < count) {
        transfer_look();
        if (!(mmio_read(spi->base, QUAD_SPI_SR) & QUAD_SPI_SR_RX_EMPTY)) {
            bytes[done++] = (uint8_t)mmio_read(spi->base, QUAD_SPI_DRR);
        } else if (++polls == TRANSFER_LIMIT_LOOKS) {
            return timeout_reason(spi);
        } else {
            transfer_wait();
        }
    }
    return 0;
}

int xlnx_axi_quad_spi_exchange(const struct xlnx_axi_quad_spi *spi, const uint8_t *sent, uint8_t *received,
                               uint32_t count)
{
    int error;

    if (count > spi->fifo_words) {
        return ERROR_TOO_LONG;
    }
    for (uint32_t i = 0; i < count; i++) {
        mmio_write(spi->base, QUAD_SPI_DTR, sent[i]);
    }
    begin(spi);
    error = received ? pull_bytes(spi, received, count) : wait_sent(spi);
    end(spi);
    return error;
}

/* Refills the transmit FIFO when it is half empty, or when the rest of the frame fits. */
static int send_rest(const struct xlnx_axi_quad_spi *spi, const uint32_t *words, uint32_t count)
{
    uint32_t polls = 0;

    while (count) {
        transfer_look();
        uint32_t room = transmit_room(spi);
        uint32_t step = smaller(room, count);
        if (room < smaller(count, spi->fifo_words / 2)) {
            if (++polls == TRANSFER_LIMIT_LOOKS) {
                return timeout_reason(spi);
            }
            transfer_wait();
            continue;
        }
        int error = fill(spi, words, step);
        if (error) {
            return error;
        }
        words += step;
        count -= step;
    }
    return 0;
}

int xlnx_axi_quad_spi_write(const struct xlnx_axi_quad_spi *spi, const uint32_t *words, uint32_t count)
{
    uint32_t first = smaller(count, spi->fifo_words);
    int error = fill(spi, words, first);

    if (!error) {
        begin(spi);
        error = send_rest(spi, words + first, count - first);
    }
    if (!error) {
        error = wait_sent(spi);
    }
    end(spi);
    return error;
}

/* Starts to send what may be in flight, in steps of half a FIFO or the frame's rest. With DMA it does not wait. */
static int advance_sending(const struct xlnx_axi_quad_spi *spi, struct frame *frame)
{
    if (frame->filling) {
        int idle = xlnx_axi_cdma_poll(spi->fill);
        if (idle <= 0) {
            return idle;
        }
        frame->filling = false;
    }
    uint32_t left = frame->count - frame->sent;
    uint32_t room = spi->fifo_words - (frame->sent - frame->received);
    uint32_t step = smaller(room, left);
    if (step < smaller(left, spi->fifo_words / 2)) {
        return 0;
    }
    const uint32_t *words = frame->words + frame->sent;
    frame->sent += step;
    if (spi->fill && step >= QUAD_SPI_DMA_LEAST_WORDS) {
        xlnx_axi_cdma_set_addresses(spi->fill, (uintptr_t)words, spi->base + QUAD_SPI_DTR);
        xlnx_axi_cdma_start(spi->fill, step * sizeof(uint32_t));
        frame->filling = true;
    } else {
        push(spi, words, step);
    }
    return 0;
}

/* How much must have come back to be drained: whatever is there; after an interrupt half a FIFO, or the frame's
 * rest. */
static uint32_t least_drained(const struct xlnx_axi_quad_spi *spi, const struct frame *frame)
{
#if APP_COMPLETION_INTERRUPTS
    return smaller(frame->count - frame->received, spi->fifo_words / 2);
#else
    (void)spi;
    (void)frame;
    return 1;
#endif
}

/* Sends and receives until the frame is complete. */
static int run_frame(const struct xlnx_axi_quad_spi *spi, struct frame *frame)
{
    uint32_t polls = 0;

    while (frame->received < frame->count) {
        uint32_t step;
        transfer_look();
        int error = frame->sent < frame->count ? advance_sending(spi, frame) : 0;
        if (error) {
            return error;
        }
        step = receive_occupancy(spi);
        if (step < least_drained(spi, frame)) {
            if (++polls == TRANSFER_LIMIT_LOOKS) {
                return timeout_reason(spi);
            }
            transfer_wait();
            continue;
        }
        error = drain(spi, frame->received_words + frame->received, step);
        if (error) {
            return error;
        }
        frame->received += step;
    }
    return 0;
}

int xlnx_axi_quad_spi_read(const struct xlnx_axi_quad_spi *spi, const uint32_t *words, uint32_t header_words,
                           uint32_t *received, uint32_t count)
{
    struct frame frame = {.words = words, .received_words = received, .count = count, .sent = header_words};
    int error;

    push(spi, words, header_words);
    begin(spi);
    error = run_frame(spi, &frame);
    end(spi);
    return error;
}
