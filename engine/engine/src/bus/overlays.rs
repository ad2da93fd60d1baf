//! Overlays: memory that answers inside the address range of another target.
//!
//! The map has no overlaps: an entry below an overlay is split into one before it and one after it. All entries of a
//! range have the address of the range's first byte ([`MapEntry::origin`]; of an overlay, [`MapEntry::below`]), so
//! offsets do not change. A boundary is where one entry of a range ends and the next begins, or where two RAMs are
//! adjacent. Contents, bursts and segments of programs continue over boundaries, as on a bus that decodes each beat,
//! but not over other ends of entries.

use super::{Bus, MapEntry, Target};

/// Start and size of an overlay are multiples of this: no line of a usual cache crosses a boundary.
pub const OVERLAY_BYTES: u32 = 64;

impl MapEntry {
    /// The first address of the range that the entry is a part of.
    pub fn range_base(&self) -> u32 {
        self.below.map_or(self.origin, |(_, origin)| origin)
    }

    /// True for the rest of a range that shows a shorter memory now ([`Bus::show_at`]).
    pub fn is_empty(&self) -> bool {
        self.last < self.base
    }

    /// This range with overlays: the remaining parts and the overlays, all sorted by base. The overlays lie inside the
    /// range, and do not overlap.
    pub fn with_overlays(self, mut overlays: Vec<MapEntry>) -> Vec<MapEntry> {
        overlays.sort_by_key(|overlay| overlay.base);
        let mut parts = Vec::new();
        let mut next = Some(self.base);
        for overlay in overlays {
            if let Some(base) = next.filter(|base| *base < overlay.base) {
                parts.push(MapEntry { base, last: overlay.base - 1, ..self.clone() });
            }
            next = overlay.last.checked_add(1);
            parts.push(MapEntry { below: Some((self.target, self.origin)), ..overlay });
        }
        if let Some(base) = next.filter(|base| *base <= self.last) {
            parts.push(MapEntry { base, ..self });
        }
        parts
    }
}

impl Bus {
    /// Lays an overlay over the map entry that it is in: for a map that is built by hand, before it is used.
    ///
    /// # Panics
    /// If no map entry is there.
    pub fn lay(&mut self, overlay: MapEntry) {
        let below = self.map.iter().position(|entry| (entry.base..=entry.last).contains(&overlay.base));
        let below = below.expect("an overlay lies over something");
        let entry = self.map.remove(below);
        self.map.splice(below..below, entry.with_overlays(vec![overlay]));
    }

    /// True if the range of a map entry continues in the next one, or both are RAM: chips have several RAMs in a row,
    /// and programs use them as one.
    fn continues_in_next(&self, entry: usize) -> bool {
        let (here, next) = (&self.map[entry], self.map.get(entry + 1));
        next.is_some_and(|next| {
            let are_memories = matches!((here.target, next.target), (Target::Ram(_), Target::Ram(_)));
            (are_memories || next.range_base() == here.range_base())
                && here.last.checked_add(1) == Some(next.base)
                && !next.is_empty()
        })
    }

    /// How many of the `bytes` bytes from `addr` on lie before the next boundary.
    pub fn bytes_to_boundary(&self, addr: u32, bytes: u32) -> u32 {
        let Some(entry) = self.entry_at(addr) else { return bytes };
        let rest = self.map[entry].last - addr;
        if bytes == 0 || rest >= bytes - 1 || !self.continues_in_next(entry) { bytes } else { rest + 1 }
    }

    /// Splits `bytes` bytes from `addr` on at boundaries: addresses and sizes of the parts.
    pub(super) fn parts(&self, addr: u32, bytes: u32) -> impl Iterator<Item = (u32, u32)> + use<'_> {
        let (mut at, mut left) = (addr, bytes);
        std::iter::from_fn(move || {
            let here = self.bytes_to_boundary(at, left);
            let part = (at, here);
            (at, left) = (at.wrapping_add(here), left - here);
            (here > 0).then_some(part)
        })
    }

    /// The part of an aligned block of `bytes` bytes, a power of two, that holds `addr` and has no boundary in it: its
    /// first and last address.
    pub fn unsplit(&self, addr: u32, bytes: u32) -> (u32, u32) {
        let (first, last) = (addr & !(bytes - 1), addr | (bytes - 1));
        let Some(entry) = self.entry_at(addr) else { return (first, last) };
        let MapEntry { base, last: end, .. } = self.map[entry];
        let begins_here = base > first && entry > 0 && self.continues_in_next(entry - 1);
        let ends_here = end < last && self.continues_in_next(entry);
        (if begins_here { base } else { first }, if ends_here { end } else { last })
    }

    /// The target below all overlays.
    pub(super) fn undermost(&self, entry: usize) -> Target {
        let MapEntry { target, below, .. } = self.map[entry];
        below.map_or(target, |(target, _)| target)
    }

    /// Writes bytes into the target that overlays hide.
    pub fn load_below(&mut self, addr: u32, bytes: &[u8]) {
        let parts: Vec<(u32, u32)> = self.parts(addr, bytes.len() as u32).collect();
        for (at, len) in parts {
            let begin = at.wrapping_sub(addr) as usize;
            let hidden = self.entry_at(at).and_then(|entry| self.map[entry].below);
            if let Some((target, origin)) = hidden {
                self.put(target, at.wrapping_sub(origin), &bytes[begin..begin + len as usize]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::device::{AccessResult, AccessSize, Ctx, Device, DeviceId, Reply, SlaveError};
    use crate::bus::path::View;
    use crate::bus::watches::Watch;
    use crate::memory::ram::{PortTiming, Ram};
    use crate::polling::{Poll, Polled};
    use crate::time::{Cycles, Hz, Ps};

    const SRAM: u32 = 0x1000;
    const ALIAS: u32 = 0x3000;
    const WINDOW: u32 = 0x8000;
    const BYTES: u32 = 0x200;
    /// Where the overlay begins in both.
    const INTO: u32 = 0x80;

    /// A flash: until programmed, each byte is the low byte of its offset.
    #[derive(crate::state::State)]
    struct Flash(Vec<u8>);

    impl Device for Flash {
        fn read(&mut self, _: usize, offset: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
            Ok(Reply::read(offset, ctx.now + Ps(5)))
        }

        fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
            Err(SlaveError { done: ctx.now })
        }

        fn burst(&mut self, _: usize, _: u32, bytes: u32, ctx: &mut Ctx) -> Result<Ps, SlaveError> {
            Ok(ctx.now + Ps(u64::from(bytes)))
        }

        fn peek(&self, _: usize, offset: u32, into: &mut [u8]) -> bool {
            let from = self.0.get(offset as usize..offset as usize + into.len());
            from.map(|from| into.copy_from_slice(from)).is_some()
        }

        fn preload(&mut self, _: usize, offset: u32, bytes: &[u8]) -> bool {
            let to = self.0.get_mut(offset as usize..offset as usize + bytes.len());
            to.map(|to| to.copy_from_slice(bytes)).is_some()
        }
    }

    impl Polled for Flash {
        fn polled(&mut self, _: &mut Poll) -> bool {
            false
        }
    }

    /// A memory at two addresses, another directly after it, and a flash's window; over the first address and the
    /// window, a memory of 64 bytes.
    fn bus() -> Bus {
        let mut bus = Bus::default();
        let clock = Hz::new(100_000_000).unwrap();
        for (bytes, cycles) in [(BYTES, 3), (BYTES, 3), (OVERLAY_BYTES, 1)] {
            bus.rams.push(Ram::new(bytes, PortTiming::symmetric(clock, Cycles(cycles), Cycles(1), 4)));
        }
        bus.devices.push(Some(Box::new(Flash((0..BYTES).map(|offset| offset as u8).collect()))));
        bus.device_names.push("flash".into());
        let flash = Target::Device(DeviceId(0), 1);
        for (name, base, target) in [
            ("sram", SRAM, Target::Ram(0)),
            ("next", SRAM + BYTES, Target::Ram(1)),
            ("sram alias", ALIAS, Target::Ram(0)),
            ("window", WINDOW, flash),
        ] {
            bus.map.push(MapEntry::new(name, base, base + BYTES - 1, target));
        }
        for base in [SRAM + INTO, WINDOW + INTO] {
            bus.lay(MapEntry::new("overlay", base, base + OVERLAY_BYTES - 1, Target::Ram(2)));
        }
        bus
    }

    fn bytes<const N: usize>(bus: &Bus, addr: u32) -> [u8; N] {
        let mut bytes = [0; N];
        assert!(bus.peek(addr, &mut bytes), "{addr:#x}");
        bytes
    }

    #[test]
    fn entries_beside_an_overlay_keep_their_offsets() {
        let mut bus = bus();
        let bases: Vec<(u32, u32)> = bus.map.iter().map(|entry| (entry.base, entry.last)).collect();
        let around = |base| [(base, base + 0x7f), (base + 0x80, base + 0xbf), (base + 0xc0, base + 0x1ff)];
        let expected = [&around(SRAM)[..], &[(0x1200, 0x13ff), (ALIAS, 0x31ff)], &around(WINDOW)].concat();
        assert_eq!(bases, expected);
        for (value, offset) in (1..).zip([0, 0x7f, 0xc0, 0x1ff]) {
            bus.write(Ps::ZERO, SRAM + offset, AccessSize::Byte, value).unwrap();
            assert_eq!(bytes(&bus, ALIAS + offset), [value as u8], "{offset:#x}");
            assert_eq!(bus.read(Ps::ZERO, SRAM + offset, AccessSize::Byte).unwrap().value, value);
            assert_eq!(bus.read(Ps::ZERO, WINDOW + offset, AccessSize::Byte).unwrap().value, offset);
        }
        for (value, offset) in (1..).zip([INTO, 0xbf]) {
            bus.write(Ps::ZERO, SRAM + offset, AccessSize::Byte, value).unwrap();
            assert_eq!(bytes(&bus, ALIAS + offset), [0], "{offset:#x}");
            assert_eq!(bus.read(Ps::ZERO, WINDOW + offset, AccessSize::Byte).unwrap().value, value, "one memory");
        }
    }

    #[test]
    fn contents_continue_over_boundaries_but_over_no_other_ends() {
        let mut bus = bus();
        let pattern: Vec<u8> = (1..=BYTES).map(|n| n as u8).collect();
        assert!(bus.poke(SRAM, &pattern) && bus.is_mapped(SRAM, BYTES as usize));
        assert_eq!(bytes::<{ BYTES as usize }>(&bus, SRAM), *pattern);
        assert_eq!(bytes::<4>(&bus, SRAM + 0x7e), [0x7f, 0x80, 0x81, 0x82]);
        assert_eq!(bytes::<0x40>(&bus, ALIAS + INTO), [0; 0x40], "hidden there");
        let far = SRAM + 2 * BYTES;
        assert!(!bus.is_mapped(SRAM, 2 * BYTES as usize + 1) && !bus.peek(far - 2, &mut [0; 4]));
        assert!(!bus.poke(far - 2, &[1; 4]) && bytes::<2>(&bus, far - 2) == [0; 2]);
        // The next RAM is adjacent to this one.
        assert!(bus.is_mapped(SRAM, 2 * BYTES as usize) && bus.poke(SRAM + BYTES - 2, &[5, 6, 7, 8]));
        assert_eq!(bytes::<4>(&bus, SRAM + BYTES - 2), [5, 6, 7, 8]);
        assert_eq!(bytes::<2>(&bus, SRAM + BYTES), [7, 8]);
        // A write that would go beyond the end writes nothing.
        assert!(!bus.poke(WINDOW + INTO + 0x3e, &[0xaa; 4]) && !bus.poke(WINDOW + INTO - 2, &[0xaa; 4]));
        assert_eq!(bytes::<4>(&bus, WINDOW + INTO + 0x3e), [0xbf, 0xc0, 0xc0, 0xc1]);
    }

    #[test]
    fn a_burst_over_a_boundary_is_two() {
        for addr in [SRAM + INTO - 8, SRAM + INTO + 0x38, WINDOW + INTO - 8, WINDOW + INTO + 0x38] {
            let both = bus().read_burst(Ps(7), addr, 16).unwrap();
            let mut bus = bus();
            let first = bus.read_burst(Ps(7), addr, 8).unwrap();
            let second = bus.read_burst(first.done, addr + 8, 8).unwrap();
            assert_eq!((both.arrived, both.answered, both.done), (first.arrived, second.answered, second.done));
            assert_eq!(
                (bus.bytes_to_boundary(addr, 16), bus.bytes_to_boundary(addr, 8), bus.bytes_to_boundary(addr, 4)),
                (8, 8, 4)
            );
        }
        let mut bus = bus();
        assert!(bus.write_burst(Ps::ZERO, SRAM + INTO - 8, 16).is_ok());
        assert!(bus.write_burst(Ps::ZERO, WINDOW + INTO + 0x38, 16).is_err());
        assert_eq!(bus.bytes_to_boundary(SRAM + BYTES - 4, 8), 4, "the next RAM begins there");
        assert!(bus.write_burst(Ps::ZERO, SRAM + BYTES - 8, 16).is_ok());
        assert_eq!(bus.bytes_to_boundary(SRAM + 2 * BYTES - 4, 8), 8, "the end of the memory is no boundary");
    }

    #[test]
    fn a_page_is_split_at_boundaries_only() {
        let bus = bus();
        assert_eq!(bus.unsplit(SRAM + 4, 0x1000), (SRAM, SRAM + 0x7f));
        assert_eq!(bus.unsplit(SRAM + INTO, 0x1000), (SRAM + INTO, SRAM + 0xbf));
        assert_eq!(bus.unsplit(SRAM + 0xc0, 0x1000), (SRAM + 0xc0, SRAM + BYTES - 1));
        assert_eq!(bus.unsplit(SRAM + 0xc0, 0x40), (SRAM + 0xc0, SRAM + 0xff));
        assert_eq!(bus.unsplit(SRAM + BYTES, 0x1000), (SRAM + BYTES, SRAM + 0xfff));
        for addr in [ALIAS + INTO, 0x5000] {
            assert_eq!(bus.unsplit(addr, 0x1000), (addr & !0xfff, addr | 0xfff));
        }
    }

    #[test]
    fn a_segment_is_stored_in_all_that_it_lies_in() {
        let mut bus = bus();
        assert!(bus.can_load(WINDOW, BYTES, BYTES + 0x1000) && !bus.can_load(WINDOW, BYTES + 1, BYTES + 1));
        // After an overlay's copy of flash bytes, nothing is cleared.
        assert!(bus.can_load(WINDOW + INTO, 4, 0x1000) && !bus.is_cleared_at(WINDOW + INTO));
        let image = [0x5a; 0x60];
        bus.load(WINDOW + 0x70, &image, 0x1000);
        assert_eq!(bytes(&bus, WINDOW + 0x70), image);
        assert_eq!(bytes(&bus, WINDOW + 0xd0), [0xd0, 0xd1]);
        let hidden = |bus: &Bus| {
            let mut bytes = [0; 2];
            assert!(bus.devices[0].as_ref().unwrap().peek(1, INTO, &mut bytes));
            bytes
        };
        assert_eq!(hidden(&bus), [0x80, 0x81]);
        bus.load_below(WINDOW + 0x70, &image);
        assert_eq!(hidden(&bus), [0x5a; 2], "the flash's image is whole");
        // A segment's bytes and its cleared rest may lie in two memories.
        bus.poke(SRAM + BYTES, &[7; 8]);
        assert!(bus.can_load(SRAM + BYTES - 4, 6, 12) && !bus.can_load(SRAM + BYTES - 4, 6, BYTES + 5));
        bus.load(SRAM + BYTES - 4, &[1; 6], 10);
        assert_eq!(bytes(&bus, SRAM + BYTES - 4), [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 7, 7]);
        // Over a memory, the overlay behaves as memory.
        bus.poke(SRAM + INTO, &[7; 0x40]);
        assert!(bus.is_cleared_at(SRAM + INTO) && bus.can_load(SRAM + 0x70, 0x20, 0x60));
        bus.load(SRAM + 0x70, &[1; 0x20], 0x60);
        assert_eq!(bytes(&bus, SRAM + 0x8e), [1, 1, 0, 0]);
        assert_eq!(bytes(&bus, SRAM + 0xbe), [0; 4]);
    }

    #[test]
    fn writes_that_an_overlay_hides_are_not_seen() {
        let mut bus = bus();
        let watch = |first, last| Watch { first, last, reads: false, writes: true };
        assert!(bus.watch(vec![watch(SRAM + 0x7c, SRAM + 0xc3)]).is_empty());
        let mut hits = |addr| {
            bus.poke(addr, &[1]);
            bus.watches.take_hits().len()
        };
        assert_eq!([hits(ALIAS + INTO), hits(ALIAS + 0xbf)], [0; 2]);
        assert_eq!([hits(ALIAS + 0x7f), hits(ALIAS + 0xc0), hits(WINDOW + INTO), hits(SRAM + 0xbf)], [1; 4]);
        assert_eq!(hits(SRAM + 0xc4), 0);
    }

    #[test]
    fn an_overlay_stays_where_something_else_is_shown() {
        let mut bus = bus();
        bus.views =
            vec![(0..bus.map.len()).map(|slave| View { route: None, local: false, slave: slave as u8 }).collect()];
        assert!(bus.show_at(WINDOW, SRAM + BYTES, DeviceId(0), Ps::ZERO));
        bus.poke(SRAM + BYTES, &[9; BYTES as usize]);
        bus.poke(SRAM + INTO, &[5]);
        for (offset, byte) in [(0, 9), (0x7f, 9), (INTO, 5), (0xc0, 9), (0x1ff, 9)] {
            assert_eq!(bytes(&bus, WINDOW + offset), [byte], "{offset:#x}");
        }
        let slaves: Vec<u8> = bus.views[0][5..].iter().map(|view| view.slave).collect();
        assert_eq!(slaves, [3, 6, 3]);
        // After a shorter memory, the rest of the range is empty.
        let short = MapEntry::new("short", 0x100, 0x13f, Target::Ram(2));
        bus.map.insert(0, short);
        bus.views[0].insert(0, View { route: None, local: true, slave: 77 });
        assert!(bus.show_at(WINDOW, 0x100, DeviceId(0), Ps::ZERO));
        assert_eq!(bytes(&bus, WINDOW), [5]);
        assert!([0x40, 0x7f, 0xc0, 0x1ff].iter().all(|offset| !bus.is_mapped(WINDOW + offset, 1)));
        assert_eq!(bytes(&bus, WINDOW + INTO), [5], "the overlay is still there");
        assert!(!bus.is_mapped(WINDOW + INTO, 0x41));
        assert!(bus.show_at(WINDOW, ALIAS, DeviceId(0), Ps::ZERO));
        assert!(bus.is_mapped(WINDOW, BYTES as usize));
        assert!(!bus.show_at(WINDOW + INTO, ALIAS, DeviceId(0), Ps::ZERO), "no range begins there");
    }

    #[test]
    fn an_overlay_may_be_at_the_ends_of_a_range_and_next_to_others() {
        let whole = MapEntry::new("ram", 0xffff_ff00, u32::MAX, Target::Ram(0));
        let overlay = |base: u32| MapEntry::new("overlay", base, base + 0x3f, Target::Ram(1));
        let parts = |bases: &[u32]| {
            let parts = whole.clone().with_overlays(bases.iter().map(|base| overlay(*base)).collect());
            parts.iter().map(|part| (part.base & 0xff, part.last & 0xff, part.below.is_some())).collect::<Vec<_>>()
        };
        assert_eq!(parts(&[0xffff_ff00]), [(0, 0x3f, true), (0x40, 0xff, false)]);
        assert_eq!(parts(&[0xffff_ffc0]), [(0, 0xbf, false), (0xc0, 0xff, true)]);
        assert_eq!(
            parts(&[0xffff_ff80, 0xffff_ff40]),
            [(0, 0x3f, false), (0x40, 0x7f, true), (0x80, 0xbf, true), (0xc0, 0xff, false)]
        );
        let all = [0xffff_ff00, 0xffff_ff40, 0xffff_ff80, 0xffff_ffc0];
        assert_eq!(parts(&all).iter().filter(|(.., is_overlay)| *is_overlay).count(), 4);
        assert_eq!(parts(&all).len(), 4);
    }
}
