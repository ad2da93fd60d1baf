#include "work.h"

#include "section.h"

#define TEXT_BYTES (sizeof text - 1)
#define RING_NODES 32u
#define RING_STEPS 320u
#define SORTED 40u

static const char text[] =
    "A flash read begins with a command, an address and a few clocks in which nothing happens, and only then come the "
    "bytes, one after the other as long as somebody asks for the next. Straight code is such a reader; a loop is not: "
    "each jump back begins a new read. So the wider bus makes the bytes cheaper, and the shorter preamble the jumps.";

/* CRC-32 of Ethernet (IEEE 802.3), four bits a step, reflected. */
static const uint32_t crc_steps[16] = {
    0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
    0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
};

static SECTION uint32_t crc_of_text(void)
{
    uint32_t crc = UINT32_MAX;

    for (uint32_t i = 0; i < TEXT_BYTES; i++) {
        crc ^= (uint8_t)text[i];
        crc = crc >> 4 ^ crc_steps[crc & 15];
        crc = crc >> 4 ^ crc_steps[crc & 15];
    }
    return ~crc;
}

struct node {
    uint16_t next;
    uint16_t value;
};

/* next = (13 i + 7) mod 32 leads through all nodes, back and forth. */
#define NODE(i) {(13u * (i) + 7u) % RING_NODES, (40503u * ((i) + 1u)) & 0xFFFFu}
#define NODES_4(i) NODE(i), NODE((i) + 1u), NODE((i) + 2u), NODE((i) + 3u)
static const struct node ring[RING_NODES] = {
    NODES_4(0u), NODES_4(4u), NODES_4(8u), NODES_4(12u), NODES_4(16u), NODES_4(20u), NODES_4(24u), NODES_4(28u),
};

static SECTION uint32_t walk_ring(void)
{
    uint32_t sum = 0, at = 0;

    for (uint32_t step = 0; step < RING_STEPS; step++) {
        sum = sum * 31u + ring[at].value;
        at = ring[at].next;
    }
    return sum;
}

/* Insertion sort of numbers in SRAM. */
static SECTION uint32_t sort_numbers(void)
{
    uint16_t numbers[SORTED];
    uint32_t noise = 1, sum = 0;

    for (uint32_t i = 0; i < SORTED; i++) {
        noise = noise * 1664525u + 1013904223u;
        uint16_t number = (uint16_t)(noise >> 16);
        uint32_t place = i;
        for (; place && numbers[place - 1] > number; place--) {
            numbers[place] = numbers[place - 1];
        }
        numbers[place] = number;
    }
    for (uint32_t i = 0; i < SORTED; i++) {
        sum = sum * 31u + numbers[i];
    }
    return sum;
}

SECTION uint32_t work(void)
{
    uint32_t checksum = crc_of_text();

    checksum = checksum * 31u + walk_ring();
    return checksum * 31u + sort_numbers();
}
