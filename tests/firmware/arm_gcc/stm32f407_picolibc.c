/*
 * A program for an STM32F4 Discovery with picolibc: its start-up, its linker script and its semihosting (for the exit)
 * do the rest. This file has the UART of stdout, USART2 at PA2 and PA3.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REG(address) (*(volatile uint32_t *)(address))

#define RCC_AHB1ENR REG(0x40023830)
#define RCC_APB1ENR REG(0x40023840)
#define GPIOA_MODER REG(0x40020000)
#define GPIOA_AFRL REG(0x40020020)
#define USART2_SR REG(0x40004400)
#define USART2_DR REG(0x40004404)
#define USART2_BRR REG(0x40004408)
#define USART2_CR1 REG(0x4000440c)

enum { SR_TC = 1 << 6, SR_TXE = 1 << 7, CR1_TE = 1 << 3, CR1_UE = 1 << 13, WORDS = 16 };

static int put(char character, FILE *file) {
    (void)file;
    while (!(USART2_SR & SR_TXE)) {
    }
    USART2_DR = (unsigned char)character;
    return (unsigned char)character;
}

static FILE uart = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stdout = &uart;

static _Thread_local int own = 5;
static int initialised = 42;
static int built;

__attribute__((constructor)) static void build(void) {
    built = 1;
}

static int by_value(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

int main(void) {
    int *numbers = malloc(WORDS * sizeof *numbers);

    RCC_AHB1ENR |= 1 << 0;
    RCC_APB1ENR |= 1 << 17;
    GPIOA_MODER = (GPIOA_MODER & ~0xf0u) | 0xa0;
    GPIOA_AFRL |= 0x7700;
    USART2_BRR = 139; /* 115200 baud at 16 MHz */
    USART2_CR1 = CR1_UE | CR1_TE;
    for (int i = 0; i < WORDS; i++) {
        numbers[i] = i * 7 % WORDS;
    }
    qsort(numbers, WORDS, sizeof *numbers, by_value);
    printf("data %d, constructor %d, thread %d\n", initialised, built, own);
    printf("sorted %d to %d, %s, pi %.10f\n", numbers[0], numbers[WORDS - 1], strstr("picolibc", "lib"), 4 * atan(1.0));
    while (!(USART2_SR & SR_TC)) {
    }
    exit(7);
}
