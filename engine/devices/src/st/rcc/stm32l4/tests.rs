use super::*;
use crate::bench::Bench;
use crate::registers::walk::{self, Port};
use crate::st::rcc::tests::{self, MHZ, output, rate};
use crate::support::clock_gate::BACKUP_DOMAIN;
use engine::bus::device::DeviceId;
use engine::time::Ps;

const PLL_QEN: u32 = PLLCFGR_PLLQEN;
const PLL_REN: u32 = PLLCFGR_PLLREN;

fn rcc() -> Bench {
    let oscillators = [None, Some(16 * MHZ), None, Some(32_768), Some(32_000), Some(48 * MHZ)];
    let starts = [Ps::from_us(3), Ps::from_ns(800), Ps::from_us(2_000_000), Ps::from_us(80), Ps::from_us(2)];
    tests::with(&L4, tests::params(&L4, &oscillators, &starts, Ps::from_us(15)))
}

#[test]
fn registers_are_those_of_the_manual() {
    let special = ["RCC_CR", "RCC_PLLCFGR", "RCC_PLLSAI1CFGR", "RCC_CFGR", "RCC_BDCR", "RCC_CSR", "RCC_CRRCR"];
    walk::device_keeps_its_map(&MAP, &special, &mut rcc());
    for (register, reset) in [(CR, 0x63), (PLLCFGR, 0x1000), (CFGR, 0), (BDCR, 0), (CSR, 0x0c00_0600), (CRRCR, 0)] {
        assert_eq!(rcc().get(register), reset, "{register:#x}");
    }
}

#[test]
fn out_of_reset_all_run_by_msi() {
    let mut bench = rcc();
    for output in [0, 1, 3, 4, 5, 6, 7, 10, 15] {
        assert_eq!(rate(&mut bench, Ps(0), output), 4 * MHZ, "{}", L4.clocks().nth(output as usize).unwrap().0);
    }
    assert_eq!(rate(&mut bench, Ps(0), 2), 500_000);
    assert!(bench.bus.notes().is_empty());
}

#[test]
fn msi_has_twelve_ranges() {
    let khz = [100, 200, 400, 800, 1_000, 2_000, 4_000, 8_000, 16_000, 24_000, 32_000, 48_000];
    for (range, khz) in khz.into_iter().enumerate() {
        let mut bench = rcc();
        bench.put(CR, CR_MSION | CR_MSIRGSEL | (range as u32) << 4);
        assert_eq!(rate(&mut bench, Ps::from_us(30), 0), khz * 1_000, "range {range}");
    }
    // Without MSIRGSEL the range keeps its reset value.
    let mut bench = rcc();
    bench.put(CR, CR_MSION | 11 << 4);
    assert_eq!(rate(&mut bench, Ps::from_us(30), 0), 4 * MHZ);
}

#[test]
fn msi_s_range_after_standby_is_not_that_of_now() {
    let mut bench = rcc();
    // MSISRANGE is writable while MSIRGSEL is set, which only a reset clears.
    bench.put(CSR, 5 << 8);
    assert_eq!(bench.get(CSR) & CSR_MSISRANGE, 6 << 8);
    bench.put(CR, CR_MSION | CR_MSIRGSEL | 7 << 4);
    bench.put(CSR, 5 << 8);
    bench.put(CR, CR_MSION | 8 << 4);
    assert_eq!((bench.get(CR) & 0xff, bench.get(CSR) & CSR_MSISRANGE), (0x8b, 5 << 8));
    assert_eq!(rate(&mut bench, Ps::from_us(30), 0), 16 * MHZ);
}

/// As pqm4 sets a NUCLEO-L4R5ZI: 20 MHz of HSI16, by a PLL that it does not wait for.
#[test]
fn the_pll_makes_20_mhz() {
    let mut bench = rcc();
    bench.put(CR, 0x61 | CR_HSION);
    bench.run(Ps::from_us(1));
    assert_ne!(bench.value(Ps::from_us(1), CR) & CR_HSIRDY, 0);
    bench.write(Ps::from_us(1), PLLCFGR, 2 | 10 << 8 | 3 << 25 | PLL_REN | 2 << 27).unwrap();
    bench.write(Ps::from_us(1), CR, 0x61 | CR_HSION | CR_PLLON).unwrap();
    bench.write(Ps::from_us(2), CFGR, 3).unwrap();
    assert_eq!(bench.value(Ps::from_us(15), CFGR), 3);
    // The lock, two cycles of 4 MHz, two of 20 MHz.
    let switched = Ps::from_us(16).saturating_add(Ps(2 * 250_000 + 2 * 50_000));
    assert_eq!(rate(&mut bench, Ps(switched.0 - 1), 1), 4 * MHZ);
    assert_eq!(rate(&mut bench, switched, 1), 20 * MHZ);
    assert_eq!(bench.value(switched, CFGR), 3 | 3 << 2);
    assert_eq!(rate(&mut bench, switched, 15), 20 * MHZ);
    assert!(bench.bus.notes().is_empty(), "{:?}", bench.bus.notes());
}

/// As ST's code does: MSI of 4 MHz, times 60, halved.
#[test]
fn the_pll_makes_120_mhz_and_more_is_reported() {
    for (n, notes) in [(60, 0), (61, 1)] {
        let mut bench = rcc();
        bench.put(PLLCFGR, 1 | n << 8 | PLL_REN);
        bench.put(CR, 0x61 | CR_PLLON);
        bench.put(CFGR, 3 | 4 << 8);
        assert_eq!(rate(&mut bench, Ps::from_us(20), 1), u64::from(n) * 2 * MHZ);
        assert_eq!(rate(&mut bench, Ps::from_us(20), 3), u64::from(n) * MHZ);
        assert_eq!(rate(&mut bench, Ps::from_us(20), 5), u64::from(n) * 2 * MHZ);
        assert_eq!(bench.bus.notes().len(), notes, "{:?}", bench.bus.notes());
    }
}

#[test]
fn a_pll_without_an_input_or_out_of_range_is_reported() {
    for (factors, what) in [
        (1 << 8 | 10 << 8, "without an input"),
        (1 | 5 << 8, "PLLN"),
        (1 | 1 << 4 | 80 << 8, "input"),
        (1 | 100 << 8, "VCO would run"),
    ] {
        let mut bench = rcc();
        bench.put(PLLCFGR, factors);
        bench.put(CR, 0x61 | CR_PLLON);
        let notes = format!("{:?}", bench.bus.notes());
        assert!(notes.contains(what), "{factors:#x}: {notes}");
    }
}

#[test]
fn hsi48_is_clk48_out_of_reset_and_takes_its_time() {
    let mut bench = rcc();
    bench.put(CRRCR, CRRCR_HSI48ON);
    assert_eq!(bench.value(Ps::from_ns(1_999), CRRCR), 1);
    bench.run(Ps::from_us(2));
    assert_eq!(bench.value(Ps::from_us(2), CRRCR), 3);
    assert_eq!(rate(&mut bench, Ps::from_us(2), 8), 48 * MHZ);
    bench.write(Ps::from_us(2), CCIPR, 3 << 26).unwrap();
    assert_eq!(rate(&mut bench, Ps::from_us(4), 8), 4 * MHZ);
}

#[test]
fn kernel_clocks_are_chosen() {
    let mut bench = rcc();
    let (register, bit) = BACKUP_DOMAIN;
    bench.bus.clocks.set_gates(register, 1 << bit);
    bench.put(CR, 0x61 | CR_HSION);
    bench.put(CSR, CSR_LSION);
    bench.put(BDCR, BDCR_LSEON);
    bench.put(CFGR, 8 << 4 | 5 << 8);
    bench.put(CCIPR, 1 | 2 << 2 | 3 << 10 | 2 << 12 | 1 << 18);
    let at = Ps::from_us(2_000_001);
    assert_eq!(rate(&mut bench, at, 3), 500_000);
    // USART1 uses SYSCLK, USART2 HSI16, USART3 PCLK1, LPUART1 LSE, I2C1 HSI16, LPTIM1 LSI.
    let expected = [(10, 4 * MHZ), (11, 16 * MHZ), (12, 500_000), (15, 32_768), (16, 16 * MHZ), (20, 32_000)];
    for (output, expected) in expected {
        assert_eq!(rate(&mut bench, at, output), expected, "{}", L4.clocks().nth(output as usize).unwrap().0);
    }
}

/// The rate of an output, or why it is stopped.
fn state(bench: &mut Bench, at: Ps, number: u32) -> Result<u64, Option<String>> {
    bench.run(at);
    let clock = output(number);
    let why = bench.bus.clocks.stopped_by(clock).map(str::to_owned);
    if bench.bus.clocks.is_stopped(clock) { Err(why) } else { Ok(bench.bus.clocks.rate_of(clock).get()) }
}

#[test]
fn a_source_that_was_just_turned_on_is_not_reported_to_be_off() {
    let mut bench = rcc();
    bench.put(CCIPR, 2 << 2);
    let off = Err(Some("HSI16, which is off (RCC_CR.HSION)".to_owned()));
    assert_eq!(state(&mut bench, Ps::from_us(1), 11), off);
    bench.write(Ps::from_us(2), CR, 0x61 | CR_HSION).unwrap();
    assert_eq!(state(&mut bench, Ps::from_us(2), 11), Err(None), "it comes by itself");
    bench.write(Ps::from_us(2), CR, 0x61).unwrap();
    assert_eq!(state(&mut bench, Ps::from_us(3), 11), off);
}

#[test]
fn a_kernel_clock_runs_while_its_source_does() {
    let off = |what: &str| Err(Some(what.to_owned()));
    let mut bench = rcc();
    let hsi_off = off("HSI16, which is off (RCC_CR.HSION)");
    assert_eq!(state(&mut bench, Ps(0), 8), off("HSI48, which is off (RCC_CRRCR.HSI48ON)"));
    assert_eq!(state(&mut bench, Ps(0), 9), off("nothing, as RCC_BDCR.RTCSEL selects none"));
    bench.put(CCIPR, 2 << 2 | 3 << 4);
    assert_eq!(state(&mut bench, Ps::from_us(1), 11), hsi_off);
    assert_eq!(state(&mut bench, Ps::from_us(1), 12), off("LSE, which is off (RCC_BDCR.LSEON)"));
    // Ready after 800 ns, and off six of its own cycles after its disable.
    bench.write(Ps::from_us(1), CR, 0x61 | CR_HSION).unwrap();
    assert_eq!(state(&mut bench, Ps::from_us(2), 11), Ok(16 * MHZ));
    bench.write(Ps::from_us(2), CR, 0x61).unwrap();
    assert_eq!(state(&mut bench, Ps::from_ns(2_374), 11), Ok(16 * MHZ));
    assert_eq!(state(&mut bench, Ps::from_ns(2_375), 11), hsi_off);
}

#[test]
fn outputs_of_a_pll_are_turned_on_one_by_one() {
    let off = |what: &str| Err(Some(what.to_owned()));
    let mut bench = rcc();
    bench.put(CCIPR, 2 << 26 | 1 << 28);
    bench.put(PLLCFGR, 1 | 24 << 8);
    bench.put(PLLSAI1CFGR, 24 << 8 | PLL_REN);
    bench.put(CR, 0x61 | CR_PLLON | CR_PLLSAI1ON);
    assert_eq!(state(&mut bench, Ps::from_us(1), 8), Err(None), "it has yet to lock");
    assert_eq!(state(&mut bench, Ps::from_us(16), 8), off("output Q of a PLL, which is off (RCC_PLLCFGR.PLLQEN)"));
    assert_eq!(state(&mut bench, Ps::from_us(16), 22), Ok(48 * MHZ));
    bench.write(Ps::from_us(16), PLLCFGR, 1 | 24 << 8 | PLL_QEN).unwrap();
    assert_eq!(state(&mut bench, Ps::from_us(17), 8), Ok(48 * MHZ));
    bench.write(Ps::from_us(17), CR, 0x61 | CR_PLLSAI1ON).unwrap();
    assert_eq!(state(&mut bench, Ps::from_us(17), 8), off("the PLL, which is off (RCC_CR.PLLON)"));
}

#[test]
fn sysclk_waits_for_output_r_of_the_pll_and_keeps_it() {
    let mut bench = rcc();
    bench.put(PLLCFGR, 1 | 40 << 8);
    bench.put(CR, 0x61 | CR_PLLON);
    bench.put(CFGR, 3);
    assert_eq!((rate(&mut bench, Ps::from_us(20), 0), bench.bus.notes().len()), (4 * MHZ, 1));
    bench.write(Ps::from_us(20), PLLCFGR, 1 | 40 << 8 | PLL_REN).unwrap();
    assert_eq!(rate(&mut bench, Ps::from_us(21), 0), 80 * MHZ);
    bench.write(Ps::from_us(21), PLLCFGR, 1 | 40 << 8).unwrap();
    assert_eq!((rate(&mut bench, Ps::from_us(22), 0), bench.bus.notes().len()), (80 * MHZ, 2));
}

#[test]
fn the_input_of_all_plls_stays_while_one_is_on() {
    let mut bench = rcc();
    bench.put(PLLCFGR, 1 | 40 << 8);
    bench.put(PLLSAI1CFGR, 24 << 8);
    bench.put(CR, 0x61 | CR_PLLSAI1ON);
    bench.put(PLLCFGR, 2 | 1 << 4 | 20 << 8);
    assert_eq!((bench.get(PLLCFGR), bench.bus.notes().len()), (1 | 20 << 8, 1));
}

#[test]
fn factors_of_a_running_pll_stay_and_its_outputs_do_not() {
    let mut bench = rcc();
    bench.put(PLLCFGR, 1 | 40 << 8);
    bench.put(CR, 0x61 | CR_PLLON);
    bench.put(PLLCFGR, 1 | 40 << 8 | PLL_REN);
    assert_eq!((bench.get(PLLCFGR), bench.bus.notes().len()), (1 | 40 << 8 | PLL_REN, 0));
    bench.put(PLLCFGR, 1 | 20 << 8 | PLL_REN);
    assert_eq!((bench.get(PLLCFGR), bench.bus.notes().len()), (1 | 40 << 8 | PLL_REN, 1));
}

#[test]
fn resets_are_those_of_what_is_enabled_and_reported_where_nobody_follows() {
    let mut bench = rcc();
    bench.bus.clocks.follow_gate(0x58, 21, DeviceId(0));
    bench.put(0x38, 1 << 21);
    assert!(bench.bus.clocks.is_reset(0x58, 21) && bench.bus.notes().is_empty());
    bench.put(0x38, 1 << 21 | 1 << 28);
    // The next register has such bits as well: one note is enough.
    bench.put(0x3c, 1);
    let notes = bench.bus.notes();
    assert!(notes.len() == 1 && notes[0].contains("bits 0x10000000 of RCC_APB1RSTR1 are of peripherals"), "{notes:?}");
    bench.put(0x38, 0);
    assert_eq!((bench.get(0x38), bench.bus.clocks.is_reset(0x58, 21)), (0, false));
}

#[test]
fn ready_flags_interrupt_if_they_are_enabled() {
    let mut bench = rcc();
    bench.put(CIER, 1 << 3);
    bench.put(CR, 0x61 | CR_HSION);
    bench.run(Ps::from_us(1));
    assert_eq!((bench.value(Ps::from_us(1), CIFR), bench.pending()), (1 << 3, 1 << 5));
    bench.write(Ps::from_us(1), CICR, 1 << 3).unwrap();
    assert_eq!((bench.value(Ps::from_us(1), CIFR), bench.pending()), (0, 0));
}

#[test]
fn the_backup_domain_is_written_when_it_is_open() {
    let (register, bit) = BACKUP_DOMAIN;
    let mut bench = rcc();
    bench.bus.clocks.set_gates(register, 0);
    bench.put(BDCR, BDCR_LSEON);
    assert_eq!((bench.get(BDCR), bench.bus.notes().len()), (0, 1));
    bench.bus.clocks.set_gates(register, 1 << bit);
    bench.put(BDCR, BDCR_LSEON | 1 << 8);
    bench.run(Ps::from_us(2_000_000));
    assert_eq!(bench.value(Ps::from_us(2_000_000), BDCR), BDCR_LSEON | BDCR_LSERDY | 1 << 8);
    assert_eq!(rate(&mut bench, Ps::from_us(2_000_001), 9), 32_768);
}

#[test]
fn hse_never_gets_ready_on_a_board_without_one() {
    let mut bench = rcc();
    bench.put(CR, 0x61 | CR_HSEON);
    bench.run(Ps::from_us(1_000_000));
    assert_eq!(bench.value(Ps::from_us(1_000_000), CR) & CR_HSERDY, 0);
    assert_eq!(bench.bus.notes().len(), 1);
}
