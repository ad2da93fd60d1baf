//! A RISC-V board from its description: a core with two levels of caches, a store buffer and a tightly coupled memory.

use crate::support::riscv::*;
use cyclescope_engine::board::build::build;
use cyclescope_engine::dt::node::{Location, Node, Property};
use cyclescope_engine::machine::Machine;

/// Phandles of the nodes that others name.
const CLOCK: u32 = 1;
const L2: u32 = 2;

fn at() -> Location {
    Location { file: "two-level.dts".into(), line: 1 }
}

fn cells(name: &str, cells: &[u32]) -> Property {
    let value = cells.iter().flat_map(|cell| cell.to_be_bytes()).collect();
    Property { name: name.to_owned(), value, at: at() }
}

fn text(name: &str, text: &str) -> Property {
    Property { name: name.to_owned(), value: [text.as_bytes(), &[0]].concat(), at: at() }
}

/// Timing properties, of no real part.
fn timing_of(pairs: &[(&str, u32)]) -> Vec<Property> {
    let names: Vec<String> = pairs.iter().map(|(name, _)| format!("cyclescope,{name}")).collect();
    let sources = text("cyclescope,sources", &format!("{}: documented: defined so for a test", names.join(", ")));
    let values = pairs.iter().zip(&names).map(|((_, value), name)| cells(name, &[*value]));
    values.chain([sources]).collect()
}

fn node(path: &str, phandle: Option<u32>, properties: Vec<Vec<Property>>, children: Vec<Node>) -> Node {
    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
    let properties = properties.concat();
    Node { path: path.to_owned(), name, labels: Vec::new(), at: at(), phandle, properties, children }
}

fn cpu(store_buffer_entries: u32) -> Node {
    let own = vec![text("compatible", "riscv"), cells("reg", &[0]), cells("clocks", &[CLOCK])];
    let first_level = ["i", "d"].map(|which| {
        [("size", 64), ("block-size", 16), ("sets", 4)]
            .map(|(what, value)| cells(&format!("{which}-cache-{what}"), &[value]))
            .to_vec()
    });
    let instructions = [
        ("load-use-cycles", 0),
        ("multiply-use-cycles", 0),
        ("multiply-cycles", 1),
        ("divide-cycles", 1),
        ("taken-branch-cycles", 1),
        ("jump-cycles", 1),
        ("indirect-jump-cycles", 1),
        ("csr-cycles", 1),
        ("trap-cycles", 1),
        ("mret-cycles", 1),
        ("fence-i-cycles", 1),
        ("store-buffer-entries", store_buffer_entries),
    ];
    let second_level = vec![cells("next-level-cache", &[L2])];
    let properties = [vec![own, second_level, timing_of(&instructions)], first_level.to_vec()].concat();
    node("/cpus/cpu@0", None, properties, Vec::new())
}

/// A tightly coupled memory at 0, where the core begins, and DDR behind both caches: 10 cycles to the first word, 1 a
/// further one.
fn board(store_buffer_entries: u32) -> Node {
    let frequency = vec![text("compatible", "fixed-clock"), cells("clock-frequency", &[100_000_000])];
    let clock = node("/clock", Some(CLOCK), vec![frequency, vec![cells("#clock-cells", &[0])]], Vec::new());
    let sizes = vec![cells("cache-size", &[1024]), cells("cache-line-size", &[16]), cells("cache-sets", &[16])];
    let cycles = [
        ("request-cycles", 2),
        ("response-cycles", 1),
        ("tag-cycles", 1),
        ("data-cycles", 2),
        ("beat-cycles", 1),
        ("beat-bytes", 4),
    ];
    let cache = vec![text("compatible", "cache"), cells("clocks", &[CLOCK])];
    let l2 = node("/l2-cache", Some(L2), vec![cache, sizes, timing_of(&cycles)], Vec::new());
    let memory = |base: u32, first_word: u32, beat: u32, more: Vec<Property>| {
        let cycles = [("first-word-cycles", first_word), ("beat-cycles", beat)];
        let own = vec![text("device_type", "memory"), cells("reg", &[base, 0x1_0000]), cells("clocks", &[CLOCK])];
        node(&format!("/memory@{base:x}"), None, vec![own, timing_of(&cycles), more], Vec::new())
    };
    let cacheable = Property { name: "cyclescope,cacheable".to_owned(), value: Vec::new(), at: at() };
    let (tcm, ddr) = (memory(LOCAL, 0, 0, Vec::new()), memory(DDR, 10, 1, vec![cacheable]));
    let lengths = |addresses, sizes| vec![cells("#address-cells", &[addresses]), cells("#size-cells", &[sizes])];
    let cpus = node("/cpus", None, vec![lengths(1, 0)], vec![cpu(store_buffer_entries)]);
    node("/", None, vec![lengths(1, 1)], vec![clock, cpus, l2, tcm, ddr])
}

fn machine(store_buffer_entries: u32, program: &[u32]) -> Machine {
    let Ok(mut machine) = build(&board(store_buffer_entries)).map_err(|faults| panic!("{faults:#?}"));
    put(&mut machine, LOCAL, program);
    machine
}

#[test]
fn what_the_first_level_drops_the_second_has() {
    // Both lines share a set of the first level; the second has room for them.
    let program = then_exit(&[lui(5, DDR), lw(6, 5, 0), lw(6, 5, 64), lw(6, 5, 0)]);
    let report = run(&mut machine(0, &program));
    assert_exit(&report);
    // A fill of 10 + 3 each; there, tags and back, and once the data too: 2 + (4 - 1).
    assert_eq!(cause(&report, "load: memory@80000000"), 2 * 13);
    assert_eq!(cause(&report, "second-level cache"), 3 * (2 + 1 + 1) + 5);
    assert_eq!(report.cores[0].cycles.0, 4 + EXIT_CYCLES + 26 + 17);
}

#[test]
fn a_store_waits_where_no_buffer_takes_it() {
    // Both miss: lines are filled first.
    let program = then_exit(&[lui(5, DDR), sw(6, 5, 0), NOP, NOP]);
    let (waits, goes_on) = (run(&mut machine(0, &program)), run(&mut machine(2, &program)));
    assert_exit(&waits);
    assert_exit(&goes_on);
    assert_eq!(waits.cores[0].cycles.0, 4 + EXIT_CYCLES + 13 + 4);
    assert_eq!(goes_on.cores[0].cycles.0, 4 + EXIT_CYCLES);
}
