/* I2C interface of the STM32MP157, F0, F3, F7, H7 and others (RM0436, I2C): master, polled, addresses of 7 bits. */
#ifndef STM32_I2C_H
#define STM32_I2C_H

#include <stddef.h>
#include <stdint.h>

/* I2C_TIMINGR for a kernel clock of 64 MHz: tPRESC is 250 ns, tSCLL 5.5 us and tSCLH 4.25 us; or 125 ns, 1.5 us and
 * 0.75 us. With tSYNC1 and tSYNC2 of 250 ns or more together, as an analog filter of 50 ns makes them on any bus, SCL
 * is no faster than it may be. */
#define STM32_I2C_TIMING_100_KHZ_FROM_64_MHZ 0xF0421015u
#define STM32_I2C_TIMING_400_KHZ_FROM_64_MHZ 0x7033050Bu

/* For rcc_enable and rcc_select: its clock, and the register that chooses the kernel clock of I2C1 and I2C2. */
#define RCC_CLOCK_I2C1 RCC_CLOCK(0xA00u, 21u)
#define RCC_I2C12CKSELR 0x8C0u
#define RCC_I2C_FROM_HSI 2u

/* Beside those of error.h: a chip did not acknowledge its address or a byte. */
#define ERROR_I2C_NACK (-27)

/* Sets the interface up, with its analog filter. Its clock runs already. */
void stm32_i2c_start(uintptr_t base, uint32_t timing);

/* Writes `written` bytes to a chip and then reads `read` of its bytes after a repeated START; either may be 0. Up to
 * 255 bytes each. Returns 0, ERROR_I2C_NACK if the chip did not acknowledge its address or a byte, ERROR_TOO_LONG, or
 * ERROR_TIMEOUT. */
int stm32_i2c_transfer(uintptr_t base, uint8_t address, const uint8_t *out, size_t written, uint8_t *in, size_t read);

#endif
