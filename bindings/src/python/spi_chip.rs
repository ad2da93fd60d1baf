//! A chip in Python on an SPI wire.

use engine::state::State;
use engine::time::Ps;
use engine::wire::bytes::ByteTarget;
use engine::wire::notes::{ChipReport, Notes};
use pyo3::prelude::*;

use super::chip::PythonChip;
use super::instance::number;

/// The level of lines that nobody drives.
const PULLED_UP: u8 = 0xff;

/// The chip.
#[derive(State)]
pub struct SpiChip(pub PythonChip);

/// The byte that a method gives; None for lines that nobody drives.
fn shown(value: &Bound<'_, PyAny>) -> PyResult<u8> {
    if value.is_none() { Ok(PULLED_UP) } else { Ok(number(value, "the byte shown", 0xff)? as u8) }
}

impl ByteTarget for SpiChip {
    fn select(&mut self, now: Ps) -> u8 {
        self.0.call("select", now, (), shown).unwrap_or(PULLED_UP)
    }

    fn byte(&mut self, _index: u64, input: u8, now: Ps, _notes: &mut Notes<String>) -> u8 {
        self.0.call("transfer", now, (input,), shown).unwrap_or(PULLED_UP)
    }

    fn deselect(&mut self, now: Ps) {
        self.0.notify("deselect", now, ());
    }

    fn advance(&mut self, now: Ps) {
        self.0.advance(now);
    }

    fn wakes_at(&self) -> Option<Ps> {
        self.0.wakes_at()
    }

    fn interrupt(&self) -> Option<bool> {
        self.0.interrupt()
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.0.take_notes()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.0.counters()
    }

    fn chip_report(&mut self) -> Option<&mut ChipReport> {
        Some(self.0.chip_report())
    }
}
