/* FreeRTOS's own timers.c: included, so that its warnings are not ours. */
#include <timers.c>
