//! A run that ends during a core's access.
//!
//! An access is made as a whole: a core that reads a flash being erased has its answer at once, and its local time is
//! then the time of the answer, perhaps a second later. If the limit comes before that, or a device ends the run, the
//! run still lasts only up to there. So the core remembers the last wait of a long access
//! ([`engine::cpu::memory_system::LongWait`]), and a report leaves out the part after the end. That does not change the
//! machine: it continues unaffected, also from a snapshot.

use super::Machine;
use engine::core::Cut;
use engine::cpu::memory_system::Accounts;
use engine::time::Ps;

impl Machine {
    /// The part of a core's time that comes after `elapsed`, if the core is in an access then. Only for a run that has
    /// ended.
    pub(super) fn cut_of(&self, core: usize, elapsed: Ps) -> Option<Cut> {
        self.ends_at.and_then(|_| self.cores[core].cut(elapsed))
    }

    /// The name of the cause of the part that is left out.
    pub(super) fn cause_of(&mut self, core: usize, cut: &Cut) -> String {
        // The causes of waits between a core and the memories have names of that core.
        self.bus.master = Some(core);
        let names = Accounts::names(&self.bus);
        self.bus.master = None;
        names.get(cut.sum as usize).cloned().unwrap_or_default()
    }

    /// The time up to which the machine has run: the local time of the core that got furthest, or the end of the run
    /// during that core's access.
    pub(super) fn elapsed(&self) -> Ps {
        let latest = |end: Option<Ps>| {
            let cut = |core: usize| end.and_then(|end| self.cut_of(core, end));
            let reached = |core: usize| cut(core).map_or_else(|| self.core_time(core), |cut| cut.reached);
            (0..self.cores.len()).map(reached).max().unwrap_or(Ps::ZERO)
        };
        let mut elapsed = latest(self.ends_at);
        // Another core may end its instruction later, and an access may be complete by then.
        loop {
            let next = latest(Some(elapsed));
            if next <= elapsed {
                return elapsed;
            }
            elapsed = next;
        }
    }
}
