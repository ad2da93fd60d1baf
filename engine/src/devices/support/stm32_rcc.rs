//! What the RCCs of STM32F4 and L4+ have in common (RM0090, RM0383 and RM0432, "Reset and clock control (RCC)"): words
//! of registers, sources, settings that come into force some cycles later, resets and gates, RCC_BDCR, and the event
//! that brings the time.

use std::ops::RangeInclusive;

use crate::bus::device::{Alarm, Ctx};
use crate::devices::support::registers::{Register, find, flag};
use crate::devices::support::stm32_clock_gate::BACKUP_DOMAIN;
use crate::devices::support::stm32_clock_sources::Sources;
use crate::polling::Poll;
use crate::state::State;
use crate::time::{Cycles, Hz, Ps};

/// RCC_BDCR: turns LSE on.
pub const BDCR_LSEON: u32 = 1 << 0;
/// LSE is ready.
pub const BDCR_LSERDY: u32 = 1 << 1;
/// What RTCCLK comes from.
pub const BDCR_RTCSEL: u32 = 3 << 8;
/// RTCCLK runs.
pub const BDCR_RTCEN: u32 = 1 << 15;
/// Resets the backup domain.
pub const BDCR_BDRST: u32 = 1 << 16;

/// Bytes of the registers.
const REGISTER_BYTES: u32 = 0x400;
/// The event's token.
const WAKE: u32 = 0;

/// Where the registers of a kind of RCC are, by their offsets.
#[derive(Debug)]
pub struct Layout {
    /// RCC_xxxRSTR.
    pub resets: RangeInclusive<u32>,
    /// RCC_xxxENR, in the same order, whose bits lie as those of the resets.
    pub enables: RangeInclusive<u32>,
    /// RCC_BDCR.
    pub bdcr: u32,
    /// LSE among the sources.
    pub lse: usize,
    /// The register of PWR that has DBP.
    pub dbp_register: &'static str,
}

/// The common part.
#[derive(Debug, State)]
pub struct RccState {
    #[state(skip)]
    layout: &'static Layout,
    #[state(skip)]
    map: &'static [Register],
    /// Registers by offset / 4, as they were written.
    words: Vec<u32>,
    /// Oscillators, PLLs, and where SYSCLK comes from.
    pub sources: Sources,
    /// When dividers and choices that were written are in force.
    settings_at: Option<Ps>,
    alarm: Alarm,
    /// The user knows that some peripherals are not reset.
    is_noted: bool,
    /// What was set so far: a loop that writes is in another state each iteration.
    writes: u64,
}

impl RccState {
    /// The registers of a map out of reset.
    pub fn new(layout: &'static Layout, map: &'static [Register], sources: Sources) -> RccState {
        let mut words = vec![0; REGISTER_BYTES as usize / 4];
        map.iter().for_each(|register| words[register.offset as usize / 4] = register.reset);
        RccState { layout, map, words, sources, settings_at: None, alarm: Alarm::default(), is_noted: false, writes: 0 }
    }

    /// A register as it was written.
    pub fn get(&self, offset: u32) -> u32 {
        self.words.get(offset as usize / 4).copied().unwrap_or(0)
    }

    /// Sets it.
    pub fn set(&mut self, offset: u32, value: u32) {
        if let Some(word) = self.words.get_mut(offset as usize / 4) {
            *word = value;
        }
    }

    /// The device comes out of reset: peripherals are told of their gates with the next rates that are set.
    pub fn start(&self, ctx: &mut Ctx) {
        for register in self.layout.enables.clone().step_by(4).chain([self.layout.bdcr]) {
            ctx.bus.clocks.set_gates(register, self.get(register));
        }
    }

    /// Firmware stores something.
    pub const fn count_write(&mut self) {
        self.writes += 1;
    }

    /// True for RCC_xxxENR.
    pub fn is_enable(&self, offset: u32) -> bool {
        self.layout.enables.contains(&offset)
    }

    /// Such a register is about to be written: what is enabled by it has its clock from `from` on.
    pub fn enable_from(&self, offset: u32, value: u32, from: Ps, ctx: &mut Ctx) {
        let opened = value & !self.get(offset);
        if opened != 0 {
            ctx.bus.clocks.open_from(offset, opened, from, ctx.now);
        }
    }

    /// Writes a register that both have alike; false for others.
    pub fn write(&mut self, offset: u32, value: u32, ctx: &mut Ctx) -> bool {
        let Layout { resets, enables, .. } = self.layout;
        if resets.contains(&offset) {
            self.set(offset, value);
            let unknown = ctx.bus.clocks.set_resets(offset - resets.start() + enables.start(), value);
            self.note_unreset(offset, unknown, ctx);
        } else if enables.contains(&offset) {
            self.set(offset, value);
            ctx.bus.clocks.set_gates(offset, value);
        } else {
            return false;
        }
        // Who is reset, or follows a gate, is told.
        ctx.set_clocks(&[]);
        true
    }

    /// Tells the user, once, of bits of RCC_xxxRSTR that reset nothing: firmware that resets all peripherals writes
    /// such bits of each of these registers.
    fn note_unreset(&mut self, offset: u32, bits: u32, ctx: &mut Ctx) {
        if bits == 0 || std::mem::replace(&mut self.is_noted, true) {
            return;
        }
        let name = find(self.map, offset).map_or("RCC_xxxRSTR", |register| register.name);
        ctx.note(&format!(
            "bits {bits:#x} of {name} are of peripherals that the model does not reset: they keep their state. Further \
             such bits, of any reset register, are not reported"
        ));
    }

    /// Writes RCC_BDCR, if PWR lets it; true if it was.
    pub fn write_bdcr(&mut self, value: u32, ctx: &mut Ctx) -> bool {
        let Layout { bdcr, lse, dbp_register, .. } = *self.layout;
        let (register, bit) = BACKUP_DOMAIN;
        if !ctx.bus.clocks.is_running(register, bit) {
            ctx.note(&format!(
                "RCC_BDCR was written while the backup domain is protected ({dbp_register}.DBP is 0): the write does \
                 nothing"
            ));
            return false;
        }
        let value = if value & BDCR_BDRST != 0 { BDCR_BDRST } else { value };
        if value & BDCR_LSEON != 0 && self.sources.rate(lse).is_none() {
            ctx.note("LSE is turned on (RCC_BDCR.LSEON), and the board has no crystal there: it never gets ready");
        }
        // RTCSEL stays once it is chosen, until the domain is reset.
        let chosen = self.get(bdcr) & BDCR_RTCSEL;
        let kept = if chosen != 0 && value & BDCR_BDRST == 0 { chosen } else { value & BDCR_RTCSEL };
        self.set(bdcr, value & !BDCR_RTCSEL | kept);
        ctx.bus.clocks.set_gates(bdcr, self.get(bdcr));
        ctx.bus.clocks.set_resets(bdcr, flag(BDCR_RTCEN, value & BDCR_BDRST != 0));
        // The RTC is told of RTCEN and BDRST.
        ctx.set_clocks(&[]);
        self.sources.turn(lse, value & BDCR_LSEON != 0, ctx.now);
        true
    }

    /// Dividers or choices were written: they come into force `cycles` of HCLK later.
    pub fn settings_change(&mut self, hclk: Hz, cycles: Cycles, ctx: &Ctx) {
        self.settings_at = Some(hclk.after(ctx.now, cycles));
    }

    /// A source was turned on or off: who waits for it is told anew what it waits for.
    pub fn report_why(&mut self, ctx: &Ctx) {
        self.settings_at.get_or_insert(ctx.now);
    }

    /// True, once, when settings that were written come into force.
    pub fn settings_are_due(&mut self, now: Ps) -> bool {
        self.settings_at.take_if(|due| *due <= now).is_some()
    }

    /// An event has come.
    pub fn rang(&mut self, now: Ps) {
        self.alarm.rang(now);
    }

    /// Asks for the next event.
    pub fn wake(&mut self, ctx: &mut Ctx) {
        self.sources.report(ctx);
        if let Some(next) = self.sources.next().into_iter().chain(self.settings_at).min() {
            self.alarm.set(next, WAKE, ctx);
        }
    }

    /// All state that a poll can see, beside flags of interrupts; what changes by itself does so in an event.
    pub fn polled(&self, poll: &mut Poll) {
        poll.state(self.writes);
        self.sources.polled(poll);
    }
}
