//! One order of several cores' accesses to devices and to shared memory.
//!
//! Cores run one after the other, each ahead of the others by up to a quantum. State that only one of them sees does
//! not depend on that. An access to a device or to shared memory, which another core may see, is therefore made only
//! when all running cores have reached its time (of two accesses at the same time, that of the core with the lower
//! index comes first): until then its instruction is postponed. A core that waits for an interrupt makes no accesses,
//! so others do not wait for it; when it is woken, the running core's permission to make accesses ends at that time.

use crate::state::{Fresh, State};
use crate::time::Ps;

/// Where a core begins, instead of at its reset vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct CoreStart {
    /// Address of its first instruction; on Arm, bit 0 selects T32.
    pub entry: u32,
    /// Value of its first register.
    pub context: u32,
}

/// A change of a core's reset line by a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct ResetChange {
    /// The core, by its index in the machine.
    pub core: usize,
    /// True if the core is held in reset from now on; false if it is released.
    pub hold: bool,
    /// Time of the change.
    pub at: Ps,
    /// Where a firmware makes it begin.
    pub start: Option<CoreStart>,
}

/// The limits of the running core, and its effects on other cores.
#[derive(Debug, State)]
pub struct Order {
    /// Accesses before this time come before all later accesses of other cores.
    until: Ps,
    /// The running core stops at this time, even if the machine has set a later one.
    cut: Ps,
    /// The running core was requested to stop at once, or at `cut`, for a reason unrelated to other cores. That happens
    /// only while it runs alone: the order of several cores must not depend on it.
    broken_off: bool,
    /// The time of the running core's access that was not in order yet.
    wanted: Option<Ps>,
    /// How far a core may run ahead of one that it wakes.
    quantum: Ps,
    /// For each core that waits for an interrupt: the time at which it was woken, if it was.
    asleep: Vec<Option<Option<Ps>>>,
    resets: Vec<ResetChange>,
    /// An idle core continues: the machine has not noticed yet.
    joined: bool,
}

impl Default for Order {
    fn default() -> Order {
        Order {
            until: Ps::MAX,
            cut: Ps::MAX,
            broken_off: false,
            wanted: None,
            quantum: Ps::MAX,
            asleep: Vec::new(),
            resets: Vec::new(),
            joined: false,
        }
    }
}

impl Order {
    /// A core begins to run; its accesses before `until` are in order.
    #[inline]
    pub fn begin(&mut self, until: Ps, quantum: Ps) {
        (self.until, self.quantum, self.cut, self.wanted) = (until, quantum, Ps::MAX, None);
        self.broken_off = false;
    }

    /// Makes the running core stop at `at` (or at once), for a reason unrelated to other cores. If other cores run, it
    /// stops within a quantum anyway.
    #[inline]
    pub fn break_off(&mut self, at: Ps) {
        if self.is_alone() {
            (self.cut, self.broken_off) = (self.cut.min(at), true);
        }
    }

    /// Takes the request of [`Order::break_off`]. True if there was one: the core has to continue then.
    #[inline]
    pub fn take_broken_off(&mut self) -> bool {
        let broken_off = std::mem::take(&mut self.broken_off);
        if broken_off {
            self.cut = Ps::MAX;
        }
        broken_off
    }

    /// True if no other core is running: the running core need not wait for others.
    #[inline(always)]
    pub fn is_alone(&self) -> bool {
        self.until == Ps::MAX
    }

    /// True if an access at `at` comes before all later accesses of other cores.
    #[inline]
    pub fn is_in_order(&self, at: Ps) -> bool {
        at < self.until
    }

    /// The first time that is too late for [`Order::is_in_order`].
    #[inline]
    pub fn until(&self) -> Ps {
        self.until
    }

    /// The running core stops before an instruction whose access at `at` is not in order yet.
    #[inline]
    pub fn want(&mut self, at: Ps) {
        self.wanted = Some(at);
    }

    /// True if it has stopped in this way.
    #[inline]
    pub fn wants(&self) -> bool {
        self.wanted.is_some()
    }

    /// Takes the time of that access; see [`Order::want`].
    #[inline]
    pub fn take_wanted(&mut self) -> Option<Ps> {
        self.wanted.take()
    }

    /// The time at which the running core has to stop at the latest.
    #[inline]
    pub fn cut(&self) -> Ps {
        self.cut
    }

    /// From now on, core number `core` waits for an interrupt.
    #[inline]
    pub fn sleeps(&mut self, core: usize) {
        if self.asleep.len() <= core {
            self.asleep.resize(core + 1, None);
        }
        self.asleep[core] = Some(None);
    }

    /// An interrupt input of `core` goes up at `at`. If the core waits, it continues from there; the running core must
    /// not run far ahead of it.
    #[inline]
    pub fn wake(&mut self, core: usize, at: Ps) {
        if let Some(Some(woken)) = self.asleep.get_mut(core) {
            let first = woken.is_none_or(|earlier| at < earlier);
            if first {
                *woken = Some(at);
                self.join(at);
            }
        }
    }

    /// The time at which `core` was woken, if it was: it no longer sleeps then.
    #[inline]
    pub fn take_woken(&mut self, core: usize) -> Option<Ps> {
        let at = self.asleep.get(core).copied().flatten().flatten()?;
        self.asleep[core] = None;
        Some(at)
    }

    /// `core` no longer sleeps, whether it was woken or not.
    #[inline]
    pub fn wakes(&mut self, core: usize) {
        if let Some(asleep) = self.asleep.get_mut(core) {
            *asleep = None;
        }
    }

    /// A device holds a core in reset or releases it.
    #[inline]
    pub fn change_reset(&mut self, change: ResetChange) {
        self.resets.push(change);
        self.join(change.at);
    }

    /// The changes of reset lines since the last call.
    #[inline]
    pub fn take_resets(&mut self) -> Vec<ResetChange> {
        std::mem::take(&mut self.resets)
    }

    /// True if a core was woken, or a reset line changed, since the last call.
    #[inline]
    pub fn take_joined(&mut self) -> bool {
        std::mem::take(&mut self.joined)
    }

    /// Another core continues from `at`.
    fn join(&mut self, at: Ps) {
        self.joined = true;
        self.until = self.until.min(at);
        if std::mem::take(&mut self.broken_off) {
            self.cut = Ps::MAX;
        }
        self.cut = self.cut.min(at.saturating_add(self.quantum));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_that_is_woken_bounds_the_one_that_runs() {
        let mut order = Order::default();
        order.sleeps(1);
        order.begin(Ps::MAX, Ps(1000));
        assert!(order.is_alone() && order.is_in_order(Ps(1 << 40)));
        order.wake(0, Ps(3000));
        assert!(order.is_alone(), "it already runs");
        order.wake(1, Ps(5000));
        order.wake(1, Ps(7000));
        assert_eq!((order.until(), order.cut()), (Ps(5000), Ps(6000)));
        assert!(order.is_in_order(Ps(4999)) && !order.is_in_order(Ps(5000)));
        assert_eq!((order.take_woken(1), order.take_woken(1)), (Some(Ps(5000)), None));
    }

    #[test]
    fn only_a_core_that_is_alone_is_broken_off() {
        let mut order = Order::default();
        order.sleeps(1);
        order.begin(Ps::MAX, Ps(1000));
        order.break_off(Ps(9000));
        order.break_off(Ps::ZERO);
        assert_eq!((order.cut(), order.take_broken_off(), order.cut()), (Ps::ZERO, true, Ps::MAX));
        order.break_off(Ps(5500));
        order.wake(1, Ps(5000));
        assert_eq!((order.cut(), order.take_broken_off()), (Ps(6000), false));
        order.break_off(Ps::ZERO);
        assert_eq!((order.cut(), order.take_broken_off()), (Ps(6000), false));
    }

    #[test]
    fn a_core_that_is_let_go_bounds_the_one_that_runs() {
        let mut order = Order::default();
        order.begin(Ps::MAX, Ps(1000));
        order.change_reset(ResetChange { core: 1, hold: false, at: Ps(5000), start: None });
        assert_eq!((order.until(), order.cut()), (Ps(5000), Ps(6000)));
        assert_eq!(order.take_resets().len(), 1);
        assert_eq!(order.take_resets(), []);
    }
}
