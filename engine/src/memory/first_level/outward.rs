//! What leaves the core: through the second-level cache's controller, over the bus.

use super::Memory;
use super::accounts::{Part, Purpose};
use super::meter::{Meter, Passed};
use super::translate::Place;
use crate::bus::device::AccessSize;
use crate::bus::path::Beats;
use crate::bus::{Bus, BusFault, MapEntry, Target};
use crate::memory::ram::Direction;
use crate::time::Cycles;

/// A transfer on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    Read(AccessSize),
    Write(AccessSize, u32),
    /// So many bytes, for their timing.
    ReadBurst(u32),
    WriteBurst(u32),
    /// The same for a store or a line that had to wait: it comes after the core's own time, and its events may still be
    /// to come.
    LateWriteBurst(u32),
    /// A line fill right behind the write-back of the line that made room for it: no event comes between the two.
    ReadBurstBehind(u32),
}

impl Transfer {
    /// How many bytes it moves, and where to.
    #[inline]
    fn shape(self) -> (u32, Direction) {
        match self {
            Transfer::Read(size) => (size.bytes(), Direction::Read),
            Transfer::Write(size, _) => (size.bytes(), Direction::Write),
            Transfer::ReadBurst(bytes) | Transfer::ReadBurstBehind(bytes) => (bytes, Direction::Read),
            Transfer::WriteBurst(bytes) | Transfer::LateWriteBurst(bytes) => (bytes, Direction::Write),
        }
    }

    /// True if events that are due before it come first.
    #[inline]
    pub fn follows_events(self) -> bool {
        !matches!(self, Transfer::LateWriteBurst(_) | Transfer::ReadBurstBehind(_))
    }
}

impl Memory {
    /// A read that the second-level cache may answer.
    pub(super) fn read(
        &mut self,
        bus: &mut Bus,
        meter: &mut Meter,
        purpose: Purpose,
        place: Place,
        transfer: Transfer,
    ) -> Result<u32, BusFault> {
        if !place.outer || !outer_keeps(bus, place.physical) {
            return self.transfer(bus, meter, purpose, place.physical, transfer);
        }
        let line = self.outer_line(bus, place.physical);
        self.read_outer(bus, meter, purpose, line)?;
        let size = match transfer {
            Transfer::Read(size) => size,
            _ => return Ok(0),
        };
        let mut bytes = [0; 4];
        bus.peek(place.physical, &mut bytes[..size.bytes() as usize]);
        Ok(u32::from_le_bytes(bytes))
    }

    /// The time of reading a line of the first level.
    pub(super) fn read_line(
        &mut self,
        bus: &mut Bus,
        meter: &mut Meter,
        purpose: Purpose,
        place: Place,
        bytes: u32,
    ) -> Result<(), BusFault> {
        self.read(bus, meter, purpose, place, Transfer::ReadBurst(bytes)).map(|_| ())
    }

    /// The time of writing a line back, `outer` if the second level may keep it.
    pub(super) fn write_line(&mut self, bus: &mut Bus, meter: &mut Meter, line: u32, bytes: u32, outer: bool) {
        if !outer || !outer_keeps(bus, line) {
            // A line that was read from here can be written here.
            let _ = self.transfer(bus, meter, Purpose::Store, line, Transfer::LateWriteBurst(bytes));
            return;
        }
        self.pass_outer(bus, meter, |outer| outer.timing().request_cycles + outer.lookup_cycles(true));
        let line = self.outer_line(bus, line);
        self.state.outer_uses += 1;
        let Some(cache) = bus.outer_mut() else { return };
        if !cache.write(line)
            && let Some(victim) = cache.fill(line, false, true).filter(|victim| victim.dirty)
        {
            self.cast_out(bus, meter, victim.line_addr);
        }
    }

    /// A store of a part of a line that the first level does not keep. True if the second-level cache took it.
    pub(super) fn write_outer(&mut self, bus: &mut Bus, meter: &mut Meter, place: Place) -> bool {
        if !place.outer || !outer_keeps(bus, place.physical) {
            return false;
        }
        let line = self.outer_line(bus, place.physical);
        self.state.outer_uses += 1;
        let hit = bus.outer_mut().is_some_and(|cache| cache.write(line));
        if hit {
            self.pass_outer(bus, meter, |outer| outer.timing().request_cycles + outer.lookup_cycles(false));
        }
        hit
    }

    /// The time of reading a line from the second-level cache, which gets it if need be.
    fn read_outer(&mut self, bus: &mut Bus, meter: &mut Meter, purpose: Purpose, line: u32) -> Result<(), BusFault> {
        let Some(cache) = bus.outer_mut() else { return Ok(()) };
        let (instruction, bytes) = (purpose == Purpose::Fetch, cache.shape().line_bytes);
        self.state.outer_uses += 1;
        let hit = cache.read(line, instruction);
        self.pass_outer(bus, meter, |outer| outer.timing().request_cycles + outer.lookup_cycles(hit));
        if !hit {
            self.over_bus(bus, meter, purpose, line, Transfer::ReadBurst(bytes))?;
            let victim = bus.outer_mut().and_then(|cache| cache.fill(line, instruction, false));
            if let Some(victim) = victim.filter(|victim| victim.dirty) {
                self.cast_out(bus, &mut meter.behind(), victim.line_addr);
            }
        }
        self.pass_outer(bus, meter, |outer| outer.timing().response_cycles);
        Ok(())
    }

    /// The time of writing a line of the second-level cache to memory. Nobody waits for that.
    pub(super) fn cast_out(&mut self, bus: &mut Bus, meter: &mut Meter, line: u32) {
        let bytes = bus.outer().map_or(0, |cache| cache.shape().line_bytes);
        // A line that was read from here can be written here.
        let _ = self.over_bus(bus, meter, Purpose::Store, line, Transfer::LateWriteBurst(bytes));
    }

    /// A transfer that the second-level cache does not keep; its controller passes it on.
    pub(super) fn transfer(
        &mut self,
        bus: &mut Bus,
        meter: &mut Meter,
        purpose: Purpose,
        physical: u32,
        transfer: Transfer,
    ) -> Result<u32, BusFault> {
        if bus.outer().is_none() {
            return self.over_bus(bus, meter, purpose, physical, transfer).map(|access| access.value);
        }
        self.transfer_access(bus, meter, purpose, physical, transfer).map(|access| access.value)
    }

    /// The same, with all that there is to say of it.
    pub(super) fn transfer_access(
        &mut self,
        bus: &mut Bus,
        meter: &mut Meter,
        purpose: Purpose,
        physical: u32,
        transfer: Transfer,
    ) -> Result<Passed, BusFault> {
        self.pass_outer(bus, meter, |outer| outer.timing().request_cycles);
        let access = self.over_bus(bus, meter, purpose, physical, transfer)?;
        self.pass_outer(bus, meter, |outer| outer.timing().response_cycles);
        Ok(access)
    }

    /// A transfer from the second-level cache's master port on.
    fn over_bus(
        &mut self,
        bus: &mut Bus,
        meter: &mut Meter,
        purpose: Purpose,
        physical: u32,
        transfer: Transfer,
    ) -> Result<Passed, BusFault> {
        self.accounts.follow(bus);
        if let Some(passed) = in_cycles(bus, meter, physical, transfer) {
            self.touched |= 1_u64.checked_shl(passed.entry as u32).unwrap_or(0);
            self.accounts.charge(meter, purpose, &passed);
            return Ok(passed);
        }
        let at = meter.at();
        if transfer.follows_events() {
            bus.run_events_before(at, physical);
        }
        let result = match transfer {
            Transfer::Read(size) => bus.read(at, physical, size),
            Transfer::Write(size, value) => bus.write(at, physical, size, value),
            Transfer::ReadBurst(bytes) | Transfer::ReadBurstBehind(bytes) => bus.read_burst(at, physical, bytes),
            Transfer::WriteBurst(bytes) | Transfer::LateWriteBurst(bytes) => bus.write_burst(at, physical, bytes),
        };
        match result {
            Ok(access) => {
                let passed = meter.passed(&access, bus.path(access.entry).route.is_some());
                self.touched |= 1_u64.checked_shl(access.entry as u32).unwrap_or(0);
                self.accounts.charge(meter, purpose, &passed);
                Ok(passed)
            }
            Err(fault) => {
                if let Some(entry) = fault.entry {
                    self.accounts.spend_at(meter, purpose, entry, meter.edge(fault.done));
                }
                Err(fault)
            }
        }
    }

    /// Time in the second-level cache's controller, if there is one.
    #[inline]
    fn pass_outer(
        &mut self,
        bus: &Bus,
        meter: &mut Meter,
        cycles: impl Fn(&crate::memory::outer::OuterCache) -> Cycles,
    ) {
        let Some(outer) = bus.outer() else { return };
        let (clock, cycles) = (outer.timing().clock, cycles(outer));
        let until = if clock == self.config.clock {
            meter.now() + cycles.0
        } else {
            meter.edge(clock.after(meter.at(), cycles))
        };
        self.accounts.spend(meter, Part::Outer, until);
    }

    fn outer_line(&self, bus: &Bus, physical: u32) -> u32 {
        bus.outer().map_or(physical, |cache| physical & !(cache.shape().line_bytes - 1))
    }
}

/// A transfer to a memory that keeps time with the core, priced in the core's cycles. `None` if it is none, or if an
/// event comes before it.
#[inline]
fn in_cycles(bus: &mut Bus, meter: &Meter, physical: u32, transfer: Transfer) -> Option<Passed> {
    let entry = bus.entry_at(physical)?;
    let next_due = bus.events.next_due();
    let (bytes, direction) = transfer.shape();
    let is_next = |arrives| !transfer.follows_events() || next_due > meter.time_of(arrives);
    let (times, routed) = bus.transfer_in_cycles(entry, meter.now(), Beats { physical, bytes, direction }, is_next)?;
    // As wide accesses are aligned, and memories are whole words, none leaves the memory.
    let MapEntry { base, last, target, .. } = bus.map[entry];
    let inside = last - physical >= bytes - 1;
    let mut value = [0; 4];
    match (transfer, target) {
        (Transfer::Read(size), Target::Ram(ram)) if inside => {
            bus.rams[ram].read(physical - base, &mut value[..size.bytes() as usize]);
        }
        (Transfer::Write(size, value), Target::Ram(ram)) if inside => {
            bus.write_ram(ram, physical - base, &value.to_le_bytes()[..size.bytes() as usize]);
        }
        _ => {}
    }
    Some(Passed { value: u32::from_le_bytes(value), entry, routed, times })
}

/// True if the second-level cache is on, and may keep what is at a physical address.
fn outer_keeps(bus: &Bus, physical: u32) -> bool {
    bus.outer().is_some_and(|cache| cache.enabled)
        && bus.entry_at(physical).is_some_and(|entry| bus.map[entry].cacheable)
}
