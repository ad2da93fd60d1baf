use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use engine::polling::Poll;
use engine::time::{Cycles, Hz};

const C1CR: u32 = 0x00;
const C1MR: u32 = 0x04;
const C1SCR: u32 = 0x08;
const C1TOC2SR: u32 = 0x0c;
const C2CR: u32 = 0x10;
const C2MR: u32 = 0x14;
const C2SCR: u32 = 0x18;
const C2TOC1SR: u32 = 0x1c;

/// Pending interrupts of the processors: 1 occupied, 1 free, 2 occupied, 2 free.
const RX1: u32 = 1;
const TX1: u32 = 2;
const RX2: u32 = 4;
const TX2: u32 = 8;

fn ipcc() -> Bench {
    let lines = [0, 1, 2, 3].map(|bit| Some(IrqLine::Core { core: 0, bit }));
    Bench::new(Ipcc::new(lines, ClockGate::default()))
}

/// All interrupts enabled, and no channel masked.
fn open() -> Bench {
    let mut bench = ipcc();
    for (register, value) in [(C1CR, CR_RXOIE | CR_TXFIE), (C2CR, CR_RXOIE | CR_TXFIE), (C1MR, 0), (C2MR, 0)] {
        bench.write(Ps(0), register, value).unwrap();
    }
    bench
}

#[test]
fn the_device_keeps_its_table() {
    walk::device_keeps_its_map(&MAP, &[], &mut Bench::new(Ipcc::new([None; 4], ClockGate::default())));
}

#[test]
fn a_sender_occupies_and_the_receiver_frees() {
    let mut bench = ipcc();
    bench.write(Ps(0), C1SCR, 0b100010 << 16).unwrap();
    assert_eq!((bench.value(Ps(0), C1TOC2SR), bench.value(Ps(0), C2TOC1SR)), (0b100010, 0));
    // Its own clear bits apply to the channels that it receives on.
    bench.write(Ps(0), C1SCR, 0b100010).unwrap();
    assert_eq!(bench.value(Ps(0), C1TOC2SR), 0b100010);
    bench.write(Ps(0), C2SCR, 0b000010).unwrap();
    assert_eq!(bench.value(Ps(0), C1TOC2SR), 0b100000);
    assert_eq!((bench.value(Ps(0), C1SCR), bench.value(Ps(0), C2SCR)), (0, 0));
}

#[test]
fn one_write_frees_one_way_and_occupies_the_other() {
    let mut bench = ipcc();
    bench.write(Ps(0), C1SCR, 1 << 16).unwrap();
    bench.write(Ps(0), C2SCR, 1 << 16 | 1).unwrap();
    assert_eq!((bench.value(Ps(0), C1TOC2SR), bench.value(Ps(0), C2TOC1SR)), (0, 1));
}

#[test]
fn interrupts_are_levels_of_unmasked_channels() {
    let mut bench = open();
    assert_eq!(bench.pending(), TX1 | TX2);
    bench.write(Ps(0), C1SCR, ALL_CHANNELS << 16).unwrap();
    assert_eq!(bench.pending(), RX2 | TX2);
    bench.write(Ps(0), C2SCR, 1 << 3).unwrap();
    assert_eq!(bench.pending(), TX1 | RX2 | TX2);
    bench.write(Ps(0), C1MR, 1 << (16 + 3)).unwrap();
    assert_eq!(bench.pending(), RX2 | TX2);
    bench.write(Ps(0), C2MR, ALL_CHANNELS).unwrap();
    assert_eq!(bench.pending(), TX2);
    bench.write(Ps(0), C2CR, CR_RXOIE).unwrap();
    assert_eq!(bench.pending(), 0);
    bench.write(Ps(0), C2SCR, 1 << 16).unwrap();
    assert_eq!(bench.pending(), RX1);
    bench.write(Ps(0), C1SCR, 1).unwrap();
    assert_eq!(bench.pending(), 0);
}

#[test]
fn a_masked_channel_interrupts_nobody() {
    for (register, value, pending) in [
        (C1MR, ALL_CHANNELS << 16, RX2 | TX2),
        (C2MR, ALL_CHANNELS, TX1 | TX2),
        (C2CR, CR_TXFIE, TX1 | TX2),
        (C1CR, CR_RXOIE, RX2 | TX2),
    ] {
        let mut bench = open();
        bench.write(Ps(0), C1SCR, 1 << 16).unwrap();
        assert_eq!(bench.pending(), TX1 | RX2 | TX2);
        bench.write(Ps(0), register, value).unwrap();
        assert_eq!(bench.pending(), pending, "{register:#x}");
    }
}

#[test]
fn what_is_never_acknowledged_shows() {
    let mut bench = ipcc();
    bench.write(Ps(1000), C2SCR, 1 << 16).unwrap();
    bench.write(Ps(4000), C1SCR, 1).unwrap();
    bench.write(Ps(5000), C1SCR, 1 << 17).unwrap();
    bench.write(Ps(6000), C1SCR, 1 << 17).unwrap();
    let [note] = bench.bus.notes() else { panic!("{:?}", bench.bus.notes()) };
    assert!(note.contains("processor 1 set channel 2 while it was still occupied"), "{note}");
    let device = bench.bus.devices[0].as_mut().unwrap();
    device.finish(Ps(9000));
    let expected = [
        ("c1toc2_ch2_kicks", 2),
        ("c1toc2_ch2_longest_occupied_ps", 4000),
        ("c1toc2_ch2_left_occupied", 1),
        ("c2toc1_ch1_kicks", 1),
        ("c2toc1_ch1_longest_occupied_ps", 3000),
        ("c2toc1_ch1_left_occupied", 0),
    ];
    assert_eq!(device.counters(), expected.map(|(name, count)| (name.to_owned(), count)));
}

#[test]
fn polling_for_a_flag_can_be_skipped() {
    let mut bench = ipcc();
    let look = |bench: &mut Bench, number| {
        let mut poll = Poll::look(Hz::new(209_000_000).unwrap(), Cycles(number));
        assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
        poll
    };
    let before = look(&mut bench, 10);
    assert!(look(&mut bench, 20).repeats(&before));
    bench.write(Ps(100), C1SCR, 1 << 16).unwrap();
    let occupied = look(&mut bench, 30);
    assert!(!occupied.repeats(&before));
    bench.write(Ps(200), C2SCR, 1).unwrap();
    assert!(!look(&mut bench, 40).repeats(&occupied));
}

#[test]
fn without_its_clock_it_does_nothing() {
    let (mut bench, faults) = read_plain_node(from_node, &[("cyclescope,clock-enable", &[0xa20, 12])]);
    assert!(faults.is_empty(), "{faults:?}");
    bench.bus.clocks.set_gates(0xa20, 0);
    bench.write(Ps(0), C1SCR, 1 << 16).unwrap();
    assert_eq!((bench.value(Ps(0), HWCFGR), bench.bus.notes().len()), (0, 1));
    bench.bus.clocks.set_gates(0xa20, 1 << 12);
    assert_eq!((bench.value(Ps(0), HWCFGR), bench.value(Ps(0), C1TOC2SR)), (6, 0));
}

#[test]
fn a_node_gives_the_four_lines_in_order() {
    let lines: &[u32] = &[CPU_INTC, 4, CPU_INTC, 5, CPU_INTC, 6, CPU_INTC, 7];
    let (mut bench, faults) = read_plain_node(from_node, &[("interrupts-extended", lines)]);
    assert!(faults.is_empty(), "{faults:?}");
    for (register, pending) in [(C1CR, 1 << 5), (C2CR, 1 << 5 | 1 << 7)] {
        bench.write(Ps(0), register, CR_RXOIE | CR_TXFIE).unwrap();
        bench.write(Ps(0), register + 4, 0).unwrap();
        assert_eq!(bench.pending(), pending);
    }
    let (_, faults) = read_plain_node(from_node, &[("cyclescope,clock-enable", &[0xa20])]);
    assert_eq!(faults.len(), 1);
    let (_, faults) = read_plain_node(from_node, &[("cyclescope,clock-enable", &[0xa20, 32])]);
    assert_eq!(faults.len(), 1);
}
