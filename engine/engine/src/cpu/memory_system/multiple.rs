//! Load and store multiple where no cache holds the memory: one transfer for the registers in the same 32 bytes.

use super::access::Kind;
use super::access::how;
use super::accounts::Purpose;
use super::meter::Trip;
use super::mmu::Mmu;
use super::outward::Transfer;
use super::translate::Place;
use super::{Done, Memory, Via, host_of};
use crate::bus::{Bus, BusFault, Target};

/// No transfer crosses a multiple of this (a line).
pub(super) const LONGEST_BYTES: u32 = 32;

impl Memory {
    /// The transfer of `words` registers from `va` up. It precedes the accesses themselves ([`how::REPORTED`]), which
    /// then cost nothing. It never fails: each access reports its own fault.
    #[allow(clippy::too_many_arguments)]
    pub fn multiple<M: Mmu>(
        &mut self,
        bus: &mut Bus,
        mmu: &M,
        now: u64,
        va: u32,
        words: u32,
        how: u8,
    ) -> Done<(), M::Status> {
        let mut trip = self.trip(bus, now);
        let kind = if how & how::STORE != 0 { Kind::Write } else { Kind::Read };
        let access = mmu.access(kind, how);
        let mut left = if va.is_multiple_of(4) { 4 * words } else { 0 };
        let mut from = va;
        while left > 0 {
            let bytes = left.min(LONGEST_BYTES - from % LONGEST_BYTES);
            let Ok(place) = self.data_place(&mut trip, mmu, from, access) else { break };
            if self.chunk(&mut trip, place, bytes, kind).is_err() {
                break;
            }
            from = from.wrapping_add(bytes);
            left -= bytes;
        }
        trip.done(Ok(()))
    }

    fn chunk(&mut self, trip: &mut Trip, place: Place, bytes: u32, kind: Kind) -> Result<(), BusFault> {
        // Registers are accessed one by one.
        if place.via != Via::Uncached || host_of(trip.bus, place.physical).is_none() {
            return Ok(());
        }
        if place.ordered {
            self.wait_for_stores(trip);
        }
        let on_port = self.bytes_on_port(trip.bus, place.physical, bytes);
        if kind == Kind::Read {
            return self.read(trip, place, Transfer::ReadBurst(Purpose::Load, on_port)).map(|_| ());
        }
        if place.waits || self.config.store_buffer_entries == 0 {
            return self.transfer(trip, place.physical, Transfer::WriteBurst(on_port)).map(|_| ());
        }
        let mut after = self.after_stores(trip);
        self.transfer(&mut after, place.physical, Transfer::LateWriteBurst(on_port))?;
        self.state.stores.push(after.meter.now(), None);
        Ok(())
    }

    /// Number of bytes that a RAM's port moves in the number of beats in which the core's bus moves `bytes`.
    pub(super) fn bytes_on_port(&self, bus: &Bus, physical: u32, bytes: u32) -> u32 {
        let beat = self.config.multiple_beat_bytes;
        let beats = (physical % beat + bytes).div_ceil(beat);
        let port = bus.entry_at(physical).map_or(beat, |entry| match bus.map[entry].target {
            Target::Ram(ram) => bus.rams[ram].timing().beat_bytes,
            Target::Device(..) => beat,
        });
        (beats * port).max(bytes)
    }
}
