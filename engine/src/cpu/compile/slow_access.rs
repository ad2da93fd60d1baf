//! Accesses of compiled code that find no shortcut: a cache miss, a device, memory past the caches. They are done by
//! the interpreter's own functions, to which the core looks as if it had come to the operation by interpreting.

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Signature};
use cranelift_codegen::isa::CallConv;
use std::any::Any;
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::with_exposed_provenance_mut;

use super::ending::{Ending, EndingWord};
use super::{HostCode, Resumed};
use crate::bus::Bus;
use crate::cpu::Cpu;
use crate::cpu::isa::Isa;

/// What such an access needs beside the core, and what it says.
#[derive(Default)]
pub struct SlowAccess {
    /// The bus, while compiled code runs: its exposed address.
    bus: usize,
    /// What compiled code returns after it; `None`, which it finds as 0, where it goes on after the access.
    ending: Option<EndingWord>,
    /// The cycle in which a transfer of [`super::transfer`] was done; 0 if it has done nothing.
    done: u64,
    /// What the last transfer took at its target, and on the way there and back.
    charged: [u64; 2],
    /// Where the host has simulated address 0 for words that a stub of [`super::turns`] has found.
    zero: usize,
    /// A panic on its way through compiled code, which can't be unwound.
    panic: Option<Box<dyn Any + Send>>,
}

impl<I: Isa> HostCode<I> {
    /// Where compiled code finds what the last access has said.
    pub(super) const ENDING: usize = offset_of!(HostCode<I>, slow) + offset_of!(SlowAccess, ending);
    /// Where it finds when the last transfer past the caches was done.
    pub(super) const DONE: usize = offset_of!(HostCode<I>, slow) + offset_of!(SlowAccess, done);
    /// Where it finds what the last transfer took: at its target, and on the way.
    pub(super) const CHARGED: usize = offset_of!(HostCode<I>, slow) + offset_of!(SlowAccess, charged);
    /// Where it finds what the last turn for several words has said.
    pub(super) const ZERO: usize = offset_of!(HostCode<I>, slow) + offset_of!(SlowAccess, zero);
}

impl SlowAccess {
    /// Compiled code is about to run, with this bus.
    #[inline(always)]
    pub fn reach(&mut self, bus: &mut Bus) {
        self.bus = (&raw mut *bus).expose_provenance();
    }

    /// Compiled code has returned: goes on with a panic, if there is one.
    #[inline]
    pub fn go_on_unwinding(&mut self) {
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
    }
}

/// Signature of [`access`]: the core, the ending with which the interpreter goes on behind the operation, the address.
pub fn signature(convention: CallConv) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend([I64, I64, I32].map(AbiParam::new));
    signature
}

/// Does the operation before the one that `after` names, which accesses `addr`.
pub extern "C" fn access<I: Isa>(core: *mut Cpu<I>, after: EndingWord, addr: u32) {
    // SAFETY: compiled code gives what it was given, a core that is borrowed exclusively meanwhile.
    let core = unsafe { &mut *core };
    // SAFETY: likewise; it was told in `SlowAccess::reach`.
    let bus = unsafe { &mut *with_exposed_provenance_mut::<Bus>(core.host.slow.bus) };
    let ending = catch_unwind(AssertUnwindSafe(|| core.access_for_code(bus, after, addr)));
    core.host.slow.ending = ending.unwrap_or_else(|panic| {
        core.host.slow.panic = Some(panic);
        Some(EndingWord::GONE)
    });
}

impl<I: Isa> Cpu<I> {
    fn access_for_code(&mut self, bus: &mut Bus, after: EndingWord, addr: u32) -> Option<EndingWord> {
        let Ending::Interpret { index, at, exit } = after.ending() else { return Some(after) };
        let (fetched, generation) = (self.memory.fetch_epoch(), self.blocks.generation());
        if !I::access(self, bus, Resumed { index, at: at - 1, exit }, addr) {
            return Some(EndingWord::GONE);
        }
        assert!(generation == self.blocks.generation(), "the block that accesses is there while it runs");
        // What compiled code takes for certain may not be so any more.
        let stays = self.patched.is_none() && self.memory.fetch_epoch() == fetched;
        if stays { None } else { Some(after) }
    }
}
