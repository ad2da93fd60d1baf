//! `st,stm32-i2c-v1`: the I2C interface of STM32F4 (`st,stm32f4-i2c`), F1, F2 and L1 (RM0090, "Inter-integrated circuit
//! (I2C) interface"), as a master.
//!
//! Modelled: master mode with addresses of 7 bits: START, SB, ADDR, TXE, RXNE, BTF, AF and the sequences that clear
//! them; repeated START and STOP; ACK and POS; SCL that is held low while the firmware is late; standard and fast mode
//! with both duty cycles (I2C_CCR, in cycles of PCLK1); the event and the error interrupt; DMA requests; the reset by
//! PE and SWRST. A rising edge of SCL of up to I2C_TRISE cycles is part of the clock's high time; a longer one
//! lengthens the high time.
//!
//! At START and STOP, SCL is high for the high time of a clock before and after the edge of SDA. SB is set as SCL falls
//! after START; ADDR, TXE, RXNE and BTF as SCL falls after the acknowledge clock. A register acts on the bus
//! `cyclescope,start-cycles` after its write. A chip that stretches SCL releases it at a time of its own.
//!
//! Not modelled: slave mode (the own addresses are stored, and no master addresses them), addresses of 10 bits (no chip
//! acknowledges their header), SMBus and PEC (a note), LAST (a note: firmware clears ACK), the filters. As there is one
//! master on the bus, neither ARLO nor BERR occurs.

mod master;
mod registers;

#[cfg(test)]
mod tests;

use self::registers::*;
use super::master::Timing;
use super::{I2c, Levels, Meanings, Version, from_rest};
use crate::prelude::*;
use engine::observe::i2c::I2C;

/// What this interface has of its own.
#[derive(Default, State, Polled)]
pub struct V1 {
    /// The rise time of SCL.
    #[state(skip)]
    rising: Ps,
    /// SB, ADDR, BTF and AF.
    flags: u32,
    /// I2C_SR1 was read while ADDR was set: the next read of I2C_SR2 clears ADDR.
    seen_address: bool,
    /// MSL and BUSY.
    is_master: bool,
    /// With POS: the acknowledge of the next byte.
    next_ack: bool,
    /// I2C_DR as it waits for the shift register; received data, and the byte that waits in the shift register.
    to_send: Option<u8>,
    data: Option<u8>,
    shifted: Option<u8>,
    /// The value that I2C_DR reads.
    last: u8,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::I2c, &["st,stm32-i2c-v1", "st,stm32f4-i2c"], 1, from_node)
    .with_activities(I2C)
    .naming(MAP.rows);

const MEANINGS: Meanings = Meanings {
    start: "clocks from a write of a register to its effect on the bus",
    sends: "I2C_DR takes data",
    has_data: "I2C_DR has data",
    processors: 1,
};

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "interrupt-names", "resets"]);
    let meaning = "the frequency that drivers aim for; the model uses what they write to I2C_CCR";
    reader.frequency_or("clock-frequency", None, meaning);
    let clock = reader.clock_input(0, "PCLK1, which clocks the interface");
    let rising = reader.timing_ps("i2c-scl-rising-time-ns", "the rise time of SCL");
    from_rest(reader, clock, V1 { rising, ..V1::default() }, &MEANINGS)
}

impl I2c<V1> {
    /// I2C_SR1.
    fn status(&self) -> u32 {
        let V1 { flags, to_send, data, .. } = self.own;
        let transmits = self.master.in_data && !self.master.reads && flags & SR1_AF == 0;
        flags | flag(SR1_TXE, transmits && to_send.is_none()) | flag(SR1_RXNE, data.is_some())
    }

    fn status2(&self) -> u32 {
        let is_master = self.own.is_master;
        let transmits = is_master && self.master.in_data && !self.master.reads;
        flag(SR2_MSL | SR2_BUSY, is_master) | flag(SR2_TRA, transmits)
    }

    fn set_control(&mut self, old: u32, value: u32, ctx: &mut Ctx) {
        if value & CR1_UNMODELLED != 0 {
            ctx.note("SMBus and PEC (I2C_CR1) are not modelled: the interface works without them");
        }
        if value & CR1_SWRST != 0 {
            self.software_reset(CR1_SWRST, ctx);
            return;
        }
        if value & CR1_PE == 0 {
            if value & CR1_START != 0 {
                ctx.note("START was set while the interface is off (I2C_CR1.PE): nothing is sent");
            }
            self.abandon(ctx.now);
            self.registers.put(CR1, CR1_CLEARED_WITHOUT_PE, false);
            return;
        }
        if value & !old & CR1_START != 0 {
            self.pins.check_i2c(ctx);
        }
        self.order(self.arrival(ctx));
    }

    /// All registers have their reset values, and keep them while SWRST is set.
    fn software_reset(&mut self, control: u32, ctx: &Ctx) {
        self.abandon(ctx.now);
        self.registers.reset();
        self.registers.set(CR1, control);
        (self.own.last, self.own.seen_address) = (0, false);
    }

    /// A read of I2C_DR.
    fn take_data(&mut self, ctx: &Ctx) -> u32 {
        if let Some(data) = self.own.data {
            self.own.last = data;
            self.taken(self.arrival(ctx));
        }
        self.own.last.into()
    }

    /// A read of I2C_SR2: after one of I2C_SR1 it clears ADDR.
    fn look_at_status2(&mut self, ctx: &Ctx) -> u32 {
        let status = self.status2();
        if std::mem::take(&mut self.own.seen_address) {
            self.own.flags &= !SR1_ADDR;
            self.cleared(self.arrival(ctx));
        }
        status
    }
}

impl Version for V1 {
    const MAP: &'static Map = &MAP;
    const RECEIVED: u32 = DR;

    fn levels(i2c: &I2c<V1>) -> Levels {
        let (status, enables) = (i2c.status(), i2c.registers[CR2]);
        let on = |enable: u32, flags: u32| enables & enable == enable && status & flags != 0;
        // Until ADDR is cleared there are no requests.
        let asks = status & SR1_ADDR == 0;
        Levels {
            event: on(CR2_ITEVTEN, SR1_SB | SR1_ADDR | SR1_BTF) || on(CR2_ITEVTEN | CR2_ITBUFEN, SR1_TXE | SR1_RXNE),
            error: on(CR2_ITERREN, SR1_AF),
            dma: [SR1_TXE, SR1_RXNE].map(|flag| asks && on(CR2_DMAEN, flag)),
        }
    }

    /// SCL is low and high for the times of I2C_CCR. A rising edge longer than I2C_TRISE lengthens the high time.
    fn timing(i2c: &I2c<V1>) -> Timing {
        let ccr = i2c.registers[CCR];
        let count = u64::from(ccr & CCR_COUNT).max(1);
        let (low, high) = match ccr & (CCR_FAST | CCR_DUTY) {
            CCR_FAST => (2 * count, count),
            duty if duty & CCR_FAST != 0 => (16 * count, 9 * count),
            _ => (count, count),
        };
        let rises_in = i2c.params.clock.rate().cycles_until_ceil(i2c.own.rising).0;
        let high = high + rises_in.saturating_sub(u64::from(i2c.registers[TRISE]));
        Timing { low, high, ..Timing::default() }
    }

    fn take_step(i2c: &mut I2c<V1>, at: u64) {
        i2c.take_step(at);
    }

    fn shown(i2c: &mut I2c<V1>, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            DR => i2c.take_data(ctx),
            SR1 => {
                i2c.own.seen_address = i2c.own.flags & SR1_ADDR != 0;
                i2c.status()
            }
            SR2 => i2c.look_at_status2(ctx),
            _ => held,
        }
    }

    fn wrote(i2c: &mut I2c<V1>, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        if register != CR1 && i2c.registers.has(CR1, CR1_SWRST) {
            i2c.registers.set(register, old);
            return V1::refused(i2c, ctx);
        }
        match register {
            CR1 => i2c.set_control(old, new, ctx),
            CR2 if new & CR2_LAST != 0 => {
                ctx.note("I2C_CR2.LAST is not modelled: ACK decides on the acknowledge of the last byte that DMA reads")
            }
            DR if i2c.registers.has(CR1, CR1_PE) => {
                i2c.own.last = new as u8;
                i2c.send(new as u8, i2c.arrival(ctx));
            }
            SR1 => i2c.own.flags &= new | !SR1_ERRORS,
            _ => {}
        }
    }

    fn refused(i2c: &I2c<V1>, ctx: &mut Ctx) {
        if i2c.registers.has(CR1, CR1_SWRST) {
            ctx.note("a register was written while I2C_CR1.SWRST holds all of them in reset: the write has no effect");
        }
    }

    fn reset_registers(i2c: &mut I2c<V1>, ctx: &mut Ctx) {
        i2c.software_reset(0, ctx);
    }
}
