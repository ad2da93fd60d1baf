//! Iterations of a polling loop: their effects on memory and devices, and the number of identical ones that follow.

use crate::bus::device::DeviceId;
use crate::bus::entries::Entries;
use crate::bus::{Bus, Target};
use crate::polling::{Poll, repeats_until};
use crate::state::State;
use crate::time::{Cycles, Hz, Ps};

/// Most instructions of a loop that is examined.
pub(crate) const LONGEST_ITERATION: usize = 1 << 10;
/// Most instructions of a pass through a counting loop, such as a wait with a limit: in longer loops the counter counts
/// work.
pub(crate) const LONGEST_COUNTED: usize = 64;
/// Most passes in an iteration.
pub(crate) const MOST_PASSES: u32 = 24;
/// Number of searches for an iteration: in the first one the loop may not have settled yet.
pub(crate) const TRIES: usize = 2;
/// A search costs about as much as running this many iterations.
const LEAST_ITERATIONS: u64 = 16;

/// The work since the first comparison.
#[derive(Default, State)]
pub struct Iteration {
    /// Instructions.
    pub steps: usize,
    /// The instructions that it ran, in order, as numbered by the core.
    #[state(skip)]
    pub instrs: Vec<u32>,
    /// Blocks that ran to their end: index and exit.
    #[state(skip)]
    pub runs: Vec<(u32, usize)>,
    /// Words of RAM that it wrote, with their former values.
    written: Vec<(u32, [u8; 4])>,
}

impl Iteration {
    /// Records a word of RAM that is about to be written. `None` where a memory ends within the word: it can't be
    /// compared.
    pub fn note_word(&mut self, bus: &Bus, word: u32) -> Option<()> {
        let mut bytes = [0; 4];
        bus.peek(word, &mut bytes).then(|| self.written.push((word, bytes)))
    }

    /// True if all written words have their former values.
    pub fn left_memory_alone(&self, bus: &Bus) -> bool {
        self.written.iter().all(|(word, before)| {
            // For a word that was written twice, the first record has the former value.
            let first = self.written.iter().find(|(other, _)| other == word).map_or(before, |(_, bytes)| bytes);
            let mut bytes = [0; 4];
            bus.peek(*word, &mut bytes) && bytes == *first
        })
    }
}

/// The time of a core, and the map entries that it accessed.
#[derive(Clone, Copy)]
pub(crate) struct View {
    pub clock: Hz,
    pub cycles: u64,
    pub touched: Entries,
}

/// The poll lists of all devices at one moment.
pub(crate) struct Lists {
    /// The core's time.
    cycles: u64,
    of: Vec<Option<Poll>>,
}

impl View {
    fn now(self) -> Ps {
        self.clock.ps_at_floor(Cycles(self.cycles))
    }

    fn list(self, bus: &mut Bus, device: usize) -> Option<Poll> {
        let mut poll = Poll::look(self.clock, Cycles(self.cycles));
        polled(bus, device, &mut poll).then_some(poll)
    }

    /// The lists of all devices.
    pub fn lists(self, bus: &mut Bus) -> Lists {
        let of = (0..bus.devices.len()).map(|device| self.list(bus, device)).collect();
        Lists { cycles: self.cycles, of }
    }

    fn accessed(self, bus: &Bus) -> impl Iterator<Item = usize> + use<> {
        (0..bus.map.len()).filter(move |entry| self.touched.has(*entry))
    }

    /// True if an accessed entry is a device.
    pub fn has_accessed_devices(self, bus: &Bus) -> bool {
        self.accessed(bus).any(|entry| device_at(bus, entry).is_some())
    }

    fn accessed_devices(self, bus: &Bus) -> Vec<usize> {
        self.accessed(bus).filter_map(|entry| device_at(bus, entry)).collect()
    }

    /// True if the lists of the accessed devices are as before: most passes that are not a whole iteration fail here.
    /// `None` if one of the devices has no list.
    pub fn devices_repeat(self, bus: &mut Bus, before: &Lists) -> Option<bool> {
        let mut same = true;
        for device in self.accessed_devices(bus) {
            let earlier = before.of[device].as_ref()?;
            same &= self.list(bus, device).is_some_and(|list| list.repeats(earlier));
        }
        Some(same)
    }

    /// True if the entries' accesses take the same time again, and their devices' lists repeat.
    pub fn accesses_repeat(self, bus: &Bus, before: &Lists, after: &Lists) -> bool {
        let period = after.cycles - before.cycles;
        self.accessed(bus).all(|index| {
            let entry = &bus.map[index];
            if bus.path(index).route.is_some_and(|route| !self.keeps_phase(bus.routes[route].clock, period)) {
                return false;
            }
            match entry.target {
                Target::Ram(ram) => {
                    let ram = &bus.rams[ram];
                    self.keeps_phase(ram.timing().clock, period) && ram.is_idle(self.now()) && bus.has_memories_alone()
                }
                Target::Device(DeviceId(id), _) => match (&before.of[id as usize], &after.of[id as usize]) {
                    (Some(before), Some(after)) => after.repeats(before),
                    _ => false,
                },
            }
        })
    }

    /// True if an iteration of `period` cycles has the same phase relative to another clock as the one before: the
    /// core's clock is an integer multiple of it, and the period a multiple of their ratio.
    fn keeps_phase(self, clock: Hz, period: u64) -> bool {
        let (own, other) = (self.clock.get(), clock.get());
        own.is_multiple_of(other) && period.is_multiple_of(own / other)
    }

    /// Number of iterations of `period` cycles that certainly go like the last one before core cycle `limit`; registers
    /// allow `most`. The iteration in which something may happen, and the one before it, are left to be run. `None` if
    /// the number is too small to be worthwhile.
    pub fn iterations_to_come(
        self,
        bus: &Bus,
        (limit, most): (u64, u64),
        period: u64,
        before: &Lists,
        after: &Lists,
    ) -> Option<u64> {
        let devices = self.accessed_devices(bus);
        let lists = devices.iter().filter_map(|id| Some((after.of[*id].as_ref()?, before.of[*id].as_ref()?)));
        let until = repeats_until(lists, self.clock, self.cycles);
        // Nor may other cores have to be waited for.
        let until = match bus.order.is_alone() {
            true => until,
            false => until.min(self.clock.cycles_until_floor(bus.order.until()).0),
        };
        let count = (limit.min(until).saturating_sub(self.cycles) / period).saturating_sub(1).min(most);
        (count >= LEAST_ITERATIONS).then_some(count)
    }

    /// Advances the accessed devices by `count` iterations, the last of them ending at this time.
    pub fn move_devices_on(self, bus: &mut Bus, count: u64, before: &Lists, after: Lists) {
        let mut lists = after.of;
        for device in self.accessed_devices(bus) {
            // A device with several ranges is advanced once.
            if let (Some(list), Some(before)) = (lists[device].take(), &before.of[device]) {
                polled(bus, device, &mut list.skip(before, count));
            }
        }
    }
}

/// Asks a device for its list. The call is not at a simulated time: one core asks, and another may access the device
/// earlier than the asking core's time.
fn polled(bus: &mut Bus, device: usize, poll: &mut Poll) -> bool {
    bus.devices[device].as_mut().is_some_and(|device| device.polled(poll))
}

fn device_at(bus: &Bus, entry: usize) -> Option<usize> {
    match bus.map[entry].target {
        Target::Ram(_) => None,
        Target::Device(DeviceId(id), _) => Some(id as usize),
    }
}
