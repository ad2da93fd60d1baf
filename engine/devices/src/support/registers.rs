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

    /// The register's value after a write of `value` over `old`, by its access kind alone.
    pub const fn after_write(&self, old: u32, value: u32) -> u32 {
        match self.access {
            AccessKind::Ro => old,
            AccessKind::Wo | AccessKind::Rw => value & self.mask,
            AccessKind::W1c => old & !(value & self.mask),
            AccessKind::W1t => old ^ (value & self.mask),
        }
    }
}

/// The register at `offset`, if there is one.
pub fn find(map: &'static [Register], offset: u32) -> Option<&'static Register> {
    map.iter().find(|register| register.offset == offset)
}

/// `bit` if `on`, else 0.
pub const fn flag(bit: u32, on: bool) -> u32 {
    if on { bit } else { 0 }
}

/// The names of the flags that are set; `None` if no flag is set.
pub fn names_of(set: u32, names: &[(u32, &str)]) -> Option<String> {
    let set: Vec<&str> = names.iter().filter(|(flag, _)| set & flag != 0).map(|(_, name)| *name).collect();
    (!set.is_empty()).then(|| set.join(", "))
}

/// For the tests of device models: compares a device with its table.
#[cfg(test)]
pub mod walk {
    use super::{AccessKind, Register};

    /// Word access to the device under test, at times of its own choosing.
    pub trait Port {
        /// Reads the register at `offset`; must not fail.
        fn get(&mut self, offset: u32) -> u32;
        /// Writes the register at `offset`; must not fail.
        fn put(&mut self, offset: u32, value: u32);
    }

    /// The table itself: ascending word offsets, no name twice, no reset bit that does not exist.
    pub fn table_is_sound(map: &[Register]) {
        for pair in map.windows(2) {
            assert!(pair[0].offset < pair[1].offset, "{} and {} are out of order", pair[0].name, pair[1].name);
        }
        for (index, register) in map.iter().enumerate() {
            assert_eq!(register.offset % 4, 0, "{} is not at a word", register.name);
            assert_eq!(register.reset & !register.mask, 0, "{} resets bits that it does not have", register.name);
            assert!(map[..index].iter().all(|other| other.name != register.name), "{} is there twice", register.name);
        }
    }

    /// Tests each register of a device fresh from reset, except those in `special` (whose accesses have effects that
    /// their own tests check): reset values, reserved bits, and the values after a write of ones and then of zeroes.
    pub fn device_keeps_its_table(map: &[Register], special: &[&str], port: &mut impl Port) {
        table_is_sound(map);
        for name in special {
            assert!(map.iter().any(|register| register.name == *name), "{name} is not in the table");
        }
        let plain = || map.iter().filter(|register| !special.contains(&register.name));
        for register in plain() {
            let reset = if register.access == AccessKind::Wo { 0 } else { register.reset };
            assert_eq!(port.get(register.offset), reset, "reset of {}", register.name);
        }
        for register in plain().filter(|register| register.access != AccessKind::Wo) {
            let mut held = register.reset;
            for written in [u32::MAX, 0, u32::MAX] {
                port.put(register.offset, written);
                held = register.after_write(held, written);
                assert_eq!(port.get(register.offset), held, "{} after a write of {written:#x}", register.name);
            }
            port.put(register.offset, register.reset);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_kinds_do_what_they_say() {
        for (access, expected) in [
            (AccessKind::Ro, 0b0011),
            (AccessKind::Rw, 0b0101),
            (AccessKind::W1c, 0b0010),
            (AccessKind::W1t, 0b0110),
            (AccessKind::Wo, 0b0101),
        ] {
            let register = Register::new("R", 0, access, 0, 0b0111);
            assert_eq!(register.after_write(0b0011, 0b1101), expected, "{access:?}");
        }
    }

    #[test]
    fn registers_are_found_by_offset() {
        const MAP: &[Register] =
            &[Register::new("A", 0, AccessKind::Rw, 0, 1), Register::new("B", 8, AccessKind::Ro, 0, 1)];
        walk::table_is_sound(MAP);
        assert_eq!(find(MAP, 8).map(|register| register.name), Some("B"));
        assert_eq!(find(MAP, 4), None);
    }

    #[test]
    #[should_panic(expected = "B resets bits")]
    fn a_table_with_impossible_resets_is_refused() {
        walk::table_is_sound(&[Register::new("B", 0, AccessKind::Rw, 2, 1)]);
    }
}
