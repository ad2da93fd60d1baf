//! Arithmetic compared with another implementation of IEEE 754 (a port of LLVM's), where that defines the result; else
//! with the manual.

mod instructions;
mod oracle;
mod special;

use super::control::*;
use super::format::{DOUBLE, Format, SINGLE};
use super::round::Mode;

pub(super) const FZ: u32 = 1 << 24;
pub(super) const DN: u32 = 1 << 25;
pub(super) const AHP: u32 = 1 << 26;
pub(super) const ONE: u32 = 0x3f80_0000;
pub(super) const QUIET: u32 = 0x7fc0_1234;
pub(super) const SIGNALING: u32 = 0x7f80_1234;
pub(super) const DEFAULT: u32 = 0x7fc0_0000;

/// FPSCR with a rounding mode.
pub(super) fn rounding(mode: Mode) -> u32 {
    let bits = [Mode::Nearest, Mode::Up, Mode::Down, Mode::Zero].iter().position(|other| *other == mode).unwrap();
    (bits as u32) << 22
}

/// The result of `operation` with this FPSCR, and the flags that it sets.
pub(super) fn run<T>(fpscr: u32, operation: impl FnOnce(&mut Control) -> T) -> (T, u32) {
    let mut control = Control(fpscr);
    let result = operation(&mut control);
    (result, control.0 & !fpscr)
}
