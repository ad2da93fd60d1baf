//! A device that prints.

use crate::Machine;
use engine::bus::device::{AccessResult, AccessSize, Ctx, Device, DeviceId, Reply};
use engine::bus::{MapEntry, Target};
use engine::polling::{Poll, Polled};
use engine::time::Ps;

/// A write of n prints "!" at once on the console, and "." on the device's own line n nanoseconds later.
#[derive(engine::state::State)]
struct Printer;

impl Device for Printer {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        ctx.console(b"!");
        ctx.schedule(Ps(ctx.now.0 + 1000 * u64::from(value)), 0);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        ctx.stream(b".");
    }
}

impl Polled for Printer {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// Adds the device to a machine, behind its first interconnect.
pub fn add_printer(machine: &mut Machine, base: u32) {
    let bus = machine.bus();
    let target = Target::Device(DeviceId(bus.devices.len() as u32), 0);
    bus.devices.push(Some(Box::new(Printer)));
    bus.device_names.push("printer".into());
    bus.map.push(MapEntry::new("printer", base, base + 0xf, target).on_route(Some(0)));
    bus.map.sort_by_key(|entry| entry.base);
}
