//! A core: its state, and the loop that chooses what runs next.

use super::accounts::{Spent, Totals};
use super::config::CoreConfig;
use super::op::{HI, LO};
use super::pages::{Found, Pages};
use super::predictor::Predictor;
use super::system::exceptions::RESET_VECTOR;
use super::system::{Exception, Now, System};
use crate::bus::Bus;
use crate::core::{CallMark, Core, CoreReport, Stop};
use crate::cpu::deadline::Deadline;
use crate::cpu::handlers::Nesting;
use crate::cpu::lines::Lines;
use crate::cpu::polls::Polls;
use crate::cpu::sections::{Sections, Totals as _};
use crate::cpu::skips::Skips as _;
use crate::elf::Machine;
use crate::memory::first_level::{Memory, Way};
use crate::time::{Cycles, Hz, Ps};

/// Where kseg0 begins, and kseg1: two views of the first 512 MiB of physical addresses.
const KSEG0: u32 = 0x8000_0000;
const KSEG1_LAST: u32 = 0xbfff_ffff;
const KSEG_MASK: u32 = 0x1fff_ffff;

/// A core.
pub struct Mips {
    pub(super) config: CoreConfig,
    /// The registers of operations: see [`super::op`].
    pub(super) x: [u32; 256],
    /// The cycle from which each of them can be read, as far as that is not long past.
    pub(super) ready: [u64; 256],
    /// From this cycle on, all of them can be read.
    pub(super) busy_until: u64,
    /// From this cycle on, the multiplier and divider takes another operation.
    pub(super) unit_free: u64,
    pub(super) system: System,
    pub(super) memory: Memory,
    pub(super) predictor: Predictor,
    /// Address of the next instruction.
    pub(super) pc: u32,
    /// It is in the delay slot of the branch before it, which goes on here.
    pub(super) delayed: Option<u32>,
    pub(super) cycles: u64,
    pub(super) deadline: Deadline,
    /// The outer loop has to look at something before the next instruction.
    pub(super) look: bool,
    pub(super) instructions: u64,
    /// Exceptions and interrupts taken.
    pub(super) exceptions: u64,
    pub(super) mispredictions: u64,
    pub(super) spent: Spent,
    pub(super) pages: Pages,
    /// Size of the instruction cache's lines.
    pub(super) line_bytes: u32,
    pub(super) stop: Option<Stop>,
    pub(super) sections: Sections<Totals>,
    pub(super) polls: Polls,
    pub(super) waiting: bool,
    /// A semihosting call has no answer yet.
    pub(super) in_call: bool,
    /// The core is in a privileged mode, as far as shortcuts know.
    pub(super) privileged: bool,
    pub(super) lines: Lines,
    /// What the last access was that did not go the quick way, for messages.
    pub(super) access_kind: &'static str,
    /// By where an exception was, and the general registers.
    pub(super) nesting: Nesting<(u32, [u32; 32])>,
    code_epoch: u64,
    code_marks: u64,
}

impl Mips {
    /// A core after reset.
    pub fn new(config: CoreConfig) -> Mips {
        let mut memory = Memory::new(config.memory);
        let system = System::new(config.system);
        memory.translation_changed(&system);
        Mips {
            x: [0; 256],
            ready: [0; 256],
            busy_until: 0,
            unit_free: 0,
            predictor: Predictor::new(config.branch_targets),
            pc: RESET_VECTOR,
            delayed: None,
            cycles: 0,
            deadline: Deadline::new(config.clock),
            look: false,
            instructions: 0,
            exceptions: 0,
            mispredictions: 0,
            spent: Spent::default(),
            pages: Pages::new(),
            line_bytes: 1 << memory.fetch_line_shift(),
            stop: None,
            sections: Sections::default(),
            polls: Polls::default(),
            waiting: false,
            in_call: false,
            privileged: true,
            lines: Lines::new(config.clock, config.index),
            access_kind: "",
            nesting: Nesting::default(),
            code_epoch: 0,
            code_marks: 0,
            system,
            memory,
            config,
        }
    }

    /// The core's time, as simulated time.
    pub(super) fn now(&self) -> Ps {
        self.config.clock.ps_at_floor(Cycles(self.cycles))
    }

    /// What system instructions ask about.
    pub(super) fn moment(&self, bus: &Bus) -> Now {
        Now { pending: self.interrupts(bus), instructions: self.instructions }
    }

    /// Brings the limit in line with what the bus has scheduled, and looks at the interrupt lines.
    pub(super) fn update_limit(&mut self, bus: &Bus) {
        self.deadline.follow(bus);
        self.lines.follow(bus, self.cycles, &mut self.deadline);
    }

    /// The interrupt lines that are up now.
    pub(super) fn interrupts(&self, bus: &Bus) -> u32 {
        self.lines.up(bus, self.cycles).low()
    }

    /// True if something has happened that the loop below has to look at before the next instruction.
    pub(super) fn has_news(&self, bus: &Bus) -> bool {
        bus.exit.is_some() || bus.code_epoch != self.code_epoch || self.system.deliverable(self.interrupts(bus))
    }

    /// Runs until something stops the core; only one instruction if `single`.
    fn run_loop(&mut self, bus: &mut Bus, single: bool) -> Stop {
        self.stop = None;
        if self.in_call {
            self.call_host(bus);
            if let Some(stop) = self.stop.take() {
                return stop;
            }
        }
        if self.waiting && !self.system.wakes(self.interrupts(bus)) {
            return Stop::Waiting;
        }
        self.waiting = false;
        loop {
            if let Some(stop) = self.stop.take() {
                return stop;
            }
            if self.cycles >= self.deadline.limit || bus.exit.is_some() {
                return Stop::Horizon;
            }
            self.follow_memory(bus);
            let before = (self.instructions, self.exceptions);
            let lines = self.lines.look(bus, self.cycles).low();
            if self.system.deliverable(lines) {
                self.interrupt(bus);
            } else {
                self.follow_sections();
                self.look = false;
                if self.sections.has_marks() {
                    self.stop = Some(Stop::Mark);
                    continue;
                }
                if self.polls.found && !single {
                    self.skip_rounds(bus);
                } else {
                    self.run_once(bus, single);
                }
            }
            if single && (self.instructions, self.exceptions) != before {
                return self.stop.take().unwrap_or(Stop::Horizon);
            }
        }
    }

    /// Fetches the instruction at the current address, and runs from there.
    fn run_once(&mut self, bus: &mut Bus, single: bool) {
        let Some(found) = self.page(bus) else { return };
        if !self.fetch(bus, found) {
            return;
        }
        let Some(ready) = self.decoded(bus, found) else { return };
        match ready {
            Some(op) => self.execute_one(bus, op),
            None => self.execute(bus, found, single || found.way == Way::Uncached),
        }
    }

    /// The page of the current address. `None` if it can't be fetched: the core is at its handler then.
    pub(super) fn page(&mut self, bus: &mut Bus) -> Option<Found> {
        if self.pc & 3 != 0 {
            self.access_kind = "instruction fetch";
            self.raise(bus, Exception::AddressLoad(self.pc));
            return None;
        }
        if let Some(found) = self.pages.find(self.pc) {
            return Some(found);
        }
        match self.memory.code_way(bus, &self.system, self.pc) {
            Ok((way, physical)) => Some(self.pages.add(self.pc, physical, way)),
            Err(abort) => {
                self.raise_fetch(bus, abort);
                None
            }
        }
    }

    /// Drops decoded code if memory under it was written, and shortcuts for stores if instructions were decoded.
    pub(super) fn follow_memory(&mut self, bus: &Bus) {
        if bus.code_epoch != self.code_epoch {
            self.code_epoch = bus.code_epoch;
            self.pages.clear();
        }
        self.follow_marks(bus);
    }

    /// Drops shortcuts for stores if instructions were decoded.
    pub(super) fn follow_marks(&mut self, bus: &Bus) {
        if bus.code_marks != self.code_marks {
            self.code_marks = bus.code_marks;
            self.memory.forbid_quick_stores();
        }
    }

    /// Time passes up to `cycle` with nothing to do.
    pub(super) fn idle_until(&mut self, at: Ps) {
        let cycles = self.config.clock.cycles_until_ceil(at).0.saturating_sub(self.cycles);
        self.cycles += cycles;
        self.spent.idle += cycles;
    }

    fn begin(&mut self, bus: &Bus, until: Ps) {
        self.deadline.begin(bus, until);
        self.update_limit(bus);
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let own = [("exceptions", self.exceptions), ("mispredicted branches", self.mispredictions)];
        self.memory.counters(&self.config.name, &own)
    }
}

impl Core for Mips {
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
        self.idle_until(until);
    }

    fn machine(&self) -> Machine {
        Machine::Mips
    }

    fn load_address(&self, addr: u32) -> u32 {
        if (KSEG0..=KSEG1_LAST).contains(&addr) { addr & KSEG_MASK } else { addr }
    }

    fn set_pc(&mut self, pc: u32) {
        (self.pc, self.delayed) = (pc, None);
    }

    /// pc, $0 to $31, HI, LO, Status, Cause, EPC.
    fn registers(&self) -> Vec<u32> {
        let now = Now { pending: self.lines.seen().low(), instructions: self.instructions };
        let system = [12, 13, 14].map(|register| self.system.register(register, 0, now));
        let general = std::iter::once(self.pc).chain(self.x[..32].iter().copied());
        general.chain([self.x[usize::from(HI)], self.x[usize::from(LO)]]).chain(system).collect()
    }

    fn watch(&mut self, name: &str, pc: u32) {
        self.sections.watch(name, pc, Totals::default());
        self.pages.undecode(pc);
    }

    fn mark_calls(&mut self, pc: u32) -> bool {
        self.sections.mark_calls(pc)
    }

    fn take_marks(&mut self) -> Vec<CallMark> {
        self.sections.take_marks()
    }

    fn report(&mut self, bus: &Bus) -> CoreReport {
        CoreReport {
            name: self.config.name.clone(),
            clock: self.config.clock,
            instructions: self.instructions,
            cycles: Cycles(self.cycles),
            causes: self.totals().named(bus),
            cut: None,
            sections: self.sections.reports(bus),
            counters: self.counters(),
        }
    }

    fn skip_polling(&mut self, skip: bool) {
        self.polls.enable(skip);
    }

    fn skipped(&self) -> Cycles {
        Cycles(self.polls.skipped_cycles)
    }

    fn lost_calls(&self) -> u64 {
        self.sections.lost()
    }
}
