//! `cyclescope,picosoc-spimemio`: the flash interface of PicoSoC (YosysHQ's example SoC around PicoRV32), cycle by
//! cycle.
//!
//! A core executes in place from a window (`reg` range 1; the flash address is the bus address modulo 16 MiB). A
//! register (range 0) selects the mode of flash reads, or gives the pins to the firmware. The timing is that of its
//! state machine, in cycles of its clock (`clocks`), as found by simulating the SoC's RTL: it has no timing parameters.
//! A request whose first cycle is `now` is answered in the cycle that begins at `done`; the register answers in the
//! cycle of the request.
//!
//! The flash is the only child node. The core reads what the flash returns on the wire: a number of dummy clocks, a
//! width or a continuous read mode for which the flash is not configured reads wrong data.
//!
//! The register's pin bits show the pins in the cycle of the read, also while the interface is on; lines without a
//! driver read 1. A read by another master during a request returns the pins in the cycle of the request's answer
//! instead, and a read in the two cycles after a configuration write returns those of the third cycle, where the
//! hardware still completes its previous operation.
//!
//! Simplified: while firmware drives the pins by hand, the hardware never answers a read of the window, and the core
//! hangs; the model answers with an error and a note.

// `mode` has the settings of flash reads, `stream` the word that is held in each cycle, `lines` the stream on the
// lines, `look` the lines in one cycle.

pub mod lines;
mod look;
pub mod mode;
pub mod stream;

#[cfg(test)]
mod tests;

use self::lines::Wire;
use self::mode::{Mode, Width};
use self::stream::{ADDRESS_MASK, Stream};
use crate::prelude::*;
use crate::support::hosted_chip::HostedChip;
use engine::bus::device::PortId;
use engine::dt::fault::FaultKind;
use engine::observe::spi::SPI_WINDOW;
use engine::polling::End;
use engine::wire::spi::SpiTarget;
use engine::wire::spi_pins::{PinLevels, Pins};

registers! {
    /// The register map; each byte lane of the register can be written separately.
    const MAP "" {
        CFG "configuration" 0x0 rw reset 0x8008_0000 {
            IO 0..4, CLK 4, CSB 5, OE 8..12, DUMMY 16..20, CRM 20, QSPI 21, DDR 22, ENABLE 31,
        };
    }
}

/// Fields that show the pins.
const PINS: u32 = CFG_OE | CFG_CSB | CFG_CLK | CFG_IO;

/// The interface.
#[derive(State, Polled)]
#[poll(first = PicosocSpimemio::list_clock)]
pub struct PicosocSpimemio {
    /// First address of the window.
    #[state(skip)]
    window_base: u32,
    registers: Registers,
    #[poll(skip = "listed with the clock, in `list_clock`")]
    stream: Stream,
    wire: Wire,
    /// The pins, while firmware drives them by hand.
    #[poll(skip = "listed with the clock, in `list_clock`")]
    pins: Option<Pins>,
    #[poll(total)]
    words_requested: u64,
    /// Reads of the register while the lines were changing.
    moving_looks: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Spi, &["cyclescope,picosoc-spimemio"], 2, from_node)
    .with_activities(SPI_WINDOW)
    .naming(MAP.rows);

/// Builds the interface from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock(0, "the SoC's clock");
    let window_base = reader.reg(2).get(1).map_or(0, |(base, _)| *base);
    let chip = read_chip(reader).unwrap_or_else(HostedChip::none);
    Box::new(PicosocSpimemio::new(clock, window_base, chip))
}

fn read_chip(reader: &mut NodeReader) -> Option<HostedChip> {
    let children = reader.children();
    let [child] = children[..] else {
        let what = format!("the interface has one flash, as its child node; here it has {}", children.len());
        reader.fault_at("compatible", FaultKind::Incomplete { what });
        return None;
    };
    reader.child(child, |chip| {
        chip.u32("reg", [0], "the interface's only chip select is 0");
        HostedChip::from_node(chip, 0)
    })
}

impl PicosocSpimemio {
    /// The interface after reset, whose window begins at `window_base`, with a flash.
    pub fn new(clock: Hz, window_base: u32, chip: HostedChip) -> PicosocSpimemio {
        PicosocSpimemio {
            window_base,
            registers: Registers::new(&MAP),
            stream: Stream::reset(),
            wire: Wire::new(clock, chip),
            pins: None,
            words_requested: 0,
            moving_looks: 0,
        }
    }

    /// The first cycle at `now` or later.
    #[inline]
    fn cycle(&self, now: Ps) -> u64 {
        self.wire.line.clock.cycles_until_ceil(now).0
    }

    /// The value of the register in `cycle`.
    fn register(&mut self, cycle: u64) -> u32 {
        if let Some(pins) = &self.pins {
            return self.registers[CFG] & !CFG_IO | u32::from(pins.read(&*self.wire.line.chip));
        }
        let position = self.stream.look(cycle, &mut self.wire);
        self.moving_looks += u64::from(!self.stream.is_at_rest(cycle));
        let (pins, levels) = self.wire.look(position, cycle);
        let lines = flag(CFG_CSB, !pins.selected) | flag(CFG_CLK, pins.clock) | u32::from(levels);
        self.registers[CFG] & !PINS | u32::from(pins.enables) << CFG_OE.trailing_zeros() | lines
    }

    /// Sends the chip all clocks of the stream that ended before `now`, if it could do something by itself after them.
    fn catch_wire_up(&mut self, now: Ps) {
        if self.pins.is_none() && self.wire.line.chip.is_watched() {
            let cycle = self.cycle(now);
            let position = self.stream.look(cycle, &mut self.wire);
            self.wire.look(position, cycle);
        }
    }

    /// Updates the chip's interrupt line after an access, and requests an event for the stream's next end.
    #[inline]
    fn follow_chip(&mut self, ctx: &mut Ctx) {
        let (clock, now) = (self.wire.line.clock, ctx.now);
        let next_end = || self.stream.next_end(clock.cycles_until_ceil(now).0).filter(|_| self.pins.is_none());
        self.wire.line.follow(next_end, ctx);
    }

    /// A write that takes effect at `now`.
    fn configure(&mut self, config: u32, now: Ps) {
        self.registers.set(CFG, config);
        let at = self.cycle(now);
        let time = self.wire.line.time(at);
        if self.pins.is_none() {
            self.wire.line.look_closely();
            self.stream.stop(at, &mut self.wire);
            self.wire.drop_word();
        }
        if config & CFG_ENABLE != 0 {
            if let Some(mut pins) = self.pins.take() {
                self.wire.line.chip.access(time, |chip, at| pins.set(PinLevels::default(), at, chip));
                self.wire.show_pins(PinLevels::default(), at);
            }
            self.wire.set_mode(mode_of(config));
            self.stream.restart(at, self.wire.mode);
        } else {
            // A frame that the stream has begun continues if the new levels allow it.
            let selected = std::mem::take(&mut self.wire.line.selected);
            let pins =
                self.pins.get_or_insert_with(|| Pins::taken_over(PinLevels { selected, ..PinLevels::default() }));
            let levels = levels_of(config);
            self.wire.line.sck_clocks += u64::from(levels.clock && !pins.levels().clock);
            self.wire.line.chip.access(time, |chip, at| pins.set(levels, at, chip));
            self.wire.show_pins(levels, at);
        }
    }

    fn list_clock(&mut self, poll: &mut Poll) -> bool {
        let clock = self.wire.line.clock;
        poll.phase(clock);
        poll.edge(clock, &mut self.wire.line.free);
        poll.state(self.pins.is_some());
        if let Some(pins) = &mut self.pins {
            pins.polled(clock, poll);
            return true;
        }
        self.stream.list(clock, poll);
        // Data that are read ahead pass on the wire after the loop's request.
        let mut end = self.stream.next_end(clock.cycles_until_ceil(poll.now()).0).map(|end| self.wire.line.time(end));
        end.end(poll);
        true
    }

    /// A request for the word at `offset` of the window: returns the cycle of the answer.
    #[inline]
    fn request(&mut self, offset: u32, cycle: u64, ctx: &mut Ctx) -> Result<u64, SlaveError> {
        if self.pins.is_some() {
            return Err(refuse(ctx));
        }
        let answered = self.stream.request(cycle, self.address(offset) & !3, &mut self.wire);
        self.wire.unused = false;
        self.words_requested += 1;
        self.follow_chip(ctx);
        if self.wire.line.notes_due {
            self.wire.line.take_notes(ctx);
        }
        Ok(answered)
    }

    fn address(&self, offset: u32) -> u32 {
        self.window_base.wrapping_add(offset) & ADDRESS_MASK
    }

    /// A span of the window in flash addresses: its start, and the number of its bytes before the addresses wrap.
    fn span(&self, offset: u32, bytes: usize) -> (u32, usize) {
        let address = self.address(offset);
        (address, bytes.min((ADDRESS_MASK + 1 - address) as usize))
    }
}

#[cold]
fn refuse(ctx: &mut Ctx) -> SlaveError {
    ctx.note(
        "the window was accessed while the flash is driven by hand (bit 31 of the configuration register is 0): the \
         hardware never answers, and the core hangs; here it is answered with an error",
    );
    SlaveError { done: ctx.now }
}

fn mode_of(config: u32) -> Mode {
    let widths = [Width::SINGLE, Width::QUAD, Width::DUAL, Width::QUAD_DDR];
    let width = widths[field(config, CFG_DDR | CFG_QSPI) as usize];
    Mode { width, continuous: config & CFG_CRM != 0, dummy_clocks: field(config, CFG_DUMMY) }
}

fn levels_of(config: u32) -> PinLevels {
    PinLevels {
        selected: config & CFG_CSB == 0,
        clock: config & CFG_CLK != 0,
        enables: field(config, CFG_OE) as u8,
        levels: (config & CFG_IO) as u8,
    }
}

impl Device for PicosocSpimemio {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.wire.line.start(ctx);
        self.wire.line.signals.set_in_place(true);
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.catch_wire_up(ctx.now);
        self.wire.line.chip.event(ctx);
        self.follow_chip(ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.catch_wire_up(ctx.now);
        self.wire.line.chip.pins_changed(port, changed, levels, ctx);
        self.follow_chip(ctx);
    }

    #[inline]
    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let cycle = self.cycle(ctx.now);
        if range == 0 {
            let value = if offset & !3 == CFG { self.register(cycle) } else { 0 };
            self.follow_chip(ctx);
            return Ok(Reply::read(size.extracted(value, offset), self.wire.line.time(cycle)));
        }
        let answered = self.request(offset, cycle, ctx)?;
        Ok(Reply::read(size.extracted(self.wire.word, offset), self.wire.line.time(answered)))
    }

    fn write(&mut self, range: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let cycle = self.cycle(ctx.now);
        if range != 0 {
            let answered = self.request(offset, cycle, ctx)?;
            ctx.note("a write to the window reads the flash, and changes nothing");
            return Ok(Reply::written(self.wire.line.time(answered)));
        }
        if offset & !3 == CFG {
            self.configure(size.merged(self.registers[CFG], offset, value) & MAP.rows[0].mask, ctx.now);
            self.follow_chip(ctx);
            self.wire.line.take_notes(ctx);
        }
        Ok(Reply::written(self.wire.line.time(cycle)))
    }

    fn peek(&self, range: usize, offset: u32, into: &mut [u8]) -> bool {
        if range == 0 {
            return false;
        }
        let (address, first) = self.span(offset, into.len());
        let (first, wrapped) = into.split_at_mut(first);
        self.wire.line.chip.peek(address, first) && (wrapped.is_empty() || self.wire.line.chip.peek(0, wrapped))
    }

    fn preload(&mut self, range: usize, offset: u32, bytes: &[u8]) -> bool {
        if range == 0 {
            return false;
        }
        let (address, first) = self.span(offset, bytes.len());
        let (first, wrapped) = bytes.split_at(first);
        self.wire.line.chip.preload(address, first) && (wrapped.is_empty() || self.wire.line.chip.preload(0, wrapped))
    }

    fn own_clock(&self) -> Option<Hz> {
        Some(self.wire.line.clock)
    }

    /// A word that the stream holds, or reads with a frame like the previous one.
    #[inline]
    fn read_alone(&mut self, range: usize, offset: u32, bytes: u32, edge: u64) -> Option<(u32, u64)> {
        if range == 0
            || bytes > 4
            || self.pins.is_some()
            || self.wire.line.chip.is_watched()
            || !self.wire.jumps_quietly()
        {
            return None;
        }
        let answered = self.stream.request(edge, self.address(offset) & !3, &mut self.wire);
        self.wire.unused = false;
        self.wire.line.notes_due = false;
        self.words_requested += 1;
        Some((self.wire.word >> (8 * (offset % 4)) & u32::MAX >> (32 - 8 * bytes), answered))
    }

    /// A line fill: its words, one request after the other.
    fn burst(&mut self, range: usize, offset: u32, bytes: u32, ctx: &mut Ctx) -> Result<Ps, SlaveError> {
        if range == 0 {
            return Err(SlaveError { done: ctx.now });
        }
        let mut cycle = self.cycle(ctx.now);
        let words = (offset % 4 + bytes).div_ceil(4).max(1);
        for word in 0..words {
            let answered = self.request(offset.wrapping_add(4 * word), cycle, ctx)?;
            cycle = answered + 1;
        }
        Ok(self.wire.line.time(cycle - 1))
    }

    fn finish(&mut self, now: Ps) {
        if self.pins.is_none() {
            let at = self.wire.line.clock.cycles_until_floor(now).0;
            self.stream.stop(at, &mut self.wire);
            self.wire.drop_word();
        }
    }

    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        vec![self.wire.line.chip.target()]
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let wire = &self.wire;
        wire.line.chip.counters_after(&[
            ("words_requested", self.words_requested),
            ("words_unused", wire.words_unused),
            ("jumps", wire.jumps),
            ("sck_clocks", wire.line.sck_clocks),
        ])
    }
}
