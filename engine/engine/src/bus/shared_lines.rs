//! Interrupt lines that several devices drive: such a line is up while any of them holds it up.

use std::collections::{BTreeMap, BTreeSet};

use crate::dt::wiring::{DeviceId, IrqLine};
use crate::state::State;

/// The devices that drive each shared line.
#[derive(Clone, Debug, Default, State)]
pub struct SharedLines {
    #[state(skip)]
    drivers: BTreeMap<IrqLine, BTreeSet<DeviceId>>,
    /// The devices that hold it up.
    up: BTreeMap<IrqLine, BTreeSet<DeviceId>>,
}

impl SharedLines {
    /// Adds lines that a device drives. The board is read device by device; [`SharedLines::keep_shared`] completes
    /// that.
    #[inline]
    pub fn add(&mut self, lines: impl IntoIterator<Item = IrqLine>, device: DeviceId) {
        for line in lines {
            self.drivers.entry(line).or_default().insert(device);
        }
    }

    /// Drops lines with one driver: their level is the driver's.
    #[inline]
    pub fn keep_shared(&mut self) {
        self.drivers.retain(|_, drivers| drivers.len() > 1);
    }

    /// The new level of a line that `device` drives to `level`.
    #[inline]
    pub fn level(&mut self, line: IrqLine, device: DeviceId, level: bool) -> bool {
        if self.drivers.is_empty() || !self.drivers.contains_key(&line) {
            return level;
        }
        let up = self.up.entry(line).or_default();
        if level {
            up.insert(device);
        } else {
            up.remove(&device);
        }
        !up.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_line_is_up_while_anyone_holds_it_up() {
        let [one, other] = [DeviceId(1), DeviceId(2)];
        let [shared, own] = [24, 25].map(|bit| IrqLine::Core { core: 0, bit });
        let mut lines = SharedLines::default();
        lines.add([shared, own], one);
        lines.add([shared], other);
        lines.keep_shared();
        let reported = [(one, true), (other, true), (one, false), (one, false), (other, false), (other, false)];
        let levels = reported.map(|(device, level)| lines.level(shared, device, level));
        assert_eq!(levels, [true, true, true, true, false, false]);
        // No other device drives this one.
        assert!(lines.level(own, one, true));
        assert!(!lines.level(own, one, false));
    }
}
