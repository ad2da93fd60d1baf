use super::super::f4::{
    BRR, CR1, CR1_IDLEIE, CR1_RE, CR1_RXNEIE, CR1_TE, CR1_TXEIE, CR1_UE, CR2, DR, GENERATION, MAP, SR, from_node,
};
use super::*;
use crate::bench::{CLOCK, cells, node, phandle_of, read_tree};
use crate::st::stm32_gpio::{self as gpio, Gpio};
use crate::support::clock_gate::SECOND_SUPPLY;
use engine::clocks::User;

const SR_ORE: u32 = ISR_ORE;
const SR_IDLE: u32 = ISR_IDLE;
const SR_RXNE: u32 = ISR_RXNE;
const SR_TC: u32 = ISR_TC;
const SR_TXE: u32 = ISR_TXE;
/// USARTDIV 8.6875 at 16 MHz: 115200 baud, a bit of 139 clocks (RM0090, table of baud rates).
const BRR_115200: u32 = 0x8b;
const BIT: u64 = 139;
const FRAME: u64 = 10 * BIT;
const ON: u32 = CR1_UE | CR1_TE | CR1_RE;
const PCLK: ClockId = ClockId(9);

fn clock() -> Hz {
    Hz::new(16_000_000).unwrap()
}

fn cycle(number: u64) -> Ps {
    clock().ps_at_floor(Cycles(number))
}

fn fresh() -> Bench {
    let [interrupt] = interrupts([4]);
    let params = params_of(ClockInput { rate: clock(), id: Some(PCLK) }, 1);
    let mut bench = Bench::new(Usart::device(&GENERATION, Params { interrupts: [interrupt, None], ..params }));
    bench.bus.clocks.add_user(PCLK, User::Device(DeviceId(0)));
    bench
}

/// A USART at 115200 baud, with further bits of USART_CR1 and USART_CR2.
fn usart(cr1: u32, cr2: u32) -> Bench {
    let mut bench = fresh();
    for (register, value) in [(BRR, BRR_115200), (CR2, cr2), (CR1, cr1 | ON)] {
        bench.write(Ps(0), register, value).unwrap();
    }
    bench.run(cycle(START));
    bench
}

fn send(bench: &mut Bench, at: u64, character: char) {
    bench.write(cycle(at), DR, character as u32).unwrap();
}

fn status(bench: &mut Bench, at: u64) -> u32 {
    bench.run(cycle(at));
    bench.value(cycle(at), SR)
}

#[test]
fn the_device_keeps_its_table() {
    // SR and DR have their own effects, CR1 has a break.
    walk::device_keeps_its_table(MAP.rows, &["USART_SR", "USART_DR", "USART_CR1"], &mut fresh());
    assert_eq!(fresh().value(Ps(0), SR), SR_TXE | SR_TC);
}

#[test]
fn a_frame_takes_its_bits_at_the_baud_rate() {
    let (m, pce, over8) = (1 << 12, 1 << 10, 1 << 15);
    for (cr1, cr2, clocks) in [
        (0, 0, FRAME),
        (m, 0, 11 * BIT),
        (pce, 0, FRAME),
        (m | pce, 2 << 12, 12 * BIT),
        (0, 3 << 12, FRAME + BIT / 2),
        // Eight sixteenths of a bit: 8 * 8 + 3.
        (over8, 0, 10 * (8 * 8 + 3)),
    ] {
        let mut bench = usart(cr1, cr2);
        status(&mut bench, START);
        send(&mut bench, START, 'a');
        assert_eq!(status(&mut bench, START + 2 + clocks - 1) & SR_TC, 0, "{cr1:#x} {cr2:#x}");
        assert_eq!(status(&mut bench, START + 2 + clocks) & SR_TC, SR_TC, "{cr1:#x} {cr2:#x}");
    }
}

#[test]
fn two_characters_are_buffered_and_follow_each_other() {
    let mut bench = usart(0, 0);
    assert_eq!(status(&mut bench, START), SR_TC | SR_TXE);
    send(&mut bench, START, 'a');
    assert_eq!(status(&mut bench, START + 1), 0);
    assert_eq!(status(&mut bench, START + 2), SR_TXE);
    send(&mut bench, START + 100, 'b');
    assert_eq!(status(&mut bench, START + 2 + FRAME - 1), 0);
    assert_eq!(status(&mut bench, START + 2 + FRAME), SR_TXE);
    assert_eq!(bench.streamed(), "a");
    assert_eq!(status(&mut bench, START + 2 + 2 * FRAME - 1), SR_TXE);
    assert_eq!(status(&mut bench, START + 2 + 2 * FRAME), SR_TXE | SR_TC);
    assert_eq!(bench.streamed(), "b");
}

#[test]
fn tc_is_cleared_by_its_sequence_or_by_a_zero() {
    let mut bench = usart(0, 0);
    // Without a read of SR a write of DR leaves TC.
    send(&mut bench, START, 'a');
    assert_eq!(status(&mut bench, START + 10), SR_TC | SR_TXE);
    send(&mut bench, START + 20, 'b');
    assert_eq!(status(&mut bench, START + 20), 0);
    let end = START + 2 + 2 * FRAME;
    assert_eq!(status(&mut bench, end), SR_TC | SR_TXE);
    bench.write(cycle(end), SR, !SR_TC).unwrap();
    assert_eq!(status(&mut bench, end), SR_TXE);
}

#[test]
fn te_sends_an_idle_frame_first_and_its_end_loses_what_is_sent() {
    let mut bench = fresh();
    bench.write(Ps(0), BRR, BRR_115200).unwrap();
    bench.write(Ps(0), CR1, ON).unwrap();
    send(&mut bench, 3, 'a');
    assert_eq!(status(&mut bench, 2 + FRAME - 1) & SR_TXE, 0);
    assert_eq!(status(&mut bench, 2 + FRAME) & SR_TXE, SR_TXE);
    bench.write(cycle(2 + FRAME + 9), CR1, CR1_UE).unwrap();
    bench.run(cycle(START));
    assert_eq!((bench.streamed().as_str(), bench.bus.notes().len()), ("", 1));
}

#[test]
fn a_character_ends_though_ue_is_cleared_and_the_next_waits() {
    let mut bench = usart(0, 0);
    send(&mut bench, START, 'a');
    send(&mut bench, START + 50, 'b');
    bench.write(cycle(START + 100), CR1, CR1_TE).unwrap();
    bench.run(cycle(3 * START));
    assert_eq!(bench.streamed(), "a");
    bench.write(cycle(3 * START), CR1, ON).unwrap();
    bench.run(cycle(4 * START));
    assert_eq!(bench.streamed(), "b");
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
fn a_received_character_shows_at_its_end_and_idle_a_frame_later() {
    let mut bench = usart(CR1_RXNEIE | CR1_IDLEIE, 0);
    bench.type_at(cycle(START), "a");
    assert_eq!(status(&mut bench, START + FRAME - 1) & SR_RXNE, 0);
    assert_eq!(status(&mut bench, START + FRAME) & (SR_RXNE | SR_IDLE), SR_RXNE);
    assert_eq!(bench.pending(), 1 << 4);
    assert_eq!(bench.value(cycle(START + FRAME), DR), u32::from(b'a'));
    assert_eq!(bench.pending(), 0);
    bench.run(cycle(START + 2 * FRAME));
    assert_eq!(bench.pending(), 1 << 4);
    // DR without SR read before leaves IDLE.
    bench.value(cycle(START + 2 * FRAME), DR);
    assert_eq!(status(&mut bench, START + 2 * FRAME) & SR_IDLE, SR_IDLE);
    bench.value(cycle(START + 2 * FRAME), DR);
    assert_eq!(status(&mut bench, START + 9 * FRAME) & SR_IDLE, 0, "once after a character");
}

#[test]
fn an_overrun_loses_the_new_character_and_is_cleared_by_its_sequence() {
    let mut bench = usart(CR1_RXNEIE, 0);
    bench.type_at(cycle(START), "ab");
    assert_eq!(status(&mut bench, START + 2 * FRAME) & (SR_RXNE | SR_ORE), SR_RXNE | SR_ORE);
    assert_eq!(bench.value(cycle(START + 2 * FRAME), DR), u32::from(b'a'));
    assert_eq!((status(&mut bench, START + 2 * FRAME) & (SR_RXNE | SR_ORE), bench.pending()), (0, 0));
}

#[test]
fn parity_is_the_highest_bit_of_what_is_read() {
    // 'a' is 0x61: three ones.
    for (cr1, read) in [(1 << 10, 0x61 | 1 << 7), (1 << 10 | 1 << 9, 0x61), (1 << 12 | 1 << 10, 0x61 | 1 << 8)] {
        let mut bench = usart(cr1, 0);
        bench.type_at(cycle(START), "a");
        bench.run(cycle(2 * START));
        assert_eq!(bench.value(cycle(2 * START), DR), read, "{cr1:#x}");
    }
}

#[test]
fn the_line_follows_a_clock_that_changes() {
    let mut bench = usart(0, 0);
    send(&mut bench, START, 'a');
    // 1000 of its 1390 clocks at 16 MHz, the rest at 8 MHz, whose edges are every second one.
    let change = cycle(START + 2 + 1000);
    bench.run(change);
    bench.bus.set_clocks(&[(PCLK, Hz::new(8_000_000).unwrap())], change);
    let end = change + Ps(390 * 125_000);
    bench.run(Ps(end.0 - 1));
    assert_eq!(bench.streamed(), "");
    bench.run(end);
    assert_eq!(bench.streamed(), "a");
    // The next character takes all of its clocks at the new rate.
    let begin = Ps(end.0 + 1_000_000);
    bench.write(begin, DR, 0x62).unwrap();
    bench.run(begin + Ps((2 + FRAME) * 125_000 - 1));
    assert_eq!(bench.streamed(), "");
    bench.run(begin + Ps((2 + FRAME) * 125_000));
    assert_eq!(bench.streamed(), "b");
}

#[test]
fn polling_can_be_skipped_while_a_character_is_sent() {
    let mut bench = usart(0, 0);
    send(&mut bench, START, 'a');
    bench.run(cycle(START + 2));
    let core = Hz::new(168_000_000).unwrap();
    let look = |bench: &mut Bench, at: Ps| {
        bench.value(at, SR);
        super::look(bench, core, at)
    };
    let before = look(&mut bench, cycle(START + 100)).unwrap();
    assert!(look(&mut bench, cycle(START + 110)).unwrap().repeats(&before));
    assert_eq!(bench.bus.events.next_due(), cycle(START + 2 + FRAME));
    bench.run(cycle(START + 2 + FRAME));
    assert!(!look(&mut bench, cycle(START + 10 + FRAME)).unwrap().repeats(&before));
}

#[test]
fn what_is_under_way_when_the_firmware_ends_is_sent_in_its_time() {
    let mut bench = usart(0, 0);
    send(&mut bench, START, 'a');
    send(&mut bench, START + 50, 'b');
    let end = |number| cycle(START + 2 + number * FRAME);
    assert_eq!(bench.rest(cycle(START + 50)), [("a".to_owned(), end(1)), ("b".to_owned(), end(2))]);
    assert_eq!(bench.bus.unsent(DeviceId(0)), Unsent::default());
}

#[test]
fn a_node_gives_clock_line_and_gate() {
    let properties: [(&str, &[u32]); 3] = [
        ("interrupts-extended", &[CPU_INTC, 3]),
        ("cyclescope,clock-enable", &[0x40, 17]),
        ("cyclescope,start-cycles", &[2]),
    ];
    let (mut bench, mut faults) = read_plain_node(from_node, &properties);
    faults.retain(|fault| !fault.contains("cyclescope,sources"));
    assert!(faults.is_empty(), "{faults:?}");
    bench.bus.clocks.set_gates(0x40, 1 << 17);
    bench.write(Ps(0), BRR, 100).unwrap();
    bench.write(Ps(0), CR1, ON | CR1_TXEIE).unwrap();
    assert_eq!(bench.pending(), 1 << 3);
    bench.bus.clocks.set_gates(0x40, 0);
    assert_eq!((bench.value(Ps(0), SR), bench.bus.notes().len()), (0, 1));
}

/// Device 0 is a USART at 115200 baud whose TX is carried by pin 2 of device 1, and by pin 5, which the board does not
/// connect; its RX is carried by pin 3.
fn usart_at_pins() -> (Bench, Vec<String>) {
    let port = phandle_of(DeviceId(1));
    let properties = vec![
        ("clocks", cells(&[CLOCK])),
        ("cyclescope,start-cycles", cells(&[2])),
        ("cyclescope,sources", b"cyclescope,start-cycles: chosen by the test\0".to_vec()),
        ("cyclescope,tx-pins", cells(&[port, 2, 7, port, 5, 7])),
        ("cyclescope,rx-pins", cells(&[port, 3, 7])),
        ("cyclescope,board-pins", cells(&[port, 2, port, 3])),
    ];
    let ports = vec![("compatible", b"st,stm32-gpio\0".to_vec()), ("gpio-controller", Vec::new())];
    let nodes = vec![
        node("clock", Some(CLOCK), vec![("clock-frequency", cells(&[16_000_000]))], Vec::new()),
        node("gpioa", Some(port), ports, Vec::new()),
        node("dut", None, properties, Vec::new()),
    ];
    let (device, faults) = read_tree(&node("", None, Vec::new(), nodes), from_node);
    let second_supply = 1 << 2;
    let gpio = Gpio::new(gpio::Params { second_supply, ..gpio::Params::default() });
    let mut bench = Bench::boxed(device).and(gpio);
    bench.bus.wires.add_port(DeviceId(1), 1);
    bench.bus.device_names[1] = "gpioa".to_owned();
    for device in [0, 1] {
        bench.bus.with_device(DeviceId(device), Ps(0), |device, ctx| device.reset(ctx));
    }
    for (register, value) in [(BRR, BRR_115200), (CR1, ON)] {
        bench.write(Ps(0), register, value).unwrap();
    }
    bench.run(cycle(START));
    (bench, faults)
}

fn set_pins(bench: &mut Bench, at: u64, offset: u32, value: u32) {
    let write = |port: &mut dyn Device, ctx: &mut Ctx| port.write(0, offset, AccessSize::Word, value, ctx);
    bench.bus.with_device(DeviceId(1), cycle(at), write).unwrap();
}

const MODER: u32 = 0x00;
const AFRL: u32 = 0x20;

#[test]
fn a_character_needs_a_pin_from_its_begin_on() {
    let (mut bench, faults) = usart_at_pins();
    assert!(faults.is_empty(), "{faults:?}");
    // Pins 2 and 5 in another function; 5 in the right one; 2 too; 2 an output again while a character is sent.
    let steps = [(0x22 << 4, 0x700600), (0x882 << 4, 0x700600), (0x882 << 4, 0x700700), (0x881 << 4, 0x700700)];
    for (index, (modes, functions)) in steps.into_iter().enumerate() {
        let at = START + 2000 * index as u64;
        set_pins(&mut bench, at, AFRL, functions);
        set_pins(&mut bench, at, MODER, modes);
        send(&mut bench, at, char::from(b'a' + index as u8));
        bench.run(cycle(at + 2000 - 1));
    }
    assert_eq!(bench.streamed(), "c");
    // A character that has begun is completed.
    send(&mut bench, START + 8000, 'e');
    set_pins(&mut bench, START + 8100, MODER, 0x882 << 4);
    send(&mut bench, START + 8200, 'f');
    bench.run(cycle(START + 12_000));
    assert_eq!(bench.streamed(), "f");
    let [note] = bench.bus.notes() else { panic!("{:?}", bench.bus.notes()) };
    let what = "device0: no pin carries its TX: a character was written, and nothing is on the line. It takes PA2 \
                (alternate function 7; now in function 6) (first at";
    assert!(note.starts_with(what), "{note}");
    // Without its supply the pin is isolated.
    bench.bus.clocks.set_gates(SECOND_SUPPLY.0, 0);
    bench.bus.set_clocks(&[], cycle(START + 12_000));
    send(&mut bench, START + 12_000, 'g');
    bench.run(cycle(START + 14_000));
    assert_eq!(bench.streamed(), "");
}

#[test]
fn what_comes_without_a_pin_is_lost() {
    let (mut bench, _) = usart_at_pins();
    // "a" and "b" are over when RX gets its pin, during "c".
    bench.type_at(cycle(START), "abcd");
    assert_eq!(status(&mut bench, START + 2 * FRAME + BIT) & (SR_RXNE | SR_IDLE), 0);
    let what = "no pin carries its RX: a character came, and is lost, as are those that follow. It takes PA3";
    assert!(matches!(bench.bus.notes(), [note] if note.contains(what)), "{:?}", bench.bus.notes());
    set_pins(&mut bench, START + 2 * FRAME + BIT, AFRL, 7 << 12);
    set_pins(&mut bench, START + 2 * FRAME + BIT, MODER, 2 << 6);
    assert_eq!(status(&mut bench, START + 4 * FRAME - 1) & SR_RXNE, 0);
    assert_eq!(status(&mut bench, START + 4 * FRAME) & SR_RXNE, SR_RXNE);
    assert_eq!(bench.value(cycle(START + 4 * FRAME), DR), u32::from(b'd'));
}

#[test]
fn characters_wait_for_a_receiver_that_is_off_whatever_its_pin_is() {
    let (mut bench, _) = usart_at_pins();
    bench.write(cycle(START), CR1, ON & !CR1_RE).unwrap();
    bench.type_at(cycle(START), "a");
    bench.run(cycle(START + 3 * FRAME));
    set_pins(&mut bench, START + 3 * FRAME, AFRL, 7 << 12);
    set_pins(&mut bench, START + 3 * FRAME, MODER, 2 << 6);
    bench.write(cycle(START + 3 * FRAME), CR1, ON).unwrap();
    assert_eq!(status(&mut bench, START + 4 * FRAME) & SR_RXNE, SR_RXNE);
    assert!(bench.bus.notes().is_empty(), "{:?}", bench.bus.notes());
}

#[test]
fn pins_of_a_node_are_checked() {
    let port = phandle_of(DeviceId(1));
    let faults = |name: &str, value: &[u32]| {
        let clock = node("clock", Some(CLOCK), vec![("clock-frequency", cells(&[16_000_000]))], Vec::new());
        let gpio = node(
            "gpioa",
            Some(port),
            vec![("compatible", b"st,stm32-gpio\0".to_vec()), ("gpio-controller", Vec::new())],
            Vec::new(),
        );
        let properties = vec![
            ("clocks", cells(&[CLOCK])),
            ("cyclescope,start-cycles", cells(&[2])),
            ("cyclescope,sources", b"cyclescope,start-cycles: chosen by the test\0".to_vec()),
            (name, cells(value)),
        ];
        let nodes = vec![clock, gpio, node("dut", None, properties, Vec::new())];
        read_tree(&node("", None, Vec::new(), nodes), from_node).1.join("; ")
    };
    for (name, value, fault) in [
        ("cyclescope,tx-pins", &[port, 16, 7][..], "enabled GPIO ports with numbers"),
        ("cyclescope,tx-pins", &[port, 1, 16], "enabled GPIO ports with numbers"),
        ("cyclescope,rx-pins", &[CLOCK, 1, 7], "enabled GPIO ports with numbers"),
        ("cyclescope,rx-pins", &[port, 1], "entries of 3 cells"),
        ("cyclescope,board-pins", &[port, 1], "pins that carry a signal of this node"),
    ] {
        let found = faults(name, value);
        assert!(found.contains(fault), "{name}: {found}");
    }
    assert_eq!(faults("cyclescope,tx-pins", &[port, 15, 15, port, 0, 0]), "");
}
