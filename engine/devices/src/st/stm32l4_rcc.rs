//! `st,stm32l4-rcc`: the reset and clock control of an STM32L4+ (RM0432, "Reset and clock control (RCC)").
//!
//! Modelled: the oscillators (MSI in its twelve ranges) and the three PLLs with their ready flags and interrupts,
//! start-up and lock times; the selection of SYSCLK; the dividers of AHB, APB1 and APB2, and the doubled clocks of
//! timers; kernel clocks of peripherals (CCIPR, CCIPR2) and CLK48; RTC's clock; enable registers, which gate
//! peripherals; the backup domain's write protection (PWR_CR1.DBP); reset flags. The board's clock nodes follow: see
//! [`OUTPUTS`]. A clock whose source is off is stopped.
//!
//! A source that the board lacks (HSE without a crystal) never becomes ready, as on a board. A PLL out of its range,
//! and a clock above its limit, run at the set rate, with a note.
//!
//! A peripheral's reset returns its model to the state at the start; PWR and SYSCFG keep their state, with a note.
//!
//! Not modelled: trimming, and MSI's lock to LSE, as all oscillators are exact; MCO and LSCO pins; clock failures (so
//! CSSON only keeps its value); enables in Sleep and Stop.

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
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockId;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Hz, Ps};
use registers::*;
use tree::{Pll, Settings};

/// Clock sources, by index.
const MSI: usize = 0;
const HSI: usize = 1;
const HSE: usize = 2;
const LSE: usize = 3;
const LSI: usize = 4;
const HSI48: usize = 5;
const PLL: usize = 6;
const PLLSAI1: usize = 7;
const PLLSAI2: usize = 8;

/// The bit of CIER, CIFR and CICR of each source, by its index.
const INTERRUPT_BITS: [u32; 9] = [2, 3, 4, 1, 0, 10, 5, 6, 7];

/// Sources, and the bits of CR that turn them on and that show that they are ready.
const CR_SOURCES: [(usize, u32, u32); 6] = [
    (MSI, CR_MSION, CR_MSIRDY),
    (HSI, CR_HSION, CR_HSIRDY),
    (HSE, CR_HSEON, CR_HSERDY),
    (PLL, CR_PLLON, CR_PLLRDY),
    (PLLSAI1, CR_PLLSAI1ON, CR_PLLSAI1RDY),
    (PLLSAI2, CR_PLLSAI2ON, CR_PLLSAI2RDY),
];

/// Offsets of the registers.
static LAYOUT: Layout =
    Layout { resets: AHB1RSTR..=APB2RSTR, enables: AHB1ENR..=APB2ENR, bdcr: BDCR, lse: LSE, dbp_register: "PWR_CR1" };

/// The clocks that the device drives, in the order of `cyclescope,outputs`.
pub const OUTPUTS: [&str; 24] = [
    "SYSCLK",
    "HCLK",
    "HCLK / 8, SysTick's external clock",
    "PCLK1",
    "PCLK2",
    "the clock of APB1's timers",
    "the clock of APB2's timers",
    "MSI",
    "CLK48, for USB, RNG and SDMMC",
    "RTCCLK",
    "USART1's kernel clock",
    "USART2's",
    "USART3's",
    "UART4's",
    "UART5's",
    "LPUART1's",
    "I2C1's",
    "I2C2's",
    "I2C3's",
    "I2C4's",
    "LPTIM1's",
    "LPTIM2's",
    "the ADC's clock",
    "the OCTOSPIs' clock",
];

/// The board's parameters of the RCC.
#[derive(Clone, Debug)]
pub struct Params {
    /// HSI16, HSE, LSE, LSI and HSI48; `None` if the board lacks one.
    pub oscillators: [Option<Hz>; 5],
    /// The source at OSC_IN.
    pub hse: Hse,
    /// Start-up times of MSI, HSI16, LSE, LSI and HSI48.
    pub start: [Ps; 5],
    /// Cycles of an oscillator, and of LSI, from its disable until the ready flag falls.
    pub stop_cycles: [Cycles; 2],
    /// Lock time of a PLL.
    pub lock: Ps,
    /// Cycles of either clock for a switch of SYSCLK.
    pub switch_cycles: Cycles,
    /// Cycles of HCLK until a divider, or MSI's range, takes effect.
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
    /// Dividers and selections in force.
    settings: Settings,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32l4-rcc"], 1, from_node).with_activities(CLOCKS).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["#reset-cells"]);
    let oscillators = named_clocks(reader, ["hsi", "hse", "lse", "lsi", "hsi48"]);
    Box::new(Rcc::new(Params {
        oscillators,
        hse: Hse::from_node(reader, oscillators[HSE - 1]),
        start: [
            start_time(reader, "cyclescope,msi-start-ns", "MSI"),
            start_time(reader, "cyclescope,hsi-start-ns", "HSI16"),
            start_time(reader, "cyclescope,lse-start-us", "LSE"),
            start_time(reader, "cyclescope,lsi-start-us", "LSI"),
            start_time(reader, "cyclescope,hsi48-start-ns", "HSI48"),
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
    /// The device after reset: SYSCLK is MSI at 4 MHz.
    pub fn new(params: Params) -> Rcc {
        let [hsi, hse, lse, lsi, hsi48] = params.oscillators;
        let msi = Some(tree::msi_rate(MSI_RANGE_RESET));
        let [msi_start, hsi_start, lse_start, lsi_start, hsi48_start] = params.start;
        let [stop, lsi_stop] = params.stop_cycles;
        let list = vec![
            Source::oscillator(msi, msi_start, stop).called("MSI", "RCC_CR.MSION").running(),
            Source::oscillator(hsi, hsi_start, stop).called("HSI16", "RCC_CR.HSION"),
            Source::oscillator(hse, params.hse.start, stop).called("HSE", "RCC_CR.HSEON"),
            Source::oscillator(lse, lse_start, stop).called("LSE", "RCC_BDCR.LSEON"),
            Source::oscillator(lsi, lsi_start, lsi_stop).called("LSI", "RCC_CSR.LSION"),
            Source::oscillator(hsi48, hsi48_start, stop).called("HSI48", "RCC_CRRCR.HSI48ON"),
            Source::pll(params.lock, None).called("the PLL", "RCC_CR.PLLON"),
            Source::pll(params.lock, None).called("PLLSAI1", "RCC_CR.PLLSAI1ON"),
            Source::pll(params.lock, None).called("PLLSAI2", "RCC_CR.PLLSAI2ON"),
        ];
        let sources = Sources::new(list, MSI, params.switch_cycles);
        let state = RccState::new(&LAYOUT, REGISTERS, sources);
        let settings = Settings::default();
        Rcc { params, state, settings }
    }

    /// The value of a register: its written bits, and the flags.
    fn value(&self, offset: u32) -> u32 {
        let word = self.state.get(offset);
        let ready = |source: usize, bit: u32| flag(bit, self.state.sources.is_ready(source));
        match offset {
            CR => CR_SOURCES.iter().fold(word, |word, (source, on_bit, ready_bit)| {
                word & !on_bit | flag(*on_bit, self.state.sources.is_on(*source)) | ready(*source, *ready_bit)
            }),
            CFGR => word & !CFGR_SWS | tree::sw_of(self.state.sources.selected()) << 2,
            BDCR => word | ready(LSE, BDCR_LSERDY),
            CSR => word | ready(LSI, CSR_LSIRDY),
            CRRCR => word | ready(HSI48, CRRCR_HSI48RDY),
            _ => word,
        }
    }

    fn write_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let Some(register) = find(REGISTERS, offset) else { return };
        let value = register.after_write(self.state.get(offset), value);
        match offset {
            CR => self.write_cr(value, ctx),
            CFGR => self.write_cfgr(value, ctx),
            PLLCFGR => self.write_pll(PLL, offset, value, ctx),
            PLLSAI1CFGR => self.write_pll(PLLSAI1, offset, value, ctx),
            PLLSAI2CFGR => self.write_pll(PLLSAI2, offset, value, ctx),
            CICR => self.state.set(CIFR, self.state.get(CIFR) & !value),
            BDCR => {
                if self.state.write_bdcr(value, ctx) {
                    self.settings_change(ctx);
                }
            }
            CSR => self.write_csr(value, ctx),
            CRRCR => {
                self.state.set(CRRCR, value);
                self.state.sources.turn(HSI48, value & CRRCR_HSI48ON != 0, ctx.now);
                self.state.report_why(ctx);
            }
            CCIPR | CCIPR2 => {
                self.state.set(offset, value);
                self.settings_change(ctx);
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

    /// The time from which a peripheral has the clock that a register enables now (RM0432, "Peripheral clock enable
    /// register": a delay of 2 cycles of that clock).
    fn clocked_from(&self, register: u32, now: Ps) -> Ps {
        let tree = self.tree();
        let (hclk, pclk) = (tree.hclk, tree.pclk);
        let clock = match register {
            APB2ENR => pclk[1],
            APB1ENR1.. => pclk[0],
            _ => hclk,
        };
        clock.after(now, Cycles(2))
    }

    fn write_cr(&mut self, value: u32, ctx: &mut Ctx) {
        let before = self.state.get(CR);
        // Writing 0 does not change MSIRGSEL.
        let value = value | before & CR_MSIRGSEL;
        // HSEBYP is writable only while HSE is off.
        let bypass = if self.state.sources.is_on(HSE) { before } else { value } & CR_HSEBYP;
        self.state.set(CR, value & !CR_HSEBYP | bypass);
        if (value ^ before) & (CR_MSIRANGE | CR_MSIRGSEL) != 0 {
            if self.state.sources.is_on(MSI) && !self.state.sources.is_ready(MSI) {
                ctx.note("MSI's range (RCC_CR.MSIRANGE) was written while MSI was starting, which the manual forbids");
            }
            self.settings_change(ctx);
        }
        if value & CR_HSEON != 0 && !self.state.sources.is_on(HSE) {
            self.params.hse.prepare(&mut self.state.sources, HSE, bypass != 0, ctx);
        }
        for (source, on_bit, _) in CR_SOURCES {
            let on = value & on_bit != 0;
            if on && source >= PLL && !self.state.sources.is_on(source) {
                self.prepare_pll(source, ctx);
            }
            self.state.sources.turn(source, on, ctx.now);
        }
        self.state.report_why(ctx);
    }

    fn prepare_pll(&mut self, pll: usize, ctx: &mut Ctx) {
        let source = tree::pll_source(self.state.get(PLLCFGR));
        self.state.sources.set_parent(pll, source);
        let name = ["the PLL", "PLLSAI1", "PLLSAI2"][pll - PLL];
        let Some(input) = source.and_then(|source| self.state.sources.rate(source)) else {
            if source.is_none() {
                ctx.note(&format!(
                    "{name} was turned on without an input (RCC_PLLCFGR.PLLSRC): it never becomes ready"
                ));
            }
            return;
        };
        let factors = Pll::of(self.state.get(pll_register(pll)));
        if let Some(wrong) = factors.complaint(input) {
            ctx.note(&format!("{name} was turned on out of its range: {wrong}; it runs nevertheless"));
        }
        self.state.sources.set_rate(pll, Some(factors.output(input, factors.r)));
    }

    /// Factors can't change while their PLL is on, nor the common input while any PLL is on. Outputs can be turned on
    /// and off, except for the source of SYSCLK.
    fn write_pll(&mut self, pll: usize, register: u32, value: u32, ctx: &mut Ctx) {
        let before = self.state.get(register);
        let any_is_on = [PLL, PLLSAI1, PLLSAI2].into_iter().any(|pll| self.state.sources.is_on(pll));
        let is_sysclk = pll == PLL && self.state.sources.is_in_use(PLL);
        let factors = if self.state.sources.is_on(pll) { !PLL_OUTPUTS } else { 0 };
        let input = if register == PLLCFGR && any_is_on { PLLCFGR_INPUT } else { 0 };
        let locked = factors | input | flag(PLL_REN, is_sysclk);
        if (value ^ before) & locked & !PLL_REN != 0 {
            ctx.note(
                "a running PLL's factors, or the common input of running PLLs, were written: they keep their values",
            );
        }
        if (value ^ before) & locked & PLL_REN != 0 {
            ctx.note("RCC_PLLCFGR.PLLREN was cleared while SYSCLK comes from the PLL, which has no effect");
        }
        self.state.set(register, before & locked | value & !locked);
        self.select(ctx);
        self.settings_change(ctx);
    }

    /// Switches SYSCLK to the source that RCC_CFGR.SW selects, once that is ready.
    fn select(&mut self, ctx: &mut Ctx) {
        let source = tree::source_of_sw(self.state.get(CFGR));
        if source == PLL && self.state.get(PLLCFGR) & PLL_REN == 0 {
            ctx.note(
                "the PLL was selected for SYSCLK with its output R off (RCC_PLLCFGR.PLLREN): SYSCLK keeps its source",
            );
            return;
        }
        self.state.sources.select(source, ctx.now);
    }

    fn write_cfgr(&mut self, value: u32, ctx: &mut Ctx) {
        let before = self.state.get(CFGR);
        self.state.set(CFGR, value);
        if (value ^ before) & CFGR_MCO != 0 {
            ctx.note("the MCO pin (RCC_CFGR) is not modelled: it has no output");
        }
        self.select(ctx);
        if (value ^ before) & CFGR_DIVIDERS != 0 {
            self.settings_change(ctx);
        }
    }

    /// Dividers or selections were written: they take effect some cycles later.
    fn settings_change(&mut self, ctx: &mut Ctx) {
        let hclk = self.tree().hclk;
        self.state.settings_change(hclk, self.params.divider_cycles, ctx);
    }

    fn write_csr(&mut self, value: u32, ctx: &mut Ctx) {
        let flags = if value & CSR_RMVF != 0 { 0 } else { self.state.get(CSR) & CSR_RESET_FLAGS };
        // MSI's range after Standby can be written while RCC_CR.MSIRANGE is in use.
        let range = if self.state.get(CR) & CR_MSIRGSEL != 0 { value } else { self.state.get(CSR) } & CSR_MSISRANGE;
        self.state.set(CSR, value & CSR_LSION | range | flags);
        self.state.sources.turn(LSI, value & CSR_LSION != 0, ctx.now);
        self.state.report_why(ctx);
    }

    /// Applies the changes up to now; called in events only, as clocks change at an event's time.
    fn advance(&mut self, ctx: &mut Ctx) {
        let settings = self.state.settings_are_due(ctx.now);
        if settings {
            self.settings = Settings::of(|offset| self.state.get(offset));
            self.state.sources.set_rate(MSI, Some(tree::msi_rate(self.settings.msi_range())));
        }
        let happened = self.state.sources.advance(ctx.now);
        if happened != Happened::default() || settings {
            self.publish(ctx);
        }
        for (source, bit) in INTERRUPT_BITS.iter().enumerate() {
            let enabled = self.state.get(CIER) >> bit & 1 != 0;
            if happened.ready >> source & 1 != 0 && enabled {
                self.state.set(CIFR, self.state.get(CIFR) | 1 << bit);
            }
        }
    }

    /// Schedules the next event, and updates the interrupt.
    fn settle(&mut self, ctx: &mut Ctx) {
        self.state.wake(ctx);
        ctx.set_irq(self.params.interrupt, self.state.get(CIFR) & self.state.get(CIER) != 0);
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
        poll.state(self.state.get(CIFR));
        self.state.polled(poll);
        true
    }
}
