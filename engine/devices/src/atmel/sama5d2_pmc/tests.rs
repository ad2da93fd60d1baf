use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use engine::bus::device::DeviceId;
use engine::dt::wiring::ClockId;
use engine::time::Cycles;

const NOW: Ps = Ps(0);
const MOR_KEYED: u32 = 0x37 << 16;

fn hz(hz: u64) -> Hz {
    Hz::new(hz).unwrap()
}

fn clocks() -> Clocks {
    Clocks { slow: hz(32_768), crystal: hz(12_000_000) }
}

/// After reset, driving nothing.
fn pmc() -> Bench {
    Bench::new(Pmc::new(clocks(), Vec::new(), Some(IrqLine::Core { core: 0, bit: 6 })))
}

/// The clocks of processor, MCK and 32-bit matrix, with the phandles 10 to 12.
fn outputs(rates: [u64; 3]) -> Vec<ClockInput> {
    let clock = |(phandle, rate)| ClockInput { rate: hz(rate), id: Some(ClockId(phandle)) };
    (10..).zip(rates).map(clock).collect()
}

const BOARD: [u64; 3] = [498_000_000, 166_000_000, 83_000_000];
/// PMC_MCKR for these.
const BOARD_MCKR: u32 = 1 << 24 | 1 << 12 | 3 << 8 | 2;
/// CKGR_PLLAR for 996 MHz, with a count of 63.
const BOARD_PLLAR: u32 = 1 << 29 | 82 << 18 | 0x3f << 8 | 1;

fn booted_with(rates: [u64; 3]) -> Bench {
    let mut bench = Bench::new(Pmc::new(clocks(), outputs(rates), None));
    bench.bus.with_device(DeviceId(0), NOW, |device, ctx| device.reset(ctx));
    bench
}

fn booted() -> Bench {
    booted_with(BOARD)
}

/// The rates of the clocks after all events up to `at`.
fn rates(bench: &mut Bench, at: Ps) -> [u64; 3] {
    bench.run(at);
    let rates: Vec<u64> = outputs(BOARD).iter().map(|clock| bench.bus.clocks.rate_of(*clock).get()).collect();
    rates.try_into().unwrap()
}

/// The time of edge number `edge` of the slow clock.
fn slow(edge: u64) -> Ps {
    clocks().slow.ps_at_floor(Cycles(edge))
}

fn before(at: Ps) -> Ps {
    Ps(at.0 - 1)
}

/// The crystal oscillator selected, PLLA at 996 MHz with a count of 63: ready at slow clock 63.
fn with_plla() -> Bench {
    let mut bench = pmc();
    bench.write(NOW, MOR, MOR_KEYED | 1 << 24 | 0x0001).unwrap();
    bench.write(NOW, PLLAR, BOARD_PLLAR).unwrap();
    bench
}

#[test]
fn the_device_keeps_its_table() {
    let special = ["CKGR_MOR", "CKGR_MCFR", "PMC_MCKR", "PMC_WPMR", "PMC_PCR"];
    walk::device_keeps_its_table(MAP.rows, &special, &mut pmc());
    let mut bench = pmc();
    assert_eq!([MOR, MCKR].map(|offset| bench.value(NOW, offset)), [MOR_MOSCRCEN, 1]);
    bench.write(NOW, MCKR, u32::MAX).unwrap();
    assert_eq!(bench.value(NOW, MCKR), 0x0100_1373);
}

#[test]
fn the_crystal_is_stable_eight_slow_clocks_for_each_count() {
    let mut bench = pmc();
    bench.write(NOW, MOR, MOR_KEYED | 0x0a09).unwrap();
    assert_eq!(bench.value(before(slow(80)), SR) & SR_MOSCXTS, 0);
    assert_eq!(bench.value(slow(80), SR) & SR_MOSCXTS, SR_MOSCXTS);
    // Written again, it does not start again.
    bench.write(slow(80), MOR, MOR_KEYED | 1 << 24 | 0xff09).unwrap();
    assert_eq!(bench.value(slow(80), SR), MAP.row(SR).unwrap().reset | SR_MOSCXTS);
    bench.write(slow(90), MOR, 0).unwrap();
    assert_eq!((bench.value(slow(90), MOR), bench.bus.notes().len()), (1 << 24 | 0xff09, 1));
    bench.write(slow(90), MOR, MOR_KEYED).unwrap();
    assert_eq!(bench.value(slow(90), SR), SR_GCKRDY);
}

#[test]
fn plla_locks_after_its_count_and_the_master_clock_waits_for_it() {
    let mut bench = with_plla();
    bench.write(NOW, MCKR, 2).unwrap();
    assert_eq!(bench.value(before(slow(63)), SR) & (SR_LOCKA | SR_MCKRDY), 0);
    assert_eq!(bench.value(slow(63), SR) & (SR_LOCKA | SR_MCKRDY), SR_LOCKA | SR_MCKRDY);
    // A multiplier of 0 switches it off.
    bench.write(slow(63), PLLAR, 1 << 29 | 1).unwrap();
    assert_eq!(bench.value(slow(200), SR) & (SR_LOCKA | SR_MCKRDY), 0);
}

#[test]
fn the_utmi_pll_locks_too() {
    let mut bench = pmc();
    bench.write(NOW, UCKR, 3 << 20 | 1 << 16).unwrap();
    assert_eq!([before(slow(24)), slow(24)].map(|at| bench.value(at, SR) & SR_LOCKU), [0, SR_LOCKU]);
}

#[test]
fn registers_are_as_a_loader_leaves_them() {
    let mut bench = booted();
    let registers = [MOR, PLLAR, MCKR].map(|offset| bench.value(NOW, offset));
    assert_eq!(registers, [1 << 24 | 0x0009, BOARD_PLLAR, BOARD_MCKR]);
    assert_eq!(bench.value(NOW, SR), MAP.row(SR).unwrap().reset | SR_MOSCXTS | SR_LOCKA);
    assert!(bench.bus.notes().is_empty());
    // A multiplier of 66 or 67 for 398.4 MHz, and MCK by 2, are what there can be.
    let mut bench = booted_with([398_400_000, 166_000_000, 83_000_000]);
    assert_eq!(bench.value(NOW, PLLAR), 1 << 29 | 65 << 18 | 0x3f << 8 | 1);
    assert!(bench.bus.notes()[0].contains("read as if set to [396000000, 198000000, 99000000] Hz"));
}

#[test]
fn clocks_follow_the_settings_when_their_source_is_ready() {
    let mut bench = booted();
    bench.write(NOW, MCKR, BOARD_MCKR & !3 | 1).unwrap();
    assert_eq!(rates(&mut bench, NOW), [12_000_000, 4_000_000, 2_000_000]);
    // 12 MHz * 64 = 768 MHz.
    bench.write(NOW, PLLAR, BOARD_PLLAR & !(0x7f << 18) | 63 << 18).unwrap();
    bench.write(Ps(7), MCKR, BOARD_MCKR).unwrap();
    assert_eq!(rates(&mut bench, before(slow(63))), [12_000_000, 4_000_000, 2_000_000]);
    assert_eq!(bench.value(before(slow(63)), SR) & SR_MCKRDY, 0);
    assert_eq!(rates(&mut bench, slow(63)), [384_000_000, 128_000_000, 64_000_000]);
    assert_eq!(bench.value(slow(63), SR) & SR_MCKRDY, SR_MCKRDY);
    // Prescaler and dividers, and the other sources.
    let now = slow(70);
    for (mckr, megahertz) in [(2 | 3 << 4, [96, 96, 96]), (2 | 2 << 8 | 1 << 24, [768, 192, 96]), (3, [480, 480, 480])]
    {
        bench.write(now, UCKR, 1 << 16).unwrap();
        bench.write(now, MCKR, mckr).unwrap();
        assert_eq!(rates(&mut bench, now), megahertz.map(|megahertz| megahertz * 1_000_000), "{mckr:#x}");
    }
    bench.write(now, MCKR, 0).unwrap();
    assert_eq!(rates(&mut bench, now), [32_768; 3]);
    assert!(bench.bus.notes().is_empty());
}

#[test]
fn a_source_that_locks_anew_or_is_off_leaves_clocks_as_they_are() {
    let mut bench = booted();
    bench.write(NOW, PLLAR, BOARD_PLLAR & !(0x7f << 18) | 63 << 18).unwrap();
    assert_eq!(rates(&mut bench, before(slow(63))), BOARD);
    assert_eq!(rates(&mut bench, slow(63)), [384_000_000, 128_000_000, 64_000_000]);
    assert!(bench.bus.notes().is_empty());
    bench.write(slow(63), PLLAR, 1 << 29 | 1).unwrap();
    assert_eq!(rates(&mut bench, slow(99)), [384_000_000, 128_000_000, 64_000_000]);
    assert!(bench.bus.notes()[0].contains("MCK's source"));
}

#[test]
fn peripheral_clocks_are_enabled_by_number() {
    let mut bench = pmc();
    bench.write(NOW, PCER0, 1 << 25 | 1).unwrap();
    bench.write(NOW, PCER1, 1 << 20).unwrap();
    bench.write(NOW, PCR, PCR_CMD | PCR_EN | 35).unwrap();
    assert_eq!([PCSR0, PCSR1].map(|offset| bench.value(NOW, offset)), [1 << 25, 1 << 20 | 1 << 3]);
    bench.write(NOW, PCDR1, 1 << 20).unwrap();
    assert_eq!(bench.value(NOW, PCSR1), 1 << 3);
    // Without CMD it is only selected for reading.
    bench.write(NOW, PCR, 25).unwrap();
    assert_eq!(bench.value(NOW, PCR), PCR_EN | 25);
    bench.write(NOW, PCR, PCR_CMD | 1 << 29 | 3 << 20 | 1 << 8 | 25).unwrap();
    assert_eq!((bench.value(NOW, PCR), bench.value(NOW, PCSR0)), (1 << 29 | 3 << 20 | 1 << 8 | 25, 0));
}

#[test]
fn system_clocks_are_set_and_cleared_but_for_the_processors() {
    let mut bench = pmc();
    bench.write(NOW, SCER, 1 << 2 | 1 << 8).unwrap();
    assert_eq!((bench.value(NOW, SCSR), bench.value(NOW, SR) & SCSR_PCKX), (1 << 2 | 1 << 8 | 1, 1 << 8));
    bench.write(NOW, SCDR, u32::MAX).unwrap();
    assert_eq!(bench.value(NOW, SCSR), SCSR_PCK);
}

#[test]
fn the_main_clock_is_measured_in_16_slow_clocks() {
    let mut bench = pmc();
    assert_eq!(bench.value(NOW, MCFR), 5859 | MCFR_MAINFRDY);
    bench.write(NOW, MCFR, MCFR_CCSS).unwrap();
    assert_eq!(bench.value(NOW, MCFR), 5859 | MCFR_MAINFRDY | MCFR_CCSS);
}

#[test]
fn readiness_interrupts() {
    let mut bench = with_plla();
    bench.write(NOW, IER, SR_LOCKA).unwrap();
    bench.run(before(slow(63)));
    assert_eq!(bench.pending(), 0);
    bench.run(slow(63));
    assert_eq!(bench.pending(), 1 << 6);
    bench.write(slow(63), IDR, SR_LOCKA).unwrap();
    assert_eq!(bench.pending(), 0);
}

#[test]
fn write_protection_covers_the_settings() {
    let mut bench = pmc();
    bench.write(NOW, WPMR, WPKEY << 8 | 1).unwrap();
    bench.write(NOW, PCER0, 1 << 25).unwrap();
    assert_eq!((bench.value(NOW, PCSR0), bench.value(NOW, WPSR)), (0, PCER0 << 8 | 1));
    bench.write(NOW, IER, SR_LOCKA).unwrap();
    assert_eq!(bench.value(NOW, IMR), SR_LOCKA);
}

#[test]
fn polling_can_be_skipped_until_something_gets_ready() {
    let mut bench = booted();
    bench.write(NOW, PLLAR, BOARD_PLLAR).unwrap();
    let mut look = |number: u64| {
        let mut poll = Poll::look(hz(BOARD[0]), Cycles(number));
        assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
        poll
    };
    let (first, second) = (look(300), look(600));
    assert!(second.repeats(&first));
    assert_eq!(second.deadline(&first), slow(63));
    assert!(!look(601).repeats(&first));
    assert!(!look(300 * 1_000_000).repeats(&first));
}

#[test]
fn a_node_gives_the_clocks() {
    let (mut bench, faults) = read_plain_node(from_node, &[("interrupts-extended", &[CPU_INTC, 3])]);
    assert!(faults.is_empty(), "{faults:?}");
    bench.write(NOW, IER, SR_MCKRDY).unwrap();
    assert_eq!(bench.pending(), 1 << 3);
}
