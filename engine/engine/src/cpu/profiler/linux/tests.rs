use super::super::counters::Counters;
use super::super::paths::NO_SITE;
use super::*;
use crate::bus::{MapEntry, Target};
use crate::cpu::memory_system::Identity;
use crate::memory::ram::{PortTiming, Ram};
use crate::time::{Cycles, Hz};

const BASE: u32 = 0x8000_0000;
/// The idle task, the first process and `kthreadd`.
const IDLE_TASK: u32 = BASE + 0x1000;
const INIT: u32 = BASE + 0x3000;
const KTHREADD: u32 = BASE + 0x5000;
const SHELL: u32 = BASE + 0x7000;
/// Places in the structure of a task.
const LIST: u32 = 0x88;
const CHILDREN: u32 = 0x40;
const NUMBER: u32 = 0xa4;
const NAME: u32 = 0x1f4;
const MODULE: u32 = BASE + 0x9000;

struct Kernel(Bus);

impl Kernel {
    fn new() -> Kernel {
        let mut bus = Bus::default();
        let clock = Hz::new(50_000_000).unwrap();
        bus.rams.push(Ram::new(0x10000, PortTiming::symmetric(clock, Cycles(3), Cycles(1), 4)));
        bus.map.push(MapEntry::new("ram", BASE, BASE + 0xffff, Target::Ram(0)));
        let mut kernel = Kernel(bus);
        kernel.task(IDLE_TASK, "swapper/0", 0);
        kernel.task(INIT, "swapper/0", 1);
        kernel.task(KTHREADD, "kthreadd", 2);
        kernel.list(&[IDLE_TASK, INIT, KTHREADD], LIST);
        // A list of the same form: of children, which are linked elsewhere.
        kernel.words(IDLE_TASK + CHILDREN, &[KTHREADD + 8 + CHILDREN, INIT + 8 + CHILDREN]);
        kernel
    }

    fn words(&mut self, at: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().copied().flat_map(u32::to_le_bytes).collect();
        self.bytes(at, &bytes);
    }

    fn bytes(&mut self, at: u32, bytes: &[u8]) {
        assert!(self.0.poke(at, bytes));
    }

    fn task(&mut self, at: u32, name: &str, number: u32) {
        self.words(at + NUMBER, &[number, number]);
        self.text(at + NAME, name);
    }

    fn text(&mut self, at: u32, text: &str) {
        self.bytes(at, &[text.as_bytes(), &[0]].concat());
    }

    fn list(&mut self, tasks: &[u32], place: u32) {
        for (number, task) in tasks.iter().enumerate() {
            let [next, back] = [number + 1, number + tasks.len() - 1].map(|other| tasks[other % tasks.len()] + place);
            self.words(task + place, &[next, back]);
        }
    }

    fn memory(&self) -> Words<'_> {
        Words { view: &Identity, bus: &self.0 }
    }
}

fn no_paths() -> Paths {
    Paths::new(Vec::new(), false)
}

/// Switches to a task that begins, on path `path`.
fn begin(linux: &mut Linux, kernel: &Kernel, from: u32, to: u32, path: u32) -> Option<String> {
    linux.switch([from, from, to, 0], &mut no_paths(), &kernel.memory()).0?;
    assert_eq!(linux.begin_task(to, || Some(path)), path);
    linux.name_of(path).map(str::to_owned)
}

#[test]
fn names_and_numbers_are_found_without_a_layout() {
    let kernel = Kernel::new();
    let mut linux = Linux::new(&LinuxKernel::default(), true);
    assert_eq!(begin(&mut linux, &kernel, IDLE_TASK, KTHREADD, 1).unwrap(), "kthreadd 2");
    assert_eq!(begin(&mut linux, &kernel, KTHREADD, INIT, 2).unwrap(), "swapper/0 1");
    assert_eq!(begin(&mut linux, &kernel, INIT, IDLE_TASK, 3).unwrap(), "swapper 0 (idle)");
    assert!(linux.notes().is_empty());
}

#[test]
fn a_task_has_the_name_that_it_had_last() {
    let mut kernel = Kernel::new();
    let mut linux = Linux::new(&LinuxKernel::default(), true);
    begin(&mut linux, &kernel, IDLE_TASK, INIT, 1);
    kernel.task(SHELL, "init", 60);
    kernel.text(INIT + NAME, "init");
    begin(&mut linux, &kernel, INIT, SHELL, 2);
    assert_eq!(linux.name_of(1), Some("init 1"));
    kernel.text(SHELL + NAME, "dd");
    linux.name_tasks(&kernel.memory());
    assert_eq!(linux.name_of(2), Some("dd 60"));
    // It ends, and another task has its memory.
    kernel.task(SHELL, "md5sum", 61);
    linux.name_tasks(&kernel.memory());
    assert_eq!(linux.name_of(2), Some("dd 60"));
    assert_eq!(begin(&mut linux, &kernel, INIT, SHELL, 3).unwrap(), "md5sum 61");
    assert_eq!(linux.name_of(2), Some("dd 60"));
}

#[test]
fn an_older_thread_info_has_the_address_of_its_task() {
    let mut kernel = Kernel::new();
    let infos = [BASE + 0xc000, BASE + 0xe000];
    for (info, task) in infos.into_iter().zip([IDLE_TASK, INIT]) {
        kernel.words(info, &[0, 1, 0, task]);
    }
    let mut linux = Linux::new(&LinuxKernel::default(), true);
    let (switch, _) = linux.switch([IDLE_TASK, infos[0], infos[1], 0], &mut no_paths(), &kernel.memory());
    assert_eq!(switch, Some(TaskSwitch { from: None, to: INIT }));
    let (switch, _) = linux.switch([INIT, infos[1], infos[0], 0], &mut no_paths(), &kernel.memory());
    assert_eq!(switch, Some(TaskSwitch { from: Some(INIT), to: IDLE_TASK }));
}

#[test]
fn what_is_not_found_is_said() {
    let mut kernel = Kernel::new();
    kernel.text(IDLE_TASK + NAME, "");
    kernel.text(INIT + NAME, "");
    let mut linux = Linux::new(&LinuxKernel::default(), true);
    assert_eq!(begin(&mut linux, &kernel, IDLE_TASK, INIT, 1).unwrap(), "task at 0x80003000");
    assert_eq!(linux.notes(), ["the kernel's tasks have no names: its idle task was not found"]);
    let mut kernel = Kernel::new();
    kernel.words(IDLE_TASK + LIST, &[0, 0]);
    let mut linux = Linux::new(&LinuxKernel::default(), true);
    assert_eq!(begin(&mut linux, &kernel, IDLE_TASK, KTHREADD, 1).unwrap(), "kthreadd");
    assert_eq!(linux.notes(), ["the kernel's tasks have no numbers: its list of tasks was not found"]);
}

#[test]
fn tasks_beyond_the_room_share_a_path() {
    let mut kernel = Kernel::new();
    let mut linux = Linux::new(&LinuxKernel::default(), true);
    begin(&mut linux, &kernel, IDLE_TASK, INIT, 1);
    for number in 2..2 * MOST_TASKS as u32 {
        kernel.task(SHELL, "sh", number + 100);
        let expected = number.min(MOST_TASKS as u32);
        linux.switch([INIT, INIT, SHELL, 0], &mut no_paths(), &kernel.memory());
        assert_eq!(linux.begin_task(SHELL, || Some(number)), expected);
    }
    assert_eq!(linux.name_of(MOST_TASKS as u32), Some(OTHER_TASKS));
}

/// A module with a function, a variable, a mark, and a function of another module.
fn with_module() -> Kernel {
    let mut kernel = Kernel::new();
    let [table, symbols, names] = [MODULE + 0x400, MODULE + 0x800, MODULE + 0xc00];
    kernel.text(MODULE + MODULE_NAME, "rpmsg_core");
    // Something else that is near.
    kernel.words(MODULE + 0x7c, &[MODULE + 0x500, 7]);
    kernel.words(MODULE + 0xa4, &[table]);
    kernel.words(table, &[symbols, 5, names]);
    kernel.bytes(names, b"\0probe\0count\0$a\0printk\0");
    let of =
        |name: u32, address: u32, bytes: u32, info: u32, section: u32| [name, address, bytes, info | section << 16];
    let all = [
        of(0, 0, 0, 0, 0),
        of(1, 0xbf00_0101, 0x40, 0x02, 1),
        of(7, 0xbf00_0800, 4, 0x11, 3),
        of(13, 0xbf00_0100, 0, 0x00, 1),
        of(16, 0, 0, 0x12, 0),
    ];
    kernel.words(symbols, all.as_flattened());
    kernel
}

#[test]
fn a_module_has_its_functions() {
    let kernel = with_module();
    let mut linux = Linux::new(&LinuxKernel::default(), true);
    let probe = LoadedFunction { address: 0xbf00_0100, bytes: 0x40, name: "probe [rpmsg_core]".to_owned() };
    assert_eq!(linux.load(MODULE, &mut no_paths(), &kernel.memory()), [0xbf00_0100]);
    assert_eq!(linux.loaded(), [probe]);
    assert!(linux.load(SHELL, &mut no_paths(), &kernel.memory()).is_empty());
    assert_eq!(linux.load(MODULE, &mut no_paths(), &kernel.memory()), [0xbf00_0100]);
    assert_eq!(linux.loaded().len(), 1);
}

#[test]
fn a_path_keeps_the_name_of_a_function_whose_memory_another_has() {
    let mut kernel = with_module();
    let mut linux = Linux::new(&LinuxKernel::default(), true);
    let (mut counters, mut paths) = (Counters::new(), no_paths());
    let task = paths.add_task(&mut counters, 0, String::new()).unwrap();
    linux.load(MODULE, &mut paths, &kernel.memory());
    let before = paths.function(&mut counters, task, 0xbf00_0100, NO_SITE);
    kernel.text(MODULE + MODULE_NAME, "rpmsg_ns");
    linux.load(MODULE, &mut paths, &kernel.memory());
    let after = paths.function(&mut counters, task, 0xbf00_0100, NO_SITE);
    assert_ne!(before, after);
    assert_eq!(linux.name_of(before), Some("probe [rpmsg_core]"));
    assert_eq!((linux.name_of(after), &*linux.loaded()[0].name), (None, "probe [rpmsg_ns]"));
}

#[test]
fn modules_that_were_loaded_before_are_found_by_their_list() {
    let mut kernel = with_module();
    let list = BASE + 0xf000;
    kernel.words(list, &[MODULE + 4, MODULE + 4]);
    kernel.words(MODULE + 4, &[list, list]);
    let kernel_symbols = LinuxKernel { modules: Some(list), ..LinuxKernel::default() };
    let mut linux = Linux::new(&kernel_symbols, false);
    let (switch, loaded) = linux.switch([IDLE_TASK, IDLE_TASK, INIT, 0], &mut no_paths(), &kernel.memory());
    assert_eq!(loaded, [0xbf00_0100]);
    // The task of the first stack is known, too.
    assert_eq!(switch, Some(TaskSwitch { from: Some(IDLE_TASK), to: INIT }));
    assert_eq!(linux.name_of(0), Some("swapper 0 (idle)"));
}
