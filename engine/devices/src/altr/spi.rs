//! `altr,spi-1.0`: Altera's SPI core for Avalon as a master (Embedded Peripherals IP User Guide, 683130, SPI Core; the
//! clock counts are those of the RTL that its generator writes).
//!
//! Modelled, to the clock: all registers, including the end-of-packet value; one word in the holding register besides
//! the one on the wire; automatic slave selects or SSO; transfers of 1 to 32 bits, either bit first; overrun flags;
//! interrupts. A word starts three clocks after the start of the access that writes it. With half a period of SCK of
//! `h` clocks, the slave is selected `h` clocks later, SCK has its first edge after `h` more clocks, and the slave is
//! deselected `h` clocks after SCK's last edge: `2 bits + 2` halves in all, and a clock more with CPHA 1. The model has
//! the slave's answer when the word starts, and shows it at its end.
//!
//! An access takes two clocks in the core (an Avalon transfer with one wait state, the value for
//! `cyclescope,read-cycles` and `cyclescope,write-cycles`): a read returns the state in the first clock, a write takes
//! effect at the end of the second.
//!
//! Not modelled: slave mode, the generator's option of a longer delay after the slave select, synchronisers at the data
//! input. If clock polarity and phase differ, which the slaves do not support, a note says so, and data are shifted as
//! if they were equal. A write narrower than a word writes zeroes to the other lanes.

mod params;
mod shifter;

#[cfg(test)]
mod tests;

use self::params::Params;
use self::shifter::Shifter;
use crate::prelude::*;
use crate::support::hosted_chip::{CONTROLLER_EVENT, Chips};
use crate::support::interrupt_output::InterruptOutput;
use engine::bus::device::PortId;
use engine::observe::spi::SPI;
use engine::wire::spi::{Lines, SpiTarget};

registers! {
    /// The register map of a core with 32 bits and 32 slaves (SPI Core, Register Map). Interrupts are enabled at the
    /// bits of the status register, except for TMT, which raises no interrupt.
    const MAP "" {
        RXDATA "rxdata" 0x00 ro;
        TXDATA "txdata" 0x04 wo;
        STATUS "status" 0x08 rw reset 0x60 {
            ROE 3 ro, TOE 4 ro, TMT 5 ro, TRDY 6 ro, RRDY 7 ro, E 8 ro, EOP 9 ro
        };
        CONTROL "control" 0x0c rw { ROE 3, TOE 4, TRDY 6, RRDY 7, E 8, EOP 9, SSO 10 };
        SLAVESELECT "slaveselect" 0x14 rw volatile reset 1;
        EOP_VALUE "eop_value" 0x18 rw;
    }
}

/// The bits of an offset that the core decodes.
const DECODED: u32 = 0x1f;
/// Bits of the status register that stay until they are cleared; the others follow from the state.
const FLAGS: u32 = STATUS_ROE | STATUS_TOE | STATUS_RRDY | STATUS_EOP;
/// Clocks of an access in the core.
const ACCESS_CYCLES: u64 = 2;

/// The core.
#[derive(State, Polled, RegisterBank)]
#[port(Port::axi_lite(self.shifter.params.port).decoding(DECODED))]
#[poll(first = AltrSpi::is_listed)]
pub struct AltrSpi {
    shifter: Shifter,
    registers: Registers,
    interrupt: InterruptOutput,
    /// The end of the word for which an event was requested.
    #[poll(end)]
    awaited: Cycles,
    #[poll(total)]
    receive_overruns: u64,
    #[poll(total)]
    transmit_overruns: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Spi, &["altr,spi-1.0"], 1, from_node).with_activities(SPI).naming(MAP.rows);

/// Builds the core from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let params = Params::from_node(reader);
    let chips = Chips::from_node(reader, params.slaves);
    Box::new(AltrSpi::new(params, chips))
}

impl AltrSpi {
    /// The core after reset, with a chip or without on each slave select.
    pub fn new(params: Params, chips: Chips) -> AltrSpi {
        AltrSpi {
            shifter: Shifter::new(params, chips),
            registers: Registers::new(&MAP),
            interrupt: InterruptOutput::new(params.interrupt),
            awaited: Cycles(0),
            receive_overruns: 0,
            transmit_overruns: 0,
        }
    }

    /// Carries out all changes up to edge `edge`.
    fn advance(&mut self, edge: u64) {
        while let Some(received) = self.shifter.end_word(Cycles(edge)) {
            if self.registers.has(STATUS, STATUS_RRDY) {
                self.raise(STATUS_ROE, true);
                self.receive_overruns += 1;
            }
            self.raise(STATUS_RRDY, true);
            self.registers.set(RXDATA, received);
        }
    }

    /// Sets flags of the status register if `on`.
    fn raise(&mut self, flags: u32, on: bool) {
        self.registers.put(STATUS, flag(flags, on), true);
    }

    fn status(&self) -> u32 {
        let flags = self.registers[STATUS] & FLAGS;
        flags
            | flag(STATUS_E, flags & (STATUS_ROE | STATUS_TOE) != 0)
            | flag(STATUS_TMT, self.shifter.word_end().is_none())
            | flag(STATUS_TRDY, self.shifter.takes_word())
    }

    /// A read of rxdata that begins in clock `cycle`.
    fn receive(&mut self, cycle: u64) -> u32 {
        let received = self.registers[RXDATA];
        self.raise(STATUS_EOP, received == self.registers[EOP_VALUE]);
        self.clear(STATUS_RRDY, cycle);
        received
    }

    /// Clears flags at the end of the access that began in `cycle`. A word that ends at the same time sets RRDY again,
    /// and finds it still set.
    fn clear(&mut self, flags: u32, cycle: u64) {
        let edge = cycle + ACCESS_CYCLES;
        self.advance(edge - 1);
        let kept = flag(STATUS_RRDY, self.shifter.word_end() == Some(Cycles(edge)));
        self.registers.put(STATUS, flags & !kept, false);
    }

    fn wrote_control(&mut self, new: u32, edge: u64, ctx: &mut Ctx) {
        self.advance(edge);
        if self.shifter.set_select_output(new & CONTROL_SSO != 0, Cycles(edge)) {
            ctx.note("SSO changed the slave select in the middle of a transfer; here it changes after its last bit");
        }
    }

    fn wrote_select(&mut self, new: u32, edge: u64, ctx: &mut Ctx) {
        self.advance(edge);
        let selects = self.shifter.bus.existing(new);
        if selects.count_ones() > 1 {
            ctx.note("slaveselect selects several slaves at once: the lowest is taken");
        }
        self.shifter.select_holding = selects;
    }

    /// A write of txdata that ends at `edge`.
    fn transmit(&mut self, word: u32, edge: u64, ctx: &mut Ctx) {
        if self.shifter.params.format.cpol != self.shifter.params.format.cpha {
            ctx.note("SCK's polarity and phase differ: the slave would read wrong bits; here it reads right ones");
        }
        self.advance(edge - 1);
        self.raise(STATUS_EOP, word == self.registers[EOP_VALUE]);
        let taken = self.shifter.takes_word();
        self.advance(edge);
        if taken {
            self.shifter.take_word(word, Cycles(edge));
        } else {
            self.raise(STATUS_TOE, true);
            self.transmit_overruns += 1;
        }
    }

    /// Updates the interrupt line, and requests an event for the end of the word on the wire, which may raise it a
    /// clock later.
    fn update_interrupt(&mut self, ctx: &mut Ctx) {
        let enabled = self.enabled();
        let level = self.status() & enabled != 0;
        self.interrupt.drive(level, ctx);
        if let Some(end) = self.shifter.word_end().filter(|end| enabled != 0 && !level && *end != self.awaited) {
            self.awaited = end;
            ctx.schedule(self.shifter.params.port.clock.ps_at_floor(Cycles(end.0 + 1)), CONTROLLER_EVENT);
        }
    }

    /// The interrupts that are enabled.
    fn enabled(&self) -> u32 {
        self.registers[CONTROL] & !CONTROL_SSO
    }

    /// Updates the chips' pins and the interrupt after a possible change.
    fn follow(&mut self, ctx: &mut Ctx) {
        if self.shifter.bus.chips.have_pins() {
            let word_end = self.shifter.word_end().map(|end| self.shifter.params.port.clock.ps_at_floor(end));
            self.shifter.bus.chips.follow(word_end, ctx);
        }
        self.update_interrupt(ctx);
    }

    /// False if the end of the word on the wire is awaited, or the accesses wait for edges of another clock.
    fn is_listed(&mut self, poll: &mut Poll) -> bool {
        self.advance(self.cycle(poll.now()));
        let asks = self.enabled() != 0 || self.shifter.bus.chips.have_pins();
        let waits = asks && self.shifter.word_end().is_some();
        poll.clock() == self.shifter.params.port.clock && !waits
    }

    fn cycle(&self, at: Ps) -> u64 {
        self.shifter.params.port.clock.cycles_until_ceil(at).0
    }
}

impl Table for AltrSpi {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.advance(self.cycle(ctx.now));
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            STATUS => self.status(),
            CONTROL | EOP_VALUE => held,
            SLAVESELECT => self.shifter.select,
            RXDATA => self.receive(self.cycle(ctx.now)),
            // The core decodes no other offsets.
            _ => self.registers[RXDATA],
        }
    }

    fn was_read(&mut self, _: u32, ctx: &mut Ctx) {
        self.update(ctx);
    }

    fn wrote(&mut self, register: u32, _: u32, new: u32, ctx: &mut Ctx) {
        let cycle = self.cycle(ctx.now);
        let edge = cycle + ACCESS_CYCLES;
        match register {
            TXDATA => self.transmit(new & self.shifter.params.format.mask(), edge, ctx),
            STATUS => self.clear(FLAGS, cycle),
            CONTROL => self.wrote_control(new, edge, ctx),
            SLAVESELECT => self.wrote_select(new, edge, ctx),
            _ => self.registers.set(EOP_VALUE, new & self.shifter.params.format.mask()),
        }
    }

    fn refused(&mut self, register: u32, _: Refused, ctx: &mut Ctx) {
        ctx.note(&format!("a write to offset {register:#x}, where no register to write is, has no effect"));
    }

    fn update(&mut self, ctx: &mut Ctx) {
        if std::mem::take(&mut self.shifter.has_let_go) {
            self.shifter.bus.chips.take_notes(ctx);
        }
        self.follow(ctx);
    }
}

impl Device for AltrSpi {
    by_table!();

    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == RXDATA
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.shifter.bus.name_lines(Lines::Single, ctx);
        self.shifter.bus.signals.rest(self.shifter.params.format.cpol, ctx.now);
        self.shifter.bus.chips.start(ctx);
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.advance(self.cycle(ctx.now));
        self.shifter.bus.chips.event(token, ctx);
        self.follow(ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.advance(self.cycle(ctx.now));
        self.shifter.bus.chips.pins_changed(port, changed, levels, ctx);
        self.follow(ctx);
    }

    fn finish(&mut self, now: Ps) {
        self.advance(self.cycle(now));
    }

    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        self.shifter.bus.chips.targets()
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let bus = &self.shifter.bus;
        bus.chips.counters_after(&[
            ("bytes", bus.clocks / 8),
            ("sck_clocks", bus.clocks),
            ("frames", bus.frames),
            ("rx_overruns", self.receive_overruns),
            ("tx_overruns", self.transmit_overruns),
        ])
    }
}
