//! ST's accelerometers on SPI in modes 0 and 3: what all kinds have in common.
//!
//! Samples come at the data rate, with a constant acceleration; STATUS reports the axes whose outputs have not been
//! read, and INT1 may.

pub mod lis3dh_accel;
pub mod lis3dsh_accel;

#[cfg(test)]
mod tests;

use crate::prelude::*;
use crate::registers::Row;
use crate::support::register_chip::{ChipTable, Common, Outputs, RegisterChip};

registers! {
    /// Registers that all kinds have.
    const COMMON "" bytes {
        STATUS 0x27 ro volatile;
        OUT_X_L 0x28 ro volatile; OUT_X_H 0x29 ro volatile;
        OUT_Y_L 0x2a ro volatile; OUT_Y_H 0x2b ro volatile;
        OUT_Z_L 0x2c ro volatile; OUT_Z_H 0x2d ro volatile;
        FIFO_CTRL 0x2e rw;
        FIFO_SRC 0x2f ro;
    }
}

/// The outputs. The register with the data rate, whose name depends on the kind, has the axes that are measured.
const OUTPUTS: Outputs = Outputs { first: OUT_X_L, axes: Some((0x20, 7)) };
/// The fastest clock.
const MAX_HZ: u32 = 10_000_000;

/// A chip as its node describes it, powered from time 0; `table` reads the times of its kind.
fn from_node<T: ChipTable>(reader: &mut NodeReader, table: impl FnOnce(&mut NodeReader) -> T) -> RegisterChip<T> {
    reader.u32_or("st,drdy-int-pin", 1, [1], "the pin with the data-ready signal: 1, which is INT1");
    let boot = reader.timing_ps("cyclescope,boot-us", "from the supply to the first access");
    let table = table(reader);
    RegisterChip::accelerometer(table, boot, reader)
}

/// STATUS: the axes that are overrun, and those that are ready; each, and any.
fn status(chip: &Common) -> u32 {
    let any = |axes: u32| flag(1 << 3, axes != 0) | axes;
    any(chip.overrun) << 4 | any(chip.ready)
}

/// The note of a write that sets a bit that is not modelled: one that the map does not list, or lists so.
fn note(register: u32, row: Option<&Row>, held: u32, written: u8) -> Option<String> {
    let bits = row.map_or(&[][..], |row| row.bits);
    let modelled = bits.iter().filter(|bit| bit.is_modelled).fold(0, |all, bit| all | bit.mask);
    (u32::from(written) & !modelled & !held != 0)
        .then(|| format!("{written:#04x} in register {register:#04x} asks for what is not modelled"))
}
