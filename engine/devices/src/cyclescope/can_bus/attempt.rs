//! One attempt to send on a CAN bus, computed when it begins: the winner of the arbitration, the acknowledging nodes,
//! the errors that each node finds, and the time at which each node knows (Bosch, CAN Specification 2.0, "Frame types",
//! "Error handling", "Fault confinement").
//!
//! All times are bits of the winning node. For a node with another bit rate, [`first_fault`] computes how it reads the
//! frame.

use engine::bus::can::NodeState;
use engine::state::{Fresh, State};
use engine::wire::can::reading::{Fault, first_fault};
use engine::wire::can::{Bits, ERROR_DELIMITER_BITS, ERROR_FLAG_BITS, Frame, INTERMISSION_BITS};

/// The information for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum News {
    /// It has lost the arbitration.
    Lost,
    /// Its frame failed; true if that counts as an error.
    Failed(Fault, bool),
    /// It can't read the frame; true if it was the first node that could not.
    Misread(Fault, bool),
    /// The frame has come.
    Received,
    /// The frame was sent and acknowledged.
    Sent,
}

/// The result of an attempt.
#[derive(Debug, Default)]
pub struct Attempt {
    /// The index of the winning node, and its frame.
    pub winner: usize,
    pub frame: Frame,
    /// For each piece of information: the bit at whose sample point it is known, and the node; in the order of time.
    pub news: Vec<(u64, usize, News)>,
    /// The wire is free from this bit on.
    pub free: u64,
    /// The bits from which and to which a node drives the wire dominant, with the node's index.
    pub dominant: Vec<(usize, u64, u64)>,
}

/// A node that takes part, by its index.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    pub place: usize,
    pub state: NodeState,
}

/// An error flag: the node that begins it, its first bit, and the error.
#[derive(Clone, Copy)]
struct Flag {
    from: u64,
    member: Member,
    fault: Fault,
}

/// The result when all of `senders`, at least one, begin at the same time. `readers` are all other nodes.
pub fn attempt(senders: &[Member], readers: &[Member]) -> Attempt {
    let Some(first) = senders.first() else { return Attempt::default() };
    let hears_itself = |sender: &Member| sender.state.loops || sender.state.drives && sender.state.hears;
    if let Some(sender) = senders.iter().find(|sender| !hears_itself(sender)) {
        return unheard(sender, senders, readers);
    }
    let frames: Vec<(Member, Frame, Bits)> =
        senders.iter().filter_map(|it| it.state.wants.map(|frame| (*it, frame, frame.bits()))).collect();
    let mut result = Attempt { winner: first.place, ..Attempt::default() };
    let mut readers: Vec<Member> = readers.to_vec();
    let (winners, mut flags) = arbitrate(&frames, &mut readers, &mut result);
    let Some((winner, frame, bits)) = winners.first().copied() else { return result };
    (result.winner, result.frame) = (winner.place, *frame);
    let acknowledge = bits.acknowledge as u64;
    // Nodes that read the frame, and that would if it continued.
    let mut readings = Vec::new();
    for reader in &readers {
        match first_fault(&reader.state.time, &winner.state.time, bits) {
            Some((fault, at)) => readings.push((*reader, fault, at)),
            None if !reader.state.is_silent => result.dominant.push((reader.place, acknowledge, acknowledge + 1)),
            None => {}
        }
    }
    let is_acknowledged = !result.dominant.is_empty();
    let active = |member: &Member| !member.state.is_passive && !member.state.is_silent;
    let disturbing = readings.iter().filter(|(reader, ..)| active(reader));
    flags.extend(disturbing.map(|(member, fault, at)| Flag { from: at + 1, member: *member, fault: *fault }));
    if !is_acknowledged {
        let needing = winners.iter().filter(|(member, ..)| !member.state.loops);
        flags.extend(needing.map(|(member, ..)| Flag {
            from: acknowledge + 1,
            member: *member,
            fault: Fault::Acknowledge,
        }));
    }
    let end = acknowledge + 9;
    let flag = flags.into_iter().min_by_key(|flag| flag.from).filter(|flag| flag.from <= end);
    let sending: Vec<Member> = winners.iter().map(|(member, ..)| *member).collect();
    report_misread(&readings, flag, &mut result);
    match flag {
        Some(flag) => fail(flag, &sending, &readers, &readings, bits, &mut result),
        None => succeed(&sending, &readers, &readings, bits, &mut result),
    }
    result.news.sort_by_key(|(bit, place, _)| (*bit, *place));
    result
}

/// A sender that does not see its own start of frame. That is a bit error, and so is each bit of the error flag that
/// follows: the flag begins again, until the sender is error-passive, whose flag is recessive (Bosch, "Fault
/// confinement", rule 4). Its levels reach the wire if it has a pin for that.
fn unheard(sender: &Member, senders: &[Member], readers: &[Member]) -> Attempt {
    let frame = sender.state.wants.unwrap_or_default();
    let mut result = Attempt { winner: sender.place, frame, ..Attempt::default() };
    let errors = u64::from(sender.state.until_passive.max(1));
    let failed = (0..errors).map(|bit| (bit, sender.place, News::Failed(Fault::BitDominant, true)));
    result.news.extend(failed);
    let mut end = errors + ERROR_FLAG_BITS;
    if sender.state.drives {
        result.dominant.push((sender.place, 0, errors));
        // Six equal bits are not a frame: the bits from the start on or, if those are fewer, the bits after them.
        let at = if errors > 5 { 5 } else { errors + 5 };
        let others = senders.iter().filter(|other| other.place != sender.place);
        for other in others {
            // A simultaneous sender loses in the arbitration field, unless its first recessive bit is a stuff bit.
            let bits = other.state.wants.unwrap_or_default().bits();
            let recessive = bits.levels.iter().position(|level| *level).unwrap_or(0) as u64;
            drive(other, &bits, recessive, &mut result);
            if recessive == 5 {
                result.news.push((5, other.place, News::Failed(Fault::BitRecessive, true)));
            } else {
                result.news.push((recessive, other.place, News::Lost));
                result.news.push((at, other.place, News::Misread(Fault::Stuff, false)));
            }
            end = end.max(drive_flag(other, at + 1, &mut result));
        }
        for reader in readers {
            result.news.push((at, reader.place, News::Misread(Fault::Stuff, errors > at + 1 + ERROR_FLAG_BITS)));
            end = end.max(drive_flag(reader, at + 1, &mut result));
        }
    }
    result.free = end + ERROR_DELIMITER_BITS + INTERMISSION_BITS;
    result.news.sort_by_key(|(bit, place, _)| (*bit, *place));
    result
}

/// A sender with its frame.
type Sending<'a> = (Member, &'a Frame, &'a Bits);

/// Bit by bit a dominant level wins. A node that loses in the arbitration field reads on; after that field, it is an
/// error.
fn arbitrate<'a>(
    frames: &'a [(Member, Frame, Bits)],
    readers: &mut Vec<Member>,
    result: &mut Attempt,
) -> (Vec<Sending<'a>>, Vec<Flag>) {
    let mut going: Vec<Sending> = frames.iter().map(|(member, frame, bits)| (*member, frame, bits)).collect();
    let longest = frames.iter().map(|(.., bits)| bits.levels.len()).max().unwrap_or(0);
    for at in 0..longest {
        let level = |bits: &Bits| bits.levels.get(at).copied().unwrap_or(true);
        if !going.iter().any(|(.., bits)| !level(bits)) || going.iter().all(|(.., bits)| !level(bits)) {
            continue;
        }
        let (stay, out): (Vec<Sending>, Vec<Sending>) = going.into_iter().partition(|(.., bits)| !level(bits));
        let bit = at as u64;
        let mut flags = Vec::new();
        for (member, _, bits) in &out {
            drive(member, bits, bit, result);
            if at < bits.arbitration {
                result.news.push((bit, member.place, News::Lost));
                readers.push(*member);
            } else {
                flags.push(Flag { from: bit + 1, member: *member, fault: Fault::BitRecessive });
            }
        }
        going = stay;
        if !flags.is_empty() {
            return (going, flags);
        }
    }
    (going, Vec::new())
}

/// A member drives its frame up to a bit.
fn drive(member: &Member, bits: &Bits, until: u64, result: &mut Attempt) {
    if member.state.is_silent {
        return;
    }
    let levels = bits.levels.iter().take(until as usize);
    for (at, _) in levels.enumerate().filter(|(_, level)| !**level) {
        result.dominant.push((member.place, at as u64, at as u64 + 1));
    }
}

/// A member sends an error flag from a bit on: returns its end.
fn drive_flag(member: &Member, from: u64, result: &mut Attempt) -> u64 {
    if !member.state.is_passive && !member.state.is_silent {
        result.dominant.push((member.place, from, from + ERROR_FLAG_BITS));
    }
    from + ERROR_FLAG_BITS
}

/// Records the errors of passive and silent readers, which can't prevent others from continuing.
fn report_misread(readings: &[(Member, Fault, u64)], flag: Option<Flag>, result: &mut Attempt) {
    let disturbed = flag.map_or(u64::MAX, |flag| flag.from);
    for (reader, fault, at) in readings.iter().filter(|(.., at)| *at < disturbed) {
        let was_first = flag.is_some_and(|flag| flag.member.place == reader.place);
        if !was_first {
            result.news.push((*at, reader.place, News::Misread(*fault, false)));
        }
    }
}

fn succeed(
    senders: &[Member],
    readers: &[Member],
    readings: &[(Member, Fault, u64)],
    bits: &Bits,
    result: &mut Attempt,
) {
    // A receiver accepts a frame without errors up to the second-to-last bit of its end, a sender up to the last bit.
    let last = bits.acknowledge as u64 + 8;
    let can_read = |reader: &&Member| readings.iter().all(|(other, ..)| other.place != reader.place);
    let read = readers.iter().filter(can_read).map(|reader| (last - 1, reader.place, News::Received));
    result.news.extend(read);
    result.news.extend(senders.iter().map(|sender| (last, sender.place, News::Sent)));
    for sender in senders {
        drive(sender, bits, last + 1, result);
    }
    result.free = last + 1 + INTERMISSION_BITS;
}

/// Ends a frame with error flags.
fn fail(
    flag: Flag,
    senders: &[Member],
    readers: &[Member],
    readings: &[(Member, Fault, u64)],
    bits: &Bits,
    result: &mut Attempt,
) {
    let by_sender = flag.fault == Fault::Acknowledge || flag.fault == Fault::BitRecessive;
    let is_active = !flag.member.state.is_passive;
    let mut end = flag.from + ERROR_FLAG_BITS;
    drive_flag(&flag.member, flag.from, result);
    for sender in senders {
        if by_sender {
            drive(sender, bits, flag.from, result);
        } else {
            // The node sees the flag where it sends a recessive bit itself.
            let recessive = (flag.from..).find(|bit| bits.levels.get(*bit as usize).copied().unwrap_or(true));
            let at = recessive.unwrap_or(flag.from);
            drive(sender, bits, at + 1, result);
            result.news.push((at, sender.place, News::Failed(Fault::BitRecessive, true)));
            end = end.max(drive_flag(sender, at + 1, result));
        }
    }
    if flag.fault == Fault::Acknowledge {
        // An error-passive node without an acknowledge and without a disturbance does not count the error.
        for sender in senders {
            let counts = !sender.state.is_passive;
            result.news.push((flag.from - 1, sender.place, News::Failed(flag.fault, counts)));
        }
        if !is_active {
            // Its flag can't be seen: the listening nodes accept the frame.
            let listening = readers.iter().filter(|reader| readings.iter().all(|it| it.0.place != reader.place));
            result.news.extend(listening.map(|reader| (flag.from + 6, reader.place, News::Received)));
        }
    } else if by_sender {
        result.news.push((flag.from - 1, flag.member.place, News::Failed(flag.fault, true)));
        // The others see its flag where they send a recessive bit.
        let rest = senders.iter().filter(|sender| sender.place != flag.member.place);
        result.news.extend(rest.map(|it| (flag.from + 5, it.place, News::Failed(Fault::BitRecessive, true))));
    } else {
        let was_first = end > flag.from + ERROR_FLAG_BITS;
        result.news.push((flag.from - 1, flag.member.place, News::Misread(flag.fault, was_first)));
    }
    if is_active {
        let in_tail = flag.from > bits.acknowledge as u64;
        for reader in readers.iter().filter(|reader| reader.place != flag.member.place) {
            if readings.iter().any(|(other, _, at)| other.place == reader.place && *at < flag.from) {
                continue;
            }
            let (fault, at) = if in_tail {
                (Fault::Form, flag.from)
            } else {
                (Fault::Stuff, flag.from + 5 - run_before(bits, flag.from))
            };
            result.news.push((at, reader.place, News::Misread(fault, false)));
            end = end.max(drive_flag(reader, at + 1, result));
        }
    }
    result.free = end + ERROR_DELIMITER_BITS + INTERMISSION_BITS;
}

/// Dominant bits of the frame right before a bit.
fn run_before(bits: &Bits, bit: u64) -> u64 {
    let before = bits.levels.iter().take(bit as usize).rev();
    before.take_while(|level| !**level).count().min(5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::wire::can::BitTime;

    fn member(place: usize, wants: Option<Frame>) -> Member {
        let time = BitTime::of_rate(500_000).unwrap();
        Member { place, state: NodeState { wants, ..NodeState::active(time) } }
    }

    fn frame(id: u32) -> Frame {
        Frame::standard(id, &[1, 2])
    }

    #[test]
    fn a_frame_that_is_acknowledged_is_received_a_bit_before_it_is_sent() {
        let bits = frame(0x123).bits();
        let result = attempt(&[member(0, Some(frame(0x123)))], &[member(1, None)]);
        let last = bits.levels.len() as u64 - 1;
        assert_eq!(result.news, [(last - 1, 1, News::Received), (last, 0, News::Sent)]);
        assert_eq!(result.free, last + 4);
        let slot = bits.acknowledge as u64;
        assert!(result.dominant.contains(&(1, slot, slot + 1)));
    }

    #[test]
    fn without_anybody_the_acknowledge_is_missing() {
        let bits = frame(0x123).bits();
        let slot = bits.acknowledge as u64;
        let alone = |is_passive| {
            let mut alone = member(0, Some(frame(0x123)));
            alone.state.is_passive = is_passive;
            attempt(&[alone], &[])
        };
        // The flag, its delimiter, the intermission.
        let result = alone(false);
        assert_eq!(result.news, [(slot, 0, News::Failed(Fault::Acknowledge, true))]);
        assert_eq!(result.free, slot + 1 + 6 + 8 + 3);
        assert!(result.dominant.contains(&(0, slot + 1, slot + 7)));
        let result = alone(true);
        assert_eq!(result.news, [(slot, 0, News::Failed(Fault::Acknowledge, false))]);
        assert!(!result.dominant.contains(&(0, slot + 1, slot + 7)));
        // A node in loop back mode needs no other node.
        let mut loops = member(0, Some(frame(0x123)));
        loops.state.loops = true;
        assert_eq!(attempt(&[loops], &[]).news, [(slot + 8, 0, News::Sent)]);
        // A silent one does not acknowledge, and sees an active flag.
        let mut silent = member(1, None);
        silent.state.is_silent = true;
        let result = attempt(&[member(0, Some(frame(0x123)))], &[silent]);
        assert!(result.news.contains(&(slot + 1, 1, News::Misread(Fault::Form, false))), "{:?}", result.news);
    }

    #[test]
    fn who_does_not_see_its_start_of_frame_fails_in_each_bit_until_it_is_passive() {
        let mut sender = member(0, Some(frame(0x123)));
        (sender.state.hears, sender.state.until_passive) = (false, 16);
        let result = attempt(&[sender], &[member(1, None)]);
        let failed = |bit| (bit, 0, News::Failed(Fault::BitDominant, true));
        let own: Vec<_> = result.news.iter().filter(|news| news.1 == 0).copied().collect();
        assert_eq!(own, (0..16).map(failed).collect::<Vec<_>>());
        // 16 dominant bits, in which the other node finds a stuff error, and a dominant bit after its own flag.
        assert_eq!(result.dominant, [(0, 0, 16), (1, 6, 12)]);
        assert!(result.news.contains(&(5, 1, News::Misread(Fault::Stuff, true))));
        assert_eq!(result.free, 16 + 6 + 8 + 3);
        // An error-passive node's start of frame is a dominant bit, followed by recessive ones.
        (sender.state.is_passive, sender.state.until_passive) = (true, 0);
        let result = attempt(&[sender], &[member(1, None)]);
        assert_eq!(result.news, [failed(0), (6, 1, News::Misread(Fault::Stuff, false))]);
        assert_eq!(result.dominant, [(0, 0, 1), (1, 7, 13)]);
        // A node without its other pin does not reach the wire.
        (sender.state.drives, sender.state.hears) = (false, true);
        let result = attempt(&[sender], &[]);
        assert_eq!((result.news, result.dominant, result.free), (vec![failed(0)], vec![], 1 + 6 + 8 + 3));
    }

    #[test]
    fn the_lower_identifier_wins_at_the_bit_in_which_they_differ() {
        // 0x123 is 001_0010_0011, 0x12b is 001_0010_1011: they differ in bit 3, which is bit 1 + 7 of the frame. No
        // stuff bit comes before.
        let senders = [member(0, Some(frame(0x12b))), member(1, Some(frame(0x123)))];
        let result = attempt(&senders, &[]);
        assert_eq!((result.winner, result.news[0]), (1, (8, 0, News::Lost)));
        assert_eq!(result.news[1].2, News::Received, "the node that lost acknowledges");
        assert_eq!(result.news[2], (frame(0x123).bits().levels.len() as u64 - 1, 1, News::Sent));
    }

    #[test]
    fn the_same_identifier_with_other_data_is_a_bit_error() {
        let other = Frame::standard(0x123, &[1, 3]);
        let result = attempt(&[member(0, Some(other)), member(1, Some(frame(0x123)))], &[member(2, None)]);
        let failed = |place| result.news.iter().any(|news| news.1 == place && matches!(news.2, News::Failed(..)));
        assert!(failed(0) && failed(1), "{:?}", result.news);
        assert!(result.news.iter().any(|news| news.1 == 2 && matches!(news.2, News::Misread(..))));
    }

    #[test]
    fn another_rate_destroys_frames() {
        let mut other = member(1, None);
        other.state.time = BitTime::of_rate(1_000_000).unwrap();
        let result = attempt(&[member(0, Some(frame(0x123)))], &[other]);
        assert!(result.news.iter().any(|it| it.1 == 0 && it.2 == News::Failed(Fault::BitRecessive, true)));
        assert!(result.news.iter().any(|it| it.1 == 1 && matches!(it.2, News::Misread(Fault::Stuff, _))));
        // An error-passive one can't, and does not acknowledge.
        other.state.is_passive = true;
        let result = attempt(&[member(0, Some(frame(0x123)))], &[other]);
        assert!(result.news.iter().any(|it| it.1 == 0 && it.2 == News::Failed(Fault::Acknowledge, true)));
    }
}
