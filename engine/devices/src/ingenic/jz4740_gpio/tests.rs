use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use engine::bus::device::{AccessResult, AccessSize, DeviceId, Reply};
use engine::pins::Pin;
use engine::time::Ps;

const NOW: Ps = Ps(0);
/// Distance from a register to the one that sets its bits, and to the one that clears them.
const SET: u32 = DATS - DAT;
const CLEAR: u32 = DATC - DAT;
/// Core 0's input that the port interrupts.
const LINE: u32 = 5;

fn port() -> Bench {
    let properties: &[(&str, &[u32])] = &[("interrupt-parent", &[CPU_INTC]), ("interrupts", &[LINE])];
    let (bench, faults) = read_plain_node(from_node, properties);
    assert!(faults.is_empty(), "{faults:?}");
    bench.as_port()
}

fn set(bench: &mut Bench, register: u32, bits: u32) {
    bench.write(NOW, register | SET, bits).unwrap();
}

fn clear(bench: &mut Bench, register: u32, bits: u32) {
    bench.write(NOW, register | CLEAR, bits).unwrap();
}

/// Drives a pin from outside.
fn drive(bench: &mut Bench, number: u32, level: bool) {
    bench.bus.drive_pin(Pin::new(DeviceId(0), number), Some(level), NOW);
}

#[test]
fn the_device_keeps_its_table() {
    walk::device_keeps_its_table(MAP.rows, &[], &mut port());
}

#[test]
fn bits_are_set_and_cleared_beside_their_register() {
    let mut bench = port();
    for register in [DAT, IM, PE, FUN, SEL, DIR, TRG] {
        clear(&mut bench, register, u32::MAX);
        set(&mut bench, register, 0xf0f0);
        clear(&mut bench, register, 0x0ff0);
        assert_eq!(bench.value(NOW, register), 0xf000, "{register:#x}");
        assert_eq!(bench.value(NOW, register | SET), 0);
    }
    assert!(bench.bus.notes().is_empty());
    for (index, offset) in [PIN, DAT, FLG, FLG | SET, 0x90, 0x1c].into_iter().enumerate() {
        bench.write(NOW, offset, u32::MAX).unwrap();
        assert_eq!(bench.bus.notes().len(), index + 1, "{offset:#x}");
    }
}

#[test]
fn outputs_are_driven_and_others_are_not() {
    let mut bench = port();
    // PxDAT is 0: a pin falls when it becomes an output.
    set(&mut bench, DIR, 0b1111);
    assert_eq!(bench.value(NOW, PIN) & 0b1111, 0b0000);
    set(&mut bench, DAT, 0b0001);
    assert_eq!(bench.value(NOW, PIN) & 0b1111, 0b0001);
    // A pin of another device, and an interrupt source, are not driven.
    set(&mut bench, FUN, 0b0100);
    set(&mut bench, SEL, 0b1000);
    assert_eq!(bench.value(NOW, PIN) & 0b1111, 0b1101);
    drive(&mut bench, 4, false);
    assert_eq!(bench.value(NOW, PIN) & 0b1_1111, 0b0_1101);
    // Without its pull-up, a released line keeps its level.
    set(&mut bench, PE, 0b0010);
    clear(&mut bench, DIR, 0b0010);
    assert_eq!(bench.value(NOW, PIN) & 0b1111, 0b1101);
    clear(&mut bench, PE, 0b0010);
    assert_eq!(bench.value(NOW, PIN) & 0b1111, 0b1111);
}

#[test]
fn edges_set_flags_and_flags_interrupt() {
    for (direction, edges) in [(0, [true, false]), (1, [false, true])] {
        let mut bench = port();
        for (register, bits) in [(SEL, 1), (TRG, 1), (DIR, direction)] {
            set(&mut bench, register, bits);
        }
        drive(&mut bench, 0, edges[0]);
        assert_eq!(bench.value(NOW, FLG), 0);
        drive(&mut bench, 0, edges[1]);
        assert_eq!((bench.value(NOW, FLG), bench.pending()), (1, 0));
        // Masked until here; the flag is still there.
        clear(&mut bench, IM, 1);
        assert_eq!(bench.pending(), 1 << LINE);
        drive(&mut bench, 0, edges[0]);
        assert_eq!(bench.value(NOW, FLG), 1);
        set(&mut bench, DAT, 1);
        assert_eq!((bench.value(NOW, FLG), bench.pending()), (0, 0));
    }
}

#[test]
fn a_level_sets_its_flag_for_as_long_as_it_lasts() {
    for high in [false, true] {
        let mut bench = port();
        set(&mut bench, DIR, u32::from(high) << 12);
        drive(&mut bench, 12, !high);
        set(&mut bench, SEL, 1 << 12);
        clear(&mut bench, IM, 1 << 12);
        assert_eq!((bench.value(NOW, FLG), bench.pending()), (0, 0));
        drive(&mut bench, 12, high);
        assert_eq!((bench.value(NOW, FLG), bench.pending()), (1 << 12, 1 << LINE));
        set(&mut bench, DAT, 1 << 12);
        assert_eq!((bench.value(NOW, FLG), bench.pending()), (1 << 12, 1 << LINE));
        // The flag stays when the level is gone, until it is cleared.
        drive(&mut bench, 12, !high);
        assert_eq!(bench.pending(), 1 << LINE);
        set(&mut bench, DAT, 1 << 12);
        assert_eq!((bench.value(NOW, FLG), bench.pending()), (0, 0));
    }
}

#[test]
fn setting_data_leaves_flags_of_what_is_no_source() {
    let mut bench = port();
    for register in [SEL, TRG] {
        set(&mut bench, register, 0b11);
    }
    drive(&mut bench, 0, false);
    drive(&mut bench, 1, false);
    clear(&mut bench, SEL, 0b10);
    set(&mut bench, DAT, 0b11);
    assert_eq!((bench.value(NOW, FLG), bench.value(NOW, DAT)), (0b10, 0b11));
}

/// A chip on pin 1 that answers each change of pin 0 with a pulse on pin 1.
#[derive(engine::state::State)]
struct Pulse;

impl Device for Pulse {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        let pin = |number| Pin::new(DeviceId(0), number);
        ctx.bus.wires.watch(pin(0), ctx.id, false);
        ctx.bus.drive_pin(pin(1), Some(false), ctx.now);
        Ok(Reply::written(ctx.now))
    }

    fn pins_changed(&mut self, port: PortId, _: u32, _: u32, ctx: &mut Ctx) {
        for level in [true, false] {
            // As a chip's interrupt line that is wired to the port.
            ctx.set_irq(Some(IrqLine::Device { device: port.device, input: 1 }), level);
        }
    }
}

impl Polled for Pulse {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

#[test]
fn an_edge_that_comes_while_the_port_is_written_is_not_lost() {
    let mut bench = port().and(Pulse);
    bench.bus.with_device(DeviceId(1), NOW, |chip, ctx| chip.write(0, 0, AccessSize::Word, 0, ctx)).unwrap();
    // Until all three are set, the pin is a source of another kind; so its flag is cleared last (PxFLGC).
    for (register, bits) in [(SEL, 0b10), (TRG, 0b10), (DIR, 0b10), (DAT, 0b10)] {
        set(&mut bench, register, bits);
    }
    clear(&mut bench, IM, 0b10);
    assert_eq!((bench.value(NOW, FLG), bench.pending()), (0, 0));
    set(&mut bench, DIR, 0b01);
    assert_eq!((bench.value(NOW, FLG), bench.pending()), (0b10, 1 << LINE));
    assert!(bench.bus.notes().is_empty());
}

#[test]
fn polling_sees_what_may_change_an_answer() {
    use engine::polling::Poll;
    use engine::time::{Cycles, Hz};
    let mut bench = port();
    let look = |bench: &mut Bench, cycle: u64| {
        let mut poll = Poll::look(Hz::new(100_000_000).unwrap(), Cycles(cycle));
        assert!(bench.bus.with_device(DeviceId(0), NOW, |port, _| port.polled(&mut poll)));
        poll
    };
    let first = look(&mut bench, 10);
    bench.value(NOW, PIN);
    let second = look(&mut bench, 20);
    assert!(second.repeats(&first));
    drive(&mut bench, 3, false);
    assert!(!look(&mut bench, 30).repeats(&second));
}
