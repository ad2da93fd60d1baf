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

use super::core::{Hart, RiscV};
use super::execute::Ending;
use super::op::TimingClass;
use crate::cpu::block::{self, Extent};
use crate::cpu::memory::Via;
use crate::cpu::memory::shortcut::Shortcuts;
use memory::CodeMemory;

/// A hart's blocks.
type Blocks = block::Blocks<RiscV>;
/// What the inner loop and compiled code need of one.
type Hot = block::Hot<()>;

/// Runs after which a block is compiled: interpreting it that often costs about what compiling it does.
pub const COMPILE_AFTER: u16 = 1500;

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

/// A hart's compiled code. A copy of a hart's state has none: it is worked out from the rest.
#[derive(Default)]
pub struct HostCode {
    compiler: Option<Compiler>,
    /// Entry to compiled code; only of use while there is a compiler.
    enter: usize,
}

impl HostCode {
    /// Forgets the code of all blocks.
    pub fn clear(&mut self) {
        self.compiler.iter_mut().for_each(Compiler::clear);
    }
}

impl Clone for HostCode {
    fn clone(&self) -> HostCode {
        HostCode::default()
    }
}

impl PartialEq for HostCode {
    fn eq(&self, _: &HostCode) -> bool {
        true
    }
}

impl Hart {
    /// Runs compiled code, from that of the block `index` on, which has been compiled.
    pub(super) fn run_compiled(&mut self, index: u32) -> Ending {
        let enter = self.isa.code.enter;
        let hot = &raw mut self.blocks.hot[index as usize];
        // SAFETY: the address is that of the stub of that type, in memory that lives until the hart gives its compiler
        // up; with it it forgets that blocks are compiled.
        let enter = unsafe { std::mem::transmute::<*const (), stubs::Enter>(std::ptr::with_exposed_provenance(enter)) };
        // SAFETY: the code touches the hart, its tables of blocks, shortcuts and fetched lines, and RAM behind
        // shortcuts. The hart is borrowed exclusively, and its tables don't move while there is code (see
        // `Blocks::hot`).
        Ending::from_bits(unsafe { enter(self, hot) })
    }

    /// Has a block run as host code from now on, if that can be done.
    #[cold]
    #[inline(never)]
    pub(super) fn compile(&mut self, index: u32) {
        if self.blocks.compile_after == 0 {
            return;
        }
        let code = &mut self.isa.code;
        if code.compiler.is_none() {
            code.compiler = Compiler::new(&self.blocks);
            let Some(compiler) = &code.compiler else {
                self.blocks.compile_after = 0;
                return;
            };
            code.enter = compiler.stubs.enter;
            self.blocks.forget_code(compiler.stubs.uncompiled);
        }
        let Some(compiler) = &mut code.compiler else { return };
        let cold = &self.blocks.cold[index as usize];
        if cold.entry.extent != Extent::Whole || cold.fetch == Via::Uncached {
            return;
        }
        if self.blocks.is_compiled(index) {
            return self.blocks.reconsider(index);
        }
        if let Some(code) = compiler.compile(&self.blocks, self.memory.shortcuts(), index) {
            self.blocks.adopt(index, code);
        } else if !compiler.memory.is_sound() {
            // With the pages all code is gone.
            code.compiler = None;
            self.blocks.compile_after = 0;
            self.blocks.forget_code(0);
        }
    }
}

/// Compiles blocks of one hart, and keeps their code.
struct Compiler {
    isa: OwnedTargetIsa,
    context: Context,
    builder: FunctionBuilderContext,
    memory: CodeMemory,
    stubs: stubs::Stubs,
}

impl Compiler {
    /// A compiler for this host, if it has one.
    fn new(blocks: &Blocks) -> Option<Compiler> {
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

    /// Compiles a block; gives the address of its code. `None` if there is nothing in it to compile, or that can't be
    /// done now.
    fn compile(&mut self, blocks: &Blocks, shortcuts: &Shortcuts, index: u32) -> Option<usize> {
        if matches!(blocks.ops_from(index).first()?.code.class(), TimingClass::Csr | TimingClass::System) {
            return None;
        }
        emit::emit(&mut self.context.func, &mut self.builder, blocks, shortcuts, index);
        self.finish()
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

#[cfg(test)]
mod tests;
