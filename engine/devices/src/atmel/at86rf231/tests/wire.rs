//! Bits and edges.

use super::*;
use engine::wire::spi::{Drive, Rate};

/// Selects the chip long after anything else.
fn selected(bench: &mut Bench) {
    bench.wait_us(1);
    bench.chip.select(bench.now);
}

/// A clock with its rising edge after `low` and its falling edge after `high`.
fn clock(bench: &mut Bench, bit: u32, low: Ps, high: Ps) -> u32 {
    let first_rise = bench.now + low;
    let data_since = bench.now.saturating_sub(HALF);
    let edges = Edges { data_since, first_rise, period: Ps::ZERO, high, held: high };
    bench.chip.edges(edges);
    bench.now = first_rise + high;
    bench.chip.shift(Burst::output(Lines::Single, Rate::Single, 1, bit), bench.now)
}

/// `count` clocks, with zeroes.
fn clocks(bench: &mut Bench, count: u32, low: Ps, high: Ps) {
    for _ in 0..count {
        clock(bench, 0, low, high);
    }
}

fn violations(bench: &mut Bench, name: &str) -> Vec<String> {
    bench.notes().into_iter().filter(|note| note.contains(name)).collect()
}

#[test]
fn bits_and_bytes_are_the_same() {
    let mut bench = Bench::new();
    selected(&mut bench);
    bench.now += Ps::from_ns(200);
    let sent = 0x9e00_u32;
    let shown = (0..16)
        .rev()
        .fold(0, |shown, bit| shown << 1 | clock(&mut bench, sent >> bit & 1, Ps::from_ns(150), Ps::from_ns(150)));
    bench.now += Ps::from_us(1);
    bench.chip.deselect(bench.now);
    assert_eq!(shown, 0x001f);
    assert_eq!(bench.notes(), [""; 0]);
    assert_eq!(bench.counter("timing_violations"), 0);
}

#[test]
fn a_clock_that_is_too_fast_is_noted_once_with_its_time() {
    let mut bench = Bench::new();
    selected(&mut bench);
    bench.now += Ps::from_ns(300);
    let start = bench.now;
    clocks(&mut bench, 16, Ps::from_ns(60), Ps::from_ns(60));
    let notes = violations(&mut bench, "period of SCLK");
    let at = start + Ps::from_ns(180);
    assert_eq!(notes, [format!("the period of SCLK was 120.000 ns at {at}; the least is 133.333 ns")]);
    // 15 periods, and one pause between bytes.
    assert_eq!(bench.counter("timing_violations"), 16);
}

#[test]
fn each_limit_is_held() {
    let ns = Ps::from_ns;
    let check = |name: &str, drive: &dyn Fn(&mut Bench)| {
        let mut bench = Bench::new();
        selected(&mut bench);
        drive(&mut bench);
        assert_eq!((violations(&mut bench, name).len(), bench.counter("timing_violations")), (1, 1), "{name}");
    };
    check("t1", &|bench| clocks(bench, 1, ns(179), ns(100)));
    check("t2", &|bench| {
        clock(bench, 1, ns(200), ns(200));
        clock(bench, 1, ns(9), ns(200));
    });
    check("t5", &|bench| clocks(bench, 9, ns(190), ns(40)));
    check("t8", &|bench| {
        bench.chip.deselect(bench.now);
        bench.now += ns(249);
        bench.chip.select(bench.now);
    });
    check("t9", &|bench| {
        clock(bench, 1, ns(200), ns(100));
        bench.chip.deselect(bench.now + ns(149));
    });
    check("t7", &|bench| {
        bench.control(ControlPin::Sleep, true);
        bench.now += ns(62);
        bench.control(ControlPin::Sleep, false);
    });
    let edge = |bench: &mut Bench, setup: Ps, held: Ps| {
        let first_rise = bench.now + ns(300);
        let data_since = first_rise.saturating_sub(setup);
        bench.chip.edges(Edges { data_since, first_rise, period: Ps::ZERO, high: ns(100), held });
        bench.chip.shift(Burst::output(Lines::Single, Rate::Single, 1, 1), first_rise + ns(100));
    };
    check("t3", &|bench| edge(bench, ns(9), ns(100)));
    check("t4", &|bench| edge(bench, ns(100), ns(9)));
}

#[test]
fn miso_comes_late() {
    let mut bench = Bench::new();
    bench.write(registers::TRX_CTRL_1, 0x24);
    selected(&mut bench);
    let at = |bench: &Bench, ns: u64| bench.chip.next_clock_at(bench.now + Ps::from_ns(ns));
    assert_eq!((at(&bench, 179).driven, at(&bench, 180).driven, bench.chip.next_clock().driven), (0, 2, 2));
    // TRX_STATUS of TRX_OFF is 0000_1000.
    bench.now += Ps::from_ns(200);
    clocks(&mut bench, 4, Ps::from_ns(200), Ps::from_ns(200));
    assert_eq!(
        [at(&bench, 9), at(&bench, 10), bench.chip.next_clock()].map(|next_clock| next_clock.levels[0]),
        [0, 2, 2]
    );
    clock(&mut bench, 0, Ps::from_ns(200), Ps::from_ns(200));
    assert_eq!([at(&bench, 9), at(&bench, 10)].map(|next_clock| next_clock.levels[0]), [2, 0]);
    bench.chip.deselect(bench.now);
    assert_eq!(bench.chip.next_clock().driven, 0);
}

#[test]
fn a_clock_that_rests_high_shows_the_chip_a_bit_ahead() {
    let mut bench = Bench::new();
    selected(&mut bench);
    let send = |bench: &mut Bench, byte: u8| {
        let first_rise = bench.now + Ps::from_ns(300);
        let period = Ps::from_ns(300);
        bench.chip.edges(Edges { data_since: bench.now, first_rise, period, high: HALF, held: HALF });
        bench.now = first_rise + Ps(8 * period.0);
        bench.chip.shift(Burst::byte_out(Lines::Single, byte), bench.now)
    };
    bench.chip.falls_first(bench.now);
    send(&mut bench, 0x9e);
    assert_eq!(send(&mut bench, 0), 0x1f << 1);
    assert!(bench.notes()[0].contains("mode 0"));
}

#[test]
fn other_lines_are_noted_and_do_no_harm() {
    let mut bench = Bench::new();
    selected(&mut bench);
    let burst = Burst { lines: Lines::Quad, rate: Rate::Double, drive: Drive::Target, clocks: 4, bits: 0 };
    // IO1 is low, the others are pulled up.
    assert_eq!(bench.chip.shift(burst, bench.now), 0xdddd_dddd);
    bench.chip.deselect(bench.now);
    let notes = bench.notes();
    assert!(notes[0].contains("one data line") && notes[1].contains("within a byte"), "{notes:?}");
}
