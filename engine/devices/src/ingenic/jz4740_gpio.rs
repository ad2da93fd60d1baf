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

use crate::model::Model;
use crate::support::apb;
use crate::support::registers::{AccessKind, Register};
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, PortId, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::pins::Drive;
use engine::polling::{Poll, Polled};
use engine::state::State;

/// The register map.
pub const REGISTERS: &[Register] = &[
    Register::new("PXPIN", PIN, AccessKind::Ro, u32::MAX, u32::MAX),
    Register::new("PXDAT", DAT, AccessKind::Ro, 0, u32::MAX),
    Register::new("PXDATS", DAT | SET, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXDATC", DAT | CLEAR, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXIM", IM, AccessKind::Ro, u32::MAX, u32::MAX),
    Register::new("PXIMS", IM | SET, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXIMC", IM | CLEAR, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXPE", PE, AccessKind::Ro, 0, u32::MAX),
    Register::new("PXPES", PE | SET, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXPEC", PE | CLEAR, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXFUN", FUN, AccessKind::Ro, 0, u32::MAX),
    Register::new("PXFUNS", FUN | SET, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXFUNC", FUN | CLEAR, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXSEL", SEL, AccessKind::Ro, 0, u32::MAX),
    Register::new("PXSELS", SEL | SET, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXSELC", SEL | CLEAR, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXDIR", DIR, AccessKind::Ro, 0, u32::MAX),
    Register::new("PXDIRS", DIR | SET, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXDIRC", DIR | CLEAR, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXTRG", TRG, AccessKind::Ro, 0, u32::MAX),
    Register::new("PXTRGS", TRG | SET, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXTRGC", TRG | CLEAR, AccessKind::Wo, 0, u32::MAX),
    Register::new("PXFLG", FLG, AccessKind::Ro, 0, u32::MAX),
];

const PIN: u32 = 0x00;
const DAT: u32 = 0x10;
const IM: u32 = 0x20;
const PE: u32 = 0x30;
const FUN: u32 = 0x40;
const SEL: u32 = 0x50;
const DIR: u32 = 0x60;
const TRG: u32 = 0x70;
const FLG: u32 = 0x80;
/// Distance from a register to the one that sets its bits, and to the one that clears them.
const SET: u32 = 0x4;
const CLEAR: u32 = 0x8;
/// The part of an offset that selects the register; the rest selects the kind of write.
const REGISTER: u32 = 0xf0;
const WRITE_KIND: u32 = 0x0f;

/// The port.
#[derive(Debug, State)]
pub struct Gpio {
    clock: ClockInput,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    dat: u32,
    im: u32,
    pe: u32,
    fun: u32,
    sel: u32,
    dir: u32,
    trg: u32,
    flg: u32,
    irq_level: bool,
    /// True if a wire may change before the next access, without an event.
    moving: bool,
    /// The number of changes that may affect an answer.
    changes: u64,
    reads: u64,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::port(&["ingenic,jz4740-gpio"], 1, from_node).naming(REGISTERS);

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
        Gpio {
            clock: clock.into(),
            interrupt,
            dat: 0,
            im: u32::MAX,
            pe: 0,
            fun: 0,
            sel: 0,
            dir: 0,
            trg: 0,
            flg: 0,
            irq_level: false,
            moving: false,
            changes: 0,
            reads: 0,
            writes: 0,
        }
    }

    /// Pins that are interrupt sources.
    const fn sources(&self) -> u32 {
        !self.fun & self.sel
    }

    fn drive(&self) -> (Drive, u32) {
        (Drive { enables: !self.fun & !self.sel & self.dir, levels: self.dat }, !self.pe)
    }

    fn register(&mut self, offset: u32, ctx: &mut Ctx) -> u32 {
        match offset {
            PIN => {
                let levels = ctx.bus.sample_port(ctx.id, ctx.now);
                self.moving = ctx.bus.wires.is_moving(ctx.id);
                levels
            }
            FLG => self.flg,
            _ => self.held(offset).map_or(0, |held| *held),
        }
    }

    /// The register at `offset`, if other registers set and clear its bits.
    fn held(&mut self, offset: u32) -> Option<&mut u32> {
        Some(match offset {
            DAT => &mut self.dat,
            IM => &mut self.im,
            PE => &mut self.pe,
            FUN => &mut self.fun,
            SEL => &mut self.sel,
            DIR => &mut self.dir,
            TRG => &mut self.trg,
            _ => return None,
        })
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        if offset == DAT | SET {
            self.flg &= !(value & self.sources());
        }
        match (self.held(offset & REGISTER), offset & WRITE_KIND) {
            (Some(held), SET) if offset <= FLG => *held |= value,
            (Some(held), CLEAR) if offset <= FLG => *held &= !value,
            _ => ctx.note(&format!("a write to offset {offset:#x}, where no register to write is, has no effect")),
        }
    }

    /// Updates the flags of interrupt sources and the interrupt line from the wires.
    fn look(&mut self, ctx: &mut Ctx) {
        let (rose, fell) = ctx.bus.wires.take_edges(ctx.id);
        let levels = ctx.bus.wires.levels(ctx.id);
        let edges = rose & self.dir | fell & !self.dir;
        let active = !(levels ^ self.dir);
        self.flg |= self.sources() & (edges & self.trg | active & !self.trg);
        let level = self.flg & !self.im != 0;
        if level != self.irq_level {
            self.irq_level = level;
            ctx.set_irq(self.interrupt, level);
        }
    }
}

impl Device for Gpio {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.reads += 1;
        let value = self.register(offset & !3, ctx);
        self.look(ctx);
        Ok(apb::read(value, offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.writes += 1;
        let (offset, value) = apb::written(value, offset, size);
        let before = self.drive();
        self.set_register(offset, value, ctx);
        let (drive, pull_ups) = self.drive();
        if (drive, pull_ups) != before {
            ctx.bus.drive_port(ctx.id, drive, pull_ups, ctx.now);
        }
        self.look(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn pins_changed(&mut self, _port: PortId, _changed: u32, _levels: u32, ctx: &mut Ctx) {
        self.changes += 1;
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

impl Polled for Gpio {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.clock.rate);
        poll.state(self.writes);
        poll.state(self.changes);
        poll.state(self.flg);
        poll.counter(&mut self.reads);
        !self.moving
    }
}

#[cfg(test)]
mod tests;
