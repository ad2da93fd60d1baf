use super::*;
use crate::bench::{Bench, CPU_INTC, read_node};
use crate::registers::{Row, walk};
use engine::bus::device::DeviceId;
use engine::time::{Hz, Ps};

const IRQ: u32 = 1 << 0;
const FIQ: u32 = 1 << 1;
const NOW: Ps = Ps(0);
/// The time at which signals sent at `NOW` have arrived.
const LATER: Ps = Ps(100_000);

const GICD_CTLR: u32 = 0x000;
const GICD_IGROUPR: u32 = 0x080;
const GICD_ISENABLER: u32 = 0x100;
const GICD_ICENABLER: u32 = 0x180;
const GICD_ISPENDR: u32 = 0x200;
const GICD_ICPENDR: u32 = 0x280;
const GICD_ISACTIVER: u32 = 0x300;
const GICD_ICACTIVER: u32 = 0x380;
const GICD_IPRIORITYR: u32 = 0x400;
const GICD_ITARGETSR: u32 = 0x800;
const GICD_ICFGR: u32 = 0xc00;
const GICD_SGIR: u32 = 0xf00;
const GICC_CTLR: u32 = 0x00;
const GICC_PMR: u32 = 0x04;
const GICC_BPR: u32 = 0x08;
const GICC_IAR: u32 = 0x0c;
const GICC_EOIR: u32 = 0x10;
const GICC_RPR: u32 = 0x14;
const GICC_HPPIR: u32 = 0x18;
const GICC_ABPR: u32 = 0x1c;
const GICC_AIAR: u32 = 0x20;
const GICC_AEOIR: u32 = 0x24;
const GICC_DIR: u32 = 0x1000;
const SPURIOUS: u32 = 1023;

fn reset_gic() -> Bench {
    let clock = Hz::new(100_000_000).unwrap();
    let port = AxiLitePort { clock, read_cycles: Cycles(4), write_cycles: Cycles(3) };
    let line = |bit| Some(IrqLine::Core { core: 0, bit });
    Bench::new(Gic::new(port, Cycles(5), &[[line(0), line(1)]]))
}

/// A controller with both groups on, and the lowest priority mask.
fn gic() -> Bench {
    let mut bench = reset_gic();
    bench.write(NOW, GICD_CTLR, 3).unwrap();
    put(&mut bench, GICC_CTLR, 3);
    put(&mut bench, GICC_PMR, 0xff);
    bench
}

/// A controller of two cores with both groups on, and the lowest priority masks.
fn two_cores() -> Bench {
    let clock = Hz::new(100_000_000).unwrap();
    let port = AxiLitePort { clock, read_cycles: Cycles(4), write_cycles: Cycles(3) };
    let lines = [0, 1].map(|core| [0, 1].map(|bit| Some(IrqLine::Core { core, bit })));
    let mut bench = Bench::new(Gic::new(port, Cycles(5), &lines));
    bench.bus.add_core();
    bench.write(NOW, GICD_CTLR, 3).unwrap();
    for core in [0, 1] {
        by(&mut bench, core, 1, GICC_CTLR, Some(3));
        by(&mut bench, core, 1, GICC_PMR, Some(0xff));
    }
    bench
}

/// An access of a core to a word of the distributor (0) or its CPU interface (1).
fn by(bench: &mut Bench, core: usize, range: usize, offset: u32, value: Option<u32>) -> u32 {
    bench.bus.master = Some(core);
    let found = bench.bus.with_device(DeviceId(0), LATER, |device, ctx| match value {
        None => device.read(range, offset, AccessSize::Word, ctx).unwrap().value,
        Some(value) => device.write(range, offset, AccessSize::Word, value, ctx).map(|_| 0).unwrap(),
    });
    bench.bus.master = None;
    found
}

/// As [`set_line`], after accesses of several cores: a device's time does not go back.
fn set_line_later(bench: &mut Bench, id: u32, level: bool) {
    drive(bench, LATER, id, level);
    bench.run(Ps(1_000_000));
}

/// True for each core whose IRQ is up.
fn irqs(bench: &Bench) -> [bool; 2] {
    [0, 1].map(|core: usize| bench.bus.core_irqs[core].low() & IRQ != 0)
}

fn access(bench: &mut Bench, offset: u32, size: AccessSize, value: Option<u32>) -> u32 {
    bench.bus.with_device(DeviceId(0), LATER, |device, ctx| match value {
        None => device.read(1, offset, size, ctx).unwrap().value,
        Some(value) => device.write(1, offset, size, value, ctx).map(|_| 0).unwrap(),
    })
}

/// A register of the CPU interface.
fn get(bench: &mut Bench, offset: u32) -> u32 {
    access(bench, offset, AccessSize::Word, None)
}

fn put(bench: &mut Bench, offset: u32, value: u32) {
    access(bench, offset, AccessSize::Word, Some(value));
}

/// A byte of the distributor.
fn put_byte(bench: &mut Bench, offset: u32, value: u32) {
    let write = |device: &mut dyn Device, ctx: &mut Ctx| device.write(0, offset, AccessSize::Byte, value, ctx);
    bench.bus.with_device(DeviceId(0), NOW, write).unwrap();
}

/// Enables an interrupt, with a priority, for the processor with a CPU interface.
fn enable(bench: &mut Bench, id: u32, priority: u32) {
    put_byte(bench, GICD_IPRIORITYR + id, priority);
    put_byte(bench, GICD_ITARGETSR + id, 1);
    bench.write(NOW, GICD_ISENABLER + id / 32 * 4, 1 << (id % 32)).unwrap();
}

fn drive(bench: &mut Bench, at: Ps, id: u32, level: bool) {
    bench.bus.with_device(DeviceId(0), at, |device, ctx| device.irq_input(id, level, ctx));
}

/// Changes a line's level, and waits until the change has arrived.
fn set_line(bench: &mut Bench, id: u32, level: bool) {
    drive(bench, NOW, id, level);
    bench.run(LATER);
}

#[test]
fn resets_are_those_of_the_stm32mp157() {
    let mut bench = reset_gic();
    let distributor = [
        (GICD_CTLR, 0),
        (0x004, 0x0000_fc28),
        (0x008, 0x0100_143b),
        (GICD_ISENABLER, 0x0000_ffff),
        (GICD_ICENABLER, 0x0000_ffff),
        (GICD_ICFGR, 0xaaaa_aaaa),
        (GICD_ICFGR + 4, 0x5554_0000),
        (GICD_ICFGR + 8, 0x5555_5555),
        (GICD_ITARGETSR + 28, 0x0101_0101),
        (GICD_ITARGETSR + 32, 0),
    ];
    for (offset, value) in distributor {
        assert_eq!(bench.value(NOW, offset), value, "GICD {offset:#x}");
    }
    let interface =
        [(GICC_CTLR, 0), (GICC_PMR, 0), (GICC_BPR, 2), (GICC_ABPR, 3), (GICC_RPR, 0xff), (0xfc, 0x0102_143b)];
    for (offset, value) in interface {
        assert_eq!(get(&mut bench, offset), value, "GICC {offset:#x}");
    }
    assert_eq!((get(&mut bench, GICC_IAR), get(&mut bench, GICC_HPPIR)), (SPURIOUS, SPURIOUS));
}

#[test]
fn the_distributor_keeps_its_table() {
    // A bit of an interrupt's two in ICFGR is fixed.
    let is_plain = |row: &&Row| row.is_stored() && !row.name.contains("ICFGR");
    let rows: Vec<Row> = distributor::MAP.rows.iter().filter(is_plain).copied().collect();
    walk::device_keeps_its_table(&rows, &[], &mut reset_gic());
}

#[test]
fn registers_keep_the_bits_that_exist() {
    let mut bench = reset_gic();
    let written = [
        (GICD_CTLR, 3),
        (GICD_IGROUPR + 32, u32::MAX),
        (GICD_IGROUPR + 36, 0),
        (GICD_IPRIORITYR, 0xf8f8_f8f8),
        (GICD_IPRIORITYR + 284, 0xf8f8_f8f8),
        (GICD_IPRIORITYR + 288, 0),
        (GICD_ITARGETSR, 0x0101_0101),
        (GICD_ITARGETSR + 284, 0x0303_0303),
        (GICD_ICFGR + 4, 0x5554_0000),
        (GICD_ICFGR + 8, u32::MAX),
        (GICD_ICFGR + 72, 0),
    ];
    for (offset, value) in written {
        bench.write(NOW, offset, u32::MAX).unwrap();
        assert_eq!(bench.value(NOW, offset), value, "{offset:#x}");
    }
    for (offset, low, high) in [(GICC_PMR, 0, 0xf8), (GICC_BPR, 2, 7), (GICC_ABPR, 3, 7), (GICC_CTLR, 0, 0x7ff)] {
        put(&mut bench, offset, u32::MAX);
        assert_eq!(get(&mut bench, offset), high, "{offset:#x}");
        put(&mut bench, offset, 0);
        assert_eq!(get(&mut bench, offset), low, "{offset:#x}");
    }
}

#[test]
fn a_line_takes_its_cycles_and_a_register_its_own() {
    let mut bench = gic();
    enable(&mut bench, 84, 0x80);
    drive(&mut bench, Ps(20_000), 84, true);
    bench.run(Ps(69_999));
    assert_eq!(bench.pending(), 0);
    bench.run(Ps(70_000));
    assert_eq!(bench.pending(), IRQ);
    assert_eq!(bench.read(Ps(100_000), GICD_CTLR), Ok((3, Ps(140_000))));
    assert_eq!(bench.write(Ps(100_000), GICD_CTLR, 3), Ok(Ps(130_000)));
}

#[test]
fn a_level_is_pending_as_long_as_its_line_says_and_active_until_its_end() {
    let mut bench = gic();
    enable(&mut bench, 84, 0x80);
    set_line(&mut bench, 84, true);
    assert_eq!(get(&mut bench, GICC_HPPIR), 84);
    assert_eq!((get(&mut bench, GICC_IAR), bench.pending()), (84, 0));
    let word = 84 / 32 * 4;
    assert_eq!(bench.value(NOW, GICD_ISACTIVER + word), 1 << 20);
    assert_eq!(bench.value(NOW, GICD_ISPENDR + word), 1 << 20, "the line is still high");
    // Active interrupts are not signalled again; software cannot clear a pending level.
    bench.write(NOW, GICD_ICPENDR + word, 1 << 20).unwrap();
    assert_eq!((get(&mut bench, GICC_IAR), bench.value(NOW, GICD_ISPENDR + word)), (SPURIOUS, 1 << 20));
    put(&mut bench, GICC_EOIR, 84);
    assert_eq!(bench.pending(), IRQ, "it was not served");
    assert_eq!(get(&mut bench, GICC_IAR), 84);
    set_line(&mut bench, 84, false);
    put(&mut bench, GICC_EOIR, 84);
    assert_eq!((bench.pending(), bench.value(NOW, GICD_ISACTIVER + word)), (0, 0));
}

#[test]
fn an_edge_stays_until_it_is_taken_and_comes_again_while_active() {
    let mut bench = gic();
    bench.write(NOW, GICD_ICFGR + 4 * (84 / 16), 2 << (2 * (84 % 16))).unwrap();
    enable(&mut bench, 84, 0x80);
    set_line(&mut bench, 84, true);
    set_line(&mut bench, 84, false);
    assert_eq!((bench.pending(), get(&mut bench, GICC_IAR), bench.pending()), (IRQ, 84, 0));
    set_line(&mut bench, 84, true);
    assert_eq!(bench.pending(), 0, "it is active");
    put(&mut bench, GICC_EOIR, 84);
    assert_eq!((bench.pending(), get(&mut bench, GICC_IAR)), (IRQ, 84));
    put(&mut bench, GICC_EOIR, 84);
    assert_eq!(bench.pending(), 0, "the line is high, without a new edge");
}

#[test]
fn software_can_make_interrupts_pending_and_take_that_back() {
    let mut bench = gic();
    enable(&mut bench, 100, 0x80);
    let (word, bit) = (100 / 32 * 4, 1 << (100 % 32));
    bench.write(NOW, GICD_ISPENDR + word, bit).unwrap();
    assert_eq!(bench.pending(), IRQ);
    bench.write(NOW, GICD_ICPENDR + word, bit).unwrap();
    assert_eq!(bench.pending(), 0);
    bench.write(NOW, GICD_ISPENDR + word, bit).unwrap();
    assert_eq!((get(&mut bench, GICC_IAR), bench.value(NOW, GICD_ISPENDR + word)), (100, 0));
    bench.write(NOW, GICD_ICACTIVER + word, bit).unwrap();
    assert_eq!(bench.value(NOW, GICD_ISACTIVER + word), 0);
}

#[test]
fn the_highest_priority_comes_first_and_of_equals_the_lowest_number() {
    let mut bench = gic();
    for (id, priority) in [(90, 0x40), (84, 0x40), (40, 0x80), (200, 0x38)] {
        enable(&mut bench, id, priority);
        drive(&mut bench, NOW, id, true);
    }
    bench.run(LATER);
    let mut order = Vec::new();
    loop {
        let id = get(&mut bench, GICC_IAR);
        if id == SPURIOUS {
            break;
        }
        order.push(id);
        set_line(&mut bench, id, false);
        put(&mut bench, GICC_EOIR, id);
    }
    assert_eq!(order, [200, 84, 90, 40]);
}

#[test]
fn masks_enables_and_targets_hold_interrupts_back() {
    let mut bench = gic();
    enable(&mut bench, 84, 0x80);
    set_line(&mut bench, 84, true);
    put(&mut bench, GICC_PMR, 0x80);
    assert_eq!((bench.pending(), get(&mut bench, GICC_IAR)), (0, SPURIOUS));
    assert_eq!(get(&mut bench, GICC_HPPIR), 84, "what is pending does not depend on the mask");
    put(&mut bench, GICC_PMR, 0x88);
    assert_eq!(bench.pending(), IRQ);
    for (offset, off, on) in [(GICD_CTLR, 2, 3), (GICD_ICENABLER + 8, 1 << 20, 0)] {
        bench.write(NOW, offset, off).unwrap();
        assert_eq!(bench.pending(), 0, "{offset:#x}");
        bench.write(NOW, GICD_CTLR, on | 3).unwrap();
        bench.write(NOW, GICD_ISENABLER + 8, 1 << 20).unwrap();
        assert_eq!(bench.pending(), IRQ);
    }
    put_byte(&mut bench, GICD_ITARGETSR + 84, 2);
    assert_eq!(bench.pending(), 0);
    assert_eq!(bench.bus.notes().len(), 1, "{:?}", bench.bus.notes());
}

#[test]
fn higher_group_priorities_interrupt_lower_ones_and_equal_ones_wait() {
    let mut bench = gic();
    for (id, priority) in [(40, 0x48), (41, 0x40), (42, 0x38)] {
        enable(&mut bench, id, priority);
    }
    // Bits 7 to 4 decide: 0x48 and 0x40 are in one group.
    put(&mut bench, GICC_BPR, 3);
    set_line(&mut bench, 40, true);
    assert_eq!((get(&mut bench, GICC_IAR), get(&mut bench, GICC_RPR)), (40, 0x40));
    set_line(&mut bench, 41, true);
    assert_eq!((bench.pending(), get(&mut bench, GICC_IAR)), (0, SPURIOUS));
    set_line(&mut bench, 42, true);
    assert_eq!(bench.pending(), IRQ);
    assert_eq!((get(&mut bench, GICC_IAR), get(&mut bench, GICC_RPR)), (42, 0x30));
    set_line(&mut bench, 42, false);
    put(&mut bench, GICC_EOIR, 42);
    assert_eq!((get(&mut bench, GICC_RPR), bench.pending()), (0x40, 0));
    set_line(&mut bench, 40, false);
    put(&mut bench, GICC_EOIR, 40);
    assert_eq!((get(&mut bench, GICC_RPR), bench.pending(), get(&mut bench, GICC_IAR)), (0xff, IRQ, 41));
}

#[test]
fn an_end_may_be_in_two_steps() {
    let mut bench = gic();
    put(&mut bench, GICC_CTLR, 3 | 1 << 9);
    enable(&mut bench, 40, 0x40);
    enable(&mut bench, 41, 0x40);
    set_line(&mut bench, 40, true);
    assert_eq!(get(&mut bench, GICC_IAR), 40);
    set_line(&mut bench, 41, true);
    put(&mut bench, GICC_EOIR, 40);
    // The priority is dropped: another interrupt is signalled, the same one is not.
    assert_eq!((get(&mut bench, GICC_RPR), get(&mut bench, GICC_IAR)), (0xff, 41));
    put(&mut bench, GICC_EOIR, 41);
    assert_eq!(bench.pending(), 0);
    put(&mut bench, GICC_DIR, 40);
    assert_eq!((bench.pending(), get(&mut bench, GICC_IAR)), (IRQ, 40));
    assert!(bench.bus.notes().is_empty(), "{:?}", bench.bus.notes());
}

#[test]
fn an_end_of_nothing_is_noted() {
    let mut bench = gic();
    put(&mut bench, GICC_EOIR, 40);
    put(&mut bench, GICC_EOIR, SPURIOUS);
    assert_eq!(
        bench.bus.notes(),
        ["device0: interrupt 40 was ended while it is not active: no effect (first at 100.000 ns)"]
    );
}

#[test]
fn software_generated_interrupts_come_from_their_sender() {
    let mut bench = gic();
    put_byte(&mut bench, GICD_IPRIORITYR + 5, 0x40);
    bench.write(NOW, GICD_SGIR, 1 << 16 | 5).unwrap();
    bench.write(NOW, GICD_SGIR, 2 << 24 | 6).unwrap();
    assert_eq!(bench.value(NOW, GICD_ISPENDR), 0x60);
    assert_eq!((get(&mut bench, GICC_IAR), bench.value(NOW, GICD_ISPENDR)), (6, 0x20));
    put(&mut bench, GICC_EOIR, 6);
    // Set pending as if the other processor had sent it.
    bench.write(NOW, 0xf24, 2 << 8).unwrap();
    assert_eq!(get(&mut bench, GICC_HPPIR), 5);
    assert_eq!(get(&mut bench, GICC_IAR), 5);
    put(&mut bench, GICC_EOIR, 5);
    assert_eq!(get(&mut bench, GICC_IAR), 1 << 10 | 5);
    bench.write(NOW, 0xf14, 3 << 8).unwrap();
    assert_eq!(bench.value(NOW, GICD_ISPENDR), 0);
    assert!(bench.bus.notes().is_empty());
    bench.write(NOW, GICD_SGIR, 1 << 24 | 5).unwrap();
    assert_eq!((bench.value(NOW, GICD_ISPENDR), bench.bus.notes().len()), (0, 1));
}

#[test]
fn a_software_generated_interrupt_reaches_the_cores_that_it_names() {
    let mut bench = two_cores();
    let spurious = SPURIOUS;
    // The list, all others, the sender.
    for (value, cores, sender) in
        [(2 << 16 | 5, [false, true], 0), (1 << 24 | 5, [true, false], 1), (2 << 24 | 5, [false, true], 1)]
    {
        by(&mut bench, sender, 0, GICD_SGIR, Some(value));
        assert_eq!(irqs(&bench), cores, "{value:#x}");
        for core in [0, 1] {
            let taken = if cores[core] { (sender as u32) << 10 | 5 } else { spurious };
            assert_eq!(by(&mut bench, core, 1, GICC_IAR, None), taken, "{value:#x}, core {core}");
            by(&mut bench, core, 1, GICC_EOIR, Some(taken));
        }
    }
    by(&mut bench, 0, 0, GICD_SGIR, Some(3 << 16 | 7));
    assert_eq!(irqs(&bench), [true; 2]);
    assert_eq!(by(&mut bench, 0, 1, GICC_IAR, None), 7);
    assert_eq!(irqs(&bench), [false, true], "each takes its own");
    assert_eq!(by(&mut bench, 1, 0, GICD_ISPENDR, None), 1 << 7);
    assert_eq!(by(&mut bench, 0, 0, GICD_ISACTIVER, None), 1 << 7);
    assert!(bench.bus.notes().is_empty(), "{:?}", bench.bus.notes());
}

#[test]
fn private_interrupts_and_their_registers_are_each_cores_own() {
    let mut bench = two_cores();
    by(&mut bench, 1, 0, GICD_ISENABLER, Some(1 << 27));
    by(&mut bench, 1, 0, GICD_IPRIORITYR + 24, Some(0x4000_0000));
    assert_eq!([0, 1].map(|core| by(&mut bench, core, 0, GICD_ISENABLER, None)), [0xffff, 0xffff | 1 << 27]);
    assert_eq!([0, 1].map(|core| by(&mut bench, core, 0, GICD_IPRIORITYR + 24, None)), [0, 0x4000_0000]);
    assert_eq!([0, 1].map(|core| by(&mut bench, core, 0, 0x800, None)), [0x0101_0101, 0x0202_0202]);
    set_line_later(&mut bench, 27, true);
    assert_eq!(irqs(&bench), [false; 2], "the first core's, which is not enabled");
    set_line_later(&mut bench, INPUTS_OF_CORE + 27, true);
    assert_eq!(irqs(&bench), [false, true]);
    assert_eq!(by(&mut bench, 1, 0, 0xd00, None), 1 << 11);
    assert_eq!(by(&mut bench, 1, 1, GICC_IAR, None), 27);
    set_line_later(&mut bench, INPUTS_OF_CORE + 27, false);
    by(&mut bench, 1, 1, GICC_EOIR, Some(27));
    assert_eq!(by(&mut bench, 1, 0, GICD_ISACTIVER, None), 0);
    set_line_later(&mut bench, 2 * INPUTS_OF_CORE + 27, true);
    assert!(bench.bus.notes().is_empty(), "{:?}", bench.bus.notes());
}

#[test]
fn a_shared_interrupt_goes_to_its_targets_and_the_first_to_read_takes_it() {
    let mut bench = two_cores();
    enable(&mut bench, 84, 0x80);
    put_byte(&mut bench, GICD_ITARGETSR + 84, 2);
    set_line_later(&mut bench, 84, true);
    assert_eq!(irqs(&bench), [false, true]);
    put_byte(&mut bench, GICD_ITARGETSR + 84, 3);
    assert_eq!(irqs(&bench), [true; 2]);
    assert_eq!(by(&mut bench, 1, 1, GICC_IAR, None), 84);
    assert_eq!(irqs(&bench), [false; 2]);
    assert_eq!(by(&mut bench, 0, 1, GICC_IAR, None), SPURIOUS);
    assert!(bench.bus.notes().is_empty(), "{:?}", bench.bus.notes());
}

#[test]
fn private_interrupts_need_no_target() {
    let mut bench = gic();
    bench.write(NOW, GICD_ISENABLER, 1 << 27).unwrap();
    set_line(&mut bench, 27, true);
    assert_eq!((bench.pending(), get(&mut bench, GICC_IAR)), (IRQ, 27));
    assert_eq!(bench.value(NOW, 0xd00), 1 << 11, "GICD_PPISR");
}

#[test]
fn group_0_may_be_fast_and_group_1_has_registers_of_its_own() {
    let mut bench = gic();
    put(&mut bench, GICC_CTLR, 0b1011);
    enable(&mut bench, 40, 0x40);
    set_line(&mut bench, 40, true);
    assert_eq!(bench.pending(), FIQ);
    assert_eq!((get(&mut bench, GICC_AIAR), get(&mut bench, GICC_IAR)), (SPURIOUS, 40));
    set_line(&mut bench, 40, false);
    put(&mut bench, GICC_EOIR, 40);
    bench.write(NOW, GICD_IGROUPR + 4, 1 << 8).unwrap();
    set_line(&mut bench, 40, true);
    assert_eq!(bench.pending(), IRQ);
    assert_eq!((get(&mut bench, GICC_IAR), get(&mut bench, GICC_HPPIR)), (1022, 1022));
    assert_eq!(get(&mut bench, GICC_AIAR), 40);
    set_line(&mut bench, 40, false);
    put(&mut bench, GICC_AEOIR, 40);
    assert_eq!(get(&mut bench, GICC_RPR), 0xff);
    // With AckCtl, one register acknowledges both groups.
    put(&mut bench, GICC_CTLR, 0b0111);
    set_line(&mut bench, 40, true);
    assert_eq!(get(&mut bench, GICC_IAR), 40);
}

#[test]
fn group_1_has_a_binary_point_of_its_own_unless_it_shares() {
    let mut bench = gic();
    bench.write(NOW, GICD_IGROUPR + 4, 1 << 8 | 1 << 9).unwrap();
    enable(&mut bench, 40, 0x48);
    enable(&mut bench, 41, 0x40);
    // Bits 7 to 4 decide in group 1.
    put(&mut bench, GICC_ABPR, 4);
    set_line(&mut bench, 40, true);
    assert_eq!((get(&mut bench, GICC_AIAR), get(&mut bench, GICC_RPR)), (40, 0x40));
    set_line(&mut bench, 41, true);
    assert_eq!(bench.pending(), 0);
    set_line(&mut bench, 40, false);
    put(&mut bench, GICC_AEOIR, 40);
    set_line(&mut bench, 41, false);
    // With CBPR, bits 7 to 3, by BPR.
    put(&mut bench, GICC_CTLR, 0b1_0011);
    set_line(&mut bench, 40, true);
    assert_eq!((get(&mut bench, GICC_AIAR), get(&mut bench, GICC_RPR)), (40, 0x48));
    set_line(&mut bench, 41, true);
    assert_eq!(bench.pending(), IRQ);
}

#[test]
fn priorities_are_written_by_the_byte() {
    let mut bench = gic();
    bench.write(NOW, GICD_IPRIORITYR + 40, 0x1020_3040).unwrap();
    put_byte(&mut bench, GICD_IPRIORITYR + 42, 0xa0);
    assert_eq!(bench.value(NOW, GICD_IPRIORITYR + 40), 0x10a0_3040);
}

#[test]
fn nothing_outside_its_interrupts_disturbs_it() {
    let mut bench = gic();
    set_line(&mut bench, 5, true);
    set_line(&mut bench, 288, true);
    for offset in (0..0x1000).step_by(4) {
        bench.value(NOW, offset);
        bench.write(NOW, offset, u32::MAX).unwrap();
    }
    for offset in (0..0x2000).step_by(4) {
        put(&mut bench, offset, u32::MAX);
        get(&mut bench, offset);
    }
}

#[test]
fn a_node_gives_irq_and_fiq() {
    let lines = [CPU_INTC, 0, CPU_INTC, 1];
    let (_, faults) = read_node(from_node, &[("interrupts-extended", &lines)]);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].contains("cyclescope,latency-cycles"), "{faults:?}");
}
