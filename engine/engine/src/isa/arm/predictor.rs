//! Branch prediction: a global history that chooses counters, a few targets of indirect jumps, a return stack.
//!
//! The shape is that of the Cortex-A5's prefetch unit (TRM DDI 0433, 2.1.3): a predictor "of the global type" with a
//! 256-entry pattern history table, a branch target address cache of four entries, a return stack of four. How history
//! and address are combined is not documented: here they are xored. A direct branch needs no target, as its own
//! encoding has it.

use crate::state::State;

/// Kind of jump at the end of a block, for prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Jump {
    /// Nothing to predict: it falls through, or is a direct branch that is always taken.
    Sure,
    /// A direct call: sure, and noted for the return.
    Call,
    /// A direct branch with a condition.
    Conditional,
    /// A direct call with a condition.
    ConditionalCall,
    /// A return.
    Return,
    /// A return with a condition.
    ConditionalReturn,
    /// Any other jump to a register.
    Indirect,
    /// With a condition.
    ConditionalIndirect,
    /// A call of a register.
    IndirectCall,
}

/// The number of values of 8 bits.
const PATTERNS: usize = 256;
pub(super) const TARGETS: usize = 4;
pub(super) const RETURNS: usize = 4;
/// Counters run from 0 to 3; taken is predicted from 2.
pub(super) const LIKELY: u8 = 2;

/// Target of an indirect jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub(super) struct Target {
    /// The jump's address.
    pub from: u32,
    pub to: u32,
}

/// Not an address of a jump.
pub(super) const NOWHERE: u32 = 1;

/// The state of a core's prediction.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub struct Predictor {
    pub(super) patterns: [u8; PATTERNS],
    /// For each of the last eight branches, whether it was taken; the latest in bit 0.
    pub(super) history: u32,
    /// Indirect jumps; the oldest goes first.
    pub(super) targets: [Target; TARGETS],
    pub(super) next_target: u32,
    pub(super) returns: [u32; RETURNS],
    pub(super) next_return: u32,
}

impl Default for Predictor {
    fn default() -> Predictor {
        Predictor {
            patterns: [1; PATTERNS],
            history: 0,
            targets: [Target { from: NOWHERE, to: NOWHERE }; TARGETS],
            next_target: 0,
            returns: [NOWHERE; RETURNS],
            next_return: 0,
        }
    }
}

impl Predictor {
    /// False if an index is beyond its table.
    pub fn is_sound(&self) -> bool {
        self.history < PATTERNS as u32 && self.next_target < TARGETS as u32 && self.next_return < RETURNS as u32
    }

    /// Forgets everything.
    pub fn invalidate(&mut self) {
        *self = Predictor::default();
    }

    /// Handles a jump at `pc` that was taken to `target` or not taken; `next` is the address after it. True if that had
    /// been predicted.
    #[inline(always)]
    pub fn resolve(&mut self, jump: Jump, pc: u32, taken: bool, target: u32, next: u32) -> bool {
        match jump {
            Jump::Sure => true,
            Jump::Conditional => self.direction(pc, taken),
            _ => self.resolve_others(jump, pc, taken, target, next),
        }
    }

    #[inline(never)]
    fn resolve_others(&mut self, jump: Jump, pc: u32, taken: bool, target: u32, next: u32) -> bool {
        let conditional = matches!(jump, Jump::ConditionalCall | Jump::ConditionalReturn | Jump::ConditionalIndirect);
        let right = !conditional || self.direction(pc, taken);
        if !taken {
            return right;
        }
        let known = match jump {
            Jump::Return | Jump::ConditionalReturn => self.pop() == target,
            Jump::Indirect | Jump::ConditionalIndirect | Jump::IndirectCall => self.target(pc, target),
            _ => true,
        };
        if matches!(jump, Jump::Call | Jump::ConditionalCall | Jump::IndirectCall) {
            self.next_return = (self.next_return + 1) % RETURNS as u32;
            self.returns[self.next_return as usize] = next;
        }
        right && known
    }

    fn direction(&mut self, pc: u32, taken: bool) -> bool {
        let counter = &mut self.patterns[((pc >> 1 ^ self.history) & 0xff) as usize];
        let right = (*counter >= LIKELY) == taken;
        *counter = if taken { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
        self.history = (self.history << 1 | u32::from(taken)) & 0xff;
        right
    }

    fn pop(&mut self) -> u32 {
        let address = std::mem::replace(&mut self.returns[self.next_return as usize], NOWHERE);
        self.next_return = (self.next_return + RETURNS as u32 - 1) % RETURNS as u32;
        address
    }

    fn target(&mut self, pc: u32, target: u32) -> bool {
        if let Some(known) = self.targets.iter_mut().find(|known| known.from == pc) {
            return std::mem::replace(&mut known.to, target) == target;
        }
        self.targets[self.next_target as usize] = Target { from: pc, to: target };
        self.next_target = (self.next_target + 1) % TARGETS as u32;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(predictor: &mut Predictor, taken: impl Fn(u32) -> bool, count: u32) -> usize {
        let resolved = (0..count).map(|n| predictor.resolve(Jump::Conditional, 0x100, taken(n), 0x80, 0x104));
        resolved.filter(|right| !right).count()
    }

    #[test]
    fn a_pattern_of_outcomes_is_learned() {
        let mut predictor = Predictor::default();
        assert!(wrong(&mut predictor, |_| true, 100) <= 9);
        assert!(wrong(&mut predictor, |n| n % 4 != 3, 100) > 0);
        assert_eq!(wrong(&mut predictor, |n| n % 4 != 3, 100), 0);
    }

    #[test]
    fn four_nested_calls_return_as_predicted_and_a_fifth_does_not() {
        for (depth, right) in [(4, 4), (5, 4)] {
            let mut predictor = Predictor::default();
            (0..depth).for_each(|n| assert!(predictor.resolve(Jump::Call, 8 * n, true, 0x1000, 8 * n + 4)));
            let returned = (0..depth).rev().map(|n| predictor.resolve(Jump::Return, 0x1000, true, 8 * n + 4, 0));
            assert_eq!(returned.filter(|right| *right).count(), right);
        }
    }

    #[test]
    fn four_indirect_jumps_are_remembered() {
        let mut predictor = Predictor::default();
        let mut jump = |pc, target| predictor.resolve(Jump::Indirect, pc, true, target, pc + 4);
        assert_eq!([jump(0, 16), jump(0, 16), jump(0, 32), jump(0, 32)], [false, true, false, true]);
        assert_eq!([4, 8, 12, 16, 0].map(|pc| jump(pc, 64)), [false; 5]);
        assert!(jump(16, 64));
    }
}
