//! Semihosting calls of MIPS programs: "MIPS Unified Hosting Interface" (MD01069).
//!
//! `sdbbp 1` with the operation in $25 and arguments in $4 to $7; the answer is in $2, and an error number in $3. Not
//! implemented: the range of RAM (programs have it from their linker script), hard links, and boot loaders' requests.

use std::io::SeekFrom;

use crate::host::errno::Errno;
use crate::host::folder::Opening;
use crate::host::input::Got;
use crate::host::{Host, STANDARD, shown};
use crate::semihosting::Answer;
use crate::semihosting::program_memory::Caller;
use crate::semihosting::with_host;

/// sdbbp without its code.
pub(super) const SDBBP: u32 = 0x7000_003f;

const EXIT: u32 = 1;
const OPEN: u32 = 2;
const CLOSE: u32 = 3;
const READ: u32 = 4;
const WRITE: u32 = 5;
const LSEEK: u32 = 6;
const UNLINK: u32 = 7;
const FSTAT: u32 = 8;
const ARGC: u32 = 9;
const ARGNLEN: u32 = 10;
const ARGN: u32 = 11;
const PLOG: u32 = 13;
const ASSERT: u32 = 14;
const EXCEPTION: u32 = 15;
const PREAD: u32 = 19;
const PWRITE: u32 = 20;

/// Flags of open; the low two bits are 0 to read, 1 to write, 2 for both.
const O_APPEND: u32 = 1 << 3;
const O_CREAT: u32 = 1 << 9;
const O_TRUNC: u32 = 1 << 10;
const O_EXCL: u32 = 1 << 11;
/// Paths of standard input, output and error.
const DEVICES: [&[u8]; 3] = [b"/dev/stdin", b"/dev/stdout", b"/dev/stderr"];
/// Files and the console in st_mode, with permissions to read and write.
const S_IFREG: u32 = 0o100_666;
const S_IFCHR: u32 = 0o020_666;
/// Size of the interface's stat, and offsets in it: the rest is 0, including times, which would be the host's.
const STAT_BYTES: usize = 104;
const ST_MODE: usize = 4;
const ST_NLINK: usize = 8;
const ST_SIZE: usize = 16;
const ST_BLKSIZE: usize = 72;
const ST_BLOCKS: usize = 80;
const BLOCK_BYTES: u64 = 512;

/// Exit statuses of a program that ends by an assertion (as after abort in a shell), and by an exception that it can't
/// handle (as set by its C library).
const ASSERTION_STATUS: i32 = 134;
const EXCEPTION_STATUS: i32 = 255;
const FAILED: u32 = u32::MAX;

const V0: usize = 2;
const V1: usize = 3;
const A0: usize = 4;
const T9: usize = 25;

/// Makes a call; registers get the answer.
pub(super) fn call(mut caller: Caller, x: &mut [u32; 256]) -> Answer {
    let arguments = [x[A0], x[A0 + 1], x[A0 + 2], x[A0 + 3]];
    with_host(&mut caller, |host, caller| match run(host, caller, x[T9], arguments) {
        Ok(Answer::Value(value)) => {
            x[V0] = value;
            Answer::Value(value)
        }
        Ok(other) => other,
        Err(error) => {
            (x[V0], x[V1]) = (FAILED, error.0);
            Answer::Value(FAILED)
        }
    })
}

fn run(host: &mut Host, caller: &mut Caller, operation: u32, [a0, a1, a2, a3]: [u32; 4]) -> Result<Answer, Errno> {
    let value = match operation {
        EXIT => return Ok(Answer::Exit(a0 as i32)),
        OPEN => open(host, &caller.text(a0)?, a1)?,
        CLOSE => host.close(a0).map(|()| 0)?,
        READ => return read(host, caller, [a0, a1, a2], None),
        PREAD => return read(host, caller, [a0, a1, a2], Some(a3.into())),
        WRITE => host.write(caller, a0, a1, a2, None)?,
        PWRITE => host.write(caller, a0, a1, a2, Some(a3.into()))?,
        LSEEK => seek(host, a0, a1 as i32, a2)?,
        UNLINK => host.remove(&caller.text(a0)?).map(|()| 0)?,
        FSTAT => caller.write(a1, &stat(host, a0)?).map(|()| 0)?,
        ARGC => host.arguments().len() as u32,
        ARGNLEN => argument(host, a0)?.len() as u32,
        ARGN => caller.write(a1, &[argument(host, a0)?, b"\0"].concat()).map(|()| 0)?,
        PLOG => {
            let text = with_number(&caller.text(a0)?, a1 as i32);
            caller.bus.print(&text);
            text.len() as u32
        }
        ASSERT => {
            let (what, file) = (shown(&caller.text(a0)?), shown(&caller.text(a1)?));
            let line = a2 as i32;
            host.note(format!("semihosting: assertion {what} failed, {file}, line {line}: status {ASSERTION_STATUS}"));
            return Ok(Answer::Exit(ASSERTION_STATUS));
        }
        EXCEPTION => {
            let status = EXCEPTION_STATUS;
            host.note(format!("semihosting: the firmware has an exception that it can't handle: status {status}"));
            return Ok(Answer::Exit(EXCEPTION_STATUS));
        }
        _ => return Err(Errno::NOT_THERE),
    };
    Ok(Answer::Value(value))
}

fn open(host: &mut Host, path: &[u8], flags: u32) -> Result<u32, Errno> {
    if let Some(device) = DEVICES.iter().position(|device| *device == path) {
        return Ok(STANDARD[device]);
    }
    let (access, has) = (flags & 3, |flag| flags & flag != 0);
    let opening = Opening {
        read: access != 1,
        write: access != 0,
        append: has(O_APPEND),
        create: has(O_CREAT),
        // A file that is not opened for writing keeps its contents.
        truncate: has(O_TRUNC) && access != 0,
        exclusive: has(O_EXCL),
    };
    host.open(path, opening)
}

fn read(
    host: &mut Host,
    caller: &mut Caller,
    [handle, to, length]: [u32; 3],
    at: Option<u64>,
) -> Result<Answer, Errno> {
    Ok(match host.read(caller, handle, to, length, at)? {
        Got::Bytes(count) => Answer::Value(count as u32),
        Got::Nothing => Answer::Wait,
    })
}

fn seek(host: &mut Host, handle: u32, by: i32, whence: u32) -> Result<u32, Errno> {
    let to = match whence {
        0 => SeekFrom::Start(by.unsigned_abs().into()),
        1 => SeekFrom::Current(by.into()),
        2 => SeekFrom::End(by.into()),
        _ => return Err(Errno::INVALID),
    };
    if whence == 0 && by < 0 {
        return Err(Errno::INVALID);
    }
    u32::try_from(host.seek(handle, to)?).map_err(|_| Errno::TOO_LARGE)
}

fn stat(host: &mut Host, handle: u32) -> Result<[u8; STAT_BYTES], Errno> {
    let mode = if host.is_terminal(handle)? { S_IFCHR } else { S_IFREG };
    let size = host.length(handle)?;
    let mut stat = [0; STAT_BYTES];
    let mut put = |place: usize, bytes: &[u8]| stat[place..place + bytes.len()].copy_from_slice(bytes);
    put(ST_MODE, &mode.to_le_bytes());
    put(ST_NLINK, &1_u16.to_le_bytes());
    put(ST_SIZE, &size.to_le_bytes());
    put(ST_BLKSIZE, &BLOCK_BYTES.to_le_bytes());
    put(ST_BLOCKS, &size.div_ceil(BLOCK_BYTES).to_le_bytes());
    Ok(stat)
}

fn argument(host: &Host, index: u32) -> Result<&[u8], Errno> {
    host.arguments().get(index as usize).map(Vec::as_slice).ok_or(Errno::INVALID)
}

/// A text with a number in place of its first "%d".
fn with_number(text: &[u8], number: i32) -> Vec<u8> {
    match text.windows(2).position(|place| place == b"%d") {
        Some(at) => [&text[..at], number.to_string().as_bytes(), &text[at + 2..]].concat(),
        None => text.to_vec(),
    }
}
