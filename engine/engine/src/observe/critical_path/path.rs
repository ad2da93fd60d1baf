//! A path's sums.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::dt::wiring::DeviceId;
use crate::state::{Fresh, State};
use crate::time::Ps;

/// Stays that are kept: the longest.
const MOST_STAYS: usize = 20;

/// A core's activity on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum What {
    /// It waits for an activity of a device, by its track.
    Activity(u32),
    /// It looks at a device without a known activity, by its number.
    Looking(u32),
    /// It sleeps while no known activity takes place: the place of a device's label ([`super::Paths::label`]).
    Asleep(u32),
    /// None of those.
    Work,
}

/// How a path changed to a core that slept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Entered {
    /// The core whose store had it woken.
    pub from: u32,
    /// The device that was stored to.
    pub device: DeviceId,
    /// How long it had slept.
    pub held: Ps,
    /// When the sleep began.
    pub since: Ps,
}

/// All sleeps of a core that stores of one other core to one device ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Sleeps {
    pub times: u64,
    pub held: Ps,
    pub longest: Ps,
    pub longest_from: Ps,
}

/// A stay on one core.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Stay {
    pub core: u32,
    pub begin: Ps,
    pub end: Ps,
    pub rows: BTreeMap<What, u64>,
}

impl Stay {
    /// The cause that took most of it, and its time.
    pub fn mostly(&self) -> (What, Ps) {
        let longest = self.rows.iter().max_by_key(|(what, time)| (**time, Reverse(**what)));
        longest.map_or((What::Work, Ps::ZERO), |(what, time)| (*what, Ps(*time)))
    }
}

/// A piece of a path: some time of one core.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Piece {
    pub core: u32,
    pub begin: Ps,
    pub end: Ps,
    /// Picoseconds that the core waited, by cause.
    pub waits: BTreeMap<What, u64>,
    /// Set if the path comes from another core.
    pub entered: Option<Entered>,
}

impl Piece {
    /// All of its time by cause. Edges of clocks are not whole picoseconds, so waits may be a little longer than the
    /// piece; the longest are cut then.
    fn rows(&self) -> BTreeMap<What, u64> {
        let mut rows = self.waits.clone();
        let (length, waited) = ((self.end - self.begin).0, rows.values().sum::<u64>());
        let mut excess = waited.saturating_sub(length);
        while excess > 0 {
            let Some(longest) = rows.values_mut().max().filter(|time| **time > 0) else { break };
            let cut = excess.min(*longest);
            (*longest, excess) = (*longest - cut, excess - cut);
        }
        rows.insert(What::Work, length.saturating_sub(waited));
        rows.retain(|_, time| *time > 0);
        rows
    }
}

/// A path from time 0 on, reduced to its sums and longest stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Path {
    /// Picoseconds by core and cause.
    pub rows: BTreeMap<(u32, What), u64>,
    /// By the core that was waited for, the core that waited, and the device.
    pub hand_overs: BTreeMap<(u32, u32, DeviceId), Sleeps>,
    /// The longest finished stays, in no order.
    stays: Vec<Stay>,
    /// The current stay.
    stay: Option<Stay>,
}

impl Path {
    /// Extends the path by this piece.
    pub fn go_on(&mut self, piece: &Piece) {
        let rows = piece.rows();
        for (what, time) in &rows {
            *self.rows.entry((piece.core, *what)).or_default() += time;
        }
        if let Some(entered) = piece.entered {
            let sleeps = self.hand_overs.entry((entered.from, piece.core, entered.device)).or_default();
            sleeps.times += 1;
            sleeps.held += entered.held;
            if entered.held > sleeps.longest {
                (sleeps.longest, sleeps.longest_from) = (entered.held, entered.since);
            }
        }
        match &mut self.stay {
            Some(stay) if stay.core == piece.core => {
                stay.end = piece.end;
                rows.into_iter().for_each(|(what, time)| *stay.rows.entry(what).or_default() += time);
            }
            _ => {
                let over = self.stay.replace(Stay { core: piece.core, begin: piece.begin, end: piece.end, rows });
                self.keep(over);
            }
        }
    }

    fn keep(&mut self, stay: Option<Stay>) {
        self.stays.extend(stay);
        if self.stays.len() > MOST_STAYS {
            // Of equal stays, the first are kept.
            let shortest =
                self.stays.iter().enumerate().min_by_key(|(_, stay)| (stay.end - stay.begin, Reverse(stay.begin)));
            let shortest = shortest.map_or(0, |(place, _)| place);
            self.stays.swap_remove(shortest);
        }
    }

    /// The longest stays, in the order of time.
    pub fn into_stays(mut self) -> Vec<Stay> {
        let last = self.stay.take();
        self.keep(last);
        self.stays.sort_by_key(|stay| stay.begin);
        self.stays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(core: u32, (begin, end): (u64, u64), waits: &[(What, u64)]) -> Piece {
        Piece { core, begin: Ps(begin), end: Ps(end), waits: waits.iter().copied().collect(), entered: None }
    }

    #[test]
    fn a_piece_is_all_of_its_time() {
        let mut path = Path::default();
        path.go_on(&piece(0, (0, 100), &[(What::Activity(3), 60)]));
        path.go_on(&piece(0, (100, 150), &[(What::Activity(3), 40), (What::Looking(1), 30)]));
        let rows: Vec<_> = path.rows.clone().into_iter().collect();
        let expected = [((0, What::Activity(3)), 80), ((0, What::Looking(1)), 30), ((0, What::Work), 40)];
        assert_eq!(rows, expected);
        let stays = path.into_stays();
        assert_eq!((stays.len(), stays[0].begin, stays[0].end), (1, Ps(0), Ps(150)));
        assert_eq!(stays[0].mostly(), (What::Activity(3), Ps(80)));
    }

    #[test]
    fn the_longest_stays_are_kept() {
        let mut path = Path::default();
        let (mut at, mut kept) = (0, Vec::new());
        for number in 0..100 {
            let length = 1 + number * 37 % 50;
            path.go_on(&piece(number as u32 % 2, (at, at + length), &[]));
            kept.push((length, Reverse(at)));
            at += length;
        }
        kept.sort_unstable();
        let mut begins: Vec<u64> = kept.iter().rev().take(MOST_STAYS).map(|(_, begin)| begin.0).collect();
        begins.sort_unstable();
        assert_eq!(path.into_stays().iter().map(|stay| stay.begin.0).collect::<Vec<_>>(), begins);
    }
}
