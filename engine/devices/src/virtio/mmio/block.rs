//! The virtio disk (Virtual I/O Device (VIRTIO) Version 1.1, 5.2 "Block Device").

use super::queue::{Buffer, Direction, MOST_DESCRIPTORS};
use super::transport::{Asked, CONFIG, Transport, half};
use crate::generic::mmc_spi_slot::medium::{BLOCK_BYTES, Medium};
use crate::prelude::*;
use crate::support::apb;
use engine::dt::fault::{BoardFault, FaultKind};
use engine::host_image::{self, Access, HostImage, ImageError, NOT_LOCKED};

/// The device id.
const BLOCK: u32 = 2;
/// VIRTIO_BLK_F_SEG_MAX, VIRTIO_BLK_F_RO and VIRTIO_BLK_F_FLUSH.
const SEG_MAX: u64 = 1 << 2;
const READ_ONLY: u64 = 1 << 5;
const FLUSH: u64 = 1 << 9;
/// Types of a request (5.2.6).
const IN: u32 = 0;
const OUT: u32 = 1;
const FLUSHES: u32 = 4;
const GET_ID: u32 = 8;
/// Its status.
const OK: u8 = 0;
const IO_ERROR: u8 = 1;
const UNSUPPORTED: u8 = 2;
/// Bytes of a request before its data: type, reserved, sector.
const HEADER_BYTES: usize = 16;
/// The identity, padded with zeroes to 20 bytes.
const IDENTITY: &[u8; 20] = b"cyclescope\0\0\0\0\0\0\0\0\0\0";
/// Bytes that a request may have, so that a driver's mistake costs the host neither time nor memory.
const MOST_BYTES: u64 = 16 << 20;
/// The largest disk.
const MOST_CAPACITY_BYTES: u64 = 1 << 43;

/// The disk.
#[derive(Debug, State, Polled)]
pub struct Disk {
    transport: Transport<1>,
    #[state(skip)]
    #[poll(skip = "never changes")]
    sectors: u64,
    #[state(skip)]
    #[poll(skip = "never changes")]
    is_read_only: bool,
    #[poll(skip = "its requests' totals stand for the contents")]
    medium: Medium,
    #[state(skip)]
    #[poll(skip = "of the host")]
    image: Option<HostImage>,
    /// The first operation on the image that failed on the host.
    #[state(skip)]
    #[poll(skip = "of the host")]
    image_error: Option<(&'static str, String)>,
    /// The image's file system has no locks, which the next request notes.
    #[state(skip)]
    #[poll(skip = "of the host")]
    is_unlocked: bool,
    /// Requests, and sectors read and written.
    requests: u64,
    read: u64,
    written: u64,
}

/// The disk of a node that has an image or a capacity.
pub fn from_node(reader: &mut NodeReader, interrupt: Option<IrqLine>) -> Option<Box<dyn Device>> {
    let is_read_only = reader.flag("cyclescope,write-protect", "a disk that can't be written");
    let meaning = "the size of a disk without an image: two cells, a multiple of 512";
    let size = reader.cells("cyclescope,capacity-bytes", |_: [u32; 2]| true, meaning);
    let image = reader.string("cyclescope,image", host_image::MEANING);
    let path = image.filter(|path| !path.is_empty());
    if size.is_none() && image.is_none() {
        return None;
    }
    if size.is_none() && path.is_none() {
        let meaning = "the disk's size, or a file in cyclescope,image, which gives it".to_owned();
        reader.fault_at("compatible", FaultKind::Missing { property: "cyclescope,capacity-bytes".to_owned(), meaning });
        return Some(Box::new(Disk::new(1, is_read_only, interrupt)));
    }
    let bytes = size.map_or(0, |[high, low]| u64::from(high) << 32 | u64::from(low));
    let is_whole = bytes.is_multiple_of(BLOCK_BYTES as u64) && (1..=MOST_CAPACITY_BYTES).contains(&bytes);
    let mut disk = Disk::new(bytes / BLOCK_BYTES as u64, is_read_only, interrupt);
    if path.is_none() && !is_whole {
        reader.out_of_range("cyclescope,capacity-bytes", bytes, "1 to 2^43, a multiple of 512");
    }
    let access = if is_read_only { Access::ReadOnly } else { Access::InPlace };
    if path.is_some()
        && let Some((image, Some(file))) = HostImage::from_node(reader, access)
    {
        match Medium::image(file) {
            Ok((medium, bytes)) => (disk.medium, disk.sectors) = (medium, bytes / BLOCK_BYTES as u64),
            Err(error) => {
                let kind: FaultKind = image.fault(&error).kind;
                reader.fault_at("cyclescope,image", kind);
            }
        }
        disk.image = Some(image);
    }
    Some(Box::new(disk))
}

impl Disk {
    /// A disk of this many sectors, empty.
    pub fn new(sectors: u64, is_read_only: bool, interrupt: Option<IrqLine>) -> Disk {
        let features = SEG_MAX | FLUSH | if is_read_only { READ_ONLY } else { 0 };
        let (medium, image, image_error, is_unlocked, requests, read, written) = Default::default();
        let transport = Transport::new(BLOCK, features, interrupt);
        Disk { transport, sectors, is_read_only, medium, image, image_error, is_unlocked, requests, read, written }
    }

    /// A word of the configuration (5.2.4): capacity, size_max, seg_max. A request has two more parts than segments.
    fn configuration(&self, offset: u32) -> u32 {
        match offset {
            0 | 4 => half(self.sectors, offset / 4),
            0xc => MOST_DESCRIPTORS - 2,
            _ => 0,
        }
    }

    fn serve(&mut self, ctx: &mut Ctx) {
        if std::mem::take(&mut self.is_unlocked) {
            ctx.note(NOT_LOCKED);
        }
        if let Err(why) = self.serve_all(ctx) {
            self.transport.breaks(&format!("requestq: {why}"), ctx);
        }
    }

    fn serve_all(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        while self.transport.queues[0].ready
            && let Some(buffer) = self.transport.queues[0].pop(Direction::Both, ctx.bus)?
        {
            let len = self.request(&buffer, ctx)?;
            self.transport.give_back(0, buffer.head, len, ctx)?;
        }
        Ok(())
    }

    /// Carries a request out, and returns the number of bytes that were written to its parts.
    fn request(&mut self, buffer: &Buffer, ctx: &mut Ctx) -> Result<u32, String> {
        let (read, written) = buffer.parts.split_at(buffer.reads as usize);
        let bytes: u64 = buffer.parts.iter().map(|(_, len)| u64::from(*len)).sum();
        if bytes > MOST_BYTES {
            return Err(format!("descriptor {}: more than {MOST_BYTES} bytes at once", buffer.head));
        }
        let asked = gathered(read, buffer.head, ctx)?;
        let room: usize = written.iter().map(|(_, len)| *len as usize).sum();
        if asked.len() < HEADER_BYTES || room == 0 {
            return Err(format!("descriptor {}: a request has a header of 16 bytes and a status", buffer.head));
        }
        let mut answer = vec![0; room];
        let (data, status) = answer.split_at_mut(room - 1);
        status[0] = self.carry_out(&asked, data, ctx);
        self.requests += 1;
        scattered(written, &answer, buffer.head, ctx)?;
        Ok(room as u32)
    }

    fn carry_out(&mut self, asked: &[u8], answer: &mut [u8], ctx: &mut Ctx) -> u8 {
        let word = |at: usize| u32::from_le_bytes([asked[at], asked[at + 1], asked[at + 2], asked[at + 3]]);
        let (kind, sector, data) = (word(0), u64::from(word(12)) << 32 | u64::from(word(8)), &asked[HEADER_BYTES..]);
        let at = sector.saturating_mul(BLOCK_BYTES as u64);
        match kind {
            IN if !self.holds(sector, answer.len()) => IO_ERROR,
            IN => {
                self.read += (answer.len() / BLOCK_BYTES) as u64;
                let result = self.medium.read(at, answer);
                self.status("read", result, ctx)
            }
            OUT if self.is_read_only || !self.holds(sector, data.len()) => IO_ERROR,
            OUT => {
                self.written += (data.len() / BLOCK_BYTES) as u64;
                let result = self.medium.write(at, data);
                self.status("written", result, ctx)
            }
            // Each write reaches the operating system at once.
            FLUSHES => OK,
            GET_ID => {
                let bytes = answer.len().min(IDENTITY.len());
                answer[..bytes].copy_from_slice(&IDENTITY[..bytes]);
                OK
            }
            _ => UNSUPPORTED,
        }
    }

    /// True if the disk has these whole sectors.
    fn holds(&self, sector: u64, bytes: usize) -> bool {
        let end = sector.checked_add((bytes / BLOCK_BYTES) as u64);
        bytes.is_multiple_of(BLOCK_BYTES) && end.is_some_and(|end| end <= self.sectors)
    }

    fn status(&mut self, what: &'static str, result: std::io::Result<()>, ctx: &mut Ctx) -> u8 {
        let Err(error) = result else { return OK };
        self.image_error.get_or_insert_with(|| (what, error.to_string()));
        ctx.note(&format!("the image could not be {what}: {error}"));
        IO_ERROR
    }

    /// A run begins: the disk takes its image.
    fn open(&mut self) -> Result<(), ImageError> {
        let Some(image) = &mut self.image else { return Ok(()) };
        let (file, is_locked) = image.take()?;
        let (medium, bytes) = Medium::image(file.try_clone().map_err(ImageError::Open)?)?;
        let before_bytes = self.sectors * BLOCK_BYTES as u64;
        if bytes != before_bytes {
            return Err(ImageError::Resized { before_bytes, bytes });
        }
        self.medium = medium;
        self.is_unlocked = !is_locked;
        Ok(())
    }

    /// The run is over: the image has all that was written.
    fn close(&mut self) -> Result<(), ImageError> {
        if let Err(error) = self.medium.sync() {
            self.image_error.get_or_insert_with(|| ("synced", error.to_string()));
        }
        self.image_error.take().map_or(Ok(()), |(what, error)| Err(ImageError::DuringRun { what, error }))
    }
}

/// The bytes of parts that the device reads.
fn gathered(parts: &[(u32, u32)], head: u16, ctx: &Ctx) -> Result<Vec<u8>, String> {
    let mut all = Vec::new();
    for (addr, len) in parts {
        let at = all.len();
        all.resize(at + *len as usize, 0);
        if !ctx.bus.peek(*addr, &mut all[at..]) {
            return Err(no_memory(head, *addr, *len));
        }
    }
    Ok(all)
}

/// Writes bytes to parts.
fn scattered(parts: &[(u32, u32)], mut bytes: &[u8], head: u16, ctx: &mut Ctx) -> Result<(), String> {
    for (addr, len) in parts {
        let (now, later) = bytes.split_at(*len as usize);
        if !ctx.bus.poke(*addr, now) {
            return Err(no_memory(head, *addr, *len));
        }
        bytes = later;
    }
    Ok(())
}

fn no_memory(head: u16, addr: u32, len: u32) -> String {
    format!("descriptor {head}: no memory at {addr:#010x}, {len} bytes")
}

impl Device for Disk {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Transport::<1>::note_read(offset, size, ctx);
        let word = match offset.checked_sub(CONFIG) {
            Some(offset) => self.configuration(offset & !3),
            None => self.transport.register(offset & !3),
        };
        Ok(apb::read(word, offset, size, ctx))
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        match self.transport.write(offset, size, value, ctx) {
            Asked::Reset => self.transport.reset(),
            Asked::Status if self.transport.is_live() => self.serve(ctx),
            Asked::Notified(queue) if self.transport.takes_notification(queue, ctx) => self.serve(ctx),
            _ => {}
        }
        self.transport.drive(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn is_master(&self) -> bool {
        true
    }

    fn images(&mut self) -> Vec<&mut HostImage> {
        self.image.iter_mut().collect()
    }

    fn begin_run(&mut self) -> Vec<BoardFault> {
        let result = self.open();
        let fault = result.err().and_then(|error| self.image.as_ref().map(|image| image.fault(&error)));
        fault.into_iter().collect()
    }

    fn end_run(&mut self, _now: Ps) -> Vec<String> {
        let result = self.close();
        let Some(image) = &mut self.image else { return Vec::new() };
        image.release();
        result.err().map(|error| image.failure(&error)).into_iter().collect()
    }

    fn counters(&self) -> Vec<(String, u64)> {
        totals([("requests", self.requests), ("sectors read", self.read), ("sectors written", self.written)])
    }
}

#[cfg(test)]
mod tests;
