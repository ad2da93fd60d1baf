//! Models of STMicroelectronics' parts.

pub mod lis3dh_accel;
pub mod stm32_dbgmcu;
pub mod stm32_dma;
pub mod stm32_dma_v2;
pub mod stm32_dmamux;
pub mod stm32_hwspinlock;
pub mod stm32_i2c_v1;
pub mod stm32_signature;
pub mod stm32_spi;
pub mod stm32_timers;
pub mod stm32_usart;
pub mod stm32f4_adc;
pub mod stm32f4_pwr;
pub mod stm32f4_rcc;
pub mod stm32h7_mdma;
pub mod stm32h7_uart;
pub mod stm32l4_pwr;
pub mod stm32l4_rcc;
pub mod stm32mp15_i2c;
pub mod stm32mp1_ipcc;
pub mod stm32mp1_rcc;
