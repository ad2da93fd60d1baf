//! Oscillators and PLLs: the times at which each is ready, and the clocks that the master clock's settings select.

use engine::state::State;
use engine::time::{Cycles, Hz, Ps};

/// CKGR_MOR: the RC oscillator runs.
pub const MOR_RESET: u32 = MOR_MOSCRCEN;
/// MOSCXTEN, MOSCXTBY, MOSCRCEN, MOSCXTST, MOSCSEL, CFDEN; the key is not kept.
pub const MOR_MASK: u32 = 0x0300_ff0b;
/// CKGR_UCKR, with its start-up times.
pub const UCKR_RESET: u32 = 0x1020_0000;
/// CKGR_PLLAR, with the longest count.
pub const PLLAR_RESET: u32 = 0x3f << 8;
/// DIVA, PLLACOUNT, OUTA, MULA, and the bit that is always 1.
pub const PLLAR_MASK: u32 = 0x21ff_ffff;
/// PMC_MCKR: the main clock.
pub const MCKR_RESET: u32 = 1;
/// CSS, PRES, MDIV, PLLADIV2, H32MXDIV.
pub const MCKR_MASK: u32 = MCKR_CSS | 7 << MCKR_PRES | 3 << MCKR_MDIV | MCKR_PLLADIV2 | MCKR_H32MXDIV;

/// PMC_SR: the crystal oscillator is stable.
pub const SR_MOSCXTS: u32 = 1 << 0;
/// PLLA is locked.
pub const SR_LOCKA: u32 = 1 << 1;
/// The master clock has the selected source.
pub const SR_MCKRDY: u32 = 1 << 3;
/// The UTMI PLL is locked.
pub const SR_LOCKU: u32 = 1 << 6;
/// The main clock's oscillator is selected.
pub const SR_MOSCSELS: u32 = 1 << 16;
/// The RC oscillator is stable.
pub const SR_MOSCRCS: u32 = 1 << 17;

const MOR_MOSCXTEN: u32 = 1 << 0;
const MOR_MOSCRCEN: u32 = 1 << 3;
const MOR_MOSCSEL: u32 = 1 << 24;
const MOR_KEY: u32 = 0x37;
/// CKGR_PLLAR.DIVA of 1: not divided.
const PLLAR_DIVA: u32 = 1;
const PLLAR_MULA: u32 = 18;
const MOST_MULA: u64 = 0x7f;
/// The bit that is always 1.
const PLLAR_ONE: u32 = 1 << 29;
/// The factor of the UTMI PLL: 480 MHz from 12.
const UTMI_PLL: u64 = 40;
const UCKR_UPLLEN: u32 = 1 << 16;
const MCKR_CSS: u32 = 3;
const MCKR_CSS_SLOW: u32 = 0;
const MCKR_CSS_MAIN: u32 = 1;
const MCKR_CSS_PLLA: u32 = 2;
const MCKR_PRES: u32 = 4;
const MCKR_MDIV: u32 = 8;
const MCKR_PLLADIV2: u32 = 1 << 12;
const MCKR_H32MXDIV: u32 = 1 << 24;
/// MCK's divisors by MDIV.
const MDIV: [u64; 4] = [1, 2, 4, 3];

/// Start-up counts of the oscillator and of the UTMI PLL are eights of slow clocks.
const STARTUP_UNIT: u64 = 8;

/// The sources' registers, and the time at which each is ready: never while it is disabled.
#[derive(Clone, Copy, Debug, State)]
pub struct Sources {
    #[state(skip)]
    slow: Hz,
    pub uckr: u32,
    pub mor: u32,
    pub pllar: u32,
    pub mckr: u32,
    crystal_ready: Ps,
    plla_ready: Ps,
    upll_ready: Ps,
}

impl Sources {
    /// On the RC oscillator.
    pub const fn after_reset(slow: Hz) -> Sources {
        Sources {
            slow,
            uckr: UCKR_RESET,
            mor: MOR_RESET,
            pllar: PLLAR_RESET,
            mckr: MCKR_RESET,
            crystal_ready: Ps::MAX,
            plla_ready: Ps::MAX,
            upll_ready: Ps::MAX,
        }
    }

    /// CKGR_MOR; false without its key.
    pub fn set_mor(&mut self, value: u32, now: Ps) -> bool {
        if value >> 16 & 0xff != MOR_KEY {
            return false;
        }
        let started = value & !self.mor & MOR_MOSCXTEN != 0;
        self.mor = value & MOR_MASK;
        if value & MOR_MOSCXTEN == 0 {
            self.crystal_ready = Ps::MAX;
        } else if started {
            self.crystal_ready = self.slow.after(now, Cycles(STARTUP_UNIT * u64::from(value >> 8 & 0xff)));
        }
        true
    }

    /// CKGR_PLLAR: the PLL locks again, unless its multiplier or its divider is 0.
    pub fn set_pllar(&mut self, value: u32, now: Ps) {
        self.pllar = value & PLLAR_MASK;
        let runs = self.mula() != 0 && value & 0xff != 0;
        self.plla_ready = if runs { self.slow.after(now, Cycles(u64::from(value >> 8 & 0x3f))) } else { Ps::MAX };
    }

    /// CKGR_UCKR.
    pub fn set_uckr(&mut self, value: u32, now: Ps) {
        self.uckr = value & 0xf1f1_0000;
        self.upll_ready = if value & UCKR_UPLLEN != 0 {
            self.slow.after(now, Cycles(STARTUP_UNIT * u64::from(value >> 20 & 0xf)))
        } else {
            Ps::MAX
        };
    }

    fn mula(&self) -> u64 {
        u64::from(self.pllar >> PLLAR_MULA) & MOST_MULA
    }

    /// The time at which the oscillator that CKGR_MOR selects is stable.
    fn main_ready(&self) -> Ps {
        match self.mor & (MOR_MOSCSEL | MOR_MOSCRCEN) {
            0 => Ps::MAX,
            MOR_MOSCRCEN => Ps::ZERO,
            _ => self.crystal_ready,
        }
    }

    /// The time at which the master clock's source is ready.
    fn master_ready(&self) -> Ps {
        match self.mckr & MCKR_CSS {
            MCKR_CSS_SLOW => Ps::ZERO,
            MCKR_CSS_MAIN => self.main_ready(),
            MCKR_CSS_PLLA => self.main_ready().max(self.plla_ready),
            _ => self.main_ready().max(self.upll_ready),
        }
    }

    /// The readiness bits of PMC_SR, in order with their times.
    fn readiness(&self) -> [(u32, Ps); 5] {
        [
            (SR_MOSCXTS, self.crystal_ready),
            (SR_LOCKA, self.plla_ready),
            (SR_LOCKU, self.upll_ready),
            (SR_MOSCSELS, self.main_ready()),
            (SR_MCKRDY, self.master_ready()),
        ]
    }

    /// The times at which crystal oscillator, PLLA and UTMI PLL are ready; `None` for those that are off.
    pub fn starting(&self) -> [Option<Ps>; 3] {
        [self.crystal_ready, self.plla_ready, self.upll_ready]
            .map(|ready| Some(ready).filter(|ready| *ready != Ps::MAX))
    }

    /// Their bits of PMC_SR.
    pub fn status(&self, now: Ps) -> u32 {
        let ready = self.readiness().into_iter().filter(|(_, ready)| *ready <= now);
        let oscillator = if self.mor & MOR_MOSCRCEN != 0 { SR_MOSCRCS } else { 0 };
        ready.fold(oscillator, |bits, (bit, _)| bits | bit)
    }

    /// The next time at which one of them is ready.
    pub fn next_ready(&self, now: Ps) -> Option<Ps> {
        self.readiness().into_iter().map(|(_, ready)| ready).filter(|ready| *ready > now && *ready != Ps::MAX).min()
    }

    /// True if the selected source of MCK is never ready.
    pub fn is_off(&self) -> bool {
        self.master_ready() == Ps::MAX
    }

    /// The clocks of processor, master and 32-bit matrix in hertz, if their sources are ready.
    pub fn frequencies(&self, crystal: Hz, now: Ps) -> Option<[u64; 3]> {
        if self.master_ready() > now {
            return None;
        }
        // The RC oscillator has the crystal's frequency here.
        let source = match self.mckr & MCKR_CSS {
            MCKR_CSS_SLOW => self.slow.get(),
            MCKR_CSS_MAIN => crystal.get(),
            MCKR_CSS_PLLA => {
                let plla = (crystal.get() * (self.mula() + 1)).checked_div(u64::from(self.pllar & 0xff))?;
                if self.mckr & MCKR_PLLADIV2 != 0 { plla / 2 } else { plla }
            }
            _ => UTMI_PLL * crystal.get(),
        };
        let processor = source >> (self.mckr >> MCKR_PRES & 7);
        let master = processor / MDIV[(self.mckr >> MCKR_MDIV & 3) as usize];
        let h32mx = if self.mckr & MCKR_H32MXDIV != 0 { master / 2 } else { master };
        Some([processor, master, h32mx])
    }

    /// The same with the crystal, PLLA and MCK set for these clocks of processor, master and 32-bit matrix, or for the
    /// closest possible ones, with all sources ready.
    pub fn booted(self, crystal: Hz, [processor, master, h32mx]: [Hz; 3]) -> Sources {
        let multiplier = (4 * processor.get() / crystal.get()).div_ceil(2).clamp(2, MOST_MULA + 1);
        let divisor = (processor.get() + master.get() / 2) / master.get();
        let mdiv = MDIV.iter().position(|mdiv| *mdiv == divisor).unwrap_or(0);
        let halved = if master.get() >= 2 * h32mx.get() { MCKR_H32MXDIV } else { 0 };
        Sources {
            mor: MOR_MOSCXTEN | MOR_MOSCRCEN | MOR_MOSCSEL,
            pllar: PLLAR_ONE | (multiplier as u32 - 1) << PLLAR_MULA | PLLAR_RESET | PLLAR_DIVA,
            mckr: halved | MCKR_PLLADIV2 | (mdiv as u32) << MCKR_MDIV | MCKR_CSS_PLLA,
            crystal_ready: Ps::ZERO,
            plla_ready: Ps::ZERO,
            ..self
        }
    }
}
