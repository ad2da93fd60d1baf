/* Division instructions of a Cortex-A7; the A5 has no such instructions. */
int main(void)
{
    __asm__ volatile(".inst 0xe710f110 @ sdiv r0, r0, r1"); /* here */
    return 0;
}
