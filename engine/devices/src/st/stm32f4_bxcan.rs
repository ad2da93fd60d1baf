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

use self::errors::Errors;
use self::mailboxes::{Fifo, Mailboxes, Request};
use self::modes::Mode;
use self::registers::*;
use crate::prelude::*;
use crate::support::interrupt_output::InterruptOutput;
use crate::support::pin_functions::PinFunctions;
use engine::bus::can::{BUS_LOOKS, CanNode};
use engine::bus::device::DeviceId;
use engine::wire::can::BitTime;

/// The token of the event at which a request for another mode is acknowledged.
const MODE_CHANGES: u32 = 0;

/// Indices of the signals at pins.
const TX: usize = 0;
const RX: usize = 1;

/// The board's parameters of the controller.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct Params {
    /// PCLK1.
    pub clock: ClockInput,
    /// Interrupts of mailboxes, of FIFO 0, of FIFO 1, of status changes and errors.
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
    pub gate: ClockGate,
    /// The clock enable bit of the memory of its mailboxes, which belongs to the first controller.
    pub memory_gate: ClockGate,
}

/// The controller.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.params.gate))]
pub struct BxCan {
    params: Params,
    /// The pins that carry [`TX`] and [`RX`], and whether they did when the last frame began.
    pins: PinFunctions,
    carried: [bool; 2],
    registers: Registers,
    core: Core,
    outputs: [InterruptOutput; 4],
    alarm: Alarm,
    sent_frames: u64,
    received_frames: u64,
}

/// What a reset clears besides registers.
#[derive(Debug, Default, State, Polled)]
struct Core {
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
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Can, &["st,stm32f4-bxcan", "st,stm32-bxcan"], 1, from_node).naming(MAP.rows);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "interrupt-names", "resets"]);
    reader.flag("st,can-primary", "the first of two controllers that share the filters; without effect");
    let memory = "likewise, the clock enable bit of its mailboxes' memory, if that belongs to another controller";
    let params = Params {
        clock: reader.clock_input(0, "PCLK1, from which time quanta are divided"),
        interrupts: [(0, "transmit"), (1, "FIFO 0"), (2, "FIFO 1"), (3, "status change and error")]
            .map(|(index, name)| reader.interrupt(index, &format!("its {name} interrupt"))),
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
            registers: Registers::new(&MAP),
            core: Core::default(),
            outputs: params.interrupts.map(InterruptOutput::new),
            alarm: Alarm::default(),
            sent_frames: 0,
            received_frames: 0,
        }
    }

    fn has(&self, bit: u32) -> bool {
        self.registers.has(MCR, bit)
    }

    /// The bit time by CAN_BTR.
    fn bit_time(&self) -> BitTime {
        let cycles = |bits: u32| self.registers.field(BTR, bits) + 1;
        BitTime {
            clock: self.params.clock.rate,
            quantum_cycles: cycles(BTR_BRP),
            before_sample: cycles(BTR_TS1),
            after_sample: cycles(BTR_TS2),
            jump: cycles(BTR_SJW),
        }
    }

    /// The time stamp: bits since the controller joined the bus, as TTCM counts them.
    fn stamp_at(&self, now: Ps) -> u16 {
        let time = self.bit_time();
        let passed = time.clock.cycles_until_floor(now.saturating_sub(self.core.counts_from)).0;
        if self.has(MCR_TTCM) { (passed / time.cycles()) as u16 } else { 0 }
    }

    /// Notifies the bus that the controller may have a frame to send or a mode to change.
    fn notify_bus(&self, ctx: &mut Ctx) {
        if let Some(bus) = self.params.bus {
            ctx.schedule_for(bus, BUS_LOOKS);
        }
    }

    /// CAN_TSR: RQCP also clears the other status bits of its mailbox.
    fn set_status(&mut self, value: u32) {
        for (index, mailbox) in self.core.mailboxes.all.iter_mut().enumerate() {
            let bits = value >> (8 * index);
            let all = bits & TSR_RQCP != 0;
            mailbox.status &= if all { 0 } else { !(bits & (TSR_TXOK | TSR_ALST | TSR_TERR)) };
            if bits & TSR_ABRQ != 0 {
                mailbox.abort();
            }
        }
    }

    /// A write of a transmit mailbox.
    fn set_mailbox(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let (index, word) = place(offset - TIR);
        let mailbox = &mut self.core.mailboxes.all[index];
        if mailbox.request != Request::None {
            ctx.note("a transmit mailbox was written while it is not empty (CAN_TSR.TME): the write has no effect");
            return;
        }
        let request = flag(value & TIR_TXRQ, word == 0);
        mailbox.words[word] = value & !request;
        if request != 0 {
            self.core.mailboxes.request(index);
            self.check_memory(ctx);
        }
    }

    /// Adds a note if its mailboxes have no clock.
    fn check_memory(&self, ctx: &mut Ctx) {
        if !self.params.memory_gate.state(ctx.bus) {
            ctx.note(
                "the mailboxes are in the other controller's memory, whose clock is off: nothing is sent or received",
            );
        }
    }

    /// CAN_MSR: the flags that it holds, and the mode.
    fn status(&self, held: u32) -> u32 {
        held & !MSR_SLAK
            | flag(MSR_SLAK, self.core.mode == Mode::Sleep)
            | flag(MSR_INAK, self.core.mode == Mode::Initialization)
            | flag(MSR_TXM, self.core.is_busy && self.core.sends)
            | flag(MSR_RXM, self.core.is_busy && !self.core.sends)
    }

    /// CAN_ESR may have changed: a new bit that is enabled sets ERRI.
    fn report_errors(&mut self, before: u32, has_failed: bool) {
        let new = self.core.errors.status() & !before;
        let kinds = [(ESR_EWGF, IER_EWGIE), (ESR_EPVF, IER_EPVIE), (ESR_BOFF, IER_BOFIE)];
        let is_reported = kinds.iter().any(|(bit, enable)| new & bit != 0 && self.registers.has(IER, *enable));
        if is_reported || has_failed && self.registers.has(IER, IER_LECIE) {
            self.registers.put(MSR, MSR_ERRI, true);
        }
    }

    /// Drives the interrupts.
    fn drive(&mut self, ctx: &mut Ctx) {
        let enables = self.registers[IER];
        let has = |enable: u32| enables & enable != 0;
        let levels = [
            has(IER_TMEIE) && self.core.mailboxes.all.iter().any(|mailbox| mailbox.status & TSR_RQCP != 0),
            self.core.fifos[0].interrupts(enables),
            self.core.fifos[1].interrupts(enables >> 3),
            [(IER_ERRIE, MSR_ERRI), (IER_WKUIE, MSR_WKUI), (IER_SLKIE, MSR_SLAKI)]
                .iter()
                .any(|(enable, bit)| has(*enable) && self.registers.has(MSR, *bit)),
        ];
        self.outputs.iter_mut().zip(levels).for_each(|(output, level)| output.drive(level, ctx));
    }

    /// A reset by CAN_MCR.RESET, or by the RCC.
    fn reset_core(&mut self) {
        self.registers.reset();
        self.core = Core::default();
    }
}

/// The index of a mailbox, and the word in it, at an offset from the first one.
const fn place(offset: u32) -> (usize, usize) {
    ((offset / 16) as usize, (offset / 4 % 4) as usize)
}

impl Table for BxCan {
    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        match register {
            MSR => self.status(held),
            TSR => self.core.mailboxes.status(self.has(MCR_TXFP)),
            RF0R => self.core.fifos[0].status(),
            RF1R => self.core.fifos[1].status(),
            ESR => self.core.errors.status(),
            TIR..RIR => {
                let (index, word) = place(register - TIR);
                let mailbox = &self.core.mailboxes.all[index];
                mailbox.words[word] | flag(TIR_TXRQ, word == 0 && mailbox.request != Request::None)
            }
            RIR..END => {
                let (index, word) = place(register - RIR);
                self.core.fifos[index].word(word)
            }
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            MCR if new & MCR_RESET != 0 => self.reset_core(),
            MCR => self.request_mode(ctx),
            TSR => self.set_status(new),
            RF0R | RF1R => {
                let fifo = &mut self.core.fifos[((register - RF0R) / 4) as usize];
                fifo.flags &= !new;
                if new & RF0R_RFOM != 0 {
                    fifo.release();
                }
            }
            ESR => self.core.errors.last = field(new, ESR_LEC),
            BTR if self.core.mode != Mode::Initialization => {
                self.registers.set(BTR, old);
                ctx.note("CAN_BTR was written outside of initialization mode (CAN_MSR.INAK): the write has no effect");
            }
            TIR..RIR => self.set_mailbox(register, new, ctx),
            _ => {}
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.notify_bus(ctx);
        self.drive(ctx);
    }
}

impl Device for BxCan {
    by_table!();

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

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.change_mode(ctx);
        self.drive(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.params.clock.rate = ctx.bus.clocks.rate_of(self.params.clock);
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_core();
            self.alarm.cancel(MODE_CHANGES, ctx);
        }
        self.drive(ctx);
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
