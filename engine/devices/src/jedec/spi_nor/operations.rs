//! The chip's internal operations: what a complete frame starts, and how long it takes.

use super::*;
use engine::activity::{Activity, Kind};

/// Bytes of the one-time programmable area, its control byte included.
pub(super) const OTP_BYTES: usize = 65;
/// OTP control byte, bit 0: 0 locks the area for good.
const OTP_UNLOCKED: u8 = 1;

/// The writes that are enabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
pub(super) enum Latch {
    /// Nothing.
    #[default]
    Closed,
    /// Volatile registers, by the command for all of them.
    Volatile,
    /// Anything: the write enable latch is set.
    Open,
}

/// A self-timed cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
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
    /// Leaving deep power-down.
    Release,
    /// An error that must be cleared first.
    Failed,
}

impl Cycle {
    fn name(self) -> &'static str {
        self.activity().name
    }

    /// The activity as which the chip records it.
    fn activity(self) -> &'static Activity {
        match self {
            Cycle::Program { .. } => &PAGE_PROGRAM,
            Cycle::ProgramOtp => &OTP_PROGRAM,
            Cycle::Erase { unit, .. } => &ERASES[unit as usize],
            Cycle::WriteRegister => &REGISTER_WRITE,
            Cycle::Suspend => &SUSPENSION,
            Cycle::Release => &RELEASE,
            Cycle::Failed => &FAILED,
        }
    }

    /// True if it is an erase of the unit with byte `at`.
    fn covers(self, at: u32, size_bytes: u32) -> bool {
        let Cycle::Erase { unit, address } = self else { return false };
        address / unit.bytes(size_bytes) == at / unit.bytes(size_bytes)
    }
}

/// A self-timed cycle, as the chip records it.
const fn cycle(name: &'static str, meaning: &'static str) -> Activity {
    Activity::new(Kind::Busy, name, meaning)
}

/// An erase, as the chip records it.
const fn erase(name: &'static str) -> Activity {
    cycle(name, "from the rise of S# on; address and size")
}

static PAGE_PROGRAM: Activity =
    cycle("page program", "from the rise of S# on; the page's address, and how many bytes came");
static OTP_PROGRAM: Activity = cycle("program of the OTP area", "from the rise of S# on");
static ERASES: [Activity; 4] =
    [erase("subsector erase"), erase("half block erase"), erase("sector erase"), erase("bulk erase")];
static REGISTER_WRITE: Activity = cycle("register write", "of a nonvolatile register, from the rise of S# on");
static SUSPENSION: Activity = cycle("suspension", "a program or erase is being stopped");
static RELEASE: Activity = cycle("release from deep power-down", "from the rise of S# on");
static FAILED: Activity =
    cycle("failed program or erase (30h clears it)", "an error, up to where the firmware clears it");

/// The activities that the chip records.
pub(super) const ACTIVITIES: &[&Activity] = &[
    &PAGE_PROGRAM,
    &OTP_PROGRAM,
    &ERASES[0],
    &ERASES[1],
    &ERASES[2],
    &ERASES[3],
    &REGISTER_WRITE,
    &SUSPENSION,
    &RELEASE,
    &FAILED,
];

/// A cycle in progress.
#[derive(Clone, Copy, Debug, State, Fresh, Polled)]
pub(super) struct Busy {
    pub cycle: Cycle,
    #[poll(until)]
    pub until: Ps,
}

/// A suspended cycle and the time that it still needs.
#[derive(Clone, Copy, Debug, State, Fresh, Polled)]
pub(super) struct Suspended {
    cycle: Cycle,
    remaining: Ps,
}

/// The units that are erased, with the names of their totals.
pub(super) const ERASED: [(EraseUnit, &str); 4] = [
    (EraseUnit::Subsector, "subsectors_erased"),
    (EraseUnit::HalfBlock, "half_blocks_erased"),
    (EraseUnit::Sector, "sectors_erased"),
    (EraseUnit::Bulk, "bulk_erases"),
];
/// Why a command is ignored while something is suspended.
const SUSPENDED: &str = "not allowed while a program or erase there is suspended";
/// Why a suspend or resume is ignored.
const NOTHING: &str = "there is nothing to suspend or resume";

impl Flash {
    /// Notes that a command is ignored.
    #[cold]
    pub(super) fn note_ignored(&mut self, opcode: u8, why: &str) {
        self.notes.add(format!("command {opcode:02X}h ignored: {why}"));
    }

    /// Brings the time-dependent state up to `now`.
    pub(super) fn update(&mut self, now: Ps) {
        if let Some(busy) = self.busy
            && now >= busy.until
        {
            self.busy = None;
            self.latch = Latch::Closed;
        }
    }

    /// The cycle with which the chip is busy, in words.
    pub(super) fn busy_with(&self) -> Option<&'static str> {
        self.busy.map(|busy| busy.cycle.name())
    }

    /// The cycle that is in progress at `at`, which is not before the last update.
    fn busy_at(&self, at: Ps) -> Option<Cycle> {
        self.busy.filter(|busy| at < busy.until).map(|busy| busy.cycle)
    }

    /// The chip's condition at `at`, for the registers.
    pub(super) fn condition(&self, at: Ps) -> Condition {
        let busy = self.busy_at(at);
        // A suspension is visible once the cycle has stopped.
        let stopped = busy != Some(Cycle::Suspend);
        Condition {
            busy: busy.is_some(),
            // The end of a cycle clears the latch.
            write_enabled: self.latch == Latch::Open && busy.is_some() == self.busy.is_some(),
            erase_suspended: stopped && self.suspended_erase.is_some(),
            program_suspended: stopped && self.suspended_program.is_some(),
        }
    }

    /// Ends a frame whose command was decoded.
    pub(super) fn finish_frame(&mut self, command: &'static Command, now: Ps) {
        self.update(now);
        let reset_enabled = std::mem::take(&mut self.reset_enabled);
        let opcode = command.opcode;
        if let Action::Read(source) = command.action {
            return self.finish_read(command, source, now);
        }
        self.changes += 1;
        if let Err(expected) = self.check_length(command) {
            return self.note_ignored(opcode, &format!("its frame must end {expected}"));
        }
        if command.action.needs_write_enable() && !self.may_write(command.action) {
            return self.note_ignored(opcode, "no WRITE ENABLE (06h) before it");
        }
        match command.action {
            Action::Read(_) => {}
            Action::ResetEnable => self.reset_enabled = true,
            Action::ResetMemory if reset_enabled => self.reset(now),
            Action::ResetMemory => self.note_ignored(opcode, "no RESET ENABLE (66h) just before it"),
            Action::WriteEnable => self.latch = Latch::Open,
            Action::WriteEnableVolatile => self.latch = Latch::Volatile,
            Action::WriteDisable => self.latch = Latch::Closed,
            Action::Write(target) => self.write_register(target, now),
            Action::ClearFlagStatus => self.registers.clear_errors(),
            Action::ClearStatus => self.clear_status(now),
            Action::Program => self.program(opcode, now),
            Action::ProgramOtp => self.program_otp(opcode, now),
            Action::Erase(unit) => self.erase(opcode, unit, now),
            Action::Suspend => self.suspend(opcode, now),
            Action::Resume => self.resume(opcode, now),
            Action::PowerDown => self.asleep = true,
            Action::ModeBitReset => {}
        }
    }

    /// True if the latch allows the action, or the action does not need it.
    fn may_write(&self, action: Action) -> bool {
        match self.latch {
            Latch::Closed => false,
            Latch::Volatile => action == Action::Write(Target::Registers),
            Latch::Open => true,
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
            Action::Write(target) => {
                let (fewest, most, expected) = target.bytes();
                (frame.phase == Phase::Input && (fewest..=most).contains(&frame.data_bytes), expected)
            }
            _ if command.address.is_some() => (frame.phase == Phase::Complete, "right after the address"),
            _ => (frame.phase == Phase::Complete, "right after the command"),
        };
        if whole && fits { Ok(()) } else { Err(expected) }
    }

    /// After a read from the array, the following frames may continue it; a read of the device ID ends deep power-down.
    fn finish_read(&mut self, command: &'static Command, source: Source, now: Ps) {
        if source == Source::DeviceId && std::mem::take(&mut self.asleep) {
            return self.start(Cycle::Release, now, self.times.release);
        }
        if source != Source::Array {
            return;
        }
        let frame = &self.frame;
        let end = ReadEnd {
            rate: command.rate,
            confirmation: frame.confirmation,
            mode: frame.mode.filter(|_| frame.phase == Phase::Output(source)),
            continuing: frame.continuing,
        };
        let continues = (self.registers.set.continues)(&mut self.registers, end);
        let before = std::mem::replace(&mut self.xip, continues.then_some(command));
        // The end of a continuous read may be in a register as well.
        let opcode = |command: Option<&'static Command>| command.map(|command| command.opcode);
        self.changes += u64::from(opcode(before) != opcode(self.xip));
    }

    /// RESET MEMORY, and the start of a run.
    pub(super) fn reset(&mut self, now: Ps) {
        self.cut_busy(now);
        match self.busy.take() {
            None | Some(Busy { cycle: Cycle::Failed, .. }) => {}
            Some(busy) => self.notes.add(format!(
                "reset during a {}: a real chip's contents are undefined there, here the cycle counts as done",
                busy.cycle.name()
            )),
        }
        self.suspended_program = None;
        self.suspended_erase = None;
        self.latch = Latch::Closed;
        self.registers.reset();
        self.xip = (self.registers.set.opcode_at_power_up)(&self.registers)
            .and_then(|opcode| self.part.family.commands.find(opcode));
    }

    /// Clears the errors, the latch and the busy state after an error.
    fn clear_status(&mut self, now: Ps) {
        self.registers.clear_errors();
        if self.busy.is_none_or(|busy| busy.cycle == Cycle::Failed) {
            self.cut_busy(now);
            self.busy = None;
            self.latch = Latch::Closed;
        }
    }

    fn write_register(&mut self, target: Target, now: Ps) {
        let before = self.registers.protocol();
        let data = &self.buffer[..self.frame.data_bytes.min(PAGE_BYTES) as usize];
        let volatile_only = self.latch == Latch::Volatile;
        let (time, note) = self.registers.write(Writing { target, address: self.frame.address, data, volatile_only });
        if let Some(note) = note {
            self.notes.add(note);
        }
        match time {
            None => self.latch = Latch::Closed,
            Some(of) => self.start(Cycle::WriteRegister, now, of(&self.times)),
        }
        let protocol = self.registers.protocol();
        if protocol != before {
            let lines = protocol as u32;
            self.notes.add(format!("commands, addresses and data now go over {lines} line(s)"));
        }
    }

    fn program(&mut self, opcode: u8, now: Ps) {
        let address = self.frame.address;
        if self.suspended_program.is_some()
            || self.suspended_erase.is_some_and(|erase| erase.cycle.covers(address, self.part.size_bytes))
        {
            return self.note_ignored(opcode, SUSPENDED);
        }
        if self.registers.is_protected(address) {
            return self.fail(opcode, address, Failure::Program, now);
        }
        let page = address & !(PAGE_BYTES - 1);
        Arc::make_mut(&mut self.array).program(page, &self.buffer);
        self.pages_programmed += 1;
        let bytes = self.frame.data_bytes.min(PAGE_BYTES);
        self.start(Cycle::Program { address: page }, now, self.times.program(bytes));
    }

    fn program_otp(&mut self, opcode: u8, now: Ps) {
        if self.suspended_program.is_some() || self.suspended_erase.is_some() {
            return self.note_ignored(opcode, SUSPENDED);
        }
        if self.otp[OTP_BYTES - 1] & OTP_UNLOCKED == 0 {
            return self.fail(opcode, self.frame.address, Failure::Program, now);
        }
        for (cell, byte) in self.otp.iter_mut().zip(&self.buffer) {
            *cell &= byte;
        }
        self.start(Cycle::ProgramOtp, now, self.times.program_otp);
    }

    fn erase(&mut self, opcode: u8, unit: EraseUnit, now: Ps) {
        let bytes = unit.bytes(self.part.size_bytes);
        let address = self.frame.address & !(bytes - 1);
        if self.suspended_program.is_some() || self.suspended_erase.is_some() {
            return self.note_ignored(opcode, SUSPENDED);
        }
        let protected = match unit {
            EraseUnit::Bulk => self.registers.is_any_protected(),
            _ => self.registers.is_protected(address),
        };
        if protected {
            return self.fail(opcode, address, Failure::Erase, now);
        }
        Arc::make_mut(&mut self.array).erase(address, bytes);
        self.erased[unit as usize] += 1;
        self.start(Cycle::Erase { unit, address }, now, self.times.erase[unit as usize]);
    }

    /// Refuses a command; the latch stays set, and the flags have the reason.
    fn fail(&mut self, opcode: u8, address: u32, failure: Failure, now: Ps) {
        self.notes.add(format!("command {opcode:02X}h failed: {address:#08x} is in a protected sector"));
        if self.registers.fail(failure) {
            self.start(Cycle::Failed, now, Ps::MAX);
        }
    }

    fn start(&mut self, cycle: Cycle, now: Ps, time: Ps) {
        let until = now.saturating_add(time);
        self.cut_busy(now);
        self.scope.span(cycle.activity(), now, until, self.detail(cycle));
        self.busy = Some(Busy { cycle, until });
    }

    /// Ends the record of a cycle in progress at `now`.
    fn cut_busy(&self, now: Ps) {
        if let Some(busy) = self.busy.filter(|busy| busy.until > now) {
            self.scope.cut(busy.cycle.activity(), now);
        }
    }

    fn detail(&self, cycle: Cycle) -> Detail {
        match cycle {
            Cycle::Program { address } => Detail::Address { address, bytes: self.frame.data_bytes.min(PAGE_BYTES) },
            Cycle::Erase { unit, address } => Detail::Address { address, bytes: unit.bytes(self.part.size_bytes) },
            _ => Detail::None,
        }
    }

    /// Stops a program, subsector erase or sector erase; the chip is ready after the latency. A cycle that would end
    /// before that ends normally.
    fn suspend(&mut self, opcode: u8, now: Ps) {
        let Some(Busy { cycle, until }) = self.busy else { return self.note_ignored(opcode, NOTHING) };
        let (slot, latency) = match cycle {
            Cycle::Program { .. } => (&mut self.suspended_program, self.times.program_suspend),
            Cycle::Erase { unit, .. } if unit != EraseUnit::Bulk => {
                (&mut self.suspended_erase, self.times.erase_suspend)
            }
            _ => return self.note_ignored(opcode, NOTHING),
        };
        let remaining = until.saturating_sub(now);
        if remaining > latency {
            *slot = Some(Suspended { cycle, remaining });
            self.latch = Latch::Closed;
            self.start(Cycle::Suspend, now, latency);
        }
    }

    /// Resumes the cycle that was suspended last: a program can only have been suspended after an erase.
    fn resume(&mut self, opcode: u8, now: Ps) {
        match self.suspended_program.take().or_else(|| self.suspended_erase.take()) {
            Some(Suspended { cycle, remaining }) => self.start(cycle, now, remaining),
            None => self.note_ignored(opcode, NOTHING),
        }
    }
}
