//! The interrupt logic.

use super::*;

#[test]
fn an_interrupt_shows_after_its_latency_and_is_cleared_by_reading() {
    let mut bench = Bench::new();
    bench.command(Command::PLL_ON);
    let locked = bench.chip.transition.unwrap().at;
    assert_eq!(bench.chip.wakes_at(), Some(locked));
    bench.chip.advance(locked);
    assert_eq!((bench.irq(), bench.chip.wakes_at()), (false, Some(locked + TIMES.interrupt)));
    bench.chip.advance(locked + TIMES.interrupt);
    assert_eq!((bench.irq(), bench.chip.wakes_at()), (true, None));
    bench.now = locked + TIMES.interrupt;
    assert_eq!(bench.read(IRQ_STATUS), 0x01);
    assert_eq!((bench.irq(), bench.read(IRQ_STATUS)), (false, 0));
}

#[test]
fn masked_interrupts_are_kept_only_where_the_mode_says_so() {
    let mut bench = Bench::new();
    bench.write(IRQ_MASK, 0xfe);
    bench.go(Command::PLL_ON);
    assert_eq!((bench.irq(), bench.read(IRQ_STATUS)), (false, 0));
    bench.go(Command::TRX_OFF);
    bench.write(registers::TRX_CTRL_1, 0x22);
    bench.go(Command::PLL_ON);
    assert_eq!((bench.irq(), bench.read(IRQ_STATUS)), (false, 0x01));
}

#[test]
fn the_pin_may_be_active_low() {
    let mut bench = Bench::new();
    bench.write(registers::TRX_CTRL_1, 0x21);
    assert!(bench.irq());
    bench.go(Command::PLL_ON);
    assert!(!bench.irq());
}

#[test]
fn measurements_end_with_an_interrupt() {
    let mut bench = Bench::new();
    bench.write(registers::PHY_CC_CCA, 0xab);
    bench.wait_us(200);
    // In TRX_OFF none is made.
    assert_eq!((bench.read(TRX_STATUS), bench.read(IRQ_STATUS)), (0x08, 0));
    bench.go(Command::RX_ON);
    bench.read(IRQ_STATUS);
    bench.write(registers::PHY_CC_CCA, 0xab);
    assert_eq!(bench.read(TRX_STATUS), 0x06);
    bench.wait_us(149);
    assert_eq!((bench.read(TRX_STATUS), bench.read(IRQ_STATUS)), (0xc6, 0x10));
    bench.write(registers::PHY_ED_LEVEL, 0);
    bench.wait_us(150);
    assert_eq!((bench.read(registers::PHY_ED_LEVEL), bench.read(IRQ_STATUS)), (0, 0x10));
}

#[test]
fn another_channel_locks_the_pll_again() {
    let mut bench = Bench::new();
    bench.go(Command::PLL_ON);
    bench.read(IRQ_STATUS);
    bench.write(registers::PHY_CC_CCA, 0x2c);
    assert_eq!(bench.read(IRQ_STATUS), 0);
    bench.wait_us(11);
    assert_eq!(bench.read(IRQ_STATUS), 0x01);
}
