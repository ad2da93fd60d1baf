/* Samples a signal by a timer's interrupts, and stores pages of them in SPI flash: for the KC705. */
#define WORD(address) (*(volatile unsigned *)(address))
#define MTIMECMP WORD(0x44004000)
#define MTIMECMP_HIGH WORD(0x44004004)
#define MTIME WORD(0x4400bff8) /* at 100 MHz */

#define SPI_CR WORD(0xc4000060)  /* control */
#define SPI_SR WORD(0xc4000064)  /* status; bit 2: all is sent */
#define SPI_DTR WORD(0xc4000068) /* data to send */
#define SPI_DRR WORD(0xc400006c) /* received */
#define SPI_SSR WORD(0xc4000070) /* slave selects, low when active */

#define CR_RUN 0x086 /* enabled, master, slave select by hand */
#define CR_HOLD (CR_RUN | 0x100)
#define CR_RESET_FIFOS 0x060

#define PERIOD 1000u /* of samples, in ticks of mtime: 10 us */
#define SAMPLES 192u
#define PAGES 12u

static volatile unsigned ring[SAMPLES], taken;
static unsigned char page[4 + SAMPLES];

__attribute__((interrupt("machine"), aligned(4))) static void tick(void)
{
    static unsigned phase;

    phase = phase * 1664525u + 1013904223u;
    ring[taken % SAMPLES] = phase >> 20;
    taken = taken + 1;
    MTIMECMP = MTIMECMP + PERIOD;
}

__attribute__((noinline)) static void transfer(unsigned char *bytes, unsigned count)
{
    SPI_CR = CR_HOLD | CR_RESET_FIFOS;
    SPI_SSR = ~1u;
    for (unsigned i = 0; i < count; i++)
        SPI_DTR = bytes[i];
    SPI_CR = CR_RUN;
    while (!(SPI_SR & 4))
        ;
    for (unsigned i = 0; i < count; i++)
        bytes[i] = (unsigned char)SPI_DRR;
    SPI_SSR = ~0u;
}

__attribute__((noinline)) static void wait_until_ready(void)
{
    unsigned char status[2];

    do {
        status[0] = 0x05; /* read status register; bit 0: busy */
        transfer(status, sizeof status);
    } while (status[1] & 1);
}

__attribute__((noinline)) static void write_page(unsigned address)
{
    unsigned char write_enable = 0x06;

    transfer(&write_enable, 1);
    page[0] = 0x02; /* page program */
    page[1] = (unsigned char)(address >> 16);
    page[2] = (unsigned char)(address >> 8);
    page[3] = (unsigned char)address;
    transfer(page, sizeof page);
    wait_until_ready();
}

static inline unsigned weight(unsigned distance)
{
    return 16 - distance;
}

__attribute__((noinline)) static void smooth(void)
{
    for (unsigned i = 0; i < SAMPLES; i++) {
        unsigned sum = 0;

        for (unsigned k = 0; k < 16; k++)
            sum += ring[(i + k) % SAMPLES] * weight(k);
        page[4 + i] = (unsigned char)(sum / 2176); /* of 12 bits, and 136 weights */
    }
}

__attribute__((used, noinline)) static void record(void)
{
    MTIMECMP_HIGH = 0;
    MTIMECMP = MTIME + PERIOD;
    __asm__ volatile("csrw mtvec, %0\n csrw mie, %1\n csrsi mstatus, 8" : : "r"(tick), "r"(0x80));
    for (unsigned number = 0; number < PAGES; number++) {
        while (taken < (number + 1) * SAMPLES)
            __asm__ volatile("wfi");
        smooth();
        write_page(number * 256);
    }
}

/* Sets the stack pointer, and reports the end of the program to the debugger (semihosting). */
__attribute__((naked)) void _start(void)
{
    __asm__(".option norvc\n"
            "lui sp, 0x80100\n"
            "call record\n"
            "li a0, 0x18\n"
            "li a1, 0x20026\n"
            "slli zero, zero, 0x1f\n"
            "ebreak\n"
            "srai zero, zero, 7");
}
