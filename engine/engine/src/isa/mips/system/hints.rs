//! Explanations of exceptions, as a user would look them up in the manual.

use super::System;
use super::mmu::TlbFault;

/// Major opcodes (MIPS32 Architecture for Programmers, volume II, instruction bit encodings).
const SPECIAL: u32 = 0x00;
const REGIMM: u32 = 0x01;
const COP0: u32 = 0x10;
const SPECIAL2: u32 = 0x1c;
const SPECIAL3: u32 = 0x1f;
/// Field values of instructions that only release 2 has: rotr and rotrv are shifts with a bit set; synci.
const SRL: u32 = 0x02;
const SRLV: u32 = 0x06;
const SYNCI: u32 = 0x1f;
const RDHWR: u32 = 0x3b;

/// More about a reserved instruction; empty if there is nothing to add.
pub fn of_reserved(encoding: u32) -> &'static str {
    let (rs, rt, function) = (encoding >> 21 & 31, encoding >> 16 & 31, encoding & 63);
    match encoding >> 26 {
        _ if encoding == u32::MAX => "this is the value of erased flash",
        SPECIAL3 if function == RDHWR => "rdhwr, which has to be emulated: this core is MIPS32 release 1",
        SPECIAL3 => RELEASE_2,
        SPECIAL if function == SRL && rs == 1 || function == SRLV && encoding >> 6 & 31 == 1 => RELEASE_2,
        REGIMM if rt == SYNCI => RELEASE_2,
        // rdpgpr, wrpgpr; di and ei.
        COP0 if rs == 0x0a || rs == 0x0b || rs == 0x0e => RELEASE_2,
        SPECIAL if matches!(function, 0x14 | 0x16 | 0x17 | 0x1c..=0x1f | 0x2c..=0x2f | 0x38..) => MIPS_64,
        0x18..=0x1b | 0x27 | 0x2c | 0x2d | 0x34 | 0x37 | 0x3c | 0x3f => MIPS_64,
        SPECIAL2 if function == 0x3f => "sdbbp: no debugger is attached",
        SPECIAL2 => "MXU, the media extension of XBurst, which is not modelled",
        0x1d => "jalx, a call of MIPS16 code, which this core does not have",
        _ => "",
    }
}

const RELEASE_2: &str = "an instruction of MIPS32 release 2: this core has those of release 1 (-march=mips32)";
const MIPS_64: &str = "an instruction of MIPS64";

/// More about a coprocessor that must not be used.
pub fn of_unusable(coprocessor: u8) -> &'static str {
    match coprocessor {
        0 => "system registers are for kernel mode, unless Status.CU0 is set",
        1 => "floating point, which this core does not have (-msoft-float)",
        _ => "a coprocessor that this core does not have",
    }
}

/// The reason why an access to data, or an instruction fetch, was refused.
pub fn of_fault(fault: TlbFault, va: u32, fetch: bool, system: &System) -> &'static str {
    match fault {
        TlbFault::Alignment if fetch => "instructions are at multiples of 4",
        TlbFault::Alignment => "an address has to be a multiple of the size; lwl and lwr read any word",
        TlbFault::Privilege => "user mode may not use addresses from 0x80000000 on",
        TlbFault::Refill if va < 0x1_0000 => "an address this close to 0 may come from a null pointer",
        TlbFault::Refill if is_physical(va) => {
            "physical memory is at 0x80000000 (cached, kseg0) and at 0xa0000000 (uncached, kseg1)"
        }
        TlbFault::Refill if system.is_privileged() => "kseg0 and kseg1, which need none, are 0x80000000 to 0xbfffffff",
        TlbFault::Refill => "",
        TlbFault::Invalid => "its V bit is 0",
        TlbFault::Modified => "the D bit of its TLB entry is 0",
        TlbFault::External => "",
    }
}

/// True if an address may be meant as a physical one: kseg0 and kseg1 map the first 512 MiB.
fn is_physical(va: u32) -> bool {
    va < 512 << 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_of_other_cores_are_reported() {
        // ext, ins, seb, rotr, rotrv, synci, di.
        for encoding in [0x7c64_2100, 0x7c64_2104, 0x7c02_1420, 0x0022_1902, 0x0062_1046, 0x041f_0000, 0x4160_6000] {
            assert_eq!(of_reserved(encoding), RELEASE_2, "{encoding:#x}");
        }
        // daddu, ld, sd, dsll.
        for encoding in [0x0062_102d, 0xdc62_0000, 0xfc62_0000, 0x0002_1078] {
            assert_eq!(of_reserved(encoding), MIPS_64, "{encoding:#x}");
        }
        // rdhwr $3, $29, which reads the thread pointer; S32I2M of the MXU.
        assert!(of_reserved(0x7c03_e83b).starts_with("rdhwr"));
        assert!(of_reserved(0x7000_042f).starts_with("MXU"));
        assert!(of_reserved(u32::MAX).contains("flash"));
        assert_eq!(of_reserved(0x0000_0001), "");
    }
}
