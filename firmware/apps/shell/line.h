/* A line of text from the console, with echo. */
#ifndef LINE_H
#define LINE_H

#include <stddef.h>

/* Reads a line into `text`, which has room for `size` bytes with its 0 at the end; what is too long rings the bell and
 * is dropped. Backspace and delete take a character back, Ctrl-U all of them, Ctrl-C gives an empty line. Carriage
 * return, line feed or both end the line. */
void line_read(char *text, size_t size);

#endif
