/*
 * A small kernel for tests: prints what Arm's boot protocol hands over, its command line and the first characters of
 * its initrd, and then does what the command line says: "panic", "prompt", or nothing; then PSCI's SYSTEM_OFF.
 */
#include <stddef.h>
#include <stdint.h>

#define UART4 0x40010000u
#define ISR (*(volatile uint32_t *)(UART4 + 0x1c))
#define RDR (*(volatile uint32_t *)(UART4 + 0x24))
#define TDR (*(volatile uint32_t *)(UART4 + 0x28))
#define RXNE 0x20u
#define TC 0x40u
#define TXE 0x80u
#define SYSTEM_OFF 0x84000008u

void psci(uint32_t function);

static void put(char character)
{
    while (!(ISR & TXE)) {
    }
    TDR = (uint8_t)character;
}

static void print(const char *text)
{
    for (; *text; text++) {
        put(*text);
    }
}

static void print_hex(const char *name, uint32_t value)
{
    print(name);
    for (int shift = 28; shift >= 0; shift -= 4) {
        put("0123456789abcdef"[value >> shift & 15]);
    }
    put('\n');
}

static uint32_t big(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int is_equal(const char *one, const char *other)
{
    while (*one && *one == *other) {
        one++;
        other++;
    }
    return *one == *other;
}

/* The value of the first property of a name in the devicetree. */
static const uint8_t *property(const uint8_t *tree, const char *name)
{
    const uint8_t *at = tree + big(tree + 8);
    const char *names = (const char *)tree + big(tree + 12);
    for (;;) {
        uint32_t token = big(at);
        at += 4;
        if (token == 1) {
            size_t size = 1;
            while (at[size - 1]) {
                size++;
            }
            at += (size + 3) & ~(size_t)3;
        } else if (token == 3) {
            if (is_equal(names + big(at + 4), name)) {
                return at + 8;
            }
            at += 8 + ((big(at) + 3) & ~3u);
        } else if (token == 9) {
            return NULL;
        }
    }
}

/* Waits for a line, and prints it; ends at "off". */
static void prompt(void)
{
    for (;;) {
        char line[16] = {0};
        size_t size = 0;
        print("/ # ");
        while (size < sizeof line - 1 && (size == 0 || line[size - 1] != '\r')) {
            while (!(ISR & RXNE)) {
            }
            line[size++] = (char)RDR;
        }
        line[size - 1] = 0;
        print(line);
        print("\n");
        if (is_equal(line, "off")) {
            return;
        }
    }
}

void kernel_main(uint32_t zero, uint32_t machine, const uint8_t *tree)
{
    print_hex("r0 ", zero);
    print_hex("r1 ", machine);
    print_hex("devicetree ", big(tree));
    const char *command = (const char *)property(tree, "bootargs");
    print("command line ");
    print(command ? command : "none");
    const uint8_t *initrd = property(tree, "linux,initrd-start");
    print("\ninitrd ");
    for (int number = 0; initrd && number < 6; number++) {
        put(((const char *)big(initrd))[number]);
    }
    print("\n");
    if (command && is_equal(command, "panic")) {
        print("[    1.000000] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)\r\n");
        print("[    1.000000] ---[ end Kernel panic - not syncing: VFS: Unable to mount root fs ]---\r\n");
        for (;;) {
        }
    }
    if (command && is_equal(command, "prompt")) {
        prompt();
    }
    while (!(ISR & TC)) {
    }
    psci(SYSTEM_OFF);
}
