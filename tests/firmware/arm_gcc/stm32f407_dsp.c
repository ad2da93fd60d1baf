/*
 * Functions of CMSIS-DSP on an STM32F4 Discovery at 168 MHz, each with the core cycles that it takes (DWT_CYCCNT):
 * complex FFTs and an FIR filter, all of floats. HSE is 8 MHz; the flash has five wait states, its caches, prefetch.
 */
#include <arm_math.h>
#include <stdio.h>

#define REG(address) (*(volatile unsigned *)(address))

#define RCC_CR REG(0x40023800)
#define RCC_PLLCFGR REG(0x40023804)
#define RCC_CFGR REG(0x40023808)
#define RCC_APB1ENR REG(0x40023840)
#define PWR_CR REG(0x40007000)
#define FLASH_ACR REG(0x40023c00)
#define USART2_BRR REG(0x40004408)
#define DWT_CTRL REG(0xe0001000)
#define DWT_CYCCNT REG(0xe0001004)
#define DEMCR REG(0xe000edfc)

enum { MOST_POINTS = 1024, TAPS = 32, SAMPLES = 256, RUNS = 2 };

static float points[2 * MOST_POINTS];
static float taps[TAPS], state[TAPS + SAMPLES - 1], samples[SAMPLES], filtered[SAMPLES];

static void speed_up(void) {
    RCC_APB1ENR |= 1 << 28;
    PWR_CR |= 1 << 14;
    RCC_CR |= 1 << 16;
    while (!(RCC_CR & 1 << 17)) {
    }
    RCC_PLLCFGR = 8 | 336 << 6 | 0 << 16 | 1 << 22 | 7 << 24;
    RCC_CR |= 1 << 24;
    while (!(RCC_CR & 1 << 25)) {
    }
    FLASH_ACR = 5 | 7 << 8;
    RCC_CFGR = 5 << 10 | 4 << 13 | 2;
    while ((RCC_CFGR & 3 << 2) != 2 << 2) {
    }
    USART2_BRR = 365; /* 42 MHz */
}

/* Two tones, of 3 and 10 periods. */
static void fill(int count) {
    for (int i = 0; i < count; i++) {
        points[2 * i] = sinf(2 * PI * 3 * i / count) + 0.5f * cosf(2 * PI * 10 * i / count);
        points[2 * i + 1] = 0;
    }
}

static void transform(const arm_cfft_instance_f32 *fft) {
    unsigned cycles = 0;

    for (int run = 0; run < RUNS; run++) {
        fill(fft->fftLen);
        unsigned start = DWT_CYCCNT;
        arm_cfft_f32(fft, points, 0, 1);
        cycles = DWT_CYCCNT - start;
    }
    printf("fft %u: %.1f at 3, %.1f at 10, %u cycles\n", fft->fftLen, (double)points[7], (double)points[20], cycles);
}

/* A mean of the last samples, over a ramp. */
static void filter(void) {
    arm_fir_instance_f32 fir;
    unsigned cycles = 0;

    for (int i = 0; i < TAPS; i++) {
        taps[i] = 1.0f / TAPS;
    }
    for (int i = 0; i < SAMPLES; i++) {
        samples[i] = (float)i;
    }
    for (int run = 0; run < RUNS; run++) {
        arm_fir_init_f32(&fir, TAPS, taps, state, SAMPLES);
        unsigned start = DWT_CYCCNT;
        arm_fir_f32(&fir, samples, filtered, SAMPLES);
        cycles = DWT_CYCCNT - start;
    }
    printf("fir: %.1f to %.1f, %u cycles\n", (double)filtered[0], (double)filtered[SAMPLES - 1], cycles);
}

int main(void) {
    arm_cfft_instance_f32 fft;

    speed_up();
    DEMCR |= 1 << 24;
    DWT_CTRL |= 1;
    arm_cfft_init_32_f32(&fft);
    transform(&fft);
    arm_cfft_init_512_f32(&fft);
    transform(&fft);
    arm_cfft_init_1024_f32(&fft);
    transform(&fft);
    filter();
    fflush(stdout);
    return 0;
}
