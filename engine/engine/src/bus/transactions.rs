//! Recorded transactions: accesses of cores and DMA engines over a bus, each from its request to the answer.
//!
//! An access belongs to the interconnect on its path; one that passes none, to a bus of the master's own. Memories that
//! fit a core's own cycles are on no bus.
//!
//! Cores cache paths by which they access memories and registers without a call to the bus, where these keep time with
//! the core ([`super::path`]). While transactions are recorded, no path is cached: every access is made here, at the
//! same time and with the same result.

use std::sync::Arc;

use super::{Access, Bus, BusFault};
use crate::activity::{BUS, Kind, Master, Scope, Transaction};
use crate::bus::device::{AccessSize, DeviceId};
use crate::memory::ram::Direction;
use crate::time::{Cycles, Ps};

/// The names of masters, buses and targets, and whether transactions are recorded.
#[derive(Debug, Default)]
pub(super) struct Transactions {
    /// Transactions are recorded.
    pub are_recorded: bool,
    /// Labels of the cores.
    cores: Vec<String>,
    /// The bus of each route, and the own buses of each core and then each device.
    routes: Vec<Scope>,
    own: Vec<Scope>,
    /// By map entry: the target.
    targets: Vec<Arc<str>>,
}

/// The data of an access.
#[derive(Clone, Copy, Debug)]
pub(super) enum Moves {
    Read(AccessSize),
    Write(AccessSize, u32),
    ReadBurst(u32),
    WriteBurst(u32),
}

impl Bus {
    /// Declares the buses on which there are transactions, so that a user can choose among them.
    pub fn declare_transactions(&mut self, cores: &[&str]) {
        let all = &mut self.transactions;
        all.cores = cores.iter().map(|core| (*core).to_owned()).collect();
        all.routes = self.routes.iter().map(|route| self.activities.scope(route.bus())).collect();
        let devices = self.device_names.iter().map(String::as_str);
        all.own = cores.iter().copied().chain(devices).map(|label| self.activities.scope(label)).collect();
        let (map, views) = (&self.map, &self.views);
        let has_own = |master: usize| match (views.get(master), master.checked_sub(cores.len())) {
            (Some(view), _) => view.iter().any(|to| to.route.is_none() && !to.local),
            (None, Some(device)) if !self.devices[device].as_ref().is_some_and(|it| it.is_master()) => false,
            _ => map.iter().any(|entry| entry.route.is_none()),
        };
        let own = all.own.iter().enumerate().filter(|(master, _)| has_own(*master)).map(|(_, bus)| bus);
        all.routes.iter().chain(own).for_each(|bus| bus.declare(BUS));
    }

    /// Checks whether transactions are recorded. True if that has changed: cores have to drop their cached paths then.
    pub fn follow_recording(&mut self) -> bool {
        let are_recorded = self.activities.records(Kind::Bus);
        let has_changed = std::mem::replace(&mut self.transactions.are_recorded, are_recorded) != are_recorded;
        if has_changed {
            self.paths.take();
        }
        has_changed
    }

    /// True if transactions are recorded.
    pub(super) fn records_transactions(&self) -> bool {
        self.transactions.are_recorded
    }

    /// Records a burst to or from a device, whose beats the present master has made one by one. `begun` has the time at
    /// which its address was sent, the address, and the number of bytes; `done` is the time of the last answer.
    pub fn record_burst(&mut self, entry: usize, begun: (Ps, u32, u32), direction: Direction, done: Ps) {
        if self.records_transactions() {
            let (at, address, bytes) = begun;
            let moves = match direction {
                Direction::Read => Moves::ReadBurst(bytes),
                Direction::Write => Moves::WriteBurst(bytes),
            };
            let answer = Access { value: 0, entry, arrived: done, answered: done, done };
            self.record_transaction(at, address, moves, &Ok(answer));
        }
    }

    /// Records a transaction that the present master began at `at`, and its result.
    #[cold]
    pub(super) fn record_transaction(&mut self, at: Ps, address: u32, moves: Moves, answer: &Result<Access, BusFault>) {
        let (entry, done, read) = match answer {
            Ok(access) => (access.entry, access.done, Some(access.value)),
            Err(BusFault { entry: Some(entry), done, .. }) => (*entry, *done, None),
            Err(_) => return,
        };
        let (bytes, is_write, value) = match moves {
            Moves::Read(size) => (size.bytes(), false, read),
            Moves::Write(size, value) => (size.bytes(), true, Some(size.extracted(value, 0))),
            Moves::ReadBurst(bytes) => (bytes, false, None),
            Moves::WriteBurst(bytes) => (bytes, true, None),
        };
        let transaction = Transaction {
            target: self.target_name(entry),
            offset: self.map[entry].offset(address),
            address,
            bytes,
            is_write,
            value,
            is_refused: answer.is_err(),
        };
        let route = self.path(entry).route;
        let all = &self.transactions;
        let clock = self.master.and_then(|core| self.core_clocks.get(core).copied());
        let (number, label) = match (self.master, self.calling) {
            (Some(core), _) => (core, all.cores.get(core)),
            (None, Some(DeviceId(id))) => (all.cores.len() + id as usize, self.device_names.get(id as usize)),
            (None, None) => return,
        };
        let bus = route.map_or_else(|| all.own.get(number), |route| all.routes.get(route));
        let (Some(bus), Some(label)) = (bus, label) else { return };
        let master = Master { label, number: number as u32, of: all.own.len() as u32 };
        // A core has the answer in its next cycle, and the transaction takes at least one.
        let end = clock.map_or(done, |clock| clock.edge_at_or_after(done).max(clock.after(at, Cycles(1))));
        bus.transaction(master, (at, end), clock, transaction);
    }

    /// The name of the target at a map entry.
    fn target_name(&mut self, entry: usize) -> Arc<str> {
        let (name, targets) = (&self.map[entry].name, &mut self.transactions.targets);
        if targets.len() <= entry {
            targets.resize_with(self.map.len(), || Arc::from(""));
        }
        // A device may have remapped the entry meanwhile.
        if *targets[entry] != **name {
            targets[entry] = Arc::from(name.as_str());
        }
        targets[entry].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::{Activities, Kinds};
    use crate::bus::device::{AccessResult, Ctx, Device, Reply, SlaveError};
    use crate::bus::{MapEntry, Route, Target};
    use crate::memory::ram::{PortTiming, Ram};
    use crate::polling::{Poll, Polled};
    use crate::time::Hz;

    /// A device whose registers take 100 ns; the one at 8 refuses.
    #[derive(crate::state::State)]
    struct Slow;

    impl Device for Slow {
        fn read(&mut self, _: usize, offset: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
            let done = ctx.now + Ps(100_000);
            if offset == 8 { Err(SlaveError { done }) } else { Ok(Reply::read(0x8765_4321, done)) }
        }

        fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
            // It copies on from memory by itself.
            ctx.bus.read_burst(ctx.now, 0x1010, 16).map_err(|_| SlaveError { done: ctx.now })?;
            Ok(Reply::written(ctx.now + Ps(100_000)))
        }
    }

    impl Polled for Slow {
        fn polled(&mut self, _: &mut Poll) -> bool {
            false
        }
    }

    /// A core of 100 MHz on a bus of 50 MHz, with a memory at 0x1000 and a device at 0x2000.
    fn bus() -> Bus {
        let mut bus = Bus { device_names: vec!["slow".into()], ..Bus::default() };
        let clock = Hz::new(50_000_000).unwrap();
        bus.routes.push(Route {
            name: "axi from m4".into(),
            clock,
            request_cycles: Cycles(2),
            response_cycles: Cycles(1),
        });
        bus.rams.push(Ram::new(0x100, PortTiming::symmetric(clock, Cycles(3), Cycles(1), 4)));
        bus.devices.push(Some(Box::new(Slow)));
        for (name, base, target) in [("ram", 0x1000, Target::Ram(0)), ("slow", 0x2000, Target::Device(DeviceId(0), 0))]
        {
            let entry = MapEntry::new(name, base, base + 0xff, target).on_route(Some(0));
            bus.map.push(entry);
        }
        bus.add_core();
        bus.set_core_clocks(vec![Hz::new(100_000_000).unwrap()]);
        bus.declare_transactions(&["m4"]);
        bus.master = Some(0);
        bus
    }

    fn recorded(activities: &Activities) -> Vec<(String, u64, u64, String)> {
        let tracks = activities.tracks();
        let spans = activities.spans(Ps::ZERO, Ps::MAX).into_iter();
        let recorded = spans.map(|span| {
            let track = &tracks[span.track as usize];
            let (begin, end) = (span.begin.0 / 1000, span.end.0 / 1000);
            (format!("{} {}", track.scope, track.line), begin, end, span.detail.to_string())
        });
        recorded.collect()
    }

    #[test]
    fn a_transaction_is_from_the_request_to_the_answer() {
        let mut bus = bus();
        bus.activities.start(Kinds::of(&[Kind::Bus]), 1 << 16);
        assert!(bus.follow_recording() && !bus.follow_recording());
        // 2 cycles of 20 ns for the request, 100 ns, 1 for the response. The core has it in its next cycle.
        assert_eq!(bus.read(Ps(0), 0x2004, AccessSize::Half).unwrap().done, Ps(160_000));
        // From the bus's next edge on, 3 cycles at the memory.
        bus.write(Ps(190_000), 0x1008, AccessSize::Byte, 0xab_cdef).unwrap();
        bus.read(Ps(400_000), 0x2008, AccessSize::Word).unwrap_err();
        // A line of 4 beats begins before an earlier write has arrived.
        bus.read_burst(Ps(600_000), 0x1000, 16).unwrap();
        bus.write_burst(Ps(620_000), 0x1020, 16).unwrap();
        bus.read(Ps(700_000), 0x9000, AccessSize::Word).unwrap_err();
        assert_eq!(
            recorded(&bus.activities),
            [
                ("axi m4".into(), 0, 160, "read slow + 0x4, 2 bytes: 0x87654321".into()),
                ("axi m4".into(), 190, 320, "write ram + 0x8, 1 bytes: 0xef".into()),
                ("axi m4".into(), 400, 560, "read slow + 0x8, 4 bytes, answered with an error".into()),
                ("axi m4".into(), 600, 780, "read ram + 0x0, 16 bytes".into()),
                ("axi m4 (2)".into(), 620, 900, "write ram + 0x20, 16 bytes".into()),
            ]
        );
    }

    #[test]
    fn a_device_makes_transactions_of_its_own() {
        let mut bus = bus();
        bus.activities.start(Kinds::of(&[Kind::Bus]), 1 << 16);
        bus.follow_recording();
        bus.write(Ps(0), 0x2000, AccessSize::Word, 1).unwrap();
        let recorded = recorded(&bus.activities);
        assert_eq!(recorded[0], ("axi m4".into(), 0, 160, "write slow + 0x0, 4 bytes: 0x1".into()));
        assert_eq!(recorded[1], ("axi slow".into(), 40, 220, "read ram + 0x10, 16 bytes".into()));
    }

    #[test]
    fn paths_keep_time_again_when_nothing_is_recorded() {
        let mut bus = bus();
        assert!(bus.path(0).keeps_time());
        bus.activities.start(Kinds::of(&[Kind::Bus]), 1 << 16);
        assert!(bus.follow_recording() && !bus.path(0).keeps_time());
        bus.activities.end(Ps(5));
        assert!(bus.follow_recording() && bus.path(0).keeps_time());
    }
}
