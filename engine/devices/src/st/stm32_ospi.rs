//! `st,stm32-ospi`: the OCTOSPI interface of an STM32L4+ (RM0432, "Octo-SPI interface (OCTOSPI)"), with a memory on one
//! to four data lines.
//!
//! The second range of `reg` is the window of memory-mapped mode. Programs can be loaded there.
//!
//! Modelled: commands of instruction, address, alternate bytes, dummy cycles and data, each phase with its lines and
//! rate; indirect reads and writes with the FIFO of 32 bytes, which stops the clock while it is full or empty; status
//! polling; memory-mapped reads with prefetch, and the timeout that ends them; prescaler, clock modes 0 and 3, CSHT;
//! accesses beyond DEVSIZE; abort; interrupts, DMA requests.
//!
//! A command begins `cyclescope,start-cycles` of the kernel clock after the write that starts it. Accesses to DR that
//! the FIFO can't serve wait for it. A memory-mapped read continues the previous one if its first byte is in the FIFO
//! or is the next one to arrive; otherwise a new command is sent.
//!
//! While the source of the kernel clock is off, commands wait, with a note. An access that would wait forever (of DR,
//! or of the memory window) ends without data or with a bus error. A byte under way when the clock stops or changes its
//! rate is repeated. RCC_AHB3RSTR.OSPIxRST resets the controller.
//!
//! CLK, NCS and IO0 to IO3 need their pins (`devices/support/pin_functions.rs`), of the port that OCTOSPIM assigns to
//! the controller after reset. Without CLK or NCS the memory receives nothing; a line without a pin reads as all ones,
//! as a line that is not driven does in this model. A note says so.
//!
//! Not modelled: eight lines, two memories in parallel (DQM), HyperBus, writes in memory-mapped mode (nothing is sent,
//! with a note), wrapped reads (WRAPSIZE), MAXTRAN, CSBOUND, refresh, delays (DHQC, SSHIFT, DQS); ports other than
//! those after reset (see `st,stm32-ospim`).

mod commands;
mod flow;
mod phases;
pub mod registers;
mod window;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use self::phases::{ADDRESS, DATA, Width};
use self::registers::*;
use crate::prelude::*;
use crate::support::dma_lines::DmaLine;
use crate::support::hosted_chip::{CONTROLLER_EVENT, Chips, HostedChip};
use crate::support::interrupt_output::InterruptOutput;
use crate::support::kernel_clock::KernelClock;
use crate::support::memory_wire::{FrameTiming, MemoryWire};
use crate::support::pin_functions::PinFunctions;
use engine::bus::device::PortId;
use engine::observe::spi::SPI_WINDOW;
use engine::wire::spi::SpiTarget;

/// Names of the signals at pins; the constants are their indices, data lines last.
const SIGNALS: &[&str] = &["clk", "ncs", "io0", "io1", "io2", "io3"];
const CLK: usize = 0;
const NCS: usize = 1;
const IO0: usize = 2;
/// Bytes of the FIFO.
const FIFO_BYTES: usize = 32;
/// The token of the event that updates the DMA requests.
const DMA_ACTIVITIES: u32 = CONTROLLER_EVENT + 1;

/// Names of registers in notes that another generation has instead of OCTOSPI's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names(pub &'static [(&'static str, &'static str)]);

impl Names {
    fn note(self, text: &str, ctx: &mut Ctx) {
        ctx.note(&self.0.iter().fold(text.to_owned(), |text, (ours, other)| text.replace(ours, other)));
    }
}

/// The activity of the controller. Edges are the kernel clock's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
enum Flow {
    Idle,
    /// A command waits because the kernel clock is stopped.
    Held,
    /// Remaining bytes to read, or to write.
    Read(Width, u64),
    Write(Width, u64),
    /// A poll begins at this edge, or has been read by this edge.
    PollFrom(u64),
    Polled(u64, u32),
    /// The last command ends at this edge.
    Ending(u64),
    /// Memory-mapped reads; the FIFO begins with this address.
    Mapped(Width, u32),
}

/// The controller.
#[derive(State, Polled)]
#[poll(first = Ospi::list_changes)]
pub struct Ospi {
    #[state(skip)]
    #[poll(skip = "never changes")]
    names: Names,
    /// The kernel clock.
    clock: KernelClock,
    /// Kernel clocks from the write that starts a command until chip select goes low.
    #[state(skip)]
    start: Cycles,
    gate: ClockGate,
    pins: PinFunctions,
    /// Signals that were needed without a pin, one bit each.
    spoiled: u32,
    /// SR has the flags that are latched.
    registers: Registers,
    wire: MemoryWire,
    flow: Flow,
    /// Bytes, each with the edge at which it becomes available.
    fifo: VecDeque<(u8, u64)>,
    /// The edge since which a full FIFO has had room.
    room_from: u64,
    /// The instruction has been sent (SIOO).
    is_open: bool,
    dma: DmaLine,
    alarm: Alarm,
    interrupt: InterruptOutput,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Spi, &["st,stm32-ospi"], 2, from_node).with_activities(SPI_WINDOW).naming(MAP.rows);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "resets", "reg-names"]);
    Box::new(Ospi::from_node(reader, Names::default()))
}

impl Ospi {
    /// The controller of a node, with the names of its generation.
    pub fn from_node(reader: &mut NodeReader, names: Names) -> Ospi {
        let meaning = "kernel clocks from the write that starts a command until chip select goes low";
        let clock = reader.clock_input(0, "the kernel clock, which the serial clock is divided from");
        let start = reader.timing_cycles("cyclescope,start-cycles", meaning);
        let interrupt = InterruptOutput::new(reader.interrupt(0, "its interrupt"));
        let gate = ClockGate::from_node(reader);
        let dma = DmaLine::from_node(reader, "tx_rx", "the FIFO has data, or room, for at least FTHRES + 1 bytes");
        let chip = Chips::from_node(reader, 1).into_only().unwrap_or_else(HostedChip::none);
        Ospi {
            names,
            clock: KernelClock::new(clock),
            start,
            gate,
            pins: PinFunctions::from_node(reader, SIGNALS),
            spoiled: 0,
            registers: Registers::new(&MAP),
            wire: MemoryWire::new(clock.rate, chip, timing(&Registers::new(&MAP))),
            flow: Flow::Idle,
            fifo: VecDeque::with_capacity(FIFO_BYTES),
            room_from: 0,
            is_open: false,
            dma,
            alarm: Alarm::default(),
            interrupt,
        }
    }

    /// A register, whatever an access does.
    pub fn held(&self, register: u32) -> u32 {
        self.registers.held(register)
    }

    /// The clock's gate.
    pub fn gate(&self) -> ClockGate {
        self.gate
    }

    /// True during a command.
    pub fn has_command(&mut self, now: Ps) -> bool {
        self.advance(self.clock.edge(now));
        self.is_busy()
    }
}

/// The times of OCTOSPI_DCR1 and DCR2. Chip select is low for a period before the first rising edge and after the last
/// one: half a period, as that edge is in the middle of the clock period. Modes 0 and 3: data change at the clock's
/// falling edge.
fn timing(registers: &Registers) -> FrameTiming {
    let period = u64::from(registers.field(DCR2, DCR2_PRESCALER)) + 1;
    let inactive = (u64::from(registers.field(DCR1, DCR1_CSHT)) + 1) * period;
    let (margin, rests_high) = (period.div_ceil(2), registers.has(DCR1, DCR1_CKMODE));
    let (before_clock, after_clock, shown_after) = (margin, margin, 0);
    FrameTiming { period, before_clock, after_clock, inactive, shown_after, cpol: rests_high, cpha: rests_high }
}

impl Ospi {
    fn mode(&self) -> u32 {
        self.registers.field(CR, CR_FMODE)
    }

    /// Size of the memory in bytes.
    fn size(&self) -> u64 {
        2 << (self.registers.field(DCR1, DCR1_DEVSIZE))
    }

    /// Number of data bytes of an indirect command.
    fn length(&self) -> u64 {
        match self.registers[DLR] {
            // Up to the end of the memory.
            u32::MAX => self.size().saturating_sub(u64::from(self.registers[AR])).max(1),
            length => u64::from(length) + 1,
        }
    }

    /// Ends all that is under way.
    fn abort(&mut self, ctx: &Ctx) {
        let edge = self.clock.next_edge(ctx.now);
        self.fifo.clear();
        self.flow = match self.flow {
            Flow::Idle => Flow::Idle,
            _ => Flow::Ending(self.wire.deselect(edge)),
        };
    }

    /// Reset by the RCC: registers return to their reset values, and the memory is deselected.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.abort(ctx);
        self.registers.reset();
        (self.flow, self.is_open) = (Flow::Idle, false);
        self.set_wire(ctx);
    }

    /// Sets up the wire as in OCTOSPI_DCR1 and DCR2.
    fn set_wire(&mut self, ctx: &Ctx) {
        let before = std::mem::replace(&mut self.wire.timing, timing(&self.registers));
        if before.cpol != self.wire.timing.cpol {
            self.wire.signals.rest(self.wire.timing.cpol, ctx.now);
        }
    }

    fn set_control(&mut self, value: u32, ctx: &mut Ctx) {
        let old = self.registers[CR];
        let ends = value & CR_ABORT != 0 || value & CR_EN == 0;
        let is_kept = self.is_busy() && !ends && (old ^ value) & CR_FMODE != 0;
        if is_kept {
            self.names.note("OCTOSPI_CR.FMODE was written during a command (OCTOSPI_SR.BUSY): it keeps its value", ctx);
        }
        if value & (CR_DQM | CR_FSEL) != 0 {
            self.names.note("a second memory (OCTOSPI_CR.DQM, FSEL) is not modelled: only the first one is used", ctx);
        }
        self.registers.set(CR, value & !CR_FMODE | if is_kept { old } else { value } & CR_FMODE);
        if ends || (old ^ self.registers[CR]) & CR_FMODE != 0 {
            self.abort(ctx);
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let Some(row) = MAP.row(offset) else { return };
        match offset {
            CR => return self.set_control(value, ctx),
            FCR => self.registers.put(SR, row.written(value), false),
            SR | DR => {}
            _ if self.is_busy() => {
                self.names.note(
                    &format!("{} was written during a command (OCTOSPI_SR.BUSY): it keeps its value", row.name),
                    ctx,
                );
                return;
            }
            _ => self.registers.set(offset, value),
        }
        // The conditions for a command's start, apart from data to write.
        let is_whole = self.mode() != 0 || !self.has_phase(DATA);
        match offset {
            CCR | IR => {
                self.is_open = false;
                if offset == IR && is_whole && self.mode() < 3 && !self.has_phase(ADDRESS) {
                    self.start(ctx);
                }
            }
            AR if is_whole && self.mode() < 3 && self.has_phase(ADDRESS) => self.start(ctx),
            DCR1 | DCR2 => self.set_wire(ctx),
            _ => {}
        }
    }

    /// Adds a note for each signal that was needed and has no pin.
    #[cold]
    fn note_pins(&mut self, ctx: &mut Ctx) {
        let spoiled = std::mem::take(&mut self.spoiled);
        for signal in (0..SIGNALS.len()).filter(|signal| spoiled >> signal & 1 != 0) {
            let effect = match signal {
                CLK => "a command is sent, but the memory gets no clock",
                NCS => "a command is sent, but the memory is not selected",
                _ => "a command uses it, and its receiver reads ones",
            };
            self.pins.note(signal, effect, ctx);
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        if self.spoiled != 0 {
            self.note_pins(ctx);
        }
        let (status, control) = (self.status(self.clock.edge(ctx.now)), self.registers[CR]);
        let enabled = field(control, CR_ENABLES);
        self.interrupt.drive(status & SR_FLAGS & enabled != 0, ctx);
        let takes = match self.flow {
            Flow::Write(_, left) => (self.fifo.len() as u64) < left,
            Flow::Held => (self.fifo.len() as u64) < self.length(),
            _ => true,
        };
        let asks = control & CR_DMAEN != 0 && status & SR_FTF != 0 && takes;
        self.dma.set(asks, DMA_ACTIVITIES, ctx);
        let due = self.next_change().and_then(|edge| self.clock.due(edge)).map(|due| due.max(ctx.now));
        self.wire.chip.follow(due, ctx);
        self.wire.take_notes(ctx);
        let waits = enabled != 0 || control & CR_DMAEN != 0;
        match due.filter(|_| waits) {
            Some(due) => self.alarm.set(due, CONTROLLER_EVENT, ctx),
            None => self.alarm.cancel(CONTROLLER_EVENT, ctx),
        }
    }

    /// Lists the next change; `false` while reads of the memory go on.
    fn list_changes(&mut self, poll: &mut Poll) -> bool {
        let edge = self.clock.edge(poll.now());
        self.advance(edge);
        // As they are: a loop whose frames move them along is not skipped.
        [self.wire.free, self.wire.may_select].into_iter().for_each(|edge| poll.state(edge));
        let next = self.next_change();
        next.and_then(|next| self.clock.due(next)).into_iter().for_each(|due| poll.until(due));
        next.is_none_or(|next| next > edge) && !matches!(self.flow, Flow::Mapped(..))
    }
}

impl Device for Ospi {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == DR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.gate.follow(ctx);
        self.pins.follow(ctx);
        self.wire.start(ctx);
    }

    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        if !self.gate.is_open(ctx) {
            return Ok(Reply::read(0, ctx.now));
        }
        let edge = self.clock.edge(ctx.now);
        self.advance(edge);
        let (value, done) = if range > 0 {
            self.window_read(offset, size.bytes(), ctx)?
        } else if offset & !3 == DR {
            self.receive(size.bytes(), edge, ctx)
        } else {
            let register = offset & !3;
            let value = if register == SR { self.status(edge) } else { self.registers.held(register) };
            (size.extracted(value, offset), edge)
        };
        self.advance(edge);
        self.update(ctx);
        Ok(Reply::read(value, self.wire.time(done).max(ctx.now)))
    }

    fn write(&mut self, range: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        if !self.gate.takes_writes(ctx) {
            return Ok(Reply::written(ctx.now));
        }
        let edge = self.clock.edge(ctx.now);
        self.advance(edge);
        let mut done = edge;
        if range > 0 {
            ctx.note("writes in memory-mapped mode are not modelled: nothing is sent");
        } else if offset & !3 == DR {
            done = self.transmit(value, size.bytes(), ctx);
        } else {
            let register = offset & !3;
            // An access that is narrower than a register changes its lanes only.
            self.set_register(register, size.merged(self.registers.held(register), offset, value), ctx);
        }
        self.advance(edge);
        self.update(ctx);
        Ok(Reply::written(self.wire.time(done).max(ctx.now)))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == DMA_ACTIVITIES {
            self.dma.event(DMA_ACTIVITIES, ctx);
            return;
        }
        if token == CONTROLLER_EVENT {
            self.alarm.rang(ctx.now);
        }
        self.advance(self.clock.edge(ctx.now));
        if token != CONTROLLER_EVENT {
            self.wire.chip.event(ctx);
        }
        self.update(ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.advance(self.clock.edge(ctx.now));
        self.wire.chip.pins_changed(port, changed, levels, ctx);
    }

    fn pins_switched(&mut self, ctx: &mut Ctx) {
        self.advance(self.clock.edge(ctx.now));
        self.pins.look(ctx);
    }

    /// Activities under way continue at the new clock's rate.
    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.advance(self.clock.edge(ctx.now));
        let (before, now) = self.clock.follow(ctx);
        self.wire.clock = self.clock.rate();
        let moved = |edge: u64| now + edge.saturating_sub(before);
        let wire = &mut self.wire;
        (wire.free, wire.may_select, self.room_from) =
            (moved(wire.free), moved(wire.may_select), moved(self.room_from));
        self.fifo.iter_mut().for_each(|(_, from)| *from = moved(*from));
        self.flow = match self.flow {
            Flow::PollFrom(at) => Flow::PollFrom(moved(at)),
            Flow::Polled(at, value) => Flow::Polled(moved(at), value),
            Flow::Ending(at) => Flow::Ending(moved(at)),
            other => other,
        };
        self.alarm.cancel(CONTROLLER_EVENT, ctx);
        if self.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        } else if self.flow == Flow::Held && self.clock.is_running() {
            self.begin(ctx);
        }
        self.update(ctx);
    }

    fn peek(&self, range: usize, offset: u32, into: &mut [u8]) -> bool {
        range > 0 && self.wire.chip.peek(offset, into)
    }

    fn preload(&mut self, range: usize, offset: u32, bytes: &[u8]) -> bool {
        range > 0 && self.wire.chip.preload(offset, bytes)
    }

    fn burst(&mut self, range: usize, offset: u32, bytes: u32, ctx: &mut Ctx) -> Result<Ps, SlaveError> {
        if range == 0 || !self.gate.is_open(ctx) {
            return Err(SlaveError { done: ctx.now });
        }
        let (_, done) = self.window_read(offset, bytes, ctx)?;
        self.update(ctx);
        Ok(self.wire.time(done).max(ctx.now))
    }

    fn streams(&self, range: usize, _offset: u32) -> bool {
        range > 0
    }

    fn finish(&mut self, now: Ps) {
        self.advance(self.clock.edge(now));
    }

    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        vec![self.wire.chip.target()]
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.wire.chip.counters_after(&[("frames", self.wire.frames), ("sck_clocks", self.wire.sck_clocks)])
    }
}
