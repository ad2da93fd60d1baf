//! The registers of the FL-L family and what their bits mean.
//!
//! Cypress S25FL256L/S25FL128L datasheet (002-00124), section "Registers".

use super::{Condition, Failure, ReadEnd, WriteTime, Writing, Written};
use crate::jedec::spi_nor::commands::{Command, Dummies, Source, Target};
use crate::jedec::spi_nor::notes::Note;
use crate::jedec::spi_nor::parts::SECTOR_BYTES;
use engine::state::State;
use engine::wire::spi::{Lines, Rate};

/// Status register 1: write in progress.
const WIP: u8 = 1 << 0;
/// Status register 1: write enable latch.
const WEL: u8 = 1 << 1;
/// Status register 1: block protect bits 3 to 0.
const BP_SHIFT: u32 = 2;
/// Status register 1: protected blocks count from the bottom, not from the top (TBPROT).
const BOTTOM: u8 = 1 << 6;
/// Status register 1: writable bits; bit 7 (SRP0) obeys W#, which is held high.
const SR1_WRITABLE: u8 = 0xfc;

/// Status register 2: an erase failed.
const E_ERR: u8 = 1 << 6;
/// Status register 2: a program failed.
const P_ERR: u8 = 1 << 5;
/// Status register 2: an erase is suspended.
const ES: u8 = 1 << 1;
/// Status register 2: a program is suspended.
const PS: u8 = 1 << 0;

/// Configuration register 1: an erase or program is suspended.
const SUS: u8 = 1 << 7;
/// Configuration register 1: protected and unprotected blocks are swapped.
const CMP: u8 = 1 << 6;
/// Configuration register 1: lock bits 3 to 0 of the security regions: once 1, always 1.
const LB: u8 = 0x3c;
/// Configuration register 1: all four data lines are in use.
const QUAD: u8 = 1 << 1;
/// Configuration register 1: status and configuration can't be written until the next power-up.
const SRP1: u8 = 1 << 0;

/// Configuration register 2: IO3 as reset and output impedance: writable, without effect.
const CR2_WRITABLE: u8 = 0xe0;
/// Configuration register 2: QPI, individual block protection and 4-byte addresses.
const CR2_NOT_MODELLED: u8 = 0x0f;

/// Configuration register 3: wrap length.
const WL_SHIFT: u32 = 5;
/// Configuration register 3: reads do not wrap.
const WRAP_OFF: u8 = 1 << 4;
/// Configuration register 3: read latency.
const RL: u8 = 0x0f;
/// Configuration register 3: writable bits.
const CR3_WRITABLE: u8 = 0x7f;

/// Status register 1 and configuration registers 1 to 3 as delivered.
const DELIVERED: [u8; 4] = [0x00, 0x00, 0x60, 0x78];
/// Address bit of the volatile registers; it is 0 for nonvolatile ones.
const VOLATILE: u32 = 0x80_0000;
/// Address of status register 2.
const SR2_ADDRESS: u32 = VOLATILE + 1;

/// A register that has a volatile and a nonvolatile copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    Sr1 = 0,
    Cr1 = 1,
    Cr2 = 2,
    Cr3 = 3,
}

impl Pair {
    /// In the order of WRITE REGISTERS.
    const ALL: [Pair; 4] = [Pair::Sr1, Pair::Cr1, Pair::Cr2, Pair::Cr3];

    /// The register at the address, volatile or not.
    const fn at(address: u32) -> Option<Pair> {
        match address & !VOLATILE {
            0 => Some(Pair::Sr1),
            2 => Some(Pair::Cr1),
            3 => Some(Pair::Cr2),
            4 => Some(Pair::Cr3),
            _ => None,
        }
    }
}

/// All registers except the volatile state of a cycle in progress.
#[derive(Clone, Debug, State)]
pub struct Registers {
    volatile: [u8; 4],
    nonvolatile: [u8; 4],
    /// Error bits of status register 2.
    errors: u8,
    #[state(skip)]
    sectors: u32,
    /// Dummy clocks of read latency code 0.
    #[state(skip)]
    latency_code_0_clocks: u32,
}

impl Registers {
    /// Registers as delivered, after power-up.
    pub fn new(size_bytes: u32, latency_code_0_clocks: u32) -> Registers {
        let sectors = size_bytes / SECTOR_BYTES;
        Registers { volatile: DELIVERED, nonvolatile: DELIVERED, errors: 0, sectors, latency_code_0_clocks }
    }

    pub(super) fn reset(&mut self) {
        let locked = self.get(Pair::Cr1) & SRP1;
        self.volatile = self.nonvolatile;
        self.volatile[Pair::Cr1 as usize] |= locked;
        self.errors = 0;
    }

    const fn get(&self, pair: Pair) -> u8 {
        self.volatile[pair as usize]
    }

    pub(super) const fn quad_enabled(&self) -> bool {
        self.get(Pair::Cr1) & QUAD != 0
    }

    pub(super) const fn dummy_clocks(&self, dummies: Dummies) -> u32 {
        match (dummies, self.get(Pair::Cr3) & RL) {
            (Dummies::None, _) => 0,
            (Dummies::Fixed(clocks), _) => clocks,
            (Dummies::Configured(_), 0) => self.latency_code_0_clocks,
            (Dummies::Configured(_), clocks) => clocks as u32,
        }
    }

    /// Quad I/O reads wrap, at either rate.
    pub(super) fn wrap_bytes(&self, command: &Command) -> Option<u32> {
        let cr3 = self.get(Pair::Cr3);
        let wraps = command.mode && command.address == Some(Lines::Quad) && cr3 & WRAP_OFF == 0;
        wraps.then(|| 8 << (cr3 >> WL_SHIFT & 3))
    }

    pub(super) fn read(&self, source: Source, address: u32, _index: u32, condition: Condition) -> u8 {
        match source {
            Source::Status => self.shown(Pair::Sr1, condition),
            Source::Status2 => self.status_2(condition),
            Source::Configuration(1) => self.shown(Pair::Cr1, condition),
            Source::Configuration(2) => self.shown(Pair::Cr2, condition),
            Source::Configuration(3) => self.shown(Pair::Cr3, condition),
            Source::AnyRegister if address == SR2_ADDRESS => self.status_2(condition),
            Source::AnyRegister => match Pair::at(address) {
                Some(pair) if address & VOLATILE != 0 => self.shown(pair, condition),
                Some(pair) => self.nonvolatile[pair as usize],
                None => 0xff,
            },
            _ => 0xff,
        }
    }

    /// The value that a volatile register reads, with the bits that follow from the chip's condition.
    const fn shown(&self, pair: Pair, condition: Condition) -> u8 {
        let value = self.get(pair);
        match pair {
            Pair::Sr1 => value | if condition.busy { WIP } else { 0 } | if condition.write_enabled { WEL } else { 0 },
            Pair::Cr1 if condition.erase_suspended || condition.program_suspended => value | SUS,
            Pair::Cr1 | Pair::Cr2 | Pair::Cr3 => value,
        }
    }

    const fn status_2(&self, condition: Condition) -> u8 {
        self.errors | if condition.erase_suspended { ES } else { 0 } | if condition.program_suspended { PS } else { 0 }
    }

    pub(super) fn write(&mut self, writing: Writing) -> Written {
        let mut note = None;
        let mut write = |registers: &mut Registers, pair, value, volatile_only| {
            note = registers.write_pair(pair, value, volatile_only).or(note.take());
        };
        let volatile = match writing.target {
            Target::Registers => {
                for (pair, value) in Pair::ALL.into_iter().zip(writing.data) {
                    write(self, pair, *value, writing.volatile_only);
                }
                writing.volatile_only
            }
            _ => {
                let address = writing.address;
                let Some(pair) = Pair::at(address) else {
                    return Written { time: WriteTime::None, note: Some(Note::NoRegister { address }) };
                };
                let volatile = address & VOLATILE != 0;
                write(self, pair, writing.data[0], volatile);
                volatile
            }
        };
        Written { time: if volatile { WriteTime::None } else { WriteTime::Status }, note }
    }

    /// Writes one register: its volatile copy, and unless `volatile_only` its nonvolatile one.
    fn write_pair(&mut self, pair: Pair, value: u8, volatile_only: bool) -> Option<Note> {
        if pair != Pair::Cr3 && self.get(Pair::Cr1) & SRP1 != 0 {
            return Some(Note::RegistersLocked);
        }
        let old = self.get(pair);
        let new = match pair {
            Pair::Sr1 => value & SR1_WRITABLE,
            Pair::Cr1 => {
                let locks = if volatile_only { 0 } else { value & LB };
                old & (LB | SRP1) | locks | value & (CMP | QUAD | SRP1)
            }
            Pair::Cr2 => value & CR2_WRITABLE,
            Pair::Cr3 => value & CR3_WRITABLE,
        };
        self.volatile[pair as usize] = new;
        if !volatile_only {
            self.nonvolatile[pair as usize] = if pair == Pair::Cr1 { new & !SRP1 } else { new };
        }
        (pair == Pair::Cr2 && value & CR2_NOT_MODELLED != 0).then_some(Note::NotModelled { register: "CR2", value })
    }

    pub(super) fn fail(&mut self, failure: Failure) -> bool {
        self.errors |= match failure {
            Failure::Program => P_ERR,
            Failure::Erase => E_ERR,
        };
        true
    }

    pub(super) fn clear_errors(&mut self) {
        self.errors = 0;
    }

    pub(super) const fn is_protected(&self, address: u32) -> bool {
        let sector = address / SECTOR_BYTES;
        let protected = self.protected_sectors();
        let from_bottom = self.get(Pair::Sr1) & BOTTOM != 0;
        let covered = if from_bottom { sector < protected } else { sector >= self.sectors - protected };
        covered != (self.get(Pair::Cr1) & CMP != 0)
    }

    pub(super) const fn is_any_protected(&self) -> bool {
        let all_but = self.get(Pair::Cr1) & CMP != 0;
        let protected = self.protected_sectors();
        if all_but { protected < self.sectors } else { protected > 0 }
    }

    /// Block protect value n covers 2^(n-1) blocks of 64 KiB, up to all.
    const fn protected_sectors(&self) -> u32 {
        match self.get(Pair::Sr1) >> BP_SHIFT & 0xf {
            0 => 0,
            level if 1 << (level - 1) < self.sectors => 1 << (level - 1),
            _ => self.sectors,
        }
    }
}

/// Continuous read: after Axh as the mode byte; at the double rate after any mode byte whose halves are complements of
/// each other. A frame that ends before its data ends it (section "Mode Bit Reset" relies on that).
pub(super) fn continues(end: ReadEnd) -> bool {
    match (end.mode, end.rate) {
        (Some(mode), Rate::Single) => mode >> 4 == 0xa,
        (Some(mode), Rate::Double) => mode >> 4 == !mode & 0xf,
        (None, _) => false,
    }
}
