//! The interface at 84 MHz with a chip that records what it receives, on a pin of a port.

use engine::polling::{Poll, Polled};
use std::sync::{Arc, Mutex};

use super::*;
use crate::bench::Bench;
use crate::bench::polled::{Access, Loop};
use crate::registers::walk;
use crate::support::hosted_chip::HostedChip;
use engine::bus::device::DeviceId;
use engine::time::Hz;
use engine::wire::spi::Burst;

type Seen = Arc<Mutex<Vec<(String, u64)>>>;

/// Answers with the bits that it received before.
#[derive(engine::state::State)]
struct Chip {
    #[state(skip)]
    seen: Seen,
    last: u32,
}

impl Chip {
    fn keep(&self, what: impl Into<String>, now: Ps) {
        self.seen.lock().unwrap().push((what.into(), clock().cycles_until_floor(now).0));
    }
}

impl SpiTarget for Chip {
    fn select(&mut self, now: Ps) {
        self.keep("select", now);
    }

    fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        self.keep(format!("{:#x}", burst.bits), end);
        std::mem::replace(&mut self.last, burst.bits)
    }

    fn deselect(&mut self, now: Ps) {
        self.keep("deselect", now);
    }
}

impl Polled for Chip {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// Stands for a port and a DMA controller, and does nothing.
#[derive(engine::state::State)]
struct Idle;

impl Device for Idle {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::written(ctx.now))
    }
}

impl Polled for Idle {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

const PORT: DeviceId = DeviceId(1);
const PIN: Pin = Pin::new(PORT, 4);
/// Cycles from a write to the first bit.
const START: u64 = 1;
/// FRLVL and FTLVL.
const SR_FLAGS_OF_LEVELS: u32 = SR_FRLVL | SR_FTLVL;
/// The lowest bits of fields.
const BR: u32 = CR1_BR.trailing_zeros();
const DS: u32 = CR2_DS.trailing_zeros();
const FRLVL: u32 = SR_FRLVL.trailing_zeros();
const FTLVL: u32 = SR_FTLVL.trailing_zeros();
const MASTER: u32 = CR1_MSTR | CR1_SSM | CR1_SSI | CR1_SPE;

fn clock() -> Hz {
    Hz::new(84_000_000).unwrap()
}

fn at(cycle: u64) -> Ps {
    clock().ps_at_floor(Cycles(cycle))
}

struct Rig {
    bench: Bench,
    seen: Seen,
}

fn rig(has_fifos: bool, registers: &[(u32, u32)]) -> Rig {
    rig_with(|chip| chip, has_fifos, registers)
}

fn rig_with(wired: impl Fn(HostedChip) -> HostedChip, has_fifos: bool, registers: &[(u32, u32)]) -> Rig {
    let seen = Seen::default();
    let target = Box::new(Chip { seen: Arc::clone(&seen), last: 0xa5 });
    let chips = Chips::new(vec![Some(wired(HostedChip::new(target, "chip".to_owned(), None, 0)))]);
    let spi = Spi {
        start_cycles: Cycles(START),
        interrupt: Some(IrqLine::Core { core: 0, bit: 5 }),
        selects: vec![PIN],
        ..Spi::new(ClockInput { rate: clock(), id: Some(engine::dt::wiring::ClockId(7)) }, has_fifos, chips)
    };
    let mut bench = Bench::new(spi).and(Idle);
    bench.bus.wires.add_port(PORT, 1);
    bench.record();
    bench.bus.drive_pin(PIN, Some(false), at(0));
    let mut rig = Rig { bench, seen };
    registers.iter().for_each(|(register, value)| rig.put(0, *register, *value));
    rig
}

impl Rig {
    fn put(&mut self, cycle: u64, register: u32, value: u32) {
        self.bench.run(at(cycle));
        self.bench.write(at(cycle), register, value).unwrap();
    }

    fn get(&mut self, cycle: u64, register: u32) -> u32 {
        self.bench.run(at(cycle));
        self.bench.value(at(cycle), register)
    }

    /// An access of another width.
    fn sized(&mut self, cycle: u64, size: AccessSize, written: Option<u32>) -> u32 {
        self.bench.run(at(cycle));
        let access = |device: &mut dyn Device, ctx: &mut Ctx| match written {
            Some(value) => device.write(0, DR, size, value, ctx),
            None => device.read(0, DR, size, ctx),
        };
        self.bench.bus.with_device(DeviceId(0), at(cycle), access).unwrap().value
    }

    /// SPI_SR changes from `before` to `after` in a cycle.
    #[track_caller]
    fn changes(&mut self, cycle: u64, before: u32, after: u32) {
        assert_eq!(self.get(cycle - 1, SR), before, "a cycle before {cycle}");
        assert_eq!(self.get(cycle, SR), after, "at {cycle}");
    }

    fn seen(&self) -> Vec<(String, u64)> {
        self.seen.lock().unwrap().clone()
    }
}

#[test]
fn a_byte_takes_eight_clocks_of_sck() {
    // PCLK / 8.
    let mut rig = rig(false, &[(CR1, MASTER | 2 << BR)]);
    rig.put(10, DR, 0x3c);
    assert_eq!(rig.get(10, SR), SR_BSY);
    let begin = 10 + START;
    // The data register is free when the word begins; the last bit is sampled half a clock before the end.
    rig.changes(begin, SR_BSY, SR_BSY | SR_TXE);
    rig.changes(begin + 60, SR_BSY | SR_TXE, SR_BSY | SR_TXE | SR_RXNE);
    rig.changes(begin + 64, SR_BSY | SR_TXE | SR_RXNE, SR_TXE | SR_RXNE);
    assert_eq!((rig.get(begin + 65, DR), rig.get(begin + 65, SR)), (0xa5, SR_TXE));
    assert_eq!(rig.seen(), [("select".into(), 0), ("0x3c".into(), begin + 64)]);
}

#[test]
fn words_follow_each_other_without_a_pause() {
    let mut rig = rig(false, &[(CR1, MASTER | CR1_DFF)]);
    rig.put(0, DR, 0x1234);
    rig.put(5, DR, 0x5678);
    let begin = START;
    // PCLK / 2: 32 clocks a word.
    assert_eq!(rig.get(begin + 31, SR), SR_BSY | SR_RXNE);
    assert_eq!(rig.get(begin + 32, DR), 0xa5);
    rig.changes(begin + 64, SR_BSY | SR_TXE | SR_RXNE, SR_TXE | SR_RXNE);
    assert_eq!(rig.get(begin + 64, DR), 0x1234);
    let sck: Vec<Ps> =
        rig.bench.recorded("sck").into_iter().filter(|(_, level)| *level).map(|(time, _)| time).collect();
    assert_eq!(sck, (0..32).map(|clock| at(begin + 1 + 2 * clock)).collect::<Vec<_>>());
}

#[test]
fn chips_are_selected_by_their_pin() {
    let mut rig = rig(false, &[(CR1, MASTER)]);
    rig.bench.bus.drive_pin(PIN, Some(true), at(4));
    rig.put(10, DR, 0x77);
    // No chip answers: the line is pulled up.
    assert_eq!(rig.get(40, DR), 0xff);
    assert_eq!(rig.seen(), [("select".into(), 0), ("deselect".into(), 4)]);
}

#[test]
fn the_lowest_bit_can_be_first() {
    let mut rig = rig(false, &[(CR1, MASTER | CR1_LSBFIRST)]);
    rig.put(10, DR, 0x01);
    assert_eq!((rig.get(40, DR), rig.seen()[1].0.as_str()), (0xa5_u8.reverse_bits().into(), "0x80"));
}

#[test]
fn a_word_that_nobody_reads_is_lost_with_an_overrun() {
    let mut rig = rig(false, &[(CR1, MASTER), (CR2, CR2_ERRIE)]);
    rig.put(10, DR, 1);
    rig.put(40, DR, 2);
    rig.bench.run(at(60));
    assert_eq!(rig.bench.pending(), 1 << 5);
    // RM0090, "Overrun flag": the data register keeps the first word; SPI_DR is read, then SPI_SR.
    assert_eq!(rig.get(61, SR) & SR_OVR, SR_OVR);
    assert_eq!(rig.get(62, DR), 0xa5);
    assert_eq!((rig.get(63, SR) & SR_OVR, rig.get(64, SR), rig.bench.pending()), (SR_OVR, SR_TXE, 0));
}

#[test]
fn interrupts_follow_the_flags() {
    let mut rig = rig(false, &[(CR1, MASTER)]);
    rig.put(0, CR2, CR2_TXEIE);
    assert_eq!(rig.bench.pending(), 1 << 5);
    rig.put(1, DR, 1);
    assert_eq!(rig.bench.pending(), 0);
    rig.bench.run(at(1 + START));
    assert_eq!(rig.bench.pending(), 1 << 5);
    rig.put(3, CR2, CR2_RXNEIE);
    rig.bench.run(at(1 + START + 14));
    assert_eq!(rig.bench.pending(), 0);
    rig.bench.run(at(1 + START + 15));
    assert_eq!(rig.bench.pending(), 1 << 5);
}

#[test]
fn fifos_pack_bytes_and_have_levels() {
    let mut rig = rig(true, &[(CR1, MASTER), (CR2, CR2_DS_RESET)]);
    rig.sized(0, AccessSize::Half, Some(0x2211));
    rig.sized(0, AccessSize::Half, Some(0x4433));
    assert_eq!(rig.get(0, SR), SR_BSY | 3 << FTLVL);
    // Three are left of the four when the first is on the wire: more than half.
    assert_eq!(rig.get(START, SR), SR_BSY | 3 << FTLVL);
    assert_eq!(rig.get(START + 15, SR), SR_BSY | 3 << FTLVL | 1 << FRLVL);
    assert_eq!(rig.get(START + 16, SR), SR_BSY | SR_TXE | 2 << FTLVL | 1 << FRLVL);
    // Half of the FIFO is received: RXNE, by FRXTH.
    assert_eq!(rig.get(START + 31, SR), SR_BSY | SR_TXE | SR_RXNE | 2 << FTLVL | 2 << FRLVL);
    assert_eq!(rig.get(START + 64, SR), SR_TXE | SR_RXNE | 3 << FRLVL);
    assert_eq!(rig.sized(70, AccessSize::Half, None), 0x11a5);
    assert_eq!(rig.sized(70, AccessSize::Byte, None), 0x22);
    assert_eq!(rig.get(70, SR), SR_TXE | 1 << FRLVL);
    rig.put(70, CR2, CR2_DS_RESET | CR2_FRXTH);
    assert_eq!(rig.get(70, SR), SR_TXE | SR_RXNE | 1 << FRLVL);
}

#[test]
fn words_may_have_any_size_with_fifos() {
    let mut rig = rig(true, &[(CR1, MASTER), (CR2, 11 << DS)]);
    rig.sized(0, AccessSize::Half, Some(0xfabc));
    assert_eq!(rig.get(START + 23, SR), SR_BSY | SR_TXE | SR_RXNE | 2 << FRLVL);
    assert_eq!(rig.seen()[1], ("0xabc".into(), START + 24));
}

#[test]
fn a_change_of_the_clock_takes_what_is_left_of_a_word() {
    let mut rig = rig(false, &[(CR1, MASTER | 2 << BR)]);
    let slow = Hz::new(42_000_000).unwrap();
    rig.put(0, DR, 1);
    let now = at(START + 20);
    rig.bench.run(now);
    rig.bench.bus.clocks.add_user(engine::dt::wiring::ClockId(7), engine::clocks::User::Device(DeviceId(0)));
    rig.bench.bus.set_clocks(&[(engine::dt::wiring::ClockId(7), slow)], now);
    // 44 of 64 clocks are left.
    let end = slow.ps_at_floor(Cycles(slow.cycles_until_floor(now).0 + 44));
    rig.bench.run(Ps(end.0 - 1));
    assert_eq!(rig.bench.value(Ps(end.0 - 1), SR) & SR_BSY, SR_BSY);
    assert_eq!(rig.bench.value(end, SR) & SR_BSY, 0);
}

#[test]
fn what_is_not_modelled_is_reported() {
    walk::table_is_sound(WITH_FIFOS.rows);
    let mut rig = rig(false, &[(CR1, CR1_SPE), (CR1, MASTER | CR1_CRCEN), (CR1, CR1_MSTR | CR1_SSM | CR1_SPE)]);
    assert_eq!((rig.get(1, SR), rig.get(1, CR1)), (SR_TXE | SR_MODF, CR1_SSM));
    assert_eq!(rig.bench.bus.notes().len(), 3);
}

#[test]
fn a_mode_fault_is_cleared_by_a_read_of_sr_and_a_write_of_cr1() {
    let mut rig = rig(false, &[(CR1, CR1_MSTR | CR1_SSM), (CR1, CR1_MSTR | CR1_SSM | CR1_SPE)]);
    // Without the read of SPI_SR, MODF stays, and with it master mode stays off.
    rig.put(1, CR1, MASTER);
    assert_eq!((rig.get(2, CR1), rig.get(2, SR) & SR_MODF), (CR1_SSM | CR1_SSI, SR_MODF));
    rig.put(3, CR1, MASTER);
    assert_eq!((rig.get(4, CR1), rig.get(4, SR) & SR_MODF), (MASTER, 0));
}

#[test]
fn reception_alone_leaves_what_waits_to_be_sent() {
    let mut rig = rig(false, &[(CR1, MASTER | CR1_RXONLY)]);
    rig.put(1, DR, 0x5a);
    rig.bench.run(at(20));
    assert_eq!((rig.get(20, DR), rig.get(20, SR) & SR_TXE), (0xa5, 0));
}

#[test]
fn one_data_line_sends_and_receives_nothing_meanwhile() {
    for has_fifos in [false, true] {
        let mut rig = rig(has_fifos, &[(CR1, MASTER | CR1_BIDIMODE | CR1_BIDIOE)]);
        for cycle in [10, 30, 50] {
            rig.sized(cycle, AccessSize::Byte, Some(cycle as u32));
        }
        assert_eq!(rig.get(50 + START, SR), SR_BSY | SR_TXE);
        // No RXNE, and so no overrun.
        assert_eq!((rig.get(50 + START + 16, SR), rig.get(99, DR)), (SR_TXE, 0));
        let sent: Vec<_> = rig.seen().into_iter().map(|(what, _)| what).collect();
        assert_eq!(sent, ["select", "0xa", "0x1e", "0x32"]);
        assert!(rig.bench.bus.notes().is_empty(), "{:?}", rig.bench.bus.notes());
    }
}

#[test]
fn one_data_line_receives_from_when_its_output_is_off() {
    const ONE_LINE: u32 = MASTER | CR1_BIDIMODE;
    let three_wires = |chip: HostedChip| chip.on_three_wires();
    for (has_fifos, busy) in [(false, 0), (true, SR_BSY)] {
        let threshold = (CR2, CR2_DS_RESET | CR2_FRXTH);
        let mut rig = rig_with(three_wires, has_fifos, &[threshold, (CR1, ONE_LINE | CR1_BIDIOE)]);
        rig.sized(10, AccessSize::Byte, Some(0x5a));
        // The chip answers with the bits that it received before, and then with the pulled-up line.
        rig.put(100, CR1, ONE_LINE);
        let begin = 100 + START;
        assert_eq!(rig.get(begin + 14, SR) & !SR_FLAGS_OF_LEVELS, busy | SR_TXE);
        assert_eq!(rig.get(begin + 15, SR) & !SR_FLAGS_OF_LEVELS, busy | SR_TXE | SR_RXNE);
        assert_eq!(rig.sized(begin + 16, AccessSize::Byte, None), 0x5a);
        let mosi: Vec<_> = rig.bench.recorded("mosi").into_iter().filter(|(time, _)| *time >= at(begin)).collect();
        // 0101 1010, each bit for two clocks from its start, after the 0 that was sent last.
        let edges = [2, 4, 6, 10, 12, 14, 16].map(|cycle| at(begin + cycle));
        assert_eq!(mosi[..7].iter().map(|(time, _)| *time).collect::<Vec<_>>(), edges);
        assert_eq!((!mosi[0].1, rig.bench.recorded("miso").iter().any(|(_, level)| !level)), (false, false));
        // SPE is cleared within the second word, which is completed and is the last.
        rig.put(begin + 20, CR1, ONE_LINE & !CR1_SPE);
        assert_eq!(rig.get(begin + 31, SR) & SR_RXNE, SR_RXNE);
        assert_eq!((rig.sized(begin + 40, AccessSize::Byte, None), rig.get(begin + 99, SR)), (0xff, SR_TXE));
        assert!(rig.bench.bus.notes().is_empty(), "{:?}", rig.bench.bus.notes());
    }
}

#[test]
fn a_line_that_no_chip_drives_reads_ones() {
    // A chip on four wires answers on MISO; one on three on MOSI, which is not sampled in the other modes.
    let three_wires = |chip: HostedChip| chip.on_three_wires();
    let mut four = rig(false, &[(CR1, MASTER | CR1_BIDIMODE)]);
    assert_eq!(four.get(40, DR), 0xff);
    assert!(four.bench.bus.notes()[0].contains("spi-3wire"), "{:?}", four.bench.bus.notes());
    let mut three = rig_with(three_wires, false, &[(CR1, MASTER)]);
    three.put(1, DR, 0x11);
    assert_eq!(three.get(40, DR), 0xff);
}

#[test]
fn reception_alone_goes_on_until_it_is_switched_off() {
    // PCLK / 4: a word in 32 cycles.
    let mut rig = rig(false, &[(CR1, MASTER | CR1_RXONLY | 1 << BR)]);
    assert_eq!(rig.get(START + 30, DR), 0xa5);
    // The next two words are not read: an overrun, whose first word stays.
    assert_eq!(rig.get(START + 94, SR), SR_BSY | SR_TXE | SR_RXNE | SR_OVR);
    rig.put(START + 100, CR1, MASTER & !CR1_SPE);
    assert_eq!((rig.get(START + 127, SR) & SR_BSY, rig.get(START + 128, SR) & SR_BSY), (SR_BSY, 0));
    rig.bench.run(at(400));
    // MOSI is released.
    let words: Vec<_> = rig.seen().into_iter().skip(1).collect();
    assert_eq!(words, [32, 64, 96, 128].map(|end| ("0xff".to_owned(), START + end)));
    assert!(rig.bench.bus.notes().is_empty(), "{:?}", rig.bench.bus.notes());
}

#[test]
fn a_wait_for_a_word_is_skipped() {
    let make = || {
        let mut rig = rig(false, &[(CR1, MASTER | 7 << BR)]);
        rig.put(0, DR, 1);
        rig.bench
    };
    let wait = Loop::even(clock(), 5, &[Access::Read(SR)]);
    // The chip of this test can't be skipped over: it lists no state.
    assert!(!wait.assert_skipped_as_run(make, 10, 10));
}

#[test]
fn a_frame_size_changed_with_frames_waiting_counts_no_more_than_there_is() {
    let mut rig = rig(true, &[]);
    for cycle in 10..14 {
        rig.sized(cycle, AccessSize::Byte, Some(0x11));
    }
    rig.put(20, CR2, 15 << 8);
    assert_eq!(rig.get(21, SR) >> FTLVL & 3, 3);
}

#[test]
fn a_frame_is_in_a_fifo_until_the_wire_takes_it_or_the_firmware() {
    let mut rig = rig(true, &[(CR1, MASTER)]);
    rig.bench.record_entries();
    for byte in [1, 2, 3] {
        rig.sized(100, AccessSize::Byte, Some(byte));
    }
    for cycle in [200, 210] {
        rig.sized(cycle, AccessSize::Byte, None);
    }
    // One cycle after the write; 16 cycles for each frame, whose last bit is sampled a cycle before its end. The chip
    // answers with the bits that it received before.
    let in_cycles = |entries: Vec<(u64, u64, u32)>| {
        let cycle = |ps| clock().cycles_until_floor(Ps(ps)).0;
        entries.into_iter().map(|(from, to, value)| (cycle(from), cycle(to), value)).collect::<Vec<_>>()
    };
    let sent = in_cycles(rig.bench.entries("TX FIFO", at(300)));
    assert_eq!(sent, [(100, 101, 1), (100, 117, 2), (100, 133, 3)]);
    let received = in_cycles(rig.bench.entries("RX FIFO", at(300)));
    assert_eq!(received, [(116, 200, 0xa5), (132, 210, 1), (148, 300, 2)]);
}

#[test]
fn data_registers_are_no_fifos() {
    let mut rig = rig(false, &[(CR1, MASTER)]);
    rig.bench.record_entries();
    rig.put(100, DR, 1);
    rig.get(200, DR);
    assert_eq!(rig.bench.entries("TX FIFO", at(300)), []);
    assert_eq!(rig.bench.entries("RX FIFO", at(300)), []);
}
