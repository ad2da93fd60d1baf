/* Errors of the drivers: functions that can fail return 0 or an error, which is negative. */
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
    ERROR_SD_NO_CARD = -8,   /* no SD card in the slot, or none that answers CMD0 */
    ERROR_SD_SILENT = -9,    /* no answer to a command or a block */
    ERROR_SD_COMMAND = -10,  /* an SD command was refused (R1) */
    ERROR_SD_POWER_UP = -11, /* the card never left its idle state */
    ERROR_SD_BUSY = -12,     /* the card stayed busy */
    ERROR_SD_NO_DATA = -13,  /* no data block came */
    ERROR_SD_READ = -14,     /* an error token came instead of a data block */
    ERROR_SD_CRC = -15,      /* CRC error in a data block: the card's finding in a write, the driver's in a read */
    ERROR_SD_WRITE = -16,    /* the card could not write a block */
    ERROR_SD_NO_BLOCK = -17, /* a block's number that no address of the card has */
    ERROR_BUSY = -18,        /* taken: an interrupt that has a handler, a pin that someone has */
    ERROR_INVALID = -19,     /* nothing that the driver could do */
    ERROR_NO_PIN = -20,      /* no chip has a pin of that number */
    ERROR_IN_PROGRESS = -21, /* a message's status until it is done */
    ERROR_NO_RADIO = -22,    /* what answers is no transceiver that the driver knows, or nothing does */
    ERROR_RADIO_STATE = -23, /* the transceiver did not get into the wanted state */
    ERROR_RADIO_SUPPLY = -24, /* one of the transceiver's voltage regulators is not ready */
    ERROR_RADIO_BUSY = -25,   /* an interrupt of the transceiver is being served */
    ERROR_RADIO_SILENT = -26, /* the transceiver does not say that a frame is sent */
};

/* A few words for people. */
const char *error_text(int error);

#endif
