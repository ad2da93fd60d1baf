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

/// The effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The next one, of several.
    Next,
    /// The last one.
    Last,
    /// Wrong, or after a wrong one: it is answered with a bus error.
    Wrong,
}

impl Keys {
    /// No key has been written.
    pub const fn new(sequence: [u32; 2]) -> Keys {
        Keys { sequence, written: Some(0) }
    }

    /// Writes a key. A wrong key locks the register up to the next reset.
    pub fn take(&mut self, key: u32, ctx: &mut Ctx) -> Key {
        let next = self.written.filter(|count| self.sequence.get(*count) == Some(&key));
        self.written = next.map(|count| count + 1);
        match self.written {
            None => {
                ctx.note(
                    "a wrong key was written to unlock the flash: a bus error, and it stays locked to the next reset",
                );
                Key::Wrong
            }
            Some(count) if count == self.sequence.len() => Key::Last,
            Some(_) => Key::Next,
        }
    }

    /// Locks the register again.
    pub fn lock(&mut self) {
        self.written = self.written.map(|_| 0);
    }
}
