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

use crate::prelude::*;
use crate::support::write_protection;
use service::Service;
use source::Source;

mod service;
mod source;

registers! {
    /// The register map (Advanced Interrupt Controller User Interface).
    const MAP "AIC_" {
        SSR 0x00 rw mask 0x7f;
        /// Those of the selected source.
        SMR 0x04 rw locked_by WPMR_WPEN in WPMR { PRIOR 0..3, SRCTYPE 5..7 };
        SVR 0x08 rw locked_by WPMR_WPEN in WPMR;
        IVR 0x10 ro volatile;
        FVR 0x14 ro volatile;
        ISR 0x18 ro volatile mask 0x7f;
        IPR [0..4; 4] 0x20 ro volatile;
        IMR 0x30 ro volatile mask 1;
        CISR 0x34 ro volatile { NFIQ 0, NIRQ 1 };
        EOICR 0x38 wo mask 1;
        SPU 0x3c rw locked_by WPMR_WPEN in WPMR;
        IECR 0x40 wo mask 1;
        IDCR 0x44 wo mask 1;
        ICCR 0x48 wo mask 1;
        ISCR 0x4c wo mask 1;
        /// PROT, protection mode: reading AIC_IVR changes nothing, writing it acknowledges. GMSK: both lines stay
        /// inactive.
        DCR 0x6c rw locked_by WPMR_WPEN in WPMR { PROT 0, GMSK 1 };
        WPMR 0xe4 rw keyed WPKEY in 0xffff_ff00 { WPEN 0 };
        WPSR 0xe8 ro { WPVS 0 rc, WPVSRC 8..24 rc };
    }
}

/// AIC_WPMR.WPKEY: "AIC".
const WPKEY: u32 = 0x41_4943;
const SOURCES: usize = 128;
/// The input that SFR_AICREDIR.NSAIC drives.
const REDIRECTION: u32 = SOURCES as u32;

/// How the controller is built.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Its clock.
    pub clock: ClockInput,
    /// Cycles from a level-sensitive source to the core's line.
    pub level_latency_cycles: Cycles,
    /// Cycles from an edge-sensitive source to the core's line.
    pub edge_latency_cycles: Cycles,
    /// nIRQ.
    pub irq: Option<IrqLine>,
    /// nFIQ.
    pub fiq: Option<IrqLine>,
}

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
pub struct Aic {
    #[state(skip)]
    params: Params,
    #[poll(phase)]
    clock: ClockInput,
    registers: Registers,
    #[state(with = engine::state::fixed)]
    sources: Vec<Source>,
    /// Sources that are enabled: bit n is source n.
    enabled: u128,
    service: Service,
    /// The source that a write of AIC_IVR acknowledges, in protection mode.
    remembered: Option<usize>,
    redirected: bool,
    /// Levels of nIRQ and nFIQ, true while active.
    lines: (bool, bool),
    /// The number of changes of the lines.
    changes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Interrupt, &["atmel,sama5d2-aic"], 1, from_node).naming(MAP.rows);

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
            clock: params.clock,
            registers: Registers::new(&MAP),
            sources: vec![Source::default(); SOURCES],
            enabled: 0,
            service: Service::default(),
            remembered: None,
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

    /// Reading AIC_IVR: the vector of the interrupt that is in service from now on.
    fn take_irq(&mut self) -> u32 {
        let requesting = self.requesting();
        if self.registers.has(DCR, DCR_PROT) {
            self.remembered = requesting;
        } else {
            self.serve(requesting);
        }
        requesting.map_or(self.registers[SPU], |source| self.sources[source].vector)
    }

    fn serve(&mut self, source: Option<usize>) {
        if let Some(source) = source {
            self.sources[source].clear();
        }
        self.service.push(source.map(|source| (self.sources[source].priority(), source as u32)));
    }

    fn fast_requests(&self) -> bool {
        self.enabled & 1 != 0 && self.sources[0].is_pending()
    }

    fn take_fiq(&mut self) -> u32 {
        if !self.fast_requests() {
            return self.registers[SPU];
        }
        self.sources[0].clear();
        self.sources[0].vector
    }

    fn pending(&self, word: u32) -> u32 {
        let first = word as usize * 32;
        (0..32).filter(|bit| self.sources[first + bit].is_pending()).fold(0, |bits, bit| bits | 1 << bit)
    }

    /// The source that AIC_SSR selects.
    fn selected(&self) -> usize {
        self.registers[SSR] as usize
    }

    fn enable(&mut self, on: bool) {
        let source = 1 << self.selected();
        self.enabled = if on { self.enabled | source } else { self.enabled & !source };
    }
}

impl Table for Aic {
    fn shown(&mut self, register: u32, held: u32, _ctx: &mut Ctx) -> u32 {
        match register {
            IVR => self.take_irq(),
            FVR => self.take_fiq(),
            ISR => self.service.current(),
            IPR..IMR => self.pending((register - IPR) / 4),
            IMR => (self.enabled >> self.selected()) as u32 & 1,
            CISR => flag(CISR_NFIQ, self.lines.1) | flag(CISR_NIRQ, self.lines.0),
            _ => held,
        }
    }

    fn was_read(&mut self, register: u32, ctx: &mut Ctx) {
        if matches!(register, IVR | FVR) {
            self.update(ctx);
        }
    }

    fn wrote(&mut self, register: u32, _old: u32, new: u32, _ctx: &mut Ctx) {
        let selected = self.selected();
        let source = &mut self.sources[selected];
        match register {
            SSR => {
                self.registers.set(SMR, source.mode);
                self.registers.set(SVR, source.vector);
            }
            SMR => source.mode = new,
            SVR => source.vector = new,
            IVR if self.registers.has(DCR, DCR_PROT) => {
                let remembered = self.remembered.take();
                self.serve(remembered);
            }
            EOICR => _ = self.service.stack.pop(),
            IECR if new != 0 => self.enable(true),
            IDCR if new != 0 => self.enable(false),
            ICCR if new != 0 => source.clear(),
            ISCR if new != 0 => source.set(),
            _ => {}
        }
    }

    fn refused(&mut self, register: u32, why: Refused, ctx: &mut Ctx) {
        write_protection::refused(&mut self.registers, register, why, ctx);
    }

    /// Drives the core's lines.
    fn update(&mut self, ctx: &mut Ctx) {
        let open = !self.registers.has(DCR, DCR_GMSK);
        let lines = (open && self.requesting().is_some(), open && self.fast_requests());
        if lines != self.lines {
            if !self.redirected && (lines.0 || lines.1) {
                ctx.note(
                    "an interrupt comes while SFR_AICREDIR.NSAIC is 0: on the chip, secure peripherals then interrupt \
                     by the secure AIC, as an FIQ",
                );
            }
            self.lines = lines;
            self.changes += 1;
            ctx.set_irq(self.params.irq, lines.0);
            ctx.set_irq(self.params.fiq, lines.1);
        }
    }
}

impl Device for Aic {
    by_table!();

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
            ctx.schedule(self.clock.rate.after(ctx.now, latency_cycles), input);
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
        ctx.bus.clocks.update(&mut self.clock);
    }

    fn passes_interrupts(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
