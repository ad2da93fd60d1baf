//! Transmit mailboxes and receive FIFOs (RM0090, "Transmission handling", "Reception handling").

use super::registers::*;
use crate::prelude::*;
use engine::wire::can::Frame;

/// The request of a mailbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
pub enum Request {
    /// The mailbox is empty.
    #[default]
    None,
    /// The frame waits to be sent.
    Pending,
    /// The frame is on the wire.
    Sending,
}

/// A transmit mailbox.
#[derive(Clone, Copy, Debug, Default, State, Fresh, Polled)]
pub struct Mailbox {
    /// CAN_TIxR without TXRQ, CAN_TDTxR, CAN_TDLxR, CAN_TDHxR.
    pub words: [u32; 4],
    pub request: Request,
    /// The frame is not to be sent again.
    pub aborts: bool,
    /// RQCP, TXOK, ALST, TERR.
    pub status: u32,
    /// The order of the requests.
    pub order: u64,
}

impl Mailbox {
    /// The frame; with TGT, the time stamp replaces its last two bytes.
    pub fn frame(&self, stamp: Option<u16>) -> Frame {
        let [identifier, length, low, high] = self.words;
        let is_extended = identifier & TIR_IDE != 0;
        let mut frame = Frame {
            id: if is_extended { identifier >> 3 } else { identifier >> 21 },
            is_extended,
            is_remote: identifier & TIR_RTR != 0,
            length: (length & 0xf) as u8,
            data: (u64::from(high) << 32 | u64::from(low)).to_le_bytes(),
        };
        if let Some(stamp) = stamp.filter(|_| length & TDTR_TGT != 0 && frame.length == 8) {
            frame.data[6..].copy_from_slice(&stamp.to_le_bytes());
        }
        frame
    }

    /// Sets ABRQ: a mailbox whose frame waits becomes empty at once.
    pub fn abort(&mut self) {
        match self.request {
            Request::None => {}
            Request::Pending => self.end(0),
            Request::Sending => self.aborts = true,
        }
    }

    /// Empties the mailbox, and sets its status.
    pub fn end(&mut self, status: u32) {
        (self.request, self.aborts) = (Request::None, false);
        self.status = TSR_RQCP | status;
    }
}

/// The three transmit mailboxes.
#[derive(Clone, Copy, Debug, Default, State, Fresh, Polled)]
pub struct Mailboxes {
    pub all: [Mailbox; 3],
    requests: u64,
}

impl Mailboxes {
    /// The mailbox that is on the wire, or is sent next: in the order of requests (TXFP), or by identifiers.
    pub fn next(&self, in_order: bool) -> Option<usize> {
        let sending = self.all.iter().position(|mailbox| mailbox.request == Request::Sending);
        sending.or_else(|| self.pending(in_order).min_by_key(|(key, _)| *key).map(|(_, index)| index))
    }

    fn pending(&self, in_order: bool) -> impl DoubleEndedIterator<Item = ((u64, usize), usize)> {
        let waiting = self.all.iter().enumerate().filter(|(_, mailbox)| mailbox.request != Request::None);
        waiting.map(move |(index, mailbox)| {
            let key = if in_order { mailbox.order } else { mailbox.frame(None).priority() };
            ((key, index), index)
        })
    }

    /// Sets TXRQ.
    pub fn request(&mut self, index: usize) {
        self.requests += 1;
        let mailbox = &mut self.all[index];
        (mailbox.request, mailbox.status, mailbox.order) = (Request::Pending, 0, self.requests);
    }

    /// The frame on the wire failed (ALST or TERR): it is sent again, unless `once` is true or it was aborted.
    pub fn failed(&mut self, status: u32, once: bool) {
        let Some(mailbox) = self.all.iter_mut().find(|mailbox| mailbox.request == Request::Sending) else { return };
        if once || mailbox.aborts {
            mailbox.end(status);
        } else {
            (mailbox.request, mailbox.status) = (Request::Pending, status);
        }
    }

    /// CAN_TSR.
    pub fn status(&self, in_order: bool) -> u32 {
        let each = |(index, mailbox): (usize, &Mailbox)| {
            mailbox.status << (8 * index) | flag(1 << (TSR_TME + index as u32), mailbox.request == Request::None)
        };
        let status = self.all.iter().enumerate().map(each).sum::<u32>();
        let lowest = self.pending(in_order).max_by_key(|(key, _)| *key).map_or(0, |(_, index)| index);
        let several = self.pending(in_order).count() > 1;
        let free = self.all.iter().position(|mailbox| mailbox.request == Request::None);
        status | (free.unwrap_or(lowest) as u32) << TSR_CODE | flag(1 << (TSR_LOW + lowest as u32), several)
    }
}

/// A receive FIFO.
#[derive(Clone, Copy, Debug, Default, State, Fresh, Polled)]
pub struct Fifo {
    /// CAN_RIxR, CAN_RDTxR, CAN_RDLxR, CAN_RDHxR of each entry.
    entries: [[u32; 4]; 3],
    count: u8,
    /// FULL and FOVR.
    pub flags: u32,
}

impl Fifo {
    /// Stores a received frame. A full FIFO loses its last frame or, with RFLM, the new one.
    pub fn store(&mut self, frame: &Frame, filter: u8, stamp: u16, is_locked: bool) {
        let id = if frame.is_extended { frame.id << 3 | TIR_IDE } else { frame.id << 21 };
        let length = u32::from(frame.length) | u32::from(filter) << 8 | u32::from(stamp) << 16;
        let mut bytes = [0; 8];
        bytes[..frame.bytes().len()].copy_from_slice(frame.bytes());
        let data = u64::from_le_bytes(bytes);
        let entry = [id | flag(TIR_RTR, frame.is_remote), length, data as u32, (data >> 32) as u32];
        let count = usize::from(self.count.min(3));
        if count == 3 {
            self.flags |= RF0R_FOVR;
            if !is_locked {
                self.entries[2] = entry;
            }
            return;
        }
        self.entries[count] = entry;
        self.count = count as u8 + 1;
        self.flags |= flag(RF0R_FULL, self.count == 3);
    }

    /// RFOM: releases the first frame.
    pub fn release(&mut self) {
        if self.count > 0 {
            self.entries.rotate_left(1);
            self.count -= 1;
        }
    }

    /// A word of the output mailbox.
    pub fn word(&self, index: usize) -> u32 {
        self.entries[0][index % 4]
    }

    /// CAN_RFxR.
    pub const fn status(&self) -> u32 {
        self.count as u32 | self.flags
    }

    /// True while an interrupt of the FIFO is active, by the enable bits of FIFO 0.
    pub const fn interrupts(&self, enables: u32) -> bool {
        enables & IER_FMPIE != 0 && self.count > 0
            || enables & IER_FFIE != 0 && self.flags & RF0R_FULL != 0
            || enables & IER_FOVIE != 0 && self.flags & RF0R_FOVR != 0
    }
}
