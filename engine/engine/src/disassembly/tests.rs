//! Each encoding that a core runs as an instruction has a text.

use super::*;
use crate::isa::arm::op::{Code, Features, Op};
use crate::isa::arm::{decode_a32, decode_t32};
use crate::isa::{mips, riscv};
use crate::tiers::sized;

const ALL: Features = Features {
    divide: true,
    vfp: true,
    vfp_d32: true,
    m_profile: false,
    traps_division: false,
    ends_division_early: false,
};
const M: Features = Features { vfp_d32: false, m_profile: true, ..ALL };

fn is_known(decode: impl Fn(&mut Vec<Op>)) -> bool {
    let mut ops = Vec::new();
    decode(&mut ops);
    ops.iter().all(|op| op.code != Code::Undefined)
}

fn numbers(mut state: u64) -> impl Iterator<Item = u32> {
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    })
}

/// Random encodings that a decoder knows and that have no text.
fn without_text(encoding: Encoding, is_known: impl Fn(u32) -> bool) -> Vec<u32> {
    let disassembler = Disassembler::new(encoding);
    let has_text = |word: u32| {
        let word = if matches!(encoding, Encoding::T32 | Encoding::T32M) { word.rotate_left(16) } else { word };
        disassembler.first(&word.to_le_bytes(), 0x1000).is_some_and(|found| found.text.is_some())
    };
    numbers(7).take(sized(100_000, 400_000)).filter(|word| is_known(*word) && !has_text(*word)).collect()
}

#[test]
fn what_a_core_takes_for_an_instruction_has_a_text() {
    let a32 = |word| is_known(|ops| _ = decode_a32::decode(word, 0x1000, ALL, ops));
    let t32 = |features| {
        move |word: u32| {
            let (first, second) = ((word >> 16) as u16, word as u16);
            is_known(|ops| _ = decode_t32::decode(first, second, 0x1000, features, &mut 0, ops))
        }
    };
    // For coprocessors that no core here has, only the number is known.
    let mips = |word| {
        let code = mips::decode::decode(word, 0x1000).code;
        !matches!(code, mips::op::Code::Reserved | mips::op::Code::CopUnusable)
    };
    let riscv = |word| decode::decode(word).op.code != riscv::op::Code::Illegal;
    for (encoding, unknown) in [
        (Encoding::A32, without_text(Encoding::A32, a32)),
        (Encoding::T32, without_text(Encoding::T32, t32(ALL))),
        (Encoding::T32M, without_text(Encoding::T32M, t32(M))),
        (Encoding::Mips, without_text(Encoding::Mips, mips)),
        (Encoding::RiscV, without_text(Encoding::RiscV, riscv)),
    ] {
        assert!(
            unknown.is_empty(),
            "{encoding:?}: {} such as {:08x?}",
            unknown.len(),
            &unknown[..unknown.len().min(60)]
        );
    }
}

#[test]
fn texts_are_those_of_the_manufacturers() {
    let of = |set, encoding| text_of(encoding, set, 0x1000);
    for (set, encoding, text) in [
        (Encoding::A32, 0xe59f_c008, "ldr r12, [pc, #8]"),
        (Encoding::A32, 0xeb00_003e, "bl #0x1100"),
        (Encoding::A32, 0xee30_0a20, "vadd.f32 s0, s0, s1"),
        (Encoding::A32, 0xee11_0f10, "mrc p15, #0, r0, c1, c0, #0"),
        (Encoding::A32, 0xe25e_f004, "subs pc, lr, #4"),
        (Encoding::A32, 0x1127_637c, "bkpt #0x763c"),
        (Encoding::A32, 0x7cd6_ab09, "fldmiaxvc r6, {d26-d29}"),
        (Encoding::A32, 0xcef4_2a10, "vmrsgt r2, #4"),
        (Encoding::A32, 0x0320_f7bf, "nopeq (a hint that is not allocated)"),
        (Encoding::A32, 0xf498_8ea0, "nop (a memory hint that is not allocated)"),
        (Encoding::A32, 0xffff_ffff, ".word 0xffffffff"),
        (Encoding::T32, 0xb662, "cpsie i"),
        (Encoding::T32, 0xf3bf_8f6f, "isb sy"),
        (Encoding::T32, 0xe902_7169, "stmdb r2, {r0, r3, r5, r6, r8, r12, sp, lr}"),
        (Encoding::T32, 0xb7ff, ".short 0xb7ff"),
        (Encoding::T32M, 0xf3ef_8010, "mrs r0, primask"),
        (Encoding::Mips, 0x8d28_0004, "lw $t0, 4($t1)"),
        (Encoding::Mips, 0x0c00_0440, "jal 0x1100"),
        (Encoding::Mips, 0x4200_0018, "eret"),
        (Encoding::Mips, 0x03e0_0048, "jr $ra"),
        (Encoding::Mips, 0x4208_0020, "wait"),
        (Encoding::Mips, 0x7000_003e, ".word 0x7000003e"),
        (Encoding::RiscV, 0x0080_00ef, "jal 0x1008"),
        (Encoding::RiscV, 0x4505, "li a0, 1"),
        (Encoding::RiscV, 0x0800_000b, "waitirq zero"),
        (Encoding::RiscV, 0, ".short 0x0000"),
    ] {
        assert_eq!(of(set, encoding), text, "{encoding:#x}");
    }
}

#[test]
fn a_sequence_goes_on_after_what_is_no_instruction() {
    // An IT block: cmp r2, #5; itte eq; movs r3, #1; adds r3, #2; movs r3, #9; no instruction; a wide one; half of a
    // wide one.
    let halves: [u16; 9] = [0x2a05, 0xbf06, 0x2301, 0x3302, 0x2309, 0xb7ff, 0xf3bf, 0x8f6f, 0xf3bf];
    let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    let found = Disassembler::new(Encoding::T32).sequence(&bytes, 0x100);
    let texts: Vec<_> = found.iter().map(|found| (found.addr, found.text.as_deref())).collect();
    let conditional = [(0x104, Some("moveq r3, #1")), (0x106, Some("addeq r3, #2")), (0x108, Some("movne r3, #9"))];
    assert_eq!(texts[..2], [(0x100, Some("cmp r2, #5")), (0x102, Some("itte eq"))]);
    assert_eq!(texts[2..5], conditional);
    assert_eq!(texts[5..], [(0x10a, None), (0x10c, Some("isb sy"))]);
}
