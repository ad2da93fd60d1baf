//! Models of Atmel's (Microchip's) parts.

pub mod at86rf231;
pub mod at91sam9260_pit;
pub mod at91sam9260_usart;
pub mod sama5_reset;
pub mod sama5d2_aic;
pub mod sama5d2_chipid;
pub mod sama5d2_pinctrl;
pub mod sama5d2_pmc;
pub mod sama5d2_qspi;
pub mod sama5d2_sfr;
pub mod sama5d2_tcb;
pub mod sama5d3_ddramc;
pub mod sama5d4_dma;
pub mod sama5d4_wdt;
