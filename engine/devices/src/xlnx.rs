//! Models of AMD's (Xilinx's) cores.

pub mod axi_cdma;
pub mod axi_quad_spi;
pub mod xps_intc;
pub mod xps_timer;
pub mod xps_uartlite;
