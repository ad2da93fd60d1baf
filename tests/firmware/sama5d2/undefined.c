/* Permanently undefined: what GCC's __builtin_trap is. */
int main(void)
{
    __asm__ volatile(".inst 0xe7f000f0"); /* here */
    return 0;
}
