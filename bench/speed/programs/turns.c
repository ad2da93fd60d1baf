/* Loads from one place and stores to another, a word each in a round of some sixteen instructions; and several words of
 * both, each eighth round. */
#include <stdint.h>

static uint32_t moved(volatile const uint32_t *from, volatile uint32_t *to)
{
    uint32_t words[4] = {from[0], from[1], from[2], from[3]};

    to[0] = words[0] + words[3];
    to[1] = words[1] ^ words[2];
    return words[0];
}

int main(void)
{
    volatile uint32_t *from = (volatile uint32_t *)FROM, *to = (volatile uint32_t *)TO;
    uint32_t sum = 1;

    for (uint32_t left = LOOPS; left; left--) {
        sum ^= sum << 13;
        sum ^= sum >> 17;
        sum += from[left & 15];
        sum ^= sum << 5;
        to[sum & 15] = sum;
        if (left % 8 == 0) {
            sum += moved(from, to);
        }
    }
    return 0;
}
