//! A chip in Python on an I2C bus.

use engine::state::State;
use engine::time::Ps;
use engine::wire::i2c::{Answer, Direction, Given, I2cTarget, PULLED_UP};
use engine::wire::notes::ChipReport;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

use super::chip::PythonChip;
use super::instance::number;

/// The longest time for which a chip may keep the clock low: real ones do so for less than a second.
const MOST_STRETCH_PS: u64 = 1_000_000_000_000;

/// The chip.
#[derive(State)]
pub struct I2cChip(pub PythonChip);

/// A method's result, and for how long the clock is stretched, if the method gives both.
fn stretched<'py>(value: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Ps)> {
    let Ok(pair) = value.cast::<PyTuple>() else { return Ok((value.clone(), Ps::ZERO)) };
    let (value, stretch) = pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
    Ok((value, Ps(number(&stretch, "the time for which the clock is stretched", MOST_STRETCH_PS)?)))
}

/// A method's acknowledge. None is an acknowledge, too: of a method without a result.
fn answer(value: &Bound<'_, PyAny>) -> PyResult<Answer> {
    let (ack, stretch) = stretched(value)?;
    if !ack.is_none() && !ack.is_instance_of::<PyBool>() {
        let what = format!("the acknowledge is {}, and has to be True, False or None", ack.repr()?);
        return Err(PyTypeError::new_err(what));
    }
    Ok(Answer { ack: ack.is_none() || ack.is_truthy()?, stretch })
}

fn given(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    let (byte, stretch) = stretched(value)?;
    let byte = if byte.is_none() { PULLED_UP } else { number(&byte, "the byte given", 0xff)? as u8 };
    Ok(Given { byte, stretch })
}

impl I2cTarget for I2cChip {
    fn address(&mut self, direction: Direction, now: Ps) -> Answer {
        let is_read = direction == Direction::Read;
        self.0.call("address", now, (is_read,), answer).unwrap_or(Answer::NACK)
    }

    fn write(&mut self, byte: u8, now: Ps) -> Answer {
        self.0.call("write", now, (byte,), answer).unwrap_or(Answer::NACK)
    }

    fn read(&mut self, now: Ps) -> Given {
        self.0.call("read", now, (), given).unwrap_or(Given::byte(PULLED_UP))
    }

    fn acknowledged(&mut self, ack: bool, now: Ps) {
        self.0.notify("acknowledged", now, (ack,));
    }

    fn repeated_start(&mut self, now: Ps) {
        self.0.notify("stop", now, (true,));
    }

    fn stop(&mut self, now: Ps) {
        self.0.notify("stop", now, (false,));
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
