//! `ingenic,jz4740-gpio`: a port of 32 general-purpose pins of the JZ4740 and related chips (the register map and the
//! functions of the bits are from Linux's pinctrl-ingenic and arch/mips/jz4740/gpio.c). A node is one port, with its
//! 0x100 bytes of registers.
//!
//! Modelled: all registers. A pin is an output if PxFUN and PxSEL are 0 and PxDIR is 1. It is an interrupt source if
//! PxFUN is 0 and PxSEL is 1: PxTRG selects an edge or a level, PxDIR the rising edge or the high level, else the
//! falling edge or the low level. PxFLG is set by an interrupt source, masked or not, and stays set until it is
//! cleared; an active level sets it again at once. Writing ones at 0x14 sets PxDAT *and* clears the flags of interrupt
//! sources: PxDATS and PxFLGC are one register. Pull-ups are on while PxPE is 0.
//!
//! A write takes effect, and wires change, at the time at which it reaches the port; a read returns the wires at that
//! time.
//!
//! Not modelled: a pin's function for another device (PxFUN is 1); the port does not drive it then. Registers have 32
//! bits; the other lanes of a narrower write are zeroes.

use crate::prelude::*;
use crate::support::interrupt_output::InterruptOutput;
use crate::support::pin_bank::{Driven, PinBank, PinModes};
use engine::bus::device::PortId;

registers! {
    /// The register map.
    const MAP "PX" {
        PIN 0x00 ro volatile reset u32::MAX;
        DAT 0x10 ro;
        /// PxFLGC is the same register.
        DATS 0x14 wo;
        DATC 0x18 clear DAT;
        IM 0x20 ro reset u32::MAX;
        IMS 0x24 set IM;
        IMC 0x28 clear IM;
        PE 0x30 ro;
        PES 0x34 set PE;
        PEC 0x38 clear PE;
        FUN 0x40 ro;
        FUNS 0x44 set FUN;
        FUNC 0x48 clear FUN;
        SEL 0x50 ro;
        SELS 0x54 set SEL;
        SELC 0x58 clear SEL;
        DIR 0x60 ro;
        DIRS 0x64 set DIR;
        DIRC 0x68 clear DIR;
        TRG 0x70 ro;
        TRGS 0x74 set TRG;
        TRGC 0x78 clear TRG;
        FLG 0x80 ro;
    }
}

/// The port.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
pub struct Gpio {
    #[poll(phase)]
    clock: ClockInput,
    registers: Registers,
    interrupt: InterruptOutput,
    bank: PinBank,
    #[poll(total)]
    reads: u64,
    /// A loop with a write drives wires.
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::port(&["ingenic,jz4740-gpio"], 1, from_node).naming(MAP.rows);

/// Builds the port from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "the peripheral clock");
    reader.known(&["gpio-controller", "#gpio-cells", "gpio-ranges"]);
    let interrupt = reader.interrupt(0, "its interrupt");
    Box::new(Gpio::new(clock, interrupt))
}

impl Gpio {
    /// The port after reset: all pins are inputs, pulled up, with their interrupts masked.
    pub fn new(clock: impl Into<ClockInput>, interrupt: Option<IrqLine>) -> Gpio {
        let interrupt = InterruptOutput::new(interrupt);
        let (registers, bank) = (Registers::new(&MAP), PinBank::default());
        Gpio { clock: clock.into(), registers, interrupt, bank, reads: 0, writes: 0 }
    }

    /// Pins that are interrupt sources.
    fn sources(&self) -> u32 {
        !self.registers[FUN] & self.registers[SEL]
    }

    /// DIR is the direction of a pin, or the edge or level of an interrupt source.
    fn modes(&self) -> PinModes {
        let [edges, rising] = [TRG, DIR].map(|register| self.registers[register]);
        let sources = self.sources();
        PinModes {
            outputs: !self.registers[FUN] & !self.registers[SEL] & rising,
            pull_ups: !self.registers[PE],
            rising: sources & edges & rising,
            falling: sources & edges & !rising,
            high: sources & !edges & rising,
            low: sources & !edges & !rising,
            ..PinModes::default()
        }
    }

    fn driven(&self) -> Driven {
        self.modes().driven(self.registers[DAT])
    }

    /// Drives the pins as a register says that held `old`.
    fn drive_changes(&mut self, register: u32, old: u32, ctx: &mut Ctx) {
        let (new, after) = (self.registers[register], self.driven());
        self.registers.set(register, old);
        let before = self.driven();
        self.registers.set(register, new);
        if after != before {
            self.bank.drive(after, ctx);
        }
    }

    /// Updates the flags of interrupt sources and the interrupt line from the wires.
    fn look(&mut self, ctx: &mut Ctx) {
        let events = self.bank.events(&self.modes(), ctx);
        self.registers.put(FLG, events, true);
        self.interrupt.drive(self.registers[FLG] & !self.registers[IM] != 0, ctx);
    }
}

impl Table for Gpio {
    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        self.reads += 1;
        if register == PIN { self.bank.sample(ctx) } else { held }
    }

    fn was_read(&mut self, _: u32, ctx: &mut Ctx) {
        self.look(ctx);
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            PIN => self.refused(register, Refused::ReadOnly, ctx),
            DATS => {
                self.registers.put(FLG, new & self.sources(), false);
                let held = self.registers[DAT];
                self.registers.set(DAT, held | new);
                self.drive_changes(DAT, held, ctx);
            }
            _ => self.drive_changes(register, old, ctx),
        }
    }

    fn refused(&mut self, register: u32, _: Refused, ctx: &mut Ctx) {
        ctx.note(&format!("a write to offset {register:#x}, where no register to write is, has no effect"));
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.writes += 1;
        self.look(ctx);
    }
}

impl Device for Gpio {
    by_table!();

    fn pins_changed(&mut self, _port: PortId, _changed: u32, _levels: u32, ctx: &mut Ctx) {
        self.bank.changes += 1;
        self.look(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.clock);
    }

    fn passes_interrupts(&self) -> bool {
        true
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("reads".to_owned(), self.reads), ("writes".to_owned(), self.writes)]
    }
}

#[cfg(test)]
mod tests;
