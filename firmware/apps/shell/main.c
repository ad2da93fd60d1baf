/* A command line on the console, such as boards have for their first days. */
#include "board.h"
#include "commands.h"
#include "console.h"
#include "line.h"
#include "uptime.h"

#define LINE_BYTES 64

int main(void)
{
    static char line[LINE_BYTES];
    int status;

    uptime_start();
    console_print("shell on %s; help lists the commands\r\n", BOARD_NAME);
    do {
        console_print("> ");
        line_read(line, sizeof line);
        status = command_run(line);
    } while (status < 0);
    return status;
}
