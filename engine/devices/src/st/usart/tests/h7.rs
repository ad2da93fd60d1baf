mod clocks;
mod queues;
mod receiving;

use super::super::h7::*;
use super::*;

/// A frame of 8 data bits at 115200 baud: 10 bits of 556 clocks of 64 MHz.
const FRAME: u64 = 5560;
const ON: u32 = CR1_UE | CR1_TE | CR1_RE;

fn clock() -> Hz {
    Hz::new(64_000_000).unwrap()
}

/// The time of a kernel clock's edge.
fn cycle(number: u64) -> Ps {
    clock().ps_at_floor(Cycles(number))
}

fn params(kernel_clock: Hz) -> Params {
    params_of(ClockInput::fixed(kernel_clock), 16)
}

fn fresh() -> Bench {
    Bench::new(Usart::device(&GENERATION, Params { interrupts: interrupts([4, 5]), ..params(clock()) }))
}

/// A UART at 115200 baud, with further bits of USART_CR1 and USART_CR2.
fn uart(cr1: u32, cr2: u32) -> Bench {
    let mut bench = fresh();
    bench.write(Ps(0), BRR, 556).unwrap();
    bench.write(Ps(0), CR2, cr2).unwrap();
    bench.write(Ps(0), CR1, cr1).unwrap();
    bench.write(Ps(0), CR1, cr1 | ON).unwrap();
    bench.run(cycle(START));
    bench
}

fn send(bench: &mut Bench, at: u64, character: char) {
    bench.write(cycle(at), TDR, character as u32).unwrap();
}

fn status(bench: &mut Bench, at: u64) -> u32 {
    bench.value(cycle(at), ISR) & !(ISR_TEACK | ISR_REACK)
}

#[test]
fn the_device_keeps_its_table() {
    // CR1 enables the device, which locks other registers, and TDR sends.
    walk::device_keeps_its_table(MAP.rows, &["USART_CR1"], &mut fresh());
}

#[test]
fn a_frame_at_115200_baud_takes_86_875_us() {
    let mut bench = uart(0, 0);
    send(&mut bench, START, 'a');
    let begin = cycle(START + 2);
    let end = begin + Ps(86_875_000);
    assert_eq!(cycle(START + 2 + FRAME), end);
    assert_eq!(bench.value(Ps(end.0 - 1), ISR) & ISR_TC, 0);
    assert_eq!(bench.value(end, ISR) & ISR_TC, ISR_TC);
    assert_eq!(bench.streamed(), "a");
}

#[test]
fn two_characters_are_buffered_and_follow_each_other() {
    let mut bench = uart(0, 0);
    assert_eq!(status(&mut bench, START), ISR_TC | ISR_TXE);
    send(&mut bench, START, 'a');
    assert_eq!(status(&mut bench, START + 1), 0);
    assert_eq!(status(&mut bench, START + 2), ISR_TXE);
    send(&mut bench, START + 100, 'b');
    assert_eq!(status(&mut bench, START + 101 + 2), 0);
    assert_eq!(status(&mut bench, START + 2 + FRAME - 1), 0);
    assert_eq!(bench.streamed(), "");
    assert_eq!(status(&mut bench, START + 2 + FRAME), ISR_TXE);
    assert_eq!(bench.streamed(), "a");
    assert_eq!(status(&mut bench, START + 2 + 2 * FRAME - 1), ISR_TXE);
    assert_eq!(status(&mut bench, START + 2 + 2 * FRAME), ISR_TXE | ISR_TC);
    assert_eq!(bench.streamed(), "b");
    assert_eq!(bench.bus.devices[0].as_ref().unwrap().counters(), [("tx_characters".to_owned(), 2)]);
}

#[test]
fn characters_are_printed_without_an_access() {
    let mut bench = uart(0, 0);
    send(&mut bench, START, 'a');
    send(&mut bench, START + 100, 'b');
    bench.run(cycle(START + 2 + FRAME - 1));
    assert_eq!(bench.streamed(), "");
    bench.run(cycle(START + 2 + FRAME));
    assert_eq!(bench.streamed(), "a");
    bench.run(cycle(START + 2 + 2 * FRAME));
    assert_eq!((bench.streamed().as_str(), bench.printed().as_str()), ("b", ""));
}

#[test]
fn formats_take_their_bits() {
    let (m0, m1, pce, over8) = (1 << 12, 1 << 28, 1 << 10, 1 << 15);
    for (cr1, cr2, clocks) in [
        (0, 0, 10 * 556),
        (m0, 0, 11 * 556),
        (m1, 0, 9 * 556),
        (pce, 0, 10 * 556),
        (m0 | pce, 2 << 12, 12 * 556),
        (0, 1 << 12, 10 * 556 - 278),
        (0, 3 << 12, 10 * 556 + 278),
        // USARTDIV of 0x228 counts half clocks.
        (over8, 0, 10 * 0x228 / 2),
    ] {
        let mut bench = uart(cr1, cr2);
        send(&mut bench, START, 'a');
        assert_eq!(status(&mut bench, START + 2 + clocks - 1) & ISR_TC, 0, "{cr1:#x} {cr2:#x}");
        assert_eq!(status(&mut bench, START + 2 + clocks) & ISR_TC, ISR_TC, "{cr1:#x} {cr2:#x}");
    }
}

#[test]
fn the_prescaler_divides_the_kernel_clock() {
    for (prescaler, divisor) in [(0, 1), (1, 2), (2, 4), (3, 6), (7, 16), (11, 256), (15, 256)] {
        let mut bench = fresh();
        bench.write(Ps(0), PRESC, prescaler).unwrap();
        bench.write(Ps(0), BRR, 16).unwrap();
        bench.write(Ps(0), CR1, ON).unwrap();
        let start = 100_000;
        send(&mut bench, start, 'a');
        assert_eq!(status(&mut bench, start + 2 + 160 * divisor - 1) & ISR_TC, 0, "{prescaler}");
        assert_eq!(status(&mut bench, start + 2 + 160 * divisor) & ISR_TC, ISR_TC, "{prescaler}");
    }
}

#[test]
fn parity_takes_the_highest_bit_of_the_word() {
    let mut bench = uart(1 << 10, 0);
    bench.write(cycle(START), TDR, 0xe1).unwrap();
    bench.run(cycle(2 * START));
    assert_eq!(bench.streamed(), "a");
}

#[test]
fn te_is_acknowledged_and_sends_an_idle_frame_first() {
    let mut bench = fresh();
    bench.write(Ps(0), BRR, 556).unwrap();
    bench.write(Ps(0), CR1, ON).unwrap();
    assert_eq!(bench.value(cycle(1), ISR), ISR_TC | ISR_TXE);
    assert_eq!(bench.value(cycle(2), ISR), ISR_TC | ISR_TXE | ISR_TEACK | ISR_REACK);
    send(&mut bench, 3, 'a');
    assert_eq!(status(&mut bench, 2 + FRAME - 1), 0);
    assert_eq!(status(&mut bench, 2 + FRAME), ISR_TXE);
    assert_eq!(status(&mut bench, 2 + 2 * FRAME - 1), ISR_TXE);
    assert_eq!(status(&mut bench, 2 + 2 * FRAME), ISR_TXE | ISR_TC);
    bench.write(cycle(20_000), CR1, CR1_UE | CR1_RE).unwrap();
    assert_eq!(bench.value(cycle(20_000), ISR), ISR_TXE | ISR_TC | ISR_REACK);
}

#[test]
fn the_fifo_takes_sixteen_after_the_one_that_is_sent() {
    let mut bench = uart(CR1_FIFOEN, 0);
    assert_eq!(status(&mut bench, START), ISR_TC | ISR_TXE | ISR_TXFE | ISR_TXFT);
    for index in 0..17 {
        send(&mut bench, START + 10 * index, char::from(b'a' + index as u8));
    }
    assert_eq!(status(&mut bench, START + 1000), 0);
    send(&mut bench, START + 1000, 'z');
    assert_eq!(bench.bus.notes().len(), 1);
    // TXFTCFG of 0: an eighth of it is free.
    assert_eq!(status(&mut bench, START + 2 + FRAME), ISR_TXE);
    assert_eq!(status(&mut bench, START + 2 + 2 * FRAME), ISR_TXE | ISR_TXFT);
    assert_eq!(status(&mut bench, START + 2 + 16 * FRAME), ISR_TXE | ISR_TXFT | ISR_TXFE);
    assert_eq!(status(&mut bench, START + 2 + 17 * FRAME), ISR_TXE | ISR_TXFT | ISR_TXFE | ISR_TC);
    assert_eq!(bench.streamed(), "abcdefghijklmnopq");
}

#[test]
fn writing_tdr_too_early_loses_a_character() {
    let mut bench = uart(0, 0);
    for (at, character) in [(0, 'a'), (10, 'b'), (20, 'c')] {
        send(&mut bench, START + at, character);
    }
    bench.run(cycle(10 * START));
    assert_eq!((bench.streamed().as_str(), bench.bus.notes().len()), ("ac", 1));
}

#[test]
fn nothing_is_sent_without_the_transmitter_or_a_baud_rate() {
    let mut bench = fresh();
    bench.write(Ps(0), CR1, CR1_UE).unwrap();
    send(&mut bench, 0, 'a');
    bench.write(Ps(0), CR1, CR1_UE | CR1_TE).unwrap();
    send(&mut bench, 0, 'b');
    bench.run(cycle(10 * START));
    assert_eq!((bench.streamed().as_str(), bench.bus.notes().len()), ("", 2));
}

#[test]
fn ue_locks_formats_and_its_end_drops_what_is_under_way() {
    let mut bench = uart(0, 0);
    bench.write(cycle(START), BRR, 100).unwrap();
    bench.write(cycle(START), CR1, ON | CR1_FIFOEN).unwrap();
    assert_eq!((bench.value(cycle(START), BRR), bench.value(cycle(START), CR1)), (556, ON));
    assert_eq!(bench.bus.notes().len(), 2);
    send(&mut bench, START, 'a');
    bench.write(cycle(START + 100), CR1, CR1_TE | CR1_FIFOEN).unwrap();
    assert_eq!(status(&mut bench, START + 100), ISR_TC | ISR_TXE | ISR_TXFE | ISR_TXFT);
    bench.run(cycle(10 * START));
    assert_eq!(bench.streamed(), "");
}

#[test]
fn both_lines_follow_what_is_enabled() {
    let both = 1 << 4 | 1 << 5;
    let mut bench = uart(0, 0);
    assert_eq!(bench.pending(), 0);
    bench.write(cycle(START), CR1, ON | CR1_TCIE).unwrap();
    assert_eq!(bench.pending(), both);
    bench.write(cycle(START), ICR, ICR_TCCF).unwrap();
    assert_eq!(bench.pending(), 0);
    bench.write(cycle(START), CR1, ON | CR1_TXEIE).unwrap();
    assert_eq!(bench.pending(), both);
    send(&mut bench, START, 'a');
    assert_eq!(bench.pending(), 0);
    bench.run(cycle(START + 2));
    assert_eq!(bench.pending(), both);
    bench.write(cycle(START + 3), CR1, ON | CR1_TCIE).unwrap();
    assert_eq!(bench.pending(), 0);
    bench.run(cycle(START + 2 + FRAME));
    assert_eq!(bench.pending(), both);
}

#[test]
fn a_frame_that_outlasts_any_run_has_no_event() {
    let params = Params { start_cycles: Cycles(u64::from(u32::MAX)), ..params(Hz::new(1).unwrap()) };
    let mut bench = Bench::new(Usart::device(&GENERATION, params));
    for (register, value) in [(BRR, 0xffff), (PRESC, 11), (CR1, ON), (TDR, 0x61)] {
        bench.write(Ps(0), register, value).unwrap();
    }
    assert_eq!(bench.bus.events.next_due(), Ps::MAX);
}

#[test]
fn polling_can_be_skipped_while_a_character_is_sent() {
    let mut bench = uart(0, 0);
    send(&mut bench, START, 'a');
    bench.run(cycle(START + 2));
    let core = Hz::new(209_000_000).unwrap();
    let look = |bench: &mut Bench, at: Ps| super::look(bench, core, at);
    let before = look(&mut bench, cycle(START + 100)).unwrap();
    assert!(look(&mut bench, cycle(START + 110)).unwrap().repeats(&before));
    assert_eq!(bench.bus.events.next_due(), cycle(START + 2 + FRAME));
    assert!(look(&mut bench, cycle(START + 2 + FRAME)).is_none());
    bench.run(cycle(START + 2 + FRAME));
    assert!(!look(&mut bench, cycle(START + 10 + FRAME)).unwrap().repeats(&before));
}

#[test]
fn an_event_that_comes_late_is_not_waited_for_any_more() {
    let mut bench = uart(0, 0);
    send(&mut bench, START, 'a');
    let event = bench.bus.events.pop_due(cycle(START + 2)).unwrap();
    let late = cycle(START + 5);
    bench.bus.with_device(DeviceId(0), late, |device, ctx| device.event(event.token, ctx));
    assert_eq!(bench.bus.events.next_due(), cycle(START + 2 + FRAME));
}

#[test]
fn the_line_is_recorded_edge_by_edge() {
    let mut bench = uart(0, 0);
    bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.reset(ctx));
    bench.bus.waves.start();
    // 0x2d, lowest bit first: 1 0 1 1 0 1 0 0.
    bench.write(cycle(START), TDR, 0x2d).unwrap();
    bench.run(cycle(2 * START));
    let changes = bench.bus.waves.take();
    let edges: Vec<(Ps, bool)> = changes.iter().map(|change| (change.at, change.level)).collect();
    let expected = [(0, false), (1, true), (2, false), (3, true), (5, false), (6, true), (7, false), (9, true)];
    assert_eq!(edges, expected.map(|(bit, level)| (cycle(START + 2 + 556 * bit), level)));
}

#[test]
fn a_node_gives_clock_lines_and_gate() {
    let (mut bench, faults) = node(&[]);
    assert!(faults.is_empty(), "{faults:?}");
    bench.bus.clocks.set_gates(0xa00, 1 << 16);
    bench.write(Ps(0), BRR, 100).unwrap();
    bench.write(Ps(0), CR1, ON | CR1_TCIE).unwrap();
    assert_eq!(bench.pending(), 1 << 3 | 1 << 7);
    send(&mut bench, START, 'a');
    bench.run(Ps::from_us(1000));
    assert_eq!(bench.streamed(), "a");
    bench.bus.clocks.set_gates(0xa00, 0);
    assert_eq!((bench.value(Ps::from_us(1000), ISR), bench.bus.notes().len()), (0, 1));
}

fn node(more: &[(&str, &[u32])]) -> (Bench, Vec<String>) {
    let mut properties: Vec<(&str, &[u32])> = vec![
        ("interrupts-extended", &[CPU_INTC, 3, CPU_INTC, 7]),
        ("cyclescope,clock-enable", &[0xa00, 16]),
        ("cyclescope,start-cycles", &[2]),
    ];
    properties.extend(more);
    let (bench, mut faults) = read_plain_node(from_node, &properties);
    faults.retain(|fault| !fault.contains("cyclescope,sources"));
    (bench, faults)
}

#[test]
fn what_is_under_way_when_the_firmware_ends_is_sent_in_its_time() {
    let mut bench = uart(1 << 29, 0);
    for character in ['a', 'b', 'c'] {
        send(&mut bench, START, character);
    }
    assert_eq!(bench.bus.unsent(DeviceId(0)).characters, b"abc");
    let end = |number| cycle(START + 2 + number * FRAME);
    let expected = [("a", 1), ("b", 2), ("c", 3)].map(|(text, number)| (text.to_owned(), end(number)));
    assert_eq!(bench.rest(cycle(START)), expected);
    assert_eq!(bench.bus.unsent(DeviceId(0)), Unsent::default());
    // Without a baud rate it is not sent.
    let mut bench = fresh();
    bench.write(Ps(0), CR1, ON).unwrap();
    send(&mut bench, START, 'a');
    assert_eq!(bench.rest(cycle(START)), []);
    assert_eq!(bench.bus.unsent(DeviceId(0)), Unsent { characters: b"a".to_vec(), next_change: None });
}
