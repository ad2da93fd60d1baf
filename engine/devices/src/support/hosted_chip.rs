//! A chip on a wire, with its functions outside of the wire: an interrupt pin, pins that a port controls, an alarm for
//! the chip's own operations, and notes for the user ([`Hosted`]). Every SPI controller has one such chip
//! ([`HostedChip`]) or one for each chip select ([`Chips`]); the chips on I2C are in
//! [`crate::support::i2c_chips`].
//!
//! A controller calls [`HostedChip::start`] at reset and [`HostedChip::follow`] after each of its accesses to the chip,
//! and passes on events and changes of pins. Some controllers compute a whole word at its start. The chip then gets
//! clocks that lie in the future, and changes of its interrupt pin are passed on at their own times. Other controllers
//! bring the wire up to date only on request: they give the end of the next word.

use std::collections::VecDeque;
use std::ops::Deref;

use crate::prelude::*;
use engine::bus::device::PortId;
use engine::dt::fault::FaultKind;
use engine::dt::node::{Node, Property};
use engine::pins::Pin;
use engine::wire::chip::{CONTROLS, Chip, ControlPin, INTERRUPT};
use engine::wire::notes::ChipReport;
use engine::wire::spi::{Burst, Header, MISO, PULLED_UP, SpiTarget};
use engine::wire::spi_pins::Pins;

/// The token of a controller's own events. The chip on select n is woken by events with the token n, and no controller
/// has this many selects.
pub const CONTROLLER_EVENT: u32 = 32;

/// A chip of type `T`, and the parts of it that its host, the device that drives its wire, handles.
#[derive(State)]
pub struct Hosted<T: ?Sized> {
    target: Box<T>,
    #[state(with = engine::state::only_shown)]
    label: String,
    /// The destination of its interrupt pin, and the level there.
    interrupt: Option<IrqLine>,
    level: bool,
    /// True if it has an interrupt pin, or further reports for the run besides notes. Otherwise nothing that the chip
    /// does by itself is visible outside of the wire.
    #[state(skip)]
    has_pin: bool,
    /// The chip's own time, advanced by [`HostedChip::select`] and the other calls.
    time: Ps,
    /// Changes of its interrupt pin that have not been passed on.
    changes: VecDeque<(Ps, bool)>,
    /// Port pins that control the chip's pins: with the name of the wire.
    #[state(skip)]
    controls: Vec<(Pin, ControlPin, &'static str)>,
    /// True if it may have further reports for the run besides notes.
    #[state(skip)]
    has_chip_report: bool,
    alarm: Alarm,
    /// The device's token for the alarm.
    #[state(skip)]
    token: u32,
    /// True if it sends its data on the line on which it receives them.
    #[state(skip)]
    is_on_three_wires: bool,
}

/// A chip on SPI.
pub type HostedChip = Hosted<dyn SpiTarget>;

/// For reading: contents, outputs. Changes go through the host.
impl<T: ?Sized> Deref for Hosted<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.target.as_ref()
    }
}

impl<T: Chip + ?Sized> Hosted<T> {
    /// A chip with the label of its node, its interrupt pin, and the token of the events that wake it, which no other
    /// chip of the host has.
    pub fn new(mut target: Box<T>, label: String, interrupt: Option<IrqLine>, token: u32) -> Hosted<T> {
        let has_chip_report = target.chip_report().is_some();
        let has_pin = has_chip_report || target.interrupt().is_some();
        Hosted {
            has_pin,
            has_chip_report,
            target,
            label,
            interrupt,
            level: false,
            time: Ps::ZERO,
            changes: VecDeque::new(),
            controls: Vec::new(),
            alarm: Alarm::default(),
            token,
            is_on_three_wires: false,
        }
    }

    /// The same chip, with a port's pin that controls a pin of the chip, by a wire with this name.
    #[must_use]
    pub fn with_control(mut self, pin: Pin, control: ControlPin, wire: &'static str) -> Hosted<T> {
        self.controls.push((pin, control, wire));
        self
    }

    /// The chip of a node, with the wires that the node describes: `interrupts`, `sleep-gpio`, `reset-gpio` and
    /// `vdd-off-gpio`, the switch of its supply.
    pub fn wired(target: Box<T>, reader: &mut NodeReader, token: u32) -> Hosted<T> {
        // A chip without such pins has no such property.
        let interrupt = target.interrupt().and_then(|_| reader.interrupt(0, INTERRUPT));
        let mut chip = Hosted::new(target, reader.node.label().to_owned(), interrupt, token);
        for (property, wire, control, meaning) in CONTROLS {
            if reader.is_known(property)
                && let Some(pin) = reader.gpio(property, 0, meaning)
            {
                chip = chip.with_control(pin, control, wire);
            }
        }
        chip
    }

    /// The board comes out of reset: names the wires, sets their levels, and passes the levels of the control pins to
    /// the chip.
    pub fn start(&mut self, ctx: &mut Ctx) {
        self.target.observe(ctx.bus.activities.scope(&self.label));
        self.level = self.target.interrupt().unwrap_or(false);
        if let Some(IrqLine::Device { device, input }) = self.interrupt {
            self.name_wire(Pin::new(device, input), "irq", ctx);
        }
        if let Some(line) = self.interrupt {
            ctx.scope().declare_line(ctx.bus.end_of(line));
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
        if ctx.bus.wires.is_port(pin.port.device) {
            name_wire(pin, &self.label, name, ctx);
        }
    }

    /// Accesses the chip at `at`, or at the chip's own time if that is later: the closure gets the time.
    #[inline(always)]
    pub fn access<R>(&mut self, at: Ps, call: impl FnOnce(&mut T, Ps) -> R) -> R {
        if self.is_watched() { self.report_and_look(at, call) } else { call(self.target.as_mut(), at) }
    }

    /// The same for a chip with pins: its time never goes back, and its interrupt pin is compared before and after.
    #[inline(never)]
    fn report_and_look<R>(&mut self, at: Ps, call: impl FnOnce(&mut T, Ps) -> R) -> R {
        let at = at.max(self.time);
        self.pass_to(at);
        let result = call(self.target.as_mut(), at);
        self.take_level(at);
        result
    }

    /// Carries out the chip's own operations up to `at`, each at its time.
    fn pass_to(&mut self, at: Ps) {
        while let Some(due) = self.target.wakes_at().filter(|due| *due <= at) {
            self.target.advance(due);
            self.take_level(due);
            if self.target.wakes_at() == Some(due) {
                break;
            }
        }
    }

    fn take_level(&mut self, at: Ps) {
        self.time = self.time.max(at);
        let last = self.changes.back().map_or(self.level, |(_, level)| *level);
        if let Some(level) = self.target.interrupt().filter(|level| *level != last) {
            self.changes.push_back((at, level));
        }
    }

    /// True if the chip has a visible effect outside of the wire: the controller then has to bring the wire up to date
    /// by itself.
    #[inline]
    pub fn has_pin(&self) -> bool {
        self.has_pin
    }

    /// True if the chip has an interrupt pin or control pins, which need the chip's state at times of their own: its
    /// time and the changes of its pin are kept.
    #[inline]
    pub fn is_watched(&self) -> bool {
        self.has_pin || !self.controls.is_empty()
    }

    /// Updates the interrupt line and the alarm after an access to the chip. `word_end` is the time at which the wire
    /// has to be brought up to date, for a controller that does so only on request.
    #[inline]
    pub fn follow(&mut self, word_end: Option<Ps>, ctx: &mut Ctx) {
        if self.has_pin {
            self.follow_pin(word_end, ctx);
        }
    }

    fn follow_pin(&mut self, word_end: Option<Ps>, ctx: &mut Ctx) {
        if self.has_chip_report {
            self.pass_on_report(ctx);
        }
        while let Some((_, level)) = self.changes.front().copied().filter(|(at, _)| *at <= ctx.now) {
            self.changes.pop_front();
            self.drive(level, ctx);
        }
        let mut next = self.changes.front().map(|(at, _)| *at);
        if next.is_none() {
            next = self.target.wakes_at();
            if self.time <= ctx.now {
                self.drive(self.target.interrupt().unwrap_or(self.level), ctx);
            }
        }
        self.alarm.follow(next.into_iter().chain(word_end).min(), self.token, ctx);
    }

    fn drive(&mut self, level: bool, ctx: &mut Ctx) {
        if level != self.level {
            self.level = level;
            ctx.set_irq(self.interrupt, level);
        }
    }

    /// Prints the chip's notes for the user.
    pub fn take_notes(&mut self, ctx: &mut Ctx) {
        for note in self.target.take_notes() {
            ctx.note(&format!("{}: {note}", self.label));
        }
    }

    fn pass_on_report(&mut self, ctx: &mut Ctx) {
        let Some(chip_report) = self.target.chip_report() else { return };
        let ChipReport { printed, failure, exit, has_taken_long } = std::mem::take(chip_report);
        if has_taken_long {
            ctx.look_at_host();
        }
        for line in printed.split_inclusive(|byte| *byte == b'\n') {
            ctx.stream(format!("{}: ", self.label).as_bytes());
            ctx.stream(line);
        }
        if let Some(code) = exit {
            ctx.exit(code);
        }
        if let Some(failure) = failure {
            ctx.fail(failure);
        }
    }

    /// [`HostedChip::follow`] and [`HostedChip::take_notes`]; called at reset as well, which sets the chip's first
    /// alarm.
    pub fn settle(&mut self, ctx: &mut Ctx) {
        self.follow(None, ctx);
        self.take_notes(ctx);
    }

    /// An event with the chip's token is due. The controller has brought the wire up to it.
    pub fn event(&mut self, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        if self.time <= ctx.now {
            self.target.advance(ctx.now);
        }
        self.settle(ctx);
    }

    /// A pin outside of the wire has this level from now on, or from the chip's own time on if that is ahead.
    pub fn control(&mut self, pin: ControlPin, level: bool, ctx: &mut Ctx) {
        self.access(ctx.now, |chip, at| chip.control(pin, level, at));
        self.settle(ctx);
    }

    /// Wires of a port changed that may control pins of the chip ([`engine::bus::device::Device::pins_changed`]).
    pub fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
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

    /// A controller's totals, and then the chip's: for [`Device::counters`].
    pub fn counters_after(&self, own: &[(&str, u64)]) -> Vec<(String, u64)> {
        own.iter().map(|(name, count)| ((*name).to_owned(), *count)).chain(self.counters()).collect()
    }

    /// The chip's totals, each with its label in front.
    pub fn counters(&self) -> impl Iterator<Item = (String, u64)> {
        self.target.counters().into_iter().map(|(name, count)| (format!("{}.{name}", self.label), count))
    }
}

impl HostedChip {
    /// No chip: all lines are pulled up.
    pub fn none() -> HostedChip {
        HostedChip::new(Box::new(NoChip), String::new(), None, 0)
    }

    /// The chip of a node, with the wires that the node describes. `None`, with a fault, if there is no model of the
    /// node's compatibles.
    pub fn from_node(reader: &mut NodeReader, token: u32) -> Option<HostedChip> {
        let target = crate::spi_chip(reader)?;
        Some(Hosted::wired(target, reader, token))
    }

    /// True if it sends its data on MOSI, the line on which it receives them: its node has `spi-3wire`.
    pub const fn is_on_three_wires(&self) -> bool {
        self.is_on_three_wires
    }

    /// The same chip, on three wires.
    #[cfg(test)]
    #[must_use]
    pub fn on_three_wires(self) -> HostedChip {
        HostedChip { is_on_three_wires: true, ..self }
    }

    /// The chip itself: for controllers that drive single pins, and are never ahead of time.
    #[inline]
    pub fn target(&mut self) -> &mut dyn SpiTarget {
        self.target.as_mut()
    }

    /// [`SpiTarget::select`].
    #[inline]
    pub fn select(&mut self, at: Ps) {
        self.access(at, |chip, at| chip.select(at));
    }

    /// [`SpiTarget::shift`].
    #[inline]
    pub fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        self.access(end, |chip, end| chip.shift(burst, end))
    }

    /// [`SpiTarget::start_repeated_read`], for a chip without pins outside of the wire.
    #[inline]
    pub fn start_repeated_read(&mut self, header: &Header, address: u32) -> bool {
        !self.is_watched() && self.target.start_repeated_read(header, address)
    }

    /// [`SpiTarget::read_next_word`], likewise.
    #[inline]
    pub fn read_next_word(&mut self) -> Option<u32> {
        if self.is_watched() { None } else { self.target.read_next_word() }
    }

    /// [`SpiTarget::skip_repeated_reads`].
    pub fn skip_repeated_reads(&mut self, bytes: u64, address: u32) {
        self.target.skip_repeated_reads(bytes, address);
    }

    /// [`SpiTarget::end_repeated_read`], likewise.
    #[inline]
    pub fn end_repeated_read(&mut self) -> bool {
        !self.is_watched() && self.target.end_repeated_read()
    }

    /// [`SpiTarget::deselect`].
    #[inline]
    pub fn deselect(&mut self, at: Ps) {
        self.access(at, |chip, at| chip.deselect(at));
    }

    /// [`SpiTarget::idle_clocks`].
    #[inline]
    pub fn idle_clocks(&mut self, clocks: u32, end: Ps) {
        self.access(end, |chip, end| chip.idle_clocks(clocks, end));
    }

    /// [`SpiTarget::preload`].
    pub fn preload(&mut self, addr: u32, bytes: &[u8]) -> bool {
        self.target.preload(addr, bytes)
    }
}

/// Changes that lie ahead are events.
impl Polled for HostedChip {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.changes.is_empty() && self.target.polled(poll)
    }
}

/// No chip.
#[derive(State)]
struct NoChip;

impl SpiTarget for NoChip {
    fn select(&mut self, _now: Ps) {}

    fn shift(&mut self, _burst: Burst, _end: Ps) -> u32 {
        PULLED_UP
    }

    fn deselect(&mut self, _now: Ps) {}
}

impl Polled for NoChip {
    fn polled(&mut self, _poll: &mut Poll) -> bool {
        true
    }
}

/// Names a wire at a pin, for waveforms, after the device whose wire it is.
pub fn name_wire(pin: Pin, label: &str, name: &str, ctx: &mut Ctx) {
    let signal = ctx.bus.waves.signal(label, name, ctx.bus.wires.level(pin));
    ctx.bus.wires.name(pin, signal);
}

/// A controller's chip selects, each with a chip or without. The chip on select n is woken by events with the token n.
#[derive(Default, State)]
pub struct Chips {
    /// In the order of their selects, which are their tokens.
    #[state(with = engine::state::fixed)]
    chips: Vec<HostedChip>,
    /// The number of selects.
    #[state(skip)]
    selects: usize,
    #[state(skip)]
    have_pins: bool,
}

impl Polled for Chips {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.chips.iter_mut().all(|chip| chip.polled(poll))
    }
}

impl Chips {
    /// A chip, or none, on each select.
    pub fn new(selects: Vec<Option<HostedChip>>) -> Chips {
        let count = selects.len();
        let on = |(select, chip): (usize, Option<HostedChip>)| Some(HostedChip { token: select as u32, ..chip? });
        let chips: Vec<HostedChip> = selects.into_iter().enumerate().filter_map(on).collect();
        Chips { have_pins: chips.iter().any(HostedChip::has_pin), chips, selects: count }
    }

    /// The chips of a controller's node, each on the select that its `reg` names. A select that the controller does not
    /// have, or that another chip has already, is a fault.
    pub fn from_node(reader: &mut NodeReader, selects: u32) -> Chips {
        Chips::from_nodes(reader, selects, false)
    }

    /// The same for a controller that can use one data line for both directions: chips may have `spi-3wire`.
    pub fn from_node_by_three_wires(reader: &mut NodeReader, selects: u32) -> Chips {
        Chips::from_nodes(reader, selects, true)
    }

    fn from_nodes(reader: &mut NodeReader, selects: u32, takes_three_wires: bool) -> Chips {
        let meaning = "the chip gives its data on MOSI, the line on which it takes them, and MISO leads nowhere";
        let mut chips: Vec<Option<HostedChip>> = (0..selects).map(|_| None).collect();
        let mut taken = vec![false; selects as usize];
        for child in reader.children() {
            let select = chip_select(child);
            let chip = reader.child(child, |chip| {
                let allowed = match taken.get(select as usize) {
                    Some(false) => None,
                    Some(true) => Some("another chip has this slave select".to_owned()),
                    None if selects == 1 => Some("the controller has one slave select, 0".to_owned()),
                    None => Some(format!("the controller has slave selects 0 to {}", selects.saturating_sub(1))),
                };
                if let Some(allowed) = allowed {
                    let kind = FaultKind::OutOfRange { property: "reg".into(), value: select.to_string(), allowed };
                    chip.fault_at("reg", kind);
                }
                let is_on_three_wires = takes_three_wires && chip.flag("spi-3wire", meaning);
                HostedChip::from_node(chip, select).map(|hosted| HostedChip { is_on_three_wires, ..hosted })
            });
            if let Some(place) = chips.get_mut(select as usize) {
                *place = chip;
                taken[select as usize] = true;
            }
        }
        Chips::new(chips)
    }

    /// The number of selects.
    pub fn selects(&self) -> usize {
        self.selects
    }

    /// The chip on select 0: for a controller with one select.
    pub fn into_only(self) -> Option<HostedChip> {
        self.chips.into_iter().next()
    }

    /// The chip on a select.
    #[inline]
    pub fn get_mut(&mut self, select: usize) -> Option<&mut HostedChip> {
        self.chips.iter_mut().find(|chip| chip.token as usize == select)
    }

    /// The same, for reading.
    #[inline]
    pub fn get(&self, select: usize) -> Option<&HostedChip> {
        self.chips.iter().find(|chip| chip.token as usize == select)
    }

    /// Chips with the numbers of their selects.
    #[inline]
    pub fn each(&mut self) -> impl Iterator<Item = (usize, &mut HostedChip)> {
        self.chips.iter_mut().map(|chip| (chip.token as usize, chip))
    }

    /// The level to which the chips drive MISO at `at`, and the level after their output delays, if the controller
    /// drives single pins, those of each select. Low wins.
    pub fn miso(&self, pins: &[Pins], at: Ps) -> [Option<bool>; 2] {
        let mut miso = [None; 2];
        for (pins, chip) in pins.iter().enumerate().filter_map(|(select, pins)| Some((pins, self.get(select)?))) {
            for (miso, (lines, levels)) in miso.iter_mut().zip(pins.driven(&**chip, at)) {
                if lines & MISO != 0 {
                    *miso = Some(levels & MISO != 0 && *miso != Some(false));
                }
            }
        }
        miso
    }

    /// [`HostedChip::has_pin`], for any of the chips.
    #[inline]
    pub fn have_pins(&self) -> bool {
        self.have_pins
    }

    /// [`HostedChip::start`].
    pub fn start(&mut self, ctx: &mut Ctx) {
        self.chips.iter_mut().for_each(|chip| chip.start(ctx));
    }

    /// [`HostedChip::follow`].
    #[inline]
    pub fn follow(&mut self, word_end: Option<Ps>, ctx: &mut Ctx) {
        if self.have_pins {
            self.chips.iter_mut().for_each(|chip| chip.follow(word_end, ctx));
        }
    }

    /// [`HostedChip::take_notes`].
    pub fn take_notes(&mut self, ctx: &mut Ctx) {
        self.chips.iter_mut().for_each(|chip| chip.take_notes(ctx));
    }

    /// [`HostedChip::settle`].
    pub fn settle(&mut self, ctx: &mut Ctx) {
        self.chips.iter_mut().for_each(|chip| chip.settle(ctx));
    }

    /// [`HostedChip::event`], if `token` is a chip's.
    pub fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if let Some(chip) = self.get_mut(token as usize) {
            chip.event(ctx);
        }
    }

    /// [`HostedChip::pins_changed`].
    pub fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.chips.iter_mut().for_each(|chip| chip.pins_changed(port, changed, levels, ctx));
    }

    /// For [`engine::bus::device::Device::chips`].
    pub fn targets(&mut self) -> Vec<&mut dyn SpiTarget> {
        self.chips.iter_mut().map(HostedChip::target).collect()
    }

    /// The controller's own totals, and then those of its chips ([`HostedChip::counters`]).
    pub fn counters_after(&self, own: &[(&str, u64)]) -> Vec<(String, u64)> {
        let own = own.iter().map(|(name, count)| ((*name).to_owned(), *count));
        own.chain(self.chips.iter().flat_map(HostedChip::counters)).collect()
    }
}

fn chip_select(child: &Node) -> u32 {
    child.property("reg").and_then(Property::cells).and_then(|cells| cells.first().copied()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
