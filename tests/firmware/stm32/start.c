/*
 * The start of a Cortex-M4, and adjacent memories that programs use as one: main prints by semihosting whether the
 * reset handler ran, and makes accesses across `SEAM`, the address where one RAM ends and the next begins.
 */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

extern uint32_t stack_top[];
int main(void);
static volatile uint32_t ran;

static void call_host(uint32_t operation, const void *argument)
{
	register uint32_t r0 __asm__("r0") = operation;
	register const void *r1 __asm__("r1") = argument;

	__asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void print(const char *text)
{
	call_host(4, text);
}

void reset(void)
{
	REGISTER(0xe000ed88) |= 0xf << 20; /* CPACR */
	__asm__ volatile("dsb; isb");
	ran = 0x600d;
	main();
	call_host(0x18, (void *)0x20026);
	for (;;)
		;
}

__attribute__((section(".vectors"), used)) static void *const table[32] = {stack_top, (void *)reset};

#ifdef SEAM
#ifdef LARGE_BYTES
/* Cleared by the loader: it lies in both memories. */
static uint8_t large[LARGE_BYTES];
#else
/* In the program's file, 16 bytes on each side. */
__attribute__((section(".seam"), used)) static const uint32_t loaded[8] = {1, 2, 3, 4, 5, 6, 7, 8};
#endif

static void check(int is_right, const char *what)
{
	if (!is_right)
		print(what);
}

/* Eight registers stored, and loaded again, by instructions that begin four words before the boundary. */
static uint32_t several(uint32_t *at)
{
	uint32_t sum;

	__asm__ volatile("movs r2, #1\n movs r3, #2\n movs r4, #3\n movs r5, #4\n movs r6, #5\n mov r8, #6\n"
			 "stmia %1, {r2-r6, r8}\n ldmia %1, {r4-r6, r8, r9, r10}\n"
			 "mov r2, sp\n add r3, %1, #16\n mov sp, r3\n push {r4-r6, r8, r9, r10}\n pop {r4-r6, r8, r9, r10}\n"
			 "mov sp, r2\n lsl r9, r9, #8\n orr r8, r8, r9\n lsl r10, r10, #16\n orr %0, r8, r10\n"
			 : "=r"(sum)
			 : "r"(at)
			 : "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "memory");
	return sum;
}

/* A function of four halfwords, two on each side: r0 + 3. */
static uint32_t run_over(void)
{
	volatile uint16_t *code = (uint16_t *)(SEAM - 4);

	code[0] = 0x3001;
	code[1] = 0x3001;
	code[2] = 0x3001;
	code[3] = 0x4770;
	__asm__ volatile("dsb; isb");
	return ((uint32_t (*)(uint32_t))(SEAM - 4 + 1))(39);
}

/* A word instruction (movw r0, #0x1234) with a half on each side. */
static uint32_t run_word(void)
{
	volatile uint16_t *code = (uint16_t *)(SEAM - 2);

	code[0] = 0xf241;
	code[1] = 0x2034;
	code[2] = 0x4770;
	__asm__ volatile("dsb; isb");
	return ((uint32_t (*)(void))(SEAM - 2 + 1))();
}

#ifdef STM32F4
static void copy_by_dma(const uint32_t *from, uint32_t *to, uint32_t words)
{
	REGISTER(0x40023830) |= 1 << 22; /* RCC_AHB1ENR: DMA2 */
	(void)REGISTER(0x40023830);
	REGISTER(0x40026418) = (uint32_t)from;
	REGISTER(0x4002641c) = (uint32_t)to;
	REGISTER(0x40026414) = words;
	REGISTER(0x40026424) = 7;			      /* FIFO, full */
	REGISTER(0x40026410) = 1 << 23 | 2 << 13 | 2 << 11 | 3 << 9 | 2 << 6; /* bursts of 4 words, memory to memory */
	REGISTER(0x40026410) |= 1;
	while (REGISTER(0x40026410) & 1)
		;
}
#elif defined(STM32L4)
static void copy_by_dma(const uint32_t *from, uint32_t *to, uint32_t words)
{
	REGISTER(0x40021048) |= 1; /* RCC_AHB1ENR: DMA1 */
	(void)REGISTER(0x40021048);
	REGISTER(0x40020008) = 0;
	REGISTER(0x40020004) = 0xf;
	REGISTER(0x40020010) = (uint32_t)from;
	REGISTER(0x40020014) = (uint32_t)to;
	REGISTER(0x4002000c) = words;
	REGISTER(0x40020008) = 1 << 14 | 2 << 10 | 2 << 8 | 3 << 6 | 1;
	while (!(REGISTER(0x40020000) & 2))
		;
}
#endif

static void seam(void)
{
	uint32_t *words = (uint32_t *)SEAM;
	volatile uint8_t *bytes = (volatile uint8_t *)SEAM;

#ifdef LARGE_BYTES
	uint32_t sum = 0;

	for (uint32_t i = 0; i < sizeof large; i++)
		sum |= ((volatile uint8_t *)large)[i];
	check(sum == 0, "cleared bytes\n");
	check((uint32_t)large < SEAM && (uint32_t)large + sizeof large > SEAM, "place\n");
#else
	for (int i = 0; i < 8; i++)
		check(((volatile const uint32_t *)loaded)[i] == (uint32_t)i + 1, "loaded bytes\n");
	check((uint32_t)loaded == SEAM - 16, "place\n");
#endif
	for (int i = 1; i < 4; i++) {
		*(volatile uint32_t *)(SEAM - i) = 0x04030201 + i;
		check(*(volatile uint32_t *)(SEAM - i) == 0x04030201u + i, "word\n");
		check(bytes[-i] == 1 + i && bytes[3 - i] == 4, "bytes of a word\n");
	}
	*(volatile uint16_t *)(SEAM - 1) = 0xa55a;
	check(bytes[-1] == 0x5a && bytes[0] == 0xa5, "halfword\n");
	check(several(words - 4) == 0x060504, "several\n");
	check(run_over() == 42, "code\n");
	check(run_word() == 0x1234, "code of a word\n");
#if defined(STM32F4) || defined(STM32L4)
	for (int i = 0; i < 8; i++)
		words[i + 64] = 0x1000 + i;
	copy_by_dma(words + 64, words - 4, 8);
	check(((volatile uint32_t *)words)[-4] == 0x1000 && ((volatile uint32_t *)words)[3] == 0x1007, "DMA\n");
	copy_by_dma(words - 4, words + 128, 8);
	check(((volatile uint32_t *)words)[135] == 0x1007, "DMA from\n");
#endif
	for (int i = 0; i < 13; i++)
		bytes[i - 6] = "over a join\n"[i];
	print((const char *)SEAM - 6);
}
#else
static void seam(void)
{
}
#endif

int main(void)
{
#ifndef NO_FPU
	volatile float half = 1.5f;
#endif

#ifdef BYTES
	print("\x7f\x80\xff\xc3\xa4\n\xe2\x82");
	return 0;
#endif
#ifdef OPTIONS
	/* FLASH_ACR: wait states, by which the width of a line shows. */
	REGISTER(OPTIONS - 0x20) = 4;
	print(REGISTER(OPTIONS) & 1 << 22 ? "two banks\n" : "one bank\n");
#endif
	print(ran == 0x600d ? "reset handler ran\n" : "no reset handler\n");
#ifndef NO_FPU
	half = half * 2;
#endif
	seam();
	return 0;
}
