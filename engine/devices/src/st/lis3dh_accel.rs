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

use crate::model::Model;
use crate::support::byte_registers::ByteMap;
use crate::support::sampler::Sampler;
use engine::dt::reader::NodeReader;
use engine::state::State;
use engine::time::{Hz, Ps};
use engine::wire::bytes::{ByteTarget, OnWire};
use engine::wire::notes::Notes;
use engine::wire::spi::SpiTarget;

/// For the list of models.
pub const MODEL: Model = Model::spi_chip(&["st,lis3dh-accel"], from_node);

const CTRL_REG1: usize = 0x20;
const CTRL_REG3: usize = 0x22;
const CTRL_REG4: usize = 0x23;
const CTRL_REG6: usize = 0x25;
const STATUS_REG: usize = 0x27;
const OUT_X_L: usize = 0x28;
#[rustfmt::skip]
static MAP: ByteMap = ByteMap {
    count: 0x40,
    // WHO_AM_I, CTRL_REG0, CTRL_REG1.
    resets: &[(0x0f, 0x33), (0x1e, 0x10), (CTRL_REG1, 0x07)],
    writable: (0x1e, &[0x90, 0xc0, 0xff, 0xff, 0xfe, 0xff, 0xcf, 0xfa, 0xff, 0, 0, 0, 0, 0, 0, 0, 0xff, 0,
        0xff, 0, 0x7f, 0x7f, 0xff, 0, 0x7f, 0x7f, 0x3f, 0, 0xff, 0x7f, 0xff, 0xff, 0x7f, 0xff]),
    modelled: &[(CTRL_REG1, 0xff), (CTRL_REG3, I1_ZYXDA), (CTRL_REG4, 0xb8), (CTRL_REG6, INT_LOW)],
};
const I1_ZYXDA: u8 = 1 << 4;
const INT_LOW: u8 = 1 << 1;
/// CTRL_REG1.LPen and CTRL_REG4.HR, which select the mode (table 10).
const MODE: u8 = 1 << 3;
/// Data rates by CTRL_REG1.ODR; the last one has another value in low-power mode (table 31).
const RATES_HZ: [u64; 11] = [0, 1, 10, 25, 50, 100, 200, 400, 1600, 1344, 5376];

/// The chip.
#[derive(Default, State)]
struct Lis3dh {
    #[state(skip)]
    boot: Ps,
    /// Time from power-down to the first data, in low-power and normal mode; samples to the first one in high
    /// resolution.
    #[state(skip)]
    turn_on: [Ps; 2],
    #[state(skip)]
    settling: u64,
    #[state(skip)]
    acceleration_mg: [u32; 3],
    registers: Vec<u8>,
    /// The first byte of the frame (RW, MS and AD), if the chip has booted, and the register for the next byte.
    command: Option<u8>,
    address: usize,
    /// Low-power, normal or high-resolution mode: 0 to 2.
    mode: usize,
    sampler: Sampler,
    /// Axes with unread data, and axes whose unread data were replaced by a new sample.
    fresh: u8,
    overrun: u8,
}

/// A chip as its node describes it, powered from time 0.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn SpiTarget> {
    reader.u32_or("st,drdy-int-pin", 1, [1], "the pin with the data-ready signal: 1, which is INT1");
    let boot = reader.timing_ps("cyclescope,boot-us", "from the supply to the first access");
    let turn_on = ["low-power", "normal"].map(|mode| {
        let meaning = format!("from power-down to the first data in {mode} mode");
        reader.timing_ps(&format!("cyclescope,{mode}-turn-on-us"), &meaning)
    });
    let meaning = "samples up to the first one in high resolution, 1 to 100";
    let settling = reader.timing_u32("cyclescope,settling-samples", 1..=100, meaning).into();
    let meaning = "the acceleration along X, Y and Z in thousandths of g";
    let acceleration_mg = reader.cells("cyclescope,acceleration-mg", |_| true, meaning).unwrap_or_default();
    let chip = Lis3dh { boot, turn_on, settling, acceleration_mg, registers: MAP.reset(), ..Lis3dh::default() };
    Box::new(OnWire::from_node(chip, 10_000_000, reader))
}

impl Lis3dh {
    /// Applies a write of CTRL_REG1 or CTRL_REG4, which may change the rate or the mode.
    fn configure(&mut self, now: Ps) {
        let (odr, low_power) = (usize::from(self.registers[CTRL_REG1] >> 4), self.registers[CTRL_REG1] & MODE != 0);
        let mode = if low_power { 0 } else { 1 + usize::from(self.registers[CTRL_REG4] & MODE != 0) };
        let hz = RATES_HZ.get(if low_power && odr == 9 { 10 } else { odr }).filter(|_| odr < 10);
        let (old_rate, old_mode) = (self.sampler.rate(), std::mem::replace(&mut self.mode, mode));
        match (hz.and_then(|hz| Hz::new(*hz)), old_rate) {
            (None, _) => self.sampler.stop(),
            (rate, _) if (rate, mode) == (old_rate, old_mode) => {}
            (Some(rate), None) if mode < 2 => self.sampler.start(rate, now + self.turn_on[mode]),
            (Some(rate), Some(_)) if mode < 2 || old_mode == 2 => self.sampler.start_after(rate, now, 1),
            (Some(rate), _) => self.sampler.start_after(rate, now, self.settling),
        }
    }

    /// The value of the register at `address`.
    fn register(&self, address: usize) -> u8 {
        let any = |axes: u8| u8::from(axes != 0) << 3 | axes;
        match self.acceleration_mg.get(address.wrapping_sub(OUT_X_L) / 2) {
            _ if address == STATUS_REG => any(self.overrun) << 4 | any(self.fresh),
            Some(mg) if self.sampler.has_any() => {
                let (bits, range) = (8 + 2 * self.mode, usize::from(self.registers[CTRL_REG4] >> 4 & 3));
                let most = (1 << (bits - 1)) - 1;
                let value = (*mg as i32 >> (12 - bits)) / [1, 2, 4, 12][range];
                (value.clamp(-most - 1, most) << (16 - bits)).to_le_bytes()[address % 2]
            }
            _ => self.registers[address],
        }
    }
}

impl ByteTarget for Lis3dh {
    fn byte(&mut self, index: u64, input: u8, now: Ps, notes: &mut Notes<String>) -> u8 {
        match (index, self.command) {
            (0, _) => (self.command, self.address) = ((now >= self.boot).then_some(input), usize::from(input & 0x3f)),
            (_, None) => notes.add("an access before the chip has booted has no effect".to_owned()),
            (_, Some(command)) => {
                if command & 0x80 == 0 {
                    MAP.write(&mut self.registers, self.address, input, notes);
                    self.configure(now);
                } else if let (axis @ 0..3, 1) = (self.address.wrapping_sub(OUT_X_L) / 2, self.address % 2) {
                    (self.fresh, self.overrun) = (self.fresh & !(1 << axis), self.overrun & !(1 << axis));
                }
                self.address = (self.address + usize::from(command >> 6 & 1)) % MAP.count;
            }
        }
        if self.command.is_some_and(|command| command & 0x80 != 0) { self.register(self.address) } else { 0xff }
    }

    fn advance(&mut self, now: Ps) {
        let (axes, samples) = (self.registers[CTRL_REG1] & 7, self.sampler.take(now));
        if samples > 0 {
            self.overrun |= if samples > 1 { axes } else { self.fresh };
            self.fresh = axes;
        }
    }

    fn wakes_at(&self) -> Option<Ps> {
        self.sampler.next_at().filter(|_| self.registers[CTRL_REG3] & I1_ZYXDA != 0 && self.fresh == 0)
    }

    fn interrupt(&self) -> Option<bool> {
        let ready = self.registers[CTRL_REG3] & I1_ZYXDA != 0 && self.fresh != 0;
        Some(ready != (self.registers[CTRL_REG6] & INT_LOW != 0))
    }
}
