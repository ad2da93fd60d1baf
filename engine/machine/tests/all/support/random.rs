//! Random numbers without a crate: the same ones on each host.

/// A number below `bound`, by the next state of a xorshift generator (Marsaglia, "Xorshift RNGs", 2003).
pub fn below(state: &mut u64, bound: u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    ((*state >> 33) as u32) % bound
}
