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
use crate::registers::unmodelled;
use crate::support::sampler::Sampler;
use engine::wire::bytes::{ByteTarget, OnWire};
use engine::wire::notes::Notes;
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

/// Bits of the first byte of a frame.
const READ: u8 = 1 << 7;
const SEVERAL: u8 = 1 << 6;
/// The greatest data rate, of BW_RATE.RATE 15; each value below it halves the rate (table 7).
const MOST_HZ: Hz = Hz::new(3200).expect("a rate");

/// For the list of models.
pub const MODEL: Model = Model::spi_chip(&["adi,adxl345"], from_node);

/// The chip.
#[derive(State)]
struct Adxl345 {
    /// From standby to measurement, without the period of the first sample.
    #[state(skip)]
    turn_on: Ps,
    #[state(skip)]
    acceleration_mg: [u32; 3],
    registers: Registers,
    /// The first byte of the frame, and the register for the next byte.
    command: u8,
    address: u32,
    sampler: Sampler,
    /// INT_SOURCE's DATA_READY and OVERRUN.
    source: u32,
}

/// A chip as its node describes it.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn SpiTarget> {
    let turn_on = reader.timing_ps("cyclescope,turn-on-us", "from standby to measurement, without a sample's period");
    let meaning = "the acceleration along X, Y and Z in thousandths of g";
    let acceleration_mg = reader.cells("cyclescope,acceleration-mg", |_| true, meaning).unwrap_or_default();
    let (registers, sampler) = (Registers::new(&MAP), Sampler::default());
    let chip = Adxl345 { turn_on, acceleration_mg, registers, command: 0, address: 0, sampler, source: 0 };
    Box::new(OnWire::from_node(chip, 5_000_000, reader))
}

impl Adxl345 {
    fn write(&mut self, value: u8, now: Ps, notes: &mut Notes<String>) {
        let Ok((row, old, new)) = self.registers.write(self.address, value.into()) else { return };
        unmodelled(row, old, new).into_iter().for_each(|note| notes.add(note));
        if matches!(row.offset, BW_RATE | POWER_CTL) && old != new {
            self.restart(now);
        }
    }

    fn restart(&mut self, now: Ps) {
        let every = 1 << (15 - self.registers.field(BW_RATE, BW_RATE_RATE));
        let period = MOST_HZ.ps_at_floor(Cycles(every));
        let wait = if self.sampler.rate().is_some() { period } else { self.turn_on + period };
        match self.registers.has(POWER_CTL, POWER_CTL_MEASURE) {
            true => self.sampler.start_divided(MOST_HZ, every, now + wait),
            false => self.sampler.stop(),
        }
    }

    /// An axis' output: 256 for 1 g, in 10 bits, or fewer in greater ranges; with FULL_RES more bits instead.
    fn output(&self, axis: usize) -> i16 {
        let range = self.registers.field(DATA_FORMAT, DATA_FORMAT_RANGE);
        let (bits, scale) =
            if self.registers.has(DATA_FORMAT, DATA_FORMAT_FULL_RES) { (10 + range, 0) } else { (10, range) };
        let most = (1 << (bits - 1)) - 1;
        let value = ((self.acceleration_mg[axis] as i32 * 256 / 1000) >> scale).clamp(-most - 1, most);
        (if self.registers.has(DATA_FORMAT, DATA_FORMAT_JUSTIFY) { value << (16 - bits) } else { value }) as i16
    }

    fn shown(&self) -> u8 {
        let place = self.address.wrapping_sub(DATAX0) as usize;
        match self.address {
            INT_SOURCE => (self.source | self.registers.held(INT_SOURCE)) as u8,
            DATAX0..=DATAZ1 if self.sampler.has_any() => self.output(place / 2).to_le_bytes()[place % 2],
            address => self.registers.held(address) as u8,
        }
    }
}

impl ByteTarget for Adxl345 {
    fn byte(&mut self, index: u64, input: u8, now: Ps, notes: &mut Notes<String>) -> u8 {
        if index == 0 {
            (self.command, self.address) = (input, u32::from(input & !(READ | SEVERAL)));
        } else {
            if self.command & READ == 0 {
                self.write(input, now, notes);
            } else if (DATAX0..=DATAZ1).contains(&self.address) {
                self.source = 0;
            }
            self.address = (self.address + u32::from(self.command & SEVERAL != 0)) & 0x3f;
        }
        if self.command & READ != 0 { self.shown() } else { 0xff }
    }

    fn advance(&mut self, now: Ps) {
        let samples = self.sampler.take(now);
        if samples > 1 || samples == 1 && self.source != 0 {
            self.source |= INT_ENABLE_OVERRUN;
        }
        if samples > 0 {
            self.source |= INT_ENABLE_DATA_READY;
        }
    }

    fn wakes_at(&self) -> Option<Ps> {
        self.sampler.next_at().filter(|_| self.registers[INT_ENABLE] & !self.source != 0)
    }

    fn interrupt(&self) -> Option<bool> {
        let raised = self.source & self.registers[INT_ENABLE] & !self.registers[INT_MAP] != 0;
        Some(raised != self.registers.has(DATA_FORMAT, DATA_FORMAT_INT_INVERT))
    }
}
