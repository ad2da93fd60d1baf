//! The register file of micro-operations: the general registers of the current mode, flags, and some that only
//! micro-operations use.

/// Stack pointer.
pub const SP: u8 = 13;
/// Link register.
pub const LR: u8 = 14;
/// The program counter's number in encodings. Micro-operations do not read or write it: decoders use [`PC_VALUE`], and
/// jumps.
pub const PC: u8 = 15;
/// Reads as 0; never written.
pub const ZERO: u8 = 16;
/// Target of unused results.
pub const SINK: u8 = 17;
/// The value that instructions read from the program counter.
pub const PC_VALUE: u8 = 18;
/// A shifted second operand.
pub const OPERAND: u8 = 19;
/// A computed address.
pub const ADDRESS: u8 = 20;
/// A computed result, such as the target of a jump.
pub const RESULT: u8 = 21;
/// For other temporary values of an instruction.
pub const SPARE: u8 = 22;
/// The last numbers of the file: flags, one in each.
///
/// N is bit 31 of this word.
pub const N_SOURCE: u8 = 24;
/// Z is set when this word is 0.
pub const Z_SOURCE: u8 = 25;
/// C: 0 or 1.
pub const C: u8 = 26;
/// V: 0 or 1.
pub const V: u8 = 27;
/// Q: 0 or 1. It is sticky.
pub const Q: u8 = 28;
/// GE\[3:0\].
pub const GE: u8 = 29;
/// Number of entries, so that every 8-bit number is an index.
pub const COUNT: usize = 256;

/// A set of registers, for timing: bit n is register n; [`FLAGS`] stands for all flags. VFP registers have a set of
/// their own.
pub type RegisterSet = u32;
/// The flags, in a [`RegisterSet`].
pub const FLAGS: RegisterSet = 1 << N_SOURCE;

/// A set of one general register; empty for registers that only micro-operations use, and for the program counter.
pub const fn one(register: u8) -> RegisterSet {
    if register < PC { 1 << register } else { 0 }
}
