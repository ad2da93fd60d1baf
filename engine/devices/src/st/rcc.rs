//! The reset and clock controls of STM32s (RM0090, RM0383, RM0432 and RM0436, "Reset and clock control (RCC)").
//!
//! Those of STM32F4 and STM32L4+ are one device by a table for each family (`rcc/family.rs`): registers, sources of
//! clocks, and the clocks that it drives. That of STM32MP1 is a device of its own, as its settings take effect at once.

mod family;
mod pll;
mod sources;
pub mod stm32f4;
pub mod stm32g4;
pub mod stm32l4;
pub mod stm32mp1;
mod tree;

#[cfg(test)]
mod tests;

use crate::prelude::*;
use engine::dt::wiring::ClockId;

use self::family::{Family, Interrupts, Name, TO_ENABLES};
use self::sources::{Happened, Hse, Sources};
// These registers, fields and bits are the same in all families.
use self::stm32f4::{
    BDCR_BDRST, BDCR_LSEON, BDCR_RTCEN, BDCR_RTCSEL, CFGR, CFGR_HPRE, CFGR_SW, CFGR_SWS, CR, CR_HSEBYP, CR_HSEON,
};
use crate::registers::Lanes;
use crate::support::clock_gate::BACKUP_DOMAIN;

/// The event's token.
const WAKE: u32 = 0;

/// The board's parameters of an RCC.
#[derive(Clone, Debug)]
pub struct Params {
    /// The rates of the sources; `None` for PLLs, and for oscillators that the board lacks.
    pub oscillators: Vec<Option<Hz>>,
    /// The source at OSC_IN.
    pub hse: Hse,
    /// The start-up times of the oscillators other than HSE, in their order.
    pub starts: Vec<Ps>,
    /// Cycles of an oscillator, and of LSI, from its disable until the ready flag falls.
    pub stop_cycles: [Cycles; 2],
    /// Lock time of a PLL.
    pub lock: Ps,
    /// Cycles of either clock for a switch of SYSCLK.
    pub switch_cycles: Cycles,
    /// Cycles of HCLK until a written setting takes effect.
    pub divider_cycles: Cycles,
    /// The clocks that it drives.
    pub outputs: Vec<ClockId>,
    /// Its interrupt.
    pub interrupt: Option<IrqLine>,
}

impl Params {
    /// Reads a node whose oscillators are known.
    fn from_node(reader: &mut NodeReader, family: &Family, oscillators: Vec<Option<Hz>>) -> Params {
        const SWITCH: &str = "cycles of the old and then of the new clock that a change of SYSCLK takes";
        const DIVIDER: &str = "cycles of HCLK from a write of a divider until it is in force";
        let meanings: Vec<&str> = family.clocks().map(|(meaning, _)| *meaning).collect();
        Params {
            hse: Hse::from_node(reader, oscillators[family.place(Name::Hse)]),
            oscillators,
            starts: family.start_times(reader),
            stop_cycles: sources::stop_cycles(reader),
            lock: sources::start_time(reader, "cyclescope,pll-lock-us", "a PLL"),
            switch_cycles: reader.timing_cycles("cyclescope,switch-cycles", SWITCH),
            divider_cycles: reader.timing_cycles("cyclescope,divider-cycles", DIVIDER),
            outputs: reader.driven_clocks("cyclescope,outputs", &meanings),
            interrupt: reader.interrupt(0, "its interrupt"),
        }
    }
}

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::new(Lanes::Kept))]
pub struct Rcc {
    #[state(skip)]
    family: &'static Family,
    #[state(skip)]
    params: Params,
    registers: Registers,
    /// Oscillators, PLLs, and the source of SYSCLK.
    sources: Sources,
    /// The values in force of dividers and selections: the registers when they last took effect.
    in_force: Registers,
    /// The time at which dividers and selections that were written take effect.
    settings_at: Option<Ps>,
    alarm: Alarm,
    /// True if the note about peripherals that are not reset has been printed.
    is_noted: bool,
}

impl Rcc {
    /// The device of a node, whose oscillators are known.
    fn from_node(family: &'static Family, oscillators: Vec<Option<Hz>>, reader: &mut NodeReader) -> Box<dyn Device> {
        Box::new(Rcc::new(family, Params::from_node(reader, family, oscillators)))
    }

    /// The device after reset: SYSCLK is the first source.
    pub fn new(family: &'static Family, params: Params) -> Rcc {
        let registers = Registers::new(family.map);
        let list = family.sources_of(&params, &registers);
        let sources = Sources::new(list, 0, params.switch_cycles);
        let (in_force, alarm) = (registers.clone(), Alarm::default());
        let mut rcc = Rcc { family, params, registers, sources, in_force, settings_at: None, alarm, is_noted: false };
        rcc.show_sources();
        rcc
    }

    /// Updates the switches and ready flags of the sources, and the source of SYSCLK, in the registers.
    fn show_sources(&mut self) {
        for (index, row) in self.family.sources.iter().enumerate() {
            self.registers.put(row.register, row.on, self.sources.list[index].is_on());
            self.registers.put(row.register, row.ready, self.sources.list[index].is_ready());
        }
        let source = self.family.sources[self.sources.selected].source;
        let selected = self.family.sysclk.iter().rposition(|known| *known == source).unwrap_or(0);
        self.registers.set(CFGR, self.registers[CFGR] & !CFGR_SWS | (selected as u32) << 2);
    }

    fn wrote_cr(&mut self, old: u32, ctx: &mut Ctx) {
        let hse = self.family.place(Name::Hse);
        if self.sources.list[hse].is_on() {
            // HSEBYP is writable only while HSE is off.
            self.registers.put(CR, CR_HSEBYP, old & CR_HSEBYP != 0);
        } else if self.registers.has(CR, CR_HSEON) {
            self.params.hse.prepare(&mut self.sources.list[hse], self.registers.has(CR, CR_HSEBYP), ctx);
        }
        self.wrote_switches(CR, ctx);
    }

    /// Turns the sources on and off whose switches a register has.
    fn turn(&mut self, register: u32, ctx: &mut Ctx) {
        let written = self.registers[register];
        for (index, row) in self.family.sources.iter().enumerate() {
            if row.register != register {
                continue;
            }
            let on = written & row.on != 0;
            if let Some(pll) = self.family.pll(index).filter(|_| on && !self.sources.list[index].is_on()) {
                self.prepare_pll(index, pll, ctx);
            }
            self.sources.turn(index, on, ctx.now);
        }
    }

    /// A register may have switches of sources.
    fn wrote_switches(&mut self, register: u32, ctx: &mut Ctx) {
        if self.family.sources.iter().any(|row| row.register == register) {
            self.turn(register, ctx);
            self.report_why(ctx);
        }
    }

    fn wrote_cfgr(&mut self, old: u32, new: u32, ctx: &mut Ctx) {
        let (mco, note) = self.family.mco;
        if (old ^ new) & mco != 0 {
            ctx.note(note);
        }
        self.select(ctx);
        if (old ^ new) & self.family.dividers != 0 {
            self.settings_change(ctx);
        }
    }

    /// Switches SYSCLK to the source that RCC_CFGR.SW selects, once that is ready.
    fn select(&mut self, ctx: &mut Ctx) {
        let Some(source) = self.family.sysclk.get(self.registers.field(CFGR, CFGR_SW) as usize) else { return };
        let source = self.family.place(*source);
        if let Some(output) = self.output_off(source) {
            ctx.note(&format!(
                "the PLL was selected for SYSCLK with its output R off ({output}): SYSCLK keeps its source"
            ));
            return;
        }
        self.sources.select(source, ctx.now);
    }

    /// Writes RCC_BDCR, if PWR allows it.
    fn wrote_bdcr(&mut self, old: u32, new: u32, ctx: &mut Ctx) {
        let Family { bdcr, dbp, .. } = *self.family;
        let (register, bit) = BACKUP_DOMAIN;
        if !ctx.bus.clocks.is_running(register, bit) {
            ctx.note(&format!(
                "RCC_BDCR was written while the backup domain is protected ({dbp}.DBP is 0): the write does nothing"
            ));
            self.registers.set(bdcr, old);
            return;
        }
        let is_reset = new & BDCR_BDRST != 0;
        let value = if is_reset { BDCR_BDRST } else { new };
        let lse = self.sources.list[self.family.place(Name::Lse)];
        if value & BDCR_LSEON != 0 && lse.rate.is_none() {
            ctx.note("LSE is turned on (RCC_BDCR.LSEON), and the board has no crystal there: it never gets ready");
        }
        // RTCSEL can't be changed once it is set, until the domain is reset.
        let is_chosen = old & BDCR_RTCSEL != 0 && !is_reset;
        let selected = if is_chosen { old } else { value } & BDCR_RTCSEL;
        self.registers.set(bdcr, value & !BDCR_RTCSEL | selected);
        ctx.bus.clocks.set_gates(bdcr, self.registers[bdcr]);
        ctx.bus.clocks.set_resets(bdcr, flag(BDCR_RTCEN, is_reset));
        // Notifies the RTC of RTCEN and BDRST.
        ctx.set_clocks(&[]);
        self.turn(bdcr, ctx);
        self.settings_change(ctx);
    }

    fn wrote_csr(&mut self, new: u32, ctx: &mut Ctx) {
        let Family { csr, rmvf, reset_flags, .. } = *self.family;
        if new & rmvf != 0 {
            self.registers.put(csr, rmvf | reset_flags, false);
        }
        self.wrote_switches(csr, ctx);
    }

    fn wrote_reset(&mut self, register: u32, new: u32, ctx: &mut Ctx) {
        let unknown = ctx.bus.clocks.set_resets(register + TO_ENABLES, new);
        self.note_unreset(register, unknown, ctx);
        // Notifies devices that are reset.
        ctx.set_clocks(&[]);
    }

    /// Notes, once, bits of RCC_xxxRSTR that reset nothing: firmware that resets all peripherals writes such bits in
    /// each reset register.
    fn note_unreset(&mut self, register: u32, bits: u32, ctx: &mut Ctx) {
        if bits == 0 || std::mem::replace(&mut self.is_noted, true) {
            return;
        }
        let name = self.family.map.row(register).map_or("RCC_xxxRSTR", |row| row.name);
        ctx.note(&format!(
            "bits {bits:#x} of {name} are of peripherals that the model does not reset: they keep their state. Further \
             such bits, of any reset register, are not reported"
        ));
    }

    fn wrote_enable(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        let enabled = new & !old;
        if enabled != 0 {
            ctx.bus.clocks.open_from(register, enabled, self.clocked_from(register, ctx.now), ctx.now);
        }
        ctx.bus.clocks.set_gates(register, new);
        // Notifies devices whose gate has changed.
        ctx.set_clocks(&[]);
    }

    /// The time from which a peripheral has the clock that a register enables now.
    fn clocked_from(&self, register: u32, now: Ps) -> Ps {
        let tree = self.tree();
        let [apb1, apb2] = self.family.apb_enables;
        let bus = match register {
            _ if register >= apb2 => tree.pclk[1],
            _ if register >= apb1 => tree.pclk[0],
            _ => tree.hclk,
        };
        (self.family.enabled_at)(now, tree.hclk, bus)
    }

    /// Dividers or selections were written: they take effect some cycles later.
    fn settings_change(&mut self, ctx: &Ctx) {
        self.settings_at = Some(self.tree().hclk.after(ctx.now, self.params.divider_cycles));
    }

    /// A source was turned on or off: updates the reasons for which stopped clocks wait.
    fn report_why(&mut self, ctx: &Ctx) {
        self.settings_at.get_or_insert(ctx.now);
    }

    /// Applies the changes up to now; called in events only, as clocks change at an event's time.
    fn advance(&mut self, ctx: &mut Ctx) {
        let are_due = self.settings_at.take_if(|due| *due <= ctx.now).is_some();
        if are_due {
            self.in_force = self.registers.clone();
            (self.family.tune)(self);
        }
        let happened = self.sources.advance(ctx.now);
        if happened != Happened::default() || are_due {
            self.publish(ctx);
        }
        let Interrupts { enables, shift, flags, .. } = self.family.interrupts;
        for (index, row) in self.family.sources.iter().enumerate() {
            if happened.ready >> index & 1 != 0 && self.registers.has(enables, row.interrupt << shift) {
                self.registers.put(flags, row.interrupt, true);
            }
        }
    }
}

impl Table for Rcc {
    /// On the AHB, bytes have their own lanes.
    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        if self.family.enables.contains(&register) {
            ctx.bus.clocks.opened(register);
        }
        held
    }

    fn wrote(&mut self, register: u32, old: u32, _: u32, ctx: &mut Ctx) {
        let family = self.family;
        (family.wrote)(self, register, old, ctx);
        let new = self.registers[register];
        match register {
            CR => self.wrote_cr(old, ctx),
            CFGR => self.wrote_cfgr(old, new, ctx),
            _ if register == family.bdcr => self.wrote_bdcr(old, new, ctx),
            _ if register == family.csr => self.wrote_csr(new, ctx),
            _ if register == family.interrupts.flags => family.interrupts.clear(&mut self.registers),
            _ if family.enables.contains(&(register + TO_ENABLES)) => self.wrote_reset(register, new, ctx),
            _ if family.enables.contains(&register) => self.wrote_enable(register, old, new, ctx),
            _ if family.settings.contains(&register) => self.settings_change(ctx),
            _ => match family.pll_at(register) {
                Some(pll) => self.wrote_pll(pll, old, new, ctx),
                None => self.wrote_switches(register, ctx),
            },
        }
    }

    /// Schedules the next event, and updates the interrupt.
    fn update(&mut self, ctx: &mut Ctx) {
        self.show_sources();
        self.sources.report(ctx);
        if let Some(next) = self.sources.next().into_iter().chain(self.settings_at).min() {
            self.alarm.set(next, WAKE, ctx);
        }
        ctx.set_irq(self.params.interrupt, self.family.interrupts.are_active(&self.registers));
    }
}

impl Device for Rcc {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        // Peripherals are notified of their gates with the rates.
        for register in self.family.enables.clone().step_by(4).chain([self.family.bdcr]) {
            ctx.bus.clocks.set_gates(register, self.registers[register]);
        }
        self.publish(ctx);
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.advance(ctx);
        self.update(ctx);
    }
}
