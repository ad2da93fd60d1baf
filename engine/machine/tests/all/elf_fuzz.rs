//! Damaged ELF files: the loader refuses or accepts them, and never panics.
use engine::elf::debug::line_of;
use engine::elf::names::Names;
use engine::elf::{self, Machine};
use engine::tiers::sized;
use proptest::prelude::*;

use crate::whole::support::riscv as support;

const TEXT: u32 = support::DDR;
const TEXT_BYTES: u32 = 16;
const HEADER_BYTES: usize = 52;
const SECTION_BYTES: usize = 40;

/// A section: its name, type, link, and contents.
type Section = (&'static str, u32, u32, Vec<u8>);

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Two symbols: a function of 8 bytes and a label after it.
fn symbols() -> Vec<u8> {
    let symbol =
        |name: u32, addr: u32, bytes: u32, info: u8| [words(&[name, addr, bytes]), vec![info, 0, 1, 0]].concat();
    [vec![0; 16], symbol(1, TEXT, 8, 0x12), symbol(6, TEXT + 8, 0, 0x10)].concat()
}

/// DWARF 4: one unit whose line table says that `TEXT` is line 3 of a.c, and `TEXT + 4` line 4.
fn debug_sections() -> [Section; 3] {
    let abbreviations = vec![1, 0x11, 0, 0x10, 0x17, 0x11, 0x01, 0x12, 0x06, 0, 0, 0];
    let unit = [vec![4, 0], words(&[0]), vec![4, 1], words(&[0, TEXT, TEXT_BYTES])].concat();
    let tables = [&[1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0][..], b"a.c\0\0\0\0\0"].concat();
    // Set the address; lines 2 on and 1 on, at 0 and 4 bytes further; 12 bytes on; the end.
    let program = [vec![0, 5, 2], words(&[TEXT]), vec![20, 75, 2, 12, 0, 1, 1]].concat();
    let lines = [vec![4, 0], words(&[tables.len() as u32]), tables, program].concat();
    let with_length = |part: Vec<u8>| [words(&[part.len() as u32]), part].concat();
    [
        (".debug_abbrev", 1, 0, abbreviations),
        (".debug_info", 1, 0, with_length(unit)),
        (".debug_line", 1, 0, with_length(lines)),
    ]
}

/// An executable with a loadable segment for each memory, symbols and line numbers.
fn executable() -> Vec<u8> {
    let [abbreviations, info, lines] = debug_sections();
    let mut sections: Vec<Section> = vec![
        ("", 0, 0, vec![]),
        (".text", 1, 0, words(&[0x13, 0x13, 0x13, 0x6f])),
        (".data", 1, 0, words(&[1, 2, 3])),
        (".symtab", 2, 4, symbols()),
        (".strtab", 3, 0, b"\0main\0end\0".to_vec()),
        abbreviations,
        info,
        lines,
    ];
    let mut names = Vec::new();
    let mut name_offsets = Vec::new();
    for name in sections.iter().map(|section| section.0).chain([".shstrtab"]) {
        name_offsets.push(names.len() as u32);
        names.extend([name.as_bytes(), b"\0"].concat());
    }
    sections.push((".shstrtab", 3, 0, names));
    let mut offset = (HEADER_BYTES + 2 * 32) as u32;
    let (mut headers, mut contents) = (Vec::new(), Vec::new());
    for ((_, kind, link, bytes), name) in sections.iter().zip(name_offsets) {
        let addr = if name == 1 { TEXT } else { 0 };
        let entry_bytes = if *kind == 2 { 16 } else { 0 };
        headers.extend(words(&[name, *kind, 0, addr, offset, bytes.len() as u32, *link, 1, 4, entry_bytes]));
        contents.extend(bytes);
        offset += bytes.len() as u32;
    }
    let text_offset = (HEADER_BYTES + 2 * 32) as u32;
    let segments = [
        words(&[1, text_offset, TEXT, TEXT, TEXT_BYTES, TEXT_BYTES, 5, 4]),
        words(&[1, text_offset + TEXT_BYTES, support::LOCAL + 64, support::LOCAL + 64, 12, 256, 6, 4]),
    ]
    .concat();
    let ident = [&b"\x7fELF\x01\x01\x01"[..], &[0; 9]].concat();
    let (count, size) = (sections.len() as u32, SECTION_BYTES as u32);
    let header =
        words(&[243 << 16 | 2, 1, TEXT, 52, offset, 0, 32 << 16 | 52, size << 16 | 2, (count - 1) << 16 | count]);
    [ident, header, segments, contents, headers].concat()
}

/// A kind of damage; places are taken modulo the file's length.
#[derive(Clone, Debug)]
enum Spoil {
    Byte(usize, u8),
    Word(usize, u32),
    Cut(usize),
    Remove(usize, usize),
    Insert(usize, Vec<u8>),
}

fn spoil() -> impl Strategy<Value = Spoil> {
    let edge = prop::sample::select(vec![0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, 0xffff_ffff]);
    // Headers are where most fields are.
    let place = || prop_oneof![0..HEADER_BYTES + 64, any::<usize>()];
    prop_oneof![
        4 => (place(), any::<u8>()).prop_map(|(at, value)| Spoil::Byte(at, value)),
        4 => (place(), prop_oneof![edge, any::<u32>(), 0..1024u32]).prop_map(|(at, value)| Spoil::Word(at, value)),
        1 => any::<usize>().prop_map(Spoil::Cut),
        1 => (place(), 0..64usize).prop_map(|(at, count)| Spoil::Remove(at, count)),
        1 => (place(), prop::collection::vec(any::<u8>(), 0..64)).prop_map(|(at, bytes)| Spoil::Insert(at, bytes)),
    ]
}

fn apply(file: &mut Vec<u8>, spoil: Spoil) {
    let length = file.len();
    let at = |place: usize| place % length.max(1);
    match spoil {
        _ if length < 4 => {}
        Spoil::Byte(place, value) => file[at(place)] = value,
        Spoil::Word(place, value) => {
            let first = at(place).min(length - 4) & !3;
            file[first..first + 4].copy_from_slice(&value.to_le_bytes());
        }
        Spoil::Cut(place) => file.truncate(at(place)),
        Spoil::Remove(place, count) => drop(file.drain(at(place)..(at(place) + count).min(length))),
        Spoil::Insert(place, bytes) => drop(file.splice(at(place)..at(place), bytes)),
    }
}

/// Reads and loads a file as the machine does, and queries it.
fn use_file(file: &[u8], addr: u32) {
    let read = elf::read(file, Machine::RiscV);
    if let Ok(image) = &read {
        assert!(!image.segments.is_empty());
        for segment in &image.segments {
            assert!(segment.bytes.len() <= segment.memory_bytes as usize);
            assert!(segment.addr.checked_add(segment.memory_bytes - 1).is_some());
        }
        for addr in image.symbols.iter().map(|symbol| symbol.addr).chain([addr, TEXT, TEXT + 4, u32::MAX]) {
            let _ = image.place_at(addr, &Names::default());
        }
    }
    let _ = line_of(file, addr);
    let _ = line_of(file, TEXT + 4);
    let mut machine = support::machine(support::LOCAL, &[], 1);
    let loaded = machine.load(file);
    assert!(read.is_ok() || loaded.is_err(), "loaded what cannot be read");
}

#[test]
fn the_file_to_be_spoiled_is_sound() {
    let file = executable();
    let image = elf::read(&file, Machine::RiscV).unwrap();
    assert_eq!(image.entry, TEXT);
    assert_eq!(image.segments.len(), 2);
    assert_eq!(image.place_at(TEXT + 4, &Names::default()).as_deref(), Some("main+0x4"));
    assert_eq!(image.place_at(TEXT + 12, &Names::default()).as_deref(), Some("end+0x4"));
    assert_eq!(line_of(&file, TEXT).as_deref(), Some("a.c:3"));
    assert_eq!(line_of(&file, TEXT + 6).as_deref(), Some("a.c:4"));
    let mut machine = support::machine(support::LOCAL, &[], 1);
    machine.load(&file).unwrap();
    assert_eq!(machine.registers()[0], TEXT);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sized(1500, 10_000)))]

    #[test]
    fn spoiled_files_never_panic(spoils in prop::collection::vec(spoil(), 1..6), addr: u32) {
        let mut file = executable();
        for spoil in spoils {
            apply(&mut file, spoil);
        }
        use_file(&file, addr);
    }

    #[test]
    fn any_bytes_after_the_magic_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), addr: u32) {
        use_file(&[&b"\x7fELF\x01\x01\x01"[..], &bytes].concat(), addr);
    }
}
