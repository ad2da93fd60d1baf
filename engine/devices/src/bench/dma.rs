//! For the tests of DMA controllers: a controller, memory and another device, all on one route.

use engine::bus::device::{Device, DeviceId};
use engine::bus::{Bus, MapEntry, Route, Target};
use engine::memory::ram::{PortTiming, Ram};
use engine::time::{Cycles, Hz};

const RAM_BYTES: u32 = 0x2000;
const DEVICE_BYTES: u32 = 0x1000;

/// Clocks of the tests.
pub fn mhz(value: u64) -> Hz {
    Hz::new(value * 1_000_000).unwrap()
}

/// A route of 2 and 1 clocks at 100 MHz to 8 KiB of memory at `ram`, whose port takes 3 clocks to the first word and 1
/// a beat, to the controller, which is device 0, and to `port`, which is device 1. Each device has 4 KiB at its
/// address.
pub fn bus(ram: u32, controller: (u32, impl Device + 'static), port: (u32, impl Device + 'static)) -> Bus {
    let entry =
        |name: &str, base: u32, size: u32, target| MapEntry::new(name, base, base + size - 1, target).on_route(Some(0));
    let mut bus = Bus::default();
    bus.map = vec![
        entry("ram", ram, RAM_BYTES, Target::Ram(0)),
        entry("dma", controller.0, DEVICE_BYTES, Target::Device(DeviceId(0), 0)),
        entry("port", port.0, DEVICE_BYTES, Target::Device(DeviceId(1), 0)),
    ];
    bus.map.sort_by_key(|entry| entry.base);
    let (request_cycles, response_cycles) = (Cycles(2), Cycles(1));
    bus.routes = vec![Route { name: "axi".into(), clock: mhz(100), request_cycles, response_cycles }];
    bus.rams = vec![Ram::new(RAM_BYTES, PortTiming::symmetric(mhz(100), Cycles(3), Cycles(1), 4))];
    bus.devices = vec![Some(Box::new(controller.1)), Some(Box::new(port.1))];
    bus.device_names = vec!["dma".into(), "port".into()];
    bus.add_core();
    bus
}
