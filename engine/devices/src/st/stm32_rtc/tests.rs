use super::*;
use crate::bench::Bench;
use crate::registers::walk;
use engine::bus::device::DeviceId;
use engine::clocks::User;
use engine::dt::wiring::ClockId;
use engine::time::Hz;

pub(super) const HZ: u64 = 32_768;
const RTCEN: (u32, u32) = (0x70, 15);
const RTCCLK: ClockId = ClockId(3);

pub(super) fn params() -> Params {
    let line = |bit| Some(IrqLine::Core { core: 0, bit });
    Params {
        clock: ClockInput::fixed(Hz::new(HZ).unwrap()),
        enable: ClockGate::at(RTCEN.0, RTCEN.1),
        map: &F4_ALL,
        backup_registers: 20,
        synchronisation: Cycles(2),
        restart: Cycles(4),
        interrupts: [line(1), line(2)],
        gate: ClockGate::default(),
        place: |offset| offset,
    }
}

/// The time just after an edge of RTCCLK.
pub(super) fn at(edge: u64) -> Ps {
    Hz::new(HZ).unwrap().ps_at_floor(Cycles(edge)) + Ps(1)
}

fn unlock(bench: &mut Bench, edge: u64) {
    bench.write(at(edge), WPR, 0xca).unwrap();
    bench.write(at(edge), WPR, 0x53).unwrap();
}

/// An RTC that runs from edge 0 on, and whose registers can be written.
fn rtc() -> Bench {
    let mut bench = Bench::new(Rtc::new(params()));
    unlock(&mut bench, 0);
    bench
}

/// An RTC after reset that follows its gates and its clock.
fn after_gates() -> Bench {
    let clock = ClockInput { id: Some(RTCCLK), ..params().clock };
    let mut bench = Bench::new(Rtc::new(Params { clock, ..params() }));
    bench.bus.clocks.add_user(RTCCLK, User::Device(DeviceId(0)));
    enable(&mut bench, 0, false);
    bench.bus.with_device(DeviceId(0), Ps::ZERO, |device, ctx| device.reset(ctx));
    unlock(&mut bench, 0);
    bench
}

/// Writes RCC_BDCR.RTCEN after an edge.
fn enable(bench: &mut Bench, edge: u64, on: bool) {
    bench.bus.clocks.set_gates(RTCEN.0, u32::from(on) << RTCEN.1);
    bench.bus.set_clocks(&[], at(edge));
}

/// Sets the calendar by writes after edge `edge`, so that it starts at edge `edge` + 3 + 4.
fn set(bench: &mut Bench, edge: u64, tr: u32, dr: u32) -> u64 {
    bench.write(at(edge), ISR, ISR_INIT).unwrap();
    let initialized = edge + 1 + 2;
    assert_eq!(bench.value(at(initialized) - Ps(2), ISR) & ISR_INITF, 0);
    assert_eq!(bench.value(at(initialized), ISR) & ISR_INITF, ISR_INITF);
    bench.write(at(initialized), TR, tr).unwrap();
    bench.write(at(initialized), DR, dr).unwrap();
    bench.write(at(initialized), ISR, 0).unwrap();
    initialized + 1 + 4
}

#[test]
fn the_device_keeps_its_table() {
    let special = ["RTC_TR", "RTC_DR", "RTC_CR", "RTC_PRER", "RTC_WPR", "RTC_SHIFTR"];
    for (map, all) in [(&MAP, &F4_ALL), (&L4_MAP, &L4_ALL)] {
        let mut bench = Bench::new(Rtc::new(Params { map: all, ..params() }));
        unlock(&mut bench, 0);
        walk::device_keeps_its_map(map, &special, &mut bench);
        for backup in 0..20 {
            bench.write(at(1), BKP0R + 4 * backup, !backup).unwrap();
            assert_eq!(bench.value(at(1), BKP0R + 4 * backup), !backup);
        }
    }
}

#[test]
fn the_calendar_counts_from_its_reset_value_while_it_has_its_clock() {
    let mut bench = after_gates();
    assert_eq!((bench.value(at(3 * HZ), TR), bench.value(at(3 * HZ), DR)), (0, DR_RESET));
    assert_eq!(bench.value(at(3 * HZ), ISR), 7);
    enable(&mut bench, 3 * HZ, true);
    // 128 * 256 edges a second; RTC_SSR counts down every 128 edges.
    for (edges, tr, ssr) in [(0, 0, 255), (128, 0, 254), (HZ - 2, 0, 0), (HZ, 1, 255), (61 * HZ, 0x101, 255)] {
        let now = at(3 * HZ + edges);
        assert_eq!((bench.value(now, SSR), bench.value(now, TR), bench.value(now, DR)), (ssr, tr, DR_RESET), "{edges}");
    }
}

#[test]
fn initialization_mode_waits_for_the_clock() {
    let mut bench = after_gates();
    bench.write(at(100), ISR, ISR_INIT).unwrap();
    assert!(bench.bus.notes()[0].contains("RTCCLK is off (RCC_BDCR.RTCEN)"), "{:?}", bench.bus.notes());
    assert_eq!(bench.value(at(500), ISR) & (ISR_INIT | ISR_INITF), ISR_INIT);
    enable(&mut bench, 500, true);
    // The edge that samples INIT, and two more.
    assert_eq!(bench.value(at(502), ISR) & ISR_INITF, 0);
    assert_eq!(bench.value(at(503), ISR) & ISR_INITF, ISR_INITF);
}

#[test]
fn nothing_comes_while_the_source_of_the_clock_is_off() {
    let mut bench = after_gates();
    enable(&mut bench, 0, true);
    bench.write(at(0), WUTR, 9).unwrap();
    bench.write(at(0), CR, CR_WUTIE | CR_WUTE).unwrap();
    // 160 edges from the next one on; 100 of them have passed when LSE stops.
    bench.run(at(101));
    bench.bus.clocks.stop(RTCCLK, Some("LSE, which is off (RCC_BDCR.LSEON)".into()));
    bench.bus.set_clocks(&[], at(101));
    bench.run(at(5 * HZ));
    assert_eq!((bench.value(at(5 * HZ), TR), bench.value(at(5 * HZ), ISR) & ISR_WUTF, bench.pending()), (0, 0, 0));
    bench.write(at(5 * HZ), CR, CR_WUTIE | CR_WUTE | CR_ALRAE).unwrap();
    assert!(bench.bus.notes()[0].contains("comes from LSE, which is off (RCC_BDCR.LSEON)"), "{:?}", bench.bus.notes());
    bench.bus.set_clocks(&[(RTCCLK, Hz::new(HZ).unwrap())], at(5 * HZ));
    bench.run(at(5 * HZ + 60) - Ps(2));
    assert_eq!(bench.pending(), 0);
    bench.run(at(5 * HZ + 60));
    assert_eq!(bench.pending(), 1 << 2);
}

#[test]
fn writes_need_the_domain_and_the_keys() {
    let (register, bit) = BACKUP_DOMAIN;
    let mut bench = Bench::new(Rtc::new(params()));
    bench.bus.clocks.set_gates(register, 0);
    bench.write(at(0), BKP0R, 5).unwrap();
    assert_eq!(bench.value(at(0), BKP0R), 0);
    bench.bus.clocks.set_gates(register, 1 << bit);
    bench.write(at(0), BKP0R, 5).unwrap();
    bench.write(at(0), WUTR, 9).unwrap();
    assert_eq!((bench.value(at(0), BKP0R), bench.value(at(0), WUTR)), (5, 0xffff));
    assert_eq!(bench.bus.notes().len(), 2, "{:?}", bench.bus.notes());
    // A wrong second key, then both again, and one more that locks.
    for key in [0xca, 0xca, 0xca, 0x53] {
        bench.write(at(0), WPR, key).unwrap();
    }
    bench.write(at(0), WUTR, 9).unwrap();
    bench.write(at(0), WPR, 0xff).unwrap();
    bench.write(at(0), WUTR, 8).unwrap();
    assert_eq!(bench.value(at(0), WUTR), 9);
}

#[test]
fn initialization_mode_takes_its_edges_and_sets_the_calendar() {
    let mut bench = rtc();
    bench.write(at(10), TR, 0x11).unwrap();
    assert!(bench.bus.notes()[0].contains("RTC_TR was written outside of initialization mode"));
    // 28 February 2023, a Tuesday, 23:59:59.
    let begins = set(&mut bench, 100, 0x23_59_59, 0x23_42_28);
    assert_eq!(bench.value(at(begins - 1), ISR) & (ISR_RSF | ISR_INITS), ISR_INITS);
    // The first even edge from there on.
    assert_eq!(bench.value(at(begins.next_multiple_of(2)), ISR) & ISR_RSF, ISR_RSF);
    let now = at(begins + HZ - 2);
    assert_eq!((bench.value(now, TR), bench.value(now, DR)), (0x23_59_59, 0x23_42_28));
    let now = at(begins + HZ + 1);
    assert_eq!((bench.value(now, TR), bench.value(now, DR)), (0, 0x23_63_01));
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn what_is_no_date_is_loaded_as_it_is_written() {
    // ST's HAL sets its time base like this: date 0, alarm A a second later.
    let mut bench = rtc();
    bench.write(at(0), ALRMAR, 1).unwrap();
    let begins = set(&mut bench, 100, 0, 0);
    bench.write(at(begins), CR, CR_ALRAE | CR_ALRAIE).unwrap();
    bench.run(at(begins + HZ) - Ps(2));
    assert_eq!((bench.value(at(begins + HZ) - Ps(2), TR), bench.pending()), (0, 0));
    assert_eq!(bench.value(at(begins + HZ) - Ps(2), DR), 0);
    bench.run(at(begins + HZ));
    assert_eq!((bench.pending(), bench.value(at(begins + HZ + 1), TR), bench.bus.notes().len()), (1 << 1, 1, 0));
    // The HAL writes the date again in the alarm's interrupt: the next alarm is a second later.
    let begins = set(&mut bench, 2 * HZ, 0, 0);
    bench.write(at(begins), ISR, !(ISR_ALRAF | ISR_INIT)).unwrap();
    assert_eq!(bench.pending(), 0);
    bench.run(at(begins + HZ));
    assert_eq!(bench.pending(), 1 << 1);
}

#[test]
fn shadow_registers_follow_each_second_edge_and_are_locked_from_the_time_to_the_date() {
    let mut bench = rtc();
    bench.write(at(20), ISR, 0).unwrap();
    assert_eq!(bench.value(at(21), ISR) & ISR_RSF, 0);
    assert_eq!(bench.value(at(22), ISR) & ISR_RSF, ISR_RSF);
    assert_eq!(bench.value(at(HZ - 1), TR), 0);
    // Locked, though the second is over; then read, and locked again.
    assert_eq!((bench.value(at(HZ + 2), SSR), bench.value(at(HZ + 2), TR)), (0, 0));
    assert_eq!((bench.value(at(HZ + 2), DR), bench.value(at(HZ + 2), TR)), (DR_RESET, 1));
    bench.value(at(HZ + 2), DR);
    // With BYPSHAD reads see the counters, and RSF is 0.
    bench.write(at(HZ + 2), CR, CR_BYPSHAD).unwrap();
    bench.value(at(HZ + 129), TR);
    assert_eq!((bench.value(at(HZ + 129), SSR), bench.value(at(HZ + 256), SSR)), (254, 253));
    assert_eq!(bench.value(at(HZ + 256), ISR) & ISR_RSF, 0);
}

#[test]
fn alarms_interrupt_at_their_edge() {
    let mut bench = rtc();
    let begins = set(&mut bench, 0, 0x09_59_50, 0x24_42_06);
    for (alarm, time) in [(ALRMAR, 0x06_10_00_00), (ALRMBR, 0x8080_8055)] {
        bench.write(at(begins), alarm, time).unwrap();
    }
    bench.write(at(begins), CR, CR_ALRAE | CR_ALRAIE | CR_ALRBE).unwrap();
    // 09:59:55 and 10:00:00.
    let edges = [5, 10].map(|seconds| begins + seconds * HZ);
    bench.run(at(edges[1]) - Ps(2));
    assert_eq!((bench.value(at(edges[1]) - Ps(2), ISR) >> 8 & 3, bench.pending()), (2, 0));
    bench.run(at(edges[1]));
    assert_eq!((bench.value(at(edges[1]), ISR) >> 8 & 3, bench.pending()), (3, 1 << 1));
    bench.write(at(edges[1]), ISR, !(ISR_ALRAF | ISR_INIT)).unwrap();
    assert_eq!((bench.value(at(edges[1]), ISR) >> 8 & 3, bench.pending()), (2, 0));
    // While alarm A is on, it can't be written; two edges after it is off it can.
    bench.write(at(edges[1]), ALRMAR, 0).unwrap();
    assert_eq!(bench.value(at(edges[1]), ALRMAR), 0x06_10_00_00);
    bench.write(at(edges[1]), CR, 0).unwrap();
    let off = edges[1] + 1 + 2;
    assert_eq!(bench.value(at(off - 1), ISR) & 3, 0);
    assert_eq!(bench.value(at(off), ISR) & 3, 3);
}

#[test]
fn the_wake_up_timer_runs_by_each_of_its_clocks() {
    // WUCKSEL, RTC_WUTR, and edges up to the first wake-up and from one to the next.
    let cases = [(0, 9, 160), (3, 9, 20), (4, 0, HZ), (5, 2, 3 * HZ), (6, 0, 0x1_0001 * HZ)];
    for (select, reload, period) in cases {
        let mut bench = rtc();
        bench.write(at(0), WUTR, reload).unwrap();
        bench.write(at(0), CR, select | CR_WUTIE).unwrap();
        // RTCCLK counts from the next edge, the calendar from edge 0.
        let first = if select < 4 { 1 + period } else { period };
        bench.write(at(0), CR, select | CR_WUTIE | CR_WUTE).unwrap();
        for due in [first, first + period] {
            bench.run(at(due) - Ps(2));
            assert_eq!(bench.pending(), 0, "{select}");
            bench.run(at(due));
            assert_eq!(bench.pending(), 1 << 2, "{select}");
            bench.write(at(due), ISR, !(ISR_WUTF | ISR_INIT)).unwrap();
        }
        bench.write(at(first + period), CR, select).unwrap();
        bench.run(at(first + 9 * period));
        assert_eq!(bench.value(at(first + 9 * period), ISR) & ISR_WUTF, 0);
    }
}

#[test]
fn a_write_of_cr_holds_no_wake_up_off() {
    let mut bench = rtc();
    let wakes = 5 | CR_WUTIE | CR_WUTE;
    bench.write(at(0), WUTR, 2).unwrap();
    bench.write(at(0), CR, 5).unwrap();
    bench.write(at(0), CR, wakes).unwrap();
    // Firmware turns interrupts of alarms on and off meanwhile.
    for second in 1..3 {
        bench.write(at(second * HZ + 1), CR, wakes | (second as u32 & 1) << 12).unwrap();
    }
    bench.run(at(3 * HZ) - Ps(2));
    assert_eq!(bench.pending(), 0);
    bench.run(at(3 * HZ));
    assert_eq!(bench.pending(), 1 << 2);
}

#[test]
fn prescalers_shifts_and_summer_time_move_the_calendar() {
    let mut bench = rtc();
    bench.write(at(0), ISR, ISR_INIT).unwrap();
    // 64 * 16 edges a second: 32 of them in one of HZ edges.
    bench.write(at(4), PRER, 63 << 16 | 15).unwrap();
    bench.write(at(4), ISR, 0).unwrap();
    bench.write(at(4), CR, CR_BYPSHAD).unwrap();
    let begins = 5 + 4;
    let seen = |bench: &mut Bench, edge| (bench.value(at(edge), TR), bench.value(at(edge), SSR));
    assert_eq!(seen(&mut bench, begins + HZ), (0x32, 15));
    bench.write(at(begins + HZ), SHIFTR, 1 << 31 | 4).unwrap();
    // RTC_SSR above PREDIV_S: the time is a second before RTC_TR.
    assert_eq!(seen(&mut bench, begins + HZ), (0x33, 19));
    bench.write(at(begins + HZ), CR, CR_BYPSHAD | CR_ADD1H).unwrap();
    assert_eq!(seen(&mut bench, begins + HZ), (0x10033, 19));
    assert_eq!(bench.value(at(begins + HZ), CR), CR_BYPSHAD);
}

#[test]
fn a_shift_lengthens_the_second_and_takes_none_off() {
    let mut bench = rtc();
    bench.write(at(0), WUTR, 1).unwrap();
    bench.write(at(0), CR, 4).unwrap();
    bench.write(at(0), CR, 4 | CR_WUTIE | CR_WUTE).unwrap();
    // At 1.5 s, RTC_SSR is 127: three quarters of a second more.
    let half = HZ + HZ / 2;
    assert_eq!(bench.value(at(half), ISR) & ISR_RSF, ISR_RSF);
    bench.write(at(half), SHIFTR, 192).unwrap();
    assert_eq!(bench.value(at(half), ISR) & ISR_RSF, 0);
    let seen =
        |bench: &mut Bench, edge| (bench.value(at(edge), SSR), bench.value(at(edge), TR), bench.value(at(edge), DR));
    assert_eq!(bench.value(at(half + 2), ISR) & ISR_RSF, ISR_RSF);
    assert_eq!(seen(&mut bench, half + 2), (319, 1, DR_RESET));
    assert_eq!(seen(&mut bench, half + 64 * 128), (255, 1, DR_RESET));
    // The second wake-up, in seconds, is delayed by the same time.
    let due = 2 * HZ + 192 * 128;
    bench.run(at(due) - Ps(2));
    assert_eq!((bench.pending(), bench.value(at(due - 2), TR)), (0, 1));
    bench.value(at(due - 2), DR);
    bench.run(at(due));
    assert_eq!((bench.pending(), seen(&mut bench, due)), (1 << 2, (255, 2, DR_RESET)));
    // ADD1S alone adds a second, without a tick of the second.
    bench.write(at(due), SHIFTR, SHIFTR_ADD1S).unwrap();
    assert_eq!(seen(&mut bench, due + 2), (255, 3, DR_RESET));
    assert!(bench.bus.notes().is_empty(), "{:?}", bench.bus.notes());
    // Two shifts; the second one would overflow.
    bench.write(at(due + 2), SHIFTR, SHIFTR_SUBFS).unwrap();
    bench.write(at(due + 2), SHIFTR, 1).unwrap();
    bench.write(at(due + 2), SHIFTR, 1).unwrap();
    assert!(bench.bus.notes()[0].contains("the counter of sub-seconds overflows"), "{:?}", bench.bus.notes());
}

#[test]
fn a_reset_of_the_backup_domain_begins_anew() {
    let mut bench = after_gates();
    enable(&mut bench, 0, true);
    set(&mut bench, 100, 0x23_59_59, 0x23_42_28);
    bench.write(at(HZ), BKP0R, 5).unwrap();
    bench.write(at(HZ), CR, CR_WUTIE | CR_WUTE).unwrap();
    // BDRST clears RTCEN, too.
    bench.bus.clocks.set_resets(RTCEN.0, 1 << RTCEN.1);
    enable(&mut bench, 2 * HZ, false);
    bench.run(at(3 * HZ));
    bench.write(at(3 * HZ), BKP0R, 6).unwrap();
    assert!(bench.bus.notes()[0].contains("(RCC_BDCR.BDRST)"), "{:?}", bench.bus.notes());
    bench.bus.clocks.set_resets(RTCEN.0, 0);
    enable(&mut bench, 4 * HZ, true);
    let read = [CR, BKP0R, WUTR, TR, DR].map(|register| bench.value(at(5 * HZ), register));
    assert_eq!(read, [0, 0, 0xffff, 1, DR_RESET]);
    // The keys are needed again.
    bench.write(at(5 * HZ), WUTR, 9).unwrap();
    assert_eq!((bench.value(at(5 * HZ), WUTR), bench.pending()), (0xffff, 0));
}
