//! What is executed is what the wire gives.

use super::*;

/// Settings that the flash does not take as they are meant.
const WRONG: [(&str, u32, u32); 5] = [
    ("fewer dummy clocks", 0xeb, ifr::QUAD_READ & !ifr::dummies(31) | ifr::dummies(7)),
    ("more dummy clocks", 0xeb, ifr::QUAD_READ | ifr::dummies(11)),
    ("another width", 0xeb, ifr::QUAD_READ & !7 | ifr::QUAD_OUTPUT),
    ("another command", 0x6b, ifr::QUAD_READ),
    ("no command", 0xeb, ifr::QUAD_READ & !ifr::INSTEN),
];

#[test]
fn wrong_settings_read_and_show_the_same_wrong_bytes_and_a_note() {
    for (what, opcode, frame) in WRONG {
        let mut rig = Rig::memory();
        rig.frame(opcode, frame);
        let shown = rig.peek(0x123c);
        let read = rig.word(0x123c);
        assert_ne!(read, word_at(0x123c), "{what}");
        assert_eq!(shown, read, "{what}");
        assert!(rig.notes().contains("flash0: "), "{what}: {}", rig.notes());
    }
}

#[test]
fn settings_that_change_have_code_decoded_again() {
    let mut rig = Rig::reading(ifr::QUAD_READ);
    for offset in [0, 0x100, 0x200] {
        rig.word(offset);
    }
    assert_eq!(rig.peek(0x40), word_at(0x40));
    let epoch = rig.bench.bus.code_written.epoch();
    rig.word(0x300);
    assert_eq!(rig.bench.bus.code_written.epoch(), epoch);
    rig.frame(0xeb, ifr::QUAD_READ | ifr::dummies(11));
    assert!(rig.bench.bus.code_written.epoch() > epoch);
    assert_ne!(rig.peek(0x40), word_at(0x40));
}

#[test]
fn looking_moves_nothing() {
    let mut rig = Rig::reading(ifr::QUAD_READ);
    rig.word(0x100);
    rig.peek(0x800);
    assert_eq!(rig.word(0x104), word_at(0x104));
    assert_eq!((rig.counter("frames"), rig.counter("flash0.bytes_read")), (1, 8));
}

#[test]
fn a_program_is_loaded_and_shown_before_the_window_is_open() {
    let mut rig = Rig::new();
    assert!(rig.device(|device, _| device.preload(1, 0x3000, &[1, 2, 3, 4])));
    assert_eq!(rig.peek(0x3000), 0x0403_0201);
}
