//! `st,stm32mp1-rcc`: the reset and clock control of STM32MP1 (RM0436, "Reset and clock control (RCC)").
//!
//! Modelled: the pairs of registers that set and clear bits. Among them, the clock enables gate peripherals (a
//! peripheral has its clock if either processor enabled it). Also the boot of the MCU (RCC_MP_GCR.BOOT_MCU), its reset
//! and the system's reset (RCC_MP_GRSTCSETR), which ends the run. While BOOT_MCU is 0, a reset of the MCU leaves it
//! held; clearing BOOT_MCU does not stop a running MCU.
//!
//! Selectors, dividers and PLLs begin as TF-A sets them on ST's discovery boards ([`settings`]), and the board's clock
//! nodes follow the firmware's settings ([`tree`]): [`OUTPUTS`]. A setting takes effect at once. A PLL accepts its
//! factors while it is off, a fraction with FRACLE, and locks `cyclescope,pll-lock-us` after PLLON. Devices on a clock
//! that firmware turns off continue at its old rate, with a note; a clock that selects a PLL keeps its old rate until
//! the PLL has locked. Registers that are not modelled read 0.
//!
//! Not modelled: resets of single peripherals (a note says so), low-power modes and enables, security, watchdogs,
//! oscillators that stop, another clock of the generic timer (RCC_STGENCKSELR; a note says so).

mod settings;
mod tree;

#[cfg(test)]
mod tests;

use crate::model::{Group, Model};
use crate::support::activities::{CLOCK_START, CLOCKS};
use crate::support::apb;
use crate::support::stm32_clock_sources::start_time;
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Hz, Ps};
use settings::{FRACLE, PLLON, PLLRDY, READY, Setting};
pub use tree::OUTPUTS;
use tree::{KERNEL, Tree};

/// Registers that set bits, each followed by the register that clears them: the first offset of each group, and the
/// number of pairs.
const PAIRS: [(u32, u32); 10] = [
    // RCC_OCENSETR.
    (0x00c, 1),
    // RCC_MP_SREQSETR.
    (0x104, 1),
    // RCC_APB4RSTSETR to RCC_TZAHB6RSTSETR.
    (0x180, 5),
    // RCC_MP_APB4ENSETR to RCC_MP_TZAHB6ENSETR.
    (MP_FIRST_ENABLES, 5),
    // RCC_MC_APB4ENSETR to RCC_MC_AHB6ENSETR.
    (MP_FIRST_ENABLES + MC_ENABLES, 4),
    // RCC_MP_IWDGFZSETR.
    (0x40c, 1),
    // RCC_APB1RSTSETR to RCC_AHB4RSTSETR.
    (0x980, 6),
    // RCC_MP_APB1ENSETR to RCC_MP_AHB4ENSETR.
    (MP_ENABLES, 6),
    // RCC_MP_MLAHBENSETR.
    (MP_MLAHBENSETR, 1),
    // RCC_MC_APB1ENSETR to RCC_MC_MLAHBENSETR.
    (MP_ENABLES + MC_ENABLES, 8),
];
/// Bytes of a pair of registers.
const PAIR: u32 = 8;

const MP_FIRST_ENABLES: u32 = 0x200;
const MP_ENABLES: u32 = 0xa00;
const MP_MLAHBENSETR: u32 = 0xa38;
/// Bytes from an enable register of the MPU to the MCU's.
const MC_ENABLES: u32 = 0x80;
/// The MPU's enable registers, first and last.
const ENABLES: [(u32, u32); 2] = [(MP_FIRST_ENABLES, 0x220), (MP_ENABLES, MP_MLAHBENSETR)];
/// The resets of peripherals, first and last.
const RESETS: [(u32, u32); 2] = [(0x180, 0x1a0), (0x980, 0x9a8)];

const MP_GCR: u32 = 0x10c;
const MP_GRSTCSETR: u32 = 0x404;
const MP_RSTSCLRR: u32 = 0x408;
const MC_RSTSCLRR: u32 = 0xc00;

const OCENR_AFTER_BOOT: u32 = 1 << 0 | 1 << 4 | 1 << 8;
const GCR_BOOT_MCU: u32 = 1 << 0;
const GRST_MPSYSRST: u32 = 1 << 0;
const GRST_MCURST: u32 = 1 << 1;
const GRST_MPUP0RST: u32 = 1 << 4;
const GRST_MPUP1RST: u32 = 1 << 5;
const MLAHB_RETRAMEN: u32 = 1 << 4;
/// Power-on.
const RSTS_PORRSTF: u32 = 1 << 0;
const RSTS_MCURSTF: u32 = 1 << 5;

/// From RCC_PLLxCR to RCC_PLLxFRACR.
const PLL_FRACR: u32 = 0xc;
/// The first outputs, mpuss_ck, axiss_ck and mcuss_ck: a note reports a difference between the board's rate and the
/// registers'.
const NOTED: usize = 3;
/// The event's token.
const WAKE: u32 = 0;

/// The exit status of a run that a reset of the system ends.
const EXIT_STATUS: i32 = 0;
const REGISTER_BYTES: u32 = 0x1000;

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
#[derive(Debug, State)]
pub struct Rcc {
    #[state(skip)]
    clocks: Clocks,
    /// The clocks that the device drives, in the order of [`OUTPUTS`], as the board sets them.
    #[state(with = engine::state::fixed)]
    outputs: Vec<ClockInput>,
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
    /// Registers by offset / 4; a pair's value is in its first word.
    words: Vec<u32>,
    /// The core that is the MCU.
    #[state(skip)]
    mcu: Option<usize>,
    /// True if the MCU is held: it was reset, and not released since.
    mcu_is_held: bool,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32mp1-rcc"], 1, from_node).with_activities(CLOCKS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "#reset-cells"]);
    let lock = start_time(reader, "cyclescope,pll-lock-us", "a PLL");
    let clocks = Clocks { hse: reader.clock(0, "hse_ck"), hsi: reader.clock(1, "hsi_ck"), lock };
    let outputs = reader.driven_clock_inputs("cyclescope,outputs", &OUTPUTS, 0);
    Box::new(Rcc::new(
        clocks,
        outputs,
        reader.core_index("st,mcu", "the core that is the MCU: held in reset until the firmware releases it"),
    ))
}

impl Rcc {
    /// The device after the boot loader has set the clocks. It drives `outputs`; `mcu` is the index of the core that is
    /// the MCU.
    pub fn new(clocks: Clocks, outputs: Vec<ClockInput>, mcu: Option<usize>) -> Rcc {
        let mut rcc = Rcc {
            clocks,
            outputs,
            fractions: [0; 4],
            frequencies: [None; OUTPUTS.len()],
            are_on: [true; OUTPUTS.len()],
            changes_at: None,
            locks: [None; 4],
            alarm: Alarm::default(),
            words: vec![0; REGISTER_BYTES as usize / 4],
            mcu,
            mcu_is_held: true,
            writes: 0,
        };
        for Setting { offset, value, .. } in settings::ALL {
            rcc.set(*offset, *value);
        }
        rcc.set(0x00c, OCENR_AFTER_BOOT);
        rcc.set(MP_MLAHBENSETR, MLAHB_RETRAMEN);
        rcc.set(MP_MLAHBENSETR + MC_ENABLES, MLAHB_RETRAMEN);
        rcc.set(MP_RSTSCLRR, RSTS_PORRSTF);
        rcc.set(MC_RSTSCLRR, RSTS_PORRSTF);
        rcc.fractions = settings::PLLS.map(|pll| rcc.get(pll + PLL_FRACR));
        rcc.frequencies = rcc.tree_frequencies(PLLRDY);
        rcc
    }

    fn get(&self, offset: u32) -> u32 {
        self.words.get(offset as usize / 4).copied().unwrap_or(0)
    }

    fn set(&mut self, offset: u32, value: u32) {
        if let Some(word) = self.words.get_mut(offset as usize / 4) {
            *word = value;
        }
    }

    /// Updates the clock gates of the peripherals.
    fn publish(&self, ctx: &mut Ctx) {
        for register in ENABLES.iter().flat_map(|(first, last)| (*first..=*last).step_by(PAIR as usize)) {
            // A processor without such a register has no enables there.
            let enables = self.get(register) | self.get(register + MC_ENABLES);
            ctx.bus.clocks.set_gates(register, enables);
        }
    }

    fn set_pair(&mut self, register: u32, value: u32, sets: bool, ctx: &mut Ctx) {
        let held = self.get(register);
        self.set(register, if sets { held | value } else { held & !value });
        let lies_in = |ranges: [(u32, u32); 2]| ranges.iter().any(|(first, last)| (*first..=*last).contains(&register));
        if lies_in(RESETS) && sets && value != 0 {
            ctx.note("resets of single peripherals (RCC_xxxRSTSETR) are not modelled: they keep their state");
        }
        self.publish(ctx);
        // Devices look up their gates themselves.
        ctx.set_clocks(&[]);
    }

    fn boot_mcu(&mut self, value: u32, ctx: &mut Ctx) {
        self.set(MP_GCR, value & GCR_BOOT_MCU);
        if value & GCR_BOOT_MCU != 0 && self.mcu_is_held {
            self.hold_mcu(false, ctx);
        }
    }

    fn hold_mcu(&mut self, hold: bool, ctx: &mut Ctx) {
        self.mcu_is_held = hold;
        match self.mcu {
            Some(core) => ctx.bus.core_reset(core, hold, ctx.now),
            None => ctx.note("the board does not use the Cortex-M4: nothing starts it"),
        }
    }

    fn reset(&mut self, value: u32, ctx: &mut Ctx) {
        if value & (GRST_MPSYSRST | GRST_MPUP0RST) != 0 {
            ctx.note("the firmware resets the system (RCC_MP_GRSTCSETR): the run ends");
            ctx.exit_by_reset(EXIT_STATUS);
        } else if value & GRST_MPUP1RST != 0 {
            ctx.note("a reset of the second Cortex-A7 (RCC_MP_GRSTCSETR.MPUP1RST) is not modelled");
        }
        if value & GRST_MCURST != 0 {
            self.set(MC_RSTSCLRR, self.get(MC_RSTSCLRR) | RSTS_MCURSTF);
            self.hold_mcu(true, ctx);
            self.boot_mcu(self.get(MP_GCR), ctx);
        }
    }

    /// The frequencies of the outputs, by the settings and by the PLLs with this bit of RCC_PLLxCR.
    fn tree_frequencies(&self, runs: u32) -> [Option<u64>; OUTPUTS.len()] {
        let Clocks { hse, hsi, .. } = self.clocks;
        let fraction = |offset| Some(self.fractions[settings::PLLS.iter().position(|pll| pll + PLL_FRACR == offset)?]);
        Tree { hse, hsi, runs, register: &|offset| fraction(offset).unwrap_or_else(|| self.get(offset)) }.frequencies()
    }

    fn write_setting(&mut self, setting: &Setting, value: u32, ctx: &mut Ctx) {
        let Setting { name, offset, .. } = *setting;
        let before = self.get(offset);
        let after = setting.after_write(before, value);
        if after == before {
            // READY of selectors and dividers, and PLLxRDY, may be written back.
            if (value ^ before) & !(setting.writable | READY | settings::PLLRDY) != 0 {
                ctx.note(&format!("{name} was written with {value:#x}: reserved and read-only bits keep their values"));
            }
            return;
        }
        if let Some(pll) = settings::pll_at(offset).filter(|pll| *pll != offset)
            && self.get(pll) & PLLON != 0
            && offset != pll + PLL_FRACR
        {
            ctx.note(&format!("{name} was written while its PLL is on (PLLON): it keeps its value of {before:#x}"));
            return;
        }
        if offset == settings::STGENCKSELR {
            ctx.note("RCC_STGENCKSELR selects another clock: the generic timer still counts the board's");
        }
        self.set(offset, after);
        let fraction = settings::PLLS.iter().position(|pll| pll + PLL_FRACR == offset);
        if let Some(pll) = fraction.filter(|_| after & FRACLE != 0) {
            self.fractions[pll] = after;
        }
        if let Some(pll) = settings::PLLS.iter().position(|pll| *pll == offset) {
            self.locks[pll] = match (after & PLLON != 0, before & PLLON != 0) {
                (true, false) => Some(ctx.now.saturating_add(self.clocks.lock)),
                (true, true) => self.locks[pll],
                (false, _) => None,
            };
        }
        self.changes_at = Some(ctx.now);
        self.wake(ctx);
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
        for (lock, pll) in self.locks.iter_mut().zip(settings::PLLS) {
            if lock.take_if(|due| *due <= now).is_some() {
                self.words[pll as usize / 4] |= PLLRDY;
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
                    OUTPUTS[index]
                ));
            }
        }
        (self.frequencies, self.are_on) = (frequencies, are_on);
        ctx.set_clocks(&changed);
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        if let Some(register) = pair_at(offset) {
            self.set_pair(register, value, offset == register, ctx);
            return;
        }
        match offset {
            MP_GCR => self.boot_mcu(value, ctx),
            MP_GRSTCSETR => self.reset(value, ctx),
            MP_RSTSCLRR | MC_RSTSCLRR => self.set(offset, self.get(offset) & !value),
            _ => {
                if let Some(setting) = settings::at(offset) {
                    self.write_setting(setting, value, ctx);
                }
            }
        }
    }
}

/// The set register of the pair that has a register at `offset`.
fn pair_at(offset: u32) -> Option<u32> {
    let (first, _) = PAIRS.iter().find(|(first, count)| (*first..first + PAIR * count).contains(&offset))?;
    Some(offset - (offset - first) % PAIR)
}

impl Device for Rcc {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.publish(ctx);
        // Kernel clocks come directly from oscillators.
        let kernel = self.outputs.iter().zip(self.frequencies).skip(KERNEL);
        let differing = kernel.filter_map(|(clock, hz)| Some((clock.id?, hz.and_then(Hz::new)?, clock.rate)));
        let changed: Vec<_> =
            differing.filter(|(_, rate, board)| rate != board).map(|(id, rate, _)| (id, rate)).collect();
        ctx.set_clocks(&changed);
        let selected: Vec<u64> = self.frequencies[..NOTED].iter().flatten().copied().collect();
        let board: Vec<u64> = self.outputs.iter().take(NOTED).map(|clock| clock.rate.get()).collect();
        if selected.iter().zip(&board).any(|(selected, board)| selected.abs_diff(*board) > 1) {
            ctx.note(&format!(
                "the registers set its PLLs to {selected:?} Hz for the MPU, the AXI and the MCU; the board's clocks \
                 are {board:?} Hz until firmware sets others"
            ));
        }
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let offset_of_word = offset & !3;
        let register = self.get(pair_at(offset_of_word).unwrap_or(offset_of_word));
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
        Ok(Reply::written(ctx.now))
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

impl Polled for Rcc {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        // PLLs lock in events.
        poll.state(self.writes);
        settings::PLLS.into_iter().for_each(|pll| poll.state(self.get(pll)));
        true
    }
}
