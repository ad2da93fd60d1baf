//! Scripts that stand for the other side of a line or of a bus, and may end the run.

use crate::prelude::*;
use engine::bus::lines::Failure;
use engine::serial::script::Progress;

/// Ends the run if a script has ended or failed: `None` then; else the time until which it waits, if it waits for one.
pub fn follow(progress: Progress, ctx: &mut Ctx) -> Option<Option<Ps>> {
    let status = match progress {
        Progress::Waits(until) => return Some(until),
        Progress::Ends(status) => status,
        Progress::Failed(text) => {
            ctx.bus.lines.failure.get_or_insert(Failure(text));
            1
        }
    };
    ctx.exit(status);
    None
}
