#include "stream.h"

/* newlib's BUFSIZ. */
#define BUFFER_BYTES 1024

static char buffer[BUFFER_BYTES];

struct stream stream_out = {
    .next = buffer, .room = 0, .line_room = -BUFFER_BYTES, .size = BUFFER_BYTES, .buffer = buffer,
};

void stream_flush(struct stream *stream)
{
    const char *text = stream->buffer;
    int left = (int)(stream->next - stream->buffer);

    stream->next = stream->buffer;
    stream->room = 0;
    while (left > 0) {
        int taken = stream_write(text, left);
        if (taken <= 0) {
            return;
        }
        text += taken;
        left -= taken;
    }
}

void stream_overflow(struct stream *stream, char character)
{
    int used = (int)(stream->next - stream->buffer);

    if (used >= stream->size) {
        stream_flush(stream);
        used = 0;
    }
    stream->room = -used - 1;
    *stream->next++ = character;
    if (used + 1 == stream->size || character == '\n') {
        stream_flush(stream);
    }
}
