use super::*;
use crate::bench::polled::{Access, Loop};
use crate::bench::{Bench, read_plain_node};
use crate::registers::walk;
use engine::bus::device::DeviceId;

/// The time of cycle `n` of 100 MHz.
const fn cycle(n: u64) -> Ps {
    Ps(n * 10_000)
}

fn uart() -> Bench {
    Bench::new(Simpleuart::new(Hz::new(100_000_000).unwrap()))
}

fn read(bench: &mut Bench, offset: u32, size: AccessSize) -> u32 {
    let call = |device: &mut dyn Device, ctx: &mut Ctx| device.read(0, offset, size, ctx);
    bench.bus.with_device(DeviceId(0), cycle(0), call).unwrap().value
}

fn write(bench: &mut Bench, at: Ps, offset: u32, size: AccessSize, value: u32) -> Ps {
    let call = |device: &mut dyn Device, ctx: &mut Ctx| device.write(0, offset, size, value, ctx);
    bench.bus.with_device(DeviceId(0), at, call).unwrap().done
}

#[test]
fn the_device_keeps_its_table() {
    // Writing REG_DAT sends.
    walk::device_keeps_its_table(MAP.rows, &["REG_DAT"], &mut uart());
}

#[test]
fn all_but_a_held_write_is_answered_at_once() {
    let mut bench = uart();
    assert_eq!(bench.read(cycle(200), REG_DIV), Ok((1, cycle(200))));
    assert_eq!(bench.read(cycle(201), REG_DAT), Ok((u32::MAX, cycle(201))));
    assert_eq!(bench.write(cycle(202), REG_DAT, 0x41), Ok(cycle(202)));
    assert_eq!(bench.write(cycle(203), REG_DIV, 3), Ok(cycle(203)));
    assert_eq!(bench.read(cycle(204), REG_DIV), Ok((3, cycle(204))));
}

#[test]
fn the_first_byte_waits_for_the_idle_bits_of_reset() {
    // They start in cycle 0 and take 15 * 3 cycles from 1 on.
    let mut bench = uart();
    assert_eq!(bench.write(cycle(5), REG_DAT, 0x41), Ok(cycle(46)));
    assert_eq!(uart().write(cycle(46), REG_DAT, 0x41), Ok(cycle(46)));
    assert_eq!(uart().write(cycle(47), REG_DAT, 0x41), Ok(cycle(47)));
}

#[test]
fn bytes_follow_each_other_after_ten_bits_of_divider_plus_2() {
    let mut bench = uart();
    bench.write(cycle(100), REG_DIV, 3).unwrap();
    // The order starts in 101: 15 * 5 cycles from 102 on.
    assert_eq!(bench.write(cycle(101), REG_DAT, u32::from(b'a')), Ok(cycle(177)));
    // Busy from 178 for 10 * 5 cycles.
    assert_eq!(bench.write(cycle(178), REG_DAT, u32::from(b'b')), Ok(cycle(228)));
    assert_eq!(bench.write(cycle(278), REG_DAT, u32::from(b'c')), Ok(cycle(279)));
    assert_eq!(bench.write(cycle(400), REG_DAT, 0xffff_ff00 | u32::from(b'd')), Ok(cycle(400)));
    assert_eq!(bench.printed(), "abcd");
    let device = bench.bus.devices[0].as_ref().unwrap();
    assert_eq!(device.counters(), [("tx_characters".to_owned(), 4)]);
}

#[test]
fn a_program_that_sends_five_bytes_waits_as_on_the_rtl() {
    // The register program of the RTL's cases, from SRAM, begun in cycle 1000. It asks for the divider 48 cycles later,
    // and for the first byte after 52 more. From an answer to the next request: launch 1, two additions 8, branch 7,
    // store 5. The last answer is in 1329; launch 1, six additions, li and the branch 4 * 8, divider 6 + 6, ret 7,
    // second mark 4 make 1385: the RTL took 385 cycles.
    let mut bench = uart();
    bench.write(cycle(1048), REG_DIV, 3).unwrap();
    let mut answered = 1100 - 21;
    for expected in [1125, 1176, 1227, 1278, 1329] {
        assert_eq!(bench.write(cycle(answered + 21), REG_DAT, 0x41), Ok(cycle(expected)));
        answered = expected;
    }
}

#[test]
fn a_new_divider_acts_on_the_bit_under_way() {
    let mut bench = uart();
    bench.write(cycle(100), REG_DAT, 0x41).unwrap();
    // With divider 1 the first bit is cycles 101 to 103, the second 104 to 106. From 106 on its counter, 2, is compared
    // with 8: it exceeds that with 9, in 113; 8 bits of 10 cycles, 114 to 193; 15 idle bits, ordered in 105, start in
    // 194: 195 to 344.
    bench.write(cycle(105), REG_DIV, 8).unwrap();
    assert_eq!(bench.write(cycle(106), REG_DAT, 0x42), Ok(cycle(345)));
    // Its first bit begins with 346; in 351 the counter is 5, in 352 it exceeds 2 already and the bit ends: 9 of 4
    // cycles, 353 to 388; idle bits start in 389: 390 to 449.
    bench.write(cycle(351), REG_DIV, 2).unwrap();
    assert_eq!(bench.write(cycle(352), REG_DAT, 0x43), Ok(cycle(450)));
}

#[test]
fn the_divider_has_byte_lanes() {
    let mut bench = uart();
    write(&mut bench, cycle(50), 2, AccessSize::Half, 0x1234);
    write(&mut bench, cycle(51), 1, AccessSize::Byte, 0xab);
    assert_eq!(read(&mut bench, REG_DIV, AccessSize::Word), 0x1234_ab01);
    assert_eq!(read(&mut bench, 1, AccessSize::Byte), 0xab);
    assert_eq!(read(&mut bench, 2, AccessSize::Half), 0x1234);
    assert_eq!(read(&mut bench, REG_DAT, AccessSize::Byte), 0xff);
}

#[test]
fn any_write_of_the_divider_orders_idle_bits() {
    let mut bench = uart();
    write(&mut bench, cycle(100), 3, AccessSize::Byte, 0);
    // They start in 101: 15 * 3 cycles from 102 on.
    assert_eq!(bench.write(cycle(110), REG_DAT, 0x41), Ok(cycle(147)));
}

#[test]
fn only_the_lowest_byte_of_the_data_register_sends() {
    let mut bench = uart();
    assert_eq!(write(&mut bench, cycle(50), REG_DAT + 1, AccessSize::Byte, 0x41), cycle(50));
    assert_eq!(write(&mut bench, cycle(51), REG_DAT + 2, AccessSize::Half, 0x41), cycle(51));
    assert_eq!(bench.bus.notes().len(), 1);
    assert_eq!(write(&mut bench, cycle(52), REG_DAT, AccessSize::Byte, 0x42), cycle(52));
    assert_eq!(write(&mut bench, cycle(53), REG_DAT, AccessSize::Half, 0x43), cycle(83));
    assert_eq!(bench.printed(), "BC");
}

#[test]
fn after_the_registers_there_is_nothing() {
    let mut bench = uart();
    assert_eq!(bench.read(cycle(50), 8), Ok((0, cycle(50))));
    assert_eq!(bench.write(cycle(50), 8, 0x41), Ok(cycle(50)));
    assert_eq!(bench.bus.notes().len(), 1);
    assert_eq!(bench.printed(), "");
}

#[test]
fn a_write_that_is_held_for_ever_is_answered_at_the_end_of_time() {
    let mut bench = uart();
    bench.write(cycle(100), REG_DIV, u32::MAX).unwrap();
    assert_eq!(bench.write(cycle(101), REG_DAT, 0x41), Ok(FOREVER));
    assert_eq!(bench.bus.notes().len(), 1);
    assert_eq!(bench.printed(), "");
}

#[test]
fn a_node_gives_the_clock() {
    let (mut bench, faults) = read_plain_node(from_node, &[]);
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(bench.write(cycle(0), REG_DAT, 0x41), Ok(cycle(46)));
}

// ---- Polling

#[test]
fn a_loop_that_reads_is_skipped_and_one_that_writes_is_run() {
    let (clock, reads) = (Hz::new(100_000_000).unwrap(), [Access::Read(REG_DAT), Access::Read(REG_DIV)]);
    let sending = || {
        let mut bench = uart();
        bench.write(cycle(0), REG_DAT, 0x41).unwrap();
        bench
    };
    assert!(Loop::even(clock, 7, &reads).assert_skipped_as_run(sending, 10, 100_000));
    for register in [REG_DAT, REG_DIV] {
        let writes = [reads[0], Access::Write(register, 1)];
        assert!(!Loop::even(clock, 200, &writes).assert_skipped_as_run(sending, 10, 100));
    }
}

/// 115200 baud from 100 MHz: a divider of 866, bits of 868 cycles.
fn receiver() -> Bench {
    let mut bench = uart();
    bench.write(cycle(0), REG_DIV, 866).unwrap();
    bench
}

fn received(bench: &mut Bench, at: u64) -> u32 {
    bench.run(cycle(at));
    bench.value(cycle(at), REG_DAT)
}

#[test]
fn a_byte_is_there_from_the_middle_of_its_stop_bit_on_and_is_read_once() {
    let mut bench = receiver();
    bench.type_at(cycle(1000), "ab");
    // The start bit is seen in 1000. State 1 from 1001: the count is 434 in 1435, whose double exceeds 866. State 2
    // from 1436: nine samples of 868 cycles, the last in 1436 + 9 * 868 - 1 = 9247. The data are there in 9248.
    assert_eq!(received(&mut bench, 9247), NO_BYTE);
    assert_eq!(received(&mut bench, 9248), u32::from(b'a'));
    assert_eq!(received(&mut bench, 9249), NO_BYTE);
    // The next start bit is at 1000 + 8680.
    assert_eq!(received(&mut bench, 9248 + 8679), NO_BYTE);
    assert_eq!(received(&mut bench, 9248 + 8680), u32::from(b'b'));
}

#[test]
fn a_byte_that_nobody_reads_gives_way_to_the_next() {
    let mut bench = receiver();
    bench.type_at(cycle(1000), "ab");
    assert_eq!(received(&mut bench, 9248 + 8680), u32::from(b'b'));
    assert_eq!(received(&mut bench, 9248 + 8681), NO_BYTE);
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn who_sends_waits_for_the_divider() {
    let mut bench = uart();
    bench.type_at(cycle(0), "a");
    assert_eq!(received(&mut bench, 20_000), NO_BYTE);
    bench.write(cycle(20_000), REG_DIV, 866).unwrap();
    assert_eq!(received(&mut bench, 20_000 + 8247), NO_BYTE);
    assert_eq!(received(&mut bench, 20_000 + 8248), u32::from(b'a'));
}
