//! `cyclescope,can-bus`: a CAN bus with its transceivers and termination, as one wire that is dominant while a node
//! drives it dominant. A controller names its bus (`cyclescope,can-bus = <&canbus1>`); controllers with the same bus
//! are connected. Linux's bindings have no node for it.
//!
//! Modelled, to the bit: arbitration by identifiers; stuff bits, the CRC and all fields; the acknowledge; receivers
//! with another bit time, by their samples; error flags of error-active nodes, their superposition, and the delimiter;
//! the intermission, and the pause of an error-passive sender; joining after 11 recessive bits. A run may add a node
//! without firmware that follows a script (`--can`). Waveforms have each node's wires, `tx` and `rx`.
//!
//! A controller without one of its pins does not see its own start of frame: a bit error, and another in each bit of
//! its error flag, until it is error-passive, then once an attempt, until it is bus-off. The levels that its pins drive
//! are on the wire, where other nodes find stuff errors.
//!
//! A frame is computed when it begins, with the settings that its nodes have then: a sender whose clock stops in the
//! middle of a frame has sent all of it. A node that starts to send between two bits of another node's idle time starts
//! with its own next bit. A controller that can't see the wire waits for the end of the present frame, which it would
//! disturb on a board. Overload frames, delays of transceivers and cables, and errors caused by noise are not modelled.

mod attempt;

use std::collections::VecDeque;

use self::attempt::{Attempt, Member, News, attempt};
use crate::prelude::*;
use crate::support::scripts;
use engine::activity::{Activity, Kind};
use engine::bus::can::{BUS_LOOKS, CanBus, CanNode, NodeState};
use engine::bus::device::DeviceId;
use engine::observe::waves::SignalId;
use engine::serial::script::Unfinished;
use engine::wire::can::script::Partner;
use engine::wire::can::{BitTime, Frame, IDLE_BITS, SUSPEND_BITS, text};

/// A frame on the wire.
static FRAME: Activity = Activity::new(
    Kind::Wire,
    "CAN frame",
    "from the start of frame to the end of the intermission after it, or after the error flags; the identifier and \
     the number of data bytes",
);

/// The activities that a bus records.
const ACTIVITIES: &[&Activity] = &[&FRAME];

/// Tokens of events besides [`BUS_LOOKS`]: information for a node, from the first medium's on.
const NEWS: u32 = 1;

/// The medium of frames: the wire, or the internal connection of a node that is connected only to itself.
#[derive(Debug, Default, State, Fresh)]
struct Medium {
    /// The end of the present frame; between frames, the end of the last one.
    free_at: Ps,
    /// The information for nodes, by time.
    news: VecDeque<(Ps, u32, News)>,
    frame: Frame,
    is_busy: bool,
    /// The node that sent last.
    sender: u32,
    alarm: Alarm,
    looks: Alarm,
}

impl Medium {
    /// Takes information that a node can have by now, with the node.
    fn take_news(&mut self, now: Ps) -> Option<(u32, News)> {
        self.news.front().filter(|(at, ..)| *at <= now)?;
        self.news.pop_front().map(|(_, place, news)| (place, news))
    }
}

/// The number of times that a node still has to see 11 recessive bits, and the time since which it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
struct Wait {
    from: Ps,
    left: u32,
}

/// The bus.
#[derive(Debug, Default, State, Polled)]
#[poll(never = "no core accesses it")]
pub struct Bus {
    /// Controllers, in the order of the board.
    #[state(skip)]
    nodes: Vec<DeviceId>,
    /// Their wires.
    #[state(skip)]
    signals: Vec<[SignalId; 2]>,
    #[state(with = engine::state::present)]
    partner: Option<Partner>,
    ended: bool,
    deadline: Alarm,
    /// The wire, then the internal connection of each node.
    #[state(with = engine::state::fixed)]
    media: Vec<Medium>,
    /// By node.
    waits: Vec<Option<Wait>>,
    attempts: u64,
    errors: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Can, &["cyclescope,can-bus"], 0, from_node).with_activities(ACTIVITIES);

/// Builds the bus from its node.
pub fn from_node(_: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Bus { media: vec![Medium::default()], ..Bus::default() })
}

/// The index of the wire that all nodes share.
const WIRE: usize = 0;
/// The token of the event in which a script continues; no board has this many media.
const PARTNER_GOES_ON: u32 = u32::MAX;

impl Bus {
    /// Calls a node; `None` if there is no node at this index.
    fn node<T>(&self, place: usize, ctx: &mut Ctx, call: impl FnOnce(&mut dyn CanNode, &mut Ctx) -> T) -> Option<T> {
        let id = *self.nodes.get(place)?;
        ctx.bus.with_device(id, ctx.now, |device, ctx| device.can_node().map(|node| call(node, ctx)))
    }

    /// All nodes on a medium: the script's node follows the controllers.
    fn members(&mut self, medium: usize, ctx: &mut Ctx) -> Vec<Member> {
        let mut members = Vec::new();
        for place in 0..self.nodes.len() {
            let Some(state) = self.node(place, ctx, |node, ctx| node.state(ctx)) else { continue };
            if let Some(state) = self.part(place, medium, state) {
                members.push(Member { place, state });
            }
        }
        if medium == WIRE {
            members.extend(self.partner_state(&members, ctx));
        }
        members
    }

    fn partner_state(&mut self, others: &[Member], ctx: &mut Ctx) -> Option<Member> {
        let place = self.nodes.len();
        let partner = self.partner.as_mut().filter(|partner| partner.takes_part)?;
        if partner.time.is_none() {
            let rate = others.iter().find(|member| member.state.is_on).map(|it| it.state.time.bits_per_second());
            partner.time = rate.and_then(|rate| BitTime::of_rate(u32::try_from(rate).unwrap_or(0)));
            if let Some(rate) = rate {
                ctx.note(&format!(
                    "the node beside {} has no bit rate of its own (bitrate, bits_per_second) and takes the \
                     firmware's, {rate} bit/s: a wrong one would go unnoticed",
                    partner.name
                ));
            }
        }
        let time = partner.time?;
        let wants = partner.wants().filter(|_| !self.ended);
        // It never becomes error-passive, since its counters are not read.
        let state = NodeState { wants, ..NodeState::active(time) };
        Some(Member { place, state })
    }

    /// The state of a node on a medium, if it takes part: on the wire, on its internal connection or, if its output
    /// does not reach the wire, as a reader on one and as a sender on the other.
    fn part(&self, place: usize, medium: usize, state: NodeState) -> Option<NodeState> {
        let is_own = medium == place + 1;
        if state.loops || state.drives {
            let on = if state.loops && (state.is_silent || !state.drives) { place + 1 } else { WIRE };
            return (on == medium).then_some(state);
        }
        let is_sending = self.media.get(place + 1).is_some_and(|own| own.is_busy);
        if medium == WIRE {
            return (!is_sending).then_some(NodeState { wants: None, is_silent: true, ..state });
        }
        Some(state).filter(|state| is_own && (is_sending || state.is_on && state.wants.is_some()))
    }

    /// Updates all media: nodes that join, and nodes that start to send.
    fn look(&mut self, ctx: &mut Ctx) {
        self.follow_script(ctx);
        for medium in 0..self.media.len() {
            self.media[medium].looks.rang(ctx.now);
            self.look_at(medium, ctx);
        }
    }

    fn look_at(&mut self, medium: usize, ctx: &mut Ctx) {
        let members = self.members(medium, ctx);
        let joined = self.join_waiting(medium, &members, ctx);
        if self.media[medium].is_busy {
            return;
        }
        let members = if joined { self.members(medium, ctx) } else { members };
        let mut free_at = self.media[medium].free_at;
        if members.iter().any(|member| medium != WIRE && member.state.hears && !member.state.loops) {
            // It would send if it could, and waits for the wire.
            if self.media[WIRE].is_busy {
                return;
            }
            free_at = free_at.max(self.media[WIRE].free_at);
        }
        let sender = self.media[medium].sender as usize;
        let begin = |member: &Member| {
            // An error-passive node that has sent lets the others send first.
            let pauses = member.state.is_passive && member.place == sender;
            let from = if pauses { member.state.time.after(free_at, SUSPEND_BITS) } else { Ps::ZERO };
            member.state.time.boundary(free_at, ctx.now.max(from))
        };
        let wanting: Vec<Member> =
            members.iter().filter(|it| it.state.is_on && it.state.wants.is_some()).copied().collect();
        let Some(due) = wanting.iter().map(begin).min() else { return };
        if due > ctx.now {
            self.media[medium].looks.set(due, BUS_LOOKS, ctx);
            return;
        }
        let senders: Vec<Member> = wanting.iter().filter(|member| begin(member) == due).copied().collect();
        let hearing = |member: &&Member| {
            member.state.is_on && member.state.hears && !member.state.loops && !is_in(&senders, member)
        };
        let readers: Vec<Member> = members.iter().filter(hearing).copied().collect();
        self.begin(medium, &senders, &readers, ctx);
    }

    /// Joins the nodes that have seen the wire recessive for long enough: true if a node has joined.
    fn join_waiting(&mut self, medium: usize, members: &[Member], ctx: &mut Ctx) -> bool {
        let wire = (self.media[medium].free_at, self.media[medium].is_busy);
        let mut joined = false;
        for member in members.iter().filter(|member| member.place < self.nodes.len()) {
            let Some(wait) = self.waits.get_mut(member.place) else { continue };
            if member.state.waits == 0 {
                *wait = None;
                continue;
            }
            let (free_at, is_busy) = if member.state.hears { wire } else { (Ps::ZERO, false) };
            let from = ctx.now;
            let is_new = wait.is_none();
            let wait = wait.get_or_insert(Wait { from, left: member.state.waits });
            if is_busy {
                continue;
            }
            // Frames that ended since then ended with 11 recessive bits.
            if free_at > wait.from {
                (wait.from, wait.left) = (free_at, wait.left.saturating_sub(1));
            }
            let due = member.state.time.after(wait.from, u64::from(wait.left) * IDLE_BITS);
            if due <= ctx.now && !is_new {
                self.waits[member.place] = None;
                self.node(member.place, ctx, |node, ctx| node.synchronized(ctx));
                joined = true;
            } else {
                self.media[medium].looks.set(due.max(ctx.now), BUS_LOOKS, ctx);
            }
        }
        joined
    }

    /// A frame begins: the waiting nodes have seen the idle time before it.
    fn count_idle(&mut self, members: &[Member], now: Ps) {
        for member in members.iter().filter(|member| member.state.hears) {
            if let Some(Some(wait)) = self.waits.get_mut(member.place) {
                let time = member.state.time;
                let span =
                    time.clock.cycles_until_floor(now).0.saturating_sub(time.clock.cycles_until_ceil(wait.from).0);
                let seen = span / (time.cycles() * IDLE_BITS);
                wait.left = wait.left.saturating_sub(u32::try_from(seen).unwrap_or(u32::MAX)).max(1);
            }
        }
    }

    fn begin(&mut self, medium: usize, senders: &[Member], readers: &[Member], ctx: &mut Ctx) {
        let attempt = attempt(senders, readers);
        let Some(winner) = senders.iter().find(|sender| sender.place == attempt.winner).copied() else { return };
        let all = self.members(medium, ctx);
        self.count_idle(&all, ctx.now);
        let time = winner.state.time;
        let first = time.clock.cycles_until_ceil(ctx.now).0;
        let sampled = |place: usize, bit: u64| {
            let own = all.iter().find(|member| member.place == place).map_or(time, |member| member.state.time);
            own.sample_of(&time, first, bit)
        };
        let mut news: Vec<(Ps, u32, News)> =
            attempt.news.iter().map(|(bit, place, news)| (sampled(*place, *bit), *place as u32, *news)).collect();
        news.sort_by_key(|(at, ..)| *at);
        let free_at = time.begin(first, attempt.free);
        let to = &mut self.media[medium];
        to.news = news.into();
        (to.frame, to.is_busy, to.free_at) = (attempt.frame, true, free_at);
        to.sender = winner.place as u32;
        self.alarm(medium, ctx);
        self.attempts += 1;
        if medium == WIRE {
            self.show(&attempt, &time, first, ctx);
            let Frame { id: address, .. } = attempt.frame;
            let detail = Detail::Address { address, bytes: attempt.frame.bytes().len() as u32 };
            ctx.span(&FRAME, ctx.now, free_at, detail);
        }
        for member in all {
            self.node(member.place, ctx, |node, ctx| node.begun(is_in(senders, &member), ctx));
        }
    }

    /// Requests an event for the next information.
    fn alarm(&mut self, medium: usize, ctx: &mut Ctx) {
        let to = &mut self.media[medium];
        let due = to.news.front().map_or(to.free_at, |(at, ..)| *at);
        to.alarm.set(due, NEWS + medium as u32, ctx);
    }

    /// Passes to the nodes the information that they can have by now.
    fn pass_on(&mut self, medium: usize, ctx: &mut Ctx) {
        while let Some((place, news)) = self.media[medium].take_news(ctx.now) {
            let frame = self.media[medium].frame;
            self.report_node(medium, place as usize, news, &frame, ctx);
        }
        if self.media[medium].is_busy && self.media[medium].free_at <= ctx.now && self.media[medium].news.is_empty() {
            let members = self.members(medium, ctx);
            self.media[medium].is_busy = false;
            for member in members {
                self.node(member.place, ctx, |node, ctx| node.freed(ctx));
            }
            self.look(ctx);
        }
        if self.media[medium].is_busy {
            self.alarm(medium, ctx);
        }
    }

    fn report_node(&mut self, medium: usize, place: usize, news: News, frame: &Frame, ctx: &mut Ctx) {
        self.errors += u64::from(matches!(news, News::Failed(..)));
        if news == News::Sent && medium == WIRE {
            self.log(frame, ctx);
        }
        if place == self.nodes.len() && medium == WIRE {
            if let Some(partner) = &mut self.partner {
                match news {
                    News::Sent => partner.sent(),
                    News::Received => partner.hear(*frame),
                    _ => {}
                }
            }
            self.follow_script(ctx);
            return;
        }
        self.node(place, ctx, |node, ctx| match news {
            News::Lost => node.lost(ctx),
            News::Failed(fault, counts) => node.failed(fault, counts, ctx),
            News::Misread(fault, was_first) => node.misread(fault, was_first, ctx),
            News::Received => node.received(frame, ctx),
            News::Sent => node.sent(ctx),
        });
    }

    fn log(&self, frame: &Frame, ctx: &mut Ctx) {
        let Some(partner) = self.partner.as_ref().filter(|partner| partner.logs) else { return };
        let line = text::log_line(ctx.now, &partner.name, frame);
        // On the console line of the controller next to which the node is.
        let beside = self.nodes.iter().find(|id| ctx.bus.device_names[id.0 as usize] == partner.name);
        ctx.bus.print_on(beside.copied().unwrap_or(ctx.id), line.as_bytes());
    }

    fn follow_script(&mut self, ctx: &mut Ctx) {
        if self.ended {
            return;
        }
        let Some(partner) = &mut self.partner else { return };
        let before = partner.wants();
        match scripts::follow(partner.go_on(ctx.now), ctx) {
            Some(until) => until.into_iter().for_each(|until| self.deadline.set(until, PARTNER_GOES_ON, ctx)),
            None => self.ended = true,
        }
        let wants = self.partner.as_ref().and_then(Partner::wants);
        if wants.is_some() && before != wants && !self.media[WIRE].is_busy {
            ctx.schedule(ctx.now, BUS_LOOKS);
        }
    }

    /// The wires of an attempt, for waveforms.
    fn show(&self, attempt: &Attempt, time: &BitTime, first: u64, ctx: &mut Ctx) {
        if !ctx.bus.waves.is_on() {
            return;
        }
        let bits = attempt.free as usize;
        let mut wire = vec![true; bits];
        let mut driven = vec![wire.clone(); self.nodes.len() + 1];
        for (place, from, to) in &attempt.dominant {
            for bit in *from as usize..(*to as usize).min(bits) {
                wire[bit] = false;
                if let Some(levels) = driven.get_mut(*place) {
                    levels[bit] = false;
                }
            }
        }
        ctx.bus.waves.set_many(|set| {
            for (signals, levels) in self.signals.iter().zip(&driven) {
                for (signal, levels) in signals.iter().zip([levels, &wire]) {
                    let mut before = true;
                    for (bit, level) in levels.iter().enumerate() {
                        if std::mem::replace(&mut before, *level) != *level {
                            set(*signal, time.begin(first, bit as u64), *level);
                        }
                    }
                }
            }
        });
    }
}

fn is_in(members: &[Member], member: &Member) -> bool {
    members.iter().any(|other| other.place == member.place)
}

impl CanBus for Bus {
    fn join(&mut self, node: DeviceId, signals: [SignalId; 2]) {
        self.nodes.push(node);
        self.signals.push(signals);
        self.media.push(Medium::default());
        self.waits.push(None);
    }

    fn has(&self, node: DeviceId) -> bool {
        self.nodes.contains(&node)
    }

    fn attach(&mut self, partner: Partner) -> bool {
        let is_free = self.partner.is_none();
        if is_free {
            self.partner = Some(partner);
        }
        is_free
    }

    fn unfinished(&self, now: Ps) -> Option<(String, Unfinished)> {
        let partner = self.partner.as_ref().filter(|_| !self.ended)?;
        Some((partner.name.clone(), partner.unfinished(now)?))
    }
}

impl Device for Bus {
    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        match token {
            BUS_LOOKS => self.look(ctx),
            PARTNER_GOES_ON => {
                self.deadline.rang(ctx.now);
                self.follow_script(ctx);
            }
            _ => {
                let medium = (token - NEWS) as usize;
                if let Some(to) = self.media.get_mut(medium) {
                    to.alarm.rang(ctx.now);
                    self.pass_on(medium, ctx);
                }
            }
        }
    }

    fn can_bus(&mut self) -> Option<&mut dyn CanBus> {
        Some(self)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("attempts".to_owned(), self.attempts), ("errors".to_owned(), self.errors)]
    }
}
