/* Everybody's first program, four times: by registers, and as ST's LL and HAL drivers and libopencm3 write it, in code
 * of our own. Each way blinks a light, lights it while the button is pressed, and hands over to the next. Then the
 * button interrupts (EXTI, at both edges), the handler toggles the light, and after two presses the program ends.
 *
 * LED_PORT, LED_PIN, KEY_PORT (0 for A) and KEY_PIN are the board's, KEY_LEVEL is what the button reads while it is
 * pressed. With STM32L4 for an STM32L4R5 at 4 MHz, with STM32MP1 for the Cortex-M4 of an STM32MP157 at 209 MHz, else
 * for an STM32F4 at 16 MHz: rates when the program begins. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

#ifdef STM32MP1
#define GPIO_BASE 0x50002000u
#define GPIO_STRIDE 0x1000u
#define RCC_GPIO_ENR REGISTER(0x50000aa8u)
#define EXTI_RTSR 0x5000d000u
#define EXTI_FTSR 0x5000d004u
#define EXTI_PR 0x5000d00cu
#define EXTI_FPR 0x5000d010u
#define EXTI_IMR 0x5000d0c0u
#define EXTI_EXTICR 0x5000d060u
#define PORT_BITS 8u
#define CORE_KHZ 208877u
#else
#define GPIO_STRIDE 0x400u
#define EXTI_RTSR (EXTI_IMR + 8u)
#define EXTI_FTSR (EXTI_IMR + 12u)
#define EXTI_PR (EXTI_IMR + 20u)
#define EXTI_EXTICR (SYSCFG + 8u)
#define PORT_BITS 4u
#endif
#if defined(STM32L4)
#define GPIO_BASE 0x48000000u
#define RCC_GPIO_ENR REGISTER(0x4002104cu)
#define RCC_APB2ENR REGISTER(0x40021060u)
#define RCC_SYSCFGEN 1u
#define SYSCFG 0x40010000u
#define EXTI_IMR 0x40010400u
#define CORE_KHZ 4000u
#elif !defined(STM32MP1)
#define GPIO_BASE 0x40020000u
#define RCC_GPIO_ENR REGISTER(0x40023830u)
#define RCC_APB2ENR REGISTER(0x40023844u)
#define RCC_SYSCFGEN (1u << 14)
#define SYSCFG 0x40013800u
#define EXTI_IMR 0x40013c00u
#define CORE_KHZ 16000u
#endif
#define SYST_CSR REGISTER(0xe000e010u)
#define SYST_RVR REGISTER(0xe000e014u)
#define SYST_CVR REGISTER(0xe000e018u)
#define NVIC_ISER(number) REGISTER(0xe000e100u + 4u * ((number) / 32u))
#define MODER(port) REGISTER((port) + 0x00u)
#define IDR(port) REGISTER((port) + 0x10u)
#define ODR(port) REGISTER((port) + 0x14u)
#define BSRR(port) REGISTER((port) + 0x18u)
#define PORT(number) (GPIO_BASE + GPIO_STRIDE * (number))
#define LED PORT(LED_PORT)
#define LED_MASK (1u << LED_PIN)
#define KEY PORT(KEY_PORT)
#define KEY_MASK (1u << KEY_PIN)
#ifdef STM32MP1
#define KEY_IRQ (KEY_PIN == 14 ? 121u : 77u)
#else
#define KEY_IRQ (KEY_PIN == 0 ? 6u : 40u)
#endif
#define BLINKS 4u

extern uint32_t stack_top[];
void reset(void);
void tick(void);
void key_interrupt(void);
void stop(void);

static volatile uint32_t ticks;
static volatile uint32_t edges;

void tick(void)
{
    ticks += 1;
}

static void delay_ms(uint32_t ms)
{
    uint32_t begin = ticks;
    while (ticks - begin < ms) {
    }
}

/* ---- By registers */

static void registers_begin(void)
{
    RCC_GPIO_ENR |= 1u << LED_PORT | 1u << KEY_PORT;
    (void)RCC_GPIO_ENR;
    MODER(LED) = (MODER(LED) & ~(3u << (2 * LED_PIN))) | 1u << (2 * LED_PIN);
    MODER(KEY) &= ~(3u << (2 * KEY_PIN));
}

static void registers_set(uint32_t on)
{
    BSRR(LED) = on ? LED_MASK : LED_MASK << 16;
}

static void registers_toggle(void)
{
    ODR(LED) ^= LED_MASK;
}

static uint32_t registers_key(void)
{
    return IDR(KEY) >> KEY_PIN & 1u;
}

/* ---- As ST's LL drivers do: structures over the registers, a function that is inlined for each access */

typedef struct {
    volatile uint32_t MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR, LCKR, AFR[2];
} port_type;

#define LL_LED ((port_type *)LED)
#define LL_KEY ((port_type *)KEY)

static inline void ll_set_pin_mode(port_type *port, uint32_t number, uint32_t mode)
{
    port->MODER = (port->MODER & ~(3u << (number * 2u))) | mode << (number * 2u);
}

static void ll_begin(void)
{
    ll_set_pin_mode(LL_LED, LED_PIN, 1);
    ll_set_pin_mode(LL_KEY, KEY_PIN, 0);
}

static void ll_set(uint32_t on)
{
    if (on)
        LL_LED->BSRR = LED_MASK;
    else
        LL_LED->BSRR = LED_MASK << 16;
}

static void ll_toggle(void)
{
    uint32_t odr = LL_LED->ODR;
    LL_LED->BSRR = (odr & LED_MASK) << 16 | (~odr & LED_MASK);
}

static uint32_t ll_key(void)
{
    return (LL_KEY->IDR & KEY_MASK) == KEY_MASK;
}

/* ---- As ST's HAL does: an initialisation that walks over the bits of a mask, states of an enumeration */

enum pin_state { PIN_RESET, PIN_SET };

static __attribute__((noinline)) void hal_init(port_type *port, uint32_t pins, uint32_t mode)
{
    for (uint32_t position = 0; pins >> position != 0; position++) {
        if ((pins & 1u << position) == 0)
            continue;
        uint32_t kept = port->OSPEEDR & ~(3u << (position * 2u));
        port->OSPEEDR = kept;
        port->OTYPER &= ~(1u << position);
        port->PUPDR &= ~(3u << (position * 2u));
        port->MODER = (port->MODER & ~(3u << (position * 2u))) | mode << (position * 2u);
    }
}

static __attribute__((noinline)) void hal_write_pin(port_type *port, uint16_t pin, enum pin_state state)
{
    port->BSRR = state != PIN_RESET ? (uint32_t)pin : (uint32_t)pin << 16;
}

static __attribute__((noinline)) enum pin_state hal_read_pin(port_type *port, uint16_t pin)
{
    return (port->IDR & pin) != 0 ? PIN_SET : PIN_RESET;
}

static void hal_begin(void)
{
    hal_write_pin(LL_LED, LED_MASK, PIN_RESET);
    hal_init(LL_LED, LED_MASK, 1);
    hal_init(LL_KEY, KEY_MASK, 0);
}

static void hal_set(uint32_t on)
{
    hal_write_pin(LL_LED, LED_MASK, on ? PIN_SET : PIN_RESET);
}

static void hal_toggle(void)
{
    ll_toggle();
}

static uint32_t hal_key(void)
{
    return hal_read_pin(LL_KEY, KEY_MASK) == PIN_SET;
}

/* ---- As libopencm3 does: ports by their addresses, halfwords of pins */

static __attribute__((noinline)) void cm3_mode_setup(uint32_t port, uint8_t mode, uint16_t pins)
{
    uint32_t moder = MODER(port);
    for (uint32_t i = 0; i < 16; i++)
        if (pins & 1u << i)
            moder = (moder & ~(3u << (2 * i))) | (uint32_t)mode << (2 * i);
    MODER(port) = moder;
}

static void cm3_begin(void)
{
    cm3_mode_setup(LED, 1, LED_MASK);
    cm3_mode_setup(KEY, 0, KEY_MASK);
}

static void cm3_set(uint32_t on)
{
    BSRR(LED) = on ? LED_MASK : LED_MASK << 16;
}

static void cm3_toggle(void)
{
    uint32_t port = ODR(LED);
    BSRR(LED) = (port & LED_MASK) << 16 | (~port & LED_MASK);
}

static uint32_t cm3_key(void)
{
    return (uint16_t)IDR(KEY) & KEY_MASK;
}

/* ---- The program */

struct way {
    void (*begin)(void);
    void (*set)(uint32_t on);
    void (*toggle)(void);
    uint32_t (*key)(void);
};

static const struct way ways[] = {
    {registers_begin, registers_set, registers_toggle, registers_key},
    {ll_begin, ll_set, ll_toggle, ll_key},
    {hal_begin, hal_set, hal_toggle, hal_key},
    {cm3_begin, cm3_set, cm3_toggle, cm3_key},
};

static void run(const struct way *way, uint32_t half_ms)
{
    way->begin();
    for (uint32_t blink = 0; blink < 2 * BLINKS; blink++) {
        way->toggle();
        delay_ms(half_ms);
    }
    while ((way->key() != 0) != KEY_LEVEL) {
    }
    way->set(1);
    while ((way->key() != 0) == KEY_LEVEL) {
    }
    way->set(0);
}

void key_interrupt(void)
{
    REGISTER(EXTI_PR) = KEY_MASK;
#ifdef EXTI_FPR
    REGISTER(EXTI_FPR) = KEY_MASK;
#endif
    ll_toggle();
    edges += 1;
}

static __attribute__((noreturn)) void quit(uint32_t status)
{
    uint32_t block[2] = {0x20026u, status};
    register uint32_t r0 __asm__("r0") = 0x20u;
    register uint32_t *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" ::"r"(r0), "r"(r1) : "memory");
    for (;;) {
    }
}

void reset(void)
{
    SYST_RVR = CORE_KHZ - 1;
    SYST_CVR = 0;
    SYST_CSR = 7;
    for (uint32_t i = 0; i < sizeof ways / sizeof *ways; i++)
        run(&ways[i], 5 + i);
#ifdef RCC_SYSCFGEN
    RCC_APB2ENR |= RCC_SYSCFGEN;
    (void)RCC_APB2ENR;
#endif
    REGISTER(EXTI_EXTICR + 4u * (KEY_PIN / 4u)) = (uint32_t)KEY_PORT << (PORT_BITS * (KEY_PIN % 4u));
    REGISTER(EXTI_RTSR) |= KEY_MASK;
    REGISTER(EXTI_FTSR) |= KEY_MASK;
    REGISTER(EXTI_IMR) |= KEY_MASK;
    NVIC_ISER(KEY_IRQ) = 1u << (KEY_IRQ % 32u);
    SYST_CSR = 0;
    while (edges < 4)
        __asm__ volatile("wfi");
    quit(0);
}

void stop(void)
{
    quit(9);
}

__attribute__((section(".vectors"), used)) static void *const vectors[16 + 122] = {
    stack_top, (void *)reset, (void *)stop, (void *)stop, (void *)stop, (void *)stop, (void *)stop,
    [15] = (void *)tick, [16 + KEY_IRQ] = (void *)key_interrupt,
};
