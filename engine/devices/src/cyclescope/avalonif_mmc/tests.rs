use engine::polling::{Poll, Polled};
use std::sync::{Arc, Mutex};

use super::*;
use crate::bench::{Bench, CPU_INTC, read_node};
use crate::registers::walk;
use engine::bus::device::{DeviceId, IrqLine};
use engine::time::Hz;
use engine::wire::spi::{Burst, SpiTarget};

mod clocked;
mod polling;

/// A call that a [`Script`] got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saw {
    Select(Ps),
    Byte(u32, Ps),
    Idle(u32, Ps),
    Deselect(Ps),
}

/// A chip that writes down what happens to it, and answers byte `n` with [`answer`]`(n)`.
#[derive(engine::state::State)]
struct Script {
    #[state(skip)]
    saw: Arc<Mutex<Vec<Saw>>>,
    bytes: u64,
    leaves: Ps,
}

fn answer(byte: u64) -> u8 {
    (byte * 37 + 5) as u8
}

impl SpiTarget for Script {
    fn select(&mut self, now: Ps) {
        self.saw.lock().unwrap().push(Saw::Select(now));
    }

    fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        assert_eq!((burst.lines, burst.clocks), (Lines::Single, 8));
        self.saw.lock().unwrap().push(Saw::Byte(burst.bits, end));
        self.bytes += 1;
        u32::from(answer(self.bytes - 1))
    }

    fn deselect(&mut self, now: Ps) {
        self.saw.lock().unwrap().push(Saw::Deselect(now));
    }

    fn idle_clocks(&mut self, clocks: u32, end: Ps) {
        self.saw.lock().unwrap().push(Saw::Idle(clocks, end));
    }

    fn present(&self, now: Ps) -> bool {
        now < self.leaves
    }

    fn take_notes(&mut self) -> Vec<String> {
        vec!["was deselected".to_owned()]
    }
}

impl Polled for Script {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(answer(self.bytes));
        poll.until(self.leaves);
        true
    }
}

fn clock() -> Hz {
    Hz::new(99_038_462).unwrap()
}

fn at(cycle: u64) -> Ps {
    clock().ps_at_floor(Cycles(cycle))
}

struct Rig {
    bench: Bench,
    saw: Arc<Mutex<Vec<Saw>>>,
}

/// The interface with a card that leaves at `leaves`, without wait states.
fn rig(leaves: Ps) -> Rig {
    let saw = Arc::new(Mutex::new(Vec::new()));
    let chip = Script { saw: saw.clone(), bytes: 0, leaves };
    let port = AxiLitePort { clock: clock(), read_cycles: Cycles(0), write_cycles: Cycles(0) };
    let line = Some(IrqLine::Core { core: 0, bit: 17 });
    let chip = HostedChip::new(Box::new(chip), "card0".to_owned(), None, 0);
    Rig { bench: Bench::new(AvalonifMmc::new(port, line, Some(chip))), saw }
}

impl Rig {
    fn put(&mut self, cycle: u64, offset: u32, value: u32) {
        assert_eq!(self.bench.write(at(cycle), offset, value), Ok(at(cycle)));
    }

    fn get(&mut self, cycle: u64, offset: u32) -> u32 {
        self.bench.value(at(cycle), offset)
    }

    fn is_idle(&mut self, cycle: u64) -> bool {
        self.get(cycle, CONTROL) & CONTROL_IDLE != 0
    }

    fn saw(&self) -> Vec<Saw> {
        self.saw.lock().unwrap().clone()
    }
}

const SELECTED: u32 = CONTROL_CDALTER;
const NOTHING: u32 = CONTROL_IDLE | CONTROL_NCS | CONTROL_CDALTER;

#[test]
fn the_register_map_holds() {
    let properties: &[(&str, &[u32])] = &[("interrupts-extended", &[CPU_INTC, 17])];
    let (mut bench, faults) = read_node(from_node, properties);
    assert!(faults.is_empty(), "{faults:?}");
    // Without a card: both switches open.
    assert_eq!(bench.value(Ps(0), CONTROL), 0x1f00);
    assert_eq!(bench.value(Ps(0), FREQUENCY), 100_000_000);
    walk::device_keeps_its_table(MAP.rows, &["control", "down counter", "clock frequency"], &mut bench);
    assert_eq!(bench.read(Ps(1), DIVIDER), Ok((0xff, Ps(50_000))));
    assert_eq!(bench.write(Ps(1), FREQUENCY, 1), Ok(Ps(40_000)));
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn a_byte_takes_17_half_periods() {
    for divider in [0, 1, 2, 124, 255] {
        let mut rig = rig(Ps::MAX);
        rig.put(10, DIVIDER, divider);
        rig.put(20, CONTROL, SELECTED | 0xa5);
        // Taken at edge 21.
        let end = 21 + 17 * (u64::from(divider) + 1);
        assert!(!rig.is_idle(21) && !rig.is_idle(end - 1) && rig.is_idle(end), "divider {divider}");
        assert_eq!(rig.get(end, CONTROL) & CONTROL_DATA, 5);
        assert_eq!(rig.saw(), [Saw::Select(at(21)), Saw::Byte(0xa5, at(end))]);
    }
}

#[test]
fn waveforms_show_sck_fall_half_a_period_after_the_start() {
    for divider in [0, 1, 124] {
        let mut rig = rig(Ps::MAX);
        rig.bench.record();
        rig.put(10, DIVIDER, divider);
        rig.put(20, CONTROL, SELECTED | 0xa5);
        let half = u64::from(divider) + 1;
        let edges: Vec<_> = (1..=16).map(|edge| (at(21 + edge * half), edge % 2 == 0)).collect();
        assert_eq!(rig.bench.recorded("sck"), edges);
        assert_eq!(rig.bench.recorded("cs0"), [(at(21), false)]);
        // 1010 0101, and 0000 0101 comes back: each bit half a period before the edge that samples it.
        let bit = |bit: u64| at(21 + (2 * bit + 1) * half);
        let sent = [(1, false), (2, true), (3, false), (5, true), (6, false), (7, true)];
        assert_eq!(rig.bench.recorded("mosi"), sent.map(|(number, level)| (bit(number), level)));
        let answered = [(0, false), (5, true), (6, false), (7, true)];
        assert_eq!(rig.bench.recorded("miso"), answered.map(|(number, level)| (bit(number), level)));
        rig.put(10_000, CONTROL, NOTHING);
        assert_eq!(rig.bench.recorded("cs0"), [(at(21), false), (at(10_001), true)]);
    }
}

#[test]
fn a_read_shows_the_clock_after_its_wait_states() {
    let port = AxiLitePort { clock: clock(), read_cycles: Cycles(2), write_cycles: Cycles(1) };
    let mut bench = Bench::new(AvalonifMmc::new(port, None, None));
    assert_eq!(bench.write(at(10), DIVIDER, 0), Ok(at(11)));
    bench.write(at(20), CONTROL, NOTHING & !CONTROL_IDLE | 0xff).unwrap();
    // On the wire until edge 38.
    assert_eq!(bench.value(at(35), CONTROL) & CONTROL_IDLE, 0);
    assert_eq!(bench.value(at(36), CONTROL) & CONTROL_IDLE, CONTROL_IDLE);
}

#[test]
fn writes_while_a_byte_is_on_the_wire_are_lost() {
    let mut rig = rig(Ps::MAX);
    rig.put(10, DIVIDER, 0);
    rig.put(20, CONTROL, SELECTED | 0x12);
    rig.put(37, CONTROL, NOTHING);
    rig.put(37, DIVIDER, 7);
    assert_eq!(rig.saw().len(), 2, "neither deselected nor sent");
    assert_eq!(rig.get(38, DIVIDER), 0);
    assert_eq!(rig.bench.bus.notes().len(), 1);
    // Clock 38 is the first in which the state machine is idle.
    rig.put(38, CONTROL, SELECTED | 0x34);
    assert_eq!(rig.saw()[2], Saw::Byte(0x34, at(39 + 17)));
}

#[test]
fn the_receive_register_fills_bit_by_bit() {
    let mut rig = rig(Ps::MAX);
    rig.put(10, DIVIDER, 1);
    rig.put(20, CONTROL, SELECTED | 0xff);
    // From edge 21, a rising edge every 4 clocks: the answer 00000101 is shifted in after the 00000000 of reset.
    let seen: Vec<u32> = [40, 41, 44, 45, 48, 49, 52, 53].map(|cycle| rig.get(cycle, CONTROL) & 0xff).to_vec();
    assert_eq!(seen, [0, 0, 0, 1, 1, 2, 2, 5]);
}

#[test]
fn bytes_without_a_selected_card_are_idle_clocks() {
    let mut rig = rig(Ps::MAX);
    rig.put(10, DIVIDER, 0);
    rig.put(20, CONTROL, CONTROL_NCS | CONTROL_CDALTER | 0xff);
    assert_eq!(rig.get(38, CONTROL) & CONTROL_DATA, 0xff);
    // With the data line low in between, it is nothing that the card would wait for.
    rig.put(40, CONTROL, CONTROL_NCS | CONTROL_CDALTER);
    rig.put(60, CONTROL, SELECTED | CONTROL_IDLE);
    rig.put(61, CONTROL, NOTHING);
    assert_eq!(rig.saw(), [Saw::Idle(8, at(38)), Saw::Select(at(61)), Saw::Deselect(at(62))]);
    assert_eq!(rig.bench.bus.notes().len(), 1, "the chip's notes");
}

#[test]
fn the_interrupt_is_there_while_enabled_and_idle() {
    const LINE: u32 = 1 << 17;
    let mut rig = rig(Ps::MAX);
    rig.put(10, DIVIDER, 0);
    rig.put(20, CONTROL, SELECTED | 1);
    assert_eq!(rig.bench.bus.events.next_due(), Ps::MAX, "nobody waits");
    rig.put(40, CONTROL, NOTHING | CONTROL_IRQENA);
    assert_eq!(rig.bench.pending(), LINE);
    rig.put(50, CONTROL, SELECTED | CONTROL_IRQENA | 1);
    assert_eq!(rig.bench.pending(), 0);
    rig.bench.run(at(67));
    assert_eq!(rig.bench.pending(), 0);
    rig.bench.run(at(68));
    assert_eq!(rig.bench.pending(), LINE);
    rig.put(70, CONTROL, NOTHING);
    assert_eq!(rig.bench.pending(), 0);
}

#[test]
fn the_slots_switches_show_late_and_a_change_is_kept() {
    let mut rig = rig(at(100));
    let mut seen = |cycle| rig.get(cycle, CONTROL) & (CONTROL_CD | CONTROL_CDALTER);
    assert_eq!((seen(2), seen(3)), (CONTROL_CD, CONTROL_CDALTER));
    rig.put(10, CONTROL, NOTHING & !CONTROL_CDALTER);
    let mut seen = |cycle| rig.get(cycle, CONTROL) & (CONTROL_CD | CONTROL_CDALTER);
    assert_eq!((seen(11), seen(101), seen(102)), (0, 0, CONTROL_CD | CONTROL_CDALTER));
}

#[test]
fn a_change_seen_with_the_write_that_clears_is_kept() {
    for (write, kept) in [(101, true), (102, false)] {
        let mut rig = rig(at(100));
        rig.put(10, CONTROL, NOTHING & !CONTROL_CDALTER);
        rig.put(write, CONTROL, NOTHING & !CONTROL_CDALTER);
        assert_eq!(rig.get(110, CONTROL) & CONTROL_CDALTER != 0, kept, "write in {write}");
    }
}

#[test]
fn the_board_has_one_card() {
    use engine::dt::node::{Location, Node, Property};
    use engine::dt::reader::Board;
    let at = Location { file: "test.dts".into(), line: 1 };
    let property = |name: &str, value: Vec<u8>| Property { name: name.to_owned(), value, at: at.clone() };
    let node = |name: &str, properties, children| Node {
        path: format!("/{name}"),
        name: name.to_owned(),
        labels: Vec::new(),
        at: at.clone(),
        phandle: None,
        properties,
        children,
    };
    let card = |select: u8| {
        let compatible = property("compatible", b"no-such-chip\0".to_vec());
        node("mmc", vec![compatible, property("reg", vec![0, 0, 0, select])], Vec::new())
    };
    let root = node("", Vec::new(), vec![node("dut", Vec::new(), vec![card(0), card(0), card(1)])]);
    let no_interrupts = |_: u32, _: &[u32]| None;
    let mut board = Board {
        root: &root,
        faults: Vec::new(),
        parameters: Vec::new(),
        declared: None,
        pins: crate::pins_of,
        external: None,
        interrupts: &no_interrupts,
    };
    let mut reader = engine::dt::reader::NodeReader::new(&root.children[0], &mut board);
    Chips::from_node(&mut reader, 1);
    let faults: Vec<String> = board.faults.iter().map(|fault| fault.kind.to_string()).collect();
    assert!(faults.contains(&"reg is 0; another chip has this slave select".to_owned()), "{faults:?}");
    assert!(faults.contains(&"reg is 1; the controller has one slave select, 0".to_owned()), "{faults:?}");
}
