use super::super::STATUS;
use super::super::tests::{self, BOOT_US, LISTENER, Rig};
use super::*;
use engine::dt::node::Node;
use engine::wire::spi::{Burst, Lines};

mod controllers;

fn chip_node(acceleration_mg: [i32; 3]) -> Node {
    let timing = [
        ("cyclescope,low-power-turn-on-us", 1000),
        ("cyclescope,normal-turn-on-us", 1600),
        ("cyclescope,settling-samples", 7),
    ];
    tests::chip_node("st,lis3dh-accel", acceleration_mg, &timing, &[])
}

/// The state after boot.
fn rig(acceleration_mg: [i32; 3]) -> Rig {
    Rig::of(chip_node(acceleration_mg), from_node, 0x40)
}

impl Rig {
    /// The time of INT1's next rising edge.
    fn ready_at(&mut self) -> Ps {
        assert_eq!(self.chip.interrupt(), Some(false));
        let due = self.chip.wakes_at().unwrap();
        self.chip.advance(due - Ps(1));
        assert_eq!(self.chip.interrupt(), Some(false));
        self.chip.advance(due);
        assert_eq!(self.chip.interrupt(), Some(true));
        self.now = due;
        due
    }
}

#[test]
fn registers_are_those_of_the_sheet() {
    let mut rig = rig([0; 3]);
    assert_eq!(rig.read(0x0f), 0x33);
    rig.keeps(Lis3dh::MAP, 0x40, &[(0x0f, 0x33), (0x1e, 0x10), (0x20, 0x07)], &[CTRL_REG1]);
    let notes = rig.chip.take_notes();
    assert!(notes.iter().any(|note| note.contains("register 0x2e")), "{notes:?}");
}

#[test]
fn addresses_count_up_where_the_access_says_so() {
    let mut rig = rig([0; 3]);
    rig.access(&[0x40 | 0x32, 1, 2, 3]);
    assert_eq!(rig.access(&[0xc0 | 0x32, 0, 0, 0])[1..], [1, 2, 3]);
    assert_eq!(rig.access(&[0x80 | 0x32, 0, 0, 0])[1..], [1, 1, 1]);
}

/// The first data comes after the turn-on time of its mode, the next ones at the data rate.
#[test]
fn data_is_ready_at_its_time() {
    // CTRL_REG1 and CTRL_REG4, turn-on time and period in nanoseconds: 1.6 ms and 1 s / 100; 1 ms and 1 s / 5376; 7 and
    // 1 s / 1344.
    let cases = [
        (0x57, 0x00, 1_600_000_000, 10_000_000_000),
        (0x9f, 0x00, 1_000_000_000, 186_011_905),
        (0x97, 0x08, 5_208_333_333, 744_047_620),
    ];
    for (control, mode, turn_on, period) in cases {
        let mut rig = rig([0, 0, 1000]);
        rig.write(CTRL_REG3, CTRL_REG3_I1_ZYXDA);
        rig.write(CTRL_REG4, mode);
        assert_eq!(rig.chip.wakes_at(), None);
        rig.write(CTRL_REG1, control);
        let began = rig.now;
        assert_eq!(rig.ready_at(), began + Ps(turn_on));
        assert_eq!(rig.read(STATUS), 0x0f);
        rig.outputs();
        assert_eq!(rig.read(STATUS), 0);
        let second = rig.ready_at() - (began + Ps(turn_on));
        assert!(second.0.abs_diff(period) <= 1, "{second}");
    }
}

#[test]
fn a_change_of_mode_takes_samples() {
    let mut rig = rig([0; 3]);
    rig.write(CTRL_REG3, CTRL_REG3_I1_ZYXDA);
    rig.write(CTRL_REG1, 0x77);
    rig.ready_at();
    rig.outputs();
    // To high resolution: 7 samples at 400 Hz; back: one.
    for (mode, samples) in [(0x08, 7), (0x00, 1)] {
        rig.write(CTRL_REG4, mode);
        let began = rig.now;
        assert_eq!(rig.ready_at(), began + Ps::from_us(2500 * samples));
        rig.outputs();
    }
}

#[test]
fn outputs_are_left_justified_by_mode_and_range() {
    let mut rig = rig([1000, -500, 3000]);
    // 16, 4, 1 mg for each digit at 2 g in 8, 10, 12 bits; 2 mg at 4 g in 12 bits; 12 mg at 16 g.
    let cases = [
        (0x5f, 0x00, [62 << 8, -32 << 8, 127 << 8]),
        (0x57, 0x00, [250 << 6, -125 << 6, 511 << 6]),
        (0x57, 0x08, [1000 << 4, -500 << 4, 2047 << 4]),
        (0x57, 0x18, [500 << 4, -250 << 4, 1500 << 4]),
        (0x57, 0x38, [83 << 4, -41 << 4, 250 << 4]),
    ];
    for (control, mode, expected) in cases {
        rig.write(CTRL_REG4, mode);
        rig.write(CTRL_REG1, control);
        rig.now += Ps::from_us(100_000);
        assert_eq!(rig.outputs(), expected, "{control:#x} {mode:#x}");
    }
}

#[test]
fn unread_data_is_overrun() {
    let mut rig = rig([0; 3]);
    rig.write(CTRL_REG1, 0x53);
    rig.now += Ps::from_us(1600 + 5000);
    assert_eq!(rig.read(STATUS), 0x0b);
    rig.now += Ps::from_us(10_000);
    assert_eq!(rig.read(STATUS), 0xbb);
    rig.read(0x29);
    assert_eq!(rig.read(STATUS), 0xaa);
}

#[test]
fn an_access_before_boot_and_a_cut_byte_are_noted() {
    let mut rig = rig([0; 3]);
    rig.now = Ps::from_us(100);
    rig.write(CTRL_REG1, 0x57);
    assert_eq!(rig.chip.take_notes().len(), 1);
    rig.now = Ps::from_us(BOOT_US.into());
    assert_eq!(rig.read(CTRL_REG1), 0x07);
    rig.chip.select(rig.now);
    rig.chip.shift(Burst::output(Lines::Single, engine::wire::spi::Rate::Single, 5, 0), rig.now + Ps::from_us(5));
    rig.chip.deselect(rig.now + Ps::from_us(6));
    assert!(rig.chip.take_notes()[0].contains("within a byte"));
}

#[test]
fn a_frame_that_begins_before_boot_is_ignored_to_its_end() {
    let mut rig = rig([0; 3]);
    // The frame's first byte ends 1 us before boot.
    rig.now = Ps::from_us(u64::from(BOOT_US) - 9);
    assert_eq!(rig.access(&[CTRL_REG1 as u8, 0x57, 0x57]), [0xff; 3]);
    assert_eq!(rig.read(CTRL_REG1), 0x07);
    assert_eq!(rig.chip.take_notes(), ["an access before the chip has booted has no effect"]);
}
