//! National LM75, a temperature sensor with a thermostat's output, on I2C (`national,lm75`). Document: National
//! Semiconductor DS012658 (2004), "LM75 Digital Temperature Sensor and Thermal Watchdog with Two-Wire Interface".
//!
//! Modelled: the pointer and the four registers that it selects (1.11 to 1.14); temperatures in steps of 0.5 degrees
//! (1.4); continuous conversions from power-up on, each of the length `cyclescope,conversion-ms`; a read of the
//! temperature, which restarts the present conversion when it ends (Temperature-to-Digital Converter Characteristics,
//! note 8), so that firmware which reads more often than that always gets the same value; shutdown (1.5); the fault
//! queue (1.6), which delays O.S.; O.S. in comparator and interrupt mode and in both polarities (1.7 to 1.9), as the
//! chip's `interrupts`. The temperature is a constant property of the board.
//!
//! Before the end of the first conversion the temperature reads 0. Not modelled: noise, and the bus time-out, which
//! only the LM75B has.

use crate::prelude::*;
use engine::activity::{Activity, Kind, Scope};
use engine::dt::reader::Declared;
use engine::wire::chip::INTERRUPT;
use engine::wire::i2c::{Answer, Direction, Given, I2cTarget};
use engine::wire::notes::Notes;

#[cfg(test)]
mod tests;

/// For the list of models.
pub const MODEL: Model = Model::i2c_chip(&["national,lm75"], from_node).with_activities(ACTIVITIES);

registers! {
    /// The registers, by the pointer. Temperatures have 9 bits; the limits are 75 and 80 degrees.
    const MAP "" bytes {
        TEMPERATURE 0 ro mask 0xff80;
        /// INTERRUPT: interrupt mode, else comparator mode. POLARITY: O.S. is active high. FAULTS: the fault queue's
        /// length.
        CONFIGURATION 1 rw { SHUTDOWN 0, INTERRUPT 1, POLARITY 2, FAULTS 3..5 };
        THYST 2 rw reset 0x4b00 mask 0xff80;
        TOS 3 rw reset 0x5000 mask 0xff80;
    }
}

/// Lengths of the fault queue.
const FAULTS: [u8; 4] = [1, 2, 4, 6];

/// The number of identical conversions after which O.S. no longer changes: the longest queue, once in either direction.
const MOST_FAULTS: u64 = 2 * 6;

/// The state of the thermostat, which each conversion updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
struct Thermostat {
    /// True if O.S. is active.
    active: bool,
    /// The number of consecutive conversions beyond the limit that is compared.
    faults: u8,
    /// Interrupt mode: true if TOS was passed last, so that THYST is compared next.
    is_hot: bool,
}

static CONVERTING: Activity = Activity::new(
    Kind::Conversion,
    "conversion",
    "conversions, one after the other: recorded at each access to the chip, up to the last one that has ended",
)
.joining();
/// The activities that the chip records.
const ACTIVITIES: &[&Activity] = &[&CONVERTING];

/// The chip.
#[derive(Default, State)]
struct Lm75 {
    #[state(skip)]
    conversion: Ps,
    #[state(skip)]
    measured: i16,
    registers: Registers,
    pointer: u32,
    /// The start of continuous conversion; `None` in shutdown.
    converting_since: Option<Ps>,
    conversions: u64,
    thermostat: Thermostat,
    is_read: bool,
    /// The number of bytes of the frame after the address.
    index: u8,
    /// The upper byte that was received.
    upper: u8,
    notes: Notes<String>,
    scope: Scope,
}

/// A chip as its node describes it; its supply comes on at time 0.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn I2cTarget> {
    reader.declare(Declared::new("interrupts", "interrupts", INTERRUPT));
    let conversion = reader.timing_ps("cyclescope,conversion-ms", "from the start of a conversion to its value");
    let meaning = "what the sensor measures, in thousandths of a degree Celsius, -55000 to 125000; 25000 without it";
    let is_measurable = |[value]: [u32; 1]| (-55_000..=125_000).contains(&(value as i32));
    let millicelsius = reader.cells("cyclescope,temperature-millicelsius", is_measurable, meaning);
    Box::new(Lm75::new(conversion, millicelsius.map_or(25_000, |[value]| value as i32)))
}

impl Lm75 {
    fn new(conversion: Ps, millicelsius: i32) -> Lm75 {
        // Steps of half a degree, in the upper nine bits.
        let halves = millicelsius.div_euclid(500);
        Lm75 {
            conversion,
            measured: (halves << 7) as i16,
            registers: Registers::new(&MAP),
            converting_since: Some(Ps::ZERO),
            ..Lm75::default()
        }
    }

    fn is(&self, bit: u32) -> bool {
        self.registers.has(CONFIGURATION, bit)
    }

    /// The thermostat's state after a conversion.
    fn after_conversion(&self, thermostat: Thermostat) -> Thermostat {
        let Thermostat { active, faults, is_hot } = thermostat;
        let interrupts = self.is(CONFIGURATION_INTERRUPT);
        let waits_for_cold = if interrupts { is_hot } else { active };
        let [thyst, tos] = [THYST, TOS].map(|limit| self.registers[limit] as i16);
        let is_fault = if waits_for_cold { self.measured < thyst } else { self.measured > tos };
        let faults = if is_fault { faults + 1 } else { 0 };
        // A comparator that is active becomes inactive with the first conversion below THYST.
        let ends = active && !interrupts;
        let queue = if ends { 1 } else { FAULTS[self.registers.field(CONFIGURATION, CONFIGURATION_FAULTS) as usize] };
        if faults < queue {
            return Thermostat { faults, ..thermostat };
        }
        // In interrupt mode both limits make O.S. active, until a register is read.
        Thermostat { active: interrupts || !waits_for_cold, faults: 0, is_hot: !waits_for_cold }
    }

    /// The number of conversions up to the first whose end changes O.S.
    fn conversions_to_change(&self) -> Option<u64> {
        let mut thermostat = self.thermostat;
        (1..=MOST_FAULTS).find(|_| {
            let before = thermostat;
            thermostat = self.after_conversion(before);
            before.active != thermostat.active
        })
    }

    fn configure(&mut self, value: u8, now: Ps) {
        let before = self.registers[CONFIGURATION];
        _ = self.registers.write(CONFIGURATION, value.into());
        if self.registers[CONFIGURATION] != value.into() {
            self.notes.add("bits 5 to 7 of the configuration have to be 0 in normal operation".to_owned());
        }
        let changed = before ^ self.registers[CONFIGURATION];
        if changed & CONFIGURATION_INTERRUPT != 0 {
            self.thermostat = Thermostat::default();
        }
        if self.is(CONFIGURATION_SHUTDOWN) {
            self.converting_since = None;
            self.clear_interrupt();
        } else if changed & CONFIGURATION_SHUTDOWN != 0 {
            self.converting_since = Some(now);
        }
    }

    /// In interrupt mode a read of any register, and shutdown, make O.S. inactive.
    fn clear_interrupt(&mut self) {
        if self.is(CONFIGURATION_INTERRUPT) {
            self.thermostat.active = false;
        }
    }

    /// A frame ends: a conversion that a read of the temperature interrupted is restarted.
    fn end(&mut self, now: Ps) {
        self.advance(now);
        if self.is_read && self.index > 0 && self.pointer == TEMPERATURE {
            self.converting_since = self.converting_since.map(|_| now);
        }
        self.index = 0;
    }
}

impl I2cTarget for Lm75 {
    fn observe(&mut self, scope: Scope) {
        scope.declare(ACTIVITIES);
        self.scope = scope;
    }

    fn address(&mut self, direction: Direction, now: Ps) -> Answer {
        self.advance(now);
        (self.is_read, self.index) = (direction == Direction::Read, 0);
        if self.is_read {
            self.clear_interrupt();
        }
        Answer::ACK
    }

    fn write(&mut self, byte: u8, now: Ps) -> Answer {
        self.advance(now);
        match (self.index, self.pointer) {
            (0, _) => {
                self.pointer = u32::from(byte) & TOS;
                if self.pointer != byte.into() {
                    self.notes.add(format!("the pointer has two bits: {byte:#04x} names register {}", self.pointer));
                }
            }
            (1, CONFIGURATION) => self.configure(byte, now),
            (1, _) => self.upper = byte,
            (2, THYST | TOS) => {
                _ = self.registers.write(self.pointer, u16::from_be_bytes([self.upper, byte]).into());
            }
            _ => self.notes.add("a byte beyond the register that the pointer names has no effect".to_owned()),
        }
        self.index = self.index.saturating_add(1).min(3);
        Answer::ACK
    }

    fn read(&mut self, now: Ps) -> Given {
        self.advance(now);
        // Only the configuration has one byte.
        let bytes = if self.pointer == CONFIGURATION { 1 } else { 2 };
        let place = self.index % bytes;
        let byte = (self.registers[self.pointer] >> (8 * (bytes - 1 - place))) as u8;
        self.index = place + 1;
        Given::byte(byte)
    }

    fn repeated_start(&mut self, now: Ps) {
        self.end(now);
    }

    fn stop(&mut self, now: Ps) {
        self.end(now);
    }

    fn advance(&mut self, now: Ps) {
        let Some(since) = self.converting_since else { return };
        let ended = now.saturating_sub(since).0.checked_div(self.conversion.0).unwrap_or(0);
        if ended == 0 {
            return;
        }
        let end = since + Ps(ended * self.conversion.0);
        self.scope.span(&CONVERTING, since, end, Detail::None);
        self.converting_since = Some(end);
        self.conversions += ended;
        self.registers.set(TEMPERATURE, (self.measured as u16).into());
        for _ in 0..ended.min(MOST_FAULTS) {
            self.thermostat = self.after_conversion(self.thermostat);
        }
    }

    fn wakes_at(&self) -> Option<Ps> {
        let since = self.converting_since.filter(|_| self.conversion > Ps::ZERO)?;
        let conversions = self.conversions_to_change()?;
        Some(since + Ps(self.conversion.0.saturating_mul(conversions)))
    }

    fn interrupt(&self) -> Option<bool> {
        Some(self.thermostat.active == self.is(CONFIGURATION_POLARITY))
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.notes.take()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("conversions", self.conversions)]
    }
}
