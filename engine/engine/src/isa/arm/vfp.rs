//! VFPv4: floating point in single and double precision.
//!
//! "ARM" is the Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition (DDI 0406C); the arithmetic is that of
//! its pseudocode (A2.7), in integers: results, NaNs and flags do not depend on the host. Exceptions do not trap. Short
//! vectors are undefined, as in a Cortex-A5.

mod arithmetic;
mod control;
mod convert;
mod format;
mod half;
mod round;

use super::psr::set_register_or_nzcv;
use super::system::X;
use arithmetic::Comparison;
use control::Control;
use format::{DOUBLE, Format, SINGLE};

/// The registers, as words: S0 to S31, then the words of D16 to D31; so a double Dn is in words 2n (low) and 2n + 1.
pub type S = [u32; 64];

/// The encoding is undefined here, or FPSCR requests short vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undefined;

/// True if CPACR allows VFP (its fields of cp10 and cp11), with privilege or without.
pub(super) fn is_allowed(cpacr: u32, privileged: bool) -> bool {
    match cpacr >> 20 & 15 {
        0b1111 => true,
        0b0101 => privileged,
        _ => false,
    }
}

/// The immediate of vmov, in single or double precision.
pub(super) fn expand(imm8: u32, as_double: bool) -> u64 {
    if as_double { DOUBLE } else { SINGLE }.expand(imm8)
}

/// Executes a VFP instruction other than loads and stores; of vmrs and vmsr, only the vmrs that reads FPSCR. `encoding`
/// has condition 1110, as in A32. The general registers are in `x`. FPSCR gets the cumulative flags, and the condition
/// flags of a comparison.
pub fn execute(encoding: u32, s: &mut S, x: &mut X, fpscr: &mut u32) -> Result<(), Undefined> {
    let bit = |n: u32| encoding >> n & 1 != 0;
    match (encoding >> 24 & 15, bit(4)) {
        (0b1100 | 0b1101, _) => move_two(encoding, s, x),
        (0b1110, true) if is_status(encoding) => set_register_or_nzcv(x, (encoding >> 12 & 15) as u8, *fpscr),
        (0b1110, true) => move_one(encoding, s, x),
        (0b1110, false) => {
            let mut unit = Unit { control: Control(*fpscr), format: if bit(8) { DOUBLE } else { SINGLE }, encoding };
            let done = unit.process(s);
            *fpscr = unit.control.0;
            return done;
        }
        _ => return Err(Undefined),
    }
    Ok(())
}

/// A data-processing instruction that is being executed.
struct Unit {
    control: Control,
    format: Format,
    encoding: u32,
}

impl Unit {
    fn bit(&self, n: u32) -> bool {
        self.encoding >> n & 1 != 0
    }

    /// Number of the register word of Vd, Vn or Vm: its four bits at `four`, the fifth at `fifth`.
    fn register(&self, format: Format, four: u32, fifth: u32) -> usize {
        let (four, fifth) = (self.encoding >> four & 15, self.encoding >> fifth & 1);
        (if format == DOUBLE { fifth << 5 | four << 1 } else { four << 1 | fifth }) as usize
    }

    fn d(&self, s: &S, format: Format) -> u64 {
        read(s, self.register(format, 12, 22), format)
    }

    fn n(&self, s: &S) -> u64 {
        read(s, self.register(self.format, 16, 7), self.format)
    }

    fn m(&self, s: &S, format: Format) -> u64 {
        read(s, self.register(format, 0, 5), format)
    }

    fn set_d(&self, s: &mut S, format: Format, value: u64) {
        let at = self.register(format, 12, 22);
        s[at] = value as u32;
        if format == DOUBLE {
            s[at + 1] = (value >> 32) as u32;
        }
    }

    /// VFP data processing (ARM, A7.5).
    fn process(&mut self, s: &mut S) -> Result<(), Undefined> {
        let opcode = self.encoding >> 20 & 0b1011;
        if opcode == 0b1011 && self.bit(6) {
            return self.further(s);
        }
        self.no_vectors()?;
        let (f, op) = (self.format, self.bit(6));
        if opcode == 0b1011 {
            let imm8 = self.encoding >> 12 & 0xf0 | self.encoding & 15;
            self.set_d(s, f, f.expand(imm8));
            return Ok(());
        }
        let (d, n, m) = (self.d(s, f), self.n(s), self.m(s, f));
        let negated = |value| if op { f.negate(value) } else { value };
        let c = &mut self.control;
        let result = match opcode {
            // vmla, vmls; vnmls, vnmla; vmul, vnmul.
            0b0000 => {
                let product = c.multiply(f, n, m);
                c.add(f, d, negated(product))
            }
            0b0001 => {
                let product = c.multiply(f, n, m);
                c.add(f, f.negate(d), negated(product))
            }
            0b0010 => negated(c.multiply(f, n, m)),
            0b0011 if op => c.subtract(f, n, m),
            0b0011 => c.add(f, n, m),
            0b1000 if !op => c.divide(f, n, m),
            // vfnms, vfnma; vfma, vfms.
            0b1001 => c.multiply_add(f, f.negate(d), negated(n), m),
            0b1010 => c.multiply_add(f, d, negated(n), m),
            _ => return Err(Undefined),
        };
        self.set_d(s, f, result);
        Ok(())
    }

    /// Instructions with their operation in bits 19:16 and 7 (ARM, A7.5).
    fn further(&mut self, s: &mut S) -> Result<(), Undefined> {
        let f = self.format;
        let (opcode, op) = (self.encoding >> 16 & 15, self.bit(7));
        match (opcode, op) {
            (0b0000 | 0b0001, _) => {
                self.no_vectors()?;
                let m = self.m(s, f);
                let result = match (opcode, op) {
                    (0, false) => m,
                    (0, true) => f.magnitude(m),
                    (_, false) => f.negate(m),
                    (_, true) => self.control.square_root(f, m),
                };
                self.set_d(s, f, result);
            }
            (0b0010 | 0b0011, top) => self.half(s, opcode == 0b0011, top),
            (0b0100 | 0b0101, quiet_is_invalid) => {
                let other = if opcode == 0b0101 { 0 } else { self.m(s, f) };
                let d = self.d(s, f);
                let comparison = self.control.compare(f, d, other, quiet_is_invalid);
                self.control.set_comparison(comparison);
            }
            (0b0111, true) => {
                let to = if f == DOUBLE { SINGLE } else { DOUBLE };
                let m = self.m(s, f);
                let result = self.control.change_precision(f, to, m);
                self.set_d(s, to, result);
            }
            (0b1000, signed) => {
                let value = integer(self.m(s, SINGLE), 32, signed);
                let result = self.control.number_of_fixed(f, value, 0, self.control.mode());
                self.set_d(s, f, result);
            }
            (0b1100 | 0b1101, to_zero) => {
                let mode = if to_zero { round::Mode::Zero } else { self.control.mode() };
                let m = self.m(s, f);
                let to = convert::Fixed { bits: 32, signed: opcode & 1 != 0, fraction_bits: 0 };
                let result = self.control.fixed_of(f, m, to, mode);
                self.set_d(s, SINGLE, result);
            }
            (0b1010 | 0b1011 | 0b1110 | 0b1111, _) => return self.fixed(s),
            _ => return Err(Undefined),
        }
        Ok(())
    }

    /// vcvt from and to fixed point, in place (ARM, A8.8).
    fn fixed(&mut self, s: &mut S) -> Result<(), Undefined> {
        let f = self.format;
        let bits: u32 = if self.bit(7) { 32 } else { 16 };
        let rest = (self.encoding & 15) << 1 | self.encoding >> 5 & 1;
        let fraction_bits = bits.checked_sub(rest).ok_or(Undefined)?;
        let (signed, d) = (!self.bit(16), self.d(s, f));
        let result = match self.bit(18) {
            true => self.control.fixed_of(f, d, convert::Fixed { bits, signed, fraction_bits }, round::Mode::Zero),
            false => self.control.number_of_fixed(f, integer(d, bits, signed), fraction_bits, round::Mode::Nearest),
        };
        self.set_d(s, f, result);
        Ok(())
    }

    /// vcvtb, vcvtt: half of a single register has half precision.
    fn half(&mut self, s: &mut S, to_half: bool, top: bool) {
        let shift = if top { 16 } else { 0 };
        let m = self.m(s, SINGLE) as u32;
        let result = match to_half {
            true => {
                let half = u32::from(self.control.half_of(m)) << shift;
                self.d(s, SINGLE) as u32 & !(0xffff << shift) | half
            }
            false => self.control.number_of_half((m >> shift) as u16),
        };
        self.set_d(s, SINGLE, u64::from(result));
    }

    fn no_vectors(&self) -> Result<(), Undefined> {
        if self.control.wants_vectors() { Err(Undefined) } else { Ok(()) }
    }
}

fn read(s: &S, at: usize, format: Format) -> u64 {
    if format == DOUBLE { u64::from(s[at]) | u64::from(s[at + 1]) << 32 } else { u64::from(s[at]) }
}

/// The low bits of a register as a number.
fn integer(value: u64, bits: u32, signed: bool) -> i64 {
    let up = 64 - bits;
    if signed { (value << up) as i64 >> up } else { (value << up >> up) as i64 }
}

/// True for vmrs from FPSCR, among the moves of one general register.
pub(super) fn is_status(encoding: u32) -> bool {
    encoding & 0x00ff_0f00 == 0x00f1_0a00
}

/// Fields of vmov between VFP and general registers: the registers' numbers, whether it reads VFP, and whether it moves
/// doubles.
fn move_fields(encoding: u32) -> (usize, usize, bool, bool) {
    let register = |at: u32| (encoding >> at & 15) as usize;
    (register(12), register(16), encoding >> 20 & 1 != 0, encoding >> 8 & 1 != 0)
}

/// vmov (ARM, A7.8 and A7.9): one general register and a single, or half a double.
fn move_one(encoding: u32, s: &mut S, x: &mut X) {
    let (rt, vn, is_read, is_double) = move_fields(encoding);
    let fifth = (encoding >> 7 & 1) as usize;
    // The upper half of a double: bit 21.
    let word = if is_double { fifth << 5 | vn << 1 | (encoding >> 21 & 1) as usize } else { vn << 1 | fifth };
    if is_read { x[rt] = s[word] } else { s[word] = x[rt] }
}

/// Two general registers and two singles, or a double.
fn move_two(encoding: u32, s: &mut S, x: &mut X) {
    let (rt, rt2, is_read, is_double) = move_fields(encoding);
    let (vm, fifth) = ((encoding & 15) as usize, (encoding >> 5 & 1) as usize);
    let first = if is_double { fifth << 5 | vm << 1 } else { vm << 1 | fifth };
    // The last single has no successor: unpredictable, and refused by the decoder.
    let second = (first + 1) & 63;
    if is_read {
        (x[rt], x[rt2]) = (s[first], s[second]);
    } else {
        (s[first], s[second]) = (x[rt], x[rt2]);
    }
}

#[cfg(test)]
mod tests;
