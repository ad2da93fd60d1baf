//! `st,stm32mp1-rcc`: the reset and clock control of STM32MP1 (RM0436, "Reset and clock control (RCC)").
//!
//! Modelled: the pairs of registers that set and clear bits. Among them, the clock enables gate peripherals (a
//! peripheral has its clock if either processor enabled it). Also the boot of the MCU (RCC_MP_GCR.BOOT_MCU), its reset
//! and the system's reset (RCC_MP_GRSTCSETR), which ends the run. While BOOT_MCU is 0, a reset of the MCU leaves it
//! held; clearing BOOT_MCU does not stop a running MCU.
//!
//! A peripheral is held in reset from RCC_xxxRSTSETR to RCC_xxxRSTCLRR, if its model has a reset; else a note says so.
//! RCC_BDCR: LSE, the choice of the RTC's clock, which is made once, its enable, and the reset of the backup domain;
//! PWR_CR1.DBP protects it.
//!
//! Selectors, dividers and PLLs begin as TF-A sets them on ST's discovery boards ([`registers`]), and the board's clock
//! nodes follow the firmware's settings ([`tree`]): [`OUTPUTS`]. A setting takes effect at once. A PLL accepts its
//! factors while it is off, a fraction with FRACLE, and locks `cyclescope,pll-lock-us` after PLLON. Devices on a clock
//! that firmware turns off continue at its old rate, with a note; a clock that selects a PLL keeps its old rate until
//! the PLL has locked. Registers that are not modelled read 0.
//!
//! Not modelled: low-power modes and enables, security, the freeze of watchdogs, oscillators that stop (LSE and LSI are
//! ready as soon as they are on), MCO pins, another clock of the generic timer (RCC_STGENCKSELR; a note says so).

mod registers;
mod tree;

#[cfg(test)]
mod tests;

use crate::prelude::*;

use self::registers::*;
pub use self::tree::OUTPUTS;
use self::tree::{KERNEL, Tree};
use super::sources::start_time;
use crate::registers::{Row, Rule};
use crate::support::activities::{CLOCK_START, CLOCKS};
use crate::support::clock_gate::BACKUP_DOMAIN;

/// Bytes of a pair of registers.
const PAIR: u32 = 8;
/// Bytes from an enable register of the MPU to the MCU's.
const MC_ENABLES: u32 = MC_APBEN1 - MP_APBEN1;
/// Bytes from a reset register to the MPU's enable register of the same peripherals.
const TO_ENABLES: u32 = MP_APBEN1 - APBRST1;
/// The MPU's enable registers, first and last.
const ENABLES: [(u32, u32); 2] = [(MP_APBEN4, MP_TZAHB6ENSETR), (MP_APBEN1, MP_MLAHBENSETR)];
/// The first outputs, mpuss_ck, axiss_ck and mcuss_ck: a note reports a difference between the board's rate and the
/// registers'.
const NOTED: usize = 3;
/// The event's token.
const WAKE: u32 = 0;
/// The exit status of a run that a reset of the system ends.
const EXIT_STATUS: i32 = 0;

/// The board's oscillators, and its PLLs.
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    /// hse_ck.
    pub hse: Hz,
    /// hsi_ck.
    pub hsi: Hz,
    /// From PLLON to PLLxRDY.
    pub lock: Ps,
}

/// The device.
#[derive(Debug, State, Polled)]
pub struct Rcc {
    #[state(skip)]
    clocks: Clocks,
    /// The clocks that the device drives, in the order of [`OUTPUTS`], as the board sets them.
    #[state(with = engine::state::fixed)]
    outputs: Vec<ClockInput>,
    registers: Registers,
    /// RCC_PLLxFRACR of the PLLs when FRACLE was last written.
    fractions: [u32; 4],
    /// The frequencies of the outputs when they were last computed.
    frequencies: [Option<u64>; OUTPUTS.len()],
    /// Which outputs run, or will run when a PLL has locked.
    are_on: [bool; OUTPUTS.len()],
    /// The time of a write of settings that has yet to take effect.
    changes_at: Option<Ps>,
    /// The times at which PLLs that were turned on lock.
    locks: [Option<Ps>; 4],
    alarm: Alarm,
    /// The core that is the MCU.
    #[state(skip)]
    mcu: Option<usize>,
    /// True if the MCU is held: it was reset, and not released since.
    mcu_is_held: bool,
    /// The number of times that it was held or released.
    mcu_changes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32mp1-rcc"], 1, from_node).with_activities(CLOCKS).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "#reset-cells"]);
    let lock = start_time(reader, "cyclescope,pll-lock-us", "a PLL");
    let clocks = Clocks { hse: reader.clock(0, "hse_ck"), hsi: reader.clock(1, "hsi_ck"), lock };
    let outputs = reader.driven_clock_inputs("cyclescope,outputs", &OUTPUTS.map(|(meaning, _)| meaning), 0);
    let mcu = reader.core_index("st,mcu", "the core that is the MCU: held in reset until the firmware releases it");
    Box::new(Rcc::new(clocks, outputs, mcu))
}

impl Rcc {
    /// The device after the boot loader has set the clocks. It drives `outputs`; `mcu` is the index of the core that is
    /// the MCU.
    pub fn new(clocks: Clocks, outputs: Vec<ClockInput>, mcu: Option<usize>) -> Rcc {
        let registers = Registers::new(&MAP);
        let fractions = PLLS.map(|pll| registers[pll + PLL_FRACR]);
        let mut rcc = Rcc {
            clocks,
            outputs,
            registers,
            fractions,
            frequencies: [None; OUTPUTS.len()],
            are_on: [true; OUTPUTS.len()],
            changes_at: None,
            locks: [None; 4],
            alarm: Alarm::default(),
            mcu,
            mcu_is_held: true,
            mcu_changes: 0,
        };
        rcc.frequencies = rcc.tree_frequencies(PLLRDY);
        rcc
    }

    /// Updates the clock gates of the peripherals.
    fn publish(&self, ctx: &mut Ctx) {
        for register in ENABLES.iter().flat_map(|(first, last)| (*first..=*last).step_by(PAIR as usize)) {
            // A processor without such a register has no enables there.
            let enables = self.registers[register] | self.registers[register + MC_ENABLES];
            ctx.bus.clocks.set_gates(register, enables);
        }
        ctx.bus.clocks.set_gates(BDCR, self.registers[BDCR]);
    }

    /// A write of a register that sets or clears bits of a pair.
    fn write_pair(&mut self, row: &Row, value: u32, ctx: &mut Ctx) {
        let is_written = self.registers.write(row.offset, value).is_ok() && value != 0;
        if let Some(register) = reset_register(row).filter(|_| is_written) {
            let unknown = ctx.bus.clocks.set_resets(register + TO_ENABLES, self.registers[register]);
            if unknown != 0 {
                ctx.note(&format!(
                    "bits {unknown:#x} of {} are of peripherals that the model does not reset: they keep their state",
                    row.name
                ));
            }
        }
        self.publish(ctx);
        // Devices look up their gates themselves.
        ctx.set_clocks(&[]);
    }

    /// A write of RCC_BDCR, if PWR allows it.
    fn write_backup_domain(&mut self, value: u32, ctx: &mut Ctx) {
        let (register, bit) = BACKUP_DOMAIN;
        if !ctx.bus.clocks.is_running(register, bit) {
            ctx.note(
                "RCC_BDCR was written while the backup domain is protected (PWR_CR1.DBP is 0): it keeps its value",
            );
            return;
        }
        let before = self.registers[BDCR];
        let is_reset = value & BDCR_VSWRST != 0;
        // The RTC's clock is chosen once, until the domain is reset.
        let chosen = if is_reset { 0 } else { before & BDCR_RTCSRC };
        let kept = if chosen != 0 { value & !BDCR_RTCSRC | chosen } else { value };
        let written = if is_reset { BDCR_VSWRST } else { kept & !BDCR_LSERDY };
        self.registers.set(BDCR, written | flag(BDCR_LSERDY, written & BDCR_LSEON != 0));
        ctx.bus.clocks.set_resets(BDCR, flag(BDCR_RTCCKEN, is_reset));
        self.publish(ctx);
        self.changes_at = Some(ctx.now);
        self.wake(ctx);
    }

    fn boot_mcu(&mut self, value: u32, ctx: &mut Ctx) {
        self.registers.set(MP_GCR, value);
        if self.registers.has(MP_GCR, MP_GCR_BOOT_MCU) && self.mcu_is_held {
            self.hold_mcu(false, ctx);
        }
    }

    fn hold_mcu(&mut self, hold: bool, ctx: &mut Ctx) {
        self.mcu_is_held = hold;
        self.mcu_changes += 1;
        match self.mcu {
            Some(core) => ctx.bus.core_reset(core, hold, ctx.now),
            None => ctx.note("the board does not use the Cortex-M4: nothing starts it"),
        }
    }

    fn reset(&mut self, value: u32, ctx: &mut Ctx) {
        if value & (MP_GRSTCSETR_MPSYSRST | MP_GRSTCSETR_MPUP0RST) != 0 {
            ctx.note("the firmware resets the system (RCC_MP_GRSTCSETR): the run ends");
            ctx.exit_by_reset(EXIT_STATUS);
        } else if value & MP_GRSTCSETR_MPUP1RST != 0 {
            ctx.note("a reset of the second Cortex-A7 (RCC_MP_GRSTCSETR.MPUP1RST) is not modelled");
        }
        if value & MP_GRSTCSETR_MCURST != 0 {
            self.registers.put(MC_RSTSCLRR, RSTS_MCURSTF, true);
            self.hold_mcu(true, ctx);
            self.boot_mcu(self.registers[MP_GCR], ctx);
        }
    }

    /// The frequencies of the outputs, by the settings and by the PLLs with this bit of RCC_PLLxCR.
    fn tree_frequencies(&self, runs: u32) -> [Option<u64>; OUTPUTS.len()] {
        let Clocks { hse, hsi, .. } = self.clocks;
        let register = |offset| match pll_at(offset) {
            Some((index, PLL_FRACR)) => self.fractions[index],
            _ => self.registers[offset],
        };
        Tree { hse, hsi, runs, register: &register }.frequencies()
    }

    fn write_setting(&mut self, row: &Row, value: u32, ctx: &mut Ctx) {
        let Row { name, offset, .. } = *row;
        let (before, pll) = (self.registers[offset], pll_at(offset));
        let mut after = row.after_write(before, value);
        if matches!(pll, Some((_, 0))) && before & after & PLLON == 0 {
            // A PLL that is turned on is not locked yet.
            after &= !PLLRDY;
        }
        if offset == RDLSICR {
            after = after & !RDLSICR_LSIRDY | flag(RDLSICR_LSIRDY, after & RDLSICR_LSION != 0);
        }
        if after == before {
            // READY of selectors and dividers, and PLLxRDY, may be written back.
            if (value ^ before) & !(row.after_write(0, u32::MAX) | READY | PLLRDY) != 0 {
                ctx.note(&format!("{name} was written with {value:#x}: reserved and read-only bits keep their values"));
            }
            return;
        }
        if let Some((index, place)) = pll
            && ![0, PLL_FRACR].contains(&place)
            && self.registers.has(PLLS[index], PLLON)
        {
            ctx.note(&format!("{name} was written while its PLL is on (PLLON): it keeps its value of {before:#x}"));
            return;
        }
        if offset == STGENCKSELR {
            ctx.note("RCC_STGENCKSELR selects another clock: the generic timer still counts the board's");
        }
        self.registers.set(offset, after);
        match pll {
            Some((index, 0)) => self.turn_pll(index, before, after, ctx.now),
            Some((index, PLL_FRACR)) if after & FRACLE != 0 => self.fractions[index] = after,
            _ => {}
        }
        self.changes_at = Some(ctx.now);
        self.wake(ctx);
    }

    /// RCC_PLLxCR was written.
    fn turn_pll(&mut self, index: usize, before: u32, after: u32, now: Ps) {
        self.locks[index] = match (after & PLLON != 0, before & PLLON != 0) {
            (true, false) => Some(now.saturating_add(self.clocks.lock)),
            (true, true) => self.locks[index],
            (false, _) => None,
        };
    }

    /// Schedules the next event.
    fn wake(&mut self, ctx: &mut Ctx) {
        for (index, lock) in self.locks.into_iter().enumerate() {
            ctx.awaits((&CLOCK_START, index as u32), lock, Detail::None);
        }
        if let Some(due) = self.locks.into_iter().flatten().chain(self.changes_at).min() {
            self.alarm.set(due, WAKE, ctx);
        }
    }

    /// Sets the ready flags of PLLs that have locked by now.
    fn lock(&mut self, now: Ps) {
        for (lock, pll) in self.locks.iter_mut().zip(PLLS) {
            if lock.take_if(|due| *due <= now).is_some() {
                self.registers.put(pll, PLLRDY, true);
                self.changes_at = Some(now);
            }
        }
    }

    /// Updates the board's clocks whose settings have changed.
    fn follow_settings(&mut self, ctx: &mut Ctx) {
        self.changes_at = None;
        let frequencies = self.tree_frequencies(PLLRDY);
        let are_on = self.tree_frequencies(PLLON).map(|frequency| frequency.is_some());
        let mut changed = Vec::new();
        for (index, clock) in self.outputs.iter().enumerate() {
            let new = frequencies[index];
            if let (Some(id), Some(rate)) = (clock.id, new.and_then(Hz::new).filter(|_| new != self.frequencies[index]))
            {
                changed.push((id, rate));
            }
            if self.are_on[index] && !are_on[index] {
                ctx.note(&format!(
                    "firmware turns off {}, or its source: devices on it continue at its rate",
                    OUTPUTS[index].0
                ));
            }
        }
        (self.frequencies, self.are_on) = (frequencies, are_on);
        ctx.set_clocks(&changed);
    }

    fn set_register(&mut self, register: u32, value: u32, ctx: &mut Ctx) {
        let Some(row) = MAP.row(register) else { return };
        match row.rule {
            Rule::Sets(..) | Rule::Clears(..) => self.write_pair(row, value, ctx),
            _ if register == MP_GCR => self.boot_mcu(value, ctx),
            _ if register == BDCR => self.write_backup_domain(value, ctx),
            _ if register == MP_GRSTCSETR => self.reset(value, ctx),
            _ if matches!(register, BR_RSTSCLRR | MP_RSTSCLRR | MC_RSTSCLRR | MP_CIFR) => {
                _ = self.registers.write(register, value)
            }
            _ => self.write_setting(row, value, ctx),
        }
    }
}

/// The register that holds peripherals in reset, of the pair that a row is one of.
fn reset_register(row: &Row) -> Option<u32> {
    let offset = row.offset & !(PAIR - 1);
    (row.name.ends_with("RSTSETR") || row.name.ends_with("RSTCLRR")).then_some(offset)
}

impl Device for Rcc {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.publish(ctx);
        // Kernel clocks come directly from oscillators.
        let kernel = self.outputs.iter().zip(self.frequencies).skip(KERNEL);
        let differing = |(clock, hz): (&ClockInput, Option<u64>)| {
            Some((clock.id?, hz.and_then(Hz::new).filter(|rate| *rate != clock.rate)?))
        };
        ctx.set_clocks(&kernel.filter_map(differing).collect::<Vec<_>>());
        let selected: Vec<u64> = self.frequencies[..NOTED].iter().flatten().copied().collect();
        let board: Vec<u64> = self.outputs.iter().take(NOTED).map(|clock| clock.rate.get()).collect();
        if selected.iter().zip(&board).any(|(selected, board)| selected.abs_diff(*board) > 1) {
            ctx.note(&format!(
                "the registers set its PLLs to {selected:?} Hz for the MPU, the AXI and the MCU; the board's clocks \
                 are {board:?} Hz until firmware sets others"
            ));
        }
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Port::APB.read(self.registers.held(offset & !3), offset, size, ctx.now))
    }

    /// Notes give the values that were written, with bits that no register has.
    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        self.set_register(offset & !3, Port::APB.word(0, value, offset, size), ctx);
        Ok(Port::APB.written(ctx.now))
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.lock(ctx.now);
        if self.changes_at.is_some() {
            self.follow_settings(ctx);
        }
        self.wake(ctx);
    }
}
