//! Frames of exceptions, and of floating-point state: stores and loads, with the time that memory takes beyond the
//! core's own.

use super::super::architecture::SystemSide as _;
use super::super::instruction_set::Arm;
use super::super::m_profile::exceptions::During;
use super::super::m_profile::{Abort, Exception, FaultStatus, Floating, Frame, System, Unstack};
use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::cpu::handlers::HANDLER_FAILS;
use crate::cpu::memory_system::Done;
use crate::cpu::memory_system::access::{Kind, how};
use crate::faults::CoreFault;

/// Words of an integer frame.
const WORDS: usize = 8;
/// Words of floating-point state: S0 to S15, FPSCR.
const FLOATING_WORDS: usize = 17;

/// Result of a frame's stores, with the memory's time.
type Stored = Done<(), FaultStatus>;

impl Arm<System> {
    /// Stores a frame. Adds the memory's time to the core's; returns the further time of floating-point state.
    pub(super) fn store_frame(&mut self, bus: &mut Bus, frame: &Frame) -> u64 {
        self.store_words(bus, frame.address, &frame.words);
        if frame.floating != Floating::Stored {
            return 0;
        }
        let state = self.floating_state();
        self.store_words(bus, frame.floating_address(), &state);
        u64::from(self.stages().floating_frame)
    }

    fn store_words(&mut self, bus: &mut Bus, address: u32, words: &[u32]) {
        self.access_kind = "store of an exception's frame";
        let done = self.write_words(bus, self.shell.cycles, address, words, 0);
        self.shell.cycles += done.cycles;
        if let Err(abort) = done.result {
            self.frame_failed(bus, abort, During::Stacking);
        }
    }

    /// Loads a frame, and floating-point state into its registers if the frame has any. Adds the memory's time, and the
    /// further time of floating-point state, to the core's.
    pub(super) fn load_frame(&mut self, bus: &mut Bus, frame: &Unstack) -> [u32; WORDS] {
        let mut words = [0; WORDS];
        self.load_words(bus, frame.address, &mut words);
        if frame.floating {
            let mut state = [0; FLOATING_WORDS];
            self.load_words(bus, frame.floating_address(), &mut state);
            self.isa.s[..FLOATING_WORDS - 1].copy_from_slice(&state[..FLOATING_WORDS - 1]);
            self.isa.system.set_fpscr(state[FLOATING_WORDS - 1]);
            self.account(u64::from(self.stages().floating_frame));
        }
        words
    }

    fn load_words(&mut self, bus: &mut Bus, address: u32, words: &mut [u32]) {
        self.access_kind = "load of an exception's frame";
        let count = words.len() as u32;
        let reported = self.memory.multiple(bus, &self.isa.system, self.shell.cycles, address, count, how::ALIGNED);
        self.shell.cycles += reported.cycles;
        for (word, at) in words.iter_mut().zip((0..).step_by(4)) {
            let addr = address.wrapping_add(at);
            // The wait for a switch of the bus matrix is included in an exception's own time.
            _ = self.memory.switch_matrix_to(bus, addr, Kind::Write);
            if let Some(value) = self.load_by_shortcut(addr) {
                *word = value;
                continue;
            }
            let how = how::ALIGNED | how::REPORTED;
            let done = self.memory.load(bus, &self.isa.system, self.shell.cycles, addr, AccessSize::Word, how);
            self.shell.cycles += done.cycles;
            match done.result {
                Ok(value) => *word = value,
                Err(abort) => return self.frame_failed(bus, abort, During::Unstacking),
            }
        }
    }

    /// Prepares for a floating-point instruction: if the registers still hold the state of the code that an exception
    /// interrupted, that state is stored first (lazy preservation). Returns the time of that.
    pub(super) fn prepare_floating(&mut self, bus: &mut Bus, begins: u64) -> Result<u64, Option<Exception>> {
        if !self.isa.system.floating_is_allowed() {
            return Err(None);
        }
        let mut cycles = 0;
        if let Some(address) = self.isa.system.lazy_address() {
            let state = self.floating_state();
            self.access_kind = "store of floating-point state";
            let how = if self.isa.system.lazy_is_privileged() { 0 } else { how::UNPRIVILEGED };
            let done = self.write_words(bus, begins, address, &state, how);
            if let Err(abort) = done.result
                && self.isa.system.stacking_failed(abort, During::LazyStacking).is_err()
            {
                self.shell.cycles += done.cycles;
                return Err(Some(Exception::DataAbort(abort)));
            }
            cycles += done.cycles;
            let own = u64::from(self.stages().floating_frame);
            self.shell.spent.exceptions += own;
            cycles += own;
            self.isa.system.floating_is_saved();
        }
        self.isa.system.begin_floating();
        Ok(cycles)
    }

    /// Stores words from `address` up, until one fails.
    fn write_words(&mut self, bus: &mut Bus, begins: u64, address: u32, words: &[u32], how: u8) -> Stored {
        let how = how | how::ALIGNED | how::STORE;
        let mut cycles = self.memory.multiple(bus, &self.isa.system, begins, address, words.len() as u32, how).cycles;
        for (word, offset) in words.iter().zip((0..).step_by(4)) {
            let (addr, size) = (address.wrapping_add(offset), AccessSize::Word);
            _ = self.memory.switch_matrix_to(bus, addr, Kind::Write);
            if how & how::UNPRIVILEGED == 0 && self.store_by_shortcut(addr, *word) {
                continue;
            }
            let done =
                self.memory.store(bus, &self.isa.system, begins + cycles, addr, size, *word, how | how::REPORTED);
            cycles += done.cycles;
            if done.result.is_err() {
                return Stored { cycles, ..done };
            }
        }
        Stored { cycles, result: Ok(()) }
    }

    fn floating_state(&self) -> [u32; FLOATING_WORDS] {
        let mut state = [0; FLOATING_WORDS];
        state[..FLOATING_WORDS - 1].copy_from_slice(&self.isa.s[..FLOATING_WORDS - 1]);
        state[FLOATING_WORDS - 1] = self.isa.system.fpscr();
        state
    }

    fn frame_failed(&mut self, bus: &mut Bus, abort: Abort, during: During) {
        let fault = self.fault_of(Exception::DataAbort(abort));
        if self.isa.system.stacking_failed(abort, during).is_err() {
            self.lock_up(fault);
        } else if during == During::Unstacking && self.is_endless() {
            self.end(CoreFault { why_fatal: HANDLER_FAILS, ..fault });
        } else {
            bus.note_trap(fault);
        }
    }
}
