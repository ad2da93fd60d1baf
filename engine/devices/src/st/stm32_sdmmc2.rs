//! `st,stm32-sdmmc2`: the SD/SDIO/MMC host interface of STM32MP1 (RM0436, "Secure digital input/output MultiMediaCard
//! interface (SDMMC)"), with an SD card in SD mode: `cyclescope,sd-card`, or nothing in the slot.
//!
//! Modelled: the command path with its responses, timeout and CRC check; the data path with one data line or four,
//! blocks, CRC, CRC status, busy signal and DTIMER; the FIFO of 16 words, with hardware flow control or with RXOVERR
//! and TXUNDERR; the IDMA with one buffer or a linked list; the flags, the interrupt, the clock gate and the RCC's
//! reset.
//!
//! SDMMC_CK is the kernel clock divided by twice SDMMC_CLKCR.CLKDIV. A command begins `cyclescope,start-cycles` of the
//! kernel clock after the write of SDMMC_CMDR, and at the earliest eight clocks after the response before it. It has
//! 48 bits; the card's response comes after NCR clocks, with 48 or 136 bits. A block has a start bit, its data on all
//! lines, 16 bits of CRC and an end bit; the CRC status of a written block comes two clocks later, with 5 bits.
//! Between blocks are two clocks at least. The IDMA moves bursts of eight words, each at its own time on the bus, when
//! the FIFO has them, or has room for them. When neither is in time, hardware flow control stops SDMMC_CK.
//!
//! The card's clock runs from SDMMC_POWER.PWRCTRL 3 on. With `cd-gpios` a card in the slot connects that pin to
//! ground.
//!
//! Not modelled: DDR, UHS-I and its voltage switch, the delay block, SDIO interrupts and read wait, eMMC (boot,
//! streams, eight lines), suspend and hold, and WAITPEND. RXFIFOE and TXFIFOE are shown while data are transferred.

// `command` is the command path (CPSM), `data` the data path (DPSM), `fifo` the FIFO and the IDMA.

mod command;
mod data;
mod fifo;
mod registers;

#[cfg(test)]
mod tests;

use self::command::Command;
use self::data::Transfer;
use self::registers::*;
use crate::generic::mmc_spi_slot::Card;
use crate::prelude::*;
use crate::support::interrupt_output::InterruptOutput;
use crate::support::kernel_clock::KernelClock;
use engine::activity::{Activity, Kind};
use engine::dt::fault::FaultKind;
use engine::pins::Pin;
use engine::wire::spi::SpiTarget;

/// The compatible of the card in the slot.
const CARD: &str = "cyclescope,sd-card";

static COMMAND: Activity =
    Activity::new(Kind::Wire, "command", "on CMD, from its start bit to the end of the response; the index");
static BLOCK: Activity =
    Activity::new(Kind::Wire, "data block", "on the data lines, from its start bit to its end bit; the bytes");
/// The activities that the interface records.
const ACTIVITIES: &[&Activity] = &[&COMMAND, &BLOCK];

/// Clocks between a response and the next command (NRC and NCC), in which the CPSM stays idle.
const COMMAND_GAP: u64 = 8;

/// The board's parameters of the interface.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The kernel clock.
    pub clock: ClockInput,
    /// Kernel clocks from the write of SDMMC_CMDR to the start bit.
    pub start_cycles: Cycles,
    /// The interrupt, to two processors that have an interrupt controller each.
    pub interrupts: [Option<IrqLine>; 2],
    /// Its clock enable bit in the RCC.
    pub gate: ClockGate,
    /// The pin of the slot's switch.
    pub detect: Option<Pin>,
}

/// The interface.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.params.gate))]
#[poll(first = Sdmmc::is_quiet)]
pub struct Sdmmc {
    #[state(skip)]
    params: Params,
    clock: KernelClock,
    registers: Registers,
    outputs: [InterruptOutput; 2],
    #[state(with = engine::state::fixed)]
    card: Vec<Card>,
    /// The name of the card, for notes and totals.
    #[state(skip)]
    card_label: String,
    /// The command under way.
    command: Option<Command>,
    /// The edge from which on the next command may begin.
    #[poll(skip = "within a command")]
    command_from: u64,
    /// The edge at which SDMMC_CK began to run.
    #[poll(skip = "counted in commands alone")]
    clocked_since: Option<u64>,
    /// The edge at which DAT0 is high again after a response, and that of the timeout.
    busy: Option<[u64; 2]>,
    data: Option<Transfer>,
    alarm: Alarm,
    #[poll(total)]
    commands: u64,
    #[poll(total)]
    blocks: u64,
    #[poll(total)]
    bursts: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Storage, &["st,stm32-sdmmc2"], 1, from_node).with_activities(ACTIVITIES).naming(MAP.rows);

/// Builds the interface from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&[
        "arm,primecell-periphid",
        "clock-names",
        "interrupt-names",
        "cap-sd-highspeed",
        "cap-mmc-highspeed",
        "max-frequency",
        "disable-wp",
        "st,neg-edge",
        "bus-width",
    ]);
    let params = Params {
        clock: reader.clock_input(0, "the kernel clock, which SDMMC_CK is divided from"),
        start_cycles: reader.timing_cycles(
            "cyclescope,start-cycles",
            "kernel clocks from the write of SDMMC_CMDR to the command's start bit",
        ),
        interrupts: [reader.interrupt(0, "its interrupt"), reader.interrupt(1, "its interrupt, to another processor")],
        gate: ClockGate::from_node(reader),
        detect: reader.gpio("cd-gpios", 0, "the pin that a card in the slot connects to ground"),
    };
    let (label, card) = card(reader).unzip();
    Box::new(Sdmmc::new(params, label.unwrap_or_default(), card))
}

/// The card in the slot, with its label.
fn card(reader: &mut NodeReader) -> Option<(String, Card)> {
    let mut found = None;
    for child in reader.children() {
        let card = reader.child(child, |reader| {
            if !child.compatibles().contains(&CARD) {
                let compatible = child.compatibles().first().copied().unwrap_or_default().to_owned();
                reader.fault_at("compatible", FaultKind::UnknownCompatible { compatible, similar: vec![CARD.into()] });
            }
            Card::from_node(reader)
        });
        found.get_or_insert((child.label().to_owned(), card));
    }
    found
}

impl Sdmmc {
    /// The interface after reset.
    pub fn new(params: Params, card_label: String, card: Option<Card>) -> Sdmmc {
        let (command, command_from, clocked_since, busy, data, alarm) = Default::default();
        let (commands, blocks, bursts) = Default::default();
        Sdmmc {
            params,
            clock: KernelClock::new(params.clock).after(params.gate),
            registers: Registers::new(&MAP),
            outputs: params.interrupts.map(InterruptOutput::new),
            card: card.into_iter().collect(),
            card_label,
            command,
            command_from,
            clocked_since,
            busy,
            data,
            alarm,
            commands,
            blocks,
            bursts,
        }
    }

    /// Kernel clocks in a clock of SDMMC_CK.
    fn period(&self) -> u64 {
        (2 * u64::from(self.registers.field(CLKCR, CLKCR_CLKDIV))).max(1)
    }

    /// The first edge of SDMMC_CK from `edge` on.
    fn aligned(&self, edge: u64) -> u64 {
        edge.next_multiple_of(self.period())
    }

    /// The time of an edge that has passed or is to come.
    fn time(&self, edge: u64) -> Ps {
        self.clock.due(edge).unwrap_or(Ps::MAX)
    }

    /// The number of data lines.
    fn lines(&self) -> u32 {
        if self.registers.field(CLKCR, CLKCR_WIDBUS) == 1 { 4 } else { 1 }
    }

    /// Sets flags of SDMMC_STAR.
    fn raise(&mut self, flags: u32) {
        self.registers.put(STAR, flags, true);
    }

    /// SDMMC_STAR.
    fn status(&self) -> u32 {
        let fifo = self.data.as_ref().map_or(0, |data| data.fifo_flags(self.has_dma()));
        self.registers[STAR]
            | fifo
            | flag(STAR_DPSMACT, self.data.is_some())
            | flag(STAR_CPSMACT, self.command.is_some())
            | flag(STAR_BUSYD0, self.busy.is_some())
    }

    /// Does all that is due by now.
    fn advance(&mut self, ctx: &mut Ctx) {
        let edge = self.clock.edge(ctx.now);
        self.serve_fifo(ctx);
        while self.clock.is_running() {
            let due = |due: Option<u64>| due.filter(|due| *due <= edge);
            let command = due(self.command.as_ref().map(Command::due));
            let busy = due(self.busy.map(|[end, timeout]| end.min(timeout)));
            let data = due(self.data.as_ref().and_then(Transfer::due));
            let Some(first) = [command, busy, data].into_iter().flatten().min() else { break };
            if command == Some(first) {
                self.step_command(first, ctx);
            } else if busy == Some(first) {
                self.end_busy();
            } else {
                self.step_data(first, ctx);
                self.serve_fifo(ctx);
            }
        }
    }

    /// DAT0 is high again after a response, or stays low for too long.
    fn end_busy(&mut self) {
        if let Some([end, timeout]) = self.busy.take() {
            self.raise(if end <= timeout { STAR_BUSYD0END } else { STAR_DTIMEOUT });
        }
    }

    /// Drives the interrupt, and asks for the next event.
    fn drive(&mut self, ctx: &mut Ctx) {
        let level = self.status() & self.registers[MASKR] != 0;
        self.outputs.iter_mut().for_each(|output| output.drive(level, ctx));
        let data = self.data.as_ref();
        let edges = [
            self.command.as_ref().map(Command::due),
            self.busy.map(|[end, timeout]| end.min(timeout)),
            data.and_then(Transfer::due),
        ];
        let due = edges.into_iter().flatten().filter_map(|edge| self.clock.due(edge)).min();
        let due = due.into_iter().chain(data.and_then(Transfer::dma_due)).min();
        self.alarm.follow(due, 0, ctx);
    }

    fn take_notes(&mut self, ctx: &mut Ctx) {
        let notes = self.card.first_mut().map_or_else(Vec::new, |card| card.take_notes());
        for note in notes {
            ctx.note(&format!("{}: {note}", self.card_label));
        }
    }

    /// The switch of the slot.
    fn show_card(&self, ctx: &mut Ctx) {
        let is_in = self.card.first().is_some_and(|card| card.present(ctx.now));
        if let Some(pin) = self.params.detect.filter(|_| !self.card.is_empty()) {
            ctx.bus.drive_pin(pin, is_in.then_some(false), ctx.now);
        }
    }

    /// A polling loop is skipped while nothing is under way.
    fn is_quiet(&mut self, _poll: &mut Poll) -> bool {
        self.command.is_none() && self.data.is_none() && self.busy.is_none()
    }

    /// SDMMC_POWER was written.
    fn set_power(&mut self, ctx: &Ctx) {
        let is_on = self.registers.field(POWER, POWER_PWRCTRL) == ON;
        let edge = self.clock.next_edge(ctx.now);
        self.clocked_since = is_on.then(|| self.clocked_since.unwrap_or(edge));
    }

    /// The RCC resets the interface.
    fn reset_registers(&mut self) {
        self.registers.reset();
        (self.command, self.data, self.busy, self.clocked_since) = Default::default();
    }
}

impl Table for Sdmmc {
    const UPDATES_AFTER_READS: bool = true;

    fn settle(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
    }

    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        match register {
            STAR => self.status(),
            DCNTR => self.data.as_ref().map_or(0, |data| data.left),
            _ if register & !0x3c == FIFOR => self.pop_word(),
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            POWER => self.set_power(ctx),
            CMDR if new & CMDR_CPSMEN != 0 => self.begin_command(ctx),
            DCTRL if new & !old & DCTRL_DTEN != 0 => self.begin_data(self.clock.next_edge(ctx.now), ctx),
            _ if register & !0x3c == FIFOR => self.push_word(new, ctx),
            _ => {}
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
        self.drive(ctx);
    }
}

impl Device for Sdmmc {
    by_table!(alarm);

    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !0x3f == FIFOR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        let scope = ctx.bus.activities.scope(&self.card_label);
        if let Some(card) = self.card.first_mut() {
            card.observe(scope);
        }
        self.show_card(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
        let (from, to) = self.clock.follow(ctx);
        let moved = |edge: u64| if edge > from { to.saturating_add(edge - from) } else { to };
        let command_from = self.command_from;
        self.command_from = moved(command_from);
        self.clocked_since = self.clocked_since.map(|_| to);
        self.busy = self.busy.map(|edges| edges.map(moved));
        self.command = self.command.take().map(|command| command.moved(moved));
        if let Some(data) = &mut self.data {
            data.move_edges(moved);
        }
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers();
        }
        self.alarm.cancel(0, ctx);
        self.drive(ctx);
    }

    fn is_master(&self) -> bool {
        self.data.is_some() && self.has_dma()
    }

    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        self.card.iter_mut().map(|card| card as &mut dyn SpiTarget).collect()
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let mut all = totals([("commands", self.commands), ("blocks", self.blocks), ("bursts", self.bursts)]);
        let card = self.card.iter().flat_map(|card| card.counters());
        all.extend(card.map(|(name, count)| (format!("{}.{name}", self.card_label), count)));
        all
    }
}
