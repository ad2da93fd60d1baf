//! Registers for gdbstub: bytes of the length that the layout defines.

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

/// All registers of a core in the layout's order, little-endian; `None` for bytes of registers that it lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<Option<u8>>);

impl Registers for Bytes {
    type ProgramCounter = u64;

    /// Not used: the layout knows where the pc is.
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

/// An address of the machine; `None` if it is out of range.
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
