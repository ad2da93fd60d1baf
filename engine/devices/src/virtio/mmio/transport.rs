//! The MMIO transport of a virtio device (Virtual I/O Device (VIRTIO) Version 1.1, 4.2.2, version 2): registers,
//! feature negotiation, device status, queues, interrupt. What a device does with its queues is the device's own.

use super::queue::{MOST_DESCRIPTORS, Queue};
use crate::prelude::*;

registers! {
    /// The register map (VIRTIO 1.1, table 4.1 "MMIO Device Register Layout"), with queue 0 selected.
    pub const MAP "" {
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

/// The first offset of the device's own configuration.
pub const CONFIG: u32 = 0x100;

/// VIRTIO_F_VERSION_1, bit 32 of the features.
pub const VERSION_1: u64 = 1 << 32;

/// What a write of a register asks of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Nothing.
    Nothing,
    /// A reset.
    Reset,
    /// The status was written: the device may be live now.
    Status,
    /// A queue has new buffers.
    Notified(u32),
    /// A queue was turned off: its buffers are the driver's again.
    Stopped(usize),
}

/// The transport of a device with `N` queues.
#[derive(Debug, State, Polled)]
pub struct Transport<const N: usize> {
    interrupt: Option<IrqLine>,
    /// The features that the device offers.
    #[state(skip)]
    offered: u64,
    /// Its registers.
    pub registers: Registers,
    device_features_half: u32,
    driver_features_half: u32,
    driver_features: u64,
    selected: u32,
    /// Its queues.
    pub queues: [Queue; N],
}

impl<const N: usize> Transport<N> {
    /// The transport after reset, of a device with this number (5, "Device Types"), which offers these features besides
    /// VIRTIO_F_VERSION_1.
    pub fn new(device_id: u32, features: u64, interrupt: Option<IrqLine>) -> Transport<N> {
        let mut registers = Registers::new(&MAP);
        registers.set(DEVICE_ID, device_id);
        let (device_features_half, driver_features_half, driver_features, selected) = Default::default();
        Transport {
            interrupt,
            offered: features | VERSION_1,
            registers,
            device_features_half,
            driver_features_half,
            driver_features,
            selected,
            queues: [Queue::default(); N],
        }
    }

    /// Returns to the state after reset.
    pub fn reset(&mut self) {
        *self = Transport::new(self.registers[DEVICE_ID], self.offered, self.interrupt);
    }

    /// The value of a register.
    pub fn register(&self, offset: u32) -> u32 {
        match offset {
            DEVICE_FEATURES => half(self.offered, self.device_features_half),
            QUEUE_NUM_MAX if self.selected as usize >= N => 0,
            QUEUE_READY => self.queues.get(self.selected as usize).map_or(0, |queue| u32::from(queue.ready)),
            _ => self.registers.held(offset),
        }
    }

    /// A driver's read, at an offset of the registers: a note says what no driver may do.
    pub fn note_read(offset: u32, size: AccessSize, ctx: &mut Ctx) {
        if offset < CONFIG && size != AccessSize::Word {
            ctx.note("a control register is read by less than a word, which no driver may (4.2.2.2)");
        }
    }

    /// A driver's write, and what it asks of the device.
    pub fn write(&mut self, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> Asked {
        if offset < CONFIG && size != AccessSize::Word {
            ctx.note(
                "a control register is written by less than a word, which no driver may (4.2.2.2): that has no effect",
            );
            return Asked::Nothing;
        }
        match offset {
            DEVICE_FEATURES_SEL => self.device_features_half = value,
            DRIVER_FEATURES_SEL => self.driver_features_half = value,
            DRIVER_FEATURES if self.driver_features_half < 2 => {
                set_half(&mut self.driver_features, self.driver_features_half == 1, value);
            }
            QUEUE_SEL => self.selected = value,
            QUEUE_NOTIFY => return Asked::Notified(value),
            INTERRUPT_ACK => self.registers.put(INTERRUPT_STATUS, value, false),
            STATUS if value == 0 => return Asked::Reset,
            STATUS => {
                self.set_status(value, ctx);
                return Asked::Status;
            }
            _ => return self.set_queue(offset, value, ctx),
        }
        Asked::Nothing
    }

    fn set_queue(&mut self, offset: u32, value: u32, ctx: &mut Ctx) -> Asked {
        let index = self.selected as usize;
        let Some(queue) = self.queues.get_mut(index) else { return Asked::Nothing };
        if queue.ready && offset != QUEUE_READY {
            ctx.note("a queue was set up anew while QueueReady is 1: that has no effect");
            return Asked::Nothing;
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
                    return if queue.ready { Asked::Nothing } else { Asked::Stopped(index) };
                }
            },
            _ => {}
        }
        Asked::Nothing
    }

    /// 2.2.2: the driver may only select offered features, and version 1 is mandatory.
    fn set_status(&mut self, value: u32, ctx: &mut Ctx) {
        let agreed = self.driver_features & VERSION_1 != 0 && self.driver_features & !self.offered == 0;
        if value & STATUS_FEATURES_OK != 0 && !agreed {
            let offered = self.offered;
            ctx.note(&format!("the driver wants features {:#x}: only {offered:#x} is offered", self.driver_features));
        }
        let refused = if agreed { 0 } else { STATUS_FEATURES_OK };
        let kept = self.registers[STATUS] & STATUS_DEVICE_NEEDS_RESET;
        self.registers.set(STATUS, value & !refused | kept);
    }

    /// True while the device may use its queues.
    pub fn is_live(&self) -> bool {
        self.registers[STATUS] & (STATUS_DRIVER_OK | STATUS_DEVICE_NEEDS_RESET) == STATUS_DRIVER_OK
    }

    /// True if a notification counts; else a note says why.
    pub fn takes_notification(&self, queue: u32, ctx: &mut Ctx) -> bool {
        if !self.is_live() {
            ctx.note(
                "a queue is notified before the driver is ready (Status.DRIVER_OK), or after an error: nothing comes \
                 of it",
            );
        } else if queue as usize >= N {
            ctx.note(&format!("queue {queue} is notified: there are {N}"));
        }
        self.is_live() && (queue as usize) < N
    }

    /// Returns a buffer to its queue.
    ///
    /// # Errors
    /// The error in the ring, for a note.
    pub fn give_back(&mut self, queue: usize, head: u16, len_bytes: u32, ctx: &mut Ctx) -> Result<(), String> {
        let wants_interrupt = self.queues[queue].give_back(head, len_bytes, ctx.bus)?;
        self.registers.put(INTERRUPT_STATUS, flag(INTERRUPT_STATUS_USED_BUFFER, wants_interrupt), true);
        Ok(())
    }

    /// The driver has violated the standard: nothing is processed until it resets the device (2.1.1).
    pub fn breaks(&mut self, why: &str, ctx: &mut Ctx) {
        ctx.note(&format!("the driver has to reset it: {why}"));
        self.registers.put(STATUS, STATUS_DEVICE_NEEDS_RESET, true);
        self.registers.put(INTERRUPT_STATUS, INTERRUPT_STATUS_CONFIGURATION_CHANGE, true);
    }

    /// Drives the interrupt.
    pub fn drive(&self, ctx: &mut Ctx) {
        ctx.set_irq(self.interrupt, self.registers[INTERRUPT_STATUS] != 0);
    }
}

/// A half of a register of 64 bits; 0 for a number other than 0 and 1.
pub const fn half(register: u64, number: u32) -> u32 {
    match number {
        0 => register as u32,
        1 => (register >> 32) as u32,
        _ => 0,
    }
}

fn set_half(register: &mut u64, high: bool, value: u32) {
    let shift = if high { 32 } else { 0 };
    *register = *register & !(u64::from(u32::MAX) << shift) | u64::from(value) << shift;
}
