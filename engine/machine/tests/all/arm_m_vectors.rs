//! The reset vector of a Cortex-M4. A program's vector table may be at another address than the board's.

use crate::loading::RawProgram;
use crate::whole::support::arm_m::*;
use crate::{Machine, Outcome};
use engine::isa::arm::instruction_set::CortexM;

/// RAM that is not where the core looks for vectors.
const DDR: u32 = 0x8000_0000;
const ET_EXEC_ARM: u32 = 2 | 40 << 16;

/// An ELF file without symbols, with the given segments, that begins at `entry`.
fn elf(entry: u32, segments: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let ident = [&b"\x7fELF\x01\x01\x01"[..], &[0; 9]].concat();
    let header =
        words(&[ET_EXEC_ARM, 1, entry, 52, 0, 0x0500_0000, 52 | 32 << 16, segments.len() as u32 | 40 << 16, 0]);
    let mut file = [ident, header].concat();
    let mut offset = (file.len() + 32 * segments.len()) as u32;
    for (addr, bytes) in segments {
        let size = bytes.len() as u32;
        file.extend(words(&[1, offset, *addr, *addr, size, size, 7, 4]));
        offset += size;
    }
    segments.iter().for_each(|(_, bytes)| file.extend(bytes));
    file
}

/// A vector table at `at` followed by code that makes a supervisor call and ends: r4 shows that its handler ran.
fn image(at: u32, stack: u32) -> Vec<u8> {
    let (main, handler) = (at + 0x80, at + 0xc0);
    let mut vectors = [handler | 1; 32];
    (vectors[0], vectors[1]) = (stack, main | 1);
    let mut bytes: Vec<u8> = vectors.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut main: Vec<u16> = code![svc(1), exit()];
    main.resize(0x20, NOP);
    main.extend(code![movs(4, 7), BX_LR]);
    bytes.extend(main.iter().flat_map(|half| half.to_le_bytes()));
    bytes
}

fn loaded(file: &[u8]) -> Machine {
    let core = CortexM::new(config());
    let mut machine = machine_with(core, &[], &[]);
    // The board's address of the table is empty.
    put_physical(&mut machine, LOCAL, &[0; 48]);
    machine.load(file).unwrap();
    machine
}

#[test]
fn a_table_elsewhere_is_found() {
    for (at, before) in [(DDR, Vec::new()), (DDR + 0x200, vec![(DDR + 0x40, vec![1_u8; 8])])] {
        // The entry may be the table itself, if the linker was given no entry.
        for entry in [at + 0x81, at] {
            let segments = [&before[..], &[(at, image(at, DDR + 0x8000))]].concat();
            let mut machine = loaded(&elf(entry, &segments));
            let report = run(&mut machine);
            assert_exit(&report);
            let registers = machine.registers();
            assert_eq!((registers[1 + 4], registers[1 + 13]), (7, DDR + 0x8000));
            assert!(report.notes.is_empty(), "{:?}", report.notes);
        }
    }
}

#[test]
fn what_is_no_table_is_not_taken_for_one() {
    // A stack nowhere, an even address, one outside of the program.
    for (sp, first) in [(0x3000_0000, DDR + 0x81), (DDR + 0x8000, DDR + 0x80), (DDR + 0x8000, DDR + 0x8001)] {
        let mut bytes = image(DDR, sp);
        bytes[4..8].copy_from_slice(&first.to_le_bytes());
        let mut machine = loaded(&elf(DDR + 0x81, &[(DDR, bytes)]));
        let report = run(&mut machine);
        assert!(!matches!(report.outcome, Outcome::Exit(0)), "{:?}", report.outcome);
        let note = "cm4: the program has no vector table, at 0x00000000 or elsewhere: it begins with SP 0x00000000";
        assert_eq!(report.notes[0], note);
    }
}

#[test]
fn the_boards_own_table_goes_before_others() {
    let segments = [(LOCAL, image(LOCAL, STACK)), (DDR, image(DDR, DDR + 0x8000))];
    let mut machine = loaded(&elf(0x81, &segments));
    assert_exit(&run(&mut machine));
    assert_eq!(machine.registers()[1 + 13], STACK);
}

/// A note's part after the core's name.
const AS_THE_CHIP: &str = "it starts with the words at 0x00000000, SP ";

#[test]
fn a_core_starts_at_its_reset_vector_whatever_the_entry_point_is() {
    let reset = "cm4: it starts at its reset vector, 0x00000081, as the chip does, and not at the file's entry point, ";
    // The entry is a handler's address, in no segment, in flash without a program, the table itself, or 0.
    for (entry, note) in
        [(0xc1, "0x000000c1"), (0xc0, "0x000000c0"), (0x0800_0101, "0x08000101"), (0x81, ""), (0x80, ""), (0, "")]
    {
        let segments = [(LOCAL, image(LOCAL, STACK))];
        let raw = RawProgram { parts: segments.to_vec(), entry: Some(entry), start: None };
        let mut others = loaded(&elf(0x81, &[(DDR, image(DDR, DDR + 0x8000))]));
        others.load_raw(raw, None).unwrap();
        for mut machine in [loaded(&elf(entry, &segments)), others] {
            let report = run(&mut machine);
            assert_exit(&report);
            assert_eq!((machine.registers()[1 + 4], machine.registers()[1 + 13]), (7, STACK));
            let notes = if note.is_empty() { vec![] } else { vec![format!("{reset}{note}")] };
            assert_eq!(report.notes, notes);
        }
    }
}

#[test]
fn first_words_that_are_no_table_are_taken_as_the_core_takes_them() {
    for (sp, first, wrong) in [
        (STACK, 0x80, "the reset vector has no Thumb bit"),
        (0x3000_0000, 0x81, "no RAM is below that SP"),
        (STACK, 0x3000_0001, "that is no address in the program"),
        (0xbf00_bf00, 0x4770_b510, "that is no address in the program"),
    ] {
        let mut bytes = image(LOCAL, sp);
        bytes[4..8].copy_from_slice(&u32::to_le_bytes(first));
        // A table elsewhere and the entry point do not help.
        let mut machine = loaded(&elf(0x81, &[(LOCAL, bytes), (DDR, image(DDR, DDR + 0x8000))]));
        assert_eq!(machine.registers()[0], first & !1);
        let report = run(&mut machine);
        assert!(!matches!(report.outcome, Outcome::Exit(0)), "{:?}", report.outcome);
        let note = format!("cm4: {AS_THE_CHIP}{sp:#010x} and PC {first:#010x}, as the chip does: {wrong}");
        assert!(report.notes[0].starts_with(&note), "{:?}", report.notes);
    }
}

#[test]
fn users_may_have_it_start_elsewhere() {
    let code: Code = code![movs(4, 5), exit()];
    let code = code.iter().flat_map(|half| half.to_le_bytes()).collect();
    let parts = vec![(LOCAL, image(LOCAL, STACK)), (DDR, code)];
    for start in [DDR, DDR + 1] {
        let mut machine = machine_with(CortexM::new(config()), &[], &[]);
        machine.load_raw(RawProgram { parts: parts.clone(), entry: Some(0xc1), start: Some(start) }, None).unwrap();
        let report = run(&mut machine);
        assert_exit(&report);
        assert_eq!((machine.registers()[1 + 4], machine.registers()[1 + 13]), (5, STACK));
        let asked = format!("cm4: it starts at {start:#010x} as asked for (--entry); ");
        assert_eq!(report.notes, [asked + "the chip starts at its reset vector, 0x00000081"]);
    }
}
