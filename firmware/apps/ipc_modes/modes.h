/* Moving blocks in one mode; which one the setting says. */
#ifndef MODES_H
#define MODES_H

#include <stdint.h>

struct mode {
    /* Before the first block. */
    void (*start)(void);
    /* Sends `count` blocks to the M4, and waits until it has taken the last. */
    void (*send)(uint32_t count);
    /* Has the M4 send `count` blocks, and takes them into link_block. */
    void (*fetch)(uint32_t count);
};

extern const struct mode mode_raw, mode_indirect;

#endif
