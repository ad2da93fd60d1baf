#include "client.h"

#include "breach.h"
#include "clock.h"
#include "packet.h"

static uint8_t tx_buffer[CLIENT_BUFFER_BYTES] __attribute__((aligned(4)));

uint16_t client_start(void)
{
    for (uint32_t i = 0; i < CLIENT_BUFFER_BYTES; i++) {
        tx_buffer[i] = (uint8_t)i;
    }
    return crc16(tx_buffer, CLIENT_BUFFER_BYTES);
}

static int send_blocks(struct tty *tty, const struct client_test *test)
{
    for (uint32_t i = 0; i < test->blocks; i++) {
        /* Each block begins a byte later than the one before it, as the report's. */
        int error = tty_write(tty, &tx_buffer[i], test->block_bytes);

        if (error) {
            return error;
        }
        breach_after_block(tty, i);
    }
    return 0;
}

__attribute__((noinline)) int run_test(struct tty *tty, struct client_test *test)
{
    struct packet *header = (struct packet *)(void *)tx_buffer;
    uint8_t answer[2];
    uint64_t start = clock_ticks();
    int error;

    tty->accepted = tty->sent = 0;
    tty->context = test;
    header->preamble = PACKET_PREAMBLE;
    header->length = (uint16_t)(test->block_bytes * test->blocks);
    header->crc16 = crc16(&tx_buffer[PACKET_CRC_OFFSET], header->length);
    error = send_blocks(tty, test);
    if (error) {
        return error;
    }
    if (tty_read(tty, answer, sizeof answer, CLIENT_READ_LIMIT_MS) != sizeof answer) {
        return 1;
    }
    test->ticks = clock_ticks() - start;
    test->acknowledged = answer[0] | (uint32_t)answer[1] << 8;
    return 0;
}
