//! Conditions on the state of a board: typed trees with resolved names. Their text is parsed elsewhere.
//!
//! Evaluating a condition also gives the time at which it has to be evaluated again without a reported change: time
//! passes, and cores count cycles, without a report. `&&`, `||` and `?:` evaluate only the operands that they need, so
//! a condition on cycles with a false guard costs nothing.

use engine::bus::device::DeviceId;
use engine::observe::waves::SignalId;

/// A Boolean expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    /// A constant.
    Const(bool),
    /// A signal is high.
    Signal(SignalId),
    /// A call of a function is active, including its callees: the core, by its index, and the function's address.
    InCall(usize, u32),
    /// The operand is false.
    Not(Box<Truth>),
    /// Both are true; the second one is evaluated if the first one is.
    And(Box<Truth>, Box<Truth>),
    /// One of them is true; the second one is evaluated if the first one is not.
    Or(Box<Truth>, Box<Truth>),
    /// The second one if the first one is true, else the third one.
    If(Box<Truth>, Box<Truth>, Box<Truth>),
    /// Both are true, or both are false.
    Same(Box<Truth>, Box<Truth>),
    /// A comparison of two numbers.
    Compare(Compare, Box<Number>, Box<Number>),
}

/// A numeric expression: a count, or a time in picoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// A constant.
    Const(i128),
    /// Simulated time since reset.
    Time,
    /// Cycles of a core so far, by its index.
    Cycles(usize),
    /// Instructions of a core so far, by its index.
    Instructions(usize),
    /// A counter of a device, by its name.
    Counter(DeviceId, String),
    /// The negated operand.
    Negative(Box<Number>),
    /// An operation on two numbers. Results are limited to the range of 128 bits.
    Binary(Binary, Box<Number>, Box<Number>),
    /// The first one if the condition is true, else the second one.
    If(Box<Truth>, Box<Number>, Box<Number>),
}

/// Comparisons of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Compare {
    fn holds(self, left: i128, right: i128) -> bool {
        match self {
            Compare::Equal => left == right,
            Compare::NotEqual => left != right,
            Compare::Less => left < right,
            Compare::LessOrEqual => left <= right,
            Compare::Greater => left > right,
            Compare::GreaterOrEqual => left >= right,
        }
    }
}

/// Operations on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, towards zero; 0 where the second number is 0.
    Divide,
    /// `%`; 0 where the second number is 0.
    Remainder,
}

impl Binary {
    fn of(self, left: i128, right: i128) -> i128 {
        match self {
            Binary::Add => left.saturating_add(right),
            Binary::Subtract => left.saturating_sub(right),
            Binary::Multiply => left.saturating_mul(right),
            Binary::Divide => left.checked_div(right).unwrap_or(0),
            Binary::Remainder => left.checked_rem(right).unwrap_or(0),
        }
    }
}

/// The values that conditions depend on, at one time.
pub trait Moment {
    /// Whether a signal is high.
    fn signal(&mut self, signal: SignalId) -> bool;
    /// Whether a call of a function is active on a core.
    fn in_call(&mut self, core: usize, function: u32) -> bool;
    /// A number that is neither constant nor made of others.
    fn number(&mut self, number: &Number) -> i128;
    /// The condition has to be evaluated again when a number that grows by itself has grown by `distance`.
    fn evaluate_after(&mut self, number: &Number, distance: u128);
}

impl Truth {
    /// Whether it is true at a moment.
    pub fn holds(&self, moment: &mut impl Moment) -> bool {
        match self {
            Truth::Const(value) => *value,
            Truth::Signal(signal) => moment.signal(*signal),
            Truth::InCall(core, function) => moment.in_call(*core, *function),
            Truth::Not(other) => !other.holds(moment),
            Truth::And(left, right) => left.holds(moment) && right.holds(moment),
            Truth::Or(left, right) => left.holds(moment) || right.holds(moment),
            Truth::If(condition, yes, no) => match condition.holds(moment) {
                true => yes.holds(moment),
                false => no.holds(moment),
            },
            Truth::Same(left, right) => left.holds(moment) == right.holds(moment),
            Truth::Compare(compare, left, right) => holds(*compare, left, right, moment),
        }
    }

    /// Calls `visit` with all signals, calls and numbers in the condition.
    pub fn visit(&self, visit: &mut dyn FnMut(Input)) {
        match self {
            Truth::Const(_) => {}
            Truth::Signal(signal) => visit(Input::Signal(*signal)),
            Truth::InCall(core, function) => visit(Input::Call(*core, *function)),
            Truth::Not(other) => other.visit(visit),
            Truth::And(left, right) | Truth::Or(left, right) | Truth::Same(left, right) => {
                left.visit(visit);
                right.visit(visit);
            }
            Truth::If(condition, yes, no) => [condition, yes, no].into_iter().for_each(|truth| truth.visit(visit)),
            Truth::Compare(_, left, right) => {
                left.visit(visit);
                right.visit(visit);
            }
        }
    }
}

/// An input of a condition.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// A signal.
    Signal(SignalId),
    /// Calls of a function: the core, and the function's address.
    Call(usize, u32),
    /// A number that is no constant.
    Number(&'a Number),
}

/// A comparison of a number that only grows with a constant has to be evaluated again when the number reaches the
/// constant, and never after that.
fn holds(compare: Compare, left: &Number, right: &Number, moment: &mut impl Moment) -> bool {
    let (growing, constant) = match (left, right) {
        (growing, Number::Const(constant)) | (Number::Const(constant), growing) if growing.grows_alone() => {
            (growing, *constant)
        }
        _ => {
            let (left, right) = (left.value(moment), right.value(moment));
            return compare.holds(left, right);
        }
    };
    let now = moment.number(growing);
    if now <= constant {
        // At the constant itself, the result changes with the next increment.
        moment.evaluate_after(growing, constant.abs_diff(now).max(1));
    }
    match left {
        Number::Const(_) => compare.holds(constant, now),
        _ => compare.holds(now, constant),
    }
}

impl Number {
    /// True if the number grows without reported changes.
    fn grows_alone(&self) -> bool {
        matches!(self, Number::Time | Number::Cycles(_) | Number::Instructions(_))
    }

    fn value(&self, moment: &mut impl Moment) -> i128 {
        match self {
            Number::Const(value) => *value,
            Number::Negative(other) => other.value(moment).saturating_neg(),
            Number::Binary(binary, left, right) => binary.of(left.value(moment), right.value(moment)),
            Number::If(condition, yes, no) => match condition.holds(moment) {
                true => yes.value(moment),
                false => no.value(moment),
            },
            Number::Time | Number::Cycles(_) | Number::Instructions(_) | Number::Counter(..) => {
                if self.grows_alone() {
                    moment.evaluate_after(self, 1);
                }
                moment.number(self)
            }
        }
    }

    fn visit(&self, visit: &mut dyn FnMut(Input)) {
        match self {
            Number::Const(_) => {}
            Number::Negative(other) => other.visit(visit),
            Number::Binary(_, left, right) => {
                left.visit(visit);
                right.visit(visit);
            }
            Number::If(condition, yes, no) => {
                condition.visit(visit);
                yes.visit(visit);
                no.visit(visit);
            }
            Number::Time | Number::Cycles(_) | Number::Instructions(_) | Number::Counter(..) => {
                visit(Input::Number(self));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All counts and times are this number; no signal is high.
    struct At(i128, Vec<u128>);

    impl Moment for At {
        fn signal(&mut self, _: SignalId) -> bool {
            false
        }

        fn in_call(&mut self, core: usize, _: u32) -> bool {
            core == 1
        }

        fn number(&mut self, _: &Number) -> i128 {
            self.0
        }

        fn evaluate_after(&mut self, _: &Number, distance: u128) {
            self.1.push(distance);
        }
    }

    fn compared(compare: Compare, left: Number, right: Number) -> Truth {
        Truth::Compare(compare, Box::new(left), Box::new(right))
    }

    fn at(now: i128, truth: &Truth) -> (bool, Vec<u128>) {
        let mut moment = At(now, Vec::new());
        (truth.holds(&mut moment), moment.1)
    }

    #[test]
    fn a_comparison_with_a_constant_is_evaluated_where_it_may_change_and_never_after() {
        let later = compared(Compare::Greater, Number::Cycles(0), Number::Const(100));
        assert_eq!(at(40, &later), (false, vec![60]));
        assert_eq!(at(100, &later), (false, vec![1]));
        assert_eq!(at(101, &later), (true, vec![]));
        // The operands swapped.
        let before = compared(Compare::Greater, Number::Const(100), Number::Time);
        assert_eq!(at(40, &before), (true, vec![60]));
        assert_eq!(at(101, &before), (false, vec![]));
    }

    #[test]
    fn expressions_of_growing_numbers_are_evaluated_all_the_time() {
        let half = Number::Binary(Binary::Divide, Box::new(Number::Cycles(0)), Box::new(Number::Const(2)));
        let truth = compared(Compare::Equal, half, Number::Const(3));
        assert_eq!((at(6, &truth), at(7, &truth), at(8, &truth)), ((true, vec![1]), (true, vec![1]), (false, vec![1])));
    }

    #[test]
    fn irrelevant_operands_are_not_evaluated() {
        let cycles = || Box::new(compared(Compare::Less, Number::Cycles(0), Number::Const(9)));
        let no = || Box::new(Truth::InCall(0, 0));
        let yes = || Box::new(Truth::InCall(1, 0));
        assert_eq!(at(5, &Truth::And(no(), cycles())), (false, vec![]));
        assert_eq!(at(5, &Truth::Or(yes(), cycles())), (true, vec![]));
        assert_eq!(at(5, &Truth::If(no(), cycles(), yes())), (true, vec![]));
        assert_eq!(at(5, &Truth::And(yes(), cycles())), (true, vec![4]));
    }

    #[test]
    fn results_out_of_range_are_limited_and_division_by_0_is_0() {
        let of = |binary, left, right| {
            let number = Number::Binary(binary, Box::new(Number::Const(left)), Box::new(Number::Const(right)));
            number.value(&mut At(0, Vec::new()))
        };
        assert_eq!(of(Binary::Multiply, i128::MAX, 2), i128::MAX);
        assert_eq!(of(Binary::Subtract, i128::MIN, 1), i128::MIN);
        assert_eq!((of(Binary::Divide, 7, 0), of(Binary::Remainder, 7, 0)), (0, 0));
        assert_eq!((of(Binary::Divide, -7, 2), of(Binary::Remainder, -7, 2)), (-3, -1));
    }
}
