//! Common parts of several models: buses' register ports, register maps, UARTs, clock gates.

pub mod activities;
pub mod apb;
pub mod axi_lite;
pub mod bit_band;
pub mod clock_gate;
pub mod dma_lines;
pub mod fifo_entries;
pub mod hosted_chip;
pub mod i2c_chips;
pub mod interrupt_output;
pub mod kernel_clock;
pub mod pin_functions;
pub mod register_file;
pub mod sampler;
pub mod scripts;
pub mod serial;
pub mod stm32_pin_lines;
pub mod stm32f4_part;
pub mod write_protection;
