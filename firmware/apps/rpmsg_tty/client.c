#include "client.h"

#include "breach.h"
#include "clock.h"

#define CRC_POLYNOMIAL 0x8006u
#define CRC_BITS 16

struct packet {
    uint16_t preamble;
    uint16_t length;
    uint16_t crc16;
};

/* The report's client takes the size of a pointer, less one, for that of the header: the CRC begins within it. */
#define CRC_OFFSET 3u

static uint8_t tx_buffer[CLIENT_BUFFER_BYTES] __attribute__((aligned(4)));

/*
 * CRC-16/ARC, bit by bit: polynomial 0x8005 with the 1 that the report's constant has for the bit that is shifted out.
 *
 * The report's client is GCC's, which at -O2 goes round once a bit and branches by the bit that is shifted out. Left to
 * itself, clang takes all eight bits of a byte in a row and makes the branch a conditional instruction, which is three
 * times as fast: crc_loop=byte.
 */
__attribute__((noinline)) static uint16_t crc16(const uint8_t *data, uint16_t bytes)
{
    uint16_t crc = 0, reversed = 0;
    int bit = 0;

#if APP_CRC_LOOP_BIT
#pragma clang loop unroll(disable)
#endif
    while (bytes) {
        int out = crc >> 15;

        crc = (uint16_t)(crc << 1 | ((*data >> bit) & 1));
        if (++bit > 7) {
            bit = 0;
            data++;
            bytes--;
        }
        if (out) {
#if APP_CRC_LOOP_BIT
            __asm__ volatile(""); /* a branch */
#endif
            crc ^= CRC_POLYNOMIAL;
        }
    }
    for (int i = 0; i < CRC_BITS; i++) {
        int out = crc >> 15;

        crc = (uint16_t)(crc << 1);
        if (out) {
            crc ^= CRC_POLYNOMIAL;
        }
    }
    for (int i = 0; i < CRC_BITS; i++) {
        reversed = (uint16_t)(reversed << 1 | ((crc >> i) & 1));
    }
    return reversed;
}

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
    header->preamble = CLIENT_PREAMBLE;
    header->length = (uint16_t)(test->block_bytes * test->blocks);
    header->crc16 = crc16(&tx_buffer[CRC_OFFSET], header->length);
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
