//! `st,stm32-signature`: the words of an STM32's system memory that identify the individual chip (RM0090, "Device
//! electronic signature"; RM0383 and RM0432, the same): its unique ID, and the size of its flash.
//!
//! Modelled: those words, with the board's values; the memory around them reads as erased flash. Writes have no effect,
//! as in all of system memory. A read takes only the bus's time.

use crate::prelude::*;
use crate::support::apb;

const ERASED: u32 = u32::MAX;

/// The device. Its contents never change.
#[derive(Debug, State, Polled)]
pub struct Signature {
    /// Its words, each with its offset.
    #[state(skip)]
    words: [(u32, u32); 4],
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32-signature"], 1, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    const UNIQUE: &str = "the three words of the unique ID, from the lowest address on";
    let even = |offset: &u32| offset.is_multiple_of(2);
    let unique = reader.cells("cyclescope,unique-id", |_: [u32; 3]| true, UNIQUE);
    let [unique_at, flash_size_at] = reader
        .cells(
            "cyclescope,offsets",
            |offsets: [u32; 2]| offsets.iter().all(even),
            "offsets of the unique ID and of the flash size, both even",
        )
        .unwrap_or_default();
    let flash_kib = reader.u32("cyclescope,flash-kib", 1..=65_535, "the flash's size in KiB");
    let [first, second, third] = unique.unwrap_or_default();
    let [at, size_at] = [unique_at, flash_size_at].map(|offset| offset & !3);
    // The flash's size is a halfword.
    let size = AccessSize::Half.merged(ERASED, flash_size_at, flash_kib);
    let words = [(at, first), (at.wrapping_add(4), second), (at.wrapping_add(8), third), (size_at, size)];
    Box::new(Signature { words })
}

impl Signature {
    fn word(&self, offset: u32) -> u32 {
        self.words.iter().find(|(at, _)| *at == offset).map_or(ERASED, |(_, word)| *word)
    }
}

impl Device for Signature {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(apb::read(self.word(offset & !3), offset, size, ctx))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        ctx.note("system memory, which is read-only, was written: the write has no effect");
        Ok(Reply::written(ctx.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, read_plain_node};
    use engine::bus::device::DeviceId;
    use engine::time::Ps;

    #[test]
    fn the_chip_reports_of_itself() {
        // As on an STM32F407, from 0x1fff7a10 on: the size is the halfword at 0x1fff7a22.
        let words: &[(&str, &[u32])] = &[
            ("cyclescope,unique-id", &[1, 2, 3]),
            ("cyclescope,offsets", &[0x0, 0x12]),
            ("cyclescope,flash-kib", &[1024]),
        ];
        let (mut bench, _) = read_plain_node(from_node, words);
        assert_eq!([0, 4, 8, 0xc].map(|offset| bench.value(Ps(0), offset)), [1, 2, 3, ERASED]);
        let half = |bench: &mut Bench, offset| {
            let read = |device: &mut dyn Device, ctx: &mut Ctx| device.read(0, offset, AccessSize::Half, ctx);
            bench.bus.with_device(DeviceId(0), Ps(0), read).unwrap().value
        };
        assert_eq!((half(&mut bench, 0x12), half(&mut bench, 0x10)), (1024, 0xffff));
        bench.write(Ps(0), 0, 7).unwrap();
        assert_eq!((bench.value(Ps(0), 0), bench.bus.notes().len()), (1, 1));
    }
}
