//! Clocks that firmware changes: their rates, their users, and the gates of peripherals' clocks and their resets.
//!
//! A clock of a board is a node. Most are fixed: their users take the rate from the node. A clock controller drives the
//! others. It derives the rate of each from its registers, and reports changes here
//! ([`crate::bus::device::Ctx::set_clocks`]). Cores, buses, memories and devices on that clock follow from that time
//! on. Every clock has an edge at time 0 at whatever rate it runs, so a change adds no error to any time.
//!
//! A clock whose source is off has stopped: its controller reports that, with a reason for the user ([`Clocks::stop`]).
//! Devices follow that like a new rate.

use std::collections::{BTreeMap, BTreeSet};

use crate::dt::wiring::{ClockId, ClockInput, DeviceId};
use crate::state::{Fresh, State};
use crate::time::{Hz, Ps};

/// A user of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum User {
    /// A core, by its index in the machine.
    Core(usize),
    /// An interconnect, by its index in the bus.
    Route(usize),
    /// A memory, by its index in the bus.
    Ram(usize),
    /// A device.
    Device(DeviceId),
}

/// A change that cores, interconnects and memories have yet to follow: they do so between two instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Change {
    /// The user.
    pub user: User,
    /// The time from which the new rate holds.
    pub at: Ps,
    /// The new rate.
    pub rate: Hz,
}

/// Sent to devices whose clock has stopped, or whose gate changed: they look up the rate themselves.
const NO_RATE: Hz = Hz::new(1).expect("it is not 0");

/// The rates and gates that clock controllers have set.
#[derive(Clone, Debug, Default, State)]
pub struct Clocks {
    rates: BTreeMap<ClockId, Hz>,
    #[state(skip)]
    users: BTreeMap<ClockId, Vec<User>>,
    gates: BTreeMap<u32, u32>,
    /// Gates that were opened recently, by register and bits, with the time from which the clock runs.
    opening: Vec<(u32, u32, Ps)>,
    /// The latest time in `opening`.
    opening_until: Ps,
    /// By the registers of the gates: the peripherals that are held in reset.
    resets: BTreeMap<u32, u32>,
    /// Devices that follow a gate and its reset: its register and bit.
    #[state(skip)]
    gate_users: Vec<(u32, u32, DeviceId)>,
    /// Devices whose gate or reset has been opened or closed since they were notified last.
    gated: BTreeSet<DeviceId>,
    stopped: BTreeMap<ClockId, Option<String>>,
    /// Clocks that stopped since devices were notified last.
    unreported: BTreeSet<ClockId>,
    /// Devices that could not be notified at once since they were being called, and the time of the change: they are
    /// notified when the call returns.
    missed: BTreeMap<DeviceId, Ps>,
    pending: Vec<Change>,
}

impl Clocks {
    /// Adds a user of a clock: it is notified of changes.
    #[inline]
    pub fn add_user(&mut self, clock: ClockId, user: User) {
        self.users.entry(clock).or_default().push(user);
    }

    /// The rate of a clock now.
    #[inline]
    pub fn rate_of(&self, clock: ClockInput) -> Hz {
        clock.id.and_then(|id| self.rates.get(&id).copied()).unwrap_or(clock.rate)
    }

    /// Stops a clock until a rate is set again. `why` names its source and the reason that it is off, for a note, as
    /// "HSI16, which is off (RCC_CR.HSION)"; `None` where the clock starts by itself, as that of a PLL that has yet to
    /// lock. Its users are notified with the next rates that are set.
    #[inline]
    pub fn stop(&mut self, clock: ClockId, why: Option<String>) {
        if self.stopped.insert(clock, why).is_none() {
            self.unreported.insert(clock);
        }
    }

    /// True if a clock has stopped.
    #[inline]
    pub fn is_stopped(&self, clock: ClockInput) -> bool {
        clock.id.is_some_and(|id| self.stopped.contains_key(&id))
    }

    /// Why a clock has stopped until firmware does something; `None` if it runs or will start by itself.
    #[inline]
    pub fn stopped_by(&self, clock: ClockInput) -> Option<&str> {
        self.stopped.get(&clock.id?)?.as_deref()
    }

    /// Updates a user's rate of a clock.
    #[inline]
    pub fn update(&self, clock: &mut ClockInput) {
        clock.rate = self.rate_of(*clock);
    }

    /// Sets rates. Returns the users of clocks whose rate is new or was not reported before, with the rate, and devices
    /// whose clock has stopped.
    pub(crate) fn change(&mut self, rates: &[(ClockId, Hz)]) -> Vec<(User, Hz)> {
        let mut followers = Vec::new();
        for (clock, rate) in rates {
            let starts = self.stopped.remove(clock).is_some();
            if self.rates.insert(*clock, *rate) != Some(*rate) || starts {
                let users = self.users.get(clock).into_iter().flatten();
                followers.extend(users.map(|user| (*user, *rate)));
            }
        }
        for clock in std::mem::take(&mut self.unreported) {
            let devices = self.users.get(&clock).into_iter().flatten().filter(|user| matches!(user, User::Device(_)));
            followers.extend(devices.map(|user| (*user, NO_RATE)));
        }
        followers.extend(std::mem::take(&mut self.gated).into_iter().map(|device| (User::Device(device), NO_RATE)));
        followers.sort_by_key(|(user, _)| *user);
        followers
    }

    /// Notifies a device when its present call has returned.
    pub(crate) fn notify_later(&mut self, device: DeviceId, at: Ps) {
        self.missed.insert(device, at);
    }

    /// The time of a change that a device has missed and has to be notified of as its call returns, if any.
    #[inline(always)]
    pub(crate) fn take_missed(&mut self, device: DeviceId) -> Option<Ps> {
        if self.missed.is_empty() { None } else { self.missed.remove(&device) }
    }

    /// Adds a change that the machine has to apply.
    pub(crate) fn add_pending(&mut self, change: Change) {
        self.pending.push(change);
    }

    /// True if there are changes that the machine has to apply before the next instruction.
    #[inline(always)]
    pub fn are_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Takes those changes, in their order.
    #[inline]
    pub fn take_pending(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.pending)
    }

    /// Sets the gates of a register, by its offset in the clock controller: bit n lets clock n of that register run.
    /// Devices that follow one of them are notified with the next rates that are set.
    #[inline]
    pub fn set_gates(&mut self, register: u32, open: u32) {
        let changed = self.gates.insert(register, open).unwrap_or(u32::MAX) ^ open;
        let users = self.gate_users.iter().filter(|(of, bit, _)| *of == register && changed >> bit & 1 != 0);
        self.gated.extend(users.map(|(_, _, device)| *device));
    }

    /// Opens gates of a register now; their peripherals have a clock from `from` on.
    #[inline]
    pub fn open_from(&mut self, register: u32, bits: u32, from: Ps, now: Ps) {
        self.opening.retain(|(.., from)| *from > now);
        self.opening.push((register, bits, from));
        self.opening_until = self.opening_until.max(from);
    }

    /// Firmware has waited for the gates of a register, as by a read of it.
    #[inline]
    pub fn opened(&mut self, register: u32) {
        self.opening.retain(|(known, ..)| *known != register);
    }

    /// The time from which an open gate lets the clock through, if that is after `now`.
    #[inline]
    pub fn opens_at(&self, register: u32, bit: u32, now: Ps) -> Option<Ps> {
        if now >= self.opening_until {
            return None;
        }
        let is_it = |(known, bits, from): &&(u32, u32, Ps)| *known == register && bits >> bit & 1 != 0 && *from > now;
        self.opening.iter().find(is_it).map(|(.., from)| *from)
    }

    /// Holds peripherals in reset, by the register and bits of their gates. Devices that follow them are notified with
    /// the next rates that are set. Returns the bits of peripherals that are newly in reset and that no device follows.
    #[inline]
    pub fn set_resets(&mut self, register: u32, held: u32) -> u32 {
        let changed = self.resets.insert(register, held).unwrap_or(0) ^ held;
        let mut unknown = changed & held;
        for (_, bit, device) in self.gate_users.iter().filter(|(of, ..)| *of == register) {
            unknown &= !(1 << bit);
            if changed >> bit & 1 != 0 {
                self.gated.insert(*device);
            }
        }
        unknown
    }

    /// True if the peripheral of a gate is held in reset.
    #[inline]
    pub fn is_reset(&self, register: u32, bit: u32) -> bool {
        self.resets.get(&register).is_some_and(|held| held >> bit & 1 != 0)
    }

    /// Notifies a device, as of a change of its clock's rate, whenever a gate is opened or closed, or its peripheral is
    /// reset.
    #[inline]
    pub fn follow_gate(&mut self, register: u32, bit: u32, device: DeviceId) {
        self.gate_users.push((register, bit, device));
    }

    /// True unless a controller keeps the clock from running.
    #[inline]
    pub fn is_running(&self, register: u32, bit: u32) -> bool {
        self.gates.get(&register).is_none_or(|open| open >> bit & 1 != 0)
    }
}
