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

use crate::model::{Group, Model};
use crate::support::activities::{ERASE, FLASH, PROGRAM};
use crate::support::apb;
use crate::support::option_bytes::{self, Field};
use crate::support::registers::flag;
use crate::support::stm32_flash::{ENDS, Flash};
use crate::support::stm32_flash_keys::{Key, Keys};
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::bus::repeated_reads::RepeatedReads;
use engine::dt::fault::FaultKind;
use engine::dt::reader::NodeReader;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Hz, Ps};

const ACR: u32 = 0x00;
const KEYR: u32 = 0x08;
const OPTKEYR: u32 = 0x0c;
const SR: u32 = 0x10;
const CR: u32 = 0x14;
const OPTR: u32 = 0x20;
/// Option registers after FLASH_OPTR: FLASH_PCROP1SR to FLASH_WRP2BR.
const OPTIONS: [(u32, u32); 8] = [
    (0x24, 0xffff_ffff),
    (0x28, 0x0fff_0000),
    (0x2c, 0xff00_ffff),
    (0x30, 0xff00_ffff),
    (0x44, 0xffff_ffff),
    (0x48, 0x0000_0000),
    (0x4c, 0xff00_ffff),
    (0x50, 0xff00_ffff),
];

const ACR_MASK: u32 = 0x0000_670f;
/// Both caches enabled.
const ACR_RESET: u32 = 0x0000_0600;
const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];
const OPTION_KEYS: [u32; 2] = [0x0819_2a3b, 0x4c5d_6e7f];

const SR_EOP: u32 = 1 << 0;
const SR_OPERR: u32 = 1 << 1;
const SR_PROGERR: u32 = 1 << 3;
const SR_PGAERR: u32 = 1 << 5;
const SR_SIZERR: u32 = 1 << 6;
const SR_PGSERR: u32 = 1 << 7;
const SR_ERRORS: u32 = 0x0000_c3fa;
const SR_BSY: u32 = 1 << 16;

const CR_PG: u32 = 1 << 0;
const CR_PER: u32 = 1 << 1;
const CR_MER1: u32 = 1 << 2;
const CR_PNB: u32 = 3;
const CR_BKER: u32 = 1 << 11;
const CR_MER2: u32 = 1 << 15;
const CR_STRT: u32 = 1 << 16;
const CR_OPTSTRT: u32 = 1 << 17;
const CR_FSTPG: u32 = 1 << 18;
const CR_EOPIE: u32 = 1 << 24;
const CR_ERRIE: u32 = 1 << 25;
const CR_OBL_LAUNCH: u32 = 1 << 27;
const CR_OPTLOCK: u32 = 1 << 30;
const CR_LOCK: u32 = 1 << 31;
const CR_MASK: u32 = 0x0704_8fff;

const OPTR_DBANK: u32 = 1 << 22;
/// Option bytes of a new part: two banks.
const OPTR_RESET: u32 = 0xffef_f8aa;

/// FLASH_OPTR (RM0432, "Flash option register"), with the field names of flash programmers.
const OPTR_FIELDS: [Field; 17] = [
    Field::kept("RDP", 0, 8),
    Field::kept("BOR_LEV", 8, 3),
    Field::kept("nRST_STOP", 12, 1),
    Field::kept("nRST_STDBY", 13, 1),
    Field::kept("nRST_SHDW", 14, 1),
    Field::kept("IWDG_SW", 16, 1),
    Field::kept("IWDG_STOP", 17, 1),
    Field::kept("IWDG_STDBY", 18, 1),
    Field::kept("WWDG_SW", 19, 1),
    Field::kept("BFB2", 20, 1),
    Field::kept("DB1M", 21, 1),
    Field::modelled("DBANK", 22, 1),
    Field::kept("nBOOT1", 23, 1),
    Field::kept("SRAM2_PE", 24, 1),
    Field::kept("SRAM2_RST", 25, 1),
    Field::kept("nSWBOOT0", 26, 1),
    Field::kept("nBOOT0", 27, 1),
];

/// Bytes of one programming operation.
const DOUBLE_WORD: u32 = 8;
const BANKS: usize = 2;
const PAGES_OF_BANK: u32 = 256;

/// Durations of operations.
#[derive(Clone, Copy, Debug)]
struct Times {
    program: Ps,
    erase: Ps,
    erase_all: Ps,
}

/// The device.
#[derive(Debug, State)]
pub struct FlashController {
    flash: Flash,
    #[state(skip)]
    times: Times,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    status: u32,
    control: u32,
    options: u32,
    more_options: [u32; OPTIONS.len()],
    keys: Keys,
    option_keys: Keys,
    /// The first word of a double word that is being written: its offset and its value.
    first_word: Option<(u32, u32)>,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Memory, &["st,stm32l4-flash-controller"], 2, from_node).with_activities(FLASH);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let flash = Flash::from_node(reader, BANKS);
    if flash.size_bytes() != BANKS as u32 * PAGES_OF_BANK * page_bytes(true) {
        let value = flash.size_bytes().to_string();
        let allowed = "the flash has 2 MiB: two banks of 256 pages of 4 KiB".to_owned();
        reader.fault_at("reg", FaultKind::OutOfRange { property: "reg".into(), value, allowed });
    }
    let times = Times {
        program: reader.timing_ps("cyclescope,program-ns", "time to program a double word"),
        erase: reader.timing_ps("cyclescope,page-erase-us", "time to erase a page"),
        erase_all: reader.timing_ps("cyclescope,mass-erase-us", "time to erase a bank, or both"),
    };
    let interrupt = reader.interrupt(0, "the end of an operation, or an error");
    let options = option_bytes::from_node(reader, "OPTR", &OPTR_FIELDS, OPTR_RESET);
    Box::new(FlashController {
        flash,
        times,
        interrupt,
        status: 0,
        control: CR_LOCK | CR_OPTLOCK,
        options,
        more_options: OPTIONS.map(|(_, reset)| reset),
        keys: Keys::new(KEYS),
        option_keys: Keys::new(OPTION_KEYS),
        first_word: None,
        writes: 0,
    })
}

const fn page_bytes(two_banks: bool) -> u32 {
    if two_banks { 4 << 10 } else { 8 << 10 }
}

fn option_at(offset: u32) -> Option<usize> {
    OPTIONS.iter().position(|(at, _)| *at == offset)
}

impl FlashController {
    fn has_two_banks(&self) -> bool {
        self.options & OPTR_DBANK != 0
    }

    fn read_register(&self, offset: u32, now: Ps) -> u32 {
        match offset {
            ACR => self.flash.acr(),
            SR => self.status | flag(SR_BSY, self.flash.is_busy(now)),
            CR => self.control,
            OPTR => self.options,
            _ => option_at(offset).map_or(0, |option| self.more_options[option]),
        }
    }

    /// The register of a write, and the resulting word. On the AHB, bytes have their own lanes; in registers whose
    /// flags are cleared by ones, the other lanes clear none.
    fn merged(&self, offset: u32, size: AccessSize, value: u32, now: Ps) -> (u32, u32) {
        let register = offset & !3;
        let held = if register == SR { 0 } else { self.read_register(register, now) };
        (register, size.merged(held, offset, value))
    }

    /// Performs a write. False for a bus error.
    fn write_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) -> bool {
        let mut accepted = true;
        match offset {
            ACR => self.flash.set_acr(value, ACR_MASK, ctx),
            KEYR => accepted = self.unlock(value, ctx),
            OPTKEYR => accepted = self.unlock_options(value, ctx),
            SR => self.status &= !(value & (SR_EOP | SR_ERRORS)),
            CR => self.set_control(value, ctx),
            _ if self.control & CR_OPTLOCK == 0 => self.set_option(offset, value, ctx),
            _ => {}
        }
        self.update_interrupt(ctx);
        accepted
    }

    fn unlock(&mut self, key: u32, ctx: &mut Ctx) -> bool {
        let key = self.keys.take(key, ctx);
        if key == Key::Last {
            self.control &= !CR_LOCK;
        }
        key != Key::Wrong
    }

    fn unlock_options(&mut self, key: u32, ctx: &mut Ctx) -> bool {
        let key = self.option_keys.take(key, ctx);
        if key == Key::Last && self.control & CR_LOCK == 0 {
            self.control &= !CR_OPTLOCK;
        }
        key != Key::Wrong
    }

    fn set_option(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        if offset == OPTR {
            self.options = value;
            self.flash.reshape(if self.has_two_banks() { BANKS } else { 1 }, ctx);
        } else if let Some(option) = option_at(offset) {
            self.more_options[option] = value;
        }
        ctx.note("option bytes take effect at once, and are not kept beyond the run");
    }

    fn set_control(&mut self, value: u32, ctx: &mut Ctx) {
        if self.control & CR_LOCK != 0 {
            ctx.note(
                "FLASH_CR was written while it is locked: the write has no effect before the two keys of FLASH_KEYR",
            );
            return;
        }
        // Writes can set the locks; only keys clear them.
        self.control = value & CR_MASK | (self.control | value) & CR_OPTLOCK;
        if value & CR_LOCK != 0 {
            self.control |= CR_LOCK | CR_OPTLOCK;
            self.keys.lock();
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
        if value & CR_STRT != 0 {
            self.erase(ctx);
        }
    }

    fn erase(&mut self, ctx: &mut Ctx) {
        if self.status & SR_ERRORS != 0 {
            return self.refuse(SR_PGSERR, "an operation was started with error flags set in FLASH_SR", ctx);
        }
        let bank_bytes = self.flash.size_bytes() / BANKS as u32;
        match (self.control & CR_MER1 != 0, self.control & CR_MER2 != 0) {
            (true, true) => {
                self.flash.erase(0, 2 * bank_bytes, ctx);
                self.flash.begin(None, self.times.erase_all, (&ERASE, 2 * bank_bytes), ctx);
            }
            (false, false) if self.control & CR_PER != 0 => {
                let bytes = page_bytes(self.has_two_banks());
                let number = self.control >> CR_PNB & (PAGES_OF_BANK - 1);
                let bank = u32::from(self.control & CR_BKER != 0 && self.has_two_banks());
                let first = bank * bank_bytes + number * bytes;
                self.flash.erase(first, bytes, ctx);
                self.flash.begin(Some(first), self.times.erase, (&ERASE, bytes), ctx);
            }
            (false, false) => {
                self.refuse(SR_PGSERR, "FLASH_CR.STRT was set without anything to erase (PER, MER1, MER2)", ctx);
            }
            (_, second) => {
                let first = if second { bank_bytes } else { 0 };
                self.flash.erase(first, bank_bytes, ctx);
                self.flash.begin(Some(first), self.times.erase_all, (&ERASE, bank_bytes), ctx);
            }
        }
    }

    /// A write to the flash.
    fn program(&mut self, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) {
        if self.control & (CR_LOCK | CR_PG) != CR_PG {
            let what = "the flash was written without FLASH_CR.PG: nothing is programmed (PGSERR)";
            return self.refuse(SR_PGSERR, what, ctx);
        }
        if self.status & SR_ERRORS != 0 {
            return self.refuse(SR_PGSERR, "the flash was written with error flags set in FLASH_SR", ctx);
        }
        if size != AccessSize::Word {
            let what = "a byte or a halfword was written to the flash: nothing is programmed (SIZERR)";
            return self.refuse(SR_SIZERR, what, ctx);
        }
        let Some((first_at, first)) = self.first_word.take() else {
            if offset.is_multiple_of(DOUBLE_WORD) {
                self.first_word = Some((offset, value));
                return;
            }
            let what = "a double word of the flash was written without its first word (PGAERR)";
            return self.refuse(SR_PGAERR, what, ctx);
        };
        if offset != first_at + 4 {
            return self.refuse(SR_PGAERR, "two words of different double words were written (PGAERR)", ctx);
        }
        let data = u64::from(value) << 32 | u64::from(first);
        let held = [first_at, offset].map(|at| self.flash.value(at, AccessSize::Word));
        if held != [u32::MAX; 2] && data != 0 {
            let what = "a double word that is not erased was written: nothing is programmed (PROGERR)";
            return self.refuse(SR_PROGERR, what, ctx);
        }
        self.flash.program(first_at, &data.to_le_bytes(), ctx);
        self.flash.begin(Some(first_at), self.times.program, (&PROGRAM, DOUBLE_WORD), ctx);
    }

    fn refuse(&mut self, why: u32, what: &str, ctx: &mut Ctx) {
        self.status |= why | flag(SR_OPERR, self.control & CR_ERRIE != 0);
        ctx.note(what);
        self.update_interrupt(ctx);
    }

    fn update_interrupt(&self, ctx: &mut Ctx) {
        let up = self.status & SR_EOP != 0 && self.control & CR_EOPIE != 0
            || self.status & SR_OPERR != 0 && self.control & CR_ERRIE != 0;
        ctx.set_irq(self.interrupt, up);
    }
}

impl Device for FlashController {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.flash.reset(ACR_RESET, ctx);
        if !self.has_two_banks() {
            self.flash.reshape(1, ctx);
        }
        if let Some(note) = option_bytes::note_of(self.options, OPTR_RESET, &OPTR_FIELDS) {
            ctx.note(&note);
        }
    }

    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        if range > 0 {
            return Ok(self.flash.read(offset, size, ctx));
        }
        Ok(apb::read(self.read_register(offset & !3, ctx.now), offset, size, ctx))
    }

    fn write(
        &mut self,
        range: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.writes += 1;
        let busy_until = self.flash.free_at(ctx.now);
        if range > 0 {
            self.program(offset, size, value, ctx);
            return Ok(Reply::written(busy_until));
        }
        let (register, value) = self.merged(offset, size, value, ctx.now);
        if self.write_register(register, value, ctx) {
            // RM0432, FLASH_CR: a write while the flash is busy stalls the bus.
            Ok(Reply::written(if register == CR { busy_until } else { ctx.now }))
        } else {
            Err(SlaveError { done: ctx.now })
        }
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == ENDS && self.flash.has_ended(ctx) {
            // RM0432, FLASH_SR: EOP is only set if its interrupt is enabled.
            self.status |= flag(SR_EOP, self.control & CR_EOPIE != 0);
            self.update_interrupt(ctx);
        }
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.flash.clocks_changed(ctx);
    }

    fn peek(&self, range: usize, offset: u32, into: &mut [u8]) -> bool {
        range > 0 && self.flash.peek(offset, into)
    }

    fn preload(&mut self, range: usize, offset: u32, bytes: &[u8]) -> bool {
        range > 0 && self.flash.load(offset, bytes)
    }

    fn host_bytes(&self, range: usize) -> Option<*const u8> {
        (range > 0).then(|| self.flash.host_bytes())
    }

    fn own_clock(&self) -> Option<Hz> {
        Some(self.flash.own_clock())
    }

    fn read_alone(&mut self, range: usize, offset: u32, bytes: u32, edge: u64) -> Option<(u32, u64)> {
        if range > 0 { self.flash.read_alone(offset, bytes, edge) } else { None }
    }

    fn repeated_reads(&mut self, range: usize, bytes: u32) -> Option<RepeatedReads> {
        if range > 0 { self.flash.repeated_reads(bytes) } else { None }
    }

    fn learn(&mut self) {
        self.flash.learn();
    }

    fn burst(&mut self, range: usize, offset: u32, bytes: u32, ctx: &mut Ctx) -> Result<Ps, SlaveError> {
        if range == 0 { Err(SlaveError { done: ctx.now }) } else { Ok(self.flash.burst(offset, bytes, ctx)) }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.flash.counters()
    }
}

impl Polled for FlashController {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.writes);
        poll.state(u64::from(self.status) << 32 | u64::from(self.control));
        self.flash.polled(poll)
    }
}
