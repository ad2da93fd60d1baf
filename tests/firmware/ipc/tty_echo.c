/* The other end of the report's protocol at a virtio console: takes a packet, answers with its bytes and, if
 * ANSWER_BYTES is 4, its CRC. What it does wrong (FAULT) it does at the second packet. */
#include "board.h"
#include "console.h"
#include "mmio.h"
#include "virtio_console.h"

#define TTY_BASE 0xFC070000u
#define INTERRUPT_STATUS 0x060u
#define HEADER_BYTES 6u
#define PACKET_BYTES 65536u

enum { NONE, STOPS, ENDS, RING };

static struct virtio_console console;
static uint8_t packet[PACKET_BYTES];

static void report(struct link_monitor *monitor)
{
    console_print("%s\n", monitor->text);
}

/* The CRC of the report, bit by bit as in the report. */
static uint16_t crc16(const uint8_t *data, uint32_t bytes)
{
    uint32_t crc = 0, reversed = 0;

    for (uint32_t bit = 0; bit < 8 * bytes + 16; bit++) {
        uint32_t in = bit < 8 * bytes ? data[bit / 8] >> bit % 8 & 1u : 0;

        crc = (crc << 1 | in) ^ (crc & 0x8000u ? 0x8006u : 0);
        crc &= 0xFFFFu;
    }
    for (uint32_t bit = 0; bit < 16; bit++) {
        reversed |= (crc >> bit & 1u) << (15 - bit);
    }
    return (uint16_t)reversed;
}

static bool answer(uint32_t bytes)
{
    uint16_t crc = crc16(packet + HEADER_BYTES, bytes - HEADER_BYTES);
    uint8_t text[4] = {(uint8_t)bytes, (uint8_t)(bytes >> 8), (uint8_t)crc, (uint8_t)(crc >> 8)};

    return virtio_console_write(&console, text, ANSWER_BYTES);
}

/* Bytes of the next packet; 0 at a fault. */
static uint32_t take_packet(void)
{
    uint32_t bytes = 0, expected = HEADER_BYTES;

    while (bytes < expected) {
        const uint8_t *data;
        uint32_t part = virtio_console_read(&console, &data);

        if (part == 0) {
            while (!(mmio_read(TTY_BASE, INTERRUPT_STATUS))) {
            }
            virtio_console_interrupt(&console);
            if (console.monitor->broken) {
                return 0;
            }
            continue;
        }
        for (uint32_t i = 0; i < part && bytes < PACKET_BYTES; i++) {
            packet[bytes++] = data[i];
        }
        if (bytes >= HEADER_BYTES) {
            expected = packet[2] | (uint32_t)packet[3] << 8;
        }
        virtio_console_done(&console);
    }
    return bytes;
}

static void stop(void)
{
    for (;;) {
    }
}

/* An available index that no ring can have. */
static void break_ring(void)
{
    console.transmit.vring.avail->idx = 40000;
    console.transmit.notify(&console.transmit);
}

int main(void)
{
    struct link_monitor monitor = {.report = report};

    console_print("echo\n");
    if (!virtio_console_start(&console, TTY_BASE, &monitor)) {
        return 1;
    }
    for (uint32_t packets = 0;; packets++) {
        uint32_t bytes = take_packet();

        if (packets == 1 && FAULT == STOPS) {
            stop();
        }
        if (packets == 1 && FAULT == ENDS) {
            console_print("no more\n");
            return 3;
        }
        if (packets == 1 && FAULT == RING) {
            break_ring();
            bytes = take_packet();
        }
        if (bytes == 0 || !answer(bytes)) {
            return 1;
        }
    }
}
