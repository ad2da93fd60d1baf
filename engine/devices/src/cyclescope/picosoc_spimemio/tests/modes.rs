//! All modes, set up in the flash by hand and then used by the interface, as the boards' firmware does.

use super::configuration::{IDLE, receive, send};
use super::*;

/// A mode as firmware sets it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// DDR, QSPI and CRM.
    pub bits: u32,
    /// Dummy clocks, in the interface and in the flash.
    pub latency: u32,
}

/// After reset.
pub const SINGLE: Setup = Setup { bits: 0, latency: 8 };
/// Dual, quad and quad DDR, each without and with continuous read.
pub const WIDE: [u32; 6] = [CFG_DDR, CFG_DDR | CFG_CRM, CFG_QSPI, CFG_QSPI | CFG_CRM, CFG_DDR | CFG_QSPI, 0x70_0000];

impl Setup {
    /// The configuration register.
    pub const fn config(self) -> u32 {
        CFG_ENABLE | self.bits | self.latency << CFG_DUMMY.trailing_zeros()
    }

    /// Clocks of ones up to the mode byte, and on which lines, that leave continuous read.
    const fn exit(self) -> Option<(u32, u32)> {
        match (self.bits & CFG_CRM != 0, self.bits & CFG_QSPI != 0, self.bits & CFG_DDR != 0) {
            (false, ..) => None,
            (true, false, _) => Some((16, 0b11)),
            (true, true, false) => Some((8, 0b1111)),
            (true, true, true) => Some((4, 0b1111)),
        }
    }

    /// Cycles of a jump, as the description of the interface has them.
    const fn jump_cycles(self) -> u64 {
        let cycles = match (self.bits & CFG_QSPI != 0, self.bits & CFG_DDR != 0) {
            (false, false) => return 131,
            (false, true) => 83,
            (true, false) => 51,
            (true, true) => 36,
        };
        cycles + 2 * self.latency as u64 - if self.bits & CFG_CRM != 0 { 16 } else { 0 }
    }

    /// Cycles from one word of the stream to the next.
    pub const fn word_cycles(self) -> u64 {
        match (self.bits & CFG_QSPI != 0, self.bits & CFG_DDR != 0) {
            (false, false) => 64,
            (false, true) => 32,
            (true, false) => 16,
            (true, true) => 8,
        }
    }
}

/// A frame by hand, on one line.
fn frame(soc: &mut Soc, bytes: &[u8]) {
    bytes.iter().for_each(|byte| send(soc, u32::from(*byte) << 24, 8));
    soc.configure(IDLE);
}

/// Takes the flash from one mode to the other by hand.
pub fn leave_and_set_up(soc: &mut Soc, now: Setup, latency: u32) {
    soc.configure(IDLE);
    if let Some((clocks, lines)) = now.exit() {
        let ones = lines << 8 | 0x0f;
        soc.configure(ones);
        (0..clocks).for_each(|_| [ones | 0x10, ones].into_iter().for_each(|pins| soc.configure(pins)));
        (0..now.latency).for_each(|_| [0, 0x10].into_iter().for_each(|pins| soc.configure(pins)));
        soc.configure(0);
        soc.configure(IDLE);
    }
    frame(soc, &[0x06]);
    frame(soc, &[0x71, 0x80, 0x00, 0x02, 0x02]);
    frame(soc, &[0x06]);
    frame(soc, &[0x71, 0x80, 0x00, 0x04, 0x70 | latency as u8]);
}

/// Reads with a jump, on in the stream, and with another jump: times and data.
fn check(soc: &mut Soc, mode: Setup) {
    assert_eq!(soc.word(0x3000).1, word_at(0x3000), "{mode:?}");
    for address in [0x1234, 0x2fc0] {
        soc.cycle += 300;
        assert_eq!(soc.word(address), (mode.jump_cycles(), word_at(address)), "{mode:?}");
        for next in [address + 4, address + 8] {
            assert_eq!(soc.word(next), (mode.word_cycles() - 1, word_at(next)), "{mode:?}");
        }
    }
}

#[test]
fn every_mode_reads_right_after_every_kind_of_other() {
    let modes: Vec<Setup> =
        (0..16).flat_map(|latency| WIDE.map(|bits| Setup { bits, latency })).chain([SINGLE]).collect();
    let mut soc = Soc::new();
    let mut now = SINGLE;
    // 97 is prime: each stride meets all modes, each time in another order.
    for stride in [1, 17, 96] {
        for index in 0..modes.len() {
            let next = modes[index * stride % modes.len()];
            leave_and_set_up(&mut soc, now, next.latency);
            soc.configure(next.config());
            check(&mut soc, next);
            now = next;
        }
    }
    assert_eq!(soc.bus.notes(), [""; 0]);
}

#[test]
fn a_wrong_number_of_dummy_clocks_reads_wrong_data() {
    for bits in WIDE {
        for latency in [7, 9] {
            let mut soc = Soc::new();
            leave_and_set_up(&mut soc, SINGLE, 8);
            soc.configure(Setup { bits, latency }.config());
            assert_ne!(soc.word(0x1000).1, word_at(0x1000), "{bits:#x} {latency}");
            let notes = soc.bus.notes();
            assert!(notes.iter().any(|note| note.contains("flash0: ") && note.contains("dummy")), "{notes:?}");
        }
    }
}

#[test]
fn a_flash_that_was_not_reported_to_use_four_lines_reads_nothing() {
    let mut soc = Soc::new();
    soc.configure(Setup { bits: CFG_QSPI, latency: 8 }.config());
    assert_eq!(soc.word(0x1000).1, u32::MAX);
    assert!(soc.bus.notes().iter().any(|note| note.contains("flash0: ")), "{:?}", soc.bus.notes());
}

#[test]
fn the_preamble_leaves_continuous_read_on_four_lines() {
    for bits in [CFG_QSPI, CFG_DDR | CFG_QSPI] {
        let mut soc = Soc::new();
        let continuous = Setup { bits: bits | CFG_CRM, latency: 4 };
        leave_and_set_up(&mut soc, SINGLE, 4);
        soc.configure(continuous.config());
        check(&mut soc, continuous);
        // Turned off in the interface only: FFh lasts until the flash has its mode byte, on lines that are pulled up.
        let left = Setup { bits, latency: 4 };
        soc.configure(left.config());
        check(&mut soc, left);
    }
}

#[test]
fn a_read_on_fewer_lines_than_the_flash_continues_on_is_wrong() {
    let mut soc = Soc::new();
    let continuous = Setup { bits: CFG_QSPI | CFG_CRM, latency: 4 };
    leave_and_set_up(&mut soc, SINGLE, 4);
    soc.configure(continuous.config());
    check(&mut soc, continuous);
    // By hand, a read on one line: the flash takes 03h for a part of an address on four.
    soc.configure(IDLE);
    send(&mut soc, 0x0300_1000, 32);
    assert_ne!(receive(&mut soc, 32).swap_bytes(), word_at(0x1000));
}
