//! `st,stm32-dbgmcu`: the debug support of an STM32 (RM0090, "MCU debug component (DBGMCU)"; RM0383 and RM0432, the
//! same): the identity of the chip, and the clocks that stop when a debugger halts the core.
//!
//! Modelled: DBGMCU_IDCODE, with the board's value; DBGMCU_CR.DBG_SLEEP, which keeps the core's clock, and so
//! DWT_CYCCNT, running during sleep. The other registers and bits only keep written values: a debugger that halts the
//! core stops simulated time, and Stop and Standby are not modelled.

use crate::prelude::*;
use crate::registers::Lanes;

registers! {
    /// The register map; chips have at most three freeze registers.
    const MAP "DBGMCU_" {
        /// The board gives its value.
        IDCODE 0x0 ro;
        /// DBG_SLEEP: the core's HCLK keeps running in Sleep mode (RM0090, 38.16.1).
        CR 0x4 rw mask u32::MAX { DBG_SLEEP 0 };
        FZ "FZ{}" [1..4; 4] 0x8 rw;
    }
}

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::new(Lanes::Kept))]
pub struct Dbgmcu {
    registers: Registers,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32-dbgmcu"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let code =
        reader.u32("cyclescope,idcode", 0..=u32::MAX, "DBGMCU_IDCODE: the revision above bit 16, the device below");
    Box::new(Dbgmcu::new(code))
}

impl Dbgmcu {
    /// The device of a chip with this code.
    pub fn new(idcode: u32) -> Dbgmcu {
        let mut registers = Registers::new(&MAP);
        registers.set(IDCODE, idcode);
        Dbgmcu { registers }
    }
}

impl Table for Dbgmcu {
    fn update(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocked_asleep = self.registers.has(CR, CR_DBG_SLEEP);
    }
}

impl Device for Dbgmcu {
    by_table!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk::Port as _;

    #[test]
    fn the_code_stays_and_the_rest_is_kept() {
        let mut bench = Bench::new(Dbgmcu::new(0x1007_6413));
        for register in [0, 4, 8, 0x10, 0x14] {
            bench.put(register, 7);
        }
        assert_eq!([0, 4, 8, 0x10, 0x14].map(|register| bench.get(register)), [0x1007_6413, 7, 7, 7, 0]);
        assert!(bench.bus.clocked_asleep);
        bench.put(4, 6);
        assert!(!bench.bus.clocked_asleep);
    }
}
