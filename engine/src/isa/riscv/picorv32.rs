//! PicoRV32: a multi-cycle core without caches, one instruction at a time, with interrupt instructions of its own.
//!
//! Documents: PicoRV32's README ("Cycles per Instruction Performance", "Custom Instructions for IRQ Handling") and its
//! RTL, release of commit 87c89acc; docs/picosoc.md has the timing rules, which hold to the cycle.
//!
//! An instruction is *launched* in a cycle L; the next is fetched meanwhile through the port that data uses as well, by
//! the policy [`crate::memory::fetch::prefetch_next`]. Nothing else delays it: there are no hazards, and no operation
//! ends early. What differs between configurations (multiplier, divider, shifter) is in the timing table and the
//! instruction set of its `cpu` node.
//!
//! `decoded` is what is kept of an instruction, `run` launches them, `next` fetches the next one, `data` is loads and
//! stores, `stops` what ends a run, `interrupts` the interrupt state, `config` the node.
//!
//! Not modelled: the coprocessor and trace interfaces, configurations without interrupts or with q registers, a
//! two-cycle ALU, and a single register port; a board can't ask for them.

mod config;
mod data;
mod decoded;
mod interrupts;
mod next;
mod run;
mod stops;

pub use config::{Config, Extensions, Timing, from_node};

use self::decoded::Table;
use self::interrupts::Interrupts;
use super::core::{RiscV, place_of};
use crate::bus::Bus;
use crate::core::{CallMark, Core, CoreReport, Stop};
use crate::cpu::accounts::{Spent, Totals};
use crate::cpu::cost::Breakdown;
use crate::cpu::deadline::Deadline;
use crate::cpu::isa::Isa as _;
use crate::cpu::sections::{Sections, Totals as _};
use crate::elf::Machine;
use crate::memory::fetch::prefetch_next::PrefetchNext;
use crate::memory::first_level::Accounts;
use crate::memory::port::Port;
use crate::time::{Cycles, Hz, Ps};

/// sp: set at reset.
const SP: usize = 2;

/// A core.
pub struct Picorv32 {
    config: Config,
    /// x0 to x31, then the sink for writes to x0.
    x: [u32; 33],
    /// Address of the instruction to be launched.
    pc: u32,
    /// Its encoding, once it has been fetched.
    encoding: Option<u32>,
    /// The cycle in which it is launched.
    cycles: u64,
    /// Instructions launched, as rdinstret counts them.
    instructions: u64,
    /// The instruction decoded last, before the one to be launched, was a compressed one: the flag in an interrupt's
    /// return address.
    was_compressed: bool,
    /// The fetch unit.
    unit: PrefetchNext,
    port: Port,
    table: Table,
    interrupts: Interrupts,
    interrupts_taken: u64,
    /// The first cycle in which no instruction is launched before the outer loop has looked around.
    pause_at: u64,
    deadline: Deadline,
    /// waitirq has found nothing pending.
    waiting: bool,
    stop: Option<Stop>,
    /// The run is at its end.
    ended: bool,
    fixed: Breakdown,
    spent: Spent,
    accounts: Accounts,
    sections: Sections<Totals>,
}

impl Picorv32 {
    /// A core after reset.
    pub fn new(config: Config) -> Picorv32 {
        let mut x = [0; 33];
        x[SP] = config.stack_addr;
        Picorv32 {
            x,
            pc: 0,
            encoding: None,
            cycles: 0,
            instructions: 0,
            was_compressed: false,
            unit: PrefetchNext::default(),
            port: Port::new(config.clock),
            table: Table::new(config.timing, config.extensions),
            interrupts: Interrupts::default(),
            interrupts_taken: 0,
            pause_at: 0,
            deadline: Deadline::new(config.clock),
            waiting: false,
            stop: None,
            ended: false,
            fixed: Breakdown::default(),
            spent: Spent::default(),
            accounts: Accounts::default(),
            sections: Sections::default(),
            config,
        }
    }

    fn begin(&mut self, bus: &Bus, until: Ps) {
        self.port.attach(bus);
        self.accounts.follow(bus);
        self.deadline.begin(bus, until);
        self.follow_bus(bus);
    }

    /// Brings in what the bus has in store: events, interrupt lines, the end of the run.
    fn follow_bus(&mut self, bus: &Bus) {
        self.deadline.follow(bus);
        self.interrupts.set_lines(bus.core_irqs[self.config.index as usize].low(), self.cycles);
        self.ended = bus.exit.is_some();
        self.look_ahead();
    }

    /// Works out when the outer loop is needed next.
    fn look_ahead(&mut self) {
        let now = self.ended || self.stop.is_some() || self.waiting || self.sections.are_watched();
        let interrupts = self.interrupts.attention_cycles(self.instructions);
        self.pause_at = if now { 0 } else { self.deadline.limit.min(interrupts) };
    }

    fn totals(&self) -> Totals {
        Totals {
            names: &RiscV::CAUSES,
            instructions: self.instructions,
            cycles: self.cycles,
            fixed: self.fixed,
            spent: self.spent,
            memory: self.accounts.clone(),
        }
    }

    fn follow_sections(&mut self) {
        if self.sections.stops_at(self.pc) {
            let now = self.totals();
            self.sections.follow(place_of(self.pc, &self.x), &now);
        }
    }
}

impl Core for Picorv32 {
    fn name(&self) -> &str {
        &self.config.name
    }

    fn clock(&self) -> Hz {
        self.config.clock
    }

    fn cycles(&self) -> Cycles {
        Cycles(self.cycles)
    }

    fn run(&mut self, bus: &mut Bus, until: Ps) -> Stop {
        self.begin(bus, until);
        self.run_loop(bus, false)
    }

    fn step(&mut self, bus: &mut Bus) -> Stop {
        self.begin(bus, Ps(u64::MAX / 2));
        self.run_loop(bus, true)
    }

    fn idle(&mut self, until: Ps) {
        let cycles = self.config.clock.cycles_until_ceil(until).0.saturating_sub(self.cycles);
        self.cycles += cycles;
        self.spent.idle += cycles;
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

    fn watch(&mut self, name: &str, pc: u32) {
        self.sections.watch(name, pc, Totals::nothing(&RiscV::CAUSES));
    }

    fn lost_calls(&self) -> u64 {
        self.sections.lost()
    }

    fn mark_calls(&mut self, pc: u32) -> bool {
        self.sections.mark_calls(pc)
    }

    fn take_marks(&mut self) -> Vec<CallMark> {
        self.sections.take_marks()
    }

    fn report(&mut self, bus: &Bus) -> CoreReport {
        let totals = self.totals();
        CoreReport {
            name: self.config.name.clone(),
            clock: self.config.clock,
            instructions: self.instructions,
            cycles: Cycles(self.cycles),
            causes: totals.named(bus),
            cut: None,
            sections: self.sections.reports(bus),
            counters: vec![(format!("{}.interrupts", self.config.name), self.interrupts_taken)],
        }
    }
}
