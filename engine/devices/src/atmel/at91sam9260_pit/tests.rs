use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use engine::time::{Cycles, Hz};

fn clock() -> Hz {
    Hz::new(83_000_000).unwrap()
}

/// The time of edge number `number`.
fn cycle(number: u64) -> Ps {
    clock().ps_at_floor(Cycles(number))
}

fn pit() -> Bench {
    Bench::new(Pit::new(clock(), Some(IrqLine::Core { core: 0, bit: 0 })))
}

/// A timer whose mode was written at cycle 100.
fn started(mode: u32) -> Bench {
    let mut bench = pit();
    bench.write(cycle(100), MR, mode).unwrap();
    bench
}

#[test]
fn the_device_keeps_its_table() {
    walk::device_keeps_its_table(MAP.rows, &[], &mut pit());
}

#[test]
fn cpiv_counts_sixteenths_from_0_to_piv() {
    let mut bench = started(MR_PITEN | 3);
    for (at, cpiv) in [(100, 0), (115, 0), (116, 1), (163, 3)] {
        assert_eq!(bench.value(cycle(at), PIIR), cpiv, "cycle {at}");
    }
    // PIV + 1 counts: 0 again 64 clocks later.
    assert_eq!(bench.value(cycle(163), SR), 0);
    assert_eq!((bench.value(cycle(164), SR), bench.value(cycle(164), PIIR)), (SR_PITS, 1 << 20));
    assert_eq!(bench.value(cycle(100 + 5 * 64 + 16), PIIR), 5 << 20 | 1);
}

#[test]
fn reading_pivr_clears_the_overflow_counter_and_pits() {
    let mut bench = started(MR_PITEN | MR_PITIEN | 3);
    bench.run(cycle(164));
    assert_eq!(bench.pending(), 1);
    assert_eq!(bench.value(cycle(300), PIVR), 3 << 20);
    assert_eq!((bench.pending(), bench.value(cycle(300), SR), bench.value(cycle(300), PIIR)), (0, 0, 0));
    bench.run(cycle(355));
    assert_eq!(bench.pending(), 0);
    bench.run(cycle(356));
    assert_eq!(bench.pending(), 1);
}

#[test]
fn picnt_has_twelve_bits() {
    let mut bench = started(MR_PITEN);
    assert_eq!(bench.value(cycle(100 + 16 * 0x1005), PIIR), 0x005 << 20);
}

#[test]
fn clearing_piten_stops_at_the_next_overflow() {
    let mut bench = started(MR_PITEN | 3);
    bench.write(cycle(120), MR, 3).unwrap();
    assert_eq!(bench.value(cycle(150), PIIR), 3);
    assert_eq!(bench.value(cycle(500), PIVR), 1 << 20);
    // Enabled again, with a prescaler that begins anew.
    bench.write(cycle(505), MR, MR_PITEN | 3).unwrap();
    assert_eq!([520, 521].map(|at| bench.value(cycle(at), PIIR)), [0, 1]);
}

#[test]
fn a_new_piv_does_not_restart_the_counter() {
    let mut bench = started(MR_PITEN | 100);
    bench.write(cycle(100 + 16 * 10), MR, MR_PITEN | 20).unwrap();
    assert_eq!(bench.value(cycle(100 + 16 * 21), PIIR), 1 << 20);
    // Below the count: round through all 20 bits, which is no overflow.
    bench.write(cycle(100 + 16 * 31), MR, MR_PITEN | 4).unwrap();
    assert_eq!(bench.value(cycle(100 + 16 * 45), PIIR), 1 << 20 | 24);
    let wrapped = 21 + (1 << 20);
    assert_eq!(bench.value(cycle(100 + 16 * (wrapped + 2)), PIIR), 1 << 20 | 2);
    assert_eq!(bench.value(cycle(100 + 16 * (wrapped + 5)), PIIR), 2 << 20);
}

#[test]
fn polling_can_be_skipped_until_the_overflow() {
    let mut bench = started(MR_PITEN | 99);
    let mut look = |number: u64| {
        let mut poll = Poll::look(Hz::new(498_000_000).unwrap(), Cycles(number));
        assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
        poll
    };
    let (before, after) = (look(6 * 200), look(6 * 210));
    assert!(after.repeats(&before));
    assert_eq!(after.deadline(&before), cycle(1700));
    assert!(!look(6 * 210 + 1).repeats(&before));
    assert!(!look(6 * 1700).repeats(&after));
}

#[test]
fn a_node_gives_clock_and_interrupt() {
    let (mut bench, faults) = read_plain_node(from_node, &[("interrupts-extended", &[CPU_INTC, 3])]);
    assert!(faults.is_empty(), "{faults:?}");
    bench.write(Ps(0), MR, MR_PITEN | MR_PITIEN).unwrap();
    // A count of 16 clocks of 100 MHz.
    bench.run(Ps(159_999));
    assert_eq!(bench.pending(), 0);
    bench.run(Ps(160_000));
    assert_eq!(bench.pending(), 1 << 3);
}

#[test]
fn counting_goes_on_at_another_rate() {
    let line = IrqLine::Core { core: 0, bit: 0 };
    // 100 counts of 16 clocks: 800 clocks in 8 us, and 800 of 20 ns.
    let mut bench = Bench::slowed(Pit::new(Bench::changing_clock(), Some(line)), |bench| {
        bench.write(Ps(0), MR, MR_PITEN | MR_PITIEN | 99).unwrap();
    });
    assert_eq!(bench.value(Ps::from_us(8), PIIR), 50);
    bench.run(Ps(Ps::from_us(24).0 - 1));
    assert_eq!((bench.pending(), bench.value(Ps(Ps::from_us(24).0 - 1), PIIR)), (0, 99));
    bench.run(Ps::from_us(24));
    assert_eq!((bench.pending(), bench.value(Ps::from_us(24), PIIR)), (1, 1 << 20));
    // The next lap is all at the new rate.
    assert_eq!(bench.value(Ps::from_us(56), PIIR), 2 << 20);
}
