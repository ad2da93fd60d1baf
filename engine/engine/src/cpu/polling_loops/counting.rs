//! Registers that count a polling loop's iterations, as in a wait with a limit.
//!
//! Such a register changes by the same step in each iteration. The following iterations are like the last one as long
//! as nothing else depends on the register: it may be added to, moved, and compared as long as the comparison has the
//! same result. [`Counting`] follows the operations of an iteration with the known values of registers, and computes
//! the number of further iterations for which that holds.

use super::fast_forward::MOST_RESULTS;

/// Most registers that may count in a loop; with flags, a counter takes several. A loop in which more differ does not
/// poll.
const MOST_COUNTERS: usize = 8;

/// Values of all registers that keep results between instructions.
type Results = [u32; MOST_RESULTS];

/// Known value of a register at a point of the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// The same in each iteration; with the value, if known.
    Same(Option<u32>),
    /// `now` in the iteration that is followed, `step` more in the next one, and so on. In a loop that reads the time,
    /// `step` more with each tick.
    Counts { now: u32, step: u32 },
    /// Left from the iteration before, in a loop that reads the time: it must not be used.
    Left,
    /// The time that the next iteration begins with.
    Time,
}

/// A difference of two registers: one of them counts.
#[derive(Clone, Copy, Debug)]
pub struct Difference(Value);

/// An operand of a comparison.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    /// A register, by its number.
    Register(u8),
    /// A constant.
    Constant(u32),
}

/// An iteration, up to the operation followed last.
#[derive(Clone, Debug)]
pub struct Counting {
    values: [Value; MOST_RESULTS],
    after: Results,
    /// Growth of each register in an iteration.
    steps: Results,
    /// Number of further iterations that go the same way.
    most: u64,
}

impl Counting {
    /// Starts an iteration that leads from the registers `before` to `after`. `None` if too many of them differ.
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

    /// Starts an iteration of a loop that reads the time, after a read whose low word is in the register `time`; it
    /// ends after the next one. All steps are by tick. Registers with a step in `follows`, and those that differ, must
    /// not be used before they are written. `None` if the register of the time keeps no result.
    pub fn of_clock(before: &Results, after: &Results, time: u8, follows: &Results) -> Option<Counting> {
        let value = |register: usize| match before[register] {
            now if register == usize::from(time) => Value::Counts { now, step: 1 },
            now if now == after[register] && follows[register] == 0 => Value::Same(Some(now)),
            _ => Value::Left,
        };
        (usize::from(time) < MOST_RESULTS).then(|| Counting {
            values: std::array::from_fn(value),
            after: *after,
            steps: [0; MOST_RESULTS],
            most: u64::MAX,
        })
    }

    /// Follows a read of the time, whose high word is the same each time. `None` for a second one in the iteration.
    pub fn read_time(&mut self, low: u8, high: u8) -> Option<()> {
        if self.values.contains(&Value::Time) {
            return None;
        }
        self.give(high, Value::Same(None));
        self.give(low, Value::Time);
        Some(())
    }

    /// Ends the iteration of a loop that reads the time: how many ticks may pass until an iteration goes another way,
    /// and the step of each register with each tick. `None` if a register has another value than these say.
    pub fn end_of_clock(&self, before: &Results) -> Option<(u64, Results)> {
        let mut steps = [0; MOST_RESULTS];
        for (register, place) in steps.iter_mut().enumerate() {
            match self.values[register] {
                Value::Same(_) if self.after[register] == before[register] => {}
                Value::Counts { now, step } if now == self.after[register] => *place = step,
                Value::Time => {}
                _ => return None,
            }
        }
        Some((self.most, steps))
    }

    /// True if no register counts.
    pub fn is_still(&self) -> bool {
        self.steps.iter().all(|step| *step == 0)
    }

    /// Follows an operation that writes a constant to a register.
    pub fn set(&mut self, register: u8, value: u32) {
        self.give(register, Value::Same(Some(value)));
    }

    /// Follows an operation that writes the sum of a register and a constant to a register.
    pub fn add(&mut self, to: u8, from: u8, amount: u32) {
        let sum = match self.value(Operand::Register(from)) {
            Value::Same(value) => Value::Same(value.map(|value| value.wrapping_add(amount))),
            Value::Counts { now, step } => Value::Counts { now: now.wrapping_add(amount), step },
            other => other,
        };
        self.give(to, sum);
    }

    /// The difference of two registers, if both are known, and at most one of them counts. Nothing is written.
    pub fn difference(&self, one: u8, other: u8) -> Option<Difference> {
        match (self.value(Operand::Register(one)), self.value(Operand::Register(other))) {
            (Value::Counts { now, step }, Value::Same(Some(fixed))) => {
                Some(Difference(Value::Counts { now: now.wrapping_sub(fixed), step }))
            }
            (Value::Same(Some(fixed)), Value::Counts { now, step }) => {
                Some(Difference(Value::Counts { now: fixed.wrapping_sub(now), step: step.wrapping_neg() }))
            }
            _ => None,
        }
    }

    /// Follows an operation that writes a difference.
    pub fn subtract(&mut self, to: u8, Difference(value): Difference) {
        self.give(to, value);
    }

    /// Follows an operation whose effect depends on registers (bit n is register n). `None` if one of them counts.
    pub fn read(&self, registers: u64) -> Option<()> {
        let counts = |register: usize| !matches!(self.values[register], Value::Same(_));
        let counters = (0..MOST_RESULTS).fold(0, |set, register| set | u64::from(counts(register)) << register);
        (counters & registers == 0).then_some(())
    }

    /// Follows an operation that writes a value that depends on registers it has read.
    pub fn write(&mut self, register: u8) {
        self.give(register, Value::Same(None));
    }

    /// Follows an operation that may write such a value, or leave the register unchanged. `None` if the register
    /// counts.
    pub fn may_write(&mut self, register: u8) -> Option<()> {
        self.read(1_u64.checked_shl(register.into()).unwrap_or(0))?;
        self.write(register);
        Some(())
    }

    /// Follows a comparison: the code after it may depend on any order of the two (equal, greater, less, signed or
    /// unsigned), and on the sign of their difference. `None` if these are different in the next iteration, or unknown.
    pub fn compare(&mut self, one: Operand, other: Operand) -> Option<()> {
        let more = match (self.value(one), self.value(other)) {
            (Value::Same(_), Value::Same(_)) => return Some(()),
            (Value::Counts { now, step }, Value::Same(Some(fixed)))
            | (Value::Same(Some(fixed)), Value::Counts { now, step }) => order_stays(now, step, fixed),
            // Their difference is constant.
            (Value::Counts { now, step }, Value::Counts { now: also, step: same }) if step == same => {
                side_stays(now, step, 0).min(side_stays(also, step, 0))
            }
            _ => return None,
        };
        self.most = self.most.min(more);
        (self.most > 0).then_some(())
    }

    /// Ends the iteration: the number of further ones that go the same way. `None` if a register's growth is not the
    /// step with which it started.
    pub fn end(&self) -> Option<u64> {
        let goes_on = |register: usize| match (self.values[register], self.steps[register]) {
            (Value::Same(_), step) => step == 0,
            (Value::Counts { now, step }, grows) => step == grows && now == self.after[register],
            (Value::Left | Value::Time, _) => false,
        };
        (0..MOST_RESULTS).all(goes_on).then_some(self.most)
    }

    fn value(&self, operand: Operand) -> Value {
        match operand {
            Operand::Constant(value) => Value::Same(Some(value)),
            Operand::Register(register) => self.values.get(usize::from(register)).copied().unwrap_or(Value::Same(None)),
        }
    }

    /// Sets the known value of a register; other registers keep no result between instructions, and are ignored.
    fn give(&mut self, register: u8, value: Value) {
        if let Some(place) = self.values.get_mut(usize::from(register)) {
            *place = value;
        }
    }
}

/// How often a number may grow by `step` and stay in its half of all numbers; one half begins at `mark`, the other at
/// the opposite number.
fn side_stays(now: u32, step: u32, mark: u32) -> u64 {
    const HALF: u32 = 1 << 31;
    let into = u64::from(now.wrapping_sub(mark) % HALF);
    match step as i32 {
        up if up > 0 => (u64::from(HALF) - 1 - into) / u64::from(step),
        down => into / u64::from(down.unsigned_abs()),
    }
}

/// How often a number may grow by `step` and keep its order relative to `fixed`, signed and unsigned, and the sign of
/// its difference from it.
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
