/* A function that is not inlined, so that its time can be found by its symbol: for code that a measurement times. */
#ifndef SECTION_H
#define SECTION_H

#define SECTION __attribute__((noinline))

#endif
