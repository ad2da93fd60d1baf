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

use crate::prelude::*;
use crate::support::axi_lite::AxiLitePort;
use counters::Counter;
use engine::dt::fault::FaultKind;
use engine::memory::cache::{CacheShape, Replacement, WritePolicy};
use engine::memory::outer::{OuterCache, OuterTiming};

registers! {
    /// The register map; names as in the SAMA5D2's datasheet, without their prefix L2CC_. ACR.CRPOL: ways are replaced
    /// round-robin; otherwise at random. Latencies and ACR can be written only while the cache is off (TRM, 3.3.4 and
    /// 3.3.5).
    const MAP "" {
        IDR 0x000 ro reset 0x4100_00c8;
        TYPR 0x004 ro reset 0x0010_0100;
        CR 0x100 rw mask 1 { L2CEN 0 };
        ACR 0x104 rw locked_by CR_L2CEN in CR reset 0x0202_0000 mask 0x3fff_3c00 { CRPOL 25 };
        TRCR 0x108 rw locked_by CR_L2CEN in CR reset 0x111 mask 0x777 { READ 4..7 };
        DRCR 0x10c rw locked_by CR_L2CEN in CR reset 0x111 mask 0x777 { READ 4..7 };
        ECR 0x200 rw mask 0x7 { EVCEN 0, EVC0RST 1, EVC1RST 2 };
        ECFGR1 0x204 rw mask 0x3f { ESRC 2..6 };
        ECFGR0 0x208 rw mask 0x3f { ESRC 2..6 };
        EVR1 0x20c rw volatile;
        EVR0 0x210 rw volatile;
        IMR 0x214 rw mask 0x1ff;
        MISR 0x218 ro mask 0x1ff;
        RISR 0x21c ro mask 0x1ff;
        ICR 0x220 wo mask 0x1ff;
        CSR 0x730 rw volatile mask 1;
        IPALR 0x770 rw volatile mask 1;
        IWR 0x77c rw volatile mask 0xff;
        CPALR 0x7b0 rw volatile mask 1;
        CIR 0x7b8 rw volatile mask 1;
        CWR 0x7bc rw volatile mask 0xff;
        CIPALR 0x7f0 rw volatile mask 1;
        CIIR 0x7f8 rw volatile mask 1;
        CIWR 0x7fc rw volatile mask 0xff;
        DLKR 0x900 rw mask 0xff;
        ILKR 0x904 rw mask 0xff;
        DCR 0xf40 rw mask 0x7;
        PCR 0xf60 rw mask 0x79a0_001f;
        POWCR 0xf80 rw mask 0x3;
    }
}

/// The device.
#[derive(Debug, State, Polled)]
#[poll(first = Pl310::is_known)]
pub struct Pl310 {
    #[poll(phase)]
    port: AxiLitePort,
    /// The clock of the port and of the cache.
    clock: ClockInput,
    registers: Registers,
    counters: [Counter; 2],
    /// The end of the maintenance operation.
    #[poll(until)]
    busy_until: Ps,
    /// The ways that the operation works on.
    busy_ways: u32,
    /// Maintenance operations so far: each may change the cache, which is not listed here.
    operations: u64,
    /// The cache, until the machine is built.
    #[state(skip)]
    cache: Option<OuterCache>,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Memory, &["arm,pl310-cache"], 1, from_node).naming(MAP.rows);

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
        let registers = Registers::new(&MAP);
        let mut cache = cache;
        cache.ram_cycles = [TRCR, DRCR].map(|register| latency(registers[register]));
        Pl310 {
            port,
            clock: port.clock.into(),
            registers,
            counters: [Counter::default(); 2],
            busy_until: Ps::ZERO,
            busy_ways: 0,
            operations: 0,
            cache: Some(cache),
        }
    }

    fn register(&self, offset: u32, ctx: &Ctx) -> u32 {
        let busy = ctx.now < self.busy_until;
        match offset {
            EVR0 => self.counted(ctx)[0],
            EVR1 => self.counted(ctx)[1],
            CSR | IPALR | CPALR | CIR | CIPALR | CIIR => u32::from(busy),
            IWR | CWR | CIWR if busy => self.busy_ways,
            _ => self.registers.held(offset),
        }
    }

    /// Performs a write.
    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) -> Result<(), Refused> {
        let counted = self.counted(ctx);
        self.registers.write(offset, value)?;
        match offset {
            ECR | ECFGR0 | ECFGR1 | EVR0 | EVR1 => self.set_counters(offset, value, counted, ctx),
            CSR | IPALR | CPALR | CIPALR | CIR | CIIR | IWR | CWR | CIWR => self.operate(offset, value, ctx),
            _ => {}
        }
        self.configure_cache(ctx);
        Ok(())
    }

    /// The counted events happen outside this device.
    fn is_known(&mut self, _: &mut Poll) -> bool {
        !self.registers.has(ECR, ECR_EVCEN)
    }

    /// Passes the settings in the registers on to the cache.
    fn configure_cache(&self, ctx: &mut Ctx) {
        let Some(cache) = &mut ctx.bus.outer else { return };
        cache.enabled = self.registers.has(CR, CR_L2CEN);
        cache.ram_cycles = [TRCR, DRCR].map(|register| latency(self.registers[register]));
        cache.locked = [DLKR, ILKR].map(|register| self.registers[register]);
        let in_turn = self.registers.has(ACR, ACR_CRPOL);
        cache.replace_by(if in_turn { Replacement::RoundRobin } else { Replacement::PseudoRandom });
    }
}

/// Cycles of a read of a RAM: the register's field plus 1.
fn latency(register: u32) -> Cycles {
    Cycles(u64::from(field(register, TRCR_READ)) + 1)
}

impl Device for Pl310 {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let value = self.register(offset & !3, ctx);
        Ok(self.port.read(value, offset, size, ctx.now))
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let done = self.port.written(ctx.now);
        // Registers are written as words.
        let is_refused =
            size == AccessSize::Word && matches!(self.set_register(offset, value, ctx), Err(Refused::Locked(..)));
        if is_refused { Err(SlaveError { done: done.done }) } else { Ok(done) }
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
