// Functions with names of C++, and the same name in C: for RISC-V, RAM at 0x80000000.
namespace flash {
__attribute__((noinline)) int twice(int number)
{
    return 2 * number;
}

struct Chip {
    __attribute__((noinline)) int size() const
    {
        return bytes + 1;
    }
    int bytes;
};
}  // namespace flash

extern "C" __attribute__((used, noinline)) int work()
{
    volatile int sum = 0;
    flash::Chip chip{5};

    for (int i = 0; i < 3; i++)
        sum = sum + flash::twice(i);
    return sum + chip.size();
}

/* Sets the stack pointer, and tells the debugger that the program has ended (semihosting). */
extern "C" __attribute__((naked)) void _start()
{
    __asm__(".option norvc\n"
            "lui sp, 0x80100\n"
            "call work\n"
            "li a0, 0x18\n"
            "li a1, 0x20026\n"
            "slli zero, zero, 0x1f\n"
            "ebreak\n"
            "srai zero, zero, 7");
}
