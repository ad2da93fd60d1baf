//! The controller on a bus with memory and a register, all on one route.

use super::*;
use crate::bench::dma::{self, mhz};
use crate::bench::{CPU_INTC, read_plain_node};
use crate::registers::walk;
use engine::bus::Bus;
use engine::memory::ram::{PortTiming, Ram};
use engine::polling::Poll;

const RAM: u32 = 0x1000_0000;
const DMA: u32 = 0x5800_0000;
const PORT: u32 = 0x4000_0000;
/// MDMA_CxTCR: both addresses go up by words, in bursts of 16 of them; buffers of 128 bytes; by software.
const COPY: u32 = 2 | 2 << 2 | 2 << 4 | 2 << 6 | 2 << 8 | 2 << 10 | 4 << 12 | 4 << 15 | 127 << 18 | SWRM;
const SWRM: u32 = 1 << 30;
const BLOCK: u32 = 1 << 28;
const BLOCKS: u32 = 2 << 28;
const LIST: u32 = 3 << 28;
const START: u32 = CCR_EN | CCR_SWRQ;
/// The flags of a block that is the whole transfer.
const DONE: u32 = CISR_TCIF | CISR_BTIF | CISR_BRTIF | CISR_CTCIF;

fn params() -> Params {
    Params {
        clock: mhz(100).into(),
        setup_cycles: Cycles(10),
        buffer_cycles: Cycles(2),
        interrupts: [4, 5].map(|bit| Some(IrqLine::Core { core: 0, bit })),
        gate: ClockGate::default(),
    }
}

/// A register that reads as a count, and shifts in the digits that are written.
#[derive(engine::state::State)]
struct Port(u32);

impl Device for Port {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        self.0 += 1;
        Ok(Reply::read(self.0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        self.0 = self.0 * 16 + value;
        Ok(Reply::written(ctx.now))
    }
}

impl Polled for Port {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

struct Rig {
    bus: Bus,
    now: Ps,
}

fn rig() -> Rig {
    Rig { bus: dma::bus(RAM, (DMA, Mdma::new(params())), (PORT, Port(0))), now: Ps::ZERO }
}

impl walk::Port for Rig {
    fn get(&mut self, offset: u32) -> u32 {
        self.bus.run_events(self.now);
        let access = self.bus.read(self.now, DMA + offset, AccessSize::Word).unwrap();
        self.now = access.done;
        access.value
    }

    fn put(&mut self, offset: u32, value: u32) {
        self.bus.run_events(self.now);
        self.now = self.bus.write(self.now, DMA + offset, AccessSize::Word, value).unwrap().done;
    }
}

impl Rig {
    fn set(&mut self, channel: u32, registers: &[(u32, u32)]) {
        for (register, value) in registers {
            walk::Port::put(self, PLACES.first + channel * PLACES.bytes + register, *value);
        }
    }

    fn of(&mut self, channel: u32, register: u32) -> u32 {
        walk::Port::get(self, PLACES.first + channel * PLACES.bytes + register)
    }

    fn copy(&mut self, source: u32, destination: u32, bytes: u32, transfer: u32) {
        self.set(0, &[(CTCR, transfer), (CBNDTR, bytes), (CSAR, source), (CDAR, destination)]);
    }

    fn store(&mut self, at: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(self.bus.poke(at, &bytes));
    }

    fn words(&self, at: u32, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        assert!(self.bus.peek(at, &mut bytes));
        bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }

    /// Writes MDMA_CxCR and waits. Returns the clocks from its arrival to the last event.
    fn run(&mut self, channel: u32, control: u32) -> u64 {
        self.set(channel, &[(CCR, control)]);
        // The response takes one clock.
        let begun = mhz(100).cycles_until_ceil(self.now).0 - 1;
        let mut last = self.now;
        while self.bus.events.next_due() != Ps::MAX {
            last = self.bus.events.next_due();
            self.bus.run_events(last);
        }
        self.now = self.now.max(last) + Ps::from_us(10);
        mhz(100).cycles_until_ceil(last).0 - begun
    }

    fn pending(&self) -> u32 {
        self.bus.core_irqs[0].low()
    }
}

fn count(from: u32, words: u32) -> Vec<u32> {
    (from..from + words).collect()
}

#[test]
fn a_channel_keeps_its_table() {
    struct Last(Rig);
    impl walk::Port for Last {
        fn get(&mut self, offset: u32) -> u32 {
            self.0.of(31, offset)
        }
        fn put(&mut self, offset: u32, value: u32) {
            self.0.set(31, &[(offset, value)]);
        }
    }
    walk::device_keeps_its_map(&MAP, &["MDMA_CxCR"], &mut Last(rig()));
}

#[test]
fn a_block_is_copied_in_bursts_and_buffers() {
    let mut rig = rig();
    rig.store(RAM, &count(1, 48));
    rig.copy(RAM, RAM + 0x1000, 40 * 4, COPY | BLOCK);
    // A burst of n words: 2 clocks there, 3 and n - 1 at the port, 1 back. A buffer of 32 words, and one of 8; the last
    // event is the last write.
    let burst = |words: u64| 2 + 3 + words - 1 + 1;
    assert_eq!(rig.run(0, START), 10 + 4 * burst(16) + 2 + burst(8));
    assert_eq!(rig.words(RAM + 0x1000, 41), [count(1, 40), vec![0]].concat());
    assert_eq!((rig.of(0, CISR), rig.of(0, CCR), rig.of(0, CBNDTR)), (DONE, 0, 0));
    assert_eq!((rig.of(0, CSAR), rig.of(0, CDAR)), (RAM + 160, RAM + 0x1000 + 160));
    rig.set(0, &[(CIFCR, CISR_CTCIF | CISR_TCIF)]);
    assert_eq!(rig.of(0, CISR), CISR_BTIF | CISR_BRTIF);
}

#[test]
fn a_request_moves_what_trgm_says() {
    for (trgm, steps) in [(0, [32, 40, 72, 80]), (BLOCK, [40, 80, 80, 80]), (BLOCKS, [80, 80, 80, 80])] {
        let mut rig = rig();
        rig.store(RAM, &count(1, 80));
        rig.copy(RAM, RAM + 0x1000, 160 | 1 << 20, COPY | trgm);
        let moved = steps.map(|_| {
            let enabled = rig.of(0, CCR) | u32::from(rig.of(0, CISR) == 0);
            rig.run(0, enabled | if enabled != 0 { CCR_SWRQ } else { 0 });
            rig.words(RAM + 0x1000, 80).iter().filter(|word| **word != 0).count()
        });
        assert_eq!(moved, steps, "{trgm:#x}");
        assert_eq!((rig.of(0, CISR), rig.of(0, CCR)), (DONE, 0));
    }
}

#[test]
fn repeated_blocks_update_their_addresses() {
    let mut rig = rig();
    rig.store(RAM, &count(1, 16));
    // Three blocks of two words: 8 bytes skipped after each at the destination, 4 back at the source.
    rig.set(0, &[(CBRUR, 8 << 16 | 4)]);
    rig.copy(RAM, RAM + 0x100, 8 | 1 << 18 | 2 << 20, COPY | BLOCKS);
    rig.run(0, START);
    assert_eq!(rig.words(RAM + 0x100, 11), [1, 2, 0, 0, 2, 3, 0, 0, 3, 4, 0]);
}

#[test]
fn a_list_goes_from_node_to_node() {
    for (trgm, steps) in [(LIST, [3, 3, 3]), (BLOCK, [1, 2, 3])] {
        let mut rig = rig();
        rig.store(RAM, &[7, 8, 9]);
        let node = |index: u32, link| [COPY | trgm, 4, RAM + 4 * index, RAM + 0x100 + 4 * index, 0, link, 0, 0, 0, 0];
        rig.store(RAM + 0x400, &node(1, RAM + 0x440));
        rig.store(RAM + 0x440, &node(2, 0));
        rig.set(0, &[(CLAR, RAM + 0x400)]);
        rig.copy(RAM, RAM + 0x100, 4, COPY | trgm);
        let mut control = CCR_EN;
        let moved = steps.map(|_| {
            rig.run(0, control | CCR_SWRQ);
            control = rig.of(0, CCR);
            rig.words(RAM + 0x100, 3).iter().filter(|word| **word != 0).count()
        });
        assert_eq!((moved, rig.words(RAM + 0x100, 4)), (steps, vec![7, 8, 9, 0]));
        assert_eq!((rig.of(0, CISR), control), (DONE, 0));
    }
}

#[test]
fn a_list_without_an_end_takes_its_time() {
    let mut rig = rig();
    let at_once = PortTiming::symmetric(mhz(100), Cycles(0), Cycles(0), 4);
    rig.bus.rams = vec![Ram::new(0x2000, at_once)];
    rig.bus.map[0].route = None;
    let params = Params { setup_cycles: Cycles(0), buffer_cycles: Cycles(0), ..params() };
    rig.bus.devices[0] = Some(Box::new(Mdma::new(params)));
    let node = RAM + 0x800;
    rig.store(node, &[COPY | LIST, 4, RAM, RAM + 0x100, 0, node, 0, 0, 0, 0]);
    rig.copy(RAM, RAM + 0x100, 4, COPY | LIST);
    rig.set(0, &[(CLAR, node), (CCR, CCR_EN), (CCR, START)]);
    let begin = rig.now;
    rig.bus.run_events(begin + Ps::from_us(1));
    let nodes = rig.bus.devices[0].as_ref().unwrap().counters()[2].1;
    assert!((90..=110).contains(&nodes), "one a clock: {nodes}");
}

#[test]
fn sizes_differ_and_addresses_stay_or_go_down() {
    let mut rig = rig();
    rig.store(RAM, &[0x4433_2211, 0x8877_6655]);
    // Bytes up, halfwords down.
    rig.copy(RAM, RAM + 0x106, 8, 2 | 3 << 2 | 1 << 6 | 1 << 10 | 7 << 18 | BLOCK | SWRM);
    rig.run(0, START);
    assert_eq!(rig.words(RAM + 0x100, 2), [0x6655_8877, 0x2211_4433]);
    // 64 bits, from one place.
    rig.copy(RAM, RAM + 0x200, 16, 2 << 2 | 3 << 4 | 3 << 6 | 3 << 10 | 15 << 18 | BLOCK | SWRM);
    rig.run(0, START);
    assert_eq!(rig.words(RAM + 0x200, 5), [0x4433_2211, 0x8877_6655, 0x4433_2211, 0x8877_6655, 0]);
}

#[test]
fn devices_get_each_access() {
    let mut rig = rig();
    rig.copy(PORT, RAM, 12, COPY & !3 | BLOCK);
    rig.run(0, START);
    assert_eq!(rig.words(RAM, 4), [1, 2, 3, 0]);
    rig.copy(RAM, PORT, 12, COPY & !0xc | BLOCK);
    rig.run(0, START);
    assert_eq!(rig.bus.read(rig.now, PORT, AccessSize::Word).unwrap().value, 0x3123 + 1);
}

#[test]
fn errors_end_the_transfer_and_report_where() {
    for (source, destination, error) in [
        (0x8, RAM, 0x8),
        (RAM, 0x1c, CESR_TED | 0x1c),
        (DMA + 4, RAM, 0x4),
        (RAM + 2, RAM, CESR_ASE),
        (RAM, RAM + 1, CESR_ASE),
    ] {
        let mut rig = rig();
        rig.copy(source, destination, 8, COPY | BLOCK);
        rig.run(0, START);
        assert_eq!((rig.of(0, CESR), rig.of(0, CISR), rig.of(0, CCR)), (error, CISR_TEIF, 0), "{source:#x}");
        assert_eq!(rig.bus.notes().len(), 1);
    }
    for (bytes, transfer) in [(0, COPY), (6, COPY), (8, COPY ^ 1 << 18)] {
        let mut rig = rig();
        rig.copy(RAM, RAM + 0x100, bytes, transfer);
        rig.run(0, CCR_EN);
        assert_eq!((rig.of(0, CESR), rig.of(0, CISR)), (CESR_BSE, CISR_TEIF), "{bytes} {transfer:#x}");
    }
    let mut rig = rig();
    rig.set(0, &[(CLAR, 0x40)]);
    rig.copy(RAM, RAM + 0x100, 4, COPY | LIST);
    rig.run(0, START);
    assert_eq!(rig.of(0, CESR), CESR_TELD | 0x40);
}

#[test]
fn flags_interrupt_where_they_are_enabled() {
    let mut rig = rig();
    rig.copy(RAM, RAM + 0x100, 8, COPY | BLOCK);
    rig.run(0, START | CISR_CTCIF << 1);
    assert_eq!((rig.pending(), walk::Port::get(&mut rig, GISR0)), (1 << 4 | 1 << 5, 1));
    rig.set(0, &[(CIFCR, CISR_CTCIF)]);
    assert_eq!((rig.pending(), walk::Port::get(&mut rig, GISR0)), (0, 0));
}

#[test]
fn en_locks_registers_and_its_end_stops_the_channel() {
    let mut rig = rig();
    rig.store(RAM, &count(1, 32));
    rig.copy(RAM, RAM + 0x1000, 128, COPY | BLOCK);
    rig.set(0, &[(CCR, START), (CSAR, 0)]);
    assert_eq!((rig.of(0, CSAR), rig.of(0, CISR), rig.bus.notes().len()), (RAM, CISR_CRQA, 1));
    rig.run(0, 0);
    assert_eq!((rig.of(0, CISR), rig.words(RAM + 0x1000, 1)), (CISR_CTCIF, vec![0]));
    rig.run(0, CCR_SWRQ);
    assert_eq!(rig.bus.notes().len(), 2);
}

#[test]
fn a_node_gives_timing_lines_and_gate() {
    let properties: &[(&str, &[u32])] = &[
        ("interrupts-extended", &[CPU_INTC, 3, CPU_INTC, 7]),
        ("cyclescope,clock-enable", &[0x218, 0]),
        ("cyclescope,setup-cycles", &[6]),
        ("cyclescope,buffer-cycles", &[2]),
    ];
    let (mut bench, faults) = read_plain_node(from_node, properties);
    assert!(faults.is_empty(), "{faults:?}");
    bench.write(Ps(0), PLACES.first + CCR, CCR_EN | 1 << 1).unwrap();
    assert_eq!(bench.pending(), 1 << 3 | 1 << 7);
    bench.bus.clocks.set_gates(0x218, 0);
    assert_eq!((bench.value(Ps(0), PLACES.first + CISR), bench.bus.notes().len()), (0, 2));
}
