//! Paths: how a transfer of one master reaches the target at a map entry, and how the answer comes back.
//!
//! There is one for each master (each core, and all devices together) and each map entry, worked out from the board
//! once. It gives the cost of every transfer: the interconnect's request latency, the time of the RAM's port or the
//! device, the response latency. Where interconnect and port run at a clock that divides the master's, that is done in
//! the master's cycles ([`Path::transfer`]), else in picoseconds ([`Path::request`], [`Path::response`]), with the same
//! result.

use super::device::Device;
use super::{Bus, MapEntry, Route, Target};
use crate::memory::ram::{Direction, Ram};
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// The path of a core on a bus of its own to a map entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct View {
    /// Index of the interconnect on the path, if any.
    pub route: Option<usize>,
    /// A memory whose accesses fit the core's own cycles.
    pub local: bool,
    /// Which slave of the core's bus answers there, from 1; 0 for none.
    pub slave: u8,
}

/// The path of one master to one map entry: one cache line of the host.
#[derive(Debug)]
#[repr(align(64))]
pub struct Path {
    /// Index of the interconnect on the path, if any.
    pub route: Option<usize>,
    /// To tightly coupled memory: an access costs nothing beyond the master's own cycle.
    pub local: bool,
    /// Others see accesses there (a device's registers, shared memory): accesses of all cores have one order.
    pub ordered: bool,
    /// For a core on a bus of its own, the slave of that bus, from 1; else 0.
    pub slave: u8,
    /// The interconnect's clock, if there is one. It is boxed, since transfers that are priced in cycles do not need
    /// it.
    clock: Option<Box<Hz>>,
    /// The interconnect's latencies, and the ratio of clocks that keep time with the master's.
    in_step: InStep,
}

const _: () = assert!(size_of::<Path>() == 64);

/// The times of a path whose interconnect and target run at a clock that divides the master's.
#[derive(Clone, Copy, Debug)]
pub struct InStep {
    request_cycles: u64,
    response_cycles: u64,
    /// Cycles of the master in one of the interconnect and of the RAM's port or the device, where these keep time with
    /// it; else 0.
    ratio: u64,
    /// 2^64 divided by `ratio`, rounded up; unused where that is 0 or 1.
    inverse: u64,
}

impl InStep {
    /// For a path that does not keep time with the master.
    pub const NOT: InStep = InStep { request_cycles: 0, response_cycles: 0, ratio: 0, inverse: 0 };
    /// Up to this number, cycles are divided by multiplication with the inverse.
    pub const MOST_CYCLES: u64 = 1 << 47;
    const MOST_RATIO: u64 = 1 << 16;

    /// The numbers for compiled code: latencies, ratio, and 2^64 divided by the ratio, rounded up, which is exact up to
    /// [`InStep::MOST_CYCLES`].
    pub fn numbers(&self) -> Option<StepNumbers> {
        let InStep { request_cycles, response_cycles, ratio, inverse } = *self;
        (1..=InStep::MOST_RATIO).contains(&ratio).then_some(StepNumbers {
            request_cycles,
            response_cycles,
            ratio,
            inverse,
        })
    }

    /// True if the path keeps time with the master.
    #[inline(always)]
    pub fn is_known(&self) -> bool {
        self.ratio != 0
    }

    /// The first edge of the target's clock in the master's cycle `now` or later.
    #[inline(always)]
    fn next_edge(&self, now: u64) -> u64 {
        match self.ratio {
            1 => now,
            ratio if now <= InStep::MOST_CYCLES && ratio <= InStep::MOST_RATIO => {
                // The inverse is too large by less than 2^-64 of the ratio, which is too little to reach the next
                // number: (2^47 + 2^16) * 2^16 is below 2^64.
                ((u128::from(now + ratio - 1) * u128::from(self.inverse)) >> u64::BITS) as u64
            }
            ratio => now.div_ceil(ratio),
        }
    }

    /// The edge of the target's clock at which a request arrives that is made in the master's cycle `now`.
    #[inline(always)]
    pub fn arrival(&self, now: u64) -> u64 {
        self.next_edge(now) + self.request_cycles
    }

    /// The master's cycle at an edge of the target's clock.
    #[inline(always)]
    pub fn cycle(&self, edge: u64) -> u64 {
        edge * self.ratio
    }

    /// The times of a transfer that arrives, and is answered, at edges of the target's clock.
    #[inline(always)]
    pub fn times(&self, arrived: u64, answered: u64) -> Times {
        let done = self.cycle(answered + self.response_cycles);
        Times { arrived: self.cycle(arrived), answered: self.cycle(answered), done }
    }
}

/// See [`InStep::numbers`].
#[derive(Clone, Copy, Debug)]
pub struct StepNumbers {
    /// Edges of the target's clock from a request to its arrival.
    pub request_cycles: u64,
    /// From an answer to the master.
    pub response_cycles: u64,
    /// Cycles of the master in one of the target's clock.
    pub ratio: u64,
    /// 2^64 divided by that, rounded up; unused where it is 1.
    pub inverse: u64,
}

/// The master's cycles in which a transfer passed from one cause of waiting to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Times {
    /// The request reached the port.
    pub arrived: u64,
    /// The memory answered.
    pub answered: u64,
    /// The answer reached the master.
    pub done: u64,
}

impl Path {
    /// The path to `entry` of a master with this clock, if it is a core, and this view, if it has one of its own.
    fn new(bus: &Bus, entry: &MapEntry, clock: Option<Hz>, view: Option<&View>) -> Path {
        let ram = match entry.target {
            Target::Ram(ram) => Some(&bus.rams[ram]),
            Target::Device(..) => None,
        };
        let route = view.map_or(entry.route, |view| view.route);
        let at_once = ram.is_some_and(Ram::is_local);
        let local = view.map_or(at_once && entry.route.is_none(), |view| view.local);
        let interconnect = route.map(|route| &bus.routes[route]);
        let target_clock = match entry.target {
            Target::Ram(ram) => Some(bus.rams[ram].timing().clock),
            Target::Device(id, _) => {
                bus.devices.get(id.0 as usize).and_then(Option::as_ref).and_then(|device| device.own_clock())
            }
        };
        let ratio = match (target_clock, clock) {
            _ if bus.records_transactions() => 0,
            (Some(target), Some(clock)) if !local && !at_once => ratio(clock, target, interconnect),
            _ => 0,
        };
        Path {
            route,
            local,
            ordered: ram.is_none_or(Ram::is_shared),
            slave: view.map_or(0, |view| view.slave),
            clock: interconnect.map(|route| Box::new(route.clock)),
            in_step: InStep {
                request_cycles: interconnect.map_or(0, |route| route.request_cycles.0),
                response_cycles: interconnect.map_or(0, |route| route.response_cycles.0),
                ratio,
                inverse: (u64::MAX / ratio.max(1)).wrapping_add(1),
            },
        }
    }

    /// True if transfers are priced in the master's cycles.
    #[inline]
    pub fn keeps_time(&self) -> bool {
        self.in_step.is_known()
    }

    /// The path's times in the master's cycles.
    pub fn in_step(&self) -> InStep {
        self.in_step
    }

    /// True if the memory is on the master's own port: no interconnect, and its clock.
    pub fn is_on_port(&self) -> bool {
        self.in_step.ratio == 1 && self.route.is_none()
    }

    /// When a request made at `at` reaches the target.
    #[inline]
    pub fn request(&self, at: Ps) -> Ps {
        self.clock.as_ref().map_or(at, |clock| clock.after(at, Cycles(self.in_step.request_cycles)))
    }

    /// When an answer given at `at` reaches the master.
    #[inline]
    pub fn response(&self, at: Ps) -> Ps {
        self.clock.as_ref().map_or(at, |clock| clock.after(at, Cycles(self.in_step.response_cycles)))
    }

    /// A transfer of `bytes` bytes at `offset` that the master begins in its cycle `now`, to or from the memory at the
    /// end of the path, if that keeps time with the master. `None` if it does not, or if `is_next` says that something
    /// comes before the request arrives; it gets the cycle of that arrival.
    #[inline(always)]
    pub(super) fn transfer(
        &self,
        ram: &mut Ram,
        offset: u32,
        now: u64,
        (bytes, direction): (u32, Direction),
        is_next: impl FnOnce(u64) -> bool,
    ) -> Option<Times> {
        let edge = self.arrival(now, is_next)?;
        let answered = ram.transfer_at_edge(edge, offset, bytes, direction);
        Some(self.in_step.times(edge, answered))
    }

    /// The edge of the target's clock at which a request arrives that is made in the master's cycle `now`. `None` as
    /// for [`Path::transfer`].
    #[inline(always)]
    fn arrival(&self, now: u64, is_next: impl FnOnce(u64) -> bool) -> Option<u64> {
        if !self.keeps_time() {
            return None;
        }
        let edge = self.in_step.arrival(now);
        is_next(self.in_step.cycle(edge)).then_some(edge)
    }

    /// A read of `bytes` from a device that the master begins in its cycle `now`, where the path keeps time with the
    /// master and the read has no other effect ([`Device::read_alone`]): the value read, and its times.
    #[inline(always)]
    pub(super) fn read_alone(
        &self,
        device: &mut dyn Device,
        (range, offset, bytes): (usize, u32, u32),
        now: u64,
        is_next: impl FnOnce(u64) -> bool,
    ) -> Option<(u32, Times)> {
        let edge = self.arrival(now, is_next)?;
        let (value, answered) = device.read_alone(range, offset, bytes, edge)?;
        Some((value, self.in_step.times(edge, answered)))
    }
}

/// Cycles of `clock` in one of a port and of the interconnect before it, if these run at one clock that divides it.
fn ratio(clock: Hz, port: Hz, interconnect: Option<&Route>) -> u64 {
    let in_step = interconnect.is_none_or(|route| route.clock == port) && clock.get().is_multiple_of(port.get());
    if in_step { clock.get() / port.get() } else { 0 }
}

/// All paths of a bus.
#[derive(Debug)]
pub(super) struct Paths {
    /// The paths of each core, in the map's order, then those of devices.
    paths: Vec<Path>,
    cores: usize,
    entries: usize,
}

impl Paths {
    /// The paths of all cores at these clocks, and of devices.
    pub fn new(bus: &Bus, clocks: &[Hz]) -> Paths {
        let cores = bus.core_irqs.len().max(clocks.len()).max(bus.views.len());
        let of = |core: Option<usize>| {
            let views = core.and_then(|core| bus.views.get(core));
            let clock = core.and_then(|core| clocks.get(core).copied());
            bus.map
                .iter()
                .enumerate()
                .map(move |(index, entry)| Path::new(bus, entry, clock, views.map(|views| &views[index])))
        };
        Paths { paths: (0..cores).map(Some).chain([None]).flat_map(of).collect(), cores, entries: bus.map.len() }
    }

    /// The path of a core, or of devices, to a map entry.
    #[inline]
    pub fn of(&self, core: Option<usize>, entry: usize) -> &Path {
        &self.paths[core.unwrap_or(self.cores) * self.entries + entry]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn in_step(ratio: u64) -> InStep {
        InStep { ratio, inverse: (u64::MAX / ratio).wrapping_add(1), ..InStep::NOT }
    }

    proptest! {
        #[test]
        fn the_next_edge_is_the_quotient_rounded_up(
            ratio in prop_oneof![1u64..20, 1u64..=1 << 17],
            at in prop_oneof![0u64..1000, Just(InStep::MOST_CYCLES), any::<u64>().prop_map(|at| at >> 8)],
            near in 0u64..3,
        ) {
            for now in [at + near, at.saturating_sub(near), (at / ratio * ratio + near).saturating_sub(1)] {
                prop_assert_eq!(in_step(ratio).next_edge(now), now.div_ceil(ratio));
            }
        }
    }
}
