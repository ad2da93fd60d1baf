//! Bit-banding of a Cortex-M4 (TRM, DDI 0439D, 3.7): each bit of the first MiB of SRAM, and of the peripherals, is a
//! word of an alias region. The core itself converts an access to an alias into an access to the bit's word: a read, or
//! a read and then a write.
//!
//! In the model it is a device on the bus of a core that has bit-banding. A read takes the time of the converted
//! access. A write is a read and then a write of the bus, two cycles without wait states; the core does not wait for
//! it, but its next access does.

use crate::prelude::*;
use engine::bus::{Bus, BusFault, Target};

/// The name of both regions in maps, stacks and messages.
pub const NAME: &str = "bit-band";

/// The alias regions, each with the region of its bits.
pub const REGIONS: [Region; 2] =
    [Region { alias: 0x2200_0000, bits: 0x2000_0000 }, Region { alias: 0x4200_0000, bits: 0x4000_0000 }];
/// The size of an alias region: 32 bytes for each byte of its bits.
pub const ALIAS_BYTES: u32 = 0x0200_0000;

/// An alias region.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Where it begins.
    pub alias: u32,
    /// Where its bits are.
    pub bits: u32,
}

/// Both alias regions.
#[derive(Debug, Default, State, Polled)]
#[poll(never = "the core may use any memory or device by it")]
pub struct BitBand;

/// The place of a bit: the offset of the access of `size`, and the bit's number there.
const fn bit_at(region: usize, offset: u32, size: AccessSize) -> (u32, u32) {
    let bit = offset / 4;
    let bits = 8 * size.bytes();
    (REGIONS[region].bits + bit / bits * size.bytes(), bit % bits)
}

/// Reads for the core, whose instruction includes the first access's time to memory: the value, and the time of the
/// answer. An error if the access reaches beyond the mapped addresses.
fn read(bus: &mut Bus, addr: u32, size: AccessSize, now: Ps) -> Result<(u32, Ps), SlaveError> {
    let ends_inside = |entry: usize| addr.checked_add(size.bytes() - 1).is_some_and(|last| last <= bus.map[entry].last);
    if !bus.entry_at(addr).is_none_or(ends_inside) {
        return Err(SlaveError { done: now });
    }
    let access = bus.read(now, addr, size).map_err(failed)?;
    Ok((access.value, access.done))
}

/// True if memory answers at the address.
fn is_memory(bus: &Bus, addr: u32) -> bool {
    bus.entry_at(addr).is_some_and(|entry| matches!(bus.map[entry].target, Target::Ram(_)))
}

fn failed(fault: BusFault) -> SlaveError {
    SlaveError { done: fault.done }
}

impl Device for BitBand {
    fn read(&mut self, region: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let (addr, bit) = bit_at(region, offset & !3, size);
        let (value, done) = read(ctx.bus, addr, size, ctx.now)?;
        let done = if is_memory(ctx.bus, addr) { ctx.now } else { done };
        Ok(Reply::read(value >> bit & 1, done))
    }

    fn write(&mut self, region: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let (addr, bit) = bit_at(region, offset & !3, size);
        let (before, read) = read(ctx.bus, addr, size, ctx.now)?;
        let changed = before & !(1 << bit) | (value & 1) << bit;
        let clock = ctx.core.and_then(|core| ctx.bus.core_clock(core));
        let next = |at| clock.map_or(at, |clock| clock.after(at, Cycles(1)));
        let memory = is_memory(ctx.bus, addr);
        // The write begins in the cycle after the read; memory answers in the cycle in which it is asked.
        let begins = if memory { read } else { next(read) };
        let written = ctx.bus.write(begins, addr, size, changed).map_err(failed)?;
        // The bus is free in the cycle after that of the write.
        Ok(Reply::written(next(if memory { begins } else { written.done })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::bus::device::DeviceId;
    use engine::bus::{MapEntry, Route};
    use engine::memory::ram::{PortTiming, Ram};
    use engine::time::Hz;

    /// Keeps a word.
    #[derive(Default, State, Polled)]
    struct Word(u32);

    impl Device for Word {
        fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
            Ok(Reply::read(size.extracted(self.0, offset), ctx.now))
        }

        fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
            self.0 = size.merged(self.0, offset, value);
            Ok(Reply::written(ctx.now))
        }
    }

    /// SRAM of a cycle of 10 ns, and a device behind a bridge of 2 and 1 cycles.
    fn bus() -> Bus {
        let clock = Hz::new(100_000_000).unwrap();
        let entry = |base, target, route| MapEntry::new(String::new(), base, base + 0xfff, target).on_route(route);
        let (request_cycles, response_cycles) = (Cycles(2), Cycles(1));
        let mut bus = Bus::default();
        bus.map =
            vec![entry(0x2000_0000, Target::Ram(0), None), entry(0x4000_0000, Target::Device(DeviceId(1), 0), Some(0))];
        bus.routes = vec![Route { name: "apb".into(), clock, request_cycles, response_cycles }];
        bus.rams = vec![Ram::new(0x1000, PortTiming::symmetric(clock, Cycles(1), Cycles(1), 4))];
        bus.devices = vec![Some(Box::new(BitBand)), Some(Box::<Word>::default())];
        bus.device_names = vec!["bit-band".into(), "word".into()];
        bus.add_core();
        bus.set_core_clocks(vec![clock]);
        bus.master = Some(0);
        bus
    }

    fn get(bus: &mut Bus, region: usize, offset: u32) -> AccessResult {
        bus.with_device(DeviceId(0), Ps(0), |band, ctx| band.read(region, offset, AccessSize::Word, ctx))
    }

    fn put(bus: &mut Bus, region: usize, offset: u32, value: u32) -> AccessResult {
        bus.with_device(DeviceId(0), Ps(0), |band, ctx| band.write(region, offset, AccessSize::Word, value, ctx))
    }

    #[test]
    fn a_word_of_the_alias_is_a_bit() {
        let mut bus = bus();
        // TRM, 3.7.1: bit 7 of the byte at 0x200 is the word at 0x200 * 32 + 7 * 4.
        put(&mut bus, 0, 0x200 * 32 + 7 * 4, 3).unwrap();
        put(&mut bus, 0, 0x203 * 32, u32::MAX).unwrap();
        assert_eq!(bus.peek_word(0x2000_0200), Some(1 << 7 | 1 << 24));
        put(&mut bus, 0, 0x200 * 32 + 7 * 4, 2).unwrap();
        assert_eq!(bus.peek_word(0x2000_0200), Some(1 << 24));
        assert_eq!(get(&mut bus, 0, 0x203 * 32).unwrap().value, 1);
        assert_eq!(get(&mut bus, 0, 0x203 * 32 + 4).unwrap().value, 0);
        put(&mut bus, 1, 31 * 4, 1).unwrap();
        assert_eq!(get(&mut bus, 1, 31 * 4).unwrap().value, 1);
    }

    #[test]
    fn a_write_takes_one_access_more() {
        assert_eq!(get(&mut bus(), 0, 0).unwrap().done, Ps(0));
        // TRM, 3.7: the core does not stall, unless it accesses the bus meanwhile: in the next cycle the bus is still
        // taken by the write, in the one after it is free.
        assert_eq!(put(&mut bus(), 0, 0, 1).unwrap().done, Ps(20_000));
        let mut bus = bus();
        // To the peripheral: 2 + 1 cycles for each access, and the cycles in which two of them begin.
        assert_eq!(get(&mut bus, 1, 0).unwrap().done, Ps(30_000));
        assert_eq!(put(&mut bus, 1, 0, 1).unwrap().done, Ps(80_000));
    }

    #[test]
    fn where_nothing_is_there_is_an_error() {
        let mut bus = bus();
        assert!(get(&mut bus, 0, 0x1000 * 32).is_err());
        assert!(put(&mut bus, 1, 0x1000 * 32, 1).is_err());
        // A memory that ends within the word.
        bus.map[0].last = bus.map[0].base + 0x101;
        bus.rams[0] = Ram::new(0x102, bus.rams[0].timing());
        assert!(get(&mut bus, 0, 0x100 * 32).is_err() && put(&mut bus, 0, 0x100 * 32, 1).is_err());
        assert!(get(&mut bus, 0, 0xfc * 32).is_ok());
    }
}
