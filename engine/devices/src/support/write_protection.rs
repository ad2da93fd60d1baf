//! The write protection of Microchip's peripherals, in a register map: `WPMR`, with three letters of the peripheral's
//! name as its key; `WPSR`, which follows it; and registers that are `locked_by WPMR_WPEN in WPMR`.

use crate::prelude::*;

/// WPSR.WPVS; bits 8 to 23, WPVSRC, hold the offset of the refused write.
const WPVS: u32 = 1 << 0;

/// For [`crate::registers::Table::refused`]: records the write of a protected register.
pub fn refused(registers: &mut Registers, register: u32, why: Refused, ctx: &mut Ctx) {
    if let Refused::Locked(mode, _) = why {
        record(registers, mode, register, ctx);
    }
}

/// Records a refused write of `register`; `mode` is the offset of WPMR.
pub fn record(registers: &mut Registers, mode: u32, register: u32, ctx: &mut Ctx) {
    registers.set(mode + 4, WPVS | (register & 0xffff) << 8);
    ctx.note(&format!("the register at {register:#x} is write-protected (WPMR): a write to it had no effect"));
}

#[cfg(test)]
mod tests {
    use crate::bench::Bench;
    use crate::registers::registers;
    use crate::support::register_file::RegisterFile;
    use engine::time::{Hz, Ps};

    registers! {
        const MAP "" {
            A 0x10 rw locked_by WPMR_WPEN in WPMR;
            WPMR 0xe4 rw keyed 0x41_4943 in 0xffff_ff00 { WPEN 0 };
            WPSR 0xe8 ro { WPVS 0 rc, WPVSRC 8..24 rc };
        }
    }

    #[test]
    fn protection_needs_its_key_and_records_the_violation() {
        let mut bench = Bench::new(RegisterFile::new(Hz::new(83_000_000).unwrap(), &MAP));
        bench.write(Ps(0), WPMR, 0x1234_5601).unwrap();
        bench.write(Ps(0), A, 7).unwrap();
        assert_eq!((bench.value(Ps(0), WPMR), bench.value(Ps(0), A)), (0, 7));
        bench.write(Ps(0), WPMR, 0x4149_4301).unwrap();
        bench.write(Ps(0), A, 8).unwrap();
        assert_eq!((bench.value(Ps(0), WPMR), bench.value(Ps(0), A)), (WPMR_WPEN, 7));
        assert_eq!(bench.bus.notes().len(), 1);
        assert_eq!(bench.value(Ps(0), WPSR), WPSR_WPVS | A << 8);
        assert_eq!(bench.value(Ps(0), WPSR), 0);
        bench.write(Ps(0), WPMR, 0x4149_4300).unwrap();
        bench.write(Ps(0), A, 8).unwrap();
        assert_eq!(bench.value(Ps(0), A), 8);
    }
}
