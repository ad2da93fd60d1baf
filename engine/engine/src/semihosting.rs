//! Semihosting: calls from firmware to a debugger, which the simulator stands in for.
//!
//! "Semihosting for AArch32 and AArch64" (Arm, 2.0) defines the operations, and all are supported; "RISC-V Semihosting"
//! (0.4) uses the same ones and adds the call sequence. MIPS programs have operations of their own (`isa/mips/uhi.rs`)
//! with the same host resources.
//!
//! The firmware gets only the host resources that the user provides ([`host::Host`]). Its clock is simulated time, its
//! date begins with 1970, and the C library finds its heap by itself; so a run depends on files and input alone.

pub mod program_memory;
mod transfer;

use std::io::SeekFrom;

use crate::bus::Bus;
use crate::host::errno::Errno;
use crate::host::folder::Opening;
use crate::host::input::Got;
use crate::host::{Host, STANDARD, TERMINAL_INPUT, shown};
use program_memory::Caller;

const SYS_OPEN: u32 = 0x01;
const SYS_CLOSE: u32 = 0x02;
const SYS_WRITEC: u32 = 0x03;
const SYS_WRITE0: u32 = 0x04;
const SYS_WRITE: u32 = 0x05;
const SYS_READ: u32 = 0x06;
const SYS_READC: u32 = 0x07;
const SYS_ISERROR: u32 = 0x08;
const SYS_ISTTY: u32 = 0x09;
const SYS_SEEK: u32 = 0x0a;
const SYS_FLEN: u32 = 0x0c;
const SYS_TMPNAM: u32 = 0x0d;
const SYS_REMOVE: u32 = 0x0e;
const SYS_RENAME: u32 = 0x0f;
const SYS_CLOCK: u32 = 0x10;
const SYS_TIME: u32 = 0x11;
const SYS_SYSTEM: u32 = 0x12;
const SYS_ERRNO: u32 = 0x13;
const SYS_GET_CMDLINE: u32 = 0x15;
const SYS_HEAPINFO: u32 = 0x16;
const SYS_EXIT: u32 = 0x18;
const SYS_EXIT_EXTENDED: u32 = 0x20;
const SYS_ELAPSED: u32 = 0x30;
const SYS_TICKFREQ: u32 = 0x31;

const FAILED: u32 = u32::MAX;
/// A hundredth of a second, the unit of SYS_CLOCK.
const CENTISECOND_PS: u64 = 10_000_000_000;
const SECOND_PS: u64 = 1_000_000_000_000;
/// A tick of SYS_ELAPSED is a nanosecond.
const TICK_PS: u64 = 1000;
const TICKS_HZ: u32 = 1_000_000_000;

/// slli x0, x0, 0x1f; ebreak; srai x0, x0, 7.
const RISCV_CALL: [u32; 3] = [0x01f0_1013, 0x0010_0073, 0x4070_5013];

/// The answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The value for the first register.
    Value(u32),
    /// The firmware ends with this status.
    Exit(i32),
    /// Not yet: the host has no input. The core stops, and repeats the call when it runs again.
    Wait,
}

/// True if the ebreak at `pc` belongs to a semihosting call.
pub fn is_riscv_call(bus: &Bus, pc: u32) -> bool {
    let words = [pc.wrapping_sub(4), pc, pc.wrapping_add(4)].map(|addr| bus.peek_word(addr));
    words == RISCV_CALL.map(Some)
}

/// Runs a call with access to the host, and records whether it waits.
pub(crate) fn with_host(caller: &mut Caller, call: impl FnOnce(&mut Host, &mut Caller) -> Answer) -> Answer {
    let mut host = std::mem::take(&mut caller.bus.host);
    let answer = call(&mut host, caller);
    host.waiting = answer == Answer::Wait;
    caller.bus.host = host;
    answer
}

/// Runs operation `operation` with its parameter.
pub fn call(mut caller: Caller, operation: u32, parameter: u32) -> Answer {
    with_host(&mut caller, |host, caller| {
        run(host, caller, operation, parameter).unwrap_or_else(|error| {
            host.errno = Some(error);
            Answer::Value(FAILED)
        })
    })
}

fn run(host: &mut Host, caller: &mut Caller, operation: u32, parameter: u32) -> Result<Answer, Errno> {
    let value = match operation {
        SYS_OPEN => open(host, caller, parameter)?,
        SYS_CLOSE => host.close(caller.word(parameter)?).map(|()| 0)?,
        SYS_WRITEC => host.write(caller, STANDARD[1], parameter, 1, None).map(|_| 0)?,
        SYS_WRITE0 => {
            let text = caller.text(parameter)?;
            caller.bus.print(&text);
            0
        }
        SYS_WRITE => write(host, caller, parameter)?,
        SYS_READ => return read(host, caller, parameter),
        SYS_READC => return read_character(host),
        SYS_ISERROR => u32::from((caller.word(parameter)? as i32) < 0),
        SYS_ISTTY => u32::from(host.is_terminal(caller.word(parameter)?)?),
        SYS_SEEK => {
            let [handle, place] = caller.words(parameter)?;
            host.seek(handle, SeekFrom::Start(place.into())).map(|_| 0)?
        }
        SYS_FLEN => {
            let length = host.length(caller.word(parameter)?)?;
            // The largest positive number.
            i32::try_from(length).map_err(|_| Errno::TOO_LARGE)?.unsigned_abs()
        }
        SYS_TMPNAM => temporary_name(host, caller, parameter)?,
        SYS_REMOVE => {
            let [name, length] = caller.words(parameter)?;
            host.remove(&caller.name(name, length)?).map(|()| 0)?
        }
        SYS_RENAME => {
            let [from, from_length, to, to_length] = caller.words(parameter)?;
            host.rename(&caller.name(from, from_length)?, &caller.name(to, to_length)?).map(|()| 0)?
        }
        SYS_CLOCK => (caller.now.0 / CENTISECOND_PS) as u32,
        SYS_TIME => (caller.now.0 / SECOND_PS) as u32,
        SYS_SYSTEM => {
            let [command, length] = caller.words(parameter)?;
            let command = shown(&caller.name(command, length)?);
            host.note(format!("semihosting: the command {command} was not run: no command of the host's ever is"));
            return Err(Errno::NOT_THERE);
        }
        SYS_ERRNO => host.errno.map_or(0, |error| error.0),
        SYS_GET_CMDLINE => command_line(host, caller, parameter)?,
        SYS_HEAPINFO => {
            // 0 is "not known": start-up code then uses the linker script's heap and stack.
            let block = caller.word(parameter)?;
            caller.write(block, &[0; 16]).map(|()| 0)?
        }
        SYS_EXIT => return Ok(exit(host, parameter, None)),
        SYS_EXIT_EXTENDED => {
            let [reason, status] = caller.words(parameter).unwrap_or_default();
            return Ok(exit(host, reason, Some(status)));
        }
        SYS_ELAPSED => caller.write(parameter, &(caller.now.0 / TICK_PS).to_le_bytes()).map(|()| 0)?,
        SYS_TICKFREQ => TICKS_HZ,
        _ => return Err(Errno::NOT_THERE),
    };
    Ok(Answer::Value(value))
}

fn open(host: &mut Host, caller: &Caller, parameter: u32) -> Result<u32, Errno> {
    let [name, mode, length] = caller.words(parameter)?;
    let opening = Opening::of_mode(mode).ok_or(Errno::INVALID)?;
    match (caller.name(name, length)?.as_slice(), mode) {
        (b":tt", 0..=3) => Ok(TERMINAL_INPUT),
        (b":tt", 4..=7) => Ok(STANDARD[1]),
        (b":tt", _) => Ok(STANDARD[2]),
        (b":semihosting-features", 0 | 1) => host.open_features(),
        (b":semihosting-features", _) => Err(Errno::ACCESS),
        (path, _) => host.open(path, opening),
    }
}

/// Returns the number of bytes that were not written.
fn write(host: &mut Host, caller: &mut Caller, parameter: u32) -> Result<u32, Errno> {
    let [handle, from, length] = caller.words(parameter)?;
    match host.write(caller, handle, from, length, None) {
        Ok(written) => Ok(length - written),
        Err(error) => {
            host.errno = Some(error);
            Ok(length)
        }
    }
}

/// Returns the number of bytes that were not read: all of them at the end.
fn read(host: &mut Host, caller: &mut Caller, parameter: u32) -> Result<Answer, Errno> {
    let [handle, to, length] = caller.words(parameter)?;
    Ok(match host.read(caller, handle, to, length, None)? {
        Got::Bytes(count) => Answer::Value(length - count as u32),
        Got::Nothing => Answer::Wait,
    })
}

/// Returns the next character of standard input. The specification does not define an end: -1 is used, as by C's
/// getchar.
fn read_character(host: &mut Host) -> Result<Answer, Errno> {
    let mut character = [0];
    Ok(match host.read_some(STANDARD[0], &mut character, None)? {
        Got::Bytes(0) => Answer::Value(FAILED),
        Got::Bytes(_) => Answer::Value(character[0].into()),
        Got::Nothing => Answer::Wait,
    })
}

/// A name for each number, always the same.
fn temporary_name(host: &Host, caller: &mut Caller, parameter: u32) -> Result<u32, Errno> {
    let [to, number, length] = caller.words(parameter)?;
    if !host.has_folder() {
        return Err(Errno::NO_ENTRY);
    }
    let name = format!("semihosting-{}.tmp\0", number & 0xff);
    if name.len() > length as usize {
        return Err(Errno::INVALID);
    }
    caller.write(to, name.as_bytes()).map(|()| 0)
}

fn command_line(host: &mut Host, caller: &mut Caller, parameter: u32) -> Result<u32, Errno> {
    let [to, room] = caller.words(parameter)?;
    let words: Vec<Vec<u8>> = host.arguments().iter().map(|argument| quoted(argument)).collect();
    let mut line = words.join(&b' ');
    let length = line.len() as u32;
    line.push(0);
    if length >= room {
        host.note(format!("semihosting: the command line has {length} bytes, and the firmware has room for {room}"));
        return Err(Errno::INVALID);
    }
    caller.write(to, &line)?;
    caller.write(parameter.wrapping_add(4), &length.to_le_bytes()).map(|()| 0)
}

/// An argument in the form that C libraries' start-up code parses: one with spaces is in quotes.
fn quoted(argument: &[u8]) -> Vec<u8> {
    let begins_quoted = argument.first().is_some_and(|first| b"\"'".contains(first));
    if !argument.is_empty() && !begins_quoted && !argument.iter().any(u8::is_ascii_whitespace) {
        return argument.to_vec();
    }
    let quote = if argument.contains(&b'"') { b'\'' } else { b'"' };
    [&[quote], argument, &[quote]].concat()
}

/// ADP_Stopped_ApplicationExit: the application ended normally.
const APPLICATION_EXIT: u32 = 0x2_0026;
/// The status of a program that ended for another reason.
const FAILURE: i32 = 1;

/// Other reasons, with the names after "ADP_Stopped_".
const REASONS: [(u32, &str); 17] = [
    (0x2_0000, "BranchThroughZero"),
    (0x2_0001, "UndefinedInstr"),
    (0x2_0002, "SoftwareInterrupt"),
    (0x2_0003, "PrefetchAbort"),
    (0x2_0004, "DataAbort"),
    (0x2_0005, "AddressException"),
    (0x2_0006, "IRQ"),
    (0x2_0007, "FIQ"),
    (0x2_0020, "BreakPoint"),
    (0x2_0021, "WatchPoint"),
    (0x2_0022, "StepComplete"),
    (0x2_0023, "RunTimeErrorUnknown"),
    (0x2_0024, "InternalError"),
    (0x2_0025, "UserInterruption"),
    (0x2_0027, "StackOverflow"),
    (0x2_0028, "DivisionByZero"),
    (0x2_0029, "OSSpecific"),
];

/// The end of a program: with its own status, if it gives one and ended normally. Any other reason is noted for the
/// user.
fn exit(host: &mut Host, reason: u32, status: Option<u32>) -> Answer {
    if reason == APPLICATION_EXIT {
        return Answer::Exit(status.unwrap_or(0) as i32);
    }
    let name = REASONS.iter().find(|(code, _)| *code == reason);
    let name = name.map_or("a reason unknown to semihosting".to_owned(), |(_, name)| format!("ADP_Stopped_{name}"));
    host.note(format!("semihosting: the firmware ended with {name} ({reason:#x}): status {FAILURE}"));
    Answer::Exit(FAILURE)
}

#[cfg(test)]
mod tests;
