//! System registers for a debugger: those of coprocessor 15, and the banked ones of other modes.

use super::effect::{Effect, Now};
use super::modes::Mode;
use super::pmu::Events;
use super::registers::Number;
use super::{System, X};

/// Registers of coprocessor 15 with state (ARM, B3.17, tables B3-42 on).
#[rustfmt::skip]
const CP15: [(Number, &str); 22] = [
    ((0, 0, 0, 0), "midr"), ((0, 0, 0, 5), "mpidr"), ((1, 0, 0, 0), "sctlr"), ((1, 0, 0, 1), "actlr"),
    ((1, 0, 0, 2), "cpacr"), ((2, 0, 0, 0), "ttbr0"), ((2, 0, 0, 1), "ttbr1"), ((2, 0, 0, 2), "ttbcr"),
    ((3, 0, 0, 0), "dacr"), ((5, 0, 0, 0), "dfsr"), ((5, 0, 0, 1), "ifsr"), ((6, 0, 0, 0), "dfar"),
    ((6, 0, 0, 2), "ifar"), ((7, 0, 4, 0), "par"), ((10, 0, 2, 0), "prrr"), ((10, 0, 2, 1), "nmrr"),
    ((12, 0, 0, 0), "vbar"), ((12, 0, 1, 0), "isr"), ((13, 0, 0, 1), "contextidr"), ((13, 0, 0, 2), "tpidrurw"),
    ((13, 0, 0, 3), "tpidruro"), ((13, 0, 0, 4), "tpidrprw"),
];

impl System {
    /// Coprocessor 15, FPEXC, and SP, LR and SPSR of each mode, with these interrupt lines high.
    pub fn special_registers(&self, x: &X, pending: u32) -> Vec<(&'static str, u32)> {
        let privileged = System { mode: Mode::System, ..self.clone() };
        let events = Events::default();
        let now = Now { cycles: 0, events: &events, pending };
        let cp15 = CP15.iter().filter_map(|(number, name)| Some((*name, privileged.read_register(*number, &now)?)));
        let fpexc = self.config.features.vfp.then_some(("fpexc", self.registers.fpexc));
        cp15.chain(fpexc).chain(self.banked(x)).collect()
    }

    /// Writes the register at an index of that list. `None` if it can't be written.
    pub fn set_special_register(&mut self, number: usize, value: u32, pending: u32) -> Option<Effect> {
        let events = Events::default();
        let now = Now { cycles: 0, events: &events, pending };
        let mode = std::mem::replace(&mut self.mode, Mode::System);
        let mut there = CP15.iter().filter(|(number, _)| self.read_register(*number, &now).is_some());
        let register = there.nth(number).map(|(number, _)| *number);
        let effect = register.and_then(|register| self.write_register(register, value, &now));
        self.mode = mode;
        effect
    }
}
