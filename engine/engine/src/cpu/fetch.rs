//! Fetches: the lines of a block before it is entered, or instructions past the cache one by one.

use super::Cpu;
use super::isa::Isa;
use super::memory_system::fetch::line_order;
use super::memory_system::fetch::pages::{PAGE_BYTES, PageNumber};
use super::memory_system::{Done, Mmu, Quiet, Via};
use crate::bus::Bus;

impl<I: Isa> Cpu<I> {
    /// Fetches a block's instructions. False if the caller has to check again before it runs the block.
    pub(super) fn fetch(&mut self, bus: &mut Bus, index: u32) -> bool {
        let pc = self.blocks.hot[index as usize].pc;
        let fetched = match self.blocks.cold[index as usize].fetch {
            Via::Local => self.fetch_local(bus, index),
            Via::Cached => self.fetch_cached(bus, index),
            Via::Passing => true,
            Via::Uncached if I::FETCHES_IN_BLOCKS => self.code_stays(bus, index),
            Via::Uncached => I::FETCHES_FIRST || self.fetch_one(bus, index),
        };
        self.report_own_origin(bus);
        self.charge(pc);
        self.follow_lines();
        fetched
    }

    /// A fetch from memory at the core takes no time, except for translation.
    fn fetch_local(&mut self, bus: &mut Bus, index: u32) -> bool {
        let ((first, last), pages) = (self.ends_of(index), self.pages_of(index));
        for (va, page) in [(first, pages.0), (last, pages.1)] {
            if self.memory.has_code_page(page) {
                continue;
            }
            if !self.code_stays(bus, index) {
                return false;
            }
            let done = self.memory.fetch_page(bus, self.isa.mmu(), self.shell.cycles, va);
            if !self.fetched(bus, done) {
                return false;
            }
        }
        true
    }

    /// The addresses of a block's first and last byte.
    fn ends_of(&self, index: u32) -> (u32, u32) {
        let hot = &self.blocks.hot[index as usize];
        let first = hot.pc & I::ADDRESS_MASK;
        // Both addresses may have a bit for the instruction set.
        (first, first.wrapping_add(hot.end_pc.wrapping_sub(hot.pc) - 1))
    }

    /// The pages of code of a block's first and last byte.
    #[inline(always)]
    fn pages_of(&self, index: u32) -> (PageNumber, PageNumber) {
        let cold = &self.blocks.cold[index as usize];
        (I::page(&cold.entry.context), cold.last_page)
    }

    /// True if a block's code is where its addresses lead now; otherwise the caller has to check again before it runs
    /// the block.
    fn code_stays(&mut self, bus: &Bus, index: u32) -> bool {
        let (ends, pages) = (self.ends_of(index), self.pages_of(index));
        let stays = self.memory.code_stays(bus, self.isa.mmu(), ends, pages);
        if !stays && pages.0 != pages.1 {
            // The block is found by its first page alone.
            self.code_moved();
        }
        stays
    }

    /// True if the micro TLB has the pages of a block that is not fetched through a cache.
    fn has_pages(&self, index: u32) -> bool {
        let pages = self.pages_of(index);
        self.memory.has_code_page(pages.0) && self.memory.has_code_page(pages.1)
    }

    /// Fetches the one instruction of a block past the cache.
    fn fetch_one(&mut self, bus: &mut Bus, index: u32) -> bool {
        let hot = &self.blocks.hot[index as usize];
        let (pc, end_pc) = (hot.pc & I::ADDRESS_MASK, hot.end_pc & I::ADDRESS_MASK);
        if self.line_must_wait(bus, pc) {
            return false;
        }
        // No event is due, so there is no news; the instruction may need another word.
        while let Some((cycles, complete)) =
            self.memory.fetch_one_flat(bus, self.quiet_from(self.shell.cycles), pc, end_pc)
        {
            self.shell.cycles = self.shell.cycles.wrapping_add(cycles);
            if cycles > 0 {
                I::wait(&mut self.pending, cycles);
                if self.shell.cycles >= self.shell.deadline.limit {
                    self.memory.keep_fetched(pc);
                    return false;
                }
            }
            if complete {
                return true;
            }
        }
        let done = self.memory.fetch_uncached(bus, self.isa.mmu(), self.shell.cycles, pc, end_pc);
        self.fetched(bus, done)
    }

    /// Finishes a fetch before a block is entered. True if it took no time.
    fn fetched(&mut self, bus: &mut Bus, done: Done<bool, <I::Mmu as Mmu>::Status>) -> bool {
        self.shell.cycles = self.shell.cycles.wrapping_add(done.cycles);
        match done.result {
            Ok(true) => true,
            Ok(false) => {
                I::wait(&mut self.pending, done.cycles);
                self.update_limit(bus);
                false
            }
            Err(abort) => {
                I::raise(self, bus, I::fetch_abort(abort));
                false
            }
        }
    }

    /// True if all of a block's lines except perhaps the first are present: then the block does not wait for a fetch
    /// within it.
    pub(super) fn only_first_line_misses(&self, index: u32) -> bool {
        self.lines_of(index).skip(1).all(|(page, line)| self.memory.has_fetch_line(page, line))
    }

    /// The cache line after that of `addr`.
    pub(super) fn next_line(&self, addr: u32) -> u32 {
        (addr & !(self.line_bytes - 1)).wrapping_add(self.line_bytes)
    }

    /// The lines of a block that is fetched through the cache, each with its page of code.
    pub(super) fn lines_of(&self, index: u32) -> impl Iterator<Item = (PageNumber, u32)> + use<I> {
        let hot = &self.blocks.hot[index as usize];
        let (bytes, pages) = (self.line_bytes, self.pages_of(index));
        let pc = hot.pc & I::ADDRESS_MASK;
        let first = pc & !(bytes - 1);
        (0..u32::from(hot.lines)).map(move |line| {
            let line = first.wrapping_add(line * bytes);
            (if (line ^ pc) & !(PAGE_BYTES - 1) == 0 { pages.0 } else { pages.1 }, line)
        })
    }

    fn fetch_cached(&mut self, bus: &mut Bus, index: u32) -> bool {
        let first = self.lines_of(index).next().map(|(_, line)| line);
        let pc = self.ends_of(index).0;
        for (page, line) in self.lines_of(index) {
            if self.memory.has_fetch_line(page, line) {
                continue;
            }
            if !self.code_stays(bus, index) {
                return false;
            }
            self.memory.hold_fetched(first.filter(|first| *first != line));
            if self.line_must_wait(bus, line) {
                return false;
            }
            let wanted = if first == Some(line) && bus.line_buffers.by_word { pc } else { line };
            let done = self.memory.fetch_line(bus, self.isa.mmu(), self.shell.cycles, wanted);
            if !self.fetched(bus, done) {
                return false;
            }
        }
        true
    }

    /// True if the buffers have the lines of `bytes` of code from `pc` on, which no cache keeps.
    #[inline(always)]
    pub(crate) fn has_lines_of_code(&self, pc: u32, bytes: u32) -> bool {
        let mask = !(self.line_bytes - 1);
        self.memory.has_passing(pc & mask) && self.memory.has_passing(pc.wrapping_add(bytes - 1) & mask)
    }

    /// True if the buffers have the lines of a block's code.
    pub(super) fn lines_are_there(&self, index: u32) -> bool {
        let (first, last) = self.ends_of(index);
        self.has_lines_of_code(first, last.wrapping_sub(first) + 1)
    }

    /// Waits for the lines of a block, which no cache keeps; the block begins with that wait. False if the block has
    /// been left before it, so that the core can check for news, or because it was decoded for results under way that
    /// have arrived meanwhile.
    #[inline(never)]
    pub(crate) fn fetch_lines(&mut self, bus: &mut Bus, index: u32) -> bool {
        let ((pc, last), mask) = (self.ends_of(index), !(self.line_bytes - 1));
        let wanted = [pc, last & mask].into_iter().take(if (pc ^ last) & mask == 0 { 1 } else { 2 });
        let stays = wanted.into_iter().all(|wanted| self.fetch_passing(bus, index, pc & mask, wanted));
        self.charge(pc);
        self.follow_lines();
        stays
    }

    /// Waits for the line of `wanted`: the first of a block, or the one after it.
    fn fetch_passing(&mut self, bus: &mut Bus, index: u32, first: u32, wanted: u32) -> bool {
        let line = wanted & !(self.line_bytes - 1);
        if self.memory.has_passing(line) {
            return true;
        }
        if self.fetch_must_wait(bus, index, 0, self.shell.cycles, line) {
            return false;
        }
        self.memory.hold_fetched((line != first).then_some(first));
        let done = self.memory.fetch_passing_line(bus, self.isa.mmu(), self.shell.cycles, wanted);
        self.shell.cycles = self.shell.cycles.wrapping_add(done.cycles);
        match done.result {
            Ok(()) if done.cycles == 0 => true,
            Ok(()) => {
                self.update_limit(bus);
                let longest = u64::from(self.blocks.hot[index as usize].longest_cycles);
                let fits = self.shell.cycles.wrapping_add(longest) <= self.shell.deadline.limit;
                if fits && self.blocks.waits_in_place(index) && !self.has_news(bus) {
                    return true;
                }
                self.leave_in_the_middle(index, 0);
                I::wait(&mut self.pending, done.cycles);
                false
            }
            Err(abort) => {
                self.leave_in_the_middle(index, 0);
                I::raise(self, bus, I::fetch_abort(abort));
                false
            }
        }
    }

    /// True if the instruction from `pc` up to `end_pc` has been fetched past the cache: there is no wait.
    #[inline(always)]
    pub(crate) fn is_fetched(&mut self, bus: &Bus, pc: u32, end_pc: u32) -> bool {
        bus.order.is_alone() && self.memory.has_fetched(pc, end_pc)
    }

    /// As [`Cpu::is_fetched`] and [`Cpu::fetch_instruction`], for compiled code: true if the block continues.
    pub(crate) fn fetch_if_needed(&mut self, bus: &mut Bus, index: u32, at: u32, pc: u32, end_pc: u32) -> bool {
        self.is_fetched(bus, pc, end_pc) || self.fetch_instruction(bus, index, at, pc, end_pc)
    }

    /// Fetches the instruction of operation `at`, from `pc` up to `end_pc`, past the cache. False if the block has been
    /// left before it, so that the core can check for news.
    #[inline(never)]
    pub(crate) fn fetch_instruction(&mut self, bus: &mut Bus, index: u32, at: u32, pc: u32, end_pc: u32) -> bool {
        let fetched = self.fetch_past_cache(bus, index, at, pc, end_pc);
        self.charge(pc);
        self.follow_lines();
        fetched
    }

    #[inline(always)]
    fn fetch_past_cache(&mut self, bus: &mut Bus, index: u32, at: u32, pc: u32, end_pc: u32) -> bool {
        let longest = u64::from(self.blocks.hot[index as usize].longest_cycles);
        let info = self.blocks.info(index, at);
        loop {
            let begins = self.shell.cycles.wrapping_add(u64::from(info.begins_cycles) - 1);
            if self.fetch_must_wait(bus, index, at, begins, pc) {
                return false;
            }
            if let Some((cycles, complete)) = self.memory.fetch_one_flat(bus, self.quiet_from(begins), pc, end_pc) {
                self.shell.cycles = self.shell.cycles.wrapping_add(cycles);
                // No event was due, so there is no news.
                if cycles > 0 && self.shell.cycles.wrapping_add(longest) > self.shell.deadline.limit {
                    self.memory.keep_fetched(pc);
                    self.leave_in_the_middle(index, info.instr);
                    return false;
                }
                if complete {
                    return true;
                }
                continue;
            }
            if !self.code_stays(bus, index) {
                self.leave_in_the_middle(index, info.instr);
                return false;
            }
            let epoch = self.memory.fetch_epoch();
            let done = self.memory.fetch_uncached(bus, self.isa.mmu(), begins, pc, end_pc);
            self.shell.cycles = self.shell.cycles.wrapping_add(done.cycles);
            match done.result {
                // Pages have left the micro TLB: blocks that ran in compiled code are checked again.
                Ok(_) if self.memory.fetch_epoch() != epoch => {
                    self.update_limit(bus);
                    self.memory.keep_fetched(pc);
                    self.leave_in_the_middle(index, info.instr);
                    return false;
                }
                Ok(true) => return true,
                Ok(false) => {
                    self.update_limit(bus);
                    if self.shell.cycles.wrapping_add(longest) > self.shell.deadline.limit || self.has_news(bus) {
                        self.leave_in_the_middle(index, info.instr);
                        return false;
                    }
                    if self.memory.use_fetched() {
                        return true;
                    }
                }
                Err(abort) => {
                    self.leave_in_the_middle(index, info.instr);
                    I::raise(self, bus, I::fetch_abort(abort));
                    return false;
                }
            }
        }
    }

    /// True if a block's lines are present; from then on it can be entered without a check, unless the profile watches
    /// its fetches or it is dead.
    #[cold]
    #[inline(never)]
    fn look_for_lines(&mut self, index: u32) -> bool {
        let here = match self.blocks.cold[index as usize].fetch {
            _ if self.blocks.cold[index as usize].is_dead => false,
            _ if self.shell.stops_at(self.blocks.hot[index as usize].pc & I::ADDRESS_MASK) => false,
            _ if !I::is_current(self, index) => false,
            Via::Passing => true,
            Via::Local => self.has_pages(index),
            Via::Uncached => I::FETCHES_IN_BLOCKS && self.has_pages(index),
            Via::Cached => self.lines_of(index).all(|(page, line)| self.memory.has_fetch_line(page, line)),
        };
        let (page, last_page) = self.pages_of(index);
        // A mark stands for one page only.
        if here && page == last_page {
            self.lines_of(index).for_each(|(_, line)| self.memory.note_block(line, index));
            self.blocks.hot[index as usize].fetched = self.memory.mark_of(page);
        }
        here
    }

    /// Stamps the lines of a block that has run to its end, before its instructions are counted: where the order in
    /// which lines are used matters, the uses of its lines are stamped, and recorded later. An instruction uses its
    /// line when it runs, so a block that is left early does not use all of its lines.
    #[inline(always)]
    pub(super) fn use_lines(&mut self, index: u32) {
        if self.memory.stamps_fetches() {
            let (_, last) = self.ends_of(index);
            self.stamp_lines_to(index, last, line_order::stamp(self.shell.instructions));
        }
    }

    /// As [`Cpu::use_lines`], for a block that is left before its instruction at `pc`.
    #[inline(always)]
    pub(crate) fn use_lines_before(&mut self, index: u32, pc: u32) {
        let pc = pc & I::ADDRESS_MASK;
        if self.memory.stamps_fetches() && pc != self.blocks.hot[index as usize].pc & I::ADDRESS_MASK {
            self.stamp_lines_to(index, pc.wrapping_sub(1), line_order::stamp(self.shell.instructions));
        }
    }

    /// As [`Cpu::use_lines`], for the instruction at `pc` before which a block has been left: it has been fetched, but
    /// runs outside of the block.
    #[inline(always)]
    pub(crate) fn use_line_of_last(&mut self, pc: u32) {
        let line = pc & I::ADDRESS_MASK & !(self.line_bytes - 1);
        let page = I::page(&self.isa.context());
        if self.memory.stamps_fetches() && self.memory.has_fetch_line(page, line) {
            self.memory.stamp_fetch(line, line_order::stamp_after(self.shell.instructions));
        }
    }

    #[inline(never)]
    fn stamp_lines_to(&mut self, index: u32, last: u32, stamp: u64) {
        for (page, line) in self.lines_of(index).take_while(|(_, line)| *line <= last) {
            if self.memory.has_fetch_line(page, line) {
                self.memory.stamp_fetch(line, stamp);
            }
        }
    }

    /// True if a block fits before the limit, all of its lines are in the instruction cache, and nothing watches its
    /// fetches.
    #[inline(always)]
    pub(crate) fn may_enter(&mut self, index: u32) -> bool {
        let hot = &self.blocks.hot[index as usize];
        self.shell.cycles + u64::from(hot.longest_cycles) <= self.shell.deadline.limit && self.has_lines(index)
    }

    /// True if all lines of a block are in the instruction cache, and nothing watches its fetches.
    #[inline(always)]
    pub(super) fn has_lines(&mut self, index: u32) -> bool {
        self.memory.is_valid(self.blocks.hot[index as usize].fetched) || self.look_for_lines(index)
    }

    /// Core cycle `now`, and the cycle up to which no event is due.
    pub(crate) fn quiet_from(&self, now: u64) -> Quiet {
        Quiet { now, until: self.shell.deadline.limit }
    }
}
