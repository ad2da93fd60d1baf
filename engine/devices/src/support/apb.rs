//! Common parts of the peripherals of a SAMA5D2, some also of other chips. They are on an APB: a register is read or
//! written within the one cycle in which the access reaches it, so that an access takes only the time of its route on
//! the bus. Byte and halfword accesses use their lanes; the other lanes of a write are zeroes (an APB without strobes).

use crate::support::axi_lite::on_lanes;
use engine::bus::device::{AccessSize, Ctx, Reply};
use engine::polling::Polled;
use engine::state::State;

/// The answer to a read of `size` at `offset`, from the whole register's value.
pub const fn read(register: u32, offset: u32, size: AccessSize, ctx: &Ctx) -> Reply {
    Reply::read(size.extracted(register, offset), ctx.now)
}

/// The register's offset and the value that a write of `size` at `offset` stores.
pub const fn written(value: u32, offset: u32, size: AccessSize) -> (u32, u32) {
    (offset & !3, on_lanes(value, offset, size))
}

/// WPEN of a write protection mode register.
pub const WPMR_WPEN: u32 = 1 << 0;
/// WPVS of a write protection status register; bits 8 to 23 hold WPVSRC, the offset of the refused write.
pub const WPSR_WPVS: u32 = 1 << 0;

/// The write protection of a peripheral's registers: a mode register with a key, and a status register.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct WriteProtection {
    /// WPKEY: three letters of the peripheral's name.
    #[state(skip)]
    key: u32,
    enabled: bool,
    status: u32,
}

impl WriteProtection {
    /// Disabled, as after reset, with this 24-bit key of the mode register.
    pub const fn new(key: u32) -> WriteProtection {
        WriteProtection { key, enabled: false, status: 0 }
    }

    /// The value that the mode register reads: never with the key.
    pub const fn mode(&self) -> u32 {
        if self.enabled { WPMR_WPEN } else { 0 }
    }

    /// A write of the mode register; without the key it has no effect.
    pub fn set_mode(&mut self, value: u32) {
        if value >> 8 == self.key {
            self.enabled = value & WPMR_WPEN != 0;
        }
    }

    /// A read of the status register, which clears it.
    pub fn take_status(&mut self) -> u32 {
        std::mem::take(&mut self.status)
    }

    /// True if a write of the protected register at `offset` is refused, which the status register records.
    pub fn refuses(&mut self, offset: u32, ctx: &mut Ctx) -> bool {
        if self.enabled {
            self.status = WPSR_WPVS | (offset & 0xffff) << 8;
            ctx.note(&format!("the register at {offset:#x} is write-protected (WPMR): a write to it had no effect"));
        }
        self.enabled
    }

    /// All state, for [`engine::polling::Poll::state`].
    pub const fn state(&self) -> u64 {
        (self.enabled as u64) << 32 | self.status as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use engine::bus::device::{Device, DeviceId, SlaveError};
    use engine::polling::{Poll, Polled};
    use engine::time::Ps;

    #[derive(engine::state::State)]
    struct Scratch(WriteProtection, u32);

    impl Device for Scratch {
        fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
            let value = match offset & !3 {
                0xe4 => self.0.mode(),
                0xe8 => self.0.take_status(),
                _ => self.1,
            };
            Ok(read(value, offset, size, ctx))
        }

        fn write(
            &mut self,
            _: usize,
            offset: u32,
            size: AccessSize,
            value: u32,
            ctx: &mut Ctx,
        ) -> Result<Reply, SlaveError> {
            match written(value, offset, size) {
                (0xe4, value) => self.0.set_mode(value),
                (offset, value) if !self.0.refuses(offset, ctx) => self.1 = value,
                _ => {}
            }
            Ok(Reply::written(ctx.now))
        }
    }

    impl Polled for Scratch {
        fn polled(&mut self, _: &mut Poll) -> bool {
            false
        }
    }

    #[test]
    fn protection_needs_its_key_and_records_the_violation() {
        let mut bench = Bench::new(Scratch(WriteProtection::new(0x41_4943), 0));
        bench.write(Ps(0), 0xe4, 0x1234_5601).unwrap();
        bench.write(Ps(0), 0x10, 7).unwrap();
        assert_eq!((bench.value(Ps(0), 0xe4), bench.value(Ps(0), 0x10)), (0, 7));
        bench.write(Ps(0), 0xe4, 0x4149_4301).unwrap();
        bench.write(Ps(0), 0x10, 8).unwrap();
        assert_eq!((bench.value(Ps(0), 0xe4), bench.value(Ps(0), 0x10)), (WPMR_WPEN, 7));
        assert_eq!(bench.bus.notes().len(), 1);
        assert_eq!(bench.value(Ps(0), 0xe8), WPSR_WPVS | 0x10 << 8);
        assert_eq!(bench.value(Ps(0), 0xe8), 0);
        bench.write(Ps(0), 0xe4, 0x4149_4300).unwrap();
        bench.write(Ps(0), 0x10, 8).unwrap();
        assert_eq!(bench.value(Ps(0), 0x10), 8);
    }

    #[test]
    fn an_access_is_answered_in_its_cycle_and_on_its_lanes() {
        let mut bench = Bench::new(Scratch(WriteProtection::new(0), 0x8765_4321));
        assert_eq!(bench.read(Ps(17), 0), Ok((0x8765_4321, Ps(17))));
        let half = |device: &mut dyn Device, ctx: &mut Ctx| device.read(0, 2, AccessSize::Half, ctx);
        assert_eq!(bench.bus.with_device(DeviceId(0), Ps(17), half), Ok(Reply::read(0x8765, Ps(17))));
        assert_eq!(written(0xabcd, 0x12, AccessSize::Byte), (0x10, 0x00cd_0000));
    }
}
