//! One order of what several cores do to devices and to memory that they share.
//!
//! Cores run one after the other, each ahead of the others by up to a quantum. What only one of them sees does not
//! depend on that. An access that another may see, to a device or to shared memory, is therefore made only when no
//! other core that runs is behind it in time (of two at the same time, the core with the lower index comes first):
//! until then its instruction is left for later. A core that waits for an interrupt makes no accesses, so nobody has to
//! wait for it; when it is woken, what the running core may do ends there.

use crate::state::{Fresh, State};
use crate::time::Ps;

/// A core's reset line, as a device drives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct ResetChange {
    /// The core, by its index in the machine.
    pub core: usize,
    /// Held in reset from now on; else let go.
    pub hold: bool,
    /// When.
    pub at: Ps,
}

/// What the running core may do before others have come as far, and what it did to them.
#[derive(Debug, State)]
pub struct Order {
    /// Accesses before this time come before all that other cores will do.
    until: Ps,
    /// The running core's time ends here, though the machine may have said later.
    cut: Ps,
    /// The running core was told to come back at once, or at `cut`, for a reason that has nothing to do with other
    /// cores. That happens only while it is alone: which of several runs next must not depend on it.
    broken_off: bool,
    /// When the running core wanted to make an access that was not its turn.
    wanted: Option<Ps>,
    /// How far a core may run ahead of one that it wakes.
    quantum: Ps,
    /// For each core that waits for an interrupt: when it was roused, if it was.
    asleep: Vec<Option<Option<Ps>>>,
    resets: Vec<ResetChange>,
    /// A core that was idle goes on: the machine has not looked yet.
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
    /// A core begins to run that may access anything before `until`.
    pub fn begin(&mut self, until: Ps, quantum: Ps) {
        (self.until, self.quantum, self.cut, self.wanted) = (until, quantum, Ps::MAX, None);
        self.broken_off = false;
    }

    /// The running core comes back to the machine at `at` (or at once), for something that has nothing to do with other
    /// cores. One that is not alone does so anyway within a quantum.
    pub fn break_off(&mut self, at: Ps) {
        if self.is_alone() {
            (self.cut, self.broken_off) = (self.cut.min(at), true);
        }
    }

    /// True if the core may have come back because of [`Order::break_off`], which is then forgotten: it has to run on.
    pub fn take_broken_off(&mut self) -> bool {
        let broken_off = std::mem::take(&mut self.broken_off);
        if broken_off {
            self.cut = Ps::MAX;
        }
        broken_off
    }

    /// True if no other core is running: nobody has to be waited for.
    #[inline(always)]
    pub fn is_alone(&self) -> bool {
        self.until == Ps::MAX
    }

    /// True if an access at `at` comes before all that other cores will do.
    #[inline]
    pub fn is_turn(&self, at: Ps) -> bool {
        at < self.until
    }

    /// See [`Order::is_turn`]: the first time that is too late.
    pub fn until(&self) -> Ps {
        self.until
    }

    /// The running core stops before an instruction whose access at `at` is not its turn.
    pub fn want(&mut self, at: Ps) {
        self.wanted = Some(at);
    }

    /// True if it has.
    pub fn wants(&self) -> bool {
        self.wanted.is_some()
    }

    /// What the core that has run wanted; see [`Order::want`].
    pub fn take_wanted(&mut self) -> Option<Ps> {
        self.wanted.take()
    }

    /// When the running core has to come to its end, if not before.
    #[inline]
    pub fn cut(&self) -> Ps {
        self.cut
    }

    /// From now on, core number `core` waits for an interrupt.
    pub fn sleeps(&mut self, core: usize) {
        if self.asleep.len() <= core {
            self.asleep.resize(core + 1, None);
        }
        self.asleep[core] = Some(None);
    }

    /// An interrupt input of `core` goes up at `at`. If it waits, it goes on from there; the running core must not run
    /// far ahead of it.
    pub fn rouse(&mut self, core: usize, at: Ps) {
        if let Some(Some(roused)) = self.asleep.get_mut(core) {
            let first = roused.is_none_or(|earlier| at < earlier);
            if first {
                *roused = Some(at);
                self.join(at);
            }
        }
    }

    /// When `core` was roused, if that has happened: it does not sleep any more then.
    pub fn take_roused(&mut self, core: usize) -> Option<Ps> {
        let at = self.asleep.get(core).copied().flatten().flatten()?;
        self.asleep[core] = None;
        Some(at)
    }

    /// `core` sleeps no more, roused or not.
    pub fn wakes(&mut self, core: usize) {
        if let Some(asleep) = self.asleep.get_mut(core) {
            *asleep = None;
        }
    }

    /// A device holds a core in reset or lets it go.
    pub fn change_reset(&mut self, change: ResetChange) {
        self.resets.push(change);
        self.join(change.at);
    }

    /// The changes of reset lines since this was last asked.
    pub fn take_resets(&mut self) -> Vec<ResetChange> {
        std::mem::take(&mut self.resets)
    }

    /// True if a core was roused, or a reset line changed, since this was last asked.
    pub fn take_joined(&mut self) -> bool {
        std::mem::take(&mut self.joined)
    }

    /// Another core goes on from `at`.
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
        assert!(order.is_alone() && order.is_turn(Ps(1 << 40)));
        order.rouse(0, Ps(3000));
        assert!(order.is_alone(), "it runs already");
        order.rouse(1, Ps(5000));
        order.rouse(1, Ps(7000));
        assert_eq!((order.until(), order.cut()), (Ps(5000), Ps(6000)));
        assert!(order.is_turn(Ps(4999)) && !order.is_turn(Ps(5000)));
        assert_eq!((order.take_roused(1), order.take_roused(1)), (Some(Ps(5000)), None));
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
        order.rouse(1, Ps(5000));
        assert_eq!((order.cut(), order.take_broken_off()), (Ps(6000), false));
        order.break_off(Ps::ZERO);
        assert_eq!((order.cut(), order.take_broken_off()), (Ps(6000), false));
    }

    #[test]
    fn a_core_that_is_let_go_bounds_the_one_that_runs() {
        let mut order = Order::default();
        order.begin(Ps::MAX, Ps(1000));
        order.change_reset(ResetChange { core: 1, hold: false, at: Ps(5000) });
        assert_eq!((order.until(), order.cut()), (Ps(5000), Ps(6000)));
        assert_eq!(order.take_resets().len(), 1);
        assert_eq!(order.take_resets(), []);
    }
}
