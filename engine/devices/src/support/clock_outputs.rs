//! The clocks that a clock controller drives for the board.

use crate::prelude::*;
use engine::dt::wiring::ClockId;

/// Sets clocks to their frequencies in hertz, from now on: only in an event, since they change at its time. A clock
/// without a frequency keeps its rate.
pub fn publish(outputs: &mut [ClockInput], frequencies: impl IntoIterator<Item = Option<u64>>, ctx: &mut Ctx) {
    let mut changed: Vec<(ClockId, Hz)> = Vec::new();
    for (clock, hz) in outputs.iter_mut().zip(frequencies) {
        let Some(rate) = hz.and_then(Hz::new).filter(|rate| *rate != clock.rate) else { continue };
        clock.rate = rate;
        changed.extend(clock.id.map(|id| (id, rate)));
    }
    ctx.set_clocks(&changed);
}
