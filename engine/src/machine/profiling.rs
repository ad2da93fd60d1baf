//! Profiles of all cores, and what their addresses mean.

use super::Machine;
use super::programs::Program;
use crate::elf;
use crate::elf::debug::{self, Place};
use crate::observe::profile::{CoreProfile, ProfileOptions, TaskName};

/// Bytes of a task's name at the most.
const LONGEST_NAME_BYTES: u32 = 32;

impl Machine {
    /// Profiles all cores from now on. Calls of these functions ("cm4:main" for one of another core than the program's)
    /// are kept one by one. Before the first call, or in a later one, a core's profile begins anew.
    ///
    /// # Errors
    /// The name of a function that there is not.
    pub fn profile(&mut self, functions: &[String]) -> Result<(), String> {
        self.bus.risen.start();
        let mut watched = vec![Vec::new(); self.cores.len()];
        for name in functions {
            let (core, _, addr) = self.find_function(name).ok_or_else(|| name.clone())?;
            watched[core].push(addr);
        }
        for (core, watched) in watched.into_iter().enumerate() {
            let program = self.program(core);
            let entries = program.map(entries).unwrap_or_default();
            let task_name = program.and_then(|program| task_name(&program.elf));
            self.cores[core].profile(&ProfileOptions { entries, watched, task_name });
        }
        Ok(())
    }

    /// Tells from now on what each core waits for ([`crate::core::CoreReport::waits`]).
    pub fn tell_waits(&mut self) {
        self.bus.activities.start_for_waits();
        self.cores.iter_mut().for_each(|core| core.tell_waits());
    }

    /// The profiles so far, of the cores that have one.
    pub fn profiles(&mut self) -> Vec<CoreProfile> {
        let mut profiles = Vec::new();
        for (index, core) in self.cores.iter_mut().enumerate() {
            // What lies between it and the memories has its own names.
            self.bus.master = Some(index);
            if let Some(mut profile) = core.profiled(&self.bus) {
                self.progress[index].name_time_held_in(&mut profile);
                profiles.push(profile);
            }
        }
        self.bus.master = None;
        profiles
    }

    /// Where addresses of a core's program are in the source, each with the innermost function first; `None` if there
    /// is no such core.
    pub fn places(&self, core: &str, addrs: &[u32]) -> Option<Vec<Vec<Place>>> {
        let program = self.program(self.core_named(core)?);
        let unknown =
            || vec![vec![Place { function: String::new(), file: None, line: None, column: None }]; addrs.len()];
        Some(program.map_or_else(unknown, |program| debug::places_of(&program.elf, &program.image, addrs)))
    }

    /// The functions of a core's program: address, size, name.
    pub fn functions(&self, core: &str) -> Option<Vec<(u32, u32, String)>> {
        let program = self.program(self.core_named(core)?)?;
        let symbols = program.image.symbols.iter();
        Some(symbols.map(|symbol| (symbol.addr, symbol.bytes, debug::demangled(&symbol.name))).collect())
    }
}

fn entries(program: &Program) -> Vec<u32> {
    program.image.symbols.iter().map(|symbol| symbol.addr).collect()
}

/// Where FreeRTOS or Zephyr has the name of the task that runs.
fn task_name(elf: &[u8]) -> Option<TaskName> {
    let symbol = |name: &str| elf::addresses_of(elf, &[name]).first().copied();
    if let Some(variable) = symbol("pxCurrentTCB") {
        let offset = debug::member_offset(elf, "tskTaskControlBlock", "pcTaskName")?;
        return Some(TaskName { variable, offset, bytes: LONGEST_NAME_BYTES });
    }
    let kernel = symbol("_kernel")?;
    let current = debug::member_offset(elf, "z_kernel", "cpus")? + debug::member_offset(elf, "_cpu", "current")?;
    let offset = debug::member_offset(elf, "k_thread", "name")?;
    Some(TaskName { variable: kernel.wrapping_add(current), offset, bytes: LONGEST_NAME_BYTES })
}
