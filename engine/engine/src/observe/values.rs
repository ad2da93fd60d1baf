//! Signals that are the bits of one value (`out1[0]` to `out1[11]`), for files that have values of several bits.

use super::waves::Signal;

/// A value of several bits, restricted to the chosen ones.
#[derive(Debug)]
struct Value {
    /// The index of its first bit among the chosen signals, where it is declared.
    first: usize,
    bits: Vec<bool>,
    has_changed: bool,
}

/// The values of several bits among some signals.
#[derive(Debug)]
pub struct Values {
    /// By signal: its value, and its bit in that.
    of: Vec<Option<(usize, usize)>>,
    all: Vec<Value>,
}

/// The name of a value and the number of a bit: at most 64 bits.
fn bit_of(name: &str) -> Option<(&str, usize)> {
    let (name, bit) = name.strip_suffix(']')?.split_once('[')?;
    Some((name, bit.parse().ok().filter(|bit| *bit < 64)?))
}

/// The name of a signal where it stands for its value.
pub fn name_of(signal: &Signal) -> &str {
    bit_of(&signal.name).map_or(&signal.name, |(name, _)| name)
}

impl Values {
    /// The values among the chosen signals, which are given by their indices.
    pub fn new(signals: &[Signal], chosen: &[usize]) -> Values {
        let (mut of, mut all) = (vec![None; signals.len()], Vec::<Value>::new());
        for index in chosen {
            let signal = &signals[*index];
            let Some((name, bit)) = bit_of(&signal.name) else { continue };
            let is_same = |value: &Value| {
                let first = &signals[value.first];
                first.scope == signal.scope && bit_of(&first.name).is_some_and(|(other, _)| other == name)
            };
            let place = all.iter().position(is_same).unwrap_or_else(|| {
                all.push(Value { first: *index, bits: Vec::new(), has_changed: false });
                all.len() - 1
            });
            let bits = &mut all[place].bits;
            bits.resize(bits.len().max(bit + 1), false);
            bits[bit] = signal.first;
            of[*index] = Some((place, bit));
        }
        Values { of, all }
    }

    /// The value that a signal is a bit of.
    pub fn value_of(&self, signal: usize) -> Option<usize> {
        self.of[signal].map(|(value, _)| value)
    }

    /// The number of bits of the value whose first chosen bit is this signal; `None` for all other signals.
    pub fn declared_by(&self, signal: usize) -> Option<usize> {
        let value = &self.all[self.value_of(signal)?];
        (value.first == signal).then_some(value.bits.len())
    }

    /// A signal changes its level: true if it is a bit of a value.
    pub fn set(&mut self, signal: usize, level: bool) -> bool {
        let Some((value, bit)) = self.of[signal] else { return false };
        let value = &mut self.all[value];
        (value.bits[bit], value.has_changed) = (level, true);
        true
    }

    /// The bits of a value, the highest one first.
    pub fn bits(&self, value: usize) -> impl Iterator<Item = bool> {
        self.all[value].bits.iter().rev().copied()
    }

    /// The next value that has changed and was not taken yet.
    pub fn take_changed(&mut self) -> Option<usize> {
        let changed = self.all.iter().position(|value| value.has_changed)?;
        self.all[changed].has_changed = false;
        Some(changed)
    }

    /// The number of values.
    pub fn count(&self) -> usize {
        self.all.len()
    }
}
