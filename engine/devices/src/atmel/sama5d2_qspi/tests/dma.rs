//! Data moved by the XDMAC, at the pace of the controller's requests.

use super::*;
use crate::atmel::sama5d4_dma;
use crate::bench::read_plain_node;
use engine::bus::{Bus, MapEntry, Target};
use engine::memory::ram::{PortTiming, Ram};

const RAM: u32 = 0x20_0000;
const REGISTERS_AT: u32 = 0xf002_0000;
const DMA: u32 = 0xf001_0000;
const WINDOW: u32 = 0xd000_0000;
/// XDMAC_CC: synchronised, addresses on the memory's side incremented; bytes.
const SEND: u32 = 4 << 24 | 1 << 16 | 1 << 4 | 1;
const RECEIVE: u32 = 5 << 24 | 1 << 18 | 1;

struct System {
    bus: Bus,
    now: Ps,
}

/// The QSPI with its request lines at inputs 4 and 5 of an XDMAC, and memory.
fn system() -> System {
    let line = |input| Some(IrqLine::Device { device: DeviceId(1), input });
    let dma = [line(4), line(5)];
    let mut rig = Rig::with(Params { dma, reads_go_on: false, ..params() });
    let timing = [("cyclescope,setup-cycles", &[4][..]), ("cyclescope,request-cycles", &[2])];
    let (mut dma, faults) = read_plain_node(sama5d4_dma::from_node, &timing);
    assert!(faults.iter().all(|fault| fault.contains("source")), "{faults:?}");
    let bus = &mut rig.bench.bus;
    bus.devices.push(dma.bus.devices[0].take());
    bus.device_names.push("dma0".into());
    bus.rams = vec![Ram::new(0x1000, PortTiming::symmetric(clock(), Cycles(1), Cycles(1), 4))];
    let entry = |name: &str, base: u32, size: u32, target| MapEntry::new(name, base, base + size - 1, target);
    bus.map = vec![
        entry("ram", RAM, 0x1000, Target::Ram(0)),
        entry("qspi window", WINDOW, 1 << 24, Target::Device(DeviceId(0), 1)),
        entry("dma0", DMA, 0x1000, Target::Device(DeviceId(1), 0)),
        entry("qspi", REGISTERS_AT, 0x1000, Target::Device(DeviceId(0), 0)),
    ];
    System { bus: std::mem::take(bus), now: Ps::ZERO }
}

impl System {
    fn put(&mut self, address: u32, value: u32) {
        self.bus.run_events(self.now);
        self.now = self.bus.write(self.now, address, AccessSize::Word, value).unwrap().done + Ps::from_ns(20);
    }

    fn get(&mut self, address: u32) -> u32 {
        self.bus.run_events(self.now);
        self.bus.read(self.now, address, AccessSize::Word).unwrap().value
    }

    fn qspi(&mut self, register: u32, value: u32) {
        self.put(REGISTERS_AT + register, value);
    }

    /// Starts a channel: XDMAC_CSA, XDMAC_CDA, XDMAC_CUBC, XDMAC_CC, and its bit of XDMAC_GE.
    fn start(&mut self, channel: u32, source: u32, destination: u32, data: u32, config: u32) {
        let base = DMA + 0x50 + 0x40 * channel;
        for (register, value) in [(0x10, source), (0x14, destination), (0x20, data), (0x28, config)] {
            self.put(base + register, value);
        }
        self.put(DMA + 0x1c, 1 << channel);
    }

    /// Serial clocks so far.
    fn clocks(&self) -> u64 {
        let counters = self.bus.devices[0].as_ref().unwrap().counters();
        counters.iter().find(|(name, _)| name == "sck_clocks").unwrap().1
    }

    /// Waits until no channel is on; then the memory's bytes.
    fn finish(&mut self, at: u32, bytes: usize) -> Vec<u8> {
        for _ in 0..1000 {
            if self.get(DMA + 0x24) == 0 {
                let mut seen = vec![0; bytes];
                assert!(self.bus.peek(at, &mut seen));
                return seen;
            }
            self.now += Ps::from_ns(100);
        }
        panic!("channels are still on: {:#x}", self.get(DMA + 0x24));
    }
}

#[test]
fn words_pass_in_spi_mode() {
    let mut system = system();
    system.qspi(SCR, THIRD);
    system.qspi(MR, 1 << 4);
    system.qspi(CR, CR_QSPIEN);
    assert!(system.bus.poke(RAM, &[0x9f, 0, 0, 0]));
    system.start(1, REGISTERS_AT + RDR, RAM + 0x100, 4, RECEIVE);
    system.start(0, RAM, REGISTERS_AT + TDR, 4, SEND);
    assert_eq!(system.finish(RAM + 0x100, 4), [0xff, 0x20, 0xba, 0x18]);
    system.qspi(CR, CR_LASTXFER);
    assert_eq!(system.bus.notes(), [""; 0]);
}

#[test]
fn frames_pass_in_register_mode() {
    let mut system = system();
    system.qspi(SCR, THIRD);
    system.qspi(MR, SMM | SMRM);
    system.qspi(CR, CR_QSPIEN);
    system.qspi(ICR, 0x9f);
    system.qspi(IFR, ifr::INSTEN | ifr::DATAEN);
    system.start(3, REGISTERS_AT + RDR, RAM, 3, RECEIVE);
    assert_eq!(system.finish(RAM, 3), [0x20, 0xba, 0x18]);
    system.qspi(CR, CR_LASTXFER);
    // Write enable, and a page of 16 bytes.
    system.now += Ps::from_us(1);
    system.qspi(ICR, 0x06);
    system.qspi(IFR, ifr::INSTEN);
    system.now += Ps::from_us(1);
    let bytes: Vec<u8> = (0xa0..0xb0).collect();
    assert!(system.bus.poke(RAM, &bytes));
    system.qspi(IAR, 0x30_0000);
    system.qspi(ICR, 0x02);
    system.qspi(IFR, ifr::INSTEN | ifr::ADDREN | ifr::DATAEN | ifr::WRITE);
    system.start(2, RAM, REGISTERS_AT + TDR, 16, SEND);
    system.finish(RAM, 16);
    system.qspi(CR, CR_LASTXFER);
    system.now += Ps::from_us(1000);
    // And back through the window, by words.
    system.qspi(ICR, 0xeb);
    system.qspi(IFR, ifr::QUAD_READ);
    system.get(REGISTERS_AT + IFR);
    system.start(0, WINDOW + 0x30_0000, RAM + 0x200, 4, 2 << 11 | 1 << 18 | 1 << 16);
    assert_eq!(system.finish(RAM + 0x200, 16), bytes);
    assert_eq!(system.bus.notes(), [""; 0]);
}

#[test]
fn the_windows_words_pass_in_bursts() {
    let mut system = system();
    system.qspi(SCR, THIRD);
    system.qspi(MR, SMM);
    system.qspi(CR, CR_QSPIEN);
    system.qspi(ICR, 0xeb);
    system.qspi(IFR, ifr::QUAD_READ);
    system.get(REGISTERS_AT + IFR);
    let mut clocks_of = |config: u32| {
        let before = system.clocks();
        system.start(0, WINDOW, RAM, 32, 2 << 11 | 1 << 18 | 1 << 16 | config);
        let contents: Vec<u8> = (0..128).map(|index| (5 * index) as u8).collect();
        assert_eq!(system.finish(RAM, 128), contents);
        system.clocks() - before
    };
    // 8 of the instruction, 6 of the address, 10 dummies; then 8 a word: each word has a frame, or 16 have one.
    let header = 8 + 6 + 10;
    assert_eq!(clocks_of(0), 32 * (header + 8));
    assert_eq!(clocks_of(3 << 1), 2 * (header + 16 * 8));
}
