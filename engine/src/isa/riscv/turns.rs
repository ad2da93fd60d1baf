//! Instructions that wait for their turn: an access that other cores can see is made when none of them is behind ([`crate::order`]).
//!
//! The block is left before such an instruction, which has changed nothing, and the instruction is done anew when the others have come as far. It
//! takes no time of the core's.

use super::core::Hart;
use crate::bus::Bus;
use crate::core::Stop;
use crate::memory::first_level::Way;
use crate::time::Ps;

impl Hart {
    /// True if operation `at`, which is about to access `addr`, has to wait for other cores: the block has been left then.
    #[inline(always)]
    pub(super) fn must_wait(&mut self, bus: &mut Bus, index: u32, at: u32, addr: u32) -> bool {
        !bus.order.is_alone() && self.waits_to_access(bus, index, at, addr)
    }

    #[cold]
    #[inline(never)]
    fn waits_to_access(&mut self, bus: &mut Bus, index: u32, at: u32, addr: u32) -> bool {
        let begins = self.begins(index, at);
        let waits = !bus.order.is_turn(begins) && bus.is_ordered(addr);
        if waits {
            self.wait_before(bus, index, at, begins);
        }
        waits
    }

    /// The same for instructions, which the core needs to go on from where it is.
    pub(super) fn line_must_wait(&mut self, bus: &mut Bus, addr: u32) -> bool {
        if bus.order.is_alone() || bus.order.is_turn(self.now()) || !bus.is_ordered(addr) {
            return false;
        }
        self.wait_until(bus, self.now());
        true
    }

    fn wait_before(&mut self, bus: &mut Bus, index: u32, at: u32, begins: Ps) {
        let fetched = self.blocks.cold[index as usize].fetch == Way::Uncached;
        self.leave_in_the_middle(index, at);
        if fetched {
            self.memory.keep_fetched(self.pc);
        }
        self.wait_until(bus, begins);
    }

    /// The core stops here: it wants to go on with an access at `at`.
    fn wait_until(&mut self, bus: &mut Bus, at: Ps) {
        bus.order.want(at);
        self.stop = Some(Stop::Horizon);
    }
}
