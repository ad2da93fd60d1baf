//! `atmel,sama5d2-tcb` and `atmel,at91sam9x5-tcb`: Timer Counter block of three 32-bit channels (SAMA5D2 datasheet
//! DS60001476, section TC), with SAMA5D2's clocks: TIMER_CLOCK2 to 4 are the peripheral clock divided by 8, 32 and 128,
//! TIMER_CLOCK5 is the slow clock; EMR.NODIVCLK selects the peripheral clock itself.
//!
//! Modelled: capture mode without signals on the pins, waveform mode with its four ways to count, compares with RA, RB
//! and RC, stop and disable by RC, software triggers and SYNC, status and interrupts (one line for the block), write
//! protection. A channel ([`channel`]) is a function of time; there is an event only for a flag that raises the
//! interrupt. Dividers run freely from reset, so a trigger counts from the next edge of the channel's clock.
//!
//! Not modelled: pins (TIOA, TIOB, TCLK), the quadrature decoder, Gray and down counting, TIMER_CLOCK1, which is a
//! clock that the PMC generates. A channel that uses one of them is stopped, with a note.

use crate::prelude::*;
use crate::support::activities::TIMER;
use crate::support::counter::Ticks;
use crate::support::timer_interrupt::TimerInterrupt;
use crate::support::write_protection;
use channel::{Channel, Mode};

mod channel;

registers! {
    /// The register map (Timer Counter User Interface): those of the channels, and those of the block.
    const MAP "TC_" {
        CCR [0..3; STRIDE] 0x00 wo { CLKEN 0, CLKDIS 1, SWTRG 2 };
        /// CPCSTOP, CPCDIS: in waveform mode, RC stops the counter, or disables its clock. WAVSEL: up and down with the
        /// lower bit; with the upper one, a turn (or reset) at RC, which is CPCTRG of capture mode.
        CMR [0..3; STRIDE] 0x04 rw locked_by WPMR_WPEN in WPMR mask u32::MAX {
            TCCLKS 0..3, CPCSTOP 6, CPCDIS 7, UPDOWN 13, CPCTRG 14, WAVE 15
        };
        SMMR [0..3; STRIDE] 0x08 rw locked_by WPMR_WPEN in WPMR mask 3;
        RAB [0..3; STRIDE] 0x0c ro volatile;
        CV [0..3; STRIDE] 0x10 ro volatile;
        RA [0..3; STRIDE] 0x14 rw locked_by WPMR_WPEN in WPMR;
        RB [0..3; STRIDE] 0x18 rw locked_by WPMR_WPEN in WPMR;
        RC [0..3; STRIDE] 0x1c rw locked_by WPMR_WPEN in WPMR;
        /// CLKSTA: the clock is enabled.
        SR [0..3; STRIDE] 0x20 ro volatile mask FLAGS | SR_CLKSTA { COVFS 0, CPAS 2, CPBS 3, CPCS 4, CLKSTA 16 };
        IER [0..3; STRIDE] 0x24 set IMR mask FLAGS;
        IDR [0..3; STRIDE] 0x28 clear IMR mask FLAGS;
        IMR [0..3; STRIDE] 0x2c ro mask FLAGS;
        EMR [0..3; STRIDE] 0x30 rw locked_by WPMR_WPEN in WPMR { TRIGSRCA 0..2, TRIGSRCB 4..6, NODIVCLK 8 };
        BCR 0xc0 wo { SYNC 0 };
        BMR 0xc4 rw locked_by WPMR_WPEN in WPMR mask 0x3ff7_ff3f { QDEN 8 };
        QIER 0xc8 set QIMR mask 7;
        QIDR 0xcc clear QIMR mask 7;
        QIMR 0xd0 ro mask 7;
        QISR 0xd4 ro mask 0x10f;
        FMR 0xd8 rw locked_by WPMR_WPEN in WPMR mask 3;
        WPMR 0xe4 rw keyed WPKEY in 0xffff_ff00 { WPEN 0 };
    }
}

/// TC_WPMR.WPKEY: "TIM".
const WPKEY: u32 = 0x54_494d;
/// From a register of a channel to the next channel's.
const STRIDE: u32 = 0x40;
const CHANNELS: usize = 3;
/// Flags of TC_SR that raise interrupts.
const FLAGS: u32 = 0xff;

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
#[poll(first = Tcb::look)]
pub struct Tcb {
    #[poll(phase)]
    clock: ClockInput,
    #[state(skip)]
    slow_clock: Hz,
    interrupt: TimerInterrupt,
    registers: Registers,
    channels: [Channel; CHANNELS],
    /// Commands, and reads of a counter, so far: a loop with such an access is in another state each iteration.
    moving_accesses: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Timer, &["atmel,at91sam9x5-tcb", "atmel,sama5d2-tcb"], 1, from_node)
    .with_activities(TIMER)
    .naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "the peripheral clock");
    let slow_clock = reader.clock(1, "the slow clock, TIMER_CLOCK5");
    reader.known(&["clock-names"]);
    Box::new(Tcb::new(clock, slow_clock, reader.interrupt(0, "its interrupt")))
}

impl Tcb {
    /// The device after reset.
    pub fn new(clock: impl Into<ClockInput>, slow_clock: Hz, interrupt: Option<IrqLine>) -> Tcb {
        let (registers, channels, interrupt) =
            (Registers::new(&MAP), Default::default(), TimerInterrupt::new(interrupt));
        Tcb { clock: clock.into(), slow_clock, interrupt, registers, channels, moving_accesses: 0 }
    }

    fn mode(&self, index: usize) -> Mode {
        let [cmr, ra, rb, rc] = [CMR, RA, RB, RC].map(|register| self.registers[at(register, index)]);
        Mode { cmr, ra, rb, rc }
    }

    /// The clock of a channel; `None` for one that has no edges in the model.
    fn ticks(&self, index: usize) -> Option<Ticks> {
        Some(match self.registers.field(at(CMR, index), CMR_TCCLKS) {
            _ if self.registers.has(at(EMR, index), EMR_NODIVCLK) => Ticks::of(self.clock.rate, 1),
            1 => Ticks::of(self.clock.rate, 8),
            2 => Ticks::of(self.clock.rate, 32),
            3 => Ticks::of(self.clock.rate, 128),
            4 => Ticks::of(self.slow_clock, 1),
            _ => return None,
        })
    }

    /// The number of the last edge of a channel's clock.
    fn tick(&self, index: usize, now: Ps) -> u64 {
        self.ticks(index).map_or(0, |ticks| ticks.at(now))
    }

    /// The time at which a channel first sets one of `flags` that is not set.
    fn flag_time(&self, index: usize, flags: u32) -> Option<Ps> {
        let tick = self.channels[index].tick_of(flags, self.mode(index))?;
        self.ticks(index)?.seen_at(tick, self.clock.rate)
    }

    /// A channel's clock may be another one from now on.
    fn source_changed(&mut self, index: usize, now: Ps) {
        self.channels[index].tick = self.tick(index, now);
    }

    fn wrote_block(&mut self, register: u32, value: u32, ctx: &mut Ctx) {
        match register {
            BCR if value & BCR_SYNC != 0 => (0..CHANNELS).for_each(|index| self.command(index, CCR_SWTRG, ctx)),
            BMR if value & BMR_QDEN != 0 => {
                ctx.note("the quadrature decoder is enabled (TC_BMR.QDEN), which is not modelled");
            }
            _ => {}
        }
    }

    fn command(&mut self, index: usize, value: u32, ctx: &mut Ctx) {
        self.moving_accesses += 1;
        if value & CCR_CLKDIS != 0 {
            self.channels[index].disable();
        } else if value & CCR_CLKEN != 0 {
            self.channels[index].enabled = true;
        }
        if value & CCR_SWTRG != 0 && self.channels[index].enabled {
            self.channels[index].trigger();
            if self.ticks(index).is_none() {
                ctx.note(
                    "a channel is to count TIMER_CLOCK1 (GCLK) or a pin (TC_CMR.TCCLKS), which are not modelled: it \
                     stands",
                );
            }
            if self.registers[at(SMMR, index)] != 0 {
                ctx.note("Gray and down counting (TC_SMMR) are not modelled: the counter counts up");
            }
        }
    }

    /// Counters run by themselves: their changes of the status come at fixed times.
    fn look(&mut self, poll: &mut Poll) -> bool {
        self.pass_to(poll.now());
        (0..CHANNELS).filter_map(|index| self.flag_time(index, FLAGS)).for_each(|due| poll.until(due));
        true
    }
}

/// A register of a channel.
const fn at(register: u32, channel: usize) -> u32 {
    register + channel as u32 * STRIDE
}

impl Table for Tcb {
    const UPDATES_AFTER_READS: bool = true;

    /// Brings the channels up to `now`.
    fn pass_to(&mut self, now: Ps) {
        for index in 0..CHANNELS {
            let (tick, mode) = (self.tick(index, now), self.mode(index));
            self.channels[index].settle(tick, mode);
        }
    }

    fn shown(&mut self, offset: u32, held: u32, _ctx: &mut Ctx) -> u32 {
        let index = (offset / STRIDE) as usize;
        match offset % STRIDE {
            _ if index >= CHANNELS => held,
            RAB => self.registers[at(RA, index)],
            CV => {
                self.moving_accesses += 1;
                self.channels[index].value
            }
            SR => self.channels[index].take_status(),
            _ => held,
        }
    }

    fn wrote(&mut self, offset: u32, old: u32, new: u32, ctx: &mut Ctx) {
        let index = (offset / STRIDE) as usize;
        match offset % STRIDE {
            _ if index >= CHANNELS => self.wrote_block(offset, new, ctx),
            CCR => self.command(index, new, ctx),
            CMR | EMR => self.source_changed(index, ctx.now),
            RA | RB if !self.mode(index).is_waveform() => self.registers.set(offset, old),
            _ => {}
        }
    }

    fn refused(&mut self, register: u32, why: Refused, ctx: &mut Ctx) {
        write_protection::refused(&mut self.registers, register, why, ctx);
    }

    /// Updates the interrupt line, and requests an event for its next rise.
    fn update(&mut self, ctx: &mut Ctx) {
        let raised = (0..CHANNELS).any(|index| self.channels[index].flags & self.registers[at(IMR, index)] != 0);
        let dues = (0..CHANNELS).filter_map(|index| self.flag_time(index, self.registers[at(IMR, index)]));
        self.interrupt.drive(raised, dues.min(), ctx);
    }
}

impl Device for Tcb {
    by_table!(interrupt);

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        ctx.bus.clocks.update(&mut self.clock);
        (0..CHANNELS).for_each(|index| self.source_changed(index, ctx.now));
        self.interrupt.cancel(ctx);
        self.update(ctx);
    }
}

#[cfg(test)]
mod tests;
