//! A run that ends in the midst of a core's access.
//!
//! An access is made as a whole: a core that reads a flash being erased has its answer at once, and its own time is
//! then that of the answer, perhaps a second later. Where the limit comes before that, or a device ends the run, the
//! run has lasted up to there all the same. So the core remembers the last wait of an access that was long
//! ([`crate::cpu::memory::LongWait`]), and a report leaves out what of it comes after the end. That changes nothing of
//! the machine: it goes on as if nobody had asked, from a snapshot, too.

use super::Machine;
use crate::core::Cut;
use crate::cpu::memory::Accounts;
use crate::time::Ps;

impl Machine {
    /// What of a core's time comes after `elapsed`, if it is then in the midst of an access. Only of a run that has
    /// ended.
    pub(super) fn cut_of(&self, core: usize, elapsed: Ps) -> Option<Cut> {
        self.ends_at.and_then(|_| self.cores[core].cut(elapsed))
    }

    /// The name of the cause of what is left out.
    pub(super) fn cause_of(&mut self, core: usize, cut: &Cut) -> String {
        // What lies between it and the memories has its own names.
        self.bus.master = Some(core);
        let names = Accounts::names(&self.bus);
        self.bus.master = None;
        names.get(cut.sum as usize).cloned().unwrap_or_default()
    }

    /// The time up to which the machine has run: the local time of the core that got furthest, or where the run has
    /// ended while that core was in the midst of an access.
    pub(super) fn elapsed(&self) -> Ps {
        let latest = |end: Option<Ps>| {
            let cut = |core: usize| end.and_then(|end| self.cut_of(core, end));
            let reached = |core: usize| cut(core).map_or_else(|| self.core_time(core), |cut| cut.reached);
            (0..self.cores.len()).map(reached).max().unwrap_or(Ps::ZERO)
        };
        let mut elapsed = latest(self.ends_at);
        // Another core may end its instruction later, and an access may have been answered by then.
        loop {
            let next = latest(Some(elapsed));
            if next <= elapsed {
                return elapsed;
            }
            elapsed = next;
        }
    }
}
