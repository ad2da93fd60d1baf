/* The console text of XAPP797, figures 4 (quad) and 5 (dual). */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#include <stdint.h>

/* One of the test programs of the note: each has its own bytes and its own way to frame a line. */
struct transcript {
    const char *mode;      /* QUAD */
    const char *access;    /* Enhanced (AXI4 bursts) or Legacy (single words) */
    uint8_t bytes[2];      /* the two that fill every page, in turn */
    const char *mark;      /* before and after a time */
    const char *taken_for; /* "for" or "For" */
    const char *gap;       /* between the unit and the mark */
};

void transcript_open(const struct transcript *text);
void transcript_erased(void);
void transcript_write_started(const struct transcript *text, uint32_t pages);
void transcript_read_started(uint32_t pages);

/* `what` is Write or Read. */
void transcript_time(const struct transcript *text, const char *what, uint32_t pages, uint32_t time_us);

/* Mismatches are bytes that read back other than written. */
void transcript_close(const struct transcript *text, uint32_t pages, uint32_t mismatches);

/* The test stopped early. */
void transcript_failed(const struct transcript *text, const char *step, const char *reason);

#endif
