//! Stands for the compiler on hosts that it can't make code for: everything is interpreted.

use super::core::{Blocks, Hart};
use crate::memory::shortcut::Shortcuts;

/// As on other hosts, though nothing is ever compiled.
pub const COMPILE_AFTER: u16 = 0;

/// Where compiled code ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Ending {
    Interpret { index: u32, at: u32 },
    Left { index: u32, exit: usize },
    Check { index: u32 },
}

/// There is none.
pub enum Compiler {}

#[allow(missing_docs)]
impl Compiler {
    pub fn new(_blocks: &Blocks) -> Option<Compiler> {
        None
    }

    pub fn uncompiled(&self) -> usize {
        match *self {}
    }

    pub fn enter(&self) -> usize {
        match *self {}
    }

    pub fn compile(&mut self, _blocks: &Blocks, _shortcuts: &Shortcuts, _index: u32) -> Option<usize> {
        match *self {}
    }

    pub fn is_sound(&self) -> bool {
        match *self {}
    }

    pub fn clear(&mut self) {
        match *self {}
    }

    /// Never called: no block has code.
    pub fn run(_hart: &mut Hart, index: u32) -> Ending {
        Ending::Interpret { index, at: 0 }
    }
}
