//! `st,stm32f4-rcc`: the reset and clock control of an STM32F4 (RM0090, "Reset and clock control for STM32F405xx/07xx
//! and STM32F415xx/17xx (RCC)"; RM0383, the same chapter).
//!
//! Modelled: the oscillators and PLLs with their ready flags and interrupts, start-up and lock times; SYSCLK's choice;
//! the dividers of AHB, APB1 and APB2, and the doubled clocks of timers; the PLL's outputs; RTC's clock; enable
//! registers, which gate peripherals; the backup domain's write protection (PWR_CR.DBP); reset flags. The board's clock
//! nodes follow: see [`OUTPUTS`]. One whose source is off stands still.
//!
//! What is asked for and not there (HSE without a crystal) never gets ready, as on a board. A PLL out of its range, and
//! a clock above its limit, run at what is set, with a note.
//!
//! A peripheral's reset has its model go back to where it was at the start; PWR and SYSCFG keep their state, with a
//! note.
//!
//! Not modelled: spread spectrum, MCO pins and an HSE that fails (so
//! CSSON only keeps its value); low-power enables, as no mode but Sleep is.

mod registers;
mod tree;

#[cfg(test)]
mod tests;

use crate::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use crate::devices::model::{Group, Model};
use crate::devices::support::apb;
use crate::devices::support::registers::{find, flag};
use crate::devices::support::stm32_clock_gate::BACKUP_DOMAIN;
use crate::devices::support::stm32_clock_sources::{
    DIVIDER_CYCLES, Happened, Hse, SWITCH_CYCLES, Source, Sources, named_clocks, start_time, stop_cycles,
};
use crate::devices::support::stm32f4_part::Part;
use crate::dt::reader::NodeReader;
use crate::dt::wiring::ClockId;
use crate::polling::Poll;
use crate::time::{Cycles, Hz, Ps};
use registers::*;
use tree::Settings;

/// Sources by index.
const HSI: usize = 0;
const HSE: usize = 1;
const LSE: usize = 2;
const LSI: usize = 3;
const PLL: usize = 4;
const PLLI2S: usize = 5;

/// The bit of CIR of each source, by its index: its flag, with its enable bit 8 above, and its clear bit 16 above.
const INTERRUPT_BITS: [u32; 6] = [2, 3, 1, 0, 4, 5];

/// What the device drives, in the order of `cyclescope,outputs`.
pub const OUTPUTS: [&str; 10] = [
    "SYSCLK",
    "HCLK",
    "HCLK / 8, SysTick's external clock",
    "PCLK1",
    "PCLK2",
    "the clock of APB1's timers",
    "the clock of APB2's timers",
    "the PLL's output Q, for USB, RNG and SDIO",
    "the PLLI2S's output R, for I2S",
    "RTCCLK",
];
/// The event's token.
const WAKE: u32 = 0;

/// What the board says of it.
#[derive(Clone, Debug)]
pub struct Params {
    /// Which part it is of.
    pub part: Part,
    /// The oscillators HSI, HSE, LSE and LSI, as far as the board has them.
    pub oscillators: [Option<Hz>; 4],
    /// What is at OSC_IN.
    pub hse: Hse,
    /// The times from on to ready of HSI, LSE and LSI.
    pub start: [Ps; 3],
    /// Cycles of an oscillator, and of LSI, from off until the ready flag falls.
    pub stop_cycles: [Cycles; 2],
    /// From a PLL's input to its lock.
    pub lock: Ps,
    /// Cycles of either clock that the change of SYSCLK takes.
    pub switch_cycles: Cycles,
    /// Cycles of HCLK until a divider that was written is in force.
    pub divider_cycles: Cycles,
    /// The clocks that it drives.
    pub outputs: Vec<ClockId>,
    /// Its interrupt.
    pub interrupt: Option<IrqLine>,
}

/// The device.
#[derive(Debug)]
pub struct Rcc {
    params: Params,
    /// Registers by offset / 4, as they were written.
    words: Vec<u32>,
    sources: Sources,
    /// Dividers that are in force.
    settings: Settings,
    /// When those that were written are.
    settings_at: Option<Ps>,
    alarm: Alarm,
    /// What was set so far: a loop that writes is in another state each iteration.
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32f4-rcc", "st,stm32-rcc", "st,stm32f42xx-rcc"], 1, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["#reset-cells"]);
    let oscillators = named_clocks(reader, ["hsi", "hse", "lse", "lsi"]);
    Box::new(Rcc::new(Params {
        part: Part::from_node(reader, "registers and limits"),
        oscillators,
        hse: Hse::from_node(reader, oscillators[HSE]),
        start: [
            start_time(reader, "cyclescope,hsi-start-ns", "HSI"),
            start_time(reader, "cyclescope,lse-start-us", "LSE"),
            start_time(reader, "cyclescope,lsi-start-us", "LSI"),
        ],
        stop_cycles: stop_cycles(reader),
        lock: start_time(reader, "cyclescope,pll-lock-us", "a PLL"),
        switch_cycles: reader.timing_cycles("cyclescope,switch-cycles", SWITCH_CYCLES),
        divider_cycles: reader.timing_cycles("cyclescope,divider-cycles", DIVIDER_CYCLES),
        outputs: reader.driven_clocks("cyclescope,outputs", &OUTPUTS),
        interrupt: reader.interrupt(0, "its interrupt"),
    }))
}

impl Rcc {
    /// The device after reset: SYSCLK is HSI.
    pub fn new(params: Params) -> Rcc {
        let [hsi, hse, lse, lsi] = params.oscillators;
        let [hsi_start, lse_start, lsi_start] = params.start;
        let [stop, lsi_stop] = params.stop_cycles;
        let list = vec![
            Source::oscillator(hsi, hsi_start, stop).called("HSI", "RCC_CR.HSION").running(),
            Source::oscillator(hse, params.hse.start, stop).called("HSE", "RCC_CR.HSEON"),
            Source::oscillator(lse, lse_start, stop).called("LSE", "RCC_BDCR.LSEON"),
            Source::oscillator(lsi, lsi_start, lsi_stop).called("LSI", "RCC_CSR.LSION"),
            Source::pll(params.lock, Some(HSI)).called("the PLL", "RCC_CR.PLLON"),
            Source::pll(params.lock, Some(HSI)).called("PLLI2S", "RCC_CR.PLLI2SON"),
        ];
        let mut words = vec![0; REGISTER_BYTES as usize / 4];
        for register in params.part.registers() {
            words[register.offset as usize / 4] = register.reset;
        }
        let sources = Sources::new(list, HSI, params.switch_cycles);
        let settings = Settings::default();
        Rcc { params, words, sources, settings, settings_at: None, alarm: Alarm::default(), writes: 0 }
    }

    fn get(&self, offset: u32) -> u32 {
        self.words.get(offset as usize / 4).copied().unwrap_or(0)
    }

    fn set(&mut self, offset: u32, value: u32) {
        if let Some(word) = self.words.get_mut(offset as usize / 4) {
            *word = value;
        }
    }

    /// What a read gives: what was written, and the flags.
    fn value(&self, offset: u32) -> u32 {
        let word = self.get(offset);
        let ready = |source: usize, bit: u32| flag(bit, self.sources.is_ready(source));
        let on = |source: usize, bit: u32| flag(bit, self.sources.is_on(source));
        match offset {
            CR => {
                word & !(CR_HSION | CR_HSEON | CR_PLLON | CR_PLLI2SON)
                    | on(HSI, CR_HSION)
                    | ready(HSI, CR_HSIRDY)
                    | on(HSE, CR_HSEON)
                    | ready(HSE, CR_HSERDY)
                    | on(PLL, CR_PLLON)
                    | ready(PLL, CR_PLLRDY)
                    | on(PLLI2S, CR_PLLI2SON)
                    | ready(PLLI2S, CR_PLLI2SRDY)
            }
            CFGR => word & !CFGR_SWS | tree::sw_of(self.sources.selected()) << 2,
            BDCR => word | ready(LSE, BDCR_LSERDY),
            CSR => word | ready(LSI, CSR_LSIRDY),
            _ => word,
        }
    }

    fn write_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let Some(register) = find(self.params.part.registers(), offset) else { return };
        let value = register.after_write(self.get(offset), value);
        match offset {
            CR => self.write_cr(value, ctx),
            PLLCFGR => self.write_pll(PLL, PLLCFGR, value | PLLCFGR_RESERVED, ctx),
            PLLI2SCFGR => self.write_pll(PLLI2S, PLLI2SCFGR, value, ctx),
            CFGR => self.write_cfgr(value, ctx),
            CIR => self.write_cir(value),
            BDCR => self.write_bdcr(value, ctx),
            CSR => self.write_csr(value, ctx),
            DCKCFGR => {
                self.set(DCKCFGR, value);
                self.settings_change(ctx);
            }
            SSCGR => {
                if value & SSCGR_SSCGEN != 0 {
                    ctx.note("spread spectrum (RCC_SSCGR) is not modelled: the PLL's rate stays");
                }
                self.set(SSCGR, value);
            }
            AHB1RSTR..=APB2RSTR => {
                self.set(offset, value);
                let unknown = ctx.bus.clocks.set_resets(offset + RESETS_TO_ENABLES, value);
                if unknown != 0 {
                    ctx.note(&format!(
                        "bits {unknown:#x} of the reset register at {offset:#x} are of peripherals that the model does \
                         not reset: they keep their state"
                    ));
                }
                // Who is reset is told.
                ctx.set_clocks(&[]);
            }
            AHB1ENR..=APB2ENR => {
                self.set(offset, value);
                ctx.bus.clocks.set_gates(offset, value);
                // Who follows a gate is told.
                ctx.set_clocks(&[]);
            }
            _ => self.set(offset, value),
        }
    }

    fn write_cr(&mut self, value: u32, ctx: &mut Ctx) {
        let now = ctx.now;
        // HSEBYP can only be written while HSE is off.
        let bypass = if self.sources.is_on(HSE) { self.get(CR) } else { value } & CR_HSEBYP;
        self.set(CR, value & !CR_HSEBYP | bypass);
        if value & CR_HSEON != 0 && !self.sources.is_on(HSE) {
            self.params.hse.prepare(&mut self.sources, HSE, bypass != 0, ctx);
        }
        for (source, bit) in [(HSI, CR_HSION), (HSE, CR_HSEON), (PLL, CR_PLLON), (PLLI2S, CR_PLLI2SON)] {
            let on = value & bit != 0;
            if on && !self.sources.is_on(source) && (source == PLL || source == PLLI2S) {
                self.prepare_pll(source, ctx);
            }
            self.sources.turn(source, on, now);
        }
        self.tell_why(ctx);
    }

    fn prepare_pll(&mut self, pll: usize, ctx: &mut Ctx) {
        let source = self.pll_source();
        self.sources.set_parent(pll, Some(source));
        let input = self.params.oscillators[source];
        let dividers = self.pll_dividers(pll);
        if let Some(input) = input
            && let Some(wrong) = dividers.complaint(input)
        {
            let name = if pll == PLL { "the PLL" } else { "PLLI2S" };
            ctx.note(&format!("{name} is turned on out of its range: {wrong}; it runs at that all the same"));
        }
        self.sources.set_rate(pll, input.map(|input| dividers.output(input, dividers.main)));
    }

    /// What both PLLs run by.
    fn pll_source(&self) -> usize {
        if self.get(PLLCFGR) & PLLCFGR_PLLSRC != 0 { HSE } else { HSI }
    }

    fn pll_dividers(&self, pll: usize) -> tree::Dividers {
        let (main, i2s) = (self.get(PLLCFGR), self.get(PLLI2SCFGR));
        if pll == PLL { tree::Dividers::of_pll(main) } else { tree::Dividers::of_plli2s(self.params.part, main, i2s) }
    }

    /// Factors stay while a PLL is on, and those of the input that both have in common while either is.
    fn write_pll(&mut self, pll: usize, register: u32, value: u32, ctx: &mut Ctx) {
        let before = self.get(register);
        let any_is_on = self.sources.is_on(PLL) || self.sources.is_on(PLLI2S);
        let factors = if self.sources.is_on(pll) { u32::MAX } else { 0 };
        let input = if register == PLLCFGR && any_is_on { self.params.part.pll_input() } else { 0 };
        let locked = factors | input;
        if (value ^ before) & locked != 0 {
            ctx.note("a PLL's factors were written while it was on, or the input of both while one was: they stay");
        }
        self.set(register, before & locked | value & !locked);
    }

    fn write_cfgr(&mut self, value: u32, ctx: &mut Ctx) {
        let before = self.get(CFGR);
        self.set(CFGR, value);
        if (value ^ before) & CFGR_MCO != 0 {
            ctx.note("the MCO pins (RCC_CFGR) are not modelled: nothing comes out of them");
        }
        if let Some(source) = tree::source_of_sw(value) {
            self.sources.select(source, ctx.now);
        }
        if (value ^ before) & CFGR_DIVIDERS != 0 {
            self.settings_change(ctx);
        }
    }

    /// Dividers were written: they come into force some cycles later.
    fn settings_change(&mut self, ctx: &mut Ctx) {
        let hclk = self.tree().hclk;
        self.settings_at = Some(hclk.after(ctx.now, self.params.divider_cycles));
    }

    fn write_cir(&mut self, value: u32) {
        let flags = self.get(CIR) & CIR_FLAGS & !(value >> 16);
        self.set(CIR, value & CIR_ENABLES | flags);
    }

    fn write_bdcr(&mut self, value: u32, ctx: &mut Ctx) {
        let (register, bit) = BACKUP_DOMAIN;
        if !ctx.bus.clocks.is_running(register, bit) {
            ctx.note(
                "RCC_BDCR was written while the backup domain is protected (PWR_CR.DBP is 0): the write does nothing",
            );
            return;
        }
        let value = if value & BDCR_BDRST != 0 { BDCR_BDRST } else { value };
        if value & BDCR_LSEON != 0 && self.params.oscillators[LSE].is_none() {
            ctx.note("LSE is turned on (RCC_BDCR.LSEON), and the board has no crystal there: it never gets ready");
        }
        // RTCSEL stays once it is chosen, until the domain is reset.
        let chosen = self.get(BDCR) & BDCR_RTCSEL;
        let kept = if chosen != 0 && value & BDCR_BDRST == 0 { chosen } else { value & BDCR_RTCSEL };
        self.set(BDCR, value & !BDCR_RTCSEL | kept);
        ctx.bus.clocks.set_gates(BDCR, self.get(BDCR));
        ctx.bus.clocks.set_resets(BDCR, flag(BDCR_RTCEN, value & BDCR_BDRST != 0));
        // The RTC is told of RTCEN and BDRST.
        ctx.set_clocks(&[]);
        self.sources.turn(LSE, value & BDCR_LSEON != 0, ctx.now);
        self.settings_change(ctx);
    }

    fn write_csr(&mut self, value: u32, ctx: &mut Ctx) {
        let flags = if value & CSR_RMVF != 0 { 0 } else { self.get(CSR) & CSR_RESET_FLAGS };
        self.set(CSR, value & CSR_LSION | flags);
        self.sources.turn(LSI, value & CSR_LSION != 0, ctx.now);
        self.tell_why(ctx);
    }

    /// A source was turned on or off: who waits for it is told anew what it waits for.
    fn tell_why(&mut self, ctx: &Ctx) {
        self.settings_at.get_or_insert(ctx.now);
    }

    /// What comes of the time up to now: only in an event, as clocks change at its time.
    fn advance(&mut self, ctx: &mut Ctx) {
        let happened = self.sources.advance(ctx.now);
        let dividers = self.settings_at.is_some_and(|due| due <= ctx.now);
        if dividers {
            self.settings_at = None;
            self.settings = Settings::of(self.get(CFGR), self.get(DCKCFGR), self.get(BDCR));
        }
        if happened != Happened::default() || dividers {
            self.publish(ctx);
        }
        for (source, bit) in INTERRUPT_BITS.iter().enumerate() {
            let enabled = self.get(CIR) >> (bit + 8) & 1 != 0;
            if happened.ready >> source & 1 != 0 && enabled {
                self.set(CIR, self.get(CIR) | 1 << bit);
            }
        }
    }

    /// Asks for the next event, and tells the core of flags.
    fn settle(&mut self, ctx: &mut Ctx) {
        let next = [self.sources.next(), self.settings_at].into_iter().flatten().min();
        if let Some(next) = next {
            self.alarm.set(next, WAKE, ctx);
        }
        let enabled = (self.get(CIR) & CIR_ENABLES) >> 8;
        ctx.set_irq(self.params.interrupt, self.get(CIR) & enabled != 0);
    }
}

impl Device for Rcc {
    fn reset(&mut self, ctx: &mut Ctx) {
        for register in ENABLES {
            ctx.bus.clocks.set_gates(register, self.get(register));
        }
        // RTCEN.
        ctx.bus.clocks.set_gates(BDCR, self.get(BDCR));
        self.publish(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        Ok(apb::read(self.value(offset & !3), offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.writes += 1;
        // On the AHB, where bytes have lanes of their own.
        let merged = size.merged(self.value(offset & !3), offset, value);
        self.write_register(offset & !3, merged, ctx);
        self.settle(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.advance(ctx);
        self.settle(ctx);
    }

    fn polled(&mut self, poll: &mut Poll) -> bool {
        // All that changes by itself does so in an event.
        poll.state(self.writes);
        poll.state(self.get(CIR));
        self.sources.polled(poll);
        true
    }
}
