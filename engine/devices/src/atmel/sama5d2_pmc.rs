//! `atmel,sama5d2-pmc`: Power Management Controller (SAMA5D2 datasheet DS60001476, section PMC).
//!
//! Modelled: the registers, and the conditions for which software waits. Oscillators, PLLA and the UTMI PLL become
//! ready after the number of slow clocks in their registers ([`sources`]), the master clock with its source. Enabled
//! clocks are kept by number, generated clocks with their settings; the interrupt; write protection.
//!
//! The board's clock nodes follow the settings of the firmware: [`OUTPUTS`]. They start as a first-stage loader leaves
//! them, and so do the registers: MCK from PLLA, with the dividers of the board's clocks. A new source of MCK replaces
//! the old one when it is ready, a divider at once; for the multiplexer's switching time the datasheet has only the
//! worst case, some slow clocks ("Clock Switching Timings"). Until a source is ready, and if it is turned off, MCK
//! continues as before; on the chip it may stop.
//!
//! A peripheral works whether its clock is enabled or not. The SDRAM's times stay the same in cycles of MCK.
//!
//! Not modelled: clock failure, fast start-up, sleepwalking, the audio PLL.

use crate::model::{Group, Model};
use crate::support::activities::{CLOCK_START, CLOCKS};
use crate::support::apb::{self, WriteProtection};
use crate::support::registers::{AccessKind, Register, flag};
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Hz, Ps};
use sources::Sources;

mod sources;

/// The register map (PMC User Interface), without registers that are not modelled, which read 0.
pub const REGISTERS: &[Register] = &[
    Register::new("PMC_SCER", SCER, AccessKind::Wo, 0, SYSTEM_CLOCKS),
    Register::new("PMC_SCDR", SCDR, AccessKind::Wo, 0, SYSTEM_CLOCKS),
    Register::new("PMC_SCSR", SCSR, AccessKind::Ro, SCSR_PCK, SYSTEM_CLOCKS),
    Register::new("PMC_PCER0", PCER0, AccessKind::Wo, 0, !3),
    Register::new("PMC_PCDR0", PCDR0, AccessKind::Wo, 0, !3),
    Register::new("PMC_PCSR0", PCSR0, AccessKind::Ro, 0, !3),
    Register::new("CKGR_UCKR", UCKR, AccessKind::Rw, sources::UCKR_RESET, 0xf1f1_0000),
    Register::new("CKGR_MOR", MOR, AccessKind::Rw, sources::MOR_RESET, sources::MOR_MASK),
    Register::new("CKGR_MCFR", MCFR, AccessKind::Rw, 0, 0x0111_ffff),
    Register::new("CKGR_PLLAR", PLLAR, AccessKind::Rw, sources::PLLAR_RESET, sources::PLLAR_MASK),
    Register::new("PMC_MCKR", MCKR, AccessKind::Rw, sources::MCKR_RESET, sources::MCKR_MASK),
    Register::new("PMC_USB", USB, AccessKind::Rw, 0, 0xf01),
    Register::new("PMC_PCK0", PCK0, AccessKind::Rw, 0, PCK_MASK),
    Register::new("PMC_PCK1", 0x44, AccessKind::Rw, 0, PCK_MASK),
    Register::new("PMC_PCK2", PCK2, AccessKind::Rw, 0, PCK_MASK),
    Register::new("PMC_IER", IER, AccessKind::Wo, 0, INTERRUPTS),
    Register::new("PMC_IDR", IDR, AccessKind::Wo, 0, INTERRUPTS),
    Register::new("PMC_SR", SR, AccessKind::Ro, SR_RESET, 0x011f_07cb),
    Register::new("PMC_IMR", IMR, AccessKind::Ro, 0, INTERRUPTS),
    Register::new("PMC_PLLICPR", PLLICPR, AccessKind::Rw, 0, 0x0303_0703),
    Register::new("PMC_WPMR", WPMR, AccessKind::Rw, 0, apb::WPMR_WPEN),
    Register::new("PMC_WPSR", WPSR, AccessKind::Ro, 0, 0x00ff_ff01),
    Register::new("PMC_PCER1", PCER1, AccessKind::Wo, 0, u32::MAX),
    Register::new("PMC_PCDR1", PCDR1, AccessKind::Wo, 0, u32::MAX),
    Register::new("PMC_PCSR1", PCSR1, AccessKind::Ro, 0, u32::MAX),
    Register::new("PMC_PCR", PCR, AccessKind::Rw, 0, PCR_HELD | PCR_PID),
];

/// The clocks that the device drives, in the order of `cyclescope,outputs`.
pub const OUTPUTS: [&str; 3] =
    ["the processor's clock", "the master clock, MCK, that of the 64-bit matrix", "the clock of the 32-bit matrix"];
/// The index of MCK, the clock of the controller's own bus.
const MCK: usize = 1;

const SCER: u32 = 0x00;
const SCDR: u32 = 0x04;
const SCSR: u32 = 0x08;
const PCER0: u32 = 0x10;
const PCDR0: u32 = 0x14;
const PCSR0: u32 = 0x18;
const UCKR: u32 = 0x1c;
const MOR: u32 = 0x20;
const MCFR: u32 = 0x24;
const PLLAR: u32 = 0x28;
const MCKR: u32 = 0x30;
const USB: u32 = 0x38;
const PCK0: u32 = 0x40;
const PCK2: u32 = 0x48;
const IER: u32 = 0x60;
const IDR: u32 = 0x64;
const SR: u32 = 0x68;
const IMR: u32 = 0x6c;
const PLLICPR: u32 = 0x80;
const WPMR: u32 = 0xe4;
const WPSR: u32 = 0xe8;
const PCER1: u32 = 0x100;
const PCDR1: u32 = 0x104;
const PCSR1: u32 = 0x108;
const PCR: u32 = 0x10c;

/// PCK (the processor's), DDRCK, LCDCK, UHP, UDP, PCK0 to PCK2, ISCCK.
const SYSTEM_CLOCKS: u32 = SCSR_PCK | 0xcc | SCSR_PCKX | 1 << 18;
const SCSR_PCK: u32 = 1 << 0;
/// The programmable clocks, whose ready bits have the same positions.
const SCSR_PCKX: u32 = 7 << 8;
const PCK_MASK: u32 = 0xff7;
/// MCFR: the measurement is complete.
const MCFR_MAINFRDY: u32 = 1 << 16;
const MCFR_CCSS: u32 = 1 << 24;
/// Slow clocks of a measurement of the main clock.
const MCFR_SLOW_CLOCKS: u64 = 16;
const SR_GCKRDY: u32 = 1 << 24;
/// On the RC oscillators, ready.
const SR_RESET: u32 = sources::SR_MCKRDY | sources::SR_MOSCSELS | sources::SR_MOSCRCS | SR_GCKRDY;
/// MOSCXTS, LOCKA, MCKRDY, LOCKU, PCKRDY0 to PCKRDY2, MOSCSELS, CFDEV.
const INTERRUPTS: u32 = 0x0005_074b;
const PCR_PID: u32 = 0x7f;
const PCR_CMD: u32 = 1 << 12;
const PCR_EN: u32 = 1 << 28;
/// GCKCSS, GCKDIV, EN, GCKEN: kept for each peripheral.
const PCR_HELD: u32 = 7 << 8 | 0xff << 20 | PCR_EN | 1 << 29;
/// PMC_WPMR.WPKEY: "PMC".
const WPKEY: u32 = 0x50_4d43;
const PERIPHERALS: usize = 128;

/// The board's oscillators.
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    /// The slow clock.
    pub slow: Hz,
    /// The crystal.
    pub crystal: Hz,
}

/// The device.
#[derive(Debug, State)]
pub struct Pmc {
    #[state(skip)]
    clocks: Clocks,
    /// The clocks that it drives, in the order of [`OUTPUTS`], at their rates.
    #[state(with = engine::state::fixed)]
    outputs: Vec<ClockInput>,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    sources: Sources,
    system: u32,
    /// PMC_PCR of each peripheral.
    peripherals: Vec<u32>,
    selected: usize,
    usb: u32,
    programmable: [u32; 3],
    charge_pumps: u32,
    measured_crystal: bool,
    interrupt_mask: u32,
    protection: WriteProtection,
    /// The time of the next change of clocks.
    changes_at: Option<Ps>,
    alarm: Alarm,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["atmel,sama5d2-pmc"], 1, from_node).with_activities(CLOCKS).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clocks =
        Clocks { slow: reader.clock(0, "the slow clock"), crystal: reader.clock(1, "the main crystal oscillator") };
    reader.known(&["clock-names"]);
    let outputs = reader.driven_clock_inputs("cyclescope,outputs", &OUTPUTS, OUTPUTS.len());
    Box::new(Pmc::new(clocks, outputs, reader.interrupt(0, "its interrupt")))
}

impl Pmc {
    /// The device as left by a first-stage loader that has set the clocks of the board, `outputs`; without outputs, as
    /// after reset. There are as many of [`OUTPUTS`] as the board has.
    pub fn new(clocks: Clocks, outputs: Vec<ClockInput>, interrupt: Option<IrqLine>) -> Pmc {
        let rates: Vec<Hz> = outputs.iter().map(|clock| clock.rate).collect();
        let reset = Sources::after_reset(clocks.slow);
        let sources = <[Hz; OUTPUTS.len()]>::try_from(rates).map_or(reset, |rates| reset.booted(clocks.crystal, rates));
        Pmc {
            clocks,
            outputs,
            interrupt,
            sources,
            system: SCSR_PCK,
            peripherals: vec![0; PERIPHERALS],
            selected: 0,
            usb: 0,
            programmable: [0; 3],
            charge_pumps: 0,
            measured_crystal: false,
            interrupt_mask: 0,
            protection: WriteProtection::new(WPKEY),
            changes_at: None,
            alarm: Alarm::default(),
            writes: 0,
        }
    }

    fn status(&self, ctx: &Ctx) -> u32 {
        self.sources.status(ctx.now) | self.system & SCSR_PCKX | SR_GCKRDY
    }

    /// Updates the interrupt line, and requests an event for the next change of clocks or ready source.
    fn update(&mut self, ctx: &mut Ctx) {
        ctx.set_irq(self.interrupt, self.status(ctx) & self.interrupt_mask != 0);
        for (index, ready) in self.sources.starting().into_iter().enumerate() {
            ctx.awaits((&CLOCK_START, index as u32), ready, Detail::None);
        }
        if let Some(next) = self.changes_at.into_iter().chain(self.sources.next_ready(ctx.now)).min() {
            self.alarm.set(next, 0, ctx);
        }
    }

    /// Sets the board's clocks from the settings, if their source is ready: only in an event, since they change at its
    /// time.
    fn publish(&mut self, ctx: &mut Ctx) {
        self.changes_at = None;
        let Some(frequencies) = self.sources.frequencies(self.clocks.crystal, ctx.now) else { return };
        let mut changed = Vec::new();
        for (clock, hz) in self.outputs.iter_mut().zip(frequencies) {
            let Some(rate) = Hz::new(hz).filter(|rate| *rate != clock.rate) else { continue };
            clock.rate = rate;
            changed.extend(clock.id.map(|id| (id, rate)));
        }
        ctx.set_clocks(&changed);
    }

    /// A source of clocks, or a setting that depends on it, was written.
    fn sources_changed(&mut self, ctx: &mut Ctx) {
        self.changes_at = Some(ctx.now);
        if self.sources.is_off() {
            ctx.note(
                "MCK's source (PMC_MCKR.CSS) is off: on the chip all stops that runs by MCK; here it goes on as before",
            );
        }
    }

    /// The rate of its bus.
    fn bus_clock(&self) -> Hz {
        self.outputs.get(MCK).map_or(self.clocks.crystal, |clock| clock.rate)
    }

    /// The main clock's periods in [`MCFR_SLOW_CLOCKS`]: the RC oscillator has the crystal's frequency here.
    fn measure(&self) -> u32 {
        let periods = self.clocks.crystal.get() * MCFR_SLOW_CLOCKS / self.clocks.slow.get();
        periods.min(0xffff) as u32 | MCFR_MAINFRDY | flag(MCFR_CCSS, self.measured_crystal)
    }

    /// Bits of the peripherals from `first` on whose clock is enabled.
    fn enabled(&self, first: usize) -> u32 {
        (0..32).fold(0, |bits, bit| bits | flag(1 << bit, self.peripherals[first + bit] & PCR_EN != 0))
    }

    fn enable(&mut self, first: usize, bits: u32, on: bool) {
        for peripheral in (0..32).filter(|bit| bits >> bit & 1 != 0).map(|bit| first + bit) {
            let held = self.peripherals[peripheral] & !PCR_EN;
            self.peripherals[peripheral] = held | flag(PCR_EN, on);
        }
    }

    fn register(&mut self, offset: u32, ctx: &Ctx) -> u32 {
        match offset {
            SCSR => self.system,
            PCSR0 => self.enabled(0),
            PCSR1 => self.enabled(32),
            UCKR => self.sources.uckr,
            MOR => self.sources.mor,
            MCFR => self.measure(),
            PLLAR => self.sources.pllar,
            MCKR => self.sources.mckr,
            USB => self.usb,
            PCK0..=PCK2 => self.programmable[((offset - PCK0) / 4) as usize],
            SR => self.status(ctx),
            IMR => self.interrupt_mask,
            PLLICPR => self.charge_pumps,
            WPMR => self.protection.mode(),
            WPSR => self.protection.take_status(),
            PCR => self.peripherals[self.selected] | self.selected as u32,
            _ => 0,
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        if !matches!(offset, IER | IDR | WPMR) && self.protection.refuses(offset, ctx) {
            return;
        }
        match offset {
            SCER => self.system |= value & SYSTEM_CLOCKS,
            // The processor's clock stops until an interrupt: software executes a wait for interrupt itself.
            SCDR => self.system &= !value | SCSR_PCK,
            PCER0 => self.enable(0, value & !3, true),
            PCDR0 => self.enable(0, value & !3, false),
            PCER1 => self.enable(32, value, true),
            PCDR1 => self.enable(32, value, false),
            UCKR => {
                self.sources.set_uckr(value, ctx.now);
                self.sources_changed(ctx);
            }
            MOR => self.set_oscillators(value, ctx),
            MCFR => self.measured_crystal = value & MCFR_CCSS != 0,
            PLLAR => {
                self.sources.set_pllar(value, ctx.now);
                self.sources_changed(ctx);
            }
            MCKR => {
                self.sources.mckr = value & sources::MCKR_MASK;
                self.sources_changed(ctx);
            }
            USB => self.usb = value & 0xf01,
            PCK0..=PCK2 => self.programmable[((offset - PCK0) / 4) as usize] = value & PCK_MASK,
            IER => self.interrupt_mask |= value & INTERRUPTS,
            IDR => self.interrupt_mask &= !value,
            PLLICPR => self.charge_pumps = value & 0x0303_0703,
            WPMR => self.protection.set_mode(value),
            PCR => {
                self.selected = (value & PCR_PID) as usize;
                if value & PCR_CMD != 0 {
                    self.peripherals[self.selected] = value & PCR_HELD;
                }
            }
            _ => {}
        }
    }

    fn set_oscillators(&mut self, value: u32, ctx: &mut Ctx) {
        if !self.sources.set_mor(value, ctx.now) {
            ctx.note("CKGR_MOR was written without its key (0x37): that has no effect");
            return;
        }
        self.sources_changed(ctx);
    }
}

impl Device for Pmc {
    fn reset(&mut self, ctx: &mut Ctx) {
        let board: Vec<u64> = self.outputs.iter().map(|clock| clock.rate.get()).collect();
        if let Some(read) = self.sources.frequencies(self.clocks.crystal, ctx.now)
            && board.len() == OUTPUTS.len()
            && board != read
        {
            ctx.note(&format!(
                "its registers read as if set to {read:?} Hz for the processor, MCK and the 32-bit matrix; the board's \
                 clocks are {board:?} Hz until firmware sets them"
            ));
        }
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let register = self.register(offset & !3, ctx);
        Ok(apb::read(register, offset, size, ctx))
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
        self.set_register(offset, value, ctx);
        self.update(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.publish(ctx);
        self.update(ctx);
    }
}

impl Polled for Pmc {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.bus_clock());
        // Only sources that become ready change the state.
        poll.state(self.writes);
        poll.state(self.sources.status(poll.now()));
        poll.state(self.protection.state());
        if let Some(ready) = self.sources.next_ready(poll.now()) {
            poll.until(ready);
        }
        true
    }
}

#[cfg(test)]
mod tests;
