//! `st,stm32l4-flash-controller`: the flash of STM32L4+ and its interface (RM0432, "Embedded Flash memory (FLASH)"),
//! for parts with two banks of 1 MiB, as the STM32L4R5ZI.
//!
//! The second range of `reg` is the flash; further ranges map it again, as at address 0 after reset. Programs can be
//! loaded there.
//!
//! Modelled: wait states, the line of 64 bits (two banks) or 128 bits (FLASH_OPTR.DBANK 0), prefetch, instruction and
//! data cache with their resets; unlocking by keys; programming of double words, page, bank and mass erase, with
//! typical times; refused operations, with their flags; the interrupt. A read of the bank with an operation stalls the
//! bus; a read of the other bank does not. A note reports an HCLK that is too high for the wait states (of voltage
//! range 1; range 2 is not checked).
//!
//! `cyclescope,option-bytes` sets the option bytes after reset, as `DBANK=0`.
//!
//! Not modelled: fast programming of rows; ECC; write, read and code protection; option bytes other than DBANK, which
//! keep written values and are not reloaded; power-down.

#[cfg(test)]
mod tests;

use crate::prelude::*;

use super::array::Flash;
use super::{Family, FlashController, Refusal, Times, check_size};
use crate::support::activities::FLASH;

registers! {
    /// The register map (RM0432, FLASH register map).
    pub const MAP "FLASH_" {
        /// After reset both caches are on.
        ACR 0x00 rw reset 0x600 {
            LATENCY 0..4, PRFTEN 8, ICEN 9, DCEN 10, ICRST 11, DCRST 12, RUN_PD 13, SLEEP_PD 14
        };
        KEYR 0x08 wo;
        OPTKEYR 0x0c wo;
        SR 0x10 w1c {
            EOP 0, OPERR 1, PROGERR 3, WRPERR 4, PGAERR 5, SIZERR 6, PGSERR 7, MISERR 8, FASTERR 9, RDERR 14,
            OPTVERR 15, BSY 16 ro
        };
        CR 0x14 rw locked_by CR_LOCK in CR reset CR_LOCK | CR_OPTLOCK {
            PG 0, PER 1, MER1 2, PNB 3..11, BKER 11, MER2 15, STRT 16, OPTSTRT 17, FSTPG 18, EOPIE 24, ERRIE 25,
            RDERRIE 26, OBL_LAUNCH 27, OPTLOCK 30, LOCK 31
        };
        /// Option bytes of a new part: two banks. With the names of flash programmers.
        OPTR 0x20 rw locked_by CR_OPTLOCK in CR reset 0xffef_f8aa mask u32::MAX {
            RDP 0..8 unmodelled, BOR_LEV 8..11 unmodelled, nRST_STOP 12 unmodelled, nRST_STDBY 13 unmodelled,
            nRST_SHDW 14 unmodelled, IWDG_SW 16 unmodelled, IWDG_STOP 17 unmodelled, IWDG_STDBY 18 unmodelled,
            WWDG_SW 19 unmodelled, BFB2 20 unmodelled, DB1M 21 unmodelled, DBANK 22, nBOOT1 23 unmodelled,
            SRAM2_PE 24 unmodelled, SRAM2_RST 25 unmodelled, nSWBOOT0 26 unmodelled, nBOOT0 27 unmodelled
        };
        PCROP1SR 0x24 rw locked_by CR_OPTLOCK in CR reset u32::MAX;
        PCROP1ER 0x28 rw locked_by CR_OPTLOCK in CR reset 0x0fff_0000;
        WRP1AR 0x2c rw locked_by CR_OPTLOCK in CR reset 0xff00_ffff;
        WRP1BR 0x30 rw locked_by CR_OPTLOCK in CR reset 0xff00_ffff;
        PCROP2SR 0x44 rw locked_by CR_OPTLOCK in CR reset u32::MAX;
        PCROP2ER 0x48 rw locked_by CR_OPTLOCK in CR;
        WRP2AR 0x4c rw locked_by CR_OPTLOCK in CR reset 0xff00_ffff;
        WRP2BR 0x50 rw locked_by CR_OPTLOCK in CR reset 0xff00_ffff;
    }
}

/// All flags of errors.
const SR_ERRORS: u32 = 0x0000_c3fa;
/// Bytes of one programming operation.
const DOUBLE_WORD: u32 = 8;
const BANKS: usize = 2;
const PAGES_OF_BANK: u32 = 256;

static L4: Family = Family {
    map: &MAP,
    keyr: KEYR,
    optkeyr: OPTKEYR,
    sr: SR,
    cr: CR,
    starts: CR_STRT | CR_OPTSTRT | CR_OBL_LAUNCH,
    erases: 0,
    options: OPTR,
    no_options: [0; 2],
    two_banks: OPTR_DBANK,
    option_lock: (CR, CR_OPTLOCK),
    is_locked_twice: true,
    wrote_control: FlashController::prepare,
    wrote: FlashController::wrote_option,
    erase: FlashController::erase_pages,
    program: FlashController::program_word,
};

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Memory, &["st,stm32l4-flash-controller"], 2, from_node)
    .with_activities(FLASH)
    .naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let flash = Flash::from_node(reader, BANKS);
    let is_sound = flash.size_bytes == BANKS as u32 * PAGES_OF_BANK * page_bytes(true);
    check_size(is_sound, &flash, "the flash has 2 MiB: two banks of 256 pages of 4 KiB", reader);
    let program = reader.timing_ps("cyclescope,program-ns", "time to program a double word");
    let erase = reader.timing_ps("cyclescope,page-erase-us", "time to erase a page");
    let erase_all = reader.timing_ps("cyclescope,mass-erase-us", "time to erase a bank, or both");
    let times = Times { program, erase: [[erase; 3]; 3], erase_all: [erase_all; 3] };
    FlashController::from_node(&L4, flash, times, reader)
}

const fn page_bytes(two_banks: bool) -> u32 {
    if two_banks { 4 << 10 } else { 8 << 10 }
}

impl FlashController {
    fn wrote_option(&mut self, register: u32, wrote: Result<(), Refused>, ctx: &mut Ctx) {
        if self.control() & CR_OPTLOCK != 0 {
            return;
        }
        if register == OPTR && wrote.is_ok() {
            self.flash.reshape(if self.has_two_banks() { BANKS } else { 1 }, ctx);
        }
        ctx.note("option bytes take effect at once, and are not kept beyond the run");
    }

    /// FLASH_CR was written with this value.
    fn prepare(&mut self, value: u32, ctx: &mut Ctx) {
        if value & CR_LOCK != 0 {
            self.registers.put(CR, CR_OPTLOCK, true);
            self.option_keys.lock();
        }
        if value & CR_PG == 0 {
            self.first_word = None;
        }
        if value & CR_FSTPG != 0 {
            ctx.note("fast programming (FLASH_CR.FSTPG) is not modelled");
        }
        if value & (CR_OPTSTRT | CR_OBL_LAUNCH) != 0 {
            ctx.note("option bytes are not programmed or reloaded: they take effect as written");
        }
    }

    fn erase_pages(&mut self, ctx: &mut Ctx) -> Result<(), Refusal> {
        if self.status() & SR_ERRORS != 0 {
            return Err((SR_PGSERR, "an operation was started with error flags set in FLASH_SR"));
        }
        let bank_bytes = self.flash.size_bytes / BANKS as u32;
        let (page, all) = (self.times.erase[0][0], self.times.erase_all[0]);
        let (first, bytes, lasts) = match [CR_MER1, CR_MER2].map(|bank| self.control() & bank != 0) {
            [true, true] => (0, 2 * bank_bytes, all),
            [false, false] if self.control() & CR_PER != 0 => {
                let bytes = page_bytes(self.has_two_banks());
                let bank = u32::from(self.control() & CR_BKER != 0 && self.has_two_banks());
                (bank * bank_bytes + self.registers.field(CR, CR_PNB) * bytes, bytes, page)
            }
            [false, false] => {
                return Err((SR_PGSERR, "FLASH_CR.STRT was set without anything to erase (PER, MER1, MER2)"));
            }
            [_, second] => (u32::from(second) * bank_bytes, bank_bytes, all),
        };
        self.flash.erase(first, bytes, lasts, ctx);
        Ok(())
    }

    fn program_word(&mut self, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> Result<(), Refusal> {
        if self.status() & SR_ERRORS != 0 {
            return Err((SR_PGSERR, "the flash was written with error flags set in FLASH_SR"));
        }
        if size != AccessSize::Word {
            return Err((SR_SIZERR, "a byte or a halfword was written to the flash: nothing is programmed (SIZERR)"));
        }
        let Some((first_at, first)) = self.first_word.take() else {
            if offset.is_multiple_of(DOUBLE_WORD) {
                self.first_word = Some((offset, value));
                return Ok(());
            }
            return Err((SR_PGAERR, "a double word of the flash was written without its first word (PGAERR)"));
        };
        if offset != first_at + 4 {
            return Err((SR_PGAERR, "two words of different double words were written (PGAERR)"));
        }
        let data = u64::from(value) << 32 | u64::from(first);
        let held = [first_at, offset].map(|at| self.flash.value(at, AccessSize::Word));
        if held != [u32::MAX; 2] && data != 0 {
            let what = "a double word that is not erased was written: nothing is programmed (PROGERR)";
            return Err((SR_PROGERR, what));
        }
        self.flash.program(first_at, &data.to_le_bytes(), self.times.program, ctx);
        Ok(())
    }
}
