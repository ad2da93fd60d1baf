//! The second tier: regions of blocks that run often, as host code.
//!
//! Time inside a block is known when it is decoded, so compiled code keeps every count of the interpreter and has to do
//! nothing more than add constants. It never calls anything: whatever is not simply done (an access without a shortcut,
//! a system instruction, a successor that may not be entered) ends it, with word of where the interpreter has to go on.
//! So registers, cycles and counters are the interpreter's at every point that can be observed.
//!
//! What all instruction sets have in common is here: [`region`] chooses blocks that belong together; [`emit`] makes
//! the function of a region, its accounts and its ways out; [`access`] loads and stores, [`arithmetic`] computes; [`stubs`] leads into compiled
//! code and out of it, and [`code_memory`] holds it. What an operation does, its instruction set says
//! ([`Isa::emit`](super::isa::Isa::emit)).

mod access;
mod arithmetic;
mod code_memory;
pub mod emit;
mod region;
mod stubs;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use std::marker::PhantomData;

use super::Cpu;
use super::block::{Blocks, Extent, FALLEN};
use super::isa::Isa;
pub use cranelift_codegen::ir::Value;
pub use emit::{Emitter, own};
pub use region::RegisterBits;

use code_memory::CodeMemory;
use region::Region;

/// Runs after which a block is compiled: interpreting it that often costs about what compiling it does.
pub const COMPILE_AFTER: u16 = 1500;

/// Why compiled code ended, as it says it: index, number << 32, kind << 48.
#[derive(Clone, Copy)]
#[repr(u64)]
enum Kind {
    Interpret,
    Left,
    Check,
}

/// Of an operation's number: above it is the exit that its block has decided on.
const DECIDED_SHIFT: u32 = 15;

/// What compiled code returns.
const fn ending_bits(kind: Kind, index: u32, number: u32) -> u64 {
    (kind as u64) << 48 | (number as u64) << 32 | index as u64
}

/// Where compiled code ended, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// The interpreter goes on in a block, at an operation.
    Interpret {
        /// The block.
        index: u32,
        /// The operation's number in the block.
        at: usize,
        /// The exit that the block has decided on.
        exit: usize,
    },
    /// A block has run, and its exit leads to no block known.
    Left {
        /// The block.
        index: u32,
        /// The exit.
        exit: usize,
    },
    /// A block comes next, but not all of its lines are known to be in the instruction cache, or it does not fit before
    /// the limit.
    Check {
        /// The block that comes next.
        index: u32,
    },
}

impl Ending {
    fn from_bits(bits: u64) -> Ending {
        let (index, number) = (bits as u32, (bits >> 32) as u16);
        match bits >> 48 {
            0 => {
                let (at, exit) = (number & ((1 << DECIDED_SHIFT) - 1), number >> DECIDED_SHIFT);
                Ending::Interpret { index, at: usize::from(at), exit: usize::from(exit) }
            }
            1 => Ending::Left { index, exit: usize::from(number) },
            _ => Ending::Check { index },
        }
    }
}

/// Where the interpreter goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resumed {
    /// The block.
    pub index: u32,
    /// Its operation.
    pub at: usize,
    /// The exit that has been decided on, where that comes before the end.
    pub exit: usize,
}

/// A core's compiled code.
pub(crate) struct HostCode<I: Isa> {
    compiler: Option<Compiler<I>>,
    /// Entry to compiled code; only of use while there is a compiler.
    enter: usize,
    pub counts: Counts,
}

/// What the compiler has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Regions that were compiled.
    pub compiled: u64,
    /// Blocks that could not be.
    pub refused: u64,
}

impl<I: Isa> Default for HostCode<I> {
    fn default() -> HostCode<I> {
        HostCode { compiler: None, enter: 0, counts: Counts::default() }
    }
}

impl<I: Isa> HostCode<I> {
    /// Forgets the code of all blocks.
    pub fn clear(&mut self) {
        self.compiler.iter_mut().for_each(Compiler::clear);
    }
}

impl<I: Isa> Cpu<I> {
    /// Runs the block `index` as host code, if it has such, and what comes behind it: where the interpreter goes on.
    /// `None` if the last block has been left.
    #[inline(always)]
    pub(crate) fn run_compiled(&mut self, mut index: u32) -> Option<Resumed> {
        loop {
            if I::COMPILE_AFTER == 0 || !self.blocks.is_compiled(index) {
                return Some(Resumed { index, at: 0, exit: FALLEN });
            }
            match self.enter_compiled(index) {
                Ending::Interpret { index, at, exit } => return Some(Resumed { index, at, exit }),
                Ending::Left { index, exit } => {
                    self.leave(index, exit, self.blocks.exit_pc(index, exit));
                    return None;
                }
                Ending::Check { index: next } if self.may_enter(next) => index = next,
                Ending::Check { index: next } => {
                    self.stop_before(next);
                    return None;
                }
            }
        }
    }

    fn enter_compiled(&mut self, index: u32) -> Ending {
        let enter = self.host.enter;
        let hot = &raw mut self.blocks.hot[index as usize];
        let core = &raw mut *self;
        // SAFETY: the address is that of the stub of that type, in memory that lives until the core gives its compiler
        // up; with it it forgets that blocks are compiled.
        let enter = unsafe { std::mem::transmute::<*const (), stubs::Enter>(std::ptr::with_exposed_provenance(enter)) };
        // SAFETY: the code touches the core, its tables of blocks, shortcuts and fetched lines, and RAM behind
        // shortcuts. The core is borrowed exclusively, and its tables don't move while there is code (see
        // `Blocks::hot`).
        Ending::from_bits(unsafe { enter(core.cast(), hot.cast()) })
    }

    /// Has a block run as host code from now on, if that can be done.
    #[cold]
    #[inline(never)]
    pub(super) fn compile(&mut self, index: u32) {
        if self.blocks.compile_after == 0 {
            return;
        }
        let code = &mut self.host;
        if code.compiler.is_none() {
            code.compiler = Compiler::new(&self.blocks);
            let Some(compiler) = &code.compiler else {
                self.blocks.compile_after = 0;
                return;
            };
            code.enter = compiler.stubs.enter;
            self.blocks.forget_code(compiler.stubs.uncompiled);
        }
        if self.blocks.cold[index as usize].entry.extent != Extent::Whole {
            return;
        }
        if self.blocks.is_compiled(index) {
            return self.blocks.reconsider(index);
        }
        let Some(mut compiler) = self.host.compiler.take() else { return };
        let compiled = compiler.compile(self, index);
        if let Some((code, region)) = compiled {
            self.blocks.adopt(index, code);
            for member in &region.members[1..] {
                self.blocks.cover(member.index);
            }
            self.host.counts.compiled += 1;
        } else if compiler.memory.is_sound() {
            self.host.counts.refused += 1;
        } else {
            // With the pages all code is gone.
            self.blocks.compile_after = 0;
            return self.blocks.forget_code(0);
        }
        self.host.compiler = Some(compiler);
    }
}

/// Compiles blocks of one core, and keeps their code.
struct Compiler<I: Isa> {
    isa: OwnedTargetIsa,
    context: Context,
    builder: FunctionBuilderContext,
    memory: CodeMemory,
    stubs: stubs::Stubs,
    of: PhantomData<fn(I)>,
}

impl<I: Isa> Compiler<I> {
    /// A compiler for this host, if it has one.
    fn new(blocks: &Blocks<I>) -> Option<Compiler<I>> {
        let mut flags = settings::builder();
        let set = [
            // Optimizing such short functions takes as long again, and gains nothing that can be measured.
            ("opt_level", "none"),
            ("enable_probestack", "false"),
            ("unwind_info", "false"),
            // Cranelift asks for them where there are tail calls.
            ("preserve_frame_pointers", "true"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ];
        for (name, value) in set {
            flags.set(name, value).ok()?;
        }
        let isa = cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()?;
        let mut compiler = Compiler {
            isa,
            context: Context::new(),
            builder: FunctionBuilderContext::new(),
            memory: CodeMemory::new()?,
            stubs: stubs::Stubs::default(),
            of: PhantomData,
        };
        compiler.stubs = compiler.make_stubs(blocks)?;
        Some(compiler)
    }

    /// Compiles the region that begins with a block; gives the address of its code. `None` if there is nothing in the
    /// block to compile, or that can't be done now.
    fn compile(&mut self, core: &Cpu<I>, index: u32) -> Option<(usize, Region)> {
        let region = Region::from(&core.blocks, index)?;
        let t0 = std::time::Instant::now();
        emit::emit(&mut self.context.func, &mut self.builder, self.isa.default_call_conv(), core, &region);
        let t1 = t0.elapsed();
        let used = self.memory.used;
        let r = self.finish();
        if std::env::var("DBG").is_ok() {
            eprintln!(
                "DBG {:x} members {} ops {} emit {:?} total {:?} bytes {}",
                core.blocks.hot[index as usize].pc,
                region.members.len(),
                region.members.iter().map(|m| m.ops).sum::<usize>(),
                t1,
                t0.elapsed(),
                self.memory.used - used
            );
        }
        Some((r?, region))
    }

    /// Forgets the code of all blocks. None of it is running: it calls nothing that could lead here.
    fn clear(&mut self) {
        self.memory.used = self.stubs.bytes;
    }

    /// Turns the function at hand into code: its address.
    fn finish(&mut self) -> Option<usize> {
        let compiled = self.context.compile(self.isa.as_ref(), &mut ControlPlane::default());
        // Code with relocations would need a linker; ours refers to nothing by name.
        let address = match compiled {
            Ok(code) if code.buffer.relocs().is_empty() => self.memory.append(code.code_buffer()),
            _ => None,
        };
        self.context.clear();
        address
    }
}
