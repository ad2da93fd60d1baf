//! 16-bit instructions.

use super::*;
use crate::isa::arm::in_block::InBlock;

/// All 16-bit encodings.
fn halves() -> std::ops::Range<u32> {
    0..0xe800
}

#[test]
fn all_are_decoded_in_and_outside_it_blocks() {
    for half in halves() {
        for state in [0, 0x08, 0x1c, 0xe8, 0xd1] {
            let mut it = state;
            let (instr, ops) = decode_in(&mut it, half);
            assert_eq!(instr.len_bytes, 2);
            assert!(!ops.is_empty() && ops.len() <= 13, "{half:#x}");
            let skips = ops.iter().filter(|op| op.code == Code::SkipUnless).count();
            assert!(skips == 0 || ops[0].code == Code::SkipUnless && ops[0].imm as usize == ops.len() - 1);
            if state & 0xf != 0 {
                assert_eq!(it, if state & 7 == 0 { 0 } else { state & 0xe0 | state << 1 & 0x1f }, "{half:#x}");
            }
        }
    }
}

/// The undefined encodings: those of the manual (A6.2), and of the unpredictable ones empty register lists, and fields
/// that should be zero.
#[test]
fn undefined_ones_are_those_of_the_manual() {
    let expected = |half: u32| match half {
        0x4700..=0x47ff => half & 7 != 0 || half == 0x47f8,
        0xb400 | 0xbc00 => true,
        0xb600..=0xb6ff => {
            !matches!(half & 0xf0, 0x50 | 0x60 | 0x70)
                || half & 0xf0 == 0x50 && half & 7 != 0
                || half & 0xf0 != 0x50 && half & 8 != 0
        }
        0xb200..=0xb2ff | 0xb900..=0xb9ff | 0xb100..=0xb1ff | 0xb300..=0xb3ff | 0xbb00..=0xbbff => false,
        0xb700..=0xb8ff => true,
        0xba80..=0xbabf => true,
        0xc000..=0xcfff => half & 0xff == 0,
        0xde00..=0xdeff => true,
        _ => false,
    };
    for half in halves() {
        let found = ops(half)[0].code == Code::Undefined;
        assert_eq!(found, expected(half), "{half:#x}");
        if found {
            assert_eq!(ops(half), undefined(half));
        }
    }
}

#[test]
fn arithmetic_sets_flags_outside_it_blocks_only() {
    let cases = [
        (0x1888, Code::Adds, Code::Add),       // adds r0, r1, r2
        (0x2005, Code::Movs, Code::Mov),       // movs r0, 5
        (0x4008, Code::Ands, Code::And),       // ands r0, r1
        (0x4248, Code::Rsbs, Code::Rsb),       // rsbs r0, r1, 0
        (0x0088, Code::LslImms, Code::LslImm), // lsls r0, r1, 2
        (0x40c8, Code::LsrRegs, Code::LsrReg), // lsrs r0, r1
    ];
    for (half, outside, inside) in cases {
        let (instr, ops) = decoded(half);
        assert_eq!((ops[0].code, instr.writes & FLAGS), (outside, FLAGS), "{half:#x}");
        let (instr, ops) = decode_in(&mut 0x08, half);
        assert_eq!(ops[0], op(Code::SkipUnless, 0, 0, ZERO, 1), "{half:#x}");
        assert_eq!((ops[1].code, instr.writes & FLAGS, instr.reads & FLAGS), (inside, 0, FLAGS), "{half:#x}");
    }
    // cmp always sets flags: they are its result.
    assert_eq!(decode_in(&mut 0x08, 0x2805).1[1], op(Code::Subs, SINK, 0, ZERO, 5));
}

#[test]
fn shifts_by_an_immediate() {
    assert_eq!(ops(0x0008), [op(Code::Movs, 0, ZERO, 1, 0)]);
    let test = op(Code::TestNz, 0, 0, 0, 0);
    assert_eq!(ops(0x0088), [op(Code::LslImms, 0, 0, 1, 2), test]);
    assert_eq!(ops(0x0808), [op(Code::LsrImms, 0, 0, 1, 32), test]);
    assert_eq!(ops(0x17c8), [op(Code::AsrImms, 0, 0, 1, 31), test]);
    assert_eq!(ops(0x41c8), [op(Code::RorRegs, 0, 1, 0, 0), test]);
    assert_eq!(ops(0x4348), [op(Code::Mul, 0, 1, 0, 0), test]);
}

#[test]
fn the_program_counter_as_an_operand_and_a_target() {
    let value = op(Code::Mov, PC_VALUE, ZERO, ZERO, PC + 4);
    // add r0, pc; add pc, r1; mov pc, lr; mov r1, pc
    assert_eq!(ops(0x4478), [value, op(Code::Add, 0, 0, PC_VALUE, 0)]);
    let jump = op(Code::JumpToSame, 0, 0, RESULT, 0);
    assert_eq!(ops(0x448f), [value, op(Code::Add, RESULT, PC_VALUE, 1, 0), jump]);
    assert_eq!(ops(0x46f7), [op(Code::JumpToSame, 0, 0, LR, 0)]);
    assert_eq!(ops(0x4679), [value, op(Code::Mov, 1, ZERO, PC_VALUE, 0)]);
    // adr r0, pc, 4; ldr r0, [pc, 4]: relative to the aligned value
    assert_eq!(ops(0xa001), [op(Code::Mov, 0, ZERO, ZERO, 0x2000_0008)]);
    assert_eq!(ops(0x4801), [access(Code::Ldr, 0, ZERO, ZERO, 0, 0x2000_0008)]);
}

#[test]
fn branches() {
    // b to itself; beq +4; blt -2 after the value
    assert_eq!(ops(0xe7fe), [op(Code::Jump, 14, 0, ZERO, PC | 1)]);
    assert_eq!(ops(0xd002), [op(Code::JumpIf, 0, 0, ZERO, (PC + 8) | 1)]);
    assert_eq!(ops(0xdbff), [op(Code::JumpIf, 11, 0, ZERO, (PC + 2) | 1)]);
    // In an IT block the branch has the block's condition, and needs no skip.
    assert_eq!(decode_in(&mut 0x18, 0xe000).1, [op(Code::JumpIf, 1, 0, ZERO, (PC + 4) | 1)]);
    // A branch with its own condition is not allowed there.
    let undefined = op(Code::Undefined, 0, 0, ZERO, 0xd002);
    assert_eq!(decode_in(&mut 0x18, 0xd002).1, [op(Code::SkipUnless, 1, 0, ZERO, 1), undefined]);
    // cbz r1, +2; cbnz r7, +126
    assert_eq!(ops(0xb109), [op(Code::JumpIfZero, 0, 1, ZERO, (PC + 6) | 1)]);
    assert_eq!(ops(0xbbff), [op(Code::JumpIfNotZero, 0, 7, ZERO, (PC + 4 + 126) | 1)]);
    // bx lr; blx r3; blx lr
    assert_eq!(ops(0x4770), [op(Code::JumpTo, 0, 0, LR, 0)]);
    let link = op(Code::Mov, LR, ZERO, ZERO, (PC + 2) | 1);
    assert_eq!(ops(0x4798), [link, op(Code::JumpTo, 0, 0, 3, 0)]);
    let to_lr = [op(Code::Mov, RESULT, 0, LR, 0), link, op(Code::JumpTo, 0, 0, RESULT, 0)];
    assert_eq!(ops(0x47f0), to_lr);
    assert!(decoded(0x47f0).0.ends_block);
}

#[test]
fn loads_and_stores() {
    assert_eq!(ops(0x6888), [access(Code::Ldr, 0, 1, ZERO, 0, 8)]);
    assert_eq!(ops(0x7088), [access(Code::Strb, 0, 1, ZERO, 0, 2)]);
    assert_eq!(ops(0x8888), [access(Code::Ldrh, 0, 1, ZERO, 0, 4)]);
    assert_eq!(ops(0x9102), [access(Code::Str, 1, SP, ZERO, 0, 8)]);
    assert_eq!(ops(0x5688), [access(Code::Ldrsb, 0, 1, 2, 0, 0)]);
    let (load, store) = (decoded(0x6888).0, decoded(0x6088).0);
    assert_eq!((load.class, load.words, load.reads_early, load.writes), (TimingClass::Load, 1, 2, 1));
    assert_eq!((store.class, store.reads, store.reads_early), (TimingClass::Store, 3, 2));
}

#[test]
fn several_registers() {
    let reported = how::ALIGNED | how::REPORTED;
    // push {r4, lr}
    let push = [
        access(Code::Multiple, 0, SP, ZERO, how::ALIGNED | how::STORE, 0xffff_f802),
        access(Code::Str, 4, SP, ZERO, reported, 0xffff_fff8),
        access(Code::Str, LR, SP, ZERO, reported, 0xffff_fffc),
        op(Code::Add, SP, SP, ZERO, 0xffff_fff8),
    ];
    assert_eq!(ops(0xb510), push);
    // pop {r4, pc}
    let pop = [
        access(Code::Multiple, 0, SP, ZERO, how::ALIGNED, 2),
        access(Code::Ldr, 4, SP, ZERO, reported, 0),
        access(Code::Ldr, RESULT, SP, ZERO, reported, 4),
        op(Code::Add, SP, SP, ZERO, 8),
        op(Code::JumpTo, 0, 0, RESULT, 0),
    ];
    assert_eq!(ops(0xbd10), pop);
    let instr = decoded(0xbd10).0;
    assert_eq!((instr.class, instr.words, instr.ends_block), (TimingClass::IndirectBranch, 2, true));
    // ldm r1, {r0, r1, r2}: the base is loaded last and not written back
    let ldm = [
        access(Code::Multiple, 0, 1, ZERO, how::ALIGNED, 3),
        access(Code::Ldr, 0, 1, ZERO, reported, 0),
        access(Code::Ldr, 2, 1, ZERO, reported, 8),
        access(Code::Ldr, 1, 1, ZERO, reported, 4),
    ];
    assert_eq!(ops(0xc907), ldm);
    // pop {r3}
    assert_eq!(ops(0xbc08), [access(Code::Ldr, 3, SP, ZERO, how::ALIGNED, 0), op(Code::Add, SP, SP, ZERO, 4)]);
}

#[test]
fn it_gives_conditions_to_what_follows() {
    // itte ne
    let mut it = 0;
    assert_eq!(decode_in(&mut it, 0xbf1a).1, [op(Code::Mov, SINK, ZERO, ZERO, 0)]);
    let conditions = [1, 1, 0].map(|_| decode_in(&mut it, 0x2000).1[0]);
    assert_eq!(conditions, [1, 1, 0].map(|condition| op(Code::SkipUnless, condition, 0, ZERO, 1)));
    assert_eq!(it, 0);
    assert_eq!(ops(0x2000), [op(Code::Movs, 0, ZERO, ZERO, 0)]);
    // it al: no condition, but no flags either
    let mut it = 0;
    decode_in(&mut it, 0xbfe8);
    assert_eq!(decode_in(&mut it, 0x2000).1, [op(Code::Mov, 0, ZERO, ZERO, 0)]);
    // bkpt has no condition
    assert_eq!(decode_in(&mut 0x08, 0xbe05).1, [op(Code::Bkpt, 0, 0, ZERO, 5)]);
}

#[test]
fn system_instructions() {
    assert_eq!(ops(0xdf12), [op(Code::Svc, 0, 0, ZERO, 0x12)]);
    // cpsid if; cpsie i; setend be
    assert_eq!(ops(0xb673), [op(Code::InBlock, SINK, ZERO, ZERO, InBlock::Mask(0xc0).imm())]);
    assert_eq!(ops(0xb662), [op(Code::Cps, 0, 0, ZERO, 0x480)]);
    assert_eq!(ops(0xb658), [op(Code::Setend, 0, 0, ZERO, 1)]);
    // nop, yield, wfe, wfi, sev, an unallocated hint
    let codes = [0xbf00, 0xbf10, 0xbf20, 0xbf30, 0xbf40, 0xbf50].map(|half| ops(half)[0].code);
    assert_eq!(codes, [Code::Mov, Code::Hint, Code::Wfe, Code::Wfi, Code::Sev, Code::Mov]);
    assert!(!decoded(0xbf00).0.ends_block);
    assert_eq!(decoded(0x0000).0.class, TimingClass::Alu);
}
