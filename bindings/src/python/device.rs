//! A device in Python on a bus.

use engine::polling::{Poll, Polled};
use std::collections::BTreeMap;

use engine::bus::device::{AccessResult, AccessSize, Ctx, Device, IrqLine, PortId, Reply, SlaveError};
use engine::pins::Pin;
use engine::state::State;
use engine::time::Ps;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::CALLS_BETWEEN_LOOKS;
use super::base::Effect;
use super::instance::{Failed, Instance, number};

/// The device.
#[derive(State)]
pub struct PythonDevice {
    instance: Instance,
    #[state(skip)]
    lines: Vec<Option<IrqLine>>,
    /// The pins of the node, with the object's names for them.
    #[state(skip)]
    pins: Vec<(Option<Pin>, String)>,
    #[state(skip)]
    is_console: bool,
    /// When the event of each token is due.
    events: BTreeMap<u32, Ps>,
    /// The number of calls. After some of them, the host is checked for a stop.
    #[state(skip)]
    calls: u32,
}

impl PythonDevice {
    /// A device with the ends of its interrupt lines and with its pins.
    pub fn new(
        instance: Instance,
        lines: Vec<Option<IrqLine>>,
        pins: Vec<(Option<Pin>, String)>,
        is_console: bool,
    ) -> PythonDevice {
        PythonDevice { instance, lines, pins, is_console, events: BTreeMap::new(), calls: 0 }
    }

    /// Calls a method, and carries out its requests. `None` if the device can't continue; then the run ends.
    fn call<T>(
        &mut self,
        ctx: &mut Ctx,
        method: &str,
        range: usize,
        arguments: impl for<'py> IntoPyObject<'py, Target = PyTuple>,
        result: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<Option<T>, SlaveError> {
        if !self.pins.is_empty() {
            let level = |pin: &Option<Pin>| pin.is_some_and(|pin| ctx.bus.wires.level(pin));
            self.instance.set_levels(self.pins.iter().map(|(pin, _)| level(pin)));
        }
        let (called, effects) = self.instance.call(method, ctx.now, range, arguments, result);
        effects.into_iter().for_each(|effect| self.take_up(effect, ctx));
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(CALLS_BETWEEN_LOOKS) {
            ctx.look_at_host();
        }
        match called {
            Ok(value) => Ok(Some(value)),
            Err(Failed::Bus) => Err(SlaveError { done: ctx.now }),
            Err(Failed::Ended(text)) => {
                ctx.fail(text);
                Ok(None)
            }
            Err(Failed::Before) => Ok(None),
        }
    }

    /// Calls a method without a result.
    fn notify(&mut self, ctx: &mut Ctx, method: &str, arguments: impl for<'py> IntoPyObject<'py, Target = PyTuple>) {
        // No bus master waits for an error response here.
        let _ = self.call(ctx, method, 0, arguments, |_| Ok(()));
    }

    fn take_up(&mut self, effect: Effect, ctx: &mut Ctx) {
        match effect {
            Effect::Schedule { due_ps, token } => {
                self.cancel(token, ctx);
                self.events.insert(token, Ps(due_ps));
                ctx.schedule(Ps(due_ps), token);
            }
            Effect::Cancel { token } => self.cancel(token, ctx),
            Effect::Irq { index, level } => ctx.set_irq(self.lines.get(index).copied().flatten(), level),
            Effect::Drive { index, level } => {
                if let Some(pin) = self.pins.get(index).and_then(|(pin, _)| *pin) {
                    ctx.bus.drive_pin(pin, level, ctx.now);
                }
            }
            Effect::Note(text) => ctx.note(&text),
            Effect::Print(text) if self.is_console => ctx.console(text.as_bytes()),
            Effect::Print(text) => ctx.stream(text.as_bytes()),
            Effect::Exit(status) => ctx.exit(status),
        }
    }

    fn cancel(&mut self, token: u32, ctx: &mut Ctx) {
        if self.events.remove(&token).is_some() {
            ctx.bus.events.cancel(ctx.id, token);
        }
    }
}

impl Device for PythonDevice {
    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let (now, most) = (ctx.now, u64::from(u32::MAX >> (32 - 8 * size.bytes())));
        let reply = |value: &Bound<'_, PyAny>| match value.cast::<PyTuple>() {
            Ok(pair) => {
                let (value, done) = pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
                Ok(Reply::read(number(&value, "the value read", most)? as u32, done_at(&done, now)?))
            }
            Err(_) => Ok(Reply::read(number(value, "the value read", most)? as u32, now)),
        };
        let read = self.call(ctx, "read", range, (offset, size.bytes()), reply)?;
        Ok(read.unwrap_or(Reply::read(0, now)))
    }

    fn write(&mut self, range: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let now = ctx.now;
        let reply = |done: &Bound<'_, PyAny>| if done.is_none() { Ok(now) } else { done_at(done, now) };
        let value = value & u32::MAX >> (32 - 8 * size.bytes());
        let done = self.call(ctx, "write", range, (offset, size.bytes(), value), reply)?;
        Ok(Reply::written(done.unwrap_or(now)))
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        let label = ctx.label().to_owned();
        for (pin, name) in self.pins.iter().filter_map(|(pin, name)| Some(((*pin)?, name))) {
            ctx.bus.wires.watch(pin, ctx.id, false);
            let signal = ctx.bus.waves.signal(&label, name, ctx.bus.wires.level(pin));
            ctx.bus.wires.name(pin, signal);
        }
        self.notify(ctx, "reset", ());
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.events.remove(&token);
        self.notify(ctx, "event", (token,));
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.instance.counters()
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.note(
            "firmware changes a clock of this device, which is one in Python: it goes on by the clock's first rate",
        );
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        for index in 0..self.pins.len() {
            let (pin, name) = &self.pins[index];
            let pin = pin.filter(|pin| pin.port == port && pin.of(changed));
            if let Some(pin) = pin {
                let name = name.clone();
                self.notify(ctx, "pin_changed", (name, pin.of(levels)));
            }
        }
    }

    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        self.notify(ctx, "irq_input", (input, level));
    }
}

impl Polled for PythonDevice {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// When an access completes: not before the request.
fn done_at(value: &Bound<'_, PyAny>, now: Ps) -> PyResult<Ps> {
    let done = Ps(number(value, "the time at which the access completes", u64::MAX / 2)?);
    if done < now {
        let (done, now) = (done.0, now.0);
        return Err(PyValueError::new_err(format!(
            "the access completes at {done} ps, before it was made at {now} ps"
        )));
    }
    Ok(done)
}
