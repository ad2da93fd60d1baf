//! A hart: the parts that RISC-V adds to the shared core ([`crate::cpu`]).

use super::compile;
use super::counting;
use super::debug;
use super::decode::decode;
use super::exceptions::{Exception, Trap};
use super::execute::moves;
use super::op::{Code, Instr, Op, TimingClass};
use super::system::Csrs;
use super::timing::{CoreTiming, Pending};
use crate::bus::Bus;
use crate::core::debug::{Architecture, Register};
use crate::core::{Awaited, CallReport, Core};
use crate::cpu::block::{Blocks, Draft, EntryOf, FALLEN};
use crate::cpu::calls::Flow;
use crate::cpu::compile::{COMPILE_AFTER, Emitter, RegisterBits, Resumed};
use crate::cpu::cost::Cost;
use crate::cpu::isa::{AbortOf, CauseNames, Isa};
use crate::cpu::memory_system::access::Abort;
use crate::cpu::memory_system::{Identity, MemoryConfig, Via};
use crate::cpu::polling_loops::counting::Counting;
use crate::cpu::polling_loops::iteration::Iteration;
use crate::cpu::read::Read;
use crate::cpu::{self, Cpu};
use crate::elf::Machine;
use crate::encoding::Encoding;
use crate::inputs::Inputs;
use crate::state::State;

/// A pipelined core.
pub type Hart = Cpu<RiscV>;
/// Configuration of a hart by the board.
pub type CoreConfig = cpu::Config<CoreTiming, SystemConfig>;

/// A pipelined core for a board.
///
/// It is made here so that its run loop is compiled in this crate, which is one unit, and in no other.
#[inline(never)]
pub fn hart(config: CoreConfig) -> Box<dyn Core> {
    Box::new(Hart::new(config))
}

/// Target of writes to x0, so that operations need no check.
pub const SINK: u8 = 32;
/// [`Op::rs2`] of a [`Code::End`] that replaces the operation after an instruction, to leave the block there.
pub(super) const LEAVE: u8 = 1;
const SP: usize = 2;

/// Configuration of a hart's system side by the board.
#[derive(Clone, Copy, Debug)]
pub struct SystemConfig {
    /// Its hart id.
    pub hart: u32,
    /// The implemented bits of mip and mie.
    pub interrupts: u32,
}

/// A hart's own state.
#[derive(Clone, PartialEq, State)]
pub struct RiscV {
    pub(super) csrs: Csrs,
}

impl Isa for RiscV {
    type Config = SystemConfig;
    type Timing = CoreTiming;
    type Op = Op;
    type Instr = Instr;
    type Context = ();
    type Pending = Pending;
    type Jump = ();
    type Exception = Trap;
    type Mmu = Identity;
    type Lazy = ();

    const MACHINE: Machine = Machine::RiscV;
    const RESULTS: usize = 32;
    const SP: usize = SP;
    const CAUSES: CauseNames = CauseNames {
        issue: "issue",
        operand_wait: "load and multiply results",
        long_operation: "long operations",
        jump: "jumps and taken branches",
        mispredicted: "",
        annulled: "",
        exceptions: "trap entry",
        idle: "wait for interrupt",
    };
    const COMPILE_AFTER: u16 = COMPILE_AFTER;
    const CUTS_BLOCKS: bool = true;
    const FETCHES_IN_BLOCKS: bool = true;

    fn new(config: &SystemConfig) -> RiscV {
        RiscV { csrs: Csrs::new(config.hart, config.interrupts) }
    }

    #[inline(always)]
    fn mmu(&self) -> &Identity {
        &Identity
    }

    #[inline(always)]
    fn context(&self) {}

    #[inline(always)]
    fn go_to(core: &mut Hart, address: u32, _context: ()) {
        core.pc = address;
    }

    #[inline(always)]
    fn context_of_target(_core: &Hart) {}

    fn arguments(core: &Hart) -> [u32; CallReport::REGISTERS] {
        arguments_of(&core.x)
    }

    const ARCHITECTURE: Architecture = Architecture::RiscV32;

    fn debug_registers(core: &Hart, bus: &Bus) -> Vec<Register> {
        debug::registers(core, bus)
    }

    fn set_debug_register(core: &mut Hart, bus: &mut Bus, number: usize, value: u64) -> bool {
        debug::set(core, bus, number, value as u32)
    }

    fn registers(core: &Hart) -> Vec<u32> {
        std::iter::once(core.pc).chain(core.x[..32].iter().copied()).collect()
    }

    fn read_instr(core: &mut Hart, bus: &mut Bus, read: &mut Read<Self>, at: u32) -> Result<bool, AbortOf<Self>> {
        let [low, high] = core.code(bus, at)?;
        let upper = if low & 3 == 3 {
            core.code(bus, at.wrapping_add(2)).map_err(|abort| Abort { va: at, ..abort })?
        } else {
            [0; 2]
        };
        let instr = decode(u32::from_le_bytes([low, high, upper[0], upper[1]]));
        read.ops.push(resolve(&instr, at));
        read.push(instr, u32::from(instr.len_bytes));
        Ok(instr.op.code.ends_block())
    }

    fn draft(core: &Hart, entry: EntryOf<Self>, fetch: Via, read: Read<Self>) -> Draft<Self> {
        let timing = &core.timing;
        let mut draft = Draft::new(entry, (), &read);
        let mut at = entry.pc;
        for (number, ((instr, _), op)) in read.instrs.iter().zip(&read.ops).enumerate() {
            if fetch == Via::Uncached {
                // Its fetch begins when the previous instruction is done, whether its operands are ready or not.
                let begins = draft.breakdown[FALLEN].cycles() as u16 + 1;
                let fetches = Op { code: Code::Fetch, rd: instr.len_bytes, rs1: 0, rs2: 0, imm: at as i32 };
                draft.push(fetches, number, begins);
            }
            at = at.wrapping_add(u32::from(instr.len_bytes));
            let (_, begins) = draft.pass(timing, *instr, fetch);
            draft.push(*op, number, begins);
        }
        draft.end(Op { code: Code::End, rd: SINK, rs1: 0, rs2: 0, imm: 0 });
        if let Some((last, _)) = read.instrs.last() {
            if last.op.code.class() == TimingClass::Branch {
                for (exit, cycles) in timing.branch_cycles(last.op.imm < 0).into_iter().enumerate() {
                    draft.breakdown[exit].jump += u64::from(cycles - 1);
                    draft.pending[exit].pass(cycles - 1);
                }
            }
            draft.taken_pc = taken_pc(entry.pc.wrapping_add(read.bytes), last);
        }
        draft
    }

    fn pass(timing: &CoreTiming, instr: &Instr, _fetch: Via, pending: &mut Pending) -> Cost {
        timing.step(instr, pending)
    }

    /// The pipeline stalls, including results under way.
    fn wait(_pending: &mut Pending, _cycles: u64) {}

    fn encoding(&self) -> Option<Encoding> {
        Some(Encoding::RiscV)
    }

    fn flow(blocks: &Blocks<Self>, index: u32) -> Flow {
        let Some(last) = blocks.instrs_of(index).last() else { return Flow::On };
        flow_of(&last.op)
    }

    fn instr_bytes(instr: &Instr) -> u32 {
        u32::from(instr.len_bytes)
    }

    fn context_before(_instr: &Instr, _entry: ()) {}

    #[inline]
    fn execute(core: &mut Hart, bus: &mut Bus, index: u32, at: usize) {
        core.execute(bus, index, at);
    }

    fn leave_op() -> Op {
        Op { code: Code::End, rd: SINK, rs1: 0, rs2: LEAVE, imm: 0 }
    }

    fn accesses(op: &Op) -> bool {
        matches!(op.code.class(), TimingClass::Load | TimingClass::Store)
    }

    fn fetches(op: &Op) -> bool {
        op.code == Code::Fetch
    }

    fn access(core: &mut Hart, bus: &mut Bus, place: Resumed, addr: u32) -> bool {
        let (index, at, op) = (place.index, place.at as u32, core.blocks.ops_from(place.index)[place.at]);
        if op.code == Code::Fetch {
            let pc = op.imm as u32;
            core.fetch_if_needed(bus, index, at, pc, pc.wrapping_add(u32::from(op.rd)))
        } else if moves(op.code).store {
            core.store_slowly(bus, index, at, op, addr)
        } else {
            core.load_slowly(bus, index, at, op, addr)
        }
    }

    fn note_writes(core: &Hart, bus: &Bus, index: u32, iteration: &mut Iteration) -> Option<()> {
        let [first, second, ..] = core.blocks.ops_from(index) else { return None };
        let op = if first.code == Code::Fetch { second } else { first };
        match op.code.class() {
            TimingClass::Csr | TimingClass::System => None,
            TimingClass::Store => {
                core.note_store(bus, core.x[usize::from(op.rs1)].wrapping_add(op.imm as u32), iteration)
            }
            _ => Some(()),
        }
    }

    fn count(ops: &[Op], counting: &mut Counting) -> Option<()> {
        ops.iter().try_for_each(|op| counting::count(op, counting))
    }

    fn fetch_abort(abort: AbortOf<Self>) -> Trap {
        Trap::Exception(Exception::of_abort(abort, true))
    }

    fn data_abort(abort: AbortOf<Self>) -> Trap {
        Trap::Exception(Exception::of_abort(abort, false))
    }

    #[inline]
    fn deliverable(&self, inputs: &Inputs) -> Option<Trap> {
        self.csrs.deliverable(inputs.low()).map(Trap::Interrupt)
    }

    fn awaits(&self, inputs: &Inputs) -> Awaited {
        let held_back = self.csrs.held_back(inputs.low());
        Awaited { is_event: false, held_back }
    }

    fn wakes(&self, inputs: &Inputs) -> bool {
        self.csrs.wakes(inputs.low())
    }

    fn is_never_compiled(instr: &Instr, _fetch: Via) -> bool {
        compile::is_left(instr.op.code)
    }

    fn compiles(blocks: &Blocks<Self>, index: u32) -> bool {
        compile::compiles(blocks, index)
    }

    fn writes(op: &Op) -> RegisterBits {
        compile::writes(op)
    }

    fn emit(emitter: &mut Emitter<Self>, ops: &[Op]) {
        compile::emit(emitter, ops);
    }

    fn take(core: &mut Hart, bus: &mut Bus, trap: Trap) {
        match trap {
            Trap::Interrupt(cause) => {
                core.trap(bus, cause, 0, true);
            }
            Trap::Exception(exception) => core.raise(bus, exception),
        }
    }

    fn raise(core: &mut Hart, bus: &mut Bus, trap: Trap) {
        Self::take(core, bus, trap);
    }

    fn call_host(core: &mut Hart, bus: &mut Bus) {
        core.call_host(bus);
    }

    fn set_pc(core: &mut Hart, pc: u32) {
        core.pc = pc;
    }

    fn counters(core: &Hart) -> Vec<(String, u64)> {
        let MemoryConfig { icache, dcache, .. } = core.memory.config;
        let caches = [("i-cache", icache), ("d-cache", dcache)].into_iter().zip(core.memory.cache_counters());
        let traps = (format!("{}.traps", core.shell.name), core.shell.exceptions);
        caches
            .filter_map(|((name, shape), counters)| shape.map(|_| (name, counters)))
            .flat_map(|(name, counters)| {
                [("fills", counters.fills), ("write-backs", counters.write_backs)]
                    .map(|(what, count)| (format!("{}.{name}.{what}", core.shell.name), count))
            })
            .chain([traps])
            .collect()
    }
}

/// x10 to x13: a0 to a3 of the calling convention.
pub(super) fn arguments_of(x: &[u32]) -> [u32; CallReport::REGISTERS] {
    [10, 11, 12, 13].map(|register: usize| x[register])
}

/// The flow of a jump, by its registers (unprivileged specification, table of hints for the return-address stack: x1
/// and x5 are link registers).
pub(super) fn flow_of(op: &Op) -> Flow {
    let is_link = |register: u8| matches!(register, 1 | 5);
    match op.code {
        Code::Jal | Code::Jalr if is_link(op.rd) => Flow::Call,
        Code::Jalr => Flow::Jump,
        _ => Flow::On,
    }
}

/// The operation for the inner loop, with x0 as destination and addresses resolved.
pub(super) fn resolve(instr: &Instr, pc: u32) -> Op {
    let mut op = instr.op;
    let next = pc.wrapping_add(u32::from(instr.len_bytes));
    match op.code {
        Code::Lui => op.code = Code::Li,
        Code::Auipc => op = Op { code: Code::Li, imm: pc.wrapping_add(op.imm as u32) as i32, ..op },
        Code::Addi if op.rs1 == 0 => op.code = Code::Li,
        Code::Jal => op.imm = next as i32,
        Code::Fence => op.code = Code::Nop,
        _ => {}
    }
    if op.writes_rd() && op.rd == 0 {
        op.rd = SINK;
    }
    op
}

pub(super) fn taken_pc(end_pc: u32, last: &Instr) -> u32 {
    end_pc.wrapping_sub(u32::from(last.len_bytes)).wrapping_add(last.op.imm as u32)
}
