/* A CP15 register that is not there. */
int main(void)
{
    __asm__ volatile("mcr p15, 7, r0, c1, c9, 5"); /* here */
    return 0;
}
