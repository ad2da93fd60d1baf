use super::*;
use crate::isa::arm::in_block::InBlock;
use crate::isa::arm::registers::{ADDRESS, SINK, SP};
use TimingClass::{Alu, Barrier, Exception, Hint, InstructionBarrier, Media as Saturating, Status};

fn plain(code: Code, imm: u32) -> [Op; 1] {
    [op(code, [0, 0, ZERO, 0], imm)]
}

fn in_block(rd: u8, what: InBlock) -> [Op; 1] {
    [op(Code::InBlock, [rd, ZERO, ZERO, 0], what.imm())]
}

#[test]
fn status_registers() {
    // mrs r1, cpsr; mrs r1, spsr; msr cpsr_fc, r1; msr spsr_x, r1; msr cpsr_c, #0xd3
    check(0xe10f_1000, Status, &in_block(1, InBlock::Status));
    check(0xe14f_1000, Status, &[op(Code::Mrs, [1, 0, ZERO, 0], 1)]);
    check(0xe129_f001, Status, &[op(Code::Msr, [0, 0, 1, 9], 0)]);
    check(0xe162_f001, Status, &[op(Code::Msr, [0, 0, 1, 2], 0x100)]);
    let value = op(Code::Mov, [OPERAND, ZERO, ZERO, 0], 0xd3);
    check(0xe321_f0d3, Status, &[value, op(Code::Msr, [0, 0, OPERAND, 1], 0)]);
    // mrs of a banked register; msr of the program counter
    undefined(&[0xe101_0200, 0xe129_f00f]);
}

#[test]
fn processor_state() {
    // cpsid i; cpsie aif, #19; cps #31; setend be
    check(0xf10c_0080, Status, &in_block(SINK, InBlock::Mask(1 << 7)));
    check(0xf10a_01d3, Status, &plain(Code::Cps, 1 << 10 | 7 << 6 | 1 << 5 | 19));
    check(0xf102_001f, Status, &plain(Code::Cps, 1 << 5 | 31));
    check(0xf101_0200, Status, &plain(Code::Setend, 1));
    // No change requested; a mode without the request to change it; imod 01.
    undefined(&[0xf100_0000, 0xf10c_0093, 0xf104_0080]);
}

#[test]
fn hints_and_barriers() {
    check(0xe320_f000, Hint, &[op(Code::Mov, [SINK, ZERO, ZERO, 0], 0)]);
    for (encoding, code) in
        [(0xe320_f001, Code::Hint), (0xe320_f002, Code::Wfe), (0xe320_f003, Code::Wfi), (0xe320_f004, Code::Sev)]
    {
        check(encoding, Hint, &plain(code, 0));
    }
    for (encoding, code, class) in [(0xf57f_f04f, Code::Dsb, Barrier), (0xf57f_f06f, Code::Isb, InstructionBarrier)] {
        check(encoding, class, &plain(code, 0));
    }
    check(0xf57f_f05b, Barrier, &[op(Code::Pld, [0, ZERO, ZERO, 0], 0)]);
    check(0xf57f_f01f, Hint, &plain(Code::Clrex, 0));
}

#[test]
fn preloads() {
    // pld [r1, #-4]; pldw [r1, r2, lsl #3]; pld [r1, -r2]; pld [pc, #4]; pli [r1]
    check(0xf551_f004, Hint, &[op(Code::Pld, [0, 1, ZERO, 0], 4u32.wrapping_neg())]);
    let shift = op(Code::LslImm, [OPERAND, 0, 2, 0], 3);
    check(0xf791_f182, Hint, &[shift, op(Code::Pld, [0, 1, OPERAND, 0], 0)]);
    let difference = op(Code::Sub, [ADDRESS, 1, 2, 0], 0);
    check(0xf751_f002, Hint, &[difference, op(Code::Pld, [0, ADDRESS, ZERO, 0], 0)]);
    check(0xf5df_f004, Hint, &[op(Code::Pld, [0, ZERO, ZERO, 0], AT + 12)]);
    check(0xf4d1_f000, Hint, &[op(Code::Mov, [SINK, ZERO, ZERO, 0], 0)]);
    assert!(!decoded(0xf551_f004).0.ends_block);
}

#[test]
fn exceptions_and_returns() {
    // svc 0x123456; bkpt 0x1234; smc 5
    check(0xef12_3456, Exception, &plain(Code::Svc, 0x12_3456));
    check(0xe121_2374, Exception, &plain(Code::Bkpt, 0x1234));
    check(0xe160_0075, Exception, &plain(Code::Smc, 5));
    // rfeia sp!; rfedb r0; srsdb sp!, #19; srsib sp, #31
    check(0xf8bd_0a00, Exception, &[op(Code::Rfe, [8, SP, 0, SP], 0)]);
    check(0xf910_0a00, Exception, &[op(Code::Rfe, [0xf8, 0, 0, SINK], 8u32.wrapping_neg())]);
    check(0xf96d_0513, Exception, &[op(Code::Srs, [0xf8, 0, 0, 0], 0xffff_f813)]);
    check(0xf9cd_051f, Exception, &[op(Code::Srs, [0, 0, 0, 0], 0x41f)]);
    // hvc; eret; rfe from pc; srs with another base register
    undefined(&[0xe140_0070, 0xe160_006e, 0xf8bf_0a00, 0xf96c_0513]);
}

#[test]
fn saturating_sums_and_leading_zeroes() {
    // qdsub r0, r1, r2; clz r0, r1
    check(0xe162_0051, Saturating, &[op(Code::Media, [0, 2, 1, 0], Media::Qdsub as u32)]);
    check(0xe16f_0f11, Alu, &[op(Code::Clz, [0, 0, 1, 0], 0)]);
    // crc32 of ARMv8
    undefined(&[0xe101_0042]);
}

#[test]
fn what_is_absent() {
    // Advanced SIMD: vadd.i32, vld1; mcr2; ldc of the debug unit.
    undefined(&[0xf220_0840, 0xf420_070f, 0xfe00_0f10, 0xed90_0e00]);
}
