//! The interface with a real flash: a bench whose times are cycles, and one file a subject.

use super::*;
use crate::bench::{cells, node, read_tree};
use engine::bus::Bus;
use engine::bus::device::DeviceId;
use engine::dt::node::Node;
use engine::time::Cycles;

mod alone;
mod configuration;
mod lines;
mod look;
mod modes;
mod pins;
mod polling;
mod window;

/// 12 MHz, whose period is no whole number of picoseconds.
const CLOCK_HZ: u32 = 12_000_000;
/// Where the window begins.
const WINDOW: u32 = 0x400;

fn strings(values: &[&str]) -> Vec<u8> {
    values.iter().flat_map(|value| value.bytes().chain([0])).collect()
}

/// A flash of the boards, with its times.
fn flash(select: u32) -> Node {
    const TIMES: [(&str, u32); 19] = [
        ("cyclescope,page-program-typical-us", 300),
        ("cyclescope,page-program-maximum-us", 1_200),
        ("cyclescope,first-byte-program-typical-us", 50),
        ("cyclescope,first-byte-program-maximum-us", 60),
        ("cyclescope,further-byte-program-typical-us", 6),
        ("cyclescope,further-byte-program-maximum-us", 12),
        ("cyclescope,sector-erase-typical-ms", 50),
        ("cyclescope,sector-erase-maximum-ms", 200),
        ("cyclescope,half-block-erase-typical-ms", 190),
        ("cyclescope,half-block-erase-maximum-ms", 363),
        ("cyclescope,block-erase-typical-ms", 270),
        ("cyclescope,block-erase-maximum-ms", 725),
        ("cyclescope,chip-erase-typical-ms", 70_000),
        ("cyclescope,chip-erase-maximum-ms", 180_000),
        ("cyclescope,write-registers-typical-ms", 145),
        ("cyclescope,write-registers-maximum-ms", 750),
        ("cyclescope,suspend-latency-us", 40),
        ("cyclescope,release-us", 5),
        ("cyclescope,latency-code-0-clocks", 0),
    ];
    let names: Vec<&str> = TIMES.iter().map(|(name, _)| *name).collect();
    let mut properties = vec![
        ("compatible", strings(&["cypress,s25fl128l", "jedec,spi-nor"])),
        ("reg", cells(&[select])),
        ("cyclescope,sources", strings(&[&format!("{}: chosen by the test", names.join(", "))])),
    ];
    properties.extend(TIMES.iter().map(|(name, value)| (*name, cells(&[*value]))));
    node("flash0", None, properties, Vec::new())
}

/// Builds the interface from a node with these children; gives the faults of the board, too.
fn read_node(children: Vec<Node>) -> (Box<dyn Device>, Vec<String>) {
    let clock = node("clock", Some(1), vec![("clock-frequency", cells(&[CLOCK_HZ]))], Vec::new());
    let reg = cells(&[0x0200_0000, 4, WINDOW, 0x0200_0000 - WINDOW]);
    let spimemio = node("spimemio", None, vec![("reg", reg), ("clocks", cells(&[1]))], children);
    let root = node("", None, Vec::new(), vec![clock, spimemio]);
    read_tree(&root, from_node)
}

/// The interface on a bus, driven in cycles.
struct Soc {
    bus: Bus,
    /// The first cycle in which a request can be up.
    cycle: u64,
}

impl Soc {
    /// With a flash whose word at each address is [`word_at`].
    fn new() -> Soc {
        let (mut device, faults) = read_node(vec![flash(0)]);
        assert_eq!(faults, Vec::<String>::new());
        // The window begins after the flash's first bytes and wraps to them.
        let bytes: Vec<u8> = (0..0x4000).flat_map(|index| word_at(4 * index).to_le_bytes()).collect();
        assert!(device.preload(1, 0x0100_0000 - WINDOW, &bytes));
        let mut bus = Bus::default();
        bus.devices.push(Some(device));
        bus.device_names.push("spimemio".to_owned());
        Soc { bus, cycle: 0 }
    }

    fn clock() -> Hz {
        Hz::new(u64::from(CLOCK_HZ)).unwrap()
    }

    fn call<T>(&mut self, call: impl FnOnce(&mut dyn Device, &mut Ctx) -> T) -> T {
        let now = Soc::clock().ps_at_floor(Cycles(self.cycle));
        self.bus.with_device(DeviceId(0), now, call)
    }

    /// The cycles of an access, and its value; the next one begins in the cycle after it.
    fn access(&mut self, call: impl FnOnce(&mut dyn Device, &mut Ctx) -> AccessResult) -> (u64, u32) {
        let reply = self.call(call).unwrap();
        let answered = Soc::clock().cycles_until_ceil(reply.done).0;
        let cycles = answered - self.cycle;
        self.cycle = answered + 1;
        (cycles, reply.value)
    }

    /// Reads a word of the flash: R - V, and the word.
    fn word(&mut self, address: u32) -> (u64, u32) {
        let offset = if address < WINDOW { address + 0x0100_0000 - WINDOW } else { address - WINDOW };
        self.access(|device, ctx| device.read(1, offset, AccessSize::Word, ctx))
    }

    fn config(&mut self) -> u32 {
        let (cycles, value) = self.access(|device, ctx| device.read(0, 0, AccessSize::Word, ctx));
        assert_eq!(cycles, 0);
        value
    }

    fn configure(&mut self, value: u32) {
        let (cycles, _) = self.access(|device, ctx| device.write(0, 0, AccessSize::Word, value, ctx));
        assert_eq!(cycles, 0);
    }

    fn counter(&self, name: &str) -> u64 {
        let counters = self.bus.devices[0].as_ref().unwrap().counters();
        counters.iter().find(|(counter, _)| counter == name).unwrap().1
    }
}

/// The flash's word at `address`: all of its bytes differ from those of its neighbours.
const fn word_at(address: u32) -> u32 {
    address.wrapping_mul(0x9e37_79b1) ^ 0x5a00_c3a5
}

#[test]
fn the_interface_has_one_flash_on_its_only_chip_select() {
    assert_eq!(read_node(vec![flash(1)]).1, ["reg is 1; the interface's only chip select is 0"]);
    for flashes in [0, 2] {
        let faults = read_node((0..flashes).map(|_| flash(0)).collect()).1;
        assert_eq!(faults, [format!("the interface has one flash, as its child node; here it has {flashes}")]);
    }
}
