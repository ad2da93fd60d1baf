//! Explanations of exceptions, as a user would look them up in the manual.

use super::architecture::SystemSide as _;
use super::system::execute::SMC;
use super::system::{Abort, FaultStatus, System};
use crate::cpu::memory_system::Mmu as _;

/// More about an undefined instruction; empty if there is nothing to add. `encoding` has the first halfword of T32 on
/// top.
pub(super) fn of_undefined(encoding: u32, system: &System) -> &'static str {
    let features = system.features();
    match encoding {
        u32::MAX => "this is the value of erased flash",
        // The core decodes smc of both sets, and reports it in this form.
        _ if encoding & !15 == SMC && !system.is_privileged() => "smc in User mode",
        _ if encoding & 15 != 0 && encoding & !15 == SMC => "smc with a number other than 0, which no firmware takes",
        SMC => {
            "smc, and the board has no firmware that answers: a node with compatible = \"arm,psci-1.0\" and method = \
             \"smc\" adds one"
        }
        _ if is_trap(encoding, system.state.thumb) => "udf, a trap that the program or its compiler put there",
        _ if is_advanced_simd(encoding, system.state.thumb) => "Advanced SIMD (NEON), which is not modelled",
        _ if is_division(encoding, system.state.thumb) && !features.divide => "division, which this core does not have",
        _ => match coprocessor(encoding, system.state.thumb) {
            Some(10 | 11) if !features.vfp => "floating point, which this core does not have",
            Some(10 | 11) if !system.vfp_is_ready() => "floating point, which CPACR or FPEXC disables",
            Some(10 | 11) => "a floating-point instruction or register that this core does not have",
            Some(14 | 15) => "a system register that does not exist, or not in this mode",
            Some(_) => "a coprocessor that this core does not have",
            None => "",
        },
    }
}

/// The reason why an access to data, or an instruction fetch, was refused.
pub(super) fn of_abort(abort: Abort, fetch: bool, system: &System) -> &'static str {
    match abort.status {
        FaultStatus::Alignment if system.checks_alignment() => "SCTLR.A is set",
        FaultStatus::Alignment if !system.mmu_is_on() => {
            "all memory is strongly ordered while the MMU is off, and takes no address that is not a multiple of the \
             size"
        }
        FaultStatus::Alignment => "this memory or this instruction takes no address that is not a multiple of the size",
        FaultStatus::TranslationSection | FaultStatus::TranslationPage => "the translation table has no entry for it",
        FaultStatus::AccessFlagSection | FaultStatus::AccessFlagPage => "the access flag of its table entry is 0",
        FaultStatus::DomainSection | FaultStatus::DomainPage => "DACR allows no access to its domain",
        FaultStatus::PermissionSection | FaultStatus::PermissionPage => match (fetch, abort.write) {
            (true, _) => "its table entry allows no execution (XN), or no read in this mode (AP)",
            (false, true) => "its table entry allows no write in this mode (AP)",
            (false, false) => "its table entry allows no read in this mode (AP)",
        },
        FaultStatus::WalkFirst => "nothing answers at the table's address in TTBR0 or TTBR1",
        FaultStatus::WalkSecond => {
            "nothing answers at the address of the second-level table that the first-level entry has"
        }
        FaultStatus::Debug
        | FaultStatus::CacheMaintenance
        | FaultStatus::External
        | FaultStatus::AsynchronousExternal => "",
    }
}

/// Permanently undefined: ARM, A5.4 and A6.3.4, and 16-bit UDF of A6.2.6.
pub(super) fn is_trap(encoding: u32, thumb: bool) -> bool {
    if thumb {
        return encoding & 0xffff_ff00 == 0xde00 || encoding & 0xfff0_f000 == 0xf7f0_a000;
    }
    encoding & 0xfff0_00f0 == 0xe7f0_00f0
}

/// Data processing, and loads and stores: ARM, A7.4 and A7.7.
fn is_advanced_simd(encoding: u32, thumb: bool) -> bool {
    let (data, memory) = if thumb { (0xef00_0000, 0xf900_0000) } else { (0xf200_0000, 0xf400_0000) };
    let data_mask = if thumb { 0xef00_0000 } else { 0xfe00_0000 };
    encoding & data_mask == data || encoding & 0xff10_0000 == memory
}

/// SDIV and UDIV.
fn is_division(encoding: u32, thumb: bool) -> bool {
    if thumb {
        return encoding & 0xffd0_00f0 == 0xfb90_00f0;
    }
    encoding & 0x0fd0_00f0 == 0x0710_0010 && encoding >> 28 != 15
}

/// Number of the coprocessor: ARM, A5.6 and A6.3.18.
fn coprocessor(encoding: u32, thumb: bool) -> Option<u32> {
    let is_coprocessor = match encoding >> 24 & 15 {
        12..=14 => !thumb || encoding >> 29 == 7,
        _ => false,
    };
    is_coprocessor.then_some(encoding >> 8 & 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_encodings() {
        // __builtin_trap() of GCC and clang.
        assert!(is_trap(0xe7f0_00f0, false) && is_trap(0xe7ff_defe, false));
        assert!(is_trap(0xdeff, true) && is_trap(0xf7f0_a000, true) && !is_trap(0xe7f0_00f0, true));
        // vadd.i32 q0, q0, q0; vld1.8 {d0}, [r0]; pld [r0].
        assert!(is_advanced_simd(0xf220_0840, false) && is_advanced_simd(0xef20_0840, true));
        assert!(is_advanced_simd(0xf420_070f, false) && is_advanced_simd(0xf920_070f, true));
        assert!(!is_advanced_simd(0xf5d0_f000, false) && !is_advanced_simd(0xf890_f000, true));
        // sdiv r0, r0, r1; udiv; smlad r0, r0, r1, r2; mul.
        assert!(is_division(0xe710_f110, false) && is_division(0xfb90_f0f1, true));
        assert!(is_division(0xe730_f110, false) && is_division(0xfbb0_f0f1, true));
        assert!(!is_division(0xe700_2110, false) && !is_division(0xfb00_f001, true));
        // vadd.f32; mrc p15; ldc p5; svc; str.
        assert_eq!(coprocessor(0xee30_0a00, true), Some(10));
        assert_eq!(coprocessor(0xee11_0f10, false), Some(15));
        assert_eq!(coprocessor(0xed90_0500, false), Some(5));
        assert_eq!((coprocessor(0xef00_0000, false), coprocessor(0xdc00, true)), (None, None));
    }
}
