#include "error.h"

const char *error_text(int error)
{
    switch (error) {
    case 0: return "no error";
    case ERROR_TIMEOUT: return "time-out: the device did not get ready";
    case ERROR_SPI_COMMAND: return "the SPI controller refused the command";
    case ERROR_SPI_FIFO: return "the SPI controller has no FIFO of a plausible depth";
    case ERROR_DMA: return "DMA error";
    case ERROR_WRONG_PART: return "another flash part than expected";
    case ERROR_NOT_ENABLED: return "the flash did not take the write enable";
    case ERROR_TOO_LONG: return "transfer too long";
    case ERROR_SD_NO_CARD: return "no card";
    case ERROR_SD_SILENT: return "no answer";
    case ERROR_SD_COMMAND: return "command refused";
    case ERROR_SD_POWER_UP: return "timed out waiting for power-up";
    case ERROR_SD_BUSY: return "timed out waiting for ready";
    case ERROR_SD_NO_DATA: return "timed out waiting for data";
    case ERROR_SD_READ: return "read error";
    case ERROR_SD_CRC: return "CRC error";
    case ERROR_SD_WRITE: return "write error";
    case ERROR_SD_NO_BLOCK: return "no such block";
    case ERROR_BUSY: return "taken already";
    case ERROR_INVALID: return "invalid argument";
    case ERROR_NO_PIN: return "no such pin";
    case ERROR_IN_PROGRESS: return "in progress";
    case ERROR_NO_RADIO: return "no transceiver";
    case ERROR_RADIO_STATE: return "the transceiver is in another state than wanted";
    case ERROR_RADIO_SUPPLY: return "the transceiver's supply is not ready";
    case ERROR_RADIO_BUSY: return "the transceiver's interrupt is being served";
    case ERROR_RADIO_SILENT: return "the transceiver did not report the end of the frame";
    default: return "unknown error";
    }
}
