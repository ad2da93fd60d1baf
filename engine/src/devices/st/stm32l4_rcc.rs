//! `st,stm32l4-rcc`: the reset and clock control of an STM32L4+ (RM0432, "Reset and clock control (RCC)").
//!
//! Modelled: the oscillators (MSI in its twelve ranges) and the three PLLs with their ready flags and interrupts,
//! start-up and lock times; SYSCLK's choice; the dividers of AHB, APB1 and APB2, and the doubled clocks of timers;
//! kernel clocks of peripherals (CCIPR, CCIPR2) and CLK48; RTC's clock; enable registers, which gate peripherals; the
//! backup domain's write protection (PWR_CR1.DBP); reset flags. The board's clock nodes follow: see [`OUTPUTS`]. One
//! whose source is off stands still.
//!
//! What is asked for and not there (HSE without a crystal) never gets ready, as on a board. A PLL out of its range, and
//! a clock above its limit, run at what is set, with a note.
//!
//! A peripheral's reset has its model go back to where it was at the start; PWR and SYSCFG keep their state, with a
//! note.
//!
//! Not modelled: trimming, and MSI's lock to LSE, as all oscillators are
//! exact; MCO and LSCO pins; clocks that fail (so CSSON only keeps its value); enables in Sleep and Stop.

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
use crate::dt::reader::NodeReader;
use crate::dt::wiring::ClockId;
use crate::polling::Poll;
use crate::time::{Cycles, Hz, Ps};
use registers::*;
use tree::{Pll, Settings};

/// Sources by index.
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

/// The bits of CR that turn a source on and tell that it is ready.
const CR_SOURCES: [(usize, u32, u32); 6] = [
    (MSI, CR_MSION, CR_MSIRDY),
    (HSI, CR_HSION, CR_HSIRDY),
    (HSE, CR_HSEON, CR_HSERDY),
    (PLL, CR_PLLON, CR_PLLRDY),
    (PLLSAI1, CR_PLLSAI1ON, CR_PLLSAI1RDY),
    (PLLSAI2, CR_PLLSAI2ON, CR_PLLSAI2RDY),
];

/// What the device drives, in the order of `cyclescope,outputs`.
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
    "the ADC's",
    "the OCTOSPIs'",
];
/// The event's token.
const WAKE: u32 = 0;

/// What the board says of it.
#[derive(Clone, Debug)]
pub struct Params {
    /// HSI16, HSE, LSE, LSI and HSI48, as far as the board has them.
    pub oscillators: [Option<Hz>; 5],
    /// What is at OSC_IN.
    pub hse: Hse,
    /// The times from on to ready of MSI, HSI16, LSE, LSI and HSI48.
    pub start: [Ps; 5],
    /// Cycles of an oscillator, and of LSI, from off until the ready flag falls.
    pub stop_cycles: [Cycles; 2],
    /// From a PLL's input to its lock.
    pub lock: Ps,
    /// Cycles of either clock that the change of SYSCLK takes.
    pub switch_cycles: Cycles,
    /// Cycles of HCLK until a divider, or MSI's range, is in force.
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
    /// Dividers and choices that are in force.
    settings: Settings,
    /// When those that were written are.
    settings_at: Option<Ps>,
    alarm: Alarm,
    /// What was set so far: a loop that writes is in another state each iteration.
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32l4-rcc"], 1, from_node);

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
    /// The device after reset: SYSCLK is MSI, of 4 MHz.
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
        let mut words = vec![0; REGISTER_BYTES as usize / 4];
        for register in REGISTERS {
            words[register.offset as usize / 4] = register.reset;
        }
        let sources = Sources::new(list, MSI, params.switch_cycles);
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
        match offset {
            CR => CR_SOURCES.iter().fold(word, |word, (source, on_bit, ready_bit)| {
                word & !on_bit | flag(*on_bit, self.sources.is_on(*source)) | ready(*source, *ready_bit)
            }),
            CFGR => word & !CFGR_SWS | tree::sw_of(self.sources.selected()) << 2,
            BDCR => word | ready(LSE, BDCR_LSERDY),
            CSR => word | ready(LSI, CSR_LSIRDY),
            CRRCR => word | ready(HSI48, CRRCR_HSI48RDY),
            _ => word,
        }
    }

    fn write_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let Some(register) = find(REGISTERS, offset) else { return };
        let value = register.after_write(self.get(offset), value);
        match offset {
            CR => self.write_cr(value, ctx),
            CFGR => self.write_cfgr(value, ctx),
            PLLCFGR => self.write_pll(PLL, offset, value, ctx),
            PLLSAI1CFGR => self.write_pll(PLLSAI1, offset, value, ctx),
            PLLSAI2CFGR => self.write_pll(PLLSAI2, offset, value, ctx),
            CICR => self.set(CIFR, self.get(CIFR) & !value),
            BDCR => self.write_bdcr(value, ctx),
            CSR => self.write_csr(value, ctx),
            CRRCR => {
                self.set(CRRCR, value);
                self.sources.turn(HSI48, value & CRRCR_HSI48ON != 0, ctx.now);
                self.tell_why(ctx);
            }
            CCIPR | CCIPR2 => {
                self.set(offset, value);
                self.settings_change(ctx);
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
        let before = self.get(CR);
        // A zero leaves MSIRGSEL as it is.
        let value = value | before & CR_MSIRGSEL;
        // HSEBYP can only be written while HSE is off.
        let bypass = if self.sources.is_on(HSE) { before } else { value } & CR_HSEBYP;
        self.set(CR, value & !CR_HSEBYP | bypass);
        if (value ^ before) & (CR_MSIRANGE | CR_MSIRGSEL) != 0 {
            if self.sources.is_on(MSI) && !self.sources.is_ready(MSI) {
                ctx.note("MSI's range (RCC_CR.MSIRANGE) was written while MSI was starting, which the manual forbids");
            }
            self.settings_change(ctx);
        }
        if value & CR_HSEON != 0 && !self.sources.is_on(HSE) {
            self.params.hse.prepare(&mut self.sources, HSE, bypass != 0, ctx);
        }
        for (source, on_bit, _) in CR_SOURCES {
            let on = value & on_bit != 0;
            if on && source >= PLL && !self.sources.is_on(source) {
                self.prepare_pll(source, ctx);
            }
            self.sources.turn(source, on, ctx.now);
        }
        self.tell_why(ctx);
    }

    fn prepare_pll(&mut self, pll: usize, ctx: &mut Ctx) {
        let source = tree::pll_source(self.get(PLLCFGR));
        self.sources.set_parent(pll, source);
        let name = ["the PLL", "PLLSAI1", "PLLSAI2"][pll - PLL];
        let Some(input) = source.and_then(|source| self.sources.rate(source)) else {
            if source.is_none() {
                ctx.note(&format!("{name} is turned on without an input (RCC_PLLCFGR.PLLSRC): it never gets ready"));
            }
            return;
        };
        let factors = Pll::of(self.get(pll_register(pll)));
        if let Some(wrong) = factors.complaint(input) {
            ctx.note(&format!("{name} is turned on out of its range: {wrong}; it runs at that all the same"));
        }
        self.sources.set_rate(pll, Some(factors.output(input, factors.r)));
    }

    /// Factors stay while a PLL is on, and the input that all have in common while any is; outputs can be turned on and
    /// off, but for the one that SYSCLK comes from.
    fn write_pll(&mut self, pll: usize, register: u32, value: u32, ctx: &mut Ctx) {
        let before = self.get(register);
        let any_is_on = [PLL, PLLSAI1, PLLSAI2].into_iter().any(|pll| self.sources.is_on(pll));
        let is_sysclk = pll == PLL && self.sources.is_in_use(PLL);
        let factors = if self.sources.is_on(pll) { !PLL_OUTPUTS } else { 0 };
        let input = if register == PLLCFGR && any_is_on { PLLCFGR_INPUT } else { 0 };
        let locked = factors | input | flag(PLL_REN, is_sysclk);
        if (value ^ before) & locked & !PLL_REN != 0 {
            ctx.note("a PLL's factors were written while it was on, or the input of all while one was: they stay");
        }
        if (value ^ before) & locked & PLL_REN != 0 {
            ctx.note("RCC_PLLCFGR.PLLREN was cleared while SYSCLK comes from the PLL, which has no effect");
        }
        self.set(register, before & locked | value & !locked);
        self.select(ctx);
        self.settings_change(ctx);
    }

    /// SYSCLK comes from what RCC_CFGR.SW selects, once that is there.
    fn select(&mut self, ctx: &mut Ctx) {
        let source = tree::source_of_sw(self.get(CFGR));
        if source == PLL && self.get(PLLCFGR) & PLL_REN == 0 {
            ctx.note("SYSCLK is to come from the PLL, whose output R is off (RCC_PLLCFGR.PLLREN): it stays as it is");
            return;
        }
        self.sources.select(source, ctx.now);
    }

    fn write_cfgr(&mut self, value: u32, ctx: &mut Ctx) {
        let before = self.get(CFGR);
        self.set(CFGR, value);
        if (value ^ before) & CFGR_MCO != 0 {
            ctx.note("the MCO pin (RCC_CFGR) is not modelled: nothing comes out of it");
        }
        self.select(ctx);
        if (value ^ before) & CFGR_DIVIDERS != 0 {
            self.settings_change(ctx);
        }
    }

    /// Dividers or choices were written: they come into force some cycles later.
    fn settings_change(&mut self, ctx: &mut Ctx) {
        let hclk = self.tree().hclk;
        self.settings_at = Some(hclk.after(ctx.now, self.params.divider_cycles));
    }

    fn write_bdcr(&mut self, value: u32, ctx: &mut Ctx) {
        let (register, bit) = BACKUP_DOMAIN;
        if !ctx.bus.clocks.is_running(register, bit) {
            ctx.note(
                "RCC_BDCR was written while the backup domain is protected (PWR_CR1.DBP is 0): the write does nothing",
            );
            return;
        }
        let value = if value & BDCR_BDRST != 0 { BDCR_BDRST } else { value };
        if value & BDCR_LSEON != 0 && self.sources.rate(LSE).is_none() {
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
        // The range behind Standby can be written where RCC_CR.MSIRANGE holds.
        let range = if self.get(CR) & CR_MSIRGSEL != 0 { value } else { self.get(CSR) } & CSR_MSISRANGE;
        self.set(CSR, value & CSR_LSION | range | flags);
        self.sources.turn(LSI, value & CSR_LSION != 0, ctx.now);
        self.tell_why(ctx);
    }

    /// A source was turned on or off: who waits for it is told anew what it waits for.
    fn tell_why(&mut self, ctx: &Ctx) {
        self.settings_at.get_or_insert(ctx.now);
    }

    /// What comes of the time up to now: only in an event, as clocks change at its time.
    fn advance(&mut self, ctx: &mut Ctx) {
        let settings = self.settings_at.is_some_and(|due| due <= ctx.now);
        if settings {
            self.settings_at = None;
            self.settings = Settings::of(|offset| self.get(offset));
            self.sources.set_rate(MSI, Some(tree::msi_rate(self.settings.msi_range())));
        }
        let happened = self.sources.advance(ctx.now);
        if happened != Happened::default() || settings {
            self.publish(ctx);
        }
        for (source, bit) in INTERRUPT_BITS.iter().enumerate() {
            let enabled = self.get(CIER) >> bit & 1 != 0;
            if happened.ready >> source & 1 != 0 && enabled {
                self.set(CIFR, self.get(CIFR) | 1 << bit);
            }
        }
    }

    /// Asks for the next event, and tells the core of flags.
    fn settle(&mut self, ctx: &mut Ctx) {
        let next = [self.sources.next(), self.settings_at].into_iter().flatten().min();
        if let Some(next) = next {
            self.alarm.set(next, WAKE, ctx);
        }
        ctx.set_irq(self.params.interrupt, self.get(CIFR) & self.get(CIER) != 0);
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
        poll.state(self.get(CIFR));
        self.sources.polled(poll);
        true
    }
}
