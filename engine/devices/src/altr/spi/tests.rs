use engine::polling::{Poll, Polled};
use std::sync::{Arc, Mutex};

use super::*;
use crate::bench::{Bench, CPU_INTC, read_node};
use crate::registers::walk;
use crate::support::axi_lite::AxiLitePort;
use crate::support::hosted_chip::HostedChip;
use crate::support::spi_controller::Format;
use engine::bus::device::{DeviceId, IrqLine};
use engine::time::Hz;
use engine::wire::spi::{Burst, SpiTarget};

mod clocked;
mod polling;

/// A call that a [`Script`] got, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saw {
    Select(usize, Ps),
    Word(usize, u32, Ps),
    Idle(usize, u32, Ps),
    Deselect(usize, Ps),
}

/// A chip that writes down what happens to it, and answers word `n` with [`answer`]`(n)`.
#[derive(engine::state::State)]
struct Script {
    number: usize,
    #[state(skip)]
    saw: Arc<Mutex<Vec<Saw>>>,
    words: u32,
}

fn answer(word: u32) -> u32 {
    word.wrapping_mul(37).wrapping_add(5)
}

impl Script {
    fn write_down(&self, saw: Saw) {
        self.saw.lock().unwrap().push(saw);
    }
}

impl SpiTarget for Script {
    fn select(&mut self, now: Ps) {
        self.write_down(Saw::Select(self.number, now));
    }

    fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        self.write_down(Saw::Word(self.number, burst.bits, end));
        self.words += 1;
        answer(self.words - 1)
    }

    fn deselect(&mut self, now: Ps) {
        self.write_down(Saw::Deselect(self.number, now));
    }

    fn idle_clocks(&mut self, clocks: u32, end: Ps) {
        self.write_down(Saw::Idle(self.number, clocks, end));
    }

    fn take_notes(&mut self) -> Vec<String> {
        vec!["was deselected".to_owned()]
    }
}

impl Polled for Script {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

fn clock() -> Hz {
    Hz::new(99_038_462).unwrap()
}

fn at(cycle: u64) -> Ps {
    clock().ps_at_floor(Cycles(cycle))
}

/// Words of 8 bits, the highest first, in mode 0, with two slaves.
fn params(half_cycles: u64) -> Params {
    Params {
        port: AxiLitePort { clock: clock(), read_cycles: Cycles(1), write_cycles: Cycles(1) },
        format: Format { bits: 8, half: half_cycles, ..Format::default() },
        slaves: 2,
        interrupt: Some(IrqLine::Core { core: 0, bit: 18 }),
    }
}

/// The same in another mode of the clock.
fn in_mode(cpol: bool, cpha: bool, params: Params) -> Params {
    Params { format: Format { cpol, cpha, ..params.format }, ..params }
}

struct Rig {
    bench: Bench,
    saw: Arc<Mutex<Vec<Saw>>>,
}

impl Rig {
    fn new(params: Params) -> Rig {
        let saw: Arc<Mutex<Vec<Saw>>> = Arc::default();
        let chip = |number| {
            let script = Script { number: number as usize, saw: saw.clone(), words: 0 };
            Some(HostedChip::new(Box::new(script), format!("chip{number}"), None, number))
        };
        let chips = Chips::new((0..params.slaves).map(chip).collect());
        Rig { bench: Bench::new(AltrSpi::new(params, chips)), saw: saw.clone() }
    }

    fn put(&mut self, cycle: u64, offset: u32, value: u32) {
        assert_eq!(self.bench.write(at(cycle), offset, value), Ok(at(cycle + 1)));
    }

    fn get(&mut self, cycle: u64, offset: u32) -> u32 {
        let (value, done) = self.bench.read(at(cycle), offset).unwrap();
        assert_eq!(done, at(cycle + 1));
        value
    }

    fn saw(&self) -> Vec<Saw> {
        self.saw.lock().unwrap().clone()
    }

    fn clear(&mut self) {
        self.saw.lock().unwrap().clear();
    }
}

#[test]
fn the_register_map_holds() {
    let properties: &[(&str, &[u32])] =
        &[("clock-frequency", &[2_000_000]), ("interrupts-extended", &[CPU_INTC, 18]), ("altr,databits", &[32])];
    let (mut bench, faults) = read_node(from_node, properties);
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(bench.value(Ps(0), STATUS), 0x60);
    walk::device_keeps_its_table(MAP.rows, &["status", "slaveselect"], &mut bench);
    assert_eq!(bench.value(Ps(0), SLAVESELECT), 1);
    assert_eq!(bench.read(Ps(1), 0x10), Ok((0, Ps(50_000))));
    assert_eq!(bench.write(Ps(1), 0x10, 1), Ok(Ps(40_000)));
}

#[test]
fn options_out_of_range_are_faults() {
    let faults = |properties: &[(&str, &[u32])]| read_node(from_node, properties).1;
    let target: (&str, &[u32]) = ("clock-frequency", &[400_000]);
    assert_eq!(faults(&[target, ("altr,databits", &[32]), ("num-cs", &[32])]), [""; 0]);
    assert_eq!(faults(&[target, ("altr,databits", &[33])]), ["altr,databits is 33; a word has 1 to 32 bits"]);
    assert_eq!(faults(&[target, ("num-cs", &[0])]), ["num-cs is 0; the core has 1 to 32 slave selects"]);
    assert_eq!(faults(&[target, ("altr,clockphase", &[2])]).len(), 1);
    assert!(faults(&[])[0].starts_with("property 'clock-frequency' is missing"));
}

#[test]
fn a_word_takes_two_halves_more_than_its_bits() {
    for half in [1, 2, 16, 125] {
        let mut rig = Rig::new(params(half));
        rig.put(100, TXDATA, 0xa5);
        // In the holding register at 102, in the shift register at 103.
        let end = 103 + 18 * half;
        assert_eq!(rig.get(end - 2, STATUS) & (STATUS_TMT | STATUS_TRDY | STATUS_RRDY), STATUS_TRDY, "half {half}");
        assert_eq!(rig.get(end, STATUS), STATUS_TMT | STATUS_TRDY | STATUS_RRDY);
        assert_eq!(rig.get(end + 2, RXDATA), 5);
        assert_eq!(rig.get(end + 4, STATUS), STATUS_TMT | STATUS_TRDY);
        let saw = rig.saw();
        assert_eq!(saw[0], Saw::Select(0, at(103 + half)));
        assert_eq!(saw[1], Saw::Word(0, 0xa5, at(103 + 17 * half)));
        assert_eq!(saw[2], Saw::Deselect(0, at(end)));
    }
}

#[test]
fn waveforms_show_sck_between_the_selects_halves() {
    for (clock_polarity, clock_phase) in [(false, false), (true, true)] {
        let mut rig = Rig::new(in_mode(clock_polarity, clock_phase, params(5)));
        rig.bench.record();
        rig.put(10, SLAVESELECT, 2);
        rig.put(20, TXDATA, 0xa5);
        rig.get(1000, STATUS);
        // The word starts at edge 23; SCK moves at the end of halves 1 to 16, and the
        // chip's clock ends with its last edge.
        let edges: Vec<_> = (2..=17).map(|half| (at(23 + 5 * half), clock_polarity != (half % 2 == 0))).collect();
        assert_eq!(rig.bench.recorded("sck"), edges);
        assert!(rig.saw().contains(&Saw::Word(1, 0xa5, at(23 + 17 * 5))));
        let through = at(23 + 18 * 5);
        assert_eq!(rig.bench.recorded("cs1"), [(at(23 + 5), false), (through, true)]);
        assert_eq!(rig.bench.recorded("cs0"), []);
        // Mode 3 changes bits with the clock's fall, mode 0 half a period before its rise.
        let first = if clock_phase { 2 } else { 1 };
        let sent = [(1, false), (2, true), (3, false), (5, true), (6, false), (7, true)];
        let bits = sent.map(|(bit, level)| (at(23 + 5 * (first + 2 * bit)), level));
        assert_eq!(rig.bench.recorded("mosi"), bits);
    }
}

#[test]
fn words_follow_each_other_with_a_clock_between() {
    let mut rig = Rig::new(params(2));
    rig.put(100, TXDATA, 1);
    rig.put(102, TXDATA, 2);
    assert_eq!(rig.get(104, STATUS) & (STATUS_TMT | STATUS_TRDY), 0);
    let first_end = 103 + 36;
    assert_eq!(rig.get(first_end, STATUS) & (STATUS_TMT | STATUS_TRDY | STATUS_RRDY), STATUS_TRDY | STATUS_RRDY);
    rig.get(first_end + 2, RXDATA);
    let second_end = first_end + 1 + 36;
    assert_eq!(rig.get(second_end - 1, STATUS) & STATUS_RRDY, 0);
    assert_eq!(rig.get(second_end + 1, STATUS) & STATUS_RRDY, STATUS_RRDY);
    let words: Vec<Saw> = rig.saw().into_iter().filter(|saw| matches!(saw, Saw::Word(..))).collect();
    assert_eq!(words, [Saw::Word(0, 1, at(103 + 34)), Saw::Word(0, 2, at(first_end + 1 + 34))]);
}

#[test]
fn overruns_are_flagged_until_the_status_is_written() {
    let mut rig = Rig::new(params(1));
    for cycle in [100, 102, 104] {
        rig.put(cycle, TXDATA, 0x11);
    }
    assert_eq!(rig.get(106, STATUS) & (STATUS_TOE | STATUS_E), STATUS_TOE | STATUS_E);
    // Two words, the first of them never read: the second takes its place.
    assert_eq!(rig.get(200, STATUS), STATUS_TMT | STATUS_TRDY | STATUS_RRDY | STATUS_TOE | STATUS_ROE | STATUS_E);
    rig.put(202, STATUS, 0);
    assert_eq!(rig.get(204, STATUS), STATUS_TMT | STATUS_TRDY);
    assert_eq!(rig.get(206, RXDATA), answer(1));
    let counters = rig.bench.bus.with_device(DeviceId(0), at(210), |device, _| device.counters());
    let expected = [("bytes", 2), ("sck_clocks", 16), ("frames", 2), ("rx_overruns", 1), ("tx_overruns", 1)];
    assert_eq!(counters, expected.map(|(name, count)| (name.to_owned(), count)));
}

#[test]
fn a_word_that_ends_with_the_read_of_the_last_is_kept() {
    // The read of the first word ends in the clock in which the second comes.
    let mut rig = Rig::new(params(1));
    rig.put(100, TXDATA, 1);
    rig.put(102, TXDATA, 2);
    let second_end = 103 + 18 + 1 + 18;
    assert_eq!(rig.get(second_end - 2, RXDATA), answer(0));
    assert_eq!(rig.get(second_end, STATUS) & (STATUS_RRDY | STATUS_ROE), STATUS_RRDY | STATUS_ROE);
    assert_eq!(rig.get(second_end + 2, RXDATA), answer(1));
}

#[test]
fn sso_keeps_the_slave_selected() {
    let mut rig = Rig::new(params(1));
    rig.put(100, SLAVESELECT, 2);
    assert_eq!(rig.get(102, SLAVESELECT), 1, "not in force yet");
    rig.put(104, CONTROL, CONTROL_SSO);
    assert_eq!(rig.get(106, SLAVESELECT), 2);
    rig.put(110, TXDATA, 0xff);
    rig.put(150, TXDATA, 0);
    rig.put(200, CONTROL, 0);
    assert_eq!(
        rig.saw(),
        [
            Saw::Select(1, at(106)),
            Saw::Idle(0, 8, at(113 + 17)),
            Saw::Word(1, 0xff, at(113 + 17)),
            Saw::Word(1, 0, at(153 + 17)),
            Saw::Deselect(1, at(202)),
        ]
    );
    assert_eq!(rig.bench.bus.notes().len(), 2, "notes of both chips: {:?}", rig.bench.bus.notes());
}

#[test]
fn a_select_that_changes_under_a_word_changes_after_it() {
    let mut rig = Rig::new(params(4));
    rig.put(100, TXDATA, 1);
    rig.put(110, SLAVESELECT, 2);
    rig.put(112, CONTROL, CONTROL_SSO);
    let last_sck = at(103 + 17 * 4);
    let expected =
        [Saw::Select(0, at(107)), Saw::Word(0, 1, last_sck), Saw::Deselect(0, last_sck), Saw::Select(1, last_sck)];
    assert_eq!(rig.saw(), expected);
    assert!(rig.bench.bus.notes()[0].contains("in the middle of a transfer"));
}

#[test]
fn without_a_slave_all_chips_see_idle_clocks_while_the_line_is_high() {
    let mut rig = Rig::new(params(1));
    rig.put(100, SLAVESELECT, 0);
    rig.put(102, TXDATA, 0xff);
    let end = at(105 + 17);
    assert_eq!(rig.saw(), [Saw::Idle(0, 8, end), Saw::Idle(1, 8, end)]);
    assert_eq!(rig.get(130, RXDATA), 0xff);
    rig.clear();
    rig.put(140, TXDATA, 0xfe);
    assert_eq!(rig.saw(), []);
}

#[test]
fn the_width_and_order_of_bits_are_the_generators() {
    let mut rig = Rig::new(Params { format: Format { bits: 12, lsb_first: true, ..params(1).format }, ..params(1) });
    rig.put(100, TXDATA, 0xf801);
    assert_eq!(rig.get(103 + 25, STATUS) & STATUS_RRDY, 0);
    assert_eq!(rig.get(103 + 26, STATUS) & STATUS_RRDY, STATUS_RRDY);
    assert_eq!(rig.saw()[1], Saw::Word(0, 0b1000_0000_0001, at(103 + 25)));
    // The chip's 000000000101, read from the other end.
    assert_eq!(rig.get(140, RXDATA), 0b1010_0000_0000);
}

#[test]
fn the_end_of_packet_value_is_found_in_both_directions() {
    let mut rig = Rig::new(params(1));
    rig.put(100, EOP_VALUE, 5);
    rig.put(102, TXDATA, 4);
    assert_eq!(rig.get(140, STATUS) & STATUS_EOP, 0);
    rig.get(142, RXDATA);
    assert_eq!(rig.get(144, STATUS) & STATUS_EOP, STATUS_EOP);
    rig.put(146, STATUS, 0);
    rig.put(148, TXDATA, 0x105);
    assert_eq!(rig.get(150, STATUS) & STATUS_EOP, STATUS_EOP);
}

#[test]
fn interrupts_follow_their_flags() {
    const LINE: u32 = 1 << 18;
    let mut rig = Rig::new(params(2));
    rig.put(100, TXDATA, 1);
    assert_eq!(rig.bench.bus.events.next_due(), Ps::MAX, "nobody waits");
    rig.put(110, CONTROL, STATUS_RRDY);
    let end = 103 + 36;
    rig.bench.run(at(end));
    assert_eq!(rig.bench.pending(), 0);
    rig.bench.run(at(end + 1));
    assert_eq!(rig.bench.pending(), LINE);
    rig.get(150, RXDATA);
    assert_eq!(rig.bench.pending(), 0);
    // TMT has no interrupt.
    rig.put(160, CONTROL, STATUS_TMT);
    assert_eq!((rig.bench.pending(), rig.get(162, CONTROL)), (0, 0));
    rig.put(164, CONTROL, STATUS_TRDY);
    assert_eq!(rig.bench.pending(), LINE);
}

#[test]
fn a_polarity_and_phase_that_differ_are_noted() {
    for (clock_polarity, clock_phase, notes) in [(false, false, 0), (true, true, 0), (false, true, 1), (true, false, 1)]
    {
        let mut rig = Rig::new(in_mode(clock_polarity, clock_phase, params(1)));
        rig.put(100, TXDATA, 1);
        assert_eq!(rig.bench.bus.notes().len(), notes);
    }
}
