use super::super::STATUS;
use super::super::tests::{self, BOOT_US, Rig};
use super::*;

const BOOT: Ps = Ps::from_us(BOOT_US as u64);
const IEA: u32 = CTRL_REG3_IEA;

/// The state after boot.
fn rig(acceleration_mg: [i32; 3]) -> Rig {
    let (timing, others) = ([("cyclescope,turn-on-us", 1000)], [("cyclescope,temperature-millicelsius", 23_500)]);
    Rig::of(tests::chip_node("st,lis3dsh-accel", acceleration_mg, &timing, &others), from_node, 0)
}

#[test]
fn registers_are_those_of_the_sheet() {
    let mut rig = rig([0; 3]);
    // 23.5 degrees are between -2 and -1 digits.
    let resets = [(OUT_T, 0xfe), (0x0d, 0x21), (0x0f, 0x3f), (0x16, 0x01), (0x20, 0x07), (0x25, 0x10)];
    // Other tests cover CTRL_REG3's soft reset and CTRL_REG4.
    rig.keeps(Lis3dsh::MAP, 0x80, &resets, &[CTRL_REG4, CTRL_REG3]);
    let notes = rig.chip.take_notes();
    assert!(notes.iter().any(|note| note.contains("register 0x40")), "{notes:?}");
}

#[test]
fn addresses_count_up_while_add_inc_is_set() {
    let mut rig = rig([0; 3]);
    rig.access(&[0x10, 1, 2, 3]);
    assert_eq!(rig.access(&[0x90, 0, 0, 0])[1..], [1, 2, 3]);
    rig.write(CTRL_REG6, 0);
    assert_eq!(rig.access(&[0x90, 0, 0, 0])[1..], [1, 1, 1]);
}

/// The first data come a period after the turn-on time, the next ones at the data rate. INT1 reports them with a low
/// level after reset, with a high level by IEA.
#[test]
fn data_is_ready_at_its_time() {
    // CTRL_REG4, and the period in nanoseconds: 1 s / 3.125, 1 s / 100, 1 s / 1600.
    for (control, period_ns) in [(0x17, 320_000_000), (0x67, 10_000_000), (0x97, 625_000)] {
        for polarity in [0, IEA] {
            let mut rig = rig([0, 0, 1000]);
            assert_eq!(rig.chip.interrupt(), Some(false));
            rig.write(CTRL_REG3, CTRL_REG3_DR_EN | CTRL_REG3_INT1_EN | polarity);
            assert_eq!((rig.chip.interrupt(), rig.chip.wakes_at()), (Some(polarity == 0), None));
            rig.write(CTRL_REG4, control);
            let first = rig.now + Ps::from_us(1000) + Ps::from_ns(period_ns);
            for due in [first, first + Ps::from_ns(period_ns)] {
                assert_eq!(rig.chip.wakes_at(), Some(due));
                rig.chip.advance(due - Ps(1));
                assert_eq!(rig.chip.interrupt(), Some(polarity == 0));
                rig.chip.advance(due);
                assert_eq!(rig.chip.interrupt(), Some(polarity != 0));
                rig.now = due;
                assert_eq!((rig.read(STATUS), rig.read(STAT)), (0x0f, 0x01));
                rig.outputs();
                assert_eq!((rig.read(STATUS), rig.read(STAT)), (0, 0));
            }
        }
    }
}

#[test]
fn outputs_are_digits_of_the_full_scale() {
    let mut rig = rig([1000, -500, 3000]);
    rig.write(CTRL_REG4, 0x67);
    assert_eq!(rig.outputs(), [0; 3]);
    rig.now += Ps::from_us(20_000);
    // 60, 120, 240, 730 millionths of g for each digit; the acceleration is at most 2 g.
    let cases = [
        (0x00, [16_666, -8_333, 32_767]),
        (0x08, [8_333, -4_166, 25_000]),
        (0x18, [4_166, -2_083, 12_500]),
        (0x20, [1_369, -684, 4_109]),
    ];
    for (control, expected) in cases {
        rig.write(CTRL_REG5, control);
        assert_eq!(rig.outputs(), expected, "{control:#x}");
    }
}

#[test]
fn unread_data_is_overrun_and_a_soft_reset_ends_all() {
    let mut rig = rig([0; 3]);
    rig.write(CTRL_REG4, 0x63);
    rig.now += Ps::from_us(11_000);
    assert_eq!(rig.read(STATUS), 0x0b);
    rig.now += Ps::from_us(10_000);
    assert_eq!((rig.read(STATUS), rig.read(STAT)), (0xbb, 0x03));
    rig.write(CTRL_REG3, CTRL_REG3_STRT);
    rig.now += Ps::from_us(30_000);
    assert_eq!((rig.read(STATUS), rig.read(CTRL_REG4), rig.read(CTRL_REG3)), (0, 0x07, 0));
}

#[test]
fn an_access_before_boot_is_noted() {
    let mut rig = rig([0; 3]);
    rig.now = Ps::from_us(100);
    rig.write(CTRL_REG4, 0x67);
    assert_eq!(rig.chip.take_notes(), ["an access before the chip has booted has no effect"]);
    rig.now = BOOT;
    assert_eq!(rig.read(CTRL_REG4), 0x07);
}
