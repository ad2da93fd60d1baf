//! One interrupt source.

use super::SMR_PRIOR;
use crate::prelude::*;

/// AIC_SMR.SRCTYPE: edges, not levels.
const SMR_SRCTYPE_EDGE: u32 = 1 << 5;

/// A source: its settings, and the state of its signal.
#[derive(Clone, Copy, Debug, Default, State, Fresh, Polled)]
pub struct Source {
    /// AIC_SMR.
    pub mode: u32,
    /// AIC_SVR.
    pub vector: u32,
    /// Level of the input.
    pub level: bool,
    /// The level is active and has come through the input stage.
    pub seen: bool,
    /// The number of rising edges in the input stage.
    pub under_way: u32,
    /// The edge detector's flip-flop.
    edge: bool,
}

impl Source {
    pub const fn priority(&self) -> u32 {
        self.mode & SMR_PRIOR
    }

    pub const fn is_edge_sensitive(&self) -> bool {
        self.mode & SMR_SRCTYPE_EDGE != 0
    }

    /// Its bit in AIC_IPR.
    pub const fn is_pending(&self) -> bool {
        if self.is_edge_sensitive() { self.edge } else { self.seen }
    }

    /// A rising edge has come through the input stage.
    pub fn arrive(&mut self) {
        self.under_way -= 1;
        self.edge |= self.is_edge_sensitive();
        // A signal that fell and rose again in the meantime has its effect with its last edge.
        self.seen |= self.level && self.under_way == 0;
    }

    /// AIC_ISCR, which acts on edge-sensitive sources only.
    pub fn set(&mut self) {
        self.edge |= self.is_edge_sensitive();
    }

    /// AIC_ICCR, likewise; or the interrupt is taken: a level stays as long as the peripheral holds it.
    pub fn clear(&mut self) {
        self.edge = false;
    }
}
