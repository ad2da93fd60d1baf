//! Branch prediction: a global history that chooses counters, a few targets of indirect jumps, a return stack.
//!
//! The shape is that of the Cortex-A5's prefetch unit (TRM DDI 0433, 2.1.3): a predictor "of the global type" with a
//! 256-entry pattern history table, a branch target address cache of four entries, a return stack of four. How history
//! and address are combined is not documented: here they are xored. A direct branch needs no target, as its own
//! encoding has it.

/// How a block's last instruction jumps, as far as prediction is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Jump {
    /// There is nothing to predict: it falls through, or is a direct branch that is always taken.
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

const PATTERNS: usize = 256;
const TARGETS: usize = 4;
const RETURNS: usize = 4;
/// Counters run from 0 to 3; taken is predicted from 2.
const LIKELY: u8 = 2;

/// The state of a core's prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predictor {
    patterns: Box<[u8; PATTERNS]>,
    /// Whether the last branches were taken, the latest in bit 0.
    history: u8,
    /// Address and target of indirect jumps; the oldest goes first.
    targets: [(u32, u32); TARGETS],
    next_target: usize,
    returns: [u32; RETURNS],
    next_return: usize,
}

impl Default for Predictor {
    fn default() -> Predictor {
        Predictor {
            patterns: Box::new([1; PATTERNS]),
            history: 0,
            targets: [(1, 1); TARGETS],
            next_target: 0,
            returns: [1; RETURNS],
            next_return: 0,
        }
    }
}

impl Predictor {
    /// Forgets everything.
    pub fn invalidate(&mut self) {
        *self = Predictor::default();
    }

    /// A jump at `pc` was taken to `target` or not taken; `next` is the address behind it. True if that had been
    /// predicted.
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
            self.next_return = (self.next_return + 1) % RETURNS;
            self.returns[self.next_return] = next;
        }
        right && known
    }

    fn direction(&mut self, pc: u32, taken: bool) -> bool {
        let counter = &mut self.patterns[usize::from((pc >> 1) as u8 ^ self.history)];
        let right = (*counter >= LIKELY) == taken;
        *counter = if taken { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
        self.history = self.history << 1 | u8::from(taken);
        right
    }

    fn pop(&mut self) -> u32 {
        let address = std::mem::replace(&mut self.returns[self.next_return], 1);
        self.next_return = (self.next_return + RETURNS - 1) % RETURNS;
        address
    }

    fn target(&mut self, pc: u32, target: u32) -> bool {
        if let Some((_, before)) = self.targets.iter_mut().find(|(from, _)| *from == pc) {
            return std::mem::replace(before, target) == target;
        }
        self.targets[self.next_target] = (pc, target);
        self.next_target = (self.next_target + 1) % TARGETS;
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
