//! ST's accelerometers on SPI in modes 0 and 3: what all kinds have in common.
//!
//! The first byte of a frame has the direction and a register's address; the next ones are data. Samples come at the
//! data rate, with a constant acceleration; STATUS reports the axes whose outputs have not been read, and INT1 may.

pub mod lis3dh_accel;
pub mod lis3dsh_accel;

#[cfg(test)]
mod tests;

use crate::prelude::*;
use crate::support::sampler::Sampler;
use engine::wire::bytes::{ByteTarget, OnWire};
use engine::wire::notes::Notes;
use engine::wire::spi::SpiTarget;

registers! {
    /// Registers that all kinds have.
    const COMMON "" bytes {
        STATUS 0x27 ro volatile;
        OUT_X_L 0x28 ro volatile; OUT_X_H 0x29 ro volatile;
        OUT_Y_L 0x2a ro volatile; OUT_Y_H 0x2b ro volatile;
        OUT_Z_L 0x2c ro volatile; OUT_Z_H 0x2d ro volatile;
        FIFO_CTRL 0x2e rw;
        FIFO_SRC 0x2f ro;
    }
}

/// The register with the data rate and the axes that are measured, whose name depends on the kind.
const RATE: u32 = 0x20;
const RATE_AXES: u32 = 7;
/// The first byte of a frame: a read.
const READ: u8 = 1 << 7;

/// A kind of chip: what it does in a way of its own.
trait Kind: State + Send + 'static {
    /// The register map.
    const MAP: &'static Map;
    /// The bits of an address.
    const ADDRESS_MASK: u32;

    /// True if the next byte of a frame is of the next register.
    fn counts_up(command: u8, registers: &Registers) -> bool;

    /// Firmware wrote a register.
    fn configure(&mut self, shared: &mut Shared, now: Ps);

    /// The value of a register that only this kind computes.
    fn computed(&self, _address: u32, _shared: &Shared) -> Option<u8> {
        None
    }

    /// The output for an acceleration in thousandths of g.
    fn output(&self, mg: i32, registers: &Registers) -> i16;

    /// True if INT1 reports data.
    fn reports(registers: &Registers) -> bool;

    /// The level of INT1; `is_ready` if there are data to report.
    fn level(registers: &Registers, is_ready: bool) -> bool;
}

/// The state that all kinds have.
#[derive(State)]
struct Shared {
    #[state(skip)]
    boot: Ps,
    #[state(skip)]
    acceleration_mg: [u32; 3],
    registers: Registers,
    /// The first byte of the frame, if the chip has booted, and the register for the next byte.
    command: Option<u8>,
    address: u32,
    sampler: Sampler,
    /// Axes with unread data, and axes whose unread data were replaced by a new sample.
    fresh: u8,
    overrun: u8,
}

/// The chip.
#[derive(State)]
struct Chip<K> {
    shared: Shared,
    kind: K,
}

/// Axes as STATUS has them: each, and any.
fn any(axes: u8) -> u8 {
    u8::from(axes != 0) << 3 | axes
}

/// The axis whose output, its lower or its upper byte, is at an address.
fn axis_of(address: u32) -> usize {
    address.wrapping_sub(OUT_X_L) as usize / 2
}

impl Shared {
    /// The state after reset.
    fn new(map: &'static Map) -> Shared {
        let (boot, acceleration_mg) = (Ps::ZERO, [0; 3]);
        let (registers, sampler) = (Registers::new(map), Sampler::default());
        Shared { boot, acceleration_mg, registers, command: None, address: 0, sampler, fresh: 0, overrun: 0 }
    }

    /// Firmware writes a register. Notes a bit that it sets and that is not modelled: of a chip, one that the map does
    /// not list, or lists so.
    fn write(&mut self, value: u8, notes: &mut Notes<String>) {
        let (address, written) = (self.address, u32::from(value));
        let bits = self.registers.map().row(address).map_or(&[][..], |row| row.bits);
        let modelled = bits.iter().filter(|bit| bit.is_modelled).fold(0, |all, bit| all | bit.mask);
        if written & !modelled & !self.registers[address] != 0 {
            notes.add(format!("{value:#04x} in register {address:#04x} asks for what is not modelled"));
        }
        _ = self.registers.write(address, written);
    }

    /// The upper byte of an output was read: its axis has no unread data.
    fn take(&mut self) {
        if let (axis @ 0..3, 1) = (axis_of(self.address), self.address % 2) {
            (self.fresh, self.overrun) = (self.fresh & !(1 << axis), self.overrun & !(1 << axis));
        }
    }
}

impl<K: Kind> Chip<K> {
    /// A chip as its node describes it, powered from time 0; `kind` reads the times of its kind.
    fn from_node(reader: &mut NodeReader, kind: impl FnOnce(&mut NodeReader) -> K) -> Chip<K> {
        reader.u32_or("st,drdy-int-pin", 1, [1], "the pin with the data-ready signal: 1, which is INT1");
        let boot = reader.timing_ps("cyclescope,boot-us", "from the supply to the first access");
        let kind = kind(reader);
        let meaning = "the acceleration along X, Y and Z in thousandths of g";
        let acceleration_mg = reader.cells("cyclescope,acceleration-mg", |_| true, meaning).unwrap_or_default();
        Chip { shared: Shared { boot, acceleration_mg, ..Shared::new(K::MAP) }, kind }
    }

    /// The chip on its wire.
    fn on_wire(self, reader: &mut NodeReader) -> Box<dyn SpiTarget> {
        Box::new(OnWire::from_node(self, 10_000_000, reader))
    }

    /// The value of the register for the next byte.
    fn shown(&self) -> u8 {
        let (shared, address) = (&self.shared, self.shared.address);
        match shared.acceleration_mg.get(axis_of(address)) {
            _ if address == STATUS => any(shared.overrun) << 4 | any(shared.fresh),
            Some(mg) if shared.sampler.has_any() => {
                self.kind.output(*mg as i32, &shared.registers).to_le_bytes()[address as usize % 2]
            }
            _ => self.kind.computed(address, shared).unwrap_or(shared.registers[address] as u8),
        }
    }
}

impl<K: Kind> ByteTarget for Chip<K> {
    fn byte(&mut self, index: u64, input: u8, now: Ps, notes: &mut Notes<String>) -> u8 {
        let shared = &mut self.shared;
        match (index, shared.command) {
            (0, _) => {
                shared.command = (now >= shared.boot).then_some(input);
                shared.address = u32::from(input) & K::ADDRESS_MASK;
            }
            (_, None) => notes.add("an access before the chip has booted has no effect".to_owned()),
            (_, Some(command)) => {
                if command & READ == 0 {
                    shared.write(input, notes);
                    self.kind.configure(shared, now);
                } else {
                    shared.take();
                }
                let step = u32::from(K::counts_up(command, &shared.registers));
                shared.address = (shared.address + step) & K::ADDRESS_MASK;
            }
        }
        if self.shared.command.is_some_and(|command| command & READ != 0) { self.shown() } else { 0xff }
    }

    fn advance(&mut self, now: Ps) {
        let shared = &mut self.shared;
        let (axes, samples) = (shared.registers.field(RATE, RATE_AXES) as u8, shared.sampler.take(now));
        if samples > 0 {
            shared.overrun |= if samples > 1 { axes } else { shared.fresh };
            shared.fresh = axes;
        }
    }

    fn wakes_at(&self) -> Option<Ps> {
        let Shared { registers, sampler, fresh, .. } = &self.shared;
        sampler.next_at().filter(|_| K::reports(registers) && *fresh == 0)
    }

    fn interrupt(&self) -> Option<bool> {
        let registers = &self.shared.registers;
        Some(K::level(registers, K::reports(registers) && self.shared.fresh != 0))
    }
}
