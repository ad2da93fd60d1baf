//! The inside: what a complete frame makes the chip do, and how long that takes.

use super::Flash;
use super::commands::{Action, Command, EraseUnit, Source, Target};
use super::frame::Phase;
use super::notes::Note;
use super::parameters::BusyTimes;
use super::parts::{PAGE_BYTES, SECTOR_BYTES, SUBSECTOR_BYTES};
use super::registers::{
    ERASE_ERROR, ERASE_SUSPENDED, PROGRAM_ERROR, PROGRAM_SUSPENDED, PROTECTION_ERROR, READY, WEL, WIP,
};
use crate::time::{Cycles, Ps};
use crate::wire::spi::Lines;

/// Bytes of the one-time programmable area, its control byte included.
pub(super) const OTP_BYTES: usize = 65;
/// OTP control byte, bit 0: 0 locks the area for good.
const OTP_UNLOCKED: u8 = 1;

/// A self-timed cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cycle {
    /// Of bytes within one page.
    Program { address: u32 },
    /// Of the OTP area.
    ProgramOtp,
    /// Of a subsector, a sector or all.
    Erase { unit: EraseUnit, address: u32 },
    /// Of a nonvolatile register.
    WriteRegister,
    /// The wait until a suspended cycle has stopped.
    Suspend,
}

impl Cycle {
    fn name(self) -> &'static str {
        match self {
            Cycle::Program { .. } => "page program",
            Cycle::ProgramOtp => "program of the OTP area",
            Cycle::Erase { unit: EraseUnit::Subsector, .. } => "subsector erase",
            Cycle::Erase { unit: EraseUnit::Sector, .. } => "sector erase",
            Cycle::Erase { unit: EraseUnit::Bulk, .. } => "bulk erase",
            Cycle::WriteRegister => "register write",
            Cycle::Suspend => "suspension",
        }
    }

    /// True if the cycle works on the page or sector of `address`.
    fn covers(self, at: u32) -> bool {
        match self {
            Cycle::Program { address } => address / PAGE_BYTES == at / PAGE_BYTES,
            Cycle::Erase { unit: EraseUnit::Subsector, address } => address / SUBSECTOR_BYTES == at / SUBSECTOR_BYTES,
            Cycle::Erase { unit: EraseUnit::Sector, address } => address / SECTOR_BYTES == at / SECTOR_BYTES,
            Cycle::Erase { unit: EraseUnit::Bulk, .. } => true,
            Cycle::ProgramOtp | Cycle::WriteRegister | Cycle::Suspend => false,
        }
    }
}

/// A cycle in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Busy {
    pub cycle: Cycle,
    pub until: Ps,
}

/// A suspended cycle and the time that it still needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspended {
    cycle: Cycle,
    remaining: Ps,
}

/// Totals for the results.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub pages_programmed: u64,
    pub subsectors_erased: u64,
    pub sectors_erased: u64,
    pub bulk_erases: u64,
}

impl Flash {
    /// Brings the state that depends on time alone up to `now`.
    pub(super) fn update(&mut self, now: Ps) {
        if let Some(busy) = self.busy
            && now >= busy.until
        {
            self.busy = None;
            self.registers.write_enabled = false;
        }
    }

    /// What the chip is busy with.
    pub(super) fn busy_with(&self) -> Option<&'static str> {
        self.busy.map(|busy| busy.cycle.name())
    }

    /// The cycle that is in progress at `at`, not before the last update.
    fn busy_at(&self, at: Ps) -> Option<Cycle> {
        self.busy.filter(|busy| at < busy.until).map(|busy| busy.cycle)
    }

    /// The status register at `at`.
    pub(super) fn status(&self, at: Ps) -> u8 {
        let busy = self.busy_at(at).is_some();
        // The end of a cycle clears the latch.
        let enabled = self.registers.write_enabled && busy == self.busy.is_some();
        self.registers.status | if enabled { WEL } else { 0 } | if busy { WIP } else { 0 }
    }

    /// The flag status register at `at`.
    pub(super) fn flag_status(&self, at: Ps) -> u8 {
        let busy = self.busy_at(at);
        let mut flags = self.registers.errors;
        if busy.is_none() {
            flags |= READY;
        }
        // A suspension shows once the cycle has stopped.
        if busy != Some(Cycle::Suspend) {
            flags |= if self.suspended_erase.is_some() { ERASE_SUSPENDED } else { 0 };
            flags |= if self.suspended_program.is_some() { PROGRAM_SUSPENDED } else { 0 };
        }
        flags
    }

    /// The deselection of a frame whose command was decoded.
    pub(super) fn finish_frame(&mut self, command: &'static Command, now: Ps) {
        self.update(now);
        let reset_enabled = std::mem::take(&mut self.reset_enabled);
        let opcode = command.opcode;
        if let Action::Read(source) = command.action {
            return self.finish_read(command, source);
        }
        if let Err(expected) = self.check_length(command) {
            return self.notes.add(Note::WrongLength { opcode, expected });
        }
        if command.action.needs_write_enable() && !self.registers.write_enabled {
            return self.notes.add(Note::NotWriteEnabled { opcode });
        }
        match command.action {
            Action::Read(_) => {}
            Action::ResetEnable => self.reset_enabled = true,
            Action::ResetMemory if reset_enabled => self.reset(),
            Action::ResetMemory => self.notes.add(Note::ResetNotEnabled),
            Action::WriteEnable => self.registers.write_enabled = true,
            Action::WriteDisable => self.registers.write_enabled = false,
            Action::Write(target) => self.write_register(target, now),
            Action::ClearFlagStatus => self.registers.errors = 0,
            Action::Program => self.program(opcode, now),
            Action::ProgramOtp => self.program_otp(opcode, now),
            Action::Erase(unit) => self.erase(opcode, unit, now),
            Action::Suspend => self.suspend(opcode, now),
            Action::Resume => self.resume(opcode, now),
        }
    }

    /// Chip select must rise right after the last bit of command, address or data.
    fn check_length(&self, command: &Command) -> Result<(), &'static str> {
        let frame = &self.frame;
        let whole = frame.bits == 0 && !frame.overrun;
        let (fits, expected) = match command.action {
            Action::Program | Action::ProgramOtp => {
                (frame.phase == Phase::Input && frame.data_bytes > 0, "after a whole byte of data")
            }
            Action::Write(target) if target.bytes() == 2 => {
                (frame.phase == Phase::Input && frame.data_bytes == 2, "after exactly two bytes of data")
            }
            Action::Write(_) => {
                (frame.phase == Phase::Input && frame.data_bytes == 1, "after exactly one byte of data")
            }
            _ if command.address.is_some() => (frame.phase == Phase::Complete, "right after the address"),
            _ => (frame.phase == Phase::Complete, "right after the command"),
        };
        if whole && fits { Ok(()) } else { Err(expected) }
    }

    /// A fast read's confirmation bit turns XIP on or off for the frames to come.
    fn finish_read(&mut self, command: &'static Command, source: Source) {
        if source != Source::Array {
            return;
        }
        match self.frame.confirmation {
            Some(false) if self.registers.xip_enabled() => self.xip = Some(command),
            Some(true) if self.xip.is_some() => {
                self.xip = None;
                self.registers.leave_xip();
            }
            _ => {}
        }
    }

    /// RESET MEMORY, and the start of a run.
    pub(super) fn reset(&mut self) {
        if let Some(busy) = self.busy.take() {
            self.notes.add(Note::ResetWhileBusy { with: busy.cycle.name() });
        }
        self.suspended_program = None;
        self.suspended_erase = None;
        self.registers.reset();
        self.xip = self.registers.xip_opcode_at_power_up().and_then(super::commands::find);
    }

    fn write_register(&mut self, target: Target, now: Ps) {
        let value = self.buffer[0];
        let before = self.registers.protocol();
        match target {
            Target::Status => {
                self.registers.write_status(value);
                return self.start(Cycle::WriteRegister, now, self.times.write_status);
            }
            Target::NonvolatileConfiguration => {
                self.registers.nonvolatile = u16::from_le_bytes([value, self.buffer[1]]);
                return self.start(Cycle::WriteRegister, now, self.times.write_nonvolatile);
            }
            Target::Lock => {
                let address = self.frame.address;
                if !self.registers.write_lock(address, value) {
                    self.notes.add(Note::LockedDown { address });
                }
            }
            Target::VolatileConfiguration => self.registers.write_volatile(value),
            Target::EnhancedVolatileConfiguration => self.registers.write_enhanced(value),
        }
        // Volatile registers are written in 40 ns, less than chip select must stay high: no cycle to wait for.
        self.registers.write_enabled = false;
        let protocol = self.registers.protocol();
        if protocol != before {
            self.notes.add(Note::ProtocolChanged { lines: protocol.lines(Lines::Single) });
        }
    }

    fn program(&mut self, opcode: u8, now: Ps) {
        let address = self.frame.address;
        if self.suspended_program.is_some() || self.suspended_erase.is_some_and(|erase| erase.cycle.covers(address)) {
            return self.notes.add(Note::Suspended { opcode });
        }
        if self.registers.is_protected(address) {
            return self.fail(opcode, address, PROGRAM_ERROR);
        }
        let page = address & !(PAGE_BYTES - 1);
        self.array.program(page, &self.buffer);
        self.totals.pages_programmed += 1;
        let bytes = self.frame.data_bytes.min(PAGE_BYTES);
        self.start(Cycle::Program { address: page }, now, self.program_time(bytes));
    }

    /// A part of a page typically takes its share of the page's time, in units that the chip programs at once; the
    /// maximum is the same for any number of bytes. Rounded down to a picosecond.
    fn program_time(&self, bytes: u32) -> Ps {
        let page = self.times.page_program;
        if self.times.choice == BusyTimes::Maximum {
            return page;
        }
        let unit = self.part.program_unit_bytes;
        let units = u64::from(bytes.div_ceil(unit));
        Ps((u128::from(page.0) * u128::from(units) / u128::from(PAGE_BYTES / unit)) as u64)
    }

    fn program_otp(&mut self, opcode: u8, now: Ps) {
        if self.suspended_program.is_some() || self.suspended_erase.is_some() {
            return self.notes.add(Note::Suspended { opcode });
        }
        if self.otp[OTP_BYTES - 1] & OTP_UNLOCKED == 0 {
            return self.fail(opcode, self.frame.address, PROGRAM_ERROR);
        }
        for (cell, byte) in self.otp.iter_mut().zip(&self.buffer) {
            *cell &= byte;
        }
        self.start(Cycle::ProgramOtp, now, self.times.program_otp);
    }

    fn erase(&mut self, opcode: u8, unit: EraseUnit, now: Ps) {
        let (bytes, time) = match unit {
            EraseUnit::Subsector => (SUBSECTOR_BYTES, self.times.subsector_erase),
            EraseUnit::Sector => (SECTOR_BYTES, self.times.sector_erase),
            EraseUnit::Bulk => (self.part.size_bytes, self.times.bulk_erase),
        };
        let address = self.frame.address & !(bytes - 1);
        if self.suspended_program.is_some() || self.suspended_erase.is_some() {
            return self.notes.add(Note::Suspended { opcode });
        }
        let protected = match unit {
            EraseUnit::Bulk => self.registers.is_any_protected(),
            EraseUnit::Subsector | EraseUnit::Sector => self.registers.is_protected(address),
        };
        if protected {
            return self.fail(opcode, address, ERASE_ERROR);
        }
        self.array.erase(address, bytes);
        match unit {
            EraseUnit::Subsector => self.totals.subsectors_erased += 1,
            EraseUnit::Sector => self.totals.sectors_erased += 1,
            EraseUnit::Bulk => self.totals.bulk_erases += 1,
        }
        self.start(Cycle::Erase { unit, address }, now, time);
    }

    /// The command is not executed; the latch stays set, and the flags tell why.
    fn fail(&mut self, opcode: u8, address: u32, error: u8) {
        self.registers.errors |= error | PROTECTION_ERROR;
        self.notes.add(Note::Protected { opcode, address });
    }

    fn start(&mut self, cycle: Cycle, now: Ps, time: Ps) {
        self.busy = Some(Busy { cycle, until: now.saturating_add(time) });
    }

    /// A program, subsector or sector erase stops; the chip is ready after the latency. A cycle that would end sooner
    /// just ends.
    fn suspend(&mut self, opcode: u8, now: Ps) {
        let Some(Busy { cycle, until }) = self.busy else {
            return self.notes.add(Note::Nothing { opcode });
        };
        let (slot, latency) = match cycle {
            Cycle::Program { .. } => (&mut self.suspended_program, self.times.program_suspend),
            Cycle::Erase { unit: EraseUnit::Subsector | EraseUnit::Sector, .. } => {
                (&mut self.suspended_erase, self.times.erase_suspend)
            }
            _ => return self.notes.add(Note::Nothing { opcode }),
        };
        let remaining = until.saturating_sub(now);
        if remaining > latency {
            *slot = Some(Suspended { cycle, remaining });
            self.registers.write_enabled = false;
            self.start(Cycle::Suspend, now, latency);
        }
    }

    /// The cycle suspended last goes on: a program can only have been suspended after an erase.
    fn resume(&mut self, opcode: u8, now: Ps) {
        match self.suspended_program.take().or_else(|| self.suspended_erase.take()) {
            Some(Suspended { cycle, remaining }) => self.start(cycle, now, remaining),
            None => self.notes.add(Note::Nothing { opcode }),
        }
    }

    /// The fastest clock that the board allows, as the shortest time of 0 to 32 clocks.
    pub(super) fn shortest_spans(max_clock: Option<crate::time::Hz>) -> [Ps; 33] {
        std::array::from_fn(|clocks| max_clock.map_or(Ps::ZERO, |hz| hz.ps_at_floor(Cycles(clocks as u64))))
    }
}
