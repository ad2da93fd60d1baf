//! The transmitter of the serial port: its registers in any cycle, computed without a step for each cycle.

use crate::prelude::*;

/// Start bit, eight data bits, stop bit.
pub const BYTE_BITS: u32 = 10;
/// Idle bits after reset and after a write of the divider.
const IDLE_BITS: u32 = 15;

/// The registers in one cycle; those of later cycles follow from them. Calls come in the order of cycles: a call for an
/// earlier cycle counts as a call in the latest cycle that was reached.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct Sender {
    /// The cycle, from reset.
    cycle: u64,
    /// The divider register.
    divider: u32,
    /// Bits that have not ended; 0: no bit is in progress.
    bits: u32,
    /// Cycles of the bit under way so far. It wraps, as the RTL's does.
    counter: u32,
    /// True if idle bits start in the first cycle without bits.
    idle_ordered: bool,
}

impl Sender {
    /// In cycle 0, the first after reset, which requests idle bits.
    pub const fn after_reset(divider: u32) -> Sender {
        Sender { cycle: 0, divider, bits: 0, counter: 0, idle_ordered: true }
    }

    /// The divider register.
    pub const fn divider(&self) -> u32 {
        self.divider
    }

    /// The first cycle from `request` on in which a byte is taken; `None` if a bit never ends.
    pub fn free_at(&self, request: Cycles) -> Option<Cycles> {
        let mut ahead = *self;
        ahead.advance(request.0);
        while !ahead.is_free() {
            let cycles = if ahead.bits == 0 { 1 } else { ahead.bit_cycles()? };
            ahead.advance(ahead.cycle + cycles);
        }
        Some(Cycles(ahead.cycle))
    }

    /// Starts bits in a cycle in which it is free: they are in progress from the next cycle on.
    pub fn start(&mut self, at: Cycles, bits: u32) {
        self.advance(at.0);
        (self.bits, self.counter) = (bits, 0);
        self.cycle += 1;
    }

    /// The divider is written at `at`, which requests idle bits. A bit in progress is compared with the new divider
    /// from the next cycle on.
    pub fn set_divider(&mut self, at: Cycles, divider: u32) {
        self.advance(at.0);
        // In the cycle in which requested bits start, the RTL clears the request, and a new one with it.
        let starts_idle_bits = self.bits == 0 && self.idle_ordered;
        self.advance(self.cycle + 1);
        self.divider = divider;
        self.idle_ordered |= !starts_idle_bits;
    }

    const fn is_free(&self) -> bool {
        self.bits == 0 && !self.idle_ordered
    }

    /// Cycles to the end of the bit in progress: it ends with the first cycle whose counter exceeds the divider.
    /// `None`: it never ends, since no counter exceeds the greatest divider.
    fn bit_cycles(&self) -> Option<u64> {
        let last = self.divider.checked_add(1)?.max(self.counter);
        Some(u64::from(last - self.counter) + 1)
    }

    /// Brings the registers to cycle `to`, if nothing is written until then.
    fn advance(&mut self, to: u64) {
        while self.cycle < to {
            if self.is_free() {
                self.cycle = to;
            } else if self.bits == 0 {
                self.idle_ordered = false;
                self.start(Cycles(self.cycle), IDLE_BITS);
            } else if let Some(end) = self.bit_cycles().map(|cycles| self.cycle + cycles).filter(|end| *end <= to) {
                (self.cycle, self.counter, self.bits) = (end, 0, self.bits - 1);
            } else {
                self.counter = self.counter.wrapping_add((to - self.cycle) as u32);
                self.cycle = to;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The transmitter as its clock drives it: each call is a cycle.
    struct Clocked {
        divider: u32,
        bits: u32,
        counter: u32,
        idle_ordered: bool,
    }

    impl Clocked {
        /// A cycle with its inputs; true if the byte is taken. All registers change together at its end, each from the
        /// values before.
        fn cycle(&mut self, divider: Option<u32>, byte: bool) -> bool {
            let idle = self.bits == 0;
            let (begins_idle, takes) = (idle && self.idle_ordered, idle && !self.idle_ordered && byte);
            let ends_bit = !idle && self.counter > self.divider;
            let bits = match (begins_idle, takes, ends_bit) {
                (true, ..) => 15,
                (_, true, _) => 10,
                (.., true) => self.bits - 1,
                _ => self.bits,
            };
            let counter = if begins_idle || takes || ends_bit { 0 } else { self.counter.wrapping_add(1) };
            let idle_ordered = !begins_idle && (self.idle_ordered || divider.is_some());
            *self = Clocked { divider: divider.unwrap_or(self.divider), bits, counter, idle_ordered };
            takes
        }
    }

    /// The firmware's next action, and the number of cycles after the last answer.
    #[derive(Clone, Copy, Debug)]
    enum Act {
        Byte(u64),
        Divider(u64, u32),
        /// Writes the divider in the cycle in which the bits in progress end, or this many cycles from it.
        DividerAtTheEnd(i64, u32),
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let gap = || prop_oneof![1u64..4, 1u64..80, 1u64..600];
        let divider = || prop_oneof![0u32..4, 0u32..40, Just(300)];
        let act = prop_oneof![
            gap().prop_map(Act::Byte),
            (gap(), divider()).prop_map(|(gap, divider)| Act::Divider(gap, divider)),
            (-2i64..3, divider()).prop_map(|(beside, divider)| Act::DividerAtTheEnd(beside, divider)),
        ];
        proptest::collection::vec(act, 1..25)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn it_is_the_clocked_machine(acts in acts()) {
            let mut clocked = Clocked { divider: 1, bits: 0, counter: 0, idle_ordered: true };
            let mut sender = Sender::after_reset(1);
            // The cycle that `clocked` is in, and the first in which firmware may ask for anything.
            let (mut now, mut earliest) = (0, 0);
            for act in acts {
                let end = sender.cycle + sender.bit_cycles().filter(|_| sender.bits > 0).unwrap_or(0)
                    + u64::from(sender.bits.saturating_sub(1)) * (u64::from(sender.divider) + 2);
                let request = match act {
                    Act::Byte(gap) | Act::Divider(gap, _) => earliest + gap - 1,
                    Act::DividerAtTheEnd(beside, _) => end.saturating_add_signed(beside).max(earliest),
                };
                while now < request {
                    clocked.cycle(None, false);
                    now += 1;
                }
                match act {
                    Act::Byte(_) => {
                        while !clocked.cycle(None, true) {
                            now += 1;
                        }
                        let taken = sender.free_at(Cycles(request));
                        prop_assert_eq!(taken, Some(Cycles(now)));
                        sender.start(Cycles(now), BYTE_BITS);
                    }
                    Act::Divider(_, divider) | Act::DividerAtTheEnd(_, divider) => {
                        clocked.cycle(Some(divider), false);
                        sender.set_divider(Cycles(now), divider);
                    }
                }
                now += 1;
                earliest = now;
                let seen = (sender.cycle, sender.divider, sender.bits, sender.idle_ordered);
                prop_assert_eq!(seen, (now, clocked.divider, clocked.bits, clocked.idle_ordered));
                prop_assert!(sender.bits == 0 || sender.counter == clocked.counter);
            }
        }
    }

    #[test]
    fn a_divider_written_as_ordered_bits_start_orders_nothing_more() {
        // From reset, idle bits of 3 cycles are under way in cycles 1 to 45. The first write orders 15 more, which
        // start in 46; so the second is lost but for its value: 15 bits of 5 cycles, 47 to 121.
        let mut sender = Sender::after_reset(1);
        sender.set_divider(Cycles(20), 1);
        sender.set_divider(Cycles(46), 3);
        assert_eq!(sender.free_at(Cycles(50)), Some(Cycles(122)));
        // A cycle earlier it is one with the order before it, a cycle later it is a new one: 15 bits more.
        for (write, free) in [(45, 122), (47, 198)] {
            let mut sender = Sender::after_reset(1);
            sender.set_divider(Cycles(20), 1);
            sender.set_divider(Cycles(write), 3);
            assert_eq!(sender.free_at(Cycles(50)), Some(Cycles(free)), "write in {write}");
        }
    }

    #[test]
    fn with_the_greatest_divider_no_bit_ends_and_its_counter_wraps() {
        let mut sender = Sender::after_reset(1);
        sender.set_divider(Cycles(100), u32::MAX);
        // Idle bits start in 101: the counter is 0 in 102, and again 2^32 cycles later.
        assert_eq!(sender.free_at(Cycles(200)), None);
        let wrapped = 102 + (1 << 32);
        sender.set_divider(Cycles(wrapped + 5), 10);
        // It exceeds 10 six cycles later, in wrapped + 11; 14 bits of 12 cycles follow, from there to wrapped + 179.
        // The order starts in wrapped + 180, and its 15 bits end with wrapped + 360.
        assert_eq!(sender.free_at(Cycles(wrapped + 6)), Some(Cycles(wrapped + 361)));
    }
}
