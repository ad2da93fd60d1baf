use super::*;
use crate::activity::Scope;
use crate::observe::waves::Change;

const MHZ_10: u64 = 10_000_000;

fn levels(changes: &[Change], signal: u32) -> Vec<(u64, bool)> {
    changes.iter().filter(|change| change.signal == signal).map(|change| (change.at.0, change.level)).collect()
}

/// The changes of wires by a burst on a bus that was at rest.
fn recorded(widest: Lines, burst: Burst, received: u32, clock: SerialClock) -> Vec<Change> {
    let waves = Waves::default();
    let signals = SpiSignals::new(&waves, Scope::default(), "spi0", widest, 1);
    signals.rest(clock.cpol, Ps::ZERO);
    waves.start();
    signals.burst(burst, received, clock);
    waves.recorded().unwrap().map(Result::unwrap).collect()
}

fn clock(hz: u64, start: u64, period: u64) -> SerialClock {
    SerialClock { source: Hz::new(hz).unwrap(), start, period, cpol: false, cpha: false }
}

#[test]
fn a_burst_of_clocks_has_its_edges_where_the_mode_puts_them() {
    for (cpol, cpha, edges) in [
        (false, false, [(150, true), (200, false), (250, true), (300, false)]),
        (true, false, [(150, false), (200, true), (250, false), (300, true)]),
        (false, true, [(100, true), (150, false), (200, true), (250, false)]),
        (true, true, [(100, false), (150, true), (200, false), (250, true)]),
    ] {
        let clock = SerialClock { cpol, cpha, ..clock(1_000_000_000_000, 100, 100) };
        let burst = Burst::output(Lines::Single, Rate::Single, 2, 0b01);
        let changes = recorded(Lines::Single, burst, 0b10, clock);
        assert_eq!(levels(&changes, 0), edges, "cpol {cpol}, cpha {cpha}");
        assert_eq!(levels(&changes, 1), [(100, false), (200, true)]);
        assert_eq!(levels(&changes, 2), [(200, false)]);
    }
}

#[test]
fn data_lines_go_by_width_and_direction() {
    // 100 ns a clock, from 1 us on.
    let clock = clock(MHZ_10, 10, 1);
    let io = |burst, received| {
        let changes = recorded(Lines::Quad, burst, received, clock);
        [1, 2, 3, 4].map(|line| levels(&changes, line).into_iter().map(|(at, _)| at / 1000).collect::<Vec<u64>>())
    };
    let quad = Burst::output(Lines::Quad, Rate::Single, 8, 0b0110_1001);
    assert_eq!(io(quad, u32::MAX), [vec![1000, 1100], vec![1100], vec![1100], vec![1000, 1100]]);
    assert_eq!(io(Burst::input(Lines::Quad, Rate::Single, 4), 0b0111), [vec![], vec![], vec![], vec![1000]]);
    // On two lines the others are pulled up; on one, IO0 stays low while the chip sends.
    assert_eq!(io(Burst::input(Lines::Dual, Rate::Single, 4), 0b0110), [vec![1100], vec![1000, 1100], vec![], vec![]]);
    assert_eq!(io(Burst::input(Lines::Single, Rate::Single, 2), 0b01), [vec![1000], vec![1000, 1100], vec![], vec![]]);
    // Of 20 dummy clocks on four lines the last eight are known.
    let dummies = recorded(Lines::Quad, Burst::dummy(Lines::Quad, 20), 0x7fff_ffff, clock);
    assert_eq!(levels(&dummies, 4), [(2_200_000, false), (2_300_000, true)]);
    assert_eq!(levels(&dummies, 0).len(), 40);
}

#[test]
fn at_the_double_rate_bits_change_a_quarter_before_each_edge() {
    // Two cycles of 100 ns a clock.
    let burst = Burst::input(Lines::Quad, Rate::Double, 16);
    let changes = recorded(Lines::Quad, burst, 0xf0f0, clock(MHZ_10, 0, 2));
    assert_eq!(levels(&changes, 0), [(100_000, true), (200_000, false), (300_000, true), (400_000, false)]);
    assert_eq!(levels(&changes, 1), [(150_000, false), (250_000, true), (350_000, false)]);
}

#[test]
fn edges_do_not_drift() {
    // 99.038462 MHz has a period of 10097.087 ps; an odd divider has its middle between two of its edges.
    let (hz, start) = (99_038_462, 1_000_003);
    let changes = recorded(Lines::Single, Burst::output(Lines::Single, Rate::Single, 32, 0), 0, clock(hz, start, 3));
    for (index, (at, _)) in levels(&changes, 0).into_iter().enumerate() {
        let halves = 2 * u128::from(start) + 3 * (index as u128 + 1);
        assert_eq!(u128::from(at), halves * 1_000_000_000_000 / (2 * u128::from(hz)), "edge {index}");
    }
}

#[test]
fn nothing_is_recorded_of_no_wires_and_while_nobody_asks() {
    let burst = Burst::byte_out(Lines::Single, 1);
    assert_eq!(SpiSignals::default().burst(burst, 7, clock(MHZ_10, 0, 2)), 7);
    let waves = Waves::default();
    let signals = SpiSignals::new(&waves, Scope::default(), "spi0", Lines::Single, 2);
    signals.select(1, true, Ps::ZERO);
    signals.burst(burst, 0, clock(MHZ_10, 0, 2));
    assert!(waves.signals()[4].first && waves.take().is_empty());
    waves.start();
    signals.select(1, true, Ps(5));
    signals.select(2, true, Ps(6));
    assert_eq!(levels(&waves.take(), 4), [(5, false)]);
}
