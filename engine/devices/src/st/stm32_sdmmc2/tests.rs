//! The interface on a bus with memory, with a card of 64 MiB. The kernel clock has 100 MHz, SDMMC_CK 25 MHz.

use super::*;
use crate::bench::dma;
use crate::bench::{Bench, CPU_INTC, cells, node, read_plain_node, read_tree};
use crate::registers::walk;
use engine::bus::Bus;
use engine::bus::device::DeviceId;
use engine::state::State;

const RAM: u32 = 0x2000_0000;
const SDMMC: u32 = 0x5800_5000;
const PORT: u32 = 0x4000_0000;
/// Data of the tests, and a linked list.
const BUFFER: u32 = RAM + 0x400;
const LIST: u32 = RAM + 0x1800;
/// A clock of SDMMC_CK in picoseconds.
const CK: u64 = 40_000;
/// CMDR's bits for a response with a CRC, without, and long.
const SHORT: u32 = CMDR_CPSMEN | 1 << 8;
const NO_CRC: u32 = CMDR_CPSMEN | 2 << 8;
const LONG_ONE: u32 = CMDR_CPSMEN | 3 << 8;
const READS: u32 = DCTRL_DTDIR | 9 << 4;
const WRITES: u32 = 9 << 4;

#[derive(State, Polled)]
struct Nothing;

impl Device for Nothing {}

fn card(changes: &[(&'static str, u32)]) -> Card {
    let mut values: Vec<(&str, u32)> = vec![
        ("reg", 0),
        ("cyclescope,capacity-bytes", 64 << 20),
        ("cyclescope,response-clocks", 8),
        ("cyclescope,initialisation-us", 1_000),
        ("cyclescope,page-bytes", 2048),
        ("cyclescope,pages-per-block", 64),
        ("cyclescope,open-blocks", 1),
        ("cyclescope,page-mapped-bytes", 1 << 20),
        ("cyclescope,page-program-us", 830),
        ("cyclescope,sector-copy-us", 0),
        ("cyclescope,page-copy-us", 1_100),
        ("cyclescope,block-erase-us", 1_500),
        ("cyclescope,page-read-us", 60),
        ("cyclescope,read-access-us", 200),
        ("cyclescope,stop-us", 7),
    ];
    values.retain(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
    values.extend(changes);
    let mut properties: Vec<_> = values.iter().map(|(name, value)| (*name, cells(&[*value]))).collect();
    properties.push(("cyclescope,high-speed", Vec::new()));
    let root = node("", None, Vec::new(), vec![node("card", None, properties, Vec::new())]);
    let (card, mut faults) = read_tree(&root, Card::from_node);
    faults.retain(|fault| !fault.contains("cyclescope,sources"));
    assert!(faults.is_empty(), "{faults:?}");
    card
}

fn params() -> Params {
    Params {
        clock: ClockInput::fixed(dma::mhz(100)),
        start_cycles: Cycles(3),
        interrupts: [Some(IrqLine::Core { core: 0, bit: 5 }), None],
        gate: ClockGate::NONE,
        detect: None,
    }
}

struct Rig {
    bus: Bus,
    now: Ps,
}

impl Rig {
    fn of(card: Option<Card>) -> Rig {
        let sdmmc = Sdmmc::new(params(), "card0".to_owned(), card);
        let mut rig = Rig { bus: dma::bus(RAM, (SDMMC, sdmmc), (PORT, Nothing)), now: Ps::ZERO };
        rig.put(POWER, ON);
        rig.put(CLKCR, 2 | CLKCR_HWFC_EN);
        rig.put(DTIMER, u32::MAX);
        rig.wait(Ps::from_us(10));
        rig
    }

    /// A card in the transfer state, with four lines.
    fn with(changes: &[(&'static str, u32)]) -> Rig {
        let mut rig = Rig::of(Some(card(changes)));
        rig.select();
        rig
    }

    fn device<T>(&mut self, call: impl FnOnce(&mut dyn Device, &mut Ctx) -> T) -> T {
        self.bus.with_device(DeviceId(0), self.now, call)
    }

    fn put(&mut self, register: u32, value: u32) {
        self.device(|device, ctx| device.write(0, register, AccessSize::Word, value, ctx)).unwrap();
    }

    fn get(&mut self, register: u32) -> u32 {
        self.device(|device, ctx| device.read(0, register, AccessSize::Word, ctx)).unwrap().value
    }

    fn wait(&mut self, span: Ps) {
        self.now += span;
        self.bus.run_events(self.now);
    }

    /// Waits for one of `flags`: the time that this took, and all flags. `flags` are cleared.
    fn until(&mut self, flags: u32) -> (Ps, u32) {
        let begin = self.now;
        loop {
            let status = self.get(STAR);
            if status & flags != 0 {
                self.put(ICR, flags);
                return (self.now - begin, status);
            }
            let due = self.bus.events.next_due();
            assert_ne!(due, Ps::MAX, "nothing more happens: {status:#x}");
            self.now = self.now.max(due);
            self.bus.run_events(self.now);
        }
    }

    /// A command: SDMMC_RESP1R; `None` after a timeout.
    fn command(&mut self, index: u32, argument: u32, how: u32) -> Option<u32> {
        self.put(ARGR, argument);
        self.put(CMDR, index | how);
        let (_, status) = self.until(STAR_CMDREND | STAR_CMDSENT | STAR_CTIMEOUT | STAR_CCRCFAIL);
        (status & STAR_CTIMEOUT == 0).then(|| self.get(RESP1R))
    }

    fn select(&mut self) {
        assert_eq!(self.command(0, 0, CMDR_CPSMEN), Some(0));
        assert_eq!(self.command(8, 0x1aa, SHORT), Some(0x1aa));
        assert_eq!(self.application(41, 0), 0x00ff_8000);
        assert_eq!(self.application(41, 0x40ff_8000), 0x00ff_8000);
        self.wait(Ps::from_us(1_000));
        assert_eq!(self.application(41, 0x40ff_8000), 0x80ff_8000);
        assert!(self.command(2, 0, LONG_ONE).is_some());
        assert_eq!(self.command(3, 0, SHORT), Some(1 << 16 | 2 << 9 | 1 << 8));
        assert_eq!(self.command(7, 1 << 16, SHORT), Some(3 << 9 | 1 << 8));
        assert_eq!(self.application(6, 2), 4 << 9 | 1 << 8);
        self.put(CLKCR, 2 | CLKCR_HWFC_EN | 1 << 14);
    }

    fn application(&mut self, index: u32, argument: u32) -> u32 {
        let (address, how) = if index == 41 { (0, NO_CRC) } else { (1 << 16, SHORT) };
        let status = self.command(55, address, SHORT).unwrap();
        assert_ne!(status & 1 << 5, 0, "APP_CMD");
        self.command(index, argument, how).unwrap()
    }

    /// Sets up a transfer of this many bytes with one buffer.
    fn prepare(&mut self, bytes: u32, control: u32) {
        self.put(DLENR, bytes);
        self.put(DCTRL, control);
        self.put(IDMABASER, BUFFER);
        self.put(IDMACTRLR, IDMACTRLR_IDMAEN);
    }

    fn memory(&self, address: u32, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        assert!(self.bus.peek(address, &mut bytes));
        bytes
    }

    fn notes(&self) -> String {
        format!("{:?}", self.bus.notes())
    }

    fn write_block(&mut self, block: u32, data: &[u8]) -> u32 {
        assert!(self.bus.poke(BUFFER, data));
        self.prepare(data.len() as u32, WRITES);
        self.command(24, block * 512, SHORT | CMDR_CMDTRANS);
        self.until(STAR_DATAEND | STAR_DCRCFAIL | STAR_DTIMEOUT).1
    }
}

fn pattern(seed: u32, len: usize) -> Vec<u8> {
    (0..len as u32).map(|at| (at.wrapping_mul(31) ^ at >> 8 ^ seed) as u8).collect()
}

#[test]
fn the_device_keeps_its_table() {
    let mut bench = Bench::new(Sdmmc::new(params(), String::new(), None));
    walk::device_keeps_its_map(&MAP, &["SDMMC_POWER", "SDMMC_CMDR", "SDMMC_DCTRL"], &mut bench);
}

#[test]
fn a_command_has_48_clocks_and_its_response_48_after_8() {
    let mut rig = Rig::of(Some(card(&[])));
    // At edge 1000: start bit at 1003, aligned to 4: 1004. (48 + 8 + 48) * 4 = 416 later, at 1420, is the response.
    rig.put(ARGR, 0x1aa);
    rig.put(CMDR, 8 | SHORT);
    assert_eq!(rig.get(STAR), STAR_CPSMACT);
    let (took, status) = rig.until(STAR_CMDREND);
    assert_eq!((took, status), (Ps(4_200_000), STAR_CMDREND));
    assert_eq!((rig.get(RESPCMDR), rig.get(RESP1R)), (8, 0x1aa));
    // The next one begins eight clocks after it, at edge 1452, whose write was at 1420. CMD0 has no response.
    rig.put(CMDR, CMDR_CPSMEN);
    assert_eq!(rig.until(STAR_CMDSENT).0, Ps((8 + 48) * CK));
}

#[test]
fn without_a_card_a_command_times_out_after_64_clocks() {
    let mut rig = Rig::of(None);
    rig.put(CMDR, 8 | SHORT);
    // 40 ns to the start bit.
    assert_eq!(rig.until(STAR_CTIMEOUT), (Ps(40_000 + (48 + 64) * CK), STAR_CTIMEOUT));
    assert_eq!(rig.bus.core_irqs[0].low(), 0);
    rig.put(MASKR, STAR_CTIMEOUT);
    rig.put(CMDR, 8 | SHORT);
    rig.wait(Ps::from_us(10));
    assert_eq!(rig.bus.core_irqs[0].low(), 1 << 5);
    rig.put(ICR, STAR_CTIMEOUT);
    assert_eq!(rig.bus.core_irqs[0].low(), 0);
}

#[test]
fn nothing_is_sent_without_power_nor_answered_before_74_clocks() {
    let mut rig = Rig { now: Ps::ZERO, ..Rig::of(Some(card(&[]))) };
    rig.put(POWER, 0);
    rig.put(CMDR, 8 | SHORT);
    assert!(rig.notes().contains("PWRCTRL"), "{}", rig.notes());
    assert_eq!(rig.get(STAR), 0);
    rig.wait(Ps::from_us(20));
    rig.put(POWER, ON);
    assert_eq!(rig.command(8, 0x1aa, SHORT), None);
    assert!(rig.notes().contains("card0: CMD8 ignored: 1 clocks since the supply is on"), "{}", rig.notes());
}

#[test]
fn a_block_comes_by_the_idma_when_the_card_has_it() {
    let mut rig = Rig::with(&[]);
    let data = pattern(3, 512);
    assert_eq!(rig.write_block(9, &data) & STAR_DATAEND, STAR_DATAEND);
    assert!(rig.bus.poke(BUFFER, &[0; 512]));
    rig.wait(Ps::from_us(20_000));
    rig.prepare(512, READS);
    rig.put(ARGR, 9 * 512);
    rig.put(CMDR, 17 | SHORT | CMDR_CMDTRANS);
    let (to_response, _) = rig.until(STAR_CMDREND);
    let command_end = rig.now - Ps((8 + 48) * CK);
    assert!(to_response < Ps::from_us(5));
    assert_eq!(rig.get(STAR) & STAR_DPSMACT, STAR_DPSMACT);
    rig.until(STAR_DATAEND);
    // The card takes 200 us and 60 us for its page. Then there are 1 + 8 * 512 / 4 + 16 + 1 clocks.
    let ready = command_end + Ps::from_us(260);
    assert_eq!(rig.now, ready + Ps((1 + 1024 + 17) * CK));
    assert_eq!(rig.memory(BUFFER, 512), data);
    assert_eq!(rig.get(DCNTR), 0);
}

#[test]
fn a_written_block_ends_with_its_busy_time() {
    let mut rig = Rig::with(&[]);
    assert!(rig.bus.poke(BUFFER, &pattern(1, 512)));
    rig.prepare(512, WRITES);
    rig.put(ARGR, 0);
    rig.put(CMDR, 24 | SHORT | CMDR_CMDTRANS);
    rig.until(STAR_CMDREND);
    let (took, status) = rig.until(STAR_DATAEND);
    assert_eq!(status & (STAR_DATAEND | STAR_DCRCFAIL), STAR_DATAEND);
    // NWR of 2 clocks, 1 + 1024 + 17 of the block, from whose end on the card programs its page for 830 us. The busy
    // signal is seen at a clock.
    assert_eq!(took, Ps((2 + 1042) * CK) + Ps::from_us(830));
    let counters = rig.device(|device, _| device.counters());
    let of = |name: &str| counters.iter().find(|(known, _)| known == name).unwrap().1;
    assert_eq!((of("blocks"), of("bursts"), of("card0.blocks_written")), (1, 16, 1));
}

#[test]
fn software_moves_words_by_the_flags_of_the_fifo() {
    let mut rig = Rig::with(&[]);
    let data = pattern(7, 512);
    rig.put(DLENR, 512);
    rig.put(DCTRL, WRITES);
    rig.command(24, 0, SHORT | CMDR_CMDTRANS);
    for words in data.chunks(32) {
        rig.until(STAR_TXFIFOHE);
        for word in words.as_chunks().0 {
            rig.put(FIFOR, u32::from_le_bytes(*word));
        }
    }
    rig.until(STAR_DATAEND);
    rig.put(DCTRL, READS);
    rig.command(17, 0, SHORT | CMDR_CMDTRANS);
    let mut read = Vec::new();
    while read.len() < 512 {
        rig.until(STAR_RXFIFOHF);
        // Software is late: SDMMC_CK stops while the FIFO is full.
        rig.wait(Ps::from_us(7));
        (0..8).for_each(|_| read.extend(rig.get(FIFOR + 0x3c).to_le_bytes()));
    }
    assert_eq!(rig.until(STAR_DATAEND).1 & (STAR_RXOVERR | STAR_DCRCFAIL), 0);
    assert_eq!(read, data);
}

#[test]
fn without_flow_control_a_full_fifo_is_an_overrun() {
    let mut rig = Rig::with(&[]);
    rig.put(CLKCR, 2 | 1 << 14);
    rig.put(DLENR, 512);
    rig.put(DCTRL, READS);
    rig.command(17, 0, SHORT | CMDR_CMDTRANS);
    assert_eq!(rig.until(STAR_RXOVERR).1 & (STAR_RXOVERR | STAR_DATAEND), STAR_RXOVERR);
}

#[test]
fn a_linked_list_spreads_blocks_over_buffers() {
    let mut rig = Rig::with(&[]);
    let data = pattern(5, 1024);
    assert!(rig.bus.poke(BUFFER, &data));
    rig.prepare(1024, WRITES);
    rig.command(25, 0, SHORT | CMDR_CMDTRANS);
    rig.until(STAR_DATAEND);
    assert!(rig.command(12, 0, SHORT | CMDR_CMDSTOP).is_some());
    rig.until(STAR_BUSYD0END);
    // 96 bytes at BUFFER, then, by the list, 416 and 512.
    let flags = IDMALAR_ULS | IDMALAR_ABR;
    let node = |address: u32, bytes: u32, next: u32| [next | flags, address, bytes];
    let list = [node(BUFFER + 0x600, 416, 12 | IDMALAR_ULA), node(BUFFER + 0x1000, 512, 24)];
    let bytes: Vec<u8> = list.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    assert!(rig.bus.poke(LIST, &bytes));
    rig.prepare(1024, READS | 3 << 2);
    rig.put(IDMABAR, LIST);
    rig.put(IDMALAR, flags | IDMALAR_ULA);
    rig.put(IDMABSIZER, 96);
    rig.put(IDMACTRLR, IDMACTRLR_IDMAEN | IDMACTRLR_IDMABMODE);
    rig.command(18, 0, SHORT | CMDR_CMDTRANS);
    rig.until(STAR_DATAEND);
    let read = [rig.memory(BUFFER, 96), rig.memory(BUFFER + 0x600, 416), rig.memory(BUFFER + 0x1000, 512)].concat();
    assert_eq!(read, data);
    assert_eq!(rig.command(12, 0, SHORT | CMDR_CMDSTOP), Some(5 << 9 | 1 << 8));
}

#[test]
fn an_address_without_memory_ends_the_idma() {
    let mut rig = Rig::with(&[]);
    rig.prepare(512, READS);
    rig.put(IDMABASER, 0x9000_0000);
    rig.command(17, 0, SHORT | CMDR_CMDTRANS);
    assert_eq!(rig.until(STAR_IDMATE).1 & STAR_DATAEND, 0);
}

#[test]
fn a_stop_command_has_its_busy_time_and_a_timeout() {
    let mut rig = Rig::with(&[]);
    assert!(rig.bus.poke(BUFFER, &pattern(5, 512)));
    rig.prepare(512, WRITES);
    rig.command(25, 0, SHORT | CMDR_CMDTRANS);
    rig.until(STAR_DATAEND);
    rig.put(CMDR, 12 | SHORT | CMDR_CMDSTOP);
    let (_, status) = rig.until(STAR_CMDREND);
    assert_eq!(status & STAR_BUSYD0, STAR_BUSYD0);
    // 830 us of the page and 7 us of the stop, from the end of the command on, less the response.
    assert_eq!(rig.until(STAR_BUSYD0END).0, Ps::from_us(837) - Ps((8 + 48) * CK));
    let mut rig = Rig::with(&[("cyclescope,stuck-busy-block", 1)]);
    rig.put(DTIMER, 10_000);
    assert_eq!(rig.write_block(0, &pattern(5, 512)) & STAR_DTIMEOUT, STAR_DTIMEOUT);
}

#[test]
fn a_damaged_block_has_a_negative_crc_status() {
    let mut rig = Rig::with(&[("cyclescope,crc-error-block", 1)]);
    assert_eq!(rig.write_block(0, &pattern(5, 512)) & (STAR_DCRCFAIL | STAR_DATAEND), STAR_DCRCFAIL);
    // The lines of host and card differ.
    let mut rig = Rig::with(&[]);
    rig.put(CLKCR, 2 | CLKCR_HWFC_EN);
    rig.prepare(512, READS);
    rig.command(17, 0, SHORT | CMDR_CMDTRANS);
    assert_eq!(rig.until(STAR_DCRCFAIL).1 & STAR_DATAEND, 0);
}

#[test]
fn a_card_that_can_not_read_lets_the_data_time_out() {
    let mut rig = Rig::with(&[("cyclescope,read-error-block", 1)]);
    rig.put(DTIMER, 1_000);
    rig.prepare(512, READS);
    rig.command(17, 0, SHORT | CMDR_CMDTRANS);
    rig.until(STAR_DTIMEOUT);
    assert_eq!(rig.command(12, 0, SHORT), Some(1 << 21 | 5 << 9 | 1 << 8), "CARD_ECC_FAILED");
}

#[test]
fn errors_are_in_the_status_once() {
    let mut rig = Rig::with(&[]);
    // CMD2 in the transfer state; a block past the end.
    assert_eq!(rig.command(2, 0, LONG_ONE), None);
    assert_eq!(rig.command(13, 1 << 16, SHORT), Some(1 << 22 | 4 << 9 | 1 << 8));
    assert_eq!(rig.command(13, 1 << 16, SHORT), Some(4 << 9 | 1 << 8));
    assert_eq!(rig.command(17, 64 << 20, SHORT), Some(1 << 31 | 4 << 9 | 1 << 8));
    assert_eq!(rig.command(13, 2 << 16, SHORT), None, "another card's address");
    // A short response where a long one is expected.
    rig.put(ARGR, 1 << 16);
    rig.put(CMDR, 13 | LONG_ONE);
    rig.until(STAR_CCRCFAIL);
}

#[test]
fn registers_come_as_data_and_cmd6_selects_high_speed() {
    let mut rig = Rig::with(&[]);
    let data = |rig: &mut Rig, bytes: u32, index: u32, argument: u32, application: bool| {
        if application {
            rig.command(55, 1 << 16, SHORT);
        }
        rig.prepare(bytes, DCTRL_DTDIR | bytes.trailing_zeros() << 4);
        rig.command(index, argument, SHORT | CMDR_CMDTRANS);
        rig.until(STAR_DATAEND);
        rig.memory(BUFFER, bytes as usize)
    };
    assert_eq!(data(&mut rig, 8, 51, 0, true)[..2], [2, 5], "SCR: version 2.00, one line and four");
    assert_eq!(data(&mut rig, 64, 13, 0, true)[0], 0x80, "SD Status: four lines");
    let offered = data(&mut rig, 64, 6, 0x00ff_fff1, false);
    assert_eq!((offered[13], offered[16]), (3, 1), "CMD6: functions 0 and 1, 1 could be selected");
    rig.put(CLKCR, 1 | CLKCR_HWFC_EN | 1 << 14);
    rig.command(13, 1 << 16, SHORT);
    assert!(rig.notes().contains("the clock of 50000000 Hz is too fast"), "{}", rig.notes());
    let count = rig.bus.notes().len();
    let mut rig = Rig::with(&[]);
    data(&mut rig, 64, 6, 0x80ff_fff1, false);
    rig.put(CLKCR, 1 | CLKCR_HWFC_EN | 1 << 14);
    rig.command(13, 1 << 16, SHORT);
    assert_eq!((rig.bus.notes().len(), count), (0, 1));
}

#[test]
fn erased_blocks_read_zeroes() {
    let mut rig = Rig::with(&[]);
    rig.write_block(1, &pattern(5, 512));
    assert!(rig.command(32, 512, SHORT).is_some() && rig.command(33, 512, SHORT).is_some());
    assert!(rig.command(38, 0, SHORT).is_some());
    rig.wait(Ps::from_us(100_000));
    rig.prepare(512, READS);
    rig.command(17, 512, SHORT | CMDR_CMDTRANS);
    rig.until(STAR_DATAEND);
    assert_eq!(rig.memory(BUFFER, 512), [0; 512]);
}

#[test]
fn a_node_gives_card_clock_and_interrupt() {
    let properties: [(&str, &[u32]); 2] = [("interrupts-extended", &[CPU_INTC, 3]), ("cyclescope,start-cycles", &[3])];
    let (mut bench, mut faults) = read_plain_node(from_node, &properties);
    faults.retain(|fault| !fault.contains("cyclescope,sources"));
    assert!(faults.is_empty(), "{faults:?}");
    bench.write(Ps(0), POWER, ON).unwrap();
    bench.write(Ps(0), MASKR, STAR_CTIMEOUT).unwrap();
    bench.write(Ps(0), CMDR, 8 | SHORT).unwrap();
    // CLKDIV 0 is the kernel clock itself: 3 + 48 + 64 clocks.
    bench.run(Ps(1_149_999));
    assert_eq!(bench.pending(), 0);
    bench.run(Ps(1_150_000));
    assert_eq!(bench.pending(), 1 << 3);
}
