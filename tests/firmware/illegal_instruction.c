/* An undefined instruction (all zeros, defined illegal by the manual) traps; the runtime reports it and exits. */
int main(void)
{
    __asm__ volatile(".option push\n.option norvc\n.balign 4\n.word 0\n.option pop");
    return 0;
}
