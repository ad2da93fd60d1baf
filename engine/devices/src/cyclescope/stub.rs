//! `cyclescope,stub`: a placeholder for a peripheral without a model.
//!
//! Not a real part: with it, firmware that configures a watchdog or reads a converter runs on. Its registers keep the
//! stored values and have no other function: no interrupt, no transfer, no flag that changes by itself.
//! `cyclescope,registers` names them, with reset values and bits that always read as ones; other registers start with
//! 0. An access takes its time on the bus, and no time in the peripheral.
//!
//! A run reports at its end which registers were used, how often and from where. A node may have any property of the
//! real part's binding; they have no effect. On a board with `cyclescope,unmapped = "warn"`, all unmapped addresses are
//! one such peripheral, called `unmapped`.

pub mod registers;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::prelude::*;
use crate::registers::Row;
use engine::dt::fault::FaultKind;
use engine::observe::unmodelled::Touched;
use registers::{GRAMMAR, fixed, hidden, holds, ones, row};

/// The number of registers that are recorded; stores to further ones are lost.
const MOST_TOUCHED: usize = 1000;
/// The number of accesses to a register whose origin is recorded.
const ASKED: u64 = 64;
const REGISTERS: &str = "cyclescope,registers";

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &[COMPATIBLE], 1, from_node);

/// Its compatible: a node that has it among others is a stub, even if another of them has a model.
pub const COMPATIBLE: &str = "cyclescope,stub";

/// The device.
#[derive(Debug, Default, State, Polled)]
pub struct Stub {
    /// The named registers of the first range, by their offsets.
    #[state(skip)]
    registers: Vec<Row>,
    /// The stored words, by range and offset.
    words: BTreeMap<(usize, u32), u32>,
    /// Their use; the most reads in a row are those up to the last store.
    touched: BTreeMap<(usize, u32), Touched>,
    /// Accesses to registers beyond [`MOST_TOUCHED`].
    #[poll(total)]
    unrecorded: u64,
    /// The value that loads of a word return instead, while the machine tries what firmware waits for.
    #[state(skip)]
    instead: Option<((usize, u32), u32)>,
}

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let meaning = format!("its registers, each a string: {GRAMMAR}");
    let mut registers = Vec::new();
    for text in reader.strings(REGISTERS, &meaning) {
        match row(text) {
            Some(register) => registers.push(register),
            None => {
                let (property, value) = (REGISTERS.to_owned(), format!("\"{text}\""));
                reader.fault_at(
                    REGISTERS,
                    FaultKind::OutOfRange { property, value, allowed: format!("it is {GRAMMAR}") },
                );
            }
        }
    }
    // Properties of the real part's model are allowed.
    if reader.node.compatibles().iter().any(|other| *other != COMPATIBLE && crate::find(other).is_some()) {
        reader.allow_all();
    }
    let others = reader.node.properties.iter().map(|property| property.name.as_str());
    let others: Vec<&str> = others.filter(|name| !name.starts_with("cyclescope,")).collect();
    reader.allow(&others);
    Box::new(Stub::new(registers))
}

impl Stub {
    fn new(mut registers: Vec<Row>) -> Stub {
        registers.sort_by_key(|register| register.offset);
        Stub { registers, ..Stub::default() }
    }

    /// The named registers in a word.
    fn named(&self, range: usize, word: u32) -> &[Row] {
        let registers = if range == 0 { self.registers.as_slice() } else { &[] };
        let first = registers.partition_point(|register| register.offset < word);
        let after = registers.partition_point(|register| u64::from(register.offset) < u64::from(word) + 4);
        &registers[first..after]
    }

    /// A word combined from `of` each of its registers.
    fn lanes(&self, range: usize, word: u32, of: impl Fn(&Row) -> u32) -> u32 {
        let lanes = self.named(range, word).iter().map(|register| of(register) << (8 * (register.offset - word)));
        lanes.fold(0, |sum, lane| sum | lane)
    }

    /// The stored word.
    fn held(&self, range: usize, word: u32) -> u32 {
        let reset = || self.lanes(range, word, |register| register.reset);
        self.words.get(&(range, word)).copied().unwrap_or_else(reset)
    }

    /// Records an access, and requests its origin.
    fn note(&mut self, range: usize, offset: u32, loaded: Option<u32>, ctx: &mut Ctx) {
        let register = self.named(range, offset & !3).iter().find(|register| holds(register, offset));
        let (offset, name) = register.map_or((offset, None), |register| (register.offset, Some(register.name)));
        let room = self.touched.len() < MOST_TOUCHED;
        let used = match self.touched.entry((range, offset)) {
            Entry::Occupied(used) => used.into_mut(),
            Entry::Vacant(_) if !room => {
                self.unrecorded += 1;
                return;
            }
            Entry::Vacant(free) => {
                let name = name.map(str::to_owned);
                free.insert(Touched { range, offset, name, first: ctx.now, ..Touched::fresh() })
            }
        };
        count(used, loaded);
        if ctx.core.is_some() && used.reads + used.writes <= ASKED {
            ctx.bus.access_sites.want((ctx.id, range, offset));
        }
    }
}

/// Counts an access, which loaded a value, or stored one.
fn count(used: &mut Touched, loaded: Option<u32>) {
    if let Some(value) = loaded {
        used.reads += 1;
        used.last = value;
        used.reads_in_a_row += 1;
    } else {
        used.writes += 1;
        used.most_reads_in_a_row = most_reads_in_a_row(used);
        used.reads_in_a_row = 0;
    }
}

/// The most reads in a row, with those since the last store.
fn most_reads_in_a_row(used: &Touched) -> u64 {
    used.most_reads_in_a_row.max(used.reads_in_a_row)
}

impl Device for Stub {
    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let word = offset & !3;
        let shown = self.held(range, word) & !self.lanes(range, word, hidden);
        let value = shown | self.lanes(range, word, ones);
        let value = self.instead.filter(|(place, _)| *place == (range, word)).map_or(value, |(_, instead)| instead);
        let loaded = size.extracted(value, offset);
        self.note(range, offset, Some(loaded), ctx);
        Ok(Reply::read(loaded, ctx.now))
    }

    fn write(
        &mut self,
        range: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.note(range, offset, None, ctx);
        let word = offset & !3;
        let (held, fixed) = (self.held(range, word), self.lanes(range, word, fixed));
        let stored = size.merged(held, offset, value) & !fixed | held & fixed;
        if self.words.len() < MOST_TOUCHED || self.words.contains_key(&(range, word)) {
            self.words.insert((range, word), stored);
        }
        Ok(Reply::written(ctx.now))
    }

    fn unmodelled(&self) -> Vec<Touched> {
        let each = |used: &Touched| Touched { most_reads_in_a_row: most_reads_in_a_row(used), ..used.clone() };
        self.touched.values().map(each).collect()
    }

    fn answer_instead(&mut self, instead: Option<((usize, u32), u32)>) {
        self.instead = instead;
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let unrecorded = Some(self.unrecorded).filter(|count| *count > 0);
        unrecorded.map(|count| ("accesses to further registers".to_owned(), count)).into_iter().collect()
    }
}

#[cfg(test)]
mod tests;
