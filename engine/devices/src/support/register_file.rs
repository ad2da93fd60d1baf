//! Peripherals whose registers keep the values that software writes, with write protection, keys and a few effects, or
//! without.

use crate::prelude::*;
use crate::support::write_protection;

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
pub struct RegisterFile {
    #[poll(phase)]
    clock: ClockInput,
    registers: Registers,
    #[state(skip)]
    effects: Effects,
}

/// What writes do besides.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effects {
    /// Called with the register's offset, what was written or is held now, and the output.
    pub wrote: Option<fn(u32, u32, Option<IrqLine>, &mut Ctx)>,
    /// An output.
    pub output: Option<IrqLine>,
    /// The note for a write without its key.
    pub without_key: Option<&'static str>,
}

impl RegisterFile {
    /// The registers after reset. `clock` is the clock of their bus.
    pub fn new(clock: impl Into<ClockInput>, map: &'static Map) -> RegisterFile {
        RegisterFile { clock: clock.into(), registers: Registers::new(map), effects: Effects::default() }
    }

    /// The same registers, with effects.
    #[must_use]
    pub fn with(self, effects: Effects) -> RegisterFile {
        RegisterFile { effects, ..self }
    }
}

impl Table for RegisterFile {
    fn wrote(&mut self, register: u32, _: u32, new: u32, ctx: &mut Ctx) {
        if let Some(wrote) = self.effects.wrote {
            wrote(register, new, self.effects.output, ctx);
        }
    }

    fn refused(&mut self, register: u32, why: Refused, ctx: &mut Ctx) {
        if let Some(note) = self.effects.without_key.filter(|_| why == Refused::Key) {
            ctx.note(note);
        }
        write_protection::refused(&mut self.registers, register, why, ctx);
    }
}

impl Device for RegisterFile {
    by_table!();

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.clock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::{registers, walk};
    use engine::polling::Poll;
    use engine::time::{Cycles, Hz, Ps};

    registers! {
        const MAP "" {
            A [0..3; 4] 0x00 rw locked_by WPMR_WPEN in WPMR reset 7 mask 0xff;
            B 0x10 ro reset 0x55 mask 0xff;
            C [0..2; 4] 0x20 rw locked_by WPMR_WPEN in WPMR;
            WPMR 0xe4 rw keyed 0x123 in 0xffff_ff00 { WPEN 0 };
            WPSR 0xe8 ro { WPVS 0 rc, WPVSRC 8..24 rc };
        }
    }

    fn file() -> Bench {
        Bench::new(RegisterFile::new(Hz::new(83_000_000).unwrap(), &MAP))
    }

    #[test]
    fn registers_keep_what_they_have_bits_for() {
        walk::device_keeps_its_table(MAP.rows, &["WPMR"], &mut file());
        assert_eq!(file().value(Ps(0), 0x0c), 0);
    }

    #[test]
    fn protection_refuses_and_records() {
        let mut bench = file();
        bench.write(Ps(0), WPMR, 0x123 << 8 | 1).unwrap();
        bench.write(Ps(0), C + 4, 9).unwrap();
        assert_eq!((bench.value(Ps(0), WPMR), bench.value(Ps(0), C + 4)), (1, 0));
        assert_eq!(bench.value(Ps(0), WPSR), 0x24 << 8 | 1);
        // If nothing can be written, nothing is refused.
        bench.write(Ps(0), B, 9).unwrap();
        assert_eq!(bench.value(Ps(0), WPSR), 0);
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
        bench.write(Ps(0), C, 1).unwrap();
        assert!(!look(&mut bench, 30).repeats(&before));
    }
}
