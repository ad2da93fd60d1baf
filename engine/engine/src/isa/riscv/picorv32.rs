//! PicoRV32: a multi-cycle core without caches, one instruction at a time, with interrupt instructions of its own.
//!
//! Documents: PicoRV32's README ("Cycles per Instruction Performance", "Custom Instructions for IRQ Handling") and its
//! RTL, release of commit 87c89acc; docs/picosoc.md has the timing rules, which hold to the cycle.
//!
//! An instruction is *launched* in a cycle L; the next is fetched meanwhile through the port that data uses as well, by
//! the policy [`crate::cpu::memory_system::fetch::prefetch_next`]. Nothing else delays it: there are no hazards, and no
//! operation ends early. What differs between configurations (multiplier, divider, shifter) is in the timing table and
//! the instruction set of its `cpu` node.
//!
//! `decoded` has the decoded instructions, `run` launches them, `next` fetches the next one, `data` has loads and
//! stores, `stops` the ends of a run, `interrupts` the interrupt state, `config` the node, `repeats` the interface to
//! fast-forwarding of polling loops.
//!
//! Not modelled: the coprocessor and trace interfaces, configurations without interrupts or with q registers, a
//! two-cycle ALU, and a single register port; a board can't configure them.

mod config;
mod data;
mod debugging;
mod decoded;
mod interrupts;
mod next;
mod profiling;
mod repeats;
mod run;
mod saving;
mod stops;

pub use config::{Config, Extensions, Timing, from_node};

use self::decoded::Table;
use self::interrupts::Interrupts;
use super::instruction_set::{RiscV, arguments_of};
use crate::bus::Bus;
use crate::bus::entries::Entries;
use crate::core::debug::Debugged as _;
use crate::core::{CallMark, Core, CoreReport, Cut, Stop, WaitedIn, WindowIntervals};
use crate::cpu::isa::Isa as _;
use crate::cpu::memory_system::Accounts;
use crate::cpu::memory_system::fetch::prefetch_next::PrefetchNext;
use crate::cpu::memory_system::port::Port;
use crate::cpu::polling_loops::polls::Polls;
use crate::cpu::shell::Shell;
use crate::elf::Machine;
use crate::observe::profile::{CoreProfile, Functions, ProfileOptions};
use crate::time::{Cycles, Hz, Ps};

/// sp: set at reset.
const SP: usize = 2;

/// A core. Its cycle is the one in which the next instruction is launched; its instructions are those launched, as
/// counted by rdinstret.
pub struct Picorv32 {
    shell: Shell,
    interrupt_addr: u32,
    /// x0 to x31, then the sink for writes to x0.
    x: [u32; 33],
    /// Address of the instruction to be launched.
    pc: u32,
    /// Its encoding, once it has been fetched.
    encoding: Option<u32>,
    /// The instruction decoded last, before the one to be launched, was a compressed one: the flag in an interrupt's
    /// return address.
    was_compressed: bool,
    /// The fetch unit.
    unit: PrefetchNext,
    port: Port,
    table: Table,
    interrupts: Interrupts,
    /// The first cycle in which the outer loop has to check for news before a launch.
    pause_at: u64,
    /// The run has ended.
    ended: bool,
    accounts: Accounts,
    polls: Polls,
    /// A debugger has breakpoints.
    watches: bool,
    /// Map entries that were accessed over the bus since `Repeats::forget_touched`.
    touched: Entries,
}

/// A PicoRV32 for a board.
///
/// It is made here so that its run loop is compiled in this crate, which is one unit, and in no other.
#[inline(never)]
pub fn picorv32(config: Config) -> Box<dyn Core> {
    Box::new(Picorv32::new(config))
}

impl Picorv32 {
    /// A core after reset.
    pub fn new(config: Config) -> Picorv32 {
        let mut x = [0; 33];
        x[SP] = config.stack_addr;
        Picorv32 {
            shell: Shell::new(config.name, config.index, config.clock, &RiscV::CAUSES),
            interrupt_addr: config.interrupt_addr,
            x,
            pc: 0,
            encoding: None,
            was_compressed: false,
            unit: PrefetchNext::default(),
            port: Port::new(config.clock),
            table: Table::new(config.timing, config.extensions),
            interrupts: Interrupts::default(),
            pause_at: 0,
            ended: false,
            accounts: Accounts::default(),
            polls: Polls::default(),
            watches: false,
            touched: Entries::default(),
        }
    }

    fn begin(&mut self, bus: &Bus, until: Ps) {
        self.port.attach(bus);
        self.watches = bus.watches.stop_cores();
        self.accounts.follow(bus);
        self.shell.deadline.begin(bus, until);
        self.follow_bus(bus, self.shell.cycles);
    }

    /// Updates the state by the bus's events, interrupt lines and end of the run up to `cycle`.
    fn follow_bus(&mut self, bus: &Bus, cycle: u64) {
        self.shell.update_limit(bus, cycle);
        self.interrupts.set_lines(self.shell.irqs.seen().low(), self.shell.cycles);
        self.ended = bus.exit.is_some();
        self.look_ahead();
    }

    /// Computes the next cycle in which the outer loop is needed.
    fn look_ahead(&mut self) {
        let now = self.ended
            || self.shell.stop.is_some()
            || self.shell.waiting
            || self.shell.has_stops()
            || self.watches
            || self.shell.calls.is_some()
            || self.polls.has_candidate;
        let interrupts = self.interrupts.attention_cycles(self.shell.instructions);
        self.pause_at = if now { 0 } else { self.shell.deadline.limit.min(interrupts) };
    }

    /// Accounts for the calls that have begun and ended, before the core does anything else.
    #[inline(always)]
    fn settle_calls(&mut self) {
        if self.shell.calls.as_ref().is_some_and(|calls| calls.has_news()) {
            self.shell.deadline.release();
            let totals = self.shell.totals(&self.accounts);
            self.shell.settle_news(arguments_of(&self.x), &totals);
        }
    }
}

impl Core for Picorv32 {
    fn name(&self) -> &str {
        &self.shell.name
    }

    fn clock(&self) -> Hz {
        self.shell.clock
    }

    fn cycles(&self) -> Cycles {
        Cycles(self.shell.cycles)
    }

    fn paths_changed(&mut self) {
        self.port = Port::new(self.shell.clock);
    }

    fn run(&mut self, bus: &mut Bus, until: Ps) -> Stop {
        self.begin(bus, until);
        self.run_loop(bus, false)
    }

    fn step(&mut self, bus: &mut Bus) -> Stop {
        self.step_until(bus, Ps(u64::MAX / 2))
    }

    fn idle(&mut self, until: Ps) {
        self.shell.idle(until);
    }

    fn machine(&self) -> Machine {
        Machine::RiscV
    }

    fn set_pc(&mut self, pc: u32) {
        self.pc = pc;
        self.encoding = None;
        self.unit.forget();
    }

    fn registers(&self) -> Vec<u32> {
        std::iter::once(self.pc).chain(self.x[..32].iter().copied()).collect()
    }

    fn know_functions(&mut self, functions: &Functions) {
        self.shell.follow_calls(functions, u32::MAX);
        self.look_ahead();
    }

    fn watch(&mut self, name: &str, pc: u32) {
        self.know_functions(&Functions { entries: vec![pc], whole: vec![pc] });
        self.shell.watch(name, pc);
    }

    fn lost_calls(&self) -> u64 {
        self.shell.lost_calls()
    }

    fn mark_calls(&mut self, pc: u32) -> bool {
        self.shell.sections.mark_calls(pc)
    }

    fn keep_calls(&mut self, pc: u32, most: usize) -> bool {
        self.shell.sections.keep_calls(pc, most)
    }

    fn take_marks(&mut self) -> Vec<CallMark> {
        self.shell.sections.take_marks()
    }

    fn profile(&mut self, options: &ProfileOptions) -> bool {
        self.begin_profile(options)
    }

    fn record_waits(&mut self) {
        self.shell.begin_waits();
    }

    fn profiled(&mut self, bus: &Bus, cut: Option<Cut>) -> Option<CoreProfile> {
        self.charge_last();
        self.shell.profile(bus, cut)
    }

    fn cut(&self, end: Ps) -> Option<Cut> {
        self.shell.cut(&self.accounts, end)
    }

    fn skip_polling(&mut self, skip: bool) {
        self.polls.enable(skip);
    }

    fn skipped(&self) -> Cycles {
        Cycles(self.polls.skipped_cycles)
    }

    fn report(&mut self, bus: &Bus) -> CoreReport {
        self.shell.waits_woke(bus);
        let counters = vec![(format!("{}.interrupts", self.shell.name), self.shell.exceptions)];
        let report = self.shell.report(bus, &self.shell.totals(&self.accounts), counters);
        // There are no blocks to compile.
        CoreReport { never_compiled: report.instructions, ..report }
    }

    fn begin_interval(&mut self, bus: &Bus, interval: Option<u32>) -> CoreReport {
        let totals = self.shell.totals(&self.accounts);
        let report = self.shell.begin_interval(bus, &totals, interval);
        CoreReport { never_compiled: report.instructions, ..report }
    }

    fn waited_in(&self, bus: &Bus, windows: &[WindowIntervals]) -> Option<Vec<WaitedIn>> {
        self.shell.waited_in(bus, windows)
    }
}
