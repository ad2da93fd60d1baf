//! ST LIS3DSH, an accelerometer (`st,lis3dsh-accel`), as a chip on SPI in modes 0 and 3. Document: STMicroelectronics
//! DocID022405 Rev 3, "LIS3DSH, MEMS digital output motion sensor"; the register map is from ST's drivers.
//!
//! Modelled: accesses to one and, by CTRL_REG6.ADD_INC, to several registers; the register map; boot; all data rates
//! and full scales; outputs, STATUS and STAT; OUT_T; data ready on INT1, in both polarities; the soft reset
//! (CTRL_REG3.STRT). The acceleration and the temperature are constant, so CTRL_REG4.BDU and the filter's bandwidth
//! have no effect.
//!
//! Not modelled: the state machines, FIFO, vector filter, offsets, self-test, INT2, three-wire SPI, reboot. Registers
//! keep written values, and a note says that the write has no effect.

#[cfg(test)]
mod tests;

use super::{COMMON, MAX_HZ, OUTPUTS, STATUS};
use crate::prelude::*;
use crate::support::register_chip::{ChipTable, Common, Note, Outputs};
use engine::wire::spi::SpiTarget;

registers! {
    /// The registers that the LIS3DSH adds.
    const OWN "" bytes {
        OUT_T 0x0c ro volatile;
        INFO1 0x0d ro reset 0x21;
        INFO2 0x0e ro;
        WHO_AM_I 0x0f ro reset 0x3f;
        OFF_X 0x10 rw; OFF_Y 0x11 rw; OFF_Z 0x12 rw;
        CS_X 0x13 rw; CS_Y 0x14 rw; CS_Z 0x15 rw;
        LC_L 0x16 rw reset 0x01; LC_H 0x17 rw;
        STAT 0x18 ro volatile;
        PEAK1 0x19 ro; PEAK2 0x1a ro;
        VFC "VFC_{}" [1..5; 1] 0x1b rw;
        THRS3 0x1f rw;
        CTRL_REG4 0x20 rw reset 0x07 { XEN 0, YEN 1, ZEN 2, BDU 3, ODR 4..8 };
        CTRL_REG1 0x21 rw mask 0xe9;
        CTRL_REG2 0x22 rw mask 0xe9;
        /// IEA: interrupts are active high. STRT: soft reset.
        CTRL_REG3 0x23 rw mask 0xff { STRT 0, INT1_EN 3, IEA 6, DR_EN 7 };
        CTRL_REG5 0x24 rw { SIM 0 unmodelled, ST 1..3 unmodelled, FSCALE 3..6, BW 6..8 };
        CTRL_REG6 0x25 rw reset 0x10 mask 0xff { ADD_INC 4 };
        ST1 "ST1_{}" [1..17; 1] 0x40 rw;
        TIMERS1 "TIMERS1_{}" [0..8; 1] 0x50 rw;
        MASK1_B 0x59 rw; MASK1_A 0x5a rw; SETT1 0x5b rw;
        ST2 "ST2_{}" [1..17; 1] 0x60 rw;
        TIMERS2 "TIMERS2_{}" [0..8; 1] 0x70 rw;
        DES2 0x78 rw; MASK2_B 0x79 rw; MASK2_A 0x7a rw; SETT2 0x7b rw;
    }
}

/// The highest data rate. Each lower value of CTRL_REG4.ODR, down to 1, halves it.
const FASTEST: Hz = Hz::new(1600).expect("a rate");
const DIVIDERS: [u64; 9] = [512, 256, 128, 64, 32, 16, 4, 2, 1];
/// Millionths of g a digit, by CTRL_REG5.FSCALE: 2, 4, 6, 8 and 16 g (sensitivity).
const SENSITIVITY_UG: [i32; 5] = [60, 120, 180, 240, 730];

/// For the list of models.
pub const MODEL: Model = Model::spi_chip(&["st,lis3dsh-accel"], from_node);

/// The chip's own state.
#[derive(Default, State)]
struct Lis3dsh {
    /// Time from power-down to the first data, without the period of the data rate.
    #[state(skip)]
    turn_on: Ps,
    /// OUT_T.
    #[state(skip)]
    temperature: u8,
    /// The value of CTRL_REG4.ODR that the sampler uses.
    odr: u32,
}

/// A chip as its node describes it, powered from time 0.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn SpiTarget> {
    let meaning = "from power-down to the first data, besides a period of the data rate";
    let mut chip = super::from_node(reader, |reader| Lis3dsh {
        turn_on: reader.timing_ps("cyclescope,turn-on-us", meaning),
        ..Lis3dsh::default()
    });
    let meaning = "the chip's temperature in thousandths of a degree, -40000 to 85000";
    let allowed = |value: u32| (-40_000..=85_000).contains(&(value as i32));
    let millicelsius = reader.u32_or("cyclescope,temperature-millicelsius", 25_000, allowed, meaning) as i32;
    // One digit is one degree; 0 is 25 degrees.
    chip.table.temperature = (millicelsius.div_euclid(1000) - 25) as u8;
    chip.on_wire(MAX_HZ, reader)
}

impl ChipTable for Lis3dsh {
    const MAP: &'static Map = &joined!(COMMON, OWN);
    const ADDRESS: u8 = 0x7f;
    const OUTPUTS: Outputs = OUTPUTS;
    const NOTE: Note = super::note;

    fn counts_up(_: u8, registers: &Registers) -> bool {
        registers.has(CTRL_REG6, CTRL_REG6_ADD_INC)
    }

    fn shown(&self, register: u32, held: u32, chip: &Common) -> u32 {
        match register {
            STATUS => super::status(chip),
            OUT_T => self.temperature.into(),
            STAT => chip.flags::<Lis3dsh>(),
            _ => held,
        }
    }

    fn wrote(&mut self, _: u32, _: bool, chip: &mut Common, now: Ps) {
        if chip.registers.has(CTRL_REG3, CTRL_REG3_STRT) {
            chip.registers.reset();
            (chip.ready, chip.overrun) = (0, 0);
        }
        let odr = chip.registers.field(CTRL_REG4, CTRL_REG4_ODR);
        let before = std::mem::replace(&mut self.odr, odr);
        match odr.checked_sub(1).and_then(|at| DIVIDERS.get(at as usize)) {
            _ if odr == before => {}
            Some(every) => chip.sampler.go_on_divided(FASTEST, *every, now, self.turn_on),
            None => chip.sampler.stop(),
        }
    }

    fn output(&self, mg: i32, registers: &Registers) -> i16 {
        let scale = SENSITIVITY_UG[(registers.field(CTRL_REG5, CTRL_REG5_FSCALE) as usize).min(4)];
        let digits = i64::from(mg) * 1000 / i64::from(scale);
        digits.clamp(i16::MIN.into(), i16::MAX.into()) as i16
    }

    fn enabled(registers: &Registers) -> u32 {
        let both = CTRL_REG3_DR_EN | CTRL_REG3_INT1_EN;
        flag(1, registers[CTRL_REG3] & both == both)
    }

    /// While INT1 is off, the board's pull-down keeps it low.
    fn level(registers: &Registers, raised: u32) -> bool {
        registers.has(CTRL_REG3, CTRL_REG3_INT1_EN) && (raised != 0) == registers.has(CTRL_REG3, CTRL_REG3_IEA)
    }
}
