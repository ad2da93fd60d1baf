//! `st,stm32-hwspinlock`: the hardware semaphores of STM32MP1, HSEM (RM0436, "Hardware semaphore (HSEM)").
//!
//! 32 semaphores. A processor locks a semaphore by writing HSEM_Rx with its COREID and a PROCID, and reading back
//! whether it succeeded (two steps); or by reading HSEM_RLRx (one step, PROCID 0). Only the owner can free a semaphore.
//! Freeing sets the semaphore's bit in the status of both processors, which interrupts those that enabled it.
//!
//! Modelled: all registers, with the COREID of the core that makes the access (1 for the MPU, 2 for the MCU); the
//! interrupts, the MPU's first; the clock gate. An access by another bus master than a core is ignored.

use crate::model::{Group, Model};
use crate::support::registers::{AccessKind, Register, flag};
use crate::support::stm32_clock_gate::ClockGate;
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::polling::{Poll, Polled};
use engine::state::State;

/// The register map after HSEM_R0 to HSEM_RLR31 (RM0436, "HSEM registers").
pub const REGISTERS: &[Register] = &[
    Register::new("HSEM_C1IER", C1IER, AccessKind::Rw, 0, u32::MAX),
    Register::new("HSEM_C1ICR", C1IER + ICR, AccessKind::Wo, 0, u32::MAX),
    Register::new("HSEM_C1ISR", C1IER + ISR, AccessKind::Ro, 0, u32::MAX),
    Register::new("HSEM_C1MISR", C1IER + MISR, AccessKind::Ro, 0, u32::MAX),
    Register::new("HSEM_C2IER", C2IER, AccessKind::Rw, 0, u32::MAX),
    Register::new("HSEM_C2ICR", C2IER + ICR, AccessKind::Wo, 0, u32::MAX),
    Register::new("HSEM_C2ISR", C2IER + ISR, AccessKind::Ro, 0, u32::MAX),
    Register::new("HSEM_C2MISR", C2IER + MISR, AccessKind::Ro, 0, u32::MAX),
    Register::new("HSEM_CR", CR, AccessKind::Wo, 0, 0xffff_0f00),
    Register::new("HSEM_KEYR", KEYR, AccessKind::Rw, 0, KEY),
];

const SEMAPHORES: usize = 32;
const RLR0: u32 = 0x80;
const RLR_LAST: u32 = 0xfc;
const C1IER: u32 = 0x100;
const ICR: u32 = 0x4;
const ISR: u32 = 0x8;
const MISR: u32 = 0xc;
const C2IER: u32 = 0x110;
const C2MISR: u32 = 0x11c;
/// Bytes from one processor's interrupt registers to the other's.
const PROCESSOR_BYTES: u32 = 0x10;
const CR: u32 = 0x140;
const KEYR: u32 = 0x144;

const LOCK: u32 = 1 << 31;
const COREID: u32 = 0xf << 8;
const PROCID: u32 = 0xff;
const KEY: u32 = 0xffff_0000;

/// The interrupt of a processor.
#[derive(Clone, Copy, Debug, Default, State)]
struct Interrupt {
    enabled: u32,
    status: u32,
    #[state(skip)]
    line: Option<IrqLine>,
}

/// The device.
#[derive(Debug, State)]
pub struct Hsem {
    /// HSEM_Rx.
    semaphores: [u32; SEMAPHORES],
    interrupts: [Interrupt; 2],
    key: u32,
    /// The core that is the MCU.
    #[state(skip)]
    mcu: Option<usize>,
    #[state(skip)]
    gate: ClockGate,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Message, &["st,stm32-hwspinlock"], 1, from_node).naming(REGISTERS);

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
        let interrupts = lines.map(|line| Interrupt { line, ..Interrupt::default() });
        Hsem { semaphores: [0; SEMAPHORES], interrupts, key: 0, mcu, gate }
    }

    /// COREID of the core that makes an access.
    fn identity(&self, ctx: &Ctx) -> Option<u32> {
        ctx.core.map(|core| if Some(core) == self.mcu { 2 << 8 } else { 1 << 8 })
    }

    /// HSEM_RLRx: locks in one step.
    fn read_lock(&mut self, index: usize, ctx: &Ctx) -> u32 {
        let Some(identity) = self.identity(ctx) else { return 0 };
        let semaphore = &mut self.semaphores[index];
        if *semaphore & LOCK == 0 {
            *semaphore = LOCK | identity;
        }
        *semaphore
    }

    fn write(&mut self, index: usize, value: u32, ctx: &mut Ctx) {
        let identity = self.identity(ctx);
        if identity != Some(value & COREID) {
            ctx.note("a semaphore was written with the COREID of another processor: the write has no effect");
            return;
        }
        let held = self.semaphores[index];
        let owner = value & (COREID | PROCID);
        if value & LOCK != 0 {
            if held & LOCK == 0 {
                self.semaphores[index] = LOCK | owner;
            }
        } else if held == LOCK | owner {
            self.free(1 << index);
        } else if held & LOCK != 0 {
            ctx.note("a semaphore was freed by a processor or process that does not own it: it stays locked");
        }
    }

    fn free(&mut self, semaphores: u32) {
        for index in (0..SEMAPHORES).filter(|index| semaphores >> index & 1 != 0) {
            self.semaphores[index] = 0;
        }
        self.interrupts.iter_mut().for_each(|interrupt| interrupt.status |= semaphores);
    }

    /// HSEM_CR: frees all semaphores of a processor.
    fn clear(&mut self, value: u32, ctx: &mut Ctx) {
        if value & KEY != self.key {
            ctx.note("HSEM_CR was written without the key in HSEM_KEYR: the write has no effect");
            return;
        }
        let is_its = |held: u32| held & (LOCK | COREID) == LOCK | value & COREID;
        let semaphores = self.semaphores.iter().enumerate();
        let bits = semaphores.fold(0, |bits, (index, held)| bits | flag(1 << index, is_its(*held)));
        self.free(bits);
    }

    fn register(&mut self, offset: u32, ctx: &Ctx) -> u32 {
        match offset {
            0..RLR0 => self.semaphores[(offset / 4) as usize],
            RLR0..=RLR_LAST => self.read_lock(((offset - RLR0) / 4) as usize, ctx),
            C1IER..=C2MISR => {
                let interrupt = &self.interrupts[((offset - C1IER) / PROCESSOR_BYTES) as usize];
                match offset % PROCESSOR_BYTES {
                    0 => interrupt.enabled,
                    ISR => interrupt.status,
                    MISR => interrupt.status & interrupt.enabled,
                    _ => 0,
                }
            }
            KEYR => self.key,
            _ => 0,
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        match offset {
            0..RLR0 => self.write((offset / 4) as usize, value, ctx),
            C1IER..=C2MISR => {
                let interrupt = &mut self.interrupts[((offset - C1IER) / PROCESSOR_BYTES) as usize];
                match offset % PROCESSOR_BYTES {
                    0 => interrupt.enabled = value,
                    ICR => interrupt.status &= !value,
                    _ => {}
                }
            }
            CR => self.clear(value, ctx),
            KEYR => self.key = value & KEY,
            _ => {}
        }
        for interrupt in &self.interrupts {
            ctx.set_irq(interrupt.line, interrupt.status & interrupt.enabled != 0);
        }
    }
}

impl Device for Hsem {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.gate.read(offset, size, ctx, |offset, ctx| self.register(offset, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.gate.write(offset, size, value, ctx, |offset, value, ctx| {
            self.set_register(offset, value, ctx);
        })
    }
}

impl Polled for Hsem {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.semaphores.iter().for_each(|semaphore| poll.state(*semaphore));
        for interrupt in &self.interrupts {
            poll.state(interrupt.enabled);
            poll.state(interrupt.status);
        }
        poll.state(self.key);
        true
    }
}

#[cfg(test)]
mod tests;
