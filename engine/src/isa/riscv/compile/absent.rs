//! Stands for the compiler on hosts that it can't make code for: everything is interpreted.

use super::core::Hart;
use super::execute::Ending;

/// Nothing is ever compiled.
pub const COMPILE_AFTER: u16 = 0;

/// No code.
#[derive(Clone, Default, PartialEq)]
pub struct HostCode;

impl HostCode {
    /// There is none to forget.
    pub fn clear(&mut self) {}
}

impl Hart {
    /// Never called: no block has code.
    pub(super) fn run_compiled(&mut self, index: u32) -> Ending {
        Ending::Interpret { index, at: 0 }
    }

    /// A block stays as it is.
    pub(super) fn compile(&mut self, _index: u32) {}
}
