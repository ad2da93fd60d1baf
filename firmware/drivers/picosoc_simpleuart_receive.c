/* Input by PicoSoC's serial port (picosoc/simpleuart.v of YosysHQ/picorv32): all ones are no byte. */
#include "board.h"
#include "console_input.h"
#include "mmio.h"

#define SIMPLEUART_DAT 4u

int console_uart_get(void)
{
    return (int)mmio_read(BOARD_SIMPLEUART_BASE, SIMPLEUART_DAT);
}
