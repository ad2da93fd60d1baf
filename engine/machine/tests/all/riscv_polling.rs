//! Polling loops of a RISC-V core over the devices of an AXI system: skipping them has no visible effect.

use crate::whole::conformance;
use crate::whole::support::riscv::*;
use crate::{Description, Machine, RunReport};
use devices::riscv::clint0::Clint;
use devices::support::axi_lite::AxiLitePort;
use devices::support::hosted_chip::{Chips, HostedChip};
use devices::xlnx::axi_cdma::{self, AxiCdma};
use devices::xlnx::axi_quad_spi::{self, AxiQuadSpi};
use devices::xlnx::xps_intc::Intc;
use engine::bus::device::{Device, DeviceId, IrqLine};
use engine::bus::{Bus, MapEntry, Route, Target};
use engine::core::Core;
use engine::isa::riscv::instruction_set::Hart;
use engine::memory::ram::{PortTiming, Ram};
use engine::polling::{Poll, Polled};
use engine::tiers::sized;
use engine::time::{Cycles, Hz, Ps};
use engine::wire::spi::{Burst, Lines, SpiTarget};
use proptest::prelude::*;

const INTC: u32 = 0x4120_0000;
const CLINT: u32 = 0x4400_0000;
const CDMA: u32 = 0x44a0_0000;
const SPI: u32 = 0xc400_0000;

/// Registers of the AXI Quad SPI, as offsets.
const DGIER: i32 = 0x1c;
const IPIER: i32 = 0x28;
const SPICR: i32 = 0x60;
const SPISR: i32 = 0x64;
const DTR: i32 = 0x68;
const DRR: i32 = 0x6c;
const SPISSR: i32 = 0x70;
const RUN: i32 = 0x86;
const STOP: i32 = 0x186;

/// Answers all ones in each byte that ends before it is ready, then zeroes.
#[derive(engine::state::State)]
struct Busy {
    until: Ps,
}

impl SpiTarget for Busy {
    fn select(&mut self, _now: Ps) {}

    fn shift(&mut self, _burst: Burst, end: Ps) -> u32 {
        if end < self.until { 0xff } else { 0 }
    }

    fn deselect(&mut self, _now: Ps) {}
}

impl Polled for Busy {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.until(self.until);
        true
    }
}

/// The parameters in which the systems differ.
#[derive(Clone, Copy, Debug)]
struct System {
    /// The wire's clock, in MHz, and its periods in one of SCK.
    spi_mhz: u64,
    sck_ratio: u32,
    mtime_khz: u64,
    busy_us: u64,
    dma_cycles: u64,
}

const KC705: System = System { spi_mhz: 80, sck_ratio: 2, mtime_khz: 1000, busy_us: 3000, dma_cycles: 100_000 };

fn mhz(value: u64) -> Hz {
    Hz::new(value * 1_000_000).unwrap()
}

/// Local memory with a program, and the devices behind an interconnect of 2 and 1 clocks.
fn machine(system: System, program: &[u32]) -> Machine {
    let port = AxiLitePort { clock: clock(), read_cycles: Cycles(4), write_cycles: Cycles(4) };
    let line = |bit| Some(IrqLine::Core { core: 0, bit });
    let spi = axi_quad_spi::params::Params {
        port,
        ext_spi_clock: mhz(system.spi_mhz),
        sck_ratio: system.sck_ratio,
        lines: Lines::Single,
        fifo_depth: 16,
        slaves: 1,
        enhanced: false,
        xip: false,
        tx_sync_clocks: Cycles(4),
        rx_sync_cycles: Cycles(4),
        interrupt: Some(IrqLine::Device { device: DeviceId(3), input: 2 }),
    };
    let chip = HostedChip::new(Box::new(Busy { until: Ps::from_us(system.busy_us) }), "chip".to_owned(), None, 0);
    let cdma = axi_cdma::Params {
        port,
        max_burst_beats: 16,
        lite: false,
        store_and_forward: false,
        setup_cycles: Cycles(system.dma_cycles),
        forward_cycles: Cycles(3),
        burst_gap_cycles: Cycles(7),
        interrupt: None,
    };
    let mtime_clock = Hz::new(system.mtime_khz * 1000).unwrap();
    let devices: [(&str, u32, Box<dyn Device>); 4] = [
        ("spi0", SPI, Box::new(AxiQuadSpi::new(spi, Chips::new(vec![Some(chip)])))),
        ("clint", CLINT, Box::new(Clint::new(port, mtime_clock, &[line(3), line(7)]))),
        ("dma0", CDMA, Box::new(AxiCdma::new(cdma))),
        ("intc", INTC, Box::new(Intc::new(port, 7, 0, line(11)))),
    ];
    let mut bus = Bus::default();
    let (request_cycles, response_cycles) = (Cycles(2), Cycles(1));
    bus.routes.push(Route { name: "axi".into(), clock: clock(), request_cycles, response_cycles });
    bus.rams.push(Ram::new(0x1_0000, PortTiming::symmetric(clock(), Cycles(0), Cycles(0), 4)));
    let entry = |name: &str, base: u32, target, route| MapEntry::new(name, base, base + 0xffff, target).on_route(route);
    bus.map.push(entry("local", LOCAL, Target::Ram(0), None));
    for (id, (name, base, device)) in devices.into_iter().enumerate() {
        bus.map.push(entry(name, base, Target::Device(DeviceId(id as u32), 0), Some(0)));
        bus.devices.push(Some(device));
        bus.device_names.push(name.to_owned());
    }
    bus.map.sort_by_key(|entry| entry.base);
    bus.add_core();
    let mut hart = Hart::new(config(None, None));
    hart.set_pc(LOCAL);
    let mut machine = Machine::new(bus, vec![Box::new(hart)], Description::default());
    put(&mut machine, LOCAL, program);
    machine
}

/// Runs a program with and without skipping. Returns the common report, and the cycles that were skipped.
fn with_and_without_skipping(system: System, program: &[u32]) -> (RunReport, u64) {
    let program = then_exit(program);
    conformance::with_and_without_skipping(|| machine(system, &program))
}

/// A loop until `register` is 0: the branch back is after `body`.
fn until_zero(register: u32, body: &[u32]) -> Vec<u32> {
    [body, &[bne(register, 0, -4 * body.len() as i32)]].concat()
}

/// Sets x5 to a device's address, and registers of it by x6.
fn set(device: u32, values: &[(i32, i32)]) -> Vec<u32> {
    let stores = values.iter().flat_map(|(register, value)| [addi(6, 0, *value), sw(6, 5, *register)]);
    std::iter::once(lui(5, device)).chain(stores).collect()
}

/// A driver reads a status byte until it is 0: x10 to x15 hold what it writes.
fn status_of_a_chip(padding: usize) -> Vec<u32> {
    let mut program = set(SPI, &[(SPICR, 0x1e6)]);
    program.extend([addi(10, 0, STOP), addi(11, 0, RUN), addi(12, 0, !1), addi(13, 0, !0), addi(14, 0, 5)]);
    let mut body = vec![sw(10, 5, SPICR), sw(12, 5, SPISSR), sw(14, 5, DTR), sw(0, 5, DTR), sw(11, 5, SPICR)];
    body.extend([lw(15, 5, SPISR), andi(15, 15, 4), beq(15, 0, -8)]);
    body.extend([lw(16, 5, DRR), lw(16, 5, DRR), sw(10, 5, SPICR), sw(13, 5, SPISSR)]);
    body.extend(vec![NOP; padding]);
    program.extend(until_zero(16, &body));
    program
}

fn assert_most(skipped: u64, report: &RunReport) {
    let cycles = report.cores[0].cycles.0;
    assert!(skipped > cycles - cycles / 10, "{skipped} of {cycles}");
}

#[test]
fn a_wait_for_a_chip_after_quad_spi_is_skipped() {
    // EXT_SPI_CLK stands as before to the core's clock after 5 cycles, or after each.
    for system in [KC705, System { spi_mhz: 100, ..KC705 }, System { spi_mhz: 25, sck_ratio: 4, ..KC705 }] {
        let (report, skipped) = with_and_without_skipping(system, &status_of_a_chip(0));
        assert_most(skipped, &report);
        assert!(report.cores[0].cycles.0 > 100 * system.busy_us);
        let frames = report.counters.iter().find(|(name, _)| name == "spi0.frames").map(|(_, frames)| *frames);
        assert!(frames > Some(500), "{frames:?}");
    }
}

#[test]
fn a_wait_for_a_slow_byte_is_skipped() {
    let slow = System { sck_ratio: 2048, ..KC705 };
    let mut program = set(SPI, &[(SPICR, STOP), (SPISSR, !1), (DTR, 5), (DTR, 0), (SPICR, RUN)]);
    program.extend([lw(15, 5, SPISR), andi(15, 15, 4), beq(15, 0, -8)]);
    let (report, skipped) = with_and_without_skipping(slow, &program);
    assert!(report.cores[0].cycles.0 > 2 * 20_480);
    assert_most(skipped, &report);
}

#[test]
fn a_wait_for_mtime_is_skipped_within_its_ticks() {
    // 0xbff8 is 8 below 0xc000.
    let wait = [lui(5, CLINT + 0xc000), addi(6, 0, 50), lw(7, 5, -8), andi(8, 7, 50), bne(8, 6, -8)];
    for (khz, most) in [(10, true), (1000, false)] {
        let (report, skipped) = with_and_without_skipping(System { mtime_khz: khz, ..KC705 }, &wait);
        assert_eq!(report.cores[0].cycles.0 / (100_000 / khz), 50);
        if most {
            assert_most(skipped, &report);
        }
    }
}

#[test]
fn a_wait_for_an_interrupt_at_its_controller_is_skipped() {
    // The SPI core signals that its register is empty, 20480 cycles later.
    let slow = System { sck_ratio: 2048, ..KC705 };
    let mut program = set(INTC, &[(0x08, 7), (0x1c, 3)]);
    program.extend(set(SPI, &[(SPISSR, !1), (DTR, 5), (IPIER, 4), (SPICR, RUN)]));
    program.extend([lui(6, 0x8000_0000), sw(6, 5, DGIER), lui(5, INTC)]);
    program.extend([lw(7, 5, 0x00), beq(7, 0, -4), lw(7, 5, 0x18)]);
    let (report, skipped) = with_and_without_skipping(slow, &program);
    assert!(report.cores[0].cycles.0 > 20_480);
    assert_most(skipped, &report);
}

#[test]
fn a_wait_for_a_dma_engine_is_skipped() {
    let mut program = set(CDMA, &[(0x18, 0x400), (0x20, 0x500), (0x28, 64)]);
    program.extend([lw(7, 5, 0x04), andi(7, 7, 2), beq(7, 0, -8)]);
    let (report, skipped) = with_and_without_skipping(KC705, &program);
    assert!(report.cores[0].cycles.0 > KC705.dma_cycles);
    assert_most(skipped, &report);
}

#[test]
fn a_wait_in_an_overlay_is_skipped_and_takes_the_time_of_its_memory() {
    const OWN: u32 = 0x2000_0400;
    let slow = System { sck_ratio: 2048, ..KC705 };
    let run = |at: u32, cycles: u64| {
        let start = set(SPI, &[(SPICR, STOP), (SPISSR, !1), (DTR, 5), (DTR, 0), (SPICR, RUN)]);
        let start = [&start[..], &[lui(6, at), addi(6, 6, 0x400), jalr(0, 6, 0)]].concat();
        conformance::with_and_without_skipping(|| {
            let mut machine = machine(slow, &start);
            let bus = machine.bus();
            bus.rams.push(Ram::new(0x100, PortTiming::symmetric(clock(), Cycles(cycles), Cycles(1), 4)));
            let entry = MapEntry::new("wait", at, at + 0xff, Target::Ram(1));
            if at == OWN {
                bus.map.insert(1, entry);
            } else {
                bus.lay(entry);
            }
            // Words of the memory on both sides are read and written.
            let wait = [lw(15, 5, SPISR), andi(15, 15, 4), lw(16, 0, 0x3fc), sw(16, 0, 0x500), beq(15, 0, -16)];
            put(&mut machine, at, &then_exit(&wait));
            machine
        })
    };
    let seen = |(report, skipped): (RunReport, u64)| {
        (report.cores[0].cycles, report.cores[0].instructions, cause(&report, "fetch: wait"), skipped)
    };
    // If a DMA engine may access a memory, nothing that takes the memory's time is skipped.
    for cycles in [0, 2] {
        let (own, overlay) = (run(OWN, cycles), run(0x400, cycles));
        if cycles == 0 {
            assert_most(overlay.1, &overlay.0);
        }
        assert_eq!(seen(overlay), seen(own));
    }
}

/// Instructions that an iteration may have: reads and writes of all the devices.
fn body() -> impl Strategy<Value = Vec<u32>> {
    let one = prop::sample::select(vec![
        vec![NOP],
        vec![lw(20, 21, SPISR)],
        vec![lw(20, 21, 0x20)],
        vec![lw(20, 21, 0x74), sw(20, 21, 0x20)],
        vec![lw(20, 22, -8)],
        vec![lui(23, CLINT), lw(20, 23, 0)],
        vec![lui(23, INTC), lw(20, 23, 0x00), sw(20, 23, 0x0c)],
        vec![lui(23, CDMA), lw(20, 23, 0x04)],
        vec![sw(5, 0, 0x700), lw(20, 0, 0x700)],
    ]);
    prop::collection::vec(one, 0..6).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sized(20, 64)))]
    #[test]
    fn skipping_changes_nothing(
        body in body(),
        padding in 0_usize..8,
        spi_mhz in prop::sample::select(vec![80, 100, 66, 25]),
        sck_ratio in prop::sample::select(vec![2, 4, 16, 128]),
        mtime_khz in prop::sample::select(vec![33, 1000, 100_000]),
        busy_us in 1_u64..300,
        dma_cycles in 0_u64..20_000,
    ) {
        let system = System { spi_mhz, sck_ratio, mtime_khz, busy_us, dma_cycles };
        with_and_without_skipping(system, &status_of_a_chip(padding));
        // Each system has a wait for its DMA engine, with all kinds of accesses in between.
        let mut program = set(SPI, &[(SPICR, RUN), (SPISSR, !1)]);
        program.extend(set(CDMA, &[(0x18, 0x400), (0x20, 0x500), (0x28, 64)]));
        program.extend([lui(21, SPI), lui(22, CLINT + 0xc000)]);
        let wait = [&[lw(7, 5, 0x04), andi(7, 7, 2)], &body[..]].concat();
        let back = beq(7, 0, -4 * wait.len() as i32);
        program.extend(wait.into_iter().chain([back]));
        with_and_without_skipping(system, &program);
    }
}
