//! Accesses of compiled code without a shortcut: a cache miss, a device, memory past the caches. The interpreter's own
//! functions do them, and find the core as if it had reached the operation by interpretation.

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

/// Inputs of such an access beside the core, and its results.
#[derive(Default)]
pub struct SlowAccess {
    /// The bus, while compiled code runs: its exposed address.
    bus: usize,
    /// The ending that compiled code returns after the access; `None`, which the code reads as 0, if the code
    /// continues.
    ending: Option<EndingWord>,
    /// The cycle in which a transfer of [`super::transfer`] was complete; 0 if it did nothing.
    done: u64,
    /// Cycles of the last transfer at its target, and on the way there and back.
    charged: [u64; 2],
    /// The host address of simulated address 0 for the words that a matrix stub has found.
    zero: usize,
    /// A panic on its way through compiled code, which can't be unwound.
    panic: Option<Box<dyn Any + Send>>,
}

impl<I: Isa> HostCode<I> {
    /// Offset of the last access's ending.
    pub(super) const ENDING: usize = offset_of!(HostCode<I>, slow) + offset_of!(SlowAccess, ending);
    /// Offset of the cycle in which the last transfer past the caches was complete.
    pub(super) const DONE: usize = offset_of!(HostCode<I>, slow) + offset_of!(SlowAccess, done);
    /// Offset of the last transfer's cycles: at its target, and on the way.
    pub(super) const CHARGED: usize = offset_of!(HostCode<I>, slow) + offset_of!(SlowAccess, charged);
    /// Offset of the address returned by the last switch for several words.
    pub(super) const ZERO: usize = offset_of!(HostCode<I>, slow) + offset_of!(SlowAccess, zero);
}

impl SlowAccess {
    /// Sets the bus for the compiled code that is about to run.
    #[inline(always)]
    pub fn reach(&mut self, bus: &mut Bus) {
        self.bus = (&raw mut *bus).expose_provenance();
    }

    /// Resumes a panic, if there was one, after compiled code has returned.
    #[inline]
    pub fn go_on_unwinding(&mut self) {
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
    }
}

/// Signature of [`access`]: the core, the ending with which the interpreter continues after the operation, the address.
pub fn signature(convention: CallConv) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend([I64, I64, I32].map(AbiParam::new));
    signature
}

/// Does the operation before the one that `after` names, which accesses `addr`.
pub extern "C" fn access<I: Isa>(core: *mut Cpu<I>, after: EndingWord, addr: u32) {
    // SAFETY: compiled code passes on the core that it got, which is borrowed exclusively meanwhile.
    let core = unsafe { &mut *core };
    // SAFETY: as for the core; `SlowAccess::reach` has set the address.
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
        // Assumptions of compiled code may no longer hold.
        let stays = self.patched.is_none() && self.memory.fetch_epoch() == fetched;
        if stays { None } else { Some(after) }
    }
}
