//! A chip on a wire together with what it has beyond the wire: an interrupt pin, pins that a port controls, an alarm for what it does by
//! itself, and notes for the user. For controllers whose chips have such; they call [`HostedChip::start`] at reset and
//! [`HostedChip::settle`] after all that they do to the chip, and pass on events and changes of pins.

use crate::board::reader::NodeReader;
use crate::device::{Alarm, Ctx, DeviceId, IrqLine};
use crate::wire::spi::{ControlPin, SpiTarget};
use crate::wires::Pin;

/// What the interrupt of a chip's node is.
pub const INTERRUPT: &str = "where the chip's interrupt pin leads to";
/// Properties that lead a port's pin to a pin of the chip: the name of the wire, the pin, and what that is.
pub const CONTROLS: [(&str, &str, ControlPin, &str); 3] = [
    ("sleep-gpio", "sleep", ControlPin::Sleep, "a port's pin that leads to the one that lets the chip sleep"),
    ("reset-gpio", "reset", ControlPin::Reset, "a port's pin that leads to the chip's reset"),
    ("vdd-off-gpio", "vdd_off", ControlPin::PowerOff, "a port's pin that switches the chip's supply off"),
];

/// A chip, hosted by the device that drives its wire.
pub struct HostedChip {
    /// The chip.
    pub target: Box<dyn SpiTarget>,
    label: String,
    /// Where its interrupt pin leads, and the level there.
    interrupt: Option<IrqLine>,
    level: bool,
    /// Pins of ports that lead to pins of the chip: with the name of the wire.
    controls: Vec<(Pin, ControlPin, &'static str)>,
    alarm: Alarm,
    /// The device's token for the alarm.
    token: u32,
}

impl HostedChip {
    /// A chip with the label of its node, its interrupt pin, and the token of the events that wake it: no other of its host's.
    pub fn new(target: Box<dyn SpiTarget>, label: String, interrupt: Option<IrqLine>, token: u32) -> HostedChip {
        HostedChip { target, label, interrupt, level: false, controls: Vec::new(), alarm: Alarm::default(), token }
    }

    /// The same, with a port's pin that leads to a pin of the chip, by a wire with a name.
    #[must_use]
    pub fn with_control(mut self, pin: Pin, control: ControlPin, wire: &'static str) -> HostedChip {
        self.controls.push((pin, control, wire));
        self
    }

    /// The chip of a node, with the wires that the node tells of: `interrupts`, `sleep-gpio`, `reset-gpio` and `vdd-off-gpio`, the switch of
    /// its supply.
    pub fn from_node(target: Box<dyn SpiTarget>, reader: &mut NodeReader, token: u32) -> HostedChip {
        let interrupt = reader.interrupt(0, INTERRUPT);
        let mut chip = HostedChip::new(target, reader.node.label().to_owned(), interrupt, token);
        for (property, wire, control, meaning) in CONTROLS {
            // A chip without such pins knows no such property.
            if reader.is_known(property)
                && let Some(pin) = reader.gpio(property, 0, meaning)
            {
                chip = chip.with_control(pin, control, wire);
            }
        }
        chip
    }

    /// The board comes out of reset: the wires have names and levels, and the chip is told those of its own.
    pub fn start(&mut self, ctx: &mut Ctx) {
        self.level = self.target.interrupt().unwrap_or(false);
        if let Some(IrqLine::Device { device, input }) = self.interrupt {
            self.name_wire(Pin { port: device, number: input }, "irq", ctx);
        }
        ctx.set_irq(self.interrupt, self.level);
        for index in 0..self.controls.len() {
            let (pin, control, wire) = self.controls[index];
            self.name_wire(pin, wire, ctx);
            ctx.bus.wires.watch(pin, ctx.id, false);
            self.target.control(control, ctx.bus.wires.level(pin), ctx.now);
        }
        self.settle(ctx);
    }

    fn name_wire(&self, pin: Pin, name: &str, ctx: &mut Ctx) {
        if ctx.bus.wires.is_port(pin.port) {
            let signal = ctx.bus.waves.signal(&self.label, name, ctx.bus.wires.level(pin));
            ctx.bus.wires.name(pin, signal);
        }
    }

    /// Brings what is beyond the wire up to date after something was done to the chip: the interrupt line, the alarm, the notes. At
    /// reset, too, so that the chip is woken for the first time.
    pub fn settle(&mut self, ctx: &mut Ctx) {
        if let Some(level) = self.target.interrupt().filter(|level| *level != self.level) {
            self.level = level;
            ctx.set_irq(self.interrupt, level);
        }
        match self.target.wakes_at() {
            Some(due) => self.alarm.set(due.max(ctx.now), self.token, ctx),
            None => self.alarm.cancel(self.token, ctx),
        }
        for note in self.target.take_notes() {
            ctx.note(&format!("{}: {note}", self.label));
        }
    }

    /// An event with the chip's token is due.
    pub fn event(&mut self, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.target.advance(ctx.now);
        self.settle(ctx);
    }

    /// A pin beyond the wire has this level from now on.
    pub fn control(&mut self, pin: ControlPin, level: bool, ctx: &mut Ctx) {
        self.target.control(pin, level, ctx.now);
        self.settle(ctx);
    }

    /// Wires of a port changed, which may lead to pins of the chip ([`crate::device::Device::pins_changed`]).
    pub fn pins_changed(&mut self, port: DeviceId, changed: u32, levels: u32, ctx: &mut Ctx) {
        for index in 0..self.controls.len() {
            let (pin, control, _) = self.controls[index];
            if pin.port == port && pin.of(changed) {
                self.control(control, pin.of(levels), ctx);
            }
        }
    }

    /// The chip's label.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The chip's totals, each with its label in front.
    pub fn counters(&self) -> impl Iterator<Item = (String, u64)> {
        self.target.counters().into_iter().map(|(name, count)| (format!("{}.{name}", self.label), count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{AccessSize, Device, Reply, SlaveError};
    use crate::devices::bench::Bench;
    use crate::time::Ps;
    use crate::wire::spi::Burst;

    /// Interrupts every microsecond until its supply is taken.
    struct Clockwork {
        now: Ps,
        off: bool,
    }

    impl SpiTarget for Clockwork {
        fn select(&mut self, _: Ps) {}

        fn shift(&mut self, _: Burst, _: Ps) -> u32 {
            0
        }

        fn deselect(&mut self, _: Ps) {}

        fn advance(&mut self, now: Ps) {
            self.now = now;
        }

        fn wakes_at(&self) -> Option<Ps> {
            (!self.off).then(|| Ps((self.now.0 / 1_000_000 + 1) * 1_000_000))
        }

        fn interrupt(&self) -> Option<bool> {
            Some(!self.off && self.now.0 / 1_000_000 % 2 == 1)
        }

        fn control(&mut self, pin: ControlPin, level: bool, _: Ps) {
            self.off |= pin == ControlPin::PowerOff && level;
        }

        fn take_notes(&mut self) -> Vec<String> {
            if self.off { vec!["switched off".to_owned()] } else { Vec::new() }
        }

        fn counters(&self) -> Vec<(&'static str, u64)> {
            vec![("ticks", self.now.0 / 1_000_000)]
        }
    }

    struct Host(HostedChip);

    impl Device for Host {
        fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
            Ok(Reply::read(self.0.counters().map(|(_, count)| count as u32).sum(), ctx.now))
        }

        fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
            self.0.control(ControlPin::PowerOff, value != 0, ctx);
            Ok(Reply::written(ctx.now))
        }

        fn event(&mut self, token: u32, ctx: &mut Ctx) {
            assert_eq!(token, 7);
            self.0.event(ctx);
        }
    }

    #[test]
    fn a_chip_is_woken_and_its_interrupt_and_notes_come_through() {
        let chip = Box::new(Clockwork { now: Ps::ZERO, off: false });
        let line = IrqLine::Core { core: 0, bit: 3 };
        let mut bench = Bench::new(Host(HostedChip::new(chip, "chip0".to_owned(), Some(line), 7)));
        bench.write(Ps::ZERO, 0, 0).unwrap();
        bench.run(Ps::from_us(2));
        assert_eq!(bench.pending(), 0);
        bench.run(Ps::from_us(3));
        assert_eq!((bench.pending(), bench.value(Ps::from_us(3), 0)), (1 << 3, 3));
        bench.write(Ps::from_us(3), 0, 1).unwrap();
        assert_eq!(bench.pending(), 0);
        assert_eq!(bench.bus.events.next_due(), Ps::MAX);
        assert!(bench.bus.notes()[0].to_string().contains("chip0: switched off"), "{}", bench.bus.notes()[0]);
    }
}
