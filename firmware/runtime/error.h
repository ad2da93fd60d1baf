/* Errors of the drivers: functions that can fail return 0 or one of these, which are all negative. */
#ifndef ERROR_H
#define ERROR_H

enum error {
    ERROR_TIMEOUT = -1,      /* a device did not get ready within its limit */
    ERROR_SPI_COMMAND = -2,  /* the SPI core refused the first byte of a frame (SPISR.Command_Error) */
    ERROR_SPI_FIFO = -3,     /* the SPI core's FIFO has no plausible depth */
    ERROR_DMA = -4,          /* a DMA engine stopped with an error */
    ERROR_WRONG_PART = -5,   /* the flash's identification is not the expected one */
    ERROR_NOT_ENABLED = -6,  /* the flash did not take a write enable */
    ERROR_TOO_LONG = -7,     /* a transfer does not fit */
};

/* A few words for people. */
const char *error_text(int error);

#endif
