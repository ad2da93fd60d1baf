//! The path of a transfer through the engine: a read side, a buffer of two bursts, a write side.
//!
//! The read side requests a burst as soon as its address channel is free and the buffer has room, so that the latency
//! of a memory overlaps with its data. The write side sends a burst's address when its first word (with store and
//! forward: its last) has passed through, and then a beat a clock while there are words and the target is ready.
//!
//! Memory is read and written in whole bursts, with the RAM's timing. A device gets each beat at the beat's own time,
//! one event a beat, in order with the accesses of all other masters.

use super::{AxiCdma, Params, READ, WRITE};
use crate::prelude::*;
use crate::support::bus_master::{is_memory, size_of};
use engine::bus::{Bus, BusFault, Target};
use engine::faults::BusFaultKind;
use engine::memory::ram::Direction;

/// AXI4 bursts do not cross addresses of this many bytes.
const BOUNDARY_BYTES: u32 = 4096;
/// The longest FIXED burst of AXI4.
const FIXED_BEATS: u32 = 16;
/// The longest burst of AXI4, in bytes of 32-bit beats.
const BURST_BYTES: usize = 1024;

/// Why a transfer failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Failure {
    /// The engine refused it (DMAIntErr).
    Internal,
    /// A target answered with an error (DMASlvErr).
    Slave,
    /// The address is unmapped (DMADecErr).
    Decode,
}

/// One side of a transfer.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct Side {
    addr: u32,
    left_bytes: u32,
    keyhole: bool,
    /// Beats left of a burst to a device, and the map entry of the device.
    burst_left: u32,
    entry: usize,
    /// The time of the burst's address, the address, and the number of bytes that are to be moved.
    begun: (Ps, u32, u32),
    streams: bool,
    /// The latency of its address.
    travel: Ps,
    /// The earliest time of the next operation on this side.
    not_before: Ps,
    /// True if an event was requested.
    pub armed: bool,
}

impl Side {
    /// One side of a transfer of `bytes`.
    pub fn new(addr: u32, bytes: u32, keyhole: bool) -> Side {
        Side { addr, left_bytes: bytes, keyhole, ..Side::default() }
    }

    /// Beats of the next burst. A burst does not cross the start or the end of an overlay.
    fn next_beats(&self, params: &Params, bus: &Bus) -> u32 {
        let words = self.left_bytes.div_ceil(4);
        if self.keyhole {
            return words.min(params.max_burst_beats).min(FIXED_BEATS);
        }
        let to_boundary = (BOUNDARY_BYTES - self.addr % BOUNDARY_BYTES) / 4;
        let beats = words.min(params.max_burst_beats).min(if params.lite { u32::MAX } else { to_boundary });
        bus.bytes_to_boundary(self.addr, beats * 4).div_ceil(4)
    }

    /// Bytes of `beats`: the last word of a transfer may be incomplete.
    fn bytes_of(&self, beats: u32) -> u32 {
        (beats * 4).min(self.left_bytes)
    }

    /// The map entry that holds all of the next `beats`.
    fn entry_of(&self, beats: u32, ctx: &Ctx) -> Option<usize> {
        let span = if self.keyhole { 4 } else { beats * 4 };
        let entry = ctx.bus.entry_at(self.addr)?;
        let last = self.addr.checked_add(span - 1)?;
        (last <= ctx.bus.map[entry].last).then_some(entry)
    }

    /// The address of a burst to or from a device: its beats begin when the address has arrived.
    fn open_device_burst(&mut self, beats: u32, ctx: &mut Ctx) -> Result<(), (Failure, Ps)> {
        let entry = self.entry_of(beats, ctx).ok_or((Failure::Decode, ctx.now))?;
        let mut streams = true;
        if let Target::Device(id, range) = ctx.bus.map[entry].target {
            // The engine itself is absent while it is being called.
            let device = ctx.bus.devices[id.0 as usize].as_ref().ok_or((Failure::Slave, ctx.now))?;
            streams = device.streams(range, ctx.bus.map[entry].offset(self.addr));
        }
        let arrival = ctx.bus.path(entry).request(ctx.now);
        self.begun = (ctx.now, self.addr, self.bytes_of(beats));
        self.travel = arrival.saturating_sub(ctx.now);
        (self.entry, self.burst_left, self.streams, self.not_before) = (entry, beats, streams, arrival);
        Ok(())
    }

    fn advance(&mut self, bytes: u32) {
        self.left_bytes -= bytes;
        if !self.keyhole {
            self.addr = self.addr.wrapping_add(bytes);
        }
    }
}

impl From<BusFault> for Failure {
    fn from(fault: BusFault) -> Failure {
        match fault.kind {
            BusFaultKind::Unmapped => Failure::Decode,
            BusFaultKind::Slave => Failure::Slave,
        }
    }
}

impl AxiCdma {
    pub(super) fn read_due(&mut self, ctx: &mut Ctx) {
        self.read.armed = false;
        let result = if self.read.burst_left > 0 { self.read_device_beat(ctx) } else { self.read_burst(ctx) };
        self.carry_on(result, ctx);
    }

    pub(super) fn write_due(&mut self, ctx: &mut Ctx) {
        self.write.armed = false;
        let result = if self.write.burst_left > 0 { self.write_device_beat(ctx) } else { self.write_burst(ctx) };
        self.carry_on(result, ctx);
    }

    fn carry_on(&mut self, result: Result<(), (Failure, Ps)>, ctx: &mut Ctx) {
        match result {
            Err((failure, done)) => self.finish_at(done, Err(failure), ctx),
            Ok(()) if self.write.left_bytes == 0 => self.finish_at(self.responded, Ok(()), ctx),
            Ok(()) => {
                self.arm_read(ctx);
                self.arm_write(ctx);
            }
        }
    }

    /// Room in the buffer, which holds two bursts.
    fn room(&self) -> u32 {
        2 * self.params.max_burst_beats - self.buffer.len() as u32
    }

    /// Takes the first word out of the buffer: it has arrived.
    fn pop(&mut self) -> u32 {
        self.buffer.pop_front().map_or(0, |(word, _)| word)
    }

    /// The arrival time of word `index` in the buffer, if it has arrived.
    fn arrival(&self, index: u32) -> Option<Ps> {
        self.buffer.get(index as usize).map(|(_, arrived)| *arrived)
    }

    fn arm_read(&mut self, ctx: &mut Ctx) {
        let needed = if self.read.burst_left > 0 { 1 } else { self.read.next_beats(&self.params, ctx.bus) };
        if self.read.armed || self.read.left_bytes == 0 || self.room() < needed {
            return;
        }
        self.read.armed = true;
        self.schedule(self.edge(self.read.not_before.max(ctx.now)), READ, ctx);
    }

    fn arm_write(&mut self, ctx: &mut Ctx) {
        if self.write.armed || self.write.left_bytes == 0 {
            return;
        }
        let Some(ready) = self.write_ready(ctx) else { return };
        self.write.armed = true;
        self.schedule(self.edge(ready.max(self.write.not_before).max(ctx.now)), WRITE, ctx);
    }

    /// The time from which on the write side has the words for its next step; `None` if they have not arrived.
    fn write_ready(&self, ctx: &Ctx) -> Option<Ps> {
        let forward = self.params.forward_cycles;
        let passed = |arrived: Ps| self.params.port.clock.after(arrived, forward);
        if self.write.burst_left > 0 {
            return self.arrival(0).map(passed);
        }
        let beats = self.write.next_beats(&self.params, ctx.bus);
        let last = self.arrival(beats - 1);
        if self.params.store_and_forward {
            return last.map(passed);
        }
        let first = passed(self.arrival(0)?);
        if is_memory(self.write.addr, ctx) {
            // Sent as one burst: not before its last word can follow a beat a clock.
            let span = self.params.port.clock.ps_at_floor(Cycles(u64::from(beats - 1)));
            return last.map(|last| first.max(passed(last).saturating_sub(span)));
        }
        Some(first)
    }

    fn read_burst(&mut self, ctx: &mut Ctx) -> Result<(), (Failure, Ps)> {
        let beats = self.read.next_beats(&self.params, ctx.bus);
        self.totals.bursts += 1;
        let mut bytes = [0; BURST_BYTES];
        let bytes = &mut bytes[..self.read.bytes_of(beats) as usize];
        if self.read.keyhole || !ctx.bus.peek(self.read.addr, bytes) {
            return self.read.open_device_burst(beats, ctx);
        }
        let access = ctx.bus.read_burst(ctx.now, self.read.addr, bytes.len() as u32).map_err(failed)?;
        // The last beat is complete at `done`, each earlier beat a clock before the next.
        let clock = self.params.port.clock;
        let last = clock.cycles_until_ceil(access.done).0;
        for (index, word) in bytes.chunks(4).enumerate() {
            let before = (beats as usize - 1 - index) as u64;
            self.buffer.push_back((word_of(word), clock.ps_at_floor(Cycles(last.saturating_sub(before)))));
        }
        self.read.advance(bytes.len() as u32);
        self.read.not_before = self.next_clock(access.arrived);
        Ok(())
    }

    fn write_burst(&mut self, ctx: &mut Ctx) -> Result<(), (Failure, Ps)> {
        let beats = self.write.next_beats(&self.params, ctx.bus);
        self.totals.bursts += 1;
        if !is_memory(self.write.addr, ctx) {
            return self.write.open_device_burst(beats, ctx);
        }
        self.write.entry_of(beats, ctx).ok_or((Failure::Decode, ctx.now))?;
        let mut bytes = [0; BURST_BYTES];
        let bytes = &mut bytes[..self.write.bytes_of(beats) as usize];
        for place in bytes.chunks_mut(4) {
            place.copy_from_slice(&self.pop().to_le_bytes()[..place.len()]);
        }
        let access = ctx.bus.write_burst(ctx.now, self.write.addr, bytes.len() as u32).map_err(failed)?;
        if self.write.keyhole {
            // Every word overwrites the previous one: the last remains.
            ctx.bus.poke(self.write.addr, &bytes[(bytes.len() - 1) / 4 * 4..]);
        } else {
            ctx.bus.poke(self.write.addr, bytes);
        }
        self.write.advance(bytes.len() as u32);
        self.totals.bytes += bytes.len() as u64;
        let last_beat = self.params.port.clock.after(ctx.now, Cycles(u64::from(beats - 1)));
        self.end_write_burst(last_beat, access.done);
        Ok(())
    }

    fn read_device_beat(&mut self, ctx: &mut Ctx) -> Result<(), (Failure, Ps)> {
        let (entry, addr) = (self.read.entry, self.read.addr);
        let (word, answered) = ctx.bus.read_beat(entry, ctx.now, addr, AccessSize::Word).map_err(failed)?;
        let done = ctx.bus.path(entry).response(answered);
        self.buffer.push_back((word, done));
        self.read.not_before = self.next_beat(self.read.streams, ctx.now, answered);
        self.read.burst_left -= 1;
        if self.read.burst_left == 0 {
            ctx.bus.record_burst(entry, self.read.begun, Direction::Read, done);
        }
        self.read.advance(self.read.bytes_of(1));
        Ok(())
    }

    fn write_device_beat(&mut self, ctx: &mut Ctx) -> Result<(), (Failure, Ps)> {
        let (entry, addr, bytes) = (self.write.entry, self.write.addr, self.write.bytes_of(1));
        let word = self.pop();
        let answered = ctx.bus.write_beat(entry, ctx.now, addr, size_of(bytes), word).map_err(failed)?;
        self.write.burst_left -= 1;
        self.write.advance(bytes);
        self.totals.bytes += u64::from(bytes);
        self.write.not_before = self.next_beat(self.write.streams, ctx.now, answered);
        if self.write.burst_left == 0 {
            // As the engine sees it: the target sees each beat later, after the latency of the route.
            let last_beat = if self.write.streams { ctx.now } else { answered };
            let done = ctx.bus.path(entry).response(answered);
            self.end_write_burst(last_beat.saturating_sub(self.write.travel), done);
            ctx.bus.record_burst(entry, self.write.begun, Direction::Write, done);
        }
        Ok(())
    }

    fn end_write_burst(&mut self, last_beat: Ps, response: Ps) {
        let gap = Cycles(self.params.burst_gap_cycles.0 + 1);
        self.write.not_before = self.params.port.clock.after(last_beat, gap);
        self.responded = self.responded.max(response);
    }

    /// The earliest time of the beat after one at `now`: the next clock, or the answer to this beat.
    fn next_beat(&self, streams: bool, now: Ps, answered: Ps) -> Ps {
        self.next_clock(if streams { now } else { answered })
    }

    fn next_clock(&self, at: Ps) -> Ps {
        self.params.port.clock.after(at, Cycles(1))
    }

    fn edge(&self, at: Ps) -> Ps {
        self.params.port.clock.edge_at_or_after(at)
    }
}

fn failed(fault: BusFault) -> (Failure, Ps) {
    (Failure::from(fault), fault.done)
}

/// A word from its bytes in memory; an incomplete word is filled with zeroes.
fn word_of(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    u32::from_le_bytes(word)
}
