//! The registers of the FL-L family and what their bits mean.
//!
//! Cypress S25FL256L/S25FL128L datasheet (002-00124), section "Registers".

use super::{Errors, Protection, ReadEnd, Registers, Set, Writing, Written};
use crate::jedec::spi_nor::commands::{Command, Protocol, Target};
use crate::registers::registers;
use engine::wire::spi::{Lines, Rate};

registers! {
    /// Volatile registers, and nonvolatile ones [`BANK`] above.
    pub const MAP "" bytes {
        /// Status register 1. Bit 7 (SRP0) obeys W#, which is held high.
        SR1V 0x00 rw { WIP 0 ro, WEL 1 ro, BP 2..6, TBPROT 6, SRP0 7 };
        /// Status register 2. Only error bits are stored.
        SR2V 0x01 ro { PS 0, ES 1, P_ERR 5, E_ERR 6 };
        /// Configuration register 1.
        CR1V 0x02 rw {
            /// Status and configuration can't be written until the next power-up.
            SRP1 0,
            /// All four data lines are in use.
            QUAD 1,
            /// Lock bits 3 to 0 of the security regions: once 1, always 1.
            LB 2..6,
            /// Protected and unprotected blocks are swapped.
            CMP 6,
            /// An erase or program is suspended.
            SUS 7 ro,
        };
        /// Configuration register 2: IO3 as reset and output impedance, without effect.
        CR2V 0x03 rw reset 0x60 mask 0xe0;
        /// Configuration register 3: read latency, and wrap.
        CR3V 0x04 rw reset 0x78 mask 0x7f { RL 0..4, WRAP_OFF 4, WL 5..7 };
        SR1NV 0x10 rw mask 0xfc;
        CR1NV 0x12 rw mask 0x7e;
        CR2NV 0x13 rw reset 0x60 mask 0xe0;
        CR3NV 0x14 rw reset 0x78 mask 0x7f;
    }
}

/// From a volatile register to its nonvolatile copy.
const BANK: u32 = 0x10;
/// Address bit of the volatile registers on the chip.
const VOLATILE: u32 = 0x80_0000;
/// Registers that have two copies, in the order of WRITE REGISTERS.
const PAIRS: [u32; 4] = [SR1V, CR1V, CR2V, CR3V];
/// Configuration register 2: QPI, individual block protection and 4-byte addresses.
const CR2_NOT_MODELLED: u32 = 0x0f;

/// The family's set.
pub static SET: Set = Set {
    map: &MAP,
    has_locks: false,
    protection: Protection {
        value: (SR1V, SR1V_BP),
        bit_3: (SR1V, 0),
        bottom: (SR1V, SR1V_TBPROT),
        swapped: (CR1V, CR1V_CMP),
    },
    errors: Errors { register: SR2V, bits: [SR2V_P_ERR, SR2V_E_ERR], stays_busy: true },
    conditions: &[
        ((SR1V, SR1V_WIP), |chip| chip.busy),
        ((SR1V, SR1V_WEL), |chip| chip.write_enabled),
        ((SR2V, SR2V_ES), |chip| chip.erase_suspended),
        ((SR2V, SR2V_PS), |chip| chip.program_suspended),
        ((CR1V, CR1V_SUS), |chip| chip.erase_suspended || chip.program_suspended),
    ],
    quad: (CR1V, CR1V_QUAD),
    reset,
    protocol: |_| Protocol::Single,
    dummy_clocks: |registers, _| match registers.values.field(CR3V, CR3V_RL) {
        0 => registers.default_clocks,
        clocks => clocks,
    },
    wrap_bytes,
    opcode_at_power_up: |_| None,
    continues: |_, end| continues(end),
};

fn reset(Registers { values, .. }: &mut Registers) {
    let locked = values[CR1V] & CR1V_SRP1;
    PAIRS.into_iter().for_each(|pair| values.set(pair, values[pair + BANK]));
    values.put(CR1V, locked, true);
}

/// Quad I/O reads wrap, at either rate.
fn wrap_bytes(Registers { values, .. }: &Registers, command: &Command) -> Option<u32> {
    let wraps = command.mode && command.address == Some(Lines::Quad) && !values.has(CR3V, CR3V_WRAP_OFF);
    wraps.then(|| 8 << values.field(CR3V, CR3V_WL))
}

/// The register at an address of the chip.
pub(super) fn at(address: u32) -> Option<u32> {
    let (bank, low) = (if address & VOLATILE == 0 { BANK } else { 0 }, address & !VOLATILE);
    Some(low + bank).filter(|register| low < BANK && MAP.row(*register).is_some())
}

/// WRITE REGISTERS and WRITE ANY REGISTER: how long it takes, and a note.
pub(super) fn write(registers: &mut Registers, writing: Writing) -> Written {
    let Writing { target, address, data, volatile_only } = writing;
    let mut note = None;
    let is_volatile = if target == Target::Registers {
        for (pair, value) in PAIRS.into_iter().zip(data) {
            note = write_pair(registers, pair, *value, volatile_only).or(note);
        }
        volatile_only
    } else {
        let Some(register) = at(address).filter(|register| *register != SR2V) else {
            return (None, Some(format!("command 71h ignored: no register at {address:06X}h")));
        };
        let is_volatile = register < BANK;
        note = write_pair(registers, register % BANK, data[0], is_volatile);
        is_volatile
    };
    (if is_volatile { None } else { Some(|times| times.write_status) }, note)
}

/// Writes one register: its volatile copy, and unless `volatile_only` its nonvolatile one.
fn write_pair(registers: &mut Registers, pair: u32, value: u8, volatile_only: bool) -> Option<String> {
    if pair != CR3V && registers.values.has(CR1V, CR1V_SRP1) {
        let note = "a register write was ignored: SRP1 (CR1V, bit 0) locks them until power-up";
        return Some(note.to_owned());
    }
    let mut new = u32::from(value);
    if pair == CR1V {
        let settable = if volatile_only { new & !CR1V_LB } else { new };
        new = settable | registers.values[CR1V] & CR1V_LB;
    }
    registers.store(pair, new);
    if !volatile_only {
        registers.values.set(pair + BANK, registers.values[pair]);
    }
    (pair == CR2V && new & CR2_NOT_MODELLED != 0)
        .then(|| format!("CR2 was written with {value:02X}h: some of its bits are not modelled and stay 0"))
}

/// Continuous read: after Axh as the mode byte; at the double rate after any mode byte whose halves are complements of
/// each other. A frame that ends before its data ends it (section "Mode Bit Reset" relies on that).
fn continues(end: ReadEnd) -> bool {
    match (end.mode, end.rate) {
        (Some(mode), Rate::Single) => mode >> 4 == 0xa,
        (Some(mode), Rate::Double) => mode >> 4 == !mode & 0xf,
        (None, _) => false,
    }
}
