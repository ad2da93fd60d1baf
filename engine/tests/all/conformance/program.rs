//! Small programs in words that all instruction sets have.

use super::target::Target;
use std::collections::BTreeMap;

/// Registers of a program, which exceptions leave alone; the link register; the register that a handler counts in; and
/// the stack pointer, which only loads, stores and additions have.
pub const A: u32 = 0;
pub const B: u32 = 1;
pub const C: u32 = 2;
pub const D: u32 = 3;
pub const E: u32 = 4;
pub const F: u32 = 5;
pub const G: u32 = 6;
pub const COUNT: u32 = 7;
pub const LINK: u32 = 8;
pub const STACK: u32 = 9;

/// An instruction, or the few that an instruction set takes for it. Each takes as many bytes wherever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The place that branches to this number go to.
    Label(u32),
    /// What a program needs first for exceptions and caches.
    Begin,
    /// Any word into a register.
    Set(u32, u32),
    /// Adds from -128 to 127.
    Add(u32, i32),
    /// Adds the second register to the first, multiplies the first by it.
    AddTo(u32, u32),
    Multiply(u32, u32),
    /// The first register becomes these bits (below 256) of the second.
    And(u32, u32, u32),
    /// A word into the first register from the address in the second and so many bytes on.
    Load(u32, u32, u32),
    /// The first register's word to there.
    Store(u32, u32, u32),
    /// Both again, right behind a jump to what follows, in whose delay slot they are where there is such.
    LoadAfterJump(u32, u32, u32),
    StoreAfterJump(u32, u32, u32),
    IfZero(u32, u32),
    IfNotZero(u32, u32),
    Jump(u32),
    Call(u32),
    Return,
    Nop,
    /// Waits for an interrupt.
    Wait,
    /// Lets the device's interrupt come.
    Enable,
    /// Calls the system; and what a handler of that returns by.
    Trap,
    ReturnFromTrap,
    /// What is no instruction; and what a handler of that goes on behind it by.
    Undefined,
    ReturnAfter,
    /// Ends a handler of interrupts.
    ReturnFromInterrupt,
    /// One of a set's own instructions, by its number in [`Target::OWN`].
    Own(usize),
    /// Prints the character at an address by semihosting.
    Print(u32),
    /// Ends the run with status 0, by semihosting where there is such.
    Exit,
    /// Ends it with status 1.
    Fail,
}
pub use Step::*;

impl Step {
    fn label(self) -> Option<u32> {
        match self {
            IfZero(_, label) | IfNotZero(_, label) | Jump(label) | Call(label) => Some(label),
            _ => None,
        }
    }
}

/// The bytes of a program at an address, and where its labels are.
pub fn assemble<T: Target>(at: u32, steps: &[Step]) -> (Vec<u8>, BTreeMap<u32, u32>) {
    let (mut bytes, mut labels) = (Vec::new(), BTreeMap::new());
    // First where labels are, then what leads there.
    for _ in 0..2 {
        bytes.clear();
        for step in steps {
            let here = at + bytes.len() as u32;
            if let Label(label) = step {
                labels.insert(*label, here);
            } else {
                let to = step.label().and_then(|label| labels.get(&label).copied());
                bytes.extend(T::encode(*step, here, to.unwrap_or(here)));
            }
        }
    }
    (bytes, labels)
}

pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

pub fn halves(halves: &[u16]) -> Vec<u8> {
    halves.iter().flat_map(|half| half.to_le_bytes()).collect()
}
