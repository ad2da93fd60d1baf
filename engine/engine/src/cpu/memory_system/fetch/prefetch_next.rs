//! The next instruction is fetched while the current one executes.
//!
//! The fetch unit reads words through the core's only port and keeps one halfword: the upper half of the word read
//! last, if it has not been used. A prefetch is never cancelled: a taken branch waits for the fall-through's, and data
//! accesses follow it. These are the rules of PicoRV32's memory interface; any core that fetches one instruction ahead
//! through one port can use them.
//!
//! Times are cycles of the core. An instruction is *wanted* from cycle I on; its request, if needed, is on the bus in
//! cycle I + 1. The core *accepts* it in cycle N at the earliest (before that it is busy with the current one). The
//! fetch is *done* in cycle D.

use crate::cpu::memory_system::port::Answer;
use crate::state::{Fresh, State};

/// A fetched instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its encoding; the upper half is 0 for a short instruction.
    pub encoding: u32,
    /// The cycle D in which the fetch is done.
    pub done_cycles: u64,
    /// The map entry that answered last; `None` if no word was read.
    pub entry: Option<usize>,
    /// Time that requests spent on interconnects.
    pub interconnect_cycles: u64,
    /// The word read for it, if it begins with one.
    first_word: Option<u32>,
}

/// State of the fetch unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct PrefetchNext {
    /// The upper half of the word read last, if it has not been used.
    held: Option<u16>,
}

impl PrefetchNext {
    /// The policy's name.
    pub const NAME: &str = "prefetch-next";

    /// Drops the held halfword: a jump, a taken branch, an interrupt.
    #[inline(always)]
    pub fn forget(&mut self) {
        self.held = None;
    }

    /// Fetches the instruction at `addr`, an even address: wanted from cycle `wanted` on, accepted from `accepts` on.
    /// `is_short` says whether a halfword is an instruction by itself; `read` reads the word at an address, with the
    /// request on the bus in a given cycle.
    ///
    /// # Errors
    ///
    /// The error of `read`.
    #[inline(always)]
    pub fn fetch<E>(
        &mut self,
        addr: u32,
        wanted: u64,
        accepts: u64,
        is_short: impl Fn(u16) -> bool,
        mut read: impl FnMut(u32, u64) -> Result<Answer, E>,
    ) -> Result<Fetched, E> {
        if addr & 2 == 0 {
            // The word is read even if its halves were read before.
            let answer = read(addr, wanted + 1)?;
            let short = is_short(answer.value as u16);
            self.held = short.then_some((answer.value >> 16) as u16);
            let encoding = if short { answer.value & 0xffff } else { answer.value };
            return Ok(Fetched { first_word: Some(answer.value), ..Fetched::by(answer, encoding, accepts) });
        }
        let ready = (wanted + 1).max(accepts);
        match self.held.take() {
            Some(half) if is_short(half) => Ok(Fetched {
                encoding: u32::from(half),
                done_cycles: ready,
                entry: None,
                interconnect_cycles: 0,
                first_word: None,
            }),
            // The rest is read only once the core can accept it: this read does not overlap a long operation.
            Some(half) => Ok(self.straddling(half, read(addr.wrapping_add(2), ready + 1)?)),
            None => {
                let answer = read(addr & !3, wanted + 1)?;
                let half = (answer.value >> 16) as u16;
                if is_short(half) {
                    return Ok(Fetched::by(answer, u32::from(half), accepts));
                }
                let rest = read(addr.wrapping_add(2), answer.done_cycles + 1)?;
                let fetched = self.straddling(half, rest);
                let interconnect_cycles = answer.interconnect_cycles + fetched.interconnect_cycles;
                Ok(Fetched { interconnect_cycles, ..fetched })
            }
        }
    }

    /// An instruction whose lower half was held and whose upper half is in the word `rest`.
    #[inline(always)]
    fn straddling(&mut self, half: u16, rest: Answer) -> Fetched {
        self.held = Some((rest.value >> 16) as u16);
        Fetched::by(rest, rest.value << 16 | u32::from(half), 0)
    }
}

impl Fetched {
    /// An instruction that arrived with the last `answer`, and is accepted from `accepts` on.
    #[inline(always)]
    fn by(answer: Answer, encoding: u32, accepts: u64) -> Fetched {
        Fetched {
            encoding,
            done_cycles: answer.done_cycles.max(accepts),
            entry: Some(answer.entry),
            interconnect_cycles: answer.interconnect_cycles,
            first_word: None,
        }
    }

    /// The upper half of the word of an aligned prefetch that arrived later than `accepts`.
    #[inline(always)]
    pub fn late_upper_half(&self, accepts: u64) -> Option<u16> {
        self.first_word.filter(|_| self.done_cycles > accepts).map(|word| (word >> 16) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Reads from a memory that answers `wait` cycles after the request: address and cycle of each read, and the
    /// result.
    fn fetch(unit: &mut PrefetchNext, addr: u32, wanted: u64, accepts: u64, wait: u64) -> (Vec<(u32, u64)>, Fetched) {
        // Each word holds its own address: short below 0x100 at an even word, else the first half of a long one.
        let word = |addr: u32| match addr {
            0x10 => 0x0001_0001,
            0x20 => 0x0013_0001,
            0x24 => 0x0001_0000,
            0x30 => 0x0000_0013,
            _ => addr,
        };
        let mut reads = Vec::new();
        let fetched = unit.fetch(
            addr,
            wanted,
            accepts,
            |half| half & 3 != 3,
            |addr, begins| {
                reads.push((addr, begins));
                let (value, done_cycles) = (word(addr), begins + wait);
                Ok::<_, Infallible>(Answer { value, done_cycles, entry: 7, interconnect_cycles: 1 })
            },
        );
        let Ok(fetched) = fetched;
        (reads, fetched)
    }

    #[test]
    fn an_aligned_word_is_read_the_cycle_after_it_is_wanted() {
        let mut unit = PrefetchNext::default();
        let (reads, fetched) = fetch(&mut unit, 0x30, 10, 0, 5);
        assert_eq!((reads, fetched.encoding, fetched.done_cycles), (vec![(0x30, 11)], 0x13, 16));
        // A core that is still busy takes it later.
        assert_eq!(fetch(&mut unit, 0x30, 10, 40, 5).1.done_cycles, 40);
    }

    #[test]
    fn the_other_half_of_a_word_is_held_until_it_is_dropped() {
        let mut unit = PrefetchNext::default();
        assert_eq!(fetch(&mut unit, 0x10, 10, 0, 5).1.encoding, 1);
        let (reads, fetched) = fetch(&mut unit, 0x12, 20, 0, 5);
        assert_eq!((reads, fetched.encoding, fetched.done_cycles), (vec![], 1, 21));
        fetch(&mut unit, 0x10, 10, 0, 5);
        unit.forget();
        let (reads, fetched) = fetch(&mut unit, 0x12, 20, 0, 5);
        assert_eq!((reads, fetched.done_cycles), (vec![(0x10, 21)], 26));
    }

    #[test]
    fn the_rest_of_a_held_long_instruction_waits_for_the_core() {
        let mut unit = PrefetchNext::default();
        fetch(&mut unit, 0x20, 10, 0, 5);
        let (reads, fetched) = fetch(&mut unit, 0x22, 20, 40, 5);
        assert_eq!((reads, fetched.encoding, fetched.done_cycles), (vec![(0x24, 41)], 0x0000_0013, 46));
        // Its upper half is held now.
        assert_eq!(fetch(&mut unit, 0x26, 50, 0, 5).0, vec![]);
    }

    #[test]
    fn a_long_instruction_after_a_jump_takes_two_reads() {
        let (reads, fetched) = fetch(&mut PrefetchNext::default(), 0x22, 20, 20, 5);
        assert_eq!((reads, fetched.done_cycles, fetched.interconnect_cycles), (vec![(0x20, 21), (0x24, 27)], 32, 2));
    }

    #[test]
    fn only_a_late_aligned_prefetch_has_an_upper_half_to_report() {
        let mut unit = PrefetchNext::default();
        let late = fetch(&mut unit, 0x20, 10, 12, 5).1;
        assert_eq!(late.late_upper_half(12), Some(0x13));
        assert_eq!(fetch(&mut unit, 0x20, 10, 40, 5).1.late_upper_half(40), None);
        assert_eq!(fetch(&mut PrefetchNext::default(), 0x22, 10, 12, 5).1.late_upper_half(12), None);
    }
}
