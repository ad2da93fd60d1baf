//! The programs of the cores: files and symbols.

use super::Machine;
use engine::elf::asked::{Meant, meant, several_text};
use engine::elf::names::Names;
use engine::elf::{self, ElfError, Image};
use engine::observe::profile::Functions;
use engine::state::digest;

/// A core's program, for messages and for functions to be watched.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub image: Image,
    /// The ELF file itself, for its debug information.
    pub elf: Vec<u8>,
    /// A hash of the whole file: two different programs have the same one only by a rare coincidence.
    pub digest: u64,
}

impl Program {
    pub fn new(image: Image, elf: Vec<u8>) -> Program {
        let segments = image.segments.iter().flat_map(|segment| [&segment.bytes[..], &[]]);
        let places = image.segments.iter().flat_map(|segment| [segment.addr, segment.memory_bytes]);
        let places: Vec<u8> = places.chain([image.entry]).flat_map(u32::to_le_bytes).collect();
        let digest = digest::of_all(segments.chain([&places[..], &elf]));
        Program { image, elf, digest }
    }
}

impl Machine {
    /// Finds programs for further cores in this one, as data between symbols that are named after the cores:
    /// cm4_firmware_start and cm4_firmware_end. They are used for messages and watched functions only: errors in them
    /// are left to the firmware that loads them.
    pub(super) fn find_carried(&mut self, image: &Image) {
        for core in (0..self.cores.len()).filter(|core| *core != self.main) {
            let name = self.cores[core].name();
            let addr = |end: &str| {
                let wanted = format!("{name}_firmware_{end}");
                image.symbols.iter().find(|symbol| symbol.name == wanted).map(|symbol| symbol.addr)
            };
            let carried = addr("start").zip(addr("end")).and_then(|(start, end)| data_at(image, start, end));
            if let Some(data) = carried
                && let Ok(image) = elf::read(data, self.cores[core].machine())
            {
                self.programs[core] = Some(Program::new(image, data.to_vec()));
            }
        }
    }

    /// Gives the symbols of a core whose program another core loads, if its program does not contain them: for
    /// messages, and for watched functions there. Nothing is loaded. False if the board has no such core.
    ///
    /// # Errors
    /// [`ElfError`] if it is no program for the core.
    pub fn load_symbols(&mut self, core: &str, data: &[u8]) -> Result<bool, ElfError> {
        let Some(core) = self.core_named(core) else { return Ok(false) };
        let image = elf::read(data, self.cores[core].machine())?;
        self.programs[core] = Some(Program::new(image, data.to_vec()));
        Ok(true)
    }

    /// The core with this label.
    pub fn core_named(&self, name: &str) -> Option<usize> {
        self.cores.iter().position(|core| core.name() == name)
    }

    /// Keeps a cycle stack for the function called `name` ("cm4:main" for one of another core than the program's).
    /// False if there is no such function.
    pub fn watch(&mut self, name: &str) -> bool {
        let found = self.find_function(name);
        found.map(|(core, function, addr)| self.watch_function(&function, core, addr, false)).is_some()
    }

    /// Keeps a window for each call of a function of a core, and watches it. False if there is no such function.
    pub fn watch_calls(&mut self, name: &str) -> bool {
        let found = self.find_function(name);
        found.map(|(core, function, addr)| self.watch_function(&function, core, addr, true)).is_some()
    }

    /// Keeps a cycle stack for the function at `addr`, on the program's core.
    pub fn watch_address(&mut self, name: &str, addr: u32) {
        self.know_functions(self.main);
        self.cores[self.main].watch(name, addr);
    }

    /// Makes a core follow its calls, by the functions of its program.
    pub(super) fn know_functions(&mut self, core: usize) {
        let functions = self.program(core).map(|program| functions_of(&program.image)).unwrap_or_default();
        let kernel = self.kernel_of(core);
        self.cores[core].know_functions(&functions);
        if let Some(kernel) = kernel {
            self.cores[core].follow_tasks_of(&kernel);
        }
    }

    /// Watches the function `name` of a core at `addr`, once, with windows for its `calls` if they are wanted.
    pub fn watch_function(&mut self, name: &str, core: usize, addr: u32, calls: bool) {
        let function = (core, name.to_owned());
        if !self.watched.contains(&function) {
            self.know_functions(core);
            self.cores[core].watch(name, addr);
            self.watched.push(function);
        }
        if calls {
            self.cores[core].mark_calls(addr);
        }
    }

    /// The core of a function to be watched, its own name, and its address, if the name is unambiguous ([`meant`]).
    pub(super) fn find_function(&self, name: &str) -> Option<(usize, String, u32)> {
        let (core, function) = self.core_of(name);
        match meant(&self.program(core)?.image.symbols, function, &Names::default()) {
            Meant::One(symbol) => Some((core, function.to_owned(), symbol.addr)),
            Meant::Several(_) | Meant::Nothing => None,
        }
    }

    /// The message for an ambiguous name, which [`Machine::watch`] does not accept.
    pub fn several_functions(&self, name: &str) -> Option<String> {
        let (core, function) = self.core_of(name);
        let names = Names::default();
        match meant(&self.program(core)?.image.symbols, function, &names) {
            Meant::Several(found) => Some(several_text(function, &found, &names)),
            Meant::One(_) | Meant::Nothing => None,
        }
    }

    /// The core in a function's name, and the rest of the name: "cm4:main" is of cm4 if there is such a core; in
    /// "flash::program" the colons belong to a C++ name.
    pub(super) fn core_of<'a>(&self, name: &'a str) -> (usize, &'a str) {
        let named = name.split_once(':').filter(|(_, function)| !function.starts_with(':'));
        let of_core = named.and_then(|(core, function)| Some((self.core_named(core)?, function)));
        of_core.unwrap_or((self.main, name))
    }

    /// The program of a core: cores of one kind run the same program, unless another is known.
    pub(super) fn program(&self, core: usize) -> Option<&Program> {
        let same = || {
            let kind = |core: usize| self.description.cores.get(core).map(|core| &core.compatible);
            self.programs.get(self.main)?.as_ref().filter(|_| core == self.main || kind(core) == kind(self.main))
        };
        self.programs.get(core)?.as_ref().or_else(same)
    }

    /// The memories for an ELF file's segments.
    pub(super) fn memories(&self) -> String {
        let loadable = self.bus.map.iter().filter(|entry| self.bus.can_load(entry.base, 1, 1));
        let ranges: Vec<String> =
            loadable.map(|entry| format!("{} {:#010x}-{:#010x}", entry.name, entry.base, entry.last)).collect();
        ranges.join(", ")
    }
}

/// The bytes of an image at the virtual addresses from `start` to `end`.
fn data_at(image: &Image, start: u32, end: u32) -> Option<&[u8]> {
    image.segments.iter().find_map(|segment| {
        let from = start.checked_sub(segment.runs_at)? as usize;
        let to = end.checked_sub(segment.runs_at)? as usize;
        segment.bytes.get(from..to)
    })
}

/// The start addresses of a program's functions.
pub(super) fn functions_of(image: &Image) -> Functions {
    let entries = image.symbols.iter().map(|symbol| symbol.addr).collect();
    let whole = image.symbols.iter().filter(|symbol| symbol.bytes > 0).map(|symbol| symbol.addr).collect();
    Functions { entries, whole }
}
