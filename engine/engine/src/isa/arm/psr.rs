//! The parts of the program status registers that both profiles have (ARM, A2.5, B1.3.3 and B1.4.2).

use super::registers::{C, GE, N_SOURCE, PC, Q, V, Z_SOURCE};
use super::system::X;

use crate::state::State;

/// State on which decoding depends. ITSTATE has to be that of the current instruction whenever the status register is
/// read or saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct ExecutionState {
    /// T32; else A32.
    pub thumb: bool,
    /// ITSTATE.
    pub it: u8,
}

impl ExecutionState {
    /// The state outside IT blocks.
    pub const fn new(thumb: bool) -> ExecutionState {
        ExecutionState { thumb, it: 0 }
    }

    /// ITSTATE in bits 26:25 and 15:10.
    pub(super) const fn it_bits(self) -> u32 {
        (self.it as u32 & 3) << 25 | (self.it as u32 >> 2) << 10
    }

    /// Sets ITSTATE from those bits.
    pub(super) const fn set_it_bits(&mut self, value: u32) {
        self.it = (value >> 25 & 3 | value >> 8 & 0xfc) as u8;
    }

    /// Advances ITSTATE past an instruction.
    pub(super) const fn advance_it(&mut self) {
        self.it = next_it(self.it);
    }
}

/// ITSTATE of the next instruction (ARM, A2.5.2).
pub(super) const fn next_it(it: u8) -> u8 {
    if it & 7 == 0 { 0 } else { it & 0xe0 | it << 1 & 0x1f }
}

/// APSR: N, Z, C, V, Q and GE.
pub(super) fn apsr(x: &X) -> u32 {
    let at = |register: u8| x[usize::from(register)];
    at(N_SOURCE) & 1 << 31
        | u32::from(at(Z_SOURCE) == 0) << 30
        | (at(C) & 1) << 29
        | (at(V) & 1) << 28
        | (at(Q) & 1) << 27
        | (at(GE) & 15) << 16
}

/// Sets N, Z, C and V from bits 31:28.
pub(super) fn set_nzcv(x: &mut X, value: u32) {
    x[usize::from(N_SOURCE)] = value & 1 << 31;
    x[usize::from(Z_SOURCE)] = !value & 1 << 30;
    x[usize::from(C)] = value >> 29 & 1;
    x[usize::from(V)] = value >> 28 & 1;
}

/// Writes a value read by mrc or vmrs to `rd`: for the program counter, to N, Z, C and V.
pub(super) fn set_register_or_nzcv(x: &mut X, rd: u8, value: u32) {
    if rd == PC {
        set_nzcv(x, value);
    } else {
        x[usize::from(rd)] = value;
    }
}

/// Fields of [`super::op::Code::Msr`]: the flags, and GE.
pub(super) const WRITES_FLAGS: u8 = 8;
pub(super) const WRITES_GE: u8 = 4;

/// Sets the given fields of APSR.
pub(super) fn set_apsr(x: &mut X, value: u32, fields: u8) {
    if fields & WRITES_FLAGS != 0 {
        set_nzcv(x, value);
        x[usize::from(Q)] = value >> 27 & 1;
    }
    if fields & WRITES_GE != 0 {
        x[usize::from(GE)] = value >> 16 & 15;
    }
}
