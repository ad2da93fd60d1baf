//! The parts of a core that depend on the instruction set.
//!
//! The shared core ([`super::Cpu`]) keeps time, finds and links blocks, fetches, alternates with other cores, skips
//! polling loops, times functions and reports. An instruction set decodes and executes instructions, defines their
//! costs, and has the system registers and exceptions. `tests` at the end of this folder has a toy instruction set,
//! which shows what is needed.

use std::fmt::Debug;
use std::mem::offset_of;

use super::Cpu;
use super::block::{Blocks, Draft, EntryOf};
use super::calls::Flow;
use super::compile::{Emitter, RegisterBits, Resumed, Value};
use super::cost::{Cost, Sort};
use super::memory_system::access::Abort;
use super::memory_system::fetch::pages::{PageNumber, UNTRANSLATED};
use super::memory_system::{Mmu, Via};
use super::polling_loops::counting::Counting;
use super::polling_loops::iteration::Iteration;
use super::read::Read;
use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::core::debug::{Architecture, Register};
use crate::core::{Awaited, CallReport};
use crate::elf::Machine;
use crate::encoding::Encoding;
use crate::inputs::Inputs;
use crate::memory::line_buffers::Answer;
use crate::order::CoreStart;
use crate::state::{Fresh, State};

/// The abort of an access that an instruction set's memory management or the bus refuses.
pub type AbortOf<I> = Abort<<<I as Isa>::Mmu as Mmu>::Status>;

/// Results under way at an instruction boundary.
pub trait Pending: Copy + Debug + Ord + Send + Fresh {
    /// Nothing under way.
    const NONE: Self;

    /// True if earlier instructions can neither delay the next one nor speed it up.
    fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

/// Names of the causes of a core's own time, in the order in which they are shown. The name is empty if the core does
/// not have the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseNames {
    /// One cycle per instruction.
    pub issue: &'static str,
    /// Waiting for results.
    pub operand_wait: &'static str,
    /// Further cycles of instructions that take more than one.
    pub long_operation: &'static str,
    /// Taken branches, from the second cycle on.
    pub jump: &'static str,
    /// Mispredicted branches.
    pub mispredicted: &'static str,
    /// Annulled instructions, which pass through the pipeline without effect.
    pub annulled: &'static str,
    /// Exception entry, and exception return where that takes time of its own.
    pub exceptions: &'static str,
    /// Waiting for an interrupt.
    pub idle: &'static str,
}

/// An instruction set, with the state of a core that is specific to it: everything but the address of the next
/// instruction and the registers `x`.
pub trait Isa: Clone + PartialEq + Sized + Send + State + 'static {
    /// Configuration by the board that is specific to it.
    type Config: Clone + Send;
    /// Its timing table.
    type Timing: Clone + Send + State;
    /// A decoded operation: what the inner loop runs.
    type Op: Copy + Debug + Send;
    /// A decoded instruction, with the properties that timing depends on.
    type Instr: Copy + Debug + Send;
    /// State, apart from the address, on which decoding and the permission to fetch depend.
    type Context: Copy + Debug + Ord + Send;
    /// Results under way.
    type Pending: Pending;
    /// The prediction to make at the end of a block; one byte.
    type Jump: Copy + Debug + Send;
    /// Reason to leave the flow of instructions: faults, calls, interrupts.
    type Exception: Copy;
    /// Its memory management.
    type Mmu: Mmu;
    /// Values that the compiler has not computed yet at a point of a block, because they may never be needed.
    type Lazy: Clone + Default;

    /// Machine number in ELF files.
    const MACHINE: Machine;
    /// The address bits of a block's address; the others belong to the state (Arm: the T bit).
    const ADDRESS_MASK: u32 = u32::MAX;
    /// Number of registers that keep results between instructions, the first ones of `x`: polling loops are compared by
    /// them.
    const RESULTS: usize;
    /// Names of the causes of its time.
    const CAUSES: CauseNames;
    /// Past the cache, each instruction of a block begins with an operation that fetches it
    /// ([`Cpu::fetch_instruction`]); otherwise such instructions run one by one.
    const FETCHES_IN_BLOCKS: bool = false;
    /// Past the cache, [`Isa::locate`] fetches the next instruction before it is decoded: the block is entered with the
    /// results that are under way then.
    const FETCHES_FIRST: bool = false;
    /// A block that takes the same time with results under way as without serves for both. False where the results
    /// under way within a block have to be known exactly.
    const SHARES_BLOCKS: bool = true;
    /// [`Isa::leave_op`] leaves a block wherever it is placed.
    const CUTS_BLOCKS: bool = false;
    /// The stack pointer, among `x`.
    const SP: usize;
    /// Default reset address of a core.
    const RESET_PC: u32 = 0;
    /// Runs after which a block is compiled; 0 for never.
    const COMPILE_AFTER: u16 = 0;
    /// Registers that only the operations of one instruction use.
    const TRANSIENT: RegisterBits = 0;
    /// Registers that compiled code writes to the core only at an exit: flags, which take time to compute.
    const LATE: RegisterBits = 0;

    /// The state after reset.
    fn new(config: &Self::Config) -> Self;

    /// The system registers, in the memory side's view.
    fn mmu(&self) -> &Self::Mmu;

    // ---- The core's position

    /// The state in which the next instruction is decoded.
    fn context(&self) -> Self::Context;

    /// Determines the properties of the next instruction's address on which [`Isa::context`] depends. False if the core
    /// has to check again first, or the instruction can't be fetched, and the core is at its handler.
    #[inline(always)]
    fn locate(_core: &mut Cpu<Self>, _bus: &mut Bus) -> bool {
        true
    }

    /// True if the block `index` is still a decoding of the code at its address. Called when one or all lines of
    /// instructions have left the cache, as after a change of address translation.
    #[inline(always)]
    fn is_current(_core: &Cpu<Self>, _index: u32) -> bool {
        true
    }

    /// The address of the next instruction, in the form that blocks use.
    #[inline(always)]
    fn address(core: &Cpu<Self>) -> u32 {
        core.pc
    }

    /// Continues at `address`, in the form that blocks use, in the state `context`, which does not include the
    /// privilege.
    fn go_to(core: &mut Cpu<Self>, address: u32, context: Self::Context);

    /// The page of code to which a state belongs.
    #[inline(always)]
    fn page(_context: &Self::Context) -> PageNumber {
        UNTRANSLATED
    }

    /// True for the state of code that other code with the same address and the same results under way must not reach
    /// by a jump: code of another privilege.
    #[inline(always)]
    fn is_apart(_context: &Self::Context) -> bool {
        false
    }

    /// The state at the target of a jump to `address`.
    fn context_of_target(core: &Cpu<Self>) -> Self::Context;

    /// True if the next instructions can run as a block; otherwise they run one by one.
    #[inline(always)]
    fn runs_blocks(&self) -> bool {
        true
    }

    /// As [`Isa::runs_blocks`], for blocks in this state.
    fn blocks_begin_in(_context: Self::Context) -> bool {
        true
    }

    /// True if a block in the state `to` can follow one in the state `from` without checks.
    fn may_link(from: Self::Context, to: Self::Context) -> bool {
        from == to
    }

    /// The registers with the first arguments of a function that has just been entered.
    fn arguments(core: &Cpu<Self>) -> [u32; CallReport::REGISTERS];

    /// Its name in debuggers.
    const ARCHITECTURE: Architecture;

    /// See [`crate::core::debug::Debugged::debug_registers`].
    fn debug_registers(core: &Cpu<Self>, bus: &Bus) -> Vec<Register>;

    /// See [`crate::core::debug::Debugged::set_debug_register`].
    fn set_debug_register(core: &mut Cpu<Self>, bus: &mut Bus, number: usize, value: u64) -> bool;

    /// The value of a load from one of the core's own registers, without side effects; `None` if there is no register
    /// at `addr`.
    fn peek_own(_core: &Cpu<Self>, _addr: u32, _size: AccessSize) -> Option<u32> {
        None
    }

    /// True if the next instruction belongs to the previous one: it is in the delay slot of a branch.
    fn is_in_slot(_core: &Cpu<Self>) -> bool {
        false
    }

    /// The address of the next instruction, then the registers that users expect.
    fn registers(core: &Cpu<Self>) -> Vec<u32>;

    // ---- Code

    /// The exception of every instruction in the present state, if none can be decoded.
    fn refuses_code(&self) -> Option<Self::Exception> {
        None
    }

    /// Reads and decodes the instruction at `at` into `read`, without time: its operations, then the instruction by
    /// [`Read::push`]. True if a block ends with it.
    ///
    /// # Errors
    ///
    /// The abort of its fetch.
    fn read_instr(core: &mut Cpu<Self>, bus: &mut Bus, read: &mut Read<Self>, at: u32) -> Result<bool, AbortOf<Self>>;

    /// Makes a block of code that was read for `entry`, and is fetched by `fetch`.
    fn draft(core: &Cpu<Self>, entry: EntryOf<Self>, fetch: Via, read: Read<Self>) -> Draft<Self>;

    /// Passes an instruction through the pipeline, a branch as not taken, and updates the results under way.
    fn pass(timing: &Self::Timing, instr: &Self::Instr, fetch: Via, pending: &mut Self::Pending) -> Cost;

    /// Updates the results under way after the core has waited `cycles` for instructions.
    fn wait(pending: &mut Self::Pending, cycles: u64);

    /// Updates the results under way after the core has waited `cycles` for an interrupt, or entered a handler in them.
    fn rest(pending: &mut Self::Pending, _cycles: u64) {
        *pending = Self::Pending::NONE;
    }

    /// The encoding of the next instruction, for its disassembly; `None` for a set without a disassembler.
    fn encoding(&self) -> Option<Encoding> {
        None
    }

    /// The flow of the block `index`, where its jump is taken, as far as calls are concerned.
    fn flow(_blocks: &Blocks<Self>, _index: u32) -> Flow {
        Flow::On
    }

    /// Bytes of an instruction.
    fn instr_bytes(instr: &Self::Instr) -> u32;

    /// The state before an instruction of a block that was entered in `entry`.
    fn context_before(instr: &Self::Instr, entry: Self::Context) -> Self::Context;

    /// Runs the block `index`, whose first line has been fetched, and the blocks after it. Starts with operation `at`
    /// of the block, which is the first unless [`Isa::CUTS_BLOCKS`].
    fn execute(core: &mut Cpu<Self>, bus: &mut Bus, index: u32, at: usize);

    /// Compares the exit of the block `index`, which has run, with the prediction, and accounts for a misprediction
    /// ([`Cpu::mispredicted`]).
    #[inline(always)]
    fn resolve(_core: &mut Cpu<Self>, _index: u32, _exit: usize) {}

    // ---- Compiled code

    /// True for a load or store: its cycles beyond the first are recorded separately.
    fn accesses_memory(_instr: &Self::Instr) -> bool {
        false
    }

    /// The properties of an instruction that is fetched by `fetch`, beside its cost.
    fn sort(instr: &Self::Instr, fetch: Via) -> Sort {
        Sort { never_compiled: Self::is_never_compiled(instr, fetch), accesses: Self::accesses_memory(instr) }
    }

    /// True if compiled code always leaves an instruction to the interpreter, if it is fetched this way. That is known
    /// when it is decoded, and does not depend on what has been compiled. No code that is fetched past the cache is
    /// compiled.
    fn is_never_compiled(_instr: &Self::Instr, _fetch: Via) -> bool {
        true
    }

    /// True if compiled code can begin with the block `index`.
    fn compiles(_blocks: &Blocks<Self>, _index: u32) -> bool {
        false
    }

    /// The registers that an operation may write, among those that compiled code keeps in host registers.
    fn writes(_op: &Self::Op) -> RegisterBits {
        0
    }

    /// Emits host code for the operations of a block, up to and including each of its exits.
    fn emit(emitter: &mut Emitter<Self>, _ops: &[Self::Op]) {
        emitter.interpret(0);
    }

    /// Offset in the core of a register that compiled code keeps.
    fn register_offset(register: u8) -> usize {
        offset_of!(Cpu<Self>, x) + usize::from(register) * size_of::<u32>()
    }

    /// Number of operations after this one that do not store registers to the core, though they access memory: they may
    /// be skipped, or never leave compiled code.
    fn kept_after(_op: &Self::Op) -> usize {
        0
    }

    /// The value of a register that is in [`Isa::Lazy`].
    fn late_value(_emitter: &mut Emitter<Self>, _register: u8) -> Option<Value> {
        None
    }

    /// Computes all values in [`Isa::Lazy`]: another block follows.
    fn settle(_emitter: &mut Emitter<Self>) {}

    /// [`Isa::resolve`] as host code; `target` is the target of an indirect jump.
    fn emit_resolve(_emitter: &mut Emitter<Self>, _exit: usize, _target: Option<Value>) {}

    /// An operation that makes the core leave the block before it: see [`Cpu::leave_after`].
    fn leave_op() -> Self::Op;

    /// True if an operation loads or stores: an instruction that has done so is not started again.
    fn accesses(op: &Self::Op) -> bool;

    /// True if a load or store takes any address, as long as the memory management accepts it
    /// ([`Mmu::checks_alignment`]); a change of that drops all blocks.
    fn may_be_unaligned(_op: &Self::Op) -> bool {
        false
    }

    /// True if an operation fetches its instruction past the cache: [`Isa::FETCHES_IN_BLOCKS`].
    fn fetches(_op: &Self::Op) -> bool {
        false
    }

    /// Does an operation of compiled code: a load or store of `addr` without a shortcut. True if the block continues.
    fn access(_core: &mut Cpu<Self>, _bus: &mut Bus, _place: Resumed, _addr: u32) -> bool {
        false
    }

    /// Records in `iteration` the memory that an instruction of a block is about to overwrite. `None` for an
    /// instruction that changes more than registers and memory.
    fn note_writes(core: &Cpu<Self>, bus: &Bus, index: u32, iteration: &mut Iteration) -> Option<()>;

    /// Passes the effects on registers of an executed instruction's operations to `counting`. `None` if they may depend
    /// on a counting register in another way than [`Counting::compare`] allows.
    fn count(_ops: &[Self::Op], _counting: &mut Counting) -> Option<()> {
        None
    }

    // ---- Exceptions

    /// The exception of an instruction that can't be fetched.
    fn fetch_abort(abort: AbortOf<Self>) -> Self::Exception;

    /// The exception of a refused load or store.
    fn data_abort(abort: AbortOf<Self>) -> Self::Exception;

    /// Updates state that depends on the interrupt inputs; called before each choice of the next work.
    #[inline(always)]
    fn see(&mut self, _inputs: &Inputs) {}

    /// The exception to take before the next instruction, with the inputs as last seen.
    fn deliverable(&self, inputs: &Inputs) -> Option<Self::Exception>;

    /// True if the core has to see these inputs before the next instruction.
    #[inline]
    fn is_news(&self, inputs: &Inputs) -> bool {
        self.deliverable(inputs).is_some()
    }

    /// True if these inputs end a wait for an interrupt.
    fn wakes(&self, inputs: &Inputs) -> bool;

    /// See [`crate::core::Core::awaits`]; `inputs` are the present inputs.
    fn awaits(&self, _inputs: &Inputs) -> Awaited {
        Awaited::default()
    }

    /// Ends a wait for an interrupt that these inputs have ended; for sets with an event register.
    #[inline(always)]
    fn woken(&mut self, _inputs: &Inputs) {}

    /// Takes an exception returned by [`Isa::deliverable`], before the instruction at the core's address. Accounts for
    /// its time.
    fn take(core: &mut Cpu<Self>, bus: &mut Bus, exception: Self::Exception);

    /// Takes the exception of the instruction at the core's address. Ends the run if there is no handler.
    fn raise(core: &mut Cpu<Self>, bus: &mut Bus, exception: Self::Exception);

    /// True while an exception entry or return is under way, which takes time in steps: the core calls [`Isa::go_on`]
    /// instead of running an instruction.
    #[inline(always)]
    fn is_between(_core: &Cpu<Self>) -> bool {
        false
    }

    /// Lets time pass in that entry or return, up to the core's limit or to its end.
    fn go_on(_core: &mut Cpu<Self>, _bus: &mut Bus) {}

    /// Called after a jump: if its target is an exception return value, begins the return. That belongs to the
    /// instruction: no exception is taken in between.
    #[inline(always)]
    fn follow_jump(_core: &mut Cpu<Self>, _bus: &mut Bus) {}

    /// True after a jump to an exception return value that [`Isa::follow_jump`] has yet to handle.
    #[inline(always)]
    fn is_at_return(_core: &Cpu<Self>) -> bool {
        false
    }

    /// Makes the semihosting call of the instruction before the current address, or tries it again.
    fn call_host(core: &mut Cpu<Self>, bus: &mut Bus);

    /// A flash interface answers in this way from now on, or has invalidated its buffers. True if blocks are decoded
    /// for one way of answering, so that they can stay.
    fn follow_line_buffers(_core: &mut Cpu<Self>, _answer: Answer) -> bool {
        false
    }

    /// Called before code at the current address is looked up: drops decoded code that may come from elsewhere by now.
    #[inline(always)]
    fn follow_map(_core: &mut Cpu<Self>) {}

    /// False if loaded state is invalid: compiled code uses some of it as an index, without a check.
    fn is_sound(&self) -> bool {
        true
    }

    /// Drops cached values that depend on the state after a snapshot has been loaded, or on numbers of pages of code
    /// after these have been numbered anew.
    fn loaded(_core: &mut Cpu<Self>) {}

    // ---- The core in the machine's view: see [`crate::core::Core`]

    /// Called when the core starts or continues to run.
    #[inline(always)]
    fn begin(_core: &mut Cpu<Self>, _bus: &mut Bus) {}

    /// Called when the core's clock has changed its rate: the former cycle number `before` is the present one now.
    fn clock_changed(_core: &mut Cpu<Self>, _before: u64) {}

    /// Called when the core comes out of reset.
    fn reset(_core: &mut Cpu<Self>, _bus: &mut Bus) {}

    /// Called when a firmware makes the core begin; its caches are empty.
    fn start(core: &mut Cpu<Self>, bus: &mut Bus, _start: CoreStart) {
        Self::reset(core, bus);
    }

    /// Another core has invalidated all predictions of branches.
    fn forget_branches(_core: &mut Cpu<Self>) {}

    /// See [`crate::core::Core::load_address`].
    fn load_address(addr: u32) -> u32 {
        addr
    }

    /// Sets the address of the next instruction to an ELF file's entry.
    fn set_pc(core: &mut Cpu<Self>, pc: u32);

    /// The core's vector table at reset, if it has one.
    fn vector_table(_core: &Cpu<Self>) -> Option<u32> {
        None
    }

    /// Sets the vector table's address at reset.
    fn set_vector_table(_core: &mut Cpu<Self>, _table: u32) {}

    /// Named totals since reset.
    fn counters(core: &Cpu<Self>) -> Vec<(String, u64)> {
        let own = [("exceptions", core.shell.exceptions), ("mispredicted branches", core.mispredictions)];
        core.memory.counters(&core.shell.name, &own)
    }
}
