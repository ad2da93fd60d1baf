//! The tasks and modules of a Linux kernel for Arm, by its own structures in memory.
//!
//! No layout is known beforehand, as it depends on version and configuration. In the structure of the idle task the
//! name is found by its text. The list of all tasks is found by its form: it leads from the idle task to the first
//! process, which has number 1 as a process and as a thread, and to `kthreadd`, which has number 2.

use std::collections::BTreeMap;

use super::paths::Paths;
use crate::bus::Bus;
use crate::cpu::calls::TaskSwitch;
use crate::observe::profile::{LinuxKernel, LoadedFunction};
use crate::semihosting::program_memory::View;
use crate::state::{Fresh, State};

/// TASK_COMM_LEN: bytes of a task's name, with the 0 at its end.
const NAME_BYTES: u32 = 16;
/// The name of the idle task of each core: "swapper", or "swapper/0".
const IDLE: [u8; 7] = *b"swapper";
/// Bytes of a task's structure in which its name is looked for.
const MOST_TASK_BYTES: u32 = 8 << 10;
/// Bytes of the older `thread_info` in which the address of its task is looked for.
const MOST_INFO_BYTES: u32 = 64;
/// How often the numbers of tasks are looked for.
const MOST_ATTEMPTS: u32 = 1000;
/// Most tasks that are kept apart.
const MOST_TASKS: usize = 1 << 10;
const OTHER_TASKS: &str = "further tasks";

/// The name of a module in its structure, after its state and its place in the list of modules.
const MODULE_NAME: u32 = 12;
/// MODULE_NAME_LEN: 64 bytes less a word.
const MODULE_NAME_BYTES: u32 = 60;
/// Bytes of a module's structure in which its symbols are looked for.
const MOST_MODULE_BYTES: u32 = 2 << 10;
/// Size of a symbol in an ELF file.
const SYMBOL_BYTES: u32 = 16;
/// A symbol's type in an ELF file: a function.
const FUNCTION: u8 = 2;
/// Most symbols of a module, and most bytes of a symbol's name.
const MOST_SYMBOLS: u32 = 1 << 16;
const MOST_SYMBOL_BYTES: u32 = 256;
const MOST_MODULES: usize = 1 << 10;

/// The memory of the kernel, by virtual addresses.
pub struct Words<'a> {
    pub view: &'a dyn View,
    pub bus: &'a Bus,
}

impl Words<'_> {
    fn word(&self, at: u32) -> Option<u32> {
        let (physical, room) = self.view.physical(self.bus, at, false)?;
        if room >= 4 { self.bus.peek_word(physical) } else { None }
    }

    fn byte(&self, at: u32) -> Option<u8> {
        let mut byte = [0];
        let (physical, _) = self.view.physical(self.bus, at, false)?;
        self.bus.peek(physical, &mut byte).then_some(byte[0])
    }

    /// The text up to a 0; `None` if it has other characters than a name has, or is longer than `most` bytes.
    fn text(&self, at: u32, most: u32) -> Option<String> {
        let mut text = String::new();
        for offset in 0..most {
            match self.byte(at.wrapping_add(offset))? {
                0 => return (!text.is_empty()).then_some(text),
                byte if byte.is_ascii_graphic() || byte == b' ' => text.push(char::from(byte)),
                _ => return None,
            }
        }
        None
    }
}

/// The task of a stack.
#[derive(Clone, Debug, State, Fresh)]
struct Task {
    /// Its path in the profile.
    path: u32,
    /// Its number, if known: the memory may be another task's later.
    number: Option<u32>,
}

/// Where things are in a task's structure.
#[derive(Clone, Debug, Default, State, Fresh)]
struct Layout {
    /// The address of the idle task.
    idle: u32,
    name: Option<u32>,
    /// The task's number, as which a thread's is shown.
    number: Option<u32>,
    /// The address of the task in `thread_info`, if that is not the start of the task itself.
    task: Option<u32>,
}

/// What is known of a kernel's tasks and modules.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct Linux {
    kernel: LinuxKernel,
    /// The core had not run before: the code before the first switch is the kernel's start.
    begins_at_reset: bool,
    switches: u64,
    attempts: u32,
    layout: Layout,
    /// By the address of the structure.
    tasks: BTreeMap<u32, Task>,
    /// The tasks that have begun, and the path that those share for which there is no room.
    begun: usize,
    shared: Option<u32>,
    /// By path: of tasks, and of modules' functions whose memory others have now.
    names: BTreeMap<u32, String>,
    /// The name of the task that runs next.
    next: Option<(Option<u32>, String)>,
    /// By address.
    loaded: Vec<LoadedFunction>,
}

impl Linux {
    /// Nothing is known of this kernel yet.
    pub fn new(kernel: &LinuxKernel, begins_at_reset: bool) -> Linux {
        Linux { kernel: kernel.clone(), begins_at_reset, ..Linux::default() }
    }

    /// Looks at the tasks of a switch; the function that switches has these arguments. Returns the switch, if it is
    /// one, and the entries of functions that have become known.
    pub fn switch(&mut self, arguments: [u32; 4], paths: &mut Paths, memory: &Words) -> (Option<TaskSwitch>, Vec<u32>) {
        let [previous, previous_info, next_info, _] = arguments;
        let is_first = self.switches == 0;
        self.switches += 1;
        let Some(next) = self.task_of(previous, previous_info, next_info, memory) else { return (None, Vec::new()) };
        self.find_layout(&[previous, next], memory);
        let loaded = if is_first && !self.begins_at_reset { self.load_all(paths, memory) } else { Vec::new() };
        if is_first && !self.begins_at_reset {
            self.tasks.insert(previous, Task { path: 0, number: self.number(previous, memory) });
        }
        self.name(previous, memory);
        self.name(next, memory);
        self.next = self.named(next, memory);
        // The start of the kernel is not the idle task, which it becomes.
        let is_start = self.begins_at_reset && is_first;
        (Some(TaskSwitch { from: (!is_start).then_some(previous), to: next }), loaded)
    }

    /// The task of a `thread_info`: it begins with that, or an older one has its address.
    fn task_of(&mut self, previous: u32, previous_info: u32, info: u32, memory: &Words) -> Option<u32> {
        if previous == previous_info {
            return Some(info);
        }
        let mut places = (0..MOST_INFO_BYTES).step_by(4);
        let has_task = |place: &u32| memory.word(previous_info.wrapping_add(*place)) == Some(previous);
        self.layout.task = self.layout.task.or_else(|| places.find(has_task));
        memory.word(info.wrapping_add(self.layout.task?))
    }

    fn find_layout(&mut self, tasks: &[u32], memory: &Words) {
        if self.attempts >= MOST_ATTEMPTS || self.layout.number.is_some() {
            return;
        }
        self.attempts += 1;
        if self.layout.name.is_none() {
            let found = tasks.iter().find_map(|task| Some((*task, idle_name(*task, memory)?)));
            let Some((idle, name)) = found else { return };
            (self.layout.idle, self.layout.name) = (idle, Some(name));
        }
        if let Some(name) = self.layout.name {
            self.layout.number = number_in_task(self.layout.idle, name, memory);
        }
    }

    fn number(&self, task: u32, memory: &Words) -> Option<u32> {
        memory.word(task.wrapping_add(self.layout.number?))
    }

    /// A task's number, and its name with that.
    fn named(&self, task: u32, memory: &Words) -> Option<(Option<u32>, String)> {
        let name = memory.text(task.wrapping_add(self.layout.name?), NAME_BYTES)?;
        let number = self.number(task, memory);
        Some(match number {
            Some(0) => (number, format!("{} 0 (idle)", name.split('/').next().unwrap_or_default())),
            Some(shown) => (number, format!("{name} {shown}")),
            None => (None, name),
        })
    }

    /// Gives a known task the name that it has now.
    fn name(&mut self, task: u32, memory: &Words) {
        let Some((number, name)) = self.named(task, memory) else { return };
        let Some(known) = self.tasks.get_mut(&task) else { return };
        if known.number.is_none() || known.number == number {
            known.number = number;
            self.names.insert(known.path, name);
        }
    }

    /// Gives all tasks the names that they have now.
    pub fn name_tasks(&mut self, memory: &Words) {
        let tasks: Vec<u32> = self.tasks.keys().copied().collect();
        tasks.into_iter().for_each(|task| self.name(task, memory));
    }

    /// A task begins, on a new path of the profile, or, if there are too many tasks, on one that several share.
    pub fn begin_task(&mut self, task: u32, new_path: impl FnOnce() -> Option<u32>) -> u32 {
        let (number, name) = self.next.take().unwrap_or_else(|| (None, format!("task at {task:#010x}")));
        let Some(path) = self.shared.or_else(new_path) else { return 0 };
        self.begun += 1;
        if self.begun >= MOST_TASKS {
            self.shared = Some(path);
            self.names.insert(path, OTHER_TASKS.to_owned());
            self.tasks.remove(&task);
        } else {
            self.names.insert(path, name);
            self.tasks.insert(task, Task { path, number });
        }
        path
    }

    /// The name of a path that has one of its own.
    pub fn name_of(&self, path: u32) -> Option<&str> {
        self.names.get(&path).map(String::as_str)
    }

    /// What could not be found, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.switches > 0 && self.layout.name.is_none() {
            notes.push("the kernel's tasks have no names: its idle task was not found".to_owned());
        } else if self.switches > 0 && self.layout.number.is_none() {
            notes.push("the kernel's tasks have no numbers: its list of tasks was not found".to_owned());
        }
        notes
    }

    // ---- Modules

    /// The functions of modules.
    pub fn loaded(&self) -> &[LoadedFunction] {
        &self.loaded
    }

    /// Takes the functions of a module that has just been loaded. Returns their entries.
    pub fn load(&mut self, module: u32, paths: &mut Paths, memory: &Words) -> Vec<u32> {
        let found = functions_of(module, memory).unwrap_or_default();
        let entries: Vec<u32> = found.iter().map(|function| function.address).collect();
        // Memory of a module that was removed, or of code that ran once, may be reused.
        let is_in = |function: &LoadedFunction, at: u32| at.wrapping_sub(function.address) < function.bytes.max(1);
        let is_old = |old: &LoadedFunction| found.iter().any(|new| is_in(new, old.address) || is_in(old, new.address));
        let (old, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.loaded).into_iter().partition(is_old);
        let name = |address: u32| Some(&old.iter().find(|old| old.address == address)?.name);
        for (path, address) in paths.end_functions(|address| name(address).is_some()) {
            self.names.extend(name(address).map(|name| (path, name.clone())));
        }
        self.loaded = [kept, found].concat();
        self.loaded.sort();
        entries
    }

    /// Takes the functions of all modules that were loaded before. Returns their entries.
    fn load_all(&mut self, paths: &mut Paths, memory: &Words) -> Vec<u32> {
        let Some(list) = self.kernel.modules else { return Vec::new() };
        let mut entries = Vec::new();
        let mut node = list;
        for _ in 0..MOST_MODULES {
            node = match memory.word(node) {
                Some(next) if next != list => next,
                _ => break,
            };
            // The list goes through the modules' second words.
            entries.extend(self.load(node.wrapping_sub(4), paths, memory));
        }
        entries
    }
}

/// Where the idle task's name is in its structure; `None` if it is another task.
fn idle_name(task: u32, memory: &Words) -> Option<u32> {
    let begin = u32::from_le_bytes([IDLE[0], IDLE[1], IDLE[2], IDLE[3]]);
    (0..MOST_TASK_BYTES).step_by(4).find(|place| {
        let at = task.wrapping_add(*place);
        let is_name = |name: String| name.as_bytes() == IDLE || name.as_bytes().starts_with(b"swapper/");
        memory.word(at) == Some(begin) && memory.text(at, NAME_BYTES).is_some_and(is_name)
    })
}

/// Where the number is in a task's structure, in front of the name, by the list of all tasks.
fn number_in_task(idle: u32, name: u32, memory: &Words) -> Option<u32> {
    (0..name).step_by(4).find_map(|list| {
        let head = idle.wrapping_add(list);
        let first = memory.word(head).filter(|first| *first != head)?;
        let second = memory.word(first)?;
        let back = [first, second].map(|node| memory.word(node.wrapping_add(4)));
        if back != [Some(head), Some(first)] {
            return None;
        }
        let tasks = [idle, first.wrapping_sub(list), second.wrapping_sub(list)];
        (0..name).step_by(4).find(|place| {
            let has = |(task, number): (u32, u32)| {
                let at = task.wrapping_add(*place);
                [at, at.wrapping_add(4)].iter().all(|at| memory.word(*at) == Some(number))
            };
            tasks.into_iter().zip(0..).all(has)
        })
    })
}

/// The functions of a module by its structure; `None` if it has no symbols.
fn functions_of(module: u32, memory: &Words) -> Option<Vec<LoadedFunction>> {
    let name = memory.text(module.wrapping_add(MODULE_NAME), MODULE_NAME_BYTES)?;
    let first = MODULE_NAME + MODULE_NAME_BYTES;
    let mut places = (first..MOST_MODULE_BYTES).step_by(4);
    let table = places.find_map(|place| SymbolTable::at(memory.word(module.wrapping_add(place))?, memory))?;
    let functions = (1..table.count).filter_map(|number| table.function(number, memory));
    let named = functions.map(|function| LoadedFunction { name: format!("{} [{name}]", function.name), ..function });
    Some(named.collect())
}

/// A module's symbols: `struct mod_kallsyms`.
struct SymbolTable {
    symbols: u32,
    count: u32,
    names: u32,
}

impl SymbolTable {
    /// The table at an address, if it is one: its first symbol and its first name are empty.
    fn at(address: u32, memory: &Words) -> Option<SymbolTable> {
        if !address.is_multiple_of(4) {
            return None;
        }
        let [symbols, count, names] = [0, 4, 8].map(|offset| memory.word(address.wrapping_add(offset)));
        let table = SymbolTable { symbols: symbols?, count: count?, names: names? };
        let is_aligned = table.symbols.is_multiple_of(4) && (2..MOST_SYMBOLS).contains(&table.count);
        if !is_aligned || memory.byte(table.names)? != 0 {
            return None;
        }
        let is_empty = (0..4).all(|word| memory.word(table.symbols.wrapping_add(4 * word)) == Some(0));
        let has_functions = || (1..table.count).any(|number| table.function(number, memory).is_some());
        (is_empty && has_functions()).then_some(table)
    }

    /// A symbol, if it is a function of the module.
    fn function(&self, number: u32, memory: &Words) -> Option<LoadedFunction> {
        let at = self.symbols.wrapping_add(number * SYMBOL_BYTES);
        let [name, address, bytes, kind] = [0, 4, 8, 12].map(|offset| memory.word(at.wrapping_add(offset)));
        let [info, _, section @ ..] = kind?.to_le_bytes();
        // Older kernels put nm's letter in place of binding and type.
        let is_function = info & 0xf == FUNCTION && info >> 4 <= 2 || b"tTwW".contains(&info);
        if !is_function || section == [0, 0] {
            return None;
        }
        let name = memory.text(self.names.wrapping_add(name?), MOST_SYMBOL_BYTES)?;
        // An assembler's labels that mark code and data.
        let is_mark = name.starts_with('$');
        (!is_mark).then_some(LoadedFunction { address: address? & !1, bytes: bytes?, name })
    }
}

#[cfg(test)]
mod tests;
