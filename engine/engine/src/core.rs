//! A core, as the machine sees it, whatever its instruction set.

pub mod debug;

use crate::bus::Bus;
use crate::core::debug::Debugged;
use crate::elf::Machine;
use crate::elf::debug::Place;
use crate::faults::CoreFault;
use crate::memory::cache::CacheShape;
use crate::observe::critical_path::Paths;
use crate::observe::profile::{CoreProfile, Functions, LinuxKernel, LoadedFunction, ProfileOptions};
use crate::observe::stack::{Share, stack};
use crate::observe::waits::{WaitShare, WaitedFor};
use crate::order::CoreStart;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// Why a core came back to the machine.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub enum Stop {
    /// Its local time reached the horizon.
    Horizon,
    /// It waits for an interrupt.
    Waiting,
    /// It is at the start or end of a marked call: see [`Core::mark_calls`].
    Mark,
    /// It has reached a debugger's breakpoint, or has completed an instruction whose access is watched.
    Break,
    /// The firmware ended the run, with this status.
    Exit(i32),
    /// The firmware did something after which the core can't continue.
    Fault(CoreFault),
}

/// How a core compiles code for the host. It affects only the speed of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiling {
    /// Runs after which code is compiled; 0 for never.
    pub after: u16,
    /// The core waits until code is compiled, so that the time of completion is reproducible; else it keeps running
    /// meanwhile.
    pub waits: bool,
    /// Memory for code. When it is full, all code is dropped, and compiled again where it still runs often.
    pub memory_bytes: usize,
}

impl Compiling {
    /// Default memory for code: room for some thousand functions.
    pub const MEMORY_BYTES: usize = 16 << 20;
    /// The memory counts as full with less than this left: only functions that the interpreter runs instead are longer.
    pub const LONGEST_BYTES: usize = 256 << 10;

    /// Compiles after `runs` runs, and waits for the result.
    pub const fn after(runs: u16) -> Compiling {
        Compiling { after: runs, waits: true, memory_bytes: Compiling::MEMORY_BYTES }
    }
}

/// What a core has compiled so far: a property of this run on this host, in no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compiled {
    /// Regions of code that became functions of the host.
    pub regions: u64,
    /// Regions that could not be compiled.
    pub refused: u64,
    /// Times that the memory for code was full.
    pub times_full: u64,
}

/// What a sleeping core waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Awaited {
    /// It waits for an event (an interrupt that is taken counts as one); else for an interrupt.
    pub is_event: bool,
    /// An interrupt that is pending, and why it does not end the sleep.
    pub held_back: Option<String>,
}

/// Totals of a core so far.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct CoreReport {
    /// Label of its node.
    pub name: String,
    /// Its clock.
    pub clock: Hz,
    /// Instructions that it has completed.
    pub instructions: u64,
    /// Instructions among them that compiled code has no form of, so the interpreter runs them. The number depends on
    /// the program and the core alone, not on what was compiled in the run.
    pub never_compiled: u64,
    /// Cycles so far.
    pub cycles: Cycles,
    /// Cycles by cause, at each rate of its clock, in order of time.
    pub counted: Vec<Counted>,
    /// Time between the last edge at one rate and the first at the next.
    pub between_clocks: Ps,
    /// If the run ends within the last cycle of a core that is idle, or waits during an access: the cause of that
    /// cycle, and how much of it lies after the end.
    pub cut: Option<(String, Ps)>,
    /// What it waited for, if waits are recorded.
    pub waited: Option<WaitedFor>,
    /// The watched functions.
    pub sections: Vec<SectionReport>,
    /// Other totals.
    pub counters: Vec<(String, u64)>,
}

impl CoreReport {
    /// The cycle stack of the whole run. Its times sum to the elapsed time.
    pub fn stack(&self) -> Vec<Share> {
        let mut shares = stack_of(&self.counted);
        if self.between_clocks > Ps::ZERO {
            shares.push(Share { cause: CLOCK_CHANGES.to_owned(), cycles: Cycles(0), time: self.between_clocks });
        }
        if let Some((cause, beyond)) = &self.cut
            && let Some(share) = shares.iter_mut().find(|share| share.cause == *cause)
        {
            share.time = share.time - *beyond;
        }
        shares
    }

    /// Removes the time after the end of the run, which has this cause. The few cycles that the instruction has had
    /// after its wait are removed as well.
    pub fn cut_off(&mut self, cut: &Cut, cause: &str) {
        self.cycles = Cycles(self.cycles.0 - cut.cycles.0);
        if let Some(counted) = self.counted.last_mut() {
            counted.take(cause, cut.cycles);
        }
        let at_clocks = self.counted.iter().map(Counted::time).fold(Ps::ZERO, |sum, time| sum + time);
        self.between_clocks = (cut.reached + cut.beyond).saturating_sub(at_clocks);
        self.cut = (cut.beyond > Ps::ZERO).then(|| (cause.to_owned(), cut.beyond));
    }

    /// The stack by the objects of waits, if waits are recorded. It has the same total time.
    pub fn waits(&self) -> Option<Vec<WaitShare>> {
        self.waited.as_ref().map(|waited| waited.stack(&self.stack()))
    }

    /// Cycles by cause; they sum to `cycles`.
    pub fn causes(&self) -> Vec<(String, Cycles)> {
        causes_of(&self.counted)
    }
}

/// The part of a core's time that comes after the end of a run which ended during an access of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The number of the sum ([`crate::cpu::memory_system::Accounts`]) that the wait was charged to.
    pub sum: u32,
    /// Cycles from the edge of the core's clock at which the run ends, or the next one.
    pub cycles: Cycles,
    /// The core's local time: the end of the run, or shortly after it the start of the access.
    pub reached: Ps,
    /// From there to that edge.
    pub beyond: Ps,
}

/// The cause of time between the last edge of a clock at one rate and the first at the next.
const CLOCK_CHANGES: &str = "change of the clock";

/// Cycles by cause at one rate of a core's clock.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Counted {
    /// The rate.
    pub rate: Hz,
    /// The cycles.
    pub causes: Vec<(String, Cycles)>,
}

impl Counted {
    /// Takes cycles off a cause; if it has too few, the rest off the others.
    fn take(&mut self, cause: &str, cycles: Cycles) {
        let mut left_cycles = cycles.0;
        for is_own in [true, false] {
            for (_, counted) in self.causes.iter_mut().filter(|(name, _)| (name == cause) == is_own) {
                let taken = counted.0.min(left_cycles);
                *counted = Cycles(counted.0 - taken);
                left_cycles -= taken;
            }
        }
    }

    /// Their duration.
    pub fn time(&self) -> Ps {
        self.rate.ps_at_floor(Cycles(self.causes.iter().map(|(_, cycles)| cycles.0).sum()))
    }
}

/// The stack of cycles at several rates: a cause's share is the sum over all of them.
fn stack_of(counted: &[Counted]) -> Vec<Share> {
    let mut all: Vec<Share> = Vec::new();
    for share in counted.iter().flat_map(|counted| stack(counted.rate, counted.causes.iter().cloned())) {
        // Causes of one rate stay separate, even if a board gives two buses the same name.
        match all.iter_mut().find(|known| counted.len() > 1 && known.cause == share.cause) {
            Some(known) => (known.cycles, known.time) = (known.cycles + share.cycles, known.time + share.time),
            None => all.push(share),
        }
    }
    all
}

fn causes_of(counted: &[Counted]) -> Vec<(String, Cycles)> {
    let [counted] = counted else {
        return stack_of(counted).into_iter().map(|share| (share.cause, share.cycles)).collect();
    };
    counted.causes.clone()
}

/// A watched function: the time from its entry to its return, over all calls.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct SectionReport {
    /// Its symbol.
    pub name: String,
    /// Completed calls.
    pub calls: u64,
    /// What the function waited for, if waits are recorded.
    pub waited: Option<WaitedFor>,
    /// Single calls, if they are kept.
    pub kept: Option<KeptReport>,
    /// Instructions inside, including those of functions that it called.
    pub instructions: u64,
    /// Cycles by cause, at each rate that the core's clock has had.
    pub counted: Vec<Counted>,
}

impl SectionReport {
    /// The stack of all calls by the objects of waits, if waits are recorded.
    pub fn waits(&self) -> Option<Vec<WaitShare>> {
        self.waited.as_ref().map(|waited| waited.stack(&self.stack()))
    }

    /// The cycle stack of all calls.
    pub fn stack(&self) -> Vec<Share> {
        stack_of(&self.counted)
    }

    /// Cycles by cause.
    pub fn causes(&self) -> Vec<(String, Cycles)> {
        causes_of(&self.counted)
    }
}

/// Single calls of a watched function.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct KeptReport {
    /// Duration of the shortest call; `None` if none has ended.
    pub shortest: Option<Ps>,
    /// The longest calls, as many as are kept, longest first; of calls with the same duration, the first ones.
    pub longest: Vec<CallReport>,
}

/// A call of a watched function, from its entry to its return.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct CallReport {
    /// The ordinal number of the call among the function's calls, from 1.
    pub nth: u64,
    /// When it began.
    pub begun: Ps,
    /// The registers that have a function's first arguments, with their values at the entry: a0 to a3, or r0 to r3.
    pub registers: [u32; CallReport::REGISTERS],
    /// The arguments in these; the machine adds them, as it has the program.
    pub arguments: Vec<Argument>,
    /// The address that it returned to.
    pub return_pc: u32,
    /// The place of the call in the program; the machine adds that, too.
    pub caller: Option<Place>,
    /// Instructions inside, including those of functions that it called.
    pub instructions: u64,
    /// Cycles by cause, at each rate that the core's clock had.
    pub counted: Vec<Counted>,
    /// What the call waited for, if waits are recorded.
    pub waited: Option<WaitedFor>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Argument {
    /// The parameter's name, or the register's if the parameter is unknown.
    pub name: String,
    /// Its value at the function's entry.
    pub value: i64,
    /// It is an address, or of unknown type.
    pub is_address: bool,
}

impl CallReport {
    /// Registers for arguments that all calling conventions have.
    pub const REGISTERS: usize = 4;

    /// The call's cycle stack. Its times sum to the call's duration.
    pub fn stack(&self) -> Vec<Share> {
        stack_of(&self.counted)
    }

    /// The same time by the objects of waits, if waits are recorded.
    pub fn waits(&self) -> Option<Vec<WaitShare>> {
        self.waited.as_ref().map(|waited| waited.stack(&self.stack()))
    }
}

/// The start or end of a call of a watched function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct CallMark {
    /// The function, by its index among the core's sections.
    pub section: usize,
    /// True at its start, false at its end.
    pub begins: bool,
}

/// A window as intervals of [`Core::begin_interval`]: from the start of one to the start of another. At its end the
/// core's clock had this rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowIntervals {
    /// The first interval.
    pub from: u32,
    /// The first interval after the window.
    pub to: u32,
    /// The clock.
    pub rate: Hz,
}

/// What a core waited for in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitedIn {
    /// All waits.
    pub all: WaitedFor,
    /// Waits in calls that ended in the window, by section.
    pub sections: Vec<WaitedFor>,
}

/// A core: it runs instructions on its own local time.
pub trait Core: Debugged + State + Send {
    /// Label of its node.
    fn name(&self) -> &str;

    /// Its clock.
    fn clock(&self) -> Hz;

    /// Its local time, in cycles of its clock.
    fn cycles(&self) -> Cycles;

    /// Its local time as simulated time.
    fn now(&self) -> Ps {
        self.clock().ps_at_floor(self.cycles())
    }

    /// Number of cycles so far: differs from its local time once its clock has changed.
    fn cycles_had(&self) -> Cycles {
        self.cycles()
    }

    /// Its clock runs at another rate from its next cycle on. Only called for cores whose type follows clocks
    /// ([`crate::dt::reader::NodeReader::clock_input`]). Other clocks may have changed, too: see
    /// [`Core::paths_changed`].
    fn change_clock(&mut self, _rate: Hz) {}

    /// Clocks of interconnects and memories have changed: cached paths are no longer valid.
    fn paths_changed(&mut self) {}

    /// Runs instructions until its local time reaches `until`, or something else stops it. Interrupts are taken between
    /// instructions; an event that is due earlier is run before the first access that could see it.
    fn run(&mut self, bus: &mut Bus, until: Ps) -> Stop;

    /// Runs one instruction (or takes one interrupt).
    fn step(&mut self, bus: &mut Bus) -> Stop;

    /// The core leaves reset: it starts again, as its manual says, and keeps its time and its totals. Only called for a
    /// core that a device can hold in reset; a core that starts at an ELF file's entry continues where it is.
    fn reset(&mut self, _bus: &mut Bus) {}

    /// As [`Core::reset`], but a firmware makes the core begin at another place.
    fn start(&mut self, bus: &mut Bus, _start: CoreStart) {
        self.reset(bus);
    }

    /// Its data cache.
    fn data_cache(&self) -> Option<CacheShape> {
        None
    }

    /// True if the core postpones an instruction whose access is not in order yet ([`crate::order`]): only such a core
    /// can be one of several.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Advances a waiting core's local time to the first of its edges at `until` or later.
    fn idle(&mut self, until: Ps);

    /// What it waits for, if it waits.
    fn awaits(&self, _bus: &Bus) -> Awaited {
        Awaited::default()
    }

    /// True if its interrupt input `bit` would wake it, if that was up.
    fn would_wake(&self, _bus: &Bus, _bit: u32) -> bool {
        true
    }

    /// The instruction set, as ELF files name it.
    fn machine(&self) -> Machine;

    /// The memory address of an ELF file's segment that is linked to `addr`: the core may ignore some upper bits of a
    /// program's addresses.
    fn load_address(&self, addr: u32) -> u32 {
        addr
    }

    /// Sets the address of the next instruction, from an ELF file's entry.
    fn set_pc(&mut self, pc: u32);

    /// Address of the vector table whose first words are the stack pointer and the start address; `None` if the core
    /// has no such table.
    fn vector_table(&self) -> Option<u32> {
        None
    }

    /// Sets the vector table's address from reset on: only called for a core that has one, before it runs.
    fn set_vector_table(&mut self, _table: u32) {}

    /// The address of the next instruction, then the general registers.
    fn registers(&self) -> Vec<u32>;

    /// Sets the functions of the code that it runs. From now on it follows calls.
    fn know_functions(&mut self, functions: &Functions);

    /// Makes the core follow its calls by the tasks of this kernel, unless a profile does that already.
    fn follow_tasks_of(&mut self, _kernel: &LinuxKernel) {}

    /// Keeps a stack of its own for the function at `pc`. Without known functions ([`Core::know_functions`]), calls are
    /// followed as far as possible.
    fn watch(&mut self, name: &str, pc: u32);

    /// Makes the core stop at the start and the end of each call of a function that it watches, with [`Stop::Mark`].
    /// False if it watches no function there.
    fn mark_calls(&mut self, pc: u32) -> bool;

    /// Keeps the longest `most` calls of a function that it watches: [`SectionReport::kept`]. False if it watches no
    /// function there.
    fn keep_calls(&mut self, pc: u32, most: usize) -> bool;

    /// Starts and ends of calls since the last call of this; the core is at the last one.
    fn take_marks(&mut self) -> Vec<CallMark>;

    /// Profiles the run from now on. False if the host has no memory for that.
    fn profile(&mut self, _options: &ProfileOptions) -> bool {
        false
    }

    /// The profile so far; `None` if the core is not profiled.
    fn profiled(&mut self, _bus: &Bus, _cut: Option<Cut>) -> Option<CoreProfile> {
        None
    }

    /// The functions that its kernel has loaded at run time, by address, as far as a profile knows them.
    fn loaded_functions(&self) -> &[LoadedFunction] {
        &[]
    }

    /// The part of its time after `end`, which has passed, if the core is then in an access.
    fn cut(&self, _end: Ps) -> Option<Cut> {
        None
    }

    /// Records from now on what it waits for: [`CoreReport::waited`].
    fn record_waits(&mut self) {}

    /// Checks from now on whether it only waits for memory to change, for the critical path.
    fn watch_loops(&mut self) {}

    /// Adds waits that are not attributed yet to the critical path.
    fn add_to_path(&self, _bus: &Bus, _paths: &mut Paths) {}

    /// Totals so far. The bus names the causes.
    fn report(&mut self, bus: &Bus) -> CoreReport;

    /// Totals so far, without waits. If an interval begins here, waits up to here are kept separate from later ones, by
    /// the interval's number. Numbers count up from 1.
    fn begin_interval(&mut self, bus: &Bus, interval: Option<u32>) -> CoreReport;

    /// What it waited for in each of the windows; `None` if the core does not record waits.
    fn waited_in(&self, _bus: &Bus, _windows: &[WindowIntervals]) -> Option<Vec<WaitedIn>> {
        None
    }

    /// Compiles code for the host, if the core can. A core that can does so by default.
    fn compile(&mut self, _how: Compiling) {}

    /// Compiles code that ran `runs` times (0: never), and waits for it: see [`Core::compile`].
    fn compile_after(&mut self, runs: u16) {
        self.compile(Compiling::after(runs));
    }

    /// What it has compiled since it began, or since [`Core::compile`].
    fn compiled(&self) -> Compiled {
        Compiled::default()
    }

    /// Skips iterations of polling loops, where that is exact. It affects only the speed of the simulation; on after
    /// reset in a core that can do it.
    fn skip_polling(&mut self, _skip: bool) {}

    /// Calls of watched functions that are in no stack, since too many were active at the same time.
    fn lost_calls(&self) -> u64 {
        0
    }

    /// Cycles that were skipped so far.
    fn skipped(&self) -> Cycles {
        Cycles(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_ends_with_the_run_and_not_with_an_idle_cores_cycle() {
        let hz = Hz::new(100_000_000).unwrap();
        let causes = vec![("issue".to_owned(), Cycles(3)), ("wait for interrupt".to_owned(), Cycles(2))];
        let counted = vec![Counted { rate: hz, causes }];
        let report = CoreReport {
            name: "cm4".into(),
            clock: hz,
            instructions: 3,
            never_compiled: 0,
            cycles: Cycles(5),
            counted,
            between_clocks: Ps::ZERO,
            cut: Some(("wait for interrupt".to_owned(), Ps(4_000))),
            waited: None,
            sections: Vec::new(),
            counters: Vec::new(),
        };
        let times: Vec<u64> = report.stack().iter().map(|share| share.time.0).collect();
        assert_eq!(times, [30_000, 16_000]);
        let whole = CoreReport { cut: None, ..report };
        assert_eq!(whole.stack().iter().map(|share| share.time.0).sum::<u64>(), 50_000);
    }

    #[test]
    fn a_cause_has_its_time_at_all_rates() {
        let counted = [(100_000_000, 3, 0), (3_000_000, 1, 2)].map(|(hz, issue, load)| Counted {
            rate: Hz::new(hz).unwrap(),
            causes: vec![("issue".to_owned(), Cycles(issue)), ("load: ram".to_owned(), Cycles(load))],
        });
        let shares = stack_of(&counted).into_iter().map(|share| (share.cycles.0, share.time.0)).collect::<Vec<_>>();
        // 333333.3 ps a cycle at 3 MHz, and there are three cycles.
        assert_eq!(shares, [(4, 30_000 + 333_333), (2, 666_667)]);
    }
}
