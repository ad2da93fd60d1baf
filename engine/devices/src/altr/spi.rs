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
use crate::model::{Group, Model};
use crate::support::axi_lite::on_lanes;
use crate::support::hosted_chip::{CONTROLLER_EVENT, Chips};
use crate::support::registers::{AccessKind, Register, flag};
use engine::bus::device::{AccessSize, Ctx, Device, PortId, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::observe::spi::SPI;
use engine::observe::spi::SpiSignals;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Ps};
use engine::wire::spi::{Lines, SpiTarget};

/// The register map of a core with 8 bits and one slave (SPI Core, Register Map).
pub const REGISTERS: &[Register] = &[
    Register::new("rxdata", RXDATA, AccessKind::Ro, 0, 0xff),
    Register::new("txdata", TXDATA, AccessKind::Wo, 0, 0xff),
    Register::new("status", STATUS, AccessKind::Rw, st::TMT | st::TRDY, 0x3f8),
    Register::new("control", CONTROL, AccessKind::Rw, 0, ctl::ALL),
    Register::new("slaveselect", SLAVESELECT, AccessKind::Rw, 1, 1),
    Register::new("eop_value", EOP_VALUE, AccessKind::Rw, 0, 0xff),
];

const RXDATA: u32 = 0x0;
const TXDATA: u32 = 0x4;
const STATUS: u32 = 0x8;
const CONTROL: u32 = 0xc;
const SLAVESELECT: u32 = 0x14;
const EOP_VALUE: u32 = 0x18;

/// Bits of the status register.
mod st {
    pub const ROE: u32 = 1 << 3;
    pub const TOE: u32 = 1 << 4;
    pub const TMT: u32 = 1 << 5;
    pub const TRDY: u32 = 1 << 6;
    pub const RRDY: u32 = 1 << 7;
    pub const E: u32 = 1 << 8;
    pub const EOP: u32 = 1 << 9;
}

/// Bits of the control register: interrupt enables at the status register's bits, except for TMT, which raises no
/// interrupt; and SSO.
mod ctl {
    use super::st;
    pub const INTERRUPTS: u32 = st::ROE | st::TOE | st::TRDY | st::RRDY | st::E | st::EOP;
    pub const SSO: u32 = 1 << 10;
    pub const ALL: u32 = INTERRUPTS | SSO;
}

/// Clocks of an access in the core.
const ACCESS_CYCLES: u64 = 2;

/// The core.
#[derive(State)]
pub struct AltrSpi {
    #[state(skip)]
    params: Params,
    shifter: Shifter,
    control: u32,
    rxdata: u32,
    eop_value: u32,
    /// RRDY, ROE, TOE and EOP; the other bits of the status follow from the state.
    flags: u32,
    irq_level: bool,
    /// The end of the word for which an event was requested.
    awaited: Cycles,
    receive_overruns: u64,
    transmit_overruns: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Spi, &["altr,spi-1.0"], 1, from_node).with_activities(SPI).naming(REGISTERS);

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
            params,
            shifter: Shifter::new(params, chips),
            control: 0,
            rxdata: 0,
            eop_value: 0,
            flags: 0,
            irq_level: false,
            awaited: Cycles(0),
            receive_overruns: 0,
            transmit_overruns: 0,
        }
    }

    /// Carries out all changes up to edge `edge`.
    fn advance(&mut self, edge: u64) {
        while let Some(received) = self.shifter.end_word(Cycles(edge)) {
            if self.flags & st::RRDY != 0 {
                self.flags |= st::ROE;
                self.receive_overruns += 1;
            }
            self.flags |= st::RRDY;
            self.rxdata = received;
        }
    }

    fn status(&self) -> u32 {
        self.flags
            | flag(st::E, self.flags & (st::ROE | st::TOE) != 0)
            | flag(st::TMT, self.shifter.is_empty())
            | flag(st::TRDY, self.shifter.takes_word())
    }

    /// The value of a read that begins in clock `cycle`.
    fn register(&mut self, offset: u32, cycle: u64) -> u32 {
        self.advance(cycle);
        match offset {
            STATUS => self.status(),
            CONTROL => self.control,
            SLAVESELECT => self.shifter.select_register(),
            EOP_VALUE => self.eop_value,
            RXDATA => {
                let rxdata = self.rxdata;
                self.flags |= flag(st::EOP, rxdata == self.eop_value);
                self.clear(st::RRDY, cycle);
                rxdata
            }
            // The core decodes no other offsets.
            _ => self.rxdata,
        }
    }

    /// Clears flags at the end of the access that began in `cycle`. A word that ends at the same time sets RRDY again,
    /// and finds it still set.
    fn clear(&mut self, flags: u32, cycle: u64) {
        let edge = cycle + ACCESS_CYCLES;
        self.advance(edge - 1);
        let kept = flag(st::RRDY, self.shifter.ends_at(Cycles(edge)));
        self.flags &= !(flags & !kept);
    }

    fn set_register(&mut self, offset: u32, value: u32, cycle: u64, ctx: &mut Ctx) {
        let edge = cycle + ACCESS_CYCLES;
        match offset {
            TXDATA => self.transmit(value & self.params.data_mask(), edge, ctx),
            STATUS => self.clear(st::EOP | st::RRDY | st::TOE | st::ROE, cycle),
            CONTROL => {
                self.advance(edge);
                self.control = value & ctl::ALL;
                if self.shifter.set_select_output(value & ctl::SSO != 0, Cycles(edge)) {
                    ctx.note(
                        "SSO changed the slave select in the middle of a transfer; here it changes after its last bit",
                    );
                }
            }
            SLAVESELECT => {
                self.advance(edge);
                let selects = value & self.params.select_mask();
                if selects.count_ones() > 1 {
                    ctx.note("slaveselect selects several slaves at once: the lowest is taken");
                }
                self.shifter.set_select_holding(selects);
            }
            EOP_VALUE => self.eop_value = value & self.params.data_mask(),
            _ => ctx.note(&format!("a write to offset {offset:#x}, where no register to write is, has no effect")),
        }
    }

    /// A write of txdata that ends at `edge`.
    fn transmit(&mut self, word: u32, edge: u64, ctx: &mut Ctx) {
        if self.params.clock_polarity != self.params.clock_phase {
            ctx.note("SCK's polarity and phase differ: the slave would read wrong bits; here it reads right ones");
        }
        self.advance(edge - 1);
        self.flags |= flag(st::EOP, word == self.eop_value);
        let taken = self.shifter.takes_word();
        self.advance(edge);
        if taken {
            self.shifter.take_word(word, Cycles(edge));
        } else {
            self.flags |= st::TOE;
            self.transmit_overruns += 1;
        }
    }

    /// Updates the interrupt line, and requests an event for the end of the word on the wire, which may raise it a
    /// clock later.
    fn update_interrupt(&mut self, ctx: &mut Ctx) {
        let enabled = self.control & ctl::INTERRUPTS;
        let level = self.status() & enabled != 0;
        if level != self.irq_level {
            self.irq_level = level;
            ctx.set_irq(self.params.interrupt, level);
        }
        if let Some(end) = self.shifter.word_end().filter(|end| enabled != 0 && !level && *end != self.awaited) {
            self.awaited = end;
            ctx.schedule(self.params.port.clock.ps_at_floor(Cycles(end.0 + 1)), CONTROLLER_EVENT);
        }
    }

    fn take_notes(&mut self, ctx: &mut Ctx) {
        if self.shifter.has_let_go() {
            self.shifter.chips.take_notes(ctx);
        }
    }

    /// Updates the chips' pins and the interrupt after a possible change.
    fn settle(&mut self, ctx: &mut Ctx) {
        if self.shifter.chips.have_pins() {
            let word_end = self.shifter.word_end().map(|end| self.params.port.clock.ps_at_floor(end));
            self.shifter.chips.follow(word_end, ctx);
        }
        self.update_interrupt(ctx);
    }

    fn cycle(&self, at: Ps) -> u64 {
        self.params.port.clock.cycles_until_ceil(at).0
    }
}

impl Device for AltrSpi {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == RXDATA
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        let signals =
            SpiSignals::new(&ctx.bus.waves, ctx.scope(), ctx.label(), Lines::Single, self.params.slaves as usize);
        signals.rest(self.params.clock_polarity, ctx.now);
        self.shifter.signals = signals;
        self.shifter.chips.start(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let cycle = self.cycle(ctx.now);
        let register = self.register(offset & 0x1c, cycle);
        self.take_notes(ctx);
        self.settle(ctx);
        let done = Cycles(cycle + self.params.port.read_cycles.0);
        Ok(Reply::read(size.extracted(register, offset), self.params.port.clock.ps_at_floor(done)))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        let cycle = self.cycle(ctx.now);
        self.set_register(offset & 0x1c, on_lanes(value, offset, size), cycle, ctx);
        self.take_notes(ctx);
        self.settle(ctx);
        let done = Cycles(cycle + self.params.port.write_cycles.0);
        Ok(Reply::written(self.params.port.clock.ps_at_floor(done)))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.advance(self.cycle(ctx.now));
        self.shifter.chips.event(token, ctx);
        self.settle(ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.advance(self.cycle(ctx.now));
        self.shifter.chips.pins_changed(port, changed, levels, ctx);
        self.settle(ctx);
    }

    fn finish(&mut self, now: Ps) {
        self.advance(self.cycle(now));
    }

    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        self.shifter.chips.targets()
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let sck_clocks = self.shifter.words * u64::from(self.params.bits);
        let mut counters = vec![
            ("bytes".to_owned(), sck_clocks / 8),
            ("sck_clocks".to_owned(), sck_clocks),
            ("frames".to_owned(), self.shifter.frames),
            ("rx_overruns".to_owned(), self.receive_overruns),
            ("tx_overruns".to_owned(), self.transmit_overruns),
        ];
        counters.extend(self.shifter.chips.counters());
        counters
    }
}

impl Polled for AltrSpi {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.advance(self.cycle(poll.now()));
        let asks = self.control & ctl::INTERRUPTS != 0 || self.shifter.chips.have_pins();
        let waits = asks && self.shifter.word_end().is_some();
        if poll.clock() != self.params.port.clock || waits {
            return false;
        }
        for register in [self.control, self.rxdata, self.eop_value, self.flags] {
            poll.state(register);
        }
        poll.counter(&mut self.receive_overruns);
        poll.counter(&mut self.transmit_overruns);
        self.shifter.polled(poll)
    }
}
