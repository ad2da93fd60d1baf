//! `xlnx,xps-timer-1.00.a`: AXI Timer v2.0 (PG079): two counters of up to 32 bits, or one of 64.
//!
//! Modelled: generate mode (counting up or down, hold or auto reload, the interrupt at each rollover), capture mode
//! without a capture input (the counter wraps), cascade mode, ENALL. A counter's value is a function of time
//! ([`counter`]); there is an event only for a rollover that raises the interrupt.
//!
//! Not modelled: the pins. The capture triggers stay inactive, generate outputs and PWM drive nothing; a note says so
//! when they are enabled.

use crate::model::{Group, Model};
use crate::support::activities::{COUNTING, TIMER};
use crate::support::axi_lite::{AxiLitePort, edge_in_reach, on_lanes};
use crate::support::registers::{AccessKind, Register};
use counter::{Counter, Setting};
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::Ps;

mod counter;

/// The register map (PG079, Register Space).
pub const REGISTERS: &[Register] = &[
    Register::new("TCSR0", TCSR, AccessKind::Rw, 0, 0xfff),
    Register::new("TLR0", TLR, AccessKind::Rw, 0, u32::MAX),
    Register::new("TCR0", TCR, AccessKind::Ro, 0, u32::MAX),
    Register::new("TCSR1", STRIDE + TCSR, AccessKind::Rw, 0, 0x7ff),
    Register::new("TLR1", STRIDE + TLR, AccessKind::Rw, 0, u32::MAX),
    Register::new("TCR1", STRIDE + TCR, AccessKind::Ro, 0, u32::MAX),
];

const TCSR: u32 = 0x0;
const TLR: u32 = 0x4;
const TCR: u32 = 0x8;
/// From a register of timer 0 to timer 1's.
const STRIDE: u32 = 0x10;

const TCSR_MDT: u32 = 1 << 0;
const TCSR_UDT: u32 = 1 << 1;
const TCSR_GENT: u32 = 1 << 2;
const TCSR_CAPT: u32 = 1 << 3;
const TCSR_ARHT: u32 = 1 << 4;
const TCSR_LOAD: u32 = 1 << 5;
const TCSR_ENIT: u32 = 1 << 6;
const TCSR_ENT: u32 = 1 << 7;
const TCSR_TINT: u32 = 1 << 8;
const TCSR_PWMA: u32 = 1 << 9;
const TCSR_ENALL: u32 = 1 << 10;
const TCSR_CASC: u32 = 1 << 11;

/// The core's configuration.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The register port; its clock is counted.
    pub port: AxiLitePort,
    /// Width of the counters in bits: 8, 16 or 32.
    pub width_bits: u32,
    /// Timer 1 exists.
    pub has_timer1: bool,
}

/// One of the two timers.
#[derive(Clone, Copy, Debug, Default, State)]
struct Timer {
    tcsr: u32,
    tlr: u32,
    /// In cascade mode, timer 0's counter has both halves.
    counter: Counter,
}

/// The device.
#[derive(Debug, State)]
pub struct XpsTimer {
    #[state(skip)]
    params: Params,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    timers: [Timer; 2],
    /// The earliest event that was requested and has not run; later ones are requested when it comes.
    alarm: Alarm,
    /// Writes, and reads of a counter's value, so far: a loop with such an access is in another state each iteration.
    moving_accesses: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["xlnx,xps-timer-1.00.a"], 1, from_node).with_activities(TIMER).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let params = Params {
        port: AxiLitePort::from_node(reader),
        width_bits: reader.u32_or("xlnx,count-width", 32, [8, 16, 32], "the counters have 8, 16 or 32 bits"),
        has_timer1: reader.u32("xlnx,one-timer-only", 0..=1, "0 is two timers, 1 is one") == 0,
    };
    for pin in ["xlnx,gen0-assert", "xlnx,gen1-assert", "xlnx,trig0-assert", "xlnx,trig1-assert"] {
        reader.u32_or(pin, 1, 0..=1, "the active level of a pin; changes nothing");
    }
    reader.known(&["clock-names"]);
    Box::new(XpsTimer::new(params, reader.interrupt(0, "its interrupt")))
}

impl XpsTimer {
    /// The device after reset.
    pub fn new(params: Params, interrupt: Option<IrqLine>) -> XpsTimer {
        XpsTimer { params, interrupt, timers: [Timer::default(); 2], alarm: Alarm::default(), moving_accesses: 0 }
    }

    fn is_cascaded(&self) -> bool {
        self.params.has_timer1 && self.timers[0].tcsr & TCSR_CASC != 0
    }

    /// Counters that run by themselves: in cascade mode only one.
    fn counters(&self) -> std::ops::Range<usize> {
        if self.is_cascaded() || !self.params.has_timer1 { 0..1 } else { 0..2 }
    }

    fn setting(&self, index: usize) -> Setting {
        let Timer { tcsr, tlr, .. } = self.timers[index];
        let width_bits = self.params.width_bits;
        let (max, reload) = if self.is_cascaded() {
            let high = u64::from(self.timers[1].tlr) << width_bits;
            (u64::MAX >> (64 - 2 * width_bits), high | u64::from(tlr))
        } else {
            (u64::MAX >> (64 - width_bits), u64::from(tlr))
        };
        Setting {
            max,
            reload,
            down: tcsr & TCSR_UDT != 0,
            runs: tcsr & TCSR_ENT != 0 && tcsr & TCSR_LOAD == 0,
            reloads: tcsr & TCSR_ARHT != 0,
            generates: tcsr & TCSR_MDT == 0,
        }
    }

    /// Brings the counters and interrupt flags up to `now`.
    fn settle(&mut self, now: Ps) {
        let cycle = self.params.port.clock.cycles_until_floor(now).0;
        for index in self.counters() {
            let setting = self.setting(index);
            if self.timers[index].counter.settle(&setting, cycle) {
                self.timers[index].tcsr |= TCSR_TINT;
            }
        }
    }

    /// Updates the interrupt line, and requests an event for its next rise.
    fn update(&mut self, ctx: &mut Ctx) {
        const RAISED: u32 = TCSR_TINT | TCSR_ENIT;
        let raised = self.timers.iter().any(|timer| timer.tcsr & RAISED == RAISED);
        ctx.set_irq(self.interrupt, raised);
        let due = self
            .counters()
            .filter(|&index| self.timers[index].tcsr & RAISED == TCSR_ENIT)
            .filter_map(|index| self.timers[index].counter.rollover_cycle(&self.setting(index)))
            .filter_map(|cycle| edge_in_reach(self.params.port.clock, cycle))
            .min()
            .filter(|_| !raised);
        ctx.awaits(&COUNTING, due, Detail::None);
        if let Some(due) = due {
            self.alarm.set(due, 0, ctx);
        }
    }

    fn register(&self, index: usize, register: u32) -> u32 {
        match register {
            _ if index == 1 && !self.params.has_timer1 => 0,
            TCSR => self.timers[index].tcsr,
            TLR => self.timers[index].tlr,
            TCR if self.is_cascaded() => {
                let shift = self.params.width_bits * index as u32;
                (self.timers[0].counter.value() >> shift) as u32 & self.width_mask()
            }
            TCR => self.timers[index].counter.value() as u32,
            _ => 0,
        }
    }

    fn set_register(&mut self, index: usize, register: u32, value: u32, ctx: &mut Ctx) {
        match register {
            _ if index == 1 && !self.params.has_timer1 => {}
            TCSR => self.set_tcsr(index, value, ctx),
            TLR => self.timers[index].tlr = value & self.width_mask(),
            _ => {}
        }
        self.load();
    }

    fn set_tcsr(&mut self, index: usize, value: u32, ctx: &mut Ctx) {
        if value & (TCSR_GENT | TCSR_CAPT | TCSR_PWMA) != 0 {
            ctx.note("capture triggers, generate outputs and PWM are enabled, but the timer's pins are not modelled");
        }
        let was_cascaded = self.is_cascaded();
        let writable = if index == 0 { 0xfff } else { 0x7ff } & !TCSR_TINT;
        let flag = self.timers[index].tcsr & TCSR_TINT & !value;
        self.timers[index].tcsr = value & writable | flag;
        for timer in &mut self.timers {
            if value & TCSR_ENALL != 0 {
                timer.tcsr |= TCSR_ENALL | TCSR_ENT;
            } else {
                timer.tcsr &= !TCSR_ENALL;
            }
        }
        if self.is_cascaded() != was_cascaded {
            self.recouple(was_cascaded);
        }
    }

    /// Combines both counters' values into one, or splits them.
    fn recouple(&mut self, was_cascaded: bool) {
        let width_bits = self.params.width_bits;
        let low = self.timers[0].counter.value();
        if was_cascaded {
            self.timers[1].counter.set(low >> width_bits);
            self.timers[0].counter.set(low & u64::from(self.width_mask()));
        } else {
            let high = self.timers[1].counter.value();
            self.timers[0].counter.set(high << width_bits | low);
        }
        let cycle = self.timers[0].counter.cycle();
        self.timers[1].counter.stand_at(cycle);
    }

    /// LOAD copies the load register to the counter for as long as it is set; in cascade mode each LOAD its own half.
    fn load(&mut self) {
        let width_bits = self.params.width_bits;
        for index in 0..2 {
            let Timer { tcsr, tlr, .. } = self.timers[index];
            if tcsr & TCSR_LOAD == 0 {
                continue;
            }
            if self.is_cascaded() {
                let shift = width_bits * index as u32;
                let kept = self.timers[0].counter.value() & !(u64::from(self.width_mask()) << shift);
                self.timers[0].counter.set(kept | u64::from(tlr) << shift);
            } else {
                self.timers[index].counter.set(u64::from(tlr));
            }
        }
    }

    fn width_mask(&self) -> u32 {
        u32::MAX >> (32 - self.params.width_bits)
    }
}

/// Timer and register at `offset`; registers beyond the map belong to no timer and read 0.
const fn split(offset: u32) -> (usize, u32) {
    (((offset / STRIDE) & 1) as usize, if offset < 2 * STRIDE { (offset % STRIDE) & !3 } else { STRIDE })
}

impl Device for XpsTimer {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.settle(ctx.now);
        self.update(ctx);
        let (index, register) = split(offset);
        self.moving_accesses += u64::from(register == TCR);
        Ok(self.params.port.read(self.register(index, register), offset, size, ctx.now))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.settle(ctx.now);
        let (index, register) = split(offset);
        self.moving_accesses += 1;
        self.set_register(index, register, on_lanes(value, offset, size), ctx);
        self.update(ctx);
        Ok(self.params.port.written(ctx.now))
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.settle(ctx.now);
        self.update(ctx);
    }
}

impl Polled for XpsTimer {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        // With another clock, each iteration's accesses would wait for other edges.
        if poll.clock() != self.params.port.clock {
            return false;
        }
        self.settle(poll.now());
        poll.state(self.moving_accesses);
        for timer in &self.timers {
            poll.state(timer.tcsr);
            poll.state(timer.tlr);
        }
        // Counters run by themselves: their flags are set at fixed times.
        for index in self.counters() {
            let rollover = self.timers[index].counter.rollover_cycle(&self.setting(index));
            if let Some(due) = rollover.and_then(|cycle| edge_in_reach(self.params.port.clock, cycle)) {
                poll.until(due);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests;
