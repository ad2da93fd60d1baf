//! Small programs in steps that all instruction sets have.

use super::target::Target;
use std::collections::BTreeMap;

/// Registers of a program, which exceptions do not change; the link register; the register in which a handler counts;
/// and the stack pointer, which only loads, stores and additions use.
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

/// An instruction, or the short sequence that an instruction set needs for it. Its size does not depend on its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The target of branches to this number.
    Label(u32),
    /// The set-up that a program needs for exceptions and caches.
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
    /// Loads a word into the first register from the address in the second plus an offset in bytes.
    Load(u32, u32, u32),
    /// Stores the first register's word there.
    Store(u32, u32, u32),
    /// Both again, directly after a jump to the next step; in its delay slot if the instruction set has one.
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
    /// Enables the device's interrupt.
    Enable,
    /// Calls the system; and returns from a handler of such a call.
    Trap,
    ReturnFromTrap,
    /// An undefined instruction; and the return from its handler to the instruction after it.
    Undefined,
    ReturnAfter,
    /// Ends a handler of interrupts.
    ReturnFromInterrupt,
    /// One of a set's own instructions, by its number in [`Target::OWN`].
    Own(usize),
    /// Prints the character at an address by semihosting.
    Print(u32),
    /// Ends the run with status 0, by semihosting if the core has it.
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

/// The bytes of a program at an address, and the addresses of its labels.
pub fn assemble<T: Target>(at: u32, steps: &[Step]) -> (Vec<u8>, BTreeMap<u32, u32>) {
    let (mut bytes, mut labels) = (Vec::new(), BTreeMap::new());
    // The first pass finds the labels, the second one encodes branches to them.
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
