//! Semihosting: calls from firmware to a debugger, as far as exit and console need them.
//!
//! "Semihosting for AArch32 and AArch64" (Arm, 2.0) gives the operations; "RISC-V Semihosting" (0.4) the call sequence.

use crate::bus::Bus;

const SYS_OPEN: u32 = 0x01;
const SYS_CLOSE: u32 = 0x02;
const SYS_WRITEC: u32 = 0x03;
const SYS_WRITE0: u32 = 0x04;
const SYS_WRITE: u32 = 0x05;
const SYS_ISTTY: u32 = 0x09;
const SYS_EXIT: u32 = 0x18;
const SYS_EXIT_EXTENDED: u32 = 0x20;
/// ADP_Stopped_ApplicationExit: the application ended of itself.
const APPLICATION_EXIT: u32 = 0x2_0026;
/// Handle of the console.
const CONSOLE: u32 = 1;
const FAILED: u32 = u32::MAX;
/// Longest text that a call may print.
const LONGEST_TEXT_BYTES: u32 = 1 << 16;

/// slli x0, x0, 0x1f; ebreak; srai x0, x0, 7.
const RISCV_CALL: [u32; 3] = [0x01f0_1013, 0x0010_0073, 0x4070_5013];

/// The answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Goes into the first register.
    Value(u32),
    /// The firmware ends with this status.
    Exit(i32),
}

/// True if the ebreak at `pc` stands in a semihosting call.
pub fn is_riscv_call(bus: &Bus, pc: u32) -> bool {
    let words = [pc.wrapping_sub(4), pc, pc.wrapping_add(4)].map(|addr| word(bus, addr));
    words == RISCV_CALL.map(Some)
}

/// Runs operation `operation` with its parameter. Operations that need a host's files fail, as without a debugger's file system.
pub fn call(bus: &mut Bus, operation: u32, parameter: u32) -> Answer {
    let argument = |bus: &Bus, index: u32| word(bus, parameter.wrapping_add(4 * index)).unwrap_or(0);
    match operation {
        SYS_EXIT => Answer::Exit(if parameter == APPLICATION_EXIT { 0 } else { 1 }),
        SYS_EXIT_EXTENDED if argument(bus, 0) == APPLICATION_EXIT => Answer::Exit(argument(bus, 1) as i32),
        SYS_EXIT_EXTENDED => Answer::Exit(1),
        SYS_WRITEC => {
            print(bus, parameter, 1);
            Answer::Value(0)
        }
        SYS_WRITE0 => {
            let length = (0..LONGEST_TEXT_BYTES).take_while(|at| byte(bus, parameter.wrapping_add(*at)) != Some(0));
            let length = length.count() as u32;
            print(bus, parameter, length);
            Answer::Value(0)
        }
        SYS_WRITE => {
            let (from, length) = (argument(bus, 1), argument(bus, 2));
            Answer::Value(if print(bus, from, length) { 0 } else { length })
        }
        SYS_OPEN => {
            let name = [0, 1, 2].map(|at| byte(bus, argument(bus, 0).wrapping_add(at)));
            Answer::Value(if name == [b':', b't', b't'].map(Some) { CONSOLE } else { FAILED })
        }
        SYS_CLOSE => Answer::Value(0),
        SYS_ISTTY => Answer::Value(u32::from(argument(bus, 0) == CONSOLE)),
        _ => Answer::Value(FAILED),
    }
}

fn print(bus: &mut Bus, from: u32, length: u32) -> bool {
    let mut text = vec![0; length.min(LONGEST_TEXT_BYTES) as usize];
    let there = bus.peek(from, &mut text);
    if there {
        bus.print(&text);
    }
    there
}

fn byte(bus: &Bus, addr: u32) -> Option<u8> {
    let mut byte = [0];
    bus.peek(addr, &mut byte).then_some(byte[0])
}

fn word(bus: &Bus, addr: u32) -> Option<u32> {
    let mut bytes = [0; 4];
    bus.peek(addr, &mut bytes).then(|| u32::from_le_bytes(bytes))
}
