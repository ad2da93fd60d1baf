//! `ingenic,jz4740-tcu`: the JZ4740's Timer/Counter Unit of eight 16-bit channels, and the watchdog at its start
//! (Linux's ingenic-tcu.rst, its TCU and watchdog drivers; U-Boot's asm/jz4740.h for names).
//!
//! Modelled: all registers; each channel ([`channel`]) counts PCLK, RTCCLK or EXTAL, divided by 1 to 1024, from 0 to
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

use crate::model::{Group, Model};
use crate::support::activities::{COUNTING, TIMER};
use crate::support::apb;
use crate::support::registers::{AccessKind, Register, flag};
use channel::Channel;
use clocks::{Clocks, Source};
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::Ps;
use watchdog::Watchdog;

mod channel;
mod clocks;
mod watchdog;

/// The register map: the watchdog's registers, those of all channels, and the first channel's. The other channels'
/// registers follow at steps of 0x10.
pub const REGISTERS: &[Register] = &[
    Register::new("WDT_TDR", watchdog::TDR, AccessKind::Rw, 0, 0xffff),
    Register::new("WDT_TCER", watchdog::TCER, AccessKind::Rw, 0, 1),
    Register::new("WDT_TCNT", watchdog::TCNT, AccessKind::Rw, 0, 0xffff),
    Register::new("WDT_TCSR", watchdog::TCSR, AccessKind::Rw, 0, 0x3f),
    Register::new("TER", TER, AccessKind::Ro, 0, CHANNEL_BITS),
    Register::new("TESR", TESR, AccessKind::Wo, 0, CHANNEL_BITS),
    Register::new("TECR", TECR, AccessKind::Wo, 0, CHANNEL_BITS),
    Register::new("TSR", TSR, AccessKind::Ro, 0, STOP_BITS),
    Register::new("TFR", TFR, AccessKind::Ro, 0, FLAG_BITS),
    Register::new("TFSR", TFSR, AccessKind::Wo, 0, FLAG_BITS),
    Register::new("TFCR", TFCR, AccessKind::Wo, 0, FLAG_BITS),
    Register::new("TSSR", TSSR, AccessKind::Wo, 0, STOP_BITS),
    Register::new("TMR", TMR, AccessKind::Ro, 0, FLAG_BITS),
    Register::new("TMSR", TMSR, AccessKind::Wo, 0, FLAG_BITS),
    Register::new("TMCR", TMCR, AccessKind::Wo, 0, FLAG_BITS),
    Register::new("TSCR", TSCR, AccessKind::Wo, 0, STOP_BITS),
    Register::new("TDFR0", TDFR, AccessKind::Rw, 0, 0xffff),
    Register::new("TDHR0", TDHR, AccessKind::Rw, 0, 0xffff),
    Register::new("TCNT0", TCNT, AccessKind::Rw, 0, 0xffff),
    Register::new("TCSR0", TCSR, AccessKind::Rw, 0, TCSR_MASK),
];

const TER: u32 = 0x10;
const TESR: u32 = 0x14;
const TECR: u32 = 0x18;
const TSR: u32 = 0x1c;
const TFR: u32 = 0x20;
const TFSR: u32 = 0x24;
const TFCR: u32 = 0x28;
const TSSR: u32 = 0x2c;
const TMR: u32 = 0x30;
const TMSR: u32 = 0x34;
const TMCR: u32 = 0x38;
const TSCR: u32 = 0x3c;
const TDFR: u32 = 0x40;
const TDHR: u32 = 0x44;
const TCNT: u32 = 0x48;
const TCSR: u32 = 0x4c;
/// From a register of a channel to the next channel's.
const STRIDE: u32 = 0x10;
const CHANNELS: usize = 8;

const CHANNEL_BITS: u32 = 0xff;
/// The channels', and WDTS.
const STOP_BITS: u32 = 1 << 16 | CHANNEL_BITS;
const STOP_WDTS: u32 = 1 << 16;
/// FFLAG of channel n is bit n, HFLAG bit 16 + n; so are their masks.
const FLAG_BITS: u32 = CHANNEL_BITS << HALF | CHANNEL_BITS;
const HALF: u32 = 16;
/// PWM settings, prescaler, and the three enables of clocks.
const TCSR_MASK: u32 = 0x3bf;

/// Interrupt lines.
const LINES: usize = 3;

/// The device.
#[derive(Debug, State)]
pub struct Tcu {
    clocks: Clocks,
    #[state(skip)]
    lines: [Option<IrqLine>; LINES],
    channels: [Channel; CHANNELS],
    watchdog: Watchdog,
    enabled: u32,
    stopped: u32,
    masked: u32,
    flags: u32,
    alarm: Alarm,
    /// Writes, and reads of a counter, so far: a loop with such an access is in another state each iteration.
    moving_accesses: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["ingenic,jz4740-tcu"], 1, from_node).with_activities(TIMER).naming(REGISTERS);

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
            channels: [Channel::default(); CHANNELS],
            watchdog: Watchdog::default(),
            enabled: 0,
            stopped: 0,
            masked: 0,
            flags: 0,
            alarm: Alarm::default(),
            moving_accesses: 0,
        }
    }

    /// The clock of channel number `index`; `None` while it is disabled or stopped.
    fn source(&self, index: usize) -> Option<Source> {
        let counts = self.enabled & !self.stopped & 1 << index != 0;
        self.clocks.source(self.channels[index].control).filter(|_| counts)
    }

    /// The clock of the watchdog.
    fn watchdog_source(&self) -> Option<Source> {
        let counts = self.watchdog.enabled && self.stopped & STOP_WDTS == 0;
        self.clocks.source(self.watchdog.control).filter(|_| counts)
    }

    /// Brings all counters up to `now`.
    fn settle(&mut self, now: Ps) {
        for index in 0..CHANNELS {
            if let Some(source) = self.source(index) {
                let (full, half) = self.channels[index].settle(source.tick(now));
                self.flags |= flag(1 << index, full) | flag(1 << (HALF as usize + index), half);
            }
        }
        if let Some(source) = self.watchdog_source() {
            self.watchdog.settle(source.tick(now));
        }
    }

    /// Counting continues from `now` with the present settings.
    fn stand_at(&mut self, now: Ps) {
        for index in 0..CHANNELS {
            let tick = self.source(index).map_or(0, |source| source.tick(now));
            self.channels[index].stand_at(tick);
        }
        let tick = self.watchdog_source().map_or(0, |source| source.tick(now));
        self.watchdog.stand_at(tick);
    }

    /// The time at which channel number `index` next sets one of its flags of `wanted` that is not set.
    fn flag_time(&self, index: usize, wanted: u32) -> Option<Ps> {
        let source = self.source(index)?;
        let missing = (wanted & !self.flags) >> index;
        let channel = &self.channels[index];
        let full = channel.tick_of(channel.full).filter(|_| missing & 1 != 0);
        let half = channel.tick_of(channel.half).filter(|_| missing >> HALF & 1 != 0);
        let tick = full.into_iter().chain(half).min()?;
        source.time_of(tick, self.clocks.pclk.rate)
    }

    /// The time at which the watchdog resets the board.
    fn reset_time(&self) -> Option<Ps> {
        self.watchdog_source()?.time_of(self.watchdog.reset_tick(), self.clocks.pclk.rate)
    }

    /// Updates the interrupt lines, and requests an event for the next rise, or for the watchdog's reset.
    fn update(&mut self, ctx: &mut Ctx) {
        let mut due = self.reset_time();
        for line in 0..LINES {
            let channels = channels_of(line);
            let bits = channels.clone().fold(0, |bits, index| bits | (1 << HALF | 1) << index);
            let raised = self.flags & !self.masked & bits != 0;
            ctx.set_irq(self.lines[line], raised);
            if !raised {
                let next = channels.filter_map(|index| self.flag_time(index, !self.masked)).min();
                due = due.into_iter().chain(next).min();
            }
        }
        ctx.awaits(&COUNTING, due, Detail::None);
        if let Some(due) = due {
            self.alarm.set(due, 0, ctx);
        }
    }

    fn register(&self, offset: u32) -> u32 {
        match offset {
            watchdog::TDR..=watchdog::TCSR => self.watchdog.register(offset),
            TER => self.enabled,
            TSR => self.stopped,
            TFR => self.flags,
            TMR => self.masked,
            _ => split(offset).map_or(0, |(index, register)| {
                let channel = &self.channels[index];
                match register {
                    TDFR => channel.full.into(),
                    TDHR => channel.half.into(),
                    TCNT => channel.value.into(),
                    _ => channel.control,
                }
            }),
        }
    }

    fn set_register(&mut self, offset: u32, value: u32) {
        match offset {
            watchdog::TDR..=watchdog::TCSR => self.watchdog.set_register(offset, value),
            TESR => self.enabled |= value & CHANNEL_BITS,
            TECR => self.enabled &= !value,
            TFSR => self.flags |= value & FLAG_BITS,
            TFCR => self.flags &= !value,
            TSSR => self.stopped |= value & STOP_BITS,
            TMSR => self.masked |= value & FLAG_BITS,
            TMCR => self.masked &= !value,
            TSCR => self.stopped &= !value,
            _ => {
                let Some((index, register)) = split(offset) else { return };
                let channel = &mut self.channels[index];
                match register {
                    TDFR => channel.full = value as u16,
                    TDHR => channel.half = value as u16,
                    TCNT => channel.value = value as u16,
                    _ => channel.control = value & TCSR_MASK,
                }
            }
        }
    }

    /// Notes channels and a watchdog that have just been enabled and do not count.
    fn note_stopped(&self, offset: u32, value: u32, ctx: &mut Ctx) {
        let channels = if offset == TESR { value & CHANNEL_BITS } else { 0 };
        for index in (0..CHANNELS).filter(|index| channels >> index & 1 != 0 && self.source(*index).is_none()) {
            let (why, register) = match self.stopped >> index & 1 {
                0 => ("no one clock, or a reserved prescaler, is selected in", "TCSR"),
                _ => ("its clock is stopped in", "TSR"),
            };
            ctx.note(&format!("channel {index} is enabled, but stands: {why} {register}"));
        }
        if offset == watchdog::TCER && self.watchdog.enabled && self.watchdog_source().is_none() {
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

/// Channel and register (the first channel's) at `offset`.
fn split(offset: u32) -> Option<(usize, u32)> {
    let index = offset.checked_sub(TDFR)? / STRIDE;
    ((index as usize) < CHANNELS).then_some((index as usize, TDFR + offset % STRIDE))
}

impl Device for Tcu {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.settle(ctx.now);
        let register = offset & !3;
        let is_counter = register == watchdog::TCNT || split(register).is_some_and(|(_, register)| register == TCNT);
        self.moving_accesses += u64::from(is_counter);
        let value = self.register(register);
        self.update(ctx);
        Ok(apb::read(value, offset, size, ctx))
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
        self.moving_accesses += 1;
        let (offset, value) = apb::written(value, offset, size);
        self.set_register(offset, value);
        self.stand_at(ctx.now);
        self.note_stopped(offset, value, ctx);
        self.update(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.settle(ctx.now);
        if self.watchdog.has_run_out {
            ctx.note(
                "the watchdog came to TDR and resets the board: the run ends (clear WDT_TCNT in time, or WDT_TCER)",
            );
            ctx.exit_by_reset(watchdog::EXIT_STATUS);
        }
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx.now);
        ctx.bus.clocks.update(&mut self.clocks.pclk);
        self.stand_at(ctx.now);
        self.alarm.cancel(0, ctx);
        self.update(ctx);
    }
}

impl Polled for Tcu {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.clocks.pclk.rate);
        self.settle(poll.now());
        poll.state(self.moving_accesses);
        poll.state(self.flags);
        // Counters run by themselves: their changes of the flags come at fixed times.
        (0..CHANNELS).filter_map(|index| self.flag_time(index, FLAG_BITS)).for_each(|due| poll.until(due));
        if let Some(due) = self.reset_time() {
            poll.until(due);
        }
        true
    }
}

#[cfg(test)]
mod tests;
