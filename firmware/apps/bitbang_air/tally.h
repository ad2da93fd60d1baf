/* Sums over the frames of a run. */
#ifndef TALLY_H
#define TALLY_H

#include <stdint.h>

/* The first frame begins with the next call of tally_frame. */
void tally_begin(void);

/* A frame is through that has taken the driver `cost_ticks`; the next one begins. */
void tally_frame(uint64_t cost_ticks);

/* From the start of a frame's transmission to its interrupt. */
void tally_air(uint64_t ticks);

/* Prints all: the mean cost and period, the share of time that the costs are, and that in which the processor is not
   idle; the shortest, the mean and the longest time on the air, if there are any. */
void tally_print(void);

#endif
