/* An addition of Advanced SIMD. */
int main(void)
{
    __asm__ volatile(".inst 0xf2200840 @ vadd.i32 q0, q0, q0"); /* here */
    return 0;
}
