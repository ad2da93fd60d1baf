//! Semihosting as MIPS programs ask for it: "MIPS Unified Hosting Interface" (MD01069).
//!
//! `sdbbp 1` with the operation in $25 and arguments in $4 to $7; the answer goes to $2, and an error number to $3.

use super::core::Mips;
use super::system::System;
use crate::bus::Bus;

/// sdbbp without its code.
pub(super) const SDBBP: u32 = 0x7000_003f;

const EXIT: u32 = 1;
const OPEN: u32 = 2;
const CLOSE: u32 = 3;
const WRITE: u32 = 5;
const PLOG: u32 = 13;
/// Handles of the console: standard output and standard error.
const CONSOLE: [u32; 2] = [1, 2];
const FAILED: u32 = u32::MAX;
/// Error numbers of the interface: bad handle, bad address, function not there.
const EBADF: u32 = 9;
const EFAULT: u32 = 14;
const ENOSYS: u32 = 88;
/// Longest text that a call may print.
const LONGEST_TEXT_BYTES: u32 = 1 << 16;

const V0: usize = 2;
const V1: usize = 3;
const A0: usize = 4;
const A1: usize = 5;
const A2: usize = 6;
const T9: usize = 25;

/// Runs a call. Gives the status with which the program ends, if it does. What needs a host's files fails.
pub(super) fn call(core: &mut Mips, bus: &mut Bus) -> Option<i32> {
    let [handle, from, length] = [A0, A1, A2].map(|register| core.x[register]);
    let answer = match core.x[T9] {
        EXIT => return Some(handle as i32),
        WRITE if CONSOLE.contains(&handle) => {
            let length = length.min(LONGEST_TEXT_BYTES);
            print(core, bus, from, length).map(|()| length).ok_or(EFAULT)
        }
        PLOG => {
            text_bytes(core, bus, handle).and_then(|length| print(core, bus, handle, length)).ok_or(EFAULT).map(|()| 0)
        }
        CLOSE if CONSOLE.contains(&handle) => Ok(0),
        OPEN | CLOSE | WRITE => Err(EBADF),
        _ => Err(ENOSYS),
    };
    match answer {
        Ok(value) => core.x[V0] = value,
        Err(error) => (core.x[V0], core.x[V1]) = (FAILED, error),
    }
    None
}

/// Length of the text at an address, up to its 0.
fn text_bytes(core: &mut Mips, bus: &Bus, from: u32) -> Option<u32> {
    let mut byte = [0];
    (0..LONGEST_TEXT_BYTES).find(|at| !read(core, bus, from.wrapping_add(*at), &mut byte) || byte[0] == 0)
}

fn print(core: &mut Mips, bus: &mut Bus, from: u32, length: u32) -> Option<()> {
    let mut text = vec![0; length as usize];
    read(core, bus, from, &mut text).then(|| bus.print(&text))
}

/// Memory as the program sees it, without time.
fn read(core: &mut Mips, bus: &Bus, from: u32, into: &mut [u8]) -> bool {
    let system: &System = &core.system;
    core.memory.read_code(bus, system, from, into)
}
