//! `st,stm32mp15-i2c`, `st,stm32f7-i2c`, `st,stm32-i2c-v2`: the I2C interface of STM32MP1, and, the same except for
//! details, of the STM32F0, F3, F7, G, H7, L4 and others (RM0436, RM0385, RM0432, "Inter-integrated circuit (I2C)
//! interface").
//!
//! Modelled: master mode with addresses of 7 bits, NBYTES, AUTOEND, RELOAD, START, repeated START and STOP; I2C_TXDR
//! and I2C_RXDR with TXE, TXIS, RXNE, and SCL that is held low while the firmware is late; NACKF, STOPF, TC, TCR, BUSY;
//! the event and the error interrupt; the software reset by PE; filters and I2C_TIMINGR, which are locked while PE is
//! set. Bits on the bus take whole clocks of the kernel clock:
//!
//! - SCL is low for tSYNC1 + tSCLL (or tSDADEL and tSCLDEL, if they are longer) and high for tSYNC2 + tSCLH. Slopes,
//!   the analog filter's delay and the synchronisation, which make up tSYNC1 and tSYNC2, are properties.
//! - The master counts from edges that it has detected, also tSCLH from START to SCL (tHD;STA) and from SCL to STOP
//!   (tSU;STO), and tSCLL from SCL to a repeated START (tSU;STA) and from STOP to START (tBUF). The manual says which
//!   counters these are, not where they start to count.
//! - Flags are set as the edge that causes them is detected. TXIS is set as soon as I2C_TXDR has gone to the
//!   shift register and another byte is needed, so that bytes can follow each other without a gap.
//! - A write of a register acts on the bus after `cyclescope,start-cycles`.
//!
//! The interface requests DMA transfers when TXIS and RXNE are set. When the kernel clock changes, the rest of a step
//! continues at the new rate; when it stops, the bus keeps its state.
//!
//! A chip that stretches SCL releases it at a time of its own; the master continues at the next kernel clock. A master
//! that is switched off within a frame releases both lines, which chips see as a STOP.
//!
//! Not modelled: slave mode (the own addresses are stored, and no master addresses them), addresses of 10 bits (no chip
//! acknowledges their header), SMBus (PEC, alert, timeouts), wake-up from Stop, the wait states of a second write. As
//! there is one master on the bus, arbitration is never lost (ARLO) and no misplaced START occurs (BERR), so the error
//! interrupt stays low.

mod master;
mod registers;
mod timing;

#[cfg(test)]
mod tests;

use self::registers::*;
use self::timing::Delays;
use super::master::{Step, Timing};
use super::{I2c, Levels, Meanings, Version, from_rest};
use crate::prelude::*;
use engine::observe::i2c::I2C;

/// What this interface has of its own.
#[derive(Default, State, Polled)]
pub struct V2 {
    /// The components of tSYNC1 and tSYNC2.
    #[state(skip)]
    delays: Delays,
    /// The byte that waits in I2C_TXDR (TXE is 0), and the unread one in I2C_RXDR (RXNE).
    to_send: Option<u8>,
    received: Option<u8>,
    /// NACKF, STOPF, TC and TCR.
    flags: u32,
    is_busy: bool,
    /// Bytes of NBYTES that have not been acknowledged.
    left: u32,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::I2c, &["st,stm32mp15-i2c", "st,stm32f7-i2c", "st,stm32-i2c-v2"], 1, from_node)
        .with_activities(I2C)
        .naming(MAP.rows);

const MEANINGS: Meanings = Meanings {
    start: "kernel clocks from a write of a register to its effect on the bus",
    sends: "I2C_TXDR takes data",
    has_data: "I2C_RXDR has data",
    processors: 2,
};

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "interrupt-names", "resets", "wakeup-source"]);
    reader.known(&["i2c-analog-filter", "st,syscfg-fmp"]);
    let meaning = "the frequency that drivers aim for; the model uses what they write to I2C_TIMINGR";
    reader.frequency_or("clock-frequency", None, meaning);
    let delays = Delays::from_node(reader);
    let clock = reader.clock_input(0, "the kernel clock, which clocks the interface");
    from_rest(reader, clock, V2 { delays, ..V2::default() }, &MEANINGS)
}

impl I2c<V2> {
    fn is_enabled(&self) -> bool {
        self.registers.has(CR1, CR1_PE)
    }

    fn status(&self) -> u32 {
        let is_empty = self.own.to_send.is_none();
        self.own.flags
            | flag(ISR_TXE, is_empty)
            | flag(ISR_TXIS, is_empty && self.needs_data())
            | flag(ISR_RXNE, self.own.received.is_some())
            | flag(ISR_BUSY, self.own.is_busy)
    }

    fn set_cr1(&mut self, old: u32, new: u32, ctx: &mut Ctx) {
        let locked = if old & new & CR1_PE != 0 { CR1_LOCKED } else { 0 };
        if (old ^ new) & locked != 0 {
            note_locked("the filters (I2C_CR1.ANFOFF, DNF)", ctx);
        }
        if old & !new & CR1_PE != 0 {
            self.registers.set(CR1, old);
            self.software_reset(ctx);
        }
        self.registers.set(CR1, old & locked | new & !locked);
    }

    fn software_reset(&mut self, ctx: &Ctx) {
        self.abandon(self.params.clock.edge(ctx.now));
        self.registers.put(CR2, CR2_SET_ONLY, false);
    }

    fn set_cr2(&mut self, old: u32, new: u32, ctx: &mut Ctx) {
        let set = if self.is_enabled() { new & CR2_SET_ONLY } else { 0 };
        if new & CR2_START != 0 && !self.is_enabled() {
            ctx.note("START was set while the interface is off (I2C_CR1.PE): nothing is sent");
        }
        if new & (CR2_START | CR2_ADD10) == CR2_START | CR2_ADD10 {
            ctx.note("addresses of 10 bits (I2C_CR2.ADD10) are not modelled: no chip acknowledges");
        }
        if set != 0 {
            self.params.clock.is_needed(ctx);
        }
        self.registers.set(CR2, new & !CR2_SET_ONLY | old & CR2_SET_ONLY | set);
        let arrival = self.arrival(ctx);
        match self.master.step {
            Step::Idle if set & CR2_START != 0 => {
                self.pins.check_i2c(ctx);
                self.order_start(arrival);
            }
            Step::Idle => self.registers.put(CR2, CR2_STOP, false),
            Step::HeldForCommand | Step::HeldForData if set & CR2_STOP != 0 => self.order(Step::StopOrdered, arrival),
            Step::HeldForCommand if self.own.flags & ISR_TCR != 0 && self.nbytes() > 0 => self.reload(arrival),
            Step::HeldForCommand if self.own.flags & ISR_TC != 0 && set & CR2_START != 0 => {
                self.order(Step::Restart, arrival);
            }
            _ => {}
        }
    }

    /// The firmware has done what the master waits for.
    fn order(&mut self, step: Step, arrival: u64) {
        self.own.flags &= !(ISR_TC | ISR_TCR);
        self.master.go(step, arrival);
    }

    fn send(&mut self, old: u32, new: u32, ctx: &mut Ctx) {
        if self.own.to_send.is_some() {
            ctx.note("I2C_TXDR was written while TXE is 0, which has no effect: the byte is lost");
            self.registers.set(TXDR, old);
            return;
        }
        self.own.to_send = Some(new as u8);
        if self.master.step == Step::HeldForData {
            self.order(Step::Byte, self.arrival(ctx));
        }
    }

    fn take_received(&mut self, ctx: &Ctx) {
        if self.own.received.take().is_some() && self.master.step == Step::HeldForRead {
            self.order(Step::BitsSeen, self.arrival(ctx));
        }
    }
}

fn note_locked(what: &str, ctx: &mut Ctx) {
    ctx.note(&format!("{what} was written while PE is set, which locks it: it keeps its value"));
}

impl Version for V2 {
    const MAP: &'static Map = &MAP;
    const RECEIVED: u32 = RXDR;

    fn levels(i2c: &I2c<V2>) -> Levels {
        let (status, cr1) = (i2c.status(), i2c.registers[CR1]);
        let on = |(enable, flags): (u32, u32)| cr1 & enable != 0 && status & flags != 0;
        Levels {
            event: ENABLES.into_iter().any(on),
            error: false,
            dma: [on((CR1_TXDMAEN, ISR_TXIS)), on((CR1_RXDMAEN, ISR_RXNE))],
        }
    }

    fn timing(i2c: &I2c<V2>) -> Timing {
        i2c.own.delays.timing(i2c.registers[TIMINGR], i2c.registers[CR1], i2c.params.clock.rate())
    }

    fn take_step(i2c: &mut I2c<V2>, at: u64) {
        i2c.take_step(at, V2::timing(i2c));
    }

    fn shown(i2c: &mut I2c<V2>, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            ISR => i2c.status(),
            RXDR => {
                i2c.take_received(ctx);
                held
            }
            _ => held,
        }
    }

    fn wrote(i2c: &mut I2c<V2>, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            CR1 => i2c.set_cr1(old, new, ctx),
            CR2 => i2c.set_cr2(old, new, ctx),
            TIMINGR if i2c.is_enabled() && new != old => {
                note_locked("I2C_TIMINGR", ctx);
                i2c.registers.set(TIMINGR, old);
            }
            // Writing 1 to TXE empties I2C_TXDR.
            ISR if new & ISR_TXE != 0 => i2c.own.to_send = None,
            ICR => {
                i2c.own.flags &= !(new & (ISR_NACKF | ISR_STOPF));
                if new & ICR_ADDRCF != 0 {
                    i2c.registers.put(CR2, CR2_START, false);
                }
            }
            TXDR => i2c.send(old, new, ctx),
            _ => {}
        }
    }

    fn unmodelled(register: u32) -> &'static str {
        if register == CR1 {
            return "a mode that is not modelled was enabled (I2C_CR1: slave mode, SMBus): the interface works \
                    without it";
        }
        "timeouts (I2C_TIMEOUTR) are not modelled: none is detected"
    }

    fn reset_registers(i2c: &mut I2c<V2>, ctx: &mut Ctx) {
        i2c.software_reset(ctx);
        i2c.registers.reset();
    }
}
