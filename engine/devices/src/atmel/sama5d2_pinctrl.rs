//! `atmel,sama5d2-pinctrl`: Parallel Input/Output Controller (SAMA5D2 datasheet DS60001476, section PIO): four groups
//! of 32 lines, PA0 to PD31. Each group is a bank of the port, so a line has the number that Linux gives it: PB6 is
//! line 6 of the second group, 38.
//!
//! Modelled: configurations through their mask; outputs, push-pull or open drain; pull-ups and pull-downs; PIO_PDSR,
//! which shows the wires for all functions of a line; events on edges and levels, PIO_ISR and a group's interrupt;
//! freezing, the secure view at 0x1000, write protection. Events are detected masked or not, also on outputs. A read of
//! PIO_ISR clears it, and a level that is still active sets it again at once. A pull-down takes precedence over a
//! pull-up.
//!
//! A write takes effect, and wires change, at the time at which it reaches the controller; a read returns the wires at
//! that time. The two clocks of the inputs' synchroniser, the delay of a group's interrupt, and the glitch filter
//! (IFEN) take no time, and the filter suppresses nothing.
//!
//! Not modelled: a line's function for another peripheral (FUNC is not 0). Neither the controller nor that peripheral
//! drives the wire then: it has the level of its pulls and of other drivers. The secure view's interrupts are those of
//! the group.

use crate::model::Model;
use crate::support::apb::{self, WriteProtection};
use crate::support::registers::{AccessKind, Register};
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, PortId, Reply, SlaveError};
use engine::dt::fault::FaultKind;
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::pins::{Drive, PINS_OF_PORT, Pin};
use engine::polling::{Poll, Polled};
use engine::state::State;

/// The register map (PIO User Interface): the first group's registers, and those of all groups. The other groups'
/// registers follow at steps of 0x40.
pub const REGISTERS: &[Register] = &[
    Register::new("PIO_MSKR0", MSKR, AccessKind::Rw, 0, u32::MAX),
    Register::new("PIO_CFGR0", CFGR, AccessKind::Rw, CFGR_RESET, CFGR_MASK | CFGR_FROZEN),
    Register::new("PIO_PDSR0", PDSR, AccessKind::Ro, u32::MAX, u32::MAX),
    Register::new("PIO_LOCKSR0", 0x0c, AccessKind::Ro, 0, u32::MAX),
    Register::new("PIO_SODR0", SODR, AccessKind::Wo, 0, u32::MAX),
    Register::new("PIO_CODR0", CODR, AccessKind::Wo, 0, u32::MAX),
    Register::new("PIO_ODSR0", ODSR, AccessKind::Rw, 0, u32::MAX),
    Register::new("PIO_IER0", IER, AccessKind::Wo, 0, u32::MAX),
    Register::new("PIO_IDR0", IDR, AccessKind::Wo, 0, u32::MAX),
    Register::new("PIO_IMR0", IMR, AccessKind::Ro, 0, u32::MAX),
    Register::new("PIO_ISR0", ISR, AccessKind::Ro, 0, u32::MAX),
    Register::new("PIO_IOFR0", IOFR, AccessKind::Wo, 0, 0xffff_ff03),
    Register::new("PIO_WPMR", WPMR, AccessKind::Rw, 0, apb::WPMR_WPEN),
    Register::new("PIO_WPSR", WPSR, AccessKind::Ro, 0, 0x00ff_ff01),
];

const MSKR: u32 = 0x00;
const CFGR: u32 = 0x04;
const PDSR: u32 = 0x08;
const SODR: u32 = 0x10;
const CODR: u32 = 0x14;
const ODSR: u32 = 0x18;
const IER: u32 = 0x20;
const IDR: u32 = 0x24;
const IMR: u32 = 0x28;
const ISR: u32 = 0x2c;
const SIONR: u32 = 0x30;
const SIOSR: u32 = 0x34;
const IOSSR: u32 = 0x38;
const IOFR: u32 = 0x3c;
/// From a group's register to the next group's.
const STRIDE: u32 = 0x40;
const GROUPS: usize = 4;
const INTERRUPTS: [&str; GROUPS] = ["interrupt of group A", "of group B", "of group C", "of group D"];
/// Offset of the secure software's view of the same groups.
const SECURE: u32 = 0x1000;
const WPMR: u32 = 0x5e0;
const WPSR: u32 = 0x5e4;

const CFGR_MASK: u32 = 0x0703_f707;
const CFGR_FUNC: u32 = 7;
const CFGR_DIR: u32 = 1 << 8;
const CFGR_PUEN: u32 = 1 << 9;
const CFGR_PDEN: u32 = 1 << 10;
/// Open drain.
const CFGR_OPD: u32 = 1 << 14;
/// EVTSEL: what is an event.
const CFGR_EVENT: u32 = 7 << 24;
const FALLING: u32 = 0;
const RISING: u32 = 1 << 24;
const BOTH: u32 = 2 << 24;
const LOW: u32 = 3 << 24;
const HIGH: u32 = 4 << 24;
const CFGR_RESET: u32 = CFGR_PUEN;
/// PCFS and ICFS: the physical and the interrupt configuration are frozen.
const CFGR_FROZEN: u32 = 3 << 29;
/// Physical configuration: FUNC and the pad's bits.
const CFGR_PHYSICAL: u32 = 0x0003_f707;
/// PIO_IOFR: the two freeze bits, from bit 0 on in the order of PCFS and ICFS, and its key, "IOF".
const IOFR_KEY: u32 = 0x49_4f46;
/// PIO_WPMR.WPKEY: "PIO".
const WPKEY: u32 = 0x50_494f;

/// The configurations of a group's lines, a bit a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
struct Lines {
    outputs: u32,
    open_drain: u32,
    pull_ups: u32,
    pull_downs: u32,
    /// Lines for which a falling edge is an event.
    falling: u32,
    rising: u32,
    low: u32,
    high: u32,
}

impl Lines {
    fn of(configurations: &[u32; 32]) -> Lines {
        let lines = |is_one: fn(u32) -> bool| {
            let all = configurations.iter().enumerate().filter(|(_, configuration)| is_one(**configuration));
            all.fold(0, |lines, (line, _)| lines | 1 << line)
        };
        Lines {
            outputs: lines(|line| line & (CFGR_FUNC | CFGR_DIR) == CFGR_DIR),
            open_drain: lines(|line| line & CFGR_OPD != 0),
            pull_ups: lines(|line| line & (CFGR_PUEN | CFGR_PDEN) == CFGR_PUEN),
            pull_downs: lines(|line| line & CFGR_PDEN != 0),
            falling: lines(|line| matches!(line & CFGR_EVENT, FALLING | BOTH)),
            rising: lines(|line| matches!(line & CFGR_EVENT, RISING | BOTH)),
            low: lines(|line| line & CFGR_EVENT == LOW),
            high: lines(|line| line & CFGR_EVENT == HIGH),
        }
    }
}

/// A group of 32 lines.
#[derive(Clone, Copy, Debug, State)]
struct Group {
    mask: u32,
    configurations: [u32; 32],
    lines: Lines,
    output: u32,
    interrupt_mask: u32,
    /// PIO_ISR.
    events: u32,
    /// True if its interrupt is active.
    interrupts: bool,
    /// True if a wire may change before the next access, without an event.
    moving: bool,
    /// Lines that are reserved for secure software.
    secure: u32,
}

/// The line of a pin's name, "PA0" to "PD31".
fn line_named(name: &str) -> Option<u32> {
    let (group, line) = name.strip_prefix('P')?.split_at_checked(1)?;
    let group = ["A", "B", "C", "D"].iter().position(|letter| *letter == group)? as u32;
    let line = (0..PINS_OF_PORT).find(|number| number.to_string() == line)?;
    Some(group * PINS_OF_PORT + line)
}

/// Its name in waveforms: "pa0" to "pd31".
fn name_of(line: u32) -> String {
    let group = ["a", "b", "c", "d"][(line / PINS_OF_PORT) as usize % GROUPS];
    format!("p{group}{}", line % PINS_OF_PORT)
}

/// The device.
#[derive(Debug, State)]
pub struct Pio {
    clock: ClockInput,
    /// One for each group.
    #[state(skip)]
    interrupts: [Option<IrqLine>; GROUPS],
    groups: [Group; GROUPS],
    /// Lines that waveforms have by name.
    #[state(skip)]
    recorded: Vec<u32>,
    protection: WriteProtection,
    /// The number of changes of the wires by other drivers.
    changes: u64,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::port(&["atmel,sama5d2-pinctrl"], 1, from_node).with_banks(GROUPS as u32).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "the peripheral clock");
    reader.known(&["gpio-controller", "#gpio-cells"]);
    let interrupts = std::array::from_fn(|group| reader.interrupt(group, INTERRUPTS[group]));
    Box::new(Pio { recorded: recorded_pins(reader), ..Pio::new(clock, interrupts) })
}

fn recorded_pins(reader: &mut NodeReader) -> Vec<u32> {
    const NAME: &str = "cyclescope,recorded-pins";
    let mut recorded = Vec::new();
    for pin in reader.strings(NAME, "pins whose levels waveforms have, as \"PA0\"; without it none") {
        match line_named(pin) {
            Some(found) => recorded.push(found),
            None => {
                let (property, value) = (NAME.to_owned(), format!("\"{pin}\""));
                reader.fault_at(
                    NAME,
                    FaultKind::OutOfRange { property, value, allowed: "\"PA0\" to \"PD31\"".to_owned() },
                );
            }
        }
    }
    recorded
}

impl Group {
    fn after_reset() -> Group {
        Group {
            mask: 0,
            configurations: [CFGR_RESET; 32],
            lines: Lines::of(&[CFGR_RESET; 32]),
            output: 0,
            interrupt_mask: 0,
            events: 0,
            interrupts: false,
            moving: false,
            secure: u32::MAX,
        }
    }

    /// PIO_CFGR: the configuration of the first line in the mask, or of line 0.
    fn configuration(&self) -> u32 {
        self.configurations[self.mask.trailing_zeros() as usize % 32]
    }

    fn selected(&mut self) -> impl Iterator<Item = &mut u32> {
        let mask = self.mask;
        self.configurations.iter_mut().enumerate().filter(move |(line, _)| mask >> line & 1 != 0).map(|(_, line)| line)
    }

    fn configure(&mut self, value: u32) {
        for line in self.selected() {
            let frozen = if *line & 1 << 29 != 0 { CFGR_PHYSICAL } else { 0 }
                | if *line & 1 << 30 != 0 { CFGR_MASK & !CFGR_PHYSICAL } else { 0 };
            *line = *line & (frozen | CFGR_FROZEN) | value & CFGR_MASK & !frozen;
        }
        self.lines = Lines::of(&self.configurations);
    }

    /// The lines that it drives, and those that it pulls up and down.
    fn drive(&self) -> (Drive, u32, u32) {
        let Lines { outputs, open_drain, pull_ups, pull_downs, .. } = self.lines;
        let enables = outputs & !(open_drain & self.output);
        (Drive { enables, levels: self.output }, pull_ups, pull_downs)
    }

    fn register(&self, register: u32) -> u32 {
        match register {
            MSKR => self.mask,
            CFGR => self.configuration(),
            ODSR => self.output,
            IMR => self.interrupt_mask,
            IOSSR => self.secure,
            _ => 0,
        }
    }

    fn set_register(&mut self, register: u32, value: u32) {
        match register {
            MSKR => self.mask = value,
            CFGR => self.configure(value),
            SODR => self.output |= value,
            CODR => self.output &= !value,
            ODSR => self.output = self.output & !self.mask | value & self.mask,
            IER => self.interrupt_mask |= value,
            IDR => self.interrupt_mask &= !value,
            SIONR => self.secure &= !value,
            SIOSR => self.secure |= value,
            IOFR if value >> 8 == IOFR_KEY => self.selected().for_each(|line| *line |= (value & 3) << 29),
            _ => {}
        }
    }
}

impl Pio {
    /// The device after reset.
    pub fn new(clock: impl Into<ClockInput>, interrupts: [Option<IrqLine>; GROUPS]) -> Pio {
        Pio {
            clock: clock.into(),
            interrupts,
            groups: [Group::after_reset(); GROUPS],
            recorded: Vec::new(),
            protection: WriteProtection::new(WPKEY),
            changes: 0,
            writes: 0,
        }
    }

    /// Applies a group's own drive and pulls to its wires.
    fn drive(&self, group: usize, ctx: &mut Ctx) {
        let (drive, pull_ups, pull_downs) = self.groups[group].drive();
        let port = PortId { device: ctx.id, bank: group as u32 };
        ctx.bus.wires.set_pull_downs(port, pull_downs);
        ctx.bus.drive_port(port, drive, pull_ups, ctx.now);
    }

    /// Updates all wires: a device on lines of one group may drive lines of another.
    fn look_at_all(&mut self, ctx: &mut Ctx) {
        (0..GROUPS).for_each(|group| self.look(group, ctx));
    }

    /// Updates a group's wires: events, and its interrupt.
    fn look(&mut self, group: usize, ctx: &mut Ctx) {
        let port = PortId { device: ctx.id, bank: group as u32 };
        let (rose, fell) = ctx.bus.wires.take_edges(port);
        let levels = ctx.bus.wires.levels(port);
        let Group { lines, interrupt_mask, events, interrupts, .. } = &mut self.groups[group];
        *events |= fell & lines.falling | rose & lines.rising | levels & lines.high | !levels & lines.low;
        let level = *events & *interrupt_mask != 0;
        if std::mem::replace(interrupts, level) != level {
            ctx.set_irq(self.interrupts[group], level);
        }
    }

    /// A read of one of a group's registers.
    fn register(&mut self, index: usize, register: u32, ctx: &mut Ctx) -> u32 {
        let group = &mut self.groups[index];
        match register {
            PDSR => {
                let port = PortId { device: ctx.id, bank: index as u32 };
                let levels = ctx.bus.sample_port(port, ctx.now);
                group.moving = ctx.bus.wires.is_moving(port);
                self.look_at_all(ctx);
                levels
            }
            ISR => {
                let events = std::mem::take(&mut group.events);
                self.look(index, ctx);
                events
            }
            _ => group.register(register),
        }
    }
}

/// Group and register at `offset`; a register of no group has a group that does not exist.
const fn split(offset: u32) -> (usize, u32) {
    let offset = offset & !SECURE;
    ((offset / STRIDE) as usize, offset % STRIDE)
}

impl Device for Pio {
    fn reset(&mut self, ctx: &mut Ctx) {
        (0..GROUPS).for_each(|group| self.drive(group, ctx));
        for line in &self.recorded {
            let pin = Pin::new(ctx.id, *line);
            let signal = ctx.bus.waves.signal(ctx.label(), &name_of(*line), ctx.bus.wires.level(pin));
            ctx.bus.wires.name(pin, signal);
        }
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let (group, register) = split(offset & !3);
        let value = match offset & !3 & !SECURE {
            _ if group < GROUPS => self.register(group, register, ctx),
            WPMR => self.protection.mode(),
            WPSR => self.protection.take_status(),
            _ => 0,
        };
        Ok(apb::read(value, offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.writes += 1;
        let (offset, value) = apb::written(value, offset, size);
        let (group, register) = split(offset);
        match self.groups.get_mut(group) {
            Some(_) if matches!(register, MSKR | CFGR) && self.protection.refuses(offset, ctx) => {}
            Some(lines) => {
                let before = lines.drive();
                lines.set_register(register, value);
                if lines.drive() != before {
                    self.drive(group, ctx);
                    self.look_at_all(ctx);
                } else {
                    self.look(group, ctx);
                }
            }
            None if offset & !SECURE == WPMR => self.protection.set_mode(value),
            None => {}
        }
        Ok(Reply::written(ctx.now))
    }

    fn pins_changed(&mut self, port: PortId, _changed: u32, _levels: u32, ctx: &mut Ctx) {
        self.changes += 1;
        self.look(port.bank as usize, ctx);
    }

    fn pin_count(&self) -> u32 {
        GROUPS as u32 * PINS_OF_PORT
    }

    fn passes_interrupts(&self) -> bool {
        true
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.clock);
    }
}

impl Polled for Pio {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.clock.rate);
        poll.state(self.writes);
        poll.state(self.changes);
        poll.state(self.protection.state());
        self.groups.iter().for_each(|group| poll.state(group.events));
        !self.groups.iter().any(|group| group.moving)
    }
}

#[cfg(test)]
mod tests;
