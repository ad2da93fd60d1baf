//! The second tier: blocks that have run often, as host code.
//!
//! Time inside a block is known when it is decoded, so compiled code keeps every count of the interpreter and has to do
//! nothing more than add constants. It never calls anything: whatever is not simply done (an access without a shortcut,
//! a CSR, a successor that may not be entered) ends it, with word of where the interpreter has to go on. So registers,
//! cycles and counters are the interpreter's at every point that can be observed.
//!
//! [`emit`] translates; [`memory`] holds the code; [`stubs`] leads in and out of it.

mod alu;
mod emit;
mod memory;
mod stubs;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;

use super::core::{Blocks, Hart};
use super::op::TimingClass;
use crate::memory::shortcut::Shortcuts;
use memory::CodeMemory;

/// Runs after which a block is compiled: interpreting it that often costs about what compiling it does.
pub const COMPILE_AFTER: u16 = 1500;

/// Where compiled code ended, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The interpreter goes on in a block, at an operation.
    Interpret {
        /// The block.
        index: u32,
        /// The operation's number in the block.
        at: u32,
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

/// Kinds of [`Ending`], as compiled code returns them: index, number << 32, kind << 48.
#[derive(Clone, Copy)]
#[repr(u64)]
enum Kind {
    Interpret,
    Left,
    Check,
}

/// What compiled code returns.
const fn ending_bits(kind: Kind, index: u32, number: u32) -> u64 {
    (kind as u64) << 48 | (number as u64) << 32 | index as u64
}

impl Ending {
    fn from_bits(bits: u64) -> Ending {
        let (index, number) = (bits as u32, (bits >> 32) as u16);
        match bits >> 48 {
            0 => Ending::Interpret { index, at: u32::from(number) },
            1 => Ending::Left { index, exit: usize::from(number) },
            _ => Ending::Check { index },
        }
    }
}

/// Compiles blocks of one hart, and keeps their code.
pub struct Compiler {
    isa: OwnedTargetIsa,
    context: Context,
    builder: FunctionBuilderContext,
    memory: CodeMemory,
    stubs: stubs::Stubs,
}

impl Compiler {
    /// A compiler for this host, if it has one.
    pub fn new(blocks: &Blocks) -> Option<Compiler> {
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
        };
        compiler.stubs = compiler.make_stubs(blocks)?;
        Some(compiler)
    }

    /// Address of the code of blocks that have not been compiled: it hands them to the interpreter.
    pub fn uncompiled(&self) -> usize {
        self.stubs.uncompiled
    }

    /// Compiles a block; gives the address of its code. `None` if there is nothing in it to compile, or that can't be
    /// done now.
    pub fn compile(&mut self, blocks: &Blocks, shortcuts: &Shortcuts, index: u32) -> Option<usize> {
        if matches!(blocks.ops_from(index).first()?.code.class(), TimingClass::Csr | TimingClass::System) {
            return None;
        }
        emit::emit(&mut self.context.func, &mut self.builder, blocks, shortcuts, index);
        self.finish()
    }

    /// True while the memory for code can be relied upon.
    pub fn is_sound(&self) -> bool {
        self.memory.is_sound()
    }

    /// Forgets the code of all blocks. None of it is running: it calls nothing that could lead here.
    pub fn clear(&mut self) {
        self.memory.truncate(self.stubs.bytes);
    }

    /// Runs compiled code, from that of the block `index` on, which has been compiled.
    pub fn run(hart: &mut Hart, index: u32) -> Ending {
        let enter = hart.isa.code.enter;
        let hot = &raw mut hart.blocks.hot[index as usize];
        // SAFETY: the address is that of the stub of that type, in memory that lives until the hart gives its compiler
        // up; with it it forgets that blocks are compiled.
        let enter = unsafe { std::mem::transmute::<*const (), stubs::Enter>(std::ptr::with_exposed_provenance(enter)) };
        // SAFETY: the code touches the hart, its tables of blocks, shortcuts and fetched lines, and RAM behind
        // shortcuts. The hart is borrowed exclusively, and its tables don't move while there is code (see
        // `Blocks::hot`).
        Ending::from_bits(unsafe { enter(hart, hot) })
    }

    /// Address of the way in, for [`Compiler::run`].
    pub fn enter(&self) -> usize {
        self.stubs.enter
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

#[cfg(test)]
mod tests;
