//! What goes over the wire, clock by clock, as a chip sees it that writes everything down.

use engine::polling::{Poll, Polled};
use std::sync::{Arc, Mutex};

use super::*;
use engine::wire::spi::{Burst, Drive, Lines, Rate};

/// A call of the chip, with the cycle at whose start it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saw {
    Select(u64),
    Shift(Burst, u64),
    Deselect(u64),
}

/// The chip: it answers with 01020304h to everything.
#[derive(engine::state::State)]
struct Script(#[state(skip)] Arc<Mutex<Vec<Saw>>>);

fn cycle(at: Ps) -> u64 {
    Soc::clock().cycles_until_ceil(at).0
}

impl SpiTarget for Script {
    fn select(&mut self, now: Ps) {
        self.0.lock().unwrap().push(Saw::Select(cycle(now)));
    }

    fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        self.0.lock().unwrap().push(Saw::Shift(burst, cycle(end)));
        0x0102_0304
    }

    fn deselect(&mut self, now: Ps) {
        self.0.lock().unwrap().push(Saw::Deselect(cycle(now)));
    }
}

impl Polled for Script {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// An interface with such a chip, and what the chip saw.
fn scripted() -> (Soc, Arc<Mutex<Vec<Saw>>>) {
    let saw = Arc::new(Mutex::new(Vec::new()));
    let chip = HostedChip::new(Box::new(Script(Arc::clone(&saw))), "flash0".to_owned(), None, 0);
    let device = PicosocSpimemio::new(Soc::clock(), WINDOW, chip);
    let mut bus = Bus::default();
    bus.devices.push(Some(Box::new(device)));
    bus.device_names.push("spimemio".to_owned());
    (Soc { bus, cycle: 0 }, saw)
}

fn take(saw: &Mutex<Vec<Saw>>) -> Vec<Saw> {
    std::mem::take(&mut saw.lock().unwrap())
}

/// A byte on one line that ends at `end`.
fn byte(byte: u8, end: u64) -> Saw {
    Saw::Shift(Burst::byte_out(Lines::Single, byte), end)
}

#[test]
fn the_first_word_follows_the_preamble() {
    let (mut soc, saw) = scripted();
    assert_eq!(soc.word(0x12_3450), (167, 0x0403_0201));
    let expected = [
        Saw::Select(2),
        byte(0xff, 18),
        Saw::Deselect(19),
        Saw::Select(20),
        byte(0xab, 36),
        Saw::Deselect(37),
        Saw::Select(38),
        byte(0x03, 54),
        Saw::Shift(Burst::output(Lines::Single, Rate::Single, 24, 0x12_3450), 102),
        Saw::Shift(Burst::input(Lines::Single, Rate::Single, 32), 166),
    ];
    assert_eq!(take(&saw), expected);
}

#[test]
fn a_jump_cuts_the_word_and_sends_a_frame_of_the_modes_shape() {
    let output = |lines, rate, data| Burst::output(lines, rate, 32, data);
    for (config, header) in [
        (0x8043_0000, output(Lines::Dual, Rate::Single, 0x12_3450ff)),
        (0x8023_0000, output(Lines::Quad, Rate::Single, 0x12_3450ff)),
        (0x8063_0000, output(Lines::Quad, Rate::Double, 0x12_3450ff)),
        (0x8073_0000, output(Lines::Quad, Rate::Double, 0x12_3450a5)),
    ] {
        let (mut soc, saw) = scripted();
        soc.configure(config);
        soc.word(0x1000);
        take(&saw);
        let ddr = header.rate == Rate::Double;
        // The next word's clocks start at the end of the first one's, a cycle (DDR: two) before its answer.
        let jump = soc.cycle + 3;
        soc.cycle = jump;
        let (cycles, _) = soc.word(0x12_3450);
        let mut expected = vec![
            Saw::Shift(Burst { clocks: 2 + u32::from(ddr), ..Burst::input(header.lines, header.rate, 0) }, jump),
            Saw::Deselect(jump + 1),
            Saw::Select(jump + 2),
        ];
        let mut at = jump + 2;
        if config & CFG_CRM == 0 {
            at += 16;
            expected.push(byte(mode_of(config).width.opcode, at));
        }
        at += 2 * u64::from(header.clocks);
        expected.push(Saw::Shift(header, at));
        at += 2 * 3;
        expected.push(Saw::Shift(Burst::dummy(header.lines, 3), at));
        at += 2 * u64::from(header.clocks);
        expected.push(Saw::Shift(Burst::input(header.lines, header.rate, 32), at));
        assert_eq!(take(&saw), expected, "{config:#x}");
        assert_eq!(cycles, at + 1 + u64::from(ddr) - jump, "{config:#x}");
    }
}

#[test]
fn words_that_nobody_asks_for_pass_on_the_wire_too() {
    let (mut soc, saw) = scripted();
    soc.configure(0x8020_0000);
    soc.word(0x1000);
    take(&saw);
    let first_end = soc.cycle - 2;
    soc.cycle += 500;
    let now = soc.cycle;
    soc.configure(0x8020_0000);
    let word = Burst::input(Lines::Quad, Rate::Single, 32);
    // The word after the first one, and three more bytes, held back until the configuration write cuts them off.
    let expected = [Saw::Shift(word, first_end + 16), Saw::Shift(Burst { clocks: 6, ..word }, now)];
    assert_eq!(take(&saw), expected);
    assert_eq!(soc.counter("words_unused"), 1);
}

#[test]
fn a_configuration_write_cuts_the_preamble_off() {
    let (mut soc, saw) = scripted();
    soc.cycle = 26;
    soc.configure(0x8008_0000);
    let half = Burst { drive: Drive::Controller, ..Burst::output(Lines::Single, Rate::Single, 3, 0b101) };
    let expected = [Saw::Select(2), byte(0xff, 18), Saw::Deselect(19), Saw::Select(20), Saw::Shift(half, 26)];
    assert_eq!(take(&saw), expected);
    soc.word(0x1000);
    assert_eq!(take(&saw)[..3], [Saw::Deselect(28), Saw::Select(29), byte(0xff, 45)]);
}

#[test]
fn the_end_of_the_run_leaves_the_clocks_up_to_then() {
    let (mut soc, saw) = scripted();
    soc.word(0x1000);
    take(&saw);
    let end = soc.cycle + 70;
    let now = Soc::clock().ps_at_floor(Cycles(end));
    soc.bus.devices[0].as_mut().unwrap().finish(now);
    let word = Burst::input(Lines::Single, Rate::Single, 32);
    assert_eq!(take(&saw), [Saw::Shift(word, 166 + 64), Saw::Shift(Burst { clocks: 4, ..word }, end)]);
}
