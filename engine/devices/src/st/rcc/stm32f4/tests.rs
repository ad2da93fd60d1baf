use super::*;
use crate::bench::Bench;
use crate::registers::walk::{self, Port};
use crate::st::rcc::Params;
use crate::st::rcc::sources::Hse;
use crate::st::rcc::tests::{self, MHZ, hz, output, rate};
use crate::support::clock_gate::BACKUP_DOMAIN;
use engine::bus::device::{AccessResult, AccessSize, Ctx, DeviceId, Reply};
use engine::dt::wiring::{ClockId, ClockInput};
use engine::polling::{Poll, Polled};
use engine::time::Ps;

const START: [Ps; 3] = [Ps::from_us(2), Ps::from_us(2_000_000), Ps::from_us(15)];

fn board(oscillators: [Option<u64>; 4]) -> Params {
    tests::params(&F407, &oscillators, &START, Ps::from_us(200))
}

fn params() -> Params {
    board([Some(16 * MHZ), Some(8 * MHZ), None, Some(32_000)])
}

fn with(part: &'static Family, params: Params) -> Bench {
    tests::with(part, params)
}

fn rcc() -> Bench {
    with(&F407, params())
}

/// The rates of the outputs, in their order, at a time.
fn rates(bench: &mut Bench, at: Ps) -> Vec<u64> {
    (0..10).map(|clock| rate(bench, at, clock)).collect()
}

const PLL_168: u32 = 8 | 336 << 6 | PLLCFGR_PLLSRC | 7 << 24;
const DIVIDED_168: u32 = 5 << 10 | 4 << 13;

#[test]
fn registers_are_those_of_the_manual() {
    let special = ["RCC_CR", "RCC_PLLCFGR", "RCC_CFGR", "RCC_CIR", "RCC_BDCR", "RCC_CSR"];
    for part in [&F407, &F411] {
        walk::device_keeps_its_map(part.map, &special, &mut with(part, params()));
    }
    let resets = [(CR, 0x83), (PLLCFGR, 0x2400_3010), (CFGR, 0), (CIR, 0), (BDCR, 0), (CSR, 0x0e00_0000)];
    for (register, reset) in resets {
        assert_eq!(rcc().get(register), reset, "{register:#x}");
    }
}

#[test]
fn out_of_reset_all_run_by_hsi() {
    let mut bench = rcc();
    let expected = [16, 16, 2, 16, 16, 16, 16].map(|mhz| mhz * MHZ);
    assert_eq!(rates(&mut bench, Ps(0))[..7], expected);
    assert!(bench.bus.notes().is_empty());
}

/// The sequence of vendors' code for 168 MHz (RM0090, 7.2.3 and 7.2.6): HSE, the PLL, the dividers, SW.
#[test]
fn hse_and_pll_make_168_mhz() {
    let mut bench = rcc();
    bench.put(CR, 0x81 | CR_HSEON);
    assert_eq!(bench.value(Ps::from_us(1_999), CR) & CR_HSERDY, 0);
    bench.run(Ps::from_us(2_000));
    assert_eq!(bench.value(Ps::from_us(2_000), CR) & CR_HSERDY, CR_HSERDY);
    let at = Ps::from_us(2_010);
    bench.write(at, CFGR, DIVIDED_168).unwrap();
    bench.write(at, PLLCFGR, PLL_168).unwrap();
    bench.write(at, CR, 0x81 | CR_HSEON | CR_PLLON).unwrap();
    // PCLK1 is a quarter from two cycles of HCLK on.
    assert_eq!(rates(&mut bench, Ps(at.0 + 2 * 62_500 - 1))[3], 16 * MHZ);
    assert_eq!(rates(&mut bench, Ps(at.0 + 2 * 62_500))[3..7], [4, 8, 8, 16].map(|mhz| mhz * MHZ));
    let locked = Ps::from_us(2_210);
    bench.run(locked);
    assert_eq!(bench.value(locked, CR) & CR_PLLRDY, CR_PLLRDY);
    assert_eq!(rates(&mut bench, locked)[7], 48 * MHZ);
    bench.write(locked, CFGR, DIVIDED_168 | 2).unwrap();
    assert_eq!(bench.value(locked, CFGR) & CFGR_SWS, 0);
    // Two cycles of 16 MHz, and two of 168 MHz from its first edge on.
    let switched = hz(168 * MHZ).after(Ps(locked.0 + 2 * 62_500), Cycles(2));
    assert_eq!(rates(&mut bench, Ps(switched.0 - 1))[0], 16 * MHZ);
    let expected = [168, 168, 21, 42, 84, 84, 168, 48].map(|mhz| mhz * MHZ);
    assert_eq!(rates(&mut bench, switched)[..8], expected);
    assert_eq!(bench.value(switched, CFGR) & CFGR_SWS, 2 << 2);
    assert!(bench.bus.notes().is_empty(), "{:?}", bench.bus.notes());
}

/// As pqm4 sets an STM32F4DISCOVERY: 24 MHz, without a wait state.
#[test]
fn the_pll_makes_24_mhz() {
    let mut bench = rcc();
    bench.put(PLLCFGR, 8 | 192 << 6 | 3 << 16 | PLLCFGR_PLLSRC | 4 << 24);
    bench.put(CFGR, 4 << 10 | 2);
    bench.put(CR, 0x81 | CR_HSEON | CR_PLLON);
    let expected = [24, 24, 3, 12, 24, 24, 24, 48].map(|mhz| mhz * MHZ);
    assert_eq!(rates(&mut bench, Ps::from_us(2_300))[..8], expected);
    // HSI is no longer needed.
    bench.write(Ps::from_us(2_300), CR, 0x80 | CR_HSEON | CR_PLLON).unwrap();
    bench.run(Ps::from_us(2_301));
    assert_eq!(bench.value(Ps::from_us(2_301), CR) & 3, 0);
    assert!(bench.bus.notes().is_empty());
}

#[test]
fn the_divider_of_the_ahb_divides_all_after_it() {
    let mut bench = rcc();
    bench.put(CFGR, 9 << 4 | 4 << 10);
    assert_eq!(
        rates(&mut bench, Ps::from_us(1))[..7],
        [16_000_000, 4_000_000, 500_000, 2_000_000, 4_000_000, 4_000_000, 4_000_000]
    );
}

#[test]
fn timers_of_an_f411_may_have_four_times_their_bus() {
    let mut bench = with(&F411, params());
    bench.put(CFGR, 5 << 10 | 6 << 13);
    assert_eq!(rates(&mut bench, Ps::from_us(1))[3..7], [4, 2, 8, 4].map(|mhz| mhz * MHZ));
    bench.put(DCKCFGR, DCKCFGR_TIMPRE);
    assert_eq!(rates(&mut bench, Ps::from_us(2))[3..7], [4, 2, 16, 8].map(|mhz| mhz * MHZ));
}

#[test]
fn what_the_board_does_not_have_never_gets_ready() {
    let mut bench = with(&F407, Params { hse: tests::NO_HSE, ..params() });
    bench.put(CR, 0x81 | CR_HSEON);
    bench.run(Ps::from_us(10_000_000));
    assert_eq!(bench.value(Ps::from_us(10_000_000), CR) & (CR_HSEON | CR_HSERDY), CR_HSEON);
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn hse_from_elsewhere_takes_its_cycles() {
    let mut bench = with(&F407, Params { hse: Hse { is_external: true, ..params().hse }, ..params() });
    bench.put(CR, 0x81 | CR_HSEBYP);
    bench.put(CR, 0x81 | CR_HSEBYP | CR_HSEON);
    bench.run(Ps::from_us(64));
    assert_eq!(bench.value(Ps::from_us(64), CR) & CR_HSERDY, CR_HSERDY);
    assert!(bench.bus.notes().is_empty());
    // A crystal does not oscillate when it is bypassed.
    let mut bench = rcc();
    bench.put(CR, 0x81 | CR_HSEBYP);
    bench.put(CR, 0x81 | CR_HSEBYP | CR_HSEON);
    bench.run(Ps::from_us(10_000));
    assert_eq!(bench.value(Ps::from_us(10_000), CR) & CR_HSERDY, 0);
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn a_pll_out_of_range_is_reported() {
    for (factors, what) in [
        (8 | 440 << 6 | 7 << 24, "PLLN"),
        (1 | 50 << 6 | 7 << 24, "PLLM"),
        (32 | 192 << 6 | 7 << 24, "input"),
        (8 | 60 << 6 | 7 << 24, "VCO would run"),
        (8 | 192 << 6, "PLLQ"),
    ] {
        let mut bench = rcc();
        bench.put(PLLCFGR, factors | PLLCFGR_PLLSRC);
        bench.put(CR, 0x81 | CR_PLLON);
        let notes = format!("{:?}", bench.bus.notes());
        assert!(notes.contains(what), "{factors:#x}: {notes}");
    }
}

#[test]
fn clocks_above_their_limits_are_reported() {
    let mut bench = rcc();
    bench.put(PLLCFGR, PLL_168);
    bench.put(CR, 0x81 | CR_HSEON | CR_PLLON);
    bench.put(CFGR, 2);
    bench.run(Ps::from_us(2_300));
    let notes = format!("{:?}", bench.bus.notes());
    assert!(notes.contains("PCLK1 runs at 168000000 Hz") && notes.contains("PCLK2"), "{notes}");
}

#[test]
fn the_factors_of_a_running_pll_stay() {
    let mut bench = rcc();
    bench.put(PLLCFGR, PLL_168);
    bench.put(CR, 0x81 | CR_HSEON | CR_PLLON);
    bench.put(PLLCFGR, 4);
    assert_eq!(bench.get(PLLCFGR), PLL_168 | PLLCFGR_RESERVED);
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn resets_are_those_of_what_is_enabled_and_reported_where_nobody_follows() {
    let mut bench = rcc();
    bench.bus.clocks.follow_gate(0x40, 21, DeviceId(0));
    bench.put(0x20, 1 << 21);
    assert!(bench.bus.clocks.is_reset(0x40, 21) && bench.bus.notes().is_empty());
    bench.put(0x20, 1 << 21 | 1 << 28);
    // The next register has such bits as well: one note is enough.
    bench.put(0x24, 1);
    let notes = bench.bus.notes();
    assert!(notes.len() == 1 && notes[0].contains("bits 0x10000000 of RCC_APB1RSTR are of peripherals"), "{notes:?}");
    bench.put(0x20, 0);
    assert_eq!((bench.get(0x20), bench.bus.clocks.is_reset(0x40, 21)), (0, false));
}

#[test]
fn ready_flags_interrupt_if_they_are_enabled() {
    let mut bench = rcc();
    bench.put(CIR, 1 << 8 | 1 << 11);
    bench.put(CSR, CSR_LSION);
    bench.run(Ps::from_us(15));
    assert_eq!((bench.value(Ps::from_us(15), CIR), bench.pending()), (1 << 8 | 1 << 11 | 1, 1 << 5));
    // A source that is disabled again does not interrupt.
    bench.write(Ps::from_us(16), CIR, 1 << 11).unwrap();
    assert_eq!((bench.value(Ps::from_us(16), CIR), bench.pending()), (1 << 11 | 1, 0));
    bench.write(Ps::from_us(16), CIR, 1 << 8 | 1 << 16).unwrap();
    assert_eq!((bench.value(Ps::from_us(16), CIR), bench.pending()), (1 << 8, 0));
    assert_eq!(bench.value(Ps::from_us(16), CSR) & 3, 3);
}

#[test]
fn the_backup_domain_is_written_when_it_is_open() {
    let (register, bit) = BACKUP_DOMAIN;
    let mut bench = with(&F407, board([Some(16 * MHZ), None, Some(32_768), None]));
    bench.bus.clocks.set_gates(register, 0);
    bench.put(BDCR, BDCR_LSEON);
    assert_eq!((bench.get(BDCR), bench.bus.notes().len()), (0, 1));
    bench.bus.clocks.set_gates(register, 1 << bit);
    bench.put(BDCR, BDCR_LSEON | 1 << 8);
    bench.run(Ps::from_us(2_000_000));
    assert_eq!(bench.value(Ps::from_us(2_000_000), BDCR), BDCR_LSEON | BDCR_LSERDY | 1 << 8);
    assert_eq!(rates(&mut bench, Ps::from_us(2_000_001))[9], 32_768);
    // A selection stays until the domain is reset.
    bench.write(Ps::from_us(2_000_001), BDCR, BDCR_LSEON | 2 << 8).unwrap();
    assert_eq!(bench.value(Ps::from_us(2_000_001), BDCR) & BDCR_RTCSEL, 1 << 8);
    bench.write(Ps::from_us(2_000_001), BDCR, BDCR_BDRST).unwrap();
    assert_eq!(bench.value(Ps::from_us(2_000_002), BDCR) & BDCR_RTCSEL, 0);
    assert!(bench.bus.clocks.is_reset(BDCR, 15));
    bench.write(Ps::from_us(2_000_003), BDCR, BDCR_RTCEN).unwrap();
    assert!(bench.bus.clocks.is_running(BDCR, 15) && !bench.bus.clocks.is_reset(BDCR, 15));
}

#[test]
fn enables_are_gates_and_flags_of_resets_are_cleared() {
    let mut bench = rcc();
    assert!(!bench.bus.clocks.is_running(0x40, 17));
    bench.put(0x40, 1 << 17);
    assert!(bench.bus.clocks.is_running(0x40, 17));
    bench.put(CSR, CSR_RMVF);
    assert_eq!(bench.get(CSR), 0);
}

#[test]
fn outputs_run_while_their_plls_do() {
    let mut bench = rcc();
    let why = |bench: &mut Bench, at: Ps, number: u32| {
        bench.run(at);
        bench.bus.clocks.stopped_by(output(number)).unwrap_or("").to_owned()
    };
    assert_eq!(why(&mut bench, Ps(0), 7), "the PLL, which is off (RCC_CR.PLLON)");
    assert_eq!(why(&mut bench, Ps(0), 9), "nothing, as RCC_BDCR.RTCSEL selects none");
    bench.put(PLLCFGR, 8 | 192 << 6 | 3 << 16 | 8 << 24);
    bench.put(CR, 0x81 | CR_PLLON);
    // The PLL has yet to lock.
    assert_eq!(why(&mut bench, Ps::from_us(1), 7), "");
    assert_eq!((why(&mut bench, Ps::from_us(300), 7), rates(&mut bench, Ps::from_us(300))[7]), ("".into(), 48 * MHZ));
    bench.write(Ps::from_us(300), CR, 0x81).unwrap();
    assert_eq!(why(&mut bench, Ps::from_us(300), 7), "the PLL, which is off (RCC_CR.PLLON)");
}

#[test]
fn the_input_of_both_plls_stays_while_one_is_on() {
    // An STM32F407's divider of the input is that of both.
    for (part, m) in [(&F407, 16), (&F411, 8)] {
        let mut bench = with(part, params());
        bench.put(CR, 0x81 | CR_PLLI2SON);
        bench.put(PLLCFGR, 8 | 336 << 6 | PLLCFGR_PLLSRC | 7 << 24);
        assert_eq!(bench.get(PLLCFGR), m | 336 << 6 | 7 << 24 | PLLCFGR_RESERVED, "{part:?}");
        assert_eq!(bench.bus.notes().len(), 1, "{:?}", bench.bus.notes());
    }
}

/// A device that counts cycles of PCLK1, as a timer does.
#[derive(engine::state::State)]
struct Counter {
    clock: ClockInput,
    since: Ps,
    count: u64,
}

impl Device for Counter {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        self.clocks_changed(ctx);
        Ok(Reply::read(self.count as u32, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::written(ctx.now))
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        let edges = |at| self.clock.rate.cycles_until_floor(at).0;
        self.count += edges(ctx.now) - edges(self.since);
        self.since = ctx.now;
        self.clock.rate = ctx.bus.clocks.rate_of(self.clock);
    }
}

impl Polled for Counter {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

#[test]
fn who_runs_by_a_clock_follows_it() {
    let clock = ClockInput { rate: hz(16 * MHZ), id: Some(ClockId(3)) };
    let mut bench = rcc().and(Counter { clock, since: Ps(0), count: 0 });
    bench.bus.clocks.add_user(ClockId(3), engine::clocks::User::Device(DeviceId(1)));
    bench.put(CFGR, 5 << 10);
    bench.run(Ps::from_us(10));
    let read = |device: &mut dyn Device, ctx: &mut Ctx| device.read(0, 0, AccessSize::Word, ctx);
    let count = bench.bus.with_device(DeviceId(1), Ps::from_us(10), read).unwrap().value;
    // Two cycles at 16 MHz, and 4 MHz for the rest: its edges are at multiples of 250 ns.
    assert_eq!(count, 2 + 40);
}
