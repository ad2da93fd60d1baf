//! The microcontroller profile: exceptions whose entry and return use memory, and take their time in steps.
//!
//! An entry stores the frame, lets time pass up to the moment in which the handler's first instruction would issue, and
//! only then selects the exception: one that has become pending meanwhile and is more urgent is taken instead (late
//! arrival), and needs the time of another read of the vector table. A return that finds a pending exception continues
//! as such an entry, with the existing frame (tail-chaining).

mod faults;
mod frames;

use super::architecture::{Own, Profile, SystemSide as _};
use super::event_register::EventRegister;
use super::instruction_set::Arm;
use super::m_profile::exceptions::number;
use super::m_profile::{
    Events, Exception, FetchMap, Outcome, Protection, Return, SYSTICK_INPUT, System, Unstack, counts_events, is_itm,
    is_ppb,
};
use super::registers::{COUNT, LR, SP};
use super::timing::{Pending, ThreeStage};
use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::core::Stop;
use crate::core::debug::{Architecture, Group, Register};
use crate::cpu::block::TAKEN;
use crate::cpu::handlers::HANDLER_FAILS;
use crate::cpu::memory_system::access::how;
use crate::encoding::Encoding;
use crate::event_rates::Source;
use crate::faults::CoreFault;
use crate::state::{Fresh, State};
use crate::time::Cycles;

/// DWT_CYCCNT, and the note about it if it stood still.
const CYCCNT: u32 = 0xe000_1004;
const CYCCNT_STOPS: &str = "DWT_CYCCNT stands still while the core sleeps, unless DBGMCU_CR.DBG_SLEEP is set";
/// Lowest EXC_RETURN value.
const RETURNS: u32 = 0xf000_0000;

/// State of exceptions under way.
#[derive(Clone, Debug, Default, PartialEq, State)]
pub struct Flow {
    /// SP and the first address have been read.
    started: bool,
    under_way: Option<UnderWay>,
    /// Maps under which decoded code was fetched, without privilege and with it; `None` without such code.
    #[state(skip)]
    fetched_under: [Option<FetchMap>; 2],
}

/// Work under way between instructions.
#[derive(Clone, Debug, PartialEq, State, Fresh)]
enum UnderWay {
    Entry(Entering),
    Return(Returning),
}

/// An exception return under way.
#[derive(Clone, Debug, PartialEq, State, Fresh)]
struct Returning {
    frame: Unstack,
    /// The EXC_RETURN value.
    link: u32,
    /// The core cycle in which the code after it continues.
    ends: u64,
}

/// An exception entry under way.
#[derive(Clone, Debug, PartialEq, State, Fresh)]
struct Entering {
    /// LR in its handler.
    link: u32,
    /// The core cycle in which its handler begins, if no more urgent exception arrives.
    ends: u64,
    /// The exception selected so far, if known.
    number: Option<u8>,
    /// The fault of an instruction that caused it, if any.
    fault: Option<CoreFault>,
}

impl Profile for System {
    type Flow = Flow;

    const EXCEPTIONS: &str = "exception entry and return";
    const ARCHITECTURE: Architecture = Architecture::ArmM;
    const COMPILES_UNCACHED: bool = false;
    const THUMB: Encoding = Encoding::T32M;

    fn begin(core: &mut Arm<System>, bus: &mut Bus) {
        if !core.isa.flow.started {
            core.start(bus);
        }
    }

    fn vector_table(core: &Arm<System>) -> Option<u32> {
        Some(core.config.vectors)
    }

    fn set_vector_table(core: &mut Arm<System>, table: u32) {
        core.config.vectors = table;
        core.isa.system = System::new(core.config);
    }

    fn reset(core: &mut Arm<System>, bus: &mut Bus) {
        core.isa.system = System::new(core.config);
        *core.isa.system.event_register() = EventRegister::after(core.interrupts(bus).events());
        (core.x, core.isa.s, core.pc) = ([0; COUNT], [0; 64], 0);
        core.isa.flow = Flow::default();
        (core.shell.waiting, core.shell.stop, core.pending) = (false, None, Pending::NONE);
        core.memory.translation_changed(&core.isa.system);
        core.memory.privilege_changed(true);
        core.memory.forget_slave();
        core.drop_blocks();
        core.start(bus);
    }

    fn clock_changed(core: &mut Arm<System>, before: u64) {
        let now = core.shell.cycles;
        let move_on = |ends: &mut u64| *ends = now + ends.saturating_sub(before);
        match &mut core.isa.flow.under_way {
            Some(UnderWay::Entry(entering)) => move_on(&mut entering.ends),
            Some(UnderWay::Return(returning)) => move_on(&mut returning.ends),
            None => {}
        }
    }

    fn is_between(core: &Arm<System>) -> bool {
        core.isa.flow.under_way.is_some()
    }

    fn go_on(core: &mut Arm<System>, bus: &mut Bus) {
        match core.isa.flow.under_way.take() {
            Some(UnderWay::Entry(entering)) => core.go_on_entering(bus, entering),
            Some(UnderWay::Return(returning)) => core.go_on_returning(bus, returning),
            None => {}
        }
    }

    fn take(core: &mut Arm<System>, bus: &mut Bus, _exception: Exception) {
        core.enter(bus, core.pc, None);
    }

    fn raise(core: &mut Arm<System>, bus: &mut Bus, exception: Exception) {
        core.raise_fault(bus, exception);
    }

    #[inline]
    fn is_at_return(core: &Arm<System>) -> bool {
        core.pc >= RETURNS
    }

    #[inline]
    fn follow_jump(core: &mut Arm<System>, bus: &mut Bus) {
        if core.pc >= RETURNS && core.isa.flow.under_way.is_none() {
            core.return_from_handler(bus);
        }
    }

    fn special_registers(core: &Arm<System>, _bus: &Bus) -> Vec<Register> {
        let registers = core.isa.system.special_registers(&core.x);
        registers.into_iter().map(|(name, value)| Register::word(name, Group::System, value)).collect()
    }

    fn set_special_register(core: &mut Arm<System>, bus: &mut Bus, number: usize, value: u32) -> bool {
        let before = core.isa.system.protection();
        let is_set = core.isa.system.set_special_register(&mut core.x, number, value);
        core.follow_system(before);
        core.update_limit(bus);
        is_set
    }

    /// Flags, T and ITSTATE: the active exception stays.
    fn set_status(core: &mut Arm<System>, value: u32) -> bool {
        core.isa.system.restore_xpsr(&mut core.x, value);
        core.drop_blocks();
        true
    }

    fn peek_own(core: &Arm<System>, addr: u32, size: AccessSize) -> Option<u32> {
        is_ppb(addr).then(|| core.isa.system.peek_own(addr, size, core.shell.clocked(core.shell.cycles)))?
    }

    #[inline]
    fn follow_map(core: &mut Arm<System>) {
        let privileged = core.isa.system.is_privileged();
        let before = &core.isa.flow.fetched_under[usize::from(privileged)];
        if !before.as_ref().is_some_and(|before| core.isa.system.has_fetch_map(before)) {
            core.look_at_map(privileged);
        }
    }

    fn prepare_vfp(core: &mut Arm<System>, bus: &mut Bus, begins: u64) -> Result<u64, Option<Exception>> {
        core.prepare_floating(bus, begins)
    }

    #[inline]
    fn is_own(addr: u32) -> bool {
        is_ppb(addr)
    }

    fn load_own(core: &mut Arm<System>, bus: &mut Bus, cycle: u64, access: Own) -> Result<u32, Exception> {
        let clocked_cycles = core.shell.clocked(cycle);
        core.report_events(access);
        if access.addr == CYCCNT && core.isa.system.traces() {
            core.shell.note_stop(bus, CYCCNT_STOPS);
        }
        let own = core.isa.system.load_own(access.addr, access.size, clocked_cycles).map_err(Exception::DataAbort)?;
        let Some(entry) = core.traced(bus, access) else { return Ok(own) };
        let at = core.shell.clock.ps_at_floor(Cycles(cycle));
        Ok(bus.read_beat(entry, at, access.addr, access.size).map_or(0, |(value, _)| value))
    }

    fn store_own(core: &mut Arm<System>, bus: &mut Bus, cycle: u64, access: Own, value: u32) -> Result<(), Exception> {
        let clocked_cycles = core.shell.clocked(cycle);
        if let Some(entry) = core.traced(bus, access) {
            core.isa.system.load_own(access.addr, access.size, clocked_cycles).map_err(Exception::DataAbort)?;
            let at = core.shell.clock.ps_at_floor(Cycles(cycle));
            // The macrocell refuses no access.
            let _answered = bus.write_beat(entry, at, access.addr, access.size, value);
            return Ok(());
        }
        core.report_events(access);
        match core
            .isa
            .system
            .store_own(access.addr, access.size, value, clocked_cycles)
            .map_err(Exception::DataAbort)?
        {
            Outcome::Done => {}
            Outcome::TranslationChanged => core.map_changed(),
            Outcome::RegionsChanged => core.regions_changed(),
            Outcome::Reset => core.shell.fault(core.reset_request()),
        }
        Ok(())
    }
}

impl Arm<System> {
    /// Instructions are about to run under another map than before, or in a new mode: drops decoded code if the same
    /// addresses come from elsewhere now.
    #[cold]
    #[inline(never)]
    fn look_at_map(&mut self, privileged: bool) {
        let now = self.isa.system.fetch_map();
        let before = self.isa.flow.fetched_under[usize::from(privileged)].replace(now);
        if before.is_some_and(|before| self.moves_code(&now, &before, privileged)) {
            self.isa.flow.fetched_under[usize::from(!privileged)] = None;
            self.drop_blocks();
        }
    }

    /// True if decoded code would not come from the same place, or could not be fetched.
    fn moves_code(&self, now: &FetchMap, before: &FetchMap, privileged: bool) -> bool {
        now.differs_where(before, privileged, |first, last| self.blocks.have_code_between(first, last))
    }

    /// Follows a write of regions by firmware: many systems move one at each switch of tasks, to guard a stack. Then
    /// decoded and compiled code stays.
    fn regions_changed(&mut self) {
        let privileged = self.isa.system.is_privileged();
        let now = self.isa.system.fetch_map();
        let before = self.isa.flow.fetched_under[usize::from(privileged)];
        if before.is_some_and(|before| !self.moves_code(&now, &before, privileged)) {
            self.isa.flow.fetched_under[usize::from(privileged)] = Some(now);
            self.memory.rights_changed();
        } else {
            self.map_changed();
        }
    }

    /// After reset: loads the main stack pointer and the first address from the first words of the vector table, unless
    /// the program has been placed.
    fn start(&mut self, bus: &Bus) {
        self.isa.flow.started = true;
        let waits_for_grants = self.memory.learn_grants(bus);
        if let Some(stages) = &mut self.timing.three_stage {
            stages.waits_for_grants = waits_for_grants;
        }
        self.x[usize::from(LR)] = u32::MAX;
        let base = self.isa.system.vectors();
        if let Some(sp) = bus.peek_word(base) {
            self.x[usize::from(SP)] = sp & !3;
        }
        if self.pc == 0
            && let Some(first) = bus.peek_word(base.wrapping_add(4))
        {
            self.set_place(first, 0);
        }
    }

    /// Passes the counts for the event counters to the watchpoint unit, before an access that may read or start them
    /// (ARM, C1.8.4; by the definitions there: a cycle belongs to one of them, or is an instruction's own first cycle).
    fn report_events(&mut self, access: Own) {
        if !counts_events(access.addr) {
            return;
        }
        let (totals, waited) = self.totals_at(access.place.0, access.place.1);
        let (fixed, spent, memory) = (totals.fixed, totals.spent, totals.memory);
        let fetches = memory.fetches();
        let further = fixed.operand_wait + fixed.long_operation + fixed.jump + spent.mispredicted + spent.annulled;
        self.isa.system.set_events(Events {
            cpi: further.wrapping_sub(spent.saved).wrapping_sub(fixed.accesses).wrapping_add(fetches),
            exceptions: spent.exceptions,
            sleep: spent.idle,
            load_store: fixed.accesses + waited + (memory.total() - fetches),
            // A folded instruction, issued with the one before it, has no cycle of its own.
            folded: totals.instructions - fixed.issue,
        });
    }

    /// The map entry of the instrumentation macrocell, for an access to it: on a board that has one, while trace is on.
    fn traced(&self, bus: &Bus, access: Own) -> Option<usize> {
        if !is_itm(access.addr) || !self.isa.system.traces() {
            return None;
        }
        bus.entry_at(access.addr)
    }

    fn stages(&self) -> ThreeStage {
        self.timing.three_stage.unwrap_or_default()
    }

    fn account(&mut self, cycles: u64) {
        self.shell.cycles += cycles;
        self.shell.spent.exceptions += cycles;
    }

    // ---- Entry

    /// Begins the entry to the pending exception, with a frame that returns to `return_pc`.
    fn enter(&mut self, bus: &mut Bus, return_pc: u32, fault: Option<CoreFault>) {
        if self.follows_calls() {
            self.follow_exception(source_of(self.isa.system.due().unwrap_or_default()));
        }
        let frame = self.isa.system.begin_entry(&mut self.x, return_pc);
        let stored = self.store_frame(bus, &frame);
        let ends = self.shell.cycles + u64::from(self.timing.exception) + stored;
        self.begin_entering(bus, frame.link, ends, fault);
    }

    /// Begins the entry to the pending exception with the existing frame, after a jump that took `jump_cycles`.
    fn chain(&mut self, bus: &mut Bus, link: u32, jump_cycles: u64, fault: Option<CoreFault>) {
        let ends = self.shell.cycles + u64::from(self.stages().tail_chain).saturating_sub(jump_cycles);
        self.begin_entering(bus, link, ends, fault);
    }

    fn begin_entering(&mut self, bus: &mut Bus, link: u32, ends: u64, fault: Option<CoreFault>) {
        self.shell.exceptions += 1;
        self.pending = Pending::NONE;
        self.left = None;
        self.isa.flow.under_way = Some(UnderWay::Entry(Entering { link, ends, number: self.isa.system.due(), fault }));
        self.update_limit(bus);
    }

    /// Lets time pass up to `ends`, or to the next possible event: true if `ends` is reached.
    fn pass_until(&mut self, ends: u64) -> bool {
        let to = ends.min(self.shell.deadline.limit).max(self.shell.cycles);
        self.account(to - self.shell.cycles);
        to >= ends
    }

    fn go_on_entering(&mut self, bus: &mut Bus, mut entering: Entering) {
        let due = self.isa.system.due();
        if entering.number != due {
            entering.number = due;
            entering.ends = entering.ends.max(self.shell.cycles + u64::from(self.stages().tail_chain));
        }
        if self.pass_until(entering.ends) {
            self.activate(bus, entering);
        } else {
            self.isa.flow.under_way = Some(UnderWay::Entry(entering));
        }
    }

    /// Activates the most urgent exception.
    fn activate(&mut self, bus: &mut Bus, entering: Entering) {
        let before = self.isa.system.protection();
        let Some(activated) = self.isa.system.activate(&mut self.x, entering.link) else {
            let fault = entering.fault.unwrap_or_else(|| self.fault_of(Exception::Due));
            return self.lock_up(fault);
        };
        match self.load_word(bus, activated.vector, how::ALIGNED) {
            Ok(handler) => self.set_place(handler, 0),
            Err(_) if self.isa.system.vector_failed(activated.number).is_err() => {
                let fault = self.fault_of_vector(activated.vector, entering.fault);
                return self.lock_up_as("it locks the core up: the vector of its handler can't be read", fault);
            }
            Err(_) => {
                let fault = Some(self.fault_of_vector(activated.vector, entering.fault));
                return self.chain(bus, entering.link, 0, fault);
            }
        }
        self.follow_system(before);
        let source = source_of(activated.number);
        if let Some(input) = source.input
            && self.isa.system.take_pended_again() == Some(activated.number)
            && !bus.core_irqs[self.shell.index as usize].is_up(input)
        {
            bus.event_rates.entries.entered_once_more(self.shell.index, input);
        }
        bus.exception(self.shell.index, self.shell.now(), source);
        self.follow_chained(source);
        match activated.number {
            number::SYS_TICK => self.shell.note_raised(bus, source, Some(SYSTICK_INPUT)),
            number::PEND_SV | number::SVCALL => self.shell.note_asked_for(),
            _ => self.shell.note_raised(bus, source, source.input),
        }
        if let Some(fault) = entering.fault {
            self.note_fault(bus, fault);
        }
        self.update_limit(bus);
    }

    // ---- Return

    /// Begins the exception return of an instruction that has jumped to an EXC_RETURN value.
    fn return_from_handler(&mut self, bus: &mut Bus) {
        let link = self.pc | u32::from(self.isa.system.state.thumb);
        if !self.isa.system.is_return(link) {
            return;
        }
        // The first cycles of the return are those of the jump itself, as in a jump within the program; the jump by
        // which its block was entered does not count.
        let taken = |(index, exit): (u32, usize)| {
            let [fallen, taken] = &self.blocks.cold[index as usize].breakdown;
            if exit == TAKEN { taken.jump - fallen.jump } else { 0 }
        };
        let jump_cycles = 1 + self.left.take().map_or(0, taken);
        self.pending = Pending::NONE;
        match self.isa.system.begin_return(&self.x, link) {
            Ok(Return::Chain(link)) => self.chain(bus, link, jump_cycles, None),
            Ok(Return::Unstack(frame)) => {
                let ends = self.shell.cycles + u64::from(self.timing.exception_return).saturating_sub(jump_cycles);
                self.isa.flow.under_way = Some(UnderWay::Return(Returning { frame, link, ends }));
            }
            Err(exception) => self.refuse_return(bus, exception, link),
        }
    }

    /// Continues a return; an exception that becomes pending before the end is handled with the existing frame.
    fn go_on_returning(&mut self, bus: &mut Bus, returning: Returning) {
        if self.isa.system.due().is_some() {
            self.chain(bus, returning.link, 0, None);
        } else if self.pass_until(returning.ends) {
            self.finish(bus, returning);
        } else {
            self.isa.flow.under_way = Some(UnderWay::Return(returning));
        }
    }

    fn finish(&mut self, bus: &mut Bus, returning: Returning) {
        let before = self.isa.system.protection();
        let words = self.load_frame(bus, &returning.frame);
        match self.isa.system.finish_return(&mut self.x, returning.frame, &words) {
            Ok(pc) => {
                self.pc = pc;
                self.follow_system(before);
                self.follow_exception_return(bus);
                self.sleep_on_exit();
            }
            Err(exception) => self.refuse_return(bus, exception, returning.link),
        }
        self.update_limit(bus);
    }

    /// Raises the exception of an invalid return: it is a fault of the returning code, whose frame still exists.
    fn refuse_return(&mut self, bus: &mut Bus, exception: Exception, link: u32) {
        let fault = self.fault_of(exception);
        match self.isa.system.raise(exception, self.pc) {
            Ok(_) if self.is_endless() => self.end(CoreFault { why_fatal: HANDLER_FAILS, ..fault }),
            Ok(_) => self.chain(bus, link, 0, Some(fault)),
            Err(_) => self.lock_up(fault),
        }
    }

    fn sleep_on_exit(&mut self) {
        if self.isa.system.sleeps_on_exit() && self.isa.system.due().is_none() {
            self.shell.waiting = true;
            self.isa.system.event_register().wait_for_interrupt();
            self.shell.stop = Some(Stop::Waiting);
        }
    }

    /// Follows a change of mode, which may change the protection by regions.
    fn follow_system(&mut self, before: Protection) {
        self.memory.privilege_changed(self.isa.system.is_privileged());
        if self.isa.system.protection() != before {
            self.memory.translation_changed(&self.isa.system);
        }
    }
}

/// The report's source for an exception number.
fn source_of(exception: u8) -> Source {
    let input = exception.checked_sub(number::EXTERNAL).map(u32::from);
    Source { name: number::name(exception), number: input, input }
}
