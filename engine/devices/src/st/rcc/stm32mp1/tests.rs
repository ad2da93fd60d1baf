use super::*;
use crate::bench::{Bench, read_plain_node};
use crate::registers::Access;
use crate::registers::walk::{self, Port as _};
use crate::st::rcc::tests::hz;
use engine::bus::device::{DeviceId, ExitRequest};
use engine::dt::wiring::ClockId;

const LOCK: Ps = Ps::from_us(50);

fn rcc() -> Bench {
    with_mcu(None)
}

const BOARD: [u64; OUTPUTS.len()] = [
    650_000_000,
    266_500_000,
    208_877_930,
    104_438_965,
    66_625_000,
    533_000_000,
    64_000_000,
    64_000_000,
    64_000_000,
    64_000_000,
    64_000_000,
    32_000,
    32_000,
    64_000_000,
    32_768,
    104_438_965,
    133_250_000,
    99_000_000,
    266_500_000,
];

/// Clock number n of the outputs has the phandle 10 + n.
fn outputs(rates: [u64; OUTPUTS.len()]) -> Vec<ClockInput> {
    let clock = |(phandle, rate)| ClockInput { rate: hz(rate), id: Some(ClockId(phandle)) };
    (10..).zip(rates).map(clock).collect()
}

fn with_mcu(core: Option<usize>) -> Bench {
    on_board(BOARD, core)
}

fn on_board(rates: [u64; OUTPUTS.len()], core: Option<usize>) -> Bench {
    let clocks = Clocks { hse: hz(24_000_000), hsi: hz(64_000_000), lock: LOCK };
    let mut bench = Bench::new(Rcc::new(clocks, outputs(rates), core));
    bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.reset(ctx));
    bench
}

fn rates(bench: &Bench) -> Vec<u64> {
    outputs(BOARD).iter().map(|clock| bench.bus.clocks.rate_of(*clock).get()).collect()
}

/// The clocks that a write changes, by their index among the outputs.
fn changed_by(bench: &mut Bench, register: u32, value: u32) -> Vec<(usize, u64)> {
    let before = rates(bench);
    bench.put(register, value);
    bench.run(Ps(0));
    changed_since(&before, bench)
}

fn changed_since(before: &[u64], bench: &Bench) -> Vec<(usize, u64)> {
    let after = rates(bench).into_iter().enumerate();
    after.zip(before).filter(|((_, after), before)| after != *before).map(|(changed, _)| changed).collect()
}

#[test]
fn settings_are_by_offset_and_make_the_boards_clocks() {
    walk::table_is_sound(MAP.rows);
    let clocks = Clocks { hse: hz(24_000_000), hsi: hz(64_000_000), lock: LOCK };
    assert_eq!(Rcc::new(clocks, Vec::new(), None).tree_frequencies(PLLRDY), BOARD.map(Some));
    assert!(rcc().bus.notes().is_empty());
    let mut other = BOARD;
    other[1] = 200_000_000;
    assert_eq!(on_board(other, None).bus.notes().len(), 1);
    let (bench, faults) = read_plain_node(from_node, &[]);
    assert!(faults.len() == 1 && faults[0].contains("cyclescope,pll-lock-us"), "{faults:?}");
    assert!(bench.bus.notes().is_empty());
}

#[test]
fn kernel_clocks_are_those_of_the_oscillators() {
    let mut other = BOARD;
    other[KERNEL] = 60_000_000;
    let bench = on_board(other, None);
    let rate = bench.bus.clocks.rate_of(outputs(other)[KERNEL]).get();
    assert_eq!((rate, bench.bus.notes().len()), (64_000_000, 0));
}

#[test]
fn selectors_and_dividers_make_other_clocks() {
    for (register, value, changed) in [
        // The Cortex-A7 from HSI, HSE, and half of PLL1.
        (0x020, 0, vec![(0, 64_000_000)]),
        (0x020, 1, vec![(0, 24_000_000)]),
        (0x020, 3, vec![(0, 325_000_000)]),
        // The AXI, and pclk5 with it.
        (0x024, 0, vec![(1, 64_000_000), (4, 16_000_000), (16, 32_000_000), (18, 64_000_000)]),
        (0x030, 2, vec![(1, 88_833_333), (4, 22_208_333), (16, 44_416_667), (18, 88_833_333)]),
        (0x040, 4, vec![(4, 16_656_250)]),
        // The Cortex-M4, and pclk1 and pclk3 with it.
        (0x048, 2, vec![(2, 4_000_000), (3, 2_000_000), (15, 2_000_000)]),
        (0x830, 1, vec![(2, 104_438_965), (3, 52_219_482), (15, 52_219_482)]),
        (0x834, 0, vec![(3, 208_877_930)]),
        // UART4 by pclk1, PLL4's Q (24 MHz / 4 * 99 / 8), CSI and HSE.
        (0x8e8, 0, vec![(6, 104_438_965)]),
        (0x8e8, 1, vec![(6, 74_250_000)]),
        (0x8f0, 3, vec![(8, 4_000_000)]),
        (0x8ec, 4, vec![(7, 24_000_000)]),
        (0x8c0, 0, vec![(9, 104_438_965)]),
        (0x8c4, 1, vec![(10, 74_250_000)]),
        // The random number generators by CSI, PLL4's R and LSE.
        (0x0cc, 0, vec![(11, 4_000_000)]),
        (0x0cc, 1, vec![(11, 74_250_000)]),
        (0x920, 2, vec![(12, 32_768)]),
        // I2C4 by pclk5 and PLL3's Q, the APB3.
        (0x0c0, 0, vec![(13, 66_625_000)]),
        (0x0c0, 1, vec![(13, 24_573_874)]),
        (0x83c, 2, vec![(15, 52_219_482)]),
        // SDMMC1 and SDMMC2 by the AXI's clock, PLL3's R (208.877930 MHz * 2 / 37) and HSI; QUADSPI by PLL4's P and by
        // per_ck, which is HSE.
        (0x8f4, 0, vec![(17, 266_500_000)]),
        (0x8f4, 1, vec![(17, 11_290_699)]),
        (0x8f4, 3, vec![(17, 64_000_000)]),
        (0x900, 2, vec![(18, 99_000_000)]),
        (0x900, 3, vec![(18, 24_000_000)]),
        // Values that are set already, with or without the ready flag.
        (0x020, 2, vec![]),
        (0x830, READY, vec![]),
        // Clocks without devices in this test.
        (0x838, 3, vec![]),
    ] {
        let mut bench = rcc();
        assert_eq!(changed_by(&mut bench, register, value), changed, "{register:#x}: {value:#x}");
        assert_eq!(bench.get(register) & !READY, value & !READY);
        assert!(bench.bus.notes().is_empty());
    }
}

#[test]
fn a_pll_takes_its_factors_while_it_is_off() {
    let mut bench = rcc();
    assert_eq!(changed_by(&mut bench, 0x098, 2 << 16 | 49), []);
    assert!(bench.bus.notes()[0].contains("RCC_PLL2CFGR1 was written while its PLL is on"));
    // When the PLL is off, devices on it continue.
    assert_eq!(changed_by(&mut bench, 0x094, 0x70), []);
    assert_eq!((bench.get(0x094), bench.bus.notes().len()), (0x70, 6));
    assert_eq!(changed_by(&mut bench, 0x098, 2 << 16 | 49), []);
    assert_eq!(changed_by(&mut bench, 0x0a0, 0), []);
    // When it is on again, it locks later: 8 MHz * 50.625, as no fraction was latched, halved for the AXI.
    let (before, notes) = (rates(&bench), bench.bus.notes().len());
    assert_eq!(changed_by(&mut bench, 0x094, 0x71), []);
    bench.run(LOCK - Ps(1));
    assert_eq!((changed_since(&before, &bench), bench.get(0x094)), (vec![], 0x71));
    bench.run(LOCK);
    let changed = changed_since(&before, &bench);
    assert_eq!(changed, [(1, 202_500_000), (4, 50_625_000), (5, 405_000_000), (16, 101_250_000), (18, 202_500_000)]);
    assert_eq!((bench.get(0x094), bench.bus.notes().len()), (0x73, notes));
    // FRACLE latches a fraction.
    assert_eq!(changed_by(&mut bench, 0x0a0, FRACLE)[2], (5, 400_000_000));
    // Without output R the DDR continues, and no other clock changes.
    assert_eq!(changed_by(&mut bench, 0x094, 0x31), []);
    assert_eq!((bench.get(0x094), bench.bus.clocks.rate_of(outputs(BOARD)[5]).get()), (0x33, 400_000_000));
}

#[test]
fn a_pll_that_is_turned_off_before_it_locks_does_not() {
    let mut bench = rcc();
    // The Cortex-A7 on HSI, PLL1 off and on; it is selected before it has locked, and turned off again.
    assert_eq!(changed_by(&mut bench, 0x020, 0), [(0, 64_000_000)]);
    for (value, notes) in [(0x10, 0), (0x11, 0)] {
        assert_eq!((changed_by(&mut bench, 0x080, value), bench.bus.notes().len()), (vec![], notes), "{value:#x}");
    }
    assert_eq!((changed_by(&mut bench, 0x020, 2), bench.bus.notes().len()), (vec![], 0));
    let at = Ps::from_us(20);
    bench.write(at, 0x080, 0x10).unwrap();
    bench.run(LOCK);
    assert_eq!((bench.get(0x080), rates(&bench)[0], bench.bus.notes().len()), (0x10, 64_000_000, 1));
    bench.write(LOCK, 0x080, 0x11).unwrap();
    bench.run(LOCK + LOCK - Ps(1));
    assert_eq!((bench.get(0x080), rates(&bench)[0]), (0x11, 64_000_000));
    bench.run(LOCK + LOCK);
    assert_eq!((bench.get(0x080), rates(&bench)[0]), (0x13, 650_000_000));
}

#[test]
fn the_clock_of_the_rtc_is_chosen_once() {
    let (protection, bit) = BACKUP_DOMAIN;
    let enabled = |bench: &Bench| bench.bus.clocks.is_running(BDCR, 20);
    let mut bench = rcc();
    // LSE is on and selected; LSI can't be selected any more.
    assert_eq!((bench.get(BDCR), enabled(&bench)), (0x0011_0025, true));
    assert_eq!(changed_by(&mut bench, BDCR, 0x0002_0021), []);
    assert_eq!((bench.get(BDCR), enabled(&bench)), (0x0001_0025, false));
    // The reset of the domain allows it.
    bench.put(BDCR, 1 << 31);
    assert!(bench.bus.clocks.is_reset(BDCR, 20));
    bench.put(BDCR, 0);
    assert!(!bench.bus.clocks.is_reset(BDCR, 20));
    bench.bus.clocks.set_gates(protection, 0);
    bench.put(BDCR, 0x0012_0000);
    assert_eq!((bench.get(BDCR), bench.bus.notes().last().unwrap().contains("DBP")), (0, true));
    bench.bus.clocks.set_gates(protection, 1 << bit);
    // LSI, 32 kHz; LSI itself is ready while it is on.
    assert_eq!(changed_by(&mut bench, BDCR, 0x0012_0000), [(14, 32_000)]);
    assert_eq!((bench.get(RDLSICR), enabled(&bench)), (3, true));
    bench.put(RDLSICR, 0);
    assert_eq!(bench.get(RDLSICR), 0);
}

#[test]
fn the_backup_domain_may_have_hse_divided() {
    let mut bench = rcc();
    bench.put(BDCR, 1 << 31);
    bench.put(BDCR, 0);
    assert_eq!(changed_by(&mut bench, BDCR, 0x0013_0000), [(14, 1_000_000)]);
    assert_eq!(changed_by(&mut bench, 0x044, 47), [(14, 500_000)]);
}

#[test]
fn a_peripheral_is_held_in_reset_from_one_register_to_the_other() {
    let mut bench = rcc();
    // DMAMUX of the AHB2, and MDMA of the AHB6 that is secure.
    for (register, bit, enables) in [(0x998, 2, 0xa18), (0x1a0, 0, 0x220)] {
        bench.bus.clocks.follow_gate(enables, bit, DeviceId(0));
        bench.put(register, 1 << bit);
        assert!(bench.bus.clocks.is_reset(enables, bit));
        bench.put(register + 4, 1 << bit);
        assert!(!bench.bus.clocks.is_reset(enables, bit));
    }
    assert!(bench.bus.notes().is_empty());
}

#[test]
fn what_is_not_modelled_is_noted() {
    for (register, value, note) in [(0x0d4, 0, "generic timer still counts"), (0x808, 0, "read-only bits")] {
        let mut bench = rcc();
        assert_eq!(changed_by(&mut bench, register, value), []);
        assert!(bench.bus.notes()[0].contains(note), "{}", bench.bus.notes()[0]);
    }
}

#[test]
fn pairs_set_and_clear_and_both_read() {
    let mut bench = rcc();
    let enables = [0x200, 0x220, 0x280, 0x298, 0xa00, 0xa28, 0xa80, 0xab0];
    for register in [0x104, 0x180, 0x1a0, 0x40c, 0x980, 0x9a8].into_iter().chain(enables) {
        assert_eq!(bench.get(register), 0, "{register:#x}");
        bench.put(register, 0x0011_0011);
        bench.put(register, 0x1000_0000);
        assert_eq!((bench.get(register), bench.get(register + 4)), (0x1011_0011, 0x1011_0011), "{register:#x}");
        bench.put(register + 4, 0x0010_0001);
        assert_eq!((bench.get(register), bench.get(register + 4)), (0x1001_0010, 0x1001_0010), "{register:#x}");
    }
    assert_eq!((bench.get(0xa38), bench.get(0xab8), bench.get(0x00c)), (0x10, 0x10, 0x111));
}

#[test]
fn a_clock_is_on_if_either_processor_wants_it() {
    let mut bench = rcc();
    let enabled = |bench: &Bench, register| {
        let running = |bit: &u32| bench.bus.clocks.is_running(register, *bit);
        (0..32).filter(running).fold(0, |bits, bit| bits | 1 << bit)
    };
    assert_eq!(enabled(&bench, 0xa20), 0);
    bench.put(0xa20, 1 << 12);
    bench.put(0xaa0, 1 << 12 | 1 << 11);
    assert_eq!(enabled(&bench, 0xa20), 1 << 12 | 1 << 11);
    bench.put(0xa24, 1 << 12);
    assert_eq!(enabled(&bench, 0xa20), 1 << 12 | 1 << 11);
    bench.put(0xaa4, 1 << 12);
    assert_eq!(enabled(&bench, 0xa20), 1 << 11);
    bench.put(0x298, 1);
    assert_eq!(enabled(&bench, 0x218), 1);
}

#[test]
fn settings_read_as_they_were_written() {
    let mut bench = rcc();
    let settings = MAP.rows.iter().filter(|row| row.rule == Rule::Plain && row.access != Access::W1c);
    for setting in settings {
        assert_eq!(bench.get(setting.offset), setting.reset, "{}", setting.name);
        bench.put(setting.offset, setting.reset & !READY);
        assert_eq!(bench.get(setting.offset), setting.reset, "{}", setting.name);
    }
    assert!(bench.bus.notes().is_empty(), "{:?}", bench.bus.notes());
}

#[test]
fn a_system_reset_ends_the_run() {
    for (written, exits) in [(0x01, true), (0x10, true), (0x20, false), (0x02, false)] {
        let mut bench = rcc();
        bench.write(Ps(70), MP_GRSTCSETR, written).unwrap();
        assert_eq!(bench.bus.exit, exits.then_some(ExitRequest { code: 0, at: Ps(70) }), "{written:#x}");
    }
}

#[test]
fn reset_flags_are_cleared_by_ones() {
    let mut bench = rcc();
    bench.put(MP_GRSTCSETR, MP_GRSTCSETR_MCURST);
    assert_eq!((bench.get(MP_RSTSCLRR), bench.get(MC_RSTSCLRR)), (1, 0x21));
    bench.put(MC_RSTSCLRR, 0x20);
    bench.put(MP_RSTSCLRR, 0xffff);
    assert_eq!((bench.get(MP_RSTSCLRR), bench.get(MC_RSTSCLRR), bench.get(MP_GRSTCSETR)), (0, 1, 0));
}

#[test]
fn a_reset_of_a_peripheral_leaves_a_note() {
    let mut bench = rcc();
    bench.put(0x980, 1 << 16);
    bench.put(0x984, 1 << 16);
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn the_mcu_boots_when_it_may_and_is_held_by_a_reset_only() {
    let mut bench = with_mcu(Some(1));
    let mut put = |at: u64, register: u32, value: u32| {
        bench.write(Ps(at), register, value).unwrap();
        let resets = bench.bus.order.take_resets();
        resets.iter().map(|change| (change.core, change.hold, change.at)).collect::<Vec<_>>()
    };
    // The MCU is held when the run begins.
    assert_eq!(put(10, MP_GCR, 0), []);
    assert_eq!(put(20, MP_GCR, 1), [(1, false, Ps(20))]);
    assert_eq!(put(30, MP_GCR, 0), []);
    assert_eq!(put(40, MP_GCR, 1), []);
    assert_eq!(put(50, MP_GRSTCSETR, MP_GRSTCSETR_MCURST), [(1, true, Ps(50)), (1, false, Ps(50))]);
    assert_eq!(put(60, MP_GCR, 0), []);
    assert_eq!(put(70, MP_GRSTCSETR, MP_GRSTCSETR_MCURST), [(1, true, Ps(70))]);
    assert_eq!(put(80, MP_GCR, 1), [(1, false, Ps(80))]);
    assert!(bench.bus.notes().is_empty());
}

#[test]
fn a_board_without_the_mcu_says_so() {
    let mut bench = rcc();
    bench.put(MP_GCR, 1);
    assert_eq!(bench.bus.notes().len(), 1);
}
