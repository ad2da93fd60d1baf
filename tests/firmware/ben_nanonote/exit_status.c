/* A program that fails. */
int main(void)
{
    return 7;
}
