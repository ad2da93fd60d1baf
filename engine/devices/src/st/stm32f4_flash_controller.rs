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
const KEYR: u32 = 0x04;
const OPTKEYR: u32 = 0x08;
const SR: u32 = 0x0c;
const CR: u32 = 0x10;
const OPTCR: u32 = 0x14;

const ACR_MASK: u32 = 0x0000_070f;
const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];
const OPTION_KEYS: [u32; 2] = [0x0819_2a3b, 0x4c5d_6e7f];

const SR_EOP: u32 = 1 << 0;
const SR_OPERR: u32 = 1 << 1;
const SR_WRPERR: u32 = 1 << 4;
const SR_PGPERR: u32 = 1 << 6;
const SR_PGSERR: u32 = 1 << 7;
const SR_CLEARED: u32 = 0x0000_01f3;
const SR_BSY: u32 = 1 << 16;

const CR_PG: u32 = 1 << 0;
const CR_SER: u32 = 1 << 1;
const CR_MER: u32 = 1 << 2;
const CR_STRT: u32 = 1 << 16;
const CR_EOPIE: u32 = 1 << 24;
const CR_ERRIE: u32 = 1 << 25;
const CR_LOCK: u32 = 1 << 31;
const CR_MASK: u32 = 0x0300_037f;

const OPTCR_OPTLOCK: u32 = 1 << 0;
const OPTCR_OPTSTRT: u32 = 1 << 1;
const OPTCR_NWRP: u32 = 16;
/// No protection, brown-out reset off, watchdogs in software.
const OPTCR_RESET: u32 = 0x0fff_aaed;
/// FLASH_OPTCR (RM0090, "Flash option control register"), with the field names of flash programmers.
const OPTCR_FIELDS: [Field; 6] = [
    Field::kept("BOR_LEV", 2, 2),
    Field::kept("WDG_SW", 5, 1),
    Field::kept("nRST_STOP", 6, 1),
    Field::kept("nRST_STDBY", 7, 1),
    Field::kept("RDP", 8, 8),
    Field::modelled("nWRP", OPTCR_NWRP, 12),
];

/// Sizes of the first sectors; all further ones have 128 KiB.
const FIRST_SECTORS: [u32; 5] = [16 << 10, 16 << 10, 16 << 10, 16 << 10, 64 << 10];
const SECTOR_BYTES: u32 = 128 << 10;
const MOST_BYTES: u32 = 1 << 20;

/// Durations of operations, by parallelism: 8, 16, 32 bits.
#[derive(Clone, Copy, Debug)]
struct Times {
    program: Ps,
    /// Sector erase times of 16, 64 and 128 KiB.
    erase: [[Ps; 3]; 3],
    erase_all: [Ps; 3],
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
    keys: Keys,
    option_keys: Keys,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Memory, &["st,stm32f4-flash-controller"], 2, from_node).with_activities(FLASH);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let flash = Flash::from_node(reader, 1);
    if !is_whole_sectors(flash.size_bytes()) {
        let value = flash.size_bytes().to_string();
        let allowed = "the flash has sectors of 4 times 16, 64 and then 128 KiB, and up to 1 MiB".to_owned();
        reader.fault_at("reg", FaultKind::OutOfRange { property: "reg".into(), value, allowed });
    }
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
    let interrupt = reader.interrupt(0, "the end of an operation, or an error");
    let options = option_bytes::from_node(reader, "OPTCR", &OPTCR_FIELDS, OPTCR_RESET);
    Box::new(FlashController {
        flash,
        times: Times { program, erase, erase_all },
        interrupt,
        status: 0,
        control: CR_LOCK,
        options: options & !OPTCR_OPTSTRT | OPTCR_OPTLOCK,
        keys: Keys::new(KEYS),
        option_keys: Keys::new(OPTION_KEYS),
        writes: 0,
    })
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
    fn read_register(&self, offset: u32, now: Ps) -> u32 {
        match offset {
            ACR => self.flash.acr(),
            SR => self.status | flag(SR_BSY, self.flash.is_busy(now)),
            CR => self.control | flag(CR_STRT, self.control & (CR_SER | CR_MER) != 0 && self.flash.is_busy(now)),
            OPTCR => self.options,
            _ => 0,
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
            SR => self.status &= !(value & SR_CLEARED),
            CR => self.set_control(value, ctx),
            OPTCR => self.set_options(value, ctx),
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
        if key == Key::Last {
            self.options &= !OPTCR_OPTLOCK;
        }
        key != Key::Wrong
    }

    fn set_control(&mut self, value: u32, ctx: &mut Ctx) {
        if self.control & CR_LOCK != 0 {
            ctx.note(
                "FLASH_CR was written while it is locked: the write has no effect before the two keys of FLASH_KEYR",
            );
            return;
        }
        self.control = value & CR_MASK;
        if value & CR_LOCK != 0 {
            self.control |= CR_LOCK;
            self.keys.lock();
        }
        if value & CR_STRT != 0 {
            self.erase(ctx);
        }
    }

    fn set_options(&mut self, value: u32, ctx: &mut Ctx) {
        if self.options & OPTCR_OPTLOCK != 0 {
            ctx.note(
                "FLASH_OPTCR was written while it is locked: the write has no effect before the keys of FLASH_OPTKEYR",
            );
            return;
        }
        self.options = value & !OPTCR_OPTSTRT;
        if value & OPTCR_OPTLOCK != 0 {
            self.option_keys.lock();
        }
        if value & OPTCR_OPTSTRT != 0 {
            ctx.note("option bytes are not kept beyond the run; write protection takes effect at once");
        }
    }

    fn erase(&mut self, ctx: &mut Ctx) {
        let width = (self.control >> 8 & 3).min(2) as usize;
        let bytes = self.flash.size_bytes();
        if self.control & CR_MER != 0 {
            if sectors(bytes).enumerate().any(|(number, _)| self.is_protected(number)) {
                return self.refuse(
                    SR_WRPERR,
                    "a mass erase was started while a sector is protected (FLASH_OPTCR.nWRP)",
                    ctx,
                );
            }
            self.flash.erase(0, bytes, ctx);
            return self.flash.begin(None, self.times.erase_all[width], (&ERASE, bytes), ctx);
        }
        let number = (self.control >> 3 & 0xf) as usize;
        let Some((first, size)) = sectors(bytes).nth(number).filter(|_| self.control & CR_SER != 0) else {
            return self.refuse(SR_PGSERR, "FLASH_CR.STRT was set without a sector to erase (SER, SNB, MER)", ctx);
        };
        if self.is_protected(number) {
            return self.refuse(SR_WRPERR, "an erase of a protected sector was started (FLASH_OPTCR.nWRP)", ctx);
        }
        let kind = [16 << 10, 64 << 10].iter().position(|bytes| *bytes == size).unwrap_or(2);
        self.flash.erase(first, size, ctx);
        self.flash.begin(Some(first), self.times.erase[kind][width], (&ERASE, size), ctx);
    }

    /// A write to the flash.
    fn program(&mut self, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) {
        if self.control & (CR_LOCK | CR_PG) != CR_PG {
            let what = "the flash was written without FLASH_CR.PG: nothing is programmed (PGSERR)";
            return self.refuse(SR_PGSERR, what, ctx);
        }
        let width_bytes = 1 << (self.control >> 8 & 3);
        // Two words make up 64 bits.
        if size.bytes() != width_bytes && !(width_bytes == 8 && size == AccessSize::Word) {
            let what = "the flash was written with another size than FLASH_CR.PSIZE: nothing is programmed (PGPERR)";
            return self.refuse(SR_PGPERR, what, ctx);
        }
        let number = sectors(self.flash.size_bytes()).take_while(|(first, _)| *first <= offset).count();
        if self.is_protected(number.saturating_sub(1)) {
            return self.refuse(SR_WRPERR, "a protected sector of the flash was written (FLASH_OPTCR.nWRP)", ctx);
        }
        self.flash.program(offset, &value.to_le_bytes()[..size.bytes() as usize], ctx);
        self.flash.begin(Some(offset), self.times.program, (&PROGRAM, size.bytes()), ctx);
    }

    fn is_protected(&self, sector: usize) -> bool {
        self.options >> (OPTCR_NWRP + sector as u32) & 1 == 0
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
        self.flash.reset(0, ctx);
        if let Some(note) = option_bytes::note_of(self.options, OPTCR_RESET, &OPTCR_FIELDS) {
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
        if !self.write_register(register, value, ctx) {
            return Err(SlaveError { done: ctx.now });
        }
        // RM0090, FLASH_CR: a write while the flash is busy stalls the bus.
        Ok(Reply::written(if register == CR { busy_until } else { ctx.now }))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == ENDS && self.flash.has_ended(ctx) {
            // RM0090, FLASH_SR: EOP is only set if its interrupt is enabled.
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
