//! Register maps as tables: the names, access kinds, resets and masks that a datasheet gives.

/// How software may use a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Read only: writes have no effect.
    Ro,
    /// Write only: reads give 0 or what the datasheet says.
    Wo,
    /// Read and write.
    Rw,
    /// Writing 1 to a bit clears it.
    W1c,
    /// Writing 1 to a bit toggles it.
    W1t,
}

/// A register of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// The datasheet's name.
    pub name: &'static str,
    /// Offset in bytes.
    pub offset: u32,
    /// Access kind.
    pub access: AccessKind,
    /// Value after reset.
    pub reset: u32,
    /// Bits that exist; the others read 0 and ignore writes.
    pub mask: u32,
}

impl Register {
    /// A row of a register map.
    pub const fn new(name: &'static str, offset: u32, access: AccessKind, reset: u32, mask: u32) -> Register {
        Register { name, offset, access, reset, mask }
    }
}

/// The register at `offset`, if there is one.
pub fn find(map: &'static [Register], offset: u32) -> Option<&'static Register> {
    map.iter().find(|register| register.offset == offset)
}
