//! What the nodes of a CAN bus and the bus between them are to each other: devices of one machine.
//!
//! Who sends when is the bus's (`devices/cyclescope/can_bus`). It asks nodes what they are and want, and tells them
//! what becomes of a frame, each at its time. A node that wants something else than before has the bus look by an
//! event.

use super::device::Ctx;
use crate::dt::wiring::DeviceId;
use crate::observe::waves::SignalId;
use crate::serial::script::Unfinished;
use crate::time::Ps;
use crate::wire::can::reading::Fault;
use crate::wire::can::script::Partner;
use crate::wire::can::{BitTime, Frame};

/// The token of an event that has a bus look what its nodes want.
pub const BUS_LOOKS: u32 = 0;

/// What a node is for the bus at a time.
#[derive(Clone, Copy, Debug)]
pub struct NodeState {
    /// Its bit time.
    pub time: BitTime,
    /// It takes part in what is on the wire.
    pub is_on: bool,
    /// So many times it waits for 11 recessive bits, before it takes part: 0 if it does not.
    pub waits: u32,
    /// It drives nothing onto the wire.
    pub is_silent: bool,
    /// It hears itself alone, and needs nobody who acknowledges.
    pub loops: bool,
    /// What it drives gets to the wire: its controller has a pin for that.
    pub drives: bool,
    /// It sees the wire; without a pin for that, all is recessive to it, what it sends itself as well.
    pub hears: bool,
    /// It is error-passive.
    pub is_passive: bool,
    /// So many further errors in what it sends make it that.
    pub until_passive: u32,
    /// What it wants to send.
    pub wants: Option<Frame>,
}

impl NodeState {
    /// One that takes part, error-active, and wants nothing.
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
    /// What it is and wants, at `ctx.now`.
    fn state(&mut self, ctx: &mut Ctx) -> NodeState;

    /// It has seen as many times 11 recessive bits as it waits for.
    fn synchronized(&mut self, ctx: &mut Ctx);

    /// A frame begins on the wire; `sends` tells that the node sends what it wants.
    fn begun(&mut self, sends: bool, ctx: &mut Ctx);

    /// It sends no longer: a frame of higher priority does.
    fn lost(&mut self, ctx: &mut Ctx);

    /// The frame that it sent is over and was acknowledged.
    fn sent(&mut self, ctx: &mut Ctx);

    /// What it sent failed. `counts` tells that its error counter grows.
    fn failed(&mut self, fault: Fault, counts: bool, ctx: &mut Ctx);

    /// A frame of another node has come.
    fn received(&mut self, frame: &Frame, ctx: &mut Ctx);

    /// A frame of another node can't be read. `was_first` tells that others found nothing wrong before.
    fn misread(&mut self, fault: Fault, was_first: bool, ctx: &mut Ctx);

    /// The wire is free.
    fn freed(&mut self, ctx: &mut Ctx);
}

/// A CAN bus.
pub trait CanBus {
    /// A node is on it, with what it drives and what it sees of the wire as signals.
    fn join(&mut self, node: DeviceId, signals: [SignalId; 2]);

    /// True if the node is one of it.
    fn has(&self, node: DeviceId) -> bool;

    /// Puts a node on it that no firmware drives; false if there is one.
    fn attach(&mut self, partner: Partner) -> bool;

    /// What a script on it had not done at the end of the run, and what its node is called.
    fn unfinished(&self, now: Ps) -> Option<(String, Unfinished)>;
}
