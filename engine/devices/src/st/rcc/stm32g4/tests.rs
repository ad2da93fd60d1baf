use super::*;
use crate::bench::Bench;
use crate::registers::walk::{self, Port};
use crate::st::rcc::tests::{self, rate};
use engine::time::Ps;

fn rcc() -> Bench {
    let oscillators = [Some(16 * MHZ), Some(24 * MHZ), Some(32_768), Some(32_000), Some(48 * MHZ)];
    let starts = [Ps::from_ns(800), Ps::from_us(2_000_000), Ps::from_us(80), Ps::from_us(2)];
    tests::with(&G4, tests::params(&G4, &oscillators, &starts, Ps::from_us(15)))
}

#[test]
fn registers_are_those_of_the_manual() {
    let special = ["RCC_CR", "RCC_PLLCFGR", "RCC_CFGR", "RCC_BDCR", "RCC_CSR", "RCC_CRRCR"];
    walk::device_keeps_its_map(&MAP, &special, &mut rcc());
    for (register, reset) in
        [(CR, 0x500), (PLLCFGR, 0x1000), (CFGR, 5), (BDCR, 0), (CSR, 0x0c00_0000), (CRRCR, 0), (0x68, 0x130f)]
    {
        assert_eq!(rcc().get(register), reset, "{register:#x}");
    }
}

#[test]
fn out_of_reset_all_run_by_hsi16() {
    let mut bench = rcc();
    for output in [0, 1, 3, 4, 5, 6, 9, 10] {
        assert_eq!(rate(&mut bench, Ps(0), output), 16 * MHZ, "{}", G4.clocks().nth(output as usize).unwrap().0);
    }
    assert_eq!(rate(&mut bench, Ps(0), 2), 2 * MHZ);
    assert!(bench.bus.notes().is_empty());
}

/// As ST's code does on a NUCLEO-G474RE: 24 MHz of HSE by 6, times 85, halved. Q gives no 48 MHz then; P gives the ADCs
/// 340 MHz / 7, or what PLLPDIV says.
#[test]
fn the_pll_makes_170_mhz_and_more_is_reported() {
    for (n, p, adc, notes) in [(85, 0, 340 * MHZ / 7, 0), (85, 17, 20 * MHZ, 0), (86, 0, 344 * MHZ / 7, 1)] {
        let mut bench = rcc();
        bench.put(CR, CR_HSION | CR_HSEON);
        bench.run(Ps::from_us(3_000));
        let factors = 3 | 5 << 4 | n << 8 | PLLCFGR_PLLREN | PLLCFGR_PLLPEN | p << 27;
        let at = Ps::from_us(3_000);
        for (register, value) in [(PLLCFGR, factors), (CR, CR_HSION | CR_HSEON | CR_PLLON), (CFGR, 3), (CCIPR, 1 << 28)]
        {
            bench.write(at, register, value).unwrap();
        }
        let later = Ps::from_us(3_020);
        assert_eq!(rate(&mut bench, later, 0), u64::from(n) * 2 * MHZ);
        assert_eq!(bench.value(later, CFGR), 3 | 3 << 2);
        assert_eq!(rate(&mut bench, later, 20), adc, "{p}");
        assert_eq!(bench.bus.notes().len(), notes, "{:?}", bench.bus.notes());
    }
}

#[test]
fn usart2_has_the_clock_that_firmware_selects() {
    let mut bench = rcc();
    bench.put(CFGR, 1 | 8 << 4 | 4 << 8);
    for (selected, expected) in [(0, 4 * MHZ), (1, 16 * MHZ), (2, 16 * MHZ)] {
        bench.put(CCIPR, selected << 2);
        assert_eq!(rate(&mut bench, Ps::from_us(10), 10), expected, "{selected}");
    }
}
