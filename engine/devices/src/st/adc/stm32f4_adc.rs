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

use self::converter::Converter;
use super::{CHANGES, Channels, DMA_ACTIVITIES, Inputs};
use crate::prelude::*;
use crate::support::activities::{ADC, CONVERSION};
use crate::support::dma_lines::DmaLine;
use crate::support::interrupt_output::InterruptOutput;
use engine::activity::Kind;

registers! {
    /// A converter's registers (RM0090, "ADC register map").
    pub const MAP "ADC_" {
        SR 0x00 rw { AWD 0 w0c, EOC 1 w0c, JEOC 2 w0c, JSTRT 3 w0c, STRT 4 w0c, OVR 5 w0c };
        CR1 0x04 rw mask 0x07c0_ffff {
            AWDCH 0..5, EOCIE 5, AWDIE 6, SCAN 8, AWDSGL 9, AWDEN 23, RES 24..26, OVRIE 26,
        };
        CR2 0x08 rw mask 0x7f7f_0f03 {
            ADON 0, CONT 1, DMA 8, DDS 9, EOCS 10, ALIGN 11, JEXTEN 20..22, JSWSTART 22, EXTEN 28..30, SWSTART 30,
        };
        SMPR1 0x0c rw mask 0x07ff_ffff;
        SMPR2 0x10 rw mask 0x3fff_ffff;
        JOFR "JOFR{}" [1..5; 4] 0x14 rw mask 0xfff;
        HTR 0x24 rw reset 0xfff mask 0xfff;
        LTR 0x28 rw mask 0xfff;
        SQR1 0x2c rw mask 0x00ff_ffff { L 20..24 };
        SQR2 0x30 rw mask 0x3fff_ffff;
        SQR3 0x34 rw mask 0x3fff_ffff;
        JSQR 0x38 rw mask 0x003f_ffff;
        JDR "JDR{}" [1..5; 4] 0x3c ro mask 0xffff;
        DR 0x4c ro volatile mask 0xffff;
    }

    /// The registers that the converters have in common.
    const COMMON "ADC_" {
        CSR 0x300 ro volatile;
        CCR 0x304 rw mask 0x00c3_ef1f { MULTI 0..5, ADCPRE 16..18, VBATE 22, TSVREFE 23 };
    }
}

const CONVERTERS: usize = 3;
/// The registers of the converters.
const PLACES: Banks = Banks { first: 0, bytes: 0x100, count: CONVERTERS, begin: SR };
/// The channels of an STM32F4, and the reference (DS8626, embedded reference voltage).
const AT: Channels = Channels {
    first: 0,
    pins: 16,
    temperature: 16,
    sensor_millicelsius: 25_000,
    vrefint: 17,
    vrefint_uv: 1_210_000,
    vbat: 18,
};

/// The board's parameters of the converters.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// PCLK2.
    pub clock: ClockInput,
    /// Number of converters.
    pub converters: usize,
    /// What is at the channels.
    pub inputs: Inputs,
    /// True if the temperature sensor shares VBAT's channel.
    pub sensor_shares_vbat: bool,
    /// The interrupt of the converters.
    pub interrupt: Option<IrqLine>,
    /// The clock enable bit of the converters.
    pub gate: ClockGate,
}

/// The converters.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.params.gate))]
#[banks(converters, PLACES)]
#[poll(first = Adc::list_conversion)]
pub struct Adc {
    #[state(skip)]
    params: Params,
    clock: ClockInput,
    #[state(with = engine::state::fixed)]
    converters: Vec<Converter>,
    /// Those that the converters have in common.
    registers: Registers,
    dma: [DmaLine; CONVERTERS],
    interrupt: InterruptOutput,
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32f4-adc"], 1, from_node).with_activities(ADC).naming(MAP.rows);

/// Builds the converters from their node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "resets", "#io-channel-cells"]);
    let inputs = Inputs::from_node(reader, &AT);
    let sensor_shares_vbat = reader.flag(
        "cyclescope,sensor-shares-vbat",
        "the temperature sensor is on channel 18, where a quarter of VBAT has priority",
    );
    let params = Params {
        clock: reader.clock_input(0, "PCLK2"),
        converters: reader.u32_or("cyclescope,converters", 1, 1..=3, "number of converters, 1 to 3") as usize,
        inputs: inputs.with_vbat(&AT, if sensor_shares_vbat { 4 } else { 2 }),
        sensor_shares_vbat,
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
        let converters = (0..params.converters).map(|_| Converter::new()).collect();
        let (registers, interrupt) = (Registers::new(&COMMON), InterruptOutput::new(params.interrupt));
        Adc { params, clock: params.clock, converters, registers, dma, interrupt, alarm: Alarm::default() }
    }

    /// Clocks of PCLK2 in a clock of ADCCLK.
    fn divider(&self) -> u64 {
        2 * (u64::from(self.registers.field(CCR, CCR_ADCPRE)) + 1)
    }

    /// The result of a conversion of a channel by a converter.
    fn sample(&self, index: usize, channel: usize) -> u32 {
        let (vbat, sensor) = (self.registers.has(CCR, CCR_VBATE), self.registers.has(CCR, CCR_TSVREFE));
        let shared = self.params.sensor_shares_vbat;
        let input = match channel {
            0..16 => Some(channel),
            _ if index > 0 => None,
            18 if vbat => Some(AT.vbat),
            18 if shared && sensor => Some(AT.temperature),
            16 if !shared && sensor => Some(AT.temperature),
            17 if sensor => Some(AT.vrefint),
            _ => None,
        };
        input.map_or(0, |input| self.params.inputs.code(input))
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.converters.iter_mut().for_each(Converter::reset);
        self.registers.reset();
        self.update(ctx);
    }

    /// The end of the next conversion.
    fn next(&self) -> Option<Ps> {
        self.converters.iter().filter_map(Converter::next).min().map(|cycle| self.clock.rate.ps_at_floor(Cycles(cycle)))
    }

    /// Conversions end at events.
    fn list_conversion(&mut self, poll: &mut Poll) -> bool {
        let Some(next) = self.next() else { return true };
        poll.until(next);
        next > poll.now()
    }
}

impl Table for Adc {
    fn settle(&mut self, ctx: &mut Ctx) {
        let cycle = self.clock.rate.cycles_until_floor(ctx.now).0;
        let divider = self.divider();
        for index in 0..self.converters.len() {
            while let Some(channel) = self.converters[index].ends_by(cycle) {
                let code = self.sample(index, channel);
                self.converters[index].end(code, divider);
            }
        }
    }

    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        if register == CSR {
            let converters = self.converters.iter().enumerate();
            return converters.map(|(index, converter)| converter.registers[SR] << (8 * index)).sum();
        }
        let Some((index, DR)) = PLACES.at(register) else { return held };
        self.converters.get_mut(index).map_or(held, Converter::take)
    }

    fn was_read(&mut self, _: u32, ctx: &mut Ctx) {
        self.update(ctx);
    }

    fn wrote(&mut self, register: u32, _: u32, value: u32, ctx: &mut Ctx) {
        if register == CCR && value & CCR_MULTI != 0 {
            ctx.note("converters that work together (ADC_CCR.MULTI) are not modelled: each works alone");
        }
        let Some((index, CR2)) = PLACES.at(register) else { return };
        let divider = self.divider();
        let begins = self.clock.rate.cycles_until_ceil(ctx.now).0.next_multiple_of(divider);
        if value & (CR2_JSWSTART | CR2_JEXTEN | CR2_EXTEN) != 0 {
            ctx.note("injected sequences and external triggers (ADC_CR2) are not modelled: none begins");
        }
        if value & CR2_SWSTART != 0 && value & CR2_ADON == 0 {
            ctx.note("SWSTART was set while the converter is off (ADC_CR2.ADON): nothing is converted");
        }
        self.converters[index].set_control2(value, begins, divider);
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.interrupt.drive(self.converters.iter().any(Converter::interrupts), ctx);
        for (converter, line) in self.converters.iter().zip(&mut self.dma) {
            line.set(converter.asks(), DMA_ACTIVITIES, ctx);
        }
        if ctx.records(Kind::Conversion) {
            for (index, converter) in self.converters.iter().enumerate() {
                let due = converter.next().map(|cycle| self.clock.rate.ps_at_floor(Cycles(cycle)));
                let channel = converter.ends_by(u64::MAX).map_or(Detail::None, |it| Detail::Value(it as u32));
                ctx.awaits((&CONVERSION, index as u32), due, channel);
            }
        }
        match self.next() {
            Some(due) => self.alarm.set(due, CHANGES, ctx),
            None => self.alarm.cancel(CHANGES, ctx),
        }
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
        let before = self.clock.rate.cycles_until_floor(ctx.now).0;
        self.clock.rate = ctx.bus.clocks.rate_of(self.clock);
        let now = self.clock.rate.cycles_until_floor(ctx.now).0;
        self.converters.iter_mut().for_each(|converter| converter.move_by(before, now));
        self.alarm.cancel(CHANGES, ctx);
        self.update(ctx);
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        totals([("conversions", self.converters.iter().map(|converter| converter.conversions).sum())])
    }
}
