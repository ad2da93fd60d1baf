//! Loads in a row that are of different memories.
//!
//! The address cycle of a load overlaps the data cycle of the load before it only if both are of the same memory
//! (jnk0le/random, measured on an STM32F407: SRAM1 and the core-coupled memory in turn). Slaves of the system bus are
//! one memory here, because a switch between two of them has a wait of its own ([`super::matrix`]).

use super::accounts::Part;
use super::{Memory, SYSTEM_BUS};

/// Number of a memory, by its address.
pub type MemoryNumber = u8;

/// Address bits of a memory below [`SYSTEM_BUS`]: flash, and memories of the data bus, begin at multiples of 128 MiB.
pub const MEMORY_BITS: u32 = 27;

/// The number of all memories at [`SYSTEM_BUS`] and above.
pub const SYSTEM_MEMORY: MemoryNumber = (SYSTEM_BUS >> MEMORY_BITS) as MemoryNumber;

fn memory_at(addr: u32) -> MemoryNumber {
    (addr >> MEMORY_BITS).min(u32::from(SYSTEM_MEMORY)) as MemoryNumber
}

impl Memory {
    /// Remembers the memory of a load that the next access may overlap. It is state of the machine: that access may be
    /// in another block.
    #[inline]
    pub fn remember_memory(&mut self, addr: u32) {
        self.state.loaded_memory = memory_at(addr);
    }

    /// Wait of an access that would overlap such a load: `cycles` if it is of another memory. Remembers its memory.
    #[inline]
    pub fn other_memory_cycles(&mut self, addr: u32, cycles: u64) -> u64 {
        let memory = memory_at(addr);
        let cycles = if memory == self.state.loaded_memory { 0 } else { cycles };
        self.state.loaded_memory = memory;
        self.accounts.add(Part::OtherMemory, cycles);
        cycles
    }
}
