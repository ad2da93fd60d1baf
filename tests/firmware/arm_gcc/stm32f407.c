/* A program for an STM32F4 Discovery, on the start-up beside it. */
#include <math.h>
#include <stdio.h>

enum { TERMS = 1000 };

static int initialised = 42;

int main(void) {
    float sum = 0;

    for (int i = 1; i < TERMS; i++) {
        sum += sqrtf((float)i);
    }
    printf("data %d, sum of roots %.1f\n", initialised, (double)sum);
    fflush(stdout);
    return 7;
}
