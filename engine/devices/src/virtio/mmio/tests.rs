use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use engine::bus::device::{Device, DeviceId, ExitRequest};
use engine::bus::{MapEntry, Target};
use engine::memory::ram::{PortTiming, Ram};
use engine::pipe::Goal;
use engine::time::{Cycles, Hz, Ps};

const RAM: u32 = 0x8000_0000;
const RAM_BYTES: u32 = 0x1_0000;
const SIZE: u32 = 4;
const BUFFERS: u32 = RAM + 0x8000;
const BUFFER_BYTES: u32 = 0x100;

/// A driver in the hands of the test: rings in memory, and the device's registers.
struct Driver {
    bench: Bench,
    given: [u16; 2],
}

fn descriptors(queue: usize) -> u32 {
    RAM + 0x1000 * queue as u32
}

fn available(queue: usize) -> u32 {
    descriptors(queue) + 0x400
}

fn used(queue: usize) -> u32 {
    descriptors(queue) + 0x800
}

fn buffer(queue: usize, head: u16) -> u32 {
    BUFFERS + BUFFER_BYTES * (u32::from(head) + SIZE * queue as u32)
}

impl Driver {
    /// Device and memory, fresh from reset.
    fn new() -> Driver {
        let mut bench = Bench::new(VirtioMmio::new(Some(IrqLine::Core { core: 0, bit: 3 })));
        let clock = Hz::new(100_000_000).unwrap();
        let timing = PortTiming::symmetric(clock, Cycles(0), Cycles(0), 4);
        bench.bus.rams.push(Ram::new(RAM_BYTES, timing));
        bench.bus.map.push(MapEntry::new("ram", RAM, RAM + (RAM_BYTES - 1), Target::Ram(0)).kept_in_caches(true));
        Driver { bench, given: [0; 2] }
    }

    /// A driver that has set up both queues and is ready.
    fn ready() -> Driver {
        let mut driver = Driver::new();
        driver.negotiate(VERSION_1);
        for queue in [RECEIVE, TRANSMIT] {
            driver.set_up(queue, SIZE);
        }
        driver.put(STATUS, 0xf);
        driver
    }

    fn put(&mut self, offset: u32, value: u32) {
        self.bench.write(Ps(5), offset, value).unwrap();
    }

    fn get(&mut self, offset: u32) -> u32 {
        self.bench.value(Ps(5), offset)
    }

    fn negotiate(&mut self, features: u64) {
        self.put(STATUS, 3);
        for half in [0, 1] {
            self.put(DRIVER_FEATURES_SEL, half);
            self.put(DRIVER_FEATURES, (features >> (32 * half)) as u32);
        }
        self.put(STATUS, 0xb);
    }

    fn set_up(&mut self, queue: usize, size: u32) {
        self.put(QUEUE_SEL, queue as u32);
        self.put(QUEUE_NUM, size);
        self.put(QUEUE_DESC_LOW, descriptors(queue));
        self.put(QUEUE_DRIVER_LOW, available(queue));
        self.put(QUEUE_DEVICE_LOW, used(queue));
        self.put(QUEUE_READY, 1);
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) {
        assert!(self.bench.bus.poke(addr, bytes));
    }

    fn load<const N: usize>(&self, addr: u32) -> [u8; N] {
        let mut bytes = [0; N];
        assert!(self.bench.bus.peek(addr, &mut bytes));
        bytes
    }

    fn describe(&mut self, queue: usize, descriptor: u16, addr: u32, len: u32, flags: u16, next: u16) {
        let at = descriptors(queue) + 16 * u32::from(descriptor);
        let bytes = [&u64::from(addr).to_le_bytes()[..], &len.to_le_bytes(), &flags.to_le_bytes(), &next.to_le_bytes()];
        self.store(at, &bytes.concat());
    }

    fn make_available(&mut self, queue: usize, head: u16) {
        let slot = u32::from(self.given[queue]) % SIZE;
        self.store(available(queue) + 4 + 2 * slot, &head.to_le_bytes());
        self.given[queue] = self.given[queue].wrapping_add(1);
        self.store(available(queue) + 2, &self.given[queue].to_le_bytes());
    }

    /// Makes a receive buffer of `len` bytes available.
    fn offer(&mut self, head: u16, len: u32) {
        self.describe(RECEIVE, head, buffer(RECEIVE, head), len, 2, 0);
        self.make_available(RECEIVE, head);
        self.put(QUEUE_NOTIFY, RECEIVE as u32);
    }

    fn send(&mut self, head: u16, bytes: &[u8]) {
        self.store(buffer(TRANSMIT, head), bytes);
        self.describe(TRANSMIT, head, buffer(TRANSMIT, head), bytes.len() as u32, 0, 0);
        self.make_available(TRANSMIT, head);
        self.put(QUEUE_NOTIFY, TRANSMIT as u32);
    }

    /// Used entry `index`: descriptor and length. The index of the ring is beyond it.
    fn used(&self, queue: usize, index: u16) -> (u32, u32) {
        let made = u16::from_le_bytes(self.load(used(queue) + 2));
        assert!(made.wrapping_sub(index) as i16 > 0, "entry {index} is not there: {made} are");
        let at = used(queue) + 4 + 8 * (u32::from(index) % SIZE);
        (u32::from_le_bytes(self.load(at)), u32::from_le_bytes(self.load(at + 4)))
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.pipe(|pipe| pipe.feed(bytes));
        self.bench.bus.events.schedule(Ps(7), DeviceId(0), 0);
        self.bench.run(Ps(7));
    }

    fn pipe<T>(&mut self, call: impl FnOnce(&mut Pipe) -> T) -> T {
        call(self.bench.bus.devices[0].as_mut().unwrap().pipe().unwrap())
    }

    fn is_broken(&mut self, why: &str) {
        assert_ne!(self.get(STATUS) & STATUS_DEVICE_NEEDS_RESET, 0);
        assert_eq!(self.get(INTERRUPT_STATUS), INTERRUPT_STATUS_CONFIGURATION_CHANGE);
        assert!(self.bench.bus.notes()[0].contains(why), "{:?}", self.bench.bus.notes());
    }
}

#[test]
fn registers_are_those_of_the_table() {
    let mut driver = Driver::new();
    walk::device_keeps_its_table(MAP.rows, &["QueueReady", "Status"], &mut driver.bench);
}

#[test]
fn a_node_needs_registers_and_may_have_an_interrupt() {
    let (mut bench, faults) = read_plain_node(from_node, &[("interrupts-extended", &[CPU_INTC, 3])]);
    assert_eq!((bench.value(Ps(0), MAGIC_VALUE), bench.value(Ps(0), DEVICE_ID)), (0x7472_6976, 3));
    assert_eq!(faults, ["unknown property 'clocks'"].map(str::to_owned), "no property but its own is known");
}

#[test]
fn version_1_is_offered_and_nothing_else_taken() {
    let mut driver = Driver::new();
    assert_eq!(driver.get(DEVICE_FEATURES), 0);
    driver.put(DEVICE_FEATURES_SEL, 1);
    assert_eq!(driver.get(DEVICE_FEATURES), 1);
    for (features, status) in [(VERSION_1, 0xb), (0, 0x3), (VERSION_1 | 1, 0x3)] {
        driver.put(STATUS, 0);
        driver.negotiate(features);
        assert_eq!(driver.get(STATUS), status, "{features:#x}");
    }
}

#[test]
fn bytes_of_the_host_fill_receive_buffers_in_order() {
    let mut driver = Driver::ready();
    driver.pipe(|pipe| pipe.wait_for(Some(Goal::Open)));
    driver.offer(2, 4);
    assert!(std::mem::take(&mut driver.bench.bus.paused) && driver.bench.bus.exit.take().is_some());
    driver.feed(b"abcdef");
    assert_eq!((driver.used(RECEIVE, 0), driver.load(buffer(RECEIVE, 2))), ((2, 4), *b"abcd"));
    assert_eq!((driver.get(INTERRUPT_STATUS), driver.bench.pending()), (INTERRUPT_STATUS_USED_BUFFER, 1 << 3));
    driver.put(INTERRUPT_ACK, INTERRUPT_STATUS_USED_BUFFER);
    assert_eq!(driver.bench.pending(), 0);
    // Bytes without a buffer wait for one.
    driver.offer(0, 4);
    assert_eq!((driver.used(RECEIVE, 1), driver.load(buffer(RECEIVE, 0))), ((0, 2), *b"ef"));
    assert_eq!(driver.bench.pending(), 1 << 3);
}

#[test]
fn bytes_are_taken_when_their_buffer_comes_back() {
    let mut driver = Driver::ready();
    driver.offer(0, 4);
    driver.offer(1, 4);
    driver.feed(b"abcdef");
    assert_eq!(driver.pipe(|pipe| (pipe.waiting_bytes(), pipe.taken_bytes())), (0, 0));
    driver.pipe(|pipe| pipe.wait_for(Some(Goal::Taken(6))));
    driver.offer(1, 4);
    assert_eq!((driver.pipe(|pipe| pipe.taken_bytes()), driver.bench.bus.exit), (2, None));
    driver.offer(0, 4);
    assert_eq!((driver.pipe(|pipe| pipe.reached()), driver.bench.bus.paused), (Some(Ps(5)), true));
}

#[test]
fn what_the_driver_sends_goes_to_the_host() {
    let mut driver = Driver::ready();
    driver.pipe(|pipe| pipe.wait_for(Some(Goal::Sent(5))));
    driver.describe(TRANSMIT, 3, buffer(TRANSMIT, 3), 2, 0, 0);
    driver.store(buffer(TRANSMIT, 3), b"cd");
    driver.store(buffer(TRANSMIT, 1), b"ab");
    driver.describe(TRANSMIT, 1, buffer(TRANSMIT, 1), 2, 1, 3);
    driver.make_available(TRANSMIT, 1);
    driver.put(QUEUE_NOTIFY, TRANSMIT as u32);
    assert_eq!((driver.used(TRANSMIT, 0), driver.bench.bus.paused), ((1, 0), false));
    for iteration in 1..7 {
        driver.send(0, b"e");
        assert_eq!(driver.used(TRANSMIT, iteration), (0, 0));
    }
    assert_eq!(driver.pipe(Pipe::drain), b"abcdeeeeee");
    assert!(driver.bench.bus.paused);
}

#[test]
fn a_driver_that_wants_no_interrupts_gets_none() {
    let mut driver = Driver::ready();
    for queue in [RECEIVE, TRANSMIT] {
        driver.store(available(queue), &1u16.to_le_bytes());
    }
    driver.send(0, b"a");
    driver.offer(0, 4);
    driver.feed(b"b");
    assert_eq!((driver.used(RECEIVE, 0), driver.get(INTERRUPT_STATUS)), ((0, 1), 0));
}

#[test]
fn an_end_of_the_run_outranks_a_pause() {
    let mut driver = Driver::ready();
    let both = |_: &mut dyn Device, ctx: &mut Ctx| {
        ctx.pause();
        ctx.exit(3);
        ctx.pause();
    };
    driver.bench.bus.with_device(DeviceId(0), Ps(9), both);
    assert_eq!(driver.bench.bus.exit, Some(ExitRequest { code: 3, at: Ps(9) }));
    assert!(!driver.bench.bus.paused);
}

#[test]
fn a_reset_forgets_the_queues_and_what_was_not_read() {
    let mut driver = Driver::ready();
    driver.offer(0, 4);
    driver.feed(b"abcdef");
    driver.put(STATUS, 0);
    assert_eq!((driver.get(STATUS), driver.get(QUEUE_READY), driver.get(INTERRUPT_STATUS)), (0, 0, 0));
    assert_eq!((driver.bench.pending(), driver.pipe(|pipe| pipe.taken_bytes())), (0, 4));
    assert!(!driver.pipe(|pipe| pipe.wait_for(Some(Goal::Open))));
    driver.put(QUEUE_NOTIFY, 0);
    assert!(driver.bench.bus.notes()[0].contains("before the driver is ready"));
    // Bytes that no buffer had got are still there for the next driver.
    driver.negotiate(VERSION_1);
    driver.store(available(RECEIVE) + 2, &[0; 2]);
    driver.store(used(RECEIVE) + 2, &[0; 2]);
    driver.given = [0; 2];
    driver.set_up(RECEIVE, SIZE);
    driver.put(STATUS, 0xf);
    driver.offer(0, 4);
    assert_eq!((driver.used(RECEIVE, 0), driver.load(buffer(RECEIVE, 0))), ((0, 2), *b"ef"));
}

#[test]
fn a_queue_that_cannot_be_is_refused() {
    for (register, value, why) in [
        (QUEUE_NUM, 3, "a queue of 3 descriptors: a power of two up to 64 is needed"),
        (QUEUE_NUM, 128, "a queue of 128 descriptors"),
        (QUEUE_DESC_LOW, RAM + 8, "the descriptor table is at 0x80000008, which is no multiple of 16"),
        (QUEUE_DRIVER_LOW, RAM + RAM_BYTES, "the available ring at 0x80010000 is not in memory"),
        (QUEUE_DEVICE_HIGH, 1, "the used ring at 0x180000800 is not in memory"),
    ] {
        let mut driver = Driver::ready();
        driver.put(QUEUE_SEL, 0);
        driver.put(QUEUE_READY, 0);
        driver.put(register, value);
        assert_eq!(driver.bench.bus.notes().len(), 0);
        driver.put(QUEUE_READY, 1);
        driver.is_broken(why);
    }
}

#[test]
fn broken_rings_are_reported_with_their_numbers() {
    type Break = fn(&mut Driver);
    let cases: [(&str, Break); 7] = [
        ("index went from 0 to 40000: at most 4 can be new", |driver| {
            driver.store(available(TRANSMIT) + 2, &40000u16.to_le_bytes());
        }),
        ("descriptor 9 is asked for: the table has 4", |driver| driver.make_available(TRANSMIT, 9)),
        ("the chain of descriptor 1 has no end", |driver| {
            driver.describe(TRANSMIT, 1, buffer(TRANSMIT, 1), 1, 1, 1);
            driver.make_available(TRANSMIT, 1);
        }),
        ("descriptor 0: no memory at 0x8000ffff, 2 bytes", |driver| {
            driver.describe(TRANSMIT, 0, RAM + (RAM_BYTES - 1), 2, 0, 0);
            driver.make_available(TRANSMIT, 0);
        }),
        ("descriptor 0: no memory at 0x80000000, 4294967295 bytes", |driver| {
            driver.describe(TRANSMIT, 0, RAM, u32::MAX, 0, 0);
            driver.make_available(TRANSMIT, 0);
        }),
        ("descriptor 0 is to be written, in a queue whose buffers are read", |driver| {
            driver.describe(TRANSMIT, 0, RAM, 1, 2, 0);
            driver.make_available(TRANSMIT, 0);
        }),
        ("and flags 0x4", |driver| {
            driver.describe(TRANSMIT, 0, RAM, 1, 4, 0);
            driver.make_available(TRANSMIT, 0);
        }),
    ];
    for (why, break_it) in cases {
        let mut driver = Driver::ready();
        break_it(&mut driver);
        driver.put(QUEUE_NOTIFY, TRANSMIT as u32);
        driver.is_broken(why);
        driver.send(0, b"a");
        assert_eq!(driver.pipe(|pipe| pipe.sent_bytes()), 0);
    }
}

#[test]
fn narrow_accesses_to_control_registers_have_no_effect() {
    let mut driver = Driver::ready();
    let clear = |device: &mut dyn Device, ctx: &mut Ctx| device.write(0, STATUS, AccessSize::Byte, 0, ctx);
    driver.bench.bus.with_device(DeviceId(0), Ps(9), clear).unwrap();
    assert_eq!(driver.get(STATUS), 0xf);
    assert_eq!(driver.bench.bus.notes().len(), 1);
}

#[test]
fn a_queue_in_use_keeps_its_settings() {
    let mut driver = Driver::ready();
    driver.offer(0, 4);
    driver.put(QUEUE_SEL, RECEIVE as u32);
    driver.put(QUEUE_NUM, 0);
    driver.put(QUEUE_DEVICE_HIGH, 1);
    assert!(driver.bench.bus.notes()[0].contains("QueueReady"), "{:?}", driver.bench.bus.notes());
    driver.feed(b"ab");
    assert_eq!(driver.used(RECEIVE, 0), (0, 2));
}

#[test]
fn a_queue_that_is_given_up_takes_its_buffers_along() {
    let mut driver = Driver::ready();
    driver.offer(0, 4);
    driver.put(QUEUE_SEL, RECEIVE as u32);
    driver.put(QUEUE_READY, 0);
    driver.put(QUEUE_NUM, 0);
    driver.feed(b"ab");
    assert_eq!((driver.get(INTERRUPT_STATUS), driver.pipe(|pipe| pipe.waiting_bytes())), (0, 2));
}

#[test]
fn more_receive_buffers_than_descriptors_are_refused() {
    let mut driver = Driver::ready();
    for head in 0..SIZE as u16 {
        driver.offer(head, 4);
    }
    driver.offer(0, 4);
    driver.is_broken("buffer 0 is available again before it was used");
}

#[test]
fn a_transmit_buffer_that_is_too_long_is_refused() {
    let mut driver = Driver::ready();
    let half = MOST_SENT_BYTES as u32 / 2;
    for (descriptor, len) in [(0, half), (1, half + 1)] {
        driver.describe(TRANSMIT, descriptor, RAM, len, 1 - descriptor, 1);
    }
    driver.make_available(TRANSMIT, 0);
    driver.put(QUEUE_NOTIFY, TRANSMIT as u32);
    driver.is_broken("descriptor 0: more than 65536 bytes at once");
}
