//! Profiles of all cores, and the names of their addresses.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Machine;
use super::programs::{Program, functions_of};
use engine::core::Cut;
use engine::elf;
use engine::elf::debug::{self, Place};
use engine::elf::names::Names;
use engine::observe::profile::{
    CallPath, CoreProfile, LinuxKernel, LoadedFunction, PathKind, ProfileOptions, ShownCall, ShownTaskSlice, Slices,
    TaskName,
};
use engine::observe::trace::{CoreSlice, CoreTasks, TaskSlice};
use engine::state::State;
use engine::time::Ps;

/// Maximum length of a task's name in bytes.
const LONGEST_NAME_BYTES: u32 = 32;
/// Name of calls on the stack that a core began with.
const FIRST_STACK: &str = "from reset";

/// The contents of profiles.
#[derive(Debug, Default, State)]
pub(super) struct Profiled {
    /// By core: the functions whose calls are kept individually.
    watched: Vec<Vec<u32>>,
    by_site: bool,
    slices: Option<Slices>,
    /// See [`Machine::functions_complete_from`].
    complete_from: Option<Ps>,
}

/// The name of a call path in a timeline.
#[derive(Clone, Debug)]
struct Named {
    task: String,
    /// The path that it returns to at its end.
    stack: u32,
    name: String,
}

impl Machine {
    /// Profiles all cores from now on. Calls of `functions` ("cm4:main" for one of another core than the program's)
    /// are kept individually. At the first call, and at each later one, a core's profile is cleared. With `by_site`,
    /// calls from different places are different paths: there are more paths then.
    ///
    /// # Errors
    /// The name of a function that does not exist.
    pub fn profile(&mut self, functions: &[String], by_site: bool) -> Result<(), String> {
        let mut watched = vec![Vec::new(); self.cores.len()];
        for name in functions {
            let (core, _, addr) = self.find_function(name).ok_or_else(|| name.clone())?;
            watched[core].push(addr);
        }
        (self.profiled.watched, self.profiled.by_site) = (watched, by_site);
        self.begin_profiles();
        Ok(())
    }

    /// True if profiles are enabled.
    pub fn has_profile(&self) -> bool {
        !self.profiled.watched.is_empty()
    }

    /// Profiles all cores from now on, with all calls kept for a timeline.
    pub(super) fn profile_slices(&mut self, slices: Slices) {
        self.profiled.slices = Some(slices);
        self.begin_profiles();
    }

    fn begin_profiles(&mut self) {
        self.bus.follow_interrupts();
        for core in 0..self.cores.len() {
            let program = self.program(core);
            let functions = program.map(|program| functions_of(&program.image)).unwrap_or_default();
            let task_name = program.and_then(|program| task_name(&program.elf));
            let watched = self.profiled.watched.get(core).cloned().unwrap_or_default();
            let linux = self.kernel_of(core);
            let Profiled { by_site, slices, .. } = self.profiled;
            self.cores[core].profile(&ProfileOptions { functions, watched, task_name, linux, slices, by_site });
        }
    }

    /// Records from now on what each core waits for ([`engine::core::CoreReport::waits`]).
    pub fn record_waits(&mut self) {
        self.bus.activities.start_for_waits(self.cores.len());
        self.bus.follow_interrupts();
        self.follow_critical_path();
        self.cores.iter_mut().for_each(|core| core.record_waits());
    }

    /// What the program of a core has if it is a Linux kernel for Arm.
    pub(super) fn kernel_of(&self, core: usize) -> Option<LinuxKernel> {
        self.program(core).filter(|_| self.cores[core].machine() == elf::Machine::Arm).and_then(linux_kernel)
    }

    /// The profiles so far, of the cores that have one.
    pub fn profiles(&mut self) -> Vec<CoreProfile> {
        let mut profiles = Vec::new();
        let elapsed = self.elapsed();
        let cuts: Vec<Option<Cut>> = (0..self.cores.len()).map(|core| self.cut_of(core, elapsed)).collect();
        for ((index, core), cut) in self.cores.iter_mut().enumerate().zip(cuts) {
            // The causes of waits between a core and the memories have names of that core.
            self.bus.master = Some(index);
            if let Some(mut profile) = core.profiled(&self.bus, cut) {
                self.progress[index].name_time_held_in(&mut profile);
                profiles.push(profile);
            }
        }
        self.bus.master = None;
        self.profiled.complete_from = profiles.iter().filter_map(|profile| profile.slices_complete_from).max();
        profiles
    }

    /// The functions that the cores were in, as far as they are kept for a timeline: outer calls before inner ones.
    pub fn function_slices(&mut self) -> Vec<CoreSlice> {
        let profiles = self.profiles();
        self.functions_in(&profiles)
    }

    /// The times at which each task ran, as far as they are kept for a timeline, for cores with more than one call
    /// stack.
    pub fn task_slices(&mut self) -> Vec<CoreTasks> {
        let profiles = self.profiles();
        self.tasks_in(&profiles)
    }

    pub(super) fn tasks_in(&self, profiles: &[CoreProfile]) -> Vec<CoreTasks> {
        let with_tasks = profiles.iter().filter(|profile| !profile.task_slices.is_empty());
        let tasks_of = |profile: &CoreProfile| {
            let named = self.named_paths(profile).into_iter();
            let names: Vec<Arc<str>> = named
                .map(|Named { task, .. }| if task.is_empty() { FIRST_STACK.into() } else { task.into() })
                .collect();
            let slice = |slice: &ShownTaskSlice| {
                let task = Arc::clone(&names[slice.task as usize]);
                TaskSlice { task, begin: slice.begin, end: slice.end }
            };
            CoreTasks { core: profile.name.clone(), slices: profile.task_slices.iter().map(slice).collect() }
        };
        with_tasks.map(tasks_of).collect()
    }

    pub(super) fn functions_in(&self, profiles: &[CoreProfile]) -> Vec<CoreSlice> {
        let mut slices: Vec<(Ps, Reverse<Ps>, u32, CoreSlice)> = Vec::new();
        for profile in profiles {
            let named = self.named_paths(profile);
            for ShownCall { path, begin, end, skipped } in &profile.slices {
                let Named { task, stack, name } = named[*path as usize].clone();
                let core = profile.name.clone();
                let name = if *skipped == 0 { name } else { format!("{skipped} more iterations") };
                let slice = CoreSlice { core, task, stack, name, begin: *begin, end: *end };
                // Callers have lower numbers than their callees.
                slices.push((*begin, Reverse(*end), *path, slice));
            }
        }
        slices.sort_by_key(|(begin, end, path, _)| (*begin, *end, *path));
        slices.into_iter().map(|(.., slice)| slice).collect()
    }

    /// If there was no room for all calls that were to be kept for a timeline: the time from which calls were complete
    /// at the last call of [`Machine::profiles`].
    pub fn functions_complete_from(&self) -> Option<Ps> {
        self.profiled.complete_from
    }

    /// By path: its task, and its last function.
    fn named_paths(&self, profile: &CoreProfile) -> Vec<Named> {
        let core = self.core_named(&profile.name);
        let image = core.and_then(|core| self.program(core)).map(|program| &program.image);
        let names = Names::default();
        let loaded = |address: u32| Some(loaded_at(self.cores[core?].loaded_functions(), address)?.name.clone());
        let function = |address: u32| {
            let symbol = image.and_then(|image| image.function_at(address));
            let name = symbol.map(|symbol| names.readable(&symbol.name)).filter(|name| !name.is_empty());
            name.or_else(|| loaded(address)).unwrap_or_else(|| format!("{address:#x}"))
        };
        let mut named: Vec<Named> = Vec::with_capacity(profile.paths.len());
        for CallPath { parent, kind, address, name, .. } in &profile.paths {
            let (task, stack) = match parent.map(|parent| &named[parent as usize]) {
                Some(parent) => (parent.task.clone(), parent.stack),
                None if name.is_empty() => (address.map(function).unwrap_or_default(), named.len() as u32),
                None => (name.clone(), named.len() as u32),
            };
            let own = match (kind, address) {
                (PathKind::Function, Some(address)) if name.is_empty() => function(*address),
                _ => name.clone(),
            };
            named.push(Named { task, stack, name: own });
        }
        named
    }

    /// The source places of addresses in a core's program, each with the innermost function first; `None` if there is
    /// no such core.
    pub fn places(&self, core: &str, addrs: &[u32]) -> Option<Vec<Vec<Place>>> {
        let core = self.core_named(core)?;
        let unknown =
            || vec![vec![Place { function: String::new(), file: None, line: None, column: None }]; addrs.len()];
        let known = |program: &Program| debug::places_of(&program.elf, &program.image, addrs);
        let mut places = self.program(core).map_or_else(unknown, known);
        let loaded = self.cores[core].loaded_functions();
        for (frames, addr) in places.iter_mut().zip(addrs) {
            if let [place] = &mut frames[..]
                && place.function.is_empty()
                && let Some(function) = loaded_at(loaded, *addr)
            {
                place.function.clone_from(&function.name);
            }
        }
        Some(places)
    }

    /// The functions of a core's program, and those that its kernel has loaded: address, size, name.
    pub fn functions(&self, core: &str) -> Option<Vec<(u32, u32, String)>> {
        let core = self.core_named(core)?;
        let program = self.program(core)?;
        let names = Names::default();
        let symbols = program.image.symbols.iter();
        let own = symbols.map(|symbol| (symbol.addr, symbol.bytes, names.readable(&symbol.name)));
        let loaded = self.cores[core].loaded_functions().iter();
        Some(own.chain(loaded.map(|one| (one.address, one.bytes, one.name.clone()))).collect())
    }
}

/// The function of a module that contains an address, of functions by address.
fn loaded_at(functions: &[LoadedFunction], address: u32) -> Option<&LoadedFunction> {
    let before = functions.partition_point(|function| function.address <= address);
    let last = functions[..before].last()?;
    (address - last.address < last.bytes.max(1)).then_some(last)
}

/// What a program has if it is a Linux kernel.
fn linux_kernel(program: &Program) -> Option<LinuxKernel> {
    let address = |name: &str| elf::addresses_of(&program.elf, &[name]).first().copied();
    let symbols = &program.image.symbols;
    let function = |name: &str| symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.addr);
    function("ret_from_fork")?;
    Some(LinuxKernel {
        switches: function("__switch_to")?,
        loads: function("do_init_module"),
        modules: address("modules"),
    })
}

/// A real-time operating system whose tasks have names.
struct Kernel {
    /// The variable that leads to the running task, and the members of structures on the path from there.
    variable: &'static str,
    members: &'static [(&'static str, &'static str)],
    /// The name in a task's structure.
    name: (&'static str, &'static str),
    is_pointer: bool,
}

/// FreeRTOS; Zephyr; ChibiOS/RT from 21.11 on, and before; NuttX, whose list of ready tasks begins with the running
/// one.
const KERNELS: [Kernel; 5] = [
    Kernel { variable: "pxCurrentTCB", members: &[], name: ("tskTaskControlBlock", "pcTaskName"), is_pointer: false },
    Kernel {
        variable: "_kernel",
        members: &[("z_kernel", "cpus"), ("_cpu", "current")],
        name: ("k_thread", "name"),
        is_pointer: false,
    },
    Kernel {
        variable: "ch0",
        members: &[("ch_os_instance", "rlist"), ("ch_ready_list", "current")],
        name: ("ch_thread", "name"),
        is_pointer: true,
    },
    Kernel {
        variable: "ch",
        members: &[("ch_system", "rlist"), ("ch_ready_list", "current")],
        name: ("ch_thread", "name"),
        is_pointer: true,
    },
    Kernel { variable: "g_readytorun", members: &[], name: ("tcb_s", "name"), is_pointer: false },
];

/// The place of the running task's name in the program's operating system, if it is a known one.
fn task_name(elf: &[u8]) -> Option<TaskName> {
    KERNELS.iter().find_map(|kernel| {
        let mut variable = elf::addresses_of(elf, &[kernel.variable]).first().copied()?;
        for (structure, member) in kernel.members {
            variable = variable.wrapping_add(debug::member_offset(elf, structure, member)?);
        }
        let offset = debug::member_offset(elf, kernel.name.0, kernel.name.1)?;
        Some(TaskName { variable, offset, bytes: LONGEST_NAME_BYTES, is_pointer: kernel.is_pointer })
    })
}
