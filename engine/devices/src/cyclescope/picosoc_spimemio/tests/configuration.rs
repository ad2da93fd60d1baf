//! The configuration register: its fields and lanes, and the pins by hand.

use super::*;

/// By hand, chip select high, clock low, nothing driven.
pub const IDLE: u32 = 0x20;

/// Sends the high `bits` of `data` on IO0 by hand, as the boards' firmware does: data with the clock low, then high,
/// then low.
pub fn send(soc: &mut Soc, data: u32, bits: u32) {
    for bit in 0..bits {
        let level = 0x100 | data << bit >> 31;
        [level, level | 0x10, level].into_iter().for_each(|pins| soc.configure(pins));
    }
}

/// Clocks in `bits` from IO1, each sampled while the clock is high.
pub fn receive(soc: &mut Soc, bits: u32) -> u32 {
    (0..bits).fold(0, |value, _| {
        soc.configure(0x110);
        let pins = soc.config();
        soc.configure(0x100);
        value << 1 | pins >> 1 & 1
    })
}

#[test]
fn the_register_shows_its_fields() {
    crate::registers::walk::table_is_sound(MAP.rows);
    let mut soc = Soc::new();
    // While the interface is on, the pins are its own: until the preamble, chip select high and IO0 low.
    assert_eq!(soc.config(), 0x8008_012e);
    soc.configure(u32::MAX);
    assert_eq!(soc.config(), 0x807f_012e);
    soc.configure(0x8053_0f3f);
    assert_eq!(soc.config(), 0x8053_012e);
    soc.configure(IDLE);
    assert_eq!(soc.config(), 0x2f);
    soc.configure(0xa30);
    assert_eq!(soc.config(), 0xa35);
}

#[test]
fn narrow_writes_change_their_lanes_and_restart_the_stream() {
    let mut soc = Soc::new();
    soc.word(0x1000);
    for (offset, value, shown) in
        [(2, 0x24, 0x8024_012e), (0, 0x3f, 0x8024_012e), (3, 0, 0x24_003f), (1, 0xf5, 0x24_053f)]
    {
        soc.access(|device, ctx| device.write(0, offset, AccessSize::Byte, value, ctx));
        assert_eq!(soc.config(), shown, "lane {offset}");
    }
    let mut soc = Soc::new();
    soc.word(0x1000);
    soc.access(|device, ctx| device.write(0, 0, AccessSize::Byte, 0, ctx));
    assert_eq!(soc.word(0x1004), (54 + 48 + 64 + 1, word_at(0x1004)));
    assert_eq!(soc.access(|device, ctx| device.read(0, 2, AccessSize::Half, ctx)), (0, 0x8008));
}

#[test]
fn frames_by_hand_reach_the_flash_and_the_stream_goes_on_after_them() {
    let mut soc = Soc::new();
    soc.word(0x1000);
    soc.configure(IDLE);
    send(&mut soc, 0x9f00_0000, 8);
    assert_eq!(receive(&mut soc, 24), 0x0001_6018);
    soc.configure(IDLE);
    send(&mut soc, 0x0300_1000, 32);
    assert_eq!(receive(&mut soc, 32).swap_bytes(), word_at(0x1000));
    soc.configure(IDLE);
    // On again: the preamble, and then words as ever.
    soc.configure(0x8008_0000);
    assert_eq!(soc.word(0x1004), (54 + 48 + 64 + 1, word_at(0x1004)));
    assert_eq!(soc.word(0x1008), (63, word_at(0x1008)));
}

#[test]
fn a_frame_that_is_on_the_wire_goes_on_by_hand() {
    let mut soc = Soc::new();
    soc.word(0x1000);
    // In the cycle after the answer the next word's first clock has passed. Chip select stays low: its other bits
    // follow.
    soc.configure(0x100);
    assert_eq!(receive(&mut soc, 7), word_at(0x1004) & 0x7f);
    soc.configure(IDLE);
    assert_eq!(soc.counter("sck_clocks"), 24 + 24 + 32 + 1 + 7);
}

#[test]
fn the_window_is_closed_while_the_pins_are_driven_by_hand() {
    let mut soc = Soc::new();
    soc.word(0x1000);
    soc.configure(IDLE);
    let now = Soc::clock().ps_at_floor(Cycles(soc.cycle));
    let refused = SlaveError { done: now };
    assert_eq!(soc.call(|device, ctx| device.read(1, 0, AccessSize::Word, ctx)), Err(refused));
    assert_eq!(soc.call(|device, ctx| device.write(1, 0, AccessSize::Word, 0, ctx)), Err(refused));
    assert_eq!(soc.call(|device, ctx| device.burst(1, 0, 16, ctx)), Err(refused));
    let note = "while the flash is driven by hand (bit 31 of the configuration register is 0)";
    assert!(soc.bus.notes().iter().any(|noted| noted.contains(note)), "{:?}", soc.bus.notes());
    // Its contents can still be seen and loaded.
    assert!(soc.call(|device, _| device.peek(1, 0, &mut [0; 4])));
}
