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

use crate::prelude::*;
use crate::support::activities::{CLOCK_START, CLOCKS};
use crate::support::clock_outputs;
use engine::dt::fault::FaultKind;

registers! {
    /// The register map.
    const MAP "" {
        /// CE: the dividers take effect with the write.
        CPCCR 0x00 rw mask u32::MAX { CE 22 };
        LCR 0x04 rw reset 0xf8 mask 0xff { LPM 0..2 };
        /// PR: power-on reset.
        RSR 0x08 rw reset RSR_PR mask 7 { PR 0 };
        CPPCR 0x10 rw { PLLST 0..8, PLLEN 8, PLLBP 9, PLLS 10, PLLOD 16..18, PLLN 18..23, PLLM 23..32 };
        CLKGR 0x20 rw mask 0xffff;
        SCR 0x24 rw mask 0xffd0;
        I2SCDR 0x60 rw mask 0x1ff;
        LPCDR 0x64 rw mask 0x8000_07ff;
        MSCCDR 0x68 rw mask 0x1f;
        UHCCDR 0x6c rw reset UHCCDR_SET mask 0xf;
        UHCTST 0x70 rw mask 0x3f;
        /// SCS: the SSI's clock comes from the PLL, not from EXTAL.
        SSICDR 0x74 rw { SSIDIV 0..4, SCS 31 };
    }
}

/// CPCCR as set, except for the divided clocks: CLKOEN, PCS, and the LCD's divider of 3.
const CPCCR_SET: u32 = 1 << 30 | 1 << 21 | 2 << 16;
/// CPPCR as set, except for M: N of 2, not divided further; stable after 32 periods of RTCCLK.
const CPPCR_SET: u32 = CPPCR_PLLS | CPPCR_PLLEN | 0x20;
/// The largest M.
const MOST_M: u64 = 0x1ff + 2;
/// Changing them makes the PLL lock again.
const CPPCR_FACTORS: u32 = CPPCR_PLLM | CPPCR_PLLN | CPPCR_PLLOD;
/// 336 MHz / 7: the USB host's 48 MHz.
const UHCCDR_SET: u32 = 6;

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
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
pub struct Cgu {
    #[state(skip)]
    ext: Hz,
    #[state(skip)]
    rtc: Hz,
    /// The clock of its registers.
    #[poll(phase)]
    pclk: ClockInput,
    registers: Registers,
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
pub const MODEL: Model =
    Model::device(Group::System, &["ingenic,jz4740-cgu"], 1, from_node).with_activities(CLOCKS).naming(MAP.rows);

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
    let cppcr = CPPCR_SET | (m as u32 - 2) << CPPCR_PLLM.trailing_zeros();
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
        let mut registers = Registers::new(&MAP);
        registers.set(CPCCR, cpccr);
        registers.set(CPPCR, cppcr);
        let locked = (cppcr & CPPCR_PLLEN != 0).then_some(cppcr & CPPCR_FACTORS);
        let (lock_at, changes_at, alarm) = (None, None, Alarm::default());
        Cgu { ext, rtc, pclk, registers, outputs, locked, lock_at, dividers: cpccr, changes_at, alarm }
    }

    /// The PLL's output in hertz, or that of the clock that bypasses it.
    fn pll(&self) -> u64 {
        let bypassed = self.registers.has(CPPCR, CPPCR_PLLBP);
        let Some(factors) = self.locked.filter(|_| !bypassed) else { return self.ext.get() };
        let [m, n] = [CPPCR_PLLM, CPPCR_PLLN].map(|mask| u64::from(field(factors, mask)) + 2);
        let output = [1, 2, 2, 4][field(factors, CPPCR_PLLOD) as usize];
        self.ext.get() * m / (n * output)
    }

    /// The rate of each of [`OUTPUTS`] in hertz, with the settings in effect; `None` for a reserved divider.
    fn frequencies(&self) -> [Option<u64>; OUTPUTS.len()] {
        let pll = self.pll();
        let mut frequencies = [None; OUTPUTS.len()];
        for (frequency, (_, place)) in frequencies.iter_mut().zip(DIVIDED) {
            *frequency = DIVIDERS.get((self.dividers >> place & 0xf) as usize).map(|divider| pll / divider);
        }
        let divided = pll / u64::from(self.registers.field(SSICDR, SSICDR_SSIDIV) + 1);
        let from_pll = self.registers.has(SSICDR, SSICDR_SCS);
        frequencies[DIVIDED.len()] = Some(if from_pll { divided } else { self.ext.get() });
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
        self.registers.put(CPPCR, CPPCR_PLLS, is_locked);
    }

    /// Carries out changes up to now: only in an event, since clocks change at its time.
    fn advance(&mut self, ctx: &mut Ctx) {
        if self.lock_at.is_some_and(|at| at <= ctx.now) {
            self.lock_at = None;
            self.locked = Some(self.registers[CPPCR] & CPPCR_FACTORS);
            self.dividers = self.registers[CPCCR];
            self.show_lock();
        }
        self.changes_at = None;
        let frequencies = self.frequencies();
        clock_outputs::publish(&mut self.outputs, frequencies, ctx);
        ctx.bus.clocks.update(&mut self.pclk);
    }
}

impl Table for Cgu {
    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            CPCCR => self.set_dividers(new, ctx),
            CPPCR => self.set_pll(new, old, ctx),
            SSICDR => self.changes_at = Some(ctx.now),
            LCR if new & LCR_LPM != 0 => {
                ctx.note(
                    "LCR.LPM selects sleep, which is not modelled: a wait instruction idles, and all clocks go on",
                );
            }
            _ => {}
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        ctx.awaits(&CLOCK_START, self.lock_at, Detail::None);
        if let Some(next) = [self.changes_at, self.lock_at].into_iter().flatten().min() {
            self.alarm.set(next, 0, ctx);
        }
    }
}

impl Device for Cgu {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        // Updates that depend on other clocks of the board.
        self.advance(ctx);
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.advance(ctx);
        self.update(ctx);
    }
}

#[cfg(test)]
mod tests;
