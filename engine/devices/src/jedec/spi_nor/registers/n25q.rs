//! The registers of the N25Q128A and what their bits mean.
//!
//! Micron N25Q128A datasheet, sections "Nonvolatile and Volatile Registers", tables "Status Register Bit Definitions",
//! "Nonvolatile Configuration Register Bit Definitions", "Volatile ..." and "Enhanced Volatile ...", "Flag Status
//! Register Bit Definitions", "Lock Register", "Protected Area Sizes".

use super::{Errors, Protection, ReadEnd, Registers, Set};
use crate::jedec::spi_nor::commands::{Command, Dummies, Protocol};
use crate::registers::{field, flag, registers};

registers! {
    /// All registers except the lock registers. They have no addresses: commands name them.
    pub const MAP "" bytes {
        /// The status register. Bit 7 is write disable (W# is held high, so it locks nothing).
        SR 0 rw { WIP 0 ro, WEL 1 ro, BP 2..5, BOTTOM 5, BP3 6, SRWD 7 };
        /// The flag status register. Only error bits are stored.
        FSR 1 ro {
            PROTECTION_ERROR 1, PROGRAM_SUSPENDED 2, PROGRAM_ERROR 4, ERASE_ERROR 5, ERASE_SUSPENDED 6, READY 7,
        };
        /// The nonvolatile configuration register.
        NVCR 2 rw reset 0xffff mask 0xffff { PROTOCOL 2..4, HOLD 4, DRIVE 6..9, XIP 9..12, DUMMIES 12..16 };
        /// The volatile configuration register: bit 2 reads 0.
        VCR 3 rw mask 0xfb { WRAP 0..2, XIP_OFF 3, DUMMIES 4..8 };
        /// The enhanced volatile configuration register: bit 5 reads 0.
        EVCR 4 rw mask 0xdf { DRIVE 0..3, VPP_OFF 3, HOLD 4, PROTOCOL 6..8 };
    }
}

/// Without XIP (NVCR_XIP).
const NO_XIP: u32 = 7;
/// The fast reads that may be active right after power-up, by NVCR_XIP.
const XIP_OPCODES: [u8; 5] = [0x0b, 0x3b, 0xbb, 0x6b, 0xeb];

/// The family's set.
pub static SET: Set = Set {
    map: &MAP,
    has_locks: true,
    protection: Protection { value: (SR, SR_BP), bit_3: (SR, SR_BP3), bottom: (SR, SR_BOTTOM), swapped: (SR, 0) },
    errors: Errors {
        register: FSR,
        bits: [FSR_PROGRAM_ERROR | FSR_PROTECTION_ERROR, FSR_ERASE_ERROR | FSR_PROTECTION_ERROR],
        stays_busy: false,
    },
    conditions: &[
        ((SR, SR_WIP), |chip| chip.busy),
        ((SR, SR_WEL), |chip| chip.write_enabled),
        ((FSR, FSR_READY), |chip| !chip.busy),
        ((FSR, FSR_ERASE_SUSPENDED), |chip| chip.erase_suspended),
        ((FSR, FSR_PROGRAM_SUSPENDED), |chip| chip.program_suspended),
    ],
    quad: (EVCR, 0),
    reset,
    protocol,
    dummy_clocks,
    wrap_bytes,
    opcode_at_power_up: |registers| XIP_OPCODES.get(registers.values.field(NVCR, NVCR_XIP) as usize).copied(),
    continues,
};

/// Wrap and VPP acceleration are off after reset.
fn reset(Registers { values, .. }: &mut Registers) {
    let of = |mask| field(values[NVCR], mask);
    let volatile = of(NVCR_DUMMIES) << 4 | flag(VCR_XIP_OFF, of(NVCR_XIP) == NO_XIP) | VCR_WRAP;
    let enhanced = of(NVCR_PROTOCOL) << 6 | flag(EVCR_HOLD, of(NVCR_HOLD) != 0) | EVCR_VPP_OFF | of(NVCR_DRIVE);
    values.set(VCR, volatile);
    values.set(EVCR, enhanced);
}

/// Bit 1 is quad off, bit 0 dual off; quad wins where both are on.
fn protocol(registers: &Registers) -> Protocol {
    match registers.values.field(EVCR, EVCR_PROTOCOL) {
        0 | 1 => Protocol::Quad,
        2 => Protocol::Dual,
        _ => Protocol::Single,
    }
}

/// By default 10 in the quad protocol.
fn dummy_clocks(registers: &Registers, default: u32) -> u32 {
    match registers.values.field(VCR, VCR_DUMMIES) {
        0 | 15 if protocol(registers) == Protocol::Quad => 10,
        0 | 15 => default,
        clocks => clocks,
    }
}

/// Reads with dummy clocks wrap.
fn wrap_bytes(registers: &Registers, command: &Command) -> Option<u32> {
    let wrap = registers.values[VCR] & VCR_WRAP;
    (matches!(command.dummies, Dummies::Configured(_)) && wrap != VCR_WRAP).then(|| 16 << wrap)
}

/// A fast read's confirmation bit turns XIP on, if the volatile configuration register allows it, or off for the
/// following frames, and then sets the register's bit back.
fn continues(Registers { values, .. }: &mut Registers, end: ReadEnd) -> bool {
    match end.confirmation {
        Some(false) if !values.has(VCR, VCR_XIP_OFF) => true,
        Some(true) if end.continuing => {
            values.put(VCR, VCR_XIP_OFF, true);
            false
        }
        _ => end.continuing,
    }
}
