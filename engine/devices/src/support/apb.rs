//! Common parts of the peripherals of a SAMA5D2, some also of other chips. They are on an APB: a register is read or
//! written within the one cycle in which the access reaches it, so that an access takes only the time of its route on
//! the bus. Byte and halfword accesses use their lanes; the other lanes of a write are zeroes (an APB without strobes).

use crate::support::axi_lite::on_lanes;
use engine::bus::device::{AccessSize, Ctx, Reply};

/// The answer to a read of `size` at `offset`, from the whole register's value.
pub const fn read(register: u32, offset: u32, size: AccessSize, ctx: &Ctx) -> Reply {
    Reply::read(size.extracted(register, offset), ctx.now)
}

/// The register's offset and the value that a write of `size` at `offset` stores.
pub const fn written(value: u32, offset: u32, size: AccessSize) -> (u32, u32) {
    (offset & !3, on_lanes(value, offset, size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use engine::bus::device::{AccessResult, Device, DeviceId};
    use engine::polling::{Poll, Polled};
    use engine::time::Ps;

    #[derive(engine::state::State)]
    struct Scratch(u32);

    impl Device for Scratch {
        fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
            Ok(read(self.0, offset, size, ctx))
        }

        fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
            Ok(Reply::written(ctx.now))
        }
    }

    impl Polled for Scratch {
        fn polled(&mut self, _: &mut Poll) -> bool {
            false
        }
    }

    #[test]
    fn an_access_is_answered_in_its_cycle_and_on_its_lanes() {
        let mut bench = Bench::new(Scratch(0x8765_4321));
        assert_eq!(bench.read(Ps(17), 0), Ok((0x8765_4321, Ps(17))));
        let half = |device: &mut dyn Device, ctx: &mut Ctx| device.read(0, 2, AccessSize::Half, ctx);
        assert_eq!(bench.bus.with_device(DeviceId(0), Ps(17), half), Ok(Reply::read(0x8765, Ps(17))));
        assert_eq!(written(0xabcd, 0x12, AccessSize::Byte), (0x10, 0x00cd_0000));
    }
}
