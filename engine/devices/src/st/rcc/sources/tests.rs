use super::*;

const MHZ: u64 = 1_000_000;
const HSI: usize = 0;
const HSE: usize = 1;
const PLL: usize = 2;

fn hz(frequency: u64) -> Hz {
    Hz::new(frequency).unwrap()
}

/// HSI of 16 MHz, which runs, HSE of 8 MHz, which takes 2 ms, a PLL of 168 MHz by HSE, which takes 200 us.
fn sources() -> Sources {
    let list = vec![
        Source::oscillator(Some(hz(16 * MHZ)), Ps::from_us(2), Cycles(6)).running(),
        Source::oscillator(Some(hz(8 * MHZ)), Ps::from_us(2_000), Cycles(6)),
        Source::pll(Ps::from_us(200), Some(HSE)),
    ];
    let mut sources = Sources::new(list, HSI, Cycles(2));
    sources.list[PLL].rate = Some(hz(168 * MHZ));
    sources
}

#[test]
fn a_pll_locks_from_when_its_input_is_ready() {
    let mut sources = sources();
    sources.turn(PLL, true, Ps(0));
    assert_eq!(sources.next(), None);
    sources.turn(HSE, true, Ps::from_us(10));
    assert_eq!(sources.next(), Some(Ps::from_us(2_010)));
    assert_eq!(sources.advance(Ps::from_us(2_010)), Happened { ready: 1 << HSE, ..Happened::default() });
    assert_eq!(sources.next(), Some(Ps::from_us(2_210)));
    assert!(!sources.list[PLL].is_ready());
    assert_eq!(sources.advance(Ps::from_us(2_210)).ready, 1 << PLL);
    assert!(sources.list[PLL].is_ready());
}

#[test]
fn sysclk_changes_over_when_the_chosen_source_is_ready() {
    let mut sources = sources();
    sources.turn(HSE, true, Ps(0));
    sources.select(HSE, Ps(0));
    assert_eq!((sources.selected, sources.wanted), (HSI, HSE));
    sources.advance(Ps::from_us(2_000));
    // Two cycles of 62.5 ns, two of 125 ns; all have an edge at 2 ms.
    let due = Ps::from_us(2_000).saturating_add(Ps(2 * 62_500 + 2 * 125_000));
    // The edge of 8 MHz after 125 ns is at 125 ns itself.
    assert_eq!(sources.next(), Some(due));
    assert!(sources.advance(due).switched);
    assert_eq!(sources.selected, HSE);
}

#[test]
fn what_sysclk_needs_stays_on() {
    let mut sources = sources();
    sources.turn(HSI, false, Ps(0));
    assert!(sources.list[HSI].is_on());
    sources.turn(HSE, true, Ps(0));
    sources.turn(PLL, true, Ps(0));
    sources.select(PLL, Ps(0));
    while let Some(next) = sources.next() {
        sources.advance(next);
    }
    assert_eq!(sources.selected, PLL);
    sources.turn(PLL, false, Ps::from_us(3_000));
    sources.turn(HSE, false, Ps::from_us(3_000));
    assert!(sources.list[PLL].is_on() && sources.list[HSE].is_on());
    // HSI is not needed any more; its flag falls six of its cycles later.
    sources.turn(HSI, false, Ps::from_us(3_000));
    assert!(sources.list[HSI].is_ready() && !sources.list[HSI].is_on());
    assert_eq!(sources.next(), Some(Ps::from_us(3_000).saturating_add(Ps(6 * 62_500))));
    assert!(sources.advance(Ps::from_us(3_001)).stopped);
    assert!(!sources.list[HSI].is_ready());
}

#[test]
fn an_oscillator_that_is_not_there_never_starts() {
    let mut sources = sources();
    sources.list[HSE].rate = None;
    sources.turn(HSE, true, Ps(0));
    assert!(sources.list[HSE].is_on());
    assert_eq!(sources.next(), None);
}

#[test]
fn a_pll_that_loses_its_input_loses_its_lock() {
    let mut sources = sources();
    sources.turn(HSE, true, Ps(0));
    sources.turn(PLL, true, Ps(0));
    sources.advance(Ps::from_us(2_000));
    sources.advance(Ps::from_us(2_200));
    sources.turn(HSE, false, Ps::from_us(3_000));
    sources.advance(Ps::from_us(3_001));
    assert!(!sources.list[PLL].is_ready() && sources.list[PLL].is_on());
}

#[test]
fn dividers_are_those_of_the_manual() {
    let of_ahb: Vec<u64> = (6..16).map(ahb_divider).collect();
    assert_eq!(of_ahb, [1, 1, 2, 4, 8, 16, 64, 128, 256, 512]);
    let of_apb: Vec<u64> = (2..8).map(apb_divider).collect();
    assert_eq!(of_apb, [1, 1, 2, 4, 8, 16]);
    assert_eq!(scaled(hz(8 * MHZ), 336, 16).get(), 168 * MHZ);
    assert_eq!(scaled(hz(1), 1, 4).get(), 1);
}
