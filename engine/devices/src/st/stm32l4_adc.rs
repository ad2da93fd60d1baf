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
mod registers;

#[cfg(test)]
mod tests;

use self::registers::*;
use crate::model::{Group, Model};
use crate::support::activities::{CALIBRATED_ADC, CALIBRATION, CONVERSION, POWER_UP};
use crate::support::analog_inputs::{self, Surroundings};
use crate::support::dma_lines::DmaLine;
use crate::support::kernel_clock::KernelClock;
use crate::support::registers::{AccessKind, find};
use crate::support::stm32_clock_gate::ClockGate;
use engine::activity::{Detail, Kind};
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::{Fresh, State};
use engine::time::{Cycles, Ps};

pub use self::registers::REGISTERS;

/// Channels 0 to 18.
const CHANNELS: usize = 19;
const VREFINT: usize = 0;
const TEMPERATURE: usize = 17;
const VBAT: usize = 18;
/// Typical values (DS12023, temperature sensor characteristics, embedded internal voltage reference): the sensor at 30
/// degrees and for each degree, and the reference.
const SENSOR_30_UV: i64 = 760_000;
const SENSOR_SLOPE_UV: i64 = 2_500;
const VREFINT_UV: u32 = 1_212_000;

/// Divisors of the asynchronous clock, by PRESC.
const PRESCALERS: [u64; 16] = [1, 2, 4, 6, 8, 10, 12, 16, 32, 64, 128, 256, 256, 256, 256, 256];

/// Tokens of events.
const CHANGES: u32 = 0;
const DMA_ACTIVITIES: u32 = 1;

/// The board's parameters of the converter.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// HCLK, and the asynchronous clock.
    pub clocks: [ClockInput; 2],
    /// Voltages of the channels in microvolts.
    #[state(skip)]
    pub inputs_uv: [u32; CHANNELS],
    /// VREF+ in microvolts.
    #[state(skip)]
    pub reference_uv: u32,
    /// Start-up time of the regulator.
    #[state(skip)]
    pub regulator: Ps,
    /// Cycles of the converter's clock: of a calibration, from ADEN to ADRDY, and from ADSTART to the first sample.
    #[state(skip)]
    pub calibration: Cycles,
    /// Cycles of the converter's clock from ADEN to ADRDY.
    #[state(skip)]
    pub power_up: Cycles,
    /// Cycles of the converter's clock from ADSTART to the first sample.
    #[state(skip)]
    pub latency: Cycles,
    /// Its interrupt.
    #[state(skip)]
    pub interrupt: Option<IrqLine>,
    /// Its clock enable bit in the RCC.
    #[state(skip)]
    pub gate: ClockGate,
}

/// The activity of the converter, with its end as an edge of the undivided clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
enum Doing {
    Nothing,
    Calibrating(u64),
    PoweringUp(u64),
    /// Converts a position of the sequence.
    Converting(u32, u64),
    /// Waits for the data to be read before it starts a position of the sequence (AUTDLY).
    Waiting(u32),
}

/// The converter.
#[derive(Debug, State)]
pub struct Adc {
    params: Params,
    /// HCLK, and the asynchronous clock.
    clocks: [KernelClock; 2],
    /// Register values by offset, up to ADC_CALFACT; then ADC_CCR.
    registers: [u32; 46],
    common: u32,
    doing: Doing,
    /// The time at which the regulator has started.
    regulated_at: Ps,
    data: u32,
    /// The data register has unread data.
    waits: bool,
    conversions: u64,
    dma: DmaLine,
    level: bool,
    alarm: Alarm,
    changes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32l4-adc"], 1, from_node).with_activities(CALIBRATED_ADC).naming(REGISTERS);

/// Builds the converter from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "resets", "#io-channel-cells"]);
    let mut inputs_uv = [0; CHANNELS];
    let Surroundings { reference_uv, temperature_millicelsius } =
        analog_inputs::from_node(reader, 1, &mut inputs_uv[1..TEMPERATURE]);
    inputs_uv[TEMPERATURE] =
        (SENSOR_30_UV + SENSOR_SLOPE_UV * i64::from(temperature_millicelsius - 30_000) / 1000) as u32;
    inputs_uv[VREFINT] = VREFINT_UV;
    inputs_uv[VBAT] = reference_uv / 3;
    let params = Params {
        clocks: [reader.clock_input(0, "HCLK"), reader.clock_input(1, "the asynchronous clock, which the RCC selects")],
        inputs_uv,
        reference_uv,
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
        let mut registers = [0; 46];
        REGISTERS.iter().filter(|row| row.offset < CCR).for_each(|row| registers[row.offset as usize / 4] = row.reset);
        Adc {
            clocks: params.clocks.map(KernelClock::new),
            params,
            registers,
            common: 0,
            doing: Doing::Nothing,
            regulated_at: Ps::ZERO,
            data: 0,
            waits: false,
            conversions: 0,
            dma,
            level: false,
            alarm: Alarm::default(),
            changes: 0,
        }
    }

    const fn of(&self, offset: u32) -> u32 {
        self.registers[offset as usize / 4]
    }

    fn set(&mut self, offset: u32, set: u32, clear: u32) {
        let register = &mut self.registers[offset as usize / 4];
        *register = *register & !clear | set;
    }

    /// The undivided clock, and its divisor.
    const fn clock(&self) -> (KernelClock, u64) {
        match self.common >> CCR_CKMODE & 3 {
            0 => (self.clocks[1], PRESCALERS[(self.common >> CCR_PRESC & 0xf) as usize]),
            mode => (self.clocks[0], 1 << (mode - 1)),
        }
    }

    /// The edge `cycles` cycles after the converter's next edge.
    fn after(&self, now: Ps, cycles: Cycles) -> u64 {
        let (clock, divider) = self.clock();
        clock.next_edge(now).next_multiple_of(divider) + cycles.0 * divider
    }

    fn settle(&mut self, ctx: &Ctx) {
        let edge = self.clock().0.edge(ctx.now);
        loop {
            match self.doing {
                Doing::Calibrating(end) if end <= edge => {
                    self.set(CR, 0, CR_ADCAL);
                    self.doing = Doing::Nothing;
                }
                Doing::PoweringUp(end) if end <= edge => {
                    self.set(ISR, ISR_ADRDY, 0);
                    self.doing = Doing::Nothing;
                }
                Doing::Converting(place, end) if end <= edge => self.end(place, end),
                _ => return,
            }
            self.changes += 1;
        }
    }

    /// A read of ADC_DR.
    fn take(&mut self, now: Ps) -> u32 {
        self.set(ISR, 0, ISR_EOC);
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

    fn set_control(&mut self, value: u32, ctx: &mut Ctx) {
        let old = self.of(CR);
        if value & CR_DEEPPWD != 0 {
            self.registers[CR as usize / 4] = CR_DEEPPWD;
            self.doing = Doing::Nothing;
            return;
        }
        if value & !old & CR_ADVREGEN != 0 {
            self.regulated_at = ctx.now.saturating_add(self.params.regulator);
        }
        self.set(CR, value & (CR_ADVREGEN | CR_ADCALDIF), CR_DEEPPWD | CR_ADVREGEN | CR_ADCALDIF);
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
                self.set(CR, CR_ADCAL, 0);
                self.doing = Doing::Calibrating(self.after(ctx.now, self.params.calibration));
            }
        } else if starts & CR_ADEN != 0 {
            if self.of(CR) & CR_ADCAL != 0 {
                ctx.note("ADC_CR.ADEN was set during a calibration: the converter stays off");
                return;
            }
            self.set(CR, CR_ADEN, 0);
            self.doing = Doing::PoweringUp(self.after(ctx.now, self.params.power_up));
        } else if value & CR_ADDIS != 0 && self.of(CR) & CR_ADSTART == 0 {
            self.set(CR, 0, CR_ADEN);
            self.doing = Doing::Nothing;
        }
        if value & CR_ADSTP != 0 {
            self.set(CR, 0, CR_ADSTART);
            if matches!(self.doing, Doing::Converting(..) | Doing::Waiting(_)) {
                self.doing = Doing::Nothing;
            }
        } else if starts & CR_ADSTART != 0 {
            if self.of(CR) & CR_ADEN == 0 || matches!(self.doing, Doing::PoweringUp(_)) {
                ctx.note("ADC_CR.ADSTART was set before the converter is ready (ADRDY): nothing is converted");
                return;
            }
            self.set(CR, CR_ADSTART, 0);
            let begins = self.after(ctx.now, self.params.latency);
            self.doing = Doing::Converting(0, begins + self.edges(0));
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let Some(row) = find(REGISTERS, offset) else { return };
        let value = value & row.mask;
        let unmodelled = match offset {
            CFGR => value & CFGR_UNMODELLED,
            CFGR2 => value & CFGR2_UNMODELLED,
            JSQR | OFR1..=OFR4 | AWD2CR | AWD3CR | DIFSEL => value,
            _ => 0,
        };
        if unmodelled != 0 {
            ctx.note(&format!("{} enables a feature that is not modelled: it has no effect", row.name));
        }
        match offset {
            ISR => {
                self.set(ISR, 0, value);
                if value & ISR_EOC != 0 {
                    self.release(ctx.now);
                }
            }
            CR => self.set_control(value, ctx),
            CCR if self.of(CR) & CR_BUSY != 0 && (value ^ self.common) >> CCR_CKMODE & 0x3f != 0 => {
                ctx.note(
                    "the clock (ADC_CCR) was changed while the converter is on or calibrates: it keeps its setting",
                );
                let clock = 0x3f << CCR_CKMODE;
                self.common = self.common & clock | value & !clock;
            }
            CCR => self.common = value,
            CFGR | CFGR2 | SMPR1 | SMPR2 if self.of(CR) & CR_ADSTART != 0 => {
                ctx.note(&format!("{} was written during conversions (ADSTART): it keeps its value", row.name));
            }
            _ if row.access == AccessKind::Rw => self.registers[offset as usize / 4] = value,
            _ => {}
        }
    }

    fn register(&mut self, offset: u32, now: Ps) -> u32 {
        match offset {
            CCR => self.common,
            // ADC_CSR: a copy of the converter's ADC_ISR.
            0x300 => self.of(ISR),
            DR => self.take(now),
            _ => self.registers.get(offset as usize / 4).copied().unwrap_or(0),
        }
    }

    /// The end of the present activity.
    const fn ends(&self) -> Option<u64> {
        match self.doing {
            Doing::Calibrating(end) | Doing::PoweringUp(end) | Doing::Converting(_, end) => Some(end),
            Doing::Nothing | Doing::Waiting(_) => None,
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        let level = self.of(ISR) & self.of(IER) != 0;
        if std::mem::replace(&mut self.level, level) != level {
            ctx.set_irq(self.params.interrupt, level);
        }
        let control = self.of(CFGR);
        let lost = self.of(ISR) & ISR_OVR != 0 && control & CFGR_OVRMOD == 0;
        self.dma.set(control & CFGR_DMAEN != 0 && self.waits && !lost, DMA_ACTIVITIES, ctx);
        let due = self.ends().and_then(|edge| self.clock().0.due(edge));
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
        let kept = std::mem::replace(self, Adc::new(self.params, DmaLine::default()));
        (self.clocks, self.dma, self.level, self.alarm) = (kept.clocks, kept.dma, kept.level, kept.alarm);
        (self.conversions, self.changes) = (kept.conversions, kept.changes + 1);
        self.update(ctx);
    }
}

impl Device for Adc {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == DR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.params.gate.read(offset, size, ctx, |offset, ctx| {
            self.settle(ctx);
            let value = self.register(offset, ctx.now);
            self.changes += u64::from(offset == DR);
            self.update(ctx);
            value
        })
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.params.gate.write(offset, size, value, ctx, |offset, value, ctx| {
            self.settle(ctx);
            self.changes += 1;
            self.set_register(offset, value, ctx);
            self.alarm.cancel(CHANGES, ctx);
            self.update(ctx);
        })
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == DMA_ACTIVITIES {
            self.dma.event(DMA_ACTIVITIES, ctx);
            return;
        }
        self.alarm.rang(ctx.now);
        self.settle(ctx);
        self.update(ctx);
    }

    /// The rest of a conversion continues at the new clock's rate.
    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        let is_asynchronous = self.common >> CCR_CKMODE & 3 == 0;
        let moves = self.clocks.each_mut().map(|clock| clock.follow(ctx));
        let (before, now) = moves[usize::from(is_asynchronous)];
        let moved = |edge: u64| now + edge.saturating_sub(before);
        self.doing = match self.doing {
            Doing::Calibrating(end) => Doing::Calibrating(moved(end)),
            Doing::PoweringUp(end) => Doing::PoweringUp(moved(end)),
            Doing::Converting(place, end) => Doing::Converting(place, moved(end)),
            other => other,
        };
        self.alarm.cancel(CHANGES, ctx);
        self.update(ctx);
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("conversions".to_owned(), self.conversions)]
    }
}

impl Polled for Adc {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        // All changes without an access happen in events.
        if let Some(edge) = self.ends() {
            let (clock, _) = self.clock();
            if edge <= clock.edge(poll.now()) {
                return false;
            }
            if let Some(due) = clock.due(edge) {
                poll.until(due);
            }
        }
        poll.state(self.changes);
        true
    }
}
