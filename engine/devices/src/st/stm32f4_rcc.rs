//! `st,stm32f4-rcc`: the reset and clock control of an STM32F4 (RM0090, "Reset and clock control for STM32F405xx/07xx
//! and STM32F415xx/17xx (RCC)"; RM0383, the same chapter).
//!
//! Modelled: the oscillators and PLLs with their ready flags and interrupts, start-up and lock times; the selection of
//! SYSCLK; the dividers of AHB, APB1 and APB2, and the doubled clocks of timers; the PLL's outputs; RTC's clock; enable
//! registers, which gate peripherals; the backup domain's write protection (PWR_CR.DBP); reset flags. The board's clock
//! nodes follow: see [`OUTPUTS`]. A clock whose source is off is stopped.
//!
//! A source that the board lacks (HSE without a crystal) never becomes ready, as on a board. A PLL out of its range,
//! and a clock above its limit, run at the set rate, with a note.
//!
//! A peripheral's reset returns its model to the state at the start; PWR and SYSCFG keep their state, with a note.
//!
//! Not modelled: spread spectrum, MCO pins and HSE failures (so CSSON only keeps its value); low-power enables, as
//! Sleep is the only low-power mode.

mod registers;
mod tree;

#[cfg(test)]
mod tests;

use crate::model::{Group, Model};
use crate::support::activities::CLOCKS;
use crate::support::apb;
use crate::support::registers::{find, flag};
use crate::support::stm32_clock_sources::{
    DIVIDER_CYCLES, Happened, Hse, SWITCH_CYCLES, Source, Sources, named_clocks, start_time, stop_cycles,
};
use crate::support::stm32_rcc::{BDCR_LSERDY, Layout, RccState};
use crate::support::stm32f4_part::Part;
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockId;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Hz, Ps};
use registers::*;
use tree::Settings;

/// Clock sources, by index.
const HSI: usize = 0;
const HSE: usize = 1;
const LSE: usize = 2;
const LSI: usize = 3;
const PLL: usize = 4;
const PLLI2S: usize = 5;

/// The bit of CIR of each source, by its index: its flag; its enable bit is 8 above, and its clear bit 16 above.
const INTERRUPT_BITS: [u32; 6] = [2, 3, 1, 0, 4, 5];

/// Offsets of the registers.
static LAYOUT: Layout =
    Layout { resets: AHB1RSTR..=APB2RSTR, enables: AHB1ENR..=APB2ENR, bdcr: BDCR, lse: LSE, dbp_register: "PWR_CR" };

/// The clocks that the device drives, in the order of `cyclescope,outputs`.
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

/// The board's parameters of the RCC.
#[derive(Clone, Debug)]
pub struct Params {
    /// The part that it belongs to.
    pub part: Part,
    /// The oscillators HSI, HSE, LSE and LSI; `None` if the board lacks one.
    pub oscillators: [Option<Hz>; 4],
    /// The source at OSC_IN.
    pub hse: Hse,
    /// Start-up times of HSI, LSE and LSI.
    pub start: [Ps; 3],
    /// Cycles of an oscillator, and of LSI, from its disable until the ready flag falls.
    pub stop_cycles: [Cycles; 2],
    /// Lock time of a PLL.
    pub lock: Ps,
    /// Cycles of either clock for a switch of SYSCLK.
    pub switch_cycles: Cycles,
    /// Cycles of HCLK until a written divider takes effect.
    pub divider_cycles: Cycles,
    /// The clocks that it drives.
    pub outputs: Vec<ClockId>,
    /// Its interrupt.
    pub interrupt: Option<IrqLine>,
}

/// The device.
#[derive(Debug, State)]
pub struct Rcc {
    #[state(skip)]
    params: Params,
    /// The state that all RCC models share.
    state: RccState,
    /// The dividers in force.
    settings: Settings,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32f4-rcc", "st,stm32-rcc", "st,stm32f42xx-rcc"], 1, from_node)
        .with_activities(CLOCKS);

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
        let sources = Sources::new(list, HSI, params.switch_cycles);
        let state = RccState::new(&LAYOUT, params.part.registers(), sources);
        let settings = Settings::default();
        Rcc { params, state, settings }
    }

    /// The value of a register: its written bits, and the flags.
    fn value(&self, offset: u32) -> u32 {
        let word = self.state.get(offset);
        let ready = |source: usize, bit: u32| flag(bit, self.state.sources.is_ready(source));
        let on = |source: usize, bit: u32| flag(bit, self.state.sources.is_on(source));
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
            CFGR => word & !CFGR_SWS | tree::sw_of(self.state.sources.selected()) << 2,
            BDCR => word | ready(LSE, BDCR_LSERDY),
            CSR => word | ready(LSI, CSR_LSIRDY),
            _ => word,
        }
    }

    fn write_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let Some(register) = find(self.params.part.registers(), offset) else { return };
        let value = register.after_write(self.state.get(offset), value);
        match offset {
            CR => self.write_cr(value, ctx),
            PLLCFGR => self.write_pll(PLL, PLLCFGR, value | PLLCFGR_RESERVED, ctx),
            PLLI2SCFGR => self.write_pll(PLLI2S, PLLI2SCFGR, value, ctx),
            CFGR => self.write_cfgr(value, ctx),
            CIR => self.write_cir(value),
            BDCR => {
                if self.state.write_bdcr(value, ctx) {
                    self.settings_change(ctx);
                }
            }
            CSR => self.write_csr(value, ctx),
            DCKCFGR => {
                self.state.set(DCKCFGR, value);
                self.settings_change(ctx);
            }
            SSCGR => {
                if value & SSCGR_SSCGEN != 0 {
                    ctx.note("spread spectrum (RCC_SSCGR) is not modelled: the PLL's rate stays constant");
                }
                self.state.set(SSCGR, value);
            }
            _ => {
                if self.state.is_enable(offset) {
                    self.state.enable_from(offset, value, self.clocked_from(offset, ctx.now), ctx);
                }
                if !self.state.write(offset, value, ctx) {
                    self.state.set(offset, value);
                }
            }
        }
    }

    /// The time from which a peripheral has the clock that a register enables now (ES0182 and ES0287, "Delay after an
    /// RCC peripheral clock enabling"): 2 cycles of AHB, or 1 plus the bus's divider.
    fn clocked_from(&self, register: u32, now: Ps) -> Ps {
        let tree = self.tree();
        let (hclk, pclk) = (tree.hclk, tree.pclk);
        let cycles = match register {
            APB2ENR => 1 + hclk.get() / pclk[1].get().max(1),
            APB1ENR.. => 1 + hclk.get() / pclk[0].get().max(1),
            _ => 2,
        };
        hclk.after(now, Cycles(cycles))
    }

    fn write_cr(&mut self, value: u32, ctx: &mut Ctx) {
        let now = ctx.now;
        // HSEBYP is writable only while HSE is off.
        let bypass = if self.state.sources.is_on(HSE) { self.state.get(CR) } else { value } & CR_HSEBYP;
        self.state.set(CR, value & !CR_HSEBYP | bypass);
        if value & CR_HSEON != 0 && !self.state.sources.is_on(HSE) {
            self.params.hse.prepare(&mut self.state.sources, HSE, bypass != 0, ctx);
        }
        for (source, bit) in [(HSI, CR_HSION), (HSE, CR_HSEON), (PLL, CR_PLLON), (PLLI2S, CR_PLLI2SON)] {
            let on = value & bit != 0;
            if on && !self.state.sources.is_on(source) && (source == PLL || source == PLLI2S) {
                self.prepare_pll(source, ctx);
            }
            self.state.sources.turn(source, on, now);
        }
        self.state.report_why(ctx);
    }

    fn prepare_pll(&mut self, pll: usize, ctx: &mut Ctx) {
        let source = self.pll_source();
        self.state.sources.set_parent(pll, Some(source));
        let input = self.params.oscillators[source];
        let dividers = self.pll_dividers(pll);
        if let Some(input) = input
            && let Some(wrong) = dividers.complaint(input)
        {
            let name = if pll == PLL { "the PLL" } else { "PLLI2S" };
            ctx.note(&format!("{name} was turned on out of its range: {wrong}; it runs nevertheless"));
        }
        self.state.sources.set_rate(pll, input.map(|input| dividers.output(input, dividers.main)));
    }

    /// The source of both PLLs.
    fn pll_source(&self) -> usize {
        if self.state.get(PLLCFGR) & PLLCFGR_PLLSRC != 0 { HSE } else { HSI }
    }

    fn pll_dividers(&self, pll: usize) -> tree::Dividers {
        let (main, i2s) = (self.state.get(PLLCFGR), self.state.get(PLLI2SCFGR));
        if pll == PLL { tree::Dividers::of_pll(main) } else { tree::Dividers::of_plli2s(self.params.part, main, i2s) }
    }

    /// Factors can't change while their PLL is on, nor the common input while either PLL is on.
    fn write_pll(&mut self, pll: usize, register: u32, value: u32, ctx: &mut Ctx) {
        let before = self.state.get(register);
        let any_is_on = self.state.sources.is_on(PLL) || self.state.sources.is_on(PLLI2S);
        let factors = if self.state.sources.is_on(pll) { u32::MAX } else { 0 };
        let input = if register == PLLCFGR && any_is_on { self.params.part.pll_input() } else { 0 };
        let locked = factors | input;
        if (value ^ before) & locked != 0 {
            ctx.note(
                "a running PLL's factors, or the common input of running PLLs, were written: they keep their values",
            );
        }
        self.state.set(register, before & locked | value & !locked);
    }

    fn write_cfgr(&mut self, value: u32, ctx: &mut Ctx) {
        let before = self.state.get(CFGR);
        self.state.set(CFGR, value);
        if (value ^ before) & CFGR_MCO != 0 {
            ctx.note("the MCO pins (RCC_CFGR) are not modelled: they have no output");
        }
        if let Some(source) = tree::source_of_sw(value) {
            self.state.sources.select(source, ctx.now);
        }
        if (value ^ before) & CFGR_DIVIDERS != 0 {
            self.settings_change(ctx);
        }
    }

    /// Dividers were written: they take effect some cycles later.
    fn settings_change(&mut self, ctx: &mut Ctx) {
        let hclk = self.tree().hclk;
        self.state.settings_change(hclk, self.params.divider_cycles, ctx);
    }

    fn write_cir(&mut self, value: u32) {
        let flags = self.state.get(CIR) & CIR_FLAGS & !(value >> 16);
        self.state.set(CIR, value & CIR_ENABLES | flags);
    }

    fn write_csr(&mut self, value: u32, ctx: &mut Ctx) {
        let flags = if value & CSR_RMVF != 0 { 0 } else { self.state.get(CSR) & CSR_RESET_FLAGS };
        self.state.set(CSR, value & CSR_LSION | flags);
        self.state.sources.turn(LSI, value & CSR_LSION != 0, ctx.now);
        self.state.report_why(ctx);
    }

    /// Applies the changes up to now; called in events only, as clocks change at an event's time.
    fn advance(&mut self, ctx: &mut Ctx) {
        let happened = self.state.sources.advance(ctx.now);
        let dividers = self.state.settings_are_due(ctx.now);
        if dividers {
            self.settings = Settings::of(self.state.get(CFGR), self.state.get(DCKCFGR), self.state.get(BDCR));
        }
        if happened != Happened::default() || dividers {
            self.publish(ctx);
        }
        for (source, bit) in INTERRUPT_BITS.iter().enumerate() {
            let enabled = self.state.get(CIR) >> (bit + 8) & 1 != 0;
            if happened.ready >> source & 1 != 0 && enabled {
                self.state.set(CIR, self.state.get(CIR) | 1 << bit);
            }
        }
    }

    /// Schedules the next event, and updates the interrupt.
    fn settle(&mut self, ctx: &mut Ctx) {
        self.state.wake(ctx);
        let enabled = (self.state.get(CIR) & CIR_ENABLES) >> 8;
        ctx.set_irq(self.params.interrupt, self.state.get(CIR) & enabled != 0);
    }
}

impl Device for Rcc {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.state.start(ctx);
        self.publish(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        if self.state.is_enable(offset & !3) {
            ctx.bus.clocks.opened(offset & !3);
        }
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
        self.state.count_write();
        // On the AHB, bytes have their own lanes.
        let merged = size.merged(self.value(offset & !3), offset, value);
        self.write_register(offset & !3, merged, ctx);
        self.settle(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.state.rang(ctx.now);
        self.advance(ctx);
        self.settle(ctx);
    }
}

impl Polled for Rcc {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        // All changes without an access happen in events.
        poll.state(self.state.get(CIR));
        self.state.polled(poll);
        true
    }
}
