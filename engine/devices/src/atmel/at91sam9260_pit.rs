//! `atmel,at91sam9260-pit`: Periodic Interval Timer (SAM9N12 datasheet 11063K, section 16; the same in SAMA5D2).
//!
//! Modelled: all registers. CPIV counts every 16 clocks from 0 to PIV and restarts at 0, which sets PITS and increments
//! PICNT; reading PIVR clears both. Setting PITEN starts the prescaler. Clearing PITEN stops the counter at its next 0;
//! with a PIV below the count, CPIV first wraps at 20 bits. CPIV is a function of time; there is an event only for an
//! overflow that raises the interrupt.
//!
//! Not modelled: the stop in debug state.

use crate::prelude::*;
use crate::support::activities::{COUNTING, TIMER};
use crate::support::axi_lite::edge_in_reach;

registers! {
    /// The register map (Periodic Interval Timer User Interface).
    const MAP "PIT_" {
        MR 0x0 rw reset MR_PIV { PIV 0..20, PITEN 24, PITIEN 25 };
        SR 0x4 ro { PITS 0 };
        PIVR 0x8 ro volatile { CPIV 0..20, PICNT 20..32 };
        PIIR 0xc ro volatile { CPIV 0..20, PICNT 20..32 };
    }
}

/// Clocks of a count.
const PRESCALER: u64 = 16;
/// Counts until CPIV, which has 20 bits, wraps to 0.
const WRAP: u64 = 1 << 20;
const PICNT_MASK: u32 = 0xfff;

/// A period of CPIV.
#[derive(Clone, Copy, Debug, State, Fresh, Polled)]
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
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
#[poll(first = Pit::look)]
pub struct Pit {
    #[poll(phase)]
    clock: ClockInput,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    registers: Registers,
    lap: Option<Lap>,
    picnt: u32,
    alarm: Alarm,
    /// Reads of PIVR and PIIR so far: a loop with a read of them is in another state each iteration.
    counter_reads: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["atmel,at91sam9260-pit"], 1, from_node).with_activities(TIMER).naming(MAP.rows);

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
        let (registers, alarm) = (Registers::new(&MAP), Alarm::default());
        Pit { clock: clock.into(), interrupt, registers, lap: None, picnt: 0, alarm, counter_reads: 0 }
    }

    fn runs(&self) -> bool {
        self.registers.has(MR, MR_PITEN)
    }

    fn cycle(&self, now: Ps) -> u64 {
        self.clock.rate.cycles_until_floor(now).0
    }

    /// Brings the counters up to `cycle`.
    fn pass_to(&mut self, cycle: u64) {
        while let Some(lap) = self.lap
            && lap.end_cycle() <= cycle
        {
            let next = Lap::of(lap.end_cycle(), self.registers[MR]);
            // All equal periods except the last are skipped at once.
            let after = (cycle - lap.end_cycle()) / (next.counts * PRESCALER) * u64::from(self.runs());
            if lap.overflows || after > 0 {
                self.registers.put(SR, SR_PITS, true);
                self.picnt = self.picnt.wrapping_add(after as u32 + u32::from(lap.overflows)) & PICNT_MASK;
            }
            let start_cycle = next.start_cycle + after * next.counts * PRESCALER;
            self.lap = self.runs().then_some(Lap { start_cycle, ..next });
        }
    }

    fn cpiv(&self, cycle: u64) -> u32 {
        self.lap.map_or(0, |lap| (cycle.wrapping_sub(lap.start_cycle) / PRESCALER) as u32)
    }

    /// PIT_MR has been written.
    fn mode_changed(&mut self, cycle: u64) {
        let (mode, cpiv) = (self.registers[MR], u64::from(self.cpiv(cycle)));
        match &mut self.lap {
            None => self.lap = self.runs().then(|| Lap::of(cycle, mode)),
            Some(lap) => {
                let wanted = u64::from(mode & MR_PIV) + 1;
                lap.overflows = cpiv < wanted;
                lap.counts = if lap.overflows { wanted } else { WRAP };
            }
        }
    }

    /// The next overflow is a deadline.
    fn look(&mut self, poll: &mut Poll) -> bool {
        self.pass_to(self.cycle(poll.now()));
        if let Some(end) = self.lap.and_then(|lap| edge_in_reach(self.clock.rate, lap.end_cycle())) {
            poll.until(end);
        }
        true
    }
}

impl Table for Pit {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.pass_to(self.cycle(ctx.now));
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        if !matches!(register, PIVR | PIIR) {
            return held;
        }
        self.counter_reads += 1;
        let value = self.picnt << 20 | self.cpiv(self.cycle(ctx.now));
        if register == PIVR {
            self.picnt = 0;
            self.registers.put(SR, SR_PITS, false);
        }
        value
    }

    fn was_read(&mut self, _register: u32, ctx: &mut Ctx) {
        self.update(ctx);
    }

    fn wrote(&mut self, register: u32, _old: u32, _new: u32, ctx: &mut Ctx) {
        if register == MR {
            self.mode_changed(self.cycle(ctx.now));
        }
    }

    /// Updates the interrupt line, and requests an event for its next rise.
    fn update(&mut self, ctx: &mut Ctx) {
        let (enabled, pits) = (self.registers.has(MR, MR_PITIEN), self.registers.has(SR, SR_PITS));
        ctx.set_irq(self.interrupt, enabled && pits);
        let lap = self.lap.filter(|_| enabled && !pits);
        let due = lap.and_then(|lap| edge_in_reach(self.clock.rate, lap.end_cycle()));
        ctx.awaits(&COUNTING, due, Detail::None);
        if let Some(due) = due {
            self.alarm.set(due, 0, ctx);
        }
    }
}

impl Device for Pit {
    by_table!();

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.settle(ctx);
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        let from = self.cycle(ctx.now);
        self.pass_to(from);
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

#[cfg(test)]
mod tests;
