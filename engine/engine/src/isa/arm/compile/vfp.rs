//! VFP as host instructions, where these give the same bits and the same flags; else by the interpreter's function.
//!
//! Results of IEEE 754 are the same on each host as long as they are numbers: a sum, a product, a quotient, a square
//! root, a conversion is the exact value, rounded to nearest. Hosts differ in NaNs and flags, which are not taken from
//! them. An instruction is done in place only where its effect on FPSCR is known:
//!
//! - FPSCR asks for rounding to nearest, and not for flushing denormals (FZ). IXC is set already, or the result is
//!   exact in any case: cumulative flags stay set until the program clears them, and nearly every computation soon has
//!   a result that is inexact.
//! - The result is finite, and far above the smallest normal number. As it is finite, no operand was a NaN or infinite,
//!   nothing was divided by zero, no root was taken of a negative number, nothing has overflowed. As it is large
//!   enough, it has not underflowed, neither before nor after rounding.
//! - Or it is an exact zero, because operands are zeros or cancel out: that is tested separately, where it is rare.
//!
//! Denormal operands give right results then, too: even on a host that flushes them to zero, as a process may configure
//! it. A sum that is large enough does not depend on them, and a product or quotient of them is zero, infinite or a NaN
//! there.

mod arithmetic;
mod convert;
mod file;
mod guards;
mod moves;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Type, Value};

use super::super::architecture::Profile;
use super::super::op::Op;
use super::super::registers::{PC, ZERO};
use super::super::vfp::is_status;
use super::{Emit, FPSCR, NZCV, calls};
use crate::cpu::compile::RegisterBits;

/// FPSCR.IXC.
const INEXACT: u32 = 1 << 4;
/// FPSCR.FZ.
const FLUSH: u32 = 1 << 24;
/// FPSCR.RMode.
const MODE: u32 = 3 << 22;
/// FPSCR.Len and Stride.
const VECTORS: u32 = 7 << 16 | 3 << 20;

/// Known state at a point of a block. Within a block, FPSCR changes only by getting flags.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// VFP may be used.
    pub is_ready: bool,
    /// FPSCR requests no vectors.
    is_scalar: bool,
    /// See [`guards::span`]: for singles, for doubles.
    spans: [Option<Value>; 2],
    /// Known values of registers.
    pub file: file::Values,
}

impl Known {
    /// Merges another path, on which registers may have changed; `is_ready` says whether VFP may be used there.
    pub fn meet(&mut self, is_ready: bool) {
        self.is_ready &= is_ready;
        self.file.forget();
    }
}

/// A precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precision {
    Single,
    Double,
}

use Precision::{Double, Single};
pub use file::{read, write};
use guards::leave_to_call;

impl Precision {
    fn float(self) -> Type {
        if self == Double { F64 } else { F32 }
    }

    /// The integer type of the same size.
    fn integer(self) -> Type {
        if self == Double { I64 } else { I32 }
    }

    fn sign(self) -> i64 {
        if self == Double { i64::MIN } else { 1 << 31 }
    }

    /// A biased exponent, in the bits of a number without its sign, times 2.
    fn twice(self, exponent: i64) -> i64 {
        if self == Double { exponent << 53 } else { exponent << 24 }
    }

    /// The same exponent, in the bits of a number without its sign.
    fn once(self, exponent: i64) -> i64 {
        if self == Double { exponent << 52 } else { exponent << 23 }
    }

    /// The biased exponent of infinity.
    fn infinite(self) -> i64 {
        if self == Double { 0x7ff } else { 0xff }
    }

    /// The biased exponent of 1.
    fn one(self) -> i64 {
        self.infinite() >> 1
    }

    /// A result of at least this exponent is large enough: the difference to the smallest number is more than the bits
    /// of a fraction, with a margin.
    fn least(self) -> i64 {
        if self == Double { 128 } else { 32 }
    }
}

/// The current instruction, and the number of its operation.
#[derive(Clone, Copy)]
struct Instruction<'a> {
    op: &'a Op,
    at: u32,
}

impl Instruction<'_> {
    fn bit(self, n: u32) -> bool {
        self.op.imm >> n & 1 != 0
    }

    fn field(self, n: u32) -> u32 {
        self.op.imm >> n & 15
    }

    fn precision(self) -> Precision {
        if self.bit(8) { Double } else { Single }
    }

    /// Number of the register word of Vd, Vn or Vm, as numbered by the interpreter.
    fn word(self, precision: Precision, four: u32, fifth: u32) -> u32 {
        let (four, fifth) = (self.field(four), u32::from(self.bit(fifth)));
        if precision == Double { fifth << 5 | four << 1 } else { four << 1 | fifth }
    }

    fn d(self, precision: Precision) -> u32 {
        self.word(precision, 12, 22)
    }

    fn n(self, precision: Precision) -> u32 {
        self.word(precision, 16, 7)
    }

    fn m(self, precision: Precision) -> u32 {
        self.word(precision, 0, 5)
    }

    /// It has its operation in bits 19:16.
    fn is_further(self) -> bool {
        self.op.imm >> 20 & 0b1011 == 0b1011 && self.bit(6)
    }

    fn compares(self) -> bool {
        self.op.imm >> 24 & 15 == 0b1110
            && !self.bit(4)
            && self.is_further()
            && matches!(self.field(16), 0b0100 | 0b0101)
    }
}

/// Registers that a VFP instruction writes.
pub fn writes(op: &Op) -> RegisterBits {
    if (Instruction { op, at: 0 }).compares() {
        return 1 << FPSCR;
    }
    if op.imm & 1 << 20 == 0 {
        return 0;
    }
    let one = op.imm & 0x0f00_0010 == 0x0e00_0010;
    let two = op.imm & 0x0fe0_0000 == 0x0c40_0000;
    let bit = |register: u8| if register < ZERO { 1 << register } else { 0 };
    match (one, two) {
        (true, _) if op.rd == PC => NZCV,
        (true, _) => bit(op.rd),
        (_, true) => bit(op.rd) | bit(op.ra),
        _ => 0,
    }
}

/// Emits the VFP instruction of operation `at`, other than a load or store.
pub fn emit<P: Profile>(e: &mut Emit<P>, op: &Op, at: u32) {
    calls::need_vfp(e, at);
    let i = Instruction { op, at };
    match (op.imm >> 24 & 15, i.bit(4)) {
        (0b1110, true) if is_status(op.imm) => moves::status(e, i),
        (0b1110, true) => moves::one(e, i),
        (0b1110, false) if i.is_further() => further(e, i),
        (0b1110, false) => {
            need_scalar(e, at);
            match op.imm >> 20 & 0b1011 {
                0b1011 => moves::immediate(e, i),
                // The fused ones: some hosts do not have them.
                0b1001 | 0b1010 => leave_to_call(e, i),
                opcode => arithmetic::emit(e, i, opcode),
            }
        }
        _ => moves::two(e, i),
    }
}

/// Instructions with their operation in bits 19:16 and 7.
fn further<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    match (i.field(16), i.bit(7)) {
        (0b0000, _) | (0b0001, false) => {
            need_scalar(e, i.at);
            moves::sign(e, i);
        }
        (0b0001, true) => {
            need_scalar(e, i.at);
            arithmetic::square_root(e, i);
        }
        (0b0100 | 0b0101, _) => arithmetic::compare(e, i),
        (0b0111, true) => convert::precision(e, i),
        (0b1000, _) => convert::of_integer(e, i),
        (0b1100 | 0b1101, true) => convert::to_integer(e, i),
        // Half precision, fixed point, and integers in the mode of FPSCR.
        _ => leave_to_call(e, i),
    }
}

/// Continues only if FPSCR requests no vectors: the interpreter refuses them.
fn need_scalar<P: Profile>(e: &mut Emit<P>, at: u32) {
    if e.lazy.vfp.is_scalar {
        return;
    }
    let fpscr = e.register(FPSCR);
    let vectors = e.b.ins().band_imm(fpscr, i64::from(VECTORS));
    let none = e.b.ins().icmp_imm(IntCC::Equal, vectors, 0);
    e.unless(none, |e| e.interpret(at));
    e.lazy.vfp.is_scalar = true;
}
