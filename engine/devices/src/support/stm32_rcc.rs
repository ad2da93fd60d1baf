//! Common parts of the RCCs of STM32F4 and L4+ (RM0090, RM0383 and RM0432, "Reset and clock control (RCC)"): the
//! register words, the clock sources, settings that take effect some cycles later, resets and gates, RCC_BDCR, and the
//! event for the next change.

use std::ops::RangeInclusive;

use crate::support::registers::{Register, find, flag};
use crate::support::stm32_clock_gate::BACKUP_DOMAIN;
use crate::support::stm32_clock_sources::Sources;
use engine::bus::device::{Alarm, Ctx};
use engine::polling::Poll;
use engine::state::State;
use engine::time::{Cycles, Hz, Ps};

/// RCC_BDCR: turns LSE on.
pub const BDCR_LSEON: u32 = 1 << 0;
/// LSE is ready.
pub const BDCR_LSERDY: u32 = 1 << 1;
/// The source of RTCCLK.
pub const BDCR_RTCSEL: u32 = 3 << 8;
/// RTCCLK runs.
pub const BDCR_RTCEN: u32 = 1 << 15;
/// Resets the backup domain.
pub const BDCR_BDRST: u32 = 1 << 16;

/// Bytes of the registers.
const REGISTER_BYTES: u32 = 0x400;
/// The event's token.
const WAKE: u32 = 0;

/// The offsets of the registers of a kind of RCC.
#[derive(Debug)]
pub struct Layout {
    /// RCC_xxxRSTR.
    pub resets: RangeInclusive<u32>,
    /// RCC_xxxENR, in the same order as the resets, and with the same bits.
    pub enables: RangeInclusive<u32>,
    /// RCC_BDCR.
    pub bdcr: u32,
    /// LSE's index among the sources.
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
    /// Oscillators, PLLs, and the source of SYSCLK.
    pub sources: Sources,
    /// The time at which dividers and selections that were written take effect.
    settings_at: Option<Ps>,
    alarm: Alarm,
    /// True if the note about peripherals that are not reset has been printed.
    is_noted: bool,
    /// The number of writes: a loop that writes is in another state each iteration.
    writes: u64,
}

impl RccState {
    /// The registers of a map after reset.
    pub fn new(layout: &'static Layout, map: &'static [Register], sources: Sources) -> RccState {
        let mut words = vec![0; REGISTER_BYTES as usize / 4];
        map.iter().for_each(|register| words[register.offset as usize / 4] = register.reset);
        RccState { layout, map, words, sources, settings_at: None, alarm: Alarm::default(), is_noted: false, writes: 0 }
    }

    /// The register as it was written.
    pub fn get(&self, offset: u32) -> u32 {
        self.words.get(offset as usize / 4).copied().unwrap_or(0)
    }

    /// Sets a register.
    pub fn set(&mut self, offset: u32, value: u32) {
        if let Some(word) = self.words.get_mut(offset as usize / 4) {
            *word = value;
        }
    }

    /// The device comes out of reset: peripherals are notified of their gates with the next rates that are set.
    pub fn start(&self, ctx: &mut Ctx) {
        for register in self.layout.enables.clone().step_by(4).chain([self.layout.bdcr]) {
            ctx.bus.clocks.set_gates(register, self.get(register));
        }
    }

    /// Counts a store by firmware.
    pub const fn count_write(&mut self) {
        self.writes += 1;
    }

    /// True for RCC_xxxENR.
    pub fn is_enable(&self, offset: u32) -> bool {
        self.layout.enables.contains(&offset)
    }

    /// RCC_xxxENR is about to be written: peripherals that it enables have their clock from `from` on.
    pub fn enable_from(&self, offset: u32, value: u32, from: Ps, ctx: &mut Ctx) {
        let enabled = value & !self.get(offset);
        if enabled != 0 {
            ctx.bus.clocks.open_from(offset, enabled, from, ctx.now);
        }
    }

    /// Writes a register that is identical in both families; false for other registers.
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
        // Notifies devices that are reset, or whose gate has changed.
        ctx.set_clocks(&[]);
        true
    }

    /// Notes, once, bits of RCC_xxxRSTR that reset nothing: firmware that resets all peripherals writes such bits in
    /// each reset register.
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

    /// Writes RCC_BDCR, if PWR allows it; true if it was written.
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
        // RTCSEL can't be changed once it is set, until the domain is reset.
        let chosen = self.get(bdcr) & BDCR_RTCSEL;
        let kept = if chosen != 0 && value & BDCR_BDRST == 0 { chosen } else { value & BDCR_RTCSEL };
        self.set(bdcr, value & !BDCR_RTCSEL | kept);
        ctx.bus.clocks.set_gates(bdcr, self.get(bdcr));
        ctx.bus.clocks.set_resets(bdcr, flag(BDCR_RTCEN, value & BDCR_BDRST != 0));
        // Notifies the RTC of RTCEN and BDRST.
        ctx.set_clocks(&[]);
        self.sources.turn(lse, value & BDCR_LSEON != 0, ctx.now);
        true
    }

    /// Dividers or selections were written: they take effect `cycles` of HCLK later.
    pub fn settings_change(&mut self, hclk: Hz, cycles: Cycles, ctx: &Ctx) {
        self.settings_at = Some(hclk.after(ctx.now, cycles));
    }

    /// A source was turned on or off: updates the reasons for which stopped clocks wait.
    pub fn report_why(&mut self, ctx: &Ctx) {
        self.settings_at.get_or_insert(ctx.now);
    }

    /// True, once, when settings that were written take effect.
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

    /// All state that a poll can read, except interrupt flags; changes without a write are events.
    pub fn polled(&self, poll: &mut Poll) {
        poll.state(self.writes);
        self.sources.polled(poll);
    }
}
