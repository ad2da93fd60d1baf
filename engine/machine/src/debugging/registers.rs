//! Reads devices' registers without side effects: the read is made as the core would make it now, and then the
//! machine's state is restored.

use super::super::Machine;
use super::super::snapshots::Snapshot;
use engine::bus::Target;
use engine::bus::device::AccessSize;

impl Machine {
    /// As [`Machine::debug_read`], including registers of devices: in words where these are aligned, else in half-words
    /// and bytes. Nothing changes. A device's registers can't be read if the machine can't be restored from a snapshot,
    /// as with open semihosting files, or if the device answers with an error.
    pub fn debug_read_all(&mut self, core: usize, addr: u32, into: &mut [u8]) -> usize {
        let (mut done, mut moment) = (0, None);
        loop {
            let at = addr.wrapping_add(done as u32);
            done += self.debug_read(core, at, &mut into[done..]);
            if done == into.len() {
                return done;
            }
            let at = addr.wrapping_add(done as u32);
            match self.read_once(core, at, &mut into[done..], &mut moment) {
                Some(count) => done += count,
                None => return done,
            }
        }
    }

    /// Reads as many bytes of a device as one access does; returns their number. `moment` is a snapshot of the machine,
    /// taken when first needed.
    fn read_once(&mut self, core: usize, addr: u32, into: &mut [u8], moment: &mut Option<Snapshot>) -> Option<usize> {
        let (physical, room) = self.physical(core, addr)?;
        let entry = self.bus.entry_at(physical)?;
        if !matches!(self.bus.map[entry].target, Target::Device(..)) {
            return None;
        }
        let most = into.len().min(room as usize);
        let fits = |bytes: &u32| physical.is_multiple_of(*bytes) && *bytes as usize <= most;
        let size = AccessSize::of_bytes([4, 2, 1].into_iter().find(fits)?)?;
        if moment.is_none() {
            *moment = Some(self.moment().ok()?);
        }
        let bytes = self.read_and_undo(core, physical, size, moment.as_ref()?)?.to_le_bytes();
        let count = size.bytes() as usize;
        into[..count].copy_from_slice(&bytes[..count]);
        Some(count)
    }

    /// The value that a core would read now. The machine is restored to `moment`, a snapshot of its present state.
    /// `None` if an error answers.
    pub(super) fn read_and_undo(
        &mut self,
        core: usize,
        physical: u32,
        size: AccessSize,
        moment: &Snapshot,
    ) -> Option<u32> {
        let answer = self.force_read(core, physical, size);
        // If it fails, as when a device in Python refuses it, the machine records that it can't continue.
        let _broken = self.back_to(moment);
        self.set_watches(self.watches());
        answer.ok()
    }
}
