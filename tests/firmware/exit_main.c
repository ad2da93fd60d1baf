/* main's value is the status: 7. The text before is printed to its last character. */
#include "console.h"

int main(void)
{
    console_print("main returns 7\n");
    return 7;
}
