//! Transfers out of the core: through the second-level cache's controller, over the bus.

use super::Memory;
use super::accounts::{Part, Purpose};
use super::meter::{Passed, Trip};
use super::translate::Place;
use crate::bus::device::AccessSize;
use crate::bus::{Alone, Bus, BusFault};
use crate::memory::outer::OuterCache;
use crate::memory::ram::Direction;
use crate::time::Cycles;

/// A transfer on the bus. Writes are charged to stores, reads to their purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    Read(Purpose, AccessSize),
    Write(AccessSize, u32),
    /// A read of this many bytes, for its timing.
    ReadBurst(Purpose, u32),
    WriteBurst(u32),
    /// A write of this many bytes by a store or a line that had to wait: it is later than the core's own time, and
    /// earlier events may not have run yet.
    LateWriteBurst(u32),
    /// A line fill right after the write-back of its victim: no event is due between the two.
    ReadBurstAfter(Purpose, u32),
}

impl Transfer {
    /// Its purpose, size and direction.
    #[inline]
    fn shape(self) -> (Purpose, u32, Direction) {
        match self {
            Transfer::Read(purpose, size) => (purpose, size.bytes(), Direction::Read),
            Transfer::ReadBurst(purpose, bytes) | Transfer::ReadBurstAfter(purpose, bytes) => {
                (purpose, bytes, Direction::Read)
            }
            Transfer::Write(size, _) => (Purpose::Store, size.bytes(), Direction::Write),
            Transfer::WriteBurst(bytes) | Transfer::LateWriteBurst(bytes) => (Purpose::Store, bytes, Direction::Write),
        }
    }

    /// True if earlier events have to run before it.
    #[inline]
    pub fn follows_events(self) -> bool {
        !matches!(self, Transfer::LateWriteBurst(_) | Transfer::ReadBurstAfter(..))
    }
}

impl Memory {
    /// A read that the second-level cache may answer.
    pub(super) fn read(&mut self, trip: &mut Trip, place: Place, transfer: Transfer) -> Result<u32, BusFault> {
        if !place.outer || !outer_keeps(trip.bus, place.physical) {
            return self.transfer(trip, place.physical, transfer).map(|passed| passed.value);
        }
        self.read_outer(trip, transfer.shape().0, place.physical)?;
        let mut bytes = [0; 4];
        if let Transfer::Read(_, size) = transfer {
            trip.bus.peek(place.physical, &mut bytes[..size.bytes() as usize]);
        }
        Ok(u32::from_le_bytes(bytes))
    }

    /// Passes the time of writing a line back; `outer` if the second level may keep it.
    pub(super) fn write_line(&mut self, trip: &mut Trip, line: u32, bytes: u32, outer: bool) {
        if !outer || !outer_keeps(trip.bus, line) {
            // A line that was read from an address can be written to it.
            let _ = self.transfer(trip, line, Transfer::LateWriteBurst(bytes));
            return;
        }
        self.pass_outer(trip, |outer| outer.timing().request_cycles + outer.lookup_cycles(true));
        self.state.outer_uses += 1;
        let Some(cache) = trip.bus.outer_mut() else { return };
        let line = line_of(cache, line);
        if !cache.write(line)
            && let Some(victim) = cache.fill(line, false, true).filter(|victim| victim.dirty)
        {
            self.cast_out(trip, victim.line_addr);
        }
    }

    /// A partial write of a line that the first level does not hold: to the second-level cache if that has the line,
    /// else to memory.
    pub(super) fn write_part(&mut self, trip: &mut Trip, place: Place, transfer: Transfer) -> Result<(), BusFault> {
        if place.outer && outer_keeps(trip.bus, place.physical) {
            self.state.outer_uses += 1;
            if trip.bus.outer_mut().is_some_and(|cache| cache.write(place.physical)) {
                self.pass_outer(trip, |outer| outer.timing().request_cycles + outer.lookup_cycles(false));
                return Ok(());
            }
        }
        self.transfer(trip, place.physical, transfer).map(|_| ())
    }

    /// The time of reading a line from the second-level cache, which fills it on a miss.
    fn read_outer(&mut self, trip: &mut Trip, purpose: Purpose, physical: u32) -> Result<(), BusFault> {
        let Some(cache) = trip.bus.outer_mut() else { return Ok(()) };
        let (line, bytes) = (line_of(cache, physical), cache.shape().line_bytes);
        let instruction = purpose == Purpose::Fetch;
        self.state.outer_uses += 1;
        let hit = cache.read(line, instruction);
        self.pass_outer(trip, |outer| outer.timing().request_cycles + outer.lookup_cycles(hit));
        if !hit {
            self.over_bus(trip, line, Transfer::ReadBurst(purpose, bytes))?;
            let victim = trip.bus.outer_mut().and_then(|cache| cache.fill(line, instruction, false));
            if let Some(victim) = victim.filter(|victim| victim.dirty) {
                self.cast_out(&mut trip.after(), victim.line_addr);
            }
        }
        self.pass_outer(trip, |outer| outer.timing().response_cycles);
        Ok(())
    }

    /// Computes the time of writing a line of the second-level cache to memory. The core does not wait for it.
    pub(super) fn cast_out(&mut self, trip: &mut Trip, line: u32) {
        let bytes = trip.bus.outer().map_or(0, |cache| cache.shape().line_bytes);
        // A line that was read from an address can be written to it.
        let _ = self.over_bus(trip, line, Transfer::LateWriteBurst(bytes));
    }

    /// A transfer that the second-level cache does not keep; its controller passes it on.
    #[inline]
    pub(super) fn transfer(&mut self, trip: &mut Trip, physical: u32, transfer: Transfer) -> Result<Passed, BusFault> {
        if trip.bus.outer().is_none() {
            return self.over_bus(trip, physical, transfer);
        }
        self.pass_outer(trip, |outer| outer.timing().request_cycles);
        let passed = self.over_bus(trip, physical, transfer)?;
        self.pass_outer(trip, |outer| outer.timing().response_cycles);
        Ok(passed)
    }

    /// A transfer from the second-level cache's master port on.
    fn over_bus(&mut self, trip: &mut Trip, physical: u32, transfer: Transfer) -> Result<Passed, BusFault> {
        let purpose = transfer.shape().0;
        self.accounts.follow(trip.bus);
        let passed = match in_cycles(trip, physical, transfer).or_else(|| alone(trip, physical, transfer)) {
            Some(passed) => Ok(passed),
            None => over_bus_in_time(trip, physical, transfer),
        };
        self.charge_passed(trip, purpose, &passed);
        passed
    }

    /// Charges a completed transfer; [`super::Accounts::follow`] has made room for it.
    #[inline(always)]
    pub(super) fn charge_passed(&mut self, trip: &mut Trip, purpose: Purpose, passed: &Result<Passed, BusFault>) {
        match *passed {
            Ok(passed) => {
                self.touched.add(passed.entry);
                self.accounts.charge(&mut trip.meter, purpose, &passed);
            }
            Err(BusFault { entry: Some(entry), done, .. }) => {
                let done = trip.meter.edge(done);
                self.accounts.spend_at(&mut trip.meter, purpose, entry, done);
            }
            Err(_) => {}
        }
    }

    /// Time in the second-level cache's controller, if there is one.
    #[inline]
    pub(super) fn pass_outer(&mut self, trip: &mut Trip, cycles: impl Fn(&OuterCache) -> Cycles) {
        let Some(outer) = trip.bus.outer() else { return };
        let (clock, cycles, meter) = (outer.timing().clock, cycles(outer), &mut trip.meter);
        let until = if clock == self.config.clock {
            meter.now() + cycles.0
        } else {
            meter.edge(clock.after(meter.at(), cycles))
        };
        self.accounts.spend(meter, Part::Outer, until);
    }
}

/// A transfer in the bus's own time: earlier events run first.
fn over_bus_in_time(trip: &mut Trip, physical: u32, transfer: Transfer) -> Result<Passed, BusFault> {
    let Trip { bus, meter } = trip;
    let at = meter.at();
    if transfer.follows_events() {
        bus.run_events_before(at, physical);
    }
    let access = match transfer {
        Transfer::Read(_, size) => bus.read(at, physical, size),
        Transfer::Write(size, value) => bus.write(at, physical, size, value),
        Transfer::ReadBurst(_, bytes) | Transfer::ReadBurstAfter(_, bytes) => bus.read_burst(at, physical, bytes),
        Transfer::WriteBurst(bytes) | Transfer::LateWriteBurst(bytes) => bus.write_burst(at, physical, bytes),
    }?;
    Ok(meter.passed(&access, bus.path(access.entry).route.is_some()))
}

/// A transfer to a memory on the core's clock, priced in the core's cycles. `None` if the memory is not, or if an event
/// is due before it.
#[inline]
fn in_cycles(trip: &mut Trip, physical: u32, transfer: Transfer) -> Option<Passed> {
    let Trip { bus, meter } = trip;
    let place = bus.ram_at(physical)?;
    let next_due = bus.events.next_due();
    let (_, bytes, direction) = transfer.shape();
    let is_next = |arrives| !transfer.follows_events() || next_due > meter.time_of(arrives);
    let (times, routed) = bus.transfer_in_cycles(place, meter.now(), (bytes, direction), is_next)?;
    // Wide accesses are aligned and memories are whole words, so no access leaves the memory.
    let inside = place.rest >= bytes - 1;
    let mut value = [0; 4];
    match transfer {
        Transfer::Read(_, size) if inside => {
            bus.rams[place.ram].read(place.offset, &mut value[..size.bytes() as usize]);
        }
        Transfer::Write(size, value) if inside => {
            bus.write_ram(place.ram, place.offset, &value.to_le_bytes()[..size.bytes() as usize]);
        }
        _ => {}
    }
    Some(Passed { value: u32::from_le_bytes(value), entry: place.entry, routed, times })
}

/// A read of a device on the core's clock, priced in the core's cycles, if it reaches nothing else. `None` if it may,
/// or if an event is due before it.
#[inline]
fn alone(trip: &mut Trip, physical: u32, transfer: Transfer) -> Option<Passed> {
    let Trip { bus, meter } = trip;
    let bytes = match transfer {
        Transfer::Read(_, size) => size.bytes(),
        Transfer::ReadBurst(_, bytes) if bytes > AccessSize::Word.bytes() => bytes,
        _ => return None,
    };
    let next_due = bus.events.next_due();
    let Alone { value, entry, times, routed } =
        bus.read_alone(physical, meter.now(), bytes, |arrives| next_due > meter.time_of(arrives))?;
    Some(Passed { value, entry, routed, times })
}

/// Address of the line of the second-level cache that holds a physical address.
pub(super) fn line_of(cache: &OuterCache, physical: u32) -> u32 {
    physical & !(cache.shape().line_bytes - 1)
}

/// True if the second-level cache is on, and may keep a physical address.
pub(super) fn outer_keeps(bus: &Bus, physical: u32) -> bool {
    bus.outer().is_some_and(|cache| cache.enabled)
        && bus.entry_at(physical).is_some_and(|entry| bus.map[entry].cacheable)
}
