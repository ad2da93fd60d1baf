//! Extended mode: the client stays when a run is over, and may begin another one. Between two runs there is no process
//! for it: no threads, no breakpoints.

use gdbstub::common::Pid;
use gdbstub::target::ext::extended_mode::{Args, AttachKind, ExtendedMode, ShouldTerminate};
use gdbstub::target::{TargetError, TargetResult};

use crate::monitor;
use crate::target::Held;

/// The process of all clients; there is one.
const PROCESS: Pid = Pid::MIN;

impl ExtendedMode for Held<'_> {
    fn on_start(&mut self) -> Result<(), &'static str> {
        self.is_extended = true;
        Ok(())
    }

    /// The firmware begins anew; there is no other program. Breakpoints are set again by the client.
    fn run(&mut self, _filename: Option<&[u8]>, _args: Args<'_, '_>) -> TargetResult<Pid, Self> {
        monitor::reset(self).map_err(|_| TargetError::NonFatal)?;
        self.bury();
        (self.is_live, self.is_killed) = (true, false);
        Ok(PROCESS)
    }

    fn attach(&mut self, _pid: Pid) -> TargetResult<(), Self> {
        Ok(())
    }

    /// Who leaves lets the run go on, whoever began it.
    fn query_if_attached(&mut self, _pid: Pid) -> TargetResult<AttachKind, Self> {
        Ok(AttachKind::Attach)
    }

    /// A client that stays says which process it means.
    fn kill(&mut self, pid: Option<Pid>) -> TargetResult<ShouldTerminate, Self> {
        self.is_killed = true;
        if pid.is_none() || !self.is_extended {
            return Ok(ShouldTerminate::Yes);
        }
        self.bury();
        Ok(ShouldTerminate::No)
    }

    fn restart(&mut self) -> Result<(), &'static str> {
        // Without snapshots the run stays where it is.
        if monitor::reset(self).is_ok() {
            (self.is_live, self.is_killed) = (true, false);
        }
        Ok(())
    }
}
