//! The bus: the address map, the cost of accesses, and everything that devices share.
//!
//! One [`MapEntry`] gives both the route of an address and its cost. An access takes the request latency of the route's
//! interconnect, the time of the RAM's port or the device, then the response latency.

mod activities;
pub mod can;
mod changes;
pub mod code;
mod contents;
pub mod device;
mod driven_pins;
pub mod entries;
mod following;
pub mod interrupt_sources;
pub mod lines;
pub mod overlays;
pub mod path;
pub mod rates;
pub mod repeated_reads;
mod saving;
mod shared_lines;
mod transactions;
mod transfers;
mod unsent;
pub mod watches;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;

use crate::activity::{Activities, Scope};
use crate::bus::code::CodeLog;
use crate::bus::device::{CoreRegister, Ctx, Device, DeviceId, ExitRequest, FirmwareCall, IrqLine};
use crate::bus::interrupt_sources::InterruptSources;
use crate::bus::lines::Lines;
use crate::bus::repeated_reads::RepeatedReads;
use crate::clocks::Clocks;
use crate::event::EventQueue;
use crate::event_rates::EventRates;
use crate::faults::{BusFaultKind, CoreFault};
use crate::host::Host;
use crate::inputs::Inputs;
use crate::memory::line_buffers::LineBuffers;
use crate::memory::outer::OuterCache;
use crate::memory::ram::{Direction, Ram};
use crate::memory::snoop::Snoop;
use crate::observe::critical_path;
use crate::observe::notes::{Notes, Traps};
use crate::observe::output::Output;
use crate::observe::signals::DeviceSignals;
use crate::observe::unmodelled::AccessSites;
use crate::observe::waves::Waves;
use crate::order::{CoreStart, Order, ResetChange};
use crate::pins::{Pin, Wires};
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};
use path::{InStep, Path, Paths, Times, View};
use shared_lines::SharedLines;
use transactions::Transactions;
use watches::Watches;

/// Notes of devices that are kept for the user.
const MOST_NOTES: usize = 1000;

/// An interconnect between masters and targets: latency of its request and response channels, in its clock.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub struct Route {
    /// Label of its node.
    #[state(skip)]
    pub name: String,
    /// Its clock.
    pub clock: Hz,
    /// From a master's request to the target's port.
    #[state(skip)]
    pub request_cycles: Cycles,
    /// From the target's answer to the master.
    #[state(skip)]
    pub response_cycles: Cycles,
}

impl Route {
    /// The label of the interconnect. The name of a route from a core's own bus has both labels.
    pub fn bus(&self) -> &str {
        self.name.split_once(' ').map_or(&self.name, |(to, _)| to)
    }
}

/// What answers at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Target {
    /// Index into the bus's RAMs.
    Ram(usize),
    /// A device, and which of its `reg` ranges.
    Device(DeviceId, usize),
}

/// A range of addresses.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct MapEntry {
    /// Label of the node.
    pub name: String,
    /// First address.
    pub base: u32,
    /// Last address (a range may end at 4 GiB).
    pub last: u32,
    /// The address of the first byte of `target`, or its address if no overlay lay there ([`boundaries`]).
    pub origin: u32,
    /// What answers.
    pub target: Target,
    /// The target below an overlay, with its origin.
    pub below: Option<(Target, u32)>,
    /// Index of the interconnect on the path, if any: for devices that are masters, and cores without a view of their
    /// own.
    pub route: Option<usize>,
    /// Cores may keep it in their caches.
    pub cacheable: bool,
}

impl MapEntry {
    /// An entry that shows a target from its first byte, without interconnect, and not cacheable.
    pub fn new(name: impl Into<String>, base: u32, last: u32, target: Target) -> MapEntry {
        let (name, route, cacheable) = (name.into(), None, false);
        MapEntry { name, base, last, origin: base, target, below: None, route, cacheable }
    }

    /// This entry on an interconnect, by its index, if any.
    #[must_use]
    pub fn on_route(self, route: Option<usize>) -> MapEntry {
        MapEntry { route, ..self }
    }

    /// This entry, cacheable or not.
    #[must_use]
    pub fn kept_in_caches(self, cacheable: bool) -> MapEntry {
        MapEntry { cacheable, ..self }
    }

    /// Offset of an address in the target.
    #[inline(always)]
    pub fn offset(&self, addr: u32) -> u32 {
        addr.wrapping_sub(self.origin)
    }
}

/// A place in a RAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InRam {
    /// The map entry.
    pub entry: usize,
    /// Index into the bus's RAMs.
    pub ram: usize,
    /// From the start of the RAM.
    pub offset: u32,
    /// Bytes from there to the end of the map entry.
    pub rest: u32,
}

/// An access that nothing answered, or that was answered with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusFault {
    /// The address.
    pub addr: u32,
    /// Nothing is mapped there (a decode error), or the device answered with an error.
    pub kind: BusFaultKind,
    /// When the error response reached the master.
    pub done: Ps,
    /// The map entry, if any.
    pub entry: Option<usize>,
}

/// A completed access, with the times at which it passed from one cause of waiting to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What was read; 0 for a write.
    pub value: u32,
    /// The map entry that answered.
    pub entry: usize,
    /// The request reached the RAM's port or the device.
    pub arrived: Ps,
    /// The RAM or device answered.
    pub answered: Ps,
    /// The answer reached the master.
    pub done: Ps,
}

impl Access {
    /// Two accesses in sequence, as one.
    fn then(self, second: Access) -> Access {
        Access { answered: second.answered, done: second.done, ..self }
    }
}

/// A read of a device without effects on anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alone {
    /// What was read; of a burst, its first word.
    pub value: u32,
    /// The map entry that answered.
    pub entry: usize,
    /// The times of its stages, in the master's cycles.
    pub times: Times,
    /// An interconnect is on its path.
    pub routed: bool,
}

/// The address map, its memories and devices, and what they share: events, interrupt lines, console, notes.
#[derive(Default)]
pub struct Bus {
    /// Sorted by base, without overlaps.
    pub map: Vec<MapEntry>,
    /// Interconnects.
    pub routes: Vec<Route>,
    /// Memories.
    pub rams: Vec<Ram>,
    /// How each core reaches each map entry, in the map's order; empty where it is the same for all of them.
    pub views: Vec<Vec<View>>,
    /// The core that runs and makes the present accesses; `None` while a device acts on its own.
    pub master: Option<usize>,
    /// The second-level cache, if there is one.
    pub outer: Option<OuterCache>,
    /// Cores whose accesses bypass it: bit n is core n.
    pub past_outer: u32,
    /// What keeps the data caches of a cluster's cores coherent, if several of them are on the board.
    pub snoop: Option<Snoop>,
    /// Lines that a flash interface keeps for the cores.
    pub line_buffers: LineBuffers,
    /// Devices; a slot is empty while its device is being called.
    pub devices: Vec<Option<Box<dyn Device>>>,
    /// Labels of the devices, for messages.
    pub device_names: Vec<String>,
    /// The device that serves system registers of the cores ([`Device::core_register`]).
    pub core_registers: Option<DeviceId>,
    /// The interrupt of the core's performance monitors ([`Device::counter_interrupt`]).
    pub monitors: Option<DeviceId>,
    /// The model of the firmware that cores call ([`Device::firmware_call`]).
    pub firmware: Option<DeviceId>,
    /// Events to come.
    pub events: EventQueue,
    /// Connections of pins.
    pub wires: Wires,
    /// Interrupt lines that several devices drive.
    pub shared_lines: SharedLines,
    /// Serial lines with a device at their other end.
    pub lines: Lines,
    /// Clocks that firmware sets.
    pub clocks: Clocks,
    /// Recorded levels of wires.
    pub waves: Waves,
    /// Recorded activities of devices.
    pub activities: Activities,
    /// The device that a node's label belongs to: the device itself, or the one that the chip is connected to.
    pub hosts: BTreeMap<String, DeviceId>,
    /// Signals that show interrupts and activities in waveforms.
    pub device_signals: DeviceSignals,
    /// Levels of interrupt lines by the device that drives them, while they are recorded.
    irq_levels: BTreeMap<(DeviceId, IrqLine), bool>,
    /// By core: the scope of the activities that it records.
    pub core_scopes: Vec<Scope>,
    /// By device: the scope of the activities that it records.
    scopes: Vec<Scope>,
    /// The devices that raised each core's interrupts.
    pub interrupt_sources: InterruptSources,
    /// Each core's critical path, while it is followed.
    pub critical: Option<Box<RefCell<critical_path::Paths>>>,
    /// The order of the cores' accesses that other masters can see.
    pub order: Order,
    /// Interrupt inputs of each core.
    pub core_irqs: Vec<Inputs>,
    /// The clocks of sleeping cores keep running, as a debugger wants it.
    pub clocked_asleep: bool,
    /// Cores that receive each other's events: a bit each.
    pub cluster: u64,
    /// Output of the firmware that has not been taken yet: see [`Bus::print`].
    pub output: Output,
    /// A device requested the end of the run.
    pub exit: Option<ExitRequest>,
    /// That request is a reset of the whole board: nothing continues after it.
    pub exit_is_reset: bool,
    /// Why a device can't continue: the run ends there as a fault ([`Ctx::fail`]).
    pub failure: Option<String>,
    /// That is no end of the run: the host only wants to intervene (`Machine::advance`).
    pub paused: bool,
    /// Where decoded instructions were written: cores then drop those.
    pub code_written: CodeLog,
    /// Where memory became the source of decoded instructions: cores then drop their fast paths for stores there.
    pub code_marked: CodeLog,
    /// A debugger's watchpoints.
    pub watches: Watches,
    /// Transfers from and to memories by devices so far.
    pub transfers_by_devices: u64,
    /// Host resources that the firmware may use by semihosting.
    pub host: Host,
    /// Notes that devices record for the user.
    pub noted: Notes<MOST_NOTES>,
    /// Exceptions that the firmware's own handler got.
    pub traps: Traps,
    /// Instructions that accessed registers without a model.
    pub access_sites: AccessSites,
    /// The device that answers at unmapped addresses, if the board has one.
    pub gaps: Option<DeviceId>,
    /// Events and interrupts that come at an excessive rate.
    pub event_rates: EventRates,
    /// The cores' clocks, which the costs of paths depend on, and the paths, made at their first use.
    core_clocks: Vec<Hz>,
    paths: OnceCell<Paths>,
    /// Timing of the recorded transactions.
    transactions: Transactions,
    /// The device that is called; of nested calls, the innermost.
    calling: Option<DeviceId>,
    /// True during an access of a core, false during an event.
    is_by_core: bool,
    /// Map entry of the last address: the next address is usually in it, too.
    last_entry: Cell<usize>,
    /// The time up to which each device has seen accesses, where several cores may access it.
    called_until: Vec<Ps>,
    /// The device that each core accessed last, and the number of consecutive accesses.
    asked: Vec<(DeviceId, u64)>,
}

impl Bus {
    /// Adds a core with all interrupt inputs low.
    pub fn add_core(&mut self) {
        self.core_irqs.push(Inputs::default());
        self.core_scopes.push(Scope::default());
    }

    /// The map entry that holds `addr`.
    #[inline]
    pub fn entry_at(&self, addr: u32) -> Option<usize> {
        let last = self.last_entry.get();
        let same = self.map.get(last).is_some_and(|entry| entry.base <= addr && addr <= entry.last);
        if same { Some(last) } else { self.find_entry(addr) }
    }

    #[inline(never)]
    fn find_entry(&self, addr: u32) -> Option<usize> {
        let after = self.map.partition_point(|entry| entry.base <= addr);
        let index = after.checked_sub(1)?;
        (addr <= self.map[index].last).then(|| {
            self.last_entry.set(index);
            index
        })
    }

    /// The place of an address, if a RAM answers there.
    #[inline]
    pub fn ram_at(&self, addr: u32) -> Option<InRam> {
        let entry = self.entry_at(addr)?;
        let MapEntry { origin, last, target: Target::Ram(ram), .. } = self.map[entry] else { return None };
        Some(InRam { entry, ram, offset: addr.wrapping_sub(origin), rest: last - addr })
    }

    /// Sets the cores' clocks. The paths of masters are worked out at their first use: neither the map nor its targets
    /// change after that.
    pub fn set_core_clocks(&mut self, clocks: Vec<Hz>) {
        self.core_clocks = clocks;
        self.paths.take();
    }

    /// The clock of a core.
    pub fn core_clock(&self, core: usize) -> Option<Hz> {
        self.core_clocks.get(core).copied()
    }

    /// The path of the present master to a map entry.
    #[inline]
    pub fn path(&self, entry: usize) -> &Path {
        self.paths.get_or_init(|| Paths::new(self, &self.core_clocks)).of(self.master, entry)
    }

    /// A transfer that the present master begins in its cycle `now`: see [`Path::transfer`]. The second value is true
    /// if an interconnect is on the path. `None` also before the first use of a path.
    #[inline(always)]
    pub fn transfer_in_cycles(
        &mut self,
        place: InRam,
        now: u64,
        moves: (u32, Direction),
        is_next: impl FnOnce(u64) -> bool,
    ) -> Option<(Times, bool)> {
        let path = self.paths.get()?.of(self.master, place.entry);
        let times = path.transfer(&mut self.rams[place.ram], place.offset, now, moves, is_next)?;
        Some((times, path.route.is_some()))
    }

    /// The times of the present master's path to a map entry, if the path keeps time with the master, and whether an
    /// interconnect is on it. `None` also before the first use of a path.
    pub fn path_in_step(&self, entry: usize) -> Option<(InStep, bool)> {
        let path = self.paths.get()?.of(self.master, entry);
        path.keeps_time().then(|| (path.in_step(), path.route.is_some()))
    }

    /// A read of a device that the present master, which is the only core, begins in its cycle `now`: see
    /// [`Device::read_alone`]. `None` also where another core may access the device, or before the first use of a path.
    #[inline(always)]
    pub fn read_alone(&mut self, addr: u32, now: u64, bytes: u32, is_next: impl FnOnce(u64) -> bool) -> Option<Alone> {
        let entry = self.entry_at(addr)?;
        let MapEntry { origin, target: Target::Device(id, range), .. } = self.map[entry] else { return None };
        if self.core_irqs.len() > 1 || self.watches.see_reads() {
            return None;
        }
        let path = self.paths.get()?.of(self.master, entry);
        let device = self.devices[id.0 as usize].as_deref_mut()?;
        let (value, times) = path.read_alone(device, (range, addr.wrapping_sub(origin), bytes), now, is_next)?;
        Some(Alone { value, entry, times, routed: path.route.is_some() })
    }

    /// Repeated reads of `bytes` from the device at `addr`: see [`Device::repeated_reads`].
    pub fn repeated_reads(&mut self, addr: u32, bytes: u32) -> Option<RepeatedReads> {
        let entry = self.entry_at(addr)?;
        let Target::Device(id, range) = self.map[entry].target else { return None };
        if self.watches.see_reads() {
            return None;
        }
        self.devices[id.0 as usize].as_deref_mut()?.repeated_reads(range, bytes)
    }

    /// The second-level cache that the present master's accesses pass.
    #[inline]
    pub fn outer(&self) -> Option<&OuterCache> {
        self.outer.as_ref().filter(|_| self.passes_outer())
    }

    /// Mutable access to that cache.
    #[inline]
    pub fn outer_mut(&mut self) -> Option<&mut OuterCache> {
        let passes = self.passes_outer();
        self.outer.as_mut().filter(|_| passes)
    }

    fn passes_outer(&self) -> bool {
        self.past_outer == 0 || self.master.is_none_or(|core| self.past_outer >> core & 1 == 0)
    }

    /// Runs the events that are due at `now` or earlier, each at its due time. Stops where events never end
    /// ([`EventRates::endless`]).
    pub fn run_events(&mut self, now: Ps) {
        if self.events.next_due() > now {
            return;
        }
        let master = self.master.take();
        let is_by_core = std::mem::take(&mut self.is_by_core);
        while let Some(event) = self.events.pop_due(now) {
            if self.event_rates.event(event.device, event.due) {
                self.events.schedule(event.due, event.device, event.token);
                self.exit.get_or_insert(ExitRequest { code: 1, at: event.due });
                break;
            }
            self.event_happens(event.number());
            let cause = self.interrupt_sources.begin_event(event.number());
            self.with_device(event.device, event.due, |device, ctx| device.event(event.token, ctx));
            self.interrupt_sources.end(cause);
            self.store_over();
        }
        self.master = master;
        self.is_by_core = is_by_core;
    }

    /// Runs the events before the time at which a core's request made at `at` reaches the target at `addr`.
    #[inline]
    pub fn run_events_before(&mut self, at: Ps, addr: u32) {
        if self.events.next_due() != Ps::MAX {
            self.run_events_before_arrival(at, addr);
        }
    }

    #[inline(never)]
    fn run_events_before_arrival(&mut self, at: Ps, addr: u32) {
        let arrives = self.entry_at(addr).map_or(at, |entry| self.path(entry).request(at));
        self.run_events(arrives);
    }

    /// Sets the level of an interrupt line.
    pub fn set_irq(&mut self, line: IrqLine, level: bool, now: Ps) {
        match line {
            IrqLine::Core { core, bit } => {
                // Some inputs count each change.
                if self.core_irqs[core as usize].set(bit, level, now) {
                    self.order.wake(core as usize, now);
                    if level {
                        self.interrupt_sources.come(core, now, self.calling);
                        self.core_raised(core as usize, now);
                    } else {
                        self.event_rates.entries.fell(core, bit);
                    }
                }
            }
            // A port's inputs are wires, which record levels while the port is being called.
            IrqLine::Device { device, input } if self.wires.is_port(device) => {
                self.drive_pin(Pin::new(device, input), Some(level), now);
            }
            // A board may wire interrupt controllers in a circle.
            IrqLine::Device { device, .. } if self.is_busy(device) => {
                self.note(device, now, "its interrupt leads back to itself, and goes no further");
            }
            IrqLine::Device { device, input } => {
                self.with_device(device, now, |controller, ctx| controller.irq_input(input, level, ctx));
            }
        }
    }

    /// Sends an event to a core: ends its `wfe`, or lets the next one complete at once.
    pub fn send_event(&mut self, core: u32, now: Ps) {
        self.core_irqs[core as usize].send_event(now);
        self.order.wake(core as usize, now);
        self.interrupt_sources.come(core, now, self.calling);
    }

    /// A core sends an event to the others of its cluster (`sev`).
    pub fn send_event_from(&mut self, core: u32, now: Ps) {
        let others = (0..self.core_irqs.len() as u32).filter(|other| *other != core && self.cluster >> other & 1 != 0);
        others.collect::<Vec<u32>>().into_iter().for_each(|other| self.send_event(other, now));
    }

    /// Holds a core in reset from `at` on, or releases it: it then starts with its reset.
    pub fn core_reset(&mut self, core: usize, hold: bool, at: Ps) {
        self.order.change_reset(ResetChange { core, hold, at, start: None });
        if !hold {
            self.core_raised(core, at);
        }
    }

    /// A firmware releases a core that is held in reset, and makes it begin at `start`.
    pub fn start_core(&mut self, core: usize, start: CoreStart, at: Ps) {
        self.order.change_reset(ResetChange { core, hold: false, at, start: Some(start) });
        self.core_raised(core, at);
    }

    /// The time at which the running core has to check the bus's pending work.
    #[inline(always)]
    pub fn next_stop(&self) -> Ps {
        self.events.next_due().min(self.order.cut())
    }

    /// True if other cores can see accesses to a physical address: a device's, or shared memory.
    pub fn is_ordered(&self, physical: u32) -> bool {
        self.entry_at(physical).is_some_and(|entry| self.path(entry).ordered)
    }

    /// Records that core number `core` has loaded exclusively from a physical address.
    pub fn reserve(&mut self, core: u32, physical: u32) {
        if let Some((entry, offset)) = self.span(physical, 1)
            && let Target::Ram(ram) = self.map[entry].target
        {
            self.rams[ram].reserve(core, offset);
        }
        if let Some(snoop) = &mut self.snoop {
            snoop.reserve(core as usize, physical);
        }
    }

    /// True if no other master has written there since: memory that is not shared has no other writer.
    pub fn is_reserved(&self, core: u32, physical: u32) -> bool {
        if self.snoop.as_ref().is_some_and(|snoop| !snoop.is_reserved(core as usize, physical)) {
            return false;
        }
        let Some((entry, offset)) = self.span(physical, 1) else { return true };
        match self.map[entry].target {
            Target::Ram(ram) => self.rams[ram].is_reserved(core, offset),
            Target::Device(..) => true,
        }
    }

    /// The time of a call to a device: not before the previous call. Of two accesses, the one that was begun later may
    /// be the first to arrive; the other then comes after it.
    fn in_order(&mut self, core: Option<usize>, id: DeviceId, now: Ps) -> Ps {
        if let Some(core) = core {
            self.asked.resize(self.core_irqs.len(), (id, 0));
            let (last, times) = &mut self.asked[core];
            (*last, *times) = (id, if *last == id { *times + 1 } else { 1 });
        }
        self.called_until.resize(self.devices.len(), Ps::ZERO);
        let called_until = &mut self.called_until[id.0 as usize];
        *called_until = now.max(*called_until);
        *called_until
    }

    /// Calls a device with access to the rest of the machine.
    ///
    /// # Panics
    /// If a device reaches itself through the bus: interrupts and DMA engines check [`Bus::is_busy`] first.
    pub fn with_device<T>(&mut self, id: DeviceId, now: Ps, call: impl FnOnce(&mut dyn Device, &mut Ctx) -> T) -> T {
        let mut device = self.devices[id.0 as usize].take().expect("a device is not called from within itself");
        let core = self.master.take();
        // A cluster's cores have timers and counters of their own.
        let is_own = self.snoop.is_some() && [self.core_registers, self.monitors].contains(&Some(id));
        let now = if self.core_irqs.len() > 1 && !is_own { self.in_order(core, id, now) } else { now };
        let (outer, cause) = (self.calling.replace(id), self.interrupt_sources.begin(id));
        let was_by_core = self.is_by_core;
        self.is_by_core |= core.is_some();
        let result = call(device.as_mut(), &mut Ctx { now, id, core, bus: self });
        self.is_by_core = was_by_core;
        self.interrupt_sources.end(cause);
        self.calling = outer;
        self.master = core;
        self.devices[id.0 as usize] = Some(device);
        if let Some(at) = self.clocks.take_missed(id) {
            self.notify_clocks(id, at.max(now));
        }
        if self.watches.follows_devices() {
            self.check_for_changes(id);
        }
        result
    }

    /// Access of an instruction to a system register that belongs to a device: a read, or a write of `written`. Returns
    /// the value read (0 for a write), or `None` where no device has the register.
    pub fn core_register(&mut self, register: CoreRegister, written: Option<u64>, now: Ps) -> Option<u64> {
        self.with_device(self.core_registers?, now, |device, ctx| {
            let is_followed = written.is_some() && ctx.bus.store_arrives(ctx.core, ctx.id, ctx.now);
            let value = device.core_register(register, written, ctx);
            if is_followed {
                ctx.bus.store_over();
            }
            value
        })
    }

    /// The value that a read of this system register gives at `at`, if the register only counts the time
    /// ([`Device::count_at`]).
    pub fn count_at(&self, register: CoreRegister, at: Ps) -> Option<u64> {
        self.devices[self.core_registers?.0 as usize].as_ref()?.count_at(register, at)
    }

    /// Passes on the level of the interrupt of the core's performance monitors, and the time of the next look at them.
    pub fn counter_interrupt(&mut self, level: bool, look: Option<Ps>, now: Ps) {
        if let Some(id) = self.monitors {
            self.with_device(id, now, |device, ctx| device.counter_interrupt(level, look, ctx));
        }
    }

    /// Calls the board's firmware; `None` on a board without.
    pub fn firmware_call(&mut self, function: u32, parameters: [u32; 3], now: Ps) -> Option<FirmwareCall> {
        self.with_device(self.firmware?, now, |device, ctx| device.firmware_call(function, parameters, ctx))
    }

    /// True while `id` is being called: a further access to it would be recursive.
    pub fn is_busy(&self, id: DeviceId) -> bool {
        self.devices[id.0 as usize].is_none()
    }

    /// True if memories have other masters than one core: further cores, or devices.
    pub fn has_several_masters(&self) -> bool {
        self.core_irqs.len() > 1 || self.has_device_masters()
    }

    /// True if only the running core accesses memories before the next event: no other core runs, and no device is a
    /// master.
    pub fn has_memories_alone(&self) -> bool {
        self.order.is_alone() && !self.has_device_masters()
    }

    fn has_device_masters(&self) -> bool {
        self.devices.iter().flatten().any(|device| device.is_master())
    }

    /// On a board with several cores, the device that a core accesses repeatedly, and nothing else.
    pub fn polled_by(&self, core: usize) -> Option<&str> {
        const MANY: u64 = 3;
        let (device, times) = *self.asked.get(core)?;
        (times >= MANY).then(|| self.device_names[device.0 as usize].as_str())
    }

    /// Prints on the run's console.
    pub fn print(&mut self, bytes: &[u8]) {
        if self.output.print(bytes) {
            self.order.break_off(Ps::ZERO);
        }
    }

    /// Prints on the device's own line.
    pub fn print_on(&mut self, device: DeviceId, bytes: &[u8]) {
        if self.output.print_on(device, bytes) {
            self.order.break_off(Ps::ZERO);
        }
    }

    /// Records a note for the user, once for each device and text.
    pub fn note(&mut self, id: DeviceId, now: Ps, what: &str) {
        let name = &self.device_names[id.0 as usize];
        let note = self.noted.add(Some(id), what, || format!("{name}: {what} (first at {now})"));
        if let Some(note) = note.filter(|_| self.is_by_core) {
            self.access_sites.want_of_note(note);
        }
    }

    /// Records a note about the running core, once for each text, with the location of the instruction.
    pub fn note_of_core(&mut self, what: &str, line: impl FnOnce() -> String) {
        if let Some(note) = self.noted.add(None, what, line) {
            self.access_sites.want_of_note(note);
        }
    }

    /// Records an exception of the running core that the firmware's own handler received.
    pub fn note_trap(&mut self, fault: CoreFault) {
        self.traps.add(self.master.unwrap_or(0), fault);
    }

    /// Notes so far, in order of time.
    pub fn notes(&self) -> &[String] {
        self.noted.lines()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::device::{AccessResult, AccessSize, Reply};
    use crate::polling::{Poll, Polled};

    /// An interrupt controller whose output is wired to its own input.
    #[derive(crate::state::State)]
    struct Circle;

    impl Device for Circle {
        fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
            Ok(Reply::read(0, ctx.now))
        }

        fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
            Ok(Reply::written(ctx.now))
        }

        fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
            ctx.set_irq(Some(IrqLine::Device { device: ctx.id, input }), level);
        }
    }

    impl Polled for Circle {
        fn polled(&mut self, _: &mut Poll) -> bool {
            false
        }
    }

    #[test]
    fn an_interrupt_that_leads_back_to_its_controller_ends_there() {
        let mut bus = Bus { device_names: vec!["intc".into()], ..Bus::default() };
        bus.devices.push(Some(Box::new(Circle)));
        bus.set_irq(IrqLine::Device { device: DeviceId(0), input: 0 }, true, Ps::ZERO);
        assert_eq!(bus.notes(), ["intc: its interrupt leads back to itself, and goes no further (first at 0 ps)"]);
    }
}
