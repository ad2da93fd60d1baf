use std::path::PathBuf;

use super::program_memory::View;
use super::*;
use crate::bus::{MapEntry, Target};
use crate::host::folder::Folder;
use crate::host::input::Input;
use crate::host::recorded::Recorded;
use crate::memory::ram::{PortTiming, Ram};
use crate::time::{Cycles, Hz, Ps};

/// 64 KiB of memory, and addresses in it.
const RAM: u32 = 0x1000_0000;
const BLOCK: u32 = RAM;
const NAME: u32 = RAM + 0x100;
const OTHER_NAME: u32 = RAM + 0x180;
const DATA: u32 = RAM + 0x200;
const RAM_LAST: u32 = RAM + 0xffff;
const NOWHERE: u32 = 0x2000_0000;

/// A calling program, and a folder that is removed at the end.
struct Rig {
    bus: Bus,
    now: Ps,
    path: PathBuf,
}

/// The addresses of a core without translation.
struct Physical;

impl View for Physical {
    fn physical(&self, _: &Bus, va: u32, _: bool) -> Option<(u32, u32)> {
        Some((va, u32::MAX))
    }
}

impl Rig {
    fn new(name: &str) -> Rig {
        let timing = PortTiming::symmetric(Hz::new(100_000_000).unwrap(), Cycles(1), Cycles(1), 4);
        let mut bus = Bus::default();
        bus.rams.push(Ram::new(0x1_0000, timing));
        let (target, name_of) = (Target::Ram(0), "ram".to_owned());
        bus.map.push(MapEntry::new(name_of, RAM, RAM_LAST, target));
        let path = std::env::temp_dir().join(format!("cyclescope-semihosting-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        bus.host.set_folder(Folder::open(&path).unwrap());
        Rig { bus, now: Ps(0), path }
    }

    fn answer(&mut self, operation: u32, parameter: u32) -> Answer {
        call(Caller { bus: &mut self.bus, view: &Physical, now: self.now }, operation, parameter)
    }

    /// The value of a call with a block of parameters; negative if it failed.
    fn value(&mut self, operation: u32, block: &[u32]) -> i32 {
        self.put_words(BLOCK, block);
        match self.answer(operation, BLOCK) {
            Answer::Value(value) => value as i32,
            other => panic!("{other:?}"),
        }
    }

    fn put_words(&mut self, addr: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.put(addr, &bytes);
    }

    fn put(&mut self, addr: u32, bytes: &[u8]) {
        assert!(self.bus.poke(addr, bytes));
    }

    fn memory(&self, addr: u32, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        assert!(self.bus.peek(addr, &mut bytes));
        bytes
    }

    fn open(&mut self, name: &str, mode: u32) -> i32 {
        self.put(NAME, name.as_bytes());
        self.value(SYS_OPEN, &[NAME, mode, name.len() as u32])
    }

    fn errno(&mut self) -> u32 {
        self.value(SYS_ERRNO, &[]) as u32
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.path).unwrap();
    }
}

#[test]
fn a_file_is_written_read_and_measured() {
    let mut rig = Rig::new("file");
    let out = rig.open("file", 5) as u32;
    assert!(out >= 4);
    rig.put(DATA, b"0123456789");
    assert_eq!(rig.value(SYS_WRITE, &[out, DATA, 10]), 0);
    assert_eq!((rig.value(SYS_ISTTY, &[out]), rig.value(SYS_FLEN, &[out])), (0, 10));
    assert_eq!(rig.value(SYS_CLOSE, &[out]), 0);
    assert_eq!(std::fs::read(rig.path.join("file")).unwrap(), b"0123456789");
    let again = rig.open("file", 1) as u32;
    assert_eq!((again, rig.value(SYS_SEEK, &[again, 4])), (out, 0));
    // of 20 requested bytes, 6 came
    assert_eq!(rig.value(SYS_READ, &[again, DATA, 20]), 14);
    assert_eq!(rig.memory(DATA, 10), b"4567896789");
    assert_eq!(rig.value(SYS_READ, &[again, DATA, 20]), 20);
    // it is not open for writing
    assert_eq!((rig.value(SYS_WRITE, &[again, DATA, 3]), rig.errno()), (3, Errno::BAD_HANDLE.0));
    assert_eq!((rig.value(SYS_WRITE, &[again, DATA, 0]), rig.value(SYS_READ, &[again, DATA, 0])), (0, 0));
}

#[test]
fn files_are_renamed_and_removed() {
    let mut rig = Rig::new("names");
    let handle = rig.open("one", 4) as u32;
    rig.value(SYS_CLOSE, &[handle]);
    rig.put(OTHER_NAME, b"two");
    assert_eq!(rig.value(SYS_RENAME, &[NAME, 3, OTHER_NAME, 3]), 0);
    assert_eq!((rig.value(SYS_REMOVE, &[NAME, 3]), rig.errno()), (-1, Errno::NO_ENTRY.0));
    assert_eq!(rig.value(SYS_REMOVE, &[OTHER_NAME, 3]), 0);
    assert_eq!(std::fs::read_dir(&rig.path).unwrap().count(), 0);
}

#[test]
fn handles_are_few_and_used_again() {
    let mut rig = Rig::new("handles");
    let first = rig.open("file", 4);
    let handles: Vec<i32> = (0..63).map(|_| rig.open("file", 0)).collect();
    assert_eq!(handles, (first + 1..first + 64).collect::<Vec<i32>>());
    assert_eq!((rig.open("other", 4), rig.errno()), (-1, Errno::TOO_MANY_FILES.0));
    assert!(!rig.path.join("other").exists());
    assert_eq!(rig.value(SYS_CLOSE, &[first as u32 + 5]), 0);
    assert_eq!(rig.value(SYS_CLOSE, &[first as u32 + 5]), -1);
    assert_eq!(rig.open(":semihosting-features", 0), first + 5);
    for handle in [68, 1000, u32::MAX] {
        assert_eq!((rig.value(SYS_CLOSE, &[handle]), rig.errno()), (-1, Errno::BAD_HANDLE.0));
        assert_eq!(rig.value(SYS_ISTTY, &[handle]), -1);
        assert_eq!(rig.value(SYS_WRITE, &[handle, DATA, 4]), 4);
    }
}

#[test]
fn the_console_takes_output_and_errors() {
    let mut rig = Rig::new("console");
    let handles = [0, 1, 4, 5, 8, 11].map(|mode| rig.open(":tt", mode));
    assert_eq!(handles, [3, 3, 1, 1, 2, 2]);
    rig.put(DATA, b"text\0more");
    for handle in [1, 2] {
        assert_eq!(rig.value(SYS_WRITE, &[handle, DATA, 4]), 0);
    }
    assert_eq!((rig.answer(SYS_WRITE0, DATA), rig.answer(SYS_WRITEC, DATA)), (Answer::Value(0), Answer::Value(0)));
    assert_eq!(rig.bus.output.take().0, b"texttexttextt");
    assert_eq!([0, 1, 2, 3].map(|handle| rig.value(SYS_ISTTY, &[handle])), [1; 4]);
    assert_eq!([1, 3].map(|handle| rig.value(SYS_FLEN, &[handle])), [0; 2]);
    assert_eq!((rig.value(SYS_SEEK, &[1, 0]), rig.errno()), (-1, Errno::ILLEGAL_SEEK.0));
    assert_eq!((rig.value(SYS_CLOSE, &[1]), rig.value(SYS_WRITE, &[1, DATA, 1])), (0, 0));
}

#[test]
fn a_text_ends_with_its_0_or_with_memory() {
    let mut rig = Rig::new("text");
    rig.put(RAM_LAST - 2, b"end");
    assert_eq!(rig.answer(SYS_WRITE0, RAM_LAST - 2), Answer::Value(0));
    assert_eq!(rig.bus.output.take().0, b"end");
    assert_eq!((rig.answer(SYS_WRITE0, NOWHERE), rig.errno()), (Answer::Value(FAILED), Errno::FAULT.0));
    assert_eq!(rig.answer(SYS_WRITEC, NOWHERE), Answer::Value(FAILED));
}

#[test]
fn the_features_are_a_file() {
    let mut rig = Rig::new("features");
    let handle = rig.open(":semihosting-features", 0) as u32;
    assert_eq!((rig.value(SYS_FLEN, &[handle]), rig.value(SYS_ISTTY, &[handle])), (5, 0));
    assert_eq!(rig.value(SYS_READ, &[handle, DATA, 8]), 3);
    assert_eq!(rig.memory(DATA, 5), b"SHFB\x03");
    assert_eq!((rig.value(SYS_SEEK, &[handle, 4]), rig.value(SYS_READ, &[handle, DATA, 1])), (0, 0));
    assert_eq!(rig.memory(DATA, 1), [3]);
    assert_eq!((rig.value(SYS_SEEK, &[handle, 77]), rig.value(SYS_READ, &[handle, DATA, 1])), (0, 1));
    assert_eq!(rig.value(SYS_WRITE, &[handle, DATA, 1]), 1);
    assert_eq!(rig.open(":semihosting-features", 4), -1);
}

#[test]
fn input_is_read_up_to_its_end() {
    let mut rig = Rig::new("input");
    assert_eq!((rig.value(SYS_READ, &[0, DATA, 4]), rig.bus.host.notes.lines().len()), (4, 1));
    rig.bus.host.set_input(Input::Bytes(b"abcdef".to_vec(), 0));
    let handle = rig.open(":tt", 0) as u32;
    assert_eq!((rig.value(SYS_READ, &[handle, DATA, 4]), rig.memory(DATA, 4)), (0, b"abcd".to_vec()));
    assert_eq!(rig.value(SYS_READC, &[]), i32::from(b'e'));
    assert_eq!(rig.value(SYS_READ, &[0, DATA, 4]), 3);
    assert_eq!((rig.value(SYS_READC, &[]), rig.value(SYS_READ, &[0, DATA, 4])), (-1, 4));
}

#[test]
fn a_call_waits_for_input() {
    let mut rig = Rig::new("wait");
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    rig.bus.host.set_input(Input::File(Recorded::new(reader.into())));
    rig.put_words(BLOCK, &[0, DATA, 4]);
    for _ in 0..2 {
        assert_eq!((rig.answer(SYS_READ, BLOCK), rig.bus.host.is_waiting()), (Answer::Wait, true));
    }
    rustix::io::write(&writer, b"xy").unwrap();
    assert_eq!((rig.answer(SYS_READ, BLOCK), rig.bus.host.is_waiting()), (Answer::Value(2), false));
    assert_eq!(rig.memory(DATA, 2), b"xy");
    drop(writer);
    assert_eq!(rig.value(SYS_READC, &[]), -1);
}

#[test]
fn clocks_are_simulated_time() {
    let mut rig = Rig::new("clocks");
    rig.now = Ps(12_345_678_901_234_567);
    assert_eq!(rig.value(SYS_CLOCK, &[]), 1_234_567);
    assert_eq!(rig.value(SYS_TIME, &[]), 12_345);
    assert_eq!(rig.value(SYS_TICKFREQ, &[]), 1_000_000_000);
    assert_eq!(rig.value(SYS_ELAPSED, &[]), 0);
    assert_eq!(rig.memory(BLOCK, 8), 12_345_678_901_234_u64.to_le_bytes());
}

#[test]
fn the_command_line_is_the_users() {
    let mut rig = Rig::new("arguments");
    let words = ["a.elf", "plain", "with space", "", "it's", "\"", "say \"so\""];
    rig.bus.host.set_arguments(words.map(|word| word.as_bytes().to_vec()).to_vec());
    let line = b"a.elf plain \"with space\" \"\" it's '\"' 'say \"so\"'";
    assert_eq!(rig.value(SYS_GET_CMDLINE, &[DATA, 100]), 0);
    assert_eq!(rig.memory(BLOCK + 4, 4), (line.len() as u32).to_le_bytes());
    assert_eq!(rig.memory(DATA, line.len() + 1), [&line[..], b"\0"].concat());
    assert_eq!(rig.value(SYS_GET_CMDLINE, &[DATA, line.len() as u32]), -1);
    assert!(rig.bus.host.notes.lines()[0].contains("the firmware has room for"));
}

#[test]
fn a_program_ends_with_its_status_or_a_reason() {
    let mut rig = Rig::new("exit");
    assert_eq!(rig.answer(SYS_EXIT, 0x2_0026), Answer::Exit(0));
    rig.put_words(BLOCK, &[0x2_0026, 3]);
    assert_eq!(rig.answer(SYS_EXIT_EXTENDED, BLOCK), Answer::Exit(3));
    assert!(rig.bus.host.notes.lines().is_empty());
    rig.put_words(BLOCK, &[0x2_0023, 6]);
    assert_eq!(rig.answer(SYS_EXIT_EXTENDED, BLOCK), Answer::Exit(1));
    assert_eq!(rig.answer(SYS_EXIT, 0x2_0028), Answer::Exit(1));
    assert_eq!(rig.answer(SYS_EXIT, 7), Answer::Exit(1));
    assert_eq!(rig.answer(SYS_EXIT_EXTENDED, NOWHERE), Answer::Exit(1));
    let notes = rig.bus.host.notes.lines();
    for (note, named) in notes.iter().zip(["ADP_Stopped_RunTimeErrorUnknown", "ADP_Stopped_DivisionByZero", "(0x7)"]) {
        assert!(note.contains(named), "{note}");
    }
}

#[test]
fn small_questions_have_answers() {
    let mut rig = Rig::new("small");
    assert_eq!((rig.value(SYS_ISERROR, &[0]), rig.value(SYS_ISERROR, &[u32::MAX])), (0, 1));
    rig.put_words(DATA, &[1, 2, 3, 4]);
    assert_eq!((rig.value(SYS_HEAPINFO, &[DATA]), rig.memory(DATA, 16)), (0, vec![0; 16]));
    assert_eq!((rig.value(SYS_TMPNAM, &[DATA, 9, 18]), rig.memory(DATA, 18)), (0, b"semihosting-9.tmp\0".to_vec()));
    assert_eq!(rig.value(SYS_TMPNAM, &[DATA, 9, 17]), -1);
    rig.put(NAME, b"rm -r /");
    assert_eq!((rig.value(SYS_SYSTEM, &[NAME, 7]), rig.errno()), (-1, Errno::NOT_THERE.0));
    assert!(rig.bus.host.notes.lines()[0].contains("'rm -r /' was not run"));
    assert_eq!((rig.value(0x99, &[]), rig.errno()), (-1, Errno::NOT_THERE.0));
}

#[test]
fn memory_that_is_none_is_an_error_of_the_calls() {
    let mut rig = Rig::new("memory");
    let handle = rig.open("file", 7) as u32;
    for operation in (SYS_OPEN..=SYS_TMPNAM).chain([SYS_REMOVE, SYS_RENAME, SYS_GET_CMDLINE, SYS_HEAPINFO]) {
        let answer = rig.answer(operation, NOWHERE);
        assert!(matches!(answer, Answer::Value(FAILED)) || operation == SYS_READC, "{operation:#x}: {answer:?}");
    }
    assert_eq!((rig.value(SYS_WRITE, &[handle, NOWHERE, 9]), rig.errno()), (9, Errno::FAULT.0));
    assert_eq!(rig.value(SYS_OPEN, &[NAME, 0, u32::MAX]), -1);
    // Memory's bytes are written up to its end, chunk by chunk.
    assert_eq!(rig.value(SYS_WRITE, &[handle, RAM, u32::MAX]) as u32, u32::MAX - 0x1_0000);
    assert_eq!(rig.value(SYS_SEEK, &[handle, 0]), 0);
    assert_eq!((rig.value(SYS_READ, &[handle, RAM_LAST - 3, 9]), rig.errno()), (-1, Errno::FAULT.0));
}

#[test]
fn without_a_folder_there_are_no_files() {
    let mut rig = Rig::new("none");
    rig.bus.host = Host::default();
    for mode in 0..12 {
        assert_eq!((rig.open("/etc/passwd", mode), rig.errno()), (-1, Errno::NO_ENTRY.0));
    }
    assert_eq!((rig.open("file", 12), rig.errno()), (-1, Errno::INVALID.0));
    assert_eq!((rig.value(SYS_REMOVE, &[NAME, 4]), rig.value(SYS_TMPNAM, &[DATA, 0, 99])), (-1, -1));
    assert_eq!(rig.bus.host.notes.lines().len(), 2);
    assert!(rig.bus.host.notes.lines()[0].starts_with("semihosting: '/etc/passwd' was not opened: no folder is given"));
}
