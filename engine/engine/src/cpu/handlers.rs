//! Entry to exception handlers, and detection of handlers that can't be intended.

use super::Cpu;
use super::isa::Isa;
use crate::bus::Bus;
use crate::event_rates::Source;
use crate::state::{Fresh, State};

/// The handler only jumps to itself.
pub(crate) const HANDLER_IS_STUCK: &str = "its handler is a branch to itself";
/// See [`Nesting`].
pub(crate) const HANDLER_FAILS: &str = "its handler raises it again and again";

/// Most times that a handler may take the same exception with the same registers: it makes no progress, unless it
/// counts in memory.
const MOST_NESTED: u32 = 1000;

/// Exceptions in handlers, one after the other. `S` is the state that distinguishes two of them, apart from memory.
#[derive(Clone, Debug, Default, PartialEq, State)]
pub(crate) struct Nesting<S: Fresh> {
    last: Option<S>,
    times: u32,
}

impl<S: PartialEq + Fresh> Nesting<S> {
    /// A handler has taken an exception. True if it has taken this one too often to make progress.
    pub fn is_endless(&mut self, state: S) -> bool {
        let state = Some(state);
        self.times = if self.last == state { self.times + 1 } else { 0 };
        self.last = state;
        self.times > MOST_NESTED
    }
}

impl<I: Isa> Cpu<I> {
    /// Takes an exception, whose handler is entered in `cycles`.
    pub(crate) fn enter_handler(&mut self, bus: &mut Bus, source: Source, cycles: u64) {
        self.shell.count_exception(bus, source);
        self.shell.cycles += cycles;
        self.shell.spent.exceptions += cycles;
        I::rest(&mut self.pending, cycles);
        self.left = None;
        self.update_limit(bus);
    }
}
