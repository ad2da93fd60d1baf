/* FreeRTOS's own list.c: included, so that its warnings are not ours. */
#include <list.c>
