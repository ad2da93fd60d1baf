//! `ingenic,jz4740-uart`: the JZ4740's UARTs, 16550s whose registers are four bytes apart, with an additional enable
//! bit, UFCR.UME (Linux's 8250_ingenic.c; U-Boot's asm/jz4740.h for names).
//!
//! Modelled: all registers; the transmitter with its FIFO of 16 characters, or its holding register without UFCR.FME,
//! and its shift register. A bit takes the divisor latch's number of periods of the baud clock, EXTAL, times 16 or UMR,
//! and one more for each one in UACR; start, data, parity and stop bits are set in ULCR. A character is on the console
//! when its stop bits have ended; characters in the transmitter when the firmware ends are sent nevertheless. ULSR.TDRQ
//! is set while half of the FIFO is free. Its interrupt is cleared by a read of UIIR or by a character, and raised
//! again with each character that leaves the FIFO.
//!
//! The receiver has a FIFO of 16 characters, or only URBR without UFCR.FME. A further character is lost with ULSR.OVER;
//! in URBR the previous one is lost. Its interrupt is pending while at least the number of characters in UFCR.RDTR
//! waits; its time-out interrupt (UIER.RTOIE) when characters have waited for the time of four characters without a new
//! one or a read.
//!
//! Not modelled: modem lines, loopback, break, infrared, DMA; framing and parity errors, which the other end never
//! causes; the clock gate in the CGU, and whether the GPIO port gives the pins to the UART.

mod receiving;

use self::receiving::Receiving;
use crate::model::{Group, Model};
use crate::support::activities::SERIAL_WITH_FIFOS;
use crate::support::apb;
use crate::support::fifo_entries::Queues;
use crate::support::registers::{AccessKind, Register, flag};
use crate::support::shift_register::ShiftRegister;
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SerialPort, SlaveError, Unsent, WhenReceived};
use engine::bus::rates::LINE_HEARD;
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Edge, Poll, Polled};
use engine::serial::wave::{Format, Parity};
use engine::state::State;
use engine::time::{Cycles, Hz, Ps};
use std::collections::VecDeque;

/// The register map while ULCR.DLAB is 0; UTHR and UFCR have the offsets of URBR and UIIR.
pub const REGISTERS: &[Register] = &[
    Register::new("URBR", UTHR, AccessKind::Ro, 0, 0xff),
    Register::new("UIER", UIER, AccessKind::Rw, 0, 0x1f),
    Register::new("UIIR", UIIR, AccessKind::Ro, UIIR_INPEND, 0xcf),
    Register::new("ULCR", ULCR, AccessKind::Rw, 0, 0xff),
    Register::new("UMCR", UMCR, AccessKind::Rw, 0, 0x9f),
    Register::new("ULSR", ULSR, AccessKind::Ro, ULSR_TDRQ | ULSR_TEMP, 0xff),
    Register::new("UMSR", 0x18, AccessKind::Ro, 0, 0xff),
    Register::new("USPR", USPR, AccessKind::Rw, 0, 0xff),
    Register::new("ISR", ISR, AccessKind::Rw, 0, 0x1f),
    Register::new("UMR", UMR, AccessKind::Rw, 0, 0x1f),
    Register::new("UACR", UACR, AccessKind::Rw, 0, 0xfff),
];

const UTHR: u32 = 0x00;
const UIER: u32 = 0x04;
const UIIR: u32 = 0x08;
const ULCR: u32 = 0x0c;
const UMCR: u32 = 0x10;
const ULSR: u32 = 0x14;
const USPR: u32 = 0x1c;
const ISR: u32 = 0x20;
const UMR: u32 = 0x24;
const UACR: u32 = 0x28;

const UIER_RDRIE: u32 = 1 << 0;
const UIER_TDRIE: u32 = 1 << 1;
const UIER_RLSIE: u32 = 1 << 2;
const UIER_RTOIE: u32 = 1 << 4;
/// No interrupt is pending.
const UIIR_INPEND: u32 = 1 << 0;
/// UIIR.INID: the transmitter requests data.
const UIIR_TDR: u32 = 1 << 1;
/// UIIR.INID: at least the number of characters in UFCR.RDTR waits.
const UIIR_RDR: u32 = 2 << 1;
/// UIIR.INID: a character was lost.
const UIIR_RLS: u32 = 3 << 1;
/// UIIR.INID: the receiver's time-out.
const UIIR_RTO: u32 = 6 << 1;
const UIIR_FFMSEL: u32 = 3 << 6;
const UFCR_FME: u32 = 1 << 0;
const UFCR_RFRT: u32 = 1 << 1;
const UFCR_TFRT: u32 = 1 << 2;
const UFCR_UME: u32 = 1 << 4;
const UFCR_RDTR: u32 = 6;
const ULCR_WLS: u32 = 3;
const ULCR_SBLS: u32 = 1 << 2;
const ULCR_PARE: u32 = 1 << 3;
const ULCR_PEVEN: u32 = 1 << 4;
const ULCR_STPAR: u32 = 1 << 5;
const ULCR_SBK: u32 = 1 << 6;
const ULCR_DLAB: u32 = 1 << 7;
const UMCR_LOOP: u32 = 1 << 4;
const ULSR_DR: u32 = 1 << 0;
const ULSR_OVER: u32 = 1 << 1;
const ULSR_PARER: u32 = 1 << 2;
const ULSR_FMER: u32 = 1 << 3;
const ULSR_TDRQ: u32 = 1 << 5;
const ULSR_TEMP: u32 = 1 << 6;

const FIFO_CHARACTERS: usize = 16;
/// Periods of a bit, unless UMR sets another number.
const OVERSAMPLING: u64 = 16;

/// The device.
#[derive(Debug, State)]
pub struct Uart {
    bus_clock: ClockInput,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    /// The divisor latch.
    divisor: u32,
    interrupts: u32,
    fifo_control: u32,
    line_control: u32,
    modem_control: u32,
    scratch: u32,
    infrared: u32,
    oversampling: u32,
    extra_clocks: u32,
    waiting: VecDeque<u8>,
    line: ShiftRegister,
    /// True if the transmitter requests data, and has not been answered.
    wants_data: bool,
    receiving: Receiving,
    /// The entries of the FIFOs, for recording.
    queues: Queues,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["ingenic,jz4740-uart"], 1, from_node)
    .with_activities(SERIAL_WITH_FIFOS)
    .naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let baud_clock = reader.clock(0, "the baud clock, EXTAL");
    let bus_clock = reader.clock_input(1, "clock of its bus");
    reader.known(&["clock-names"]);
    Box::new(Uart::new(baud_clock, bus_clock, reader.interrupt(0, "its interrupt")))
}

impl Uart {
    /// The device after reset.
    pub fn new(baud_clock: Hz, bus_clock: impl Into<ClockInput>, interrupt: Option<IrqLine>) -> Uart {
        Uart {
            bus_clock: bus_clock.into(),
            interrupt,
            divisor: 0,
            interrupts: 0,
            fifo_control: 0,
            line_control: 0,
            modem_control: 0,
            scratch: 0,
            infrared: 0,
            oversampling: 0,
            extra_clocks: 0,
            waiting: VecDeque::with_capacity(FIFO_CHARACTERS),
            line: ShiftRegister::new(baud_clock),
            wants_data: false,
            receiving: Receiving::default(),
            queues: Queues::default(),
        }
    }

    const fn has_fifo(&self) -> bool {
        self.fifo_control & UFCR_FME != 0
    }

    const fn capacity(&self) -> usize {
        if self.has_fifo() { FIFO_CHARACTERS } else { 1 }
    }

    fn line_status(&self) -> u32 {
        // Half of the FIFO; without it the whole holding register.
        let wants = self.waiting.len() <= self.capacity() / 2;
        self.receiving.line_status()
            | flag(ULSR_TDRQ, wants)
            | flag(ULSR_TEMP, self.waiting.is_empty() && self.line.is_free())
    }

    fn identification(&self) -> u32 {
        self.pending_interrupt().unwrap_or(UIIR_INPEND) | flag(UIIR_FFMSEL, self.has_fifo())
    }

    /// UIIR.INID of the pending interrupt with the highest priority.
    fn pending_interrupt(&self) -> Option<u32> {
        let [errors, data, timeout] = self.receiving.pending(self.wanted());
        let pending = [errors, data, timeout, (UIER_TDRIE, self.wants_data, UIIR_TDR)];
        pending.iter().find(|(enable, is, _)| *is && self.interrupts & enable != 0).map(|(.., number)| *number)
    }

    /// The format of characters on the line, with bits of their mean length.
    fn format(&self) -> Format {
        let parity = match (self.line_control & ULCR_PARE != 0, self.line_control & ULCR_PEVEN != 0) {
            (false, _) => Parity::None,
            (true, even) if self.line_control & ULCR_STPAR != 0 => Parity::Fixed(!even),
            (true, true) => Parity::Even,
            (true, false) => Parity::Odd,
        };
        let data_bits = (self.line_control & ULCR_WLS) + 5;
        let stop_halves = match (self.line_control & ULCR_SBLS != 0, data_bits) {
            (false, _) => 2,
            (true, 5) => 3,
            (true, _) => 4,
        };
        let halves = 2 * (1 + u64::from(data_bits) + u64::from(parity != Parity::None)) + stop_halves;
        let bit_fs = Format::bit_of(2 * self.character_clocks().max(1), self.line.clock().get(), halves);
        Format { data_bits, parity, stop_halves, ..Format::of_clocks(bit_fs) }
    }

    /// Baud clocks of a character.
    fn character_clocks(&self) -> u64 {
        let data = u64::from(self.line_control & ULCR_WLS) + 5;
        let parity = u64::from(self.line_control & ULCR_PARE != 0);
        let half_bits = match (self.line_control & ULCR_SBLS != 0, data) {
            (false, _) => 2,
            (true, 5) => 3,
            (true, _) => 4,
        };
        let bits = 1 + data + parity;
        let clocks_of_a_bit = if self.oversampling == 0 { OVERSAMPLING } else { self.oversampling.into() };
        let extra = u64::from((self.extra_clocks & ((1 << bits) - 1)).count_ones());
        ((2 * bits + half_bits) * clocks_of_a_bit / 2 + extra) * u64::from(self.divisor)
    }

    /// Brings both directions up to `ctx.now`.
    fn settle(&mut self, ctx: &mut Ctx) {
        self.receiving.settle(self.line.cycle(ctx.now));
        while let Some(clock) = self.line.sent(ctx) {
            self.shift(clock, self.line.clock().ps_at_floor(Cycles(clock)));
        }
    }

    /// Moves the next character, if one waits, to the shift register, which is free, in a cycle of the baud clock and
    /// at a time.
    fn shift(&mut self, clock: u64, at: Ps) {
        if self.divisor == 0 || self.fifo_control & UFCR_UME == 0 || !self.line.is_free() {
            return;
        }
        let end_clock = clock + self.character_clocks();
        if let Some(character) = self.waiting.pop_front() {
            self.queues.tx.leave(self.waiting.len() + 1, at, self.line.clock());
            let format = self.format();
            self.line.start(character, (clock, end_clock), format);
            self.wants_data |= self.line_status() & ULSR_TDRQ != 0;
        }
    }

    /// Updates the interrupt line, and requests an event at the end of the character.
    fn update(&mut self, ctx: &mut Ctx) {
        ctx.set_irq(self.interrupt, self.pending_interrupt().is_some());
        self.line.set_alarm(ctx);
        self.receiving.set_alarm(&self.line, ctx);
    }

    fn send(&mut self, character: u8, ctx: &mut Ctx) {
        if self.fifo_control & UFCR_UME == 0 {
            ctx.note("a character was written while UFCR.UME is 0: the UART is off, and does not send it");
            return;
        }
        if self.divisor == 0 {
            ctx.note("a character was written while the divisor latch is 0: without a baud rate it stays where it is");
        }
        self.wants_data = false;
        if self.waiting.len() == self.capacity() {
            ctx.note("a character was written while there was no room for it (ULSR.TDRQ): it is lost");
        } else {
            if self.has_fifo() {
                self.queues.tx.come(self.waiting.len(), ctx.now, character.into());
            }
            self.waiting.push_back(character);
        }
    }

    fn register(&mut self, offset: u32, now: Ps) -> u32 {
        match offset {
            UTHR if self.line_control & ULCR_DLAB != 0 => self.divisor & 0xff,
            UIER if self.line_control & ULCR_DLAB != 0 => self.divisor >> 8,
            UTHR => {
                if !self.receiving.is_empty() {
                    self.queues.rx.leave(self.receiving.len(), now, self.line.clock());
                }
                let character = self.receiving.read();
                self.restart_timeout(now);
                character.into()
            }
            UIER => self.interrupts,
            UIIR => {
                let identification = self.identification();
                self.wants_data &= self.pending_interrupt() != Some(UIIR_TDR);
                identification
            }
            ULCR => self.line_control,
            UMCR => self.modem_control,
            ULSR => {
                let status = self.line_status();
                self.receiving.forget_overrun();
                status
            }
            USPR => self.scratch,
            ISR => self.infrared,
            UMR => self.oversampling,
            UACR => self.extra_clocks,
            _ => 0,
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        match offset {
            UTHR if self.line_control & ULCR_DLAB != 0 => self.divisor = self.divisor & 0xff00 | value & 0xff,
            UIER if self.line_control & ULCR_DLAB != 0 => self.divisor = self.divisor & 0xff | (value & 0xff) << 8,
            UTHR => self.send(value as u8, ctx),
            UIER => {
                let enabled = value & !self.interrupts & UIER_TDRIE != 0;
                self.interrupts = value & 0x1f;
                self.wants_data |= enabled && self.line_status() & ULSR_TDRQ != 0;
            }
            UIIR => self.set_fifo_control(value, ctx.now),
            ULCR => {
                self.line_control = value & 0xff;
                if value & ULCR_SBK != 0 {
                    ctx.note("a break (ULCR.SBK) is not modelled: nothing sees it");
                }
            }
            UMCR => {
                self.modem_control = value & 0x9f;
                if value & UMCR_LOOP != 0 {
                    ctx.note("loopback (UMCR.LOOP) is not modelled: nothing is received");
                }
            }
            USPR => self.scratch = value & 0xff,
            ISR => self.infrared = value & 0x1f,
            UMR => self.oversampling = value & 0x1f,
            UACR => self.extra_clocks = value & 0xfff,
            _ => {}
        }
        self.shift(self.line.cycle(ctx.now), ctx.now);
    }

    fn set_fifo_control(&mut self, value: u32, now: Ps) {
        // Changing the mode empties the FIFOs, as a 16550 does.
        let changes = (value ^ self.fifo_control) & UFCR_FME != 0;
        if value & UFCR_TFRT != 0 || changes {
            self.queues.tx.clear(self.waiting.len(), now, self.line.clock());
            self.waiting.clear();
        }
        self.fifo_control = value & 0xd9;
        if value & UFCR_RFRT != 0 || changes {
            self.queues.rx.clear(self.receiving.len(), now, self.line.clock());
            self.receiving.flush();
            self.restart_timeout(now);
        }
    }
}

impl Device for Uart {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.line.observe(ctx.scope());
        self.queues.observe(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.settle(ctx);
        let register = self.register(offset & !3, ctx.now);
        self.update(ctx);
        Ok(apb::read(register, offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.settle(ctx);
        let (offset, value) = apb::written(value, offset, size);
        self.set_register(offset, value, ctx);
        self.update(ctx);
        ctx.line_changed();
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == receiving::TIMEOUT {
            self.receiving.rang(ctx.now);
        } else if token == LINE_HEARD {
            ctx.hear_line(self.line.known(ctx.now));
        } else {
            self.line.rang(ctx.now);
        }
        self.settle(ctx);
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.bus_clock);
    }

    fn finish(&mut self, _now: Ps) {
        self.queues.stay((self.waiting.len(), self.receiving.len()), self.line.clock());
    }

    fn unsent(&self) -> Unsent {
        self.line.unsent(self.waiting.iter().copied())
    }

    fn send_on(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
    }

    fn serial_port(&mut self) -> Option<&mut dyn SerialPort> {
        Some(self)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.receiving.counters(self.line.counters())
    }
}

impl Polled for Uart {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        if !self.line.polled(poll) || !self.receiving.polled(&self.line, poll) {
            return false;
        }
        poll.phase(self.bus_clock.rate);
        Edge::edge(&mut self.queues, poll.clock(), poll);
        for register in [self.divisor, self.interrupts, self.fifo_control, self.line_control, self.modem_control] {
            poll.state(register);
        }
        for register in [self.scratch, self.infrared, self.oversampling, self.extra_clocks] {
            poll.state(register);
        }
        poll.state(self.wants_data);
        poll.state(self.waiting.len() as u64);
        self.waiting.iter().for_each(|character| poll.state(*character));
        true
    }
}

#[cfg(test)]
mod tests;
