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

use crate::model::Model;
use crate::support::byte_registers::ByteMap;
use crate::support::sampler::Sampler;
use engine::dt::reader::NodeReader;
use engine::state::State;
use engine::time::{Cycles, Hz, Ps};
use engine::wire::bytes::{ByteTarget, OnWire};
use engine::wire::notes::Notes;
use engine::wire::spi::SpiTarget;

/// For the list of models.
pub const MODEL: Model = Model::spi_chip(&["st,lis3dsh-accel"], from_node);

const OUT_T: usize = 0x0c;
const WHO_AM_I: usize = 0x0f;
const OFF_X: usize = 0x10;
const STAT: usize = 0x18;
const CTRL_REG4: usize = 0x20;
const CTRL_REG3: usize = 0x23;
const CTRL_REG5: usize = 0x24;
const CTRL_REG6: usize = 0x25;
const STATUS: usize = 0x27;
const OUT_X_L: usize = 0x28;

static MAP: ByteMap = ByteMap {
    count: 0x80,
    // INFO1, WHO_AM_I, LC_L, CTRL_REG4, CTRL_REG6.
    resets: &[(0x0d, 0x21), (WHO_AM_I, 0x3f), (0x16, 0x01), (CTRL_REG4, 0x07), (CTRL_REG6, ADD_INC)],
    writable: (OFF_X, &WRITABLE),
    modelled: &[(CTRL_REG4, 0xff), (CTRL_REG3, DR_EN | IEA | INT1_EN | STRT), (CTRL_REG5, 0xf8), (CTRL_REG6, ADD_INC)],
};
/// Writable bits of the registers from OFF_X on.
static WRITABLE: [u8; 0x70] = writable();
const DR_EN: u8 = 1 << 7;
/// Interrupts are active high.
const IEA: u8 = 1 << 6;
const INT1_EN: u8 = 1 << 3;
const STRT: u8 = 1 << 0;
const ADD_INC: u8 = 1 << 4;
/// The highest data rate. Each lower value of CTRL_REG4.ODR, down to 1, halves it.
const FASTEST_HZ: u64 = 1600;
const DIVIDERS: [u64; 9] = [512, 256, 128, 64, 32, 16, 4, 2, 1];
/// Millionths of g a digit, by CTRL_REG5.FSCALE: 2, 4, 6, 8 and 16 g (sensitivity).
const SENSITIVITY_UG: [i32; 5] = [60, 120, 180, 240, 730];

const fn writable() -> [u8; 0x70] {
    let mut masks = [0; 0x70];
    let mut address = OFF_X;
    while address < 0x80 {
        masks[address - OFF_X] = match address {
            // Offsets, shifts, the long counter, filter coefficients, THRS3, CTRL_REG3 to 6, FIFO_CTRL.
            0x10..=0x17 | 0x1b..=0x20 | 0x23..=0x25 | 0x2e => 0xff,
            // CTRL_REG1 and 2.
            0x21 | 0x22 => 0xe9,
            // Registers of the state machines.
            0x40..=0x57 | 0x59..=0x5b | 0x60..=0x7b => 0xff,
            _ => 0,
        };
        address += 1;
    }
    masks
}

/// The chip.
#[derive(Default, State)]
struct Lis3dsh {
    #[state(skip)]
    boot: Ps,
    /// Time from power-down to the first data, without the period of the data rate.
    #[state(skip)]
    turn_on: Ps,
    #[state(skip)]
    acceleration_mg: [u32; 3],
    /// OUT_T.
    #[state(skip)]
    temperature: u8,
    registers: Vec<u8>,
    /// The first byte of the frame (RW and AD), if the chip has booted, and the register for the next byte.
    command: Option<u8>,
    address: usize,
    /// The value of CTRL_REG4.ODR that the sampler uses.
    odr: u8,
    sampler: Sampler,
    /// Axes with unread data, and axes whose unread data were replaced by a new sample.
    fresh: u8,
    overrun: u8,
}

/// A chip as its node describes it, powered from time 0.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn SpiTarget> {
    reader.u32_or("st,drdy-int-pin", 1, [1], "the pin with the data-ready signal: 1, which is INT1");
    let boot = reader.timing_ps("cyclescope,boot-us", "from the supply to the first access");
    let meaning = "from power-down to the first data, besides a period of the data rate";
    let turn_on = reader.timing_ps("cyclescope,turn-on-us", meaning);
    let meaning = "the acceleration along X, Y and Z in thousandths of g";
    let acceleration_mg = reader.cells("cyclescope,acceleration-mg", |_| true, meaning).unwrap_or_default();
    let meaning = "the chip's temperature in thousandths of a degree, -40000 to 85000";
    let allowed = |value: u32| (-40_000..=85_000).contains(&(value as i32));
    let millicelsius = reader.u32_or("cyclescope,temperature-millicelsius", 25_000, allowed, meaning) as i32;
    // One digit is one degree; 0 is 25 degrees.
    let temperature = (millicelsius.div_euclid(1000) - 25) as u8;
    let chip = Lis3dsh { boot, turn_on, acceleration_mg, temperature, registers: MAP.reset(), ..Lis3dsh::default() };
    Box::new(OnWire::from_node(chip, 10_000_000, reader))
}

impl Lis3dsh {
    /// Applies a write of a register.
    fn configure(&mut self, now: Ps) {
        if self.registers[CTRL_REG3] & STRT != 0 {
            self.registers = MAP.reset();
            (self.fresh, self.overrun) = (0, 0);
        }
        let before = std::mem::replace(&mut self.odr, self.registers[CTRL_REG4] >> 4);
        let divider = usize::from(self.odr).checked_sub(1).and_then(|index| DIVIDERS.get(index));
        match (divider, Hz::new(FASTEST_HZ)) {
            _ if self.odr == before => {}
            (Some(every), Some(rate)) => {
                let turn_on = if self.sampler.rate().is_some() { Ps::ZERO } else { self.turn_on };
                let first = now.saturating_add(turn_on).saturating_add(rate.ps_at_floor(Cycles(*every)));
                self.sampler.start_divided(rate, *every, first);
            }
            _ => self.sampler.stop(),
        }
    }

    /// The value of the register at `address`.
    fn register(&self, address: usize) -> u8 {
        let any = |axes: u8| u8::from(axes != 0) << 3 | axes;
        match self.acceleration_mg.get(address.wrapping_sub(OUT_X_L) / 2) {
            _ if address == OUT_T => self.temperature,
            _ if address == STATUS => any(self.overrun) << 4 | any(self.fresh),
            _ if address == STAT => u8::from(self.overrun != 0) << 1 | u8::from(self.fresh != 0),
            Some(mg) if self.sampler.has_any() => {
                let scale = SENSITIVITY_UG[usize::from(self.registers[CTRL_REG5] >> 3 & 7).min(4)];
                let digits = i64::from(*mg as i32) * 1000 / i64::from(scale);
                (digits.clamp(i16::MIN.into(), i16::MAX.into()) as i16).to_le_bytes()[address % 2]
            }
            _ => self.registers[address],
        }
    }

    /// True if INT1 reports data.
    fn reports(&self) -> bool {
        self.registers[CTRL_REG3] & (DR_EN | INT1_EN) == DR_EN | INT1_EN
    }
}

impl ByteTarget for Lis3dsh {
    fn byte(&mut self, index: u64, input: u8, now: Ps, notes: &mut Notes<String>) -> u8 {
        match (index, self.command) {
            (0, _) => (self.command, self.address) = ((now >= self.boot).then_some(input), usize::from(input & 0x7f)),
            (_, None) => notes.add("an access before the chip has booted has no effect".to_owned()),
            (_, Some(command)) => {
                if command & 0x80 == 0 {
                    MAP.write(&mut self.registers, self.address, input, notes);
                    self.configure(now);
                } else if let (axis @ 0..3, 1) = (self.address.wrapping_sub(OUT_X_L) / 2, self.address % 2) {
                    (self.fresh, self.overrun) = (self.fresh & !(1 << axis), self.overrun & !(1 << axis));
                }
                self.address = (self.address + usize::from(self.registers[CTRL_REG6] & ADD_INC != 0)) % MAP.count;
            }
        }
        if self.command.is_some_and(|command| command & 0x80 != 0) { self.register(self.address) } else { 0xff }
    }

    fn advance(&mut self, now: Ps) {
        let (axes, samples) = (self.registers[CTRL_REG4] & 7, self.sampler.take(now));
        if samples > 0 {
            self.overrun |= if samples > 1 { axes } else { self.fresh };
            self.fresh = axes;
        }
    }

    fn wakes_at(&self) -> Option<Ps> {
        self.sampler.next_at().filter(|_| self.reports() && self.fresh == 0)
    }

    /// While INT1 is off, the board's pull-down keeps it low.
    fn interrupt(&self) -> Option<bool> {
        let control = self.registers[CTRL_REG3];
        Some(control & INT1_EN != 0 && (self.reports() && self.fresh != 0) == (control & IEA != 0))
    }
}
