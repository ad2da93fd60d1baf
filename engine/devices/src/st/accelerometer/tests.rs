//! Chips on a wire, for the tests of all kinds.

use crate::bench::{cells, node, phandle_of, read_tree};
use crate::registers::{Map, Registers, registers};
use crate::support::register_chip::READ;
use engine::dt::node::Node;
use engine::dt::reader::NodeReader;
use engine::dt::wiring::DeviceId;
use engine::time::Ps;
use engine::wire::spi::{Burst, Lines, SpiTarget};

pub(super) const BOOT_US: u32 = 5000;
/// The device that a chip's interrupt is connected to.
pub(super) const LISTENER: DeviceId = DeviceId(2);

/// A chip's node, with properties of its own: timing, all chosen by the test, and others.
pub(super) fn chip_node(
    compatible: &str,
    acceleration_mg: [i32; 3],
    timing: &[(&'static str, u32)],
    others: &[(&'static str, u32)],
) -> Node {
    let timing = [&[("cyclescope,boot-us", BOOT_US)], timing].concat();
    let names: Vec<&str> = timing.iter().map(|(name, _)| *name).collect();
    let sources = format!("{}: chosen by the test\0", names.join(", "));
    let mut properties = vec![
        ("compatible", format!("{compatible}\0").into_bytes()),
        ("reg", cells(&[0])),
        ("interrupt-parent", cells(&[phandle_of(LISTENER)])),
        ("interrupts", cells(&[0])),
        ("cyclescope,acceleration-mg", cells(&acceleration_mg.map(|mg| mg as u32))),
        ("cyclescope,sources", sources.into_bytes()),
    ];
    properties.extend(timing.iter().chain(others).map(|(name, value)| (*name, cells(&[*value]))));
    node("accel", None, properties, Vec::new())
}

/// The chip on a wire of 1 MHz, and the time.
pub(super) struct Rig {
    pub chip: Box<dyn SpiTarget>,
    pub now: Ps,
    /// The first byte of a read of several registers.
    several: u8,
}

impl Rig {
    /// The state after boot; `several` are the bits that ask for several registers.
    pub fn of(chip: Node, from_node: fn(&mut NodeReader) -> Box<dyn SpiTarget>, several: u8) -> Rig {
        let root = node("", None, Vec::new(), vec![chip]);
        let (chip, faults) = read_tree(&root, from_node);
        // The test's reader does not register a device that reads the interrupt.
        assert_eq!(faults, [""; 0]);
        Rig { chip, now: Ps::from_us(BOOT_US.into()), several }
    }

    pub fn access(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.chip.select(self.now);
        let mut exchange = |byte: &u8| {
            self.now += Ps::from_us(8);
            self.chip.shift(Burst::byte_out(Lines::Single, *byte), self.now) as u8
        };
        let shown = bytes.iter().map(&mut exchange).collect();
        self.chip.deselect(self.now);
        shown
    }

    pub fn read(&mut self, address: u32) -> u8 {
        self.access(&[READ | address as u8, 0])[1]
    }

    pub fn write(&mut self, address: u32, value: u32) {
        self.access(&[address as u8, value as u8]);
    }

    pub fn outputs(&mut self) -> [i16; 3] {
        let shown = self.access(&[READ | self.several | super::OUT_X_L as u8, 0, 0, 0, 0, 0, 0]);
        [1, 3, 5].map(|low| i16::from_le_bytes([shown[low], shown[low + 1]]))
    }

    /// All registers have these values after reset, and keep the bits that the map says, except for those in `special`.
    pub fn keeps(&mut self, map: &Map, count: u32, resets: &[(u32, u8)], special: &[u32]) {
        for address in 0..count {
            let reset = resets.iter().find(|(known, _)| *known == address).map_or(0, |(_, value)| *value);
            assert_eq!(self.read(address), reset, "{address:#x}");
        }
        for address in (0..count).filter(|address| !special.contains(address)) {
            let reset = self.read(address);
            let mask = map.row(address).map_or(0, |row| row.after_write(0, u32::MAX)) as u8;
            for written in [0xff, 0, 0xff] {
                self.write(address, written);
                assert_eq!(self.read(address), reset & !mask | written as u8 & mask, "{address:#x}");
            }
            self.write(address, reset.into());
        }
    }
}

registers! {
    const MAP "" bytes {
        ONE 2 rw reset 0x81 mask 0x8f { MODELLED 0..2, FIXED 7 ro unmodelled };
        OTHER 3 rw;
    }
}

#[test]
fn a_write_changes_what_it_can_and_notes_what_is_not_modelled() {
    // In register 2, bit 7 can't be written, and bits 0 and 1 are modelled.
    let cases = [
        (2, 0x03, 0x83, false),
        (2, 0x80, 0x80, false),
        (2, 0x04, 0x84, true),
        (3, 0x01, 0x01, true),
        (7, 0xff, 0x00, true),
    ];
    for (address, written, held, is_noted) in cases {
        let mut registers = Registers::new(&MAP);
        let noted = super::note(address, MAP.row(address), registers[address], written);
        _ = registers.write(address, written.into());
        let text = format!("{written:#04x} in register {address:#04x} asks for what is not modelled");
        let expected = is_noted.then_some(text);
        assert_eq!((registers[address], noted), (held, expected));
    }
}
