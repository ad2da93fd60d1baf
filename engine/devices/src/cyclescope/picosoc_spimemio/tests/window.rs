//! The window after reset: times, data, byte lanes.

use super::*;

#[test]
fn the_first_words_after_reset_come_in_their_cycles() {
    let mut soc = Soc::new();
    soc.cycle = 1;
    assert_eq!(soc.word(0x1000), (166, word_at(0x1000)));
    assert_eq!(soc.cycle, 168);
    assert_eq!(soc.word(0x1004), (63, word_at(0x1004)));
    assert_eq!(soc.word(0x2000), (131, word_at(0x2000)));
    assert_eq!(soc.word(0x2000), (0, word_at(0x2000)));
    assert_eq!(soc.bus.notes(), [""; 0]);
}

#[test]
fn a_word_that_came_by_itself_is_there_at_once_and_its_successor_after_a_byte() {
    let mut soc = Soc::new();
    soc.word(0x1000);
    soc.cycle += 1000;
    assert_eq!(soc.word(0x1004), (0, word_at(0x1004)));
    assert_eq!(soc.word(0x1008), (17, word_at(0x1008)));
    // 100ch was read without a request, and not used; the word after it was held back.
    soc.cycle += 1000;
    assert_eq!(soc.word(0x1000), (131, word_at(0x1000)));
    let counted = ["words_requested", "words_unused", "jumps", "flash0.bytes_read"].map(|name| soc.counter(name));
    assert_eq!(counted, [4, 1, 1, 4 * 5 + 3]);
}

#[test]
fn flash_addresses_are_bus_addresses_modulo_16_mib() {
    let mut soc = Soc::new();
    // The window's base is no multiple of 16 MiB, and its second half begins at address 0 again.
    assert_eq!(soc.word(WINDOW).1, word_at(WINDOW));
    let (_, last) = soc.access(|device, ctx| device.read(1, 0x00ff_fffc - WINDOW, AccessSize::Word, ctx));
    assert_eq!(last, u32::MAX);
    assert_eq!(soc.word(0), (63, word_at(0)));
    assert_eq!(soc.access(|device, ctx| device.read(1, 0x0100_0004 - WINDOW, AccessSize::Word, ctx)).1, word_at(4));
}

#[test]
fn a_narrow_read_fetches_its_word_and_takes_its_lanes() {
    let mut soc = Soc::new();
    soc.word(0x1000);
    let word = word_at(0x1004);
    for (offset, size, value) in [
        (4, AccessSize::Byte, word & 0xff),
        (5, AccessSize::Byte, word >> 8 & 0xff),
        (7, AccessSize::Byte, word >> 24),
        (6, AccessSize::Half, word >> 16),
    ] {
        let read = soc.access(|device, ctx| device.read(1, 0x1000 - WINDOW + offset, size, ctx));
        assert_eq!(read.1, value);
    }
    assert_eq!(soc.counter("jumps"), 0);
}

#[test]
fn a_write_to_the_window_is_a_read() {
    let mut soc = Soc::new();
    soc.word(0x1000);
    let (cycles, value) = soc.access(|device, ctx| device.write(1, 0x2000 - WINDOW, AccessSize::Byte, 7, ctx));
    assert_eq!((cycles, value), (131, 0));
    assert_eq!(soc.word(0x2004), (63, word_at(0x2004)));
    let note = "a write to the window reads the flash, and changes nothing";
    assert!(soc.bus.notes().iter().any(|noted| noted.contains(note)), "{:?}", soc.bus.notes());
}

#[test]
fn a_line_fill_is_one_word_after_the_other() {
    let mut soc = Soc::new();
    soc.word(0x1000);
    let start = soc.cycle;
    let done = soc.call(|device, ctx| device.burst(1, 0x2000 - WINDOW, 16, ctx)).unwrap();
    assert_eq!(Soc::clock().cycles_until_ceil(done).0 - start, 131 + 3 * 64);
    assert_eq!(soc.counter("words_requested"), 5);
}

#[test]
fn contents_are_seen_and_stored_without_time() {
    let mut soc = Soc::new();
    let device = soc.bus.devices[0].as_mut().unwrap();
    let mut bytes = [0; 8];
    // The last word before the addresses wrap, and the first after it.
    assert!(device.preload(1, 0x00ff_fffc - WINDOW, &[1, 2, 3, 4, 5, 6, 7, 8]));
    assert!(device.peek(1, 0x00ff_fffc - WINDOW, &mut bytes));
    assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(device.peek(1, 0x1000 - WINDOW, &mut bytes));
    assert_eq!(bytes[..4], word_at(0x1000).to_le_bytes());
    assert!(!device.peek(0, 0, &mut bytes[..4]));
    assert!(!device.preload(0, 0, &bytes[..4]));
    assert_eq!(soc.word(0).1, 0x0807_0605);
    assert_eq!(soc.counter("words_requested"), 1);
}
