//! States, commands, and the pins.

use super::*;

#[test]
fn the_chip_is_silent_until_its_clock_runs() {
    let mut bench = Bench::cold(&[], 0);
    bench.wait_us(270);
    assert_eq!(bench.read(0x1c), 0);
    assert!(bench.notes()[0].contains("P_ON was ignored"));
    bench.wait_us(5);
    assert_eq!((bench.read(0x1c), bench.status()), (0x03, 0x00));
}

#[test]
fn transitions_take_their_times() {
    let mut bench = Bench::cold(&[], 0);
    bench.wait_us(300);
    let way = [
        (Command::FORCE_TRX_OFF, 25, 0x08),
        (Command::PLL_ON, 110, 0x09),
        (Command::RX_ON, 1, 0x06),
        (Command::PLL_ON, 1, 0x09),
        (Command::TRX_OFF, 1, 0x08),
        (Command::RX_ON, 110, 0x06),
        (Command::FORCE_PLL_ON, 1, 0x09),
        (Command::FORCE_TRX_OFF, 1, 0x08),
    ];
    for (command, us, code) in way {
        bench.command(command);
        // The command counts when its last bit has come: 425 ns before the bench lets the chip go.
        let transition = bench.chip.transition.unwrap();
        assert_eq!(transition.at + Ps::from_ns(425), bench.now + Ps::from_us(us), "{command:?}");
        if us > 10 {
            assert_eq!(bench.status(), 0x1f, "{command:?}");
        }
        bench.wait_us(us);
        assert_eq!(bench.status(), code, "{command:?}");
    }
    assert_eq!(bench.notes(), [""; 0]);
}

#[test]
fn commands_that_do_not_fit_are_noted_and_change_nothing() {
    let mut bench = Bench::new();
    bench.go(Command::TX_START);
    bench.go(Command::FORCE_PLL_ON);
    assert_eq!(bench.status(), 0x08);
    bench.command(Command::PLL_ON);
    bench.command(Command::TRX_OFF);
    bench.wait_us(200);
    assert_eq!(bench.status(), 0x09);
    bench.go(Command::TX_ARET_ON);
    bench.go(Command::RX_AACK_ON);
    assert_eq!(bench.status(), 0x19);
    let notes = bench.notes();
    let expected = [
        "TX_START has no effect in TRX_OFF",
        "FORCE_PLL_ON has no effect",
        "TRX_OFF was ignored",
        "RX_AACK_ON has no effect in TX_ARET_ON",
    ];
    assert!(expected.iter().zip(&notes).all(|(part, note)| note.contains(part)), "{notes:?}");
    // The command as it was written, and TRAC_STATUS of a procedure that has not begun.
    assert_eq!(bench.read(registers::TRX_STATE), 0xe0 | 0x16);
}

#[test]
fn slp_tr_sends_to_sleep_and_wakes() {
    let mut bench = Bench::new();
    bench.fill(&[1, 2, 3]);
    bench.write(0x20, 0x77);
    bench.control(ControlPin::Sleep, true);
    bench.wait_us(20);
    assert_eq!(bench.status(), 0x1f);
    bench.wait_us(30);
    assert_eq!(bench.status(), 0);
    assert!(bench.notes()[0].contains("SLEEP"));
    bench.control(ControlPin::Sleep, false);
    bench.wait_us(240);
    assert!(!bench.irq());
    bench.wait_us(9);
    assert!(bench.irq());
    assert_eq!((bench.status(), bench.read(IRQ_STATUS)), (0x08, 0x10));
    // Registers are kept, the buffer is not.
    assert_eq!((bench.read(0x20), bench.access(&[0x20, 0])[1]), (0x77, 0));
}

#[test]
fn slp_tr_is_looked_at_when_trx_off_is_reached() {
    let mut bench = Bench::new();
    bench.go(Command::RX_ON);
    bench.control(ControlPin::Sleep, true);
    assert!(bench.notes()[0].contains("RX_ON_NOCLK"));
    bench.command(Command::TRX_OFF);
    bench.wait_us(40);
    bench.control(ControlPin::Sleep, false);
    bench.wait_us(100);
    assert_eq!(bench.status(), 0);
    bench.wait_us(150);
    assert_eq!(bench.status(), 0x08);
}

#[test]
fn a_reset_gives_reset_values_and_trx_off() {
    let mut bench = Bench::new();
    bench.write(0x20, 0x77);
    bench.go(Command::RX_ON);
    bench.control(ControlPin::Reset, false);
    bench.wait_us(1);
    assert_eq!(bench.read(0x1c), 0);
    bench.control(ControlPin::Reset, true);
    bench.write(IRQ_MASK, 0x10);
    bench.wait_us(50);
    assert_eq!((bench.status(), bench.read(0x20), bench.read(IRQ_STATUS)), (0x08, 0xff, 0x10));
}

#[test]
fn without_supply_the_wire_is_pulled_up_and_nothing_is_kept() {
    let mut bench = Bench::new();
    bench.write(0x20, 0x77);
    bench.control(ControlPin::PowerOff, true);
    assert_eq!(bench.read(0x20), 0xff);
    bench.chip.select(bench.now);
    assert_eq!(bench.chip.next_clock().driven, 0);
    bench.chip.deselect(bench.now);
    assert_eq!((bench.irq(), bench.chip.wakes_at()), (false, None));
    bench.control(ControlPin::PowerOff, false);
    assert_eq!(bench.chip.wakes_at(), Some(bench.now + TIMES.power_on));
    bench.wait_us(280);
    assert_eq!((bench.read(0x20), bench.status()), (0xff, 0x00));
}
