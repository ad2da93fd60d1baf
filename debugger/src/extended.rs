//! Extended mode: the client stays when a run is over, and may start another one. Between two runs there is no process
//! for the client: no threads, no breakpoints.

use gdbstub::common::Pid;
use gdbstub::target::ext::extended_mode::{Args, AttachKind, ExtendedMode, ShouldTerminate};
use gdbstub::target::{TargetError, TargetResult};

use crate::monitor;
use crate::target::Held;

/// The only process, for all clients.
const PROCESS: Pid = Pid::MIN;

impl ExtendedMode for Held<'_> {
    fn on_start(&mut self) -> Result<(), &'static str> {
        self.is_extended = true;
        Ok(())
    }

    /// The firmware is restarted; there is no other program. The client sets its breakpoints again.
    fn run(&mut self, _filename: Option<&[u8]>, _args: Args<'_, '_>) -> TargetResult<Pid, Self> {
        monitor::reset(self).map_err(|_| TargetError::NonFatal)?;
        self.leave_run();
        (self.is_live, self.is_killed) = (true, false);
        Ok(PROCESS)
    }

    fn attach(&mut self, _pid: Pid) -> TargetResult<(), Self> {
        Ok(())
    }

    /// A client that leaves lets the run continue, even if it started the run.
    fn query_if_attached(&mut self, _pid: Pid) -> TargetResult<AttachKind, Self> {
        Ok(AttachKind::Attach)
    }

    /// A client that stays names its process.
    fn kill(&mut self, pid: Option<Pid>) -> TargetResult<ShouldTerminate, Self> {
        self.is_killed = true;
        if pid.is_none() || !self.is_extended {
            return Ok(ShouldTerminate::Yes);
        }
        self.leave_run();
        Ok(ShouldTerminate::No)
    }

    fn restart(&mut self) -> Result<(), &'static str> {
        // Without snapshots the run stays at its current moment.
        if monitor::reset(self).is_ok() {
            (self.is_live, self.is_killed) = (true, false);
        }
        Ok(())
    }
}
