//! Register maps of models that are no [`crate::registers`] yet.

pub use crate::registers::{Access as AccessKind, Row as Register, flag, names_of};

#[cfg(test)]
pub use crate::registers::walk;

/// The register at `offset`, if there is one.
pub fn find(map: &'static [Register], offset: u32) -> Option<&'static Register> {
    map.iter().find(|register| register.offset == offset)
}
