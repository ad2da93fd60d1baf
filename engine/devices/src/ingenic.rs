//! Models of Ingenic's parts.

pub mod jz4740_cgu;
pub mod jz4740_gpio;
pub mod jz4740_intc;
pub mod jz4740_nemc;
pub mod jz4740_rtc;
pub mod jz4740_ssi;
pub mod jz4740_tcu;
pub mod jz4740_uart;
