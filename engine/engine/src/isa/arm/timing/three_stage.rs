//! Costs of instructions in a core of three stages without forwarding to addresses: a Cortex-M4.
//!
//! A load or store of one register has its address cycle, then its data cycle. The address cycle of one right after a
//! load overlaps the load's data cycle, unless its address needs the loaded register; constants beside the code are in
//! another memory, and overlap only each other. Loads through registers overlap loads of the same memory; whether they
//! are of the same one, blocks find out when they run. A store to an immediate offset has its data cycle while the next
//! instruction executes, but a load right after it waits for that cycle. A nop executes in the data cycle of a load, or
//! of a store with an index in a register. (Cortex-M4 TRM, Load/store timings; jnk0le/random, measured on an
//! STM32F407.) A base register that is written back is ready as late as a result of arithmetic.

mod floating;
mod front_end;
mod system_bus;
#[cfg(test)]
mod tests;

pub use floating::Uses as FloatingUses;
pub use front_end::FrontEnd;

use front_end::Schedule;

use super::{CoreTiming, Cost, HAS_FPU, LONGEST_INSTRUCTION_CYCLES, Pending, cycles};
use crate::cpu::cost::{InRow, OnBus};
use crate::dt::reader::NodeReader;
use crate::isa::arm::decoded::Decoded;
use crate::isa::arm::op::{Instr, TimingClass};
use crate::isa::arm::registers::{FLAGS, LR, one};
use crate::state::Fresh;

/// The part of the timing table that only such a core has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, crate::state::State, Fresh)]
pub struct ThreeStage {
    /// Stall of a load or store whose address depends on the result of the arithmetic instruction before it.
    pub address_use: u8,
    /// A load of one register, or a store to an offset in a register, by itself.
    pub load: u8,
    /// A load or store multiple, beyond a cycle for each register.
    pub multiple: u8,
    /// Further cycles of a jump whose target is known at execution: to an address in a register, by cbz or cbnz.
    pub register_jump: u8,
    /// Further cycles of a jump to an address from memory.
    pub memory_jump: u8,
    /// A table branch, before its jump.
    pub table_branch: u8,
    /// Cycles of a store to an immediate offset that overlap the data cycle of a load right before it: 0 or 1.
    pub store_overlap: u8,
    /// Wait of a load right after a store to an immediate offset: 0 or 1.
    pub store_to_load: u8,
    /// Wait of a load or store that would overlap a load, but is of another memory.
    pub other_memory: u8,
    /// The front end.
    pub front_end: FrontEnd,
    /// Some accesses on an idle system bus wait for a bus matrix: blocks mark them.
    pub waits_for_grants: bool,
    /// A move between two general registers and floating-point registers.
    pub vfp_move_two: u8,
    /// Stall of an instruction right after floating-point arithmetic whose result it uses: 0 or 1.
    pub vfp_use: bool,
    /// Store or load of floating-point state on the stack, in an exception or later.
    pub floating_frame: u8,
    /// From a return to the next exception's handler: tail-chaining. Also the part of an exception's entry in which the
    /// vector is read.
    pub tail_chain: u8,
}

impl ThreeStage {
    /// Reads its table from a `cpu` node.
    pub fn from_node(reader: &mut NodeReader, vfp: bool) -> ThreeStage {
        let meaning = "cycles of floating-point state to or from the stack";
        let frame = "cyclescope,floating-frame-cycles";
        let floating_frame = reader.only_if(vfp, HAS_FPU, |reader| reader.instruction_cycles(frame, 0, meaning));
        let vfp_move_two = reader.only_if(vfp, HAS_FPU, |reader| {
            cycles(reader, "vfp-move-two", 1, "cycles of a move between two general registers and VFP registers")
        });
        let vfp_use = reader.only_if(vfp, HAS_FPU, |reader| {
            reader.flag(
                "cyclescope,late-vfp-results",
                "VFP arithmetic gives its result to the next instruction a cycle late",
            )
        });
        ThreeStage {
            vfp_move_two: vfp_move_two.unwrap_or(1),
            vfp_use: vfp_use.unwrap_or(false),
            address_use: cycles(
                reader,
                "address-use",
                0,
                "stall of a load or store right after the instruction that computes its address",
            ),
            load: cycles(reader, "load", 1, "cycles of a load, or a store to an offset in a register, by itself"),
            multiple: cycles(reader, "several", 0, "cycles of a load or store of several registers beyond one each"),
            register_jump: cycles(
                reader,
                "register-jump",
                0,
                "further cycles of a jump that its execution decides: to an address in a register but LR, cbz, cbnz",
            ),
            memory_jump: cycles(reader, "memory-jump", 0, "further cycles of a jump to an address from memory"),
            table_branch: cycles(
                reader,
                "table-branch",
                1,
                "cycles of a table branch before the pipeline is filled anew",
            ),
            store_overlap: cycles(
                reader,
                "store-overlap",
                0,
                "cycles, 0 or 1, of a store that pass in the data cycle of a load right before it",
            ),
            store_to_load: cycles(reader, "store-to-load", 0, "wait of a load right after a store"),
            other_memory: cycles(
                reader,
                "other-memory",
                0,
                "wait of a load, or of a store right after a load, if the load before it is of another memory",
            ),
            front_end: FrontEnd::from_node(reader),
            waits_for_grants: false,
            floating_frame: floating_frame.unwrap_or(0),
            tail_chain: cycles(reader, "tail-chain", 1, "cycles from a return to the next exception's handler"),
        }
    }

    /// Passes one instruction, as [`CoreTiming::step`] does.
    pub fn step(&self, table: &CoreTiming, decoded: &Decoded, pending: &mut Pending) -> Cost {
        let State { front, before, from, floating, system_bus, link_written } = pending.stages;
        if let Some(front) = self.front_end.fold(decoded, front) {
            // It has no other effect, except that an IT instruction right after it is not folded.
            pending.stages.front = front;
            return Cost::default();
        }
        let instr = &decoded.instr;
        let alone_cycles = self.issue_cycles(table, instr);
        let data_cycles = self.data_cycles(before, instr);
        let schedule = self.schedule(decoded, pending, alone_cycles);
        let (late_cycles, front_after) = self.front_end.pass(decoded, front, schedule);
        let along = schedule.overlap_cycles > 0;
        let (for_front_end, for_target) = if front.jumped() { (0, late_cycles) } else { (late_cycles, 0) };
        let stall_cycles = schedule.wait_cycles + for_front_end;
        let issue_cycles = alone_cycles - schedule.overlap_cycles;
        let refill_cycles = for_target + self.front_end.system_cycles(decoded, front);
        let (on_bus, system_bus) = match self.waits_for_grants {
            true => system_bus.pass(decoded, before, stall_cycles - data_cycles, issue_cycles, along),
            false => (OnBus::AsItIs, system_bus),
        };
        let in_row = self.place_in_row(decoded, along && before == Before::Load, from);
        let cost = Cost { stall_cycles, issue_cycles, refill_cycles, on_bus, in_row };
        *pending = Pending::NONE;
        pending.stages.before = Before::of(decoded);
        pending.stages.from = Address::of_load(decoded);
        pending.stages.system_bus = system_bus;
        // A jump to LR depends on the write to LR for longer than its own cycles.
        let keeps = link_written && instr.class == TimingClass::IndirectBranch;
        pending.stages.link_written = keeps || instr.writes & one(LR) != 0;
        pending.stages.floating = self.floating_after(table, decoded, floating, cost.cycles());
        pending.stages.front = if instr.class == TimingClass::InstructionBarrier {
            self.front_end.jumped(u32::from(self.register_jump))
        } else {
            front_after
        };
        self.give_results(decoded, pending);
        cost
    }

    /// When an instruction that takes `alone_cycles` by itself can start.
    fn schedule(&self, decoded: &Decoded, pending: &Pending, alone_cycles: u32) -> Schedule {
        let instr = &decoded.instr;
        let before = pending.stages.before;
        let waits = pending.latest_of(instr.reads_early, pending.ready) > 0;
        let may_overlap = match before {
            Before::Load if instr.class == TimingClass::Store && !has_index(instr) => self.store_overlap > 0,
            Before::Load => decoded.is_nop || is_single(instr) && !is_of_code(decoded),
            Before::Constant => decoded.is_nop || is_single(instr) && is_of_code(decoded),
            Before::IndexedStore => decoded.is_nop,
            Before::Store | Before::Other => false,
        };
        let early = if accesses(instr) { pending.latest_of(instr.reads_early, pending.early) } else { 0 };
        // After a load, the address is ready when an instruction that does not overlap with the load begins.
        let for_address = if may_overlap && waits { 0 } else { early };
        let overlaps = may_overlap && !waits && for_address == 0;
        let for_operands = for_address.max(pending.stages.floating.stall_cycles(decoded.floating));
        Schedule {
            wait_cycles: for_operands.max(self.data_cycles(before, instr)),
            overlap_cycles: u32::from(overlaps),
            alone_cycles,
        }
    }

    /// Cycles that an instruction waits for the data cycle of a store: a load's address cycle cannot overlap it.
    fn data_cycles(&self, before: Before, instr: &Instr) -> u32 {
        let follows = before == Before::Store && accesses(instr) && !stores(instr);
        if follows { u32::from(self.store_to_load) } else { 0 }
    }

    /// The place of an instruction in a row of loads. `along`: it overlaps the load before it, whose address is `from`.
    fn place_in_row(&self, decoded: &Decoded, along: bool, from: Address) -> InRow {
        match Before::of(decoded) {
            _ if self.other_memory == 0 => InRow::Alone,
            _ if along && accesses(&decoded.instr) && from.may_be_elsewhere(Address::of(&decoded.instr)) => {
                InRow::Next(self.other_memory)
            }
            Before::Load => InRow::First,
            _ => InRow::Alone,
        }
    }

    /// Floating-point results under way after an instruction of this many cycles.
    fn floating_after(
        &self,
        table: &CoreTiming,
        decoded: &Decoded,
        before: floating::State,
        cycles: u32,
    ) -> floating::State {
        let goes_on_cycles = match decoded.instr.class {
            TimingClass::VfpDivide32 => table.vfp_divide_single.max(1) - 1,
            _ => 0,
        };
        before.pass(decoded.floating, cycles, goes_on_cycles, self.vfp_use)
    }

    /// Sets when the next instruction can use the results of an instruction. `ready` applies to loaded registers,
    /// `early` to computed ones.
    fn give_results(&self, decoded: &Decoded, pending: &mut Pending) {
        use TimingClass::*;
        let instr = &decoded.instr;
        let computed = instr.writes & !decoded.loaded;
        match instr.class {
            // A base register that is written back.
            Load => pending.set(computed, [1, self.address_use]),
            Store => pending.set(computed, [0, self.address_use]),
            _ if accesses(instr) => {}
            _ => pending.set(computed, [0, self.address_use]),
        }
        pending.set(decoded.loaded, [1, 0]);
    }

    /// Cycles of an instruction that overlaps no other one.
    fn issue_cycles(&self, table: &CoreTiming, instr: &Instr) -> u32 {
        use TimingClass::*;
        let multiple = (u32::from(self.multiple) + u32::from(instr.words)).clamp(1, LONGEST_INSTRUCTION_CYCLES);
        match instr.class {
            Load | Exclusive => u32::from(self.load),
            Store if has_index(instr) => u32::from(self.load),
            LoadMultiple | StoreMultiple | VfpLoad | VfpStore => multiple,
            IndirectBranch if instr.words > 0 => multiple,
            TableBranch => u32::from(self.table_branch.max(1)),
            Exception => 1,
            // The pipeline is refilled after it.
            InstructionBarrier => u32::from(table.barrier.max(1)) + u32::from(self.register_jump),
            VfpMoveTwo => u32::from(self.vfp_move_two.max(1)),
            // Its other cycles pass beside other instructions.
            VfpDivide32 => 1,
            _ => table.issue_cycles(instr),
        }
    }

    /// The state after a jump, for which `cycles` pass.
    pub fn jump(&self, stages: &mut State, cycles: u32) {
        *stages = State { front: self.front_end.jumped(cycles), ..stages.waited(cycles) };
    }

    /// Further cycles of a jump, with the results under way before it. A target that is known at decoding is fetched a
    /// cycle earlier than one that is known at execution: branches to fixed addresses, and to LR, if that is not being
    /// written (Cortex-M3 TRM, DDI 0337G, table 15-3; the target of cbz and cbnz is known at execution).
    pub fn refill_cycles(&self, table: &CoreTiming, instr: &Instr, before: &Pending) -> u32 {
        let at_decoding = table.taken_branch.max(1) - 1;
        u32::from(match (instr.class, instr.words) {
            (TimingClass::IndirectBranch, 0) => {
                let has_link = !before.stages.link_written && instr.reads & !FLAGS == one(LR);
                if has_link { at_decoding } else { self.register_jump }
            }
            (TimingClass::IndirectBranch | TimingClass::TableBranch, _) => self.memory_jump,
            (TimingClass::Branch, _) if instr.reads & !FLAGS != 0 => self.register_jump,
            _ => at_decoding,
        })
    }
}

/// State of a core of three stages beside the registers' waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, crate::state::State, Fresh)]
pub struct State {
    front: front_end::State,
    /// The last instruction, as far as the next one may overlap or wait for its data cycle.
    before: Before,
    from: Address,
    floating: floating::State,
    system_bus: system_bus::State,
    /// The last instruction writes LR.
    link_written: bool,
}

impl State {
    /// The empty state.
    pub const NONE: State = State {
        front: front_end::State::NONE,
        before: Before::Other,
        from: Address::Unknown,
        floating: floating::State::NONE,
        system_bus: system_bus::State::NONE,
        link_written: false,
    };

    /// The state after a wait of `cycles`.
    pub fn waited(self, cycles: u32) -> State {
        State {
            front: front_end::State::NONE,
            before: Before::Other,
            from: Address::Unknown,
            floating: self.floating.pass(FloatingUses::default(), cycles, 0, false),
            system_bus: system_bus::State::NONE,
            link_written: false,
        }
    }
}

/// The data cycle of the last instruction, beside which the next one may execute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, crate::state::State, Fresh)]
enum Before {
    #[default]
    Other,
    /// A load of one register.
    Load,
    /// A load of a constant beside the code, in another memory than data.
    Constant,
    /// A store of one register.
    Store,
    /// A store of one register to an address with an index in a register.
    IndexedStore,
}

/// How a load or store of one register finds its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, crate::state::State, Fresh)]
enum Address {
    /// There is no address, or the load may not run.
    #[default]
    Unknown,
    /// By several registers.
    Indexed,
    /// By this register.
    Base(u8),
}

impl Address {
    fn of(instr: &Instr) -> Address {
        match instr.reads_early.count_ones() {
            0 => Address::Unknown,
            1 => Address::Base(instr.reads_early.trailing_zeros() as u8),
            _ => Address::Indexed,
        }
    }

    /// That of a load that runs.
    fn of_load(decoded: &Decoded) -> Address {
        let is_load = decoded.instr.class == TimingClass::Load && !is_of_code(decoded);
        if decoded.it == 0 && is_load { Address::of(&decoded.instr) } else { Address::Unknown }
    }

    /// True if an access right after a load from this address may be of another memory: not by the same base alone.
    fn may_be_elsewhere(self, next: Address) -> bool {
        self != Address::Unknown && (self == Address::Indexed || self != next)
    }
}

impl Before {
    fn of(decoded: &Decoded) -> Before {
        let instr = &decoded.instr;
        match instr.class {
            TimingClass::Load if is_of_code(decoded) => Before::Constant,
            TimingClass::Load | TimingClass::Exclusive => Before::Load,
            TimingClass::Store if has_index(instr) => Before::IndexedStore,
            TimingClass::Store => Before::Store,
            _ => Before::Other,
        }
    }
}

/// True for a load of a constant beside code that has buses of its own.
fn is_of_code(decoded: &Decoded) -> bool {
    decoded.instr.class == TimingClass::Load && decoded.instr.reads_early == 0 && !decoded.on_system_bus
}

/// True for a store to an address with an index in a register: it is a second register of the address.
fn has_index(instr: &Instr) -> bool {
    instr.reads_early.count_ones() > 1
}

/// True for a load or store of one register.
fn is_single(instr: &Instr) -> bool {
    matches!(instr.class, TimingClass::Load | TimingClass::Store | TimingClass::Exclusive)
}

fn stores(instr: &Instr) -> bool {
    matches!(instr.class, TimingClass::Store | TimingClass::StoreMultiple | TimingClass::VfpStore)
}

/// True for an instruction that loads or stores.
pub fn accesses(instr: &Instr) -> bool {
    use TimingClass::*;
    matches!(instr.class, Load | Store | LoadMultiple | StoreMultiple | Exclusive | VfpLoad | VfpStore)
        || matches!(instr.class, IndirectBranch | TableBranch) && instr.words > 0
}
