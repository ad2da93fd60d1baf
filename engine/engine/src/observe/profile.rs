//! A core's profile as plain data: call paths, and the costs of the instructions on each of them, by cause.

use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// The addresses of functions: a jump to one of them from another function is a tail call.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct Functions {
    /// The addresses of all functions, and of plain labels in code.
    pub entries: Vec<u32>,
    /// The addresses of functions whose sizes are known. A jump within such a function may lead to a label of the same
    /// function, so it is a tail call only if the target is among these addresses.
    pub whole: Vec<u32>,
}

/// What a profile records.
#[derive(Clone, Debug, Default)]
pub struct ProfileOptions {
    /// Where functions begin.
    pub functions: Functions,
    /// Addresses of functions whose calls are kept one by one.
    pub watched: Vec<u32>,
    /// Where the names of a kernel's tasks are.
    pub task_name: Option<TaskName>,
    /// The Linux kernel that the program is.
    pub linux: Option<LinuxKernel>,
    /// Calls of all functions are kept one by one for a timeline.
    pub slices: Option<Slices>,
    /// Calls of a function from different places of another one are different paths.
    pub by_site: bool,
}

/// Which calls are kept for a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Slices {
    /// Those that overlap this window.
    pub from: Ps,
    /// Its end.
    pub to: Ps,
    /// The number of calls that are kept: those that ended first are dropped first.
    pub most: usize,
}

/// Where a kernel keeps the name of the running task: the pointer at `variable` leads to the task, and at `offset` in
/// it is the name, which a 0 ends, or a pointer to the name.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct TaskName {
    /// Address of the pointer.
    pub variable: u32,
    /// Offset of the name in the task.
    pub offset: u32,
    /// The longest name in bytes.
    pub bytes: u32,
    /// The task has a pointer to its name.
    pub is_pointer: bool,
}

/// The virtual addresses in a Linux kernel for Arm at which its tasks and modules become known.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct LinuxKernel {
    /// `__switch_to`: it switches from the task in r0, with the `thread_info` in r1, to that with the one in r2.
    pub switches: u32,
    /// `do_init_module`: it calls the module in r0 for the first time.
    pub loads: Option<u32>,
    /// The variable `modules`: the list of those that have been loaded.
    pub modules: Option<u32>,
}

/// A function that a kernel has loaded at run time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub struct LoadedFunction {
    /// Its address.
    pub address: u32,
    /// Its size; 0 if unknown.
    pub bytes: u32,
    /// Its name, with that of its module: "virtblk_probe [virtio_blk]".
    pub name: String,
}

/// A call for a timeline, or skipped iterations of a polling loop together with their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownCall {
    /// Its path; for skipped iterations, the path of the loop.
    pub path: u32,
    /// When it began.
    pub begin: Ps,
    /// When it ended.
    pub end: Ps,
    /// The number of skipped iterations; 0 for a call.
    pub skipped: u64,
}

/// A period in which a core ran on the stack of one task, for a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownTaskSlice {
    /// The task's path.
    pub task: u32,
    /// When the core switched to the task.
    pub begin: Ps,
    /// When it switched to another one.
    pub end: Ps,
}

/// The end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A stack of its own: a task, or the stack that the core began with.
    Task,
    /// A function.
    Function,
    /// An exception or interrupt.
    Exception,
}

/// A call path: a task, and the functions that have been called from it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPath {
    /// The path of the caller, or of the interrupted code; `None` for a task.
    pub parent: Option<u32>,
    /// The kind of its end.
    pub kind: PathKind,
    /// Of a function, its entry; of a task, where it began, if that is known.
    pub address: Option<u32>,
    /// Where its calls return to, if paths are distinguished by that: after the call instruction.
    pub return_address: Option<u32>,
    /// The name of a task or an exception.
    pub name: String,
    /// The number of finished calls.
    pub calls: u64,
    /// Core cycles from begin to end, including called functions and interrupts: the sum of all calls, the longest, and
    /// the shortest.
    pub elapsed: Cycles,
    /// See [`CallPath::elapsed`].
    pub longest: Cycles,
    /// See [`CallPath::elapsed`]; 0 if no call has finished.
    pub shortest: Cycles,
    /// When the longest call began.
    pub longest_at: Ps,
}

/// The cost of an instruction on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionCost {
    /// The path.
    pub path: u32,
    /// Its address; `None` for time without an instruction.
    pub address: Option<u32>,
    /// The number of executions.
    pub executions: u64,
    /// Its cycles: index of the cause in [`CoreProfile::causes`], index of the clock rate, cycles.
    pub charges: Vec<(u32, u32, u64)>,
}

/// A call of a watched function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedCall {
    /// Its path.
    pub path: u32,
    /// When it began.
    pub begun: Ps,
    /// Its core cycles, as in [`CallPath::elapsed`].
    pub elapsed: Cycles,
    /// When it ended: the core's clock may have changed during the call.
    pub ended: Ps,
}

/// An interrupt that a core took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenInterrupt {
    /// The exception's path.
    pub path: u32,
    /// The core's input; `None` for an exception of the core's own.
    pub input: Option<u32>,
    /// Label of the device that raised it, if that is known.
    pub by: Option<String>,
    /// When its line went high; `None` if that is not known.
    pub raised: Option<Ps>,
    /// When the core took it.
    pub taken: Ps,
    /// When the handler's first instruction began.
    pub begun: Ps,
    /// When the handler ended.
    pub ended: Ps,
    /// Cycles from `begun` to `ended`.
    pub cycles: Cycles,
}

/// The profile of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreProfile {
    /// Label of its node.
    pub name: String,
    /// The rates of its clock in their order, and the number of cycles at each.
    pub rates: Vec<(Hz, Cycles)>,
    /// Names of causes, as in the cycle stack.
    pub causes: Vec<String>,
    /// All call paths: parents come first.
    pub paths: Vec<CallPath>,
    /// The costs of instructions. All charges together are the core's cycles.
    pub costs: Vec<InstructionCost>,
    /// The calls of each watched function.
    pub calls: Vec<Vec<TimedCall>>,
    /// The calls that are kept for a timeline. Open calls end with the profile.
    pub slices: Vec<ShownCall>,
    /// Set if memory did not suffice: no call after this time is missing.
    pub slices_complete_from: Option<Ps>,
    /// The tasks that ran, in the order of time, if they are kept for a timeline; empty if there is only one stack of
    /// calls. The last period extends to the end of the profile.
    pub task_slices: Vec<ShownTaskSlice>,
    /// The waits on each path, if they were requested: the path, what was waited for, and how long. `costs` includes
    /// this time.
    pub waits: Vec<(u32, String, Ps)>,
    /// Interrupts that were taken and have ended.
    pub interrupts: Vec<TakenInterrupt>,
    /// What could not be followed, one sentence each.
    pub notes: Vec<String>,
}
