/*
 * Start-up for an STM32F4 Discovery as its owner writes it: the vector table at the beginning of the flash, start-up in
 * C, newlib on USART2 (PA2 and PA3), HSI at 16 MHz.
 */

#define REG(address) (*(volatile unsigned *)(address))

#define CPACR REG(0xe000ed88)
#define RCC_AHB1ENR REG(0x40023830)
#define RCC_APB1ENR REG(0x40023840)
#define GPIOA_MODER REG(0x40020000)
#define GPIOA_AFRL REG(0x40020020)
#define USART2_SR REG(0x40004400)
#define USART2_DR REG(0x40004404)
#define USART2_BRR REG(0x40004408)
#define USART2_CR1 REG(0x4000440c)

enum { SR_TC = 1 << 6, SR_TXE = 1 << 7, CR1_TE = 1 << 3, CR1_UE = 1 << 13 };

extern unsigned data_load[], data_start[], data_end[], bss_start[], bss_end[], stack_top[];
extern char heap_start[];
extern void (*const init_start[])(void), (*const init_end[])(void);

int main(void);

/* The handle with which C++ registers destructors of global objects. */
void *__dso_handle;

int _write(int file, const char *from, int count) {
    (void)file;
    for (int i = 0; i < count; i++) {
        while (!(USART2_SR & SR_TXE)) {
        }
        USART2_DR = (unsigned char)from[i];
    }
    return count;
}

void *_sbrk(int bytes) {
    static char *next = heap_start;
    char *begin = next;

    next += bytes;
    return begin;
}

/* Ends the run as under a debugger: semihosting, SYS_EXIT_EXTENDED. */
static void quit(int status) {
    int block[2] = {0x20026, status};
    register int operation __asm__("r0") = 0x20;
    register int *parameter __asm__("r1") = block;

    while (!(USART2_SR & SR_TC)) {
    }
    __asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(parameter) : "memory");
}

void reset(void) {
    CPACR |= 0xf << 20;
    for (unsigned *from = data_load, *to = data_start; to < data_end;) {
        *to++ = *from++;
    }
    for (unsigned *to = bss_start; to < bss_end;) {
        *to++ = 0;
    }
    RCC_AHB1ENR |= 1 << 0;
    RCC_APB1ENR |= 1 << 17;
    GPIOA_MODER = (GPIOA_MODER & ~0xf0u) | 0xa0;
    GPIOA_AFRL |= 0x7700;
    USART2_BRR = 139; /* 115200 baud at 16 MHz */
    USART2_CR1 = CR1_UE | CR1_TE;
    for (void (*const *begin)(void) = init_start; begin < init_end; begin++) {
        (*begin)();
    }
    quit(main());
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) void *const vectors[16] = {stack_top, (void *)reset};
