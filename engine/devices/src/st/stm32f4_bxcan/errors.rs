//! Error counters and their effects (Bosch, CAN Specification 2.0, "Fault confinement"; RM0090, "Error management").

use super::registers::*;
use crate::prelude::*;
use engine::wire::can::reading::Fault;

const WARNING: u32 = 96;
const PASSIVE: u32 = 128;
const BUS_OFF: u32 = 256;

/// The counters.
#[derive(Clone, Copy, Debug, Default, State, Fresh, Polled)]
pub struct Errors {
    transmit: u32,
    receive: u32,
    /// LEC.
    pub last: u32,
    pub is_bus_off: bool,
}

/// The code of a fault in LEC.
const fn code(fault: Fault) -> u32 {
    match fault {
        Fault::Stuff => 1,
        Fault::Form => 2,
        Fault::Acknowledge => 3,
        Fault::BitRecessive => 4,
        Fault::BitDominant => 5,
        Fault::Crc => 6,
    }
}

impl Errors {
    /// True if the node is error-passive: its error flags must not disturb others.
    pub const fn is_passive(&self) -> bool {
        self.transmit >= PASSIVE || self.receive >= PASSIVE
    }

    /// The number of further transmit errors until the node is error-passive.
    pub const fn until_passive(&self) -> u32 {
        if self.is_passive() { 0 } else { (PASSIVE - self.transmit).div_ceil(8) }
    }

    /// Counts a frame that was sent.
    pub fn sent(&mut self) {
        self.transmit = self.transmit.saturating_sub(1);
        self.last = 0;
    }

    /// Counts a frame that was received.
    pub fn received(&mut self) {
        self.receive = if self.receive >= PASSIVE { 120 } else { self.receive.saturating_sub(1) };
        self.last = 0;
    }

    /// Counts a frame that could not be sent.
    pub fn failed(&mut self, fault: Fault, counts: bool) {
        self.last = code(fault);
        if counts {
            self.transmit = (self.transmit + 8).min(BUS_OFF + 7);
            self.is_bus_off |= self.transmit >= BUS_OFF;
        }
    }

    /// Counts a frame that could not be received; the first node to detect this sees a dominant bit after its own flag.
    pub fn misread(&mut self, fault: Fault, was_first: bool) {
        self.last = code(fault);
        self.receive = (self.receive + if was_first { 9 } else { 1 }).min(255);
    }

    /// Ends bus-off: 128 times 11 recessive bits have passed.
    pub fn recover(&mut self) {
        (self.transmit, self.receive, self.is_bus_off) = (0, 0, false);
    }

    /// CAN_ESR.
    pub const fn status(&self) -> u32 {
        flag(ESR_EWGF, self.transmit >= WARNING || self.receive >= WARNING)
            | flag(ESR_EPVF, self.is_passive())
            | flag(ESR_BOFF, self.is_bus_off)
            | (self.last & 7) << 4
            | (self.transmit & 0xff) << 16
            | (self.receive & 0xff) << 24
    }
}
