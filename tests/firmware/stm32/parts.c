/* Uses each of the parts that every program of an STM32 meets: pins, interrupts of pins, serial lines, random numbers,
 * CRC unit, watchdog, bit-banding, cycle counter and stimulus ports. It prints its results, and ends by its watchdog.
 *
 * For an STM32F407 at 16 MHz, and with STM32L4 for an STM32L4R5 at 4 MHz: their rates out of reset. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

#ifdef STM32L4
#define RCC_AHB1ENR REGISTER(0x40021048u)
#define RCC_GPIO_ENR REGISTER(0x4002104cu)
#define RCC_RNG_ENR REGISTER(0x4002104cu)
#define RCC_RNG_BIT 18u
#define RCC_CONSOLE_ENR REGISTER(0x4002105cu)
#define RCC_CONSOLE_BIT 0u
#define RCC_APB2ENR REGISTER(0x40021060u)
#define RCC_SYSCFG_BIT 0u
#define RCC_USART1_BIT 14u
#define GPIOA 0x48000000u
#define SYSCFG 0x40010000u
#define EXTI 0x40010400u
#define USART1 0x40013800u
#define CONSOLE 0x40008000u
/* 256 * 4 MHz / 115200, and 4 MHz / 115200. */
#define CONSOLE_BRR 8889u
#define USART1_BRR 35u
#define BIT_BAND_ODR 0u
#else
#define RCC_AHB1ENR REGISTER(0x40023830u)
#define RCC_GPIO_ENR REGISTER(0x40023830u)
#define RCC_RNG_ENR REGISTER(0x40023834u)
#define RCC_RNG_BIT 6u
#define RCC_CONSOLE_ENR REGISTER(0x40023840u)
#define RCC_CONSOLE_BIT 17u
#define RCC_APB2ENR REGISTER(0x40023844u)
#define RCC_SYSCFG_BIT 14u
#define RCC_USART1_BIT 4u
#define GPIOA 0x40020000u
#define SYSCFG 0x40013800u
#define EXTI 0x40013c00u
#define USART1 0x40011000u
#define CONSOLE 0x40004400u
/* 16 MHz / 115200. */
#define CONSOLE_BRR 139u
#define USART1_BRR 139u
/* Bit 5 of GPIOA_ODR: the port is within the first MiB of peripherals. */
#define BIT_BAND_ODR (0x42000000u + (GPIOA - 0x40000000u + 0x14u) * 32u + 5u * 4u)
#endif

#define GPIO_MODER 0x00u
#define GPIO_PUPDR 0x0cu
#define GPIO_IDR 0x10u
#define GPIO_ODR 0x14u
#define GPIO_BSRR 0x18u
#define CRC 0x40023000u
#define RNG 0x50060800u
#define IWDG 0x40003000u
#define DEMCR REGISTER(0xe000edfcu)
#define DWT_CTRL REGISTER(0xe0001000u)
#define DWT_CYCCNT REGISTER(0xe0001004u)
/* CPICNT, EXCCNT, SLEEPCNT, LSUCNT, FOLDCNT. */
#define DWT_EVENTS 0xe0001008u
#define ITM 0xe0000000u
#define NVIC_ISER0 REGISTER(0xe000e100u)

extern uint32_t stack_top[];
void reset(void);
void pin_interrupt(void);
void stop(void);

static volatile uint32_t pin_interrupts;
static volatile uint32_t flags;

/* A pin in an alternate function. */
static void alternate(uint32_t port, uint32_t pin, uint32_t function)
{
    uint32_t functions = port + (pin < 8u ? 0x20u : 0x24u);
    REGISTER(functions) |= function << 4u * (pin % 8u);
    REGISTER(port + GPIO_MODER) = (REGISTER(port + GPIO_MODER) & ~(3u << 2u * pin)) | 2u << 2u * pin;
}

/* Transmit pins: PA2 or PG7 of the console, PA9 of USART1. */
static void open_pins(void)
{
    alternate(GPIOA, 9, 7);
#ifdef STM32L4
    /* PG7 has a supply of its own: PWR_CR2.IOSV. */
    REGISTER(0x40021058u) |= 1u << 28;
    REGISTER(0x40007004u) |= 1u << 9;
    RCC_GPIO_ENR |= 1u << 6;
    alternate(0x48001800u, 7, 8);
#else
    alternate(GPIOA, 2, 7);
#endif
}

static void serial_open(uint32_t base, uint32_t divider)
{
#ifdef STM32L4
    REGISTER(base + 0x0cu) = divider;
    REGISTER(base + 0x00u) = 1u << 0 | 1u << 3;
#else
    REGISTER(base + 0x08u) = divider;
    REGISTER(base + 0x0cu) = 1u << 13 | 1u << 3;
#endif
}

static void serial_put(uint32_t base, char character)
{
#ifdef STM32L4
    while ((REGISTER(base + 0x1cu) & 1u << 7) == 0) {
    }
    REGISTER(base + 0x28u) = (uint32_t)character;
#else
    while ((REGISTER(base + 0x00u) & 1u << 7) == 0) {
    }
    REGISTER(base + 0x04u) = (uint32_t)character;
#endif
}

static void serial_drain(uint32_t base)
{
#ifdef STM32L4
    while ((REGISTER(base + 0x1cu) & 1u << 6) == 0) {
    }
#else
    while ((REGISTER(base) & 1u << 6) == 0) {
    }
#endif
}

static void say(uint32_t base, const char *text)
{
    while (*text != 0) {
        serial_put(base, *text++);
    }
}

static void tell(const char *what, uint32_t value)
{
    say(CONSOLE, what);
    for (int shift = 28; shift >= 0; shift -= 4) {
        serial_put(CONSOLE, "0123456789abcdef"[value >> shift & 15u]);
    }
    serial_put(CONSOLE, '\n');
}

void pin_interrupt(void)
{
    REGISTER(EXTI + 0x14u) = 1u << 0;
    /* Read back, so that the line is down by the return: else the interrupt comes once more. */
    (void)REGISTER(EXTI + 0x14u);
    pin_interrupts++;
}

void stop(void)
{
    for (;;) {
    }
}

/* Pin 5 is an output; pin 0 an input whose pulls make its edges. */
static void try_pins(void)
{
    REGISTER(GPIOA + GPIO_MODER) = (REGISTER(GPIOA + GPIO_MODER) & ~(3u << 10 | 3u)) | 1u << 10;
    REGISTER(GPIOA + GPIO_BSRR) = 1u << 5;
    uint32_t high = REGISTER(GPIOA + GPIO_IDR) >> 5 & 1u;
    REGISTER(GPIOA + GPIO_BSRR) = 1u << 21;
    tell("pin ", high << 4 | (REGISTER(GPIOA + GPIO_IDR) >> 5 & 1u));

    REGISTER(SYSCFG + 0x08u) = 0;
    REGISTER(EXTI + 0x08u) |= 1u << 0;
    REGISTER(EXTI + 0x00u) |= 1u << 0;
    NVIC_ISER0 = 1u << 6;
    for (int i = 0; i < 3; i++) {
        REGISTER(GPIOA + GPIO_PUPDR) = (REGISTER(GPIOA + GPIO_PUPDR) & ~3u) | 2u;
        REGISTER(GPIOA + GPIO_PUPDR) = (REGISTER(GPIOA + GPIO_PUPDR) & ~3u) | 1u;
    }
    tell("interrupts ", pin_interrupts);
}

static void try_bits(void)
{
    volatile uint32_t *alias = (volatile uint32_t *)(0x22000000u + ((uint32_t)&flags - 0x20000000u) * 32u);
    uint32_t sum = 0;
    flags = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        alias[i % 32u] = i >> 5;
        sum += alias[(i + 7u) % 32u];
    }
    tell("bits ", flags);
    tell("sum ", sum);
    if (BIT_BAND_ODR != 0) {
        REGISTER(BIT_BAND_ODR) = 1;
        tell("bit of ODR ", REGISTER(GPIOA + GPIO_ODR) & 1u << 5);
    }
}

static void try_numbers(void)
{
    REGISTER(RNG) = 1u << 2;
    uint32_t words[2];
    uint32_t begin = 0;
    for (int i = 0; i < 2; i++) {
        while ((REGISTER(RNG + 4u) & 1u) == 0) {
        }
        words[i] = REGISTER(RNG + 8u);
        begin = i == 0 ? DWT_CYCCNT : begin;
    }
    uint32_t cycles = DWT_CYCCNT - begin;
    tell("words differ ", words[0] != words[1]);
    tell("cycles for a word ", cycles);
    REGISTER(CRC + 8u) = 1;
    REGISTER(CRC) = 0x12345678u;
    tell("crc ", REGISTER(CRC));
}

/* The counts of each counter in a loop that runs long enough to be compiled; an interrupt comes in its middle. */
static void try_events(void)
{
    static volatile uint32_t words[16];
    DWT_CTRL |= 0x1fu << 17;
    for (uint32_t i = 0; i < 5000; i++) {
        words[i % 16u] += words[(i + 3u) % 16u] / (i | 1u);
        if (i == 4000) {
            REGISTER(EXTI + 0x10u) = 1u << 0;
        }
    }
    uint32_t counts = 0;
    for (uint32_t number = 0; number < 4; number++) {
        counts = counts << 8 | REGISTER(DWT_EVENTS + 4u * number);
    }
    tell("events ", counts);
}

static void try_stimulus(void)
{
    REGISTER(ITM + 0xfb0u) = 0xc5acce55u;
    REGISTER(ITM + 0xe80u) = 1;
    REGISTER(ITM + 0xe00u) = 1;
    for (const char *text = "by port 0\n"; *text != 0; text++) {
        while (REGISTER(ITM) == 0) {
        }
        *(volatile uint8_t *)ITM = (uint8_t)*text;
    }
}

/* 48 MHz: by HSI48, or by the PLL's output Q, of HSI / 8 * 192 / 8. */
static void start_clock_of_rng(void)
{
#ifdef STM32L4
    REGISTER(0x40021098u) |= 1u << 0;
    while ((REGISTER(0x40021098u) & 1u << 1) == 0) {
    }
#else
    REGISTER(0x40023804u) = 8u << 24 | 192u << 6 | 8u;
    REGISTER(0x40023800u) |= 1u << 24;
    while ((REGISTER(0x40023800u) & 1u << 25) == 0) {
    }
#endif
}

void reset(void)
{
    RCC_GPIO_ENR |= 1u << 0;
    RCC_AHB1ENR |= 1u << 12;
    start_clock_of_rng();
    RCC_RNG_ENR |= 1u << RCC_RNG_BIT;
    RCC_CONSOLE_ENR |= 1u << RCC_CONSOLE_BIT;
    RCC_APB2ENR |= 1u << RCC_SYSCFG_BIT | 1u << RCC_USART1_BIT;
    open_pins();
    DEMCR |= 1u << 24;
    DWT_CYCCNT = 0;
    DWT_CTRL |= 1;
    serial_open(CONSOLE, CONSOLE_BRR);
    serial_open(USART1, USART1_BRR);
    try_pins();
    try_bits();
    try_numbers();
    try_events();
    try_stimulus();
    say(USART1, "the other line\n");
    serial_drain(CONSOLE);
    serial_drain(USART1);

    /* The watchdog: 4 clocks of LSI for each of 32 steps. */
    REGISTER(IWDG) = 0x5555;
    REGISTER(IWDG + 8u) = 31;
    while (REGISTER(IWDG + 12u) != 0) {
    }
    REGISTER(IWDG) = 0xcccc;
    REGISTER(IWDG) = 0xaaaa;
    stop();
}

/* The core's exceptions, and interrupts up to EXTI0. */
__attribute__((section(".vectors"), used)) static void *const vectors[] = {
    stack_top, reset, stop, stop, stop, stop, stop, 0,    0,    0,    0,
    stop,      stop,  0,    stop, stop, stop, stop, stop, stop, stop, stop,
    pin_interrupt,
};
