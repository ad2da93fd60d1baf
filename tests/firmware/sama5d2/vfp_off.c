/* Floating point with FPEXC.EN 0. */
int main(void)
{
    __asm__ volatile("mov r0, #0\n\t.inst 0xeee80a10 @ vmsr fpexc, r0" : : : "r0");
    __asm__ volatile(".inst 0xee300a00 @ vadd.f32 s0, s0, s0"); /* here */
    return 0;
}
