mod memory;
mod misc;

use super::*;
use crate::isa::arm::op::Media;
use crate::isa::arm::registers::{FLAGS, OPERAND, PC, PC_VALUE, RESULT, SINK};

const FEATURES: Features = Features {
    divide: true,
    vfp: true,
    vfp_d32: true,
    m_profile: false,
    traps_division: false,
    ends_division_early: false,
};
const AT: u32 = 0x1000;

/// The instruction at [`AT`].
fn decoded(encoding: u32) -> (Instr, Vec<Op>) {
    let mut ops = Vec::new();
    let instr = decode(encoding, AT, FEATURES, &mut ops);
    (instr, ops)
}

fn op(code: Code, [rd, rn, rm, ra]: [u8; 4], imm: u32) -> Op {
    Op { code, rd, rn, rm, ra, imm }
}

#[track_caller]
fn check(encoding: u32, class: TimingClass, ops: &[Op]) {
    let (instr, decoded) = decoded(encoding);
    assert_eq!(decoded, ops, "{encoding:#010x}");
    assert_eq!((instr.class, instr.len_bytes), (class, 4), "{encoding:#010x}");
}

#[track_caller]
fn undefined(encodings: &[u32]) {
    for &encoding in encodings {
        check(encoding, TimingClass::Exception, &[op(Code::Undefined, [0, 0, ZERO, 0], encoding)]);
    }
}

#[test]
fn operands_of_data_processing() {
    use TimingClass::{Alu, AluShift, AluShiftRegister};
    // add r0, r1, #0xff000000; ands r0, r1, #0x80000000; tst r1, #3
    check(0xe281_04ff, Alu, &[op(Code::Add, [0, 1, ZERO, 0], 0xff00_0000)]);
    let set_c = op(Code::SetC, [0, 0, ZERO, 0], 1);
    check(0xe211_0102, Alu, &[set_c, op(Code::Ands, [0, 1, ZERO, 0], 0x8000_0000)]);
    check(0xe311_0003, Alu, &[op(Code::Ands, [SINK, 1, ZERO, 0], 3)]);
    // sub r0, r1, r2; rsbs r0, r1, r2, lsr #32; bics r0, r1, r2, rrx
    check(0xe041_0002, Alu, &[op(Code::Sub, [0, 1, 2, 0], 0)]);
    let shift = op(Code::LsrImm, [OPERAND, 0, 2, 0], 32);
    check(0xe071_0022, AluShift, &[shift, op(Code::Rsbs, [0, 1, OPERAND, 0], 0)]);
    let shift = op(Code::Rrxs, [OPERAND, 0, 2, 0], 0);
    check(0xe1d1_0062, AluShift, &[shift, op(Code::Bics, [0, 1, OPERAND, 0], 0)]);
    // orrs r0, r1, r2, ror r3; cmp r1, r2, asr r3
    let shift = op(Code::RorRegs, [OPERAND, 3, 2, 0], 0);
    check(0xe191_0372, AluShiftRegister, &[shift, op(Code::Orrs, [0, 1, OPERAND, 0], 0)]);
    let shift = op(Code::AsrReg, [OPERAND, 3, 2, 0], 0);
    check(0xe151_0352, AluShiftRegister, &[shift, op(Code::Subs, [SINK, 1, OPERAND, 0], 0)]);
}

#[test]
fn a_move_is_its_shift() {
    use TimingClass::{Alu, AluShift, AluShiftRegister};
    // mov r0, r1; lsls r0, r1, #3; ror r0, r1, r2; mvn r0, r1, lsl #1
    check(0xe1a0_0001, Alu, &[op(Code::Mov, [0, ZERO, 1, 0], 0)]);
    let test = op(Code::TestNz, [0, 0, 0, 0], 0);
    check(0xe1b0_0181, AluShift, &[op(Code::LslImms, [0, 0, 1, 0], 3), test]);
    check(0xe1a0_0271, AluShiftRegister, &[op(Code::RorReg, [0, 2, 1, 0], 0)]);
    let shift = op(Code::LslImm, [OPERAND, 0, 1, 0], 1);
    check(0xe1e0_0081, AluShift, &[shift, op(Code::Mvn, [0, ZERO, OPERAND, 0], 0)]);
    // movw r0, #0x1234; movt r0, #0xabcd
    check(0xe301_0234, Alu, &[op(Code::Mov, [0, ZERO, ZERO, 0], 0x1234)]);
    check(0xe34a_0bcd, Alu, &[op(Code::Movt, [0, ZERO, ZERO, 0], 0xabcd)]);
}

#[test]
fn the_program_counter_as_operand_and_destination() {
    use TimingClass::{Alu, Exception, IndirectBranch};
    // adr r0, +4; sub r0, pc, #16; adds r0, pc, #4
    check(0xe28f_0004, Alu, &[op(Code::Mov, [0, ZERO, ZERO, 0], AT + 12)]);
    check(0xe24f_0010, Alu, &[op(Code::Mov, [0, ZERO, ZERO, 0], AT - 8)]);
    let pc = op(Code::Mov, [PC_VALUE, ZERO, ZERO, 0], AT + 8);
    check(0xe29f_0004, Alu, &[pc, op(Code::Adds, [0, PC_VALUE, ZERO, 0], 4)]);
    // mov pc, lr; add pc, pc, r1, lsl #2; movs pc, lr; subs pc, lr, #4
    check(0xe1a0_f00e, IndirectBranch, &[op(Code::JumpTo, [0, 0, LR, 0], 0)]);
    let shift = op(Code::LslImm, [OPERAND, 0, 1, 0], 2);
    let add = op(Code::Add, [RESULT, PC_VALUE, OPERAND, 0], 0);
    check(0xe08f_f101, IndirectBranch, &[shift, pc, add, op(Code::JumpTo, [0, 0, RESULT, 0], 0)]);
    check(0xe1b0_f00e, Exception, &[op(Code::ExceptionReturn, [0, 0, LR, 0], 0)]);
    let sub = op(Code::Sub, [RESULT, LR, ZERO, 0], 4);
    check(0xe25e_f004, Exception, &[sub, op(Code::ExceptionReturn, [0, 0, RESULT, 0], 0)]);
}

#[test]
fn data_processing_that_means_nothing() {
    // tst with a destination; mov with a first operand; a shift by the program counter; movw to it.
    undefined(&[0xe111_1002, 0xe1a1_0002, 0xe081_0f12, 0xe300_f000]);
}

#[test]
fn multiplications() {
    use TimingClass::{Multiply, MultiplyLong};
    // muls r0, r1, r2; mla r0, r1, r2, r3; mls r0, r1, r2, r3
    let test = op(Code::TestNz, [0, 0, 0, 0], 0);
    check(0xe010_0291, Multiply, &[op(Code::Mul, [0, 1, 2, 0], 0), test]);
    check(0xe020_3291, Multiply, &[op(Code::Mla, [0, 1, 2, 3], 0)]);
    check(0xe060_3291, Multiply, &[op(Code::Mls, [0, 1, 2, 3], 0)]);
    // smlals r3, r0, r1, r2; umaal r3, r0, r1, r2
    let test = op(Code::TestNz64, [0, 0, 3, 0], 0);
    check(0xe0f0_3291, MultiplyLong, &[op(Code::Smlal, [3, 1, 2, 0], 0), test]);
    check(0xe040_3291, MultiplyLong, &[op(Code::Umaal, [3, 1, 2, 0], 0)]);
    // smlabt r0, r1, r2, r3; smulwt r0, r1, r2; smultb r0, r1, r2; smlaltt r3, r0, r1, r2
    let media = |media: Media, parameters: u32| media as u32 | parameters << 8;
    check(0xe100_32c1, Multiply, &[op(Code::Media, [0, 1, 2, 3], media(Media::Smlaxy, 2))]);
    check(0xe120_02e1, Multiply, &[op(Code::Media, [0, 1, 2, ZERO], media(Media::Smlawy, 2))]);
    check(0xe160_02a1, Multiply, &[op(Code::Media, [0, 1, 2, ZERO], media(Media::Smlaxy, 1))]);
    check(0xe140_32e1, MultiplyLong, &[op(Code::Media, [3, 1, 2, 0], media(Media::Smlalxy, 3))]);
    // smuadx r0, r1, r2; smlsld r3, r0, r1, r2; smmulr r0, r1, r2; smmls r0, r1, r2, r3
    check(0xe700_f231, Multiply, &[op(Code::Media, [0, 1, 2, ZERO], media(Media::Smlad, 1))]);
    check(0xe740_3251, MultiplyLong, &[op(Code::Media, [3, 1, 2, 0], media(Media::Smlsld, 0))]);
    check(0xe750_f231, Multiply, &[op(Code::Media, [0, 1, 2, ZERO], media(Media::Smmla, 1))]);
    check(0xe750_32d1, Multiply, &[op(Code::Media, [0, 1, 2, 3], media(Media::Smmls, 0))]);
    // mul with a third operand; umaals; umull into one register; smmls without a third operand
    undefined(&[0xe000_1291, 0xe050_3291, 0xe080_0291, 0xe750_f2d1]);
}

#[test]
fn divisions_are_a_feature() {
    let division = [op(Code::Sdiv, [0, 1, 2, 0], 0)];
    check(0xe710_f211, TimingClass::Divide, &division);
    check(0xe730_f211, TimingClass::Divide, &[op(Code::Udiv, [0, 1, 2, 0], 0)]);
    let mut ops = Vec::new();
    let instr = decode(0xe710_f211, AT, Features::default(), &mut ops);
    assert_eq!((instr.class, ops[0].code), (TimingClass::Exception, Code::Undefined));
}

#[test]
fn media_instructions() {
    use TimingClass::{Alu, AluShift, Media as Class};
    let media = |media: Media, parameters: u32| media as u32 | parameters << 8;
    // uhsax r0, r1, r2; qadd8 r0, r1, r2; ssub8 r0, r1, r2
    check(0xe671_0f52, Class, &[op(Code::Media, [0, 1, 2, 0], media(Media::Parallel, 0x25))]);
    check(0xe621_0f92, Class, &[op(Code::Media, [0, 1, 2, 0], media(Media::Parallel, 0x41))]);
    check(0xe611_0ff2, Class, &[op(Code::Media, [0, 1, 2, 0], media(Media::Parallel, 0x50))]);
    // pkhtb r0, r1, r2, asr #32; ssat r0, #8, r1, lsl #4; usat16 r0, #5, r1; sel r0, r1, r2
    let shift = op(Code::AsrImm, [OPERAND, 0, 2, 0], 32);
    check(0xe681_0052, Class, &[shift, op(Code::Media, [0, 1, OPERAND, 0], media(Media::Pkhtb, 0))]);
    let shift = op(Code::LslImm, [OPERAND, 0, 1, 0], 4);
    check(0xe6a7_0211, Class, &[shift, op(Code::Media, [0, 0, OPERAND, 0], media(Media::Ssat, 8))]);
    check(0xe6e5_0f31, Class, &[op(Code::Media, [0, 0, 1, 0], media(Media::Usat16, 5))]);
    check(0xe681_0fb2, Class, &[op(Code::Media, [0, 1, 2, 0], media(Media::Sel, 0))]);
    // sxtah r0, r1, r2, ror #16; uxtb r0, r1; sxtb16 r0, r1; rbit r0, r1; rev16 r0, r1
    let rotated = op(Code::RorImm, [OPERAND, 0, 2, 0], 16);
    let extended = op(Code::Sxth, [OPERAND, 0, OPERAND, 0], 0);
    check(0xe6b1_0872, AluShift, &[rotated, extended, op(Code::Add, [0, 1, OPERAND, 0], 0)]);
    check(0xe6ef_0071, Alu, &[op(Code::Uxtb, [0, 0, 1, 0], 0)]);
    check(0xe68f_0071, Class, &[op(Code::Media, [0, ZERO, 1, 0], media(Media::Sxtab16, 0))]);
    check(0xe6ff_0f31, Alu, &[op(Code::Rbit, [0, 0, 1, 0], 0)]);
    check(0xe6bf_0fb1, Alu, &[op(Code::Rev16, [0, 0, 1, 0], 0)]);
    // usada8 r0, r1, r2, r3; sbfx r0, r1, #4, #28; bfc r0, #8, #24; bfi r0, r1, #0, #32
    check(0xe780_3211, Class, &[op(Code::Media, [0, 1, 2, 3], media(Media::Usada8, 0))]);
    check(0xe7bb_0251, Alu, &[op(Code::Sbfx, [0, 0, 1, 0], 28 << 8 | 4)]);
    check(0xe7df_041f, Alu, &[op(Code::Bfi, [0, 0, ZERO, 0], 24 << 8 | 8)]);
    check(0xe7df_0011, Alu, &[op(Code::Bfi, [0, 0, 1, 0], 32 << 8)]);
    // udf; a field beyond the word; a field that ends before it begins; unallocated kinds of parallel instructions
    undefined(&[0xe7f0_00f0, 0xe7bc_0251, 0xe7c0_0411, 0xe641_0f12, 0xe611_0fb2]);
}

#[test]
fn a_condition_skips_all_that_follows() {
    let (instr, ops) = decoded(0x0591_0004);
    assert_eq!(ops, [op(Code::SkipUnless, [0, 0, ZERO, 0], 1), op(Code::Ldr, [0, 1, ZERO, 0], 4)]);
    assert_eq!((instr.reads, instr.writes, instr.words), (FLAGS | 2, 1, 1));
    // An undefined encoding is not executed if its condition fails.
    let (instr, ops) = decoded(0x17f0_00f0);
    assert_eq!(ops[0], op(Code::SkipUnless, [1, 0, ZERO, 0], 1));
    assert_eq!(ops[1], op(Code::Undefined, [0, 0, ZERO, 0], 0x17f0_00f0));
    assert!(instr.ends_block);
}

#[test]
fn branches() {
    use TimingClass::{Branch, IndirectBranch};
    let link = op(Code::Mov, [LR, ZERO, ZERO, 0], AT + 4);
    let jump = |target| op(Code::Jump, [0, 0, ZERO, 0], target);
    // b .; bne .+16; bl .-8; blx .+6 to T32
    check(0xeaff_fffe, Branch, &[jump(AT)]);
    check(0x1a00_0002, Branch, &[op(Code::JumpIf, [1, 0, ZERO, 0], AT + 16)]);
    check(0xebff_fffc, Branch, &[link, jump(AT - 8)]);
    check(0x0bff_fffc, Branch, &[op(Code::SkipUnless, [0, 0, ZERO, 0], 2), link, jump(AT - 8)]);
    check(0xfbff_ffff, Branch, &[link, jump((AT + 6) | 1)]);
    // bx r1; bx pc; blx r1; blx lr
    let jump_to = |rm| op(Code::JumpTo, [0, 0, rm, 0], 0);
    check(0xe12f_ff11, IndirectBranch, &[jump_to(1)]);
    check(0xe12f_ff1f, IndirectBranch, &[op(Code::Mov, [PC_VALUE, ZERO, ZERO, 0], AT + 8), jump_to(PC_VALUE)]);
    check(0xe12f_ff31, IndirectBranch, &[link, jump_to(1)]);
    check(0xe12f_ff3e, IndirectBranch, &[op(Code::Mov, [RESULT, 0, LR, 0], 0), link, jump_to(RESULT)]);
    assert_eq!(decoded(0xe12f_ff31).0.writes, 1 << LR);
    undefined(&[0xe12f_ff3f]);
    assert_eq!(decoded(0xee10_ff10).1, [op(Code::Mrc, [PC, 0, 0, 0], 0xf)]);
}
