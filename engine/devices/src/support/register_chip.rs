//! Chips that are a table of byte registers on a serial wire, as sensors are: frames, samples, an interrupt pin.
//!
//! The first byte of a frame has the direction and a register's address; the next ones are data of that register, or
//! of it and those after it. Outputs along X, Y and Z are sampled at a rate; a sample is ready until it is read, and
//! overrun if it is replaced before. A chip implements [`ChipTable`], and [`RegisterChip`] connects it to its wire.

use crate::prelude::*;
use crate::registers::{Row, unmodelled};
use crate::support::sampler::Sampler;
use engine::wire::bytes::{ByteTarget, OnWire};
use engine::wire::notes::Notes;
use engine::wire::spi::SpiTarget;

/// In the first byte of a frame: a read.
pub const READ: u8 = 1 << 7;
/// In the first byte of a frame: several registers, for chips that ask for them there.
pub const SEVERAL: u8 = 1 << 6;

/// Output registers: two for each of three axes, the lower byte first.
#[derive(Clone, Copy, Debug)]
pub struct Outputs {
    /// The first of them.
    pub first: u32,
    /// The register and the field with the axes that are measured: each is ready until its upper byte is read.
    /// `None`: all are, until any byte is read.
    pub axes: Option<(u32, u32)>,
}

impl Outputs {
    const fn axis(self, register: u32) -> usize {
        register.wrapping_sub(self.first) as usize / 2
    }

    fn measured(self, registers: &Registers) -> u32 {
        self.axes.map_or(1, |(register, field)| registers.field(register, field))
    }

    /// The axes that a read of a register takes.
    fn taken_by(self, register: u32) -> u32 {
        match (self.axis(register), self.axes) {
            (axis @ 0..3, Some(_)) if (register - self.first) % 2 == 1 => 1 << axis,
            (0..3, None) => 1,
            _ => 0,
        }
    }
}

/// The note of a write, if there is any: for a register and its row, if it exists, what it held and what is written.
pub type Note = fn(u32, Option<&Row>, u32, u8) -> Option<String>;

/// A chip that is a table: what is left to say of its registers.
pub trait ChipTable: State + Send + 'static {
    /// The register map.
    const MAP: &'static Map;
    /// The bits of a frame's first byte with the address.
    const ADDRESS: u8;
    /// The output registers.
    const OUTPUTS: Outputs;
    /// The note of a write that asks for what is not modelled.
    const NOTE: Note = |_, row, held, written| row.and_then(|row| unmodelled(row, held, written.into()));
    /// The flags for a sample that is ready, and for one that is overrun.
    const FLAGS: [u32; 2] = [1, 2];

    /// True if the next byte of a frame is of the next register.
    fn counts_up(command: u8, _registers: &Registers) -> bool {
        command & SEVERAL != 0
    }

    /// Firmware reads a register that is no output, and holds `held`: the value that it gets.
    fn shown(&self, _register: u32, held: u32, _chip: &Common) -> u32 {
        held
    }

    /// Firmware wrote a register: its effects.
    fn wrote(&mut self, register: u32, has_changed: bool, chip: &mut Common, now: Ps);

    /// The output for a measured value, in thousandths.
    fn output(&self, measured: i32, registers: &Registers) -> i16;

    /// The flags that raise the interrupt.
    fn enabled(registers: &Registers) -> u32;

    /// The level of the interrupt pin, with the enabled flags that are set.
    fn level(registers: &Registers, raised: u32) -> bool;
}

/// The state that all chips have.
#[derive(Default, State)]
pub struct Common {
    #[state(skip)]
    boot: Ps,
    #[state(skip)]
    measured: [i32; 3],
    /// The registers.
    pub registers: Registers,
    /// The first byte of the frame, if the chip has booted, and the register for the next byte.
    command: Option<u8>,
    register: u32,
    /// The sampler of the outputs.
    pub sampler: Sampler,
    /// Axes with data that have not been read.
    pub ready: u32,
    /// Axes whose data were replaced by a new sample before they were read.
    pub overrun: u32,
}

impl Common {
    /// The flags of a chip.
    pub fn flags<T: ChipTable>(&self) -> u32 {
        let [ready, overrun] = T::FLAGS;
        flag(ready, self.ready != 0) | flag(overrun, self.overrun != 0)
    }

    fn write<T: ChipTable>(&mut self, value: u8, notes: &mut Notes<String>) -> bool {
        let (register, held) = (self.register, self.registers[self.register]);
        let note = (T::NOTE)(register, self.registers.map().row(register), held, value);
        note.into_iter().for_each(|note| notes.add(note));
        self.registers.write(register, value.into()).is_ok_and(|(_, old, new)| old != new)
    }
}

/// The chip.
#[derive(State)]
pub struct RegisterChip<T> {
    /// What all chips have.
    pub common: Common,
    /// What this one has.
    pub table: T,
}

impl<T: ChipTable> RegisterChip<T> {
    /// An accelerometer, which takes accesses from `boot` on. Reads the acceleration.
    pub fn accelerometer(table: T, boot: Ps, reader: &mut NodeReader) -> RegisterChip<T> {
        let meaning = "the acceleration along X, Y and Z in thousandths of g";
        let measured = reader.cells("cyclescope,acceleration-mg", |_| true, meaning).unwrap_or_default();
        let measured = measured.map(|value: u32| value as i32);
        let registers = Registers::new(T::MAP);
        RegisterChip { common: Common { boot, measured, registers, ..Common::default() }, table }
    }

    /// The chip on its wire; the clock is at most `max_hz`, unless its node says something else.
    pub fn on_wire(self, max_hz: u32, reader: &mut NodeReader) -> Box<dyn SpiTarget> {
        Box::new(OnWire::from_node(self, max_hz, reader))
    }

    /// The value of the register for the next byte.
    fn shown(&self) -> u8 {
        let Common { measured, registers, register, sampler, .. } = &self.common;
        match measured.get(T::OUTPUTS.axis(*register)) {
            Some(value) if sampler.has_any() => {
                let bytes = self.table.output(*value, registers).to_le_bytes();
                bytes[(register - T::OUTPUTS.first) as usize % 2]
            }
            _ => self.table.shown(*register, registers.held(*register), &self.common) as u8,
        }
    }
}

impl<T: ChipTable> ByteTarget for RegisterChip<T> {
    fn byte(&mut self, index: u64, input: u8, now: Ps, notes: &mut Notes<String>) -> u8 {
        let RegisterChip { common, table } = self;
        match (index, common.command) {
            (0, _) => {
                common.command = (now >= common.boot).then_some(input);
                common.register = (input & T::ADDRESS).into();
            }
            (_, None) => notes.add("an access before the chip has booted has no effect".to_owned()),
            (_, Some(command)) => {
                if command & READ == 0 {
                    let has_changed = common.write::<T>(input, notes);
                    table.wrote(common.register, has_changed, common, now);
                } else {
                    let others = !T::OUTPUTS.taken_by(common.register);
                    (common.ready, common.overrun) = (common.ready & others, common.overrun & others);
                }
                let next = common.register + u32::from(T::counts_up(command, &common.registers));
                common.register = next & u32::from(T::ADDRESS);
            }
        }
        if self.common.command.is_some_and(|command| command & READ != 0) { self.shown() } else { 0xff }
    }

    fn advance(&mut self, now: Ps) {
        let common = &mut self.common;
        let (measured, samples) = (T::OUTPUTS.measured(&common.registers), common.sampler.take(now));
        if samples > 0 {
            common.overrun |= if samples > 1 { measured } else { common.ready };
            common.ready = measured;
        }
    }

    fn wakes_at(&self) -> Option<Ps> {
        let enabled = T::enabled(&self.common.registers);
        self.common.sampler.next_at().filter(|_| enabled & !self.common.flags::<T>() != 0)
    }

    fn interrupt(&self) -> Option<bool> {
        let registers = &self.common.registers;
        Some(T::level(registers, T::enabled(registers) & self.common.flags::<T>()))
    }
}
