//! PicoRV32's own interrupt scheme: pending and masked bits, a down-counter, no nesting.
//!
//! Bit 0 is the timer, bit 1 an environment call, a breakpoint or an unknown encoding, bit 2 a misaligned access to
//! data; external lines can raise all bits. A raised bit stays pending until a handler is entered for it.

use crate::state::State;

/// Pending bit of the timer.
const TIMER: u32 = 1 << 0;
/// Pending bit of ebreak, ecall, and unknown encodings.
pub const BREAKPOINT: u32 = 1 << 1;
/// Pending bit of misaligned accesses.
pub const BUS_ERROR: u32 = 1 << 2;

/// The interrupt state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Interrupts {
    pending: u32,
    /// External lines that are high.
    lines: u32,
    /// Masked bits: all, after reset.
    mask: u32,
    /// A handler is running.
    active: bool,
    /// The number of launched instructions from which on an interrupt is taken: after a return, one instruction is
    /// launched first.
    resumes_at: u64,
    /// The first cycle in which the timer's bit is pending; `u64::MAX` if it does not run.
    pub timer_ends: u64,
}

impl Default for Interrupts {
    fn default() -> Interrupts {
        Interrupts { pending: 0, lines: 0, mask: u32::MAX, active: false, resumes_at: 0, timer_ends: u64::MAX }
    }
}

impl Interrupts {
    /// Sets the levels of the external lines, from `cycle` on. A line that was high until then has been seen.
    pub fn set_lines(&mut self, lines: u32, cycle: u64) {
        self.pending |= self.lines;
        self.lines = lines;
        self.pending_at(cycle);
    }

    /// The pending bits in `cycle`. Calls have increasing cycles.
    pub fn pending_at(&mut self, cycle: u64) -> u32 {
        if cycle >= self.timer_ends {
            self.pending |= TIMER;
            self.timer_ends = u64::MAX;
        }
        self.pending |= self.lines;
        self.pending
    }

    /// True if an interrupt is taken in `cycle` instead of a launch; `launched` instructions have been launched.
    pub fn are_due(&mut self, cycle: u64, launched: u64) -> bool {
        !self.active && launched >= self.resumes_at && self.pending_at(cycle) & !self.mask != 0
    }

    /// The first cycle in which an interrupt may be due, as far as known now.
    pub fn attention_cycles(&self, launched: u64) -> u64 {
        if self.active {
            u64::MAX
        } else if launched < self.resumes_at || (self.pending | self.lines) & !self.mask != 0 {
            0
        } else if self.mask & TIMER == 0 {
            self.timer_ends
        } else {
            u64::MAX
        }
    }

    /// Enters the handler: returns the causes that x4 gets in `cycle`.
    pub fn enter(&mut self, cycle: u64) -> u32 {
        let causes = self.pending_at(cycle) & !self.mask;
        self.pending &= self.mask;
        self.active = true;
        causes
    }

    /// retirq, the `launched`th instruction.
    pub fn leave(&mut self, launched: u64) {
        if std::mem::take(&mut self.active) {
            self.resumes_at = launched + 1;
        }
    }

    /// Raises a cause of the core's own. False if it is masked or a handler is running: the core stops for good.
    pub fn raise(&mut self, cause: u32) -> bool {
        let taken = self.mask & cause == 0 && !self.active;
        self.pending |= if taken { cause } else { 0 };
        taken
    }

    /// The masked bits.
    pub fn mask(&self) -> u32 {
        self.mask
    }

    /// maskirq: returns the old mask.
    pub fn set_mask(&mut self, mask: u32) -> u32 {
        std::mem::replace(&mut self.mask, mask)
    }

    /// timer, launched in `cycle`: returns the remaining count.
    pub fn set_timer(&mut self, cycle: u64, value: u32) -> u32 {
        let left = match self.timer_ends {
            u64::MAX => 0,
            ends => ends.saturating_sub(cycle + 1) as u32,
        };
        // A timer that ends while it is being written is pending.
        self.pending_at(cycle + 2);
        self.timer_ends = if value == 0 { u64::MAX } else { cycle + 2 + u64::from(value) };
        left
    }

    /// The reason why a cause stops the core, for messages.
    pub fn why_fatal(&self) -> &'static str {
        if self.active {
            "it happened in the interrupt handler, so the core stops for good (its trap output goes high)"
        } else {
            "its interrupt is masked (maskirq), so the core stops for good (its trap output goes high)"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timer_counts_down_from_its_launch() {
        let mut interrupts = Interrupts::default();
        interrupts.set_mask(0);
        assert_eq!(interrupts.set_timer(100, 20), 0);
        assert_eq!(interrupts.attention_cycles(0), 122);
        assert!(!interrupts.are_due(121, 0));
        // 20 in cycle 102, 17 in 105, which the instruction launched in 104 reads.
        assert_eq!(interrupts.set_timer(104, 20), 17);
        assert!(interrupts.are_due(126, 0));
        assert_eq!(interrupts.enter(128), TIMER);
        assert_eq!(interrupts.attention_cycles(0), u64::MAX);
    }

    #[test]
    fn one_instruction_is_launched_after_a_return() {
        let mut interrupts = Interrupts::default();
        interrupts.set_mask(0);
        assert!(interrupts.raise(BREAKPOINT));
        assert_eq!(interrupts.enter(10), BREAKPOINT);
        assert!(!interrupts.raise(BREAKPOINT));
        interrupts.set_lines(1 << 5, 12);
        interrupts.leave(7);
        assert!(!interrupts.are_due(20, 7));
        assert_eq!(interrupts.attention_cycles(7), 0);
        assert!(interrupts.are_due(20, 8));
    }

    #[test]
    fn masked_causes_wait() {
        let mut interrupts = Interrupts::default();
        interrupts.set_lines(1 << 9, 3);
        interrupts.set_lines(0, 4);
        assert!(!interrupts.are_due(5, 0));
        assert_eq!(interrupts.set_mask(!(1 << 9)), u32::MAX);
        assert!(interrupts.are_due(6, 0));
    }
}
