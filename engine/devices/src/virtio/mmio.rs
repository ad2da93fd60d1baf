//! `virtio,mmio`: a virtio console (Virtual I/O Device (VIRTIO) Version 1.1), or with `cyclescope,image` or
//! `cyclescope,capacity-bytes` a virtio disk, with its MMIO transport (4.2.2, version 2).
//!
//! Not a part of a real board: the console lets a program on the host write to the board's serial port and read from it
//! ([`engine::pipe`]); the disk gives a system its files. It takes no time of its own: registers answer in the cycle in
//! which an access reaches them, and buffers are read and written at once.
//!
//! Modelled: the transport's registers, feature negotiation, device status with reset, split queues, interrupts with
//! their suppression by the driver. A ring that violates the standard sets DEVICE_NEEDS_RESET, raises the interrupt,
//! and has a note.
//!
//! The console (device id 3, 5.3 "Console Device") has queues 0 (receiveq) and 1 (transmitq). A byte from the host
//! counts as *taken* when the driver makes its receive buffer available again: then the driver has finished with it.
//! The only offered feature is VIRTIO_F_VERSION_1: no console size, no multiport, no emergency write.
//!
//! The disk (device id 2, 5.2 "Block Device") has one queue, reads, writes and flushes, an identity, and, with
//! `cyclescope,write-protect`, VIRTIO_BLK_F_RO. Its contents are a raw image file or memory: as those of an SD card.

mod block;
mod queue;
mod transport;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use self::queue::{Buffer, Direction, Queue};
use self::transport::*;
use crate::prelude::*;
use crate::support::apb;
use engine::pipe::Pipe;

/// Bytes that a transmit buffer may have, so that a driver's mistake costs the host neither time nor memory.
const MOST_SENT_BYTES: u64 = 64 << 10;

/// The console's device id.
const CONSOLE: u32 = 3;
const RECEIVE: usize = 0;
const TRANSMIT: usize = 1;

/// The console.
#[derive(Debug, State, Polled)]
pub struct VirtioMmio {
    transport: Transport<2>,
    #[poll(skip = "its bytes come in events, and go with the queues' progress")]
    pipe: Pipe,
    /// Receive buffers that the driver has made available.
    #[poll(skip = "follows from the progress of the receive queue")]
    free: VecDeque<Buffer>,
    /// Receive buffers with bytes that the driver has not returned: the first descriptor, and the number of bytes.
    unread: Vec<(u16, u64)>,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Message, &["virtio,mmio"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.flag("dma-coherent", "caches see what the device writes, as always here; changes nothing");
    let interrupt = reader.interrupt(0, "its interrupt");
    if let Some(disk) = block::from_node(reader, interrupt) {
        return disk;
    }
    Box::new(VirtioMmio::new(interrupt))
}

impl VirtioMmio {
    /// The device after reset.
    pub fn new(interrupt: Option<IrqLine>) -> VirtioMmio {
        let (pipe, free, unread) = Default::default();
        VirtioMmio { transport: Transport::new(CONSOLE, 0, interrupt), pipe, free, unread }
    }

    fn queue(&mut self, index: usize) -> &mut Queue {
        &mut self.transport.queues[index]
    }

    fn asked(&mut self, asked: Asked, ctx: &mut Ctx) {
        match asked {
            Asked::Nothing => {}
            Asked::Reset => self.reset_device(ctx),
            Asked::Status if self.transport.is_live() => self.receive(ctx),
            Asked::Status => {}
            Asked::Notified(queue) if !self.transport.takes_notification(queue, ctx) => {}
            Asked::Notified(queue) if queue as usize == RECEIVE => self.receive(ctx),
            Asked::Notified(_) => self.transmit(ctx),
            // Buffers are returned to the rings that they came from.
            Asked::Stopped(RECEIVE) => self.free.clear(),
            Asked::Stopped(_) => {}
        }
    }

    /// Unread bytes are lost, as on a line without a listener.
    fn reset_device(&mut self, ctx: &mut Ctx) {
        let lost = self.unread.drain(..).map(|(_, bytes)| bytes).sum();
        self.free.clear();
        self.transport.reset();
        self.pipe.set_open(false, ctx.now);
        if self.pipe.took(lost, ctx.now) {
            ctx.pause();
        }
    }

    /// Takes the receive buffers that have become free, and fills them.
    fn receive(&mut self, ctx: &mut Ctx) {
        if let Err(why) = self.find_free(ctx).and_then(|()| self.fill(ctx)) {
            self.transport.breaks(&format!("receiveq: {why}"), ctx);
        }
    }

    fn find_free(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        while self.transport.queues[RECEIVE].ready
            && let Some(buffer) = self.queue(RECEIVE).pop(Direction::In, ctx.bus)?
        {
            if self.free.len() as u32 >= self.queue(RECEIVE).size {
                return Err(format!("buffer {} is available again before it was used", buffer.head));
            }
            let read = self.unread.iter().position(|(head, _)| *head == buffer.head);
            let bytes = read.map_or(0, |read| self.unread.remove(read).1);
            self.free.push_back(buffer);
            if self.pipe.took(bytes, ctx.now) | self.pipe.set_open(true, ctx.now) {
                ctx.pause();
            }
        }
        Ok(())
    }

    fn fill(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        while self.pipe.waiting_bytes() > 0
            && let Some(buffer) = self.free.pop_front()
        {
            let mut written = 0;
            for (addr, len) in &buffer.parts {
                let bytes = self.pipe.deliver(*len as usize);
                if !ctx.bus.poke(*addr, &bytes) {
                    return Err(format!("descriptor {}: no memory at {addr:#010x}, {len} bytes", buffer.head));
                }
                written += bytes.len() as u32;
            }
            self.unread.push((buffer.head, u64::from(written)));
            self.transport.give_back(RECEIVE, buffer.head, written, ctx)?;
        }
        Ok(())
    }

    fn transmit(&mut self, ctx: &mut Ctx) {
        if let Err(why) = self.send(ctx) {
            self.transport.breaks(&format!("transmitq: {why}"), ctx);
        }
    }

    fn send(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        while self.transport.queues[TRANSMIT].ready
            && let Some(buffer) = self.queue(TRANSMIT).pop(Direction::Out, ctx.bus)?
        {
            let mut total_bytes = 0;
            for (addr, len) in &buffer.parts {
                let missing = || format!("descriptor {}: no memory at {addr:#010x}, {len} bytes", buffer.head);
                // Before there is room for them.
                if *len != 0 && !ctx.bus.can_load(*addr, 1, *len) {
                    return Err(missing());
                }
                total_bytes += u64::from(*len);
                if total_bytes > MOST_SENT_BYTES {
                    return Err(format!("descriptor {}: more than {MOST_SENT_BYTES} bytes at once", buffer.head));
                }
                let mut bytes = vec![0; *len as usize];
                if !ctx.bus.peek(*addr, &mut bytes) {
                    return Err(missing());
                }
                if self.pipe.send(&bytes, ctx.now) {
                    ctx.pause();
                }
            }
            self.transport.give_back(TRANSMIT, buffer.head, 0, ctx)?;
        }
        Ok(())
    }
}

impl Device for VirtioMmio {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Transport::<2>::note_read(offset, size, ctx);
        Ok(apb::read(self.transport.register(offset & !3), offset, size, ctx))
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let asked = self.transport.write(offset, size, value, ctx);
        self.asked(asked, ctx);
        self.transport.drive(ctx);
        Ok(Reply::written(ctx.now))
    }

    /// Bytes from the host have arrived.
    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        if self.transport.is_live() {
            self.receive(ctx);
            self.transport.drive(ctx);
        }
    }

    fn pipe(&mut self) -> Option<&mut Pipe> {
        Some(&mut self.pipe)
    }

    fn is_master(&self) -> bool {
        true
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("taken".to_owned(), self.pipe.taken_bytes()), ("sent".to_owned(), self.pipe.sent_bytes())]
    }
}
