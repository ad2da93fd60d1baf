use super::*;
use crate::bench::{cells, node, phandle_of, read_tree};
use engine::dt::wiring::DeviceId;
use engine::wire::spi::{Burst, Lines};

const BOOT: Ps = Ps::from_us(5000);

/// The chip on a wire of 1 MHz, and the time.
struct Rig {
    chip: Box<dyn SpiTarget>,
    now: Ps,
}

impl Rig {
    /// The state after boot.
    fn new(acceleration_mg: [i32; 3]) -> Rig {
        let sources = "cyclescope,boot-us, cyclescope,turn-on-us: chosen by the test\0";
        let properties = vec![
            ("compatible", b"st,lis3dsh-accel\0".to_vec()),
            ("reg", cells(&[0])),
            ("interrupt-parent", cells(&[phandle_of(DeviceId(2))])),
            ("interrupts", cells(&[0])),
            ("cyclescope,acceleration-mg", cells(&acceleration_mg.map(|mg| mg as u32))),
            ("cyclescope,temperature-millicelsius", cells(&[23_500])),
            ("cyclescope,boot-us", cells(&[5000])),
            ("cyclescope,turn-on-us", cells(&[1000])),
            ("cyclescope,sources", sources.as_bytes().to_vec()),
        ];
        let root = node("", None, Vec::new(), vec![node("accel", None, properties, Vec::new())]);
        let (chip, faults) = read_tree(&root, from_node);
        assert_eq!(faults, [""; 0]);
        Rig { chip, now: BOOT }
    }

    fn access(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.chip.select(self.now);
        let mut exchange = |byte: &u8| {
            self.now += Ps::from_us(8);
            self.chip.shift(Burst::byte_out(Lines::Single, *byte), self.now) as u8
        };
        let shown = bytes.iter().map(&mut exchange).collect();
        self.chip.deselect(self.now);
        shown
    }

    fn read(&mut self, address: usize) -> u8 {
        self.access(&[0x80 | address as u8, 0])[1]
    }

    fn write(&mut self, address: usize, value: u8) {
        self.access(&[address as u8, value]);
    }

    fn outputs(&mut self) -> [i16; 3] {
        let shown = self.access(&[0x80 | OUT_X_L as u8, 0, 0, 0, 0, 0, 0]);
        [1, 3, 5].map(|low| i16::from_le_bytes([shown[low], shown[low + 1]]))
    }
}

#[test]
fn registers_are_those_of_the_sheet() {
    let mut rig = Rig::new([0; 3]);
    // 23.5 degrees are between -2 and -1 digits.
    let resets = [(OUT_T, 0xfe), (0x0d, 0x21), (0x0f, 0x3f), (0x16, 0x01), (0x20, 0x07), (0x25, 0x10)];
    for address in 0..0x80 {
        let reset = resets.iter().find(|(known, _)| *known == address).map_or(0, |(_, value)| *value);
        assert_eq!(rig.read(address), reset, "{address:#x}");
    }
    // Other tests cover CTRL_REG3's soft reset and CTRL_REG4.
    for address in (0..0x80).filter(|address| ![CTRL_REG4, CTRL_REG3].contains(address)) {
        let (reset, mask) = (rig.read(address), MAP.writable(address));
        for written in [0xff, 0] {
            rig.write(address, written);
            assert_eq!(rig.read(address), reset & !mask | written & mask, "{address:#x}");
        }
        rig.write(address, reset);
    }
    let notes = rig.chip.take_notes();
    assert!(notes.iter().any(|note| note.contains("register 0x40")), "{notes:?}");
}

#[test]
fn addresses_count_up_while_add_inc_is_set() {
    let mut rig = Rig::new([0; 3]);
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
            let mut rig = Rig::new([0, 0, 1000]);
            assert_eq!(rig.chip.interrupt(), Some(false));
            rig.write(CTRL_REG3, DR_EN | INT1_EN | polarity);
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
    let mut rig = Rig::new([1000, -500, 3000]);
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
    let mut rig = Rig::new([0; 3]);
    rig.write(CTRL_REG4, 0x63);
    rig.now += Ps::from_us(11_000);
    assert_eq!(rig.read(STATUS), 0x0b);
    rig.now += Ps::from_us(10_000);
    assert_eq!((rig.read(STATUS), rig.read(STAT)), (0xbb, 0x03));
    rig.write(CTRL_REG3, STRT);
    rig.now += Ps::from_us(30_000);
    assert_eq!((rig.read(STATUS), rig.read(CTRL_REG4), rig.read(CTRL_REG3)), (0, 0x07, 0));
}

#[test]
fn an_access_before_boot_is_noted() {
    let mut rig = Rig::new([0; 3]);
    rig.now = Ps::from_us(100);
    rig.write(CTRL_REG4, 0x67);
    assert_eq!(rig.chip.take_notes(), ["an access before the chip has booted has no effect"]);
    rig.now = BOOT;
    assert_eq!(rig.read(CTRL_REG4), 0x07);
}
