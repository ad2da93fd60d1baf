//! Queries about the programs of the cores.

use super::Machine;
use engine::dt::fault::similar_names;
use engine::elf::asked::{last_parts, plain};
use engine::elf::names::Names;
use engine::one_line::one_line;

/// Longer names are not compared: that takes the square of their lengths.
const LONGEST_LIKE_BYTES: usize = 64;

/// A part of a program in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Index of the core whose program it is.
    pub core: usize,
    /// Its first address.
    pub addr: u32,
    /// Bytes from the program's file.
    pub file_bytes: u32,
    /// Bytes in memory: zeros follow the file's bytes.
    pub memory_bytes: u32,
}

impl Machine {
    /// The segments of known programs, core by core.
    pub fn loaded(&self) -> Vec<Loaded> {
        let programs = self.programs.iter().enumerate().filter_map(|(core, program)| Some((core, program.as_ref()?)));
        let segments = programs.flat_map(|(core, program)| program.image.segments.iter().map(move |it| (core, it)));
        segments
            .map(|(core, segment)| Loaded {
                core,
                addr: segment.addr,
                file_bytes: segment.bytes.len() as u32,
                memory_bytes: segment.memory_bytes,
            })
            .collect()
    }

    /// Functions with names similar to one that [`Machine::watch`] does not find.
    pub fn functions_like(&self, name: &str) -> Vec<String> {
        let (core, function) = self.core_of(name);
        let symbols = self.program(core).map(|program| &program.image.symbols);
        if function.len() > LONGEST_LIKE_BYTES {
            return Vec::new();
        }
        let names = Names::default();
        let written = symbols.into_iter().flatten().map(|symbol| names.readable(&symbol.name));
        // as many parts of each name as the wanted name has.
        let parts = function.matches("::").count() + 1;
        let short: Vec<String> = written.map(|name| last_parts(&plain(&name), parts).to_owned()).collect();
        let short = short.iter().map(String::as_str).filter(|name| name.len() <= LONGEST_LIKE_BYTES);
        similar_names(function, short).iter().map(|name| one_line(name)).collect()
    }
}
