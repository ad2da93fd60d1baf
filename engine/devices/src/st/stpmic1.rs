//! `st,stpmic1`: the power management chip of STM32MP1 boards, on I2C (DS12792, "STPMIC1"; Linux's
//! include/linux/mfd/stpmic1.h).
//!
//! Modelled: reads and writes of one and of several registers; all registers, with the board's values
//! (`cyclescope,register-values`) as its loader leaves them; the masks of interrupts, and the interrupt pin, which
//! stays inactive (high). Voltages take no time, and nothing is supplied by them.
//!
//! Not modelled: causes of interrupts (keys, supplies, overcurrent), so none is pending; the watchdog, and the chip's
//! switch-off (MAIN_CR; a note says so).

use crate::prelude::*;
use engine::dt::reader::Declared;
use engine::wire::chip::INTERRUPT;
use engine::wire::i2c::{Answer, Direction, Given, I2cTarget};
use engine::wire::notes::Notes;

registers! {
    /// The registers.
    const MAP "" bytes {
        TURN_ON_SR 0x01 ro;
        TURN_OFF_SR 0x02 ro;
        ICC_LDO_TURN_OFF_SR 0x03 ro;
        ICC_BUCK_TURN_OFF_SR 0x04 ro;
        RREQ_STATE_SR 0x05 ro;
        /// The first production version.
        VERSION_SR 0x06 ro reset 0x10;
        MAIN_CR 0x10 rw mask 0x1f { SOFTWARE_SWITCH_OFF 0 };
        PADS_PULL_CR 0x11 rw mask 0x1f;
        BUCKS_PD_CR 0x12 rw mask 0xff;
        LDO14_PD_CR 0x13 rw mask 0xff;
        LDO56_VREF_PD_CR 0x14 rw mask 0x3f;
        VBUS_DET_VIN_CR 0x15 rw mask 0xff;
        PKEY_TURNOFF_CR 0x16 rw mask 0xff;
        BUCKS_MASK_RANK_CR 0x17 rw mask 0x0f;
        BUCKS_MASK_RESET_CR 0x18 rw mask 0x0f;
        LDOS_MASK_RANK_CR 0x19 rw mask 0x7f;
        LDOS_MASK_RESET_CR 0x1a rw mask 0x7f;
        WCHDG_CR 0x1b rw mask 0x03 { WATCHDOG 0 unmodelled };
        WCHDG_TIMER_CR 0x1c rw mask 0xff;
        BUCKS_ICCTO_CR 0x1d rw mask 0x7f;
        LDOS_ICCTO_CR 0x1e rw mask 0x3f;
        BUCK1_ACTIVE_CR "BUCK{}_ACTIVE_CR" [1..5; 1] 0x20 rw mask 0xff;
        VREF_DDR_ACTIVE_CR 0x24 rw mask 1;
        LDO1_ACTIVE_CR "LDO{}_ACTIVE_CR" [1..7; 1] 0x25 rw mask 0xff;
        BUCK1_STDBY_CR "BUCK{}_STDBY_CR" [1..5; 1] 0x30 rw mask 0xff;
        VREF_DDR_STDBY_CR 0x34 rw mask 1;
        LDO1_STDBY_CR "LDO{}_STDBY_CR" [1..7; 1] 0x35 rw mask 0xff;
        BST_SW_CR 0x40 rw mask 0xff;
        INT_PENDING_R1 "INT_PENDING_R{}" [1..5; 1] 0x50 ro;
        INT_DBG_LATCH_R1 "INT_DBG_LATCH_R{}" [1..5; 1] 0x60 wo mask 0xff;
        INT_CLEAR_R1 "INT_CLEAR_R{}" [1..5; 1] 0x70 wo mask 0xff;
        INT_MASK_R1 "INT_MASK_R{}" [1..5; 1] 0x80 ro reset 0xff mask 0xff;
        INT_SET_MASK_R1 "INT_SET_MASK_R{}" [1..5; 1] 0x90 set INT_MASK_R1 mask 0xff;
        INT_CLEAR_MASK_R1 "INT_CLEAR_MASK_R{}" [1..5; 1] 0xa0 clear INT_MASK_R1 mask 0xff;
        INT_SRC_R1 "INT_SRC_R{}" [1..5; 1] 0xb0 ro;
    }
}

/// For the list of models.
pub const MODEL: Model = Model::i2c_chip(&["st,stpmic1"], from_node);

/// The chip.
#[derive(Default, State)]
struct Stpmic1 {
    registers: Registers,
    /// The register of the next byte; `None` if the next byte that is written names it.
    register: Option<u8>,
    pointer: u8,
    notes: Notes<String>,
}

/// A chip as its node describes it.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn I2cTarget> {
    reader.declare(Declared::new("interrupts", "interrupts", INTERRUPT));
    let meaning = "pairs: the address of a register, and its value when the run begins, 0 to 255 each";
    let values = reader.pairs("cyclescope,register-values", meaning, meaning, |pairs| {
        pairs.as_flattened().iter().all(|number| *number < 256)
    });
    // Linux's drivers of the chip's parts.
    reader.children();
    Box::new(Stpmic1::new(&values))
}

impl Stpmic1 {
    /// The chip, with the values of registers.
    fn new(values: &[[u32; 2]]) -> Stpmic1 {
        let mut registers = Registers::new(&MAP);
        values.iter().for_each(|[register, value]| registers.set(*register, *value));
        Stpmic1 { registers, ..Stpmic1::default() }
    }

    fn store(&mut self, register: u8, value: u8) {
        let Ok((row, old, new)) = self.registers.write(register.into(), value.into()) else { return };
        self.notes_of(row, old, new).into_iter().for_each(|note| self.notes.add(note));
    }

    fn notes_of(&self, row: &crate::registers::Row, old: u32, new: u32) -> Option<String> {
        let switched_off = row.offset == MAIN_CR && new & !old & MAIN_CR_SOFTWARE_SWITCH_OFF != 0;
        let note = "MAIN_CR switches the board off, which is not modelled: the run goes on";
        if switched_off { Some(note.to_owned()) } else { crate::registers::unmodelled(row, old, new) }
    }
}

impl I2cTarget for Stpmic1 {
    fn address(&mut self, direction: Direction, _: Ps) -> Answer {
        self.register = (direction == Direction::Read).then_some(self.pointer);
        Answer::ACK
    }

    fn write(&mut self, byte: u8, _: Ps) -> Answer {
        match self.register {
            None => self.register = Some(byte),
            Some(register) => {
                self.store(register, byte);
                self.register = Some(register.wrapping_add(1));
            }
        }
        self.pointer = self.register.unwrap_or(self.pointer);
        Answer::ACK
    }

    fn read(&mut self, _: Ps) -> Given {
        let value = self.registers.held(self.pointer.into());
        self.pointer = self.pointer.wrapping_add(1);
        Given::byte(value as u8)
    }

    fn stop(&mut self, _: Ps) {
        self.register = None;
    }

    fn interrupt(&self) -> Option<bool> {
        Some(true)
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.notes.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Ps = Ps(0);

    fn write(chip: &mut Stpmic1, bytes: &[u8]) {
        chip.address(Direction::Write, NOW);
        bytes.iter().for_each(|byte| _ = chip.write(*byte, NOW));
        chip.stop(NOW);
    }

    fn read(chip: &mut Stpmic1, register: u8) -> Given {
        chip.address(Direction::Write, NOW);
        chip.write(register, NOW);
        chip.repeated_start(NOW);
        chip.address(Direction::Read, NOW);
        chip.read(NOW)
    }

    #[test]
    fn linux_finds_the_version_and_the_voltages() {
        // BUCK1 at 1.2 V, as the loader sets it.
        let mut chip = Stpmic1::new(&[[0x20, 24 << 2 | 1]]);
        assert_eq!(read(&mut chip, 0x06), Given::byte(0x10));
        assert_eq!(read(&mut chip, 0x20), Given::byte(0x61));
        // The next register follows.
        assert_eq!(chip.read(NOW), Given::byte(0));
        write(&mut chip, &[0x27, 0x7d, 0x01]);
        assert_eq!((read(&mut chip, 0x27), read(&mut chip, 0x28)), (Given::byte(0x7d), Given::byte(1)));
        assert!(chip.take_notes().is_empty());
    }

    #[test]
    fn masks_are_set_and_cleared_and_nothing_is_pending() {
        let mut chip = Stpmic1::new(&[]);
        write(&mut chip, &[0xa0, 0x03]);
        write(&mut chip, &[0x90, 0x01]);
        assert_eq!((read(&mut chip, 0x80), read(&mut chip, 0x50)), (Given::byte(0xfd), Given::byte(0)));
        assert_eq!(chip.interrupt(), Some(true));
        write(&mut chip, &[0x10, 0x01]);
        assert_eq!(chip.take_notes().len(), 1);
    }
}
