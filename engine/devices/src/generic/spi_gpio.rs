//! `spi-gpio`: an SPI bus on pins of GPIO ports (Linux's binding of that name). It has no registers: firmware generates
//! clocks and bits by writing to the ports, and reads the chips' answers there.
//!
//! Modelled: the bus as wires. A register write of a port changes all its pins at once; a line that changes together
//! with the clock counts from the next edge on. A chip drives MISO while it is selected, with its output delay; MISO is
//! brought up to date when a port reads its pins. If several selected chips drive MISO to different levels, low wins.
//! Any wiring works as on a board: if MOSI and MISO are swapped, two outputs drive against each other, and the other
//! two ends float.
//!
//! A chip's `interrupts`, `sleep-gpio`, `reset-gpio` and `vdd-off-gpio` are wires, too
//! ([`crate::support::hosted_chip`]). Chip selects are active low, as the chips have them; the flags of
//! `cs-gpios` are for drivers, and have no effect here.
//!
//! Totals: `sck_clocks` (rising edges of the clock while a chip is selected), `frames` (falling edges of chip selects).

use crate::prelude::*;
use crate::support::hosted_chip::{Chips, name_wire};
use engine::activity::{Kind, Scope};
use engine::bus::device::{DeviceId, PortId};
use engine::dt::fault::FaultKind;
use engine::observe::spi::{FRAME, SPI_BY_PINS};
use engine::pins::Pin;
use engine::wire::spi::{MISO, SpiTarget};
use engine::wire::spi_pins::{PinLevels, Pins};

/// The most chip selects of any controller.
const MOST_SELECTS: u32 = 32;

/// The pins of the bus.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// Clock, from the port.
    pub sck: Pin,
    /// Data to the chips.
    pub mosi: Pin,
    /// Data from the chips.
    pub miso: Pin,
    /// Chip selects, active low.
    pub selects: Vec<Pin>,
}

/// The bus.
#[derive(State, Polled)]
#[poll(never = "no loop reads it: it has no address")]
pub struct SpiGpio {
    #[state(skip)]
    wiring: Wiring,
    chips: Chips,
    /// The pins of the chip on each select.
    #[state(with = engine::state::fixed)]
    pins: Vec<Pins>,
    /// The levels on the port's side of the bus; `selected` is not used.
    lines: PinLevels,
    /// The level to which the chips drive MISO.
    driven: Option<bool>,
    /// The time of the last update of that level.
    looked: Ps,
    /// True if it is about to change after a chip's output delay.
    moving: bool,
    sck_clocks: u64,
    frames: u64,
    scope: Scope,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Spi, &["spi-gpio"], 0, from_node).with_activities(SPI_BY_PINS);

/// Builds the bus from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let selects = reader.u32("num-chipselects", 1..=MOST_SELECTS, "the bus has 1 to 32 chip selects");
    let wiring = Wiring {
        sck: pin(reader, "sck-gpios", "the pin of the clock"),
        mosi: pin(reader, "mosi-gpios", "the pin of the data to the chips"),
        miso: pin(reader, "miso-gpios", "the pin of the data from the chips"),
        selects: select_pins(reader, selects),
    };
    let chips = Chips::from_node(reader, selects.min(MOST_SELECTS));
    Box::new(SpiGpio::new(wiring, chips))
}

/// A pin that the bus needs. Without the property, which is a fault, a pin that is never used.
pub(super) fn pin(reader: &mut NodeReader, property: &str, meaning: &str) -> Pin {
    let pins = reader.required_gpios(property, 1, meaning);
    pins.first().copied().unwrap_or(Pin::new(DeviceId(u32::MAX), 0))
}

fn select_pins(reader: &mut NodeReader, selects: u32) -> Vec<Pin> {
    const NAME: &str = "cs-gpios";
    let mut pins = reader.required_gpios(NAME, selects as usize + 1, "a pin for each chip select");
    if reader.node.property(NAME).is_some() && pins.len() as u32 != selects {
        let value = format!("another number of pins than num-chipselects ({selects})");
        let allowed = "each chip select has a pin".to_owned();
        reader.fault_at(NAME, FaultKind::OutOfRange { property: NAME.into(), value, allowed });
    }
    pins.truncate(selects as usize);
    pins
}

impl SpiGpio {
    /// The bus, with a chip or without on each chip select.
    pub fn new(wiring: Wiring, chips: Chips) -> SpiGpio {
        SpiGpio {
            pins: vec![Pins::new(); wiring.selects.len()],
            wiring,
            chips,
            lines: PinLevels { selected: false, clock: true, enables: 1, levels: 1 },
            driven: None,
            looked: Ps::ZERO,
            moving: false,
            sck_clocks: 0,
            frames: 0,
            scope: Scope::default(),
        }
    }

    /// Takes over changes on the port's side of the bus.
    fn take_lines(&mut self, port: PortId, changed: u32, levels: u32, now: Ps) {
        let level = |pin: Pin| (pin.port == port && pin.of(changed)).then(|| pin.of(levels));
        let rose = level(self.wiring.sck) == Some(true);
        self.lines.clock = level(self.wiring.sck).unwrap_or(self.lines.clock);
        self.lines.levels = level(self.wiring.mosi).map_or(self.lines.levels, u8::from);
        let mut clocked = false;
        for (index, (pins, line)) in self.pins.iter_mut().zip(&self.wiring.selects).enumerate() {
            let was_selected = pins.levels().selected;
            let selected = level(*line).map_or(was_selected, |level| !level);
            self.frames += u64::from(selected && !was_selected);
            clocked |= selected && rose;
            let frame = (&FRAME, index as u32);
            if selected != was_selected {
                self.scope.level(frame, selected, now);
            }
            if selected && rose && self.scope.records(Kind::Frame) {
                // On the edge, the lines have the levels from before it.
                let mosi = pins.levels().levels & 1;
                let miso = self.chips.get(index).is_none_or(|chip| {
                    let (driven, levels) = pins.driven(&**chip, now)[0];
                    driven & MISO == 0 || levels & MISO != 0
                });
                self.scope.bits(frame, 1, Some(mosi.into()), Some(miso.into()));
            }
            if let Some(chip) = self.chips.get_mut(index) {
                pins.set(PinLevels { selected, ..self.lines }, now, chip.target());
            }
        }
        self.sck_clocks += u64::from(clocked);
    }

    /// Brings MISO up to `ctx.now`.
    fn drive_miso(&mut self, ctx: &mut Ctx) {
        let [now, settled] = self.chips.miso(&self.pins, ctx.now);
        if now != self.driven {
            let since = if ctx.bus.waves.is_on() { self.changed_at(now, ctx.now) } else { ctx.now };
            self.driven = now;
            ctx.bus.drive_pin_since(self.wiring.miso, now, since, ctx.now);
        }
        self.looked = ctx.now;
        if self.moving != (now != settled) {
            self.moving = now != settled;
            ctx.bus.wires.set_moving(self.wiring.miso, self.moving);
        }
    }

    /// Brings MISO up to `ctx.now`, before another access to the bus.
    fn settle_miso(&mut self, ctx: &mut Ctx) {
        if self.moving {
            self.drive_miso(ctx);
        }
        self.looked = ctx.now;
    }

    /// The time since the last update at which MISO changed to its level of `now`, for waveforms.
    fn changed_at(&self, level: Option<bool>, now: Ps) -> Ps {
        let (mut before, mut after) = (self.looked, now);
        while after.0 > before.0 + 1 {
            let middle = Ps(before.0 + (after.0 - before.0) / 2);
            if self.chips.miso(&self.pins, middle)[0] == level { after = middle } else { before = middle }
        }
        after
    }
}

impl Device for SpiGpio {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.scope = ctx.scope();
        let label = ctx.label().to_owned();
        let Wiring { sck, mosi, miso, selects } = &self.wiring;
        for (pin, name) in [(sck, "sck"), (mosi, "mosi"), (miso, "miso")] {
            name_wire(*pin, &label, name, ctx);
        }
        for (index, line) in selects.iter().enumerate() {
            name_wire(*line, &label, &format!("cs{index}"), ctx);
        }
        let driven: Vec<Pin> = [*sck, *mosi].iter().chain(selects).copied().collect();
        for pin in &driven {
            ctx.bus.wires.watch(*pin, ctx.id, false);
        }
        ctx.bus.wires.watch(*miso, ctx.id, true);
        self.chips.start(ctx);
        // The present levels of the wires: ports report later changes.
        for pin in driven {
            self.take_lines(pin.port, pin.mask(), ctx.bus.wires.levels(pin.port), ctx.now);
        }
        self.drive_miso(ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.settle_miso(ctx);
        self.take_lines(port, changed, levels, ctx.now);
        for (_, chip) in self.chips.each() {
            chip.pins_changed(port, changed, levels, ctx);
            chip.settle(ctx);
        }
        self.drive_miso(ctx);
    }

    fn pins_sampled(&mut self, _port: PortId, ctx: &mut Ctx) {
        self.settle_miso(ctx);
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.settle_miso(ctx);
        self.chips.event(token, ctx);
        self.drive_miso(ctx);
    }

    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        self.chips.targets()
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.chips.counters_after(&[("sck_clocks", self.sck_clocks), ("frames", self.frames)])
    }
}

#[cfg(test)]
mod tests;
