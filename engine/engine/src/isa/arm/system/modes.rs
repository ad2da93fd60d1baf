//! Processor modes and their banked registers (ARM, B1.3).

use super::super::registers::{LR, SP};
use super::{System, X};

use crate::state::{Fresh, State};

/// Modes, with their numbers in CPSR.M.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Mode {
    User = 0x10,
    Fiq = 0x11,
    Irq = 0x12,
    Supervisor = 0x13,
    Abort = 0x17,
    Undefined = 0x1b,
    System = 0x1f,
}

/// SP, LR and SPSR exist six times.
const BANKS: usize = 6;

impl Mode {
    /// The mode with this number, if it exists.
    pub fn from_bits(bits: u32) -> Option<Mode> {
        use Mode::*;
        [User, Fiq, Irq, Supervisor, Abort, Undefined, System].into_iter().find(|mode| *mode as u32 == bits & 0x1f)
    }

    fn bank(self) -> usize {
        match self {
            Mode::User | Mode::System => 0,
            Mode::Fiq => 1,
            Mode::Irq => 2,
            Mode::Supervisor => 3,
            Mode::Abort => 4,
            Mode::Undefined => 5,
        }
    }

    /// User and System mode have no SPSR.
    pub(super) fn has_spsr(self) -> bool {
        self.bank() != 0
    }
}

/// The registers of modes other than the current one; those of the current mode are stale here.
#[derive(Clone, Debug, Default, PartialEq, Eq, State)]
pub(super) struct Banks {
    sp: [u32; BANKS],
    lr: [u32; BANKS],
    spsr: [u32; BANKS],
    /// r8 to r12 of all modes but FIQ, while in FIQ mode; those of FIQ mode while in another mode.
    high: [u32; 5],
}

impl System {
    /// Changes to another mode: exchanges the banked registers.
    pub(super) fn change_mode(&mut self, x: &mut X, mode: Mode) {
        let (from, to) = (self.mode.bank(), mode.bank());
        if from != to {
            self.banks.sp[from] = x[SP as usize];
            self.banks.lr[from] = x[LR as usize];
            x[SP as usize] = self.banks.sp[to];
            x[LR as usize] = self.banks.lr[to];
            if (self.mode == Mode::Fiq) != (mode == Mode::Fiq) {
                self.banks.high.swap_with_slice(&mut x[8..13]);
            }
        }
        self.mode = mode;
    }

    /// Register `number` (0 to 14) of User mode, whatever the mode is.
    pub fn user_register<'a>(&'a mut self, x: &'a mut X, number: u8) -> &'a mut u32 {
        match number {
            SP if self.mode.bank() != 0 => &mut self.banks.sp[0],
            LR if self.mode.bank() != 0 => &mut self.banks.lr[0],
            8..=12 if self.mode == Mode::Fiq => &mut self.banks.high[number as usize - 8],
            _ => &mut x[number as usize],
        }
    }

    /// The stack pointer of the mode with this number, for srs; `None` if the mode does not exist.
    pub fn sp_of<'a>(&'a mut self, x: &'a mut X, mode_bits: u32) -> Option<&'a mut u32> {
        let bank = Mode::from_bits(mode_bits)?.bank();
        Some(if bank == self.mode.bank() { &mut x[SP as usize] } else { &mut self.banks.sp[bank] })
    }

    /// SP, LR and SPSR of each mode by their names, for debuggers; User and System mode have no SPSR.
    pub(super) fn banked(&self, x: &X) -> Vec<(&'static str, u32)> {
        const NAMES: [[&str; 3]; BANKS] = [
            ["sp_usr", "lr_usr", ""],
            ["sp_fiq", "lr_fiq", "spsr_fiq"],
            ["sp_irq", "lr_irq", "spsr_irq"],
            ["sp_svc", "lr_svc", "spsr_svc"],
            ["sp_abt", "lr_abt", "spsr_abt"],
            ["sp_und", "lr_und", "spsr_und"],
        ];
        let of_bank = |bank: usize| {
            let Banks { sp, lr, spsr, .. } = &self.banks;
            let is_current = bank == self.mode.bank();
            let stacked = if is_current { [x[SP as usize], x[LR as usize]] } else { [sp[bank], lr[bank]] };
            NAMES[bank].into_iter().zip([stacked[0], stacked[1], spsr[bank]])
        };
        (0..BANKS).flat_map(of_bank).filter(|(name, _)| !name.is_empty()).collect()
    }

    /// SPSR of the current mode; 0 if it has no SPSR (unpredictable).
    pub fn spsr(&self) -> u32 {
        if self.mode.has_spsr() { self.banks.spsr[self.mode.bank()] } else { 0 }
    }

    /// Sets the SPSR of the current mode, if it has one.
    pub(super) fn set_spsr(&mut self, value: u32) {
        if self.mode.has_spsr() {
            self.banks.spsr[self.mode.bank()] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::system;
    use super::*;

    #[test]
    fn each_mode_has_its_own_stack_pointer_and_fiq_more() {
        let (mut system, mut x) = system();
        let modes = [Mode::User, Mode::Fiq, Mode::Irq, Mode::Supervisor, Mode::Abort, Mode::Undefined];
        for mode in modes {
            system.change_mode(&mut x, mode);
            x[8] = if mode == Mode::Fiq { 80 } else { 8 };
            x[7] = 7;
            x[SP as usize] = 100 + mode as u32;
            x[LR as usize] = 200 + mode as u32;
            system.set_spsr(300 + mode as u32);
        }
        for mode in modes {
            system.change_mode(&mut x, mode);
            assert_eq!(x[8], if mode == Mode::Fiq { 80 } else { 8 });
            assert_eq!((x[7], x[SP as usize], x[LR as usize]), (7, 100 + mode as u32, 200 + mode as u32));
            assert_eq!(system.spsr(), if mode == Mode::User { 0 } else { 300 + mode as u32 });
        }
        system.change_mode(&mut x, Mode::System);
        assert_eq!(x[SP as usize], 100 + Mode::User as u32);
    }

    #[test]
    fn user_registers_are_reached_from_every_mode() {
        let (mut system, mut x) = system();
        for mode in [Mode::Fiq, Mode::Abort, Mode::System] {
            system.change_mode(&mut x, mode);
            for number in 0..15 {
                *system.user_register(&mut x, number) = 1000 + u32::from(number);
            }
            for number in 0..15 {
                assert_eq!(*system.user_register(&mut x, number), 1000 + u32::from(number));
            }
            system.change_mode(&mut x, Mode::User);
            assert_eq!((x[8], x[13], x[14]), (1008, 1013, 1014));
            x[8..15].fill(0);
        }
    }

    #[test]
    fn srs_reaches_the_stack_of_any_mode() {
        let (mut system, mut x) = system();
        *system.sp_of(&mut x, 0x13).unwrap() = 0x100;
        *system.sp_of(&mut x, 0x1f).unwrap() = 0x200;
        let [user, supervisor] = [0x1f, 0x13].map(|mode| system.sp_of(&mut x, mode).copied());
        assert_eq!((x[13], user, supervisor), (0x100, Some(0x200), Some(0x100)));
        assert_eq!(system.sp_of(&mut x, 0x16), None);
    }
}
