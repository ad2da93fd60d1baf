//! The bus matrix on a core's system bus: a switch to another slave takes time, and so does one back from another
//! master.
//!
//! Arm's multi-layer matrix decodes an address, and the slave's own arbiter then has to grant its port to the master.
//! The grant lasts until the master accesses another slave: so the first access after one to another slave is later.
//! Code and constants below [`SYSTEM_BUS`] have buses of their own, which access other ports of the matrix at the same
//! time.
//!
//! Some slaves also have to grant their port again to a master whose bus was idle ([`Grant`]). The core's timing
//! determines which accesses begin on an idle bus, when their instructions are decoded.

use super::Memory;
use super::access::Kind;
use super::accounts::Part;
use crate::bus::{Bus, Target};
use crate::state::{Fresh, State};

/// First address of the system bus: Cortex-M4 TRM (Arm DDI 0439D), 2.3.1, Bus interfaces.
pub const SYSTEM_BUS: u32 = 0x2000_0000;

/// Number of slaves that may have a [`Grant`], from 1: the numbers of memories come first. The last one never has one.
pub const GRANTS: usize = 16;

/// A memory on the system bus whose port the matrix grants again on an idle bus.
#[derive(Clone, Copy, Debug, Default, State, Fresh)]
#[repr(C)]
pub struct Grant {
    /// Its first address.
    pub base: u32,
    /// Its size; 0 for a slave without waits.
    pub bytes: u32,
    /// Cycles of the wait.
    pub cycles: u64,
}

/// Stands for a slave's number: the port of the last accessed slave has served another master since.
const ANOTHERS: u8 = u8::MAX;

/// Grants by the slave's number.
pub type Grants = [Grant; GRANTS];

impl Memory {
    /// Reads which slaves grant their port again on an idle bus. True if there are any.
    pub fn learn_grants(&mut self, bus: &Bus) -> bool {
        self.grants = Grants::default();
        for (index, entry) in bus.map.iter().enumerate() {
            let Target::Ram(ram) = entry.target else { continue };
            if !self.is_of_slave(entry.base) || entry.is_empty() {
                continue;
            }
            let (slave, cycles) = (bus.path(index).slave, bus.rams[ram].timing().idle_grant_cycles);
            if (1..GRANTS - 1).contains(&usize::from(slave)) && cycles > 0 {
                let bytes = entry.last - entry.base + 1;
                self.grants[usize::from(slave)] = Grant { base: entry.base, bytes, cycles: u64::from(cycles) };
            }
        }
        self.set_slave(self.state.slave);
        self.grants.iter().any(|grant| grant.bytes > 0)
    }

    /// The longest wait for such a grant.
    pub fn longest_grant_cycles(&self) -> u64 {
        self.grants.iter().map(|grant| grant.cycles).max().unwrap_or(0)
    }

    /// Wait of an access at `addr` on an idle bus, if it is to the slave that was accessed last.
    #[inline]
    pub fn grant_cycles(&mut self, addr: u32) -> u64 {
        let cycles = self.cycles_to_grant(addr);
        self.accounts.add(Part::Matrix, cycles);
        cycles
    }

    fn cycles_to_grant(&self, addr: u32) -> u64 {
        let grant = self.grant;
        if addr.wrapping_sub(grant.base) < grant.bytes { grant.cycles } else { 0 }
    }

    /// As [`Memory::grant_cycles`], for a store: the core does not wait for it, but an access right after it does
    /// ([`Self::asked_cycles`]). That access may be in another block, or come after an interrupt, or never: so the wait
    /// is state of the machine.
    #[inline]
    pub fn ask_for_grant(&mut self, addr: u32) {
        self.state.asked_cycles = self.cycles_to_grant(addr);
    }

    /// Clears the wait of a store that may not run.
    #[inline]
    pub fn ask_for_none(&mut self) {
        self.state.asked_cycles = 0;
    }

    /// Wait of an access right after such a store.
    #[inline]
    pub fn asked_cycles(&mut self) -> u64 {
        self.accounts.add(Part::Matrix, self.state.asked_cycles);
        self.state.asked_cycles
    }

    /// True if switches to another slave take time.
    #[inline(always)]
    pub fn is_on_matrix(&self) -> bool {
        self.config.slave_switch_cycles > 0
    }

    /// True if `addr` is in a slave of the matrix.
    pub(super) fn is_of_slave(&self, addr: u32) -> bool {
        self.is_on_matrix() && addr >= SYSTEM_BUS
    }

    /// Wait for a switch. A store waits for it in the write buffer.
    pub fn switch_cycles(&self, kind: Kind) -> u64 {
        if kind == Kind::Write { 0 } else { self.config.slave_switch_cycles }
    }

    /// Sets the slave that was accessed last.
    fn set_slave(&mut self, slave: u8) {
        self.state.slave = slave;
        self.grant = self.grants[usize::from(slave).min(GRANTS - 1)];
    }

    /// Resets the core: no slave was accessed before.
    pub fn forget_slave(&mut self) {
        self.set_slave(0);
    }

    /// Devices may have accessed memories: if one accessed the slave that the core accessed last, its port belongs to
    /// another master, and the matrix has to switch it back.
    #[inline]
    pub fn follow_transfers(&mut self, bus: &Bus) {
        if self.is_on_matrix() && bus.transfers_by_devices != self.transfers_by_devices {
            // Memories have the lowest numbers.
            let ram = usize::from(self.state.slave).checked_sub(1).and_then(|ram| bus.rams.get(ram));
            if ram.is_some_and(|ram| ram.taken() > self.transfers_by_devices) {
                self.set_slave(ANOTHERS);
                self.shortcuts.choose(0);
            }
            self.transfers_by_devices = bus.transfers_by_devices;
        }
    }

    /// Prepares an access to `addr`, an address that is not translated: true if the matrix switches to another slave,
    /// and the cycles that the core waits.
    #[inline]
    pub fn switch_matrix_to(&mut self, bus: &Bus, addr: u32, kind: Kind) -> (bool, u64) {
        if !self.is_of_slave(addr) {
            return (false, 0);
        }
        // An address with a shortcut need not be looked up in the map.
        let known = self.shortcuts.slave_at(addr).map(|slave| (slave, true));
        let in_map = || {
            let entry = bus.entry_at(addr)?;
            Some((bus.path(entry).slave, matches!(bus.map[entry].target, Target::Ram(_))))
        };
        let Some((slave, is_memory)) = known.or_else(in_map) else { return (false, 0) };
        let before = self.state.slave;
        if slave == 0 || slave == before {
            return (false, 0);
        }
        self.set_slave(slave);
        // Devices have no shortcuts here, so they can share the bank of addresses without a slave.
        self.shortcuts.choose(if is_memory { slave } else { 0 });
        // The first access after reset finds its port granted.
        let cycles = if before == 0 { 0 } else { self.switch_cycles(kind) };
        self.accounts.add(Part::Matrix, cycles);
        (true, cycles)
    }
}
