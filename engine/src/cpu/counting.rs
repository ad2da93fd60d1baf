//! Registers that count a polling loop's iterations: a wait with a limit has one.
//!
//! Such a register differs from iteration to iteration, always by the same step. The iterations to come go like the
//! last one as long as nothing else depends on it: it may be added to, moved, and compared as long as the comparison
//! comes out the same. [`Counting`] follows the operations of an iteration with what is known of each register, and
//! tells for how many more iterations that holds.

use super::fast_forward::MOST_RESULTS;

/// Registers that may count in a loop; with flags, a counter takes several. Where more differ, the loop does not poll.
const MOST_COUNTERS: usize = 8;

/// Values of all registers that instructions leave behind.
type Results = [u32; MOST_RESULTS];

/// What is known of a register at a point of the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// It is the same in each iteration; its value, if that is known.
    Same(Option<u32>),
    /// In the iteration that is followed it is `now`, in the next one `step` more, and so on.
    Counts { now: u32, step: u32 },
}

/// An operand of a comparison.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    /// A register, by its number.
    Register(u8),
    /// A constant.
    Constant(u32),
}

/// An iteration, as far as its operations have been followed.
#[derive(Clone, Debug)]
pub struct Counting {
    values: [Value; MOST_RESULTS],
    after: Results,
    /// What each register grows by in an iteration.
    steps: Results,
    /// More iterations that go the same way.
    most: u64,
}

impl Counting {
    /// The beginning of an iteration that leads from the registers `before` to `after`. `None` if too many of them
    /// differ.
    pub fn new(before: &Results, after: &Results) -> Option<Counting> {
        let steps: Results = std::array::from_fn(|register| after[register].wrapping_sub(before[register]));
        let counters = steps.iter().filter(|step| **step != 0).count();
        let value = |register: usize| match steps[register] {
            0 => Value::Same(Some(before[register])),
            step => Value::Counts { now: before[register], step },
        };
        (counters <= MOST_COUNTERS).then(|| Counting {
            values: std::array::from_fn(value),
            after: *after,
            steps,
            most: u64::MAX,
        })
    }

    /// True if no register counts.
    pub fn is_still(&self) -> bool {
        self.steps.iter().all(|step| *step == 0)
    }

    /// An operation gives a constant to a register.
    pub fn set(&mut self, register: u8, value: u32) {
        self.give(register, Value::Same(Some(value)));
    }

    /// An operation gives the sum of a register and a constant to a register.
    pub fn add(&mut self, to: u8, from: u8, amount: u32) {
        let sum = match self.value(Operand::Register(from)) {
            Value::Same(value) => Value::Same(value.map(|value| value.wrapping_add(amount))),
            Value::Counts { now, step } => Value::Counts { now: now.wrapping_add(amount), step },
        };
        self.give(to, sum);
    }

    /// An operation reads registers (bit n is register n), and what it does depends on them. `None` if one counts.
    pub fn read(&self, registers: u64) -> Option<()> {
        let counts = |register: usize| matches!(self.values[register], Value::Counts { .. });
        let counters = (0..MOST_RESULTS).fold(0, |set, register| set | u64::from(counts(register)) << register);
        (counters & registers == 0).then_some(())
    }

    /// An operation gives what it has read, or made of that, to a register.
    pub fn write(&mut self, register: u8) {
        self.give(register, Value::Same(None));
    }

    /// An operation may give such to a register, or leave it. `None` if it counts.
    pub fn may_write(&mut self, register: u8) -> Option<()> {
        self.read(1_u64.checked_shl(register.into()).unwrap_or(0))?;
        self.write(register);
        Some(())
    }

    /// An operation compares: what follows may depend on any order of the two (the same, more, less, signed or not),
    /// and on the sign of their difference. `None` if that is another in the next iteration, or can't be told.
    pub fn compare(&mut self, one: Operand, other: Operand) -> Option<()> {
        let more = match (self.value(one), self.value(other)) {
            (Value::Same(_), Value::Same(_)) => return Some(()),
            (Value::Counts { now, step }, Value::Same(Some(fixed)))
            | (Value::Same(Some(fixed)), Value::Counts { now, step }) => order_stays(now, step, fixed),
            // Their difference is the same each time.
            (Value::Counts { now, step }, Value::Counts { now: also, step: same }) if step == same => {
                side_stays(now, step, 0).min(side_stays(also, step, 0))
            }
            _ => return None,
        };
        self.most = self.most.min(more);
        (self.most > 0).then_some(())
    }

    /// The end of the iteration: how many more go the same way. `None` if a register does not go on as it began.
    pub fn end(&self) -> Option<u64> {
        let goes_on = |register: usize| match (self.values[register], self.steps[register]) {
            (Value::Same(_), step) => step == 0,
            (Value::Counts { now, step }, grows) => step == grows && now == self.after[register],
        };
        (0..MOST_RESULTS).all(goes_on).then_some(self.most)
    }

    fn value(&self, operand: Operand) -> Value {
        match operand {
            Operand::Constant(value) => Value::Same(Some(value)),
            Operand::Register(register) => self.values.get(usize::from(register)).copied().unwrap_or(Value::Same(None)),
        }
    }

    /// Registers beyond those that instructions leave behind are nobody's.
    fn give(&mut self, register: u8, value: Value) {
        if let Some(place) = self.values.get_mut(usize::from(register)) {
            *place = value;
        }
    }
}

/// How often a number may grow by `step` and stay, of the two halves of all numbers that begin at `mark` and opposite
/// it, in the one where it is.
fn side_stays(now: u32, step: u32, mark: u32) -> u64 {
    const HALF: u32 = 1 << 31;
    let into = u64::from(now.wrapping_sub(mark) % HALF);
    match step as i32 {
        up if up > 0 => (u64::from(HALF) - 1 - into) / u64::from(step),
        down => into / u64::from(down.unsigned_abs()),
    }
}

/// How often a number may grow by `step` and keep its order to `fixed`, signed and not, and the sign of its difference
/// from it.
fn order_stays(now: u32, step: u32, fixed: u32) -> u64 {
    let apart = match step as i32 {
        _ if now == fixed => return 0,
        up if up > 0 => u64::from(fixed.wrapping_sub(now) - 1) / u64::from(step),
        down => u64::from(now.wrapping_sub(fixed) - 1) / u64::from(down.unsigned_abs()),
    };
    apart.min(side_stays(now, step, 0)).min(side_stays(now, step, fixed))
}

#[cfg(test)]
mod tests;
