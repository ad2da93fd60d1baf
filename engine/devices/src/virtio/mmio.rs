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
use crate::prelude::*;
use crate::support::apb;
use engine::pipe::Pipe;

registers! {
    /// The register map (VIRTIO 1.1, table 4.1 "MMIO Device Register Layout"), with queue 0 selected.
    const MAP "" {
        MAGIC_VALUE "MagicValue" 0x000 ro reset 0x7472_6976;
        VERSION "Version" 0x004 ro reset 2;
        DEVICE_ID "DeviceID" 0x008 ro reset 3;
        /// The vendor IDs of QEMU's devices are not registered; this is "CYSC".
        VENDOR_ID "VendorID" 0x00c ro reset 0x4353_5943;
        DEVICE_FEATURES "DeviceFeatures" 0x010 ro;
        DEVICE_FEATURES_SEL "DeviceFeaturesSel" 0x014 wo;
        DRIVER_FEATURES "DriverFeatures" 0x020 wo;
        DRIVER_FEATURES_SEL "DriverFeaturesSel" 0x024 wo;
        QUEUE_SEL "QueueSel" 0x030 wo;
        QUEUE_NUM_MAX "QueueNumMax" 0x034 ro reset MOST_DESCRIPTORS;
        QUEUE_NUM "QueueNum" 0x038 wo;
        QUEUE_READY "QueueReady" 0x044 rw volatile mask 1;
        QUEUE_NOTIFY "QueueNotify" 0x050 wo;
        INTERRUPT_STATUS "InterruptStatus" 0x060 ro {
            /// The device has used a buffer.
            USED_BUFFER 0,
            /// The configuration has changed, as when the device needs a reset.
            CONFIGURATION_CHANGE 1,
        };
        INTERRUPT_ACK "InterruptACK" 0x064 wo mask 3;
        /// Device status (2.1).
        STATUS "Status" 0x070 rw mask 0xff { DRIVER_OK 2, FEATURES_OK 3, DEVICE_NEEDS_RESET 6 };
        QUEUE_DESC_LOW "QueueDescLow" 0x080 wo;
        QUEUE_DESC_HIGH "QueueDescHigh" 0x084 wo;
        QUEUE_DRIVER_LOW "QueueDriverLow" 0x090 wo;
        QUEUE_DRIVER_HIGH "QueueDriverHigh" 0x094 wo;
        QUEUE_DEVICE_LOW "QueueDeviceLow" 0x0a0 wo;
        QUEUE_DEVICE_HIGH "QueueDeviceHigh" 0x0a4 wo;
        CONFIG_GENERATION "ConfigGeneration" 0x0fc ro;
    }
}

/// The first offset of the configuration, which has fields only for features that are not offered.
const CONFIG: u32 = 0x100;

/// VIRTIO_F_VERSION_1, bit 32 of the features.
const VERSION_1: u64 = 1 << 32;
/// Bytes that a transmit buffer may have, so that a driver's mistake costs the host neither time nor memory.
const MOST_SENT_BYTES: u64 = 64 << 10;

const RECEIVE: usize = 0;
const TRANSMIT: usize = 1;

/// The device.
#[derive(Debug, State, Polled)]
pub struct VirtioMmio {
    interrupt: Option<IrqLine>,
    #[poll(skip = "its bytes come in events, and go with the queues' progress")]
    pipe: Pipe,
    registers: Registers,
    device_features_half: u32,
    driver_features_half: u32,
    driver_features: u64,
    selected: u32,
    queues: [Queue; 2],
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
    Box::new(VirtioMmio::new(reader.interrupt(0, "its interrupt")))
}

impl VirtioMmio {
    /// The device after reset.
    pub fn new(interrupt: Option<IrqLine>) -> VirtioMmio {
        VirtioMmio {
            interrupt,
            pipe: Pipe::default(),
            registers: Registers::new(&MAP),
            device_features_half: 0,
            driver_features_half: 0,
            driver_features: 0,
            selected: 0,
            queues: [Queue::default(); 2],
            free: VecDeque::new(),
            unread: Vec::new(),
        }
    }

    fn register(&self, offset: u32) -> u32 {
        match offset {
            DEVICE_FEATURES if self.device_features_half == 1 => (VERSION_1 >> 32) as u32,
            QUEUE_NUM_MAX if self.selected as usize >= self.queues.len() => 0,
            QUEUE_READY => self.queues.get(self.selected as usize).map_or(0, |queue| u32::from(queue.ready)),
            _ => self.registers.held(offset),
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
            INTERRUPT_ACK => self.registers.put(INTERRUPT_STATUS, value, false),
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
        if value & STATUS_FEATURES_OK != 0 && !agreed {
            ctx.note(&format!("the driver wants features {:#x}: only {VERSION_1:#x} is offered", self.driver_features));
        }
        let refused = if agreed { 0 } else { STATUS_FEATURES_OK };
        let kept = self.registers[STATUS] & STATUS_DEVICE_NEEDS_RESET;
        self.registers.set(STATUS, value & !refused | kept);
        if self.is_live() {
            self.receive(ctx);
        }
    }

    /// Unread bytes are lost, as on a line without a listener.
    fn reset_device(&mut self, ctx: &mut Ctx) {
        let lost = self.unread.iter().map(|(_, bytes)| bytes).sum();
        let pipe = std::mem::take(&mut self.pipe);
        *self = VirtioMmio { pipe, ..VirtioMmio::new(self.interrupt) };
        self.pipe.set_open(false, ctx.now);
        if self.pipe.took(lost, ctx.now) {
            ctx.pause();
        }
    }

    fn is_live(&self) -> bool {
        self.registers[STATUS] & (STATUS_DRIVER_OK | STATUS_DEVICE_NEEDS_RESET) == STATUS_DRIVER_OK
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
        if let Err(why) = self.find_free(ctx).and_then(|()| self.fill(ctx)) {
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
            self.give_back(RECEIVE, buffer.head, written, ctx)?;
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
            self.give_back(TRANSMIT, buffer.head, 0, ctx)?;
        }
        Ok(())
    }

    /// Returns a buffer to its queue.
    fn give_back(&mut self, queue: usize, head: u16, len_bytes: u32, ctx: &mut Ctx) -> Result<(), String> {
        let wants_interrupt = self.queues[queue].give_back(head, len_bytes, ctx.bus)?;
        self.registers.put(INTERRUPT_STATUS, flag(INTERRUPT_STATUS_USED_BUFFER, wants_interrupt), true);
        Ok(())
    }

    /// The driver has violated the standard: nothing is processed until it resets the device (2.1.1).
    fn breaks(&mut self, why: &str, ctx: &mut Ctx) {
        ctx.note(&format!("the driver has to reset it: {why}"));
        self.registers.put(STATUS, STATUS_DEVICE_NEEDS_RESET, true);
        self.registers.put(INTERRUPT_STATUS, INTERRUPT_STATUS_CONFIGURATION_CHANGE, true);
    }
}

impl Device for VirtioMmio {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        if offset < CONFIG && size != AccessSize::Word {
            ctx.note("a control register is read by less than a word, which no driver may (4.2.2.2)");
        }
        Ok(apb::read(self.register(offset & !3), offset, size, ctx))
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        if offset < CONFIG && size != AccessSize::Word {
            ctx.note(
                "a control register is written by less than a word, which no driver may (4.2.2.2): that has no effect",
            );
        } else {
            self.set_register(offset, value, ctx);
            ctx.set_irq(self.interrupt, self.registers[INTERRUPT_STATUS] != 0);
        }
        Ok(Reply::written(ctx.now))
    }

    /// Bytes from the host have arrived.
    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        if self.is_live() {
            self.receive(ctx);
            ctx.set_irq(self.interrupt, self.registers[INTERRUPT_STATUS] != 0);
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

fn set_half(register: &mut u64, high: bool, value: u32) {
    let shift = if high { 32 } else { 0 };
    *register = *register & !(u64::from(u32::MAX) << shift) | u64::from(value) << shift;
}
