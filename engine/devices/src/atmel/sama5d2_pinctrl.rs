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

use crate::prelude::*;
use crate::support::interrupt_output::InterruptOutput;
use crate::support::pin_bank::{Driven, PinBank, PinModes};
use crate::support::write_protection;
use engine::bus::device::PortId;
use engine::pins::{PINS_OF_PORT, Pin, bits};

registers! {
    /// The register map (PIO User Interface): those of the groups, and those of all groups.
    const MAP "PIO_" {
        MSKR [0..4; STRIDE] 0x00 rw locked_by WPMR_WPEN in WPMR;
        /// That of the first line in the mask, or of line 0. OPD: open drain. EVTSEL: what is an event. PCFS and ICFS:
        /// the physical and the interrupt configuration are frozen.
        CFGR [0..4; STRIDE] 0x04 rw locked_by WPMR_WPEN in WPMR reset CFGR_PUEN mask CFGR_WRITABLE | CFGR_FROZEN {
            FUNC 0..3, DIR 8, PUEN 9, PDEN 10, OPD 14, EVTSEL 24..27, PCFS 29 ro, ICFS 30 ro
        };
        PDSR [0..4; STRIDE] 0x08 ro volatile reset u32::MAX;
        LOCKSR [0..4; STRIDE] 0x0c ro;
        SODR [0..4; STRIDE] 0x10 wo;
        CODR [0..4; STRIDE] 0x14 wo;
        ODSR [0..4; STRIDE] 0x18 rw;
        IER [0..4; STRIDE] 0x20 set IMR;
        IDR [0..4; STRIDE] 0x24 clear IMR;
        IMR [0..4; STRIDE] 0x28 ro;
        ISR [0..4; STRIDE] 0x2c ro { P 0..32 rc };
        SIONR [0..4; STRIDE] 0x30 clear IOSSR;
        SIOSR [0..4; STRIDE] 0x34 set IOSSR;
        /// Lines that are reserved for secure software.
        IOSSR [0..4; STRIDE] 0x38 ro reset u32::MAX;
        /// The two freeze bits, in the order of PCFS and ICFS.
        IOFR [0..4; STRIDE] 0x3c wo keyed IOFR_KEY in 0xffff_ff00 mask 0xffff_ff03 { FPHY 0, FINT 1 };
        WPMR 0x5e0 rw keyed WPKEY in 0xffff_ff00 { WPEN 0 };
        WPSR 0x5e4 ro { WPVS 0 rc, WPVSRC 8..24 rc };
    }
}

/// PIO_WPMR.WPKEY: "PIO".
const WPKEY: u32 = 0x50_494f;
/// PIO_IOFR's key: "IOF".
const IOFR_KEY: u32 = 0x49_4f46;
/// From a group's register to the next group's.
const STRIDE: u32 = 0x40;
const GROUPS: usize = 4;
const INTERRUPTS: [&str; GROUPS] = ["interrupt of group A", "of group B", "of group C", "of group D"];
/// Offset of the secure software's view of the same groups.
const SECURE: u32 = 0x1000;

/// Bits of PIO_CFGR that software can write.
const CFGR_WRITABLE: u32 = 0x0703_f707;
const FALLING: u32 = 0;
const RISING: u32 = 1 << 24;
const BOTH: u32 = 2 << 24;
const LOW: u32 = 3 << 24;
const HIGH: u32 = 4 << 24;
const CFGR_FROZEN: u32 = CFGR_PCFS | CFGR_ICFS;
/// Physical configuration: FUNC and the pad's bits.
const CFGR_PHYSICAL: u32 = 0x0003_f707;

/// The configurations of a group's lines, a bit a line.
fn modes_of(configurations: &[u32; 32]) -> PinModes {
    let lines = |field: u32, values: &[u32]| {
        let all = (0..PINS_OF_PORT).filter(|line| values.contains(&(configurations[*line as usize] & field)));
        all.fold(0, |lines, line| lines | 1 << line)
    };
    PinModes {
        outputs: lines(CFGR_FUNC | CFGR_DIR, &[CFGR_DIR]),
        open_drain: lines(CFGR_OPD, &[CFGR_OPD]),
        pull_ups: lines(CFGR_PUEN | CFGR_PDEN, &[CFGR_PUEN]),
        pull_downs: lines(CFGR_PDEN, &[CFGR_PDEN]),
        falling: lines(CFGR_EVTSEL, &[FALLING, BOTH]),
        rising: lines(CFGR_EVTSEL, &[RISING, BOTH]),
        low: lines(CFGR_EVTSEL, &[LOW]),
        high: lines(CFGR_EVTSEL, &[HIGH]),
    }
}

/// A group of 32 lines.
#[derive(Clone, Copy, Debug, State, Polled)]
struct Group {
    configurations: [u32; 32],
    #[poll(skip = "it follows from the configurations")]
    modes: PinModes,
    bank: PinBank,
    interrupt: InterruptOutput,
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
#[derive(Debug, State, Polled)]
pub struct Pio {
    #[poll(phase)]
    clock: ClockInput,
    registers: Registers,
    groups: [Group; GROUPS],
    /// Lines that waveforms have by name.
    #[state(skip)]
    recorded: Vec<u32>,
}

/// For the list of models.
pub const MODEL: Model =
    Model::port(&["atmel,sama5d2-pinctrl"], 1, from_node).with_banks(GROUPS as u32).naming(MAP.rows);

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
            None => reader.out_of_range(NAME, format!("\"{pin}\""), "\"PA0\" to \"PD31\""),
        }
    }
    recorded
}

impl Group {
    /// Group `number` after reset, with its interrupt.
    fn new(number: usize, interrupt: Option<IrqLine>) -> Group {
        let configurations = [CFGR_PUEN; 32];
        let (bank, interrupt) = (PinBank::new(number as u32), InterruptOutput::new(interrupt));
        Group { configurations, modes: modes_of(&configurations), bank, interrupt }
    }

    fn configure(&mut self, mask: u32, value: u32) {
        for line in bits(mask) {
            let line = &mut self.configurations[line as usize];
            let frozen = if *line & CFGR_PCFS != 0 { CFGR_PHYSICAL } else { 0 }
                | if *line & CFGR_ICFS != 0 { CFGR_WRITABLE & !CFGR_PHYSICAL } else { 0 };
            *line = *line & (frozen | CFGR_FROZEN) | value & CFGR_WRITABLE & !frozen;
        }
        self.modes = modes_of(&self.configurations);
    }
}

/// A register of a group.
const fn at(register: u32, group: usize) -> u32 {
    register + group as u32 * STRIDE
}

impl Pio {
    /// The device after reset.
    pub fn new(clock: impl Into<ClockInput>, interrupts: [Option<IrqLine>; GROUPS]) -> Pio {
        let groups = std::array::from_fn(|group| Group::new(group, interrupts[group]));
        Pio { clock: clock.into(), registers: Registers::new(&MAP), groups, recorded: Vec::new() }
    }

    /// What a group does to its wires.
    fn driven(&self, group: usize) -> Driven {
        self.groups[group].modes.driven(self.registers[at(ODSR, group)])
    }

    /// Updates all wires: a device on lines of one group may drive lines of another.
    fn look_at_all(&mut self, ctx: &mut Ctx) {
        (0..GROUPS).for_each(|group| self.look(group, ctx));
    }

    /// Updates a group's wires: events, and its interrupt.
    fn look(&mut self, group: usize, ctx: &mut Ctx) {
        let Group { modes, bank, interrupt, .. } = &mut self.groups[group];
        let events = bank.events(modes, ctx);
        self.registers.put(at(ISR, group), events, true);
        interrupt.drive(self.registers.has(at(ISR, group), self.registers[at(IMR, group)]), ctx);
    }

    /// Reading PIO_PDSR: the levels of a group's wires.
    fn sample(&mut self, group: usize, ctx: &mut Ctx) -> u32 {
        let levels = self.groups[group].bank.sample(ctx);
        self.look_at_all(ctx);
        levels
    }

    fn wrote(&mut self, group: usize, register: u32, old: u32, new: u32) {
        let mask = self.registers[at(MSKR, group)];
        match register {
            CFGR => self.groups[group].configure(mask, new),
            SODR => self.registers.put(at(ODSR, group), new, true),
            CODR => self.registers.put(at(ODSR, group), new, false),
            ODSR => self.registers.set(at(ODSR, group), old & !mask | new & mask),
            IOFR => bits(mask).for_each(|line| self.groups[group].configurations[line as usize] |= (new & 3) << 29),
            _ => {}
        }
        let configuration = self.groups[group].configurations[mask.trailing_zeros() as usize % 32];
        self.registers.set(at(CFGR, group), configuration);
    }

    /// After a write of one of a group's registers, before which it drove `before`.
    fn follow(&mut self, group: usize, before: Driven, ctx: &mut Ctx) {
        let (driven, bank) = (self.driven(group), &mut self.groups[group].bank);
        if driven == before {
            self.look(group, ctx);
        } else {
            bank.changes += 1;
            bank.drive(driven, ctx);
            self.look_at_all(ctx);
        }
    }
}

/// Group and register at an offset; a register of no group has a group that does not exist.
const fn split(offset: u32) -> (usize, u32) {
    ((offset / STRIDE) as usize, offset % STRIDE)
}

impl Device for Pio {
    fn reset(&mut self, ctx: &mut Ctx) {
        (0..GROUPS).for_each(|group| self.groups[group].bank.drive(self.driven(group), ctx));
        for line in &self.recorded {
            let pin = Pin::new(ctx.id, *line);
            let signal = ctx.bus.waves.signal(ctx.label(), &name_of(*line), ctx.bus.wires.level(pin));
            ctx.bus.wires.name(pin, signal);
        }
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let at = offset & !3 & !SECURE;
        let (group, register) = split(at);
        let value = match register {
            PDSR if group < GROUPS => self.sample(group, ctx),
            _ => self.registers.held(at),
        };
        self.registers.was_read(at);
        if group < GROUPS && register == ISR {
            self.look(group, ctx);
        }
        Ok(Port::APB.read(value, offset, size, ctx.now))
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let at = offset & !3 & !SECURE;
        let (group, register) = split(at);
        let before = (group < GROUPS).then(|| self.driven(group));
        let result = self.registers.write(at, Port::APB.word(0, value, offset, size));
        if let Err(why @ Refused::Locked(..)) = result {
            write_protection::refused(&mut self.registers, offset & !3, why, ctx);
        } else if let Some(before) = before {
            if let Ok((_, old, new)) = result {
                self.wrote(group, register, old, new);
            }
            self.follow(group, before, ctx);
        }
        Ok(Port::APB.written(ctx.now))
    }

    fn pins_changed(&mut self, port: PortId, _changed: u32, _levels: u32, ctx: &mut Ctx) {
        let group = port.bank as usize;
        self.groups[group].bank.changes += 1;
        self.look(group, ctx);
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

#[cfg(test)]
mod tests;
