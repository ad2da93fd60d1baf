/* Memory at address 0 of an STM32F4 and, with STM32L4, of an STM32L4R5, by SYSCFG_MEMRMP.MEM_MODE: code and vectors of
 * flash and of SRAM1. */
#include "armv7m.h"
#include "console.h"
#include "mmio.h"

#ifdef STM32L4
#define RCC_APB2ENR 0x40021060u
#define SYSCFG_BIT 0u
#define SYSCFG 0x40010000u
#else
#define RCC_APB2ENR 0x40023844u
#define SYSCFG_BIT 14u
#define SYSCFG 0x40013800u
#endif

#define FLASH 0x08000000u
#define SRAM1 0x20000000u
/* In the middle of SRAM1, which the program does not use otherwise. */
#define PLACE 0x8000u
#define SCB_ICSR 0xD04u
#define SCB_VTOR 0xD08u
#define PENDSVSET (1u << 28)
#define VECTORS 16u
#define PENDSV 14u
#define CALLS 3000u

extern const uint32_t vector_table[];

typedef uint32_t (*Function)(void);

/* Volatile, as nothing is at address 0 for the compiler; and in the flash, as SRAM1 begins with vectors for a while. */
static const volatile uint32_t zero = 0;

static uint32_t at(uint32_t address)
{
    return *(volatile uint32_t *)(zero + address);
}

static void put(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)(zero + address) = value;
}

static void show(uint32_t mode)
{
    mmio_write(SYSCFG, 0x00, mode);
    armv7m_dsb();
}

__attribute__((noinline)) static uint32_t in_flash(void)
{
    return at(SRAM1 + PLACE + 4u) + 1u;
}

/* MOVS r0, #value; BX lr. */
static void write_function(uint32_t address, uint32_t value)
{
    put(address, 0x47702000u | value);
    armv7m_dsb();
}

static uint32_t sum_of_calls(uint32_t address)
{
    Function function = (Function)(zero + address + 1u);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < CALLS; i++) {
        sum += function();
    }
    return sum;
}

/* Vectors and a handler in SRAM1, shown at 0: what was there comes back. */
static void take_exception(void)
{
    uint32_t kept[VECTORS];
    uint32_t vtor = mmio_read(ARMV7M_SCS_BASE, SCB_VTOR);

    /* LDR r0, [pc, #4]; STR r0, [r0]; BX lr; NOP; the address. */
    put(SRAM1 + PLACE + 16u, 0x60004801u);
    put(SRAM1 + PLACE + 20u, 0xBF004770u);
    put(SRAM1 + PLACE + 24u, SRAM1 + PLACE + 12u);
    put(SRAM1 + PLACE + 12u, 0);
    armv7m_disable_interrupts();
    for (uint32_t i = 0; i < VECTORS; i++) {
        kept[i] = at(SRAM1 + 4u * i);
    }
    for (uint32_t i = 0; i < VECTORS; i++) {
        put(SRAM1 + 4u * i, i == PENDSV ? PLACE + 17u : vector_table[i]);
    }
    mmio_write(ARMV7M_SCS_BASE, SCB_VTOR, 0);
    armv7m_dsb();
    armv7m_enable_interrupts();
    mmio_write(ARMV7M_SCS_BASE, SCB_ICSR, PENDSVSET);
    __asm__ volatile("dsb\n\tisb" : : : "memory");
    mmio_write(ARMV7M_SCS_BASE, SCB_VTOR, vtor);
    for (uint32_t i = 0; i < VECTORS; i++) {
        put(SRAM1 + 4u * i, kept[i]);
    }
    armv7m_dsb();
}

int main(void)
{
    const uint32_t flash_at_0 = (uint32_t)(uintptr_t)in_flash - 1u - FLASH;

    put(SRAM1 + PLACE + 4u, 6);
    mmio_write(RCC_APB2ENR, 0, mmio_read(RCC_APB2ENR, 0) | 1u << SYSCFG_BIT);
    console_print("flash: %u %u\n", at(0x20) == at(FLASH + 0x20), sum_of_calls(flash_at_0));
    write_function(SRAM1 + PLACE, 42);
    show(3);
    console_print("sram: %u %u\n", at(PLACE) == at(SRAM1 + PLACE), sum_of_calls(PLACE));
    write_function(SRAM1 + PLACE, 43);
    console_print("written there: %u\n", sum_of_calls(PLACE));
    write_function(PLACE, 44);
    console_print("written here: %u %u\n", sum_of_calls(PLACE), sum_of_calls(SRAM1 + PLACE));
    take_exception();
    console_print("exception: %u\n", at(PLACE + 12u) == SRAM1 + PLACE + 12u);
    show(0);
    console_print("flash: %u %u\n", at(0x20) == at(FLASH + 0x20), sum_of_calls(flash_at_0));
    show(1);
    return at(0x20) != at(FLASH + 0x20);
}
