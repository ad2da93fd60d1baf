//! Controllers on a bus, by register accesses: PCLK1 is 42 MHz, and 84 cycles of it are a bit of 2 us (BRP 6, 1 + 11 +
//! 2 time quanta, sampled at 12 of 14).

use super::*;
use crate::bench::Bench;
use crate::cyclescope::can_bus;
use crate::registers::walk;
use crate::st::stm32f4_gcan::Filters;
use engine::bus::device::{AccessResult, AccessSize};
use engine::dt::node::{Location, Node};
use engine::dt::reader::{Board, NodeReader};
use engine::polling::{Poll, Polled};
use engine::time::Hz;
use engine::wire::can::Frame;
use engine::wire::can::script::{Action, Partner, Pattern, Step};

const BUS: DeviceId = DeviceId(1);
const FILTERS: DeviceId = DeviceId(2);
const SECOND: DeviceId = DeviceId(3);
/// 500 kbit/s.
const TIMING: u32 = 1 << 20 | 10 << 16 | 5;

fn clock() -> Hz {
    Hz::new(42_000_000).unwrap()
}

fn params(first_bit: u32, is_second: bool) -> Params {
    let interrupt = |bit| Some(IrqLine::Core { core: 0, bit: first_bit + bit });
    Params {
        clock: ClockInput::fixed(clock()),
        interrupts: [0, 1, 2, 3].map(interrupt),
        bus: Some(BUS),
        filters: Some(FILTERS),
        is_second,
        mode_cycles: Cycles(2),
        gate: ClockGate::NONE,
        memory_gate: ClockGate::NONE,
    }
}

fn bus() -> Box<dyn Device> {
    let at = Location { file: "test.dts".into(), line: 1 };
    let (properties, children) = (Vec::new(), Vec::new());
    let (path, name) = ("/".to_owned(), String::new());
    let root = Node { path, name, labels: Vec::new(), at, phandle: None, properties, children };
    let mut board = Board {
        root: &root,
        faults: Vec::new(),
        parameters: Vec::new(),
        declared: None,
        pins: crate::pins_of,
        external: None,
        interrupts: &|_, _| None,
    };
    can_bus::from_node(&mut NodeReader::new(&root, &mut board))
}

/// A device that forwards to another one, because a bench takes no boxes.
#[derive(State)]
struct Boxed(Box<dyn Device>);

impl Device for Boxed {
    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        self.0.read(range, offset, size, ctx)
    }
    fn write(&mut self, range: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        self.0.write(range, offset, size, value, ctx)
    }
    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.0.event(token, ctx);
    }
    fn can_bus(&mut self) -> Option<&mut dyn engine::bus::can::CanBus> {
        self.0.can_bus()
    }
}

impl Polled for Boxed {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// Two controllers on a bus; their filters accept all frames, into FIFO 0.
fn bench() -> Bench {
    bench_of(BxCan::new(params(0, false)))
}

/// As [`bench`], with another first controller.
fn bench_of(first: BxCan) -> Bench {
    let filters = Filters::new(28, ClockGate::NONE);
    let mut bench = Bench::new(first).and(Boxed(bus())).and(filters).and(BxCan::new(params(4, true)));
    for device in [DeviceId(0), SECOND] {
        bench.bus.with_device(device, Ps(0), |device, ctx| device.reset(ctx));
    }
    for (offset, value) in [(0x0c, 1 | 1 << 14), (0x1c, 1 | 1 << 14), (0x00, 0x0e00)] {
        put_to(&mut bench, FILTERS, Ps(0), offset, value);
    }
    bench
}

fn put_to(bench: &mut Bench, device: DeviceId, at: Ps, offset: u32, value: u32) {
    bench.run(at);
    let write = |device: &mut dyn Device, ctx: &mut Ctx| device.write(0, offset, AccessSize::Word, value, ctx);
    bench.bus.with_device(device, at, write).unwrap();
    bench.run(at);
}

fn get_of(bench: &mut Bench, device: DeviceId, at: Ps, offset: u32) -> u32 {
    bench.run(at);
    let read = |device: &mut dyn Device, ctx: &mut Ctx| device.read(0, offset, AccessSize::Word, ctx);
    bench.bus.with_device(device, at, read).unwrap().value
}

fn put(bench: &mut Bench, at: Ps, offset: u32, value: u32) {
    put_to(bench, DeviceId(0), at, offset, value);
}

fn get(bench: &mut Bench, at: Ps, offset: u32) -> u32 {
    get_of(bench, DeviceId(0), at, offset)
}

fn cycle(number: u64) -> Ps {
    clock().ps_at_floor(Cycles(number))
}

/// The time after `bits` bits and `cycles` cycles from the start.
fn at(bits: u64, cycles: u64) -> Ps {
    cycle(84 * bits + cycles)
}

/// Initializes a controller; it is on the bus 11 bits and 4 cycles after the start.
fn start(bench: &mut Bench, device: DeviceId, control: u32, timing: u32) {
    put_to(bench, device, Ps(0), MCR, control | MCR_INRQ);
    put_to(bench, device, cycle(2), BTR, timing);
    put_to(bench, device, cycle(2), MCR, control);
}

/// The time at which the bus of [`start`] is free for the first frame.
const READY: u64 = 20;

fn send(bench: &mut Bench, device: DeviceId, at: Ps, mailbox: u32, id: u32, data: &[u8]) {
    let mut words = [0; 8];
    words[..data.len()].copy_from_slice(data);
    let data_words = u64::from_le_bytes(words);
    let base = TIR + 16 * mailbox;
    put_to(bench, device, at, base + 4, data.len() as u32);
    put_to(bench, device, at, base + 8, data_words as u32);
    put_to(bench, device, at, base + 12, (data_words >> 32) as u32);
    put_to(bench, device, at, base, id << 21 | TIR_TXRQ);
}

fn length(id: u32, data: &[u8]) -> u64 {
    Frame::standard(id, data).bits().levels.len() as u64
}

#[test]
fn the_device_keeps_its_table() {
    let special = [
        "CAN_MCR", "CAN_MSR", "CAN_TSR", "CAN_RF0R", "CAN_RF1R", "CAN_ESR", "CAN_BTR", "CAN_TI0R", "CAN_TI1R",
        "CAN_TI2R",
    ];
    let mut bench = bench();
    let resets = [(MCR, 0x0001_0002), (MSR, 0xc02), (TSR, 0x1c00_0000), (ESR, 0), (BTR, 0x0123_0000)];
    resets.iter().for_each(|(offset, reset)| assert_eq!(get(&mut bench, Ps(0), *offset), *reset));
    walk::device_keeps_its_table(MAP.rows, &special, &mut bench);
    put(&mut bench, Ps(0), BTR, 5);
    assert_eq!(get(&mut bench, Ps(0), BTR), 0x0123_0000, "not in initialization mode");
}

#[test]
fn a_mode_is_acknowledged_and_the_bus_is_joined_after_11_bits() {
    let mut bench = bench();
    put(&mut bench, Ps(0), MCR, MCR_INRQ | MCR_SLEEP);
    assert_eq!(get(&mut bench, at(1, 0), MSR) & 3, MSR_SLAK, "it sleeps while SLEEP is set");
    put(&mut bench, at(1, 0), MCR, MCR_INRQ);
    assert_eq!(get(&mut bench, at(1, 1), MSR) & 3, MSR_SLAK);
    assert_eq!(get(&mut bench, at(1, 2), MSR) & 3, MSR_INAK);
    put(&mut bench, at(2, 0), BTR, TIMING);
    put(&mut bench, at(2, 0), MCR, 0);
    assert_eq!(get(&mut bench, at(13, 1), MSR) & 3, MSR_INAK);
    assert_eq!(get(&mut bench, at(13, 2), MSR) & 3, 0);
    // Sleep, and its interrupt.
    put(&mut bench, at(14, 0), IER, IER_SLKIE);
    put(&mut bench, at(14, 0), MCR, MCR_SLEEP);
    assert_eq!((get(&mut bench, at(14, 2), MSR) & 0x1f, bench.pending()), (MSR_SLAK | MSR_SLAKI, 8));
    put(&mut bench, at(15, 0), MSR, MSR_SLAKI);
    assert_eq!(bench.pending(), 0);
    // After sleep it joins the bus as after initialization.
    put(&mut bench, at(16, 0), MCR, 0);
    assert_eq!(get(&mut bench, at(27, 1), MSR) & 3, MSR_SLAK);
    assert_eq!(get(&mut bench, at(27, 2), MSR) & 3, 0);
    put(&mut bench, at(27, 2), MCR, MCR_RESET);
    assert_eq!((get(&mut bench, at(28, 0), MSR), get(&mut bench, at(28, 0), MCR)), (0xc02, 0x0001_0002));
}

#[test]
fn a_frame_takes_its_bits_in_loop_back() {
    for silent in [0, BTR_SILM] {
        let mut bench = bench();
        start(&mut bench, DeviceId(0), 0, TIMING | BTR_LBKM | silent);
        put(&mut bench, at(READY, 0), IER, IER_TMEIE | IER_FMPIE);
        send(&mut bench, DeviceId(0), at(READY, 0), 0, 0x123, &[0xde, 0xad]);
        assert_eq!(get(&mut bench, at(READY, 1), TSR), 0x1800_0000 | 1 << TSR_CODE, "mailbox 1 is next");
        // Sent at the sample point of its last bit, 12 of 14 quanta of 6 cycles after that bit's start.
        let bits = READY + length(0x123, &[0xde, 0xad]) - 1;
        assert_eq!(get(&mut bench, at(bits, 71), TSR) & 0xff, 0);
        assert_eq!(get(&mut bench, at(bits, 72), TSR) & 0xff, TSR_RQCP | TSR_TXOK);
        assert_eq!(bench.pending(), 0b11);
        assert_eq!(get(&mut bench, at(bits, 72), RF0R), 1);
        let mailbox = [RIR, RIR + 4, RIR + 8, RIR + 12].map(|offset| get(&mut bench, at(bits, 72), offset));
        assert_eq!(mailbox, [0x123 << 21, 2, 0xadde, 0]);
        put(&mut bench, at(bits, 80), RF0R, RF0R_RFOM);
        put(&mut bench, at(bits, 80), TSR, TSR_RQCP);
        assert_eq!((get(&mut bench, at(bits, 80), RF0R), bench.pending()), (0, 0));
        assert_eq!(get(&mut bench, at(bits, 80), TSR), 0x1c00_0000);
    }
}

#[test]
fn alone_it_is_error_passive_after_sixteen_attempts_and_goes_on() {
    let mut bench = bench();
    start(&mut bench, DeviceId(0), 0, TIMING);
    put(&mut bench, at(READY, 0), IER, IER_ERRIE | IER_EPVIE | IER_LECIE);
    send(&mut bench, DeviceId(0), at(READY, 0), 0, 0x123, &[1]);
    // The acknowledge slot is 9 bits before the end; 6 bits of the flag, 8 of the delimiter, 3 of intermission follow.
    let slot = length(0x123, &[1]) - 9;
    let attempt = slot + 1 + 6 + 8 + 3;
    assert_eq!(get(&mut bench, at(READY + slot, 71), ESR), 0);
    assert_eq!(get(&mut bench, at(READY + slot, 72), ESR), 8 << 16 | 3 << 4);
    assert_eq!((get(&mut bench, at(READY + slot, 72), TSR) & 0xff, bench.pending()), (TSR_TERR, 8));
    put(&mut bench, at(READY + slot, 73), MSR, MSR_ERRI);
    assert_eq!(bench.pending(), 0);
    assert_eq!(get(&mut bench, at(READY + attempt + slot, 71), ESR) >> 16 & 0xff, 8);
    assert_eq!(get(&mut bench, at(READY + attempt + slot, 72), ESR) >> 16 & 0xff, 16);
    let sixteenth = READY + 15 * attempt + slot;
    let warned = READY + 11 * attempt + slot;
    assert_eq!(get(&mut bench, at(warned, 72), ESR), 96 << 16 | 3 << 4 | ESR_EWGF);
    assert_eq!(get(&mut bench, at(sixteenth, 72), ESR), 128 << 16 | 3 << 4 | ESR_EWGF | ESR_EPVF);
    // From now on it waits 8 bits more, and does not count further errors.
    let attempt = attempt + 8;
    let seventeenth = sixteenth + attempt;
    put(&mut bench, at(sixteenth, 80), TSR, TSR_TERR);
    assert_eq!(get(&mut bench, at(seventeenth, 72), TSR) & 0xff, TSR_TERR);
    put(&mut bench, at(seventeenth, 80), TSR, TSR_TERR);
    assert_eq!(get(&mut bench, at(seventeenth + attempt, 71), TSR) & 0xff, 0);
    assert_eq!(get(&mut bench, at(seventeenth + attempt, 72), TSR) & 0xff, TSR_TERR);
    // In the middle of a frame.
    let later = at(seventeenth + 1000 * attempt - slot + 5, 0);
    assert_eq!(get(&mut bench, later, ESR), 128 << 16 | 3 << 4 | ESR_EWGF | ESR_EPVF);
    // An abort ends it after the attempt; initialization waits for that.
    put(&mut bench, later, TSR, TSR_ABRQ);
    put(&mut bench, later, MCR, MCR_INRQ);
    let status = get(&mut bench, later + at(2 * attempt, 0), TSR);
    assert_eq!((status & 0xff, status >> TSR_TME & 7), (TSR_RQCP | TSR_TERR, 7));
    assert_eq!(get(&mut bench, later + at(2 * attempt, 0), MSR) & 3, MSR_INAK);
}

#[test]
fn without_retries_an_attempt_is_the_only_one() {
    let mut bench = bench();
    start(&mut bench, DeviceId(0), MCR_NART, TIMING);
    send(&mut bench, DeviceId(0), at(READY, 0), 2, 0x123, &[]);
    let status = get(&mut bench, at(READY + 100, 0), TSR);
    assert_eq!(status & 0x00ff_0000, (TSR_RQCP | TSR_TERR) << 16);
    assert_eq!(get(&mut bench, at(READY + 1000, 0), ESR) >> 16 & 0xff, 8);
    assert_eq!(bench.bus.events.next_due(), Ps::MAX, "nothing comes by itself");
}

#[test]
fn two_controllers_share_a_bus_and_the_lower_identifier_wins() {
    let mut bench = bench();
    start(&mut bench, DeviceId(0), 0, TIMING);
    start(&mut bench, SECOND, 0, TIMING);
    // 0x12b and 0x123 differ in the fourth bit from the end: bit 8 of the frame, without stuff bits before it.
    // Both wait for the next bit.
    send(&mut bench, DeviceId(0), at(READY - 1, 10), 0, 0x12b, &[1]);
    send(&mut bench, SECOND, at(READY - 1, 20), 0, 0x123, &[2]);
    assert_eq!(get(&mut bench, at(READY + 8, 71), TSR) & 0xff, 0);
    assert_eq!(get(&mut bench, at(READY + 8, 72), TSR) & 0xff, TSR_ALST);
    let first = READY + length(0x123, &[2]);
    // The receiver has the frame at the sample point before.
    assert_eq!(get(&mut bench, at(first - 2, 71), RF0R), 0);
    assert_eq!(get(&mut bench, at(first - 2, 72), RF0R), 1);
    assert_eq!(get_of(&mut bench, SECOND, at(first - 1, 72), TSR) & 0xff, TSR_RQCP | TSR_TXOK);
    // Three bits later the other one's frame begins.
    let second = first + 3 + length(0x12b, &[1]);
    assert_eq!(get(&mut bench, at(second - 1, 71), TSR) & 0xff, TSR_ALST);
    assert_eq!(get(&mut bench, at(second - 1, 72), TSR) & 0xff, TSR_RQCP | TSR_TXOK);
    assert_eq!(get_of(&mut bench, SECOND, at(second, 0), RF0R), 1);
    assert_eq!(get_of(&mut bench, SECOND, at(second, 0), RIR), 0x12b << 21);
}

#[test]
fn mailboxes_go_by_identifiers_or_in_order() {
    for (control, order) in [(0, [0x100, 0x200, 0x300]), (MCR_TXFP, [0x300, 0x200, 0x100])] {
        let mut bench = bench();
        start(&mut bench, DeviceId(0), control, TIMING | BTR_LBKM | BTR_SILM);
        // All requests wait before the bus is joined.
        for (mailbox, id) in [(0, 0x300), (1, 0x200), (2, 0x100)] {
            send(&mut bench, DeviceId(0), at(1, 0), mailbox, id, &[]);
        }
        let lowest = if control == 0 { 0 } else { 2 };
        assert_eq!(get(&mut bench, at(1, 0), TSR), lowest << TSR_CODE | 1 << (TSR_LOW + lowest));
        let end = at(300, 0);
        assert_eq!(get(&mut bench, end, RF0R), 3 | RF0R_FULL);
        for id in order {
            assert_eq!(get(&mut bench, end, RIR), id << 21);
            put(&mut bench, end, RF0R, RF0R_RFOM);
        }
    }
}

#[test]
fn a_full_fifo_overruns_and_keeps_what_rflm_says() {
    for (control, kept) in [(0, [0, 1, 3]), (MCR_RFLM, [0, 1, 2])] {
        let mut bench = bench();
        start(&mut bench, DeviceId(0), control, TIMING | BTR_LBKM | BTR_SILM);
        put(&mut bench, at(READY, 0), IER, IER_FOVIE);
        for number in 0..4 {
            send(&mut bench, DeviceId(0), at(READY + 100 * number, 0), 0, 0x100, &[number as u8]);
        }
        let end = at(READY + 400, 0);
        assert_eq!((get(&mut bench, end, RF0R), bench.pending()), (3 | RF0R_FULL | RF0R_FOVR, 2));
        for number in kept {
            assert_eq!(get(&mut bench, end, RIR + 8), number);
            put(&mut bench, end, RF0R, RF0R_RFOM | RF0R_FULL | RF0R_FOVR);
        }
        assert_eq!((get(&mut bench, end, RF0R), bench.pending()), (0, 0));
    }
}

#[test]
fn another_bit_rate_drives_the_sender_off_the_bus_until_it_recovers() {
    let mut bench = bench();
    start(&mut bench, DeviceId(0), MCR_ABOM, TIMING);
    // 1 Mbit/s.
    start(&mut bench, SECOND, 0, 1 << 20 | 10 << 16 | 2);
    send(&mut bench, DeviceId(0), at(READY, 0), 0, 0x123, &[1]);
    // The reader is error-passive after 15 errors of 9; then no node acknowledges, and it stays at 128 or more.
    let status = get(&mut bench, at(READY + 20_000, 0), ESR);
    assert!(status & ESR_EPVF != 0 && status & ESR_BOFF == 0, "{status:#x}");
    assert!(get_of(&mut bench, SECOND, at(READY + 20_000, 0), ESR) >> 24 >= 128);
    assert_eq!(get_of(&mut bench, SECOND, at(READY + 20_000, 0), RF0R), 0);
}

#[test]
fn bus_off_ends_after_128_times_11_recessive_bits() {
    let mut device = BxCan::new(params(0, false));
    (0..32).for_each(|_| device.core.errors.failed(engine::wire::can::reading::Fault::BitRecessive, true));
    assert!(device.core.errors.is_bus_off);
    let mut bench = Bench::new(device).and(Boxed(bus())).and(Filters::new(28, ClockGate::NONE));
    bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.reset(ctx));
    // Without ABOM it stays bus-off; software recovers through initialization.
    start(&mut bench, DeviceId(0), 0, TIMING);
    let recovered = 11 + 128 * 11;
    assert_eq!(get(&mut bench, at(recovered, 3), ESR) & ESR_BOFF, ESR_BOFF);
    assert_eq!(get(&mut bench, at(recovered, 4), ESR), 4 << 4);
}

/// A script's node on the bus.
fn partner(bench: &mut Bench, time: Option<u32>, actions: Vec<Action>) {
    let step = |(index, action)| Step { place: format!("p:{}", index + 1), action };
    let steps = actions.into_iter().enumerate().map(step).collect();
    let time = time.and_then(BitTime::of_rate);
    let partner = Partner::new("device0", time, true, Some(steps));
    bench.bus.with_device(BUS, Ps(0), |bus, _| assert!(bus.can_bus().unwrap().attach(partner)));
    bench.bus.events.schedule(Ps(0), BUS, BUS_LOOKS);
}

#[test]
fn a_script_acknowledges_answers_and_ends_the_run() {
    let mut bench = bench();
    start(&mut bench, DeviceId(0), 0, TIMING);
    let answer = Frame::standard(0x321, &[7, 8]);
    let expected = Pattern { frame: Frame::standard(0x123, &[1]), any_data: false };
    partner(&mut bench, None, vec![Action::Expect(expected, None), Action::Send(answer), Action::End(5)]);
    send(&mut bench, DeviceId(0), at(READY, 0), 0, 0x123, &[1]);
    let first = READY + length(0x123, &[1]);
    assert_eq!(get(&mut bench, at(first, 0), TSR) & 0xff, TSR_RQCP | TSR_TXOK);
    let second = first + 3 + length(0x321, &[7, 8]);
    assert_eq!(get(&mut bench, at(second - 2, 71), RF0R), 0);
    assert_eq!(get(&mut bench, at(second - 2, 72), RF0R), 1);
    assert_eq!(bench.bus.exit.map(|exit| (exit.code, exit.at)), None);
    bench.run(at(second, 0));
    assert_eq!(bench.bus.exit.map(|exit| exit.code), Some(5));
    let ends = [first, second].map(|bits| at(bits - 1, 72).0 / 1_000_000);
    let log = format!("(0000000000.{:06}) device0 123#01\n(0000000000.{:06}) device0 321#0708\n", ends[0], ends[1]);
    assert_eq!(bench.streamed(), log);
}

#[test]
fn a_partner_at_another_rate_never_understands() {
    let mut bench = bench();
    start(&mut bench, DeviceId(0), 0, TIMING);
    partner(&mut bench, Some(250_000), vec![Action::Send(Frame::standard(0x321, &[]))]);
    send(&mut bench, DeviceId(0), at(READY, 0), 0, 0x123, &[1]);
    let status = get(&mut bench, at(READY + 5000, 0), ESR);
    assert!(status & (ESR_EPVF | ESR_BOFF) != 0, "{status:#x}");
    assert_eq!((get(&mut bench, at(READY + 5000, 0), RF0R), bench.streamed()), (0, String::new()));
}

#[test]
fn without_tx_it_hears_others_and_is_bus_off_after_32_errors() {
    let first = BxCan { pins: PinFunctions::nowhere(&["tx"]), ..BxCan::new(params(0, false)) };
    let mut bench = bench_of(first);
    start(&mut bench, DeviceId(0), 0, TIMING);
    start(&mut bench, SECOND, 0, TIMING);
    // A third node acknowledges.
    partner(&mut bench, Some(500_000), Vec::new());
    send(&mut bench, SECOND, at(READY, 0), 0, 0x123, &[1]);
    let end = READY + length(0x123, &[1]) + 3;
    assert_eq!(get(&mut bench, at(end, 0), RF0R), 1);
    assert!(bench.bus.notes().is_empty(), "{:?}", bench.bus.notes());
    send(&mut bench, DeviceId(0), at(end, 0), 0, 0x124, &[1]);
    assert_eq!(get(&mut bench, at(end, 71), ESR), 0);
    assert_eq!(get(&mut bench, at(end, 72), ESR), 8 << 16 | 5 << 4);
    assert!(matches!(bench.bus.notes(), [note] if note.contains("no pin carries its TX: a frame is begun")));
    // The error flag fails 15 times; the one after it is passive.
    assert_eq!(get(&mut bench, at(end + 15, 71), ESR) >> 16 & 0xff, 120);
    let passive = 5 << 4 | ESR_EWGF | ESR_EPVF;
    assert_eq!(get(&mut bench, at(end + 15, 72), ESR), 128 << 16 | passive);
    // 6 bits of the flag, 8 of the delimiter, 3 of intermission, 8 in which others may begin.
    let second = end + 16 + 6 + 8 + 3 + 8;
    assert_eq!(get(&mut bench, at(second, 71), ESR), 128 << 16 | passive);
    assert_eq!(get(&mut bench, at(second, 72), ESR), 136 << 16 | passive);
    let last = second + 15 * (1 + 6 + 8 + 3 + 8);
    assert_eq!(get(&mut bench, at(last, 71), ESR), 248 << 16 | passive);
    assert_eq!(get(&mut bench, at(last, 72), ESR), passive | ESR_BOFF);
    // No part of the frame was on the bus.
    send(&mut bench, SECOND, at(last, 0), 0, 0x125, &[1]);
    assert_eq!(get_of(&mut bench, SECOND, at(last + 100, 0), TSR) & 0xff, TSR_RQCP | TSR_TXOK);
    assert_eq!(get_of(&mut bench, SECOND, at(last + 100, 0), ESR), 0);
}

#[test]
fn without_rx_it_joins_and_disturbs_the_bus() {
    let first = BxCan { pins: PinFunctions::nowhere(&["", "rx"]), ..BxCan::new(params(0, false)) };
    let mut bench = bench_of(first);
    start(&mut bench, DeviceId(0), 0, TIMING);
    start(&mut bench, SECOND, 0, TIMING);
    partner(&mut bench, Some(500_000), Vec::new());
    assert_eq!(get(&mut bench, at(13, 2), MSR) & 3, 0);
    send(&mut bench, SECOND, at(READY, 0), 0, 0x123, &[1]);
    let end = READY + length(0x123, &[1]) + 3;
    assert_eq!(get(&mut bench, at(end, 0), RF0R), 0);
    let what = "no pin carries its RX: a frame is on the bus, but the controller does not receive it";
    assert!(matches!(bench.bus.notes(), [note] if note.contains(what)), "{:?}", bench.bus.notes());
    send(&mut bench, DeviceId(0), at(end, 0), 0, 0x124, &[1]);
    // Its 16 dominant bits are a stuff error for the other node, which also sees a dominant bit after its own flag.
    assert_eq!(get_of(&mut bench, SECOND, at(end + 5, 71), ESR), 0);
    assert_eq!(get_of(&mut bench, SECOND, at(end + 5, 72), ESR), 9 << 24 | 1 << 4);
    assert_eq!(get(&mut bench, at(end + 15, 72), ESR) >> 16, 128);
}

#[test]
fn a_frame_on_the_bus_wakes_it_up() {
    let mut bench = bench();
    start(&mut bench, DeviceId(0), MCR_AWUM, TIMING);
    put(&mut bench, at(READY, 0), IER, IER_WKUIE);
    put(&mut bench, at(READY, 0), MCR, MCR_AWUM | MCR_SLEEP);
    start_later(&mut bench, SECOND, at(READY + 1, 0));
    send(&mut bench, SECOND, at(READY + 20, 0), 0, 0x123, &[]);
    let status = get(&mut bench, at(READY + 22, 0), MSR);
    assert_eq!((status & 0x1f, bench.pending()), (MSR_SLAK | MSR_WKUI, 8));
    // The frame that woke it up is over, and with it 11 recessive bits; that frame was not acknowledged, and the next
    // one is received.
    let bits = length(0x123, &[]) - 9 + 18 + length(0x123, &[]);
    assert_eq!(get(&mut bench, at(READY + 22 + bits, 0), RF0R), 1);
}

fn start_later(bench: &mut Bench, device: DeviceId, at: Ps) {
    put_to(bench, device, at, MCR, MCR_INRQ);
    put_to(bench, device, at + cycle(3), BTR, TIMING);
    put_to(bench, device, at + cycle(3), MCR, 0);
}

#[test]
fn time_stamps_count_bits() {
    let mut bench = bench();
    start(&mut bench, DeviceId(0), MCR_TTCM, TIMING | BTR_LBKM | BTR_SILM);
    put(&mut bench, at(READY, 0), TIR + 4, TDTR_TGT | 8);
    put(&mut bench, at(READY, 0), TIR, 0x100 << 21 | TIR_TXRQ);
    let end = at(READY + 200, 0);
    // It joined the bus 11 bits after the start, and began to send at a bit boundary after READY.
    let stamp = get(&mut bench, end, RIR + 4) >> 16;
    assert_eq!(stamp, 8);
    assert_eq!(get(&mut bench, end, RIR + 12) >> 16, stamp, "in the last two bytes");
    assert_eq!(get(&mut bench, end, TIR + 4) >> 16, stamp);
}
