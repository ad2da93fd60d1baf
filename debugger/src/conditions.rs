//! The text of conditions: the Common Expression Language (<https://cel.dev>), over the state of a board.
//!
//! `card0.busy && "f_write" in cpu0.calls`: a node's signal, as in waveforms, or its counter; a core's `calls`,
//! `cycles` and `instructions`; `time` since reset, compared with `duration("1.5ms")`. The language's operators and
//! literals that apply to such values are supported.

use std::fmt::Display;

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators as op};
use cel::parser::Parser;
use engine::dt::fault::similar_names;
use machine::Machine;
use machine::triggers::condition::{Binary, Compare, Number, Truth};

/// The longest text, and the deepest nesting.
const MOST_BYTES: usize = 1000;
const MOST_DEEP: u32 = 32;
/// The number of names that a message lists.
const MOST_NAMES: usize = 12;

const PS_PER_UNIT: [(&str, i128); 7] = [
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
    ("m", 60_000_000_000_000),
    ("h", 3_600_000_000_000_000),
];

/// Parses a condition over the state of a machine.
///
/// # Errors
/// What is wrong with it, as a clause for the user.
pub fn condition(machine: &Machine, text: &str) -> Result<Truth, String> {
    if text.len() > MOST_BYTES {
        return Err(format!("it is {} bytes long: at most {MOST_BYTES} are read", text.len()));
    }
    let is_deep = depth(text) > MOST_DEEP;
    if is_deep {
        return Err(format!("it is nested more than {MOST_DEEP} deep"));
    }
    let parsed = Parser::new().parse(text).map_err(|errors| match errors.errors.first() {
        Some(error) => format!("at character {}: {}", error.pos.1.max(1), in_one_line(&error.msg)),
        None => "it is no expression".to_owned(),
    })?;
    match (Reader { machine }).value(&parsed.expr)? {
        Value::Truth(truth) => Ok(truth),
        other => Err(format!("it is {}, and neither true nor false", other.kind())),
    }
}

/// The depth of nested brackets and of signs before each other.
fn depth(text: &str) -> u32 {
    let (mut depth, mut deepest, mut signs) = (0u32, 0, 0u32);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'!' | b'-' | b'?' => signs += 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest + signs
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A part of a condition, with its names resolved.
enum Value {
    Truth(Truth),
    /// A count.
    Count(Number),
    /// A time, in picoseconds.
    Time(Number),
    Text(String),
    Node(String),
    /// The functions with open calls on a core.
    Calls(usize),
}

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Value::Truth(_) => "true or false",
            Value::Count(_) => "a number",
            Value::Time(_) => "a time",
            Value::Text(_) => "a text",
            Value::Node(_) => "a node",
            Value::Calls(_) => "the calls of a core",
        }
    }
}

struct Reader<'a> {
    machine: &'a Machine,
}

impl Reader<'_> {
    fn value(&self, expr: &Expr) -> Result<Value, String> {
        match expr {
            Expr::Literal(literal) => constant(literal),
            Expr::Ident(name) if name == "time" => Ok(Value::Time(Number::Time)),
            Expr::Ident(name) => self.node(name),
            Expr::Select(select) if !select.test => self.member(&select.operand, &select.field),
            Expr::Call(call) => self.call(call),
            _ => Err("lists, maps and macros are of no use in a condition".to_owned()),
        }
    }

    fn truth(&self, expr: &IdedExpr) -> Result<Truth, String> {
        match self.value(&expr.expr)? {
            Value::Truth(truth) => Ok(truth),
            other => Err(format!("{} stands where true or false is expected", other.kind())),
        }
    }

    fn boxed(&self, expr: &IdedExpr) -> Result<Box<Truth>, String> {
        self.truth(expr).map(Box::new)
    }

    fn node(&self, name: &str) -> Result<Value, String> {
        let known = self.machine.scopes();
        match known.iter().any(|scope| scope == name) {
            true => Ok(Value::Node(name.to_owned())),
            false => Err(unknown(&format!("the board has no node '{name}'"), name, &known)),
        }
    }

    fn member(&self, operand: &IdedExpr, field: &str) -> Result<Value, String> {
        let Value::Node(scope) = self.value(&operand.expr)? else {
            return Err(format!("only nodes have members, such as '{field}'"));
        };
        let core = self.machine.core_named(&scope);
        match (core, field) {
            (Some(core), "calls") => return Ok(Value::Calls(core)),
            (Some(core), "cycles") => return Ok(Value::Count(Number::Cycles(core))),
            (Some(core), "instructions") => return Ok(Value::Count(Number::Instructions(core))),
            _ => {}
        }
        match self.machine.signal_to_follow(&scope, field) {
            Ok(signal) => return Ok(Value::Truth(Truth::Signal(signal))),
            Err(Some(why)) => return Err(format!("{scope}.{field} can't be followed: {why}")),
            Err(None) => {}
        }
        if let Some(counter) = self.machine.counter_of(&scope, field) {
            return Ok(Value::Count(counter));
        }
        let mut names = self.machine.names_of(&scope);
        if core.is_some() {
            names.extend(["calls", "cycles", "instructions"].map(str::to_owned));
        }
        Err(unknown(&format!("{scope} has no signal or counter '{field}'"), field, &names))
    }

    fn call(&self, call: &CallExpr) -> Result<Value, String> {
        let name = call.func_name.as_str();
        let args = call.args.as_slice();
        let truth = match (name, args) {
            (op::LOGICAL_NOT, [other]) => Truth::Not(self.boxed(other)?),
            (op::LOGICAL_AND, [left, right]) => Truth::And(self.boxed(left)?, self.boxed(right)?),
            (op::LOGICAL_OR, [left, right]) => Truth::Or(self.boxed(left)?, self.boxed(right)?),
            (op::IN, [function, calls]) => self.in_calls(function, calls)?,
            (op::CONDITIONAL, [condition, yes, no]) => return self.conditional(condition, yes, no),
            (op::INDEX, [node, name]) => return self.index(node, name),
            (op::NEGATE, [other]) => return self.negative(other),
            ("duration", [text]) => return self.duration(text),
            ("node", [name]) => return self.named_node(name),
            (_, [left, right]) => match (comparison(name), binary(name)) {
                (Some(compare), _) => self.compare(compare, left, right)?,
                (None, Some(binary)) => return self.binary(binary, left, right),
                (None, None) => return Err(no_function(name)),
            },
            _ => return Err(no_function(name)),
        };
        Ok(Value::Truth(truth))
    }

    fn in_calls(&self, function: &IdedExpr, calls: &IdedExpr) -> Result<Truth, String> {
        let (function, Value::Calls(core)) = (self.value(&function.expr)?, self.value(&calls.expr)?) else {
            return Err("'in' is followed by a core's calls, as in \"main\" in cpu0.calls".to_owned());
        };
        let Value::Text(name) = function else {
            return Err(format!("'in' follows {}: expected a function's name in quotes", function.kind()));
        };
        match self.machine.function_of(core, &name) {
            Some(addr) => Ok(Truth::InCall(core, addr)),
            None => {
                if let Some(several) = self.machine.several_functions_of(core, &name) {
                    return Err(several);
                }
                let similar = self.machine.functions_like(&name).join(" or ");
                let hint = if similar.is_empty() { similar } else { format!("; did you mean {similar}?") };
                Err(format!("the firmware has no function '{}'{hint}", name.escape_debug()))
            }
        }
    }

    fn conditional(&self, condition: &IdedExpr, yes: &IdedExpr, no: &IdedExpr) -> Result<Value, String> {
        let condition = self.boxed(condition)?;
        match (self.value(&yes.expr)?, self.value(&no.expr)?) {
            (Value::Truth(yes), Value::Truth(no)) => {
                Ok(Value::Truth(Truth::If(condition, Box::new(yes), Box::new(no))))
            }
            (Value::Count(yes), Value::Count(no)) => {
                Ok(Value::Count(Number::If(condition, Box::new(yes), Box::new(no))))
            }
            (Value::Time(yes), Value::Time(no)) => Ok(Value::Time(Number::If(condition, Box::new(yes), Box::new(no)))),
            (yes, no) => Err(format!("one side of ':' is {}, the other {}", yes.kind(), no.kind())),
        }
    }

    /// A name that is not an identifier of the language: `spi0["bytes sent"]`.
    fn index(&self, node: &IdedExpr, name: &IdedExpr) -> Result<Value, String> {
        match self.value(&name.expr)? {
            Value::Text(name) => self.member(node, &name),
            other => Err(format!("{} stands in brackets: expected a name in quotes", other.kind())),
        }
    }

    fn named_node(&self, name: &IdedExpr) -> Result<Value, String> {
        match self.value(&name.expr)? {
            Value::Text(name) => self.node(&name),
            other => Err(format!("node() takes a name in quotes, not {}", other.kind())),
        }
    }

    fn negative(&self, other: &IdedExpr) -> Result<Value, String> {
        match self.value(&other.expr)? {
            Value::Count(Number::Const(value)) => Ok(Value::Count(Number::Const(-value))),
            Value::Count(number) => Ok(Value::Count(Number::Negative(Box::new(number)))),
            Value::Time(number) => Ok(Value::Time(Number::Negative(Box::new(number)))),
            other => Err(format!("'-' stands in front of {}", other.kind())),
        }
    }

    fn duration(&self, text: &IdedExpr) -> Result<Value, String> {
        let Value::Text(text) = self.value(&text.expr)? else {
            return Err("duration() takes a text, as in duration(\"1.5ms\")".to_owned());
        };
        let time_ps = time_ps(&text).ok_or_else(|| format!("duration '{}': {HOW}", text.escape_debug()))?;
        Ok(Value::Time(Number::Const(time_ps)))
    }

    fn compare(&self, compare: Compare, left: &IdedExpr, right: &IdedExpr) -> Result<Truth, String> {
        match (self.value(&left.expr)?, self.value(&right.expr)?) {
            (Value::Count(left), Value::Count(right)) | (Value::Time(left), Value::Time(right)) => {
                Ok(Truth::Compare(compare, Box::new(left), Box::new(right)))
            }
            (Value::Truth(left), Value::Truth(right)) if matches!(compare, Compare::Equal | Compare::NotEqual) => {
                let same = Truth::Same(Box::new(left), Box::new(right));
                Ok(if compare == Compare::Equal { same } else { Truth::Not(Box::new(same)) })
            }
            (left, right) => Err(format!("{} can't be compared with {} so", left.kind(), right.kind())),
        }
    }

    fn binary(&self, binary: Binary, left: &IdedExpr, right: &IdedExpr) -> Result<Value, String> {
        let (left, right) = (self.value(&left.expr)?, self.value(&right.expr)?);
        let is_time = match (&left, binary, &right) {
            (Value::Count(_), _, Value::Count(_)) => false,
            (Value::Time(_), Binary::Add | Binary::Subtract, Value::Time(_)) => true,
            _ => return Err(format!("{} and {} make nothing with this operator", left.kind(), right.kind())),
        };
        let (Value::Count(left) | Value::Time(left), Value::Count(right) | Value::Time(right)) = (left, right) else {
            return Err("numbers are expected".to_owned());
        };
        if matches!(binary, Binary::Divide | Binary::Remainder) && !matches!(right, Number::Const(1..)) {
            return Err("only constants above 0 divide".to_owned());
        }
        let number = Number::Binary(binary, Box::new(left), Box::new(right));
        Ok(if is_time { Value::Time(number) } else { Value::Count(number) })
    }
}

const HOW: &str = "expected a number and ps, ns, us, ms, s, m or h, as in 1.5ms or 1h30m";

fn constant(literal: &LiteralValue) -> Result<Value, String> {
    match literal {
        LiteralValue::Boolean(value) => Ok(Value::Truth(Truth::Const(*value.inner()))),
        LiteralValue::Int(value) => Ok(Value::Count(Number::Const((*value.inner()).into()))),
        LiteralValue::UInt(value) => Ok(Value::Count(Number::Const((*value.inner()).into()))),
        LiteralValue::String(value) => Ok(Value::Text(value.inner().to_owned())),
        LiteralValue::Double(_) => Err("a count is a whole number, a time is written duration(\"1.5ms\")".to_owned()),
        LiteralValue::Bytes(_) | LiteralValue::Null => Err("bytes and null are of no use in a condition".to_owned()),
    }
}

fn comparison(name: &str) -> Option<Compare> {
    Some(match name {
        op::EQUALS => Compare::Equal,
        op::NOT_EQUALS => Compare::NotEqual,
        op::LESS => Compare::Less,
        op::LESS_EQUALS => Compare::LessOrEqual,
        op::GREATER => Compare::Greater,
        op::GREATER_EQUALS => Compare::GreaterOrEqual,
        _ => return None,
    })
}

fn binary(name: &str) -> Option<Binary> {
    Some(match name {
        op::ADD => Binary::Add,
        op::SUBSTRACT => Binary::Subtract,
        op::MULTIPLY => Binary::Multiply,
        op::DIVIDE => Binary::Divide,
        op::MODULO => Binary::Remainder,
        _ => return None,
    })
}

fn no_function(name: &str) -> String {
    format!("there is no function '{}' with such arguments: duration(\"1ms\"), node(\"label\")", name.escape_debug())
}

fn unknown(what: &str, name: &str, known: &[String]) -> String {
    let listed = known.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if known.len() > MOST_NAMES { ", ..." } else { "" };
    let similar = similar_names(name, known.iter().map(String::as_str));
    match (similar.is_empty(), known.is_empty()) {
        (false, _) => format!("{what}; did you mean {}?", similar.join(" or ")),
        (true, true) => format!("{what}: it has none"),
        (true, false) => format!("{what}: it has {listed}{more}"),
    }
}

/// The picoseconds of a duration in the language's notation: "1.5ms", "1m30s", "-2us".
fn time_ps(text: &str) -> Option<i128> {
    let (sign, mut rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let number_end = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let (number, tail) = rest.split_at(number_end);
        let unit_end = tail.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let (_, ps) = PS_PER_UNIT.iter().find(|(name, _)| *name == unit)?;
        total = total.checked_add(scaled(number, *ps)?)?;
        rest = tail;
    }
    (!text.is_empty() && total < i128::from(u64::MAX)).then_some(sign * total)
}

/// A decimal number times `factor`; `None` if the product is not a whole number.
fn scaled(number: &str, factor: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || number.len() > 30 {
        return None;
    }
    let digits = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i128>().ok() };
    let unit = 10i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let parts = digits(fraction)?.checked_mul(factor)?;
    (parts % unit == 0).then_some(())?;
    digits(whole)?.checked_mul(factor)?.checked_add(parts / unit)
}

/// The message for a condition that can't be parsed.
pub fn refusal(text: &str, why: &impl Display) -> String {
    format!("condition '{}': {why}", text.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_what_the_language_has_and_picoseconds() {
        let cases = [
            ("1.5ms", 1_500_000_000),
            ("1m30s", 90_000_000_000_000),
            ("-2us", -2_000_000),
            ("0.001ns", 1),
            ("7ps", 7),
            ("0s", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(time_ps(text), Some(expected), "{text}");
        }
        for text in ["", "1", "s", "1.5ps", "1 ms", "1e3s", "..1s", "99999999999999999999999999h", "1ms ", "1x"] {
            assert_eq!(time_ps(text), None, "{text}");
        }
    }
}
