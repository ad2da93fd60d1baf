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

pub use self::registers::REGISTERS;

use self::master::Master;
use self::registers::*;
use crate::model::{Group, Model};
use crate::support::axi_lite::edge_in_reach;
use crate::support::dma_lines::DmaLine;
use crate::support::i2c_chips::{I2cChips, MASTER_EVENT};
use crate::support::pin_functions::{I2C_SIGNALS, PinFunctions};
use crate::support::registers::{find, flag};
use crate::support::stm32_clock_gate::ClockGate;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, PortId, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::observe::i2c::I2C;
use engine::observe::i2c::I2cSignals;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Ps};

/// The token of the event that updates the DMA requests.
const DMA_ACTIVITIES: u32 = MASTER_EVENT + 1;

/// The board's parameters of the device.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// PCLK1.
    pub clock: ClockInput,
    /// The rise time of SCL.
    #[state(skip)]
    pub rising: Ps,
    /// Cycles from a write of a register to its effect on the bus.
    #[state(skip)]
    pub start_cycles: Cycles,
    /// The event and the error interrupt.
    #[state(skip)]
    pub interrupts: [Option<IrqLine>; 2],
    /// Its clock enable bit in the RCC.
    #[state(skip)]
    pub gate: ClockGate,
}

/// The device.
#[derive(State)]
pub struct I2c {
    params: Params,
    /// The pins that carry SCL and SDA.
    pins: PinFunctions,
    chips: I2cChips,
    signals: I2cSignals,
    control: u32,
    control2: u32,
    own_addresses: [u32; 2],
    ccr: u32,
    trise: u32,
    filter: u32,
    /// SB, ADDR, BTF and AF.
    flags: u32,
    /// I2C_SR1 was read while ADDR was set: the next read of I2C_SR2 clears ADDR.
    seen_address: bool,
    /// MSL and BUSY.
    is_master: bool,
    /// A chip has acknowledged its address, and the frame continues.
    in_data: bool,
    /// I2C_DR as it waits for the shift register; received data, and the byte that waits in the shift register.
    to_send: Option<u8>,
    data: Option<u8>,
    shifted: Option<u8>,
    /// The value that I2C_DR reads.
    last: u8,
    master: Master,
    /// Requests: transmit, receive.
    dma: [DmaLine; 2],
    levels: [bool; 2],
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::I2c, &["st,stm32-i2c-v1", "st,stm32f4-i2c"], 1, from_node)
    .with_activities(I2C)
    .naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "interrupt-names", "resets"]);
    reader.frequency_or(
        "clock-frequency",
        None,
        "the frequency that drivers aim for; the model uses what they write to I2C_CCR",
    );
    let params = Params {
        clock: reader.clock_input(0, "PCLK1, which clocks the interface"),
        rising: reader.timing_ps("i2c-scl-rising-time-ns", "the rise time of SCL"),
        start_cycles: reader
            .timing_cycles("cyclescope,start-cycles", "clocks from a write of a register to its effect on the bus"),
        interrupts: [reader.interrupt(0, "its event interrupt"), reader.interrupt(1, "its error interrupt")],
        gate: ClockGate::from_node(reader),
    };
    let dma =
        [DmaLine::from_node(reader, "tx", "I2C_DR takes data"), DmaLine::from_node(reader, "rx", "I2C_DR has data")];
    let chips = I2cChips::from_node(reader);
    let pins = PinFunctions::from_node(reader, I2C_SIGNALS);
    Box::new(I2c { pins, ..I2c::new(params, dma, chips) })
}

impl I2c {
    /// The device after reset, with the chips on its bus.
    pub fn new(params: Params, dma: [DmaLine; 2], chips: I2cChips) -> I2c {
        I2c {
            params,
            pins: PinFunctions::default(),
            chips,
            signals: I2cSignals::default(),
            control: 0,
            control2: 0,
            own_addresses: [0; 2],
            ccr: 0,
            trise: TRISE_RESET,
            filter: 0,
            flags: 0,
            seen_address: false,
            is_master: false,
            in_data: false,
            to_send: None,
            data: None,
            shifted: None,
            last: 0,
            master: Master::default(),
            dma,
            levels: [false; 2],
            alarm: Alarm::default(),
        }
    }

    /// The cycle in which the effect of a write or read at this time appears on the bus.
    fn arrival(&self, ctx: &Ctx) -> u64 {
        self.params.clock.rate.cycles_until_ceil(ctx.now).0 + self.params.start_cycles.0
    }

    /// I2C_SR1.
    fn status(&self) -> u32 {
        let transmits = self.in_data && !self.master.reads && self.flags & SR1_AF == 0;
        self.flags | flag(SR1_TXE, transmits && self.to_send.is_none()) | flag(SR1_RXNE, self.data.is_some())
    }

    fn status2(&self) -> u32 {
        let transmits = self.is_master && self.in_data && !self.master.reads;
        flag(SR2_MSL | SR2_BUSY, self.is_master) | flag(SR2_TRA, transmits)
    }

    fn set_control(&mut self, value: u32, ctx: &mut Ctx) {
        if value & CR1_UNMODELLED != 0 {
            ctx.note("SMBus and PEC (I2C_CR1) are not modelled: the interface works without them");
        }
        if value & CR1_SWRST != 0 {
            self.abandon(ctx.now);
            self.software_reset();
            return;
        }
        if value & CR1_PE == 0 {
            if value & CR1_START != 0 {
                ctx.note("START was set while the interface is off (I2C_CR1.PE): nothing is sent");
            }
            self.abandon(ctx.now);
            self.control = value & !CR1_CLEARED_WITHOUT_PE;
            return;
        }
        if value & !self.control & CR1_START != 0 {
            self.pins.check_i2c(ctx);
        }
        self.control = value;
        let arrival = self.arrival(ctx);
        self.order(arrival);
    }

    /// All registers have their reset values, and keep them while SWRST is set.
    fn software_reset(&mut self) {
        (self.control, self.control2, self.own_addresses) = (CR1_SWRST, 0, [0; 2]);
        (self.ccr, self.trise, self.filter) = (0, TRISE_RESET, 0);
        (self.last, self.seen_address) = (0, false);
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.abandon(ctx.now);
        self.software_reset();
        self.control = 0;
        self.update(ctx);
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        if self.control & CR1_SWRST != 0 && offset != CR1 {
            ctx.note("a register was written while I2C_CR1.SWRST holds all of them in reset: the write has no effect");
            return;
        }
        let value = find(REGISTERS, offset).map_or(0, |row| value & row.mask);
        match offset {
            CR1 => self.set_control(value, ctx),
            CR2 => {
                if value & CR2_LAST != 0 {
                    ctx.note(
                        "I2C_CR2.LAST is not modelled: ACK decides on the acknowledge of the last byte that DMA reads",
                    );
                }
                self.control2 = value;
            }
            OAR1 | OAR2 => self.own_addresses[usize::from(offset == OAR2)] = value,
            DR if self.control & CR1_PE != 0 => {
                self.last = value as u8;
                let arrival = self.arrival(ctx);
                self.send(value as u8, arrival);
            }
            SR1 => self.flags &= value | !SR1_ERRORS,
            CCR => self.ccr = value,
            TRISE => self.trise = value,
            FLTR => self.filter = value,
            _ => {}
        }
    }

    fn register(&mut self, offset: u32, ctx: &Ctx) -> u32 {
        match offset {
            CR1 => self.control,
            CR2 => self.control2,
            OAR1 => self.own_addresses[0],
            OAR2 => self.own_addresses[1],
            DR => {
                if let Some(data) = self.data {
                    self.last = data;
                    let arrival = self.arrival(ctx);
                    self.taken(arrival);
                }
                self.last.into()
            }
            SR1 => {
                self.seen_address = self.flags & SR1_ADDR != 0;
                self.status()
            }
            SR2 => {
                let status = self.status2();
                if std::mem::take(&mut self.seen_address) {
                    self.flags &= !SR1_ADDR;
                    let arrival = self.arrival(ctx);
                    self.cleared(arrival);
                }
                status
            }
            CCR => self.ccr,
            TRISE => self.trise,
            FLTR => self.filter,
            _ => 0,
        }
    }

    /// Interrupts, requests, chips, and an event at the master's next step.
    fn update(&mut self, ctx: &mut Ctx) {
        let (status, enables) = (self.status(), self.control2);
        let on = |enable: u32, flags: u32| enables & enable == enable && status & flags != 0;
        let events = on(CR2_ITEVTEN, SR1_SB | SR1_ADDR | SR1_BTF) || on(CR2_ITEVTEN | CR2_ITBUFEN, SR1_TXE | SR1_RXNE);
        for (index, level) in [events, on(CR2_ITERREN, SR1_AF)].into_iter().enumerate() {
            if std::mem::replace(&mut self.levels[index], level) != level {
                ctx.set_irq(self.params.interrupts[index], level);
            }
        }
        // Until ADDR is cleared there are no requests.
        let asks = status & SR1_ADDR == 0;
        self.dma[0].set(asks && on(CR2_DMAEN, SR1_TXE), DMA_ACTIVITIES, ctx);
        self.dma[1].set(asks && on(CR2_DMAEN, SR1_RXNE), DMA_ACTIVITIES, ctx);
        self.chips.settle(ctx);
        match self.master.next().and_then(|next| edge_in_reach(self.params.clock.rate, next)) {
            Some(due) => self.alarm.set(due, MASTER_EVENT, ctx),
            None => self.alarm.cancel(MASTER_EVENT, ctx),
        }
    }
}

impl Device for I2c {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == DR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        self.pins.follow(ctx);
        self.chips.connect(self.pins.carries_all());
        let name = ctx.label().to_owned();
        self.signals = I2cSignals::new(&ctx.bus.waves, ctx.scope(), &name);
        self.chips.start_up(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.params.gate.read(offset, size, ctx, |offset, ctx| {
            self.settle(ctx);
            let register = self.register(offset, ctx);
            self.update(ctx);
            register
        })
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.params.gate.write(offset, size, value, ctx, |offset, value, ctx| {
            self.settle(ctx);
            self.set_register(offset, value, ctx);
            self.settle(ctx);
            self.update(ctx);
        })
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == DMA_ACTIVITIES {
            self.dma.iter_mut().for_each(|line| line.event(DMA_ACTIVITIES, ctx));
            return;
        }
        if token == MASTER_EVENT {
            self.alarm.rang(ctx.now);
        }
        self.settle(ctx);
        self.chips.event(token, ctx);
        self.update(ctx);
    }

    /// The rest of a step continues at the new clock's rate.
    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        let before = self.params.clock.rate.cycles_until_floor(ctx.now).0;
        self.params.clock.rate = ctx.bus.clocks.rate_of(self.params.clock);
        self.master.move_by(before, self.params.clock.rate.cycles_until_floor(ctx.now).0);
        self.alarm.cancel(MASTER_EVENT, ctx);
        self.update(ctx);
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.settle(ctx);
        self.chips.pins_changed(port, changed, levels, ctx);
        self.update(ctx);
    }

    fn pins_switched(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        self.pins.look(ctx);
        self.chips.connect(self.pins.carries_all());
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let Master { frames, bytes, nacks, .. } = self.master;
        let own = [("frames", frames), ("bytes", bytes), ("nacks", nacks)];
        own.into_iter().map(|(name, count)| (name.to_owned(), count)).chain(self.chips.counters()).collect()
    }
}

impl Polled for I2c {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        // All changes without an access, also in the chips, happen in events.
        if let Some(next) = self.master.next() {
            if next <= self.params.clock.rate.cycles_until_floor(poll.now()).0 {
                return false;
            }
            if let Some(due) = edge_in_reach(self.params.clock.rate, next) {
                poll.until(due);
            }
        }
        let data = |byte: Option<u8>| byte.map_or(0x100, u32::from);
        let waiting = data(self.to_send) << 9 | data(self.data) << 18 | data(self.shifted);
        let [own1, own2] = self.own_addresses;
        let last = u32::from(self.last) | flag(1 << 8, self.seen_address);
        for register in [self.control, self.control2, own1, own2, self.ccr, self.trise, self.filter] {
            poll.state(register);
        }
        [self.status(), self.status2(), waiting, last].into_iter().for_each(|word| poll.state(word));
        self.master.state(|word| poll.state(word));
        true
    }
}
