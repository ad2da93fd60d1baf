/* JSON results among text for people; a number above 32 bits. */
#include "console.h"
#include "result.h"

int main(void)
{
    console_print("a line for people\n");
    result_number("answer", "us", 42);
    result_number("large", "clocks", 0x123456789ABCDEFull);
    console_print("  {not a result: it does not begin the line}\n");
    result_text("verdict", "passed");
    return 0;
}
