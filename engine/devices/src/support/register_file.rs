//! Peripherals whose registers only keep the values that software writes: banks of registers with their reset values,
//! with write protection or without.

use crate::support::apb::{self, WriteProtection};
use crate::support::registers::AccessKind;
use engine::bus::device::{AccessSize, Ctx, Device, Reply, SlaveError};
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;

/// Registers of one kind, a word apart.
#[derive(Clone, Copy, Debug)]
pub struct Bank {
    /// The datasheet's name of the first.
    pub name: &'static str,
    /// Offset of the first in bytes.
    pub first: u32,
    /// The number of registers.
    pub count: u32,
    /// `Ro` or `Rw`.
    pub access: AccessKind,
    /// Value after reset.
    pub reset: u32,
    /// Bits that exist.
    pub mask: u32,
}

impl Bank {
    /// A row of a register map.
    pub const fn new(name: &'static str, first: u32, count: u32, access: AccessKind, reset: u32, mask: u32) -> Bank {
        Bank { name, first, count, access, reset, mask }
    }

    fn holds(&self, offset: u32) -> bool {
        (self.first..self.first + 4 * self.count).contains(&offset)
    }
}

/// The place of a peripheral's write protection, and its key.
#[derive(Clone, Copy, Debug)]
pub struct ProtectionAt {
    /// Offset of WPMR; WPSR follows.
    pub mode: u32,
    /// WPKEY.
    pub key: u32,
}

/// The device: all registers of its banks, in order.
#[derive(Debug, State)]
pub struct RegisterFile {
    clock: ClockInput,
    #[state(skip)]
    banks: &'static [Bank],
    #[state(with = engine::state::fixed)]
    values: Vec<u32>,
    #[state(with = engine::state::present)]
    protection: Option<(u32, WriteProtection)>,
}

impl RegisterFile {
    /// The registers after reset. `clock` is the clock of their bus.
    pub fn new(clock: impl Into<ClockInput>, banks: &'static [Bank], protection: Option<ProtectionAt>) -> RegisterFile {
        let values = banks.iter().flat_map(|bank| std::iter::repeat_n(bank.reset, bank.count as usize)).collect();
        let protection = protection.map(|at| (at.mode, WriteProtection::new(at.key)));
        RegisterFile { clock: clock.into(), banks, values, protection }
    }

    /// The register at `offset`: its bank, and its index among the values.
    fn find(&self, offset: u32) -> Option<(&'static Bank, usize)> {
        let mut before = 0;
        for bank in self.banks {
            if bank.holds(offset) {
                return Some((bank, before + ((offset - bank.first) / 4) as usize));
            }
            before += bank.count as usize;
        }
        None
    }

    /// The value of the register at `offset`; 0 if there is no register.
    pub fn value(&self, offset: u32) -> u32 {
        self.find(offset).map_or(0, |(_, index)| self.values[index])
    }

    /// Stores in the register at `offset`, whatever its access kind.
    pub fn set(&mut self, offset: u32, value: u32) {
        if let Some((bank, index)) = self.find(offset) {
            self.values[index] = value & bank.mask;
        }
    }
}

impl Device for RegisterFile {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let word = offset & !3;
        let register = match &mut self.protection {
            Some((mode, protection)) if word == *mode => protection.mode(),
            Some((mode, protection)) if word == *mode + 4 => protection.take_status(),
            _ => self.value(word),
        };
        Ok(apb::read(register, offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        let (offset, value) = apb::written(value, offset, size);
        let writable = self.find(offset).is_some_and(|(bank, _)| bank.access == AccessKind::Rw);
        let refused = match &mut self.protection {
            Some((mode, protection)) if offset == *mode => {
                protection.set_mode(value);
                false
            }
            Some((_, protection)) => writable && protection.refuses(offset, ctx),
            None => false,
        };
        if writable && !refused {
            self.set(offset, value);
        }
        Ok(Reply::written(ctx.now))
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.clock);
    }
}

impl Polled for RegisterFile {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.clock.rate);
        self.values.iter().for_each(|value| poll.state(*value));
        if let Some((_, protection)) = &self.protection {
            poll.state(protection.state());
        }
        true
    }
}

/// For the tests of such devices: no register twice, reset values, and the bits that keep a write.
#[cfg(test)]
pub fn keeps_its_banks(bench: &mut crate::bench::Bench, banks: &[Bank], special: &[&str]) {
    use engine::time::Ps;
    for pair in banks.windows(2) {
        assert!(pair[0].first + 4 * pair[0].count <= pair[1].first, "{} reaches into {}", pair[0].name, pair[1].name);
    }
    let plain = banks.iter().filter(|bank| !special.contains(&bank.name));
    for (bank, index) in plain.flat_map(|bank| (0..bank.count).map(move |index| (bank, index))) {
        let offset = bank.first + 4 * index;
        assert_eq!(bench.value(Ps(0), offset), bank.reset, "reset of {} + {index}", bank.name);
        bench.write(Ps(0), offset, !bank.reset).unwrap();
        let kept = if bank.access == AccessKind::Rw { !bank.reset & bank.mask } else { bank.reset };
        assert_eq!(bench.value(Ps(0), offset), kept, "{} + {index}", bank.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use engine::time::{Cycles, Hz, Ps};

    const BANKS: &[Bank] = &[
        Bank::new("A", 0x00, 3, AccessKind::Rw, 7, 0xff),
        Bank::new("B", 0x10, 1, AccessKind::Ro, 0x55, 0xff),
        Bank::new("C", 0x20, 2, AccessKind::Rw, 0, u32::MAX),
    ];

    fn file() -> Bench {
        let protection = ProtectionAt { mode: 0xe4, key: 0x123 };
        Bench::new(RegisterFile::new(Hz::new(83_000_000).unwrap(), BANKS, Some(protection)))
    }

    #[test]
    fn banks_keep_what_they_have_bits_for() {
        keeps_its_banks(&mut file(), BANKS, &[]);
        assert_eq!(file().value(Ps(0), 0x0c), 0);
    }

    #[test]
    fn protection_refuses_and_records() {
        let mut bench = file();
        bench.write(Ps(0), 0xe4, 0x123 << 8 | 1).unwrap();
        bench.write(Ps(0), 0x24, 9).unwrap();
        assert_eq!((bench.value(Ps(0), 0xe4), bench.value(Ps(0), 0x24)), (1, 0));
        assert_eq!(bench.value(Ps(0), 0xe8), 0x24 << 8 | 1);
        // If nothing can be written, nothing is refused.
        bench.write(Ps(0), 0x10, 9).unwrap();
        assert_eq!(bench.value(Ps(0), 0xe8), 0);
    }

    #[test]
    fn what_is_written_is_state() {
        let mut bench = file();
        let look = |bench: &mut Bench, number| {
            let mut poll = Poll::look(Hz::new(83_000_000).unwrap(), Cycles(number));
            assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
            poll
        };
        let before = look(&mut bench, 10);
        assert!(look(&mut bench, 20).repeats(&before));
        bench.write(Ps(0), 0x20, 1).unwrap();
        assert!(!look(&mut bench, 30).repeats(&before));
    }
}
