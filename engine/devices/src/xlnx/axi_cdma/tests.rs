use super::*;
use crate::bench::Bench;
use crate::bench::dma::{self, mhz};
use crate::bench::polled::{Access, Loop};
use crate::registers::walk;
use engine::bus::device::{AccessResult, AccessSize, DeviceId, Reply, SlaveError};
use engine::bus::{Bus, MapEntry, Target};
use engine::memory::ram::Ram;
use engine::polling::{Poll, Polled};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

const RAM: u32 = 0x8000_0000;
const FIFO: u32 = 0xc400_0000;
const DMA: u32 = 0x44a0_0000;

/// A data register for a stream of beats: returns a count, or keeps the written values, each with its time.
#[derive(engine::state::State)]
struct Port {
    streams: bool,
    /// Accesses until it answers with an error.
    until_error: u32,
    #[state(skip)]
    log: Arc<Mutex<Vec<(u32, Ps)>>>,
}

impl Port {
    fn access(&mut self, value: u32, ctx: &Ctx) -> AccessResult {
        let done = mhz(100).after(ctx.now, Cycles(4));
        self.until_error = self.until_error.checked_sub(1).ok_or(SlaveError { done })?;
        self.log.lock().unwrap().push((value, ctx.now));
        Ok(Reply::read(value, done))
    }
}

impl Device for Port {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let count = self.log.lock().unwrap().len() as u32;
        self.access(count, ctx)
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        self.access(value, ctx)
    }

    fn streams(&self, _: usize, _: u32) -> bool {
        self.streams
    }
}

impl Polled for Port {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

fn params() -> Params {
    Params {
        port: AxiLitePort { clock: mhz(100), read_cycles: Cycles(4), write_cycles: Cycles(3) },
        max_burst_beats: 16,
        lite: false,
        store_and_forward: false,
        setup_cycles: Cycles(10),
        forward_cycles: Cycles(3),
        burst_gap_cycles: Cycles(7),
        interrupt: Some(IrqLine::Core { core: 0, bit: 11 }),
    }
}

struct Rig {
    bus: Bus,
    log: Arc<Mutex<Vec<(u32, Ps)>>>,
}

/// The engine, a [`Port`] at [`FIFO`], and memory that holds the numbers of its words.
fn rig(params: Params, streams: bool, until_error: u32) -> Rig {
    let log = Arc::new(Mutex::new(Vec::new()));
    let port = Port { streams, until_error, log: log.clone() };
    let mut rig = Rig { bus: dma::bus(RAM, (DMA, AxiCdma::new(params)), (FIFO, port)), log };
    let words: Vec<u8> = (0..0x800u32).flat_map(u32::to_le_bytes).collect();
    rig.bus.poke(RAM, &words);
    rig
}

impl Rig {
    fn set(&mut self, at: Ps, offset: u32, value: u32) {
        self.bus.with_device(DeviceId(0), at, |dma, ctx| dma.write(0, offset, AccessSize::Word, value, ctx)).unwrap();
    }

    fn status(&mut self, at: Ps) -> u32 {
        self.bus.run_events(at);
        let reply = self.bus.with_device(DeviceId(0), at, |dma, ctx| dma.read(0, CDMASR, AccessSize::Word, ctx));
        reply.unwrap().value & !CDMASR_IRQ_THRESHOLD_STS
    }

    /// Starts a transfer at time 0 and runs it to its end: when that was, and the status.
    fn transfer(&mut self, control: u32, from: u32, to: u32, bytes: u32) -> (Ps, u32) {
        self.set(Ps(0), CDMACR, control);
        self.set(Ps(0), SA, from);
        self.set(Ps(0), DA, to);
        self.set(Ps(0), BTT, bytes);
        let mut last = Ps(0);
        while self.bus.events.next_due() < Ps::MAX {
            last = self.bus.events.next_due();
            self.bus.run_events(last);
        }
        (last, self.status(last))
    }

    fn times_ns(&self) -> Vec<u64> {
        self.log.lock().unwrap().iter().map(|(_, at)| at.0 / 1_000).collect()
    }

    fn values(&self) -> Vec<u32> {
        self.log.lock().unwrap().iter().map(|(value, _)| *value).collect()
    }

    fn ram_words<const N: usize>(&self, addr: u32) -> [u32; N] {
        std::array::from_fn(|index| {
            let mut word = [0; 4];
            assert!(self.bus.peek(addr + 4 * index as u32, &mut word));
            u32::from_le_bytes(word)
        })
    }
}

impl walk::Port for Rig {
    fn get(&mut self, offset: u32) -> u32 {
        self.bus.with_device(DeviceId(0), Ps(0), |dma, ctx| dma.read(0, offset, AccessSize::Word, ctx)).unwrap().value
    }

    fn put(&mut self, offset: u32, value: u32) {
        self.set(Ps(0), offset, value);
    }
}

const IDLE_IOC: u32 = CDMASR_IDLE | CDMASR_IOC_IRQ;

#[test]
fn the_register_map_holds() {
    let scatter_gather = ["CURDESC_PNTR", "CURDESC_PNTR_MSB", "TAILDESC_PNTR", "TAILDESC_PNTR_MSB", "SA_MSB", "DA_MSB"];
    let special = [&["CDMACR", "CDMASR", "BTT"][..], &scatter_gather].concat();
    let mut rig = rig(params(), true, u32::MAX);
    walk::device_keeps_its_table(MAP.rows, &special, &mut rig);
    use walk::Port;
    assert_eq!((rig.get(CDMACR), rig.get(CDMASR)), (0x0001_0002, 0x0001_0002));
    rig.put(CDMACR, !CDMACR_RESET);
    assert_eq!(rig.get(CDMACR), 0x0001_5032);
    rig.put(0x08, u32::MAX);
    assert_eq!(rig.get(0x08), 0);
    assert_eq!(rig.bus.notes().len(), 2, "scatter/gather is noted");
    rig.put(CDMACR, CDMACR_RESET);
    assert_eq!(rig.get(CDMACR), 0x0001_0002);
}

#[test]
fn memory_to_fifo_takes_a_beat_a_clock_and_a_gap_a_burst() {
    let mut rig = rig(params(), true, u32::MAX);
    let (end, status) = rig.transfer(CDMACR_KEYHOLE_WRITE, RAM, FIFO, 20 * 4);
    assert_eq!(status, IDLE_IOC);
    assert_eq!(rig.values(), (0..20).collect::<Vec<u32>>());
    // BTT at 0; read address at 100 ns, at the RAM at 120; its first word at 150, here at 160. Through at 190, and
    // there with the address at 210. 16 beats, 7 clocks, 4 beats: 360 + 10 + 70 ns.
    let times = rig.times_ns();
    assert_eq!((times[0], times[1], times[15]), (210, 220, 360));
    assert_eq!((times[16], times[19]), (440, 470));
    // The last response: 4 clocks in the target, 1 on the route.
    assert_eq!(end, Ps::from_ns(470 + 40 + 10));
}

#[test]
fn a_slave_without_bursts_takes_each_beat_alone() {
    let mut rig = rig(params(), false, u32::MAX);
    rig.transfer(CDMACR_KEYHOLE_WRITE, RAM, FIFO, 3 * 4);
    // 4 clocks of the target and 1 to the next beat.
    assert_eq!(rig.times_ns(), [210, 260, 310]);
}

#[test]
fn fifo_to_memory_reads_each_beat_at_its_time() {
    let mut rig = rig(params(), true, u32::MAX);
    let (end, status) = rig.transfer(CDMACR_KEYHOLE_READ, FIFO, RAM + 0x100, 20 * 4);
    assert_eq!(status, IDLE_IOC);
    let times = rig.times_ns();
    // Address at 100, at the target at 120; then a beat a clock; the next burst's address travels while the data comes.
    assert_eq!((times[0], times[15]), (120, 270));
    assert_eq!(times[19] - times[16], 30);
    assert_eq!(rig.ram_words::<20>(RAM + 0x100), std::array::from_fn(|index| index as u32));
    assert_eq!(rig.ram_words::<1>(RAM + 0x100 + 80), [0x40 + 20]);
    assert!(end > Ps::from_ns(times[19]));
}

#[test]
fn store_and_forward_waits_for_the_whole_burst() {
    let mut rig = rig(Params { store_and_forward: true, ..params() }, true, u32::MAX);
    rig.transfer(CDMACR_KEYHOLE_WRITE, RAM, FIFO, 16 * 4);
    // As above, but 15 words later.
    assert_eq!(rig.times_ns()[0], 210 + 150);
}

#[test]
fn memory_to_memory_moves_bytes_and_keeps_to_boundaries() {
    for (offset, bytes) in [(0, 64), (0xfe0, 128), (4, 4), (0x800, 1027), (0, 2)] {
        let mut rig = rig(params(), true, u32::MAX);
        let (_, status) = rig.transfer(0, RAM + offset, RAM + 0x1400, bytes);
        assert_eq!(status, IDLE_IOC);
        let mut moved = vec![0; bytes as usize];
        let mut original = moved.clone();
        let mut after = [0; 1];
        rig.bus.peek(RAM + 0x1400, &mut moved);
        rig.bus.peek(RAM + offset, &mut original);
        rig.bus.peek(RAM + 0x1400 + bytes, &mut after);
        assert_eq!(moved, original);
        assert_eq!(after[0], ((0x1400 + bytes) / 4).to_le_bytes()[(bytes % 4) as usize]);
    }
}

#[test]
fn bursts_end_where_an_overlay_does() {
    for (from, to) in [(RAM + 0x41c, RAM + 0x1400), (RAM + 0x1400, RAM + 0x41c)] {
        let mut rig = rig(params(), true, u32::MAX);
        let timing = rig.bus.rams[0].timing();
        rig.bus.rams.push(Ram::new(64, timing));
        rig.bus.lay(MapEntry::new("overlay", RAM + 0x440, RAM + 0x47f, Target::Ram(1)).on_route(Some(0)));
        let words: Vec<u8> = (1..=32u32).flat_map(u32::to_le_bytes).collect();
        assert!(rig.bus.poke(from, &words));
        assert_eq!(rig.transfer(0, from, to, 128).1, IDLE_IOC);
        assert_eq!(rig.ram_words::<32>(to), std::array::from_fn(|index| index as u32 + 1));
    }
}

#[test]
fn errors_halt_until_reset() {
    let nowhere = 0x1000;
    for (from, to, bytes, until_error, error) in [
        (RAM, nowhere, 64, 99, CDMASR_DMA_DEC_ERR),
        (nowhere, RAM, 64, 99, CDMASR_DMA_DEC_ERR),
        (RAM + 0x1ff0, RAM, 64, 99, CDMASR_DMA_DEC_ERR),
        (RAM, RAM + 0x1ff0, 64, 99, CDMASR_DMA_DEC_ERR),
        (RAM, FIFO, 64, 5, CDMASR_DMA_SLV_ERR),
        (FIFO, RAM, 64, 5, CDMASR_DMA_SLV_ERR),
        (DMA, RAM, 64, 99, CDMASR_DMA_SLV_ERR),
        (RAM, DMA, 64, 99, CDMASR_DMA_SLV_ERR),
        (RAM + 2, RAM, 64, 99, CDMASR_DMA_INT_ERR),
        (RAM, RAM, 0, 99, CDMASR_DMA_INT_ERR),
    ] {
        let mut rig = rig(params(), true, until_error);
        let keyhole =
            if from == FIFO { CDMACR_KEYHOLE_READ } else { CDMACR_KEYHOLE_WRITE & if to == FIFO { !0 } else { 0 } };
        let (end, status) = rig.transfer(keyhole | CDMACR_ERR_IRQ_EN, from, to, bytes);
        assert_eq!(status, CDMASR_IDLE | CDMASR_ERR_IRQ | error, "{from:#x} to {to:#x}");
        assert_eq!(rig.bus.core_irqs[0].low(), 1 << 11);
        // Halted: a new BTT has no effect. A reset starts afresh.
        rig.set(end, CDMASR, CDMASR_ERR_IRQ);
        rig.set(end, BTT, 4);
        assert_eq!(rig.status(Ps(end.0 * 9)), CDMASR_IDLE | error);
        rig.set(Ps(end.0 * 9), CDMACR, CDMACR_RESET);
        assert_eq!((rig.status(Ps(end.0 * 9)), rig.bus.core_irqs[0].low()), (CDMASR_IDLE, 0));
    }
}

#[test]
fn completion_interrupts_and_is_cleared_by_one() {
    let mut rig = rig(params(), true, u32::MAX);
    let (end, _) = rig.transfer(CDMACR_IOC_IRQ_EN, RAM, RAM + 0x1000, 4);
    // 100: read address, 120: at the RAM, 150: read, 160: here, 190: through, 210: at the RAM, 240: written, 250: done.
    assert_eq!(end, Ps::from_ns(250));
    assert_eq!(rig.bus.core_irqs[0].low(), 1 << 11);
    rig.set(end, CDMASR, CDMASR_IOC_IRQ);
    assert_eq!((rig.status(end), rig.bus.core_irqs[0].low()), (CDMASR_IDLE, 0));
}

#[test]
fn a_reset_during_a_transfer_drops_it() {
    let mut rig = rig(params(), true, u32::MAX);
    rig.set(Ps(0), CDMACR, CDMACR_KEYHOLE_WRITE);
    rig.set(Ps(0), SA, RAM);
    rig.set(Ps(0), DA, FIFO);
    rig.set(Ps(0), BTT, 64);
    assert_eq!(rig.status(Ps::from_ns(250)), 0);
    rig.set(Ps::from_ns(250), BTT, 64);
    assert_eq!(rig.bus.notes().len(), 1, "busy");
    rig.set(Ps::from_ns(250), CDMACR, CDMACR_RESET);
    assert_eq!(rig.status(Ps::from_us(9)), CDMASR_IDLE);
    assert_eq!(rig.values().len(), 5, "beats at 210 to 250 ns");
}

#[test]
fn lite_mode_moves_one_burst() {
    let mut rig = rig(Params { lite: true, ..params() }, true, u32::MAX);
    assert_eq!(rig.transfer(0, RAM, RAM + 0x1000, 64).1, IDLE_IOC);
    assert_eq!(rig.transfer(0, RAM, RAM + 0x1000, 68).1 & ERRORS, CDMASR_DMA_INT_ERR);
}

#[test]
fn a_keyhole_in_memory_is_one_word() {
    let mut rig = rig(params(), true, u32::MAX);
    assert_eq!(rig.transfer(CDMACR_KEYHOLE_WRITE, RAM, RAM + 0x1000, 64).1, IDLE_IOC);
    assert_eq!(rig.ram_words::<2>(RAM + 0x1000), [15, 0x401]);
    assert_eq!(rig.transfer(CDMACR_KEYHOLE_READ, RAM + 8, RAM + 0x1000, 8).1 & ERRORS, 0);
    assert_eq!(rig.ram_words::<2>(RAM + 0x1000), [2, 2]);
}

#[test]
fn the_node_is_checked() {
    use crate::bench::read_node;
    let faults = |properties: &[(&str, &[u32])]| {
        let timing = ["setup", "forward", "burst-gap"].map(|name| format!("cyclescope,{name}-cycles"));
        let all: Vec<(&str, &[u32])> =
            timing.iter().map(|name| (name.as_str(), &[1][..])).chain(properties.iter().copied()).collect();
        read_node(from_node, &all).1
    };
    assert!(faults(&[("xlnx,max-burst-len", &[256])]).is_empty());
    assert_eq!(
        faults(&[("xlnx,max-burst-len", &[24])]),
        ["xlnx,max-burst-len is 24; the longest burst has a power of two of beats, from 2 to 256"]
    );
    assert_eq!(
        faults(&[("xlnx,max-burst-len", &[128]), ("xlnx,lite-mode", &[])]),
        ["xlnx,max-burst-len is 128; the longest burst has a power of two of beats, from 16 to 64"]
    );
    assert_eq!(faults(&[("xlnx,datawidth", &[64])]), ["xlnx,datawidth is 64; this model moves 32 bits a beat"]);
}

// ---- Polling

#[test]
fn a_wait_is_skipped_between_the_events_of_a_transfer() {
    let slow = || {
        let mut bench = Bench::new(AxiCdma::new(Params { setup_cycles: Cycles(5000), ..params() }));
        bench.write(Ps(0), BTT, 4).unwrap();
        bench
    };
    let polled = Loop::even(mhz(100), 12, &[Access::Read(CDMASR)]);
    assert!(polled.assert_skipped_as_run(slow, 0, 400));
    assert!(!polled.assert_skipped_as_run(slow, 0, 420), "it ends in between");
    assert!(polled.assert_skipped_as_run(slow, 5010, 100_000));
}

proptest! {
    #[test]
    fn skipped_iterations_are_as_run(
        distance in 1_u64..60,
        accesses in prop::collection::vec(
            (prop::sample::select(vec![CDMASR, CDMACR, SA, DA, BTT]), 0_u32..80),
            1..6,
        ),
        setup in 0_u64..2000,
        start in 0_u64..100,
        count in 1_u64..30,
    ) {
        let access = |(register, value)| match value {
            0..8 => Access::Write(register, value),
            _ => Access::Read(register),
        };
        let accesses: Vec<Access> = accesses.into_iter().map(access).collect();
        let params = Params { setup_cycles: Cycles(setup), ..params() };
        let make = || Bench::new(AxiCdma::new(params));
        Loop::even(mhz(100), distance, &accesses).assert_skipped_as_run(make, start, count);
    }
}
