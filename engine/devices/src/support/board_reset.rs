//! Devices that reset the board: a run ends with that, as it is of no use to run the firmware again.

use engine::bus::device::Ctx;

/// The exit status of such a run.
const EXIT_STATUS: i32 = 1;

/// Ends the run, with a note that says why.
pub fn reset_board(note: &str, ctx: &mut Ctx) {
    ctx.note(note);
    ctx.exit_by_reset(EXIT_STATUS);
}
