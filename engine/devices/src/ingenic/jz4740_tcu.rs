//! `ingenic,jz4740-tcu`: the JZ4740's Timer/Counter Unit of eight 16-bit channels, and the watchdog at its start
//! (Linux's ingenic-tcu.rst, its TCU and watchdog drivers; U-Boot's asm/jz4740.h for names).
//!
//! Modelled: all registers; each channel counts PCLK, RTCCLK or EXTAL, divided by 1 to 1024, from 0 to
//! TDFR and again from 0, while it is enabled (TER) and not stopped (TSR). When it reaches TDFR and TDHR it sets its
//! flags in TFR; flags that TMR does not mask raise an interrupt: channel 0 and channel 1 on a line each, the others on
//! a third. A watchdog that reaches TDR resets the board: the run ends, with exit status 1 and a note.
//!
//! A period of TDFR + 1 ticks follows from Linux: its clock source runs with TDFR of 0xffff, and is used as one of 16
//! bits. Dividers run freely from reset. Registers read 0 before they are written; this is not documented.
//!
//! A channel is a function of time; there is an event only for a flag that raises an interrupt.
//!
//! Not modelled: PWM outputs (TCSR's upper bits keep their value), and the clock gate of the whole unit in the CGU.

use crate::prelude::*;
use crate::support::activities::TIMER;
use crate::support::board_reset::reset_board;
use crate::support::counter::{Counter, Range, Ticks};
use crate::support::timer_interrupt::TimerInterrupt;
use clocks::Clocks;

mod clocks;

registers! {
    /// The watchdog's registers, those of all channels, and the first channel's.
    const MAP "" {
        WDT_TDR 0x00 rw mask 0xffff;
        WDT_TCER 0x04 rw { TCEN 0 };
        WDT_TCNT 0x08 rw volatile mask 0xffff;
        WDT_TCSR 0x0c rw mask 0x3f;
        TER 0x10 ro mask CHANNEL_BITS;
        TESR 0x14 wo mask CHANNEL_BITS;
        TECR 0x18 clear TER mask CHANNEL_BITS;
        TSR 0x1c ro mask 1 << 16 | CHANNEL_BITS { WDTS 16 };
        TFR 0x20 ro mask FLAG_BITS;
        TFSR 0x24 set TFR mask FLAG_BITS;
        TFCR 0x28 clear TFR mask FLAG_BITS;
        TSSR 0x2c set TSR mask 1 << 16 | CHANNEL_BITS;
        TMR 0x30 ro mask FLAG_BITS;
        TMSR 0x34 set TMR mask FLAG_BITS;
        TMCR 0x38 clear TMR mask FLAG_BITS;
        TSCR 0x3c clear TSR mask 1 << 16 | CHANNEL_BITS;
        TDFR "TDFR0" 0x40 rw mask 0xffff;
        TDHR "TDHR0" 0x44 rw mask 0xffff;
        TCNT "TCNT0" 0x48 rw volatile mask 0xffff;
        /// PWM settings, prescaler, and the three enables of clocks.
        TCSR "TCSR0" 0x4c rw mask 0x3bf;
    }

    /// The other channels' registers.
    const FURTHER "" {
        TDFR1 "TDFR{}" [1..8; STRIDE] TDFR + STRIDE rw mask 0xffff;
        TDHR1 "TDHR{}" [1..8; STRIDE] TDHR + STRIDE rw mask 0xffff;
        TCNT1 "TCNT{}" [1..8; STRIDE] TCNT + STRIDE rw volatile mask 0xffff;
        TCSR1 "TCSR{}" [1..8; STRIDE] TCSR + STRIDE rw mask 0x3bf;
    }
}

/// The register map.
const ALL: Map = joined!(MAP, FURTHER);

/// From a register of a channel to the next channel's.
const STRIDE: u32 = 0x10;
const CHANNELS: usize = 8;
/// The watchdog's counter, after those of the channels.
const WATCHDOG: usize = CHANNELS;
const COUNTERS: usize = CHANNELS + 1;

const CHANNEL_BITS: u32 = 0xff;
/// FFLAG of channel n is bit n, HFLAG bit 16 + n; so are their masks.
const FLAG_BITS: u32 = CHANNEL_BITS << HALF | CHANNEL_BITS;
const HALF: u32 = 16;
/// The largest value of a counter; the watchdog counts to it.
const MOST: u64 = 0xffff;
const FREE: Range = Range::up(MOST, MOST);

/// Interrupt lines.
const LINES: usize = 3;

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
#[poll(first = Tcu::list_deadlines)]
pub struct Tcu {
    clocks: Clocks,
    lines: [Option<IrqLine>; LINES],
    registers: Registers,
    #[poll(skip = "they count by themselves: an access to one is counted below, and their flags are listed")]
    counters: [Counter; COUNTERS],
    /// True if the watchdog has reached TDR.
    has_run_out: bool,
    /// The event of the next rise of a line, or of the watchdog's reset.
    next: TimerInterrupt,
    /// Writes, and reads of a counter, so far: a loop with such an access is in another state each iteration.
    moving_accesses: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["ingenic,jz4740-tcu"], 1, from_node).with_activities(TIMER).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clocks = Clocks {
        rtc: reader.clock(0, "RTCCLK"),
        ext: reader.clock(1, "EXTAL"),
        pclk: reader.clock_input(2, "PCLK, that of its bus"),
    };
    reader.known(&["clock-names", "ranges"]);
    let lines = [
        reader.interrupt(0, "TCU0, channel 0"),
        reader.interrupt(1, "TCU1, channel 1"),
        reader.interrupt(2, "TCU2, the other channels"),
    ];
    Box::new(Tcu::new(clocks, lines))
}

impl Tcu {
    /// The device after reset; its lines are TCU0, TCU1 and TCU2.
    pub fn new(clocks: Clocks, lines: [Option<IrqLine>; LINES]) -> Tcu {
        Tcu {
            clocks,
            lines,
            registers: Registers::new(&ALL),
            counters: Default::default(),
            has_run_out: false,
            next: TimerInterrupt::default(),
            moving_accesses: 0,
        }
    }

    /// A register of channel number `index`.
    fn of(&self, index: usize, register: u32) -> u32 {
        self.registers[register + STRIDE * index as u32]
    }

    /// A channel counts from 0 to TDFR.
    fn range(&self, index: usize) -> Range {
        Range::up(self.of(index, TDFR).into(), MOST)
    }

    /// The clock of a counter; `None` while it is disabled or stopped.
    fn ticks(&self, index: usize) -> Option<Ticks> {
        let (counts, control) = match index {
            WATCHDOG => (self.registers.has(WDT_TCER, WDT_TCER_TCEN) && !self.registers.has(TSR, TSR_WDTS), WDT_TCSR),
            _ => (self.registers[TER] & !self.registers[TSR] & 1 << index != 0, TCSR + STRIDE * index as u32),
        };
        if counts { self.clocks.ticks(self.registers[control]) } else { None }
    }

    /// The tick at which the watchdog resets the board: the next one if it is at TDR already, which Linux uses for a
    /// restart.
    fn reset_tick(&self) -> Option<u64> {
        let (watchdog, data) = (self.counters[WATCHDOG], self.registers[WDT_TDR].into());
        if watchdog.value == data { Some(watchdog.tick + 1) } else { watchdog.tick_of(data, FREE) }
    }

    /// The next ticks at which a channel sets its flags, full and half.
    fn flag_ticks(&self, index: usize) -> [(u32, Option<u64>); 2] {
        [(1 << index, TDFR), (1 << HALF << index, TDHR)]
            .map(|(bit, target)| (bit, self.counters[index].tick_of(self.of(index, target).into(), self.range(index))))
    }

    /// Counting continues from `now` with the present settings.
    fn stand_at(&mut self, now: Ps) {
        for index in 0..COUNTERS {
            self.counters[index].tick = self.ticks(index).map_or(0, |ticks| ticks.at(now));
        }
    }

    /// The time at which channel number `index` next sets one of its flags of `wanted` that is not set.
    fn flag_time(&self, index: usize, wanted: u32) -> Option<Ps> {
        let ticks = self.ticks(index)?;
        let missing = wanted & !self.registers[TFR];
        let next = self.flag_ticks(index).into_iter().filter(|(bit, _)| missing & bit != 0).filter_map(|(_, at)| at);
        ticks.seen_at(next.min()?, self.clocks.pclk.rate)
    }

    /// The time at which the watchdog resets the board.
    fn reset_time(&self) -> Option<Ps> {
        self.ticks(WATCHDOG)?.seen_at(self.reset_tick()?, self.clocks.pclk.rate)
    }

    /// The counter whose value a register is.
    fn counter(&mut self, register: u32) -> Option<&mut Counter> {
        let distance = register.checked_sub(TCNT).filter(|distance| distance % STRIDE == 0);
        let channel = distance.map(|distance| (distance / STRIDE) as usize).filter(|index| *index < CHANNELS);
        self.counters.get_mut(if register == WDT_TCNT { WATCHDOG } else { channel? })
    }

    /// Counters run by themselves: their changes of the flags come at fixed times.
    fn list_deadlines(&mut self, poll: &mut Poll) -> bool {
        self.pass_to(poll.now());
        let flags = (0..CHANNELS).filter_map(|index| self.flag_time(index, FLAG_BITS));
        flags.chain(self.reset_time()).for_each(|due| poll.until(due));
        true
    }

    /// Notes channels and a watchdog that have just been enabled and do not count.
    fn note_stopped(&self, register: u32, value: u32, ctx: &mut Ctx) {
        let channels = if register == TESR { value } else { 0 };
        for index in (0..CHANNELS).filter(|index| channels >> index & 1 != 0 && self.ticks(*index).is_none()) {
            let (why, register) = match self.registers[TSR] >> index & 1 {
                0 => ("no one clock, or a reserved prescaler, is selected in", "TCSR"),
                _ => ("its clock is stopped in", "TSR"),
            };
            ctx.note(&format!("channel {index} is enabled, but stands: {why} {register}"));
        }
        if register == WDT_TCER && value & WDT_TCER_TCEN != 0 && self.ticks(WATCHDOG).is_none() {
            ctx.note("the watchdog is enabled, but stands: TCSR selects no one clock for it, or TSR.WDTS stops it");
        }
    }
}

/// Channels that share an interrupt line.
fn channels_of(line: usize) -> std::ops::Range<usize> {
    match line {
        0 | 1 => line..line + 1,
        _ => 2..CHANNELS,
    }
}

impl Table for Tcu {
    const UPDATES_AFTER_READS: bool = true;

    /// Brings all counters up to `now`.
    fn pass_to(&mut self, now: Ps) {
        for index in 0..CHANNELS {
            if let Some(tick) = self.ticks(index).map(|ticks| ticks.at(now)) {
                for (bit, at) in self.flag_ticks(index) {
                    self.registers.put(TFR, flag(bit, at.is_some_and(|at| at <= tick)), true);
                }
                let range = self.range(index);
                self.counters[index].settle(tick, range);
            }
        }
        if let Some(tick) = self.ticks(WATCHDOG).map(|ticks| ticks.at(now)) {
            self.has_run_out |= self.reset_tick().is_some_and(|at| at <= tick);
            self.counters[WATCHDOG].settle(tick, FREE);
        }
    }

    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        let Some(value) = self.counter(register).map(|counter| counter.value) else { return held };
        self.moving_accesses += 1;
        value as u32
    }

    fn wrote(&mut self, register: u32, _: u32, new: u32, ctx: &mut Ctx) {
        self.moving_accesses += 1;
        if let Some(counter) = self.counter(register) {
            counter.value = new.into();
        } else if register == TESR {
            self.registers.put(TER, new, true);
        }
        self.stand_at(ctx.now);
        self.note_stopped(register, new, ctx);
    }

    /// Updates the interrupt lines, and requests an event for the next rise, or for the watchdog's reset.
    fn update(&mut self, ctx: &mut Ctx) {
        let (masked, mut due) = (self.registers[TMR], self.reset_time());
        for line in 0..LINES {
            let channels = channels_of(line);
            let bits = channels.clone().fold(0, |bits, index| bits | (1 << HALF | 1) << index);
            let raised = self.registers[TFR] & !masked & bits != 0;
            ctx.set_irq(self.lines[line], raised);
            if !raised {
                let next = channels.filter_map(|index| self.flag_time(index, !masked)).min();
                due = due.into_iter().chain(next).min();
            }
        }
        self.next.expect(due, ctx);
    }
}

impl Device for Tcu {
    by_table!();

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.next.rang(ctx.now);
        self.pass_to(ctx.now);
        if self.has_run_out {
            reset_board(
                "the watchdog came to TDR and resets the board: the run ends (clear WDT_TCNT in time, or WDT_TCER)",
                ctx,
            );
        }
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
        ctx.bus.clocks.update(&mut self.clocks.pclk);
        self.stand_at(ctx.now);
        self.next.cancel(ctx);
        self.update(ctx);
    }
}

#[cfg(test)]
mod tests;
