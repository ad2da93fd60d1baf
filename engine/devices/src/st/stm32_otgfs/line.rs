//! The bus without a cable: the core's mode, its session, and how long the line has been idle.

use super::registers::*;
use super::{Ctx, Otg};
use crate::prelude::*;

impl Otg {
    /// The mode that GUSBCFG forces; device mode, by the ID pin, if it forces none.
    fn is_to_be_host(&self) -> bool {
        self.registers[GUSBCFG] & (GUSBCFG_FHMOD | GUSBCFG_FDMOD) == GUSBCFG_FHMOD
    }

    /// Handles a change of GUSBCFG.
    pub(super) fn mode_may_change(&mut self, now: Ps) {
        self.mode_changes_at = if self.is_to_be_host() == self.is_host {
            None
        } else {
            self.mode_changes_at.or(Some(now.saturating_add(self.params.mode_change)))
        };
    }

    /// True if D+ is pulled up, and not driven.
    fn is_idle(&self) -> bool {
        !self.is_host && self.has_session && self.phy_runs() && self.registers[DCTL] & (DCTL_SDIS | DCTL_RWUSIG) == 0
    }

    /// Handles a change that may connect, disconnect or wake up the core.
    pub(super) fn line_may_change(&mut self, ctx: &mut Ctx) {
        if self.registers.has(GCCFG, GCCFG_PWRDWN) {
            ctx.note("nothing is plugged in: no host resets the bus, and no device connects");
        }
        self.line_changes(ctx.now);
    }

    fn line_changes(&mut self, now: Ps) {
        let has_session = !self.is_host && self.params.part.has_session(&self.registers);
        if has_session && !self.has_session {
            self.registers.put(GINTSTS, GINTSTS_SRQINT, true);
        }
        self.has_session = has_session;
        if self.is_idle() != self.idle_since.is_some() {
            self.idle_since = self.is_idle().then_some(now);
            self.suspends = 0;
        }
    }

    /// The time of the next ESUSP or USBSUSP (RM0090, "Suspended state": after 3 ms, and 3 ms later).
    pub(super) fn next_suspend(&self) -> Option<Ps> {
        let idle = self.params.idle.0.checked_mul(u64::from(self.suspends) + 1)?;
        self.idle_since.filter(|_| self.suspends < 2).map(|since| since.saturating_add(Ps(idle)))
    }

    /// Applies all changes of the mode and the line up to now, in the order of time.
    pub(super) fn settle_line(&mut self, ctx: &mut Ctx) {
        if let Some(at) = self.mode_changes_at.filter(|at| *at <= ctx.now) {
            self.suspend_by(at);
            self.mode_changes_at = None;
            self.is_host = self.is_to_be_host();
            self.line_changes(at);
        }
        self.suspend_by(ctx.now);
    }

    fn suspend_by(&mut self, now: Ps) {
        while self.next_suspend().is_some_and(|at| at <= now) {
            self.registers.put(GINTSTS, if self.suspends == 0 { GINTSTS_ESUSP } else { GINTSTS_USBSUSP }, true);
            self.suspends += 1;
        }
    }

    /// A write of DCTL, which held `before`: its kept bits, and the bits that set and clear the NAKs.
    pub(super) fn wrote_dctl(&mut self, before: u32, value: u32, ctx: &mut Ctx) {
        let mut naks = before & (DCTL_GINSTS | DCTL_GONSTS);
        for (set, clear, nak) in [(DCTL_SGINAK, DCTL_CGINAK, DCTL_GINSTS), (DCTL_SGONAK, DCTL_CGONAK, DCTL_GONSTS)] {
            // No packet is under way: each takes effect at once.
            naks = (naks | flag(nak, value & set != 0)) & !flag(nak, value & clear != 0);
        }
        self.registers.set(DCTL, value & DCTL_KEPT | naks);
        self.line_may_change(ctx);
    }
}
