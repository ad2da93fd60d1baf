//! `virtio,mmio`: a virtio console (Virtual I/O Device (VIRTIO) Version 1.1) with its MMIO transport (4.2.2, version
//! 2).
//!
//! Not a part of a real board: it lets a program on the host write to the board's serial port and read from it
//! ([`engine::pipe`]). It takes no time of its own: registers answer in the cycle in which an access reaches them, and
//! buffers are read and written at once.
//!
//! Modelled: the transport's registers, feature negotiation, device status with reset, split queues 0 (receiveq) and 1
//! (transmitq) of device id 3 (5.3 "Console Device"), interrupts with their suppression by the driver. A ring that
//! violates the standard sets DEVICE_NEEDS_RESET, raises the interrupt, and has a note. A byte from the host counts as
//! *taken* when the driver makes its receive buffer available again: then the driver has finished with it. The only
//! offered feature is VIRTIO_F_VERSION_1: no console size, no multiport, no emergency write.

mod queue;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use self::queue::{Buffer, Direction, MOST_DESCRIPTORS, Queue};
use crate::model::{Group, Model};
use crate::support::apb;
use crate::support::registers::{AccessKind, Register, find};
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::pipe::Pipe;
use engine::polling::{Poll, Polled};
use engine::state::State;

const MAGIC_VALUE: u32 = 0x000;
const VERSION: u32 = 0x004;
const DEVICE_ID: u32 = 0x008;
const VENDOR_ID: u32 = 0x00c;
const DEVICE_FEATURES: u32 = 0x010;
const DEVICE_FEATURES_SEL: u32 = 0x014;
const DRIVER_FEATURES: u32 = 0x020;
const DRIVER_FEATURES_SEL: u32 = 0x024;
const QUEUE_SEL: u32 = 0x030;
const QUEUE_NUM_MAX: u32 = 0x034;
const QUEUE_NUM: u32 = 0x038;
const QUEUE_READY: u32 = 0x044;
const QUEUE_NOTIFY: u32 = 0x050;
const INTERRUPT_STATUS: u32 = 0x060;
const INTERRUPT_ACK: u32 = 0x064;
const STATUS: u32 = 0x070;
const QUEUE_DESC_LOW: u32 = 0x080;
const QUEUE_DESC_HIGH: u32 = 0x084;
const QUEUE_DRIVER_LOW: u32 = 0x090;
const QUEUE_DRIVER_HIGH: u32 = 0x094;
const QUEUE_DEVICE_LOW: u32 = 0x0a0;
const QUEUE_DEVICE_HIGH: u32 = 0x0a4;
const CONFIG_GENERATION: u32 = 0x0fc;
const CONFIG: u32 = 0x100;

/// The register map (VIRTIO 1.1, table 4.1 "MMIO Device Register Layout"), with queue 0 selected.
pub const REGISTERS: &[Register] = &[
    Register::new("MagicValue", MAGIC_VALUE, AccessKind::Ro, 0x7472_6976, u32::MAX),
    Register::new("Version", VERSION, AccessKind::Ro, 2, u32::MAX),
    Register::new("DeviceID", DEVICE_ID, AccessKind::Ro, 3, u32::MAX),
    // The vendor IDs of QEMU's devices are not registered; this is "CYSC".
    Register::new("VendorID", VENDOR_ID, AccessKind::Ro, 0x4353_5943, u32::MAX),
    Register::new("DeviceFeatures", DEVICE_FEATURES, AccessKind::Ro, 0, u32::MAX),
    Register::new("DeviceFeaturesSel", DEVICE_FEATURES_SEL, AccessKind::Wo, 0, u32::MAX),
    Register::new("DriverFeatures", DRIVER_FEATURES, AccessKind::Wo, 0, u32::MAX),
    Register::new("DriverFeaturesSel", DRIVER_FEATURES_SEL, AccessKind::Wo, 0, u32::MAX),
    Register::new("QueueSel", QUEUE_SEL, AccessKind::Wo, 0, u32::MAX),
    Register::new("QueueNumMax", QUEUE_NUM_MAX, AccessKind::Ro, MOST_DESCRIPTORS, u32::MAX),
    Register::new("QueueNum", QUEUE_NUM, AccessKind::Wo, 0, u32::MAX),
    Register::new("QueueReady", QUEUE_READY, AccessKind::Rw, 0, 1),
    Register::new("QueueNotify", QUEUE_NOTIFY, AccessKind::Wo, 0, u32::MAX),
    Register::new("InterruptStatus", INTERRUPT_STATUS, AccessKind::Ro, 0, 3),
    Register::new("InterruptACK", INTERRUPT_ACK, AccessKind::Wo, 0, 3),
    Register::new("Status", STATUS, AccessKind::Rw, 0, 0xff),
    Register::new("QueueDescLow", QUEUE_DESC_LOW, AccessKind::Wo, 0, u32::MAX),
    Register::new("QueueDescHigh", QUEUE_DESC_HIGH, AccessKind::Wo, 0, u32::MAX),
    Register::new("QueueDriverLow", QUEUE_DRIVER_LOW, AccessKind::Wo, 0, u32::MAX),
    Register::new("QueueDriverHigh", QUEUE_DRIVER_HIGH, AccessKind::Wo, 0, u32::MAX),
    Register::new("QueueDeviceLow", QUEUE_DEVICE_LOW, AccessKind::Wo, 0, u32::MAX),
    Register::new("QueueDeviceHigh", QUEUE_DEVICE_HIGH, AccessKind::Wo, 0, u32::MAX),
    Register::new("ConfigGeneration", CONFIG_GENERATION, AccessKind::Ro, 0, u32::MAX),
];

/// Device status (2.1).
mod status {
    pub const DRIVER_OK: u32 = 4;
    pub const FEATURES_OK: u32 = 8;
    pub const DEVICE_NEEDS_RESET: u32 = 64;
}

/// VIRTIO_F_VERSION_1, bit 32 of the features.
const VERSION_1: u64 = 1 << 32;
/// InterruptStatus: the device has used a buffer.
const USED_BUFFER: u32 = 1;
/// InterruptStatus: the configuration has changed, as when the device needs a reset.
const CONFIGURATION_CHANGE: u32 = 2;

/// Bytes that a transmit buffer may have, so that a driver's mistake costs the host neither time nor memory.
const MOST_SENT_BYTES: u64 = 64 << 10;

const RECEIVE: usize = 0;
const TRANSMIT: usize = 1;

/// The device.
#[derive(Debug, State)]
pub struct VirtioMmio {
    #[state(skip)]
    interrupt: Option<IrqLine>,
    pipe: Pipe,
    status: u32,
    device_features_half: u32,
    driver_features_half: u32,
    driver_features: u64,
    selected: u32,
    queues: [Queue; 2],
    interrupt_status: u32,
    /// Receive buffers that the driver has made available.
    free: VecDeque<Buffer>,
    /// Receive buffers with bytes that the driver has not returned: the first descriptor, and the number of bytes.
    unread: Vec<(u16, u64)>,
    /// Accesses with effects, and events, so far: a loop with one is in another state each iteration.
    changes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Message, &["virtio,mmio"], 1, from_node).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.flag("dma-coherent", "caches see what the device writes, as always here; changes nothing");
    Box::new(VirtioMmio::new(reader.interrupt(0, "its interrupt")))
}

impl VirtioMmio {
    /// The device after reset.
    pub fn new(interrupt: Option<IrqLine>) -> VirtioMmio {
        VirtioMmio {
            interrupt,
            pipe: Pipe::default(),
            status: 0,
            device_features_half: 0,
            driver_features_half: 0,
            driver_features: 0,
            selected: 0,
            queues: [Queue::default(); 2],
            interrupt_status: 0,
            free: VecDeque::new(),
            unread: Vec::new(),
            changes: 0,
        }
    }

    fn register(&self, offset: u32) -> u32 {
        match offset {
            DEVICE_FEATURES if self.device_features_half == 1 => (VERSION_1 >> 32) as u32,
            QUEUE_NUM_MAX if self.selected as usize >= self.queues.len() => 0,
            QUEUE_READY => self.queues.get(self.selected as usize).map_or(0, |queue| u32::from(queue.ready)),
            INTERRUPT_STATUS => self.interrupt_status,
            STATUS => self.status,
            _ => {
                let fixed = find(REGISTERS, offset).filter(|register| register.access == AccessKind::Ro);
                fixed.map_or(0, |register| register.reset)
            }
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        match offset {
            DEVICE_FEATURES_SEL => self.device_features_half = value,
            DRIVER_FEATURES_SEL => self.driver_features_half = value,
            DRIVER_FEATURES if self.driver_features_half < 2 => {
                set_half(&mut self.driver_features, self.driver_features_half == 1, value);
            }
            QUEUE_SEL => self.selected = value,
            QUEUE_NOTIFY => self.notified(value, ctx),
            INTERRUPT_ACK => self.interrupt_status &= !value,
            STATUS => self.set_status(value, ctx),
            _ => self.set_queue(offset, value, ctx),
        }
    }

    fn set_queue(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let Some(queue) = self.queues.get_mut(self.selected as usize) else { return };
        if queue.ready && offset != QUEUE_READY {
            ctx.note("a queue was set up anew while QueueReady is 1: that has no effect");
            return;
        }
        match offset {
            QUEUE_NUM => queue.size = value,
            QUEUE_DESC_LOW | QUEUE_DESC_HIGH => set_half(&mut queue.descriptors, offset == QUEUE_DESC_HIGH, value),
            QUEUE_DRIVER_LOW | QUEUE_DRIVER_HIGH => set_half(&mut queue.available, offset == QUEUE_DRIVER_HIGH, value),
            QUEUE_DEVICE_LOW | QUEUE_DEVICE_HIGH => set_half(&mut queue.used, offset == QUEUE_DEVICE_HIGH, value),
            QUEUE_READY => match queue.check(ctx.bus) {
                Err(why) if value & 1 != 0 => self.breaks(&why, ctx),
                _ => {
                    queue.ready = value & 1 != 0;
                    // Buffers are returned to the rings that they came from.
                    if !queue.ready && self.selected as usize == RECEIVE {
                        self.free.clear();
                    }
                }
            },
            _ => {}
        }
    }

    fn set_status(&mut self, value: u32, ctx: &mut Ctx) {
        if value == 0 {
            self.reset_device(ctx);
            return;
        }
        // 2.2.2: the driver may only select offered features, and version 1 is mandatory.
        let agreed = self.driver_features == VERSION_1;
        if value & status::FEATURES_OK != 0 && !agreed {
            ctx.note(&format!("the driver wants features {:#x}: only {VERSION_1:#x} is offered", self.driver_features));
        }
        let refused = if agreed { 0 } else { status::FEATURES_OK };
        self.status = value & 0xff & !refused | self.status & status::DEVICE_NEEDS_RESET;
        if self.is_live() {
            self.receive(ctx);
        }
    }

    /// Unread bytes are lost, as on a line without a listener.
    fn reset_device(&mut self, ctx: &mut Ctx) {
        let lost = self.unread.iter().map(|(_, bytes)| bytes).sum();
        let pipe = std::mem::take(&mut self.pipe);
        *self = VirtioMmio { pipe, changes: self.changes, ..VirtioMmio::new(self.interrupt) };
        self.pipe.set_open(false, ctx.now);
        if self.pipe.took(lost, ctx.now) {
            ctx.pause();
        }
    }

    fn is_live(&self) -> bool {
        self.status & (status::DRIVER_OK | status::DEVICE_NEEDS_RESET) == status::DRIVER_OK
    }

    fn notified(&mut self, queue: u32, ctx: &mut Ctx) {
        if !self.is_live() {
            ctx.note(
                "a queue is notified before the driver is ready (Status.DRIVER_OK), or after an error: nothing comes \
                 of it",
            );
            return;
        }
        match queue as usize {
            RECEIVE => self.receive(ctx),
            TRANSMIT => self.transmit(ctx),
            _ => ctx.note(&format!("queue {queue} is notified: there are 2")),
        }
    }

    /// Takes the receive buffers that have become free, and fills them.
    fn receive(&mut self, ctx: &mut Ctx) {
        let done = self.find_free(ctx).and_then(|()| self.fill(ctx));
        if let Err(why) = done {
            self.breaks(&format!("receiveq: {why}"), ctx);
        }
    }

    fn find_free(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        while self.queues[RECEIVE].ready
            && let Some(buffer) = self.queues[RECEIVE].pop(Direction::In, ctx.bus)?
        {
            if self.free.len() as u32 >= self.queues[RECEIVE].size {
                return Err(format!("buffer {} is available again before it was used", buffer.head));
            }
            let read = self.unread.iter().position(|(head, _)| *head == buffer.head);
            let bytes = read.map_or(0, |read| self.unread.remove(read).1);
            if self.pipe.took(bytes, ctx.now) {
                ctx.pause();
            }
            self.free.push_back(buffer);
            if self.pipe.set_open(true, ctx.now) {
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
            if self.queues[RECEIVE].give_back(buffer.head, written, ctx.bus)? {
                self.interrupt_status |= USED_BUFFER;
            }
        }
        Ok(())
    }

    fn transmit(&mut self, ctx: &mut Ctx) {
        if let Err(why) = self.send(ctx) {
            self.breaks(&format!("transmitq: {why}"), ctx);
        }
    }

    fn send(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        while self.queues[TRANSMIT].ready
            && let Some(buffer) = self.queues[TRANSMIT].pop(Direction::Out, ctx.bus)?
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
            if self.queues[TRANSMIT].give_back(buffer.head, 0, ctx.bus)? {
                self.interrupt_status |= USED_BUFFER;
            }
        }
        Ok(())
    }

    /// The driver has violated the standard: nothing is processed until it resets the device (2.1.1).
    fn breaks(&mut self, why: &str, ctx: &mut Ctx) {
        ctx.note(&format!("the driver has to reset it: {why}"));
        self.status |= status::DEVICE_NEEDS_RESET;
        self.interrupt_status |= CONFIGURATION_CHANGE;
    }
}

impl Device for VirtioMmio {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        // The configuration has fields only for features that are not offered.
        if offset < CONFIG && size != AccessSize::Word {
            ctx.note("a control register is read by less than a word, which no driver may (4.2.2.2)");
        }
        Ok(apb::read(self.register(offset & !3), offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        if offset < CONFIG && size != AccessSize::Word {
            ctx.note(
                "a control register is written by less than a word, which no driver may (4.2.2.2): that has no effect",
            );
        } else {
            self.changes += 1;
            self.set_register(offset, value, ctx);
            ctx.set_irq(self.interrupt, self.interrupt_status != 0);
        }
        Ok(Reply::written(ctx.now))
    }

    /// Bytes from the host have arrived.
    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.changes += 1;
        if self.is_live() {
            self.receive(ctx);
            ctx.set_irq(self.interrupt, self.interrupt_status != 0);
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

impl Polled for VirtioMmio {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.changes);
        true
    }
}

fn set_half(register: &mut u64, high: bool, value: u32) {
    let shift = if high { 32 } else { 0 };
    *register = *register & !(u64::from(u32::MAX) << shift) | u64::from(value) << shift;
}
