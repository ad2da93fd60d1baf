//! `st,stm32f4-bxcan` (Linux) and `st,stm32-bxcan` (Zephyr): the CAN controllers of STM32, bxCAN (RM0090 and RM0432,
//! "Controller area network (bxCAN)"). Filters have a node of their own (`st,gcan`), which CAN1 and CAN2 of an STM32F4
//! share; the wire is the bus that `cyclescope,can-bus` names.
//!
//! Modelled: initialization, normal and sleep mode, each with its request and acknowledge, and with the 11 recessive
//! bits before a node joins the bus; bit times from PCLK1 by CAN_BTR; loop back, silent, and both; three mailboxes, by
//! identifier or in order (TXFP), with aborts, NART, and the results of each attempt; two FIFOs with overrun (RFLM);
//! error counters, error-passive, bus-off and recovery by 128 times 11 recessive bits (ABOM, or software's sequence
//! through initialization); wake-up by the bus (AWUM); the time stamp of TTCM; all four interrupts. A received frame is
//! available at the sample point of the last but one bit of its end of frame, a sent one is complete at the sample
//! point of the last bit.
//!
//! A frame that no other node acknowledges is repeated forever, error-passive from the sixteenth attempt on, as on a
//! board.
//!
//! TX and RX need their pins (`devices/support/pin_functions.rs`). If one is missing, the controller does not see its
//! own start of frame, and is soon bus-off; without RX it receives no frames, either. A note says so. RX without a pin
//! is assumed to be recessive, so the controller still leaves initialization; the manual does not specify it. Loop back
//! mode ignores RX, silent mode does not need TX. A change of the pins during a frame takes effect at the next one.
//!
//! Not modelled: RX and SAMP, which are always recessive; loop back without silent mode waits for other nodes on the
//! bus, which the chip ignores; a controller that loses its clock in the middle of a frame; debug freeze (DBF). The
//! model assumes that there is a transceiver.

mod errors;
mod mailboxes;
mod modes;
mod registers;

#[cfg(test)]
mod tests;

pub use self::registers::REGISTERS;

use self::errors::Errors;
use self::mailboxes::{Fifo, Mailboxes, Request};
use self::modes::Mode;
use self::registers::*;
use crate::model::{Group, Model};
use crate::support::pin_functions::PinFunctions;
use crate::support::registers::{find, flag};
use crate::support::stm32_clock_gate::ClockGate;
use engine::bus::can::{BUS_LOOKS, CanNode};
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, DeviceId, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Ps};
use engine::wire::can::BitTime;

/// The token of the event at which a request for another mode is acknowledged.
const MODE_CHANGES: u32 = 0;

/// Indices of the signals at pins.
const TX: usize = 0;
const RX: usize = 1;

/// The board's parameters of the controller.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// PCLK1.
    pub clock: ClockInput,
    /// Interrupts of mailboxes, of FIFO 0, of FIFO 1, of status changes and errors.
    #[state(skip)]
    pub interrupts: [Option<IrqLine>; 4],
    /// The CAN bus.
    #[state(skip)]
    pub bus: Option<DeviceId>,
    /// The device with the filters.
    #[state(skip)]
    pub filters: Option<DeviceId>,
    /// True for the second of two controllers that share the filters.
    #[state(skip)]
    pub is_second: bool,
    /// Cycles from a request for a mode to its acknowledge.
    #[state(skip)]
    pub mode_cycles: Cycles,
    /// Its clock enable bit in the RCC.
    #[state(skip)]
    pub gate: ClockGate,
    /// The clock enable bit of the memory of its mailboxes, which belongs to the first controller.
    #[state(skip)]
    pub memory_gate: ClockGate,
}

/// The controller.
#[derive(Debug, State)]
pub struct BxCan {
    params: Params,
    /// The pins that carry [`TX`] and [`RX`], and whether they did when the last frame began.
    pins: PinFunctions,
    carried: [bool; 2],
    /// CAN_MCR, CAN_IER, CAN_BTR.
    control: u32,
    enables: u32,
    timing: u32,
    /// ERRI, WKUI, SLAKI.
    flags: u32,
    mode: Mode,
    /// The controller waits for 11 recessive bits before it enters normal mode.
    is_joining: bool,
    /// The controller is bus-off, and has passed through initialization.
    recovers: bool,
    /// A frame of this controller is on the wire, and whether it sends or receives it.
    is_busy: bool,
    sends: bool,
    mailboxes: Mailboxes,
    fifos: [Fifo; 2],
    errors: Errors,
    /// The start of the time stamp's counter, and the time stamp at the start of the last frame.
    counts_from: Ps,
    stamp: u16,
    levels: [bool; 4],
    alarm: Alarm,
    changes: u64,
    sent_frames: u64,
    received_frames: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Can, &["st,stm32f4-bxcan", "st,stm32-bxcan"], 1, from_node).naming(REGISTERS);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "interrupt-names", "resets"]);
    reader.flag("st,can-primary", "the first of two controllers that share the filters; without effect");
    let memory = "likewise, the clock enable bit of its mailboxes' memory, if that belongs to another controller";
    let params = Params {
        clock: reader.clock_input(0, "PCLK1, from which time quanta are divided"),
        interrupts: [
            reader.interrupt(0, "its transmit interrupt"),
            reader.interrupt(1, "its FIFO 0 interrupt"),
            reader.interrupt(2, "its FIFO 1 interrupt"),
            reader.interrupt(3, "its status change and error interrupt"),
        ],
        bus: reader.device("cyclescope,can-bus", "cyclescope,can-bus", "its CAN bus"),
        filters: reader.device("st,gcan", "st,stm32f4-gcan", "its filters"),
        is_second: reader.flag("st,can-secondary", "the second of two controllers that share the filters"),
        mode_cycles: reader
            .timing_cycles("cyclescope,mode-cycles", "from the request for a mode to its acknowledge, on an idle bus"),
        gate: ClockGate::from_node(reader),
        memory_gate: ClockGate::named("cyclescope,memory-clock-enable", memory, reader),
    };
    let pins = PinFunctions::from_node(reader, &["tx", "rx"]);
    Box::new(BxCan { pins, ..BxCan::new(params) })
}

impl BxCan {
    /// The controller after reset, in sleep mode.
    pub fn new(params: Params) -> BxCan {
        BxCan {
            params,
            pins: PinFunctions::default(),
            carried: [true; 2],
            control: MCR_SLEEP | MCR_DBF,
            enables: 0,
            timing: BTR_RESET,
            flags: 0,
            mode: Mode::Sleep,
            is_joining: false,
            recovers: false,
            is_busy: false,
            sends: false,
            mailboxes: Mailboxes::default(),
            fifos: [Fifo::default(); 2],
            errors: Errors::default(),
            counts_from: Ps::ZERO,
            stamp: 0,
            levels: [false; 4],
            alarm: Alarm::default(),
            changes: 0,
            sent_frames: 0,
            received_frames: 0,
        }
    }

    const fn has(&self, bit: u32) -> bool {
        self.control & bit != 0
    }

    /// The bit time by CAN_BTR.
    fn bit_time(&self) -> BitTime {
        BitTime {
            clock: self.params.clock.rate,
            quantum_cycles: (self.timing & 0x3ff) + 1,
            before_sample: (self.timing >> 16 & 0xf) + 1,
            after_sample: (self.timing >> 20 & 7) + 1,
            jump: (self.timing >> 24 & 3) + 1,
        }
    }

    /// The time stamp: bits since the controller joined the bus, as TTCM counts them.
    fn stamp_at(&self, now: Ps) -> u16 {
        let time = self.bit_time();
        let passed = time.clock.cycles_until_floor(now.saturating_sub(self.counts_from)).0;
        if self.has(MCR_TTCM) { (passed / time.cycles()) as u16 } else { 0 }
    }

    /// Notifies the bus that the controller may have a frame to send or a mode to change.
    fn notify_bus(&self, ctx: &mut Ctx) {
        if let Some(bus) = self.params.bus {
            ctx.schedule_for(bus, BUS_LOOKS);
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        match offset {
            MCR if value & MCR_RESET != 0 => self.reset_core(),
            MCR => {
                self.control = value & MCR_MASK;
                self.request_mode(ctx);
            }
            // Write 1 to clear.
            MSR => self.flags &= !value,
            TSR => self.set_status(value),
            RF0R | RF1R => {
                let fifo = &mut self.fifos[((offset - RF0R) / 4) as usize];
                fifo.flags &= !value;
                if value & RFR_RFOM != 0 {
                    fifo.release();
                }
            }
            IER => self.enables = value & IER_MASK,
            ESR => self.errors.last = value >> ESR_LEC & 7,
            BTR if self.mode == Mode::Initialization => self.timing = value & BTR_MASK,
            BTR => {
                ctx.note("CAN_BTR was written outside of initialization mode (CAN_MSR.INAK): the write has no effect")
            }
            TI0R..=TDH2R => self.set_mailbox(offset, value, ctx),
            _ => {}
        }
        self.notify_bus(ctx);
    }

    /// CAN_TSR: RQCP also clears the other status bits of its mailbox.
    fn set_status(&mut self, value: u32) {
        for (index, mailbox) in self.mailboxes.all.iter_mut().enumerate() {
            let bits = value >> (8 * index);
            let all = bits & TSR_RQCP != 0;
            mailbox.status &= if all { 0 } else { !(bits & (TSR_TXOK | TSR_ALST | TSR_TERR)) };
        }
        for index in 0..3 {
            if value >> (8 * index) & TSR_ABRQ != 0 {
                self.mailboxes.abort(index);
            }
        }
    }

    fn set_mailbox(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let (index, word) = (((offset - TI0R) / 16) as usize, (offset / 4 % 4) as usize);
        let Some(mailbox) = self.mailboxes.all.get_mut(index) else { return };
        if mailbox.request != Request::None {
            ctx.note("a transmit mailbox was written while it is not empty (CAN_TSR.TME): the write has no effect");
            return;
        }
        let mask = find(REGISTERS, offset).map_or(u32::MAX, |row| row.mask);
        mailbox.words[word] = value & mask & if word == 0 { !TIR_TXRQ } else { u32::MAX };
        if word == 0 && value & TIR_TXRQ != 0 {
            self.mailboxes.request(index);
            self.has_memory(ctx);
        }
    }

    /// True if its mailboxes have their clock; otherwise adds a note.
    fn has_memory(&self, ctx: &mut Ctx) -> bool {
        let has = self.params.memory_gate.state(ctx.bus);
        if !has {
            ctx.note(
                "the mailboxes are in the other controller's memory, whose clock is off: nothing is sent or received",
            );
        }
        has
    }

    fn register(&self, offset: u32) -> u32 {
        match offset {
            MCR => self.control,
            MSR => {
                let (is_asleep, initializes) = (self.mode == Mode::Sleep, self.mode == Mode::Initialization);
                let modes = flag(MSR_SLAK, is_asleep) | flag(MSR_INAK, initializes);
                let (sends, receives) = (self.is_busy && self.sends, self.is_busy && !self.sends);
                self.flags | modes | flag(MSR_TXM, sends) | flag(MSR_RXM, receives) | MSR_SAMP_RX
            }
            TSR => self.mailboxes.status(self.has(MCR_TXFP)),
            RF0R => self.fifos[0].status(),
            RF1R => self.fifos[1].status(),
            IER => self.enables,
            ESR => self.errors.status(),
            BTR => self.timing,
            TI0R..=TDH2R => {
                let (index, word) = (((offset - TI0R) / 16) as usize, (offset / 4 % 4) as usize);
                let mailbox = &self.mailboxes.all[index % 3];
                mailbox.words[word] | flag(TIR_TXRQ, word == 0 && mailbox.request != Request::None)
            }
            RI0R..=RDH1R => self.fifos[((offset - RI0R) / 16) as usize % 2].word((offset / 4 % 4) as usize),
            _ => 0,
        }
    }

    /// CAN_ESR may have changed: a new bit that is enabled sets ERRI.
    fn report_errors(&mut self, before: u32, has_failed: bool) {
        let new = self.errors.status() & !before;
        let kinds = [(ESR_EWGF, IER_EWGIE), (ESR_EPVF, IER_EPVIE), (ESR_BOFF, IER_BOFIE)];
        let is_reported = kinds.iter().any(|(bit, enable)| new & bit != 0 && self.enables & enable != 0);
        if is_reported || has_failed && self.enables & IER_LECIE != 0 {
            self.flags |= MSR_ERRI;
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.changes += 1;
        let has = |enable: u32| self.enables & enable != 0;
        let levels = [
            has(IER_TMEIE) && self.mailboxes.all.iter().any(|mailbox| mailbox.status & TSR_RQCP != 0),
            self.fifos[0].interrupts(self.enables),
            self.fifos[1].interrupts(self.enables >> 3),
            [(IER_ERRIE, MSR_ERRI), (IER_WKUIE, MSR_WKUI), (IER_SLKIE, MSR_SLAKI)]
                .iter()
                .any(|(enable, bit)| has(*enable) && self.flags & bit != 0),
        ];
        for (index, level) in levels.into_iter().enumerate() {
            if std::mem::replace(&mut self.levels[index], level) != level {
                ctx.set_irq(self.params.interrupts[index], level);
            }
        }
    }

    /// A reset by CAN_MCR.RESET, or by the RCC.
    fn reset_core(&mut self) {
        let fresh = BxCan::new(self.params);
        let kept = std::mem::replace(self, fresh);
        (self.levels, self.alarm, self.changes) = (kept.levels, kept.alarm, kept.changes);
        (self.sent_frames, self.received_frames) = (kept.sent_frames, kept.received_frames);
        (self.pins, self.carried) = (kept.pins, kept.carried);
    }
}

impl Device for BxCan {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        self.params.memory_gate.follow(ctx);
        self.pins.follow(ctx);
        let Some(bus) = self.params.bus else { return };
        let label = ctx.label().to_owned();
        let signals = ["tx", "rx"].map(|name| ctx.bus.waves.signal(&label, name, true));
        let id = ctx.id;
        ctx.bus.with_device(bus, ctx.now, |device, _| {
            if let Some(bus) = device.can_bus() {
                bus.join(id, signals);
            }
        });
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.params.gate.read(offset, size, ctx, |offset, _| self.register(offset))
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
            self.set_register(offset, value, ctx);
            self.update(ctx);
        })
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.change_mode(ctx);
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.params.clock.rate = ctx.bus.clocks.rate_of(self.params.clock);
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_core();
            self.alarm.cancel(MODE_CHANGES, ctx);
        }
        self.update(ctx);
        self.notify_bus(ctx);
    }

    fn pins_switched(&mut self, ctx: &mut Ctx) {
        if self.pins.look(ctx) {
            self.notify_bus(ctx);
        }
    }

    fn can_node(&mut self) -> Option<&mut dyn CanNode> {
        Some(self)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("frames_sent".to_owned(), self.sent_frames), ("frames_received".to_owned(), self.received_frames)]
    }
}

impl Polled for BxCan {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        // All changes happen in writes or events.
        poll.state(self.changes);
        true
    }
}
