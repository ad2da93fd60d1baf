/* Reads a temperature from an LM70 on Altera's SPI core, and prints it. */
#define REGISTER(address) (*(volatile unsigned *)(address))

/* Altera's SPI core (Embedded Peripherals IP User Guide, SPI Core). */
#define SPI_RXDATA REGISTER(0x20000000)
#define SPI_TXDATA REGISTER(0x20000004)
#define SPI_STATUS REGISTER(0x20000008)
#define SPI_CONTROL REGISTER(0x2000000c)
#define SPI_STATUS_RRDY (1u << 7)
#define SPI_CONTROL_SSO (1u << 10)

/* AXI UART Lite, the CLINT's mtime at 10 MHz, and the register that ends the run. */
#define UART_TX REGISTER(0x10000004)
#define UART_STATUS REGISTER(0x10000008)
#define UART_STATUS_TX_FULL (1u << 3)
#define MTIME REGISTER(0x0200bff8)
#define EXIT REGISTER(0x00100000)

static void print(char character)
{
    while (UART_STATUS & UART_STATUS_TX_FULL)
        ;
    UART_TX = (unsigned char)character;
}

static unsigned exchange(unsigned byte)
{
    SPI_TXDATA = byte;
    while (!(SPI_STATUS & SPI_STATUS_RRDY))
        ;
    return SPI_RXDATA;
}

__attribute__((used)) static void run(void)
{
    /* The longest that the first conversion takes: 210 ms. */
    unsigned start = MTIME;
    while (MTIME - start < 2100000)
        ;

    SPI_CONTROL = SPI_CONTROL_SSO;
    unsigned value = exchange(0) << 8;
    value |= exchange(0);
    SPI_CONTROL = 0;

    unsigned hundredths = (value >> 5) * 25;
    print('0' + hundredths / 1000 % 10);
    print('0' + hundredths / 100 % 10);
    print('.');
    print('0' + hundredths / 10 % 10);
    print('0' + hundredths % 10);
    print('\n');
    EXIT = 0;
    for (;;)
        ;
}

__attribute__((naked)) void _start(void)
{
    __asm__("lui sp, 0x80100\nj run");
}
