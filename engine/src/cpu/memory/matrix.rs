//! The bus matrix that a core's system bus leads to: a turn to another slave costs time.
//!
//! Arm's multi-layer matrix decodes an address, and the slave's own arbiter then has to grant the master its port. It
//! keeps that grant for as long as the master stays: so the first access after one of another slave comes later. Code
//! and constants below [`SYSTEM_BUS`] have buses of their own, which reach other ports of the matrix at the same time.

use super::Memory;
use super::access::Kind;
use super::accounts::Part;
use crate::bus::{Bus, Target};

/// First address of the system bus: Cortex-M4 TRM (Arm DDI 0439D), 2.3.1, Bus interfaces.
pub const SYSTEM_BUS: u32 = 0x2000_0000;

impl Memory {
    /// True if turns to another slave take time.
    #[inline(always)]
    pub fn is_on_matrix(&self) -> bool {
        self.config.slave_switch_cycles > 0
    }

    /// True if `addr` is that of a slave of the matrix.
    pub(super) fn is_of_slave(&self, addr: u32) -> bool {
        self.is_on_matrix() && addr >= SYSTEM_BUS
    }

    /// The core is reset: no slave was accessed before.
    pub fn forget_slave(&mut self) {
        self.state.slave = 0;
    }

    /// The core is about to access `addr`, an address that is not translated: true if the matrix turns to another slave
    /// for that, and how many cycles the core waits. A store waits in the write buffer instead.
    #[inline]
    pub fn turn_to(&mut self, bus: &Bus, addr: u32, kind: Kind) -> (bool, u64) {
        if !self.is_of_slave(addr) {
            return (false, 0);
        }
        let Some(entry) = bus.entry_at(addr) else { return (false, 0) };
        let slave = bus.path(entry).slave;
        let before = self.state.slave;
        if slave == 0 || slave == before {
            return (false, 0);
        }
        self.state.slave = slave;
        // Nothing of a device has shortcuts here, so all of them may be looked for among those of no slave.
        self.shortcuts.choose(if matches!(bus.map[entry].target, Target::Ram(_)) { slave } else { 0 });
        // The first access of all finds the port that it needs.
        let cycles = if before == 0 || kind == Kind::Write { 0 } else { self.config.slave_switch_cycles };
        self.accounts.add(Part::Matrix, cycles);
        (true, cycles)
    }
}
