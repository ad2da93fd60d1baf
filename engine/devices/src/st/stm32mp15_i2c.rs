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
mod recording;
mod registers;
mod timing;

#[cfg(test)]
mod tests;

pub use self::registers::REGISTERS;
pub use self::timing::Delays;

use self::master::{Master, Step};
use self::registers::*;
use crate::model::{Group, Model};
use crate::support::dma_lines::DmaLine;
use crate::support::i2c_chips::{I2cChips, MASTER_EVENT};
use crate::support::kernel_clock::KernelClock;
use crate::support::pin_functions::{I2C_SIGNALS, PinFunctions};
use crate::support::registers::{find, flag};
use crate::support::stm32_clock_gate::ClockGate;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, PortId, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::observe::i2c::I2C;
use engine::observe::i2c::I2cSignals;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::Cycles;

/// The token of the event that updates the DMA requests.
const DMA_ACTIVITIES: u32 = MASTER_EVENT + 1;

/// The board's parameters of the device.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// i2c_ker_ck.
    pub kernel_clock: KernelClock,
    /// The components of tSYNC1 and tSYNC2.
    #[state(skip)]
    pub delays: Delays,
    /// Cycles from a write of a register to its effect on the bus.
    #[state(skip)]
    pub start_cycles: Cycles,
    /// The event interrupt, to two processors that have an interrupt controller each.
    #[state(skip)]
    pub event: [Option<IrqLine>; 2],
    /// The error interrupt, to both processors.
    #[state(skip)]
    pub error: [Option<IrqLine>; 2],
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
    /// I2C_CR1, I2C_CR2, and registers that keep written values.
    control: u32,
    command: u32,
    own_addresses: [u32; 2],
    timing: u32,
    timeouts: u32,
    /// The value last written to I2C_TXDR, and whether it still waits there (TXE is 0).
    transmit_data: u8,
    to_send: Option<u8>,
    /// The value last received in I2C_RXDR, and whether it is unread (RXNE).
    receive_data: u8,
    received: Option<u8>,
    /// NACKF, STOPF, TC and TCR.
    flags: u32,
    is_busy: bool,
    master: Master,
    /// Requests: transmit, receive.
    dma: [DmaLine; 2],
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::I2c, &["st,stm32mp15-i2c", "st,stm32f7-i2c", "st,stm32-i2c-v2"], 1, from_node)
        .with_activities(I2C)
        .naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "interrupt-names", "resets", "wakeup-source"]);
    reader.known(&["i2c-analog-filter", "st,syscfg-fmp"]);
    reader.frequency_or(
        "clock-frequency",
        None,
        "the frequency that drivers aim for; the model uses what they write to I2C_TIMINGR",
    );
    let delays = Delays {
        rising: reader.timing_ps("i2c-scl-rising-time-ns", "the rise time of SCL"),
        falling: reader.timing_ps("i2c-scl-falling-time-ns", "the fall time of SCL"),
        analog_filter: reader.timing_ps("cyclescope,analog-filter-ns", "the delay of the analog filter"),
        synchronisation: reader.timing_cycles(
            "cyclescope,synchronisation-cycles",
            "kernel clocks, counted from the first that samples an edge",
        ),
    };
    let params = Params {
        kernel_clock: KernelClock::new(reader.clock_input(0, "the kernel clock, which clocks the interface")),
        delays,
        start_cycles: reader.timing_cycles(
            "cyclescope,start-cycles",
            "kernel clocks from a write of a register to its effect on the bus",
        ),
        event: [
            reader.interrupt(0, "its event interrupt"),
            reader.interrupt(2, "its event interrupt, to another processor"),
        ],
        error: [
            reader.interrupt(1, "its error interrupt"),
            reader.interrupt(3, "its error interrupt, to another processor"),
        ],
        gate: ClockGate::from_node(reader),
    };
    let dma = [
        DmaLine::from_node(reader, "tx", "I2C_TXDR takes data"),
        DmaLine::from_node(reader, "rx", "I2C_RXDR has data"),
    ];
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
            command: 0,
            own_addresses: [0; 2],
            timing: 0,
            timeouts: 0,
            transmit_data: 0,
            to_send: None,
            receive_data: 0,
            received: None,
            flags: 0,
            is_busy: false,
            master: Master::default(),
            dma,
            alarm: Alarm::default(),
        }
    }

    const fn is_enabled(&self) -> bool {
        self.control & CR1_PE != 0
    }

    /// The cycle in which the effect of a write or read at this time appears on the bus.
    fn arrival(&self, ctx: &Ctx) -> u64 {
        self.params.kernel_clock.next_edge(ctx.now) + self.params.start_cycles.0
    }

    const fn status(&self) -> u32 {
        let is_empty = self.to_send.is_none();
        self.flags
            | flag(ISR_TXE, is_empty)
            | flag(ISR_TXIS, is_empty && self.master.needs_data())
            | flag(ISR_RXNE, self.received.is_some())
            | flag(ISR_BUSY, self.is_busy)
    }

    /// Drives the interrupt lines, lets the chips drive theirs, and schedules an event for the master's next step.
    fn update(&mut self, ctx: &mut Ctx) {
        let cr1 = self.control;
        let enabled = flag(ISR_TXIS, cr1 & CR1_TXIE != 0)
            | flag(ISR_RXNE, cr1 & CR1_RXIE != 0)
            | flag(ISR_NACKF, cr1 & CR1_NACKIE != 0)
            | flag(ISR_STOPF, cr1 & CR1_STOPIE != 0)
            | flag(ISR_TC | ISR_TCR, cr1 & CR1_TCIE != 0);
        let event = self.status() & enabled != 0;
        for line in self.params.event {
            ctx.set_irq(line, event);
        }
        let status = self.status();
        self.dma[0].set(cr1 & CR1_TXDMAEN != 0 && status & ISR_TXIS != 0, DMA_ACTIVITIES, ctx);
        self.dma[1].set(cr1 & CR1_RXDMAEN != 0 && status & ISR_RXNE != 0, DMA_ACTIVITIES, ctx);
        self.chips.settle(ctx);
        match self.master.next().and_then(|next| self.params.kernel_clock.due(next)) {
            Some(due) => self.alarm.set(due, MASTER_EVENT, ctx),
            None => self.alarm.cancel(MASTER_EVENT, ctx),
        }
    }

    fn set_cr1(&mut self, value: u32, ctx: &mut Ctx) {
        let before = self.control;
        let locked = if before & value & CR1_PE != 0 { CR1_LOCKED } else { 0 };
        if (before ^ value) & locked != 0 {
            note_locked("the filters (I2C_CR1.ANFOFF, DNF)", ctx);
        }
        if value & CR1_UNMODELLED != 0 {
            ctx.note(
                "a mode that is not modelled was enabled (I2C_CR1: slave mode, SMBus): the interface works without it",
            );
        }
        let value = before & locked | value & !locked;
        if before & !value & CR1_PE != 0 {
            self.software_reset(ctx);
        }
        self.control = value;
    }

    fn software_reset(&mut self, ctx: &mut Ctx) {
        let cycle = self.params.kernel_clock.edge(ctx.now);
        self.abandon(cycle);
        self.command &= !CR2_SET_ONLY;
        (self.to_send, self.received, self.flags, self.is_busy) = (None, None, 0, false);
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.software_reset(ctx);
        (self.control, self.command, self.own_addresses) = (0, 0, [0; 2]);
        (self.timing, self.timeouts, self.transmit_data, self.receive_data) = (0, 0, 0, 0);
        self.update(ctx);
    }

    fn set_cr2(&mut self, value: u32, ctx: &mut Ctx) {
        let set = if self.is_enabled() { value & CR2_SET_ONLY } else { 0 };
        if value & CR2_START != 0 && !self.is_enabled() {
            ctx.note("START was set while the interface is off (I2C_CR1.PE): nothing is sent");
        }
        if value & (CR2_START | CR2_ADD10) == CR2_START | CR2_ADD10 {
            ctx.note("addresses of 10 bits (I2C_CR2.ADD10) are not modelled: no chip acknowledges");
        }
        if set != 0 {
            self.params.kernel_clock.is_needed(ctx);
        }
        self.command = value & !CR2_SET_ONLY | self.command & CR2_SET_ONLY | set;
        let arrival = self.arrival(ctx);
        match self.master.step {
            Step::Idle if set & CR2_START != 0 => {
                self.pins.check_i2c(ctx);
                self.order_start(arrival);
            }
            Step::Idle => self.command &= !CR2_STOP,
            Step::HeldForCommand | Step::HeldForData if set & CR2_STOP != 0 => self.order(Step::StopOrdered, arrival),
            Step::HeldForCommand if self.flags & ISR_TCR != 0 && self.nbytes() > 0 => self.reload(arrival),
            Step::HeldForCommand if self.flags & ISR_TC != 0 && set & CR2_START != 0 => {
                self.order(Step::Restart, arrival);
            }
            _ => {}
        }
    }

    /// The firmware has done what the master waits for.
    fn order(&mut self, step: Step, arrival: u64) {
        self.flags &= !(ISR_TC | ISR_TCR);
        (self.master.step, self.master.at) = (step, arrival);
    }

    fn send(&mut self, value: u8, ctx: &mut Ctx) {
        if self.to_send.is_some() {
            ctx.note("I2C_TXDR was written while TXE is 0, which has no effect: the byte is lost");
            return;
        }
        (self.transmit_data, self.to_send) = (value, Some(value));
        if self.master.step == Step::HeldForData {
            let arrival = self.arrival(ctx);
            self.order(Step::Byte, arrival);
        }
    }

    fn take_received(&mut self, ctx: &Ctx) {
        if self.received.take().is_some() && self.master.step == Step::HeldForRead {
            let arrival = self.arrival(ctx);
            self.order(Step::BitsSeen, arrival);
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let value = find(REGISTERS, offset).map_or(0, |row| value & row.mask);
        match offset {
            CR1 => self.set_cr1(value, ctx),
            CR2 => self.set_cr2(value, ctx),
            OAR1 | OAR2 => self.own_addresses[usize::from(offset == OAR2)] = value,
            TIMINGR if self.is_enabled() && value != self.timing => note_locked("I2C_TIMINGR", ctx),
            TIMINGR => self.timing = value,
            TIMEOUTR => {
                self.timeouts = value;
                if value & TIMEOUTR_ENABLES != 0 {
                    ctx.note("timeouts (I2C_TIMEOUTR) are not modelled: none is detected");
                }
            }
            // Writing 1 to TXE empties I2C_TXDR.
            ISR if value & ISR_TXE != 0 => self.to_send = None,
            ICR => {
                self.flags &= !(value & ICR_FLAGS);
                if value & ICR_ADDRCF != 0 {
                    self.command &= !CR2_START;
                }
            }
            TXDR => self.send(value as u8, ctx),
            _ => {}
        }
    }

    fn register(&mut self, offset: u32, ctx: &Ctx) -> u32 {
        match offset {
            CR1 => self.control,
            CR2 => self.command,
            OAR1 => self.own_addresses[0],
            OAR2 => self.own_addresses[1],
            TIMINGR => self.timing,
            TIMEOUTR => self.timeouts,
            ISR => self.status(),
            RXDR => {
                self.take_received(ctx);
                self.receive_data.into()
            }
            TXDR => self.transmit_data.into(),
            _ => 0,
        }
    }
}

fn note_locked(what: &str, ctx: &mut Ctx) {
    ctx.note(&format!("{what} was written while PE is set, which locks it: it keeps its value"));
}

impl Device for I2c {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == RXDR
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
        let (before, now) = self.params.kernel_clock.follow(ctx);
        self.master.move_by(before, now);
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
            if next <= self.params.kernel_clock.edge(poll.now()) {
                return false;
            }
            if let Some(due) = self.params.kernel_clock.due(next) {
                poll.until(due);
            }
        }
        let data = u32::from(self.transmit_data) << 8 | u32::from(self.receive_data);
        let [own1, own2] = self.own_addresses;
        for register in [self.control, self.command, own1, own2, self.timing, self.timeouts, self.status(), data] {
            poll.state(register);
        }
        self.master.state(|word| poll.state(word));
        true
    }
}
