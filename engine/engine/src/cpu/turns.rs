//! Instructions that wait for other cores: an access that other cores can see is made when no other core's time is
//! earlier ([`crate::order`]).
//!
//! The block is left before such an instruction, which has changed nothing, and the instruction is started again when
//! the other cores have reached its time. The wait takes no time of the core's.

use super::Cpu;
use super::isa::Isa;
use super::memory_system::Via;
use super::memory_system::access::Kind;
use crate::bus::Bus;
use crate::core::Stop;
use crate::memory::snoop::Message;
use crate::time::{Cycles, Ps};

impl<I: Isa> Cpu<I> {
    /// True if operation `at`, which is about to access `bytes` from `addr` up, has to wait for other cores: then the
    /// block has been left.
    #[inline(always)]
    pub(crate) fn must_wait(&mut self, bus: &mut Bus, index: u32, at: u32, addr: u32, bytes: u32, kind: Kind) -> bool {
        !bus.order.is_alone() && self.waits_to_access(bus, index, at, addr, bytes, kind)
    }

    #[cold]
    #[inline(never)]
    fn waits_to_access(&mut self, bus: &mut Bus, index: u32, at: u32, addr: u32, bytes: u32, kind: Kind) -> bool {
        let begins = self.begins(index, at);
        if bus.order.is_in_order(begins) || self.is_under_way(index, at) {
            return false;
        }
        let ends = [addr, addr.wrapping_add(bytes.saturating_sub(1))];
        if !ends.into_iter().any(|va| self.is_ordered(bus, va, kind)) {
            return false;
        }
        self.wait_before(bus, index, at, begins);
        true
    }

    /// As [`Cpu::must_wait`], for an instruction that is about to be fetched past the cache.
    #[inline(always)]
    pub(super) fn fetch_must_wait(&mut self, bus: &mut Bus, index: u32, at: u32, begins: u64, va: u32) -> bool {
        if bus.order.is_alone() {
            return false;
        }
        let begins = self.shell.clock.ps_at_floor(Cycles(begins));
        let waits = !bus.order.is_in_order(begins) && self.is_ordered(bus, va, Kind::Execute);
        if waits {
            let instr = self.blocks.info(index, at).instr;
            self.leave_in_the_middle(index, instr);
            self.wait_until(bus, begins);
        }
        waits
    }

    /// As [`Cpu::must_wait`], for a line of instructions that the core needs to continue at its address.
    pub(crate) fn line_must_wait(&mut self, bus: &mut Bus, va: u32) -> bool {
        if bus.order.is_alone() || bus.order.is_in_order(self.shell.now()) || !self.is_ordered(bus, va, Kind::Execute) {
            return false;
        }
        self.wait_until(bus, self.shell.now());
        true
    }

    /// True if other cores can see an access; in a cluster, also if it needs anything from outside of the core, so that
    /// ports, second level and the other caches see one order.
    fn is_ordered(&self, bus: &Bus, va: u32, kind: Kind) -> bool {
        self.physical(bus, va, kind).is_ok_and(|physical| bus.is_ordered(physical))
            || bus.snoop.as_ref().is_some_and(|snoop| snoop.has(self.shell.index as usize))
                && !self.memory.stays_inside(bus, self.isa.mmu(), va, kind)
    }

    /// As [`Cpu::must_wait`], for a system instruction at the current address, before which the block has been left.
    pub(crate) fn instruction_must_wait(&mut self, bus: &mut Bus) -> bool {
        let waits = !bus.order.is_alone() && bus.snoop.is_some() && !bus.order.is_in_order(self.shell.now());
        if waits {
            self.wait_until(bus, self.shell.now());
        }
        waits
    }

    /// Follows what other cores of the cluster have done while this one did not run.
    #[inline]
    pub(super) fn follow_cluster(&mut self, bus: &mut Bus) {
        let core = self.shell.index as usize;
        if bus.snoop.as_ref().is_some_and(|snoop| snoop.has_messages(core)) {
            self.follow_messages(bus, core);
        }
    }

    #[cold]
    fn follow_messages(&mut self, bus: &mut Bus, core: usize) {
        let messages = bus.snoop.as_mut().map_or_else(Vec::new, |snoop| snoop.take_messages(core));
        for message in messages {
            self.memory.follow_message(bus, message);
            if matches!(message, Message::Instructions | Message::Branches) {
                I::forget_branches(self);
            }
        }
        self.follow_lines();
    }

    /// True if the instruction of operation `at` has accessed memory already: it is not started again.
    fn is_under_way(&self, index: u32, at: u32) -> bool {
        let first = self.blocks.hot[index as usize].first_op as usize;
        let (ops, infos) = (&self.blocks.ops[first..], &self.blocks.infos[first..]);
        let instr = infos[at as usize].instr;
        let before = (0..at as usize).rev().take_while(|n| infos[*n].instr == instr);
        before.into_iter().any(|n| I::accesses(&ops[n]))
    }

    /// The first operation of the instruction that operation `at` belongs to.
    fn begin_of_instr(&self, index: u32, at: u32) -> u32 {
        let infos = self.blocks.infos_of(index);
        let before = infos[..at as usize].iter().rev().take_while(|info| info.instr == infos[at as usize].instr);
        at - before.count() as u32
    }

    fn wait_before(&mut self, bus: &mut Bus, index: u32, at: u32, begins: Ps) {
        self.unpatch();
        let fetched = self.blocks.cold[index as usize].fetch == Via::Uncached;
        self.pause(index, self.begin_of_instr(index, at));
        if fetched {
            self.memory.keep_fetched(self.pc);
        }
        self.wait_until(bus, begins);
    }

    /// Stops the core here: it continues with an access at `at`.
    fn wait_until(&mut self, bus: &mut Bus, at: Ps) {
        bus.order.want(at);
        self.shell.stop = Some(Stop::Horizon);
    }
}
