//! `st,stm32f4-bxcan` (Linux) and `st,stm32-bxcan` (Zephyr): the CAN controllers of STM32, bxCAN (RM0090 and RM0432,
//! "Controller area network (bxCAN)"). Filters are a node of their own (`st,gcan`), which CAN1 and CAN2 of an STM32F4
//! share; the wire is the bus that `cyclescope,can-bus` names.
//!
//! Modelled: initialization, normal and sleep mode, each by its request and acknowledge, with the 11 recessive bits
//! that it takes to join the bus; bit times from PCLK1 by CAN_BTR; loop back, silent, and both; three mailboxes, by
//! identifier or in order (TXFP), with aborts, NART, and the results of each attempt; two FIFOs with overrun (RFLM);
//! error counters, error-passive, bus-off and recovery by 128 times 11 recessive bits (ABOM, or software's way through
//! initialization); wake-up by the bus (AWUM); the time stamp of TTCM; all four interrupts. A frame that is received
//! shows at the sample point of the last bit but one of its end, one that is sent at that of the last.
//!
//! A node that nobody acknowledges goes on for ever, error-passive from the sixteenth attempt on, as on a board.
//!
//! TX and RX need their pins (`devices/support/pin_functions.rs`). Without one the controller does not see its own
//! start of frame, and is soon bus-off; without RX no frame comes in, either. A note says so. RX without a pin is
//! recessive, which is assumed: the manual does not tell. So the controller leaves initialization all the same. Loop
//! back does not look at RX, silent mode does not need TX. A pin that comes or goes during a frame counts from the next
//! one on.
//!
//! Not modelled, and what then happens: RX and SAMP are always recessive; in loop back without silence other nodes on
//! the bus are waited for, where the controller would not look at them; a controller that loses its clock in the middle
//! of a frame; debug freeze (DBF). That a transceiver is there is taken for granted.

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
use crate::bus::can::{BUS_LOOKS, CanNode};
use crate::bus::device::{AccessSize, Alarm, Ctx, Device, DeviceId, IrqLine, Reply, SlaveError};
use crate::devices::model::{Group, Model};
use crate::devices::support::pin_functions::PinFunctions;
use crate::devices::support::registers::{find, flag};
use crate::devices::support::stm32_clock_gate::ClockGate;
use crate::dt::reader::NodeReader;
use crate::dt::wiring::ClockInput;
use crate::polling::Poll;
use crate::state::State;
use crate::time::{Cycles, Ps};
use crate::wire::can::BitTime;

/// The token of the event at which a request for another mode is acknowledged.
const MODE_CHANGES: u32 = 0;

/// Signals at pins, by their numbers.
const TX: usize = 0;
const RX: usize = 1;

/// What a board says of the controller.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// PCLK1.
    pub clock: ClockInput,
    /// Of mailboxes, of FIFO 0, of FIFO 1, of status changes and errors.
    #[state(skip)]
    pub interrupts: [Option<IrqLine>; 4],
    /// The bus.
    #[state(skip)]
    pub bus: Option<DeviceId>,
    /// The filters.
    #[state(skip)]
    pub filters: Option<DeviceId>,
    /// It is the second one of two that share them.
    #[state(skip)]
    pub is_second: bool,
    /// From a request for a mode to its acknowledge.
    #[state(skip)]
    pub mode_cycles: Cycles,
    /// Its enable bit.
    #[state(skip)]
    pub gate: ClockGate,
    /// That of the memory of its mailboxes, which is the first controller's.
    #[state(skip)]
    pub memory_gate: ClockGate,
}

/// The controller.
#[derive(Debug, State)]
pub struct BxCan {
    params: Params,
    /// Those that carry [`TX`] and [`RX`], and which did when the last frame began.
    pins: PinFunctions,
    carried: [bool; 2],
    /// CAN_MCR, CAN_IER, CAN_BTR.
    control: u32,
    enables: u32,
    timing: u32,
    /// ERRI, WKUI, SLAKI.
    flags: u32,
    mode: Mode,
    /// It waits for 11 recessive bits on its way to normal mode.
    is_joining: bool,
    /// It is bus-off and has been through initialization.
    recovers: bool,
    /// A frame that it takes part in is on the wire; whether it sends that.
    is_busy: bool,
    sends: bool,
    mailboxes: Mailboxes,
    fifos: [Fifo; 2],
    errors: Errors,
    /// Since when the time stamp counts, and what it was as the last frame began.
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
    reader.flag("st,can-primary", "it is the first one of two that share the filters, which changes nothing");
    let memory = "the same of the clock of its mailboxes' memory, where that is another controller's";
    let params = Params {
        clock: reader.clock_input(0, "PCLK1, which makes its time quanta"),
        interrupts: [
            reader.interrupt(0, "its interrupt of mailboxes"),
            reader.interrupt(1, "its interrupt of FIFO 0"),
            reader.interrupt(2, "its interrupt of FIFO 1"),
            reader.interrupt(3, "its interrupt of status changes and errors"),
        ],
        bus: reader.device("cyclescope,can-bus", "cyclescope,can-bus", "the bus that it is on"),
        filters: reader.device("st,gcan", "st,stm32f4-gcan", "the filters that it uses"),
        is_second: reader.flag("st,can-secondary", "it is the second one of two that share the filters"),
        mode_cycles: reader
            .timing_cycles("cyclescope,mode-cycles", "from the request for a mode to its acknowledge, on an idle bus"),
        gate: ClockGate::from_node(reader),
        memory_gate: ClockGate::named("cyclescope,memory-clock-enable", memory, reader),
    };
    let pins = PinFunctions::from_node(reader, &["tx", "rx"]);
    Box::new(BxCan { pins, ..BxCan::new(params) })
}

impl BxCan {
    /// The controller after reset: it sleeps.
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

    /// The bit time that CAN_BTR makes.
    fn bit_time(&self) -> BitTime {
        BitTime {
            clock: self.params.clock.rate,
            quantum_cycles: (self.timing & 0x3ff) + 1,
            before_sample: (self.timing >> 16 & 0xf) + 1,
            after_sample: (self.timing >> 20 & 7) + 1,
            jump: (self.timing >> 24 & 3) + 1,
        }
    }

    /// The bits since it came to the bus, as TTCM counts them.
    fn stamp_at(&self, now: Ps) -> u16 {
        let time = self.bit_time();
        let passed = time.clock.cycles_until_floor(now.saturating_sub(self.counts_from)).0;
        if self.has(MCR_TTCM) { (passed / time.cycles()) as u16 } else { 0 }
    }

    /// The bus is to look what the controller wants.
    fn report_bus(&self, ctx: &mut Ctx) {
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
            // Ones clear.
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
                ctx.note("CAN_BTR was written outside of initialization mode (CAN_MSR.INAK): the write does nothing")
            }
            TI0R..=TDH2R => self.set_mailbox(offset, value, ctx),
            _ => {}
        }
        self.report_bus(ctx);
    }

    /// CAN_TSR: RQCP clears the rest of its mailbox's, too.
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
            ctx.note("a transmit mailbox was written while it is not empty (CAN_TSR.TME): the write does nothing");
            return;
        }
        let mask = find(REGISTERS, offset).map_or(u32::MAX, |row| row.mask);
        mailbox.words[word] = value & mask & if word == 0 { !TIR_TXRQ } else { u32::MAX };
        if word == 0 && value & TIR_TXRQ != 0 {
            self.mailboxes.request(index);
            self.has_memory(ctx);
        }
    }

    /// True if its mailboxes have their clock; else the user is told.
    fn has_memory(&self, ctx: &mut Ctx) -> bool {
        let has = self.params.memory_gate.state(ctx.bus);
        if !has {
            ctx.note(
                "its mailboxes are in the other controller's memory, whose clock is off: nothing is sent or received",
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

    /// CAN_ESR may have changed: a bit that is new there and enabled sets ERRI.
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

    /// CAN_MCR.RESET, or the RCC's.
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
        self.report_bus(ctx);
    }

    fn pins_switched(&mut self, ctx: &mut Ctx) {
        if self.pins.look(ctx) {
            self.report_bus(ctx);
        }
    }

    fn can_node(&mut self) -> Option<&mut dyn CanNode> {
        Some(self)
    }

    fn polled(&mut self, poll: &mut Poll) -> bool {
        // All that changes does so by a write, or by an event.
        poll.state(self.changes);
        true
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("frames_sent".to_owned(), self.sent_frames), ("frames_received".to_owned(), self.received_frames)]
    }
}
