//! Reports of waits.

use super::sharing::Waited;
use crate::activity::{Kind, Track};
use crate::bus::Bus;
use crate::cpu::isa::CauseNames;
use crate::cpu::memory_system::Accounts;
use crate::observe::waits::{ASLEEP, HELD, WaitedFor};
use crate::time::{Hz, Ps};

/// Names for reports of waits.
pub struct Reporter<'a> {
    bus: &'a Bus,
    causes: &'a CauseNames,
    /// Names of the sums of [`Accounts`].
    accounts: Vec<String>,
    tracks: Vec<Track>,
}

impl<'a> Reporter<'a> {
    /// A reporter with the names of a core's causes.
    pub fn new(bus: &'a Bus, causes: &'a CauseNames) -> Reporter<'a> {
        Reporter { bus, causes, accounts: Accounts::names(bus), tracks: bus.activities.tracks() }
    }

    /// The report of waits; the core's clock has this rate.
    pub fn reported(&self, waited: &Waited, rate: Hz) -> WaitedFor {
        let device = |(device, time): (&u32, &u64)| (looked_at(self.bus, *device), Ps(*time));
        let accesses = waited.memory.named(&self.accounts).into_iter().filter(|(_, cycles)| cycles.0 > 0);
        let names = self.causes;
        let own = [
            names.issue,
            names.operand_wait,
            names.long_operation,
            names.jump,
            names.mispredicted,
            names.annulled,
            names.exceptions,
            names.idle,
            // For the core that is sleep, too.
            HELD,
        ];
        WaitedFor {
            activities: waited.named(&self.tracks),
            looking: waited.looking.iter().map(device).collect(),
            asleep: waited.sleeps(),
            accesses: accesses.collect(),
            rate,
            own: own.to_vec(),
        }
    }
}

impl Waited {
    /// The activities in the waits: name, kind, and time.
    fn named(&self, tracks: &[Track]) -> Vec<(String, Kind, Ps)> {
        let activity = |(track, time): (&u32, &u64)| {
            let track = &tracks[*track as usize];
            (format!("{}: {}", track.scope, track.activity.name), track.activity.kind, Ps(*time))
        };
        summed(self.activities.iter().map(activity))
    }

    /// All waits by name, in the form of a stack.
    pub fn rows(&self, bus: &Bus) -> Vec<(String, Ps)> {
        let looking = self.looking.iter().map(|(device, time)| (looked_at(bus, *device), Ps(*time)));
        let activities = self.named(&bus.activities.tracks()).into_iter().map(|(name, _, time)| (name, time));
        let rows = activities.chain(looking).chain(self.sleeps());
        rows.filter(|(_, time)| *time > Ps::ZERO).collect()
    }

    fn sleeps(&self) -> Vec<(String, Ps)> {
        let name = |by: &str| if by.is_empty() { ASLEEP.to_owned() } else { format!("{by}: interrupt awaited") };
        self.asleep.iter().map(|(by, time)| (name(by), Ps(*time))).collect()
    }
}

fn looked_at(bus: &Bus, device: u32) -> String {
    format!("{}: looked at", bus.device_names[device as usize])
}

/// Parts of a device share a name.
fn summed(named: impl Iterator<Item = (String, Kind, Ps)>) -> Vec<(String, Kind, Ps)> {
    let mut sums: Vec<(String, Kind, Ps)> = Vec::new();
    for (name, kind, time) in named {
        match sums.iter_mut().find(|(known, ..)| *known == name) {
            Some((.., sum)) => *sum += time,
            None => sums.push((name, kind, time)),
        }
    }
    sums
}
