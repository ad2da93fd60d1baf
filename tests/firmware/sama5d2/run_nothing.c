/* A call to where nothing is. */
int main(void)
{
    ((void (*)(void))0x60000000)(); /* here */
    return 0;
}
