/* A third-party program: with its own start-up, linker script and drivers, with newlib and libgcc, built by
 * GCC for a SAMA5D2. Registers and bits: SAMA5D2 Series data sheet; the performance monitor: ARM Architecture Reference
 * Manual, ARMv7-A edition, C12.8. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

#define PMC_PCR REGISTER(0xF001410C)
#define PCR_CMD_WRITE (1u << 12)
#define PCR_EN (1u << 28)
#define ID_PIO 18u
#define ID_UART1 25u

/* I/O group 3: PD2 and PD3 are UART1's, function A. */
#define PIO_MSKR3 REGISTER(0xFC0380C0)
#define PIO_CFGR3 REGISTER(0xFC0380C4)
#define FUNCTION_A 1u

#define UART_CR REGISTER(0xF8020000)
#define UART_MR REGISTER(0xF8020004)
#define UART_SR REGISTER(0xF8020014)
#define UART_THR REGISTER(0xF802001C)
#define UART_BRGR REGISTER(0xF8020020)
#define CR_RSTRX_RSTTX (3u << 2)
#define CR_TXEN (1u << 6)
#define MR_PAR_NO (4u << 9)
#define SR_TXRDY (1u << 1)
#define SR_TXEMPTY (1u << 9)
/* 83 MHz / 16 / 115200. */
#define DIVIDER_115200 45u

#define SHDW_CR REGISTER(0xF8048010)
#define SHDW_CR_POWER_OFF 0xA5000001u

#define WDT_MR REGISTER(0xF8048044)
#define WDT_MR_WDDIS (1u << 15)

/* First-level table: sections of 1 MB, readable and writable, domain 0. */
#define SECTION(megabyte) ((uint32_t)(megabyte) << 20 | 3u << 10 | 2u)
#define SECTION_NORMAL_WRITE_BACK (1u << 12 | 3u << 2)
#define SECTION_DEVICE_XN (1u << 4 | 1u << 2)
#define SCTLR_M_C_Z_I (1u << 0 | 1u << 2 | 1u << 11 | 1u << 12)

#define POINTS 64

static volatile uint32_t undefined_taken;
static uint32_t translation_table[4096] __attribute__((aligned(16384)));

void on_svc(void);
void on_undefined(void);

/* newlib is built for processors that may access words at any address. That is allowed in normal memory only, and
 * without the MMU no memory is normal. */
static void memory_start(void)
{
    translation_table[0x002] = SECTION(0x002) | SECTION_NORMAL_WRITE_BACK;
    translation_table[0xF00] = SECTION(0xF00) | SECTION_DEVICE_XN;
    translation_table[0xF80] = SECTION(0xF80) | SECTION_DEVICE_XN;
    translation_table[0xFC0] = SECTION(0xFC0) | SECTION_DEVICE_XN;
    for (uint32_t way_and_set = 0; way_and_set < 4 * 256; way_and_set++) {
        uint32_t line = way_and_set << 30 | (way_and_set >> 2) << 5;
        __asm__ volatile("mcr p15, 0, %0, c7, c6, 2" : : "r"(line)); /* DCISW */
    }
    __asm__ volatile("mcr p15, 0, %0, c7, c5, 0\n\t"                 /* ICIALLU */
                     "mcr p15, 0, %0, c8, c7, 0\n\t"                 /* TLBIALL */
                     "mcr p15, 0, %0, c2, c0, 2\n\t"                 /* TTBCR */
                     "mcr p15, 0, %1, c2, c0, 0\n\t"                 /* TTBR0 */
                     "mcr p15, 0, %2, c3, c0, 0\n\t"                 /* DACR: a client of domain 0 */
                     "dsb\n\tisb"
                     :
                     : "r"(0), "r"(translation_table), "r"(1)
                     : "memory");
    uint32_t sctlr;
    __asm__ volatile("mrc p15, 0, %0, c1, c0, 0" : "=r"(sctlr));
    __asm__ volatile("mcr p15, 0, %0, c1, c0, 0\n\tisb" : : "r"(sctlr | SCTLR_M_C_Z_I) : "memory");
}

static void enable_peripheral(uint32_t id)
{
    PMC_PCR = PCR_EN | PCR_CMD_WRITE | id;
}

static void uart_start(void)
{
    enable_peripheral(ID_PIO);
    PIO_MSKR3 = 3u << 2;
    PIO_CFGR3 = FUNCTION_A;
    enable_peripheral(ID_UART1);
    UART_CR = CR_RSTRX_RSTTX;
    UART_MR = MR_PAR_NO;
    UART_BRGR = DIVIDER_115200;
    UART_CR = CR_TXEN;
}

/* newlib's printf ends here. */
int _write(int file, const char *text, int bytes)
{
    (void)file;
    for (int i = 0; i < bytes; i++) {
        while (!(UART_SR & SR_TXRDY)) {
        }
        UART_THR = (uint8_t)text[i];
    }
    return bytes;
}

/* Gives the caller's r0 and r1 added, in r0. */
__attribute__((naked)) void on_svc(void)
{
    __asm__ volatile("add r0, r0, r1\n\tmovs pc, lr");
}

/* Returns to the next instruction: this one has 4 bytes in either instruction set. */
__attribute__((naked)) void on_undefined(void)
{
    __asm__ volatile("push {r0-r3}\n\t"
                     "ldr r0, =undefined_taken\n\t"
                     "ldr r1, [r0]\n\t"
                     "add r1, r1, #1\n\t"
                     "str r1, [r0]\n\t"
                     "mrs r2, spsr\n\t"
                     "tst r2, #0x20\n\t"
                     "it ne\n\t"
                     "addne lr, lr, #2\n\t"
                     "pop {r0-r3}\n\t"
                     "movs pc, lr\n\t"
                     ".ltorg");
}

static uint32_t add_by_svc(uint32_t a, uint32_t b)
{
    register uint32_t r0 __asm__("r0") = a;
    register uint32_t r1 __asm__("r1") = b;
    __asm__ volatile("svc #7" : "+r"(r0) : "r"(r1) : "lr", "memory");
    return r0;
}

static void cycles_start(void)
{
    __asm__ volatile("mcr p15, 0, %0, c9, c12, 0" : : "r"(5u));       /* PMCR.E, PMCR.C */
    __asm__ volatile("mcr p15, 0, %0, c9, c12, 1" : : "r"(1u << 31)); /* PMCNTENSET.C */
}

static uint32_t cycles(void)
{
    uint32_t now;
    __asm__ volatile("isb\n\tmrc p15, 0, %0, c9, c13, 0" : "=r"(now) : : "memory");
    return now;
}

/* pi by Newton's arcsin series, as Horner's scheme with fused multiply-adds. */
static double series_pi(void)
{
    double sum = 1.0;
    for (int k = 24; k > 0; k--) {
        double ratio = (2.0 * k - 1.0) * (2.0 * k - 1.0) / (8.0 * k * (2.0 * k + 1.0));
        sum = fma(sum, ratio, 1.0);
    }
    return 3.0 * sum;
}

static float distance(const float *x, const float *y, int points)
{
    float squares = 0.0f;
    for (int i = 0; i < points; i++) {
        float d = x[i] - y[i];
        squares += d * d;
    }
    return sqrtf(squares);
}

static void print_floats(void)
{
    float x[POINTS], y[POINTS];
    for (int i = 0; i < POINTS; i++) {
        x[i] = 0.5f * (float)i;
        y[i] = (float)(POINTS - i) / 4.0f;
    }
    uint32_t before = cycles();
    float far = distance(x, y, POINTS);
    uint32_t took = cycles() - before;
    printf("pi %.12f, distance %.4f\n", series_pi(), (double)far);
    /* Per point two loads, a subtraction, a multiplication with an addition, and the loop, all of it in the caches but
     * the first time. */
    printf("cycles %s\n", took > 4u * POINTS && took < 50u * POINTS ? "plausible" : "odd");
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void print_integers(void)
{
    uint32_t *values = malloc(16 * sizeof *values);
    uint32_t state = 1;
    for (int i = 0; i < 16; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = state % 1000u;
    }
    qsort(values, 16, sizeof *values, by_value);
    for (int i = 1; i < 16; i++) {
        if (values[i] < values[i - 1]) {
            printf("out of order\n");
        }
    }
    volatile uint64_t dividend = 0x123456789ABCDEFull;
    printf("least %lu, greatest %lu, quotient %lu %s\n", (unsigned long)values[0], (unsigned long)values[15],
           (unsigned long)(dividend / 1000000007u), strstr("armeabi", "eabi"));
    free(values);
}

int main(void)
{
    WDT_MR = WDT_MR_WDDIS;
    memory_start();
    uart_start();
    cycles_start();
    setvbuf(stdout, NULL, _IONBF, 0);
#ifdef __thumb__
    printf("T32, GCC %s\n", __VERSION__);
#else
    printf("A32, GCC %s\n", __VERSION__);
#endif
    print_floats();
    print_integers();
    uint32_t sum = add_by_svc(40, 2);
#ifdef __thumb__
    __asm__ volatile(".inst.w 0xf7f0a000"); /* permanently undefined */
#else
    __asm__ volatile(".inst 0xe7f000f0"); /* permanently undefined */
#endif
    printf("svc %lu, undefined %lu\n", (unsigned long)sum, (unsigned long)undefined_taken);
    while (!(UART_SR & SR_TXEMPTY)) {
    }
    SHDW_CR = SHDW_CR_POWER_OFF;
    for (;;) {
    }
}
