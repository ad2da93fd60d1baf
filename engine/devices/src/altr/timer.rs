//! `altr,timer-1.0`: Altera's interval timer core (Embedded Peripherals IP User Guide, Interval Timer Core), 32 bits
//! wide, with all registers: writeable period, snapshot, start and stop.
//!
//! Modelled: counting down once or continuously, the reload from the period registers in the clock after zero, the
//! timeout flag (set with that reload) and its interrupt, snapshots. The counter is a function of time; there is an
//! event only for a timeout that raises the interrupt. A write of both START and STOP, undefined in the guide, starts
//! the counter.
//!
//! Not modelled: the pulse output and the watchdog's reset, which are options of the core.

use crate::model::{Group, Model};
use crate::support::activities::{COUNTING, TIMER};
use crate::support::axi_lite::{AxiLitePort, edge_in_reach, on_lanes};
use crate::support::registers::{AccessKind, Register, flag};
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::{ANY, NodeReader};
use engine::polling::{Poll, Polled};
use engine::state::{Fresh, State};
use engine::time::Ps;

/// The register map (Interval Timer Core, Register Map): 16-bit registers a word apart.
pub const REGISTERS: &[Register] = &[
    Register::new("status", STATUS, AccessKind::Rw, 0, STATUS_TO | STATUS_RUN),
    Register::new("control", CONTROL, AccessKind::Rw, 0, CONTROL_HELD),
    Register::new("periodl", PERIODL, AccessKind::Rw, 0, 0xffff),
    Register::new("periodh", PERIODH, AccessKind::Rw, 0, 0xffff),
    Register::new("snapl", SNAPL, AccessKind::Rw, 0, 0xffff),
    Register::new("snaph", SNAPH, AccessKind::Rw, 0, 0xffff),
];

const STATUS: u32 = 0x00;
const CONTROL: u32 = 0x04;
const PERIODL: u32 = 0x08;
const PERIODH: u32 = 0x0c;
const SNAPL: u32 = 0x10;
const SNAPH: u32 = 0x14;

/// The counter has reached zero since the last write of this register.
const STATUS_TO: u32 = 1 << 0;
/// The counter runs.
const STATUS_RUN: u32 = 1 << 1;

/// The interrupt is enabled.
const CONTROL_ITO: u32 = 1 << 0;
/// Zero does not stop the counter.
const CONTROL_CONT: u32 = 1 << 1;
const CONTROL_START: u32 = 1 << 2;
const CONTROL_STOP: u32 = 1 << 3;
/// The bits that the register keeps; START and STOP are not kept.
const CONTROL_HELD: u32 = CONTROL_ITO | CONTROL_CONT;

/// The counter.
#[derive(Clone, Copy, Debug, State, Fresh)]
enum Counter {
    /// Stopped at a value.
    Stopped(u32),
    /// Running, and reloaded at this cycle: in the cycle before, it shows 0.
    Running { reload_cycle: u64 },
}

/// The device.
#[derive(Debug, State)]
pub struct IntervalTimer {
    #[state(skip)]
    port: AxiLitePort,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    control: u32,
    /// Clocks of a period, less one.
    period: u32,
    snapshot: u32,
    timeout: bool,
    counter: Counter,
    /// The earliest event that was requested and has not run; later ones are requested when it comes.
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["altr,timer-1.0"], 1, from_node).with_activities(TIMER).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let port = AxiLitePort::from_node(reader);
    let period = reader.u32_or("cyclescope,reset-period", 0, ANY, "the period registers after reset");
    reader.known(&["clock-frequency"]);
    Box::new(IntervalTimer::new(port, period, reader.interrupt(0, "its interrupt")))
}

impl IntervalTimer {
    /// The device after reset, with this value in its period registers; the port's clock is counted.
    pub fn new(port: AxiLitePort, period: u32, interrupt: Option<IrqLine>) -> IntervalTimer {
        IntervalTimer {
            port,
            interrupt,
            control: 0,
            period,
            snapshot: 0,
            timeout: false,
            counter: Counter::Stopped(period),
            alarm: Alarm::default(),
        }
    }

    fn cycle(&self, now: Ps) -> u64 {
        self.port.clock.cycles_until_floor(now).0
    }

    /// Brings the counter and the timeout flag up to `cycle`.
    fn settle(&mut self, cycle: u64) {
        let Counter::Running { reload_cycle } = self.counter else { return };
        let Some(past) = cycle.checked_sub(reload_cycle) else { return };
        self.timeout = true;
        self.counter = if self.control & CONTROL_CONT == 0 {
            Counter::Stopped(self.period)
        } else {
            let period_cycles = u64::from(self.period) + 1;
            Counter::Running { reload_cycle: reload_cycle + (past / period_cycles + 1) * period_cycles }
        };
    }

    /// The counter's value at `cycle`, to which it is settled.
    fn value(&self, cycle: u64) -> u32 {
        match self.counter {
            Counter::Stopped(value) => value,
            // At most a period ahead: it fits.
            Counter::Running { reload_cycle } => reload_cycle.saturating_sub(cycle + 1) as u32,
        }
    }

    /// Updates the interrupt line, and requests an event for its next rise.
    fn update(&mut self, ctx: &mut Ctx) {
        let enabled = self.control & CONTROL_ITO != 0;
        ctx.set_irq(self.interrupt, enabled && self.timeout);
        let due = match self.counter {
            Counter::Running { reload_cycle } if enabled && !self.timeout => {
                edge_in_reach(self.port.clock, reload_cycle)
            }
            _ => None,
        };
        ctx.awaits(&COUNTING, due, Detail::None);
        if let Some(due) = due {
            self.alarm.set(due, 0, ctx);
        }
    }

    fn register(&self, offset: u32) -> u32 {
        match offset {
            STATUS => flag(STATUS_TO, self.timeout) | flag(STATUS_RUN, matches!(self.counter, Counter::Running { .. })),
            CONTROL => self.control,
            PERIODL => self.period & 0xffff,
            PERIODH => self.period >> 16,
            SNAPL => self.snapshot & 0xffff,
            SNAPH => self.snapshot >> 16,
            _ => 0,
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, cycle: u64) {
        match offset {
            STATUS => self.timeout = false,
            CONTROL => self.set_control(value, cycle),
            PERIODL => self.set_period(self.period & 0xffff_0000 | value),
            PERIODH => self.set_period(self.period & 0xffff | value << 16),
            SNAPL | SNAPH => self.snapshot = self.value(cycle),
            _ => {}
        }
    }

    fn set_control(&mut self, value: u32, cycle: u64) {
        self.control = value & CONTROL_HELD;
        match self.counter {
            Counter::Stopped(left) if value & CONTROL_START != 0 => {
                self.counter = Counter::Running { reload_cycle: cycle + u64::from(left) + 1 };
            }
            Counter::Running { .. } if value & (CONTROL_START | CONTROL_STOP) == CONTROL_STOP => {
                self.counter = Counter::Stopped(self.value(cycle));
            }
            _ => {}
        }
    }

    /// A write to a half of the period loads and stops the counter.
    fn set_period(&mut self, period: u32) {
        self.period = period;
        self.counter = Counter::Stopped(period);
    }
}

impl Device for IntervalTimer {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.settle(self.cycle(ctx.now));
        self.update(ctx);
        Ok(self.port.read(self.register(offset & !3), offset, size, ctx.now))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        let cycle = self.cycle(ctx.now);
        self.settle(cycle);
        self.set_register(offset & !3, on_lanes(value, offset, size) & 0xffff, cycle);
        self.update(ctx);
        Ok(self.port.written(ctx.now))
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.settle(self.cycle(ctx.now));
        self.update(ctx);
    }
}

impl Polled for IntervalTimer {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        if poll.clock() != self.port.clock {
            return false;
        }
        self.settle(self.cycle(poll.now()));
        poll.state(self.control);
        poll.state(self.period);
        poll.state(self.snapshot);
        poll.state(self.timeout);
        match self.counter {
            Counter::Stopped(value) => poll.state(value),
            Counter::Running { reload_cycle } => {
                // An iteration that reloads it is not like the next one.
                poll.state(reload_cycle);
                if let Some(due) = edge_in_reach(self.port.clock, reload_cycle) {
                    poll.until(due);
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests;
