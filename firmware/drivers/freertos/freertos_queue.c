/* FreeRTOS's own queue.c: included, so that its warnings are not ours. */
#include <queue.c>
