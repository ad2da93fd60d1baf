//! `st,stm32f4-flash-controller`: the flash of STM32F4 and its interface (RM0090, "Embedded flash memory interface";
//! RM0383 has the same for the STM32F411).
//!
//! The second range of `reg` is the flash; further ranges map it again, as at address 0 after reset. Programs can be
//! loaded there.
//!
//! Modelled: wait states, the line of 128 bits, prefetch, instruction and data cache with their resets; unlocking by
//! keys; programming by bytes, halfwords and words with the parallelism of FLASH_CR.PSIZE, sector erase and mass erase,
//! with typical times; refused operations, with their flags; write protection by FLASH_OPTCR.nWRP; the interrupt. Reads
//! during an operation stall the bus. A note reports an HCLK that is too high for the wait states.
//!
//! `cyclescope,option-bytes` sets the option bytes after reset, as `nWRP=0xffe`.
//!
//! Not modelled: option byte programming (new values take effect at once and are not kept); read protection;
//! parallelism of 64 bits, which takes the times of 32 bits; stale lines in the caches after programming (reads always
//! return the flash's contents).

#[cfg(test)]
mod tests;

use crate::prelude::*;

use super::array::Flash;
use super::{Family, FlashController, Refusal, Times, check_size};
use crate::support::activities::FLASH;

registers! {
    /// The register map (RM0090, FLASH register map).
    pub const MAP "FLASH_" {
        ACR 0x00 rw { LATENCY 0..4, PRFTEN 8, ICEN 9, DCEN 10, ICRST 11, DCRST 12 };
        KEYR 0x04 wo;
        OPTKEYR 0x08 wo;
        SR 0x0c w1c { EOP 0, OPERR 1, WRPERR 4, PGAERR 5, PGPERR 6, PGSERR 7, RDERR 8, BSY 16 ro };
        CR 0x10 rw locked_by CR_LOCK in CR reset CR_LOCK {
            PG 0, SER 1, MER 2, SNB 3..7, PSIZE 8..10, STRT 16, EOPIE 24, ERRIE 25, LOCK 31
        };
        /// After reset: no protection, brown-out reset off, watchdogs in software. With the names of flash programmers.
        OPTCR 0x14 rw locked_by OPTCR_OPTLOCK in OPTCR reset 0x0fff_aaed mask u32::MAX {
            OPTLOCK 0, OPTSTRT 1, BOR_LEV 2..4 unmodelled, WDG_SW 5 unmodelled, nRST_STOP 6 unmodelled,
            nRST_STDBY 7 unmodelled, RDP 8..16 unmodelled, nWRP 16..28
        };
    }
}

/// Sizes of the first sectors; all further ones have 128 KiB.
const FIRST_SECTORS: [u32; 5] = [16 << 10, 16 << 10, 16 << 10, 16 << 10, 64 << 10];
const SECTOR_BYTES: u32 = 128 << 10;
const MOST_BYTES: u32 = 1 << 20;

static F4: Family = Family {
    map: &MAP,
    keyr: KEYR,
    optkeyr: OPTKEYR,
    sr: SR,
    cr: CR,
    starts: CR_STRT,
    erases: CR_SER | CR_MER,
    options: OPTCR,
    no_options: [OPTCR_OPTLOCK | OPTCR_OPTSTRT, OPTCR_OPTLOCK],
    two_banks: 0,
    option_lock: (OPTCR, OPTCR_OPTLOCK),
    is_locked_twice: false,
    wrote_control: |_, _, _| {},
    wrote: FlashController::wrote_options,
    erase: FlashController::erase_sectors,
    program: FlashController::program_unit,
};

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Memory, &["st,stm32f4-flash-controller"], 2, from_node)
    .with_activities(FLASH)
    .naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let flash = Flash::from_node(reader, 1);
    let allowed = "the flash has sectors of 4 times 16, 64 and then 128 KiB, and up to 1 MiB";
    check_size(is_whole_sectors(flash.size_bytes), &flash, allowed, reader);
    let mut by_width = |what: &str| {
        [8, 16, 32].map(|bits| {
            reader.timing_ps(
                &format!("cyclescope,{what}-x{bits}-ms"),
                "time of that erase operation with that parallelism",
            )
        })
    };
    let erase = ["erase-16k", "erase-64k", "erase-128k"].map(&mut by_width);
    let erase_all = by_width("mass-erase");
    let program = reader.timing_ps("cyclescope,program-us", "time to program a byte, a halfword or a word");
    FlashController::from_node(&F4, flash, Times { program, erase, erase_all }, reader)
}

/// The sectors: offset of the first byte, and size.
fn sectors(bytes: u32) -> impl Iterator<Item = (u32, u32)> {
    let sizes = FIRST_SECTORS.into_iter().chain(std::iter::repeat(SECTOR_BYTES));
    let places = sizes.scan(0, |first, size| {
        let here = *first;
        *first += size;
        Some((here, size))
    });
    places.take_while(move |(first, size)| first + size <= bytes)
}

fn is_whole_sectors(bytes: u32) -> bool {
    (1..=MOST_BYTES).contains(&bytes) && sectors(bytes).map(|(_, size)| size).sum::<u32>() == bytes
}

impl FlashController {
    fn wrote_options(&mut self, register: u32, wrote: Result<(), Refused>, ctx: &mut Ctx) {
        if register != OPTCR {
            return;
        }
        if wrote.is_err() {
            ctx.note(
                "FLASH_OPTCR was written while it is locked: the write has no effect before the keys of FLASH_OPTKEYR",
            );
            return;
        }
        if self.registers.has(OPTCR, OPTCR_OPTLOCK) {
            self.option_keys.lock();
        }
        if self.registers.has(OPTCR, OPTCR_OPTSTRT) {
            ctx.note("option bytes are not kept beyond the run; write protection takes effect at once");
        }
        self.registers.put(OPTCR, OPTCR_OPTSTRT, false);
    }

    fn erase_sectors(&mut self, ctx: &mut Ctx) -> Result<(), Refusal> {
        let width = self.registers.field(CR, CR_PSIZE).min(2) as usize;
        let bytes = self.flash.size_bytes;
        if self.control() & CR_MER != 0 {
            if sectors(bytes).enumerate().any(|(number, _)| self.is_protected(number)) {
                return Err((SR_WRPERR, "a mass erase was started while a sector is protected (FLASH_OPTCR.nWRP)"));
            }
            self.flash.erase(0, bytes, self.times.erase_all[width], ctx);
            return Ok(());
        }
        let number = self.registers.field(CR, CR_SNB) as usize;
        let Some((first, size)) = sectors(bytes).nth(number).filter(|_| self.control() & CR_SER != 0) else {
            return Err((SR_PGSERR, "FLASH_CR.STRT was set without a sector to erase (SER, SNB, MER)"));
        };
        if self.is_protected(number) {
            return Err((SR_WRPERR, "an erase of a protected sector was started (FLASH_OPTCR.nWRP)"));
        }
        let kind = [16 << 10, 64 << 10].iter().position(|bytes| *bytes == size).unwrap_or(2);
        self.flash.erase(first, size, self.times.erase[kind][width], ctx);
        Ok(())
    }

    fn program_unit(&mut self, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> Result<(), Refusal> {
        let width_bytes = 1 << self.registers.field(CR, CR_PSIZE);
        // Two words make up 64 bits.
        if size.bytes() != width_bytes && !(width_bytes == 8 && size == AccessSize::Word) {
            let what = "the flash was written with another size than FLASH_CR.PSIZE: nothing is programmed (PGPERR)";
            return Err((SR_PGPERR, what));
        }
        let number = sectors(self.flash.size_bytes).take_while(|(first, _)| *first <= offset).count();
        if self.is_protected(number.saturating_sub(1)) {
            return Err((SR_WRPERR, "a protected sector of the flash was written (FLASH_OPTCR.nWRP)"));
        }
        self.flash.program(offset, &value.to_le_bytes()[..size.bytes() as usize], self.times.program, ctx);
        Ok(())
    }

    fn is_protected(&self, sector: usize) -> bool {
        self.registers.field(OPTCR, OPTCR_nWRP) >> sector & 1 == 0
    }
}
