//! Memories whose port and whose way there keep time with the core: a transfer is worked out in whole cycles. It comes
//! to the same as over the bus, only sooner.

use super::meter::{Meter, Passed};
use super::outward::Transfer;
use crate::bus::{Bus, Target};
use crate::memory::ram::Direction;
use crate::time::Hz;

/// Such a memory, and the way to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub ram: usize,
    pub base: u32,
    last: u32,
    /// Core cycles of a cycle of the port and of the way.
    pub core_cycles: u64,
    pub request_cycles: u64,
    pub response_cycles: u64,
    /// There is an interconnect on the way.
    pub routed: bool,
}

impl Near {
    /// One for each map entry that is such a memory.
    pub fn of(bus: &Bus, clock: Hz) -> Vec<Option<Near>> {
        (0..bus.map.len())
            .map(|index| {
                let entry = &bus.map[index];
                let Target::Ram(ram) = entry.target else { return None };
                let (route, timing) = (bus.route(index).map(|route| &bus.routes[route]), bus.rams[ram].timing());
                let in_step = route.is_none_or(|route| route.clock == timing.clock)
                    && clock.get().is_multiple_of(timing.clock.get());
                (in_step && !bus.rams[ram].is_local() && !bus.is_local(index)).then(|| Near {
                    ram,
                    base: entry.base,
                    last: entry.last,
                    core_cycles: clock.get() / timing.clock.get(),
                    request_cycles: route.map_or(0, |route| route.request_cycles.0),
                    response_cycles: route.map_or(0, |route| route.response_cycles.0),
                    routed: route.is_some(),
                })
            })
            .collect()
    }

    /// The transfer, if no event comes before it.
    #[inline]
    pub fn transfer(
        &self,
        bus: &mut Bus,
        meter: &Meter,
        entry: usize,
        physical: u32,
        transfer: Transfer,
    ) -> Option<Passed> {
        let arrived = meter.now().div_ceil(self.core_cycles) + self.request_cycles;
        if transfer.follows_events() && bus.events.next_due() <= meter.not_before(arrived * self.core_cycles) {
            return None;
        }
        let (bytes, direction) = match transfer {
            Transfer::Read(size) => (size.bytes(), Direction::Read),
            Transfer::Write(size, _) => (size.bytes(), Direction::Write),
            Transfer::ReadBurst(bytes) | Transfer::ReadBurstBehind(bytes) => (bytes, Direction::Read),
            Transfer::WriteBurst(bytes) | Transfer::LateWriteBurst(bytes) => (bytes, Direction::Write),
        };
        let (offset, ram) = (physical - self.base, &mut bus.rams[self.ram]);
        let inside = self.last - physical;
        let answered = ram.transfer_at_edge(arrived, offset, bytes, direction);
        let mut value = [0; 4];
        match transfer {
            // As wide accesses are aligned, and memories are whole words, none leaves the memory.
            Transfer::Read(size) if inside >= size.bytes() - 1 => ram.read(offset, &mut value[..size.bytes() as usize]),
            Transfer::Write(size, value) if inside >= size.bytes() - 1 => {
                let met_code = ram.write(offset, &value.to_le_bytes()[..size.bytes() as usize]);
                bus.code_epoch += u64::from(met_code);
            }
            _ => {}
        }
        Some(Passed {
            value: u32::from_le_bytes(value),
            entry,
            arrived: arrived * self.core_cycles,
            answered: answered * self.core_cycles,
            done: (answered + self.response_cycles) * self.core_cycles,
        })
    }
}
