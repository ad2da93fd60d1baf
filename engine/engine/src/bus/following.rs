//! Records the effects of each core's stores, for the critical path ([`crate::observe::critical_path`]).

use std::cell::RefCell;

use super::Bus;
use super::device::DeviceId;
use crate::observe::critical_path::Paths;
use crate::time::Ps;

impl Bus {
    /// Follows the critical path from now on, if there are several cores; `quantum` is how far one may be ahead of
    /// another.
    #[inline]
    pub fn follow_critical_path(&mut self, quantum: Ps) {
        // After that quantum, a core still ends its instruction.
        let latest = Ps(2 * quantum.0);
        let cores = self.core_irqs.len();
        self.critical = (cores > 1).then(|| Box::new(RefCell::new(Paths::new(cores, latest))));
    }

    /// A store has arrived at a device: the effects up to [`Bus::store_over`] follow from it, if a core made it. True
    /// if a core did, and the critical path is followed.
    #[inline]
    pub(super) fn store_arrives(&mut self, core: Option<usize>, device: DeviceId, at: Ps) -> bool {
        match (&mut self.critical, core) {
            (Some(critical), Some(core)) => {
                critical.get_mut().stored(core as u32, device, at);
                true
            }
            _ => false,
        }
    }

    /// The call, or the event, is over.
    #[inline]
    pub(super) fn store_over(&mut self) {
        let ends = self.exit.is_some() || self.failure.is_some();
        if let Some(critical) = &mut self.critical {
            critical.get_mut().over(ends);
        }
    }

    /// An event with this number is about to happen.
    #[inline]
    pub(super) fn event_happens(&mut self, event: u64) {
        if let Some(critical) = &mut self.critical {
            critical.get_mut().happens(event);
        }
    }

    /// A device has asked for an event.
    #[inline]
    pub(super) fn event_asked_for(&mut self) {
        self.interrupt_sources.asked_for(self.events.scheduled(), self.calling);
        if let Some(critical) = &mut self.critical {
            critical.get_mut().asked_for(self.events.scheduled());
        }
    }

    /// An interrupt input of a core goes up, or the core leaves reset.
    #[inline]
    pub(super) fn core_raised(&mut self, core: usize, at: Ps) {
        if let Some(critical) = &mut self.critical {
            critical.get_mut().raised(core, at);
        }
    }

    /// A core sleeps from now on, if it does not yet.
    #[inline]
    pub fn core_sleeps(&self, core: usize, at: Ps) {
        if let Some(critical) = &self.critical {
            critical.borrow_mut().sleeps(core, at);
        }
    }

    /// A core takes an interrupt, and has only waited since then. True if it waited for another core.
    #[inline]
    pub fn core_interrupted(&self, core: usize, since: Ps, at: Ps) -> bool {
        self.critical.as_ref().is_some_and(|critical| critical.borrow_mut().interrupted(core, since, at))
    }

    /// A core continues at an edge of its clock; the edge before was at `edge_before`.
    #[inline]
    pub fn core_wakes(&self, core: usize, at: Ps, edge_before: Ps) {
        if let Some(critical) = &self.critical {
            critical.borrow_mut().wakes(core, at, edge_before);
        }
    }
}
