//! The device's side of a split virtqueue (Virtual I/O Device (VIRTIO) Version 1.1, 2.6 "Split Virtqueues").
//!
//! The rings are in the board's memory, which is read and written here without time. The driver's values are checked
//! before they are used: a broken ring is reported with its values, and never followed.

use crate::prelude::*;
use engine::bus::Bus;

/// Descriptors that a queue may have (QueueNumMax).
pub const MOST_DESCRIPTORS: u32 = 64;

/// VIRTQ_DESC_F_NEXT, 2.6.5: the chain continues.
const DESC_NEXT: u16 = 1;
/// VIRTQ_DESC_F_WRITE: the device writes to the buffer, else it reads.
const DESC_WRITE: u16 = 2;
/// VIRTQ_AVAIL_F_NO_INTERRUPT, 2.6.6.
const AVAIL_NO_INTERRUPT: u16 = 1;
const DESCRIPTOR_BYTES: u32 = 16;

/// A buffer that the driver made available: a chain of parts, first those that the device reads, and then those that it
/// writes (2.6.4.2).
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Buffer {
    /// Its first descriptor, which identifies it when it is returned.
    pub head: u16,
    /// The parts: address and length in bytes.
    pub parts: Vec<(u32, u32)>,
    /// The number of parts that the device reads.
    pub reads: u32,
}

/// The direction of a queue's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The device writes them.
    In,
    /// The device reads them.
    Out,
    /// The device reads the first parts of each, and writes the others.
    Both,
}

/// A queue as the driver configured it, and the device's progress in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Polled)]
pub struct Queue {
    /// QueueNum: descriptors, a power of two.
    pub size: u32,
    /// QueueReady.
    pub ready: bool,
    /// QueueDesc: the descriptor table.
    pub descriptors: u64,
    /// QueueDriver: the available ring.
    pub available: u64,
    /// QueueDevice: the used ring.
    pub used: u64,
    /// The number of available entries that the device has read.
    seen: u16,
    /// The number of used entries that the device has written.
    made: u16,
}

impl Queue {
    /// Checks the driver's configuration when the queue becomes ready: size, alignment (2.6) and that the rings are in
    /// memory.
    ///
    /// # Errors
    /// The first error, for a note.
    pub fn check(&self, bus: &Bus) -> Result<(), String> {
        if !self.size.is_power_of_two() || self.size > MOST_DESCRIPTORS {
            return Err(format!(
                "a queue of {} descriptors: a power of two up to {MOST_DESCRIPTORS} is needed",
                self.size
            ));
        }
        for (what, addr, align, bytes) in [
            ("descriptor table", self.descriptors, 16, DESCRIPTOR_BYTES * self.size),
            ("available ring", self.available, 2, 4 + 2 * self.size),
            ("used ring", self.used, 4, 4 + 8 * self.size),
        ] {
            if !addr.is_multiple_of(align) {
                return Err(format!("the {what} is at {addr:#x}, which is no multiple of {align}"));
            }
            let inside = u32::try_from(addr).is_ok_and(|addr| bus.peek(addr, &mut vec![0; bytes as usize]));
            if !inside {
                return Err(format!("the {what} at {addr:#x} is not in memory"));
            }
        }
        Ok(())
    }

    /// The next buffer that the driver made available, if there is one.
    ///
    /// # Errors
    /// The error in the ring, for a note.
    pub fn pop(&mut self, direction: Direction, bus: &Bus) -> Result<Option<Buffer>, String> {
        let index = half(bus, self.available, 2)?;
        let new = index.wrapping_sub(self.seen);
        if u32::from(new) > self.size {
            return Err(format!(
                "the available ring's index went from {} to {index}: at most {} can be new",
                self.seen, self.size
            ));
        }
        if new == 0 {
            return Ok(None);
        }
        let slot = u32::from(self.seen) % self.size;
        let head = half(bus, self.available, 4 + 2 * slot)?;
        self.seen = self.seen.wrapping_add(1);
        self.chain(head, direction, bus).map(Some)
    }

    fn chain(&self, head: u16, direction: Direction, bus: &Bus) -> Result<Buffer, String> {
        let (mut parts, mut reads) = (Vec::new(), 0);
        let mut next = head;
        loop {
            if u32::from(next) >= self.size {
                return Err(format!("descriptor {next} is asked for: the table has {}", self.size));
            }
            if parts.len() as u32 == self.size {
                return Err(format!("the chain of descriptor {head} has no end"));
            }
            let at = DESCRIPTOR_BYTES * u32::from(next);
            let (addr, high) = (word(bus, self.descriptors, at)?, word(bus, self.descriptors, at + 4)?);
            let (len, flags) = (word(bus, self.descriptors, at + 8)?, half(bus, self.descriptors, at + 12)?);
            if high != 0 || flags & !(DESC_NEXT | DESC_WRITE) != 0 {
                return Err(format!("descriptor {next} has address {high:#x}{addr:08x} and flags {flags:#x}"));
            }
            let is_written = flags & DESC_WRITE != 0;
            if direction == Direction::Both && !is_written && parts.len() as u32 != reads {
                return Err(format!("descriptor {next} is to be read, after one that is to be written"));
            }
            if direction != Direction::Both && is_written != (direction == Direction::In) {
                let (wanted, given) =
                    if direction == Direction::In { ("written", "read") } else { ("read", "written") };
                return Err(format!("descriptor {next} is to be {given}, in a queue whose buffers are {wanted}"));
            }
            parts.push((addr, len));
            reads += u32::from(!is_written);
            if flags & DESC_NEXT == 0 {
                return Ok(Buffer { head, parts, reads });
            }
            next = half(bus, self.descriptors, at + 14)?;
        }
    }

    /// Returns a buffer to which the device has written `len_bytes` (2.6.8). True if the driver wants an interrupt for
    /// it.
    ///
    /// # Errors
    /// The error in the ring, for a note.
    pub fn give_back(&mut self, head: u16, len_bytes: u32, bus: &mut Bus) -> Result<bool, String> {
        let slot = u32::from(self.made) % self.size;
        let element = [u32::from(head).to_le_bytes(), len_bytes.to_le_bytes()].concat();
        store(bus, self.used, 4 + 8 * slot, &element)?;
        self.made = self.made.wrapping_add(1);
        store(bus, self.used, 2, &self.made.to_le_bytes())?;
        Ok(half(bus, self.available, 0)? & AVAIL_NO_INTERRUPT == 0)
    }
}

/// A ring may have been moved since [`Queue::check`]: each access checks its place.
fn place(ring: u64, offset: u32) -> Result<u32, String> {
    u32::try_from(ring).ok().and_then(|ring| ring.checked_add(offset)).ok_or_else(|| outside(ring))
}

fn outside(ring: u64) -> String {
    format!("a ring at {ring:#x} is not in memory")
}

fn half(bus: &Bus, ring: u64, offset: u32) -> Result<u16, String> {
    let mut bytes = [0; 2];
    if bus.peek(place(ring, offset)?, &mut bytes) { Ok(u16::from_le_bytes(bytes)) } else { Err(outside(ring)) }
}

fn word(bus: &Bus, ring: u64, offset: u32) -> Result<u32, String> {
    let mut bytes = [0; 4];
    if bus.peek(place(ring, offset)?, &mut bytes) { Ok(u32::from_le_bytes(bytes)) } else { Err(outside(ring)) }
}

fn store(bus: &mut Bus, ring: u64, offset: u32, bytes: &[u8]) -> Result<(), String> {
    if bus.poke(place(ring, offset)?, bytes) { Ok(()) } else { Err(outside(ring)) }
}
