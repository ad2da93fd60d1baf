//! For the tests of device models: one device alone on a bus whose time the test advances by hand.

pub mod dma;
pub mod polled;

use crate::far_end::FarEndDevice;
use crate::registers::walk;
use engine::activity::{Detail, Kind, Kinds, Span};
use engine::bus::Bus;
use engine::bus::device::{AccessSize, Device, DeviceId, FAR_END_LOOKS, IrqLine};
use engine::clocks::User;
use engine::dt::node::Node;
use engine::dt::reader::{Board, NodeReader};
pub use engine::dt::testing::{cells, node};
use engine::dt::wiring::{ClockId, ClockInput};
use engine::serial::FarEnd;
use engine::time::{Hz, Ps};

/// The clock of [`Bench::changing_clock`].
const CHANGING: ClockId = ClockId(9);

/// A device on a bus of its own, with one core's pending interrupts to drive.
pub struct Bench {
    /// The bus: console, interrupts of core 0, notes, exit.
    pub bus: Bus,
    /// Text that was printed and not taken yet: on the console, and on the first device's own line.
    text: [String; 2],
}

impl Bench {
    /// Puts `device` on a bus.
    pub fn new(device: impl Device + 'static) -> Bench {
        Bench { bus: Bus::default(), text: Default::default() }.and(device)
    }

    /// Puts a device on a bus whose clock, [`Bench::changing_clock`], runs at 50 MHz from 8 us on; `start` runs before
    /// that.
    pub fn slowed(device: impl Device + 'static, start: impl FnOnce(&mut Bench)) -> Bench {
        let mut bench = Bench::new(device);
        bench.bus.clocks.add_user(CHANGING, User::Device(DeviceId(0)));
        start(&mut bench);
        bench.run(Ps::from_us(8));
        bench.bus.set_clocks(&[(CHANGING, Hz::new(50_000_000).unwrap())], Ps::from_us(8));
        bench
    }

    /// A clock of 100 MHz that firmware may change.
    pub fn changing_clock() -> ClockInput {
        ClockInput { rate: Hz::new(100_000_000).unwrap(), id: Some(CHANGING) }
    }

    /// Puts a device that a model made on a bus.
    pub fn boxed(device: Box<dyn Device>) -> Bench {
        let mut bench = Bench { bus: Bus::default(), text: Default::default() };
        bench.add(device);
        bench
    }

    /// Adds a second device (number 1), and so on: the devices to which the first one's lines lead.
    pub fn and(mut self, device: impl Device + 'static) -> Bench {
        self.add(Box::new(device));
        self
    }

    /// Makes device 0 a port, whose wires the bus keeps.
    pub fn as_port(self) -> Bench {
        self.as_banks(1)
    }

    /// Gives device 0 this many banks of 32 pins, whose wires the bus keeps.
    pub fn as_banks(mut self, banks: u32) -> Bench {
        self.bus.wires.add_port(DeviceId(0), banks);
        self
    }

    fn add(&mut self, device: Box<dyn Device>) {
        self.bus.device_names.push(format!("device{}", self.bus.devices.len()));
        self.bus.devices.push(Some(device));
        if self.bus.core_irqs.is_empty() {
            self.bus.add_core();
        }
    }

    /// Reads a word: its value and the time of the answer; for an error, the time of the error response.
    pub fn read(&mut self, at: Ps, offset: u32) -> Result<(u32, Ps), Ps> {
        self.bus
            .with_device(DeviceId(0), at, |device, ctx| device.read(0, offset, AccessSize::Word, ctx))
            .map(|reply| (reply.value, reply.done))
            .map_err(|error| error.done)
    }

    /// The value of [`Bench::read`], which must not be an error.
    pub fn value(&mut self, at: Ps, offset: u32) -> u32 {
        self.read(at, offset).unwrap().0
    }

    /// Writes a word: the time of the answer.
    pub fn write(&mut self, at: Ps, offset: u32, value: u32) -> Result<Ps, Ps> {
        self.bus
            .with_device(DeviceId(0), at, |device, ctx| device.write(0, offset, AccessSize::Word, value, ctx))
            .map(|reply| reply.done)
            .map_err(|error| error.done)
    }

    /// Sends characters to device 0 from the other end of its serial line, from `at` on.
    pub fn type_at(&mut self, at: Ps, text: &str) {
        let far_end = self.bus.lines.far_end(DeviceId(0)).unwrap_or_else(|| {
            let far_end = DeviceId(self.bus.devices.len() as u32);
            self.add(Box::new(FarEndDevice::new(DeviceId(0), FarEnd::default())));
            self.bus.lines.connect(DeviceId(0), far_end, false);
            far_end
        });
        self.bus.devices[far_end.0 as usize].as_mut().unwrap().far_end().unwrap().feed(at, text.as_bytes());
        self.bus.events.schedule(at, far_end, FAR_END_LOOKS);
    }

    /// Runs all events up to `now`.
    pub fn run(&mut self, now: Ps) {
        self.bus.run_events(now);
    }

    fn take_text(&mut self) -> &mut [String; 2] {
        let (console, mut streams) = self.bus.output.take();
        let stream = streams.remove(&DeviceId(0)).unwrap_or_default();
        for (text, new) in self.text.iter_mut().zip([console, stream]) {
            text.push_str(&String::from_utf8(new).unwrap());
        }
        &mut self.text
    }

    /// Takes the text that the device has printed on the console.
    pub fn printed(&mut self) -> String {
        self.take_text()[0].split_off(0)
    }

    /// Takes the text that the device has printed on its own line.
    pub fn streamed(&mut self) -> String {
        self.take_text()[1].split_off(0)
    }

    /// The characters that the device still sends after the firmware has ended, each with the end of its stop bits.
    pub fn rest(&mut self, end: Ps) -> Vec<(String, Ps)> {
        let mut rest = Vec::new();
        while let Some(at) = self.bus.send_next(end) {
            let text = self.printed() + &self.streamed();
            rest.extend((!text.is_empty()).then_some((text, at)));
        }
        rest
    }

    /// Brings device 0 out of reset and records its wires from then on.
    pub fn record(&mut self) {
        self.bus.with_device(DeviceId(0), Ps::ZERO, |device, ctx| device.reset(ctx));
        self.bus.waves.start();
    }

    /// The changes of a wire since then: time and new level.
    pub fn recorded(&self, name: &str) -> Vec<(Ps, bool)> {
        let signal = self.bus.waves.signals().iter().position(|signal| signal.name == name);
        let changes = self.bus.waves.recorded().unwrap().map(Result::unwrap);
        changes
            .filter(|change| Some(change.signal as usize) == signal)
            .map(|change| (change.at, change.level))
            .collect()
    }

    /// Brings device 0 out of reset and records its FIFOs' entries from then on.
    pub fn record_entries(&mut self) {
        self.bus.with_device(DeviceId(0), Ps::ZERO, |device, ctx| device.reset(ctx));
        self.bus.activities.start(Kinds::of(&[Kind::Queue]), 1 << 20);
    }

    /// Ends the run at `end`. The entries of a FIFO since [`Bench::record_entries`]: arrival, departure and value of
    /// each.
    pub fn entries(&mut self, name: &str, end: Ps) -> Vec<(u64, u64, u32)> {
        if let Some(device) = &mut self.bus.devices[0] {
            device.finish(end);
        }
        self.bus.activities.end(end);
        let tracks = self.bus.activities.tracks();
        let spans = self.bus.activities.instances(Ps::ZERO, end, usize::MAX);
        let of_fifo = spans.iter().filter(|span| tracks[span.track as usize].activity.name == name);
        let entry = |span: &Span| match span.detail {
            Detail::Value(value) => (span.begin.0, span.end.0, value),
            _ => panic!("an entry without a value"),
        };
        of_fifo.map(entry).collect()
    }

    /// Pending interrupts of core 0.
    pub fn pending(&self) -> u32 {
        self.bus.core_irqs[0].low()
    }
}

impl walk::Port for Bench {
    fn get(&mut self, offset: u32) -> u32 {
        self.value(Ps::ZERO, offset)
    }

    fn put(&mut self, offset: u32, value: u32) {
        self.write(Ps::ZERO, offset, value).unwrap();
    }
}

/// Phandle of a clock of 100 MHz, for [`read_node`].
pub const CLOCK: u32 = 1;
/// Phandle of core 0's interrupt controller, for [`read_node`].
pub const CPU_INTC: u32 = 2;

/// Phandle of device 0, for [`phandle_of`].
const FIRST_DEVICE: u32 = 0x100;

/// Phandle of a device of the bench, for [`read_tree`].
pub const fn phandle_of(device: DeviceId) -> u32 {
    FIRST_DEVICE + device.0
}

/// Builds a device from a node with these properties of cells, and with `cyclescope,read-cycles` of 4 and
/// `cyclescope,write-cycles` of 3 from a clock of 100 MHz. Returns it, and the faults of the node without their place.
pub fn read_node(
    from_node: fn(&mut NodeReader) -> Box<dyn Device>,
    properties: &[(&str, &[u32])],
) -> (Bench, Vec<String>) {
    let sources = b"cyclescope,read-cycles, cyclescope,write-cycles: chosen by the test\0";
    let port = vec![
        ("cyclescope,read-cycles", 4u32.to_be_bytes().to_vec()),
        ("cyclescope,write-cycles", 3u32.to_be_bytes().to_vec()),
        ("cyclescope,sources", sources.to_vec()),
    ];
    build_node(from_node, port, properties)
}

/// As [`read_node`], for a device without a register port's timing: from a node with a clock of 100 MHz and these
/// properties.
pub fn read_plain_node(
    from_node: fn(&mut NodeReader) -> Box<dyn Device>,
    properties: &[(&str, &[u32])],
) -> (Bench, Vec<String>) {
    build_node(from_node, Vec::new(), properties)
}

fn build_node<'a>(
    from_node: fn(&mut NodeReader) -> Box<dyn Device>,
    mut device: Vec<(&'a str, Vec<u8>)>,
    properties: &[(&'a str, &[u32])],
) -> (Bench, Vec<String>) {
    device.push(("clocks", cells(&[CLOCK; 6])));
    device.extend(properties.iter().map(|(name, value)| (*name, cells(value))));
    let clock = node("clock", Some(CLOCK), vec![("clock-frequency", cells(&[100_000_000]))], Vec::new());
    let root = node("", None, Vec::new(), vec![clock, node("dut", None, device, Vec::new())]);
    let (device, faults) = read_tree(&root, from_node);
    (Bench::boxed(device), faults)
}

/// Reads the last child of a root. Returns the result, and the node's faults without their place. Lines may lead to
/// [`CPU_INTC`] and to devices ([`phandle_of`]).
pub fn read_tree<T>(root: &Node, read: impl FnOnce(&mut NodeReader) -> T) -> (T, Vec<String>) {
    let interrupts = |phandle: u32, cells: &[u32]| match phandle {
        CPU_INTC => Some(IrqLine::Core { core: 0, bit: cells[0] }),
        FIRST_DEVICE.. => Some(IrqLine::Device { device: DeviceId(phandle - FIRST_DEVICE), input: cells[0] }),
        _ => None,
    };
    let mut board = Board {
        root,
        faults: Vec::new(),
        parameters: Vec::new(),
        declared: None,
        pins: crate::pins_of,
        external: None,
        interrupts: &interrupts,
    };
    let mut reader = NodeReader::new(root.children.last().unwrap(), &mut board);
    let read = read(&mut reader);
    reader.finish();
    (read, board.faults.iter().map(|fault| fault.kind.to_string()).collect())
}
