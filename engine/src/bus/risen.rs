//! Since when interrupt lines are up, and which device raised them: how late a core takes an interrupt. Kept only for
//! profiles.

use std::collections::BTreeMap;

use crate::bus::device::{DeviceId, IrqLine};
use crate::state::{Fresh, State};
use crate::time::Ps;

/// Controllers one behind the other.
const MOST_CONTROLLERS: usize = 4;

/// A line that is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
struct Up {
    since: Ps,
    by: DeviceId,
    /// A core has taken an interrupt of it.
    taken: bool,
}

/// Lines that are up.
#[derive(Clone, Debug, Default, State)]
pub struct Risen {
    is_on: bool,
    up: BTreeMap<IrqLine, Up>,
}

impl Risen {
    /// Lines are followed from now on.
    pub fn start(&mut self) {
        self.is_on = true;
    }

    /// A device drives a line to this level.
    #[inline]
    pub fn set(&mut self, line: IrqLine, by: DeviceId, level: bool, now: Ps) {
        if !self.is_on {
            return;
        }
        if level {
            self.up.entry(line).or_insert(Up { since: now, by, taken: false });
        } else {
            self.up.remove(&line);
        }
    }

    /// A core takes the interrupt at an input: since when that waits, and the device that raised it. Behind a
    /// controller it is the line that went up last of those whose interrupt has not been taken.
    pub fn take(&mut self, core: u32, bit: u32) -> Option<(Ps, DeviceId)> {
        let own = IrqLine::Core { core, bit };
        let mut found = *self.up.get(&own)?;
        let mut line = own;
        for _ in 0..MOST_CONTROLLERS {
            let behind = |(line, up): &(&IrqLine, &Up)| {
                matches!(line, IrqLine::Device { device, .. } if *device == found.by) && !up.taken
            };
            let Some((next, up)) = self.up.iter().filter(behind).max_by_key(|(_, up)| up.since) else { break };
            (line, found) = (*next, *up);
        }
        if let Some(up) = self.up.get_mut(&line) {
            up.taken = true;
        }
        Some((found.since, found.by))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: IrqLine = IrqLine::Core { core: 0, bit: 0 };

    fn input(input: u32) -> IrqLine {
        IrqLine::Device { device: DeviceId(9), input }
    }

    #[test]
    fn an_interrupt_behind_a_controller_is_the_devices() {
        let mut risen = Risen::default();
        risen.start();
        risen.set(input(3), DeviceId(1), true, Ps(100));
        risen.set(CORE, DeviceId(9), true, Ps(110));
        risen.set(input(4), DeviceId(2), true, Ps(150));
        assert_eq!(risen.take(0, 0), Some((Ps(150), DeviceId(2))));
        assert_eq!(risen.take(0, 0), Some((Ps(100), DeviceId(1))));
        // What has been taken, and is still up, is no reason.
        assert_eq!(risen.take(0, 0), Some((Ps(110), DeviceId(9))));
        risen.set(input(4), DeviceId(2), false, Ps(200));
        risen.set(input(4), DeviceId(2), true, Ps(300));
        assert_eq!(risen.take(0, 0), Some((Ps(300), DeviceId(2))));
        assert_eq!(risen.take(1, 0), None);
    }
}
