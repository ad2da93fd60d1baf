//! `atmel,sama5d2-aic`: Advanced Interrupt Controller (SAMA5D2 datasheet DS60001476, section AIC; nesting and latencies
//! as the SAM9 datasheets have them in more detail).
//!
//! Modelled: 128 sources selected by AIC_SSR, level and edge sensitive, set and cleared by software where edge
//! sensitive; eight priorities with the stack of interrupts in service (reading AIC_IVR pushes, AIC_EOICR pops), the
//! spurious vector, source 0 as the FIQ, protection mode, the general mask, write protection. A source takes the AIC's
//! clocks to reach the core.
//!
//! An input after the sources, number 128, is SFR_AICREDIR.NSAIC. On the chip, while that bit is 0, interrupts of
//! secure peripherals go to a second controller, the secure AIC, which is not modelled. In the model all interrupts
//! come here, and a note says so.
//!
//! Not modelled: active-low external sources (those pins are not connected).

use crate::model::{Group, Model};
use crate::support::apb::{self, WriteProtection};
use crate::support::registers::{AccessKind, Register, flag};
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::Cycles;
use service::Service;
use source::Source;

mod service;
mod source;

/// The register map (Advanced Interrupt Controller User Interface).
pub const REGISTERS: &[Register] = &[
    Register::new("AIC_SSR", SSR, AccessKind::Rw, 0, 0x7f),
    Register::new("AIC_SMR", SMR, AccessKind::Rw, 0, source::SMR_MASK),
    Register::new("AIC_SVR", SVR, AccessKind::Rw, 0, u32::MAX),
    Register::new("AIC_IVR", IVR, AccessKind::Ro, 0, u32::MAX),
    Register::new("AIC_FVR", FVR, AccessKind::Ro, 0, u32::MAX),
    Register::new("AIC_ISR", ISR, AccessKind::Ro, 0, 0x7f),
    Register::new("AIC_IPR0", IPR0, AccessKind::Ro, 0, u32::MAX),
    Register::new("AIC_IPR1", 0x24, AccessKind::Ro, 0, u32::MAX),
    Register::new("AIC_IPR2", 0x28, AccessKind::Ro, 0, u32::MAX),
    Register::new("AIC_IPR3", IPR3, AccessKind::Ro, 0, u32::MAX),
    Register::new("AIC_IMR", IMR, AccessKind::Ro, 0, 1),
    Register::new("AIC_CISR", CISR, AccessKind::Ro, 0, CISR_NFIQ | CISR_NIRQ),
    Register::new("AIC_EOICR", EOICR, AccessKind::Wo, 0, 1),
    Register::new("AIC_SPU", SPU, AccessKind::Rw, 0, u32::MAX),
    Register::new("AIC_IECR", IECR, AccessKind::Wo, 0, 1),
    Register::new("AIC_IDCR", IDCR, AccessKind::Wo, 0, 1),
    Register::new("AIC_ICCR", ICCR, AccessKind::Wo, 0, 1),
    Register::new("AIC_ISCR", ISCR, AccessKind::Wo, 0, 1),
    Register::new("AIC_DCR", DCR, AccessKind::Rw, 0, DCR_PROT | DCR_GMSK),
    Register::new("AIC_WPMR", WPMR, AccessKind::Rw, 0, apb::WPMR_WPEN),
    Register::new("AIC_WPSR", WPSR, AccessKind::Ro, 0, 0x00ff_ff01),
];

const SSR: u32 = 0x00;
const SMR: u32 = 0x04;
const SVR: u32 = 0x08;
const IVR: u32 = 0x10;
const FVR: u32 = 0x14;
const ISR: u32 = 0x18;
const IPR0: u32 = 0x20;
const IPR3: u32 = 0x2c;
const IMR: u32 = 0x30;
const CISR: u32 = 0x34;
const EOICR: u32 = 0x38;
const SPU: u32 = 0x3c;
const IECR: u32 = 0x40;
const IDCR: u32 = 0x44;
const ICCR: u32 = 0x48;
const ISCR: u32 = 0x4c;
const DCR: u32 = 0x6c;
const WPMR: u32 = 0xe4;
const WPSR: u32 = 0xe8;

const CISR_NFIQ: u32 = 1 << 0;
const CISR_NIRQ: u32 = 1 << 1;
/// Protection mode: reading AIC_IVR changes nothing, writing it acknowledges.
const DCR_PROT: u32 = 1 << 0;
/// Both lines stay inactive.
const DCR_GMSK: u32 = 1 << 1;
/// AIC_WPMR.WPKEY: "AIC".
const WPKEY: u32 = 0x41_4943;

const SOURCES: usize = 128;
/// The input that SFR_AICREDIR.NSAIC drives.
const REDIRECTION: u32 = SOURCES as u32;

/// How the controller is built.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// Its clock.
    pub clock: ClockInput,
    /// Cycles from a level-sensitive source to the core's line.
    #[state(skip)]
    pub level_latency_cycles: Cycles,
    /// Cycles from an edge-sensitive source to the core's line.
    #[state(skip)]
    pub edge_latency_cycles: Cycles,
    /// nIRQ.
    #[state(skip)]
    pub irq: Option<IrqLine>,
    /// nFIQ.
    #[state(skip)]
    pub fiq: Option<IrqLine>,
}

/// The device.
#[derive(Debug, State)]
pub struct Aic {
    params: Params,
    #[state(with = engine::state::fixed)]
    sources: Vec<Source>,
    /// Sources that are enabled: bit n is source n.
    enabled: u128,
    selected: usize,
    spurious_vector: u32,
    debug: u32,
    service: Service,
    protection: WriteProtection,
    redirected: bool,
    /// Levels of nIRQ and nFIQ, true while active.
    lines: (bool, bool),
    /// The number of accesses that changed something.
    changes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Interrupt, &["atmel,sama5d2-aic"], 1, from_node).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "clock of the interrupt controller");
    let level_latency_cycles =
        reader.timing_cycles("cyclescope,level-latency-cycles", "from a level-sensitive source to the core's line");
    let edge_latency_cycles =
        reader.timing_cycles("cyclescope,edge-latency-cycles", "from an edge-sensitive source to the core's line");
    reader.known(&["atmel,external-irqs"]);
    let (irq, fiq) = (reader.interrupt(0, "IRQ of the core"), reader.interrupt(1, "FIQ of the core"));
    Box::new(Aic::new(Params { clock, level_latency_cycles, edge_latency_cycles, irq, fiq }))
}

impl Aic {
    /// The device after reset.
    pub fn new(params: Params) -> Aic {
        Aic {
            params,
            sources: vec![Source::default(); SOURCES],
            enabled: 0,
            selected: 0,
            spurious_vector: 0,
            debug: 0,
            service: Service::default(),
            protection: WriteProtection::new(WPKEY),
            redirected: false,
            lines: (false, false),
            changes: 0,
        }
    }

    /// The pending enabled source of the highest priority, the first of several, if it may interrupt the one in
    /// service.
    fn requesting(&self) -> Option<usize> {
        let mut first: Option<usize> = None;
        let mut left = self.enabled & !1;
        while left != 0 {
            let source = left.trailing_zeros() as usize;
            left &= left - 1;
            let higher = first.is_none_or(|first| self.sources[source].priority() > self.sources[first].priority());
            first = if higher && self.sources[source].is_pending() { Some(source) } else { first };
        }
        first.filter(|source| self.service.admits(self.sources[*source].priority()))
    }

    /// Drives the core's lines.
    fn update(&mut self, ctx: &mut Ctx) {
        let open = self.debug & DCR_GMSK == 0;
        let lines = (open && self.requesting().is_some(), open && self.fast_requests());
        if lines != self.lines {
            if !self.redirected && (lines.0 || lines.1) {
                ctx.note(
                    "an interrupt comes while SFR_AICREDIR.NSAIC is 0: on the chip, secure peripherals then interrupt \
                     by the secure AIC, as an FIQ",
                );
            }
            self.lines = lines;
            ctx.set_irq(self.params.irq, lines.0);
            ctx.set_irq(self.params.fiq, lines.1);
        }
    }

    /// Reading AIC_IVR: the vector of the interrupt that is in service from now on.
    fn take_irq(&mut self) -> u32 {
        let requesting = self.requesting();
        if self.debug & DCR_PROT == 0 {
            self.serve(requesting);
        } else {
            self.service.remember(requesting);
        }
        requesting.map_or(self.spurious_vector, |source| self.sources[source].vector)
    }

    fn serve(&mut self, source: Option<usize>) {
        if let Some(source) = source {
            self.sources[source].acknowledge();
        }
        self.service.push(source.map(|source| (self.sources[source].priority(), source as u32)));
    }

    fn fast_requests(&self) -> bool {
        self.enabled & 1 != 0 && self.sources[0].is_pending()
    }

    fn take_fiq(&mut self) -> u32 {
        if !self.fast_requests() {
            return self.spurious_vector;
        }
        self.sources[0].acknowledge();
        self.sources[0].vector
    }

    fn pending(&self, word: u32) -> u32 {
        let first = word as usize * 32;
        (0..32).filter(|bit| self.sources[first + bit].is_pending()).fold(0, |bits, bit| bits | 1 << bit)
    }

    fn register(&mut self, offset: u32) -> u32 {
        let source = self.sources[self.selected];
        match offset {
            SSR => self.selected as u32,
            SMR => source.mode,
            SVR => source.vector,
            IVR => self.take_irq(),
            FVR => self.take_fiq(),
            ISR => self.service.current(),
            IPR0..=IPR3 => self.pending((offset - IPR0) / 4),
            IMR => (self.enabled >> self.selected) as u32 & 1,
            CISR => flag(CISR_NFIQ, self.lines.1) | flag(CISR_NIRQ, self.lines.0),
            SPU => self.spurious_vector,
            DCR => self.debug,
            WPMR => self.protection.mode(),
            WPSR => self.protection.take_status(),
            _ => 0,
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        if matches!(offset, SMR | SVR | SPU | DCR) && self.protection.refuses(offset, ctx) {
            return;
        }
        let source = &mut self.sources[self.selected];
        let commanded = value & 1 != 0;
        match offset {
            SSR => self.selected = (value & 0x7f) as usize,
            SMR => source.mode = value & source::SMR_MASK,
            SVR => source.vector = value,
            IVR if self.debug & DCR_PROT != 0 => {
                let remembered = self.service.remembered();
                self.serve(remembered);
            }
            EOICR => self.service.pop(),
            SPU => self.spurious_vector = value,
            IECR if commanded => self.enabled |= 1 << self.selected,
            IDCR if commanded => self.enabled &= !(1 << self.selected),
            ICCR if commanded => source.clear(),
            ISCR if commanded => source.set(),
            DCR => self.debug = value & (DCR_PROT | DCR_GMSK),
            WPMR => self.protection.set_mode(value),
            _ => {}
        }
    }
}

impl Device for Aic {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let register = self.register(offset & !3);
        if matches!(offset & !3, IVR | FVR | WPSR) {
            self.changes += 1;
            self.update(ctx);
        }
        Ok(apb::read(register, offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        let (offset, value) = apb::written(value, offset, size);
        self.changes += 1;
        self.set_register(offset, value, ctx);
        self.update(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        if input == REDIRECTION {
            self.redirected = level;
        }
        let Some(source) = self.sources.get_mut(input as usize).filter(|source| source.level != level) else { return };
        source.level = level;
        if level {
            let latency_cycles = if source.is_edge_sensitive() {
                self.params.edge_latency_cycles
            } else {
                self.params.level_latency_cycles
            };
            source.under_way += 1;
            ctx.schedule(self.params.clock.rate.after(ctx.now, latency_cycles), input);
        } else {
            source.seen = false;
            self.update(ctx);
        }
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.sources[token as usize].arrive();
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        // Interrupts on their way to the core arrive at the old rate.
        ctx.bus.clocks.update(&mut self.params.clock);
    }

    fn passes_interrupts(&self) -> bool {
        true
    }
}

impl Polled for Aic {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.params.clock.rate);
        // Any write may have changed the state; inputs show in the pending sources.
        poll.state(self.changes);
        for word in 0..4 {
            poll.state(self.pending(word));
        }
        poll.state(self.lines.0);
        poll.state(self.lines.1);
        poll.state(self.redirected);
        true
    }
}

#[cfg(test)]
mod tests;
