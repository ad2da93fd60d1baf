//! Where a Cortex-M4 begins: a program's vector table may be elsewhere than the board has it.

use crate::whole::support::arm_m::*;
use cyclescope_engine::isa::arm::core::CortexM;
use cyclescope_engine::machine::{Machine, Outcome};

/// RAM that is not where the core looks for vectors.
const DDR: u32 = 0x8000_0000;
const ET_EXEC_ARM: u32 = 2 | 40 << 16;

/// An ELF file without symbols, with a segment for each of these, that begins at `entry`.
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

/// A vector table at `at` with code behind it, that takes a supervisor call and ends: r4 tells that its handler ran.
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
    // Nothing is where the board has the table.
    put_physical(&mut machine, LOCAL, &[0; 48]);
    machine.load(file).unwrap();
    machine
}

#[test]
fn a_table_elsewhere_is_found() {
    for (at, before) in [(DDR, Vec::new()), (DDR + 0x200, vec![(DDR + 0x40, vec![1_u8; 8])])] {
        // The entry may be the table itself, where nobody told the linker.
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
