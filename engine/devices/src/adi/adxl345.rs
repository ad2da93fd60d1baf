//! Analog Devices ADXL345, an accelerometer (`adi,adxl345`), as a chip on SPI in mode 3. Document: ADXL345 data sheet,
//! rev. E; table numbers are from there.
//!
//! Modelled: reads and writes of one and of several registers; the registers (table 19); all data rates (table 7);
//! measurement and standby, with the turn-on time; outputs in all ranges and resolutions; DATA_READY and OVERRUN, in
//! INT_SOURCE and on INT1. The acceleration is constant.
//!
//! Not modelled: FIFO, taps, activity, free fall, sleep, self-test, offsets, three-wire SPI, INT2. Registers keep
//! written values, and a note says that a bit has no effect.

#[cfg(test)]
mod tests;

use crate::prelude::*;
use crate::support::register_chip::{ChipTable, Common, Outputs, RegisterChip};
use engine::wire::spi::SpiTarget;

registers! {
    /// The register map (table 19).
    const MAP "" bytes {
        DEVID 0x00 ro reset 0xe5;
        THRESH_TAP 0x1d rw;
        OFSX 0x1e rw { OFFSET 0..8 unmodelled };
        OFSY 0x1f rw { OFFSET 0..8 unmodelled };
        OFSZ 0x20 rw { OFFSET 0..8 unmodelled };
        DUR 0x21 rw; LATENT 0x22 rw; WINDOW 0x23 rw;
        THRESH_ACT 0x24 rw; THRESH_INACT 0x25 rw; TIME_INACT 0x26 rw; ACT_INACT_CTL 0x27 rw;
        THRESH_FF 0x28 rw; TIME_FF 0x29 rw;
        TAP_AXES 0x2a rw mask 0x0f;
        ACT_TAP_STATUS 0x2b ro;
        BW_RATE 0x2c rw reset 0x0a { RATE 0..4, LOW_POWER 4 };
        POWER_CTL 0x2d rw {
            WAKEUP 0..2, SLEEP 2 unmodelled, MEASURE 3, AUTO_SLEEP 4 unmodelled, LINK 5 unmodelled
        };
        INT_ENABLE 0x2e rw {
            OVERRUN 0, WATERMARK 1 unmodelled, FREE_FALL 2 unmodelled, INACTIVITY 3 unmodelled, ACTIVITY 4 unmodelled,
            DOUBLE_TAP 5 unmodelled, SINGLE_TAP 6 unmodelled, DATA_READY 7
        };
        /// A set bit leads the interrupt to INT2.
        INT_MAP 0x2f rw;
        INT_SOURCE 0x30 ro volatile reset 0x02;
        DATA_FORMAT 0x31 rw {
            RANGE 0..2, JUSTIFY 2, FULL_RES 3, INT_INVERT 5, SPI 6 unmodelled, SELF_TEST 7 unmodelled
        };
        DATAX0 0x32 ro volatile; DATAX1 0x33 ro volatile; DATAY0 0x34 ro volatile; DATAY1 0x35 ro volatile;
        DATAZ0 0x36 ro volatile; DATAZ1 0x37 ro volatile;
        FIFO_CTL 0x38 rw { SAMPLES 0..5, TRIGGER 5, FIFO_MODE 6..8 unmodelled };
        FIFO_STATUS 0x39 ro;
    }
}

/// The greatest data rate, of BW_RATE.RATE 15; each value below it halves the rate (table 7).
const MOST_HZ: Hz = Hz::new(3200).expect("a rate");

/// For the list of models.
pub const MODEL: Model = Model::spi_chip(&["adi,adxl345"], from_node);

/// The chip's own state.
#[derive(State)]
struct Adxl345 {
    /// From standby to measurement, without the period of the first sample.
    #[state(skip)]
    turn_on: Ps,
}

/// A chip as its node describes it.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn SpiTarget> {
    let turn_on = reader.timing_ps("cyclescope,turn-on-us", "from standby to measurement, without a sample's period");
    RegisterChip::accelerometer(Adxl345 { turn_on }, Ps::ZERO, reader).on_wire(5_000_000, reader)
}

impl ChipTable for Adxl345 {
    const MAP: &'static Map = &MAP;
    const ADDRESS: u8 = 0x3f;
    const OUTPUTS: Outputs = Outputs { first: DATAX0, axes: None };
    const FLAGS: [u32; 2] = [INT_ENABLE_DATA_READY, INT_ENABLE_OVERRUN];

    fn shown(&self, register: u32, held: u32, chip: &Common) -> u32 {
        if register == INT_SOURCE { held | chip.flags::<Adxl345>() } else { held }
    }

    fn wrote(&mut self, register: u32, has_changed: bool, Common { registers, sampler, .. }: &mut Common, now: Ps) {
        if !has_changed || !matches!(register, BW_RATE | POWER_CTL) {
            return;
        }
        let every = 1 << (15 - registers.field(BW_RATE, BW_RATE_RATE));
        match registers.has(POWER_CTL, POWER_CTL_MEASURE) {
            true => sampler.go_on_divided(MOST_HZ, every, now, self.turn_on),
            false => sampler.stop(),
        }
    }

    /// 256 for 1 g, in 10 bits, or fewer in greater ranges; with FULL_RES more bits instead.
    fn output(&self, mg: i32, registers: &Registers) -> i16 {
        let range = registers.field(DATA_FORMAT, DATA_FORMAT_RANGE);
        let (bits, scale) =
            if registers.has(DATA_FORMAT, DATA_FORMAT_FULL_RES) { (10 + range, 0) } else { (10, range) };
        let most = (1 << (bits - 1)) - 1;
        let value = ((i64::from(mg) * 256 / 1000) >> scale).clamp(-most - 1, most);
        (if registers.has(DATA_FORMAT, DATA_FORMAT_JUSTIFY) { value << (16 - bits) } else { value }) as i16
    }

    fn enabled(registers: &Registers) -> u32 {
        registers[INT_ENABLE]
    }

    fn level(registers: &Registers, raised: u32) -> bool {
        (raised & !registers[INT_MAP] != 0) != registers.has(DATA_FORMAT, DATA_FORMAT_INT_INVERT)
    }
}
