use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use engine::bus::device::{DeviceId, Unsent};
use engine::time::{Cycles, Ps};

/// Registers that are written, at the offsets of those that are read.
const UTHR: u32 = URBR;
const UFCR: u32 = UIIR;
const EIGHT_BITS: u32 = 3;
const LINE: u32 = 1 << 4;

fn clock() -> Hz {
    Hz::new(12_000_000).unwrap()
}

/// The time of edge number `number` of EXTAL.
fn cycle(number: u64) -> Ps {
    clock().ps_at_floor(Cycles(number))
}

fn after_reset() -> Bench {
    Bench::new(Uart::device(clock(), Hz::new(112_000_000).unwrap(), Some(IrqLine::Core { core: 0, bit: 4 })))
}

/// 57600 baud, as U-Boot sets it: a divisor of 13, so a character of 10 bits takes 2080 clocks.
fn uart(fifo_control: u32) -> Bench {
    let mut bench = after_reset();
    for (register, value) in [(UFCR, fifo_control), (ULCR, ULCR_DLAB), (UTHR, 13), (UIER, 0), (ULCR, EIGHT_BITS)] {
        bench.write(cycle(0), register, value).unwrap();
    }
    bench
}

fn with_fifo() -> Bench {
    uart(UFCR_UME | UFCR_FME)
}

fn send(bench: &mut Bench, at: u64, text: &str) {
    for character in text.bytes() {
        bench.write(cycle(at), UTHR, character.into()).unwrap();
    }
}

fn has(bench: &mut Bench, at: u64) -> (u32, String) {
    (bench.value(cycle(at), ULSR), bench.printed())
}

#[test]
fn the_device_keeps_its_table() {
    // A write of ones to ULCR puts the divisor latch in front, one to UIER makes the transmitter ask, one to UIIR is
    // one to UFCR.
    walk::device_keeps_its_table(MAP.rows, &["UIER", "UIIR", "ULCR"], &mut after_reset());
    let mut bench = after_reset();
    bench.write(cycle(0), UIER, 0x1d).unwrap();
    bench.write(cycle(0), ULCR, 0xff).unwrap();
    bench.write(cycle(0), UTHR, 0x34).unwrap();
    bench.write(cycle(0), UIER, 0x12).unwrap();
    assert_eq!([UTHR, UIER, ULCR].map(|register| bench.value(cycle(0), register)), [0x34, 0x12, 0xff]);
    bench.write(cycle(0), ULCR, 0x3f).unwrap();
    assert_eq!([UTHR, UIER, UIIR].map(|register| bench.value(cycle(0), register)), [0, 0x1d, UIIR_INPEND]);
    bench.write(cycle(0), UFCR, UFCR_FME).unwrap();
    assert_eq!(bench.value(cycle(0), UIIR), UIIR_INPEND | UIIR_FFMSEL);
}

#[test]
fn without_a_fifo_one_character_waits_for_the_one_that_is_sent() {
    let mut bench = uart(UFCR_UME);
    send(&mut bench, 100, "a");
    assert_eq!(has(&mut bench, 101), (ULSR_TDRQ, String::new()));
    send(&mut bench, 200, "b");
    assert_eq!(has(&mut bench, 2179), (0, String::new()));
    assert_eq!(has(&mut bench, 2180), (ULSR_TDRQ, "a".to_owned()));
    assert_eq!(has(&mut bench, 4259), (ULSR_TDRQ, String::new()));
    assert_eq!(has(&mut bench, 4260), (ULSR_TDRQ | ULSR_TEMP, "b".to_owned()));
    assert_eq!(bench.bus.devices[0].as_ref().unwrap().counters(), [("tx_characters".to_owned(), 2)]);
}

#[test]
fn the_fifo_takes_sixteen_and_asks_when_half_of_it_is_free() {
    let mut bench = with_fifo();
    send(&mut bench, 0, "0123456789abcdefg");
    assert_eq!((has(&mut bench, 0), bench.bus.notes().len()), ((0, String::new()), 0));
    // The first is in the shift register: after eight more, eight wait.
    assert_eq!(has(&mut bench, 8 * 2080 - 1), (0, "0123456".to_owned()));
    assert_eq!(has(&mut bench, 8 * 2080), (ULSR_TDRQ, "7".to_owned()));
    send(&mut bench, 8 * 2080, "h");
    assert_eq!(has(&mut bench, 8 * 2080), (0, String::new()));
    assert_eq!(has(&mut bench, 18 * 2080), (ULSR_TDRQ | ULSR_TEMP, "89abcdefgh".to_owned()));
}

#[test]
fn characters_are_printed_without_an_access() {
    let mut bench = with_fifo();
    send(&mut bench, 0, "ab");
    bench.run(cycle(2079));
    assert_eq!(bench.printed(), "");
    bench.run(cycle(4160));
    assert_eq!(bench.printed(), "ab");
}

#[test]
fn the_format_says_how_long_a_character_is() {
    // Halves of bits, over start, data, parity and stop bits.
    for (format, halves) in [
        (EIGHT_BITS, 20),
        (EIGHT_BITS | ULCR_PARE, 22),
        (EIGHT_BITS | ULCR_SBLS, 22),
        (2, 18),
        (0, 14),
        (ULCR_SBLS, 15),
    ] {
        let mut bench = with_fifo();
        bench.write(cycle(0), ULCR, format).unwrap();
        send(&mut bench, 0, "a");
        let clocks = halves * 8 * 13;
        assert_eq!(has(&mut bench, clocks - 1).1, "", "{format:#x}");
        assert_eq!(has(&mut bench, clocks).1, "a", "{format:#x}");
    }
}

#[test]
fn umr_and_uacr_say_how_long_a_bit_is() {
    let mut bench = with_fifo();
    bench.write(cycle(0), UMR, 8).unwrap();
    bench.write(cycle(0), UACR, 0b1011).unwrap();
    send(&mut bench, 0, "a");
    assert_eq!(has(&mut bench, 83 * 13 - 1).1, "");
    assert_eq!(has(&mut bench, 83 * 13).1, "a");
}

#[test]
fn a_uart_that_is_off_or_has_no_baud_rate_sends_nothing() {
    let mut bench = uart(UFCR_FME);
    send(&mut bench, 0, "a");
    bench.run(cycle(10_000));
    assert_eq!((bench.printed().as_str(), bench.bus.notes().len()), ("", 1));
    let mut bench = after_reset();
    bench.write(cycle(0), UFCR, UFCR_UME | UFCR_FME).unwrap();
    send(&mut bench, 0, "a");
    bench.run(cycle(10_000));
    assert_eq!((bench.printed().as_str(), bench.bus.notes().len()), ("", 1));
    for (register, value) in [(ULCR, ULCR_DLAB), (UTHR, 1), (ULCR, EIGHT_BITS)] {
        bench.write(cycle(10_000), register, value).unwrap();
    }
    bench.run(cycle(10_160));
    assert_eq!(bench.printed(), "a");
}

#[test]
fn what_has_no_room_is_lost() {
    let mut bench = uart(UFCR_UME);
    send(&mut bench, 0, "abc");
    bench.run(cycle(20_000));
    assert_eq!((bench.printed().as_str(), bench.bus.notes().len()), ("ab", 1));
    let mut bench = with_fifo();
    send(&mut bench, 0, "0123456789abcdefgh");
    bench.run(cycle(100_000));
    assert_eq!((bench.printed().as_str(), bench.bus.notes().len()), ("0123456789abcdefg", 1));
}

#[test]
fn the_fifo_can_be_emptied() {
    let mut bench = with_fifo();
    send(&mut bench, 0, "abc");
    bench.write(cycle(10), UFCR, UFCR_UME | UFCR_FME | UFCR_TFRT).unwrap();
    bench.run(cycle(20_000));
    assert_eq!(bench.printed(), "a");
}

#[test]
fn the_transmitter_interrupts_until_it_is_answered() {
    let mut bench = with_fifo();
    bench.write(cycle(0), UIER, UIER_TDRIE).unwrap();
    assert_eq!(bench.pending(), LINE);
    // A look at UIIR answers it.
    assert_eq!((bench.value(cycle(0), UIIR), bench.pending()), (UIIR_TDR | UIIR_FFMSEL, 0));
    assert_eq!(bench.value(cycle(0), UIIR), UIIR_INPEND | UIIR_FFMSEL);
    send(&mut bench, 0, "0123456789abcdefg");
    bench.run(cycle(8 * 2080 - 1));
    assert_eq!(bench.pending(), 0);
    bench.run(cycle(8 * 2080));
    assert_eq!(bench.pending(), LINE);
    // So does a character.
    send(&mut bench, 8 * 2080, "h");
    assert_eq!(bench.pending(), 0);
    bench.run(cycle(9 * 2080));
    assert_eq!(bench.pending(), LINE);
    bench.write(cycle(9 * 2080), UIER, 0).unwrap();
    assert_eq!(bench.pending(), 0);
}

#[test]
fn polling_can_be_skipped_while_a_character_is_sent() {
    let mut bench = with_fifo();
    send(&mut bench, 0, "a");
    let look = |bench: &mut Bench, number: u64| {
        let mut poll = Poll::look(Hz::new(336_000_000).unwrap(), Cycles(number));
        bench.bus.devices[0].as_mut().unwrap().polled(&mut poll).then_some(poll)
    };
    let before = look(&mut bench, 3 * 100).unwrap();
    assert!(look(&mut bench, 3 * 110).unwrap().repeats(&before));
    assert_eq!(bench.bus.events.next_due(), cycle(2080));
    assert!(look(&mut bench, 28 * 2080).is_none());
    bench.run(cycle(2080));
    assert!(!look(&mut bench, 28 * 2080 + 2).unwrap().repeats(&before));
}

#[test]
fn a_node_gives_clocks_and_interrupt() {
    let (mut bench, faults) = read_plain_node(from_node, &[("interrupts-extended", &[CPU_INTC, 3])]);
    assert!(faults.is_empty(), "{faults:?}");
    for (register, value) in [(UFCR, UFCR_UME), (ULCR, ULCR_DLAB), (UTHR, 1), (ULCR, EIGHT_BITS)] {
        bench.write(Ps(0), register, value).unwrap();
    }
    bench.write(Ps(0), UTHR, u32::from(b'a')).unwrap();
    // 160 clocks of 100 MHz.
    bench.run(Ps::from_ns(1600));
    assert_eq!(bench.printed(), "a");
    bench.write(Ps::from_ns(1600), UIER, UIER_TDRIE).unwrap();
    assert_eq!(bench.pending(), 1 << 3);
}

#[test]
fn what_is_under_way_when_the_firmware_ends_is_sent_in_its_time() {
    let mut bench = with_fifo();
    send(&mut bench, 100, "0123456789abcdefg");
    assert_eq!(bench.bus.unsent(DeviceId(0)).characters, b"0123456789abcdefg");
    let rest = bench.rest(cycle(150));
    let text: String = rest.iter().map(|(character, _)| character.as_str()).collect();
    assert_eq!(text, "0123456789abcdefg");
    // 2080 clocks each.
    let ends: Vec<Ps> = rest.iter().map(|(_, end)| *end).collect();
    assert_eq!(ends, (1..=17).map(|number| cycle(100 + 2080 * number)).collect::<Vec<_>>());
    assert_eq!(bench.bus.unsent(DeviceId(0)), Unsent::default());
    // One that was switched off finishes the character on the line.
    let mut bench = with_fifo();
    send(&mut bench, 100, "ab");
    bench.write(cycle(200), UFCR, UFCR_FME).unwrap();
    assert_eq!(bench.rest(cycle(300)), [("a".to_owned(), cycle(2180))]);
    assert_eq!(bench.bus.unsent(DeviceId(0)), Unsent { characters: b"b".to_vec(), next_change: None });
}

fn read(bench: &mut Bench, at: u64, register: u32) -> u32 {
    bench.run(cycle(at));
    bench.value(cycle(at), register)
}

#[test]
fn sixteen_characters_wait_and_one_more_is_lost() {
    let mut bench = with_fifo();
    bench.type_at(cycle(100), "0123456789abcdefg");
    assert_eq!(read(&mut bench, 100 + 2079, ULSR) & (ULSR_DR | ULSR_OVER), 0);
    assert_eq!(read(&mut bench, 100 + 2080, ULSR) & (ULSR_DR | ULSR_OVER), ULSR_DR);
    assert_eq!(read(&mut bench, 100 + 17 * 2080 - 1, ULSR) & ULSR_OVER, 0);
    assert_eq!(read(&mut bench, 100 + 17 * 2080, ULSR) & ULSR_OVER, ULSR_OVER);
    assert_eq!(read(&mut bench, 100 + 17 * 2080, ULSR) & ULSR_OVER, 0, "read once");
    for character in b"0123456789abcdef" {
        assert_eq!(read(&mut bench, 40_000, UTHR), u32::from(*character));
    }
    assert_eq!(read(&mut bench, 40_000, ULSR) & ULSR_DR, 0);
}

#[test]
fn without_a_fifo_the_last_character_stays() {
    let mut bench = uart(UFCR_UME);
    bench.write(cycle(0), UIER, UIER_RLSIE | UIER_RDRIE).unwrap();
    bench.type_at(cycle(0), "ab");
    assert_eq!(read(&mut bench, 2080, UIIR), UIIR_RDR);
    assert_eq!(read(&mut bench, 2 * 2080, UIIR), UIIR_RLS);
    assert_eq!(read(&mut bench, 2 * 2080, ULSR) & (ULSR_DR | ULSR_OVER), ULSR_DR | ULSR_OVER);
    assert_eq!(read(&mut bench, 2 * 2080, UIIR), UIIR_RDR);
    assert_eq!(read(&mut bench, 2 * 2080, UTHR), u32::from(b'b'));
    assert_eq!((read(&mut bench, 2 * 2080, UIIR), bench.pending()), (UIIR_INPEND, 0));
}

#[test]
fn the_interrupt_comes_with_as_many_as_are_wanted_and_the_time_out_for_fewer() {
    // Four are wanted: RDTR is 1.
    let mut bench = uart(UFCR_UME | UFCR_FME | 1 << UFCR_RDTR.trailing_zeros());
    bench.write(cycle(0), UIER, UIER_RDRIE | UIER_RTOIE).unwrap();
    bench.type_at(cycle(0), "abcd");
    let fifo = UIIR_FFMSEL;
    assert_eq!(read(&mut bench, 4 * 2080 - 1, UIIR), UIIR_INPEND | fifo);
    assert_eq!((read(&mut bench, 4 * 2080, UIIR), bench.pending()), (UIIR_RDR | fifo, LINE));
    assert_eq!(read(&mut bench, 9000, UTHR), u32::from(b'a'));
    assert_eq!((read(&mut bench, 9000, UIIR), bench.pending()), (UIIR_INPEND | fifo, 0));
    // Three wait for the time of four: 9000 + 4 * 2080.
    bench.run(cycle(9000 + 4 * 2080 - 1));
    assert_eq!(bench.pending(), 0);
    bench.run(cycle(9000 + 4 * 2080));
    assert_eq!((bench.value(cycle(17_320), UIIR), bench.pending()), (UIIR_RTO | fifo, LINE));
    assert_eq!(read(&mut bench, 20_000, UTHR), u32::from(b'b'));
    assert_eq!((read(&mut bench, 20_000, UIIR), bench.pending()), (UIIR_INPEND | fifo, 0));
    bench.write(cycle(20_100), UFCR, UFCR_UME | UFCR_FME | UFCR_RFRT).unwrap();
    assert_eq!(read(&mut bench, 40_000, ULSR) & ULSR_DR, 0);
    assert_eq!(read(&mut bench, 40_000, UIIR), UIIR_INPEND | fifo, "nothing waits any more");
}

#[test]
fn a_time_out_of_no_cycles_comes_at_once() {
    let mut bench = uart(UFCR_UME | UFCR_FME | 1 << UFCR_RDTR.trailing_zeros());
    bench.write(cycle(0), UIER, UIER_RTOIE).unwrap();
    bench.type_at(cycle(0), "ab");
    bench.run(cycle(2 * 2080));
    for (register, value) in [(ULCR, ULCR_DLAB | 3), (URBR, 0), (UIER, 0), (ULCR, 3)] {
        bench.write(cycle(5000), register, value).unwrap();
    }
    assert_eq!((read(&mut bench, 5000, URBR), bench.pending()), (u32::from(b'a'), 0));
    bench.run(cycle(5000));
    assert_eq!(bench.pending(), LINE);
}

#[test]
fn nothing_is_received_while_the_uart_is_off() {
    let mut bench = uart(0);
    bench.type_at(cycle(0), "a");
    assert_eq!(read(&mut bench, 5000, ULSR) & ULSR_DR, 0);
    bench.write(cycle(6000), UFCR, UFCR_UME).unwrap();
    assert_eq!(read(&mut bench, 6000 + 2079, ULSR) & ULSR_DR, 0);
    assert_eq!(read(&mut bench, 6000 + 2080, ULSR) & ULSR_DR, ULSR_DR);
}

#[test]
fn a_character_is_in_the_transmit_fifo_until_the_shift_register_takes_it() {
    let mut bench = with_fifo();
    bench.record_entries();
    send(&mut bench, 100, "abcd");
    bench.run(cycle(5000));
    bench.write(cycle(5000), UFCR, UFCR_UME | UFCR_FME | UFCR_TFRT).unwrap();
    send(&mut bench, 6000, "e");
    let at = |number: u64| cycle(number).0;
    // The first one goes through at once. A character takes 2080 clocks; the fourth is flushed, and what comes within
    // the third waits for its end.
    let expected = [
        (at(100), at(2180), u32::from(b'b')),
        (at(100), at(4260), u32::from(b'c')),
        (at(100), at(5000), u32::from(b'd')),
        (at(6000), at(6340), u32::from(b'e')),
    ];
    bench.run(cycle(7000));
    assert_eq!(bench.entries("TX FIFO", cycle(7000)), expected);
}

#[test]
fn a_character_is_in_the_receive_fifo_until_it_is_read() {
    let mut bench = with_fifo();
    bench.record_entries();
    bench.type_at(cycle(0), "ab");
    bench.run(cycle(5000));
    assert_eq!(bench.value(cycle(5000), UTHR), u32::from(b'a'));
    let at = |number: u64| cycle(number).0;
    let expected = [(at(2080), at(5000), u32::from(b'a')), (at(4160), at(6000), u32::from(b'b'))];
    assert_eq!(bench.entries("RX FIFO", cycle(6000)), expected);
}

#[test]
fn holding_registers_are_no_fifos() {
    let mut bench = uart(UFCR_UME);
    bench.record_entries();
    bench.type_at(cycle(0), "a");
    send(&mut bench, 100, "ab");
    bench.run(cycle(5000));
    bench.value(cycle(5000), UTHR);
    assert_eq!(bench.entries("TX FIFO", cycle(6000)), []);
    assert_eq!(bench.entries("RX FIFO", cycle(6000)), []);
}
