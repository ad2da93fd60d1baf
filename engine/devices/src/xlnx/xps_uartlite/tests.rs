mod queues;
mod receiving;

use super::*;
use crate::bench::{Bench, read_node};
use crate::registers::walk;
use engine::bus::device::{AccessResult, AccessSize, DeviceId, SlaveError, Unsent};
use engine::polling::{Poll, Polled};

/// 9600 baud from 100 MHz: divider 651, a bit is 16 * 651 = 10416 clocks of 10 ns = 104.16 us.
const BIT: u64 = 104_160_000;

fn params(data_bits: u64, parity: bool) -> Params {
    let clock = Hz::new(100_000_000).unwrap();
    let port = AxiLitePort { clock, read_cycles: Cycles(4), write_cycles: Cycles(4) };
    Params { port, bit_clocks: 16 * baud_divider(clock, 9600), data_bits, parity }
}

fn uart() -> Bench {
    Bench::new(Uartlite::device(params(8, false), None))
}

fn look(bench: &mut Bench, cycle: u64) -> Option<Poll> {
    let mut poll = Poll::look(Hz::new(100_000_000).unwrap(), Cycles(cycle));
    let now = poll.now();
    bench.bus.with_device(DeviceId(0), now, |device, _| device.polled(&mut poll)).then_some(poll)
}

#[test]
fn a_loop_that_asks_for_room_repeats_until_a_character_makes_some() {
    let mut bench = uart();
    for _ in 0..FIFO_DEPTH_CHARACTERS {
        bench.write(Ps(10_000), TX_FIFO, u32::from(b'A')).unwrap();
    }
    let before = look(&mut bench, 10).unwrap();
    assert_eq!(bench.value(Ps(110_000), STAT), STAT_TX_FIFO_FULL);
    let after = look(&mut bench, 20).unwrap();
    assert!(after.repeats(&before));
    // The last data bit of the first: until then every answer is the same, and then another.
    assert_eq!(after.deadline(&before), Ps(10 * BIT));
    assert_eq!(bench.value(Ps(10 * BIT - 1), STAT), STAT_TX_FIFO_FULL);
    assert!(look(&mut bench, 10 * BIT / 10_000).is_none(), "the event comes first");
    bench.run(Ps(10 * BIT));
    assert_eq!(bench.value(Ps(10 * BIT), STAT), 0);
    assert!(!look(&mut bench, 10 * BIT / 10_000 + 1).unwrap().repeats(&after));
}

#[test]
fn a_core_on_another_clock_skips_nothing() {
    let mut poll = Poll::look(Hz::new(50_000_000).unwrap(), Cycles(10));
    assert!(!uart().bus.with_device(DeviceId(0), Ps::from_us(1), |device, _| device.polled(&mut poll)));
}

#[test]
fn an_iteration_that_sends_repeats_nothing() {
    let mut bench = uart();
    bench.write(Ps(10_000), TX_FIFO, u32::from(b'A')).unwrap();
    let before = look(&mut bench, 10).unwrap();
    bench.write(Ps(110_000), TX_FIFO, u32::from(b'A')).unwrap();
    assert!(!look(&mut bench, 20).unwrap().repeats(&before));
}

#[test]
fn the_divider_is_the_nearest_one() {
    let clock = Hz::new(100_000_000).unwrap();
    // 651.04, 54.25, 27.13, and exactly 2.5 -> 2.
    for (baud, divider) in [(9600, 651), (115_200, 54), (230_400, 27), (2_500_000, 2), (6_250_000, 1)] {
        assert_eq!(baud_divider(clock, baud), divider, "{baud}");
    }
    assert_eq!(baud_divider(clock, 100_000_000), 0);
}

#[test]
fn the_device_keeps_its_table() {
    walk::device_keeps_its_table(MAP.rows, &["RX_FIFO"], &mut uart());
}

#[test]
fn an_access_takes_its_clocks() {
    let mut bench = uart();
    assert_eq!(bench.read(Ps(20_000), STAT), Ok((STAT_TX_FIFO_EMPTY, Ps(60_000))));
    assert_eq!(bench.write(Ps(20_000), TX_FIFO, 0x41), Ok(Ps(60_000)));
}

#[test]
fn a_character_is_printed_when_its_stop_bit_ends() {
    let mut bench = uart();
    bench.write(Ps(10_000), TX_FIFO, u32::from(b'A')).unwrap();
    // Starts with bit 1 of the free-running clock; start + 8 data bits end with bit 10, the stop bit with bit 11.
    bench.run(Ps(10 * BIT - 1));
    assert_eq!(bench.value(Ps(10 * BIT - 1), STAT) & STAT_TX_FIFO_EMPTY, 0);
    bench.run(Ps(10 * BIT));
    assert_eq!(bench.value(Ps(10 * BIT), STAT), STAT_TX_FIFO_EMPTY);
    bench.run(Ps(11 * BIT - 1));
    assert_eq!(bench.printed(), "");
    bench.run(Ps(11 * BIT));
    assert_eq!(bench.printed(), "A");
}

#[test]
fn what_is_under_way_when_the_firmware_ends_is_sent_in_its_time() {
    let mut bench = uart();
    for character in b"abc" {
        bench.write(Ps(10_000), TX_FIFO, u32::from(*character)).unwrap();
    }
    assert_eq!(bench.bus.unsent(DeviceId(0)).characters, b"abc");
    // The last data bit of the first has gone: it is in the FIFO no more.
    assert_eq!(bench.value(Ps(10 * BIT), STAT), 0);
    let unsent = bench.bus.unsent(DeviceId(0));
    assert_eq!(unsent, Unsent { characters: b"abc".to_vec(), next_change: Some(Ps(11 * BIT)) });
    // From bit 1 on, 10 bits each.
    let ends = [("a", 11), ("b", 21), ("c", 31)].map(|(text, bit)| (text.to_owned(), Ps(bit * BIT)));
    assert_eq!(bench.rest(Ps(10 * BIT)), ends);
    assert_eq!(bench.bus.unsent(DeviceId(0)), Unsent::default());
}

#[test]
fn a_character_whose_fifo_was_reset_is_finished_after_the_end() {
    let mut bench = uart();
    for character in b"abc" {
        bench.write(Ps(10_000), TX_FIFO, u32::from(*character)).unwrap();
    }
    bench.write(Ps(5 * BIT), CTRL, CTRL_RST_TX_FIFO).unwrap();
    bench.write(Ps(5 * BIT), TX_FIFO, u32::from(b'd')).unwrap();
    assert_eq!(bench.bus.unsent(DeviceId(0)).characters, b"ad");
    assert_eq!(bench.rest(Ps(6 * BIT)), [("a".to_owned(), Ps(11 * BIT)), ("d".to_owned(), Ps(21 * BIT))]);
}

#[test]
fn parity_and_data_bits_change_the_frame() {
    let mut bench = Bench::new(Uartlite::device(params(7, true), None));
    bench.write(Ps(0), TX_FIFO, 0xc1).unwrap();
    // Start, 7 data, parity, stop: 10 bits from bit 0.
    bench.run(Ps(10 * BIT - 1));
    assert_eq!(bench.printed(), "");
    bench.run(Ps(10 * BIT));
    assert_eq!(bench.printed(), "A");
}

#[test]
fn sixteen_characters_fill_the_fifo_and_leave_it_back_to_back() {
    let mut bench = uart();
    for character in b'a'..b'a' + 16 {
        assert!(bench.write(Ps(0), TX_FIFO, u32::from(character)).is_ok());
    }
    assert_eq!(bench.value(Ps(0), STAT), STAT_TX_FIFO_FULL);
    assert_eq!(bench.write(Ps(0), TX_FIFO, 0x41), Err(Ps(40_000)));
    assert_eq!(bench.bus.notes().len(), 1);
    // The first character's data has ended after 9 bits: a place is free, even if no event has run yet.
    assert_eq!(bench.value(Ps(9 * BIT), STAT), 0);
    bench.run(Ps(160 * BIT - 1));
    assert_eq!(bench.printed(), "abcdefghijklmno");
    bench.run(Ps(160 * BIT));
    assert_eq!(bench.printed(), "p");
}

#[test]
fn an_empty_transmit_fifo_pulses_the_interrupt() {
    use engine::bus::device::DeviceId;
    use std::sync::{Arc, Mutex};

    /// The pulses that an interrupt controller gets.
    #[derive(engine::state::State)]
    struct Edges(#[state(skip)] Arc<Mutex<Vec<(bool, Ps)>>>);
    impl Device for Edges {
        fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
            Err(SlaveError { done: ctx.now })
        }
        fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
            Err(SlaveError { done: ctx.now })
        }
        fn irq_input(&mut self, _: u32, level: bool, ctx: &mut Ctx) {
            self.0.lock().unwrap().push((level, ctx.now));
        }
    }

    impl Polled for Edges {
        fn polled(&mut self, _: &mut Poll) -> bool {
            false
        }
    }
    let edges = Arc::default();
    let line = IrqLine::Device { device: DeviceId(1), input: 3 };
    let mut bench = Bench::new(Uartlite::device(params(8, false), Some(line))).and(Edges(Arc::clone(&edges)));
    bench.write(Ps(0), TX_FIFO, 0x41).unwrap();
    bench.run(Ps(20 * BIT));
    assert!(edges.lock().unwrap().is_empty());
    bench.write(Ps(20 * BIT), CTRL, CTRL_ENABLE_INTR).unwrap();
    bench.write(Ps(20 * BIT), TX_FIFO, 0x42).unwrap();
    bench.run(Ps(40 * BIT));
    assert_eq!(*edges.lock().unwrap(), [(true, Ps(29 * BIT)), (false, Ps(29 * BIT))]);
}

#[test]
fn resetting_the_fifo_drops_all_but_the_character_on_the_wire() {
    let mut bench = uart();
    for character in *b"xyz" {
        bench.write(Ps(0), TX_FIFO, u32::from(character)).unwrap();
    }
    bench.write(Ps(BIT), CTRL, CTRL_RST_TX_FIFO | CTRL_RST_RX_FIFO).unwrap();
    assert_eq!(bench.value(Ps(BIT), STAT), STAT_TX_FIFO_EMPTY);
    bench.write(Ps(2 * BIT), TX_FIFO, u32::from(b'!')).unwrap();
    bench.run(Ps(10 * BIT));
    assert_eq!(bench.printed(), "x");
    bench.run(Ps(20 * BIT));
    assert_eq!(bench.printed(), "!");
}

#[test]
fn reading_the_empty_receive_fifo_is_a_bus_error() {
    let mut bench = uart();
    assert_eq!(bench.read(Ps(0), RX_FIFO), Err(Ps(40_000)));
}

#[test]
fn a_node_says_how_the_core_is_built() {
    let format = [("current-speed", &[1_000_000][..]), ("xlnx,data-bits", &[8]), ("xlnx,use-parity", &[0])];
    let (mut bench, faults) = read_node(from_node, &format);
    assert!(faults.is_empty(), "{faults:?}");
    bench.write(Ps(0), TX_FIFO, u32::from(b'A')).unwrap();
    // Divider 6 (of 6.25): 10 bits of 96 clocks of 10 ns = 9.6 us.
    bench.run(Ps(9_599_999));
    assert_eq!(bench.printed(), "");
    bench.run(Ps(9_600_000));
    assert_eq!(bench.printed(), "A");
}

#[test]
fn a_node_that_no_core_can_be_built_from_has_all_its_faults_named() {
    let (_, faults) = read_node(from_node, &[("current-speed", &[100_000_000]), ("xlnx,data-bits", &[9])]);
    assert_eq!(
        faults,
        [
            "current-speed is 100000000; the baud rate, from 1 to a sixteenth of the clock",
            "xlnx,data-bits is 9; a character has 5 to 8 data bits",
            "property 'xlnx,use-parity' is missing: 0 is no parity bit, 1 is one",
        ]
    );
}
