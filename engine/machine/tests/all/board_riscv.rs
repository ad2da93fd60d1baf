//! A RISC-V board from its description: a core with two levels of caches, a store buffer and a tightly coupled memory.

use crate::Machine;
use crate::board::build::build;
use crate::ending::StopRequest;
use crate::whole::support::riscv::*;
use engine::dt::node::{Location, Node, Property};
use engine::dt::params::Basis;
use engine::time::Ps;

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

/// A tightly coupled memory at 0, where the core begins, and DDR that both caches keep: 10 cycles to the first word, 1
/// a further one.
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
    // Three misses of the first level. The second level has the last line.
    let counter = |name: &str| report.counters.iter().find(|(other, _)| other == name).map(|(_, total)| *total);
    assert_eq!(counter("cpu@0.d-cache.fills"), Some(3));
    assert_eq!(counter("l2-cache.data reads"), Some(3));
    assert_eq!(counter("l2-cache.data read hits"), Some(1));
    assert_eq!(counter("l2-cache.data writes"), Some(0));
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

#[test]
fn caches_that_can_keep_nothing_are_a_warning() {
    let warnings = |board: &Node| build(board).map(|machine| machine.description().warnings.clone());
    assert_eq!(warnings(&board(0)), Ok(Vec::new()));
    let unmarked = without(&board(0), "cyclescope,cacheable");
    let nothing = "anything: no memory below it is marked cyclescope,cacheable";
    let first = format!("two-level.dts:1: cpu@0: its caches never keep {nothing}");
    assert_eq!(warnings(&unmarked), Ok(vec![first, format!("the second-level cache never keeps {nothing}")]));
    // A mark of memory that takes no time has no effect on the first level.
    let mut local = unmarked;
    let mark = Property { name: "cyclescope,cacheable".to_owned(), value: Vec::new(), at: at() };
    local
        .children
        .iter_mut()
        .filter(|child| child.name == "memory@0")
        .for_each(|tcm| tcm.properties.push(mark.clone()));
    assert_eq!(warnings(&local).map(|warnings| warnings.len()), Ok(1));
}

#[test]
fn a_source_may_stand_for_all_that_have_none_of_their_own() {
    let mut board = without(&board(0), "cyclescope,sources");
    let sources = "cyclescope,beat-cycles: documented: a sheet\0*: assumed 5 to 20: a guess";
    let ddr = board.children.iter_mut().find(|child| child.name.starts_with("memory@8")).unwrap();
    ddr.properties.push(text("cyclescope,sources", sources));
    let machine = build(&board).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let parameters = &machine.description().parameters;
    let of_ddr: Vec<_> = parameters.iter().filter(|parameter| parameter.node.starts_with("/memory@8")).collect();
    let found = |name: &str| of_ddr.iter().find(|parameter| parameter.property == name).unwrap();
    assert_eq!(
        (found("cyclescope,beat-cycles").basis, &*found("cyclescope,beat-cycles").source),
        (Basis::Documented, "a sheet")
    );
    let guessed = found("cyclescope,first-word-cycles");
    assert_eq!(
        (guessed.basis, guessed.plausible.in_words().as_str(), &*guessed.source),
        (Basis::Assumed, "5 to 20", "a guess")
    );
    assert!(parameters.iter().any(|parameter| parameter.basis == Basis::Unstated));
}

#[test]
fn a_core_says_of_which_type_it_is() {
    let faults = |compatible: Option<&str>| {
        let mut board = without(&board(0), "");
        let cpu = &mut board.children.iter_mut().find(|child| child.name == "cpus").unwrap().children[0];
        cpu.properties.retain(|property| property.name != "compatible");
        cpu.properties.extend(compatible.map(|compatible| text("compatible", compatible)));
        build(&board).map_or_else(|faults| faults.iter().map(ToString::to_string).collect(), |_| Vec::<String>::new())
    };
    assert_eq!(faults(Some("acme,core\0riscv")), [""; 0]);
    let unknown = faults(Some("riskv"));
    assert_eq!(unknown, ["two-level.dts:1: cpu@0: unknown compatible 'riskv'; did you mean 'riscv'?"]);
    assert!(faults(None)[0].contains("property 'compatible' is missing: the core's type: riscv, intel,niosv"));
}

#[test]
fn who_may_stop_a_run_sees_how_far_it_has_come() {
    let stop = StopRequest::default();
    let mut machine = machine(0, &[jal(0, 0)]);
    machine.stop_on(stop.clone());
    assert_eq!(stop.reached(), Ps::ZERO);
    let report = machine.run(Ps::from_us(300_000), |_| true);
    // Slices of 10 million cycles at 100 MHz: 0.1 s each.
    assert_eq!(stop.reached(), Ps::from_us(300_000));
    assert_eq!(report.elapsed, stop.reached());
}

/// The board with an overlay of the given ranges. It may also lie over a device's registers and a memory of a bus
/// matrix, which are next to its memories.
fn with_overlay(ranges: &[u32]) -> Node {
    let flag = |name: &str| Property { name: name.to_owned(), value: Vec::new(), at: at() };
    let cycles = timing_of(&[("first-word-cycles", 1), ("beat-cycles", 1)]);
    let memory = |name: &str, ranges: &[u32], more: Vec<Property>| {
        let own = vec![text("compatible", "mmio-sram"), cells("reg", ranges), cells("clocks", &[CLOCK])];
        node(name, None, vec![own, more], Vec::new())
    };
    let exit = node(
        "/exit@4000000",
        None,
        vec![vec![text("compatible", "cyclescope,exit"), cells("reg", &[0x400_0000, 0x1000])]],
        Vec::new(),
    );
    let granted = [("first-word-cycles", 1), ("beat-cycles", 1), ("idle-grant-cycles", 1)];
    let mut board = board(0);
    board.children.push(memory("/overlay", ranges, [cycles.clone(), vec![flag("cyclescope,overlay")]].concat()));
    board.children.push(memory("/granted", &[0x2000_0000, 0x1000], timing_of(&granted)));
    board.children.push(exit);
    board
}

#[test]
fn an_overlay_lies_inside_one_range_of_a_memory_or_window() {
    let entries = |ranges: &[u32]| {
        let machine = build(&with_overlay(ranges)).map_err(|faults| panic!("{faults:#?}"));
        let Ok(mut machine) = machine;
        let paths = machine.description().paths.clone();
        let map = machine.bus().map.iter().zip(paths).filter(|(entry, _)| entry.base >= DDR);
        map.map(|(entry, path)| (entry.base - DDR, entry.last - DDR, path)).collect::<Vec<_>>()
    };
    let part = |base: u32, last: u32, path: &str| (base, last, path.to_owned());
    let (ddr, overlay) = ("/memory@80000000", "/overlay");
    let around = [part(0, 0x3ff, ddr), part(0x400, 0x43f, overlay), part(0x440, 0xffff, ddr)];
    assert_eq!(entries(&[DDR + 0x400, 0x40]), around);
    // All of its ranges show the complete memory, in the DDR or elsewhere.
    assert_eq!(entries(&[LOCAL + 0x80, 0x40, DDR + 0x400, 0x40]), around);
    assert_eq!(entries(&[DDR, 0x1_0000]), [part(0, 0xffff, overlay)]);
    assert_eq!(entries(&[DDR + 0xff00, 0x100])[1], part(0xff00, 0xffff, overlay));

    let refused = |ranges: &[u32]| {
        let faults = build(&with_overlay(ranges)).map_or_else(|faults| faults, |_| panic!("it is no fault"));
        let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
        texts.join("\n").replace("two-level.dts:1: overlay: reg is ", "")
    };
    let lines = "an overlay begins at a multiple of 64 bytes, and has a multiple of them";
    let inside = "an overlay lies wholly inside one range of another node";
    for (ranges, text) in [
        (&[DDR + 0x420, 0x40][..], format!("0x80000420 + 0x40; {lines}")),
        (&[DDR + 0x400, 0x20], format!("0x80000400 + 0x20; {lines}")),
        (&[0x3000_0000, 0x40], format!("0x30000000 + 0x40; {inside}, and nothing is there")),
        (
            &[DDR + 0xff80, 0x100],
            format!("0x8000ff80 + 0x100; {inside}, and this one goes beyond memory@80000000 0x80000000-0x8000ffff"),
        ),
        (
            &[LOCAL, 0x8001_0000],
            format!(
                "0x0 + 0x80010000; {inside}, and this one is in memory@0 and in memory@80000000 and in granted \
                 and in exit@4000000"
            ),
        ),
        (
            &[0x400_0000, 0x40],
            "0x4000000 + 0x40; an overlay lies over a memory, or over a device's window after its registers, and the \
             first range of a device, as exit@4000000 0x04000000-0x04000fff is, has registers"
                .to_owned(),
        ),
        (
            &[0x2000_0040, 0x40],
            "0x20000040 + 0x40; no overlay can lie over a memory with cyclescope,idle-grant-cycles, which granted \
             0x20000000-0x20000fff has"
                .to_owned(),
        ),
        (
            &[DDR, 0x80, DDR + 0x40, 0x80],
            "two-level.dts:1: overlay: 0x80000040-0x800000bf overlaps overlay at 0x80000000-0x8000007f".to_owned(),
        ),
    ] {
        assert_eq!(refused(ranges), text);
    }
    // Without the flag, it overlaps as ever.
    let plain = without(&with_overlay(&[DDR + 0x400, 0x40]), "cyclescope,overlay");
    let faults = build(&plain).map_or_else(|faults| faults, |_| panic!("it is no fault"));
    let text = "two-level.dts:1: overlay: 0x80000400-0x8000043f overlaps memory@80000000 at 0x80000000-0x8000ffff";
    assert_eq!(faults.iter().map(ToString::to_string).collect::<Vec<_>>(), [text]);
}

/// The same tree without properties of that name.
fn without(node: &Node, name: &str) -> Node {
    let properties = node.properties.iter().filter(|property| property.name != name).cloned().collect();
    let children = node.children.iter().map(|child| without(child, name)).collect();
    Node { properties, children, ..node.clone() }
}
