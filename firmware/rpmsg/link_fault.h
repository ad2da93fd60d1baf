/* Faults of a link, as the side reports that detects them. Data that the other side wrote is checked before it is
 * used; what cannot be is a fault: a line of text with the numbers, and nothing goes over the link from then on. */
#ifndef LINK_FAULT_H
#define LINK_FAULT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define LINK_FAULT_BYTES 160u

/* One side of a link. `report` is called for the first fault only: later ones follow from it. */
struct link_monitor {
    void (*report)(struct link_monitor *monitor);
    bool broken;
    char text[LINK_FAULT_BYTES];
};

/* Notes a fault; the format has %s %u %x %% only. */
void link_fault(struct link_monitor *monitor, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same format into memory, cut to `bytes` with the zero at its end. Returns the length. */
size_t link_text(char *to, size_t bytes, const char *format, va_list *arguments);

#endif
