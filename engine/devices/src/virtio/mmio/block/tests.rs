use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::virtio::mmio;
use crate::virtio::mmio::transport::*;
use engine::bus::{MapEntry, Target};
use engine::memory::ram::{PortTiming, Ram};

const RAM: u32 = 0x8000_0000;
const RAM_BYTES: u32 = 0x1_0000;
const AVAILABLE: u32 = RAM + 0x400;
const USED: u32 = RAM + 0x800;
const HEADER: u32 = RAM + 0x1000;
const STATUS_BYTE: u32 = RAM + 0x1800;
const DATA: u32 = RAM + 0x2000;
const NOW: Ps = Ps(5);

/// A driver in the hands of the test.
struct Driver {
    bench: Bench,
    given: u16,
}

impl Driver {
    /// A driver of a disk, ready.
    fn of(disk: Disk) -> Driver {
        let mut bench = Bench::new(disk);
        let timing = PortTiming::symmetric(Hz::new(100_000_000).unwrap(), Cycles(0), Cycles(0), 4);
        bench.bus.rams.push(Ram::new(RAM_BYTES, timing));
        bench.bus.map.push(MapEntry::new("ram", RAM, RAM + (RAM_BYTES - 1), Target::Ram(0)).kept_in_caches(true));
        let mut driver = Driver { bench, given: 0 };
        let settings = [
            (STATUS, 3),
            (DRIVER_FEATURES_SEL, 0),
            (DRIVER_FEATURES, FLUSH as u32),
            (DRIVER_FEATURES_SEL, 1),
            (DRIVER_FEATURES, 1),
            (STATUS, 0xb),
            (QUEUE_SEL, 0),
            (QUEUE_NUM, 8),
            (QUEUE_DESC_LOW, RAM),
            (QUEUE_DRIVER_LOW, AVAILABLE),
            (QUEUE_DEVICE_LOW, USED),
            (QUEUE_READY, 1),
            (STATUS, 0xf),
        ];
        settings.into_iter().for_each(|(register, value)| driver.put(register, value));
        driver
    }

    fn put(&mut self, offset: u32, value: u32) {
        self.bench.write(NOW, offset, value).unwrap();
    }

    fn get(&mut self, offset: u32) -> u32 {
        self.bench.value(NOW, offset)
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) {
        assert!(self.bench.bus.poke(addr, bytes));
    }

    fn load<const N: usize>(&self, addr: u32) -> [u8; N] {
        let mut bytes = [0; N];
        assert!(self.bench.bus.peek(addr, &mut bytes));
        bytes
    }

    fn describe(&mut self, number: u16, addr: u32, len: u32, flags: u16) {
        let bytes =
            [&u64::from(addr).to_le_bytes()[..], &len.to_le_bytes(), &flags.to_le_bytes(), &(number + 1).to_le_bytes()];
        self.store(RAM + 16 * u32::from(number), &bytes.concat());
    }

    /// A request with `len` bytes of data; the status that the disk gives.
    fn ask(&mut self, kind: u32, sector: u64, len: u32) -> u8 {
        self.store(HEADER, &[&kind.to_le_bytes()[..], &[0; 4], &sector.to_le_bytes()].concat());
        self.store(STATUS_BYTE, &[0xff]);
        self.describe(0, HEADER, HEADER_BYTES as u32, 1);
        self.describe(1, DATA, len, 1 | if kind == OUT { 0 } else { 2 });
        self.describe(2, STATUS_BYTE, 1, 2);
        self.store(AVAILABLE + 4 + 2 * u32::from(self.given % 8), &[0, 0]);
        self.given += 1;
        self.store(AVAILABLE + 2, &self.given.to_le_bytes());
        self.put(QUEUE_NOTIFY, 0);
        self.load::<1>(STATUS_BYTE)[0]
    }
}

fn disk(sectors: u64, is_read_only: bool) -> Driver {
    Driver::of(Disk::new(sectors, is_read_only, Some(IrqLine::Core { core: 0, bit: 3 })))
}

#[test]
fn a_node_with_a_size_is_a_disk() {
    let properties: &[(&str, &[u32])] =
        &[("interrupts-extended", &[CPU_INTC, 3]), ("cyclescope,capacity-bytes", &[1, 0x400])];
    let (mut bench, faults) = read_plain_node(mmio::from_node, properties);
    let read = [DEVICE_ID, CONFIG, CONFIG + 4, CONFIG + 0xc].map(|offset| bench.value(NOW, offset));
    assert_eq!(read, [2, 0x80_0002, 0, 62]);
    assert_eq!(faults, ["unknown property 'clocks'"].map(str::to_owned));
    let (_, faults) = read_plain_node(mmio::from_node, &[("cyclescope,capacity-bytes", &[0, 100])]);
    assert!(faults.iter().any(|fault| fault.contains("multiple of 512")), "{faults:?}");
}

#[test]
fn what_is_written_is_read_and_interrupts() {
    let mut driver = disk(8, false);
    assert_eq!(driver.get(STATUS), 0xf);
    let sectors: [u8; 1024] = std::array::from_fn(|at| (at % 251) as u8);
    driver.store(DATA, &sectors);
    assert_eq!(driver.ask(OUT, 6, 1024), OK);
    assert_eq!((driver.load::<2>(USED + 2), driver.load::<8>(USED + 4)), ([1, 0], [0, 0, 0, 0, 1, 0, 0, 0]));
    assert_eq!((driver.get(INTERRUPT_STATUS), driver.bench.pending()), (INTERRUPT_STATUS_USED_BUFFER, 1 << 3));
    driver.put(INTERRUPT_ACK, INTERRUPT_STATUS_USED_BUFFER);
    assert_eq!(driver.bench.pending(), 0);
    driver.store(DATA, &[0; 1024]);
    assert_eq!((driver.ask(IN, 6, 1024), driver.load::<1024>(DATA)), (OK, sectors));
    assert_eq!((driver.ask(IN, 0, 512), driver.load::<512>(DATA)), (OK, [0; 512]));
    assert_eq!((driver.ask(GET_ID, 0, 20), driver.load::<20>(DATA)), (OK, *IDENTITY));
    assert_eq!((driver.ask(FLUSHES, 0, 0), driver.ask(99, 0, 512)), (OK, UNSUPPORTED));
    assert!(driver.bench.bus.notes().is_empty(), "{:?}", driver.bench.bus.notes());
}

#[test]
fn what_the_disk_does_not_have_is_an_error() {
    let mut driver = disk(8, false);
    let refused = [(IN, 8, 512), (IN, 7, 1024), (OUT, u64::MAX, 512), (IN, 0, 100)];
    assert_eq!(refused.map(|(kind, sector, len)| driver.ask(kind, sector, len)), [IO_ERROR; 4]);
    let mut driver = disk(8, true);
    driver.put(DEVICE_FEATURES_SEL, 0);
    assert_eq!(driver.get(DEVICE_FEATURES), (SEG_MAX | FLUSH | READ_ONLY) as u32);
    assert_eq!((driver.ask(OUT, 0, 512), driver.ask(IN, 0, 512)), (IO_ERROR, OK));
}

#[test]
fn a_broken_request_needs_a_reset() {
    let mut driver = disk(8, false);
    // Nothing to write the status to.
    driver.describe(0, HEADER, 16, 0);
    driver.store(AVAILABLE + 2, &[1, 0]);
    driver.put(QUEUE_NOTIFY, 0);
    assert_ne!(driver.get(STATUS) & STATUS_DEVICE_NEEDS_RESET, 0);
    assert!(driver.bench.bus.notes()[0].contains("a header of 16 bytes and a status"));
    driver.put(STATUS, 0);
    assert_eq!((driver.get(STATUS), driver.get(DEVICE_ID)), (0, 2));
}
