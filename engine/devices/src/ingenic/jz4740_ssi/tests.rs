//! Tests: a device clock of 100 MHz, SCK at 25 MHz, and a chip that records its input.

use engine::polling::{Poll, Polled};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::bench::Bench;
use crate::registers::walk;
use crate::support::hosted_chip::HostedChip;
use engine::bus::device::DeviceId;
use engine::clocks::User;
use engine::dt::wiring::ClockId;
use engine::time::Hz;
use engine::wire::spi::{Burst, Edges, NextClock, SpiTarget};

/// The input of a chip: edges of its select and its clocks in nanoseconds, and the bits that came.
#[derive(Debug, Default)]
struct Seen {
    selects: Vec<(u64, bool)>,
    rises: Vec<u64>,
    bits: Vec<u32>,
}

/// Takes mode 0, answers the bits of `answer` again and again, and interrupts every 8 bits.
#[derive(engine::state::State)]
struct Script {
    #[state(skip)]
    seen: Arc<Mutex<Seen>>,
    answer: u8,
    at: u32,
    selected: bool,
}

impl SpiTarget for Script {
    fn select(&mut self, now: Ps) {
        self.seen.lock().unwrap().selects.push((now.0 / 1000, true));
        (self.at, self.selected) = (0, true);
    }

    fn edges(&mut self, edges: Edges) {
        self.seen.lock().unwrap().rises.push(edges.first_rise.0 / 1000);
    }

    fn shift(&mut self, burst: Burst, _: Ps) -> u32 {
        self.seen.lock().unwrap().bits.push(burst.bits);
        self.at += 1;
        0
    }

    fn deselect(&mut self, now: Ps) {
        self.seen.lock().unwrap().selects.push((now.0 / 1000, false));
        self.selected = false;
    }

    fn next_clock(&self) -> NextClock {
        let level = if self.answer << (self.at % 8) & 0x80 != 0 { 2 } else { 0 };
        NextClock { driven: if self.selected { 2 } else { 0 }, levels: [level; 2], ..NextClock::default() }
    }

    fn interrupt(&self) -> Option<bool> {
        Some(self.at / 8 % 2 == 1)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("bits", u64::from(self.at))]
    }
}

impl Polled for Script {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

const NS: u64 = 1000;
const CLOCK: ClockId = ClockId(9);
/// Eight bits, MSB first, mode 0; no time from chip select to the first bit's time, and no time after the last.
const CR1: u32 = 6 << SSICR1_FLEN.trailing_zeros();

struct Wired {
    bench: Bench,
    seen: Arc<Mutex<Seen>>,
}

fn hz(rate: u64) -> Hz {
    Hz::new(rate).unwrap()
}

fn wired() -> Wired {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let script = Script { seen: Arc::clone(&seen), answer: 0xa5, at: 0, selected: false };
    let line = |bit| Some(IrqLine::Core { core: 0, bit });
    let chip = HostedChip::new(Box::new(script), "chip0".to_owned(), line(5), 0);
    let clock = ClockInput { rate: hz(100_000_000), id: Some(CLOCK) };
    let ssi = Ssi::new(clock, line(4), Chips::new(vec![Some(chip), None]));
    let mut bench = Bench::new(ssi);
    bench.bus.clocks.add_user(CLOCK, User::Device(DeviceId(0)));
    bench.bus.with_device(DeviceId(0), Ps::ZERO, |device, ctx| device.reset(ctx));
    let mut wired = Wired { bench, seen };
    wired.write(0, SSIGR, 1);
    wired.write(0, SSICR1, CR1);
    wired.write(0, SSICR0, SSICR0_SSIE);
    wired
}

impl Wired {
    fn write(&mut self, ns: u64, offset: u32, value: u32) {
        self.bench.run(Ps(ns * NS));
        self.bench.write(Ps(ns * NS), offset, value).unwrap();
    }

    fn read(&mut self, ns: u64, offset: u32) -> u32 {
        self.bench.run(Ps(ns * NS));
        self.bench.value(Ps(ns * NS), offset)
    }

    fn bits(&self) -> u32 {
        self.seen.lock().unwrap().bits.iter().fold(0, |bits, bit| bits << 1 | bit)
    }
}

#[test]
fn the_register_map_holds() {
    let clock = hz(100_000_000);
    let mut bench = Bench::new(Ssi::new(clock, None, Chips::default()));
    walk::device_keeps_its_table(MAP.rows, &["SSIDR", "SSICR0", "SSISR"], &mut bench);
}

#[test]
fn a_word_goes_out_and_one_comes_in_at_their_times() {
    let mut wired = wired();
    wired.write(100, SSIDR, 0x93);
    // SCK has 40 ns: the first rising edge after half of that.
    assert_eq!(wired.read(419, SSISR), SSISR_BUSY | SSISR_RFE | SSISR_TFHE);
    assert_eq!(wired.read(420, SSISR), 1 << SSISR_RFIFO_NUM.trailing_zeros() | SSISR_END | SSISR_TFHE | SSISR_RFHF);
    assert_eq!(wired.read(420, SSIDR), 0xa5);
    assert_eq!((wired.bits(), wired.read(430, SSIDR)), (0x93, 0));
    let seen = wired.seen.lock().unwrap();
    assert_eq!(seen.selects, [(100, true), (420, false)]);
    assert_eq!(seen.rises, [120, 160, 200, 240, 280, 320, 360, 400]);
}

#[test]
fn words_follow_each_other_in_one_frame() {
    let mut wired = wired();
    for word in 0..3 {
        wired.write(100, SSIDR, word);
    }
    assert_eq!(wired.read(100, SSISR) >> SSISR_TFIFO_NUM.trailing_zeros(), 2);
    wired.bench.run(Ps(2000 * NS));
    assert_eq!((wired.bits(), wired.read(2000, SSISR) >> SSISR_RFIFO_NUM.trailing_zeros() & 0x1f), (0x000102, 3));
    assert_eq!(wired.seen.lock().unwrap().selects, [(100, true), (100 + 3 * 320, false)]);
    assert_eq!(wired.seen.lock().unwrap().rises[8], 100 + 320 + 20);
}

#[test]
fn times_around_a_frame_are_clocks_of_sck() {
    let mut wired = wired();
    wired.write(0, SSICR1, CR1 | 2 << SSICR1_TFVCK.trailing_zeros() | 3 << SSICR1_TCKFI.trailing_zeros());
    wired.write(100, SSIDR, 0);
    wired.bench.run(Ps(2000 * NS));
    let seen = wired.seen.lock().unwrap();
    assert_eq!((seen.rises[0], seen.selects[1].0), (100 + 80 + 20, 100 + 80 + 320 + 120));
}

#[test]
fn unfin_holds_the_frame_open() {
    let mut wired = wired();
    wired.write(0, SSICR1, CR1 | SSICR1_UNFIN | 1 << SSICR1_TCKFI.trailing_zeros());
    wired.write(100, SSIDR, 1);
    assert_eq!(wired.read(1000, SSISR) & (SSISR_BUSY | SSISR_UNDR | SSISR_END), SSISR_BUSY | SSISR_UNDR);
    wired.write(1005, SSIDR, 2);
    wired.write(2000, SSICR1, CR1);
    assert_eq!(wired.read(2039, SSISR) & SSISR_BUSY, SSISR_BUSY);
    assert_eq!(wired.read(2040, SSISR) & (SSISR_BUSY | SSISR_UNDR | SSISR_END), SSISR_END | SSISR_UNDR);
    wired.write(2050, SSISR, 0);
    assert_eq!(wired.read(2050, SSISR) & SSISR_UNDR, 0);
    // The second word began with the first edge of the device clock.
    assert_eq!(wired.seen.lock().unwrap().rises[8], 1030);
    assert_eq!(wired.seen.lock().unwrap().selects, [(100, true), (2040, false)]);
}

#[test]
fn fifos_have_sixteen_words() {
    let mut wired = wired();
    wired.write(0, SSICR1, CR1 | SSICR1_UNFIN);
    // One goes to the wire at once.
    for word in 0..18 {
        wired.write(0, SSIDR, word);
    }
    assert_eq!(wired.read(0, SSISR) & (SSISR_TFF | SSISR_TFHE), SSISR_TFF);
    assert!(wired.bench.bus.notes()[0].contains("full"));
    assert_eq!(wired.read(100_000, SSISR) & (SSISR_OVER | SSISR_RFHF), SSISR_OVER | SSISR_RFHF);
    assert_eq!(wired.read(100_000, SSISR) >> SSISR_RFIFO_NUM.trailing_zeros() & 0x1f, 16);
    wired.write(100_000, SSICR0, SSICR0_SSIE | SSICR0_RFLUSH);
    assert_eq!(wired.read(100_000, SSISR) & SSISR_RFE, SSISR_RFE);
}

#[test]
fn the_interrupt_follows_the_fifos() {
    let mut wired = wired();
    wired.write(0, SSICR0, SSICR0_SSIE | SSICR0_RIE);
    wired.write(100, SSIDR, 1);
    wired.bench.run(Ps(419 * NS));
    assert_eq!(wired.bench.pending(), 0);
    wired.bench.run(Ps(420 * NS));
    // The chip's own interrupt comes with its eighth bit.
    assert_eq!(wired.bench.pending(), 1 << 4 | 1 << 5);
    wired.read(500, SSIDR);
    assert_eq!(wired.bench.pending(), 1 << 5);
    wired.write(500, SSICR0, SSICR0_SSIE | SSICR0_TIE);
    assert_eq!(wired.bench.pending(), 1 << 4 | 1 << 5);
    wired.write(500, SSICR0, SSICR0_TIE);
    assert_eq!(wired.bench.pending(), 1 << 5);
}

#[test]
fn a_chip_of_mode_0_sees_other_modes_by_its_own_edges() {
    let exchange = |mode: u32| {
        let mut wired = wired();
        wired.write(0, SSICR1, CR1 | mode);
        wired.write(100, SSIDR, 0x93);
        wired.bench.run(Ps(5000 * NS));
        (wired.bits(), wired.read(5000, SSIDR))
    };
    assert_eq!(exchange(0), (0x93, 0xa5));
    assert_eq!(exchange(SSICR1_POL | SSICR1_PHA), (0x93, 0xa5));
    // A bit changes on the very edge on which the chip takes it: it gets the one before, first what was there at rest.
    assert_eq!(exchange(SSICR1_PHA), (1 << 7 | 0x93 >> 1, 0xa5));
    // The controller samples on the edges on which the chip changes its output, after its first rising one.
    assert_eq!(exchange(SSICR1_POL), (0x93, 1 << 7 | 0xa5 >> 1));
}

#[test]
fn words_may_be_wider_and_lowest_bit_first() {
    let mut wired = wired();
    wired.write(0, SSICR1, 14 << SSICR1_FLEN.trailing_zeros() | SSICR1_LFST);
    wired.write(100, SSIDR, 0x1234);
    assert_eq!(wired.read(5000, SSIDR), 0xa5a5);
    assert_eq!(wired.bits(), 0x1234_u32.reverse_bits() >> 16);
}

#[test]
fn the_loop_brings_back_what_goes_out() {
    let mut wired = wired();
    wired.write(0, SSICR0, SSICR0_SSIE | SSICR0_LOOP);
    wired.write(100, SSIDR, 0x3c);
    assert_eq!(wired.read(5000, SSIDR), 0x3c);
}

#[test]
fn the_second_select_has_no_chip_and_reads_ones() {
    let mut wired = wired();
    wired.write(0, SSICR0, SSICR0_SSIE | SSICR0_FSEL);
    wired.write(100, SSIDR, 0x3c);
    assert_eq!(wired.read(5000, SSIDR), 0xff);
    assert_eq!(wired.seen.lock().unwrap().selects, []);
}

#[test]
fn another_device_clock_counts_from_the_next_frame() {
    let mut wired = wired();
    wired.write(100, SSIDR, 0);
    wired.bench.bus.set_clocks(&[(CLOCK, hz(50_000_000))], Ps(600 * NS));
    wired.write(1000, SSIDR, 0);
    wired.bench.run(Ps(5000 * NS));
    let seen = wired.seen.lock().unwrap();
    assert_eq!((seen.rises[1] - seen.rises[0], seen.rises[9] - seen.rises[8]), (40, 80));
}

#[test]
fn what_is_left_of_a_word_goes_on_at_another_rate() {
    let mut wired = wired();
    wired.write(100, SSIDR, 0x93);
    // Rises are at 120 ns, 160 ns, and so on. After the fourth, at 240 ns, there are 3 cycles of 10 ns to the next but
    // one edge, which are of 20 ns from then on.
    wired.bench.run(Ps(250 * NS));
    wired.bench.bus.set_clocks(&[(CLOCK, hz(50_000_000))], Ps(250 * NS));
    assert_eq!(wired.read(1000, SSIDR), 0xa5);
    let seen = wired.seen.lock().unwrap();
    // Edges of 50 MHz are at multiples of 20 ns, the last one before at 240 ns.
    assert_eq!(seen.rises, [120, 160, 200, 240, 300, 380, 460, 540]);
    assert_eq!(seen.selects, [(100, true), (580, false)]);
}

#[test]
fn waveforms_show_the_words() {
    let mut wired = wired();
    wired.bench.bus.waves.start();
    wired.write(100, SSIDR, 0x93);
    wired.bench.run(Ps(5000 * NS));
    let names: Vec<String> = wired.bench.bus.waves.signals().iter().map(|signal| signal.name.clone()).collect();
    let sck = names.iter().position(|name| name == "sck").unwrap() as u32;
    let changes = wired.bench.bus.waves.take();
    let rises: Vec<u64> =
        changes.iter().filter(|change| change.signal == sck && change.level).map(|change| change.at.0 / NS).collect();
    assert_eq!(rises, wired.seen.lock().unwrap().rises);
}

#[test]
fn waveforms_show_a_chip_select_that_is_active_high() {
    let mut wired = wired();
    wired.bench.bus.waves.start();
    wired.write(100, SSICR1, CR1 | 1 << SSICR1_FRMHL.trailing_zeros());
    wired.write(200, SSIDR, 0x93);
    wired.bench.run(Ps(5000 * NS));
    let waves = &mut wired.bench.bus.waves;
    let cs0 = waves.signals().iter().position(|signal| signal.name == "cs0").unwrap() as u32;
    let levels: Vec<bool> =
        waves.take().iter().filter(|change| change.signal == cs0).map(|change| change.level).collect();
    assert_eq!(levels, [false, true, false]);
}

#[test]
fn switching_off_ends_the_frame() {
    let mut wired = wired();
    wired.write(100, SSIDR, 0x93);
    wired.write(200, SSICR0, 0);
    assert_eq!(wired.read(200, SSISR) & SSISR_BUSY, 0);
    assert_eq!(wired.seen.lock().unwrap().selects, [(100, true), (200, false)]);
    assert!(wired.bench.bus.notes()[0].contains("SSIE"));
}

proptest! {
    #[test]
    fn nothing_upsets_it(
        steps in proptest::collection::vec((0u32..0x20, any::<u32>(), 0u64..3000, any::<bool>()), 0..80),
    ) {
        let mut wired = wired();
        let mut now = 0;
        for (offset, value, pause, write) in steps {
            now += pause;
            // Most writes are of data, with the controller on.
            let offset = if value % 3 == 0 { SSIDR } else { offset & !3 };
            let value = if offset == SSICR0 { value | SSICR0_SSIE } else { value };
            if write {
                wired.write(now, offset, value);
            } else {
                let status = wired.read(now, SSISR);
                prop_assert!(status >> SSISR_TFIFO_NUM.trailing_zeros() <= 16);
                prop_assert!(crate::registers::field(status, SSISR_RFIFO_NUM) <= 16);
                wired.read(now, offset);
            }
        }
        wired.bench.run(Ps(1_000_000_000 * NS));
        let seen = wired.seen.lock().unwrap();
        prop_assert!(seen.selects.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 != pair[1].1));
        prop_assert!(seen.rises.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}

#[test]
fn a_word_is_in_a_fifo_until_the_wire_takes_it_or_the_firmware() {
    let mut wired = wired();
    wired.bench.record_entries();
    for word in [1, 2, 3] {
        wired.write(1000, SSIDR, word);
    }
    wired.read(3000, SSIDR);
    wired.write(3500, SSICR0, SSICR0_SSIE | SSICR0_RFLUSH);
    // The first word goes through at once, and takes 8 bits of 40 ns, as each of the others after it.
    let times = |times: &[(u64, u64)]| times.iter().map(|(from, to)| (from * NS, to * NS)).collect::<Vec<_>>();
    let mut reported = |name| {
        let entries = wired.bench.entries(name, Ps(4000 * NS));
        entries.into_iter().map(|(from, to, value)| ((from, to), value)).unzip::<_, _, Vec<_>, Vec<_>>()
    };
    assert_eq!(reported("TX FIFO"), (times(&[(1000, 1320), (1000, 1640)]), vec![2, 3]));
    assert_eq!(reported("RX FIFO").0, times(&[(1320, 3000), (1640, 3500), (1960, 3500)]));
}

#[test]
fn nothing_goes_out_while_it_is_off() {
    let mut wired = wired();
    wired.write(50, SSICR0, 0);
    wired.write(100, SSIDR, 0x93);
    wired.bench.run(Ps(1000 * NS));
    assert_eq!(wired.seen.lock().unwrap().selects, []);
}
