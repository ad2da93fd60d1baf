//! A toy instruction set for tests: the minimum that an [`Isa`] has to supply. Not part of a build without the feature
//! `testing`.
//!
//! Instructions have four bytes: the code, two registers a and b out of sixteen, and a number from -128 to 127.
//! Register 15 is the stack pointer, 14 holds the return address of calls, 13 that of the interrupt handler, which is
//! at [`HANDLER`].

use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::core::Stop;
use crate::core::debug::{Architecture, Register};
use crate::cpu::access::{AccessRequest, Moves};
use crate::cpu::block::{Blocks, Draft, Entry, FALLEN, TAKEN};
use crate::cpu::calls::Flow;
use crate::cpu::cost::Cost;
use crate::cpu::isa::{AbortOf, CauseNames, Isa, Pending};
use crate::cpu::memory_system::{Identity, Via};
use crate::cpu::polling_loops::iteration::Iteration;
use crate::cpu::read::Read;
use crate::cpu::{Config, Cpu};
use crate::elf::Machine;
use crate::event_rates::Source;
use crate::faults::CoreFault;
use crate::inputs::Inputs;
use crate::state::{Fresh, State};

/// A core of this instruction set.
pub type ToyCore = Cpu<Toy>;

/// Not an address of an instruction.
const NOWHERE: u32 = 1;
/// Address of the interrupt handler.
pub const HANDLER: u32 = 0x40;
const LINK: usize = 14;
const INTERRUPTED: usize = 13;

/// Code of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// Not an instruction.
    Illegal,
    /// a = b + number.
    Add,
    /// a = the word at b + number.
    Load,
    /// The word at b + number = a.
    Store,
    /// If a is not 0, branches by this number of instructions.
    BranchIf,
    /// Jumps to b; a = the address after the instruction.
    Jump,
    /// Waits for an interrupt.
    Wait,
    /// Returns from the interrupt handler.
    Return,
    /// Ends the run with the number as status.
    Exit,
    /// Not an instruction: the end of a block.
    End,
    /// Not an instruction: the block is left here.
    Leave,
}

const CODES: [Code; 9] = [
    Code::Illegal,
    Code::Add,
    Code::Load,
    Code::Store,
    Code::BranchIf,
    Code::Jump,
    Code::Wait,
    Code::Return,
    Code::Exit,
];

/// An instruction, which is its own operation.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// What it does.
    pub code: Code,
    /// The first register.
    pub a: u8,
    /// The second one.
    pub b: u8,
    /// Its number.
    pub number: i8,
}

impl Op {
    fn of([code, a, b, number]: [u8; 4]) -> Op {
        let code = CODES.get(usize::from(code)).copied().unwrap_or(Code::Illegal);
        Op { code, a: a & 15, b: b & 15, number: number as i8 }
    }

    const fn end(code: Code) -> Op {
        Op { code, a: 0, b: 0, number: 0 }
    }

    fn ends_block(self) -> bool {
        !matches!(self.code, Code::Add | Code::Load | Code::Store)
    }
}

/// The register that a load writes in the next cycle but one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub struct Loaded(Option<u8>);

impl Pending for Loaded {
    const NONE: Loaded = Loaded(None);
}

/// The toy's own state.
#[derive(Clone, PartialEq, State)]
pub struct Toy {
    handling: bool,
}

impl Isa for Toy {
    type Config = ();
    type Timing = ();
    type Op = Op;
    type Instr = Op;
    type Context = ();
    type Pending = Loaded;
    type Jump = ();
    type Exception = Option<CoreFaultOf>;
    type Mmu = Identity;
    type Lazy = ();

    const MACHINE: Machine = Machine::RiscV;
    const RESULTS: usize = 16;
    const SP: usize = 13;
    const CAUSES: CauseNames = CauseNames {
        issue: "issue",
        operand_wait: "results of loads",
        long_operation: "",
        jump: "taken branches",
        mispredicted: "",
        annulled: "",
        exceptions: "interrupt entry",
        idle: "wait for interrupt",
    };

    fn new(_config: &()) -> Toy {
        Toy { handling: false }
    }

    fn mmu(&self) -> &Identity {
        &Identity
    }

    fn context(&self) {}

    fn go_to(core: &mut ToyCore, address: u32, (): ()) {
        core.pc = address;
    }

    fn context_of_target(_core: &ToyCore) {}

    fn arguments(_core: &ToyCore) -> [u32; 4] {
        [0; 4]
    }

    /// A jump that stores its return address is a call.
    fn flow(blocks: &Blocks<Toy>, index: u32) -> Flow {
        match blocks.instrs_of(index).last().copied() {
            Some(Op { code: Code::Jump, a, .. }) if usize::from(a) == LINK => Flow::Call,
            Some(Op { code: Code::Jump, .. }) => Flow::Jump,
            _ => Flow::On,
        }
    }

    const ARCHITECTURE: Architecture = Architecture::RiscV32;

    fn debug_registers(_: &ToyCore, _: &Bus) -> Vec<Register> {
        Vec::new()
    }

    fn set_debug_register(_: &mut ToyCore, _: &mut Bus, _: usize, _: u64) -> bool {
        false
    }

    fn registers(core: &ToyCore) -> Vec<u32> {
        std::iter::once(core.pc).chain(core.x[..16].iter().copied()).collect()
    }

    fn read_instr(core: &mut ToyCore, bus: &mut Bus, read: &mut Read<Toy>, at: u32) -> Result<bool, AbortOf<Toy>> {
        let op = Op::of(core.code(bus, at)?);
        read.ops.push(op);
        read.push(op, 4);
        Ok(op.ends_block())
    }

    fn draft(_core: &ToyCore, entry: Entry<(), Loaded>, fetch: Via, read: Read<Toy>) -> Draft<Toy> {
        let mut draft = Draft::new(entry, (), &read);
        for (number, (op, _)) in read.instrs.iter().enumerate() {
            let (_, begins) = draft.pass(&(), *op, fetch);
            draft.push(*op, number, begins);
        }
        draft.end(Op::end(Code::End));
        // A taken branch takes a cycle more, in which a load can complete.
        draft.breakdown[TAKEN].jump += 1;
        draft.pending[TAKEN] = Loaded::NONE;
        let last = read.bytes - 4;
        let target = read.instrs.last().map_or(0, |(op, _)| 4 * i32::from(op.number));
        draft.taken_pc = entry.pc.wrapping_add(last).wrapping_add(target as u32);
        draft
    }

    fn pass((): &(), op: &Op, _fetch: Via, pending: &mut Loaded) -> Cost {
        let sources = match op.code {
            Code::Add | Code::Load | Code::Jump => [Some(op.b), None],
            Code::Store => [Some(op.a), Some(op.b)],
            Code::BranchIf => [Some(op.a), None],
            _ => [None; 2],
        };
        let stall_cycles = u32::from(pending.0.is_some() && sources.contains(&pending.0));
        *pending = Loaded((op.code == Code::Load).then_some(op.a));
        Cost { stall_cycles, issue_cycles: 1, ..Cost::default() }
    }

    fn wait(pending: &mut Loaded, _cycles: u64) {
        *pending = Loaded::NONE;
    }

    fn instr_bytes(_op: &Op) -> u32 {
        4
    }

    fn context_before(_op: &Op, (): ()) {}

    fn execute(core: &mut ToyCore, bus: &mut Bus, mut index: u32, _at: usize) {
        while let Some(exit) = core.run_block(bus, index) {
            let Some(next) = core.next_block(index, exit) else { return };
            index = next;
        }
    }

    fn leave_op() -> Op {
        Op::end(Code::Leave)
    }

    fn accesses(op: &Op) -> bool {
        matches!(op.code, Code::Load | Code::Store)
    }

    fn note_writes(core: &ToyCore, bus: &Bus, index: u32, iteration: &mut Iteration) -> Option<()> {
        let op = core.blocks.ops_from(index)[0];
        match op.code {
            Code::Store => core.note_store(bus, core.address_of(op), iteration),
            _ => (!op.ends_block() || matches!(op.code, Code::BranchIf | Code::Jump)).then_some(()),
        }
    }

    fn fetch_abort(abort: AbortOf<Toy>) -> Option<CoreFaultOf> {
        Some(CoreFaultOf { what: "nothing to fetch", at: abort.va })
    }

    fn data_abort(abort: AbortOf<Toy>) -> Option<CoreFaultOf> {
        Some(CoreFaultOf { what: "nothing there", at: abort.va })
    }

    fn deliverable(&self, inputs: &Inputs) -> Option<Option<CoreFaultOf>> {
        (!self.handling && inputs.low() & 1 != 0).then_some(None)
    }

    fn wakes(&self, inputs: &Inputs) -> bool {
        inputs.low() & 1 != 0
    }

    fn take(core: &mut ToyCore, bus: &mut Bus, _interrupt: Option<CoreFaultOf>) {
        core.x[INTERRUPTED] = core.pc;
        core.pc = HANDLER;
        core.isa.handling = true;
        core.enter_handler(bus, Source { name: "interrupt", number: None, input: Some(0) }, 3);
    }

    fn raise(core: &mut ToyCore, _bus: &mut Bus, exception: Option<CoreFaultOf>) {
        let what = exception.map_or("an interrupt", |fault| fault.what);
        core.shell.fault(CoreFault { pc: core.pc, what, why_fatal: "a toy", ..CoreFault::default() });
    }

    fn call_host(_core: &mut ToyCore, _bus: &mut Bus) {}

    fn set_pc(core: &mut ToyCore, pc: u32) {
        core.pc = pc;
    }
}

/// A fault and its address.
#[derive(Clone, Copy, Debug)]
pub struct CoreFaultOf {
    what: &'static str,
    #[allow(dead_code)]
    at: u32,
}

impl ToyCore {
    /// A core that begins at `pc`.
    pub fn at(config: Config<(), ()>, pc: u32) -> ToyCore {
        let mut core = Cpu::new(config);
        core.pc = pc;
        core
    }

    fn address_of(&self, op: Op) -> u32 {
        self.x[usize::from(op.b)].wrapping_add(op.number as u32)
    }

    /// Runs a block: the exit by which it is left, or `None` if it was left before its end.
    fn run_block(&mut self, bus: &mut Bus, index: u32) -> Option<usize> {
        let mut at = 0;
        loop {
            let op = self.blocks.ops_from(index)[at as usize];
            let (a, addr) = (usize::from(op.a), self.address_of(op));
            match op.code {
                Code::Add => self.x[a] = addr,
                Code::Load | Code::Store => self.access(bus, index, at, op, addr).then_some(())?,
                Code::BranchIf => return Some(if self.x[a] == 0 { FALLEN } else { TAKEN }),
                Code::Jump => {
                    let target = self.x[usize::from(op.b)];
                    self.x[a] = self.blocks.hot[index as usize].end_pc;
                    self.jump_to(index, target);
                    return Some(TAKEN);
                }
                Code::End => return Some(FALLEN),
                Code::Leave => {
                    self.leave_here(index, at);
                    return None;
                }
                _ => {
                    self.system(bus, index, at, op);
                    return None;
                }
            }
            at += 1;
        }
    }

    /// A load or store. True if the block continues.
    fn access(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let size = AccessSize::Word;
        let moves = if op.code == Code::Load { Moves::load(size) } else { Moves::store(size) };
        let (a, request) = (usize::from(op.a), AccessRequest { addr, moves, how: 0 });
        if op.code == Code::Load {
            match self.load_by_shortcut(addr) {
                Some(value) => self.x[a] = value,
                None => return self.load(bus, index, at, request, |core, value| core.x[a] = value),
            }
        } else if !self.store_by_shortcut(addr, self.x[a]) {
            return self.store(bus, index, at, request, self.x[a]);
        }
        true
    }

    fn system(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) {
        let instr = self.blocks.info(index, at).instr;
        self.leave_in_the_middle(index, instr);
        if op.code == Code::Illegal {
            return Toy::raise(self, bus, Some(CoreFaultOf { what: "no instruction", at: NOWHERE }));
        }
        self.complete_last(index);
        self.pc = self.pc.wrapping_add(4);
        match op.code {
            Code::Wait => self.wait(bus),
            Code::Return => (self.pc, self.isa.handling) = (self.x[INTERRUPTED], false),
            _ => self.shell.stop = Some(Stop::Exit(i32::from(op.number))),
        }
        self.update_limit(bus);
    }
}

/// An instruction.
pub fn op(code: Code, a: u8, b: u8, number: i8) -> u32 {
    u32::from_le_bytes([code as u8, a, b, number as u8])
}

/// a = b + number.
pub fn add(a: u8, b: u8, number: i8) -> u32 {
    op(Code::Add, a, b, number)
}

/// a = the word at b + number.
pub fn load(a: u8, b: u8, number: i8) -> u32 {
    op(Code::Load, a, b, number)
}

/// The word at b + number = a.
pub fn store(a: u8, b: u8, number: i8) -> u32 {
    op(Code::Store, a, b, number)
}

/// If a is not 0, branches by this number of instructions.
pub fn branch_if(a: u8, number: i8) -> u32 {
    op(Code::BranchIf, a, 0, number)
}

/// Jumps to b; a = the address after the instruction.
pub fn jump(a: u8, b: u8) -> u32 {
    op(Code::Jump, a, b, 0)
}

/// Waits for an interrupt.
pub const WAIT: u32 = u32::from_le_bytes([Code::Wait as u8, 0, 0, 0]);
/// Returns from the interrupt handler.
pub const RETURN: u32 = u32::from_le_bytes([Code::Return as u8, 0, 0, 0]);
/// Ends the run.
pub const EXIT: u32 = u32::from_le_bytes([Code::Exit as u8, 0, 0, 0]);
