/* A text stream that is buffered by lines, like newlib's stdout on a terminal: characters go into a buffer one by one,
 * and each end of a line has the buffer written, so a line is formatted before its first character leaves. */
#ifndef STREAM_H
#define STREAM_H

struct stream {
    char *next;    /* where the next character goes */
    int room;      /* counts down from 0 as a line fills the buffer */
    int line_room; /* -size: where it is full */
    int size;      /* of the buffer, in bytes */
    char *buffer;
};

/* The log. */
extern struct stream stream_out;

/* Puts one character where stream_put can't: at the end of a line and of the buffer. */
void stream_overflow(struct stream *stream, char character);

/* Writes what is in the buffer. */
void stream_flush(struct stream *stream);

/* By the board's log port: writes `count` characters, and gives how many it took. */
int stream_write(const char *text, int count);

static inline void stream_put(struct stream *stream, char character)
{
    if (--stream->room >= 0 || (stream->room >= stream->line_room && character != '\n')) {
        *stream->next++ = character;
    } else {
        stream_overflow(stream, character);
    }
}

#endif
