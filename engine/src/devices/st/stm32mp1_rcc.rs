//! `st,stm32mp1-rcc`: the reset and clock control of STM32MP1 (RM0436, "Reset and clock control (RCC)").
//!
//! Modelled: the pairs of registers that set and clear bits, of which the clock enables gate peripherals (a peripheral
//! has its clock if either processor enabled it); the boot of the MCU (RCC_MP_GCR.BOOT_MCU), its reset and the system's
//! reset (RCC_MP_GRSTCSETR), which ends the run. While BOOT_MCU is 0, a reset of the MCU leaves it held; that it goes
//! back to 0 does nothing to a running one.
//!
//! Clocks are fixed, as the board has them. Selectors, dividers and PLLs read as TF-A sets them on ST's discovery
//! boards ([`settings`]) and keep that: a write that would change them leaves a note. Registers that are not modelled
//! read 0.
//!
//! Not modelled: resets of single peripherals (a note says so), low-power modes and enables, security, watchdogs,
//! oscillators that stop.

mod settings;

#[cfg(test)]
mod tests;

use crate::bus::device::{AccessSize, Ctx, Device, Reply, SlaveError};
use crate::devices::model::{Group, Model};
use crate::devices::support::apb;
use crate::dt::reader::NodeReader;
use crate::polling::Poll;
use crate::time::Hz;
use settings::Setting;

/// Registers that set bits, each followed by the one that clears them: offset of the first of a row, and how many there
/// are.
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
/// Bytes of a pair.
const PAIR: u32 = 8;

const MP_FIRST_ENABLES: u32 = 0x200;
const MP_ENABLES: u32 = 0xa00;
const MP_MLAHBENSETR: u32 = 0xa38;
/// From an enable register of the MPU to that of the MCU.
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

/// The exit status of a run that a reset of the system ends.
const EXIT_STATUS: i32 = 0;
const REGISTER_BYTES: u32 = 0x1000;

/// The board's fixed clocks, by which time is counted.
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    /// mpuss_ck.
    pub mpu: Hz,
    /// axiss_ck.
    pub axi: Hz,
    /// mcuss_ck.
    pub mcu: Hz,
    /// hse_ck.
    pub hse: Hz,
}

/// The device.
#[derive(Debug)]
pub struct Rcc {
    clocks: Clocks,
    /// Registers by offset / 4; that of a pair is in its first word.
    words: Vec<u32>,
    /// The core that is the MCU.
    mcu: Option<usize>,
    /// The MCU is held: it was reset, and not let go since.
    mcu_is_held: bool,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32mp1-rcc"], 1, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "#reset-cells"]);
    let clocks = Clocks {
        mpu: reader.clock(0, "mpuss_ck, the clock of the Cortex-A7"),
        axi: reader.clock(1, "axiss_ck"),
        mcu: reader.clock(2, "mcuss_ck, the clock of the Cortex-M4"),
        hse: reader.clock(3, "hse_ck"),
    };
    Box::new(Rcc::new(
        clocks,
        reader.core_index("st,mcu", "the core that is the MCU: held in reset until the firmware lets it go"),
    ))
}

impl Rcc {
    /// The device when the boot loader has set the clocks; `mcu` is the index of the core that is the MCU.
    pub fn new(clocks: Clocks, mcu: Option<usize>) -> Rcc {
        let mut rcc = Rcc { clocks, words: vec![0; REGISTER_BYTES as usize / 4], mcu, mcu_is_held: true, writes: 0 };
        for Setting { offset, value, .. } in settings::ALL {
            rcc.set(*offset, *value);
        }
        rcc.set(0x00c, OCENR_AFTER_BOOT);
        rcc.set(MP_MLAHBENSETR, MLAHB_RETRAMEN);
        rcc.set(MP_MLAHBENSETR + MC_ENABLES, MLAHB_RETRAMEN);
        rcc.set(MP_RSTSCLRR, RSTS_PORRSTF);
        rcc.set(MC_RSTSCLRR, RSTS_PORRSTF);
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

    /// Tells the peripherals which of them have a clock.
    fn publish(&self, ctx: &mut Ctx) {
        for register in ENABLES.iter().flat_map(|(first, last)| (*first..=*last).step_by(PAIR as usize)) {
            // A processor without such a register has nothing enabled there.
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
                if let Some(setting) = settings::at(offset).filter(|setting| !setting.is_kept_by(value)) {
                    ctx.note(&format!(
                        "{} was written as {value:#x}; the clocks are fixed as the board has them, and it stays {:#x}",
                        setting.name, setting.value
                    ));
                }
            }
        }
    }
}

/// The setting register of the pair that has a register at `offset`.
fn pair_at(offset: u32) -> Option<u32> {
    let (first, _) = PAIRS.iter().find(|(first, count)| (*first..first + PAIR * count).contains(&offset))?;
    Some(offset - (offset - first) % PAIR)
}

impl Device for Rcc {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.publish(ctx);
        let Clocks { mpu, axi, mcu, hse } = self.clocks;
        let selected = settings::frequencies(hse.get());
        let board = [mpu, axi, mcu].map(Hz::get);
        if selected.iter().zip(board).any(|(selected, board)| selected.abs_diff(board) > 1) {
            ctx.note(&format!(
                "its PLLs read as if set to {selected:?} Hz for the MPU, the AXI and the MCU; the board's clocks are \
                 {board:?} Hz"
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

    fn polled(&mut self, poll: &mut Poll) -> bool {
        // Nothing changes by itself.
        poll.state(self.writes);
        true
    }
}
