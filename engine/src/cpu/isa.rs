//! What an instruction set adds to the core that all of them share.
//!
//! The core ([`super::Cpu`]) keeps time, finds and links blocks, fetches, takes turns with other cores, skips polling
//! loops, times functions and reports. An instruction set decodes, executes, says what instructions cost, and knows its
//! system registers and exceptions. `tests` at the end of this folder has a toy of a few instructions that shows what
//! is needed.

use std::fmt::Debug;
use std::mem::offset_of;

use super::Cpu;
use super::block::{Blocks, Draft, EntryOf};
use super::calls::Flow;
use super::compile::{Emitter, RegisterBits, Resumed, Value};
use super::cost::{Cost, Sort};
use super::counting::Counting;
use super::iteration::Iteration;
use super::memory::access::Abort;
use super::memory::{Mmu, Via};
use super::read::Read;
use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::core::debug::{Architecture, Register};
use crate::core::{Awaited, CallReport};
use crate::elf::Machine;
use crate::encoding::Encoding;
use crate::inputs::Inputs;
use crate::memory::line_buffers::Answer;
use crate::state::{Fresh, State};

/// The abort of an access that an instruction set's memory management, or the bus, refuses.
pub type AbortOf<I> = Abort<<<I as Isa>::Mmu as Mmu>::Status>;

/// Results under way at an instruction boundary.
pub trait Pending: Copy + Debug + Ord + Send + Fresh {
    /// Nothing under way.
    const NONE: Self;

    /// True if an instruction can't be held up by what went before, nor helped.
    fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

/// Names of the causes of a core's own time, in the order in which they are shown. A cause that the core does not have
/// is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseNames {
    /// One cycle an instruction.
    pub issue: &'static str,
    /// Waiting for results.
    pub operand_wait: &'static str,
    /// In instructions that take longer than a cycle, from the second on.
    pub long_operation: &'static str,
    /// Taken branches, from the second cycle on.
    pub jump: &'static str,
    /// Branches that were predicted wrongly.
    pub mispredicted: &'static str,
    /// Instructions that went down the pipeline for nothing.
    pub annulled: &'static str,
    /// Entering exceptions, and leaving them where that takes time of its own.
    pub exceptions: &'static str,
    /// Waiting for an interrupt.
    pub idle: &'static str,
}

/// An instruction set, with the state of a core that is its own: everything but the address of the next instruction and
/// the registers `x`.
pub trait Isa: Clone + PartialEq + Sized + Send + State + 'static {
    /// What the board says of a core beyond what it says of any.
    type Config: Clone + Send;
    /// Its timing table.
    type Timing: Clone + Send + State;
    /// A decoded operation: what the inner loop runs.
    type Op: Copy + Debug + Send;
    /// A decoded instruction, as far as timing has to know it.
    type Instr: Copy + Debug + Send;
    /// State other than the address by which the same bytes are other instructions, or may not be fetched.
    type Context: Copy + Debug + Ord + Send;
    /// Results under way.
    type Pending: Pending;
    /// What has to be predicted at the end of a block; one byte.
    type Jump: Copy + Debug + Send;
    /// Why the flow of instructions is left: faults, calls, interrupts.
    type Exception: Copy;
    /// Its memory management.
    type Mmu: Mmu;
    /// What the compiler has not worked out yet at a point of a block: values that may never be asked for.
    type Lazy: Clone + Default;

    /// As ELF files name it.
    const MACHINE: Machine;
    /// The bits of a block's address that are an address; others belong to the state (Arm: the T bit).
    const ADDRESS_MASK: u32 = u32::MAX;
    /// Registers that instructions leave behind, the first ones of `x`: what polling loops are compared by.
    const RESULTS: usize;
    /// What the causes of its time are called.
    const CAUSES: CauseNames;
    /// Past the cache, each instruction of a block begins with an operation that fetches it
    /// ([`Cpu::fetch_instruction`]); else such instructions run one by one.
    const FETCHES_IN_BLOCKS: bool = false;
    /// Past the cache, [`Isa::locate`] fetches the next instruction, before anything is decoded: what is under way then
    /// is what the block is entered with.
    const FETCHES_FIRST: bool = false;
    /// A block that takes the same time with results under way as with nothing stands for both. Not where what is under
    /// way in the middle of a block has to be known exactly.
    const SHARES_BLOCKS: bool = true;
    /// [`Isa::leave_op`] leaves a block wherever it is met.
    const CUTS_BLOCKS: bool = false;
    /// The stack pointer, among `x`.
    const SP: usize;
    /// Where a core begins that nobody tells.
    const RESET_PC: u32 = 0;
    /// Runs after which a block is compiled; 0 for never.
    const COMPILE_AFTER: u16 = 0;
    /// Registers that only the operations of one instruction have in common.
    const TRANSIENT: RegisterBits = 0;
    /// Registers that compiled code gives the core only where it is left: flags, which take time to work out.
    const LATE: RegisterBits = 0;

    /// After reset.
    fn new(config: &Self::Config) -> Self;

    /// The system registers, as the memory sees them.
    fn mmu(&self) -> &Self::Mmu;

    // ---- Where the core is

    /// The state in which the next instruction is decoded.
    fn context(&self) -> Self::Context;

    /// Finds out what [`Isa::context`] has to know of the address of the next instruction. False if the core has to
    /// look again first, or the instruction can't be fetched: the core is at its handler then.
    #[inline(always)]
    fn locate(_core: &mut Cpu<Self>, _bus: &mut Bus) -> bool {
        true
    }

    /// True if what was decoded for the block `index` is still what is at its address. Asked when a line of
    /// instructions has gone, or all have, as they do when what addresses mean changes.
    #[inline(always)]
    fn is_current(_core: &Cpu<Self>, _index: u32) -> bool {
        true
    }

    /// The address of the next instruction, as blocks have it.
    #[inline(always)]
    fn address(core: &Cpu<Self>) -> u32 {
        core.pc
    }

    /// The core goes on at `address`, as blocks have it, in the state `context`, of which the privilege is no part.
    fn go_to(core: &mut Cpu<Self>, address: u32, context: Self::Context);

    /// The state at the target of a jump to `address`.
    fn context_of_target(core: &Cpu<Self>) -> Self::Context;

    /// True if the next instructions can be run as a block; else they are run one by one.
    #[inline(always)]
    fn runs_blocks(&self) -> bool {
        true
    }

    /// True if what follows in this state can be run as a block, as [`Isa::runs_blocks`] says it of the core.
    fn blocks_begin_in(_context: Self::Context) -> bool {
        true
    }

    /// True if a block of the state `from` can be followed by one of the state `to` without a look.
    fn may_link(from: Self::Context, to: Self::Context) -> bool {
        from == to
    }

    /// The registers that have the first arguments of a function that has just been entered.
    fn arguments(core: &Cpu<Self>) -> [u32; CallReport::REGISTERS];

    /// What debuggers call it.
    const ARCHITECTURE: Architecture;

    /// See [`crate::core::debug::Debugged::debug_registers`].
    fn debug_registers(core: &Cpu<Self>, bus: &Bus) -> Vec<Register>;

    /// See [`crate::core::debug::Debugged::set_debug_register`].
    fn set_debug_register(core: &mut Cpu<Self>, bus: &mut Bus, number: usize, value: u64) -> bool;

    /// What a load from one of the core's own registers would give, without side effects; `None` if there is none at
    /// `addr`.
    fn peek_own(_core: &Cpu<Self>, _addr: u32, _size: AccessSize) -> Option<u32> {
        None
    }

    /// True if the next instruction belongs to the one before: it is in the delay slot of a branch.
    fn is_in_slot(_core: &Cpu<Self>) -> bool {
        false
    }

    /// The address of the next instruction, then the registers that users expect.
    fn registers(core: &Cpu<Self>) -> Vec<u32>;

    // ---- Code

    /// Why no instruction can be decoded at all in the present state.
    fn refuses_code(&self) -> Option<Self::Exception> {
        None
    }

    /// Reads and decodes the instruction at `at` into `read`, without time: its operations, then itself by
    /// [`Read::push`]. True if a block ends with it.
    ///
    /// # Errors
    /// The abort of its fetch.
    fn read_instr(core: &mut Cpu<Self>, bus: &mut Bus, read: &mut Read<Self>, at: u32) -> Result<bool, AbortOf<Self>>;

    /// Makes a block of code that was read for `entry`, and is fetched so.
    fn draft(core: &Cpu<Self>, entry: EntryOf<Self>, fetch: Via, read: Read<Self>) -> Draft<Self>;

    /// Lets an instruction pass the pipeline, a branch as not taken, with what was under way before it and is after it.
    fn pass(timing: &Self::Timing, instr: &Self::Instr, fetch: Via, pending: &mut Self::Pending) -> Cost;

    /// The core has waited `cycles` for instructions: what becomes of results that were under way.
    fn wait(pending: &mut Self::Pending, cycles: u64);

    /// The core has waited `cycles` for an interrupt, or entered a handler in them: what becomes of results that were
    /// under way.
    fn rest(pending: &mut Self::Pending, _cycles: u64) {
        *pending = Self::Pending::NONE;
    }

    /// How the next instruction is encoded, for its disassembly; `None` for a set that has none.
    fn encoding(&self) -> Option<Encoding> {
        None
    }

    /// How the block `index` ends where its jump is taken, as far as calls are concerned.
    fn flow(_blocks: &Blocks<Self>, _index: u32) -> Flow {
        Flow::On
    }

    /// Bytes of an instruction.
    fn instr_bytes(instr: &Self::Instr) -> u32;

    /// The state before an instruction of a block that was entered in `entry`.
    fn context_before(instr: &Self::Instr, entry: Self::Context) -> Self::Context;

    /// Runs the block `index`, whose first line has been fetched, and those behind it. It begins with its operation
    /// `at`, which is the first unless [`Isa::CUTS_BLOCKS`].
    fn execute(core: &mut Cpu<Self>, bus: &mut Bus, index: u32, at: usize);

    /// The block `index` has been run, and is being left by `exit`: compares that with what was predicted, and accounts
    /// for a wrong prediction ([`Cpu::mispredicted`]).
    #[inline(always)]
    fn resolve(_core: &mut Cpu<Self>, _index: u32, _exit: usize) {}

    // ---- Compiled code

    /// True for an instruction that loads or stores: what it takes beyond a cycle is known apart.
    fn accesses_memory(_instr: &Self::Instr) -> bool {
        false
    }

    /// What there is to know of an instruction that is fetched so, beside its cost.
    fn sort(instr: &Self::Instr, fetch: Via) -> Sort {
        Sort { never_compiled: Self::is_never_compiled(instr, fetch), accesses: Self::accesses_memory(instr) }
    }

    /// True if compiled code always leaves an instruction to the interpreter, if it is fetched so. That is known when
    /// it is decoded, and does not depend on what has been compiled. Nothing is compiled of what is fetched past the
    /// cache.
    fn is_never_compiled(_instr: &Self::Instr, _fetch: Via) -> bool {
        true
    }

    /// True if compiled code can begin with the block `index`.
    fn compiles(_blocks: &Blocks<Self>, _index: u32) -> bool {
        false
    }

    /// The registers that an operation may write, among those that compiled code keeps in the host's.
    fn writes(_op: &Self::Op) -> RegisterBits {
        0
    }

    /// Makes host code of the operations of a block, up to and with each way out of it.
    fn emit(emitter: &mut Emitter<Self>, _ops: &[Self::Op]) {
        emitter.interpret(0);
    }

    /// Where a core has a register that compiled code keeps.
    fn register_offset(register: u8) -> usize {
        offset_of!(Cpu<Self>, x) + usize::from(register) * size_of::<u32>()
    }

    /// So many operations behind this one don't bring the core up to date, though they access memory: they may not be
    /// done, or never leave compiled code.
    fn kept_after(_op: &Self::Op) -> usize {
        0
    }

    /// The value of a register that [`Isa::Lazy`] has.
    fn late_value(_emitter: &mut Emitter<Self>, _register: u8) -> Option<Value> {
        None
    }

    /// Works out all that [`Isa::Lazy`] has: another block follows.
    fn settle(_emitter: &mut Emitter<Self>) {}

    /// What [`Isa::resolve`] does, as host code; `target` is where an indirect jump leads.
    fn emit_resolve(_emitter: &mut Emitter<Self>, _exit: usize, _target: Option<Value>) {}

    /// An operation that leaves the block before it: see [`Cpu::leave_after`].
    fn leave_op() -> Self::Op;

    /// True if an operation loads or stores: an instruction that has done so is not begun again.
    fn accesses(op: &Self::Op) -> bool;

    /// True if a load or store takes any address, where the memory management refuses none
    /// ([`Mmu::checks_alignment`]), which drops all blocks when it changes its mind.
    fn may_be_unaligned(_op: &Self::Op) -> bool {
        false
    }

    /// True if an operation fetches its instruction past the cache: [`Isa::FETCHES_IN_BLOCKS`].
    fn fetches(_op: &Self::Op) -> bool {
        false
    }

    /// Does an operation of compiled code, a load or store of `addr` that found no shortcut. True if the block goes on.
    fn access(_core: &mut Cpu<Self>, _bus: &mut Bus, _place: Resumed, _addr: u32) -> bool {
        false
    }

    /// Remembers in `iteration` what the instruction of a block is about to overwrite. `None` for one that changes more
    /// than registers and memory.
    fn note_writes(core: &Cpu<Self>, bus: &Bus, index: u32, iteration: &mut Iteration) -> Option<()>;

    /// Tells `counting` what the operations of an instruction that was run do with registers. `None` if what it did may
    /// depend on a register that counts in another way than [`Counting::compare`] allows.
    fn count(_ops: &[Self::Op], _counting: &mut Counting) -> Option<()> {
        None
    }

    // ---- Exceptions

    /// The exception of an instruction that can't be fetched.
    fn fetch_abort(abort: AbortOf<Self>) -> Self::Exception;

    /// The exception of a load or store that can't be done.
    fn data_abort(abort: AbortOf<Self>) -> Self::Exception;

    /// The interrupt inputs are like this now: told before each look at what to do next, for those that remember.
    #[inline(always)]
    fn see(&mut self, _inputs: &Inputs) {}

    /// The exception to take before the next instruction, with the inputs as last seen.
    fn deliverable(&self, inputs: &Inputs) -> Option<Self::Exception>;

    /// True if these inputs are to be seen before the next instruction.
    #[inline]
    fn is_news(&self, inputs: &Inputs) -> bool {
        self.deliverable(inputs).is_some()
    }

    /// True if these inputs end a wait for an interrupt.
    fn wakes(&self, inputs: &Inputs) -> bool;

    /// See [`crate::core::Core::awaits`]; `inputs` are as they are now.
    fn awaits(&self, _inputs: &Inputs) -> Awaited {
        Awaited::default()
    }

    /// A wait for an interrupt has ended, as these inputs do so: told those that remember events.
    #[inline(always)]
    fn woken(&mut self, _inputs: &Inputs) {}

    /// Takes an exception that [`Isa::deliverable`] gave, before the instruction at the core's address. Accounts for
    /// its time.
    fn take(core: &mut Cpu<Self>, bus: &mut Bus, exception: Self::Exception);

    /// Takes the exception of the instruction at the core's address. Ends the run if nobody handles it.
    fn raise(core: &mut Cpu<Self>, bus: &mut Bus, exception: Self::Exception);

    /// An exception is being entered or left, which takes its time in steps: [`Isa::go_on`] is asked instead of running
    /// an instruction.
    #[inline(always)]
    fn is_between(_core: &Cpu<Self>) -> bool {
        false
    }

    /// Lets time pass in that, up to the core's limit or to its end.
    fn go_on(_core: &mut Cpu<Self>, _bus: &mut Bus) {}

    /// An instruction has just jumped: if its target means the return from an exception, begins to return from it. That
    /// belongs to the instruction: nothing is taken in between.
    #[inline(always)]
    fn follow_jump(_core: &mut Cpu<Self>, _bus: &mut Bus) {}

    /// True where an instruction has jumped to a value that means a return, which [`Isa::follow_jump`] has yet to see.
    #[inline(always)]
    fn is_at_return(_core: &Cpu<Self>) -> bool {
        false
    }

    /// The semihosting call of the instruction before the current address, or its next attempt.
    fn call_host(core: &mut Cpu<Self>, bus: &mut Bus);

    /// A flash answers in this way from now on, or has forgotten what it had read. True if decoded code knows for which
    /// way it was decoded, so that it can stay.
    fn follow_line_buffers(_core: &mut Cpu<Self>, _answer: Answer) -> bool {
        false
    }

    /// Code is about to be looked for at the current address: drops decoded code that may come from elsewhere by now.
    #[inline(always)]
    fn follow_map(_core: &mut Cpu<Self>) {}

    /// False if what was loaded can't be: compiled code uses some of it as an index, without a look.
    fn is_sound(&self) -> bool {
        true
    }

    /// A snapshot has been loaded: what is worked out from the state is forgotten.
    fn loaded(_core: &mut Cpu<Self>) {}

    // ---- The core as the machine sees it: see [`crate::core::Core`]

    /// The core begins to run, at first or again.
    #[inline(always)]
    fn begin(_core: &mut Cpu<Self>, _bus: &mut Bus) {}

    /// The core's clock runs at another rate: what was its cycle `before` is its present one now.
    fn clock_changed(_core: &mut Cpu<Self>, _before: u64) {}

    /// The core comes out of reset.
    fn reset(_core: &mut Cpu<Self>, _bus: &mut Bus) {}

    /// See [`crate::core::Core::load_address`].
    fn load_address(addr: u32) -> u32 {
        addr
    }

    /// Sets the address of the next instruction, as an ELF file has the entry.
    fn set_pc(core: &mut Cpu<Self>, pc: u32);

    /// Where the vector table is that the core begins with, if it has one.
    fn vector_table(_core: &Cpu<Self>) -> Option<u32> {
        None
    }

    /// The vector table is at `table` from reset on.
    fn set_vector_table(_core: &mut Cpu<Self>, _table: u32) {}

    /// Named totals since reset.
    fn counters(core: &Cpu<Self>) -> Vec<(String, u64)> {
        let own = [("exceptions", core.shell.exceptions), ("mispredicted branches", core.mispredictions)];
        core.memory.counters(&core.shell.name, &own)
    }
}
