//! Oscillators and PLLs: the times at which each is ready, and the clocks that the master clock's settings select.

use super::{
    MCKR, MCKR_CSS, MCKR_H32MXDIV, MCKR_MDIV, MCKR_PLLADIV2, MCKR_PRES, MOR, MOR_MOSCRCEN, MOR_MOSCSEL, MOR_MOSCXTEN,
    MOR_MOSCXTST, PLLAR, PLLAR_DIVA, PLLAR_MULA, PLLAR_ONE, PLLAR_PLLACOUNT, SR_LOCKA, SR_LOCKU, SR_MCKRDY, SR_MOSCRCS,
    SR_MOSCSELS, SR_MOSCXTS, UCKR_UPLLCOUNT, UCKR_UPLLEN,
};
use crate::prelude::*;

/// CKGR_PLLAR.DIVA of 1: not divided.
const NOT_DIVIDED: u32 = 1;
const MOST_MULA: u64 = 0x7f;
/// The factor of the UTMI PLL: 480 MHz from 12.
const UTMI_PLL: u64 = 40;
/// Values of PMC_MCKR.CSS.
const CSS_SLOW: u32 = 0;
const CSS_MAIN: u32 = 1;
const CSS_PLLA: u32 = 2;
/// MCK's divisors by MDIV.
const MDIV: [u64; 4] = [1, 2, 4, 3];

/// Start-up counts of the oscillator and of the UTMI PLL are eights of slow clocks.
const STARTUP_UNIT: u64 = 8;

/// The time at which each source is ready: never while it is disabled.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct Sources {
    #[state(skip)]
    slow: Hz,
    crystal_ready: Ps,
    plla_ready: Ps,
    upll_ready: Ps,
}

impl Sources {
    /// On the RC oscillator.
    pub const fn after_reset(slow: Hz) -> Sources {
        Sources { slow, crystal_ready: Ps::MAX, plla_ready: Ps::MAX, upll_ready: Ps::MAX }
    }

    /// The end of a count of slow clocks from `now` on, for a source that runs.
    fn counted(&self, runs: bool, slow_clocks: u64, now: Ps) -> Ps {
        if runs { self.slow.after(now, Cycles(slow_clocks)) } else { Ps::MAX }
    }

    /// CKGR_MOR.
    pub fn set_mor(&mut self, old: u32, new: u32, now: Ps) {
        if (new & !old | !new) & MOR_MOSCXTEN != 0 {
            let count = STARTUP_UNIT * u64::from(field(new, MOR_MOSCXTST));
            self.crystal_ready = self.counted(new & MOR_MOSCXTEN != 0, count, now);
        }
    }

    /// CKGR_PLLAR: the PLL locks again, unless its multiplier or its divider is 0.
    pub fn set_pllar(&mut self, value: u32, now: Ps) {
        let runs = value & PLLAR_MULA != 0 && value & PLLAR_DIVA != 0;
        self.plla_ready = self.counted(runs, field(value, PLLAR_PLLACOUNT).into(), now);
    }

    /// CKGR_UCKR.
    pub fn set_uckr(&mut self, value: u32, now: Ps) {
        let count = STARTUP_UNIT * u64::from(field(value, UCKR_UPLLCOUNT));
        self.upll_ready = self.counted(value & UCKR_UPLLEN != 0, count, now);
    }

    /// The time at which the oscillator that CKGR_MOR selects is stable.
    fn main_ready(&self, registers: &Registers) -> Ps {
        match registers[MOR] & (MOR_MOSCSEL | MOR_MOSCRCEN) {
            0 => Ps::MAX,
            MOR_MOSCRCEN => Ps::ZERO,
            _ => self.crystal_ready,
        }
    }

    /// The time at which the master clock's source is ready.
    fn master_ready(&self, registers: &Registers) -> Ps {
        match registers.field(MCKR, MCKR_CSS) {
            CSS_SLOW => Ps::ZERO,
            CSS_MAIN => self.main_ready(registers),
            CSS_PLLA => self.main_ready(registers).max(self.plla_ready),
            _ => self.main_ready(registers).max(self.upll_ready),
        }
    }

    /// The readiness bits of PMC_SR, in order with their times.
    fn readiness(&self, registers: &Registers) -> [(u32, Ps); 5] {
        [
            (SR_MOSCXTS, self.crystal_ready),
            (SR_LOCKA, self.plla_ready),
            (SR_LOCKU, self.upll_ready),
            (SR_MOSCSELS, self.main_ready(registers)),
            (SR_MCKRDY, self.master_ready(registers)),
        ]
    }

    /// The times at which crystal oscillator, PLLA and UTMI PLL are ready; `None` for those that are off.
    pub fn starting(&self) -> [Option<Ps>; 3] {
        [self.crystal_ready, self.plla_ready, self.upll_ready]
            .map(|ready| Some(ready).filter(|ready| *ready != Ps::MAX))
    }

    /// Their bits of PMC_SR.
    pub fn status(&self, registers: &Registers, now: Ps) -> u32 {
        let ready = self.readiness(registers).into_iter().filter(|(_, ready)| *ready <= now);
        let oscillator = flag(SR_MOSCRCS, registers.has(MOR, MOR_MOSCRCEN));
        ready.fold(oscillator, |bits, (bit, _)| bits | bit)
    }

    /// The next time at which one of them is ready.
    pub fn next_ready(&self, registers: &Registers, now: Ps) -> Option<Ps> {
        let times = self.readiness(registers).map(|(_, ready)| ready).into_iter();
        times.filter(|ready| *ready > now && *ready != Ps::MAX).min()
    }

    /// True if the selected source of MCK is never ready.
    pub fn is_off(&self, registers: &Registers) -> bool {
        self.master_ready(registers) == Ps::MAX
    }

    /// The clocks of processor, master and 32-bit matrix in hertz, if their sources are ready.
    pub fn frequencies(&self, registers: &Registers, crystal: Hz, now: Ps) -> Option<[u64; 3]> {
        if self.master_ready(registers) > now {
            return None;
        }
        // The RC oscillator has the crystal's frequency here.
        let source = match registers.field(MCKR, MCKR_CSS) {
            CSS_SLOW => self.slow.get(),
            CSS_MAIN => crystal.get(),
            CSS_PLLA => {
                let [multiplier, divider] =
                    [PLLAR_MULA, PLLAR_DIVA].map(|mask| u64::from(registers.field(PLLAR, mask)));
                let plla = (crystal.get() * (multiplier + 1)).checked_div(divider)?;
                if registers.has(MCKR, MCKR_PLLADIV2) { plla / 2 } else { plla }
            }
            _ => UTMI_PLL * crystal.get(),
        };
        let processor = source >> registers.field(MCKR, MCKR_PRES);
        let master = processor / MDIV[registers.field(MCKR, MCKR_MDIV) as usize];
        let h32mx = if registers.has(MCKR, MCKR_H32MXDIV) { master / 2 } else { master };
        Some([processor, master, h32mx])
    }

    /// Sets the crystal, PLLA and MCK for these clocks of processor, master and 32-bit matrix, or for the closest
    /// possible ones, with all sources ready.
    pub fn boot(&mut self, registers: &mut Registers, crystal: Hz, [processor, master, h32mx]: [Hz; 3]) {
        let multiplier = (4 * processor.get() / crystal.get()).div_ceil(2).clamp(2, MOST_MULA + 1);
        let divisor = (processor.get() + master.get() / 2) / master.get();
        let mdiv = MDIV.iter().position(|mdiv| *mdiv == divisor).unwrap_or(0);
        let halved = flag(MCKR_H32MXDIV, master.get() >= 2 * h32mx.get());
        let place = |value: u32, mask: u32| value << mask.trailing_zeros();
        let pllar = PLLAR_ONE | place(multiplier as u32 - 1, PLLAR_MULA) | PLLAR_PLLACOUNT | NOT_DIVIDED;
        registers.set(MOR, MOR_MOSCXTEN | MOR_MOSCRCEN | MOR_MOSCSEL);
        registers.set(PLLAR, pllar);
        registers.set(MCKR, halved | MCKR_PLLADIV2 | place(mdiv as u32, MCKR_MDIV) | CSS_PLLA);
        (self.crystal_ready, self.plla_ready) = (Ps::ZERO, Ps::ZERO);
    }
}
