/* Unpacks a picture, turns it by 90 degrees, and adds it up: for RISC-V, RAM at 0x80000000. */
#define SIDE 256

static unsigned char packed[SIDE * SIDE / 8], picture[SIDE][SIDE], turned[SIDE][SIDE];
unsigned sum;

static inline unsigned char shade(unsigned bits, unsigned bit)
{
    return bits >> bit & 1 ? 255 : 16;
}

__attribute__((noinline)) static void unpack_row(unsigned y)
{
    for (unsigned x = 0; x < SIDE; x++)
        picture[y][x] = shade(packed[(y * SIDE + x) / 8], x % 8);
}

__attribute__((noinline)) static void turn(void)
{
#ifdef IN_TILES
    for (unsigned top = 0; top < SIDE; top += 16)
        for (unsigned x = 0; x < SIDE; x++)
            for (unsigned y = top; y < top + 16; y++)
                turned[x][SIDE - 1 - y] = picture[y][x];
#else
    for (unsigned y = 0; y < SIDE; y++)
        for (unsigned x = 0; x < SIDE; x++)
            turned[x][SIDE - 1 - y] = picture[y][x];
#endif
}

__attribute__((noinline)) static unsigned add_up(void)
{
    unsigned total = 0;

    for (unsigned i = 0; i < SIDE * SIDE; i++)
        total += turned[0][i];
    return total;
}

__attribute__((used, noinline)) static void prepare(void)
{
    for (unsigned i = 0; i < sizeof packed; i++)
        packed[i] = (unsigned char)(i * 37);
    for (unsigned y = 0; y < SIDE; y++)
        unpack_row(y);
    turn();
    sum = add_up();
}

/* Sets the stack pointer, and reports the end of the program to the debugger (semihosting). */
__attribute__((naked)) void _start(void)
{
    __asm__(".option norvc\n"
            "lui sp, 0x80100\n"
            "call prepare\n"
            "li a0, 0x18\n"
            "li a1, 0x20026\n"
            "slli zero, zero, 0x1f\n"
            "ebreak\n"
            "srai zero, zero, 7");
}
