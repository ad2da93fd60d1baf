/* Reads the identification of a flash on pins of a GPIO port, by hand, in SPI modes 0 and 3. */
#include "console.h"
#include "mmio.h"

#define PORT 0x50000000u
#define PXPIN 0x00u
#define PXDATS 0x14u
#define PXDATC 0x18u
#define PXDIRS 0x64u

#define MOSI (1u << 8)
#define MISO (1u << 10)
#define SCK (1u << 11)
#define CS (1u << 13)

#define READ_ID 0x9Fu

static void set(uint32_t pins, int level)
{
    mmio_write(PORT, level ? PXDATS : PXDATC, pins);
}

/* A byte each way. `idle` is the clock's level at rest: mode 3 begins each clock by leaving it. */
static uint8_t exchange(uint8_t out, int idle)
{
    uint8_t in = 0;

    for (uint32_t bit = 0x80; bit; bit >>= 1) {
        if (idle) {
            set(SCK, 0);
        }
        set(MOSI, (out & bit) != 0);
        set(SCK, 1);
        in = (uint8_t)(in << 1 | ((mmio_read(PORT, PXPIN) & MISO) != 0));
        if (!idle) {
            set(SCK, 0);
        }
    }
    return in;
}

int main(void)
{
    set(CS, 1);
    mmio_write(PORT, PXDIRS, CS | SCK | MOSI);
    for (int idle = 0; idle <= 1; idle++) {
        set(SCK, idle);
        set(CS, 0);
        exchange(READ_ID, idle);
        uint32_t id = exchange(0, idle);
        id = id << 8 | exchange(0, idle);
        id = id << 8 | exchange(0, idle);
        set(CS, 1);
        console_print("id %06lx\n", (unsigned long)id);
    }
    return 0;
}
