//! `st,stm32mp157-syscfg`: the system configuration controller of STM32MP1 (RM0436, "System configuration controller
//! (SYSCFG)"). EXTI selects the pins of its lines itself there.
//!
//! Modelled: all registers, among them those that set and clear bits of SYSCFG_PMCSETR and SYSCFG_IOCTRLSETR; the boot
//! pins; the compensation cell, which is ready as soon as a processor has enabled it. A run begins with the cell on, as
//! TF-A leaves it.
//!
//! Not modelled: what the bits do: the Fast-mode Plus drive of I2C, the clocks and interface of Ethernet, analog
//! switches, fast pins, priorities on the AXI. The cell's own values (ANSRC, APSRC) are those of RANSRC and RAPSRC.

use crate::prelude::*;

registers! {
    /// The register map (RM0436, "SYSCFG register map").
    const MAP "SYSCFG_" {
        BOOTR 0x00 rw { BOOT 0..3 ro, BOOT_PD 4..7 };
        PMCSETR 0x04 set_of PMCSETR mask PMC;
        IOCTRLSETR 0x18 set_of IOCTRLSETR mask 0x1f;
        ICNR 0x1c rw mask 0x7ef;
        CMPCR 0x20 rw reset 0x0087_0000 {
            SW_CTRL 1, READY 8 ro, RANSRC 16..20, RAPSRC 20..24, ANSRC 24..28 ro, APSRC 28..32 ro
        };
        CMPENSETR 0x24 set_of CMPENSETR reset 1 mask 3;
        CMPENCLRR 0x28 clear_of CMPENSETR mask 3;
        CBR 0x2c rw mask 5;
        PMCCLRR 0x44 clear_of PMCSETR mask PMC;
        IOCTRLCLRR 0x58 clear_of IOCTRLSETR mask 0x1f;
        VERR 0x3f4 ro reset 0x20 mask 0xff;
        IPIDR 0x3f8 ro reset 0x0003_0001;
        SIDR 0x3fc ro reset 0xa3c5_dd01;
    }
}

/// The bits of SYSCFG_PMCSETR: Fast-mode Plus of I2C1 to I2C6, analog switches, Ethernet.
const PMC: u32 = 0x03f3_033f;

/// The controller.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.gate))]
pub struct Syscfg {
    registers: Registers,
    gate: ClockGate,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32mp157-syscfg"], 1, from_node).naming(MAP.rows);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clocks"]);
    let boot = reader.u32_or("cyclescope,boot-pins", 0, 0..=7, "the levels of BOOT0, BOOT1 and BOOT2, one bit each");
    Box::new(Syscfg::new(boot, ClockGate::from_node(reader)))
}

impl Syscfg {
    /// The controller as TF-A leaves it, with the levels of the boot pins.
    pub fn new(boot: u32, gate: ClockGate) -> Syscfg {
        let mut registers = Registers::new(&MAP);
        registers.set(BOOTR, boot);
        Syscfg { registers, gate }
    }
}

impl Table for Syscfg {
    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        let sources = held & (CMPCR_RANSRC | CMPCR_RAPSRC);
        match register {
            CMPCR => held | sources << 8 | flag(CMPCR_READY, self.registers[CMPENSETR] != 0),
            _ => held,
        }
    }
}

impl Device for Syscfg {
    by_table!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk::{self, Port as _};

    fn syscfg() -> Bench {
        Bench::new(Syscfg::new(5, ClockGate::NONE))
    }

    #[test]
    fn registers_are_those_of_the_manual() {
        walk::table_is_sound(MAP.rows);
        let mut bench = syscfg();
        let read = [BOOTR, PMCSETR, IOCTRLSETR, ICNR, CMPENSETR, CBR, VERR, IPIDR, SIDR].map(|at| bench.get(at));
        assert_eq!(read, [5, 0, 0, 0, 1, 0, 0x20, 0x30001, 0xa3c5_dd01]);
        for register in [BOOTR, ICNR, CBR] {
            bench.put(register, u32::MAX);
        }
        assert_eq!([BOOTR, ICNR, CBR].map(|at| bench.get(at)), [0x75, 0x7ef, 5]);
    }

    #[test]
    fn modes_are_set_and_cleared_by_bits() {
        let mut bench = syscfg();
        // Fast-mode Plus of I2C1 and I2C4, as Linux's driver sets it by way of a syscon.
        bench.put(PMCSETR, 1);
        bench.put(PMCSETR, 1 << 3);
        assert_eq!((bench.get(PMCSETR), bench.get(PMCCLRR)), (9, 9));
        bench.put(PMCCLRR, 1);
        bench.put(IOCTRLSETR, u32::MAX);
        bench.put(IOCTRLCLRR, 2);
        assert_eq!((bench.get(PMCSETR), bench.get(IOCTRLSETR)), (8, 0x1d));
    }

    #[test]
    fn the_compensation_cell_is_ready_while_it_is_on() {
        let mut bench = syscfg();
        assert_eq!(bench.get(CMPCR), 0x8787_0100);
        bench.put(CMPENCLRR, 1);
        assert_eq!(bench.get(CMPCR), 0x8787_0000);
        bench.put(CMPENSETR, 2);
        assert_eq!((bench.get(CMPCR), bench.get(CMPENCLRR)), (0x8787_0100, 2));
    }
}
