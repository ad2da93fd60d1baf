//! `st,stm32f4-adc`: the analog-to-digital converters of an STM32F4, up to three in one node with their common
//! registers (RM0090, "Analog-to-digital converter (ADC)").
//!
//! Modelled: regular sequences started by software, single, scanned (SCAN) and continuous; sample times, and 12 to 6
//! cycles of conversion by RES; ADCCLK, PCLK2 divided by ADCPRE, at whose next edge a sequence begins; EOC by EOCS,
//! STRT, OVR; both alignments; the analog watchdog; DMA requests; the interrupt, which all converters share.
//!
//! The board gives the voltages of the inputs (`cyclescope,inputs-microvolts`, by channel), which are constant.
//! Channels 16 to 18 of the first converter are the temperature sensor, the internal reference and half of VBAT, if
//! TSVREFE or VBATE enables them. In an STM32F411 (`cyclescope,sensor-shares-vbat`; RM0383) channel 18 is the
//! temperature sensor or, with VBATE, a quarter of VBAT; channel 16 is not connected. A voltage is sampled without
//! noise and error.
//!
//! Not modelled: injected sequences and external triggers (registers, with a note), discontinuous mode, two converters
//! in interleaved or dual mode (ADC_CCR.MULTI, with a note), the stabilisation time after ADON. With DMA and without
//! DDS, requests continue after the last transfer.

mod converter;

#[cfg(test)]
mod tests;

use self::converter::{Converter, cr2};
use crate::model::{Group, Model};
use crate::support::activities::{ADC, CONVERSION};
use crate::support::analog_inputs::{self, Surroundings};
use crate::support::dma_lines::DmaLine;
use crate::support::registers::{AccessKind, Register, find};
use crate::support::stm32_clock_gate::ClockGate;
use engine::activity::{Detail, Kind};
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::Cycles;

/// A converter's registers (RM0090, "ADC register map").
pub const REGISTERS: &[Register] = &[
    Register::new("ADC_SR", SR, AccessKind::Rw, 0, 0x3f),
    Register::new("ADC_CR1", CR1, AccessKind::Rw, 0, 0x07c0_ffff),
    Register::new("ADC_CR2", CR2, AccessKind::Rw, 0, 0x7f7f_0f03),
    Register::new("ADC_SMPR1", SMPR1, AccessKind::Rw, 0, 0x07ff_ffff),
    Register::new("ADC_SMPR2", SMPR2, AccessKind::Rw, 0, 0x3fff_ffff),
    Register::new("ADC_JOFR1", 0x14, AccessKind::Rw, 0, 0xfff),
    Register::new("ADC_JOFR2", 0x18, AccessKind::Rw, 0, 0xfff),
    Register::new("ADC_JOFR3", 0x1c, AccessKind::Rw, 0, 0xfff),
    Register::new("ADC_JOFR4", 0x20, AccessKind::Rw, 0, 0xfff),
    Register::new("ADC_HTR", HTR, AccessKind::Rw, 0xfff, 0xfff),
    Register::new("ADC_LTR", LTR, AccessKind::Rw, 0, 0xfff),
    Register::new("ADC_SQR1", SQR1, AccessKind::Rw, 0, 0x00ff_ffff),
    Register::new("ADC_SQR2", SQR1 + 4, AccessKind::Rw, 0, 0x3fff_ffff),
    Register::new("ADC_SQR3", SQR3, AccessKind::Rw, 0, 0x3fff_ffff),
    Register::new("ADC_JSQR", 0x38, AccessKind::Rw, 0, 0x003f_ffff),
    Register::new("ADC_JDR1", 0x3c, AccessKind::Ro, 0, 0xffff),
    Register::new("ADC_JDR2", 0x40, AccessKind::Ro, 0, 0xffff),
    Register::new("ADC_JDR3", 0x44, AccessKind::Ro, 0, 0xffff),
    Register::new("ADC_JDR4", 0x48, AccessKind::Ro, 0, 0xffff),
    Register::new("ADC_DR", DR, AccessKind::Ro, 0, 0xffff),
];

const SR: u32 = 0x00;
const CR1: u32 = 0x04;
const CR2: u32 = 0x08;
const SMPR1: u32 = 0x0c;
const SMPR2: u32 = 0x10;
const HTR: u32 = 0x24;
const LTR: u32 = 0x28;
const SQR1: u32 = 0x2c;
const SQR3: u32 = 0x34;
const DR: u32 = 0x4c;
/// Bytes from one converter's registers to the next one's, and the offset of the common registers.
const STRIDE: u32 = 0x100;
const CSR: u32 = 0x300;
const CCR: u32 = 0x304;
const CCR_MASK: u32 = 0x00c3_ef1f;
/// MULTI.
const CCR_MULTI: u32 = 0x1f;
/// ADCPRE, two bits.
const CCR_ADCPRE: u32 = 16;
const CCR_VBATE: u32 = 1 << 22;
const CCR_TSVREFE: u32 = 1 << 23;

const CONVERTERS: usize = 3;
/// Channels 0 to 18.
const CHANNELS: usize = 19;
const TEMPERATURE: usize = 16;
const VREFINT: usize = 17;
const VBAT: usize = 18;
/// Typical values (DS8626, temperature sensor characteristics, embedded reference voltage): the sensor at 25 degrees
/// and for each degree, and the reference.
const SENSOR_25_UV: i64 = 760_000;
const SENSOR_SLOPE_UV: i64 = 2_500;
const VREFINT_UV: u32 = 1_210_000;

/// Tokens of events.
const CONVERTED: u32 = 0;
const DMA_ACTIVITIES: u32 = 1;

/// The board's parameters of the converters.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// PCLK2.
    pub clock: ClockInput,
    /// Number of converters.
    #[state(skip)]
    pub converters: usize,
    /// Voltages of the channels in microvolts.
    #[state(skip)]
    pub inputs_uv: [u32; CHANNELS],
    /// True if the temperature sensor shares VBAT's channel.
    #[state(skip)]
    pub sensor_shares_vbat: bool,
    /// VREF+ in microvolts.
    #[state(skip)]
    pub reference_uv: u32,
    /// The interrupt of the converters.
    #[state(skip)]
    pub interrupt: Option<IrqLine>,
    /// The clock enable bit of the converters.
    #[state(skip)]
    pub gate: ClockGate,
}

/// The converters.
#[derive(Debug, State)]
pub struct Adc {
    params: Params,
    converters: [Converter; CONVERTERS],
    common: u32,
    dma: [DmaLine; CONVERTERS],
    level: bool,
    alarm: Alarm,
    changes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32f4-adc"], 1, from_node).with_activities(ADC).naming(REGISTERS);

/// Builds the converters from their node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "resets", "#io-channel-cells"]);
    let mut inputs_uv = [0; CHANNELS];
    let Surroundings { reference_uv, temperature_millicelsius } =
        analog_inputs::from_node(reader, 0, &mut inputs_uv[..TEMPERATURE]);
    inputs_uv[TEMPERATURE] =
        (SENSOR_25_UV + SENSOR_SLOPE_UV * i64::from(temperature_millicelsius - 25_000) / 1000) as u32;
    inputs_uv[VREFINT] = VREFINT_UV;
    let sensor_shares_vbat = reader.flag(
        "cyclescope,sensor-shares-vbat",
        "the temperature sensor is on channel 18, where a quarter of VBAT has priority",
    );
    inputs_uv[VBAT] = reference_uv / if sensor_shares_vbat { 4 } else { 2 };
    let params = Params {
        clock: reader.clock_input(0, "PCLK2"),
        converters: reader.u32_or("cyclescope,converters", 1, 1..=3, "number of converters, 1 to 3") as usize,
        inputs_uv,
        sensor_shares_vbat,
        reference_uv,
        interrupt: reader.interrupt(0, "their interrupt"),
        gate: ClockGate::from_node(reader),
    };
    let dma =
        ["adc1", "adc2", "adc3"].map(|name| DmaLine::from_node(reader, name, "a converter's data register has data"));
    Box::new(Adc::new(params, dma))
}

impl Adc {
    /// The converters after reset.
    pub fn new(params: Params, dma: [DmaLine; CONVERTERS]) -> Adc {
        let converters = [Converter::default(); CONVERTERS];
        Adc { params, converters, common: 0, dma, level: false, alarm: Alarm::default(), changes: 0 }
    }

    /// Clocks of PCLK2 in a clock of ADCCLK.
    const fn divider(&self) -> u64 {
        2 * ((self.common >> CCR_ADCPRE & 3) as u64 + 1)
    }

    /// The result of a conversion of a channel, with `bits` bits.
    fn sample(&self, index: usize, channel: usize) -> u32 {
        let on = |bit: u32| index == 0 && self.common & bit != 0;
        let shared = self.params.sensor_shares_vbat;
        let input = match channel {
            VBAT if on(CCR_VBATE) => Some(VBAT),
            VBAT if shared && on(CCR_TSVREFE) => Some(TEMPERATURE),
            TEMPERATURE if !shared && on(CCR_TSVREFE) => Some(TEMPERATURE),
            VREFINT if on(CCR_TSVREFE) => Some(VREFINT),
            0..TEMPERATURE => Some(channel),
            _ => None,
        };
        let voltage = input.map_or(0, |input| self.params.inputs_uv[input]);
        (u64::from(voltage) * 4096 / u64::from(self.params.reference_uv)).min(4095) as u32
    }

    fn settle(&mut self, ctx: &Ctx) {
        let cycle = self.params.clock.rate.cycles_until_floor(ctx.now).0;
        let divider = self.divider();
        for index in 0..self.params.converters {
            while let Some(channel) = self.converters[index].ends_by(cycle) {
                let code = self.sample(index, channel);
                self.converters[index].end(code, divider);
                self.changes += 1;
            }
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        if offset == CCR {
            if value & CCR_MULTI != 0 {
                ctx.note("converters that work together (ADC_CCR.MULTI) are not modelled: each works alone");
            }
            self.common = value & CCR_MASK;
            return;
        }
        let index = (offset / STRIDE) as usize;
        let Some(row) = find(REGISTERS, offset % STRIDE).filter(|_| index < self.params.converters) else { return };
        let value = value & row.mask;
        let cycle = self.params.clock.rate.cycles_until_ceil(ctx.now).0;
        let divider = self.divider();
        let converter = &mut self.converters[index];
        match row.offset {
            // Write 0 to clear.
            SR => converter.status &= value,
            CR2 => {
                if value & cr2::UNMODELLED != 0 {
                    ctx.note("injected sequences and external triggers (ADC_CR2) are not modelled: none begins");
                }
                if value & cr2::SWSTART != 0 && value & cr2::ADON == 0 {
                    ctx.note("SWSTART was set while the converter is off (ADC_CR2.ADON): nothing is converted");
                }
                converter.set_control2(value, cycle.next_multiple_of(divider), divider);
            }
            _ if row.access == AccessKind::Rw => converter.registers[row.offset as usize / 4] = value,
            _ => {}
        }
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        let kept = std::mem::replace(self, Adc::new(self.params, Default::default()));
        (self.dma, self.alarm, self.level, self.changes) = (kept.dma, kept.alarm, kept.level, kept.changes + 1);
        for (converter, before) in self.converters.iter_mut().zip(kept.converters) {
            converter.conversions = before.conversions;
        }
        self.update(ctx);
    }

    fn register(&mut self, offset: u32) -> u32 {
        match offset {
            CSR => (0..self.params.converters).map(|index| self.converters[index].status << (8 * index)).sum(),
            CCR => self.common,
            _ => {
                let index = (offset / STRIDE) as usize;
                let Some(converter) = self.converters[..self.params.converters].get_mut(index) else { return 0 };
                match offset % STRIDE {
                    SR => converter.status,
                    DR => converter.take(),
                    register => converter.registers.get(register as usize / 4).copied().unwrap_or(0),
                }
            }
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        let level = self.converters[..self.params.converters].iter().any(Converter::interrupts);
        if std::mem::replace(&mut self.level, level) != level {
            ctx.set_irq(self.params.interrupt, level);
        }
        for index in 0..self.params.converters {
            let converter = &self.converters[index];
            self.dma[index].set(converter.asks(), DMA_ACTIVITIES, ctx);
        }
        if ctx.records(Kind::Conversion) {
            for (index, converter) in self.converters.iter().enumerate() {
                let due = converter.next().map(|cycle| self.params.clock.rate.ps_at_floor(Cycles(cycle)));
                let channel = converter.ends_by(u64::MAX).map_or(Detail::None, |it| Detail::Value(it as u32));
                ctx.awaits((&CONVERSION, index as u32), due, channel);
            }
        }
        let next = self.converters.iter().filter_map(Converter::next).min();
        match next {
            Some(cycle) => self.alarm.set(self.params.clock.rate.ps_at_floor(Cycles(cycle)), CONVERTED, ctx),
            None => self.alarm.cancel(CONVERTED, ctx),
        }
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
            let value = self.register(offset);
            self.changes += u64::from(offset % STRIDE == DR);
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
            self.update(ctx);
        })
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == DMA_ACTIVITIES {
            self.dma.iter_mut().for_each(|line| line.event(DMA_ACTIVITIES, ctx));
            return;
        }
        self.alarm.rang(ctx.now);
        self.settle(ctx);
        self.update(ctx);
    }

    /// The rest of a conversion continues at the new clock's rate.
    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        let before = self.params.clock.rate.cycles_until_floor(ctx.now).0;
        self.params.clock.rate = ctx.bus.clocks.rate_of(self.params.clock);
        let now = self.params.clock.rate.cycles_until_floor(ctx.now).0;
        self.converters.iter_mut().for_each(|converter| converter.move_by(before, now));
        self.alarm.cancel(CONVERTED, ctx);
        self.update(ctx);
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("conversions".to_owned(), self.converters.iter().map(|converter| converter.conversions).sum())]
    }
}

impl Polled for Adc {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        // Conversions end at events.
        let now = self.params.clock.rate.cycles_until_floor(poll.now()).0;
        if let Some(next) = self.converters.iter().filter_map(Converter::next).min() {
            if next <= now {
                return false;
            }
            poll.until(self.params.clock.rate.ps_at_floor(Cycles(next)));
        }
        poll.state(self.changes);
        true
    }
}
