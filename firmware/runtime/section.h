/* A function that stays one in the ELF, so that its time can be told apart by its symbol: what a measurement times. */
#ifndef SECTION_H
#define SECTION_H

#define SECTION __attribute__((noinline))

#endif
