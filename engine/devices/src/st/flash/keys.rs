//! Keys that unlock registers of an STM32's flash interface (RM0090, "Unlocking the Flash control register"; RM0432,
//! the same).

use crate::prelude::*;

/// The keys that unlock a register of the interface, one after the other.
#[derive(Debug, State, Polled)]
pub struct Keys {
    #[state(skip)]
    sequence: [u32; 2],
    /// The number of keys that have been written; `None` after a wrong key, up to the next reset.
    written: Option<usize>,
}

impl Keys {
    /// No key has been written.
    pub const fn new(sequence: [u32; 2]) -> Keys {
        Keys { sequence, written: Some(0) }
    }

    /// Writes a key: true if it is the last one of the sequence. A wrong key locks the register up to the next reset;
    /// it is answered with a bus error (`None`), as is each key after it.
    pub fn take(&mut self, key: u32, ctx: &mut Ctx) -> Option<bool> {
        let next = self.written.filter(|count| self.sequence.get(*count) == Some(&key));
        self.written = next.map(|count| count + 1);
        if self.written.is_none() {
            ctx.note("a wrong key was written to unlock the flash: a bus error, and it stays locked to the next reset");
        }
        self.written.map(|count| count == self.sequence.len())
    }

    /// Locks the register again.
    pub fn lock(&mut self) {
        self.written = self.written.map(|_| 0);
    }
}
