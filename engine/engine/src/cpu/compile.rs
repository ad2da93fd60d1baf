//! The second tier: regions of blocks that run often, as host code.
//!
//! Time inside a block is known when it is decoded, so compiled code maintains every counter of the interpreter by
//! adding constants. An access without a shortcut calls the interpreter's function for it ([`slow_access`]), after the
//! core has been brought up to date. Anything else that is not simple (a system instruction, a successor that may not
//! be entered) ends the code, with an ending that says where the interpreter continues. All other functions that the
//! code calls change registers only. So registers, cycles and counters equal the interpreter's at every point that can
//! be observed.
//!
//! This module has the parts that all instruction sets share: [`region`] chooses the blocks; [`emit`] makes the
//! function of a region and its accounts, [`entry`] and [`exits`] its entries and exits; [`access`] loads and stores,
//! by stubs of [`matrix_switches`] where that switches a bus matrix; [`past_caches`] loads, stores and fetches past the
//! caches, by functions of [`transfer`]; [`arithmetic`] computes; [`stubs`] enters and leaves compiled code, and
//! [`code_memory`] stores it. [`compiler`] has a thread ([`worker`]) do the slow part while the core continues
//! interpreting, unless the core is configured to wait: as both tiers give equal results, the time of completion does
//! not matter. The instruction set emits the code of an operation ([`Isa::emit`](super::isa::Isa::emit)).

mod access;
mod arithmetic;
mod code_memory;
mod compiler;
pub mod emit;
mod ending;
mod entry;
mod exits;
mod matrix_switches;
mod past_caches;
mod profiling;
mod region;
mod slow_access;
mod stubs;
mod transfer;
mod worker;

pub use cranelift_codegen::ir::Value;
pub use emit::{Emitter, own};
pub use region::RegisterBits;

use super::Cpu;
use super::block::{Blocks, Extent, FALLEN};
use super::isa::Isa;
use crate::bus::Bus;
use crate::core::{Compiled, Compiling};
use compiler::Compiler;
use ending::{Ending, EndingWord};
use region::Region;
use slow_access::SlowAccess;

/// Runs after which a block is compiled: that many runs by the interpreter cost about as much as compiling.
pub const COMPILE_AFTER: u16 = 1500;

/// The place where the interpreter continues, or is called.
#[derive(Clone, Copy, Debug)]
pub struct Resumed {
    /// The block.
    pub index: u32,
    /// Its operation.
    pub at: usize,
    /// The exit that has been decided on before the end of the block.
    pub exit: usize,
}

/// A region that has been compiled, or is being compiled.
struct Made {
    /// Its blocks: each is entered by the region's code, unless it has code of its own.
    members: Vec<u32>,
    /// Address of its code; 0 if it has no code yet.
    code: usize,
}

/// A core's compiled code.
pub(crate) struct HostCode<I: Isa> {
    compiler: Option<Compiler<I>>,
    /// Entry to compiled code; valid only while there is a compiler.
    enter: usize,
    /// Blocks whose regions are being compiled.
    under_way: Vec<u32>,
    regions: Vec<Made>,
    how: Compiling,
    /// Regions that have been compiled, or are being compiled.
    pub compiled: Compiled,
    /// Inputs and results of accesses without a shortcut.
    slow: SlowAccess,
}

impl<I: Isa> HostCode<I> {
    /// No code yet.
    pub fn new(how: Compiling) -> HostCode<I> {
        let compiled = Compiled::default();
        let (under_way, regions) = (Vec::new(), Vec::new());
        HostCode { compiler: None, enter: 0, under_way, regions, how, compiled, slow: SlowAccess::default() }
    }

    /// The configured way of compiling.
    pub fn how(&self) -> Compiling {
        self.how
    }

    /// Forgets the code of all blocks.
    pub fn clear(&mut self) {
        self.compiler.iter_mut().for_each(Compiler::clear);
        self.under_way.clear();
        self.regions.clear();
    }

    /// Continues without a compiler.
    fn give_up(&mut self) {
        self.clear();
        self.compiler = None;
    }

    /// Forgets the code of regions with one of the `killed` blocks.
    pub fn forget(&mut self, blocks: &mut Blocks<I>, killed: &[u32]) {
        if killed.is_empty() {
            return;
        }
        self.regions.retain(|Made { members, code }| {
            let stays = !members.iter().any(|member| killed.contains(member));
            if !stays {
                blocks.forget_code_of(members, *code);
            }
            stays
        });
    }

    /// True if code may have been compiled meanwhile.
    #[inline(always)]
    pub fn has_work_under_way(&self) -> bool {
        !self.under_way.is_empty()
    }
}

impl<I: Isa> Cpu<I> {
    /// Runs the block `index` as host code, if it has any, and the blocks that follow it; returns where the interpreter
    /// continues. `None` if the last block has been left.
    #[inline(always)]
    pub(crate) fn run_compiled(&mut self, bus: &mut Bus, mut index: u32) -> Option<Resumed> {
        loop {
            // Host code can't stop before the end of a block: a block that is to be left earlier is not entered as host
            // code.
            if I::COMPILE_AFTER == 0 || !self.blocks.is_compiled(index) || self.patched.is_some() {
                return Some(Resumed { index, at: 0, exit: FALLEN });
            }
            match self.enter_compiled(bus, index) {
                Ending::Interpret { index, at, exit } => {
                    return Some(Resumed { index, at, exit });
                }
                Ending::Left { index, exit } => {
                    self.profile_left(index);
                    self.leave(index, exit, self.blocks.exit_pc(index, exit));
                    return None;
                }
                Ending::Check { index: next } if self.may_enter(next) || self.may_begin(next) => {
                    index = next;
                }
                Ending::Check { index: next } => {
                    self.stop_before(next);
                    return None;
                }
                Ending::Gone => {
                    self.host.slow.go_on_unwinding();
                    return None;
                }
            }
        }
    }

    fn enter_compiled(&mut self, bus: &mut Bus, index: u32) -> Ending {
        let enter = self.host.enter;
        self.host.slow.reach(bus);
        let hot = &raw mut self.blocks.hot[index as usize];
        let core = &raw mut *self;
        // SAFETY: the address is that of the stub of that type, in memory that lives until the core gives its compiler
        // up; then the core also forgets that blocks are compiled.
        let enter = unsafe { std::mem::transmute::<*const (), stubs::Enter>(std::ptr::with_exposed_provenance(enter)) };
        // SAFETY: the code accesses the core, its tables of blocks, shortcuts and fetched lines, and RAM through
        // shortcuts; the accesses that it calls use the bus. Both are borrowed exclusively, and the tables do not move
        // while there is code (see `Blocks::hot`).
        let word = unsafe { enter(core.cast(), hot.cast()) };
        word.map_or(Ending::Gone, EndingWord::ending)
    }

    /// Has a block run as host code, if possible: from now on, or once it has been compiled.
    #[cold]
    #[inline(never)]
    pub(super) fn compile(&mut self, index: u32) {
        if self.blocks.compile_after == 0 || !self.has_compiler() {
            return;
        }
        if self.blocks.is_compiled(index) {
            return self.blocks.reconsider(index);
        }
        self.adopt_compiled();
        if self.blocks.is_compiled(index) || self.blocks.cold[index as usize].entry.extent != Extent::Whole {
            return;
        }
        if self.host.under_way.contains(&index) {
            return self.blocks.look_again(index);
        }
        let Some(region) = Region::from(&self.blocks, index) else { return };
        self.prepare_counters(region.members.iter().map(|member| member.index));
        let Some(mut compiler) = self.host.compiler.take() else { return };
        compiler.begin(self, &region, self.host.how.waits);
        self.host.under_way.push(index);
        let members: Vec<u32> = region.members.iter().map(|member| member.index).collect();
        self.blocks.cover(&members);
        self.host.regions.push(Made { members, code: 0 });
        self.host.compiler = Some(compiler);
        if self.host.how.waits {
            self.adopt_compiled();
        }
    }

    /// True if this host has a compiler.
    fn has_compiler(&mut self) -> bool {
        let code = &mut self.host;
        if code.compiler.is_none() {
            code.compiler = Compiler::new(&self.blocks, &self.memory, code.how.memory_bytes);
            let Some(compiler) = &code.compiler else {
                self.blocks.compile_after = 0;
                return false;
            };
            code.enter = compiler.stubs.enter;
            self.blocks.forget_code(compiler.stubs.uncompiled);
        }
        true
    }

    /// Takes over the code that has been compiled meanwhile.
    #[cold]
    #[inline(never)]
    pub(super) fn adopt_compiled(&mut self) {
        let Some(compiler) = &mut self.host.compiler else { return };
        while let Some((index, code)) = compiler.next_compiled() {
            self.host.under_way.retain(|other| *other != index);
            let compiled = &mut self.host.compiled;
            *(if code.is_some() { &mut compiled.regions } else { &mut compiled.refused }) += 1;
            // If it is missing, a write has killed one of its blocks.
            let made = |made: &Made| made.code == 0 && made.members[0] == index;
            let place = self.host.regions.iter().position(made);
            match code {
                Some(code) => {
                    if let Some(made) = place.map(|place| &mut self.host.regions[place]) {
                        made.code = code;
                        self.blocks.adopt(&made.members, code);
                    }
                }
                None if compiler.is_sound() => {
                    if let Some(made) = place.map(|place| self.host.regions.swap_remove(place)) {
                        self.blocks.forget_code_of(&made.members, 0);
                    }
                    self.blocks.give_up(index);
                }
                None => {
                    // All code is lost with the pages.
                    self.blocks.compile_after = 0;
                    self.blocks.forget_code(0);
                    self.host.give_up();
                    return;
                }
            }
        }
        if compiler.is_full() {
            self.blocks.forget_code(compiler.stubs.uncompiled);
            // Jobs under way are lost, too: they have to be requested again.
            self.host.clear();
            self.host.compiled.times_full += 1;
        }
    }
}
