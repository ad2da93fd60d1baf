/* Calls of functions whose parameters tests know by name; their values decide how long each call takes. */
#include <stdint.h>

enum colour { RED, BLUE = 7 };
typedef struct {
    uint32_t a, b, c;
} triple;

static volatile uint32_t sum;

__attribute__((noinline)) uint32_t mixed(const char *text, uint8_t small, int16_t negative, enum colour colour,
                                         uint32_t fifth)
{
    for (uint32_t i = 0; i < small; i++) {
        sum += (uint32_t)text[0] + (uint32_t)negative + colour + fifth;
    }
    return sum;
}

/* Only the first is in a register by itself wherever it runs. */
__attribute__((noinline)) uint32_t wide(uint32_t first, uint64_t second, float third)
{
    union {
        float number;
        uint32_t bits;
    } of = {third};

    sum += first + (uint32_t)(second >> 32) + of.bits;
    return sum;
}

__attribute__((noinline)) void none(void)
{
    sum++;
}

int main(void)
{
    static const char text[] = "A";

    mixed(text, 3, -2, BLUE, 9);
    mixed(text, 200, -300, RED, 9);
    mixed(text, 20, 5, BLUE, 9);
    wide(sum ? 11 : 12, 1ull << 32 | sum, 2.5f);
    none();
    return 0;
}
