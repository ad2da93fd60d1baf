//! The stack of interrupts in service: the current one, and the priorities that may interrupt it.

use crate::prelude::*;

/// One entry for each priority.
const DEPTH: usize = 8;

/// An interrupt in service: its priority and source; `None` for a spurious one, which leaves the priority as it is.
pub type Serving = Option<(u32, u32)>;

/// The stack. AIC_EOICR removes its last entry.
#[derive(Clone, Debug, Default, State, Polled)]
pub struct Service {
    pub stack: Vec<Serving>,
}

impl Service {
    /// True if an interrupt of `priority` may come now: it has to be higher than the one in service.
    pub fn admits(&self, priority: u32) -> bool {
        self.stack.iter().rev().flatten().next().is_none_or(|(current, _)| priority > *current)
    }

    /// AIC_ISR: the source in service; 0 for no source, and for a spurious one.
    pub fn current(&self) -> u32 {
        self.stack.last().copied().flatten().map_or(0, |(_, source)| source)
    }

    /// An interrupt is taken. Only spurious interrupts could overflow the stack; its lowest entry is then lost.
    pub fn push(&mut self, serving: Serving) {
        if self.stack.len() == DEPTH {
            self.stack.remove(0);
        }
        self.stack.push(serving);
    }
}
