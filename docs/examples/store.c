/* Writes 36 KiB of records to SPI flash: for the KC705, RAM at 0x80000000. */
#define REGISTER(offset) (*(volatile unsigned *)(0xc4000000 + (offset)))
#define SPI_CR REGISTER(0x60)  /* control */
#define SPI_SR REGISTER(0x64)  /* status; bit 2: all is sent */
#define SPI_DTR REGISTER(0x68) /* data to send */
#define SPI_DRR REGISTER(0x6c) /* received */
#define SPI_SSR REGISTER(0x70) /* slave selects, low when active */

#define CR_RUN 0x086 /* enabled, master, slave select by hand */
#define CR_HOLD (CR_RUN | 0x100)
#define CR_RESET_FIFOS 0x060

#define SECTOR 4096u
#define RECORD 64u

static unsigned char frame[4 + RECORD];

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

__attribute__((noinline)) static void command(unsigned char code, unsigned address, unsigned count)
{
    unsigned char write_enable = 0x06;

    transfer(&write_enable, 1);
    frame[0] = code;
    frame[1] = (unsigned char)(address >> 16);
    frame[2] = (unsigned char)(address >> 8);
    frame[3] = (unsigned char)address;
    transfer(frame, 4 + count);
    wait_until_ready();
}

__attribute__((noinline)) static void erase(unsigned address)
{
#ifdef LARGE_ERASE
    if (address % 65536 == 0)
        command(0xd8, address, 0); /* 64 KiB */
#else
    command(0x20, address, 0); /* 4 KiB */
#endif
}

/* A record sums up a table of measurements. */
__attribute__((noinline)) static void make_record(unsigned number)
{
    static unsigned char table[1 << 15];
    unsigned sum = number;

    for (unsigned i = 0; i < sizeof table; i += 64) {
        sum = sum * 33 + table[i];
        table[i] = (unsigned char)sum;
    }
    for (unsigned i = 0; i < RECORD; i++)
        frame[4 + i] = (unsigned char)(sum >> i % 24);
}

__attribute__((noinline)) void write_record(unsigned address, unsigned bytes)
{
    if (address % SECTOR == 0)
        erase(address);
    make_record(address / bytes);
    command(0x02, address, bytes);
}

__attribute__((used, noinline)) static void store(void)
{
    for (unsigned address = 0; address < 9 * SECTOR; address += RECORD)
        write_record(address, RECORD);
}

/* Sets the stack pointer, and reports the end of the program to the debugger (semihosting). */
__attribute__((naked)) void _start(void)
{
    __asm__(".option norvc\n"
            "lui sp, 0x80100\n"
            "call store\n"
            "li a0, 0x18\n"
            "li a1, 0x20026\n"
            "slli zero, zero, 0x1f\n"
            "ebreak\n"
            "srai zero, zero, 7");
}
