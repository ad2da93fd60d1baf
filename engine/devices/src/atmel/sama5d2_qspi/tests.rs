//! The controller with an N25Q128A: a bench whose clock is 166 MHz, and one file a subject.

use super::registers::*;
use super::*;
use crate::bench::Bench;
use engine::bus::device::{DeviceId, IrqLine};
use engine::dt::node::{Location, Node, Property};
use engine::dt::reader::Board;
use engine::time::{Cycles, Hz};

mod alone;
mod dma;
mod frames;
mod look;
mod polling;
mod registers;
mod spi;
mod window;

const TIMES: [(&str, u32); 15] = [
    ("cyclescope,page-program-typical-us", 500),
    ("cyclescope,page-program-maximum-us", 5_000),
    ("cyclescope,subsector-erase-typical-ms", 250),
    ("cyclescope,subsector-erase-maximum-ms", 800),
    ("cyclescope,sector-erase-typical-ms", 700),
    ("cyclescope,sector-erase-maximum-ms", 3_000),
    ("cyclescope,bulk-erase-typical-ms", 170_000),
    ("cyclescope,bulk-erase-maximum-ms", 250_000),
    ("cyclescope,write-status-register-typical-us", 1_300),
    ("cyclescope,write-status-register-maximum-us", 8_000),
    ("cyclescope,write-nonvolatile-configuration-register-typical-ms", 200),
    ("cyclescope,write-nonvolatile-configuration-register-maximum-ms", 3_000),
    ("cyclescope,program-otp-typical-us", 200),
    ("cyclescope,program-suspend-latency-us", 7),
    ("cyclescope,erase-suspend-latency-us", 15),
];

/// An N25Q128A as its node describes it.
fn flash() -> HostedChip {
    flash_with(&[])
}

/// The same with further properties of a cell.
fn flash_with(further: &[(&'static str, u32)]) -> HostedChip {
    let strings = |values: &[&str]| values.iter().flat_map(|value| value.bytes().chain([0])).collect::<Vec<u8>>();
    let names: Vec<&str> = TIMES.iter().map(|(name, _)| *name).collect();
    let mut properties = vec![
        ("compatible", strings(&["micron,n25q128a13", "jedec,spi-nor"])),
        ("reg", vec![0; 4]),
        ("cyclescope,sources", strings(&[&format!("{}: chosen by the test", names.join(", "))])),
    ];
    properties.extend(TIMES.iter().chain(further).map(|(name, value)| (*name, value.to_be_bytes().to_vec())));
    let at = Location { file: "test.dts".into(), line: 1 };
    let property = |(name, value): (&str, Vec<u8>)| Property { name: name.to_owned(), value, at: at.clone() };
    let node = Node {
        path: "/flash".to_owned(),
        name: "flash".to_owned(),
        labels: vec!["flash0".to_owned()],
        properties: properties.into_iter().map(property).collect(),
        at: at.clone(),
        phandle: None,
        children: Vec::new(),
    };
    let mut board = Board {
        root: &node,
        faults: Vec::new(),
        parameters: Vec::new(),
        declared: None,
        pins: crate::pins_of,
        external: None,
        interrupts: &|_, _| None,
    };
    let mut reader = NodeReader::new(&node, &mut board);
    let chip = HostedChip::from_node(&mut reader, 0).unwrap();
    reader.finish();
    assert_eq!(board.faults, []);
    chip
}

fn clock() -> Hz {
    Hz::new(166_000_000).unwrap()
}

/// Registers take 4 clocks, the window 5 clocks before and 3 after its serial clocks.
fn params() -> Params {
    Params {
        clock: clock().into(),
        register_cycles: Cycles(4),
        request_cycles: Cycles(5),
        response_cycles: Cycles(3),
        reads_go_on: true,
        random: 1,
        interrupt: Some(IrqLine::Core { core: 0, bit: 4 }),
        dma: [None; 2],
    }
}

const SMM: u32 = 1;
const SMRM: u32 = 1 << 3;
/// QSPI_SCR of 55.33 MHz, a third of the peripheral clock.
const THIRD: u32 = 2 << 8;
const PERIOD: u64 = 3;

/// Fields of QSPI_IFR.
mod ifr {
    pub const QUAD_OUTPUT: u32 = 2;
    pub const QUAD_IO: u32 = 4;
    pub const INSTEN: u32 = 1 << 4;
    pub const ADDREN: u32 = 1 << 5;
    pub const OPTEN: u32 = 1 << 6;
    pub const DATAEN: u32 = 1 << 7;
    pub const OPTL_4BIT: u32 = 2 << 8;
    pub const READ_MEMORY: u32 = 1 << 12;
    pub const WRITE: u32 = 2 << 12;
    pub const WRITE_MEMORY: u32 = 3 << 12;
    pub const CRM: u32 = 1 << 14;

    pub const fn dummies(clocks: u32) -> u32 {
        clocks << 16
    }

    /// A fast read in quad I/O with the N25Q's ten dummy clocks.
    pub const QUAD_READ: u32 = QUAD_IO | INSTEN | ADDREN | DATAEN | READ_MEMORY | dummies(10);
}

/// The controller on a bench; each access begins where the last one was answered.
struct Rig {
    bench: Bench,
    now: Ps,
    /// Beats are read as compiled code does it.
    as_code: bool,
}

impl Rig {
    fn new() -> Rig {
        Rig::with(params())
    }

    /// With bytes in the flash: each is its address times 5, with something of the page's number.
    fn with(params: Params) -> Rig {
        Rig::holding(flash(), params)
    }

    /// The same with a flash of one's own.
    fn holding(mut flash: HostedChip, params: Params) -> Rig {
        let contents: Vec<u8> = (0..8192).map(contents).collect();
        assert!(flash.preload(0, &contents));
        Rig { bench: Bench::new(Sama5d2Qspi::new(params, flash)), now: Ps::ZERO, as_code: false }
    }

    /// Enabled in serial memory mode at a third of the clock.
    fn memory() -> Rig {
        Rig::new().in_memory_mode()
    }

    fn in_memory_mode(mut self) -> Rig {
        let rig = &mut self;
        rig.put(SCR, THIRD);
        rig.put(MR, SMM);
        rig.put(CR, CR_QSPIEN);
        self
    }

    /// Reading the memory as `frame` says, with command EBh.
    fn reading(frame: u32) -> Rig {
        let mut rig = Rig::memory();
        rig.frame(0xeb, frame);
        rig
    }

    /// Writes a register.
    fn put(&mut self, offset: u32, value: u32) {
        self.now = self.bench.write(self.now, offset, value).unwrap();
    }

    fn get(&mut self, offset: u32) -> u32 {
        let (value, done) = self.bench.read(self.now, offset).unwrap();
        self.now = done;
        value
    }

    /// QSPI_ICR and QSPI_IFR, and the read of the latter.
    fn frame(&mut self, instruction: u32, frame: u32) {
        self.put(ICR, instruction);
        self.put(IFR, frame);
        self.get(IFR);
    }

    fn device<T>(&mut self, call: impl FnOnce(&mut dyn Device, &mut Ctx) -> T) -> T {
        self.bench.bus.run_events(self.now);
        self.bench.bus.with_device(DeviceId(0), self.now, call)
    }

    /// Reads the window.
    fn load(&mut self, offset: u32, size: AccessSize) -> Result<u32, SlaveError> {
        let reply = self.device(|device, ctx| device.read(1, offset, size, ctx))?;
        self.now = reply.done;
        Ok(reply.value)
    }

    fn word(&mut self, offset: u32) -> u32 {
        self.load(offset, AccessSize::Word).unwrap()
    }

    /// Writes the window.
    fn store(&mut self, offset: u32, size: AccessSize, value: u32) {
        self.now = self.device(|device, ctx| device.write(1, offset, size, value, ctx)).unwrap().done;
    }

    fn burst(&mut self, offset: u32, bytes: u32) {
        self.now = self.device(|device, ctx| device.burst(1, offset, bytes, ctx)).unwrap();
    }

    fn peek(&mut self, offset: u32) -> u32 {
        let mut bytes = [0; 4];
        assert!(self.device(|device, _| device.peek(1, offset, &mut bytes)));
        u32::from_le_bytes(bytes)
    }

    /// LASTXFER, and a wait until the frame is over.
    fn last(&mut self) {
        self.put(CR, CR_LASTXFER);
        self.until(SR_INSTRE | SR_CSR);
    }

    /// Reads QSPI_SR until it has had all of `bits`.
    fn until(&mut self, bits: u32) -> u32 {
        let mut seen = 0;
        for _ in 0..10_000 {
            seen |= self.get(SR);
            if seen & bits == bits {
                return seen;
            }
        }
        panic!("QSPI_SR never has {bits:#x}: {seen:#x}");
    }

    /// A frame of a command alone.
    fn command(&mut self, opcode: u32) {
        self.frame(opcode, ifr::INSTEN);
        self.until(SR_INSTRE);
    }

    /// A frame that writes bytes through the window.
    fn write_register(&mut self, opcode: u32, byte: u32) {
        self.frame(opcode, ifr::INSTEN | ifr::DATAEN | ifr::WRITE);
        self.store(0, AccessSize::Byte, byte);
        self.last();
    }

    /// Peripheral clocks that an access takes.
    fn cycles(&mut self, access: impl FnOnce(&mut Rig)) -> u64 {
        let before = clock().cycles_until_ceil(self.now).0;
        access(self);
        clock().cycles_until_ceil(self.now).0 - before
    }

    fn counter(&mut self, name: &str) -> u64 {
        let counters = self.device(|device, _| device.counters());
        counters.iter().find(|(known, _)| known == name).unwrap().1
    }

    fn notes(&self) -> String {
        self.bench.bus.notes().join("\n")
    }
}

/// The byte at an address.
fn contents(address: u32) -> u8 {
    (address * 5 + address / 256 * 7) as u8
}

/// The word at an address.
fn word_at(address: u32) -> u32 {
    u32::from_le_bytes([0, 1, 2, 3].map(|index| contents(address + index)))
}
