//! `ingenic,jz4740-cgu`: the JZ4740's clock, reset and power control, CPM (Linux's jz4740-cgu.c; U-Boot's asm/jz4740.h
//! for names).
//!
//! Modelled: the registers as a boot loader leaves them that has set the board's clocks: the PLL locked at cclk's
//! frequency, the other clocks divided from it. On a Ben NanoNote they are set by U-Boot (arch/mips/cpu/xburst/jz4740.c
//! with qi_lb60.h): 336 MHz, and a third of it for hclk, pclk and mclk.
//!
//! The board's clock nodes follow the settings of the firmware: [`OUTPUTS`]. A PLL that is enabled, or gets other
//! factors, locks after CPPCR.PLLST periods of RTCCLK; until then the clocks from it continue as before, since no
//! document says more. With PLLEN 0 or PLLBP 1 EXTAL replaces it at once. Dividers of CPCCR take effect with the write
//! if CE is set, else when the PLL next locks, as U-Boot uses them. The SSI's clock follows SSICDR at once.
//!
//! The SDRAM's times stay the same in cycles of mclk: the model does not check whether they are too short for a faster
//! clock. A device works whether its clock is gated (CLKGR) or not. Clocks of devices without a model (LCD, I2S, MSC,
//! USB) only have their registers.
//!
//! Not modelled: sleep (LCR.LPM), the duty cycle of doze mode.

use crate::model::{Group, Model};
use crate::support::activities::{CLOCK_START, CLOCKS};
use crate::support::apb;
use crate::support::register_file::{Bank, RegisterFile};
use crate::support::registers::{AccessKind, flag};
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, Reply, SlaveError};
use engine::dt::fault::FaultKind;
use engine::dt::reader::NodeReader;
use engine::dt::wiring::{ClockId, ClockInput};
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Hz, Ps};

/// The register map.
const BANKS: &[Bank] = &[
    Bank::new("CPCCR", CPCCR, 1, AccessKind::Rw, 0, u32::MAX),
    Bank::new("LCR", LCR, 1, AccessKind::Rw, 0xf8, 0xff),
    Bank::new("RSR", 0x08, 1, AccessKind::Rw, RSR_PR, 7),
    Bank::new("CPPCR", CPPCR, 1, AccessKind::Rw, 0, 0xffff_07ff),
    Bank::new("CLKGR", 0x20, 1, AccessKind::Rw, 0, 0xffff),
    Bank::new("SCR", 0x24, 1, AccessKind::Rw, 0, 0xffd0),
    Bank::new("I2SCDR", 0x60, 1, AccessKind::Rw, 0, 0x1ff),
    Bank::new("LPCDR", 0x64, 1, AccessKind::Rw, 0, 0x8000_07ff),
    Bank::new("MSCCDR", 0x68, 1, AccessKind::Rw, 0, 0x1f),
    Bank::new("UHCCDR", 0x6c, 1, AccessKind::Rw, UHCCDR_SET, 0xf),
    Bank::new("UHCTST", 0x70, 1, AccessKind::Rw, 0, 0x3f),
    Bank::new("SSICDR", SSICDR, 1, AccessKind::Rw, 0, 0x8000_000f),
];

const CPCCR: u32 = 0x00;
const LCR: u32 = 0x04;
const CPPCR: u32 = 0x10;
const SSICDR: u32 = 0x74;

/// As set, except for the divided clocks: CLKOEN, PCS, and the LCD's divider of 3.
const CPCCR_SET: u32 = 1 << 30 | 1 << 21 | 2 << 16;
/// CPCCR.CE: the dividers take effect with the write.
const CPCCR_CE: u32 = 1 << 22;
/// As set, except for M: N of 2, not divided further; stable after 32 periods of RTCCLK.
const CPPCR_SET: u32 = CPPCR_PLLS | CPPCR_PLLEN | 0x20;
const CPPCR_PLLM: u32 = 23;
/// The largest M.
const MOST_M: u64 = 0x1ff + 2;
const CPPCR_PLLS: u32 = 1 << 10;
const CPPCR_PLLBP: u32 = 1 << 9;
const CPPCR_PLLEN: u32 = 1 << 8;
/// PLLM, PLLN and PLLOD: changing them makes the PLL lock again.
const CPPCR_FACTORS: u32 = 0xffff_0000;
/// PLLST.
const CPPCR_PLLST: u32 = 0xff;
/// 336 MHz / 7: the USB host's 48 MHz.
const UHCCDR_SET: u32 = 6;
/// Power-on reset.
const RSR_PR: u32 = 1 << 0;
const LCR_LPM: u32 = 3;
/// The SSI's clock comes from the PLL, not from EXTAL.
const SSICDR_SCS: u32 = 1 << 31;
const SSICDR_SSIDIV: u32 = 0xf;

/// The dividers of CPCCR's fields, by their values; others are reserved.
const DIVIDERS: [u64; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
/// The clocks divided from the PLL, and the positions of their fields in CPCCR.
const DIVIDED: [(&str, u32); 4] = [("cclk", 0), ("hclk", 4), ("pclk", 8), ("mclk", 12)];
/// The index of pclk among them.
const PCLK: usize = 2;
/// The clocks that the device drives, in the order of `cyclescope,outputs`.
const OUTPUTS: [&str; DIVIDED.len() + 1] =
    ["cclk, the core's clock", "hclk, AHB's", "pclk, APB's", "mclk, the memories'", "the SSI's device clock"];

/// The device.
#[derive(Debug, State)]
pub struct Cgu {
    #[state(skip)]
    ext: Hz,
    #[state(skip)]
    rtc: Hz,
    registers: RegisterFile,
    /// The clocks that it drives, in the order of [`OUTPUTS`], at their rates.
    #[state(with = engine::state::fixed)]
    outputs: Vec<ClockInput>,
    /// CPPCR's factors with which the PLL has locked; `None` while EXTAL replaces it.
    locked: Option<u32>,
    /// The time at which it will have locked with the written factors.
    lock_at: Option<Ps>,
    /// CPCCR with the dividers in effect.
    dividers: u32,
    /// The time of the next change of clocks.
    changes_at: Option<Ps>,
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["ingenic,jz4740-cgu"], 1, from_node).with_activities(CLOCKS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let ext = reader.clock(0, "EXTAL");
    let rtc = reader.clock(1, "RTCCLK");
    reader.known(&["clock-names"]);
    let outputs = reader.driven_clock_inputs("cyclescope,outputs", &OUTPUTS, DIVIDED.len());
    let board: Vec<Hz> = outputs.iter().take(DIVIDED.len()).map(|clock| clock.rate).collect();
    let settings = <[Hz; DIVIDED.len()]>::try_from(board).ok().map(|board| (board, settings_for(ext, board)));
    if let Some((board, None)) = settings {
        let hertz: Vec<String> = board.iter().map(|clock| clock.get().to_string()).collect();
        let value = format!("{} Hz for cclk, hclk, pclk and mclk", hertz.join(", "));
        let allowed = format!(
            "cclk is half of 2 to {MOST_M} times EXTAL's {} Hz, and the others are it divided by 1, 2, 3, 4, 6, 8, \
             12, 16, 24 or 32",
            ext.get()
        );
        let property = "cyclescope,outputs".to_owned();
        reader.fault_at("cyclescope,outputs", FaultKind::OutOfRange { property, value, allowed });
    }
    Box::new(Cgu::new(ext, rtc, outputs, settings.and_then(|(_, settings)| settings).unwrap_or_default()))
}

/// CPCCR and CPPCR for these clocks (cclk, hclk, pclk, mclk), if the chip supports them.
fn settings_for(ext: Hz, clocks: [Hz; DIVIDED.len()]) -> Option<(u32, u32)> {
    let cclk = clocks[0].get();
    let m = cclk * 2 / ext.get();
    if !(cclk * 2).is_multiple_of(ext.get()) || !(2..=MOST_M).contains(&m) {
        return None;
    }
    let cppcr = CPPCR_SET | (m as u32 - 2) << CPPCR_PLLM;
    let mut cpccr = CPCCR_SET;
    for ((_, place), clock) in DIVIDED.iter().zip(clocks) {
        let number = DIVIDERS.iter().position(|divider| clock.get() * divider == cclk)?;
        cpccr |= (number as u32) << place;
    }
    Some((cpccr, cppcr))
}

impl Cgu {
    /// The device as the boot loader leaves it, with CPCCR and CPPCR; it drives `outputs`, as many of [`OUTPUTS`] as
    /// the board has.
    fn new(ext: Hz, rtc: Hz, outputs: Vec<ClockInput>, (cpccr, cppcr): (u32, u32)) -> Cgu {
        let pclk = outputs.get(PCLK).copied().unwrap_or(ClockInput::fixed(ext));
        let mut registers = RegisterFile::new(pclk, BANKS, None);
        registers.set(CPCCR, cpccr);
        registers.set(CPPCR, cppcr);
        let locked = (cppcr & CPPCR_PLLEN != 0).then_some(cppcr & CPPCR_FACTORS);
        let (lock_at, changes_at, alarm) = (None, None, Alarm::default());
        Cgu { ext, rtc, registers, outputs, locked, lock_at, dividers: cpccr, changes_at, alarm }
    }

    /// The PLL's output in hertz, or that of the clock that bypasses it.
    fn pll(&self) -> u64 {
        let bypassed = self.registers.value(CPPCR) & CPPCR_PLLBP != 0;
        let Some(factors) = self.locked.filter(|_| !bypassed) else { return self.ext.get() };
        let (m, n) = (u64::from(factors >> CPPCR_PLLM) + 2, u64::from(factors >> 18 & 0x1f) + 2);
        let output = [1, 2, 2, 4][(factors >> 16 & 3) as usize];
        self.ext.get() * m / (n * output)
    }

    /// The rate of each of [`OUTPUTS`] in hertz, with the settings in effect; `None` for a reserved divider.
    fn frequencies(&self) -> [Option<u64>; OUTPUTS.len()] {
        let (pll, ssicdr) = (self.pll(), self.registers.value(SSICDR));
        let mut frequencies = [None; OUTPUTS.len()];
        for (frequency, (_, place)) in frequencies.iter_mut().zip(DIVIDED) {
            *frequency = DIVIDERS.get((self.dividers >> place & 0xf) as usize).map(|divider| pll / divider);
        }
        let divided = pll / u64::from((ssicdr & SSICDR_SSIDIV) + 1);
        frequencies[DIVIDED.len()] = Some(if ssicdr & SSICDR_SCS == 0 { self.ext.get() } else { divided });
        frequencies
    }

    fn set_dividers(&mut self, cpccr: u32, ctx: &mut Ctx) {
        let reserved = DIVIDED.iter().find(|(_, place)| cpccr >> place & 0xf >= DIVIDERS.len() as u32);
        if let Some((name, _)) = reserved {
            ctx.note(&format!("CPCCR was written with a reserved divider of {name}: that clock keeps its rate"));
        }
        if cpccr & CPCCR_CE != 0 {
            self.dividers = cpccr;
            self.changes_at = Some(ctx.now);
        }
    }

    fn set_pll(&mut self, cppcr: u32, before: u32, ctx: &mut Ctx) {
        let factors = cppcr & CPPCR_FACTORS;
        if cppcr & CPPCR_PLLEN == 0 {
            (self.locked, self.lock_at) = (None, None);
        } else if before & CPPCR_PLLEN == 0 || factors != before & CPPCR_FACTORS {
            self.lock_at = Some(self.rtc.after(ctx.now, Cycles(u64::from(cppcr & CPPCR_PLLST))));
        }
        self.show_lock();
        self.changes_at = Some(ctx.now);
    }

    /// CPPCR.PLLS.
    fn show_lock(&mut self) {
        let is_locked = self.locked.is_some() && self.lock_at.is_none();
        let cppcr = self.registers.value(CPPCR) & !CPPCR_PLLS;
        self.registers.set(CPPCR, cppcr | flag(CPPCR_PLLS, is_locked));
    }

    /// Carries out changes up to now: only in an event, since clocks change at its time.
    fn advance(&mut self, ctx: &mut Ctx) {
        if self.lock_at.is_some_and(|at| at <= ctx.now) {
            self.lock_at = None;
            self.locked = Some(self.registers.value(CPPCR) & CPPCR_FACTORS);
            self.dividers = self.registers.value(CPCCR);
            self.show_lock();
        }
        self.changes_at = None;
        let mut changed: Vec<(ClockId, Hz)> = Vec::new();
        let frequencies = self.frequencies();
        for (clock, hz) in self.outputs.iter_mut().zip(frequencies) {
            let Some(rate) = hz.and_then(Hz::new).filter(|rate| *rate != clock.rate) else { continue };
            clock.rate = rate;
            changed.extend(clock.id.map(|id| (id, rate)));
        }
        ctx.set_clocks(&changed);
        self.registers.clocks_changed(ctx);
    }

    /// Requests the next event.
    fn settle(&mut self, ctx: &mut Ctx) {
        ctx.awaits(&CLOCK_START, self.lock_at, Detail::None);
        if let Some(next) = [self.changes_at, self.lock_at].into_iter().flatten().min() {
            self.alarm.set(next, 0, ctx);
        }
    }
}

impl Device for Cgu {
    fn reset(&mut self, ctx: &mut Ctx) {
        // Updates that depend on other clocks of the board.
        self.advance(ctx);
    }

    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.registers.read(range, offset, size, ctx)
    }

    fn write(
        &mut self,
        range: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        let before = self.registers.value(CPPCR);
        let reply = self.registers.write(range, offset, size, value, ctx);
        match apb::written(value, offset, size) {
            (CPCCR, _) => self.set_dividers(self.registers.value(CPCCR), ctx),
            (CPPCR, _) => self.set_pll(self.registers.value(CPPCR), before, ctx),
            (SSICDR, _) => self.changes_at = Some(ctx.now),
            (LCR, value) if value & LCR_LPM != 0 => {
                ctx.note(
                    "LCR.LPM selects sleep, which is not modelled: a wait instruction idles, and all clocks go on",
                );
            }
            _ => {}
        }
        self.settle(ctx);
        reply
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.advance(ctx);
        self.settle(ctx);
    }
}

impl Polled for Cgu {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        // Changes without a write are events.
        self.registers.polled(poll)
    }
}

#[cfg(test)]
mod tests;
