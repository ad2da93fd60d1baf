//! vmov between VFP and general registers (ARM, A7.8 and A7.9).

use super::super::system::X;
use super::S;

fn fields(encoding: u32) -> (usize, usize, bool, bool) {
    let register = |at: u32| (encoding >> at & 15) as usize;
    (register(12), register(16), encoding >> 20 & 1 != 0, encoding >> 8 & 1 != 0)
}

/// One general register and a single, or half a double.
pub fn one(encoding: u32, s: &mut S, x: &mut X) {
    let (rt, vn, is_read, is_double) = fields(encoding);
    let fifth = (encoding >> 7 & 1) as usize;
    // The upper half of a double: bit 21.
    let word = if is_double { fifth << 5 | vn << 1 | (encoding >> 21 & 1) as usize } else { vn << 1 | fifth };
    if is_read { x[rt] = s[word] } else { s[word] = x[rt] }
}

/// Two general registers and two singles, or a double.
pub fn two(encoding: u32, s: &mut S, x: &mut X) {
    let (rt, rt2, is_read, is_double) = fields(encoding);
    let (vm, fifth) = ((encoding & 15) as usize, (encoding >> 5 & 1) as usize);
    let first = if is_double { fifth << 5 | vm << 1 } else { vm << 1 | fifth };
    // The last single has none behind it: unpredictable, and refused when decoded.
    let second = (first + 1) & 63;
    if is_read {
        (x[rt], x[rt2]) = (s[first], s[second]);
    } else {
        (s[first], s[second]) = (x[rt], x[rt2]);
    }
}
