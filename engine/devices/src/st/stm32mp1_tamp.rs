//! `st,stm32-tamp`: the tamper controller of STM32MP1 with its backup registers (RM0436, "Tamper and backup registers
//! (TAMP)").
//!
//! Modelled: all registers, with the write protection by PWR_CR1.DBP; the 32 backup registers, which no reset of the
//! system clears. They begin with the board's values (`cyclescope,backup-words`), else 0.
//!
//! Not modelled: tampers (no pin or sensor reports one; a note says so when the firmware enables a pin), the monotonic
//! counter, which reads 0, protection of registers against a world that is not secure.

use crate::prelude::*;
use crate::support::clock_gate::BACKUP_DOMAIN;

registers! {
    /// The register map (RM0436, "TAMP register map").
    const MAP "TAMP_" {
        CR1 0x00 rw reset 0xffff_0000 mask 0xffff_0007 { TAMPE 0..3 };
        CR2 0x04 rw mask 0x0707_0007;
        FLTCR 0x0c rw mask 0xff;
        ATCR1 0x10 rw reset 0x0007_0000 mask 0xc707_3f07;
        ATSEEDR 0x14 wo;
        ATOR 0x18 ro mask 0xc0ff;
        SMCR 0x20 rw reset 0x8000_0000 mask 0x80ff_00ff;
        IER 0x2c rw mask 0x009f_0007;
        SR 0x30 ro mask 0x009f_0007;
        MISR 0x34 ro mask 0x009f_0007;
        SMISR 0x38 ro mask 0x009f_0007;
        SCR 0x3c wo mask 0x009f_0007;
        COUNTR 0x40 ro;
        CFGR 0x50 rw mask 1;
        BKP0R "BKP{}R" [0..32; 4] 0x100 rw;
        HWCFGR2 0x3ec ro reset 0x101 mask 0xfff;
        HWCFGR1 0x3f0 ro reset 0x009d_1320;
        VERR 0x3f4 ro reset 0x10 mask 0xff;
        IPIDR 0x3f8 ro reset 0x0012_1033;
        SIDR 0x3fc ro reset 0xa3c5_dd01;
    }
}

/// The number of backup registers.
const WORDS: u32 = 32;

/// The controller.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.gate))]
pub struct Tamp {
    registers: Registers,
    gate: ClockGate,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32-tamp"], 1, from_node).naming(MAP.rows);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clocks"]);
    let meaning = "pairs: the number of a backup register, 0 to 31, and what it holds when the run begins";
    let words = reader
        .pairs("cyclescope,backup-words", meaning, meaning, |pairs| pairs.iter().all(|[number, _]| *number < WORDS));
    Box::new(Tamp::new(&words, ClockGate::from_node(reader)))
}

impl Tamp {
    /// The controller with backup registers: the number and the value of each that is not 0.
    pub fn new(words: &[[u32; 2]], gate: ClockGate) -> Tamp {
        let mut registers = Registers::new(&MAP);
        words.iter().for_each(|[number, value]| registers.set(BKP0R + 4 * number, *value));
        Tamp { registers, gate }
    }
}

impl Table for Tamp {
    fn takes_write(&mut self, _: u32, ctx: &mut Ctx) -> bool {
        let (register, bit) = BACKUP_DOMAIN;
        let is_open = ctx.bus.clocks.is_running(register, bit);
        if !is_open {
            ctx.note(
                "a register was written while the backup domain is protected (PWR_CR1.DBP is 0): it keeps its value",
            );
        }
        is_open
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        if register == CR1 && new & !old & CR1_TAMPE != 0 {
            ctx.note("tamper pins (TAMP_CR1) are not modelled: no tamper comes");
        }
    }
}

impl Device for Tamp {
    by_table!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk::{self, Port as _};

    #[test]
    fn registers_are_those_of_the_manual() {
        walk::device_keeps_its_map(&MAP, &[], &mut Bench::new(Tamp::new(&[], ClockGate::NONE)));
    }

    #[test]
    fn backup_registers_hold_what_the_loader_left_and_need_dbp() {
        // The mode of the last boot, which U-Boot reads.
        let mut bench = Bench::new(Tamp::new(&[[20, 0x11]], ClockGate::NONE));
        let (register, bit) = BACKUP_DOMAIN;
        assert_eq!(bench.get(BKP0R + 80), 0x11);
        bench.bus.clocks.set_gates(register, 0);
        bench.put(BKP0R + 80, 7);
        assert_eq!((bench.get(BKP0R + 80), bench.bus.notes().len()), (0x11, 1));
        bench.bus.clocks.set_gates(register, 1 << bit);
        bench.put(BKP0R + 80, 7);
        assert_eq!(bench.get(BKP0R + 80), 7);
    }
}
