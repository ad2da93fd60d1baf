//! `atmel,sama5d2-pinctrl`: Parallel Input/Output Controller (SAMA5D2 datasheet DS60001476, section PIO): four groups
//! of 32 lines.
//!
//! Modelled: the registers: configurations behind their mask, outputs and what a line reads (as driven, else as
//! pulled), freezing, the secure view at 0x1000, write protection. Nothing depends on what a line is configured for.
//! Lines that the board names have their levels in waveforms: as driven, else as pulled.
//!
//! Not modelled: events on lines, and their interrupts: nothing on the board drives one.

use crate::bus::device::{AccessSize, Ctx, Device, Reply, SlaveError};
use crate::devices::model::{self, Model};
use crate::devices::support::apb::{self, WriteProtection};
use crate::devices::support::registers::{AccessKind, Register};
use crate::dt::fault::FaultKind;
use crate::dt::reader::NodeReader;
use crate::dt::wiring::ClockInput;
use crate::observe::waves::SignalId;
use crate::polling::Poll;
use crate::state::State;

/// The register map (PIO User Interface): the first group's registers, and those of all. The other groups' follow each
/// 0x40 behind.
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
    Register::new("PIO_ISR0", 0x2c, AccessKind::Ro, 0, u32::MAX),
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
const SIONR: u32 = 0x30;
const SIOSR: u32 = 0x34;
const IOSSR: u32 = 0x38;
const IOFR: u32 = 0x3c;
/// From a group's register to the next group's.
const STRIDE: u32 = 0x40;
const GROUPS: usize = 4;
/// Behind this the same groups are seen by secure software.
const SECURE: u32 = 0x1000;
const WPMR: u32 = 0x5e0;
const WPSR: u32 = 0x5e4;

const CFGR_MASK: u32 = 0x0703_f707;
const CFGR_FUNC: u32 = 7;
const CFGR_DIR: u32 = 1 << 8;
const CFGR_PDEN: u32 = 1 << 10;
/// Pull-up.
const CFGR_RESET: u32 = 1 << 9;
/// PCFS and ICFS: the physical and the interrupt configuration are frozen.
const CFGR_FROZEN: u32 = 3 << 29;
/// Physical configuration: FUNC and the pad's bits.
const CFGR_PHYSICAL: u32 = 0x0003_f707;
/// PIO_IOFR: both, from bit 0 on as in PCFS and ICFS; and its key, "IOF".
const IOFR_KEY: u32 = 0x49_4f46;
/// PIO_WPMR.WPKEY: "PIO".
const WPKEY: u32 = 0x50_494f;

/// A group of 32 lines.
#[derive(Clone, Copy, Debug, State)]
struct Group {
    mask: u32,
    configurations: [u32; 32],
    output: u32,
    interrupt_mask: u32,
    /// Lines that only secure software has.
    secure: u32,
}

/// A line whose level is recorded.
#[derive(Clone, Copy, Debug, State)]
struct Recorded {
    #[state(skip)]
    group: usize,
    #[state(skip)]
    line: usize,
    /// From the reset on.
    #[state(skip)]
    signal: Option<SignalId>,
    /// Lines are pulled up at first.
    level: bool,
}

impl Recorded {
    /// Of a pin's name, "PA0" to "PD31".
    fn named(name: &str) -> Option<Recorded> {
        let (group, line) = name.strip_prefix('P')?.split_at_checked(1)?;
        let group = ["A", "B", "C", "D"].iter().position(|letter| *letter == group)?;
        let line = (0..32).find(|number| number.to_string() == line)?;
        Some(Recorded { group, line, signal: None, level: true })
    }

    fn name(self) -> String {
        format!("p{}{}", ["a", "b", "c", "d"][self.group], self.line)
    }
}

/// The device.
#[derive(Debug, State)]
pub struct Pio {
    clock: ClockInput,
    groups: [Group; GROUPS],
    #[state(with = crate::state::fixed)]
    recorded: Vec<Recorded>,
    protection: WriteProtection,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(model::Group::System, &["atmel,sama5d2-pinctrl"], 1, from_node).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "the peripheral clock");
    reader.known(&["gpio-controller", "#gpio-cells"]);
    Box::new(Pio { recorded: recorded_pins(reader), ..Pio::new(clock) })
}

fn recorded_pins(reader: &mut NodeReader) -> Vec<Recorded> {
    const NAME: &str = "cyclescope,recorded-pins";
    let mut recorded = Vec::new();
    for pin in reader.strings(NAME, "pins whose levels waveforms have, as \"PA0\"; without it none") {
        match Recorded::named(pin) {
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
    const fn after_reset() -> Group {
        Group { mask: 0, configurations: [CFGR_RESET; 32], output: 0, interrupt_mask: 0, secure: u32::MAX }
    }

    /// PIO_CFGR: that of the first line in the mask, or of line 0.
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
    }

    /// PIO_PDSR: a line reads what the controller drives, else what it is pulled to.
    fn levels(&self) -> u32 {
        let level = |line: usize| {
            let configuration = self.configurations[line];
            if configuration & (CFGR_FUNC | CFGR_DIR) == CFGR_DIR {
                self.output >> line & 1
            } else {
                u32::from(configuration & CFGR_PDEN == 0)
            }
        };
        (0..32).fold(0, |levels, line| levels | level(line) << line)
    }

    fn register(&self, register: u32) -> u32 {
        match register {
            MSKR => self.mask,
            CFGR => self.configuration(),
            PDSR => self.levels(),
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
    pub fn new(clock: impl Into<ClockInput>) -> Pio {
        Pio {
            clock: clock.into(),
            groups: [Group::after_reset(); GROUPS],
            recorded: Vec::new(),
            protection: WriteProtection::new(WPKEY),
            writes: 0,
        }
    }

    /// Tells of the recorded lines that a write has changed.
    fn record(&mut self, ctx: &Ctx) {
        for recorded in &mut self.recorded {
            let level = self.groups[recorded.group].levels() >> recorded.line & 1 != 0;
            if let Some(signal) = recorded.signal.filter(|_| level != recorded.level) {
                recorded.level = level;
                ctx.bus.waves.set(signal, ctx.now, level);
            }
        }
    }
}

/// Group and register at `offset`; what belongs to no group has one that does not exist.
const fn split(offset: u32) -> (usize, u32) {
    let offset = offset & !SECURE;
    ((offset / STRIDE) as usize, offset % STRIDE)
}

impl Device for Pio {
    fn reset(&mut self, ctx: &mut Ctx) {
        for recorded in &mut self.recorded {
            recorded.signal = Some(ctx.bus.waves.signal(ctx.label(), &recorded.name(), recorded.level));
        }
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let (group, register) = split(offset & !3);
        let value = match (self.groups.get(group), offset & !3 & !SECURE) {
            (Some(group), _) => group.register(register),
            (None, WPMR) => self.protection.mode(),
            (None, WPSR) => self.protection.take_status(),
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
            Some(group) => group.set_register(register, value),
            None if offset & !SECURE == WPMR => self.protection.set_mode(value),
            None => {}
        }
        self.record(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.clock);
    }

    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.clock.rate);
        poll.state(self.writes);
        poll.state(self.protection.state());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::bench::{Bench, read_plain_node};
    use crate::devices::support::registers::walk;
    use crate::time::{Hz, Ps};

    const NOW: Ps = Ps(0);

    fn pio() -> Bench {
        let (bench, faults) = read_plain_node(from_node, &[]);
        assert!(faults.is_empty(), "{faults:?}");
        bench
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(REGISTERS, &["PIO_CFGR0", "PIO_ODSR0", "PIO_WPMR"], &mut pio());
    }

    #[test]
    fn named_lines_are_recorded_as_driven_or_pulled() {
        let mut pio = Pio::new(Hz::new(83_000_000).unwrap());
        pio.recorded = ["PA1", "PD31"].iter().filter_map(|name| Recorded::named(name)).collect();
        let mut bench = Bench::new(pio);
        bench.record();
        let group = 3 * STRIDE;
        for (at, register, value) in [(1, MSKR, 1 << 31), (2, CFGR, CFGR_DIR), (3, SODR, u32::MAX), (4, CODR, 1 << 31)]
        {
            bench.write(Ps(at), group + register, value).unwrap();
        }
        assert_eq!(bench.recorded("pd31"), [(Ps(2), false), (Ps(3), true), (Ps(4), false)]);
        assert_eq!(bench.recorded("pa1"), []);
    }

    #[test]
    fn only_pins_of_the_chip_have_names() {
        for name in ["", "P", "PE0", "PA32", "PA+1", "PA01", "A1", "pa1", "PA1 ", "PÄ1"] {
            assert!(Recorded::named(name).is_none(), "{name:?}");
        }
        assert_eq!(Recorded::named("PB10").map(Recorded::name).as_deref(), Some("pb10"));
    }

    #[test]
    fn a_configuration_goes_to_the_lines_of_the_mask() {
        let mut bench = pio();
        let group = 2 * STRIDE;
        bench.write(NOW, group + MSKR, 1 << 5 | 1 << 9).unwrap();
        bench.write(NOW, group + CFGR, u32::MAX).unwrap();
        for (mask, configuration) in [(1 << 5, CFGR_MASK), (1 << 9, CFGR_MASK), (1 << 4, CFGR_RESET), (0, CFGR_RESET)] {
            bench.write(NOW, group + MSKR, mask).unwrap();
            assert_eq!(bench.value(NOW, group + CFGR), configuration, "mask {mask:#x}");
            // The secure view shows the same.
            assert_eq!(bench.value(NOW, SECURE + group + CFGR), configuration);
        }
        bench.write(NOW, MSKR, 1 << 5).unwrap();
        assert_eq!(bench.value(NOW, CFGR), CFGR_RESET);
    }

    #[test]
    fn lines_read_what_drives_or_pulls_them() {
        let mut bench = pio();
        bench.write(NOW, MSKR, 0b0111).unwrap();
        bench.write(NOW, CFGR, CFGR_DIR).unwrap();
        bench.write(NOW, SODR, 0b0110).unwrap();
        bench.write(NOW, CODR, 0b0100).unwrap();
        assert_eq!((bench.value(NOW, ODSR), bench.value(NOW, PDSR)), (0b0010, 0xffff_fffa));
        // A write of ODSR goes to the lines of the mask.
        bench.write(NOW, MSKR, 0b0001).unwrap();
        bench.write(NOW, ODSR, u32::MAX).unwrap();
        assert_eq!(bench.value(NOW, ODSR), 0b0011);
        bench.write(NOW, MSKR, 0b1000).unwrap();
        bench.write(NOW, CFGR, CFGR_PDEN).unwrap();
        assert_eq!(bench.value(NOW, PDSR), 0xffff_fff3);
    }

    #[test]
    fn a_frozen_configuration_stays() {
        let mut bench = pio();
        bench.write(NOW, MSKR, 1).unwrap();
        bench.write(NOW, CFGR, 3).unwrap();
        bench.write(NOW, IOFR, 1).unwrap();
        bench.write(NOW, CFGR, 4).unwrap();
        assert_eq!(bench.value(NOW, CFGR), 4);
        bench.write(NOW, IOFR, IOFR_KEY << 8 | 1).unwrap();
        bench.write(NOW, CFGR, 5 | 1 << 24).unwrap();
        assert_eq!(bench.value(NOW, CFGR), 4 | 1 << 24 | 1 << 29);
    }

    #[test]
    fn write_protection_covers_the_configuration() {
        let mut bench = pio();
        bench.write(NOW, WPMR, WPKEY << 8 | 1).unwrap();
        bench.write(NOW, STRIDE + MSKR, 7).unwrap();
        assert_eq!((bench.value(NOW, STRIDE + MSKR), bench.value(NOW, WPSR)), (0, STRIDE << 8 | 1));
        bench.write(NOW, SODR, 7).unwrap();
        assert_eq!(bench.value(NOW, ODSR), 7);
    }

    #[test]
    fn lines_are_secure_until_software_says_otherwise() {
        let mut bench = pio();
        assert_eq!(bench.value(NOW, SECURE + IOSSR), u32::MAX);
        bench.write(NOW, SECURE + SIONR, 0xff).unwrap();
        bench.write(NOW, SECURE + SIOSR, 0x0f).unwrap();
        assert_eq!(bench.value(NOW, SECURE + IOSSR), 0xffff_ff0f);
    }
}
