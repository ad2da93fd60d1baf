/* FreeRTOS's own port.c: included, so that its warnings are not ours. */
#include <port.c>
