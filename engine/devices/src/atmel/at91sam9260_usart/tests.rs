use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use engine::bus::device::{DeviceId, Unsent};
use engine::time::{Cycles, Hz};

/// No parity.
const MR_PAR_NO: u32 = PAR_NO << 9;

fn clock() -> Hz {
    Hz::new(83_000_000).unwrap()
}

/// The time of edge number `number`.
fn cycle(number: u64) -> Ps {
    clock().ps_at_floor(Cycles(number))
}

/// Without parity, with a divider of 45 (115278 baud): a character takes 10 * 16 * 45 = 7200 clocks.
fn uart() -> Bench {
    let mut bench = Bench::new(Uart::device(clock(), Some(IrqLine::Core { core: 0, bit: 4 })));
    bench.write(cycle(0), MR, MR_PAR_NO).unwrap();
    bench.write(cycle(0), BRGR, 45).unwrap();
    bench.write(cycle(0), CR, CR_TXEN).unwrap();
    bench
}

fn send(bench: &mut Bench, at: u64, character: char) {
    bench.write(cycle(at), THR, character as u32).unwrap();
}

#[test]
fn the_device_keeps_its_table() {
    let special = ["UART_WPMR"];
    walk::device_keeps_its_table(MAP.rows, &special, &mut Bench::new(Uart::device(clock(), None)));
}

#[test]
fn two_characters_are_buffered_and_each_takes_its_bits() {
    let mut bench = uart();
    assert_eq!(bench.value(cycle(99), SR), SR_TXRDY | SR_TXEMPTY);
    send(&mut bench, 100, 'a');
    // It went to the shift register at once.
    assert_eq!(bench.value(cycle(101), SR), SR_TXRDY);
    send(&mut bench, 200, 'b');
    assert_eq!(bench.value(cycle(7299), SR), 0);
    assert_eq!(bench.printed(), "");
    assert_eq!(bench.value(cycle(7300), SR), SR_TXRDY);
    assert_eq!(bench.printed(), "a");
    assert_eq!(bench.value(cycle(14_499), SR), SR_TXRDY);
    assert_eq!(bench.value(cycle(14_500), SR), SR_TXRDY | SR_TXEMPTY);
    assert_eq!(bench.printed(), "b");
    assert_eq!(bench.bus.devices[0].as_ref().unwrap().counters(), [("tx_characters".to_owned(), 2)]);
}

#[test]
fn characters_are_printed_without_an_access() {
    let mut bench = uart();
    send(&mut bench, 100, 'a');
    bench.run(cycle(7299));
    assert_eq!(bench.printed(), "");
    bench.run(cycle(7300));
    assert_eq!(bench.printed(), "a");
}

#[test]
fn parity_adds_a_bit() {
    for (parity, clocks) in [(0, 7920), (1, 7920), (2, 7920), (3, 7920), (4, 7200), (5, 7200)] {
        let mut bench = uart();
        bench.write(cycle(0), MR, parity << 9).unwrap();
        send(&mut bench, 0, 'a');
        assert_eq!(bench.value(cycle(clocks - 1), SR), SR_TXRDY, "parity {parity}");
        assert_eq!(bench.value(cycle(clocks), SR), SR_TXRDY | SR_TXEMPTY, "parity {parity}");
    }
}

#[test]
fn a_disabled_transmitter_is_not_ready_and_finishes_what_it_has() {
    let mut bench = uart();
    send(&mut bench, 0, 'a');
    send(&mut bench, 0, 'b');
    bench.write(cycle(10), CR, CR_TXDIS).unwrap();
    assert_eq!(bench.value(cycle(20_000), SR), 0);
    assert_eq!(bench.printed(), "ab");
    send(&mut bench, 20_000, 'c');
    bench.write(cycle(20_000), CR, CR_TXEN).unwrap();
    assert_eq!(bench.value(cycle(20_000), SR), SR_TXRDY | SR_TXEMPTY);
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn a_reset_drops_what_is_under_way() {
    let mut bench = uart();
    send(&mut bench, 0, 'a');
    send(&mut bench, 0, 'b');
    bench.write(cycle(10), CR, CR_RSTTX).unwrap();
    assert_eq!(bench.value(cycle(10), SR), SR_TXRDY | SR_TXEMPTY);
    bench.run(cycle(20_000));
    assert_eq!(bench.printed(), "");
}

#[test]
fn writing_a_full_holding_register_loses_a_character() {
    let mut bench = uart();
    for character in ['a', 'b', 'c'] {
        send(&mut bench, 0, character);
    }
    bench.run(cycle(20_000));
    assert_eq!((bench.printed().as_str(), bench.bus.notes().len()), ("ac", 1));
}

#[test]
fn without_a_baud_rate_nothing_is_sent() {
    let mut bench = uart();
    bench.write(cycle(0), BRGR, 0).unwrap();
    send(&mut bench, 0, 'a');
    assert_eq!(bench.value(cycle(20_000), SR), 0);
    assert_eq!(bench.bus.notes().len(), 1);
    bench.write(cycle(20_000), BRGR, 45).unwrap();
    bench.run(cycle(27_200));
    assert_eq!(bench.printed(), "a");
}

#[test]
fn the_interrupt_follows_the_masked_status() {
    let mut bench = uart();
    bench.write(cycle(0), IER, SR_TXEMPTY).unwrap();
    assert_eq!((bench.pending(), bench.value(cycle(0), IMR)), (1 << 4, SR_TXEMPTY));
    send(&mut bench, 0, 'a');
    assert_eq!(bench.pending(), 0);
    bench.run(cycle(7200));
    assert_eq!(bench.pending(), 1 << 4);
    bench.write(cycle(7200), IDR, SR_TXEMPTY).unwrap();
    assert_eq!(bench.pending(), 0);
}

#[test]
fn write_protection_covers_the_settings() {
    let mut bench = uart();
    bench.write(cycle(0), WPMR, WPKEY << 8 | 1).unwrap();
    for register in [MR, BRGR, CMPR, RTOR] {
        bench.write(cycle(0), register, 0x10).unwrap();
    }
    assert_eq!([MR, BRGR, CMPR, RTOR].map(|register| bench.value(cycle(0), register)), [MR_PAR_NO, 45, 0, 0]);
}

#[test]
fn polling_can_be_skipped_while_a_character_is_sent() {
    let mut bench = uart();
    send(&mut bench, 0, 'a');
    let look = |bench: &mut Bench, number: u64| {
        let mut poll = Poll::look(Hz::new(498_000_000).unwrap(), Cycles(number));
        bench.bus.devices[0].as_mut().unwrap().polled(&mut poll).then_some(poll)
    };
    let before = look(&mut bench, 6 * 100).unwrap();
    assert!(look(&mut bench, 6 * 110).unwrap().repeats(&before));
    assert_eq!(bench.bus.events.next_due(), cycle(7200));
    assert!(look(&mut bench, 6 * 7200).is_none());
    bench.run(cycle(7200));
    assert!(!look(&mut bench, 6 * 7210).unwrap().repeats(&before));
}

#[test]
fn a_node_gives_clock_and_interrupt() {
    let (mut bench, faults) = read_plain_node(from_node, &[("interrupts-extended", &[CPU_INTC, 3])]);
    assert!(faults.is_empty(), "{faults:?}");
    bench.write(Ps(0), BRGR, 1).unwrap();
    bench.write(Ps(0), IER, SR_TXEMPTY).unwrap();
    bench.write(Ps(0), CR, CR_TXEN).unwrap();
    assert_eq!(bench.pending(), 1 << 3);
    send(&mut bench, 0, 'a');
    // With even parity after reset: 11 * 16 clocks of 100 MHz.
    bench.run(Ps::from_ns(1760));
    assert_eq!(bench.printed(), "a");
}

#[test]
fn what_is_under_way_when_the_firmware_ends_is_sent_in_its_time() {
    let mut bench = uart();
    send(&mut bench, 100, 'a');
    send(&mut bench, 200, 'b');
    let unsent = bench.bus.unsent(DeviceId(0));
    assert_eq!(unsent, Unsent { characters: b"ab".to_vec(), next_change: Some(cycle(7300)) });
    // From cycle 100 on, 7200 clocks each.
    assert_eq!(bench.rest(cycle(300)), [("a".to_owned(), cycle(7300)), ("b".to_owned(), cycle(14_500))]);
    assert_eq!(bench.bus.unsent(DeviceId(0)), Unsent::default());
    // Without a baud rate it stays.
    let mut bench = Bench::new(Uart::device(clock(), None));
    bench.write(cycle(0), CR, CR_TXEN).unwrap();
    send(&mut bench, 100, 'a');
    assert_eq!(bench.rest(cycle(300)), []);
    assert_eq!(bench.bus.unsent(DeviceId(0)), Unsent { characters: b"a".to_vec(), next_change: None });
}

const RX: u32 = SR_RXRDY | SR_OVRE;

/// A UART that receives, too.
fn receiver() -> Bench {
    let mut bench = uart();
    bench.write(cycle(0), CR, CR_RXEN).unwrap();
    bench
}

#[test]
fn a_received_character_is_there_when_its_stop_bit_has_ended() {
    let mut bench = receiver();
    bench.write(cycle(0), IER, SR_RXRDY).unwrap();
    bench.type_at(cycle(100), "ab");
    bench.run(cycle(7299));
    assert_eq!((bench.value(cycle(7299), SR) & RX, bench.pending()), (0, 0));
    bench.run(cycle(7300));
    assert_eq!((bench.value(cycle(7300), SR) & RX, bench.pending()), (SR_RXRDY, 1 << 4));
    assert_eq!(bench.value(cycle(7301), RHR), u32::from(b'a'));
    assert_eq!((bench.value(cycle(7302), SR) & RX, bench.pending()), (0, 0));
    // The next one follows without a pause: 100 + 2 * 7200.
    bench.run(cycle(14_500));
    assert_eq!(bench.value(cycle(14_500), RHR), u32::from(b'b'));
    assert_eq!(bench.value(cycle(14_501), RHR), u32::from(b'b'), "what was read last");
}

#[test]
fn a_character_that_nobody_reads_is_overwritten_and_overrun_stays_until_it_is_reset() {
    let mut bench = receiver();
    bench.type_at(cycle(0), "abc");
    bench.run(cycle(3 * 7200));
    assert_eq!(bench.value(cycle(3 * 7200), SR) & RX, SR_RXRDY | SR_OVRE);
    assert_eq!(bench.value(cycle(3 * 7200), RHR), u32::from(b'c'));
    assert_eq!(bench.value(cycle(3 * 7200), SR) & RX, SR_OVRE);
    bench.write(cycle(3 * 7200), CR, CR_RSTSTA).unwrap();
    assert_eq!(bench.value(cycle(3 * 7200), SR) & RX, 0);
    let counters = bench.bus.devices[0].as_ref().unwrap().counters();
    assert_eq!(counters[1..], [("rx_characters".to_owned(), 3), ("rx_lost_characters".to_owned(), 2)]);
}

#[test]
fn who_sends_waits_for_the_receiver_and_its_baud_rate() {
    let mut bench = Bench::new(Uart::device(clock(), None));
    bench.type_at(cycle(0), "a");
    bench.write(cycle(1000), MR, MR_PAR_NO).unwrap();
    bench.write(cycle(1000), CR, CR_RXEN).unwrap();
    bench.run(cycle(1000));
    bench.write(cycle(2000), BRGR, 45).unwrap();
    bench.run(cycle(2000 + 7199));
    assert_eq!(bench.value(cycle(2000 + 7199), SR) & RX, 0);
    bench.run(cycle(2000 + 7200));
    assert_eq!(bench.value(cycle(2000 + 7200), SR) & RX, SR_RXRDY);
}

#[test]
fn a_loop_that_waits_for_a_character_repeats_until_it_comes() {
    let mut bench = receiver();
    bench.type_at(cycle(0), "a");
    bench.run(cycle(0));
    let mut look = |at: u64| {
        let mut poll = Poll::look(clock(), Cycles(at));
        bench.run(cycle(at));
        bench.value(cycle(at), SR);
        bench.value(cycle(at), RHR);
        assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
        poll
    };
    let (before, after) = (look(100), look(120));
    assert!(after.repeats(&before));
    assert!(!look(7200).repeats(&after));
}

#[test]
fn the_time_out_comes_so_many_bits_after_a_character() {
    let mut bench = receiver();
    bench.write(cycle(0), RTOR, 20).unwrap();
    bench.write(cycle(0), CR, CR_STTTO).unwrap();
    bench.write(cycle(0), IER, SR_TIMEOUT).unwrap();
    bench.run(cycle(100_000));
    assert_eq!(bench.pending(), 0, "it begins with a character");
    bench.type_at(cycle(100_000), "ab");
    // After two characters: 20 bits of 16 * 45 clocks.
    let end = 100_000 + 2 * 7200 + 20 * 16 * 45;
    bench.run(cycle(end - 1));
    assert_eq!((bench.value(cycle(end - 1), SR) & SR_TIMEOUT, bench.pending()), (0, 0));
    bench.run(cycle(end));
    assert_eq!((bench.value(cycle(end), SR) & SR_TIMEOUT, bench.pending()), (SR_TIMEOUT, 1 << 4));
    bench.write(cycle(end), CR, CR_RETTO).unwrap();
    assert_eq!(bench.pending(), 0);
    bench.run(cycle(end + 20 * 16 * 45));
    assert_eq!(bench.pending(), 1 << 4, "counted at once");
}

#[test]
fn a_character_goes_on_at_another_rate() {
    // 10 bits of 160 clocks: half of them in 8 us, the others of 20 ns each; and then 32 us a character.
    let mut bench = Bench::slowed(Uart::device(Bench::changing_clock(), None), |bench| {
        for (register, value) in [(MR, MR_PAR_NO), (BRGR, 10), (CR, CR_TXEN), (THR, 'a' as u32), (THR, 'b' as u32)] {
            bench.write(Ps(0), register, value).unwrap();
        }
    });
    bench.run(Ps(Ps::from_us(24).0 - 1));
    assert_eq!(bench.printed(), "");
    bench.run(Ps::from_us(24));
    assert_eq!(bench.printed(), "a");
    bench.run(Ps(Ps::from_us(56).0 - 1));
    assert_eq!(bench.printed(), "");
    bench.run(Ps::from_us(56));
    assert_eq!(bench.printed(), "b");
}

#[test]
fn a_time_out_goes_on_at_another_rate() {
    let mut bench = Bench::slowed(Uart::device(Bench::changing_clock(), None), |bench| {
        for (register, value) in [(BRGR, 10), (RTOR, 10), (CR, CR_RXEN | CR_RETTO)] {
            bench.write(Ps(0), register, value).unwrap();
        }
    });
    let timed_out = [Ps(Ps::from_us(24).0 - 1), Ps::from_us(24)].map(|at| bench.value(at, SR) & SR_TIMEOUT != 0);
    assert_eq!(timed_out, [false, true]);
}
