//! Clocks that firmware changes: their rates, who runs by them, and the gates of peripherals' clocks and their resets.
//!
//! A clock of a board is a node. Most are fixed, and who runs by one has its rate from there. A clock controller drives
//! others: it works out from its registers at what rate each of them runs, and tells here when that changes
//! ([`crate::bus::device::Ctx::set_clocks`]). Cores, buses, memories and devices that run by it follow from that time
//! on. Every clock has an edge at time 0 at whatever rate it runs, so a change adds no error to any time.
//!
//! A clock whose source is off has stopped: its controller tells so, with what the user should know of it
//! ([`Clocks::stop`]). Devices follow that as they do a new rate.

use std::collections::{BTreeMap, BTreeSet};

use crate::dt::wiring::{ClockId, ClockInput, DeviceId};
use crate::state::{Fresh, State};
use crate::time::{Hz, Ps};

/// Who runs by a clock.
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
    /// Who.
    pub user: User,
    /// From when on.
    pub at: Ps,
    /// The new rate.
    pub rate: Hz,
}

/// Told to devices whose clock has stopped, or whose gate changed: they look up the rate themselves.
const NO_RATE: Hz = Hz::new(1).expect("it is not 0");

/// The rates and gates that clock controllers have set.
#[derive(Clone, Debug, Default, State)]
pub struct Clocks {
    rates: BTreeMap<ClockId, Hz>,
    #[state(skip)]
    users: BTreeMap<ClockId, Vec<User>>,
    gates: BTreeMap<u32, u32>,
    /// Gates that were opened a moment ago, by register and bits, with the time from which on the clock is there.
    opening: Vec<(u32, u32, Ps)>,
    /// The last of these times.
    opening_until: Ps,
    /// By the registers of the gates: which peripherals are held in reset.
    resets: BTreeMap<u32, u32>,
    /// Devices that follow a gate and its reset: its register and bit.
    #[state(skip)]
    gate_users: Vec<(u32, u32, DeviceId)>,
    /// Those whose gate or reset has been opened or closed since they were told last.
    gated: BTreeSet<DeviceId>,
    stopped: BTreeMap<ClockId, Option<String>>,
    /// Those that stopped since devices were told last.
    unreported: BTreeSet<ClockId>,
    /// Devices that were being called when they were to be told, and since when: they are told as the call returns.
    missed: BTreeMap<DeviceId, Ps>,
    pending: Vec<Change>,
}

impl Clocks {
    /// `user` runs by a clock, from which it is told of changes.
    pub fn add_user(&mut self, clock: ClockId, user: User) {
        self.users.entry(clock).or_default().push(user);
    }

    /// The rate of a clock now.
    pub fn rate_of(&self, clock: ClockInput) -> Hz {
        clock.id.and_then(|id| self.rates.get(&id).copied()).unwrap_or(clock.rate)
    }

    /// A clock does not run until a rate is set anew. `why` names its source and what keeps that off, for a note, as
    /// "HSI16, which is off (RCC_CR.HSION)"; `None` where it comes by itself, as that of a PLL that has yet to lock.
    /// Who runs by it is told with the next rates that are set.
    pub fn stop(&mut self, clock: ClockId, why: Option<String>) {
        if self.stopped.insert(clock, why).is_none() {
            self.unreported.insert(clock);
        }
    }

    /// True if a clock has stopped.
    pub fn is_stopped(&self, clock: ClockInput) -> bool {
        clock.id.is_some_and(|id| self.stopped.contains_key(&id))
    }

    /// What keeps a clock from running for good, until firmware does something.
    pub fn stopped_by(&self, clock: ClockInput) -> Option<&str> {
        self.stopped.get(&clock.id?)?.as_deref()
    }

    /// Brings a consumer's rate of a clock up to date.
    pub fn update(&self, clock: &mut ClockInput) {
        clock.rate = self.rate_of(*clock);
    }

    /// Sets rates. Gives those who run by a clock whose rate was not told before or is another one now, with the
    /// rate, and devices whose clock has stopped.
    pub(crate) fn change(&mut self, rates: &[(ClockId, Hz)]) -> Vec<(User, Hz)> {
        let mut reported = Vec::new();
        for (clock, rate) in rates {
            let starts = self.stopped.remove(clock).is_some();
            if self.rates.insert(*clock, *rate) != Some(*rate) || starts {
                let users = self.users.get(clock).into_iter().flatten();
                reported.extend(users.map(|user| (*user, *rate)));
            }
        }
        for clock in std::mem::take(&mut self.unreported) {
            let devices = self.users.get(&clock).into_iter().flatten().filter(|user| matches!(user, User::Device(_)));
            reported.extend(devices.map(|user| (*user, NO_RATE)));
        }
        reported.extend(std::mem::take(&mut self.gated).into_iter().map(|device| (User::Device(device), NO_RATE)));
        reported.sort_by_key(|(user, _)| *user);
        reported
    }

    /// A device is to be told when the call that it is in has returned.
    pub(crate) fn report_later(&mut self, device: DeviceId, at: Ps) {
        self.missed.insert(device, at);
    }

    /// Since when a device whose call returns is to be told, if it is.
    #[inline(always)]
    pub(crate) fn take_missed(&mut self, device: DeviceId) -> Option<Ps> {
        if self.missed.is_empty() { None } else { self.missed.remove(&device) }
    }

    /// The machine has to have someone follow.
    pub(crate) fn add_pending(&mut self, change: Change) {
        self.pending.push(change);
    }

    /// True if there are changes that the machine has to bring in before the next instruction.
    #[inline(always)]
    pub fn are_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Those changes, in their order, and forgets them.
    pub fn take_pending(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.pending)
    }

    /// The gates of a register, by its offset in the clock controller: bit n lets clock n of that register run.
    /// Devices that follow one of them are told with the next rates that are set.
    pub fn set_gates(&mut self, register: u32, open: u32) {
        let changed = self.gates.insert(register, open).unwrap_or(u32::MAX) ^ open;
        let users = self.gate_users.iter().filter(|(of, bit, _)| *of == register && changed >> bit & 1 != 0);
        self.gated.extend(users.map(|(_, _, device)| *device));
    }

    /// Gates of a register are opened now; what is behind them has its clock from `from` on.
    pub fn open_from(&mut self, register: u32, bits: u32, from: Ps, now: Ps) {
        self.opening.retain(|(.., from)| *from > now);
        self.opening.push((register, bits, from));
        self.opening_until = self.opening_until.max(from);
    }

    /// Firmware has waited for the gates of a register, as by a read of it.
    pub fn opened(&mut self, register: u32) {
        self.opening.retain(|(known, ..)| *known != register);
    }

    /// Until when an open gate has yet to let the clock through, where that is after `now`.
    #[inline]
    pub fn opens_at(&self, register: u32, bit: u32, now: Ps) -> Option<Ps> {
        if now >= self.opening_until {
            return None;
        }
        let is_it = |(known, bits, from): &&(u32, u32, Ps)| *known == register && bits >> bit & 1 != 0 && *from > now;
        self.opening.iter().find(is_it).map(|(.., from)| *from)
    }

    /// Holds peripherals in reset, by the register and bits of their gates. Devices that follow these are told with the
    /// next rates that are set. Gives those that are to be reset from now on and that no device follows.
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

    /// True if the peripheral behind a gate is held in reset.
    pub fn is_reset(&self, register: u32, bit: u32) -> bool {
        self.resets.get(&register).is_some_and(|held| held >> bit & 1 != 0)
    }

    /// A device is to be told where a gate is opened or closed, or what is behind it is reset, as of a rate that
    /// changes.
    pub fn follow_gate(&mut self, register: u32, bit: u32, device: DeviceId) {
        self.gate_users.push((register, bit, device));
    }

    /// True unless a controller keeps the clock from running.
    pub fn is_running(&self, register: u32, bit: u32) -> bool {
        self.gates.get(&register).is_none_or(|open| open >> bit & 1 != 0)
    }
}
