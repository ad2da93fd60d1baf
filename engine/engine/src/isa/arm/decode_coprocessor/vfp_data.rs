//! VFP data processing: ARM DDI 0406C, section A7.5.

use super::always;
use crate::isa::arm::emit::{Emit, bit, bits, only_if};
use crate::isa::arm::op::{Code, Features, TimingClass};

/// Bits that are the fifth of a register's number: of Vd, Vn and Vm.
const D: u32 = 22;
const N: u32 = 7;
const M: u32 = 5;

/// Decodes bits 27:24 = 1110, bit 4 clear, cp10 or cp11.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    use TimingClass::{VfpAdd, VfpMultiply, VfpMultiplyAdd};
    only_if(!emit.features.m_profile || !is_double(encoding))?;
    let opcode = bits(encoding, 23, 20) & 0b1011;
    let class = match (opcode, bit(encoding, 6)) {
        // vmla, vmls, vnmla, vnmls; vfnma, vfnms, vfma, vfms.
        (0b0000 | 0b0001 | 0b1001 | 0b1010, _) => VfpMultiplyAdd,
        // vmul, vnmul; vadd, vsub.
        (0b0010, _) => VfpMultiply,
        (0b0011, _) => VfpAdd,
        (0b1000, false) => divide(encoding),
        (0b1011, false) => immediate(encoding, emit.features)?,
        (0b1011, true) => further(encoding, emit.features)?,
        _ => return None,
    };
    if opcode != 0b1011 {
        only_if(has(encoding, is_double(encoding), &[D, N, M], emit.features))?;
    }
    emit.imm(Code::Vfp, always(encoding));
    Some(class)
}

fn is_double(encoding: u32) -> bool {
    bit(encoding, 8)
}

fn divide(encoding: u32) -> TimingClass {
    if is_double(encoding) { TimingClass::VfpDivide64 } else { TimingClass::VfpDivide32 }
}

/// True if the core has the registers whose fifth bits are given, as doubles or singles.
fn has(encoding: u32, as_double: bool, fifth_bits: &[u32], features: Features) -> bool {
    !as_double || features.vfp_d32 || !fifth_bits.iter().any(|&index| bit(encoding, index))
}

/// vmov of an immediate.
fn immediate(encoding: u32, features: Features) -> Option<TimingClass> {
    only_if(!bit(encoding, 7) && !bit(encoding, 5) && has(encoding, is_double(encoding), &[D], features))?;
    Some(TimingClass::VfpMove)
}

/// Instructions with their operation in bits 19:16 and 7.
fn further(encoding: u32, features: Features) -> Option<TimingClass> {
    use TimingClass::{VfpAdd, VfpMove};
    let double = is_double(encoding);
    // Whether Vd and Vm are doubles, if they name registers.
    let (class, d, m) = match (bits(encoding, 19, 16), bit(encoding, 7)) {
        // vmov, vabs; vneg, vsqrt.
        (0b0000, _) | (0b0001, false) => (VfpMove, double, double),
        (0b0001, true) => (divide(encoding), double, double),
        // vcvtb and vcvtt with half precision: with singles alone in VFPv4.
        (0b0010 | 0b0011, _) if !double => (VfpAdd, false, false),
        // vcmp, vcmpe; with zero.
        (0b0100, _) => (VfpAdd, double, double),
        (0b0101, _) if bits(encoding, 5, 0) == 0 => (VfpAdd, double, false),
        // vcvt between single and double; from an integer; to one.
        (0b0111, true) if !features.m_profile => (VfpAdd, !double, double),
        (0b1000, _) => (VfpAdd, double, false),
        (0b1100 | 0b1101, _) => (VfpAdd, false, double),
        // vcvt from and to fixed point: bits 3:0 and 5 are 16 or 32 minus the number of fraction bits.
        (0b1010 | 0b1011 | 0b1110 | 0b1111, _) => {
            let rest = bits(encoding, 3, 0) << 1 | bits(encoding, 5, 5);
            only_if(bit(encoding, 7) || rest <= 16)?;
            (VfpAdd, double, false)
        }
        _ => return None,
    };
    only_if(has(encoding, d, &[D], features) && has(encoding, m, &[M], features))?;
    Some(class)
}
