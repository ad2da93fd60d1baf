//! The flash controllers of STM32F4 and STM32L4+ (RM0090, "Embedded flash memory interface"; RM0432, "Embedded Flash
//! memory (FLASH)"): one device, by a table for each family. `flash/array.rs` has the array and its timing.

mod array;
mod keys;
mod option_bytes;
pub mod stm32f4;
pub mod stm32l4;

use crate::prelude::*;
use engine::bus::repeated_reads::RepeatedReads;

use self::array::{ENDS, Flash};
use self::keys::Keys;
// These bits are the same in all families.
use self::stm32f4::{ACR, CR_EOPIE, CR_ERRIE, CR_LOCK, CR_PG, CR_STRT, SR_BSY, SR_EOP, SR_OPERR, SR_PGSERR};
use crate::registers::{Lanes, Row};

const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];
const OPTION_KEYS: [u32; 2] = [0x0819_2a3b, 0x4c5d_6e7f];

/// What a family has of a flash controller.
#[derive(Debug)]
pub struct Family {
    /// The register map.
    map: &'static Map,
    /// FLASH_KEYR.
    keyr: u32,
    /// FLASH_OPTKEYR.
    optkeyr: u32,
    /// FLASH_SR.
    sr: u32,
    /// FLASH_CR.
    cr: u32,
    /// Bits of FLASH_CR that start something, and are not kept.
    starts: u32,
    /// Bits of FLASH_CR that erase: STRT reads 1 while that lasts.
    erases: u32,
    /// The register with the option bytes.
    options: u32,
    /// Bits of that register that are no option bytes, and those of them that are set after reset.
    no_options: [u32; 2],
    /// The option byte for two banks; 0 for a family that has one.
    two_banks: u32,
    /// The register and the bit that lock the option bytes.
    option_lock: (u32, u32),
    /// True if FLASH_CR has to be unlocked first.
    is_locked_twice: bool,
    /// FLASH_CR was written with this value.
    wrote_control: fn(&mut FlashController, u32, &mut Ctx),
    /// Another register was written, or its write was refused.
    wrote: fn(&mut FlashController, u32, Result<(), Refused>, &mut Ctx),
    /// Starts to erase, by FLASH_CR.
    erase: fn(&mut FlashController, &mut Ctx) -> Result<(), Refusal>,
    /// Programs a value at an offset.
    program: fn(&mut FlashController, u32, AccessSize, u32, &mut Ctx) -> Result<(), Refusal>,
}

impl Family {
    /// The row of the option bytes.
    fn option_row(&self) -> Row {
        self.map.row(self.options).copied().unwrap_or(self.map.rows[0])
    }

    /// The option bytes of a node, with the other bits of their register as after reset.
    fn options(&self, reader: &mut NodeReader) -> u32 {
        let [none, set] = self.no_options;
        option_bytes::from_node(reader, &self.option_row(), none) & !none | set
    }
}

/// An operation that is refused: the flag of FLASH_SR, and the note.
type Refusal = (u32, &'static str);

/// Durations of operations.
#[derive(Clone, Copy, Debug)]
struct Times {
    program: Ps,
    /// By the kind of sector, and by parallelism.
    erase: [[Ps; 3]; 3],
    /// By parallelism.
    erase_all: [Ps; 3],
}

/// The device.
#[derive(Debug, State, Polled)]
pub struct FlashController {
    #[state(skip)]
    family: &'static Family,
    flash: Flash,
    #[state(skip)]
    times: Times,
    interrupt: Option<IrqLine>,
    registers: Registers,
    keys: Keys,
    option_keys: Keys,
    /// The first word of a double word that is being written: its offset and its value.
    first_word: Option<(u32, u32)>,
}

/// Adds a fault unless the flash's size is one that a family has.
fn check_size(is_sound: bool, flash: &Flash, allowed: &str, reader: &mut NodeReader) {
    if !is_sound {
        reader.out_of_range("reg", flash.size_bytes, allowed);
    }
}

impl FlashController {
    /// Reads the rest of a node: the interrupt and the option bytes.
    fn from_node(family: &'static Family, flash: Flash, times: Times, reader: &mut NodeReader) -> Box<dyn Device> {
        let interrupt = reader.interrupt(0, "the end of an operation, or an error");
        let mut registers = Registers::new(family.map);
        registers.set(family.options, family.options(reader));
        let (keys, option_keys) = (Keys::new(KEYS), Keys::new(OPTION_KEYS));
        Box::new(FlashController { family, flash, times, interrupt, registers, keys, option_keys, first_word: None })
    }

    fn has_two_banks(&self) -> bool {
        self.registers.has(self.family.options, self.family.two_banks)
    }

    fn control(&self) -> u32 {
        self.registers[self.family.cr]
    }

    fn status(&self) -> u32 {
        self.registers[self.family.sr]
    }

    fn read_register(&self, register: u32, now: Ps) -> u32 {
        let (held, is_busy) = (self.registers.held(register), self.flash.is_busy(now));
        match register {
            _ if register == self.family.sr => held | flag(SR_BSY, is_busy),
            _ if register == self.family.cr => held | flag(CR_STRT, held & self.family.erases != 0 && is_busy),
            _ => held,
        }
    }

    /// The word that a write passes to a register. On the AHB, bytes have their own lanes; in registers whose flags are
    /// cleared by ones, the other lanes clear none.
    fn merged(&self, offset: u32, size: AccessSize, value: u32, now: Ps) -> u32 {
        let register = offset & !3;
        let held = if register == self.family.sr { 0 } else { self.read_register(register, now) };
        Port::new(Lanes::Kept).word(held, value, offset, size)
    }

    /// Performs a write. False for a bus error.
    fn write_register(&mut self, register: u32, value: u32, ctx: &mut Ctx) -> bool {
        let (family, mut is_accepted) = (self.family, true);
        match (register, self.registers.write(register, value)) {
            (ACR, Ok((_, _, new))) => {
                let kept = self.flash.set_acr(new, ctx);
                self.registers.set(ACR, kept);
            }
            _ if register == family.keyr => is_accepted = self.unlock(value, ctx),
            _ if register == family.optkeyr => is_accepted = self.unlock_options(value, ctx),
            (_, Ok((_, old, new))) if register == family.cr => self.wrote_control(old, new, ctx),
            (_, Err(_)) if register == family.cr => ctx.note(
                "FLASH_CR was written while it is locked: the write has no effect before the two keys of FLASH_KEYR",
            ),
            _ if register == family.sr => {}
            (_, wrote) => (family.wrote)(self, register, wrote.map(|_| ()), ctx),
        }
        self.update_interrupt(ctx);
        is_accepted
    }

    fn unlock(&mut self, key: u32, ctx: &mut Ctx) -> bool {
        let key = self.keys.take(key, ctx);
        if key == Some(true) {
            self.registers.put(self.family.cr, CR_LOCK, false);
        }
        key.is_some()
    }

    fn unlock_options(&mut self, key: u32, ctx: &mut Ctx) -> bool {
        let (key, (register, bit)) = (self.option_keys.take(key, ctx), self.family.option_lock);
        if key == Some(true) && !(self.family.is_locked_twice && self.control() & CR_LOCK != 0) {
            self.registers.put(register, bit, false);
        }
        key.is_some()
    }

    fn wrote_control(&mut self, old: u32, new: u32, ctx: &mut Ctx) {
        let Family { cr, starts, option_lock: (lock_at, lock), .. } = *self.family;
        // Writes can set the locks; only keys clear them.
        let kept = if lock_at == cr { old & lock } else { 0 };
        self.registers.set(cr, new & !starts | kept);
        if new & CR_LOCK != 0 {
            self.keys.lock();
        }
        (self.family.wrote_control)(self, new, ctx);
        if new & CR_STRT != 0 {
            let started = (self.family.erase)(self, ctx);
            self.refuse(started, ctx);
        }
    }

    /// A write to the flash.
    fn program(&mut self, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) {
        let started = if self.control() & (CR_LOCK | CR_PG) == CR_PG {
            (self.family.program)(self, offset, size, value, ctx)
        } else {
            Err((SR_PGSERR, "the flash was written without FLASH_CR.PG: nothing is programmed (PGSERR)"))
        };
        self.refuse(started, ctx);
    }

    /// An operation was started, or is refused.
    fn refuse(&mut self, started: Result<(), Refusal>, ctx: &mut Ctx) {
        let Err((why, what)) = started else { return };
        let flags = why | flag(SR_OPERR, self.control() & CR_ERRIE != 0);
        self.registers.put(self.family.sr, flags, true);
        ctx.note(what);
        self.update_interrupt(ctx);
    }

    fn update_interrupt(&self, ctx: &mut Ctx) {
        let (status, control) = (self.status(), self.control());
        let up = status & SR_EOP != 0 && control & CR_EOPIE != 0 || status & SR_OPERR != 0 && control & CR_ERRIE != 0;
        ctx.set_irq(self.interrupt, up);
    }
}

impl Device for FlashController {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.flash.reset(self.registers[ACR], ctx);
        if self.family.two_banks != 0 && !self.has_two_banks() {
            self.flash.reshape(1, ctx);
        }
        let Family { options, no_options: [none, _], .. } = *self.family;
        if let Some(note) = option_bytes::note_of(self.registers[options], &self.family.option_row(), none) {
            ctx.note(&note);
        }
    }

    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        if range > 0 {
            return Ok(self.flash.read(offset, size, ctx));
        }
        let register = self.read_register(offset & !3, ctx.now);
        Ok(Reply::read(size.extracted(register, offset), ctx.now))
    }

    fn write(&mut self, range: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let busy_until = self.flash.free_at(ctx.now);
        if range > 0 {
            self.program(offset, size, value, ctx);
            return Ok(Reply::written(busy_until));
        }
        let (register, word) = (offset & !3, self.merged(offset, size, value, ctx.now));
        if !self.write_register(register, word, ctx) {
            return Err(SlaveError { done: ctx.now });
        }
        // RM0090 and RM0432, FLASH_CR: a write while the flash is busy stalls the bus.
        Ok(Reply::written(if register == self.family.cr { busy_until } else { ctx.now }))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == ENDS && self.flash.has_ended(ctx) {
            // RM0090 and RM0432, FLASH_SR: EOP is only set if its interrupt is enabled.
            if self.control() & CR_EOPIE != 0 {
                self.registers.put(self.family.sr, SR_EOP, true);
            }
            self.update_interrupt(ctx);
        }
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.flash.clocks_changed(ctx);
    }

    fn peek(&self, range: usize, offset: u32, into: &mut [u8]) -> bool {
        if range > 0 {
            self.flash.contents.0.read(offset, into);
        }
        range > 0
    }

    fn preload(&mut self, range: usize, offset: u32, bytes: &[u8]) -> bool {
        // As a programmer does, without time.
        if range > 0 {
            self.flash.contents.0.write(offset, bytes);
        }
        range > 0
    }

    fn host_bytes(&self, range: usize) -> Option<*const u8> {
        (range > 0).then(|| self.flash.contents.0.as_ptr().cast_const())
    }

    fn own_clock(&self) -> Option<Hz> {
        Some(self.flash.clock.rate)
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
