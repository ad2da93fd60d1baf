/* The status given to the semihosting exit comes out as the run's status: 42. */
#include "exit.h"

int main(void)
{
    program_exit(42);
}
