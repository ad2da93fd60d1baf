//! Where a program's vector table is, for a core that begins with one (Cortex-M).
//!
//! Such a core reads its stack pointer and its first address from a table at an address that the board gives. Chips map
//! their flash there as well. A program that is linked to flash or RAM elsewhere has its table where it was linked to,
//! and debuggers that load it set VTOR and SP from there, as is done here. A table is recognised by its first words: a
//! stack pointer in RAM and an odd address in the program.

use super::Machine;
use crate::bus::Target;
use crate::elf::{self, Image};

/// What start-up code calls its vector table: CMSIS, vendors' libraries, operating systems, compilers.
const NAMES: [&str; 16] = [
    "__Vectors",
    "__vector_table",
    "_vector_table",
    "vector_table",
    "__isr_vector",
    "isr_vector",
    "g_pfnVectors",
    "__VECTOR_TABLE",
    "__vectors",
    "_vectors",
    "vectors",
    "_svectors",
    "__interrupt_vector",
    "interrupt_vector_table",
    "cortex_vector_base",
    "exception_table",
];
/// VTOR has no bits below this.
const ALIGNMENT: u32 = 128;

impl Machine {
    /// Sets the vector table of the program's core to that of the program, which has been loaded, if the core begins
    /// with one and has none at its own place.
    pub(super) fn find_vectors(&mut self, image: &Image, data: &[u8]) {
        let Some(own) = self.cores[self.main].vector_table() else { return };
        let place_of = |name_at: u32| image.stored_at(name_at);
        let named = elf::addresses_of(data, &NAMES).into_iter().map(place_of);
        let mut starts: Vec<u32> = image.segments.iter().map(|segment| segment.addr).collect();
        starts.sort_unstable();
        let table = std::iter::once(own).chain(named).chain(starts).find(|at| self.is_vector_table(image, *at));
        match table {
            Some(table) => {
                if table != own {
                    self.cores[self.main].set_vector_table(table);
                    self.cores[self.main].set_pc(image.entry);
                }
                // An entry that is no T32 code is the linker's choice, not the program's.
                if image.entry & 1 == 0
                    && let Some(first) = self.bus.peek_word(table.wrapping_add(4))
                {
                    self.cores[self.main].set_pc(first);
                }
            }
            None => {
                let name = self.cores[self.main].name();
                let sp = self.bus.peek_word(own).unwrap_or(0) & !3;
                self.program_notes.push(format!(
                    "{name}: the program has no vector table, at {own:#010x} or elsewhere: it begins with SP {sp:#010x}"
                ));
            }
        }
    }

    fn is_vector_table(&self, image: &Image, at: u32) -> bool {
        let Some((sp, first)) = self.bus.peek_word(at).zip(self.bus.peek_word(at.wrapping_add(4))) else {
            return false;
        };
        let in_ram = |addr: u32| {
            let entry = self.bus.entry_at(addr).map(|entry| self.bus.map[entry].target);
            matches!(entry, Some(Target::Ram(_)))
        };
        at.is_multiple_of(ALIGNMENT)
            && sp.is_multiple_of(4)
            && sp != 0
            && in_ram(sp.wrapping_sub(4))
            && first & 1 != 0
            && image.holds(first & !1)
    }
}
