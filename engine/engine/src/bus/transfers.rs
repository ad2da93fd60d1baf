//! Reads, writes and bursts, as a master sees them: over the route to the RAM's port or the device, and back.

use super::device::AccessSize;
use super::transactions::Moves;
use super::{Access, Bus, BusFault, Target};
use crate::faults::BusFaultKind;
use crate::memory::ram::Direction;
use crate::time::Ps;

impl Bus {
    /// A load by a master.
    ///
    /// # Errors
    /// [`BusFault`] if nothing or an error answers.
    pub fn read(&mut self, at: Ps, addr: u32, size: AccessSize) -> Result<Access, BusFault> {
        let entry = self.entry_at(addr).ok_or_else(|| unmapped(addr, at))?;
        let arrived = self.path(entry).request(at);
        self.read_arrived(entry, (at, arrived), addr, size)
    }

    /// As [`Bus::read`], from a known map entry, after the request has arrived there: its times of request and arrival.
    ///
    /// # Errors
    /// As for [`Bus::read`].
    #[inline]
    pub fn read_arrived(
        &mut self,
        entry: usize,
        (at, arrived): (Ps, Ps),
        addr: u32,
        size: AccessSize,
    ) -> Result<Access, BusFault> {
        let beat = self.read_beat(entry, arrived, addr, size);
        let answer = beat.map(|(value, answered)| self.answered(entry, arrived, answered, value));
        self.recorded(at, addr, Moves::Read(size), answer)
    }

    /// A store by a master, up to its response.
    ///
    /// # Errors
    /// [`BusFault`] if nothing or an error answers.
    pub fn write(&mut self, at: Ps, addr: u32, size: AccessSize, value: u32) -> Result<Access, BusFault> {
        let entry = self.entry_at(addr).ok_or_else(|| unmapped(addr, at))?;
        let arrived = self.path(entry).request(at);
        self.write_arrived(entry, (at, arrived), addr, size, value)
    }

    /// As [`Bus::write`], to a known map entry, after the request has arrived there: its times of request and arrival.
    ///
    /// # Errors
    /// As for [`Bus::write`].
    #[inline]
    pub fn write_arrived(
        &mut self,
        entry: usize,
        (at, arrived): (Ps, Ps),
        addr: u32,
        size: AccessSize,
        value: u32,
    ) -> Result<Access, BusFault> {
        let beat = self.write_beat(entry, arrived, addr, size, value);
        let answer = beat.map(|answered| self.answered(entry, arrived, answered, 0));
        self.recorded(at, addr, Moves::Write(size, value), answer)
    }

    /// A burst read of `bytes` from memory or an execute-in-place window (a line fill, a DMA read), for its timing: see
    /// [`Bus::peek`] for the bytes. Across a boundary ([`super::boundaries`]), it is several bursts in sequence.
    ///
    /// # Errors
    /// [`BusFault`] if nothing, registers, or an error answers.
    pub fn read_burst(&mut self, at: Ps, addr: u32, bytes: u32) -> Result<Access, BusFault> {
        let entry = self.entry_at(addr).ok_or_else(|| unmapped(addr, at))?;
        let here = self.bytes_to_boundary(addr, bytes);
        if here < bytes {
            let first = self.read_burst(at, addr, here)?;
            return self.read_burst(first.done, addr + here, bytes - here).map(|second| first.then(second));
        }
        let arrived = self.path(entry).request(at);
        let offset = self.map[entry].offset(addr);
        let answered = match self.map[entry].target {
            Target::Ram(ram) => {
                self.count_transfer(ram);
                Ok(self.rams[ram].transfer(arrived, offset, bytes, Direction::Read))
            }
            Target::Device(id, range) => self
                .with_device(id, arrived, |device, ctx| device.burst(range, offset, bytes, ctx))
                .map_err(|error| self.slave_fault(entry, addr, error.done)),
        };
        let answer = answered.map(|answered| self.answered(entry, arrived, answered, 0));
        self.recorded(at, addr, Moves::ReadBurst(bytes), answer)
    }

    /// A burst write of `bytes` to memory (a line write-back, a DMA write), for its timing; [`Bus::poke`] has the
    /// bytes. Across a boundary, it is several bursts in sequence, as a read is.
    ///
    /// # Errors
    /// [`BusFault`] unless a RAM answers.
    pub fn write_burst(&mut self, at: Ps, addr: u32, bytes: u32) -> Result<Access, BusFault> {
        let entry = self.entry_at(addr).ok_or_else(|| unmapped(addr, at))?;
        let here = self.bytes_to_boundary(addr, bytes);
        if here < bytes {
            let first = self.write_burst(at, addr, here)?;
            return self.write_burst(first.done, addr + here, bytes - here).map(|second| first.then(second));
        }
        let arrived = self.path(entry).request(at);
        let Target::Ram(ram) = self.map[entry].target else {
            return Err(self.slave_fault(entry, addr, arrived));
        };
        let offset = self.map[entry].offset(addr);
        self.count_transfer(ram);
        let answered = self.rams[ram].transfer(arrived, offset, bytes, Direction::Write);
        let answer = Ok(self.answered(entry, arrived, answered, 0));
        self.recorded(at, addr, Moves::WriteBurst(bytes), answer)
    }

    #[inline]
    fn answered(&self, entry: usize, arrived: Ps, answered: Ps, value: u32) -> Access {
        Access { value, entry, arrived, answered, done: self.path(entry).response(answered) }
    }

    /// The result of an access that was begun at `at`: recorded if transactions are.
    #[inline]
    fn recorded(
        &mut self,
        at: Ps,
        addr: u32,
        moves: Moves,
        answer: Result<Access, BusFault>,
    ) -> Result<Access, BusFault> {
        if self.records_transactions() {
            self.record_transaction(at, addr, moves, &answer);
        }
        answer
    }

    /// One beat of a read at the target itself, after the route's latency: its value, and the time of the answer.
    ///
    /// # Errors
    /// [`BusFault`] if the device answers with an error.
    pub fn read_beat(&mut self, entry: usize, at: Ps, addr: u32, size: AccessSize) -> Result<(u32, Ps), BusFault> {
        let offset = self.map[entry].offset(addr);
        match self.map[entry].target {
            Target::Ram(ram) => {
                self.count_transfer(ram);
                let done = self.rams[ram].transfer(at, offset, size.bytes(), Direction::Read);
                let mut bytes = [0; 4];
                self.rams[ram].read(offset, &mut bytes[..size.bytes() as usize]);
                Ok((u32::from_le_bytes(bytes), done))
            }
            Target::Device(id, range) => {
                if self.watches.has_device_reads() {
                    self.see_access(addr, size.bytes(), false);
                }
                self.with_device(id, at, |device, ctx| device.read(range, offset, size, ctx))
                    .map(|reply| (reply.value, reply.done))
                    .map_err(|error| self.slave_fault(entry, addr, error.done))
            }
        }
    }

    /// One beat of a write at the target itself: the time of the answer.
    ///
    /// # Errors
    /// [`BusFault`] if the device answers with an error.
    pub fn write_beat(
        &mut self,
        entry: usize,
        at: Ps,
        addr: u32,
        size: AccessSize,
        value: u32,
    ) -> Result<Ps, BusFault> {
        let offset = self.map[entry].offset(addr);
        match self.map[entry].target {
            Target::Ram(ram) => {
                self.count_transfer(ram);
                let done = self.rams[ram].transfer(at, offset, size.bytes(), Direction::Write);
                self.write_ram(ram, offset, &value.to_le_bytes()[..size.bytes() as usize]);
                Ok(done)
            }
            Target::Device(id, range) => {
                if self.watches.has_devices() {
                    self.see_access(addr, size.bytes(), true);
                }
                self.with_device(id, at, |device, ctx| {
                    let is_followed = ctx.bus.store_arrives(ctx.core, id, ctx.now);
                    let reply = device.write(range, offset, size, value, ctx);
                    if is_followed {
                        ctx.bus.store_over();
                    }
                    reply
                })
                .map(|reply| reply.done)
                .map_err(|error| self.slave_fault(entry, addr, error.done))
            }
        }
    }

    /// A memory's port is about to serve the present master.
    #[inline]
    fn count_transfer(&mut self, ram: usize) {
        if self.master.is_none() {
            self.transfers_by_devices += 1;
            self.rams[ram].take(self.transfers_by_devices);
        }
    }

    fn slave_fault(&self, entry: usize, addr: u32, done: Ps) -> BusFault {
        BusFault { addr, kind: BusFaultKind::Slave, done: self.path(entry).response(done), entry: Some(entry) }
    }
}

fn unmapped(addr: u32, at: Ps) -> BusFault {
    BusFault { addr, kind: BusFaultKind::Unmapped, done: at, entry: None }
}
