//! For the tests of device models: compares a device with its map.

use super::{Access, Map, Row};

/// Word access to the device under test, at times of its own choosing.
pub trait Port {
    /// Reads the register at `offset`; must not fail.
    fn get(&mut self, offset: u32) -> u32;
    /// Writes the register at `offset`; must not fail.
    fn put(&mut self, offset: u32, value: u32);
}

/// Tests each register of a device fresh from reset, except volatile ones and those in `special` (whose accesses have
/// effects that their own tests check): reset values, reserved bits, and the values after a write of ones and then of
/// zeroes.
pub fn device_keeps_its_map(map: &Map, special: &[&str], port: &mut impl Port) {
    let plain: Vec<Row> = map.rows.iter().filter(|row| row.is_stored() || row.access == Access::Wo).copied().collect();
    device_keeps_its_table(&plain, special, port);
}

/// The table itself: ascending word offsets, no name twice, no reset bit that does not exist.
pub fn table_is_sound(map: &[Row]) {
    for pair in map.windows(2) {
        assert!(pair[0].offset < pair[1].offset, "{} and {} are out of order", pair[0].name, pair[1].name);
    }
    for (index, register) in map.iter().enumerate() {
        assert_eq!(register.offset % 4, 0, "{} is not at a word", register.name);
        assert_eq!(register.reset & !register.mask, 0, "{} resets bits that it does not have", register.name);
        assert!(map[..index].iter().all(|other| other.name != register.name), "{} is there twice", register.name);
    }
}

/// As [`device_keeps_its_map`], for a table of rows.
pub fn device_keeps_its_table(map: &[Row], special: &[&str], port: &mut impl Port) {
    table_is_sound(map);
    for name in special {
        assert!(map.iter().any(|register| register.name == *name), "{name} is not in the table");
    }
    let plain = || map.iter().filter(|register| !special.contains(&register.name));
    for register in plain() {
        let reset = if register.access == Access::Wo { 0 } else { register.reset };
        assert_eq!(port.get(register.offset), reset, "reset of {}", register.name);
    }
    for register in plain().filter(|register| register.access != Access::Wo) {
        let mut held = register.reset;
        for written in [u32::MAX, 0, u32::MAX] {
            port.put(register.offset, written);
            held = register.after_write(held, written);
            assert_eq!(port.get(register.offset), held, "{} after a write of {written:#x}", register.name);
        }
        port.put(register.offset, register.reset);
    }
}
