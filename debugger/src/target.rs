//! The machine as gdbstub sees it: cores are threads 1, 2, ..., in the board's order.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::bus::watches::Watch;
use engine::time::Ps;
use gdbstub::common::{Signal, Tid};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadRangeStepping, MultiThreadRangeSteppingOps, MultiThreadResume, MultiThreadResumeOps,
    MultiThreadSchedulerLocking, MultiThreadSchedulerLockingOps, MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::reverse_exec::{ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps};
use gdbstub::target::ext::base::single_register_access::{SingleRegisterAccess, SingleRegisterAccessOps};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint,
    SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::exec_file::ExecFileOps;
use gdbstub::target::ext::extended_mode::ExtendedModeOps;
use gdbstub::target::ext::host_io::HostIoOps;
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use machine::debugging::Step;
use machine::tracing::Recording;
use machine::{Machine, Outcome};

use crate::history::{BUDGET_BYTES, History, OutputLength};
use crate::layout::Layout;
use crate::monitor::{self, Halts};
use crate::registers::{Bytes, Machine32, Number, address};

/// EFAULT: no memory there, or none that can be read without changing anything.
const NO_MEMORY: u8 = 14;
/// EINVAL: no such register or thread.
const NOTHING: u8 = 22;

/// A watchpoint as the client set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its first byte, in the address space of the program's core.
    pub addr: u32,
    len: u32,
    /// Loads, stores, or both.
    pub kind: WatchKind,
}

impl Asked {
    fn of(addr: u64, len: u64, kind: WatchKind) -> Option<Asked> {
        Some(Asked { addr: address(addr)?, len: u32::try_from(len).ok()?, kind })
    }
}

/// How to go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reverse {
    /// By one instruction of a core.
    Step(usize),
    /// To the last breakpoint or watched access.
    Continue,
}

/// A machine that a client controls.
pub struct Held<'a> {
    /// The machine.
    pub machine: &'a mut Machine,
    /// The time limit of the run.
    pub limit: Ps,
    /// The registers that the client sees.
    pub layout: Layout,
    xml: String,
    /// The number of breakpoints by address.
    breaks: BTreeMap<u32, u32>,
    watches: Vec<Asked>,
    /// The last step that was requested.
    pub step: Option<Step>,
    /// The core that runs alone, if the client wants that.
    goes_alone: Option<usize>,
    /// The core that made a watched access, and the watchpoint.
    pub accessed: Option<(usize, Asked)>,
    /// Interrupt handlers are stepped into.
    pub into_handlers: bool,
    /// The reports of the last halts.
    pub halts: Halts,
    /// The recording of devices' activities when the client connected.
    pub recorded: Recording,
    /// The snapshots that the run can go back to.
    pub history: History,
    /// The output up to the furthest moment of the run.
    pub furthest: OutputLength,
    /// Typed characters are recorded up to here; people are asked from here on.
    pub known_until: Ps,
    /// How to go back next.
    pub reverse: Option<Reverse>,
    /// The client stays when a run is over, and may begin another one.
    pub is_extended: bool,
    /// How the run ended; a run that can't continue may still be inspected.
    pub over: Option<Outcome>,
    /// The client has a run, which has neither ended nor been killed.
    pub is_live: bool,
    /// The client wants the run to end.
    pub is_killed: bool,
    /// The run was restarted, and the user does not know yet.
    pub is_anew: bool,
    /// The current command was not understood ([`crate::Link`] answers so).
    pub refused: Arc<AtomicBool>,
}

impl Held<'_> {
    /// Takes control of a machine.
    pub fn new(machine: &mut Machine, limit: Ps) -> Held<'_> {
        let cores: Vec<_> =
            (0..machine.core_count()).map(|core| (machine.architecture(core), machine.debug_registers(core))).collect();
        let layout = Layout::new(&cores);
        let halts = Halts::new(machine);
        let history = History::new(machine, BUDGET_BYTES);
        Held {
            recorded: machine.recording(),
            machine,
            limit,
            xml: layout.xml(),
            layout,
            breaks: BTreeMap::new(),
            watches: Vec::new(),
            step: None,
            goes_alone: None,
            accessed: None,
            into_handlers: false,
            halts,
            history,
            furthest: OutputLength::default(),
            known_until: Ps::ZERO,
            reverse: None,
            is_extended: false,
            over: None,
            is_live: true,
            is_killed: false,
            is_anew: false,
            refused: Arc::default(),
        }
    }

    /// The run is over for the client, which drops its breakpoints.
    pub fn leave_run(&mut self) {
        self.is_live = false;
        self.breaks.clear();
        self.watches.clear();
        self.let_go();
    }

    /// The client has written something: from here on the run and its output are new.
    pub fn begin_anew(&mut self) {
        self.history.begin_anew(self.machine);
        self.furthest = self.history.output.clone();
    }

    /// Removes the client's breakpoints and watchpoints.
    pub fn let_go(&mut self) {
        self.machine.set_breaks(BTreeSet::new());
        self.machine.set_watches(Vec::new());
        self.machine.drop_halting_triggers();
    }

    /// The core of a thread.
    pub fn core_of(&self, tid: Tid) -> Option<usize> {
        Some(tid.get() - 1).filter(|core| *core < self.machine.core_count())
    }

    /// The watchpoint that was hit, as the client set it.
    pub fn watched(&self, hit: Watch) -> Asked {
        let is_it = |asked: &&Asked| self.physical(asked.addr) == Some(hit.first);
        let unknown = Asked { addr: hit.first, len: 1, kind: WatchKind::Write };
        self.watches.iter().find(is_it).copied().unwrap_or(unknown)
    }

    /// The core whose access was reported, and which the client now steps over. The client expects that the core has
    /// not made the access yet, or, when it goes back, that the access is still before the core. The core is already on
    /// the other side of the access, so nothing has to run. GDB's own step differs from the user's: GDB removes the
    /// watchpoint first; where GDB steps by breakpoints, it runs only that thread.
    pub fn take_step_over_access(&mut self) -> Option<usize> {
        let (core, asked) = self.accessed.take()?;
        let is_step = match (&self.step, self.reverse) {
            (Some(step), _) => step.core == core && step.range.is_none(),
            (None, Some(reverse)) => reverse == Reverse::Step(core),
            (None, None) => self.goes_alone == Some(core) && !self.breaks.is_empty(),
        };
        if !is_step || self.watches.contains(&asked) {
            return None;
        }
        (self.step, self.reverse) = (None, None);
        Some(core)
    }

    /// The physical address of a watchpoint's address, in the address space of the program's core.
    fn physical(&self, addr: u32) -> Option<u32> {
        Some(self.machine.physical(self.machine.main_core(), addr)?.0)
    }

    fn set_breaks(&mut self) {
        self.machine.set_breaks(self.breaks.keys().copied().collect());
    }

    /// True if all of them can be watched.
    fn set_watches(&mut self) -> bool {
        let watch = |asked: &Asked| {
            let first = self.physical(asked.addr)?;
            let last = first.checked_add(asked.len.max(1) - 1)?;
            let (reads, writes) = (asked.kind != WatchKind::Write, asked.kind != WatchKind::Read);
            Some(Watch { first, last, reads, writes })
        };
        let watches: Vec<Option<Watch>> = self.watches.iter().map(watch).collect();
        let all_known = watches.iter().all(Option::is_some);
        self.machine.set_watches(watches.into_iter().flatten().collect()).is_empty() && all_known
    }

    fn add_break(&mut self, addr: u64) -> bool {
        let Some(addr) = address(addr) else { return false };
        *self.breaks.entry(addr).or_default() += 1;
        self.set_breaks();
        true
    }

    fn remove_break(&mut self, addr: u64) -> bool {
        let known = address(addr).and_then(|addr| Some((addr, self.breaks.get_mut(&addr)?)));
        let Some((addr, count)) = known else { return false };
        *count -= 1;
        if *count == 0 {
            self.breaks.remove(&addr);
            self.set_breaks();
        }
        true
    }

    fn begin_step(&mut self, tid: Tid, range: Option<(u32, u32)>) {
        let into_handlers = self.into_handlers;
        self.step = self.core_of(tid).map(|core| Step { core, range, into_handlers });
    }
}

/// The thread of a core.
pub fn tid_of(core: usize) -> Tid {
    NonZeroUsize::MIN.saturating_add(core)
}

impl Target for Held<'_> {
    type Arch = Machine32;
    type Error = &'static str;

    fn base_ops(&mut self) -> BaseOps<'_, Machine32, &'static str> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_exec_file(&mut self) -> Option<ExecFileOps<'_, Self>> {
        Some(self)
    }

    fn support_host_io(&mut self) -> Option<HostIoOps<'_, Self>> {
        Some(self)
    }

    fn support_extended_mode(&mut self) -> Option<ExtendedModeOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(&mut self) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Held<'_> {
    fn read_registers(&mut self, regs: &mut Bytes, tid: Tid) -> TargetResult<(), Self> {
        let core = self.core_of(tid).ok_or(TargetError::Errno(NOTHING))?;
        let registers = self.machine.debug_registers(core);
        regs.0.clear();
        for slot in 0..self.layout.len() {
            let bytes = self.layout.bytes_of(slot).unwrap_or(0);
            match self.layout.value(core, slot, &registers) {
                Some(value) => regs.0.extend(value.to_le_bytes()[..bytes].iter().copied().map(Some)),
                None => regs.0.extend(std::iter::repeat_n(None, bytes)),
            }
        }
        Ok(())
    }

    fn write_registers(&mut self, regs: &Bytes, tid: Tid) -> TargetResult<(), Self> {
        let core = self.core_of(tid).ok_or(TargetError::Errno(NOTHING))?;
        let bytes: Vec<u8> = regs.0.iter().map(|byte| byte.unwrap_or(0)).collect();
        let mut left = bytes.as_slice();
        let before = self.machine.debug_registers(core);
        for slot in 0..self.layout.len() {
            let Some((value, rest)) = left.split_at_checked(self.layout.bytes_of(slot).unwrap_or(0)) else { break };
            left = rest;
            let value = number(value);
            // Registers that affect others come first in the layout, so only changed ones are written.
            if self.layout.value(core, slot, &before).is_some_and(|before| before != value)
                && let Some((own, value)) = self.layout.written(core, slot, value)
            {
                self.machine.set_debug_register(core, own, value);
            }
        }
        self.begin_anew();
        Ok(())
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, start_addr: u64, data: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        let core = self.core_of(tid).ok_or(TargetError::Errno(NOTHING))?;
        let addr = address(start_addr).ok_or(TargetError::Errno(NO_MEMORY))?;
        match self.machine.debug_read_all(core, addr, data) {
            0 if !data.is_empty() => Err(TargetError::Errno(NO_MEMORY)),
            count => Ok(count),
        }
    }

    fn write_addrs(&mut self, start_addr: u64, data: &[u8], tid: Tid) -> TargetResult<(), Self> {
        let core = self.core_of(tid).ok_or(TargetError::Errno(NOTHING))?;
        let addr = address(start_addr).ok_or(TargetError::Errno(NO_MEMORY))?;
        let is_written = self.machine.debug_write(core, addr, data);
        if !data.is_empty() {
            self.begin_anew();
        }
        is_written.then_some(()).ok_or(TargetError::Errno(NO_MEMORY))
    }

    fn list_active_threads(&mut self, thread_is_active: &mut dyn FnMut(Tid)) -> Result<(), &'static str> {
        let cores = if self.is_live { self.machine.core_count() } else { 0 };
        (0..cores).map(tid_of).for_each(thread_is_active);
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl SingleRegisterAccess<Tid> for Held<'_> {
    fn read_register(&mut self, tid: Tid, reg_id: Number, buf: &mut [u8]) -> TargetResult<usize, Self> {
        let core = self.core_of(tid).ok_or(TargetError::Errno(NOTHING))?;
        let bytes = self.layout.bytes_of(reg_id.0).ok_or(TargetError::Errno(NOTHING))?;
        let registers = self.machine.debug_registers(core);
        // No bytes at all mean that it is unavailable.
        let Some(value) = self.layout.value(core, reg_id.0, &registers) else { return Ok(0) };
        buf[..bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        Ok(bytes)
    }

    fn write_register(&mut self, tid: Tid, reg_id: Number, val: &[u8]) -> TargetResult<(), Self> {
        let core = self.core_of(tid).ok_or(TargetError::Errno(NOTHING))?;
        let bytes = self.layout.bytes_of(reg_id.0).filter(|bytes| *bytes <= val.len());
        let value = bytes.map(|bytes| number(&val[..bytes])).ok_or(TargetError::Errno(NOTHING))?;
        let written = self.layout.written(core, reg_id.0, value);
        let is_set = written.is_some_and(|(own, value)| self.machine.set_debug_register(core, own, value));
        self.begin_anew();
        is_set.then_some(()).ok_or(TargetError::Errno(NOTHING))
    }
}

/// A number of up to eight bytes, little-endian.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl MultiThreadResume for Held<'_> {
    /// The machine runs when gdbstub has returned to its loop.
    fn resume(&mut self) -> Result<(), &'static str> {
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), &'static str> {
        (self.step, self.reverse, self.goes_alone) = (None, None, None);
        Ok(())
    }

    /// All cores go on, as time does.
    fn set_resume_action_continue(&mut self, tid: Tid, _signal: Option<Signal>) -> Result<(), &'static str> {
        self.goes_alone = self.core_of(tid);
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_range_step(&mut self) -> Option<MultiThreadRangeSteppingOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, Tid, Self>> {
        Some(self)
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, Tid, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl ReverseStep<Tid> for Held<'_> {
    fn reverse_step(&mut self, tid: Tid) -> Result<(), &'static str> {
        self.reverse = self.core_of(tid).map(Reverse::Step);
        Ok(())
    }
}

impl ReverseCont<Tid> for Held<'_> {
    fn reverse_cont(&mut self) -> Result<(), &'static str> {
        self.reverse = Some(Reverse::Continue);
        Ok(())
    }
}

impl MultiThreadSingleStep for Held<'_> {
    fn set_resume_action_step(&mut self, tid: Tid, _signal: Option<Signal>) -> Result<(), &'static str> {
        self.begin_step(tid, None);
        Ok(())
    }
}

impl MultiThreadRangeStepping for Held<'_> {
    fn set_resume_action_range_step(&mut self, tid: Tid, start: u64, end: u64) -> Result<(), &'static str> {
        self.begin_step(tid, address(start).zip(address(end)));
        Ok(())
    }
}

impl MultiThreadSchedulerLocking for Held<'_> {
    /// Simulated time passes for all cores: the others run normally.
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), &'static str> {
        Ok(())
    }
}

impl ThreadExtraInfo for Held<'_> {
    fn thread_extra_info(&self, tid: Tid, buf: &mut [u8]) -> Result<usize, &'static str> {
        let Some(core) = self.core_of(tid) else { return Ok(0) };
        let name = self.machine.core_name(core);
        let text = format!("{name} {}, at {}", self.machine.activity_of_core(core), self.machine.time_of_core(core));
        let count = text.len().min(buf.len());
        buf[..count].copy_from_slice(&text.as_bytes()[..count]);
        Ok(count)
    }
}

impl Breakpoints for Held<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Held<'_> {
    fn add_sw_breakpoint(&mut self, addr: u64, _kind: usize) -> TargetResult<bool, Self> {
        Ok(self.add_break(addr))
    }

    fn remove_sw_breakpoint(&mut self, addr: u64, _kind: usize) -> TargetResult<bool, Self> {
        Ok(self.remove_break(addr))
    }
}

impl HwBreakpoint for Held<'_> {
    fn add_hw_breakpoint(&mut self, addr: u64, _kind: usize) -> TargetResult<bool, Self> {
        Ok(self.add_break(addr))
    }

    fn remove_hw_breakpoint(&mut self, addr: u64, _kind: usize) -> TargetResult<bool, Self> {
        Ok(self.remove_break(addr))
    }
}

impl HwWatchpoint for Held<'_> {
    fn add_hw_watchpoint(&mut self, addr: u64, len: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        let Some(asked) = Asked::of(addr, len, kind) else { return Ok(false) };
        self.watches.push(asked);
        if self.set_watches() {
            return Ok(true);
        }
        self.watches.pop();
        self.set_watches();
        Ok(false)
    }

    fn remove_hw_watchpoint(&mut self, addr: u64, len: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        let asked = Asked::of(addr, len, kind);
        let Some(at) = self.watches.iter().position(|known| Some(*known) == asked) else { return Ok(false) };
        self.watches.remove(at);
        self.set_watches();
        Ok(true)
    }
}

impl TargetDescriptionXmlOverride for Held<'_> {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.xml.len());
        let part = &self.xml.as_bytes()[from..];
        let count = part.len().min(length).min(buf.len());
        buf[..count].copy_from_slice(&part[..count]);
        Ok(count)
    }
}

impl MonitorCmd for Held<'_> {
    fn handle_monitor_cmd(&mut self, cmd: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), &'static str> {
        let (text, is_done) = match monitor::run(self, &String::from_utf8_lossy(cmd)) {
            Ok(text) => (text, true),
            Err(text) => (text, false),
        };
        out.write_raw(text.as_bytes());
        self.refused.store(!is_done, Ordering::Relaxed);
        Ok(())
    }
}
