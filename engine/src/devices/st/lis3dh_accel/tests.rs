use super::*;
use crate::bus::device::{DeviceId, IrqLine};
use crate::devices::bench::{Bench, CLOCK, CPU_INTC, node};
use crate::devices::ingenic::jz4740_gpio::Gpio;
use crate::devices::{Entry, Group, Kind, entries};
use crate::dt::node::Node;
use crate::dt::reader::Board;
use crate::time::Hz;
use crate::wire::spi::{Burst, Lines};

const BOOT_US: u32 = 5000;
const PORT: u32 = 3;
const LINE: u32 = 9;

fn cells(cells: &[u32]) -> Vec<u8> {
    cells.iter().flat_map(|cell| cell.to_be_bytes()).collect()
}

fn chip_node(acceleration_mg: [i32; 3]) -> Node {
    let sources = "cyclescope,boot-us, cyclescope,low-power-turn-on-us, cyclescope,normal-turn-on-us, \
                   cyclescope,settling-samples: chosen by the test\0";
    let properties = vec![
        ("compatible", b"st,lis3dh-accel\0".to_vec()),
        ("reg", cells(&[0])),
        ("interrupt-parent", cells(&[CPU_INTC])),
        ("interrupts", cells(&[LINE])),
        ("cyclescope,acceleration-mg", cells(&acceleration_mg.map(|mg| mg as u32))),
        ("cyclescope,boot-us", cells(&[BOOT_US])),
        ("cyclescope,low-power-turn-on-us", cells(&[1000])),
        ("cyclescope,normal-turn-on-us", cells(&[1600])),
        ("cyclescope,settling-samples", cells(&[7])),
        ("cyclescope,sources", sources.as_bytes().to_vec()),
    ];
    node("accel", None, properties, Vec::new())
}

fn read_tree<T>(root: &Node, read: impl FnOnce(&mut NodeReader) -> T) -> (T, Vec<String>) {
    let lines = |phandle: u32, cells: &[u32]| match phandle {
        CPU_INTC => Some(IrqLine::Core { core: 0, bit: cells[0] }),
        PORT => Some(IrqLine::Device { device: DeviceId(1), input: cells[0] }),
        _ => None,
    };
    let mut board = Board {
        root,
        faults: Vec::new(),
        parameters: Vec::new(),
        declared: None,
        ports: crate::devices::is_port,
        interrupts: &lines,
    };
    let mut reader = NodeReader::new(root.children.last().unwrap(), &mut board);
    let read = read(&mut reader);
    reader.finish();
    (read, board.faults.iter().map(|fault| fault.kind.to_string()).collect())
}

/// The chip on a wire of 1 MHz, and the time.
struct Rig {
    chip: Box<dyn SpiTarget>,
    now: Ps,
}

impl Rig {
    /// Right after boot.
    fn new(acceleration_mg: [i32; 3]) -> Rig {
        let root = node("", None, Vec::new(), vec![chip_node(acceleration_mg)]);
        let (chip, faults) = read_tree(&root, from_node);
        // The test's reader has no host that reads the interrupt.
        assert_eq!(faults, [""; 0]);
        Rig { chip, now: Ps::from_us(BOOT_US.into()) }
    }

    fn access(&mut self, bytes: &[u8]) -> Vec<u8> {
        access(self.chip.as_mut(), &mut self.now, bytes)
    }

    fn read(&mut self, address: u8) -> u8 {
        self.access(&[0x80 | address, 0])[1]
    }

    fn write(&mut self, address: usize, value: u8) {
        self.access(&[address as u8, value]);
    }

    /// The time at which INT1 goes high next.
    fn ready_at(&mut self) -> Ps {
        assert_eq!(self.chip.interrupt(), Some(false));
        let due = self.chip.wakes_at().unwrap();
        self.chip.advance(due - Ps(1));
        assert_eq!(self.chip.interrupt(), Some(false));
        self.chip.advance(due);
        assert_eq!(self.chip.interrupt(), Some(true));
        self.now = due;
        due
    }

    fn outputs(&mut self) -> [i16; 3] {
        let shown = self.access(&[0xc0 | 0x28, 0, 0, 0, 0, 0, 0]);
        [1, 3, 5].map(|low| i16::from_le_bytes([shown[low], shown[low + 1]]))
    }
}

fn access(chip: &mut dyn SpiTarget, now: &mut Ps, bytes: &[u8]) -> Vec<u8> {
    chip.select(*now);
    let mut exchange = |byte: &u8| {
        *now += Ps::from_us(8);
        chip.shift(Burst::byte_out(Lines::Single, *byte), *now) as u8
    };
    let shown = bytes.iter().map(&mut exchange).collect();
    chip.deselect(*now);
    shown
}

#[test]
fn registers_are_those_of_the_sheet() {
    let mut rig = Rig::new([0; 3]);
    assert_eq!(rig.read(0x0f), 0x33);
    for address in 0..0x40 {
        let resets = [(0x0f, 0x33), (0x1e, 0x10), (0x20, 0x07)];
        let reset = resets.iter().find(|(known, _)| *known == address).map_or(0, |(_, value)| *value);
        assert_eq!(rig.read(address as u8), reset, "{address:#x}");
    }
    for address in (0..0x40).filter(|address| *address != CTRL_REG1) {
        let reset = rig.read(address as u8);
        let mask = MAP.writable(address);
        for written in [0xff, 0, 0xff] {
            rig.write(address, written);
            assert_eq!(rig.read(address as u8), reset & !mask | written & mask, "{address:#x}");
        }
        rig.write(address, reset);
    }
    let notes = rig.chip.take_notes();
    assert!(notes.iter().any(|note| note.contains("register 0x2e")), "{notes:?}");
}

#[test]
fn addresses_count_up_where_the_access_says_so() {
    let mut rig = Rig::new([0; 3]);
    rig.access(&[0x40 | 0x32, 1, 2, 3]);
    assert_eq!(rig.access(&[0xc0 | 0x32, 0, 0, 0])[1..], [1, 2, 3]);
    assert_eq!(rig.access(&[0x80 | 0x32, 0, 0, 0])[1..], [1, 1, 1]);
}

/// The first data comes after the turn-on time of its mode, the next ones at the data rate.
#[test]
fn data_is_ready_at_its_time() {
    // CTRL_REG1 and CTRL_REG4, turn-on time and period in nanoseconds: 1.6 ms and 1 s / 100; 1 ms and 1 s / 5376; 7 and
    // 1 s / 1344.
    let cases = [
        (0x57, 0x00, 1_600_000_000, 10_000_000_000),
        (0x9f, 0x00, 1_000_000_000, 186_011_905),
        (0x97, 0x08, 5_208_333_333, 744_047_620),
    ];
    for (control, mode, turn_on, period) in cases {
        let mut rig = Rig::new([0, 0, 1000]);
        rig.write(CTRL_REG3, I1_ZYXDA);
        rig.write(CTRL_REG4, mode);
        assert_eq!(rig.chip.wakes_at(), None);
        rig.write(CTRL_REG1, control);
        let began = rig.now;
        assert_eq!(rig.ready_at(), began + Ps(turn_on));
        assert_eq!(rig.read(STATUS_REG as u8), 0x0f);
        rig.outputs();
        assert_eq!(rig.read(STATUS_REG as u8), 0);
        let second = rig.ready_at() - (began + Ps(turn_on));
        assert!(second.0.abs_diff(period) <= 1, "{second}");
    }
}

#[test]
fn a_change_of_mode_takes_samples() {
    let mut rig = Rig::new([0; 3]);
    rig.write(CTRL_REG3, I1_ZYXDA);
    rig.write(CTRL_REG1, 0x77);
    rig.ready_at();
    rig.outputs();
    // To high resolution: 7 samples at 400 Hz; back: one.
    for (mode, samples) in [(0x08, 7), (0x00, 1)] {
        rig.write(CTRL_REG4, mode);
        let began = rig.now;
        assert_eq!(rig.ready_at(), began + Ps::from_us(2500 * samples));
        rig.outputs();
    }
}

#[test]
fn outputs_are_left_justified_by_mode_and_range() {
    let mut rig = Rig::new([1000, -500, 3000]);
    // 16, 4, 1 mg a digit at 2 g in 8, 10, 12 bits; 2 mg at 4 g in 12 bits; 12 mg at 16 g.
    let cases = [
        (0x5f, 0x00, [62 << 8, -32 << 8, 127 << 8]),
        (0x57, 0x00, [250 << 6, -125 << 6, 511 << 6]),
        (0x57, 0x08, [1000 << 4, -500 << 4, 2047 << 4]),
        (0x57, 0x18, [500 << 4, -250 << 4, 1500 << 4]),
        (0x57, 0x38, [83 << 4, -41 << 4, 250 << 4]),
    ];
    for (control, mode, expected) in cases {
        rig.write(CTRL_REG4, mode);
        rig.write(CTRL_REG1, control);
        rig.now += Ps::from_us(100_000);
        assert_eq!(rig.outputs(), expected, "{control:#x} {mode:#x}");
    }
}

#[test]
fn unread_data_is_overrun() {
    let mut rig = Rig::new([0; 3]);
    rig.write(CTRL_REG1, 0x53);
    rig.now += Ps::from_us(1600 + 5000);
    assert_eq!(rig.read(STATUS_REG as u8), 0x0b);
    rig.now += Ps::from_us(10_000);
    assert_eq!(rig.read(STATUS_REG as u8), 0xbb);
    rig.read(0x29);
    assert_eq!(rig.read(STATUS_REG as u8), 0xaa);
}

#[test]
fn an_access_before_boot_and_a_cut_byte_are_noted() {
    let mut rig = Rig::new([0; 3]);
    rig.now = Ps::from_us(100);
    rig.write(CTRL_REG1, 0x57);
    assert_eq!(rig.chip.take_notes().len(), 1);
    rig.now = Ps::from_us(BOOT_US.into());
    assert_eq!(rig.read(CTRL_REG1 as u8), 0x07);
    rig.chip.select(rig.now);
    rig.chip.shift(Burst::output(Lines::Single, crate::wire::spi::Rate::Single, 5, 0), rig.now + Ps::from_us(5));
    rig.chip.deselect(rig.now + Ps::from_us(6));
    assert!(rig.chip.take_notes()[0].contains("within a byte"));
}

/// A controller's node, with what the models need among themselves: what one does not know is a fault that does not
/// count here.
fn controller(entry: &Entry) -> Bench {
    let properties = vec![
        ("compatible", [entry.compatible.as_bytes(), &[0]].concat()),
        ("reg", cells(&[0x1000, 0x100, 0x10_0000, 0x1000])),
        ("clocks", cells(&[CLOCK; 3])),
        ("clock-frequency", cells(&[1_000_000])),
        ("num-chipselects", cells(&[1])),
        ("sck-gpios", cells(&[PORT, 0, 0])),
        ("mosi-gpios", cells(&[PORT, 1, 0])),
        ("miso-gpios", cells(&[PORT, 2, 0])),
        ("cs-gpios", cells(&[PORT, 3, 0])),
        ("xlnx,sck-ratio", cells(&[16])),
        ("cyclescope,read-cycles", cells(&[2])),
        ("cyclescope,write-cycles", cells(&[2])),
        ("cyclescope,tx-sync-clocks", cells(&[4])),
        ("cyclescope,rx-sync-cycles", cells(&[4])),
    ];
    let clock = node("clock", Some(CLOCK), vec![("clock-frequency", cells(&[100_000_000]))], Vec::new());
    let port = vec![("compatible", b"ingenic,jz4740-gpio\0".to_vec()), ("gpio-controller", Vec::new())];
    let port = node("gpio", Some(PORT), port, Vec::new());
    let dut = node("dut", None, properties, vec![chip_node([0, 0, 1000])]);
    let root = node("", None, Vec::new(), vec![clock, port, dut]);
    let Kind::Device(_, from_node) = entry.model.kind else { panic!("{} is no device", entry.compatible) };
    let (device, _) = read_tree(&root, from_node);
    let mut bench = Bench::boxed(device).and(Gpio::new(Hz::new(100_000_000).unwrap(), None));
    bench.bus.wires.add_port(DeviceId(1));
    for id in [DeviceId(0), DeviceId(1)] {
        bench.bus.with_device(id, Ps::ZERO, |device, ctx| device.reset(ctx));
    }
    bench
}

#[test]
fn data_ready_interrupts_behind_every_controller() {
    let mut controllers = 0;
    for entry in entries().iter().filter(|entry| entry.model.group == Group::Spi) {
        controllers += 1;
        let mut bench = controller(entry);
        let mut now = Ps::from_us(10_000);
        // What is done to the chip, as if on the wire; then the controller hears of it as of any event.
        let accesses = |bench: &mut Bench, mut now: Ps, accesses: &[&[u8]]| {
            bench.bus.with_device(DeviceId(0), now, |device, ctx| {
                let mut chips = device.chips();
                accesses.iter().for_each(|bytes| drop(access(chips[0], &mut now, bytes)));
                ctx.now = now;
                device.event(0, ctx);
            });
            now
        };
        now = accesses(&mut bench, now, &[&[CTRL_REG3 as u8, I1_ZYXDA], &[CTRL_REG1 as u8, 0x57]]);
        let first = now + Ps::from_us(1600);
        for ready in [first, first + Ps::from_us(10_000)] {
            bench.run(ready - Ps(1));
            assert_eq!(bench.pending(), 0, "{}", entry.compatible);
            bench.run(ready);
            assert_eq!(bench.pending(), 1 << LINE, "{}", entry.compatible);
            accesses(&mut bench, ready, &[&[0xe8, 0, 0, 0, 0, 0, 0]]);
            assert_eq!(bench.pending(), 0, "{}", entry.compatible);
        }
    }
    assert_eq!(controllers, 8);
}
