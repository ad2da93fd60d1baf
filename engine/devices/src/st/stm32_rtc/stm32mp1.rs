//! `st,stm32mp1-rtc`: the real-time clock of STM32MP1 (RM0436, "Real-time clock (RTC)"): that of the STM32L4 with its
//! registers at other places, flags in a register of their own (RTC_SR), which RTC_SCR clears, and one interrupt, which
//! may lead to two processors. Backup registers and tampers are in TAMP.
//!
//! Modelled: what the RTC of the STM32L4 has here; RTC_SR, RTC_MISR, RTC_SCR, RTC_CFGR, the identification registers.
//! Its clock is rtc_ck, which RCC_BDCR selects and enables; RCC_BDCR.VSWRST resets it.
//!
//! Not modelled: calibration, time stamps, outputs, protection against a world that is not secure (RTC_SMCR keeps its
//! value).

use super::*;
use crate::registers::{Row, index_of, sorted, units};

registers! {
    /// The register map (RM0436, "RTC register map").
    pub const MAP "RTC_" {
        TR 0x00 rw mask 0x007f_7f7f;
        DR 0x04 rw reset DR_RESET mask 0x00ff_ff3f;
        SSR 0x08 ro volatile mask 0xffff;
        ICSR 0x0c rw volatile reset 7 mask 0x0001_00ff { ALRAWF 0, ALRBWF 1, WUTWF 2, INITS 4, RSF 5, INITF 6, INIT 7 };
        PRER 0x10 rw reset 0x007f_00ff { PREDIV_S 0..15, PREDIV_A 16..23 };
        WUTR 0x14 rw reset 0xffff mask 0xffff;
        CR 0x18 rw mask 0xe7ff_ff7f {
            WUCKSEL 0..3, BYPSHAD 5, FMT 6, ALRAE 8, ALRBE 9, WUTE 10, ALRAIE 12, ALRBIE 13, WUTIE 14
        };
        SMCR 0x20 rw reset 0xe00f mask 0xe00f;
        WPR 0x24 wo mask 0xff;
        CALR 0x28 rw mask 0xe1ff;
        SHIFTR 0x2c wo { SUBFS 0..15, ADD1S 31 };
        TSTR 0x30 ro mask 0x007f_7f7f;
        TSDR 0x34 ro mask 0x0000_ff3f;
        TSSSR 0x38 ro mask 0xffff;
        ALRMAR 0x40 rw;
        ALRMASSR 0x44 rw mask 0x0f00_7fff;
        ALRMBR 0x48 rw;
        ALRMBSSR 0x4c rw mask 0x0f00_7fff;
        SR 0x50 ro volatile { ALRAF 0, ALRBF 1, WUTF 2, TSF 3, TSOVF 4, ITSF 5 };
        MISR 0x54 ro volatile mask 0x3f;
        SMISR 0x58 ro volatile mask 0x3f;
        SCR 0x5c wo mask 0x3f;
        CFGR 0x60 rw { OUT2_RMP 0, LSCOEN 1..3 };
        HWCFGR 0x3f0 ro reset 0x0103_1111;
        VERR 0x3f4 ro reset 0x10 mask 0xff;
        IPIDR 0x3f8 ro reset 0x0012_0033;
        SIDR 0x3fc ro reset 0xa3c5_dd01;
    }
}

/// The first of the places at which the model has registers that the other RTCs lack.
pub(super) const OTHERS: u32 = 0x200;
/// The places of RTC_SR, RTC_MISR and RTC_SCR.
pub(super) const STATUS: u32 = OTHERS + SR;
pub(super) const MASKED_STATUS: u32 = OTHERS + MISR;
pub(super) const STATUS_CLEAR: u32 = OTHERS + SCR;

/// The place at which the model has the register at an offset: that of the same register of an STM32L4.
pub const fn place(offset: u32) -> u32 {
    match offset {
        TR | DR | ICSR | PRER | WUTR | WPR | SHIFTR | TSTR | TSDR | TSSSR | ALRMASSR => offset,
        SSR => super::SSR,
        CR => super::CR,
        CALR => super::CALR,
        ALRMAR => super::ALRMAR,
        ALRMBR => super::ALRMBR,
        ALRMBSSR => super::ALRMBSSR,
        _ => OTHERS + offset,
    }
}

const fn moved() -> [Row; MAP.rows.len()] {
    let mut rows = [MAP.rows[0]; MAP.rows.len()];
    let mut at = 0;
    while at < rows.len() {
        rows[at] = MAP.rows[at];
        rows[at].offset = place(rows[at].offset);
        at += 1;
    }
    rows
}

const ROWS: [Row; MAP.rows.len()] = sorted(&[&moved()]);
const INDEX: [u16; units(&ROWS, 4)] = index_of(&ROWS, 4);
/// The registers at the places at which the model has them.
pub const PLACED: Map = Map::new(&ROWS, &INDEX, 4);

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["st,stm32mp1-rtc"], 1, from_node).with_activities(TIMER).naming(MAP.rows);

/// Builds the clock from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let meanings = ["its interrupt", "its interrupt, to another processor"];
    Box::new(Rtc::new(Params { place, ..Params::from_node(reader, &PLACED, meanings) }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HZ, at, params};
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk;

    fn rtc() -> Bench {
        let mut bench = Bench::new(Rtc::new(Params { map: &PLACED, place, backup_registers: 0, ..params() }));
        for key in KEYS {
            bench.write(at(0), WPR, key).unwrap();
        }
        bench
    }

    #[test]
    fn the_device_keeps_its_table() {
        let special = ["RTC_TR", "RTC_DR", "RTC_CR", "RTC_PRER", "RTC_WPR", "RTC_SHIFTR", "RTC_SCR"];
        walk::device_keeps_its_map(&MAP, &special, &mut rtc());
        assert_eq!((rtc().value(at(0), ICSR), rtc().value(at(0), DR)), (7, DR_RESET));
    }

    #[test]
    fn linux_sets_prescalers_and_time_and_its_alarm_comes_and_is_cleared() {
        let mut bench = rtc();
        bench.write(at(10), ICSR, ICSR_INIT).unwrap();
        assert_eq!(bench.value(at(13), ICSR) & ICSR_INITF, ICSR_INITF);
        for prer in [0xff, 0x007f_00ff] {
            bench.write(at(13), PRER, prer).unwrap();
        }
        bench.write(at(13), TR, 0x12_34_56).unwrap();
        bench.write(at(13), DR, 0x26_42_01).unwrap();
        bench.write(at(13), ICSR, 0).unwrap();
        let begins = 13 + 1 + 4;
        let seconds = begins + 2 * HZ + 2;
        let shown = [TR, DR, SSR].map(|register| bench.value(at(seconds), register));
        assert_eq!(shown, [0x12_34_58, 0x26_42_01, 255]);
        // Each day at 12:35:00.
        bench.write(at(seconds), ALRMAR, 1 << 31 | 0x12_35_00).unwrap();
        bench.write(at(seconds), CR, CR_ALRAE | CR_ALRAIE).unwrap();
        let due = begins + 4 * HZ;
        bench.run(at(due) - Ps(2));
        assert_eq!((bench.value(at(due) - Ps(2), SR), bench.pending()), (0, 0));
        bench.run(at(due));
        let flags = [SR, MISR].map(|register| bench.value(at(due), register));
        assert_eq!((flags, bench.pending() & 1 << 1), ([SR_ALRAF; 2], 1 << 1));
        // The flag is not in RTC_ICSR, and needs no key.
        bench.write(at(due), WPR, 0xff).unwrap();
        assert_eq!(bench.value(at(due), ICSR) >> 8, 0);
        bench.write(at(due), SCR, SR_ALRAF).unwrap();
        assert_eq!((bench.value(at(due), SR), bench.pending()), (0, 0));
        assert!(bench.bus.notes().is_empty(), "{:?}", bench.bus.notes());
    }
}
