//! ST LIS3DH, an accelerometer (`st,lis3dh-accel`), as a chip on SPI in modes 0 and 3. Document: STMicroelectronics
//! DocID17530 Rev 2, "LIS3DH, MEMS digital output motion sensor", from which sections and tables are cited.
//!
//! Modelled: accesses to one and to several registers (section 6.2); the register map (table 21); boot; all data rates
//! and modes with their turn-on times (tables 10 and 11); outputs; STATUS_REG; the data-ready signal on INT1. The
//! acceleration stands still.
//!
//! Not modelled: FIFO, filters, self-test, byte order, other interrupts, the auxiliary converter, three wires, reboot.
//! Registers keep what is written, and a note says that it changes nothing.

#[cfg(test)]
mod tests;

use crate::devices::model::Model;
use crate::dt::reader::NodeReader;
use crate::time::{Cycles, Hz, Ps};
use crate::wire::bytes::{ByteTarget, OnWire};
use crate::wire::notes::Notes;
use crate::wire::spi::SpiTarget;

/// For the list of models.
pub const MODEL: Model = Model::spi_chip(&["st,lis3dh-accel"], from_node);

const CTRL_REG1: usize = 0x20;
const CTRL_REG3: usize = 0x22;
const CTRL_REG4: usize = 0x23;
const CTRL_REG6: usize = 0x25;
const STATUS_REG: usize = 0x27;
const OUT_X_L: usize = 0x28;
/// The bits that firmware can write, from CTRL_REG0 (1Eh) on.
#[rustfmt::skip]
const WRITABLE: [u8; 34] = [
    0x90, 0xc0, 0xff, 0xff, 0xfe, 0xff, 0xcf, 0xfa, 0xff, 0, 0, 0, 0, 0, 0, 0, 0xff, 0,
    0xff, 0, 0x7f, 0x7f, 0xff, 0, 0x7f, 0x7f, 0x3f, 0, 0xff, 0x7f, 0xff, 0xff, 0x7f, 0xff,
];
/// Those of them that change something.
const MODELLED: [(usize, u8); 4] = [(CTRL_REG1, 0xff), (CTRL_REG3, I1_ZYXDA), (CTRL_REG4, 0xb8), (CTRL_REG6, INT_LOW)];
const I1_ZYXDA: u8 = 1 << 4;
const INT_LOW: u8 = 1 << 1;
/// CTRL_REG1.LPen and CTRL_REG4.HR, and outputs' bits in low-power, normal and high-resolution mode (table 10).
const MODE: u8 = 1 << 3;
const BITS: [u32; 3] = [8, 10, 12];
/// Data rates by CTRL_REG1.ODR, and what the last one is in low-power mode (table 31).
const RATES_HZ: [u64; 11] = [0, 1, 10, 25, 50, 100, 200, 400, 1600, 1344, 5376];

/// The chip.
#[derive(Default)]
struct Lis3dh {
    boot: Ps,
    /// From power-down to the first data, in low-power and normal mode; samples to the first one in high resolution.
    turn_on: [Ps; 2],
    settling: u64,
    acceleration_mg: [i32; 3],
    registers: Vec<u8>,
    /// The first byte of the access, and the register whose turn it is.
    access: u8,
    turn: usize,
    /// Data rate, if on, and mode; when the first data comes, and how often data has.
    setting: (Option<Hz>, usize),
    first: Ps,
    samples: u64,
    /// Axes with data that was not read, and with data that other data came behind.
    fresh: u8,
    overrun: u8,
}

/// A chip as its node describes it; its supply comes on at time 0.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn SpiTarget> {
    reader.u32_or("st,drdy-int-pin", 1, [1], "the pin with the data-ready signal: 1 is INT1, and no other has it");
    let mut registers = vec![0; 64];
    // WHO_AM_I, CTRL_REG0, CTRL_REG1.
    (registers[0x0f], registers[0x1e], registers[CTRL_REG1]) = (0x33, 0x10, 0x07);
    let low_power = ("cyclescope,low-power-turn-on-us", "from power-down to the first data in low-power mode");
    let normal = ("cyclescope,normal-turn-on-us", "from power-down to the first data in normal mode");
    let settling = ("cyclescope,settling-samples", "samples up to the first one in high resolution, 1 to 100");
    let acceleration = ("cyclescope,acceleration-mg", "the acceleration along X, Y and Z in thousandths of g");
    let chip = Lis3dh {
        boot: reader.timing_ps("cyclescope,boot-us", "from the supply to the first access"),
        turn_on: [low_power, normal].map(|(name, meaning)| reader.timing_ps(name, meaning)),
        settling: reader.timing_u32(settling.0, 1..=100, settling.1).into(),
        acceleration_mg: reader.cells(acceleration.0, |_| true, acceleration.1).unwrap_or([0; 3]).map(|mg| mg as i32),
        registers,
        ..Lis3dh::default()
    };
    Box::new(OnWire::from_node(chip, 10_000_000, reader))
}

impl Lis3dh {
    /// CTRL_REG1 or CTRL_REG4 was written: another rate or mode may begin.
    fn configure(&mut self, now: Ps) {
        let (odr, low_power) = (usize::from(self.registers[CTRL_REG1] >> 4), self.registers[CTRL_REG1] & MODE != 0);
        let mode = if low_power { 0 } else { 1 + usize::from(self.registers[CTRL_REG4] & MODE != 0) };
        let hz = RATES_HZ.get(if low_power && odr == 9 { 10 } else { odr }).filter(|_| odr < 10);
        let (old_rate, old_mode) = std::mem::replace(&mut self.setting, (hz.and_then(|hz| Hz::new(*hz)), mode));
        let (Some(rate), true) = (self.setting.0, self.setting != (old_rate, old_mode)) else { return };
        self.samples = 0;
        self.first = match (mode, old_rate) {
            (0 | 1, None) => now + self.turn_on[mode],
            (2, _) if old_rate.is_none() || old_mode != 2 => now + rate.ps_at_floor(Cycles(self.settling)),
            _ => now + rate.ps_at_floor(Cycles(1)),
        };
    }

    fn register(&self, address: usize) -> u8 {
        let any = |axes: u8| u8::from(axes != 0) << 3 | axes;
        match self.acceleration_mg.get(address.wrapping_sub(OUT_X_L) / 2) {
            _ if address == STATUS_REG => any(self.overrun) << 4 | any(self.fresh),
            Some(mg) if self.samples > 0 => {
                let bits = BITS[self.setting.1];
                let range = [1, 2, 4, 12][usize::from(self.registers[CTRL_REG4] >> 4 & 3)];
                let most = (1 << (bits - 1)) - 1;
                let value = ((mg >> (12 - bits)) / range).clamp(-most - 1, most) << (16 - bits);
                (value >> (address % 2 * 8)) as u8
            }
            _ => self.registers[address],
        }
    }

    fn write(&mut self, address: usize, value: u8, now: Ps, notes: &mut Notes<String>) {
        let mask = address.checked_sub(0x1e).map_or(0, |index| WRITABLE[index]);
        let modelled = MODELLED.iter().find(|(known, _)| *known == address).map_or(0, |(_, bits)| *bits);
        if value & !modelled & !self.registers[address] != 0 {
            notes.add(format!("{value:#04x} in register {address:#04x} asks for what is not modelled"));
        }
        self.registers[address] = self.registers[address] & !mask | value & mask;
        self.configure(now);
    }
}

impl ByteTarget for Lis3dh {
    fn byte(&mut self, index: u64, input: u8, now: Ps, notes: &mut Notes<String>) -> u8 {
        match index {
            _ if now < self.boot => notes.add("an access before the chip has booted has no effect".to_owned()),
            0 => (self.access, self.turn) = (input, usize::from(input & 0x3f)),
            _ => {
                if self.access & 0x80 == 0 {
                    self.write(self.turn, input, now, notes);
                } else if let (axis @ 0..3, 1) = (self.turn.wrapping_sub(OUT_X_L) / 2, self.turn % 2) {
                    (self.fresh, self.overrun) = (self.fresh & !(1 << axis), self.overrun & !(1 << axis));
                }
                self.turn = (self.turn + usize::from(self.access >> 6 & 1)) % 64;
            }
        }
        if self.access & 0x80 != 0 { self.register(self.turn) } else { 0xff }
    }

    fn advance(&mut self, now: Ps) {
        let Some(rate) = self.setting.0.filter(|_| now >= self.first) else { return };
        let samples = 1 + rate.cycles_until_floor(now.saturating_sub(self.first)).0;
        if samples > self.samples {
            let axes = self.registers[CTRL_REG1] & 7;
            self.overrun |= if samples > self.samples + 1 { axes } else { self.fresh };
            (self.fresh, self.samples) = (axes, samples);
        }
    }

    fn wakes_at(&self) -> Option<Ps> {
        let shows = self.registers[CTRL_REG3] & I1_ZYXDA != 0 && self.fresh == 0;
        self.setting.0.filter(|_| shows).map(|rate| self.first + rate.ps_at_floor(Cycles(self.samples)))
    }

    fn interrupt(&self) -> Option<bool> {
        let ready = self.registers[CTRL_REG3] & I1_ZYXDA != 0 && self.fresh != 0;
        Some(ready != (self.registers[CTRL_REG6] & INT_LOW != 0))
    }
}
