//! Every message about a board or an ELF file, with its text: the test of a new kind fails until it is listed here.

use engine::dt::fault::{BoardFault, FaultKind};
use engine::dt::node::Location;
use engine::elf::ElfError;
use engine::elf::build_attributes::Profile;

fn name(text: &str) -> String {
    text.to_owned()
}

/// An example of each kind, and its text after "file:line: node: ".
fn board_faults() -> Vec<(FaultKind, &'static str)> {
    vec![
        (
            FaultKind::Missing { property: name("clocks"), meaning: name("clock of the core") },
            "property 'clocks' is missing: clock of the core",
        ),
        (FaultKind::WrongType { property: name("reg"), expected: name("a single cell") }, "reg must be a single cell"),
        (
            FaultKind::OutOfRange {
                property: name("xlnx,fifo-depth"),
                value: name("32"),
                allowed: name("this controller has 16 or 256"),
            },
            "xlnx,fifo-depth is 32; this controller has 16 or 256",
        ),
        (FaultKind::UnknownProperty { property: name("colour"), similar: vec![] }, "unknown property 'colour'"),
        (
            FaultKind::UnknownCompatible { compatible: name("xlnx,timer"), similar: vec![name("'a'"), name("'b'")] },
            "unknown compatible 'xlnx,timer'; did you mean 'a' or 'b'?",
        ),
        (
            FaultKind::Overlap { base: 0x100, last: 0x1ff, other: name("ddr"), other_base: 0, other_last: 0x17f },
            "0x00000100-0x000001ff overlaps ddr at 0x00000000-0x0000017f",
        ),
        (
            FaultKind::BadRange { property: name("cyclescope,read-cycles"), class: name("assumed few") },
            "cyclescope,sources: 'assumed few' of cyclescope,read-cycles: after the class comes the plausible range, \
             as in \"assumed 2 to 8: <why>\" or \"assumed 4 or 8: <why>\", or nothing",
        ),
        (
            FaultKind::SourceWithoutProperty { property: name("speed") },
            "cyclescope,sources names 'speed', which is no timing property of this node",
        ),
        (
            FaultKind::BadReference { property: name("clocks"), expected: name("a clock") },
            "clocks must refer to a clock",
        ),
        (FaultKind::Incomplete { what: name("the board has no cpu") }, "the board has no cpu"),
    ]
}

fn elf_errors() -> Vec<(ElfError, &'static str)> {
    vec![
        (ElfError::NotElf, "not an ELF file (Intel HEX, S-record and UF2 files run, too; plain bytes need --base)"),
        (ElfError::Damaged { detail: name("no strings") }, "damaged or truncated: no strings"),
        (ElfError::WrongClass { found: "64-bit" }, "a 64-bit ELF; the board's cores are 32-bit little-endian"),
        (ElfError::WrongMachine { found: name("Arm"), wanted: "RISC-V" }, "built for Arm; the board's core is RISC-V"),
        (ElfError::UnknownMachine { found: name("x86") }, "built for x86; there are cores for RISC-V, Arm and MIPS"),
        (ElfError::NotExecutable { e_type: 1 }, "not an executable (e_type 1): link it first"),
        (ElfError::NothingToLoad, "it has no loadable segment"),
        (
            ElfError::OutsideMemory { first: 0x1000, last: 0x1fff, memories: name("ddr 0x0-0x1") },
            "segment 0x00001000-0x00001fff lies outside the board's memory (ddr 0x0-0x1)",
        ),
        (ElfError::BadEntry { entry: 0x40 }, "the entry point 0x00000040 lies in no loaded segment"),
        (
            ElfError::WrongProfile { found: Profile::M, core: name("cpu0"), others: name("--core cm4 is one") },
            "built for Cortex-M, and cpu0 is not; --core cm4 is one",
        ),
    ]
}

/// The index of a kind; exhaustive, so that a new kind does not compile until it is listed.
const fn position(kind: &FaultKind) -> usize {
    match kind {
        FaultKind::Missing { .. } => 0,
        FaultKind::WrongType { .. } => 1,
        FaultKind::OutOfRange { .. } => 2,
        FaultKind::UnknownProperty { .. } => 3,
        FaultKind::UnknownCompatible { .. } => 4,
        FaultKind::Overlap { .. } => 5,
        FaultKind::BadRange { .. } => 6,
        FaultKind::SourceWithoutProperty { .. } => 7,
        FaultKind::BadReference { .. } => 8,
        FaultKind::Incomplete { .. } => 9,
    }
}

const fn elf_position(error: &ElfError) -> usize {
    match error {
        ElfError::NotElf => 0,
        ElfError::Damaged { .. } => 1,
        ElfError::WrongClass { .. } => 2,
        ElfError::WrongMachine { .. } => 3,
        ElfError::UnknownMachine { .. } => 4,
        ElfError::NotExecutable { .. } => 5,
        ElfError::NothingToLoad => 6,
        ElfError::OutsideMemory { .. } => 7,
        ElfError::BadEntry { .. } => 8,
        ElfError::WrongProfile { .. } => 9,
    }
}

#[test]
fn every_board_fault_has_its_text() {
    let at = Location { file: "board.dts".into(), line: 41 };
    for (index, (kind, text)) in board_faults().into_iter().enumerate() {
        assert_eq!(position(&kind), index);
        let fault = BoardFault { at: at.clone(), node: name("spi@0"), kind };
        assert_eq!(fault.to_string(), format!("board.dts:41: spi@0: {text}"));
    }
    assert_eq!(board_faults().len(), 10);
}

#[test]
fn every_elf_error_has_its_text() {
    for (index, (error, text)) in elf_errors().into_iter().enumerate() {
        assert_eq!(elf_position(&error), index);
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(elf_errors().len(), 10);
}
