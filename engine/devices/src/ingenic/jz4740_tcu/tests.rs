use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use engine::bus::device::{DeviceId, ExitRequest};
use engine::clocks::User;
use engine::dt::wiring::{ClockId, ClockInput};
use engine::time::{Cycles, Hz};

const PCK: u32 = 1 << 0;
const RTC: u32 = 1 << 1;
const EXT: u32 = 1 << 2;
const PRESCALE_16: u32 = 2 << 3;
const PRESCALE_1024: u32 = 5 << 3;

fn clocks() -> Clocks {
    let clock = |hz| Hz::new(hz).unwrap();
    Clocks { rtc: clock(32_768), ext: clock(12_000_000), pclk: clock(112_000_000).into() }
}

fn tcu() -> Bench {
    let lines = [23, 22, 21].map(|bit| Some(IrqLine::Core { core: 0, bit }));
    Bench::new(Tcu::new(clocks(), lines))
}

/// Registers of channel number `index`.
const fn of(index: u32, register: u32) -> u32 {
    register + STRIDE * index
}

/// A channel that counts at 750 kHz, a tick each 4/3 us, from 0 on.
fn started(index: u32, full: u32, half: u32) -> Bench {
    let mut bench = tcu();
    bench.write(Ps(0), of(index, TDFR), full).unwrap();
    bench.write(Ps(0), of(index, TDHR), half).unwrap();
    bench.write(Ps(0), of(index, TCSR), EXT | PRESCALE_16).unwrap();
    bench.write(Ps(0), TESR, 1 << index).unwrap();
    bench
}

/// When registers show what tick number `number` at 750 kHz did.
fn tick(number: u64) -> Ps {
    clocks().pclk.rate.edge_at_or_after(clocks().ext.ps_at_floor(Cycles(16 * number)))
}

#[test]
fn the_device_keeps_its_table() {
    walk::device_keeps_its_table(MAP.rows, &[], &mut tcu());
    let mut bench = tcu();
    for index in 0..8 {
        bench.write(Ps(0), of(index, TDHR), 0x1234_5678 + index).unwrap();
    }
    assert_eq!([0, 7].map(|index| bench.value(Ps(0), of(index, TDHR))), [0x5678, 0x567f]);
    assert_eq!(bench.value(Ps(0), of(8, TDHR)), 0);
}

#[test]
fn a_channel_counts_its_clock() {
    let mut bench = started(1, 0xffff, 0xffff);
    assert_eq!([0, 1, 2, 1000].map(|count| bench.value(tick(count), of(1, TCNT))), [0, 1, 2, 1000]);
    // It goes through all 16 bits, as Linux's clock source of 16 bits needs it.
    assert_eq!([65_535, 65_536, 65_537].map(|count| bench.value(tick(count), of(1, TCNT))), [65_535, 0, 1]);
}

#[test]
fn clocks_and_prescalers_are_selected() {
    for (control, ticks) in [
        (PCK, 11_200_000 % 0x10000),
        (PCK | 4 << 3, 11_200_000 / 256),
        (RTC, 3_276),
        (EXT | PRESCALE_1024, 12_000 * 100 / 1024),
        (EXT | 1 << 3, 1_200_000 / 4 % 0x10000),
    ] {
        let mut bench = tcu();
        bench.write(Ps(0), TDFR, 0xffff).unwrap();
        bench.write(Ps(0), TCSR, control).unwrap();
        bench.write(Ps(0), TESR, 1).unwrap();
        assert_eq!(bench.value(Ps::from_us(100_000), TCNT), ticks, "{control:#x}");
    }
}

#[test]
fn full_and_half_set_their_flags() {
    let mut bench = started(0, 100, 40);
    assert_eq!([39, 40, 99, 100].map(|count| bench.value(tick(count), TFR)), [0, 1 << 16, 1 << 16, 1 << 16 | 1]);
    assert_eq!([100, 101, 141].map(|count| bench.value(tick(count), TCNT)), [100, 0, 40]);
    bench.write(tick(141), TFCR, 1 << 16).unwrap();
    assert_eq!(bench.value(tick(241), TFR), 1);
    assert_eq!(bench.value(tick(242), TFR), 1 << 16 | 1);
}

#[test]
fn flags_are_software_s_too() {
    let mut bench = tcu();
    bench.write(Ps(0), TMSR, 1 << 3).unwrap();
    bench.write(Ps(0), TFSR, 1 << 3 | 1 << 20).unwrap();
    assert_eq!((bench.value(Ps(0), TFR), bench.pending()), (1 << 3 | 1 << 20, 1 << 21));
    bench.write(Ps(0), TFCR, 1 << 20).unwrap();
    assert_eq!((bench.value(Ps(0), TFR), bench.pending()), (1 << 3, 0));
}

#[test]
fn flags_that_are_not_masked_interrupt() {
    for (index, line) in [(0, 23), (1, 22), (2, 21), (7, 21)] {
        let mut bench = started(index, 100, 40);
        bench.write(Ps(0), TMSR, FLAG_BITS).unwrap();
        bench.write(Ps(0), TMCR, 1 << index).unwrap();
        bench.run(Ps(tick(100).0 - 1));
        assert_eq!(bench.pending(), 0, "channel {index}");
        bench.run(tick(100));
        assert_eq!(bench.pending(), 1 << line, "channel {index}");
        bench.write(tick(110), TFCR, 1 << index).unwrap();
        assert_eq!(bench.pending(), 0);
        bench.run(tick(201));
        assert_eq!(bench.pending(), 1 << line, "channel {index}, the next period");
        bench.write(tick(202), TMSR, 1 << index).unwrap();
        assert_eq!(bench.pending(), 0);
    }
}

#[test]
fn a_line_that_is_up_holds_no_other_back() {
    let mut bench = started(0, 10, 0xffff);
    for (register, value) in [(TDFR, 100), (TDHR, 0xffff), (TCSR, EXT | PRESCALE_16)] {
        bench.write(Ps(0), of(1, register), value).unwrap();
    }
    bench.write(Ps(0), TESR, 1 << 1).unwrap();
    bench.run(tick(50));
    assert_eq!(bench.pending(), 1 << 23);
    bench.run(tick(100));
    assert_eq!(bench.pending(), 1 << 23 | 1 << 22);
}

#[test]
fn a_disabled_or_stopped_channel_stands() {
    let mut bench = started(0, 0xffff, 0xffff);
    bench.write(tick(10), TECR, 1).unwrap();
    assert_eq!((bench.value(tick(20), TCNT), bench.value(tick(20), TER)), (10, 0));
    bench.write(tick(20), TESR, 1).unwrap();
    assert_eq!(bench.value(tick(25), TCNT), 15);
    bench.write(tick(25), TSSR, 1).unwrap();
    assert_eq!((bench.value(tick(30), TCNT), bench.value(tick(30), TSR)), (15, 1));
    bench.write(tick(30), TSCR, 1).unwrap();
    assert_eq!(bench.value(tick(31), TCNT), 16);
    assert!(bench.bus.notes().is_empty());
}

#[test]
fn a_counter_can_be_set_and_goes_round_from_above_its_end() {
    let mut bench = started(0, 100, 0xffff);
    bench.write(tick(5), TCNT, 90).unwrap();
    assert_eq!([tick(10), tick(15)].map(|at| bench.value(at, TCNT)), [95, 100]);
    bench.write(tick(15), TFCR, 1).unwrap();
    bench.write(tick(15), TCNT, 0xfffe).unwrap();
    let seen = [tick(16), tick(17), tick(116)].map(|at| bench.value(at, TCNT));
    assert_eq!((seen, bench.value(tick(116), TFR)), ([0xffff, 0, 99], 1 << 16));
    assert_eq!(bench.value(tick(117), TFR), 1 << 16 | 1);
}

#[test]
fn what_is_enabled_without_a_clock_is_noted() {
    for (control, stop) in [(0, 0), (PCK | EXT, 0), (EXT | 6 << 3, 0), (EXT, 1)] {
        let mut bench = tcu();
        bench.write(Ps(0), TDFR, 10).unwrap();
        bench.write(Ps(0), TCSR, control).unwrap();
        bench.write(Ps(0), TSSR, stop).unwrap();
        bench.write(Ps(0), TESR, 1).unwrap();
        assert_eq!(bench.bus.notes().len(), 1, "{control:#x}");
        assert_eq!((bench.value(Ps::from_us(100), TCNT), bench.value(Ps::from_us(100), TFR)), (0, 0));
    }
}

/// A watchdog of 2 s: 64 counts of RTCCLK / 1024.
fn watched() -> Bench {
    let mut bench = tcu();
    for (register, value) in [(WDT_TDR, 64), (WDT_TCSR, RTC | PRESCALE_1024), (WDT_TCER, 1)] {
        bench.write(Ps(0), register, value).unwrap();
    }
    bench
}

const fn ms(ms: u64) -> Ps {
    Ps::from_us(1000 * ms)
}

#[test]
fn the_watchdog_ends_the_run() {
    let mut bench = watched();
    assert_eq!(bench.value(ms(1000), WDT_TCNT), 32);
    bench.run(ms(1999));
    assert_eq!((bench.bus.exit, bench.bus.notes().len()), (None, 0));
    bench.run(ms(2000));
    assert_eq!(bench.bus.exit, Some(ExitRequest { code: 1, at: ms(2000) }));
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn a_watchdog_that_is_served_or_switched_off_does_not() {
    let mut bench = watched();
    bench.run(ms(1500));
    bench.write(ms(1500), WDT_TCNT, 0).unwrap();
    bench.run(ms(3499));
    assert_eq!(bench.bus.exit, None);
    bench.write(ms(3499), WDT_TCER, 0).unwrap();
    bench.run(ms(10_000));
    assert_eq!(bench.bus.exit, None);
    // Without its clock it is stopped; with the clock it continues.
    let mut bench = watched();
    bench.write(ms(1000), TSSR, TSR_WDTS).unwrap();
    bench.run(ms(9000));
    assert_eq!((bench.bus.exit, bench.value(ms(9000), WDT_TCNT)), (None, 32));
    bench.write(ms(9000), TSCR, TSR_WDTS).unwrap();
    bench.run(ms(10_000));
    assert_eq!(bench.bus.exit, Some(ExitRequest { code: 1, at: ms(10_000) }));
}

#[test]
fn a_watchdog_without_time_resets_at_once() {
    let mut bench = tcu();
    bench.write(Ps(0), WDT_TCSR, RTC).unwrap();
    bench.write(Ps(0), WDT_TCER, 1).unwrap();
    bench.run(Ps::from_us(31));
    assert!(bench.bus.exit.is_some());
}

#[test]
fn nothing_is_scheduled_without_an_interrupt() {
    let mut bench = started(0, 100, 40);
    bench.write(Ps(0), TMSR, FLAG_BITS).unwrap();
    let before = bench.bus.events.scheduled();
    bench.value(tick(5000), TFR);
    assert_eq!(bench.bus.events.scheduled(), before);
}

#[test]
fn polling_the_flags_is_skipped_to_the_next_and_the_counter_is_not() {
    let mut bench = started(0, 1000, 0xffff);
    bench.write(Ps(0), TMSR, FLAG_BITS).unwrap();
    let look = |bench: &mut Bench, number: u64| {
        let mut poll = Poll::look(Hz::new(336_000_000).unwrap(), Cycles(number));
        assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
        poll
    };
    let before = look(&mut bench, 3 * 200);
    bench.value(Ps::from_ns(1800), TFR);
    let after = look(&mut bench, 3 * 210);
    assert!(after.repeats(&before));
    assert_eq!(after.deadline(&before), tick(1000));
    bench.value(Ps::from_ns(1900), TCNT);
    assert!(!look(&mut bench, 3 * 220).repeats(&after));
}

#[test]
fn a_node_gives_clocks_and_interrupts() {
    let lines = [CPU_INTC, 5, CPU_INTC, 6, CPU_INTC, 7];
    let (mut bench, faults) = read_plain_node(from_node, &[("interrupts-extended", &lines)]);
    assert!(faults.is_empty(), "{faults:?}");
    for (register, value) in [(TDFR, 9), (TDHR, 0xffff), (TCSR, EXT), (TMR, 0)] {
        bench.write(Ps(0), of(3, register), value).unwrap();
    }
    bench.write(Ps(0), TESR, 1 << 3).unwrap();
    // The test's clocks are all 100 MHz.
    bench.run(Ps(89_999));
    assert_eq!(bench.pending(), 0);
    bench.run(Ps(90_000));
    assert_eq!(bench.pending(), 1 << 7);
}

#[test]
fn channels_of_a_clock_that_changes_follow_it() {
    let changing = ClockInput { rate: Hz::new(112_000_000).unwrap(), id: Some(ClockId(9)) };
    let mut bench = Bench::new(Tcu::new(Clocks { pclk: changing, ..clocks() }, [None; 3]));
    bench.bus.clocks.add_user(ClockId(9), User::Device(DeviceId(0)));
    for (index, control) in [(0, PCK | PRESCALE_16), (1, EXT | PRESCALE_16)] {
        bench.write(Ps(0), of(index, TDFR), 0xffff).unwrap();
        bench.write(Ps(0), of(index, TCSR), control).unwrap();
    }
    bench.write(Ps(0), TESR, 3).unwrap();
    bench.bus.set_clocks(&[(ClockId(9), Hz::new(56_000_000).unwrap())], Ps::from_us(100));
    // 7 MHz for 100 us, then 3.5 MHz; EXTAL's 750 kHz all the time.
    assert_eq!([0, 1].map(|index| bench.value(Ps::from_us(200), of(index, TCNT))), [700 + 350, 150]);
}
