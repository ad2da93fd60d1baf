/* STM32MP157C-DK2: addresses and interrupt numbers (RM0436, memory map and interrupt tables). Both cores see the
 * peripherals at the same addresses; what is a core's own goes by BOARD_CORE_CPU0, the Cortex-A7, and BOARD_CORE_CM4.
 * Clocks: BOARD_MCU_HZ is the M4's, BOARD_UART_HZ the kernel clock of UART4 and UART7, hsi_ck, and BOARD_TIMER_HZ what
 * STGEN counts for the generic timer, hse_ck. */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "stm32mp157c-dk2"

/* SRAM1 and SRAM2, the M4's own; SRAM3 and SRAM4, which both cores use. */
#define BOARD_MCU_SRAM_BASE 0x10000000u
#define BOARD_MCU_SRAM_BYTES 0x00060000u
#define BOARD_SHARED_SRAM_BASE 0x10040000u
#define BOARD_SHARED_SRAM_BYTES 0x00020000u
/* RETRAM, which is at 0 for the M4 as well: its vectors. */
#define BOARD_RETRAM_BASE 0x38000000u
#define BOARD_RETRAM_BYTES 0x00010000u

/* Where Linux has the rings and buffers of RPMsg (stm32mp15xx-dkx.dtsi, reserved-memory). */
#define BOARD_VRING0_BASE 0x10040000u
#define BOARD_VRING1_BASE 0x10041000u
#define BOARD_VRING_BYTES 0x1000u
#define BOARD_RPMSG_BUFFERS_BASE 0x10042000u
#define BOARD_RPMSG_BUFFERS_BYTES 0x4000u

#define BOARD_DDR_BASE 0xC0000000u
#define BOARD_DDR_BYTES 0x1E000000u
/* The end of the DDR3L, for large buffers that both cores use. */
#define BOARD_IPC_SHARED_BASE 0xDE000000u
#define BOARD_IPC_SHARED_BYTES 0x01000000u

#define BOARD_UART4_BASE 0x40010000u
#define BOARD_I2C1_BASE 0x40012000u
#define BOARD_UART7_BASE 0x40018000u
#define BOARD_HSEM_BASE 0x4C000000u
#define BOARD_IPCC_BASE 0x4C001000u
#define BOARD_RCC_BASE 0x50000000u
#define BOARD_GPIOD_BASE 0x50005000u
#define BOARD_GPIOF_BASE 0x50007000u
#define BOARD_MDMA_BASE 0x58000000u
/* On stm32mp157c-dk2-tty: a virtio console, which the real part does not have. */
#define BOARD_HOST_TTY_BASE 0x58080000u
#define BOARD_GICD_BASE 0xA0021000u
#define BOARD_GICC_BASE 0xA0022000u

/* Numbers of the peripherals' interrupts: at the NVIC, and of the GIC's shared ones. */
#define BOARD_UART4_INTERRUPT 52u
#define BOARD_UART7_INTERRUPT 82u
#define BOARD_MDMA_INTERRUPT 122u
#define BOARD_HOST_TTY_INTERRUPT 250u

#define BOARD_UART_BAUD 115200u
#define BOARD_CONSOLE_BASE BOARD_UART4_BASE

#if BOARD_CORE_CM4
/* The IPCC has processor 1, the A7s, and processor 2. */
#define BOARD_IPCC_PROCESSOR 2u
#define BOARD_IPCC_RX_INTERRUPT 103u
#define BOARD_IPCC_TX_INTERRUPT 104u
/* The core's number in the HSEM (RM0436, HSEM): its AHB bus master. */
#define BOARD_HSEM_CORE 2u
#else
#define BOARD_IPCC_PROCESSOR 1u
#define BOARD_IPCC_RX_INTERRUPT 100u
#define BOARD_IPCC_TX_INTERRUPT 101u
#define BOARD_HSEM_CORE 1u
#endif

#endif
