//! A core's profile as plain data: call paths, and for each of them what its instructions cost, by cause.

use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// Where functions begin: a jump to one of them from another function is a tail call.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct Functions {
    /// The addresses of all, also of what is no more than a label in code.
    pub entries: Vec<u32>,
    /// Those of functions whose sizes are known. A jump that has its target in itself may be one to a label of the same
    /// function, so it is a tail call only if it leads to one of these.
    pub whole: Vec<u32>,
}

/// What a profile is to follow.
#[derive(Clone, Debug, Default)]
pub struct ProfileOptions {
    /// Where functions begin.
    pub functions: Functions,
    /// Addresses of functions whose calls are kept one by one.
    pub watched: Vec<u32>,
    /// How a kernel's tasks are called.
    pub task_name: Option<TaskName>,
    /// Calls are kept one by one for a timeline, whichever function it is of.
    pub slices: Option<Slices>,
    /// Calls of a function from different places of another are different paths.
    pub by_site: bool,
}

/// Which calls are kept for a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Slices {
    /// Those that have a part in this window.
    pub from: Ps,
    /// Its end.
    pub to: Ps,
    /// So many at the most: those that ended first go first.
    pub most: usize,
}

/// Where a kernel keeps the name of the task that runs: what is at `variable` points to the task, of which the name
/// stands at `offset`, ended by a 0, or a pointer to it.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct TaskName {
    /// Address of the pointer.
    pub variable: u32,
    /// From the beginning of the task to its name.
    pub offset: u32,
    /// Bytes of the name at the most.
    pub bytes: u32,
    /// The task has a pointer to its name.
    pub is_pointer: bool,
}

/// A call for a timeline, or iterations of a polling loop that were skipped, with their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownCall {
    /// Its path; of skipped iterations, that of the loop.
    pub path: u32,
    /// When it began.
    pub begin: Ps,
    /// When it ended.
    pub end: Ps,
    /// So many iterations were skipped; 0 for a call.
    pub skipped: u64,
}

/// A time in which a core was on the stack of one task, for a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownTurn {
    /// The task's path.
    pub task: u32,
    /// When the core came to it.
    pub begin: Ps,
    /// When it went to another one.
    pub end: Ps,
}

/// What a path ends in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A stack of its own: a task, or what the core began with.
    Task,
    /// A function.
    Function,
    /// An exception or interrupt.
    Exception,
}

/// A call path: a task, and what has been called from there on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPath {
    /// The path of the caller, or of what was interrupted; `None` for a task.
    pub parent: Option<u32>,
    /// What it ends in.
    pub kind: PathKind,
    /// Of a function, its entry; of a task, where it began, if that is known.
    pub address: Option<u32>,
    /// Where its calls return to, if paths are apart by that and code has made them: behind the instruction that calls.
    pub return_address: Option<u32>,
    /// Of a task or an exception.
    pub name: String,
    /// Calls that have ended.
    pub calls: u64,
    /// Core cycles from their beginnings to their ends, all together, the longest and the shortest: with all that was
    /// called, and with what interrupted them.
    pub elapsed: Cycles,
    /// See [`CallPath::elapsed`].
    pub longest: Cycles,
    /// See [`CallPath::elapsed`]; 0 if none has ended.
    pub shortest: Cycles,
    /// When the longest began.
    pub longest_at: Ps,
}

/// What an instruction cost on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionCost {
    /// The path.
    pub path: u32,
    /// Its address; `None` for time that belongs to no instruction.
    pub address: Option<u32>,
    /// Times that it ran.
    pub executions: u64,
    /// Its cycles: cause, by its place in [`CoreProfile::causes`], place of the clock's rate, cycles.
    pub charges: Vec<(u32, u32, u64)>,
}

/// A call of a watched function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedCall {
    /// Its path.
    pub path: u32,
    /// When it began.
    pub begun: Ps,
    /// What it took, as [`CallPath::elapsed`] has it.
    pub elapsed: Cycles,
    /// When it ended: the core's clock may have changed in it.
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
    /// When its line went up; `None` if that is not known.
    pub raised: Option<Ps>,
    /// When the core took it.
    pub taken: Ps,
    /// When the handler's first instruction began.
    pub begun: Ps,
    /// When the handler had ended.
    pub ended: Ps,
}

/// The profile of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreProfile {
    /// Label of its node.
    pub name: String,
    /// The rates of its clock in their order, and the cycles that it had at each.
    pub rates: Vec<(Hz, Cycles)>,
    /// Names of causes, as the cycle stack has them.
    pub causes: Vec<String>,
    /// All call paths: parents come first.
    pub paths: Vec<CallPath>,
    /// What instructions cost. All charges together are the core's cycles.
    pub costs: Vec<InstructionCost>,
    /// The calls of each watched function.
    pub calls: Vec<Vec<TimedCall>>,
    /// All calls, as far as they are kept for a timeline. Those under way end with the profile.
    pub slices: Vec<ShownCall>,
    /// There was no room for all of these: from here on none is missing.
    pub slices_complete_from: Option<Ps>,
    /// Which task ran when, one behind the other, as far as that is kept for a timeline; nothing if there is one stack
    /// of calls alone. The last goes on to the end of the profile.
    pub turns: Vec<ShownTurn>,
    /// What was waited for on each path, if that was asked for: the path, what, and how long. It is time that `costs`
    /// has, too.
    pub waits: Vec<(u32, String, Ps)>,
    /// Interrupts that were taken, and have ended.
    pub interrupts: Vec<TakenInterrupt>,
    /// What could not be followed, in a sentence each.
    pub notes: Vec<String>,
}
