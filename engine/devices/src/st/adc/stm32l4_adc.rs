//! `st,stm32l4-adc`: the analog-to-digital converter of an STM32L4+ with one ADC (RM0432, "Analog-to-digital converters
//! (ADC)").
//!
//! Modelled: deep power-down, the regulator, calibration, ADEN with ADRDY; regular sequences started by software,
//! single and continuous; sample times, and conversions by RES; the clock by CKMODE and PRESC; the oversampler; EOC,
//! EOS, OVR by OVRMOD; AUTDLY; both alignments; analog watchdog 1; DMA requests; the interrupt.
//!
//! The board gives the voltages of the inputs (`cyclescope,inputs-microvolts`, by channel), which are constant. Channel
//! 0 is the internal reference, 17 the temperature sensor and 18 a third of VBAT, if VREFEN, CH17SEL or CH18SEL enables
//! them. A voltage is sampled without noise and error, so calibration finds no offset.
//!
//! While the source of its clock is off, or RCC_CCIPR.ADCSEL selects no clock, the converter is stopped, with a note.
//! ADC_CCR's CKMODE and PRESC can only be written while ADCAL, ADEN, ADDIS, ADSTART and ADSTP are 0.
//! RCC_AHB2RSTR.ADCRST resets the converter.
//!
//! Not modelled: injected sequences, external triggers, discontinuous mode, offsets, differential inputs, watchdogs 2
//! and 3 (registers, with a note). ADDIS and ADSTP take no time. With DMA in one-shot mode (DMACFG), requests continue
//! after the last transfer.

mod converting;

#[cfg(test)]
mod tests;

use super::{CHANGES, Channels, DMA_ACTIVITIES, Inputs};
use crate::prelude::*;
use crate::registers::Row;
use crate::support::activities::{CALIBRATED_ADC, CALIBRATION, CONVERSION, POWER_UP};
use crate::support::dma_lines::DmaLine;
use crate::support::interrupt_output::InterruptOutput;
use crate::support::kernel_clock::KernelClock;
use engine::activity::Kind;

registers! {
    /// The register map (RM0432, "ADC registers").
    pub const MAP "ADC_" {
        ISR 0x00 w1c mask 0x7ff { ADRDY 0, EOC 2, EOS 3, OVR 4, AWD1 7 };
        IER 0x04 rw mask 0x7ff;
        CR 0x08 rw reset CR_DEEPPWD {
            ADEN 0, ADDIS 1, ADSTART 2, JADSTART 3, ADSTP 4, JADSTP 5, ADVREGEN 28, DEEPPWD 29, ADCALDIF 30, ADCAL 31,
        };
        CFGR 0x0c rw reset 1 << 31 mask 0xffff_7fff {
            DMAEN 0, DFSDMCFG 2 unmodelled, RES 3..5, ALIGN 5, EXTEN 10..12 unmodelled, OVRMOD 12, CONT 13, AUTDLY 14,
            DISCEN 16 unmodelled, JDISCEN 20 unmodelled, AWD1SGL 22, AWD1EN 23, JAWD1EN 24 unmodelled,
            JAUTO 25 unmodelled, AWD1CH 26..31,
        };
        CFGR2 0x10 rw {
            ROVSE 0, JOVSE 1 unmodelled, OVSR 2..5, OVSS 5..9, TROVS 9 unmodelled, ROVSM 10 unmodelled,
        };
        SMPR1 0x14 rw mask 0xbfff_ffff {
            /// Lengthens the shortest sample time by a cycle.
            SMPPLUS 31,
        };
        SMPR2 0x18 rw mask 0x07ff_ffff;
        TR1 0x20 rw reset 0x0fff_0000 { LT1 0..12, HT1 16..28 };
        TR2 0x24 rw reset 0x00ff_0000 mask 0x00ff_00ff;
        TR3 0x28 rw reset 0x00ff_0000 mask 0x00ff_00ff;
        SQR1 0x30 rw mask 0x1f7d_f7cf { L 0..4 };
        SQR2 0x34 rw mask 0x1f7d_f7df;
        SQR3 0x38 rw mask 0x1f7d_f7df;
        SQR4 0x3c rw mask 0x7df;
        DR 0x40 ro volatile mask 0xffff;
        JSQR 0x4c rw {
            JL 0..2 unmodelled, JEXTSEL 2..6 unmodelled, JEXTEN 6..8 unmodelled, JSQ1 8..13 unmodelled,
            JSQ2 14..19 unmodelled, JSQ3 20..25 unmodelled, JSQ4 26..31 unmodelled,
        };
        OFR "OFR{}" [1..5; 4] 0x60 rw { OFFSET 0..12 unmodelled, CH 26..31 unmodelled, EN 31 unmodelled };
        JDR "JDR{}" [1..5; 4] 0x80 ro mask 0xffff;
        AWD2CR 0xa0 rw { AWD2CH 0..19 unmodelled };
        AWD3CR 0xa4 rw { AWD3CH 0..19 unmodelled };
        DIFSEL 0xb0 rw { DIFSEL 1..19 unmodelled };
        CALFACT 0xb4 rw mask 0x007f_007f;
        CCR 0x308 rw mask 0x01ff_0000 { CKMODE 16..18, PRESC 18..22, VREFEN 22, CH17SEL 23, CH18SEL 24 };
    }
}

/// ADC_CSR: a copy of the converter's ADC_ISR.
const CSR: u32 = 0x300;
/// While any bit of this mask is 1, the clock can't be changed.
const CR_BUSY: u32 = CR_ADEN | CR_ADDIS | CR_ADSTART | CR_JADSTART | CR_ADSTP | CR_ADCAL;
const CCR_CLOCK: u32 = CCR_CKMODE | CCR_PRESC;

/// The channels of an STM32L4+, and the reference (DS12023, embedded internal voltage reference).
const AT: Channels = Channels {
    first: 1,
    pins: 16,
    temperature: 17,
    sensor_millicelsius: 30_000,
    vrefint: 0,
    vrefint_uv: 1_212_000,
    vbat: 18,
};

/// Divisors of the asynchronous clock, by PRESC.
const PRESCALERS: [u64; 16] = [1, 2, 4, 6, 8, 10, 12, 16, 32, 64, 128, 256, 256, 256, 256, 256];

/// The board's parameters of the converter.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// HCLK, and the asynchronous clock.
    pub clocks: [ClockInput; 2],
    /// What is at the channels.
    pub inputs: Inputs,
    /// Start-up time of the regulator.
    pub regulator: Ps,
    /// Cycles of the converter's clock: of a calibration, from ADEN to ADRDY, and from ADSTART to the first sample.
    pub calibration: Cycles,
    /// Cycles of the converter's clock from ADEN to ADRDY.
    pub power_up: Cycles,
    /// Cycles of the converter's clock from ADSTART to the first sample.
    pub latency: Cycles,
    /// Its interrupt.
    pub interrupt: Option<IrqLine>,
    /// Its clock enable bit in the RCC.
    pub gate: ClockGate,
}

/// The activity of the converter, with its end as an edge of the undivided clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
enum Doing {
    #[default]
    Nothing,
    Calibrating(u64),
    PoweringUp(u64),
    /// Converts a position of the sequence.
    Converting(u32, u64),
    /// Waits for the data to be read before it starts a position of the sequence (AUTDLY).
    Waiting(u32),
}

impl Doing {
    /// Its end.
    const fn end(&mut self) -> Option<&mut u64> {
        match self {
            Doing::Calibrating(end) | Doing::PoweringUp(end) | Doing::Converting(_, end) => Some(end),
            Doing::Nothing | Doing::Waiting(_) => None,
        }
    }
}

/// The converter.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.params.gate))]
#[poll(first = Adc::list_end)]
pub struct Adc {
    #[state(skip)]
    params: Params,
    /// HCLK, and the asynchronous clock.
    clocks: [KernelClock; 2],
    registers: Registers,
    doing: Doing,
    /// The time at which the regulator has started.
    regulated_at: Ps,
    data: u32,
    /// The data register has unread data.
    waits: bool,
    conversions: u64,
    dma: DmaLine,
    interrupt: InterruptOutput,
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32l4-adc"], 1, from_node).with_activities(CALIBRATED_ADC).naming(MAP.rows);

/// Builds the converter from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "resets", "#io-channel-cells"]);
    let inputs = Inputs::from_node(reader, &AT);
    let params = Params {
        clocks: [reader.clock_input(0, "HCLK"), reader.clock_input(1, "the asynchronous clock, which the RCC selects")],
        inputs: inputs.with_vbat(&AT, 3),
        regulator: reader.timing_ps("cyclescope,regulator-us", "from ADVREGEN until the regulator has started"),
        calibration: reader.timing_cycles("cyclescope,calibration-cycles", "cycles of its clock for a calibration"),
        power_up: reader.timing_cycles("cyclescope,power-up-cycles", "cycles of its clock from ADEN to ADRDY"),
        latency: reader
            .timing_cycles("cyclescope,start-cycles", "cycles of its clock from ADSTART to the first sample"),
        interrupt: reader.interrupt(0, "its interrupt"),
        gate: ClockGate::from_node(reader),
    };
    let dma = DmaLine::from_node(reader, "rx", "the data register has data");
    Box::new(Adc::new(params, dma))
}

impl Adc {
    /// The converter after reset.
    pub fn new(params: Params, dma: DmaLine) -> Adc {
        let (doing, regulated_at, data, waits, conversions, alarm) = Default::default();
        let (clocks, registers) = (params.clocks.map(KernelClock::new), Registers::new(&MAP));
        let interrupt = InterruptOutput::new(params.interrupt);
        Adc { params, clocks, registers, doing, regulated_at, data, waits, conversions, dma, interrupt, alarm }
    }

    fn has(&self, register: u32, bits: u32) -> bool {
        self.registers.has(register, bits)
    }

    fn raise(&mut self, flags: u32) {
        self.registers.put(ISR, flags, true);
    }

    /// The undivided clock, and its divisor.
    fn clock(&self) -> (KernelClock, u64) {
        match self.registers.field(CCR, CCR_CKMODE) {
            0 => (self.clocks[1], PRESCALERS[self.registers.field(CCR, CCR_PRESC) as usize]),
            mode => (self.clocks[0], 1 << (mode - 1)),
        }
    }

    /// The edge `cycles` cycles after the converter's next edge.
    fn after(&self, now: Ps, cycles: Cycles) -> u64 {
        let (clock, divider) = self.clock();
        clock.next_edge(now).next_multiple_of(divider) + cycles.0 * divider
    }

    /// A read of ADC_DR.
    fn take(&mut self, now: Ps) -> u32 {
        self.registers.put(ISR, ISR_EOC, false);
        self.release(now);
        self.data
    }

    /// The data register has no unread data any more: it was read, or firmware has cleared EOC.
    fn release(&mut self, now: Ps) {
        self.waits = false;
        if let Doing::Waiting(place) = self.doing {
            self.doing = Doing::Converting(place, self.after(now, Cycles(0)) + self.edges(place));
        }
    }

    fn set_control(&mut self, old: u32, value: u32, ctx: &mut Ctx) {
        if value & CR_DEEPPWD != 0 {
            self.registers.set(CR, CR_DEEPPWD);
            self.doing = Doing::Nothing;
            return;
        }
        if value & !old & CR_ADVREGEN != 0 {
            self.regulated_at = ctx.now.saturating_add(self.params.regulator);
        }
        let settings = CR_DEEPPWD | CR_ADVREGEN | CR_ADCALDIF;
        self.registers.set(CR, old & !settings | value & settings);
        let starts = value & !old;
        if starts & (CR_ADEN | CR_ADCAL) != 0 && (value & CR_ADVREGEN == 0 || ctx.now < self.regulated_at) {
            ctx.note("the converter is used before its regulator has started (ADC_CR.ADVREGEN): codes may be wrong");
        }
        if starts & (CR_ADEN | CR_ADCAL | CR_ADSTART) != 0 {
            self.clock().0.is_needed(ctx);
        }
        if starts & CR_JADSTART != 0 {
            ctx.note("injected sequences (ADC_CR.JADSTART) are not modelled: none begins");
        }
        if starts & CR_ADCAL != 0 {
            if old & CR_ADEN != 0 {
                ctx.note("a calibration (ADC_CR.ADCAL) was begun while the converter is on (ADEN): none begins");
            } else {
                self.registers.put(CR, CR_ADCAL, true);
                self.doing = Doing::Calibrating(self.after(ctx.now, self.params.calibration));
            }
        } else if starts & CR_ADEN != 0 {
            if self.has(CR, CR_ADCAL) {
                ctx.note("ADC_CR.ADEN was set during a calibration: the converter stays off");
                return;
            }
            self.registers.put(CR, CR_ADEN, true);
            self.doing = Doing::PoweringUp(self.after(ctx.now, self.params.power_up));
        } else if value & CR_ADDIS != 0 && !self.has(CR, CR_ADSTART) {
            self.registers.put(CR, CR_ADEN, false);
            self.doing = Doing::Nothing;
        }
        if value & CR_ADSTP != 0 {
            self.registers.put(CR, CR_ADSTART, false);
            if matches!(self.doing, Doing::Converting(..) | Doing::Waiting(_)) {
                self.doing = Doing::Nothing;
            }
        } else if starts & CR_ADSTART != 0 {
            if !self.has(CR, CR_ADEN) || matches!(self.doing, Doing::PoweringUp(_)) {
                ctx.note("ADC_CR.ADSTART was set before the converter is ready (ADRDY): nothing is converted");
                return;
            }
            self.registers.put(CR, CR_ADSTART, true);
            let begins = self.after(ctx.now, self.params.latency);
            self.doing = Doing::Converting(0, begins + self.edges(0));
        }
    }

    /// A write of ADC_CCR, which held `old`.
    fn set_common(&mut self, old: u32, new: u32, ctx: &mut Ctx) {
        if self.has(CR, CR_BUSY) && (old ^ new) & CCR_CLOCK != 0 {
            ctx.note("the clock (ADC_CCR) was changed while the converter is on or calibrates: it keeps its setting");
            self.registers.set(CCR, old & CCR_CLOCK | new & !CCR_CLOCK);
        }
    }

    /// The name of a register.
    fn name(&self, register: u32) -> &'static str {
        self.registers.map().row(register).map_or("", |row| row.name)
    }

    /// When the end of the present activity comes, unless the clock is stopped.
    fn due(&self) -> Option<Ps> {
        { self.doing }.end().and_then(|edge| self.clock().0.due(*edge))
    }

    fn drive(&mut self, ctx: &mut Ctx) {
        let level = self.has(ISR, self.registers[IER]);
        self.interrupt.drive(level, ctx);
        let lost = self.has(ISR, ISR_OVR) && !self.has(CFGR, CFGR_OVRMOD);
        self.dma.set(self.has(CFGR, CFGR_DMAEN) && self.waits && !lost, DMA_ACTIVITIES, ctx);
        let due = self.due();
        if ctx.records(Kind::Conversion) {
            let is = |it: bool| due.filter(|_| it);
            let converts = matches!(self.doing, Doing::Converting(..));
            let channel = match self.doing {
                Doing::Converting(place, _) => Detail::Value(self.channel(place) as u32),
                _ => Detail::None,
            };
            ctx.awaits(&CONVERSION, is(converts), channel);
            ctx.awaits(&CALIBRATION, is(matches!(self.doing, Doing::Calibrating(_))), Detail::None);
            ctx.awaits(&POWER_UP, is(matches!(self.doing, Doing::PoweringUp(_))), Detail::None);
        }
        match due {
            Some(due) => self.alarm.set(due, CHANGES, ctx),
            None => self.alarm.cancel(CHANGES, ctx),
        }
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.registers.reset();
        (self.doing, self.regulated_at, self.data, self.waits) = Default::default();
        self.drive(ctx);
    }

    /// All changes without an access happen in events.
    fn list_end(&mut self, poll: &mut Poll) -> bool {
        if let Some(due) = self.due() {
            poll.until(due);
        }
        { self.doing }.end().is_none_or(|edge| *edge > self.clock().0.edge(poll.now()))
    }
}

impl Table for Adc {
    fn settle(&mut self, ctx: &mut Ctx) {
        let edge = self.clock().0.edge(ctx.now);
        loop {
            match self.doing {
                Doing::Calibrating(end) if end <= edge => {
                    self.registers.put(CR, CR_ADCAL, false);
                    self.doing = Doing::Nothing;
                }
                Doing::PoweringUp(end) if end <= edge => {
                    self.raise(ISR_ADRDY);
                    self.doing = Doing::Nothing;
                }
                Doing::Converting(place, end) if end <= edge => self.end(place, end),
                _ => return,
            }
        }
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            CSR => self.registers[ISR],
            DR => self.take(ctx.now),
            _ => held,
        }
    }

    fn was_read(&mut self, _: u32, ctx: &mut Ctx) {
        self.drive(ctx);
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        let unmodelled = self.registers.map().row(register).map_or(0, Row::unmodelled);
        if new & unmodelled != 0 {
            ctx.note(&format!("{} enables a feature that is not modelled: it has no effect", self.name(register)));
        }
        match register {
            ISR if old & !new & ISR_EOC != 0 => self.release(ctx.now),
            CR => self.set_control(old, new, ctx),
            CCR => self.set_common(old, new, ctx),
            CFGR | CFGR2 | SMPR1 | SMPR2 if self.has(CR, CR_ADSTART) => {
                let name = self.name(register);
                ctx.note(&format!("{name} was written during conversions (ADSTART): it keeps its value"));
                self.registers.set(register, old);
            }
            _ => {}
        }
    }

    /// [`Table::wrote`] has noted it.
    fn unmodelled(&mut self, _: &'static Row, _: u32, _: &mut Ctx) {}

    fn update(&mut self, ctx: &mut Ctx) {
        self.alarm.cancel(CHANGES, ctx);
        self.drive(ctx);
    }
}

impl Device for Adc {
    by_table!();

    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == DR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == DMA_ACTIVITIES {
            self.dma.event(DMA_ACTIVITIES, ctx);
            return;
        }
        self.alarm.rang(ctx.now);
        self.settle(ctx);
        self.drive(ctx);
    }

    /// The rest of a conversion continues at the new clock's rate.
    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        let is_asynchronous = !self.has(CCR, CCR_CKMODE);
        let moves = self.clocks.each_mut().map(|clock| clock.follow(ctx));
        let (before, now) = moves[usize::from(is_asynchronous)];
        if let Some(end) = self.doing.end() {
            *end = now + end.saturating_sub(before);
        }
        self.update(ctx);
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        totals([("conversions", self.conversions)])
    }
}
