/* Calculations of the core, and a function to be timed. */
#include <stdint.h>

#include "console.h"

struct packed {
	uint8_t first;
	uint32_t word;
} __attribute__((packed));

/* Ten loads of a register, each an access of its own to port A's pins. */
__attribute__((noinline)) static uint32_t read_pins(void)
{
	const volatile uint32_t *pins = (const volatile uint32_t *)0xb0010000u;
	uint32_t sum = 0;
	for (int n = 0; n < 10; n++) {
		sum |= *pins;
	}
	return sum;
}

__attribute__((noinline)) static uint32_t fibonacci(uint32_t n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static uint64_t product(uint32_t a, uint32_t b)
{
	return (uint64_t)a * b;
}

static volatile uint32_t seven = 7;
static volatile struct packed unaligned;

int main(void)
{
	int right = 1;
	right &= fibonacci(15) == 610;
	right &= product(0xfffffffbu, 0xfffffff7u) == 0xfffffff20000002dull;
	right &= 1000003u / seven == 142857u && 1000003u % seven == 4;
	right &= -1000003 / (int32_t)seven == -142857;
	unaligned.word = 0x12345678;
	right &= unaligned.word == 0x12345678 && unaligned.first == 0;
	(void)read_pins();
	(void)read_pins();
	console_print("%s\n", right ? "right" : "wrong");
	return right ? 0 : 1;
}
