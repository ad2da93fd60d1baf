use super::*;
use crate::isa::arm::op::Code;
use crate::isa::arm::registers::{COUNT, ZERO};

/// Result of an instruction with a and b (and c), Q and GE.
fn result(media: Media, parameters: u32, [a, b, c]: [u32; 3], ge: u32) -> (u32, u32, u32) {
    let mut x = [0; COUNT];
    (x[1], x[2], x[3], x[usize::from(GE)]) = (a, b, c, ge);
    execute(&mut x, &Op { code: Code::Media, rd: 0, rn: 1, rm: 2, ra: 3, imm: media as u32 | parameters << 8 });
    (x[0], x[usize::from(Q)], x[usize::from(GE)])
}

fn value(media: Media, parameters: u32, operands: [u32; 3]) -> u32 {
    result(media, parameters, operands, 0).0
}

/// Result and Q.
fn with_q(media: Media, parameters: u32, operands: [u32; 3]) -> (u32, u32) {
    let (value, q, _) = result(media, parameters, operands, 0);
    (value, q)
}

const MIN: u32 = 0x8000_0000;
const MAX: u32 = 0x7fff_ffff;

#[test]
fn saturating_sums() {
    assert_eq!(with_q(Media::Qadd, 0, [1, MAX, 0]), (MAX, 1));
    assert_eq!(with_q(Media::Qadd, 0, [1, 2, 0]), (3, 0));
    // The second operand minus the first.
    assert_eq!(with_q(Media::Qsub, 0, [1, MIN, 0]), (MIN, 1));
    assert_eq!(with_q(Media::Qsub, 0, [3, 5, 0]), (2, 0));
    assert_eq!(with_q(Media::Qdadd, 0, [0x4000_0000, 0, 0]), (MAX, 1));
    assert_eq!(with_q(Media::Qdadd, 0, [0x4000_0000, MIN, 0]), (u32::MAX, 1));
    assert_eq!(with_q(Media::Qdsub, 0, [2, 10, 0]), (6, 0));
}

#[test]
fn saturation_to_fewer_bits() {
    assert_eq!(with_q(Media::Ssat, 8, [0, 127, 0]), (127, 0));
    assert_eq!(with_q(Media::Ssat, 8, [0, 128, 0]), (127, 1));
    assert_eq!(with_q(Media::Ssat, 1, [0, 5, 0]), (0, 1));
    assert_eq!(with_q(Media::Ssat, 32, [0, MIN, 0]), (MIN, 0));
    assert_eq!(with_q(Media::Usat, 8, [0, 256, 0]), (255, 1));
    assert_eq!(with_q(Media::Usat, 0, [0, 0, 0]), (0, 0));
    assert_eq!(with_q(Media::Usat, 31, [0, u32::MAX, 0]), (0, 1));
    assert_eq!(with_q(Media::Ssat16, 4, [0, 0x0008_fff8, 0]), (0x0007_fff8, 1));
    assert_eq!(with_q(Media::Usat16, 4, [0, 0xffff_000f, 0]), (0x0000_000f, 1));
}

/// Parallel addition and subtraction of a and b: result and GE, which was 5.
fn in_parallel(kind: u32, operation: u32, a: u32, b: u32) -> (u32, u32) {
    let (value, q, ge) = result(Media::Parallel, kind | operation << 4, [a, b, 0], 5);
    assert_eq!(q, 0);
    (value, ge)
}

#[test]
fn parallel_sums_of_halves() {
    let (a, b) = (0x8000_ffff, 0x8001_0002);
    for (kind, sum, ge) in [
        (0, 0x0001_0001, 0b0011),
        (1, 0x8000_0001, 5),
        (2, 0x8000_0000, 5),
        (3, 0x0001_0001, 0b1111),
        (4, 0xffff_ffff, 5),
        (5, 0x8000_8000, 5),
    ] {
        assert_eq!(in_parallel(kind, 0, a, b), (sum, ge), "{kind}");
    }
    for (kind, difference, ge) in [
        (0, 0xffff_fffd, 0b0000),
        (1, 0xffff_fffd, 5),
        (2, 0xffff_fffe, 5),
        (3, 0xffff_fffd, 0b0011),
        (4, 0x0000_fffd, 5),
        (5, 0xffff_7ffe, 5),
    ] {
        assert_eq!(in_parallel(kind, 3, a, b), (difference, ge), "{kind}");
    }
}

#[test]
fn exchanged_halves() {
    let (a, b) = (0x0005_0003, 0x0002_0004);
    // asx: the high half adds, the low one subtracts; sax: the opposite.
    assert_eq!(in_parallel(0, 1, a, b), (0x0009_0001, 0b1111));
    assert_eq!(in_parallel(0, 2, a, b), (0x0001_0005, 0b1111));
    assert_eq!(in_parallel(3, 1, a, b), (0x0009_0001, 0b0011));
    assert_eq!(in_parallel(3, 2, a, b), (0x0001_0005, 0b1100));
}

#[test]
fn parallel_sums_of_bytes() {
    let (a, b) = (0x80ff_7f01, 0x80ff_0102);
    assert_eq!(in_parallel(0, 4, a, b), (0x00fe_8003, 0b0011));
    assert_eq!(in_parallel(1, 4, a, b), (0x80fe_7f03, 5));
    assert_eq!(in_parallel(2, 4, a, b), (0x80ff_4001, 5));
    assert_eq!(in_parallel(3, 4, a, b), (0x00fe_8003, 0b1100));
    assert_eq!(in_parallel(4, 4, a, b), (0xffff_8003, 5));
    assert_eq!(in_parallel(5, 4, a, b), (0x80ff_4001, 5));
    assert_eq!(in_parallel(0, 5, a, b), (0x0000_7eff, 0b1110));
    assert_eq!(in_parallel(3, 5, a, b), (0x0000_7eff, 0b1110));
    assert_eq!(in_parallel(4, 5, a, b), (0x0000_7e00, 5));
}

#[test]
fn bytes_selected_by_ge() {
    for ge in 0..16 {
        let mask = (0..4).map(|lane| if ge >> lane & 1 != 0 { 0xff << (8 * lane) } else { 0 }).sum::<u32>();
        let (a, b) = (0x1122_3344, 0x5566_7788);
        assert_eq!(result(Media::Sel, 0, [a, b, 0], ge), (a & mask | b & !mask, 0, ge));
    }
}

#[test]
fn bytes_extended_and_differences_summed() {
    assert_eq!(value(Media::Usada8, 0, [0x0105_ff00, 0x0301_00ff, 1]), 2 + 4 + 255 + 255 + 1);
    assert_eq!(value(Media::Sxtab16, 0, [0x0001_ffff, 0x1180_2202, 0]), 0xff81_0001);
    assert_eq!(value(Media::Uxtab16, 0, [0x0001_ffff, 0x1180_2202, 0]), 0x0081_0001);
    assert_eq!(value(Media::Pkhbt, 0, [0x1122_3344, 0x5566_7788, 0]), 0x5566_3344);
    assert_eq!(value(Media::Pkhtb, 0, [0x1122_3344, 0x5566_7788, 0]), 0x1122_7788);
}

#[test]
fn products_of_halves() {
    let operands = [0x0003_fffe, 0xfffc_0005, 7];
    for (parameters, product) in [(0, -10), (1, 15), (2, 8), (3, -12)] {
        assert_eq!(value(Media::Smlaxy, parameters, operands), (product + 7) as u32, "{parameters}");
    }
    assert_eq!(with_q(Media::Smlaxy, 0, [0x8000, 0x8000, 0x4000_0000]), (MIN, 1));
    assert_eq!(value(Media::Smlawy, 0, [0xffff_0000, 3, 10]), 7);
    assert_eq!(value(Media::Smlawy, 2, [0x0001_8000, 0x0003_0000, 0]), 4);
    assert_eq!(value(Media::Smlad, 0, operands), (-10 - 12 + 7) as u32);
    assert_eq!(value(Media::Smlad, 1, operands), 8 + 15 + 7);
    assert_eq!(value(Media::Smlsd, 0, operands), 9);
    assert_eq!(value(Media::Smlsd, 1, operands), 0);
    // The sum of the products can overflow by itself.
    assert_eq!(with_q(Media::Smlad, 0, [0x8000_8000, 0x8000_8000, 0]), (MIN, 1));
}

#[test]
fn products_added_to_64_bits() {
    for (media, parameters, product) in [
        (Media::Smlalxy, 0, -10i64),
        (Media::Smlald, 0, -22),
        (Media::Smlald, 1, 23),
        (Media::Smlsld, 0, 2),
        (Media::Smlsld, 1, -7),
    ] {
        let mut x = [0; COUNT];
        (x[1], x[2], x[4], x[5]) = (0x0003_fffe, 0xfffc_0005, 3, 1);
        execute(&mut x, &Op { code: Code::Media, rd: 4, rn: 1, rm: 2, ra: 5, imm: media as u32 | parameters << 8 });
        assert_eq!(pair(x[4], x[5]) as i64, 0x1_0000_0003 + product, "{media:?} {parameters}");
    }
}

#[test]
fn top_words_of_products() {
    assert_eq!(value(Media::Smmla, 0, [0x4000_0000, 6, 5]), 6);
    assert_eq!(value(Media::Smmla, 1, [0x4000_0000, 6, 5]), 7);
    assert_eq!(value(Media::Smmls, 0, [0x4000_0000, 6, 5]), 3);
    assert_eq!(value(Media::Smmls, 1, [0x4000_0000, 6, 5]), 4);
    let mut x = [0; COUNT];
    (x[1], x[2]) = (MIN, MIN);
    execute(&mut x, &Op { code: Code::Media, rd: 0, rn: 1, rm: 2, ra: ZERO, imm: Media::Smmla as u32 });
    assert_eq!(x[0], 0x4000_0000);
}
