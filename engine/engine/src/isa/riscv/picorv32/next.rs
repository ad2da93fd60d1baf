//! The fetch of the next instruction, and the charges for its time.

use super::Picorv32;
use super::data::NEVER;
use crate::bus::{Bus, BusFault};
use crate::cpu::memory_system::Purpose;
use crate::cpu::memory_system::fetch::prefetch_next::Fetched;
use crate::cpu::memory_system::port::Answer;

/// The next fetch: its address, the cycle from which on the core wants it (I), and the one from which on it can accept
/// it (N).
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub addr: u32,
    pub wanted: u64,
    pub accepts: u64,
}

/// True for a halfword that is an instruction by itself (unprivileged specification, section 1.5).
#[inline(always)]
fn is_compressed(half: u16) -> bool {
    half & 3 != 3
}

impl Picorv32 {
    /// Fetches the next instruction, which is launched in the cycle after its fetch.
    #[inline(always)]
    pub(super) fn proceed(&mut self, bus: &mut Bus, next: Next) {
        match self.fetch(bus, next) {
            Ok(fetched) => {
                self.charge(&fetched, next.accepts, Purpose::Fetch);
                self.pc = next.addr;
                self.encoding = Some(fetched.encoding);
                self.shell.cycles = fetched.done_cycles + 1;
            }
            Err(fault) => self.unanswered_fetch(fault, next.accepts),
        }
    }

    /// The fetch after a jump: its target, wanted and accepted from `wanted` on.
    #[inline(always)]
    pub(super) fn jump(&mut self, target: u32, launched: u64, wanted: u64) -> Next {
        self.shell.fixed.jump += wanted - launched + 1;
        self.unit.forget();
        Next { addr: target, wanted, accepts: wanted }
    }

    /// A taken branch: the fetch of `fall_through` is completed, then the target is fetched.
    #[inline(never)]
    pub(super) fn branch(&mut self, bus: &mut Bus, fall_through: Next, target: u32) {
        let accepts = fall_through.accepts;
        let Some(prefetched) = self.discard(bus, fall_through) else { return };
        let mut next = self.jump(target, prefetched.done_cycles + 1, prefetched.done_cycles + 1);
        if let Some(half) = prefetched.late_upper_half(accepts).filter(|_| target & 2 != 0) {
            self.was_compressed = true;
            if !is_compressed(half) {
                // The fetch unit takes the late answer for the first half of the target: its read of the target is
                // wasted, and repeated.
                let Some(dropped) = self.discard(bus, next) else { return };
                next = self.jump(target, dropped.done_cycles + 1, dropped.done_cycles + 1);
            }
        }
        self.proceed(bus, next);
    }

    /// Fetches an instruction that is decoded, but not launched. `None` without an answer.
    #[inline(always)]
    fn discard(&mut self, bus: &mut Bus, next: Next) -> Option<Fetched> {
        match self.fetch(bus, next) {
            Ok(fetched) => {
                self.charge(&fetched, next.accepts, Purpose::Discarded);
                self.was_compressed = is_compressed(fetched.encoding as u16);
                Some(fetched)
            }
            Err(fault) => {
                self.unanswered_fetch(fault, next.accepts);
                None
            }
        }
    }

    #[inline(always)]
    fn fetch(&mut self, bus: &mut Bus, next: Next) -> Result<Fetched, BusFault> {
        let mut unit = self.unit;
        let fetched = unit.fetch(next.addr, next.wanted, next.accepts, is_compressed, |addr, begins| {
            if let Some(answer) = self.port.read_on_port(addr, begins) {
                return Ok(answer);
            }
            let (done_cycles, entry_and_value) = self.read_alone(bus, addr, begins);
            if done_cycles == NEVER {
                let answer = self.read_over_bus(bus, addr, begins);
                if bus.access_sites.are_wanted() {
                    bus.access_sites.record(bus.master.unwrap_or(0), next.addr);
                }
                return answer;
            }
            let (value, entry) = (entry_and_value as u32, (entry_and_value >> u32::BITS) as usize);
            Ok(Answer { value, done_cycles, entry, interconnect_cycles: 0 })
        });
        self.unit = unit;
        fetched
    }

    // ---- Accounts

    /// Charges the wait for a fetch beyond the cycle in which the core could accept it.
    #[inline(always)]
    fn charge(&mut self, fetched: &Fetched, accepts: u64, purpose: Purpose) {
        let waited = fetched.done_cycles - accepts;
        match fetched.entry {
            _ if waited == 0 => {}
            Some(entry) => {
                self.charge_entry(entry, (waited, fetched.done_cycles), fetched.interconnect_cycles, purpose);
            }
            None => self.shell.fixed.issue += waited,
        }
    }

    /// Charges cycles up to the one in which an access is answered.
    #[inline(always)]
    pub(super) fn charge_entry(
        &mut self,
        entry: usize,
        (waited, done): (u64, u64),
        interconnect: u64,
        purpose: Purpose,
    ) {
        let interconnect = interconnect.min(waited);
        self.accounts.add_at(entry, purpose, waited - interconnect, interconnect);
        self.accounts.note_at(entry, purpose, waited - interconnect, done);
    }
}
