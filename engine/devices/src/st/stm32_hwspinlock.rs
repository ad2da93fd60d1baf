//! `st,stm32-hwspinlock`: the hardware semaphores of STM32MP1, HSEM (RM0436, "Hardware semaphore (HSEM)").
//!
//! 32 semaphores. A processor locks a semaphore by writing HSEM_Rx with its COREID and a PROCID, and reading back
//! whether it succeeded (two steps); or by reading HSEM_RLRx (one step, PROCID 0). Only the owner can free a semaphore.
//! Freeing sets the semaphore's bit in the status of both processors, which interrupts those that enabled it.
//!
//! Modelled: all registers, with the COREID of the core that makes the access (1 for the MPU, 2 for the MCU); the
//! interrupts, the MPU's first; the clock gate. An access by another bus master than a core is ignored.

use crate::prelude::*;

registers! {
    /// The semaphores.
    const SEMAPHORES "HSEM_" {
        R [0..32; 4] 0x00 rw mask LOCK | COREID | PROCID;
        RLR [0..32; 4] 0x80 ro volatile;
    }

    /// The registers after them (RM0436, "HSEM registers").
    pub const MAP "HSEM_" {
        IER "C{}IER" [1..3; PROCESSOR_BYTES] 0x100 rw;
        ICR "C{}ICR" [1..3; PROCESSOR_BYTES] 0x104 clear ISR;
        ISR "C{}ISR" [1..3; PROCESSOR_BYTES] 0x108 ro;
        MISR "C{}MISR" [1..3; PROCESSOR_BYTES] 0x10c ro volatile;
        CR 0x140 wo mask 0xffff_0f00;
        KEYR 0x144 rw mask KEY;
    }
}

const ALL: Map = joined!(SEMAPHORES, MAP);

const MISR_2: u32 = MISR + PROCESSOR_BYTES;
/// Bytes from one processor's interrupt registers to the other's.
const PROCESSOR_BYTES: u32 = 0x10;

const LOCK: u32 = 1 << 31;
const COREID: u32 = 0xf << 8;
const PROCID: u32 = 0xff;
const KEY: u32 = 0xffff_0000;

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.gate))]
pub struct Hsem {
    registers: Registers,
    /// The interrupts of the processors.
    lines: [Option<IrqLine>; 2],
    /// The core that is the MCU.
    #[state(skip)]
    mcu: Option<usize>,
    gate: ClockGate,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Message, &["st,stm32-hwspinlock"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clocks", "clock-names", "#hwlock-cells"]);
    let lines = [reader.interrupt(0, "interrupt to the MPU"), reader.interrupt(1, "interrupt to the MCU")];
    let mcu = reader.core_index("st,mcu", "the core that is the MCU");
    Box::new(Hsem::new(lines, mcu, ClockGate::from_node(reader)))
}

impl Hsem {
    /// The device after reset; `mcu` is the index of the core that is the MCU.
    pub fn new(lines: [Option<IrqLine>; 2], mcu: Option<usize>, gate: ClockGate) -> Hsem {
        Hsem { registers: Registers::new(&ALL), lines, mcu, gate }
    }

    /// COREID of the core that makes an access.
    fn identity(&self, ctx: &Ctx) -> Option<u32> {
        ctx.core.map(|core| if Some(core) == self.mcu { 2 << 8 } else { 1 << 8 })
    }

    /// HSEM_RLRx: locks in one step the semaphore of a register.
    fn read_lock(&mut self, semaphore: u32, ctx: &Ctx) -> u32 {
        let Some(identity) = self.identity(ctx) else { return 0 };
        if !self.registers.has(semaphore, LOCK) {
            self.registers.set(semaphore, LOCK | identity);
        }
        self.registers[semaphore]
    }

    /// A write of HSEM_Rx, which held `held`.
    fn write(&mut self, semaphore: u32, held: u32, value: u32, ctx: &mut Ctx) {
        self.registers.set(semaphore, held);
        if self.identity(ctx) != Some(value & COREID) {
            ctx.note("a semaphore was written with the COREID of another processor: the write has no effect");
        } else if value & LOCK != 0 {
            if held & LOCK == 0 {
                self.registers.set(semaphore, value);
            }
        } else if held == LOCK | value {
            self.free(semaphore);
        } else if held & LOCK != 0 {
            ctx.note("a semaphore was freed by a processor or process that does not own it: it stays locked");
        }
    }

    fn free(&mut self, semaphore: u32) {
        self.registers.set(semaphore, 0);
        for status in [ISR, ISR + PROCESSOR_BYTES] {
            self.registers.put(status, 1 << (semaphore / 4), true);
        }
    }

    /// HSEM_CR: frees all semaphores of a processor.
    fn clear(&mut self, value: u32, ctx: &mut Ctx) {
        if value & KEY != self.registers[KEYR] {
            ctx.note("HSEM_CR was written without the key in HSEM_KEYR: the write has no effect");
            return;
        }
        for semaphore in (R..RLR).step_by(4) {
            if self.registers[semaphore] & (LOCK | COREID) == LOCK | value & COREID {
                self.free(semaphore);
            }
        }
    }

    /// The interrupts of a processor, given as the offset of its registers, that are pending and enabled.
    fn pending(&self, processor: u32) -> u32 {
        self.registers[ISR + processor] & self.registers[IER + processor]
    }
}

impl Table for Hsem {
    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            RLR..IER => self.read_lock(register - RLR, ctx),
            MISR => self.pending(0),
            MISR_2 => self.pending(PROCESSOR_BYTES),
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            R..RLR => self.write(register, old, new, ctx),
            CR => self.clear(new, ctx),
            _ => {}
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        for (line, processor) in self.lines.into_iter().zip([0, PROCESSOR_BYTES]) {
            ctx.set_irq(line, self.pending(processor) != 0);
        }
    }
}

impl Device for Hsem {
    by_table!();
}

#[cfg(test)]
mod tests;
