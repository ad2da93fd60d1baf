//! `arm,pl310-cache`: the registers of a second-level cache controller, revision r3p2. The cache itself, which line
//! fills and write-backs pass, is a part of the bus ([`engine::memory::outer`]).
//!
//! Register map and behaviour: AMBA Level 2 Cache Controller (L2C-310) Technical Reference Manual (DDI 0246), chapter
//! 3. Implemented options: SAMA5D2 Series datasheet, L2 Cache Controller (no parity, no lockdown by line or master).
//!
//! Prefetching, double line fills and the exclusive configuration can be set, without effect. Interrupts never occur:
//! the model has no overflow events of the counters and no RAM errors.

mod counters;
mod maintenance;
#[cfg(test)]
mod tests;

use crate::model::{Group, Model};
use crate::support::axi_lite::AxiLitePort;
use crate::support::registers::{AccessKind, Register, find};
use counters::Counter;
use engine::bus::device::{AccessSize, Ctx, Device, Reply, SlaveError};
use engine::dt::fault::FaultKind;
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::memory::cache::{CacheShape, Replacement, WritePolicy};
use engine::memory::outer::{OuterCache, OuterTiming};
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Ps};

/// The register map; names as in the SAMA5D2's datasheet, without their prefix L2CC_.
pub const REGISTERS: &[Register] = &[
    Register::new("IDR", 0x000, AccessKind::Ro, 0x4100_00c8, u32::MAX),
    Register::new("TYPR", 0x004, AccessKind::Ro, 0x0010_0100, u32::MAX),
    Register::new("CR", CR, AccessKind::Rw, 0, 1),
    Register::new("ACR", ACR, AccessKind::Rw, 0x0202_0000, 0x3fff_3c00),
    Register::new("TRCR", TRCR, AccessKind::Rw, 0x111, 0x777),
    Register::new("DRCR", DRCR, AccessKind::Rw, 0x111, 0x777),
    Register::new("ECR", ECR, AccessKind::Rw, 0, 0x7),
    Register::new("ECFGR1", ECFGR1, AccessKind::Rw, 0, 0x3f),
    Register::new("ECFGR0", ECFGR0, AccessKind::Rw, 0, 0x3f),
    Register::new("EVR1", EVR1, AccessKind::Rw, 0, u32::MAX),
    Register::new("EVR0", EVR0, AccessKind::Rw, 0, u32::MAX),
    Register::new("IMR", 0x214, AccessKind::Rw, 0, 0x1ff),
    Register::new("MISR", 0x218, AccessKind::Ro, 0, 0x1ff),
    Register::new("RISR", 0x21c, AccessKind::Ro, 0, 0x1ff),
    Register::new("ICR", 0x220, AccessKind::Wo, 0, 0x1ff),
    Register::new("CSR", CSR, AccessKind::Rw, 0, 1),
    Register::new("IPALR", IPALR, AccessKind::Rw, 0, 1),
    Register::new("IWR", IWR, AccessKind::Rw, 0, 0xff),
    Register::new("CPALR", CPALR, AccessKind::Rw, 0, 1),
    Register::new("CIR", CIR, AccessKind::Rw, 0, 1),
    Register::new("CWR", CWR, AccessKind::Rw, 0, 0xff),
    Register::new("CIPALR", CIPALR, AccessKind::Rw, 0, 1),
    Register::new("CIIR", CIIR, AccessKind::Rw, 0, 1),
    Register::new("CIWR", CIWR, AccessKind::Rw, 0, 0xff),
    Register::new("DLKR", DLKR, AccessKind::Rw, 0, 0xff),
    Register::new("ILKR", ILKR, AccessKind::Rw, 0, 0xff),
    Register::new("DCR", 0xf40, AccessKind::Rw, 0, 0x7),
    Register::new("PCR", 0xf60, AccessKind::Rw, 0, 0x79a0_001f),
    Register::new("POWCR", 0xf80, AccessKind::Rw, 0, 0x3),
];

const CR: u32 = 0x100;
const ACR: u32 = 0x104;
const TRCR: u32 = 0x108;
const DRCR: u32 = 0x10c;
const ECR: u32 = 0x200;
const ECFGR1: u32 = 0x204;
const ECFGR0: u32 = 0x208;
const EVR1: u32 = 0x20c;
const EVR0: u32 = 0x210;
const CSR: u32 = 0x730;
const IPALR: u32 = 0x770;
const IWR: u32 = 0x77c;
const CPALR: u32 = 0x7b0;
const CIR: u32 = 0x7b8;
const CWR: u32 = 0x7bc;
const CIPALR: u32 = 0x7f0;
const CIIR: u32 = 0x7f8;
const CIWR: u32 = 0x7fc;
const DLKR: u32 = 0x900;
const ILKR: u32 = 0x904;

/// CR: the cache is enabled.
const L2CEN: u32 = 1;

/// ACR: ways are replaced round-robin; otherwise at random.
const CRPOL: u32 = 1 << 25;

/// The device.
#[derive(Debug, State)]
pub struct Pl310 {
    port: AxiLitePort,
    /// The clock of the port and of the cache.
    clock: ClockInput,
    /// Values of plain registers, in the order of [`REGISTERS`].
    held: [u32; REGISTERS.len()],
    counters: [Counter; 2],
    /// The end of the maintenance operation.
    busy_until: Ps,
    /// The ways that the operation works on.
    busy_ways: u32,
    /// Maintenance operations so far.
    operations: u64,
    /// The cache, until the machine is built.
    #[state(skip)]
    cache: Option<OuterCache>,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Memory, &["arm,pl310-cache"], 1, from_node).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["cache-unified", "cache-level"]);
    let (port, clock) = AxiLitePort::on_clock_input(reader);
    let timing = OuterTiming {
        clock: port.clock,
        request_cycles: reader
            .timing_cycles("cyclescope,request-cycles", "from a request at its slave port to its master port"),
        response_cycles: reader.timing_cycles("cyclescope,response-cycles", "from an answer to its slave port"),
        beat_cycles: reader.timing_cycles("cyclescope,beat-cycles", "from one beat of a line to the next"),
        beat_bytes: 8,
    };
    let shape = read_shape(reader);
    Box::new(Pl310 { clock, ..Pl310::new(port, OuterCache::new(shape, timing)) })
}

fn read_shape(reader: &mut NodeReader) -> CacheShape {
    let meaning = "128 KiB in 8 ways of 512 sets of 32 bytes, the reset value of ACR";
    let size_bytes = reader.u32("cache-size", [128 << 10], meaning);
    let line_bytes = reader.u32("cache-line-size", [32], meaning);
    let sets = reader.u32("cache-sets", [512], meaning);
    let replacement = Replacement::RoundRobin;
    let fixed =
        CacheShape { size_bytes: 128 << 10, line_bytes: 32, ways: 8, replacement, write: WritePolicy::WriteBack };
    let wanted = [size_bytes, line_bytes, sets];
    if wanted != [fixed.size_bytes, fixed.line_bytes, 512] && !wanted.contains(&0) {
        let kind = FaultKind::OutOfRange {
            property: "cache-size".into(),
            value: size_bytes.to_string(),
            allowed: meaning.into(),
        };
        reader.fault_at("cache-size", kind);
    }
    fixed
}

impl Pl310 {
    /// The device after reset, with a cache that is off.
    pub fn new(port: AxiLitePort, cache: OuterCache) -> Pl310 {
        let mut held = [0; REGISTERS.len()];
        held.iter_mut().zip(REGISTERS).for_each(|(held, register)| *held = register.reset);
        let mut cache = cache;
        cache.ram_cycles = [latency(0x111), latency(0x111)];
        Pl310 {
            port,
            clock: port.clock.into(),
            held,
            counters: [Counter::default(); 2],
            busy_until: Ps::ZERO,
            busy_ways: 0,
            operations: 0,
            cache: Some(cache),
        }
    }

    fn held(&self, offset: u32) -> u32 {
        let index = REGISTERS.iter().position(|register| register.offset == offset);
        index.map_or(0, |index| self.held[index])
    }

    fn hold(&mut self, offset: u32, value: u32) {
        if let Some(index) = REGISTERS.iter().position(|register| register.offset == offset) {
            self.held[index] = REGISTERS[index].after_write(self.held[index], value);
        }
    }

    fn register(&self, offset: u32, ctx: &Ctx) -> u32 {
        let busy = ctx.now < self.busy_until;
        match offset {
            EVR0 | EVR1 => self.counter_value(offset, ctx),
            CSR | IPALR | CPALR | CIR | CIPALR | CIIR => u32::from(busy),
            IWR | CWR | CIWR => {
                if busy {
                    self.busy_ways
                } else {
                    0
                }
            }
            _ => self.held(offset),
        }
    }

    /// Performs a write. False if the write is refused.
    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) -> bool {
        let enabled = self.held(CR) & L2CEN != 0;
        match offset {
            // Writable only while the cache is off (TRM, 3.3.4 and 3.3.5).
            ACR | TRCR | DRCR if enabled => return false,
            ECR | ECFGR0 | ECFGR1 | EVR0 | EVR1 => self.set_counters(offset, value, ctx),
            CSR | IPALR | CPALR | CIPALR | CIR | CIIR | IWR | CWR | CIWR => self.operate(offset, value, ctx),
            _ => self.hold(offset, value),
        }
        self.configure_cache(ctx);
        true
    }

    /// Passes the settings in the registers on to the cache.
    fn configure_cache(&self, ctx: &mut Ctx) {
        let Some(cache) = &mut ctx.bus.outer else { return };
        cache.enabled = self.held(CR) & L2CEN != 0;
        cache.ram_cycles = [latency(self.held(TRCR)), latency(self.held(DRCR))];
        cache.locked = [self.held(DLKR), self.held(ILKR)];
        let in_turn = self.held(ACR) & CRPOL != 0;
        cache.replace_by(if in_turn { Replacement::RoundRobin } else { Replacement::PseudoRandom });
    }
}

/// Cycles of a read of a RAM: the register's field plus 1.
fn latency(register: u32) -> Cycles {
    Cycles(u64::from(register >> 4 & 7) + 1)
}

impl Device for Pl310 {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let value = if find(REGISTERS, offset & !3).is_some_and(|register| register.access == AccessKind::Wo) {
            0
        } else {
            self.register(offset & !3, ctx)
        };
        Ok(self.port.read(value, offset, size, ctx.now))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        let done = self.port.written(ctx.now);
        // Registers are written as words.
        if size == AccessSize::Word && !self.set_register(offset, value, ctx) {
            return Err(SlaveError { done: done.done });
        }
        Ok(done)
    }

    fn outer_cache(&mut self) -> Option<OuterCache> {
        self.cache.take()
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        // Maintenance under way ends at the old rate.
        ctx.bus.clocks.update(&mut self.clock);
        self.port.clock = self.clock.rate;
        if let Some(cache) = &mut ctx.bus.outer {
            cache.set_clock(self.clock.rate);
        }
    }
}

impl Polled for Pl310 {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.held.iter().for_each(|value| poll.state(*value));
        poll.state(self.operations);
        // The counted events happen outside this device.
        if self.held(ECR) & 1 != 0 {
            poll.refuse();
        }
        poll.until(self.busy_until);
        true
    }
}
