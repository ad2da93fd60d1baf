//! Floating point beside a core of three stages: results that are a cycle late, and divisions in parallel.
//!
//! The next instruction can use the result of arithmetic only a cycle later; but a multiply-accumulate needs its addend
//! that much later. After a division or a square root has issued, instructions other than floating point continue
//! beside it. (Cortex-M4 TRM DDI 0439D, 7.2.3; GCC, gcc/config/arm/cortex-m4-fpu.md.)

use crate::isa::arm::op::{Code, Op};
use crate::state::Fresh;

/// A floating-point instruction's uses of the single registers: bit n is Sn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// It is a floating-point instruction.
    pub floating: bool,
    /// Registers that it needs at once.
    pub reads: u32,
    /// The register that gets a result of arithmetic, plus 1.
    pub result: u8,
}

/// Results under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, crate::state::State, Fresh)]
pub struct State {
    /// Cycles until the next floating-point instruction can issue.
    busy: u8,
    /// The register whose result can be used one cycle after that, plus 1; 0 without one.
    result: u8,
}

impl Uses {
    /// The uses of the instruction with these micro-operations.
    pub fn of(ops: &[Op]) -> Uses {
        ops.iter().fold(Uses::default(), |uses, op| match op.code {
            Code::Vfp => Uses { floating: true, ..of_encoding(op.imm) },
            Code::Vstr => Uses { floating: true, reads: uses.reads | register(u32::from(op.rd)), ..uses },
            Code::Vldr | Code::Vmrs | Code::Vmsr => Uses { floating: true, ..uses },
            _ => uses,
        })
    }
}

impl State {
    /// Nothing is under way.
    pub const NONE: State = State { busy: 0, result: 0 };

    /// Cycles that an instruction has to wait.
    pub fn stall_cycles(self, uses: Uses) -> u32 {
        if !uses.floating {
            return 0;
        }
        let wanted = self.result > 0 && uses.reads & register(u32::from(self.result) - 1) != 0;
        u32::from(self.busy) + u32::from(wanted)
    }

    /// Passes an instruction of `cycles`; after it, its own result needs `goes_on_cycles` more. `late` says whether
    /// results are late in this core.
    pub fn pass(self, uses: Uses, cycles: u32, goes_on_cycles: u8, late: bool) -> State {
        if uses.result > 0 && (late || goes_on_cycles > 0) {
            return State { busy: goes_on_cycles, result: if late { uses.result } else { 0 } };
        }
        match u32::from(self.busy).checked_sub(cycles) {
            Some(left) if left > 0 || self.result > 0 => State { busy: left as u8, ..self },
            _ => State::NONE,
        }
    }
}

/// The set of a single register; registers from S32 on, which no such core has, are in no set.
fn register(number: u32) -> u32 {
    1_u32.checked_shl(number).unwrap_or(0)
}

/// By the encoding, as in A32: Arm DDI 0403E, A7.4 to A7.8.
fn of_encoding(encoding: u32) -> Uses {
    let word = |four: u32, fifth: u32| (encoding >> four & 15) << 1 | encoding >> fifth & 1;
    let (d, n, m) = (word(12, 22), word(16, 7), word(0, 5));
    let uses = |reads: &[u32], result: Option<u32>| Uses {
        floating: true,
        reads: reads.iter().fold(0, |set, number| set | register(*number)),
        result: result.map_or(0, |number| number as u8 + 1),
    };
    let (is_arithmetic, to_core) = (encoding >> 24 & 15 == 0b1110, encoding >> 20 & 1 != 0);
    if !is_arithmetic {
        // Two general registers: a pair of singles, or a double.
        let first = if encoding >> 8 & 1 != 0 { (encoding & 15) << 1 } else { m };
        return if to_core { uses(&[first, first + 1], None) } else { uses(&[], None) };
    }
    if encoding >> 4 & 1 != 0 {
        let half = if encoding >> 8 & 1 != 0 { (encoding >> 16 & 15) << 1 | encoding >> 21 & 1 } else { n };
        let is_status = encoding >> 21 & 7 == 7;
        return if to_core && !is_status { uses(&[half], None) } else { uses(&[], None) };
    }
    match (encoding >> 20 & 0b1011, encoding >> 6 & 1) {
        // The addend, which is the destination, is needed later.
        (0b0000 | 0b0001 | 0b1001 | 0b1010, _) => uses(&[n, m], Some(d)),
        (0b1011, 0) => uses(&[], None),
        (0b1011, _) => match (encoding >> 16 & 15, encoding >> 7 & 1) {
            (0b0000, _) | (0b0001, 0) => uses(&[m], None),
            (0b0100, _) => uses(&[d, m], None),
            (0b0101, _) => uses(&[d], None),
            (0b1010 | 0b1011 | 0b1110 | 0b1111, _) => uses(&[d], Some(d)),
            _ => uses(&[m], Some(d)),
        },
        _ => uses(&[n, m], Some(d)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_name_their_registers() {
        // vadd.f32 s0, s1, s2; vmla.f32 s0, s1, s2; vmov s0, r1; vmov r1, s0; vmov r1, r2, d1; vcmp.f32 s0, s1
        assert_eq!(of_encoding(0xee30_0a81), Uses { floating: true, reads: 0b110, result: 1 });
        assert_eq!(of_encoding(0xee00_0a81), Uses { floating: true, reads: 0b110, result: 1 });
        assert_eq!(of_encoding(0xee00_1a10), Uses { floating: true, reads: 0, result: 0 });
        assert_eq!(of_encoding(0xee10_1a10), Uses { floating: true, reads: 1, result: 0 });
        assert_eq!(of_encoding(0xec52_1b11), Uses { floating: true, reads: 0b1100, result: 0 });
        assert_eq!(of_encoding(0xeeb4_0a60), Uses { floating: true, reads: 0b11, result: 0 });
        // vsqrt.f32 s2, s3; vcvt.s32.f32 s2, s3
        assert_eq!(of_encoding(0xeeb1_1ae1), Uses { floating: true, reads: 0b1000, result: 3 });
        assert_eq!(of_encoding(0xeebd_1ae1), Uses { floating: true, reads: 0b1000, result: 3 });
    }
}
