//! ST LIS3DH, an accelerometer (`st,lis3dh-accel`), as a chip on SPI in modes 0 and 3. Document: STMicroelectronics
//! DocID17530 Rev 2, "LIS3DH, MEMS digital output motion sensor"; section and table numbers are from there.
//!
//! Modelled: accesses to one and to several registers (section 6.2); registers (table 21); boot; all data rates, modes
//! and turn-on times (tables 10 and 11); outputs; STATUS_REG; data ready on INT1. The acceleration is constant.
//!
//! Not modelled: FIFO, filters, self-test, byte order, other interrupts, the auxiliary converter, three-wire SPI,
//! reboot. Registers keep written values, and a note says that the write has no effect.

#[cfg(test)]
mod tests;

use super::{COMMON, MAX_HZ, OUTPUTS, STATUS};
use crate::prelude::*;
use crate::support::register_chip::{ChipTable, Common, Note, Outputs};
use engine::wire::spi::SpiTarget;

registers! {
    /// The registers that the LIS3DH adds.
    const OWN "" bytes {
        WHO_AM_I 0x0f ro reset 0x33;
        CTRL_REG0 0x1e rw reset 0x10 mask 0x90;
        TEMP_CFG_REG 0x1f rw mask 0xc0;
        CTRL_REG1 0x20 rw reset 0x07 { XEN 0, YEN 1, ZEN 2, LPEN 3, ODR 4..8 };
        CTRL_REG2 0x21 rw;
        CTRL_REG3 0x22 rw mask 0xfe { I1_ZYXDA 4 };
        CTRL_REG4 0x23 rw { SIM 0 unmodelled, ST 1..3 unmodelled, HR 3, FS 4..6, BLE 6 unmodelled, BDU 7 };
        CTRL_REG5 0x24 rw mask 0xcf;
        CTRL_REG6 0x25 rw mask 0xfa { INT_LOW 1 };
        REFERENCE 0x26 rw;
        INT_CFG "INT{}_CFG" [1..3; 4] 0x30 rw;
        INT_SRC "INT{}_SRC" [1..3; 4] 0x31 ro;
        INT_THS "INT{}_THS" [1..3; 4] 0x32 rw mask 0x7f;
        INT_DURATION "INT{}_DURATION" [1..3; 4] 0x33 rw mask 0x7f;
        CLICK_CFG 0x38 rw mask 0x3f;
        CLICK_SRC 0x39 ro;
        CLICK_THS 0x3a rw;
        TIME_LIMIT 0x3b rw mask 0x7f;
        TIME_LATENCY 0x3c rw;
        TIME_WINDOW 0x3d rw;
        ACT_THS 0x3e rw mask 0x7f;
        ACT_DUR 0x3f rw;
    }
}

/// Data rates by CTRL_REG1.ODR; the last one has another value in low-power mode (table 31).
const RATES_HZ: [u64; 11] = [0, 1, 10, 25, 50, 100, 200, 400, 1600, 1344, 5376];

/// For the list of models.
pub const MODEL: Model = Model::spi_chip(&["st,lis3dh-accel"], from_node);

/// The chip's own state.
#[derive(Default, State)]
struct Lis3dh {
    /// Time from power-down to the first data, in low-power and normal mode; samples to the first one in high
    /// resolution.
    #[state(skip)]
    turn_on: [Ps; 2],
    #[state(skip)]
    settling: u64,
    /// Low-power, normal or high-resolution mode: 0 to 2.
    mode: usize,
}

/// A chip as its node describes it, powered from time 0.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn SpiTarget> {
    let times = |reader: &mut NodeReader| {
        let turn_on = ["low-power", "normal"].map(|mode| {
            let meaning = format!("from power-down to the first data in {mode} mode");
            reader.timing_ps(&format!("cyclescope,{mode}-turn-on-us"), &meaning)
        });
        let meaning = "samples up to the first one in high resolution, 1 to 100";
        let settling = reader.timing_u32("cyclescope,settling-samples", 1..=100, meaning).into();
        Lis3dh { turn_on, settling, mode: 0 }
    };
    super::from_node(reader, times).on_wire(MAX_HZ, reader)
}

impl ChipTable for Lis3dh {
    const MAP: &'static Map = &joined!(COMMON, OWN);
    const ADDRESS: u8 = 0x3f;
    const OUTPUTS: Outputs = OUTPUTS;
    const NOTE: Note = super::note;

    fn shown(&self, register: u32, held: u32, chip: &Common) -> u32 {
        if register == STATUS { super::status(chip) } else { held }
    }

    /// CTRL_REG1 or CTRL_REG4 may change the rate or the mode.
    fn wrote(&mut self, _: u32, _: bool, Common { registers, sampler, .. }: &mut Common, now: Ps) {
        let odr = registers.field(CTRL_REG1, CTRL_REG1_ODR) as usize;
        let low_power = registers.has(CTRL_REG1, CTRL_REG1_LPEN);
        // Table 10.
        let mode = if low_power { 0 } else { 1 + usize::from(registers.has(CTRL_REG4, CTRL_REG4_HR)) };
        let hz = RATES_HZ.get(if low_power && odr == 9 { 10 } else { odr }).filter(|_| odr < 10);
        let (old_rate, old_mode) = (sampler.rate(), std::mem::replace(&mut self.mode, mode));
        match (hz.and_then(|hz| Hz::new(*hz)), old_rate) {
            (None, _) => sampler.stop(),
            (rate, _) if (rate, mode) == (old_rate, old_mode) => {}
            (Some(rate), None) if mode < 2 => sampler.start(rate, now + self.turn_on[mode]),
            (Some(rate), Some(_)) if mode < 2 || old_mode == 2 => sampler.start_after(rate, now, 1),
            (Some(rate), _) => sampler.start_after(rate, now, self.settling),
        }
    }

    fn output(&self, mg: i32, registers: &Registers) -> i16 {
        let (bits, range) = (8 + 2 * self.mode, registers.field(CTRL_REG4, CTRL_REG4_FS) as usize);
        let most = (1 << (bits - 1)) - 1;
        let value = (mg >> (12 - bits)) / [1, 2, 4, 12][range];
        (value.clamp(-most - 1, most) << (16 - bits)) as i16
    }

    fn enabled(registers: &Registers) -> u32 {
        flag(1, registers.has(CTRL_REG3, CTRL_REG3_I1_ZYXDA))
    }

    fn level(registers: &Registers, raised: u32) -> bool {
        (raised != 0) != registers.has(CTRL_REG6, CTRL_REG6_INT_LOW)
    }
}
