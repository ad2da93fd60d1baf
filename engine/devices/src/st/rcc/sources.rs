//! Oscillators and PLLs of an STM32, and the multiplexer of SYSCLK (RM0090, RM0383 and RM0432, "Clocks").
//!
//! A source is ready a start-up or lock time after it is turned on; after it is turned off, its ready flag falls a few
//! of its cycles later. A PLL starts to lock when its input is ready. A source of SYSCLK, direct or through a PLL,
//! stays on whatever is written. SYSCLK changes over when the selected source is ready.
//!
//! The multiplexer is assumed to be of the usual glitch-free kind: the old clock's enable passes some registers at its
//! own edges, then the new one's at its own. Until then the old clock is counted.

#[cfg(test)]
mod tests;

use crate::prelude::*;
use crate::support::activities::CLOCK_START;
use engine::activity::Kind;
use engine::dt::wiring::ClockId;
use engine::state;

/// The state of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, state::State, state::Fresh, Polled)]
pub enum State {
    Off,
    /// On, and its input, or the part itself, is missing.
    Waiting,
    Starting(Ps),
    Ready,
    Stopping(Ps),
}

/// The rate of a running clock; for a stopped clock, its source and the reason, as for
/// [`engine::clocks::Clocks::stop`].
pub type Driven = Result<Hz, Option<String>>;

/// An oscillator or a PLL.
#[derive(Clone, Copy, Debug, state::State, Polled)]
pub struct Source {
    /// `None` for an oscillator that the board does not have, and for a PLL without a rate. A change is in force at
    /// once, or when the source is ready.
    pub rate: Option<Hz>,
    /// Its start-up or lock time.
    pub start: Ps,
    /// Cycles from turning it off until its ready flag falls.
    #[state(skip)]
    stop_cycles: Cycles,
    /// The source of a PLL.
    pub parent: Option<usize>,
    #[state(skip)]
    is_pll: bool,
    pub state: State,
}

impl Source {
    /// An oscillator, off.
    pub const fn oscillator(rate: Option<Hz>, start: Ps, stop_cycles: Cycles) -> Source {
        Source { rate, start, stop_cycles, parent: None, is_pll: false, state: State::Off }
    }

    /// A PLL, off. Its flag falls at once.
    pub const fn pll(lock: Ps, parent: Option<usize>) -> Source {
        Source { start: lock, parent, is_pll: true, ..Source::oscillator(None, lock, Cycles(0)) }
    }

    /// The same source, ready after reset.
    pub const fn running(self) -> Source {
        Source { state: State::Ready, ..self }
    }

    /// True if it is turned on, ready or not.
    pub const fn is_on(&self) -> bool {
        !matches!(self.state, State::Off | State::Stopping(_))
    }

    /// True if its ready flag is set.
    pub const fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready | State::Stopping(_))
    }
}

/// The changes since the last call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Happened {
    /// Sources that became ready, a bit each.
    pub ready: u32,
    /// True if SYSCLK has another source now.
    pub switched: bool,
    /// True if a source is not ready any more.
    pub stopped: bool,
}

/// The sources of a chip, by their index, and the source of SYSCLK.
#[derive(Clone, Debug, state::State, Polled)]
pub struct Sources {
    #[state(with = engine::state::fixed)]
    pub list: Vec<Source>,
    /// The source of SYSCLK.
    pub selected: usize,
    /// The source that firmware has selected.
    wanted: usize,
    switch_at: Option<Ps>,
    /// Cycles of the old and of the new clock that the multiplexer takes.
    #[state(skip)]
    switch_cycles: Cycles,
}

impl Sources {
    /// The sources of `list`, with `selected` as the source of SYSCLK.
    pub fn new(list: Vec<Source>, selected: usize, switch_cycles: Cycles) -> Sources {
        Sources { list, selected, wanted: selected, switch_at: None, switch_cycles }
    }

    /// True if it is the source of SYSCLK, directly or through a PLL, or is about to be.
    pub fn is_in_use(&self, source: usize) -> bool {
        [self.selected, self.wanted].into_iter().any(|user| user == source || self.list[user].parent == Some(source))
    }

    /// Turns a source on or off. A source that SYSCLK needs stays on.
    pub fn turn(&mut self, source: usize, on: bool, now: Ps) {
        let is_on = self.list[source].is_on();
        if on && !is_on {
            let was_ready = self.list[source].is_ready();
            self.list[source].state = if was_ready { State::Ready } else { State::Waiting };
            self.go_on(now);
        } else if !on && is_on && !self.is_in_use(source) {
            let entry = &mut self.list[source];
            entry.state = match (entry.state, entry.rate) {
                (State::Ready, _) if entry.stop_cycles == Cycles(0) => State::Stopping(now),
                (State::Ready, Some(rate)) => State::Stopping(rate.after(now, entry.stop_cycles)),
                _ => State::Off,
            };
        }
    }

    /// Selects the source of SYSCLK.
    pub fn select(&mut self, source: usize, now: Ps) {
        if source != self.wanted {
            self.wanted = source;
            self.switch_at = None;
            self.go_on(now);
        }
    }

    /// Starts the sources whose input has become ready.
    fn go_on(&mut self, now: Ps) {
        for index in 0..self.list.len() {
            let source = self.list[index];
            let input = source.parent.map(|parent| self.list[parent].is_ready());
            let has_input = if source.is_pll { input == Some(true) } else { true };
            if source.state == State::Waiting && has_input && source.rate.is_some() {
                self.list[index].state = State::Starting(now.saturating_add(source.start));
            } else if matches!(source.state, State::Starting(_) | State::Ready) && !has_input {
                // A PLL without its input has lost its lock.
                self.list[index].state = State::Waiting;
            }
        }
        if self.wanted != self.selected && self.switch_at.is_none() && self.list[self.wanted].is_ready() {
            self.switch_at = Some(self.switched_by(now));
        }
    }

    fn switched_by(&self, now: Ps) -> Ps {
        let [old, new] = [self.selected, self.wanted].map(|source| self.list[source].rate);
        let let_go = old.map_or(now, |rate| rate.after(now, self.switch_cycles));
        new.map_or(let_go, |rate| rate.after(let_go, self.switch_cycles))
    }

    /// Carries out all changes up to `now`.
    pub fn advance(&mut self, now: Ps) -> Happened {
        let mut happened = Happened::default();
        for (index, source) in self.list.iter_mut().enumerate() {
            match source.state {
                State::Starting(due) if due <= now => {
                    source.state = State::Ready;
                    happened.ready |= 1 << index;
                }
                State::Stopping(due) if due <= now => {
                    source.state = State::Off;
                    happened.stopped = true;
                }
                _ => {}
            }
        }
        if self.switch_at.is_some_and(|due| due <= now) {
            self.switch_at = None;
            self.selected = self.wanted;
            happened.switched = true;
        }
        self.go_on(now);
        happened
    }

    /// The time of the next change.
    pub fn next(&self) -> Option<Ps> {
        let due = |source: &Source| match source.state {
            State::Starting(due) | State::Stopping(due) => Some(due),
            _ => None,
        };
        self.list.iter().filter_map(due).chain(self.switch_at).min()
    }

    /// Records which sources are starting.
    pub fn report(&self, ctx: &mut Ctx) {
        if !ctx.records(Kind::Other) {
            return;
        }
        for (index, source) in self.list.iter().enumerate() {
            let due = if let State::Starting(due) = source.state { Some(due) } else { None };
            ctx.awaits((&CLOCK_START, index as u32), due, Detail::None);
        }
    }
}

/// `rate * multiplier / divider`, rounded down to a hertz; at least 1 Hz.
pub fn scaled(rate: Hz, multiplier: u64, divider: u64) -> Hz {
    let hz = rate.get().saturating_mul(multiplier) / divider.max(1);
    Hz::new(hz.max(1)).unwrap_or(rate)
}

/// The divider of RCC_CFGR.HPRE.
pub const fn ahb_divider(hpre: u32) -> u64 {
    match hpre & 0xf {
        0..=7 => 1,
        low @ 8..=11 => 2 << (low - 8),
        // There is no 32.
        high => 64 << (high - 12),
    }
}

/// The divider of a PPRE field of RCC_CFGR.
pub const fn apb_divider(ppre: u32) -> u64 {
    match ppre & 7 {
        0..=3 => 1,
        field => 2 << (field - 4),
    }
}

/// The board's clock or crystal at OSC_IN, for HSE.
#[derive(Clone, Copy, Debug)]
pub struct Hse {
    /// Its rate; `None` if OSC_IN is not connected.
    pub rate: Option<Hz>,
    /// True if it is a clock from another part of the board, and not a crystal.
    pub is_external: bool,
    /// A crystal's start time.
    pub start: Ps,
    /// Cycles from turning it on until it is ready, for an external clock.
    pub external_cycles: Cycles,
}

impl Hse {
    /// Reads the clock controller's node.
    pub fn from_node(reader: &mut NodeReader, rate: Option<Hz>) -> Hse {
        const EXTERNAL: &str = "cycles of HSE from turning it on until it is ready, where it is external";
        Hse {
            rate,
            is_external: reader.flag("hse-bypass", "OSC_IN has a clock from elsewhere, and no crystal"),
            start: start_time(reader, "cyclescope,hse-start-us", "HSE with a crystal"),
            external_cycles: reader.timing_cycles("cyclescope,hse-external-cycles", EXTERNAL),
        }
    }

    /// HSE is about to be turned on, with the present value of RCC_CR.HSEBYP: sets the source's rate and start time.
    pub fn prepare(&self, hse: &mut Source, bypass: bool, ctx: &mut Ctx) {
        hse.rate = None;
        let Some(rate) = self.rate else {
            ctx.note("HSE is turned on (RCC_CR.HSEON), and the board has nothing at OSC_IN: it never gets ready");
            return;
        };
        if bypass && !self.is_external {
            ctx.note(
                "RCC_CR.HSEBYP is set, and OSC_IN has a crystal, which does not oscillate so: HSE never gets ready",
            );
            return;
        }
        if self.is_external && !bypass {
            ctx.note(
                "HSE is turned on without RCC_CR.HSEBYP, and OSC_IN has a clock from elsewhere: it is taken all \
                 the same",
            );
        }
        let cycles = rate.ps_at_floor(self.external_cycles);
        (hse.rate, hse.start) = (Some(rate), if self.is_external { cycles } else { self.start });
    }
}

/// Sets the rates of the board's clocks that a controller drives, in their order.
pub fn publish(outputs: &[ClockId], driven: impl IntoIterator<Item = Driven>, ctx: &mut Ctx) {
    let mut rates = Vec::new();
    for (clock, driven) in outputs.iter().zip(driven) {
        match driven {
            Ok(rate) => rates.push((*clock, rate)),
            Err(why) => ctx.bus.clocks.stop(*clock, why),
        }
    }
    ctx.set_clocks(&rates);
}

/// Cycles from turning off an oscillator, and LSI, until its ready flag falls, from a node.
pub fn stop_cycles(reader: &mut NodeReader) -> [Cycles; 2] {
    let meaning = |of: &str| format!("cycles of {of} from turning it off until its ready flag falls");
    [
        reader.timing_cycles("cyclescope,stop-cycles", &meaning("an oscillator other than LSI")),
        reader.timing_cycles("cyclescope,lsi-stop-cycles", &meaning("LSI")),
    ]
}

/// A source's start time, from a node.
pub fn start_time(reader: &mut NodeReader, name: &str, of: &str) -> Ps {
    reader.timing_ps(name, &format!("from turning {of} on until it is ready"))
}

/// A node's clocks by `clock-names`: `None` for those that a board does not have.
pub fn named_clocks(reader: &mut NodeReader, names: &[&str]) -> Vec<Option<Hz>> {
    let given = reader.strings("clock-names", "which oscillators `clocks` has, in its order");
    if reader.is_documenting() {
        let meaning = format!("the oscillators that the board has, by clock-names: {}", names.join(", "));
        return vec![Some(reader.clock(0, &meaning)); names.len()];
    }
    let mut clock = |name: &&str| {
        let index = given.iter().position(|given| given == name)?;
        Some(reader.clock(index, &format!("the oscillator {name}")))
    };
    names.iter().map(&mut clock).collect()
}
