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
use crate::support::activities::TIMER;
use crate::support::axi_lite::AxiLitePort;
use crate::support::counter::{Counter, Range, Ticks};
use crate::support::timer_interrupt::TimerInterrupt;
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

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::axi_lite(self.port))]
#[poll(first = IntervalTimer::list_timeout)]
pub struct IntervalTimer {
    #[state(skip)]
    port: AxiLitePort,
    interrupt: TimerInterrupt,
    /// STATUS.RUN is set while it counts.
    registers: Registers,
    #[poll(skip = "its next reload is listed")]
    counter: Counter,
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
        let counter = Counter { value: period.into(), tick: 0 };
        IntervalTimer { port, interrupt: TimerInterrupt::new(interrupt), registers, counter }
    }

    fn range(&self) -> Range {
        Range::down((self.registers[PERIODH] << 16 | self.registers[PERIODL]).into())
    }

    fn ticks(&self) -> Ticks {
        Ticks::of(self.port.clock, 1)
    }

    fn runs(&self) -> bool {
        self.registers.has(STATUS, STATUS_RUN)
    }

    /// Stops the counter at the start of a period.
    fn load(&mut self) {
        self.registers.put(STATUS, STATUS_RUN, false);
        self.counter.value = self.range().end;
    }

    /// The time of the next reload.
    fn timeout(&self) -> Option<Ps> {
        if self.runs() { self.ticks().time_of(self.counter.reload_tick(self.range())) } else { None }
    }

    /// An iteration within which the counter is reloaded is not like the next one.
    fn list_timeout(&mut self, poll: &mut Poll) -> bool {
        self.pass_to(poll.now());
        self.counter.list(self.runs(), self.range(), poll);
        self.timeout().into_iter().for_each(|due| poll.until(due));
        poll.clock() == self.port.clock
    }
}

impl Table for IntervalTimer {
    const UPDATES_AFTER_READS: bool = true;

    /// Brings the counter and the timeout flag up to `now`.
    fn pass_to(&mut self, now: Ps) {
        let (tick, range) = (self.ticks().at(now), self.range());
        if !self.runs() {
            self.counter.tick = tick;
        } else if self.counter.settle(tick, range) > 0 {
            self.registers.put(STATUS, STATUS_TO, true);
            if !self.registers.has(CONTROL, CONTROL_CONT) {
                self.load();
            }
        }
    }

    fn wrote(&mut self, register: u32, _: u32, new: u32, _: &mut Ctx) {
        match register {
            STATUS => self.registers.put(STATUS, STATUS_TO, false),
            CONTROL => {
                self.registers.put(CONTROL, CONTROL_START | CONTROL_STOP, false);
                if new & (CONTROL_START | CONTROL_STOP) != 0 {
                    self.registers.put(STATUS, STATUS_RUN, new & CONTROL_START != 0);
                }
            }
            SNAPL | SNAPH => {
                self.registers.set(SNAPL, self.counter.value as u32);
                self.registers.set(SNAPH, (self.counter.value >> 16) as u32);
            }
            // A write to a half of the period loads and stops the counter.
            _ => self.load(),
        }
    }

    /// Updates the interrupt line, and requests an event for its next rise.
    fn update(&mut self, ctx: &mut Ctx) {
        let is_enabled = self.registers.has(CONTROL, CONTROL_ITO);
        let level = is_enabled && self.registers.has(STATUS, STATUS_TO);
        self.interrupt.drive(level, self.timeout().filter(|_| is_enabled), ctx);
    }
}

impl Device for IntervalTimer {
    by_table!(interrupt);
}

#[cfg(test)]
mod tests;
