/* The first program for a board: console and exit work. */
#include "board.h"
#include "console.h"

int main(void)
{
    console_print("hello from %s\n", BOARD_NAME);
    return 0;
}
