//! AXI CDMA and AXI Quad SPI together, as an enhanced-mode driver uses them: no processor, exact times.

use engine::polling::{Poll, Polled};
use std::sync::{Arc, Mutex};

use devices::support::axi_lite::AxiLitePort;
use devices::support::hosted_chip::{Chips, HostedChip};
use devices::xlnx::axi_cdma::{self as cdma, AxiCdma};
use devices::xlnx::axi_quad_spi::{AxiQuadSpi, params::Params};
use engine::bus::device::{AccessSize, DeviceId};
use engine::bus::{Bus, MapEntry, Route, Target};
use engine::memory::ram::{PortTiming, Ram};
use engine::time::{Cycles, Hz, Ps};
use engine::wire::spi::{Burst, Lines, SpiTarget};

const SPI: u32 = 0xc400_0000;
const DMA0: u32 = 0x44a0_0000;
const DMA1: u32 = 0x44a1_0000;
const BRAM: u32 = 0xc000_0000;

const SPICR: u32 = SPI + 0x60;
const SPISR: u32 = SPI + 0x64;
const DTR: u32 = SPI + 0x68;
const DRR: u32 = SPI + 0x6c;
const SPISSR: u32 = SPI + 0x70;
const RUN: u32 = 0x86;
const STOP: u32 = 0x186;

/// Sends bytes that count up; keeps the bytes that it receives, and the first and last time of activity on the wire.
#[derive(Clone, Default, engine::state::State)]
struct Chip(#[state(skip)] Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    bytes: Vec<u8>,
    clocks: u32,
    first: Ps,
    last: Ps,
}

impl SpiTarget for Chip {
    fn select(&mut self, now: Ps) {
        self.0.lock().unwrap().first = now;
    }

    fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        let mut seen = self.0.lock().unwrap();
        seen.bytes.push(burst.bits as u8);
        seen.clocks += burst.clocks;
        seen.last = end;
        seen.bytes.len() as u32 - 1
    }

    fn deselect(&mut self, _: Ps) {}
}

impl Polled for Chip {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

fn mhz(value: u64) -> Hz {
    Hz::new(value * 1_000_000).unwrap()
}

fn port() -> AxiLitePort {
    AxiLitePort { clock: mhz(100), read_cycles: Cycles(4), write_cycles: Cycles(5) }
}

fn dma() -> Box<AxiCdma> {
    Box::new(AxiCdma::new(cdma::Params {
        port: port(),
        max_burst_beats: 16,
        lite: false,
        store_and_forward: false,
        setup_cycles: Cycles(10),
        forward_cycles: Cycles(3),
        burst_gap_cycles: Cycles(7),
        interrupt: None,
    }))
}

fn spi(chip: Chip) -> Box<AxiQuadSpi> {
    let params = Params {
        port: port(),
        ext_spi_clock: mhz(80),
        sck_ratio: 2,
        lines: Lines::Quad,
        fifo_depth: 256,
        slaves: 1,
        enhanced: true,
        xip: false,
        tx_sync_clocks: Cycles(4),
        rx_sync_cycles: Cycles(4),
        interrupt: None,
    };
    let chip = HostedChip::new(Box::new(chip), "flash0".to_owned(), None, 0);
    Box::new(AxiQuadSpi::new(params, Chips::new(vec![Some(chip)])))
}

/// The board of XAPP797 without its processor: all behind an interconnect of 2 and 1 clocks at 100 MHz.
struct Board {
    bus: Bus,
    now: Ps,
    chip: Chip,
}

impl Board {
    fn new() -> Board {
        let chip = Chip::default();
        let mut bus = Bus::default();
        let entry = |name: &str, base: u32, size: u32, target| {
            MapEntry::new(name, base, base + size - 1, target).on_route(Some(0))
        };
        bus.map = vec![
            entry("dma0", DMA0, 0x1_0000, Target::Device(DeviceId(1), 0)),
            entry("dma1", DMA1, 0x1_0000, Target::Device(DeviceId(2), 0)),
            entry("bram", BRAM, 0x2_0000, Target::Ram(0)),
            entry("spi0", SPI, 0x1_0000, Target::Device(DeviceId(0), 0)),
        ];
        let (request_cycles, response_cycles) = (Cycles(2), Cycles(1));
        bus.routes = vec![Route { name: "axi".into(), clock: mhz(100), request_cycles, response_cycles }];
        let (first_word_cycles, beat_cycles) = (Cycles(3), Cycles(1));
        let timing = PortTiming::symmetric(mhz(100), first_word_cycles, beat_cycles, 4);
        bus.rams = vec![Ram::new(0x2_0000, timing)];
        bus.devices = vec![Some(spi(chip.clone())), Some(dma()), Some(dma())];
        bus.device_names = vec!["spi0".into(), "dma0".into(), "dma1".into()];
        bus.add_core();
        Board { bus, now: Ps(0), chip }
    }

    fn write(&mut self, addr: u32, value: u32) {
        self.bus.run_events(self.now);
        self.now = self.bus.write(self.now, addr, AccessSize::Word, value).unwrap().done;
    }

    fn read(&mut self, addr: u32) -> u32 {
        self.bus.run_events(self.now);
        let access = self.bus.read(self.now, addr, AccessSize::Word).unwrap();
        self.now = access.done;
        access.value
    }

    /// Polls until a bit of `mask` is set.
    fn wait(&mut self, addr: u32, mask: u32) {
        while self.read(addr) & mask == 0 {
            assert!(self.now < Ps::from_us(1_000), "{addr:#x} never has {mask:#x}");
        }
    }

    fn start_dma(&mut self, dma: u32, control: u32, from: u32, to: u32, words: u32) {
        for (offset, value) in [(0x00, control), (0x18, from), (0x20, to), (0x28, words * 4)] {
            self.write(dma + offset, value);
        }
    }

    fn put_frame(&mut self, header: &[u8], len: u32) {
        for index in 0..len {
            let byte = header.get(index as usize).copied().unwrap_or(index as u8);
            assert!(self.bus.poke(BRAM + 4 * index, &u32::from(byte).to_le_bytes()));
        }
    }

    fn begin(&mut self) {
        self.write(SPISSR, !1);
        self.write(SPICR, RUN);
    }
}

#[test]
fn a_page_is_filled_by_dma_and_leaves_without_a_gap() {
    let mut board = Board::new();
    board.put_frame(&[0x32, 0, 0, 0], 260);
    board.write(SPICR, STOP);
    let start = board.now;
    board.start_dma(DMA0, 0x20, BRAM, DTR, 256);
    board.wait(DMA0 + 0x04, 1 << 1);
    // Four register writes of 2 + 5 + 1 = 8 clocks; BTT is there at 26. Set-up 10, the first word's way 6, through 3,
    // the address's way 2: the first beat at 47. 15 times 23 clocks (16 beats and the gap) and 15: the last at 407; its
    // response at 413. Polls of 2 + 4 + 1 clocks from 32 on look at 34 + 7k: the one at 419 sees it and is back at 424.
    assert_eq!((board.now - start).0 / 10_000, 424);
    board.begin();
    for index in 256..260 {
        while board.read(SPISR) & (1 << 3) != 0 {}
        board.write(DTR, index & 0xff);
    }
    board.wait(SPISR, 1 << 2);
    let seen = board.chip.0.lock().unwrap();
    assert_eq!(seen.bytes[..6], [0x32, 0, 0, 0, 4, 5]);
    assert_eq!((seen.bytes.len(), seen.bytes[259]), (260, 3));
    // 8 + 24 + 256*8/4 = 544 clocks of 25 ns, without a gap; the wire starts a write access of 2 + 5 + 1 clocks after
    // the select: 80 ns, seen at the next of its own edges, 87.5 or 75 ns later.
    assert_eq!(seen.clocks, 544);
    let lead_ps = (seen.last - seen.first).0 - 544 * 25_000;
    assert!(lead_ps == 75_000 || lead_ps == 87_500, "{lead_ps}");
}

#[test]
fn a_page_is_read_with_one_engine_filling_and_one_draining() {
    let mut board = Board::new();
    board.put_frame(&[0x6b, 0, 0, 0], 264);
    board.write(SPICR, STOP);
    for index in 0..8 {
        board.write(DTR, if index == 0 { 0x6b } else { 0 });
    }
    board.begin();
    board.start_dma(DMA0, 0x20, BRAM + 32, DTR, 248);
    let (mut received, mut refilled) = (0, false);
    while received < 264 {
        let occupancy = if board.read(SPISR) & 1 != 0 { 0 } else { board.read(SPI + 0x78) + 1 };
        if occupancy >= 8 || received + occupancy == 264 {
            board.start_dma(DMA1, 0x10, DRR, BRAM + 0x1000 + 4 * received, occupancy);
            board.wait(DMA1 + 0x04, 1 << 1);
            received += occupancy;
        }
        if !refilled && received >= 8 && board.read(DMA0 + 0x04) & 2 != 0 {
            refilled = true;
            (0..8).for_each(|_| board.write(DTR, 0));
        }
    }
    assert_eq!(board.read(DMA0 + 0x04) & 0x70, 0, "no transfer failed");
    assert_eq!(board.read(DMA1 + 0x04) & 0x70, 0, "no transfer failed");
    for index in 0..264 {
        let mut word = [0; 4];
        assert!(board.bus.peek(BRAM + 0x1000 + 4 * index, &mut word));
        assert_eq!(u32::from_le_bytes(word), index & 0xff);
    }
    // 8 + 24 + 8 + 256*8/4 = 552 clocks.
    assert_eq!(board.chip.0.lock().unwrap().clocks, 552);
}

#[test]
fn a_dma_engine_that_overfills_the_fifo_stops_with_a_slave_error() {
    let mut board = Board::new();
    board.start_dma(DMA0, 0x20, BRAM, DTR, 257);
    board.wait(DMA0 + 0x04, 1 << 1);
    assert_eq!(board.read(DMA0 + 0x04) & 0x70, 1 << 5);
    assert_eq!(board.read(SPI + 0x74), 255, "the FIFO holds 256");
    // And one that reads an empty FIFO.
    board.start_dma(DMA1, 0x10, DRR, BRAM, 1);
    board.wait(DMA1 + 0x04, 1 << 1);
    assert_eq!(board.read(DMA1 + 0x04) & 0x70, 1 << 5);
}
