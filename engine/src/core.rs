//! What the machine knows of a core, whatever its instruction set.

pub mod debug;

use crate::bus::Bus;
use crate::core::debug::Debugged;
use crate::elf::Machine;
use crate::elf::debug::Place;
use crate::faults::CoreFault;
use crate::observe::critical_path::Paths;
use crate::observe::profile::{CoreProfile, Functions, ProfileOptions};
use crate::observe::stack::{Share, stack};
use crate::observe::waits::{WaitShare, WaitedFor};
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// Why a core came back to the machine.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub enum Stop {
    /// Its local time reached the horizon.
    Horizon,
    /// It waits for an interrupt.
    Waiting,
    /// It is at the begin or end of a call that is marked: see [`Core::mark_calls`].
    Mark,
    /// It is where a debugger wants it to stop: before an instruction, or behind one whose access is watched.
    Break,
    /// The firmware ended the run, with this status.
    Exit(i32),
    /// The firmware did something from which it can't go on.
    Fault(CoreFault),
}

/// How a core has code compiled for the host. It changes nothing but the speed of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiling {
    /// Runs after which code is compiled; 0 for never.
    pub after: u16,
    /// The core waits for what it has compiled, so that it is known when that is done; else it runs on meanwhile.
    pub waits: bool,
    /// Memory for code. When it is full, all code is forgotten, and compiled again where it still runs often.
    pub memory_bytes: usize,
}

impl Compiling {
    /// Memory that a core takes for code by itself: room for some thousand functions.
    pub const MEMORY_BYTES: usize = 16 << 20;
    /// Memory counts as full that has less left: no function is longer, but for those that the interpreter does
    /// without.
    pub const LONGEST_BYTES: usize = 256 << 10;

    /// After so many runs, waited for.
    pub const fn after(runs: u16) -> Compiling {
        Compiling { after: runs, waits: true, memory_bytes: Compiling::MEMORY_BYTES }
    }
}

/// What a core has compiled so far: a fact of this run on this host, and of no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compiled {
    /// Regions of code that became functions of the host.
    pub regions: u64,
    /// Regions that did not, though it was tried.
    pub refused: u64,
    /// Times that the memory for code was full.
    pub times_full: u64,
}

/// What a core that sleeps waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Awaited {
    /// An event, which an interrupt that is taken is, too; else an interrupt.
    pub is_event: bool,
    /// An interrupt that is pending, and why it does not end the sleep.
    pub held_back: Option<String>,
}

/// What a core has done so far.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct CoreReport {
    /// Label of its node.
    pub name: String,
    /// Its clock.
    pub clock: Hz,
    /// Instructions that it has completed.
    pub instructions: u64,
    /// Those among them that are the interpreter's, however often they run: compiled code has no form of them. That
    /// depends on the program and the core alone, not on what was compiled in the run.
    pub never_compiled: u64,
    /// Cycles that it has had.
    pub cycles: Cycles,
    /// Those by cause, at each rate that its clock has had, in their order.
    pub counted: Vec<Counted>,
    /// Time between the last edge at one rate and the first at the next.
    pub between_clocks: Ps,
    /// Where the run ends within the last cycle of a core that is idle, or waits in the midst of an access: the cause
    /// of that cycle, and how much of it lies beyond the end.
    pub cut: Option<(String, Ps)>,
    /// What it waited for, if that was asked for.
    pub waited: Option<WaitedFor>,
    /// The functions being watched.
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

    /// Leaves out what comes after the end of the run, which is of this cause. The few cycles that the instruction has
    /// had after its wait are taken off that, too.
    pub fn cut_off(&mut self, cut: &Cut, cause: &str) {
        self.cycles = Cycles(self.cycles.0 - cut.cycles.0);
        if let Some(counted) = self.counted.last_mut() {
            counted.take(cause, cut.cycles);
        }
        let at_clocks = self.counted.iter().map(Counted::time).fold(Ps::ZERO, |sum, time| sum + time);
        self.between_clocks = (cut.reached + cut.beyond).saturating_sub(at_clocks);
        self.cut = (cut.beyond > Ps::ZERO).then(|| (cause.to_owned(), cut.beyond));
    }

    /// The stack by what was waited for, if that was asked for. It has the same time.
    pub fn waits(&self) -> Option<Vec<WaitShare>> {
        self.waited.as_ref().map(|waited| waited.stack(&self.stack()))
    }

    /// Cycles by cause; they sum to `cycles`.
    pub fn causes(&self) -> Vec<(String, Cycles)> {
        causes_of(&self.counted)
    }
}

/// What of a core's time comes after the end of a run, which came in the midst of an access of the core's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The number of the sum ([`crate::cpu::memory::Accounts`]) that the wait was charged to.
    pub sum: u32,
    /// Cycles from the edge of the core's clock at which the run ends, or the next one.
    pub cycles: Cycles,
    /// Up to here the core has come: the end of the run, or shortly after it the begin of the access.
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
    /// Takes cycles off a cause; what that has not, off the others.
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

    /// How long that took.
    pub fn time(&self) -> Ps {
        self.rate.ps_at_floor(Cycles(self.causes.iter().map(|(_, cycles)| cycles.0).sum()))
    }
}

/// The stack of cycles at several rates: a cause's share is what it has at all of them.
fn stack_of(counted: &[Counted]) -> Vec<Share> {
    let mut all: Vec<Share> = Vec::new();
    for share in counted.iter().flat_map(|counted| stack(counted.rate, counted.causes.iter().cloned())) {
        // Causes of one rate stay apart, though a board may call two of its buses alike.
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
    /// What was waited for inside, if that was asked for.
    pub waited: Option<WaitedFor>,
    /// Single calls, if they were asked for.
    pub kept: Option<KeptReport>,
    /// Instructions inside, those of functions that it called included.
    pub instructions: u64,
    /// Cycles by cause, at each rate that the core's clock has had.
    pub counted: Vec<Counted>,
}

impl SectionReport {
    /// The stack of all calls by what was waited for, if that was asked for.
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
    /// What the shortest call took; `None` if none has ended.
    pub shortest: Option<Ps>,
    /// The longest ones, as many as are kept, from the longest down; of those that took the same time, the first ones.
    pub longest: Vec<CallReport>,
}

/// A call of a watched function, from its entry to its return.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct CallReport {
    /// The how manieth of the function it was, from 1 on.
    pub nth: u64,
    /// When it began.
    pub begun: Ps,
    /// The registers that have a function's first arguments, as they were then: a0 to a3, or r0 to r3.
    pub registers: [u32; CallReport::REGISTERS],
    /// The arguments in these; the machine adds them, as it has the program.
    pub arguments: Vec<Argument>,
    /// The address that it returned to.
    pub return_pc: u32,
    /// Where the program has the call; the machine adds that, too.
    pub caller: Option<Place>,
    /// Instructions inside, those of functions that it called included.
    pub instructions: u64,
    /// Cycles by cause, at each rate that the core's clock had.
    pub counted: Vec<Counted>,
    /// What was waited for inside, if that was asked for.
    pub waited: Option<WaitedFor>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Argument {
    /// The parameter's name, or the register's if nobody tells that.
    pub name: String,
    /// What it was when the function was entered.
    pub value: i64,
    /// It is an address, or nobody knows.
    pub is_address: bool,
}

impl CallReport {
    /// Registers for arguments that all calling conventions have.
    pub const REGISTERS: usize = 4;

    /// The call's cycle stack. Its times sum to what it took.
    pub fn stack(&self) -> Vec<Share> {
        stack_of(&self.counted)
    }

    /// The same time by what was waited for, if that was asked for.
    pub fn waits(&self) -> Option<Vec<WaitShare>> {
        self.waited.as_ref().map(|waited| waited.stack(&self.stack()))
    }
}

/// The begin or end of a call of a watched function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct CallMark {
    /// The function, by its index among the core's sections.
    pub section: usize,
    /// It begins; else it has ended.
    pub begins: bool,
}

/// A window as the eras of [`Core::begin_interval`]: from the begin of one to that of another, at the end of which the
/// core's clock had this rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowIntervals {
    /// The first of them.
    pub from: u32,
    /// The first behind them.
    pub to: u32,
    /// The clock.
    pub rate: Hz,
}

/// What a core waited for in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitedIn {
    /// All of it.
    pub all: WaitedFor,
    /// That in calls that ended in the window, by section.
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

    /// The same as simulated time.
    fn now(&self) -> Ps {
        self.clock().ps_at_floor(self.cycles())
    }

    /// Cycles that it has had: not its local time once its clock has changed.
    fn cycles_had(&self) -> Cycles {
        self.cycles()
    }

    /// Its clock runs at another rate from its next cycle on. Only cores whose type follows clocks are told
    /// ([`crate::dt::reader::NodeReader::clock_input`]). Other clocks have changed, too, perhaps: see
    /// [`Core::paths_changed`].
    fn change_clock(&mut self, _rate: Hz) {}

    /// Clocks of interconnects and memories have changed: what is known of paths does not hold.
    fn paths_changed(&mut self) {}

    /// Runs instructions until its local time reaches `until`, or something else stops it. Interrupts are taken between
    /// instructions; an event that is due earlier is run before the first access that could see it.
    fn run(&mut self, bus: &mut Bus, until: Ps) -> Stop;

    /// Runs one instruction (or takes one interrupt).
    fn step(&mut self, bus: &mut Bus) -> Stop;

    /// The core comes out of reset: it begins anew, as its manual says, and keeps its time and its totals. Only asked
    /// of a core that a device can hold in reset; one whose start an ELF file gives goes on where it is.
    fn reset(&mut self, _bus: &mut Bus) {}

    /// True if the core leaves an instruction for later whose access is not its turn ([`crate::order`]): only such can
    /// be one of several.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Lets a waiting core's local time pass to the first of its edges at `until` or later.
    fn idle(&mut self, until: Ps);

    /// What it waits for, where it does.
    fn awaits(&self, _bus: &Bus) -> Awaited {
        Awaited::default()
    }

    /// True if its interrupt input `bit` would wake it, if that was up.
    fn would_wake(&self, _bus: &Bus, _bit: u32) -> bool {
        true
    }

    /// The instruction set, as ELF files name it.
    fn machine(&self) -> Machine;

    /// Where in memory an ELF file's segment goes that is to be stored at `addr`: a program may have been linked to
    /// addresses that the core takes for physical ones with a few bits more.
    fn load_address(&self, addr: u32) -> u32 {
        addr
    }

    /// Sets the address of the next instruction, as an ELF file has the entry.
    fn set_pc(&mut self, pc: u32);

    /// Where the vector table is whose first words are the stack pointer and the address that the core begins with;
    /// `None` if it has no such.
    fn vector_table(&self) -> Option<u32> {
        None
    }

    /// The vector table is at `table`, from reset on: only asked of a core that has one, before it runs.
    fn set_vector_table(&mut self, _table: u32) {}

    /// The address of the next instruction, then the general registers.
    fn registers(&self) -> Vec<u32>;

    /// There are these functions in the code that it runs. From now on it follows its calls.
    fn know_functions(&mut self, functions: &Functions);

    /// Keeps a stack of its own for the function at `pc`. Functions are known ([`Core::know_functions`]), or calls are
    /// followed as far as they can be without.
    fn watch(&mut self, name: &str, pc: u32);

    /// Has the core stop at the begin and the end of each call of a function that it watches, with [`Stop::Mark`].
    /// False if it watches no function there.
    fn mark_calls(&mut self, pc: u32) -> bool;

    /// Keeps the longest `most` calls of a function that it watches by themselves: [`SectionReport::kept`]. False if it
    /// watches no function there.
    fn keep_calls(&mut self, pc: u32, most: usize) -> bool;

    /// The begins and ends since this was last asked, the latest of which the core is at.
    fn take_marks(&mut self) -> Vec<CallMark>;

    /// Profiles what comes. False if the host has no memory for that.
    fn profile(&mut self, _options: &ProfileOptions) -> bool {
        false
    }

    /// The profile so far; `None` if there is none.
    fn profiled(&mut self, _bus: &Bus, _cut: Option<Cut>) -> Option<CoreProfile> {
        None
    }

    /// What of its time comes after `end`, which has come, if the core is then in the midst of an access.
    fn cut(&self, _end: Ps) -> Option<Cut> {
        None
    }

    /// Tells from now on what it waits for: [`CoreReport::waited`].
    fn report_waits(&mut self) {}

    /// Looks from now on whether it only waits for memory to change, for the critical path.
    fn watch_loops(&mut self) {}

    /// Adds what it has waited for, and is not shared out yet, to the critical path.
    fn add_to_path(&self, _bus: &Bus, _paths: &mut Paths) {}

    /// What it has done so far. The bus names the causes.
    fn report(&mut self, bus: &Bus) -> CoreReport;

    /// What it has done so far, but for what it waited for: if an era begins here, that is told apart from what it
    /// waits for later, by the era's number. Numbers go up from 1.
    fn begin_interval(&mut self, bus: &Bus, interval: Option<u32>) -> CoreReport;

    /// What it waited for in each of these windows; `None` if it does not tell.
    fn waited_in(&self, _bus: &Bus, _windows: &[WindowIntervals]) -> Option<Vec<WaitedIn>> {
        None
    }

    /// Has code compiled for the host, where that can be done. A core that can do it does it by itself.
    fn compile(&mut self, _how: Compiling) {}

    /// Has code compiled that ran `runs` times (0: never), and waits for it: see [`Core::compile`].
    fn compile_after(&mut self, runs: u16) {
        self.compile(Compiling::after(runs));
    }

    /// What it has compiled since it began, or was told how to.
    fn compiled(&self) -> Compiled {
        Compiled::default()
    }

    /// Has iterations of polling loops skipped, where that can be done exactly. It changes nothing but the speed of the
    /// simulation; on after reset in a core that can do it.
    fn skip_polling(&mut self, _skip: bool) {}

    /// Calls of watched functions that are in no stack, as too many were under way at the same time.
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
        // 333333.3 ps a cycle at 3 MHz, of which there are three.
        assert_eq!(shares, [(4, 30_000 + 333_333), (2, 666_667)]);
    }
}
