//! The core in a debugger's view.

use std::collections::BTreeSet;

use super::super::debug::general;
use super::{Picorv32, SP};
use crate::bus::Bus;
use crate::core::debug::{Architecture, Debugged, Group, Position, Register};
use crate::core::{Core as _, Stop};
use crate::time::Ps;

/// x0 to x31 and pc.
const GENERAL: usize = 33;

impl Debugged for Picorv32 {
    fn architecture(&self) -> Architecture {
        Architecture::RiscV32
    }

    fn debug_registers(&self, _bus: &Bus) -> Vec<Register> {
        let mask = Register::word("irq_mask", Group::System, self.interrupts.mask());
        general(&self.x[..32], self.pc).into_iter().chain([mask]).collect()
    }

    fn set_debug_register(&mut self, _bus: &mut Bus, number: usize, value: u64) -> bool {
        match number {
            1..32 => self.x[number] = value as u32,
            32 if value as u32 == self.pc => {}
            32 => self.set_pc(value as u32),
            GENERAL => {
                self.interrupts.set_mask(value as u32);
            }
            _ => return false,
        }
        true
    }

    fn position(&self) -> Position {
        Position {
            pc: self.pc,
            sp: self.x[SP],
            instructions: self.shell.instructions,
            interrupts: self.shell.breaks.interrupts,
            is_between: false,
        }
    }

    fn physical(&self, bus: &Bus, addr: u32) -> Option<(u32, u32)> {
        let entry = &bus.map[bus.entry_at(addr)?];
        Some((addr, (entry.last - addr).saturating_add(1)))
    }

    fn peek_own(&self, _addr: u32, _into: &mut [u8]) -> bool {
        false
    }

    fn set_breaks(&mut self, addresses: BTreeSet<u32>) {
        self.shell.breaks.set(addresses);
    }

    fn take_break(&mut self) -> bool {
        self.shell.breaks.take_hit()
    }

    fn ask_for_calls(&mut self, functions: &BTreeSet<u32>) {
        self.shell.asks_for_calls(functions, u32::MAX);
        self.look_ahead();
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
