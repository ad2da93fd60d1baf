/* FreeRTOS's own tasks.c: included, so that its warnings are not ours. */
#include <tasks.c>
