//! Loads and stores of a device's registers, by a core without translation and store buffer; no cache keeps them. The
//! path is known, so there is little to check. The results equal those of [`super::data`].

use super::access::Status;
use super::accounts::Purpose;
use super::flat::Quiet;
use super::meter::{Passed, Trip};
use super::{Done, Memory, abort_of};
use crate::bus::device::{AccessSize, DeviceId};
use crate::bus::path::InStep;
use crate::bus::{Access, Bus, BusFault, Target};
use crate::time::Ps;

/// Number of devices whose paths are kept.
const SLOTS: usize = 8;

/// The path to a device's registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownDevice {
    base: u32,
    /// Its size; 0 for an empty slot.
    bytes: u32,
    /// The address of the first byte of its range, without overlays.
    origin: u32,
    entry: usize,
    device: DeviceId,
    range: usize,
    /// There is an interconnect on it.
    routed: bool,
    /// Valid if the device's clock is in step with the core's, and no other core accesses it.
    in_step: InStep,
}

impl KnownDevice {
    const NONE: KnownDevice = KnownDevice {
        base: 0,
        bytes: 0,
        origin: 0,
        entry: 0,
        device: DeviceId(0),
        range: 0,
        routed: false,
        in_step: InStep::NOT,
    };

    /// The device with registers at `addr`, if no cache keeps them.
    fn find(bus: &Bus, addr: u32) -> Option<KnownDevice> {
        let entry = bus.entry_at(addr)?;
        let (map, path) = (&bus.map[entry], bus.path(entry));
        let Target::Device(device, range) = map.target else { return None };
        // A range of the whole address space is not a device.
        let (base, bytes, origin) = (map.base, (map.last - map.base).wrapping_add(1), map.origin);
        let in_step = if bus.core_irqs.len() == 1 { path.in_step() } else { InStep::NOT };
        let routed = path.route.is_some();
        (!map.cacheable).then_some(KnownDevice { base, bytes, origin, entry, device, range, routed, in_step })
    }
}

/// The known paths, by address.
#[derive(Debug)]
pub(super) struct KnownDevices([KnownDevice; SLOTS]);

impl Default for KnownDevices {
    fn default() -> KnownDevices {
        KnownDevices([KnownDevice::NONE; SLOTS])
    }
}

impl KnownDevices {
    /// Devices are a page or more apart, or 64 KiB.
    fn slot(addr: u32) -> usize {
        (addr >> 12 ^ addr >> 16) as usize % SLOTS
    }

    #[inline(always)]
    fn at(&self, addr: u32, bytes: u32) -> Option<&KnownDevice> {
        let device = &self.0[KnownDevices::slot(addr)];
        let offset = addr.wrapping_sub(device.base);
        (offset < device.bytes && addr & (bytes - 1) == 0 && device.bytes - offset >= bytes).then_some(device)
    }
}

impl Memory {
    /// An aligned load of a device's register; and true if it reached nothing but the device, and no event preceded it.
    #[inline]
    pub fn load_register<S: Status>(
        &mut self,
        bus: &mut Bus,
        quiet: Quiet,
        addr: u32,
        size: AccessSize,
    ) -> Option<(Done<u32, S>, bool)> {
        let device = self.devices.at(addr, size.bytes())?;
        if let Some((cycles, value)) = read_alone(bus, device, quiet, addr, size) {
            let KnownDevice { entry, .. } = *device;
            self.touched.add(entry);
            self.accounts.follow(bus);
            self.accounts.add_at(entry, Purpose::Load, cycles.0, cycles.1);
            return Some((Done { cycles: cycles.0 + cycles.1, result: Ok(value) }, true));
        }
        let device = *device;
        let mut trip = self.trip(bus, quiet.now);
        let passed = in_time(&mut trip, &device, |bus, times| bus.read_arrived(device.entry, times, addr, size));
        let result = self.settle_register(&mut trip, Purpose::Load, passed);
        Some((trip.done(result.map_err(|fault| abort_of(addr, false, fault))), false))
    }

    /// An aligned store of the low bytes of `value` to a device's register.
    #[inline]
    pub fn store_register<S: Status>(
        &mut self,
        bus: &mut Bus,
        quiet: Quiet,
        addr: u32,
        size: AccessSize,
        value: u32,
    ) -> Option<Done<(), S>> {
        let device = *self.devices.at(addr, size.bytes())?;
        let mut trip = self.trip(bus, quiet.now);
        let write = |bus: &mut Bus, times| bus.write_arrived(device.entry, times, addr, size, value);
        let passed = in_time(&mut trip, &device, write);
        let result = self.settle_register(&mut trip, Purpose::Store, passed);
        Some(trip.done(result.map(|_| ()).map_err(|fault| abort_of(addr, true, fault))))
    }

    /// Records the path to the device at `addr`, if there is one.
    pub fn remember_device(&mut self, bus: &Bus, addr: u32) {
        let simple = !self.translates && self.config.store_buffer_entries == 0 && bus.outer().is_none();
        if simple && let Some(device) = KnownDevice::find(bus, addr) {
            self.devices.0[KnownDevices::slot(addr)] = device;
        }
    }

    /// Charges a completed access, and returns the value read.
    #[inline]
    fn settle_register(
        &mut self,
        trip: &mut Trip,
        purpose: Purpose,
        passed: Result<Passed, BusFault>,
    ) -> Result<u32, BusFault> {
        self.accounts.follow(trip.bus);
        self.charge_passed(trip, purpose, &passed);
        passed.map(|passed| passed.value)
    }
}

/// A read that reaches nothing but a device in step with the core, before any event: cycles at the device and on the
/// path, and the value read.
#[inline(always)]
fn read_alone(
    bus: &mut Bus,
    known: &KnownDevice,
    quiet: Quiet,
    addr: u32,
    size: AccessSize,
) -> Option<((u64, u64), u32)> {
    if !known.in_step.is_known() {
        return None;
    }
    let arrives = known.in_step.arrival(quiet.now);
    if known.in_step.cycle(arrives) >= quiet.until {
        return None;
    }
    let device = bus.devices[known.device.0 as usize].as_deref_mut()?;
    let (value, answered) = device.read_alone(known.range, addr.wrapping_sub(known.origin), size.bytes(), arrives)?;
    let times = known.in_step.times(arrives, answered);
    let all = times.done - quiet.now;
    let at_device = if known.routed { times.answered - times.arrived } else { all };
    Some(((at_device, all - at_device), value))
}

/// An access in the bus's own time: events that are due before its request arrives run first.
#[inline(always)]
fn in_time(
    trip: &mut Trip,
    device: &KnownDevice,
    access: impl FnOnce(&mut Bus, (Ps, Ps)) -> Result<Access, BusFault>,
) -> Result<Passed, BusFault> {
    let Trip { bus, meter } = trip;
    let at = meter.at();
    let arrived = bus.path(device.entry).request(at);
    bus.run_events(arrived);
    let access = access(bus, (at, arrived))?;
    Ok(meter.passed(&access, device.routed))
}
