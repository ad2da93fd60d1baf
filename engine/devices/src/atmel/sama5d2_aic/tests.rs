use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use engine::bus::device::{AccessSize, DeviceId};
use engine::polling::Poll;
use engine::time::{Hz, Ps};

const IRQ: u32 = 1 << 0;
const FIQ: u32 = 1 << 1;
const NOW: Ps = Ps(0);
const EDGE: u32 = 1 << 5;

fn line(bit: u32) -> Option<IrqLine> {
    Some(IrqLine::Core { core: 0, bit })
}

/// Of 100 MHz: 30 ns for a level, 40 ns for an edge.
fn params() -> Params {
    Params {
        clock: Hz::new(100_000_000).unwrap().into(),
        level_latency_cycles: Cycles(3),
        edge_latency_cycles: Cycles(4),
        irq: line(0),
        fiq: line(1),
    }
}

/// A controller whose sources have these modes, are enabled, and have the vector 0x1000 + source.
fn aic(sources: &[(u32, u32)]) -> Bench {
    let mut bench = Bench::new(Aic::new(params()));
    drive(&mut bench, NOW, REDIRECTION, true);
    for (source, mode) in sources {
        bench.write(NOW, SSR, *source).unwrap();
        bench.write(NOW, SMR, *mode).unwrap();
        bench.write(NOW, SVR, 0x1000 + *source).unwrap();
        bench.write(NOW, IECR, 1).unwrap();
    }
    bench.write(NOW, SPU, 0xbad).unwrap();
    bench
}

fn drive(bench: &mut Bench, at: Ps, source: u32, level: bool) {
    bench.bus.set_irq(IrqLine::Device { device: DeviceId(0), input: source }, level, at);
}

/// Drives a source at time 0 and lets it come through.
fn raise(bench: &mut Bench, source: u32) {
    drive(bench, NOW, source, true);
    bench.run(Ps::from_ns(100));
}

#[test]
fn the_device_keeps_its_table() {
    walk::device_keeps_its_table(MAP.rows, &["AIC_WPMR"], &mut Bench::new(Aic::new(params())));
}

#[test]
fn each_source_has_registers_of_its_own_after_the_selection() {
    let mut bench = aic(&[(3, 5), (77, EDGE | 1)]);
    bench.write(NOW, SSR, 3).unwrap();
    assert_eq!([SSR, SMR, SVR, IMR].map(|offset| bench.value(NOW, offset)), [3, 5, 0x1003, 1]);
    bench.write(NOW, SSR, 77).unwrap();
    assert_eq!([SSR, SMR, SVR, IMR].map(|offset| bench.value(NOW, offset)), [77, EDGE | 1, 0x104d, 1]);
    bench.write(NOW, IDCR, 1).unwrap();
    assert_eq!(bench.value(NOW, IMR), 0);
}

#[test]
fn a_level_comes_through_after_its_latency_and_goes_with_the_peripheral() {
    let mut bench = aic(&[(35, 0)]);
    drive(&mut bench, Ps::from_ns(100), 35, true);
    bench.run(Ps(129_999));
    assert_eq!((bench.pending(), bench.value(Ps(129_999), 0x24)), (0, 0));
    bench.run(Ps::from_ns(130));
    assert_eq!((bench.pending(), bench.value(Ps::from_ns(130), 0x24)), (IRQ, 1 << 3));
    assert_eq!(bench.value(Ps::from_ns(130), CISR), CISR_NIRQ);
    drive(&mut bench, Ps::from_ns(140), 35, false);
    assert_eq!((bench.pending(), bench.value(Ps::from_ns(140), 0x24)), (0, 0));
}

#[test]
fn an_edge_takes_a_cycle_more_and_is_kept() {
    let mut bench = aic(&[(4, EDGE)]);
    drive(&mut bench, Ps::from_ns(100), 4, true);
    drive(&mut bench, Ps::from_ns(110), 4, false);
    bench.run(Ps(139_999));
    assert_eq!(bench.pending(), 0);
    bench.run(Ps::from_ns(140));
    assert_eq!((bench.pending(), bench.value(Ps::from_ns(140), IPR)), (IRQ, 1 << 4));
    // Reading the vector acknowledges it.
    assert_eq!(bench.value(Ps::from_ns(140), IVR), 0x1004);
    assert_eq!((bench.pending(), bench.value(Ps::from_ns(140), IPR)), (0, 0));
    bench.write(Ps::from_ns(150), EOICR, 0).unwrap();
    assert_eq!(bench.pending(), 0);
}

#[test]
fn a_level_that_falls_within_the_latency_is_not_seen() {
    let mut bench = aic(&[(4, 0)]);
    drive(&mut bench, Ps::from_ns(100), 4, true);
    drive(&mut bench, Ps::from_ns(110), 4, false);
    bench.run(Ps::from_ns(200));
    assert_eq!(bench.pending(), 0);
    // Rising again, its own latency counts.
    drive(&mut bench, Ps::from_ns(200), 4, true);
    drive(&mut bench, Ps::from_ns(210), 4, false);
    drive(&mut bench, Ps::from_ns(220), 4, true);
    bench.run(Ps::from_ns(230));
    assert_eq!(bench.pending(), 0);
    bench.run(Ps::from_ns(250));
    assert_eq!(bench.pending(), IRQ);
}

#[test]
fn the_highest_priority_is_served_first_and_of_equals_the_lowest_source() {
    let mut bench = aic(&[(10, 2), (20, 6), (30, 6)]);
    for source in [10, 30, 20] {
        raise(&mut bench, source);
    }
    assert_eq!((bench.value(NOW, IVR), bench.value(NOW, ISR)), (0x1014, 20));
    // Neither its equal nor its inferior may come in between.
    assert_eq!(bench.pending(), 0);
    drive(&mut bench, NOW, 20, false);
    bench.write(NOW, EOICR, 0).unwrap();
    assert_eq!((bench.pending(), bench.value(NOW, IVR)), (IRQ, 0x101e));
    drive(&mut bench, NOW, 30, false);
    bench.write(NOW, EOICR, 0).unwrap();
    assert_eq!((bench.value(NOW, IVR), bench.value(NOW, ISR)), (0x100a, 10));
}

#[test]
fn interrupts_nest_through_all_eight_priorities() {
    let sources: Vec<(u32, u32)> = (0..8).map(|priority| (priority + 1, priority)).collect();
    let mut bench = aic(&sources);
    for source in 1..=8 {
        raise(&mut bench, source);
        assert_eq!((bench.pending(), bench.value(NOW, IVR)), (IRQ, 0x1000 + source));
        assert_eq!((bench.pending(), bench.value(NOW, ISR)), (0, source));
    }
    for source in (1..=8).rev() {
        assert_eq!(bench.value(NOW, ISR), source);
        drive(&mut bench, NOW, source, false);
        bench.write(NOW, EOICR, 0).unwrap();
        assert_eq!(bench.pending(), 0);
    }
    assert_eq!(bench.value(NOW, ISR), 0);
}

#[test]
fn a_spurious_interrupt_gets_its_vector_and_ends_like_any_other() {
    let mut bench = aic(&[(10, 2), (20, 1)]);
    raise(&mut bench, 10);
    assert_eq!(bench.value(NOW, IVR), 0x100a);
    assert_eq!((bench.value(NOW, IVR), bench.value(NOW, ISR)), (0xbad, 0));
    // It leaves the priority as it was.
    raise(&mut bench, 20);
    assert_eq!(bench.pending(), 0);
    bench.write(NOW, EOICR, 0).unwrap();
    assert_eq!((bench.pending(), bench.value(NOW, ISR)), (0, 10));
    drive(&mut bench, NOW, 10, false);
    bench.write(NOW, EOICR, 0).unwrap();
    assert_eq!((bench.pending(), bench.value(NOW, IVR)), (IRQ, 0x1014));
}

#[test]
fn software_sets_and_clears_edge_sensitive_sources_only() {
    let mut bench = aic(&[(40, EDGE | 3), (41, 3)]);
    bench.write(NOW, ISCR, 1).unwrap();
    assert_eq!(bench.pending(), 0);
    bench.write(NOW, SSR, 40).unwrap();
    bench.write(NOW, ISCR, 1).unwrap();
    assert_eq!((bench.pending(), bench.value(NOW, 0x24)), (IRQ, 1 << 8));
    bench.write(NOW, ICCR, 1).unwrap();
    assert_eq!((bench.pending(), bench.value(NOW, 0x24)), (0, 0));
}

#[test]
fn source_0_is_the_fast_interrupt() {
    let mut bench = aic(&[(0, EDGE)]);
    bench.write(NOW, SSR, 0).unwrap();
    bench.write(NOW, ISCR, 1).unwrap();
    assert_eq!((bench.pending(), bench.value(NOW, CISR)), (FIQ, CISR_NFIQ));
    // It is not a normal interrupt.
    assert_eq!(bench.value(NOW, IVR), 0xbad);
    assert_eq!((bench.value(NOW, FVR), bench.pending()), (0x1000, 0));
    assert_eq!(bench.value(NOW, FVR), 0xbad);
}

#[test]
fn protection_mode_acknowledges_with_a_write() {
    let mut bench = aic(&[(10, EDGE | 2)]);
    bench.write(NOW, SSR, 10).unwrap();
    bench.write(NOW, ISCR, 1).unwrap();
    bench.write(NOW, DCR, DCR_PROT).unwrap();
    assert_eq!((bench.value(NOW, IVR), bench.pending(), bench.value(NOW, ISR)), (0x100a, IRQ, 0));
    bench.write(NOW, IVR, 0).unwrap();
    assert_eq!((bench.pending(), bench.value(NOW, ISR)), (0, 10));
}

#[test]
fn the_general_mask_holds_both_lines() {
    let mut bench = aic(&[(0, 0), (10, 2)]);
    raise(&mut bench, 0);
    raise(&mut bench, 10);
    assert_eq!(bench.pending(), IRQ | FIQ);
    bench.write(NOW, DCR, DCR_GMSK).unwrap();
    assert_eq!((bench.pending(), bench.value(NOW, IPR)), (0, 1 << 10 | 1));
}

#[test]
fn write_protection_covers_the_settings() {
    let mut bench = aic(&[(10, 2)]);
    bench.write(NOW, WPMR, WPKEY << 8 | 1).unwrap();
    for offset in [SMR, SVR, SPU, DCR] {
        bench.write(NOW, offset, 1).unwrap();
        assert_eq!(bench.value(NOW, WPSR), 1 | offset << 8);
    }
    assert_eq!([SMR, SVR, SPU, DCR].map(|offset| bench.value(NOW, offset)), [2, 0x100a, 0xbad, 0]);
    bench.write(NOW, IDCR, 1).unwrap();
    assert_eq!(bench.value(NOW, IMR), 0);
}

#[test]
fn an_interrupt_without_redirection_is_noted() {
    let mut bench = aic(&[(10, 2)]);
    raise(&mut bench, 10);
    assert!(bench.bus.notes().is_empty());
    drive(&mut bench, NOW, 10, false);
    drive(&mut bench, NOW, REDIRECTION, false);
    raise(&mut bench, 10);
    assert_eq!(bench.bus.notes().len(), 1);
    assert_eq!(bench.pending(), IRQ);
}

#[test]
fn polling_stands_for_as_long_as_nothing_is_written_or_raised() {
    let mut bench = aic(&[(10, 2)]);
    let look = |bench: &mut Bench, number: u64| {
        let mut poll = Poll::look(params().clock.rate, Cycles(number));
        assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
        poll
    };
    let before = look(&mut bench, 100);
    assert!(look(&mut bench, 110).repeats(&before));
    raise(&mut bench, 10);
    assert!(!look(&mut bench, 120).repeats(&before));
    let before = look(&mut bench, 120);
    bench.value(NOW, IVR);
    assert!(!look(&mut bench, 130).repeats(&before));
}

#[test]
fn a_node_gives_lines_and_latencies() {
    let lines = [CPU_INTC, 0, CPU_INTC, 1];
    let latencies = [("cyclescope,level-latency-cycles", &[3][..]), ("cyclescope,edge-latency-cycles", &[4])];
    let properties = [&[("interrupts-extended", &lines[..])], &latencies[..]].concat();
    let (mut bench, faults) = read_plain_node(from_node, &properties);
    assert!(faults.is_empty(), "{faults:?}");
    for register in [IECR, SVR] {
        bench.write(NOW, register, 1).unwrap();
    }
    raise(&mut bench, 0);
    assert_eq!(bench.pending(), FIQ);
}

#[test]
fn a_timers_interrupt_reaches_the_core_after_the_latency_and_goes_with_its_acknowledge() {
    use crate::atmel::at91sam9260_pit::Pit;
    let line = IrqLine::Device { device: DeviceId(0), input: 3 };
    let mut bench = aic(&[(3, 5)]).and(Pit::new(params().clock, Some(line)));
    let pit = DeviceId(1);
    // A count of 16 clocks of 10 ns, with its interrupt.
    let start = |device: &mut dyn Device, ctx: &mut Ctx| device.write(0, 0, AccessSize::Word, 3 << 24, ctx);
    bench.bus.with_device(pit, NOW, start).unwrap();
    bench.run(Ps(189_999));
    assert_eq!(bench.pending(), 0);
    bench.run(Ps::from_ns(190));
    assert_eq!((bench.pending(), bench.value(Ps::from_ns(190), IVR), bench.pending()), (IRQ, 0x1003, 0));
    let acknowledge = |device: &mut dyn Device, ctx: &mut Ctx| device.read(0, 8, AccessSize::Word, ctx);
    bench.bus.with_device(pit, Ps::from_ns(200), acknowledge).unwrap();
    bench.write(Ps::from_ns(210), EOICR, 0).unwrap();
    assert_eq!(bench.pending(), 0);
}
