use super::*;
use crate::bench::{cells, node, read_tree};
use crate::support::register_chip::{READ, SEVERAL};
use engine::wire::spi::{Burst, Lines};

/// The chip on a wire of 1 MHz, and the time.
struct Rig {
    chip: Box<dyn SpiTarget>,
    now: Ps,
}

fn rig() -> Rig {
    let properties = vec![
        ("compatible", b"adi,adxl345\0".to_vec()),
        ("reg", cells(&[0])),
        ("cyclescope,turn-on-us", cells(&[1_100])),
        ("cyclescope,acceleration-mg", cells(&[500, -1_000_i32 as u32, 12_000])),
        ("cyclescope,sources", b"cyclescope,turn-on-us: chosen by the test\0".to_vec()),
    ];
    let root = node("", None, Vec::new(), vec![node("accel", None, properties, Vec::new())]);
    let (chip, faults) = read_tree(&root, from_node);
    assert_eq!(faults, [""; 0]);
    Rig { chip, now: Ps::ZERO }
}

impl Rig {
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

    fn read(&mut self, address: u32) -> u8 {
        self.access(&[READ | address as u8, 0])[1]
    }

    fn write(&mut self, address: u32, value: u32) {
        self.access(&[address as u8, value as u8]);
    }

    fn outputs(&mut self) -> [i16; 3] {
        let shown = self.access(&[READ | SEVERAL | DATAX0 as u8, 0, 0, 0, 0, 0, 0]);
        [1, 3, 5].map(|low| i16::from_le_bytes([shown[low], shown[low + 1]]))
    }

    fn wait_until(&mut self, us: u64) {
        self.now = Ps::from_us(us);
        self.chip.advance(self.now);
    }
}

/// Table 19.
#[test]
fn registers_have_their_values_after_reset_and_keep_their_bits() {
    let mut rig = rig();
    for (address, value) in [(DEVID, 0xe5), (BW_RATE, 0x0a), (INT_SOURCE, 0x02), (POWER_CTL, 0), (FIFO_STATUS, 0)] {
        assert_eq!(rig.read(address), value, "{address:#x}");
    }
    for (address, kept) in [(DEVID, 0xe5), (TAP_AXES, 0x0f), (INT_ENABLE, 0xff), (BW_RATE, 0x1f), (0x01, 0)] {
        rig.write(address, 0xff);
        assert_eq!(rig.read(address), kept, "{address:#x}");
    }
    let notes = rig.chip.take_notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("INT_ENABLE.WATERMARK, FREE_FALL"), "{notes:?}");
}

/// From standby, the first sample comes 1.1 ms and a period of 100 Hz after the write, the next one a period later.
#[test]
fn samples_come_after_the_turn_on_time_and_one_that_is_not_read_is_lost() {
    let mut rig = rig();
    rig.write(INT_ENABLE, INT_ENABLE_DATA_READY);
    rig.write(POWER_CTL, POWER_CTL_MEASURE);
    let first = rig.now + Ps::from_us(1_100 + 10_000);
    assert_eq!((rig.chip.wakes_at(), rig.chip.interrupt()), (Some(first), Some(false)));
    rig.now = Ps(first.0 - 1);
    rig.chip.advance(rig.now);
    assert_eq!(rig.chip.interrupt(), Some(false));
    rig.chip.advance(first);
    assert_eq!(rig.chip.interrupt(), Some(true));
    rig.now = first + Ps::from_us(10_000);
    assert_eq!(rig.read(INT_SOURCE), 0x83);
    assert_eq!(rig.outputs(), [128, -256, 511]);
    assert_eq!((rig.read(INT_SOURCE), rig.chip.interrupt()), (0x02, Some(false)));
}

/// Table 1: 256 for 1 g with full resolution in all ranges, else 256, 128, 64 and 32.
#[test]
fn outputs_follow_range_resolution_and_justification() {
    let mut rig = rig();
    rig.write(BW_RATE, 15);
    rig.write(POWER_CTL, POWER_CTL_MEASURE);
    rig.wait_until(10_000);
    for (format, expected) in [(3, [16, -32, 384]), (3 | DATA_FORMAT_FULL_RES, [128, -256, 3072]), (1, [64, -128, 511])]
    {
        rig.write(DATA_FORMAT, format);
        assert_eq!(rig.outputs(), expected, "{format:#x}");
    }
    rig.write(DATA_FORMAT, DATA_FORMAT_JUSTIFY);
    assert_eq!(rig.outputs(), [128 << 6, -256 << 6, 511 << 6]);
    let (chip, registers) = (Adxl345 { turn_on: Ps::ZERO }, Registers::new(&MAP));
    assert_eq!([i32::MIN, i32::MAX].map(|mg| chip.output(mg, &registers)), [-512, 511]);
}

/// Table 7: 3200 Hz for 15, half of it for each value less.
#[test]
fn the_rate_halves_with_each_value() {
    for (rate, period_us) in [(15, 312), (14, 625), (10, 10_000), (6, 160_000)] {
        let mut rig = rig();
        rig.write(BW_RATE, rate);
        rig.write(INT_ENABLE, INT_ENABLE_DATA_READY);
        rig.write(POWER_CTL, POWER_CTL_MEASURE);
        let first = rig.chip.wakes_at().unwrap();
        assert_eq!((first - rig.now).0 / 1_000_000, 1_100 + period_us, "{rate}");
    }
}
