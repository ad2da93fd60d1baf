//! Invalidation of decoded and compiled code: it was overwritten, comes from elsewhere, or is fetched in another way.

use super::Cpu;
use super::block::NOT_FETCHED;
use super::isa::Isa;
use crate::bus::Bus;
use crate::bus::code::{CodeLog, CodeSpan};
use crate::core::Stop;

impl<I: Isa> Cpu<I> {
    /// Drops decoded blocks if memory under them was written.
    pub(super) fn follow_memory(&mut self, bus: &Bus) {
        if self.code_was_written(bus) {
            self.follow_writes(bus);
        }
        self.follow_marks(bus);
    }

    #[cold]
    #[inline(never)]
    fn follow_writes(&mut self, bus: &Bus) {
        if bus.watches.stop_core() {
            self.shell.stop = Some(Stop::Break);
        }
        if bus.line_buffers.epoch() != self.buffers_epoch {
            self.buffers_epoch = bus.line_buffers.epoch();
            self.memory.forget_fetched();
            self.memory.translation_changed(self.isa.mmu());
            if !I::follow_line_buffers(self, bus.line_buffers.how()) {
                self.written_epoch = CodeLog::UNKNOWN;
            }
        }
        match bus.code_written.since(self.written_epoch) {
            Some(spans) => spans.for_each(|span| self.kill_blocks(span)),
            None => self.drop_blocks(),
        }
        self.written_epoch = bus.code_written.epoch();
    }

    /// Drops shortcuts for stores where instructions were decoded.
    pub(super) fn follow_marks(&mut self, bus: &Bus) {
        if bus.code_marked.epoch() != self.marked_epoch {
            self.memory.follow_marks(bus, self.marked_epoch);
            self.marked_epoch = bus.code_marked.epoch();
        }
    }

    /// Follows a change of address translation within a block: the block is left after this instruction, and decoded
    /// code is dropped then.
    pub(crate) fn map_changed(&mut self) {
        self.memory.translation_changed(self.isa.mmu());
        self.written_epoch = CodeLog::UNKNOWN;
    }

    /// Follows a change after which decoded code may not be the code at its addresses: it is dropped before anything
    /// else runs.
    pub(super) fn code_moved(&mut self) {
        self.written_epoch = CodeLog::UNKNOWN;
    }

    /// Has blocks checked again whose lines have left the instruction cache.
    #[inline(always)]
    pub(crate) fn follow_lines(&mut self) {
        if self.memory.has_stale_blocks() {
            self.check_stale_blocks();
        }
    }

    #[inline(never)]
    fn check_stale_blocks(&mut self) {
        match self.memory.take_stale_blocks() {
            Some(stale) => stale.for_each(|index| self.blocks.hot[index as usize].fetched = NOT_FETCHED),
            None => self.blocks.forget_fetched(),
        }
    }

    /// Drops decoded blocks of code that is not in a RAM: stores report writes to RAMs only.
    pub(crate) fn drop_unreported_blocks(&mut self) {
        self.kill_blocks(CodeSpan::ELSEWHERE);
    }

    /// Drops decoded blocks of a span, and their compiled code.
    fn kill_blocks(&mut self, span: CodeSpan) {
        let killed = self.blocks.kill(span);
        self.paused = None;
        self.host.forget(&mut self.blocks, &killed);
    }

    /// Drops all decoded blocks.
    pub(crate) fn drop_blocks(&mut self) {
        self.blocks.flush();
        self.memory.forget_code();
        self.patched = None;
        self.paused = None;
        self.host.clear();
        self.left = None;
    }
}
