//! The reset controller and the shutdown controller of SAMA5 chips: a command register at offset 0, whose command ends
//! the run, and registers of settings. A write has an effect with its key only.

pub mod sama5d2_shdwc;
pub mod sama5d3_rstc;

use crate::prelude::*;
use crate::support::register_file::{Effects, RegisterFile};

/// The key, and its bits of a write.
const KEY: u32 = 0xa5;
const KEY_BITS: u32 = 0xff00_0000;

/// The device of a node: `command` carries out a command, `without_key` is the note for a write without its key.
fn controller(
    reader: &mut NodeReader,
    map: &'static Map,
    command: fn(u32, u32, Option<IrqLine>, &mut Ctx),
    without_key: &'static str,
) -> Box<dyn Device> {
    let effects = Effects { wrote: Some(command), output: None, without_key: Some(without_key) };
    Box::new(RegisterFile::new(reader.clock_input(0, "clock of its bus"), map).with(effects))
}
