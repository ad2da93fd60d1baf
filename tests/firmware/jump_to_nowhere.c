/* A call through a wild pointer: the fetch fails, the runtime reports the access fault and exits. */
#include <stdint.h>

int main(void)
{
    void (*volatile nowhere)(void) = (void (*)(void))(uintptr_t)0x01f00000u;
    nowhere();
    return 0;
}
