//! Reads and writes of the window.

use super::*;
use engine::clocks::User;
use engine::dt::wiring::{ClockId, ClockInput};

/// Peripheral clocks of an access apart from its serial clocks.
const ACCESS: u64 = 5 + 3;

#[test]
fn sequential_words_cost_their_data_alone() {
    let mut rig = Rig::reading(ifr::QUAD_READ);
    // Instruction 8, address 6, dummies 10, data 8.
    assert_eq!(rig.cycles(|rig| assert_eq!(rig.word(0x100), word_at(0x100))), ACCESS + 32 * PERIOD);
    assert_eq!(rig.cycles(|rig| assert_eq!(rig.word(0x104), word_at(0x104))), ACCESS + 8 * PERIOD);
    assert_eq!(
        rig.cycles(|rig| assert_eq!(rig.load(0x108, AccessSize::Half).unwrap(), 0xffff & word_at(0x108))),
        ACCESS + 4 * PERIOD
    );
    assert_eq!(
        rig.cycles(|rig| assert_eq!(rig.load(0x10a, AccessSize::Byte).unwrap(), 0xff & word_at(0x10a))),
        ACCESS + 2 * PERIOD
    );
    assert_eq!((rig.counter("frames"), rig.counter("continued_accesses")), (1, 3));
    // Elsewhere: chip select is inactive for a clock, then the whole frame again.
    assert_eq!(rig.cycles(|rig| assert_eq!(rig.word(0x10c), word_at(0x10c))), ACCESS + 1 + 32 * PERIOD);
    assert_eq!(rig.cycles(|rig| assert_eq!(rig.word(0x100), word_at(0x100))), ACCESS + 1 + 32 * PERIOD);
    assert_eq!(rig.counter("sck_clocks"), 3 * 32 + 8 + 4 + 2);
    assert_eq!(rig.notes(), "");
}

#[test]
fn a_line_fill_is_one_frame() {
    let mut rig = Rig::reading(ifr::QUAD_READ);
    assert_eq!(rig.cycles(|rig| rig.burst(0x40, 32)), ACCESS + (8 + 6 + 10 + 64) * PERIOD);
    assert_eq!(rig.cycles(|rig| rig.burst(0x60, 32)), ACCESS + 64 * PERIOD);
    assert_eq!(rig.peek(0x44), word_at(0x44));
}

#[test]
fn each_single_transfer_may_have_its_frame() {
    let mut rig = Rig::with(Params { reads_go_on: false, ..params() }).in_memory_mode();
    rig.frame(0xeb, ifr::QUAD_READ);
    const WORD: u64 = 32 * PERIOD;
    assert_eq!(rig.cycles(|rig| assert_eq!(rig.word(0x100), word_at(0x100))), ACCESS + WORD);
    assert_eq!(rig.cycles(|rig| assert_eq!(rig.word(0x104), word_at(0x104))), ACCESS + 1 + WORD);
    // A beat of the 64-bit matrix is two transfers; a line is a burst, whose beats continue the frame.
    assert_eq!(rig.cycles(|rig| rig.burst(0x108, 8)), ACCESS + 2 * (1 + WORD));
    assert_eq!(rig.cycles(|rig| rig.burst(0x120, 32)), ACCESS + 1 + (8 + 6 + 10 + 64) * PERIOD);
    assert_eq!((rig.counter("frames"), rig.counter("continued_accesses")), (5, 0));
}

#[test]
fn delays_are_in_peripheral_clocks() {
    let mut rig = Rig::reading(ifr::QUAD_READ);
    rig.word(0);
    rig.put(MR, SMM | 7 << 24);
    assert_eq!(rig.cycles(|rig| assert_eq!(rig.word(0x80), word_at(0x80))), ACCESS + 7 + 32 * PERIOD);
    // To the first edge, half a period into the first bit (rounded up: 2 of 3 clocks).
    rig.put(SCR, THIRD | 9 << 16);
    assert_eq!(rig.cycles(|rig| assert_eq!(rig.word(0), word_at(0))), ACCESS + 7 + 7 + 32 * PERIOD);
    // The time between two accesses is chip select's time, too.
    rig.now += Ps::from_us(1);
    rig.put(CR, CR_LASTXFER);
    rig.now += Ps::from_us(1);
    assert_eq!(rig.cycles(|rig| assert_eq!(rig.word(0), word_at(0))), ACCESS + 7 + 32 * PERIOD);
}

#[test]
fn the_serial_clock_is_divided_from_the_peripheral_clock() {
    for scbr in [0, 1, 4, 20] {
        let mut rig = Rig::reading(ifr::QUAD_READ);
        rig.put(SCR, scbr << 8);
        rig.word(0);
        assert_eq!(rig.cycles(|rig| assert_eq!(rig.word(4), word_at(4))), ACCESS + 8 * (u64::from(scbr) + 1));
    }
}

#[test]
fn all_widths_read_with_their_commands() {
    for (width, opcode, dummies, clocks) in [
        (0, 0x0b, 8, 8 + 24 + 8 + 32),
        (1, 0x3b, 8, 8 + 24 + 8 + 16),
        (2, 0x6b, 8, 8 + 24 + 8 + 8),
        (3, 0xbb, 8, 8 + 12 + 8 + 16),
    ] {
        let mut rig = Rig::memory();
        rig.frame(opcode, width | ifr::QUAD_READ & !7 & !ifr::dummies(31) | ifr::dummies(dummies));
        assert_eq!(
            rig.cycles(|rig| assert_eq!(rig.word(0x230), word_at(0x230))),
            ACCESS + clocks * PERIOD,
            "width {width}"
        );
        assert_eq!((rig.peek(0x200), rig.notes()), (word_at(0x200), String::new()), "width {width}");
    }
    for (width, protocol, clocks) in [(5, 0x9f, 4 + 12 + 8 + 16), (6, 0x5f, 2 + 6 + 10 + 8)] {
        let mut rig = Rig::memory();
        rig.command(0x06);
        // Enhanced volatile configuration register: dual or quad I/O protocol.
        rig.write_register(0x61, protocol);
        let dummies = if width == 5 { 8 } else { 10 };
        rig.frame(0x0b, width | ifr::QUAD_READ & !7 & !ifr::dummies(31) | ifr::dummies(dummies));
        assert_eq!(
            rig.cycles(|rig| assert_eq!(rig.word(0x230), word_at(0x230))),
            ACCESS + clocks * PERIOD,
            "width {width}"
        );
        assert_eq!(rig.peek(0x200), word_at(0x200), "width {width}");
    }
}

#[test]
fn continuous_read_mode_leaves_the_instruction_out() {
    let mut rig = Rig::memory();
    rig.command(0x06);
    // Volatile configuration register: ten dummy clocks, XIP on.
    rig.write_register(0x81, 0xa3);
    // The option is a nibble of zeroes in the first dummy clock: the confirmation bit.
    let frame = ifr::QUAD_READ & !ifr::dummies(31) | ifr::dummies(9) | ifr::OPTEN | ifr::OPTL_4BIT | ifr::CRM;
    rig.frame(0xeb, frame);
    assert_eq!(rig.peek(0x300), word_at(0x300));
    assert_eq!(rig.cycles(|rig| assert_eq!(rig.word(0x300), word_at(0x300))), ACCESS + 32 * PERIOD);
    assert_eq!(rig.cycles(|rig| assert_eq!(rig.word(0x200), word_at(0x200))), ACCESS + 1 + 24 * PERIOD);
    assert_eq!(rig.peek(0x308), word_at(0x308));
    assert_eq!(rig.cycles(|rig| rig.burst(0x100, 32)), ACCESS + 1 + 80 * PERIOD);
    // A frame with the confirmation bit high ends it. It has no instruction: the flash would take it for address.
    rig.frame(0xf << 16 | 0xeb, frame & !ifr::INSTEN & !ifr::CRM);
    assert_eq!(rig.word(0x400), word_at(0x400));
    rig.frame(0xeb, ifr::QUAD_READ);
    assert_eq!(rig.cycles(|rig| assert_eq!(rig.word(0x404), word_at(0x404))), ACCESS + 1 + 32 * PERIOD);
    assert_eq!(rig.notes(), "");
}

#[test]
fn a_flash_that_is_not_in_continuous_read_reads_something_else() {
    // The volatile configuration register keeps XIP off.
    let frame = ifr::QUAD_READ & !ifr::dummies(31) | ifr::dummies(9) | ifr::OPTEN | ifr::OPTL_4BIT | ifr::CRM;
    let mut rig = Rig::reading(frame);
    assert_eq!(rig.word(0x300), word_at(0x300));
    assert_ne!(rig.word(0x200), word_at(0x200));
    assert_ne!(rig.peek(0x200), word_at(0x200));
    assert!(!rig.notes().is_empty());
}

#[test]
fn closed_windows_say_why() {
    let refused = |rig: &mut Rig, why: &str| {
        assert!(rig.load(0, AccessSize::Word).is_err());
        assert!(rig.device(|device, ctx| device.burst(1, 0, 32, ctx)).is_err());
        assert!(rig.notes().contains(why), "{}", rig.notes());
    };
    let mut rig = Rig::new();
    refused(&mut rig, "the controller is disabled");
    rig.put(CR, CR_QSPIEN);
    refused(&mut rig, "the controller is in SPI mode");
    rig.put(MR, SMM);
    refused(&mut rig, "the instruction frame has no data");
    rig.frame(0x02, ifr::INSTEN | ifr::ADDREN | ifr::DATAEN | ifr::WRITE);
    refused(&mut rig, "QSPI_IFR.TFRTYP is a write");
    rig.put(MR, SMM | SMRM);
    rig.frame(0x03, ifr::INSTEN | ifr::ADDREN | ifr::DATAEN);
    refused(&mut rig, "passes through QSPI_RDR");
    assert_eq!(rig.counter("frames"), 1);
}

#[test]
fn a_write_without_a_write_frame_has_no_effect() {
    let mut rig = Rig::reading(ifr::QUAD_READ);
    rig.word(0);
    rig.store(4, AccessSize::Word, 0);
    assert!(rig.notes().contains("a write to the memory window has no effect: QSPI_IFR.TFRTYP is a read"));
    assert_eq!((rig.word(4), rig.counter("frames")), (word_at(4), 1));
}

#[test]
fn bytes_written_to_the_window_are_programmed() {
    let mut rig = Rig::memory();
    rig.command(0x06);
    rig.frame(0x02, ifr::INSTEN | ifr::ADDREN | ifr::DATAEN | ifr::WRITE);
    rig.store(0x10_0000, AccessSize::Word, 0x4433_2211);
    rig.store(0x10_0004, AccessSize::Half, 0x6655);
    rig.store(0x10_0006, AccessSize::Byte, 0x77);
    rig.last();
    rig.now += Ps::from_us(600);
    rig.frame(0xeb, ifr::QUAD_READ);
    assert_eq!((rig.word(0x10_0000), rig.word(0x10_0004)), (0x4433_2211, 0xff77_6655));
    assert_eq!(rig.counter("flash0.pages_programmed"), 1);
    assert_eq!(rig.notes(), "");
}

#[test]
fn what_is_scrambled_is_unscrambled_with_the_same_key() {
    let mut rig = Rig::memory();
    rig.put(SMR, 1);
    rig.put(SKR, 0xdead_beef);
    rig.command(0x06);
    rig.frame(0x02, ifr::INSTEN | ifr::ADDREN | ifr::DATAEN | ifr::WRITE_MEMORY);
    rig.store(0x10_0000, AccessSize::Word, 0x4433_2211);
    rig.last();
    rig.now += Ps::from_us(600);
    rig.frame(0xeb, ifr::QUAD_READ);
    assert_eq!((rig.word(0x10_0000), rig.peek(0x10_0000)), (0x4433_2211, 0x4433_2211));
    assert_eq!(rig.load(0x10_0002, AccessSize::Half).unwrap(), 0x4433);
    for (register, value) in [(SMR, 3), (SMR, 0), (SKR, 1)] {
        rig.put(SMR, 1);
        rig.put(SKR, 0xdead_beef);
        rig.put(register, value);
        assert_ne!(rig.word(0x10_0000), 0x4433_2211, "{register:#x} = {value}");
    }
}

#[test]
fn a_frame_of_another_type_continues_at_any_address() {
    let mut rig = Rig::memory();
    rig.frame(0x9f, ifr::INSTEN | ifr::DATAEN);
    assert_eq!(rig.load(0, AccessSize::Byte).unwrap(), 0x20);
    assert_eq!(rig.load(1, AccessSize::Half).unwrap(), 0x18ba);
    assert_eq!(rig.load(0, AccessSize::Byte).unwrap(), 0x10);
    rig.last();
    assert!(rig.notes().contains("continues nevertheless"));
    assert_eq!(rig.counter("frames"), 1);
}

#[test]
fn a_window_access_without_the_read_of_the_frame_register_is_noted() {
    let mut rig = Rig::memory();
    rig.put(ICR, 0xeb);
    rig.put(IFR, ifr::QUAD_READ);
    rig.word(0);
    assert!(rig.notes().contains("without a read of QSPI_IFR"));
}

#[test]
fn the_window_follows_a_clock_that_changes() {
    let changing = ClockInput { rate: clock(), id: Some(ClockId(9)) };
    let mut rig = Rig::with(Params { clock: changing, ..params() }).in_memory_mode();
    rig.bench.bus.clocks.add_user(ClockId(9), User::Device(DeviceId(0)));
    rig.frame(0xeb, ifr::QUAD_READ);
    rig.word(0x100);
    let half = Hz::new(83_000_000).unwrap();
    rig.now = half.edge_at_or_after(rig.now);
    rig.bench.bus.set_clocks(&[(ClockId(9), half)], rig.now);
    // The frame continues, and then another one begins.
    for (address, cycles) in [(0x104, ACCESS + 8 * PERIOD), (0x200, ACCESS + 1 + 32 * PERIOD)] {
        let before = half.cycles_until_ceil(rig.now).0;
        assert_eq!(rig.word(address), word_at(address));
        assert_eq!(half.cycles_until_ceil(rig.now).0 - before, cycles);
    }
    assert_eq!(rig.counter("frames"), 2);
}
