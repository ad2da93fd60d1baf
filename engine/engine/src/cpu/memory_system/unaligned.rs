//! Unaligned accesses: one access to each of their words, or, in a core whose bus does not support them, several
//! aligned ones of a halfword or a byte.

use super::Memory;
use super::access::{Abort, how};
use super::accounts::Purpose;
use super::data::AccessRequest;
use super::meter::Trip;
use super::mmu::{AbortOf, Mmu};
use super::translate::Place;
use super::{Via, host_of};
use crate::bus::device::AccessSize;

/// The aligned accesses into which an unaligned one of `bytes` is split: address and size.
fn parts(mut va: u32, bytes: u32) -> impl Iterator<Item = (u32, AccessSize)> {
    let mut left = bytes;
    std::iter::from_fn(move || {
        let size = match (left, va & 1) {
            (0, _) => return None,
            (2.., 0) => AccessSize::Half,
            _ => AccessSize::Byte,
        };
        let at = va;
        va = va.wrapping_add(size.bytes());
        left -= size.bytes();
        Some((at, size))
    })
}

impl Memory {
    /// A load of two or four bytes.
    pub(super) fn load_unaligned<M: Mmu>(
        &mut self,
        trip: &mut Trip,
        mmu: &M,
        request: AccessRequest,
    ) -> Result<u32, AbortOf<M>> {
        match self.config.unaligned_cycles {
            Some(cycles) => self.load_parts(trip, mmu, request, cycles),
            None => self.load_split(trip, mmu, request),
        }
    }

    /// A store of two or four bytes.
    pub(super) fn store_unaligned<M: Mmu>(
        &mut self,
        trip: &mut Trip,
        mmu: &M,
        request: AccessRequest,
    ) -> Result<(), AbortOf<M>> {
        match self.config.unaligned_cycles {
            Some(cycles) => self.store_parts(trip, mmu, request, cycles),
            None => self.store_split(trip, mmu, request),
        }
    }

    fn load_parts<M: Mmu>(
        &mut self,
        trip: &mut Trip,
        mmu: &M,
        request: AccessRequest,
        cycles: u64,
    ) -> Result<u32, AbortOf<M>> {
        let places = self.split_places(trip, mmu, request)?;
        let mut value = 0;
        for (va, size) in parts(request.va, request.size.bytes()) {
            let Some(place) = place_of_part(places, request.va, va) else { continue };
            let at = va.wrapping_sub(request.va);
            if at > 0 {
                self.pass_to_part(trip, place, Purpose::Load, cycles);
            }
            let part = AccessRequest { va, size, how: 0, ..request };
            value |= self.load_at(trip, place, part).map_err(|fault| request.failed(fault))? << (8 * at);
        }
        Ok(value)
    }

    fn store_parts<M: Mmu>(
        &mut self,
        trip: &mut Trip,
        mmu: &M,
        request: AccessRequest,
        cycles: u64,
    ) -> Result<(), AbortOf<M>> {
        let places = self.split_places(trip, mmu, request)?;
        for (va, size) in parts(request.va, request.size.bytes()) {
            let Some(place) = place_of_part(places, request.va, va) else { continue };
            let at = va.wrapping_sub(request.va);
            if at > 0 {
                self.pass_to_part(trip, place, Purpose::Store, cycles);
            }
            let value = request.value >> (8 * at);
            if host_of(trip.bus, place.physical).is_some() {
                self.store_in_ram(trip, place, size).map_err(|fault| request.failed(fault))?;
                trip.bus.poke(place.physical, &value.to_le_bytes()[..size.bytes() as usize]);
            } else {
                let value = value & (u32::MAX >> (32 - 8 * size.bytes()));
                self.store_in_order(trip, place, size, value).map_err(|fault| request.failed(fault))?;
            }
        }
        Ok(())
    }

    /// Adds the core's own time for a further part, charged to the accessed memory.
    fn pass_to_part(&mut self, trip: &mut Trip, place: Place, purpose: Purpose, cycles: u64) {
        let Some(entry) = trip.bus.entry_at(place.physical) else { return };
        self.accounts.follow(trip.bus);
        let until = trip.meter.now() + cycles;
        self.accounts.spend_at(&mut trip.meter, purpose, entry, until);
    }

    /// An unaligned load: its two words.
    fn load_split<M: Mmu>(&mut self, trip: &mut Trip, mmu: &M, request: AccessRequest) -> Result<u32, AbortOf<M>> {
        let places = self.split_places(trip, mmu, request)?;
        let mut words = [0; 2];
        for (word, place) in words.iter_mut().zip(places.into_iter().flatten()) {
            let part = AccessRequest { size: AccessSize::Word, how: 0, ..request };
            *word = self.load_at(trip, place, part).map_err(|fault| request.failed(fault))?;
        }
        let both = u64::from(words[1]) << 32 | u64::from(words[0]);
        let value = (both >> (8 * (request.va & 3))) as u32;
        Ok(value & u32::MAX >> (32 - 8 * request.size.bytes()))
    }

    /// An unaligned store: byte by byte, but as one transfer for each of its two words.
    fn store_split<M: Mmu>(&mut self, trip: &mut Trip, mmu: &M, request: AccessRequest) -> Result<(), AbortOf<M>> {
        let places = self.split_places(trip, mmu, request)?;
        for place in places.into_iter().flatten() {
            if host_of(trip.bus, place.physical).is_some() {
                self.store_in_ram(trip, place, AccessSize::Word).map_err(|fault| request.failed(fault))?;
            }
        }
        let first_word = request.va & !3;
        for n in 0..request.size.bytes() {
            let va = request.va.wrapping_add(n);
            let place = places[usize::from(va & !3 != first_word)].or(places[0]);
            let Some(place) = place else { continue };
            let place = Place { physical: place.physical + (va & 3), ..place };
            let byte = (request.value >> (8 * n)) & 0xff;
            if host_of(trip.bus, place.physical).is_some() {
                trip.bus.poke(place.physical, &[byte as u8]);
            } else {
                self.store_in_order(trip, place, AccessSize::Byte, byte).map_err(|fault| request.failed(fault))?;
            }
        }
        Ok(())
    }

    /// Destinations of the one or two words of an unaligned access. Only Normal memory allows such an access, and only
    /// if software has not disabled it.
    fn split_places<M: Mmu>(
        &mut self,
        trip: &mut Trip,
        mmu: &M,
        request: AccessRequest,
    ) -> Result<[Option<Place>; 2], AbortOf<M>> {
        if request.how & how::ALIGNED != 0 || mmu.checks_alignment() {
            return Err(request.refused());
        }
        let (first, last) = (request.va & !3, request.va.wrapping_add(request.size.bytes() - 1) & !3);
        let mut places = [None; 2];
        for (place, word) in places.iter_mut().zip([first, last]).take(1 + usize::from(first != last)) {
            let found = self
                .data_place(trip, mmu, word, mmu.access(request.kind, request.how))
                .map_err(|abort| Abort { va: abort.va.max(request.va), ..abort })?;
            // Tightly coupled memory accepts unaligned accesses.
            if found.ordered && found.via != Via::Local {
                return Err(request.refused());
            }
            *place = Some(found);
        }
        Ok(places)
    }
}

/// Destination of the part at `va` of an access at `first_va` whose words have these destinations.
fn place_of_part(places: [Option<Place>; 2], first_va: u32, va: u32) -> Option<Place> {
    let place = places[usize::from((va ^ first_va) & !3 != 0)]?;
    Some(Place { physical: place.physical + (va & 3), ..place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unaligned_access_is_made_of_aligned_ones() {
        let sizes = |va, bytes| parts(va, bytes).map(|(_, size)| size.bytes()).collect::<Vec<_>>();
        assert_eq!([sizes(1, 4), sizes(2, 4), sizes(3, 4)], [vec![1, 2, 1], vec![2, 2], vec![1, 2, 1]]);
        assert_eq!([sizes(1, 2), sizes(3, 2)], [vec![1, 1], vec![1, 1]]);
        assert_eq!(parts(u32::MAX, 2).map(|(va, _)| va).collect::<Vec<_>>(), [u32::MAX, 0]);
    }
}
