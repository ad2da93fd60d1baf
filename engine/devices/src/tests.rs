//! Parts of the engine with devices: those that need a model, or a device on a bus.

mod flash_of_cortex_m;
mod wires;
