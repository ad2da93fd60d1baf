//! The compiler of one core: passes functions to the worker, and stores the returned code.

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use std::marker::PhantomData;

use super::code_memory::CodeMemory;
use super::emit::Calls;
use super::region::Region;
use super::transfer::Transfers;
use super::worker::{Compiled, Connection, Job};
use super::{emit, stubs};
use crate::cpu::Cpu;
use crate::cpu::block::Blocks;
use crate::cpu::isa::Isa;
use crate::cpu::memory_system::Memory;

/// Compiles blocks of one core, and stores their code.
pub(super) struct Compiler<I: Isa> {
    pub isa: OwnedTargetIsa,
    /// Context in which the next function is made.
    pub context: Context,
    pub builder: FunctionBuilderContext,
    pub memory: CodeMemory,
    pub stubs: stubs::Stubs,
    /// Functions made last, after the stubs or regions.
    pub transfers: Transfers,
    /// Code is made for a core with a profile.
    pub profiles: bool,
    worker: Connection,
    /// Incremented when all code is forgotten: jobs begun before are obsolete.
    generation: u32,
    /// A finished job that the core waited for.
    waited: Option<Compiled>,
    of: PhantomData<fn(I)>,
}

impl<I: Isa> Compiler<I> {
    /// A compiler for this host, if it has one, with `memory_bytes` of memory for code.
    pub fn new(blocks: &Blocks<I>, memory: &Memory, memory_bytes: usize) -> Option<Compiler<I>> {
        let mut flags = settings::builder();
        let set = [
            // Optimizing such short functions doubles the time, without a measurable gain.
            ("opt_level", "none"),
            ("enable_probestack", "false"),
            ("unwind_info", "false"),
            // Cranelift requires them for tail calls.
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
            memory: CodeMemory::new(memory_bytes)?,
            stubs: stubs::Stubs::default(),
            transfers: Transfers::default(),
            profiles: false,
            worker: Connection::default(),
            generation: 0,
            waited: None,
            of: PhantomData,
        };
        compiler.stubs = compiler.make_stubs(blocks, memory)?;
        Some(compiler)
    }

    /// Begins to compile a region; `at_once` if the core waits for it anyway.
    pub fn begin(&mut self, core: &Cpu<I>, region: &Region, at_once: bool) {
        let head = region.members[0].index as usize;
        let pc = core.blocks.hot[head].pc & I::ADDRESS_MASK;
        self.profiles = core.is_profiled();
        self.transfers = self.transfers(&core.memory, pc, core.blocks.cold[head].fetch);
        let (access, transfers) = (self.stubs.access, self.transfers);
        // The stubs do not report the waiting instruction to a profile.
        let matrix = self.stubs.matrix.filter(|_| !core.is_profiled());
        let calls = Calls { convention: self.isa.default_call_conv(), access, matrix, transfers };
        emit::emit(&mut self.context.func, &mut self.builder, calls, core, region);
        let (index, generation) = (region.members[0].index, self.generation);
        if at_once {
            let code = machine_code(&mut self.context, &self.isa);
            self.context.clear();
            self.waited = Some(Compiled { index, generation, code });
            return;
        }
        let context = std::mem::replace(&mut self.context, Context::new());
        self.worker.send(Job { context, isa: self.isa.clone(), index, generation });
    }

    /// The next block whose region has been compiled, and the address of its code: `None` if it has no code.
    pub fn next_compiled(&mut self) -> Option<(u32, Option<usize>)> {
        loop {
            let compiled = self.waited.take().or_else(|| self.worker.receive())?;
            if compiled.generation == self.generation {
                let code = compiled.code.and_then(|code| self.memory.append(&code));
                return Some((compiled.index, code));
            }
        }
    }

    /// False once pages with code have been lost.
    pub fn is_sound(&self) -> bool {
        self.memory.is_sound()
    }

    /// True if hardly any room is left for code.
    pub fn is_full(&self) -> bool {
        self.memory.is_full()
    }

    /// Forgets the code of all blocks. No such code is running: it calls nothing that could get here.
    pub fn clear(&mut self) {
        self.memory.used = self.stubs.bytes;
        self.transfers = Transfers::default();
        self.generation = self.generation.wrapping_add(1);
    }

    /// Compiles the current function at once; returns its address.
    pub fn finish(&mut self) -> Option<usize> {
        let code = machine_code(&mut self.context, &self.isa);
        self.context.clear();
        self.memory.append(&code?)
    }
}

/// A function as host code.
pub(super) fn machine_code(context: &mut Context, isa: &OwnedTargetIsa) -> Option<Vec<u8>> {
    let code = context.compile(isa.as_ref(), &mut ControlPlane::default()).ok()?;
    // Code with relocations would need a linker; this code refers to nothing by name.
    code.buffer.relocs().is_empty().then(|| code.code_buffer().to_vec())
}
