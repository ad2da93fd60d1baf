//! Loading a program: its core, and the memory for its parts.
//!
//! A program for another core than the first runs alone: no program starts the other cores, which stay in reset.

use std::collections::BTreeSet;

use super::Machine;
use super::programs::Program;
use super::progress::Activity;
use engine::elf::build_attributes::{Attributes, Profile};
use engine::elf::{self, ElfError, Image, Machine as Set, Segment};

/// A program without headers, for example an Intel HEX file or the contents of a flash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawProgram {
    /// Addresses, and the bytes from there on; no part is empty.
    pub parts: Vec<(u32, Vec<u8>)>,
    /// The address of the first instruction in the file; without one, it is the lowest address. A core with a vector
    /// table begins at its reset vector.
    pub entry: Option<u32>,
    /// The address of the first instruction that the user has chosen; it takes priority.
    pub start: Option<u32>,
}

impl Machine {
    /// Loads an ELF file for the first core that it fits.
    ///
    /// # Errors
    /// As for [`Machine::load_for`].
    pub fn load(&mut self, data: &[u8]) -> Result<(), ElfError> {
        self.load_for(data, None)
    }

    /// Loads an ELF file into RAM, as a debugger's download does, and into flash that the cores can read in place, as a
    /// programmer does. Sets `core`, or else the first core that it fits, to its entry. A segment without bytes outside
    /// RAM (registers that a linker script names) is not loaded, nor are the file's own headers where the board has no
    /// memory for them.
    ///
    /// # Errors
    /// [`ElfError`]; nothing has been loaded then.
    pub fn load_for(&mut self, data: &[u8], core: Option<usize>) -> Result<(), ElfError> {
        let core = self.core_for(data, core)?;
        let set = self.cores[core].machine();
        let image = elf::read(data, set)?;
        // Other cores begin at their reset vector.
        if self.cores[core].vector_table().is_none() && !image.holds_entry(set) {
            return Err(ElfError::BadEntry { entry: image.entry });
        }
        self.put(image, data, core, None)?;
        if set == Set::Arm {
            self.note_attributes(data, core);
        }
        Ok(())
    }

    /// Notes, in one line, differences between the core and the core that the program was built for.
    fn note_attributes(&mut self, data: &[u8], core: usize) {
        let Some((attributes, info)) = Attributes::of(data).zip(self.description.cores.get(core)) else { return };
        let own = match info.compatible.strip_prefix("arm,cortex-") {
            Some(model) => format!("Cortex-{}", model.to_ascii_uppercase()),
            None => return,
        };
        // From the description of the instruction set.
        let (has_fpu, has_single_alone) = (info.isa.contains("FPv4"), info.isa.contains("FPv4-SP"));
        let lacks = if attributes.wants_fpu() && !has_fpu {
            "; its floating-point instructions are undefined here, as the core has no floating-point unit"
        } else if attributes.wants_double() && has_single_alone {
            "; instructions of double precision are undefined here"
        } else if attributes.is_newer() {
            "; instructions that are newer than Armv7 are undefined here"
        } else {
            ""
        };
        let other = attributes.other_than(&own);
        let what = match other {
            Some(other) => format!("the program was built for a {other}: its times are those of a {own}"),
            None if !lacks.is_empty() => format!("the program was built for more than this {own} has"),
            None => return,
        };
        self.program_notes.push(format!("{}: {what}{lacks} (its build attributes)", info.name));
    }

    /// Loads a program without headers, for `core`, or else the first core.
    ///
    /// # Errors
    /// [`ElfError`]; nothing has been loaded then.
    pub fn load_raw(&mut self, program: RawProgram, core: Option<usize>) -> Result<(), ElfError> {
        let part = |(addr, bytes): (u32, Vec<u8>)| {
            let memory_bytes = u32::try_from(bytes.len()).ok()?;
            addr.checked_add(memory_bytes.checked_sub(1)?)?;
            Some(Segment { addr, runs_at: addr, bytes, memory_bytes, header_bytes: 0 })
        };
        let segments: Option<Vec<Segment>> = program.parts.into_iter().map(part).collect();
        let no_such = || ElfError::Damaged { detail: "a part of it is empty, or ends beyond 4 GiB".to_owned() };
        let segments = segments.ok_or_else(no_such)?;
        let lowest = segments.iter().map(|segment| segment.addr).min().ok_or(ElfError::NothingToLoad)?;
        let (entry, names_entry) = (program.start.or(program.entry).unwrap_or(lowest), program.entry.is_some());
        let image = Image { segments, entry, names_entry, symbols: Vec::new() };
        self.put(image, &[], core.unwrap_or(0), program.start)?;
        let kinds = self.description.cores.iter().map(|core| &core.compatible);
        if core.is_none() && kinds.collect::<BTreeSet<_>>().len() > 1 {
            let (name, all) = (self.cores[0].name(), self.description.cores.iter().map(|core| core.name.as_str()));
            let all = all.collect::<Vec<_>>().join(", ");
            let note = format!("the program does not say for which of {all} it is: {name} runs it (--core)");
            self.program_notes.push(note);
        }
        Ok(())
    }

    /// The core that an ELF file is for. The caller reports a file that is no ELF file, or for an unknown instruction
    /// set.
    fn core_for(&self, data: &[u8], core: Option<usize>) -> Result<usize, ElfError> {
        let Ok(set) = elf::machine_of(data) else { return Ok(core.unwrap_or(0)) };
        let profile = Attributes::of(data).filter(|_| set == Set::Arm).and_then(|attributes| attributes.profile());
        let has_set = |core: usize| self.cores[core].machine() == set;
        let fits = |core: usize| {
            let is_m = self.cores[core].vector_table().is_some();
            has_set(core) && profile.is_none_or(|profile| (profile == Profile::M) == is_m)
        };
        let found = match core {
            Some(core) => fits(core).then_some(core),
            None => (0..self.cores.len()).find(|core| fits(*core)),
        };
        let Some(asked) = found.is_none().then(|| core.unwrap_or(0)) else { return Ok(found.unwrap_or(0)) };
        match profile.filter(|_| has_set(asked)) {
            Some(found) => {
                let core = self.cores[asked].name().to_owned();
                Err(ElfError::WrongProfile { found, core, others: self.others_text(asked, fits) })
            }
            None => Ok(asked),
        }
    }

    fn others_text(&self, asked: usize, fits: impl Fn(usize) -> bool) -> String {
        let fitting = (0..self.cores.len()).find(|core| *core != asked && fits(*core));
        match fitting {
            Some(core) => format!("--core {} is one", self.cores[core].name()),
            None => "the board has no such core".to_owned(),
        }
    }

    /// Loads a program for a core, which begins at `start`, or else at the program's or its own start address.
    fn put(&mut self, mut image: Image, data: &[u8], core: usize, start: Option<u32>) -> Result<(), ElfError> {
        for segment in &mut image.segments {
            segment.addr = self.cores[core].load_address(segment.addr);
            if segment.header_bytes > 0 && !self.can_load(segment) {
                *segment = segment.without_headers();
            }
        }
        image.segments.retain(|segment| segment.memory_bytes > 0);
        for segment in &image.segments {
            let last = segment.addr + (segment.memory_bytes - 1);
            if segment.bytes.is_empty() && !self.bus.is_cleared_at(segment.addr) {
                continue;
            }
            if !self.can_load(segment) {
                let memories = self.memories();
                return Err(ElfError::OutsideMemory { first: segment.addr, last, memories });
            }
        }
        for segment in &image.segments {
            if !segment.bytes.is_empty() || self.bus.is_cleared_at(segment.addr) {
                self.bus.load(segment.addr, &segment.bytes, segment.memory_bytes);
                // A flash gets its whole image, as on a part that copies some of it to an overlay.
                self.bus.load_below(segment.addr, &segment.bytes);
            }
        }
        self.main = core;
        self.program_notes.clear();
        self.note_nowhere(&image);
        self.set_start(&image, data, start);
        self.find_carried(&image);
        self.programs[core] = Some(Program::new(image, data.to_vec()));
        if core != 0 {
            self.run_alone(core);
        }
        Ok(())
    }

    /// Releases one core from reset, and holds all others.
    fn run_alone(&mut self, core: usize) {
        for (index, progress) in self.progress.iter_mut().enumerate() {
            progress.activity = if index == core { Activity::Running } else { Activity::Held };
        }
        let others = (0..self.cores.len()).filter(|other| *other != core);
        let others: Vec<&str> = others.map(|other| self.cores[other].name()).collect();
        let (name, others) = (self.cores[core].name(), others.join(", "));
        self.program_notes.push(format!("the program is for {name}, which runs alone: {others} stays in reset"));
    }

    fn can_load(&self, segment: &Segment) -> bool {
        self.bus.can_load(segment.addr, segment.bytes.len() as u32, segment.memory_bytes)
    }

    /// Notes segments that are neither in RAM nor at a device.
    fn note_nowhere(&mut self, image: &Image) {
        for segment in image.segments.iter().filter(|segment| segment.bytes.is_empty()) {
            let (first, last) = (segment.addr, segment.addr + (segment.memory_bytes - 1));
            if self.bus.entry_at(first).is_none() {
                self.program_notes.push(format!(
                    "segment {first:#010x}-{last:#010x}, which has no bytes to be loaded, lies where nothing is \
                     on this board"
                ));
            }
        }
    }
}
