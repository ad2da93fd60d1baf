//! The state of all exceptions, in the nested vectored interrupt controller's terms (ARM, B1.5.3, B1.5.4 and B3.4).

use super::exceptions::number;
use super::{Levels, SYSTICK_INPUT};

use crate::state::State;

/// Priority of a core without an active exception.
pub(super) const LEAST_URGENT: i16 = 256;
const NMI_PRIORITY: i16 = -2;
const HARD_FAULT_PRIORITY: i16 = -1;

/// AIRCR.PRIGROUP: the number of priority bits that select between exceptions that do not pre-empt each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub(super) struct Grouping(pub u8);

impl Grouping {
    /// The part of a priority that decides on pre-emption.
    pub fn group(self, priority: i16) -> i16 {
        if priority < 0 { priority } else { priority & !((2 << self.0) - 1) }
    }
}

/// An exception that is pending and enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub number: u8,
    /// Its group priority.
    pub group: i16,
}

/// Pending, active and enabled exceptions, and their priorities; by exception number, external interrupt 0 being 16.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub(super) struct Nvic {
    pub enabled: Set,
    pub pending: Set,
    /// An exception has become pending since this was last read.
    pub has_pended: bool,
    /// The exception that became pending again at the end of its own handler.
    pub pended_again: Option<u8>,
    pub active: Set,
    inputs: Levels,
    pub priorities: [u8; 256],
    #[state(skip)]
    priority_mask: u8,
    /// Number of exceptions.
    #[state(skip)]
    count: u32,
    pub grouping: Grouping,
}

impl Nvic {
    pub fn new(interrupts: u32, priority_bits: u32) -> Nvic {
        let mut enabled = Set::default();
        for always in [number::NMI, number::HARD_FAULT, number::SVCALL, number::PEND_SV, number::SYS_TICK] {
            enabled.set(always, true);
        }
        Nvic {
            enabled,
            pending: Set::default(),
            has_pended: false,
            pended_again: None,
            active: Set::default(),
            inputs: [0; 8],
            priorities: [0; 256],
            priority_mask: !(0xff_u32 >> priority_bits) as u8,
            count: (interrupts + u32::from(number::EXTERNAL)).min(256),
            grouping: Grouping::default(),
        }
    }

    // ---- Inputs

    /// True if the inputs equal the last ones passed.
    #[inline]
    pub fn knows(&self, inputs: &Levels) -> bool {
        self.inputs == *inputs
    }

    /// Sets the levels of the interrupt lines. True if an exception became pending: a rising line makes its exception
    /// pending, and any change of the system timer's line does.
    pub fn set_inputs(&mut self, inputs: &Levels) -> bool {
        if self.knows(inputs) {
            return false;
        }
        let mut pended = false;
        for at in 0..8u32 {
            let (before, after) = (self.inputs[at as usize], inputs[at as usize]);
            let mut rising = after & !before;
            while rising != 0 {
                let input = 32 * at + rising.trailing_zeros();
                rising &= rising - 1;
                if input + u32::from(number::EXTERNAL) < self.count {
                    self.enter_pending((input as u8).wrapping_add(number::EXTERNAL));
                    pended = true;
                }
            }
        }
        let (word, bit) = ((SYSTICK_INPUT / 32) as usize, SYSTICK_INPUT % 32);
        if (self.inputs[word] ^ inputs[word]) >> bit & 1 != 0 {
            self.enter_pending(number::SYS_TICK);
            pended = true;
        }
        self.inputs = *inputs;
        pended
    }

    /// True if the line of an external interrupt is high.
    fn is_up(&self, exception: u8) -> bool {
        exception >= number::EXTERNAL && {
            let input = exception - number::EXTERNAL;
            self.inputs[usize::from(input >> 5)] >> (input & 31) & 1 != 0
        }
    }

    // ---- States

    /// Makes an exception pending.
    pub fn pend(&mut self, exception: u8) {
        if u32::from(exception) < self.count {
            self.enter_pending(exception);
        }
    }

    fn enter_pending(&mut self, exception: u8) {
        self.has_pended |= !self.pending.contains(exception);
        self.pending.set(exception, true);
    }

    /// Clears the pending state; an interrupt whose line is still high stays pending.
    pub fn unpend(&mut self, exception: u8) {
        let up = self.is_up(exception);
        self.pending.set(exception, up && self.pending.contains(exception));
    }

    pub fn enable(&mut self, exception: u8, on: bool) {
        if u32::from(exception) < self.count {
            self.enabled.set(exception, on);
        }
    }

    /// Takes an exception.
    pub fn activate(&mut self, exception: u8) {
        self.pending.set(exception, false);
        self.active.set(exception, true);
    }

    /// Ends an exception: it is pending again if its line is still high (ARM, B3.4.1).
    pub fn deactivate(&mut self, exception: u8) {
        self.active.set(exception, false);
        self.pended_again = None;
        if self.is_up(exception) {
            self.pended_again = (!self.pending.contains(exception)).then_some(exception);
            self.pend(exception);
        }
    }

    /// Number of active exceptions.
    pub fn active_count(&self) -> usize {
        self.active.iter().count()
    }

    /// True if an external interrupt is pending.
    pub fn has_pending_external(&self) -> bool {
        self.pending.iter().any(|exception| exception >= number::EXTERNAL)
    }

    /// 32 states of external interrupts from `first` on, in the form of the registers: enabled, pending, active.
    pub fn words(&self, first: u32) -> [u32; 3] {
        let first = first + u32::from(number::EXTERNAL);
        [&self.enabled, &self.pending, &self.active].map(|set| set.word(first))
    }

    // ---- Priorities

    /// Sets the priority of an exception that has a configurable one.
    pub fn set_priority(&mut self, exception: u8, priority: u8) {
        if u32::from(exception) < self.count {
            self.priorities[usize::from(exception)] = self.masked(priority);
        }
    }

    /// The implemented bits of a priority.
    pub fn masked(&self, priority: u8) -> u8 {
        priority & self.priority_mask
    }

    fn full_priority(&self, exception: u8) -> i16 {
        match exception {
            number::NMI => NMI_PRIORITY,
            number::HARD_FAULT => HARD_FAULT_PRIORITY,
            _ => i16::from(self.priorities[usize::from(exception)]),
        }
    }

    /// The part of an exception's priority that decides on pre-emption.
    pub fn group_priority(&self, exception: u8) -> i16 {
        self.grouping.group(self.full_priority(exception))
    }

    /// The priority of the most urgent active exception.
    pub fn active_priority(&self) -> i16 {
        let least = self.active.iter().map(|exception| self.full_priority(exception)).min();
        least.map_or(LEAST_URGENT, |priority| self.grouping.group(priority))
    }

    /// The most urgent exception that is pending and enabled: the lowest priority, then the lowest number.
    pub fn best(&self) -> Option<Candidate> {
        if self.pending.is_empty() {
            return None;
        }
        let waiting = self.pending.and(&self.enabled);
        let number = waiting.iter().min_by_key(|exception| self.full_priority(*exception))?;
        Some(Candidate { number, group: self.group_priority(number) })
    }
}

/// A set of numbers from 0 to 255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub(super) struct Set([u64; 4]);

impl Set {
    pub fn contains(&self, number: u8) -> bool {
        self.0[usize::from(number >> 6)] >> (number & 63) & 1 != 0
    }

    pub fn set(&mut self, number: u8, member: bool) {
        let (word, bit) = (&mut self.0[usize::from(number >> 6)], 1 << (number & 63));
        *word = if member { *word | bit } else { *word & !bit };
    }

    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// The intersection.
    pub fn and(&self, other: &Set) -> Set {
        Set(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    /// The members, the lowest first.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..4u8).flat_map(move |at| {
            let mut rest = self.0[usize::from(at)];
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as u8;
                rest &= rest.wrapping_sub(1);
                (bit < 64).then(|| 64 * at + bit)
            })
        })
    }

    /// 32 of the numbers, from `first` up: the first is bit 0. Numbers above 255 are never set.
    pub fn word(&self, first: u32) -> u32 {
        let part = |number: u32| self.0.get(number as usize / 64).map_or(0, |word| word >> (number % 64));
        let (low, rest) = (part(first), 64 - first % 64);
        (if rest < 32 { low | part(first + rest) << rest } else { low }) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_set_begin_anywhere() {
        let mut set = Set::default();
        for number in [16, 47, 48, 79, 240, 255] {
            set.set(number, true);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [16, 47, 48, 79, 240, 255]);
        assert_eq!([16, 48, 80, 240].map(|first| set.word(first)), [0x8000_0001, 0x8000_0001, 0, 0x8001]);
        set.set(47, false);
        assert!(!set.contains(47) && set.contains(48) && set.word(16) == 1);
    }
}
