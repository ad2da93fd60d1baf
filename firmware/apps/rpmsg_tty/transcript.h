/* The client's log in the form that the report prints (setting transcript): each line with the time of its event. */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#include "client.h"

/* Lines get the time at which they are kept, and are printed by transcript_print: Linux takes what a program prints
   into a buffer, and its console sends it meanwhile. Here the console would hold the client up. */
void transcript_started(void);
void transcript_connected(void);
void transcript_filled(uint16_t crc);
void transcript_creating(void);
void transcript_added(const struct client_test *test);
void transcript_starting(void);
void transcript_ended(const struct client_test *test);

/* The lines, then a result for each test that ended. */
void transcript_print(void);

#endif
