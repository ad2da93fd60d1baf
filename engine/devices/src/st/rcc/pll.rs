//! The PLLs of an RCC: their factors, and what may be written when.

use std::ops::RangeInclusive;

use crate::prelude::*;

use super::Rcc;
use super::family::{Kind, Name};
use super::sources::{Driven, scaled};

pub const MHZ: u64 = 1_000_000;

/// A PLL's place in the registers.
#[derive(Clone, Copy, Debug)]
pub struct Pll {
    /// The register with its factors and outputs.
    pub register: u32,
    /// The divisor of its input, which may be another PLL's as well: its register, and its field.
    pub m: (u32, Factor),
    /// The multiplier.
    pub n: Factor,
    /// Its outputs; the first one is that of SYSCLK, if it makes it.
    pub outputs: &'static [Output],
}

/// An output of a PLL.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// The manual's letter.
    pub name: &'static str,
    /// The bit that turns it on; 0 if it is always on.
    pub enable: u32,
    /// Its divisor.
    pub divisor: Factor,
    /// Its divisor while the field of the first one is 0.
    pub instead: Option<Factor>,
}

impl Output {
    /// An output with one divisor.
    pub const fn new(name: &'static str, enable: u32, divisor: Factor) -> Output {
        Output { name, enable, divisor, instead: None }
    }

    /// The same output, with another divisor while the field of the first one is 0.
    pub const fn or(self, instead: Factor) -> Output {
        Output { instead: Some(instead), ..self }
    }

    const fn divides_by(&self, register: u32) -> u64 {
        match self.instead {
            Some(instead) if register & self.divisor.mask == 0 => instead.value(register),
            _ => self.divisor.value(register),
        }
    }
}

/// A field that holds a factor: `first` for 0, and `step` more for each value after it.
#[derive(Clone, Copy, Debug)]
pub struct Factor {
    mask: u32,
    first: u64,
    step: u64,
}

impl Factor {
    /// The field's value.
    pub const fn plain(mask: u32) -> Factor {
        Factor { mask, first: 0, step: 1 }
    }

    /// 1 more than the field's value.
    pub const fn next(mask: u32) -> Factor {
        Factor { mask, first: 1, step: 1 }
    }

    /// 2, 4, 6 and so on.
    pub const fn even(mask: u32) -> Factor {
        Factor { mask, first: 2, step: 2 }
    }

    /// `first` for 0, and `step` more for each value after it.
    pub const fn of(mask: u32, first: u64, step: u64) -> Factor {
        Factor { mask, first, step }
    }

    const fn value(self, register: u32) -> u64 {
        self.first + self.step * field(register, self.mask) as u64
    }
}

/// The common input of all PLLs.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// RCC_PLLCFGR.
    pub register: u32,
    /// PLLSRC.
    pub select: u32,
    /// The sources by its values.
    pub sources: &'static [Option<Name>],
    /// Bits that can't be written while any PLL is on.
    pub shared: u32,
    /// Bits of outputs in all PLLs' registers, which can be written while the PLL is on.
    pub outputs: u32,
    /// True if the PLL's rate is that of the board's oscillator, even while that can't run; else a PLL that is turned
    /// on without an input keeps its rate.
    pub is_boards: bool,
}

/// The limits of all PLLs.
#[derive(Clone, Debug)]
pub struct Limits {
    /// PLLM.
    pub m: RangeInclusive<u64>,
    /// PLLN.
    pub n: RangeInclusive<u64>,
    /// The VCO's input.
    pub input_hz: RangeInclusive<u64>,
    /// The VCO's input as the manual has it.
    pub input: &'static str,
    /// The VCO's frequency.
    pub vco_mhz: RangeInclusive<u64>,
}

/// A PLL's factors.
struct Factors {
    m: u64,
    n: u64,
    outputs: Vec<u64>,
}

impl Factors {
    /// The rate of an output.
    fn output(&self, input: Hz, output: usize) -> Hz {
        scaled(input, self.n, self.m.max(1) * self.outputs[output].max(1))
    }

    /// Describes a violation of the manual's limits.
    fn complaint(&self, input: Hz, limits: &Limits) -> Option<String> {
        let into_vco = input.get() / self.m.max(1);
        let vco = input.get().saturating_mul(self.n) / self.m.max(1);
        let (least, most) = (limits.vco_mhz.start(), limits.vco_mhz.end());
        let out_of = |name: &str, value: u64, allowed: &RangeInclusive<u64>| {
            let (first, last) = (allowed.start(), allowed.end());
            (!allowed.contains(&value)).then(|| format!("{name} is {value}, and has to be {first} to {last}"))
        };
        let small = self.outputs.iter().find(|divisor| **divisor < 2);
        out_of("PLLM", self.m, &limits.m)
            .or_else(|| out_of("PLLN", self.n, &limits.n))
            .or_else(|| small.map(|divisor| format!("PLLQ or PLLI2SR is {divisor}, and has to be 2 or more")))
            .or_else(|| {
                let wrong = format!("the VCO's input has {into_vco} Hz, and takes {}", limits.input);
                (!limits.input_hz.contains(&into_vco)).then_some(wrong)
            })
            .or_else(|| {
                let wrong = format!("the VCO would run at {vco} Hz, and does from {least} to {most} MHz");
                (!(least * MHZ..=most * MHZ).contains(&vco)).then_some(wrong)
            })
    }
}

impl Rcc {
    fn factors(&self, pll: &Pll) -> Factors {
        let (register, (m_register, m)) = (self.registers[pll.register], pll.m);
        Factors {
            m: m.value(self.registers[m_register]),
            n: pll.n.value(register),
            outputs: pll.outputs.iter().map(|output| output.divides_by(register)).collect(),
        }
    }

    /// A PLL is about to be turned on: sets its input and its rate.
    pub(super) fn prepare_pll(&mut self, index: usize, pll: &Pll, ctx: &mut Ctx) {
        let (name, input) = (self.family.sources[index].name, self.family.input);
        let source = self.family.pll_source(&self.registers);
        self.sources.list[index].parent = source;
        let Some(source) = source else {
            ctx.note(&format!("{name} was turned on without an input (RCC_PLLCFGR.PLLSRC): it never becomes ready"));
            return;
        };
        let rate = if input.is_boards { self.params.oscillators[source] } else { self.sources.list[source].rate };
        let factors = self.factors(pll);
        if let Some(wrong) = rate.and_then(|rate| factors.complaint(rate, &self.family.limits)) {
            ctx.note(&format!("{name} was turned on out of its range: {wrong}; it runs nevertheless"));
        }
        if rate.is_some() || input.is_boards {
            self.sources.list[index].rate = rate.map(|rate| factors.output(rate, 0));
        }
    }

    /// Factors can't change while their PLL is on, nor the common input while any PLL is on. Outputs can be turned on
    /// and off, except for the source of SYSCLK.
    pub(super) fn wrote_pll(&mut self, (index, pll): (usize, &Pll), old: u32, new: u32, ctx: &mut Ctx) {
        let input = self.family.input;
        let plls = self.family.sources.iter().enumerate().filter(|(_, row)| matches!(row.kind, Kind::Pll(_)));
        let is_any_on = plls.map(|(index, _)| index).any(|index| self.sources.list[index].is_on());
        let is_sysclk =
            self.family.sysclk.contains(&self.family.sources[index].source) && self.sources.is_in_use(index);
        let factors = if self.sources.list[index].is_on() { !input.outputs } else { 0 };
        let shared = if pll.register == input.register && is_any_on { input.shared } else { 0 };
        let output = if is_sysclk { pll.outputs[0].enable } else { 0 };
        let (locked, changed) = (factors | shared | output, old ^ new);
        if changed & locked & !output != 0 {
            ctx.note(
                "a running PLL's factors, or the common input of running PLLs, were written: they keep their values",
            );
        }
        if changed & locked & output != 0 {
            ctx.note("RCC_PLLCFGR.PLLREN was cleared while SYSCLK comes from the PLL, which has no effect");
        }
        self.registers.set(pll.register, old & locked | new & !locked);
        if input.outputs != 0 {
            self.select(ctx);
            self.settings_change(ctx);
        }
    }

    /// The bit that would turn on the first output of a source, if that is a PLL with the output off.
    pub(super) fn output_off(&self, source: usize) -> Option<String> {
        let pll = self.family.pll(source)?;
        self.bit_off(pll, &pll.outputs[0])
    }

    fn bit_off(&self, pll: &Pll, output: &Output) -> Option<String> {
        let is_off = output.enable != 0 && !self.registers.has(pll.register, output.enable);
        is_off.then(|| self.family.name_of(pll.register, output.enable).join("."))
    }

    /// One of the outputs of a PLL, by its letter; the one for SYSCLK without a letter.
    pub(super) fn pll_output(&self, index: usize, letter: Option<&str>) -> Driven {
        self.source(index)?;
        let Some(pll) = self.family.pll(index) else { return Err(None) };
        let output = pll.outputs.iter().position(|output| Some(output.name) == letter).unwrap_or(0);
        let made = &pll.outputs[output];
        if let Some(bit) = self.bit_off(pll, made) {
            return Err(Some(format!("output {} of a PLL, which is off ({bit})", made.name)));
        }
        let source = self.family.pll_source(&self.registers);
        let input = source.map_or(Err(None), |source| self.source(source))?;
        Ok(self.factors(pll).output(input, output))
    }
}
