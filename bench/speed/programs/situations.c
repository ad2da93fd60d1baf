/* What firmware does every day beside its work, on a STM32F4 Discovery; HINDERED is 0 for the same work without it.
 * SITUATION: 0, flash with its caches off; 1, an MPU region that guards the stack of the task at hand is set anew at
 * each switch; 2, words of another sector of the flash are programmed between passes through that; 3, a register of
 * what has no model is polled. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define FLASH_ACR REGISTER(0x40023c00)
#define FLASH_KEYR REGISTER(0x40023c04)
#define FLASH_SR REGISTER(0x40023c0c)
#define FLASH_CR REGISTER(0x40023c10)
#define MPU_CTRL REGISTER(0xe000ed94)
#define MPU_RBAR REGISTER(0xe000ed9c)
#define MPU_RASR REGISTER(0xe000eda0)
/* Of the camera interface, which the board has no model of; and of the reset and clock controller. */
#define UNMODELLED 0x50050000
#define MODELLED 0x40023800
#define DATA_SECTOR 0x080a0000

static uint32_t work(uint32_t rounds)
{
    uint32_t sum = 1;

    while (rounds--) {
        sum ^= sum << 13;
        sum ^= sum >> 17;
        sum ^= sum << 5;
    }
    return sum;
}

static uint32_t pass_through(uint32_t words)
{
    uint32_t sum = 0;

    for (uint32_t word = 0; word < words; word++) {
        sum += REGISTER(DATA_SECTOR + 4 * word);
    }
    return sum;
}

static void switch_task(uint32_t task)
{
    MPU_RBAR = (0x20004000 + (task & 1) * 0x1000) | 1 << 4;
    /* 32 bytes, read-only. */
    MPU_RASR = 6 << 24 | 4 << 1 | 1;
    __asm volatile("dsb; isb");
}

static void program(uint32_t word, uint32_t value)
{
    FLASH_CR = 2 << 8 | 1;
    REGISTER(DATA_SECTOR + 4 * word) = value;
    while (FLASH_SR & 1 << 16) {
    }
    FLASH_CR = 0;
}

int main(void)
{
    static volatile uint32_t sum;

    FLASH_ACR = SITUATION == 0 && HINDERED ? 0x005 : 0x705;
    if (SITUATION == 0) {
        sum = work(LOOPS);
    } else if (SITUATION == 1) {
        MPU_CTRL = 5;
        for (uint32_t task = 0; task < LOOPS; task++) {
            if (HINDERED) {
                switch_task(task);
            }
            sum += work(50 + (sum & 1));
        }
    } else if (SITUATION == 2) {
        FLASH_KEYR = 0x45670123;
        FLASH_KEYR = 0xcdef89ab;
        for (uint32_t word = 0; word < LOOPS; word++) {
            if (HINDERED) {
                program(word, word);
            }
            sum += pass_through(16384);
        }
    } else {
        uint32_t left = LOOPS;

        /* Nothing ever sets the bit. */
#pragma clang loop unroll(disable)
        while (left && !(REGISTER(HINDERED ? UNMODELLED : MODELLED) & 1U << 31)) {
            left--;
        }
        sum = left;
    }
    return 0;
}
