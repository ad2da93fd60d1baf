//! A core as a debugger sees it.

use std::collections::BTreeSet;

use super::Cpu;
use super::isa::Isa;
use super::memory_system::Mmu as _;
use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::core::Stop;
use crate::core::debug::{Architecture, Debugged, Position, Register};
use crate::semihosting::program_memory::View as _;
use crate::time::Ps;

impl<I: Isa> Debugged for Cpu<I> {
    fn architecture(&self) -> Architecture {
        I::ARCHITECTURE
    }

    fn debug_registers(&self, bus: &Bus) -> Vec<Register> {
        I::debug_registers(self, bus)
    }

    fn set_debug_register(&mut self, bus: &mut Bus, number: usize, value: u64) -> bool {
        // The code may be different now, and a block is not resumed in its middle.
        (self.left, self.paused) = (None, None);
        self.polls = self.polls.afresh();
        let is_set = I::set_debug_register(self, bus, number, value);
        self.memory.privilege_changed(self.isa.mmu().is_privileged());
        self.update_limit(bus);
        is_set
    }

    fn position(&self) -> Position {
        Position {
            pc: self.pc,
            sp: self.x[I::SP],
            instructions: self.shell.instructions,
            interrupts: self.shell.breaks.interrupts,
            is_between: I::is_between(self) || I::is_in_slot(self),
        }
    }

    fn physical(&self, bus: &Bus, addr: u32) -> Option<(u32, u32)> {
        self.isa.mmu().physical(bus, addr, false)
    }

    fn peek_own(&self, addr: u32, into: &mut [u8]) -> bool {
        let size = AccessSize::of_bytes(into.len() as u32);
        let Some(value) = size.and_then(|size| I::peek_own(self, addr, size)) else { return false };
        let bytes = value.to_le_bytes();
        into.copy_from_slice(&bytes[..into.len()]);
        true
    }

    fn set_breaks(&mut self, addresses: BTreeSet<u32>) {
        self.shell.breaks.set(addresses);
        self.drop_blocks();
    }

    fn take_break(&mut self) -> bool {
        self.shell.breaks.take_hit()
    }

    fn ask_for_calls(&mut self, functions: &BTreeSet<u32>) {
        if self.shell.asks_for_calls(functions, I::ADDRESS_MASK) {
            self.drop_blocks();
        }
    }

    fn is_in_call(&self, function: u32) -> bool {
        self.shell.is_in_call(function)
    }

    fn has_changed_calls(&self) -> bool {
        self.shell.breaks.have_calls_changed()
    }

    fn step_until(&mut self, bus: &mut Bus, until: Ps) -> Stop {
        self.begin(bus, until);
        self.run_loop(bus, true)
    }
}
