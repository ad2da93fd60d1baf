//! The registers of a chip and the meaning of their bits. Each family has a map and a row of differences ([`Set`]) in a
//! file of its own.

pub mod fl_l;
pub mod n25q;

use super::commands::{Command, Dummies, Protocol, Source, Target};
use super::parameters::Times;
use super::parts::SECTOR_BYTES;
use crate::registers::{self, Map, field};
use engine::state::State;
use engine::time::Ps;
use engine::wire::spi::Rate;

/// Register bits that follow from the chip's condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// A cycle is in progress.
    pub busy: bool,
    /// The write enable latch is set.
    pub write_enabled: bool,
    /// An erase is suspended.
    pub erase_suspended: bool,
    /// A program is suspended.
    pub program_suspended: bool,
}

/// A write of registers.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'a> {
    /// The register that the command names.
    pub target: Target,
    /// The address of the frame.
    pub address: u32,
    /// The frame's data: as many bytes as the target takes.
    pub data: &'a [u8],
    /// Only volatile registers were enabled for writing.
    pub volatile_only: bool,
}

/// The result of a write: how long it takes, unless that is less than chip select must stay high, and a note about bits
/// that were not written.
type Written = (Option<WriteTime>, Option<String>);

/// The time of a write.
type WriteTime = fn(&Times) -> Ps;

/// The end of a read from the array.
#[derive(Clone, Copy, Debug)]
pub struct ReadEnd {
    /// The rate of its address.
    pub rate: Rate,
    /// The level of IO0 in the first dummy clock.
    pub confirmation: Option<bool>,
    /// The mode byte, if the frame continued to the data.
    pub mode: Option<u8>,
    /// True if the frame had no command.
    pub continuing: bool,
}

/// The operation that failed because its sector is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A program.
    Program,
    /// An erase.
    Erase,
}

/// A bit or field: the register, and the mask.
type Bits = (u32, u32);

/// Bits, and the condition of the chip under which they are set.
type Following = (Bits, fn(&Condition) -> bool);

/// Block protection. Value n protects 2^(n-1) sectors, up to all.
#[derive(Debug)]
pub struct Protection {
    /// The low bits of the value.
    pub value: Bits,
    /// Its bit 3, if it lies elsewhere.
    pub bit_3: Bits,
    /// Sectors count from the bottom, not from the top.
    pub bottom: Bits,
    /// Protected and unprotected sectors are swapped.
    pub swapped: Bits,
}

/// Error bits.
#[derive(Debug)]
pub struct Errors {
    /// Their register.
    pub register: u32,
    /// Those of a program, and of an erase, of a protected sector.
    pub bits: [u32; 2],
    /// True if the chip stays busy until they are cleared.
    pub stays_busy: bool,
}

/// The registers of a family, and what differs in their use.
#[derive(Debug)]
pub struct Set {
    /// The registers. Addresses are the chip's own where it has any.
    pub map: &'static Map,
    /// True if each sector has a lock register.
    pub has_locks: bool,
    /// Block protection.
    pub protection: Protection,
    /// Error bits.
    pub errors: Errors,
    /// Bits that follow from the chip's condition.
    pub conditions: &'static [Following],
    /// The bit that lets all four data lines carry data; no bits if they always may.
    pub quad: Bits,
    /// Power-up and a software reset: loads volatile registers from nonvolatile ones.
    pub reset: fn(&mut Registers),
    /// The protocol in use.
    pub protocol: fn(&Registers) -> Protocol,
    /// Dummy clocks of a command that has this default.
    pub dummy_clocks: fn(&Registers, u32) -> u32,
    /// Bytes after which a read by a command wraps, if it does.
    pub wrap_bytes: fn(&Registers, &Command) -> Option<u32>,
    /// The read that is active right after power-up, without a command.
    pub opcode_at_power_up: fn(&Registers) -> Option<u8>,
    /// True if the next frame continues the read with its address, without a command.
    pub continues: fn(&mut Registers, ReadEnd) -> bool,
}

/// The registers of a chip, except the volatile state of a cycle in progress.
#[derive(Clone, Debug, State)]
pub struct Registers {
    #[state(skip)]
    pub set: &'static Set,
    values: registers::Registers,
    /// Lock register of each sector.
    #[state(with = engine::state::fixed)]
    locks: Vec<u8>,
    #[state(skip)]
    sectors: u32,
    /// Dummy clocks of reads while the configuration asks for none, if the board says so.
    #[state(skip)]
    default_clocks: u32,
}

/// Lock register: the sector is write-protected.
const WRITE_LOCKED: u8 = 1 << 0;
/// Lock register: it can't be changed before the next reset.
const LOCKED_DOWN: u8 = 1 << 1;

impl Registers {
    /// Registers as delivered, before power-up.
    pub fn new(set: &'static Set, size_bytes: u32, default_clocks: u32) -> Registers {
        let sectors = size_bytes / SECTOR_BYTES;
        let locks = vec![0; if set.has_locks { sectors as usize } else { 0 }];
        Registers { set, values: registers::Registers::new(set.map), locks, sectors, default_clocks }
    }

    /// The same registers, with another value of one of them.
    #[must_use]
    pub fn with(mut self, register: u32, value: u32) -> Registers {
        self.values.set(register, value);
        self
    }

    fn has(&self, (register, bits): Bits) -> bool {
        self.values.has(register, bits)
    }

    /// A command writes a register, with the effect that the access of its bits has.
    fn store(&mut self, register: u32, value: u32) {
        if let Some(row) = self.set.map.row(register) {
            self.values.set(register, row.after_write(self.values[register], value));
        }
    }

    /// Power-up and a software reset.
    pub fn reset(&mut self) {
        (self.set.reset)(self);
        self.clear_errors();
        self.locks.fill(0);
    }

    /// The protocol in use.
    pub fn protocol(&self) -> Protocol {
        (self.set.protocol)(self)
    }

    /// True if all four data lines may carry data.
    pub fn quad_enabled(&self) -> bool {
        self.set.quad.1 == 0 || self.has(self.set.quad)
    }

    /// Dummy clocks of a command.
    pub fn dummy_clocks(&self, dummies: Dummies) -> u32 {
        match dummies {
            Dummies::None => 0,
            Dummies::Fixed(clocks) => clocks,
            Dummies::Configured(clocks) => (self.set.dummy_clocks)(self, clocks),
        }
    }

    /// Byte `index` of a register; FFh if `source` is not a register.
    pub fn read(&self, source: Source, address: u32, index: u32, condition: Condition) -> u8 {
        match source {
            Source::Live(register) | Source::Register(register) => self.shown(register, index, condition),
            Source::AnyRegister => fl_l::at(address).map_or(0xff, |register| self.shown(register, index, condition)),
            Source::Lock => self.lock(address),
            _ => 0xff,
        }
    }

    /// A byte of a register, with the bits that follow from the chip's condition.
    fn shown(&self, register: u32, index: u32, condition: Condition) -> u8 {
        let following = self.set.conditions.iter().filter(|((of, _), holds)| *of == register && holds(&condition));
        let value = following.fold(self.values[register], |value, ((_, bits), _)| value | bits);
        let is_wide = self.set.map.row(register).is_some_and(|row| row.mask > 0xff);
        if is_wide { (value >> (8 * (index % 2))) as u8 } else { value as u8 }
    }

    /// Writes registers: volatile ones in no time.
    pub fn write(&mut self, writing: Writing) -> Written {
        let value = writing.data.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
        let (register, time): (u32, Option<WriteTime>) = match writing.target {
            Target::Volatile(register) => (register, None),
            Target::Status(register) => (register, Some(|times| times.write_status)),
            Target::Nonvolatile(register) => (register, Some(|times| times.write_nonvolatile)),
            Target::Lock => return (None, self.write_lock(writing.address, value as u8)),
            Target::Registers | Target::AnyRegister => return fl_l::write(self, writing),
        };
        self.store(register, value);
        (time, None)
    }

    /// Records an error for the firmware to read. True if the chip stays busy until the error is cleared.
    pub fn fail(&mut self, failure: Failure) -> bool {
        let Errors { register, bits, stays_busy } = self.set.errors;
        self.values.put(register, bits[failure as usize], true);
        stays_busy
    }

    /// Clears the error bits.
    pub fn clear_errors(&mut self) {
        self.values.set(self.set.errors.register, 0);
    }

    fn lock(&self, address: u32) -> u8 {
        self.locks.get((address / SECTOR_BYTES) as usize).copied().unwrap_or(0)
    }

    /// A note says that the register is locked down.
    fn write_lock(&mut self, address: u32, value: u8) -> Option<String> {
        if self.lock(address) & LOCKED_DOWN != 0 {
            let which = format!("the lock register of {address:#08x}");
            return Some(format!("command E5h ignored: {which} is locked down until reset"));
        }
        self.locks[(address / SECTOR_BYTES) as usize] = value & (WRITE_LOCKED | LOCKED_DOWN);
        None
    }

    /// True if a program or erase at `address` fails, by block protection or by a lock register.
    pub fn is_protected(&self, address: u32) -> bool {
        let (sector, protected) = (address / SECTOR_BYTES, self.protected_sectors());
        let Protection { bottom, swapped, .. } = self.set.protection;
        let covered = if self.has(bottom) { sector < protected } else { sector >= self.sectors - protected };
        covered != self.has(swapped) || self.lock(address) & WRITE_LOCKED != 0
    }

    /// True if any sector is protected: an erase of everything then fails.
    pub fn is_any_protected(&self) -> bool {
        let protected = self.protected_sectors();
        let by_block = if self.has(self.set.protection.swapped) { protected < self.sectors } else { protected > 0 };
        by_block || self.locks.iter().any(|lock| lock & WRITE_LOCKED != 0)
    }

    fn protected_sectors(&self) -> u32 {
        let Protection { value: (register, mask), bit_3, .. } = self.set.protection;
        let level = field(self.values[register], mask) | u32::from(self.has(bit_3)) << 3;
        if level == 0 { 0 } else { self.sectors.min(1 << (level - 1)) }
    }
}
