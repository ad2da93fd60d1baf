//! Switches of the bus matrix to another slave.

use super::*;
use crate::bus::path::View;

const FIRST: u32 = 0x2000_0000;
const SECOND: u32 = 0x2001_0000;
const OF_CODE: u32 = 0x1000_0000;

/// A core on a matrix with two memories and a bus, and one memory on its data bus.
fn on_matrix() -> Rig {
    let at_once = MemoryConfig { icache: None, dcache: None, slave_switch_cycles: 1, ..config() };
    let mut rig = rig(all_off(), at_once);
    let Target::Ram(local) = rig.bus.map[0].target else { panic!("a memory") };
    let mut memory = |base, slave| {
        let ram = rig.bus.rams.len();
        rig.bus.rams.push(Ram::new(0x1000, rig.bus.rams[local].timing()));
        let entry = MapEntry::new(format!("sram{slave}"), base, base + 0xfff, Target::Ram(ram));
        (entry, View { route: None, local: true, slave })
    };
    let device = rig.bus.map[2].clone();
    let (map, views) = [
        memory(OF_CODE, 4),
        memory(FIRST, 1),
        memory(SECOND, 2),
        (device, View { route: Some(0), local: false, slave: 3 }),
    ]
    .into_iter()
    .unzip();
    rig.bus.map = map;
    rig.bus.views = vec![views];
    rig.memory.translation_changed(&rig.registers);
    rig
}

fn switch(rig: &mut Rig, addr: u32, kind: Kind) -> (bool, u64) {
    rig.memory.switch_matrix_to(&rig.bus, addr, kind)
}

#[test]
fn a_load_of_another_slave_waits_and_a_store_does_not() {
    let mut rig = on_matrix();
    assert_eq!(switch(&mut rig, FIRST, Kind::Read), (true, 0), "the first of all finds its port");
    assert_eq!(switch(&mut rig, FIRST + 8, Kind::Read), (false, 0));
    assert_eq!(switch(&mut rig, SECOND, Kind::Read), (true, 1));
    assert_eq!(switch(&mut rig, SECOND, Kind::Read), (false, 0));
    assert_eq!(switch(&mut rig, FIRST, Kind::Write), (true, 0), "the write buffer waits");
    assert_eq!(switch(&mut rig, SECOND, Kind::Read), (true, 1), "back from the store's");
    assert_eq!(switch(&mut rig, DEVICE, Kind::Read), (true, 1));
    assert_eq!(switch(&mut rig, SECOND, Kind::Read), (true, 1));
    assert_eq!(rig.causes(), named(&[("bus matrix", 4)]));
}

#[test]
fn the_data_bus_has_a_port_of_its_own() {
    let mut rig = on_matrix();
    switch(&mut rig, FIRST, Kind::Read);
    assert_eq!(switch(&mut rig, OF_CODE, Kind::Read), (false, 0));
    assert_eq!(switch(&mut rig, FIRST, Kind::Read), (false, 0));
}

#[test]
fn no_shortcut_bypasses_a_switch() {
    let mut rig = on_matrix();
    // Lines of SECOND's bank, in different slots.
    for (addr, value) in [(FIRST, 1), (SECOND, 2), (OF_CODE + 0x40, 3)] {
        switch(&mut rig, addr, Kind::Write);
        rig.put(addr, value);
        assert!(rig.memory.store_shortcut(addr, 4).is_some());
    }
    assert!(rig.memory.load_shortcut(SECOND, 4).is_some() && rig.memory.load_shortcut(FIRST, 4).is_none());
    switch(&mut rig, FIRST, Kind::Read);
    assert!(rig.memory.load_shortcut(FIRST, 4).is_some() && rig.memory.load_shortcut(SECOND, 4).is_none());
    switch(&mut rig, DEVICE, Kind::Read);
    assert!(rig.memory.load_shortcut(FIRST, 4).is_none());
}

#[test]
fn without_time_for_it_there_is_no_matrix() {
    let mut rig = on_matrix();
    rig.memory.config.slave_switch_cycles = 0;
    assert_eq!(switch(&mut rig, FIRST, Kind::Read), (false, 0));
    assert_eq!(switch(&mut rig, SECOND, Kind::Read), (false, 0));
}

#[test]
fn an_access_of_another_memory_cannot_overlap_a_load() {
    const FLASH: u32 = 0x0800_0000;
    let mut rig = on_matrix();
    rig.memory.remember_memory(FIRST);
    assert_eq!(rig.memory.other_memory_cycles(OF_CODE, 1), 1);
    assert_eq!(rig.memory.other_memory_cycles(OF_CODE + 8, 1), 0);
    assert_eq!(rig.memory.other_memory_cycles(FLASH, 1), 1, "another memory of the same bus");
    assert_eq!(rig.memory.other_memory_cycles(SECOND, 1), 1);
    assert_eq!(rig.memory.other_memory_cycles(FIRST, 1), 0, "the matrix has a wait for these");
    assert_eq!(rig.causes(), named(&[("loads of two memories", 3)]));
}
