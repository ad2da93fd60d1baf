//! `atmel,at91sam9260-pit`: Periodic Interval Timer (SAM9N12 datasheet 11063K, section 16; the same in SAMA5D2).
//!
//! Modelled: all registers. CPIV counts every 16 clocks from 0 to PIV and restarts at 0, which sets PITS and increments
//! PICNT; reading PIVR clears both. Setting PITEN starts the prescaler. Clearing PITEN stops the counter at its next 0;
//! with a PIV below the count, CPIV first wraps at 20 bits. CPIV is a function of time; there is an event only for an
//! overflow that raises the interrupt.
//!
//! Not modelled: the stop in debug state.

use crate::model::{Group, Model};
use crate::support::activities::{COUNTING, TIMER};
use crate::support::apb;
use crate::support::axi_lite::edge_in_reach;
use crate::support::registers::{AccessKind, Register, flag};
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::{Fresh, State};
use engine::time::Ps;

/// The register map (Periodic Interval Timer User Interface).
pub const REGISTERS: &[Register] = &[
    Register::new("PIT_MR", MR, AccessKind::Rw, MR_PIV, MR_PIV | MR_PITEN | MR_PITIEN),
    Register::new("PIT_SR", SR, AccessKind::Ro, 0, SR_PITS),
    Register::new("PIT_PIVR", PIVR, AccessKind::Ro, 0, u32::MAX),
    Register::new("PIT_PIIR", PIIR, AccessKind::Ro, 0, u32::MAX),
];

const MR: u32 = 0x0;
const SR: u32 = 0x4;
const PIVR: u32 = 0x8;
const PIIR: u32 = 0xc;

const MR_PIV: u32 = 0xf_ffff;
const MR_PITEN: u32 = 1 << 24;
const MR_PITIEN: u32 = 1 << 25;
const SR_PITS: u32 = 1 << 0;

/// Clocks of a count.
const PRESCALER: u64 = 16;
/// Counts until CPIV, which has 20 bits, wraps to 0.
const WRAP: u64 = 1 << 20;
const PICNT_MASK: u32 = 0xfff;

/// A period of CPIV.
#[derive(Clone, Copy, Debug, State, Fresh)]
struct Lap {
    /// The cycle in which CPIV became 0.
    start_cycle: u64,
    /// Counts until it is 0 again.
    counts: u64,
    /// True if the period comes from PIV, so that its end sets PITS and increments PICNT.
    overflows: bool,
}

impl Lap {
    fn of(start_cycle: u64, mode: u32) -> Lap {
        Lap { start_cycle, counts: u64::from(mode & MR_PIV) + 1, overflows: true }
    }

    fn end_cycle(self) -> u64 {
        self.start_cycle.wrapping_add(self.counts * PRESCALER)
    }
}

/// The device.
#[derive(Debug, State)]
pub struct Pit {
    clock: ClockInput,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    mode: u32,
    lap: Option<Lap>,
    picnt: u32,
    pits: bool,
    alarm: Alarm,
    /// Reads of PIVR and PIIR so far: a loop with a read of them is in another state each iteration.
    counter_reads: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["atmel,at91sam9260-pit"], 1, from_node).with_activities(TIMER).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Pit::new(
        reader.clock_input(0, "the master clock, which is divided by 16 and counted"),
        reader.interrupt(0, "its interrupt"),
    ))
}

impl Pit {
    /// The device after reset.
    pub fn new(clock: impl Into<ClockInput>, interrupt: Option<IrqLine>) -> Pit {
        Pit {
            clock: clock.into(),
            interrupt,
            mode: MR_PIV,
            lap: None,
            picnt: 0,
            pits: false,
            alarm: Alarm::default(),
            counter_reads: 0,
        }
    }

    fn cycle(&self, now: Ps) -> u64 {
        self.clock.rate.cycles_until_floor(now).0
    }

    /// Brings the counters up to `cycle`.
    fn settle(&mut self, cycle: u64) {
        while let Some(lap) = self.lap
            && lap.end_cycle() <= cycle
        {
            let next = Lap::of(lap.end_cycle(), self.mode);
            // All equal periods except the last are skipped at once.
            let after = (cycle - lap.end_cycle()) / (next.counts * PRESCALER) * u64::from(self.mode & MR_PITEN != 0);
            if lap.overflows || after > 0 {
                self.pits = true;
                self.picnt = self.picnt.wrapping_add(after as u32 + u32::from(lap.overflows)) & PICNT_MASK;
            }
            let start_cycle = next.start_cycle + after * next.counts * PRESCALER;
            self.lap = (self.mode & MR_PITEN != 0).then_some(Lap { start_cycle, ..next });
        }
    }

    fn cpiv(&self, cycle: u64) -> u32 {
        self.lap.map_or(0, |lap| (cycle.wrapping_sub(lap.start_cycle) / PRESCALER) as u32)
    }

    fn set_mode(&mut self, value: u32, cycle: u64) {
        self.mode = value & (MR_PIV | MR_PITEN | MR_PITIEN);
        let cpiv = u64::from(self.cpiv(cycle));
        match &mut self.lap {
            None => self.lap = (self.mode & MR_PITEN != 0).then(|| Lap::of(cycle, self.mode)),
            Some(lap) => {
                let wanted = u64::from(self.mode & MR_PIV) + 1;
                lap.overflows = cpiv < wanted;
                lap.counts = if lap.overflows { wanted } else { WRAP };
            }
        }
    }

    /// Updates the interrupt line, and requests an event for its next rise.
    fn update(&mut self, ctx: &mut Ctx) {
        let enabled = self.mode & MR_PITIEN != 0;
        ctx.set_irq(self.interrupt, enabled && self.pits);
        let lap = self.lap.filter(|_| enabled && !self.pits);
        let due = lap.and_then(|lap| edge_in_reach(self.clock.rate, lap.end_cycle()));
        ctx.awaits(&COUNTING, due, Detail::None);
        if let Some(due) = due {
            self.alarm.set(due, 0, ctx);
        }
    }
}

impl Device for Pit {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let cycle = self.cycle(ctx.now);
        self.settle(cycle);
        let value = self.picnt << 20 | self.cpiv(cycle);
        let register = match offset & !3 {
            MR => self.mode,
            SR => flag(SR_PITS, self.pits),
            PIVR => {
                (self.picnt, self.pits) = (0, false);
                value
            }
            PIIR => value,
            _ => 0,
        };
        self.counter_reads += u64::from(matches!(offset & !3, PIVR | PIIR));
        self.update(ctx);
        Ok(apb::read(register, offset, size, ctx))
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
        if let (MR, value) = apb::written(value, offset, size) {
            self.set_mode(value, cycle);
        }
        self.update(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.settle(self.cycle(ctx.now));
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        let from = self.cycle(ctx.now);
        self.settle(from);
        ctx.bus.clocks.update(&mut self.clock);
        let to = self.cycle(ctx.now);
        if let Some(lap) = &mut self.lap {
            // It may have begun before cycle 0 of the new clock.
            lap.start_cycle = lap.start_cycle.wrapping_sub(from).wrapping_add(to);
        }
        self.alarm.cancel(0, ctx);
        self.update(ctx);
    }
}

impl Polled for Pit {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.clock.rate);
        self.settle(self.cycle(poll.now()));
        poll.state(self.counter_reads);
        poll.state(self.mode);
        poll.state(self.picnt);
        poll.state(self.pits);
        poll.state(self.lap.map_or(u64::MAX, |lap| lap.start_cycle));
        if let Some(end) = self.lap.and_then(|lap| edge_in_reach(self.clock.rate, lap.end_cycle())) {
            poll.until(end);
        }
        true
    }
}

#[cfg(test)]
mod tests;
