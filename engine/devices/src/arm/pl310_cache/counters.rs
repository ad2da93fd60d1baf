//! The two event counters.

use super::{Ctx, ECFGR0, ECFGR0_ESRC, ECFGR1, ECR, ECR_EVC0RST, ECR_EVC1RST, ECR_EVCEN, EVR0, EVR1, Pl310};
use crate::prelude::*;
use engine::memory::outer::{OuterCache, OuterEvent};

/// A counter: its value, and the number of its events, when it was last set.
#[derive(Clone, Copy, Debug, Default, State, Polled)]
pub(super) struct Counter {
    value: u32,
    since: u64,
}

/// The event that ESRC selects (TRM, table 3-14); the other sources never occur in the model.
fn source(config: u32) -> Option<OuterEvent> {
    Some(match field(config, ECFGR0_ESRC) {
        1 => OuterEvent::CastOut,
        2 => OuterEvent::DataReadHit,
        3 => OuterEvent::DataReadRequest,
        4 => OuterEvent::DataWriteHit,
        5 => OuterEvent::DataWriteRequest,
        7 => OuterEvent::InstructionReadHit,
        8 => OuterEvent::InstructionReadRequest,
        9 => OuterEvent::WriteAllocation,
        _ => return None,
    })
}

fn happened(config: u32, cache: Option<&OuterCache>) -> u64 {
    source(config).zip(cache).map_or(0, |(event, cache)| cache.events(event))
}

/// The registers of each counter: its value, its configuration, and its reset in ECR.
const PLACES: [(u32, u32, u32); 2] = [(EVR0, ECFGR0, ECR_EVC0RST), (EVR1, ECFGR1, ECR_EVC1RST)];

impl Pl310 {
    /// The values of EVR0 and EVR1.
    pub(super) fn counted(&self, ctx: &Ctx) -> [u32; 2] {
        [0, 1].map(|index| {
            let Counter { value, since } = self.counters[index];
            if !self.registers.has(ECR, ECR_EVCEN) {
                return value;
            }
            let happened = happened(self.registers[PLACES[index].1], ctx.bus.outer.as_ref());
            value.wrapping_add((happened - since) as u32)
        })
    }

    /// A write of ECR, ECFGR0, ECFGR1, EVR0 or EVR1, before which the counters had these values.
    pub(super) fn set_counters(&mut self, offset: u32, value: u32, counted: [u32; 2], ctx: &Ctx) {
        for (index, (event, config, reset)) in PLACES.into_iter().enumerate() {
            let value = match offset {
                ECR if value & reset != 0 => 0,
                _ if offset == event => value,
                _ => counted[index],
            };
            let since = happened(self.registers[config], ctx.bus.outer.as_ref());
            self.counters[index] = Counter { value, since };
        }
        self.registers.put(ECR, ECR_EVC0RST | ECR_EVC1RST, false);
    }
}
