//! Registers as gdbstub moves them: bytes of a length that the layout says.

use std::num::NonZeroUsize;

use gdbstub::arch::{Arch, RegId, Registers};

/// A machine with addresses of 32 bits. GDB sends those of MIPS cores with 64, extended by their sign.
#[derive(Debug)]
pub enum Machine32 {}

impl Arch for Machine32 {
    type Usize = u64;
    type Registers = Bytes;
    type BreakpointKind = usize;
    type RegId = Number;
}

/// All registers of a core, one after the other, little-endian; `None` for bytes of those that it has not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<Option<u8>>);

impl Registers for Bytes {
    type ProgramCounter = u64;

    /// Nobody asks: the layout knows where it is.
    fn pc(&self) -> u64 {
        0
    }

    fn gdb_serialize(&self, write_byte: impl FnMut(Option<u8>)) {
        self.0.iter().copied().for_each(write_byte);
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        self.0 = bytes.iter().copied().map(Some).collect();
        Ok(())
    }
}

/// An address as the machine has it; `None` if it has no such.
pub fn address(sent: u64) -> Option<u32> {
    let extended = sent as u32 as i32 as u64;
    (sent == u64::from(sent as u32) || sent == extended).then_some(sent as u32)
}

/// A register by its place in the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(pub usize);

impl RegId for Number {
    fn from_raw_id(id: usize) -> Option<(Number, Option<NonZeroUsize>)> {
        Some((Number(id), None))
    }

    fn to_raw_id(&self) -> Option<usize> {
        Some(self.0)
    }
}
