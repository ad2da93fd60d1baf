//! The clock tree (RM0090 and RM0432, figure "Clock tree"): the clocks by the settings in force and the sources.

use crate::prelude::*;

use super::family::{Kind, Name};
use super::pll::MHZ;
use super::sources::{Driven, Source, State, ahb_divider, apb_divider, publish, scaled};
use super::{CFGR, CFGR_HPRE, Rcc};

/// A clock of the tree.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// SYSCLK.
    Sysclk,
    /// HCLK.
    Hclk,
    /// PCLK1 or PCLK2, from 0.
    Pclk(usize),
    /// The clock of APB1's or APB2's timers, from 0.
    Timers(usize),
    /// A source.
    Source(Name),
    /// An output of a PLL: the source, and the output's letter.
    Output(Name, &'static str),
    /// A clock by a divider.
    Over(&'static Clock, u64),
    /// A clock by the field of a register of settings.
    OverField(&'static Clock, u32, u32),
    /// The clock that the field of a register of settings selects.
    Selected(u32, u32, &'static [Clock]),
    /// No clock, as this field selects none.
    Nothing(&'static str),
}

/// The clocks that every family drives, and what they are.
pub const BUSES: [(&str, Clock); 7] = [
    ("SYSCLK", Clock::Sysclk),
    ("HCLK", Clock::Hclk),
    ("HCLK / 8, SysTick's external clock", Clock::Over(&Clock::Hclk, 8)),
    ("PCLK1", Clock::Pclk(0)),
    ("PCLK2", Clock::Pclk(1)),
    ("the clock of APB1's timers", Clock::Timers(0)),
    ("the clock of APB2's timers", Clock::Timers(1)),
];

/// The rates of the buses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree {
    pub sysclk: Hz,
    pub hclk: Hz,
    pub pclk: [Hz; 2],
    pub timers: [Hz; 2],
}

impl Rcc {
    /// The present rates.
    pub(super) fn tree(&self) -> Tree {
        let selected = self.sources.selected;
        let rate = match self.family.sources[selected].kind {
            Kind::Pll(_) => self.pll_output(selected, None).ok(),
            _ => self.sources.list[selected].rate,
        };
        let sysclk = rate.unwrap_or(self.family.reset_hz);
        let hclk = scaled(sysclk, 1, ahb_divider(self.in_force.field(CFGR, CFGR_HPRE)));
        let dividers = self.family.apb_dividers.map(|mask| apb_divider(self.in_force.field(CFGR, mask)));
        let pclk = dividers.map(|divider| scaled(hclk, 1, divider));
        // Twice or four times PCLK, up to HCLK.
        let is_by_4 = self.family.timers_by_4.is_some_and(|(register, bit)| self.in_force.field(register, bit) != 0);
        let factor = if is_by_4 { 4 } else { 2 };
        let timers = dividers.map(|divider| scaled(hclk, factor.min(divider), divider));
        Tree { sysclk, hclk, pclk, timers }
    }

    /// The present rate of a source.
    pub(super) fn source(&self, index: usize) -> Driven {
        let (Source { rate, parent, state, .. }, row) = (self.sources.list[index], &self.family.sources[index]);
        match (rate, state) {
            (Some(rate), State::Ready | State::Stopping(_)) => Ok(rate),
            (Some(_), State::Starting(_)) => Err(None),
            (_, State::Off) => {
                let switch = self.family.name_of(row.register, row.on).join(".");
                Err(Some(format!("{}, which is off ({switch})", row.name)))
            }
            (Some(_), _) if matches!(row.kind, Kind::Pll(_)) => match parent.map(|parent| self.source(parent)) {
                Some(Err(why)) => Err(why),
                _ => Err(None),
            },
            _ => Err(Some(format!("{}, which has nothing to run by", row.name))),
        }
    }

    /// The rate of a clock.
    fn driven(&self, clock: &Clock, tree: &Tree) -> Driven {
        match *clock {
            Clock::Sysclk => Ok(tree.sysclk),
            Clock::Hclk => Ok(tree.hclk),
            Clock::Pclk(bus) => Ok(tree.pclk[bus]),
            Clock::Timers(bus) => Ok(tree.timers[bus]),
            Clock::Source(source) => self.source(self.family.place(source)),
            Clock::Output(pll, letter) => self.pll_output(self.family.place(pll), Some(letter)),
            Clock::Over(clock, divider) => self.driven(clock, tree).map(|rate| scaled(rate, 1, divider)),
            Clock::OverField(clock, register, mask) => {
                let divider = self.in_force.field(register, mask).max(1);
                self.driven(clock, tree).map(|rate| scaled(rate, 1, divider.into()))
            }
            Clock::Selected(register, mask, choices) => {
                let choice = choices.get(self.in_force.field(register, mask) as usize);
                choice.map_or(Err(None), |clock| self.driven(clock, tree))
            }
            Clock::Nothing(field) => Err(Some(format!("nothing, as {field} selects none"))),
        }
    }

    /// Sets the board's clocks to their rates.
    pub(super) fn publish(&mut self, ctx: &mut Ctx) {
        let tree = self.tree();
        let clocks = self.family.clocks();
        publish(&self.params.outputs, clocks.map(|(_, clock)| self.driven(clock, &tree)), ctx);
        self.check_limits(&tree, ctx);
    }

    fn check_limits(&self, tree: &Tree, ctx: &mut Ctx) {
        let (most_mhz, source) = self.family.most_mhz;
        let clocks = [("HCLK", tree.hclk), ("PCLK1", tree.pclk[0]), ("PCLK2", tree.pclk[1])];
        for ((name, rate), most) in clocks.into_iter().zip(most_mhz) {
            if rate.get() > most * MHZ {
                ctx.note(&format!("{name} runs at {} Hz, above its maximum of {most} MHz{source}", rate.get()));
            }
        }
    }
}
