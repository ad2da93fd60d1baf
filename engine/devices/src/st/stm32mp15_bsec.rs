//! `st,stm32mp15-bsec`: the boot and security controller of STM32MP1, which reads the chip's one-time programmable
//! words (RM0436, "Boot and security and OTP control (BSEC)").
//!
//! Modelled: the shadows of the 96 words, with the board's values, as TF-A has loaded them; words that software writes
//! over a shadow, and their locks until reset; all other registers keep written values. Words that the board does not
//! give are 0, as on a chip that has not programmed them.
//!
//! Not modelled: programming of words and reloads of shadows (BSEC_OTP_CONTROL; a note says so), debug authorisation.

use crate::prelude::*;

registers! {
    /// The register map (RM0436, "BSEC register map").
    const MAP "BSEC_" {
        OTP_CONFIG 0x000 rw reset 0x0e mask 0x1ff;
        OTP_CONTROL 0x004 rw mask 0x37f;
        OTP_WRDATA 0x008 rw;
        OTP_STATUS 0x00c ro mask 0xff;
        OTP_LOCK 0x010 rw mask 0x17;
        DENABLE 0x014 rw mask 0x7ff;
        OTP_DISTURBED0 "OTP_DISTURBED{}" [0..3; 4] 0x01c ro;
        OTP_ERROR0 "OTP_ERROR{}" [0..3; 4] 0x034 ro;
        OTP_WRLOCK0 "OTP_WRLOCK{}" [0..3; 4] 0x04c ro;
        OTP_SPLOCK0 "OTP_SPLOCK{}" [0..3; 4] 0x064 w1s;
        OTP_SWLOCK0 "OTP_SWLOCK{}" [0..3; 4] 0x07c w1s reset 1;
        OTP_SRLOCK0 "OTP_SRLOCK{}" [0..3; 4] 0x094 w1s;
        JTAGIN 0x0ac ro mask 0xffff;
        JTAGOUT 0x0b0 rw mask 0xffff;
        SCRATCH 0x0b4 rw;
        OTP_DATA0 "OTP_DATA{}" [0..96; 4] 0x200 rw;
        HWCFGR 0xff0 ro reset 0x14 mask 0xff;
        VERR 0xff4 ro reset 0x11 mask 0xff;
        IPIDR 0xff8 ro reset 0x0010_0032;
        SIDR 0xffc ro reset 0xa3c5_dd04;
    }
}

/// The number of words.
const WORDS: u32 = 96;

/// The controller.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.gate))]
pub struct Bsec {
    registers: Registers,
    gate: ClockGate,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32mp15-bsec"], 1, from_node).naming(MAP.rows);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clocks"]);
    let meaning = "pairs: the number of a one-time programmable word, 0 to 95, and its value";
    let words =
        reader.pairs("cyclescope,otp-words", meaning, meaning, |pairs| pairs.iter().all(|[number, _]| *number < WORDS));
    Box::new(Bsec::new(&words, ClockGate::from_node(reader)))
}

impl Bsec {
    /// The controller with its words: the number and the value of each that is not 0.
    pub fn new(words: &[[u32; 2]], gate: ClockGate) -> Bsec {
        let mut registers = Registers::new(&MAP);
        words.iter().for_each(|[number, value]| registers.set(OTP_DATA0 + 4 * number, *value));
        Bsec { registers, gate }
    }
}

impl Table for Bsec {
    fn takes_write(&mut self, register: u32, ctx: &mut Ctx) -> bool {
        let number = register.wrapping_sub(OTP_DATA0) / 4;
        let is_locked = number < WORDS && self.registers[OTP_SWLOCK0 + 4 * (number / 32)] >> (number % 32) & 1 != 0;
        if is_locked {
            ctx.note(&format!("word {number} was written while BSEC_OTP_SWLOCK locks it: it keeps its value"));
        }
        !is_locked
    }

    fn wrote(&mut self, register: u32, _: u32, _: u32, ctx: &mut Ctx) {
        if register == OTP_CONTROL {
            ctx.note("operations on one-time programmable words (BSEC_OTP_CONTROL) are not modelled: words stay");
        }
    }
}

impl Device for Bsec {
    by_table!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk::{self, Port as _};

    #[test]
    fn registers_are_those_of_the_manual() {
        // Words 0, 32 and 64 are locked after reset.
        let locked = ["BSEC_OTP_DATA0", "BSEC_OTP_DATA32", "BSEC_OTP_DATA64"];
        let special: Vec<&str> = MAP.rows.iter().map(|row| row.name).filter(|name| name.contains("SWLOCK")).collect();
        let special: Vec<&str> = special.into_iter().chain(locked).collect();
        walk::device_keeps_its_map(&MAP, &special, &mut Bench::new(Bsec::new(&[], ClockGate::NONE)));
    }

    #[test]
    fn words_are_the_boards_until_they_are_written() {
        // The part number, the package, the MAC address.
        let mut bench =
            Bench::new(Bsec::new(&[[1, 0], [16, 2 << 27], [57, 0x2ae1_8000], [58, 0x5c3d]], ClockGate::NONE));
        let word = |bench: &mut Bench, number: u32| bench.get(0x200 + 4 * number);
        assert_eq!([1, 16, 57, 58, 95].map(|number| word(&mut bench, number)), [0, 2 << 27, 0x2ae1_8000, 0x5c3d, 0]);
        bench.put(0x200 + 4 * 57, 7);
        bench.put(OTP_SWLOCK0 + 4, 1 << 25);
        bench.put(0x200 + 4 * 57, 8);
        assert_eq!((word(&mut bench, 57), bench.get(OTP_SWLOCK0 + 4)), (7, 1 << 25 | 1));
        assert_eq!(bench.bus.notes().len(), 1);
    }
}
