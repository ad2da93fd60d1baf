use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use engine::bus::device::DeviceId;

const CNTFRQ: CoreRegister = CoreRegister::Single(14, 0, 0, 0);
const CNTP_TVAL: CoreRegister = CoreRegister::Single(14, 0, 2, 0);
const CNTP_CTL: CoreRegister = CoreRegister::Single(14, 0, 2, 1);
const CNTV_TVAL: CoreRegister = CoreRegister::Single(14, 0, 3, 0);
const CNTV_CTL: CoreRegister = CoreRegister::Single(14, 0, 3, 1);
const CNTPCT: CoreRegister = CoreRegister::Double(14, 0);
const CNTVCT: CoreRegister = CoreRegister::Double(14, 1);
const CNTP_CVAL: CoreRegister = CoreRegister::Double(14, 2);
const CNTV_CVAL: CoreRegister = CoreRegister::Double(14, 3);

const PHYSICAL_LINE: u32 = 1 << 13;
const VIRTUAL_LINE: u32 = 1 << 11;

/// A counter of 10 MHz: a tick is 100 ns.
fn timer() -> Bench {
    let line = |bit| Some(IrqLine::Core { core: 0, bit });
    Bench::new(GenericTimer::new(Hz::new(10_000_000).unwrap(), &[[line(13), line(11)]]))
}

fn access(bench: &mut Bench, at_ns: u64, register: CoreRegister, written: Option<u64>) -> Option<u64> {
    let now = Ps(1000 * at_ns);
    bench.bus.with_device(DeviceId(0), now, |device, ctx| device.core_register(register, written, ctx))
}

fn get(bench: &mut Bench, at_ns: u64, register: CoreRegister) -> u64 {
    access(bench, at_ns, register, None).unwrap()
}

fn set(bench: &mut Bench, at_ns: u64, register: CoreRegister, value: u64) {
    assert_eq!(access(bench, at_ns, register, Some(value)), Some(0));
}

#[test]
fn both_counters_count_the_clock() {
    let mut bench = timer();
    assert_eq!((get(&mut bench, 99, CNTPCT), get(&mut bench, 100, CNTPCT)), (0, 1));
    assert_eq!(get(&mut bench, 12_345, CNTVCT), 123);
    assert_eq!(get(&mut bench, 0, CNTFRQ), 10_000_000);
    set(&mut bench, 0, CNTFRQ, 24_000_000);
    assert_eq!(get(&mut bench, 0, CNTFRQ), 24_000_000);
}

#[test]
fn a_timer_interrupts_with_the_tick_at_which_its_value_is_reached() {
    let mut bench = timer();
    set(&mut bench, 250, CNTV_TVAL, 5);
    set(&mut bench, 250, CNTV_CTL, 1);
    assert_eq!((get(&mut bench, 250, CNTV_CVAL), get(&mut bench, 350, CNTV_TVAL)), (7, 4));
    bench.run(Ps(699_999));
    assert_eq!((bench.pending(), get(&mut bench, 699, CNTV_CTL)), (0, 1));
    bench.run(Ps(700_000));
    assert_eq!((bench.pending(), get(&mut bench, 700, CNTV_CTL)), (VIRTUAL_LINE, 5));
    // The timer value continues below 0.
    assert_eq!(get(&mut bench, 900, CNTV_TVAL), u64::from(u32::MAX) - 1);
    set(&mut bench, 900, CNTV_TVAL, 100);
    assert_eq!((bench.pending(), get(&mut bench, 900, CNTV_CTL)), (0, 1));
}

#[test]
fn the_timers_are_two() {
    let mut bench = timer();
    set(&mut bench, 0, CNTP_CVAL, 3);
    set(&mut bench, 0, CNTP_CTL, 1);
    set(&mut bench, 0, CNTV_CVAL, 4);
    set(&mut bench, 0, CNTV_CTL, 1);
    bench.run(Ps(300_000));
    assert_eq!(bench.pending(), PHYSICAL_LINE);
    bench.run(Ps(400_000));
    assert_eq!(bench.pending(), PHYSICAL_LINE | VIRTUAL_LINE);
    set(&mut bench, 400, CNTP_CTL, 0);
    assert_eq!((bench.pending(), get(&mut bench, 400, CNTP_TVAL)), (VIRTUAL_LINE, u64::from(u32::MAX)));
}

#[test]
fn a_masked_timer_reports_its_condition_and_interrupts_once_it_is_not() {
    let mut bench = timer();
    set(&mut bench, 0, CNTP_TVAL, 2);
    set(&mut bench, 0, CNTP_CTL, 3);
    bench.run(Ps(500_000));
    assert_eq!((bench.pending(), get(&mut bench, 500, CNTP_CTL)), (0, 7));
    set(&mut bench, 500, CNTP_CTL, 1);
    assert_eq!(bench.pending(), PHYSICAL_LINE);
    // A timer that is off does not report its condition.
    set(&mut bench, 500, CNTP_CTL, 0);
    assert_eq!((bench.pending(), get(&mut bench, 500, CNTP_CTL)), (0, 0));
}

#[test]
fn a_value_that_has_passed_is_met_at_once_and_one_far_off_never() {
    let mut bench = timer();
    set(&mut bench, 1000, CNTP_TVAL, u64::from(-3_i32 as u32));
    set(&mut bench, 1000, CNTP_CTL, 1);
    assert_eq!((bench.pending(), get(&mut bench, 1000, CNTP_CVAL)), (PHYSICAL_LINE, 7));
    set(&mut bench, 1000, CNTP_CVAL, u64::MAX >> 1);
    assert_eq!(bench.pending(), 0);
    bench.run(Ps(u64::MAX / 4));
    assert_eq!(bench.pending(), 0);
}

#[test]
fn only_the_latest_value_counts() {
    let mut bench = timer();
    set(&mut bench, 0, CNTV_CTL, 1);
    set(&mut bench, 0, CNTV_CVAL, 5);
    set(&mut bench, 0, CNTV_CVAL, 8);
    bench.run(Ps(799_999));
    assert_eq!(bench.pending(), 0);
    bench.run(Ps(800_000));
    assert_eq!(bench.pending(), VIRTUAL_LINE);
}

#[test]
fn what_is_not_there_is_refused() {
    let mut bench = timer();
    for register in [CoreRegister::Single(14, 4, 1, 0), CoreRegister::Single(14, 0, 4, 0), CoreRegister::Double(14, 4)]
    {
        assert_eq!(access(&mut bench, 0, register, None), None);
        assert_eq!(access(&mut bench, 0, register, Some(0)), None);
    }
    assert_eq!(access(&mut bench, 0, CNTPCT, Some(0)), None);
}

#[test]
fn a_node_has_the_physical_timer_first_and_the_virtual_one_third() {
    let lines = [CPU_INTC, 13, CPU_INTC, 14, CPU_INTC, 11, CPU_INTC, 10];
    let (mut bench, faults) = read_plain_node(from_node, &[("interrupts-extended", &lines)]);
    assert!(faults.is_empty(), "{faults:?}");
    set(&mut bench, 0, CNTP_CTL, 1);
    assert_eq!(bench.pending(), PHYSICAL_LINE);
    set(&mut bench, 0, CNTV_CTL, 1);
    assert_eq!(bench.pending(), PHYSICAL_LINE | VIRTUAL_LINE);
}

#[test]
fn each_core_has_timers_of_its_own() {
    let gic = |input| Some(IrqLine::Device { device: DeviceId(0), input });
    assert_eq!([0, 1].map(|core| of_core(gic(27), core)), [gic(27), gic(INPUTS_OF_CORE + 27)]);
    let line = |core, bit| Some(IrqLine::Core { core, bit });
    let lines = [0, 1].map(|core| [line(core, 13), line(core, 11)]);
    let mut bench = Bench::new(GenericTimer::new(Hz::new(10_000_000).unwrap(), &lines));
    bench.bus.add_core();
    bench.bus.master = Some(1);
    set(&mut bench, 0, CNTV_TVAL, 5);
    set(&mut bench, 0, CNTV_CTL, 1);
    bench.bus.master = Some(0);
    assert_eq!((get(&mut bench, 0, CNTV_CTL), get(&mut bench, 0, CNTV_CVAL)), (0, 0));
    bench.run(Ps(499_999));
    assert_eq!([0, 1].map(|core: usize| bench.bus.core_irqs[core].low()), [0, 0]);
    bench.run(Ps(500_000));
    assert_eq!([0, 1].map(|core: usize| bench.bus.core_irqs[core].low()), [0, VIRTUAL_LINE]);
}
