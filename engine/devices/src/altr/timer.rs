//! `altr,timer-1.0`: Altera's interval timer core (Embedded Peripherals IP User Guide, Interval Timer Core), 32 bits
//! wide, with all registers: writeable period, snapshot, start and stop.
//!
//! Modelled: counting down once or continuously, the reload from the period registers in the clock after zero, the
//! timeout flag (set with that reload) and its interrupt, snapshots. The counter is a function of time; there is an
//! event only for a timeout that raises the interrupt. A write of both START and STOP, undefined in the guide, starts
//! the counter.
//!
//! Not modelled: the pulse output and the watchdog's reset, which are options of the core.

use crate::prelude::*;
use crate::support::activities::{COUNTING, TIMER};
use crate::support::axi_lite::{AxiLitePort, edge_in_reach};
use engine::dt::reader::ANY;

registers! {
    /// The register map (Interval Timer Core, Register Map): 16-bit registers a word apart.
    const MAP "" {
        STATUS "status" 0x00 rw {
            /// The counter has reached zero since the last write of this register.
            TO 0 ro,
            /// The counter runs.
            RUN 1 ro,
        };
        CONTROL "control" 0x04 rw {
            /// The interrupt is enabled.
            ITO 0,
            /// Zero does not stop the counter.
            CONT 1,
            /// Not kept, as the next one.
            START 2,
            STOP 3,
        };
        PERIODL "periodl" 0x08 rw mask 0xffff;
        PERIODH "periodh" 0x0c rw mask 0xffff;
        SNAPL "snapl" 0x10 rw mask 0xffff;
        SNAPH "snaph" 0x14 rw mask 0xffff;
    }
}

/// The counter.
#[derive(Clone, Copy, Debug, State, Fresh, Polled)]
enum Counter {
    /// Stopped at a value.
    Stopped(u32),
    /// Running, and reloaded at this cycle: in the cycle before, it shows 0.
    Running { reload_cycle: u64 },
}

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::axi_lite(self.port))]
#[poll(first = IntervalTimer::list_timeout)]
pub struct IntervalTimer {
    #[state(skip)]
    port: AxiLitePort,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    registers: Registers,
    counter: Counter,
    /// The earliest event that was requested and has not run; later ones are requested when it comes.
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["altr,timer-1.0"], 1, from_node).with_activities(TIMER).naming(MAP.rows);

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
        let mut registers = Registers::new(&MAP);
        registers.set(PERIODL, period);
        registers.set(PERIODH, period >> 16);
        IntervalTimer { port, interrupt, registers, counter: Counter::Stopped(period), alarm: Alarm::default() }
    }

    /// Clocks of a period, less one.
    fn period(&self) -> u32 {
        self.registers[PERIODH] << 16 | self.registers[PERIODL]
    }

    fn cycle(&self, now: Ps) -> u64 {
        self.port.clock.cycles_until_floor(now).0
    }

    /// Brings the counter and the timeout flag up to `now`.
    fn pass_to(&mut self, now: Ps) {
        let Counter::Running { reload_cycle } = self.counter else { return };
        let Some(past) = self.cycle(now).checked_sub(reload_cycle) else { return };
        self.registers.put(STATUS, STATUS_TO, true);
        self.counter = if self.registers.has(CONTROL, CONTROL_CONT) {
            let period_cycles = u64::from(self.period()) + 1;
            Counter::Running { reload_cycle: reload_cycle + (past / period_cycles + 1) * period_cycles }
        } else {
            Counter::Stopped(self.period())
        };
    }

    /// The time of the next reload.
    fn timeout(&self) -> Option<Ps> {
        match self.counter {
            Counter::Stopped(_) => None,
            Counter::Running { reload_cycle } => edge_in_reach(self.port.clock, reload_cycle),
        }
    }

    /// An iteration within which the counter is reloaded is not like the next one.
    fn list_timeout(&mut self, poll: &mut Poll) -> bool {
        self.pass_to(poll.now());
        self.timeout().into_iter().for_each(|due| poll.until(due));
        poll.clock() == self.port.clock
    }

    /// The counter's value at `cycle`, to which it is settled.
    fn value(&self, cycle: u64) -> u32 {
        match self.counter {
            Counter::Stopped(value) => value,
            // At most a period ahead: it fits.
            Counter::Running { reload_cycle } => reload_cycle.saturating_sub(cycle + 1) as u32,
        }
    }

    fn wrote_control(&mut self, new: u32, cycle: u64) {
        self.registers.put(CONTROL, CONTROL_START | CONTROL_STOP, false);
        match self.counter {
            Counter::Stopped(left) if new & CONTROL_START != 0 => {
                self.counter = Counter::Running { reload_cycle: cycle + u64::from(left) + 1 };
            }
            Counter::Running { .. } if new & (CONTROL_START | CONTROL_STOP) == CONTROL_STOP => {
                self.counter = Counter::Stopped(self.value(cycle));
            }
            _ => {}
        }
    }

    fn take_snapshot(&mut self, cycle: u64) {
        let value = self.value(cycle);
        self.registers.set(SNAPL, value);
        self.registers.set(SNAPH, value >> 16);
    }
}

impl Table for IntervalTimer {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
    }

    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        let runs = matches!(self.counter, Counter::Running { .. });
        held | flag(STATUS_RUN, register == STATUS && runs)
    }

    fn was_read(&mut self, _: u32, ctx: &mut Ctx) {
        self.update(ctx);
    }

    fn wrote(&mut self, register: u32, _: u32, new: u32, ctx: &mut Ctx) {
        match register {
            STATUS => self.registers.put(STATUS, STATUS_TO, false),
            CONTROL => self.wrote_control(new, self.cycle(ctx.now)),
            SNAPL | SNAPH => self.take_snapshot(self.cycle(ctx.now)),
            // A write to a half of the period loads and stops the counter.
            _ => self.counter = Counter::Stopped(self.period()),
        }
    }

    /// Updates the interrupt line, and requests an event for its next rise.
    fn update(&mut self, ctx: &mut Ctx) {
        let (enabled, raised) = (self.registers.has(CONTROL, CONTROL_ITO), self.registers.has(STATUS, STATUS_TO));
        ctx.set_irq(self.interrupt, enabled && raised);
        let due = self.timeout().filter(|_| enabled && !raised);
        ctx.awaits(&COUNTING, due, Detail::None);
        if let Some(due) = due {
            self.alarm.set(due, 0, ctx);
        }
    }
}

impl Device for IntervalTimer {
    by_table!();

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.pass_to(ctx.now);
        self.update(ctx);
    }
}

#[cfg(test)]
mod tests;
