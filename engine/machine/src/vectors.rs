//! The start address of a core with a vector table (Cortex-M).
//!
//! Such a core takes its stack pointer from word 0 of the table and its first address from word 1, whatever the entry
//! point of the program's file is (ARMv7-M ARM, B1.5.5). The board gives the table's address, and chips map their flash
//! there as well. A program that is linked to another address, to RAM or for a bootloader, has its table there: a
//! debugger that loads it, or the bootloader, sets VTOR and SP from it, as is done here. Such a table is recognised by
//! its first words: a stack pointer in RAM and an odd address in the program.

use super::Machine;
use engine::bus::Target;
use engine::elf::names::Names;
use engine::elf::{self, Image, Segment};

/// Names of vector tables in start-up code: CMSIS, vendors' libraries, operating systems, compilers.
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

/// A table has at least its first two words.
const WORDS_BYTES: u32 = 8;

/// The first words of a vector table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Table {
    at: u32,
    /// The stack pointer, and the reset vector.
    sp: u32,
    first: u32,
}

impl Machine {
    /// Sets the first address of the program's core after loading a program: from its vector table, or, for a core
    /// without one, the entry point. `start` is an address that the user has chosen.
    pub(super) fn set_start(&mut self, image: &Image, data: &[u8], start: Option<u32>) {
        let Some(own) = self.reset_tables[self.main] else {
            return self.cores[self.main].set_pc(start.unwrap_or(image.entry));
        };
        let table = if self.is_stored_at(image, own) { self.table_at(own) } else { self.linked_table(image, data) };
        let place = table.map_or(own, |table| table.at);
        if self.cores[self.main].vector_table() != Some(place) {
            self.cores[self.main].set_vector_table(place);
        }
        self.wanted_start = start;
        // The core has only T32 instructions.
        let wanted = start.map(|start| start | 1);
        let first = wanted.or(table.map(|table| table.first)).unwrap_or(image.entry);
        self.cores[self.main].set_pc(first);
        match table {
            Some(table) if table.at == own => self.note_first_words(image, table),
            Some(table) => self.note_elsewhere(own, table),
            None => self.note_no_table(image, own),
        }
        match (start, table) {
            (None, Some(table)) => self.note_entry(image, table),
            (Some(start), Some(Table { first, .. })) if first & !1 != start & !1 => self.note_start(start, first),
            _ => {}
        }
    }

    /// Makes the program's core, which has not begun yet, begin as after a reset: a debugger that has loaded a program
    /// sets its first address to the entry point of the file. True if that was a different address.
    pub fn begin_at_reset_vector(&mut self) -> bool {
        let core = &mut self.cores[self.main];
        let Some(table) = core.vector_table().filter(|_| self.wanted_start.is_none()) else { return false };
        let first = self.bus.peek_word(table.wrapping_add(4)).unwrap_or(0) & !1;
        let is_elsewhere = core.position().instructions == 0 && core.registers()[0] & !1 != first;
        if is_elsewhere {
            core.reset(&mut self.bus);
        }
        is_elsewhere
    }

    /// The first words at an address.
    fn table_at(&self, at: u32) -> Option<Table> {
        let (sp, first) = self.bus.peek_word(at).zip(self.bus.peek_word(at.wrapping_add(4)))?;
        Some(Table { at, sp, first })
    }

    /// The table in the linked program: a known symbol, or else the first words of a segment.
    fn linked_table(&self, image: &Image, data: &[u8]) -> Option<Table> {
        let named = elf::addresses_of(data, &NAMES).into_iter().map(|name_at| (image.stored_at(name_at), true));
        let mut starts: Vec<u32> = image.segments.iter().map(|segment| segment.addr + segment.header_bytes).collect();
        starts.sort_unstable();
        let all = named.chain(starts.into_iter().map(|start| (start, false)));
        let tables = all.filter_map(|(at, is_named)| Some((self.table_at(at)?, is_named)));
        let mut found = tables.filter(|(table, is_named)| self.is_table(image, *table, *is_named));
        found.next().map(|(table, _)| table)
    }

    /// True if these can be the first words of a table; a table with a known name may lack the Thumb bit.
    fn is_table(&self, image: &Image, table: Table, is_named: bool) -> bool {
        table.at.is_multiple_of(ALIGNMENT)
            && table.sp.is_multiple_of(4)
            && self.is_stack(table.sp)
            && (is_named || table.first & 1 != 0)
            && image.holds(table.first & !1)
    }

    /// True if a stack with this start is in RAM.
    fn is_stack(&self, sp: u32) -> bool {
        let entry = self.bus.entry_at(sp.wrapping_sub(4)).map(|entry| self.bus.map[entry].target);
        sp != 0 && matches!(entry, Some(Target::Ram(_)))
    }

    /// True if the program has bytes for the first words at an address, perhaps at an alias of it.
    fn is_stored_at(&self, image: &Image, at: u32) -> bool {
        let place_of = |addr: u32| {
            let entry = &self.bus.map[self.bus.entry_at(addr)?];
            let memory = match entry.target {
                Target::Ram(ram) => (true, ram),
                Target::Device(device, _) => (false, device.0 as usize),
            };
            Some((memory, entry.offset(addr)))
        };
        let Some((memory, offset)) = place_of(at) else { return false };
        let holds = |segment: &Segment| {
            let stored = place_of(segment.addr).filter(|(other, _)| *other == memory);
            let before = stored.and_then(|(_, first)| offset.checked_sub(first));
            // The file's own headers are no table.
            before.is_some_and(|before| {
                let after = u64::from(before) + u64::from(WORDS_BYTES);
                before >= segment.header_bytes && segment.bytes.len() as u64 >= after
            })
        };
        image.segments.iter().any(holds)
    }

    // ---- Notes for the user

    /// Notes about a table at the chip's own address.
    fn note_first_words(&mut self, image: &Image, table: Table) {
        let Table { at, sp, first } = table;
        let name = self.cores[self.main].name();
        let (stack, code) = (self.is_stack(sp & !3), image.holds(first & !1));
        let wrong = match (stack, code, first & 1) {
            (true, true, 1) => return,
            (_, true, 0) => {
                "the reset vector has no Thumb bit (bit 0), and its first instruction is a fault".to_owned()
            }
            (_, true, _) => "no RAM is below that SP, and the first push is a fault".to_owned(),
            (_, false, _) => match self.meant_base(image, table) {
                Some(base) => format!("the program's first words mean a base of {base:#010x}"),
                None => "that is no address in the program: is its vector table missing?".to_owned(),
            },
        };
        self.program_notes.push(format!(
            "{name}: it starts with the words at {at:#010x}, SP {sp:#010x} and PC {first:#010x}, as the chip does: \
             {wrong}"
        ));
    }

    /// The address at which a program without headers would have its reset vector inside: of all such addresses the one
    /// with the most trailing zeroes. `None` if these are no first words, or no memory is there.
    fn meant_base(&self, image: &Image, Table { sp, first, .. }: Table) -> Option<u32> {
        let begin = image.segments.iter().min_by_key(|segment| segment.addr)?;
        let highest = first & !1;
        let lowest = highest.saturating_sub((begin.bytes.len() as u32).saturating_sub(1));
        let mut bases = (7..u32::BITS).rev().map(|zeroes| highest >> zeroes << zeroes);
        // A file with headers has its address.
        let is_start = !image.names_entry && first & 1 != 0 && self.is_stack(sp & !3);
        bases.find(|base| *base >= lowest).filter(|base| is_start && self.bus.entry_at(*base).is_some())
    }

    /// Notes about a table in flash at another address. A program in RAM is obviously not started by the chip itself.
    fn note_elsewhere(&mut self, own: u32, Table { at, .. }: Table) {
        if self.bus.ram_at(at).is_some() {
            return;
        }
        let name = self.cores[self.main].name();
        self.program_notes.push(format!(
            "{name}: it starts with the vector table at {at:#010x}, where the program was linked to, as from a \
             debugger or a bootloader that sets SP, PC and VTOR; the chip alone starts with that at {own:#010x}"
        ));
    }

    fn note_no_table(&mut self, image: &Image, own: u32) {
        let begin = image.segments.iter().map(|segment| segment.addr).min();
        let meant = begin.and_then(|begin| self.meant_base(image, self.table_at(begin)?));
        let meant = meant.map(|base| format!("; its first words mean a base of {base:#010x}")).unwrap_or_default();
        let name = self.cores[self.main].name();
        let sp = self.bus.peek_word(own).unwrap_or(0) & !3;
        self.program_notes.push(format!(
            "{name}: the program has no vector table, at {own:#010x} or elsewhere: it begins with SP {sp:#010x}{meant}"
        ));
    }

    fn note_start(&mut self, start: u32, first: u32) {
        let name = self.cores[self.main].name();
        self.program_notes.push(format!(
            "{name}: it starts at {start:#010x} as asked for (--entry); the chip starts at its reset vector, \
             {first:#010x}"
        ));
    }

    /// Notes that the entry point is not the reset vector. An entry at the table itself is not reported: it is the
    /// linkers' default, the start of the code.
    fn note_entry(&mut self, image: &Image, Table { at, first, .. }: Table) {
        let Some(entry) = image.names_entry.then_some(image.entry) else { return };
        if entry & !1 == first & !1 || entry == 0 || image.stored_at(entry) == at || entry == at {
            return;
        }
        let place = |addr: u32| match image.place_at(addr & !1, &Names::default()) {
            Some(symbol) => format!("{addr:#010x} ({symbol})"),
            None => format!("{addr:#010x}"),
        };
        let name = self.cores[self.main].name();
        self.program_notes.push(format!(
            "{name}: it starts at its reset vector, {}, as the chip does, and not at the file's entry point, {}",
            place(first),
            place(entry)
        ));
    }
}
