//! The two event counters.

use super::{ECFGR0, ECFGR1, ECR, EVR0, EVR1, Pl310};
use engine::bus::device::Ctx;
use engine::memory::outer::{OuterCache, OuterEvent};
use engine::state::State;

/// ECR: enables counting; resets counters 0 and 1.
const EVCEN: u32 = 1 << 0;
const EVC0RST: u32 = 1 << 1;
const EVC1RST: u32 = 1 << 2;

/// A counter: its value, and the number of its events, when it was last set.
#[derive(Clone, Copy, Debug, Default, State)]
pub(super) struct Counter {
    value: u32,
    since: u64,
}

/// The event that ESRC selects (TRM, table 3-14); the other sources never occur in the model.
fn source(config: u32) -> Option<OuterEvent> {
    Some(match config >> 2 & 15 {
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

impl Pl310 {
    /// The value of EVR0 or EVR1.
    pub(super) fn counter_value(&self, offset: u32, ctx: &Ctx) -> u32 {
        let (counter, config) = match offset {
            EVR0 => (&self.counters[0], self.held(ECFGR0)),
            _ => (&self.counters[1], self.held(ECFGR1)),
        };
        if self.held(ECR) & EVCEN == 0 {
            return counter.value;
        }
        counter.value.wrapping_add((happened(config, ctx.bus.outer.as_ref()) - counter.since) as u32)
    }

    /// A write of ECR, ECFGR0, ECFGR1, EVR0 or EVR1.
    pub(super) fn set_counters(&mut self, offset: u32, value: u32, ctx: &Ctx) {
        let mut values = [EVR0, EVR1].map(|offset| self.counter_value(offset, ctx));
        match offset {
            EVR0 => values[0] = value,
            EVR1 => values[1] = value,
            ECR => {
                for (value, bit) in values.iter_mut().zip([EVC0RST, EVC1RST].map(|bit| value & bit)) {
                    *value = if bit != 0 { 0 } else { *value };
                }
                self.hold(ECR, value & EVCEN);
            }
            _ => self.hold(offset, value),
        }
        let since = [ECFGR0, ECFGR1].map(|offset| happened(self.held(offset), ctx.bus.outer.as_ref()));
        for (counter, (value, since)) in self.counters.iter_mut().zip(values.into_iter().zip(since)) {
            *counter = Counter { value, since };
        }
    }
}
