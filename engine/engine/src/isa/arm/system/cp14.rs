//! Coprocessor 14: the debug registers and ThumbEE's two (ARM, chapter C11, C11.11, and A2.10).
//!
//! The registers keep what software writes, and have their reset values; no debug event ever occurs, and there is no
//! external debugger. A Cortex-A5 has v7 Debug, a Cortex-A7 v7.1 Debug with the OS lock and its double lock.

use super::System;
use super::effect::Effect;
use super::registers::Number;

use crate::state::State;

/// Most breakpoints that a core can have here.
const MAX_BREAKPOINTS: usize = 6;
/// Most watchpoints.
const MAX_WATCHPOINTS: usize = 4;
/// DBGBVR of a breakpoint that compares addresses only, and DBGWVR: bits 1:0 read as zero.
const ADDRESS: u32 = !3;
/// DBGBCR: BT, LBN, SSC, HMC, BAS, PMC, E. DBGDEVID says that there is no mask of addresses.
const BCR_MASK: u32 = 0x00ff_e1e7;
/// DBGWCR: MASK, WT, LBN, SSC, HMC, BAS, LSC, PAC, E.
const WCR_MASK: u32 = 0x1f1f_ffff;
/// DBGBCR.E, DBGWCR.E.
const ENABLE: u32 = 1 << 0;
/// DBGDSCR.RESTARTED, which is 1 outside of debug state.
const DSCR_RESTARTED: u32 = 1 << 1;
/// DBGDSCR.UDCCdis: User mode may not use the registers that it otherwise may.
const DSCR_UDCCDIS: u32 = 1 << 12;
/// DBGDSCR.MDBGen: monitor debug-mode.
const DSCR_MDBGEN: u32 = 1 << 15;
/// DBGDSCR bits that software can write: MDBGen, UDCCdis, INTdis, DBGack.
const DSCR_WRITABLE: u32 = DSCR_MDBGEN | DSCR_UDCCDIS | 1 << 11 | 1 << 10;
/// DBGDSCR.TXfull and TXfull_l: a word waits for a debugger.
const DSCR_TXFULL: u32 = 1 << 29 | 1 << 26;
/// DBGVCR without the hypervisor's vectors.
const VCR_MASK: u32 = 0xde00_dcdf;
/// The key of DBGOSLAR.
const LOCK_KEY: u32 = 0xc5ac_ce55;
/// DBGOSLSR: the OS lock is set.
const OSLSR_LOCKED: u32 = 1 << 1;
/// DBGOSLSR.OSLM: an OS lock without a save and restore register.
const OSLSR_MODEL: u32 = 1 << 3;
/// DBGAUTHSTATUS: all kinds of debugging are enabled, as on a chip that is not closed.
const AUTHSTATUS: u32 = 0xff;
/// Claim tags.
const CLAIM_TAGS: u32 = 0xff;
/// DBGPRSR.PU: the debug registers have power.
const PRSR_UP: u32 = 1 << 0;
/// TEECR.XED: User mode may not use TEEHBR.
const TEECR_XED: u32 = 1 << 0;

/// The debug logic of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DebugConfig {
    /// DBGDIDR: numbers of breakpoints and watchpoints, and the version.
    pub didr: u32,
    /// DBGDEVID and DBGDEVID1, of v7.1 Debug; `None` for v7 Debug, which has no OS lock here.
    pub devid: Option<[u32; 2]>,
}

impl DebugConfig {
    /// A Cortex-A5 r0p1: v7 Debug with 3 breakpoints and 2 watchpoints (TRM, DBGDIDR).
    pub const CORTEX_A5: DebugConfig = DebugConfig { didr: 0x1203_f001, devid: None };

    /// A Cortex-A7 r0p5: v7.1 Debug with 6 breakpoints and 4 watchpoints (DDI 0464, DBGDIDR, DBGDEVID, DBGDEVID1), but
    /// without the extensions for virtualization (DBGDEVID.VirtExtns).
    pub const CORTEX_A7: DebugConfig = DebugConfig { didr: 0x3515_f005, devid: Some([0x0110_0f13, 1]) };

    fn breakpoints(&self) -> usize {
        (self.didr as usize >> 24 & 15) + 1
    }

    fn watchpoints(&self) -> usize {
        (self.didr as usize >> 28) + 1
    }

    /// The first breakpoint that can compare a context ID.
    fn first_of_context(&self) -> usize {
        self.breakpoints() - 1 - (self.didr as usize >> 20 & 15)
    }
}

/// The registers with stored values.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub(super) struct Cp14 {
    dscr: u32,
    wfar: u32,
    vcr: u32,
    /// DBGDTRRX and DBGDTRTX.
    transferred: [u32; 2],
    /// DBGBVR and DBGBCR.
    breakpoints: [[u32; MAX_BREAKPOINTS]; 2],
    /// DBGWVR and DBGWCR.
    watchpoints: [[u32; MAX_WATCHPOINTS]; 2],
    is_locked: bool,
    double_lock: u32,
    power: u32,
    claimed: u32,
    teecr: u32,
    teehbr: u32,
}

impl Cp14 {
    /// The state after reset. In v7.1 Debug, the OS lock is set.
    pub(super) fn new(config: DebugConfig) -> Cp14 {
        Cp14 {
            dscr: DSCR_RESTARTED,
            wfar: 0,
            vcr: 0,
            transferred: [0; 2],
            breakpoints: [[0; MAX_BREAKPOINTS]; 2],
            watchpoints: [[0; MAX_WATCHPOINTS]; 2],
            is_locked: config.devid.is_some(),
            double_lock: 0,
            power: 0,
            claimed: 0,
            teecr: 0,
            teehbr: 0,
        }
    }

    /// A register that just stores the written value, and its implemented bits.
    fn plain(&mut self, config: DebugConfig, number: Number) -> Option<(&mut u32, u32)> {
        let point = number.2 as usize;
        Some(match number {
            (0, 0, 6, 0) => (&mut self.wfar, u32::MAX),
            (0, 0, 7, 0) => (&mut self.vcr, VCR_MASK),
            (0, 0, 0, 2) => (&mut self.transferred[0], u32::MAX),
            (0, 0, 3, 2) => (&mut self.transferred[1], u32::MAX),
            (0, 0, _, 4) if point < config.breakpoints() => {
                let mask = if point < config.first_of_context() { ADDRESS } else { u32::MAX };
                (self.breakpoints[0].get_mut(point)?, mask)
            }
            (0, 0, _, 5) if point < config.breakpoints() => (self.breakpoints[1].get_mut(point)?, BCR_MASK),
            (0, 0, _, 6) if point < config.watchpoints() => (self.watchpoints[0].get_mut(point)?, ADDRESS),
            (0, 0, _, 7) if point < config.watchpoints() => (self.watchpoints[1].get_mut(point)?, WCR_MASK),
            (1, 0, 3, 4) if config.devid.is_some() => (&mut self.double_lock, 1),
            (1, 0, 4, 4) => (&mut self.power, 1),
            _ => return None,
        })
    }

    fn read(&self, config: DebugConfig, number: Number) -> Option<u32> {
        Some(match number {
            (0, 0, 0, 0) => config.didr,
            (0, 0, 1, 0) | (0, 0, 2, 2) => self.dscr,
            (0, 0, 5, 0) => self.transferred[0],
            // DBGDRAR, DBGDSAR: no debug register has an address.
            (1 | 2, 0, 0, 0) => 0,
            (1, 0, 1, 4) if config.devid.is_some() => OSLSR_MODEL | if self.is_locked { OSLSR_LOCKED } else { 0 },
            (7, 0, 2, 7) => config.devid?[0],
            (7, 0, 1, 7) => config.devid?[1],
            (7, 0, 0, 7) if config.devid.is_some() => 0,
            // No OS lock, no event catch, no cache controls in debug state.
            (1, 0, 0..=2, 4) | (0, 0, 9..=11, 0) if config.devid.is_none() => 0,
            (1, 0, 5, 4) if config.devid.is_none() => PRSR_UP,
            (7, 0, 8, 6) => CLAIM_TAGS,
            (7, 0, 9, 6) => self.claimed,
            (7, 0, 14, 6) => AUTHSTATUS,
            // Reads a copy: one table serves both directions.
            _ => *self.clone().plain(config, number)?.0,
        })
    }

    fn write(&mut self, config: DebugConfig, number: Number, value: u32) -> Option<()> {
        match number {
            (0, 0, 2, 2) => self.dscr = self.dscr & !DSCR_WRITABLE | value & DSCR_WRITABLE,
            (0, 0, 5, 0) => {
                self.transferred[1] = value;
                self.dscr |= DSCR_TXFULL;
            }
            (1, 0, 0, 4) if config.devid.is_some() => self.is_locked = value == LOCK_KEY,
            (1, 0, 0..=2, 4) | (0, 0, 9..=11, 0) if config.devid.is_none() => {}
            (7, 0, 8, 6) => self.claimed |= value & CLAIM_TAGS,
            (7, 0, 9, 6) => self.claimed &= !value,
            _ => {
                let (register, mask) = self.plain(config, number)?;
                *register = *register & !mask | value & mask;
            }
        }
        Some(())
    }

    /// True if a write of `value` enables a breakpoint or a watchpoint in monitor debug-mode.
    fn arms(&self, (crn, _, _, opc2): Number, value: u32) -> bool {
        crn == 0 && matches!(opc2, 5 | 7) && value & ENABLE != 0 && self.dscr & DSCR_MDBGEN != 0
    }
}

/// ThumbEE: cp14 with opc1 6.
const TEECR: Number = (0, 6, 0, 0);
const TEEHBR: Number = (1, 6, 0, 0);

impl System {
    /// Reads a register of coprocessor 14 with opc1 0 or 6; `None` if it does not exist in this mode.
    pub(super) fn read_cp14(&self, number: Number) -> Option<u32> {
        match number {
            TEECR => Some(self.cp14.teecr),
            TEEHBR => self.may_use_teehbr().then_some(self.cp14.teehbr),
            _ if self.is_privileged() || self.user_may_cp14(number) => self.cp14.read(self.config.debug, number),
            _ => None,
        }
    }

    /// Writes a register of coprocessor 14; `None` if it does not exist in this mode or is read-only.
    pub(super) fn write_cp14(&mut self, number: Number, value: u32) -> Option<Effect> {
        let privileged = self.is_privileged();
        match number {
            TEECR if privileged => self.cp14.teecr = value & TEECR_XED,
            TEEHBR if self.may_use_teehbr() => self.cp14.teehbr = value & ADDRESS,
            TEECR | TEEHBR => return None,
            _ if privileged || self.user_may_cp14(number) => {
                let arms = self.cp14.arms(number, value);
                self.cp14.write(self.config.debug, number, value)?;
                if arms {
                    return Some(Effect::NotModelled(
                        "a breakpoint or watchpoint is enabled in DBGBCR or DBGWCR: the register keeps it, but no \
                         debug event occurs",
                    ));
                }
            }
            _ => return None,
        }
        Some(Effect::Next)
    }

    /// The low word of DBGDRAR and DBGDSAR, which mrrc reads with CRm 1 and 2: no debug register has an address.
    pub(super) fn wide_cp14(&self, crm: u32, opc1: u32) -> Option<u64> {
        let number = (crm, 0, 0, 0);
        (opc1 == 0 && matches!(crm, 1 | 2)).then(|| self.read_cp14(number)).flatten().map(u64::from)
    }

    fn may_use_teehbr(&self) -> bool {
        self.is_privileged() || self.cp14.teecr & TEECR_XED == 0
    }

    /// DBGDIDR, DBGDRAR, DBGDSAR, DBGDSCRint, and the word that is transferred.
    fn user_may_cp14(&self, number: Number) -> bool {
        self.cp14.dscr & DSCR_UDCCDIS == 0 && matches!(number, (0, 0, 0 | 1 | 5, 0) | (1 | 2, 0, 0, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::system;
    use super::super::{SystemConfig, SystemSide, X};
    use super::*;

    const DSCR_INT: Number = (0, 0, 1, 0);
    const DSCR_EXT: Number = (0, 0, 2, 2);

    fn cortex_a7() -> System {
        System::new(SystemConfig::cortex_a7(system().0.features(), None, None))
    }

    fn to_user(system: &mut System) {
        let mut x: X = [0; super::super::COUNT];
        system.write_cpsr(&mut x, 0x10, 1);
    }

    #[test]
    fn linux_finds_debug_of_version_7_1_and_sets_it_up() {
        let mut system = cortex_a7();
        let didr = system.read_cp14((0, 0, 0, 0)).unwrap();
        assert_eq!((didr >> 16 & 15, (didr >> 24 & 15) + 1, (didr >> 28) + 1), (5, 6, 4));
        assert_eq!(system.read_cp14((1, 0, 1, 4)), Some(0xa), "the OS lock is set after reset");
        assert_eq!(system.read_cp14((1, 0, 3, 4)), Some(0), "the double lock is not");
        assert_eq!(system.write_cp14((1, 0, 0, 4), !LOCK_KEY), Some(Effect::Next));
        assert_eq!(system.read_cp14((1, 0, 1, 4)), Some(8));
        for point in 0..6 {
            assert_eq!(system.write_cp14((0, 0, point, 4), 0x8001_2347), Some(Effect::Next));
            let kept = if point < 4 { 0x8001_2344 } else { 0x8001_2347 };
            assert_eq!(system.read_cp14((0, 0, point, 4)), Some(kept), "DBGBVR{point}");
        }
        assert_eq!(system.read_cp14((0, 0, 6, 4)), None, "there are six");
        assert_eq!(system.write_cp14((0, 0, 4, 6), 0), None, "and four watchpoints");
        system.write_cp14((0, 0, 0, 7), 0x1fe0).unwrap();
        assert_eq!(system.read_cp14((0, 0, 0, 7)), Some(0x1fe0), "watchpoints of 8 bytes");
        assert_eq!(system.read_cp14(DSCR_INT), Some(2));
        system.write_cp14(DSCR_EXT, u32::MAX).unwrap();
        assert_eq!(system.read_cp14(DSCR_INT), Some(0x9c02), "no halting debug-mode");
        assert!(matches!(system.write_cp14((0, 0, 0, 5), 1), Some(Effect::NotModelled(_))));
    }

    #[test]
    fn a_cortex_a5_has_no_os_lock() {
        let (mut system, _) = system();
        assert_eq!(system.read_cp14((0, 0, 0, 0)), Some(0x1203_f001));
        assert_eq!(system.read_cp14((1, 0, 1, 4)), Some(0));
        assert_eq!(system.read_cp14((1, 0, 5, 4)), Some(1), "it has power");
        assert_eq!(system.write_cp14((1, 0, 0, 4), 0), Some(Effect::Next));
        assert_eq!((system.read_cp14((1, 0, 3, 4)), system.read_cp14((7, 0, 2, 7))), (None, None));
        assert_eq!((system.read_cp14((0, 0, 2, 4)), system.read_cp14((0, 0, 3, 4))), (Some(0), None));
        assert_eq!((system.read_cp14((0, 0, 1, 6)), system.read_cp14((0, 0, 2, 6))), (Some(0), None));
    }

    #[test]
    fn claim_tags_are_set_and_cleared() {
        let mut system = cortex_a7();
        system.write_cp14((7, 0, 8, 6), 0x1a5).unwrap();
        system.write_cp14((7, 0, 9, 6), 0x84).unwrap();
        assert_eq!((system.read_cp14((7, 0, 8, 6)), system.read_cp14((7, 0, 9, 6))), (Some(0xff), Some(0x21)));
    }

    #[test]
    fn nobody_takes_a_word_for_the_debugger() {
        let mut system = cortex_a7();
        system.write_cp14((0, 0, 5, 0), 0x41).unwrap();
        assert_eq!(system.read_cp14(DSCR_INT).unwrap() >> 29 & 1, 1);
        assert_eq!((system.read_cp14((0, 0, 5, 0)), system.read_cp14((0, 0, 3, 2))), (Some(0), Some(0x41)));
    }

    #[test]
    fn user_mode_reads_few_debug_registers() {
        let mut system = cortex_a7();
        to_user(&mut system);
        assert_eq!(system.read_cp14((0, 0, 0, 0)), Some(0x3515_f005));
        assert_eq!((system.wide_cp14(1, 0), system.wide_cp14(2, 0), system.wide_cp14(3, 0)), (Some(0), Some(0), None));
        assert_eq!((system.read_cp14((0, 0, 7, 0)), system.write_cp14(DSCR_EXT, 0)), (None, None));
        let mut denying = cortex_a7();
        denying.write_cp14(DSCR_EXT, DSCR_UDCCDIS).unwrap();
        to_user(&mut denying);
        assert_eq!((denying.read_cp14((0, 0, 0, 0)), denying.wide_cp14(1, 0)), (None, None));
    }

    #[test]
    fn the_handler_base_of_thumbee_is_denied_to_user_mode_by_xed() {
        let mut system = cortex_a7();
        assert_eq!((system.read_cp14(TEECR), system.read_cp14(TEEHBR)), (Some(0), Some(0)));
        system.write_cp14(TEEHBR, 0x1003).unwrap();
        system.write_cp14(TEECR, u32::MAX).unwrap();
        assert_eq!((system.read_cp14(TEECR), system.read_cp14(TEEHBR)), (Some(1), Some(0x1000)));
        to_user(&mut system);
        assert_eq!((system.read_cp14(TEECR), system.read_cp14(TEEHBR)), (Some(1), None));
        assert_eq!((system.write_cp14(TEECR, 0), system.write_cp14(TEEHBR, 0)), (None, None));
    }
}
