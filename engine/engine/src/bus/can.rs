//! The interface between the nodes of a CAN bus and the bus: all are devices of one machine.
//!
//! The bus (`devices/cyclescope/can_bus`) decides which node sends when. It asks nodes for their state and their
//! pending frames, and reports the progress of a frame to them at its time. A node whose pending frame changes
//! schedules an event that lets the bus look.

use super::device::Ctx;
use crate::dt::wiring::DeviceId;
use crate::observe::waves::SignalId;
use crate::serial::script::Unfinished;
use crate::time::Ps;
use crate::wire::can::reading::Fault;
use crate::wire::can::script::Partner;
use crate::wire::can::{BitTime, Frame};

/// The token of the event that makes the bus look at its nodes' pending frames.
pub const BUS_LOOKS: u32 = 0;

/// The state of a node, as the bus sees it.
#[derive(Clone, Copy, Debug)]
pub struct NodeState {
    /// Its bit time.
    pub time: BitTime,
    /// It takes part in the traffic on the wire.
    pub is_on: bool,
    /// How many times it still waits for 11 recessive bits before it takes part: 0 if it does not wait.
    pub waits: u32,
    /// It drives nothing onto the wire.
    pub is_silent: bool,
    /// It receives only its own frames, and needs no acknowledgement (loopback).
    pub loops: bool,
    /// Its frames reach the wire: its controller has a pin for that.
    pub drives: bool,
    /// It sees the wire; without a pin for that it sees only recessive bits, even of its own frames.
    pub hears: bool,
    /// It is error-passive.
    pub is_passive: bool,
    /// How many further transmit errors make it error-passive.
    pub until_passive: u32,
    /// The frame that it wants to send.
    pub wants: Option<Frame>,
}

impl NodeState {
    /// An error-active node that takes part and has no pending frame.
    pub const fn active(time: BitTime) -> NodeState {
        NodeState {
            time,
            is_on: true,
            waits: 0,
            is_silent: false,
            loops: false,
            drives: true,
            hears: true,
            is_passive: false,
            until_passive: 16,
            wants: None,
        }
    }
}

/// A node of a CAN bus.
pub trait CanNode {
    /// Its state and its pending frame at `ctx.now`.
    fn state(&mut self, ctx: &mut Ctx) -> NodeState;

    /// It has seen 11 recessive bits as many times as it waits for them.
    fn synchronized(&mut self, ctx: &mut Ctx);

    /// A frame begins on the wire; `sends` is true if it is this node's.
    fn begun(&mut self, sends: bool, ctx: &mut Ctx);

    /// The node has lost arbitration: a frame of higher priority is sent.
    fn lost(&mut self, ctx: &mut Ctx);

    /// The frame that the node sent is complete and was acknowledged.
    fn sent(&mut self, ctx: &mut Ctx);

    /// The node's frame failed. `counts` is true if its error counter grows.
    fn failed(&mut self, fault: Fault, counts: bool, ctx: &mut Ctx);

    /// A frame of another node has been received.
    fn received(&mut self, frame: &Frame, ctx: &mut Ctx);

    /// A frame of another node can't be read. `was_first` is true if no other node found a fault before.
    fn misread(&mut self, fault: Fault, was_first: bool, ctx: &mut Ctx);

    /// The wire is free.
    fn freed(&mut self, ctx: &mut Ctx);
}

/// A CAN bus.
pub trait CanBus {
    /// Adds a node, with signals for what it drives and what it sees of the wire.
    fn join(&mut self, node: DeviceId, signals: [SignalId; 2]);

    /// True if the node is on this bus.
    fn has(&self, node: DeviceId) -> bool;

    /// Adds a node that no firmware drives; false if the bus has one already.
    fn attach(&mut self, partner: Partner) -> bool;

    /// The steps that its script had not done at the end of the run, and the name of its node.
    fn unfinished(&self, now: Ps) -> Option<(String, Unfinished)>;
}
