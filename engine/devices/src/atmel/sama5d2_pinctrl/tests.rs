use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use engine::bus::device::DeviceId;
use engine::polling::{Poll, Polled};
use engine::time::{Cycles, Hz, Ps};

const NOW: Ps = Ps(0);
/// The second group.
const B: u32 = STRIDE;

/// With group A's interrupt as core 0's number 5, B's as number 6, and so on.
fn pio() -> Bench {
    let properties: &[(&str, &[u32])] = &[("interrupt-parent", &[CPU_INTC]), ("interrupts", &[5, 6, 7, 8])];
    let (bench, faults) = read_plain_node(from_node, properties);
    assert!(faults.is_empty(), "{faults:?}");
    let mut bench = bench.as_banks(MODEL.banks);
    bench.bus.with_device(DeviceId(0), NOW, |pio, ctx| pio.reset(ctx));
    bench
}

fn configure(bench: &mut Bench, group: u32, lines: u32, configuration: u32) {
    bench.write(NOW, group + MSKR, lines).unwrap();
    bench.write(NOW, group + CFGR, configuration).unwrap();
}

/// Drives a line from outside, or releases it.
fn outside(bench: &mut Bench, line: u32, level: impl Into<Option<bool>>) {
    bench.bus.drive_pin(Pin::new(DeviceId(0), line), level.into(), NOW);
}

/// PIO_ISR of group B, which the read clears, and the pending interrupts after it.
fn events(bench: &mut Bench) -> (u32, u32) {
    (bench.value(NOW, B + ISR), bench.pending())
}

#[test]
fn the_device_keeps_its_table() {
    let special: Vec<String> =
        (0..GROUPS).flat_map(|group| ["CFGR", "ODSR"].map(|name| format!("PIO_{name}{group}"))).collect();
    let special: Vec<&str> = special.iter().map(String::as_str).chain(["PIO_WPMR"]).collect();
    walk::device_keeps_its_table(MAP.rows, &special, &mut pio());
}

#[test]
fn named_lines_are_recorded_as_driven_or_pulled() {
    let mut pio = Pio::new(Hz::new(83_000_000).unwrap(), [None; GROUPS]);
    pio.recorded = ["PA1", "PD31"].iter().filter_map(|name| line_named(name)).collect();
    let mut bench = Bench::new(pio).as_banks(MODEL.banks);
    bench.record();
    let group = 3 * STRIDE;
    for (at, register, value) in [(1, MSKR, 1 << 31), (2, CFGR, CFGR_DIR), (3, SODR, u32::MAX), (4, CODR, 1 << 31)] {
        bench.write(Ps(at), group + register, value).unwrap();
    }
    assert_eq!(bench.recorded("pd31"), [(Ps(2), false), (Ps(3), true), (Ps(4), false)]);
    assert_eq!(bench.recorded("pa1"), []);
}

#[test]
fn only_pins_of_the_chip_have_names() {
    for name in ["", "P", "PE0", "PA32", "PA+1", "PA01", "A1", "pa1", "PA1 ", "PÄ1"] {
        assert!(line_named(name).is_none(), "{name:?}");
    }
    assert_eq!(line_named("PB10"), Some(42));
    assert_eq!([0, 42, 127].map(name_of), ["pa0", "pb10", "pd31"]);
}

#[test]
fn a_configuration_goes_to_the_lines_of_the_mask() {
    let mut bench = pio();
    let group = 2 * STRIDE;
    bench.write(NOW, group + MSKR, 1 << 5 | 1 << 9).unwrap();
    bench.write(NOW, group + CFGR, u32::MAX).unwrap();
    for (mask, configuration) in [(1 << 5, CFGR_WRITABLE), (1 << 9, CFGR_WRITABLE), (1 << 4, CFGR_PUEN), (0, CFGR_PUEN)]
    {
        bench.write(NOW, group + MSKR, mask).unwrap();
        assert_eq!(bench.value(NOW, group + CFGR), configuration, "mask {mask:#x}");
        // The secure view shows the same.
        assert_eq!(bench.value(NOW, SECURE + group + CFGR), configuration);
    }
    bench.write(NOW, MSKR, 1 << 5).unwrap();
    assert_eq!(bench.value(NOW, CFGR), CFGR_PUEN);
}

#[test]
fn lines_read_what_drives_or_pulls_them() {
    let mut bench = pio();
    bench.write(NOW, MSKR, 0b0111).unwrap();
    bench.write(NOW, CFGR, CFGR_DIR).unwrap();
    bench.write(NOW, SODR, 0b0110).unwrap();
    bench.write(NOW, CODR, 0b0100).unwrap();
    assert_eq!((bench.value(NOW, ODSR), bench.value(NOW, PDSR)), (0b0010, 0xffff_fffa));
    // A write of ODSR goes to the lines of the mask.
    bench.write(NOW, MSKR, 0b0001).unwrap();
    bench.write(NOW, ODSR, u32::MAX).unwrap();
    assert_eq!(bench.value(NOW, ODSR), 0b0011);
    bench.write(NOW, MSKR, 0b1000).unwrap();
    bench.write(NOW, CFGR, CFGR_PDEN).unwrap();
    assert_eq!(bench.value(NOW, PDSR), 0xffff_fff3);
}

#[test]
fn a_frozen_configuration_stays() {
    let mut bench = pio();
    bench.write(NOW, MSKR, 1).unwrap();
    bench.write(NOW, CFGR, 3).unwrap();
    bench.write(NOW, IOFR, 1).unwrap();
    bench.write(NOW, CFGR, 4).unwrap();
    assert_eq!(bench.value(NOW, CFGR), 4);
    bench.write(NOW, IOFR, IOFR_KEY << 8 | 1).unwrap();
    bench.write(NOW, CFGR, 5 | 1 << 24).unwrap();
    assert_eq!(bench.value(NOW, CFGR), 4 | 1 << 24 | 1 << 29);
}

#[test]
fn write_protection_covers_the_configuration() {
    let mut bench = pio();
    bench.write(NOW, WPMR, WPKEY << 8 | 1).unwrap();
    bench.write(NOW, STRIDE + MSKR, 7).unwrap();
    assert_eq!((bench.value(NOW, STRIDE + MSKR), bench.value(NOW, WPSR)), (0, STRIDE << 8 | 1));
    bench.write(NOW, SODR, 7).unwrap();
    assert_eq!(bench.value(NOW, ODSR), 7);
}

#[test]
fn lines_are_secure_until_software_says_otherwise() {
    let mut bench = pio();
    assert_eq!(bench.value(NOW, SECURE + IOSSR), u32::MAX);
    bench.write(NOW, SECURE + SIONR, 0xff).unwrap();
    bench.write(NOW, SECURE + SIOSR, 0x0f).unwrap();
    assert_eq!(bench.value(NOW, SECURE + IOSSR), 0xffff_ff0f);
}

#[test]
fn an_open_drain_only_pulls_down() {
    let mut bench = pio();
    configure(&mut bench, B, 1 << 6, CFGR_DIR | CFGR_OPD | CFGR_PUEN);
    assert_eq!(bench.value(NOW, B + PDSR), !(1 << 6));
    bench.write(NOW, B + SODR, 1 << 6).unwrap();
    assert_eq!(bench.value(NOW, B + PDSR), u32::MAX, "it is pulled up");
    outside(&mut bench, 38, false);
    assert_eq!(bench.value(NOW, B + PDSR), !(1 << 6));
    assert!(bench.bus.notes().is_empty(), "nobody drives against it");
    configure(&mut bench, B, 1 << 6, CFGR_DIR);
    assert_eq!(bench.bus.notes().len(), 1);
    assert!(bench.bus.notes()[0].contains("pin 38 and what is wired to it"), "{:?}", bench.bus.notes());
}

#[test]
fn a_line_reads_its_wire_whatever_it_is_configured_for() {
    let mut bench = pio();
    // Of another peripheral, with and without pulls: the controller does not drive it.
    configure(&mut bench, B, 0b11, CFGR_DIR | 3);
    configure(&mut bench, B, 0b01, CFGR_DIR | CFGR_PDEN | CFGR_PUEN | 3);
    assert_eq!(bench.value(NOW, B + PDSR), !0b01, "a pull-down wins, and what nothing holds stays");
    outside(&mut bench, 32, true);
    outside(&mut bench, 33, false);
    assert_eq!(bench.value(NOW, B + PDSR), !0b10);
    outside(&mut bench, 32, None);
    outside(&mut bench, 33, None);
    assert_eq!(bench.value(NOW, B + PDSR), !0b11);
    // The other groups' lines are others.
    assert_eq!([0, 2, 3].map(|group| bench.value(NOW, group * STRIDE + PDSR)), [u32::MAX; 3]);
}

#[test]
fn edges_are_events_by_evtsel() {
    for (select, falls, rises) in [(FALLING, 1, 0), (RISING, 0, 1), (BOTH, 1, 1), (5 << 24, 0, 0)] {
        let mut bench = pio();
        configure(&mut bench, B, 1 << 9, CFGR_PUEN | select);
        bench.write(NOW, B + IER, 1 << 9).unwrap();
        for (level, event) in [(false, falls), (false, 0), (true, rises)] {
            outside(&mut bench, 41, level);
            assert_eq!(bench.pending(), event << 6, "{select:#x} {level}");
            assert_eq!(events(&mut bench), (event << 9, 0), "a read clears it");
        }
    }
}

#[test]
fn levels_are_events_as_long_as_they_last() {
    for (select, active) in [(LOW, false), (HIGH, true)] {
        let mut bench = pio();
        outside(&mut bench, 41, !active);
        configure(&mut bench, B, 1 << 9, CFGR_PUEN | select);
        bench.write(NOW, B + IER, 1 << 9).unwrap();
        events(&mut bench);
        outside(&mut bench, 41, active);
        assert_eq!(events(&mut bench), (1 << 9, 1 << 6), "it is set again at once");
        outside(&mut bench, 41, !active);
        assert_eq!(bench.pending(), 1 << 6, "it stays until it is read");
        assert_eq!([events(&mut bench), events(&mut bench)], [(1 << 9, 0), (0, 0)]);
    }
}

#[test]
fn events_are_kept_while_they_are_masked() {
    let mut bench = pio();
    // Falling edges are what EVTSEL is out of reset; those of outputs count.
    configure(&mut bench, B, 1 << 6, CFGR_DIR);
    outside(&mut bench, 41, false);
    assert_eq!((bench.pending(), bench.value(NOW, B + IMR)), (0, 0));
    bench.write(NOW, B + IER, 1 << 6 | 1 << 9).unwrap();
    assert_eq!((bench.pending(), bench.value(NOW, B + IMR)), (1 << 6, 1 << 6 | 1 << 9));
    bench.write(NOW, B + IDR, 1 << 6 | 1 << 9).unwrap();
    assert_eq!(events(&mut bench), (1 << 6 | 1 << 9, 0));
    // Each group has an interrupt of its own.
    bench.write(NOW, 3 * STRIDE + IER, 1).unwrap();
    outside(&mut bench, 96, false);
    assert_eq!(bench.pending(), 1 << 8);
    assert_eq!((bench.value(NOW, SECURE + 3 * STRIDE + ISR), bench.pending()), (1, 0));
}

/// A chip that passes PB0 on to PC1.
#[derive(State)]
struct Wire;

impl Device for Wire {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        ctx.bus.wires.watch(Pin::new(DeviceId(0), 32), ctx.id, false);
        Ok(Reply::written(ctx.now))
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        assert_eq!((port.bank, changed & 1), (1, 1));
        ctx.bus.drive_pin(Pin::new(DeviceId(0), 65), Some(levels & 1 != 0), ctx.now);
    }
}

impl Polled for Wire {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

#[test]
fn an_answer_at_another_groups_line_is_an_event_at_once() {
    let mut bench = pio().and(Wire);
    bench.bus.with_device(DeviceId(1), NOW, |wire, ctx| wire.write(0, 0, AccessSize::Word, 0, ctx)).unwrap();
    bench.write(NOW, 2 * STRIDE + IER, 1 << 1).unwrap();
    configure(&mut bench, B, 1, CFGR_DIR);
    assert_eq!(bench.pending(), 1 << 7);
    assert_eq!((bench.value(NOW, 2 * STRIDE + PDSR), bench.value(NOW, 2 * STRIDE + ISR)), (!(1 << 1), 1 << 1));
}

#[test]
fn polling_sees_what_may_change_an_answer() {
    let mut bench = pio();
    let look = |bench: &mut Bench, cycle: u64| {
        let mut poll = Poll::look(Hz::new(100_000_000).unwrap(), Cycles(cycle));
        let is_listed = bench.bus.with_device(DeviceId(0), NOW, |pio, _| pio.polled(&mut poll));
        is_listed.then_some(poll)
    };
    let first = look(&mut bench, 10).unwrap();
    bench.value(NOW, B + PDSR);
    bench.value(NOW, B + ISR);
    let second = look(&mut bench, 20).unwrap();
    assert!(second.repeats(&first));
    outside(&mut bench, 41, false);
    let third = look(&mut bench, 30).unwrap();
    assert!(!third.repeats(&second));
    bench.value(NOW, B + ISR);
    assert!(!look(&mut bench, 40).unwrap().repeats(&third), "the read has cleared it");
    // Lines that change by themselves are updated at each access; other groups' lines do not change.
    bench.bus.wires.set_moving(Pin::new(DeviceId(0), 41), true);
    for group in [B, 0] {
        bench.value(NOW, group + PDSR);
        assert!(look(&mut bench, 50).is_none());
    }
}
