//! What a family of STM32s has of an RCC, as a table.

use std::ops::RangeInclusive;

use crate::prelude::*;
use crate::registers::Row;

use super::pll::{Input, Limits, Pll};
use super::sources::{Source, named_clocks, start_time};
use super::tree::Clock;
use super::{Params, Rcc};

/// The registers, sources and clocks of a family.
#[derive(Debug)]
pub struct Family {
    /// The register map.
    pub map: &'static Map,
    /// Oscillators and PLLs by their index; the first one runs after reset.
    pub sources: &'static [SourceRow],
    /// The rate of the first source after reset.
    pub reset_hz: Hz,
    /// The sources that RCC_CFGR.SW selects, by its values: the last one is the PLL.
    pub sysclk: &'static [Name],
    /// The common input of the PLLs.
    pub input: Input,
    /// The limits of the PLLs.
    pub limits: Limits,
    /// RCC_CFGR: bits of the MCO pins, and the note of a write to them.
    pub mco: (u32, &'static str),
    /// RCC_CFGR: dividers and selections.
    pub dividers: u32,
    /// RCC_CFGR: dividers of APB1 and APB2.
    pub apb_dividers: [u32; 2],
    /// The bit by which timers get up to four times PCLK, in its register of settings.
    pub timers_by_4: Option<(u32, u32)>,
    /// RCC_xxxENR; RCC_xxxRSTR are in the same order and have the same bits.
    pub enables: RangeInclusive<u32>,
    /// The first enable registers of APB1 and APB2.
    pub apb_enables: [u32; 2],
    /// The time from which a peripheral that is enabled now has its clock, by the rates of HCLK and its bus.
    pub enabled_at: fn(now: Ps, hclk: Hz, bus: Hz) -> Ps,
    /// RCC_BDCR.
    pub bdcr: u32,
    /// The register of PWR that has DBP, without which RCC_BDCR can't be written.
    pub dbp: &'static str,
    /// RCC_CSR.
    pub csr: u32,
    /// RCC_CSR.RMVF, which clears the flags of resets.
    pub rmvf: u32,
    /// The flags of resets in RCC_CSR.
    pub reset_flags: u32,
    /// The interrupts of ready flags.
    pub interrupts: Interrupts,
    /// Registers with dividers and selections, which take effect some cycles after a write.
    pub settings: &'static [u32],
    /// The clocks that it drives, in the order of `cyclescope,outputs`: those of all families, and then others.
    pub outputs: &'static [&'static [(&'static str, Clock)]],
    /// Maximum HCLK, PCLK1 and PCLK2 in MHz, and the document that a note names.
    pub most_mhz: (&'static [u64], &'static str),
    /// Further effects of a write, before the common ones: the register, and the value that it had.
    pub wrote: fn(&mut Rcc, u32, u32, &mut Ctx),
    /// Settings have come into force: further effects on sources.
    pub tune: fn(&mut Rcc),
}

/// The sources that families have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Msi,
    Hsi,
    Hse,
    Lse,
    Lsi,
    Hsi48,
    /// The PLL that SYSCLK can have, and the others.
    Main,
    I2s,
    Sai1,
    Sai2,
}

/// An oscillator or a PLL.
#[derive(Clone, Copy, Debug)]
pub struct SourceRow {
    /// Its name in tables.
    pub source: Name,
    /// The manual's name.
    pub name: &'static str,
    /// The register with its switch and its ready flag.
    pub register: u32,
    /// The switch.
    pub on: u32,
    /// The ready flag.
    pub ready: u32,
    /// The flag of its interrupt.
    pub interrupt: u32,
    /// What it is.
    pub kind: Kind,
}

impl SourceRow {
    /// A row; the array has the switch, the ready flag, and the interrupt's flag.
    pub const fn new(source: Name, name: &'static str, register: u32, bits: [u32; 3], kind: Kind) -> SourceRow {
        let [on, ready, interrupt] = bits;
        SourceRow { source, name, register, on, ready, interrupt, kind }
    }
}

/// The kind of a source.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An oscillator: its name in `clock-names`, and the unit of its start time in properties.
    Oscillator(&'static str, &'static str),
    /// An oscillator with a rate that firmware sets: its name in properties, and the unit of its start time.
    Ranges(&'static str, &'static str),
    /// HSE, the crystal or the clock at OSC_IN.
    Crystal,
    /// A PLL.
    Pll(Pll),
}

/// The peripherals of a bus that a part has, as bits: those of RCC_xxxRSTR; RCC_xxxENR after reset, and all of its
/// bits; the enables in low-power modes (RCC_xxxLPENR, RCC_xxxSMENR) after reset, and all of their bits.
pub type Peripherals = [u32; 5];

/// From a reset register to the enable register of the same peripherals.
pub const TO_ENABLES: u32 = 0x20;

/// The registers of `map` with the bits of a part's peripherals: the resets of all buses, then their enables, then the
/// enables in low-power modes.
pub const fn with_peripherals<const N: usize>(map: &Map, buses: &[Peripherals]) -> [Row; N] {
    let mut rows = [map.rows[0]; N];
    let mut at = 0;
    while at < N {
        let [resets, enabled, enables, enabled_asleep, enables_asleep] = buses[at % buses.len()];
        let (reset, mask) = [(0, resets), (enabled, enables), (enabled_asleep, enables_asleep)][at / buses.len()];
        rows[at] = map.rows[at].with(reset, mask);
        at += 1;
    }
    rows
}

/// The registers of interrupts. Those of several kinds may be one register, with its fields.
#[derive(Clone, Copy, Debug)]
pub struct Interrupts {
    /// The register with the enable bits.
    pub enables: u32,
    /// The distance of an enable bit from the place of its flag.
    pub shift: u32,
    /// The register with the flags.
    pub flags: u32,
    /// The bits of that register that clear flags, if it has some.
    pub clears: u32,
    /// The distance of such a bit from its flag.
    pub clear_shift: u32,
}

impl Interrupts {
    /// The register of flags was written.
    pub fn clear(&self, registers: &mut Registers) {
        let cleared = registers[self.flags] & self.clears;
        registers.put(self.flags, cleared | cleared >> self.clear_shift, false);
    }

    /// True if the interrupt is active.
    pub fn are_active(&self, registers: &Registers) -> bool {
        registers.has(self.flags, registers[self.enables] >> self.shift)
    }
}

impl Family {
    /// The oscillators that a node's clocks give, by the index of their source.
    pub fn oscillators(&self, reader: &mut NodeReader) -> Vec<Option<Hz>> {
        reader.known(&["#reset-cells"]);
        let name = |row: &SourceRow| match row.kind {
            Kind::Oscillator(name, _) => Some(name),
            Kind::Crystal => Some("hse"),
            Kind::Ranges(..) | Kind::Pll(_) => None,
        };
        let names: Vec<&str> = self.sources.iter().filter_map(name).collect();
        let mut clocks = named_clocks(reader, &names).into_iter();
        self.sources.iter().map(|row| name(row).and_then(|_| clocks.next().flatten())).collect()
    }

    /// The start times that a node gives, in the order of the sources.
    pub fn start_times(&self, reader: &mut NodeReader) -> Vec<Ps> {
        let start = |row: &SourceRow| match row.kind {
            Kind::Oscillator(name, unit) | Kind::Ranges(name, unit) => {
                Some(start_time(reader, &format!("cyclescope,{name}-start-{unit}"), row.name))
            }
            Kind::Crystal | Kind::Pll(_) => None,
        };
        self.sources.iter().filter_map(start).collect()
    }

    /// The index of a source.
    pub fn place(&self, source: Name) -> usize {
        self.sources.iter().position(|row| row.source == source).unwrap_or(0)
    }

    /// Its clocks, and what they are.
    pub fn clocks(&self) -> impl Iterator<Item = &'static (&'static str, Clock)> + Clone {
        self.outputs.iter().copied().flatten()
    }

    /// The sources after reset.
    pub fn sources_of(&self, params: &Params, registers: &Registers) -> Vec<Source> {
        let (mut starts, [stop, lsi_stop]) = (params.starts.iter().copied(), params.stop_cycles);
        let mut list = Vec::new();
        for (row, rate) in self.sources.iter().zip(&params.oscillators) {
            let stop = if row.register == self.csr { lsi_stop } else { stop };
            let mut started = || starts.next().unwrap_or_default();
            list.push(match row.kind {
                Kind::Oscillator(..) => Source::oscillator(*rate, started(), stop),
                Kind::Ranges(..) => Source::oscillator(Some(self.reset_hz), started(), stop),
                Kind::Crystal => Source::oscillator(*rate, params.hse.start, stop),
                Kind::Pll(_) => Source::pll(params.lock, self.pll_source(registers)),
            });
        }
        list[0] = list[0].running();
        list
    }

    /// The PLL at an index among the sources.
    pub fn pll(&self, index: usize) -> Option<&'static Pll> {
        match &self.sources[index].kind {
            Kind::Pll(pll) => Some(pll),
            _ => None,
        }
    }

    /// The PLL that has this register, and its index among the sources.
    pub fn pll_at(&self, register: u32) -> Option<(usize, &'static Pll)> {
        let mut plls = (0..self.sources.len()).filter_map(|index| Some((index, self.pll(index)?)));
        plls.find(|(_, pll)| pll.register == register)
    }

    /// The source that the registers select for the PLLs.
    pub fn pll_source(&self, registers: &Registers) -> Option<usize> {
        let Input { register, select, sources, .. } = self.input;
        let selected = sources.get(registers.field(register, select) as usize).copied().flatten();
        selected.map(|source| self.place(source))
    }

    /// The names of a register and of its bit.
    pub fn name_of(&self, register: u32, bit: u32) -> [&'static str; 2] {
        let row = self.map.row(register);
        [row.map_or("", |row| row.name), row.and_then(|row| row.names(bit).next()).unwrap_or_default()]
    }
}
