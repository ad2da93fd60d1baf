//! Operating modes (RM0090, "bxCAN operating modes"), and the interface between the controller and the bus.

use super::registers::*;
use super::{BxCan, MODE_CHANGES, RX, Request, TX};
use crate::prelude::*;
use engine::bus::can::{CanNode, NodeState};
use engine::wire::can::Frame;
use engine::wire::can::reading::Fault;

/// The number of sequences of 11 recessive bits that a node in bus-off must see.
const RECOVERY: u32 = 128;

/// The controller's mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
pub enum Mode {
    #[default]
    Sleep,
    Initialization,
    Normal,
}

impl BxCan {
    /// A write of CAN_MCR requests a mode: the acknowledge comes some cycles later, after the frame on the wire.
    pub(super) fn request_mode(&mut self, ctx: &mut Ctx) {
        let due = self.params.clock.rate.after(ctx.now, self.params.mode_cycles);
        self.alarm.set(due, MODE_CHANGES, ctx);
    }

    /// Enters the requested mode, if possible.
    pub(super) fn change_mode(&mut self, ctx: &mut Ctx) {
        let (initializes, sleeps) = (self.has(MCR_INRQ), self.has(MCR_SLEEP));
        match self.core.mode {
            Mode::Sleep if sleeps => self.core.is_joining = false,
            _ if self.core.is_busy => return,
            Mode::Initialization if initializes => self.core.is_joining = false,
            _ if initializes => self.initialize(),
            _ if sleeps => self.sleep(),
            Mode::Normal => {}
            Mode::Sleep | Mode::Initialization => self.join(ctx),
        }
        self.notify_bus(ctx);
    }

    fn initialize(&mut self) {
        self.core.recovers |= self.core.errors.is_bus_off;
        (self.core.mode, self.core.is_joining) = (Mode::Initialization, false);
    }

    fn sleep(&mut self) {
        (self.core.mode, self.core.is_joining) = (Mode::Sleep, false);
        if self.registers.has(IER, IER_SLKIE) {
            self.registers.put(MSR, MSR_SLAKI, true);
        }
    }

    fn join(&mut self, ctx: &mut Ctx) {
        self.core.is_joining = true;
        if self.params.bus.is_none() {
            ctx.note(
                "the controller is on no bus (cyclescope,can-bus): it never sees the 11 recessive bits that it waits \
                 for (CAN_MSR.INAK)",
            );
        }
        self.check_memory(ctx);
    }

    fn is_on(&self, ctx: &Ctx) -> bool {
        let is_clocked = self.params.gate.state(ctx.bus) && self.params.memory_gate.state(ctx.bus);
        self.core.mode == Mode::Normal
            && !self.core.errors.is_bus_off
            && is_clocked
            && !self.params.gate.is_reset(ctx.bus)
    }

    /// Adds a note if a frame begins without a pin that it needs.
    fn note_pins(&mut self, sends: bool, hears: bool, ctx: &mut Ctx) {
        if sends && !self.carried[TX] && !self.registers.has(BTR, BTR_SILM) {
            let effect = match self.registers[BTR] & BTR_LBKM {
                0 => "a frame is begun, but does not reach the bus: its start is a bit error (CAN_ESR.LEC)",
                _ => "a frame is looped back, but does not reach the bus",
            };
            self.pins.note(TX, effect, ctx);
        }
        if !hears {
            let effect = match sends {
                true => "a frame is begun, but the controller does not see it: its start is a bit error (CAN_ESR.LEC)",
                false => "a frame is on the bus, but the controller does not receive it",
            };
            self.pins.note(RX, effect, ctx);
        }
    }

    /// Applies an event of the frame on the wire, and reports its errors. A reset may have come in between.
    fn on_wire(&mut self, has_failed: bool, ctx: &mut Ctx, change: impl FnOnce(&mut BxCan, &mut Ctx)) {
        if !self.core.is_busy {
            return;
        }
        let before = self.core.errors.status();
        change(self, ctx);
        self.report_errors(before, has_failed);
        self.drive(ctx);
    }

    /// Stores a received frame; the filters select the FIFO.
    fn store(&mut self, frame: &Frame, ctx: &mut Ctx) {
        self.received_frames += 1;
        let Some(filters) = self.params.filters else { return };
        let is_second = self.params.is_second;
        let found = ctx.bus.with_device(filters, ctx.now, |device, _| device.can_filter(frame, is_second));
        if let Some((fifo, filter)) = found {
            let is_locked = self.has(MCR_RFLM);
            self.core.fifos[fifo % 2].store(frame, filter, self.core.stamp, is_locked);
        }
    }
}

impl CanNode for BxCan {
    fn state(&mut self, ctx: &mut Ctx) -> NodeState {
        let is_on = self.is_on(ctx);
        if !self.core.is_busy {
            self.carried = [TX, RX].map(|signal| self.pins.carries(signal));
        }
        let (loops, is_silent) = (self.registers.has(BTR, BTR_LBKM), self.registers.has(BTR, BTR_SILM));
        let stamp = self.has(MCR_TTCM).then(|| self.stamp_at(ctx.now));
        let next = self.core.mailboxes.next(self.has(MCR_TXFP)).filter(|_| is_on && (loops || !is_silent));
        let recovers = self.core.errors.is_bus_off && (self.core.recovers || self.has(MCR_ABOM));
        let waits = match self.core.mode {
            Mode::Normal if recovers => RECOVERY,
            Mode::Sleep | Mode::Initialization if self.core.is_joining => 1,
            _ => 0,
        };
        NodeState {
            time: self.bit_time(),
            is_on,
            waits,
            is_silent,
            loops,
            // In silent mode, the controller only receives its own dominant bits.
            drives: is_silent || self.carried[TX],
            hears: loops || self.carried[RX],
            until_passive: self.core.errors.until_passive(),
            is_passive: self.core.errors.is_passive(),
            wants: next.map(|index| self.core.mailboxes.all[index].frame(stamp)),
        }
    }

    fn synchronized(&mut self, ctx: &mut Ctx) {
        if self.core.is_joining {
            (self.core.mode, self.core.is_joining) = (Mode::Normal, false);
            self.core.counts_from = ctx.now;
        } else {
            self.core.errors.recover();
            self.core.recovers = false;
        }
        self.drive(ctx);
        self.notify_bus(ctx);
    }

    fn begun(&mut self, sends: bool, ctx: &mut Ctx) {
        let hears = self.registers.has(BTR, BTR_LBKM) || self.carried[RX];
        if hears && self.core.mode == Mode::Sleep && !self.core.is_joining && self.params.gate.state(ctx.bus) {
            self.registers.put(MSR, MSR_WKUI, true);
            if self.has(MCR_AWUM) {
                self.registers.put(MCR, MCR_SLEEP, false);
                self.request_mode(ctx);
            }
            self.drive(ctx);
        }
        if !self.is_on(ctx) {
            return;
        }
        self.note_pins(sends, hears, ctx);
        if !sends && !hears {
            return;
        }
        (self.core.is_busy, self.core.sends) = (true, sends);
        self.core.stamp = self.stamp_at(ctx.now);
        if let Some(index) = self.core.mailboxes.next(self.has(MCR_TXFP)).filter(|_| sends) {
            let mailbox = &mut self.core.mailboxes.all[index];
            mailbox.request = Request::Sending;
            mailbox.words[1] = mailbox.words[1] & 0xffff | u32::from(self.core.stamp) << 16;
        }
        self.drive(ctx);
    }

    fn lost(&mut self, ctx: &mut Ctx) {
        self.on_wire(false, ctx, |node, _| {
            node.core.sends = false;
            node.core.mailboxes.failed(TSR_ALST, node.has(MCR_NART));
        });
    }

    fn sent(&mut self, ctx: &mut Ctx) {
        self.on_wire(false, ctx, |node, ctx| {
            node.core.errors.sent();
            node.sent_frames += 1;
            let stamp = node.has(MCR_TTCM).then_some(node.core.stamp);
            let sending = node.core.mailboxes.all.iter_mut().find(|mailbox| mailbox.request == Request::Sending);
            let frame = sending.map(|mailbox| {
                mailbox.end(TSR_TXOK);
                mailbox.frame(stamp)
            });
            if let Some(frame) = frame.filter(|_| node.registers.has(BTR, BTR_LBKM)) {
                node.store(&frame, ctx);
            }
        });
    }

    fn failed(&mut self, fault: Fault, counts: bool, ctx: &mut Ctx) {
        self.on_wire(true, ctx, |node, _| {
            node.core.errors.failed(fault, counts);
            node.core.mailboxes.failed(TSR_TERR, node.has(MCR_NART));
        });
    }

    fn received(&mut self, frame: &Frame, ctx: &mut Ctx) {
        self.on_wire(false, ctx, |node, ctx| {
            node.core.errors.received();
            node.store(frame, ctx);
        });
    }

    fn misread(&mut self, fault: Fault, was_first: bool, ctx: &mut Ctx) {
        self.on_wire(true, ctx, |node, _| node.core.errors.misread(fault, was_first));
    }

    fn freed(&mut self, ctx: &mut Ctx) {
        if std::mem::take(&mut self.core.is_busy) {
            self.core.sends = false;
            self.change_mode(ctx);
            self.drive(ctx);
        }
    }
}
