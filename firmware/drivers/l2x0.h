/* ARM L2C-310 cache controller (TRM, ARM DDI 0246) as the SAMA5D2 has it: 128 KB in eight ways. */
#ifndef L2X0_H
#define L2X0_H

/* Gives the second 128 KB of SRAM to the cache, empties it and turns it on. With the MMU off. */
void l2x0_enable(void);

#endif
