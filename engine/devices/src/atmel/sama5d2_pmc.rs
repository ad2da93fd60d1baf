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

use crate::prelude::*;
use crate::support::activities::{CLOCK_START, CLOCKS};
use crate::support::{clock_outputs, write_protection};
use sources::Sources;

mod sources;

registers! {
    const CONTROLLER "PMC_" {
        SCER 0x00 set SCSR mask SYSTEM_CLOCKS;
        SCDR 0x04 clear SCSR mask SYSTEM_CLOCKS;
        /// PCK, the processor's; PCKX, the programmable clocks, whose ready bits have the same positions.
        SCSR 0x08 ro reset SCSR_PCK mask SYSTEM_CLOCKS { PCK 0, PCKX 8..11 };
        PCER0 0x10 wo mask !3;
        PCDR0 0x14 wo mask !3;
        PCSR0 0x18 ro volatile mask !3;
        /// At reset, the main clock. MDIV divides by 1, 2, 4 or 3.
        MCKR 0x30 rw reset 1 { CSS 0..2, PRES 4..7, MDIV 8..10, PLLADIV2 12, H32MXDIV 24 };
        USB 0x38 rw mask 0xf01;
        PCK [0..3; 4] 0x40 rw mask 0xff7;
        IER 0x60 set IMR mask INTERRUPTS;
        IDR 0x64 clear IMR mask INTERRUPTS;
        /// Stable crystal, locked PLLA, master clock from the selected source, locked UTMI PLL, selected oscillator of
        /// the main clock, stable RC oscillator, ready generated clocks. At reset, on the RC oscillators, ready.
        SR 0x68 ro volatile reset SR_MCKRDY | SR_MOSCSELS | SR_MOSCRCS | SR_GCKRDY mask 0x011f_07cb {
            MOSCXTS 0, LOCKA 1, MCKRDY 3, LOCKU 6, MOSCSELS 16, MOSCRCS 17, GCKRDY 24
        };
        IMR 0x6c ro mask INTERRUPTS;
        PLLICPR 0x80 rw mask 0x0303_0703;
        WPMR 0xe4 rw keyed WPKEY in 0xffff_ff00 { WPEN 0 };
        WPSR 0xe8 ro { WPVS 0 rc, WPVSRC 8..24 rc };
        PCER1 0x100 wo;
        PCDR1 0x104 wo;
        PCSR1 0x108 ro volatile;
        PCR 0x10c rw { PID 0..7, GCKCSS 8..11, CMD 12, GCKDIV 20..28, EN 28, GCKEN 29 };
    }

    const GENERATOR "CKGR_" {
        /// At reset, with its start-up times.
        UCKR 0x1c rw reset 0x1020_0000 mask 0xf1f1_0000 { UPLLEN 16, UPLLCOUNT 20..24 };
        /// At reset, the RC oscillator runs.
        MOR 0x20 rw keyed 0x37 in 0x00ff_0000 reset MOR_MOSCRCEN {
            MOSCXTEN 0, MOSCXTBY 1, MOSCRCEN 3, MOSCXTST 8..16, MOSCSEL 24, CFDEN 25
        };
        /// MAINFRDY: the measurement is complete.
        MCFR 0x24 rw { MAINF 0..16 ro, MAINFRDY 16 ro, RCMEAS 20, CCSS 24 };
        /// At reset, with the longest count. ONE is always 1.
        PLLAR 0x28 rw reset PLLAR_PLLACOUNT { DIVA 0..8, PLLACOUNT 8..14, OUTA 14..18, MULA 18..25, ONE 29 };
    }
}

/// The register map (PMC User Interface), without registers that are not modelled, which read 0.
const MAP: Map = joined!(CONTROLLER, GENERATOR);

/// PMC_WPMR.WPKEY: "PMC".
const WPKEY: u32 = 0x50_4d43;
/// The clocks that the device drives, in the order of `cyclescope,outputs`.
pub const OUTPUTS: [&str; 3] =
    ["the processor's clock", "the master clock, MCK, that of the 64-bit matrix", "the clock of the 32-bit matrix"];
/// The index of MCK, the clock of the controller's own bus.
const MCK: usize = 1;

/// PCK (the processor's), DDRCK, LCDCK, UHP, UDP, PCK0 to PCK2, ISCCK.
const SYSTEM_CLOCKS: u32 = SCSR_PCK | 0xcc | SCSR_PCKX | 1 << 18;
/// Slow clocks of a measurement of the main clock.
const MCFR_SLOW_CLOCKS: u64 = 16;
/// MOSCXTS, LOCKA, MCKRDY, LOCKU, PCKRDY0 to PCKRDY2, MOSCSELS, CFDEV.
const INTERRUPTS: u32 = 0x0005_074b;
/// Bits of PMC_PCR that are kept for each peripheral.
const PCR_HELD: u32 = PCR_GCKCSS | PCR_GCKDIV | PCR_EN | PCR_GCKEN;
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
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
#[poll(first = Pmc::look)]
pub struct Pmc {
    #[state(skip)]
    clocks: Clocks,
    /// The clocks that it drives, in the order of [`OUTPUTS`], at their rates.
    #[state(with = engine::state::fixed)]
    outputs: Vec<ClockInput>,
    interrupt: Option<IrqLine>,
    registers: Registers,
    sources: Sources,
    /// PMC_PCR of each peripheral.
    peripherals: Vec<u32>,
    /// The time of the next change of clocks.
    changes_at: Option<Ps>,
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["atmel,sama5d2-pmc"], 1, from_node).with_activities(CLOCKS).naming(MAP.rows);

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
        let (mut registers, mut sources) = (Registers::new(&MAP), Sources::after_reset(clocks.slow));
        if let Ok(rates) = <[Hz; OUTPUTS.len()]>::try_from(rates) {
            sources.boot(&mut registers, clocks.crystal, rates);
        }
        let (peripherals, alarm) = (vec![0; PERIPHERALS], Alarm::default());
        Pmc { clocks, outputs, interrupt, registers, sources, peripherals, changes_at: None, alarm }
    }

    fn status(&self, ctx: &Ctx) -> u32 {
        self.sources.status(&self.registers, ctx.now) | self.registers[SCSR] & SCSR_PCKX | SR_GCKRDY
    }

    /// Sets the board's clocks from the settings, if their source is ready: only in an event, since they change at its
    /// time.
    fn publish(&mut self, ctx: &mut Ctx) {
        self.changes_at = None;
        let Some(frequencies) = self.sources.frequencies(&self.registers, self.clocks.crystal, ctx.now) else { return };
        clock_outputs::publish(&mut self.outputs, frequencies.map(Some), ctx);
    }

    /// A source of clocks, or a setting that depends on it, was written.
    fn sources_changed(&mut self, ctx: &mut Ctx) {
        self.changes_at = Some(ctx.now);
        if self.sources.is_off(&self.registers) {
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
        periods.min(0xffff) as u32 | MCFR_MAINFRDY | self.registers[MCFR] & MCFR_CCSS
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

    fn select(&mut self, value: u32) {
        if value & PCR_CMD != 0 {
            self.peripherals[(value & PCR_PID) as usize] = value & PCR_HELD;
        }
    }

    /// Only sources that become ready change the state.
    fn look(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.bus_clock());
        poll.state(self.sources.status(&self.registers, poll.now()));
        if let Some(ready) = self.sources.next_ready(&self.registers, poll.now()) {
            poll.until(ready);
        }
        true
    }
}

impl Table for Pmc {
    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            PCSR0 => self.enabled(0),
            PCSR1 => self.enabled(32),
            MCFR => self.measure(),
            SR => self.status(ctx),
            PCR => self.peripherals[(held & PCR_PID) as usize] | held & PCR_PID,
            _ => held,
        }
    }

    /// What is protected is each offset but three.
    fn takes_write(&mut self, register: u32, ctx: &mut Ctx) -> bool {
        let is_protected = !matches!(register, IER | IDR | WPMR) && self.registers.has(WPMR, WPMR_WPEN);
        if is_protected {
            write_protection::record(&mut self.registers, WPMR, register, ctx);
        }
        !is_protected
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            // The processor's clock stops until an interrupt: software executes a wait for interrupt itself.
            SCSR => self.registers.put(SCSR, SCSR_PCK, true),
            PCER0 => self.enable(0, new, true),
            PCDR0 => self.enable(0, new, false),
            PCER1 => self.enable(32, new, true),
            PCDR1 => self.enable(32, new, false),
            UCKR => self.sources.set_uckr(new, ctx.now),
            MOR => self.sources.set_mor(old, new, ctx.now),
            PLLAR => self.sources.set_pllar(new, ctx.now),
            PCR => self.select(new),
            _ => {}
        }
        if matches!(register, UCKR | MOR | PLLAR | MCKR) {
            self.sources_changed(ctx);
        }
    }

    fn refused(&mut self, register: u32, why: Refused, ctx: &mut Ctx) {
        if (register, why) == (MOR, Refused::Key) {
            ctx.note("CKGR_MOR was written without its key (0x37): that has no effect");
        }
    }

    /// Updates the interrupt line, and requests an event for the next change of clocks or ready source.
    fn update(&mut self, ctx: &mut Ctx) {
        ctx.set_irq(self.interrupt, self.status(ctx) & self.registers[IMR] != 0);
        for (index, ready) in self.sources.starting().into_iter().enumerate() {
            ctx.awaits((&CLOCK_START, index as u32), ready, Detail::None);
        }
        if let Some(next) = self.changes_at.into_iter().chain(self.sources.next_ready(&self.registers, ctx.now)).min() {
            self.alarm.set(next, 0, ctx);
        }
    }
}

impl Device for Pmc {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        let board: Vec<u64> = self.outputs.iter().map(|clock| clock.rate.get()).collect();
        if let Some(read) = self.sources.frequencies(&self.registers, self.clocks.crystal, ctx.now)
            && board.len() == OUTPUTS.len()
            && board != read
        {
            ctx.note(&format!(
                "its registers read as if set to {read:?} Hz for the processor, MCK and the 32-bit matrix; the board's \
                 clocks are {board:?} Hz until firmware sets them"
            ));
        }
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.publish(ctx);
        self.update(ctx);
    }
}

#[cfg(test)]
mod tests;
