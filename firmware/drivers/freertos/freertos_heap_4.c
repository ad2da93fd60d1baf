/* FreeRTOS's own heap_4.c: included, so that its warnings are not ours. */
#include <heap_4.c>
